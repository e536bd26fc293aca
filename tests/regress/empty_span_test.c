/* What a node names by a span of no bytes is the graph's as well. The random programs of tests/sim found this among a
 * million seeds: an update gave the guard back, and a later window that took the graph in marked a slice that was
 * somebody else's by then, or none any more. */
#include "unit.h"

#include <rondo/rondo.h>

typedef struct stage {
    rondo_device *device;
    rondo_stream *stream;
    rondo_kernel *kernel;
    rondo_buffer x, named;
    rondo_graph *graph;
} stage;

static void do_nothing(const rondo_native_call *call) {
    (void)call;
}

static int touch_nothing(void *user, const rondo_host_access *accesses, size_t count) {
    (void)user, (void)accesses, (void)count;
    return 0;
}

static rondo_buffer make(stage *s, uint64_t size) {
    rondo_buffer buffer;
    assert_int_equal(rondo_buffer_create(s->stream, size, RONDO_USAGE_GENERAL, &buffer), RONDO_OK);
    assert_int_equal(rondo_fill(s->stream, rondo_whole(buffer), "", 1, NULL), RONDO_OK);
    return buffer;
}

/* A graph of two nodes: a host call that names no byte of `named`, and a launch on x. */
static void open_stage(stage *s) {
    static const rondo_param params[] = {{"x", RONDO_PARAM_INOUT, 1, 1, false}};
    const rondo_kernel_desc desc = {.name = "k", .params = params, .param_count = 1, .native = do_nothing};
    rondo_device_desc few = {.max_queues = 1};
    assert_int_equal(rondo_device_open("cpu", &few, &s->device), RONDO_OK);
    assert_int_equal(rondo_stream_create(s->device, &s->stream), RONDO_OK);
    assert_int_equal(rondo_kernel_create(s->device, &desc, &s->kernel), RONDO_OK);
    s->x = make(s, 64);
    s->named = make(s, 64);
    rondo_host_access access = {.span = rondo_slice(s->named, 63, 0), .mode = RONDO_READS_WRITES};
    rondo_arg arg = rondo_arg_span(rondo_whole(s->x));
    assert_int_equal(rondo_capture_prepare(s->stream), RONDO_OK);
    assert_int_equal(rondo_capture_begin(s->stream), RONDO_OK);
    assert_int_equal(rondo_host_call(s->stream, touch_nothing, NULL, NULL, &access, 1, NULL), RONDO_OK);
    assert_int_equal(rondo_launch(s->stream, s->kernel, rondo_grid_1d(1), &arg, 1, NULL), RONDO_OK);
    assert_int_equal(rondo_capture_end(s->stream, RONDO_END_DEFAULT, &s->graph), RONDO_OK);
}

static void close_stage(stage *s) {
    rondo_graph_release(s->graph);
    rondo_buffer_release(s->x);
    rondo_kernel_release(s->kernel);
    rondo_stream_release(s->stream);
    rondo_device_release(s->device);
}

static uint64_t graphs_of(rondo_buffer buffer) {
    rondo_buffer_info info;
    assert_int_equal(rondo_buffer_get_info(buffer, &info), RONDO_OK);
    return info.graphs;
}

static void update_x(stage *s, rondo_buffer to) {
    rondo_update update = rondo_update_span(1, "x", rondo_whole(to));
    assert_int_equal(rondo_graph_update(s->graph, &update, 1), RONDO_OK);
}

/* [R9] [P3] */
static void an_update_keeps_what_a_node_names_by_an_empty_span(void **state) {
    stage s;
    (void)state;
    open_stage(&s);
    assert_int_equal(graphs_of(s.named), 1);
    update_x(&s, s.x);
    assert_int_equal(graphs_of(s.named), 1);
    rondo_buffer_release(s.named);
    close_stage(&s);
}

/* [R9] [R8] */
static void an_updated_graph_with_an_empty_span_can_be_recorded(void **state) {
    rondo_graph *outer;
    stage s;
    (void)state;
    open_stage(&s);
    update_x(&s, s.x);
    rondo_buffer_release(s.named);
    rondo_buffer stranger = make(&s, 1000);
    assert_int_equal(rondo_capture_prepare(s.stream), RONDO_OK);
    assert_int_equal(rondo_capture_begin(s.stream), RONDO_OK);
    assert_int_equal(rondo_graph_replay(s.graph, s.stream), RONDO_OK);
    assert_int_equal(rondo_capture_end(s.stream, RONDO_END_DEFAULT, &outer), RONDO_OK);
    assert_int_equal(rondo_graph_replay(outer, s.stream), RONDO_OK);
    rondo_graph_release(outer);
    rondo_buffer_release(stranger);
    close_stage(&s);
}

/* [R9] Memory that only the old buffer of the updated node held is given back all the same. */
static void an_update_gives_back_what_no_node_names_any_more(void **state) {
    stage s;
    (void)state;
    open_stage(&s);
    rondo_buffer other = make(&s, 64);
    update_x(&s, other);
    assert_int_equal(graphs_of(s.x), 0);
    assert_int_equal(graphs_of(other), 1);
    rondo_update update = rondo_update_span(1, "x", rondo_slice(s.x, 64, 0)); /* at its very end */
    assert_int_equal(rondo_graph_update(s.graph, &update, 1), RONDO_OK);
    assert_int_equal(graphs_of(s.x), 1);
    assert_int_equal(graphs_of(other), 0);
    rondo_buffer_release(other);
    rondo_buffer_release(s.named);
    close_stage(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_update_keeps_what_a_node_names_by_an_empty_span),
        cmocka_unit_test(an_updated_graph_with_an_empty_span_can_be_recorded),
        cmocka_unit_test(an_update_gives_back_what_no_node_names_any_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
