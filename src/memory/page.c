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
    page->slice_count = 2;
    page->most_open = size;
    page->slices[0] = (rdo_slice){.size = size,
                                  .before = RDO_NO_SLICE,
                                  .after = RDO_NO_SLICE,
                                  .open = {RDO_NO_SLICE, RDO_NO_SLICE}};
    page->slices[RDO_NO_SLICE] =
        (rdo_slice){.offset = UINT64_MAX, .size = UINT64_MAX, .open = {0, 0}, .guards = 1, .spare = true};
    return page;
}

void rdo_page_delete(rdo_page *page) {
    rdo_free(page->slices);
    rdo_free(page);
}

static bool is_open(const rdo_slice *slice) {
    return ((uintptr_t)slice->owner | slice->guards | slice->window) == 0;
}

uint32_t rdo_page_fit_window(const rdo_page *page, uint64_t size, uint64_t window, bool own_only) {
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

static void drop_entry(rdo_page *page, uint32_t entry) {
    page->slices[entry].after = page->spares;
    page->slices[entry].spare = true;
    page->spares = entry;
}

/* Lists an open slice between the two that its links name. */
static inline void list_open(rdo_page *page, uint32_t index) {
    rdo_links links = page->slices[index].open;
    page->slices[links.before].open.after = index;
    page->slices[links.after].open.before = index;
}

static inline void unlist_open(rdo_page *page, uint32_t index) {
    rdo_links links = page->slices[index].open;
    page->slices[links.before].open.after = links.after;
    page->slices[links.after].open.before = links.before;
}

/* The last open slice before `index`. Looks back from there and on from the first open one at once, so that neither
 * many used slices in a row nor many open ones make it long. */
static uint32_t find_open_before(const rdo_page *page, uint32_t index) {
    const rdo_slice *slices = page->slices;
    uint32_t back = slices[index].before, on = slices[RDO_NO_SLICE].open.after;
    while (!is_open(&slices[back])) {
        if (slices[on].offset > slices[index].offset) return slices[on].open.before;
        back = slices[back].before;
        on = slices[on].open.after;
    }
    return back;
}

/* Cuts the free slice at `size` bytes; both parts keep window and touch. Returns the second. */
static uint32_t split(rdo_page *page, uint32_t index, uint64_t size) {
    uint32_t rest = take_entry(page);
    rdo_slice *slice = &page->slices[index];
    page->slices[rest] = *slice;
    page->slices[rest].offset = slice->offset + size;
    page->slices[rest].size = slice->size - size;
    page->slices[rest].before = index;
    page->slices[slice->after].before = rest;
    slice->after = rest;
    slice->size = size;
    if (slice->window != 0) page->marked++;
    return rest;
}

void rdo_page_carve(rdo_page *page, uint32_t index, uint64_t size, rdo_memory *owner, uint64_t window) {
    RDO_ASSERT(page->slices[index].owner == NULL && page->slices[index].size >= size);
    bool open = page->slices[index].window == 0; /* a guarded slice is not carved */
    if (page->slices[index].size > size) {
        uint32_t rest = split(page, index, size);
        if (open) list_open(page, rest); /* where the whole was */
    } else if (open) {
        unlist_open(page, index);
    }
    rdo_slice *slice = &page->slices[index];
    slice->owner = owner;
    slice->noted = 0;
    page->used++;
    if (open && window == 0) return; /* nobody touched it */
    if (open) page->marked++;
    slice->window = window;
    slice->served = false;
    slice->reused = slice->touched;
    slice->touched = false;
}

static bool can_merge(const rdo_slice *a, const rdo_slice *b, uint64_t window) {
    return a->owner == NULL && b->owner == NULL && a->guards == 0 && b->guards == 0 && a->window == window &&
           b->window == window;
}

/* Makes the slice after `index`, of the same window, part of it. */
static void swallow_next(rdo_page *page, uint32_t index) {
    rdo_slice *slice = &page->slices[index];
    uint32_t gone = slice->after;
    rdo_slice *next = &page->slices[gone];
    slice->size += next->size;
    slice->after = next->after;
    slice->touched = slice->touched || next->touched;
    page->slices[next->after].before = index;
    page->marked--;
    drop_entry(page, gone);
}

/* Makes the open slice after an open one part of it. */
static inline void absorb(rdo_page *page, uint32_t index) {
    rdo_slice *slice = &page->slices[index];
    uint32_t gone = slice->after;
    rdo_slice *next = &page->slices[gone];
    RDO_ASSERT(is_open(slice) && is_open(next) && !next->touched && !next->served);
    slice->size += next->size;
    slice->after = next->after;
    page->slices[next->after].before = index;
    drop_entry(page, gone);
}

/* The slice has become open: it is listed, or part of its open neighbours. */
static void open_slice(rdo_page *page, uint32_t index) {
    uint32_t before = page->slices[index].before, after = page->slices[index].after;
    bool joins_before = is_open(&page->slices[before]), joins_after = is_open(&page->slices[after]);
    if (joins_after) {
        page->slices[index].open = page->slices[after].open;
        list_open(page, index);
        absorb(page, index);
    }
    if (joins_before) { /* entry 0 is always the first slice by address: a merge swallows the later one */
        if (joins_after) unlist_open(page, index);
        absorb(page, before);
        index = before;
    } else if (!joins_after) {
        uint32_t last = find_open_before(page, index);
        page->slices[index].open = (rdo_links){last, page->slices[last].open.after};
        list_open(page, index);
    }
    if (page->slices[index].size > page->most_open) page->most_open = page->slices[index].size;
}

void rdo_page_free(rdo_page *page, uint32_t index) {
    rdo_slice *slice = &page->slices[index];
    RDO_ASSERT(slice->owner != NULL);
    slice->owner = NULL;
    page->used--;
    if (slice->window != 0) {
        slice->touched = slice->touched || slice->reused;
        slice->served = true;
        return;
    }
    RDO_ASSERT(!slice->touched && !slice->reused && !slice->served);
    if (slice->guards == 0) open_slice(page, index);
}

void rdo_page_guard(rdo_page *page, uint32_t index) {
    if (is_open(&page->slices[index])) unlist_open(page, index);
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
        open_slice(page, index);
    }
}

