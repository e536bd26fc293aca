/* Calls with arguments at the edge of what is allowed: buffers, host blocks, mappings, launches, host calls. */
#include "thread/threads.h"

typedef struct scene {
    rondo_device *device;
    rondo_stream *a, *b; /* of different queues */
    kernels k;
} scene;

static scene open_scene(void) {
    scene s = {.device = open_cpu(2)};
    s.a = stream_on(s.device, 2, 0);
    s.b = stream_on(s.device, 2, 1);
    s.k = load_kernels(s.device);
    expect_no_trouble();
    return s;
}

static void close_scene(scene *s) {
    release_kernels(&s->k);
    rondo_stream_release(s->a);
    rondo_stream_release(s->b);
    expect_empty(s->device);
    rondo_device_release(s->device);
}

static rondo_span part(rondo_buffer buffer, uint64_t offset, uint64_t size) {
    rondo_span span = rondo_whole(buffer);
    span.offset_bytes = offset;
    span.size_bytes = size;
    return span;
}

/* [W5] */
static void transfers_of_no_bytes_need_no_data(void **state) {
    (void)state;
    scene s = open_scene();
    rondo_buffer x = make_buffer(s.a, 3), empty = RONDO_NO_BUFFER;
    OK(rondo_buffer_create(s.a, 0, RONDO_USAGE_GENERAL, &empty));
    OK(rondo_write(s.a, part(x, 8, 0), NULL, NULL));
    OK(rondo_read(s.a, part(x, 8, 0), NULL, NULL));
    OK(rondo_write(s.a, rondo_whole(empty), NULL, NULL));
    expect(rondo_write(s.a, part(x, 8, 8), NULL, NULL), RONDO_INVALID);
    expect(rondo_read(s.a, part(x, 8, 8), NULL, NULL), RONDO_INVALID);
    uint64_t words[WORDS];
    OK(rondo_write(s.a, rondo_whole(x), memset(words, 0, sizeof words), NULL)); /* mends what was refused */
    assert_int_equal(read_even(s.a, x), 0);
    void *data;
    expect(rondo_map(s.a, part(x, 8, 0), RONDO_READS, &data), RONDO_RANGE);
    rondo_buffer_release(x);
    rondo_buffer_release(empty);
    close_scene(&s);
}

/* [W1] A host block is read like a buffer, from either queue. */
static void the_bytes_of_a_host_block_can_be_read(void **state) {
    (void)state;
    scene s = open_scene();
    rondo_buffer block = RONDO_NO_BUFFER, x = make_buffer(s.a, 7);
    OK(rondo_host_create(s.a, BYTES, &block));
    OK(rondo_read_async(s.a, rondo_whole(x), rondo_whole(block), NULL));
    assert_int_equal(read_even(s.a, block), 7);
    assert_int_equal(read_even(s.b, block), 7);
    assert_false(rondo_host_is_idle(x)); /* no host block */
    assert_true(rondo_host_is_idle(block));
    OK(rondo_host_wait(block));
    rondo_buffer_release(block);
    expect(rondo_host_wait(block), RONDO_STALE);
    assert_false(rondo_host_is_idle(block));
    rondo_buffer_release(x);
    close_scene(&s);
}

/* [O4] [E2] */
static void an_import_may_not_leave_the_address_space(void **state) {
    (void)state;
    scene s = open_scene();
    static _Alignas(64) char bytes[128];
    rondo_buffer buffer;
    expect(rondo_buffer_import(s.a, bytes, UINT64_MAX - 64, NULL, NULL, &buffer), RONDO_INVALID);
    assert_int_equal(buffer.id, 0);
    /* Without a function that is called at its end, too. */
    OK(rondo_buffer_import(s.a, bytes, sizeof bytes, NULL, NULL, &buffer));
    rondo_buffer_release(buffer);
    close_scene(&s);
}

