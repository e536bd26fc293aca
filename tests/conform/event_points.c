/* Events and time measurements: points in a stream. */
#include "conform.h"

/* [C24] */
static void an_event_completes_where_it_was_recorded(struct conform *t) {
    rondo_event *event = conform_event(t);
    rondo_buffer buffer = conform_buffer(t, 64);
    conform_fill_i32(t, buffer, 1);
    CHECK_OK(rondo_event_record(t->stream, event, "point"));
    CHECK_OK(rondo_event_sync(event));
    CHECK_OK(rondo_event_status(event));
    CHECK_EQUAL(conform_read_i32(t, buffer, 0), 1);
}

/* [C24] */
static void an_event_that_was_never_recorded_is_refused(struct conform *t) {
    rondo_event *event = conform_event(t);
    rondo_event *recorded = conform_event(t);
    uint64_t elapsed_ns = 5;
    CHECK_OK(rondo_event_record(t->stream, recorded, NULL));
    CHECK_CODE(rondo_event_status(event), RONDO_STATE);
    CHECK_CODE(rondo_event_sync(event), RONDO_STATE);
    CHECK_CODE(rondo_event_wait(t->stream, event, NULL), RONDO_STATE);
    CHECK_CODE(rondo_event_elapsed(event, recorded, &elapsed_ns), RONDO_STATE);
    CHECK_EQUAL(elapsed_ns, 0);
    CHECK_CODE(rondo_event_elapsed(recorded, event, &elapsed_ns), RONDO_STATE);
    CHECK_OK(rondo_event_wait(t->stream, recorded, NULL));
    CHECK_OK(rondo_event_record(t->stream, event, NULL));
    CHECK_OK(rondo_event_wait(t->stream, event, NULL));
}

/* [C24] */
static void another_stream_may_wait_for_an_event(struct conform *t) {
    rondo_stream *other = conform_stranger(t, t->stream);
    rondo_stream *neighbour = conform_neighbour(t, t->stream);
    rondo_event *event = conform_event(t);
    rondo_buffer buffer = conform_buffer(t, 64);
    conform_fill_i32(t, buffer, 4);
    CHECK_OK(rondo_event_record(t->stream, event, NULL));
    CHECK_OK(rondo_event_wait(other, event, NULL));
    CHECK_OK(rondo_event_wait(neighbour, event, NULL));
    CHECK_OK(rondo_event_wait(t->stream, event, NULL));
    int32_t out = 0;
    CHECK_OK(rondo_read(other, rondo_slice(buffer, 0, 4), &out, NULL));
    CHECK_EQUAL(out, 4);
}

static void time_passes_between_two_events(struct conform *t) {
    rondo_event *start = conform_event(t);
    rondo_event *end = conform_event(t);
    rondo_buffer buffer = conform_buffer(t, 1 << 20);
    uint64_t elapsed_ns = 0;
    uint64_t backwards_ns = 1;
    CHECK_OK(rondo_event_record(t->stream, start, NULL));
    for (int32_t i = 0; i < 20; i++) {
        conform_fill_i32(t, buffer, i);
    }
    CHECK_OK(rondo_event_record(t->stream, end, NULL));
    CHECK_OK(rondo_event_sync(end));
    CHECK_OK(rondo_event_elapsed(start, end, &elapsed_ns));
    CHECK(elapsed_ns > 0);
    CHECK_OK(rondo_event_elapsed(end, start, &backwards_ns));
    CHECK_EQUAL(backwards_ns, 0);
    CHECK_OK(rondo_event_elapsed(start, start, &backwards_ns));
    CHECK_EQUAL(backwards_ns, 0);
}

/* Which of the two came last decides, so no clock is compared. */
static void an_event_stands_for_its_latest_record(struct conform *t) {
    rondo_event *start = conform_event(t);
    rondo_event *end = conform_event(t);
    rondo_buffer buffer = conform_buffer(t, 1 << 20);
    uint64_t elapsed_ns = 1;
    CHECK_OK(rondo_event_record(t->stream, end, NULL));
    conform_fill_i32(t, buffer, 1);
    CHECK_OK(rondo_event_record(t->stream, start, NULL));
    CHECK_OK(rondo_event_elapsed(start, end, &elapsed_ns));
    CHECK_EQUAL(elapsed_ns, 0);
    conform_fill_i32(t, buffer, 2);
    CHECK_OK(rondo_event_record(t->stream, end, NULL));
    CHECK_OK(rondo_event_elapsed(start, end, &elapsed_ns));
    CHECK(elapsed_ns > 0);
}

