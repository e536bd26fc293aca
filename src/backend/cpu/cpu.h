/* The CPU backend: kernels are plain C functions, memory is the process's own. */
#ifndef RDO_BACKEND_CPU_H
#define RDO_BACKEND_CPU_H

#include <rondo/backend.h>

extern const rondo_backend rdo_backend_cpu;

#endif
