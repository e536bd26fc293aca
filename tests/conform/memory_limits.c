/* Limits: caps, sizes that cannot be, sums that overflow; and that a refusal costs nothing. */
#include "conform.h"

static rondo_status create(struct conform *t, uint64_t size_bytes, rondo_usage usage, rondo_buffer *out_buffer) {
    out_buffer->id = 99;
    rondo_status status = rondo_buffer_create(t->stream, size_bytes, usage, out_buffer);
    CHECK_EQUAL(out_buffer->id == 0, status != RONDO_OK);
    if (status == RONDO_OK) {
        conform_keep_buffer(t, *out_buffer);
    }
    return status;
}

/* [M4, E3] */
static void a_full_pool_says_what_was_asked(struct conform *t) {
    rondo_buffer buffer;
    rondo_status status = CHECK_CODE(create(t, 1048577, RONDO_USAGE_LASTING, &buffer), RONDO_NO_DEVICE_MEMORY);
    CHECK_SAYS(status, "1048577");
    CHECK_OK(create(t, 1048576, RONDO_USAGE_LASTING, &buffer));
}

static void check_same(const rondo_pool_report *before, const rondo_pool_report *after) {
    assert_memory_equal(before, after, sizeof *before);
}

/* [M4] */
static void a_refused_allocation_changes_nothing(struct conform *t) {
    rondo_buffer mine;
    rondo_buffer refused;
    CHECK_OK(create(t, 1 << 19, RONDO_USAGE_LASTING, &mine));
    conform_fill_i32(t, mine, 31);
    rondo_pool_report before = conform_report(t, RONDO_POOL_OWN);
    rondo_device_stats stats = conform_stats(t);
    for (int i = 0; i < 10; i++) {
        CHECK_CODE(create(t, (1 << 19) + 64, RONDO_USAGE_LASTING, &refused), RONDO_NO_DEVICE_MEMORY);
    }
    rondo_pool_report after = conform_report(t, RONDO_POOL_OWN);
    check_same(&before, &after);
    CHECK_EQUAL(conform_stats(t).buffers, stats.buffers);
    conform_expect_all_i32(t, mine, 31, (1 << 19) / 4);
    CHECK_EQUAL(rondo_fault_live_count(), 0);
}

/* [M4] */
static void room_that_was_given_back_serves_again(struct conform *t) {
    rondo_buffer first;
    rondo_buffer second;
    for (int i = 0; i < 5; i++) {
        CHECK_OK(create(t, 900000, RONDO_USAGE_LASTING, &first));
        CHECK_CODE(create(t, 900000, RONDO_USAGE_LASTING, &second), RONDO_NO_DEVICE_MEMORY);
        rondo_buffer_release(first);
        CHECK_OK(create(t, 1000000, RONDO_USAGE_LASTING, &second));
        rondo_buffer_release(second);
    }
}

/* [M4] Under pressure what nobody uses is cleaned up, and then it fits. */
static void pressure_cleans_up_before_it_refuses(struct conform *t) {
    rondo_buffer buffers[12];
    for (size_t i = 0; i < 12; i++) {
        CHECK_OK(create(t, 70000, RONDO_USAGE_GENERAL, &buffers[i]));
        conform_fill_i32(t, buffers[i], (int32_t)i);
    }
    for (size_t i = 0; i < 12; i++) {
        if (i != 3) {
            rondo_buffer_release(buffers[i]);
        }
    }
    rondo_buffer big;
    CHECK_OK(create(t, 400000, RONDO_USAGE_GENERAL, &big));
    conform_fill_i32(t, big, 17);
    conform_expect_all_i32(t, buffers[3], 3, 17500);
    conform_expect_all_i32(t, big, 17, 100000);
}

