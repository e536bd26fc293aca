#include "graph/walk.h"

#include "base/alloc.h"
#include "base/text.h"

#define REFUSE(code, ...) return rdo_fault_raise(where, code, __VA_ARGS__)

rondo_status rdo_graph_info(rdo_graph *graph, rondo_graph_info *out) {
    rdo_books *books = &graph->engine->books;
    rdo_lock_take(&books->lock);
    const rdo_program *program = rdo_graph_newest(graph);
    *out = (rondo_graph_info){.id = graph->holder.graph_id,
                              .nodes = program->count,
                              .device_bytes = graph->holder.device_bytes,
                              .host_bytes = graph->holder.host_bytes,
                              .metadata_bytes = graph->metadata_bytes,
                              .live_in_bytes = program->live_in_bytes,
                              .written_bytes = program->written_bytes,
                              .replays = atomic_load_explicit(&graph->replays, memory_order_relaxed),
                              .native = books->backend->graph_build != NULL};
    rdo_lock_give(&books->lock);
    return RONDO_OK;
}

static rondo_status check_node(const rdo_where *where, const rdo_program *program, uint64_t node) {
    if (node < program->count) return RONDO_OK;
    REFUSE(RONDO_RANGE, "there is no node %llu, the graph has %llu", (unsigned long long)node,
           (unsigned long long)program->count);
}

static uint32_t spans_of(const rdo_op *op) {
    uint64_t spans = 0;
    for (uint32_t i = 0; i < op->access_count; i++) spans += op->accesses[i].row_bytes != 0 ? op->accesses[i].rows : 0;
    return (uint32_t)spans;
}

static void tell_node(const rdo_program *program, uint64_t node, rondo_node_info *out) {
    const rdo_op *op = program->ops[node];
    *out = (rondo_node_info){.kind = op->kind, .spans = spans_of(op)};
    out->predecessors = (uint32_t)(program->survey.edges.first[node + 1] - program->survey.edges.first[node]);
    rdo_text_copy(out->label, sizeof out->label, op->label);
    if (op->kind != RONDO_NODE_LAUNCH) return;
    out->params = op->kernel->param_count;
    out->grid = op->grid;
    rdo_text_copy(out->kernel, sizeof out->kernel, op->kernel->name);
}

rondo_status rdo_walk_node(rdo_graph *graph, const rdo_where *where, uint64_t node, rondo_node_info *out) {
    rdo_books *books = &graph->engine->books;
    *out = (rondo_node_info){0};
    rdo_lock_take(&books->lock);
    const rdo_program *program = rdo_graph_newest(graph);
    rondo_status status = check_node(where, program, node);
    if (status == RONDO_OK) tell_node(program, node, out);
    rdo_lock_give(&books->lock);
    return status;
}

static void tell_row(const rdo_op *op, const rdo_access *access, uint64_t row, rondo_node_span *out) {
    *out = (rondo_node_span){.memory_id = access->id,
                             .offset_bytes = access->low + row * access->pitch,
                             .size_bytes = access->row_bytes,
                             .mode = (rondo_access_mode)access->mode,
                             .host = access->host};
    if (op->kind == RONDO_NODE_LAUNCH) {
        rdo_text_copy(out->param, sizeof out->param, op->kernel->params[access->param].name);
    }
}

static rondo_status tell_span(const rdo_where *where, const rdo_op *op, uint32_t span, rondo_node_span *out) {
    uint64_t left = span;
    for (uint32_t i = 0; i < op->access_count; i++) {
        const rdo_access *access = &op->accesses[i];
        uint64_t rows = access->row_bytes != 0 ? access->rows : 0;
        if (left < rows) {
            tell_row(op, access, left, out);
            return RONDO_OK;
        }
        left -= rows;
    }
    REFUSE(RONDO_RANGE, "there is no span %u, the node has %u", span, spans_of(op));
}

rondo_status rdo_walk_span(rdo_graph *graph, const rdo_where *where, uint64_t node, uint32_t span,
                           rondo_node_span *out) {
    rdo_books *books = &graph->engine->books;
    *out = (rondo_node_span){0};
    rdo_lock_take(&books->lock);
    const rdo_program *program = rdo_graph_newest(graph);
    rondo_status status = check_node(where, program, node);
    if (status == RONDO_OK) status = tell_span(where, program->ops[node], span, out);
    rdo_lock_give(&books->lock);
    return status;
}

static rondo_status tell_predecessor(const rdo_where *where, const rdo_program *program, uint64_t node, uint32_t k,
                                     uint64_t *out) {
    uint64_t first = program->survey.edges.first[node], count = program->survey.edges.first[node + 1] - first;
    if (k >= count) REFUSE(RONDO_RANGE, "there is no predecessor %u, the node has %llu", k, (unsigned long long)count);
    *out = program->survey.edges.list[first + k];
    return RONDO_OK;
}

rondo_status rdo_walk_predecessor(rdo_graph *graph, const rdo_where *where, uint64_t node, uint32_t k,
                                  uint64_t *out_node) {
    rdo_books *books = &graph->engine->books;
    *out_node = 0;
    rdo_lock_take(&books->lock);
    const rdo_program *program = rdo_graph_newest(graph);
    rondo_status status = check_node(where, program, node);
    if (status == RONDO_OK) status = tell_predecessor(where, program, node, k, out_node);
    rdo_lock_give(&books->lock);
    return status;
}