/* [E2] */
static void a_rectangle_stays_in_its_span(void **state) {
    (void)state;
    scene s = open_scene();
    rondo_buffer x = make_buffer(s.a, 1), y = make_buffer(s.a, 2);
    rondo_rect from = {rondo_whole(x), 64}, to = {rondo_whole(y), 64};
    OK(rondo_copy_2d(s.a, to, from, 8, 8, NULL));
    OK(rondo_copy_2d(s.a, (rondo_rect){rondo_whole(y), 0}, (rondo_rect){rondo_whole(x), 0}, 8, 1, NULL));
    OK(rondo_copy_2d(s.a, to, from, 8, 0, NULL));
    OK(rondo_copy_2d(s.a, to, from, 0, 8, NULL));
    expect(rondo_copy_2d(s.a, to, from, 8, UINT64_MAX, NULL), RONDO_RANGE);
    /* The last row begins just below the end of all numbers, and ends beyond it. */
    expect(rondo_copy_2d(s.a, (rondo_rect){rondo_whole(y), UINT64_MAX - 3}, from, 8, 2, NULL), RONDO_RANGE);
    expect(rondo_copy_2d(s.a, (rondo_rect){rondo_whole(y), 4}, from, 8, 2, NULL), RONDO_RANGE);
    uint64_t words[WORDS];
    OK(rondo_read(s.a, rondo_whole(y), words, NULL));
    for (size_t i = 0; i < WORDS; i++) assert_int_equal(words[i], i % 8 == 0 ? 1 : 2);
    rondo_buffer_release(x);
    rondo_buffer_release(y);
    close_scene(&s);
}

/* [O4] */
static void mappings_of_several_buffers_end_one_by_one(void **state) {
    (void)state;
    scene s = open_scene();
    rondo_buffer x = make_buffer(s.a, 1), y = make_buffer(s.b, 2);
    void *first, *second, *third;
    OK(rondo_map(s.a, part(x, 0, 64), RONDO_WRITES, &first));
    OK(rondo_map(s.a, part(x, 64, 64), RONDO_READS, &second));
    OK(rondo_map(s.b, rondo_whole(y), RONDO_READS, &third));
    expect(rondo_map(s.b, part(x, 0, 8), RONDO_READS, &third), RONDO_BUSY);
    expect(rondo_unmap(s.a, part(x, 0, 32)), RONDO_STATE);
    expect(rondo_unmap(s.a, part(x, 32, 64)), RONDO_STATE);
    OK(rondo_unmap(s.a, part(x, 64, 64)));
    OK(rondo_unmap(s.b, rondo_whole(y)));
    OK(rondo_map(s.b, rondo_whole(y), RONDO_READS_WRITES, &third));
    rondo_buffer_release(x); /* ends its mapping, and no other */
    expect(rondo_write(s.a, rondo_whole(y), first, NULL), RONDO_BUSY);
    OK(rondo_unmap(s.b, rondo_whole(y)));
    rondo_buffer_release(y);
    close_scene(&s);
}

/* [E2] [W8] What is refused by the short way is refused by the long one, for the same reason. */
static void arguments_that_do_not_fit_a_parameter_are_refused(void **state) {
    (void)state;
    scene s = open_scene();
    rondo_buffer x = make_buffer(s.a, 1);
    uint64_t amount = 4;
    uint32_t narrow = 4;
    rondo_arg both = rondo_arg_buffer(x);
    both.value = &amount;
    both.value_bytes = 8;
    rondo_arg args[2] = {both, rondo_arg_value(&amount, 8)};
    expect(rondo_launch(s.a, s.k.add, rondo_grid_1d(WORDS), args, 2, NULL), RONDO_INVALID);
    args[0] = rondo_arg_buffer(x);
    args[1] = rondo_arg_value(&narrow, 4);
    expect(rondo_launch(s.a, s.k.add, rondo_grid_1d(WORDS), args, 2, NULL), RONDO_INVALID);
    args[1] = rondo_arg_buffer(x);
    expect(rondo_launch(s.a, s.k.add, rondo_grid_1d(WORDS), args, 2, NULL), RONDO_INVALID);
    expect(rondo_launch(s.a, s.k.add, rondo_grid_1d(WORDS), NULL, 2, NULL), RONDO_INVALID);
    rondo_buffer_release(x);
    close_scene(&s);
}

