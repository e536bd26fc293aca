/* Pending work played by hand: which item is played when, and what draining, the full ring, a lack of memory and a
 * lack of threads do. One thread, so all of it is certain. At the end, what a worker does that has nothing to do. */
#define _GNU_SOURCE /* ids of threads */
#include "unit.h"

#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <rondo/rondo.h>

#include "device/device.h"
#include "stream/pending.h"

enum { BUFFERS = 3 };

typedef struct bench {
    rondo_device *device;
    rdo_engine *engine;
    rondo_stream *streams[2]; /* on queues 0 and 1 */
    rondo_buffer buffers[BUFFERS];
} bench;

static uint32_t chosen;

static uint32_t choose(uint32_t count) {
    return chosen % count;
}

static void ok(rondo_status status) {
    char story[512];
    if (status == RONDO_OK) return;
    (void)rondo_fault_describe(status, story, sizeof story);
    fail_msg("%s", story);
}

static void open_bench_with(bench *b, bool by_hand, uint16_t policy) {
    const rondo_device_desc desc = {.max_queues = 2, .workers = 1, .wait_policy = policy};
    const rondo_stream_desc queued = {.mode = RONDO_STREAM_QUEUED};
    chosen = 0;
    rdo_pending_by_hand(by_hand ? choose : NULL);
    ok(rondo_device_open("cpu", &desc, &b->device));
    b->engine = &((rdo_device *)rdo_object_find(RDO_OBJECT_DEVICE, b->device))->engine;
    for (int i = 0; i < 2; i++) {
        rondo_stream *stream;
        ok(rondo_stream_create_with(b->device, &queued, &stream));
        b->streams[rondo_stream_id(stream) % 2] = stream;
    }
    for (int i = 0; i < BUFFERS; i++) {
        ok(rondo_buffer_create(b->streams[i & 1], 64, RONDO_USAGE_GENERAL, &b->buffers[i]));
    }
}

static void open_bench(bench *b, bool by_hand) {
    open_bench_with(b, by_hand, RONDO_WAIT_BRIEFLY);
}

static void close_bench(bench *b) {
    rondo_device_stats stats;
    ok(rondo_device_sync(b->device));
    for (int i = 0; i < BUFFERS; i++) rondo_buffer_release(b->buffers[i]);
    for (int i = 0; i < 2; i++) rondo_stream_release(b->streams[i]);
    ok(rondo_device_get_stats(b->device, &stats));
    assert_int_equal(stats.streams + stats.buffers, 0);
    rondo_device_release(b->device);
    rdo_pending_by_hand(NULL);
}

static void fill(const bench *b, int stream, int buffer, uint32_t value) {
    ok(rondo_fill(b->streams[stream], rondo_whole(b->buffers[buffer]), &value, 4, NULL));
}

static uint32_t look(const bench *b, int buffer) {
    const rdo_memory *memory = rdo_memory_find(b->buffers[buffer]);
    const char *page = b->engine->books.backend->host_address(b->engine->books.device, memory->place.page);
    uint32_t value;
    memcpy(&value, page + memory->place.offset_bytes, 4);
    return value;
}

static uint64_t count_pending(const bench *b) {
    uint64_t count = 0;
    for (const rdo_entry *entry = b->engine->order.first; entry != NULL; entry = entry->next) count += entry->queued;
    return count;
}

static void nothing_is_played_before_somebody_plays_it(void **state) {
    bench b;
    (void)state;
    open_bench(&b, true);
    fill(&b, 0, 0, 1);
    fill(&b, 0, 0, 2);
    assert_int_equal(count_pending(&b), 2);
    assert_true(rdo_pending_play(b.engine));
    assert_int_equal(look(&b, 0), 1);
    assert_true(rdo_pending_play(b.engine));
    assert_int_equal(look(&b, 0), 2);
    assert_false(rdo_pending_play(b.engine));
    close_bench(&b);
}

static void a_queue_is_idle_while_nothing_is_pending(void **state) {
    static const rdo_queue direct;
    bench b;
    (void)state;
    open_bench(&b, true);
    assert_true(rdo_queue_is_idle(&direct));
    assert_true(rdo_queue_is_idle(&b.engine->queues[0]));
    fill(&b, 0, 0, 1);
    assert_false(rdo_queue_is_idle(&b.engine->queues[0]));
    assert_true(rdo_queue_is_idle(&b.engine->queues[1]));
    close_bench(&b);
}

