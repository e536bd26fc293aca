/* Work that fails while it runs: the launch is OK, everything that looks at the result tells the truth. */
#include "conform.h"

/* A flag that makes fail_if fail, or lets it pass. */
static rondo_span flag_of(struct conform *t, int32_t value) {
    return rondo_whole(conform_buffer_i32(t, &value, 1));
}

/* [W7] */
static void a_kernel_that_fails_does_not_fail_its_launch(struct conform *t) {
    rondo_buffer y = conform_buffer(t, 64);
    conform_fill_i32(t, y, 1);
    CHECK_OK(conform_launch_fail_if(t, t->stream, rondo_whole(y), flag_of(t, 1), 5, 16, "bad"));
    rondo_status status = CHECK_CODE(conform_try_read(t->stream, rondo_whole(y)), RONDO_TAINTED);
    CHECK_EQUAL(rondo_status_code(rondo_fault_root(status)), RONDO_KERNEL);
    CHECK_OK(conform_launch_fail_if(t, t->stream, rondo_whole(y), flag_of(t, 0), 5, 16, "good"));
    conform_expect_all_i32(t, y, 5, 16);
}

/* [W7] */
static void the_story_of_a_failing_kernel_has_its_reason(struct conform *t) {
    rondo_buffer y = conform_buffer(t, 64);
    CHECK_OK(conform_launch_fail_if(t, t->stream, rondo_whole(y), flag_of(t, 1), 5, 16, "step nine"));
    rondo_fault fault = conform_fault(rondo_fault_root(rondo_span_status(rondo_whole(y))));
    CHECK_EQUAL(rondo_status_code(fault.status), RONDO_KERNEL);
    assert_string_equal(fault.kernel, "fail_if");
    assert_string_equal(fault.label, "step nine");
    CHECK_EQUAL(fault.stream_id, rondo_stream_id(t->stream));
    CHECK_EQUAL(fault.op_index, RONDO_NO_INDEX);
    CHECK(strstr(fault.message, "7") != NULL);
}

/* [W7] */
static void sync_tells_the_first_failure_once(struct conform *t) {
    rondo_buffer y = conform_buffer(t, 64);
    rondo_buffer z = conform_buffer(t, 64);
    CHECK_OK(rondo_stream_sync(t->stream));
    conform_spoil(t->stream, rondo_whole(y), "first");
    conform_spoil(t->stream, rondo_whole(z), "second");
    rondo_status status = CHECK_CODE(rondo_stream_sync(t->stream), RONDO_KERNEL);
    assert_string_equal(conform_fault(status).label, "first");
    CHECK_OK(rondo_stream_sync(t->stream));
    conform_spoil(t->stream, rondo_whole(y), "third");
    status = CHECK_CODE(rondo_stream_sync(t->stream), RONDO_KERNEL);
    assert_string_equal(conform_fault(status).label, "third");
    CHECK_OK(rondo_stream_sync(t->stream));
}

/* [W7] A kernel's failure is told by sync just as a host call's is. */
static void sync_tells_the_failure_of_a_kernel(struct conform *t) {
    rondo_buffer y = conform_buffer(t, 64);
    CHECK_OK(conform_launch_fail_if(t, t->stream, rondo_whole(y), flag_of(t, 1), 5, 16, "kernel"));
    rondo_status status = CHECK_CODE(rondo_stream_sync(t->stream), RONDO_KERNEL);
    assert_string_equal(conform_fault(status).label, "kernel");
    CHECK_OK(rondo_stream_sync(t->stream));
}

/* [W7] */
static void sync_of_one_stream_keeps_quiet_about_another(struct conform *t) {
    rondo_stream *other = conform_stranger(t, t->stream);
    rondo_buffer y = conform_buffer(t, 64);
    conform_spoil(other, rondo_whole(y), "elsewhere");
    CHECK_OK(rondo_stream_sync(t->stream));
    CHECK_CODE(rondo_stream_sync(other), RONDO_KERNEL);
}

/* [W7] Neighbours share a queue, and no failures. */
static void sync_keeps_quiet_about_a_neighbour(struct conform *t) {
    rondo_stream *other = conform_neighbour(t, t->stream);
    rondo_buffer y = conform_buffer(t, 64);
    conform_spoil(other, rondo_whole(y), "next door");
    CHECK_OK(rondo_stream_sync(t->stream));
    CHECK_CODE(rondo_stream_sync(other), RONDO_KERNEL);
}

