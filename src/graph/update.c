/* Updating a sealed graph [R9].
 *
 * An update becomes patches, stamped with the last ticket given out. A replay applies, when it is admitted, the patches
 * with stamps below its ticket: so it sees every update made before it was enqueued and none made after, and nobody
 * waits for anybody. A changed buffer makes a whole new program, guards included, before anything is promised.
 *
 * Each program has ops and lists of values of its own; the bytes of a value that was ever updated lie in one place that
 * all programs of the graph point to.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/check.h"
#include "base/text.h"
#include "graph/graph.h"
#include "op/args.h"

/* ---- applying: device lock held, no replay of the graph runs ---- */

static void set_value(const rdo_program *program, uint64_t node, uint32_t param, const void *value) {
    const rondo_backend *backend = program->engine->books.backend;
    program->ops[node]->values[param] = value;
    for (size_t i = 0; i < program->segment_count; i++) {
        const rdo_segment *segment = &program->segments[i];
        if (node < segment->first || node >= segment->last || segment->native == NULL) continue;
        backend->graph_set_value(segment->native, node - segment->first, param, value);
    }
}

/* The node's parameter gets bytes of its own at its first update; later updates copy into them. */
static void apply_value(rdo_graph *graph, rdo_patch *patch) {
    rdo_op *op = graph->program->ops[patch->node];
    uint32_t bit = 1u << patch->param;
    if ((op->own_values & bit) != 0) {
        memcpy((void *)(uintptr_t)op->values[patch->param], patch->value, op->kernel->params[patch->param].size_bytes);
        rdo_free(patch);
        return;
    }
    op->own_values |= bit;
    set_value(graph->program, patch->node, patch->param, patch->value);
    size_t programs = graph->waiting_programs;
    for (const rdo_patch *later = graph->patches; programs != 0; later = later->next) {
        RDO_ASSERT(later != NULL);
        if (later->program == NULL) continue;
        programs--;
        later->program->ops[patch->node]->own_values |= bit;
        set_value(later->program, patch->node, patch->param, patch->value);
    }
    patch->next = graph->applied; /* its bytes are the node's from now on */
    graph->applied = patch;
}

/* Whether some node touches bytes of the slice, or names it by a span of none. Asked by address, since a temporary's
 * slice may have been cut up for later ones of the same window: then its access names the first piece only. */
static bool touches_slice(const rdo_program *program, const rdo_guard *guard) {
    const rdo_slice *slice = &guard->page->slices[guard->slice];
    uint64_t low = guard->page->address + slice->offset;
    rdo_extent bytes = {low, low + slice->size};
    return rdo_extents_meet(&bytes, 1, program->survey.reads.data, program->survey.reads.count) ||
           rdo_extents_meet(&bytes, 1, program->survey.writes.data, program->survey.writes.count) ||
           rdo_extents_meet(&bytes, 1, program->survey.empties.data, program->survey.empties.count);
}

static void add_guard(rdo_graph *graph, const rdo_guard *guard) {
    RDO_ASSERT(graph->guards.count < graph->guards.capacity);
    graph->guards.data[graph->guards.count++] = *guard;
    graph->holder.device_bytes += guard->page->slices[guard->slice].size;
}

/* What only the old program touched is given back: the last replay that used it is over. */
static void apply_program(rdo_graph *graph, rdo_patch *patch) {
    for (size_t i = 0; i < patch->guards.count; i++) add_guard(graph, &patch->guards.data[i]);
    for (size_t g = graph->guards.count; g-- > 0;) {
        rdo_guard guard = graph->guards.data[g];
        if (guard.page->pool == RONDO_POOL_HOST || touches_slice(patch->program, &guard)) continue;
        graph->holder.device_bytes -= guard.page->slices[guard.slice].size;
        graph->guards.data[g] = graph->guards.data[--graph->guards.count];
        rdo_page_unguard(guard.page, guard.slice);
    }
    rdo_program_delete(graph->program);
    rdo_graph_set_program(graph, patch->program);
    graph->waiting_programs--;
    rdo_free(patch->guards.data);
    rdo_free(patch);
}

void rdo_graph_apply_patches(rdo_graph *graph, uint64_t ticket) {
    while (graph->patches != NULL && graph->patches->stamp < ticket) {
        rdo_patch *patch = graph->patches;
        graph->patches = patch->next;
        if (graph->patches == NULL) graph->patch_end = &graph->patches;
        if (patch->program != NULL) {
            apply_program(graph, patch);
        } else {
            apply_value(graph, patch);
        }
    }
    atomic_store(&graph->patched, graph->patches != NULL);
}

