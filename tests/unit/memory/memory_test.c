/* The record of an allocation serves again: nothing of its former life may stay. A change of the sources that no test
 * noticed showed this one. */
#include "unit.h"

#include <rondo/rondo.h>

#include "memory_bench.h"

/* [O4] */
static void an_import_is_of_general_usage_whatever_its_record_was_before(void **state) {
    static _Alignas(4096) uint8_t bytes[4096];
    rondo_device *device;
    rondo_stream *stream;
    rondo_buffer buffer;
    rondo_buffer_info info;
    (void)state;
    assert_int_equal(rondo_device_open("cpu", NULL, &device), RONDO_OK);
    assert_int_equal(rondo_stream_create(device, &stream), RONDO_OK);
    assert_int_equal(rondo_buffer_create(stream, sizeof bytes, RONDO_USAGE_LASTING, &buffer), RONDO_OK);
    assert_int_equal(rondo_buffer_get_info(buffer, &info), RONDO_OK);
    assert_int_equal(info.usage, RONDO_USAGE_LASTING);
    rondo_buffer_release(buffer);
    assert_int_equal(rondo_buffer_import(stream, bytes, sizeof bytes, NULL, NULL, &buffer), RONDO_OK);
    assert_int_equal(rondo_buffer_get_info(buffer, &info), RONDO_OK);
    assert_int_equal(info.usage, RONDO_USAGE_GENERAL);
    rondo_buffer_release(buffer);
    rondo_stream_release(stream);
    rondo_device_release(device);
}

/* [O4] */
static void a_buffer_of_the_pool_is_no_import_whatever_its_record_was_before(void **state) {
    static _Alignas(4096) uint8_t bytes[4096];
    rondo_device *device;
    rondo_stream *stream;
    rondo_buffer buffer;
    rondo_buffer_info info;
    (void)state;
    assert_int_equal(rondo_device_open("cpu", NULL, &device), RONDO_OK);
    assert_int_equal(rondo_stream_create(device, &stream), RONDO_OK);
    assert_int_equal(rondo_host_import(stream, bytes, sizeof bytes, NULL, NULL, &buffer), RONDO_OK);
    rondo_buffer_release(buffer);
    assert_int_equal(rondo_buffer_create(stream, 100, RONDO_USAGE_GENERAL, &buffer), RONDO_OK);
    assert_int_equal(rondo_buffer_get_info(buffer, &info), RONDO_OK);
    assert_false(info.imported);
    assert_false(info.host);
    rondo_buffer_release(buffer);
    rondo_stream_release(stream);
    rondo_device_release(device);
}

/* [O6] */
static void a_buffer_of_no_bytes_lies_nowhere_whatever_its_record_was_before(void **state) {
    memory_bench bench;
    (void)state;
    memory_bench_open(&bench);
    rdo_memory *first = memory_bench_buffer(&bench, 100);
    assert_int_not_equal(first->address, 0);
    memory_bench_release(&bench, first);
    rdo_memory *empty = memory_bench_buffer(&bench, 0);
    assert_ptr_equal(empty, first);
    assert_null(empty->page);
    assert_null(empty->place.page);
    assert_int_equal(empty->address, 0);
    memory_bench_release(&bench, empty);
    memory_bench_close(&bench);
}

/* [E2] A store keeps records for its next allocations. One that has had all its numbers is passed over. */
static void a_record_without_numbers_left_is_not_used_again(void **state) {
    memory_bench bench;
    (void)state;
    memory_bench_open(&bench);
    rdo_memory *spent = memory_bench_buffer(&bench, 100);
    memory_bench_release(&bench, spent);
    assert_ptr_equal(bench.store.spares, &spent->slot);
    spent->slot.last_number |= ~UINT64_C(0) << 24;
    rdo_memory *other = memory_bench_buffer(&bench, 100);
    assert_ptr_not_equal(other, spent);
    memory_bench_release(&bench, other);
    memory_bench_close(&bench);
}

/* [W8] Walks are counted by queue: that of another one must not make a launch think that it met the buffer before. */
static void a_record_of_the_table_was_met_by_no_walk(void **state) {
    memory_bench bench;
    (void)state;
    memory_bench_open(&bench);
    rdo_memory *met = memory_bench_buffer(&bench, 100);
    met->named_in = 1;
    memory_bench_release(&bench, met);
    memory_bench_close(&bench); /* gives its spare records back to the table */
    memory_bench_open(&bench);
    rdo_memory *other = memory_bench_buffer(&bench, 100);
    assert_ptr_equal(other, met);
    assert_int_equal(other->named_in, 0);
    memory_bench_release(&bench, other);
    memory_bench_close(&bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_import_is_of_general_usage_whatever_its_record_was_before),
        cmocka_unit_test(a_buffer_of_the_pool_is_no_import_whatever_its_record_was_before),
        cmocka_unit_test(a_buffer_of_no_bytes_lies_nowhere_whatever_its_record_was_before),
        cmocka_unit_test(a_record_without_numbers_left_is_not_used_again),
        cmocka_unit_test(a_record_of_the_table_was_met_by_no_walk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
