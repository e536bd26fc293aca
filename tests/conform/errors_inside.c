/* Calls from inside kernels and host calls, calls after a fork, silence, and leaving at any moment. */
#include "conform.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test_kernels.kernels.h"

/* What a kernel or host call tried from inside. The case checks it later: a check inside would leave by a jump. */
#define TRIED_MAX 32
struct tried {
    struct conform *t;
    rondo_stream *other;
    rondo_kernel *kernel;
    rondo_event *event;
    rondo_buffer buffer, released, block;
    rondo_status known;
    rondo_status refused[TRIED_MAX];
    size_t refused_count;
    bool views_work, story_works;
};

static void refuse(struct tried *tried, rondo_status status) {
    if (tried->refused_count < TRIED_MAX) {
        tried->refused[tried->refused_count] = status;
        tried->refused_count += 1;
    }
}

static int noop_call(void *user, const rondo_host_access *accesses, size_t count) {
    (void)user;
    (void)accesses;
    (void)count;
    return 0;
}

static void try_work(struct tried *tried, rondo_stream *stream) {
    int32_t value = 1;
    rondo_span span = rondo_whole(tried->buffer);
    rondo_span block = rondo_whole(tried->block);
    refuse(tried, rondo_fill(stream, span, &value, 4, NULL));
    refuse(tried, rondo_write(stream, span, &(int64_t[2]){0, 0}, NULL));
    refuse(tried, rondo_read(stream, span, &(int64_t[2]){0, 0}, NULL));
    refuse(tried, rondo_copy(stream, span, span, NULL));
    refuse(tried, rondo_write_live(stream, span, block, NULL));
    refuse(tried, rondo_read_async(stream, span, block, NULL));
    refuse(tried, rondo_host_call(stream, noop_call, NULL, NULL, NULL, 0, NULL));
    refuse(tried, rondo_stream_sync(stream));
    refuse(tried, rondo_event_record(stream, tried->event, NULL));
    refuse(tried, rondo_capture_prepare(stream));
    refuse(tried, rondo_profile_start(stream));
    if (tried->kernel != NULL) {
        const rondo_arg args[] = {rondo_arg_span(span), rondo_arg_value(&value, 4)};
        refuse(tried, rondo_launch(stream, tried->kernel, rondo_grid_1d(4), args, 2, NULL));
    }
}

static void try_objects(struct tried *tried) {
    rondo_device *device = NULL;
    rondo_stream *stream = NULL;
    rondo_event *event = NULL;
    rondo_buffer buffer = RONDO_NO_BUFFER;
    rondo_device_stats stats;
    rondo_buffer_info info;
    refuse(tried, rondo_device_open(tried->t->backend, NULL, &device));
    refuse(tried, rondo_stream_create(tried->t->device, &stream));
    refuse(tried, rondo_event_create(tried->t->device, &event));
    refuse(tried, rondo_buffer_create(tried->t->stream, 64, RONDO_USAGE_GENERAL, &buffer));
    refuse(tried, rondo_device_sync(tried->t->device));
    refuse(tried, rondo_device_get_stats(tried->t->device, &stats));
    refuse(tried, rondo_buffer_get_info(tried->buffer, &info));
    refuse(tried, rondo_device_trim(tried->t->device, NULL));
}

/* What kernels and host calls may do. */
static void try_allowed(struct tried *tried) {
    rondo_fault fault;
    char text[256];
    tried->story_works = rondo_fault_get(tried->known, &fault) == RONDO_OK && fault.status == tried->known &&
                         rondo_fault_describe(tried->known, text, sizeof text) > 0 &&
                         rondo_fault_root(tried->known) == tried->known &&
                         strcmp(rondo_code_name(rondo_status_code(tried->known)), "RANGE") == 0;
    tried->views_work = !rondo_device_is_recording(tried->t->device) && !rondo_stream_is_capturing(tried->t->stream) &&
                        rondo_capture_phase(tried->other) == RONDO_PHASE_NONE &&
                        rondo_host_data(tried->block) != NULL;
    rondo_buffer_release(tried->released);
}

