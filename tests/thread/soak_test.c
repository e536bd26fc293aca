/* Eight threads do random things to shared streams, buffers and graphs. Every value checks itself: counters only ever
 * grow by kernels, so their sums must match; whole buffers only ever hold whole values; canaries are private. */
#include "threads.h"

enum { THREADS = 8, STREAMS = 6, COUNTERS = 4, WHOLES = 4, ROUNDS = 5000 };

typedef struct soak {
    rondo_device *device;
    uint32_t queues;
    kernels k;
    rondo_stream *streams[STREAMS];
    rondo_buffer counters[COUNTERS];
    _Atomic uint64_t expected[COUNTERS];
    rondo_buffer wholes[WHOLES];
    rondo_graph *adders[COUNTERS]; /* adds 3 to its counter: bump, bump, bump */
    rondo_graph *painter;          /* writes a value pair to whole 0 */
    _Atomic bool failures;         /* some of the threads make work fail */
    uint64_t seed;
} soak;

/* A value that can be told from a torn or a stray one. */
static uint64_t seal(uint32_t n) {
    return ((uint64_t)~n << 32) | n;
}
static bool is_sealed(uint64_t value) {
    return (uint32_t)(value >> 32) == (uint32_t)~(uint32_t)value;
}

static void check_whole(soak *s, rondo_stream *stream, rondo_buffer buffer) {
    uint64_t words[WORDS] = {0};
    rondo_status status = rondo_read(stream, rondo_whole(buffer), words, "look");
    if (status == RONDO_OK) {
        NEED(is_even(words, WORDS));
        NEED(is_sealed(words[0]));
    } else {
        NEED(atomic_load(&s->failures));
        NEED_ONE_OF(status, RONDO_TAINTED, RONDO_BUSY);
    }
}

static int add_one(void *user, const rondo_host_access *accesses, size_t count) {
    uint64_t *words = accesses[0].data;
    (void)user;
    for (size_t i = 0; count == 1 && i < WORDS; i++) words[i]++;
    return 0;
}

static void grow_counter(soak *s, rondo_stream *stream, uint64_t *state) {
    uint32_t c = below(state, COUNTERS);
    rondo_host_access access = {.span = rondo_whole(s->counters[c]), .mode = RONDO_READS_WRITES};
    switch (below(state, 4)) {
    case 0:
        NEED_OK(rondo_host_call(stream, add_one, NULL, NULL, &access, 1, "add one"));
        atomic_fetch_add(&s->expected[c], 1);
        break;
    case 1:
        NEED_OK(rondo_graph_replay(s->adders[c], stream));
        atomic_fetch_add(&s->expected[c], 3);
        break;
    default:
        NEED_OK(launch_bump(stream, &s->k, s->counters[c]));
        atomic_fetch_add(&s->expected[c], 1);
    }
}

static void paint(soak *s, rondo_stream *stream, uint64_t *state) {
    uint64_t words[WORDS], value = seal((uint32_t)next_random(state));
    rondo_buffer target = s->wholes[below(state, WHOLES)], source = s->wholes[below(state, WHOLES)];
    rondo_status status = RONDO_OK;
    for (size_t i = 0; i < WORDS; i++) words[i] = value;
    switch (below(state, 6)) {
    case 0: status = rondo_fill(stream, rondo_whole(target), &value, 8, "fill"); break;
    case 1: status = rondo_write(stream, rondo_whole(target), words, "write"); break;
    case 2: status = rondo_copy(stream, rondo_whole(target), rondo_whole(source), "copy"); break;
    case 3: status = launch_pair(stream, &s->k, target, value, value); break;
    case 4: status = rondo_graph_replay(s->painter, stream); break;
    default:
        if (atomic_load(&s->failures)) {
            status = launch_fail(stream, &s->k, target);
        } else if (target.id != source.id) {
            status = launch_copy(stream, &s->k, source, target);
        }
    }
    NEED_ONE_OF(status, RONDO_TAINTED, RONDO_BUSY);
}

static void repaint(soak *s, uint64_t *state) {
    uint64_t value = seal((uint32_t)next_random(state));
    rondo_update updates[] = {rondo_update_value(0, "a", &value, 8), rondo_update_value(0, "b", &value, 8)};
    NEED_OK(rondo_graph_update(s->painter, updates, 2));
}

