/* Streams: work in order.
 *
 * A logical stream is an ordering domain. Thousands may exist: they fold onto the device's queues
 * by id, and those that share a queue are neighbours [O2, O3]. Between two streams of a device
 * Rondo itself orders everything that touches the same bytes [W3]; nobody races by accident.
 */
#ifndef RONDO_STREAM_H
#define RONDO_STREAM_H

#include <rondo/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Errors   INVALID, STALE, REENTRANT, FORKED, NO_HOST_MEMORY, BACKEND.
 * Owner    *out_stream is the caller's (one reference), NULL on failure. Threads  any. */
RONDO_API RONDO_MUST_CHECK rondo_status rondo_stream_create(rondo_device *device, rondo_stream **out_stream);

/* Who plays the work of a stream. */
typedef enum rondo_stream_mode {
    RONDO_STREAM_DIRECT = 0, /* the caller: on a device that is the CPU, work is done when its call returns */
    RONDO_STREAM_QUEUED = 1  /* a worker thread of the queue: launches, fills, copies, writes, asynchronous reads and
                                replays return as soon as they are checked and noted, for callers that must not be held
                                up by the work itself. All else waits for what the queue has been given before, and so
                                does a call that is refused, a call while a capture is prepared or open on the queue,
                                and one that finds 128 operations waiting. What a call could not say because it had
                                returned (TAINTED, BUSY, BACKEND, LOST, NO_HOST_MEMORY) the next sync says; the bytes
                                that it would have written are claimed as ever. */
} rondo_stream_mode;

/* Options of a stream. A zeroed struct, or NULL, means all defaults. */
typedef struct rondo_stream_desc {
    rondo_stream_mode mode; /* [RONDO_STREAM_DIRECT] */
    uint32_t reserved_32;   /* must be zero */
    uint64_t reserved[3];   /* must be zero */
} rondo_stream_desc;

/* rondo_stream_create with options. The thread of a queued stream starts with its first operation, sleeps while there
 * is nothing to play and ends with the device. Where it cannot be started work is played by the caller.
 * Errors   as rondo_stream_create; INVALID (reserved fields), RANGE (there is no such mode). */
RONDO_API RONDO_MUST_CHECK rondo_status rondo_stream_create_with(rondo_device *device, const rondo_stream_desc *desc,
                                                                 rondo_stream **out_stream);

/* Errors   STALE. Threads  any. */
RONDO_API rondo_status rondo_stream_retain(rondo_stream *stream);

/* The last release aborts a capture that the stream owns [C12]. NULL and dead handles are ignored.
 * Threads  any, kernels and host calls too. */
RONDO_API void rondo_stream_release(rondo_stream *stream);

/* The process-unique id of the stream, 0 for a dead handle. Its queue is id modulo max_queues. */
RONDO_API uint64_t rondo_stream_id(rondo_stream *stream);

/* One argument of a launch: a span for a buffer parameter, bytes for a value parameter. */
typedef struct rondo_arg {
    rondo_span span;
    const void *value;
    uint64_t value_bytes;
} rondo_arg;

static inline rondo_arg rondo_arg_span(rondo_span span) {
    rondo_arg arg;
    arg.span = span;
    arg.value = NULL;
    arg.value_bytes = 0;
    return arg;
}
static inline rondo_arg rondo_arg_buffer(rondo_buffer buffer) {
    return rondo_arg_span(rondo_whole(buffer));
}
static inline rondo_arg rondo_arg_value(const void *value, uint64_t value_bytes) {
    rondo_arg arg;
    arg.span.buffer.id = 0;
    arg.span.offset_bytes = 0;
    arg.span.size_bytes = 0;
    arg.value = value;
    arg.value_bytes = value_bytes;
    return arg;
}

/* Launches a kernel over `grid` items, or records the launch.
 *
 * Order of decisions [W6]: arguments valid; may this caller record; inputs readable; memory resolved; run. A kernel
 * that fails while it runs does not fail the launch: its outputs are claimed, and reads and sync report it [W7].
 *
 * Errors   STALE, FOREIGN, REENTRANT, FORKED
 *          INVALID   count does not fit, a value has the wrong size, an argument is of the wrong kind,
 *                    misaligned, or of a host block
 *          RANGE     a span leaves its buffer, the grid overflows
 *          ALIASED   two arguments overlap, one is written, and no parameter allows it; names both [W8]
 *          BUSY      a neighbour records, or bytes are mapped
 *          TAINTED   an input is spoiled: skipped, outputs carry that failure; dooms a window [T6]
 *          NO_HOST_MEMORY, BACKEND, LOST
 *
 * The library has it as rondo_launch_3d, which is for bindings of other languages. The three numbers travel in
 * registers; a grid, passed by value, would go through memory twice on its way, which can cost more than ten
 * nanoseconds. */
