#include "base/slots.h"

#include "base/alloc.h"
#include "base/check.h"

static const uint64_t one_generation = UINT64_C(1) << 24, last_generation = (UINT64_C(1) << 40) - 1;

static rdo_slot *make_slot(rdo_slots *slots) {
    uint32_t index = slots->count;
    if (index / RDO_SLOT_CHUNK >= RDO_SLOT_CHUNKS) return NULL;
    char *chunk = atomic_load_explicit(&slots->chunks[index / RDO_SLOT_CHUNK], memory_order_relaxed);
    if (chunk == NULL) {
        chunk = rdo_alloc_zero(RDO_SLOT_CHUNK, slots->element_bytes);
        if (chunk == NULL) return NULL;
        if (index < RDO_SLOT_CHUNK) atomic_init(&((rdo_slot *)(void *)chunk)->number, 1);
        atomic_store_explicit(&slots->chunks[index / RDO_SLOT_CHUNK], chunk, memory_order_release);
    }
    rdo_slot *slot = (rdo_slot *)(void *)(chunk + slots->element_bytes * (index % RDO_SLOT_CHUNK));
    slot->last_number = index;
    slots->count++;
    return slot;
}

static bool is_spent(const rdo_slot *slot) {
    return slot->last_number / one_generation == last_generation;
}

static uint64_t next_number(rdo_slot *slot) {
    return slot->last_number += one_generation;
}

rdo_slot *rdo_slots_take(rdo_slots *slots, uint64_t *out_number) {
    rdo_lock_take(&slots->lock);
    rdo_slot *slot = slots->free;
    if (slot != NULL) {
        slots->free = slot->next_free;
    } else {
        slot = make_slot(slots);
    }
    if (slot != NULL) *out_number = next_number(slot);
    rdo_lock_give(&slots->lock);
    return slot;
}

void rdo_slots_publish(rdo_slot *slot, uint64_t number) {
    RDO_ASSERT(atomic_load(&slot->number) == 0);
    atomic_store_explicit(&slot->number, number, memory_order_release);
}

uint64_t rdo_slots_renew(rdo_slot *slot) {
    RDO_ASSERT(atomic_load(&slot->number) == 0);
    return !is_spent(slot) ? next_number(slot) : 0;
}

void rdo_slots_hide(rdo_slot *slot) {
    atomic_store_explicit(&slot->number, 0, memory_order_release);
}

void rdo_slots_give(rdo_slots *slots, rdo_slot *slot) {
    RDO_ASSERT(atomic_load(&slot->number) == 0);
    rdo_lock_take(&slots->lock);
    if (!is_spent(slot)) {
        slot->next_free = slots->free;
        slots->free = slot;
    }
    rdo_lock_give(&slots->lock);
}
