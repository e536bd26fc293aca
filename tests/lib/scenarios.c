/* What the fault sweeps run: each scenario uses the library as a user would who goes on after errors. */
#include "scene.h"

#include "test_kernels.kernels.h"

enum { N = 24 };

/* ---- objects ---- */

static void open_and_close_a_device(scene *s) {
    rondo_device *device = NULL;
    rondo_stream *stream = NULL;
    rondo_event *event = NULL;
    rondo_device_desc desc = {.max_queues = 3, .workers = 1};
    if (scene_note(s, rondo_device_open(scenario_device, &desc, &device))) {
        if (scene_note(s, rondo_stream_create(device, &stream))) {
            int32_t pattern = 5;
            rondo_buffer buffer;
            if (scene_note(s, rondo_buffer_create(stream, 64, RONDO_USAGE_GENERAL, &buffer))) {
                (void)scene_note(s, rondo_fill(stream, rondo_whole(buffer), &pattern, sizeof pattern, NULL));
            }
            rondo_buffer_release(buffer);
        }
        (void)scene_note(s, rondo_event_create(device, &event));
    }
    rondo_event_release(event);
    rondo_stream_release(stream);
    rondo_device_release(device);
}

static void create_streams_and_events(scene *s) {
    rondo_stream *stream = scene_stream(s);
    rondo_event *start = scene_event(s), *stop = scene_event(s);
    if (stream == NULL || start == NULL || stop == NULL) return;
    (void)scene_note(s, rondo_event_record(stream, start, "start"));
    (void)scene_note(s, rondo_event_wait(s->a, start, NULL));
    (void)scene_note(s, rondo_event_record(s->a, stop, "stop"));
    (void)scene_note(s, rondo_event_sync(stop));
    uint64_t elapsed;
    (void)scene_note(s, rondo_event_elapsed(start, stop, &elapsed));
}

static void create_a_kernel(scene *s) {
    rondo_kernel *kernel = NULL;
    scene_cell *x = scene_buffer(s, s->a, N, RONDO_USAGE_GENERAL);
    if (scene_note(s, iota_i32_create(s->device, &kernel)) && x->buffer.id != 0) {
        (void)scene_note(s, iota_i32_launch(s->a, kernel, rondo_grid_1d(N), rondo_whole(x->buffer), 3, "iota"));
    }
    rondo_kernel_release(kernel);
    (void)scene_fill(s, s->a, x, 0, N, 1); /* the model knows no iota */
}

/* ---- memory ---- */

static void buffers_of(scene *s, rondo_usage usage) {
    static const uint32_t counts[] = {1, 16, 1000, 40000};
    scene_cell *cells[4];
    for (int i = 0; i < 4; i++) {
        cells[i] = scene_buffer(s, s->a, counts[i], usage);
        (void)scene_fill(s, s->a, cells[i], 0, counts[i], i + 1);
    }
    scene_drop(cells[1]);
    scene_drop(cells[3]);
    scene_cell *again = scene_buffer(s, s->a, 40000, usage);
    (void)scene_fill(s, s->a, again, 0, 40000, 9);
    (void)scene_copy(s, s->a, again, 7, cells[2], 0, 1000);
}

static void general_buffers(scene *s) {
    buffers_of(s, RONDO_USAGE_GENERAL);
}
static void lasting_buffers(scene *s) {
    buffers_of(s, RONDO_USAGE_LASTING);
}
static void one_off_buffers(scene *s) {
    buffers_of(s, RONDO_USAGE_ONE_OFF);
}

static void import_memory(scene *s) {
    scene_cell *mine = scene_import(s, s->a, N, false), *x = scene_buffer(s, s->a, N, RONDO_USAGE_GENERAL);
    (void)scene_copy(s, s->a, x, 0, mine, 0, N);
    (void)scene_scale(s, s->a, mine, 3);
    scene_drop(mine);
    scene_cell *more = scene_import(s, s->b, 64, false);
    (void)scene_copy(s, s->a, x, 0, more, 40, N);
}

static void host_blocks(scene *s) {
    scene_cell *own = scene_host(s, s->a, N), *mine = scene_import(s, s->a, N, true);
    scene_cell *x = scene_buffer(s, s->a, N, RONDO_USAGE_GENERAL);
    (void)scene_write_live(s, s->a, x, mine);
    (void)scene_scale(s, s->a, x, 5);
    (void)scene_read_async(s, s->a, own, x);
    (void)scene_note(s, rondo_host_wait(own->buffer));
    scene_drop(mine);
}

static void map_and_unmap(scene *s) {
    scene_cell *x = scene_buffer(s, s->a, N, RONDO_USAGE_GENERAL), *h = scene_host(s, s->a, N);
    void *data = NULL;
    (void)scene_write(s, s->a, x, 4);
    if (scene_note(s, rondo_map(s->a, rondo_whole(x->buffer), RONDO_READS, &data))) {
        SCENE_CHECK(x->mark[0] != SCENE_GOOD || *(int32_t *)data == x->value[0], "a mapping shows other bytes");
        (void)scene_note(s, rondo_unmap(s->a, rondo_whole(x->buffer)));
    }
    if (scene_note(s, rondo_map(s->b, rondo_whole(x->buffer), RONDO_WRITES, &data))) {
        for (int32_t i = 0; i < N; i++) {
            ((int32_t *)data)[i] = x->value[i] = 100 + i;
            x->mark[i] = SCENE_GOOD;
            x->unknown[i] = false;
        }
        (void)scene_note(s, rondo_unmap(s->b, rondo_whole(x->buffer)));
    }
    (void)scene_read_async(s, s->b, h, x);
    /* The last release ends a mapping that is left. */
    if (scene_note(s, rondo_map(s->a, rondo_whole(h->buffer), RONDO_READS, &data))) scene_drop(h);
}

