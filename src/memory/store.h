/* A store: the memory of one queue, in four pools [M1].
 *
 *   SMALL   allocations up to small_max, sharing pages of one size
 *   SHARED  the others, sharing pages whose size follows the largest allocation served; pages of a former, smaller size
 *           are outdated: they serve nothing new, drain, and are emptied by relocation
 *   OWN     one allocation a page: what exceeds the largest page, lasting memory (reused by exact size), one-off
 *           memory (goes back when released), imports
 *   HOST    staging and host blocks, in host pages
 *
 * Reuse is first-fit by page number and address, so placement is the same for the same sequence of calls [M2].
 */
#ifndef RDO_MEMORY_STORE_H
#define RDO_MEMORY_STORE_H

#include "memory/page.h"

/* What a reservation may do to the pages held [C18]. */
typedef enum rdo_page_update {
    RDO_PAGE_ALLOW = 0,   /* anything */
    RDO_PAGE_ADD_ONLY = 1, /* add pages, release and move none */
    RDO_PAGE_FORBIDDEN = 2 /* use room already held */
} rdo_page_update;

/* A reservation. */
struct rdo_request {
    uint64_t size;
    rondo_usage usage;
    bool host;
    uint64_t window; /* the window whose owner asks, 0: none */
};

typedef struct rdo_pool {
    rdo_page **pages; /* by page number; NULL is a hole */
    uint32_t count;
    uint32_t first;   /* pages before it are holes or outdated: only the window that they belong to allocates there */
    size_t capacity;
} rdo_pool;

struct rdo_store {
    rdo_books *books;
    rdo_store *next;
    rdo_pool pools[RONDO_POOL_KINDS];
    uint64_t shared_page_bytes; /* current page size of SHARED */
    rdo_return *returns;        /* waits for a sweep; under the device lock */
    _Atomic bool waiting;       /* there is something; may be looked at without the lock */
    rdo_slot *spares;           /* records kept for the next allocations; under the queue's lock */
    uint32_t spare_count;
    rdo_page *fresh;            /* just added: no trim takes it before the next placement has looked at it */
    /* How operations of other queues and fast ones of this queue see each other, see stream/order.h. */
    _Atomic uint32_t fast;
    _Atomic uint32_t foreign;
    /* Sweeps this store's queue unless another thread holds its lock, which then sweeps itself. */
    bool (*try_sweep)(rdo_store *store);
};

/* Adds an empty store to the books. */
void rdo_store_init(rdo_store *store, rdo_books *books, bool (*try_sweep)(rdo_store *store));
/* Frees all pages; nothing lives in them any more. */
void rdo_store_finish(rdo_store *store);

/* Device lock held: puts the allocation on room that is held, if there is some. With `own_only`, on the room of the
 * request's window alone. */
bool rdo_store_place(rdo_store *store, const rdo_request *request, rdo_memory *memory, bool own_only);

/* Queue lock held, device lock not: adds a page on which the request fits. DONE, DEVICE_FULL (a cap, or the device),
 * TOO_BIG, or NO_MEMORY. On failure nothing changed [M4]. */
rondo_backend_result rdo_store_grow(rdo_store *store, const rdo_request *request);

/* Queue lock held: a page over the user's bytes, with `memory` on it. */
rondo_backend_result rdo_store_import(rdo_store *store, rdo_memory *memory, void *data);

/* Device lock held: a new allocation appears in the reports. */
void rdo_store_account(rdo_memory *memory);
/* How an allocation ends: the `finish` of its rdo_return. */
void rdo_memory_recycle(rdo_return *item);

/* The pool that serves a request. */
rondo_pool_kind rdo_store_pool(const rdo_books *books, const rdo_request *request);

/* Device lock held: notes that `item` waits for the store's queue to be swept. */
void rdo_store_return(rdo_store *store, rdo_return *item);
/* Queue lock held, device lock not: finishes everything that waits, under the device lock. */
void rdo_store_sweep(rdo_store *store);

/* The room that `begin` holds ready for a window [C6]. One entry per reservation or release of the warm-up. */
typedef struct rdo_note {
    rdo_request request;
    uint64_t memory_id; /* reserved, or released if request.size is RDO_NOTE_RELEASE */
} rdo_note;
#define RDO_NOTE_RELEASE UINT64_MAX

/* Queue lock held: grows the pools until the noted sequence fits for `window`, and marks that room as the window's. */
rondo_backend_result rdo_store_rehearse(rdo_store *store, const rdo_note *notes, size_t count, uint64_t window);

/* Device lock held: ends a window's hold on the store. Each touched slice is guarded and handed to `keep` if
 * `keep` is not NULL; all others go back to general use. */
void rdo_store_close_window(rdo_store *store, uint64_t window, void (*keep)(void *user, rdo_page *page, uint32_t slice),
                            void *user);
/* Device lock held: how many slices rdo_store_close_window would keep. */
size_t rdo_store_count_touched(const rdo_store *store, uint64_t window);

/* Device lock held: releases pages that are empty and of no further use: outdated and one-off ones, with `all` every
 * empty one. Does nothing while a stream records. */
void rdo_books_release_pages(rdo_books *books, bool all);

/* Queue lock held, device lock not: empties outdated pages by copying their allocations to current ones [M5]. With
 * `may_grow` a page may be added for them. A page that cannot be emptied whole stays as it was. */
void rdo_store_relocate(rdo_store *store, void *backend_queue, bool may_grow);
/* Device lock held: whether the store has pages that relocation could empty. */
bool rdo_store_has_outdated(const rdo_store *store);

#endif
