/* Updates where other tests do not look closely: each of these was missing, as a change of the sources that no test
 * noticed showed. */
#include "thread/threads.h"

#include <rondo/backend.h>

#include "backend/cpu/cpu.h"
#include "graph/graph.h"
#include "unit.h"

typedef struct scene {
    rondo_device *device;
    rondo_stream *stream;
    kernels k;
    rondo_buffer x, y, z;
    rondo_graph *graph; /* copy from x to y, sum of x and y in z */
} scene;

static scene open_scene(void) {
    scene s = {.device = open_cpu(1)};
    s.stream = stream_on(s.device, 1, 0);
    s.k = load_kernels(s.device);
    s.x = make_buffer(s.stream, 1);
    s.y = make_buffer(s.stream, 2);
    s.z = make_buffer(s.stream, 3);
    OK(rondo_capture_prepare(s.stream));
    OK(rondo_capture_begin(s.stream));
    OK(launch_copy(s.stream, &s.k, s.x, s.y));
    OK(launch_sum(s.stream, &s.k, s.x, s.y, s.z));
    OK(rondo_capture_end(s.stream, RONDO_END_DEFAULT, &s.graph));
    return s;
}

static void close_scene(scene *s) {
    rondo_graph_release(s->graph);
    rondo_buffer_release(s->x);
    rondo_buffer_release(s->y);
    rondo_buffer_release(s->z);
    release_kernels(&s->k);
    rondo_stream_release(s->stream);
    expect_empty(s->device);
    rondo_device_release(s->device);
}

static rondo_fault fault_of(rondo_status status, rondo_code code) {
    rondo_fault fault;
    expect(status, code);
    assert_int_equal(rondo_fault_get(status, &fault), RONDO_OK);
    return fault;
}

static uint64_t graphs_of(rondo_buffer buffer) {
    rondo_buffer_info info;
    OK(rondo_buffer_get_info(buffer, &info));
    return info.graphs;
}

/* [E1] What was said of the update before it does not stay. */
static void a_refused_update_names_no_kernel_but_its_own(void **state) {
    (void)state;
    scene s = open_scene();
    const rondo_update updates[] = {rondo_update_span(0, "x", rondo_whole(s.x)),
                                    rondo_update_span(9, "x", rondo_whole(s.x))};
    rondo_fault fault = fault_of(rondo_graph_update(s.graph, updates, 2), RONDO_RANGE);
    assert_string_equal(fault.kernel, "");
    assert_true(fault.op_index == RONDO_NO_INDEX);
    close_scene(&s);
}

/* [E1] An update is on no stream. */
static void an_aliased_update_names_node_and_kernel_and_no_stream(void **state) {
    (void)state;
    scene s = open_scene();
    const rondo_update update = rondo_update_span(1, "z", rondo_whole(s.y));
    rondo_fault fault = fault_of(rondo_graph_update(s.graph, &update, 1), RONDO_ALIASED);
    assert_int_equal(fault.stream_id, 0);
    assert_int_equal(fault.op_index, 1);
    assert_string_equal(fault.kernel, "sum");
    assert_string_equal(fault.operation, "rondo_graph_update");
    close_scene(&s);
}

/* [R9] [P3] */
static void all_new_buffers_of_an_update_are_guarded_once(void **state) {
    (void)state;
    scene s = open_scene();
    rondo_buffer one = make_buffer(s.stream, 10), two = make_buffer(s.stream, 20), three = make_buffer(s.stream, 30);
    const rondo_update updates[] = {
        rondo_update_span(0, "x", rondo_whole(three)), rondo_update_span(1, "x", rondo_whole(one)),
        rondo_update_span(0, "y", rondo_whole(two)), rondo_update_span(1, "y", rondo_whole(two)),
        rondo_update_span(1, "z", rondo_whole(three))};
    OK(rondo_graph_update(s.graph, updates, 5));
    assert_int_equal(graphs_of(one), 1);
    assert_int_equal(graphs_of(two), 1);
    assert_int_equal(graphs_of(three), 1);
    assert_int_equal(graphs_of(s.x) + graphs_of(s.y) + graphs_of(s.z), 0);
    OK(rondo_graph_replay(s.graph, s.stream));
    assert_int_equal(read_even(s.stream, three), 40);
    rondo_buffer_release(one);
    rondo_buffer_release(two);
    rondo_buffer_release(three);
    close_scene(&s);
}

static rondo_buffer make_lasting(rondo_stream *stream) {
    rondo_buffer buffer = RONDO_NO_BUFFER;
    OK(rondo_buffer_create(stream, BYTES, RONDO_USAGE_LASTING, &buffer));
    OK(rondo_fill(stream, rondo_whole(buffer), "", 1, NULL));
    return buffer;
}

