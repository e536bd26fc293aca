/* Moving bytes: write, fill, copy, rectangles, read, and doing nothing at all. */
#include "conform.h"

static unsigned char pattern_byte(uint64_t i) {
    return (unsigned char)(i * 31 + i / 251 + 7);
}

static rondo_buffer patterned(struct conform *t, unsigned char *bytes, uint64_t size_bytes) {
    for (uint64_t i = 0; i < size_bytes; i++) {
        bytes[i] = pattern_byte(i);
    }
    rondo_buffer buffer = conform_buffer(t, size_bytes);
    CHECK_OK(rondo_write(t->stream, rondo_whole(buffer), bytes, NULL));
    return buffer;
}

static void expect_bytes(struct conform *t, rondo_buffer buffer, const unsigned char *bytes, uint64_t size_bytes) {
    unsigned char *out = (unsigned char *)calloc(size_bytes + 1, 1);
    CHECK(out != NULL);
    CHECK_OK(rondo_read(t->stream, rondo_slice(buffer, 0, size_bytes), out, NULL));
    assert_memory_equal(out, bytes, size_bytes);
    free(out);
}

/* [W1] */
static void what_is_written_is_read(struct conform *t) {
    static const uint64_t sizes[] = {1, 2, 3, 63, 64, 65, 4095, 4096, 65536, 1000003};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        unsigned char *bytes = (unsigned char *)malloc(sizes[i]);
        CHECK(bytes != NULL);
        rondo_buffer buffer = patterned(t, bytes, sizes[i]);
        expect_bytes(t, buffer, bytes, sizes[i]);
        rondo_buffer_release(buffer);
        free(bytes);
    }
}

/* [W1] */
static void a_write_changes_its_span_and_nothing_else(struct conform *t) {
    unsigned char bytes[256];
    static const unsigned char news[] = {1, 2, 3, 4, 5};
    rondo_buffer buffer = patterned(t, bytes, sizeof bytes);
    CHECK_OK(rondo_write(t->stream, rondo_slice(buffer, 101, 5), news, "middle"));
    memcpy(bytes + 101, news, 5);
    expect_bytes(t, buffer, bytes, sizeof bytes);
    unsigned char out[7] = {0};
    CHECK_OK(rondo_read(t->stream, rondo_slice(buffer, 100, 7), out, NULL));
    assert_memory_equal(out, bytes + 100, 7);
}