void rdo_graph_drop_patches(rdo_graph *graph) {
    rdo_patch *patch = graph->patches;
    while (patch != NULL) {
        rdo_patch *next = patch->next;
        for (size_t i = 0; i < patch->guards.count; i++) {
            rdo_page_unguard(patch->guards.data[i].page, patch->guards.data[i].slice);
        }
        if (patch->program != NULL) rdo_program_delete(patch->program);
        rdo_free(patch->guards.data);
        rdo_free(patch);
        patch = next;
    }
    while (graph->applied != NULL) {
        rdo_patch *next = graph->applied->next;
        rdo_free(graph->applied);
        graph->applied = next;
    }
}

/* ---- making: one update at a time, under the graph's update lock ---- */

typedef struct updating {
    rdo_graph *graph;
    const rondo_update *updates;
    size_t count;
    rdo_where where;
    rdo_arena arena;       /* of a new program */
    rdo_op **ops;          /* its ops; NULL while only values change */
    rdo_patch *patches, **end;
    rdo_guard_list guards; /* taken for the new program */
} updating;

#define REFUSE(code, ...) return rdo_fault_raise(&u->where, code, __VA_ARGS__)

typedef struct rdo_label {
    const char *text;
    uint64_t node;
} label;

static int compare_labels(const void *left, const void *right) {
    return strcmp(((const label *)left)->text, ((const label *)right)->text);
}

/* Device lock held: the labels of the graph, sorted, made when they are first asked for; they never change. */
static bool know_labels(rdo_graph *graph) {
    if (graph->labels != NULL) return true;
    graph->labels = rdo_alloc_zero((size_t)graph->recorded_count, sizeof(label));
    if (graph->labels == NULL) return false;
    for (uint64_t node = 0; node < graph->recorded_count; node++) {
        if (graph->recorded[node]->label == NULL) continue;
        graph->labels[graph->label_count++] = (label){graph->recorded[node]->label, node};
    }
    if (graph->label_count != 0) qsort(graph->labels, graph->label_count, sizeof(label), compare_labels);
    return true;
}

/* How many nodes carry the label; one of them in *out_node. */
static uint64_t find_label(const rdo_graph *graph, const char *text, uint64_t *out_node) {
    size_t low = 0, high = graph->label_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(graph->labels[middle].text, text) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    uint64_t found = 0;
    for (; low < graph->label_count && strcmp(graph->labels[low].text, text) == 0; low++) {
        *out_node = graph->labels[low].node;
        found++;
    }
    return found;
}

/* Finds the node that update number `index` names. */
static rondo_status find_node(updating *u, const rdo_program *program, size_t index, uint64_t *out_node) {
    const rondo_update *update = &u->updates[index];
    uint64_t found = 0;
    u->where.kernel = NULL;
    u->where.label = update->label;
    u->where.op_index = RONDO_NO_INDEX;
    if (update->param == NULL) REFUSE(RONDO_INVALID, "update %zu names no parameter", index);
    *out_node = update->node;
    if (update->label == NULL && update->node >= program->count) {
        REFUSE(RONDO_RANGE, "update %zu of parameter '%s': there is no node %llu, the graph has %llu", index,
               update->param, (unsigned long long)update->node, (unsigned long long)program->count);
    }
    if (update->label != NULL) {
        if (!know_labels(u->graph)) REFUSE(RONDO_NO_HOST_MEMORY, "no memory to look up labels");
        found = find_label(u->graph, update->label, out_node);
    }
    if (update->label != NULL && found != 1) {
        REFUSE(RONDO_INVALID, "update %zu of parameter '%s': %llu nodes carry the label '%s', one is needed", index,
               update->param, (unsigned long long)found, update->label);
    }
    const rdo_op *op = program->ops[*out_node];
    u->where.op_index = *out_node;
    u->where.label = op->label;
    if (op->kind != RONDO_NODE_LAUNCH) {
        REFUSE(RONDO_INVALID, "update %zu of parameter '%s': node %llu is a %s, only launches have parameters", index,
               update->param, (unsigned long long)*out_node, rdo_op_name(op->kind));
    }
    u->where.kernel = op->kernel->name;
    return RONDO_OK;
}

