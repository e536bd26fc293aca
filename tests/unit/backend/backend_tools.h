/* What the tests of the backends share: the two functions of the core that they need, a device with a queue, memory
 * that refuses on purpose, and a small random number generator. */
#ifndef BACKEND_TOOLS_H
#define BACKEND_TOOLS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <rondo/backend.h>

/* Weak, so that these programs link with the backends alone as well as with all of the library. */
static _Atomic int threads_at_work;

__attribute__((weak)) void rondo_backend_enter_work(bool enter) {
    atomic_fetch_add(&threads_at_work, enter ? 1 : -1);
}

__attribute__((weak)) void rondo_native_fail(const rondo_native_call *call, uint32_t reason) {
    uint32_t none = 0;
    __atomic_compare_exchange_n(call->failed, &none, reason, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* ---- random numbers ---- */

static uint64_t random_state;

static inline void seed_random(void) {
    const char *given = getenv("RONDO_SEED");
    random_state = given != NULL ? strtoull(given, NULL, 0) : UINT64_C(0x9e3779b97f4a7c15);
    print_message("seed %llu\n", (unsigned long long)random_state);
    random_state |= 1;
}

static inline uint64_t random_below(uint64_t bound) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % bound;
}

/* ---- nodes and edges ---- */

static inline void get_from_array(const void *recording, uint64_t node, rondo_place *places, rondo_backend_op *out_op) {
    *out_op = ((const rondo_backend_op *)recording)[node];
    if (out_op->kind != RONDO_OP_LAUNCH) {
        return;
    }
    for (uint32_t index = 0; index < out_op->arg_count; index++) {
        places[index] = out_op->places[index];
    }
    out_op->places = places;
}

/* An array as the recording that a build asks for its nodes. */
static inline rondo_backend_nodes nodes_of(const rondo_backend_op *ops, uint64_t count) {
    rondo_backend_nodes nodes = {count, 0, ops, get_from_array};
    for (uint64_t node = 0; node < count; node++) {
        nodes.arg_count += ops[node].kind == RONDO_OP_LAUNCH ? ops[node].arg_count : 0;
    }
    return nodes;
}

enum { MOST_EDGES = 64 };

/* Of a graph of at most MOST_EDGES nodes, each of which follows the one before. */
static inline const rondo_backend_edges *one_after_another(void) {
    static uint64_t first[MOST_EDGES + 1], list[MOST_EDGES];
    static const rondo_backend_edges edges = {first, list, 0};
    for (uint64_t node = 1; node <= MOST_EDGES; node++) {
        first[node] = node - 1;
        list[node - 1] = node - 1;
    }
    return &edges;
}

/* ---- a device ---- */

struct bench {
    const rondo_backend *backend;
    void *device;
    void *queue;
    void *page;
    uint64_t page_bytes;
    rondo_backend_outcome outcome;
};

static inline void open_bench(struct bench *bench, const rondo_backend *backend, const rondo_device_desc *desc) {
    memset(bench, 0, sizeof *bench);
    bench->backend = backend;
    bench->page_bytes = 1u << 20;
    assert_int_equal(backend->open(0, desc, &bench->device, &bench->outcome), RONDO_BACKEND_DONE);
    assert_int_equal(backend->queue_open(bench->device, 0, &bench->queue), RONDO_BACKEND_DONE);
    assert_int_equal(backend->page_alloc(bench->device, RONDO_PAGE_DEVICE, bench->page_bytes, &bench->page),
                     RONDO_BACKEND_DONE);
}

static inline void close_bench(struct bench *bench) {
    bench->backend->page_free(bench->device, RONDO_PAGE_DEVICE, bench->page, bench->page_bytes);
    bench->backend->queue_close(bench->queue);
    bench->backend->close(bench->device);
}

static inline rondo_backend_result play(struct bench *bench, const rondo_backend_op *op) {
    return bench->backend->submit(bench->queue, op, &bench->outcome);
}

static inline rondo_place place_at(const struct bench *bench, uint64_t offset_bytes) {
    return (rondo_place){bench->page, offset_bytes};
}

/* Moves the first bytes of the bench's page, as one row or as a rectangle. */
static inline void write_page(struct bench *bench, const void *data, uint64_t size_bytes) {
    rondo_backend_op op = {.kind = RONDO_OP_WRITE, .target = place_at(bench, 0), .host = (void *)(uintptr_t)data,
                           .size_bytes = size_bytes, .rows = 1};
    assert_int_equal(play(bench, &op), RONDO_BACKEND_DONE);
}

static inline void read_page(struct bench *bench, void *data, uint64_t size_bytes) {
    rondo_backend_op op = {.kind = RONDO_OP_READ, .source = place_at(bench, 0), .host = data,
                           .size_bytes = size_bytes, .rows = 1};
    assert_int_equal(play(bench, &op), RONDO_BACKEND_DONE);
}

#endif
