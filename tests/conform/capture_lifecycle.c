/* The phases of a capture: every call in every phase, and that a refused one changes nothing. */
#include "capture_tools.h"

static void expect_phase(rondo_stream *stream, rondo_phase phase) {
    CHECK_EQUAL(rondo_capture_phase(stream), phase);
    CHECK(rondo_stream_is_capturing(stream) == (phase != RONDO_PHASE_NONE));
}

/* [C1] */
static void a_window_opens_from_prepared_only(struct conform *t) {
    CHECK_CODE(rondo_capture_begin(t->stream), RONDO_STATE);
    expect_phase(t->stream, RONDO_PHASE_NONE);
    CHECK_OK(rondo_capture_prepare(t->stream));
    expect_phase(t->stream, RONDO_PHASE_PREPARED);
    CHECK_OK(rondo_capture_begin(t->stream));
    expect_phase(t->stream, RONDO_PHASE_RECORDING);
    CHECK_CODE(rondo_capture_begin(t->stream), RONDO_STATE);
    expect_phase(t->stream, RONDO_PHASE_RECORDING);
    CHECK_OK(rondo_capture_abort(t->stream));
    check_stream_works(t, t->stream);
}

/* [C1] */
static void a_second_prepare_is_refused_and_changes_nothing(struct conform *t) {
    rondo_buffer buffer = conform_buffer(t, 64);
    CHECK_OK(rondo_capture_prepare(t->stream));
    CHECK_CODE(rondo_capture_prepare(t->stream), RONDO_STATE);
    expect_phase(t->stream, RONDO_PHASE_PREPARED);
    CHECK_OK(rondo_capture_begin(t->stream));
    CHECK_OK(fill_i32(t->stream, rondo_whole(buffer), 3, NULL));
    CHECK_CODE(rondo_capture_prepare(t->stream), RONDO_STATE);
    expect_phase(t->stream, RONDO_PHASE_RECORDING);
    CHECK_EQUAL(window_info(t->stream).ops, 1);
    CHECK_EQUAL(window_info(t->stream).doomed_by, RONDO_OK);
    rondo_graph *graph = seal(t, t->stream);
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    conform_expect_all_i32(t, buffer, 3, 16);
}

/* [C1] Nothing was ever captured, then a capture is over: both times there is nothing to end. */
static void an_end_without_a_window_is_refused(struct conform *t) {
    seal_refused(t->stream, RONDO_STATE);
    check_stream_works(t, t->stream);
    seal_refused(t->stream, RONDO_STATE);
    check_stream_works(t, t->stream);
}

/* [C11] A warm-up that failed leaves its caller no other way out. */
static void an_end_while_prepared_unwinds_the_owners_preparation(struct conform *t) {
    CHECK_OK(rondo_capture_prepare(t->stream));
    seal_refused(t->stream, RONDO_STATE);
    expect_phase(t->stream, RONDO_PHASE_NONE);
    CHECK_CODE(rondo_capture_begin(t->stream), RONDO_STATE);
    check_stream_works(t, t->stream);
}

/* [C11] */
static void a_neighbours_end_while_prepared_changes_nothing(struct conform *t) {
    rondo_stream *neighbour = conform_neighbour(t, t->stream);
    CHECK_OK(rondo_capture_prepare(t->stream));
    rondo_graph *graph = NULL;
    CHECK_CODE(rondo_capture_end(neighbour, RONDO_END_DEFAULT, &graph), RONDO_BUSY);
    CHECK(graph == NULL);
    expect_phase(t->stream, RONDO_PHASE_PREPARED);
    CHECK_OK(rondo_capture_begin(t->stream));
    CHECK_OK(rondo_capture_abort(t->stream));
}

