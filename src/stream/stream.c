#include "stream/stream.h"

#include "base/alloc.h"
#include "base/check.h"
#include "stream/pending.h"

static _Atomic uint64_t last_stream_id;

/* The end of a stream. */
static void finish_stream(rdo_return *item) {
    rdo_stream *stream = (rdo_stream *)(void *)item; /* `returning` comes first */
    rdo_engine *engine = stream->engine;
    rdo_window *window = &stream->queue->window;
    rdo_lock_give(&engine->books.lock);
    if (rdo_window_owner(window) == stream->id) {
        rdo_where where = {.operation = "rondo_stream_release", .stream_id = stream->id, .op_index = RONDO_NO_INDEX};
        rdo_capture_leave(stream->queue,
                          rdo_capture_aborted(window, &where, "the stream was destroyed while it recorded"));
    }
    if (stream->drop_runs != NULL) stream->drop_runs(stream);
    rdo_lock_take(&engine->books.lock);
    *stream->link = stream->next;
    if (stream->next != NULL) stream->next->link = stream->link;
    engine->stream_count--;
    engine->books.children--;
    rdo_object_delete(stream->handle);
    rdo_free(stream);
}

static rondo_status open_queue(rdo_queue *queue, const rdo_where *where, bool queued) {
    const rdo_books *books = &queue->engine->books;
    rondo_backend_result result = RONDO_BACKEND_DONE;
    rdo_lock_take(&queue->lock);
    if (queue->backend_queue == NULL) {
        result = books->backend->queue_open(books->device, queue->index, &queue->backend_queue);
    }
    if (queued && queue->pending == NULL) queue->pending = rdo_pending_new(queue);
    if (queued && queue->pending == NULL) result = RONDO_BACKEND_NO_MEMORY;
    rdo_lock_give(&queue->lock);
    if (result == RONDO_BACKEND_DONE) return RONDO_OK;
    if (result == RONDO_BACKEND_NO_MEMORY) {
        return rdo_fault_raise(where, RONDO_NO_HOST_MEMORY, "no memory for queue %u", queue->index);
    }
    return rdo_fault_raise(where, RONDO_BACKEND, "the backend did not open queue %u", queue->index);
}

rondo_status rdo_stream_new(rdo_engine *engine, const rdo_where *where, bool queued, rdo_stream **out_stream) {
    uint64_t id = atomic_fetch_add_explicit(&last_stream_id, 1, memory_order_relaxed) + 1;
    rdo_queue *queue = rdo_engine_queue(engine, id);
    RDO_TRY(open_queue(queue, where, queued));
    rdo_stream *stream = rdo_alloc_zero(1, sizeof *stream);
    uint64_t handle = stream != NULL ? rdo_object_new(RDO_OBJECT_STREAM, stream, NULL) : 0;
    if (handle == 0) {
        rdo_free(stream);
        return rdo_fault_raise(where, RONDO_NO_HOST_MEMORY, "no memory for a stream");
    }
    stream->returning.finish = finish_stream;
    stream->handle = handle;
    stream->id = id;
    stream->engine = engine;
    stream->queue = queue;
    stream->queued = queued;
    stream->refs = stream->user_refs = 1;
    rdo_lock_take(&engine->books.lock);
    stream->next = engine->streams;
    stream->link = &engine->streams;
    if (stream->next != NULL) stream->next->link = &stream->next;
    engine->streams = stream;
    engine->stream_count++;
    engine->books.children++;
    rdo_lock_give(&engine->books.lock);
    *out_stream = stream;
    return RONDO_OK;
}

void rdo_stream_unref(rdo_stream *stream) {
    RDO_ASSERT(stream->refs != 0);
    if (--stream->refs != 0) return;
    rdo_store_return(&stream->queue->store, &stream->returning);
}

rondo_status rdo_stream_take_failure(rdo_stream *stream) {
    rondo_status failure = stream->first_failure;
    stream->first_failure = RONDO_OK;
    return failure;
}

void rdo_kernel_unref(rdo_engine *engine, rdo_kernel *kernel, uint32_t count) {
    RDO_ASSERT(count <= kernel->refs);
    kernel->refs -= count;
    if (kernel->refs != 0) return;
    /* Unloading may be asked for anywhere, also in a host call; backends take it from any thread at any time. */
    engine->books.backend->kernel_unload(engine->books.device, kernel->loaded);
    engine->kernel_count--;
    engine->books.children--;
    rdo_object_delete(kernel->handle);
    rdo_kernel_delete(kernel);
}

void rdo_event_unref(rdo_event *event) {
    if (--event->refs != 0) return;
    event->engine->event_count--;
    event->engine->books.children--;
    rdo_object_delete(event->handle);
    rdo_free(event);
}

void rdo_host_work_unref(rdo_engine *engine, rdo_host_work *work) {
    if (--work->refs != 0) return;
    if (work->due != NULL) rdo_books_call_later(&engine->books, work->due);
    rdo_free(work);
}

void rdo_ops_drop(rdo_engine *engine, rdo_op *const *ops, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (ops[i]->kind == RONDO_NODE_LAUNCH) rdo_kernel_unref(engine, ops[i]->kernel, 1);
        if (ops[i]->kind == RONDO_NODE_HOST_CALL) rdo_host_work_unref(engine, ops[i]->host);
        if (rdo_op_is_event(ops[i])) rdo_event_unref(ops[i]->event);
    }
}
