#include "graph/run.h"

#include <rondo/log.h>

#include <string.h>

#include "base/alloc.h"
#include "base/check.h"
#include "base/text.h"

/* Gives up the capture that this call opened, if it is still there, and whatever it recorded. */
static void give_up(rdo_call *call, uint64_t window_id, rondo_status reason) {
    rdo_window *window = &call->queue->window;
    if (rdo_window_is_active(window) && window->id == window_id) rdo_capture_leave(call->queue, reason);
}

/* Runs the user's step with no lock held and takes the stream's lock again. The stream is held meanwhile. */
static rondo_status run_step(rdo_call *call, rondo_stream *handle, rondo_step_fn step, void *user) {
    rdo_where where = call->where;
    rdo_lock_give(&call->queue->lock);
    rondo_status status = step(handle, user);
    rdo_lock_take(&call->queue->lock);
    call->where = where;
    return status;
}

/* Whether the capture that this call opened is still in the phase it should be. */
static rondo_status check_phase(const rdo_call *call, uint64_t window_id, rondo_phase phase) {
    const rdo_window *window = &call->queue->window;
    if (window->id == window_id && window->life.phase == phase) return RONDO_OK;
    return rdo_fault_raise(&call->where, RONDO_STATE, "the step itself, or another thread, ended or opened a capture");
}

static rondo_status aborted(const rdo_call *call, rondo_status step_status) {
    return rdo_fault_raise(&call->where, RONDO_ABORTED, "the step returned %s #%llu while it was recorded",
                           rondo_code_name(rondo_status_code(step_status)),
                           (unsigned long long)rondo_status_number(step_status));
}

/* Records the step and seals it; every failure leaves the capture. The capture is prepared. */
static rondo_status record_step(rdo_call *call, rondo_stream *handle, rondo_step_fn step, void *user, bool defer,
                                rdo_graph **out_graph) {
    rdo_window *window = &call->queue->window;
    uint64_t id = window->id;
    *out_graph = NULL;
    RDO_TRY(rdo_capture_begin(call));
    window->defer_claims = defer;
    rondo_status status = run_step(call, handle, step, user);
    RDO_TRY(check_phase(call, id, RONDO_PHASE_RECORDING));
    if (status != RONDO_OK && window->failed == RONDO_OK) rdo_window_fail(window, aborted(call, status));
    rondo_status sealed = rdo_graph_seal(call, RONDO_END_DEFAULT, out_graph);
    return status != RONDO_OK ? status : sealed;
}

static rondo_status warm_up(rdo_call *call, rondo_stream *handle, rondo_step_fn step, void *user) {
    RDO_TRY(rdo_capture_prepare(call));
    uint64_t id = call->queue->window.id;
    rondo_status status = run_step(call, handle, step, user);
    if (status == RONDO_OK) status = check_phase(call, id, RONDO_PHASE_PREPARED);
    if (status != RONDO_OK) give_up(call, id, RONDO_OK);
    return status;
}

rondo_status rdo_capture_step(rondo_stream *handle, rondo_step_fn step, void *user, rondo_graph **out_graph) {
    rdo_call call;
    rdo_graph *graph = NULL;
    RDO_TRY(rdo_call_begin(&call, handle, "rondo_capture_step", NULL));
    (void)rondo_stream_retain(handle);
    rondo_status status = warm_up(&call, handle, step, user);
    if (status == RONDO_OK) status = record_step(&call, handle, step, user, false, &graph);
    if (graph != NULL) *out_graph = (rondo_graph *)(uintptr_t)graph->handle;
    status = rdo_call_end(&call, status);
    rondo_stream_release(handle);
    return status;
}

/* ---- by key ---- */

typedef enum run_state { RUN_NEW, RUN_WARM, RUN_SEALED, RUN_REFUSED } run_state;

/* One key of a stream. Under the lock of the stream's queue. */
typedef struct keyed {
    struct keyed *next;
    uint64_t key;
    run_state state;
    rdo_note_list notes; /* the first run's reservations, for the second to make room */
    rdo_graph *graph;
    rondo_run_info info;
} keyed;

static keyed *find_key(const rdo_stream *stream, uint64_t key) {
    keyed *k = stream->runs;
    while (k != NULL && k->key != key) k = k->next;
    return k;
}

static void drop_key(rdo_stream *stream, keyed *k) {
    rdo_lock_take(&stream->engine->books.lock);
    if (k->graph != NULL) rdo_graph_unref(k->graph);
    rdo_lock_give(&stream->engine->books.lock);
    rdo_free(k->notes.data);
    rdo_free(k);
}

static void drop_keys(rdo_stream *stream) {
    while (stream->runs != NULL) {
        keyed *k = stream->runs;
        stream->runs = k->next;
        drop_key(stream, k);
    }
}

static keyed *make_key(rdo_stream *stream, uint64_t key) {
    keyed *k = rdo_alloc_zero(1, sizeof *k);
    if (k == NULL) return NULL;
    k->key = key;
    k->next = stream->runs;
    stream->runs = k;
    stream->drop_runs = drop_keys;
    return k;
}