/* [C1] */
static void a_neighbour_cannot_prepare_begin_or_abort_anothers_capture(struct conform *t) {
    rondo_buffer buffer = conform_buffer(t, 64);
    rondo_stream *neighbour = conform_neighbour(t, t->stream);
    CHECK_OK(rondo_capture_prepare(t->stream));
    CHECK_CODE(rondo_capture_prepare(neighbour), RONDO_STATE);
    CHECK_CODE(rondo_capture_begin(neighbour), RONDO_BUSY);
    CHECK_CODE(rondo_capture_abort(neighbour), RONDO_BUSY);
    expect_phase(t->stream, RONDO_PHASE_PREPARED);
    expect_phase(neighbour, RONDO_PHASE_NONE);
    CHECK_OK(rondo_capture_begin(t->stream));
    CHECK_OK(fill_i32(t->stream, rondo_whole(buffer), 3, NULL));
    CHECK_CODE(rondo_capture_prepare(neighbour), RONDO_STATE);
    CHECK(rondo_capture_begin(neighbour) != RONDO_OK);
    CHECK_CODE(rondo_capture_abort(neighbour), RONDO_BUSY);
    expect_phase(t->stream, RONDO_PHASE_RECORDING);
    expect_phase(neighbour, RONDO_PHASE_NONE);
    CHECK_EQUAL(graph_info(seal(t, t->stream)).nodes, 1);
    check_stream_works(t, neighbour);
}

/* [C1] The legal neighbour of the case above: on another queue everything is allowed. */
static void a_stream_on_another_queue_captures_for_itself(struct conform *t) {
    rondo_stream *stranger = conform_stranger(t, t->stream);
    CHECK_OK(rondo_capture_prepare(t->stream));
    check_stream_works(t, stranger);
    CHECK_OK(rondo_capture_begin(t->stream));
    check_stream_works(t, stranger);
    expect_phase(t->stream, RONDO_PHASE_RECORDING);
    CHECK_OK(rondo_capture_abort(stranger));
    expect_phase(t->stream, RONDO_PHASE_RECORDING);
    CHECK_OK(rondo_capture_abort(t->stream));
}

/* [C12] */
static void abort_returns_to_none_from_every_phase(struct conform *t) {
    CHECK_OK(rondo_capture_abort(t->stream));
    expect_phase(t->stream, RONDO_PHASE_NONE);
    CHECK_OK(rondo_capture_prepare(t->stream));
    CHECK_OK(rondo_capture_abort(t->stream));
    expect_phase(t->stream, RONDO_PHASE_NONE);
    open_window(t->stream);
    CHECK_OK(rondo_capture_abort(t->stream));
    expect_phase(t->stream, RONDO_PHASE_NONE);
    CHECK(!rondo_device_is_recording(t->device));
    check_stream_works(t, t->stream);
}

/* [C12] */
static void an_aborted_window_claims_what_it_recorded(struct conform *t) {
    rondo_buffer written = conform_buffer(t, 64), other = conform_buffer(t, 64);
    conform_fill_i32(t, written, 1);
    conform_fill_i32(t, other, 2);
    open_window(t->stream);
    CHECK_OK(fill_i32(t->stream, rondo_slice(written, 16, 16), 3, NULL));
    CHECK_OK(rondo_capture_abort(t->stream));
    expect_spoiled_by(rondo_slice(written, 16, 16), RONDO_ABORTED);
    CHECK_CODE(conform_try_read(t->stream, rondo_whole(written)), RONDO_TAINTED);
    CHECK_OK(rondo_span_status(rondo_slice(written, 0, 16)));
    CHECK_OK(rondo_span_status(rondo_slice(written, 32, 32)));
    conform_expect_all_i32(t, other, 2, 16);
    CHECK_OK(fill_i32(t->stream, rondo_slice(written, 16, 16), 1, NULL));
    conform_expect_all_i32(t, written, 1, 16);
}

/* [C3, C12] The warm-up ran, so an abort takes nothing back. */
static void an_aborted_warm_up_claims_nothing(struct conform *t) {
    rondo_buffer buffer = conform_buffer(t, 64);
    CHECK_OK(rondo_capture_prepare(t->stream));
    CHECK_OK(fill_i32(t->stream, rondo_whole(buffer), 5, NULL));
    CHECK_OK(rondo_capture_abort(t->stream));
    conform_expect_all_i32(t, buffer, 5, 16);
}