/* [R9] [P3] Lasting buffers have pages of their own, which come in no order. */
static void new_buffers_on_several_pages_are_guarded_whatever_their_order(void **state) {
    (void)state;
    scene s = open_scene();
    rondo_buffer on[2] = {make_lasting(s.stream), make_lasting(s.stream)};
    for (int order = 0; order < 2; order++) {
        const rondo_update updates[] = {rondo_update_span(0, "x", rondo_whole(on[order])),
                                        rondo_update_span(1, "x", rondo_whole(on[order])),
                                        rondo_update_span(1, "y", rondo_whole(on[1 - order]))};
        OK(rondo_graph_update(s.graph, updates, 3));
        OK(rondo_graph_replay(s.graph, s.stream));
        for (int i = 0; i < 2; i++) assert_int_equal(graphs_of(on[i]), 1);
        const rondo_update back[] = {rondo_update_span(0, "x", rondo_whole(s.x)),
                                     rondo_update_span(1, "x", rondo_whole(s.x)),
                                     rondo_update_span(1, "y", rondo_whole(s.y))};
        OK(rondo_graph_update(s.graph, back, 3));
        OK(rondo_graph_replay(s.graph, s.stream));
        for (int i = 0; i < 2; i++) assert_int_equal(graphs_of(on[i]), 0);
    }
    for (int i = 0; i < 2; i++) rondo_buffer_release(on[i]);
    close_scene(&s);
}

/* The last of as many parameters as there may be. */
static void last_native(const rondo_native_call *call) {
    uint64_t *x = call->args[0];
    for (uint64_t i = call->first; i < call->last; i++) memcpy(&x[i], call->args[RONDO_MAX_PARAMS - 1], 8);
}

static rondo_kernel *load_last(const scene *s) {
    static rondo_param params[RONDO_MAX_PARAMS] = {{"x", RONDO_PARAM_OUT, 8, 8, false}};
    static char names[RONDO_MAX_PARAMS][16];
    for (int i = 1; i < RONDO_MAX_PARAMS; i++) {
        (void)snprintf(names[i], sizeof names[i], "v%d", i);
        params[i] = (rondo_param){names[i], RONDO_PARAM_VALUE, 8, 8, false};
    }
    return load(s->device, "last", last_native, params, RONDO_MAX_PARAMS);
}

/* [R9] A value stays as it was updated when a buffer changes later, whichever parameter it is. */
static void a_value_of_the_last_parameter_outlives_an_update_of_buffers(void **state) {
    (void)state;
    scene s = open_scene();
    rondo_kernel *last = load_last(&s);
    rondo_arg args[RONDO_MAX_PARAMS] = {rondo_arg_buffer(s.x)};
    uint64_t one = 1, seven = 7;
    rondo_graph *graph = NULL;
    for (int i = 1; i < RONDO_MAX_PARAMS; i++) args[i] = rondo_arg_value(&one, 8);
    OK(rondo_capture_prepare(s.stream));
    OK(rondo_capture_begin(s.stream));
    OK(rondo_launch(s.stream, last, rondo_grid_1d(WORDS), args, RONDO_MAX_PARAMS, NULL));
    OK(rondo_capture_end(s.stream, RONDO_END_DEFAULT, &graph));
    const rondo_update value = rondo_update_value(0, "v31", &seven, 8);
    const rondo_update span = rondo_update_span(0, "x", rondo_whole(s.y));
    OK(rondo_graph_update(graph, &value, 1));
    OK(rondo_graph_replay(graph, s.stream));
    assert_int_equal(read_even(s.stream, s.x), 7);
    seven = 8; /* copied: what is updated once more goes where the first update went */
    OK(rondo_graph_update(graph, &value, 1));
    OK(rondo_graph_update(graph, &span, 1));
    OK(rondo_graph_replay(graph, s.stream));
    assert_int_equal(read_even(s.stream, s.y), 8);
    rondo_graph_release(graph);
    rondo_kernel_release(last);
    close_scene(&s);
}

enum { MANY = 24 };

/* Sends each of many nodes to a buffer of its own, while memory ends after `granted` allocations. Returns whether it
 * did end. */
