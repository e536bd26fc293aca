#include <rondo/capture.h>
#include <rondo/host.h>
#include <rondo/stream.h>

#include <string.h>

#include "api/api.h"
#include "base/alloc.h"
#include "graph/run.h"
#include "op/args.h"
#include "stream/pending.h"

/* ---- life ---- */

static rondo_status check_desc(const rdo_where *where, const rondo_stream_desc *desc) {
    static const uint64_t zero[3];
    if (desc->reserved_32 != 0 || memcmp(desc->reserved, zero, sizeof zero) != 0) {
        RDO_REFUSE(RONDO_INVALID, "reserved fields of the stream's options are not zero");
    }
    if ((unsigned)desc->mode > RONDO_STREAM_QUEUED) RDO_REFUSE(RONDO_RANGE, "there is no mode %d", (int)desc->mode);
    return RONDO_OK;
}

static rondo_status create(const rdo_where *where, rondo_device *handle, const rondo_stream_desc *desc,
                           rondo_stream **out_stream) {
    rdo_device *device;
    rdo_stream *stream = NULL;
    if (out_stream == NULL) RDO_REFUSE(RONDO_INVALID, "out_stream is null");
    *out_stream = NULL;
    RDO_TRY(rdo_api_device(where, handle, &device));
    if (desc != NULL) RDO_TRY(check_desc(where, desc));
    bool queued = desc != NULL && desc->mode == RONDO_STREAM_QUEUED;
    rondo_status status = rdo_stream_new(&device->engine, where, queued, &stream);
    if (status == RONDO_OK) *out_stream = rdo_handle(stream->handle);
    return rdo_api_end(&device->engine, status);
}

rondo_status rondo_stream_create(rondo_device *device, rondo_stream **out_stream) {
    return create(RDO_NOWHERE("rondo_stream_create"), device, NULL, out_stream);
}

rondo_status rondo_stream_create_with(rondo_device *device, const rondo_stream_desc *desc, rondo_stream **out_stream) {
    return create(RDO_NOWHERE("rondo_stream_create_with"), device, desc, out_stream);
}

rondo_status rondo_stream_retain(rondo_stream *handle) {
    const rdo_where *where = RDO_NOWHERE("rondo_stream_retain");
    rdo_stream *stream = rdo_object_find(RDO_OBJECT_STREAM, handle);
    if (stream == NULL) RDO_REFUSE(RONDO_STALE, "the stream is null, was released or never existed");
    RDO_TRY(rdo_api_check_fork(stream->engine, where));
    rdo_lock_take(&stream->engine->books.lock);
    stream->refs++;
    stream->user_refs++;
    rdo_lock_give(&stream->engine->books.lock);
    return RONDO_OK;
}

void rondo_stream_release(rondo_stream *handle) {
    rdo_stream *stream = rdo_object_find(RDO_OBJECT_STREAM, handle);
    if (stream == NULL || !rdo_api_may_release(stream->engine)) return;
    rdo_engine *engine = stream->engine;
    rdo_lock_take(&engine->books.lock);
    if (--stream->user_refs == 0) rdo_object_hide(stream->handle);
    rdo_stream_unref(stream);
    rdo_api_released(engine);
}

uint64_t rondo_stream_id(rondo_stream *handle) {
    const rdo_stream *stream = rdo_object_find(RDO_OBJECT_STREAM, handle);
    return stream != NULL ? stream->id : 0;
}

/* ---- launching ---- */

rondo_status rondo_launch_3d(rondo_stream *stream, rondo_kernel *kernel, uint64_t x, uint64_t y, uint64_t z,
                             const rondo_arg *args, size_t arg_count, const char *label) {
    return rdo_launch(stream, kernel, x, y, z, args, arg_count, label);
}

/* ---- host calls ---- */

