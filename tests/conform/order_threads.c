/* Order between streams and threads: values check themselves, nobody sleeps. */
#include "conform.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define THREADS 4

/* What one thread of a case does; `bad` names the first thing that went wrong, NULL if nothing did. */
struct worker {
    struct conform *t;
    rondo_stream *stream;
    rondo_buffer buffers[3];
    rondo_kernel *kernel;
    int index, rounds;
    const char *bad;
    pthread_t thread;
};

#define WORKER_NEEDS(worker, condition)        \
    do {                                       \
        if (!(condition)) {                    \
            (worker)->bad = #condition;        \
            return NULL;                       \
        }                                      \
    } while (0)

static void start(struct worker *workers, size_t count, void *(*run)(void *)) {
    for (size_t i = 0; i < count; i++) {
        workers[i].index = (int)i;
        CHECK_EQUAL(pthread_create(&workers[i].thread, NULL, run, &workers[i]), 0);
    }
}

static void finish(struct worker *workers, size_t count) {
    for (size_t i = 0; i < count; i++) {
        CHECK_EQUAL(pthread_join(workers[i].thread, NULL), 0);
    }
    for (size_t i = 0; i < count; i++) {
        if (workers[i].bad != NULL) {
            fail_msg("thread %zu: %s", i, workers[i].bad);
        }
    }
}

/* A write that takes its time, row by row, and a read that overtakes it if nobody stops it. */
enum { BIG = 16384, ROWS = BIG / 2, READS = 300 };
static _Atomic int writes_begun;
static _Atomic bool reader_is_done, writer_is_gone;

static void *write_rows(void *user) {
    struct worker *w = (struct worker *)user;
    rondo_rect to = {rondo_whole(w->buffers[0]), 8};
    rondo_rect from = {rondo_whole(w->buffers[1]), 8};
    for (int32_t value = 1; !atomic_load(&reader_is_done) && w->bad == NULL; value++) {
        bool filled = rondo_fill(w->stream, rondo_whole(w->buffers[1]), &value, 4, NULL) == RONDO_OK;
        atomic_fetch_add(&writes_begun, 1);
        bool copied = rondo_copy_2d(w->stream, to, from, 4, ROWS, NULL) == RONDO_OK;
        w->bad = filled && copied ? NULL : "a write failed";
    }
    atomic_store(&writer_is_gone, true);
    return NULL;
}

/* Until the writer is well under way again, in the middle of a write if it can be. */
static void wait_for_writes(void) {
    int begun = atomic_load(&writes_begun);
    while (atomic_load(&writes_begun) < begun + 2 && !atomic_load(&writer_is_gone)) {
        sched_yield();
    }
}

static void *read_whole(void *user) {
    struct worker *w = (struct worker *)user;
    static int32_t values[BIG];
    int32_t last = 0;
    for (int i = 0; i < READS && w->bad == NULL; i++) {
        wait_for_writes();
        if (rondo_read(w->stream, rondo_whole(w->buffers[0]), values, NULL) != RONDO_OK) {
            w->bad = "a read failed";
        }
        for (size_t row = 1; row < ROWS; row++) {
            w->bad = values[2 * row] == values[0] ? w->bad : "a write was seen in part";
        }
        w->bad = values[0] >= last ? w->bad : "an older value came back";
        last = values[0];
    }
    atomic_store(&reader_is_done, true);
    return NULL;
}

static void *write_or_read(void *user) {
    return ((struct worker *)user)->index == 0 ? write_rows(user) : read_whole(user);
}

/* The order must not depend on whose home the bytes have. */
static void read_while_written(struct conform *t, rondo_stream *writer, rondo_stream *reader, rondo_stream *home) {
    struct worker workers[2] = {{.t = t, .stream = writer}, {.t = t, .stream = reader}};
    rondo_buffer buffer = conform_buffer_on(t, home, BIG * 4);
    rondo_buffer source = conform_buffer_on(t, writer, BIG * 4);
    conform_fill_i32(t, buffer, 0);
    atomic_store(&reader_is_done, false);
    atomic_store(&writer_is_gone, false);
    workers[0].buffers[0] = workers[1].buffers[0] = buffer;
    workers[0].buffers[1] = source;
    start(workers, 2, write_or_read);
    finish(workers, 2);
}

