#include "stream/allocate.h"

#include <string.h>

#include "base/alloc.h"
#include "base/check.h"
#include "stream/pending.h"

/* Host memory comes from the host, whatever pool asks for it. */
static rondo_code full_code(const rdo_request *request) {
    return request->host ? RONDO_NO_HOST_MEMORY : RONDO_NO_DEVICE_MEMORY;
}

static rondo_status refuse_size(const rdo_call *call, const rdo_request *request) {
    return rdo_fault_raise(&call->where, RONDO_RANGE, "asked for %llu bytes, more than any page can have",
                           (unsigned long long)request->size);
}

static rondo_status refuse_full(const rdo_call *call, const rdo_request *request) {
    char room[RONDO_MESSAGE_MAX / 2];
    rdo_books *books = &call->engine->books;
    rdo_books_describe_room(books, rdo_store_pool(books, request), room, sizeof room);
    return rdo_fault_raise(&call->where, full_code(request), "asked for %llu bytes; %s",
                           (unsigned long long)request->size, room);
}

static rondo_status refuse_growth(const rdo_call *call, const rdo_request *request) {
    return rdo_fault_raise(
        &call->where, RONDO_NO_ROOM,
        "asked for %llu bytes while the queue records, where only room already held is used; "
        "allocate it before the window, or let the warm-up between prepare and begin do the same",
        (unsigned long long)request->size);
}

/* Takes the device lock, and keeps it if there is room. */
static inline bool place(rdo_store *store, const rdo_request *request, rdo_memory *memory) {
    rdo_lock_take(&store->books->lock);
    bool placed = (request->window != 0 && rdo_store_place(store, request, memory, true)) ||
                  rdo_store_place(store, request, memory, false);
    if (!placed) rdo_lock_give(&store->books->lock);
    return placed;
}

/* Everything that could make room without disturbing anybody [M4]. */
static void relieve(rdo_call *call) {
    rdo_books *books = &call->engine->books;
    rdo_store *store = &call->queue->store;
    rdo_queue_drain(call->queue);
    rdo_store_sweep(store);
    rdo_store_relocate(store, call->queue->backend_queue, false);
    rdo_lock_take(&books->lock);
    rdo_books_release_pages(books, true);
    rdo_lock_give(&books->lock);
    rdo_books_free_pages(books);
}

/* As find_room, where no room is held. */
static rondo_status make_room(rdo_call *call, const rdo_request *request, rdo_memory *memory) {
    rdo_store *store = &call->queue->store;
    rdo_page_update update = rdo_window_page_update(&call->queue->window);
    if (update == RDO_PAGE_FORBIDDEN) return refuse_growth(call, request);
    rondo_backend_result result = rdo_store_grow(store, request);
    if (result == RONDO_BACKEND_DEVICE_FULL && update == RDO_PAGE_ALLOW) {
        relieve(call);
        if (place(store, request, memory)) return RONDO_OK;
        result = rdo_store_grow(store, request);
    }
    if (result == RONDO_BACKEND_DONE) {
        bool placed = place(store, request, memory); /* the new page fits the request */
        if (!RDO_NEVER(!placed)) return RONDO_OK;
    }
    switch (result) {
    case RONDO_BACKEND_TOO_BIG: return refuse_size(call, request);
    case RONDO_BACKEND_DEVICE_FULL: return refuse_full(call, request);
    case RONDO_BACKEND_DEVICE_LOST: return rdo_fault_raise(&call->where, RONDO_LOST, "the device is lost");
    default: return rdo_fault_raise(&call->where, RONDO_NO_HOST_MEMORY, "no host memory for the pools' own lists");
    }
}

/* If it is RONDO_OK, the device lock is held from the moment that the allocation has its place. */
static inline rondo_status find_room(rdo_call *call, const rdo_request *request, rdo_memory *memory) {
    bool placed = place(&call->queue->store, request, memory);
    return RDO_LIKELY(placed) ? RONDO_OK : make_room(call, request, memory);
}

/* The end of an allocation, noted if it belongs to a warm-up: the recorded run will release the same [C6]. */
static void recycle(rdo_return *item) {
    rdo_memory *memory = (rdo_memory *)(void *)((char *)item - offsetof(rdo_memory, returning));
    rdo_queue *queue = rdo_queue_of_store(atomic_load_explicit(&memory->home, memory_order_relaxed));
    rdo_window *window = &queue->window;
    if (memory->home_stream_id == rdo_window_owner(window)) {
        rdo_window_note(window, &(rdo_request){.size = RDO_NOTE_RELEASE}, memory->id);
    }
    rdo_memory_recycle(item);
}

static rdo_memory *new_record(rdo_call *call, const rdo_request *request, bool staging) {
    rdo_memory *memory = rdo_memory_new(&call->queue->store, call->stream->id, request, staging);
    if (memory != NULL) memory->returning.finish = recycle;
    return memory;
}

/* Device lock held: the record begins to count. */
static inline void begin_life(rdo_call *call, rdo_memory *memory) {
    rdo_books *books = &call->engine->books;
    books->children++;
    rdo_store_account(memory);
    if (memory->staging) return;
    *(memory->host ? &books->host_blocks : &books->buffers) += 1;
    if (!books->debug_fresh || memory->imported || memory->size == 0) return;
    rondo_status fresh = rdo_fault_raise(&call->where, RONDO_FRESH, "buffer %llu was never written",
                                         (unsigned long long)memory->id);
    rdo_memory_claim(memory, 0, memory->size, rondo_status_number(fresh), 0);
}