/* [C12] [C8] */
static void a_doomed_window_says_what_doomed_it_however_it_is_left(struct conform *t) {
    rondo_buffer buffer = conform_buffer(t, 64);
    for (int way = 0; way < 2; way++) {
        rondo_stream *owner = NULL;
        CHECK_OK(rondo_stream_create(t->device, &owner));
        open_window(owner);
        CHECK_OK(fill_i32(owner, rondo_whole(buffer), 1, NULL));
        rondo_status failed = CHECK_CODE(fill_i32(owner, rondo_slice(buffer, 32, 64), 1, "bad"), RONDO_RANGE);
        if (way == 0) CHECK_OK(rondo_capture_abort(owner));
        rondo_stream_release(owner);
        CHECK_OK(rondo_device_sync(t->device));
        expect_spoiled(rondo_whole(buffer), failed);
    }
}

/* [C12] A caller gives up in the middle and only lets its stream go: the buffers say that they were never written. */
static void the_last_release_of_a_recording_stream_aborts_its_window(struct conform *t) {
    rondo_buffer buffer = conform_buffer(t, 64);
    conform_fill_i32(t, buffer, 1);
    rondo_stream *stream = NULL;
    CHECK_OK(rondo_stream_create(t->device, &stream));
    open_window(stream);
    CHECK_OK(fill_i32(stream, rondo_whole(buffer), 2, NULL));
    CHECK_OK(rondo_stream_retain(stream));
    rondo_stream_release(stream);
    expect_phase(stream, RONDO_PHASE_RECORDING);
    rondo_stream_release(stream);
    CHECK(!rondo_stream_is_capturing(stream));
    CHECK(!rondo_device_is_recording(t->device));
    expect_spoiled_by(rondo_whole(buffer), RONDO_ABORTED);
    CHECK_CODE(rondo_capture_abort(stream), RONDO_STALE);
    check_stream_works(t, t->stream);
}

/* [C12] Neighbours are not locked out by a stream that went away in the middle. */
static void a_destroyed_owner_leaves_its_queue_free(struct conform *t) {
    rondo_stream *stream = NULL;
    CHECK_OK(rondo_stream_create(t->device, &stream));
    CHECK_OK(rondo_capture_prepare(stream));
    rondo_stream_release(stream);
    check_stream_works(t, t->stream);
    CHECK_OK(rondo_stream_create(t->device, &stream));
    open_window(stream);
    rondo_stream_release(stream);
    check_stream_works(t, t->stream);
}

/* [C3] */
static void work_while_prepared_runs(struct conform *t) {
    rondo_buffer buffer = conform_buffer(t, 64);
    CHECK_OK(rondo_capture_prepare(t->stream));
    CHECK_OK(fill_i32(t->stream, rondo_whole(buffer), 5, NULL));
    conform_expect_all_i32(t, buffer, 5, 16);
    CHECK_OK(add_in_place(t->stream, rondo_whole(buffer), NULL, NULL));
    conform_expect_all_i32(t, buffer, 6, 16);
    CHECK_OK(rondo_capture_begin(t->stream));
    CHECK_EQUAL(window_info(t->stream).ops, 0);
    CHECK_OK(rondo_capture_abort(t->stream));
    conform_expect_all_i32(t, buffer, 6, 16);
}

/* [C3, C15, C22] */
static void recorded_work_does_not_run(struct conform *t) {
    const int32_t sevens[4] = {7, 7, 7, 7};
    rondo_buffer a = conform_buffer(t, 16), b = conform_buffer(t, 16), c = conform_buffer(t, 16);
    rondo_buffer block = conform_host_block(t, 16);
    conform_fill_i32(t, a, 1);
    conform_fill_i32(t, b, 2);
    conform_fill_i32(t, c, 3);
    CHECK_OK(rondo_capture_prepare(t->stream));
    CHECK_OK(rondo_write(t->stream, rondo_whole(c), sevens, NULL));
    conform_fill_i32(t, c, 3);
    CHECK_OK(rondo_capture_begin(t->stream));
    CHECK_OK(fill_i32(t->stream, rondo_whole(a), 5, NULL));
    CHECK_OK(rondo_copy(t->stream, rondo_whole(b), rondo_whole(a), NULL));
    CHECK_OK(rondo_write(t->stream, rondo_whole(c), sevens, NULL));
    CHECK_OK(rondo_read_async(t->stream, rondo_whole(c), rondo_whole(block), NULL));
    CHECK_OK(add_in_place(t->stream, rondo_whole(a), NULL, NULL));
    rondo_graph *graph = seal(t, t->stream);
    CHECK_EQUAL(graph_info(graph).nodes, 5);
    conform_expect_all_i32(t, a, 1, 4);
    conform_expect_all_i32(t, b, 2, 4);
    conform_expect_all_i32(t, c, 3, 4);
    CHECK_OK(rondo_host_wait(block));
    CHECK_EQUAL(((const int32_t *)rondo_host_data(block))[0], 0);
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    conform_expect_all_i32(t, a, 6, 4);
    conform_expect_all_i32(t, b, 5, 4);
    conform_expect_all_i32(t, c, 7, 4);
    CHECK_OK(rondo_host_wait(block));
    CHECK_EQUAL(((const int32_t *)rondo_host_data(block))[3], 7);
}

