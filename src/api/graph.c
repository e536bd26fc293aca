#include <rondo/capture.h>
#include <rondo/graph.h>

#include <string.h>

#include "api/api.h"
#include "base/alloc.h"
#include "device/costs.h"
#include "graph/run.h"
#include "graph/walk.h"

/* ---- capture ---- */

rondo_status rondo_capture_prepare(rondo_stream *stream) {
    rdo_call call;
    RDO_TRY(rdo_call_begin(&call, stream, "rondo_capture_prepare", NULL));
    return rdo_call_end(&call, rdo_capture_prepare(&call));
}

rondo_status rondo_capture_begin(rondo_stream *stream) {
    rdo_call call;
    RDO_TRY(rdo_call_begin(&call, stream, "rondo_capture_begin", NULL));
    return rdo_call_end(&call, rdo_capture_begin(&call));
}

rondo_status rondo_capture_end(rondo_stream *stream, uint32_t flags, rondo_graph **out_graph) {
    const rdo_where *where = RDO_NOWHERE("rondo_capture_end");
    rdo_call call;
    rdo_graph *graph = NULL;
    if (out_graph == NULL) RDO_REFUSE(RONDO_INVALID, "out_graph is null");
    *out_graph = NULL;
    if ((flags & ~(uint32_t)RONDO_END_ALLOW_EMPTY) != 0) RDO_REFUSE(RONDO_INVALID, "unknown flags 0x%x", flags);
    RDO_TRY(rdo_call_begin(&call, stream, "rondo_capture_end", NULL));
    rondo_status status = rdo_graph_seal(&call, flags, &graph);
    if (graph != NULL) *out_graph = rdo_handle(graph->handle);
    return rdo_call_end(&call, status);
}

rondo_status rondo_capture_abort(rondo_stream *stream) {
    rdo_call call;
    RDO_TRY(rdo_call_begin(&call, stream, "rondo_capture_abort", NULL));
    rdo_window *window = &call.queue->window;
    rondo_status status = RONDO_OK;
    if (rdo_window_is_active(window) && !rdo_call_owns(&call)) {
        status = rdo_fault_raise(&call.where, RONDO_BUSY, "the capture belongs to stream %llu",
                                 (unsigned long long)rdo_window_owner(window));
    } else if (rdo_window_is_active(window)) {
        rdo_capture_leave(call.queue,
                          rdo_capture_aborted(window, &call.where, "the window was aborted before it was sealed"));
    }
    return rdo_call_end(&call, status);
}

bool rondo_stream_is_capturing(rondo_stream *handle) {
    rdo_stream *stream = rdo_object_find(RDO_OBJECT_STREAM, handle);
    if (stream == NULL || !rdo_api_may_release(stream->engine)) return false;
    return rdo_captures_is_capturing(&stream->engine->captures, stream->id);
}

rondo_phase rondo_capture_phase(rondo_stream *handle) {
    bool recording;
    rdo_stream *stream = rdo_object_find(RDO_OBJECT_STREAM, handle);
    if (stream == NULL || !rdo_api_may_release(stream->engine) ||
        !rdo_captures_phase(&stream->engine->captures, stream->id, &recording)) {
        return RONDO_PHASE_NONE;
    }
    return recording ? RONDO_PHASE_RECORDING : RONDO_PHASE_PREPARED;
}

/* Device lock held: adds up what a graph sealed now would keep in place. */
static void add_pinned(const rdo_queue *queue, rondo_window_info *info) {
    const rdo_window *window = &queue->window;
    for (size_t i = 0; i < window->touched.count; i++) {
        const rdo_touch *touch = &window->touched.data[i];
        bool seen = false;
        for (size_t j = 0; j < i && !seen; j++) {
            const rdo_touch *other = &window->touched.data[j];
            seen = other->page == touch->page && other->location.slice == touch->location.slice;
        }
        uint64_t size = seen ? 0 : touch->page->slices[touch->location.slice].size;
        *(touch->page->pool == RONDO_POOL_HOST ? &info->host_bytes : &info->device_bytes) += size;
    }
    for (size_t i = 0; i < window->retained.count; i++) info->host_bytes += window->retained.data[i]->size;
}

