/* Windows while other threads do what they like: neighbours, frees, trims, other windows. */
#include "threads.h"

typedef struct scene {
    rondo_device *device;
    kernels k;
    uint32_t queues;
    rondo_stream *owners[2];  /* on queues 0 and 1 */
    rondo_stream *neighbour;  /* on queue 0 */
    rondo_stream *elsewhere;  /* on the last queue */
    rondo_buffer input, outputs[2], bystander;
    _Atomic bool done;
    _Atomic uint64_t refused, ran;
    uint64_t seed;
} scene;

static void open_scene(scene *s, uint32_t queues) {
    s->seed = test_seed();
    s->queues = queues;
    s->device = open_cpu(queues);
    s->k = load_kernels(s->device);
    s->owners[0] = stream_on(s->device, queues, 0);
    s->owners[1] = stream_on(s->device, queues, 1 % queues);
    s->neighbour = stream_on(s->device, queues, 0);
    s->elsewhere = stream_on(s->device, queues, queues - 1);
    s->input = make_buffer(s->elsewhere, 5);
    s->bystander = make_buffer(s->neighbour, 0);
    for (int i = 0; i < 2; i++) s->outputs[i] = make_buffer(s->owners[i], 0);
    expect_no_trouble();
}

static void close_scene(scene *s) {
    rondo_buffer_release(s->input);
    rondo_buffer_release(s->bystander);
    for (int i = 0; i < 2; i++) rondo_buffer_release(s->outputs[i]);
    for (int i = 0; i < 2; i++) rondo_stream_release(s->owners[i]);
    rondo_stream_release(s->neighbour);
    rondo_stream_release(s->elsewhere);
    release_kernels(&s->k);
    expect_empty(s->device);
    rondo_device_release(s->device);
}

/* output = input + input, then bumped `bumps` times. */
static rondo_graph *record(scene *s, int owner, int bumps) {
    rondo_graph *graph = NULL;
    rondo_stream *stream = s->owners[owner];
    NEED_OK(rondo_capture_prepare(stream));
    NEED_OK(rondo_capture_begin(stream));
    NEED_OK(launch_sum(stream, &s->k, s->input, s->input, s->outputs[owner]));
    for (int i = 0; i < bumps; i++) NEED_OK(launch_bump(stream, &s->k, s->outputs[owner]));
    NEED_OK(rondo_capture_end(stream, RONDO_END_DEFAULT, &graph));
    return graph;
}

static void check_graph(rondo_graph *graph, uint64_t nodes) {
    rondo_graph_info info = {.nodes = 0};
    NEED_OK(rondo_graph_get_info(graph, &info));
    NEED(info.nodes == nodes);
}

/* ---- neighbours ---- */

enum { WINDOWS = 2000 };

static void own_or_intrude(int index, void *user) {
    scene *s = user;
    for (int i = 0; index == 0 && i < WINDOWS && !atomic_load(&in_trouble); i++) {
        int bumps = i % 5;
        rondo_graph *graph = record(s, 0, bumps);
        check_graph(graph, (uint64_t)bumps + 1);
        rondo_graph_release(graph);
    }
    if (index == 0) atomic_store(&s->done, true);
    uint64_t value = (uint64_t)index;
    while (index != 0 && !atomic_load(&s->done) && !atomic_load(&in_trouble)) {
        rondo_status status = rondo_fill(s->neighbour, rondo_whole(s->bystander), &value, 8, "neighbour");
        NEED_ONE_OF(status, RONDO_BUSY);
        atomic_fetch_add(status == RONDO_OK ? &s->ran : &s->refused, 1);
        NEED_ONE_OF(rondo_stream_sync(s->neighbour), RONDO_BUSY);
        NEED_ONE_OF(rondo_stream_trim(s->neighbour), RONDO_BUSY);
    }
}

/* [C13] [P2] */
static void neighbours_are_refused_with_busy_and_never_get_into_a_window(void **state) {
    (void)state;
    scene s = {.device = NULL};
    open_scene(&s, 1);
    run_threads(4, own_or_intrude, &s);
    print_message("%llu ran, %llu were refused\n", (unsigned long long)s.ran, (unsigned long long)s.refused);
    close_scene(&s);
}

/* ---- trims, frees, allocations ---- */

