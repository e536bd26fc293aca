/* Launches that are recorded without the device lock, since the window holds all that they name already. */
#include "thread/threads.h"

#include "base/lock.h"
#include "capture/window.h"
#include "unit.h"

typedef struct scene {
    rondo_device *device;
    rondo_stream *a, *b; /* on different queues */
    kernels k;
    rondo_buffer x, y, z; /* x and y are a's, z is b's */
} scene;

static scene open_scene(void) {
    scene s = {.device = open_cpu(2)};
    s.a = stream_on(s.device, 2, 0);
    s.b = stream_on(s.device, 2, 1);
    s.k = load_kernels(s.device);
    s.x = make_buffer(s.a, 1);
    s.y = make_buffer(s.a, 2);
    s.z = make_buffer(s.b, 3);
    return s;
}

static void close_scene(scene *s) {
    rondo_buffer_release(s->x);
    rondo_buffer_release(s->y);
    rondo_buffer_release(s->z);
    release_kernels(&s->k);
    rondo_stream_release(s->a);
    rondo_stream_release(s->b);
    expect_empty(s->device);
    rondo_device_release(s->device);
}

/* Whose window does not become a graph; what may be spoiled is written anew. */
static void close_doomed_scene(scene *s) {
    rondo_graph *graph = NULL;
    uint64_t one = 1;
    expect(rondo_capture_end(s->a, RONDO_END_DEFAULT, &graph), RONDO_DOOMED);
    OK(rondo_fill(s->a, rondo_whole(s->x), &one, 8, NULL));
    OK(rondo_fill(s->a, rondo_whole(s->y), &one, 8, NULL));
    close_scene(s);
}

#if RDO_CHECKS
static uint64_t locks_of_pair(const scene *s, uint64_t a, uint64_t b) {
    uint64_t before = rdo_this_thread.locks_taken;
    OK(launch_pair(s->a, &s->k, s->x, a, b));
    return rdo_this_thread.locks_taken - before;
}

/* [C15] That of its queue. */
static void a_launch_of_what_the_window_holds_takes_one_lock(void **state) {
    (void)state;
    scene s = open_scene();
    begin_window(s.a);
    for (int i = 0; i < 17; i++) OK(launch_pair(s.a, &s.k, s.x, 1, 2)); /* makes room for 32 */
    for (int i = 0; i < 5; i++) assert_int_equal(locks_of_pair(&s, 1, 2), 1);
    assert_int_equal(locks_of_pair(&s, 1, 3), 2);
    assert_int_equal(locks_of_pair(&s, 1, 3), 1);
    assert_int_equal(locks_of_pair(&s, 4, 3), 2);
    rondo_graph_release(seal_window(s.a));
    begin_window(s.a); /* the next window holds nothing of it */
    assert_int_equal(locks_of_pair(&s, 4, 3), 2);
    rondo_graph_release(seal_window(s.a));
    close_scene(&s);
}
#endif

/* [C5] [P3] More buffers and kernels than a window remembers, in turn, so that each has been forgotten when it comes
 * again: the graph keeps all of them, once their users have let go. */
static void what_a_window_has_forgotten_it_keeps_all_the_same(void **state) {
    enum { BUFFERS = RDO_KNOWN_MEMORIES + 6, KERNELS = RDO_KNOWN_KERNELS + 3, TURNS = 3 };
    static const rondo_param params[] = {{"x", RONDO_PARAM_INOUT, 8, 8, false},
                                         {"amount", RONDO_PARAM_VALUE, 8, 8, false}};
    rondo_buffer buffers[BUFFERS];
    rondo_kernel *add[KERNELS];
    (void)state;
    scene s = open_scene();
    for (int i = 0; i < BUFFERS; i++) buffers[i] = make_buffer(s.a, (uint64_t)i);
    for (int i = 0; i < KERNELS; i++) add[i] = load(s.device, "add", add_native, params, 2);
    begin_window(s.a);
    for (int n = 0; n < TURNS * BUFFERS; n++) {
        uint64_t amount = (uint64_t)n;
        rondo_arg args[] = {rondo_arg_buffer(buffers[n % BUFFERS]), rondo_arg_value(&amount, 8)};
        OK(rondo_launch(s.a, add[n % KERNELS], rondo_grid_1d(WORDS), args, 2, NULL));
    }
    for (int i = 0; i < BUFFERS; i++) {
        OK(launch_sum(s.a, &s.k, buffers[i], s.x, s.y));
        OK(launch_copy(s.a, &s.k, s.y, s.x));
    }
    rondo_graph *graph = seal_window(s.a);
    for (int i = 0; i < BUFFERS; i++) rondo_buffer_release(buffers[i]);
    for (int i = 0; i < KERNELS; i++) rondo_kernel_release(add[i]);
    OK(rondo_device_trim(s.device, NULL));
    uint64_t expected = 1;
    for (int replays = 1; replays <= 2; replays++) {
        OK(rondo_graph_replay(graph, s.a));
        for (uint64_t i = 0; i < BUFFERS; i++) {
            expected += i + (uint64_t)replays * (TURNS * i + BUFFERS * (TURNS * (TURNS - 1) / 2));
        }
        assert_int_equal(read_even(s.a, s.x), expected);
    }
    rondo_graph_release(graph);
    close_scene(&s);
}

