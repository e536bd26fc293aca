#include "memory/store.h"

#include <string.h>

#include "base/alloc.h"
#include "base/check.h"

static const uint64_t mebibyte = UINT64_C(1) << 20;

void rdo_store_init(rdo_store *store, rdo_books *books, bool (*try_sweep)(rdo_store *store)) {
    *store = (rdo_store){.books = books, .next = books->stores, .try_sweep = try_sweep};
    store->shared_page_bytes = books->layout.page_min_bytes;
    books->stores = store;
}

/* Takes the page out of its pool; its number becomes a hole. */
static void unlink_page(rdo_page *page) {
    rondo_pool_report *report = &page->books->reports[page->pool];
    page->store->pools[page->pool].pages[page->index] = NULL;
    report->reserved_bytes -= page->size;
    report->pages--;
}

static void discard_page(rdo_page *page) {
    unlink_page(page);
    page->next_free = page->books->pages_to_free;
    page->books->pages_to_free = page;
    atomic_store(&page->books->due, true);
}

void rdo_store_finish(rdo_store *store) {
    rdo_memory_delete_spares(store);
    for (int kind = 0; kind < RONDO_POOL_KINDS; kind++) {
        rdo_pool *pool = &store->pools[kind];
        for (uint32_t i = 0; i < pool->count; i++) {
            if (pool->pages[i] == NULL) continue;
            RDO_ASSERT(pool->pages[i]->used == 0 && pool->pages[i]->guarded == 0);
            discard_page(pool->pages[i]);
        }
        rdo_free(pool->pages);
        *pool = (rdo_pool){0};
    }
}

static uint64_t padded(const rdo_books *books, uint64_t size) {
    return (size + books->alignment - 1) & ~(books->alignment - 1);
}

rondo_pool_kind rdo_store_pool(const rdo_books *books, const rdo_request *request) {
    if (request->host) return RONDO_POOL_HOST;
    if (request->usage != RONDO_USAGE_GENERAL) return RONDO_POOL_OWN;
    if (request->size <= books->layout.small_max_bytes) return RONDO_POOL_SMALL;
    bool shares = padded(books, request->size) <= books->layout.page_max_bytes;
    return RDO_LIKELY(shares) ? RONDO_POOL_SHARED : RONDO_POOL_OWN;
}

/* An own page serves again: lasting memory by exact size, the rest if at most a fifth would be wasted. */
static bool own_page_fits(const rdo_page *page, const rdo_request *request, uint64_t size) {
    if (page->usage != request->usage || page->used != 0 || page->size < size) return false;
    if (request->usage == RONDO_USAGE_LASTING) return page->size == size;
    return page->size - size <= page->size / 5;
}

static bool outdated(const rdo_page *page) {
    return page->pool == RONDO_POOL_SHARED && page->size < page->store->shared_page_bytes;
}

/* Whether a page of the kind OWN may take the request; others need not be asked. */
static inline bool page_takes(const rdo_page *page, const rdo_request *request, uint64_t size) {
    return RDO_LIKELY(page->pool != RONDO_POOL_OWN) || own_page_fits(page, request, size);
}

static void bind(rdo_page *page, uint32_t slice, rdo_memory *memory) {
    memory->page = page;
    memory->slice = slice;
    memory->place = (rondo_place){page->handle, page->slices[slice].offset};
    memory->address = page->address + page->slices[slice].offset;
    if (page->pool == RONDO_POOL_HOST) memory->host_data = (char *)page->handle + page->slices[slice].offset;
}

/* Puts the allocation on the page, if it has room. */
static inline bool place_on(rdo_page *page, const rdo_request *request, uint64_t size, rdo_memory *memory,
                            bool own_only) {
    uint32_t slice = rdo_page_fit(page, size, request->window, own_only);
    if (slice == RDO_NO_SLICE || !rdo_page_prepare_carve(page)) return false;
    RDO_ASSERT(!page->imported); /* its one allocation has it whole */
    /* An own page has one allocation, which takes it whole. */
    uint64_t taken = page->pool == RONDO_POOL_OWN ? page->slices[slice].size : size;
    rdo_page_carve(page, slice, taken, memory, request->window);
    bind(page, slice, memory);
    return true;
}