/* A reservation is part of the step: without it the recording would be missing something [C8]. */
static rondo_status refuse(rdo_call *call, rondo_status status) {
    if (rdo_call_records(call)) rdo_window_fail(&call->queue->window, status);
    return status;
}

/* Device lock held, and given back: a host block that cannot be noted ends at once. */
static rondo_status drop_unnoted(rdo_call *call, rdo_memory *memory) {
    rdo_books *books = &call->engine->books;
    memory->host_data = NULL; /* so that its end does not take it off the list */
    memory->staging = true;
    books->host_blocks--;
    rdo_memory_unref(memory);
    rdo_lock_give(&books->lock);
    return refuse(call, rdo_fault_raise(&call->where, RONDO_NO_HOST_MEMORY, "no memory to note a host block"));
}

rondo_status rdo_allocate(rdo_call *call, rdo_request *request, bool staging, rdo_memory **out_memory) {
    rdo_books *books = &call->engine->books;
    rdo_window *window = &call->queue->window;
    *out_memory = NULL;
    if (request->size > UINT64_MAX / 4) { /* below, sizes can be padded and added without a thought */
        return refuse(call, refuse_size(call, request));
    }
    rdo_memory *memory = new_record(call, request, staging);
    if (memory == NULL) {
        return refuse(call, rdo_fault_raise(&call->where, RONDO_NO_HOST_MEMORY, "no memory for a buffer's record"));
    }
    request->window = rdo_call_records(call) ? window->id : 0;
    rondo_status status = find_room(call, request, memory);
    if (RDO_UNLIKELY(status != RONDO_OK)) {
        rdo_memory_delete(memory);
        return refuse(call, status);
    }
    if (rdo_window_is_prepared(window) && rdo_call_owns(call)) rdo_window_note(window, request, memory->id);
    bool overlap = false;
    bool noted = staging || memory->host_data == NULL ||
                 rdo_books_import(books, memory->host_data, memory->size, &overlap);
    begin_life(call, memory);
    if (RDO_UNLIKELY(!noted)) return drop_unnoted(call, memory);
    rdo_lock_give(&books->lock);
    *out_memory = memory;
    return RONDO_OK;
}

static rondo_status refuse_import(const rdo_call *call, rondo_backend_result result) {
    if (result == RONDO_BACKEND_NO_MEMORY) {
        return rdo_fault_raise(&call->where, RONDO_NO_HOST_MEMORY, "no memory to import");
    }
    if (result == RONDO_BACKEND_NO_SUPPORT) {
        return rdo_fault_raise(&call->where, RONDO_UNSUPPORTED, "this backend cannot import memory");
    }
    return rdo_fault_raise(&call->where, RONDO_BACKEND, "the backend did not import the memory");
}

rondo_status rdo_import(rdo_call *call, void *data, uint64_t size, bool host, rondo_release_fn release, void *user,
                        rdo_memory **out_memory) {
    rdo_books *books = &call->engine->books;
    bool overlap = false;
    *out_memory = NULL;
    const rdo_request request = {.size = size, .host = host};
    rdo_memory *memory = new_record(call, &request, false);
    rdo_callback *due = release != NULL ? rdo_callback_new(release, user) : NULL;
    rdo_lock_take(&books->lock);
    bool noted = memory != NULL && (release == NULL || due != NULL) && rdo_books_import(books, data, size, &overlap);
    rdo_lock_give(&books->lock);
    rondo_backend_result result = RONDO_BACKEND_NO_MEMORY;
    if (noted) result = rdo_store_import(&call->queue->store, memory, data);
    rdo_lock_take(&books->lock);
    if (result == RONDO_BACKEND_DONE) {
        memory->due = due;
        begin_life(call, memory);
    } else if (noted) {
        rdo_books_unimport(books, data);
    }
    rdo_lock_give(&books->lock);
    if (result == RONDO_BACKEND_DONE) {
        *out_memory = memory;
        return RONDO_OK;
    }
    if (memory != NULL) rdo_memory_delete(memory);
    rdo_free(due);
    if (overlap) {
        return rdo_fault_raise(&call->where, RONDO_OVERLAP,
                               "the bytes belong to a live import or host block already");
    }
    return refuse_import(call, result);
}

static void drop_staging(rdo_books *books, rdo_memory *memory) {
    rdo_lock_take(&books->lock);
    rdo_memory_unref(memory);
    rdo_lock_give(&books->lock);
}

rondo_status rdo_stage(rdo_call *call, const void *data, uint64_t size, rdo_memory **out_memory) {
    rdo_window *window = &call->queue->window;
    rdo_request request = {.size = size, .host = true};
    rondo_status status = rdo_allocate(call, &request, true, out_memory);
    if (status != RONDO_OK) return status;
    RDO_ASSERT(*out_memory != NULL);
    memcpy((*out_memory)->host_data, data, size);
    bool held = rdo_window_is_recording(window) ? rdo_window_retain(window, *out_memory)
                                                : rdo_window_prime(window, *out_memory);
    if (held) return RONDO_OK;
    drop_staging(&call->engine->books, *out_memory);
    *out_memory = NULL;
    return rdo_fault_raise(&call->where, RONDO_NO_HOST_MEMORY, "no memory to keep the bytes");
}
