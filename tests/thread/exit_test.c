/* Exit: a program may end with anything alive and anybody busy, and may release things afterwards. Each case is a run
 * of this same program with the name of a story; it must exit with 0, and is killed by its alarm if it hangs. */
#include "threads.h"

#include <sys/wait.h>
#include <unistd.h>

enum { STORY_SECONDS = 60, ITEMS = 1 << 16 };

/* The thread sanitizer would wait a second at each exit with threads alive. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void) {
    return "atexit_sleep_ms=0";
}

/* Whether the destructor at the end of the process has something to release. */
static struct scene {
    rondo_device *device;
    kernels k;
    rondo_stream *streams[2];
    rondo_buffer buffer, large, mapped;
    rondo_graph *graph;
    bool release_late;
    gate busy, never;
} scene = {.busy = GATE_INIT, .never = GATE_INIT};

/* Also what is odd: a window that records, a mapping, claims. */
static void make_everything(void) {
    rondo_device_desc desc = {.max_queues = 2, .workers = 3};
    void *data;
    uint64_t zero = 0;
    OK(rondo_device_open("cpu", &desc, &scene.device));
    scene.k = load_kernels(scene.device);
    scene.streams[0] = stream_on(scene.device, 2, 0);
    scene.streams[1] = stream_in(RONDO_STREAM_QUEUED, scene.device, 2, 1);
    scene.buffer = make_buffer(scene.streams[0], 1);
    scene.mapped = make_buffer(scene.streams[0], 2);
    OK(rondo_buffer_create(scene.streams[1], (uint64_t)ITEMS * 8, RONDO_USAGE_GENERAL, &scene.large));
    OK(rondo_fill(scene.streams[1], rondo_whole(scene.large), &zero, 8, NULL));
    OK(rondo_capture_prepare(scene.streams[0]));
    OK(rondo_capture_begin(scene.streams[0]));
    OK(launch_bump(scene.streams[0], &scene.k, scene.buffer));
    OK(rondo_capture_end(scene.streams[0], RONDO_END_DEFAULT, &scene.graph));
    OK(rondo_graph_replay(scene.graph, scene.streams[0]));
    OK(launch_fail(scene.streams[0], &scene.k, scene.buffer));
    OK(rondo_map(scene.streams[0], rondo_whole(scene.mapped), RONDO_READS_WRITES, &data));
}

static void open_window(void) {
    OK(rondo_capture_prepare(scene.streams[0]));
    OK(rondo_capture_begin(scene.streams[0]));
    OK(launch_bump(scene.streams[0], &scene.k, scene.large));
}

static void release_everything(void) {
    rondo_device_release(scene.device);
    rondo_buffer_release(scene.buffer);
    rondo_buffer_release(scene.mapped);
    rondo_graph_release(scene.graph);
    for (int i = 0; i < 2; i++) rondo_stream_release(scene.streams[i]);
    rondo_buffer_release(scene.large);
    release_kernels(&scene.k);
}

__attribute__((destructor)) static void late(void) {
    if (scene.release_late) release_everything();
}

/* ---- threads that stay busy ---- */

static void *work_for_ever(void *user) {
    rondo_arg arg = rondo_arg_buffer(scene.large);
    (void)user;
    for (uint64_t i = 0;; i++) {
        rondo_buffer buffer = RONDO_NO_BUFFER;
        NEED_OK(rondo_launch(scene.streams[1], scene.k.bump, rondo_grid_1d(ITEMS), &arg, 1, NULL));
        NEED_OK(rondo_buffer_create(scene.streams[1], BYTES, RONDO_USAGE_GENERAL, &buffer));
        rondo_buffer_release(buffer);
        if (i == 10) gate_add(&scene.busy, 1);
    }
    return NULL;
}

static int stay(void *user, const rondo_host_access *accesses, size_t count) {
    (void)user, (void)accesses, (void)count;
    gate_add(&scene.busy, 1);
    gate_await(&scene.never, 1);
    return 0;
}

static void *stay_inside(void *user) {
    (void)user;
    NEED_OK(rondo_host_call(scene.streams[0], stay, NULL, NULL, NULL, 0, NULL));
    return NULL;
}

static void *leave_from_a_thread(void *user) {
    (void)user;
    exit(0);
}