static rondo_status check_accesses(rdo_call *call, rdo_op *op, const rondo_host_access *accesses, size_t count) {
    const rdo_where *where = &call->where;
    if (count > RDO_MAX_ACCESSES) RDO_REFUSE(RONDO_RANGE, "a host call has at most %d accesses", RDO_MAX_ACCESSES);
    if (accesses == NULL && count != 0) RDO_REFUSE(RONDO_INVALID, "accesses is null");
    rondo_status first = RONDO_OK;
    for (size_t i = 0; i < count; i++) {
        rondo_status status;
        if (accesses[i].mode < RONDO_READS || accesses[i].mode > RONDO_READS_WRITES) {
            status = rdo_fault_raise(where, RONDO_INVALID, "access %zu has unknown mode %d", i, (int)accesses[i].mode);
        } else {
            status = rdo_args_access(where, &call->engine->books, &call->queue->store, accesses[i].span, RDO_SPAN_ANY,
                                     (uint32_t)accesses[i].mode, "access", &op->accesses[op->access_count]);
            op->access_count += status == RONDO_OK;
        }
        if (first == RONDO_OK) first = status;
    }
    RDO_TRY(first);
    for (uint32_t i = 1; i < op->access_count; i++) {
        for (uint32_t j = 0; j < i; j++) {
            const rdo_access *a = &op->accesses[i], *b = &op->accesses[j];
            if ((!rdo_access_writes(a) && !rdo_access_writes(b)) || !rdo_args_overlap(a, b)) continue;
            RDO_REFUSE(RONDO_ALIASED, "accesses %u and %u share bytes of buffer %llu and one of them is written", j, i,
                       (unsigned long long)a->id);
        }
    }
    return RONDO_OK;
}

/* What the op runs, with its callback ready; NULL without memory. */
static rdo_host_work *new_work(rondo_host_fn fn, void *user, rondo_release_fn release) {
    rdo_host_work *work = rdo_alloc_zero(1, sizeof *work);
    if (work == NULL) return NULL;
    *work = (rdo_host_work){.fn = fn, .user = user, .refs = 1};
    work->due = release != NULL ? rdo_callback_new(release, user) : NULL;
    if (release == NULL || work->due != NULL) return work;
    rdo_free(work);
    return NULL;
}

/* Whether the host can reach all that the call declares. */
static rondo_status check_reach(const rdo_call *call, const rdo_op *op) {
    const rdo_books *books = &call->engine->books;
    const rdo_where *where = &call->where;
    for (uint32_t i = 0; i < op->access_count; i++) {
        const rdo_access *access = &op->accesses[i];
        if (access->host || access->page == NULL) continue;
        if (books->backend->host_address(books->device, access->page->handle) == NULL) {
            RDO_REFUSE(RONDO_UNSUPPORTED, "the host cannot reach device memory of this backend; use host blocks");
        }
    }
    return RONDO_OK;
}

rondo_status rondo_host_call(rondo_stream *stream, rondo_host_fn fn, void *user, rondo_release_fn release,
                             const rondo_host_access *accesses, size_t count, const char *label) {
    rdo_call call;
    rdo_access room[RDO_MAX_ACCESSES];
    rdo_op op = {.kind = RONDO_NODE_HOST_CALL, .accesses = room, .label = label};
    RDO_TRY(rdo_call_begin_work(&call, stream, "rondo_host_call", label));
    rondo_status status = check_accesses(&call, &op, accesses, count);
    if (status == RONDO_OK && fn == NULL) status = rdo_fault_raise(&call.where, RONDO_INVALID, "fn is null");
    if (status == RONDO_OK) status = check_reach(&call, &op);
    if (status == RONDO_OK && (op.host = new_work(fn, user, release)) == NULL) {
        status = rdo_fault_raise(&call.where, RONDO_NO_HOST_MEMORY, "no memory for a host call");
    }
    if (status == RONDO_OK) {
        status = rdo_issue(&call, &op);
        rdo_lock_take(&call.engine->books.lock);
        if (status != RONDO_OK) {
            rdo_free(op.host->due); /* nothing was taken: the caller's data stays the caller's */
            op.host->due = NULL;
        }
        rdo_host_work_unref(call.engine, op.host);
        bool due = call.engine->books.callbacks != NULL;
        rdo_lock_give(&call.engine->books.lock);
        if (due) rdo_engine_pin(call.engine);
        status = rdo_call_end(&call, status);
        if (due) rdo_engine_settle_pinned(call.engine); /* the release function is called before we return */
        return status;
    }
    return rdo_call_end(&call, rdo_refuse(&call, &op, status));
}

