/* Streams in queued mode among others: callers of both kinds on shared bytes, the life of the worker, and ends with
 * work pending. A host call of a replayed graph that waits at a gate holds a worker up; no test needs a clock. */
#include "threads.h"

#include <dirent.h>
#include <sched.h>

#include "device/device.h"

enum { THREADS = 5, ROUNDS = 150, QUEUES = 3 };

/* ---- callers of both kinds ---- */

typedef struct crowd {
    rondo_device *device;
    kernels k;
    rondo_stream *streams[THREADS];
    rondo_buffer shared; /* everybody adds to it */
    rondo_graph *graph;  /* adds once more */
    uint64_t seed;
} crowd;

static void open_crowd(crowd *c) {
    static const rondo_stream_mode modes[THREADS] = {RONDO_STREAM_QUEUED, RONDO_STREAM_DIRECT, RONDO_STREAM_QUEUED,
                                                     RONDO_STREAM_QUEUED, RONDO_STREAM_DIRECT};
    c->device = open_cpu(QUEUES);
    c->k = load_kernels(c->device);
    for (uint32_t i = 0; i < THREADS; i++) c->streams[i] = stream_in(modes[i], c->device, QUEUES, i % QUEUES);
    c->shared = make_buffer(c->streams[0], 0);
    OK(rondo_capture_prepare(c->streams[1]));
    OK(rondo_capture_begin(c->streams[1]));
    OK(launch_bump(c->streams[1], &c->k, c->shared));
    OK(rondo_capture_end(c->streams[1], RONDO_END_DEFAULT, &c->graph));
}

static void close_crowd(crowd *c) {
    OK(rondo_device_sync(c->device));
    rondo_graph_release(c->graph);
    rondo_buffer_release(c->shared);
    for (int i = 0; i < THREADS; i++) rondo_stream_release(c->streams[i]);
    release_kernels(&c->k);
    expect_empty(c->device);
    rondo_device_release(c->device);
}

static void fail_and_heal(const crowd *c, rondo_stream *stream, rondo_buffer own) {
    rondo_buffer behind = make_buffer(stream, 1);
    NEED_OK(launch_fail(stream, &c->k, own));
    NEED_ONE_OF(launch_copy(stream, &c->k, own, behind), RONDO_TAINTED);
    rondo_status status = rondo_span_status(rondo_whole(behind));
    NEED(rondo_status_code(status) == RONDO_TAINTED);
    NEED(rondo_status_code(rondo_fault_root(status)) == RONDO_KERNEL);
    NEED(rondo_status_code(rondo_stream_sync(stream)) == RONDO_KERNEL);
    NEED_OK(launch_pair(stream, &c->k, own, 0, 0));
    rondo_buffer_release(behind);
}

static void add_and_look(int index, void *user) {
    crowd *c = user;
    uint64_t random = c->seed + (uint64_t)index;
    rondo_stream *stream = c->streams[index];
    rondo_buffer own = make_buffer(stream, 0), sum = make_buffer(stream, 0);
    uint64_t value = 0;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        NEED_OK(launch_bump(stream, &c->k, c->shared));
        NEED_OK(rondo_graph_replay(c->graph, stream));
        rondo_buffer temporary = make_buffer(stream, round);
        NEED_OK(launch_sum(stream, &c->k, own, temporary, sum));
        NEED_OK(rondo_copy(stream, rondo_whole(own), rondo_whole(sum), NULL));
        rondo_buffer_release(temporary);
        value += round;
        switch (below(&random, 8)) {
        case 0: NEED(read_even(stream, own) == value); break;
        case 1: (void)read_even(stream, c->shared); break;
        case 2: NEED_OK(rondo_stream_sync(stream)); break;
        case 3: NEED_OK(rondo_device_trim(c->device, NULL)); break;
        case 4: fail_and_heal(c, stream, own), value = 0; break;
        default: break;
        }
    }
    NEED(read_even(stream, own) == value);
    rondo_buffer_release(own);
    rondo_buffer_release(sum);
}