static bool place_in_window(const rdo_pool *pool, const rdo_request *request, uint64_t size, rdo_memory *memory) {
    for (uint32_t i = 0; i < pool->count; i++) {
        rdo_page *page = pool->pages[i];
        bool serves = page != NULL && page->marked != 0 && page_takes(page, request, size);
        if (serves && place_on(page, request, size, memory, true)) return true;
    }
    return false;
}

static inline bool place_anywhere(const rdo_pool *pool, const rdo_request *request, uint64_t size, rdo_memory *memory) {
    for (uint32_t i = pool->first; i < pool->count; i++) {
        rdo_page *page = pool->pages[i];
        bool serves = page != NULL && rdo_page_may_fit(page, size, request->window) && !outdated(page) &&
                      page_takes(page, request, size);
        if (serves && place_on(page, request, size, memory, false)) return true;
    }
    return false;
}

bool rdo_store_place(rdo_store *store, const rdo_request *request, rdo_memory *memory, bool own_only) {
    store->fresh = NULL;
    if (request->size == 0) {
        memory->place = (rondo_place){0};
        memory->address = 0;
        return true;
    }
    const rdo_pool *pool = &store->pools[rdo_store_pool(store->books, request)];
    uint64_t size = padded(store->books, request->size);
    return RDO_UNLIKELY(own_only) ? place_in_window(pool, request, size, memory)
                                  : place_anywhere(pool, request, size, memory);
}

/* The report of the pool that serves the allocation, also one of no bytes. */
static rondo_pool_report *report_of(const rdo_memory *memory) {
    rdo_books *books = rdo_memory_books(memory);
    if (memory->page != NULL) return &books->reports[memory->page->pool];
    rdo_request request = {.size = memory->size, .usage = memory->usage, .host = memory->host};
    return &books->reports[rdo_store_pool(books, &request)];
}

void rdo_store_account(rdo_memory *memory) {
    rondo_pool_report *report = report_of(memory);
    report->allocations++;
    report->in_use_bytes += memory->size;
    if (memory->page != NULL) report->padding_bytes += memory->page->slices[memory->slice].size - memory->size;
    if (report->in_use_bytes > report->peak_in_use_bytes) report->peak_in_use_bytes = report->in_use_bytes;
    if (memory->size > report->largest_bytes) report->largest_bytes = memory->size;
}

static void unaccount(rdo_memory *memory) {
    rondo_pool_report *report = report_of(memory);
    report->allocations--;
    report->in_use_bytes -= memory->size;
    if (memory->page != NULL) report->padding_bytes -= memory->page->slices[memory->slice].size - memory->size;
}

static uint64_t page_bytes_for(const rdo_store *store, const rdo_request *request, rondo_pool_kind kind) {
    const rondo_memory_layout *layout = &store->books->layout;
    uint64_t size = padded(store->books, request->size);
    switch (kind) {
    case RONDO_POOL_SMALL: return layout->small_page_bytes > size ? layout->small_page_bytes : size;
    case RONDO_POOL_HOST: return mebibyte > size ? mebibyte : size;
    case RONDO_POOL_SHARED: break;
    default: return size;
    }
    if (size <= store->shared_page_bytes) return store->shared_page_bytes;
    /* Some slack, so that a slowly growing allocation does not outdate a page size at every step. */
    uint64_t grown = (size + 2 * mebibyte - 1) / mebibyte * mebibyte;
    return grown < layout->page_max_bytes ? grown : layout->page_max_bytes;
}

static uint64_t cap_of(const rdo_books *books, rondo_pool_kind kind) {
    const rondo_memory_layout *layout = &books->layout;
    const uint64_t caps[RONDO_POOL_KINDS] = {layout->small_cap_bytes, layout->shared_cap_bytes, layout->own_cap_bytes,
                                             layout->host_cap_bytes};
    return caps[kind] != 0 ? caps[kind] : UINT64_MAX;
}

