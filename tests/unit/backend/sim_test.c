#include <rondo/rondo.h>

#include "backend/sim/sim.h"
#include <rondo/sim.h>

#define the_backend rdo_backend_sim
#include "byte_ops.h"

/* ---- a device to fail on ---- */

typedef struct stage {
    rondo_device *device;
    rondo_stream *stream;
    rondo_kernel *kernel;
    rondo_buffer x;
} stage;

static void add_one(const rondo_native_call *call) {
    uint8_t *x = call->args[0];
    for (uint64_t i = call->first; i < call->last; i++) x[i]++;
}

static const rondo_param add_one_params[] = {{"x", RONDO_PARAM_INOUT, 1, 1, false}};
static const rondo_kernel_desc add_one_desc = {
    .name = "add_one", .params = add_one_params, .param_count = 1, .native = add_one};

enum { SIZE = 64 };

static void open_stage(stage *s) {
    rondo_sim_reset();
    assert_int_equal(rondo_device_open("sim", NULL, &s->device), RONDO_OK);
    assert_int_equal(rondo_stream_create(s->device, &s->stream), RONDO_OK);
    assert_int_equal(rondo_kernel_create(s->device, &add_one_desc, &s->kernel), RONDO_OK);
    assert_int_equal(rondo_buffer_create(s->stream, SIZE, RONDO_USAGE_GENERAL, &s->x), RONDO_OK);
    rondo_sim_reset();
}

static void close_stage(stage *s) {
    rondo_sim_reset();
    rondo_buffer_release(s->x);
    rondo_kernel_release(s->kernel);
    rondo_stream_release(s->stream);
    rondo_device_release(s->device);
}

static rondo_code launch(stage *s) {
    rondo_arg arg = rondo_arg_buffer(s->x);
    return rondo_status_code(rondo_launch(s->stream, s->kernel, rondo_grid_1d(SIZE), &arg, 1, NULL));
}

static rondo_code fill(stage *s, uint8_t value) {
    return rondo_status_code(rondo_fill(s->stream, rondo_whole(s->x), &value, 1, NULL));
}

static rondo_code read_first(stage *s, uint8_t *out_first) {
    uint8_t bytes[SIZE] = {0};
    rondo_code code = rondo_status_code(rondo_read(s->stream, rondo_whole(s->x), bytes, NULL));
    *out_first = bytes[0];
    return code;
}

static rondo_graph *record_launches(stage *s, int count) {
    rondo_graph *graph;
    assert_int_equal(rondo_capture_prepare(s->stream), RONDO_OK);
    assert_int_equal(rondo_capture_begin(s->stream), RONDO_OK);
    for (int i = 0; i < count; i++) assert_int_equal(launch(s), RONDO_CODE_OK);
    assert_int_equal(rondo_capture_end(s->stream, RONDO_END_DEFAULT, &graph), RONDO_OK);
    return graph;
}

static void rule(rondo_sim_call call, rondo_backend_result result, uint64_t nth, uint64_t count) {
    rondo_sim_fault fault = {.call = call, .result = result, .nth = nth, .count = count, .reason = 5};
    assert_true(rondo_sim_fail(&fault));
}

static uint64_t failed_calls(void) {
    rondo_sim_counts counts;
    rondo_sim_get_counts(&counts);
    return counts.failed;
}

/* ---- rules ---- */

static void a_rule_strikes_the_calls_that_it_names_and_no_other(void **state) {
    stage s;
    (void)state;
    open_stage(&s);
    rule(RONDO_SIM_SUBMIT, RONDO_BACKEND_NOT_RUN, 2, 2);
    assert_int_equal(fill(&s, 1), RONDO_CODE_OK);
    assert_int_equal(fill(&s, 1), RONDO_BACKEND);
    assert_int_equal(fill(&s, 1), RONDO_BACKEND);
    assert_int_equal(fill(&s, 1), RONDO_CODE_OK);
    assert_int_equal(failed_calls(), 2);
    close_stage(&s);
}

static void a_rule_without_a_count_lasts_until_reset(void **state) {
    stage s;
    (void)state;
    open_stage(&s);
    rule(RONDO_SIM_SUBMIT, RONDO_BACKEND_DEVICE_LOST, 1, 0);
    for (int i = 0; i < 50; i++) assert_int_equal(fill(&s, 1), RONDO_LOST);
    rondo_sim_reset();
    assert_int_equal(fill(&s, 1), RONDO_CODE_OK);
    assert_int_equal(failed_calls(), 0);
    close_stage(&s);
}