/* [W7] */
static void a_device_sync_tells_what_no_stream_told(struct conform *t) {
    rondo_stream *other = conform_stream(t);
    rondo_buffer y = conform_buffer(t, 64);
    rondo_buffer z = conform_buffer(t, 64);
    conform_spoil(t->stream, rondo_whole(y), "told by its stream");
    conform_spoil(other, rondo_whole(z), "told by the device");
    CHECK_CODE(rondo_stream_sync(t->stream), RONDO_KERNEL);
    rondo_status status = CHECK_CODE(rondo_device_sync(t->device), RONDO_KERNEL);
    assert_string_equal(conform_fault(status).label, "told by the device");
    CHECK_OK(rondo_device_sync(t->device));
    conform_fill_i32(t, y, 0);
    CHECK_OK(rondo_device_sync(t->device));
}

/* [T6] */
static void work_that_needs_spoiled_bytes_is_skipped(struct conform *t) {
    rondo_buffer x = conform_buffer(t, 64);
    rondo_buffer y = conform_buffer(t, 64);
    rondo_buffer z = conform_buffer(t, 64);
    conform_fill_i32(t, y, 2);
    conform_fill_i32(t, z, 3);
    conform_spoil(t->stream, rondo_whole(x), "root");
    rondo_status first = CHECK_CODE(rondo_copy(t->stream, rondo_whole(y), rondo_whole(x), "one"), RONDO_TAINTED);
    rondo_status second = CHECK_CODE(rondo_copy(t->stream, rondo_whole(z), rondo_whole(y), "two"), RONDO_TAINTED);
    rondo_status root = rondo_fault_root(rondo_span_status(rondo_whole(x)));
    CHECK(rondo_fault_root(first) == root);
    CHECK(rondo_fault_root(second) == root);
    CHECK(rondo_fault_root(conform_try_read(t->stream, rondo_whole(z))) == root);
    conform_fill_i32(t, x, 4);
    CHECK_CODE(conform_try_read(t->stream, rondo_whole(z)), RONDO_TAINTED);
    CHECK_OK(rondo_copy(t->stream, rondo_whole(y), rondo_whole(x), NULL));
    CHECK_OK(rondo_copy(t->stream, rondo_whole(z), rondo_whole(y), NULL));
    conform_expect_all_i32(t, z, 4, 16);
}

/* [T6, W1] */
static void a_skipped_launch_does_not_run(struct conform *t) {
    rondo_buffer x = conform_buffer(t, 64);
    rondo_buffer counter = conform_buffer(t, 4);
    conform_fill_i32(t, counter, 0);
    conform_spoil(t->stream, rondo_whole(x), "root");
    uint64_t launches = conform_stats(t).launches;
    CHECK_CODE(conform_launch_scale(t, t->stream, rondo_whole(x), 2, 16, "skipped"), RONDO_TAINTED);
    CHECK_EQUAL(conform_stats(t).launches, launches);
    CHECK_EQUAL(conform_stats(t).skipped, 1);
    CHECK_OK(conform_launch_count(t, t->stream, rondo_whole(counter), 3, NULL));
    CHECK_EQUAL(conform_read_i32(t, counter, 0), 3);
}

/* [T6] */
static void a_skip_mints_no_failure(struct conform *t) {
    rondo_buffer x = conform_buffer(t, 64);
    rondo_buffer y = conform_buffer(t, 64);
    conform_spoil(t->stream, rondo_whole(x), "root");
    rondo_device_stats before = conform_stats(t);
    uint64_t live = rondo_fault_live_count();
    CHECK_EQUAL(live, 1);
    for (int i = 0; i < 5; i++) {
        CHECK_CODE(rondo_copy(t->stream, rondo_whole(y), rondo_whole(x), NULL), RONDO_TAINTED);
        CHECK_CODE(conform_try_read(t->stream, rondo_whole(y)), RONDO_TAINTED);
    }
    rondo_device_stats after = conform_stats(t);
    CHECK_EQUAL(after.failures, before.failures);
    CHECK_EQUAL(after.skipped, before.skipped + 5);
    CHECK_EQUAL(rondo_fault_live_count(), live);
    CHECK_EQUAL(after.tainted_allocations, 2);
}

/* [W7, T6] */
static void sync_tells_the_root_and_not_its_skips(struct conform *t) {
    rondo_buffer x = conform_buffer(t, 64);
    rondo_buffer y = conform_buffer(t, 64);
    conform_spoil(t->stream, rondo_whole(x), "root");
    CHECK_CODE(rondo_copy(t->stream, rondo_whole(y), rondo_whole(x), "skip"), RONDO_TAINTED);
    rondo_status status = CHECK_CODE(rondo_stream_sync(t->stream), RONDO_KERNEL);
    assert_string_equal(conform_fault(status).label, "root");
    CHECK_OK(rondo_stream_sync(t->stream));
}

/* [W7] */
static void independent_work_goes_on_after_a_failure(struct conform *t) {
    rondo_buffer x = conform_buffer(t, 64);
    rondo_buffer y = conform_buffer(t, 64);
    conform_spoil(t->stream, rondo_whole(x), "root");
    conform_fill_i32(t, y, 9);
    conform_expect_all_i32(t, y, 9, 16);
    CHECK_CODE(rondo_span_status(rondo_whole(x)), RONDO_TAINTED);
}

