/* Closing a window: into a graph, or with a refusal.
 *
 * Order: state; doom reason; build the executable; then, in one section under the device lock, guard what was
 * touched, take
 * host bytes and write set, stop recording; then commit. Building comes while the window still records, so that a
 * refusal of the backend leaves like any other refusal, and nothing can slip between guarding and closing.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/check.h"
#include "graph/graph.h"

static _Atomic uint64_t last_graph_id;

static rondo_status refuse(rdo_call *call, rondo_status status) {
    rdo_count(&call->engine->counters.windows_refused);
    rdo_capture_leave(call->queue, status);
    return status;
}

/* End while nothing records: a prepared capture of the caller's is unwound, so that a failed warm-up never wedges the
 * stream; another's is left alone [C11]. */
static rondo_status end_without_window(rdo_call *call) {
    rdo_window *window = &call->queue->window;
    if (!rdo_window_is_prepared(window)) return rdo_fault_raise(&call->where, RONDO_STATE, "nothing is recording");
    if (!rdo_call_owns(call)) {
        return rdo_fault_raise(&call->where, RONDO_BUSY, "stream %llu has prepared the capture on this queue",
                               (unsigned long long)rdo_window_owner(window));
    }
    rdo_capture_leave(call->queue, RONDO_OK);
    return rdo_fault_raise(&call->where, RONDO_STATE,
                           "the capture was prepared but not begun; it is unwound now and can be prepared anew");
}

static rondo_status abandon(rdo_call *call) {
    rdo_window *window = &call->queue->window;
    unsigned long long owner = rdo_window_owner(window);
    rondo_status status;
    rondo_fault doom;
    if (window->failed != RONDO_OK && rondo_fault_get(window->failed, &doom) == RONDO_OK) {
        status = rdo_fault_raise(&call->where, RONDO_ABANDONED,
                                 "the window belongs to stream %llu, not %llu; it is closed without a graph, and was "
                                 "already doomed by failure #%llu in %s (label '%s'): %s",
                                 owner, (unsigned long long)call->stream->id,
                                 (unsigned long long)rondo_status_number(window->failed), doom.operation, doom.label,
                                 doom.message);
    } else {
        status = rdo_fault_raise(&call->where, RONDO_ABANDONED,
                                 "the window belongs to stream %llu, not %llu; it is closed without a graph", owner,
                                 (unsigned long long)call->stream->id);
    }
    return refuse(call, status);
}

/* ---- the seal's own check [C5] ---- */

/* Adds to `written` what the op writes of `memory`; false without memory to note it. */
static bool add_writes(rdo_ranges *written, const rdo_op *op, const rdo_memory *memory) {
    for (uint32_t i = 0; i < op->access_count; i++) {
        const rdo_access *access = &op->accesses[i];
        if (!rdo_access_writes(access) || access->id != memory->id) continue;
        for (uint64_t row = 0; row < access->rows; row++) {
            uint64_t low = access->low + row * access->pitch;
            if (!rdo_ranges_set(written, low, low + access->row_bytes, 1, 0)) return false;
        }
    }
    return true;
}

/* Whether the recorded ops write all bytes of `memory`. Without memory to tell: no, which is safe. */
static bool written_whole(rdo_op *const *ops, size_t count, const rdo_memory *memory) {
    rdo_ranges written = {0};
    bool known = true;
    for (size_t n = 0; n < count; n++) known &= add_writes(&written, ops[n], memory);
    bool whole = known && rdo_ranges_cover(&written, 0, memory->size);
    rdo_ranges_finish(&written);
    return whole;
}

/* The first such buffer on the page. */
static rdo_memory *overlaid_on(const rdo_page *page, const rdo_window *window) {
    for (uint32_t i = 0; i != RDO_NO_SLICE; i = page->slices[i].after) {
        const rdo_slice *slice = &page->slices[i];
        if (slice->window != window->id || slice->owner == NULL || !slice->reused) continue;
        RDO_ASSERT(page->pool != RONDO_POOL_HOST); /* whose slices serve once, so that no staging lies over anything */
        bool live = slice->owner->refs != 0;
        if (live && !written_whole(window->ops.data, window->ops.count, slice->owner)) return slice->owner;
    }
    return NULL;
}

/* Device lock held: a live buffer that lies where an earlier temporary of the window lay and that no recorded work
 * writes whole, NULL if there is none. */
static rdo_memory *find_overlaid(const rdo_queue *queue) {
    for (int kind = 0; kind < RONDO_POOL_KINDS; kind++) {
        const rdo_pool *pool = &queue->store.pools[kind];
        for (uint32_t p = 0; p < pool->count; p++) {
            if (pool->pages[p] == NULL || pool->pages[p]->marked == 0) continue;
            rdo_memory *overlaid = overlaid_on(pool->pages[p], &queue->window);
            if (overlaid != NULL) return overlaid;
        }
    }
    return NULL;
}

