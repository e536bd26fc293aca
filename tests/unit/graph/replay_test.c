/* Replays and appended graphs where other tests do not look closely: each of these was missing, as a change of the
 * sources that no test noticed showed. */
#include "thread/threads.h"

#include <rondo/sim.h>

#include <sched.h>

#include "base/lock.h"
#include "device/device.h"
#include "unit.h"

static stop halt = STOP_INIT;

/* Its value comes first. */
static void set_native(const rondo_native_call *call) {
    uint64_t value, *x = call->args[1];
    memcpy(&value, call->args[0], sizeof value);
    for (uint64_t i = call->first; i < call->last; i++) x[i] = value;
}

typedef struct scene {
    rondo_device *device;
    rondo_stream *a, *b;
    rondo_kernel *set;
    rondo_buffer x;
    rondo_graph *graph; /* waits for go_on, then sets x to 1 */
} scene;

static scene open_scene(void) {
    static const rondo_param params[] = {{"value", RONDO_PARAM_VALUE, 8, 8, false},
                                         {"x", RONDO_PARAM_OUT, 8, 8, false}};
    scene s = {.device = open_cpu(2)};
    uint64_t one = 1;
    s.a = stream_on(s.device, 2, 0);
    s.b = stream_on(s.device, 2, 1);
    s.set = load(s.device, "set", set_native, params, 2);
    s.x = make_buffer(s.a, 0);
    rondo_arg args[] = {rondo_arg_value(&one, 8), rondo_arg_buffer(s.x)};
    OK(rondo_capture_prepare(s.a));
    OK(rondo_capture_begin(s.a));
    OK(rondo_host_call(s.a, stop_here, &halt, NULL, NULL, 0, "stop"));
    OK(rondo_launch(s.a, s.set, rondo_grid_1d(WORDS), args, 2, "set"));
    OK(rondo_capture_end(s.a, RONDO_END_DEFAULT, &s.graph));
    gate_set(&halt.inside, 0);
    gate_set(&halt.go_on, 0);
    return s;
}

static void close_scene(scene *s) {
    rondo_graph_release(s->graph);
    rondo_buffer_release(s->x);
    rondo_kernel_release(s->set);
    rondo_stream_release(s->a);
    rondo_stream_release(s->b);
    expect_empty(s->device);
    rondo_device_release(s->device);
}

static rondo_graph *outer;

static void append_while_it_runs(int index, void *user) {
    scene *s = user;
    uint64_t seven = 7;
    if (index == 0) {
        NEED_OK(rondo_graph_replay(s->graph, s->b));
        return;
    }
    gate_await(&halt.inside, 1);
    rondo_update update = rondo_update_value(1, "value", &seven, 8);
    NEED_OK(rondo_graph_update(s->graph, &update, 1));
    dumped now = {.length = 0};
    NEED_OK(rondo_graph_dump(s->graph, RONDO_DUMP_TEXT, keep_text, &now));
    NEED(strstr(now.bytes, "value=0700000000000000") != NULL); /* little-endian */
    NEED_OK(rondo_capture_prepare(s->a));
    NEED_OK(rondo_capture_begin(s->a));
    NEED_OK(rondo_graph_replay(s->graph, s->a));
    NEED_OK(rondo_capture_end(s->a, RONDO_END_DEFAULT, &outer));
    gate_set(&halt.go_on, 1);
}

/* [R8] [R9] Of the first parameter, too: the update still waits for the replay to end, and is told as if it did not. */
static void a_graph_is_appended_with_the_values_that_still_wait(void **state) {
    (void)state;
    scene s = open_scene();
    run_threads(2, append_while_it_runs, &s);
    assert_int_equal(read_even(s.b, s.x), 1);
    OK(rondo_graph_replay(outer, s.a));
    assert_int_equal(read_even(s.a, s.x), 7);
    rondo_graph_release(outer);
    close_scene(&s);
}

static uint64_t submissions(void) {
    rondo_sim_counts counts;
    rondo_sim_get_counts(&counts);
    return counts.calls[RONDO_SIM_GRAPH_SUBMIT];
}

