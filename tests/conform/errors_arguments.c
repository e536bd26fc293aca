/* Bad handles, everywhere: each call is tried with good arguments, with no live stream, with no live buffer. */
#include "conform.h"

static int do_nothing(void *user, const rondo_host_access *accesses, size_t count) {
    (void)user;
    (void)accesses;
    (void)count;
    return 0;
}

static rondo_status try_write(struct conform *t, rondo_stream *stream, rondo_buffer buffer) {
    (void)t;
    return rondo_write(stream, rondo_slice(buffer, 0, 16), &(int32_t[4]){9, 9, 9, 9}, "attempt");
}

static rondo_status try_read(struct conform *t, rondo_stream *stream, rondo_buffer buffer) {
    (void)t;
    return rondo_read(stream, rondo_slice(buffer, 0, 16), &(int32_t[4]){0}, "attempt");
}

static rondo_status try_fill(struct conform *t, rondo_stream *stream, rondo_buffer buffer) {
    (void)t;
    return rondo_fill(stream, rondo_whole(buffer), "\11\0\0\0", 4, "attempt");
}

static rondo_status try_copy_to(struct conform *t, rondo_stream *stream, rondo_buffer buffer) {
    rondo_buffer other = conform_buffer(t, 64);
    return rondo_copy(stream, rondo_slice(buffer, 0, 16), rondo_slice(other, 0, 16), "attempt");
}

static rondo_status try_copy_from(struct conform *t, rondo_stream *stream, rondo_buffer buffer) {
    rondo_buffer other = conform_buffer(t, 64);
    return rondo_copy(stream, rondo_slice(other, 0, 16), rondo_slice(buffer, 0, 16), "attempt");
}

static rondo_status try_copy_2d_to(struct conform *t, rondo_stream *stream, rondo_buffer buffer) {
    rondo_rect to = {rondo_slice(buffer, 0, 16), 8};
    rondo_rect from = {rondo_whole(conform_buffer(t, 64)), 8};
    return rondo_copy_2d(stream, to, from, 4, 2, "attempt");
}

static rondo_status try_copy_2d_from(struct conform *t, rondo_stream *stream, rondo_buffer buffer) {
    rondo_rect to = {rondo_whole(conform_buffer(t, 64)), 8};
    rondo_rect from = {rondo_slice(buffer, 0, 16), 8};
    return rondo_copy_2d(stream, to, from, 4, 2, "attempt");
}

static rondo_status try_write_live(struct conform *t, rondo_stream *stream, rondo_buffer buffer) {
    rondo_buffer block = conform_host_block(t, 16);
    return rondo_write_live(stream, rondo_slice(buffer, 0, 16), rondo_whole(block), "attempt");
}

static rondo_status try_read_async(struct conform *t, rondo_stream *stream, rondo_buffer buffer) {
    rondo_buffer block = conform_host_block(t, 16);
    return rondo_read_async(stream, rondo_slice(buffer, 0, 16), rondo_whole(block), "attempt");
}

static rondo_status try_host_call(struct conform *t, rondo_stream *stream, rondo_buffer buffer) {
    (void)t;
    rondo_host_access access = {rondo_slice(buffer, 0, 16), RONDO_READS, NULL};
    return rondo_host_call(stream, do_nothing, NULL, NULL, &access, 1, "attempt");
}

struct attempt {
    const char *name;
    rondo_status (*run)(struct conform *t, rondo_stream *stream, rondo_buffer buffer);
};

static const struct attempt attempts[] = {
    {"write", try_write},
    {"read", try_read},
    {"fill", try_fill},
    {"copy to", try_copy_to},
    {"copy from", try_copy_from},
    {"copy_2d to", try_copy_2d_to},
    {"copy_2d from", try_copy_2d_from},
    {"write_live", try_write_live},
    {"read_async", try_read_async},
    {"host_call", try_host_call},
};

/* The host call comes last, so that it can be left out where the host cannot reach device memory. */
static size_t attempts_on(const struct conform *t) {
    size_t all = sizeof attempts / sizeof attempts[0];
    return (conform_backend_find(t->backend)->offers & NEEDS_MAP) != 0 ? all : all - 1;
}

