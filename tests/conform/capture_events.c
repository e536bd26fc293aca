/* Events in windows: nodes that complete at each replay. */
#include "capture_tools.h"

/* [C24] */
static void an_event_of_a_window_completes_at_each_replay(struct conform *t) {
    rondo_event *event = conform_event(t);
    CHECK_CODE(rondo_event_status(event), RONDO_STATE);
    open_window(t->stream);
    CHECK_OK(rondo_event_record(t->stream, event, "mark"));
    rondo_graph *graph = seal(t, t->stream);
    CHECK_EQUAL(graph_info(graph).nodes, 1);
    CHECK_CODE(rondo_event_status(event), RONDO_NOT_READY);
    CHECK_CODE(rondo_event_sync(event), RONDO_NOT_READY);
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    CHECK_OK(rondo_event_sync(event));
    CHECK_OK(rondo_event_status(event));
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    CHECK_OK(rondo_event_sync(event));
}

/* [C24] An event that had completed before is open again once a window records it. */
static void a_completed_event_that_a_window_records_waits_for_its_replay(struct conform *t) {
    rondo_event *event = conform_event(t);
    CHECK_OK(rondo_event_record(t->stream, event, NULL));
    CHECK_OK(rondo_event_sync(event));
    open_window(t->stream);
    CHECK_OK(rondo_event_record(t->stream, event, NULL));
    rondo_graph *graph = seal(t, t->stream);
    CHECK_CODE(rondo_event_status(event), RONDO_NOT_READY);
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    CHECK_OK(rondo_event_sync(event));
}

/* [C24] Timing marks inside a graph: nothing before the first replay, then always the latest one. */
static void the_time_between_two_events_of_a_graph_is_that_of_its_latest_replay(struct conform *t) {
    rondo_event *start = conform_event(t), *end = conform_event(t);
    rondo_buffer buffer = conform_buffer(t, 1 << 20);
    uint64_t first_ns = 0, elapsed_ns = 0;
    open_window(t->stream);
    CHECK_OK(rondo_event_record(t->stream, start, NULL));
    for (int i = 0; i < 20; i++) CHECK_OK(fill_i32(t->stream, rondo_whole(buffer), i, NULL));
    CHECK_OK(rondo_event_record(t->stream, end, NULL));
    rondo_graph *graph = seal(t, t->stream);
    CHECK_CODE(rondo_event_elapsed(start, end, &elapsed_ns), RONDO_NOT_READY);
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    CHECK_OK(rondo_stream_sync(t->stream));
    CHECK_OK(rondo_event_elapsed(start, end, &first_ns));
    for (int i = 0; i < 3; i++) CHECK_OK(rondo_graph_replay(graph, t->stream));
    CHECK_OK(rondo_stream_sync(t->stream));
    CHECK_OK(rondo_event_elapsed(start, end, &elapsed_ns));
    CHECK(first_ns > 0 && elapsed_ns > 0);
}

/* [C24] */
static void a_wait_for_an_event_of_the_same_window_is_recorded(struct conform *t) {
    rondo_event *event = conform_event(t);
    rondo_buffer buffer = conform_buffer(t, 64);
    open_window(t->stream);
    CHECK_OK(fill_i32(t->stream, rondo_whole(buffer), 4, NULL));
    CHECK_OK(rondo_event_record(t->stream, event, NULL));
    CHECK_OK(rondo_event_wait(t->stream, event, "waits"));
    rondo_graph *graph = seal(t, t->stream);
    rondo_node_info node;
    CHECK_OK(rondo_graph_get_node(graph, 1, &node));
    CHECK_EQUAL(node.kind, RONDO_NODE_EVENT_RECORD);
    CHECK_OK(rondo_graph_get_node(graph, 2, &node));
    CHECK_EQUAL(node.kind, RONDO_NODE_EVENT_WAIT);
    CHECK(strcmp(node.label, "waits") == 0);
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    conform_expect_all_i32(t, buffer, 4, 16);
}

/* [C24] An event of another stream's open window is not of this window. */
static void a_wait_for_an_event_of_another_window_dooms(struct conform *t) {
    rondo_stream *stranger = conform_stranger(t, t->stream);
    rondo_event *event = conform_event(t);
    rondo_buffer buffer = conform_buffer(t, 64);
    open_window(stranger);
    CHECK_OK(rondo_event_record(stranger, event, NULL));
    open_window(t->stream);
    CHECK_OK(fill_i32(t->stream, rondo_whole(buffer), 4, NULL));
    CHECK_CODE(rondo_event_wait(t->stream, event, "waits"), RONDO_STATE);
    CHECK_SAYS(seal_refused(t->stream, RONDO_DOOMED), "waits");
    CHECK_EQUAL(graph_info(seal(t, stranger)).nodes, 1);
}

