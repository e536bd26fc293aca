/* The hooks of the CPU backend, counted: what the tests share that refuse it memory. */
#ifndef CPU_HOOKS_H
#define CPU_HOOKS_H

#include "backend/cpu/parts.h"

static struct rdo_cpu_hooks real;
static int alive; /* blocks */

static inline void *granting_alloc(size_t align_bytes, size_t size_bytes) {
    alive++;
    return real.alloc(align_bytes, size_bytes);
}

static inline void counting_release(void *memory, size_t align_bytes, size_t size_bytes) {
    alive--;
    real.release(memory, align_bytes, size_bytes);
}

/* Until rdo_cpu_hooks is `real` again, `alloc` is asked, which may call granting_alloc. */
static inline void take_hooks(void *(*alloc)(size_t align_bytes, size_t size_bytes)) {
    real = rdo_cpu_hooks;
    rdo_cpu_hooks.alloc = alloc;
    rdo_cpu_hooks.release = counting_release;
}

#endif
