/* Streams: ordering domains that fold onto queues. */
#include "conform.h"

#define MANY 200

/* [O2] */
static void stream_ids_are_unique_and_never_zero(struct conform *t) {
    uint64_t last = rondo_stream_id(t->stream);
    CHECK(last != 0);
    for (int i = 0; i < 100; i++) {
        rondo_stream *stream = NULL;
        CHECK_OK(rondo_stream_create(t->device, &stream));
        CHECK(rondo_stream_id(stream) > last);
        last = rondo_stream_id(stream);
        rondo_stream_release(stream);
    }
}

static void each_of_many_streams_has_its_own_value(struct conform *t) {
    rondo_stream *streams[MANY];
    rondo_buffer buffers[MANY];
    for (int32_t i = 0; i < MANY; i++) {
        streams[i] = conform_stream(t);
        buffers[i] = conform_buffer_on(t, streams[i], 256);
        CHECK_OK(rondo_fill(streams[i], rondo_whole(buffers[i]), &i, sizeof i, NULL));
    }
    for (int32_t i = 0; i < MANY; i++) {
        int32_t out = -1;
        CHECK_OK(rondo_read(streams[i], rondo_slice(buffers[i], 252, 4), &out, NULL));
        CHECK_EQUAL(out, i);
    }
}

/* [O3] */
static void many_streams_fold_onto_one_queue(struct conform *t) {
    each_of_many_streams_has_its_own_value(t);
}

/* [O3] */
static void many_streams_fold_onto_three_queues(struct conform *t) {
    each_of_many_streams_has_its_own_value(t);
}

/* [O2] */
static void thousands_of_streams_may_exist(struct conform *t) {
    for (int i = 0; i < 3000; i++) {
        conform_stream(t);
    }
    CHECK_EQUAL(conform_stats(t).streams, 3001);
    rondo_buffer buffer = conform_buffer(t, 4);
    conform_fill_i32(t, buffer, 5);
    CHECK_EQUAL(conform_read_i32(t, buffer, 0), 5);
}

/* [O2] */
static void a_retained_stream_lives_until_its_last_release(struct conform *t) {
    rondo_stream *stream = NULL;
    CHECK_OK(rondo_stream_create(t->device, &stream));
    CHECK_OK(rondo_stream_retain(stream));
    rondo_stream_release(stream);
    CHECK_OK(rondo_stream_sync(stream));
    CHECK(rondo_stream_id(stream) != 0);
    rondo_stream_release(stream);
    CHECK_CODE(rondo_stream_sync(stream), RONDO_STALE);
    CHECK_CODE(rondo_stream_retain(stream), RONDO_STALE);
}

/* [O2, C17] */
static void a_dead_stream_is_recognised(struct conform *t) {
    rondo_stream *stream = NULL;
    CHECK_OK(rondo_stream_create(t->device, &stream));
    rondo_stream_release(stream);
    CHECK_EQUAL(rondo_stream_id(stream), 0);
    CHECK(!rondo_stream_is_capturing(stream));
    CHECK_EQUAL(rondo_capture_phase(stream), RONDO_PHASE_NONE);
    rondo_stream_release(stream);
    rondo_stream *next = conform_stream(t);
    CHECK(next != stream);
    CHECK_CODE(rondo_stream_sync(stream), RONDO_STALE);
    CHECK_OK(rondo_stream_sync(next));
}

/* [O4] */
static void a_buffer_outlives_its_home_stream(struct conform *t) {
    rondo_stream *home = NULL;
    CHECK_OK(rondo_stream_create(t->device, &home));
    rondo_buffer buffer = conform_buffer_on(t, home, 64);
    int32_t value = 21;
    CHECK_OK(rondo_fill(home, rondo_whole(buffer), &value, sizeof value, NULL));
    rondo_stream_release(home);
    CHECK_EQUAL(conform_read_i32(t, buffer, 15), 21);
    conform_fill_i32(t, buffer, 22);
    CHECK_EQUAL(conform_read_i32(t, buffer, 0), 22);
}

/* [E2] */
static void creating_a_stream_checks_its_arguments(struct conform *t) {
    rondo_stream *stream = (rondo_stream *)&stream;
    CHECK_CODE(rondo_stream_create(NULL, &stream), RONDO_STALE);
    CHECK(stream == NULL);
    CHECK_CODE(rondo_stream_create(t->device, NULL), RONDO_INVALID);
    CHECK_EQUAL(conform_stats(t).streams, 1);
    rondo_stream_release(NULL);
    CHECK_CODE(rondo_stream_retain(NULL), RONDO_STALE);
    CHECK_EQUAL(rondo_stream_id(NULL), 0);
}

/* [O1] A handle of one kind is no handle of another. */
static void a_handle_of_another_kind_is_stale(struct conform *t) {
    rondo_event *event = conform_event(t);
    CHECK_CODE(rondo_stream_sync((rondo_stream *)(void *)event), RONDO_STALE);
    CHECK_CODE(rondo_event_record(t->stream, (rondo_event *)(void *)t->stream, NULL), RONDO_STALE);
    CHECK_CODE(rondo_stream_sync((rondo_stream *)(void *)t->device), RONDO_STALE);
    rondo_stream_release((rondo_stream *)(void *)event);
    CHECK_OK(rondo_event_record(t->stream, event, NULL));
}

/* [O1] */
static void a_handle_that_never_was_is_stale(struct conform *t) {
    static const uintptr_t values[] = {1, 7, 0xdeadbeef, UINTPTR_MAX, UINTPTR_MAX / 2, (uintptr_t)1 << 32};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        CHECK_CODE(rondo_stream_sync((rondo_stream *)values[i]), RONDO_STALE);
        CHECK_CODE(rondo_device_sync((rondo_device *)values[i]), RONDO_STALE);
        CHECK_CODE(rondo_event_status((rondo_event *)values[i]), RONDO_STALE);
        CHECK_CODE(rondo_graph_replay((rondo_graph *)values[i], t->stream), RONDO_STALE);
        CHECK_CODE(rondo_kernel_retain((rondo_kernel *)values[i]), RONDO_STALE);
    }
}

static const rondo_device_desc one_queue = {.max_queues = 1};
static const rondo_device_desc three_queues = {.max_queues = 3};

const struct conform_case conform_object_stream_cases[] = {
    CONFORM_CASE(stream_ids_are_unique_and_never_zero, NEEDS_NOTHING),
    CONFORM_CASE_ON(many_streams_fold_onto_one_queue, NEEDS_NOTHING, &one_queue),
    CONFORM_CASE_ON(many_streams_fold_onto_three_queues, NEEDS_NOTHING, &three_queues),
    CONFORM_CASE(thousands_of_streams_may_exist, NEEDS_NOTHING),
    CONFORM_CASE(a_retained_stream_lives_until_its_last_release, NEEDS_NOTHING),
    CONFORM_CASE(a_dead_stream_is_recognised, NEEDS_NOTHING),
    CONFORM_CASE(a_buffer_outlives_its_home_stream, NEEDS_NOTHING),
    CONFORM_CASE(creating_a_stream_checks_its_arguments, NEEDS_NOTHING),
    CONFORM_CASE(a_handle_of_another_kind_is_stale, NEEDS_NOTHING),
    CONFORM_CASE(a_handle_that_never_was_is_stale, NEEDS_NOTHING),
    CONFORM_END,
};
