/* Capture on a queue, as far as it needs no graph: prepare, begin, and every way out without a seal. */
#include "base/alloc.h"
#include "base/check.h"
#include "stream/pending.h"
#include "stream/stream.h"
#include "stream/submit.h"

rondo_status rdo_capture_prepare(rdo_call *call) {
    rdo_queue *queue = call->queue;
    rdo_engine *engine = call->engine;
    RDO_ASSERT(rdo_queue_is_idle(queue));
    rdo_lock_take(&engine->books.lock);
    const char *refused = rdo_window_prepare(&queue->window, call->stream->id);
    rdo_lock_give(&engine->books.lock);
    if (refused != NULL) return rdo_fault_raise(&call->where, RONDO_STATE, "%s", refused);
    /* Now, since pages that the recording touches will be guarded and cannot be emptied later [C2]. */
    rdo_store_sweep(&queue->store);
    rdo_store_relocate(&queue->store, queue->backend_queue, true);
    rdo_books_free_pages(&engine->books);
    return RONDO_OK;
}

/* What the warm-up did to the pools fits again, or why it does not [C6]. */
static rondo_status rehearse(rdo_call *call) {
    rdo_queue *queue = call->queue;
    rdo_window *window = &queue->window;
    char room[RONDO_MESSAGE_MAX / 2];
    if (window->notes_lost) {
        return rdo_fault_raise(&call->where, RONDO_NO_HOST_MEMORY, "the warm-up's reservations could not be noted");
    }
    rondo_backend_result result =
        rdo_store_rehearse(&queue->store, window->notes.data, window->notes.count, window->id);
    if (result == RONDO_BACKEND_DONE) return RONDO_OK;
    if (result == RONDO_BACKEND_NO_MEMORY) {
        return rdo_fault_raise(&call->where, RONDO_NO_HOST_MEMORY, "no host memory to make room for the window");
    }
    rdo_books_describe_room(&call->engine->books, RONDO_POOL_SHARED, room, sizeof room);
    return rdo_fault_raise(&call->where, RONDO_NO_DEVICE_MEMORY,
                           "no room for the %zu reservations and releases of the warm-up; %s", window->notes.count,
                           room);
}

rondo_status rdo_capture_begin(rdo_call *call) {
    rdo_queue *queue = call->queue;
    rdo_engine *engine = call->engine;
    rdo_window *window = &queue->window;
    if (rdo_window_is_prepared(window) && !rdo_call_owns(call)) {
        return rdo_fault_raise(&call->where, RONDO_BUSY, "stream %llu has prepared the capture",
                               (unsigned long long)rdo_window_owner(window));
    }
    rdo_lock_take(&engine->books.lock);
    const char *refused = rdo_window_begin(window);
    /* From here on no page is released on any queue; making room only adds. */
    if (refused == NULL) engine->books.recorders++;
    rdo_lock_give(&engine->books.lock);
    if (refused != NULL) return rdo_fault_raise(&call->where, RONDO_STATE, "%s", refused);
    rdo_store_sweep(&queue->store); /* the warm-up's staging is free from now on */
    rondo_status status = rehearse(call);
    if (status != RONDO_OK) {
        rdo_capture_leave(queue, RONDO_OK);
        return status;
    }
    rdo_count(&engine->counters.windows_opened);
    window->begun_ns = rdo_clock_ns();
    return RONDO_OK;
}

void rdo_capture_stop_recording(rdo_engine *engine) {
    rdo_books *books = &engine->books;
    RDO_ASSERT(books->recorders != 0);
    books->recorders--;
    if (books->recorders != 0) return;
    if (books->trim_wanted) rdo_meta_clear_unpinned(&engine->meta);
    rdo_books_release_pages(books, books->trim_wanted);
    books->trim_wanted = false;
}

rondo_status rdo_capture_aborted(rdo_window *window, const rdo_where *where, const char *words) {
    rdo_window_note_refusal(window);
    if (!rdo_window_is_recording(window)) return RONDO_OK;
    return window->failed != RONDO_OK ? window->failed : rdo_fault_raise(where, RONDO_ABORTED, "%s", words);
}

void rdo_capture_leave(rdo_queue *queue, rondo_status reason) {
    rdo_engine *engine = queue->engine;
    rdo_window *window = &queue->window;
    rdo_lock_take(&engine->books.lock);
    bool recorded = rdo_window_is_recording(window);
    bool claims = reason != RONDO_OK && !window->defer_claims;
    for (size_t i = 0; claims && i < window->ops.count; i++) rdo_await_queued(engine, window->ops.data[i]);
    if (claims) {
        rdo_weak_list writes = rdo_window_take_writes(window);
        for (size_t i = 0; i < writes.count; i++) {
            const rdo_weak *weak = &writes.data[i];
            rdo_memory_claim(weak->memory, weak->key.low, weak->key.high, rondo_status_number(reason), 0);
        }
        rdo_free(writes.data);
    }
    rdo_ops_drop(engine, window->holders.data, window->holders.count);
    rdo_meta_discard(&engine->meta, &window->pins);
    uint64_t id = window->id;
    rdo_window_abort(window); /* gives guards back, so it comes before the slices lose their window */
    rdo_store_close_window(&queue->store, id, NULL, NULL);
    if (recorded) rdo_capture_stop_recording(engine);
    rdo_lock_give(&engine->books.lock);
    rdo_books_free_pages(&engine->books);
}
