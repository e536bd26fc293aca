/* Books, one store and memory on it, over a backend that has pages and nothing else: for tests that need memory records
 * without a device. */
#ifndef MEMORY_BENCH_H
#define MEMORY_BENCH_H

#include "memory/store.h"

typedef struct memory_bench {
    rondo_backend backend;
    rdo_books books;
    rdo_store store;
    uint64_t pages;  /* that the backend gave out and did not get back */
    bool hidden;     /* the host cannot see device pages */
} memory_bench;

void memory_bench_open(memory_bench *bench);
/* Sweeps, and checks that nothing is left over: buffers, claims, pages. */
void memory_bench_close(memory_bench *bench);

/* A buffer of stream 1 with one reference, published. */
rdo_memory *memory_bench_buffer(memory_bench *bench, uint64_t size);
/* The same as `request` says. */
rdo_memory *memory_bench_reserve(memory_bench *bench, const rdo_request *request, uint64_t stream_id);
/* Staging: host memory that has no visible number. */
rdo_memory *memory_bench_staging(memory_bench *bench, uint64_t size);
/* Gives one reference back and sweeps. */
void memory_bench_release(memory_bench *bench, rdo_memory *memory);
void memory_bench_sweep(memory_bench *bench);

#endif
