/* The workloads that all contestants share, and the plain C loop over each, which is the reference. */
#ifndef BENCH_WORK_H
#define BENCH_WORK_H

#include "harness.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { BENCH_CHAIN = 1000, BENCH_MOST_CHAINS = 64, BENCH_TRIADS = 10 };
#define BENCH_TRIAD_SCALE 0.5f

/* Chains of `length` kernels y += x, each chain on arrays of its own. */
typedef struct bench_work {
    const char *name;
    size_t items;
    size_t chains, length;
    float *x[BENCH_MOST_CHAINS], *y[BENCH_MOST_CHAINS];
    uint64_t executed; /* steps since the reset, by whoever */
} bench_work;

/* "chain-64": 1000 dependent kernels of 64 floats. "chain-4096": of 4096. "wide": 64 chains of 16, 4096 floats each. */
bench_work *bench_work_make(const char *name);
void bench_work_reset(bench_work *work);
/* Ends the process unless every element of y says that exactly the steps counted ran. */
void bench_work_check(const bench_work *work, const char *who);
void bench_plain_steps(void *work, uint64_t steps);
bench_side bench_plain(bench_work *work);
/* Times `subject` against the plain loop over the same arrays, as row WORK/NAME, with the result checked. The subject
 * counts its steps in `executed`. */
void bench_against_plain(bench_work *work, const char *name, bench_side subject);

/* Dependent triads over three arrays in turn: kernel k writes array k % 3 from the other two. A sample is one step and
 * starts from all ones, outside the clock. */
typedef struct bench_triads {
    float *array[3];
} bench_triads;

/* Floats in an array: 64 MiB of them, less in a quick run. */
size_t bench_triad_items(void);
bench_triads *bench_triads_make(void);
#define BENCH_TARGET(triads, k) ((triads)->array[(k) % 3])
#define BENCH_LEFT(triads, k) ((triads)->array[((k) + 1) % 3])
#define BENCH_RIGHT(triads, k) ((triads)->array[((k) + 2) % 3])
void bench_triads_plain(void *triads, uint64_t steps);
/* Rows triad/NAMES[i] of several contestants that take turns with the plain loop. */
void bench_triads_compare(bench_triads *triads, const char *const *names, const bench_side *subjects, size_t count);

#ifdef __cplusplus
}
#endif
#endif
