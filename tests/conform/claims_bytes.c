/* Claims: exactly which bytes are spoiled, and what heals them. */
#include "conform.h"

static bool is_good(rondo_buffer buffer, uint64_t offset_bytes, uint64_t size_bytes) {
    rondo_status status = rondo_span_status(rondo_slice(buffer, offset_bytes, size_bytes));
    if (status != RONDO_OK) {
        CHECK_CODE(status, RONDO_TAINTED);
    }
    return status == RONDO_OK;
}

/* Byte for byte: exactly [low, high) of the buffer is spoiled. */
static void expect_spoiled(struct conform *t, rondo_buffer buffer, uint64_t low, uint64_t high) {
    rondo_buffer_info info;
    CHECK_OK(rondo_buffer_get_info(buffer, &info));
    for (uint64_t i = 0; i < info.size_bytes; i++) {
        bool spoiled = i >= low && i < high;
        CHECK_EQUAL(is_good(buffer, i, 1), !spoiled);
    }
    CHECK_EQUAL(conform_stats(t).tainted_allocations != 0, low != high);
}

static rondo_buffer spoiled_buffer(struct conform *t, uint64_t size_bytes, const char *label) {
    rondo_buffer buffer = conform_buffer(t, size_bytes);
    conform_spoil(t->stream, rondo_whole(buffer), label);
    return buffer;
}

static rondo_status root_of(rondo_buffer buffer, uint64_t offset_bytes, uint64_t size_bytes) {
    return rondo_fault_root(rondo_span_status(rondo_slice(buffer, offset_bytes, size_bytes)));
}

/* [T1] */
static void a_claim_covers_its_bytes_and_no_others(struct conform *t) {
    rondo_buffer buffer = conform_buffer(t, 256);
    conform_spoil(t->stream, rondo_slice(buffer, 64, 65), NULL);
    expect_spoiled(t, buffer, 64, 129);
    CHECK_OK(conform_try_read(t->stream, rondo_slice(buffer, 0, 64)));
    CHECK_CODE(conform_try_read(t->stream, rondo_slice(buffer, 0, 65)), RONDO_TAINTED);
    CHECK_CODE(conform_try_read(t->stream, rondo_slice(buffer, 128, 128)), RONDO_TAINTED);
    CHECK_OK(conform_try_read(t->stream, rondo_slice(buffer, 129, RONDO_WHOLE)));
    CHECK_CODE(conform_try_read(t->stream, rondo_whole(buffer)), RONDO_TAINTED);
}

/* [T1] Claims of one failure that touch are one. */
static void claims_may_be_many_on_one_buffer(struct conform *t) {
    rondo_buffer buffer = conform_buffer(t, 1024);
    for (uint64_t i = 0; i < 1024; i += 8) {
        conform_spoil(t->stream, rondo_slice(buffer, i, 4), NULL);
    }
    CHECK_EQUAL(rondo_fault_live_count(), 128);
    for (uint64_t i = 0; i < 1024; i += 8) {
        CHECK(!is_good(buffer, i, 4));
        CHECK(is_good(buffer, i + 4, 4));
    }
    conform_fill_i32(t, buffer, 0);
    CHECK(is_good(buffer, 0, 1024));
    CHECK_EQUAL(rondo_fault_live_count(), 0);
}