/* Device lock held: whether the pool may hold `size` bytes more. */
static bool below_cap(const rdo_books *books, rondo_pool_kind kind, uint64_t size) {
    uint64_t reserved = books->reports[kind].reserved_bytes, cap = cap_of(books, kind);
    return reserved <= cap && size <= cap - reserved;
}

/* Device lock held: gives the page a number. False without memory. */
static bool link_page(rdo_store *store, rondo_pool_kind kind, rdo_page *page) {
    rdo_pool *pool = &store->pools[kind];
    uint32_t index = 0;
    while (index < pool->count && pool->pages[index] != NULL) index++;
    if (index == pool->count && !rdo_grow(&pool->pages, &pool->capacity, (size_t)index + 1, sizeof(rdo_page *))) {
        return false;
    }
    if (index == pool->count) pool->count++;
    if (index < pool->first) pool->first = index;
    pool->pages[index] = page;
    page->store = store;
    page->pool = kind;
    page->index = index;
    page->address = rdo_books_take_address(store->books, page->size);
    rondo_pool_report *report = &store->books->reports[kind];
    report->pages++;
    report->reserved_bytes += page->size;
    if (report->reserved_bytes > report->peak_reserved_bytes) report->peak_reserved_bytes = report->reserved_bytes;
    return true;
}

static void free_backend_page(const rdo_books *books, rondo_pool_kind kind, void *handle, uint64_t size) {
    rondo_page_kind page_kind = kind == RONDO_POOL_HOST ? RONDO_PAGE_HOST : RONDO_PAGE_DEVICE;
    books->backend->page_free(books->device, page_kind, handle, size);
}

/* Device lock held: from now on pages of the pool SHARED are that large, as the one just linked is, and smaller ones
 * are outdated. It took the first hole, so that there is none before it. */
static void outgrow(rdo_store *store, uint64_t size) {
    rdo_pool *pool = &store->pools[RONDO_POOL_SHARED];
    store->shared_page_bytes = size;
    while (outdated(pool->pages[pool->first])) pool->first++;
}

static rondo_backend_result add_page(rdo_store *store, const rdo_request *request, rondo_pool_kind kind,
                                     uint64_t size) {
    rdo_books *books = store->books;
    rondo_page_kind page_kind = kind == RONDO_POOL_HOST ? RONDO_PAGE_HOST : RONDO_PAGE_DEVICE;
    void *handle = NULL;
    rondo_backend_result result = books->backend->page_alloc(books->device, page_kind, size, &handle);
    if (result != RONDO_BACKEND_DONE) return result;
    rdo_page *page = rdo_page_new(books, handle, size);
    rdo_lock_take(&books->lock);
    bool linked = page != NULL && link_page(store, kind, page);
    if (linked) {
        page->usage = request->usage;
        store->fresh = page;
        if (request->window != 0) rdo_page_set_window(page, 0, request->window);
        if (kind == RONDO_POOL_SHARED && size > store->shared_page_bytes) outgrow(store, size);
    }
    rdo_lock_give(&books->lock);
    if (linked) return RONDO_BACKEND_DONE;
    if (page != NULL) rdo_page_delete(page);
    free_backend_page(books, kind, handle, size);
    return RONDO_BACKEND_NO_MEMORY;
}

rondo_backend_result rdo_store_grow(rdo_store *store, const rdo_request *request) {
    rdo_books *books = store->books;
    if (request->size > UINT64_MAX / 4) return RONDO_BACKEND_TOO_BIG;
    rondo_pool_kind kind = rdo_store_pool(books, request);
    rdo_lock_take(&books->lock);
    uint64_t size = page_bytes_for(store, request, kind);
    bool below = below_cap(books, kind, size);
    if (!below && size > padded(books, request->size)) {
        /* A page of the usual size does not fit under the cap any more; one for this request alone may. */
        size = padded(books, request->size);
        if (kind == RONDO_POOL_SHARED && size < store->shared_page_bytes) size = store->shared_page_bytes;
        below = below_cap(books, kind, size);
    }
    bool ever = padded(books, request->size) <= cap_of(books, kind);
    rdo_lock_give(&books->lock);
    if (!ever) return RONDO_BACKEND_DEVICE_FULL;
    return below ? add_page(store, request, kind, size) : RONDO_BACKEND_DEVICE_FULL;
}

