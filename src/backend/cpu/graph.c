#include "graph.h"

#include <stddef.h>
#include <string.h>
#include "base/check.h"

#define FIRST_RECORDS_BYTES ((size_t)1024)
#define MOST_RECORDS_BYTES ((size_t)65536)

/* ---- building ---- */

/* A graph whose nodes are made one after the other. */
struct building {
    struct rdo_cpu_graph *graph;
    struct rdo_cpu_cost *costs; /* per node, NULL: nobody asks for them */
    void **args;                /* the next free ones */
    /* What is known of the last launch: the next one is often of the same size. */
    struct rdo_cpu_kernel *kernel;
    uint64_t items, units;
    struct rdo_cpu_cost cost;
    bool stays_whole;
};

/* NULL also where the sum of the sizes does not fit. */
static struct rdo_cpu_graph *make_graph(const rondo_backend_nodes *nodes) {
    uint64_t count = nodes->count, args = nodes->arg_count;
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

static bool add_room(struct rdo_cpu_graph *graph) {
    size_t size_bytes = graph->records != NULL ? 2 * graph->records->size_bytes : FIRST_RECORDS_BYTES;
    size_bytes = size_bytes > MOST_RECORDS_BYTES ? MOST_RECORDS_BYTES : size_bytes;
    struct rdo_cpu_records *more = rdo_cpu_alloc_raw(size_bytes);
    if (more == NULL) {
        return false;
    }
    *more = (struct rdo_cpu_records){graph->records, size_bytes, sizeof *more};
    graph->records = more;
    return true;
}

/* Room for one record of a size that is a multiple of 8; NULL if there is no memory. */
static void *take_record(struct rdo_cpu_graph *graph, size_t size_bytes) {
    const struct rdo_cpu_records *newest = graph->records;
    if ((newest == NULL || newest->size_bytes - newest->used_bytes < size_bytes) && !add_room(graph)) {
        return NULL;
    }
    void *taken = (uint8_t *)graph->records + graph->records->used_bytes;
    graph->records->used_bytes += size_bytes;
    return taken;
}

static void look_at(struct building *b, struct rdo_cpu_kernel *kernel, uint64_t items, uint64_t units) {
    b->kernel = kernel;
    b->items = items;
    b->units = units;
    b->cost = rdo_cpu_estimate_launch(kernel, items, units);
    b->stays_whole = rdo_cpu_stays_whole(kernel, items, units);
}

/* Whether a launch needs no record is decided from what is known of its kernel now; one with a record decides again at
 * each replay whether it is worth sharing. The call is made where it stays: fields that were just stored one by one
 * cannot be copied several at a time without waiting for them to reach the cache. */
static bool build_launch(struct building *b, uint64_t index, const rondo_backend_op *op) {
    struct rdo_cpu_graph *graph = b->graph;
    struct rdo_cpu_node *node = &graph->nodes[index];
    struct rdo_cpu_kernel *kernel = op->kernel;
    uint64_t items = rdo_cpu_items(&op->grid);
    RDO_ASSERT(kernel != NULL); /* so that the first launch is always looked at */
    rdo_cpu_resolve_args(op, b->args);
    rdo_cpu_prepare_call(kernel, &op->grid, b->args, &node->call);
    b->args += op->arg_count;
    uint64_t units = node->call.last;
    if (kernel != b->kernel || items != b->items || units != b->units) {
        look_at(b, kernel, items, units);
    }
    if (b->costs != NULL) {
        b->costs[index] = b->cost;
    }
    if (b->stays_whole) {
        node->native = kernel->native;
        node->call.failed = kernel->can_fail ? NULL : &graph->failed;
        return true;
    }
    struct rdo_cpu_launch *record = take_record(graph, sizeof *record);
    if (record != NULL) {
        *record = (struct rdo_cpu_launch){kernel, node->call, items};
    }
    node->native = NULL;
    node->launch = record;
    node->op = NULL;
    return record != NULL;
}

static bool build_other(struct rdo_cpu_graph *graph, struct rdo_cpu_node *node, const rondo_backend_op *op) {
    rondo_backend_op *record = take_record(graph, sizeof *record);
    node->native = NULL;
    node->launch = NULL;
    node->op = record;
    if (record != NULL) {
        *record = *op;
    }
    return record != NULL;
}

static struct rdo_cpu_cost estimate_other(const rondo_backend_op *op) {
    return op->kind == RONDO_OP_HOST ? (struct rdo_cpu_cost){.ns = 1, .is_host = true} : rdo_cpu_estimate_bytes(op);
}

/* False if there is no memory. */
static bool build_node(struct building *b, uint64_t index, const rondo_backend_op *op) {
    if (op->kind == RONDO_OP_LAUNCH) {
        return build_launch(b, index, op);
    }
    if (b->costs != NULL) {
        b->costs[index] = estimate_other(op);
    }
    return build_other(b->graph, &b->graph->nodes[index], op);
}

static bool build_nodes(struct building *b, const rondo_backend_nodes *nodes) {
    rondo_place places[RONDO_MAX_PARAMS];
    rondo_backend_op op;
    bool done = true;
    b->args = (void **)&b->graph->nodes[b->graph->count];
    for (uint64_t index = 0; index < nodes->count && done; index++) {
        nodes->get(nodes->recording, index, places, &op);
        done = build_node(b, index, &op);
    }
    return done;
}

/* Puts the nodes into the order of the plan. One hand plays a strand, so its word is free for any kernel of it. All
 * others share the graph's, which would not tell a kernel that fails from one that was shared out; so those that may
 * fail have none. */
static bool arrange(struct rdo_cpu_graph *graph) {
    size_t size_bytes = (size_t)graph->count * sizeof(struct rdo_cpu_node);
    struct rdo_cpu_node *recorded = rdo_cpu_alloc_raw(size_bytes);
    if (recorded == NULL) {
        return false;
    }
    memcpy(recorded, graph->nodes, size_bytes);
    for (uint64_t index = 0; index < graph->count; index++) {
        struct rdo_cpu_node *node = &graph->nodes[rdo_cpu_spread_place(graph->spread, index)];
        uint32_t *word = rdo_cpu_spread_word(graph->spread, index);
        *node = recorded[index];
        if (node->native != NULL && word != NULL) {
            node->call.failed = word;
        }
    }
    rdo_cpu_release(recorded, size_bytes);
    return true;
}

/* Leaves `spread` NULL where the nodes are better played one after another. */
static rondo_backend_result spread(struct building *b, const rondo_backend_edges *edges, uint32_t hands) {
    struct rdo_cpu_graph *graph = b->graph;
    struct rdo_cpu_plan *plan;
    rondo_backend_result result = rdo_cpu_plan_make(b->costs, graph->count, edges, hands, &plan);
    if (plan == NULL) {
        return result;
    }
    result = rdo_cpu_spread_make(plan, &graph->spread);
    return result != RONDO_BACKEND_DONE || arrange(graph) ? result : RONDO_BACKEND_NO_MEMORY;
}

static rondo_backend_result build_alone(struct building *b, const rondo_backend_nodes *nodes) {
    return build_nodes(b, nodes) ? RONDO_BACKEND_DONE : RONDO_BACKEND_NO_MEMORY;
}

/* With costs, from which the plan is made. */
static rondo_backend_result build_planned(struct building *b, const rondo_backend_nodes *nodes,
                                          const rondo_backend_edges *edges, uint32_t hands) {
    size_t size_bytes = (size_t)nodes->count * sizeof(struct rdo_cpu_cost);
    b->costs = rdo_cpu_alloc_raw(size_bytes);
    if (b->costs == NULL) {
        return RONDO_BACKEND_NO_MEMORY;
    }
    rondo_backend_result result = build_alone(b, nodes);
    if (result == RONDO_BACKEND_DONE) {
        result = spread(b, edges, hands);
    }
    rdo_cpu_release(b->costs, size_bytes);
    return result;
}

rondo_backend_result rdo_cpu_graph_build(void *device, const rondo_backend_nodes *nodes,
                                         const rondo_backend_edges *edges, void **out_graph) {
    uint32_t hands = ((struct rdo_cpu_device *)device)->workers;
    struct building b = {.graph = make_graph(nodes)};
    *out_graph = NULL;
    if (b.graph == NULL) {
        return RONDO_BACKEND_NO_MEMORY;
    }
    rondo_backend_result result =
        hands < 2 || nodes->count < 2 ? build_alone(&b, nodes) : build_planned(&b, nodes, edges, hands);
    if (result != RONDO_BACKEND_DONE) {
        rdo_cpu_graph_free(device, b.graph);
        return result;
    }
    *out_graph = b.graph;
    return RONDO_BACKEND_DONE;
}

static void free_records(struct rdo_cpu_records *records) {
    while (records != NULL) {
        struct rdo_cpu_records *next = records->next;
        rdo_cpu_release(records, records->size_bytes);
        records = next;
    }
}

void rdo_cpu_graph_free(void *device, void *graph) {
    struct rdo_cpu_graph *dying = graph;
    (void)device;
    if (dying != NULL) {
        rdo_cpu_spread_free(dying->spread);
        free_records(dying->records);
        rdo_cpu_release(dying, dying->size_bytes);
    }
}

static const struct rdo_cpu_node *node_of(const struct rdo_cpu_graph *graph, uint64_t index) {
    return &graph->nodes[graph->spread != NULL ? rdo_cpu_spread_place(graph->spread, index) : index];
}

void rdo_cpu_graph_set_value(void *graph, uint64_t node, uint32_t param, const void *value) {
    const struct rdo_cpu_node *changed = node_of(graph, node);
    void *const *args = changed->native != NULL ? changed->call.args : changed->launch->call.args;
    /* The pointers are constant for kernels only; they lie in the graph's own block. */
    ((void **)(uintptr_t)args)[param] = (void *)(uintptr_t)value;
}

/* ---- replaying ---- */

static rondo_backend_result run_record(struct rdo_cpu_queue *queue, const struct rdo_cpu_node *node,
                                       rondo_backend_outcome *outcome) {
    return node->launch != NULL ? rdo_cpu_run_launch(queue, node->launch, outcome)
                                : rdo_cpu_submit(queue, node->op, outcome);
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
        return run_record(queue, node, outcome);
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