/* Behind a leading event, the first node is played by itself; nothing is played where none is left. */
static void a_backend_is_never_asked_to_play_nothing(void **state) {
    (void)state;
    rondo_device *device = NULL;
    rondo_event *event = NULL;
    rondo_graph *graph = NULL;
    rondo_device_desc desc = {.max_queues = 1};
    OK(rondo_device_open("sim", &desc, &device));
    rondo_stream *stream = stream_on(device, 1, 0);
    OK(rondo_event_create(device, &event));
    rondo_buffer x = make_buffer(stream, 0);
    OK(rondo_capture_prepare(stream));
    OK(rondo_capture_begin(stream));
    OK(rondo_event_record(stream, event, NULL));
    OK(rondo_fill(stream, rondo_whole(x), "", 1, NULL));
    OK(rondo_capture_end(stream, RONDO_END_DEFAULT, &graph));
    uint64_t before = submissions();
    OK(rondo_graph_replay(graph, stream));
    assert_int_equal(submissions() - before, 1);
    rondo_graph_release(graph);
    rondo_buffer_release(x);
    rondo_event_release(event);
    rondo_stream_release(stream);
    rondo_device_release(device);
}

/* [R3] [O4] Memory of another queue is not looked after by this one alone. */
static void a_graph_on_memory_of_two_queues_waits_for_both(void **state) {
    (void)state;
    rondo_device *device = open_cpu(2);
    rondo_stream *a = stream_on(device, 2, 0), *b = stream_on(device, 2, 1);
    kernels k = load_kernels(device);
    rondo_buffer x = make_buffer(a, 1), z = make_buffer(b, 3);
    rondo_graph *graph = NULL;
    void *data = NULL;
    OK(rondo_capture_prepare(a));
    OK(rondo_capture_begin(a));
    OK(launch_bump(a, &k, x));
    OK(launch_bump(a, &k, z));
    OK(rondo_capture_end(a, RONDO_END_DEFAULT, &graph));
    OK(rondo_map(b, rondo_whole(z), RONDO_READS, &data));
    expect(rondo_graph_replay(graph, a), RONDO_BUSY);
    assert_int_equal(*(const uint64_t *)data, 3);
    OK(rondo_unmap(b, rondo_whole(z)));
    OK(rondo_graph_replay(graph, a));
    assert_int_equal(read_even(b, z), 4);
    rondo_graph_release(graph);
    rondo_buffer_release(x);
    rondo_buffer_release(z);
    release_kernels(&k);
    rondo_stream_release(a);
    rondo_stream_release(b);
    rondo_device_release(device);
}

/* ---- failures ---- */

typedef struct plain {
    rondo_device *device;
    rondo_stream *stream;
    kernels k;
    rondo_buffer x, y;
} plain;

static plain open_plain(void) {
    plain p = {.device = open_cpu(1)};
    p.stream = stream_on(p.device, 1, 0);
    p.k = load_kernels(p.device);
    p.x = make_buffer(p.stream, 1);
    p.y = make_buffer(p.stream, 2);
    OK(rondo_capture_prepare(p.stream));
    OK(rondo_capture_begin(p.stream));
    return p;
}

static void close_plain(plain *p, rondo_graph *graph) {
    rondo_graph_release(graph);
    rondo_buffer_release(p->x);
    rondo_buffer_release(p->y);
    release_kernels(&p->k);
    rondo_stream_release(p->stream);
    expect_empty(p->device);
    rondo_device_release(p->device);
}

static rondo_graph *end(plain *p) {
    rondo_graph *graph = NULL;
    OK(rondo_capture_end(p->stream, RONDO_END_DEFAULT, &graph));
    return graph;
}

static uint64_t id_of(rondo_graph *graph) {
    rondo_graph_info info;
    OK(rondo_graph_get_info(graph, &info));
    return info.id;
}