/* ---- waiting and measuring ---- */

rondo_status rondo_stream_sync(rondo_stream *stream) {
    rdo_call call;
    RDO_TRY(rdo_call_begin(&call, stream, "rondo_stream_sync", NULL));
    rondo_status status = rdo_call_check_window(&call, true);
    if (status == RONDO_OK) status = rdo_stream_take_failure(call.stream);
    if (RDO_LIKELY(call.queue->pending == NULL)) return rdo_call_end(&call, status);
    rdo_engine_pin(call.engine);
    status = rdo_call_end(&call, status);
    rdo_queue_await_settled(call.queue);
    rdo_engine_settle_pinned(call.engine);
    return status;
}

rondo_status rondo_stream_trim(rondo_stream *stream) {
    rdo_call call;
    RDO_TRY(rdo_call_begin(&call, stream, "rondo_stream_trim", NULL));
    rdo_engine *engine = call.engine;
    rondo_status status = rdo_call_records(&call) ? rdo_call_check_window(&call, true) : RONDO_OK;
    status = rdo_call_end(&call, status);
    if (status == RONDO_OK) {
        (void)rdo_device_trim((rdo_device *)(void *)engine, NULL);
        rdo_engine_settle(engine);
    }
    return status;
}

rondo_status rondo_profile_start(rondo_stream *stream) {
    rdo_call call;
    RDO_TRY(rdo_call_begin(&call, stream, "rondo_profile_start", NULL));
    rondo_status status = rdo_call_check_window(&call, true);
    if (status == RONDO_OK && call.stream->profiling) {
        status = rdo_fault_raise(&call.where, RONDO_STATE, "a measurement is running on this stream");
    }
    if (status == RONDO_OK) {
        call.stream->profiling = true;
        call.stream->profile_failed = RONDO_OK;
        call.stream->profile_start_ns = rdo_clock_ns();
    }
    return rdo_call_end(&call, status);
}

rondo_status rondo_profile_end(rondo_stream *stream, uint64_t *out_elapsed_ns) {
    const rdo_where *where = RDO_NOWHERE("rondo_profile_end");
    rdo_call call;
    if (out_elapsed_ns == NULL) RDO_REFUSE(RONDO_INVALID, "out_elapsed_ns is null");
    *out_elapsed_ns = 0;
    RDO_TRY(rdo_call_begin(&call, stream, "rondo_profile_end", NULL));
    rondo_status status = rdo_call_check_window(&call, true);
    if (status == RONDO_OK && !call.stream->profiling) {
        status = rdo_fault_raise(&call.where, RONDO_STATE, "no measurement is running on this stream");
    }
    if (status == RONDO_OK) {
        call.stream->profiling = false;
        status = call.stream->profile_failed;
        if (status == RONDO_OK) *out_elapsed_ns = rdo_clock_ns() - call.stream->profile_start_ns;
    }
    return rdo_call_end(&call, status);
}

/* ---- events ---- */

rondo_status rondo_event_create(rondo_device *handle, rondo_event **out_event) {
    const rdo_where *where = RDO_NOWHERE("rondo_event_create");
    rdo_device *device;
    if (out_event == NULL) RDO_REFUSE(RONDO_INVALID, "out_event is null");
    *out_event = NULL;
    RDO_TRY(rdo_api_device(where, handle, &device));
    rdo_event *event = rdo_alloc_zero(1, sizeof *event);
    uint64_t number = event != NULL ? rdo_object_new(RDO_OBJECT_EVENT, event, NULL) : 0;
    if (number == 0) {
        rdo_free(event);
        RDO_REFUSE(RONDO_NO_HOST_MEMORY, "no memory for an event");
    }
    *event = (rdo_event){.handle = number, .engine = &device->engine, .refs = 1, .user_refs = 1};
    rdo_lock_take(&device->engine.books.lock);
    device->engine.event_count++;
    device->engine.books.children++;
    rdo_lock_give(&device->engine.books.lock);
    *out_event = rdo_handle(number);
    return RONDO_OK;
}