/* Each unmap cuts a claim in two, which takes memory sooner or later. One that is refused leaves all as it was. */
static void unmapping_parts_of_a_claim(scene *s) {
    scene_cell *x = scene_buffer(s, s->a, 6 * N, RONDO_USAGE_GENERAL);
    scene_cell *flag = scene_buffer(s, s->a, 1, RONDO_USAGE_GENERAL);
    (void)scene_fill(s, s->a, flag, 0, 1, 1);
    (void)scene_fail_if(s, s->a, x, flag, 5);
    for (uint32_t at = 3; at < 6 * N; at += 7) {
        void *data;
        rondo_span span = rondo_whole(x->buffer);
        span.offset_bytes = 4 * (uint64_t)at;
        span.size_bytes = 4;
        if (!scene_note(s, rondo_map(s->a, span, RONDO_WRITES, &data))) continue;
        memcpy(data, &at, sizeof at);
        if (!scene_note(s, rondo_unmap(s->a, span)) && !scene_note(s, rondo_unmap(s->b, span))) {
            scene_drop(x); /* ends the mapping that is left */
            return;
        }
        x->value[at] = (int32_t)at;
        x->mark[at] = SCENE_GOOD;
        x->unknown[at] = false;
    }
    scene_read(s, s->a, x);
    (void)scene_sync(s, s->a);
}

/* Pages of 4 KiB at first, so that a larger buffer outdates them. */
static const rondo_device_desc small_pages = {
    .memory = {.small_page_bytes = 4096, .small_max_bytes = 256, .page_min_bytes = 4096, .page_max_bytes = 4 << 20}};

static void relocation(scene *s) {
    scene_cell *old[5];
    for (int i = 0; i < 5; i++) {
        old[i] = scene_buffer(s, s->a, 300, RONDO_USAGE_GENERAL);
        (void)scene_write(s, s->a, old[i], 1000 * i);
    }
    scene_cell *flag = scene_buffer(s, s->a, 1, RONDO_USAGE_GENERAL);
    (void)scene_fill(s, s->a, flag, 0, 1, 1);
    (void)scene_do(s, s->a, (scene_step){.kind = SCENE_FAIL_IF, .out = old[1], .in = flag, .out_at = 10, .n = 20});
    scene_cell *large = scene_buffer(s, s->a, 5000, RONDO_USAGE_GENERAL);
    (void)scene_fill(s, s->a, large, 0, 5000, 6);
    scene_drop(old[3]);
    if (scene_prepare(s, s->a)) scene_abort(s, s->a); /* prepare empties outdated pages */
    for (int i = 0; i < 5; i++) {
        if (i != 3) scene_read(s, s->a, old[i]);
    }
    (void)scene_sync(s, s->a);
}

static void trimming(scene *s) {
    scene_cell *x = scene_buffer(s, s->a, 400, RONDO_USAGE_GENERAL);
    scene_cell *y = scene_buffer(s, s->a, 400, RONDO_USAGE_LASTING);
    (void)scene_write(s, s->a, x, 1);
    (void)scene_write(s, s->a, y, 2);
    scene_drop(scene_buffer(s, s->b, 9000, RONDO_USAGE_GENERAL));
    scene_drop(scene_buffer(s, s->a, 9000, RONDO_USAGE_GENERAL));
    (void)scene_note(s, rondo_stream_trim(s->a));
    (void)scene_note(s, rondo_device_trim(s->device, NULL));
    (void)scene_copy(s, s->a, x, 100, y, 0, 300);
}

static const rondo_device_desc capped = {.memory = {.small_page_bytes = 8192,
                                                    .small_max_bytes = 256,
                                                    .page_min_bytes = 8192,
                                                    .page_max_bytes = 65536,
                                                    .small_cap_bytes = 16384,
                                                    .shared_cap_bytes = 65536,
                                                    .own_cap_bytes = 65536}};

static void memory_pressure(scene *s) {
    scene_cell *x = scene_buffer(s, s->a, 7000, RONDO_USAGE_GENERAL);
    (void)scene_fill(s, s->a, x, 0, 7000, 1);
    scene_cell *y = scene_buffer(s, s->a, 7000, RONDO_USAGE_GENERAL);
    (void)scene_fill(s, s->a, y, 0, 7000, 2);
    rondo_buffer none = {1};
    scene_expect(s, rondo_buffer_create(s->a, 32000, RONDO_USAGE_GENERAL, &none), RONDO_NO_DEVICE_MEMORY);
    rondo_buffer_release(none); /* where x could not be had, this one could */
    scene_drop(x);
    scene_cell *z = scene_buffer(s, s->a, 7000, RONDO_USAGE_GENERAL);
    (void)scene_copy(s, s->a, z, 0, y, 0, 7000);
}

/* ---- eager work ---- */

static void eager_transfers(scene *s) {
    scene_cell *x = scene_buffer(s, s->a, 2 * N, RONDO_USAGE_GENERAL);
    scene_cell *y = scene_buffer(s, s->a, 2 * N, RONDO_USAGE_GENERAL);
    (void)scene_write(s, s->a, x, 10);
    (void)scene_fill(s, s->a, y, 0, 2 * N, 7);
    (void)scene_copy(s, s->a, y, 3, x, 1, N);
    (void)scene_copy(s, s->a, x, 2, x, 0, N); /* overlapping */
    (void)scene_do(s, s->a,
                   (scene_step){.kind = SCENE_COPY_2D, .out = y, .in = x, .n = 3, .rows = 4, .pitch = 8, .out_at = 1});
    scene_read(s, s->a, y);
}

static void eager_launches(scene *s) {
    scene_cell *a = scene_buffer(s, s->a, N, RONDO_USAGE_GENERAL), *b = scene_buffer(s, s->a, N, RONDO_USAGE_GENERAL);
    scene_cell *c = scene_buffer(s, s->a, N, RONDO_USAGE_GENERAL);
    (void)scene_write(s, s->a, a, 1);
    (void)scene_write(s, s->a, b, 2);
    (void)scene_add(s, s->a, c, a, b);
    (void)scene_scale(s, s->a, c, 3);
    (void)scene_sync(s, s->a);
    scene_read(s, s->a, c);
}