static bool update_many(uint64_t granted) {
    scene s = open_scene();
    rondo_buffer old[MANY], new[MANY];
    rondo_update updates[MANY];
    rondo_graph *graph = NULL;
    for (int i = 0; i < MANY; i++) {
        old[i] = make_buffer(s.stream, 10);
        new[i] = make_buffer(s.stream, 20);
        updates[i] = rondo_update_span((uint64_t)i, "x", rondo_whole(new[i]));
    }
    OK(rondo_capture_prepare(s.stream));
    OK(rondo_capture_begin(s.stream));
    for (int i = 0; i < MANY; i++) OK(launch_bump(s.stream, &s.k, old[i]));
    OK(rondo_capture_end(s.stream, RONDO_END_DEFAULT, &graph));
    starve(granted, false);
    rondo_status status = rondo_graph_update(graph, updates, MANY);
    bool refused = feed() != 0;
    if (status != RONDO_OK) expect(status, RONDO_NO_HOST_MEMORY);
    OK(rondo_graph_replay(graph, s.stream));
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(graphs_of(old[i]), status == RONDO_OK ? 0 : 1);
        assert_int_equal(graphs_of(new[i]), status == RONDO_OK ? 1 : 0);
        assert_int_equal(read_even(s.stream, old[i]), status == RONDO_OK ? 10 : 11);
        assert_int_equal(read_even(s.stream, new[i]), status == RONDO_OK ? 21 : 20);
        rondo_buffer_release(old[i]);
        rondo_buffer_release(new[i]);
    }
    rondo_graph_release(graph);
    close_scene(&s);
    return refused;
}

/* [R9] [E3] All or nothing, wherever memory ends; the address sanitizer sees what is left over. */
static void an_update_that_finds_no_memory_changes_nothing(void **state) {
    uint64_t granted = 0;
    (void)state;
    while (update_many(granted)) granted++;
    assert_true(granted > 5);
}

/* [R9] [W5] Nothing lies under a buffer of no bytes, and it is under nothing. */
static void a_buffer_of_no_bytes_can_be_taken_and_left(void **state) {
    static const rondo_param params[] = {{"out", RONDO_PARAM_OUT, 1, 1, false}};
    (void)state;
    scene s = open_scene();
    rondo_kernel *nothing = load(s.device, "nothing", nothing_native, params, 1);
    rondo_buffer empty = RONDO_NO_BUFFER;
    rondo_graph *graph = NULL;
    OK(rondo_buffer_create(s.stream, 0, RONDO_USAGE_GENERAL, &empty));
    rondo_arg arg = rondo_arg_buffer(empty);
    OK(rondo_capture_prepare(s.stream));
    OK(rondo_capture_begin(s.stream));
    OK(rondo_launch(s.stream, nothing, rondo_grid_1d(1), &arg, 1, NULL));
    OK(rondo_capture_end(s.stream, RONDO_END_DEFAULT, &graph));
    for (int round = 0; round < 2; round++) {
        rondo_update update = rondo_update_span(0, "out", rondo_whole(round == 0 ? s.x : empty));
        OK(rondo_graph_update(graph, &update, 1));
        OK(rondo_graph_replay(graph, s.stream));
        assert_int_equal(graphs_of(s.x), round == 0 ? 2 : 1);
    }
    rondo_graph_release(graph);
    rondo_buffer_release(empty);
    rondo_kernel_release(nothing);
    close_scene(&s);
}

/* [R9] [R5] The rest of the buffer is no longer of the graph's. */
static void a_shorter_span_of_the_same_buffer_is_another_span(void **state) {
    rondo_node_span told;
    (void)state;
    scene s = open_scene();
    rondo_update update = rondo_update_span(1, "z", rondo_slice(s.z, 0, BYTES));
    OK(rondo_graph_update(s.graph, &update, 1));
    update.span.size_bytes = BYTES / 2; /* more than a grid of half as many items needs */
    OK(rondo_graph_update(s.graph, &update, 1));
    OK(rondo_graph_get_node_span(s.graph, 1, 2, &told));
    assert_int_equal(told.size_bytes, BYTES / 2);
    close_scene(&s);
}

/* Its value comes first. */
static void set_native(const rondo_native_call *call) {
    uint64_t value, *x = call->args[1];
    memcpy(&value, call->args[0], sizeof value);
    for (uint64_t i = call->first; i < call->last; i++) x[i] = value;
}

/* A backend that replays the graph once more while it builds the next one. */
static struct meddling {
    rondo_graph *graph; /* NULL: it does not */
    rondo_stream *stream;
} meddling;

static void replay_once(int index, void *user) {
    (void)index, (void)user;
    NEED_OK(rondo_graph_replay(meddling.graph, meddling.stream));
    meddling.graph = NULL;
}

static rondo_backend_result build_and_meddle(void *device, const rondo_backend_nodes *nodes,
                                             const rondo_backend_edges *edges, void **out_graph) {
    if (meddling.graph != NULL) run_threads(1, replay_once, NULL);
    return rdo_backend_cpu.graph_build(device, nodes, edges, out_graph);
}

static int register_meddling(void **state) {
    static rondo_backend backend;
    (void)state;
    backend = rdo_backend_cpu;
    backend.name = "meddling";
    backend.graph_build = build_and_meddle;
    return rondo_backend_register(&backend) == RONDO_OK ? 0 : -1;
}

