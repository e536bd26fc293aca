/* Dependences between nodes, found by bytes and not by program order.
 *
 * A map of the address space names for each range the last node that wrote it; a second one names the
 * nodes that read it since. Walking the nodes in order, each access finds its direct predecessors there: a reader
 * follows the last writer; a writer follows the readers since then, or the last writer if there were none. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "graph/graph.h"

/* Readers of a range since it was written: a chain of cells, shared between ranges that were split. */
typedef struct cell {
    uint64_t node;
    struct cell *next;
} cell;

typedef struct finder {
    rdo_ranges writers; /* value: node + 1 */
    rdo_ranges readers; /* value: a cell */
    rdo_arena cells;
    rdo_edges *edges;
    uint64_t begin;     /* where the current node's list begins */
    uint64_t *followed; /* per node: the last node, plus 1, that got an edge from it */
    uint64_t stamp;     /* the current node, plus 1 */
} finder;

static bool add_edge(finder *f, uint64_t from) {
    rdo_edges *edges = f->edges;
    if (f->followed[from] == f->stamp) return true;
    f->followed[from] = f->stamp;
    if (!rdo_grow(&edges->list, &edges->list_capacity, edges->list_count + 1, sizeof *edges->list)) return false;
    edges->list[edges->list_count++] = from;
    return true;
}

static bool follow_writers(finder *f, uint64_t low, uint64_t high) {
    const rdo_range *data = rdo_ranges_data(&f->writers);
    for (size_t i = rdo_ranges_seek(&f->writers, low); i < f->writers.count && data[i].low < high; i++) {
        if (!add_edge(f, data[i].value - 1)) return false;
    }
    return true;
}

static const cell *chain_of(const rdo_range *range) {
    return (const cell *)(uintptr_t)range->value;
}

static bool follow_readers(finder *f, uint64_t node, uint64_t low, uint64_t high) {
    const rdo_range *data = rdo_ranges_data(&f->readers);
    for (size_t i = rdo_ranges_seek(&f->readers, low); i < f->readers.count && data[i].low < high; i++) {
        for (const cell *c = chain_of(&data[i]); c != NULL; c = c->next) {
            if (c->node != node && !add_edge(f, c->node)) return false;
        }
    }
    return true;
}

/* Bytes of [low, high), which is not empty, that nobody read since they were written depend on the writer itself. */
static bool follow_unread_writers(finder *f, uint64_t low, uint64_t high) {
    size_t i = rdo_ranges_seek(&f->readers, low);
    for (;;) {
        const rdo_range *read = i < f->readers.count ? &rdo_ranges_data(&f->readers)[i] : NULL;
        uint64_t end = read != NULL && read->low < high ? read->low : high;
        if (low < end && !follow_writers(f, low, end)) return false;
        if (read == NULL || read->high >= high) return true;
        low = read->high > low ? read->high : low;
        i++;
    }
}

/* Notes `node` as a reader of every part of [low, high), keeping who read the parts before. */
static bool note_reader(finder *f, uint64_t node, uint64_t low, uint64_t high) {
    while (low < high) {
        const rdo_range *range = rdo_ranges_find(&f->readers, low, high);
        uint64_t end = high;
        cell *before = NULL;
        if (range != NULL && range->low <= low) {
            end = range->high < high ? range->high : high;
            before = (cell *)(uintptr_t)range->value;
        } else if (range != NULL) {
            end = range->low;
        }
        cell *c = rdo_arena_take(&f->cells, sizeof *c);
        if (c == NULL) return false;
        *c = (cell){node, before};
        if (!rdo_ranges_set(&f->readers, low, end, (uint64_t)(uintptr_t)c, 0)) return false;
        low = end;
    }
    return true;
}

static bool visit_rows(finder *f, uint64_t node, const rdo_access *access,
                       bool (*visit)(finder *f, uint64_t node, uint64_t low, uint64_t high)) {
    for (uint64_t row = 0; access->row_bytes != 0 && row < access->rows; row++) {
        uint64_t low = access->address + access->low + row * access->pitch;
        if (!visit(f, node, low, low + access->row_bytes)) return false;
    }
    return true;
}

static bool depend_read(finder *f, uint64_t node, uint64_t low, uint64_t high) {
    (void)node;
    return follow_writers(f, low, high);
}

static bool depend_write(finder *f, uint64_t node, uint64_t low, uint64_t high) {
    return follow_readers(f, node, low, high) && follow_unread_writers(f, low, high);
}

static bool note_write(finder *f, uint64_t node, uint64_t low, uint64_t high) {
    return rdo_ranges_remove(&f->readers, low, high) && rdo_ranges_set(&f->writers, low, high, node + 1, 0);
}

static int compare_nodes(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* An event wait follows the event's record, which bytes do not tell. */
static bool follow_event(finder *f, rdo_op *const *ops, uint64_t node) {
    if (ops[node]->kind != RONDO_NODE_EVENT_WAIT) return true;
    for (uint64_t n = node; n-- > 0;) {
        if (ops[n]->kind == RONDO_NODE_EVENT_RECORD && ops[n]->event == ops[node]->event) return add_edge(f, n);
    }
    return true;
}

/* First what the node depends on, by all its accesses; then what it leaves behind. */
static bool visit_node(finder *f, rdo_op *const *ops, uint64_t node) {
    const rdo_op *op = ops[node];
    f->begin = f->edges->first[node] = f->edges->list_count;
    f->stamp = node + 1;
    for (uint32_t i = 0; i < op->access_count; i++) {
        const rdo_access *access = &op->accesses[i];
        if (rdo_access_reads(access) && !visit_rows(f, node, access, depend_read)) return false;
        if (rdo_access_writes(access) && !visit_rows(f, node, access, depend_write)) return false;
    }
    if (!follow_event(f, ops, node)) return false;
    for (uint32_t i = 0; i < op->access_count; i++) {
        const rdo_access *access = &op->accesses[i];
        if (!rdo_access_writes(access) && !visit_rows(f, node, access, note_reader)) return false;
    }
    for (uint32_t i = 0; i < op->access_count; i++) {
        const rdo_access *access = &op->accesses[i];
        if (rdo_access_writes(access) && !visit_rows(f, node, access, note_write)) return false;
    }
    size_t added = f->edges->list_count - f->begin;
    if (added > 1) qsort(f->edges->list + f->begin, added, sizeof *f->edges->list, compare_nodes);
    return true;
}

bool rdo_edges_find(rdo_edges *edges, rdo_op *const *ops, uint64_t count) {
    finder f = {.edges = edges};
    *edges = (rdo_edges){.first = rdo_alloc_zero((size_t)count + 1, sizeof *edges->first)};
    f.followed = rdo_alloc_zero((size_t)count + 1, sizeof *f.followed);
    bool done = edges->first != NULL && f.followed != NULL;
    for (uint64_t node = 0; node < count && done; node++) done = visit_node(&f, ops, node);
    if (done) edges->first[count] = edges->list_count;
    rdo_ranges_finish(&f.writers);
    rdo_ranges_finish(&f.readers);
    rdo_arena_clear(&f.cells);
    rdo_free(f.followed);
    if (!done) rdo_edges_finish(edges);
    return done;
}

void rdo_edges_finish(rdo_edges *edges) {
    rdo_free(edges->first);
    rdo_free(edges->list);
    *edges = (rdo_edges){0};
}