/* [O7] */
static void a_kernel_without_parameters_runs_and_replays(void **state) {
    (void)state;
    scene s = open_scene();
    rondo_kernel *kernel = load(s.device, "nothing", nothing_native, NULL, 0);
    rondo_graph *graph = NULL;
    OK(rondo_launch(s.a, kernel, rondo_grid_1d(4), NULL, 0, NULL));
    OK(rondo_capture_prepare(s.a));
    OK(rondo_capture_begin(s.a));
    OK(rondo_launch(s.a, kernel, rondo_grid_1d(4), NULL, 0, NULL));
    OK(rondo_capture_end(s.a, 0, &graph));
    OK(rondo_graph_replay(graph, s.a));
    OK(rondo_graph_replay(graph, s.b));
    rondo_graph_release(graph);
    rondo_kernel_release(kernel);
    close_scene(&s);
}

static void fail_with_zero(const rondo_native_call *call) {
    rondo_native_fail(call, 0);
}

/* Fails and writes nothing. */
static rondo_kernel *load_zero(const scene *s) {
    static const rondo_param params[] = {{"x", RONDO_PARAM_OUT, 8, 8, false}};
    rondo_kernel_desc desc = {
        .name = "zero", .params = params, .param_count = 1, .native = fail_with_zero, .can_fail = true};
    rondo_kernel *kernel = NULL;
    OK(rondo_kernel_create(s->device, &desc, &kernel));
    return kernel;
}

/* Adds the 4096 bytes of its value to x[0]. */
static void add_table(const rondo_native_call *call) {
    uint64_t *x = call->args[0];
    const uint8_t *table = call->args[1];
    for (int i = 0; i < 4096; i++) x[0] += table[i];
}

/* [O7] [C19] */
static void the_largest_value_is_kept_by_a_recording(void **state) {
    (void)state;
    scene s = open_scene();
    static const rondo_param params[] = {{"x", RONDO_PARAM_INOUT, 8, 8, false},
                                         {"t", RONDO_PARAM_VALUE, 4096, 1, false}};
    static uint8_t table[4096];
    rondo_kernel *kernel = load(s.device, "table", add_table, params, 2);
    rondo_buffer x = make_buffer(s.a, 0);
    rondo_graph *graph = NULL;
    memset(table, 1, sizeof table);
    rondo_arg args[] = {rondo_arg_span(part(x, 0, 8)), rondo_arg_value(table, sizeof table)};
    OK(rondo_capture_prepare(s.a));
    OK(rondo_capture_begin(s.a));
    OK(rondo_launch(s.a, kernel, rondo_grid_1d(1), args, 2, NULL));
    OK(rondo_capture_end(s.a, 0, &graph));
    memset(table, 0, sizeof table);
    OK(rondo_graph_replay(graph, s.a));
    uint64_t sum;
    OK(rondo_read(s.a, part(x, 0, 8), &sum, NULL));
    assert_int_equal(sum, 4096);
    rondo_graph_release(graph);
    rondo_buffer_release(x);
    rondo_kernel_release(kernel);
    close_scene(&s);
}

/* [W7] */
static void a_failure_with_reason_zero_is_a_failure_all_the_same(void **state) {
    (void)state;
    scene s = open_scene();
    rondo_kernel *kernel = load_zero(&s);
    rondo_buffer x = make_buffer(s.a, 1);
    rondo_arg arg = rondo_arg_buffer(x);
    OK(rondo_launch(s.a, kernel, rondo_grid_1d(WORDS), &arg, 1, NULL));
    expect(rondo_stream_sync(s.a), RONDO_KERNEL);
    expect(rondo_span_status(rondo_whole(x)), RONDO_TAINTED);
    rondo_buffer_release(x);
    rondo_kernel_release(kernel);
    close_scene(&s);
}