/* [R9] A replay applies an earlier update while the next one builds its program, which has copied the value before. */
static void a_value_that_is_applied_while_buffers_are_updated_is_not_lost(void **state) {
    static const rondo_param params[] = {{"value", RONDO_PARAM_VALUE, 8, 8, false},
                                         {"x", RONDO_PARAM_OUT, 8, 8, false}};
    rondo_device *device = NULL;
    rondo_graph *graph = NULL;
    uint64_t one = 1, seven = 7;
    (void)state;
    OK(rondo_device_open("meddling", NULL, &device));
    rondo_stream *stream = stream_on(device, 1, 0);
    rondo_kernel *set = load(device, "set", set_native, params, 2);
    rondo_buffer x = make_buffer(stream, 0), y = make_buffer(stream, 0);
    rondo_arg args[] = {rondo_arg_value(&one, 8), rondo_arg_buffer(x)};
    OK(rondo_capture_prepare(stream));
    OK(rondo_capture_begin(stream));
    OK(rondo_launch(stream, set, rondo_grid_1d(WORDS), args, 2, NULL));
    OK(rondo_capture_end(stream, RONDO_END_DEFAULT, &graph));
    rdo_graph *held = rdo_graph_hold(graph); /* so that no update finds the graph at rest and is applied at once */
    rondo_update value = rondo_update_value(0, "value", &seven, 8), span = rondo_update_span(0, "x", rondo_whole(y));
    OK(rondo_graph_update(graph, &value, 1));
    meddling = (struct meddling){graph, stream};
    OK(rondo_graph_update(graph, &span, 1));
    assert_null(meddling.graph);
    assert_int_equal(read_even(stream, x), 7);
    rdo_graph_drop(held);
    OK(rondo_graph_replay(graph, stream));
    assert_int_equal(read_even(stream, y), 7);
    rondo_graph_release(graph);
    rondo_buffer_release(x);
    rondo_buffer_release(y);
    rondo_kernel_release(set);
    rondo_stream_release(stream);
    expect_empty(device);
    rondo_device_release(device);
}

/* [R9] [P3] [W5] Buffers that nodes name by spans of no bytes, in no order, and more of them than are looked at one by
 * one, stay guarded. */
static void buffers_named_by_empty_spans_stay_guarded_by_an_updated_graph(void **state) {
    static const rondo_param params[] = {{"in", RONDO_PARAM_IN, 1, 1, false}};
    (void)state;
    scene s = open_scene();
    rondo_kernel *nothing = load(s.device, "nothing", nothing_native, params, 1);
    rondo_buffer named[MANY];
    rondo_graph *graph = NULL;
    for (int i = 0; i < MANY; i++) named[i] = make_buffer(s.stream, 1);
    OK(rondo_capture_prepare(s.stream));
    OK(rondo_capture_begin(s.stream));
    OK(launch_copy(s.stream, &s.k, s.x, s.y));
    for (int i = 0; i < MANY; i++) {
        rondo_arg arg = rondo_arg_span(rondo_slice(named[(MANY - 1 - i) * 7 % MANY], 0, 0));
        OK(rondo_launch(s.stream, nothing, rondo_grid_1d(1), &arg, 1, NULL));
    }
    OK(rondo_capture_end(s.stream, RONDO_END_DEFAULT, &graph));
    rondo_update update = rondo_update_span(0, "x", rondo_whole(s.z));
    OK(rondo_graph_update(graph, &update, 1));
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(graphs_of(named[i]), 1);
        rondo_buffer_release(named[i]);
    }
    rondo_graph_release(graph);
    rondo_kernel_release(nothing);
    close_scene(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_refused_update_names_no_kernel_but_its_own),
        cmocka_unit_test(an_aliased_update_names_node_and_kernel_and_no_stream),
        cmocka_unit_test(all_new_buffers_of_an_update_are_guarded_once),
        cmocka_unit_test(new_buffers_on_several_pages_are_guarded_whatever_their_order),
        cmocka_unit_test(a_value_of_the_last_parameter_outlives_an_update_of_buffers),
        cmocka_unit_test(an_update_that_finds_no_memory_changes_nothing),
        cmocka_unit_test(a_buffer_of_no_bytes_can_be_taken_and_left),
        cmocka_unit_test(a_shorter_span_of_the_same_buffer_is_another_span),
        cmocka_unit_test(a_value_that_is_applied_while_buffers_are_updated_is_not_lost),
        cmocka_unit_test(buffers_named_by_empty_spans_stay_guarded_by_an_updated_graph),
    };
    return cmocka_run_group_tests(tests, register_meddling, NULL);
}
