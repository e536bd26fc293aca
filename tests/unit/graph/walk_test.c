/* What a graph tells of its nodes, where other tests do not look closely. */
#include "unit.h"

#include <rondo/rondo.h>

enum { ROWS = 3, ROW_BYTES = 4, TARGET_PITCH = 8, SOURCE_PITCH = 16, LOW = 32 };

typedef struct stage {
    rondo_device *device;
    rondo_stream *stream;
    rondo_buffer x, y;
} stage;

static void open_stage(stage *s, const char *backend) {
    assert_int_equal(rondo_device_open(backend, NULL, &s->device), RONDO_OK);
    assert_int_equal(rondo_stream_create(s->device, &s->stream), RONDO_OK);
    assert_int_equal(rondo_buffer_create(s->stream, 128, RONDO_USAGE_GENERAL, &s->x), RONDO_OK);
    assert_int_equal(rondo_buffer_create(s->stream, 128, RONDO_USAGE_GENERAL, &s->y), RONDO_OK);
    assert_int_equal(rondo_fill(s->stream, rondo_whole(s->y), "", 1, NULL), RONDO_OK);
    assert_int_equal(rondo_capture_prepare(s->stream), RONDO_OK);
    assert_int_equal(rondo_capture_begin(s->stream), RONDO_OK);
}

static rondo_graph *end(stage *s) {
    rondo_graph *graph;
    assert_int_equal(rondo_capture_end(s->stream, RONDO_END_DEFAULT, &graph), RONDO_OK);
    return graph;
}

static void close_stage(stage *s) {
    rondo_buffer_release(s->x);
    rondo_buffer_release(s->y);
    rondo_stream_release(s->stream);
    rondo_device_release(s->device);
}

static void check_row(rondo_graph *graph, uint32_t span, rondo_buffer buffer, uint64_t offset, int mode) {
    rondo_node_span told;
    assert_int_equal(rondo_graph_get_node_span(graph, 0, span, &told), RONDO_OK);
    assert_int_equal(told.memory_id, buffer.id);
    assert_int_equal(told.offset_bytes, offset);
    assert_int_equal(told.size_bytes, ROW_BYTES);
    assert_int_equal(told.mode, mode);
}

/* [O8] The gaps between the rows are not touched. */
static void each_row_of_a_rectangle_is_a_span_of_its_own(void **state) {
    rondo_node_info info;
    rondo_node_span past;
    stage s;
    (void)state;
    open_stage(&s, "null");
    rondo_rect to = {rondo_slice(s.x, LOW, 64), TARGET_PITCH}, from = {rondo_slice(s.y, LOW, 64), SOURCE_PITCH};
    assert_int_equal(rondo_copy_2d(s.stream, to, from, ROW_BYTES, ROWS, "rows"), RONDO_OK);
    rondo_graph *graph = end(&s);
    assert_int_equal(rondo_graph_get_node(graph, 0, &info), RONDO_OK);
    assert_int_equal(info.spans, 2 * ROWS);
    for (uint32_t row = 0; row < ROWS; row++) {
        check_row(graph, row, s.x, LOW + row * TARGET_PITCH, RONDO_WRITES);
        check_row(graph, ROWS + row, s.y, LOW + row * SOURCE_PITCH, RONDO_READS);
    }
    rondo_status status = rondo_graph_get_node_span(graph, 0, 2 * ROWS, &past);
    assert_int_equal(rondo_status_code(status), RONDO_RANGE);
    rondo_graph_release(graph);
    close_stage(&s);
}

static bool is_zero(const void *data, size_t size) {
    const uint8_t *bytes = data;
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != 0) return false;
    }
    return true;
}

/* [E2] Who does not look at the answer finds nothing, rather than what was there before. */
static void what_is_refused_is_answered_with_zeros(void **state) {
    rondo_node_info info;
    rondo_node_span span;
    uint64_t node = 7;
    stage s;
    (void)state;
    open_stage(&s, "null");
    assert_int_equal(rondo_fill(s.stream, rondo_whole(s.x), "", 1, NULL), RONDO_OK);
    rondo_graph *graph = end(&s);
    memset(&info, 0xff, sizeof info);
    memset(&span, 0xff, sizeof span);
    assert_int_equal(rondo_status_code(rondo_graph_get_node(graph, 1, &info)), RONDO_RANGE);
    assert_int_equal(rondo_status_code(rondo_graph_get_node_span(graph, 0, 1, &span)), RONDO_RANGE);
    assert_int_equal(rondo_status_code(rondo_graph_get_predecessor(graph, 0, 0, &node)), RONDO_RANGE);
    assert_true(is_zero(&info, sizeof info));
    assert_true(is_zero(&span, sizeof span));
    assert_int_equal(node, 0);
    rondo_graph_release(graph);
    close_stage(&s);
}

static int do_nothing(void *user, const rondo_host_access *accesses, size_t count) {
    (void)user, (void)accesses, (void)count;
    return 0;
}

/* [O8] [W5] A node's spans are those with bytes. */
static void a_span_of_no_bytes_is_not_told_of(void **state) {
    rondo_node_info info;
    rondo_node_span told;
    stage s;
    (void)state;
    open_stage(&s, "cpu"); /* null runs no host calls */
    rondo_host_access accesses[] = {{.span = rondo_slice(s.x, 0, 0), .mode = RONDO_READS},
                                    {.span = rondo_whole(s.y), .mode = RONDO_READS}};
    assert_int_equal(rondo_host_call(s.stream, do_nothing, NULL, NULL, accesses, 2, NULL), RONDO_OK);
    rondo_graph *graph = end(&s);
    assert_int_equal(rondo_graph_get_node(graph, 0, &info), RONDO_OK);
    assert_int_equal(info.spans, 1);
    assert_int_equal(rondo_graph_get_node_span(graph, 0, 0, &told), RONDO_OK);
    assert_int_equal(told.memory_id, s.y.id);
    rondo_graph_release(graph);
    close_stage(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_row_of_a_rectangle_is_a_span_of_its_own),
        cmocka_unit_test(what_is_refused_is_answered_with_zeros),
        cmocka_unit_test(a_span_of_no_bytes_is_not_told_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
