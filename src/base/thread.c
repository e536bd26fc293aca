#include "base/thread.h"

#include <time.h>

#include "base/check.h"

_Thread_local rdo_thread rdo_this_thread;

bool rdo_lock_init(rdo_lock *lock, rdo_rank rank) {
    lock->rank = rank;
    return pthread_mutex_init(&lock->mutex, NULL) == 0;
}

void rdo_lock_finish(rdo_lock *lock) {
    (void)pthread_mutex_destroy(&lock->mutex);
}

void rdo_lock_take(rdo_lock *lock) {
    RDO_ASSERT((rdo_this_thread.held >> lock->rank) == 0);
    (void)pthread_mutex_lock(&lock->mutex);
    rdo_this_thread.held |= 1u << lock->rank;
}

bool rdo_lock_try(rdo_lock *lock) {
    RDO_ASSERT((rdo_this_thread.held >> lock->rank) == 0);
    if (pthread_mutex_trylock(&lock->mutex) != 0) return false;
    rdo_this_thread.held |= 1u << lock->rank;
    return true;
}

void rdo_lock_give(rdo_lock *lock) {
    RDO_ASSERT((rdo_this_thread.held & (1u << lock->rank)) != 0);
    rdo_this_thread.held &= ~(1u << lock->rank);
    (void)pthread_mutex_unlock(&lock->mutex);
}

void rdo_lock_wait(rdo_lock *lock, pthread_cond_t *condition) {
    (void)pthread_cond_wait(condition, &lock->mutex);
}

void rdo_lock_reset(rdo_lock *lock) {
    rdo_this_thread.held &= ~(1u << lock->rank);
    (void)pthread_mutex_init(&lock->mutex, NULL);
}

uint64_t rdo_clock_ns(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}
