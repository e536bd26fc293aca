/* Devices that are lost and work that is aborted: on backends that can be told to. */
#include <rondo/sim.h>

#include "capture_tools.h"

/* B89 [P1] [P4] [E3] From the loss on every call that needs the device says so; releases and the close do not mind. */
static void a_lost_device_says_so_until_it_is_opened_anew(struct conform *t) {
    const rondo_sim_fault loss = {.call = RONDO_SIM_ANY, .result = RONDO_BACKEND_DEVICE_LOST, .nth = 1};
    rondo_buffer state = RONDO_NO_BUFFER, other = conform_buffer(t, 64);
    CHECK_OK(rondo_buffer_create(t->stream, 64, RONDO_USAGE_GENERAL, &state));
    conform_fill_i32(t, state, 0);
    conform_fill_i32(t, other, 3);
    open_window(t->stream);
    CHECK_OK(add_in_place(t->stream, rondo_whole(state), NULL, NULL));
    rondo_graph *graph = seal(t, t->stream);
    for (int i = 0; i < 3; i++) CHECK_OK(rondo_graph_replay(graph, t->stream));
    CHECK(rondo_sim_fail(&loss));
    for (int i = 0; i < 3; i++) {
        CHECK_CODE(rondo_graph_replay(graph, t->stream), RONDO_LOST);
        CHECK_CODE(fill_i32(t->stream, rondo_slice(other, 0, 16), 4, NULL), RONDO_LOST);
        rondo_status status = CHECK_CODE(conform_try_read(t->stream, rondo_whole(state)), RONDO_TAINTED);
        CHECK_EQUAL(rondo_status_code(rondo_fault_root(status)), RONDO_LOST);
        CHECK(conform_try_read(t->stream, rondo_slice(other, 16, 48)) != RONDO_OK);
    }
    rondo_buffer_release(state);
    rondo_graph_release(graph);
    rondo_sim_reset();
    rondo_device *again = NULL;
    rondo_stream *stream = NULL;
    CHECK_OK(rondo_device_open(t->backend, NULL, &again));
    CHECK_OK(rondo_stream_create(again, &stream));
    CHECK_OK(rondo_buffer_create(stream, 64, RONDO_USAGE_GENERAL, &state));
    CHECK_OK(fill_i32(stream, rondo_whole(state), 8, NULL));
    CHECK_EQUAL(read_last_i32(stream, state, 64), 8);
    rondo_buffer_release(state);
    rondo_stream_release(stream);
    rondo_device_release(again);
}

static rondo_status upload(struct conform *t, rondo_buffer buffer, int32_t value) {
    int32_t words[16];
    for (size_t i = 0; i < COUNT_OF(words); i++) words[i] = value;
    return rondo_write(t->stream, rondo_whole(buffer), words, "upload");
}

/* B91 [P1] [W7] [T3] The device gives up the upload before it runs, or says afterwards that it did not work. */
static void an_upload_that_was_aborted_does_not_count_as_done(struct conform *t) {
    const rondo_backend_result ways[] = {RONDO_BACKEND_NOT_RUN, RONDO_BACKEND_FAILED};
    rondo_buffer source = conform_buffer(t, 64), target = conform_buffer(t, 64);
    for (size_t i = 0; i < COUNT_OF(ways); i++) {
        const rondo_sim_fault abort = {
            .call = RONDO_SIM_SUBMIT, .result = ways[i], .nth = 1, .count = 1, .reason = 3};
        rondo_code code = ways[i] == RONDO_BACKEND_FAILED ? RONDO_KERNEL : RONDO_BACKEND;
        CHECK_OK(upload(t, source, 1));
        conform_fill_i32(t, target, 1);
        CHECK(rondo_sim_fail(&abort));
        CHECK_EQUAL(upload(t, source, 2) == RONDO_OK, code == RONDO_KERNEL);
        CHECK_CODE(rondo_copy(t->stream, rondo_whole(target), rondo_whole(source), NULL), RONDO_TAINTED);
        expect_spoiled_by(rondo_whole(source), code);
        expect_spoiled_by(rondo_whole(target), code);
        CHECK_CODE(conform_try_read(t->stream, rondo_whole(target)), RONDO_TAINTED);
        CHECK_OK(upload(t, source, 3));
        CHECK_OK(rondo_copy(t->stream, rondo_whole(target), rondo_whole(source), NULL));
        conform_expect_all_i32(t, target, 3, 16);
    }
    if (rondo_stream_sync(t->stream) == RONDO_OK) fail_msg("sync kept quiet about an aborted upload");
}

/* B91 [R4] [P1] The same for an upload that is a node, and for what the graph does with it. */
static void an_upload_that_was_aborted_in_a_replay_does_not_count_as_done(struct conform *t) {
    const rondo_sim_fault abort = {
        .call = RONDO_SIM_GRAPH_SUBMIT, .result = RONDO_BACKEND_FAILED, .nth = 1, .count = 1, .reason = 3};
    rondo_buffer source = conform_buffer(t, 64), target = conform_buffer(t, 64);
    CHECK_OK(rondo_capture_prepare(t->stream));
    CHECK_OK(upload(t, source, 1));
    CHECK_OK(rondo_capture_begin(t->stream));
    CHECK_OK(upload(t, source, 2));
    CHECK_OK(rondo_copy(t->stream, rondo_whole(target), rondo_whole(source), NULL));
    rondo_graph *graph = seal(t, t->stream);
    CHECK(rondo_sim_fail(&abort));
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    expect_spoiled_by(rondo_whole(source), RONDO_KERNEL);
    expect_spoiled_by(rondo_whole(target), RONDO_KERNEL);
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    conform_expect_all_i32(t, target, 2, 16);
    CHECK_CODE(rondo_stream_sync(t->stream), RONDO_KERNEL);
}

extern const struct conform_case bugs_loss_cases[];
const struct conform_case bugs_loss_cases[] = {
    CONFORM_CASE(a_lost_device_says_so_until_it_is_opened_anew, NEEDS_FAULTS),
    CONFORM_CASE(an_upload_that_was_aborted_does_not_count_as_done, NEEDS_FAULTS),
    CONFORM_CASE(an_upload_that_was_aborted_in_a_replay_does_not_count_as_done, NEEDS_FAULTS),
    CONFORM_END,
};