/* 0 stands for no graph where failures are told apart, so the first of the process is not 0 either. */
static void graphs_are_numbered_from_one(void **state) {
    (void)state;
    plain p = open_plain();
    OK(launch_bump(p.stream, &p.k, p.x));
    rondo_graph *first = end(&p), *second = NULL;
    OK(rondo_capture_prepare(p.stream));
    OK(rondo_capture_begin(p.stream));
    OK(launch_bump(p.stream, &p.k, p.x));
    second = end(&p);
    assert_int_equal(id_of(first), 1);
    assert_int_equal(id_of(second), 2);
    rondo_graph_release(second);
    close_plain(&p, first);
}

/* [E1] */
static void a_node_that_fails_names_the_replay_its_kernel_and_its_place(void **state) {
    (void)state;
    plain p = open_plain();
    rondo_fault fault;
    OK(launch_bump(p.stream, &p.k, p.x));
    OK(launch_fail(p.stream, &p.k, p.y));
    rondo_graph *graph = end(&p);
    OK(rondo_graph_replay(graph, p.stream));
    rondo_status status = rondo_stream_sync(p.stream);
    expect(status, RONDO_KERNEL);
    OK(rondo_fault_get(status, &fault));
    assert_string_equal(fault.operation, "rondo_graph_replay");
    assert_string_equal(fault.kernel, "fail");
    assert_int_equal(fault.op_index, 1);
    assert_int_equal(fault.stream_id, rondo_stream_id(p.stream));
    close_plain(&p, graph);
}

/* [T7] [T1] Through the nodes that needed these bytes, and no others. */
static void a_chain_through_a_replay_follows_the_bytes_that_were_read(void **state) {
    (void)state;
    plain p = open_plain();
    rondo_skip chain[3];
    uint8_t bytes[64];
    rondo_span read = rondo_slice(p.y, 192, 64);
    OK(launch_fail(p.stream, &p.k, p.x));
    OK(rondo_copy(p.stream, rondo_slice(p.y, 64, 64), rondo_slice(p.x, 128, 64), "first"));
    OK(rondo_copy(p.stream, rondo_slice(p.y, 128, 64), rondo_slice(p.x, 128, 64), "another"));
    OK(rondo_copy(p.stream, read, rondo_slice(p.y, 64, 64), "second"));
    rondo_graph *graph = end(&p);
    OK(rondo_graph_replay(graph, p.stream));
    rondo_status status = rondo_read(p.stream, read, bytes, NULL);
    expect(status, RONDO_TAINTED);
    assert_int_equal(rondo_fault_chain(status, chain, 3), 2);
    assert_string_equal(chain[0].label, "second");
    assert_int_equal(chain[0].needed, p.y.id);
    assert_string_equal(chain[1].label, "first");
    assert_int_equal(chain[1].needed, p.x.id);
    close_plain(&p, graph);
}

static uint64_t failures_of(const plain *p) {
    rondo_device_stats stats;
    OK(rondo_device_get_stats(p->device, &stats));
    return stats.replay_failures;
}

/* [R1] */
static void a_replay_whose_input_is_spoiled_is_counted_as_a_failure(void **state) {
    (void)state;
    plain p = open_plain();
    OK(launch_copy(p.stream, &p.k, p.x, p.y));
    rondo_graph *graph = end(&p);
    OK(launch_fail(p.stream, &p.k, p.x));
    uint64_t before = failures_of(&p);
    expect(rondo_graph_replay(graph, p.stream), RONDO_TAINTED);
    assert_int_equal(failures_of(&p) - before, 1);
    close_plain(&p, graph);
}

/* [C13] */
static void a_replay_of_a_neighbour_of_a_window_is_counted_as_a_failure(void **state) {
    (void)state;
    plain p = open_plain();
    OK(launch_bump(p.stream, &p.k, p.x));
    rondo_graph *graph = end(&p);
    rondo_stream *neighbour = stream_on(p.device, 1, 0);
    uint64_t before = failures_of(&p);
    OK(rondo_capture_prepare(p.stream));
    OK(rondo_capture_begin(p.stream));
    expect(rondo_graph_replay(graph, neighbour), RONDO_BUSY);
    assert_int_equal(failures_of(&p) - before, 1);
    OK(rondo_capture_abort(p.stream));
    rondo_stream_release(neighbour);
    close_plain(&p, graph);
}

