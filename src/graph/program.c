/* A graph's program: its nodes with memory resolved, and what follows from them. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/check.h"
#include "graph/graph.h"

#define GROW(list) rdo_grow(&(list)->data, &(list)->capacity, (list)->count + 1, sizeof *(list)->data)

static bool is_event(const rdo_op *op) {
    return op->kind == RONDO_NODE_EVENT_RECORD || op->kind == RONDO_NODE_EVENT_WAIT;
}

static bool resolve_node(rdo_program *program, uint64_t node) {
    const rdo_op *op = program->ops[node];
    rondo_place *places = NULL;
    rdo_host_frame *frame = NULL;
    if (is_event(op)) {
        memset(&program->resolved[node], 0, sizeof program->resolved[node]);
        return true;
    }
    if (op->kind == RONDO_NODE_LAUNCH && op->kernel->param_count != 0) {
        places = rdo_arena_take(&program->places, op->kernel->param_count * sizeof *places);
        if (places == NULL) return false;
        memset(places, 0, op->kernel->param_count * sizeof *places);
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

/* Maps of the flat address space, filled node by node. */
typedef struct survey {
    rdo_ranges read, written, live_in, empties;
} survey;

/* Adds to `live_in` what of [low, high), which is not empty, no earlier node wrote. */
static bool add_live_in(survey *s, uint64_t low, uint64_t high) {
    size_t i = rdo_ranges_seek(&s->written, low);
    for (;;) {
        const rdo_range *written = i < s->written.count ? &rdo_ranges_data(&s->written)[i] : NULL;
        uint64_t end = written != NULL && written->low < high ? written->low : high;
        if (low < end && !rdo_ranges_set(&s->live_in, low, end, 0, 0)) return false;
        if (written == NULL || written->high >= high) return true;
        low = written->high;
        i++;
    }
}

static bool survey_access(survey *s, const rdo_access *access, bool writes) {
    for (uint64_t row = 0; access->row_bytes != 0 && row < access->rows; row++) {
        uint64_t low = access->address + access->low + row * access->pitch;
        uint64_t high = low + access->row_bytes;
        if (writes) {
            if (!rdo_ranges_set(&s->written, low, high, 0, 0)) return false;
        } else if (!add_live_in(s, low, high) || !rdo_ranges_set(&s->read, low, high, 0, 0)) {
            return false;
        }
    }
    return true;
}

/* A span of no bytes keeps its allocation all the same: node and place name it. */
static bool survey_empty(survey *s, const rdo_access *access) {
    if (access->page == NULL || (access->row_bytes != 0 && access->rows != 0)) return true;
    return rdo_ranges_set(&s->empties, access->address, access->address + 1, 0, 0);
}

static bool survey_op(rdo_program *program, survey *s, const rdo_op *op) {
    if (op->kind == RONDO_NODE_HOST_CALL) program->has_host_calls = true;
    /* All reads come before any write: an op reads its inputs as they were. */
    for (uint32_t i = 0; i < op->access_count; i++) {
        const rdo_access *access = &op->accesses[i];
        if (!add_home(program, access->home)) return false;
        if (!survey_empty(s, access)) return false;
        if (rdo_access_reads(access) && !survey_access(s, access, false)) return false;
    }
    for (uint32_t i = 0; i < op->access_count; i++) {
        const rdo_access *access = &op->accesses[i];
        if (rdo_access_writes(access) && !survey_access(s, access, true)) return false;
    }
    return true;
}

static bool take_extents(rdo_extent_list *out, const rdo_ranges *map, size_t spare) {
    const rdo_range *data = rdo_ranges_data(map);
    if (!rdo_grow(&out->data, &out->capacity, map->count + spare, sizeof *out->data)) return false;
    for (size_t i = 0; i < map->count; i++) out->data[i] = (rdo_extent){data[i].low, data[i].high};
    out->count = map->count;
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

/* The parts of `records` that lie in `map`. Both are sorted by address. */
static bool cut(rdo_bytes_list *out, const rdo_bytes_list *records, const rdo_ranges *map) {
    const rdo_range *data = rdo_ranges_data(map);
    for (size_t r = 0; r < records->count; r++) {
        rdo_memory *memory = records->data[r].memory;
        uint64_t base = memory->address, end = base + memory->size;
        for (size_t i = rdo_ranges_seek(map, base); i < map->count && data[i].low < end; i++) {
            uint64_t low = data[i].low > base ? data[i].low : base, high = data[i].high < end ? data[i].high : end;
            if (!GROW(out)) return false;
            out->data[out->count++] = (rdo_graph_bytes){memory, low - base, high - base};
        }
    }
    return true;
}

static bool conclude(rdo_program *program, const survey *s, uint64_t graph_address) {
    rdo_bytes_list records = {0};
    bool done = take_extents(&program->reads, &s->read, 0) && take_extents(&program->writes, &s->written, 1) &&
                take_extents(&program->empties, &s->empties, 0);
    rdo_lock_take(&program->engine->books.lock); /* a temporary's record may be gone, and serve another */
    done = done && list_records(program, &records) && cut(&program->live_in, &records, &s->live_in) &&
           cut(&program->written, &records, &s->written);
    rdo_lock_give(&program->engine->books.lock);
    rdo_free(records.data);
    if (!done) return false;
    /* The graph itself, last in place of sorted: its address is newer than that of any page that it names, or is put in
     * order below. */
    program->writes.data[program->writes.count++] = (rdo_extent){graph_address, graph_address + 1};
    rdo_extents_sort(program->writes.data, program->writes.count);
    program->live_in_bytes = rdo_ranges_total(&s->live_in);
    program->written_bytes = rdo_ranges_total(&s->written);
    return true;
}

static bool survey_all(rdo_program *program, uint64_t graph_address) {
    survey s = {0};
    bool done = true;
    for (uint64_t node = 0; node < program->count && done; node++) done = survey_op(program, &s, program->ops[node]);
    done = done && conclude(program, &s, graph_address);
    rdo_ranges_finish(&s.read);
    rdo_ranges_finish(&s.written);
    rdo_ranges_finish(&s.live_in);
    rdo_ranges_finish(&s.empties);
    return done;
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
    return books->backend->graph_build(books->device, program->resolved + first, last - first, &segment->native);
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
        bool event = is_event(program->ops[first]);
        while (!event && last < program->count && !is_event(program->ops[last])) last++;
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
    program->resolved = rdo_alloc_zero((size_t)count, sizeof *program->resolved);
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
    rdo_free(program->reads.data);
    rdo_free(program->writes.data);
    rdo_free(program->empties.data);
    rdo_free(program->homes);
    rdo_edges_finish(&program->edges);
    rdo_arena_clear(&program->arena);
    rdo_arena_clear(&program->places);
    rdo_free(program);
}
