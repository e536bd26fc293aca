/* Sealing where other tests do not look closely: changes of the sources that no test noticed showed it. */
#include "thread/threads.h"

#include "base/objects.h"
#include "unit.h"

/* Makes events until the next handle needs memory of its own. Returns how many. */
static size_t use_up_handles(rondo_device *device, rondo_event **out_events) {
    size_t count = 0;
    while (rdo_objects.free != NULL || rdo_objects.count % RDO_SLOT_CHUNK != 0) {
        OK(rondo_event_create(device, &out_events[count++]));
    }
    return count;
}

/* [E3] Also where it is the handle that there is no memory for; the address sanitizer sees what is left over. */
static void a_seal_that_finds_no_memory_leaves_a_claim_and_nothing_else(void **state) {
    (void)state;
    static rondo_event *events[RDO_SLOT_CHUNK];
    rondo_device *device = open_cpu(1);
    rondo_stream *stream = stream_on(device, 1, 0);
    kernels k = load_kernels(device);
    rondo_buffer x = make_buffer(stream, 1);
    rondo_graph *graph = NULL;
    size_t count = use_up_handles(device, events);
    uint64_t granted = 0, one = 1;
    for (rondo_status status = 1; status != RONDO_OK; granted++) {
        OK(rondo_capture_prepare(stream));
        OK(rondo_capture_begin(stream));
        OK(launch_bump(stream, &k, x));
        starve(granted, false);
        status = rondo_capture_end(stream, RONDO_END_DEFAULT, &graph);
        (void)feed();
        if (status == RONDO_OK) break;
        expect(status, RONDO_NO_HOST_MEMORY);
        assert_null(graph);
        expect(rondo_span_status(rondo_whole(x)), RONDO_TAINTED);
        OK(rondo_fill(stream, rondo_whole(x), &one, 8, NULL));
    }
    assert_true(granted > 3);
    OK(rondo_graph_replay(graph, stream));
    assert_int_equal(read_even(stream, x), 2);
    rondo_graph_release(graph);
    for (size_t i = 0; i < count; i++) rondo_event_release(events[i]);
    rondo_buffer_release(x);
    release_kernels(&k);
    rondo_stream_release(stream);
    expect_empty(device);
    rondo_device_release(device);
}

/* [M6] */
static void a_graph_tells_how_many_bytes_its_values_take(void **state) {
    (void)state;
    rondo_device *device = open_cpu(1);
    rondo_stream *stream = stream_on(device, 1, 0);
    kernels k = load_kernels(device);
    rondo_buffer x = make_buffer(stream, 1);
    rondo_graph *graph = NULL;
    rondo_graph_info info;
    OK(rondo_capture_prepare(stream));
    OK(rondo_capture_begin(stream));
    for (uint64_t i = 0; i < 3; i++) OK(launch_pair(stream, &k, x, i, 6));
    OK(rondo_capture_end(stream, RONDO_END_DEFAULT, &graph));
    OK(rondo_graph_get_info(graph, &info));
    assert_int_equal(info.metadata_bytes, 3 * 2 * 16); /* each value begins at a multiple of 16 */
    rondo_graph_release(graph);
    rondo_buffer_release(x);
    release_kernels(&k);
    rondo_stream_release(stream);
    expect_empty(device);
    rondo_device_release(device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_seal_that_finds_no_memory_leaves_a_claim_and_nothing_else),
        cmocka_unit_test(a_graph_tells_how_many_bytes_its_values_take),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
