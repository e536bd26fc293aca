/* The kernels of the benchmark: one object file with one alignment, called by every contestant that runs C. */
#ifndef BENCH_KERNELS_H
#define BENCH_KERNELS_H

#include <stddef.h>
#include <rondo/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* y += a * x. With a and all x 1, y counts how often it ran. */
void bench_axpy(size_t count, float a, const float *x, float *y);
/* target = left + scale * right. */
void bench_triad(size_t count, float scale, const float *left, const float *right, float *target);

/* The same loops as Rondo calls them: (y, x, a) and (target, left, right, scale). */
void bench_axpy_native(const rondo_native_call *call);
void bench_triad_native(const rondo_native_call *call);

#ifdef __cplusplus
}
#endif
#endif
