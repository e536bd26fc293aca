/* Host calls: functions of the host's in stream order, with declared bytes. */
#include "conform.h"

#include <pthread.h>

/* What a call saw; kept in memory of the case, since a check would leave the call by a jump. */
struct seen {
    int calls, releases, result;
    size_t count;
    rondo_host_access accesses[4];
    int32_t first_values[4];
    int32_t set_to;
};

static int look(void *user, const rondo_host_access *accesses, size_t count) {
    struct seen *seen = (struct seen *)user;
    seen->calls += 1;
    seen->count = count;
    for (size_t i = 0; i < count && i < 4; i++) {
        seen->accesses[i] = accesses[i];
        if ((accesses[i].mode & RONDO_READS) != 0 && accesses[i].data != NULL) {
            memcpy(&seen->first_values[i], accesses[i].data, 4);
        }
        if ((accesses[i].mode & RONDO_WRITES) != 0 && accesses[i].data != NULL) {
            memcpy(accesses[i].data, &seen->set_to, 4);
        }
    }
    return seen->result;
}

static void count_release(void *user) {
    ((struct seen *)user)->releases += 1;
}

static rondo_host_access access_of(rondo_buffer buffer, uint64_t offset_bytes, uint64_t size_bytes,
                                   rondo_access_mode mode) {
    rondo_host_access access = {rondo_slice(buffer, offset_bytes, size_bytes), mode, NULL};
    return access;
}

static rondo_status call(struct conform *t, struct seen *seen, const rondo_host_access *accesses, size_t count) {
    return rondo_host_call(t->stream, look, seen, count_release, accesses, count, "call");
}

/* [W1] */
static void a_call_sees_what_it_declared(struct conform *t) {
    static const int32_t values[] = {1, 2, 3, 4};
    struct seen seen = {.set_to = 99};
    rondo_buffer buffer = conform_buffer_i32(t, values, 4);
    rondo_host_access accesses[] = {access_of(buffer, 4, 4, RONDO_READS), access_of(buffer, 8, 4, RONDO_READS_WRITES),
                                    access_of(buffer, 12, 4, RONDO_WRITES)};
    CHECK_OK(call(t, &seen, accesses, 3));
    CHECK_OK(rondo_stream_sync(t->stream));
    CHECK_EQUAL(seen.calls, 1);
    CHECK_EQUAL(seen.count, 3);
    for (size_t i = 0; i < 3; i++) {
        CHECK(seen.accesses[i].data != NULL);
        CHECK_EQUAL(seen.accesses[i].span.buffer.id, buffer.id);
        CHECK_EQUAL(seen.accesses[i].span.offset_bytes, accesses[i].span.offset_bytes);
        CHECK_EQUAL(seen.accesses[i].span.size_bytes, 4);
        CHECK_EQUAL(seen.accesses[i].mode, accesses[i].mode);
        CHECK(accesses[i].data == NULL);
    }
    CHECK_EQUAL(seen.first_values[0], 2);
    CHECK_EQUAL(seen.first_values[1], 3);
    static const int32_t expected[] = {1, 2, 99, 99};
    conform_expect_i32(t, buffer, expected, 4);
}

/* [W1] */
static void a_call_may_touch_blocks_and_buffers_together(struct conform *t) {
    struct seen seen = {.set_to = 41};
    rondo_buffer block = conform_host_block(t, 16);
    rondo_buffer buffer = conform_buffer(t, 16);
    conform_fill_i32(t, buffer, 6);
    rondo_host_access accesses[] = {access_of(block, 8, 8, RONDO_WRITES), access_of(buffer, 0, 16, RONDO_READS)};
    CHECK_OK(call(t, &seen, accesses, 2));
    CHECK_OK(rondo_host_wait(block));
    CHECK(seen.accesses[0].data == (unsigned char *)rondo_host_data(block) + 8);
    CHECK_EQUAL(((const int32_t *)rondo_host_data(block))[2], 41);
    CHECK_EQUAL(seen.first_values[1], 6);
}

/* [W1] */
static void a_call_may_touch_nothing(struct conform *t) {
    struct seen seen = {0};
    CHECK_OK(call(t, &seen, NULL, 0));
    CHECK_OK(rondo_stream_sync(t->stream));
    CHECK_EQUAL(seen.calls, 1);
    CHECK_EQUAL(seen.count, 0);
}

