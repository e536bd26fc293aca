/* Replays from any thread on any stream, and graphs that are let go while they are at work. */
#include <pthread.h>

#include "capture_tools.h"

enum { THREADS = 4, REPLAYS = 50 };

struct worker {
    rondo_graph *graph;
    rondo_stream *stream;
    rondo_status failed;
    bool holds; /* one reference of the graph, given back before the last replay's result is looked at */
};

static void *replay_thread(void *user) {
    struct worker *w = user;
    for (int i = 0; w->failed == RONDO_OK && i < REPLAYS; i++) w->failed = rondo_graph_replay(w->graph, w->stream);
    if (w->holds) rondo_graph_release(w->graph);
    return NULL;
}

static void run_workers(struct worker *workers) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) CHECK_EQUAL(pthread_create(&threads[i], NULL, replay_thread, &workers[i]), 0);
    for (int i = 0; i < THREADS; i++) CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < THREADS; i++) CHECK_OK(workers[i].failed);
}

static rondo_graph *record_counter(struct conform *t, rondo_buffer counter) {
    open_window(t->stream);
    CHECK_OK(add_in_place(t->stream, rondo_whole(counter), NULL, "count"));
    return seal(t, t->stream);
}

/* [R6] Not one replay is lost, though the counting is no atomic operation: replays of one graph queue up. */
static void replays_from_four_threads_and_streams_queue_up(struct conform *t) {
    rondo_buffer counter = conform_buffer(t, 4096);
    conform_fill_i32(t, counter, 0);
    rondo_graph *graph = record_counter(t, counter);
    struct worker workers[THREADS] = {{.graph = graph, .stream = t->stream}};
    for (int i = 1; i < THREADS; i++) workers[i] = (struct worker){.graph = graph, .stream = conform_stream(t)};
    run_workers(workers);
    conform_expect_all_i32(t, counter, THREADS * REPLAYS, 1024);
    CHECK_EQUAL(graph_info(graph).replays, THREADS * REPLAYS);
}

/* [R6] The same on one stream and one queue. */
static void replays_from_four_threads_on_one_stream_queue_up(struct conform *t) {
    rondo_buffer counter = conform_buffer(t, 4096);
    conform_fill_i32(t, counter, 0);
    rondo_graph *graph = record_counter(t, counter);
    struct worker workers[THREADS];
    for (int i = 0; i < THREADS; i++) workers[i] = (struct worker){.graph = graph, .stream = t->stream};
    run_workers(workers);
    conform_expect_all_i32(t, counter, THREADS * REPLAYS, 1024);
}

/* [R6] Launches of a large grid too, whose threads must not mix up the launches. */
static void replays_of_launches_from_four_threads_queue_up(struct conform *t) {
    rondo_buffer counter = conform_buffer(t, 4), values = conform_buffer(t, 4 << 16);
    conform_fill_i32(t, counter, 0);
    conform_fill_i32(t, values, 0);
    open_window(t->stream);
    CHECK_OK(conform_launch_count(t, t->stream, rondo_whole(counter), 100, NULL));
    CHECK_OK(conform_launch_add_alias(t, t->stream, rondo_whole(values), rondo_whole(values), 1 << 16, NULL));
    rondo_graph *graph = seal(t, t->stream);
    struct worker workers[THREADS];
    for (int i = 0; i < THREADS; i++) workers[i] = (struct worker){.graph = graph, .stream = conform_stream(t)};
    run_workers(workers);
    CHECK_EQUAL(conform_read_i32(t, counter, 0), 100 * THREADS * REPLAYS);
    conform_expect_all_i32(t, values, THREADS * REPLAYS, 1 << 16);
}

/* [R6, W3] Four graphs over one buffer, each on its own thread: every one takes effect. */
static void four_graphs_that_share_a_buffer_do_not_lose_each_others_work(struct conform *t) {
    rondo_buffer counter = conform_buffer(t, 4096);
    conform_fill_i32(t, counter, 0);
    struct worker workers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.graph = record_counter(t, counter), .stream = conform_stream(t)};
    }
    run_workers(workers);
    conform_expect_all_i32(t, counter, THREADS * REPLAYS, 1024);
}

/* [R7] Destroy waits for nothing and takes nothing away from a replay that was enqueued. */
static void a_graph_may_be_released_right_after_its_replay(struct conform *t) {
    rondo_buffer in = RONDO_NO_BUFFER, out = conform_buffer(t, 1 << 20);
    for (int32_t i = 0; i < 20; i++) {
        CHECK_OK(rondo_buffer_create(t->stream, 1 << 20, RONDO_USAGE_GENERAL, &in));
        CHECK_OK(fill_i32(t->stream, rondo_whole(in), i, NULL));
        open_window(t->stream);
        CHECK_OK(rondo_copy(t->stream, rondo_whole(out), rondo_whole(in), NULL));
        CHECK_OK(add_in_place(t->stream, rondo_whole(out), NULL, NULL));
        rondo_graph *graph = seal(t, t->stream);
        CHECK_OK(rondo_graph_replay(graph, t->stream));
        rondo_graph_release(graph);
        rondo_buffer_release(in);
        conform_expect_all_i32(t, out, i + 1, 1 << 18);
    }
}

