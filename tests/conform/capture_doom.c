/* What dooms a window and what must not, apart from the table in doom_table.c. */
#include "doom.h"

static rondo_status fill_out_of_range(const struct doom_scene *s) {
    return fill_i32(s->stream, doom_misfit(s->out), 1, "bad");
}
static rondo_status copy_of_unequal_sizes(const struct doom_scene *s) {
    return rondo_copy(s->stream, rondo_whole(s->out), rondo_slice(s->in, 0, 32), "bad");
}
static rondo_status copy_from(const struct doom_scene *s, rondo_buffer source) {
    return rondo_copy(s->stream, rondo_whole(s->out), rondo_whole(source), "bad");
}

/* An operation that was refused in the middle is missing from the recording; its own output says so too, so that a
 * caller who ignores the code cannot read the canary that was there before. [T8] */
static void a_refused_operations_own_output_is_spoiled_after_the_seal(struct conform *t) {
    struct doom_scene s = doom_scene_open(t);
    open_window(s.stream);
    CHECK_OK(fill_i32(s.stream, rondo_whole(s.first), 1, "a"));
    rondo_status refused = CHECK_CODE(copy_of_unequal_sizes(&s), RONDO_RANGE);
    CHECK_OK(fill_i32(s.stream, rondo_whole(s.last), 2, "c"));
    rondo_status doomed = seal_refused(s.stream, RONDO_DOOMED);
    CHECK_SAYS(doomed, "bad");
    expect_spoiled(rondo_whole(s.out), refused);
    doom_scene_close(&s);
}

/* [C8] */
static void the_first_reason_wins_and_nothing_undooms(struct conform *t) {
    struct doom_scene s = doom_scene_open(t);
    open_window(s.stream);
    rondo_status first = CHECK_CODE(fill_out_of_range(&s), RONDO_RANGE);
    CHECK_CODE(copy_from(&s, s.dead), RONDO_STALE);
    CHECK_CODE(rondo_capture_prepare(s.stream), RONDO_STATE);
    CHECK_CODE(rondo_capture_begin(s.stream), RONDO_STATE);
    CHECK_OK(fill_i32(s.stream, rondo_whole(s.first), 1, NULL));
    CHECK_OK(fill_i32(s.stream, rondo_whole(s.out), 1, NULL));
    CHECK(window_info(s.stream).doomed_by == first);
    rondo_status doomed = seal_refused(s.stream, RONDO_DOOMED);
    CHECK(rondo_fault_root(doomed) == first);
    expect_spoiled(rondo_whole(s.first), first);
    doom_scene_close(&s);
}

/* [C8] [E2] */
static void a_reservation_that_makes_no_sense_dooms_only_by_its_use(struct conform *t) {
    rondo_buffer none = RONDO_NO_BUFFER, kept = conform_buffer(t, 64);
    open_window(t->stream);
    CHECK_OK(fill_i32(t->stream, rondo_whole(kept), 1, NULL));
    CHECK_CODE(rondo_buffer_create(t->stream, 64, (rondo_usage)77, &none), RONDO_INVALID);
    CHECK_CODE(rondo_host_create(t->stream, 0, &none), RONDO_INVALID);
    CHECK_EQUAL(window_info(t->stream).doomed_by, RONDO_OK);
    CHECK_CODE(rondo_copy(t->stream, rondo_whole(none), rondo_whole(kept), NULL), RONDO_STALE);
    seal_refused(t->stream, RONDO_DOOMED);
}

/* [C8] */
static void a_failure_outside_the_window_dooms_nothing(struct conform *t) {
    struct doom_scene s = doom_scene_open(t);
    CHECK_CODE(fill_out_of_range(&s), RONDO_RANGE);
    CHECK_OK(rondo_capture_prepare(s.stream));
    CHECK_CODE(fill_out_of_range(&s), RONDO_RANGE);
    CHECK_CODE(copy_from(&s, s.tainted), RONDO_TAINTED);
    CHECK_OK(rondo_capture_begin(s.stream));
    CHECK_EQUAL(window_info(s.stream).doomed_by, RONDO_OK);
    CHECK_OK(fill_i32(s.stream, rondo_whole(s.first), 4, NULL));
    CHECK_OK(rondo_graph_replay(seal(t, s.stream), s.stream));
    conform_expect_all_i32(t, s.first, 4, 16);
    doom_scene_close(&s);
}

/* [C16] Another queue's failures are its own. */
static void a_strangers_failure_dooms_nothing(struct conform *t) {
    struct doom_scene s = doom_scene_open(t);
    rondo_stream *stranger = conform_stranger(t, s.stream);
    open_window(s.stream);
    CHECK_OK(fill_i32(s.stream, rondo_whole(s.first), 4, NULL));
    CHECK_CODE(rondo_copy(stranger, rondo_whole(s.last), rondo_whole(s.tainted), NULL), RONDO_TAINTED);
    CHECK_CODE(fill_i32(stranger, doom_misfit(s.last), 1, NULL), RONDO_RANGE);
    CHECK_EQUAL(window_info(s.stream).doomed_by, RONDO_OK);
    CHECK_EQUAL(graph_info(seal(t, s.stream)).nodes, 1);
    doom_scene_close(&s);
}

/* [C13, C8] With one queue: a neighbour's bad call is not the owner's. */
static void a_neighbours_bad_argument_dooms_nothing(struct conform *t) {
    rondo_buffer kept = conform_buffer(t, 64);
    rondo_stream *neighbour = conform_neighbour(t, t->stream);
    open_window(t->stream);
    CHECK_OK(fill_i32(t->stream, rondo_whole(kept), 4, NULL));
    CHECK(fill_i32(neighbour, doom_misfit(kept), 1, NULL) != RONDO_OK);
    CHECK(rondo_copy(neighbour, rondo_whole(kept), rondo_whole(RONDO_NO_BUFFER), NULL) != RONDO_OK);
    CHECK_EQUAL(window_info(t->stream).doomed_by, RONDO_OK);
    CHECK_EQUAL(graph_info(seal(t, t->stream)).nodes, 1);
}

