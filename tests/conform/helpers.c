/* Checks, makers and moving bytes: what all files of the suite share. */
#include "conform.h"

static void print_story(rondo_status status) {
    char story[2048];
    rondo_fault_describe(status, story, sizeof story);
    print_error("%s\n", story);
}

rondo_status conform_check_ok(rondo_status status, const char *text, const char *file, int line) {
    if (status != RONDO_OK) {
        print_error("%s\n  returned %s instead of OK\n", text, rondo_code_name(rondo_status_code(status)));
        print_story(status);
        _fail(file, line);
    }
    return status;
}

rondo_status conform_check_code(rondo_status status, rondo_code code, const char *text, const char *file, int line) {
    if (rondo_status_code(status) != code) {
        print_error("%s\n  returned %s instead of %s\n", text, rondo_code_name(rondo_status_code(status)),
                    rondo_code_name(code));
        if (status != RONDO_OK) {
            print_story(status);
        }
        _fail(file, line);
    }
    return status;
}

void conform_check_says(rondo_status status, const char *part, const char *file, int line) {
    char story[8192];
    rondo_fault_describe(status, story, sizeof story);
    if (strstr(story, part) == NULL) {
        print_error("\"%s\" is not in the story:\n%s\n", part, story);
        _fail(file, line);
    }
}

bool conform_queued;

rondo_status conform_stream_create(rondo_device *device, rondo_stream **out_stream) {
    const rondo_stream_desc desc = {.mode = conform_queued ? RONDO_STREAM_QUEUED : RONDO_STREAM_DIRECT};
    return rondo_stream_create_with(device, &desc, out_stream);
}

rondo_buffer conform_buffer_on(struct conform *t, rondo_stream *stream, uint64_t size_bytes) {
    rondo_buffer buffer = RONDO_NO_BUFFER;
    CHECK_OK(rondo_buffer_create(stream, size_bytes, RONDO_USAGE_GENERAL, &buffer));
    CHECK(buffer.id != 0);
    return conform_keep_buffer(t, buffer);
}

rondo_buffer conform_buffer(struct conform *t, uint64_t size_bytes) {
    return conform_buffer_on(t, t->stream, size_bytes);
}

rondo_buffer conform_buffer_i32(struct conform *t, const int32_t *values, size_t count) {
    rondo_buffer buffer = conform_buffer(t, count * sizeof values[0]);
    conform_write_i32(t, buffer, values, count);
    return buffer;
}

rondo_buffer conform_host_block(struct conform *t, uint64_t size_bytes) {
    rondo_buffer block = RONDO_NO_BUFFER;
    CHECK_OK(rondo_host_create(t->stream, size_bytes, &block));
    CHECK(block.id != 0);
    return conform_keep_buffer(t, block);
}

rondo_stream *conform_stream(struct conform *t) {
    rondo_stream *stream = NULL;
    CHECK_OK(rondo_stream_create(t->device, &stream));
    return conform_keep_stream(t, stream);
}

/* Streams are numbered in the order of creation, so one with the wanted queue comes up soon. */
static rondo_stream *stream_where(struct conform *t, rondo_stream *other, bool same_queue) {
    rondo_device_info info;
    CHECK_OK(rondo_device_get_info(t->device, &info));
    uint64_t queue = rondo_stream_id(other) % info.max_queues;
    for (uint32_t i = 0; i < 4 * info.max_queues + 4; i++) {
        rondo_stream *stream = NULL;
        CHECK_OK(rondo_stream_create(t->device, &stream));
        if ((rondo_stream_id(stream) % info.max_queues == queue) == same_queue) {
            return conform_keep_stream(t, stream);
        }
        rondo_stream_release(stream);
    }
    fail_msg("no stream %s the queue of stream %llu came up", same_queue ? "on" : "off",
             (unsigned long long)rondo_stream_id(other));
    return NULL;
}

rondo_stream *conform_neighbour(struct conform *t, rondo_stream *stream) {
    return stream_where(t, stream, true);
}

rondo_stream *conform_stranger(struct conform *t, rondo_stream *stream) {
    return stream_where(t, stream, false);
}

rondo_event *conform_event(struct conform *t) {
    rondo_event *event = NULL;
    CHECK_OK(rondo_event_create(t->device, &event));
    return conform_keep_event(t, event);
}

void conform_write_i32(struct conform *t, rondo_buffer buffer, const int32_t *values, size_t count) {
    CHECK_OK(rondo_write(t->stream, rondo_slice(buffer, 0, count * sizeof values[0]), values, NULL));
}

void conform_fill_i32(struct conform *t, rondo_buffer buffer, int32_t value) {
    CHECK_OK(rondo_fill(t->stream, rondo_whole(buffer), &value, sizeof value, NULL));
}

int32_t conform_read_i32(struct conform *t, rondo_buffer buffer, size_t index) {
    int32_t value = 0;
    CHECK_OK(rondo_read(t->stream, rondo_slice(buffer, index * sizeof value, sizeof value), &value, NULL));
    return value;
}

void conform_expect_i32(struct conform *t, rondo_buffer buffer, const int32_t *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        CHECK_EQUAL(conform_read_i32(t, buffer, i), values[i]);
    }
}

void conform_expect_all_i32(struct conform *t, rondo_buffer buffer, int32_t value, size_t count) {
    int32_t *bytes = (int32_t *)calloc(count, sizeof value);
    CHECK(bytes != NULL);
    CHECK_OK(rondo_read(t->stream, rondo_slice(buffer, 0, count * sizeof value), bytes, NULL));
    for (size_t i = 0; i < count; i++) {
        CHECK_EQUAL(bytes[i], value);
    }
    free(bytes);
}

static uint64_t length_of(rondo_span span) {
    if (span.size_bytes != RONDO_WHOLE) {
        return span.size_bytes;
    }
    rondo_buffer_info info;
    CHECK_OK(rondo_buffer_get_info(span.buffer, &info));
    return info.size_bytes - span.offset_bytes;
}

rondo_status conform_try_read(rondo_stream *stream, rondo_span span) {
    uint64_t size_bytes = length_of(span);
    void *bytes = malloc(size_bytes + 1);
    CHECK(bytes != NULL);
    rondo_status status = rondo_read(stream, span, bytes, NULL);
    free(bytes);
    return status;
}

rondo_device_stats conform_stats(struct conform *t) {
    rondo_device_stats stats;
    conform_settle(t);
    CHECK_OK(rondo_device_get_stats(t->device, &stats));
    return stats;
}

rondo_pool_report conform_report(struct conform *t, rondo_pool_kind kind) {
    rondo_pool_report report;
    conform_settle(t);
    CHECK_OK(rondo_pool_get_report(t->device, kind, &report));
    return report;
}

rondo_fault conform_fault(rondo_status status) {
    rondo_fault fault;
    CHECK_OK(rondo_fault_get(status, &fault));
    return fault;
}

void conform_expect_claimed(rondo_span span, rondo_code refusal) {
    rondo_status status = CHECK_CODE(rondo_span_status(span), RONDO_TAINTED);
    CHECK_EQUAL(rondo_status_code(rondo_fault_root(status)), refusal);
}

static int fail_on_purpose(void *user, const rondo_host_access *accesses, size_t count) {
    (void)user;
    (void)accesses;
    (void)count;
    return 5;
}

void conform_spoil(rondo_stream *stream, rondo_span span, const char *label) {
    rondo_host_access access = {span, RONDO_WRITES, NULL};
    CHECK_OK(rondo_host_call(stream, fail_on_purpose, NULL, NULL, &access, 1, label));
}
