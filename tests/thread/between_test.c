/* What another thread does between the two looks of a call: the first without the device lock, the second under it.
 * The test holds that lock until the call waits for it, and releases meanwhile what the call has found already: so the
 * order is certain, where other tests leave it to chance. */
#include "threads.h"

#include <sched.h>

#include "device/device.h"

typedef struct scene {
    rondo_device *device;
    rdo_lock *lock;
    rondo_stream *a, *b; /* of different queues */
    kernels k;
    rondo_buffer x, y;   /* at home with a, and with b */
    rondo_graph *graph;  /* adds 1 to y */
    rondo_status answer;
} scene;

static scene open_scene(void) {
    scene s = {.device = open_cpu(2)};
    rdo_device *device = rdo_object_find(RDO_OBJECT_DEVICE, s.device);
    s.lock = &device->engine.books.lock;
    s.a = stream_on(s.device, 2, 0);
    s.b = stream_on(s.device, 2, 1);
    s.k = load_kernels(s.device);
    s.x = make_buffer(s.a, 1);
    s.y = make_buffer(s.b, 2);
    OK(rondo_capture_prepare(s.b));
    OK(rondo_capture_begin(s.b));
    OK(launch_bump(s.b, &s.k, s.y));
    OK(rondo_capture_end(s.b, RONDO_END_DEFAULT, &s.graph));
    return s;
}

/* The releases are of no effect where the test has released already. */
static void close_scene(scene *s) {
    rondo_graph_release(s->graph);
    rondo_buffer_release(s->x);
    rondo_buffer_release(s->y);
    release_kernels(&s->k);
    rondo_stream_release(s->a);
    rondo_stream_release(s->b);
    expect_empty(s->device);
    rondo_device_release(s->device);
}

/* Until some thread sleeps for the lock. */
static void await_contention(rdo_lock *lock) {
    while (atomic_load(&lock->word) != RDO_LOCK_AWAITED) (void)sched_yield();
}

typedef struct player {
    scene *s;
    rondo_status (*call)(const scene *s);
} player;

static void *play(void *user) {
    const player *p = user;
    p->s->answer = p->call(p->s);
    return NULL;
}

/* The answer of the call, in the middle of which `meanwhile` happens. */
static rondo_status between(scene *s, rondo_status (*call)(const scene *s), void (*meanwhile)(const scene *s)) {
    pthread_t thread;
    player p = {s, call};
    rdo_lock_take(s->lock);
    assert_int_equal(pthread_create(&thread, NULL, play, &p), 0);
    await_contention(s->lock);
    meanwhile(s);
    rdo_lock_give(s->lock);
    assert_int_equal(pthread_join(thread, NULL), 0);
    return s->answer;
}

static void release_x(const scene *s) {
    rdo_memory_unref(rdo_memory_find(s->x));
}
static void release_graph(const scene *s) {
    rdo_graph_unref(rdo_object_find(RDO_OBJECT_GRAPH, s->graph));
}

static rondo_status read_x(const scene *s) {
    uint64_t words[WORDS];
    return rondo_read(s->a, rondo_whole(s->x), words, NULL);
}
static rondo_status map_x(const scene *s) {
    void *data;
    return rondo_map(s->a, rondo_whole(s->x), RONDO_READS, &data);
}
static rondo_status launch_at_home(const scene *s) {
    return launch_bump(s->a, &s->k, s->x);
}
static rondo_status fill_at_home(const scene *s) {
    return rondo_fill(s->a, rondo_whole(s->x), "", 1, NULL);
}
static rondo_status launch_elsewhere(const scene *s) {
    return launch_bump(s->b, &s->k, s->x);
}
static rondo_status retain_x(const scene *s) {
    return rondo_buffer_retain(s->x);
}
static rondo_status release_x_as_well(const scene *s) {
    rondo_buffer_release(s->x);
    return RONDO_OK;
}
static rondo_status replay_elsewhere(const scene *s) {
    return rondo_graph_replay(s->graph, s->a);
}
static rondo_status release_graph_as_well(const scene *s) {
    rondo_graph_release(s->graph);
    return RONDO_OK;
}