static rondo_status find_param(const updating *u, const rdo_op *op, const rondo_update *update, uint32_t *out_param) {
    unsigned long long node = u->where.op_index;
    uint32_t param = rdo_kernel_find_param(op->kernel, update->param);
    *out_param = param;
    if (param == op->kernel->param_count) {
        REFUSE(RONDO_INVALID, "node %llu: kernel '%s' has no parameter '%s'", node, op->kernel->name, update->param);
    }
    const rondo_param *known = &op->kernel->params[param];
    if (rdo_param_is_buffer(known) && update->value != NULL) {
        REFUSE(RONDO_INVALID, "node %llu: parameter '%s' is a buffer, a value was given", node, update->param);
    }
    if (!rdo_param_is_buffer(known) && update->value == NULL) {
        REFUSE(RONDO_INVALID, "node %llu: parameter '%s' is a value, none was given", node, update->param);
    }
    if (!rdo_param_is_buffer(known) && update->value_bytes != known->size_bytes) {
        REFUSE(RONDO_INVALID, "node %llu: parameter '%s' has %u bytes, %llu were given", node, update->param,
               known->size_bytes, (unsigned long long)update->value_bytes);
    }
    return RONDO_OK;
}

static rdo_patch *add_patch(updating *u, size_t value_bytes) {
    rdo_patch *patch = rdo_alloc_zero(1, sizeof *patch + value_bytes);
    if (patch == NULL) return NULL;
    *u->end = patch;
    u->end = &patch->next;
    return patch;
}

static rondo_status update_value(updating *u, const rdo_op *op, const rondo_update *update, uint32_t param) {
    rdo_patch *patch = add_patch(u, op->kernel->params[param].size_bytes);
    if (patch == NULL) REFUSE(RONDO_NO_HOST_MEMORY, "no memory for the update");
    patch->node = u->where.op_index;
    patch->param = param;
    patch->value = patch + 1;
    memcpy(patch->value, update->value, op->kernel->params[param].size_bytes);
    return RONDO_OK;
}

/* Device lock held: copies of all ops, for a new program. */
static bool copy_ops(updating *u, const rdo_program *program) {
    u->ops = rdo_arena_take(&u->arena, (size_t)program->count * sizeof(rdo_op *));
    for (uint64_t node = 0; u->ops != NULL && node < program->count; node++) {
        u->ops[node] = rdo_op_copy(&u->arena, program->ops[node]);
        if (u->ops[node] == NULL) return false;
    }
    return u->ops != NULL;
}

static rondo_status check_span(const updating *u, const rdo_op *op, const rondo_update *update, uint32_t param,
                               rdo_access *out_access) {
    const rondo_param *known = &op->kernel->params[param];
    char what[128];
    rdo_text text = rdo_text_in(what, sizeof what);
    rdo_text_add(&text, "node %llu, parameter '%s'", (unsigned long long)u->where.op_index, known->name);
    RDO_TRY(rdo_args_access(&u->where, &u->graph->engine->books, NULL, update->span, RDO_SPAN_DEVICE,
                            (uint32_t)known->kind, what, out_access));
    if (!rdo_param_is_aligned(known, out_access->low)) {
        REFUSE(RONDO_INVALID, "%s starts at byte %llu, which is no multiple of its alignment %u", what,
               (unsigned long long)out_access->low, known->align_bytes);
    }
    out_access->param = (uint16_t)param;
    return RONDO_OK;
}

/* Device lock held: guards the access's slice, unless the newest program does already. */
static bool guard_new(updating *u, const rdo_program *newest, const rdo_access *access) {
    rdo_guard guard = {access->page, access->slice};
    if (guard.page == NULL || touches_slice(newest, &guard)) return true;
    if (!rdo_grow(&u->guards.data, &u->guards.capacity, u->guards.count + 1, sizeof guard)) return false;
    rdo_page_guard(guard.page, guard.slice);
    u->guards.data[u->guards.count++] = guard;
    return true;
}

/* Device lock held: the new buffer is looked up, checked, guarded and put in place, before anyone could release it. */
static rondo_status update_span(updating *u, const rdo_program *newest, const rondo_update *update, uint32_t param) {
    rdo_access access;
    if (u->ops == NULL && !copy_ops(u, newest)) REFUSE(RONDO_NO_HOST_MEMORY, "no memory for the update");
    rdo_op *op = u->ops[u->where.op_index];
    RDO_TRY(check_span(u, op, update, param, &access));
    if (!guard_new(u, newest, &access)) REFUSE(RONDO_NO_HOST_MEMORY, "no memory for the update's guards");
    for (uint32_t i = 0; i < op->access_count; i++) {
        if (op->accesses[i].param == param) op->accesses[i] = access;
    }
    return RONDO_OK;
}

