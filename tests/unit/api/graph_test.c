/* Graphs, runs by key and updates in situations that other tests do not meet. */
#include "thread/threads.h"

typedef struct scene {
    rondo_device *device;
    rondo_stream *a, *b, *c; /* a and c of one queue */
    kernels k;
    rondo_buffer x, y, z;
} scene;

static scene open_scene(void) {
    scene s = {.device = open_cpu(2)};
    s.a = stream_on(s.device, 2, 0);
    s.b = stream_on(s.device, 2, 1);
    s.c = stream_on(s.device, 2, 0);
    s.k = load_kernels(s.device);
    s.x = make_buffer(s.a, 1);
    s.y = make_buffer(s.a, 2);
    s.z = make_buffer(s.b, 3);
    expect_no_trouble();
    return s;
}

static void close_scene(scene *s) {
    rondo_buffer_release(s->x);
    rondo_buffer_release(s->y);
    rondo_buffer_release(s->z);
    release_kernels(&s->k);
    rondo_stream_release(s->a);
    rondo_stream_release(s->b);
    rondo_stream_release(s->c);
    expect_empty(s->device);
    rondo_device_release(s->device);
}

static rondo_status launch_add(rondo_stream *stream, const kernels *k, rondo_buffer x, uint64_t amount) {
    rondo_arg args[] = {rondo_arg_buffer(x), rondo_arg_value(&amount, 8)};
    return rondo_launch(stream, k->add, rondo_grid_1d(WORDS), args, 2, "add");
}

/* ---- updates that wait ---- */

static dumped dump(rondo_graph *graph) {
    dumped t = {.length = 0};
    OK(rondo_graph_dump(graph, RONDO_DUMP_TEXT, keep_text, &t));
    return t;
}

static stop halt = STOP_INIT;

static void replay_once(int index, void *user) {
    scene *const *s = user;
    rondo_graph *const *graph = (void *)((void **)user + 1);
    (void)index;
    NEED_OK(rondo_graph_replay(*graph, (*s)->b));
}

static void update_while_it_runs(int index, void *user) {
    scene *s = *(scene *const *)user;
    rondo_graph *graph = *(rondo_graph *const *)(void *)((void **)user + 1);
    if (index == 0) {
        replay_once(index, user);
        return;
    }
    gate_await(&halt.inside, 1);
    uint64_t amount = 50, other = 70;
    rondo_update update = rondo_update_value(1, "amount", &amount, 8);
    NEED_OK(rondo_graph_update(graph, &update, 1));
    update = rondo_update_value(1, "amount", &other, 8);
    NEED_OK(rondo_graph_update(graph, &update, 1));
    update = rondo_update_span(1, "x", rondo_whole(s->z));
    NEED_OK(rondo_graph_update(graph, &update, 1));
    update = rondo_update_value(2, "a", &other, 8);
    NEED_OK(rondo_graph_update(graph, &update, 1));
    /* [R8] What is appended now is the graph as updated. */
    rondo_graph *outer = NULL;
    NEED_OK(rondo_capture_prepare(s->a));
    NEED_OK(rondo_capture_begin(s->a));
    NEED_OK(rondo_graph_replay(graph, s->a));
    NEED_OK(rondo_capture_end(s->a, 0, &outer));
    dumped now = {.length = 0};
    NEED_OK(rondo_graph_dump(graph, RONDO_DUMP_TEXT, keep_text, &now));
    NEED(now.length != 0);
    rondo_graph_release(graph); /* the updates are never applied */
    gate_set(&halt.go_on, 1);
    NEED_OK(rondo_graph_replay(outer, s->a));
    rondo_graph_release(outer);
}

/* [R8] [R9] [M6] An update made during a replay is for later ones. Where none comes it is dropped, guards and all. */
static void updates_that_no_replay_meets_go_with_the_graph(void **state) {
    (void)state;
    scene s = open_scene();
    begin_window(s.a);
    OK(rondo_host_call(s.a, stop_here, &halt, NULL, NULL, 0, "stop"));
    OK(launch_add(s.a, &s.k, s.x, 10));
    OK(launch_pair(s.a, &s.k, s.y, 5, 6));
    rondo_graph *graph = seal_window(s.a);
    void *user[2] = {&s, graph};
    gate_set(&halt.inside, 0);
    gate_set(&halt.go_on, 0);
    run_threads(2, update_while_it_runs, user);
    assert_int_equal(read_even(s.b, s.x), 11);
    assert_int_equal(read_even(s.b, s.z), 73);
    uint64_t words[WORDS];
    OK(rondo_read(s.a, rondo_whole(s.y), words, NULL));
    assert_true(words[0] == 70 && words[1] == 6);
    close_scene(&s);
}

