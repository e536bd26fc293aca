/* Capture: recording what a stream launches.
 *
 *                prepare           begin            end (owner, nothing failed)
 *     none ───────────────► prepared ───► recording ───────────────────────────► none + graph
 *      ▲                       │              │
 *      └─────── abort, end ────┴─ abort, end ─┘   (no graph; what was recorded is claimed)
 *
 * While prepared, work runs: it is the warm-up that shows how much memory the step needs. While
 * recording, the owner's work is kept and does not run. A window in which any of the owner's work
 * failed, was refused or was skipped is doomed: it never becomes a graph [P2, C8].
 */
#ifndef RONDO_CAPTURE_H
#define RONDO_CAPTURE_H

#include <rondo/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum rondo_phase { RONDO_PHASE_NONE = 0, RONDO_PHASE_PREPARED = 1, RONDO_PHASE_RECORDING = 2 } rondo_phase;

/* Starts a capture: work until begin is the warm-up and runs. Empties outdated pages first [C2].
 *
 * Threads  any; serialized on the stream's queue, as all functions of this header.
 * Errors   STATE (a capture is prepared or recording on this queue; nothing changes), STALE, REENTRANT,
 *          FORKED, NO_HOST_MEMORY */
RONDO_API RONDO_MUST_CHECK rondo_status rondo_capture_prepare(rondo_stream *stream);

/* Opens the window, with room for the warm-up's whole sequence of allocations [C6]. If that room cannot
 * be had the capture is unwound to none.
 *
 * Errors   STATE (not prepared, or already recording; nothing changes), BUSY (prepared by another
 *          stream; nothing changes), STALE, REENTRANT, FORKED, NO_HOST_MEMORY, NO_DEVICE_MEMORY */
RONDO_API RONDO_MUST_CHECK rondo_status rondo_capture_begin(rondo_stream *stream);

typedef enum rondo_end_flags {
    RONDO_END_DEFAULT = 0,
    RONDO_END_ALLOW_EMPTY = 1 /* an empty window seals into a graph of no nodes [C23] */
} rondo_end_flags;

/* Closes the window and seals what it kept into a graph [C9]. The stream is out of the window
 * whatever the result; without a graph every byte that the window would have written is claimed.
 *
 * Owner    *out_graph is the caller's (one reference), NULL on failure.
 * Errors   STATE      nothing records; a prepared capture of the caller's is unwound as well [C11]
 *          BUSY       another stream has prepared; nothing changes [C11]
 *          DOOMED     something in the window failed; the story is that first failure's [C8]
 *          ABANDONED  another stream owns the window: it is closed and no graph made; names the owner [C10]
 *          OVERLAP    a live buffer lies where a replay would write over it; names it [C5]
 *          EMPTY      nothing was recorded, and that was not allowed [C23]
 *          INVALID (out_graph null: nothing changes; unknown flags), STALE, REENTRANT, FORKED, NO_HOST_MEMORY,
 *          BACKEND */
RONDO_API RONDO_MUST_CHECK rondo_status rondo_capture_end(rondo_stream *stream, uint32_t flags,
                                                          rondo_graph **out_graph);

/* Drops the stream's capture, from any phase [C12]. What was recorded is claimed.
 *
 * Errors   BUSY (another stream owns the capture; nothing changes), STALE, REENTRANT, FORKED */
RONDO_API rondo_status rondo_capture_abort(rondo_stream *stream);

/* Whether this stream is preparing or recording [C17]. One atomic load when nothing captures; false
 * for a dead handle. Threads  any, without waiting; kernels and host calls too. */
RONDO_API bool rondo_stream_is_capturing(rondo_stream *stream);

/* Where this stream is in its own capture. Threads  any, without waiting; kernels and host calls too. */
RONDO_API rondo_phase rondo_capture_phase(rondo_stream *stream);

/* What the open window holds so far. */
typedef struct rondo_window_info {
    uint64_t ops;            /* operations recorded */
    uint64_t host_bytes;     /* snapshots and host blocks kept */
    uint64_t device_bytes;   /* device memory that a graph sealed now would pin */
    rondo_status doomed_by;  /* the first failure, RONDO_OK while the window is whole */
} rondo_window_info;

/* Errors   STATE (this stream does not record), INVALID, STALE, REENTRANT, FORKED */
RONDO_API rondo_status rondo_capture_get_info(rondo_stream *stream, rondo_window_info *out_info);

/* A step of the user's: issues work on `stream`. */
typedef rondo_status (*rondo_step_fn)(rondo_stream *stream, void *user);

/* Prepare, run the step once (it executes), begin, record it, seal, with every failure path unwound
 * [C21]. On success the step has had its effect once, and *out_graph replays it.
 *
 * Errors   those of prepare, begin and end; whatever the step returned; STATE if the step itself ended or opened a
 * capture */
RONDO_API RONDO_MUST_CHECK rondo_status rondo_capture_step(rondo_stream *stream, rondo_step_fn step, void *user,
                                                           rondo_graph **out_graph);

/* How a call of rondo_run ran. */
typedef enum rondo_run_mode {
    RONDO_RUN_EAGER = 0,     /* first call of a key */
    RONDO_RUN_CAPTURED = 1,  /* recorded, sealed and replayed once */
    RONDO_RUN_REPLAYED = 2,  /* replayed */
    RONDO_RUN_FALLBACK = 3   /* could not be sealed: ran eagerly instead, and says why */
} rondo_run_mode;

typedef struct rondo_run_info {
    rondo_run_mode last_mode;
    uint64_t eager, captured, replayed, fallbacks; /* calls so far */
    rondo_status fallback_reason; /* why the latest seal failed; RONDO_OK if none did */
} rondo_run_info;

/* Runs a step by key [C21]: the first call runs it, the second records, seals and replays it, later
 * ones replay. Each call has the effect of one step. Where sealing fails the step runs eagerly, once,
 * and that is counted, logged, and told in `out_info` (may be NULL); it is not tried again for this
 * key until rondo_run_forget. Keys belong to the stream.
 *
 * Errors   whatever the step or the replay returned; STATE (the stream is capturing); STALE,
 *          REENTRANT, FORKED, INVALID, NO_HOST_MEMORY */
RONDO_API RONDO_MUST_CHECK rondo_status rondo_run(rondo_stream *stream, uint64_t key, rondo_step_fn step,
                                                  void *user, rondo_run_info *out_info);

/* Forgets a key and releases its graph; the next run starts anew. Unknown keys are ignored.
 * Errors   STALE, REENTRANT, FORKED */
RONDO_API rondo_status rondo_run_forget(rondo_stream *stream, uint64_t key);

#ifdef __cplusplus
}
#endif
#endif