/* [W7] One item of many is enough. */
static void one_failing_item_spoils_the_launch(struct conform *t) {
    enum { ITEMS = 300000 };
    rondo_buffer y = conform_buffer(t, ITEMS * 4);
    CHECK_OK(conform_launch_fail_if(t, t->stream, rondo_whole(y), flag_of(t, 1), 5, ITEMS, NULL));
    CHECK_CODE(conform_try_read(t->stream, rondo_slice(y, ITEMS * 4 - 4, 4)), RONDO_TAINTED);
    CHECK_CODE(conform_try_read(t->stream, rondo_slice(y, 0, 4)), RONDO_TAINTED);
    CHECK_OK(conform_launch_fail_if(t, t->stream, rondo_whole(y), flag_of(t, 0), 6, ITEMS, NULL));
    conform_expect_all_i32(t, y, 6, ITEMS);
}

/* [W7] */
static void a_failing_launch_claims_outputs_and_keeps_inputs(struct conform *t) {
    rondo_span flag = flag_of(t, 1);
    rondo_buffer y = conform_buffer(t, 64);
    CHECK_OK(conform_launch_fail_if(t, t->stream, rondo_slice(y, 16, 16), flag, 5, 4, NULL));
    CHECK_OK(rondo_span_status(flag));
    CHECK_OK(rondo_span_status(rondo_slice(y, 0, 16)));
    CHECK_CODE(rondo_span_status(rondo_slice(y, 16, 16)), RONDO_TAINTED);
    CHECK_OK(rondo_span_status(rondo_slice(y, 32, 32)));
}

/* [W7] */
static void a_download_of_spoiled_bytes_is_told_when_it_completes(struct conform *t) {
    rondo_buffer x = conform_buffer(t, 16);
    rondo_buffer block = conform_host_block(t, 16);
    conform_spoil(t->stream, rondo_whole(x), "root");
    CHECK_CODE(rondo_read_async(t->stream, rondo_whole(x), rondo_whole(block), "down"), RONDO_TAINTED);
    rondo_status status = CHECK_CODE(rondo_host_wait(block), RONDO_TAINTED);
    assert_string_equal(conform_fault(rondo_fault_root(status)).label, "root");
    conform_fill_i32(t, x, 3);
    CHECK_OK(rondo_read_async(t->stream, rondo_whole(x), rondo_whole(block), "down"));
    CHECK_OK(rondo_host_wait(block));
    CHECK_EQUAL(((const int32_t *)rondo_host_data(block))[3], 3);
}

/* [P1] */
static void a_failed_read_writes_nothing(struct conform *t) {
    rondo_buffer x = conform_buffer(t, 4096);
    conform_fill_i32(t, x, 1);
    conform_spoil(t->stream, rondo_slice(x, 4095, 1), NULL);
    unsigned char out[4096];
    memset(out, 0x5c, sizeof out);
    CHECK_CODE(rondo_read(t->stream, rondo_whole(x), out, NULL), RONDO_TAINTED);
    for (size_t i = 0; i < sizeof out; i++) {
        CHECK_EQUAL(out[i], 0x5c);
    }
    CHECK_OK(rondo_read(t->stream, rondo_slice(x, 0, 4095), out, NULL));
    CHECK_EQUAL(out[4092], 1);
    CHECK_EQUAL(out[4094], 0);
    CHECK_EQUAL(out[4095], 0x5c);
}

/* [W9] */
static void in_debug_fresh_bytes_cannot_be_read(struct conform *t) {
    rondo_buffer x = conform_buffer(t, 64);
    CHECK_CODE(conform_try_read(t->stream, rondo_whole(x)), RONDO_FRESH);
    CHECK_CODE(rondo_span_status(rondo_whole(x)), RONDO_FRESH);
    int32_t value = 4;
    CHECK_OK(rondo_fill(t->stream, rondo_slice(x, 16, 16), &value, 4, NULL));
    CHECK_OK(conform_try_read(t->stream, rondo_slice(x, 16, 16)));
    CHECK_CODE(conform_try_read(t->stream, rondo_slice(x, 15, 2)), RONDO_FRESH);
    CHECK_CODE(conform_try_read(t->stream, rondo_slice(x, 31, 2)), RONDO_FRESH);
    CHECK_CODE(conform_try_read(t->stream, rondo_whole(x)), RONDO_FRESH);
    conform_fill_i32(t, x, 5);
    conform_expect_all_i32(t, x, 5, 16);
}