static void record_and_replay(scene *s, int owner, int rounds) {
    for (int i = 0; i < rounds && !atomic_load(&in_trouble); i++) {
        rondo_graph *graph = NULL;
        rondo_stream *stream = s->owners[owner];
        rondo_buffer temporary = RONDO_NO_BUFFER, before = make_buffer(stream, 11);
        /* The warm-up makes the window's room. */
        NEED_OK(rondo_capture_prepare(stream));
        NEED_OK(rondo_buffer_create(stream, BYTES, RONDO_USAGE_GENERAL, &temporary));
        rondo_buffer_release(temporary);
        NEED_OK(rondo_capture_begin(stream));
        NEED_OK(rondo_buffer_create(stream, BYTES, RONDO_USAGE_GENERAL, &temporary));
        NEED_OK(launch_sum(stream, &s->k, s->input, before, temporary));
        rondo_buffer_release(before); /* the graph keeps its bytes */
        NEED_OK(launch_copy(stream, &s->k, temporary, s->outputs[owner]));
        rondo_buffer_release(temporary);
        NEED_OK(rondo_capture_end(stream, RONDO_END_DEFAULT, &graph));
        check_graph(graph, 2);
        for (int r = 0; r < 3; r++) {
            uint64_t zero = 0;
            NEED_OK(rondo_fill(stream, rondo_whole(s->outputs[owner]), &zero, 8, NULL));
            NEED_OK(rondo_graph_replay(graph, stream));
            NEED(read_even(stream, s->outputs[owner]) == 16);
        }
        rondo_graph_release(graph);
    }
}

static void trim_around(int index, void *user) {
    scene *s = user;
    uint64_t state = s->seed * 100 + (uint64_t)index;
    if (index < 2) {
        record_and_replay(s, index, 1000);
        atomic_fetch_add(&s->ran, 1);
        if (atomic_load(&s->ran) == 2) atomic_store(&s->done, true);
        return;
    }
    while (!atomic_load(&s->done) && !atomic_load(&in_trouble)) {
        rondo_buffer buffer = RONDO_NO_BUFFER;
        uint64_t size = BYTES * (1 + below(&state, 1000)), value = next_random(&state), word = 0;
        if (index == 2) {
            NEED_OK(rondo_device_trim(s->device, NULL));
            NEED_OK(rondo_stream_trim(s->elsewhere));
            continue;
        }
        NEED_OK(rondo_buffer_create(s->elsewhere, size, (rondo_usage)below(&state, 3), &buffer));
        NEED_OK(rondo_fill(s->elsewhere, rondo_whole(buffer), &value, 8, NULL));
        NEED_OK(rondo_read(s->elsewhere, rondo_slice(buffer, size - 8, 8), &word, NULL));
        NEED(word == value);
        rondo_buffer_release(buffer);
    }
}

/* [C16] [C18] [P3] */
static void trims_and_frees_by_others_take_nothing_from_windows_and_graphs(void **state) {
    (void)state;
    scene s = {.device = NULL};
    open_scene(&s, 3);
    run_threads(4, trim_around, &s);
    close_scene(&s);
}

/* ---- a home queue that frees while another queue records its memory ---- */

typedef struct lent {
    scene *s;
    rondo_buffer given;
    gate offered, recorded;
} lent;

static void lend_or_record(int index, void *user) {
    lent *l = user;
    scene *s = l->s;
    for (uint64_t i = 1; i <= 1500; i++) {
        if (index == 0) {
            l->given = make_buffer(s->elsewhere, i);
            gate_set(&l->offered, i);
            /* Between the offer and the end of the window the buffer goes and its room is asked for again. */
            rondo_buffer_release(l->given);
            rondo_buffer stranger = make_buffer(s->elsewhere, 77);
            gate_await(&l->recorded, i);
            NEED(read_even(s->elsewhere, stranger) == 77);
            rondo_buffer_release(stranger);
            continue;
        }
        rondo_graph *graph = NULL;
        rondo_stream *stream = s->owners[0];
        NEED_OK(rondo_capture_prepare(stream));
        NEED_OK(rondo_capture_begin(stream));
        gate_await(&l->offered, i);
        rondo_status status = launch_copy(stream, &s->k, l->given, s->outputs[0]);
        NEED_ONE_OF(status, RONDO_STALE);
        rondo_status sealed = rondo_capture_end(stream, RONDO_END_DEFAULT, &graph);
        NEED((sealed == RONDO_OK) == (status == RONDO_OK));
        if (graph != NULL) {
            NEED_OK(rondo_graph_replay(graph, stream));
            NEED(read_even(stream, s->outputs[0]) == i);
            rondo_graph_release(graph);
        }
        gate_set(&l->recorded, i);
    }
}

/* [C16] [P3] The last reference goes while the recording asks for it: refused as stale, or kept for good. */
static void a_buffer_released_while_it_is_recorded_is_stale_or_kept(void **state) {
    (void)state;
    scene s = {.device = NULL};
    open_scene(&s, 2);
    lent l = {.s = &s, .offered = GATE_INIT, .recorded = GATE_INIT};
    run_threads(2, lend_or_record, &l);
    uint64_t zero = 0; /* the last refusal may have left a claim */
    OK(rondo_fill(s.owners[0], rondo_whole(s.outputs[0]), &zero, 8, NULL));
    close_scene(&s);
}

