#include "scene.h"

#include "base/objects.h"
#include "device/device.h"
#include "scene_model.h"
#include "test_kernels.kernels.h"

static int32_t add_host(int32_t left, int32_t right) {
    return (int32_t)((uint32_t)left + (uint32_t)right);
}

/* ---- statuses ---- */

char scene_context[160] = "no sweep";

void scene_failed(const char *condition, const char *file, int line, const char *format, ...) {
    char text[RONDO_MESSAGE_MAX * 4 + 100];
    va_list list;
    (void)strike_end();
    va_start(list, format);
    (void)vsnprintf(text, sizeof text, format, list);
    va_end(list);
    print_error("%s:%d: %s\n    %s is false, at %s\n", file, line, text, condition, scene_context);
    _fail(file, line);
    abort();
}

void scene_trace(const char *format, ...) {
    va_list list;
    if (getenv("RONDO_TRACE") == NULL) return;
    va_start(list, format);
    (void)vprintf(format, list);
    va_end(list);
}

static int number_of(const scene *s, const scene_cell *cell) {
    for (size_t i = 0; i < s->cell_count; i++) {
        if (s->cells[i] == cell) return (int)i;
    }
    return -1;
}

void scene_trace_step(const scene *s, const char *how, const scene_step *p, rondo_status status) {
    static const char *const names[] = {"fill",   "write", "live", "async",   "copy",
                                        "copy2d", "scale", "add",  "fail_if", "host"};
    scene_trace("%s %s: cell %d at %u from cells %d, %d at %u, %u elements, %u rows %u apart, value %d: %s\n", how,
                names[p->kind], number_of(s, p->out), p->out_at, number_of(s, p->in), number_of(s, p->in2), p->in_at,
                p->n, p->rows, p->pitch, p->value, rondo_code_name(rondo_status_code(status)));
}

/* Codes that something which is lacking can lead to; never a defect of Rondo's, and never a complaint about
 * arguments that are right, but for handles that an earlier failure left null. */
static bool is_clear(rondo_code code) {
    static const rondo_code clear[] = {RONDO_NO_HOST_MEMORY, RONDO_NO_DEVICE_MEMORY, RONDO_NO_ROOM, RONDO_DOOMED,
                                       RONDO_TAINTED, RONDO_STALE, RONDO_STATE, RONDO_EMPTY, RONDO_ABORTED,
                                       RONDO_ABANDONED, RONDO_KERNEL, RONDO_BUSY, RONDO_OVERLAP, RONDO_BACKEND,
                                       RONDO_LOST, RONDO_NOT_READY, RONDO_FRESH, RONDO_FORBIDDEN};
    for (size_t i = 0; i < sizeof clear / sizeof clear[0]; i++) {
        if (clear[i] == code) return true;
    }
    return false;
}

/* The status has a story of its own, or says that it is no longer kept [E1]. */
static char story[RONDO_MESSAGE_MAX * 4];

static void check_story(rondo_status status) {
    rondo_fault fault;
    rondo_status told = rondo_fault_get(status, &fault);
    SCENE_CHECK(told == RONDO_OK || rondo_status_code(told) == RONDO_STALE, "a status has a wrong story");
    SCENE_CHECK(fault.status == status, "a status tells another's story");
    SCENE_CHECK(told != RONDO_OK || fault.message[0] != '\0', "a story has no message");
    SCENE_CHECK(rondo_fault_describe(status, story, sizeof story) > 0, "a story cannot be told");
}

bool strikes_must_show;

static bool note(scene *s, rondo_status status, bool may_fail) {
    rondo_code code = rondo_status_code(status);
    bool hidden = status == RONDO_OK && strike_count() > s->strikes_seen;
    s->strikes_seen = strike_count();
    SCENE_CHECK(!hidden || !strikes_must_show, "the backend failed and the call returned OK");
    if (status == RONDO_OK) return true;
    s->failures++;
    check_story(status);
    SCENE_CHECK(is_clear(code), "the code %s is not clear", rondo_code_name(code));
    SCENE_CHECK(may_fail || strike_count() != 0, "%s although nothing was made to fail:\n%s", rondo_code_name(code),
                story);
    return false;
}