static void eager_host_calls(scene *s) {
    scene_cell *x = scene_buffer(s, s->a, N, RONDO_USAGE_GENERAL), *h = scene_host(s, s->a, N);
    (void)scene_write(s, s->a, x, 1);
    (void)scene_host_call(s, s->a, h, x, 7);
    (void)scene_host_call(s, s->b, x, h, 1);
    scene_read(s, s->a, x);
}

static void work_across_queues(scene *s) {
    scene_cell *x = scene_buffer(s, s->a, N, RONDO_USAGE_GENERAL), *y = scene_buffer(s, s->b, N, RONDO_USAGE_GENERAL);
    (void)scene_write(s, s->a, x, 5);
    (void)scene_copy(s, s->b, y, 0, x, 0, N);
    (void)scene_scale(s, s->a, y, 2);
    (void)scene_add(s, s->b, x, y, y);
    scene_read(s, s->b, x);
    scene_drop(x);
    (void)scene_scale(s, s->b, y, 2);
}

static void profiling(scene *s) {
    scene_cell *x = scene_buffer(s, s->a, N, RONDO_USAGE_GENERAL);
    uint64_t elapsed;
    bool started = scene_note(s, rondo_profile_start(s->a));
    (void)scene_fill(s, s->a, x, 0, N, 2);
    if (started) (void)scene_note(s, rondo_profile_end(s->a, &elapsed));
}

/* ---- failures that work reports ---- */

static scene_cell *flag_of(scene *s, int32_t value) {
    scene_cell *flag = scene_buffer(s, s->a, 1, RONDO_USAGE_GENERAL);
    (void)scene_fill(s, s->a, flag, 0, 1, value);
    return flag;
}

static void partial_claims(scene *s) {
    scene_cell *x = scene_buffer(s, s->a, 3 * N, RONDO_USAGE_GENERAL), *flag = flag_of(s, 1);
    scene_cell *y = scene_buffer(s, s->a, N, RONDO_USAGE_GENERAL);
    (void)scene_write(s, s->a, x, 1);
    (void)scene_fail_if(s, s->a, x, flag, 5);          /* all of x is spoiled */
    (void)scene_fill(s, s->a, x, 4, 8, 9);             /* a hole in the claim */
    (void)scene_fill(s, s->a, x, 30, 8, 9);            /* another */
    (void)scene_copy(s, s->a, y, 0, x, 4, 8);          /* good bytes only */
    (void)scene_do(s, s->a, (scene_step){.kind = SCENE_COPY_2D, .out = x, .in = y, .n = 2, .rows = 3, .pitch = 3,
                                         .out_at = 60, .in_at = 0});
    (void)scene_do(s, s->a, (scene_step){.kind = SCENE_FAIL_IF, .out = x, .in = flag, .out_at = 6, .n = 4});
    (void)scene_do(s, s->a, (scene_step){.kind = SCENE_FILL, .out = x, .out_at = 7, .n = 2, .value = 3});
    (void)scene_sync(s, s->a);
}

static void skip_chains(scene *s) {
    scene_cell *cells[5], *flag = flag_of(s, 1);
    for (int i = 0; i < 5; i++) cells[i] = scene_buffer(s, s->a, N, RONDO_USAGE_GENERAL);
    (void)scene_write(s, s->a, cells[0], 1);
    (void)scene_fail_if(s, s->a, cells[0], flag, 5);
    for (int i = 1; i < 5; i++) (void)scene_copy(s, i % 2 == 0 ? s->a : s->b, cells[i], 0, cells[i - 1], 0, N);
    scene_read(s, s->a, cells[4]);
    (void)scene_write(s, s->a, cells[2], 3);
    (void)scene_copy(s, s->a, cells[3], 0, cells[2], 0, N);
    (void)scene_sync(s, s->a);
}

/* ---- capture ---- */

/* x += y, with a temporary between; y *= 3. */
static void temporary_step(scene *s, rondo_stream *stream, scene_cell *x, scene_cell *y) {
    scene_cell *t = scene_buffer(s, stream, N, RONDO_USAGE_GENERAL);
    (void)scene_add(s, stream, t, x, y);
    (void)scene_copy(s, stream, x, 0, t, 0, N);
    scene_drop(t);
    scene_cell *u = scene_buffer(s, stream, N, RONDO_USAGE_GENERAL);
    (void)scene_copy(s, stream, u, 0, y, 0, N);
    (void)scene_scale(s, stream, u, 3);
    (void)scene_copy(s, stream, y, 0, u, 0, N);
    scene_drop(u);
}

/* Two written buffers. */
static void two_cells(scene *s, scene_cell **x, scene_cell **y) {
    *x = scene_buffer(s, s->a, N, RONDO_USAGE_GENERAL);
    *y = scene_buffer(s, s->a, N, RONDO_USAGE_GENERAL);
    (void)scene_write(s, s->a, *x, 1);
    (void)scene_write(s, s->a, *y, 2);
}

static void capture_with_temporaries(scene *s) {
    scene_cell *x, *y;
    two_cells(s, &x, &y);
    if (!scene_prepare(s, s->a)) return;
    temporary_step(s, s->a, x, y);
    if (!scene_begin(s, s->a)) return;
    temporary_step(s, s->a, x, y);
    scene_graph *g = scene_end(s, s->a);
    (void)scene_replay(s, s->a, g);
    scene_read(s, s->a, x);
    (void)scene_replay(s, s->a, g);
    (void)scene_sync(s, s->a);
}


