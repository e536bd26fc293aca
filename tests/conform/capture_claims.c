/* Windows and claims: a recording is invisible until it closes, and what it then claims is exactly what it would have
 * written. */
#include "capture_tools.h"

/* [C15] */
static void a_reader_on_another_queue_sees_the_old_bytes_during_a_window(struct conform *t) {
    rondo_stream *stranger = conform_stranger(t, t->stream);
    rondo_buffer a = conform_buffer(t, 64), b = conform_buffer(t, 64);
    int32_t values[16];
    conform_fill_i32(t, a, 1);
    open_window(t->stream);
    CHECK_OK(fill_i32(t->stream, rondo_whole(a), 2, NULL));
    CHECK_OK(rondo_span_status(rondo_whole(a)));
    CHECK_OK(rondo_read(stranger, rondo_whole(a), values, NULL));
    CHECK_EQUAL(values[7], 1);
    CHECK_OK(rondo_copy(stranger, rondo_whole(b), rondo_whole(a), NULL));
    CHECK_OK(fill_i32(stranger, rondo_whole(a), 3, NULL));
    rondo_graph *graph = seal(t, t->stream);
    conform_expect_all_i32(t, a, 3, 16);
    conform_expect_all_i32(t, b, 1, 16);
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    conform_expect_all_i32(t, a, 2, 16);
}

/* [C15] */
static void a_recorded_write_heals_nothing_until_it_is_replayed(struct conform *t) {
    rondo_buffer buffer = conform_buffer(t, 64);
    spoil(t->stream, rondo_whole(buffer), "spoiler");
    rondo_status spoiled = rondo_fault_root(rondo_span_status(rondo_whole(buffer)));
    open_window(t->stream);
    CHECK_OK(fill_i32(t->stream, rondo_whole(buffer), 2, NULL));
    expect_spoiled(rondo_whole(buffer), spoiled);
    rondo_graph *graph = seal(t, t->stream);
    expect_spoiled(rondo_whole(buffer), spoiled);
    CHECK_CODE(conform_try_read(t->stream, rondo_whole(buffer)), RONDO_TAINTED);
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    conform_expect_all_i32(t, buffer, 2, 16);
}

/* [C15] */
static void a_spoiled_input_that_the_window_wrote_earlier_is_good(struct conform *t) {
    rondo_buffer a = conform_buffer(t, 64), b = conform_buffer(t, 64);
    spoil(t->stream, rondo_whole(a), "spoiler");
    open_window(t->stream);
    CHECK_OK(fill_i32(t->stream, rondo_slice(a, 0, 32), 2, NULL));
    CHECK_OK(fill_i32(t->stream, rondo_slice(a, 32, 32), 2, NULL));
    CHECK_OK(rondo_copy(t->stream, rondo_whole(b), rondo_whole(a), NULL));
    CHECK_OK(rondo_graph_replay(seal(t, t->stream), t->stream));
    conform_expect_all_i32(t, b, 2, 16);
}

/* [C15] One byte is enough. */
static void a_spoiled_byte_that_the_window_did_not_write_skips_and_dooms(struct conform *t) {
    rondo_buffer a = conform_buffer(t, 64), b = conform_buffer(t, 64);
    conform_fill_i32(t, b, 1);
    spoil(t->stream, rondo_whole(a), "spoiler");
    rondo_status spoiled = rondo_fault_root(rondo_span_status(rondo_whole(a)));
    open_window(t->stream);
    CHECK_OK(rondo_fill(t->stream, rondo_slice(a, 0, 63), "\2", 1, NULL));
    rondo_status skipped = CHECK_CODE(rondo_copy(t->stream, rondo_whole(b), rondo_whole(a), "reader"), RONDO_TAINTED);
    CHECK(rondo_fault_root(skipped) == spoiled);
    rondo_status doomed = seal_refused(t->stream, RONDO_DOOMED);
    CHECK(rondo_fault_root(doomed) == spoiled);
    expect_spoiled(rondo_whole(b), spoiled);
}

