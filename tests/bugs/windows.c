/* Windows that go wrong, and calls that come at the wrong moment. */
#include <rondo/sim.h>

#include "capture_tools.h"

/* B01 [C1] [R5] */
static void calls_out_of_order_are_refused_one_by_one_and_harm_nothing(struct conform *t) {
    rondo_graph *graph = NULL;
    CHECK_CODE(rondo_graph_replay(graph, t->stream), RONDO_STALE);
    CHECK_CODE(rondo_capture_begin(t->stream), RONDO_STATE);
    CHECK_CODE(rondo_capture_end(t->stream, RONDO_END_DEFAULT, &graph), RONDO_STATE);
    CHECK(graph == NULL);
    CHECK_CODE(rondo_graph_replay(graph, t->stream), RONDO_STALE);
    rondo_graph_release(graph);
    rondo_buffer buffer = conform_buffer(t, 64);
    open_window(t->stream);
    CHECK_CODE(rondo_capture_prepare(t->stream), RONDO_STATE);
    CHECK_OK(fill_i32(t->stream, rondo_whole(buffer), 4, NULL));
    CHECK_OK(rondo_capture_end(t->stream, RONDO_END_DEFAULT, &graph));
    rondo_graph_release(graph);
    rondo_graph_release(graph);
    CHECK_CODE(rondo_graph_replay(graph, t->stream), RONDO_STALE);
    check_stream_works(t, t->stream);
}

static void check_next_window(struct conform *t, rondo_buffer buffer) {
    CHECK_EQUAL(rondo_capture_phase(t->stream), RONDO_PHASE_NONE);
    open_window(t->stream);
    CHECK_OK(fill_i32(t->stream, rondo_whole(buffer), 7, NULL));
    CHECK_OK(rondo_copy(t->stream, rondo_slice(buffer, 0, 32), rondo_slice(buffer, 32, 32), NULL));
    rondo_graph *graph = seal(t, t->stream);
    CHECK_EQUAL(graph_info(graph).nodes, 2);
    for (int i = 0; i < 3; i++) {
        conform_fill_i32(t, buffer, i);
        CHECK_OK(rondo_graph_replay(graph, t->stream));
        conform_expect_all_i32(t, buffer, 7, 16);
    }
}

/* B03 [C9] [C23] Refused at the close, in the ways in which that can happen on every backend. */
static void a_window_that_cannot_be_closed_leaves_the_stream_free_for_the_next(struct conform *t) {
    rondo_buffer buffer = conform_buffer(t, 64);
    conform_fill_i32(t, buffer, 1);
    open_window(t->stream);
    seal_refused(t->stream, RONDO_EMPTY);
    check_next_window(t, buffer);
    open_window(t->stream);
    CHECK_OK(fill_i32(t->stream, rondo_whole(buffer), 5, NULL));
    CHECK_CODE(fill_i32(t->stream, rondo_slice(buffer, 32, 64), 5, NULL), RONDO_RANGE);
    rondo_status doomed = seal_refused(t->stream, RONDO_DOOMED);
    expect_spoiled(rondo_whole(buffer), rondo_fault_root(doomed));
    conform_fill_i32(t, buffer, 1);
    check_next_window(t, buffer);
}

/* B03 [C9] [C12] The backend does not build the graph. */
static void a_window_whose_graph_is_not_built_leaves_the_stream_free_for_the_next(struct conform *t) {
    const rondo_sim_fault fault = {
        .call = RONDO_SIM_GRAPH_BUILD, .result = RONDO_BACKEND_NOT_RUN, .nth = 1, .count = 1};
    rondo_buffer buffer = conform_buffer(t, 64), other = conform_buffer(t, 64);
    conform_fill_i32(t, buffer, 1);
    conform_fill_i32(t, other, 3);
    open_window(t->stream);
    CHECK_OK(fill_i32(t->stream, rondo_whole(buffer), 5, NULL));
    CHECK(rondo_sim_fail(&fault));
    rondo_status refused = seal_refused(t->stream, RONDO_BACKEND);
    expect_spoiled(rondo_whole(buffer), refused);
    conform_expect_all_i32(t, other, 3, 16);
    check_next_window(t, buffer);
}

/* B07 [C8] [C12] [C13] Once by abort, once by releasing the stream that owns the window. */
static void a_caller_who_gives_up_in_a_window_leaves_the_stream_to_others(struct conform *t) {
    rondo_buffer good = conform_buffer(t, 64);
    for (int way = 0; way < 2; way++) {
        rondo_stream *owner = NULL;
        CHECK_OK(rondo_stream_create(t->device, &owner));
        conform_fill_i32(t, good, 3);
        open_window(owner);
        CHECK_OK(fill_i32(owner, rondo_whole(good), 4, "good"));
        rondo_status failed = CHECK_CODE(fill_i32(owner, rondo_slice(good, 32, 64), 4, "bad"), RONDO_RANGE);
        if (way == 0) CHECK_OK(rondo_capture_abort(owner));
        rondo_stream_release(owner);
        expect_spoiled(rondo_whole(good), failed);
        check_stream_works(t, t->stream);
    }
    conform_fill_i32(t, good, 5);
    conform_expect_all_i32(t, good, 5, 16);
}

