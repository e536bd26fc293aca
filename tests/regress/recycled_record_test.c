/* The record of a temporary serves another buffer as soon as the window has closed, while the graph's nodes go on
 * naming the temporary: whoever compares records, and not ids, takes the two for one. */
#include "memory/memory.h"
#include "unit.h"

#include <rondo/rondo.h>

#include "test_kernels.kernels.h"

#define OK(call) assert_int_equal(rondo_status_code(call), RONDO_OK)

enum { BYTES = sizeof(int32_t), MOST_BUFFERS = 64 };

static rondo_device *device;
static rondo_stream *stream;
static rondo_kernel *copy;

static rondo_buffer make(void) {
    rondo_buffer buffer;
    OK(rondo_buffer_create(stream, BYTES, RONDO_USAGE_GENERAL, &buffer));
    return buffer;
}

static void copy_word(rondo_buffer target, rondo_buffer source) {
    OK(copy_i32_launch(stream, copy, rondo_grid_1d(1), rondo_whole(source), rondo_whole(target), NULL));
}

/* x to a temporary, and that to y. Returns the temporary's record. */
static const rdo_memory *through_a_temporary(rondo_buffer x, rondo_buffer y) {
    rondo_buffer temporary = make();
    const rdo_memory *record = rdo_memory_find(temporary);
    copy_word(temporary, x);
    copy_word(y, temporary);
    rondo_buffer_release(temporary);
    return record;
}

/* A buffer with the given record, now that nobody else has it. */
static rondo_buffer buffer_with_record(const rdo_memory *record) {
    rondo_buffer others[MOST_BUFFERS], found;
    size_t count = 0;
    while (rdo_memory_find(found = make()) != record) {
        assert_true(count < MOST_BUFFERS);
        others[count++] = found;
    }
    while (count > 0) rondo_buffer_release(others[--count]);
    return found;
}

/* [W8] [R9] An output may be what the record of the node's own input has become. */
static void a_buffer_with_the_record_of_a_temporary_is_no_alias_of_it(void **state) {
    const int32_t seven = 7;
    int32_t value = 0;
    rondo_graph *graph;
    (void)state;
    rondo_buffer x = make(), y = make();
    OK(rondo_fill(stream, rondo_whole(x), &seven, sizeof seven, NULL));
    OK(rondo_capture_prepare(stream));
    (void)through_a_temporary(x, y);
    OK(rondo_capture_begin(stream));
    const rdo_memory *record = through_a_temporary(x, y);
    OK(rondo_capture_end(stream, RONDO_END_DEFAULT, &graph));
    rondo_buffer heir = buffer_with_record(record);
    rondo_update change = rondo_update_span(1, "y", rondo_whole(heir));
    OK(rondo_graph_update(graph, &change, 1));
    OK(rondo_graph_replay(graph, stream));
    OK(rondo_read(stream, rondo_whole(heir), &value, NULL));
    assert_int_equal(value, 7);
    change = rondo_update_span(1, "x", rondo_whole(heir));
    assert_int_equal(rondo_status_code(rondo_graph_update(graph, &change, 1)), RONDO_ALIASED);
    rondo_buffer_release(heir);
    rondo_buffer_release(x);
    rondo_buffer_release(y);
    rondo_graph_release(graph);
}

static int open_device(void **state) {
    (void)state;
    OK(rondo_device_open("cpu", NULL, &device));
    OK(rondo_stream_create(device, &stream));
    OK(copy_i32_create(device, &copy));
    return 0;
}

static int close_device(void **state) {
    (void)state;
    rondo_kernel_release(copy);
    rondo_stream_release(stream);
    rondo_device_release(device);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_buffer_with_the_record_of_a_temporary_is_no_alias_of_it),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
