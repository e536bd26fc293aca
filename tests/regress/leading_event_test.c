/* A replay whose first work cannot be enqueued ran nothing, also where events come before that work. */
#include "thread/threads.h"

#include <rondo/sim.h>

typedef struct scene {
    rondo_device *device;
    rondo_stream *stream;
    kernels k;
    rondo_buffer x, y;
    rondo_event *start, *middle;
    rondo_graph *graph;
} scene;

/* start; x += 1; x += 1; middle; y += 1 */
static scene open_scene(void) {
    scene s = {.device = NULL};
    rondo_device_desc desc = {.max_queues = 1, .workers = 1};
    rondo_sim_reset();
    OK(rondo_device_open("sim", &desc, &s.device));
    s.stream = stream_on(s.device, 1, 0);
    s.k = load_kernels(s.device);
    s.x = make_buffer(s.stream, 10);
    s.y = make_buffer(s.stream, 20);
    OK(rondo_event_create(s.device, &s.start));
    OK(rondo_event_create(s.device, &s.middle));
    OK(rondo_capture_prepare(s.stream));
    OK(rondo_capture_begin(s.stream));
    OK(rondo_event_record(s.stream, s.start, NULL));
    OK(launch_bump(s.stream, &s.k, s.x));
    OK(launch_bump(s.stream, &s.k, s.x));
    OK(rondo_event_record(s.stream, s.middle, NULL));
    OK(launch_bump(s.stream, &s.k, s.y));
    OK(rondo_capture_end(s.stream, 0, &s.graph));
    return s;
}

static void close_scene(scene *s) {
    rondo_sim_reset();
    rondo_graph_release(s->graph);
    rondo_event_release(s->start);
    rondo_event_release(s->middle);
    rondo_buffer_release(s->x);
    rondo_buffer_release(s->y);
    release_kernels(&s->k);
    rondo_stream_release(s->stream);
    expect_empty(s->device);
    rondo_device_release(s->device);
}

static void fail_submit(uint64_t nth) {
    assert_true(rondo_sim_fail(&(rondo_sim_fault){
        .call = RONDO_SIM_GRAPH_SUBMIT, .result = RONDO_BACKEND_NOT_RUN, .nth = nth, .count = 1}));
}

/* [R1] [R2] [C24] Nothing ran: no event completed, all that is written is claimed, and the next replay mends it. */
static void events_before_work_that_cannot_be_enqueued_do_not_complete(void **state) {
    (void)state;
    scene s = open_scene();
    fail_submit(1);
    expect(rondo_graph_replay(s.graph, s.stream), RONDO_BACKEND);
    expect(rondo_event_status(s.start), RONDO_NOT_READY);
    expect(rondo_event_status(s.middle), RONDO_NOT_READY);
    expect(rondo_span_status(rondo_whole(s.x)), RONDO_TAINTED);
    expect(rondo_span_status(rondo_whole(s.y)), RONDO_TAINTED);
    OK(rondo_graph_replay(s.graph, s.stream));
    OK(rondo_event_status(s.start));
    OK(rondo_event_status(s.middle));
    assert_int_equal(read_even(s.stream, s.x), 12);
    assert_int_equal(read_even(s.stream, s.y), 21);
    close_scene(&s);
}

/* [R4] What fails later is work that failed: the events completed, and nodes that need nothing of it ran. */
static void work_that_fails_behind_the_first_node_leaves_the_events_completed(void **state) {
    (void)state;
    for (uint64_t nth = 2; nth <= 3; nth++) {
        scene s = open_scene();
        fail_submit(nth);
        OK(rondo_graph_replay(s.graph, s.stream));
        OK(rondo_event_status(s.start));
        OK(rondo_event_status(s.middle));
        expect(rondo_stream_sync(s.stream), RONDO_BACKEND);
        rondo_buffer good = nth == 2 ? s.y : s.x, bad = nth == 2 ? s.x : s.y;
        expect(rondo_span_status(rondo_whole(bad)), RONDO_TAINTED);
        assert_int_equal(read_even(s.stream, good), nth == 2 ? 21 : 12);
        close_scene(&s);
    }
}

/* [C24] A time that is taken from the leading event on holds the first node's work. */
static void a_leading_event_keeps_the_time_at_which_it_came(void **state) {
    (void)state;
    scene s = open_scene();
    uint64_t elapsed = 0;
    OK(rondo_graph_replay(s.graph, s.stream));
    OK(rondo_event_elapsed(s.start, s.middle, &elapsed));
    assert_int_not_equal(elapsed, 0);
    close_scene(&s);
}

/* [R1] [C24] */
static void one_node_behind_an_event_is_all_or_nothing(void **state) {
    (void)state;
    scene s = open_scene();
    rondo_graph *graph = NULL;
    rondo_event *event = NULL;
    OK(rondo_event_create(s.device, &event));
    OK(rondo_capture_prepare(s.stream));
    OK(rondo_capture_begin(s.stream));
    OK(rondo_event_record(s.stream, event, NULL));
    OK(launch_bump(s.stream, &s.k, s.x));
    OK(rondo_capture_end(s.stream, 0, &graph));
    fail_submit(1);
    expect(rondo_graph_replay(graph, s.stream), RONDO_BACKEND);
    expect(rondo_event_status(event), RONDO_NOT_READY);
    OK(rondo_graph_replay(graph, s.stream));
    OK(rondo_event_status(event));
    assert_int_equal(read_even(s.stream, s.x), 11);
    rondo_graph_release(graph);
    rondo_event_release(event);
    close_scene(&s);
}

/* [C24] */
static void a_graph_of_events_alone_completes_them(void **state) {
    (void)state;
    scene s = open_scene();
    rondo_graph *graph = NULL;
    rondo_event *event = NULL;
    OK(rondo_event_create(s.device, &event));
    OK(rondo_capture_prepare(s.stream));
    OK(rondo_capture_begin(s.stream));
    OK(rondo_event_record(s.stream, event, NULL));
    OK(rondo_event_wait(s.stream, event, NULL));
    OK(rondo_capture_end(s.stream, 0, &graph));
    expect(rondo_event_status(event), RONDO_NOT_READY);
    OK(rondo_graph_replay(graph, s.stream));
    OK(rondo_event_status(event));
    rondo_graph_release(graph);
    rondo_event_release(event);
    close_scene(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_before_work_that_cannot_be_enqueued_do_not_complete),
        cmocka_unit_test(work_that_fails_behind_the_first_node_leaves_the_events_completed),
        cmocka_unit_test(a_leading_event_keeps_the_time_at_which_it_came),
        cmocka_unit_test(one_node_behind_an_event_is_all_or_nothing),
        cmocka_unit_test(a_graph_of_events_alone_completes_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