/* [C15] Its neighbour: the spoiled byte is not among those that are read. */
static void a_spoiled_byte_beside_the_input_dooms_nothing(struct conform *t) {
    rondo_buffer a = conform_buffer(t, 64), b = conform_buffer(t, 64);
    conform_fill_i32(t, a, 6);
    spoil(t->stream, rondo_slice(a, 32, 1), "spoiler");
    open_window(t->stream);
    CHECK_OK(rondo_copy(t->stream, rondo_slice(b, 0, 32), rondo_slice(a, 0, 32), NULL));
    CHECK_OK(rondo_copy(t->stream, rondo_slice(b, 32, 31), rondo_slice(a, 33, 31), NULL));
    CHECK_OK(rondo_graph_replay(seal(t, t->stream), t->stream));
    CHECK_OK(rondo_span_status(rondo_slice(b, 0, 63)));
    CHECK_EQUAL(conform_read_i32(t, b, 7), 6);
}

/* [C15] An input that the window reads first and writes later is still an input of the replay. */
static void a_spoiled_input_that_the_window_writes_only_later_dooms(struct conform *t) {
    rondo_buffer a = conform_buffer(t, 64), b = conform_buffer(t, 64);
    spoil(t->stream, rondo_whole(a), "spoiler");
    open_window(t->stream);
    CHECK_CODE(rondo_copy(t->stream, rondo_whole(b), rondo_whole(a), NULL), RONDO_TAINTED);
    CHECK_OK(fill_i32(t->stream, rondo_whole(a), 2, NULL));
    seal_refused(t->stream, RONDO_DOOMED);
}

/* [C15] In-place work reads what it writes. */
static void in_place_work_on_spoiled_bytes_dooms(struct conform *t) {
    rondo_buffer a = conform_buffer(t, 64);
    spoil(t->stream, rondo_whole(a), "spoiler");
    open_window(t->stream);
    CHECK_CODE(add_in_place(t->stream, rondo_whole(a), NULL, NULL), RONDO_TAINTED);
    seal_refused(t->stream, RONDO_DOOMED);
}

/* [C4] */
static void two_slices_of_one_buffer_are_two_claims(struct conform *t) {
    rondo_buffer a = conform_buffer(t, 96);
    conform_fill_i32(t, a, 1);
    open_window(t->stream);
    for (int i = 0; i < 5; i++) {
        CHECK_OK(fill_i32(t->stream, rondo_slice(a, 0, 32), i, NULL));
        CHECK_OK(fill_i32(t->stream, rondo_slice(a, 64, 32), i, NULL));
    }
    CHECK_OK(rondo_capture_abort(t->stream));
    expect_spoiled_by(rondo_slice(a, 0, 32), RONDO_ABORTED);
    expect_spoiled_by(rondo_slice(a, 64, 32), RONDO_ABORTED);
    CHECK_OK(rondo_span_status(rondo_slice(a, 32, 32)));
    expect_spoiled_by(rondo_slice(a, 31, 1), RONDO_ABORTED);
    expect_spoiled_by(rondo_slice(a, 95, 1), RONDO_ABORTED);
    CHECK_OK(fill_i32(t->stream, rondo_slice(a, 0, 32), 1, NULL));
    CHECK_OK(rondo_span_status(rondo_slice(a, 0, 64)));
    expect_spoiled_by(rondo_slice(a, 64, 1), RONDO_ABORTED);
}

/* [C4, W1] Rows are claimed, the gaps between them are not. */
static void a_window_claims_the_rows_of_a_rectangle_and_not_its_gaps(struct conform *t) {
    rondo_buffer a = conform_buffer(t, 64), b = conform_buffer(t, 64);
    conform_fill_i32(t, a, 1);
    conform_fill_i32(t, b, 1);
    open_window(t->stream);
    CHECK_OK(rondo_copy_2d(t->stream, (rondo_rect){rondo_whole(a), 16}, (rondo_rect){rondo_whole(b), 16}, 8, 4, NULL));
    CHECK_OK(rondo_capture_abort(t->stream));
    for (uint64_t row = 0; row < 4; row++) {
        expect_spoiled_by(rondo_slice(a, row * 16, 8), RONDO_ABORTED);
        CHECK_OK(rondo_span_status(rondo_slice(a, row * 16 + 8, 8)));
    }
    CHECK_OK(rondo_span_status(rondo_whole(b)));
}