/* [W3] Of two queues either may come first, unless bytes say otherwise. */
static void queues_are_played_in_any_order_that_bytes_allow(void **state) {
    bench b;
    (void)state;
    open_bench(&b, true);
    for (uint32_t first = 0; first < 2; first++) {
        fill(&b, 0, 0, 10 + first);
        fill(&b, 1, 1, 20 + first);
        chosen = first;
        assert_true(rdo_pending_play(b.engine));
        assert_int_equal(look(&b, (int)first), first == 0 ? 10 : 21);
        assert_int_equal(count_pending(&b), 1);
        assert_true(rdo_pending_play(b.engine));
        fill(&b, 0, 2, 30);
        fill(&b, 1, 2, 31); /* after the one before, whatever is chosen */
        chosen = 1;
        assert_true(rdo_pending_play(b.engine));
        assert_int_equal(look(&b, 2), 30);
        assert_true(rdo_pending_play(b.engine));
        assert_int_equal(look(&b, 2), 31);
    }
    close_bench(&b);
}

/* [T11] */
static void a_sync_plays_its_own_queue_and_a_read_what_it_needs(void **state) {
    bench b;
    uint32_t value;
    (void)state;
    open_bench(&b, true);
    fill(&b, 0, 0, 1);
    fill(&b, 1, 1, 2);
    ok(rondo_stream_sync(b.streams[0]));
    assert_int_equal(look(&b, 0), 1);
    assert_int_equal(count_pending(&b), 1);
    ok(rondo_read(b.streams[0], rondo_slice(b.buffers[1], 0, 4), &value, NULL));
    assert_int_equal(value, 2);
    assert_int_equal(count_pending(&b), 0);
    close_bench(&b);
}

static void a_full_ring_is_played_as_far_as_needed(void **state) {
    bench b;
    (void)state;
    open_bench(&b, true);
    for (uint32_t i = 0; i < 128; i++) fill(&b, 0, 0, i);
    assert_int_equal(count_pending(&b), 128);
    fill(&b, 0, 1, 128);
    assert_int_equal(count_pending(&b), 128);
    assert_int_equal(look(&b, 0), 0);
    close_bench(&b);
}

/* [W4] */
static void memory_in_use_is_not_given_back(void **state) {
    bench b;
    (void)state;
    open_bench(&b, true);
    fill(&b, 0, 0, 7);
    const rdo_memory *memory = rdo_memory_find(b.buffers[0]);
    rondo_buffer_release(b.buffers[0]);
    assert_null(rdo_memory_find(b.buffers[0]));
    assert_int_equal(memory->uses, 1);
    assert_int_equal(memory->id, b.buffers[0].id);
    assert_true(rdo_pending_play(b.engine));
    assert_int_not_equal(memory->id, b.buffers[0].id);
    close_bench(&b);
}

/* [E3] There is nothing left to do but to do it at once, after what is pending. */
static void without_memory_the_caller_plays(void **state) {
    bench b;
    uint32_t words[16] = {9};
    (void)state;
    open_bench(&b, true);
    fill(&b, 0, 0, 1);
    starve(0, true);
    ok(rondo_write(b.streams[0], rondo_whole(b.buffers[0]), words, "a label"));
    assert_int_not_equal(feed(), 0);
    assert_int_equal(count_pending(&b), 0);
    assert_int_equal(look(&b, 0), 9);
    close_bench(&b);
}

/* A value comes first, so that some is copied, and some is not. */
static void set_native(const rondo_native_call *call) {
    uint32_t value, *x = call->args[1];
    memcpy(&value, call->args[0], sizeof value);
    for (uint64_t i = call->first; i < call->last; i++) x[i] = value;
}

static rondo_kernel *load_set(const bench *b) {
    static const rondo_param params[] = {{"value", RONDO_PARAM_VALUE, 4, 4, false},
                                         {"x", RONDO_PARAM_OUT, 4, 4, false}};
    const rondo_kernel_desc desc = {.name = "set", .params = params, .param_count = 2, .native = set_native};
    rondo_kernel *kernel = NULL;
    ok(rondo_kernel_create(b->device, &desc, &kernel));
    return kernel;
}

