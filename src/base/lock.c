#include "base/lock.h"

#include <pthread.h>

enum { LOTS = 16, LOOKS = 64 };

typedef struct lot {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
} lot;

#define LOT {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER}
#define FOUR_LOTS LOT, LOT, LOT, LOT

static lot lots[LOTS] = {FOUR_LOTS, FOUR_LOTS, FOUR_LOTS, FOUR_LOTS};

/* Queues lie a few hundred bytes apart, so no few bits alone tell their locks from each other. */
static lot *lot_of(const void *object) {
    uintptr_t address = (uintptr_t)object;
    return &lots[(address >> 4 ^ address >> 8 ^ address >> 12) % LOTS];
}

static void wake(lot *place) {
    (void)pthread_mutex_lock(&place->mutex);
    (void)pthread_cond_broadcast(&place->changed);
    (void)pthread_mutex_unlock(&place->mutex);
}

/* Most locks are held for some hundred instructions: a few looks are cheaper than sleep. */
static bool take_soon(rdo_lock *lock) {
    for (int look = 0; look < LOOKS; look++) {
        bool is_free = atomic_load_explicit(&lock->word, memory_order_relaxed) == RDO_LOCK_FREE;
        if (is_free && rdo_lock_grab(lock)) return true;
        rdo_relax();
    }
    return false;
}

void rdo_lock_await(rdo_lock *lock) {
    lot *place = lot_of(lock);
    if (take_soon(lock)) return;
    (void)pthread_mutex_lock(&place->mutex);
    while (atomic_exchange_explicit(&lock->word, RDO_LOCK_AWAITED, memory_order_acquire) != RDO_LOCK_FREE) {
        (void)pthread_cond_wait(&place->changed, &place->mutex);
    }
    (void)pthread_mutex_unlock(&place->mutex);
}

void rdo_lock_wake(const rdo_lock *lock) {
    wake(lot_of(lock));
}

void rdo_condition_wait(rdo_condition *condition, rdo_lock *lock) {
    lot *place = lot_of(condition);
    uint32_t told = atomic_load_explicit(&condition->told, memory_order_relaxed);
    condition->waiting++;
    rdo_lock_give(lock);
    (void)pthread_mutex_lock(&place->mutex);
    while (atomic_load_explicit(&condition->told, memory_order_relaxed) == told) {
        (void)pthread_cond_wait(&place->changed, &place->mutex);
    }
    (void)pthread_mutex_unlock(&place->mutex);
    rdo_lock_take(lock);
    condition->waiting--;
}

void rdo_condition_tell(rdo_condition *condition) {
    if (condition->waiting == 0) return;
    atomic_fetch_add_explicit(&condition->told, 1, memory_order_relaxed);
    wake(lot_of(condition));
}

void rdo_lock_before_fork(rdo_lock *lock) {
    rdo_lock_await(lock);
}

void rdo_lock_after_fork(rdo_lock *lock) {
    rdo_lock_drop(lock);
}

void rdo_lock_reset(rdo_lock *lock) {
    rdo_lock_note(lock, false);
    atomic_store(&lock->word, RDO_LOCK_FREE);
}

void rdo_lots_before_fork(void) {
    for (int i = 0; i < LOTS; i++) (void)pthread_mutex_lock(&lots[i].mutex);
}

void rdo_lots_after_fork(void) {
    for (int i = 0; i < LOTS; i++) (void)pthread_mutex_unlock(&lots[i].mutex);
}

/* The child's only thread is the one that took them before the fork; who waits for the conditions there is gone. */
void rdo_lots_reset(void) {
    rdo_lots_after_fork();
    for (int i = 0; i < LOTS; i++) lots[i] = (lot)LOT;
}