/* [T3] */
static void a_write_releases_exactly_the_bytes_that_it_covers(struct conform *t) {
    rondo_buffer buffer = spoiled_buffer(t, 64, NULL);
    char bytes[64] = {0};
    CHECK_OK(rondo_write(t->stream, rondo_slice(buffer, 0, 10), bytes, NULL));
    expect_spoiled(t, buffer, 10, 64);
    CHECK_OK(rondo_write(t->stream, rondo_slice(buffer, 50, 14), bytes, NULL));
    expect_spoiled(t, buffer, 10, 50);
    CHECK_OK(rondo_write(t->stream, rondo_slice(buffer, 20, 1), bytes, NULL));
    CHECK(is_good(buffer, 20, 1));
    CHECK(!is_good(buffer, 19, 1));
    CHECK(!is_good(buffer, 21, 1));
    CHECK_OK(rondo_write(t->stream, rondo_slice(buffer, 10, 10), bytes, NULL));
    expect_spoiled(t, buffer, 21, 50);
    CHECK_OK(rondo_write(t->stream, rondo_slice(buffer, 0, 64), bytes, NULL));
    expect_spoiled(t, buffer, 0, 0);
    CHECK_EQUAL(rondo_fault_live_count(), 0);
}

/* [T3] */
static void every_operation_that_writes_releases(struct conform *t) {
    rondo_buffer good = conform_buffer(t, 64);
    rondo_buffer block = conform_host_block(t, 64);
    conform_fill_i32(t, good, 6);
    int32_t zero = 0;
    rondo_buffer b = spoiled_buffer(t, 64, "fill");
    CHECK_OK(rondo_fill(t->stream, rondo_slice(b, 8, 48), &zero, 4, NULL));
    CHECK(!is_good(b, 7, 1) && is_good(b, 8, 48) && !is_good(b, 56, 1));
    b = spoiled_buffer(t, 64, "copy");
    CHECK_OK(rondo_copy(t->stream, rondo_slice(b, 8, 48), rondo_slice(good, 0, 48), NULL));
    CHECK(!is_good(b, 7, 1) && is_good(b, 8, 48) && !is_good(b, 56, 1));
    b = spoiled_buffer(t, 64, "live");
    CHECK_OK(rondo_write_live(t->stream, rondo_slice(b, 8, 48), rondo_slice(block, 0, 48), NULL));
    CHECK(!is_good(b, 7, 1) && is_good(b, 8, 48) && !is_good(b, 56, 1));
}

/* [T3] */
static void the_output_of_a_launch_is_released(struct conform *t) {
    rondo_buffer b = spoiled_buffer(t, 64, "old");
    CHECK_OK(conform_launch_iota(t, t->stream, rondo_slice(b, 8, 48), 0, 12, NULL));
    CHECK(!is_good(b, 7, 1) && is_good(b, 8, 48) && !is_good(b, 56, 1));
}

static int set_bytes(void *user, const rondo_host_access *accesses, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if ((accesses[i].mode & RONDO_WRITES) != 0) {
            memset(accesses[i].data, *(const int *)user, accesses[i].span.size_bytes);
        }
    }
    return 0;
}

/* [T3] */
static void the_output_of_a_host_call_is_released(struct conform *t) {
    static int byte = 0x12;
    rondo_buffer b = spoiled_buffer(t, 64, "old");
    rondo_host_access access = {rondo_slice(b, 8, 48), RONDO_WRITES, NULL};
    CHECK_OK(rondo_host_call(t->stream, set_bytes, &byte, NULL, &access, 1, NULL));
    CHECK(!is_good(b, 7, 1) && is_good(b, 8, 48) && !is_good(b, 56, 1));
    CHECK_EQUAL(conform_read_i32(t, b, 2), 0x12121212);
}

/* [T3, O4] */
static void the_end_of_a_mapping_for_writing_releases(struct conform *t) {
    rondo_buffer b = spoiled_buffer(t, 64, "old");
    void *data = NULL;
    CHECK_CODE(rondo_map(t->stream, rondo_whole(b), RONDO_READS, &data), RONDO_TAINTED);
    CHECK_CODE(rondo_map(t->stream, rondo_whole(b), RONDO_READS_WRITES, &data), RONDO_TAINTED);
    CHECK_OK(rondo_map(t->stream, rondo_slice(b, 8, 48), RONDO_WRITES, &data));
    memset(data, 1, 48);
    CHECK_OK(rondo_unmap(t->stream, rondo_slice(b, 8, 48)));
    CHECK(!is_good(b, 7, 1) && is_good(b, 8, 48) && !is_good(b, 56, 1));
    CHECK_EQUAL(conform_read_i32(t, b, 13), 0x01010101);
}