static void capture_transfers(scene *s) {
    scene_cell *x = scene_buffer(s, s->a, N, RONDO_USAGE_GENERAL), *y = scene_buffer(s, s->a, N, RONDO_USAGE_GENERAL);
    scene_cell *z = scene_buffer(s, s->a, N, RONDO_USAGE_LASTING);
    scene_cell *h = scene_host(s, s->a, N), *in = scene_import(s, s->a, N, true);
    if (!scene_prepare(s, s->a)) return;
    for (int pass = 0; pass < 2; pass++) {
        (void)scene_write(s, s->a, x, 10);
        (void)scene_write_live(s, s->a, y, in);
        (void)scene_add(s, s->a, z, x, y);
        (void)scene_fill(s, s->a, x, 0, 6, 3);
        (void)scene_do(s, s->a, (scene_step){.kind = SCENE_COPY_2D, .out = z, .in = x, .n = 2, .rows = 2, .pitch = 5});
        (void)scene_host_call(s, s->a, y, z, 4);
        (void)scene_read_async(s, s->a, h, y);
        if (pass == 0 && !scene_begin(s, s->a)) return;
    }
    scene_graph *g = scene_end(s, s->a);
    (void)scene_replay(s, s->a, g);
    (void)scene_replay(s, s->b, g);
    scene_drop(in);
    (void)scene_replay(s, s->a, g);
}

typedef struct step_user {
    scene *s;
    scene_cell *x, *y;
} step_user;

static rondo_status step(rondo_stream *stream, void *user) {
    step_user *u = user;
    scene_step_begins(u->s, stream);
    temporary_step(u->s, stream, u->x, u->y);
    return RONDO_OK;
}

static void capture_by_step(scene *s) {
    scene_cell *x, *y;
    two_cells(s, &x, &y);
    scene_graph *g = scene_capture_step(s, s->a, step, &(step_user){s, x, y});
    (void)scene_replay(s, s->a, g);
    (void)scene_replay(s, s->b, g);
}

static void run_by_key(scene *s) {
    scene_cell *x, *y;
    rondo_run_mode mode;
    two_cells(s, &x, &y);
    step_user user = {s, x, y};
    for (int i = 0; i < 4; i++) {
        (void)scene_run(s, s->a, 1, step, &user, &mode);
        scene_read(s, s->a, x);
    }
    (void)scene_note(s, rondo_run_forget(s->a, 1));
    (void)scene_run(s, s->a, 1, step, &user, &mode);
}

/* A graph of x *= 2; y = x + y, sealed without a warm-up. */
static scene_graph *plain_graph(scene *s, scene_cell *x, scene_cell *y, scene_cell *z) {
    if (!scene_prepare(s, s->a) || !scene_begin(s, s->a)) return NULL;
    (void)scene_scale(s, s->a, x, 2);
    (void)scene_add(s, s->a, z, x, y);
    return scene_end(s, s->a);
}

static void nested_replay(scene *s) {
    scene_cell *x, *y, *z = scene_buffer(s, s->a, N, RONDO_USAGE_GENERAL);
    two_cells(s, &x, &y);
    scene_graph *inner = plain_graph(s, x, y, z);
    if (inner == NULL || !scene_prepare(s, s->b) || !scene_begin(s, s->b)) return;
    (void)scene_fill(s, s->b, y, 0, N, 30);
    (void)scene_replay(s, s->b, inner);
    (void)scene_replay(s, s->b, inner);
    scene_graph *outer = scene_end(s, s->b);
    (void)scene_replay(s, s->a, inner);
    scene_drop_graph(inner);
    (void)scene_replay(s, s->b, outer);
    (void)scene_replay(s, s->a, outer);
}

static void update_values(scene *s) {
    scene_cell *x, *y, *z = scene_buffer(s, s->a, N, RONDO_USAGE_GENERAL);
    two_cells(s, &x, &y);
    scene_graph *g = plain_graph(s, x, y, z);
    (void)scene_replay(s, s->a, g);
    (void)scene_update_value(s, g, 0, "k", 5);
    (void)scene_replay(s, s->a, g);
    (void)scene_update_value(s, g, 0, "k", 7);
    (void)scene_update_value(s, g, 0, "k", 9);
    (void)scene_replay(s, s->b, g);
}

static void update_buffers(scene *s) {
    scene_cell *x, *y, *z = scene_buffer(s, s->a, N, RONDO_USAGE_GENERAL);
    scene_cell *w = scene_buffer(s, s->b, N, RONDO_USAGE_GENERAL);
    two_cells(s, &x, &y);
    (void)scene_write(s, s->b, w, 50);
    scene_graph *g = plain_graph(s, x, y, z);
    bool moved = scene_update_buffer(s, g, 1, "b", w);
    (void)scene_replay(s, s->a, g);
    (void)scene_update_buffer(s, g, 0, "x", z);
    if (moved) (void)scene_update_buffer(s, g, 1, "c", y); /* else y would be read and written */
    (void)scene_replay(s, s->b, g);
    scene_drop(z);
    (void)scene_replay(s, s->a, g);
}

static void update_both(scene *s) {
    scene_cell *x, *y, *z = scene_buffer(s, s->a, N, RONDO_USAGE_GENERAL);
    scene_cell *w = scene_buffer(s, s->a, N, RONDO_USAGE_GENERAL);
    two_cells(s, &x, &y);
    (void)scene_write(s, s->a, w, 60);
    scene_graph *g = plain_graph(s, x, y, z);
    (void)scene_update_value(s, g, 0, "k", 5);
    (void)scene_update_buffer(s, g, 1, "c", w); /* waits beside the value: nothing was replayed yet */
    (void)scene_update_value(s, g, 0, "k", 6);
    (void)scene_replay(s, s->a, g);
    int32_t k = 11;
    rondo_update both[2] = {rondo_update_value(0, "k", &k, sizeof k),
                            rondo_update_span(0, "x", rondo_whole(y->buffer))};
    if (g != NULL && scene_note(s, rondo_graph_update(g->graph, both, 2))) {
        g->steps[0].value = k;
        g->steps[0].out = y;
    }
    (void)scene_replay(s, s->a, g);
}

