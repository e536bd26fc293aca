#include "graph/graph.h"

#include "base/alloc.h"
#include "base/check.h"

rdo_graph *rdo_graph_hold(const void *handle) {
    rdo_graph *graph = rdo_object_find(RDO_OBJECT_GRAPH, handle);
    if (graph == NULL || graph->engine->fork_epoch != rdo_fork_epoch) return NULL;
    rdo_books *books = &graph->engine->books;
    rdo_lock_take(&books->lock);
    /* Asked again under the lock: the last reference may have gone meanwhile. */
    bool alive = rdo_object_find(RDO_OBJECT_GRAPH, handle) == graph;
    if (alive) graph->uses++;
    rdo_lock_give(&books->lock);
    return alive ? graph : NULL;
}

void rdo_graph_settle(rdo_graph *graph) {
    if (graph->refs == 0 && graph->uses == 0) rdo_store_return(&graph->home->store, &graph->returning);
}

void rdo_graph_drop(rdo_graph *graph) {
    rdo_lock_take(&graph->engine->books.lock);
    graph->uses--;
    rdo_graph_settle(graph);
    rdo_lock_give(&graph->engine->books.lock);
}

void rdo_graph_unref(rdo_graph *graph) {
    RDO_ASSERT(graph->refs != 0);
    if (--graph->refs != 0) return;
    rdo_object_hide(graph->handle);
    rdo_graph_settle(graph);
}

void rdo_graph_set_program(rdo_graph *graph, rdo_program *program) {
    bool fast = program->home_count == 1 && !program->has_host_calls;
    graph->program = program;
    atomic_store(&graph->fast_home, fast ? program->homes[0] : NULL);
}

rdo_program *rdo_graph_newest(rdo_graph *graph) {
    rdo_program *newest = graph->program;
    for (const rdo_patch *patch = graph->patches; patch != NULL; patch = patch->next) {
        if (patch->program != NULL) newest = patch->program;
    }
    return newest;
}