bool scene_note(scene *s, rondo_status status) {
    return note(s, status, false);
}

void scene_expect(scene *s, rondo_status status, rondo_code code) {
    SCENE_CHECK(rondo_status_code(status) == code || strike_count() != 0, "%s instead of %s",
                rondo_code_name(rondo_status_code(status)), rondo_code_name(code));
    (void)note(s, status, true);
}

/* ---- opening ---- */

/* Streams fold onto queues by id, so this takes a few streams until one is on another queue. */
static rondo_stream *stream_elsewhere(scene *s) {
    rondo_stream *streams[64];
    rondo_device_info info;
    size_t count = 0;
    assert_int_equal(rondo_device_get_info(s->device, &info), RONDO_OK);
    bool other = false;
    while (!other && count < 64) {
        assert_int_equal(rondo_stream_create(s->device, &streams[count]), RONDO_OK);
        other = info.max_queues == 1 ||
                rondo_stream_id(streams[count]) % info.max_queues != rondo_stream_id(s->a) % info.max_queues;
        count++;
    }
    for (size_t i = 0; i + 1 < count; i++) rondo_stream_release(streams[i]);
    return streams[count - 1];
}

void scene_open(scene *s, const char *device, const rondo_device_desc *desc) {
    rondo_device_desc used = desc != NULL ? *desc : (rondo_device_desc){0};
    *s = (scene){.carried_before = rondo_fault_live_count()};
    if (used.max_queues == 0) used.max_queues = 2;
    used.workers = 1; /* so that everything is asked for on this thread, in one order */
    s->debug_fresh = used.debug_fresh;
    assert_int_equal(rondo_device_open(device, &used, &s->device), RONDO_OK);
    assert_int_equal(rondo_stream_create(s->device, &s->a), RONDO_OK);
    s->b = stream_elsewhere(s);
    assert_int_equal(scale_i32_create(s->device, &s->scale), RONDO_OK);
    assert_int_equal(add_i32_create(s->device, &s->add), RONDO_OK);
    assert_int_equal(fail_if_create(s->device, &s->fail_if), RONDO_OK);
}

/* ---- cells ---- */

static scene_cell *new_cell(scene *s, uint32_t count, bool host) {
    SCENE_CHECK(s->cell_count < SCENE_CELLS, "a scene has more cells than it has room for");
    scene_cell *cell = calloc(1, sizeof *cell);
    SCENE_CHECK(cell != NULL, "the test itself has no memory");
    cell->value = calloc(count, sizeof *cell->value);
    cell->mark = calloc(count, sizeof *cell->mark);
    cell->tag = calloc(count, sizeof *cell->tag);
    cell->unknown = calloc(count, sizeof *cell->unknown);
    bool made = cell->value != NULL && cell->mark != NULL && cell->tag != NULL && cell->unknown != NULL;
    SCENE_CHECK(made, "the test itself has no memory");
    cell->count = count;
    cell->host = host;
    s->cells[s->cell_count++] = cell;
    return cell;
}

static void begin_cell(scene_cell *cell, scene_mark mark) {
    memset(cell->mark, (int)mark, cell->count);
    cell->shaken = mark == SCENE_BAD;
}

static bool records(rondo_stream *stream) {
    return rondo_capture_phase(stream) == RONDO_PHASE_RECORDING;
}

/* A reservation is part of the step: a window without it is doomed. */
static void made(scene *s, rondo_stream *stream, rondo_status status) {
    if (!scene_note(s, status) && records(stream)) s->doomed = true;
}

