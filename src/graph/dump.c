/* A graph as text. Buffers are named b0, b1, ... in the order in which nodes name them first, so that equal recordings
 * give equal text whatever their ids. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "graph/walk.h"

typedef struct dump {
    char *text;
    size_t length, capacity;
    bool lost; /* there was no memory for all of it */
    const rdo_graph *graph;
    const rdo_program *program;
    rdo_ranges names; /* memory id -> its number + 1 */
    uint64_t name_count;
} dump;

static void add(dump *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(dump *d, const char *format, ...) {
    va_list list;
    char line[512];
    rdo_text piece = rdo_text_in(line, sizeof line);
    va_start(list, format);
    rdo_text_add_list(&piece, format, list);
    va_end(list);
    size_t length = strlen(line);
    d->lost = d->lost || !rdo_grow(&d->text, &d->capacity, d->length + length + 1, 1);
    if (d->lost) return;
    memcpy(d->text + d->length, line, length + 1);
    d->length += length;
}

/* A name or label of the user's: it neither ends a line nor a quoted string, whatever it holds, and is never cut. */
static void add_escaped(dump *d, const char *text) {
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\') add(d, "\\");
        if (*text == '\n') {
            add(d, "\\n");
        } else {
            add(d, "%c", *text);
        }
    }
}

static uint64_t name_of(dump *d, uint64_t memory_id) {
    const rdo_range *known = rdo_ranges_find(&d->names, memory_id, memory_id + 1);
    if (known != NULL) return known->value - 1;
    if (!rdo_ranges_set(&d->names, memory_id, memory_id + 1, ++d->name_count, 0)) d->lost = true;
    return d->name_count - 1;
}

static const char *mode_text(uint32_t mode) {
    return mode == RONDO_READS ? "in" : mode == RONDO_WRITES ? "out" : "inout";
}

/* "x=in b0[0..256)" */
static void add_access(dump *d, const rdo_op *op, const rdo_access *access) {
    if (op->kind == RONDO_NODE_LAUNCH) {
        add_escaped(d, op->kernel->params[access->param].name);
        add(d, "=");
    }
    add(d, "%s %c%llu[%llu..%llu)", mode_text(access->mode), access->host ? 'h' : 'b',
        (unsigned long long)name_of(d, access->id), (unsigned long long)access->low,
        (unsigned long long)rdo_access_high(access));
    if (access->rows > 1) {
        add(d, "/%llux%llu@%llu", (unsigned long long)access->rows, (unsigned long long)access->row_bytes,
            (unsigned long long)access->pitch);
    }
}

/* A value as hexadecimal bytes, as they lie in memory. */
static void add_value(dump *d, const rdo_op *op, uint64_t node, uint32_t param) {
    const uint8_t *bytes = op->values[param];
    for (const rdo_patch *patch = d->graph->patches; patch != NULL; patch = patch->next) {
        if (patch->program == NULL && patch->node == node && patch->param == param) bytes = patch->value;
    }
    add_escaped(d, op->kernel->params[param].name);
    add(d, "=");
    for (uint32_t i = 0; i < op->kernel->params[param].size_bytes; i++) add(d, "%02x", bytes[i]);
}

static void add_arguments(dump *d, const rdo_op *op, uint64_t node) {
    for (uint32_t i = 0; i < op->access_count; i++) {
        add(d, i == 0 ? " " : ", ");
        add_access(d, op, &op->accesses[i]);
    }
    for (uint32_t i = 0; op->kind == RONDO_NODE_LAUNCH && i < op->kernel->param_count; i++) {
        if (op->values[i] == NULL) continue;
        add(d, " ");
        add_value(d, op, node, i);
    }
    for (uint32_t i = 0; op->kind == RONDO_NODE_FILL && i < op->pattern_bytes; i++) {
        add(d, i == 0 ? " pattern=%02x" : "%02x", op->pattern[i]);
    }
}

static void add_title(dump *d, const rdo_op *op) {
    add(d, "%s", rdo_op_name(op->kind));
    if (op->kind != RONDO_NODE_LAUNCH) return;
    add(d, " ");
    add_escaped(d, op->kernel->name);
    add(d, " %llux%llux%llu", (unsigned long long)op->grid.x, (unsigned long long)op->grid.y,
        (unsigned long long)op->grid.z);
}

static void add_text_node(dump *d, uint64_t node) {
    const rdo_op *op = d->program->ops[node];
    const rdo_edges *edges = &d->program->survey.edges;
    add(d, "%llu: ", (unsigned long long)node);
    add_title(d, op);
    add_arguments(d, op, node);
    if (op->label != NULL) {
        add(d, " label=\"");
        add_escaped(d, op->label);
        add(d, "\"");
    }
    for (uint64_t e = edges->first[node]; e < edges->first[node + 1]; e++) {
        add(d, e == edges->first[node] ? " after %llu" : ",%llu", (unsigned long long)edges->list[e]);
    }
    add(d, "\n");
}

static void add_dot_node(dump *d, uint64_t node) {
    const rdo_op *op = d->program->ops[node];
    const rdo_edges *edges = &d->program->survey.edges;
    add(d, "  n%llu [label=\"%llu: ", (unsigned long long)node, (unsigned long long)node);
    if (op->label != NULL) {
        add_escaped(d, op->label);
        add(d, "\\n");
    }
    if (op->kind == RONDO_NODE_LAUNCH) {
        add_escaped(d, op->kernel->name);
        add(d, " %llux%llux%llu", (unsigned long long)op->grid.x, (unsigned long long)op->grid.y,
            (unsigned long long)op->grid.z);
    } else {
        add(d, "%s", rdo_op_name(op->kind));
    }
    for (uint32_t i = 0; i < op->access_count; i++) {
        add(d, "\\n");
        add_access(d, op, &op->accesses[i]);
    }
    add(d, "\"];\n");
    for (uint64_t e = edges->first[node]; e < edges->first[node + 1]; e++) {
        add(d, "  n%llu -> n%llu;\n", (unsigned long long)edges->list[e], (unsigned long long)node);
    }
}

static void add_graph(dump *d, rondo_dump_format format) {
    uint64_t count = d->program->count;
    if (format == RONDO_DUMP_TEXT) {
        add(d, "rondo graph, %llu nodes\n", (unsigned long long)count);
        for (uint64_t node = 0; node < count; node++) add_text_node(d, node);
        return;
    }
    add(d, "digraph rondo {\n  node [shape=box, fontname=\"monospace\"];\n");
    for (uint64_t node = 0; node < count; node++) add_dot_node(d, node);
    add(d, "}\n");
}

rondo_status rdo_graph_text(rdo_graph *graph, const rdo_where *where, rondo_dump_format format, char **out_text,
                            size_t *out_length) {
    rdo_books *books = &graph->engine->books;
    dump d = {.graph = graph};
    rdo_lock_take(&books->lock);
    d.program = rdo_graph_newest(graph);
    add_graph(&d, format);
    rdo_lock_give(&books->lock);
    rdo_ranges_finish(&d.names);
    *out_text = d.text;
    *out_length = d.length;
    if (!d.lost) return RONDO_OK;
    rdo_free(d.text);
    *out_text = NULL;
    return rdo_fault_raise(where, RONDO_NO_HOST_MEMORY, "no memory for the graph's text");
}