static rondo_status set_somehow(const bench *b, rondo_kernel *set, int way, uint32_t value, const char *label) {
    uint32_t words[16];
    for (int i = 0; i < 16; i++) words[i] = value;
    rondo_arg args[] = {rondo_arg_value(&value, 4), rondo_arg_buffer(b->buffers[0])};
    switch (way) {
    case 0: return rondo_fill(b->streams[0], rondo_whole(b->buffers[0]), &value, 4, label);
    case 1: return rondo_write(b->streams[0], rondo_whole(b->buffers[0]), words, label);
    default: return rondo_launch(b->streams[0], set, rondo_grid_1d(16), args, 2, label);
    }
}

/* [E3] An operation's parts lie one after the other in a block of 4096 bytes: a label takes up so much of it that the
 * next block, which is refused, is needed for each part in turn. */
static void wherever_memory_ends_the_caller_plays(void **state) {
    bench b;
    char label[4097];
    uint32_t value = 0;
    uint64_t left[2] = {0, 0};
    (void)state;
    open_bench(&b, true);
    rondo_kernel *set = load_set(&b);
    for (size_t length = 3200; length < sizeof label; length += 16) {
        memset(label, 'x', length);
        label[length] = '\0';
        for (uint64_t n = 0; n < 6; n++) {
            fill(&b, 0, 0, ++value);
            starve(n % 2, true); /* the item's first block may be there already */
            ok(set_somehow(&b, set, (int)n / 2, ++value, label));
            bool refused = feed() != 0;
            left[refused]++;
            assert_int_equal(count_pending(&b), refused ? 0 : 2);
            ok(rondo_stream_sync(b.streams[0]));
            assert_int_equal(look(&b, 0), value);
        }
    }
    assert_true(left[0] > 20 && left[1] > 20);
    rondo_kernel_release(set);
    close_bench(&b);
}

/* A graph that copies the first buffer to the second. */
static rondo_graph *make_copy_graph(const bench *b) {
    rondo_graph *graph = NULL;
    ok(rondo_capture_prepare(b->streams[1]));
    ok(rondo_capture_begin(b->streams[1]));
    ok(rondo_copy(b->streams[1], rondo_whole(b->buffers[1]), rondo_whole(b->buffers[0]), NULL));
    ok(rondo_capture_end(b->streams[1], RONDO_END_DEFAULT, &graph));
    return graph;
}

/* [E3, R10] */
static void without_memory_the_caller_replays(void **state) {
    bench b;
    (void)state;
    open_bench(&b, true);
    rondo_graph *graph = make_copy_graph(&b);
    fill(&b, 0, 0, 3);
    starve(0, true);
    ok(rondo_graph_replay(graph, b.streams[1]));
    assert_int_equal(feed(), 1);
    assert_int_equal(count_pending(&b), 0);
    assert_int_equal(look(&b, 1), 3);
    rondo_graph_release(graph);
    close_bench(&b);
}

static void spoil(const bench *b, int stream, rondo_span span) {
    rondo_status status = rondo_copy(b->streams[stream], span, rondo_slice(b->buffers[1], 0, 8), NULL);
    assert_int_equal(rondo_status_code(status), RONDO_RANGE);
}

/* [W6, T6] What is spoiled now and written by pending work is good by the time of the replay. */
static void a_replay_is_only_skipped_at_the_call_for_what_is_certain(void **state) {
    bench b;
    (void)state;
    open_bench(&b, true);
    rondo_graph *graph = make_copy_graph(&b);
    for (int i = 0; i < 3; i++) fill(&b, 0, i, 1);
    ok(rondo_device_sync(b.device));
    spoil(&b, 0, rondo_whole(b.buffers[0]));
    assert_int_equal(rondo_status_code(rondo_graph_replay(graph, b.streams[1])), RONDO_TAINTED);
    fill(&b, 0, 0, 7);
    ok(rondo_graph_replay(graph, b.streams[1]));
    ok(rondo_copy(b.streams[1], rondo_whole(b.buffers[2]), rondo_whole(b.buffers[1]), NULL));
    assert_int_equal(count_pending(&b), 3);
    ok(rondo_stream_sync(b.streams[1]));
    assert_int_equal(look(&b, 2), 7);
    rondo_graph_release(graph);
    close_bench(&b);
}

