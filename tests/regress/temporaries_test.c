/* Memory of a window that temporaries shared one after the other. The random programs of tests/sim found the first of
 * these, thinking about why they had not found the second led to it. */
#include "unit.h"

#include <rondo/rondo.h>

typedef struct stage {
    rondo_device *device;
    rondo_stream *stream;
} stage;

static void open_stage(stage *s) {
    rondo_device_desc desc = {.max_queues = 1};
    assert_int_equal(rondo_device_open("cpu", &desc, &s->device), RONDO_OK);
    assert_int_equal(rondo_stream_create(s->device, &s->stream), RONDO_OK);
}

static void close_stage(stage *s) {
    rondo_stream_release(s->stream);
    rondo_device_release(s->device);
}

static rondo_buffer make(stage *s, uint64_t size) {
    rondo_buffer buffer;
    assert_int_equal(rondo_buffer_create(s->stream, size, RONDO_USAGE_GENERAL, &buffer), RONDO_OK);
    return buffer;
}

static void fill(stage *s, rondo_buffer buffer, uint8_t value) {
    assert_int_equal(rondo_fill(s->stream, rondo_whole(buffer), &value, 1, NULL), RONDO_OK);
}

static uint8_t first_byte(stage *s, rondo_buffer buffer) {
    uint8_t byte;
    assert_int_equal(rondo_read(s->stream, rondo_slice(buffer, 0, 1), &byte, NULL), RONDO_OK);
    return byte;
}

static void begin(stage *s) {
    assert_int_equal(rondo_capture_begin(s->stream), RONDO_OK);
}

static void prepare(stage *s) {
    assert_int_equal(rondo_capture_prepare(s->stream), RONDO_OK);
}

static rondo_graph *end(stage *s) {
    rondo_graph *graph;
    assert_int_equal(rondo_capture_end(s->stream, RONDO_END_DEFAULT, &graph), RONDO_OK);
    return graph;
}

static void large_then_small(stage *s) {
    rondo_buffer large = make(s, 1024);
    fill(s, large, 5);
    rondo_buffer_release(large);
    rondo_buffer small = make(s, 64);
    fill(s, small, 6);
    rondo_buffer_release(small);
}

/* The slice of the large temporary is cut up for the small one, so its own op names the first piece only. [P3] [R8] */
static void an_outer_graph_keeps_all_of_a_temporary_that_was_cut_up(void **state) {
    enum { STRANGERS = 16 };
    rondo_buffer strangers[STRANGERS];
    stage s;
    (void)state;
    open_stage(&s);
    prepare(&s);
    large_then_small(&s);
    begin(&s);
    large_then_small(&s);
    rondo_graph *inner = end(&s);
    prepare(&s);
    begin(&s);
    assert_int_equal(rondo_graph_replay(inner, s.stream), RONDO_OK);
    rondo_graph *outer = end(&s);
    rondo_graph_release(inner);
    for (int i = 0; i < STRANGERS; i++) fill(&s, strangers[i] = make(&s, 128), (uint8_t)(100 + i));
    assert_int_equal(rondo_graph_replay(outer, s.stream), RONDO_OK);
    for (int i = 0; i < STRANGERS; i++) {
        assert_int_equal(first_byte(&s, strangers[i]), 100 + i);
        rondo_buffer_release(strangers[i]);
    }
    rondo_graph_release(outer);
    close_stage(&s);
}

/* ---- updates ---- */

static void put(const rondo_native_call *call) {
    uint8_t *out = call->args[1];
    for (uint64_t i = call->first; i < call->last; i++) out[i] = (uint8_t)(((const uint8_t *)call->args[0])[i] + 1);
}

static const rondo_param put_params[] = {{"a", RONDO_PARAM_IN, 1, 1, false}, {"out", RONDO_PARAM_OUT, 1, 1, false}};
static const rondo_kernel_desc put_desc = {.name = "put", .params = put_params, .param_count = 2, .native = put};

enum { SIZE = 256 };

static void launch(stage *s, rondo_kernel *kernel, rondo_buffer a, rondo_buffer out) {
    rondo_arg args[] = {rondo_arg_buffer(a), rondo_arg_buffer(out)};
    assert_int_equal(rondo_launch(s->stream, kernel, rondo_grid_1d(SIZE), args, 2, NULL), RONDO_OK);
}

/* Nodes: x to a temporary, x to y, x to a buffer that stays and lies where the temporary lay, a fill of that buffer. */
static rondo_buffer stays_on_temporary(stage *s, rondo_kernel *kernel, rondo_buffer x, rondo_buffer y) {
    rondo_buffer temporary = make(s, SIZE);
    launch(s, kernel, x, temporary);
    rondo_buffer_release(temporary);
    launch(s, kernel, x, y);
    rondo_buffer stays = make(s, SIZE);
    launch(s, kernel, x, stays);
    fill(s, stays, 9);
    return stays;
}

static rondo_code update(rondo_graph *graph, uint64_t node, const char *param, rondo_buffer buffer) {
    rondo_update change = rondo_update_span(node, param, rondo_whole(buffer));
    return rondo_status_code(rondo_graph_update(graph, &change, 1));
}

/* [P3] [C5] [R9] */
static void an_update_cannot_leave_a_live_buffer_to_be_overwritten_or_read_in_between(void **state) {
    stage s;
    rondo_kernel *kernel;
    (void)state;
    open_stage(&s);
    assert_int_equal(rondo_kernel_create(s.device, &put_desc, &kernel), RONDO_OK);
    rondo_buffer x = make(&s, SIZE), y = make(&s, SIZE), z = make(&s, SIZE);
    fill(&s, x, 1);
    prepare(&s);
    rondo_buffer_release(stays_on_temporary(&s, kernel, x, y));
    begin(&s);
    rondo_buffer stays = stays_on_temporary(&s, kernel, x, y);
    rondo_graph *graph = end(&s);
    assert_int_equal(update(graph, 2, "out", z), RONDO_OVERLAP);   /* a reader before the fill would meet it */
    assert_int_equal(update(graph, 1, "a", stays), RONDO_OVERLAP); /* it holds the temporary's bytes there */
    assert_int_equal(update(graph, 1, "out", z), RONDO_CODE_OK);   /* neighbours that do no harm */
    assert_int_equal(update(graph, 2, "a", y), RONDO_CODE_OK);
    fill(&s, y, 40);
    assert_int_equal(rondo_graph_replay(graph, s.stream), RONDO_OK);
    assert_int_equal(first_byte(&s, stays), 9);
    assert_int_equal(first_byte(&s, z), 2);
    rondo_buffer_release(stays); /* from now on nobody can be harmed */
    assert_int_equal(update(graph, 2, "out", z), RONDO_CODE_OK);
    rondo_graph_release(graph);
    rondo_buffer_release(x);
    rondo_buffer_release(y);
    rondo_buffer_release(z);
    rondo_kernel_release(kernel);
    close_stage(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_outer_graph_keeps_all_of_a_temporary_that_was_cut_up),
        cmocka_unit_test(an_update_cannot_leave_a_live_buffer_to_be_overwritten_or_read_in_between),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
