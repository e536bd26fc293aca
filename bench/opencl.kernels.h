/* The kernels of the rows on OpenCL, in Rondo's language. */
#define RONDO_KERNELS opencl_kernels
#include <rondo/kernel_lang.h>

RONDO_KERNEL(axpy, RONDO_NO_GROUP, RONDO_INOUT(float, y), RONDO_IN(float, x), RONDO_VALUE(float, a)) {
    RONDO_ITEMS(i) {
        y[i] += a * x[i];
    }
}

RONDO_KERNEL(triad, RONDO_NO_GROUP, RONDO_OUT(float, target), RONDO_IN(float, left), RONDO_IN(float, right),
             RONDO_VALUE(float, scale)) {
    RONDO_ITEMS(i) {
        target[i] = left[i] + scale * right[i];
    }
}
