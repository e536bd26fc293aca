/* The graph: what a sealed window became.
 *
 *   sealed ◄──► replaying (uses > 0)
 *     │ last release            │ last release
 *     └──► returned ◄───────────┘ when the last replay ends ──► finished by the home queue's sweep
 *
 * A graph is its ops, which never change but by update, and everything that keeps them true: guards on
 * the slices that they name, references on snapshots, kernels, callbacks and events.
 *
 * Invariants
 *  1. Every byte that a node may touch lies on a slice that the graph guards, or in a snapshot that it holds [P3]; so
 *  does every allocation that a node names by a span of no bytes.
 *  2. reads and writes are the union of what the nodes read and write; the graph's own address is among the
 *  writes, so that
 *     replays of one graph always queue up [R6].
 *  3. live_in are the bytes that some node reads before any node wrote them [R2].
 *  4. Nodes change only while no replay runs: a replay applies the patches that are due when it is admitted [R9].
 */
#ifndef RDO_GRAPH_GRAPH_H
#define RDO_GRAPH_GRAPH_H

#include <rondo/graph.h>

#include "base/alloc.h"
#include "stream/stream.h"
#include "stream/submit.h"

/* Room for one more entry of an RDO_LIST; false without memory. */
#define RDO_LIST_GROW(list) rdo_grow(&(list)->data, &(list)->capacity, (list)->count + 1, sizeof *(list)->data)

/* A slice that the graph guards. */
typedef struct rdo_guard {
    rdo_page *page;
    uint32_t slice;
} rdo_guard;

/* Bytes of an allocation that the graph guards, so that the record stays. */
typedef struct rdo_graph_bytes {
    rdo_memory *memory;
    uint64_t low, high;
} rdo_graph_bytes;

typedef RDO_LIST(rdo_guard) rdo_guard_list;
typedef RDO_LIST(rdo_graph_bytes) rdo_bytes_list;
typedef RDO_LIST(rdo_extent) rdo_extent_list;
typedef RDO_LIST(uint64_t) rdo_node_list;

/* An allocation that a node names: its record, which may serve another by now, its number, and its home. */
typedef struct rdo_named {
    rdo_memory *memory;
    uint64_t id;
    rdo_store *home;
} rdo_named;

/* An event's record or wait, and how many arguments the launches before it have together. */
typedef struct rdo_event_node {
    uint64_t node, args_before;
} rdo_event_node;

typedef RDO_LIST(rdo_named) rdo_named_list;
typedef RDO_LIST(rdo_event_node) rdo_event_node_list;

/* A run of nodes that the backend plays in one go, or a single event node. */
typedef struct rdo_segment {
    uint64_t first, last; /* nodes [first, last) */
    void *native;         /* the backend's graph, NULL: submit one by one */
    bool event;
} rdo_segment;

/* Direct dependences by bytes: for each node the earlier nodes that it must follow, ascending. */
typedef struct rdo_edges {
    uint64_t *first; /* count + 1 entries: node n's are list[first[n] .. first[n + 1]) */
    uint64_t *list;
    size_t list_count, list_capacity;
} rdo_edges;

/* What follows from the nodes. The lists of bytes are sorted and disjoint, and what touches is joined. */
typedef struct rdo_survey {
    rdo_edges edges;
    rdo_extent_list live_in; /* read before any node wrote it */
    rdo_extent_list reads, writes;
    rdo_extent_list empties; /* the first byte of each allocation that a node names by a span of no bytes */
    rdo_named_list named;    /* each allocation that a node names, once or several times */
    rdo_event_node_list events; /* in order, as host_calls */
    rdo_node_list host_calls;
    uint64_t arg_count;      /* of all launches together */
} rdo_survey;

/* Everything about the nodes that follows from their ops and buffers. Made whole, replaced whole. */
typedef struct rdo_program {
    rdo_engine *engine;
    rdo_op **ops;               /* of the graph, or, after an update of buffers, in this program's arena */
    uint64_t count;
    rondo_backend_op *resolved; /* per node, of events unset; NULL if the backend has graphs of its own */
    rdo_host_frame **frames;    /* per host call, while the backend asks for them; NULL afterwards */
    rdo_arena arena;            /* the frames, and ops of an updated program */
    rdo_arena places;           /* what `resolved` points to */
    rdo_segment *segments;
    size_t segment_count, segment_capacity;
    rdo_bytes_list live_in;     /* of allocations that still have a record */
    rdo_bytes_list written;
    rdo_survey survey;          /* the graph's own address is among its writes */
    rdo_store **homes;          /* every store with memory of the graph, each once */
    size_t home_count, home_capacity;
    bool has_host_calls;        /* then replays are never fast: a host call may wait for other streams */
    uint64_t live_in_bytes, written_bytes;
} rdo_program;