static void try_everything(struct tried *tried) {
    try_allowed(tried);
    try_work(tried, tried->t->stream);
    try_work(tried, tried->other);
    try_objects(tried);
}

static void prepare(struct conform *t, struct tried *tried) {
    tried->t = t;
    tried->other = conform_stranger(t, t->stream);
    tried->event = conform_event(t);
    tried->buffer = conform_buffer(t, 16);
    tried->block = conform_host_block(t, 16);
    tried->released = conform_buffer(t, 64);
    conform_fill_i32(t, tried->buffer, 50);
    char byte = 0;
    tried->known = CHECK_CODE(rondo_fill(t->stream, rondo_slice(tried->buffer, 0, 17), &byte, 1, NULL), RONDO_RANGE);
}

/* Everything was refused, and nothing of it happened. */
static void check_tried(struct conform *t, const struct tried *tried, size_t least) {
    CHECK(tried->refused_count >= least);
    for (size_t i = 0; i < tried->refused_count; i++) {
        CHECK_CODE(tried->refused[i], RONDO_REENTRANT);
    }
    CHECK(tried->story_works);
    CHECK(tried->views_work);
    CHECK_CODE(rondo_span_status(rondo_whole(tried->released)), RONDO_STALE);
    conform_expect_all_i32(t, tried->buffer, 50, 4);
    CHECK_OK(rondo_stream_sync(t->stream));
    CHECK_EQUAL(conform_stats(t).buffers, 1);
}

static int call_everything(void *user, const rondo_host_access *accesses, size_t count) {
    (void)accesses;
    (void)count;
    try_everything((struct tried *)user);
    return 0;
}

/* [E5] */
static void a_host_call_may_not_call_rondo(struct conform *t) {
    struct tried tried = {0};
    prepare(t, &tried);
    CHECK_OK(rondo_host_call(t->stream, call_everything, &tried, NULL, NULL, 0, NULL));
    CHECK_OK(rondo_stream_sync(t->stream));
    check_tried(t, &tried, 28);
}

static struct tried *kernel_tried;
static _Atomic int kernel_entered;

static void run_everything(const rondo_native_call *call) {
    (void)call;
    if (atomic_exchange(&kernel_entered, 1) == 0) {
        try_everything(kernel_tried);
    }
}

static rondo_kernel *inquisitive_kernel(struct conform *t, rondo_native_fn run) {
    static const rondo_param params[] = {{"y", RONDO_PARAM_INOUT, 4, 4, false}};
    const rondo_kernel_desc desc = {"inquisitive", params, 1, {0, 0, 0}, run, NULL, true, {0}};
    rondo_kernel *kernel = NULL;
    CHECK_OK(rondo_kernel_create(t->device, &desc, &kernel));
    return conform_keep_kernel(t, kernel);
}

/* [E5] */
static void a_kernel_may_not_call_rondo(struct conform *t) {
    struct tried tried = {0};
    prepare(t, &tried);
    tried.kernel = conform_kernel(t, KERNEL_SCALE);
    kernel_tried = &tried;
    rondo_arg arg = rondo_arg_buffer(tried.buffer);
    CHECK_OK(rondo_launch(t->stream, inquisitive_kernel(t, run_everything), rondo_grid_1d(4), &arg, 1, NULL));
    CHECK_OK(rondo_stream_sync(t->stream));
    check_tried(t, &tried, 32);
}

static _Atomic int refused_on_workers;

static void ask_from_worker(const rondo_native_call *call) {
    rondo_device_stats stats;
    rondo_status status = rondo_device_get_stats(kernel_tried->t->device, &stats);
    if (rondo_status_code(status) == RONDO_REENTRANT) {
        atomic_fetch_add(&refused_on_workers, 1);
    } else {
        rondo_native_fail(call, 1);
    }
}