scene_cell *scene_buffer(scene *s, rondo_stream *stream, uint32_t count, rondo_usage usage) {
    scene_cell *cell = new_cell(s, count, false);
    made(s, stream, rondo_buffer_create(stream, count * sizeof(int32_t), usage, &cell->buffer));
    begin_cell(cell, s->debug_fresh ? SCENE_BAD : SCENE_FRESH);
    memset(cell->unknown, 1, count);
    return cell;
}

scene_cell *scene_host(scene *s, rondo_stream *stream, uint32_t count) {
    scene_cell *cell = new_cell(s, count, true);
    made(s, stream, rondo_host_create(stream, count * sizeof(int32_t), &cell->buffer));
    begin_cell(cell, s->debug_fresh ? SCENE_BAD : SCENE_GOOD);
    return cell;
}

static void import_released(void *user) {
    scene_cell *cell = user;
    cell->released++;
}

scene_cell *scene_import(scene *s, rondo_stream *stream, uint32_t count, bool host) {
    scene_cell *cell = new_cell(s, count, host);
    size_t bytes = (count * sizeof(int32_t) + 63) / 64 * 64;
    int32_t *data = cell->data = aligned_alloc(64, bytes);
    SCENE_CHECK(data != NULL, "the test itself has no memory");
    for (uint32_t i = 0; i < count; i++) data[i] = cell->value[i] = (int32_t)(i * 3 + 1);
    uint64_t size = count * sizeof(int32_t);
    rondo_status status =
        host ? rondo_host_import(stream, data, size, import_released, cell, &cell->buffer)
             : rondo_buffer_import(stream, data, size, import_released, cell, &cell->buffer);
    (void)scene_note(s, status);
    begin_cell(cell, SCENE_GOOD);
    return cell;
}

void scene_drop(scene_cell *cell) {
    rondo_buffer_release(cell->buffer);
    cell->gone = true;
}

rondo_event *scene_event(scene *s) {
    SCENE_CHECK(s->event_count < SCENE_OBJECTS, "a scene has more events than it has room for");
    rondo_event *event = NULL;
    (void)scene_note(s, rondo_event_create(s->device, &event));
    s->events[s->event_count++] = event;
    return event;
}

rondo_stream *scene_stream(scene *s) {
    SCENE_CHECK(s->stream_count < SCENE_OBJECTS, "a scene has more streams than it has room for");
    rondo_stream *stream = NULL;
    (void)scene_note(s, rondo_stream_create(s->device, &stream));
    s->streams[s->stream_count++] = stream;
    return stream;
}

/* ---- operations ---- */

static rondo_span span_of(const scene_cell *cell, uint32_t at, uint32_t n) {
    return rondo_slice(cell->buffer, at * sizeof(int32_t), n * sizeof(int32_t));
}

static rondo_status issue_write(rondo_stream *stream, const scene_step *p) {
    int32_t *data = malloc((p->n + 1) * sizeof *data);
    SCENE_CHECK(data != NULL, "the test itself has no memory");
    for (uint32_t i = 0; i < p->n; i++) data[i] = add_host(p->value, (int32_t)i);
    rondo_status status = rondo_write(stream, span_of(p->out, p->out_at, p->n), data, "write");
    memset(data, 0x5a, p->n * sizeof *data); /* the source may be reused on return [W2] */
    free(data);
    return status;
}

static rondo_status issue_copy_2d(rondo_stream *stream, const scene_step *p) {
    uint32_t all = (p->rows - 1) * p->pitch + p->n;
    uint64_t pitch = p->pitch * sizeof(int32_t);
    rondo_rect target = {span_of(p->out, p->out_at, all), pitch}, source = {span_of(p->in, p->in_at, all), pitch};
    return rondo_copy_2d(stream, target, source, p->n * sizeof(int32_t), p->rows, "rows");
}

/* What a host call needs, freed by its release function. */
typedef struct host_job {
    scene *s;
    int32_t more;
} host_job;