/* [R9] Nodes of a backend's own graphs are found in each part between two events. */
static void values_are_updated_on_both_sides_of_an_event(void **state) {
    (void)state;
    scene s = open_scene();
    rondo_event *event = NULL;
    OK(rondo_event_create(s.device, &event));
    begin_window(s.a);
    OK(launch_add(s.a, &s.k, s.x, 10));
    OK(rondo_event_record(s.a, event, NULL));
    OK(launch_add(s.a, &s.k, s.y, 10));
    rondo_graph *graph = seal_window(s.a);
    uint64_t first = 100, second = 200;
    rondo_update both[] = {rondo_update_value(0, "amount", &first, 8), rondo_update_value(2, "amount", &second, 8)};
    OK(rondo_graph_update(graph, both, 2));
    OK(rondo_graph_replay(graph, s.a));
    assert_int_equal(read_even(s.a, s.x), 101);
    assert_int_equal(read_even(s.a, s.y), 202);
    /* After a buffer was changed too, the values stay. */
    rondo_update move = rondo_update_span(2, "x", rondo_whole(s.z));
    OK(rondo_graph_update(graph, &move, 1));
    OK(rondo_graph_replay(graph, s.b));
    assert_int_equal(read_even(s.a, s.x), 201);
    assert_int_equal(read_even(s.a, s.y), 202);
    assert_int_equal(read_even(s.b, s.z), 203);
    rondo_graph_release(graph);
    rondo_event_release(event);
    close_scene(&s);
}

/* [R9] [W5] */
static void a_parameter_can_be_updated_to_a_buffer_of_no_bytes(void **state) {
    (void)state;
    scene s = open_scene();
    rondo_buffer empty = RONDO_NO_BUFFER;
    OK(rondo_buffer_create(s.a, 0, RONDO_USAGE_GENERAL, &empty));
    static const rondo_param params[] = {{"x", RONDO_PARAM_IN, 8, 0, false}};
    rondo_kernel *kernel = load(s.device, "nothing", nothing_native, params, 1);
    rondo_arg arg = rondo_arg_span(rondo_whole(empty));
    begin_window(s.a);
    OK(rondo_launch(s.a, kernel, rondo_grid_1d(4), &arg, 1, NULL));
    OK(launch_add(s.a, &s.k, s.x, 10));
    rondo_graph *graph = seal_window(s.a);
    rondo_update update = rondo_update_span(0, "x", rondo_whole(empty));
    OK(rondo_graph_update(graph, &update, 1));
    OK(rondo_graph_replay(graph, s.a));
    begin_window(s.b);
    OK(rondo_graph_replay(graph, s.b));
    rondo_graph *outer = seal_window(s.b);
    OK(rondo_graph_replay(outer, s.b));
    assert_int_equal(read_even(s.a, s.x), 21);
    rondo_graph_release(outer);
    rondo_graph_release(graph);
    rondo_buffer_release(empty);
    rondo_kernel_release(kernel);
    close_scene(&s);
}

/* [R9] [M3] One update names several buffers, in any order, one of them for two nodes. */
static void buffers_of_several_pages_are_updated_at_once(void **state) {
    (void)state;
    scene s = open_scene();
    enum { MORE = 6 };
    rondo_buffer more[MORE], block = RONDO_NO_BUFFER;
    uint64_t two = 2;
    OK(rondo_host_create(s.a, BYTES, &block));
    for (int i = 0; i < MORE; i++) {
        OK(rondo_buffer_create(s.a, BYTES, RONDO_USAGE_LASTING, &more[i]));
        OK(rondo_fill(s.a, rondo_whole(more[i]), &two, 8, NULL));
    }
    begin_window(s.a);
    for (int i = 0; i < MORE; i++) OK(launch_add(s.a, &s.k, s.x, 10));
    OK(rondo_read_async(s.a, rondo_whole(s.x), rondo_whole(block), NULL));
    rondo_graph *graph = seal_window(s.a);
    static const int order[MORE] = {3, 0, 5, 1, 5, 2};
    rondo_update updates[MORE];
    for (int i = 0; i < MORE; i++) {
        updates[i] = rondo_update_span((uint64_t)i, "x", rondo_whole(more[order[i]]));
    }
    OK(rondo_graph_update(graph, updates, MORE));
    OK(rondo_graph_replay(graph, s.a));
    static const uint64_t expected[MORE] = {12, 12, 12, 12, 2, 22};
    for (int i = 0; i < MORE; i++) {
        assert_int_equal(read_even(s.a, more[i]), expected[i]);
        rondo_buffer_release(more[i]);
    }
    assert_int_equal(read_even(s.a, block), 1);
    rondo_graph_release(graph);
    rondo_buffer_release(block);
    close_scene(&s);
}