/* [W3, W4, W7] Nothing is lost and nobody sees half of anything. */
static void callers_of_both_kinds_share_bytes(void **state) {
    (void)state;
    for (uint64_t seed = test_seed(), n = 0; n < 4; n++) {
        crowd c = {.seed = seed + n * 100};
        open_crowd(&c);
        run_threads(THREADS, add_and_look, &c);
        assert_int_equal(read_even(c.streams[0], c.shared), 2 * THREADS * ROUNDS);
        close_crowd(&c);
    }
}

static void share_one_stream(int index, void *user) {
    crowd *c = user;
    (void)index;
    for (int round = 0; round < ROUNDS; round++) {
        NEED_OK(launch_bump(c->streams[0], &c->k, c->shared));
        NEED_OK(rondo_graph_replay(c->graph, c->streams[0]));
        if (round % 50 == 0) NEED_OK(rondo_stream_sync(c->streams[0]));
    }
}

static void one_queued_stream_has_many_callers(void **state) {
    crowd c = {.seed = 0};
    (void)state;
    open_crowd(&c);
    run_threads(THREADS, share_one_stream, &c);
    assert_int_equal(read_even(c.streams[1], c.shared), 2 * THREADS * ROUNDS);
    close_crowd(&c);
}

/* ---- the life of the worker ---- */

static int count_threads(void) {
    DIR *tasks = opendir("/proc/self/task");
    int count = -2; /* "." and ".." */
    assert_non_null(tasks);
    while (readdir(tasks) != NULL) count++;
    (void)closedir(tasks);
    return count;
}

/* A thread that was joined leaves the list a moment later. */
static void await_threads(int count) {
    while (count_threads() != count) (void)sched_yield();
}

static void a_worker_lives_from_the_first_work_to_the_end_of_the_device(void **state) {
    (void)state;
    int before = count_threads();
    rondo_device *device = open_cpu(2);
    rondo_stream *stream = stream_in(RONDO_STREAM_QUEUED, device, 2, 0);
    rondo_buffer buffer = RONDO_NO_BUFFER;
    OK(rondo_buffer_create(stream, BYTES, RONDO_USAGE_GENERAL, &buffer));
    assert_int_equal(count_threads(), before);
    for (uint64_t i = 0; i < 100; i++) OK(rondo_fill(stream, rondo_whole(buffer), &i, 8, NULL));
    assert_int_equal(count_threads(), before + 1);
    assert_int_equal(read_even(stream, buffer), 99);
    rondo_buffer_release(buffer);
    rondo_stream_release(stream);
    rondo_device_release(device);
    await_threads(before);
}

typedef struct held {
    gate entered, leave, called;
    _Atomic int released;
    rondo_stream *stream;
} held;

static int hold(void *user, const rondo_host_access *accesses, size_t count) {
    held *h = user;
    (void)accesses, (void)count;
    gate_set(&h->entered, 1);
    gate_await(&h->leave, 1);
    return 0;
}

static void note_release(void *user) {
    atomic_fetch_add((_Atomic int *)user, 1);
}

static void hold_up(rondo_stream *stream, held *h) {
    rondo_graph *graph = NULL;
    OK(rondo_capture_prepare(stream));
    OK(rondo_capture_begin(stream));
    OK(rondo_host_call(stream, hold, h, NULL, NULL, 0, NULL));
    OK(rondo_capture_end(stream, RONDO_END_DEFAULT, &graph));
    OK(rondo_graph_replay(graph, stream));
    rondo_graph_release(graph);
    gate_await(&h->entered, 1);
}