/* [P3] The range of a buffer that is written last is remembered, and no other. */
static void each_range_that_a_window_writes_is_claimed_if_it_fails(void **state) {
    (void)state;
    scene s = open_scene();
    uint64_t word;
    begin_window(s.a);
    for (int i = 0; i < 6; i++) {
        uint64_t at = (uint64_t)(i % 3) * 8;
        rondo_arg arg = rondo_arg_span(rondo_slice(s.x, at, 8));
        OK(rondo_launch(s.a, s.k.bump, rondo_grid_1d(1), &arg, 1, NULL));
    }
    expect(rondo_read(s.a, rondo_whole(s.x), &word, NULL), RONDO_FORBIDDEN); /* dooms nothing */
    OK(rondo_capture_abort(s.a));
    for (uint64_t at = 0; at < 4; at++) {
        expect(rondo_read(s.a, rondo_slice(s.x, at * 8, 8), &word, NULL), at < 3 ? RONDO_TAINTED : RONDO_OK);
    }
    uint64_t one = 1;
    OK(rondo_fill(s.a, rondo_whole(s.x), &one, 8, NULL));
    close_scene(&s);
}

/* [C4] [P3] */
static void a_buffer_that_a_window_has_only_read_so_far_is_claimed_once_it_is_written(void **state) {
    uint64_t words[WORDS], one = 1;
    (void)state;
    scene s = open_scene();
    begin_window(s.a);
    OK(launch_bump(s.a, &s.k, s.y)); /* so that its kernel is known */
    for (int i = 0; i < 3; i++) OK(launch_copy(s.a, &s.k, s.x, s.y));
    OK(launch_bump(s.a, &s.k, s.x));
    OK(rondo_capture_abort(s.a));
    expect(rondo_read(s.a, rondo_whole(s.x), words, NULL), RONDO_TAINTED);
    OK(rondo_fill(s.a, rondo_whole(s.x), &one, 8, NULL));
    OK(rondo_fill(s.a, rondo_whole(s.y), &one, 8, NULL));
    close_scene(&s);
}

/* What is wrong with a launch though the window remembers its buffers from others. */
typedef struct mistake {
    rondo_status (*right)(const scene *s);
    rondo_status (*wrong)(const scene *s);
    rondo_code code;
} mistake;

static rondo_status copy_to_and_fro(const scene *s) {
    rondo_status status = launch_copy(s->a, &s->k, s->x, s->y);
    return status ? status : launch_copy(s->a, &s->k, s->y, s->x);
}
static rondo_status copy_x_to_itself(const scene *s) {
    return launch_copy(s->a, &s->k, s->x, s->x);
}
static rondo_status give_x_a_value(const scene *s) {
    const uint64_t word = 1;
    const rondo_arg arg = {.span = rondo_whole(s->x), .value = &word, .value_bytes = sizeof word};
    return rondo_launch(s->a, s->k.bump, rondo_grid_1d(WORDS), &arg, 1, NULL);
}
static rondo_status use_odd_bytes(const scene *s) {
    static const rondo_param anywhere[] = {{"x", RONDO_PARAM_INOUT, 1, 1, false}};
    const rondo_arg arg = rondo_arg_span(rondo_slice(s->x, 4, 8));
    rondo_kernel *kernel = load(s->device, "odd", nothing_native, anywhere, 1);
    rondo_status status = rondo_launch(s->a, kernel, rondo_grid_1d(1), &arg, 1, NULL);
    rondo_kernel_release(kernel);
    return status;
}
static rondo_status bump_odd_bytes(const scene *s) {
    const rondo_arg arg = rondo_arg_span(rondo_slice(s->x, 4, 8));
    return rondo_launch(s->a, s->k.bump, rondo_grid_1d(1), &arg, 1, NULL);
}
static rondo_status copy_what_has_gone(const scene *s) {
    rondo_buffer_release(s->x);
    return launch_copy(s->a, &s->k, s->x, s->y);
}

/* [W1] [W8] [C8] */
static void what_a_window_remembers_of_a_buffer_hides_nothing_that_is_wrong(void **state) {
    static const mistake mistakes[] = {{copy_to_and_fro, copy_x_to_itself, RONDO_ALIASED},
                                       {copy_to_and_fro, give_x_a_value, RONDO_INVALID},
                                       {use_odd_bytes, bump_odd_bytes, RONDO_INVALID},
                                       {copy_to_and_fro, copy_what_has_gone, RONDO_STALE}};
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        rondo_graph *graph = NULL;
        scene s = open_scene();
        begin_window(s.a);
        for (int k = 0; k < 3; k++) OK(mistakes[i].right(&s));
        expect(mistakes[i].wrong(&s), mistakes[i].code);
        expect(rondo_capture_end(s.a, RONDO_END_DEFAULT, &graph), RONDO_DOOMED);
        close_scene(&s);
    }
}