static rondo_status check_overlaid(rdo_call *call) {
    rdo_books *books = &call->engine->books;
    rdo_lock_take(&books->lock);
    const rdo_memory *overlaid = find_overlaid(call->queue);
    uint64_t id = overlaid != NULL ? overlaid->id : 0;
    rdo_lock_give(&books->lock);
    if (id == 0) return RONDO_OK;
    return rdo_fault_raise(&call->where, RONDO_OVERLAP,
                           "buffer %llu was allocated in the window where an earlier temporary lay, and no recorded "
                           "work writes it whole: each replay would overwrite it; write it whole, release it before "
                           "the end, or allocate it before the window",
                           (unsigned long long)id);
}

static rondo_status check_window(rdo_call *call, uint32_t flags) {
    const rdo_window *window = &call->queue->window;
    if (window->failed != RONDO_OK) return rdo_status_of(RONDO_DOOMED, rondo_status_number(window->failed));
    if (window->ops.count == 0 && (flags & RONDO_END_ALLOW_EMPTY) == 0) {
        return rdo_fault_raise(&call->where, RONDO_EMPTY,
                               "the window recorded nothing; was the work issued to another stream?");
    }
    return check_overlaid(call);
}

/* ---- making the graph ---- */

static rdo_graph *new_graph(rdo_call *call) {
    rdo_graph *graph = rdo_alloc_zero(1, sizeof *graph);
    if (graph == NULL) return NULL;
    graph->handle = rdo_object_new(RDO_OBJECT_GRAPH, graph, call->queue);
    if (graph->handle == 0) {
        rdo_free(graph);
        return NULL;
    }
    graph->engine = call->engine;
    graph->home = call->queue;
    graph->refs = 1;
    graph->holder.graph_id = atomic_fetch_add_explicit(&last_graph_id, 1, memory_order_relaxed) + 1;
    graph->patch_end = &graph->patches;
    rdo_lock_init(&graph->update_lock, RDO_RANK_QUEUE);
    return graph;
}

/* Of a graph that got no program. */
static void discard_graph(rdo_graph *graph) {
    rdo_object_hide(graph->handle);
    rdo_object_delete(graph->handle);
    rdo_free(graph->guards.data);
    rdo_free(graph);
}

/* Room for every guard that closing can bring, so that the closing section itself cannot fail. */
static bool prepare_guards(rdo_call *call, rdo_graph *graph) {
    const rdo_window *window = &call->queue->window;
    rdo_books *books = &call->engine->books;
    rdo_lock_take(&books->lock);
    size_t most = window->touched.count + rdo_store_count_touched(&call->queue->store, window->id);
    bool done = rdo_grow(&graph->guards.data, &graph->guards.capacity, most, sizeof *graph->guards.data);
    graph->address = rdo_books_take_address(books, 1);
    rdo_lock_give(&books->lock);
    return done;
}

static void keep_guard(void *user, rdo_page *page, uint32_t slice) {
    rdo_graph *graph = user;
    RDO_ASSERT(graph->guards.count < graph->guards.capacity);
    graph->guards.data[graph->guards.count++] = (rdo_guard){page, slice};
    uint64_t *bytes = page->pool == RONDO_POOL_HOST ? &graph->holder.host_bytes : &graph->holder.device_bytes;
    *bytes += page->slices[slice].size;
}

/* Device lock held: memory from outside of the window is guarded already; that of the window is from now on. */
static void take_guards(rdo_queue *queue, rdo_graph *graph) {
    rdo_window *window = &queue->window;
    rdo_touch_list touched = rdo_window_take_touched(window);
    for (size_t i = 0; i < touched.count; i++) {
        rdo_page *page = touched.data[i].page;
        uint32_t slice = touched.data[i].location.slice;
        if (page->slices[slice].window != window->id) keep_guard(graph, page, slice);
    }
    rdo_free(touched.data);
    rdo_store_close_window(&queue->store, window->id, keep_guard, graph);
}

/* Device lock held: from here on nothing can fail. */
static void commit(rdo_call *call, rdo_graph *graph) {
    rdo_queue *queue = call->queue;
    rdo_engine *engine = call->engine;
    rdo_window *window = &queue->window;
    rdo_capture_end end;
    take_guards(queue, graph);
    graph->arena = window->arena;
    graph->recorded = window->ops.data;
    graph->recorded_count = window->ops.count;
    graph->retained = rdo_window_take_retained(window);
    for (size_t i = 0; i < graph->retained.count; i++) graph->holder.host_bytes += graph->retained.data[i]->size;
    graph->pins = window->pins;
    for (size_t i = 0; i < graph->pins.count; i++) graph->metadata_bytes += graph->pins.blocks[i]->size_bytes;
    window->arena = (rdo_arena){0};
    window->ops = (rdo_op_list){0};
    window->pins = (rdo_meta_pins){0};
    (void)rdo_window_end(window, call->stream->id, &end);
    rdo_window_clear(window); /* claims stay as they were: recording was invisible to them [C15] */
    rdo_capture_stop_recording(engine);
    graph->holder.nodes = graph->recorded_count;
    rdo_books_add_holder(&engine->books, &graph->holder);
    engine->books.children++;
}

