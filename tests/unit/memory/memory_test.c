/* The record of an allocation serves again: nothing of its former life may stay. A change of the sources that no test
 * noticed showed this one. */
#include "unit.h"

#include <rondo/rondo.h>

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_import_is_of_general_usage_whatever_its_record_was_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