/* [W1] RONDO_WHOLE is told as the size that it stands for. */
static void a_call_is_told_real_sizes(struct conform *t) {
    struct seen seen = {0};
    rondo_host_access access = access_of(conform_host_block(t, 100), 20, RONDO_WHOLE, RONDO_READS);
    CHECK_OK(call(t, &seen, &access, 1));
    CHECK_OK(rondo_stream_sync(t->stream));
    CHECK_EQUAL(seen.accesses[0].span.size_bytes, 80);
    CHECK_EQUAL(seen.accesses[0].span.offset_bytes, 20);
}

/* [W1] */
static void calls_keep_the_order_of_the_stream(struct conform *t) {
    rondo_buffer buffer = conform_buffer(t, 4);
    rondo_host_access access = access_of(buffer, 0, 4, RONDO_READS_WRITES);
    for (int32_t i = 0; i < 100; i++) {
        struct seen seen = {.set_to = -i};
        CHECK_OK(rondo_fill(t->stream, rondo_whole(buffer), &i, 4, NULL));
        CHECK_OK(call(t, &seen, &access, 1));
        CHECK_EQUAL(conform_read_i32(t, buffer, 0), -i);
        CHECK_EQUAL(seen.first_values[0], i);
        CHECK_OK(rondo_stream_sync(t->stream));
        CHECK_EQUAL(seen.releases, 1);
    }
}

/* [W1] */
static void what_a_call_stands_on_is_released_once(struct conform *t) {
    struct seen seen = {0};
    CHECK_OK(call(t, &seen, NULL, 0));
    CHECK_OK(rondo_stream_sync(t->stream));
    CHECK_EQUAL(seen.releases, 1);
    CHECK_OK(rondo_host_call(t->stream, look, &seen, NULL, NULL, 0, NULL));
    CHECK_OK(rondo_device_sync(t->device));
    CHECK_EQUAL(seen.calls, 2);
    CHECK_EQUAL(seen.releases, 1);
}

/* [C7, R7] */
static void a_recorded_call_is_released_with_its_last_graph(struct conform *t) {
    struct seen seen = {0};
    rondo_graph *graph = NULL;
    CHECK_OK(rondo_capture_prepare(t->stream));
    CHECK_OK(rondo_capture_begin(t->stream));
    CHECK_OK(call(t, &seen, NULL, 0));
    CHECK_OK(rondo_capture_end(t->stream, RONDO_END_DEFAULT, &graph));
    CHECK_EQUAL(seen.calls, 0);
    for (int i = 1; i <= 3; i++) {
        CHECK_OK(rondo_graph_replay(graph, t->stream));
        CHECK_OK(rondo_stream_sync(t->stream));
        CHECK_EQUAL(seen.calls, i);
    }
    CHECK_EQUAL(seen.releases, 0);
    rondo_graph_release(graph);
    CHECK_OK(rondo_device_sync(t->device));
    CHECK_EQUAL(seen.releases, 1);
}

/* [C12] */
static void a_recorded_call_is_released_when_its_window_is_dropped(struct conform *t) {
    struct seen seen = {0};
    CHECK_OK(rondo_capture_prepare(t->stream));
    CHECK_OK(rondo_capture_begin(t->stream));
    CHECK_OK(call(t, &seen, NULL, 0));
    CHECK_OK(rondo_capture_abort(t->stream));
    CHECK_OK(rondo_device_sync(t->device));
    CHECK_EQUAL(seen.calls, 0);
    CHECK_EQUAL(seen.releases, 1);
}

/* [W7] */
static void a_call_that_fails_claims_what_it_writes(struct conform *t) {
    struct seen seen = {.result = 1234, .set_to = 5};
    rondo_buffer buffer = conform_buffer(t, 64);
    conform_fill_i32(t, buffer, 1);
    rondo_host_access accesses[] = {access_of(buffer, 0, 16, RONDO_READS), access_of(buffer, 16, 16, RONDO_WRITES)};
    CHECK_OK(call(t, &seen, accesses, 2));
    CHECK_OK(rondo_span_status(rondo_slice(buffer, 0, 16)));
    CHECK_CODE(rondo_span_status(rondo_slice(buffer, 16, 16)), RONDO_TAINTED);
    CHECK_OK(rondo_span_status(rondo_slice(buffer, 32, 32)));
    rondo_status status = CHECK_CODE(rondo_stream_sync(t->stream), RONDO_KERNEL);
    CHECK_SAYS(status, "1234");
    assert_string_equal(conform_fault(status).label, "call");
    CHECK_EQUAL(seen.releases, 1);
    CHECK_EQUAL(seen.calls, 1);
}