/* [C4] What nobody holds any more when the window closes needs no claim, and no failure stays carried for it. */
static void released_buffers_of_a_lost_window_carry_nothing(struct conform *t) {
    rondo_buffer gone = conform_buffer(t, 64);
    conform_fill_i32(t, gone, 1);
    open_window(t->stream);
    CHECK_OK(fill_i32(t->stream, rondo_whole(gone), 2, NULL));
    rondo_buffer_release(gone);
    CHECK_OK(rondo_capture_abort(t->stream));
    CHECK_EQUAL(rondo_fault_live_count(), 0);
    CHECK_EQUAL(conform_stats(t).tainted_allocations, 0);
    CHECK_CODE(rondo_span_status(rondo_whole(gone)), RONDO_STALE);
    rondo_buffer next = conform_buffer(t, 64);
    CHECK_OK(conform_try_read(t->stream, rondo_whole(next)));
}

/* [C4, C9] All carriers of one lost window carry one failure. */
static void a_lost_window_mints_one_failure_for_all_it_claims(struct conform *t) {
    rondo_buffer buffers[20];
    for (size_t i = 0; i < COUNT_OF(buffers); i++) buffers[i] = conform_buffer(t, 64);
    open_window(t->stream);
    for (size_t i = 0; i < COUNT_OF(buffers); i++) CHECK_OK(fill_i32(t->stream, rondo_whole(buffers[i]), 1, NULL));
    CHECK_OK(rondo_capture_abort(t->stream));
    CHECK_EQUAL(rondo_fault_live_count(), 1);
    rondo_status root = rondo_fault_root(rondo_span_status(rondo_whole(buffers[0])));
    CHECK_EQUAL(conform_fault(root).carriers, COUNT_OF(buffers));
    for (size_t i = 0; i < COUNT_OF(buffers); i++) expect_spoiled(rondo_whole(buffers[i]), root);
    for (size_t i = 0; i < COUNT_OF(buffers); i++) conform_fill_i32(t, buffers[i], 1);
    conform_settle(t);
    CHECK_EQUAL(rondo_fault_live_count(), 0);
}

/* [C4] Work outside a window is not remembered for a graph that may come later. */
static void work_before_the_window_is_not_in_the_graph(struct conform *t) {
    rondo_buffer before = conform_buffer(t, 64), warm = conform_buffer(t, 64), kept = conform_buffer(t, 64);
    conform_fill_i32(t, before, 1);
    CHECK_OK(rondo_capture_prepare(t->stream));
    CHECK_OK(fill_i32(t->stream, rondo_whole(warm), 1, NULL));
    CHECK_OK(rondo_capture_begin(t->stream));
    CHECK_OK(fill_i32(t->stream, rondo_whole(kept), 1, NULL));
    rondo_graph *graph = seal(t, t->stream);
    CHECK_EQUAL(graph_info(graph).nodes, 1);
    CHECK_EQUAL(graph_info(graph).written_bytes, 64);
    conform_fill_i32(t, before, 9);
    conform_fill_i32(t, warm, 9);
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    conform_expect_all_i32(t, before, 9, 16);
    conform_expect_all_i32(t, warm, 9, 16);
    conform_expect_all_i32(t, kept, 1, 16);
}

/* [C15] */
static void a_seal_leaves_every_claim_as_it_was(struct conform *t) {
    rondo_buffer good = conform_buffer(t, 64), bad = conform_buffer(t, 64);
    conform_fill_i32(t, good, 1);
    spoil(t->stream, rondo_slice(bad, 0, 16), "spoiler");
    open_window(t->stream);
    CHECK_OK(fill_i32(t->stream, rondo_whole(good), 2, NULL));
    CHECK_OK(fill_i32(t->stream, rondo_whole(bad), 2, NULL));
    seal(t, t->stream);
    conform_expect_all_i32(t, good, 1, 16);
    CHECK_CODE(rondo_span_status(rondo_slice(bad, 0, 16)), RONDO_TAINTED);
    CHECK_OK(rondo_span_status(rondo_slice(bad, 16, 48)));
}

