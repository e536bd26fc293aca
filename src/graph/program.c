/* A graph's program: its nodes with memory resolved, and what follows from them. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/check.h"
#include "graph/graph.h"

/* ---- nodes as a backend sees them ---- */

/* Nodes of a program from `first` on. */
typedef struct stretch {
    const rdo_program *program;
    uint64_t first;
} stretch;

static rdo_host_frame *frame_of(const rdo_program *program, uint64_t node) {
    const rdo_node_list *calls = &program->survey.host_calls;
    size_t first = 0, last = calls->count;
    while (last - first > 1) {
        size_t middle = first + (last - first) / 2;
        if (calls->data[middle] <= node) {
            first = middle;
        } else {
            last = middle;
        }
    }
    RDO_ASSERT(calls->data[first] == node);
    return program->frames[first];
}

static void get_node(const void *recording, uint64_t node, rondo_place *places, rondo_backend_op *out_op) {
    const stretch *asked = recording;
    const rdo_program *program = asked->program;
    const rdo_op *op = program->ops[asked->first + node];
    if (RDO_LIKELY(op->kind == RONDO_NODE_LAUNCH)) {
        rdo_op_resolve_launch(op, out_op, places);
        return;
    }
    bool calls = op->kind == RONDO_NODE_HOST_CALL;
    rdo_op_resolve(op, out_op, places, calls ? frame_of(program, asked->first + node) : NULL);
}

static bool make_frames(rdo_program *program) {
    const rdo_node_list *calls = &program->survey.host_calls;
    if (calls->count == 0) return true;
    program->frames = rdo_alloc_many(calls->count, sizeof(rdo_host_frame *));
    if (program->frames == NULL) return false;
    for (size_t i = 0; i < calls->count; i++) {
        const rdo_op *op = program->ops[calls->data[i]];
        program->frames[i] = rdo_arena_take(&program->arena, rdo_host_frame_bytes(op));
        if (program->frames[i] == NULL) return false;
        rdo_op_fill_frame(op, program->frames[i]);
    }
    return true;
}

static bool resolve_node(rdo_program *program, uint64_t node) {
    const stretch whole = {program, 0};
    const rdo_op *op = program->ops[node];
    rondo_place *places = NULL;
    if (rdo_op_is_event(op)) return true;
    if (op->kind == RONDO_NODE_LAUNCH && op->kernel->param_count != 0) {
        places = rdo_arena_take(&program->places, op->kernel->param_count * sizeof *places);
        if (places == NULL) return false;
    }
    get_node(&whole, node, places, &program->resolved[node]);
    return true;
}

/* For a backend without graphs of its own, which gets the nodes one by one at each replay. */
static bool resolve_nodes(rdo_program *program) {
    if (program->engine->books.backend->graph_build != NULL) return true;
    program->resolved = rdo_alloc_many((size_t)program->count, sizeof *program->resolved);
    bool done = program->resolved != NULL;
    for (uint64_t node = 0; node < program->count && done; node++) done = resolve_node(program, node);
    return done;
}

/* ---- what the nodes name ---- */

static bool add_home(rdo_program *program, rdo_store *home) {
    for (size_t i = 0; i < program->home_count; i++) {
        if (program->homes[i] == home) return true;
    }
    if (!rdo_grow(&program->homes, &program->home_capacity, program->home_count + 1, sizeof(rdo_store *))) return false;
    program->homes[program->home_count++] = home;
    return true;
}

static bool list_homes(rdo_program *program) {
    const rdo_named_list *named = &program->survey.named;
    for (size_t i = 0; i < named->count; i++) {
        if (!add_home(program, named->data[i].home)) return false;
    }
    return true;
}

static int compare_bytes(const void *left, const void *right) {
    const rdo_graph_bytes *a = left, *b = right;
    return (a->memory->address > b->memory->address) - (a->memory->address < b->memory->address);
}

/* Every allocation that the nodes name and that still has a record, each once, by address. */
static bool list_records(const rdo_program *program, rdo_bytes_list *out) {
    static _Atomic uint64_t last_list;
    uint64_t list = atomic_fetch_add_explicit(&last_list, 1, memory_order_relaxed) + 1;
    const rdo_named_list *named = &program->survey.named;
    for (size_t i = 0; i < named->count; i++) {
        rdo_memory *memory = named->data[i].memory;
        if (memory->id != named->data[i].id || memory->page == NULL || memory->listed_by == list) continue;
        if (!RDO_LIST_GROW(out)) return false;
        memory->listed_by = list;
        out->data[out->count++] = (rdo_graph_bytes){memory, 0, memory->size};
    }
    if (out->count != 0) qsort(out->data, out->count, sizeof *out->data, compare_bytes);
    return true;
}

/* The parts of `records` that lie in `list`. Both are sorted by address. */
static bool cut(rdo_bytes_list *out, const rdo_bytes_list *records, const rdo_extent_list *list) {
    for (size_t r = 0; r < records->count; r++) {
        rdo_memory *memory = records->data[r].memory;
        uint64_t base = memory->address, end = base + memory->size;
        size_t i = rdo_extents_seek(list->data, list->count, base);
        for (; i < list->count && list->data[i].low < end; i++) {
            uint64_t low = list->data[i].low, high = list->data[i].high;
            low = low > base ? low : base;
            high = high < end ? high : end;
            if (!RDO_LIST_GROW(out)) return false;
            out->data[out->count++] = (rdo_graph_bytes){memory, low - base, high - base};
        }
    }
    return true;
}