/* [T2] */
static void a_new_failure_takes_over_the_bytes(struct conform *t) {
    rondo_buffer b = spoiled_buffer(t, 64, "old");
    rondo_status old = root_of(b, 0, 64);
    conform_spoil(t->stream, rondo_slice(b, 16, 16), "new");
    rondo_status new = root_of(b, 16, 16);
    CHECK(new != old);
    assert_string_equal(conform_fault(new).label, "new");
    CHECK(root_of(b, 0, 16) == old);
    CHECK(root_of(b, 32, 32) == old);
    CHECK_EQUAL(rondo_fault_live_count(), 2);
    CHECK_EQUAL(conform_stats(t).tainted_allocations, 1);
}

/* [T2] */
static void a_failure_left_with_no_byte_goes(struct conform *t) {
    rondo_buffer b = spoiled_buffer(t, 64, "old");
    rondo_status old = root_of(b, 0, 64);
    CHECK_EQUAL(conform_fault(old).carriers, 1);
    conform_spoil(t->stream, rondo_whole(b), "new");
    CHECK_EQUAL(rondo_fault_live_count(), 1);
    CHECK_EQUAL(conform_fault(old).carriers, 0);
    CHECK_EQUAL(conform_fault(root_of(b, 0, 64)).carriers, 1);
}

/* [T6, T2] */
static void the_target_of_a_skip_takes_the_same_failure(struct conform *t) {
    rondo_buffer x = spoiled_buffer(t, 64, "root");
    rondo_buffer y = conform_buffer(t, 64);
    conform_fill_i32(t, y, 1);
    CHECK_CODE(rondo_copy(t->stream, rondo_slice(y, 16, 16), rondo_slice(x, 0, 16), NULL), RONDO_TAINTED);
    CHECK(root_of(y, 16, 16) == root_of(x, 0, 64));
    CHECK(is_good(y, 0, 16));
    CHECK(is_good(y, 32, 32));
    CHECK_EQUAL(rondo_fault_live_count(), 1);
    CHECK_EQUAL(conform_read_i32(t, y, 3), 1);
}

/* [T6] */
static void only_the_bytes_that_are_needed_count(struct conform *t) {
    rondo_buffer x = conform_buffer(t, 64);
    rondo_buffer y = conform_buffer(t, 64);
    conform_fill_i32(t, x, 8);
    conform_spoil(t->stream, rondo_slice(x, 32, 1), NULL);
    CHECK_OK(rondo_copy(t->stream, rondo_slice(y, 0, 32), rondo_slice(x, 0, 32), NULL));
    CHECK_OK(rondo_copy(t->stream, rondo_slice(y, 33, 31), rondo_slice(x, 33, 31), NULL));
    CHECK_CODE(rondo_copy(t->stream, rondo_slice(y, 32, 1), rondo_slice(x, 32, 1), NULL), RONDO_TAINTED);
    CHECK_EQUAL(conform_read_i32(t, y, 15), 8);
}

/* [T6] */
static void a_launch_looks_at_the_slices_that_it_reads(struct conform *t) {
    rondo_buffer x = conform_buffer(t, 64);
    rondo_buffer y = conform_buffer(t, 32);
    conform_fill_i32(t, x, 8);
    conform_spoil(t->stream, rondo_slice(x, 32, 4), NULL);
    CHECK_OK(conform_launch_copy(t, t->stream, rondo_whole(y), rondo_slice(x, 0, 32), 8, NULL));
    conform_settle(t);
    CHECK_CODE(conform_launch_copy(t, t->stream, rondo_whole(y), rondo_slice(x, 4, 32), 8, NULL), RONDO_TAINTED);
    CHECK_OK(conform_launch_copy(t, t->stream, rondo_slice(y, 0, 28), rondo_slice(x, 36, 28), 7, NULL));
    CHECK(is_good(y, 0, 28) && !is_good(y, 28, 4));
}