/* A temporary and a live buffer that takes its place: the room of the warm-up is one page of its own, so the second
 * allocation of the window lies where the first one was. */
static const rondo_device_desc OWN_PAGES = {
    .memory = {.small_page_bytes = 65536, .small_max_bytes = 1024, .page_min_bytes = 65536, .page_max_bytes = 65536}};

enum { BIG = 1 << 20 };

static rondo_buffer create_big(rondo_stream *stream) {
    rondo_buffer buffer = RONDO_NO_BUFFER;
    CHECK_OK(rondo_buffer_create(stream, BIG, RONDO_USAGE_GENERAL, &buffer));
    return buffer;
}

static void warm_up_two_in_turn(rondo_stream *stream) {
    CHECK_OK(rondo_capture_prepare(stream));
    rondo_buffer_release(create_big(stream));
    rondo_buffer_release(create_big(stream));
    CHECK_OK(rondo_capture_begin(stream));
}

static rondo_buffer live_over_a_temporary(struct conform *t, rondo_buffer result) {
    warm_up_two_in_turn(t->stream);
    rondo_buffer temporary = create_big(t->stream);
    CHECK_OK(fill_i32(t->stream, rondo_whole(temporary), 1, NULL));
    CHECK_OK(rondo_copy(t->stream, rondo_whole(result), rondo_slice(temporary, 0, 64), NULL));
    rondo_buffer_release(temporary);
    return conform_keep_buffer(t, create_big(t->stream));
}

/* [C5] A replay would overwrite the live buffer behind its user's back. */
static void a_live_buffer_over_a_temporary_refuses_the_seal_and_is_named(struct conform *t) {
    rondo_buffer result = conform_buffer(t, 64);
    conform_fill_i32(t, result, 5);
    rondo_buffer live = live_over_a_temporary(t, result);
    rondo_status status = seal_refused(t->stream, RONDO_OVERLAP);
    check_says_number(status, live.id);
    CHECK_CODE(rondo_span_status(rondo_whole(result)), RONDO_TAINTED);
    check_stream_works(t, t->stream);
}

/* [C5] */
static void a_live_buffer_over_a_temporary_that_is_written_in_part_refuses_the_seal(struct conform *t) {
    rondo_buffer result = conform_buffer(t, 64);
    rondo_buffer live = live_over_a_temporary(t, result);
    CHECK_OK(fill_i32(t->stream, rondo_slice(live, 0, BIG - 4), 2, NULL));
    check_says_number(seal_refused(t->stream, RONDO_OVERLAP), live.id);
}

/* [C5] */
static void a_live_buffer_over_a_temporary_that_is_written_whole_is_legal(struct conform *t) {
    rondo_buffer result = conform_buffer(t, 64);
    rondo_buffer live = live_over_a_temporary(t, result);
    CHECK_OK(fill_i32(t->stream, rondo_slice(live, 0, BIG / 2), 2, NULL));
    CHECK_OK(fill_i32(t->stream, rondo_slice(live, BIG / 2, BIG / 2), 2, NULL));
    rondo_graph *graph = seal(t, t->stream);
    for (int i = 0; i < 3; i++) {
        CHECK_OK(rondo_graph_replay(graph, t->stream));
        conform_expect_all_i32(t, result, 1, 16);
        conform_expect_all_i32(t, live, 2, BIG / 4);
    }
}

/* [C5] */
static void a_live_buffer_over_a_temporary_that_goes_before_the_end_is_legal(struct conform *t) {
    rondo_buffer result = conform_buffer(t, 64);
    rondo_buffer live = live_over_a_temporary(t, result);
    rondo_buffer_release(live);
    rondo_graph *graph = seal(t, t->stream);
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    conform_expect_all_i32(t, result, 1, 16);
}