/* [C3] */
static void recorded_launches_do_not_run(struct conform *t) {
    rondo_buffer counter = conform_buffer(t, 4);
    conform_fill_i32(t, counter, 0);
    CHECK_OK(rondo_capture_prepare(t->stream));
    CHECK_OK(conform_launch_count(t, t->stream, rondo_whole(counter), 10, NULL));
    CHECK_EQUAL(conform_read_i32(t, counter, 0), 10);
    CHECK_OK(rondo_capture_begin(t->stream));
    CHECK_OK(conform_launch_count(t, t->stream, rondo_whole(counter), 10, NULL));
    CHECK_OK(conform_launch_count(t, t->stream, rondo_whole(counter), 10, NULL));
    rondo_graph *graph = seal(t, t->stream);
    CHECK_EQUAL(conform_read_i32(t, counter, 0), 10);
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    CHECK_EQUAL(conform_read_i32(t, counter, 0), 30);
}

static void record_and_lose(struct conform *t, rondo_buffer lost, int way) {
    rondo_stream *neighbour = conform_neighbour(t, t->stream);
    rondo_graph *graph = NULL;
    open_window(t->stream);
    CHECK_OK(fill_i32(t->stream, rondo_whole(lost), 1, "lost"));
    if (way == 0) CHECK_OK(rondo_capture_abort(t->stream));
    if (way == 1) CHECK_CODE(rondo_capture_end(neighbour, RONDO_END_DEFAULT, &graph), RONDO_ABANDONED);
    if (way == 2) {
        CHECK_CODE(rondo_copy(t->stream, rondo_whole(lost), rondo_whole(RONDO_NO_BUFFER), NULL), RONDO_STALE);
        seal_refused(t->stream, RONDO_DOOMED);
    }
}

/* [C2] However the earlier window was lost, nothing of it is left in the next one. */
static void a_new_capture_starts_from_an_empty_recording(struct conform *t) {
    rondo_buffer lost = conform_buffer(t, 64), kept = conform_buffer(t, 64);
    for (int way = 0; way < 3; way++) {
        record_and_lose(t, lost, way);
        open_window(t->stream);
        CHECK_EQUAL(window_info(t->stream).ops, 0);
        CHECK_EQUAL(window_info(t->stream).doomed_by, RONDO_OK);
        CHECK_OK(fill_i32(t->stream, rondo_whole(kept), way, NULL));
        rondo_graph *graph = seal(t, t->stream);
        CHECK_EQUAL(graph_info(graph).nodes, 1);
        CHECK_EQUAL(graph_info(graph).written_bytes, 64);
        CHECK_OK(rondo_graph_replay(graph, t->stream));
        conform_expect_all_i32(t, kept, way, 16);
        CHECK_CODE(rondo_span_status(rondo_whole(lost)), RONDO_TAINTED);
    }
}

/* [E2] */
static void an_end_with_bad_arguments_changes_nothing(struct conform *t) {
    rondo_buffer buffer = conform_buffer(t, 64);
    open_window(t->stream);
    CHECK_OK(fill_i32(t->stream, rondo_whole(buffer), 1, NULL));
    CHECK_CODE(rondo_capture_end(t->stream, RONDO_END_DEFAULT, NULL), RONDO_INVALID);
    expect_phase(t->stream, RONDO_PHASE_RECORDING);
    CHECK_EQUAL(graph_info(seal(t, t->stream)).nodes, 1);
}