static rondo_status build(rdo_call *call, rdo_graph *graph) {
    const rdo_window *window = &call->queue->window;
    if (!prepare_guards(call, graph)) {
        return rdo_fault_raise(&call->where, RONDO_NO_HOST_MEMORY, "no memory for the graph's guards");
    }
    rdo_program *program = NULL;
    rondo_backend_result result =
        rdo_program_new(call->engine, window->ops.data, window->ops.count, graph->address, NULL, &program);
    if (result == RONDO_BACKEND_DONE) {
        rdo_graph_set_program(graph, program);
        graph->held = program->survey.held;
        program->survey.held = (rdo_held){0};
        return RONDO_OK;
    }
    if (result == RONDO_BACKEND_NO_MEMORY) {
        return rdo_fault_raise(&call->where, RONDO_NO_HOST_MEMORY, "no memory for a graph of %zu nodes",
                               window->ops.count);
    }
    return rdo_fault_raise(&call->where, RONDO_BACKEND, "the backend did not build the graph");
}

/* Device lock held: gives back the counts that the recorded ops hold. */
static void drop_held(rdo_engine *engine, rdo_graph *graph) {
    const rdo_held *held = &graph->held;
    for (size_t i = 0; i < held->kernels.count; i++) {
        rdo_kernel_unref(engine, held->kernels.data[i].kernel, held->kernels.data[i].launches);
    }
    for (size_t i = 0; i < held->host_calls.count; i++) {
        rdo_host_work_unref(engine, graph->recorded[held->host_calls.data[i]]->host);
    }
    for (size_t i = 0; i < held->events.count; i++) rdo_event_unref(graph->recorded[held->events.data[i].node]->event);
    rdo_held_finish(&graph->held);
}

/* The end of a graph. */
static void finish_graph(rdo_return *item) {
    rdo_graph *graph = (rdo_graph *)(void *)item; /* `returning` comes first */
    rdo_engine *engine = graph->engine;
    /* Nobody needed it when it was put on the list, its handle is hidden, and a replay of this queue that found it
     * before is over, since this is under the queue's lock. */
    RDO_ASSERT(graph->refs == 0 && graph->uses == 0);
    rdo_lock_give(&engine->books.lock);
    rdo_program_delete(graph->program);
    rdo_lock_take(&engine->books.lock);
    rdo_graph_drop_patches(graph);
    for (size_t i = 0; i < graph->guards.count; i++) {
        rdo_page_unguard(graph->guards.data[i].page, graph->guards.data[i].slice);
    }
    for (size_t i = 0; i < graph->retained.count; i++) rdo_memory_unref(graph->retained.data[i]);
    drop_held(engine, graph);
    rdo_meta_release(&engine->meta, &graph->pins);
    rdo_books_remove_holder(&engine->books, &graph->holder);
    engine->books.children--;
    rdo_books_release_pages(&engine->books, false);
    rdo_object_delete(graph->handle);
    rdo_free(graph->guards.data);
    rdo_free(graph->retained.data);
    rdo_free(graph->labels);
    rdo_free(graph->recorded);
    rdo_arena_clear(&graph->arena);
    rdo_free(graph);
}

rondo_status rdo_graph_seal(rdo_call *call, uint32_t flags, rdo_graph **out_graph) {
    rdo_window *window = &call->queue->window;
    rdo_engine *engine = call->engine;
    *out_graph = NULL;
    if (!rdo_window_is_recording(window)) return end_without_window(call);
    rdo_window_note_refusal(window);
    if (!rdo_call_owns(call)) return abandon(call);
    rondo_status status = check_window(call, flags);
    if (status != RONDO_OK) return refuse(call, status);
    rdo_graph *graph = new_graph(call);
    if (graph == NULL) {
        return refuse(call, rdo_fault_raise(&call->where, RONDO_NO_HOST_MEMORY, "no memory for a graph"));
    }
    graph->returning.finish = finish_graph;
    status = build(call, graph);
    if (status != RONDO_OK) {
        discard_graph(graph);
        return refuse(call, status);
    }
    rdo_lock_take(&engine->books.lock);
    commit(call, graph);
    rdo_lock_give(&engine->books.lock);
    rdo_books_free_pages(&engine->books);
    graph->record_ns = rdo_clock_ns() - window->begun_ns;
    rdo_count(&engine->counters.graphs_sealed);
    *out_graph = graph;
    return RONDO_OK;
}
