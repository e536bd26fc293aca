/* The ends of things, raced: last references on other threads, devices that close under the last releases,
 * callbacks that call Rondo, mappings, releases from inside host calls. */
#include "threads.h"

#include <rondo/backend.h>

#include "backend/cpu/cpu.h"
#include "base/thread.h"

/* ---- a backend that is the CPU's and counts ---- */

static _Atomic uint64_t opened, closed;

static rondo_backend_result counting_open(uint32_t index, const rondo_device_desc *desc, void **out_device,
                                          rondo_backend_outcome *outcome) {
    rondo_backend_result result = rdo_backend_cpu.open(index, desc, out_device, outcome);
    if (result == RONDO_BACKEND_DONE) atomic_fetch_add(&opened, 1);
    return result;
}
static void counting_close(void *device) {
    atomic_fetch_add(&closed, 1);
    rdo_backend_cpu.close(device);
}

static int register_counting(void **state) {
    static rondo_backend counting;
    (void)state;
    counting = rdo_backend_cpu;
    counting.name = "counting";
    counting.open = counting_open;
    counting.close = counting_close;
    return rondo_backend_register(&counting) == RONDO_OK ? 0 : -1;
}

static rondo_device *open_counting(uint32_t queues) {
    rondo_device *device = NULL;
    rondo_device_desc desc = {.max_queues = queues, .workers = 1};
    NEED_OK(rondo_device_open("counting", &desc, &device));
    return device;
}

/* ---- callbacks ---- */

typedef struct witness {
    _Atomic uint32_t calls, over;
    rondo_stream *stream; /* if not NULL, the callback works on it */
} witness;

static void on_release(void *user) {
    witness *w = user;
    atomic_fetch_add(&w->calls, 1);
    NEED(rdo_this_thread.held == 0); /* [E5] no lock of Rondo's */
    if (w->stream != NULL) {
        rondo_buffer buffer = make_buffer(w->stream, 9);
        NEED(read_even(w->stream, buffer) == 9);
        rondo_buffer_release(buffer);
    }
    atomic_fetch_add(&w->over, 1);
}

static int do_nothing(void *user, const rondo_host_access *accesses, size_t count) {
    (void)user, (void)accesses, (void)count;
    return 0;
}

/* ---- everything at once ---- */

/* One of each kind, and threads that each have a reference on all. */
typedef struct scene {
    rondo_device *device;
    kernels k;
    rondo_stream *streams[2];
    rondo_buffer buffer, block, imported;
    rondo_event *event;
    rondo_graph *graph;
    witness import_end, call_end, graph_end;
    uint64_t *memory;
    uint64_t round;
} scene;

static void make_all(scene *s, rondo_device *device) {
    rondo_host_access none = {.span = rondo_whole(RONDO_NO_BUFFER)};
    s->device = device;
    s->k = load_kernels(device);
    for (uint32_t i = 0; i < 2; i++) s->streams[i] = stream_on(device, 2, i);
    s->buffer = make_buffer(s->streams[0], 1);
    s->memory = aligned_alloc(4096, 4096);
    NEED(s->memory != NULL);
    NEED_OK(rondo_host_create(s->streams[1], BYTES, &s->block));
    NEED_OK(rondo_buffer_import(s->streams[1], s->memory, 4096, on_release, &s->import_end, &s->imported));
    NEED_OK(rondo_event_create(device, &s->event));
    NEED_OK(rondo_host_call(s->streams[0], do_nothing, &s->call_end, on_release, &none, 0, NULL));
    NEED_OK(rondo_capture_prepare(s->streams[0]));
    NEED_OK(rondo_capture_begin(s->streams[0]));
    NEED_OK(rondo_fill(s->streams[0], rondo_slice(s->imported, 0, BYTES), "12345678", 8, NULL));
    NEED_OK(launch_bump(s->streams[0], &s->k, s->buffer));
    NEED_OK(rondo_read_async(s->streams[0], rondo_whole(s->buffer), rondo_whole(s->block), NULL));
    NEED_OK(rondo_host_call(s->streams[0], do_nothing, &s->graph_end, on_release, &none, 0, NULL));
    NEED_OK(rondo_event_record(s->streams[0], s->event, NULL));
    NEED_OK(rondo_capture_end(s->streams[0], RONDO_END_DEFAULT, &s->graph));
    expect_no_trouble();
}