/* [E5] Every thread that runs a part of the launch is inside it. */
static void no_worker_of_a_kernel_may_call_rondo(struct conform *t) {
    struct tried tried = {.t = t};
    kernel_tried = &tried;
    rondo_buffer buffer = conform_buffer(t, 4000000);
    conform_fill_i32(t, buffer, 0);
    rondo_arg arg = rondo_arg_buffer(buffer);
    CHECK_OK(rondo_launch(t->stream, inquisitive_kernel(t, ask_from_worker), rondo_grid_1d(1000000), &arg, 1, NULL));
    CHECK_OK(rondo_stream_sync(t->stream));
    CHECK(atomic_load(&refused_on_workers) > 0);
}

/* [E5] Afterwards everything is allowed again. */
static void after_a_host_call_rondo_may_be_called(struct conform *t) {
    CHECK_OK(rondo_host_call(t->stream, noop_call, NULL, NULL, NULL, 0, NULL));
    rondo_buffer buffer = conform_buffer(t, 64);
    conform_spoil(t->stream, rondo_whole(buffer), NULL);
    conform_fill_i32(t, buffer, 1);
    CHECK_EQUAL(conform_read_i32(t, buffer, 0), 1);
}

struct release_inside {
    rondo_stream *stream;
    rondo_buffer buffers[8];
    rondo_event *event;
    int releases;
};

static int release_everything(void *user, const rondo_host_access *accesses, size_t count) {
    struct release_inside *inside = (struct release_inside *)user;
    (void)accesses;
    (void)count;
    for (size_t i = 0; i < 8; i++) {
        rondo_buffer_release(inside->buffers[i]);
    }
    rondo_event_release(inside->event);
    rondo_stream_release(inside->stream);
    return 0;
}

static void count_release(void *user) {
    ((struct release_inside *)user)->releases += 1;
}

/* [E5] A host call may release everything, its own stream and the bytes that it declared included. */
static void a_host_call_may_release_everything(struct conform *t) {
    struct release_inside inside = {0};
    CHECK_OK(rondo_stream_create(t->device, &inside.stream));
    CHECK_OK(rondo_event_create(t->device, &inside.event));
    CHECK_OK(rondo_host_create(inside.stream, 4096, &inside.buffers[0]));
    for (size_t i = 1; i < 8; i++) {
        CHECK_OK(rondo_buffer_create(inside.stream, 4096, RONDO_USAGE_GENERAL, &inside.buffers[i]));
    }
    rondo_host_access access = {rondo_whole(inside.buffers[0]), RONDO_WRITES, NULL};
    CHECK_OK(rondo_host_call(inside.stream, release_everything, &inside, count_release, &access, 1, NULL));
    CHECK_OK(rondo_device_sync(t->device));
    CHECK_EQUAL(inside.releases, 1);
    CHECK_CODE(rondo_stream_sync(inside.stream), RONDO_STALE);
    CHECK_EQUAL(conform_stats(t).buffers, 0);
    CHECK_EQUAL(conform_stats(t).host_blocks, 0);
    CHECK_EQUAL(conform_stats(t).events, 0);
    CHECK_EQUAL(conform_stats(t).streams, 1);
}

struct callback {
    struct conform *t;
    int calls, good;
};

static void use_rondo(void *user) {
    struct callback *callback = (struct callback *)user;
    rondo_buffer buffer = RONDO_NO_BUFFER;
    int32_t value = 2;
    callback->calls += 1;
    callback->good = rondo_buffer_create(callback->t->stream, 64, RONDO_USAGE_GENERAL, &buffer) == RONDO_OK &&
                     rondo_fill(callback->t->stream, rondo_whole(buffer), &value, 4, NULL) == RONDO_OK &&
                     rondo_device_sync(callback->t->device) == RONDO_OK;
    rondo_buffer_release(buffer);
}

/* [E5] */
static void a_release_callback_may_call_rondo(struct conform *t) {
    static unsigned char bytes[64];
    struct callback callback = {t, 0, 0};
    rondo_buffer block = RONDO_NO_BUFFER;
    CHECK_OK(rondo_host_import(t->stream, bytes, sizeof bytes, use_rondo, &callback, &block));
    rondo_buffer_release(block);
    CHECK_OK(rondo_device_sync(t->device));
    CHECK_EQUAL(callback.calls, 1);
    CHECK(callback.good);
}