static void graph_with_failing_node(scene *s) {
    scene_cell *x, *y, *flag = flag_of(s, 0), *z = scene_buffer(s, s->a, N, RONDO_USAGE_GENERAL);
    scene_cell *w = scene_buffer(s, s->a, N, RONDO_USAGE_GENERAL);
    two_cells(s, &x, &y);
    if (!scene_prepare(s, s->a) || !scene_begin(s, s->a)) return;
    (void)scene_scale(s, s->a, x, 3);                 /* independent */
    (void)scene_fail_if(s, s->a, z, flag, 8);
    (void)scene_add(s, s->a, w, z, y);                /* needs z */
    (void)scene_fill(s, s->a, z, 0, 6, 1);            /* mends a part of it */
    (void)scene_scale(s, s->a, y, 5);                 /* independent */
    scene_graph *g = scene_end(s, s->a);
    (void)scene_replay(s, s->a, g);
    (void)scene_fill(s, s->a, flag, 0, 1, 1);
    (void)scene_replay(s, s->a, g);
    scene_read(s, s->a, w);
    (void)scene_sync(s, s->a);
    (void)scene_fill(s, s->a, flag, 0, 1, 0);
    (void)scene_replay(s, s->b, g);
}

static void replay_with_spoiled_input(scene *s) {
    scene_cell *x, *y, *flag = flag_of(s, 1), *z = scene_buffer(s, s->a, N, RONDO_USAGE_GENERAL);
    void *data;
    two_cells(s, &x, &y);
    scene_graph *g = plain_graph(s, x, y, z);
    (void)scene_fail_if(s, s->a, y, flag, 1);
    (void)scene_replay(s, s->a, g); /* skipped: y is spoiled */
    (void)scene_write(s, s->a, y, 40);
    (void)scene_replay(s, s->a, g); /* x is spoiled by the skip */
    (void)scene_write(s, s->a, x, 7);
    (void)scene_replay(s, s->a, g);
    /* A replay that is refused leaves its input intact, but not what was spoiled before. */
    (void)scene_fail_if(s, s->a, x, flag, 1);
    if (g != NULL && scene_note(s, rondo_map(s->a, rondo_whole(y->buffer), RONDO_WRITES, &data))) {
        rondo_status status = rondo_graph_replay(g->graph, s->a);
        scene_expect(s, status, RONDO_BUSY);
        for (uint32_t i = 0; i < N; i++) z->mark[i] = x->mark[i] = SCENE_BAD;
        z->shaken = x->shaken = true;
        for (uint32_t i = 0; i < N; i++) z->tag[i] = x->tag[i] = 0;
        for (uint32_t i = 0; i < N; i++) {
            ((int32_t *)data)[i] = y->value[i] = (int32_t)i;
            y->mark[i] = SCENE_GOOD;
            y->unknown[i] = false;
        }
        (void)scene_note(s, rondo_unmap(s->a, rondo_whole(y->buffer)));
    }
    (void)scene_replay(s, s->a, g);
    (void)scene_sync(s, s->a);
}

static void doomed_window(scene *s) {
    scene_cell *x, *y, *flag = flag_of(s, 1), *z = scene_buffer(s, s->a, N, RONDO_USAGE_GENERAL);
    two_cells(s, &x, &y);
    (void)scene_fail_if(s, s->a, z, flag, 1);
    (void)scene_sync(s, s->a);
    if (!scene_prepare(s, s->a) || !scene_begin(s, s->a)) return;
    (void)scene_scale(s, s->a, x, 2);
    (void)scene_copy(s, s->a, y, 0, z, 0, N); /* z is spoiled: dooms */
    (void)scene_fill(s, s->a, z, 0, N, 1);
    scene_end_refused(s, s->a, RONDO_DOOMED);
    (void)scene_write(s, s->a, x, 3);
}

static void aborted_windows(scene *s) {
    scene_cell *x, *y;
    two_cells(s, &x, &y);
    if (scene_prepare(s, s->a) && scene_begin(s, s->a)) {
        (void)scene_scale(s, s->a, x, 2);
        scene_abort(s, s->a);
    }
    (void)scene_write(s, s->a, x, 2);
    rondo_stream *owner = NULL;
    if (!scene_note(s, rondo_stream_create(s->device, &owner))) return;
    if (scene_prepare(s, owner) && scene_begin(s, owner)) (void)scene_scale(s, owner, y, 2);
    rondo_stream_release(owner); /* destroying the owner aborts */
    scene_spoil_window(s);
    (void)scene_write(s, s->a, y, 2);
    (void)scene_scale(s, s->a, y, 2);
}

static const rondo_device_desc one_queue = {.max_queues = 1};

/* a and b are neighbours here. */
static void abandoned_window(scene *s) {
    scene_cell *x, *y;
    two_cells(s, &x, &y);
    if (!scene_prepare(s, s->a) || !scene_begin(s, s->a)) return;
    (void)scene_scale(s, s->a, x, 2);
    int32_t pattern = 3;
    scene_expect(s, rondo_fill(s->b, rondo_whole(y->buffer), &pattern, sizeof pattern, NULL), RONDO_BUSY);
    if (y->buffer.id != 0) {
        memset(y->mark, SCENE_BAD, y->count); /* [C13] it is claimed all the same */
        y->shaken = true;
    }
    scene_end_refused(s, s->b, RONDO_ABANDONED);
    rondo_graph *graph = NULL;
    scene_expect(s, rondo_capture_end(s->a, 0, &graph), RONDO_STATE);
    (void)scene_write(s, s->b, y, 2);
    (void)scene_write(s, s->b, x, 2);
}