/* [M1, M4] Each part has its own cap. */
static void one_full_part_leaves_room_in_the_others(struct conform *t) {
    rondo_buffer buffer;
    CHECK_OK(create(t, 1048576, RONDO_USAGE_LASTING, &buffer));
    CHECK_CODE(create(t, 64, RONDO_USAGE_LASTING, &buffer), RONDO_NO_DEVICE_MEMORY);
    CHECK_CODE(create(t, 64, RONDO_USAGE_ONE_OFF, &buffer), RONDO_NO_DEVICE_MEMORY);
    CHECK_OK(create(t, 64, RONDO_USAGE_GENERAL, &buffer));
    CHECK_OK(create(t, 100000, RONDO_USAGE_GENERAL, &buffer));
}

/* [M1, M4] */
static void small_buffers_have_a_cap(struct conform *t) {
    rondo_buffer buffer;
    rondo_status status = RONDO_OK;
    int made = 0;
    while (status == RONDO_OK && made < 100000) {
        status = create(t, 4096, RONDO_USAGE_GENERAL, &buffer);
        made += status == RONDO_OK;
    }
    CHECK_CODE(status, RONDO_NO_DEVICE_MEMORY);
    CHECK_EQUAL(made, 64);
    CHECK(conform_report(t, RONDO_POOL_SMALL).reserved_bytes <= 262144);
    CHECK_OK(create(t, 100000, RONDO_USAGE_GENERAL, &buffer));
}

/* [M1, M4] */
static void general_pages_have_a_cap(struct conform *t) {
    rondo_buffer buffer;
    rondo_status status = RONDO_OK;
    int made = 0;
    while (status == RONDO_OK && made < 1000) {
        status = create(t, 131072, RONDO_USAGE_GENERAL, &buffer);
        made += status == RONDO_OK;
    }
    CHECK_CODE(status, RONDO_NO_DEVICE_MEMORY);
    CHECK(made >= 4 && made <= 8);
    CHECK(conform_report(t, RONDO_POOL_SHARED).reserved_bytes <= 1048576);
}

/* [M7, M4] */
static void host_memory_has_a_cap(struct conform *t) {
    rondo_buffer block = {7};
    CHECK_CODE(rondo_host_create(t->stream, 1048577, &block), RONDO_NO_HOST_MEMORY);
    CHECK_EQUAL(block.id, 0);
    conform_host_block(t, 65536);
    CHECK_OK(create(t, 1000, RONDO_USAGE_GENERAL, &block));
}

/* [E3] Room is found again once the refused part is freed, and old data is intact. */
static void a_refusal_leaves_the_device_usable(struct conform *t) {
    rondo_buffer buffer;
    CHECK_CODE(create(t, 1 << 30, RONDO_USAGE_LASTING, &buffer), RONDO_NO_DEVICE_MEMORY);
    CHECK_OK(rondo_stream_sync(t->stream));
    CHECK_OK(create(t, 4096, RONDO_USAGE_LASTING, &buffer));
    conform_fill_i32(t, buffer, 1);
    conform_expect_all_i32(t, buffer, 1, 1024);
}

/* [M9, E2] Pages with free room are there, so that a size that wraps around would find some. */
static void a_size_that_no_page_can_have_is_out_of_range(struct conform *t) {
    static const uint64_t sizes[] = {UINT64_MAX, UINT64_MAX - 1, UINT64_MAX - 62, UINT64_MAX - 63, UINT64_MAX - 4096};
    rondo_buffer buffer;
    CHECK_OK(create(t, 100, RONDO_USAGE_GENERAL, &buffer));
    CHECK_OK(create(t, 100000, RONDO_USAGE_GENERAL, &buffer));
    CHECK_OK(create(t, 64, RONDO_USAGE_LASTING, &buffer));
    rondo_buffer_release(buffer);
    conform_host_block(t, 64);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (int usage = 0; usage < 3; usage++) {
            CHECK_CODE(create(t, sizes[i], (rondo_usage)usage, &buffer), RONDO_RANGE);
        }
        rondo_buffer block = {7};
        CHECK_CODE(rondo_host_create(t->stream, sizes[i], &block), RONDO_RANGE);
        CHECK_EQUAL(block.id, 0);
    }
    CHECK_EQUAL(conform_stats(t).buffers, 2);
}

