#include "graph.h"

#include <stddef.h>

/* ---- building ---- */

static uint64_t count_args(const rondo_backend_op *ops, uint64_t count) {
    uint64_t args = 0;
    for (uint64_t index = 0; index < count; index++) {
        args += ops[index].kind == RONDO_OP_LAUNCH ? ops[index].arg_count : 0;
    }
    return args;
}

/* NULL also where the sum of the sizes does not fit. */
static struct rdo_cpu_graph *make_graph(const rondo_backend_op *ops, uint64_t count) {
    uint64_t args = count_args(ops, count);
    if (count > SIZE_MAX / 2 / sizeof(struct rdo_cpu_node) || args > SIZE_MAX / 4 / sizeof(void *)) {
        return NULL;
    }
    size_t size_bytes =
        sizeof(struct rdo_cpu_graph) + (size_t)count * sizeof(struct rdo_cpu_node) + (size_t)args * sizeof(void *);
    struct rdo_cpu_graph *graph = rdo_cpu_alloc_raw(size_bytes); /* every node and argument is written once */
    if (graph != NULL) {
        *graph = (struct rdo_cpu_graph){.size_bytes = size_bytes, .count = count};
    }
    return graph;
}

static void estimate(const rondo_backend_op *op, struct rdo_cpu_cost *out) {
    *out = (struct rdo_cpu_cost){0};
    if (op->kind == RONDO_OP_LAUNCH) {
        rdo_cpu_estimate_launch(op, &out->ns, &out->is_large);
    } else if (op->kind == RONDO_OP_HOST) {
        out->is_host = true;
        out->ns = 1;
    } else {
        rdo_cpu_estimate_bytes(op, &out->ns, &out->is_large);
    }
}

/* Leaves `spread` NULL where the nodes are better played one after another. */
static rondo_backend_result build_spread(struct rdo_cpu_graph *graph, const rondo_backend_op *ops,
                                         const rondo_backend_edges *edges, uint32_t hands) {
    if (hands < 2 || graph->count < 2) {
        return RONDO_BACKEND_DONE;
    }
    struct rdo_cpu_plan *plan;
    size_t size_bytes = (size_t)graph->count * sizeof(struct rdo_cpu_cost);
    struct rdo_cpu_cost *costs = rdo_cpu_alloc_raw(size_bytes);
    if (costs == NULL) {
        return RONDO_BACKEND_NO_MEMORY;
    }
    for (uint64_t index = 0; index < graph->count; index++) {
        estimate(&ops[index], &costs[index]);
    }
    rondo_backend_result result = rdo_cpu_plan_make(costs, graph->count, edges, hands, &plan);
    rdo_cpu_release(costs, size_bytes);
    return plan != NULL ? rdo_cpu_spread_make(plan, &graph->spread) : result;
}

static struct rdo_cpu_node *node_of(struct rdo_cpu_graph *graph, uint64_t index) {
    return &graph->nodes[graph->spread != NULL ? rdo_cpu_spread_place(graph->spread, index) : index];
}

/* One hand plays a strand, so its word is free for any kernel of it. All others share the graph's, which would not tell
 * a kernel that fails from one that was shared out; so those that may fail get none. */
static uint32_t *word_of(struct rdo_cpu_graph *graph, uint64_t index, const struct rdo_cpu_kernel *kernel) {
    uint32_t *word = graph->spread != NULL ? rdo_cpu_spread_word(graph->spread, index) : NULL;
    uint32_t *common = kernel->can_fail ? NULL : &graph->failed;
    return word != NULL ? word : common;
}

/* Whether a launch needs no record is decided from what is known of its kernel now; one with a record decides again at
 * each replay whether it is worth sharing. */
static void build_launch(struct rdo_cpu_graph *graph, uint64_t index, const rondo_backend_op *op, void **args) {
    struct rdo_cpu_launch launch;
    struct rdo_cpu_node *node = node_of(graph, index);
    rdo_cpu_resolve_args(op, args);
    rdo_cpu_prepare_launch(op, args, &launch);
    node->call = launch.call;
    node->call.failed = word_of(graph, index, launch.kernel);
    node->native = rdo_cpu_stays_whole(&launch) ? launch.kernel->native : NULL;
}

static void build_nodes(struct rdo_cpu_graph *graph, const rondo_backend_op *ops) {
    void **args = (void **)&graph->nodes[graph->count];
    for (uint64_t index = 0; index < graph->count; index++) {
        if (ops[index].kind == RONDO_OP_LAUNCH) {
            build_launch(graph, index, &ops[index], args);
            args += ops[index].arg_count;
        } else {
            node_of(graph, index)->native = NULL;
        }
        graph->record_count += node_of(graph, index)->native == NULL ? 1 : 0;
    }
}

static void build_record(struct rdo_cpu_node *node, struct rdo_cpu_record *record, const rondo_backend_op *op) {
    record->is_launch = op->kind == RONDO_OP_LAUNCH;
    if (record->is_launch) {
        rdo_cpu_prepare_launch(op, node->call.args, &record->launch);
    } else {
        record->op = *op;
    }
    node->record = record;
}

static bool build_records(struct rdo_cpu_graph *graph, const rondo_backend_op *ops) {
    if (graph->record_count == 0) {
        return true;
    }
    if (graph->record_count > SIZE_MAX / 2 / sizeof(struct rdo_cpu_record)) {
        return false;
    }
    graph->records = rdo_cpu_alloc((size_t)graph->record_count * sizeof(struct rdo_cpu_record));
    if (graph->records == NULL) {
        return false;
    }
    struct rdo_cpu_record *next = graph->records;
    for (uint64_t index = 0; index < graph->count; index++) {
        struct rdo_cpu_node *node = node_of(graph, index);
        if (node->native == NULL) {
            build_record(node, next++, &ops[index]);
        }
    }
    return true;
}

