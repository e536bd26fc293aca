/* The books of a device: everything about its memory that all queues share, under one lock.
 *
 * The device lock is held for bookkeeping only, never while a kernel runs, a backend call may block or a
 * user's callback runs. Backend pages to free and callbacks to make are collected here and worked off by
 * rdo_books_settle when no lock is held.
 */
#ifndef RDO_MEMORY_BOOKS_H
#define RDO_MEMORY_BOOKS_H

#include "base/lock.h"
#include "memory/memory.h"

/* A callback to the user. Made ready when the promise to call is given, so that keeping it cannot fail. */
typedef struct rdo_callback {
    struct rdo_callback *next;
    rondo_release_fn fn;
    void *user;
} rdo_callback;

/* What a graph keeps in place. */
typedef struct rdo_holder {
    struct rdo_holder *next, **link;
    uint64_t graph_id, nodes, device_bytes, host_bytes;
} rdo_holder;

/* Bytes of the user's that are imported. */
typedef struct rdo_import_bytes {
    uintptr_t low, high;
} rdo_import_bytes;

struct rdo_books {
    rdo_lock lock;
    rdo_condition changed;  /* an operation ended, or a waiter should look again */
    const rondo_backend *backend;
    void *device;           /* the backend's */
    rondo_memory_layout layout;
    uint64_t alignment;
    bool debug_fresh;
    _Atomic uint64_t claimed;   /* allocations that carry a claim [T10] */
    _Atomic uint32_t returning; /* stores with something to sweep */
    uint32_t recorders;         /* windows that record; no page is released while it is not 0 */
    bool trim_wanted;           /* a trim came while a stream recorded [C16] */
    uint64_t next_address;
    rdo_store *stores;          /* one per queue */
    rdo_page *pages_to_free;
    rdo_callback *callbacks;    /* due */
    _Atomic bool due;           /* there are pages to free or callbacks to make; may be looked at without the lock */
    rdo_import_bytes *imports;
    size_t import_count, import_capacity;
    rdo_holder *holders; /* a graph each */
    uint64_t holder_count;
    rondo_pool_report reports[RONDO_POOL_KINDS];
    uint64_t buffers, host_blocks; /* that users hold */
    uint64_t children;  /* objects that hold the device open */
};

void rdo_books_init(rdo_books *books, const rondo_backend *backend, void *device, const rondo_memory_layout *layout,
                    uint64_t alignment, bool debug_fresh);
/* All stores are finished already. */
void rdo_books_finish(rdo_books *books);

/* Device lock held: reserves `size` bytes of the flat address space. */
uint64_t rdo_books_take_address(rdo_books *books, uint64_t size);

/* Device lock held: notes the user's bytes [data, data + size); false if they overlap noted ones or without memory
 * (then *out_overlap says which). */
bool rdo_books_import(rdo_books *books, const void *data, uint64_t size, bool *out_overlap);
void rdo_books_unimport(rdo_books *books, const void *data);

/* A callback to be made later; NULL without memory. */
rdo_callback *rdo_callback_new(rondo_release_fn fn, void *user);
/* Device lock held: the callback is due. */
void rdo_books_call_later(rdo_books *books, rdo_callback *callback);

/* Device lock not held: frees the backend's pages that were released. */
void rdo_books_free_pages(rdo_books *books);
/* No lock held: the same, and makes the callbacks that are due. */
void rdo_books_settle(rdo_books *books);

/* Device lock held: a graph begins, or ends, to keep memory in place. */
void rdo_books_add_holder(rdo_books *books, rdo_holder *holder);
void rdo_books_remove_holder(rdo_books *books, rdo_holder *holder);

/* How much the pools of this kind hold, how much of it is free, and which graphs keep how much in place: for messages.
 * Takes the device lock. */
void rdo_books_describe_room(rdo_books *books, rondo_pool_kind kind, char *room, size_t size_bytes);

#endif