/* [W3] */
static void a_stranger_never_reads_part_of_a_write_at_home(struct conform *t) {
    rondo_stream *reader = conform_stranger(t, t->stream);
    read_while_written(t, t->stream, reader, t->stream);
}

/* [W3] */
static void home_never_reads_part_of_a_strangers_write(struct conform *t) {
    rondo_stream *writer = conform_stranger(t, t->stream);
    read_while_written(t, writer, t->stream, t->stream);
}

/* [W3] */
static void strangers_never_read_part_of_each_others_writes(struct conform *t) {
    rondo_stream *first = conform_stream(t);
    rondo_stream *second = conform_stream(t);
    read_while_written(t, first, second, t->stream);
}

static void *copy_around(void *user) {
    struct worker *w = (struct worker *)user;
    for (int i = 0; i < w->rounds; i++) {
        rondo_span to = rondo_whole(w->buffers[(w->index + i) % 3]);
        rondo_span from = rondo_whole(w->buffers[(w->index + i + 1) % 3]);
        WORKER_NEEDS(w, rondo_copy(w->stream, to, from, NULL) == RONDO_OK);
    }
    return NULL;
}

/* [W3] Copies in circles on four streams keep each buffer whole. */
static void copies_from_many_streams_stay_whole(struct conform *t) {
    struct worker workers[THREADS];
    rondo_buffer buffers[3];
    for (int32_t i = 0; i < 3; i++) {
        buffers[i] = conform_buffer(t, BIG * 4);
        conform_fill_i32(t, buffers[i], i);
    }
    for (size_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.t = t, .stream = conform_stream(t), .rounds = 300};
        memcpy(workers[i].buffers, buffers, sizeof buffers);
    }
    start(workers, THREADS, copy_around);
    finish(workers, THREADS);
    for (size_t i = 0; i < 3; i++) {
        conform_expect_all_i32(t, buffers[i], conform_read_i32(t, buffers[i], 0), BIG);
    }
}

static void *add_ones(void *user) {
    struct worker *w = (struct worker *)user;
    const rondo_arg args[] = {rondo_arg_buffer(w->buffers[0]), rondo_arg_buffer(w->buffers[0])};
    for (int i = 0; i < w->rounds; i++) {
        WORKER_NEEDS(w, rondo_launch(w->stream, w->kernel, rondo_grid_1d(1000), args, 2, NULL) == RONDO_OK);
    }
    return NULL;
}

static void add_from_all(struct conform *t, rondo_stream *const *streams) {
    struct worker workers[THREADS];
    rondo_buffer buffer = conform_buffer(t, 4000);
    conform_fill_i32(t, buffer, 0);
    for (size_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.t = t, .stream = streams[i], .rounds = 250};
        workers[i].buffers[0] = buffer;
        workers[i].kernel = conform_kernel(t, KERNEL_ADD_ALIAS);
    }
    start(workers, THREADS, add_ones);
    finish(workers, THREADS);
    conform_expect_all_i32(t, buffer, THREADS * 250, 1000);
}

/* [W3] */
static void no_update_from_any_stream_is_lost(struct conform *t) {
    rondo_stream *streams[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        streams[i] = conform_stream(t);
    }
    add_from_all(t, streams);
}

/* [E5] */
static void no_update_from_any_thread_on_one_stream_is_lost(struct conform *t) {
    rondo_stream *streams[THREADS] = {t->stream, t->stream, t->stream, t->stream};
    add_from_all(t, streams);
}

