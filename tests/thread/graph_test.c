/* Graphs that are replayed, changed, flattened and released by many threads at once. */
#include "threads.h"

enum { THREADS = 4, OUTPUTS = 3 };

typedef struct scene {
    rondo_device *device;
    kernels k;
    uint32_t queues;
    rondo_stream *streams[THREADS]; /* folded on the queues */
    rondo_buffer outputs[OUTPUTS], inputs[2];
    rondo_graph *graph;
    _Atomic uint64_t expected, left;
    _Atomic bool done;
    uint64_t seed;
} scene;

static void open_scene(scene *s, uint32_t queues) {
    s->seed = test_seed();
    s->queues = queues;
    s->device = open_cpu(queues);
    s->k = load_kernels(s->device);
    for (uint32_t i = 0; i < THREADS; i++) s->streams[i] = stream_on(s->device, queues, i % queues);
    for (uint32_t i = 0; i < OUTPUTS; i++) s->outputs[i] = make_buffer(s->streams[i], 0);
    for (uint32_t i = 0; i < 2; i++) s->inputs[i] = make_buffer(s->streams[i], i);
    expect_no_trouble();
}

static void close_scene(scene *s) {
    rondo_graph_release(s->graph);
    for (int i = 0; i < THREADS; i++) rondo_stream_release(s->streams[i]);
    for (int i = 0; i < OUTPUTS; i++) rondo_buffer_release(s->outputs[i]);
    for (int i = 0; i < 2; i++) rondo_buffer_release(s->inputs[i]);
    release_kernels(&s->k);
    expect_empty(s->device);
    rondo_device_release(s->device);
}

static void begin(rondo_stream *stream) {
    NEED_OK(rondo_capture_prepare(stream));
    NEED_OK(rondo_capture_begin(stream));
}
static rondo_graph *end(rondo_stream *stream) {
    rondo_graph *graph = NULL;
    NEED_OK(rondo_capture_end(stream, RONDO_END_DEFAULT, &graph));
    return graph;
}

/* ---- replays ---- */

static void replay_many(int index, void *user) {
    scene *s = user;
    for (int i = 0; i < 2000 && !atomic_load(&in_trouble); i++) {
        NEED_OK(rondo_graph_replay(s->graph, s->streams[(index + i) % THREADS]));
        NEED_OK(launch_bump(s->streams[index], &s->k, s->outputs[1]));
    }
}

/* [R3] [R6] Nothing is lost between replays of one graph and launches around them, on one queue or several. */
static void replays_from_four_threads_add_up(void **state) {
    (void)state;
    for (uint32_t queues = 1; queues <= 3; queues++) {
        scene s = {.device = NULL};
        open_scene(&s, queues);
        begin(s.streams[0]);
        for (int i = 0; i < OUTPUTS; i++) NEED_OK(launch_bump(s.streams[0], &s.k, s.outputs[i]));
        s.graph = end(s.streams[0]);
        run_threads(THREADS, replay_many, &s);
        assert_int_equal(read_even(s.streams[0], s.outputs[0]), THREADS * 2000);
        assert_int_equal(read_even(s.streams[0], s.outputs[1]), 2 * THREADS * 2000);
        assert_int_equal(read_even(s.streams[0], s.outputs[2]), THREADS * 2000);
        close_scene(&s);
    }
}

/* ---- release ---- */

static void replay_and_release(int index, void *user) {
    scene *s = user;
    for (int i = 0; i < 8 && !atomic_load(&in_trouble); i++) {
        NEED_OK(rondo_graph_replay(s->graph, s->streams[index]));
    }
    rondo_graph_release(s->graph); /* each thread has a reference of its own */
}