rondo_backend_result rdo_cpu_graph_build(void *device, const rondo_backend_op *ops, uint64_t count,
                                         const rondo_backend_edges *edges, void **out_graph) {
    *out_graph = NULL;
    struct rdo_cpu_graph *graph = make_graph(ops, count);
    if (graph == NULL) {
        return RONDO_BACKEND_NO_MEMORY;
    }
    rondo_backend_result result = build_spread(graph, ops, edges, ((struct rdo_cpu_device *)device)->workers);
    if (result == RONDO_BACKEND_DONE) {
        build_nodes(graph, ops);
        result = build_records(graph, ops) ? RONDO_BACKEND_DONE : RONDO_BACKEND_NO_MEMORY;
    }
    if (result != RONDO_BACKEND_DONE) {
        rdo_cpu_graph_free(device, graph);
        return result;
    }
    *out_graph = graph;
    return RONDO_BACKEND_DONE;
}

void rdo_cpu_graph_free(void *device, void *graph) {
    struct rdo_cpu_graph *dying = graph;
    (void)device;
    if (dying != NULL) {
        rdo_cpu_spread_free(dying->spread);
        rdo_cpu_release(dying->records, (size_t)dying->record_count * sizeof(struct rdo_cpu_record));
        rdo_cpu_release(dying, dying->size_bytes);
    }
}

void rdo_cpu_graph_set_value(void *graph, uint64_t node, uint32_t param, const void *value) {
    const struct rdo_cpu_node *changed = node_of(graph, node);
    void *const *args = changed->native != NULL ? changed->call.args : changed->record->launch.call.args;
    /* The pointers are constant for kernels only; they lie in the graph's own block. */
    ((void **)(uintptr_t)args)[param] = (void *)(uintptr_t)value;
}

/* ---- replaying ---- */

static rondo_backend_result run_record(struct rdo_cpu_queue *queue, const struct rdo_cpu_record *record,
                                       rondo_backend_outcome *outcome) {
    return record->is_launch ? rdo_cpu_run_launch(queue, &record->launch, outcome)
                             : rdo_cpu_submit(queue, &record->op, outcome);
}

static rondo_backend_result stop_at(uint64_t node, rondo_backend_result result, rondo_backend_outcome *outcome) {
    outcome->node = node;
    return result;
}

/* Calls the kernel and takes the report, if it makes one, out of the word. */
static rondo_backend_result call_with_word(const struct rdo_cpu_node *node, rondo_backend_outcome *outcome) {
    node->native(&node->call);
    if (__builtin_expect(__atomic_load_n(node->call.failed, __ATOMIC_RELAXED) == 0, 1)) {
        return RONDO_BACKEND_DONE;
    }
    uint32_t reason = __atomic_exchange_n(node->call.failed, 0, __ATOMIC_RELAXED);
    return rdo_cpu_fail(outcome, RONDO_BACKEND_FAILED, reason, "");
}

static rondo_backend_result run_fallible(const struct rdo_cpu_node *node, rondo_backend_outcome *outcome) {
    uint32_t failed = 0;
    struct rdo_cpu_node lent = *node;
    lent.call.failed = &failed;
    return call_with_word(&lent, outcome);
}

static inline rondo_backend_result play_node(struct rdo_cpu_queue *queue, const struct rdo_cpu_node *node,
                                             rondo_backend_outcome *outcome) {
    if (node->native == NULL) {
        return run_record(queue, node->record, outcome);
    }
    return node->call.failed != NULL ? call_with_word(node, outcome) : run_fallible(node, outcome);
}

rondo_backend_result rdo_cpu_play_node(struct rdo_cpu_queue *queue, const struct rdo_cpu_node *node,
                                       rondo_backend_outcome *outcome) {
    return play_node(queue, node, outcome);
}

/* A kernel reported though it had said that it never would. */
static rondo_backend_result take_report(struct rdo_cpu_graph *graph, uint64_t node, rondo_backend_outcome *outcome) {
    uint32_t reason = __atomic_exchange_n(&graph->failed, 0, __ATOMIC_RELAXED);
    return stop_at(node, rdo_cpu_fail(outcome, RONDO_BACKEND_FAILED, reason, ""), outcome);
}

rondo_backend_result rdo_cpu_graph_submit(void *queue, void *graph, uint64_t first, uint64_t last,
                                          rondo_backend_outcome *outcome) {
    struct rdo_cpu_graph *played = graph;
    if (played->spread != NULL) {
        return rdo_cpu_spread_submit(queue, played, first, last, outcome);
    }
    /* The common node is written out, though play_node would do the same: to ask for the word by way of each node makes
     * a chain of the smallest kernels a tenth slower. */
    for (uint64_t index = first; index < last; index++) {
        const struct rdo_cpu_node *node = &played->nodes[index];
        if (node->native != NULL && node->call.failed != NULL) {
            node->native(&node->call);
            if (__builtin_expect(__atomic_load_n(&played->failed, __ATOMIC_RELAXED) != 0, 0)) {
                return take_report(played, index, outcome);
            }
        } else {
            rondo_backend_result result = play_node(queue, node, outcome);
            if (result != RONDO_BACKEND_DONE) {
                return stop_at(index, result, outcome);
            }
        }
    }
    return RONDO_BACKEND_DONE;
}