/* [W3] */
static void no_update_from_any_neighbour_is_lost(struct conform *t) {
    rondo_stream *streams[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        streams[i] = conform_neighbour(t, t->stream);
    }
    add_from_all(t, streams);
}

/* [W3] Write after read and write after write, told apart by one thread. */
static void work_of_two_streams_takes_effect_as_issued(struct conform *t) {
    rondo_stream *other = conform_stranger(t, t->stream);
    rondo_buffer a = conform_buffer(t, BIG * 4);
    rondo_buffer b = conform_buffer(t, BIG * 4);
    for (int32_t i = 0; i < 100; i++) {
        int32_t next = i + 1000;
        CHECK_OK(rondo_fill(t->stream, rondo_whole(a), &i, 4, NULL));
        CHECK_OK(rondo_copy(other, rondo_whole(b), rondo_whole(a), NULL));
        CHECK_OK(rondo_fill(t->stream, rondo_whole(a), &next, 4, NULL));
        CHECK_EQUAL(conform_read_i32(t, b, BIG - 1), i);
        int32_t out = 0;
        CHECK_OK(rondo_read(other, rondo_slice(a, 0, 4), &out, NULL));
        CHECK_EQUAL(out, next);
    }
}

static void *come_and_go(void *user) {
    struct worker *w = (struct worker *)user;
    for (int32_t i = 0; i < w->rounds; i++) {
        rondo_stream *stream = NULL;
        rondo_buffer buffer = RONDO_NO_BUFFER;
        int32_t value = w->index * 100000 + i;
        int32_t out = -1;
        WORKER_NEEDS(w, rondo_stream_create(w->t->device, &stream) == RONDO_OK);
        WORKER_NEEDS(w, rondo_buffer_create(stream, 4000, RONDO_USAGE_GENERAL, &buffer) == RONDO_OK);
        WORKER_NEEDS(w, rondo_fill(stream, rondo_whole(buffer), &value, 4, NULL) == RONDO_OK);
        WORKER_NEEDS(w, rondo_read(stream, rondo_slice(buffer, 3996, 4), &out, NULL) == RONDO_OK);
        WORKER_NEEDS(w, out == value);
        rondo_stream_release(stream);
        rondo_buffer_release(buffer);
    }
    return NULL;
}

/* [E5, O2] */
static void streams_and_buffers_come_and_go_on_all_threads(struct conform *t) {
    struct worker workers[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.t = t, .rounds = 200};
    }
    start(workers, THREADS, come_and_go);
    finish(workers, THREADS);
    CHECK_EQUAL(conform_stats(t).buffers, 0);
    CHECK_EQUAL(conform_stats(t).streams, 1);
}

static void *release_all(void *user) {
    struct worker *w = (struct worker *)user;
    rondo_buffer_release(w->buffers[0]);
    rondo_stream_release(w->stream);
    return NULL;
}

/* [E5, C16] */
static void the_last_release_may_come_from_another_thread(struct conform *t) {
    for (int i = 0; i < 50; i++) {
        struct worker w = {.t = t};
        CHECK_OK(rondo_stream_create(t->device, &w.stream));
        CHECK_OK(rondo_buffer_create(w.stream, 1000, RONDO_USAGE_GENERAL, &w.buffers[0]));
        int32_t value = i;
        CHECK_OK(rondo_fill(w.stream, rondo_whole(w.buffers[0]), &value, 4, NULL));
        start(&w, 1, release_all);
        finish(&w, 1);
    }
    CHECK_OK(rondo_device_sync(t->device)); /* what is still pending holds its stream and its buffer */
    CHECK_EQUAL(conform_stats(t).buffers, 0);
    CHECK_EQUAL(conform_report(t, RONDO_POOL_SMALL).allocations, 0);
}

static _Atomic bool keep_trimming;

static void *trim_until_told(void *user) {
    struct worker *w = (struct worker *)user;
    while (atomic_load(&keep_trimming)) {
        WORKER_NEEDS(w, rondo_device_trim(w->t->device, NULL) == RONDO_OK);
    }
    return NULL;
}

