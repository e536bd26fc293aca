#include <stdalign.h>
#include <stddef.h>
#include "parts.h"

/* A node fills one cache line. A small launch, the common case, is replayed from its node alone; everything else has a
 * longer record beside. */
struct node {
    rondo_native_fn native; /* NULL: see `record` */
    union {
        rondo_native_call call; /* `failed` is NULL if the kernel may fail: each replay then lends it a word */
        struct record *record;
    };
};

struct record {
    bool is_launch;
    union {
        struct rdo_cpu_launch launch;
        rondo_backend_op op; /* any other kind */
    };
};

/* The head, the nodes and then the argument pointers of all launches are one block; the records are a second. */
struct graph {
    alignas(64) size_t size_bytes;
    uint64_t count;
    struct record *records;
    uint64_t record_count;
    /* Where kernels report that have said that they cannot fail. All replays of the graph share it, so a report could
     * be taken for that of a replay running beside, which is why kernels that may fail do not use it. */
    alignas(64) uint32_t failed;
    alignas(64) struct node nodes[];
};

_Static_assert(sizeof(struct node) == 64, "a node is a cache line");

/* ---- building ---- */

static uint64_t count_args(const rondo_backend_op *ops, uint64_t count) {
    uint64_t args = 0;
    for (uint64_t index = 0; index < count; index++) {
        args += ops[index].kind == RONDO_OP_LAUNCH ? ops[index].arg_count : 0;
    }
    return args;
}

/* NULL also where the sum of the sizes does not fit. */
static struct graph *make_graph(const rondo_backend_op *ops, uint64_t count) {
    uint64_t args = count_args(ops, count);
    if (count > SIZE_MAX / 2 / sizeof(struct node) || args > SIZE_MAX / 4 / sizeof(void *)) {
        return NULL;
    }
    size_t size_bytes = sizeof(struct graph) + (size_t)count * sizeof(struct node) + (size_t)args * sizeof(void *);
    struct graph *graph = rdo_cpu_alloc(size_bytes);
    if (graph != NULL) {
        graph->size_bytes = size_bytes;
        graph->count = count;
    }
    return graph;
}

/* Whether a launch needs no record is decided from what is known of its kernel now; one with a record decides again at
 * each replay whether it is worth sharing. */
static void build_launch(struct graph *graph, struct node *node, const rondo_backend_op *op, void **args) {
    struct rdo_cpu_launch launch;
    rdo_cpu_resolve_args(op, args);
    rdo_cpu_prepare_launch(op, args, &launch);
    node->call = launch.call;
    node->call.failed = launch.kernel->can_fail ? NULL : &graph->failed;
    node->native = rdo_cpu_stays_whole(&launch) ? launch.kernel->native : NULL;
}

static void build_nodes(struct graph *graph, const rondo_backend_op *ops) {
    void **args = (void **)&graph->nodes[graph->count];
    for (uint64_t index = 0; index < graph->count; index++) {
        if (ops[index].kind == RONDO_OP_LAUNCH) {
            build_launch(graph, &graph->nodes[index], &ops[index], args);
            args += ops[index].arg_count;
        }
        graph->record_count += graph->nodes[index].native == NULL ? 1 : 0;
    }
}

static void build_record(struct node *node, struct record *record, const rondo_backend_op *op) {
    record->is_launch = op->kind == RONDO_OP_LAUNCH;
    if (record->is_launch) {
        rdo_cpu_prepare_launch(op, node->call.args, &record->launch);
    } else {
        record->op = *op;
    }
    node->record = record;
}

static bool build_records(struct graph *graph, const rondo_backend_op *ops) {
    if (graph->record_count == 0) {
        return true;
    }
    if (graph->record_count > SIZE_MAX / 2 / sizeof(struct record)) {
        return false;
    }
    graph->records = rdo_cpu_alloc((size_t)graph->record_count * sizeof(struct record));
    if (graph->records == NULL) {
        return false;
    }
    struct record *next = graph->records;
    for (uint64_t index = 0; index < graph->count; index++) {
        if (graph->nodes[index].native == NULL) {
            build_record(&graph->nodes[index], next++, &ops[index]);
        }
    }
    return true;
}