/* [R7] The last release comes while others replay; what the graph held goes when nobody replays any more. */
static void a_graph_goes_after_its_last_replay(void **state) {
    (void)state;
    for (uint32_t queues = 1; queues <= 2; queues++) {
        scene s = {.device = NULL};
        open_scene(&s, queues);
        for (uint64_t round = 0; round < 200; round++) {
            rondo_buffer gone = make_buffer(s.streams[1], 1);
            begin(s.streams[0]);
            NEED_OK(launch_sum(s.streams[0], &s.k, gone, s.inputs[1], s.outputs[0]));
            NEED_OK(launch_bump(s.streams[0], &s.k, s.outputs[1]));
            s.graph = end(s.streams[0]);
            rondo_buffer_release(gone);
            expect_no_trouble();
            for (int i = 1; i < THREADS; i++) OK(rondo_graph_retain(s.graph));
            run_threads(THREADS, replay_and_release, &s);
            assert_int_equal(read_even(s.streams[0], s.outputs[0]), 2);
            assert_int_equal(read_even(s.streams[0], s.outputs[1]), 8 * THREADS * (round + 1));
            assert_int_equal(rondo_status_code(rondo_graph_replay(s.graph, s.streams[0])), RONDO_STALE);
        }
        s.graph = NULL;
        close_scene(&s);
    }
}

/* ---- value updates ---- */

/* Words come in pairs: a, a + 1. */
static void check_pair(scene *s, rondo_stream *stream, rondo_buffer buffer) {
    uint64_t words[WORDS] = {0};
    NEED_OK(rondo_read(stream, rondo_whole(buffer), words, NULL));
    NEED(words[1] == words[0] + 1);
    for (size_t i = 2; i < WORDS; i++) NEED(words[i] == words[i & 1]);
    (void)s;
}

static rondo_status set_pair(rondo_graph *graph, uint64_t a) {
    uint64_t b = a + 1;
    rondo_update updates[] = {rondo_update_value(0, "a", &a, 8), rondo_update_value(0, "b", &b, 8)};
    return rondo_graph_update(graph, updates, 2);
}

static void update_or_replay(int index, void *user) {
    scene *s = user;
    uint64_t state = s->seed * 10 + (uint64_t)index;
    rondo_stream *stream = s->streams[index % THREADS];
    for (int i = 0; i < 1500 && !atomic_load(&in_trouble); i++) {
        if (below(&state, 2) == 0) NEED_OK(set_pair(s->graph, next_random(&state) >> 1));
        NEED_OK(rondo_graph_replay(s->graph, stream));
        if (i % 4 == 0) check_pair(s, stream, s->outputs[0]);
    }
}

static rondo_graph *record_pair(scene *s, rondo_stream *stream) {
    begin(stream);
    NEED_OK(launch_pair(stream, &s->k, s->outputs[0], 4, 5));
    return end(stream);
}

/* [R9] All or nothing: a replay sees both values of an update or neither. */
static void a_replay_never_sees_half_of_an_update(void **state) {
    (void)state;
    for (uint32_t queues = 1; queues <= 3; queues++) {
        scene s = {.device = NULL};
        open_scene(&s, queues);
        s.graph = record_pair(&s, s.streams[0]);
        run_threads(THREADS, update_or_replay, &s);
        close_scene(&s);
    }
}

static void update_alone(int index, void *user) {
    scene *s = user;
    rondo_stream *stream = s->streams[index];
    for (uint64_t i = 0; index == 0 && i < 2000 && !atomic_load(&in_trouble); i++) {
        uint64_t words[WORDS] = {0};
        NEED_OK(set_pair(s->graph, i * 2));
        NEED_OK(rondo_graph_replay(s->graph, stream));
        /* Nobody else updates, so whoever replays now writes the same. */
        NEED_OK(rondo_read(stream, rondo_whole(s->outputs[0]), words, NULL));
        NEED(words[0] == i * 2 && words[1] == i * 2 + 1);
    }
    if (index == 0) atomic_store(&s->done, true);
    while (index != 0 && !atomic_load(&s->done)) NEED_OK(rondo_graph_replay(s->graph, stream));
}

/* [R9] A replay that is enqueued after an update returned sees it. */
static void an_update_holds_for_every_replay_after_it(void **state) {
    (void)state;
    for (uint32_t queues = 1; queues <= 2; queues++) {
        scene s = {.device = NULL};
        open_scene(&s, queues);
        s.graph = record_pair(&s, s.streams[0]);
        run_threads(THREADS, update_alone, &s);
        close_scene(&s);
    }
}

/* ---- buffer updates ---- */