rondo_backend_result rdo_store_import(rdo_store *store, rdo_memory *memory, void *data) {
    rdo_books *books = store->books;
    rondo_pool_kind kind = memory->host ? RONDO_POOL_HOST : RONDO_POOL_OWN;
    void *handle = data; /* a host page is its address */
    rondo_backend_result result = RONDO_BACKEND_DONE;
    if (!memory->host) {
        if (books->backend->page_import == NULL) return RONDO_BACKEND_NO_SUPPORT;
        result = books->backend->page_import(books->device, data, memory->size, &handle);
    }
    if (result != RONDO_BACKEND_DONE) return result;
    rdo_page *page = rdo_page_new(books, handle, memory->size);
    rdo_lock_take(&books->lock);
    bool linked = page != NULL && link_page(store, kind, page);
    if (linked) {
        page->imported = memory->imported = true;
        rdo_page_carve(page, 0, page->size, memory, 0);
        bind(page, 0, memory);
        memory->host_data = data;
    }
    rdo_lock_give(&books->lock);
    if (linked) return RONDO_BACKEND_DONE;
    if (page != NULL) rdo_page_delete(page);
    if (!memory->host) books->backend->page_unimport(books->device, handle, memory->size);
    return RONDO_BACKEND_NO_MEMORY;
}

void rdo_store_return(rdo_store *store, rdo_return *item) {
    if (item->queued) return;
    item->queued = true;
    item->next = store->returns;
    if (store->returns == NULL) {
        atomic_store(&store->waiting, true);
        atomic_fetch_add(&store->books->returning, 1);
    }
    store->returns = item;
}

void rdo_store_sweep(rdo_store *store) {
    rdo_books *books = store->books;
    if (!atomic_load(&store->waiting)) return;
    rdo_lock_take(&books->lock);
    while (store->returns != NULL) {
        rdo_return *item = store->returns;
        store->returns = item->next;
        item->queued = false;
        if (store->returns == NULL) {
            atomic_store(&store->waiting, false);
            atomic_fetch_sub(&books->returning, 1);
        }
        item->finish(item);
    }
    rdo_lock_give(&books->lock);
}

/* Overwrites what the user released, so that debug runs notice who still relies on it [W9]. */
static void scribble(rdo_memory *memory) {
    rdo_books *books = rdo_memory_books(memory);
    if (memory->page == NULL || memory->imported) return;
    void *page = memory->host ? memory->page->handle
                              : books->backend->host_address(books->device, memory->page->handle);
    if (page != NULL) memset((char *)page + memory->place.offset_bytes, 0xDB, memory->size);
}

static void leave_page(rdo_memory *memory) {
    rdo_page *page = memory->page;
    rdo_page_free(page, memory->slice);
    if (page->imported || page->usage == RONDO_USAGE_ONE_OFF) { /* pages of one allocation, which is gone now */
        RDO_ASSERT(page->used == 0 && page->guarded == 0);
        /* An import is the user's memory: it goes at once. Pages of ours stay while anyone records [C18]. */
        if (page->marked == 0 && (page->imported || page->books->recorders == 0)) discard_page(page);
    }
    memory->page = NULL;
}

static void leave_host(rdo_memory *memory) {
    if (!memory->staging) rdo_books_unimport(rdo_memory_books(memory), memory->host_data);
    memory->host_data = NULL;
    memory->imported = false;
}