enum { BIG = 1 << 20 };

static rondo_buffer create_big(rondo_stream *stream) {
    rondo_buffer buffer = RONDO_NO_BUFFER;
    OK(rondo_buffer_create(stream, BIG, RONDO_USAGE_GENERAL, &buffer));
    return buffer;
}

/* [R9] [C5] A live buffer that lies where the graph writes a temporary must stay written whole, and out of the way of
 * other nodes. */
static void an_update_may_not_uncover_a_temporary(void **state) {
    (void)state;
    scene s = {.device = NULL};
    rondo_device_desc desc = {.max_queues = 2,
                              .workers = 1,
                              .memory = {.small_page_bytes = 65536,
                                         .small_max_bytes = 1024,
                                         .page_min_bytes = 65536,
                                         .page_max_bytes = 65536}};
    OK(rondo_device_open("cpu", &desc, &s.device));
    s.a = stream_on(s.device, 2, 0);
    s.b = stream_on(s.device, 2, 1);
    s.c = stream_on(s.device, 2, 0);
    s.k = load_kernels(s.device);
    s.x = make_buffer(s.a, 1);
    s.y = make_buffer(s.a, 2);
    s.z = make_buffer(s.b, 3);
    OK(rondo_capture_prepare(s.a));
    for (int i = 0; i < 2; i++) rondo_buffer_release(create_big(s.a));
    OK(rondo_capture_begin(s.a));
    uint64_t six = 6, seven = 7;
    rondo_buffer temporary = create_big(s.a);
    OK(rondo_fill(s.a, rondo_whole(temporary), &six, 8, NULL)); /* 0 */
    OK(launch_copy(s.a, &s.k, temporary, s.x));                 /* 1 */
    rondo_buffer_release(temporary);
    rondo_buffer live = create_big(s.a);
    rondo_arg args[] = {rondo_arg_buffer(live), rondo_arg_value(&seven, 8), rondo_arg_value(&seven, 8)};
    OK(rondo_launch(s.a, s.k.pair, rondo_grid_1d(BIG / 8), args, 3, NULL)); /* 2 */
    OK(launch_copy(s.a, &s.k, live, s.y));                                  /* 3 */
    rondo_graph *graph = seal_window(s.a);
    rondo_update update = rondo_update_span(2, "x", rondo_whole(s.z));
    rondo_status status = rondo_graph_update(graph, &update, 1);
    rondo_fault fault;
    expect(status, RONDO_OVERLAP);
    OK(rondo_fault_get(status, &fault));
    assert_int_equal(fault.stream_id, 0);
    assert_int_equal(fault.op_index, 2);
    update = rondo_update_span(1, "x", rondo_whole(live));
    expect(rondo_graph_update(graph, &update, 1), RONDO_OVERLAP);
    update = rondo_update_span(3, "y", rondo_whole(s.z)); /* this one does no harm */
    OK(rondo_graph_update(graph, &update, 1));
    OK(rondo_graph_replay(graph, s.a));
    assert_int_equal(read_even(s.a, s.x), 6);
    assert_int_equal(read_even(s.a, s.z), 7);
    assert_int_equal(read_even(s.a, s.y), 2);
    rondo_buffer_release(live);
    rondo_graph_release(graph);
    close_scene(&s);
}