/* [E5, R7] The last piece of work takes everything with it, the device and its own thread too. */
static void everything_may_be_released_with_work_pending(void **state) {
    static uint64_t imported[WORDS] __attribute__((aligned(4096)));
    (void)state;
    for (uint64_t round = 0; round < 50; round++) {
        held h = {.entered = GATE_INIT, .leave = GATE_INIT};
        int before = count_threads();
        rondo_device *device = open_cpu(2);
        rondo_stream *stream = stream_in(RONDO_STREAM_QUEUED, device, 2, 0);
        rondo_buffer buffer = RONDO_NO_BUFFER;
        OK(rondo_buffer_import(stream, imported, BYTES, note_release, &h.released, &buffer));
        hold_up(stream, &h);
        for (uint64_t i = 0; i <= round; i++) OK(rondo_fill(stream, rondo_whole(buffer), &i, 8, NULL));
        rondo_device_release(device);
        rondo_buffer_release(buffer);
        rondo_stream_release(stream);
        assert_int_equal(atomic_load(&h.released), 0);
        gate_set(&h.leave, 1);
        await_threads(before);
        assert_int_equal(atomic_load(&h.released), 1);
        assert_int_equal(imported[0], round);
        assert_int_equal(imported[WORDS - 1], round);
    }
}

/* [E5] Whoever is last, the caller who releases or the worker who plays. */
static void the_end_of_the_work_and_the_last_release_may_meet(void **state) {
    (void)state;
    int before = count_threads();
    for (uint64_t round = 0; round < 300; round++) {
        rondo_device *device = open_cpu(2);
        rondo_stream *stream = stream_in(RONDO_STREAM_QUEUED, device, 2, (uint32_t)round & 1);
        rondo_buffer buffer = make_buffer(stream, round);
        for (uint64_t i = 0; i < round % 7; i++) OK(rondo_fill(stream, rondo_whole(buffer), &i, 8, NULL));
        if (round % 3 == 0) rondo_device_release(device);
        rondo_buffer_release(buffer);
        rondo_stream_release(stream);
        if (round % 3 != 0) rondo_device_release(device);
    }
    await_threads(before);
}

static void release_in_callback(void *user) {
    held *h = user;
    gate_await(&h->leave, 2);
    atomic_fetch_add(&h->released, 1);
}

/* [E5] A sync waits for what the worker does on behalf of work that is over, so that all of it is gone. */
static void a_sync_waits_for_the_callbacks_of_what_it_waited_for(void **state) {
    static uint64_t imported[WORDS] __attribute__((aligned(4096)));
    (void)state;
    held h = {.entered = GATE_INIT, .leave = GATE_INIT};
    rondo_device *device = open_cpu(2);
    rondo_stream *stream = stream_in(RONDO_STREAM_QUEUED, device, 2, 0);
    rondo_buffer buffer = RONDO_NO_BUFFER;
    uint64_t value = 1;
    OK(rondo_buffer_import(stream, imported, BYTES, release_in_callback, &h, &buffer));
    hold_up(stream, &h);
    OK(rondo_fill(stream, rondo_whole(buffer), &value, 8, NULL));
    rondo_buffer_release(buffer);
    gate_set(&h.leave, 2);
    OK(rondo_stream_sync(stream));
    assert_int_equal(atomic_load(&h.released), 1);
    rondo_stream_release(stream);
    rondo_device_release(device);
}

static void sync_in_callback(void *user) {
    held *h = user;
    rondo_stream *stream = h->stream;
    NEED_OK(rondo_stream_sync(stream));
    gate_set(&h->called, 1);
}

/* [E5] It would wait for itself. Nobody else calls Rondo meanwhile, so the callback is the worker's. */
static void a_worker_may_sync_in_a_callback(void **state) {
    static uint64_t imported[WORDS] __attribute__((aligned(4096)));
    (void)state;
    held h = {.entered = GATE_INIT, .leave = GATE_INIT, .called = GATE_INIT};
    rondo_device *device = open_cpu(2);
    rondo_buffer buffer = RONDO_NO_BUFFER;
    uint64_t value = 1;
    h.stream = stream_in(RONDO_STREAM_QUEUED, device, 2, 0);
    OK(rondo_buffer_import(h.stream, imported, BYTES, sync_in_callback, &h, &buffer));
    hold_up(h.stream, &h);
    OK(rondo_fill(h.stream, rondo_whole(buffer), &value, 8, NULL));
    rondo_buffer_release(buffer);
    gate_set(&h.leave, 1);
    gate_await(&h.called, 1);
    expect_no_trouble();
    rondo_stream_release(h.stream);
    rondo_device_release(device);
}