/* [E2] */
static void events_check_their_arguments(struct conform *t) {
    rondo_event *event = conform_event(t);
    rondo_event *made = (rondo_event *)&made;
    uint64_t elapsed_ns = 0;
    CHECK_OK(rondo_event_record(t->stream, event, NULL));
    CHECK_CODE(rondo_event_create(NULL, &made), RONDO_STALE);
    CHECK(made == NULL);
    CHECK_CODE(rondo_event_create(t->device, NULL), RONDO_INVALID);
    CHECK_CODE(rondo_event_record(NULL, event, NULL), RONDO_STALE);
    CHECK_CODE(rondo_event_record(t->stream, NULL, NULL), RONDO_STALE);
    CHECK_CODE(rondo_event_wait(NULL, event, NULL), RONDO_STALE);
    CHECK_CODE(rondo_event_wait(t->stream, NULL, NULL), RONDO_STALE);
    CHECK_CODE(rondo_event_status(NULL), RONDO_STALE);
    CHECK_CODE(rondo_event_sync(NULL), RONDO_STALE);
    CHECK_CODE(rondo_event_retain(NULL), RONDO_STALE);
    CHECK_CODE(rondo_event_elapsed(NULL, event, &elapsed_ns), RONDO_STALE);
    CHECK_CODE(rondo_event_elapsed(event, NULL, &elapsed_ns), RONDO_STALE);
    CHECK_CODE(rondo_event_elapsed(event, event, NULL), RONDO_INVALID);
    CHECK_EQUAL(conform_stats(t).events, 1);
    CHECK_OK(rondo_event_elapsed(event, event, &elapsed_ns));
}

/* [O1] */
static void a_retained_event_lives_until_its_last_release(struct conform *t) {
    rondo_event *event = NULL;
    CHECK_OK(rondo_event_create(t->device, &event));
    CHECK_OK(rondo_event_retain(event));
    rondo_event_release(event);
    CHECK_OK(rondo_event_record(t->stream, event, NULL));
    rondo_event_release(event);
    CHECK_CODE(rondo_event_status(event), RONDO_STALE);
    CHECK_CODE(rondo_event_record(t->stream, event, NULL), RONDO_STALE);
    rondo_event_release(event);
    rondo_event_release(NULL);
    CHECK_EQUAL(conform_stats(t).events, 0);
}

static void an_event_outlives_the_stream_that_recorded_it(struct conform *t) {
    rondo_stream *stream = NULL;
    rondo_event *event = conform_event(t);
    CHECK_OK(rondo_stream_create(t->device, &stream));
    CHECK_OK(rondo_event_record(stream, event, NULL));
    rondo_stream_release(stream);
    CHECK_OK(rondo_event_sync(event));
    CHECK_OK(rondo_event_wait(t->stream, event, NULL));
}

/* [W7] An event marks a point; that work before it failed is not its business. */
static void an_event_completes_after_failed_work_too(struct conform *t) {
    rondo_event *event = conform_event(t);
    conform_spoil(t->stream, rondo_whole(conform_buffer(t, 64)), NULL);
    CHECK_OK(rondo_event_record(t->stream, event, NULL));
    CHECK_OK(rondo_event_sync(event));
}

static void a_profile_measures_the_work_of_its_stream(struct conform *t) {
    rondo_buffer buffer = conform_buffer(t, 1 << 20);
    uint64_t elapsed_ns = 0;
    CHECK_OK(rondo_profile_start(t->stream));
    for (int32_t i = 0; i < 20; i++) {
        conform_fill_i32(t, buffer, i);
    }
    CHECK_OK(rondo_profile_end(t->stream, &elapsed_ns));
    CHECK(elapsed_ns > 0);
    CHECK_EQUAL(conform_read_i32(t, buffer, 0), 19);
}

/* [E2] */
static void profiles_start_and_end_in_turn(struct conform *t) {
    uint64_t elapsed_ns = 7;
    CHECK_CODE(rondo_profile_end(t->stream, &elapsed_ns), RONDO_STATE);
    CHECK_EQUAL(elapsed_ns, 0);
    CHECK_OK(rondo_profile_start(t->stream));
    CHECK_CODE(rondo_profile_start(t->stream), RONDO_STATE);
    CHECK_OK(rondo_profile_end(t->stream, &elapsed_ns));
    CHECK_CODE(rondo_profile_end(t->stream, &elapsed_ns), RONDO_STATE);
    CHECK_OK(rondo_profile_start(t->stream));
    CHECK_OK(rondo_profile_end(t->stream, &elapsed_ns));
}

