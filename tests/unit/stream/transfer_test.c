/* Mapping on a backend whose memory the host cannot reach. */
#include "thread/threads.h"

#include <rondo/backend.h>

#include "backend/cpu/cpu.h"
#include "unit.h"

static void *no_address(void *device, void *page) {
    (void)device, (void)page;
    return NULL;
}

static int register_far(void **state) {
    static rondo_backend far;
    (void)state;
    far = rdo_backend_cpu;
    far.name = "far";
    far.host_address = no_address;
    return rondo_backend_register(&far) == RONDO_OK ? 0 : -1;
}

/* [O4] [E2] Host blocks can be mapped there, too. */
static void device_memory_out_of_reach_cannot_be_mapped(void **state) {
    rondo_device *device = NULL;
    rondo_buffer block = RONDO_NO_BUFFER;
    void *data = &block;
    (void)state;
    OK(rondo_device_open("far", NULL, &device));
    rondo_stream *stream = stream_on(device, 1, 0);
    rondo_buffer buffer = make_buffer(stream, 7);
    expect(rondo_map(stream, rondo_whole(buffer), RONDO_READS, &data), RONDO_UNSUPPORTED);
    assert_null(data);
    assert_int_equal(read_even(stream, buffer), 7);
    OK(rondo_host_create(stream, 64, &block));
    OK(rondo_map(stream, rondo_whole(block), RONDO_READS, &data));
    assert_ptr_equal(data, rondo_host_data(block));
    OK(rondo_unmap(stream, rondo_whole(block)));
    rondo_buffer_release(block);
    rondo_buffer_release(buffer);
    rondo_stream_release(stream);
    expect_empty(device);
    rondo_device_release(device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_memory_out_of_reach_cannot_be_mapped),
    };
    return cmocka_run_group_tests(tests, register_far, NULL);
}