/* [W6, T6] Of two inputs, one is good by then, and the other is not for certain. */
static void a_replay_is_skipped_at_the_call_if_any_input_is_spoiled_for_certain(void **state) {
    bench b;
    rondo_graph *graph = NULL;
    (void)state;
    open_bench(&b, true);
    ok(rondo_capture_prepare(b.streams[1]));
    ok(rondo_capture_begin(b.streams[1]));
    for (int i = 0; i < 2; i++) {
        rondo_span half = rondo_slice(b.buffers[1], 32 * (uint64_t)i, 32);
        ok(rondo_copy(b.streams[1], half, rondo_slice(b.buffers[2 * i], 0, 32), NULL));
    }
    ok(rondo_capture_end(b.streams[1], RONDO_END_DEFAULT, &graph));
    for (int i = 0; i < 2; i++) {
        spoil(&b, 0, rondo_whole(b.buffers[0]));
        spoil(&b, 0, rondo_whole(b.buffers[2]));
        fill(&b, 0, 2 * i, 7);
        assert_int_equal(rondo_status_code(rondo_graph_replay(graph, b.streams[1])), RONDO_TAINTED);
        fill(&b, 0, 2 - 2 * i, 7);
        ok(rondo_graph_replay(graph, b.streams[1]));
        ok(rondo_device_sync(b.device));
        assert_int_equal(look(&b, 1), 7);
    }
    rondo_graph_release(graph);
    close_bench(&b);
}

/* ---- claims of calls that take no ticket: after what was issued before them [T8, T11] ---- */

static void expect_claimed(const bench *b, int buffer, rondo_code root) {
    rondo_status status = rondo_span_status(rondo_whole(b->buffers[buffer]));
    assert_int_equal(rondo_status_code(status), RONDO_TAINTED);
    assert_int_equal(rondo_status_code(rondo_fault_root(status)), root);
}

static void open_window(const bench *b, int stream) {
    ok(rondo_capture_prepare(b->streams[stream]));
    ok(rondo_capture_begin(b->streams[stream]));
}

/* Whether or not anything is left to claim: the failures of a stream are noted in the order of issue, too [W7]. */
static void a_refused_call_plays_its_own_queue(void **state) {
    bench b;
    (void)state;
    open_bench(&b, true);
    fill(&b, 0, 0, 1);
    rondo_status status = rondo_copy(b.streams[0], rondo_whole(RONDO_NO_BUFFER), rondo_whole(b.buffers[1]), NULL);
    assert_int_equal(rondo_status_code(status), RONDO_STALE);
    assert_int_equal(count_pending(&b), 0);
    close_bench(&b);
}

static void a_refusal_elsewhere_plays_what_it_comes_after(void **state) {
    bench b;
    (void)state;
    open_bench(&b, true);
    fill(&b, 0, 1, 1);
    fill(&b, 0, 0, 2);
    fill(&b, 0, 2, 3);
    rondo_status status = rondo_copy(b.streams[1], rondo_whole(b.buffers[0]), rondo_slice(b.buffers[1], 0, 8), NULL);
    assert_int_equal(rondo_status_code(status), RONDO_RANGE);
    assert_int_equal(count_pending(&b), 1); /* nothing of it is refused, or claimed */
    expect_claimed(&b, 0, RONDO_RANGE);
    close_bench(&b);
}

/* [C15] */
static void a_recording_plays_what_decides_about_its_inputs(void **state) {
    bench b;
    (void)state;
    open_bench(&b, true);
    open_window(&b, 1);
    fill(&b, 0, 2, 1);
    fill(&b, 0, 0, 2);
    ok(rondo_copy(b.streams[1], rondo_whole(b.buffers[1]), rondo_whole(b.buffers[2]), NULL));
    assert_int_equal(count_pending(&b), 1);
    ok(rondo_copy(b.streams[1], rondo_whole(b.buffers[1]), rondo_whole(b.buffers[0]), NULL));
    assert_int_equal(count_pending(&b), 0);
    ok(rondo_capture_abort(b.streams[1]));
    close_bench(&b);
}

/* [C12] */
static void an_abort_elsewhere_plays_what_it_comes_after(void **state) {
    bench b;
    (void)state;
    open_bench(&b, true);
    open_window(&b, 1);
    for (int i = 0; i < 2; i++) fill(&b, 1, i, 9);
    for (int i = 0; i < 3; i++) fill(&b, 0, i, 4);
    ok(rondo_capture_abort(b.streams[1]));
    assert_int_equal(count_pending(&b), 1);
    for (int i = 0; i < 2; i++) expect_claimed(&b, i, RONDO_ABORTED);
    ok(rondo_span_status(rondo_whole(b.buffers[2])));
    assert_int_equal(count_pending(&b), 0); /* asking waits too */
    close_bench(&b);
}

