/* What Rondo knows about the calling thread, and the clock. */
#ifndef RDO_BASE_THREAD_H
#define RDO_BASE_THREAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/check.h"

typedef struct rdo_thread {
    uint32_t held;        /* a bit per rank of the locks that the thread holds */
    uint32_t work_depth;  /* above 0: the thread runs a kernel or a host call */
    uint64_t locks_taken; /* in its life; kept, as `held` is, for debug builds only */
} rdo_thread;

extern _Thread_local rdo_thread rdo_this_thread;

/* Whether the calling thread runs a kernel or a host call right now. */
static inline bool rdo_in_work(void) {
    return rdo_this_thread.work_depth != 0;
}

/* A moment's rest for a thread that watches for something. */
static inline void rdo_relax(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Monotonic nanoseconds. */
uint64_t rdo_clock_ns(void);

#endif
