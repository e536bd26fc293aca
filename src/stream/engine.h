/* The engine: what all queues of a device share, and the queues themselves.
 *
 * Locks, in this order: a queue's lock, held for the whole of a call on it, a kernel included; the turn of a queue with
 * pending work, held by who plays it (stream/pending.h); the device lock (in the books), held for bookkeeping only. No
 * call holds two queue locks, nor two turns. See stream/order.h for how operations of different queues keep out of each
 * other's way.
 */
#ifndef RDO_STREAM_ENGINE_H
#define RDO_STREAM_ENGINE_H

#include <rondo/device.h>
#include <rondo/stats.h>

#include "base/objects.h"
#include "capture/window.h"
#include "stream/order.h"

typedef struct rdo_engine rdo_engine;
typedef struct rdo_stream rdo_stream;

/* A real queue of the backend, and all that belongs to it [O3]. */
typedef struct rdo_queue {
    rdo_lock lock;
    rdo_engine *engine;
    uint32_t index;
    void *backend_queue; /* NULL until the first stream that folds onto it */
    rdo_store store;
    rdo_window window;
    uint32_t walks;              /* over the arguments of a launch, counted; 0 is none, see rdo_memory */
    struct rdo_pending *pending; /* NULL until the first stream in queued mode folds onto it; then for good */
    /* Counted by whoever plays on the queue, read by reports at any time. */
    _Atomic uint64_t launches, transfers, host_calls, recorded, replays;
    char apart[128]; /* no line of the cache, nor its neighbour, has something of two queues */
} rdo_queue;

/* Counters that are only ever added to, from any thread. */
typedef struct rdo_counters {
    _Atomic uint64_t windows_opened, graphs_sealed, windows_refused;
    _Atomic uint64_t replay_failures, skipped, failures, run_fallbacks;
} rdo_counters;

struct rdo_engine {
    rdo_books books;
    rdo_captures captures;
    rdo_order order;
    rdo_meta meta;          /* under the device lock, as all below */
    rdo_stream *streams;
    uint64_t stream_count, kernel_count, event_count;
    rdo_counters counters;
    rdo_queue *queues;
    uint32_t queue_count;
    bool spins;             /* threads of the device's own never sleep */
    uint64_t fork_epoch;    /* of the process that opened the device */
    _Atomic uint32_t callers; /* threads on their way through a settle: they keep the engine from closing. Its */
                              /* highest bit: the user's last reference is gone; set under the device lock */
    _Atomic bool deferred;  /* on the list of rdo_deferred_engines, which then has one of the callers */
    rdo_engine *next_deferred;
    void (*close)(rdo_engine *engine); /* frees everything, the engine included */
};

/* A logical stream [O2]. */
struct rdo_stream {
    rdo_return returning;
    uint64_t handle, id;
    rdo_engine *engine;
    rdo_queue *queue;
    bool queued;              /* its work may be left to the queue's worker */
    rdo_stream *next, **link; /* in the engine's list */
    uint32_t refs;            /* users and pending work; under the device lock */
    uint32_t user_refs;       /* of those, the users: without one the handle is dead */
    /* Under the queue's lock, as all below; the player's while something is pending, see stream/pending.h. */
    rondo_status first_failure; /* since the last sync */
    bool profiling;
    uint64_t profile_start_ns;
    rondo_status profile_failed;
    void *runs;               /* of rondo_run, see graph/run.c */
    void (*drop_runs)(rdo_stream *stream);
};

typedef struct rdo_event {
    uint64_t handle;
    rdo_engine *engine;
    uint32_t refs;             /* users and recordings; under the device lock, as all below */
    uint32_t user_refs;        /* of those, the users: without one the handle is dead */
    uint64_t window;           /* window in which it was recorded last, 0: outside */
    bool recorded, completed;
    uint64_t time_ns;          /* of its latest completion */
} rdo_event;

/* Grows with each fork in the child, so that a device opened by a parent is recognised [E5]. */
extern uint64_t rdo_fork_epoch;
void rdo_fork_watch(void);

/* The queue that a stream id folds onto. */
static inline rdo_queue *rdo_engine_queue(rdo_engine *engine, uint64_t stream_id) {
    return &engine->queues[stream_id % engine->queue_count];
}
static inline rdo_queue *rdo_queue_of_store(rdo_store *store) {
    return (rdo_queue *)(void *)((char *)store - offsetof(rdo_queue, store));
}
static inline rdo_engine *rdo_engine_of_books(rdo_books *books) {
    return (rdo_engine *)(void *)books;
}
/* Adds to a counter that only the holder of its queue's lock adds to: no locked instruction. */
static inline void rdo_count_own(_Atomic uint64_t *counter) {
    uint64_t count = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, count + 1, memory_order_relaxed);
}
static inline void rdo_count(_Atomic uint64_t *counter) {
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

#define RDO_ENGINE_CLOSING (UINT32_C(1) << 31)

/* Keeps the engine from closing until this thread has settled. Called while something else still keeps it. */
static inline void rdo_engine_pin(rdo_engine *engine) {
    atomic_fetch_add(&engine->callers, 1);
}
/* rdo_engine_settle after rdo_engine_pin. */
void rdo_engine_settle_pinned(rdo_engine *engine);
/* No lock held: sweeps every queue that something waits for, unless its lock is taken (then its holder sweeps), frees
 * pages, makes callbacks, closes the engine when nothing holds it any more. Every call ends with it. */
void rdo_engine_settle(rdo_engine *engine);
/* Engines, of any device, on which something was released inside a kernel or host call, where nothing can be
 * settled. */
extern _Atomic(rdo_engine *) rdo_deferred_engines;
/* Whether settling would find something to do; two loads. */
static inline bool rdo_engine_unsettled(rdo_engine *engine) {
    return atomic_load_explicit(&engine->books.returning, memory_order_seq_cst) != 0 ||
           atomic_load_explicit(&rdo_deferred_engines, memory_order_relaxed) != NULL;
}
/* Device lock held: whether settling would find nothing to do, and the user's last reference, whose release closes the
 * engine, is still there. */
static inline bool rdo_engine_is_settled(rdo_engine *engine) {
    return !rdo_engine_unsettled(engine) && !atomic_load_explicit(&engine->books.due, memory_order_relaxed) &&
           (atomic_load_explicit(&engine->callers, memory_order_relaxed) & RDO_ENGINE_CLOSING) == 0;
}
/* Queue lock and device lock held: gives both back, and settles if there is something to settle. The queue's goes
 * first: what others leave to its holder they list under the device lock, so since the look that is nothing. Nor can
 * anybody have closed the engine before the device lock is given back. */
static inline void rdo_queue_leave_settled(rdo_queue *queue) {
    rdo_engine *engine = queue->engine;
    bool settled = rdo_engine_is_settled(engine);
    if (RDO_UNLIKELY(!settled)) rdo_engine_pin(engine);
    rdo_lock_give(&queue->lock);
    rdo_lock_give(&engine->books.lock);
    if (RDO_UNLIKELY(!settled)) rdo_engine_settle_pinned(engine);
}
bool rdo_queue_try_sweep(rdo_store *store);

#endif
