/* Order between queues: who waits for whom [W3].
 *
 * Work runs on its caller's thread under its queue's lock, or on the thread that plays its queue's pending work, so
 * operations of one queue never meet. Two ways to keep operations of different queues apart:
 *
 *   fast   all memory of the operation is at home on its own queue. It raises the store's `fast` flag and looks at the
 *          store's `foreign` count; if no other queue has registered for this store's memory, it runs.
 *   slow   it registers its ranges under the device lock and gets a ticket. It runs once no conflicting
 *          operation with a smaller ticket is registered and no home queue of its memory runs something fast.
 *          A queued operation registers when it is issued and waits when its turn comes, see stream/pending.h.
 *
 *   fast:  fast := 1 ── foreign = 0? ──yes──► run ── fast := 0 ── fast_waiters? wake
 *                            └──no── fast := 0, wake, go slow
 *   slow:  lock ── ticket, foreign += 1 at each other home ── wait ── unlock ── run ── lock ── leave, wake ── unlock
 *
 * Invariants (models/ proves them for 3 threads and 2 queues)
 *  1. Two operations that run at once touch no common byte that one of them writes.
 *  2. A waiting operation waits for smaller tickets and for fast operations only, and those never wait: no cycle.
 *  3. Each flag is raised before the other's is looked at, with sequential consistency, so that a fast and a slow
 *     operation cannot both miss each other.
 */
#ifndef RDO_STREAM_ORDER_H
#define RDO_STREAM_ORDER_H

#include "memory/store.h"

/* A range of the device's flat address space. */
typedef struct rdo_extent {
    uint64_t low, high;
} rdo_extent;

/* A registered operation, or a mapping. Lists are sorted by `low`. */
typedef struct rdo_entry {
    struct rdo_entry *next, *before;
    uint64_t ticket;
    const rdo_extent *reads, *writes;
    size_t read_count, write_count;
    rdo_store *const *homes; /* other queues' stores that it touches, each once */
    size_t home_count;
    bool map;    /* a mapping: conflicting operations are refused, not made to wait */
    bool queued; /* issued on a stream in queued mode: the call that issued it has returned */
} rdo_entry;

typedef struct rdo_order {
    rdo_entry *first, *last; /* by ticket */
    uint64_t last_ticket;
    uint64_t maps; /* of the registered, the mappings */
    _Atomic uint32_t fast_waiters;
} rdo_order;

/* No lock of rank device held: lets waiting operations look again. */
void rdo_order_wake(rdo_books *books);

/* Own queue's lock held. True: the operation may run now. Either way it ends with rdo_order_leave_fast. */
static inline bool rdo_order_enter_fast(rdo_store *own) {
    /* The first look keeps this queue from raising its flag again and again while another waits for it to fall. */
    if (RDO_UNLIKELY(atomic_load_explicit(&own->foreign, memory_order_relaxed) != 0)) return false;
    atomic_store_explicit(&own->fast, 1, memory_order_seq_cst);
    return atomic_load_explicit(&own->foreign, memory_order_seq_cst) == 0;
}

static inline void rdo_order_leave_fast(rdo_order *order, rdo_store *own) {
    atomic_store_explicit(&own->fast, 0, memory_order_seq_cst);
    if (RDO_UNLIKELY(atomic_load_explicit(&order->fast_waiters, memory_order_seq_cst) != 0)) rdo_order_wake(own->books);
}

/* Device lock held: takes a ticket, and so a place among all operations of the device. False: a mapping conflicts,
 * nothing is registered. */
bool rdo_order_register(rdo_order *order, rdo_entry *entry);
/* Device lock held (given up while waiting): waits until the registered operation may run, which it may until
 * rdo_order_leave. False: a mapping came that conflicts, and all work that came before is done; the operation is
 * registered no more. */
bool rdo_order_await(rdo_order *order, rdo_books *books, rdo_entry *entry);
/* Both. */
bool rdo_order_enter(rdo_order *order, rdo_books *books, rdo_entry *entry);
/* Device lock held: whether a registered operation would not wait now. */
bool rdo_order_may_run(const rdo_entry *entry);
/* Device lock held. */
void rdo_order_leave(rdo_order *order, rdo_books *books, rdo_entry *entry);
/* Device lock held (given up while waiting): the same for a mapping, which is refused if another one conflicts. */
bool rdo_order_map(rdo_order *order, rdo_books *books, rdo_entry *entry);
/* Device lock held: whether a registered operation touches these bytes; a mapping is none. */
bool rdo_order_is_busy(const rdo_order *order, rdo_extent bytes);

/* Device lock held (given up while waiting): waits until nothing that runs touches the allocation, whose use is
 * counted. */
void rdo_order_wait_idle(rdo_order *order, const rdo_memory *memory);

/* Device lock held: whether a queued operation touches these bytes, a sorted list. What decides about claims, or sets
 * them, without a ticket of its own waits for these first: they were issued before. */
bool rdo_order_is_queued(const rdo_order *order, const rdo_extent *bytes, size_t count);
/* Device lock held, given up meanwhile: waits until something changed. */
void rdo_order_wait_change(rdo_order *order, rdo_books *books);

/* For tests of one thread, where nobody would ever end the waiting: called instead, with the device lock held and to be
 * held on return. NULL: waits. */
extern void (*rdo_order_instead_of_waiting)(rdo_order *order);

/* Sorts by `low`. */
void rdo_extents_sort(rdo_extent *extents, size_t count);
/* Index of the first extent that ends above `low`, in a sorted list without overlaps. */
size_t rdo_extents_seek(const rdo_extent *list, size_t count, uint64_t low);
/* Whether two sorted lists share an address. */
bool rdo_extents_meet(const rdo_extent *a, size_t a_count, const rdo_extent *b, size_t b_count);

#endif
