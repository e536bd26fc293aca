/* Graphs that are wide enough to be spread over the device's workers, replayed from several threads at once: the
 * workers serve one replay at a time, and the others play theirs alone. Every word counts how often it was touched. */
#include "threads.h"

enum { THREADS = 3, QUEUES = 2, CHAINS = 12, LENGTH = 6, ITEMS = 4096, ROUNDS = 60 };

typedef struct wide {
    rondo_stream *stream;
    rondo_buffer chain[CHAINS], joined;
    rondo_graph *graph;
    uint64_t amount[CHAINS]; /* that one replay adds to each word of the chain */
} wide;

typedef struct world {
    rondo_device *device;
    kernels k;
    wide own[THREADS];
    wide shared;
    _Atomic uint64_t shared_replays;
} world;

static world w;

static rondo_buffer make_large(rondo_stream *stream) {
    rondo_buffer buffer = RONDO_NO_BUFFER;
    const uint64_t zero = 0;
    NEED_OK(rondo_buffer_create(stream, (uint64_t)ITEMS * 8, RONDO_USAGE_GENERAL, &buffer));
    NEED_OK(rondo_fill(stream, rondo_whole(buffer), &zero, 8, NULL));
    return buffer;
}

static rondo_status launch_add(rondo_stream *stream, rondo_buffer x, uint64_t amount, const char *label) {
    const rondo_arg args[] = {rondo_arg_buffer(x), rondo_arg_value(&amount, sizeof amount)};
    return rondo_launch(stream, w.k.add, rondo_grid_1d(ITEMS), args, 2, label);
}

/* All chains level by level, then the sum of the first and the last. */
static rondo_status issue(rondo_stream *stream, void *user) {
    const wide *g = user;
    rondo_status status = RONDO_OK;
    for (int n = 0; n < CHAINS * LENGTH && status == RONDO_OK; n++) {
        status = launch_add(stream, g->chain[n % CHAINS], 1, n < CHAINS ? "first" : NULL);
    }
    const rondo_arg args[] = {rondo_arg_buffer(g->chain[0]), rondo_arg_buffer(g->chain[CHAINS - 1]),
                              rondo_arg_buffer(g->joined)};
    return status != RONDO_OK ? status : rondo_launch(stream, w.k.sum, rondo_grid_1d(ITEMS), args, 3, "joined");
}

static void make_wide(wide *g, uint32_t queue) {
    g->stream = stream_on(w.device, QUEUES, queue);
    for (int c = 0; c < CHAINS; c++) g->chain[c] = make_large(g->stream);
    g->joined = make_large(g->stream);
    OK(rondo_capture_step(g->stream, issue, g, &g->graph)); /* the warm-up counts once */
    for (int c = 0; c < CHAINS; c++) g->amount[c] = LENGTH;
}

static void drop_wide(wide *g) {
    rondo_graph_release(g->graph);
    for (int c = 0; c < CHAINS; c++) rondo_buffer_release(g->chain[c]);
    rondo_buffer_release(g->joined);
    rondo_stream_release(g->stream);
}

static void need_all(rondo_stream *stream, rondo_buffer buffer, uint64_t value) {
    static _Thread_local uint64_t words[ITEMS];
    NEED_OK(rondo_read(stream, rondo_whole(buffer), words, NULL));
    NEED(words[0] == value);
    NEED(is_even(words, ITEMS));
}

/* Node c of the first level adds something else from now on. */
static void change_one(wide *g, uint64_t *seed) {
    uint32_t c = below(seed, CHAINS);
    uint64_t amount = below(seed, 100);
    const rondo_update update = rondo_update_value(c, "amount", &amount, sizeof amount);
    NEED_OK(rondo_graph_update(g->graph, &update, 1));
    g->amount[c] = LENGTH - 1 + amount;
}

static void replay_own_and_shared(int index, void *user) {
    wide *g = &w.own[index];
    uint64_t seed = *(uint64_t *)user + (uint64_t)index, expected[CHAINS];
    for (int c = 0; c < CHAINS; c++) expected[c] = LENGTH;
    for (int round = 0; round < ROUNDS; round++) {
        if (below(&seed, 4) == 0) change_one(g, &seed);
        NEED_OK(rondo_graph_replay(g->graph, g->stream));
        for (int c = 0; c < CHAINS; c++) expected[c] += g->amount[c];
        if (below(&seed, 3) == 0) {
            NEED_OK(rondo_graph_replay(w.shared.graph, g->stream));
            atomic_fetch_add(&w.shared_replays, 1);
        }
        uint32_t c = below(&seed, CHAINS);
        need_all(g->stream, g->chain[c], expected[c]);
        need_all(g->stream, g->joined, expected[0] + expected[CHAINS - 1]);
        if (below(&seed, 10) == 0) NEED_OK(rondo_device_trim(w.device, NULL));
    }
}

/* [R4, R6, R9] */
static void wide_graphs_of_several_threads_share_the_workers_and_keep_their_results(void **state) {
    uint64_t seed = test_seed();
    (void)state;
    const rondo_device_desc desc = {.max_queues = QUEUES, .workers = 3};
    OK(rondo_device_open("cpu", &desc, &w.device));
    w.k = load_kernels(w.device);
    for (int i = 0; i < THREADS; i++) make_wide(&w.own[i], (uint32_t)i % QUEUES);
    make_wide(&w.shared, 0);
    run_threads(THREADS, replay_own_and_shared, &seed);
    uint64_t shared = (1 + atomic_load(&w.shared_replays)) * LENGTH;
    for (int c = 0; c < CHAINS; c++) need_all(w.shared.stream, w.shared.chain[c], shared);
    need_all(w.shared.stream, w.shared.joined, 2 * shared);
    expect_no_trouble();
    for (int i = 0; i < THREADS; i++) drop_wide(&w.own[i]);
    drop_wide(&w.shared);
    release_kernels(&w.k);
    expect_empty(w.device);
    rondo_device_release(w.device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wide_graphs_of_several_threads_share_the_workers_and_keep_their_results),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