/* A replay of a graph that changes x and writes rows of y, which is spoiled and to be released. Returns whether it met
 * the end of memory. */
static bool replay_with(uint64_t granted) {
    plain p = open_plain();
    rondo_buffer z = RONDO_NO_BUFFER;
    OK(rondo_capture_abort(p.stream));
    z = make_buffer(p.stream, 3);
    rondo_rect to = {rondo_whole(p.y), 16}, from = {rondo_whole(z), 16};
    OK(rondo_capture_prepare(p.stream));
    OK(rondo_capture_begin(p.stream));
    OK(launch_bump(p.stream, &p.k, p.x));
    OK(rondo_copy_2d(p.stream, to, from, 4, BYTES / 16, "rows"));
    rondo_graph *graph = end(&p);
    OK(launch_fail(p.stream, &p.k, p.y));
    starve(granted, false);
    rondo_status status = rondo_graph_replay(graph, p.stream);
    bool refused = feed() != 0;
    if (status != RONDO_OK) expect(status, RONDO_NO_HOST_MEMORY);
    OK(rondo_graph_replay(graph, p.stream));
    assert_int_equal(read_even(p.stream, p.x), status != RONDO_OK ? 2 : 3);
    rondo_buffer_release(z);
    close_plain(&p, graph);
    return refused;
}

/* [R2] [E3] Nothing ran, so nothing is lost. */
static void a_replay_that_found_no_memory_does_not_stop_the_next(void **state) {
    uint64_t granted = 0;
    (void)state;
    while (replay_with(granted)) granted++;
    assert_int_not_equal(granted, 0);
}

#if RDO_CHECKS
/* [R10] That of its queue; more would be paid for by each replay. */
static void a_warm_replay_takes_one_lock(void **state) {
    (void)state;
    scene s = open_scene();
    rondo_graph *graph;
    uint64_t two = 2;
    rondo_arg args[] = {rondo_arg_value(&two, 8), rondo_arg_buffer(s.x)};
    OK(rondo_capture_prepare(s.a));
    OK(rondo_capture_begin(s.a));
    for (int i = 0; i < 10; i++) OK(rondo_launch(s.a, s.set, rondo_grid_1d(WORDS), args, 2, "set"));
    OK(rondo_capture_end(s.a, RONDO_END_DEFAULT, &graph));
    OK(rondo_graph_replay(graph, s.a));
    uint64_t before = rdo_this_thread.locks_taken;
    for (int i = 0; i < 10; i++) OK(rondo_graph_replay(graph, s.a));
    assert_int_equal(rdo_this_thread.locks_taken - before, 10);
    rondo_graph_release(graph);
    close_scene(&s);
}
#endif

static bool hungry;

static int end_of_memory(void *user, const rondo_host_access *accesses, size_t count) {
    (void)user, (void)accesses, (void)count;
    if (hungry) starve(0, false);
    return 0;
}

/* [R4] [E3] A node that ran makes bytes good again in the middle of spoiled ones; where that cannot be noted they stay
 * spoiled. */
static void bytes_written_anew_stay_spoiled_where_that_cannot_be_noted(void **state) {
    (void)state;
    rondo_device *device = open_cpu(1);
    rondo_stream *stream = stream_on(device, 1, 0);
    kernels k = load_kernels(device);
    rondo_buffer x = make_buffer(stream, 1);
    rondo_graph *graph = NULL;
    rondo_span middle = rondo_slice(x, 128, 64);
    OK(rondo_capture_prepare(stream));
    OK(rondo_capture_begin(stream));
    OK(launch_fail(stream, &k, x));
    OK(rondo_host_call(stream, end_of_memory, NULL, NULL, NULL, 0, NULL));
    OK(rondo_fill(stream, middle, "", 1, NULL));
    OK(rondo_capture_end(stream, RONDO_END_DEFAULT, &graph));
    for (int round = 0; round < 2; round++) {
        hungry = round == 1;
        OK(rondo_graph_replay(graph, stream));
        if (hungry) assert_int_equal(feed(), 1);
        expect(rondo_span_status(rondo_whole(x)), RONDO_TAINTED);
        expect(rondo_span_status(middle), hungry ? RONDO_TAINTED : RONDO_OK);
    }
    rondo_graph_release(graph);
    rondo_buffer_release(x);
    release_kernels(&k);
    rondo_stream_release(stream);
    expect_empty(device);
    rondo_device_release(device);
}