/* [O4] A replay that a mapping refuses has no place in the order. */
static void a_replay_that_is_refused_plays_what_it_comes_after(void **state) {
    bench b;
    rondo_graph *graph = NULL;
    void *data;
    (void)state;
    open_bench(&b, true);
    open_window(&b, 1);
    for (int i = 0; i < 2; i++) fill(&b, 1, i, 9);
    ok(rondo_capture_end(b.streams[1], RONDO_END_DEFAULT, &graph));
    ok(rondo_map(b.streams[1], rondo_whole(b.buffers[1]), RONDO_READS, &data));
    fill(&b, 0, 0, 4);
    fill(&b, 0, 2, 5);
    assert_int_equal(rondo_status_code(rondo_graph_replay(graph, b.streams[1])), RONDO_BUSY);
    assert_int_equal(count_pending(&b), 1);
    expect_claimed(&b, 0, RONDO_BUSY);
    ok(rondo_unmap(b.streams[1], rondo_whole(b.buffers[1])));
    rondo_graph_release(graph);
    close_bench(&b);
}

/* [C13] */
static void a_replay_next_to_a_window_plays_what_it_comes_after(void **state) {
    bench b;
    rondo_graph *graph = NULL;
    rondo_stream *neighbour = NULL;
    (void)state;
    open_bench(&b, true);
    open_window(&b, 1);
    fill(&b, 1, 0, 9);
    ok(rondo_capture_end(b.streams[1], RONDO_END_DEFAULT, &graph));
    do {
        rondo_stream_release(neighbour);
        ok(rondo_stream_create(b.device, &neighbour));
    } while (rondo_stream_id(neighbour) % 2 != 1);
    open_window(&b, 1);
    fill(&b, 0, 0, 4);
    fill(&b, 0, 2, 5);
    assert_int_equal(rondo_status_code(rondo_graph_replay(graph, neighbour)), RONDO_BUSY);
    assert_int_equal(count_pending(&b), 1);
    expect_claimed(&b, 0, RONDO_BUSY);
    ok(rondo_capture_abort(b.streams[1]));
    rondo_stream_release(neighbour);
    rondo_graph_release(graph);
    close_bench(&b);
}

/* ---- what others do while such a call waits ---- */

static bench *waiting;

static void release_and_reuse(rdo_order *order) {
    bench *b = waiting;
    (void)order;
    rdo_lock_give(&b->engine->books.lock);
    rondo_buffer_release(b->buffers[0]);
    assert_true(rdo_pending_play(b->engine));
    ok(rondo_buffer_create(b->streams[0], 64, RONDO_USAGE_GENERAL, &b->buffers[0]));
    rondo_status status = rondo_copy(b->streams[0], rondo_whole(b->buffers[0]), rondo_slice(b->buffers[1], 0, 8), NULL);
    assert_int_equal(rondo_status_code(status), RONDO_RANGE);
    rdo_lock_take(&b->engine->books.lock);
}

/* [P1, W4] The record of what was asked about is nobody else's until the answer is there. */
static void who_asks_about_bytes_keeps_them(void **state) {
    bench b;
    (void)state;
    open_bench(&b, true);
    fill(&b, 0, 0, 1);
    waiting = &b;
    rdo_order_instead_of_waiting = release_and_reuse;
    ok(rondo_span_status(rondo_whole(b.buffers[0])));
    expect_claimed(&b, 0, RONDO_RANGE); /* the other one */
    close_bench(&b);
}

static rondo_graph *waiting_graph;
static rondo_status answers[3]; /* a test fails in its own thread only */

static void *update_and_replay(void *user) {
    const bench *b = user;
    rondo_update update = rondo_update_span(0, "x", rondo_whole(b->buffers[2]));
    answers[0] = rondo_graph_update(waiting_graph, &update, 1);
    answers[1] = rondo_graph_replay(waiting_graph, b->streams[0]);
    answers[2] = rondo_stream_sync(b->streams[0]);
    return NULL;
}