/* What may not be done in a window does not doom it [C14]. */
static void refusals_in_a_window(scene *s) {
    scene_cell *x, *y;
    int32_t values[N];
    void *data;
    two_cells(s, &x, &y);
    if (!scene_prepare(s, s->a) || !scene_begin(s, s->a)) return;
    (void)scene_scale(s, s->a, x, 2);
    if (x->buffer.id != 0) {
        scene_expect(s, rondo_read(s->a, rondo_whole(x->buffer), values, NULL), RONDO_FORBIDDEN);
        scene_expect(s, rondo_map(s->a, rondo_whole(x->buffer), RONDO_READS, &data), RONDO_FORBIDDEN);
    }
    scene_expect(s, rondo_stream_sync(s->a), RONDO_FORBIDDEN);
    scene_expect(s, rondo_stream_trim(s->a), RONDO_FORBIDDEN);
    scene_expect(s, rondo_device_sync(s->device), RONDO_FORBIDDEN);
    (void)scene_note(s, rondo_stream_trim(s->b));
    (void)scene_note(s, rondo_device_trim(s->device, NULL));
    (void)scene_write(s, s->b, y, 40);
    rondo_window_info info;
    (void)scene_note(s, rondo_capture_get_info(s->a, &info));
    scene_graph *g = scene_end(s, s->a);
    (void)scene_replay(s, s->a, g);
}

static void room_that_a_window_lacks(scene *s) {
    scene_cell *x, *y, *t;
    two_cells(s, &x, &y);
    if (!scene_prepare(s, s->a) || !scene_begin(s, s->a)) return;
    (void)scene_scale(s, s->a, x, 2);
    rondo_buffer lacking = {0};
    scene_expect(s, rondo_buffer_create(s->a, 64 << 20, RONDO_USAGE_GENERAL, &lacking), RONDO_NO_ROOM);
    s->doomed = true;
    t = scene_buffer(s, s->b, N, RONDO_USAGE_GENERAL); /* other queues go on */
    (void)scene_fill(s, s->b, t, 0, N, 1);
    scene_end_refused(s, s->a, RONDO_DOOMED);
    (void)scene_write(s, s->a, x, 7);
}

static void host_blocks_in_a_window(scene *s) {
    scene_cell *x, *y;
    two_cells(s, &x, &y);
    if (!scene_prepare(s, s->a)) return;
    scene_cell *kept = NULL;
    for (int pass = 0; pass < 2; pass++) {
        scene_cell *h = scene_host(s, s->a, N), *t = scene_buffer(s, s->a, N, RONDO_USAGE_LASTING);
        scene_cell *u = scene_buffer(s, s->a, N, RONDO_USAGE_ONE_OFF);
        (void)scene_copy(s, s->a, t, 0, x, 0, N);
        (void)scene_copy(s, s->a, u, 0, y, 0, N);
        (void)scene_add(s, s->a, x, t, u);
        (void)scene_read_async(s, s->a, h, x);
        scene_drop(t);
        scene_drop(u);
        if (pass == 0) scene_drop(h);
        kept = h;
        if (pass == 0 && !scene_begin(s, s->a)) return;
    }
    scene_graph *g = scene_end(s, s->a);
    (void)scene_replay(s, s->a, g);
    (void)scene_replay(s, s->b, g);
    scene_read(s, s->a, kept);
}

static void many_claims_under_a_graph(scene *s) {
    scene_cell *x = scene_buffer(s, s->a, 4 * N, RONDO_USAGE_GENERAL), *flag = flag_of(s, 1);
    scene_cell *y = scene_buffer(s, s->a, N, RONDO_USAGE_GENERAL);
    (void)scene_write(s, s->a, y, 1);
    scene_graph *g = NULL;
    if (scene_prepare(s, s->a) && scene_begin(s, s->a)) {
        for (uint32_t i = 0; i < 6; i++) (void)scene_copy(s, s->a, x, 15 * i + 3, y, i, 5);
        (void)scene_scale(s, s->a, y, 3);
        g = scene_end(s, s->a);
    }
    (void)scene_fail_if(s, s->a, x, flag, 5);
    (void)scene_replay(s, s->a, g); /* cuts six holes into one claim */
    scene_read(s, s->a, x);
    for (uint32_t i = 0; i < 5; i++) (void)scene_fill(s, s->b, x, 15 * i + 9, 2, 8);
    (void)scene_fail_if(s, s->a, x, flag, 5);
    (void)scene_replay(s, s->b, g);
    (void)scene_sync(s, s->a);
}

/* The model follows the window of a; that of b only stands open beside it [C20]. */
static void two_windows_at_once(scene *s) {
    scene_cell *x, *y, *z = scene_buffer(s, s->b, N, RONDO_USAGE_GENERAL);
    two_cells(s, &x, &y);
    (void)scene_write(s, s->b, z, 3);
    bool other = scene_note(s, rondo_capture_prepare(s->b)) && scene_note(s, rondo_capture_begin(s->b));
    scene_graph *g = NULL;
    if (scene_prepare(s, s->a) && scene_begin(s, s->a)) {
        (void)scene_scale(s, s->a, x, 2);
        (void)scene_add(s, s->a, y, x, z); /* of the other queue */
        g = scene_end(s, s->a);
    }
    (void)scene_replay(s, s->a, g);
    rondo_graph *graph = NULL;
    if (other) scene_expect(s, rondo_capture_end(s->b, 0, &graph), RONDO_EMPTY);
    (void)scene_replay(s, s->b, g);
}

static rondo_status step_that_fails(rondo_stream *stream, void *user) {
    step_user *u = user;
    scene_step_begins(u->s, stream);
    bool recording = rondo_capture_phase(stream) == RONDO_PHASE_RECORDING;
    bool done = scene_scale(u->s, stream, u->x, 3);
    if (!recording) return RONDO_OK;
    u->s->doomed = true;
    return done ? rondo_buffer_retain(RONDO_NO_BUFFER) : RONDO_OK;
}