static int fail_at_the_end_of_memory(void *user, const rondo_host_access *accesses, size_t count) {
    (void)user, (void)accesses, (void)count;
    starve(0, false);
    return 1;
}

/* [R4] [T6] [E3] Then all that follows is lost to the failure, and no input is to blame for it. */
static void without_memory_to_note_what_a_node_spoiled_the_rest_is_skipped(void **state) {
    (void)state;
    plain p = open_plain();
    rondo_host_access parts[3];
    for (uint64_t i = 0; i < 3; i++) parts[i] = (rondo_host_access){rondo_slice(p.x, 16 * i, 8), RONDO_WRITES, NULL};
    rondo_skip skip;
    OK(rondo_host_call(p.stream, fail_at_the_end_of_memory, NULL, NULL, parts, 3, "parts"));
    OK(rondo_fill(p.stream, rondo_whole(p.y), "", 1, "independent"));
    rondo_graph *graph = end(&p);
    OK(rondo_graph_replay(graph, p.stream));
    assert_int_equal(feed(), 1);
    rondo_status failure = rondo_stream_sync(p.stream);
    expect(failure, RONDO_KERNEL);
    expect(rondo_span_status(rondo_whole(p.y)), RONDO_TAINTED);
    assert_int_equal(rondo_fault_chain(failure, &skip, 1), 1);
    assert_string_equal(skip.label, "independent");
    assert_int_equal(skip.needed, 0);
    assert_int_equal(skip.produced, p.y.id);
    close_plain(&p, graph);
}

enum { LARGE_BYTES = 4096 };

/* [R8] [E3] Also where it is the copy of a large value that there is no memory for. */
static void a_graph_that_finds_no_memory_to_be_appended_dooms_the_window(void **state) {
    static const rondo_param params[] = {{"x", RONDO_PARAM_OUT, 8, 8, false},
                                         {"value", RONDO_PARAM_VALUE, LARGE_BYTES, 1, false}};
    static const uint8_t value[LARGE_BYTES];
    (void)state;
    rondo_device *device = open_cpu(1);
    rondo_stream *stream = stream_on(device, 1, 0);
    rondo_kernel *large = load(device, "large", nothing_native, params, 2);
    rondo_buffer x = make_buffer(stream, 1);
    rondo_graph *inner = NULL;
    rondo_arg args[] = {rondo_arg_buffer(x), rondo_arg_value(value, LARGE_BYTES)};
    OK(rondo_capture_prepare(stream));
    OK(rondo_capture_begin(stream));
    for (int i = 0; i < 3; i++) OK(rondo_launch(stream, large, rondo_grid_1d(WORDS), args, 2, NULL));
    OK(rondo_capture_end(stream, RONDO_END_DEFAULT, &inner));
    uint64_t granted = 0, refused = 1, one = 1;
    for (; refused != 0; granted++) {
        rondo_graph *graph = NULL;
        OK(rondo_capture_prepare(stream));
        OK(rondo_capture_begin(stream));
        starve(granted, false);
        rondo_status appended = rondo_graph_replay(inner, stream);
        refused = feed();
        expect(appended, refused != 0 ? RONDO_NO_HOST_MEMORY : RONDO_OK);
        expect(rondo_capture_end(stream, RONDO_END_DEFAULT, &graph), refused != 0 ? RONDO_DOOMED : RONDO_OK);
        rondo_graph_release(graph);
        OK(rondo_fill(stream, rondo_whole(x), &one, 8, NULL));
    }
    assert_true(granted > 5);
    rondo_graph_release(inner);
    rondo_buffer_release(x);
    rondo_kernel_release(large);
    rondo_stream_release(stream);
    expect_empty(device);
    rondo_device_release(device);
}

