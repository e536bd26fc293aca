/* Replays and appended graphs where other tests do not look closely: each of these was missing, as a change of the
 * sources that no test noticed showed. */
#include "thread/threads.h"

#include <rondo/sim.h>

static gate inside = GATE_INIT, go_on = GATE_INIT;

static int stop_here(void *user, const rondo_host_access *accesses, size_t count) {
    (void)user, (void)accesses, (void)count;
    gate_add(&inside, 1);
    gate_await(&go_on, 1);
    return 0;
}

/* Its value comes first. */
static void set_native(const rondo_native_call *call) {
    uint64_t value, *x = call->args[1];
    memcpy(&value, call->args[0], sizeof value);
    for (uint64_t i = call->first; i < call->last; i++) x[i] = value;
}

typedef struct scene {
    rondo_device *device;
    rondo_stream *a, *b;
    rondo_kernel *set;
    rondo_buffer x;
    rondo_graph *graph; /* waits for go_on, then sets x to 1 */
} scene;

static scene open_scene(void) {
    static const rondo_param params[] = {{"value", RONDO_PARAM_VALUE, 8, 8, false},
                                         {"x", RONDO_PARAM_OUT, 8, 8, false}};
    scene s = {.device = open_cpu(2)};
    uint64_t one = 1;
    s.a = stream_on(s.device, 2, 0);
    s.b = stream_on(s.device, 2, 1);
    s.set = load(s.device, "set", set_native, params, 2);
    s.x = make_buffer(s.a, 0);
    rondo_arg args[] = {rondo_arg_value(&one, 8), rondo_arg_buffer(s.x)};
    OK(rondo_capture_prepare(s.a));
    OK(rondo_capture_begin(s.a));
    OK(rondo_host_call(s.a, stop_here, NULL, NULL, NULL, 0, "stop"));
    OK(rondo_launch(s.a, s.set, rondo_grid_1d(WORDS), args, 2, "set"));
    OK(rondo_capture_end(s.a, RONDO_END_DEFAULT, &s.graph));
    gate_set(&inside, 0);
    gate_set(&go_on, 0);
    return s;
}

static void close_scene(scene *s) {
    rondo_graph_release(s->graph);
    rondo_buffer_release(s->x);
    rondo_kernel_release(s->set);
    rondo_stream_release(s->a);
    rondo_stream_release(s->b);
    expect_empty(s->device);
    rondo_device_release(s->device);
}

static rondo_graph *outer;

static void append_while_it_runs(int index, void *user) {
    scene *s = user;
    uint64_t seven = 7;
    if (index == 0) {
        NEED_OK(rondo_graph_replay(s->graph, s->b));
        return;
    }
    gate_await(&inside, 1);
    rondo_update update = rondo_update_value(1, "value", &seven, 8);
    NEED_OK(rondo_graph_update(s->graph, &update, 1));
    NEED_OK(rondo_capture_prepare(s->a));
    NEED_OK(rondo_capture_begin(s->a));
    NEED_OK(rondo_graph_replay(s->graph, s->a));
    NEED_OK(rondo_capture_end(s->a, RONDO_END_DEFAULT, &outer));
    gate_set(&go_on, 1);
}

/* [R8] [R9] Of the first parameter, too: the update still waits for the replay to end. */
static void a_graph_is_appended_with_the_values_that_still_wait(void **state) {
    (void)state;
    scene s = open_scene();
    run_threads(2, append_while_it_runs, &s);
    assert_int_equal(read_even(s.b, s.x), 1);
    OK(rondo_graph_replay(outer, s.a));
    assert_int_equal(read_even(s.a, s.x), 7);
    rondo_graph_release(outer);
    close_scene(&s);
}

static uint64_t submissions(void) {
    rondo_sim_counts counts;
    rondo_sim_get_counts(&counts);
    return counts.calls[RONDO_SIM_GRAPH_SUBMIT];
}

/* Behind a leading event, the first node is played by itself; nothing is played where none is left. */
static void a_backend_is_never_asked_to_play_nothing(void **state) {
    (void)state;
    rondo_device *device = NULL;
    rondo_event *event = NULL;
    rondo_graph *graph = NULL;
    rondo_device_desc desc = {.max_queues = 1};
    OK(rondo_device_open("sim", &desc, &device));
    rondo_stream *stream = stream_on(device, 1, 0);
    OK(rondo_event_create(device, &event));
    rondo_buffer x = make_buffer(stream, 0);
    OK(rondo_capture_prepare(stream));
    OK(rondo_capture_begin(stream));
    OK(rondo_event_record(stream, event, NULL));
    OK(rondo_fill(stream, rondo_whole(x), "", 1, NULL));
    OK(rondo_capture_end(stream, RONDO_END_DEFAULT, &graph));
    uint64_t before = submissions();
    OK(rondo_graph_replay(graph, stream));
    assert_int_equal(submissions() - before, 1);
    rondo_graph_release(graph);
    rondo_buffer_release(x);
    rondo_event_release(event);
    rondo_stream_release(stream);
    rondo_device_release(device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_graph_is_appended_with_the_values_that_still_wait),
        cmocka_unit_test(a_backend_is_never_asked_to_play_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
