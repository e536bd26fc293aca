/* What the cases on windows and graphs share: opening and sealing in one line, and looking at what is spoiled. */
#ifndef CONFORM_CAPTURE_TOOLS_H
#define CONFORM_CAPTURE_TOOLS_H

#include <inttypes.h>

#include "conform.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Every stream of such a device is every other's neighbour. */
static const rondo_device_desc ONE_QUEUE = {.max_queues = 1};

static inline void open_window(rondo_stream *stream) {
    CHECK_OK(rondo_capture_prepare(stream));
    CHECK_OK(rondo_capture_begin(stream));
}

static inline rondo_graph *seal(struct conform *t, rondo_stream *stream) {
    rondo_graph *graph = NULL;
    CHECK_OK(rondo_capture_end(stream, RONDO_END_DEFAULT, &graph));
    CHECK(graph != NULL);
    return conform_keep_graph(t, graph);
}

/* The seal fails with `code`, hands out no graph, and the stream is out of the window. */
static inline rondo_status seal_refused(rondo_stream *stream, rondo_code code) {
    rondo_graph *graph = NULL;
    rondo_status status = CHECK_CODE(rondo_capture_end(stream, RONDO_END_DEFAULT, &graph), code);
    CHECK(graph == NULL);
    CHECK_EQUAL(rondo_capture_phase(stream), RONDO_PHASE_NONE);
    return status;
}

static inline rondo_graph *capture_step(struct conform *t, rondo_stream *stream, rondo_step_fn step, void *user) {
    rondo_graph *graph = NULL;
    CHECK_OK(rondo_capture_step(stream, step, user, &graph));
    CHECK(graph != NULL);
    return conform_keep_graph(t, graph);
}

static inline rondo_status fill_i32(rondo_stream *stream, rondo_span target, int32_t value, const char *label) {
    return rondo_fill(stream, target, &value, sizeof value, label);
}

static inline rondo_window_info window_info(rondo_stream *stream) {
    rondo_window_info info;
    CHECK_OK(rondo_capture_get_info(stream, &info));
    return info;
}

static inline rondo_graph_info graph_info(rondo_graph *graph) {
    rondo_graph_info info;
    CHECK_OK(rondo_graph_get_info(graph, &info));
    return info;
}

/* The span cannot be read, and `root` is why. */
static inline void expect_spoiled(rondo_span span, rondo_status root) {
    rondo_status status = CHECK_CODE(rondo_span_status(span), RONDO_TAINTED);
    CHECK(rondo_fault_root(status) == root);
}

static inline void expect_spoiled_by(rondo_span span, rondo_code root) {
    rondo_status status = CHECK_CODE(rondo_span_status(span), RONDO_TAINTED);
    CHECK_EQUAL(rondo_status_code(rondo_fault_root(status)), root);
}

/* The story contains the number, in decimal. */
static inline void check_says_number(rondo_status status, uint64_t number) {
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, number);
    CHECK_SAYS(status, text);
}

static inline int32_t read_last_i32(rondo_stream *stream, rondo_buffer buffer, uint64_t size_bytes) {
    int32_t value = 0;
    CHECK_OK(rondo_read(stream, rondo_slice(buffer, size_bytes - sizeof value, sizeof value), &value, NULL));
    return value;
}

/* The stream is usable: work runs, and a window seals and replays. */
static inline void check_stream_works(struct conform *t, rondo_stream *stream) {
    rondo_buffer buffer = conform_buffer_on(t, stream, 64);
    CHECK_OK(fill_i32(stream, rondo_whole(buffer), 41, "probe"));
    CHECK_EQUAL(read_last_i32(stream, buffer, 64), 41);
    open_window(stream);
    CHECK_OK(fill_i32(stream, rondo_whole(buffer), 42, "probe"));
    rondo_graph *graph = seal(t, stream);
    CHECK_EQUAL(read_last_i32(stream, buffer, 64), 41);
    CHECK_OK(rondo_graph_replay(graph, stream));
    CHECK_EQUAL(read_last_i32(stream, buffer, 64), 42);
}

/* The same bytes with their size spelled out: a host call looks at the size that was declared. */
static inline rondo_span exact(rondo_span span) {
    rondo_buffer_info info;
    if (span.size_bytes == RONDO_WHOLE) {
        CHECK_OK(rondo_buffer_get_info(span.buffer, &info));
        span.size_bytes = info.size_bytes - span.offset_bytes;
    }
    return span;
}