static void of_two_rules_the_older_decides_and_both_count(void **state) {
    stage s;
    (void)state;
    open_stage(&s);
    rule(RONDO_SIM_SUBMIT, RONDO_BACKEND_NOT_RUN, 1, 1);
    rule(RONDO_SIM_ANY, RONDO_BACKEND_DEVICE_LOST, 1, 2);
    assert_int_equal(fill(&s, 1), RONDO_BACKEND);
    assert_int_equal(fill(&s, 1), RONDO_LOST);
    assert_int_equal(fill(&s, 1), RONDO_CODE_OK);
    close_stage(&s);
}

static void a_rule_that_makes_no_sense_is_refused(void **state) {
    static const rondo_sim_fault wrong[] = {
        {.call = RONDO_SIM_SUBMIT, .result = RONDO_BACKEND_DONE, .nth = 1},
        {.call = RONDO_SIM_SUBMIT, .result = RONDO_BACKEND_NOT_RUN, .nth = 0},
        {.call = RONDO_SIM_CALLS, .result = RONDO_BACKEND_NOT_RUN, .nth = 1},
        {.call = RONDO_SIM_SUBMIT, .result = RONDO_BACKEND_FAILED, .nth = 1},
        {.call = RONDO_SIM_SUBMIT, .result = RONDO_BACKEND_NOT_RUN, .nth = 1, .reserved = 1},
    };
    (void)state;
    rondo_sim_reset();
    assert_false(rondo_sim_fail(NULL));
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) assert_false(rondo_sim_fail(&wrong[i]));
}

static void rules_that_ran_out_make_room_for_others(void **state) {
    rondo_sim_fault fault = {.call = RONDO_SIM_SUBMIT, .result = RONDO_BACKEND_NOT_RUN, .nth = 1, .count = 1};
    stage s;
    (void)state;
    open_stage(&s);
    for (int i = 0; i < RONDO_SIM_MAX_FAULTS; i++) assert_true(rondo_sim_fail(&fault));
    assert_false(rondo_sim_fail(&fault));
    assert_int_equal(fill(&s, 1), RONDO_BACKEND); /* all of them ran out at this call */
    assert_true(rondo_sim_fail(&fault));
    close_stage(&s);
}

/* ---- each kind of call ---- */

static void opening_a_device_can_fail(void **state) {
    rondo_device *device;
    (void)state;
    rondo_sim_reset();
    rule(RONDO_SIM_DEVICE_OPEN, RONDO_BACKEND_NO_MEMORY, 1, 1);
    assert_int_equal(rondo_status_code(rondo_device_open("sim", NULL, &device)), RONDO_NO_HOST_MEMORY);
    assert_null(device);
    assert_int_equal(rondo_device_open("sim", NULL, &device), RONDO_OK);
    rondo_device_release(device);
}

/* [M4] */
static void a_full_device_is_asked_once_more(void **state) {
    stage s;
    rondo_buffer large;
    (void)state;
    open_stage(&s);
    rule(RONDO_SIM_PAGE_ALLOC, RONDO_BACKEND_DEVICE_FULL, 1, 1);
    assert_int_equal(rondo_buffer_create(s.stream, 1 << 20, RONDO_USAGE_LASTING, &large), RONDO_OK);
    assert_int_equal(failed_calls(), 1);
    rondo_buffer_release(large);
    rondo_sim_reset();
    rule(RONDO_SIM_PAGE_ALLOC, RONDO_BACKEND_DEVICE_FULL, 1, 0);
    rondo_status full = rondo_buffer_create(s.stream, 1 << 21, RONDO_USAGE_LASTING, &large);
    assert_int_equal(rondo_status_code(full), RONDO_NO_DEVICE_MEMORY);
    close_stage(&s);
}

static void imports_kernels_and_queues_can_fail(void **state) {
    static _Alignas(64) uint8_t bytes[SIZE];
    stage s;
    rondo_buffer import;
    rondo_kernel *kernel;
    rondo_stream *streams[8];
    (void)state;
    open_stage(&s);
    rule(RONDO_SIM_PAGE_IMPORT, RONDO_BACKEND_NO_SUPPORT, 1, 1);
    rondo_status status = rondo_buffer_import(s.stream, bytes, SIZE, NULL, NULL, &import);
    assert_int_equal(rondo_status_code(status), RONDO_UNSUPPORTED);
    rule(RONDO_SIM_KERNEL_LOAD, RONDO_BACKEND_NO_SUPPORT, 1, 1);
    status = rondo_kernel_create(s.device, &add_one_desc, &kernel);
    assert_int_equal(rondo_status_code(status), RONDO_UNSUPPORTED);
    rule(RONDO_SIM_QUEUE_OPEN, RONDO_BACKEND_NO_MEMORY, 1, 1);
    int refused = 0; /* of eight streams on four queues, the first that needs a new queue */
    for (int i = 0; i < 8; i++) {
        status = rondo_stream_create(s.device, &streams[i]);
        refused += rondo_status_code(status) == RONDO_NO_HOST_MEMORY;
    }
    for (int i = 0; i < 8; i++) rondo_stream_release(streams[i]);
    assert_int_equal(refused, 1);
    assert_int_equal(failed_calls(), 3);
    close_stage(&s);
}

