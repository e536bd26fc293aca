/* Pages and slices.
 *
 * A page is one allocation of the backend, cut into slices that cover it without gaps, in order of
 * address. Page numbers never change: a released page leaves a hole that the next page fills, so a location
 * changes only when its bytes are relocated.
 *
 *   free ──carve──► used ──recycled──► free ──neighbours free too──► coalesced
 *
 * A slice of a window (window != 0) is handed out only to that window's owner, and does not coalesce, from the window's
 * begin to its end. Of host pages it is handed out once only: what the host wrote there when the work was recorded, the
 * snapshot of a write or the bytes of a block, is read by each replay, and nobody else's bytes must take its place
 * [C7]. A guarded slice (guards > 0) belongs to a graph: used or free, it is not handed out, not
 * coalesced, not moved, and its page is not released. A slice is open if it is free, unguarded and of no window:
 * anybody may be given it.
 *
 * Invariants
 *  1. Slices cover the page: each starts where the one before ends, the first at 0, the last ends at the page's end.
 *  2. Two open neighbours are one slice.
 *  3. used, guarded and marked count the slices with an owner, with guards, and with a window.
 *  4. A used slice's owner names this page and slice.
 *  5. The open slices are linked in order of address, none is larger than `most_open`, and none is marked as touched,
 *     reused or served.
 *  6. A slice of a window that noted it is marked as touched.
 *  7. Each entry but RDO_NO_SLICE is either a slice, or marked as spare and listed as such.
 */
#ifndef RDO_MEMORY_PAGE_H
#define RDO_MEMORY_PAGE_H

#include "memory/books.h"

/* An entry of each page that is no slice, but the ends of its lists: what is linked never has to ask whether it comes
 * first or last. It is not open, is larger than anything, and lies after everything. */
#define RDO_NO_SLICE 1

typedef struct rdo_links {
    uint32_t before, after; /* RDO_NO_SLICE at the ends */
} rdo_links;

typedef struct rdo_slice {
    uint64_t offset, size;
    uint32_t before, after; /* neighbours by address, RDO_NO_SLICE at the ends */
    rdo_links open;         /* an open slice's neighbours among these */
    rdo_memory *owner;      /* NULL: free */
    uint64_t window;        /* the open window that this slice belongs to, 0: none */
    uint64_t noted;         /* the window that noted it last, so that it need not be noted again */
    uint32_t guards;
    bool touched;           /* a recorded operation of that window was given these bytes */
    bool reused;            /* carved inside the window from touched bytes */
    bool served;            /* free again, given back inside the window */
    bool spare;             /* this entry is no slice at the moment */
} rdo_slice;

struct rdo_page {
    rdo_page *next_free; /* while it waits to be freed */
    rdo_store *store;
    rdo_books *books;
    rondo_pool_kind pool;
    uint32_t index;      /* page number in its pool */
    void *handle;        /* the backend's */
    uint64_t size;
    uint64_t address;    /* of the first byte, in a flat space that no two pages of a device ever share */
    rdo_slice *slices;
    uint32_t slice_count; /* entries, spare ones included */
    size_t slice_capacity;
    uint32_t spares;      /* first spare entry, linked by `after` */
    uint64_t most_open;   /* a bound that a search in vain lowers */
    uint32_t used, guarded, marked;
    rondo_usage usage;    /* own pages: what they may be reused for */
    bool imported;
};

/* A page over backend memory `handle`, one free slice. NULL without memory. */
rdo_page *rdo_page_new(rdo_books *books, void *handle, uint64_t size);
/* Frees the description only; the backend's memory is the caller's. */
void rdo_page_delete(rdo_page *page);

/* False if it is known without a search that rdo_page_fit finds nothing. */
static inline bool rdo_page_may_fit(const rdo_page *page, uint64_t size, uint64_t window) {
    return size <= page->most_open || window != 0;
}
/* Used by the next one. */
uint32_t rdo_page_fit_window(const rdo_page *page, uint64_t size, uint64_t window, bool own_only);
/* The first free slice of at least `size` bytes that `window` may use: one of its own if `own_only`, else also one
 * of no window. RDO_NO_SLICE if there is none. */
static inline uint32_t rdo_page_fit(rdo_page *page, uint64_t size, uint64_t window, bool own_only) {
    if (window != 0) return rdo_page_fit_window(page, size, window, own_only);
    uint32_t i = page->slices[RDO_NO_SLICE].open.after;
    while (page->slices[i].size < size) i = page->slices[i].open.after;
    if (i == RDO_NO_SLICE) page->most_open = size - 1;
    return i;
}
/* Used by the next one: makes room for one more slice. */
bool rdo_page_add_room(rdo_page *page);
/* Whether rdo_page_carve can be done without further memory. */
static inline bool rdo_page_prepare_carve(rdo_page *page) {
    return page->spares != RDO_NO_SLICE || page->slice_count < page->slice_capacity || rdo_page_add_room(page);
}
/* Gives `size` bytes of a free slice to `owner`; the rest stays free. Room for one more slice was prepared. */
void rdo_page_carve(rdo_page *page, uint32_t index, uint64_t size, rdo_memory *owner, uint64_t window);
/* The owner is gone: the slice is free, and coalesces as far as window and guards allow. */
void rdo_page_free(rdo_page *page, uint32_t index);
/* Guard and unguard a slice. Unguarding a free slice coalesces it; that of an unreferenced owner settles it. */
void rdo_page_guard(rdo_page *page, uint32_t index);
void rdo_page_unguard(rdo_page *page, uint32_t index);
/* Sets or clears the window of a slice, keeping count. Clearing coalesces. */
void rdo_page_set_window(rdo_page *page, uint32_t index, uint64_t window);
/* Makes one slice of neighbouring free slices of `window`, touched ones too, as if none had served yet. */
void rdo_page_coalesce_window(rdo_page *page, uint64_t window);

/* For tests and debug builds: whether the invariants hold. */
bool rdo_page_check(const rdo_page *page);

#endif