static void expect_all(struct conform *t, rondo_stream *stream, rondo_buffer buffer, rondo_code code) {
    for (size_t i = 0; i < attempts_on(t); i++) {
        rondo_status status = attempts[i].run(t, stream, buffer);
        if (rondo_status_code(status) != code) {
            print_error("%s:\n", attempts[i].name);
        }
        CHECK_CODE(status, code);
        if (code != RONDO_CODE_OK) {
            assert_string_equal(conform_fault(status).label, "attempt");
        }
    }
}

/* A buffer of 64 bytes, all 5, and what must be so after calls that were refused. */
static rondo_buffer fives(struct conform *t) {
    rondo_buffer buffer = conform_buffer(t, 64);
    conform_fill_i32(t, buffer, 5);
    return buffer;
}

static void expect_fives(struct conform *t, rondo_buffer buffer) {
    conform_expect_all_i32(t, buffer, 5, 16);
    CHECK_OK(rondo_stream_sync(t->stream));
}

/* [E2] The legal neighbour of all cases below. */
static void good_arguments_are_accepted_everywhere(struct conform *t) {
    expect_all(t, t->stream, fives(t), RONDO_CODE_OK);
}

/* [E2] */
static void a_null_stream_is_stale_everywhere(struct conform *t) {
    rondo_buffer buffer = fives(t);
    expect_all(t, NULL, buffer, RONDO_STALE);
    CHECK_CODE(rondo_stream_sync(NULL), RONDO_STALE);
    expect_fives(t, buffer);
}

/* [E2] */
static void a_released_stream_is_stale_everywhere(struct conform *t) {
    rondo_buffer buffer = fives(t);
    rondo_stream *stream = NULL;
    CHECK_OK(rondo_stream_create(t->device, &stream));
    rondo_stream_release(stream);
    expect_all(t, stream, buffer, RONDO_STALE);
    expect_fives(t, buffer);
}

/* [E2] */
static void a_null_buffer_is_stale_everywhere(struct conform *t) {
    expect_all(t, t->stream, RONDO_NO_BUFFER, RONDO_STALE);
    CHECK_CODE(rondo_span_status(rondo_whole(RONDO_NO_BUFFER)), RONDO_STALE);
    CHECK_OK(rondo_stream_sync(t->stream));
}

/* [E2] */
static void a_released_buffer_is_stale_everywhere(struct conform *t) {
    rondo_buffer buffer = fives(t);
    rondo_buffer_release(buffer);
    rondo_buffer heir = fives(t);
    expect_all(t, t->stream, buffer, RONDO_STALE);
    CHECK_CODE(rondo_span_status(rondo_whole(buffer)), RONDO_STALE);
    expect_fives(t, heir);
}

/* [E2] */
static void a_number_that_never_was_a_buffer_is_stale_everywhere(struct conform *t) {
    static const uint64_t numbers[] = {1, 2, 3, 255, 65536, UINT64_C(1) << 40, UINT64_C(1) << 63, UINT64_MAX};
    rondo_buffer buffer = fives(t);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (numbers[i] != buffer.id) {
            expect_all(t, t->stream, (rondo_buffer){numbers[i]}, RONDO_STALE);
        }
    }
    expect_all(t, t->stream, (rondo_buffer){buffer.id ^ (UINT64_C(1) << 50)}, RONDO_STALE);
    rondo_buffer_release((rondo_buffer){buffer.id ^ (UINT64_C(1) << 50)});
    expect_fives(t, buffer);
}

/* [E2] A buffer that is too small, where the calls need 16 bytes. */
static void a_span_past_the_end_is_out_of_range_everywhere(struct conform *t) {
    rondo_buffer small = conform_buffer(t, 15);
    for (size_t i = 0; i < attempts_on(t); i++) {
        if (attempts[i].run != try_fill) {
            CHECK_CODE(attempts[i].run(t, t->stream, small), RONDO_RANGE);
        }
    }
    CHECK_OK(rondo_stream_sync(t->stream));
    rondo_buffer enough = conform_buffer(t, 16);
    expect_all(t, t->stream, enough, RONDO_CODE_OK);
}