/* [E2] */
static void an_end_with_unknown_flags_is_refused(struct conform *t) {
    rondo_graph *graph = NULL;
    open_window(t->stream);
    CHECK_CODE(rondo_capture_end(t->stream, 0x80000000u, &graph), RONDO_INVALID);
    CHECK(graph == NULL);
    CHECK_OK(rondo_capture_abort(t->stream));
    check_stream_works(t, t->stream);
}

/* [C23] The window was on one device, the work went to another: the graph would do nothing. */
static void a_window_whose_work_went_elsewhere_is_refused_as_empty(struct conform *t) {
    rondo_stream *stranger = conform_stranger(t, t->stream);
    rondo_buffer buffer = conform_buffer_on(t, stranger, 64);
    open_window(t->stream);
    CHECK_OK(fill_i32(stranger, rondo_whole(buffer), 4, NULL));
    seal_refused(t->stream, RONDO_EMPTY);
    conform_expect_all_i32(t, buffer, 4, 16);
    check_stream_works(t, t->stream);
}

/* [C23] */
static void an_allowed_empty_window_seals_into_a_graph_of_no_nodes(struct conform *t) {
    rondo_graph *graph = NULL;
    open_window(t->stream);
    CHECK_OK(rondo_capture_end(t->stream, RONDO_END_ALLOW_EMPTY, &graph));
    conform_keep_graph(t, graph);
    CHECK_EQUAL(graph_info(graph).nodes, 0);
    CHECK_EQUAL(graph_info(graph).written_bytes, 0);
    CHECK_EQUAL(graph_info(graph).device_bytes, 0);
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    conform_settle(t);
    CHECK_EQUAL(graph_info(graph).replays, 1);
    rondo_node_info node;
    CHECK_CODE(rondo_graph_get_node(graph, 0, &node), RONDO_RANGE);
}

/* [C8, C23] That an empty window is allowed does not make a doomed one whole. */
static void an_empty_window_that_is_doomed_stays_doomed(struct conform *t) {
    rondo_buffer buffer = conform_buffer(t, 64);
    rondo_graph *graph = NULL;
    open_window(t->stream);
    CHECK_CODE(rondo_fill(t->stream, rondo_whole(buffer), NULL, 4, NULL), RONDO_INVALID);
    CHECK_CODE(rondo_capture_end(t->stream, RONDO_END_ALLOW_EMPTY, &graph), RONDO_DOOMED);
    CHECK(graph == NULL);
}

/* [C17] */
static void the_views_follow_the_phases(struct conform *t) {
    rondo_stream *stranger = conform_stranger(t, t->stream);
    CHECK(!rondo_device_is_recording(t->device));
    CHECK_OK(rondo_capture_prepare(t->stream));
    CHECK(rondo_stream_is_capturing(t->stream) && !rondo_stream_is_capturing(stranger));
    CHECK(!rondo_device_is_recording(t->device));
    CHECK_OK(rondo_capture_begin(t->stream));
    CHECK(rondo_device_is_recording(t->device));
    open_window(stranger);
    CHECK_OK(rondo_capture_abort(t->stream));
    CHECK(!rondo_stream_is_capturing(t->stream) && rondo_stream_is_capturing(stranger));
    CHECK(rondo_device_is_recording(t->device));
    seal_refused(stranger, RONDO_EMPTY);
    CHECK(!rondo_device_is_recording(t->device));
    CHECK(!rondo_stream_is_capturing(NULL));
    CHECK(!rondo_device_is_recording(NULL));
    CHECK_EQUAL(rondo_capture_phase(NULL), RONDO_PHASE_NONE);
}

struct seen {
    rondo_device *device;
    rondo_stream *stream;
    rondo_phase phase;
    bool capturing, recording;
    rondo_status prepare, begin, end, abort, info;
    rondo_graph *graph;
};