/* [T6] What is read and written counts as read. */
static void an_inout_argument_must_be_good(struct conform *t) {
    rondo_buffer x = conform_buffer(t, 64);
    conform_fill_i32(t, x, 8);
    conform_spoil(t->stream, rondo_slice(x, 60, 4), NULL);
    CHECK_CODE(conform_launch_scale(t, t->stream, rondo_whole(x), 2, 16, NULL), RONDO_TAINTED);
    expect_spoiled(t, x, 0, 64);
    conform_fill_i32(t, x, 8);
    CHECK_OK(conform_launch_scale(t, t->stream, rondo_whole(x), 2, 16, NULL));
    conform_expect_all_i32(t, x, 16, 16);
}

/* [T6] */
static void an_output_takes_one_of_its_inputs_failures(struct conform *t) {
    rondo_buffer x = spoiled_buffer(t, 64, "one");
    rondo_buffer z = spoiled_buffer(t, 64, "two");
    rondo_buffer y = conform_buffer(t, 64);
    CHECK_CODE(conform_launch_add(t, t->stream, rondo_whole(y), rondo_whole(x), rondo_whole(z), 16, NULL),
               RONDO_TAINTED);
    rondo_status root = root_of(y, 0, 64);
    CHECK(root == root_of(x, 0, 64) || root == root_of(z, 0, 64));
    CHECK_EQUAL(rondo_fault_live_count(), 2);
    CHECK_EQUAL(conform_fault(root).carriers, 2);
}

/* [T4] */
static void claims_go_with_their_buffer(struct conform *t) {
    rondo_buffer b = conform_buffer(t, 64);
    conform_spoil(t->stream, rondo_whole(b), NULL);
    CHECK_EQUAL(rondo_fault_live_count(), 1);
    rondo_buffer_release(b);
    CHECK_EQUAL(rondo_fault_live_count(), 0);
    CHECK_EQUAL(conform_stats(t).tainted_allocations, 0);
    for (int i = 0; i < 8; i++) {
        CHECK(is_good(conform_buffer(t, 64), 0, 64));
    }
}

/* [T4] */
static void claims_stay_while_somebody_holds_the_buffer(struct conform *t) {
    rondo_buffer b = spoiled_buffer(t, 64, NULL);
    CHECK_OK(rondo_buffer_retain(b));
    rondo_buffer_release(b);
    CHECK(!is_good(b, 0, 64));
    CHECK_EQUAL(rondo_fault_live_count(), 1);
}

/* [W5] */
static void nothing_claims_and_releases_nothing(struct conform *t) {
    rondo_buffer b = spoiled_buffer(t, 64, NULL);
    rondo_buffer good = conform_buffer(t, 64);
    char byte = 0;
    CHECK_OK(rondo_write(t->stream, rondo_slice(b, 32, 0), &byte, NULL));
    CHECK_OK(rondo_fill(t->stream, rondo_slice(b, 0, 0), &byte, 1, NULL));
    CHECK_OK(rondo_read(t->stream, rondo_slice(b, 64, 0), &byte, NULL));
    CHECK_OK(rondo_copy(t->stream, rondo_slice(good, 0, 0), rondo_slice(b, 8, 0), NULL));
    CHECK_OK(rondo_span_status(rondo_slice(b, 8, 0)));
    expect_spoiled(t, b, 0, 64);
    conform_spoil(t->stream, rondo_slice(good, 8, 0), NULL);
    CHECK(is_good(good, 0, 64));
}