/* A private buffer keeps what its thread put there, whatever is released and handed out around it. */
static void canary(soak *s, rondo_stream *stream, uint64_t *state, int index, rondo_buffer *mine, uint64_t *held) {
    if (mine->id != 0) {
        uint64_t words[WORDS] = {0};
        rondo_status status = rondo_read(stream, rondo_slice(*mine, 0, BYTES), words, "canary");
        if (status == RONDO_OK) {
            NEED(is_even(words, WORDS));
            NEED(words[0] == *held);
        }
        NEED_ONE_OF(status, RONDO_BUSY);
        rondo_buffer_release(*mine);
        *mine = RONDO_NO_BUFFER;
    }
    rondo_usage usage = (rondo_usage)below(state, 3);
    uint64_t size = BYTES + 8 * (uint64_t)below(state, 20000);
    rondo_status status = rondo_buffer_create(stream, size, usage, mine);
    NEED_ONE_OF(status, RONDO_BUSY, RONDO_NO_ROOM);
    *held = seal((uint32_t)index << 24 | below(state, 1 << 24));
    if (status != RONDO_OK) return;
    status = rondo_fill(stream, rondo_whole(*mine), held, 8, "canary");
    NEED_ONE_OF(status, RONDO_BUSY);
    if (status != RONDO_OK) {
        rondo_buffer_release(*mine);
        *mine = RONDO_NO_BUFFER;
    }
    (void)s;
}

static void download(soak *s, rondo_stream *stream, uint64_t *state, rondo_buffer block) {
    rondo_buffer source = s->wholes[below(state, WHOLES)];
    rondo_status status = rondo_read_async(stream, rondo_whole(source), rondo_whole(block), "download");
    NEED_ONE_OF(status, RONDO_TAINTED, RONDO_BUSY);
    status = rondo_host_wait(block);
    NEED_ONE_OF(status, RONDO_TAINTED);
    if (status != RONDO_OK) {
        NEED(atomic_load(&s->failures));
        return;
    }
    const uint64_t *words = rondo_host_data(block);
    NEED(is_even(words, WORDS));
    NEED(is_sealed(words[0]));
}

/* Records on a stream of its own: the graph copies one whole to another through a temporary, then is replayed. */
static void capture(soak *s, rondo_stream *own, uint64_t *state) {
    rondo_buffer middle = RONDO_NO_BUFFER;
    rondo_graph *graph = NULL;
    uint32_t from = below(state, WHOLES), to = below(state, WHOLES);
    NEED_OK(rondo_buffer_create(own, BYTES, RONDO_USAGE_GENERAL, &middle));
    NEED_OK(rondo_capture_prepare(own));
    NEED_OK(rondo_capture_begin(own));
    rondo_status first = rondo_copy(own, rondo_whole(middle), rondo_whole(s->wholes[from]), "in");
    rondo_status second = first == RONDO_OK ? launch_copy(own, &s->k, middle, s->wholes[to]) : first;
    NEED_ONE_OF(second, RONDO_TAINTED);
    if (atomic_load(&s->failures) && below(state, 4) == 0) { /* an abort claims what was recorded [C12] */
        NEED_OK(rondo_capture_abort(own));
    } else {
        rondo_status status = rondo_capture_end(own, RONDO_END_DEFAULT, &graph);
        NEED((status == RONDO_OK) == (second == RONDO_OK));
        NEED_ONE_OF(status, RONDO_DOOMED);
    }
    rondo_buffer_release(middle);
    for (int i = 0; graph != NULL && i < 3; i++) NEED_ONE_OF(rondo_graph_replay(graph, own), RONDO_TAINTED);
    rondo_graph_release(graph);
}