/* [T6] */
static void a_call_on_spoiled_bytes_is_skipped(struct conform *t) {
    struct seen seen = {0};
    rondo_buffer x = conform_buffer(t, 16);
    rondo_buffer y = conform_buffer(t, 16);
    conform_spoil(t->stream, rondo_slice(x, 8, 1), "root");
    rondo_host_access accesses[] = {access_of(x, 0, 16, RONDO_READS), access_of(y, 0, 16, RONDO_WRITES)};
    CHECK_CODE(call(t, &seen, accesses, 2), RONDO_TAINTED);
    CHECK_CODE(rondo_span_status(rondo_whole(y)), RONDO_TAINTED);
    CHECK_CODE(rondo_stream_sync(t->stream), RONDO_KERNEL);
    CHECK_EQUAL(seen.calls, 0);
    CHECK_EQUAL(seen.releases, 0);
    accesses[0] = access_of(x, 0, 8, RONDO_READS);
    CHECK_OK(call(t, &seen, accesses, 2));
    CHECK_OK(rondo_span_status(rondo_whole(y)));
    CHECK_EQUAL(seen.calls, 1);
}

/* [T3] Bytes that a call only reads stay as they are; spoiled ones that it only writes are no obstacle. */
static void a_call_that_only_writes_needs_nothing(struct conform *t) {
    struct seen seen = {.set_to = 3};
    rondo_buffer x = conform_buffer(t, 4);
    conform_spoil(t->stream, rondo_whole(x), "root");
    rondo_host_access access = access_of(x, 0, 4, RONDO_WRITES);
    CHECK_OK(call(t, &seen, &access, 1));
    CHECK_EQUAL(conform_read_i32(t, x, 0), 3);
    access.mode = RONDO_READS_WRITES;
    conform_spoil(t->stream, rondo_whole(x), "root");
    CHECK_CODE(call(t, &seen, &access, 1), RONDO_TAINTED);
}

/* [E2] */
static void a_call_checks_its_arguments(struct conform *t) {
    struct seen seen = {0};
    rondo_buffer buffer = conform_buffer(t, 16);
    rondo_host_access access = access_of(buffer, 0, 16, RONDO_WRITES);
    CHECK_CODE(rondo_host_call(t->stream, NULL, &seen, count_release, NULL, 0, NULL), RONDO_INVALID);
    CHECK_CODE(rondo_host_call(NULL, look, &seen, count_release, NULL, 0, NULL), RONDO_STALE);
    CHECK_CODE(call(t, &seen, NULL, 1), RONDO_INVALID);
    access.mode = (rondo_access_mode)0;
    CHECK_CODE(call(t, &seen, &access, 1), RONDO_INVALID);
    access.mode = (rondo_access_mode)4;
    CHECK_CODE(call(t, &seen, &access, 1), RONDO_INVALID);
    access = access_of(buffer, 8, 9, RONDO_READS);
    CHECK_CODE(call(t, &seen, &access, 1), RONDO_RANGE);
    access = access_of(RONDO_NO_BUFFER, 0, 0, RONDO_READS);
    CHECK_CODE(call(t, &seen, &access, 1), RONDO_STALE);
    CHECK_EQUAL(seen.calls, 0);
    CHECK_EQUAL(seen.releases, 0);
    access = access_of(buffer, 8, 8, RONDO_READS);
    CHECK_OK(call(t, &seen, &access, 1));
    CHECK_EQUAL(seen.calls, 1);
}

/* [W8] */
static void accesses_that_overlap_may_only_read(struct conform *t) {
    struct seen seen = {0};
    rondo_buffer buffer = conform_buffer(t, 64);
    conform_fill_i32(t, buffer, 1);
    rondo_host_access accesses[] = {access_of(buffer, 0, 32, RONDO_READS), access_of(buffer, 31, 8, RONDO_WRITES)};
    CHECK_CODE(call(t, &seen, accesses, 2), RONDO_ALIASED);
    accesses[0].mode = RONDO_WRITES;
    CHECK_CODE(call(t, &seen, accesses, 2), RONDO_ALIASED);
    accesses[0].mode = accesses[1].mode = RONDO_READS;
    CHECK_EQUAL(seen.calls, 0);
    conform_fill_i32(t, buffer, 1);
    CHECK_OK(call(t, &seen, accesses, 2));
    accesses[1] = access_of(buffer, 32, 8, RONDO_WRITES);
    CHECK_OK(call(t, &seen, accesses, 2));
    CHECK_EQUAL(seen.calls, 2);
}