static void retain_all(scene *s) {
    OK(rondo_device_retain(s->device));
    for (int i = 0; i < 2; i++) OK(rondo_stream_retain(s->streams[i]));
    OK(rondo_kernel_retain(s->k.bump));
    OK(rondo_buffer_retain(s->buffer));
    OK(rondo_buffer_retain(s->block));
    OK(rondo_buffer_retain(s->imported));
    OK(rondo_event_retain(s->event));
    OK(rondo_graph_retain(s->graph));
}

static void use_all(scene *s, int index) {
    rondo_stream *stream = s->streams[index & 1];
    uint64_t words[WORDS] = {0};
    rondo_device_stats stats;
    NEED_OK(launch_bump(stream, &s->k, s->buffer));
    NEED_OK(rondo_graph_replay(s->graph, stream));
    NEED_OK(rondo_event_record(stream, s->event, NULL));
    NEED_OK(rondo_event_sync(s->event));
    NEED_OK(rondo_host_wait(s->block));
    NEED_OK(rondo_read(stream, rondo_slice(s->imported, 0, BYTES), words, NULL));
    NEED(memcmp(words, "12345678", 8) == 0);
    NEED_OK(rondo_device_get_stats(s->device, &stats));
}

/* The order of releases depends on the thread and the round. */
static void release_all(scene *s, int index) {
    uint64_t order = (uint64_t)index * 5 + s->round;
    for (uint64_t i = 0; i < 9; i++) {
        switch ((i * (1 + order % 8 / 2 * 2 == 3 ? 5 : 1) + order) % 9) {
        case 0: rondo_device_release(s->device); break;
        case 1: rondo_stream_release(s->streams[0]); break;
        case 2: rondo_stream_release(s->streams[1]); break;
        case 3: rondo_kernel_release(s->k.bump); break;
        case 4: rondo_buffer_release(s->buffer); break;
        case 5: rondo_buffer_release(s->block); break;
        case 6: rondo_buffer_release(s->imported); break;
        case 7: rondo_event_release(s->event); break;
        default: rondo_graph_release(s->graph);
        }
    }
}

static void use_and_release(int index, void *user) {
    scene *s = user;
    for (int i = 0; i < 3; i++) use_all(s, index);
    release_all(s, index);
}

static void just_release(int index, void *user) {
    release_all(user, index);
}

static void expect_stale(const scene *s) {
    rondo_device_info info;
    assert_int_equal(rondo_status_code(rondo_device_get_info(s->device, &info)), RONDO_STALE);
    assert_int_equal(rondo_status_code(rondo_stream_sync(s->streams[0])), RONDO_STALE);
    assert_int_equal(rondo_status_code(rondo_event_status(s->event)), RONDO_STALE);
    assert_int_equal(rondo_status_code(rondo_graph_retain(s->graph)), RONDO_STALE);
    assert_int_equal(rondo_status_code(rondo_buffer_retain(s->buffer)), RONDO_STALE);
    assert_null(rondo_host_data(s->block));
}

static void race_the_ends(int threads, thread_fn fn, int rounds) {
    uint64_t before = atomic_load(&opened);
    assert_int_equal(atomic_load(&closed), before);
    for (int round = 0; round < rounds; round++) {
        scene s = {.round = (uint64_t)round};
        make_all(&s, open_counting(2));
        for (int i = 1; i < threads; i++) retain_all(&s);
        rondo_kernel *others[] = {s.k.add, s.k.copy, s.k.sum, s.k.pair, s.k.fail};
        for (size_t i = 0; i < 5; i++) rondo_kernel_release(others[i]);
        run_threads(threads, fn, &s);
        /* When the last call is back, everything is over, and was told once. */
        assert_int_equal(atomic_load(&closed), before + (uint64_t)round + 1);
        assert_int_equal(atomic_load(&s.import_end.calls), 1);
        assert_int_equal(atomic_load(&s.call_end.calls), 1);
        assert_int_equal(atomic_load(&s.graph_end.calls), 1);
        expect_stale(&s);
        free(s.memory);
    }
}

/* [E5] Each thread has references of its own and uses everything before it lets go. */
static void objects_last_until_the_last_of_four_threads_lets_go(void **state) {
    (void)state;
    race_the_ends(4, use_and_release, 300);
}

/* [E5] */
static void a_device_closes_once_under_the_last_releases_of_four_threads(void **state) {
    (void)state;
    race_the_ends(4, just_release, 1000);
}

/* ---- one owner each ---- */

