#include "base/thread.h"

#include <time.h>

_Thread_local rdo_thread rdo_this_thread;

uint64_t rdo_clock_ns(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}