void rdo_memory_recycle(rdo_return *item) {
    rdo_memory *memory = (rdo_memory *)(void *)((char *)item - offsetof(rdo_memory, returning));
    rdo_books *books = rdo_memory_books(memory);
    /* Nobody needed it when it was put on the list. But a buffer of a window that another thread releases waits
     * there while the window closes into a graph, which guards all that its work touched: then the graph needs it
     * again. */
    if (memory->page != NULL && memory->page->slices[memory->slice].guards != 0) return;
    RDO_ASSERT(memory->refs == 0 && memory->uses == 0 && memory->maps == 0);
    if (books->debug_fresh) { /* the lock is not held over work on many bytes */
        rdo_lock_give(&books->lock);
        scribble(memory);
        rdo_lock_take(&books->lock);
    }
    if (!rdo_claims_untouched(&memory->claims)) rdo_claims_clear(&memory->claims, &books->claimed);
    unaccount(memory);
    if (memory->host_data != NULL) leave_host(memory);
    if (memory->due != NULL) {
        rdo_books_call_later(books, memory->due);
        memory->due = NULL;
    }
    if (memory->page != NULL) leave_page(memory);
    books->children--;
    rdo_memory_delete(memory); /* under the lock: its id decides who may look at it */
}

static bool releasable(const rdo_page *page, bool all) {
    if (page == NULL || page->used != 0 || page->guarded != 0) return false;
    RDO_ASSERT(page->marked == 0 && !page->imported); /* nobody records; an import goes with its one allocation */
    if (page == page->store->fresh) return false;
    return all || outdated(page) || page->usage == RONDO_USAGE_ONE_OFF;
}

void rdo_books_release_pages(rdo_books *books, bool all) {
    if (books->recorders != 0) return;
    for (rdo_store *store = books->stores; store != NULL; store = store->next) {
        for (int kind = 0; kind < RONDO_POOL_KINDS; kind++) {
            rdo_pool *pool = &store->pools[kind];
            for (uint32_t i = 0; i < pool->count; i++) {
                if (releasable(pool->pages[i], all)) discard_page(pool->pages[i]);
            }
            while (pool->count != 0 && pool->pages[pool->count - 1] == NULL) pool->count--;
        }
    }
}

/* Calls `visit` for each page of the store that has slices of an open window. */
static void for_marked_pages(const rdo_store *store, void (*visit)(void *user, rdo_page *page), void *user) {
    for (int kind = 0; kind < RONDO_POOL_KINDS; kind++) {
        const rdo_pool *pool = &store->pools[kind];
        for (uint32_t i = 0; i < pool->count; i++) {
            if (pool->pages[i] != NULL && pool->pages[i]->marked != 0) visit(user, pool->pages[i]);
        }
    }
}

typedef struct closing {
    uint64_t window;
    size_t count;
    void (*keep)(void *user, rdo_page *page, uint32_t slice);
    void *user;
} closing;

static bool was_touched(const rdo_slice *slice, uint64_t window) {
    return slice->window == window && (slice->touched || slice->reused);
}

static void count_page(void *user, rdo_page *page) {
    closing *c = user;
    for (uint32_t i = 0; i != RDO_NO_SLICE; i = page->slices[i].after) {
        c->count += was_touched(&page->slices[i], c->window);
    }
}

size_t rdo_store_count_touched(const rdo_store *store, uint64_t window) {
    closing c = {.window = window};
    for_marked_pages(store, count_page, &c);
    return c.count;
}

static void close_page(void *user, rdo_page *page) {
    const closing *c = user;
    for (uint32_t i = 0; i != RDO_NO_SLICE; i = page->slices[i].after) {
        if (c->keep == NULL || !was_touched(&page->slices[i], c->window)) continue;
        rdo_page_guard(page, i);
        c->keep(c->user, page, i);
    }
    /* Clearing a window may merge the slice into the one before it, so the walk begins again each time. */
    for (uint32_t i = 0; i != RDO_NO_SLICE;) {
        if (page->slices[i].window != c->window) {
            i = page->slices[i].after;
            continue;
        }
        uint32_t before = page->slices[i].before;
        rdo_page_set_window(page, i, 0);
        i = before != RDO_NO_SLICE ? before : 0;
    }
    RDO_ASSERT(rdo_page_check(page));
}

void rdo_store_close_window(rdo_store *store, uint64_t window, void (*keep)(void *user, rdo_page *page, uint32_t slice),
                            void *user) {
    closing c = {.window = window, .keep = keep, .user = user};
    for_marked_pages(store, close_page, &c);
}