/* [W7] */
static void work_that_reports_failure_has_run(void **state) {
    stage s;
    uint8_t first;
    (void)state;
    open_stage(&s);
    assert_int_equal(fill(&s, 10), RONDO_CODE_OK);
    rule(RONDO_SIM_SUBMIT, RONDO_BACKEND_FAILED, 1, 1);
    assert_int_equal(launch(&s), RONDO_CODE_OK);
    assert_int_equal(rondo_status_code(rondo_stream_sync(s.stream)), RONDO_KERNEL);
    assert_int_equal(read_first(&s, &first), RONDO_TAINTED);
    close_stage(&s);
}

/* [C9] */
static void a_graph_that_cannot_be_built_is_refused(void **state) {
    stage s;
    rondo_graph *graph;
    (void)state;
    open_stage(&s);
    assert_int_equal(fill(&s, 0), RONDO_CODE_OK);
    rule(RONDO_SIM_GRAPH_BUILD, RONDO_BACKEND_NOT_RUN, 1, 1);
    assert_int_equal(rondo_capture_prepare(s.stream), RONDO_OK);
    assert_int_equal(rondo_capture_begin(s.stream), RONDO_OK);
    assert_int_equal(launch(&s), RONDO_CODE_OK);
    assert_int_equal(rondo_status_code(rondo_capture_end(s.stream, RONDO_END_DEFAULT, &graph)), RONDO_BACKEND);
    assert_null(graph);
    close_stage(&s);
}

/* [R1] [R2] */
static void a_replay_that_fails_before_its_first_node_ran_nothing(void **state) {
    stage s;
    uint8_t first;
    (void)state;
    open_stage(&s);
    assert_int_equal(fill(&s, 10), RONDO_CODE_OK);
    rondo_graph *graph = record_launches(&s, 3);
    rule(RONDO_SIM_GRAPH_SUBMIT, RONDO_BACKEND_NOT_RUN, 1, 1);
    assert_int_equal(rondo_status_code(rondo_graph_replay(graph, s.stream)), RONDO_BACKEND);
    assert_int_equal(read_first(&s, &first), RONDO_TAINTED);
    assert_int_equal(rondo_graph_replay(graph, s.stream), RONDO_OK);
    assert_int_equal(read_first(&s, &first), RONDO_CODE_OK);
    assert_int_equal(first, 13);
    rondo_graph_release(graph);
    close_stage(&s);
}

/* [R4] */
static void a_replay_can_stop_at_any_node(void **state) {
    (void)state;
    for (uint64_t node = 1; node < 5; node++) {
        rondo_sim_fault fault = {.call = RONDO_SIM_GRAPH_SUBMIT, .result = RONDO_BACKEND_NOT_RUN, .nth = 1, .count = 1};
        stage s;
        void *bytes;
        open_stage(&s);
        assert_int_equal(fill(&s, 10), RONDO_CODE_OK);
        rondo_graph *graph = record_launches(&s, 3);
        fault.node = node;
        assert_true(rondo_sim_fail(&fault));
        assert_int_equal(rondo_graph_replay(graph, s.stream), RONDO_OK);
        assert_int_equal(rondo_status_code(rondo_stream_sync(s.stream)), RONDO_BACKEND);
        assert_int_equal(rondo_map(s.stream, rondo_whole(s.x), RONDO_WRITES, &bytes), RONDO_OK);
        assert_int_equal(*(uint8_t *)bytes, 10 + (node < 3 ? node : 2)); /* at most all but the last */
        assert_int_equal(rondo_unmap(s.stream, rondo_whole(s.x)), RONDO_OK);
        rondo_graph_release(graph);
        close_stage(&s);
    }
}

/* ---- counts and fresh bytes ---- */

static void calls_are_counted_by_kind(void **state) {
    stage s;
    rondo_sim_counts counts;
    (void)state;
    open_stage(&s);
    assert_int_equal(fill(&s, 1), RONDO_CODE_OK);
    rondo_graph *graph = record_launches(&s, 2);
    assert_int_equal(rondo_graph_replay(graph, s.stream), RONDO_OK);
    rondo_sim_get_counts(&counts);
    assert_int_equal(counts.calls[RONDO_SIM_SUBMIT], 1);
    assert_int_equal(counts.calls[RONDO_SIM_GRAPH_BUILD], 1);
    assert_int_equal(counts.calls[RONDO_SIM_GRAPH_SUBMIT], 1);
    assert_int_equal(counts.calls[RONDO_SIM_ANY], 3);
    assert_int_equal(counts.failed, 0);
    rondo_graph_release(graph);
    close_stage(&s);
}

