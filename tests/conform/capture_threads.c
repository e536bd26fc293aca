/* Windows beside other threads: everybody else works on, and two windows do not meet. */
#include <pthread.h>
#include <stdatomic.h>

#include "capture_tools.h"

/* A thread that uses a stream of its own until it is told to stop. It keeps the first surprise for the case to see. */
struct busy {
    rondo_device *device;
    rondo_stream *stream;
    atomic_bool stop;
    atomic_uint rounds;
    rondo_status failed;
    bool wrong;
};

static rondo_status busy_round(struct busy *b, int32_t value) {
    rondo_buffer x = RONDO_NO_BUFFER, y = RONDO_NO_BUFFER;
    int32_t bytes[256] = {0};
    rondo_status status = rondo_buffer_create(b->stream, sizeof bytes, RONDO_USAGE_GENERAL, &x);
    if (!status) status = rondo_buffer_create(b->stream, sizeof bytes, RONDO_USAGE_GENERAL, &y);
    for (size_t i = 0; i < COUNT_OF(bytes); i++) bytes[i] = value;
    if (!status) status = rondo_write(b->stream, rondo_whole(x), bytes, NULL);
    if (!status) status = rondo_copy(b->stream, rondo_whole(y), rondo_whole(x), NULL);
    memset(bytes, 0, sizeof bytes);
    if (!status) status = rondo_read(b->stream, rondo_whole(y), bytes, NULL);
    if (!status) status = rondo_stream_sync(b->stream);
    for (size_t i = 0; !status && i < COUNT_OF(bytes); i++) b->wrong |= bytes[i] != value;
    rondo_buffer_release(x);
    rondo_buffer_release(y);
    return status;
}

static void *busy_thread(void *user) {
    struct busy *b = user;
    for (int32_t i = 0; b->failed == RONDO_OK && !atomic_load(&b->stop); i++) {
        b->failed = busy_round(b, i);
        if (i % 16 == 0 && b->failed == RONDO_OK) b->failed = rondo_device_trim(b->device, NULL);
        atomic_fetch_add(&b->rounds, 1);
    }
    return NULL;
}

static void busy_start(struct busy *b, pthread_t *thread) {
    CHECK_EQUAL(pthread_create(thread, NULL, busy_thread, b), 0);
    while (atomic_load(&b->rounds) == 0) sched_yield();
}

static void busy_stop(struct busy *b, pthread_t thread) {
    atomic_store(&b->stop, true);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    CHECK_OK(b->failed);
    CHECK(!b->wrong);
    CHECK(atomic_load(&b->rounds) > 0);
}

/* [C16] A background thread writes, copies, reads, frees and trims; each window holds its owner's work and no more. */
static void another_threads_work_never_disturbs_a_window(struct conform *t) {
    struct busy busy = {.device = t->device, .stream = conform_stranger(t, t->stream)};
    rondo_buffer buffer = conform_buffer(t, 4096);
    pthread_t thread;
    busy_start(&busy, &thread);
    for (int32_t i = 0; i < 300; i++) {
        open_window(t->stream);
        CHECK_OK(fill_i32(t->stream, rondo_whole(buffer), i, NULL));
        CHECK_OK(add_in_place(t->stream, rondo_whole(buffer), NULL, NULL));
        rondo_graph *graph = seal(t, t->stream);
        CHECK_EQUAL(graph_info(graph).nodes, 2);
        CHECK_OK(rondo_graph_replay(graph, t->stream));
        CHECK_EQUAL(conform_read_i32(t, buffer, 77), i + 1);
        rondo_graph_release(graph);
    }
    busy_stop(&busy, thread);
}

struct release {
    rondo_buffer buffer;
    rondo_event *event;
    rondo_graph *graph;
    rondo_stream *stream;
    rondo_kernel *kernel;
};

static void *release_all(void *user) {
    struct release *r = user;
    rondo_buffer_release(r->buffer);
    rondo_event_release(r->event);
    rondo_graph_release(r->graph);
    rondo_stream_release(r->stream);
    rondo_kernel_release(r->kernel);
    return NULL;
}

