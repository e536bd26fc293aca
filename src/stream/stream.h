/* Logical streams, and what is on them besides operations. */
#ifndef RDO_STREAM_STREAM_H
#define RDO_STREAM_STREAM_H

#include "stream/call.h"

/* A new stream with one reference, on the queue that its id folds onto. No lock held. */
rondo_status rdo_stream_new(rdo_engine *engine, const rdo_where *where, bool queued, rdo_stream **out_stream);
/* Device lock held: gives a reference back. The last one ends the stream when its queue is swept. */
void rdo_stream_unref(rdo_stream *stream);

/* Queue lock held: the first failure since the last sync, which it forgets. */
rondo_status rdo_stream_take_failure(rdo_stream *stream);

/* Capture, as far as it needs no graph. Queue lock held. */
rondo_status rdo_capture_prepare(rdo_call *call);
rondo_status rdo_capture_begin(rdo_call *call);
/* Leaves recording or preparation without a graph, however it came about: what the window would have written is claimed
 * for `reason`, all that it held is given back, and the queue can capture again [C12]. */
void rdo_capture_leave(rdo_queue *queue, rondo_status reason);
/* Why a window that its owner leaves gave no graph: what had doomed it, else that it was aborted, in these words.
 * RONDO_OK if it does not record. */
rondo_status rdo_capture_aborted(rdo_window *window, const rdo_where *where, const char *words);
/* Device lock held: the window no longer counts as recording; a trim that waited for the last one is done. */
void rdo_capture_stop_recording(rdo_engine *engine);
/* Device lock held: gives back the references that these recorded operations hold on kernels, host calls, events. */
void rdo_ops_drop(rdo_engine *engine, rdo_op *const *ops, size_t count);

/* Objects that recordings hold. Device lock held: gives a reference back; the last one ends the object. */
void rdo_kernel_unref(rdo_engine *engine, rdo_kernel *kernel);
void rdo_event_unref(rdo_event *event);
void rdo_host_work_unref(rdo_engine *engine, rdo_host_work *work);

#endif