/* Each object has one reference, and each thread a share of them. */
static void release_share(int index, void *user) {
    scene *s = user;
    switch (((uint64_t)index + s->round) % 4) {
    case 0: rondo_device_release(s->device); break;
    case 1:
        rondo_stream_release(s->streams[0]);
        rondo_buffer_release(s->buffer);
        rondo_graph_release(s->graph);
        break;
    case 2:
        rondo_buffer_release(s->imported);
        rondo_stream_release(s->streams[1]);
        rondo_event_release(s->event);
        break;
    default:
        rondo_kernel_release(s->k.bump);
        rondo_buffer_release(s->block);
    }
}

/* [E5] */
static void a_device_closes_whoever_holds_its_last_object(void **state) {
    (void)state;
    race_the_ends(1, just_release, 20);
    for (int round = 0; round < 1000; round++) {
        uint64_t before = atomic_load(&closed);
        scene s = {.round = (uint64_t)round};
        make_all(&s, open_counting(2));
        rondo_kernel *others[] = {s.k.add, s.k.copy, s.k.sum, s.k.pair, s.k.fail};
        for (size_t i = 0; i < 5; i++) rondo_kernel_release(others[i]);
        run_threads(4, release_share, &s);
        assert_int_equal(atomic_load(&closed), before + 1);
        assert_int_equal(atomic_load(&s.import_end.calls), 1);
        assert_int_equal(atomic_load(&s.graph_end.calls), 1);
        free(s.memory);
    }
}

/* ---- a buffer that goes while it is launched ---- */

typedef struct contest {
    scene *s;
    rondo_buffer offered;
    gate begin, finished;
} contest;

enum { CONTESTS = 1500 };

static void launch_or_release(int index, void *user) {
    contest *c = user;
    scene *s = c->s;
    for (uint64_t i = 1; i <= CONTESTS; i++) {
        if (index == 0) {
            c->offered = make_buffer(s->streams[i & 1], i);
            gate_set(&c->begin, i);
            rondo_buffer_release(c->offered);
            rondo_buffer stranger = make_buffer(s->streams[i & 1], 1000000);
            gate_await(&c->finished, 2 * i);
            NEED(read_even(s->streams[0], stranger) == 1000000);
            rondo_buffer_release(stranger);
            continue;
        }
        gate_await(&c->begin, i);
        rondo_stream *stream = s->streams[index - 1];
        uint64_t words[WORDS] = {0};
        rondo_status status = index == 1 ? rondo_read(stream, rondo_whole(c->offered), words, NULL)
                                         : launch_bump(stream, &s->k, c->offered);
        NEED_ONE_OF(status, RONDO_STALE);
        NEED(index != 1 || status != RONDO_OK || (is_even(words, WORDS) && words[0] - i <= 1));
        gate_add(&c->finished, 1);
    }
}

/* [P1] [P3] [O6] The only reference goes during a call: it is refused, or has the bytes; the room's next owner is
 * safe. */
static void a_buffer_released_during_a_call_is_stale_or_whole(void **state) {
    (void)state;
    scene s = {.round = 0};
    contest c = {.s = &s, .begin = GATE_INIT, .finished = GATE_INIT};
    make_all(&s, open_counting(2));
    run_threads(3, launch_or_release, &c);
    release_kernels(&(kernels){NULL, s.k.add, s.k.copy, s.k.sum, s.k.pair, s.k.fail});
    release_all(&s, 0);
    assert_int_equal(atomic_load(&closed), atomic_load(&opened));
    free(s.memory);
}

/* ---- callbacks that call Rondo ---- */

enum { CALLBACKS = 400 };

static void import_and_release(int index, void *user) {
    scene *s = user;
    uint64_t *memory = aligned_alloc(4096, 4096);
    for (int i = 0; i < CALLBACKS && memory != NULL && !atomic_load(&in_trouble); i++) {
        rondo_stream *stream = s->streams[index & 1];
        rondo_host_access none = {.span = rondo_whole(RONDO_NO_BUFFER)};
        witness import_end = {.stream = stream}, call_end = {.stream = s->streams[1 - (index & 1)]};
        rondo_buffer buffer = RONDO_NO_BUFFER;
        NEED_OK(rondo_buffer_import(stream, memory, 4096, on_release, &import_end, &buffer));
        NEED_OK(launch_bump(s->streams[i & 1], &s->k, buffer));
        NEED_OK(rondo_host_call(stream, do_nothing, &call_end, on_release, &none, 0, NULL));
        rondo_buffer_release(buffer);
        /* Another thread may be the one that makes the call, but somebody does. */
        while (atomic_load(&import_end.over) == 0 || atomic_load(&call_end.over) == 0) {
            NEED_OK(rondo_stream_sync(stream));
            NEED_OK(rondo_stream_sync(s->streams[1 - (index & 1)]));
        }
        NEED(atomic_load(&import_end.calls) == 1 && atomic_load(&call_end.calls) == 1);
    }
    free(memory);
}