static struct release things_to_release(struct conform *t) {
    struct release r = {.kernel = NULL};
    CHECK_OK(rondo_buffer_create(t->stream, 64, RONDO_USAGE_GENERAL, &r.buffer));
    conform_fill_i32(t, r.buffer, 1);
    CHECK_OK(rondo_event_create(t->device, &r.event));
    CHECK_OK(rondo_stream_create(t->device, &r.stream));
    open_window(t->stream);
    CHECK_OK(fill_i32(t->stream, rondo_whole(r.buffer), 1, NULL));
    CHECK_OK(rondo_capture_end(t->stream, RONDO_END_DEFAULT, &r.graph));
    return r;
}

/* [C16] Frees and destroys are taken at any moment, from any thread, of what the window uses too. */
static void frees_and_destroys_are_taken_during_a_window_from_any_thread(struct conform *t) {
    struct release r = things_to_release(t);
    rondo_buffer kept = conform_buffer(t, 64);
    open_window(t->stream);
    CHECK_OK(rondo_copy(t->stream, rondo_whole(kept), rondo_whole(r.buffer), NULL));
    CHECK_OK(rondo_event_record(t->stream, r.event, NULL));
    pthread_t thread;
    CHECK_EQUAL(pthread_create(&thread, NULL, release_all, &r), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    CHECK_EQUAL(window_info(t->stream).ops, 2);
    CHECK_EQUAL(window_info(t->stream).doomed_by, RONDO_OK);
    CHECK_CODE(rondo_span_status(rondo_whole(r.buffer)), RONDO_STALE);
    rondo_graph *graph = seal(t, t->stream);
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    conform_expect_all_i32(t, kept, 1, 16);
}

/* [C20] */
static void two_windows_on_two_queues_seal_on_their_own(struct conform *t) {
    rondo_stream *other = conform_stranger(t, t->stream);
    rondo_buffer a = conform_buffer(t, 64), b = conform_buffer_on(t, other, 64);
    open_window(t->stream);
    CHECK_OK(fill_i32(t->stream, rondo_whole(a), 1, NULL));
    open_window(other);
    CHECK_OK(fill_i32(other, rondo_whole(b), 2, NULL));
    CHECK_OK(add_in_place(t->stream, rondo_whole(a), NULL, NULL));
    CHECK_OK(rondo_copy(other, rondo_slice(b, 0, 32), rondo_slice(b, 32, 32), NULL));
    CHECK_OK(add_in_place(other, rondo_whole(b), NULL, NULL));
    rondo_graph *first = seal(t, t->stream);
    CHECK(rondo_device_is_recording(t->device));
    rondo_graph *second = seal(t, other);
    CHECK(!rondo_device_is_recording(t->device));
    CHECK_EQUAL(graph_info(first).nodes, 2);
    CHECK_EQUAL(graph_info(second).nodes, 3);
    CHECK_OK(rondo_graph_replay(second, other));
    CHECK_OK(rondo_graph_replay(first, t->stream));
    conform_expect_all_i32(t, a, 2, 16);
    conform_expect_all_i32(t, b, 3, 16);
}

/* [C20] One is doomed, the other is not touched by it, though both use the same buffer. */
static void a_doomed_window_leaves_the_other_one_whole(struct conform *t) {
    rondo_stream *other = conform_stranger(t, t->stream);
    rondo_buffer shared = conform_buffer(t, 64);
    conform_fill_i32(t, shared, 1);
    open_window(t->stream);
    open_window(other);
    CHECK_OK(fill_i32(t->stream, rondo_whole(shared), 2, NULL));
    CHECK_OK(fill_i32(other, rondo_whole(shared), 3, NULL));
    CHECK_CODE(fill_i32(other, rondo_slice(shared, 64, 4), 3, NULL), RONDO_RANGE);
    rondo_status doomed = seal_refused(other, RONDO_DOOMED);
    expect_spoiled(rondo_whole(shared), rondo_fault_root(doomed));
    CHECK_EQUAL(window_info(t->stream).doomed_by, RONDO_OK);
    CHECK_OK(rondo_graph_replay(seal(t, t->stream), t->stream));
    conform_expect_all_i32(t, shared, 2, 16);
}

/* A thread that makes, replays and drops graphs of its own. */
struct maker {
    rondo_stream *stream;
    int32_t base;
    rondo_status failed;
    bool wrong;
};

static rondo_status make_one(struct maker *m, rondo_buffer buffer, int32_t value) {
    rondo_graph *graph = NULL;
    int32_t seen = 0;
    rondo_status status = rondo_capture_prepare(m->stream);
    if (!status) status = rondo_capture_begin(m->stream);
    if (!status) status = fill_i32(m->stream, rondo_whole(buffer), value, NULL);
    if (!status) status = rondo_capture_end(m->stream, RONDO_END_DEFAULT, &graph);
    if (!status) status = rondo_graph_replay(graph, m->stream);
    if (!status) status = rondo_read(m->stream, rondo_slice(buffer, 60, 4), &seen, NULL);
    m->wrong |= !status && seen != value;
    rondo_graph_release(graph);
    return status;
}

static void *maker_thread(void *user) {
    struct maker *m = user;
    rondo_buffer buffer = RONDO_NO_BUFFER;
    m->failed = rondo_buffer_create(m->stream, 64, RONDO_USAGE_GENERAL, &buffer);
    for (int32_t i = 0; m->failed == RONDO_OK && i < 200; i++) m->failed = make_one(m, buffer, m->base + i);
    rondo_buffer_release(buffer);
    return NULL;
}

/* [C20] */
static void four_threads_capture_on_four_queues_at_once(struct conform *t) {
    struct maker makers[4] = {{.stream = t->stream}};
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        if (i > 0) makers[i].stream = conform_stream(t);
        makers[i].base = 1000 * i;
        CHECK(i == 0 || rondo_stream_id(makers[i].stream) == rondo_stream_id(makers[i - 1].stream) + 1);
    }
    for (int i = 0; i < 4; i++) CHECK_EQUAL(pthread_create(&threads[i], NULL, maker_thread, &makers[i]), 0);
    for (int i = 0; i < 4; i++) CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < 4; i++) {
        CHECK_OK(makers[i].failed);
        CHECK(!makers[i].wrong);
    }
    CHECK(!rondo_device_is_recording(t->device));
}