/* [E2, T8] */
static void bytes_of_nowhere_are_invalid(struct conform *t) {
    rondo_buffer buffer = fives(t);
    CHECK_CODE(rondo_read(t->stream, rondo_whole(buffer), NULL, NULL), RONDO_INVALID);
    expect_fives(t, buffer);
    CHECK_CODE(rondo_write(t->stream, rondo_slice(buffer, 32, 32), NULL, NULL), RONDO_INVALID);
    CHECK_OK(conform_try_read(t->stream, rondo_slice(buffer, 0, 32)));
    conform_expect_claimed(rondo_slice(buffer, 32, 32), RONDO_INVALID);
}

/* [E2] Refusals of arguments neither count as work nor run anything. */
static void refused_calls_change_no_count(struct conform *t) {
    rondo_buffer buffer = fives(t);
    rondo_device_stats before = conform_stats(t);
    CHECK_CODE(try_write(t, NULL, buffer), RONDO_STALE);
    CHECK_CODE(try_fill(t, t->stream, RONDO_NO_BUFFER), RONDO_STALE);
    CHECK_CODE(rondo_read(t->stream, rondo_slice(buffer, 60, 5), &(int64_t){0}, NULL), RONDO_RANGE);
    rondo_device_stats after = conform_stats(t);
    CHECK_EQUAL(after.transfers, before.transfers);
    CHECK_EQUAL(after.host_calls, before.host_calls);
    CHECK_EQUAL(after.buffers, before.buffers);
    CHECK_EQUAL(after.skipped, before.skipped);
    CHECK_EQUAL(after.tainted_allocations, 0);
}

/* [E2] */
static void graphs_of_nowhere_are_stale(struct conform *t) {
    rondo_graph_info info;
    rondo_node_info node;
    rondo_node_span span;
    uint64_t number = 0;
    rondo_update update = rondo_update_value(0, "k", &number, 4);
    CHECK_CODE(rondo_graph_retain(NULL), RONDO_STALE);
    CHECK_CODE(rondo_graph_replay(NULL, t->stream), RONDO_STALE);
    CHECK_CODE(rondo_graph_get_info(NULL, &info), RONDO_STALE);
    CHECK_CODE(rondo_graph_get_node(NULL, 0, &node), RONDO_STALE);
    CHECK_CODE(rondo_graph_get_node_span(NULL, 0, 0, &span), RONDO_STALE);
    CHECK_CODE(rondo_graph_get_predecessor(NULL, 0, 0, &number), RONDO_STALE);
    CHECK_CODE(rondo_graph_update(NULL, &update, 1), RONDO_STALE);
    rondo_graph_release(NULL);
    rondo_graph_release((rondo_graph *)(void *)t->stream);
    CHECK_OK(rondo_stream_sync(t->stream));
}

/* [E2] */
static void captures_of_nowhere_are_stale(struct conform *t) {
    rondo_graph *graph = (rondo_graph *)&graph;
    rondo_window_info info;
    CHECK_CODE(rondo_capture_prepare(NULL), RONDO_STALE);
    CHECK_CODE(rondo_capture_begin(NULL), RONDO_STALE);
    CHECK_CODE(rondo_capture_end(NULL, RONDO_END_DEFAULT, &graph), RONDO_STALE);
    CHECK(graph == NULL);
    CHECK_CODE(rondo_capture_abort(NULL), RONDO_STALE);
    CHECK_CODE(rondo_capture_get_info(NULL, &info), RONDO_STALE);
    CHECK(!rondo_stream_is_capturing(NULL));
    CHECK_EQUAL(rondo_capture_phase(NULL), RONDO_PHASE_NONE);
    CHECK_CODE(rondo_run_forget(NULL, 1), RONDO_STALE);
    CHECK_OK(rondo_capture_prepare(t->stream));
    CHECK_OK(rondo_capture_abort(t->stream));
}

/* [E2] */
static void devices_of_nowhere_are_stale(struct conform *t) {
    rondo_device_info info;
    CHECK_CODE(rondo_device_get_info(NULL, &info), RONDO_STALE);
    CHECK_CODE(rondo_device_get_info(t->device, NULL), RONDO_INVALID);
    CHECK_CODE(rondo_device_sync(NULL), RONDO_STALE);
    CHECK_CODE(rondo_device_retain(NULL), RONDO_STALE);
    CHECK_CODE(rondo_device_trim(NULL, NULL), RONDO_STALE);
    rondo_device_release((rondo_device *)(void *)t->stream);
    CHECK_OK(rondo_device_sync(t->device));
}