static int run_host_job(void *user, const rondo_host_access *accesses, size_t count) {
    const host_job *job = user;
    if (count != 2) return 1;
    const int32_t *in = accesses[0].data;
    int32_t *out = accesses[1].data;
    for (uint64_t i = 0; i < accesses[0].span.size_bytes / sizeof(int32_t); i++) out[i] = add_host(in[i], job->more);
    return 0;
}

static void release_host_job(void *user) {
    host_job *job = user;
    job->s->host_jobs--;
    free(job);
}

static rondo_status issue_host(scene *s, rondo_stream *stream, const scene_step *p) {
    host_job *job = malloc(sizeof *job);
    SCENE_CHECK(job != NULL, "the test itself has no memory");
    *job = (host_job){s, p->value};
    s->host_jobs++;
    rondo_host_access accesses[2] = {{span_of(p->in, p->in_at, p->n), RONDO_READS, NULL},
                                     {span_of(p->out, p->out_at, p->n), RONDO_WRITES, NULL}};
    rondo_status status = rondo_host_call(stream, run_host_job, job, release_host_job, accesses, 2, "host");
    if (status != RONDO_OK) release_host_job(job); /* on failure nothing is taken */
    return status;
}

static rondo_status issue(scene *s, rondo_stream *stream, const scene_step *p) {
    rondo_span out = span_of(p->out, p->out_at, p->n);
    rondo_grid grid = rondo_grid_1d(p->n);
    switch (p->kind) {
    case SCENE_FILL: return rondo_fill(stream, out, &p->value, sizeof p->value, "fill");
    case SCENE_WRITE: return issue_write(stream, p);
    case SCENE_WRITE_LIVE: return rondo_write_live(stream, out, span_of(p->in, p->in_at, p->n), "live");
    case SCENE_READ_ASYNC: return rondo_read_async(stream, span_of(p->in, p->in_at, p->n), out, "async");
    case SCENE_COPY: return rondo_copy(stream, out, span_of(p->in, p->in_at, p->n), "copy");
    case SCENE_COPY_2D: return issue_copy_2d(stream, p);
    case SCENE_SCALE: return scale_i32_launch(stream, s->scale, grid, out, p->value, "scale");
    case SCENE_ADD:
        return add_i32_launch(stream, s->add, grid, span_of(p->in, p->in_at, p->n), span_of(p->in2, p->in_at, p->n),
                              out, "add");
    case SCENE_FAIL_IF:
        return fail_if_launch(stream, s->fail_if, grid, span_of(p->in, 0, 1), out, p->value, "fail_if");
    default: return issue_host(s, stream, p);
    }
}

static bool has_null(const scene_step *p, rondo_stream *stream) {
    bool nothing = stream == NULL || p->out->buffer.id == 0;
    return nothing || (p->in != NULL && p->in->buffer.id == 0) || (p->in2 != NULL && p->in2->buffer.id == 0);
}

static bool record_step(scene *s, rondo_stream *stream, const scene_step *p, rondo_status status) {
    bool bad = model_standing_bad(s, p);
    if (note(s, status, bad || model_reads_mark(p, SCENE_MAYBE) || model_reads_mark(p, SCENE_MURKY))) {
        /* Nodes of a graph that was appended in part may have written it; the window is doomed then. */
        SCENE_CHECK(!bad || (s->half_count != 0 && s->doomed), "recorded although an input is spoiled [C15]");
        SCENE_CHECK(s->tape_count < SCENE_STEPS, "a scene's window has more steps than it has room for");
        s->tape[s->tape_count++] = *p;
        return true;
    }
    s->doomed = true;
    if (!s->deferred) model_mark(p, has_null(p, stream) ? SCENE_MAYBE : SCENE_BAD, 0);
    return false;
}