/* [E5] */
static void a_graph_of_the_parent_is_not_found_in_a_child(void **state) {
    (void)state;
    scene s = open_scene();
    rdo_fork_epoch++; /* all that tells a child */
    assert_null(rdo_graph_hold(s.graph));
    rdo_fork_epoch--;
    rdo_graph *graph = rdo_graph_hold(s.graph);
    assert_non_null(graph);
    rdo_graph_drop(graph);
    close_scene(&s);
}

/* Holds the buffer that it is given until go_on. */
static void hold_native(const rondo_native_call *call) {
    gate_add(&halt.inside, 1);
    gate_await(&halt.go_on, 1);
    set_native(call);
}

typedef struct held {
    rondo_device *device;
    rondo_stream *a, *b; /* of different queues */
    rondo_kernel *set, *hold;
    rondo_buffer x;
    rondo_graph *graph;  /* sets x to 1 by `set` or by `hold` */
} held;

static held open_held(bool holds) {
    static const rondo_param params[] = {{"value", RONDO_PARAM_VALUE, 8, 8, false},
                                         {"x", RONDO_PARAM_OUT, 8, 8, false}};
    held h = {.device = open_cpu(2)};
    uint64_t one = 1;
    h.a = stream_on(h.device, 2, 0);
    h.b = stream_on(h.device, 2, 1);
    h.set = load(h.device, "set", set_native, params, 2);
    h.hold = load(h.device, "hold", hold_native, params, 2);
    h.x = make_buffer(h.a, 0);
    rondo_arg args[] = {rondo_arg_value(&one, 8), rondo_arg_buffer(h.x)};
    OK(rondo_capture_prepare(h.a));
    OK(rondo_capture_begin(h.a));
    OK(rondo_launch(h.a, holds ? h.hold : h.set, rondo_grid_1d(1), args, 2, NULL));
    OK(rondo_capture_end(h.a, RONDO_END_DEFAULT, &h.graph));
    gate_set(&halt.inside, 0);
    gate_set(&halt.go_on, 0);
    return h;
}

static void close_held(held *h) {
    rondo_graph_release(h->graph);
    rondo_buffer_release(h->x);
    rondo_kernel_release(h->set);
    rondo_kernel_release(h->hold);
    rondo_stream_release(h->a);
    rondo_stream_release(h->b);
    expect_empty(h->device);
    rondo_device_release(h->device);
}

static uint64_t first_word(const held *h) {
    uint64_t word = 0;
    OK(rondo_read(h->a, rondo_slice(h->x, 0, 8), &word, NULL));
    return word;
}

static void update_to_seven(const held *h) {
    uint64_t seven = 7;
    rondo_update update = rondo_update_value(0, "value", &seven, 8);
    NEED_OK(rondo_graph_update(h->graph, &update, 1));
}

/* The replay that was issued before the update wrote 1; the next one writes 7. */
static void expect_updated_afterwards(const held *h, rondo_stream *stream) {
    assert_int_equal(first_word(h), 1);
    OK(rondo_graph_replay(h->graph, stream));
    assert_int_equal(first_word(h), 7);
}

static void update_while_it_runs(int index, void *user) {
    const held *h = user;
    if (index == 0) {
        NEED_OK(rondo_graph_replay(h->graph, h->a)); /* at home, where nothing is counted */
        return;
    }
    gate_await(&halt.inside, 1);
    update_to_seven(h);
    gate_set(&halt.go_on, 1);
}

/* [R9] */
static void an_update_leaves_a_replay_that_runs_at_home_as_it_is(void **state) {
    (void)state;
    held h = open_held(true);
    run_threads(2, update_while_it_runs, &h);
    expect_updated_afterwards(&h, h.a);
    close_held(&h);
}