/* [C24] The event was of an earlier window of the same stream, sealed and even replayed: it is not of this one. */
static void a_wait_for_an_event_of_an_earlier_window_dooms(struct conform *t) {
    rondo_event *event = conform_event(t);
    open_window(t->stream);
    CHECK_OK(rondo_event_record(t->stream, event, NULL));
    CHECK_OK(rondo_graph_replay(seal(t, t->stream), t->stream));
    CHECK_OK(rondo_event_wait(t->stream, event, NULL));
    open_window(t->stream);
    CHECK_CODE(rondo_event_wait(t->stream, event, NULL), RONDO_STATE);
    seal_refused(t->stream, RONDO_DOOMED);
}

/* [C24] Outside, an event that was recorded is a fine thing to wait for; before, there is nothing to wait for. */
static void outside_a_window_only_a_recorded_event_can_be_waited_for(struct conform *t) {
    rondo_stream *stranger = conform_stranger(t, t->stream);
    rondo_event *event = conform_event(t);
    CHECK_CODE(rondo_event_wait(stranger, event, NULL), RONDO_STATE);
    CHECK_OK(rondo_event_record(t->stream, event, NULL));
    CHECK_OK(rondo_event_wait(stranger, event, NULL));
    check_stream_works(t, stranger);
}

/* [C24] [P4] To wait for it would be for ever; to go on at once, as if it had happened, would be worse. */
static void an_event_that_only_a_replay_can_complete_cannot_be_waited_for(struct conform *t) {
    rondo_stream *stranger = conform_stranger(t, t->stream);
    rondo_event *event = conform_event(t);
    CHECK_OK(rondo_event_record(t->stream, event, NULL));
    open_window(t->stream);
    CHECK_OK(rondo_event_record(t->stream, event, NULL));
    CHECK_CODE(rondo_event_wait(stranger, event, NULL), RONDO_NOT_READY);
    rondo_graph *graph = seal(t, t->stream);
    CHECK_CODE(rondo_event_wait(stranger, event, NULL), RONDO_NOT_READY);
    CHECK_CODE(rondo_event_wait(t->stream, event, NULL), RONDO_NOT_READY);
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    CHECK_OK(rondo_event_wait(stranger, event, NULL));
    CHECK_OK(rondo_event_record(t->stream, event, NULL));
    CHECK_OK(rondo_event_wait(stranger, event, NULL));
}

/* [C24, P3] The graph holds the event when its user let it go. */
static void a_released_event_stays_with_the_graph_that_marks_it(struct conform *t) {
    rondo_event *event = NULL;
    CHECK_OK(rondo_event_create(t->device, &event));
    open_window(t->stream);
    CHECK_OK(rondo_event_record(t->stream, event, NULL));
    CHECK_OK(rondo_event_wait(t->stream, event, NULL));
    rondo_graph *graph = seal(t, t->stream);
    rondo_event_release(event);
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    CHECK_EQUAL(conform_stats(t).events, 1);
    rondo_graph_release(graph);
    CHECK_EQUAL(conform_stats(t).events, 0);
    CHECK_CODE(rondo_event_status(event), RONDO_STALE);
}

/* [C24, C15] A lost window never recorded the event. */
static void an_event_of_a_lost_window_does_not_complete(struct conform *t) {
    rondo_event *event = conform_event(t);
    open_window(t->stream);
    CHECK_OK(rondo_event_record(t->stream, event, NULL));
    CHECK_OK(rondo_capture_abort(t->stream));
    CHECK(rondo_event_status(event) != RONDO_OK);
    CHECK_OK(rondo_event_record(t->stream, event, NULL));
    CHECK_OK(rondo_event_sync(event));
}

const struct conform_case conform_capture_events_cases[] = {
    CONFORM_CASE(an_event_of_a_window_completes_at_each_replay, NEEDS_NOTHING),
    CONFORM_CASE(a_completed_event_that_a_window_records_waits_for_its_replay, NEEDS_NOTHING),
    CONFORM_CASE(the_time_between_two_events_of_a_graph_is_that_of_its_latest_replay, NEEDS_NOTHING),
    CONFORM_CASE(a_wait_for_an_event_of_the_same_window_is_recorded, NEEDS_NOTHING),
    CONFORM_CASE(a_wait_for_an_event_of_another_window_dooms, NEEDS_NOTHING),
    CONFORM_CASE(a_wait_for_an_event_of_an_earlier_window_dooms, NEEDS_NOTHING),
    CONFORM_CASE(outside_a_window_only_a_recorded_event_can_be_waited_for, NEEDS_NOTHING),
    CONFORM_CASE(an_event_that_only_a_replay_can_complete_cannot_be_waited_for, NEEDS_NOTHING),
    CONFORM_CASE(a_released_event_stays_with_the_graph_that_marks_it, NEEDS_NOTHING),
    CONFORM_CASE(an_event_of_a_lost_window_does_not_complete, NEEDS_NOTHING),
    CONFORM_END,
};