rondo_status rondo_capture_get_info(rondo_stream *stream, rondo_window_info *out_info) {
    const rdo_where *where = RDO_NOWHERE("rondo_capture_get_info");
    rdo_call call;
    if (out_info == NULL) RDO_REFUSE(RONDO_INVALID, "out_info is null");
    memset(out_info, 0, sizeof *out_info);
    RDO_TRY(rdo_call_begin(&call, stream, "rondo_capture_get_info", NULL));
    rondo_status status = RONDO_OK;
    const rdo_window *window = &call.queue->window;
    if (rdo_call_records(&call)) {
        rdo_lock_take(&call.engine->books.lock);
        out_info->ops = window->ops.count;
        out_info->doomed_by = window->failed;
        add_pinned(call.queue, out_info);
        rdo_lock_give(&call.engine->books.lock);
    } else {
        status = rdo_fault_raise(&call.where, RONDO_STATE, "this stream does not record");
    }
    return rdo_call_end(&call, status);
}

rondo_status rondo_capture_step(rondo_stream *stream, rondo_step_fn step, void *user, rondo_graph **out_graph) {
    const rdo_where *where = RDO_NOWHERE("rondo_capture_step");
    if (out_graph == NULL) RDO_REFUSE(RONDO_INVALID, "out_graph is null");
    *out_graph = NULL;
    if (step == NULL) RDO_REFUSE(RONDO_INVALID, "step is null");
    return rdo_capture_step(stream, step, user, out_graph);
}

rondo_status rondo_run(rondo_stream *stream, uint64_t key, rondo_step_fn step, void *user, rondo_run_info *out_info) {
    const rdo_where *where = RDO_NOWHERE("rondo_run");
    if (out_info != NULL) memset(out_info, 0, sizeof *out_info);
    if (step == NULL) RDO_REFUSE(RONDO_INVALID, "step is null");
    return rdo_run(stream, key, step, user, out_info);
}

rondo_status rondo_run_forget(rondo_stream *stream, uint64_t key) {
    return rdo_run_forget(stream, key);
}

/* ---- graphs ---- */

rondo_status rondo_graph_retain(rondo_graph *handle) {
    const rdo_where *where = RDO_NOWHERE("rondo_graph_retain");
    rdo_graph *graph = rdo_object_find(RDO_OBJECT_GRAPH, handle);
    if (graph != NULL) RDO_TRY(rdo_api_check_fork(graph->engine, where));
    graph = rdo_graph_hold(handle);
    if (graph == NULL) RDO_REFUSE(RONDO_STALE, "the graph is null, was released or never existed");
    rdo_lock_take(&graph->engine->books.lock);
    graph->refs++;
    rdo_lock_give(&graph->engine->books.lock);
    rdo_graph_drop(graph);
    return RONDO_OK;
}

void rondo_graph_release(rondo_graph *handle) {
    rdo_graph *graph = rdo_object_find(RDO_OBJECT_GRAPH, handle);
    if (graph == NULL || !rdo_api_may_release(graph->engine)) return;
    rdo_engine *engine = graph->engine;
    rdo_lock_take(&engine->books.lock);
    if (rdo_object_find(RDO_OBJECT_GRAPH, handle) == graph) rdo_graph_unref(graph);
    rdo_api_released(engine);
}

rondo_status rondo_graph_replay(rondo_graph *handle, rondo_stream *stream) {
    rdo_call call;
    RDO_TRY(rdo_call_begin_work(&call, stream, "rondo_graph_replay", NULL));
    rondo_status status;
    rdo_graph *graph = rdo_graph_at_home(handle, call.queue);
    if (RDO_LIKELY(graph != NULL)) {
        status = rdo_graph_play(&call, graph);
    } else if ((graph = rdo_graph_hold(handle)) != NULL) {
        status = rdo_graph_play(&call, graph);
        rdo_graph_drop(graph);
    } else {
        status = rdo_fault_raise(&call.where, RONDO_STALE, handle == NULL ? "the graph is null"
                                                                          : "the graph was released or never existed");
        if (rdo_call_records(&call)) rdo_window_fail(&call.queue->window, status);
    }
    return rdo_call_end(&call, status);
}

rondo_status rondo_graph_get_info(rondo_graph *handle, rondo_graph_info *out_info) {
    const rdo_where *where = RDO_NOWHERE("rondo_graph_get_info");
    rdo_graph *graph;
    if (out_info == NULL) RDO_REFUSE(RONDO_INVALID, "out_info is null");
    memset(out_info, 0, sizeof *out_info);
    RDO_TRY(rdo_api_graph(where, handle, &graph));
    rdo_engine *engine = graph->engine;
    rondo_status status = rdo_graph_info(graph, out_info);
    rdo_graph_drop(graph);
    return rdo_api_end(engine, status);
}