static void *open_and_fill(void *user) {
    struct maker *m = user;
    m->failed = rondo_capture_prepare(m->stream);
    if (!m->failed) m->failed = rondo_capture_begin(m->stream);
    return NULL;
}

/* [C17, E5] A window belongs to a stream, not to a thread: one opens it, another records and seals. */
static void a_window_may_wander_from_thread_to_thread(struct conform *t) {
    struct maker opener = {.stream = t->stream};
    rondo_buffer buffer = conform_buffer(t, 64);
    pthread_t thread;
    CHECK_EQUAL(pthread_create(&thread, NULL, open_and_fill, &opener), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    CHECK_OK(opener.failed);
    CHECK(rondo_stream_is_capturing(t->stream));
    CHECK_OK(fill_i32(t->stream, rondo_whole(buffer), 6, NULL));
    CHECK_OK(rondo_graph_replay(seal(t, t->stream), t->stream));
    conform_expect_all_i32(t, buffer, 6, 16);
}

const struct conform_case conform_capture_threads_cases[] = {
    CONFORM_CASE(another_threads_work_never_disturbs_a_window, NEEDS_MAP),
    CONFORM_CASE(frees_and_destroys_are_taken_during_a_window_from_any_thread, NEEDS_NOTHING),
    CONFORM_CASE(two_windows_on_two_queues_seal_on_their_own, NEEDS_MAP),
    CONFORM_CASE(a_doomed_window_leaves_the_other_one_whole, NEEDS_NOTHING),
    CONFORM_CASE(four_threads_capture_on_four_queues_at_once, NEEDS_NOTHING),
    CONFORM_CASE(a_window_may_wander_from_thread_to_thread, NEEDS_NOTHING),
    CONFORM_END,
};