static const rondo_device_desc ONE_QUEUE_BIG = {
    .max_queues = 1,
    .memory = {.small_page_bytes = 65536, .small_max_bytes = 1024, .page_min_bytes = 65536, .page_max_bytes = 65536}};

/* [C5] No other stream is given a byte that a window has touched. */
static void a_range_that_a_window_touched_goes_to_nobody_else_until_it_closes(struct conform *t) {
    rondo_stream *neighbour = conform_neighbour(t, t->stream);
    rondo_buffer result = conform_buffer(t, 64), theirs = RONDO_NO_BUFFER;
    warm_up_two_in_turn(t->stream);
    rondo_buffer temporary = create_big(t->stream);
    CHECK_OK(fill_i32(t->stream, rondo_whole(temporary), 1, NULL));
    CHECK_OK(rondo_copy(t->stream, rondo_whole(result), rondo_slice(temporary, 0, 64), NULL));
    rondo_buffer_release(temporary);
    CHECK_CODE(rondo_buffer_create(neighbour, BIG, RONDO_USAGE_GENERAL, &theirs), RONDO_NO_ROOM);
    CHECK_EQUAL(theirs.id, 0);
    CHECK_OK(rondo_capture_abort(t->stream));
    CHECK_OK(rondo_buffer_create(neighbour, BIG, RONDO_USAGE_GENERAL, &theirs));
    rondo_buffer_release(theirs);
}

const struct conform_case conform_capture_claims_cases[] = {
    CONFORM_CASE(a_reader_on_another_queue_sees_the_old_bytes_during_a_window, NEEDS_NOTHING),
    CONFORM_CASE(a_recorded_write_heals_nothing_until_it_is_replayed, NEEDS_NOTHING),
    CONFORM_CASE(a_spoiled_input_that_the_window_wrote_earlier_is_good, NEEDS_NOTHING),
    CONFORM_CASE(a_spoiled_byte_that_the_window_did_not_write_skips_and_dooms, NEEDS_NOTHING),
    CONFORM_CASE(a_spoiled_byte_beside_the_input_dooms_nothing, NEEDS_NOTHING),
    CONFORM_CASE(a_spoiled_input_that_the_window_writes_only_later_dooms, NEEDS_NOTHING),
    CONFORM_CASE(in_place_work_on_spoiled_bytes_dooms, NEEDS_MAP),
    CONFORM_CASE(two_slices_of_one_buffer_are_two_claims, NEEDS_NOTHING),
    CONFORM_CASE(a_window_claims_the_rows_of_a_rectangle_and_not_its_gaps, NEEDS_NOTHING),
    CONFORM_CASE(released_buffers_of_a_lost_window_carry_nothing, NEEDS_NOTHING),
    CONFORM_CASE(a_lost_window_mints_one_failure_for_all_it_claims, NEEDS_NOTHING),
    CONFORM_CASE(work_before_the_window_is_not_in_the_graph, NEEDS_NOTHING),
    CONFORM_CASE(a_seal_leaves_every_claim_as_it_was, NEEDS_NOTHING),
    CONFORM_CASE_ON(a_live_buffer_over_a_temporary_refuses_the_seal_and_is_named, NEEDS_NOTHING, &OWN_PAGES),
    CONFORM_CASE_ON(a_live_buffer_over_a_temporary_that_is_written_in_part_refuses_the_seal, NEEDS_NOTHING, &OWN_PAGES),
    CONFORM_CASE_ON(a_live_buffer_over_a_temporary_that_is_written_whole_is_legal, NEEDS_NOTHING, &OWN_PAGES),
    CONFORM_CASE_ON(a_live_buffer_over_a_temporary_that_goes_before_the_end_is_legal, NEEDS_NOTHING, &OWN_PAGES),
    CONFORM_CASE_ON(a_range_that_a_window_touched_goes_to_nobody_else_until_it_closes, NEEDS_NOTHING, &ONE_QUEUE_BIG),
    CONFORM_END,
};