/* [R7] The graph, its buffer and the stream all go while replays are queued; what was kept is right. */
static void the_stream_of_a_replay_may_go_right_after_it(struct conform *t) {
    rondo_buffer out = conform_buffer(t, 1 << 16), in = RONDO_NO_BUFFER;
    rondo_stream *stream = NULL;
    CHECK_OK(rondo_stream_create(t->device, &stream));
    CHECK_OK(rondo_buffer_create(stream, 1 << 16, RONDO_USAGE_GENERAL, &in));
    CHECK_OK(fill_i32(stream, rondo_whole(in), 3, NULL));
    open_window(stream);
    CHECK_OK(rondo_copy(stream, rondo_whole(out), rondo_whole(in), NULL));
    rondo_graph *graph = seal(t, stream);
    CHECK_OK(rondo_graph_replay(graph, stream));
    rondo_buffer_release(in);
    rondo_stream_release(stream);
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    rondo_graph_release(graph);
    conform_expect_all_i32(t, out, 3, 1 << 14);
}

/* [R7, E5] The last reference goes on whichever thread is done last. */
static void the_last_release_of_a_graph_may_come_from_any_thread(struct conform *t) {
    rondo_buffer counter = conform_buffer(t, 4096);
    conform_fill_i32(t, counter, 0);
    for (int round = 1; round <= 10; round++) {
        rondo_graph *graph = record_counter(t, counter);
        struct worker workers[THREADS];
        for (int i = 0; i < THREADS; i++) {
            CHECK_OK(rondo_graph_retain(graph));
            workers[i] = (struct worker){.graph = graph, .stream = t->stream, .holds = true};
        }
        rondo_graph_release(graph);
        run_workers(workers);
        CHECK_CODE(rondo_graph_replay(graph, t->stream), RONDO_STALE);
        conform_expect_all_i32(t, counter, round * THREADS * REPLAYS, 1024);
    }
    CHECK_EQUAL(conform_stats(t).graphs, 0);
}

struct visitor {
    rondo_graph *graph;
    rondo_stream *stream;
    bool last;
    rondo_status failed;
};

static void *visit(void *user) {
    struct visitor *v = user;
    rondo_graph_info info;
    v->failed = rondo_graph_replay(v->graph, v->stream);
    if (!v->failed) v->failed = rondo_graph_get_info(v->graph, &info);
    if (v->last) rondo_graph_release(v->graph);
    return NULL;
}

/* [R6, E5] Nothing of a graph is tied to the thread that made it: others replay it, ask it and destroy it in turn. */
static void a_graph_belongs_to_no_thread(struct conform *t) {
    rondo_buffer counter = conform_buffer(t, 64);
    conform_fill_i32(t, counter, 0);
    rondo_graph *graph = record_counter(t, counter);
    for (int i = 1; i <= 8; i++) {
        struct visitor visitor = {.graph = graph, .stream = t->stream, .last = i == 8};
        pthread_t thread;
        CHECK_EQUAL(pthread_create(&thread, NULL, visit, &visitor), 0);
        CHECK_EQUAL(pthread_join(thread, NULL), 0);
        CHECK_OK(visitor.failed);
        conform_expect_all_i32(t, counter, i, 16);
    }
    CHECK_CODE(rondo_graph_replay(graph, t->stream), RONDO_STALE);
}

struct insider {
    rondo_graph *graph;
    rondo_stream *stream;
    rondo_status replay, info;
};

static int replay_from_inside(void *user, const rondo_host_access *accesses, size_t count) {
    (void)accesses;
    (void)count;
    struct insider *inside = user;
    rondo_graph_info info;
    inside->replay = rondo_graph_replay(inside->graph, inside->stream);
    inside->info = rondo_graph_get_info(inside->graph, &info);
    rondo_graph_release(inside->graph);
    return 0;
}

/* [E5] A node may let its own graph go, but not replay it. */
static void a_host_call_of_a_graph_may_release_the_graph_but_not_replay_it(struct conform *t) {
    struct insider inside = {.stream = t->stream};
    rondo_buffer out = conform_buffer(t, 64);
    open_window(t->stream);
    CHECK_OK(rondo_host_call(t->stream, replay_from_inside, &inside, NULL, NULL, 0, NULL));
    CHECK_OK(fill_i32(t->stream, rondo_whole(out), 8, NULL));
    inside.graph = seal(t, t->stream);
    CHECK_OK(rondo_graph_replay(inside.graph, t->stream));
    conform_settle(t);
    CHECK_CODE(inside.replay, RONDO_REENTRANT);
    CHECK_CODE(inside.info, RONDO_REENTRANT);
    conform_expect_all_i32(t, out, 8, 16);
    CHECK_CODE(rondo_graph_replay(inside.graph, t->stream), RONDO_STALE);
}

const struct conform_case conform_replay_threads_cases[] = {
    CONFORM_CASE(replays_from_four_threads_and_streams_queue_up, NEEDS_MAP),
    CONFORM_CASE_ON(replays_from_four_threads_on_one_stream_queue_up, NEEDS_MAP, &ONE_QUEUE),
    CONFORM_CASE(replays_of_launches_from_four_threads_queue_up, NEEDS_KERNELS),
    CONFORM_CASE(four_graphs_that_share_a_buffer_do_not_lose_each_others_work, NEEDS_MAP),
    CONFORM_CASE(a_graph_may_be_released_right_after_its_replay, NEEDS_MAP),
    CONFORM_CASE(the_stream_of_a_replay_may_go_right_after_it, NEEDS_NOTHING),
    CONFORM_CASE(the_last_release_of_a_graph_may_come_from_any_thread, NEEDS_MAP),
    CONFORM_CASE(a_graph_belongs_to_no_thread, NEEDS_MAP),
    CONFORM_CASE(a_host_call_of_a_graph_may_release_the_graph_but_not_replay_it, NEEDS_NOTHING),
    CONFORM_END,
};