/* [R9] */
static void a_label_that_no_node_carries_is_refused(void **state) {
    (void)state;
    scene s = open_scene();
    rondo_arg args[] = {rondo_arg_buffer(s.x)};
    begin_window(s.a);
    OK(rondo_launch(s.a, s.k.bump, rondo_grid_1d(WORDS), args, 1, NULL));
    rondo_graph *graph = seal_window(s.a);
    rondo_update update = rondo_update_span(0, "x", rondo_whole(s.y));
    update.label = "none";
    expect(rondo_graph_update(graph, &update, 1), RONDO_INVALID);
    uint64_t before;
    expect(rondo_graph_get_predecessor(graph, 0, 0, NULL), RONDO_INVALID);
    expect(rondo_graph_get_predecessor(graph, 0, 0, &before), RONDO_RANGE);
    rondo_graph_release(graph);
    close_scene(&s);
}

/* [W3] */
static void a_dump_names_all_that_a_node_follows(void **state) {
    (void)state;
    scene s = open_scene();
    begin_window(s.a);
    OK(launch_bump(s.a, &s.k, s.x));
    OK(launch_bump(s.a, &s.k, s.y));
    OK(launch_sum(s.a, &s.k, s.x, s.y, s.z));
    rondo_graph *graph = seal_window(s.a);
    dumped t = dump(graph);
    assert_non_null(strstr(t.bytes, " after 0,1"));
    rondo_graph_release(graph);
    close_scene(&s);
}

/* [W3] Rectangles are shown with their rows. */
static void a_dump_shows_the_rows_of_a_rectangle(void **state) {
    (void)state;
    scene s = open_scene();
    begin_window(s.a);
    OK(rondo_copy_2d(s.a, (rondo_rect){rondo_whole(s.y), 64}, (rondo_rect){rondo_whole(s.x), 32}, 16, 3, NULL));
    rondo_graph *graph = seal_window(s.a);
    dumped t = dump(graph);
    assert_non_null(strstr(t.bytes, "/3x16@64"));
    assert_non_null(strstr(t.bytes, "/3x16@32"));
    rondo_graph_release(graph);
    close_scene(&s);
}

/* [O1] [C8] */
static void a_graph_of_another_device_dooms_the_window(void **state) {
    (void)state;
    scene s = open_scene(), other = open_scene();
    begin_window(s.a);
    OK(launch_bump(s.a, &s.k, s.x));
    rondo_graph *graph = seal_window(s.a), *none = NULL;
    begin_window(other.a);
    OK(launch_bump(other.a, &other.k, other.x));
    expect(rondo_graph_replay(graph, other.a), RONDO_FOREIGN);
    expect(rondo_capture_end(other.a, 0, &none), RONDO_DOOMED);
    expect(rondo_graph_replay(graph, other.a), RONDO_FOREIGN);
    uint64_t seven = 7;
    OK(rondo_fill(other.a, rondo_whole(other.x), &seven, 8, NULL));
    rondo_graph_release(graph);
    close_scene(&s);
    close_scene(&other);
}

/* [R4] The failure comes before the event, the node that needs its bytes after it. */
static void a_failure_spoils_nodes_behind_an_event(void **state) {
    (void)state;
    scene s = open_scene();
    rondo_event *event = NULL;
    OK(rondo_event_create(s.device, &event));
    begin_window(s.a);
    OK(launch_fail(s.a, &s.k, s.x));
    OK(rondo_event_record(s.a, event, NULL));
    OK(launch_copy(s.a, &s.k, s.x, s.y));
    OK(launch_bump(s.a, &s.k, s.z));
    rondo_graph *graph = seal_window(s.a);
    OK(rondo_graph_replay(graph, s.a));
    expect(rondo_stream_sync(s.a), RONDO_KERNEL);
    expect(rondo_span_status(rondo_whole(s.y)), RONDO_TAINTED);
    assert_int_equal(read_even(s.b, s.z), 4);
    OK(rondo_event_status(event));
    rondo_graph_release(graph);
    rondo_event_release(event);
    close_scene(&s);
}

/* ---- runs by key ---- */

enum { FORGET_NEVER, FORGET_FIRST, FORGET_SECOND, FORGET_BOTH };

typedef struct step_user {
    scene *s;
    int forget, calls;
    rondo_graph *inner;
} step_user;

static rondo_status bump_step(rondo_stream *stream, void *user) {
    step_user *u = user;
    u->calls++;
    rondo_status status = launch_bump(stream, &u->s->k, u->s->x);
    bool now = (u->forget == FORGET_FIRST && u->calls == 1) || (u->forget == FORGET_SECOND && u->calls == 2) ||
               u->forget == FORGET_BOTH;
    if (status == RONDO_OK && now) status = rondo_run_forget(stream, 1);
    return status;
}