/* [E3] */
static void a_size_that_the_machine_has_not_is_refused(struct conform *t) {
    rondo_buffer buffer;
    rondo_status status = create(t, UINT64_C(1) << 60, RONDO_USAGE_GENERAL, &buffer);
    CHECK(rondo_status_code(status) == RONDO_NO_DEVICE_MEMORY || rondo_status_code(status) == RONDO_RANGE);
    CHECK_OK(create(t, 64, RONDO_USAGE_GENERAL, &buffer));
}

/* [M9, E2] */
static void an_offset_and_a_size_that_overflow_are_out_of_range(struct conform *t) {
    static const struct {
        uint64_t offset_bytes, size_bytes;
    } wrong[] = {{UINT64_MAX, 1}, {1, UINT64_MAX - 1}, {UINT64_MAX - 7, 16}, {65, 0}, {0, 65}, {64, 1},
                 {UINT64_MAX, 0}, {UINT64_MAX, UINT64_MAX}};
    rondo_buffer buffer = conform_buffer(t, 64);
    rondo_span good = rondo_whole(conform_buffer(t, 64));
    conform_fill_i32(t, buffer, 6);
    char bytes[64] = {0};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        rondo_span span = rondo_slice(buffer, wrong[i].offset_bytes, wrong[i].size_bytes);
        void *data = &data;
        CHECK_CODE(rondo_write(t->stream, span, bytes, NULL), RONDO_RANGE);
        CHECK_CODE(rondo_read(t->stream, span, bytes, NULL), RONDO_RANGE);
        CHECK_CODE(rondo_fill(t->stream, span, bytes, 1, NULL), RONDO_RANGE);
        CHECK_CODE(rondo_copy(t->stream, span, good, NULL), RONDO_RANGE);
        CHECK_CODE(rondo_copy(t->stream, good, span, NULL), RONDO_RANGE);
        CHECK_CODE(rondo_span_status(span), RONDO_RANGE);
        CHECK_CODE(rondo_map(t->stream, span, RONDO_READS, &data), RONDO_RANGE);
        CHECK(data == NULL);
    }
    conform_expect_all_i32(t, buffer, 6, 16);
}

static const rondo_device_desc capped = {.max_queues = 1,
                                         .memory = {.small_page_bytes = 65536,
                                                    .small_cap_bytes = 262144,
                                                    .page_min_bytes = 262144,
                                                    .page_max_bytes = 1048576,
                                                    .shared_cap_bytes = 1048576,
                                                    .own_cap_bytes = 1048576,
                                                    .host_cap_bytes = 1048576}};

const struct conform_case conform_memory_limits_cases[] = {
    CONFORM_CASE_ON(a_full_pool_says_what_was_asked, NEEDS_CAPS, &capped),
    CONFORM_CASE_ON(a_refused_allocation_changes_nothing, NEEDS_CAPS, &capped),
    CONFORM_CASE_ON(room_that_was_given_back_serves_again, NEEDS_CAPS, &capped),
    CONFORM_CASE_ON(pressure_cleans_up_before_it_refuses, NEEDS_CAPS, &capped),
    CONFORM_CASE_ON(one_full_part_leaves_room_in_the_others, NEEDS_CAPS, &capped),
    CONFORM_CASE_ON(small_buffers_have_a_cap, NEEDS_CAPS, &capped),
    CONFORM_CASE_ON(general_pages_have_a_cap, NEEDS_CAPS, &capped),
    CONFORM_CASE_ON(host_memory_has_a_cap, NEEDS_CAPS, &capped),
    CONFORM_CASE_ON(a_refusal_leaves_the_device_usable, NEEDS_CAPS, &capped),
    CONFORM_CASE(a_size_that_no_page_can_have_is_out_of_range, NEEDS_NOTHING),
    CONFORM_CASE(a_size_that_the_machine_has_not_is_refused, NEEDS_NOTHING),
    CONFORM_CASE(an_offset_and_a_size_that_overflow_are_out_of_range, NEEDS_MAP),
    CONFORM_END,
};