/* [M5, W4] */
static void trimming_while_others_work_loses_nothing(struct conform *t) {
    struct worker trimmer = {.t = t};
    rondo_buffer buffers[20];
    atomic_store(&keep_trimming, true);
    start(&trimmer, 1, trim_until_told);
    for (int round = 0; round < 20; round++) {
        for (int32_t i = 0; i < 20; i++) {
            buffers[i] = conform_buffer(t, 5000);
            conform_fill_i32(t, buffers[i], i);
        }
        for (size_t i = 0; i < 20; i += 2) {
            rondo_buffer_release(buffers[i]);
        }
        for (int32_t i = 1; i < 20; i += 2) {
            conform_expect_all_i32(t, buffers[i], i, 1250);
            rondo_buffer_release(buffers[i]);
        }
    }
    atomic_store(&keep_trimming, false);
    finish(&trimmer, 1);
}

static void *spoil_and_heal(void *user) {
    struct worker *w = (struct worker *)user;
    char bytes[64] = {0};
    rondo_span mine = rondo_slice(w->buffers[0], (uint64_t)w->index * 64, 64);
    for (int i = 0; i < w->rounds; i++) {
        WORKER_NEEDS(w, rondo_status_code(rondo_fill(w->stream, mine, bytes, 3, NULL)) == RONDO_INVALID);
        WORKER_NEEDS(w, rondo_write(w->stream, mine, bytes, NULL) == RONDO_OK);
        WORKER_NEEDS(w, rondo_span_status(mine) == RONDO_OK);
        WORKER_NEEDS(w, rondo_read(w->stream, mine, bytes, NULL) == RONDO_OK);
    }
    return NULL;
}

/* [T1, E5] Failures on one slice never show on another. */
static void failures_of_one_thread_do_not_reach_anothers_slice(struct conform *t) {
    struct worker workers[THREADS];
    rondo_buffer buffer = conform_buffer(t, THREADS * 64);
    for (size_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.t = t, .stream = conform_stream(t), .rounds = 300};
        workers[i].buffers[0] = buffer;
    }
    start(workers, THREADS, spoil_and_heal);
    finish(workers, THREADS);
    CHECK_EQUAL(rondo_fault_live_count(), 0);
}

static const rondo_device_desc two_queues = {.max_queues = 2};
static const rondo_device_desc one_queue = {.max_queues = 1};

const struct conform_case conform_order_threads_cases[] = {
    CONFORM_CASE(a_stranger_never_reads_part_of_a_write_at_home, NEEDS_NOTHING),
    CONFORM_CASE(home_never_reads_part_of_a_strangers_write, NEEDS_NOTHING),
    CONFORM_CASE(strangers_never_read_part_of_each_others_writes, NEEDS_NOTHING),
    CONFORM_CASE_ON(copies_from_many_streams_stay_whole, NEEDS_NOTHING, &two_queues),
    CONFORM_CASE(no_update_from_any_stream_is_lost, NEEDS_KERNELS),
    CONFORM_CASE(no_update_from_any_thread_on_one_stream_is_lost, NEEDS_KERNELS),
    CONFORM_CASE_ON(no_update_from_any_neighbour_is_lost, NEEDS_KERNELS, &one_queue),
    CONFORM_CASE(work_of_two_streams_takes_effect_as_issued, NEEDS_NOTHING),
    CONFORM_CASE_ON(streams_and_buffers_come_and_go_on_all_threads, NEEDS_NOTHING, &two_queues),
    CONFORM_CASE(the_last_release_may_come_from_another_thread, NEEDS_NOTHING),
    CONFORM_CASE(trimming_while_others_work_loses_nothing, NEEDS_NOTHING),
    CONFORM_CASE_ON(failures_of_one_thread_do_not_reach_anothers_slice, NEEDS_NOTHING, &two_queues),
    CONFORM_END,
};
