/* Measuring what issuing and replaying costs: whatever fails in it is told, and it can be tried again. */
#include "thread/threads.h"

#include <rondo/sim.h>

#include "device/costs.h"
#include "unit.h"

typedef struct scene {
    rondo_device *device;
    rondo_stream *stream;
    rondo_buffer x;
    rondo_graph *graph;
} scene;

static scene open_scene(void) {
    scene s = {.x = RONDO_NO_BUFFER};
    OK(rondo_device_open("sim", NULL, &s.device));
    s.stream = stream_on(s.device, 1, 0);
    s.x = make_buffer(s.stream, 1);
    OK(rondo_capture_prepare(s.stream));
    OK(rondo_capture_begin(s.stream));
    OK(rondo_fill(s.stream, rondo_whole(s.x), "", 1, NULL));
    OK(rondo_capture_end(s.stream, RONDO_END_DEFAULT, &s.graph));
    return s;
}

static void close_scene(scene *s) {
    rondo_graph_release(s->graph);
    rondo_buffer_release(s->x);
    rondo_stream_release(s->stream);
    expect_empty(s->device);
    rondo_device_release(s->device);
}

/* Nine rounds of nothing, of one fill and of 64 fills come first, then the steps that record. */
static const rondo_sim_fault faults[] = {
    {RONDO_SIM_SUBMIT, RONDO_BACKEND_NOT_RUN, 1, 1, 0, 0, 0},
    {RONDO_SIM_SUBMIT, RONDO_BACKEND_NOT_RUN, 9 + 100, 1, 0, 0, 0},
    {RONDO_SIM_SUBMIT, RONDO_BACKEND_FAILED, 9 + 100, 1, 0, 1, 0}, /* which the sync tells */
    {RONDO_SIM_GRAPH_BUILD, RONDO_BACKEND_NO_MEMORY, 1, 1, 0, 0, 0},
    {RONDO_SIM_GRAPH_BUILD, RONDO_BACKEND_NO_MEMORY, 2, 1, 0, 0, 0},
    {RONDO_SIM_GRAPH_SUBMIT, RONDO_BACKEND_NOT_RUN, 1, 1, 0, 0, 0},
    {RONDO_SIM_GRAPH_SUBMIT, RONDO_BACKEND_NOT_RUN, 10, 1, 0, 0, 0},
};

/* [E3] [E4] */
static void a_measurement_that_fails_says_so_and_leaves_nothing(void **state) {
    rondo_graph_worth worth;
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        scene s = open_scene();
        rondo_sim_reset();
        assert_true(rondo_sim_fail(&faults[i]));
        assert_int_not_equal(rondo_graph_get_worth(s.graph, &worth), RONDO_OK);
        assert_int_equal(worth.pays_after, 0);
        rondo_sim_reset();
        OK(rondo_graph_get_worth(s.graph, &worth));
        close_scene(&s);
    }
}

/* [E3] Also where it is the stream or the buffer that there is no memory for. */
static void a_measurement_without_memory_says_so_and_leaves_nothing(void **state) {
    rondo_graph_worth worth;
    (void)state;
    for (uint64_t granted = 0; granted < 3; granted++) {
        scene s = open_scene();
        starve(granted, true);
        rondo_status status = rondo_graph_get_worth(s.graph, &worth);
        assert_true(feed() != 0);
        expect(status, RONDO_NO_HOST_MEMORY);
        OK(rondo_graph_get_worth(s.graph, &worth));
        close_scene(&s);
    }
}

/* [R10] */
static void a_graph_pays_after_as_many_replays_as_make_up_for_its_recording(void **state) {
    const rdo_costs costs = {.eager_node_ps = 3000, .replay_node_ps = 1000, .replay_ps = 2000};
    (void)state;
    rondo_graph_worth worth = rdo_costs_worth(&costs, 10, 190); /* 30 ns eagerly, 2 + 9 ns replayed */
    assert_int_equal(worth.eager_ns, 30);
    assert_int_equal(worth.replay_ns, 11);
    assert_int_equal(worth.pays_after, 10);
    assert_int_equal(rdo_costs_worth(&costs, 10, 191).pays_after, 11);
    assert_true(rdo_costs_worth(&(rdo_costs){.replay_ps = 2000}, 1, 190).pays_after == UINT64_MAX);
    assert_int_equal(rdo_costs_worth(&costs, 0, 190).replay_ns, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_measurement_that_fails_says_so_and_leaves_nothing),
        cmocka_unit_test(a_measurement_without_memory_says_so_and_leaves_nothing),
        cmocka_unit_test(a_graph_pays_after_as_many_replays_as_make_up_for_its_recording),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