static void replace_program(rdo_order *order) {
    pthread_t thread;
    (void)order;
    rdo_lock_give(&waiting->engine->books.lock);
    assert_int_equal(pthread_create(&thread, NULL, update_and_replay, waiting), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    for (int i = 0; i < 3; i++) ok(answers[i]);
    rdo_lock_take(&waiting->engine->books.lock);
}

/* [R9, T8] The program that was refused is gone by the time that the claims are set, which are those of the new one. */
static void a_replay_that_is_refused_while_an_update_comes_claims_what_is_there(void **state) {
    bench b;
    void *data;
    (void)state;
    open_bench(&b, true);
    rondo_kernel *set = load_set(&b);
    rondo_arg args[] = {rondo_arg_value(&(uint32_t){6}, 4), rondo_arg_buffer(b.buffers[1])};
    open_window(&b, 1);
    ok(rondo_launch(b.streams[1], set, rondo_grid_1d(16), args, 2, NULL));
    fill(&b, 1, 0, 9);
    ok(rondo_capture_end(b.streams[1], RONDO_END_DEFAULT, &waiting_graph));
    ok(rondo_map(b.streams[1], rondo_whole(b.buffers[1]), RONDO_READS, &data));
    fill(&b, 0, 0, 4);
    waiting = &b;
    rdo_order_instead_of_waiting = replace_program;
    assert_int_equal(rondo_status_code(rondo_graph_replay(waiting_graph, b.streams[1])), RONDO_BUSY);
    assert_int_equal(look(&b, 2), 6);
    ok(rondo_unmap(b.streams[1], rondo_whole(b.buffers[1])));
    ok(rondo_span_status(rondo_whole(b.buffers[1])));
    expect_claimed(&b, 0, RONDO_BUSY);
    expect_claimed(&b, 2, RONDO_BUSY);
    rondo_graph_release(waiting_graph);
    rondo_kernel_release(set);
    close_bench(&b);
}

/* ---- threads ---- */

static int no_thread(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument) {
    (void)thread;
    (void)attributes;
    (void)run;
    (void)argument;
    return 11;
}

static void without_a_thread_the_caller_plays(void **state) {
    bench b;
    (void)state;
    open_bench(&b, false);
    rdo_pending_thread_create = no_thread;
    fill(&b, 0, 0, 5);
    assert_int_equal(look(&b, 0), 5);
    rdo_pending_thread_create = pthread_create;
    fill(&b, 0, 0, 6);
    ok(rondo_stream_sync(b.streams[0]));
    assert_int_equal(look(&b, 0), 6);
    close_bench(&b);
}

static struct {
    pthread_t thread;
    _Atomic pid_t id;
    void *(*run)(void *);
    void *argument;
} worker;
static _Atomic int signals;

static void note_signal(int number) {
    (void)number;
    signals++;
}

static void *run_open_to_signals(void *unused) {
    sigset_t none;
    (void)unused;
    (void)sigemptyset(&none);
    (void)pthread_sigmask(SIG_SETMASK, &none, NULL);
    worker.id = gettid();
    return worker.run(worker.argument);
}

static int create_open_to_signals(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                                  void *argument) {
    worker.run = run;
    worker.argument = argument;
    int result = pthread_create(thread, attributes, run_open_to_signals, NULL);
    worker.thread = *thread;
    return result;
}

static uint64_t time_ns(clockid_t clock) {
    struct timespec time;
    assert_int_equal(clock_gettime(clock, &time), 0);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* It takes time though there is nothing to do. */
static void the_worker_of_a_spinning_device_never_sleeps(void **state) {
    bench b;
    clockid_t clock;
    (void)state;
    open_bench_with(&b, false, RONDO_WAIT_SPINNING);
    rdo_pending_thread_create = create_open_to_signals;
    fill(&b, 0, 0, 5);
    ok(rondo_stream_sync(b.streams[0]));
    rdo_pending_thread_create = pthread_create;
    assert_int_equal(pthread_getcpuclockid(worker.thread, &clock), 0);
    uint64_t begin = time_ns(clock), begin_here = time_ns(CLOCK_THREAD_CPUTIME_ID);
    while (time_ns(clock) - begin < 10000000) {
        assert_true(time_ns(CLOCK_THREAD_CPUTIME_ID) - begin_here < UINT64_C(60000000000));
        (void)sched_yield();
    }
    close_bench(&b);
}

static void await_sleep(void) {
    char path[64], text[256] = "", *end = NULL;
    while (end == NULL || end[2] != 'S') {
        (void)sched_yield();
        (void)snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)worker.id);
        FILE *file = fopen(path, "r");
        end = file != NULL && fgets(text, sizeof text, file) != NULL ? strrchr(text, ')') : NULL;
        if (file != NULL) (void)fclose(file);
    }
}