/* ---- two windows ---- */

static void two_windows(int index, void *user) {
    scene *s = user;
    for (int i = 0; i < 1500 && !atomic_load(&in_trouble); i++) {
        rondo_graph *graph = record(s, index, 3);
        check_graph(graph, 4);
        for (int r = 0; r < 3; r++) {
            NEED_OK(rondo_graph_replay(graph, s->owners[index]));
            NEED(read_even(s->owners[index], s->outputs[index]) == 13);
        }
        rondo_graph_release(graph);
    }
}

/* [C20] */
static void two_windows_that_share_an_input_seal_each_on_its_own(void **state) {
    (void)state;
    scene s = {.device = NULL};
    open_scene(&s, 3);
    run_threads(2, two_windows, &s);
    assert_false(rondo_device_is_recording(s.device));
    close_scene(&s);
}

/* ---- the views ---- */

static void watch(int index, void *user) {
    scene *s = user;
    for (int i = 0; index == 0 && i < WINDOWS; i++) {
        rondo_graph *graph = NULL;
        NEED_OK(rondo_capture_prepare(s->owners[0]));
        NEED(rondo_stream_is_capturing(s->owners[0]));
        NEED(rondo_capture_phase(s->owners[0]) == RONDO_PHASE_PREPARED);
        NEED_OK(rondo_capture_begin(s->owners[0]));
        NEED(rondo_device_is_recording(s->device));
        if (i % 3 == 0) NEED_OK(rondo_capture_abort(s->owners[0]));
        if (i % 3 != 0) NEED_OK(rondo_capture_end(s->owners[0], RONDO_END_ALLOW_EMPTY, &graph));
        NEED(rondo_capture_phase(s->owners[0]) == RONDO_PHASE_NONE);
        rondo_graph_release(graph);
    }
    if (index == 0) atomic_store(&s->done, true);
    while (index != 0 && !atomic_load(&s->done)) {
        NEED(!rondo_stream_is_capturing(s->elsewhere));
        NEED(rondo_capture_phase(s->neighbour) == RONDO_PHASE_NONE);
        (void)rondo_device_is_recording(s->device);
        (void)rondo_capture_phase(s->owners[0]);
    }
}

/* [C17] */
static void the_views_tell_of_the_owner_and_of_nobody_else(void **state) {
    (void)state;
    scene s = {.device = NULL};
    open_scene(&s, 2);
    run_threads(4, watch, &s);
    assert_false(rondo_device_is_recording(s.device));
    close_scene(&s);
}

/* ---- a stream that goes while it records ---- */

static void leave_open(int index, void *user) {
    scene *s = user;
    for (int i = 0; i < 1000 && !atomic_load(&in_trouble); i++) {
        if (index == 0) {
            rondo_stream *stream = stream_on(s->device, s->queues, 0);
            rondo_status status = rondo_capture_prepare(stream);
            if (status == RONDO_OK) status = rondo_capture_begin(stream);
            if (status == RONDO_OK) status = launch_bump(stream, &s->k, s->outputs[0]);
            NEED_ONE_OF(status, RONDO_STATE, RONDO_BUSY, RONDO_TAINTED);
            rondo_stream_release(stream);
        } else {
            uint64_t value = 1;
            NEED_ONE_OF(rondo_fill(s->neighbour, rondo_whole(s->outputs[0]), &value, 8, NULL), RONDO_BUSY);
            NEED_OK(rondo_fill(s->elsewhere, rondo_whole(s->input), &value, 8, NULL));
        }
    }
}

/* [C12] Destroying the owner closes its window, whatever other threads do on the queue. */
static void the_last_release_of_an_owner_ends_its_window(void **state) {
    (void)state;
    scene s = {.device = NULL};
    uint64_t value = 3;
    open_scene(&s, 2);
    run_threads(3, leave_open, &s);
    assert_false(rondo_device_is_recording(s.device));
    OK(rondo_fill(s.neighbour, rondo_whole(s.outputs[0]), &value, 8, NULL));
    assert_int_equal(read_even(s.neighbour, s.outputs[0]), 3);
    close_scene(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_are_refused_with_busy_and_never_get_into_a_window),
        cmocka_unit_test(trims_and_frees_by_others_take_nothing_from_windows_and_graphs),
        cmocka_unit_test(a_buffer_released_while_it_is_recorded_is_stale_or_kept),
        cmocka_unit_test(two_windows_that_share_an_input_seal_each_on_its_own),
        cmocka_unit_test(the_views_tell_of_the_owner_and_of_nobody_else),
        cmocka_unit_test(the_last_release_of_an_owner_ends_its_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
