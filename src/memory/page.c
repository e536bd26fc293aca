#include "memory/page.h"

#include "base/alloc.h"
#include "base/check.h"

rdo_page *rdo_page_new(rdo_books *books, void *handle, uint64_t size) {
    rdo_page *page = rdo_alloc_zero(1, sizeof *page);
    if (page == NULL) return NULL;
    if (!rdo_grow(&page->slices, &page->slice_capacity, 4, sizeof *page->slices)) {
        rdo_free(page);
        return NULL;
    }
    page->books = books;
    page->handle = handle;
    page->size = size;
    page->spares = RDO_NO_SLICE;
    page->slice_count = 1;
    page->slices[0] = (rdo_slice){.size = size, .before = RDO_NO_SLICE, .after = RDO_NO_SLICE};
    return page;
}

void rdo_page_delete(rdo_page *page) {
    rdo_free(page->slices);
    rdo_free(page);
}

uint32_t rdo_page_fit(const rdo_page *page, uint64_t size, uint64_t window, bool own_only) {
    for (uint32_t i = 0; i != RDO_NO_SLICE; i = page->slices[i].after) {
        const rdo_slice *slice = &page->slices[i];
        if (slice->owner != NULL || slice->size < size || slice->guards != 0) continue;
        bool allowed = slice->window == window || (slice->window == 0 && !own_only);
        if (allowed && !(slice->served && page->pool == RONDO_POOL_HOST)) return i;
    }
    return RDO_NO_SLICE;
}

bool rdo_page_add_room(rdo_page *page) {
    return rdo_grow(&page->slices, &page->slice_capacity, (size_t)page->slice_count + 1, sizeof *page->slices);
}

static uint32_t take_entry(rdo_page *page) {
    uint32_t entry = page->spares;
    if (entry == RDO_NO_SLICE) return page->slice_count++;
    page->spares = page->slices[entry].after;
    return entry;
}

/* Cuts the free slice at `size` bytes; both parts keep window and touch. */
static void split(rdo_page *page, uint32_t index, uint64_t size) {
    uint32_t rest = take_entry(page);
    rdo_slice *slice = &page->slices[index];
    page->slices[rest] = *slice;
    page->slices[rest].offset += size;
    page->slices[rest].size -= size;
    page->slices[rest].noted = 0;
    page->slices[rest].before = index;
    if (slice->after != RDO_NO_SLICE) page->slices[slice->after].before = rest;
    slice->after = rest;
    slice->size = size;
    if (slice->window != 0) page->marked++;
}

void rdo_page_carve(rdo_page *page, uint32_t index, uint64_t size, rdo_memory *owner, uint64_t window) {
    RDO_ASSERT(page->slices[index].owner == NULL && page->slices[index].size >= size);
    if (page->slices[index].size > size) split(page, index, size);
    rdo_slice *slice = &page->slices[index];
    slice->owner = owner;
    slice->noted = 0;
    slice->served = false;
    slice->reused = slice->touched;
    slice->touched = false;
    page->used++;
    if (slice->window == 0 && window != 0) page->marked++;
    slice->window = window;
}

static bool can_merge(const rdo_slice *a, const rdo_slice *b, uint64_t window) {
    return a->owner == NULL && b->owner == NULL && a->guards == 0 && b->guards == 0 && a->window == window &&
           b->window == window;
}

/* Makes the slice after `index` part of it. */
static void swallow_next(rdo_page *page, uint32_t index) {
    rdo_slice *slice = &page->slices[index];
    uint32_t gone = slice->after;
    rdo_slice *next = &page->slices[gone];
    slice->size += next->size;
    slice->after = next->after;
    slice->touched = slice->touched || next->touched;
    slice->served = slice->served || next->served;
    if (next->after != RDO_NO_SLICE) page->slices[next->after].before = index;
    if (next->window != 0) page->marked--;
    *next = (rdo_slice){.after = page->spares, .spare = true};
    page->spares = gone;
}

static inline void coalesce(rdo_page *page, uint32_t index, uint64_t window) {
    rdo_slice *slice = &page->slices[index];
    while (slice->after != RDO_NO_SLICE && can_merge(slice, &page->slices[slice->after], window)) {
        swallow_next(page, index);
    }
    /* Entry 0 is always the first slice by address: a merge swallows the later one. */
    if (slice->before != RDO_NO_SLICE && can_merge(&page->slices[slice->before], slice, window)) {
        swallow_next(page, slice->before);
    }
}

void rdo_page_free(rdo_page *page, uint32_t index) {
    rdo_slice *slice = &page->slices[index];
    RDO_ASSERT(slice->owner != NULL);
    slice->owner = NULL;
    page->used--;
    slice->touched = slice->touched || slice->reused;
    slice->served = slice->window != 0;
    if (slice->window == 0) {
        slice->touched = slice->reused = false;
        coalesce(page, index, 0);
    }
}

void rdo_page_guard(rdo_page *page, uint32_t index) {
    if (page->slices[index].guards++ != 0) return;
    page->guarded++;
    page->books->reports[page->pool].guarded_bytes += page->slices[index].size;
}

void rdo_page_unguard(rdo_page *page, uint32_t index) {
    rdo_slice *slice = &page->slices[index];
    RDO_ASSERT(slice->guards != 0);
    if (--slice->guards != 0) return;
    page->guarded--;
    page->books->reports[page->pool].guarded_bytes -= slice->size;
    if (slice->owner != NULL) {
        rdo_memory_settle(slice->owner);
    } else if (slice->window == 0) {
        coalesce(page, index, 0);
    }
}

void rdo_page_set_window(rdo_page *page, uint32_t index, uint64_t window) {
    rdo_slice *slice = &page->slices[index];
    if (slice->window == 0 && window != 0) page->marked++;
    if (slice->window != 0 && window == 0) page->marked--;
    slice->window = window;
    if (window != 0) return;
    slice->touched = slice->reused = slice->served = false;
    if (slice->owner == NULL && slice->guards == 0) coalesce(page, index, 0);
}

void rdo_page_coalesce_window(rdo_page *page, uint64_t window) {
    for (uint32_t i = 0; i != RDO_NO_SLICE; i = page->slices[i].after) {
        rdo_slice *slice = &page->slices[i];
        while (slice->after != RDO_NO_SLICE && can_merge(slice, &page->slices[slice->after], window)) {
            swallow_next(page, i);
        }
        if (slice->owner == NULL && slice->window == window) slice->served = false;
    }
}

bool rdo_page_check(const rdo_page *page) {
    uint64_t offset = 0;
    uint32_t used = 0, guarded = 0, marked = 0, before = RDO_NO_SLICE;
    for (uint32_t i = 0; i != RDO_NO_SLICE; i = page->slices[i].after) {
        const rdo_slice *slice = &page->slices[i];
        if (slice->spare || slice->offset != offset || slice->before != before) return false;
        if (slice->size == 0 && page->size != 0) return false;
        if (before != RDO_NO_SLICE && can_merge(&page->slices[before], slice, 0)) return false;
        if (slice->owner != NULL && (slice->owner->page != page || slice->owner->slice != i)) return false;
        used += slice->owner != NULL;
        guarded += slice->guards != 0;
        marked += slice->window != 0;
        offset += slice->size;
        before = i;
    }
    return offset == page->size && used == page->used && guarded == page->guarded && marked == page->marked;
}