static void each_stream_has_its_own_profile(struct conform *t) {
    rondo_stream *other = conform_stream(t);
    uint64_t elapsed_ns = 0;
    CHECK_OK(rondo_profile_start(t->stream));
    CHECK_CODE(rondo_profile_end(other, &elapsed_ns), RONDO_STATE);
    CHECK_OK(rondo_profile_start(other));
    CHECK_OK(rondo_profile_end(t->stream, &elapsed_ns));
    CHECK_OK(rondo_profile_end(other, &elapsed_ns));
}

static void a_profile_over_failed_work_is_worthless_and_says_why(struct conform *t) {
    rondo_buffer buffer = conform_buffer(t, 64);
    uint64_t elapsed_ns = 7;
    CHECK_OK(rondo_profile_start(t->stream));
    conform_spoil(t->stream, rondo_whole(buffer), "ruin");
    rondo_status status = rondo_profile_end(t->stream, &elapsed_ns);
    CHECK(status != RONDO_OK);
    CHECK_EQUAL(elapsed_ns, 0);
    CHECK_SAYS(status, "ruin");
    CHECK_OK(rondo_profile_start(t->stream));
    CHECK_OK(rondo_profile_end(t->stream, &elapsed_ns));
}

static void a_profile_over_skipped_work_is_worthless(struct conform *t) {
    rondo_buffer x = conform_buffer(t, 64);
    rondo_buffer y = conform_buffer(t, 64);
    uint64_t elapsed_ns = 7;
    conform_spoil(t->stream, rondo_whole(x), "root");
    CHECK_CODE(rondo_stream_sync(t->stream), RONDO_KERNEL);
    CHECK_OK(rondo_profile_start(t->stream));
    CHECK_CODE(rondo_copy(t->stream, rondo_whole(y), rondo_whole(x), NULL), RONDO_TAINTED);
    rondo_status status = rondo_profile_end(t->stream, &elapsed_ns);
    CHECK(status != RONDO_OK);
    CHECK_EQUAL(elapsed_ns, 0);
    CHECK_SAYS(status, "root");
}

/* [E2] */
static void profiles_check_their_arguments(struct conform *t) {
    uint64_t elapsed_ns = 0;
    CHECK_CODE(rondo_profile_start(NULL), RONDO_STALE);
    CHECK_CODE(rondo_profile_end(NULL, &elapsed_ns), RONDO_STALE);
    CHECK_OK(rondo_profile_start(t->stream));
    CHECK_CODE(rondo_profile_end(t->stream, NULL), RONDO_INVALID);
    CHECK_OK(rondo_profile_end(t->stream, &elapsed_ns));
}

const struct conform_case conform_event_points_cases[] = {
    CONFORM_CASE(an_event_completes_where_it_was_recorded, NEEDS_NOTHING),
    CONFORM_CASE(an_event_that_was_never_recorded_is_refused, NEEDS_NOTHING),
    CONFORM_CASE(another_stream_may_wait_for_an_event, NEEDS_NOTHING),
    CONFORM_CASE(time_passes_between_two_events, NEEDS_NOTHING),
    CONFORM_CASE(an_event_stands_for_its_latest_record, NEEDS_NOTHING),
    CONFORM_CASE(events_check_their_arguments, NEEDS_NOTHING),
    CONFORM_CASE(a_retained_event_lives_until_its_last_release, NEEDS_NOTHING),
    CONFORM_CASE(an_event_outlives_the_stream_that_recorded_it, NEEDS_NOTHING),
    CONFORM_CASE(an_event_completes_after_failed_work_too, NEEDS_FAILURES),
    CONFORM_CASE(a_profile_measures_the_work_of_its_stream, NEEDS_NOTHING),
    CONFORM_CASE(profiles_start_and_end_in_turn, NEEDS_NOTHING),
    CONFORM_CASE(each_stream_has_its_own_profile, NEEDS_NOTHING),
    CONFORM_CASE(a_profile_over_failed_work_is_worthless_and_says_why, NEEDS_FAILURES),
    CONFORM_CASE(a_profile_over_skipped_work_is_worthless, NEEDS_FAILURES),
    CONFORM_CASE(profiles_check_their_arguments, NEEDS_NOTHING),
    CONFORM_END,
};