void rdo_page_set_window(rdo_page *page, uint32_t index, uint64_t window) {
    rdo_slice *slice = &page->slices[index];
    if (slice->window == window) return;
    RDO_ASSERT(slice->window == 0 || window == 0);
    if (is_open(slice)) unlist_open(page, index);
    slice->window = window;
    if (window != 0) {
        page->marked++;
        return;
    }
    page->marked--;
    slice->touched = slice->reused = slice->served = false;
    if (is_open(slice)) open_slice(page, index);
}

void rdo_page_coalesce_window(rdo_page *page, uint64_t window) {
    RDO_ASSERT(window != 0); /* open slices are one already */
    for (uint32_t i = 0; i != RDO_NO_SLICE; i = page->slices[i].after) {
        rdo_slice *slice = &page->slices[i];
        while (can_merge(slice, &page->slices[slice->after], window)) swallow_next(page, i);
        if (slice->owner == NULL && slice->window == window) slice->served = false;
    }
}

bool rdo_page_check(const rdo_page *page) {
    uint64_t offset = 0;
    uint32_t used = 0, guarded = 0, marked = 0, before = RDO_NO_SLICE, entries = 1; /* the one that ends the lists */
    uint32_t open = page->slices[RDO_NO_SLICE].open.after, open_before = RDO_NO_SLICE;
    for (uint32_t i = 0; i != RDO_NO_SLICE; i = page->slices[i].after) {
        const rdo_slice *slice = &page->slices[i];
        if (slice->spare || slice->offset != offset || slice->before != before) return false;
        if (slice->size == 0 && page->size != 0) return false;
        if (before != RDO_NO_SLICE && can_merge(&page->slices[before], slice, 0)) return false;
        if (slice->window != 0 && slice->noted == slice->window && !slice->touched) return false;
        if (slice->owner != NULL && (slice->owner->page != page || slice->owner->slice != i)) return false;
        if (is_open(slice)) {
            if (slice->touched || slice->reused || slice->served) return false;
            if (i != open || slice->open.before != open_before || slice->size > page->most_open) return false;
            open_before = i;
            open = slice->open.after;
        }
        used += slice->owner != NULL;
        guarded += slice->guards != 0;
        marked += slice->window != 0;
        offset += slice->size;
        before = i;
        entries++;
    }
    for (uint32_t i = page->spares; i != RDO_NO_SLICE; i = page->slices[i].after, entries++) {
        if (!page->slices[i].spare) return false;
    }
    bool counts = used == page->used && guarded == page->guarded && marked == page->marked;
    bool listed = open == RDO_NO_SLICE && page->slices[RDO_NO_SLICE].open.before == open_before;
    return offset == page->size && listed && counts && entries == page->slice_count;
}
