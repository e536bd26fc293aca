/* Graphs: sealed recordings.
 *
 * A graph keeps everything that its replays read or write valid and in place: device memory, host
 * blocks, snapshots, parameters, kernels, callbacks [P3]. Releasing it gives all of that back when
 * the last replay that uses it is done [R7].
 */
#ifndef RONDO_GRAPH_H
#define RONDO_GRAPH_H

#include <rondo/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Errors   STALE. Threads  any. */
RONDO_API rondo_status rondo_graph_retain(rondo_graph *graph);

/* NULL and dead handles are ignored. Waits for nothing. Threads  any, kernels and host calls too. */
RONDO_API void rondo_graph_release(rondo_graph *graph);

/* Runs all nodes in order on `stream`, any stream of the device, any thread [R6]; replays of one graph
 * queue up. Ordered against other streams by everything the graph reads and writes [R3]. In a window
 * the graph's nodes are appended to the window instead [R8].
 *
 * The effect is that of launching the nodes one by one [R4]: a node that fails claims its outputs, those that read
 * them are skipped, the others count as done, and the replay returns OK; reads and sync report it. Bytes that the
 * graph reads before it writes them must be good: otherwise nothing runs and everything that it writes takes that
 * failure [R2].
 *
 * Errors   STALE (unknown or destroyed; no side effect [R5]), FOREIGN, REENTRANT, FORKED, BUSY,
 *          TAINTED (a live-in is spoiled), NO_HOST_MEMORY, BACKEND, LOST (could not be enqueued: nothing
 *          ran, everything it writes is claimed until the next replay or write that succeeds [R1]) */
RONDO_API RONDO_MUST_CHECK rondo_status rondo_graph_replay(rondo_graph *graph, rondo_stream *stream);

/* What a graph is and holds [M6]. */
typedef struct rondo_graph_info {
    uint64_t id;             /* unique in the process */
    uint64_t nodes;
    uint64_t device_bytes;   /* device memory that it keeps in place */
    uint64_t host_bytes;     /* host blocks and snapshots */
    uint64_t metadata_bytes; /* parameter blocks */
    uint64_t live_in_bytes;  /* bytes read before they are written */
    uint64_t written_bytes;
    uint64_t replays;        /* enqueued so far, the failed ones not counted */
    bool native;             /* replayed by the backend's own graph */
} rondo_graph_info;

/* Errors   INVALID, STALE, REENTRANT. Threads  any. */
RONDO_API rondo_status rondo_graph_get_info(rondo_graph *graph, rondo_graph_info *out_info);

/* Whether a graph pays: what stands besides its work, issued one by one and replayed. */
typedef struct rondo_graph_worth {
    uint64_t record_ns;  /* from the begin of its window until it was sealed, what the caller did in between included */
    uint64_t eager_ns;   /* expected for issuing its nodes one by one, without the work itself */
    uint64_t replay_ns;  /* expected for one replay, without the work itself */
    uint64_t pays_after; /* the replays after which recording has paid for itself; UINT64_MAX: never */
} rondo_graph_worth;

/* The costs of a node and of a replay are those of this device: when they are first asked for, a stream of its own
 * issues and replays some small fills, which takes well below a millisecond on a CPU and shows in the device's
 * counters.
 * What a replay gains besides, by playing independent nodes at the same time, is not counted.
 *
 * Errors   INVALID, STALE, REENTRANT, FORKED; only for the first of a device also BUSY (a stream of the same queue
 *          records: ask again later), NO_HOST_MEMORY, NO_DEVICE_MEMORY, BACKEND, LOST. Threads  any. */
RONDO_API RONDO_MUST_CHECK rondo_status rondo_graph_get_worth(rondo_graph *graph, rondo_graph_worth *out_worth);

/* Walking. Nodes are numbered 0 .. nodes - 1 in the order in which they were recorded. */

typedef enum rondo_node_kind {
    RONDO_NODE_LAUNCH = 1,
    RONDO_NODE_FILL = 2,
    RONDO_NODE_COPY = 3,
    RONDO_NODE_COPY_2D = 4,
    RONDO_NODE_WRITE = 5,      /* upload of a snapshot */
    RONDO_NODE_WRITE_LIVE = 6, /* upload from a host block */
    RONDO_NODE_READ_ASYNC = 7, /* download into a host block */
    RONDO_NODE_HOST_CALL = 8,
    RONDO_NODE_EVENT_RECORD = 9,
    RONDO_NODE_EVENT_WAIT = 10
} rondo_node_kind;