static void redirect_or_replay(int index, void *user) {
    scene *s = user;
    uint64_t state = s->seed * 20 + (uint64_t)index;
    rondo_stream *stream = s->streams[index];
    for (int i = 0; i < 1200 && !atomic_load(&in_trouble); i++) {
        if (index < 2) {
            /* The input moves between two buffers, and to ones that are released at once. */
            rondo_buffer fresh = RONDO_NO_BUFFER;
            rondo_span span = rondo_whole(s->inputs[below(&state, 2)]);
            if (below(&state, 3) == 0) {
                fresh = make_buffer(stream, below(&state, 2));
                span = rondo_whole(fresh);
            }
            rondo_update update = rondo_update_span(0, "x", span);
            NEED_OK(rondo_graph_update(s->graph, &update, 1));
            rondo_buffer_release(fresh);
        }
        NEED_OK(rondo_graph_replay(s->graph, stream));
        uint64_t value = read_even(stream, s->outputs[0]);
        NEED(value < 2); /* every input has the value 0 or 1 */
    }
}

/* [R9] [P3] */
static void buffers_of_a_graph_change_while_others_replay_it(void **state) {
    (void)state;
    for (uint32_t queues = 1; queues <= 3; queues++) {
        scene s = {.device = NULL};
        open_scene(&s, queues);
        begin(s.streams[0]);
        NEED_OK(launch_copy(s.streams[0], &s.k, s.inputs[0], s.outputs[0]));
        s.graph = end(s.streams[0]);
        run_threads(THREADS, redirect_or_replay, &s);
        close_scene(&s);
    }
}

static void count_text(void *user, const char *text, size_t length) {
    (void)text;
    *(size_t *)user += length;
}

/* Looks at all there is of a graph while it changes. */
static void walk(rondo_graph *graph) {
    size_t length = 0;
    rondo_graph_info info = {.nodes = 0};
    NEED_OK(rondo_graph_get_info(graph, &info));
    NEED_OK(rondo_graph_dump(graph, RONDO_DUMP_TEXT, count_text, &length));
    NEED(length != 0);
    for (uint64_t node = 0; node < info.nodes; node++) {
        rondo_node_info known;
        rondo_node_span span;
        NEED_OK(rondo_graph_get_node(graph, node, &known));
        for (uint32_t i = 0; i < known.spans; i++) NEED_OK(rondo_graph_get_node_span(graph, node, i, &span));
    }
}

/* Two nodes: pair into the output, output to another. Values and buffers change together. */
static void change_all(int index, void *user) {
    scene *s = user;
    uint64_t state = s->seed * 30 + (uint64_t)index;
    rondo_stream *stream = s->streams[index];
    for (int i = 0; i < 800 && !atomic_load(&in_trouble); i++) {
        uint64_t a = next_random(&state) >> 1, b = a + 1;
        rondo_span middle = rondo_whole(s->outputs[below(&state, 2)]);
        rondo_update updates[] = {rondo_update_value(0, "a", &a, 8), rondo_update_span(0, "x", middle),
                                  rondo_update_value(0, "b", &b, 8), rondo_update_span(1, "x", middle)};
        if (index < 2) NEED_OK(rondo_graph_update(s->graph, updates, 4));
        if (index == 3) walk(s->graph);
        NEED_OK(rondo_graph_replay(s->graph, stream));
        check_pair(s, stream, s->outputs[2]);
    }
}

/* [R9] */
static void values_and_buffers_that_change_together_are_seen_together(void **state) {
    (void)state;
    for (uint32_t queues = 1; queues <= 3; queues++) {
        scene s = {.device = NULL};
        open_scene(&s, queues);
        begin(s.streams[0]);
        NEED_OK(launch_pair(s.streams[0], &s.k, s.outputs[0], 4, 5));
        NEED_OK(launch_copy(s.streams[0], &s.k, s.outputs[0], s.outputs[2]));
        s.graph = end(s.streams[0]);
        run_threads(THREADS, change_all, &s);
        close_scene(&s);
    }
}

/* ---- flattening ---- */