/* [E5] */
static void release_callbacks_come_once_and_may_call_rondo(void **state) {
    (void)state;
    scene s = {.round = 0};
    make_all(&s, open_counting(2));
    run_threads(4, import_and_release, &s);
    release_kernels(&(kernels){NULL, s.k.add, s.k.copy, s.k.sum, s.k.pair, s.k.fail});
    release_all(&s, 1);
    assert_int_equal(atomic_load(&closed), atomic_load(&opened));
    free(s.memory);
}

/* ---- releases inside host calls ---- */

typedef struct inside {
    rondo_stream *stream;
    rondo_buffer buffer;
    rondo_event *event;
    rondo_kernel *kernel;
    rondo_graph *graph;
    rondo_device *device;
} inside;

static int release_inside(void *user, const rondo_host_access *accesses, size_t count) {
    const inside *i = user;
    (void)accesses, (void)count;
    NEED(rondo_status_code(rondo_stream_sync(i->stream)) == RONDO_REENTRANT);
    rondo_buffer_release(i->buffer);
    rondo_event_release(i->event);
    rondo_kernel_release(i->kernel);
    rondo_graph_release(i->graph);
    rondo_device_release(i->device);
    rondo_stream_release(i->stream);
    return 0;
}

static void release_in_host_calls(int index, void *user) {
    (void)user;
    for (int i = 0; i < 150 && !atomic_load(&in_trouble); i++) {
        inside in = {.device = open_counting(1 + (uint32_t)index % 3)};
        kernels k = load_kernels(in.device);
        NEED_OK(rondo_stream_create(in.device, &in.stream));
        in.buffer = make_buffer(in.stream, 1);
        NEED_OK(rondo_event_create(in.device, &in.event));
        NEED_OK(rondo_capture_prepare(in.stream));
        NEED_OK(rondo_capture_begin(in.stream));
        NEED_OK(launch_bump(in.stream, &k, in.buffer));
        NEED_OK(rondo_capture_end(in.stream, RONDO_END_DEFAULT, &in.graph));
        in.kernel = k.bump;
        release_kernels(&(kernels){NULL, k.add, k.copy, k.sum, k.pair, k.fail});
        rondo_host_access access = {.span = rondo_whole(in.buffer), .mode = RONDO_READS_WRITES};
        /* All that is left of the device goes inside its own last call. */
        NEED_OK(rondo_host_call(in.stream, release_inside, &in, NULL, &access, 1, NULL));
        NEED(rondo_status_code(rondo_stream_sync(in.stream)) == RONDO_STALE);
    }
}

/* [E5] */
static void host_calls_may_release_all_that_they_run_on(void **state) {
    (void)state;
    run_threads(4, release_in_host_calls, NULL);
    assert_int_equal(atomic_load(&closed), atomic_load(&opened));
}

typedef struct other_device {
    inside in;
    rondo_stream *stream;
} other_device;

static void release_another_device(int index, void *user) {
    other_device *o = user;
    (void)index;
    NEED_OK(rondo_host_call(o->stream, release_inside, &o->in, NULL, NULL, 0, NULL));
}

/* [E5] A host call lets go of the last that is left of another device. */
static void host_calls_may_release_another_device(void **state) {
    (void)state;
    other_device o = {.stream = NULL};
    rondo_device *device = open_counting(2);
    OK(rondo_stream_create(device, &o.stream));
    for (int i = 0; i < 100; i++) {
        uint64_t before = atomic_load(&closed);
        o.in = (inside){.device = open_counting(2)};
        OK(rondo_stream_create(o.in.device, &o.in.stream));
        o.in.buffer = make_buffer(o.in.stream, 1);
        run_threads(1, release_another_device, &o);
        assert_int_equal(atomic_load(&closed), before + 1);
    }
    rondo_stream_release(o.stream);
    rondo_device_release(device);
    assert_int_equal(atomic_load(&closed), atomic_load(&opened));
}

/* ---- mappings ---- */