static void start(void *(*fn)(void *user)) {
    pthread_t thread;
    OK(pthread_create(&thread, NULL, fn, NULL) == 0 ? RONDO_OK : (rondo_status)RONDO_INTERNAL);
    (void)pthread_detach(thread);
}

/* ---- stories: each returns from main, or ends the process itself ---- */

static void work_late(void) {
    NEED_OK(launch_pair(scene.streams[0], &scene.k, scene.buffer, 3, 3));
    NEED(read_even(scene.streams[0], scene.buffer) == 3);
    NEED_OK(rondo_graph_replay(scene.graph, scene.streams[1]));
    NEED(read_even(scene.streams[0], scene.buffer) == 4);
    if (atomic_load(&in_trouble)) _exit(3);
}

static void story_all_alive(void) {
    make_everything();
    open_window();
}
static void story_threads_at_work(void) {
    make_everything();
    start(work_for_ever);
    start(work_for_ever);
    start(stay_inside);
    gate_await(&scene.busy, 3);
}
static void story_released_by_a_destructor(void) {
    make_everything();
    open_window();
    scene.release_late = true;
}
static void story_released_while_threads_work(void) {
    /* What the threads use stays; all around it goes. */
    make_everything();
    start(work_for_ever);
    start(work_for_ever);
    gate_await(&scene.busy, 2);
    rondo_buffer_release(scene.buffer);
    rondo_buffer_release(scene.mapped);
    rondo_graph_release(scene.graph);
    rondo_stream_release(scene.streams[0]);
    rondo_device_release(scene.device);
}
static void story_used_after_main(void) {
    make_everything();
    (void)atexit(work_late);
    scene.release_late = true;
}
static void story_exit_from_a_thread(void) {
    make_everything();
    start(work_for_ever);
    gate_await(&scene.busy, 1);
    start(leave_from_a_thread);
    gate_await(&scene.never, 1);
}

static const struct story {
    const char *name;
    void (*tell)(void);
} stories[] = {
    {"all alive", story_all_alive},
    {"threads at work", story_threads_at_work},
    {"released by a destructor", story_released_by_a_destructor},
    {"released while threads work", story_released_while_threads_work},
    {"used after main", story_used_after_main},
    {"exit from a thread", story_exit_from_a_thread},
};

static int tell_story(const char *name) {
    for (size_t i = 0; i < sizeof stories / sizeof stories[0]; i++) {
        if (strcmp(stories[i].name, name) != 0) continue;
        stories[i].tell();
        return atomic_load(&in_trouble) ? 1 : 0;
    }
    return 2;
}

/* ---- the test proper ---- */

static void expect_exit_0(const char *name) {
    int result = 0;
    pid_t child = fork();
    if (child == 0) {
        (void)alarm(STORY_SECONDS); /* outlives exec */
        (void)execl("/proc/self/exe", "exit_test", name, (char *)NULL);
        _exit(127);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &result, 0), child);
    if (WIFSIGNALED(result)) fail_msg("'%s' ended by signal %d", name, WTERMSIG(result));
    if (WEXITSTATUS(result) != 0) fail_msg("'%s' exited with %d", name, WEXITSTATUS(result));
}

static void repeat(const char *name, int rounds) {
    for (int i = 0; i < rounds; i++) expect_exit_0(name);
}

/* [E5] */
static void a_program_may_end_with_everything_alive(void **state) {
    (void)state;
    repeat("all alive", 3);
}
static void a_program_may_end_while_its_threads_are_in_calls(void **state) {
    (void)state;
    repeat("threads at work", 15);
}
static void a_program_may_release_everything_after_main(void **state) {
    (void)state;
    repeat("released by a destructor", 3);
}
static void a_program_may_release_things_while_its_threads_are_in_calls(void **state) {
    (void)state;
    repeat("released while threads work", 15);
}
static void a_program_may_use_everything_after_main(void **state) {
    (void)state;
    repeat("used after main", 3);
}
static void a_thread_may_end_the_program(void **state) {
    (void)state;
    repeat("exit from a thread", 15);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_may_end_with_everything_alive),
        cmocka_unit_test(a_program_may_end_while_its_threads_are_in_calls),
        cmocka_unit_test(a_program_may_release_everything_after_main),
        cmocka_unit_test(a_program_may_release_things_while_its_threads_are_in_calls),
        cmocka_unit_test(a_program_may_use_everything_after_main),
        cmocka_unit_test(a_thread_may_end_the_program),
    };
    if (argc > 1) return tell_story(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