/* [W5] [T2] A launch that fails claims what it was given, and an empty span is nothing of that. */
static void empty_spans_take_no_part_in_a_failure(void **state) {
    (void)state;
    scene s = open_scene();
    rondo_buffer x = make_buffer(s.a, 1);
    rondo_kernel *kernel = load_zero(&s);
    static const rondo_param in[] = {{"x", RONDO_PARAM_IN, 8, 8, false}};
    rondo_kernel *reader = load(s.device, "reader", nothing_native, in, 1);
    rondo_graph *graph = NULL;
    rondo_arg none = rondo_arg_span(part(x, 0, 0));
    OK(rondo_launch(s.a, kernel, rondo_grid_1d(1), &none, 1, NULL)); /* fails without touching anything */
    expect(rondo_stream_sync(s.a), RONDO_KERNEL);
    OK(rondo_span_status(rondo_whole(x)));
    OK(rondo_capture_prepare(s.a));
    OK(rondo_capture_begin(s.a));
    OK(rondo_launch(s.a, kernel, rondo_grid_1d(1), &none, 1, NULL));
    OK(rondo_launch(s.a, reader, rondo_grid_1d(1), &none, 1, NULL));
    OK(launch_bump(s.a, &s.k, x));
    OK(rondo_capture_end(s.a, 0, &graph));
    OK(rondo_graph_replay(graph, s.a));
    OK(rondo_graph_replay(graph, s.b));
    expect(rondo_stream_sync(s.a), RONDO_KERNEL);
    assert_int_equal(read_even(s.a, x), 3);
    rondo_node_info node;
    OK(rondo_graph_get_node(graph, 0, &node));
    rondo_graph_release(graph);
    rondo_kernel_release(kernel);
    rondo_kernel_release(reader);
    rondo_buffer_release(x);
    close_scene(&s);
}

static int count_calls(void *user, const rondo_host_access *accesses, size_t count) {
    (void)accesses;
    *(size_t *)user += count;
    return 0;
}

/* [W1] [E2] */
static void a_host_call_may_name_buffers_of_no_bytes_but_not_too_many(void **state) {
    (void)state;
    scene s = open_scene();
    rondo_buffer empty = RONDO_NO_BUFFER;
    size_t calls = 0;
    rondo_host_access accesses[65];
    OK(rondo_buffer_create(s.a, 0, RONDO_USAGE_GENERAL, &empty));
    for (int i = 0; i < 65; i++) accesses[i] = (rondo_host_access){rondo_whole(empty), RONDO_READS, NULL};
    OK(rondo_host_call(s.a, count_calls, &calls, NULL, accesses, 2, NULL));
    assert_int_equal(calls, 2);
    expect(rondo_host_call(s.a, count_calls, &calls, NULL, accesses, 65, NULL), RONDO_RANGE);
    expect(rondo_host_call(s.a, count_calls, &calls, NULL, NULL, 1, NULL), RONDO_INVALID);
    assert_int_equal(calls, 2);
    rondo_buffer_release(empty);
    close_scene(&s);
}

typedef struct inside {
    rondo_buffer buffer;
    rondo_status info, span, wait, dead, stream;
} inside;

static int ask_from_inside(void *user, const rondo_host_access *accesses, size_t count) {
    inside *in = user;
    rondo_buffer_info info;
    rondo_device_info device;
    (void)accesses;
    (void)count;
    in->info = rondo_buffer_get_info(in->buffer, &info);
    in->span = rondo_span_status(rondo_whole(in->buffer));
    in->wait = rondo_host_wait(in->buffer);
    in->dead = rondo_device_get_info(NULL, &device);
    in->stream = rondo_stream_sync(NULL);
    return 0;
}

