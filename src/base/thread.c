#include "base/thread.h"

#include <time.h>

_Thread_local rdo_thread rdo_this_thread;

bool rdo_lock_init(rdo_lock *lock, rdo_rank rank) {
    lock->rank = rank;
    return pthread_mutex_init(&lock->mutex, NULL) == 0;
}

void rdo_lock_finish(rdo_lock *lock) {
    (void)pthread_mutex_destroy(&lock->mutex);
}

void rdo_lock_wait(rdo_lock *lock, pthread_cond_t *condition) {
    (void)pthread_cond_wait(condition, &lock->mutex);
}

void rdo_lock_before_fork(rdo_lock *lock) {
    (void)pthread_mutex_lock(&lock->mutex);
}

void rdo_lock_after_fork(rdo_lock *lock) {
    (void)pthread_mutex_unlock(&lock->mutex);
}

void rdo_lock_reset(rdo_lock *lock) {
    rdo_lock_note(lock, false);
    (void)pthread_mutex_init(&lock->mutex, NULL);
}

uint64_t rdo_clock_ns(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}