static bool play_step(scene *s, rondo_stream *stream, const scene_step *p, rondo_status status) {
    bool bad = model_reads_mark(p, SCENE_BAD);
    if (note(s, status, bad || model_reads_mark(p, SCENE_MAYBE) || model_reads_mark(p, SCENE_MURKY))) {
        SCENE_CHECK(!bad, "ran although an input is spoiled [T6]");
        model_trust_reads(p);
        model_apply(s, p);
        return true;
    }
    model_mark(p, has_null(p, stream) ? SCENE_MAYBE : SCENE_BAD, 0);
    return false;
}

bool scene_do(scene *s, rondo_stream *stream, scene_step step) {
    if (step.rows == 0) step.rows = 1;
    bool recording = records(stream);
    rondo_status status = issue(s, stream, &step);
    scene_trace_step(s, recording ? "record" : "play", &step, status);
    return recording ? record_step(s, stream, &step, status) : play_step(s, stream, &step, status);
}

bool scene_fill(scene *s, rondo_stream *stream, scene_cell *out, uint32_t at, uint32_t n, int32_t value) {
    return scene_do(s, stream, (scene_step){.kind = SCENE_FILL, .out = out, .out_at = at, .n = n, .value = value});
}
bool scene_write(scene *s, rondo_stream *stream, scene_cell *out, int32_t value) {
    return scene_do(s, stream, (scene_step){.kind = SCENE_WRITE, .out = out, .n = out->count, .value = value});
}
bool scene_write_live(scene *s, rondo_stream *stream, scene_cell *out, scene_cell *in) {
    return scene_do(s, stream, (scene_step){.kind = SCENE_WRITE_LIVE, .out = out, .in = in, .n = out->count});
}
bool scene_read_async(scene *s, rondo_stream *stream, scene_cell *out, scene_cell *in) {
    return scene_do(s, stream, (scene_step){.kind = SCENE_READ_ASYNC, .out = out, .in = in, .n = out->count});
}
bool scene_copy(scene *s, rondo_stream *stream, scene_cell *out, uint32_t out_at, scene_cell *in, uint32_t in_at,
                uint32_t n) {
    return scene_do(s, stream, (scene_step){SCENE_COPY, out, in, NULL, out_at, in_at, n, 1, 0, 0});
}
bool scene_scale(scene *s, rondo_stream *stream, scene_cell *x, int32_t k) {
    return scene_do(s, stream, (scene_step){.kind = SCENE_SCALE, .out = x, .n = x->count, .value = k});
}
bool scene_add(scene *s, rondo_stream *stream, scene_cell *c, scene_cell *a, scene_cell *b) {
    return scene_do(s, stream, (scene_step){.kind = SCENE_ADD, .out = c, .in = a, .in2 = b, .n = c->count});
}
bool scene_fail_if(scene *s, rondo_stream *stream, scene_cell *y, scene_cell *flag, int32_t v) {
    return scene_do(s, stream, (scene_step){.kind = SCENE_FAIL_IF, .out = y, .in = flag, .n = y->count, .value = v});
}
bool scene_host_call(scene *s, rondo_stream *stream, scene_cell *out, scene_cell *in, int32_t more) {
    return scene_do(s, stream, (scene_step){.kind = SCENE_HOST, .out = out, .in = in, .n = out->count, .value = more});
}

bool scene_sync(scene *s, rondo_stream *stream) {
    bool failed = s->kernel_failed;
    s->kernel_failed = false;
    return note(s, rondo_stream_sync(stream), failed);
}

/* ---- reading ---- */

static void compare(const scene_cell *cell, const int32_t *got, uint32_t at, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        SCENE_CHECK(cell->mark[at + i] != SCENE_BAD, "spoiled element %u of %u can be read [P1]", at + i, cell->count);
        bool right = cell->unknown[at + i] || got[i] == cell->value[at + i];
        SCENE_CHECK(right, "element %u is %d instead of %d [P1]", at + i, got[i], cell->value[at + i]);
    }
}