/* [E5] */
static void questions_about_buffers_are_refused_inside_a_host_call(void **state) {
    (void)state;
    scene s = open_scene();
    inside in = {.buffer = make_buffer(s.a, 1)};
    OK(rondo_host_call(s.a, ask_from_inside, &in, NULL, NULL, 0, NULL));
    expect(in.info, RONDO_REENTRANT);
    expect(in.span, RONDO_REENTRANT);
    expect(in.wait, RONDO_REENTRANT);
    expect(in.dead, RONDO_REENTRANT);
    expect(in.stream, RONDO_REENTRANT);
    rondo_buffer_release(in.buffer);
    close_scene(&s);
}

/* [E2] */
static void calls_on_a_dead_stream_are_refused(void **state) {
    (void)state;
    scene s = open_scene();
    rondo_stream *dead = stream_on(s.device, 2, 1);
    rondo_stream_release(dead);
    expect(rondo_stream_trim(dead), RONDO_STALE);
    expect(rondo_stream_trim(NULL), RONDO_STALE);
    expect(rondo_stream_sync(dead), RONDO_STALE);
    expect(rondo_profile_start(dead), RONDO_STALE);
    close_scene(&s);
}

/* [W9] [O4] Fresh bytes are an error only where nobody else could have written them. */
static void imports_and_empty_buffers_are_never_fresh(void **state) {
    (void)state;
    static _Alignas(64) uint64_t words[WORDS];
    rondo_device_desc desc = {.max_queues = 2, .workers = 1, .debug_fresh = true};
    rondo_device *device = NULL;
    rondo_buffer mine = RONDO_NO_BUFFER, empty = RONDO_NO_BUFFER, x = RONDO_NO_BUFFER;
    OK(rondo_device_open("cpu", &desc, &device));
    rondo_stream *stream = stream_on(device, 2, 0);
    for (size_t i = 0; i < WORDS; i++) words[i] = 5;
    OK(rondo_buffer_import(stream, words, sizeof words, NULL, NULL, &mine));
    OK(rondo_buffer_create(stream, 0, RONDO_USAGE_GENERAL, &empty));
    OK(rondo_buffer_create(stream, BYTES, RONDO_USAGE_GENERAL, &x));
    assert_int_equal(read_even(stream, mine), 5);
    OK(rondo_span_status(rondo_whole(empty)));
    expect(rondo_span_status(rondo_whole(x)), RONDO_FRESH);
    rondo_buffer_release(mine);
    rondo_buffer_release(empty);
    rondo_buffer_release(x);
    for (size_t i = 0; i < WORDS; i++) assert_int_equal(words[i], 5); /* released, but not overwritten */
    rondo_stream_release(stream);
    expect_empty(device);
    rondo_device_release(device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transfers_of_no_bytes_need_no_data),
        cmocka_unit_test(the_bytes_of_a_host_block_can_be_read),
        cmocka_unit_test(an_import_may_not_leave_the_address_space),
        cmocka_unit_test(a_rectangle_stays_in_its_span),
        cmocka_unit_test(mappings_of_several_buffers_end_one_by_one),
        cmocka_unit_test(arguments_that_do_not_fit_a_parameter_are_refused),
        cmocka_unit_test(a_kernel_without_parameters_runs_and_replays),
        cmocka_unit_test(the_largest_value_is_kept_by_a_recording),
        cmocka_unit_test(a_failure_with_reason_zero_is_a_failure_all_the_same),
        cmocka_unit_test(empty_spans_take_no_part_in_a_failure),
        cmocka_unit_test(a_host_call_may_name_buffers_of_no_bytes_but_not_too_many),
        cmocka_unit_test(questions_about_buffers_are_refused_inside_a_host_call),
        cmocka_unit_test(calls_on_a_dead_stream_are_refused),
        cmocka_unit_test(imports_and_empty_buffers_are_never_fresh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
