/* Memory records: one per allocation, whatever it stands on.
 *
 *   created ──last user release──► unreferenced ──nobody needs it──► returned ──home queue sweeps──► recycled
 *                                   (a graph, running work or a
 *                                    mapping may still need it)
 *
 * Invariants
 *  1. The slot's number is visible exactly while refs > 0.
 *  2. The record's slice names it as its owner from creation to recycling; nothing else does.
 *  3. A record is recycled only under its home queue's lock and the device lock, with refs, uses, maps and its
 *     slice's guards all 0. So whoever holds the home queue's lock, or counted a use, can trust every field.
 *  4. Claims live from creation to recycling [T4].
 *  5. A record that stands for nothing has no page, host data, callback or claim, waits for no sweep and is not needed:
 *     each is taken off where it ends, so that a new allocation need not look. A kept one knows its home already.
 */
#ifndef RDO_MEMORY_MEMORY_H
#define RDO_MEMORY_MEMORY_H

#include <rondo/backend.h>
#include <rondo/buffer.h>
#include <rondo/stats.h>

#include "base/slots.h"
#include "fault/claims.h"
#include "fault/ledger.h"

typedef struct rdo_books rdo_books;
typedef struct rdo_store rdo_store;
typedef struct rdo_page rdo_page;
typedef struct rdo_memory rdo_memory;
typedef struct rdo_request rdo_request;

/* Where an allocation sits. The order is total: pool, page, slice [O6]. */
typedef struct rdo_location {
    uint32_t pool, page, slice;
} rdo_location;

/* Something that waits until its home queue can be swept. */
typedef struct rdo_return {
    struct rdo_return *next;
    bool queued;
    /* Called with the home queue's lock and the device lock held; may give the latter back meanwhile. */
    void (*finish)(struct rdo_return *item);
} rdo_return;

struct rdo_memory {
    rdo_slot slot; /* must come first */
    /* What each launch looks at. */
    _Atomic(rdo_store *) home;
    uint64_t size;      /* asked for */
    _Atomic uint64_t id; /* the slot's number, also after it is hidden; 0 once the allocation has ended */
    rondo_place place;  /* of the first byte; changes only by relocation */
    uint64_t address;   /* of the first byte in the device's flat address space, see rdo_page */
    rdo_page *page;     /* NULL for an allocation of no bytes */
    rondo_usage usage : 8;
    bool host, imported, staging;
    uint32_t named_in;  /* of the home queue's walks over the arguments of a launch, the last that met it */
    uint32_t slice;
    uint32_t uses;      /* running operations of other queues; under the device lock, as all down to the claims */
    uint32_t maps;
    uint32_t refs;      /* of users */
    uint64_t listed_by; /* the list that it was put on last, so that it is put there once */
    rdo_claims claims;
    rdo_return returning;
    _Atomic(rdo_books *) books;
    uint64_t home_stream_id;
    void *host_data;    /* host blocks and imports: the first byte */
    struct rdo_callback *due; /* made when the allocation ends, NULL if none */
};

extern rdo_slots rdo_memories;

/* The record that `buffer` names, NULL if it names none any more. Needs no lock; only its atomic fields may be
 * looked at, unless invariant 3 or the device lock of its books keeps it as it is. */
static inline rdo_memory *rdo_memory_find(rondo_buffer buffer) {
    return (rdo_memory *)rdo_slots_find(&rdo_memories, sizeof(rdo_memory), buffer.id);
}

/* The record that `buffer` names or named, for who has found it before, and whose locks have kept it since. */
static inline rdo_memory *rdo_memory_at(rondo_buffer buffer) {
    return (rdo_memory *)rdo_slots_at(&rdo_memories, sizeof(rdo_memory), buffer.id);
}

/* Whether a record that was found is still the one that `buffer` names: to be asked once its locks are held. */
static inline bool rdo_memory_is(const rdo_memory *memory, rondo_buffer buffer) {
    return atomic_load_explicit(&memory->slot.number, memory_order_acquire) == buffer.id;
}

static inline rdo_books *rdo_memory_books(const rdo_memory *memory) {
    return atomic_load_explicit(&memory->books, memory_order_relaxed);
}

/* A record without memory under it, with one reference, not yet visible. NULL without memory. Home queue's lock
 * held. */
rdo_memory *rdo_memory_new(rdo_store *home, uint64_t stream_id, const rdo_request *request, bool staging);
/* Makes the record's number visible. */
void rdo_memory_publish(rdo_memory *memory);
/* Gives a record back that has nothing under it any more and whose number is hidden. Whoever still points to it
 * sees by its id, under the device lock, that it is not what it was. Home queue's lock held: some records are kept by
 * their home for its next allocations. */
void rdo_memory_delete(rdo_memory *memory);
/* No queue lock needed: gives back the records that the store kept, at its end. */
void rdo_memory_delete_spares(rdo_store *store);

/* Device lock held: gives one user reference back; after the last one the number is dead. */
void rdo_memory_unref(rdo_memory *memory);
/* The same with the home queue's lock held as well: what nobody needs any more is recycled at once. */
void rdo_memory_unref_at_home(rdo_memory *memory);
/* Device lock held: hands the record to its home queue's sweep if nobody needs it any more. */
void rdo_memory_settle(rdo_memory *memory);

/* Device lock held: claims or releases bytes of an allocation. */
void rdo_memory_claim(rdo_memory *memory, uint64_t low, uint64_t high, uint64_t failure, uint64_t tag);
void rdo_memory_unclaim(rdo_memory *memory, uint64_t low, uint64_t high);

rdo_location rdo_memory_location(const rdo_memory *memory);

#endif
