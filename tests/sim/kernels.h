/* The kernels of random programs, native only; what they compute is in model.h. */
#ifndef SIM_KERNELS_H
#define SIM_KERNELS_H

#include <rondo/kernel.h>

enum { SIM_MIX, SIM_BUMP, SIM_ADD, SIM_FAIL_IF, SIM_NEXT, SIM_KERNELS };

extern const rondo_kernel_desc sim_kernels[SIM_KERNELS];

#endif