/* [P1] [E2] Whatever is done with it. */
static void a_buffer_that_goes_between_look_up_and_use_is_stale(void **state) {
    static rondo_status (*const calls[])(const scene *s) = {read_x, map_x, launch_at_home, launch_elsewhere, retain_x};
    (void)state;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        scene s = open_scene();
        if (calls[i] == launch_at_home) OK(launch_fail(s.b, &s.k, s.y)); /* else it would not look under the lock */
        expect(between(&s, calls[i], release_x), RONDO_STALE);
        close_scene(&s);
    }
}

/* [E2] [P4] A queued stream's caller looks once more before he leaves the work to others. At home the buffer cannot end
 * during the call, so there he does the work himself. */
static void work_on_a_buffer_that_goes_is_not_left_pending(void **state) {
    (void)state;
    scene s = open_scene();
    const rdo_device *device = rdo_object_find(RDO_OBJECT_DEVICE, s.device);
    rondo_stream_release(s.a);
    s.a = stream_in(RONDO_STREAM_QUEUED, s.device, 2, 0);
    OK(between(&s, fill_at_home, release_x));
    assert_null(device->engine.order.first);
    close_scene(&s);
    s = open_scene();
    rondo_stream_release(s.b);
    s.b = stream_in(RONDO_STREAM_QUEUED, s.device, 2, 1);
    expect(between(&s, launch_elsewhere, release_x), RONDO_STALE);
    OK(rondo_stream_sync(s.b));
    close_scene(&s);
}

/* [P2] [C8] */
static void a_buffer_that_goes_before_its_work_is_kept_dooms_the_window(void **state) {
    rondo_graph *graph = NULL;
    (void)state;
    scene s = open_scene();
    OK(rondo_capture_prepare(s.b));
    OK(rondo_capture_begin(s.b));
    expect(between(&s, launch_elsewhere, release_x), RONDO_STALE);
    expect(rondo_capture_end(s.b, RONDO_END_DEFAULT, &graph), RONDO_DOOMED);
    close_scene(&s);
    s = open_scene();
    OK(rondo_capture_prepare(s.a));
    OK(rondo_capture_begin(s.a));
    expect(between(&s, fill_at_home, release_x), RONDO_STALE);
    expect(rondo_capture_end(s.a, RONDO_END_DEFAULT, &graph), RONDO_DOOMED);
    close_scene(&s);
}

/* [P3] [M3] At home it cannot end during the call: the release comes after it, and leaves the bytes to the graph. */
static void a_buffer_at_home_that_goes_while_its_work_is_kept_stays_for_the_graph(void **state) {
    rondo_graph *graph = NULL;
    (void)state;
    scene s = open_scene();
    OK(rondo_capture_prepare(s.a));
    OK(rondo_capture_begin(s.a));
    OK(between(&s, launch_at_home, release_x));
    OK(rondo_capture_end(s.a, RONDO_END_DEFAULT, &graph));
    rondo_buffer other = make_buffer(s.a, 5);
    for (int i = 0; i < 3; i++) OK(rondo_graph_replay(graph, s.a));
    assert_int_equal(read_even(s.a, other), 5);
    rondo_buffer_release(other);
    rondo_graph_release(graph);
    close_scene(&s);
}

/* [P3] [E2] */
static void a_graph_that_goes_between_look_up_and_replay_is_stale(void **state) {
    (void)state;
    scene s = open_scene();
    expect(between(&s, replay_elsewhere, release_graph), RONDO_STALE);
    assert_int_equal(read_even(s.b, s.y), 2);
    close_scene(&s);
}

/* [E5] The last reference is given back once, however many think that it is theirs. */
static void a_second_release_in_the_middle_of_the_first_does_nothing(void **state) {
    (void)state;
    scene s = open_scene();
    expect(between(&s, release_x_as_well, release_x), RONDO_OK);
    expect(between(&s, release_graph_as_well, release_graph), RONDO_OK);
    close_scene(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_buffer_that_goes_between_look_up_and_use_is_stale),
        cmocka_unit_test(work_on_a_buffer_that_goes_is_not_left_pending),
        cmocka_unit_test(a_buffer_that_goes_before_its_work_is_kept_dooms_the_window),
        cmocka_unit_test(a_buffer_at_home_that_goes_while_its_work_is_kept_stays_for_the_graph),
        cmocka_unit_test(a_graph_that_goes_between_look_up_and_replay_is_stale),
        cmocka_unit_test(a_second_release_in_the_middle_of_the_first_does_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