/* First call: the step runs; what it reserves is noted, so that the second call finds room for it. */
static rondo_status first_run(rdo_call *call, rondo_stream *handle, uint64_t key, rondo_step_fn step, void *user) {
    rdo_window *window = &call->queue->window;
    bool noting = !rdo_window_is_active(window);
    if (noting) (void)rdo_capture_prepare(call); /* nothing that it could refuse for is under way */
    uint64_t id = window->id;
    rondo_status status = run_step(call, handle, step, user);
    keyed *k = find_key(call->stream, key);
    if (k != NULL) {
        k->info.last_mode = RONDO_RUN_EAGER;
        k->info.eager++;
    }
    if (!noting || window->id != id || !rdo_window_is_prepared(window)) return status;
    if (k != NULL && status == RONDO_OK && !window->notes_lost) {
        k->notes = window->notes;
        window->notes = (rdo_note_list){0};
        k->state = RUN_WARM;
    }
    rdo_capture_leave(call->queue, RONDO_OK);
    return status;
}

/* Sealing failed: the step runs all the same, and nobody can overlook that. */
static rondo_status fall_back(rdo_call *call, rondo_stream *handle, uint64_t key, rondo_step_fn step, void *user,
                              rondo_status reason) {
    char text[RONDO_MESSAGE_MAX];
    rdo_count(&call->engine->counters.run_fallbacks);
    keyed *k = find_key(call->stream, key);
    if (k != NULL) {
        k->info.last_mode = RONDO_RUN_FALLBACK;
        k->info.fallbacks++;
        if (reason != RONDO_OK) k->info.fallback_reason = reason;
        reason = k->info.fallback_reason;
    }
    rdo_text line = rdo_text_in(text, sizeof text);
    rdo_text_add(&line, "rondo_run: key %llu of stream %llu runs eagerly: sealing failed with %s #%llu",
                 (unsigned long long)key, (unsigned long long)call->stream->id,
                 rondo_code_name(rondo_status_code(reason)), (unsigned long long)rondo_status_number(reason));
    rdo_lock_give(&call->queue->lock);
    rdo_log(RONDO_LOG_WARNING, RONDO_LOG_ITEM_FALLBACK, reason, text);
    rdo_lock_take(&call->queue->lock);
    return run_step(call, handle, step, user);
}

/* Replays a graph that this call holds like any other replay. */
static rondo_status replay(rdo_call *call, rdo_graph *graph) {
    rdo_lock_take(&call->engine->books.lock);
    graph->uses++;
    rdo_lock_give(&call->engine->books.lock);
    rondo_status status = rdo_graph_play(call, graph);
    rdo_graph_drop(graph);
    return status;
}

/* Second call: recorded, sealed and replayed once. */
static rondo_status captured_run(rdo_call *call, rondo_stream *handle, uint64_t key, rondo_step_fn step, void *user) {
    rdo_window *window = &call->queue->window;
    rdo_graph *graph = NULL;
    keyed *k = find_key(call->stream, key);
    rondo_status status = rdo_capture_prepare(call);
    /* Somebody else captures on this queue: that passes, so the key stays as it is. */
    if (status != RONDO_OK) return fall_back(call, handle, key, step, user, status);
    rdo_free(window->notes.data);
    window->notes = k->notes;
    k->notes = (rdo_note_list){0};
    status = record_step(call, handle, step, user, true, &graph);
    k = find_key(call->stream, key);
    if (graph == NULL) {
        if (k != NULL) k->state = RUN_REFUSED;
        return fall_back(call, handle, key, step, user, status);
    }
    status = replay(call, graph);
    if (k == NULL) { /* forgotten meanwhile */
        rdo_lock_take(&call->engine->books.lock);
        rdo_graph_unref(graph);
        rdo_lock_give(&call->engine->books.lock);
        return status;
    }
    k->graph = graph;
    k->state = RUN_SEALED;
    k->info.last_mode = RONDO_RUN_CAPTURED;
    k->info.captured++;
    return status;
}

static rondo_status run_key(rdo_call *call, rondo_stream *handle, keyed *k, rondo_step_fn step, void *user) {
    switch (k->state) {
    case RUN_NEW: return first_run(call, handle, k->key, step, user);
    case RUN_WARM: return captured_run(call, handle, k->key, step, user);
    case RUN_SEALED:
        k->info.last_mode = RONDO_RUN_REPLAYED;
        k->info.replayed++;
        return replay(call, k->graph);
    default: return fall_back(call, handle, k->key, step, user, RONDO_OK);
    }
}

rondo_status rdo_run(rondo_stream *handle, uint64_t key, rondo_step_fn step, void *user, rondo_run_info *out_info) {
    rdo_call call;
    RDO_TRY(rdo_call_begin(&call, handle, "rondo_run", NULL));
    (void)rondo_stream_retain(handle);
    rondo_status status;
    keyed *k = find_key(call.stream, key);
    if (rdo_call_owns(&call)) {
        status = rdo_fault_raise(&call.where, RONDO_STATE, "the stream is capturing; call the step itself instead");
    } else if (k == NULL && (k = make_key(call.stream, key)) == NULL) {
        status = rdo_fault_raise(&call.where, RONDO_NO_HOST_MEMORY, "no memory for the key");
    } else {
        status = run_key(&call, handle, k, step, user);
        k = find_key(call.stream, key);
    }
    if (k != NULL && out_info != NULL) *out_info = k->info;
    status = rdo_call_end(&call, status);
    rondo_stream_release(handle);
    return status;
}

rondo_status rdo_run_forget(rondo_stream *handle, uint64_t key) {
    rdo_call call;
    RDO_TRY(rdo_call_begin(&call, handle, "rondo_run_forget", NULL));
    keyed *k = find_key(call.stream, key), *before = call.stream->runs;
    if (k != NULL && k == before) {
        call.stream->runs = k->next;
    } else if (k != NULL) {
        while (before->next != k) before = before->next;
        before->next = k->next;
    }
    if (k != NULL) drop_key(call.stream, k);
    return rdo_call_end(&call, RONDO_OK);
}