static rondo_status read_span(rondo_stream *stream, const scene_cell *cell, uint32_t at, uint32_t n, int32_t *out) {
    if (!cell->host) return rondo_read(stream, span_of(cell, at, n), out, "verify");
    const int32_t *data = rondo_host_data(cell->buffer);
    rondo_status status = n == cell->count ? rondo_host_wait(cell->buffer) : rondo_span_status(span_of(cell, at, n));
    if (status == RONDO_OK) memcpy(out, data + at, n * sizeof *out);
    return status;
}

static bool has_mark(const scene_cell *cell, scene_mark mark) {
    return memchr(cell->mark, (int)mark, cell->count) != NULL;
}

void scene_read(scene *s, rondo_stream *stream, scene_cell *cell) {
    if (cell->buffer.id == 0) return;
    int32_t *got = malloc(cell->count * sizeof *got);
    SCENE_CHECK(got != NULL, "the test itself has no memory");
    rondo_status status = read_span(stream, cell, 0, cell->count, got);
    bool may_fail = has_mark(cell, SCENE_BAD) || has_mark(cell, SCENE_MAYBE) || has_mark(cell, SCENE_MURKY);
    if (note(s, status, may_fail)) compare(cell, got, 0, cell->count);
    free(got);
}

static void verify_cell(scene *s, scene_cell *cell) {
    int32_t got;
    if (cell->gone || cell->buffer.id == 0) return;
    scene_read(s, s->a, cell);
    for (uint32_t i = 0; i < cell->count && cell->shaken; i++) {
        rondo_status status = read_span(s->a, cell, i, 1, &got);
        bool may_fail = cell->mark[i] != SCENE_GOOD && cell->mark[i] != SCENE_FRESH;
        if (note(s, status, may_fail)) compare(cell, &got, i, 1);
    }
}

/* ---- looking inside ---- */

static void check_queue(rdo_queue *queue) {
    SCENE_CHECK(rdo_window_check(&queue->window), "a window breaks its invariants");
    SCENE_CHECK(!rdo_window_is_active(&queue->window), "a window is still open");
    SCENE_CHECK(atomic_load(&queue->store.fast) == 0 && atomic_load(&queue->store.foreign) == 0,
                "an operation that is over still counts as running");
    for (int kind = 0; kind < RONDO_POOL_KINDS; kind++) {
        const rdo_pool *pool = &queue->store.pools[kind];
        for (uint32_t i = 0; i < pool->count; i++) {
            if (pool->pages[i] == NULL) continue;
            SCENE_CHECK(rdo_page_check(pool->pages[i]), "page %u of pool %d breaks its invariants", i, kind);
            SCENE_CHECK(pool->pages[i]->marked == 0, "a slice belongs to a window that is over");
        }
    }
}

static void check_inside(scene *s) {
    rdo_device *device = rdo_object_find(RDO_OBJECT_DEVICE, s->device);
    SCENE_CHECK(device != NULL, "the device is gone");
    rdo_engine *engine = &device->engine;
    for (uint32_t i = 0; i < engine->queue_count; i++) check_queue(&engine->queues[i]);
    SCENE_CHECK(rdo_meta_check(&engine->meta), "the metadata cache breaks its invariants");
    SCENE_CHECK(rdo_ledger_check(), "the ledger breaks its invariants");
    SCENE_CHECK(engine->books.recorders == 0, "a window that is over still counts as recording");
    SCENE_CHECK(!rondo_device_is_recording(s->device), "the device says that a stream records");
    SCENE_CHECK(engine->order.first == NULL, "an operation that is over is still registered");
}

void scene_verify(scene *s) {
    if (rondo_stream_is_capturing(s->a)) scene_abort(s, s->a);
    if (rondo_stream_is_capturing(s->b)) scene_abort(s, s->b);
    check_inside(s);
    for (size_t i = 0; i < s->cell_count; i++) {
        scene_trace("verify cell %zu, buffer %llu\n", i, (unsigned long long)s->cells[i]->buffer.id);
        verify_cell(s, s->cells[i]);
    }
}

/* ---- closing ---- */