static void update_while_it_waits(int index, void *user) {
    const held *h = user;
    uint64_t nine = 9;
    rondo_arg args[] = {rondo_arg_value(&nine, 8), rondo_arg_buffer(h->x)};
    if (index == 0) {
        NEED_OK(rondo_launch(h->a, h->hold, rondo_grid_1d(1), args, 2, NULL));
        return;
    }
    gate_await(&halt.inside, 1);
    if (index == 1) {
        NEED_OK(rondo_graph_replay(h->graph, h->b));
        return;
    }
    const rdo_device *device = rdo_object_find(RDO_OBJECT_DEVICE, h->device);
    while (atomic_load(&device->engine.order.fast_waiters) == 0) (void)sched_yield();
    update_to_seven(h);
    gate_set(&halt.go_on, 1);
}

/* [R9] What counts is when a replay was issued, not when it runs. */
static void an_update_leaves_a_replay_that_waits_for_its_turn_as_it_is(void **state) {
    (void)state;
    held h = open_held(false);
    run_threads(3, update_while_it_waits, &h);
    expect_updated_afterwards(&h, h.b);
    close_held(&h);
}

/* [R1] [E3] A claim on all of a buffer would have to be cut in two to release its middle. */
static void a_replay_that_has_no_memory_to_release_claims_does_not_run(void **state) {
    (void)state;
    rondo_device *device = open_cpu(1);
    rondo_stream *stream = stream_on(device, 1, 0);
    kernels k = load_kernels(device);
    rondo_buffer x = make_buffer(stream, 1);
    rondo_graph *graph = NULL;
    rondo_span middle = rondo_slice(x, 128, 64);
    OK(rondo_capture_prepare(stream));
    OK(rondo_capture_begin(stream));
    OK(rondo_fill(stream, middle, "", 1, NULL));
    OK(rondo_capture_end(stream, RONDO_END_DEFAULT, &graph));
    OK(launch_fail(stream, &k, x));
    starve(0, false);
    expect(rondo_graph_replay(graph, stream), RONDO_NO_HOST_MEMORY);
    assert_int_equal(feed(), 1);
    rondo_status spoiled = rondo_span_status(middle);
    expect(spoiled, RONDO_TAINTED);
    expect(rondo_fault_root(spoiled), RONDO_NO_HOST_MEMORY); /* what kept it from being written, no older failure */
    OK(rondo_graph_replay(graph, stream));
    OK(rondo_span_status(middle));
    rondo_graph_release(graph);
    rondo_buffer_release(x);
    release_kernels(&k);
    rondo_stream_release(stream);
    expect_empty(device);
    rondo_device_release(device);
}

/* [R1] */
static void all_events_at_the_beginning_complete_once_work_runs(void **state) {
    enum { EVENTS = 3 };
    (void)state;
    rondo_device *device = open_cpu(1);
    rondo_stream *stream = stream_on(device, 1, 0);
    rondo_event *events[EVENTS];
    rondo_graph *graph = NULL;
    rondo_buffer x = make_buffer(stream, 1);
    for (int i = 0; i < EVENTS; i++) OK(rondo_event_create(device, &events[i]));
    OK(rondo_capture_prepare(stream));
    OK(rondo_capture_begin(stream));
    for (int i = 0; i < EVENTS; i++) OK(rondo_event_record(stream, events[i], NULL));
    OK(rondo_fill(stream, rondo_whole(x), "", 1, NULL));
    OK(rondo_capture_end(stream, RONDO_END_DEFAULT, &graph));
    OK(rondo_graph_replay(graph, stream));
    for (int i = 0; i < EVENTS; i++) {
        OK(rondo_event_wait(stream, events[i], NULL)); /* refused if no replay had completed it */
        rondo_event_release(events[i]);
    }
    rondo_graph_release(graph);
    rondo_buffer_release(x);
    rondo_stream_release(stream);
    expect_empty(device);
    rondo_device_release(device);
}

/* [R10] Neither at home nor elsewhere, where it has to register with all queues that its memory is at home on. */
static void a_replay_takes_no_memory(void **state) {
    (void)state;
    held h = open_held(false);
    starve(0, true);
    rondo_status at_home = rondo_graph_replay(h.graph, h.a), elsewhere = rondo_graph_replay(h.graph, h.b);
    assert_int_equal(feed(), 0);
    OK(at_home);
    OK(elsewhere);
    close_held(&h);
}