/* [E5] So may that of a host call, once the call is over. */
static void the_release_callback_of_a_host_call_may_call_rondo(struct conform *t) {
    struct callback callback = {t, 0, 0};
    CHECK_OK(rondo_host_call(t->stream, noop_call, &callback, use_rondo, NULL, 0, NULL));
    CHECK_OK(rondo_device_sync(t->device));
    CHECK_EQUAL(callback.calls, 1);
    CHECK(callback.good);
}

static rondo_device *device_to_release;

static int release_the_device(void *user, const rondo_host_access *accesses, size_t count) {
    (void)accesses;
    (void)count;
    rondo_stream_release((rondo_stream *)user);
    rondo_device_release(device_to_release);
    return 0;
}

/* [E5] */
static void a_host_call_may_close_its_device(struct conform *t) {
    rondo_stream *stream = NULL;
    CHECK_OK(rondo_device_open(t->backend, NULL, &device_to_release));
    CHECK_OK(rondo_stream_create(device_to_release, &stream));
    CHECK_OK(rondo_host_call(stream, release_the_device, stream, NULL, NULL, 0, NULL));
    CHECK_CODE(rondo_device_retain(device_to_release), RONDO_STALE);
    CHECK_CODE(rondo_stream_sync(stream), RONDO_STALE);
}

/* Runs `body` in a forked child, which leaves through exit; its exit code. */
static int in_child(struct conform *t, int (*body)(struct conform *t)) {
    fflush(NULL);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        alarm(60);
        exit(body(t));
    }
    int result = 0;
    CHECK_EQUAL(waitpid(pid, &result, 0), pid);
    if (WIFSIGNALED(result)) {
        fail_msg("the child ended by signal %d", WTERMSIG(result));
    }
    return WEXITSTATUS(result);
}

static rondo_buffer parents_buffer;
static rondo_event *parents_event;

/* The number of calls that did not say FORKED. */
static int call_parents_device(struct conform *t) {
    rondo_span span = rondo_whole(parents_buffer);
    int64_t bytes[2] = {0, 0};
    rondo_buffer buffer = RONDO_NO_BUFFER;
    rondo_stream *stream = NULL;
    const rondo_status statuses[] = {
        rondo_fill(t->stream, span, bytes, 4, NULL),
        rondo_write(t->stream, span, bytes, NULL),
        rondo_read(t->stream, span, bytes, NULL),
        rondo_copy(t->stream, span, span, NULL),
        rondo_stream_sync(t->stream),
        rondo_device_sync(t->device),
        rondo_stream_create(t->device, &stream),
        rondo_buffer_create(t->stream, 64, RONDO_USAGE_GENERAL, &buffer),
        rondo_host_call(t->stream, noop_call, NULL, NULL, NULL, 0, NULL),
        rondo_capture_prepare(t->stream),
        rondo_event_record(t->stream, parents_event, NULL),
        rondo_event_sync(parents_event),
        rondo_profile_start(t->stream),
        rondo_device_trim(t->device, NULL),
    };
    int wrong = 0;
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        if (rondo_status_code(statuses[i]) != RONDO_FORKED) {
            print_error("call %zu: %s\n", i, rondo_code_name(rondo_status_code(statuses[i])));
            wrong += 1;
        }
    }
    return wrong;
}

/* [E5] */
static void a_child_cannot_use_its_parents_device(struct conform *t) {
    parents_buffer = conform_buffer(t, 16);
    parents_event = conform_event(t);
    conform_fill_i32(t, parents_buffer, 7);
    CHECK_OK(rondo_event_record(t->stream, parents_event, NULL));
    CHECK_EQUAL(in_child(t, call_parents_device), 0);
    conform_expect_all_i32(t, parents_buffer, 7, 4);
}

static int releases_in_child;

static void count_in_child(void *user) {
    (void)user;
    releases_in_child += 1;
}

