/* Locks with ranks, and conditions to wait for with one held.
 *
 *   FREE ──take──► HELD ──another must wait──► AWAITED ──give──► FREE, and who waits is woken
 *
 * A lock is one word; where nobody waits, taking it and giving it back is one atomic instruction each. Who must wait
 * sleeps in a *lot*: one of a few mutexes with a condition, which all locks of the process share and which a lock
 * finds by its address. So a lock may be freed as soon as it was given back: whoever did that may still touch the lot,
 * but not the lock. models/lock.pml checks all this.
 *
 * Invariants
 *  1. Whoever sleeps for a lock has made it AWAITED, with the lot's mutex held from then until it sleeps.
 *  2. Whoever makes an AWAITED lock FREE wakes the whole lot, with the lot's mutex held.
 *  3. Who gives a lock back does not touch it afterwards.
 */
#ifndef RDO_BASE_LOCK_H
#define RDO_BASE_LOCK_H

#include "base/thread.h"

/* Locks are taken in the order of their ranks, and never two of one rank: debug builds refuse anything else. */
typedef enum rdo_rank {
    RDO_RANK_REGISTRY = 0,
    RDO_RANK_QUEUE = 1,
    RDO_RANK_TURN = 2,
    RDO_RANK_DEVICE = 3,
    RDO_RANK_LEAF = 4
} rdo_rank;

enum { RDO_LOCK_FREE = 0, RDO_LOCK_HELD = 1, RDO_LOCK_AWAITED = 2 };

typedef struct rdo_lock {
    _Atomic uint32_t word;
    rdo_rank rank;
} rdo_lock;

#define RDO_LOCK_INIT(its_rank) {RDO_LOCK_FREE, (its_rank)}

static inline void rdo_lock_init(rdo_lock *lock, rdo_rank rank) {
    atomic_init(&lock->word, RDO_LOCK_FREE);
    lock->rank = rank;
}

/* Which locks a thread holds, and how many it has taken, is only kept for debug builds to look at. */
static inline void rdo_lock_note(const rdo_lock *lock, bool taken) {
#if RDO_CHECKS
    uint32_t bit = 1u << lock->rank;
    rdo_this_thread.held = taken ? rdo_this_thread.held | bit : rdo_this_thread.held & ~bit;
    rdo_this_thread.locks_taken += taken;
#else
    (void)lock;
    (void)taken;
#endif
}

/* Used by those below: takes the lock, whatever it takes; wakes those who wait. */
void rdo_lock_await(rdo_lock *lock);
void rdo_lock_wake(const rdo_lock *lock);

/* The two without a look at ranks. */
static inline bool rdo_lock_grab(rdo_lock *lock) {
    uint32_t expected = RDO_LOCK_FREE;
    return atomic_compare_exchange_strong_explicit(&lock->word, &expected, RDO_LOCK_HELD, memory_order_acquire,
                                                   memory_order_relaxed);
}

static inline void rdo_lock_drop(rdo_lock *lock) {
    uint32_t was = atomic_exchange_explicit(&lock->word, RDO_LOCK_FREE, memory_order_release);
    if (RDO_UNLIKELY(was == RDO_LOCK_AWAITED)) rdo_lock_wake(lock);
}

static inline bool rdo_lock_try(rdo_lock *lock) {
    RDO_ASSERT((rdo_this_thread.held >> lock->rank) == 0);
    bool taken = rdo_lock_grab(lock);
    if (RDO_LIKELY(taken)) rdo_lock_note(lock, true);
    return taken;
}
static inline void rdo_lock_take(rdo_lock *lock) {
    RDO_ASSERT((rdo_this_thread.held >> lock->rank) == 0);
    if (RDO_UNLIKELY(!rdo_lock_grab(lock))) rdo_lock_await(lock);
    rdo_lock_note(lock, true);
}
static inline void rdo_lock_give(rdo_lock *lock) {
    RDO_ASSERT((rdo_this_thread.held & (1u << lock->rank)) != 0);
    rdo_lock_note(lock, false);
    rdo_lock_drop(lock);
}

/* Something that is told under a lock, always the same one. A zeroed one is ready. */
typedef struct rdo_condition {
    _Atomic uint32_t told; /* how often */
    uint32_t waiting;      /* threads; under the lock */
} rdo_condition;

/* Lock held, alone or below others: gives it back until the condition is told; may return earlier. */
void rdo_condition_wait(rdo_condition *condition, rdo_lock *lock);
/* Lock held: wakes all who wait. */
void rdo_condition_tell(rdo_condition *condition);

/* Around a fork in the parent, so that the child finds whole what the lock guards. Ranks are not looked at. */
void rdo_lock_before_fork(rdo_lock *lock);
void rdo_lock_after_fork(rdo_lock *lock);
/* In a forked child, where no other thread exists: makes the lock free whoever held it. */
void rdo_lock_reset(rdo_lock *lock);
/* The same for all lots; before the fork they come after all locks, and after it first. The reset gives back what the
 * thread took before the fork. */
void rdo_lots_before_fork(void);
void rdo_lots_after_fork(void);
void rdo_lots_reset(void);

/* Keeps a look at memory from moving up before the giving back, or the failed taking, of a lock. On x86 the lock's own
 * instruction does that already; saying it with a fence there would only hide races from the thread sanitizer. */
#if defined(__x86_64__) || defined(__i386__)
#define RDO_LOCK_THEN_LOOK() ((void)0)
#else
#define RDO_LOCK_THEN_LOOK() atomic_thread_fence(memory_order_seq_cst)
#endif

#endif
