/* What Rondo knows about the calling thread, locks with ranks, and the clock. */
#ifndef RDO_BASE_THREAD_H
#define RDO_BASE_THREAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/check.h"

/* Locks are taken in the order of their ranks, and never two of one rank: debug builds refuse anything else. */
typedef enum rdo_rank {
    RDO_RANK_REGISTRY = 0,
    RDO_RANK_QUEUE = 1,
    RDO_RANK_TURN = 2,
    RDO_RANK_DEVICE = 3,
    RDO_RANK_LEAF = 4
} rdo_rank;

typedef struct rdo_lock {
    pthread_mutex_t mutex;
    rdo_rank rank;
} rdo_lock;

#define RDO_LOCK_INIT(its_rank) {PTHREAD_MUTEX_INITIALIZER, (its_rank)}

typedef struct rdo_thread {
    uint32_t held;       /* a bit per rank of the locks that the thread holds */
    uint32_t work_depth; /* above 0: the thread runs a kernel or a host call */
} rdo_thread;

extern _Thread_local rdo_thread rdo_this_thread;

/* Which locks a thread holds is only kept for debug builds to look at. */
static inline void rdo_lock_note(const rdo_lock *lock, bool taken) {
#if RDO_CHECKS
    uint32_t bit = 1u << lock->rank;
    rdo_this_thread.held = taken ? rdo_this_thread.held | bit : rdo_this_thread.held & ~bit;
#else
    (void)lock;
    (void)taken;
#endif
}

bool rdo_lock_init(rdo_lock *lock, rdo_rank rank);
void rdo_lock_finish(rdo_lock *lock);
static inline void rdo_lock_take(rdo_lock *lock) {
    RDO_ASSERT((rdo_this_thread.held >> lock->rank) == 0);
    (void)pthread_mutex_lock(&lock->mutex);
    rdo_lock_note(lock, true);
}
static inline bool rdo_lock_try(rdo_lock *lock) {
    RDO_ASSERT((rdo_this_thread.held >> lock->rank) == 0);
    if (pthread_mutex_trylock(&lock->mutex) != 0) return false;
    rdo_lock_note(lock, true);
    return true;
}
static inline void rdo_lock_give(rdo_lock *lock) {
    RDO_ASSERT((rdo_this_thread.held & (1u << lock->rank)) != 0);
    rdo_lock_note(lock, false);
    (void)pthread_mutex_unlock(&lock->mutex);
}
/* Waits on a condition with `lock` held, alone or below others. */
void rdo_lock_wait(rdo_lock *lock, pthread_cond_t *condition);
/* Around a fork in the parent, so that the child finds whole what the lock guards. Ranks are not looked at. */
void rdo_lock_before_fork(rdo_lock *lock);
void rdo_lock_after_fork(rdo_lock *lock);
/* In a forked child, where no other thread exists: makes the lock free whoever held it. */
void rdo_lock_reset(rdo_lock *lock);

/* Keeps a look at memory from moving up before the giving back, or the failed taking, of a lock. On x86 the lock's own
 * instruction does that already; saying it with a fence there would only hide races from the thread sanitizer. */
#if defined(__x86_64__) || defined(__i386__)
#define RDO_LOCK_THEN_LOOK() ((void)0)
#else
#define RDO_LOCK_THEN_LOOK() atomic_thread_fence(memory_order_seq_cst)
#endif

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
