/* Relocation: emptying outdated pages by device copies, so that they can be released [M5].
 *
 * The home queue's lock keeps its own operations out; the device lock, held over the copies, keeps new ones of other
 * queues out, and memory that such operations already use is left alone. This is the one place where the device
 * lock is held across a backend call: moving memory is rare, and a lock is simpler to trust than a protocol for
 * addresses that change under waiting operations.
 */
#include "base/check.h"
#include "memory/store.h"

/* Of a page of the pool SHARED. */
static bool is_outdated(const rdo_page *page) {
    return page != NULL && page->size < page->store->shared_page_bytes;
}

static bool can_empty(const rdo_page *page) {
    if (!is_outdated(page) || page->used == 0 || page->guarded != 0) return false;
    RDO_ASSERT(page->marked == 0); /* only a window that records marks, and then nothing is moved */
    for (uint32_t i = 0; i != RDO_NO_SLICE; i = page->slices[i].after) {
        const rdo_memory *owner = page->slices[i].owner;
        if (owner != NULL && (owner->uses != 0 || owner->maps != 0)) return false;
    }
    return true;
}

bool rdo_store_has_outdated(const rdo_store *store) {
    const rdo_pool *pool = &store->pools[RONDO_POOL_SHARED];
    for (uint32_t i = 0; i < pool->count; i++) {
        if (can_empty(pool->pages[i])) return true;
    }
    return false;
}

static bool copy_bytes(rdo_books *books, void *queue, rondo_place target, rondo_place source, uint64_t size) {
    rondo_backend_outcome outcome = {0};
    rondo_backend_op op = {.kind = RONDO_OP_COPY, .target = target, .source = source, .size_bytes = size, .rows = 1};
    return books->backend->submit(queue, &op, &outcome) == RONDO_BACKEND_DONE;
}

/* Moves one allocation to current room; false, and nothing changed, if there is none or the copy fails. */
static bool move(rdo_store *store, void *queue, rdo_memory *memory, bool *out_no_room) {
    rdo_request request = {.size = memory->size, .usage = memory->usage};
    rdo_page *from = memory->page;
    uint32_t from_slice = memory->slice;
    rondo_place source = memory->place;
    uint64_t address = memory->address;
    if (!rdo_store_place(store, &request, memory, false)) {
        *out_no_room = true;
        return false;
    }
    if (copy_bytes(store->books, queue, memory->place, source, memory->size)) {
        rdo_page_free(from, from_slice);
        return true;
    }
    rdo_page_free(memory->page, memory->slice);
    memory->page = from;
    memory->slice = from_slice;
    memory->place = source;
    memory->address = address;
    return false;
}

/* Empties the page as far as it goes. What could not move stays, whole and in place. */
static void empty_page(rdo_store *store, void *queue, rdo_page *page, bool *out_no_room) {
    for (uint32_t i = 0; i != RDO_NO_SLICE; i = page->slices[i].after) {
        rdo_memory *owner = page->slices[i].owner;
        if (owner == NULL) continue;
        if (!move(store, queue, owner, out_no_room)) return;
        i = 0; /* freeing may have merged slices; entry 0 is always the first */
    }
}

/* Says whether some allocation found no room; a copy that failed is another matter, which more room does not mend. */
static void empty_pages(rdo_store *store, void *queue, bool *out_no_room) {
    rdo_pool *pool = &store->pools[RONDO_POOL_SHARED];
    *out_no_room = false;
    for (uint32_t i = 0; i < pool->count; i++) {
        if (can_empty(pool->pages[i])) empty_page(store, queue, pool->pages[i], out_no_room);
    }
}

void rdo_store_relocate(rdo_store *store, void *queue, bool may_grow) {
    rdo_books *books = store->books;
    bool no_room = false;
    rdo_lock_take(&books->lock);
    bool wanted = books->recorders == 0 && rdo_store_has_outdated(store);
    if (wanted) empty_pages(store, queue, &no_room);
    rdo_lock_give(&books->lock);
    if (no_room && may_grow) {
        rdo_request request = {.size = store->shared_page_bytes};
        if (rdo_store_grow(store, &request) == RONDO_BACKEND_DONE) {
            rdo_lock_take(&books->lock);
            /* A window may have opened meanwhile: what it was given must stay. */
            if (books->recorders == 0) empty_pages(store, queue, &no_room);
            store->fresh = NULL;
            rdo_lock_give(&books->lock);
        }
    }
    rdo_lock_take(&books->lock);
    if (wanted) rdo_books_release_pages(books, false);
    rdo_lock_give(&books->lock);
}