/* [W1] */
static void the_gaps_of_a_rectangle_neither_need_nor_release(struct conform *t) {
    rondo_buffer x = conform_buffer(t, 64);
    rondo_buffer y = spoiled_buffer(t, 64, "target");
    conform_fill_i32(t, x, 3);
    for (uint64_t row = 0; row < 4; row++) {
        conform_spoil(t->stream, rondo_slice(x, row * 16 + 8, 8), "gap");
    }
    rondo_rect from = {rondo_whole(x), 16};
    rondo_rect to = {rondo_whole(y), 16};
    CHECK_OK(rondo_copy_2d(t->stream, to, from, 8, 4, NULL));
    for (uint64_t row = 0; row < 4; row++) {
        CHECK(is_good(y, row * 16, 8));
        CHECK(!is_good(y, row * 16 + 8, 1) && !is_good(y, row * 16 + 15, 1));
    }
    CHECK_CODE(rondo_copy_2d(t->stream, to, from, 9, 4, NULL), RONDO_TAINTED);
    CHECK(!is_good(y, 0, 8));
}

/* [W1, T6] */
static void host_blocks_carry_claims(struct conform *t) {
    rondo_buffer block = conform_host_block(t, 64);
    rondo_buffer b = conform_buffer(t, 64);
    conform_fill_i32(t, b, 1);
    conform_spoil(t->stream, rondo_slice(block, 0, 32), "block");
    CHECK_CODE(rondo_host_wait(block), RONDO_TAINTED);
    CHECK_CODE(rondo_write_live(t->stream, rondo_slice(b, 0, 32), rondo_slice(block, 0, 32), NULL), RONDO_TAINTED);
    CHECK(!is_good(b, 0, 1) && is_good(b, 32, 32));
    CHECK_OK(rondo_write_live(t->stream, rondo_slice(b, 0, 32), rondo_slice(block, 32, 32), NULL));
    CHECK(is_good(b, 0, 64));
    CHECK_OK(rondo_read_async(t->stream, rondo_whole(b), rondo_whole(block), NULL));
    CHECK_OK(rondo_host_wait(block));
    CHECK_EQUAL(rondo_fault_live_count(), 0);
}

/* [T11] A failure that comes late spoils only what nobody wrote since. */
static void later_writers_keep_their_bytes(struct conform *t) {
    rondo_buffer b = conform_buffer(t, 64);
    conform_spoil(t->stream, rondo_whole(b), "early");
    int32_t value = 5;
    CHECK_OK(rondo_fill(t->stream, rondo_slice(b, 16, 16), &value, 4, "late"));
    CHECK_CODE(rondo_stream_sync(t->stream), RONDO_KERNEL);
    CHECK(is_good(b, 16, 16));
    CHECK_EQUAL(conform_read_i32(t, b, 4), 5);
    CHECK(!is_good(b, 0, 16) && !is_good(b, 32, 32));
}

/* [W3, T6] */
static void a_claim_is_seen_from_every_stream(struct conform *t) {
    rondo_stream *other = conform_stranger(t, t->stream);
    rondo_buffer b = spoiled_buffer(t, 64, NULL);
    rondo_buffer c = conform_buffer(t, 64);
    CHECK_CODE(conform_try_read(other, rondo_whole(b)), RONDO_TAINTED);
    CHECK_CODE(rondo_copy(other, rondo_whole(c), rondo_whole(b), NULL), RONDO_TAINTED);
    int32_t value = 1;
    CHECK_OK(rondo_fill(other, rondo_whole(b), &value, 4, NULL));
    CHECK_OK(conform_try_read(t->stream, rondo_whole(b)));
}