rondo_backend_result rdo_cpu_graph_build(void *device, const rondo_backend_op *ops, uint64_t count, void **out_graph) {
    *out_graph = NULL;
    struct graph *graph = make_graph(ops, count);
    if (graph == NULL) {
        return RONDO_BACKEND_NO_MEMORY;
    }
    build_nodes(graph, ops);
    if (!build_records(graph, ops)) {
        rdo_cpu_graph_free(device, graph);
        return RONDO_BACKEND_NO_MEMORY;
    }
    *out_graph = graph;
    return RONDO_BACKEND_DONE;
}

void rdo_cpu_graph_free(void *device, void *graph) {
    struct graph *dying = graph;
    (void)device;
    if (dying != NULL) {
        rdo_cpu_release(dying->records, (size_t)dying->record_count * sizeof(struct record));
        rdo_cpu_release(dying, dying->size_bytes);
    }
}

void rdo_cpu_graph_set_value(void *graph, uint64_t node, uint32_t param, const void *value) {
    struct node *changed = &((struct graph *)graph)->nodes[node];
    void *const *args = changed->native != NULL ? changed->call.args : changed->record->launch.call.args;
    /* The pointers are constant for kernels only; they lie in the graph's own block. */
    ((void **)(uintptr_t)args)[param] = (void *)(uintptr_t)value;
}

/* ---- replaying ---- */

static rondo_backend_result run_record(struct rdo_cpu_queue *queue, const struct record *record,
                                       rondo_backend_outcome *outcome) {
    return record->is_launch ? rdo_cpu_run_launch(queue, &record->launch, outcome)
                             : rdo_cpu_submit(queue, &record->op, outcome);
}

static rondo_backend_result stop_at(uint64_t node, rondo_backend_result result, rondo_backend_outcome *outcome) {
    outcome->node = node;
    return result;
}

/* A kernel reported though it had said that it never would. */
static rondo_backend_result take_report(struct graph *graph, uint64_t node, rondo_backend_outcome *outcome) {
    uint32_t reason = __atomic_exchange_n(&graph->failed, 0, __ATOMIC_RELAXED);
    return stop_at(node, rdo_cpu_fail(outcome, RONDO_BACKEND_FAILED, reason, ""), outcome);
}

static rondo_backend_result run_fallible(const struct node *node, rondo_backend_outcome *outcome) {
    uint32_t failed = 0;
    rondo_native_call call = node->call;
    call.failed = &failed;
    node->native(&call);
    uint32_t reason = __atomic_load_n(&failed, __ATOMIC_RELAXED);
    return reason == 0 ? RONDO_BACKEND_DONE : rdo_cpu_fail(outcome, RONDO_BACKEND_FAILED, reason, "");
}

static rondo_backend_result run_other(struct rdo_cpu_queue *queue, const struct node *node,
                                      rondo_backend_outcome *outcome) {
    return node->native != NULL ? run_fallible(node, outcome) : run_record(queue, node->record, outcome);
}

rondo_backend_result rdo_cpu_graph_submit(void *queue, void *graph, uint64_t first, uint64_t last,
                                          rondo_backend_outcome *outcome) {
    struct graph *played = graph;
    for (uint64_t index = first; index < last; index++) {
        const struct node *node = &played->nodes[index];
        if (node->native != NULL && node->call.failed != NULL) {
            node->native(&node->call);
            if (__builtin_expect(__atomic_load_n(&played->failed, __ATOMIC_RELAXED) != 0, 0)) {
                return take_report(played, index, outcome);
            }
        } else {
            rondo_backend_result result = run_other(queue, node, outcome);
            if (result != RONDO_BACKEND_DONE) {
                return stop_at(index, result, outcome);
            }
        }
    }
    return RONDO_BACKEND_DONE;
}