RONDO_API RONDO_MUST_CHECK rondo_status rondo_launch_3d(rondo_stream *stream, rondo_kernel *kernel, uint64_t x,
                                                        uint64_t y, uint64_t z, const rondo_arg *args,
                                                        size_t arg_count, const char *label);
RONDO_MUST_CHECK static inline rondo_status rondo_launch(rondo_stream *stream, rondo_kernel *kernel, rondo_grid grid,
                                                         const rondo_arg *args, size_t arg_count, const char *label) {
    return rondo_launch_3d(stream, kernel, grid.x, grid.y, grid.z, args, arg_count, label);
}

/* Waits for all work of this stream and returns the first failure on it since the last sync [W7].
 * Errors   STALE, REENTRANT, FORKED, BUSY (a neighbour records), FORBIDDEN (this stream records),
 *          or the first failure. */
RONDO_API RONDO_MUST_CHECK rondo_status rondo_stream_sync(rondo_stream *stream);

/* Gives back the memory of this stream's queue that nothing needs. While another stream records it is accepted and
 * takes effect when the last window closes [C16].
 * Errors   STALE, REENTRANT, FORKED, FORBIDDEN (this stream records; its window is not doomed [C14]). */
RONDO_API rondo_status rondo_stream_trim(rondo_stream *stream);

/* Starts a time measurement on the stream (it waits first). One at a time.
 * Errors   STALE, REENTRANT, FORKED, BUSY, FORBIDDEN (this stream records), STATE (one is running). */
RONDO_API RONDO_MUST_CHECK rondo_status rondo_profile_start(rondo_stream *stream);

/* Ends it and says how long the work of the stream took.
 * Errors   STALE, REENTRANT, FORKED, BUSY, FORBIDDEN, STATE (none is running), or the failure that made the
 *          measurement worthless: work on the stream failed or was skipped meanwhile. */
RONDO_API RONDO_MUST_CHECK rondo_status rondo_profile_end(rondo_stream *stream, uint64_t *out_elapsed_ns);

/* Events: points in a stream [C24]. */

/* Errors   INVALID, STALE, REENTRANT, FORKED, NO_HOST_MEMORY. Owner  *out_event is the caller's. */
RONDO_API RONDO_MUST_CHECK rondo_status rondo_event_create(rondo_device *device, rondo_event **out_event);
RONDO_API rondo_status rondo_event_retain(rondo_event *event);
RONDO_API void rondo_event_release(rondo_event *event);

/* Marks this point of the stream. In a window it becomes a node that completes at each replay.
 * Errors   STALE, FOREIGN, REENTRANT, FORKED, BUSY, NO_HOST_MEMORY. */
RONDO_API RONDO_MUST_CHECK rondo_status rondo_event_record(rondo_stream *stream, rondo_event *event,
                                                           const char *label);

/* Makes later work of `stream` wait for the event. In a window only an event recorded earlier in the
 * same window is accepted; any other is refused and dooms. Outside, an event that was never recorded is refused, and so
 * is one that only a replay could complete.
 * Errors   STALE, FOREIGN, REENTRANT, FORKED, BUSY, STATE (never recorded, or not of this window), NOT_READY (recorded
 *          in a window whose graph never replayed), NO_HOST_MEMORY. */
RONDO_API RONDO_MUST_CHECK rondo_status rondo_event_wait(rondo_stream *stream, rondo_event *event,
                                                         const char *label);

/* RONDO_OK if its latest record completed. Errors   STALE, REENTRANT, FORKED,
 *          STATE (never recorded), NOT_READY (recorded in a window whose graph never replayed, or under way). */
RONDO_API rondo_status rondo_event_status(rondo_event *event);

/* Blocks until the event completed. Errors   as rondo_event_status; NOT_READY: only a replay could complete it. */
RONDO_API RONDO_MUST_CHECK rondo_status rondo_event_sync(rondo_event *event);

/* Time from `start` to `end`, both at their latest completion, in nanoseconds; 0 if `end` came first.
 * Errors   as rondo_event_status, of either; FOREIGN. */
RONDO_API RONDO_MUST_CHECK rondo_status rondo_event_elapsed(rondo_event *start, rondo_event *end,
                                                            uint64_t *out_elapsed_ns);

#ifdef __cplusplus
}
#endif
#endif