/* [C21] Whoever forgets a key while its step runs gets one step of effect, and the key begins anew. */
static void a_key_may_be_forgotten_while_its_step_runs(void **state) {
    (void)state;
    for (int forget = FORGET_NEVER; forget <= FORGET_BOTH; forget++) {
        scene s = open_scene();
        step_user user = {.s = &s, .forget = forget};
        rondo_run_info info;
        for (uint64_t i = 0; i < 5; i++) {
            OK(rondo_run(s.a, 1, bump_step, &user, &info));
            assert_int_equal(read_even(s.a, s.x), 2 + i);
        }
        OK(rondo_run_forget(s.a, 1));
        close_scene(&s);
    }
}

/* [C21] [C13] Another stream's capture on the queue passes: the key is tried again later. */
static void a_run_beside_a_prepared_neighbour_is_eager(void **state) {
    (void)state;
    scene s = open_scene();
    step_user user = {.s = &s};
    rondo_run_info info;
    OK(rondo_capture_prepare(s.c));
    OK(rondo_run(s.a, 1, bump_step, &user, &info)); /* first: cannot be noted */
    assert_int_equal(info.last_mode, RONDO_RUN_EAGER);
    rondo_buffer temporary = make_buffer(s.a, 9); /* not part of the neighbour's warm-up */
    rondo_buffer_release(temporary);
    OK(rondo_capture_abort(s.c));
    OK(rondo_run(s.a, 1, bump_step, &user, &info));
    OK(rondo_capture_prepare(s.c));
    OK(rondo_run(s.a, 1, bump_step, &user, &info)); /* would be captured */
    assert_int_equal(info.last_mode, RONDO_RUN_FALLBACK);
    expect(info.fallback_reason, RONDO_STATE);
    OK(rondo_capture_abort(s.c));
    OK(rondo_run(s.a, 1, bump_step, &user, &info));
    assert_int_equal(info.last_mode, RONDO_RUN_CAPTURED);
    OK(rondo_run(s.a, 1, bump_step, &user, &info));
    assert_int_equal(info.last_mode, RONDO_RUN_REPLAYED);
    assert_int_equal(read_even(s.a, s.x), 6);
    close_scene(&s);
}

static rondo_status sync_step(rondo_stream *stream, void *user) {
    step_user *u = user;
    u->calls++;
    rondo_status status = launch_bump(stream, &u->s->k, u->s->x);
    if (u->forget != FORGET_NEVER && u->calls > 1) (void)rondo_run_forget(stream, 1);
    return status == RONDO_OK ? rondo_stream_sync(stream) : status;
}

static int warnings;
static void count_warnings(void *user, rondo_log_level level, uint32_t item, rondo_status status, const char *words) {
    (void)user;
    (void)item;
    (void)status;
    assert_non_null(words);
    warnings += level == RONDO_LOG_WARNING;
}

/* [C21] [E4] A step that cannot be recorded runs eagerly, and that is said to whoever asked for warnings. */
static void a_fallback_is_told_at_the_level_of_warnings(void **state) {
    (void)state;
    for (int level = RONDO_LOG_ERROR; level <= RONDO_LOG_WARNING; level++) {
        for (int forget = FORGET_NEVER; forget <= FORGET_FIRST; forget++) {
            scene s = open_scene();
            step_user user = {.s = &s, .forget = forget};
            rondo_run_info info;
            warnings = 0;
            rondo_log_set(count_warnings, NULL, (rondo_log_level)level);
            OK(rondo_run(s.a, 1, sync_step, &user, &info));
            OK(rondo_run(s.a, 1, sync_step, &user, &info));
            rondo_log_set(NULL, NULL, RONDO_LOG_ERROR);
            assert_int_equal(warnings, level == RONDO_LOG_WARNING ? 1 : 0);
            assert_int_equal(read_even(s.a, s.x), 3);
            close_scene(&s);
        }
    }
}

/* [C21] */
static void keys_are_forgotten_in_any_order(void **state) {
    (void)state;
    scene s = open_scene();
    step_user user = {.s = &s};
    static const uint64_t order[] = {2, 4, 1, 5, 3, 7};
    for (uint64_t key = 1; key <= 5; key++) {
        for (int i = 0; i < 2; i++) OK(rondo_run(s.a, key, bump_step, &user, NULL));
    }
    for (int i = 0; i < 6; i++) OK(rondo_run_forget(s.a, order[i]));
    rondo_run_info info;
    OK(rondo_run(s.a, 3, bump_step, &user, &info));
    assert_int_equal(info.eager, 1);
    close_scene(&s);
}