typedef rondo_status (*forbidden)(struct conform *t, rondo_buffer buffer);

static rondo_status forbidden_read(struct conform *t, rondo_buffer buffer) {
    return conform_try_read(t->stream, rondo_whole(buffer));
}
static rondo_status forbidden_sync(struct conform *t, rondo_buffer buffer) {
    (void)buffer;
    return rondo_stream_sync(t->stream);
}
static rondo_status forbidden_profile(struct conform *t, rondo_buffer buffer) {
    (void)buffer;
    return rondo_profile_start(t->stream);
}
static rondo_status forbidden_map(struct conform *t, rondo_buffer buffer) {
    void *data = NULL;
    rondo_status status = rondo_map(t->stream, rondo_whole(buffer), RONDO_READS, &data);
    CHECK(status == RONDO_OK || data == NULL);
    return status;
}
static rondo_status forbidden_device_sync(struct conform *t, rondo_buffer buffer) {
    (void)buffer;
    return rondo_device_sync(t->device);
}

/* [C14] Nothing is missing from the recording, so the window stays whole. */
static void forbid(struct conform *t, forbidden attempt) {
    rondo_buffer buffer = conform_buffer(t, 64);
    conform_fill_i32(t, buffer, 1);
    open_window(t->stream);
    CHECK_OK(fill_i32(t->stream, rondo_whole(buffer), 2, NULL));
    CHECK_CODE(attempt(t, buffer), RONDO_FORBIDDEN);
    CHECK_EQUAL(window_info(t->stream).doomed_by, RONDO_OK);
    CHECK_EQUAL(window_info(t->stream).ops, 1);
    CHECK_OK(rondo_span_status(rondo_whole(buffer)));
    rondo_graph *graph = seal(t, t->stream);
    conform_expect_all_i32(t, buffer, 1, 16);
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    conform_expect_all_i32(t, buffer, 2, 16);
}

#define FORBIDDEN_CASES(X)      \
    X(read, NEEDS_NOTHING)                                                                            \
    X(sync, NEEDS_NOTHING)                                                                            \
    X(profile, NEEDS_NOTHING)                                                                         \
    X(map, NEEDS_MAP)                                                                                 \
    X(device_sync, NEEDS_NOTHING)
#define DEFINE_FORBIDDEN(kind, needs)                                                                 \
    static void the_owners_##kind##_in_a_window_is_forbidden_and_dooms_nothing(struct conform *t) {   \
        forbid(t, forbidden_##kind);                                                                  \
    }
FORBIDDEN_CASES(DEFINE_FORBIDDEN)

/* [C14] A measurement that was started before the window cannot be ended inside it, and goes on after it. */
static void a_measurement_outlives_the_window_that_forbids_its_end(struct conform *t) {
    rondo_buffer buffer = conform_buffer(t, 64);
    uint64_t elapsed_ns = 0;
    CHECK_OK(rondo_profile_start(t->stream));
    open_window(t->stream);
    CHECK_OK(fill_i32(t->stream, rondo_whole(buffer), 2, NULL));
    CHECK_CODE(rondo_profile_end(t->stream, &elapsed_ns), RONDO_FORBIDDEN);
    CHECK_OK(rondo_graph_replay(seal(t, t->stream), t->stream));
    CHECK_OK(rondo_profile_end(t->stream, &elapsed_ns));
}

/* [P2, E5] A kernel that is going to fail is no reason to refuse: recorded work did not run yet. */
static void a_recorded_host_call_that_will_fail_dooms_nothing(struct conform *t) {
    rondo_buffer flag = conform_buffer(t, 4), out = conform_buffer(t, 64);
    conform_fill_i32(t, flag, 1);
    conform_fill_i32(t, out, 3);
    open_window(t->stream);
    CHECK_OK(fail_if(t->stream, rondo_whole(out), rondo_whole(flag), "will fail"));
    rondo_graph *graph = seal(t, t->stream);
    conform_expect_all_i32(t, out, 3, 16);
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    expect_spoiled_by(rondo_whole(out), RONDO_KERNEL);
}

#define LIST_FORBIDDEN(kind, needs) CONFORM_CASE(the_owners_##kind##_in_a_window_is_forbidden_and_dooms_nothing, needs),

const struct conform_case conform_capture_doom_cases[] = {
    CONFORM_CASE(a_refused_operations_own_output_is_spoiled_after_the_seal, NEEDS_NOTHING),
    CONFORM_CASE(the_first_reason_wins_and_nothing_undooms, NEEDS_NOTHING),
    CONFORM_CASE(a_reservation_that_makes_no_sense_dooms_only_by_its_use, NEEDS_NOTHING),
    CONFORM_CASE(a_failure_outside_the_window_dooms_nothing, NEEDS_NOTHING),
    CONFORM_CASE(a_strangers_failure_dooms_nothing, NEEDS_NOTHING),
    CONFORM_CASE_ON(a_neighbours_bad_argument_dooms_nothing, NEEDS_NOTHING, &ONE_QUEUE),
    FORBIDDEN_CASES(LIST_FORBIDDEN)
    CONFORM_CASE(a_measurement_outlives_the_window_that_forbids_its_end, NEEDS_NOTHING),
    CONFORM_CASE(a_recorded_host_call_that_will_fail_dooms_nothing, NEEDS_MAP),
    CONFORM_END,
};