/* [C22] Also when the backend would refuse whatever it is asked for. */
static void a_window_asks_the_backend_for_nothing_until_it_seals(void **state) {
    stage s;
    rondo_sim_counts counts;
    rondo_graph *graph;
    uint8_t first;
    (void)state;
    open_stage(&s);
    assert_int_equal(fill(&s, 1), RONDO_CODE_OK);
    assert_int_equal(rondo_capture_prepare(s.stream), RONDO_OK);
    assert_int_equal(rondo_capture_begin(s.stream), RONDO_OK);
    rondo_sim_reset();
    rule(RONDO_SIM_ANY, RONDO_BACKEND_NOT_RUN, 1, 0);
    assert_int_equal(fill(&s, 4), RONDO_CODE_OK);
    assert_int_equal(launch(&s), RONDO_CODE_OK);
    rondo_sim_get_counts(&counts);
    assert_int_equal(counts.calls[RONDO_SIM_ANY], 0);
    rondo_sim_reset();
    assert_int_equal(rondo_capture_end(s.stream, RONDO_END_DEFAULT, &graph), RONDO_OK);
    rondo_sim_get_counts(&counts);
    assert_int_equal(counts.calls[RONDO_SIM_GRAPH_BUILD], 1);
    assert_int_equal(counts.calls[RONDO_SIM_ANY], 1);
    assert_int_equal(rondo_graph_replay(graph, s.stream), RONDO_OK);
    assert_int_equal(read_first(&s, &first), RONDO_CODE_OK);
    assert_int_equal(first, 5);
    rondo_graph_release(graph);
    close_stage(&s);
}

static uint64_t fresh_bytes_of(stage *s, rondo_buffer buffer) {
    rondo_sim_counts before, after;
    uint8_t bytes[SIZE];
    rondo_sim_get_counts(&before);
    assert_int_equal(rondo_read(s->stream, rondo_whole(buffer), bytes, NULL), RONDO_OK);
    rondo_sim_get_counts(&after);
    return after.fresh_bytes_read - before.fresh_bytes_read;
}

/* [W9] */
static void bytes_that_nothing_wrote_are_counted_when_they_are_read(void **state) {
    stage s;
    rondo_buffer y;
    uint8_t value = 0xa5; /* what fresh bytes hold, too */
    (void)state;
    open_stage(&s);
    assert_int_equal(rondo_buffer_create(s.stream, SIZE, RONDO_USAGE_GENERAL, &y), RONDO_OK);
    assert_int_equal(fresh_bytes_of(&s, s.x), SIZE);
    assert_int_equal(rondo_fill(s.stream, rondo_slice(s.x, 8, 16), &value, 1, NULL), RONDO_OK);
    assert_int_equal(fresh_bytes_of(&s, s.x), SIZE - 16);
    assert_int_equal(rondo_copy(s.stream, rondo_whole(y), rondo_whole(s.x), NULL), RONDO_OK);
    assert_int_equal(fresh_bytes_of(&s, y), SIZE - 16);
    assert_int_equal(rondo_copy(s.stream, rondo_slice(y, 9, 20), rondo_slice(y, 5, 20), NULL), RONDO_OK);
    assert_int_equal(fresh_bytes_of(&s, y), SIZE - 17); /* bytes 12 to 29 are written */
    assert_int_equal(launch(&s), RONDO_CODE_OK);
    assert_int_equal(fresh_bytes_of(&s, s.x), 0);
    rondo_buffer_release(y);
    close_stage(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        BYTE_OP_TESTS,
        cmocka_unit_test(a_rule_strikes_the_calls_that_it_names_and_no_other),
        cmocka_unit_test(a_rule_without_a_count_lasts_until_reset),
        cmocka_unit_test(of_two_rules_the_older_decides_and_both_count),
        cmocka_unit_test(a_rule_that_makes_no_sense_is_refused),
        cmocka_unit_test(rules_that_ran_out_make_room_for_others),
        cmocka_unit_test(opening_a_device_can_fail),
        cmocka_unit_test(a_full_device_is_asked_once_more),
        cmocka_unit_test(imports_kernels_and_queues_can_fail),
        cmocka_unit_test(work_that_reports_failure_has_run),
        cmocka_unit_test(a_graph_that_cannot_be_built_is_refused),
        cmocka_unit_test(a_replay_that_fails_before_its_first_node_ran_nothing),
        cmocka_unit_test(a_replay_can_stop_at_any_node),
        cmocka_unit_test(calls_are_counted_by_kind),
        cmocka_unit_test(a_window_asks_the_backend_for_nothing_until_it_seals),
        cmocka_unit_test(bytes_that_nothing_wrote_are_counted_when_they_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