static int release_parents_objects(struct conform *t) {
    rondo_buffer_release(parents_buffer);
    rondo_event_release(parents_event);
    rondo_stream_release(t->stream);
    rondo_device_release(t->device);
    rondo_device_release(t->device);
    return releases_in_child;
}

/* [E5] */
static void in_a_child_release_is_silent(struct conform *t) {
    static unsigned char bytes[64];
    CHECK_OK(rondo_host_import(t->stream, bytes, sizeof bytes, count_in_child, NULL, &parents_buffer));
    parents_event = conform_event(t);
    CHECK_EQUAL(in_child(t, release_parents_objects), 0);
    CHECK_EQUAL(releases_in_child, 0);
    CHECK_OK(rondo_host_wait(parents_buffer));
    CHECK_OK(rondo_stream_sync(t->stream));
    rondo_buffer_release(parents_buffer);
    CHECK_EQUAL(releases_in_child, 1);
}

static int use_own_device(struct conform *t) {
    rondo_device *device = NULL;
    rondo_stream *stream = NULL;
    rondo_buffer buffer = RONDO_NO_BUFFER;
    int32_t value = 6;
    int32_t out = 0;
    bool good = rondo_device_open(t->backend, NULL, &device) == RONDO_OK &&
                rondo_stream_create(device, &stream) == RONDO_OK &&
                rondo_buffer_create(stream, 64, RONDO_USAGE_GENERAL, &buffer) == RONDO_OK &&
                rondo_fill(stream, rondo_whole(buffer), &value, 4, NULL) == RONDO_OK &&
                rondo_read(stream, rondo_slice(buffer, 0, 4), &out, NULL) == RONDO_OK && out == 6;
    rondo_buffer_release(buffer);
    rondo_stream_release(stream);
    rondo_device_release(device);
    return good ? 0 : 1;
}

/* [E5] The thread sanitizer does not survive a new thread in the child of a process that has some. */
static void a_child_may_open_a_device_of_its_own(struct conform *t) {
#if defined(__SANITIZE_THREAD__)
    if (conform_queued) {
        return;
    }
#endif
    rondo_buffer buffer = conform_buffer(t, 64);
    conform_fill_i32(t, buffer, 1);
    CHECK_EQUAL(in_child(t, use_own_device), 0);
    CHECK_EQUAL(conform_read_i32(t, buffer, 0), 1);
}

static int tell_parents_story(struct conform *t) {
    (void)t;
    rondo_fault fault;
    rondo_status status = kernel_tried->known;
    return rondo_fault_get(status, &fault) == RONDO_OK && strcmp(fault.label, "before") == 0 ? 0 : 1;
}

/* [E1, E5] */
static void a_child_can_tell_its_parents_stories(struct conform *t) {
    struct tried tried = {0};
    char byte = 0;
    tried.known =
        CHECK_CODE(rondo_fill(t->stream, rondo_whole(RONDO_NO_BUFFER), &byte, 1, "before"), RONDO_STALE);
    kernel_tried = &tried;
    CHECK_EQUAL(in_child(t, tell_parents_story), 0);
}

static int leave_everything_open(struct conform *t) {
    rondo_device *device = NULL;
    rondo_stream *stream = NULL;
    rondo_buffer buffer = RONDO_NO_BUFFER;
    int32_t value = 6;
    bool good = rondo_device_open(t->backend, NULL, &device) == RONDO_OK &&
                rondo_stream_create(device, &stream) == RONDO_OK &&
                rondo_buffer_create(stream, 1 << 20, RONDO_USAGE_GENERAL, &buffer) == RONDO_OK &&
                rondo_fill(stream, rondo_whole(buffer), &value, 4, NULL) == RONDO_OK &&
                rondo_capture_prepare(stream) == RONDO_OK && rondo_capture_begin(stream) == RONDO_OK;
    return good ? 0 : 1;
}

/* [E5] */
static void a_process_may_exit_with_everything_open(struct conform *t) {
    CHECK_EQUAL(in_child(t, leave_everything_open), 0);
}

