/* Fork: the child of a process that has devices open gets a clear error for every call on them, whatever other threads
 * were doing, and may open devices of its own. A child that hangs is killed by its alarm, and the test fails. */
#include "threads.h"

#include <sys/wait.h>
#include <unistd.h>

enum { CHILD_SECONDS = 30, ITEMS = 1 << 16 };

/* The allocators of the address and the thread sanitizer do not survive a fork amid other threads: their locks stay
 * taken in the child. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ALLOCATOR_HANGS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ALLOCATOR_HANGS 1
#endif
#endif
#ifndef ALLOCATOR_HANGS
#define ALLOCATOR_HANGS 0
#endif

/* Children open devices, and those may start threads. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void) {
    return "die_after_fork=0";
}

typedef struct scene {
    rondo_device *device;
    kernels k;
    rondo_stream *streams[2];
    rondo_buffer buffer, large, block;
    rondo_event *event;
    rondo_graph *graph;
    _Atomic bool done;
} scene;

static void open_scene(scene *s) {
    rondo_device_desc desc = {.max_queues = 2, .workers = 3};
    uint64_t zero = 0;
    OK(rondo_device_open("cpu", &desc, &s->device));
    s->k = load_kernels(s->device);
    s->streams[0] = stream_on(s->device, 2, 0);
    s->streams[1] = stream_in(RONDO_STREAM_QUEUED, s->device, 2, 1);
    s->buffer = make_buffer(s->streams[0], 0);
    OK(rondo_buffer_create(s->streams[1], (uint64_t)ITEMS * 8, RONDO_USAGE_GENERAL, &s->large));
    OK(rondo_fill(s->streams[1], rondo_whole(s->large), &zero, 8, NULL));
    OK(rondo_host_create(s->streams[0], BYTES, &s->block));
    OK(rondo_event_create(s->device, &s->event));
    OK(rondo_event_record(s->streams[0], s->event, NULL));
    OK(rondo_capture_prepare(s->streams[0]));
    OK(rondo_capture_begin(s->streams[0]));
    OK(launch_bump(s->streams[0], &s->k, s->buffer));
    OK(rondo_capture_end(s->streams[0], RONDO_END_DEFAULT, &s->graph));
}

static void release_scene(scene *s) {
    rondo_graph_release(s->graph);
    rondo_event_release(s->event);
    rondo_buffer_release(s->buffer);
    rondo_buffer_release(s->large);
    rondo_buffer_release(s->block);
    for (int i = 0; i < 2; i++) rondo_stream_release(s->streams[i]);
    release_kernels(&s->k);
    rondo_device_release(s->device);
}

/* ---- in the child ---- */

