/* What the thread tests share: threads that start together, troubles told from any thread, seeds, gates, kernels that
 * check themselves. cmocka's asserts leave a test by a long jump, which only the thread that runs it may do; others use
 * the NEED macros, and run_threads fails the test when all are back. */
#ifndef TEST_THREAD_THREADS_H
#define TEST_THREAD_THREADS_H

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <rondo/rondo.h>

/* ---- troubles ---- */

static pthread_mutex_t trouble_lock = PTHREAD_MUTEX_INITIALIZER;
static char first_trouble[1024];
static _Atomic bool in_trouble;

/* Keeps the first. */
static inline void trouble(const char *file, int line, const char *text, rondo_status status) {
    (void)pthread_mutex_lock(&trouble_lock);
    if (!atomic_load(&in_trouble)) {
        int used = snprintf(first_trouble, sizeof first_trouble, "%s:%d: %s ", file, line, text);
        if (status != RONDO_OK && used > 0 && (size_t)used < sizeof first_trouble) {
            (void)rondo_fault_describe(status, first_trouble + used, sizeof first_trouble - (size_t)used);
        }
        atomic_store(&in_trouble, true);
    }
    (void)pthread_mutex_unlock(&trouble_lock);
}

#define NEED(condition) ((condition) ? (void)0 : trouble(__FILE__, __LINE__, #condition, RONDO_OK))
#define NEED_OK(call)                                                                                                  \
    do {                                                                                                               \
        rondo_status need_status_ = (call);                                                                            \
        if (need_status_ != RONDO_OK) trouble(__FILE__, __LINE__, #call, need_status_);                                \
    } while (0)

static inline void expect_no_trouble(void) {
    if (atomic_exchange(&in_trouble, false)) fail_msg("%s", first_trouble);
}

/* The same for the thread that runs the test. */
#define OK(call)                                                                                                       \
    do {                                                                                                               \
        NEED_OK(call);                                                                                                 \
        expect_no_trouble();                                                                                           \
    } while (0)

/* Whether the code of `status` is in the list that 0 ends. RONDO_OK is always. */
static inline bool is_one_of(rondo_status status, ...) {
    va_list list;
    int code = (int)rondo_status_code(status), wanted;
    bool found = status == RONDO_OK;
    va_start(list, status);
    while ((wanted = va_arg(list, int)) != 0) found = found || wanted == code;
    va_end(list);
    return found;
}
#define NEED_ONE_OF(status, ...)                                                                                       \
    (is_one_of((status), __VA_ARGS__, 0) ? (void)0                                                                     \
                                         : trouble(__FILE__, __LINE__, #status " is none of " #__VA_ARGS__, (status)))

/* ---- seeds ---- */

static inline uint64_t next_random(uint64_t *state) {
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}
static inline uint32_t below(uint64_t *state, uint32_t limit) {
    return (uint32_t)(next_random(state) % limit);
}
/* The seed of this run: RONDO_SEED, or a fixed one. Printed, so that a failure says what to run again. */
static inline uint64_t test_seed(void) {
    const char *text = getenv("RONDO_SEED");
    uint64_t seed = text != NULL ? strtoull(text, NULL, 0) : UINT64_C(20260101);
    print_message("seed %llu (RONDO_SEED sets it)\n", (unsigned long long)seed);
    return seed;
}

/* ---- threads ---- */

enum { MOST_THREADS = 16 };

typedef void (*thread_fn)(int index, void *user);

typedef struct thread_start {
    pthread_t thread;
    pthread_barrier_t *barrier;
    thread_fn fn;
    void *user;
    int index;
} thread_start;

static inline void *thread_main(void *user) {
    thread_start *start = user;
    (void)pthread_barrier_wait(start->barrier);
    start->fn(start->index, start->user);
    return NULL;
}

/* Runs `count` threads that start together, waits for them, and fails the test if one was in trouble. */
static inline void run_threads(int count, thread_fn fn, void *user) {
    thread_start starts[MOST_THREADS];
    pthread_barrier_t barrier;
    assert_int_equal(pthread_barrier_init(&barrier, NULL, (unsigned)count), 0);
    for (int i = 0; i < count; i++) {
        starts[i] = (thread_start){.barrier = &barrier, .fn = fn, .user = user, .index = i};
        assert_int_equal(pthread_create(&starts[i].thread, NULL, thread_main, &starts[i]), 0);
    }
    for (int i = 0; i < count; i++) assert_int_equal(pthread_join(starts[i].thread, NULL), 0);
    (void)pthread_barrier_destroy(&barrier);
    expect_no_trouble();
}

/* Something that one thread says and others wait for. */
typedef struct gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t value;
} gate;

#define GATE_INIT {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0}

static inline void gate_set(gate *g, uint64_t value) {
    (void)pthread_mutex_lock(&g->lock);
    g->value = value;
    (void)pthread_cond_broadcast(&g->changed);
    (void)pthread_mutex_unlock(&g->lock);
}
static inline void gate_add(gate *g, uint64_t value) {
    (void)pthread_mutex_lock(&g->lock);
    g->value += value;
    (void)pthread_cond_broadcast(&g->changed);
    (void)pthread_mutex_unlock(&g->lock);
}
/* Waits until the value is at least `value`. */
static inline void gate_await(gate *g, uint64_t value) {
    (void)pthread_mutex_lock(&g->lock);
    while (g->value < value) (void)pthread_cond_wait(&g->changed, &g->lock);
    (void)pthread_mutex_unlock(&g->lock);
}

/* Where a host call, given this as its user pointer, says that it is inside and waits to be told to go on. */
typedef struct stop {
    gate inside, go_on;
} stop;

#define STOP_INIT {GATE_INIT, GATE_INIT}

static inline int stop_here(void *user, const rondo_host_access *accesses, size_t count) {
    stop *s = user;
    (void)accesses, (void)count;
    gate_add(&s->inside, 1);
    gate_await(&s->go_on, 1);
    return 0;
}

/* The call ended with this code; for the thread that runs the test. */
static inline void expect(rondo_status status, rondo_code code) {
    if (rondo_status_code(status) == code) return;
    char text[512];
    (void)rondo_fault_describe(status, text, sizeof text);
    fail_msg("expected %s: %s", rondo_code_name(code), text);
}

/* ---- graphs as text ---- */

typedef struct dumped {
    char bytes[4096];
    size_t length;
} dumped;

/* What rondo_graph_dump is given, with a `dumped` as its user pointer. */
static inline void keep_text(void *user, const char *bytes, size_t length) {
    dumped *t = user;
    bool fits = t->length + length < sizeof t->bytes;
    NEED(fits);
    if (!fits) return;
    memcpy(t->bytes + t->length, bytes, length);
    t->length += length;
}

/* ---- kernels ---- */

enum { WORDS = 64 }; /* words of the buffers that these kernels work on */
#define BYTES ((uint64_t)WORDS * 8)

static inline void nothing_native(const rondo_native_call *call) {
    (void)call;
}
/* Adds 1 to each word. */
static inline void bump_native(const rondo_native_call *call) {
    uint64_t *x = call->args[0];
    for (uint64_t i = call->first; i < call->last; i++) x[i]++;
}
static inline void add_native(const rondo_native_call *call) {
    uint64_t *x = call->args[0], amount;
    memcpy(&amount, call->args[1], sizeof amount);
    for (uint64_t i = call->first; i < call->last; i++) x[i] += amount;
}
static inline void copy_native(const rondo_native_call *call) {
    const uint64_t *x = call->args[0];
    uint64_t *y = call->args[1];
    for (uint64_t i = call->first; i < call->last; i++) y[i] = x[i];
}
static inline void sum_native(const rondo_native_call *call) {
    const uint64_t *x = call->args[0], *y = call->args[1];
    uint64_t *z = call->args[2];
    for (uint64_t i = call->first; i < call->last; i++) z[i] = x[i] + y[i];
}
/* Even words get a, odd ones b. */
static inline void pair_native(const rondo_native_call *call) {
    uint64_t *x = call->args[0], values[2];
    memcpy(&values[0], call->args[1], 8);
    memcpy(&values[1], call->args[2], 8);
    for (uint64_t i = call->first; i < call->last; i++) x[i] = values[i & 1];
}
/* Writes v to half of the words and fails. */
static inline void fail_native(const rondo_native_call *call) {
    uint64_t *x = call->args[0];
    for (uint64_t i = call->first; i < call->last; i += 2) x[i] = UINT64_C(0xbadbadbadbad);
    rondo_native_fail(call, 3);
}

typedef struct kernels {
    rondo_kernel *bump, *add, *copy, *sum, *pair, *fail;
} kernels;

static inline rondo_kernel *load(rondo_device *device, const char *name, rondo_native_fn fn, const rondo_param *params,
                                 size_t count) {
    rondo_kernel *kernel = NULL;
    rondo_kernel_desc desc = {
        .name = name, .params = params, .param_count = count, .native = fn, .can_fail = fn == fail_native};
    NEED_OK(rondo_kernel_create(device, &desc, &kernel));
    return kernel;
}

static inline kernels load_kernels(rondo_device *device) {
    static const rondo_param bump[] = {{"x", RONDO_PARAM_INOUT, 8, 8, false}};
    static const rondo_param add[] = {{"x", RONDO_PARAM_INOUT, 8, 8, false},
                                      {"amount", RONDO_PARAM_VALUE, 8, 8, false}};
    static const rondo_param copy[] = {{"x", RONDO_PARAM_IN, 8, 8, false}, {"y", RONDO_PARAM_OUT, 8, 8, false}};
    static const rondo_param sum[] = {
        {"x", RONDO_PARAM_IN, 8, 8, false}, {"y", RONDO_PARAM_IN, 8, 8, false}, {"z", RONDO_PARAM_OUT, 8, 8, false}};
    static const rondo_param pair[] = {{"x", RONDO_PARAM_OUT, 8, 8, false},
                                       {"a", RONDO_PARAM_VALUE, 8, 8, false},
                                       {"b", RONDO_PARAM_VALUE, 8, 8, false}};
    static const rondo_param fail[] = {{"x", RONDO_PARAM_OUT, 8, 8, false}};
    kernels k;
    k.bump = load(device, "bump", bump_native, bump, 1);
    k.add = load(device, "add", add_native, add, 2);
    k.copy = load(device, "copy", copy_native, copy, 2);
    k.sum = load(device, "sum", sum_native, sum, 3);
    k.pair = load(device, "pair", pair_native, pair, 3);
    k.fail = load(device, "fail", fail_native, fail, 1);
    return k;
}

static inline void release_kernels(kernels *k) {
    rondo_kernel *all[] = {k->bump, k->add, k->copy, k->sum, k->pair, k->fail};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) rondo_kernel_release(all[i]);
}

static inline rondo_status launch_bump(rondo_stream *stream, const kernels *k, rondo_buffer x) {
    rondo_arg arg = rondo_arg_buffer(x);
    return rondo_launch(stream, k->bump, rondo_grid_1d(WORDS), &arg, 1, "bump");
}
static inline rondo_status launch_copy(rondo_stream *stream, const kernels *k, rondo_buffer x, rondo_buffer y) {
    rondo_arg args[] = {rondo_arg_buffer(x), rondo_arg_buffer(y)};
    return rondo_launch(stream, k->copy, rondo_grid_1d(WORDS), args, 2, "copy");
}
static inline rondo_status launch_sum(rondo_stream *stream, const kernels *k, rondo_buffer x, rondo_buffer y,
                                      rondo_buffer z) {
    rondo_arg args[] = {rondo_arg_buffer(x), rondo_arg_buffer(y), rondo_arg_buffer(z)};
    return rondo_launch(stream, k->sum, rondo_grid_1d(WORDS), args, 3, "sum");
}
static inline rondo_status launch_pair(rondo_stream *stream, const kernels *k, rondo_buffer x, uint64_t a, uint64_t b) {
    rondo_arg args[] = {rondo_arg_buffer(x), rondo_arg_value(&a, 8), rondo_arg_value(&b, 8)};
    return rondo_launch(stream, k->pair, rondo_grid_1d(WORDS), args, 3, "pair");
}
static inline rondo_status launch_fail(rondo_stream *stream, const kernels *k, rondo_buffer x) {
    rondo_arg arg = rondo_arg_buffer(x);
    return rondo_launch(stream, k->fail, rondo_grid_1d(WORDS), &arg, 1, "fail");
}

/* ---- devices, streams, buffers ---- */

static inline rondo_device *open_cpu(uint32_t queues) {
    rondo_device *device = NULL;
    rondo_device_desc desc = {.max_queues = queues, .workers = 1};
    NEED_OK(rondo_device_open("cpu", &desc, &device));
    return device;
}

/* A stream on the given queue of a device that has `queues` of them. */
static inline rondo_stream *stream_in(rondo_stream_mode mode, rondo_device *device, uint32_t queues, uint32_t queue) {
    for (;;) {
        rondo_stream *stream = NULL;
        const rondo_stream_desc desc = {.mode = mode};
        rondo_status status = rondo_stream_create_with(device, &desc, &stream);
        if (status != RONDO_OK) {
            trouble(__FILE__, __LINE__, "no stream", status);
            return NULL;
        }
        if (rondo_stream_id(stream) % queues == queue) return stream;
        rondo_stream_release(stream);
    }
}

static inline rondo_stream *stream_on(rondo_device *device, uint32_t queues, uint32_t queue) {
    return stream_in(RONDO_STREAM_DIRECT, device, queues, queue);
}

/* A buffer of WORDS words, each `value`. */
static inline rondo_buffer make_buffer(rondo_stream *stream, uint64_t value) {
    rondo_buffer buffer = RONDO_NO_BUFFER;
    NEED_OK(rondo_buffer_create(stream, BYTES, RONDO_USAGE_GENERAL, &buffer));
    NEED_OK(rondo_fill(stream, rondo_whole(buffer), &value, 8, NULL));
    return buffer;
}

/* A window that opens without a warm-up, and closes into a graph. */
static inline void begin_window(rondo_stream *stream) {
    OK(rondo_capture_prepare(stream));
    OK(rondo_capture_begin(stream));
}
static inline rondo_graph *seal_window(rondo_stream *stream) {
    rondo_graph *graph = NULL;
    OK(rondo_capture_end(stream, RONDO_END_DEFAULT, &graph));
    return graph;
}

/* Whether all words are the same. */
static inline bool is_even(const uint64_t *words, size_t count) {
    for (size_t i = 1; i < count; i++) {
        if (words[i] != words[0]) return false;
    }
    return true;
}

/* Reads a buffer whose words must all be the same, and returns that. */
static inline uint64_t read_even(rondo_stream *stream, rondo_buffer buffer) {
    uint64_t words[WORDS] = {0};
    NEED_OK(rondo_read(stream, rondo_whole(buffer), words, NULL));
    NEED(is_even(words, WORDS));
    return words[0];
}

/* Nothing is left on the device but what is passed; called at the end of a test, with the device still open. */
static inline void expect_empty(rondo_device *device) {
    rondo_device_stats stats;
    OK(rondo_device_get_stats(device, &stats));
    assert_int_equal(stats.streams, 0);
    assert_int_equal(stats.graphs, 0);
    assert_int_equal(stats.buffers, 0);
    assert_int_equal(stats.host_blocks, 0);
    assert_int_equal(stats.events, 0);
    assert_int_equal(stats.kernels, 0);
    assert_int_equal(stats.tainted_allocations, 0);
    OK(rondo_device_trim(device, NULL));
    for (int kind = 0; kind < RONDO_POOL_KINDS; kind++) {
        rondo_pool_report report;
        OK(rondo_pool_get_report(device, (rondo_pool_kind)kind, &report));
        assert_int_equal(report.allocations, 0);
        assert_int_equal(report.in_use_bytes, 0);
        assert_int_equal(report.guarded_bytes, 0);
        assert_int_equal(report.reserved_bytes, 0);
    }
}

#endif