/* [W3] */
static void a_call_is_ordered_against_other_streams(struct conform *t) {
    rondo_stream *other = conform_stranger(t, t->stream);
    rondo_buffer buffer = conform_buffer(t, 4);
    rondo_host_access access = access_of(buffer, 0, 4, RONDO_READS_WRITES);
    for (int32_t i = 1; i < 100; i++) {
        struct seen seen = {.set_to = -i};
        CHECK_OK(rondo_fill(other, rondo_whole(buffer), &i, 4, NULL));
        CHECK_OK(call(t, &seen, &access, 1));
        int32_t out = 0;
        CHECK_OK(rondo_read(other, rondo_whole(buffer), &out, NULL));
        CHECK_EQUAL(out, -i);
        CHECK_EQUAL(seen.first_values[0], i);
    }
}

/* What a thread that is started inside a host call does on another stream. */
struct helper {
    rondo_stream *stream;
    rondo_buffer buffer;
    rondo_status status;
};

static void *fill_elsewhere(void *user) {
    struct helper *helper = (struct helper *)user;
    int32_t value = 88;
    helper->status = rondo_fill(helper->stream, rondo_whole(helper->buffer), &value, 4, NULL);
    return NULL;
}

static int start_helper(void *user, const rondo_host_access *accesses, size_t count) {
    (void)accesses;
    (void)count;
    pthread_t thread;
    return pthread_create(&thread, NULL, fill_elsewhere, user) != 0 || pthread_join(thread, NULL) != 0;
}

/* [E5] No lock but its stream's is held while a host call runs. */
static void other_streams_work_while_a_call_runs(struct conform *t) {
    rondo_stream *other = conform_stranger(t, t->stream);
    struct helper helper = {other, conform_buffer_on(t, other, 64), RONDO_OK};
    CHECK_OK(rondo_host_call(t->stream, start_helper, &helper, NULL, NULL, 0, NULL));
    CHECK_OK(rondo_stream_sync(t->stream));
    CHECK_OK(helper.status);
    CHECK_EQUAL(conform_read_i32(t, helper.buffer, 15), 88);
}

/* [E5, W3] Bytes that the call did not declare are no business of its, wherever their home is. */
static void bytes_at_home_with_a_running_call_can_be_used(struct conform *t) {
    struct helper helper = {conform_stranger(t, t->stream), conform_buffer(t, 64), RONDO_OK};
    CHECK_OK(rondo_host_call(t->stream, start_helper, &helper, NULL, NULL, 0, NULL));
    CHECK_OK(rondo_stream_sync(t->stream));
    CHECK_OK(helper.status);
    CHECK_EQUAL(conform_read_i32(t, helper.buffer, 15), 88);
}

const struct conform_case conform_host_calls_cases[] = {
    CONFORM_CASE(a_call_sees_what_it_declared, NEEDS_MAP),
    CONFORM_CASE(a_call_may_touch_blocks_and_buffers_together, NEEDS_MAP),
    CONFORM_CASE(a_call_may_touch_nothing, NEEDS_NOTHING),
    CONFORM_CASE(a_call_is_told_real_sizes, NEEDS_NOTHING),
    CONFORM_CASE(calls_keep_the_order_of_the_stream, NEEDS_MAP),
    CONFORM_CASE(what_a_call_stands_on_is_released_once, NEEDS_NOTHING),
    CONFORM_CASE(a_recorded_call_is_released_with_its_last_graph, NEEDS_NOTHING),
    CONFORM_CASE(a_recorded_call_is_released_when_its_window_is_dropped, NEEDS_NOTHING),
    CONFORM_CASE(a_call_that_fails_claims_what_it_writes, NEEDS_FAILURES),
    CONFORM_CASE(a_call_on_spoiled_bytes_is_skipped, NEEDS_FAILURES),
    CONFORM_CASE(a_call_that_only_writes_needs_nothing, NEEDS_MAP),
    CONFORM_CASE(a_call_checks_its_arguments, NEEDS_FAILURES),
    CONFORM_CASE(accesses_that_overlap_may_only_read, NEEDS_FAILURES),
    CONFORM_CASE(a_call_is_ordered_against_other_streams, NEEDS_MAP),
    CONFORM_CASE(other_streams_work_while_a_call_runs, NEEDS_NOTHING),
    CONFORM_CASE(bytes_at_home_with_a_running_call_can_be_used, NEEDS_NOTHING),
    CONFORM_END,
};