/* [W1] */
static void a_fill_repeats_a_pattern_of_any_size(struct conform *t) {
    static const unsigned char pattern[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    for (uint32_t size_bytes = 1; size_bytes <= 16; size_bytes *= 2) {
        unsigned char bytes[320];
        rondo_buffer buffer = patterned(t, bytes, sizeof bytes);
        CHECK_OK(rondo_fill(t->stream, rondo_slice(buffer, 48, 240), pattern, size_bytes, NULL));
        for (size_t i = 0; i < 240; i++) {
            bytes[48 + i] = pattern[i % size_bytes];
        }
        expect_bytes(t, buffer, bytes, sizeof bytes);
    }
}

/* [W1] */
static void a_fill_may_start_and_end_anywhere(struct conform *t) {
    static const unsigned char pattern[4] = {0xaa, 0xbb, 0xcc, 0xdd};
    for (uint64_t offset = 0; offset < 9; offset++) {
        unsigned char bytes[64];
        rondo_buffer buffer = patterned(t, bytes, sizeof bytes);
        CHECK_OK(rondo_fill(t->stream, rondo_slice(buffer, offset, 12), pattern, 4, NULL));
        CHECK_OK(rondo_fill(t->stream, rondo_slice(buffer, offset + 20, 7), pattern, 1, NULL));
        for (size_t i = 0; i < 12; i++) {
            bytes[offset + i] = pattern[i % 4];
        }
        memset(bytes + offset + 20, 0xaa, 7);
        expect_bytes(t, buffer, bytes, sizeof bytes);
    }
}

/* [W1, E2, T8] */
static void a_fill_checks_its_pattern(struct conform *t) {
    static const uint32_t wrong[] = {0, 3, 5, 6, 7, 12, 15, 17, 32, UINT32_MAX};
    unsigned char bytes[64];
    unsigned char pattern[32] = {0};
    rondo_buffer buffer = patterned(t, bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        CHECK_CODE(rondo_fill(t->stream, rondo_slice(buffer, 32, 16), pattern, wrong[i], NULL), RONDO_INVALID);
        conform_expect_claimed(rondo_slice(buffer, 32, 16), RONDO_INVALID);
    }
    CHECK_CODE(rondo_fill(t->stream, rondo_slice(buffer, 32, 16), NULL, 4, NULL), RONDO_INVALID);
    CHECK_CODE(rondo_fill(t->stream, rondo_slice(buffer, 32, 13), pattern, 2, NULL), RONDO_RANGE);
    CHECK_CODE(rondo_fill(t->stream, rondo_slice(buffer, 32, 12), pattern, 16, NULL), RONDO_RANGE);
    expect_bytes(t, buffer, bytes, 32);
    CHECK_OK(rondo_fill(t->stream, rondo_slice(buffer, 32, 16), pattern, 16, NULL));
    CHECK_OK(conform_try_read(t->stream, rondo_whole(buffer)));
}

/* [W1] */
static void a_copy_brings_the_bytes_over(struct conform *t) {
    unsigned char bytes[1000];
    unsigned char target_bytes[1000];
    rondo_buffer source = patterned(t, bytes, sizeof bytes);
    rondo_buffer target = conform_buffer(t, sizeof bytes);
    unsigned char zero = 0;
    CHECK_OK(rondo_fill(t->stream, rondo_whole(target), &zero, 1, NULL));
    CHECK_OK(rondo_copy(t->stream, rondo_slice(target, 333, 500), rondo_slice(source, 7, 500), NULL));
    memset(target_bytes, 0, sizeof target_bytes);
    memcpy(target_bytes + 333, bytes + 7, 500);
    expect_bytes(t, target, target_bytes, sizeof target_bytes);
    expect_bytes(t, source, bytes, sizeof bytes);
}

static void copy_inside(struct conform *t, uint64_t to, uint64_t from, uint64_t size_bytes, uint64_t whole_bytes) {
    unsigned char *bytes = (unsigned char *)malloc(whole_bytes);
    CHECK(bytes != NULL);
    rondo_buffer buffer = patterned(t, bytes, whole_bytes);
    CHECK_OK(rondo_copy(t->stream, rondo_slice(buffer, to, size_bytes), rondo_slice(buffer, from, size_bytes), NULL));
    memmove(bytes + to, bytes + from, size_bytes);
    expect_bytes(t, buffer, bytes, whole_bytes);
    rondo_buffer_release(buffer);
    free(bytes);
}

/* [W1] */
static void a_copy_over_itself_is_exact(struct conform *t) {
    copy_inside(t, 1, 0, 999, 1000);
    copy_inside(t, 0, 1, 999, 1000);
    copy_inside(t, 64, 0, 936, 1000);
    copy_inside(t, 0, 64, 936, 1000);
    copy_inside(t, 500, 0, 500, 1000);
    copy_inside(t, 10, 10, 100, 1000);
    copy_inside(t, 4097, 0, 1 << 20, (1 << 20) + 8192);
    copy_inside(t, 0, 4097, 1 << 20, (1 << 20) + 8192);
}

/* [W1, E2, T8] */
static void a_copy_needs_spans_of_one_size(struct conform *t) {
    unsigned char bytes[64];
    rondo_buffer source = patterned(t, bytes, sizeof bytes);
    rondo_buffer target = patterned(t, bytes, sizeof bytes);
    CHECK_CODE(rondo_copy(t->stream, rondo_slice(target, 0, 63), rondo_whole(source), NULL), RONDO_RANGE);
    CHECK_CODE(rondo_copy(t->stream, rondo_whole(target), rondo_slice(source, 1, RONDO_WHOLE), NULL), RONDO_RANGE);
    conform_expect_claimed(rondo_slice(target, 63, 1), RONDO_RANGE);
    CHECK_OK(rondo_copy(t->stream, rondo_slice(target, 0, 63), rondo_slice(source, 1, RONDO_WHOLE), NULL));
    memmove(bytes, bytes + 1, 63);
    expect_bytes(t, target, bytes, 63);
    conform_expect_claimed(rondo_slice(target, 63, 1), RONDO_RANGE);
}

static rondo_rect rect_of(rondo_buffer buffer, uint64_t offset_bytes, uint64_t size_bytes, uint64_t pitch_bytes) {
    rondo_rect rect = {rondo_slice(buffer, offset_bytes, size_bytes), pitch_bytes};
    return rect;
}

/* [W1] */
static void a_rectangle_leaves_the_gaps_between_its_rows(struct conform *t) {
    unsigned char bytes[400];
    unsigned char expected[400];
    rondo_buffer source = patterned(t, bytes, sizeof bytes);
    rondo_buffer target = conform_buffer(t, sizeof expected);
    memset(expected, 0xee, sizeof expected);
    CHECK_OK(rondo_write(t->stream, rondo_whole(target), expected, NULL));
    CHECK_OK(rondo_copy_2d(t->stream, rect_of(target, 10, 300, 40), rect_of(source, 3, 200, 23), 13, 8, NULL));
    for (size_t row = 0; row < 8; row++) {
        memcpy(expected + 10 + row * 40, bytes + 3 + row * 23, 13);
    }
    expect_bytes(t, target, expected, sizeof expected);
    expect_bytes(t, source, bytes, sizeof bytes);
}

/* [W1] The last row needs its bytes only, not its pitch. */
static void a_rectangle_may_end_with_its_last_byte(struct conform *t) {
    unsigned char bytes[100];
    rondo_buffer source = patterned(t, bytes, sizeof bytes);
    rondo_buffer target = patterned(t, bytes, sizeof bytes);
    CHECK_OK(rondo_copy_2d(t->stream, rect_of(target, 0, 64, 30), rect_of(source, 36, 64, 30), 4, 3, NULL));
    for (size_t i = 0; i < 12; i++) {
        bytes[i / 4 * 30 + i % 4] = pattern_byte(36 + i / 4 * 30 + i % 4);
    }
    expect_bytes(t, target, bytes, sizeof bytes);
    CHECK_CODE(rondo_copy_2d(t->stream, rect_of(target, 0, 63, 30), rect_of(source, 36, 64, 30), 4, 3, NULL),
               RONDO_RANGE);
    CHECK_CODE(rondo_copy_2d(t->stream, rect_of(target, 0, 64, 30), rect_of(source, 36, 63, 30), 4, 3, NULL),
               RONDO_RANGE);
}

/* [W1, E2] */
static void a_rectangle_checks_its_pitch(struct conform *t) {
    unsigned char bytes[100];
    rondo_buffer source = patterned(t, bytes, sizeof bytes);
    rondo_buffer target = patterned(t, bytes, sizeof bytes);
    rondo_rect good = rect_of(target, 0, 100, 10);
    CHECK_CODE(rondo_copy_2d(t->stream, good, rect_of(source, 0, 100, 9), 10, 5, NULL), RONDO_RANGE);
    CHECK_CODE(rondo_copy_2d(t->stream, rect_of(target, 0, 100, 0), rect_of(source, 0, 100, 10), 10, 5, NULL),
               RONDO_RANGE);
    CHECK_CODE(rondo_copy_2d(t->stream, good, rect_of(source, 0, 100, UINT64_MAX / 2), 10, 5, NULL), RONDO_RANGE);
    CHECK_CODE(rondo_copy_2d(t->stream, good, rect_of(source, 0, 100, 10), 10, UINT64_MAX, NULL), RONDO_RANGE);
    expect_bytes(t, source, bytes, sizeof bytes);
    CHECK_OK(rondo_copy_2d(t->stream, good, rect_of(source, 0, 100, 10), 10, 10, NULL));
    expect_bytes(t, target, bytes, sizeof bytes);
}

/* [W1, W8] */
static void rectangles_may_not_overlap(struct conform *t) {
    unsigned char bytes[100];
    rondo_buffer buffer = patterned(t, bytes, sizeof bytes);
    CHECK_CODE(rondo_copy_2d(t->stream, rect_of(buffer, 4, 60, 10), rect_of(buffer, 0, 60, 10), 5, 5, NULL),
               RONDO_ALIASED);
    CHECK_CODE(rondo_copy_2d(t->stream, rect_of(buffer, 20, 60, 10), rect_of(buffer, 0, 60, 10), 5, 5, NULL),
               RONDO_ALIASED);
    CHECK_OK(rondo_write(t->stream, rondo_whole(buffer), bytes, NULL));
    CHECK_OK(rondo_copy_2d(t->stream, rect_of(buffer, 50, 50, 10), rect_of(buffer, 0, 50, 10), 5, 5, NULL));
}

/* [W1] Only the bytes of the rows count. */
static void rectangles_may_lie_in_each_others_gaps(struct conform *t) {
    unsigned char bytes[100];
    rondo_buffer buffer = patterned(t, bytes, sizeof bytes);
    CHECK_OK(rondo_copy_2d(t->stream, rect_of(buffer, 5, 95, 10), rect_of(buffer, 0, 95, 10), 5, 10, NULL));
    for (size_t row = 0; row < 10; row++) {
        memcpy(bytes + row * 10 + 5, bytes + row * 10, 5);
    }
    expect_bytes(t, buffer, bytes, sizeof bytes);
}

/* [W2] */
static void a_written_source_may_be_reused_at_once(struct conform *t) {
    unsigned char bytes[4096];
    rondo_buffer buffer = patterned(t, bytes, sizeof bytes);
    memset(bytes, 0x77, sizeof bytes);
    CHECK_OK(rondo_write(t->stream, rondo_slice(buffer, 1024, 1024), bytes, NULL));
    memset(bytes, 0, sizeof bytes);
    unsigned char out[2048];
    CHECK_OK(rondo_read(t->stream, rondo_slice(buffer, 512, 2048), out, NULL));
    for (size_t i = 0; i < sizeof out; i++) {
        bool inside = i >= 512 && i < 1536;
        CHECK_EQUAL(out[i], inside ? 0x77 : pattern_byte(512 + i));
    }
}

/* [W2] */
static void a_live_write_takes_what_the_block_holds_then(struct conform *t) {
    rondo_buffer block = conform_host_block(t, 16);
    rondo_buffer buffer = conform_buffer(t, 16);
    int32_t *data = (int32_t *)rondo_host_data(block);
    for (int32_t round = 1; round < 4; round++) {
        CHECK_OK(rondo_host_wait(block));
        for (int32_t i = 0; i < 4; i++) {
            data[i] = round * 10 + i;
        }
        CHECK_OK(rondo_write_live(t->stream, rondo_whole(buffer), rondo_whole(block), "live"));
        CHECK_EQUAL(conform_read_i32(t, buffer, 3), round * 10 + 3);
    }
}

/* [W1] Each operation sees what the one before it did. */
static void operations_take_effect_in_order(struct conform *t) {
    rondo_buffer a = conform_buffer(t, 64);
    rondo_buffer b = conform_buffer(t, 64);
    rondo_span front = rondo_slice(b, 0, 32);
    rondo_span back = rondo_slice(b, 32, 32);
    for (int32_t round = 0; round < 50; round++) {
        int32_t value = round;
        CHECK_OK(rondo_fill(t->stream, rondo_whole(a), &value, 4, NULL));
        CHECK_OK(rondo_copy(t->stream, front, rondo_slice(a, 0, 32), NULL));
        value = -round;
        CHECK_OK(rondo_write(t->stream, rondo_slice(a, 32, 4), &value, NULL));
        CHECK_OK(rondo_copy(t->stream, back, rondo_slice(a, 32, 32), NULL));
        CHECK_EQUAL(conform_read_i32(t, b, 7), round);
        CHECK_EQUAL(conform_read_i32(t, b, 8), -round);
        CHECK_EQUAL(conform_read_i32(t, b, 9), round);
    }
}

/* [W5] */
static void transfers_of_nothing_do_nothing(struct conform *t) {
    unsigned char bytes[64];
    rondo_buffer buffer = patterned(t, bytes, sizeof bytes);
    rondo_span none = rondo_slice(buffer, 20, 0);
    unsigned char out = 9;
    uint64_t transfers = conform_stats(t).transfers;
    CHECK_OK(rondo_write(t->stream, none, &out, NULL));
    CHECK_OK(rondo_fill(t->stream, none, &out, 1, NULL));
    CHECK_OK(rondo_copy(t->stream, none, rondo_slice(buffer, 64, 0), NULL));
    CHECK_OK(rondo_copy_2d(t->stream, rect_of(buffer, 0, 64, 8), rect_of(buffer, 0, 64, 8), 0, 8, NULL));
    CHECK_OK(rondo_copy_2d(t->stream, rect_of(buffer, 0, 64, 8), rect_of(buffer, 0, 64, 8), 8, 0, NULL));
    CHECK_OK(rondo_read(t->stream, none, &out, NULL));
    rondo_buffer block = conform_host_block(t, 4);
    CHECK_OK(rondo_write_live(t->stream, none, rondo_slice(block, 4, 0), NULL));
    CHECK_OK(rondo_read_async(t->stream, none, rondo_slice(block, 0, 0), NULL));
    CHECK_OK(rondo_host_wait(block));
    CHECK_EQUAL(out, 9);
    CHECK_EQUAL(conform_stats(t).transfers, transfers);
    expect_bytes(t, buffer, bytes, sizeof bytes);
}

/* [E2] An address of no bytes would be of no use. */
static void a_mapping_needs_bytes(struct conform *t) {
    rondo_buffer buffer = conform_buffer(t, 64);
    void *data = &data;
    CHECK_CODE(rondo_map(t->stream, rondo_slice(buffer, 64, 0), RONDO_READS_WRITES, &data), RONDO_RANGE);
    CHECK(data == NULL);
    CHECK_OK(rondo_map(t->stream, rondo_slice(buffer, 63, 1), RONDO_READS_WRITES, &data));
    CHECK_OK(rondo_unmap(t->stream, rondo_slice(buffer, 63, 1)));
}

/* [W1] */
static void labels_may_be_absent_or_long(struct conform *t) {
    char label[500];
    memset(label, 'l', sizeof label - 1);
    label[sizeof label - 1] = '\0';
    rondo_buffer buffer = conform_buffer(t, 64);
    int32_t value = 2;
    CHECK_OK(rondo_fill(t->stream, rondo_whole(buffer), &value, 4, label));
    CHECK_OK(rondo_fill(t->stream, rondo_whole(buffer), &value, 4, ""));
    CHECK_OK(rondo_fill(t->stream, rondo_whole(buffer), &value, 4, NULL));
    conform_spoil(t->stream, rondo_whole(buffer), label);
    rondo_fault fault = conform_fault(rondo_fault_root(rondo_span_status(rondo_whole(buffer))));
    CHECK_EQUAL(strlen(fault.label), RONDO_NAME_MAX - 1);
    CHECK(strncmp(fault.label, label, RONDO_NAME_MAX - 1) == 0);
}

/* [W3] Any stream of the device may work on a buffer, not only its home. */
static void a_stream_works_on_buffers_of_other_homes(struct conform *t) {
    rondo_stream *other = conform_stranger(t, t->stream);
    rondo_buffer buffer = conform_buffer(t, 64);
    int32_t value = 77;
    int32_t out = 0;
    CHECK_OK(rondo_fill(other, rondo_whole(buffer), &value, 4, NULL));
    CHECK_EQUAL(conform_read_i32(t, buffer, 15), 77);
    conform_fill_i32(t, buffer, 78);
    CHECK_OK(rondo_read(other, rondo_slice(buffer, 60, 4), &out, NULL));
    CHECK_EQUAL(out, 78);
}

const struct conform_case conform_work_transfer_cases[] = {
    CONFORM_CASE(what_is_written_is_read, NEEDS_NOTHING),
    CONFORM_CASE(a_write_changes_its_span_and_nothing_else, NEEDS_NOTHING),
    CONFORM_CASE(a_fill_repeats_a_pattern_of_any_size, NEEDS_NOTHING),
    CONFORM_CASE(a_fill_may_start_and_end_anywhere, NEEDS_NOTHING),
    CONFORM_CASE(a_fill_checks_its_pattern, NEEDS_NOTHING),
    CONFORM_CASE(a_copy_brings_the_bytes_over, NEEDS_NOTHING),
    CONFORM_CASE(a_copy_over_itself_is_exact, NEEDS_NOTHING),
    CONFORM_CASE(a_copy_needs_spans_of_one_size, NEEDS_NOTHING),
    CONFORM_CASE(a_rectangle_leaves_the_gaps_between_its_rows, NEEDS_NOTHING),
    CONFORM_CASE(a_rectangle_may_end_with_its_last_byte, NEEDS_NOTHING),
    CONFORM_CASE(a_rectangle_checks_its_pitch, NEEDS_NOTHING),
    CONFORM_CASE(rectangles_may_not_overlap, NEEDS_NOTHING),
    CONFORM_CASE(rectangles_may_lie_in_each_others_gaps, NEEDS_NOTHING),
    CONFORM_CASE(a_written_source_may_be_reused_at_once, NEEDS_NOTHING),
    CONFORM_CASE(a_live_write_takes_what_the_block_holds_then, NEEDS_NOTHING),
    CONFORM_CASE(operations_take_effect_in_order, NEEDS_NOTHING),
    CONFORM_CASE(transfers_of_nothing_do_nothing, NEEDS_NOTHING),
    CONFORM_CASE(a_mapping_needs_bytes, NEEDS_MAP),
    CONFORM_CASE(labels_may_be_absent_or_long, NEEDS_FAILURES),
    CONFORM_CASE(a_stream_works_on_buffers_of_other_homes, NEEDS_NOTHING),
    CONFORM_END,
};