/* ---- a mapping that comes between ---- */

typedef struct mapper {
    rondo_stream *stream;
    rondo_buffer buffer;
    void *data;
} mapper;

static void *map(void *user) {
    mapper *m = user;
    NEED_OK(rondo_map(m->stream, rondo_whole(m->buffer), RONDO_READS, &m->data));
    return NULL;
}

/* Until the order has so many entries. */
static void await_registered(rondo_device *device, size_t count) {
    rdo_engine *engine = &((rdo_device *)rdo_object_find(RDO_OBJECT_DEVICE, device))->engine;
    for (size_t found = 0; found != count;) {
        (void)sched_yield();
        found = 0;
        rdo_lock_take(&engine->books.lock);
        for (const rdo_entry *entry = engine->order.first; entry != NULL; entry = entry->next) found++;
        rdo_lock_give(&engine->books.lock);
    }
}

/* [O4, W7, T8] Work that is issued while a mapping still waits comes after it, and cannot wait for its end. */
static void pending_work_that_comes_to_a_mapping_is_refused(void **state) {
    (void)state;
    for (int replay = 0; replay < 2; replay++) {
        held h = {.entered = GATE_INIT, .leave = GATE_INIT};
        rondo_device *device = open_cpu(2);
        rondo_stream *stream = stream_in(RONDO_STREAM_QUEUED, device, 2, 0), *other = stream_on(device, 2, 1);
        rondo_buffer x = make_buffer(stream, 1);
        kernels k = load_kernels(device);
        rondo_graph *graph = NULL;
        pthread_t thread;
        mapper m = {.stream = other, .buffer = x};
        uint64_t value = 5;
        OK(rondo_capture_prepare(stream));
        OK(rondo_capture_begin(stream));
        OK(launch_bump(stream, &k, x));
        OK(rondo_capture_end(stream, RONDO_END_DEFAULT, &graph));
        hold_up(stream, &h);
        OK(rondo_fill(stream, rondo_whole(x), &value, 8, NULL));
        assert_int_equal(pthread_create(&thread, NULL, map, &m), 0);
        await_registered(device, 3);
        OK(replay ? rondo_graph_replay(graph, stream) : launch_bump(stream, &k, x));
        gate_set(&h.leave, 1);
        assert_int_equal(pthread_join(thread, NULL), 0);
        expect_no_trouble();
        assert_int_equal(*(uint64_t *)m.data, 5);
        expect(rondo_stream_sync(stream), RONDO_BUSY);
        assert_int_equal(*(uint64_t *)m.data, 5);
        OK(rondo_unmap(other, rondo_whole(x)));
        rondo_status status = rondo_span_status(rondo_whole(x));
        expect(status, RONDO_TAINTED);
        expect(rondo_fault_root(status), RONDO_BUSY);
        rondo_graph_release(graph);
        rondo_buffer_release(x);
        release_kernels(&k);
        rondo_stream_release(other);
        rondo_stream_release(stream);
        expect_empty(device);
        rondo_device_release(device);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(callers_of_both_kinds_share_bytes),
        cmocka_unit_test(one_queued_stream_has_many_callers),
        cmocka_unit_test(a_worker_lives_from_the_first_work_to_the_end_of_the_device),
        cmocka_unit_test(everything_may_be_released_with_work_pending),
        cmocka_unit_test(the_end_of_the_work_and_the_last_release_may_meet),
        cmocka_unit_test(a_sync_waits_for_the_callbacks_of_what_it_waited_for),
        cmocka_unit_test(a_worker_may_sync_in_a_callback),
        cmocka_unit_test(pending_work_that_comes_to_a_mapping_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
