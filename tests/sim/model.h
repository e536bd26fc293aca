/* The oracle: what Rondo promises, as a plain program over bytes.
 *
 * Per byte of each buffer the model knows whether it is fresh, holds a value, or is claimed by a failure; per queue the
 * window's phase, owner and kept operations; per graph its operations. Each rule of the contract is one function, and
 * none looks at Rondo: the caller hands in what Rondo answered only where the contract leaves a choice (whether there
 * was room). See docs/contract.md for the numbers in brackets.
 */
#ifndef SIM_MODEL_H
#define SIM_MODEL_H

#include <rondo/rondo.h>
#include <rondo/sim.h>

enum { MODEL_STREAMS = 4, MODEL_QUEUES = 3, MODEL_EVENTS = 3, MODEL_ACCESSES = 3, MODEL_MAPS = 8 };

typedef struct model_byte {
    uint32_t failure; /* that claims it, 0: none */
    uint32_t stamp, seen; /* of the latest walks that wrote and met it */
    uint16_t intact;  /* serial of the graph whose failed enqueue left it as it was [R2] */
    uint8_t value;
    bool known;       /* false: fresh, or computed from fresh bytes; any value is right */
} model_byte;

typedef struct model_cell {
    uint32_t size, refs;
    bool alive, host;
    uint64_t window; /* in which its owner made it, 0: none */
    model_byte *bytes;
} model_cell;

typedef struct model_access {
    model_cell *cell;
    uint32_t low, row_bytes, rows, pitch, mode;
} model_access;

typedef enum model_kind {
    MODEL_FILL,       /* accesses: target */
    MODEL_WRITE,      /* target */
    MODEL_WRITE_LIVE, /* target, source; so are the next three */
    MODEL_READ_ASYNC,
    MODEL_COPY,
    MODEL_COPY_2D,
    MODEL_MIX,     /* a, out: out[i] = 3 a[i] + value + i */
    MODEL_BUMP,    /* x: x[i] += value */
    MODEL_ADD,     /* a, b, out: out[i] = a[i] + b[i] */
    MODEL_FAIL_IF, /* flag, out: fails if the flag is set, else out[i] = value ^ i */
    MODEL_NEXT,    /* a, out, may be the same bytes: out[i] = a[i] + 1 */
    MODEL_HOST,    /* (in,) out: out[i] = in[i] ^ value; the last is written */
    MODEL_EVENT_RECORD,
    MODEL_EVENT_WAIT,
    MODEL_KINDS
} model_kind;

typedef struct model_op {
    model_kind kind;
    rondo_code bad; /* not OK: an argument is wrong; `accesses` are those that are right */
    uint32_t access_count;
    model_access accesses[MODEL_ACCESSES];
    uint32_t value, event;
    uint8_t pattern[16];
    uint32_t pattern_bytes;
    bool may_fail; /* a host call that fails while model.host_fails is set */
} model_op;

typedef struct model_ops {
    model_op *data;
    size_t count, capacity;
} model_ops;

typedef struct model_queue {
    rondo_phase phase;
    uint32_t owner;  /* number of a stream */
    uint64_t window; /* unique */
    uint32_t doomed; /* by this failure, 0: whole */
    bool defer;      /* rondo_run records: if that fails the step runs after all, so nothing is claimed [C21] */
    model_ops ops;
} model_queue;

typedef struct model_stream {
    uint32_t queue;
    uint32_t first_failure; /* since the last sync */
    rondo_code first_code;  /* what the sync says of it */
} model_stream;

typedef struct model_event {
    bool recorded, completed;
    uint64_t window;
} model_event;

typedef struct model_graph {
    uint16_t serial;
    bool temporaries; /* some op names memory of its own window, whose bytes may lie on one another */
    model_ops ops;
    uint64_t replays;
} model_graph;

typedef struct model_map {
    model_cell *cell;
    uint32_t low, size;
    bool writes;
} model_map;

typedef struct model_failure {
    rondo_code code;
    uint64_t number; /* 0: Rondo has not told yet */
} model_failure;

/* What a call must answer: the code, and whose story it tells (0: its own, of no further interest). */
typedef struct model_verdict {
    rondo_code code;
    uint32_t failure;
} model_verdict;