static void map_or_launch(int index, void *user) {
    scene *s = user;
    rondo_stream *stream = s->streams[index & 1];
    for (uint64_t i = 0; i < 1500 && !atomic_load(&in_trouble); i++) {
        uint64_t words[WORDS] = {0}, *data;
        rondo_status status;
        if (index < 2) {
            void *address = NULL;
            rondo_access_mode mode = i % 2 == 0 ? RONDO_WRITES : RONDO_READS;
            status = rondo_map(stream, rondo_whole(s->buffer), mode, &address);
            NEED_ONE_OF(status, RONDO_BUSY, RONDO_TAINTED);
            NEED((address != NULL) == (status == RONDO_OK));
            data = address;
            for (size_t w = 0; data != NULL && mode == RONDO_WRITES && w < WORDS; w++) data[w] = i;
            NEED(data == NULL || is_even(data, WORDS));
            if (data != NULL) NEED_OK(rondo_unmap(stream, rondo_whole(s->buffer)));
        } else if (index == 2) {
            status = launch_bump(stream, &s->k, s->buffer);
            NEED_ONE_OF(status, RONDO_BUSY, RONDO_TAINTED);
            if (status != RONDO_OK) NEED_ONE_OF(rondo_fill(stream, rondo_whole(s->buffer), &i, 8, NULL), RONDO_BUSY);
        } else {
            status = rondo_read(stream, rondo_whole(s->buffer), words, NULL);
            NEED_ONE_OF(status, RONDO_BUSY, RONDO_TAINTED);
            NEED(status != RONDO_OK || is_even(words, WORDS));
        }
    }
}

/* [O4] [P1] */
static void launches_and_mappings_of_the_same_bytes_never_overlap(void **state) {
    (void)state;
    for (int shared = 0; shared < 2; shared++) {
        scene s = {.round = 0};
        make_all(&s, open_counting(2));
        if (shared == 1) { /* both threads of a kind on one queue */
            rondo_stream_release(s.streams[1]);
            s.streams[1] = stream_on(s.device, 2, 0);
        }
        run_threads(4, map_or_launch, &s);
        release_kernels(&(kernels){NULL, s.k.add, s.k.copy, s.k.sum, s.k.pair, s.k.fail});
        release_all(&s, 2);
        assert_int_equal(atomic_load(&closed), atomic_load(&opened));
        free(s.memory);
    }
}

/* ---- streams that come and go ---- */

static void come_and_go(int index, void *user) {
    scene *s = user;
    for (int i = 0; i < 500 && !atomic_load(&in_trouble); i++) {
        rondo_stream *stream = NULL;
        rondo_event *event = NULL;
        NEED_OK(rondo_stream_create(s->device, &stream));
        NEED_OK(rondo_event_create(s->device, &event));
        rondo_buffer own = make_buffer(stream, (uint64_t)index);
        NEED_OK(rondo_event_record(stream, event, NULL));
        rondo_stream_release(stream); /* before its buffer, which stays usable from elsewhere */
        NEED_OK(launch_bump(s->streams[i & 1], &s->k, own));
        NEED(read_even(s->streams[index & 1], own) == (uint64_t)index + 1);
        rondo_buffer_release(own);
        rondo_event_release(event);
    }
}

/* [O2] [O4] */
static void buffers_outlive_the_streams_of_their_home(void **state) {
    (void)state;
    scene s = {.round = 0};
    make_all(&s, open_counting(2));
    run_threads(4, come_and_go, &s);
    release_kernels(&(kernels){NULL, s.k.add, s.k.copy, s.k.sum, s.k.pair, s.k.fail});
    release_all(&s, 3);
    assert_int_equal(atomic_load(&closed), atomic_load(&opened));
    free(s.memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_last_until_the_last_of_four_threads_lets_go),
        cmocka_unit_test(a_device_closes_once_under_the_last_releases_of_four_threads),
        cmocka_unit_test(a_device_closes_whoever_holds_its_last_object),
        cmocka_unit_test(a_buffer_released_during_a_call_is_stale_or_whole),
        cmocka_unit_test(release_callbacks_come_once_and_may_call_rondo),
        cmocka_unit_test(host_calls_may_release_all_that_they_run_on),
        cmocka_unit_test(host_calls_may_release_another_device),
        cmocka_unit_test(launches_and_mappings_of_the_same_bytes_never_overlap),
        cmocka_unit_test(buffers_outlive_the_streams_of_their_home),
    };
    return cmocka_run_group_tests(tests, register_counting, NULL);
}
