/* Issuing and recording where other tests do not look closely. */
#include "thread/threads.h"

#include "unit.h"

enum { LARGE_BYTES = 2000, VALUES = 3 };

typedef struct scene {
    rondo_device *device;
    rondo_stream *stream;
    kernels k;
    rondo_kernel *copies, *many; /* of any spans, and of more values than fit into a small block; both do nothing */
    rondo_buffer x, y;
} scene;

static scene open_scene(void) {
    static const rondo_param copies[] = {{"from", RONDO_PARAM_IN, 1, 1, false}, {"to", RONDO_PARAM_OUT, 1, 1, false}};
    static const rondo_param many[1 + VALUES] = {{"x", RONDO_PARAM_OUT, 8, 8, false},
                                                 {"a", RONDO_PARAM_VALUE, LARGE_BYTES, 1, false},
                                                 {"b", RONDO_PARAM_VALUE, LARGE_BYTES, 1, false},
                                                 {"c", RONDO_PARAM_VALUE, LARGE_BYTES, 1, false}};
    scene s = {.device = open_cpu(1)};
    s.stream = stream_on(s.device, 1, 0);
    s.k = load_kernels(s.device);
    s.copies = load(s.device, "copies", nothing_native, copies, 2);
    s.many = load(s.device, "many", nothing_native, many, 1 + VALUES);
    s.x = make_buffer(s.stream, 1);
    s.y = make_buffer(s.stream, 2);
    return s;
}

static void close_scene(scene *s) {
    rondo_buffer_release(s->x);
    rondo_buffer_release(s->y);
    rondo_kernel_release(s->copies);
    rondo_kernel_release(s->many);
    release_kernels(&s->k);
    rondo_stream_release(s->stream);
    expect_empty(s->device);
    rondo_device_release(s->device);
}

/* [T6] [W5] */
static void skipped_work_that_would_have_written_nothing_spoils_nothing(void **state) {
    (void)state;
    scene s = open_scene();
    OK(launch_fail(s.stream, &s.k, s.x));
    rondo_arg args[] = {rondo_arg_buffer(s.x), rondo_arg_span(rondo_slice(s.y, 0, 0))};
    rondo_status skipped = rondo_launch(s.stream, s.copies, rondo_grid_1d(1), args, 2, "copies");
    expect(skipped, RONDO_TAINTED);
    assert_int_equal(read_even(s.stream, s.y), 2);
    char story[1024];
    (void)rondo_fault_describe(skipped, story, sizeof story);
    assert_null(strstr(story, "was not written")); /* there was nothing to write */
    close_scene(&s);
}

static rondo_status launch_many(const scene *s) {
    static const uint8_t value[LARGE_BYTES];
    rondo_arg args[1 + VALUES] = {rondo_arg_buffer(s->x)};
    for (int i = 1; i <= VALUES; i++) args[i] = rondo_arg_value(value, LARGE_BYTES);
    return rondo_launch(s->stream, s->many, rondo_grid_1d(WORDS), args, 1 + VALUES, "many");
}

/* [E3] [C8] Wherever memory ends, the window is doomed and the next one is as good as any. */
static void a_launch_with_large_values_that_finds_no_memory_dooms(void **state) {
    (void)state;
    scene s = open_scene();
    uint64_t granted = 0, refused = 1;
    for (; refused != 0; granted++) {
        rondo_graph *graph = NULL;
        uint64_t one = 1;
        OK(rondo_capture_prepare(s.stream));
        OK(rondo_capture_begin(s.stream));
        starve(granted, false);
        rondo_status launched = launch_many(&s);
        refused = feed();
        expect(launched, refused != 0 ? RONDO_NO_HOST_MEMORY : RONDO_OK);
        rondo_status sealed = rondo_capture_end(s.stream, RONDO_END_DEFAULT, &graph);
        expect(sealed, refused != 0 ? RONDO_DOOMED : RONDO_OK);
        rondo_graph_release(graph);
        OK(rondo_fill(s.stream, rondo_whole(s.x), &one, 8, NULL));
    }
    assert_true(granted > 3);
    close_scene(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(skipped_work_that_would_have_written_nothing_spoils_nothing),
        cmocka_unit_test(a_launch_with_large_values_that_finds_no_memory_dooms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
