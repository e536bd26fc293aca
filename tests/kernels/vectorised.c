/* What vectorised.sh compiles: one kernel of the tests, in a program that keeps its native function. */
#define RONDO_KERNELS_NO_TEXT
#include "../lib/test_kernels.kernels.h"

const rondo_kernel_desc *kernel_under_test(void);
const rondo_kernel_desc *kernel_under_test(void) {
    return &axpy_desc;
}