static int look_from_inside(void *user, const rondo_host_access *accesses, size_t count) {
    (void)accesses;
    (void)count;
    struct seen *seen = user;
    rondo_window_info info;
    seen->phase = rondo_capture_phase(seen->stream);
    seen->capturing = rondo_stream_is_capturing(seen->stream);
    seen->recording = rondo_device_is_recording(seen->device);
    seen->prepare = rondo_capture_prepare(seen->stream);
    seen->begin = rondo_capture_begin(seen->stream);
    seen->end = rondo_capture_end(seen->stream, RONDO_END_DEFAULT, &seen->graph);
    seen->abort = rondo_capture_abort(seen->stream);
    seen->info = rondo_capture_get_info(seen->stream, &info);
    return 0;
}

/* [C17, E5] */
static void a_host_call_sees_the_views_but_cannot_move_the_phases(struct conform *t) {
    struct seen seen = {.device = t->device, .stream = t->stream, .graph = NULL};
    CHECK_OK(rondo_capture_prepare(t->stream));
    CHECK_OK(rondo_host_call(t->stream, look_from_inside, &seen, NULL, NULL, 0, NULL));
    CHECK_EQUAL(seen.phase, RONDO_PHASE_PREPARED);
    CHECK(seen.capturing && !seen.recording);
    CHECK_CODE(seen.prepare, RONDO_REENTRANT);
    CHECK_CODE(seen.begin, RONDO_REENTRANT);
    CHECK_CODE(seen.end, RONDO_REENTRANT);
    CHECK_CODE(seen.abort, RONDO_REENTRANT);
    CHECK_CODE(seen.info, RONDO_REENTRANT);
    expect_phase(t->stream, RONDO_PHASE_PREPARED);
    CHECK_OK(rondo_capture_abort(t->stream));
}

/* [C17, M6] */
static void the_window_tells_what_it_holds_while_it_is_open(struct conform *t) {
    rondo_buffer buffer = conform_buffer(t, 4096);
    rondo_window_info info;
    CHECK_CODE(rondo_capture_get_info(t->stream, &info), RONDO_STATE);
    CHECK_OK(rondo_capture_prepare(t->stream));
    CHECK_CODE(rondo_capture_get_info(t->stream, &info), RONDO_STATE);
    CHECK_OK(rondo_capture_begin(t->stream));
    CHECK_CODE(rondo_capture_get_info(t->stream, NULL), RONDO_INVALID);
    CHECK_EQUAL(window_info(t->stream).ops, 0);
    CHECK_OK(fill_i32(t->stream, rondo_whole(buffer), 1, NULL));
    CHECK_OK(fill_i32(t->stream, rondo_whole(buffer), 2, NULL));
    info = window_info(t->stream);
    CHECK_EQUAL(info.ops, 2);
    CHECK(info.device_bytes >= 4096);
    CHECK_EQUAL(info.doomed_by, RONDO_OK);
    rondo_graph *graph = seal(t, t->stream);
    CHECK_EQUAL(graph_info(graph).device_bytes, info.device_bytes);
    CHECK_CODE(rondo_capture_get_info(t->stream, &info), RONDO_STATE);
}

/* [E2] */
static void dead_and_null_streams_are_refused_by_every_capture_call(struct conform *t) {
    rondo_stream *dead = NULL;
    CHECK_OK(rondo_stream_create(t->device, &dead));
    rondo_stream_release(dead);
    rondo_stream *streams[] = {dead, NULL};
    for (size_t i = 0; i < COUNT_OF(streams); i++) {
        rondo_graph *graph = NULL;
        rondo_window_info info;
        CHECK_CODE(rondo_capture_prepare(streams[i]), RONDO_STALE);
        CHECK_CODE(rondo_capture_begin(streams[i]), RONDO_STALE);
        CHECK_CODE(rondo_capture_end(streams[i], RONDO_END_DEFAULT, &graph), RONDO_STALE);
        CHECK_CODE(rondo_capture_abort(streams[i]), RONDO_STALE);
        CHECK_CODE(rondo_capture_get_info(streams[i], &info), RONDO_STALE);
    }
    check_stream_works(t, t->stream);
}