/* [W9] */
static void in_debug_recycled_memory_is_fresh_again(struct conform *t) {
    for (int i = 0; i < 3; i++) {
        rondo_buffer x = conform_buffer(t, 64);
        CHECK_CODE(conform_try_read(t->stream, rondo_whole(x)), RONDO_FRESH);
        conform_fill_i32(t, x, 5);
        CHECK_OK(conform_try_read(t->stream, rondo_whole(x)));
        rondo_buffer_release(x);
    }
}

/* [W9] What the user let go is overwritten, so that whoever still relies on it notices. */
static void in_debug_released_memory_is_overwritten(struct conform *t) {
    rondo_buffer old = conform_buffer(t, 4096);
    conform_fill_i32(t, old, 0x5ec2e75e);
    rondo_buffer_release(old);
    rondo_buffer new = conform_buffer(t, 4096);
    void *data = NULL;
    CHECK_OK(rondo_map(t->stream, rondo_whole(new), RONDO_WRITES, &data));
    for (size_t i = 0; i < 1024; i++) {
        CHECK(((const int32_t *)data)[i] != 0x5ec2e75e);
    }
    CHECK_OK(rondo_unmap(t->stream, rondo_whole(new)));
    CHECK_OK(rondo_span_status(rondo_whole(new)));
}

/* [W9] */
static void in_debug_work_cannot_use_fresh_bytes(struct conform *t) {
    rondo_buffer x = conform_buffer(t, 64);
    rondo_buffer y = conform_buffer(t, 64);
    rondo_status status = rondo_copy(t->stream, rondo_whole(y), rondo_whole(x), NULL);
    CHECK_EQUAL(rondo_status_code(rondo_fault_root(status)), RONDO_FRESH);
    CHECK_EQUAL(rondo_status_code(rondo_fault_root(conform_try_read(t->stream, rondo_whole(y)))), RONDO_FRESH);
    conform_fill_i32(t, x, 5);
    CHECK_OK(rondo_copy(t->stream, rondo_whole(y), rondo_whole(x), NULL));
    conform_expect_all_i32(t, y, 5, 16);
}

/* [P1, W9] Without the switch fresh memory reads as it is. */
static void fresh_bytes_read_as_they_are(struct conform *t) {
    rondo_buffer x = conform_buffer(t, 64);
    CHECK_OK(rondo_span_status(rondo_whole(x)));
    CHECK_OK(conform_try_read(t->stream, rondo_whole(x)));
}

static const rondo_device_desc debug = {.debug_fresh = true};
static const rondo_device_desc one_queue = {.max_queues = 1};

const struct conform_case conform_work_failure_cases[] = {
    CONFORM_CASE(a_kernel_that_fails_does_not_fail_its_launch, NEEDS_KERNELS),
    CONFORM_CASE(the_story_of_a_failing_kernel_has_its_reason, NEEDS_KERNELS),
    CONFORM_CASE(sync_tells_the_first_failure_once, NEEDS_FAILURES),
    CONFORM_CASE(sync_tells_the_failure_of_a_kernel, NEEDS_KERNELS),
    CONFORM_CASE(sync_of_one_stream_keeps_quiet_about_another, NEEDS_FAILURES),
    CONFORM_CASE_ON(sync_keeps_quiet_about_a_neighbour, NEEDS_FAILURES, &one_queue),
    CONFORM_CASE(a_device_sync_tells_what_no_stream_told, NEEDS_FAILURES),
    CONFORM_CASE(work_that_needs_spoiled_bytes_is_skipped, NEEDS_FAILURES),
    CONFORM_CASE(a_skipped_launch_does_not_run, NEEDS_KERNELS),
    CONFORM_CASE(a_skip_mints_no_failure, NEEDS_FAILURES),
    CONFORM_CASE(sync_tells_the_root_and_not_its_skips, NEEDS_FAILURES),
    CONFORM_CASE(independent_work_goes_on_after_a_failure, NEEDS_FAILURES),
    CONFORM_CASE(one_failing_item_spoils_the_launch, NEEDS_KERNELS),
    CONFORM_CASE(a_failing_launch_claims_outputs_and_keeps_inputs, NEEDS_KERNELS),
    CONFORM_CASE(a_download_of_spoiled_bytes_is_told_when_it_completes, NEEDS_FAILURES),
    CONFORM_CASE(a_failed_read_writes_nothing, NEEDS_FAILURES),
    CONFORM_CASE_ON(in_debug_fresh_bytes_cannot_be_read, NEEDS_NOTHING, &debug),
    CONFORM_CASE_ON(in_debug_recycled_memory_is_fresh_again, NEEDS_NOTHING, &debug),
    CONFORM_CASE_ON(in_debug_released_memory_is_overwritten, NEEDS_MAP, &debug),
    CONFORM_CASE_ON(in_debug_work_cannot_use_fresh_bytes, NEEDS_NOTHING, &debug),
    CONFORM_CASE(fresh_bytes_read_as_they_are, NEEDS_NOTHING),
    CONFORM_END,
};
