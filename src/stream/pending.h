/* Pending work: what streams in queued mode were handed and nobody has played yet.
 *
 *   caller, with the queue's lock          player, with the turn
 *   place: copy ── ticket ── push ──►│ ring │──► first item: wait for its ticket ── play ── drop
 *                             └── wakes the worker if it sleeps
 *
 * A player is the queue's worker thread, or any caller who needs the queue for itself and therefore drains it. One
 * plays at a time, and it is the turn that says who: so a caller who drains takes over from a worker that is not yet
 * awake, and waits for one that plays.
 *
 * Invariants
 *  1. The ring is in the order of issue, and each item took its ticket as it was issued. So an item waits for smaller
 *     tickets only, wherever these are, and the smallest of all is always the first of its ring: no cycle.
 *  2. While something is pending, the backend's queue, the counters of the queue and the failures of its streams
 *     belong to the player. Whoever holds the queue's lock and wants them drains first, and what is drained stays
 *     empty as long as he holds the lock.
 *  3. While something is pending no capture is prepared or open on the queue.
 *  4. An item counts a use of all memory that it names, and holds its kernel, graph and stream. So a queue may be swept
 *     while work is pending: nothing that work needs is recycled, moved or given to another.
 *  5. A player never asks for a queue's lock.
 */
#ifndef RDO_STREAM_PENDING_H
#define RDO_STREAM_PENDING_H

#include <pthread.h>

#include "stream/call.h"

typedef struct rdo_pending rdo_pending;

typedef struct rdo_item rdo_item;

/* What can be handed over: an operation, or a replay. */
typedef struct rdo_handover {
    /* Device lock held: puts all that `play` needs of `what` into the item, takes a ticket and counts what must stay.
     * False, and nothing is counted: there is no memory, or something to say at the call. */
    bool (*place)(rdo_call *call, rdo_item *item, void *what);
    /* Plays the registered item and takes it off the order. What it returns came too late for the call that issued it,
     * so the next sync of the stream says it. */
    rondo_status (*play)(rdo_call *call, rdo_item *item);
    /* Device lock held: gives back what the item counts. */
    void (*drop)(rdo_engine *engine, rdo_item *item);
} rdo_handover;

/* One of them, pending. */
struct rdo_item {
    const rdo_handover *kind;
    rdo_stream *stream;
    rdo_where where;
    rdo_entry entry; /* registered with the order from the moment of issue until it has been played */
    rdo_arena arena; /* all that it points to, its label too; the memory is kept for the next item */
    void *work;      /* in the arena */
};

/* The ring of a queue. NULL without memory. */
rdo_pending *rdo_pending_new(rdo_queue *queue);
/* No lock held: ends the worker. Nothing is pending. */
void rdo_pending_delete(rdo_pending *pending);

/* Queue lock held, as for all below. Leaves `what` to the queue's worker; a full ring is waited for. False, and nothing
 * happened, if the caller is to play it himself: where `kind` could not place it, on a stream that is not queued, while
 * a capture is prepared or open, and where no thread can be started. */
bool rdo_pending_hand_over(rdo_call *call, const rdo_handover *kind, void *what);

/* Waits until nothing is pending, and plays what the worker has not begun. */
void rdo_pending_drain(rdo_pending *pending);
static inline void rdo_queue_drain(rdo_queue *queue) {
    if (RDO_UNLIKELY(queue->pending != NULL)) rdo_pending_drain(queue->pending);
}
/* No lock held, after a drain: waits until the worker has settled what its items left, so that all that they held is
 * gone. Does nothing in a callback that a worker makes while it settles. */
void rdo_queue_await_settled(rdo_queue *queue);
/* No lock held: both for all queues of the device; then settles. False if it has no queued streams. */
bool rdo_engine_drain(rdo_engine *engine);
/* For assertions. */
bool rdo_queue_is_idle(const rdo_queue *queue);

/* How threads are started; tests make it fail. */
extern int (*rdo_pending_thread_create)(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                                        void *argument);

/* For tests of one thread. With `choose` no workers are started: what is pending is played when somebody waits, or by
 * rdo_pending_play, in an order that `choose` draws, who is told of how many items one could be played now and names
 * one of them. NULL: back to workers. */
void rdo_pending_by_hand(uint32_t (*choose)(uint32_t count));
/* No lock held: plays one item of the device; false if nothing is pending. */
bool rdo_pending_play(rdo_engine *engine);

#endif
