/* A graph's program: its nodes with memory resolved, and what follows from them. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/check.h"
#include "graph/graph.h"

#define GROW(list) rdo_grow(&(list)->data, &(list)->capacity, (list)->count + 1, sizeof *(list)->data)

static bool resolve_node(rdo_program *program, uint64_t node) {
    const rdo_op *op = program->ops[node];
    rondo_place *places = NULL;
    rdo_host_frame *frame = NULL;
    if (rdo_op_is_event(op)) {
        memset(&program->resolved[node], 0, sizeof program->resolved[node]);
        return true;
    }
    if (op->kind == RONDO_NODE_LAUNCH && op->kernel->param_count != 0) {
        places = rdo_arena_take(&program->places, op->kernel->param_count * sizeof *places);
        if (places == NULL) return false;
    }
    if (op->kind == RONDO_NODE_HOST_CALL) {
        frame = rdo_arena_take(&program->arena, rdo_host_frame_bytes(op));
        if (frame == NULL) return false;
    }
    rdo_op_resolve(op, &program->resolved[node], places, frame);
    return true;
}

static bool add_home(rdo_program *program, rdo_store *home) {
    for (size_t i = 0; i < program->home_count; i++) {
        if (program->homes[i] == home) return true;
    }
    if (!rdo_grow(&program->homes, &program->home_capacity, program->home_count + 1, sizeof(rdo_store *))) return false;
    program->homes[program->home_count++] = home;
    return true;
}

/* What the nodes need besides their bytes. */
static bool list_homes(rdo_program *program) {
    for (uint64_t node = 0; node < program->count; node++) {
        const rdo_op *op = program->ops[node];
        if (op->kind == RONDO_NODE_HOST_CALL) program->has_host_calls = true;
        for (uint32_t i = 0; i < op->access_count; i++) {
            if (!add_home(program, rdo_access_home(&op->accesses[i]))) return false;
        }
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
    for (uint64_t node = 0; node < program->count; node++) {
        const rdo_op *op = program->ops[node];
        for (uint32_t i = 0; i < op->access_count; i++) {
            rdo_memory *memory = op->accesses[i].memory;
            if (memory->id != op->accesses[i].id || memory->page == NULL) continue;
            if (memory->listed_by == list) continue;
            if (!GROW(out)) return false;
            memory->listed_by = list;
            out->data[out->count++] = (rdo_graph_bytes){memory, 0, memory->size};
        }
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
            if (!GROW(out)) return false;
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
    if (!GROW(writes)) return false;
    writes->data[writes->count++] = (rdo_extent){graph_address, graph_address + 1};
    rdo_extents_sort(writes->data, writes->count);
    return true;
}

static bool survey_all(rdo_program *program, uint64_t graph_address) {
    rdo_survey *survey = &program->survey;
    if (!list_homes(program) || !rdo_survey_find(survey, program->ops, program->count)) return false;
    program->live_in_bytes = total(&survey->live_in);
    program->written_bytes = total(&survey->writes);
    return find_records(program) && add_own_address(&survey->writes, graph_address);
}

static rondo_backend_result add_segment(rdo_program *program, uint64_t first, uint64_t last, bool event) {
    const rdo_books *books = &program->engine->books;
    if (!rdo_grow(&program->segments, &program->segment_capacity, program->segment_count + 1,
                  sizeof *program->segments)) {
        return RONDO_BACKEND_NO_MEMORY;
    }
    rdo_segment *segment = &program->segments[program->segment_count++];
    *segment = (rdo_segment){.first = first, .last = last, .event = event};
    if (event || books->backend->graph_build == NULL) return RONDO_BACKEND_DONE;
    const rdo_edges *found = &program->survey.edges;
    const rondo_backend_edges edges = {found->first + first, found->list, first};
    return books->backend->graph_build(books->device, program->resolved + first, last - first, &edges,
                                       &segment->native);
}

/* A backend with graphs of its own has copied what it needs. */
static void drop_resolved(rdo_program *program) {
    if (program->engine->books.backend->graph_build == NULL) return;
    rdo_free(program->resolved);
    program->resolved = NULL;
    rdo_arena_clear(&program->places);
}

static rondo_backend_result build_segments(rdo_program *program) {
    rondo_backend_result result = RONDO_BACKEND_DONE;
    for (uint64_t first = 0; first < program->count && result == RONDO_BACKEND_DONE;) {
        uint64_t last = first + 1;
        bool event = rdo_op_is_event(program->ops[first]);
        while (!event && last < program->count && !rdo_op_is_event(program->ops[last])) last++;
        result = add_segment(program, first, last, event);
        first = last;
    }
    return result;
}

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
    program->resolved = rdo_alloc_many((size_t)count, sizeof *program->resolved);
    bool resolved = program->resolved != NULL;
    for (uint64_t node = 0; node < count && resolved; node++) resolved = resolve_node(program, node);
    if (resolved && survey_all(program, graph_address)) result = build_segments(program);
    drop_resolved(program);
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
