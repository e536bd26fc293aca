/* Slots: generational numbers for things that users hold.
 *
 * A number names a slot and a generation of it. Slots sit in chunks that never move and are never given
 * back to the C library, so a number can be looked up at any moment without a lock: a stale one finds a slot whose
 * generation has moved on, never freed memory. A slot whose generations are spent is retired, so that no number is
 * ever used twice in a process.
 *
 *   number = generation (40 bits) << 24 | slot index (24 bits), never 0
 *
 * Slot 0 is never given out and has number 1, which names nothing: so looking up 0, the handle that users forget to
 * fill in, needs no question of its own.
 */
#ifndef RDO_BASE_SLOTS_H
#define RDO_BASE_SLOTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/lock.h"

enum { RDO_SLOT_CHUNK = 1024, RDO_SLOT_CHUNKS = 16384 };

/* The head of each slot; the table's element type starts with it. */
typedef struct rdo_slot {
    _Atomic uint64_t number; /* 0 while the slot stands for nothing */
    uint64_t last_number;    /* the last one given out; the taker's, else under the table's lock */
    struct rdo_slot *next_free;
} rdo_slot;

typedef struct rdo_slots {
    _Atomic(char *) chunks[RDO_SLOT_CHUNKS];
    rdo_lock lock;
    size_t element_bytes;
    uint32_t count; /* slots made so far, slot 0 included */
    rdo_slot *free;
} rdo_slots;

#define RDO_SLOTS_INIT(element) {.lock = RDO_LOCK_INIT(RDO_RANK_LEAF), .element_bytes = sizeof(element), .count = 1}

/* A slot for a new thing, with the number it will have in *out_number. The number is looked up in vain until
 * rdo_slots_publish. NULL if there is no memory or all slots are in use. */
rdo_slot *rdo_slots_take(rdo_slots *slots, uint64_t *out_number);
void rdo_slots_publish(rdo_slot *slot, uint64_t number);
/* From now on the number is looked up in vain. */
void rdo_slots_hide(rdo_slot *slot);
/* A new number for a slot that was taken and is hidden: as if it were given back and taken again, without the table's
 * lock. 0 if its generations are spent: then it can only be given back. */
uint64_t rdo_slots_renew(rdo_slot *slot);
/* Gives the slot back; its number was hidden before. */
void rdo_slots_give(rdo_slots *slots, rdo_slot *slot);

/* The slot that `number` names or, though it was hidden since, named; NULL if there is none at that place. The table's
 * `element_bytes` is told anew, since the compiler then knows it. */
static inline void *rdo_slots_at(rdo_slots *slots, size_t element_bytes, uint64_t number) {
    size_t index = number & 0xffffffu;
    char *chunk = atomic_load_explicit(&slots->chunks[index / RDO_SLOT_CHUNK], memory_order_acquire);
    return chunk != NULL ? chunk + element_bytes * (index % RDO_SLOT_CHUNK) : NULL;
}

/* The slot that `number` names now, NULL if it names nothing any more. */
static inline void *rdo_slots_find(rdo_slots *slots, size_t element_bytes, uint64_t number) {
    rdo_slot *slot = (rdo_slot *)rdo_slots_at(slots, element_bytes, number);
    if (slot == NULL) return NULL;
    return atomic_load_explicit(&slot->number, memory_order_acquire) == number ? slot : NULL;
}

#endif