static void housekeeping(soak *s, rondo_stream *stream, uint64_t *state) {
    rondo_device_stats stats;
    rondo_buffer_info info;
    rondo_stream *another = NULL;
    switch (below(state, 6)) {
    case 0: NEED_ONE_OF(rondo_stream_trim(stream), RONDO_BUSY); break;
    case 1: NEED_OK(rondo_device_trim(s->device, NULL)); break;
    case 2: NEED_ONE_OF(rondo_stream_sync(stream), RONDO_KERNEL, RONDO_BUSY); break;
    case 3: NEED_OK(rondo_device_get_stats(s->device, &stats)); break;
    case 4: NEED_OK(rondo_buffer_get_info(s->counters[0], &info)); break;
    default:
        NEED_OK(rondo_stream_create(s->device, &another));
        NEED_OK(rondo_stream_retain(another));
        rondo_stream_release(another);
        rondo_stream_release(another);
    }
}

static void worker(int index, void *user) {
    soak *s = user;
    uint64_t state = s->seed * 1000 + (uint64_t)index, held = 0;
    rondo_buffer mine = RONDO_NO_BUFFER, block = RONDO_NO_BUFFER;
    /* The first two have a queue of their own to capture on. */
    rondo_stream *own = index < 2 ? stream_on(s->device, s->queues + 2, s->queues + (uint32_t)index) : NULL;
    NEED_OK(rondo_host_create(s->streams[0], BYTES, &block));
    for (int i = 0; i < ROUNDS && !atomic_load(&in_trouble); i++) {
        rondo_stream *stream = s->streams[below(&state, STREAMS)];
        switch (below(&state, 12)) {
        case 0: case 1: case 2: case 3: grow_counter(s, stream, &state); break;
        case 4: case 5: case 6: paint(s, stream, &state); break;
        case 7: check_whole(s, stream, s->wholes[below(&state, WHOLES)]); break;
        case 8: canary(s, stream, &state, index, &mine, &held); break;
        case 9: download(s, stream, &state, block); break;
        case 10: own != NULL ? capture(s, own, &state) : repaint(s, &state); break;
        default: housekeeping(s, stream, &state);
        }
    }
    rondo_buffer_release(mine);
    rondo_buffer_release(block);
    rondo_stream_release(own);
}

static rondo_graph *record(rondo_stream *stream, const kernels *k, rondo_buffer counter, rondo_buffer whole) {
    rondo_graph *graph = NULL;
    OK(rondo_capture_prepare(stream));
    OK(rondo_capture_begin(stream));
    for (int i = 0; counter.id != 0 && i < 3; i++) OK(launch_bump(stream, k, counter));
    if (whole.id != 0) OK(launch_pair(stream, k, whole, seal(1), seal(1)));
    OK(rondo_capture_end(stream, RONDO_END_DEFAULT, &graph));
    return graph;
}

static void open_soak(soak *s, uint32_t queues) {
    s->seed = test_seed();
    s->queues = queues;
    s->device = open_cpu(queues + 2);
    s->k = load_kernels(s->device);
    expect_no_trouble();
    for (uint32_t i = 0; i < STREAMS; i++) s->streams[i] = stream_on(s->device, queues + 2, i % queues);
    for (uint32_t i = 0; i < WHOLES; i++) s->wholes[i] = make_buffer(s->streams[i % STREAMS], seal(i));
    s->painter = record(s->streams[0], &s->k, RONDO_NO_BUFFER, s->wholes[0]);
    for (uint32_t i = 0; i < COUNTERS; i++) {
        s->counters[i] = make_buffer(s->streams[(i + 1) % STREAMS], 0);
        s->adders[i] = record(s->streams[i % STREAMS], &s->k, s->counters[i], RONDO_NO_BUFFER);
    }
    expect_no_trouble();
}

static void close_soak(soak *s) {
    for (int i = 0; i < COUNTERS; i++) {
        assert_int_equal(read_even(s->streams[0], s->counters[i]), atomic_load(&s->expected[i]));
        rondo_buffer_release(s->counters[i]);
        rondo_graph_release(s->adders[i]);
    }
    for (int i = 0; i < WHOLES; i++) rondo_buffer_release(s->wholes[i]);
    for (int i = 0; i < STREAMS; i++) rondo_stream_release(s->streams[i]);
    rondo_graph_release(s->painter);
    release_kernels(&s->k);
    expect_empty(s->device);
    rondo_device_release(s->device);
}