static void *last_seen_text;
static int lines;
static rondo_status last_status;
static uint32_t last_item;

static void count_line(void *user, rondo_log_level level, uint32_t item, rondo_status status, const char *text) {
    (void)level;
    char story[512];
    last_seen_text = user;
    last_item = item;
    last_status = status;
    lines += strchr(text, '\n') == NULL ? 1 : 1000;
    rondo_fault_describe(status, story, sizeof story);
}

/* [E4] */
static void a_logger_hears_of_a_failed_call(struct conform *t) {
    rondo_log_set(count_line, &lines, RONDO_LOG_INFO);
    rondo_status status = CHECK_CODE(try_fill(t, t->stream, RONDO_NO_BUFFER), RONDO_STALE);
    rondo_log_set(NULL, NULL, RONDO_LOG_ERROR);
    CHECK_EQUAL(lines, 1);
    CHECK(last_status == status);
    CHECK_EQUAL(last_item, RONDO_LOG_ITEM_FAILURE);
    CHECK(last_seen_text == &lines);
    CHECK_CODE(try_fill(t, t->stream, RONDO_NO_BUFFER), RONDO_STALE);
    CHECK_EQUAL(lines, 1);
}

/* [E4] */
static void a_logger_of_errors_hears_errors(struct conform *t) {
    rondo_log_set(count_line, NULL, RONDO_LOG_ERROR);
    CHECK_CODE(try_fill(t, t->stream, RONDO_NO_BUFFER), RONDO_STALE);
    rondo_log_set(NULL, NULL, RONDO_LOG_ERROR);
    CHECK_EQUAL(lines, 1);
}

static struct conform *logging;

static void use_the_device(void *user, rondo_log_level level, uint32_t item, rondo_status status, const char *text) {
    (void)level;
    (void)item;
    (void)status;
    (void)text;
    rondo_device_stats stats;
    int32_t value = 3;
    lines += rondo_device_get_stats(logging->device, &stats) == RONDO_OK;
    lines += rondo_fill(logging->stream, rondo_whole(*(rondo_buffer *)user), &value, 4, NULL) == RONDO_OK;
}

/* [E4, E5] */
static void a_logger_is_called_without_locks(struct conform *t) {
    rondo_buffer buffer = conform_buffer(t, 16);
    logging = t;
    rondo_log_set(use_the_device, &buffer, RONDO_LOG_INFO);
    CHECK_CODE(try_fill(t, t->stream, RONDO_NO_BUFFER), RONDO_STALE);
    rondo_log_set(NULL, NULL, RONDO_LOG_ERROR);
    CHECK_EQUAL(lines, 2);
    conform_expect_all_i32(t, buffer, 3, 4);
}

const struct conform_case conform_errors_arguments_cases[] = {
    CONFORM_CASE(good_arguments_are_accepted_everywhere, NEEDS_NOTHING),
    CONFORM_CASE(a_null_stream_is_stale_everywhere, NEEDS_NOTHING),
    CONFORM_CASE(a_released_stream_is_stale_everywhere, NEEDS_NOTHING),
    CONFORM_CASE(a_null_buffer_is_stale_everywhere, NEEDS_NOTHING),
    CONFORM_CASE(a_released_buffer_is_stale_everywhere, NEEDS_NOTHING),
    CONFORM_CASE(a_number_that_never_was_a_buffer_is_stale_everywhere, NEEDS_NOTHING),
    CONFORM_CASE(a_span_past_the_end_is_out_of_range_everywhere, NEEDS_NOTHING),
    CONFORM_CASE(bytes_of_nowhere_are_invalid, NEEDS_NOTHING),
    CONFORM_CASE(refused_calls_change_no_count, NEEDS_NOTHING),
    CONFORM_CASE(graphs_of_nowhere_are_stale, NEEDS_NOTHING),
    CONFORM_CASE(captures_of_nowhere_are_stale, NEEDS_NOTHING),
    CONFORM_CASE(devices_of_nowhere_are_stale, NEEDS_NOTHING),
    CONFORM_CASE(a_logger_hears_of_a_failed_call, NEEDS_NOTHING),
    CONFORM_CASE(a_logger_of_errors_hears_errors, NEEDS_NOTHING),
    CONFORM_CASE(a_logger_is_called_without_locks, NEEDS_NOTHING),
    CONFORM_END,
};