/* Host calls that the cases share. */

static inline int host_nothing(void *user, const rondo_host_access *accesses, size_t count) {
    (void)user;
    (void)accesses;
    (void)count;
    return 0;
}

/* Adds the int32 that `user` points to, or 1, to every int32 of its accesses, modulo 2^32. */
static inline int host_add(void *user, const rondo_host_access *accesses, size_t count) {
    uint32_t step = user ? *(const uint32_t *)user : 1;
    for (size_t a = 0; a < count; a++) {
        uint32_t *values = accesses[a].data;
        for (uint64_t i = 0; i < accesses[a].span.size_bytes / sizeof *values; i++) values[i] += step;
    }
    return 0;
}

/* Adds to the int32 values of `span`, in stream order: a step whose state moves in place, for backends without kernels
 * too. `step` must outlive the work; NULL adds 1. */
static inline rondo_status add_in_place(rondo_stream *stream, rondo_span span, int32_t *step, const char *label) {
    const rondo_host_access access = {.span = exact(span), .mode = RONDO_READS_WRITES, .data = NULL};
    return rondo_host_call(stream, host_add, step, NULL, &access, 1, label);
}

/* Fails if the first int32 of its first access is not 0; otherwise puts 9 into all of its second. */
static inline int host_fail_if(void *user, const rondo_host_access *accesses, size_t count) {
    (void)user;
    (void)count;
    const int32_t *flag = accesses[0].data;
    if (flag[0] != 0) return 7;
    int32_t *values = accesses[1].data;
    for (uint64_t i = 0; i < accesses[1].span.size_bytes / sizeof *values; i++) values[i] = 9;
    return 0;
}

static inline rondo_status fail_if(rondo_stream *stream, rondo_span target, rondo_span flag, const char *label) {
    const rondo_host_access accesses[] = {{.span = exact(flag), .mode = RONDO_READS, .data = NULL},
                                          {.span = exact(target), .mode = RONDO_WRITES, .data = NULL}};
    return rondo_host_call(stream, host_fail_if, NULL, NULL, accesses, 2, label);
}

static inline int host_fail(void *user, const rondo_host_access *accesses, size_t count) {
    (void)user;
    (void)accesses;
    (void)count;
    return 5;
}

/* Spoils the span by work that fails: a host call that was to write it or, where the host cannot reach device memory,
 * one that was to write a block that is then uploaded. */
static inline void spoil(rondo_stream *stream, rondo_span span, const char *label) {
    rondo_host_access access = {exact(span), RONDO_WRITES, NULL};
    rondo_status status = rondo_host_call(stream, host_fail, NULL, NULL, &access, 1, label);
    if (rondo_status_code(status) != RONDO_UNSUPPORTED) {
        CHECK_OK(status);
        return;
    }
    rondo_buffer block = RONDO_NO_BUFFER;
    CHECK_OK(rondo_host_create(stream, access.span.size_bytes, &block));
    rondo_host_access through = {rondo_slice(block, 0, access.span.size_bytes), RONDO_WRITES, NULL};
    CHECK_OK(rondo_host_call(stream, host_fail, NULL, NULL, &through, 1, label));
    CHECK_CODE(rondo_write_live(stream, access.span, rondo_whole(block), label), RONDO_TAINTED);
    rondo_buffer_release(block);
}

/* Counts how often Rondo gave something back. */
static inline void count_release(void *user) {
    *(int *)user += 1;
}

/* Random numbers: splitmix64. The seed is printed, and RONDO_SEED chooses another first one. */
struct rng {
    uint64_t state;
};

static inline uint64_t rng_first_seed(void) {
    const char *text = getenv("RONDO_SEED");
    uint64_t seed = text ? strtoull(text, NULL, 0) : 1;
    print_message("first seed %" PRIu64 " (set RONDO_SEED for another)\n", seed);
    return seed;
}

static inline uint64_t rng_next(struct rng *rng) {
    uint64_t z = (rng->state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline uint64_t rng_below(struct rng *rng, uint64_t bound) {
    return rng_next(rng) % bound;
}

#endif