/* The step replays a graph whose input is spoiled, so its recording is doomed. */
static rondo_status replay_step(rondo_stream *stream, void *user) {
    step_user *u = user;
    u->calls++;
    if (u->calls == 2) {
        rondo_status status = launch_fail(u->s->b, &u->s->k, u->s->x);
        if (status != RONDO_OK) return status;
    }
    rondo_status status = rondo_graph_replay(u->inner, stream);
    uint64_t one = 1;
    if (u->calls != 2) return status;
    rondo_status mended = rondo_fill(u->s->b, rondo_whole(u->s->x), &one, 8, NULL);
    return status != RONDO_OK ? status : mended;
}

/* [C21] [R8] [C15] */
static void a_run_whose_inner_graph_is_spoiled_falls_back(void **state) {
    (void)state;
    scene s = open_scene();
    begin_window(s.a);
    OK(launch_copy(s.a, &s.k, s.x, s.y));
    step_user user = {.s = &s, .inner = seal_window(s.a)};
    rondo_run_info info;
    OK(rondo_run(s.a, 1, replay_step, &user, &info));
    OK(rondo_run(s.a, 1, replay_step, &user, &info));
    assert_int_equal(info.last_mode, RONDO_RUN_FALLBACK);
    assert_int_equal(read_even(s.a, s.y), 1);
    rondo_graph_release(user.inner);
    close_scene(&s);
}

static rondo_status aborting_step(rondo_stream *stream, void *user) {
    step_user *u = user;
    u->calls++;
    rondo_status status = launch_bump(stream, &u->s->k, u->s->x);
    (void)rondo_capture_abort(stream);
    if (u->forget == FORGET_FIRST) {
        if (status == RONDO_OK) status = rondo_capture_prepare(stream);
        return status != RONDO_OK ? status : rondo_buffer_retain(RONDO_NO_BUFFER); /* any failure */
    }
    return status;
}

/* [C21] [C11] The capture that the step opened itself is the step's. */
static void a_step_that_ends_the_capture_gets_no_graph(void **state) {
    (void)state;
    scene s = open_scene();
    step_user user = {.s = &s};
    rondo_graph *graph = NULL;
    expect(rondo_capture_step(s.a, aborting_step, &user, &graph), RONDO_STATE);
    assert_null(graph);
    OK(rondo_run(s.a, 1, aborting_step, &user, NULL)); /* nothing to note any more */
    assert_false(rondo_stream_is_capturing(s.a));
    user.forget = FORGET_FIRST;
    expect(rondo_capture_step(s.a, aborting_step, &user, &graph), RONDO_STALE);
    assert_int_equal(rondo_capture_phase(s.a), RONDO_PHASE_PREPARED);
    OK(rondo_capture_abort(s.a));
    expect(rondo_run(s.a, 2, aborting_step, &user, NULL), RONDO_STALE);
    OK(rondo_capture_abort(s.a));
    close_scene(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(updates_that_no_replay_meets_go_with_the_graph),
        cmocka_unit_test(values_are_updated_on_both_sides_of_an_event),
        cmocka_unit_test(a_parameter_can_be_updated_to_a_buffer_of_no_bytes),
        cmocka_unit_test(buffers_of_several_pages_are_updated_at_once),
        cmocka_unit_test(an_update_may_not_uncover_a_temporary),
        cmocka_unit_test(a_label_that_no_node_carries_is_refused),
        cmocka_unit_test(a_dump_names_all_that_a_node_follows),
        cmocka_unit_test(a_dump_shows_the_rows_of_a_rectangle),
        cmocka_unit_test(a_graph_of_another_device_dooms_the_window),
        cmocka_unit_test(a_failure_spoils_nodes_behind_an_event),
        cmocka_unit_test(a_key_may_be_forgotten_while_its_step_runs),
        cmocka_unit_test(a_run_beside_a_prepared_neighbour_is_eager),
        cmocka_unit_test(a_fallback_is_told_at_the_level_of_warnings),
        cmocka_unit_test(keys_are_forgotten_in_any_order),
        cmocka_unit_test(a_run_whose_inner_graph_is_spoiled_falls_back),
        cmocka_unit_test(a_step_that_ends_the_capture_gets_no_graph),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