/* A change that waits for the next admitted replay [R9]. */
typedef struct rdo_patch {
    struct rdo_patch *next;
    uint64_t stamp;        /* replays with a smaller ticket do not see it */
    uint64_t node;
    uint32_t param;
    void *value;           /* new bytes, part of the patch */
    rdo_program *program;  /* or a whole new program */
    rdo_guard_list guards; /* of the new program's new buffers */
} rdo_patch;

typedef struct rdo_graph {
    rdo_return returning;
    uint64_t handle;
    rdo_engine *engine;
    rdo_queue *home;
    rdo_holder holder;         /* what it keeps in place; under the device lock, as refs and uses */
    uint32_t refs, uses;
    rdo_lock update_lock;      /* one update at a time; of the queues' rank */
    uint64_t address;          /* of the graph itself, see invariant 2 */
    rdo_arena arena;           /* the recorded ops */
    rdo_op **recorded;         /* as recorded */
    uint64_t recorded_count;
    rdo_op_list holders;       /* of those, the ones that hold a reference on their kernel, host call or event */
    rdo_program *program;      /* under invariant 4 */
    _Atomic(rdo_store *) fast_home; /* the only store with memory of the program if it may run fast, else NULL */
    rdo_patch *patches, **patch_end; /* in order; under the device lock */
    _Atomic bool patched;      /* there are patches */
    size_t waiting_programs;   /* patches that are whole programs */
    rdo_patch *applied;        /* their value bytes are in use */
    struct rdo_label *labels;  /* for updates, see update.c; NULL until first asked for */
    size_t label_count;
    rdo_guard_list guards;
    rdo_memory_list retained;
    rdo_meta_pins pins;
    uint64_t metadata_bytes;
    uint64_t record_ns;        /* from the begin of the window to the seal */
    _Atomic uint64_t replays;
} rdo_graph;

/* Makes `program` the one that replays run, see invariant 4. */
void rdo_graph_set_program(rdo_graph *graph, rdo_program *program);

/* The graph of a public handle, with one use counted so that it stays; NULL if the handle is dead. */
rdo_graph *rdo_graph_hold(const void *handle);
void rdo_graph_drop(rdo_graph *graph);
/* The graph of a public handle if it is at home on this queue, whose lock is held and keeps it; else NULL. */
static inline rdo_graph *rdo_graph_at_home(const void *handle, const rdo_queue *queue) {
    return rdo_object_find_kept(RDO_OBJECT_GRAPH, handle, queue);
}

/* Device lock held: a graph that nobody needs waits for its home queue to be swept. */
void rdo_graph_settle(rdo_graph *graph);
/* Device lock held: gives a user's reference back. */
void rdo_graph_unref(rdo_graph *graph);

/* Closes the caller's queue's window, into a graph if all is well. Queue lock held. */
rondo_status rdo_graph_seal(rdo_call *call, uint32_t flags, rdo_graph **out_graph);

/* Replays, or appends to the caller's open window. Queue lock held. */
rondo_status rdo_graph_play(rdo_call *call, rdo_graph *graph);

/* Device lock held: the newest ops, updates that wait included, and their program. */
rdo_program *rdo_graph_newest(rdo_graph *graph);

/* Device lock held: applies the patches that a replay with this ticket sees; no other replay of the graph runs. */
void rdo_graph_apply_patches(rdo_graph *graph, uint64_t ticket);
/* Device lock held: forgets all patches, at the graph's end. */
void rdo_graph_drop_patches(rdo_graph *graph);

/* Changes a sealed graph. No lock held; the graph is held by the caller. */
rondo_status rdo_graph_update(rdo_graph *graph, const rondo_update *updates, size_t count);

/* Makes the program of these ops; everything that they name is guarded. RONDO_BACKEND_NO_MEMORY or what the backend
 * said. No lock of rank device held. The program borrows the ops, unless they lie in `arena` (may be NULL), which
 * it takes over even when it fails. */
rondo_backend_result rdo_program_new(rdo_engine *engine, rdo_op **ops, uint64_t count, uint64_t graph_address,
                                     rdo_arena *arena, rdo_program **out_program);
void rdo_program_delete(rdo_program *program);

/* False, and nothing is kept, without memory. The ops are located. */
bool rdo_survey_find(rdo_survey *survey, rdo_op *const *ops, uint64_t count);
void rdo_survey_finish(rdo_survey *survey);

#endif
