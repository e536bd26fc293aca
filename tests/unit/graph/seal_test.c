/* Sealing where other tests do not look closely: changes of the sources that no test noticed showed it. */
#include "thread/threads.h"

#include "base/objects.h"
#include "stream/engine.h"
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

/* [C11] [T7] Stories are kept for a while only; that the window is closed must be told all the same. */
static void an_abandoned_window_whose_doom_is_forgotten_is_refused_like_any_other(void **state) {
    (void)state;
    rondo_device *device = open_cpu(1);
    rondo_stream *owner = stream_on(device, 1, 0), *other = stream_on(device, 1, 0);
    rondo_graph *graph = NULL;
    rondo_fault fault;
    OK(rondo_capture_prepare(owner));
    OK(rondo_capture_begin(owner));
    rondo_status doom = rondo_fill(owner, rondo_whole(RONDO_NO_BUFFER), "", 1, NULL);
    expect(doom, RONDO_STALE);
    for (int i = 0; i < 1000; i++) expect(rondo_buffer_retain(RONDO_NO_BUFFER), RONDO_STALE);
    assert_int_not_equal(rondo_fault_get(doom, &fault), RONDO_OK);
    rondo_status end = rondo_capture_end(other, RONDO_END_DEFAULT, &graph);
    expect(end, RONDO_ABANDONED);
    assert_null(graph);
    assert_int_equal(rondo_fault_get(end, &fault), RONDO_OK);
    assert_null(strstr(fault.message, "doomed"));
    assert_int_equal(rondo_capture_phase(owner), RONDO_PHASE_NONE);
    rondo_stream_release(owner);
    rondo_stream_release(other);
    rondo_device_release(device);
}

/* A window in which a buffer lies where an earlier temporary lay; `parts` of it are written by themselves before all of
 * it is. */
static rondo_buffer record_overlaid(rondo_stream *stream, uint64_t parts) {
    rondo_buffer temporary, buffer = RONDO_NO_BUFFER;
    for (int run = 0; run < 2; run++) {
        OK(run == 0 ? rondo_capture_prepare(stream) : rondo_capture_begin(stream));
        temporary = make_buffer(stream, 1);
        rondo_buffer_release(temporary);
        OK(rondo_buffer_create(stream, BYTES, RONDO_USAGE_GENERAL, &buffer));
        for (uint64_t i = 0; i < parts; i++) OK(rondo_fill(stream, rondo_slice(buffer, 32 * i, 8), "", 1, NULL));
        if (parts != 0) OK(rondo_fill(stream, rondo_whole(buffer), "", 1, NULL));
        if (run == 0) rondo_buffer_release(buffer);
    }
    return buffer;
}

/* [C5] [E3] Without memory to tell what is written, nothing is said to be. */
static void a_seal_that_cannot_tell_what_is_written_is_refused(void **state) {
    (void)state;
    rondo_device *device = open_cpu(1);
    rondo_stream *stream = stream_on(device, 1, 0);
    for (int hungry = 0; hungry < 2; hungry++) {
        rondo_graph *graph = NULL;
        rondo_buffer buffer = record_overlaid(stream, 4);
        if (hungry != 0) starve(0, false);
        rondo_status status = rondo_capture_end(stream, RONDO_END_DEFAULT, &graph);
        if (hungry != 0) assert_int_equal(feed(), 1);
        expect(status, hungry != 0 ? RONDO_OVERLAP : RONDO_OK);
        rondo_buffer_release(buffer);
        rondo_graph_release(graph);
    }
    rondo_stream_release(stream);
    expect_empty(device);
    rondo_device_release(device);
}

/* [C5] Another thread has given back the last reference, and no sweep has found it yet. */
static void an_overlaid_buffer_that_is_on_its_way_out_is_no_harm(void **state) {
    (void)state;
    rondo_device *device = open_cpu(1);
    rondo_stream *stream = stream_on(device, 1, 0);
    rondo_graph *graph = NULL;
    rondo_buffer buffer = record_overlaid(stream, 0);
    rdo_memory *memory = rdo_memory_find(buffer);
    rdo_lock_take(&rdo_memory_books(memory)->lock);
    rdo_memory_unref(memory);
    rdo_lock_give(&rdo_memory_books(memory)->lock);
    OK(rondo_capture_end(stream, RONDO_END_DEFAULT, &graph));
    OK(rondo_graph_replay(graph, stream));
    rondo_graph_release(graph);
    rondo_stream_release(stream);
    expect_empty(device);
    rondo_device_release(device);
}

/* [M6] */
static void a_graph_tells_how_many_host_bytes_it_keeps(void **state) {
    static const uint8_t bytes[200];
    (void)state;
    rondo_device *device = open_cpu(1);
    rondo_stream *stream = stream_on(device, 1, 0);
    rondo_buffer x = make_buffer(stream, 1);
    rondo_graph *graph = NULL;
    rondo_graph_info info;
    for (int run = 0; run < 2; run++) {
        OK(run == 0 ? rondo_capture_prepare(stream) : rondo_capture_begin(stream));
        OK(rondo_write(stream, rondo_slice(x, 0, 200), bytes, NULL));
        OK(rondo_write(stream, rondo_slice(x, 200, 100), bytes, NULL));
    }
    OK(rondo_capture_end(stream, RONDO_END_DEFAULT, &graph));
    OK(rondo_graph_get_info(graph, &info));
    assert_int_equal(info.host_bytes, 300);
    rondo_graph_release(graph);
    rondo_buffer_release(x);
    rondo_stream_release(stream);
    expect_empty(device);
    rondo_device_release(device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_seal_that_finds_no_memory_leaves_a_claim_and_nothing_else),
        cmocka_unit_test(a_graph_tells_how_many_bytes_its_values_take),
        cmocka_unit_test(an_abandoned_window_whose_doom_is_forgotten_is_refused_like_any_other),
        cmocka_unit_test(a_seal_that_cannot_tell_what_is_written_is_refused),
        cmocka_unit_test(an_overlaid_buffer_that_is_on_its_way_out_is_no_harm),
        cmocka_unit_test(a_graph_tells_how_many_host_bytes_it_keeps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