typedef struct rondo_node_info {
    rondo_node_kind kind;
    uint32_t spans;       /* spans that it reads or writes */
    uint32_t params;      /* a launch: parameters of its kernel */
    uint32_t predecessors; /* earlier nodes that it depends on directly by bytes */
    rondo_grid grid;      /* a launch */
    char kernel[64];      /* a launch */
    char label[64];
} rondo_node_info;

/* One range of bytes that a node touches. */
typedef struct rondo_node_span {
    uint64_t memory_id;
    uint64_t offset_bytes, size_bytes;
    rondo_access_mode mode;
    bool host;
    char param[64]; /* the kernel's parameter; empty for other nodes */
} rondo_node_span;

/* Errors   INVALID, RANGE (no such node), STALE, REENTRANT. Threads  any. */
RONDO_API rondo_status rondo_graph_get_node(rondo_graph *graph, uint64_t node, rondo_node_info *out_info);
/* Errors   as above; RANGE (no such span). */
RONDO_API rondo_status rondo_graph_get_node_span(rondo_graph *graph, uint64_t node, uint32_t span,
                                                 rondo_node_span *out_span);
/* The k-th direct predecessor of a node, ascending: a node p < n whose bytes conflict with n's (read after write, write
 * after read, write after write) with no later node before n having taken over those bytes.
 * Errors   as above; RANGE (no such predecessor). */
RONDO_API rondo_status rondo_graph_get_predecessor(rondo_graph *graph, uint64_t node, uint32_t k,
                                                   uint64_t *out_node);

typedef enum rondo_dump_format {
    RONDO_DUMP_TEXT = 0, /* stable: equal recordings give equal text, whatever ids they carry */
    RONDO_DUMP_DOT = 1   /* Graphviz; edges are real byte-range dependences */
} rondo_dump_format;

/* Writes the graph as text, piece by piece. `sink` is called with no lock of Rondo's held.
 * Errors   INVALID, STALE, REENTRANT, NO_HOST_MEMORY. Threads  any. */
RONDO_API rondo_status rondo_graph_dump(rondo_graph *graph, rondo_dump_format format, rondo_text_fn sink,
                                        void *user);

/* One change of a sealed graph: a value parameter or a buffer argument of a launch node. */
typedef struct rondo_update {
    uint64_t node;     /* index of the node; not looked at if label is not NULL */
    const char *label; /* the one node that carries this label, or NULL */
    const char *param; /* the kernel's parameter, by the name in its text */
    const void *value; /* value parameter: its new bytes, copied */
    uint64_t value_bytes;
    rondo_span span;   /* buffer parameter (value is NULL): its new span */
} rondo_update;

static inline rondo_update rondo_update_value(uint64_t node, const char *param, const void *value,
                                              uint64_t value_bytes) {
    rondo_update update;
    update.node = node;
    update.label = NULL;
    update.param = param;
    update.value = value;
    update.value_bytes = value_bytes;
    update.span = rondo_whole(RONDO_NO_BUFFER);
    return update;
}
static inline rondo_update rondo_update_span(uint64_t node, const char *param, rondo_span span) {
    rondo_update update = rondo_update_value(node, param, NULL, 0);
    update.span = span;
    return update;
}

/* Changes a sealed graph, all or nothing, for replays enqueued later; earlier ones are not waited for
 * and keep the old values [R9]. A changed buffer is checked as at launch, guarded before it is used,
 * and the old one is given back after the last replay that uses it; dependences and live-in are found anew.
 *
 * Threads  any.
 * Errors   INVALID  null, no such label or more than one, no such parameter, value of the wrong size, span for
 *                   a value parameter or the other way round, misaligned, a node that is no launch, a host block
 *          RANGE (no such node; span leaves its buffer), ALIASED, STALE, FOREIGN, REENTRANT, FORKED, NO_HOST_MEMORY
 *          OVERLAP (the old or new buffer lies where the graph writes a temporary of its window)
 *          All name node and parameter; the graph is as before. */
RONDO_API RONDO_MUST_CHECK rondo_status rondo_graph_update(rondo_graph *graph, const rondo_update *updates,
                                                           size_t count);

#ifdef __cplusplus
}
#endif
#endif