typedef struct model {
    model_stream streams[MODEL_STREAMS];
    model_queue queues[MODEL_QUEUES];
    model_event events[MODEL_EVENTS];
    model_map maps[MODEL_MAPS];
    size_t map_count;
    model_failure *failures; /* entry 0 is none */
    size_t failure_count, failure_capacity;
    bool host_fails, debug_fresh;
    uint64_t last_window;
    uint16_t last_serial;
    uint32_t stamp;
    /* The rule that the backend follows during this step; `struck` counts the failures that the model foresees. */
    bool armed;
    rondo_sim_fault rule;
    uint64_t rule_seen, struck;
} model;

void model_init(model *m);
void model_finish(model *m);
uint32_t model_new_failure(model *m, rondo_code code);

/* Memory. */
model_cell *model_cell_new(model *m, uint32_t size, bool host, bool written);
void model_cell_unref(model_cell *cell);
/* The user's last reference goes. */
void model_cell_release(model *m, model_cell *cell);
bool model_overlap(const model_access *a, const model_access *b);

/* Rules 1, 2, 3 and 10: an operation is issued. `room` is false if Rondo had no staging room for a recorded write. */
model_verdict model_issue(model *m, uint32_t stream, const model_op *op, bool room);
/* Whether the op, recorded now, would read bytes of its own window's memory that nothing in the window writes: what
 * they hold at a replay is nobody's promise. */
bool model_reads_own_fresh(model *m, uint32_t stream, const model_op *op);
/* A reservation of `stream` failed with `code`. */
uint32_t model_reservation_failed(model *m, uint32_t stream, rondo_code code);

/* Rules 4 and 5: the window. */
model_verdict model_prepare(model *m, uint32_t stream);
model_verdict model_begin(model *m, uint32_t stream);
void model_begin_failed(model *m, uint32_t stream);
/* `overlap`: Rondo says that a live buffer lies where a replay would write. */
model_verdict model_end(model *m, uint32_t stream, bool allow_empty, bool overlap, model_graph **out_graph);
/* Whether it may say so: some live buffer of the window is not written whole by it. */
bool model_may_overlap(model *m, uint32_t stream, model_cell *const *cells, size_t count);
model_verdict model_abort(model *m, uint32_t stream);
/* What rondo_run does beside: its window's failures claim nothing; its warm-up ends without a word. */
void model_defer(model *m, uint32_t stream);
void model_leave_prepared(model *m, uint32_t stream);
void model_stream_release(model *m, uint32_t stream);

/* Rules 6 and 7: replays. `number` is of the failure that Rondo names: of several that spoil inputs it may name any. */
model_verdict model_replay(model *m, model_graph *graph, uint32_t stream, uint64_t number);
/* Whether more than one failure spoils the graph's inputs. */
bool model_claims_differ(model *m, const model_graph *graph);
/* The operation or replay was accepted and then played later: the next sync says what the call could not. */
void model_told_late(model *m, uint32_t stream, model_verdict verdict);
void model_graph_drop(model_graph *graph);
void model_graph_bytes(model *m, const model_graph *graph, uint64_t *out_live_in, uint64_t *out_written);
/* Changes a buffer argument of a node; the new one is as large as the old. */
model_verdict model_update_span(model *m, model_graph *graph, size_t node, uint32_t access, model_cell *cell,
                                uint32_t low);

/* Rule 8: reading. */
model_verdict model_span_status(const model *m, const model_access *access);
model_verdict model_read(model *m, uint32_t stream, const model_access *access);
/* A call that only the window may refuse. */
model_verdict model_window_check(const model *m, uint32_t stream, bool forbidden);
model_verdict model_sync(model *m, uint32_t stream);
model_verdict model_device_sync(model *m);
model_verdict model_map_span(model *m, uint32_t stream, const model_access *access);
model_verdict model_unmap(model *m, const model_access *access);

/* Which access a kind of op writes. */
uint32_t model_written_access(const model_op *op);
bool model_op_is_launch(const model_op *op);
/* What a failure of the backend becomes. */
rondo_code model_backend_code(rondo_backend_result result);
/* Whether the backend fails this call. */
bool model_strikes(model *m, rondo_sim_call call);

#endif
