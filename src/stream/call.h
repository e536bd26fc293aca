/* A call on a stream: how every public function on one begins and ends. */
#ifndef RDO_STREAM_CALL_H
#define RDO_STREAM_CALL_H

#include "stream/engine.h"

typedef struct rdo_call {
    rdo_engine *engine;
    rdo_stream *stream;
    rdo_queue *queue;
    rdo_where where;
} rdo_call;

/* Finds the stream, refuses what no call may do (from inside a kernel, after a fork), takes the queue's lock, waits for
 * what is pending on the queue. `handle` is the stream's public one. */
rondo_status rdo_call_begin(rdo_call *call, const void *handle, const char *operation, const char *label);

/* Parts of rdo_call_enter, for the launch, which puts its call together only where something is out of the ordinary.
 * Whether a call on the stream, NULL if it was not found, may begin, else why not; the fields of a call; what else
 * there is to do at the beginning while a stream of the queue records, with the queue's lock. */
static inline bool rdo_call_may_enter(const rdo_stream *stream) {
    return stream != NULL && !rdo_in_work() && stream->engine->fork_epoch == rdo_fork_epoch;
}
rondo_status rdo_call_not_entered(const void *handle, const rdo_stream *stream, const char *operation,
                                  const char *label);
static inline void rdo_call_fill(rdo_call *call, rdo_stream *stream, const char *operation, const char *label) {
    call->engine = stream->engine;
    call->stream = stream;
    call->queue = stream->queue;
    call->where = (rdo_where){
        .operation = operation, .label = label, .stream_id = stream->id, .op_index = RONDO_NO_INDEX};
}
void rdo_call_enter_window(rdo_call *call);

/* The same without the wait. It and rdo_call_end are here because every call, however short, goes through both. */
static inline rondo_status rdo_call_enter(rdo_call *call, const void *handle, const char *operation,
                                          const char *label) {
    rdo_stream *stream = rdo_object_find(RDO_OBJECT_STREAM, handle);
    if (RDO_UNLIKELY(!rdo_call_may_enter(stream))) {
        rondo_status refused = rdo_call_not_entered(handle, stream, operation, label);
        RDO_ASSERT(refused != RONDO_OK);
        return refused;
    }
    rdo_call_fill(call, stream, operation, label);
    rdo_lock_take(&call->queue->lock);
    if (RDO_UNLIKELY(rdo_window_is_recording(&call->queue->window))) rdo_call_enter_window(call);
    return RONDO_OK;
}

/* The same for work, which may be left pending, and belongs into the window if the stream records: refused inside of a
 * kernel or host call, it dooms that window [C8]. */
void rdo_call_refused(const void *handle, rondo_status refusal);
static inline rondo_status rdo_call_begin_work(rdo_call *call, const void *handle, const char *operation,
                                               const char *label) {
    rondo_status status = rdo_call_enter(call, handle, operation, label);
    if (RDO_UNLIKELY(status != RONDO_OK)) rdo_call_refused(handle, status);
    return status;
}

/* Gives the queue's lock back, settles, logs a failure. Returns `status`. */
rondo_status rdo_queue_leave_busy(rdo_queue *queue, rondo_status status);
static inline rondo_status rdo_queue_leave(rdo_queue *queue, rondo_status status) {
    rdo_engine *engine = queue->engine;
    if (RDO_UNLIKELY(status != RONDO_OK)) return rdo_queue_leave_busy(queue, status);
    if (RDO_UNLIKELY(rdo_engine_unsettled(engine))) return rdo_queue_leave_busy(queue, RONDO_OK);
    rdo_lock_give(&queue->lock);
    RDO_LOCK_THEN_LOOK();
    if (RDO_UNLIKELY(rdo_engine_unsettled(engine))) rdo_engine_settle(engine);
    return RONDO_OK;
}
static inline rondo_status rdo_call_end(rdo_call *call, rondo_status status) {
    return rdo_queue_leave(call->queue, status);
}

/* The same checks for calls that are not on a stream. */
rondo_status rdo_check_caller(const rdo_engine *engine, const rdo_where *where);

/* Whether the caller's stream owns the window that is open or prepared on its queue. */
static inline bool rdo_call_owns(const rdo_call *call) {
    return rdo_window_owner(&call->queue->window) == call->stream->id;
}
static inline bool rdo_call_records(const rdo_call *call) {
    return rdo_window_is_recording(&call->queue->window) && rdo_call_owns(call);
}

/* Refuses what a neighbour may not do while this queue records (BUSY), and, if `forbidden`, what the owner may not
 * either (FORBIDDEN); neither dooms [C13, C14]. */
rondo_status rdo_call_check_window(const rdo_call *call, bool forbidden);

/* Calls the logger for a failed status; no lock held. */
void rdo_log_failure(rondo_status status);
void rdo_log(int level, uint32_t item, rondo_status status, const char *text);

#endif