static bool is_pending(const bench *b) {
    rdo_lock_take(&b->engine->books.lock);
    bool any = b->engine->order.first != NULL;
    rdo_lock_give(&b->engine->books.lock);
    return any;
}

/* Workers block all signals but those that the C library and tools use; whatever comes, they sleep on. */
static void a_worker_that_a_signal_disturbs_sleeps_on(void **state) {
    bench b;
    struct sigaction action = {.sa_handler = note_signal}, before;
    (void)state;
    open_bench(&b, false);
    rdo_pending_thread_create = create_open_to_signals;
    assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
    fill(&b, 0, 0, 1);
    while (is_pending(&b)) (void)sched_yield();
    for (int n = 1; n <= 3; n++) {
        await_sleep();
        assert_int_equal(pthread_kill(worker.thread, SIGUSR1), 0);
        while (signals != n) (void)sched_yield();
    }
    await_sleep();
    fill(&b, 0, 0, 2);
    while (is_pending(&b)) (void)sched_yield();
    rdo_pending_thread_create = pthread_create;
    ok(rondo_stream_sync(b.streams[0]));
    assert_int_equal(look(&b, 0), 2);
    assert_int_equal(sigaction(SIGUSR1, &before, NULL), 0);
    close_bench(&b);
}

/* [E3] */
static void a_stream_without_memory_for_its_ring_is_refused(void **state) {
    bench b;
    const rondo_stream_desc queued = {.mode = RONDO_STREAM_QUEUED};
    const rondo_device_desc desc = {.max_queues = 1, .workers = 1};
    rondo_stream *stream;
    (void)state;
    ok(rondo_device_open("cpu", &desc, &b.device));
    for (uint64_t granted = 0;; granted++) {
        starve(granted, true);
        rondo_status status = rondo_stream_create_with(b.device, &queued, &stream);
        if (feed() == 0) {
            ok(status);
            break;
        }
        assert_int_equal(rondo_status_code(status), RONDO_NO_HOST_MEMORY);
        assert_null(stream);
    }
    rondo_stream_release(stream);
    rondo_device_release(b.device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_played_before_somebody_plays_it),
        cmocka_unit_test(a_queue_is_idle_while_nothing_is_pending),
        cmocka_unit_test(queues_are_played_in_any_order_that_bytes_allow),
        cmocka_unit_test(a_sync_plays_its_own_queue_and_a_read_what_it_needs),
        cmocka_unit_test(a_full_ring_is_played_as_far_as_needed),
        cmocka_unit_test(memory_in_use_is_not_given_back),
        cmocka_unit_test(without_memory_the_caller_plays),
        cmocka_unit_test(wherever_memory_ends_the_caller_plays),
        cmocka_unit_test(without_memory_the_caller_replays),
        cmocka_unit_test(a_replay_is_only_skipped_at_the_call_for_what_is_certain),
        cmocka_unit_test(a_replay_is_skipped_at_the_call_if_any_input_is_spoiled_for_certain),
        cmocka_unit_test(a_refused_call_plays_its_own_queue),
        cmocka_unit_test(a_refusal_elsewhere_plays_what_it_comes_after),
        cmocka_unit_test(a_recording_plays_what_decides_about_its_inputs),
        cmocka_unit_test(an_abort_elsewhere_plays_what_it_comes_after),
        cmocka_unit_test(a_replay_that_is_refused_plays_what_it_comes_after),
        cmocka_unit_test(a_replay_next_to_a_window_plays_what_it_comes_after),
        cmocka_unit_test(who_asks_about_bytes_keeps_them),
        cmocka_unit_test(a_replay_that_is_refused_while_an_update_comes_claims_what_is_there),
        cmocka_unit_test(without_a_thread_the_caller_plays),
        cmocka_unit_test(the_worker_of_a_spinning_device_never_sleeps),
        cmocka_unit_test(a_worker_that_a_signal_disturbs_sleeps_on),
        cmocka_unit_test(a_stream_without_memory_for_its_ring_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