/* B09 [P1] [T6] [T7] [T3] */
static void work_behind_failed_work_is_never_fine(struct conform *t) {
    rondo_buffer a = conform_buffer(t, 64), b = conform_buffer(t, 64), c = conform_buffer(t, 64);
    rondo_buffer all[] = {a, b, c};
    for (size_t i = 0; i < COUNT_OF(all); i++) conform_fill_i32(t, all[i], 1);
    spoil(t->stream, rondo_whole(a), "the load that fails");
    CHECK_CODE(rondo_copy(t->stream, rondo_whole(b), rondo_whole(a), "second"), RONDO_TAINTED);
    CHECK_CODE(rondo_copy(t->stream, rondo_whole(c), rondo_whole(b), "third"), RONDO_TAINTED);
    rondo_status status = CHECK_CODE(conform_try_read(t->stream, rondo_whole(c)), RONDO_TAINTED);
    CHECK_SAYS(status, "the load that fails");
    CHECK_SAYS(status, "second");
    CHECK_SAYS(status, "third");
    conform_fill_i32(t, c, 9);
    conform_expect_all_i32(t, c, 9, 16);
    CHECK_CODE(conform_try_read(t->stream, rondo_whole(b)), RONDO_TAINTED);
    CHECK_CODE(conform_try_read(t->stream, rondo_whole(a)), RONDO_TAINTED);
}

/* B33 [C3] [C16] [C24] There are no forks: another stream's work is not of the window, runs at once, and the window
 * can neither wait for it nor be waited for. */
static void work_on_another_stream_is_no_part_of_a_window_and_cannot_pretend_to_be(struct conform *t) {
    rondo_stream *side = conform_stranger(t, t->stream);
    rondo_buffer mine = conform_buffer(t, 64), beside = conform_buffer_on(t, side, 64);
    rondo_event *fork = conform_event(t), *join = conform_event(t);
    conform_fill_i32(t, mine, 1);
    open_window(t->stream);
    CHECK_OK(fill_i32(t->stream, rondo_whole(mine), 2, NULL));
    CHECK_OK(rondo_event_record(t->stream, fork, NULL));
    CHECK_CODE(rondo_event_wait(side, fork, "fork"), RONDO_NOT_READY);
    CHECK_OK(fill_i32(side, rondo_whole(beside), 3, NULL));
    CHECK_EQUAL(read_last_i32(side, beside, 64), 3);
    CHECK_EQUAL(read_last_i32(side, mine, 64), 1);
    CHECK_EQUAL(window_info(t->stream).ops, 2);
    CHECK_EQUAL(window_info(t->stream).doomed_by, RONDO_OK);
    CHECK_OK(rondo_event_record(side, join, NULL));
    rondo_status refused = CHECK_CODE(rondo_event_wait(t->stream, join, "join"), RONDO_STATE);
    CHECK_SAYS(refused, "join");
    seal_refused(t->stream, RONDO_DOOMED);
    CHECK_EQUAL(read_last_i32(side, beside, 64), 3);
}

/* B35 [C24] [W3] What the wait was for comes by itself: a replay is ordered against other streams by its bytes. */
static void a_wait_for_what_happened_before_the_window_is_refused_at_the_call(struct conform *t) {
    rondo_stream *side = conform_stranger(t, t->stream);
    rondo_buffer source = conform_buffer_on(t, side, 64), target = conform_buffer(t, 64);
    rondo_event *before = conform_event(t);
    CHECK_OK(fill_i32(side, rondo_whole(source), 5, NULL));
    CHECK_OK(rondo_event_record(side, before, NULL));
    open_window(t->stream);
    CHECK_CODE(rondo_event_wait(t->stream, before, "outside"), RONDO_STATE);
    CHECK_OK(rondo_copy(t->stream, rondo_whole(target), rondo_whole(source), NULL));
    CHECK_SAYS(seal_refused(t->stream, RONDO_DOOMED), "outside");
    open_window(t->stream);
    CHECK_OK(rondo_copy(t->stream, rondo_whole(target), rondo_whole(source), NULL));
    rondo_graph *graph = seal(t, t->stream);
    for (int32_t i = 0; i < 20; i++) {
        CHECK_OK(fill_i32(side, rondo_whole(source), i, NULL));
        CHECK_OK(rondo_graph_replay(graph, t->stream));
        conform_expect_all_i32(t, target, i, 16);
    }
}

static rondo_graph *record_fill(struct conform *t, rondo_buffer buffer, int32_t value) {
    open_window(t->stream);
    CHECK_OK(fill_i32(t->stream, rondo_whole(buffer), value, "only node"));
    return seal(t, t->stream);
}

