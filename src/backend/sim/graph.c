#include <stdlib.h>
#include <string.h>

#include "parts.h"

/* The nodes, and the lists of places and values that their launches point to. */
struct graph {
    rondo_backend_op *ops;
    rondo_place *places;
    const void **values;
};

/* The places are where they stay already. */
static void copy_values(rondo_backend_op *op, const void **values) {
    for (uint32_t i = 0; i < op->arg_count; i++) values[i] = op->values != NULL ? op->values[i] : NULL;
    op->values = values;
}

static void copy_nodes(struct graph *graph, const rondo_backend_nodes *nodes) {
    uint64_t arg = 0;
    for (uint64_t i = 0; i < nodes->count; i++) {
        rondo_backend_op *op = &graph->ops[i];
        rondo_place *places = graph->places + arg;
        nodes->get(nodes->recording, i, places, op);
        if (op->kind != RONDO_OP_LAUNCH) continue;
        copy_values(op, graph->values + arg);
        arg += op->arg_count;
    }
}

rondo_backend_result rdo_sim_graph_build(void *device, const rondo_backend_nodes *nodes,
                                         const rondo_backend_edges *edges, void **out_graph) {
    rondo_sim_fault fault;
    (void)edges; /* the nodes are played in order */
    *out_graph = NULL;
    if (rdo_sim_strikes(RONDO_SIM_GRAPH_BUILD, &fault)) return fault.result;
    struct graph *graph = calloc(1, sizeof *graph);
    if (graph == NULL) return RONDO_BACKEND_NO_MEMORY;
    graph->ops = calloc((size_t)nodes->count + 1, sizeof *graph->ops);
    graph->places = calloc((size_t)nodes->arg_count + RONDO_MAX_PARAMS, sizeof *graph->places);
    graph->values = calloc((size_t)nodes->arg_count + 1, sizeof *graph->values);
    if (graph->ops == NULL || graph->places == NULL || graph->values == NULL) {
        rdo_sim_graph_free(device, graph);
        return RONDO_BACKEND_NO_MEMORY;
    }
    copy_nodes(graph, nodes);
    *out_graph = graph;
    return RONDO_BACKEND_DONE;
}

void rdo_sim_graph_free(void *device, void *graph) {
    struct graph *dying = graph;
    (void)device;
    if (dying == NULL) return;
    free(dying->ops);
    free(dying->places);
    free(dying->values);
    free(dying);
}

void rdo_sim_graph_set_value(void *graph, uint64_t node, uint32_t param, const void *value) {
    const rondo_backend_op *op = &((struct graph *)graph)->ops[node];
    /* The list is constant for those that run the op; it lies in the graph itself. */
    ((const void **)(uintptr_t)op->values)[param] = value;
}

static rondo_backend_result stop_at(uint64_t node, rondo_backend_result result, rondo_backend_outcome *outcome) {
    outcome->node = node;
    return result;
}

rondo_backend_result rdo_sim_graph_submit(void *queue, void *graph, uint64_t first, uint64_t last,
                                          rondo_backend_outcome *outcome) {
    const struct graph *played = graph;
    rondo_sim_fault fault;
    (void)queue;
    bool strikes = rdo_sim_strikes(RONDO_SIM_GRAPH_SUBMIT, &fault);
    uint64_t struck = !strikes ? last : fault.node < last - first ? first + fault.node : last - 1;
    for (uint64_t node = first; node < last; node++) {
        bool runs = node != struck || fault.result == RONDO_BACKEND_FAILED;
        rondo_backend_result result = runs ? rdo_sim_run(&played->ops[node], outcome) : RONDO_BACKEND_DONE;
        if (node == struck) return stop_at(node, rdo_sim_stop(&fault, outcome), outcome);
        if (result != RONDO_BACKEND_DONE) return stop_at(node, result, outcome);
    }
    return RONDO_BACKEND_DONE;
}