static int leave_workers_running(struct conform *t) {
    rondo_device *device = NULL;
    rondo_stream *stream = NULL;
    rondo_kernel *kernel = NULL;
    rondo_buffer buffer = RONDO_NO_BUFFER;
    bool good = rondo_device_open(t->backend, NULL, &device) == RONDO_OK &&
                rondo_stream_create(device, &stream) == RONDO_OK &&
                iota_i32_create(device, &kernel) == RONDO_OK &&
                rondo_buffer_create(stream, 4000000, RONDO_USAGE_GENERAL, &buffer) == RONDO_OK &&
                iota_i32_launch(stream, kernel, rondo_grid_1d(1000000), rondo_whole(buffer), 0, NULL) == RONDO_OK;
    return good ? 0 : 1;
}

/* [E5] */
static void a_process_may_exit_while_workers_wait(struct conform *t) {
    CHECK_EQUAL(in_child(t, leave_workers_running), 0);
}

static int fail_aloud(struct conform *t) {
    char path[] = "/tmp/rondo-conform-XXXXXX";
    int file = mkstemp(path);
    if (file < 0 || unlink(path) != 0 || dup2(file, STDOUT_FILENO) < 0 || dup2(file, STDERR_FILENO) < 0) {
        return 2;
    }
    rondo_device *device = NULL;
    rondo_stream *stream = NULL;
    rondo_buffer buffer = RONDO_NO_BUFFER;
    char byte = 0;
    bool failed = rondo_device_open("no-such-device", NULL, &device) != RONDO_OK &&
                  rondo_device_open(t->backend, NULL, &device) == RONDO_OK &&
                  rondo_stream_create(device, &stream) == RONDO_OK &&
                  rondo_fill(stream, rondo_whole(buffer), &byte, 1, NULL) != RONDO_OK &&
                  rondo_buffer_create(stream, UINT64_MAX, RONDO_USAGE_GENERAL, &buffer) != RONDO_OK &&
                  rondo_capture_begin(stream) != RONDO_OK;
    rondo_stream_release(stream);
    rondo_device_release(device);
    fflush(NULL);
    return failed && lseek(file, 0, SEEK_END) == 0 ? 0 : 1;
}

/* [E4] */
static void failures_are_not_printed(struct conform *t) {
    CHECK_EQUAL(in_child(t, fail_aloud), 0);
}

const struct conform_case conform_errors_inside_cases[] = {
    CONFORM_CASE(a_host_call_may_not_call_rondo, NEEDS_NOTHING),
    CONFORM_CASE(a_kernel_may_not_call_rondo, NEEDS_NATIVE),
    CONFORM_CASE(no_worker_of_a_kernel_may_call_rondo, NEEDS_NATIVE),
    CONFORM_CASE(after_a_host_call_rondo_may_be_called, NEEDS_FAILURES),
    CONFORM_CASE(a_host_call_may_release_everything, NEEDS_NOTHING),
    CONFORM_CASE(a_release_callback_may_call_rondo, NEEDS_NOTHING),
    CONFORM_CASE(the_release_callback_of_a_host_call_may_call_rondo, NEEDS_NOTHING),
    CONFORM_CASE(a_host_call_may_close_its_device, NEEDS_NOTHING),
    CONFORM_CASE(a_child_cannot_use_its_parents_device, NEEDS_NOTHING),
    CONFORM_CASE(in_a_child_release_is_silent, NEEDS_NOTHING),
    CONFORM_CASE(a_child_may_open_a_device_of_its_own, NEEDS_NOTHING),
    CONFORM_CASE(a_child_can_tell_its_parents_stories, NEEDS_NOTHING),
    CONFORM_CASE(a_process_may_exit_with_everything_open, NEEDS_NOTHING),
    CONFORM_CASE(a_process_may_exit_while_workers_wait, NEEDS_NATIVE),
    CONFORM_CASE(failures_are_not_printed, NEEDS_NOTHING),
    CONFORM_END,
};