/* [C15] [C8] A claim that comes while the stream records stops a launch that the window has seen before. */
static void a_launch_that_the_window_knows_is_skipped_over_a_new_claim(void **state) {
    (void)state;
    scene s = open_scene();
    begin_window(s.a);
    OK(launch_copy(s.a, &s.k, s.x, s.y));
    OK(launch_copy(s.a, &s.k, s.x, s.y));
    OK(launch_fail(s.b, &s.k, s.x));
    expect(launch_copy(s.a, &s.k, s.x, s.y), RONDO_TAINTED);
    close_doomed_scene(&s);
}

static stop halt = STOP_INIT;

static rondo_status touch_x(const scene *s, rondo_stream *stream) {
    const rondo_host_access access = {.span = rondo_whole(s->x), .mode = RONDO_READS};
    return rondo_host_call(stream, stop_here, &halt, NULL, &access, 1, "stop");
}

static void record_beside(int index, void *user) {
    scene *s = user;
    if (index == 0) {
        NEED_OK(touch_x(s, s->b));
        return;
    }
    gate_await(&halt.inside, 1);
    for (int i = 0; i < 3; i++) NEED_OK(launch_copy(s->a, &s->k, s->x, s->y));
    gate_set(&halt.go_on, 1);
}

/* [C15] Nothing runs, so there is nothing to wait for. */
static void a_launch_is_recorded_while_another_queue_works_on_its_memory(void **state) {
    (void)state;
    scene s = open_scene();
    begin_window(s.a);
    OK(launch_copy(s.a, &s.k, s.x, s.y));
    run_threads(2, record_beside, &s);
    rondo_graph *graph = seal_window(s.a);
    OK(rondo_graph_replay(graph, s.a));
    assert_int_equal(read_even(s.a, s.y), 1);
    rondo_graph_release(graph);
    close_scene(&s);
}

/* [C15] [W7] What was handed over before is played before it is known whether the input is good. */
static void a_launch_is_recorded_after_queued_work_of_its_queue(void **state) {
    (void)state;
    scene s = open_scene();
    rondo_stream *queued = stream_in(RONDO_STREAM_QUEUED, s.device, 2, 0);
    begin_window(queued);
    for (int i = 0; i < 3; i++) OK(launch_copy(queued, &s.k, s.x, s.y));
    rondo_graph *graph = seal_window(queued);
    OK(rondo_graph_replay(graph, queued));
    OK(rondo_stream_sync(queued));
    assert_int_equal(read_even(s.a, s.y), 1);
    rondo_graph_release(graph);
    rondo_stream_release(queued);
    close_scene(&s);
}

/* [E3] [C8] The label is kept beside the op, in memory of its own. */
static void a_launch_that_finds_no_memory_for_its_label_dooms(void **state) {
    (void)state;
    scene s = open_scene();
    char label[8192];
    memset(label, 'x', sizeof label);
    label[sizeof label - 1] = '\0';
    rondo_arg arg = rondo_arg_buffer(s.x);
    begin_window(s.a);
    OK(launch_bump(s.a, &s.k, s.x)); /* so that the next op finds room, but not its label */
    starve(0, true);
    rondo_status status = rondo_launch(s.a, s.k.bump, rondo_grid_1d(WORDS), &arg, 1, label);
    feed();
    expect(status, RONDO_NO_HOST_MEMORY);
    close_doomed_scene(&s);
}

/* [E3] [W1] Nobody is helped by more memory for a launch that would be refused then. */
static void what_is_wrong_with_a_launch_comes_before_missing_memory(void **state) {
    (void)state;
    scene s = open_scene();
    rondo_arg behind = rondo_arg_span(rondo_slice(s.x, WORDS * 8, 8));
    begin_window(s.a);
    starve(0, true);
    rondo_status wrong = rondo_launch(s.a, s.k.bump, rondo_grid_1d(WORDS), &behind, 1, NULL);
    rondo_status right = launch_bump(s.a, &s.k, s.x);
    feed();
    expect(wrong, RONDO_RANGE);
    expect(right, RONDO_NO_HOST_MEMORY);
    close_doomed_scene(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#if RDO_CHECKS
        cmocka_unit_test(a_launch_of_what_the_window_holds_takes_one_lock),
#endif
        cmocka_unit_test(what_a_window_has_forgotten_it_keeps_all_the_same),
        cmocka_unit_test(each_range_that_a_window_writes_is_claimed_if_it_fails),
        cmocka_unit_test(a_buffer_that_a_window_has_only_read_so_far_is_claimed_once_it_is_written),
        cmocka_unit_test(what_a_window_remembers_of_a_buffer_hides_nothing_that_is_wrong),
        cmocka_unit_test(a_launch_that_the_window_knows_is_skipped_over_a_new_claim),
        cmocka_unit_test(a_launch_is_recorded_while_another_queue_works_on_its_memory),
        cmocka_unit_test(a_launch_is_recorded_after_queued_work_of_its_queue),
        cmocka_unit_test(a_launch_that_finds_no_memory_for_its_label_dooms),
        cmocka_unit_test(what_is_wrong_with_a_launch_comes_before_missing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