static void flatten_or_update(int index, void *user) {
    scene *s = user;
    uint64_t state = s->seed * 40 + (uint64_t)index;
    rondo_stream *stream = s->streams[index];
    for (int i = 0; i < 600 && !atomic_load(&in_trouble); i++) {
        if (index >= 2) { /* on streams that nobody records on */
            NEED_OK(set_pair(s->graph, next_random(&state) >> 1));
            if (index == 3) NEED_OK(rondo_graph_replay(s->graph, stream));
            continue;
        }
        begin(stream);
        NEED_OK(rondo_graph_replay(s->graph, stream));
        rondo_graph *outer = end(stream);
        NEED_OK(rondo_graph_replay(outer, stream));
        check_pair(s, stream, s->outputs[0]);
        rondo_graph_release(outer);
    }
}

/* [R8] [R9] A window takes the graph's nodes as they are at one moment. */
static void a_window_never_takes_half_of_an_update(void **state) {
    (void)state;
    scene s = {.device = NULL};
    open_scene(&s, 4);
    s.graph = record_pair(&s, s.streams[0]);
    run_threads(THREADS, flatten_or_update, &s);
    close_scene(&s);
}

enum { STRANGE = 1000, LAST_NODE = 100 };

static void flatten_or_redirect(int index, void *user) {
    scene *s = user;
    rondo_stream *stream = s->streams[index];
    for (uint64_t i = 0; i < 600 && !atomic_load(&in_trouble); i++) {
        if (index == 0) {
            /* The graph alone keeps its input, and gives the one before back. */
            rondo_buffer fresh = make_buffer(stream, i & 1);
            rondo_update update = rondo_update_span(LAST_NODE, "x", rondo_whole(fresh));
            NEED_OK(rondo_graph_update(s->graph, &update, 1));
            rondo_buffer_release(fresh);
            if (i % 3 == 0) NEED_OK(rondo_graph_replay(s->graph, s->streams[3]));
        } else if (index == 1) {
            rondo_buffer stranger = make_buffer(s->streams[0], STRANGE);
            NEED(read_even(stream, stranger) == STRANGE);
            rondo_buffer_release(stranger);
        } else if (index == 2) {
            begin(stream);
            NEED_OK(rondo_graph_replay(s->graph, stream));
            rondo_graph *outer = end(stream);
            for (int r = 0; r < 2; r++) {
                NEED_OK(rondo_graph_replay(outer, stream));
                NEED(read_even(stream, s->outputs[0]) < 2);
            }
            rondo_graph_release(outer);
        }
    }
}

/* [R8] [R9] [P3] A window that takes the graph's nodes takes hold of their memory, before an update lets go of it. */
static void a_window_keeps_the_buffers_that_an_update_takes_away(void **state) {
    (void)state;
    scene s = {.device = NULL};
    open_scene(&s, 4);
    begin(s.streams[0]);
    /* The node whose input changes is the last, so that the window is long in coming to it. */
    for (int i = 0; i < LAST_NODE; i++) NEED_OK(launch_bump(s.streams[0], &s.k, s.outputs[1]));
    NEED_OK(launch_copy(s.streams[0], &s.k, s.inputs[0], s.outputs[0]));
    s.graph = end(s.streams[0]);
    run_threads(THREADS, flatten_or_redirect, &s);
    close_scene(&s);
}

/* ---- failing nodes ---- */

static void replay_failing(int index, void *user) {
    scene *s = user;
    rondo_stream *stream = s->streams[index];
    for (int i = 0; i < 500 && !atomic_load(&in_trouble); i++) {
        uint64_t words[WORDS] = {0};
        rondo_status status = RONDO_OK;
        if (index == 0) {
            NEED_OK(rondo_graph_replay(s->graph, stream));
        } else if (index == 1) {
            NEED_OK(launch_pair(stream, &s->k, s->outputs[0], 1, 1));
        } else {
            status = launch_copy(stream, &s->k, s->outputs[0], s->outputs[index - 1]);
            NEED_ONE_OF(status, RONDO_TAINTED);
            status = rondo_read(stream, rondo_whole(s->outputs[index - 1]), words, NULL);
            NEED_ONE_OF(status, RONDO_TAINTED);
            NEED(status != RONDO_OK || (is_even(words, WORDS) && words[0] <= 1));
        }
        NEED_ONE_OF(rondo_stream_sync(stream), RONDO_KERNEL);
    }
}