static rondo_status check_aliases(updating *u, const rdo_program *newest) {
    for (uint64_t node = 0; u->ops != NULL && node < newest->count; node++) {
        if (u->ops[node]->kind != RONDO_NODE_LAUNCH) continue;
        u->where = rdo_op_where(u->ops[node], 0, node);
        u->where.operation = "rondo_graph_update";
        RDO_TRY(rdo_args_check_alias(&u->where, u->ops[node]));
    }
    return RONDO_OK;
}

/* Device lock held: whether an op writes bytes of `memory` as those of another allocation: a temporary of the graph's
 * window lay there before [C5]. */
static bool lies_on_temporary(const updating *u, uint64_t count, const rdo_memory *memory) {
    uint64_t low = memory->address, high = low + memory->size;
    for (uint64_t node = 0; node < count; node++) {
        const rdo_op *op = u->ops[node];
        for (uint32_t i = 0; i < op->access_count; i++) {
            const rdo_access *access = &op->accesses[i];
            if (!rdo_access_writes(access) || access->row_bytes == 0 || access->id == memory->id) continue;
            uint64_t base = access->address;
            if (base + access->low < high && low < base + rdo_access_high(access)) return true;
        }
    }
    return false;
}

/* Device lock held. A buffer that lies where the graph writes a temporary is good after a replay, and for the nodes
 * that read it, only because of the nodes that write it afterwards: no update may take one of those away, and none may
 * send other nodes there. */
static rondo_status check_changed(updating *u, uint64_t count, const rdo_access *was, const rdo_access *is) {
    const rdo_memory *left = was->memory;
    bool live = left->id == was->id && left->refs != 0 && left->page != NULL && rdo_access_writes(was);
    if (live && lies_on_temporary(u, count, left)) {
        REFUSE(RONDO_OVERLAP,
               "buffer %llu was allocated in the window where an earlier temporary lay: without this node, which "
               "writes it, it would be left with the temporary's bytes",
               (unsigned long long)was->id);
    }
    if (is->page == NULL || !lies_on_temporary(u, count, is->memory)) return RONDO_OK;
    REFUSE(RONDO_OVERLAP, "buffer %llu lies where the graph writes a temporary of its window",
           (unsigned long long)is->id);
}

/* Device lock held. */
static rondo_status check_overlaid(updating *u, const rdo_program *newest) {
    for (uint64_t node = 0; u->ops != NULL && node < newest->count; node++) {
        const rdo_op *was = newest->ops[node], *is = u->ops[node];
        u->where = rdo_op_where(is, 0, node);
        u->where.operation = "rondo_graph_update";
        for (uint32_t i = 0; i < was->access_count; i++) {
            if (was->accesses[i].id == is->accesses[i].id && was->accesses[i].low == is->accesses[i].low &&
                was->accesses[i].row_bytes == is->accesses[i].row_bytes) {
                continue;
            }
            RDO_TRY(check_changed(u, newest->count, &was->accesses[i], &is->accesses[i]));
        }
    }
    return RONDO_OK;
}

/* Device lock held. */
static rondo_status collect(updating *u) {
    const rdo_program *newest = rdo_graph_newest(u->graph);
    for (size_t i = 0; i < u->count; i++) {
        uint64_t node = 0;
        uint32_t param = 0;
        RDO_TRY(find_node(u, newest, i, &node));
        RDO_TRY(find_param(u, newest->ops[node], &u->updates[i], &param));
        if (u->updates[i].value != NULL) {
            RDO_TRY(update_value(u, newest->ops[node], &u->updates[i], param));
        } else {
            RDO_TRY(update_span(u, newest, &u->updates[i], param));
        }
    }
    RDO_TRY(check_aliases(u, newest));
    return check_overlaid(u, newest);
}

static rondo_status build_program(updating *u) {
    rdo_graph *graph = u->graph;
    uint64_t count = graph->recorded_count; /* the same in every program of the graph */
    u->where = *RDO_NOWHERE("rondo_graph_update"); /* a node's label may lie in the arena, which a failure frees */
    rdo_patch *patch = add_patch(u, 0);
    if (patch == NULL) REFUSE(RONDO_NO_HOST_MEMORY, "no memory for the update");
    rdo_arena arena = u->arena;
    u->arena = (rdo_arena){0};
    rondo_backend_result result =
        rdo_program_new(graph->engine, u->ops, count, graph->address, &arena, &patch->program);
    if (result == RONDO_BACKEND_DONE) return RONDO_OK;
    if (result == RONDO_BACKEND_NO_MEMORY) REFUSE(RONDO_NO_HOST_MEMORY, "no memory for the changed graph");
    REFUSE(RONDO_BACKEND, "the backend did not build the changed graph");
}