rondo_status rondo_event_retain(rondo_event *handle) {
    const rdo_where *where = RDO_NOWHERE("rondo_event_retain");
    rdo_event *event = rdo_object_find(RDO_OBJECT_EVENT, handle);
    if (event == NULL) RDO_REFUSE(RONDO_STALE, "the event is null, was released or never existed");
    RDO_TRY(rdo_api_check_fork(event->engine, where));
    rdo_lock_take(&event->engine->books.lock);
    event->refs++;
    event->user_refs++;
    rdo_lock_give(&event->engine->books.lock);
    return RONDO_OK;
}

void rondo_event_release(rondo_event *handle) {
    rdo_event *event = rdo_object_find(RDO_OBJECT_EVENT, handle);
    if (event == NULL || !rdo_api_may_release(event->engine)) return;
    rdo_engine *engine = event->engine;
    rdo_lock_take(&engine->books.lock);
    if (--event->user_refs == 0) rdo_object_hide(event->handle);
    rdo_event_unref(event);
    rdo_api_released(engine);
}

static rondo_status issue_event(rondo_stream *stream, rondo_event *handle, rondo_node_kind kind, const char *label) {
    rdo_call call;
    rdo_op op = {.kind = kind, .label = label};
    RDO_TRY(rdo_call_begin_work(&call, stream, rdo_op_call(kind), label));
    op.event = rdo_object_find(RDO_OBJECT_EVENT, handle);
    rondo_status status = RONDO_OK;
    if (op.event == NULL) {
        status = rdo_fault_raise(&call.where, RONDO_STALE, "the event is null, was released or never existed");
    } else if (op.event->engine != call.engine) {
        status = rdo_fault_raise(&call.where, RONDO_FOREIGN, "the event belongs to another device than the stream");
    }
    status = status == RONDO_OK ? rdo_issue(&call, &op) : rdo_refuse(&call, &op, status);
    return rdo_call_end(&call, status);
}

rondo_status rondo_event_record(rondo_stream *stream, rondo_event *event, const char *label) {
    return issue_event(stream, event, RONDO_NODE_EVENT_RECORD, label);
}

rondo_status rondo_event_wait(rondo_stream *stream, rondo_event *event, const char *label) {
    return issue_event(stream, event, RONDO_NODE_EVENT_WAIT, label);
}

/* Device lock held. */
static rondo_status status_of(const rdo_where *where, const rdo_event *event) {
    if (!event->recorded) RDO_REFUSE(RONDO_STATE, "the event was never recorded");
    if (event->completed) return RONDO_OK;
    RDO_REFUSE(RONDO_NOT_READY, "the event was recorded in a window; a replay of its graph will complete it");
}

static rondo_status query(const char *operation, rondo_event *handle) {
    const rdo_where *where = RDO_NOWHERE(operation);
    rdo_event *event;
    RDO_TRY(rdo_api_event(where, handle, &event));
    rdo_lock_take(&event->engine->books.lock);
    rondo_status status = status_of(where, event);
    rdo_lock_give(&event->engine->books.lock);
    return status;
}

rondo_status rondo_event_status(rondo_event *event) {
    return query("rondo_event_status", event);
}

rondo_status rondo_event_sync(rondo_event *event) {
    return query("rondo_event_sync", event); /* a record outside of a window completes as it is issued */
}

rondo_status rondo_event_elapsed(rondo_event *start_handle, rondo_event *end_handle, uint64_t *out_elapsed_ns) {
    const rdo_where *where = RDO_NOWHERE("rondo_event_elapsed");
    rdo_event *start, *end;
    if (out_elapsed_ns == NULL) RDO_REFUSE(RONDO_INVALID, "out_elapsed_ns is null");
    *out_elapsed_ns = 0;
    RDO_TRY(rdo_api_event(where, start_handle, &start));
    RDO_TRY(rdo_api_event(where, end_handle, &end));
    if (start->engine != end->engine) RDO_REFUSE(RONDO_FOREIGN, "the events belong to different devices");
    rdo_lock_take(&start->engine->books.lock);
    rondo_status status = status_of(where, start);
    if (status == RONDO_OK) status = status_of(where, end);
    if (status == RONDO_OK && end->time_ns > start->time_ns) *out_elapsed_ns = end->time_ns - start->time_ns;
    rdo_lock_give(&start->engine->books.lock);
    return status;
}
