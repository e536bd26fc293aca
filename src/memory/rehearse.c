/* Rehearsing a warm-up's sequence of reservations and releases on the real pools, so that the recorded run,
 * which may not grow them, finds the same room [C6].
 *
 * The first pass places the sequence as anybody's, and marks what it used as the window's. Further passes place it
 * on the
 * window's room alone, exactly as the recorded run will, and grow that room where it falls short; the first pass
 * that grows nothing proves that the recorded run will fit.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/check.h"
#include "memory/store.h"

typedef struct rehearsal {
    rdo_store *store;
    const rdo_note *notes;
    size_t count;
    uint64_t window;
    rdo_memory *actors; /* one stand-in per note */
    size_t *order;      /* the notes that reserve, by memory id */
    size_t reserving;
    bool grew;
} rehearsal;

static bool place(rehearsal *r, const rdo_request *request, size_t i, bool own_only) {
    rdo_lock_take(&r->store->books->lock);
    bool placed = rdo_store_place(r->store, request, &r->actors[i], own_only);
    rdo_lock_give(&r->store->books->lock);
    return placed;
}

static rondo_backend_result place_actor(rehearsal *r, size_t i, bool own_only) {
    rdo_request request = r->notes[i].request;
    request.window = r->window;
    if (own_only && place(r, &request, i, true)) return RONDO_BACKEND_DONE;
    r->grew = true;
    if (place(r, &request, i, false)) return RONDO_BACKEND_DONE;
    rondo_backend_result result = rdo_store_grow(r->store, &request);
    if (result != RONDO_BACKEND_DONE) return result;
    bool placed = place(r, &request, i, false);
    return RDO_NEVER(!placed) ? RONDO_BACKEND_NO_MEMORY : RONDO_BACKEND_DONE; /* the new page fits the request */
}

static void free_actor(rehearsal *r, size_t i) {
    rdo_memory *actor = &r->actors[i];
    if (actor->page == NULL) return;
    rdo_lock_take(&r->store->books->lock);
    rdo_page_free(actor->page, actor->slice);
    rdo_lock_give(&r->store->books->lock);
    actor->page = NULL;
}

/* What qsort compares by; one rehearsal at a time a thread. */
static _Thread_local const rdo_note *sorted_notes;

static int compare_reserving(const void *left, const void *right) {
    uint64_t a = sorted_notes[*(const size_t *)left].memory_id, b = sorted_notes[*(const size_t *)right].memory_id;
    return (a > b) - (a < b);
}

static void sort_reserving(rehearsal *r) {
    for (size_t i = 0; i < r->count; i++) {
        if (r->notes[i].request.size != RDO_NOTE_RELEASE) r->order[r->reserving++] = i;
    }
    sorted_notes = r->notes;
    if (r->reserving != 0) qsort(r->order, r->reserving, sizeof *r->order, compare_reserving);
}

/* The note that reserved what note `i` releases, `i` itself if the warm-up did not reserve it. */
static size_t reserved_by(const rehearsal *r, size_t i) {
    size_t low = 0, high = r->reserving;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->notes[r->order[middle]].memory_id < r->notes[i].memory_id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool found = low < r->reserving && r->notes[r->order[low]].memory_id == r->notes[i].memory_id;
    return found ? r->order[low] : i;
}

static rondo_backend_result run_pass(rehearsal *r, bool own_only) {
    rondo_backend_result result = RONDO_BACKEND_DONE;
    r->grew = false;
    for (size_t i = 0; i < r->count && result == RONDO_BACKEND_DONE; i++) {
        if (r->notes[i].request.size == RDO_NOTE_RELEASE) {
            free_actor(r, reserved_by(r, i));
        } else {
            result = place_actor(r, i, own_only);
        }
    }
    for (size_t i = 0; i < r->count; i++) free_actor(r, i);
    return result;
}

/* All that the window holds is free again: its pieces become one where they touch, as the recorded run will find
 * them. */
static void tidy_up(rehearsal *r) {
    rdo_lock_take(&r->store->books->lock);
    for (int kind = 0; kind < RONDO_POOL_KINDS; kind++) {
        rdo_pool *pool = &r->store->pools[kind];
        for (uint32_t i = 0; i < pool->count; i++) {
            if (pool->pages[i] != NULL && pool->pages[i]->marked != 0) {
                rdo_page_coalesce_window(pool->pages[i], r->window);
            }
        }
    }
    rdo_lock_give(&r->store->books->lock);
}

static rondo_backend_result rehearse(rehearsal *r) {
    sort_reserving(r);
    rondo_backend_result result = run_pass(r, false);
    tidy_up(r);
    /* It ends: a reservation that falls short adds a piece that it fits on, and once there are as many of those as
     * notes, one is free whenever it is placed. */
    r->grew = true;
    while (result == RONDO_BACKEND_DONE && r->grew) {
        result = run_pass(r, true);
        tidy_up(r);
    }
    return result;
}

rondo_backend_result rdo_store_rehearse(rdo_store *store, const rdo_note *notes, size_t count, uint64_t window) {
    rehearsal r = {.store = store, .notes = notes, .count = count, .window = window};
    rondo_backend_result result = RONDO_BACKEND_NO_MEMORY;
    if (count == 0) return RONDO_BACKEND_DONE;
    r.actors = rdo_alloc_zero(count, sizeof *r.actors);
    r.order = rdo_alloc_zero(count, sizeof *r.order);
    if (r.actors != NULL && r.order != NULL) result = rehearse(&r);
    rdo_free(r.actors);
    rdo_free(r.order);
    return result;
}