/* [M6] */
static void the_counts_of_windows_follow_how_each_one_ended(struct conform *t) {
    rondo_buffer buffer = conform_buffer(t, 64);
    rondo_device_stats before = conform_stats(t);
    open_window(t->stream);
    CHECK_OK(fill_i32(t->stream, rondo_whole(buffer), 1, NULL));
    seal(t, t->stream);
    open_window(t->stream);
    seal_refused(t->stream, RONDO_EMPTY);
    rondo_device_stats after = conform_stats(t);
    CHECK_EQUAL(after.windows_opened - before.windows_opened, 2);
    CHECK_EQUAL(after.graphs_sealed - before.graphs_sealed, 1);
    CHECK_EQUAL(after.windows_refused - before.windows_refused, 1);
    CHECK_EQUAL(after.recorded - before.recorded, 1);
    CHECK_EQUAL(after.graphs - before.graphs, 1);
}

const struct conform_case conform_capture_lifecycle_cases[] = {
    CONFORM_CASE(a_window_opens_from_prepared_only, NEEDS_NOTHING),
    CONFORM_CASE(a_second_prepare_is_refused_and_changes_nothing, NEEDS_NOTHING),
    CONFORM_CASE(an_end_without_a_window_is_refused, NEEDS_NOTHING),
    CONFORM_CASE(an_end_while_prepared_unwinds_the_owners_preparation, NEEDS_NOTHING),
    CONFORM_CASE_ON(a_neighbours_end_while_prepared_changes_nothing, NEEDS_NOTHING, &ONE_QUEUE),
    CONFORM_CASE_ON(a_neighbour_cannot_prepare_begin_or_abort_anothers_capture, NEEDS_NOTHING, &ONE_QUEUE),
    CONFORM_CASE(a_stream_on_another_queue_captures_for_itself, NEEDS_NOTHING),
    CONFORM_CASE(abort_returns_to_none_from_every_phase, NEEDS_NOTHING),
    CONFORM_CASE(an_aborted_window_claims_what_it_recorded, NEEDS_NOTHING),
    CONFORM_CASE(an_aborted_warm_up_claims_nothing, NEEDS_NOTHING),
    CONFORM_CASE(the_last_release_of_a_recording_stream_aborts_its_window, NEEDS_NOTHING),
    CONFORM_CASE(a_doomed_window_says_what_doomed_it_however_it_is_left, NEEDS_NOTHING),
    CONFORM_CASE_ON(a_destroyed_owner_leaves_its_queue_free, NEEDS_NOTHING, &ONE_QUEUE),
    CONFORM_CASE(work_while_prepared_runs, NEEDS_MAP),
    CONFORM_CASE(recorded_work_does_not_run, NEEDS_MAP),
    CONFORM_CASE(recorded_launches_do_not_run, NEEDS_KERNELS),
    CONFORM_CASE_ON(a_new_capture_starts_from_an_empty_recording, NEEDS_NOTHING, &ONE_QUEUE),
    CONFORM_CASE(an_end_with_bad_arguments_changes_nothing, NEEDS_NOTHING),
    CONFORM_CASE(an_end_with_unknown_flags_is_refused, NEEDS_NOTHING),
    CONFORM_CASE(a_window_whose_work_went_elsewhere_is_refused_as_empty, NEEDS_NOTHING),
    CONFORM_CASE(an_allowed_empty_window_seals_into_a_graph_of_no_nodes, NEEDS_NOTHING),
    CONFORM_CASE(an_empty_window_that_is_doomed_stays_doomed, NEEDS_NOTHING),
    CONFORM_CASE(the_views_follow_the_phases, NEEDS_NOTHING),
    CONFORM_CASE(a_host_call_sees_the_views_but_cannot_move_the_phases, NEEDS_NOTHING),
    CONFORM_CASE(the_window_tells_what_it_holds_while_it_is_open, NEEDS_NOTHING),
    CONFORM_CASE(dead_and_null_streams_are_refused_by_every_capture_call, NEEDS_NOTHING),
    CONFORM_CASE(the_counts_of_windows_follow_how_each_one_ended, NEEDS_NOTHING),
    CONFORM_END,
};