void scene_drop_graph(scene_graph *graph) {
    rondo_graph_release(graph->graph);
    graph->graph = NULL;
}

static void free_cells(scene *s) {
    for (size_t i = 0; i < s->cell_count; i++) {
        scene_cell *cell = s->cells[i];
        bool was_imported = cell->data != NULL && cell->buffer.id != 0;
        SCENE_CHECK(cell->released == (was_imported ? 1u : 0u), "an import's release function was called %u times",
                    cell->released);
        free(cell->data);
        free(cell->value);
        free(cell->mark);
        free(cell->tag);
        free(cell->unknown);
        free(cell);
    }
    s->cell_count = 0;
}

void scene_release(scene *s) {
    for (size_t i = 0; i < s->cell_count; i++) {
        if (!s->cells[i]->gone) rondo_buffer_release(s->cells[i]->buffer);
    }
    for (size_t i = 0; i < s->graph_count; i++) {
        rondo_graph_release(s->graphs[i].graph);
        free(s->graphs[i].steps);
    }
    for (size_t i = 0; i < SCENE_KEYS; i++) {
        (void)scene_note(s, rondo_run_forget(s->a, i));
        free(s->runs[i].steps);
        s->runs[i] = (scene_graph){0};
    }
    for (size_t i = 0; i < s->event_count; i++) rondo_event_release(s->events[i]);
    for (size_t i = 0; i < s->stream_count; i++) rondo_stream_release(s->streams[i]);
    s->graph_count = s->event_count = s->stream_count = 0;
    SCENE_CHECK(s->host_jobs == 0, "%d host calls were not released", s->host_jobs);
    free_cells(s);
    s->kernel_failed = true; /* a failure that nobody asked for may be left */
    (void)scene_sync(s, s->a);
    s->kernel_failed = true;
    (void)scene_sync(s, s->b);
    s->kernel_failed = false;
    check_inside(s);
}

static void check_reports(scene *s) {
    rondo_device_stats stats;
    rondo_pool_report report;
    uint64_t kept = 1;
    assert_int_equal(rondo_device_trim(s->device, &kept), RONDO_OK);
    SCENE_CHECK(kept == 0, "%llu bytes are kept for nobody", (unsigned long long)kept);
    for (int kind = 0; kind < RONDO_POOL_KINDS; kind++) {
        assert_int_equal(rondo_pool_get_report(s->device, (rondo_pool_kind)kind, &report), RONDO_OK);
        SCENE_CHECK(report.allocations == 0 && report.in_use_bytes == 0 && report.padding_bytes == 0,
                    "pool %d still reports allocations", kind);
        SCENE_CHECK(report.guarded_bytes == 0 && report.reserved_bytes == 0 && report.pages == 0,
                    "pool %d still reports pages", kind);
    }
    assert_int_equal(rondo_device_get_stats(s->device, &stats), RONDO_OK);
    SCENE_CHECK(stats.streams == 2 && stats.kernels == 3 && stats.events == 0, "objects are left");
    SCENE_CHECK(stats.graphs == 0 && stats.buffers == 0 && stats.host_blocks == 0, "objects are left");
    SCENE_CHECK(stats.tainted_allocations == 0 && stats.metadata_pinned == 0 && stats.metadata_entries == 0,
                "claims or metadata are left");
    SCENE_CHECK(rondo_device_list_graphs(s->device, NULL, 0) == 0, "graphs are listed");
}

void scene_close(scene *s) {
    check_reports(s);
    rondo_kernel_release(s->scale);
    rondo_kernel_release(s->add);
    rondo_kernel_release(s->fail_if);
    rondo_stream_release(s->a);
    rondo_stream_release(s->b);
    rondo_device_release(s->device);
    SCENE_CHECK(rdo_object_find(RDO_OBJECT_DEVICE, s->device) == NULL, "the device is still open");
    SCENE_CHECK(rondo_fault_live_count() == s->carried_before, "a failure is still carried [T5]");
}
