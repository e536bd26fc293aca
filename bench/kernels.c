#include "kernels.h"

static inline void axpy(size_t count, float a, const float *restrict x, float *restrict y) {
    for (size_t i = 0; i < count; i++) y[i] += a * x[i];
}

static inline void triad(size_t count, float scale, const float *restrict left, const float *restrict right,
                         float *restrict target) {
    for (size_t i = 0; i < count; i++) target[i] = left[i] + scale * right[i];
}

void bench_axpy(size_t count, float a, const float *x, float *y) {
    axpy(count, a, x, y);
}

void bench_triad(size_t count, float scale, const float *left, const float *right, float *target) {
    triad(count, scale, left, right, target);
}

void bench_axpy_native(const rondo_native_call *call) {
    float *y = call->args[0];
    const float *x = call->args[1], *a = call->args[2];
    axpy(call->last - call->first, *a, x + call->first, y + call->first);
}

void bench_triad_native(const rondo_native_call *call) {
    float *target = call->args[0];
    const float *left = call->args[1], *right = call->args[2], *scale = call->args[3];
    triad(call->last - call->first, *scale, left + call->first, right + call->first, target + call->first);
}