typedef struct spread {
    rondo_device *device;
    rondo_stream *streams[4];
    rondo_graph *graph; /* stops, then sets a buffer at home on each queue */
    uint32_t foreign[4]; /* how many operations of other queues each had while it stopped */
} spread;

static void replay_or_count(int index, void *user) {
    spread *s = user;
    if (index == 0) {
        NEED_OK(rondo_graph_replay(s->graph, s->streams[0]));
        return;
    }
    gate_await(&halt.inside, 1);
    const rdo_device *device = rdo_object_find(RDO_OBJECT_DEVICE, s->device);
    for (int i = 0; i < 4; i++) s->foreign[i] = atomic_load(&device->engine.queues[i].store.foreign);
    gate_set(&halt.go_on, 1);
}

/* [W3] */
static void a_replay_registers_once_with_each_other_queue_of_its_memory(void **state) {
    (void)state;
    spread s = {.device = open_cpu(4)};
    rondo_buffer buffers[4];
    for (uint32_t i = 0; i < 4; i++) {
        s.streams[i] = stream_on(s.device, 4, i);
        buffers[i] = make_buffer(s.streams[i], 0);
    }
    gate_set(&halt.inside, 0);
    gate_set(&halt.go_on, 0);
    OK(rondo_capture_prepare(s.streams[0]));
    OK(rondo_capture_begin(s.streams[0]));
    OK(rondo_host_call(s.streams[0], stop_here, &halt, NULL, NULL, 0, NULL));
    for (int i = 0; i < 8; i++) OK(rondo_fill(s.streams[0], rondo_whole(buffers[i % 4]), "", 1, NULL));
    OK(rondo_capture_end(s.streams[0], RONDO_END_DEFAULT, &s.graph));
    run_threads(2, replay_or_count, &s);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(s.foreign[i], i != 0);
        rondo_buffer_release(buffers[i]);
        rondo_stream_release(s.streams[i]);
    }
    rondo_graph_release(s.graph);
    expect_empty(s.device);
    rondo_device_release(s.device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graphs_are_numbered_from_one), /* first */
#if RDO_CHECKS
        cmocka_unit_test(a_warm_replay_takes_one_lock),
#endif
        cmocka_unit_test(a_graph_is_appended_with_the_values_that_still_wait),
        cmocka_unit_test(a_backend_is_never_asked_to_play_nothing),
        cmocka_unit_test(a_graph_on_memory_of_two_queues_waits_for_both),
        cmocka_unit_test(a_node_that_fails_names_the_replay_its_kernel_and_its_place),
        cmocka_unit_test(a_chain_through_a_replay_follows_the_bytes_that_were_read),
        cmocka_unit_test(a_replay_whose_input_is_spoiled_is_counted_as_a_failure),
        cmocka_unit_test(a_replay_of_a_neighbour_of_a_window_is_counted_as_a_failure),
        cmocka_unit_test(a_replay_that_found_no_memory_does_not_stop_the_next),
        cmocka_unit_test(bytes_written_anew_stay_spoiled_where_that_cannot_be_noted),
        cmocka_unit_test(without_memory_to_note_what_a_node_spoiled_the_rest_is_skipped),
        cmocka_unit_test(a_graph_that_finds_no_memory_to_be_appended_dooms_the_window),
        cmocka_unit_test(a_graph_of_the_parent_is_not_found_in_a_child),
        cmocka_unit_test(an_update_leaves_a_replay_that_runs_at_home_as_it_is),
        cmocka_unit_test(an_update_leaves_a_replay_that_waits_for_its_turn_as_it_is),
        cmocka_unit_test(a_replay_that_has_no_memory_to_release_claims_does_not_run),
        cmocka_unit_test(all_events_at_the_beginning_complete_once_work_runs),
        cmocka_unit_test(a_replay_takes_no_memory),
        cmocka_unit_test(a_replay_registers_once_with_each_other_queue_of_its_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