static uint64_t total(const rdo_extent_list *list) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < list->count; i++) bytes += list->data[i].high - list->data[i].low;
    return bytes;
}

/* A temporary's record may be gone, and serve another, which only the device lock tells. */
static bool find_records(rdo_program *program) {
    rdo_bytes_list records = {0};
    rdo_lock_take(&program->engine->books.lock);
    bool done = list_records(program, &records) && cut(&program->live_in, &records, &program->survey.live_in) &&
                cut(&program->written, &records, &program->survey.writes);
    rdo_lock_give(&program->engine->books.lock);
    rdo_free(records.data);
    return done;
}

/* The graph's own address goes where it belongs among those of the pages, most of which are older. */
static bool add_own_address(rdo_extent_list *writes, uint64_t graph_address) {
    if (!RDO_LIST_GROW(writes)) return false;
    writes->data[writes->count++] = (rdo_extent){graph_address, graph_address + 1};
    rdo_extents_sort(writes->data, writes->count);
    return true;
}

static bool survey_all(rdo_program *program, uint64_t graph_address) {
    rdo_survey *survey = &program->survey;
    if (!rdo_survey_find(survey, program->ops, program->count)) return false;
    program->live_in_bytes = total(&survey->live_in);
    program->written_bytes = total(&survey->writes);
    program->has_host_calls = survey->host_calls.count != 0;
    bool done = list_homes(program) && find_records(program) && add_own_address(&survey->writes, graph_address);
    rdo_free(survey->named.data); /* nobody asks for them again, and there may be many */
    survey->named = (rdo_named_list){0};
    return done;
}

/* ---- segments ---- */

static rdo_segment *add_segment(rdo_program *program, uint64_t first, uint64_t last, bool event) {
    if (!rdo_grow(&program->segments, &program->segment_capacity, program->segment_count + 1,
                  sizeof *program->segments)) {
        return NULL;
    }
    rdo_segment *segment = &program->segments[program->segment_count++];
    *segment = (rdo_segment){.first = first, .last = last, .event = event};
    return segment;
}

static rondo_backend_result build_segment(rdo_program *program, uint64_t first, uint64_t last, uint64_t arg_count) {
    const rdo_books *books = &program->engine->books;
    if (first == last) return RONDO_BACKEND_DONE;
    rdo_segment *segment = add_segment(program, first, last, false);
    if (segment == NULL) return RONDO_BACKEND_NO_MEMORY;
    if (books->backend->graph_build == NULL) return RONDO_BACKEND_DONE;
    const stretch asked = {program, first};
    const rondo_backend_nodes nodes = {last - first, arg_count, &asked, get_node};
    const rdo_edges *found = &program->survey.edges;
    const rondo_backend_edges edges = {found->first + first, found->list, first};
    return books->backend->graph_build(books->device, &nodes, &edges, &segment->native);
}

/* What is between two events is one segment. */
static rondo_backend_result build_segments(rdo_program *program) {
    const rdo_event_node_list *events = &program->survey.events;
    uint64_t first = 0, args = 0;
    for (size_t i = 0; i < events->count; i++) {
        const rdo_event_node *event = &events->data[i];
        rondo_backend_result result = build_segment(program, first, event->node, event->args_before - args);
        if (result != RONDO_BACKEND_DONE) return result;
        if (add_segment(program, event->node, event->node + 1, true) == NULL) return RONDO_BACKEND_NO_MEMORY;
        first = event->node + 1;
        args = event->args_before;
    }
    return build_segment(program, first, program->count, program->survey.arg_count - args);
}

/* ---- all together ---- */

rondo_backend_result rdo_program_new(rdo_engine *engine, rdo_op **ops, uint64_t count, uint64_t graph_address,
                                     rdo_arena *arena, rdo_program **out_program) {
    rdo_program *program = rdo_alloc_zero(1, sizeof *program);
    rondo_backend_result result = RONDO_BACKEND_NO_MEMORY;
    *out_program = NULL;
    if (program == NULL) {
        if (arena != NULL) rdo_arena_clear(arena);
        return result;
    }
    if (arena != NULL) program->arena = *arena;
    program->engine = engine;
    program->ops = ops;
    program->count = count;
    bool found = survey_all(program, graph_address) && make_frames(program) && resolve_nodes(program);
    if (found) result = build_segments(program);
    rdo_free(program->frames);
    program->frames = NULL;
    if (result == RONDO_BACKEND_DONE) {
        *out_program = program;
    } else {
        rdo_program_delete(program);
    }
    return result;
}

void rdo_program_delete(rdo_program *program) {
    const rdo_books *books = &program->engine->books;
    for (size_t i = 0; i < program->segment_count; i++) {
        if (program->segments[i].native != NULL) books->backend->graph_free(books->device, program->segments[i].native);
    }
    rdo_free(program->segments);
    rdo_free(program->resolved);
    rdo_free(program->live_in.data);
    rdo_free(program->written.data);
    rdo_free(program->homes);
    rdo_survey_finish(&program->survey);
    rdo_arena_clear(&program->arena);
    rdo_arena_clear(&program->places);
    rdo_free(program);
}