/* Device lock held: while the program was built, replays may have given nodes values of their own. */
static void catch_up(const rdo_program *fresh, const rdo_program *newest) {
    for (uint64_t node = 0; node < newest->count; node++) {
        const rdo_op *now = newest->ops[node];
        for (uint32_t param = 0; now->own_values != 0 && param < now->kernel->param_count; param++) {
            const void *value = now->values[param];
            if (value != fresh->ops[node]->values[param]) set_value(fresh, node, param, value);
        }
        fresh->ops[node]->own_values = now->own_values;
    }
}

static int compare_guards(const void *left, const void *right) {
    const rdo_guard *a = left, *b = right;
    if (a->page != b->page) return (uintptr_t)a->page < (uintptr_t)b->page ? -1 : 1;
    return (a->slice > b->slice) - (a->slice < b->slice);
}

/* Device lock held: a slice that the update names more than once is guarded once. */
static void unite_guards(rdo_guard_list *list) {
    size_t kept = 0;
    if (list->count != 0) qsort(list->data, list->count, sizeof *list->data, compare_guards);
    for (size_t i = 0; i < list->count; i++) {
        if (kept != 0 && compare_guards(&list->data[kept - 1], &list->data[i]) == 0) {
            rdo_page_unguard(list->data[i].page, list->data[i].slice);
        } else {
            list->data[kept++] = list->data[i];
        }
    }
    list->count = kept;
}

/* Device lock held: room for the guards of all patches, so that applying them cannot fail. */
static bool reserve_guards(updating *u) {
    rdo_graph *graph = u->graph;
    size_t most = graph->guards.count + u->guards.count;
    for (const rdo_patch *patch = graph->patches; patch != NULL; patch = patch->next) most += patch->guards.count;
    return rdo_grow(&graph->guards.data, &graph->guards.capacity, most, sizeof *graph->guards.data);
}

/* Device lock held: from here on the update is promised. */
static rondo_status publish(updating *u) {
    rdo_graph *graph = u->graph;
    unite_guards(&u->guards);
    if (!reserve_guards(u)) REFUSE(RONDO_NO_HOST_MEMORY, "no memory for the update's guards");
    for (rdo_patch *patch = u->patches; patch != NULL; patch = patch->next) {
        patch->stamp = graph->engine->order.last_ticket;
        if (patch->program == NULL) continue;
        graph->waiting_programs++;
        catch_up(patch->program, rdo_graph_newest(graph));
        patch->guards = u->guards;
        u->guards = (rdo_guard_list){0};
    }
    *graph->patch_end = u->patches;
    graph->patch_end = u->end;
    atomic_store(&graph->patched, true);
    u->patches = NULL;
    /* With no replay about there is nothing to wait for: none elsewhere, which would hold the graph as this update
     * does, and none at home, which would have raised its queue's flag before it asked for patches. */
    if (graph->uses == 1 && atomic_load(&graph->home->store.fast) == 0) rdo_graph_apply_patches(graph, UINT64_MAX);
    return RONDO_OK;
}

/* Device lock held: undoes an update that was refused. */
static void undo(updating *u) {
    for (size_t i = 0; i < u->guards.count; i++) rdo_page_unguard(u->guards.data[i].page, u->guards.data[i].slice);
    while (u->patches != NULL) {
        rdo_patch *next = u->patches->next;
        if (u->patches->program != NULL) rdo_program_delete(u->patches->program);
        rdo_free(u->patches);
        u->patches = next;
    }
}

rondo_status rdo_graph_update(rdo_graph *graph, const rondo_update *updates, size_t count) {
    rdo_books *books = &graph->engine->books;
    updating u = {.graph = graph, .updates = updates, .count = count, .where = *RDO_NOWHERE("rondo_graph_update")};
    u.end = &u.patches;
    if (count == 0) return RONDO_OK;
    rdo_lock_take(&graph->update_lock);
    rdo_lock_take(&books->lock);
    rondo_status status = collect(&u);
    rdo_lock_give(&books->lock);
    if (status == RONDO_OK && u.ops != NULL) status = build_program(&u);
    rdo_lock_take(&books->lock);
    if (status == RONDO_OK) status = publish(&u);
    if (status != RONDO_OK) undo(&u);
    rdo_lock_give(&books->lock);
    rdo_lock_give(&graph->update_lock);
    rdo_free(u.guards.data);
    rdo_arena_clear(&u.arena);
    return status;
}