static void a_step_that_fails(scene *s) {
    scene_cell *x, *y;
    rondo_graph *graph = NULL;
    two_cells(s, &x, &y);
    step_user user = {s, x, y};
    rondo_status status = rondo_capture_step(s->a, step_that_fails, &user, &graph);
    scene_expect(s, status, RONDO_STALE);
    SCENE_CHECK(graph == NULL, "a step that failed gives a graph [P2]");
    scene_spoil_window(s);
    (void)scene_write(s, s->a, x, 4);
}

static void a_long_window(scene *s) {
    scene_cell *x, *y, *z = scene_buffer(s, s->a, N, RONDO_USAGE_GENERAL);
    two_cells(s, &x, &y);
    if (!scene_prepare(s, s->a) || !scene_begin(s, s->a)) return;
    for (int i = 0; i < 12; i++) {
        (void)scene_add(s, s->a, z, x, y);
        (void)scene_scale(s, s->a, x, i + 2);
        (void)scene_copy(s, s->a, y, (uint32_t)i, z, 0, N - (uint32_t)i);
    }
    scene_graph *g = scene_end(s, s->a);
    (void)scene_replay(s, s->a, g);
    (void)scene_replay(s, s->b, g);
}

/* Long enough that its copies need more than one chunk of memory. */
static void a_long_graph_is_changed_and_appended(scene *s) {
    scene_cell *x, *y, *z = scene_buffer(s, s->a, N, RONDO_USAGE_GENERAL);
    scene_cell *w = scene_buffer(s, s->a, N, RONDO_USAGE_GENERAL);
    two_cells(s, &x, &y);
    (void)scene_write(s, s->a, w, 30);
    if (!scene_prepare(s, s->a) || !scene_begin(s, s->a)) return;
    for (int i = 0; i < 28; i++) (void)scene_scale(s, s->a, i % 2 == 0 ? x : y, i + 2);
    (void)scene_add(s, s->a, z, x, y);
    scene_graph *inner = scene_end(s, s->a);
    (void)scene_update_buffer(s, inner, 28, "b", w);
    (void)scene_replay(s, s->a, inner);
    if (inner == NULL || !scene_prepare(s, s->b) || !scene_begin(s, s->b)) return;
    (void)scene_replay(s, s->b, inner);
    scene_graph *outer = scene_end(s, s->b);
    (void)scene_replay(s, s->b, outer);
}

/* The warm-up needs pages that the pool has not got; the recorded run finds them. */
static void growth_in_a_warm_up(scene *s) {
    scene_cell *x = scene_buffer(s, s->a, 700, RONDO_USAGE_GENERAL);
    (void)scene_write(s, s->a, x, 1);
    if (!scene_prepare(s, s->a)) return;
    for (int pass = 0; pass < 2; pass++) {
        scene_cell *t = scene_buffer(s, s->a, 700, RONDO_USAGE_GENERAL);
        scene_cell *u = scene_buffer(s, s->a, 2000, RONDO_USAGE_GENERAL);
        (void)scene_copy(s, s->a, t, 0, x, 0, 700);
        (void)scene_copy(s, s->a, u, 3, t, 0, 700);
        scene_drop(t);
        scene_cell *v = scene_buffer(s, s->a, 1200, RONDO_USAGE_GENERAL);
        (void)scene_copy(s, s->a, v, 0, u, 3, 700);
        (void)scene_copy(s, s->a, x, 1, v, 0, 699);
        scene_drop(v);
        scene_drop(u);
        if (pass == 0 && !scene_begin(s, s->a)) return;
    }
    scene_graph *g = scene_end(s, s->a);
    (void)scene_replay(s, s->a, g);
    scene_cell *large = scene_buffer(s, s->a, 9000, RONDO_USAGE_GENERAL); /* outdates the pages that the graph guards */
    (void)scene_fill(s, s->a, large, 0, 9000, 2);
    (void)scene_note(s, rondo_device_trim(s->device, NULL));
    (void)scene_replay(s, s->a, g);
}

static void events_in_a_window(scene *s) {
    scene_cell *x, *y;
    rondo_event *event = scene_event(s);
    two_cells(s, &x, &y);
    if (event == NULL || !scene_prepare(s, s->a) || !scene_begin(s, s->a)) return;
    (void)scene_scale(s, s->a, x, 2);
    bool recorded = scene_note(s, rondo_event_record(s->a, event, "point"));
    if (!recorded) s->doomed = true;
    if (recorded && !scene_note(s, rondo_event_wait(s->a, event, NULL))) s->doomed = true;
    (void)scene_scale(s, s->a, y, 3);
    scene_graph *g = scene_end(s, s->a);
    if (scene_replay(s, s->a, g)) (void)scene_note(s, rondo_event_sync(event));
    (void)scene_replay(s, s->b, g);
}

static void swallow(void *user, const char *text, size_t length) {
    size_t *total = user;
    (void)text;
    *total += length;
}

static void walk_and_dump(scene *s) {
    scene_cell *x, *y, *z = scene_buffer(s, s->a, N, RONDO_USAGE_GENERAL);
    two_cells(s, &x, &y);
    scene_graph *g = plain_graph(s, x, y, z);
    if (g == NULL) return;
    rondo_graph_info info;
    rondo_node_info node;
    rondo_node_span span;
    uint64_t before;
    size_t total = 0;
    (void)scene_note(s, rondo_graph_get_info(g->graph, &info));
    if (scene_note(s, rondo_graph_get_node(g->graph, 1, &node)) && node.predecessors != 0) {
        (void)scene_note(s, rondo_graph_get_predecessor(g->graph, 1, 0, &before));
    }
    (void)scene_note(s, rondo_graph_get_node_span(g->graph, 1, 2, &span));
    (void)scene_note(s, rondo_graph_dump(g->graph, RONDO_DUMP_TEXT, swallow, &total));
    (void)scene_note(s, rondo_graph_dump(g->graph, RONDO_DUMP_DOT, swallow, &total));
    (void)scene_replay(s, s->a, g);
}

/* Twelve queues: a graph over more than eight of them needs memory to be ordered. */
static const rondo_device_desc many_queues = {.max_queues = 12};