#define FORKED(call)                                                                                                   \
    do {                                                                                                               \
        rondo_status forked_status_ = (call);                                                                          \
        if (rondo_status_code(forked_status_) != RONDO_FORKED) trouble(__FILE__, __LINE__, #call, forked_status_);     \
    } while (0)

static void call_objects(const scene *s) {
    rondo_device_info device_info;
    rondo_device_stats stats;
    rondo_pool_report report;
    rondo_stream *stream;
    rondo_event *event;
    rondo_graph_info graph_info;
    rondo_node_info node;
    rondo_buffer_info buffer_info;
    uint64_t value = 1;
    rondo_update update = rondo_update_value(0, "a", &value, 8);
    FORKED(rondo_device_get_info(s->device, &device_info));
    FORKED(rondo_device_sync(s->device));
    FORKED(rondo_device_trim(s->device, NULL));
    FORKED(rondo_device_get_stats(s->device, &stats));
    FORKED(rondo_pool_get_report(s->device, RONDO_POOL_SMALL, &report));
    FORKED(rondo_device_retain(s->device));
    FORKED(rondo_stream_create(s->device, &stream));
    FORKED(rondo_stream_retain(s->streams[0]));
    FORKED(rondo_event_create(s->device, &event));
    FORKED(rondo_event_retain(s->event));
    FORKED(rondo_event_status(s->event));
    FORKED(rondo_event_sync(s->event));
    FORKED(rondo_kernel_retain(s->k.bump));
    FORKED(rondo_graph_retain(s->graph));
    FORKED(rondo_graph_get_info(s->graph, &graph_info));
    FORKED(rondo_graph_get_node(s->graph, 0, &node));
    FORKED(rondo_graph_update(s->graph, &update, 1));
    FORKED(rondo_buffer_retain(s->buffer));
    FORKED(rondo_buffer_get_info(s->buffer, &buffer_info));
    FORKED(rondo_span_status(rondo_whole(s->buffer)));
    FORKED(rondo_host_wait(s->block));
    (void)rondo_host_is_idle(s->block);
    (void)rondo_host_data(s->block);
    (void)rondo_stream_is_capturing(s->streams[0]);
    (void)rondo_device_is_recording(s->device);
    (void)rondo_device_list_graphs(s->device, NULL, 0);
}

static void call_streams(const scene *s) {
    uint64_t words[WORDS] = {0};
    rondo_buffer buffer;
    rondo_graph *graph;
    void *data;
    for (int i = 0; i < 2; i++) {
        rondo_stream *stream = s->streams[i];
        FORKED(launch_bump(stream, &s->k, s->buffer));
        FORKED(rondo_fill(stream, rondo_whole(s->buffer), words, 8, NULL));
        FORKED(rondo_write(stream, rondo_whole(s->buffer), words, NULL));
        FORKED(rondo_copy(stream, rondo_slice(s->large, 0, BYTES), rondo_whole(s->buffer), NULL));
        FORKED(rondo_read(stream, rondo_whole(s->buffer), words, NULL));
        FORKED(rondo_read_async(stream, rondo_whole(s->buffer), rondo_whole(s->block), NULL));
        FORKED(rondo_map(stream, rondo_whole(s->buffer), RONDO_READS, &data));
        FORKED(rondo_unmap(stream, rondo_whole(s->buffer)));
        FORKED(rondo_buffer_create(stream, 64, RONDO_USAGE_GENERAL, &buffer));
        FORKED(rondo_host_create(stream, 64, &buffer));
        FORKED(rondo_stream_sync(stream));
        FORKED(rondo_stream_trim(stream));
        FORKED(rondo_profile_start(stream));
        FORKED(rondo_event_record(stream, s->event, NULL));
        FORKED(rondo_event_wait(stream, s->event, NULL));
        FORKED(rondo_capture_prepare(stream));
        FORKED(rondo_capture_begin(stream));
        FORKED(rondo_capture_abort(stream));
        FORKED(rondo_capture_end(stream, RONDO_END_DEFAULT, &graph));
        FORKED(rondo_graph_replay(s->graph, stream));
        FORKED(rondo_run_forget(stream, 1));
    }
}

static void use_own_device(void) {
    rondo_device *device = open_cpu(2);
    kernels k = load_kernels(device);
    rondo_stream *stream = stream_on(device, 2, 1);
    rondo_buffer buffer = make_buffer(stream, 4);
    NEED_OK(launch_bump(stream, &k, buffer));
    NEED(read_even(stream, buffer) == 5);
    NEED_OK(launch_fail(stream, &k, buffer));
    NEED(rondo_status_code(rondo_stream_sync(stream)) == RONDO_KERNEL);
    rondo_buffer_release(buffer);
    rondo_stream_release(stream);
    release_kernels(&k);
    rondo_device_release(device);
}

/* A build that counts which lines run: what ends by _exit must write its counts itself. */
#if defined(RDO_COVERAGE) && RDO_COVERAGE
void __gcov_dump(void);
#define DUMP_COUNTS() __gcov_dump()
#else
#define DUMP_COUNTS() (void)0
#endif

/* Never returns: cmocka belongs to the parent. */
static void be_child(scene *s) {
    (void)alarm(CHILD_SECONDS);
    call_objects(s);
    call_streams(s);
    release_scene(s);
    use_own_device();
    if (atomic_load(&in_trouble)) (void)fprintf(stderr, "in the child: %s\n", first_trouble);
    DUMP_COUNTS();
    _exit(atomic_load(&in_trouble) ? 1 : 0);
}

static void fork_once(scene *s) {
    int result = 0;
    pid_t child = fork();
    if (child == 0) {
        /* A thread may have been in the middle of telling a trouble; here no other thread exists. */
        (void)pthread_mutex_init(&trouble_lock, NULL);
        be_child(s);
    }
    NEED(child > 0);
    if (child <= 0) return;
    NEED(waitpid(child, &result, 0) == child);
    NEED(WIFEXITED(result) && WEXITSTATUS(result) == 0);
}

/* ---- in the parent ---- */

/* [E5] */
static void a_child_is_told_that_the_device_is_its_parents(void **state) {
    (void)state;
    scene s = {.device = NULL};
    open_scene(&s);
    fork_once(&s);
    expect_no_trouble();
    OK(launch_bump(s.streams[1], &s.k, s.buffer));
    OK(rondo_graph_replay(s.graph, s.streams[0]));
    assert_int_equal(read_even(s.streams[0], s.buffer), 2);
    release_scene(&s);
}

static void work_or_fork(int index, void *user) {
    scene *s = user;
    rondo_arg large = rondo_arg_buffer(s->large);
    uint64_t bumps = 0;
    if (index == 0) {
        for (int i = 0; i < 40 && !atomic_load(&in_trouble); i++) fork_once(s);
        atomic_store(&s->done, true);
        return;
    }
    /* Every lock of Rondo's is taken again and again here, and the crew is busy. */
    while (!atomic_load(&s->done)) {
        rondo_stream *stream = s->streams[index & 1], *another = NULL;
        rondo_buffer mine = make_buffer(stream, bumps);
        if (index == 1) NEED_OK(rondo_launch(stream, s->k.bump, rondo_grid_1d(ITEMS), &large, 1, NULL));
        NEED_OK(launch_bump(stream, &s->k, mine));
        NEED(read_even(stream, mine) == ++bumps);
        NEED_OK(launch_fail(stream, &s->k, mine));
        NEED(rondo_status_code(rondo_span_status(rondo_whole(mine))) == RONDO_TAINTED);
        NEED_OK(rondo_graph_replay(s->graph, stream));
        NEED_OK(rondo_stream_create(s->device, &another));
        rondo_stream_release(another);
        rondo_buffer_release(mine);
    }
}

/* [E5] Locks that other threads of the parent held stay taken in the child for ever; no call there may want them. */
static void a_child_forked_amid_work_of_other_threads_never_hangs(void **state) {
    (void)state;
    if (ALLOCATOR_HANGS) skip();
    scene s = {.device = NULL};
    open_scene(&s);
    run_threads(4, work_or_fork, &s);
    release_scene(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_is_told_that_the_device_is_its_parents),
        cmocka_unit_test(a_child_forked_amid_work_of_other_threads_never_hangs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
