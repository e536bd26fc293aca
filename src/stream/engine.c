#include "stream/engine.h"

#include <pthread.h>

#include "base/check.h"
#include "fault/ledger.h"

uint64_t rdo_fork_epoch;
_Atomic(rdo_engine *) rdo_deferred_engines;

/* What all devices share, and a child goes on using. The locks of a device itself are left as they are: a child never
 * wants them. */
static void for_common_locks(void (*visit)(rdo_lock *lock)) {
    visit(&rdo_objects.lock);
    visit(&rdo_memories.lock);
    visit(rdo_ledger_lock());
}

static void before_fork(void) {
    for_common_locks(rdo_lock_before_fork);
    rdo_lots_before_fork();
}

static void in_parent(void) {
    rdo_lots_after_fork();
    for_common_locks(rdo_lock_after_fork);
}

static void in_child(void) {
    rdo_fork_epoch++;
    rdo_this_thread = (rdo_thread){0};
    atomic_store(&rdo_deferred_engines, NULL); /* the parent settles its engines itself */
    rdo_lots_reset();
    for_common_locks(rdo_lock_reset);
}

static void register_handlers(void) {
    (void)pthread_atfork(before_fork, in_parent, in_child);
}

void rdo_fork_watch(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, register_handlers);
}

bool rdo_queue_try_sweep(rdo_store *store) {
    rdo_queue *queue = rdo_queue_of_store(store);
    RDO_LOCK_THEN_LOOK();
    if (!rdo_lock_try(&queue->lock)) return false; /* its holder looks after giving it back */
    rdo_store_sweep(store);
    rdo_lock_give(&queue->lock);
    RDO_LOCK_THEN_LOOK();
    return true;
}

/* Whoever had a queue's lock looks again: sweeping one queue can put things on the list of another that was passed
 * already, as the end of a graph does, and a thread that finds the lock taken leaves its things to its holder. */
static void sweep_queues(rdo_engine *engine) {
    bool again = true;
    while (again) {
        again = false;
        rdo_store *store = engine->books.stores;
        for (; store != NULL && atomic_load(&engine->books.returning) != 0; store = store->next) {
            if (!atomic_load(&store->waiting)) continue;
            again = store->try_sweep(store) || again;
        }
    }
}

/* Device lock held: whether nothing holds the engine any more. */
static bool is_over(const rdo_engine *engine) {
    return engine->books.children == 0 && atomic_load(&engine->callers) == (RDO_ENGINE_CLOSING | 1);
}

void rdo_engine_settle(rdo_engine *engine) {
    rdo_engine_pin(engine);
    rdo_engine_settle_pinned(engine);
}

/* Hands the caller's pin to the list: the call that the thread is inside of may be on another device, so the end of the
 * next call on any device settles. */
static void defer(rdo_engine *engine) {
    if (atomic_exchange(&engine->deferred, true)) {
        atomic_fetch_sub(&engine->callers, 1);
        return;
    }
    engine->next_deferred = atomic_load(&rdo_deferred_engines);
    /* Once more if another thread has put its own there meanwhile. */
    while (!RDO_CHANCE(atomic_compare_exchange_weak(&rdo_deferred_engines, &engine->next_deferred, engine))) {}
}

/* Unpins an engine that nobody closes yet, and of which nothing may be touched afterwards. */
static bool leave_open(rdo_engine *engine) {
    uint32_t callers = atomic_load(&engine->callers);
    while ((callers & RDO_ENGINE_CLOSING) == 0) {
        /* Once more if another thread has come or gone meanwhile. */
        if (RDO_CHANCE(atomic_compare_exchange_weak(&engine->callers, &callers, callers - 1))) return true;
    }
    return false;
}

static void settle(rdo_engine *engine) {
    RDO_ASSERT(rdo_this_thread.held == 0);
    if (atomic_load(&engine->books.returning) != 0) sweep_queues(engine);
    rdo_books_settle(&engine->books);
    if (RDO_LIKELY(leave_open(engine))) return;
    rdo_lock_take(&engine->books.lock);
    bool over = is_over(engine);
    atomic_fetch_sub(&engine->callers, 1);
    rdo_lock_give(&engine->books.lock);
    if (over) engine->close(engine);
}

void rdo_engine_settle_pinned(rdo_engine *engine) {
    if (rdo_in_work()) {
        defer(engine);
        return;
    }
    settle(engine);
    if (RDO_LIKELY(atomic_load(&rdo_deferred_engines) == NULL)) return;
    rdo_engine *next = atomic_exchange(&rdo_deferred_engines, NULL);
    while (next != NULL) {
        rdo_engine *waiting = next;
        next = waiting->next_deferred;
        atomic_store(&waiting->deferred, false); /* what is released from now on puts it on the list again */
        settle(waiting);
    }
}