/* [T9, M5] */
static void claims_move_with_the_bytes(struct conform *t) {
    rondo_buffer kept[8];
    rondo_buffer gone[24];
    for (size_t i = 0; i < 32; i++) {
        rondo_buffer b = conform_buffer(t, 3000);
        conform_fill_i32(t, b, (int32_t)i);
        *(i % 4 == 0 ? &kept[i / 4] : &gone[i - i / 4 - 1]) = b;
    }
    for (size_t i = 0; i < 8; i++) {
        conform_spoil(t->stream, rondo_slice(kept[i], 100 + i, 100), NULL);
    }
    for (size_t i = 0; i < 24; i++) {
        rondo_buffer_release(gone[i]);
    }
    CHECK_OK(rondo_device_trim(t->device, NULL));
    for (size_t i = 0; i < 8; i++) {
        CHECK(is_good(kept[i], 0, 100 + i) && !is_good(kept[i], 100 + i, 1));
        CHECK(!is_good(kept[i], 199 + i, 1) && is_good(kept[i], 200 + i, 2800 - i));
        CHECK_EQUAL(conform_read_i32(t, kept[i], 0), i * 4);
        CHECK_EQUAL(conform_read_i32(t, kept[i], 749), i * 4);
    }
    CHECK_EQUAL(rondo_fault_live_count(), 8);
}

/* [T10] Many buffers, one of them spoiled: the others are not mistaken for it. */
static void only_the_spoiled_buffer_is_spoiled(struct conform *t) {
    rondo_buffer buffers[100];
    for (size_t i = 0; i < 100; i++) {
        buffers[i] = conform_buffer(t, 64);
    }
    conform_spoil(t->stream, rondo_whole(buffers[57]), NULL);
    for (size_t i = 0; i < 100; i++) {
        CHECK_EQUAL(is_good(buffers[i], 0, 64), i != 57);
    }
    CHECK_EQUAL(conform_stats(t).tainted_allocations, 1);
}

const struct conform_case conform_claims_bytes_cases[] = {
    CONFORM_CASE(a_claim_covers_its_bytes_and_no_others, NEEDS_FAILURES),
    CONFORM_CASE(claims_may_be_many_on_one_buffer, NEEDS_FAILURES),
    CONFORM_CASE(a_write_releases_exactly_the_bytes_that_it_covers, NEEDS_FAILURES),
    CONFORM_CASE(every_operation_that_writes_releases, NEEDS_FAILURES),
    CONFORM_CASE(the_output_of_a_launch_is_released, NEEDS_KERNELS),
    CONFORM_CASE(the_output_of_a_host_call_is_released, NEEDS_MAP),
    CONFORM_CASE(the_end_of_a_mapping_for_writing_releases, NEEDS_MAP),
    CONFORM_CASE(a_new_failure_takes_over_the_bytes, NEEDS_FAILURES),
    CONFORM_CASE(a_failure_left_with_no_byte_goes, NEEDS_FAILURES),
    CONFORM_CASE(the_target_of_a_skip_takes_the_same_failure, NEEDS_FAILURES),
    CONFORM_CASE(only_the_bytes_that_are_needed_count, NEEDS_FAILURES),
    CONFORM_CASE(a_launch_looks_at_the_slices_that_it_reads, NEEDS_KERNELS),
    CONFORM_CASE(an_inout_argument_must_be_good, NEEDS_KERNELS),
    CONFORM_CASE(an_output_takes_one_of_its_inputs_failures, NEEDS_KERNELS),
    CONFORM_CASE(claims_go_with_their_buffer, NEEDS_FAILURES),
    CONFORM_CASE(claims_stay_while_somebody_holds_the_buffer, NEEDS_FAILURES),
    CONFORM_CASE(nothing_claims_and_releases_nothing, NEEDS_FAILURES),
    CONFORM_CASE(the_gaps_of_a_rectangle_neither_need_nor_release, NEEDS_FAILURES),
    CONFORM_CASE(host_blocks_carry_claims, NEEDS_NOTHING),
    CONFORM_CASE(later_writers_keep_their_bytes, NEEDS_FAILURES),
    CONFORM_CASE(a_claim_is_seen_from_every_stream, NEEDS_FAILURES),
    CONFORM_CASE(claims_move_with_the_bytes, NEEDS_FAILURES),
    CONFORM_CASE(only_the_spoiled_buffer_is_spoiled, NEEDS_FAILURES),
    CONFORM_END,
};