/* B53 [R9] */
static void an_update_that_cannot_be_is_refused_once_and_the_graph_goes_on(struct conform *t) {
    rondo_buffer buffer = conform_buffer(t, 64);
    int32_t nine = 9;
    rondo_graph *graph = record_fill(t, buffer, 4);
    const rondo_update kind = rondo_update_value(0, "pattern", &nine, sizeof nine);
    rondo_status refused = CHECK_CODE(rondo_graph_update(graph, &kind, 1), RONDO_INVALID);
    CHECK_EQUAL(conform_fault(refused).op_index, 0);
    CHECK_SAYS(refused, "only node");
    const rondo_update topology = rondo_update_value(1, "pattern", &nine, sizeof nine);
    CHECK_CODE(rondo_graph_update(graph, &topology, 1), RONDO_RANGE);
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    conform_expect_all_i32(t, buffer, 4, 16);
    CHECK_OK(rondo_graph_replay(record_fill(t, buffer, nine), t->stream));
    conform_expect_all_i32(t, buffer, 9, 16);
}

/* B61 [C23] [O1] All work went to another device's stream. */
static void a_window_whose_work_went_elsewhere_says_that_it_is_empty(struct conform *t) {
    rondo_device *device = NULL;
    rondo_stream *stream = NULL;
    rondo_buffer buffer = RONDO_NO_BUFFER;
    rondo_graph *graph = NULL;
    CHECK_OK(rondo_device_open(t->backend, NULL, &device));
    CHECK_OK(rondo_stream_create(device, &stream));
    CHECK_OK(rondo_buffer_create(stream, 64, RONDO_USAGE_GENERAL, &buffer));
    open_window(t->stream);
    CHECK_OK(fill_i32(stream, rondo_whole(buffer), 3, NULL));
    CHECK_EQUAL(window_info(t->stream).ops, 0);
    seal_refused(t->stream, RONDO_EMPTY);
    CHECK_EQUAL(read_last_i32(stream, buffer, 64), 3);
    open_window(t->stream);
    CHECK_OK(rondo_capture_end(t->stream, RONDO_END_ALLOW_EMPTY, &graph));
    CHECK_EQUAL(graph_info(graph).nodes, 0);
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    rondo_graph_release(graph);
    rondo_buffer_release(buffer);
    rondo_stream_release(stream);
    rondo_device_release(device);
}

/* B99 [C22] The caches of compiled kernels have no say: a kernel is compiled when it is made, in a window as well. */
static void a_kernel_may_be_used_and_even_made_for_the_first_time_in_a_window(struct conform *t) {
    rondo_buffer buffer = conform_buffer(t, 64), copy = conform_buffer(t, 64);
    (void)conform_kernel(t, KERNEL_IOTA);
    open_window(t->stream);
    CHECK_OK(conform_launch_iota(t, t->stream, rondo_whole(buffer), 5, 16, "made before"));
    CHECK_OK(conform_launch_copy(t, t->stream, rondo_whole(copy), rondo_whole(buffer), 16, "made here"));
    rondo_graph *graph = seal(t, t->stream);
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    for (int32_t i = 0; i < 16; i++) CHECK_EQUAL(conform_read_i32(t, copy, (size_t)i), 5 + i);
}

extern const struct conform_case bugs_windows_cases[];
const struct conform_case bugs_windows_cases[] = {
    CONFORM_CASE(calls_out_of_order_are_refused_one_by_one_and_harm_nothing, NEEDS_NOTHING),
    CONFORM_CASE(a_window_that_cannot_be_closed_leaves_the_stream_free_for_the_next, NEEDS_NOTHING),
    CONFORM_CASE(a_window_whose_graph_is_not_built_leaves_the_stream_free_for_the_next, NEEDS_FAULTS),
    CONFORM_CASE_ON(a_caller_who_gives_up_in_a_window_leaves_the_stream_to_others, NEEDS_NOTHING, &ONE_QUEUE),
    CONFORM_CASE(work_behind_failed_work_is_never_fine, NEEDS_NOTHING),
    CONFORM_CASE(work_on_another_stream_is_no_part_of_a_window_and_cannot_pretend_to_be, NEEDS_NOTHING),
    CONFORM_CASE(a_wait_for_what_happened_before_the_window_is_refused_at_the_call, NEEDS_NOTHING),
    CONFORM_CASE(an_update_that_cannot_be_is_refused_once_and_the_graph_goes_on, NEEDS_NOTHING),
    CONFORM_CASE(a_window_whose_work_went_elsewhere_says_that_it_is_empty, NEEDS_NOTHING),
    CONFORM_CASE(a_kernel_may_be_used_and_even_made_for_the_first_time_in_a_window, NEEDS_KERNELS),
    CONFORM_END,
};
