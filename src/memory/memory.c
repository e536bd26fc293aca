#include "memory/memory.h"

#include "base/check.h"
#include "memory/page.h"
#include "memory/store.h"

rdo_slots rdo_memories = RDO_SLOTS_INIT(rdo_memory);

enum { MOST_SPARES = 32 };

/* One of the table's, whose lock all devices share. */
static rdo_memory *take_from_table(rdo_store *home, uint64_t *out_number) {
    rdo_memory *memory = (rdo_memory *)(void *)rdo_slots_take(&rdo_memories, out_number);
    if (memory == NULL) return NULL;
    /* Other threads may be looking at it. */
    atomic_store_explicit(&memory->books, home->books, memory_order_relaxed);
    atomic_store_explicit(&memory->home, home, memory_order_relaxed);
    memory->named_in = 0; /* it may be the number of a walk of another queue */
    return memory;
}

/* One that the store kept, if it did. */
static rdo_memory *take_record(rdo_store *home, uint64_t *out_number) {
    rdo_slot *slot = home->spares;
    if (slot == NULL) return take_from_table(home, out_number);
    home->spares = slot->next_free;
    home->spare_count--;
    *out_number = rdo_slots_renew(slot);
    if (RDO_LIKELY(*out_number != 0)) return (rdo_memory *)(void *)slot;
    rdo_slots_give(&rdo_memories, slot);
    return take_from_table(home, out_number);
}

rdo_memory *rdo_memory_new(rdo_store *home, uint64_t stream_id, const rdo_request *request, bool staging) {
    uint64_t number;
    rdo_memory *memory = take_record(home, &number);
    if (memory == NULL) return NULL;
    RDO_ASSERT(memory->page == NULL && memory->uses == 0 && memory->maps == 0 && !memory->returning.queued);
    RDO_ASSERT(rdo_claims_untouched(&memory->claims) && memory->host_data == NULL && memory->due == NULL);
    atomic_store_explicit(&memory->id, number, memory_order_relaxed);
    memory->home_stream_id = stream_id;
    memory->size = request->size;
    memory->refs = 1;
    memory->listed_by = 0;
    memory->usage = request->usage;
    memory->host = request->host;
    memory->staging = staging;
    return memory;
}

void rdo_memory_publish(rdo_memory *memory) {
    rdo_slots_publish(&memory->slot, memory->id);
}

void rdo_memory_delete(rdo_memory *memory) {
    rdo_store *home = atomic_load_explicit(&memory->home, memory_order_relaxed);
    atomic_store_explicit(&memory->id, 0, memory_order_relaxed);
    if (home->spare_count == MOST_SPARES) {
        rdo_slots_give(&rdo_memories, &memory->slot);
        return;
    }
    memory->slot.next_free = home->spares;
    home->spares = &memory->slot;
    home->spare_count++;
}

void rdo_memory_delete_spares(rdo_store *store) {
    while (store->spares != NULL) {
        rdo_slot *slot = store->spares;
        store->spares = slot->next_free;
        rdo_slots_give(&rdo_memories, slot);
    }
}

static uint32_t guards_of(const rdo_memory *memory) {
    return memory->page != NULL ? memory->page->slices[memory->slice].guards : 0;
}

/* Whether that was the last reference; then the number is dead. */
static bool drop_reference(rdo_memory *memory) {
    RDO_ASSERT(memory->refs != 0);
    if (--memory->refs != 0) return false;
    if (!memory->staging) {
        rdo_books *books = rdo_memory_books(memory);
        rdo_slots_hide(&memory->slot);
        *(memory->host ? &books->host_blocks : &books->buffers) -= 1;
    }
    return true;
}

/* Whether somebody besides its users needs it. */
static bool is_needed(const rdo_memory *memory) {
    return memory->uses != 0 || memory->maps != 0 || guards_of(memory) != 0;
}

void rdo_memory_unref(rdo_memory *memory) {
    if (drop_reference(memory)) rdo_memory_settle(memory);
}

void rdo_memory_unref_at_home(rdo_memory *memory) {
    if (drop_reference(memory) && !is_needed(memory)) memory->returning.finish(&memory->returning);
}

void rdo_memory_settle(rdo_memory *memory) {
    if (memory->refs != 0 || is_needed(memory)) return;
    rdo_store_return(atomic_load_explicit(&memory->home, memory_order_relaxed), &memory->returning);
}

void rdo_memory_claim(rdo_memory *memory, uint64_t low, uint64_t high, uint64_t failure, uint64_t tag) {
    rdo_claims_set(&memory->claims, memory->size, low, high, failure, tag, &rdo_memory_books(memory)->claimed);
}

void rdo_memory_unclaim(rdo_memory *memory, uint64_t low, uint64_t high) {
    rdo_claims_release(&memory->claims, low, high, &rdo_memory_books(memory)->claimed);
}

rdo_location rdo_memory_location(const rdo_memory *memory) {
    if (memory->page == NULL) return (rdo_location){RONDO_POOL_SMALL, UINT32_MAX, UINT32_MAX};
    return (rdo_location){(uint32_t)memory->page->pool, memory->page->index, memory->slice};
}