rondo_status rondo_graph_get_worth(rondo_graph *handle, rondo_graph_worth *out_worth) {
    const rdo_where *where = RDO_NOWHERE("rondo_graph_get_worth");
    rdo_graph *graph;
    rdo_costs costs;
    if (out_worth == NULL) RDO_REFUSE(RONDO_INVALID, "out_worth is null");
    memset(out_worth, 0, sizeof *out_worth);
    RDO_TRY(rdo_api_graph(where, handle, &graph));
    rdo_engine *engine = graph->engine;
    rondo_status status = rdo_device_costs((rdo_device *)(void *)engine, where, &costs);
    if (status == RONDO_OK) *out_worth = rdo_costs_worth(&costs, graph->recorded_count, graph->record_ns);
    rdo_graph_drop(graph);
    return rdo_api_end(engine, status);
}

rondo_status rondo_graph_get_node(rondo_graph *handle, uint64_t node, rondo_node_info *out_info) {
    const rdo_where *where = RDO_NOWHERE("rondo_graph_get_node");
    rdo_graph *graph;
    if (out_info == NULL) RDO_REFUSE(RONDO_INVALID, "out_info is null");
    memset(out_info, 0, sizeof *out_info);
    RDO_TRY(rdo_api_graph(where, handle, &graph));
    rdo_engine *engine = graph->engine;
    rondo_status status = rdo_walk_node(graph, where, node, out_info);
    rdo_graph_drop(graph);
    return rdo_api_end(engine, status);
}

rondo_status rondo_graph_get_node_span(rondo_graph *handle, uint64_t node, uint32_t span, rondo_node_span *out_span) {
    const rdo_where *where = RDO_NOWHERE("rondo_graph_get_node_span");
    rdo_graph *graph;
    if (out_span == NULL) RDO_REFUSE(RONDO_INVALID, "out_span is null");
    memset(out_span, 0, sizeof *out_span);
    RDO_TRY(rdo_api_graph(where, handle, &graph));
    rdo_engine *engine = graph->engine;
    rondo_status status = rdo_walk_span(graph, where, node, span, out_span);
    rdo_graph_drop(graph);
    return rdo_api_end(engine, status);
}

rondo_status rondo_graph_get_predecessor(rondo_graph *handle, uint64_t node, uint32_t k, uint64_t *out_node) {
    const rdo_where *where = RDO_NOWHERE("rondo_graph_get_predecessor");
    rdo_graph *graph;
    if (out_node == NULL) RDO_REFUSE(RONDO_INVALID, "out_node is null");
    *out_node = 0;
    RDO_TRY(rdo_api_graph(where, handle, &graph));
    rdo_engine *engine = graph->engine;
    rondo_status status = rdo_walk_predecessor(graph, where, node, k, out_node);
    rdo_graph_drop(graph);
    return rdo_api_end(engine, status);
}

rondo_status rondo_graph_dump(rondo_graph *handle, rondo_dump_format format, rondo_text_fn sink, void *user) {
    const rdo_where *where = RDO_NOWHERE("rondo_graph_dump");
    rdo_graph *graph;
    char *text = NULL;
    size_t length = 0;
    if (sink == NULL) RDO_REFUSE(RONDO_INVALID, "sink is null");
    if (format != RONDO_DUMP_TEXT && format != RONDO_DUMP_DOT) {
        RDO_REFUSE(RONDO_INVALID, "there is no format %d", (int)format);
    }
    RDO_TRY(rdo_api_graph(where, handle, &graph));
    rdo_engine *engine = graph->engine;
    rondo_status status = rdo_graph_text(graph, where, format, &text, &length);
    rdo_graph_drop(graph);
    status = rdo_api_end(engine, status);
    if (status == RONDO_OK) sink(user, text, length);
    rdo_free(text);
    return status;
}

rondo_status rondo_graph_update(rondo_graph *handle, const rondo_update *updates, size_t count) {
    const rdo_where *where = RDO_NOWHERE("rondo_graph_update");
    rdo_graph *graph;
    if (updates == NULL && count != 0) RDO_REFUSE(RONDO_INVALID, "updates is null");
    RDO_TRY(rdo_api_graph(where, handle, &graph));
    rdo_engine *engine = graph->engine;
    rondo_status status = rdo_graph_update(graph, updates, count);
    rdo_graph_drop(graph);
    return rdo_api_end(engine, status);
}