/* [R4] [T6] [T11] [P1] Failure, repair and use of one buffer on different queues: bytes are right or refused. */
static void bytes_that_a_failing_graph_and_a_repair_take_turns_at_are_right_or_refused(void **state) {
    (void)state;
    for (uint32_t queues = 1; queues <= 4; queues += 3) {
        scene s = {.device = NULL};
        open_scene(&s, queues);
        begin(s.streams[0]);
        NEED_OK(launch_bump(s.streams[0], &s.k, s.inputs[0]));
        NEED_OK(launch_fail(s.streams[0], &s.k, s.outputs[0]));
        s.graph = end(s.streams[0]);
        run_threads(THREADS, replay_failing, &s);
        assert_int_equal(read_even(s.streams[0], s.inputs[0]), 500);
        close_scene(&s);
    }
}

/* ---- rondo_run ---- */

typedef struct step {
    scene *s;
    rondo_buffer counter;
} step;

static rondo_status bump_step(rondo_stream *stream, void *user) {
    const step *t = user;
    return launch_bump(stream, &t->s->k, t->counter);
}

static void run_keys(int index, void *user) {
    scene *s = user;
    step steps[2];
    rondo_stream *stream = NULL;
    NEED_OK(rondo_stream_create(s->device, &stream));
    for (int i = 0; i < 2; i++) steps[i] = (step){s, make_buffer(stream, 0)};
    for (int i = 0; i < 400 && !atomic_load(&in_trouble); i++) {
        for (uint64_t key = 0; key < 2; key++) {
            NEED_OK(rondo_run(stream, key, bump_step, &steps[key], NULL));
            if (i % 100 == 50 + index) NEED_OK(rondo_run_forget(stream, key));
        }
    }
    for (int i = 0; i < 2; i++) {
        NEED(read_even(stream, steps[i].counter) == 400);
        rondo_buffer_release(steps[i].counter);
    }
    rondo_stream_release(stream);
}

/* [C21] Each call has the effect of one step, on a queue of its own. */
static void steps_by_key_on_streams_of_their_own_count_exactly(void **state) {
    (void)state;
    scene s = {.device = NULL};
    open_scene(&s, 32); /* so many that the threads' streams share none */
    run_threads(THREADS, run_keys, &s);
    close_scene(&s);
}

static void run_shared_keys(int index, void *user) {
    scene *s = user;
    step mine = {s, s->outputs[index & 1]};
    for (int done = 0; done < 300 && !atomic_load(&in_trouble);) {
        /* While another thread's call prepares or records, the stream says so and nothing happened. */
        rondo_status status = rondo_run(s->streams[0], (uint64_t)(index & 1), bump_step, &mine, NULL);
        NEED_ONE_OF(status, RONDO_STATE);
        done += status == RONDO_OK;
    }
}

/* [C21] [E5] Four threads on one stream, two to a key: each call that returns OK had its effect once. */
static void steps_by_key_on_one_stream_count_exactly(void **state) {
    (void)state;
    scene s = {.device = NULL};
    open_scene(&s, 2);
    run_threads(THREADS, run_shared_keys, &s);
    for (int i = 0; i < 2; i++) assert_int_equal(read_even(s.streams[0], s.outputs[i]), 600);
    close_scene(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replays_from_four_threads_add_up),
        cmocka_unit_test(a_graph_goes_after_its_last_replay),
        cmocka_unit_test(a_replay_never_sees_half_of_an_update),
        cmocka_unit_test(an_update_holds_for_every_replay_after_it),
        cmocka_unit_test(buffers_of_a_graph_change_while_others_replay_it),
        cmocka_unit_test(values_and_buffers_that_change_together_are_seen_together),
        cmocka_unit_test(a_window_never_takes_half_of_an_update),
        cmocka_unit_test(a_window_keeps_the_buffers_that_an_update_takes_away),
        cmocka_unit_test(bytes_that_a_failing_graph_and_a_repair_take_turns_at_are_right_or_refused),
        cmocka_unit_test(steps_by_key_on_one_stream_count_exactly),
        cmocka_unit_test(steps_by_key_on_streams_of_their_own_count_exactly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
