#include "stream/call.h"

#include <rondo/log.h>

#include <stdatomic.h>
#include <string.h>

#include "base/check.h"
#include "stream/pending.h"

static _Atomic(rondo_log_fn) logger;
static _Atomic(void *) logger_user;
static _Atomic int logger_level;

void rondo_log_set(rondo_log_fn new_logger, void *user, rondo_log_level level) {
    atomic_store(&logger, NULL); /* so that no message reaches the new logger with the old user pointer */
    atomic_store(&logger_user, user);
    atomic_store(&logger_level, (int)level);
    atomic_store(&logger, new_logger);
}

void rdo_log(int level, uint32_t item, rondo_status status, const char *text) {
    rondo_log_fn fn = atomic_load(&logger);
    if (fn == NULL || level > atomic_load(&logger_level)) return;
    fn(atomic_load(&logger_user), (rondo_log_level)level, item, status, text);
}

void rdo_log_failure(rondo_status status) {
    char text[RONDO_MESSAGE_MAX * 2];
    if (status == RONDO_OK || atomic_load_explicit(&logger, memory_order_relaxed) == NULL) return;
    (void)rondo_fault_describe(status, text, sizeof text);
    text[strcspn(text, "\n")] = '\0';
    rdo_log(RONDO_LOG_ERROR, RONDO_LOG_ITEM_FAILURE, status, text);
}

rondo_status rdo_check_caller(const rdo_engine *engine, const rdo_where *where) {
    if (RDO_UNLIKELY(rdo_in_work())) {
        return rdo_fault_raise(where, RONDO_REENTRANT,
                               "called from inside a kernel or a host call; issue the work before or after it");
    }
    if (RDO_UNLIKELY(engine->fork_epoch != rdo_fork_epoch)) {
        return rdo_fault_raise(where, RONDO_FORKED, "the device was opened by the parent process; open it anew here");
    }
    return RONDO_OK;
}

rondo_status rdo_call_not_entered(const void *handle, const rdo_stream *stream, const char *operation,
                                  const char *label) {
    rdo_where where = {.operation = operation, .label = label, .op_index = RONDO_NO_INDEX};
    if (stream != NULL) {
        where.stream_id = stream->id;
        return rdo_check_caller(stream->engine, &where);
    }
    if (rdo_in_work()) return rdo_fault_raise(&where, RONDO_REENTRANT, "called from inside a kernel or a host call");
    return rdo_fault_raise(&where, RONDO_STALE, handle == NULL ? "the stream is null"
                                                               : "the stream was released or never existed");
}

void rdo_call_enter_window(rdo_call *call) {
    if (!rdo_call_owns(call)) return;
    call->where.op_index = call->queue->window.ops.count;
    rdo_window_note_refusal(&call->queue->window);
}

rondo_status rdo_call_begin(rdo_call *call, const void *handle, const char *operation, const char *label) {
    RDO_TRY(rdo_call_enter(call, handle, operation, label));
    rdo_queue_drain(call->queue);
    return RONDO_OK;
}

/* The queue's lock may be held by this very thread, so the window learns of it by way of the device's captures. */
void rdo_call_refused(const void *handle, rondo_status refusal) {
    rdo_stream *stream = rdo_object_find(RDO_OBJECT_STREAM, handle);
    if (stream == NULL || rondo_status_code(refusal) != RONDO_REENTRANT) return;
    rdo_captures_refused(&stream->engine->captures, stream->id, refusal);
}

/* A host call may have released the very stream that this call is on: then only the pin keeps the engine. */
rondo_status rdo_queue_leave_busy(rdo_queue *queue, rondo_status status) {
    rdo_engine *engine = queue->engine;
    rdo_engine_pin(engine);
    rdo_lock_give(&queue->lock);
    rdo_engine_settle_pinned(engine);
    rdo_log_failure(status);
    return status;
}

rondo_status rdo_call_check_window(const rdo_call *call, bool forbidden) {
    const rdo_window *window = &call->queue->window;
    if (!rdo_window_is_recording(window)) return RONDO_OK;
    if (!rdo_call_owns(call)) {
        return rdo_fault_raise(&call->where, RONDO_BUSY, "stream %llu records on the same queue",
                               (unsigned long long)rdo_window_owner(window));
    }
    if (!forbidden) return RONDO_OK;
    return rdo_fault_raise(&call->where, RONDO_FORBIDDEN,
                           "this stream records, so nothing it issues has run yet; end the capture first");
}