static void graph_over_many_queues(scene *s) {
    enum { QUEUES = 11 };
    scene_cell *cells[QUEUES];
    rondo_stream *streams[QUEUES];
    for (int i = 0; i < QUEUES; i++) streams[i] = scene_stream(s);
    for (int i = 0; i < QUEUES; i++) {
        cells[i] = scene_buffer(s, streams[i] != NULL ? streams[i] : s->a, N, RONDO_USAGE_GENERAL);
        (void)scene_write(s, s->a, cells[i], i);
    }
    if (!scene_prepare(s, s->a) || !scene_begin(s, s->a)) return;
    for (int i = 1; i < QUEUES; i++) (void)scene_add(s, s->a, cells[i], cells[i - 1], cells[0]);
    (void)scene_scale(s, s->a, cells[0], 3);
    scene_graph *g = scene_end(s, s->a);
    (void)scene_replay(s, s->b, g);
    (void)scene_replay(s, s->a, g);
    (void)scene_replay(s, s->b, g);
}

static void windows_share_metadata(scene *s) {
    scene_cell *x, *y, *z = scene_buffer(s, s->a, N, RONDO_USAGE_GENERAL);
    two_cells(s, &x, &y);
    scene_graph *first = plain_graph(s, x, y, z), *second = plain_graph(s, y, x, z);
    (void)scene_replay(s, s->a, first);
    if (first != NULL) scene_drop_graph(first);
    (void)scene_replay(s, s->a, second);
    if (scene_prepare(s, s->a) && scene_begin(s, s->a)) {
        for (int32_t k = 2; k < 8; k++) (void)scene_scale(s, s->a, x, k);
        scene_abort(s, s->a);
    }
}

static const rondo_device_desc fresh_is_an_error = {.debug_fresh = true};

static void debugging_fresh_memory(scene *s) {
    scene_cell *x = scene_buffer(s, s->a, N, RONDO_USAGE_GENERAL), *y = scene_buffer(s, s->a, N, RONDO_USAGE_GENERAL);
    scene_cell *h = scene_host(s, s->a, N);
    scene_read(s, s->a, x);
    (void)scene_write(s, s->a, x, 1);
    (void)scene_copy(s, s->a, y, 0, x, 0, N / 2);
    (void)scene_fill(s, s->a, y, N / 2, N - N / 2, 2);
    (void)scene_read_async(s, s->a, h, y);
    scene_graph *g = scene_capture_step(s, s->a, step, &(step_user){s, x, y});
    (void)scene_replay(s, s->a, g);
}

static void frees_around_a_graph(scene *s) {
    scene_cell *x, *y, *z = scene_buffer(s, s->a, N, RONDO_USAGE_GENERAL);
    two_cells(s, &x, &y);
    scene_graph *g = plain_graph(s, x, y, z);
    scene_drop(y);
    (void)scene_replay(s, s->a, g);
    scene_cell *other = scene_buffer(s, s->a, N, RONDO_USAGE_GENERAL);
    (void)scene_write(s, s->a, other, 9);
    (void)scene_replay(s, s->a, g);
    if (g != NULL) scene_drop_graph(g);
    (void)scene_scale(s, s->a, other, 2);
}

#define SCENARIO(function) {.name = #function, .run = function}

const scenario scenarios[] = {
    SCENARIO(open_and_close_a_device),
    SCENARIO(create_streams_and_events),
    SCENARIO(create_a_kernel),
    SCENARIO(general_buffers),
    SCENARIO(lasting_buffers),
    SCENARIO(one_off_buffers),
    SCENARIO(import_memory),
    SCENARIO(host_blocks),
    SCENARIO(map_and_unmap),
    SCENARIO(unmapping_parts_of_a_claim),
    {.name = "relocation", .run = relocation, .desc = &small_pages, .quiet_failures = true},
    {.name = "trimming", .run = trimming, .desc = &small_pages, .quiet_failures = true},
    {.name = "memory_pressure", .run = memory_pressure, .desc = &capped, .quiet_failures = true},
    SCENARIO(eager_transfers),
    SCENARIO(eager_launches),
    SCENARIO(eager_host_calls),
    SCENARIO(work_across_queues),
    SCENARIO(profiling),
    SCENARIO(partial_claims),
    SCENARIO(skip_chains),
    SCENARIO(capture_with_temporaries),
    SCENARIO(capture_transfers),
    SCENARIO(capture_by_step),
    SCENARIO(run_by_key),
    SCENARIO(nested_replay),
    SCENARIO(update_values),
    SCENARIO(update_buffers),
    SCENARIO(update_both),
    SCENARIO(graph_with_failing_node),
    SCENARIO(replay_with_spoiled_input),
    SCENARIO(doomed_window),
    SCENARIO(aborted_windows),
    {.name = "abandoned_window", .run = abandoned_window, .desc = &one_queue},
    SCENARIO(refusals_in_a_window),
    SCENARIO(room_that_a_window_lacks),
    SCENARIO(host_blocks_in_a_window),
    SCENARIO(many_claims_under_a_graph),
    SCENARIO(two_windows_at_once),
    SCENARIO(a_step_that_fails),
    SCENARIO(a_long_window),
    SCENARIO(a_long_graph_is_changed_and_appended),
    {.name = "growth_in_a_warm_up", .run = growth_in_a_warm_up, .desc = &small_pages, .quiet_failures = true},
    SCENARIO(events_in_a_window),
    SCENARIO(walk_and_dump),
    {.name = "graph_over_many_queues", .run = graph_over_many_queues, .desc = &many_queues},
    SCENARIO(windows_share_metadata),
    {.name = "debugging_fresh_memory", .run = debugging_fresh_memory, .desc = &fresh_is_an_error},
    SCENARIO(frees_around_a_graph),
};
const size_t scenario_count = sizeof scenarios / sizeof scenarios[0];