static void run_soak(uint32_t queues, bool failures) {
    soak s = {.failures = failures};
    open_soak(&s, queues);
    run_threads(THREADS, worker, &s);
    close_soak(&s);
}

/* [E5] [W3] [P1] */
static void eight_threads_on_one_queue_keep_every_value_right(void **state) {
    (void)state;
    run_soak(1, false);
}
static void eight_threads_on_two_queues_keep_every_value_right(void **state) {
    (void)state;
    run_soak(2, false);
}
static void eight_threads_on_three_queues_keep_every_value_right(void **state) {
    (void)state;
    run_soak(3, false);
}

/* [P1] [T6] [T11] With work that fails among it, a read gives whole bytes or says that they are spoiled. */
static void with_failing_work_reads_are_whole_or_tainted(void **state) {
    (void)state;
    run_soak(1, true);
    run_soak(3, true);
}

/* ---- windows on shared queues ---- */

/* Any stream of the queue may own a window, so everything may be refused, but never wrong. */
static void intruder(int index, void *user) {
    soak *s = user;
    uint64_t state = s->seed * 2000 + (uint64_t)index, value;
    rondo_stream *stream = s->streams[index % STREAMS];
    for (int i = 0; i < ROUNDS && !atomic_load(&in_trouble); i++) {
        rondo_graph *graph = NULL;
        rondo_buffer target = s->wholes[below(&state, WHOLES)], source = s->wholes[below(&state, WHOLES)];
        value = seal((uint32_t)next_random(&state));
        switch (below(&state, 10)) {
        case 0: NEED_ONE_OF(rondo_capture_prepare(stream), RONDO_STATE); break;
        case 1: NEED_ONE_OF(rondo_capture_begin(stream), RONDO_STATE, RONDO_BUSY); break;
        case 2:
            NEED_ONE_OF(rondo_capture_end(stream, RONDO_END_ALLOW_EMPTY, &graph), RONDO_STATE, RONDO_BUSY, RONDO_DOOMED,
                        RONDO_ABANDONED, RONDO_OVERLAP);
            if (graph != NULL) NEED_ONE_OF(rondo_graph_replay(graph, stream), RONDO_TAINTED, RONDO_BUSY, RONDO_DOOMED);
            rondo_graph_release(graph);
            break;
        case 3: NEED_ONE_OF(rondo_capture_abort(stream), RONDO_BUSY); break;
        case 4: case 5: case 6:
            NEED_ONE_OF(rondo_fill(stream, rondo_whole(target), &value, 8, "fill"), RONDO_BUSY);
            break;
        case 7:
            NEED_ONE_OF(rondo_copy(stream, rondo_whole(target), rondo_whole(source), "copy"), RONDO_TAINTED,
                        RONDO_BUSY);
            break;
        case 8: NEED_ONE_OF(rondo_graph_replay(s->painter, stream), RONDO_TAINTED, RONDO_BUSY); break;
        default: {
            uint64_t words[WORDS] = {0};
            rondo_status status = rondo_read(stream, rondo_whole(target), words, "look");
            NEED_ONE_OF(status, RONDO_TAINTED, RONDO_BUSY, RONDO_FORBIDDEN);
            NEED(status != RONDO_OK || (is_even(words, WORDS) && is_sealed(words[0])));
        }
        }
    }
    (void)rondo_capture_abort(stream);
}

/* [C1] [C10] [C13] [C16] [P1] [P2] */
static void windows_that_anybody_opens_and_closes_leave_only_right_bytes(void **state) {
    (void)state;
    for (uint32_t queues = 1; queues <= 2; queues++) {
        soak s = {.failures = true};
        open_soak(&s, queues);
        run_threads(STREAMS, intruder, &s);
        assert_false(rondo_device_is_recording(s.device));
        close_soak(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eight_threads_on_one_queue_keep_every_value_right),
        cmocka_unit_test(eight_threads_on_two_queues_keep_every_value_right),
        cmocka_unit_test(eight_threads_on_three_queues_keep_every_value_right),
        cmocka_unit_test(with_failing_work_reads_are_whole_or_tainted),
        cmocka_unit_test(windows_that_anybody_opens_and_closes_leave_only_right_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
