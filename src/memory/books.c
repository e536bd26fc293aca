#include "memory/books.h"

#include "base/alloc.h"
#include "base/check.h"
#include "base/text.h"
#include "memory/page.h"
#include "memory/store.h"

void rdo_books_init(rdo_books *books, const rondo_backend *backend, void *device, const rondo_memory_layout *layout,
                    uint64_t alignment, bool debug_fresh) {
    *books = (rdo_books){.backend = backend, .device = device, .layout = *layout, .alignment = alignment};
    books->debug_fresh = debug_fresh;
    books->next_address = alignment;
    rdo_lock_init(&books->lock, RDO_RANK_DEVICE);
}

void rdo_books_finish(rdo_books *books) {
    rdo_free(books->imports);
}

uint64_t rdo_books_take_address(rdo_books *books, uint64_t size) {
    uint64_t address = books->next_address;
    /* A gap between any two pages, so that ranges on different pages never touch and fuse. */
    books->next_address += (size + 2 * books->alignment) & ~(books->alignment - 1);
    return address;
}

bool rdo_books_import(rdo_books *books, const void *data, uint64_t size, bool *out_overlap) {
    uintptr_t low = (uintptr_t)data, high = low + size;
    *out_overlap = high < low;
    for (size_t i = 0; i < books->import_count && !*out_overlap; i++) {
        *out_overlap = books->imports[i].low < high && low < books->imports[i].high;
    }
    if (*out_overlap) return false;
    if (!rdo_grow(&books->imports, &books->import_capacity, books->import_count + 1, sizeof *books->imports)) {
        return false;
    }
    books->imports[books->import_count++] = (rdo_import_bytes){low, high};
    return true;
}

void rdo_books_unimport(rdo_books *books, const void *data) {
    for (size_t i = 0; i < books->import_count; i++) {
        if (books->imports[i].low != (uintptr_t)data) continue;
        books->imports[i] = books->imports[--books->import_count];
        return;
    }
}

rdo_callback *rdo_callback_new(rondo_release_fn fn, void *user) {
    rdo_callback *callback = rdo_alloc(sizeof *callback);
    if (callback != NULL) *callback = (rdo_callback){NULL, fn, user};
    return callback;
}

void rdo_books_call_later(rdo_books *books, rdo_callback *callback) {
    callback->next = books->callbacks;
    books->callbacks = callback;
    atomic_store(&books->due, true);
}

static void free_page(const rdo_books *books, rdo_page *page) {
    if (page->imported) {
        if (page->pool != RONDO_POOL_HOST) books->backend->page_unimport(books->device, page->handle, page->size);
    } else {
        books->backend->page_free(books->device, page->pool == RONDO_POOL_HOST ? RONDO_PAGE_HOST : RONDO_PAGE_DEVICE,
                                  page->handle, page->size);
    }
    rdo_page_delete(page);
}

void rdo_books_free_pages(rdo_books *books) {
    rdo_lock_take(&books->lock);
    rdo_page *pages = books->pages_to_free;
    books->pages_to_free = NULL;
    rdo_lock_give(&books->lock);
    while (pages != NULL) {
        rdo_page *next = pages->next_free;
        free_page(books, pages);
        pages = next;
    }
}

void rdo_books_settle(rdo_books *books) {
    if (!atomic_load(&books->due)) return;
    atomic_store(&books->due, false); /* whoever makes something due after this says so again */
    rdo_books_free_pages(books);
    rdo_lock_take(&books->lock);
    rdo_callback *callbacks = books->callbacks;
    books->callbacks = NULL;
    rdo_lock_give(&books->lock);
    while (callbacks != NULL) {
        rdo_callback *next = callbacks->next;
        callbacks->fn(callbacks->user);
        rdo_free(callbacks);
        callbacks = next;
    }
}

void rdo_books_add_holder(rdo_books *books, rdo_holder *holder) {
    holder->next = books->holders;
    holder->link = &books->holders;
    if (holder->next != NULL) holder->next->link = &holder->next;
    books->holders = holder;
    books->holder_count++;
}

void rdo_books_remove_holder(rdo_books *books, rdo_holder *holder) {
    *holder->link = holder->next;
    if (holder->next != NULL) holder->next->link = holder->link;
    books->holder_count--;
}

enum { NAMED_HOLDERS = 3 };

static uint64_t held_bytes(const rdo_holder *holder, rondo_pool_kind kind) {
    return kind == RONDO_POOL_HOST ? holder->host_bytes : holder->device_bytes;
}

/* The graph that keeps most of those that keep less than `below`; equal ones in the order of their ids. */
static const rdo_holder *next_largest(const rdo_books *books, rondo_pool_kind kind, const rdo_holder *below) {
    const rdo_holder *largest = NULL;
    for (const rdo_holder *holder = books->holders; holder != NULL; holder = holder->next) {
        uint64_t bytes = held_bytes(holder, kind);
        uint64_t most = below != NULL ? held_bytes(below, kind) : UINT64_MAX;
        bool named = below != NULL && bytes == most && holder->graph_id <= below->graph_id;
        if (bytes == 0 || bytes > most || named) continue;
        bool better = largest == NULL || bytes > held_bytes(largest, kind) ||
                      (bytes == held_bytes(largest, kind) && holder->graph_id < largest->graph_id);
        if (better) largest = holder;
    }
    return largest;
}

/* " (graph 7: 65536, graph 9: 4096, ...)" */
static void name_holders(rdo_text *text, const rdo_books *books, rondo_pool_kind kind) {
    const rdo_holder *holder = NULL;
    for (int i = 0; i < NAMED_HOLDERS && (holder = next_largest(books, kind, holder)) != NULL; i++) {
        rdo_text_add(text, "%s graph %llu: %llu", i == 0 ? ":" : ",", (unsigned long long)holder->graph_id,
                     (unsigned long long)held_bytes(holder, kind));
    }
    if (holder != NULL && next_largest(books, kind, holder) != NULL) rdo_text_add(text, ", ...");
}

void rdo_books_describe_room(rdo_books *books, rondo_pool_kind kind, char *room, size_t size_bytes) {
    static const char *const names[RONDO_POOL_KINDS] = {"small", "shared", "own-page", "host"};
    rdo_text text = rdo_text_in(room, size_bytes);
    rdo_lock_take(&books->lock);
    const rondo_pool_report *report = &books->reports[kind];
    uint64_t used = report->in_use_bytes + report->padding_bytes;
    rdo_text_add(&text, "the %s pools hold %llu bytes in %llu pages, %llu of them free, %llu kept in place by graphs",
                 names[kind], (unsigned long long)report->reserved_bytes, (unsigned long long)report->pages,
                 (unsigned long long)(report->reserved_bytes > used ? report->reserved_bytes - used : 0),
                 (unsigned long long)report->guarded_bytes);
    if (report->guarded_bytes != 0) name_holders(&text, books, kind);
    rdo_lock_give(&books->lock);
}
