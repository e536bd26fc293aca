#include "stream/submit.h"

#include <string.h>

#include "base/check.h"
#include "op/args.h"
#include "stream/pending.h"
#include "stream/stream.h"

/* Calls `visit` for each row of bytes of an access. */
static void for_rows(const rdo_access *access,
                     void (*visit)(rdo_memory *memory, uint64_t low, uint64_t high, uint64_t x), uint64_t x) {
    for (uint64_t row = 0; access->row_bytes != 0 && row < access->rows; row++) {
        uint64_t low = access->low + row * access->pitch;
        visit(access->memory, low, low + access->row_bytes, x);
    }
}

static void claim_row(rdo_memory *memory, uint64_t low, uint64_t high, uint64_t failure) {
    rdo_memory_claim(memory, low, high, failure, 0);
}

static void release_row(rdo_memory *memory, uint64_t low, uint64_t high, uint64_t unused) {
    (void)unused;
    rdo_memory_unclaim(memory, low, high);
}

void rdo_claim_writes(const rdo_op *op, uint64_t failure) {
    for (uint32_t i = 0; i < op->access_count; i++) {
        const rdo_access *access = &op->accesses[i];
        if (!rdo_access_writes(access) || access->memory->id != access->id) continue;
        for_rows(access, claim_row, failure);
    }
}

void rdo_release_writes(const rdo_op *op) {
    for (uint32_t i = 0; i < op->access_count; i++) {
        const rdo_access *access = &op->accesses[i];
        if (rdo_access_writes(access)) for_rows(access, release_row, 0);
    }
}

bool rdo_prepare_writes(const rdo_op *op) {
    size_t rows = 0; /* of all accesses so far: several may lie on one allocation */
    for (uint32_t i = 0; i < op->access_count; i++) {
        const rdo_access *access = &op->accesses[i];
        if (!rdo_access_writes(access)) continue;
        rows += access->rows;
        if (!rdo_claims_prepare(&access->memory->claims, rows)) return false;
    }
    return true;
}

bool rdo_find_claimed_input(const rdo_op *op, rdo_bytes *out_bytes, uint64_t *out_failure) {
    for (uint32_t i = 0; i < op->access_count; i++) {
        const rdo_access *access = &op->accesses[i];
        if (!rdo_access_reads(access) || !rdo_claims_any(&access->memory->claims)) continue;
        for (uint64_t row = 0; access->row_bytes != 0 && row < access->rows; row++) {
            uint64_t low = access->low + row * access->pitch, high = low + access->row_bytes;
            const rdo_range *claim = rdo_claims_find(&access->memory->claims, low, high);
            if (claim == NULL) continue;
            *out_bytes = (rdo_bytes){access->id, low, high};
            *out_failure = claim->value;
            return true;
        }
    }
    return false;
}

void rdo_skip(rdo_engine *engine, const rdo_op *op, const rdo_where *where, const rdo_bytes *needed, uint64_t failure,
              bool claim) {
    rdo_bytes produced[RDO_MAX_ACCESSES];
    size_t count = 0;
    for (uint32_t i = 0; i < op->access_count; i++) {
        const rdo_access *access = &op->accesses[i];
        if (!rdo_access_writes(access) || access->row_bytes == 0) continue;
        produced[count++] = (rdo_bytes){access->id, access->low, rdo_access_high(access)};
    }
    rdo_fault_skipped(failure, where, needed, produced, count);
    if (claim) rdo_claim_writes(op, failure);
    rdo_count(&engine->counters.skipped);
}

rondo_status rdo_backend_status(const rdo_where *where, rondo_backend_result result,
                                const rondo_backend_outcome *outcome) {
    const char *words = outcome->message[0] != '\0' ? outcome->message : "no reason was given";
    switch (result) {
    case RONDO_BACKEND_DONE: return RONDO_OK;
    case RONDO_BACKEND_NO_MEMORY: return rdo_fault_raise(where, RONDO_NO_HOST_MEMORY, "the backend has no host memory");
    case RONDO_BACKEND_DEVICE_FULL: return rdo_fault_raise(where, RONDO_NO_DEVICE_MEMORY, "the device is full");
    case RONDO_BACKEND_TOO_BIG: return rdo_fault_raise(where, RONDO_RANGE, "no page of the device is that large");
    case RONDO_BACKEND_NO_SUPPORT: return rdo_fault_raise(where, RONDO_UNSUPPORTED, "the backend refuses: %s", words);
    case RONDO_BACKEND_DEVICE_LOST: return rdo_fault_raise(where, RONDO_LOST, "the device is lost: %s", words);
    default: return rdo_fault_raise(where, RONDO_BACKEND, "the backend did not run it: %s", words);
    }
}

rondo_status rdo_work_failed(rdo_engine *engine, const rdo_where *where, const rdo_op *op,
                             const rondo_backend_outcome *outcome) {
    rdo_count(&engine->counters.failures);
    const char *words = outcome->message;
    return rdo_fault_raise(where, RONDO_KERNEL, "the %s reported failure %u while it ran%s%s",
                           op->kind == RONDO_NODE_HOST_CALL ? "host call" : "kernel", outcome->reason,
                           words[0] != '\0' ? ": " : "", words);
}

/* A measurement under way says the first failure that came in between. */
static void spoil_measurement(rdo_stream *stream, rondo_status failure) {
    if (stream->profile_failed == RONDO_OK) stream->profile_failed = failure;
}

void rdo_stream_failed(rdo_stream *stream, rondo_status failure) {
    if (stream->first_failure == RONDO_OK) stream->first_failure = failure;
    spoil_measurement(stream, failure);
}

void rdo_await_queued_slowly(rdo_engine *engine, const rdo_op *op) {
    for (uint32_t i = 0; i < op->access_count; i++) {
        if (op->accesses[i].row_bytes == 0) continue;
        rdo_extent bytes = rdo_access_extent(&op->accesses[i]);
        while (rdo_order_is_queued(&engine->order, &bytes, 1)) rdo_order_wait_change(&engine->order, &engine->books);
    }
}

rondo_status rdo_refuse(rdo_call *call, const rdo_op *op, rondo_status status) {
    rdo_window *window = &call->queue->window;
    bool recording = rdo_call_records(call);
    rdo_queue_drain(call->queue);
    rdo_window_fail(recording ? window : &(rdo_window){0}, status);
    spoil_measurement(call->stream, status);
    if (recording && window->defer_claims) return status;
    if (rdo_op_is_nothing(op)) return status; /* it would have written nothing [W5] */
    rdo_lock_take(&call->engine->books.lock);
    rdo_await_queued(call->engine, op);
    rdo_claim_writes(op, rondo_status_number(status));
    rdo_lock_give(&call->engine->books.lock);
    return status;
}

/* Device lock held: the same for work that is played, whose turn it is: no window, and nothing to wait for. */
static rondo_status refuse_in_turn(rdo_call *call, const rdo_op *op, rondo_status status) {
    spoil_measurement(call->stream, status);
    rdo_claim_writes(op, rondo_status_number(status));
    return status;
}

/* Runs a resolved op on the caller's thread; kernels and host calls from here on may not call Rondo. */
static rondo_backend_result run(rdo_queue *queue, const rondo_backend_op *op, rondo_backend_outcome *outcome) {
    rdo_this_thread.work_depth++;
    rondo_backend_result result = queue->engine->books.backend->submit(queue->backend_queue, op, outcome);
    rdo_this_thread.work_depth--;
    return result;
}

static void complete_event(rdo_event *event) {
    event->recorded = event->completed = true;
    event->window = 0;
    event->time_ns = rdo_clock_ns();
}

static rondo_backend_result resolve_and_run(rdo_call *call, const rdo_op *op, rondo_backend_outcome *outcome) {
    union {
        rdo_host_frame frame;
        char room[sizeof(rdo_host_frame) + RDO_MAX_ACCESSES * sizeof(rondo_host_access)];
    } host;
    rondo_place places[RONDO_MAX_PARAMS];
    rondo_backend_op resolved;
    outcome->message[0] = '\0';
    if (op->kind == RONDO_NODE_HOST_CALL) rdo_op_fill_frame(op, &host.frame);
    rdo_op_resolve(op, &resolved, places, &host.frame);
    return run(call->queue, &resolved, outcome);
}

static void count_played(rdo_queue *queue, const rdo_op *op) {
    switch (op->kind) {
    case RONDO_NODE_LAUNCH: rdo_count_own(&queue->launches); break;
    case RONDO_NODE_HOST_CALL: rdo_count_own(&queue->host_calls); break;
    default: rdo_count_own(&queue->transfers); break;
    }
}

rondo_status rdo_finish_played(rdo_call *call, const rdo_op *op, rondo_backend_result result,
                               const rondo_backend_outcome *outcome) {
    count_played(call->queue, op);
    if (RDO_LIKELY(result == RONDO_BACKEND_DONE)) return RONDO_OK;
    rondo_status status = RONDO_OK;
    rdo_lock_take(&call->engine->books.lock);
    if (result != RONDO_BACKEND_FAILED) {
        status = refuse_in_turn(call, op, rdo_backend_status(&call->where, result, outcome));
    } else {
        /* Work that failed while it ran: the launch itself succeeded, reads and sync will tell [W7]. */
        rondo_status failure = rdo_work_failed(call->engine, &call->where, op, outcome);
        rdo_stream_failed(call->stream, failure);
        rdo_claim_writes(op, rondo_status_number(failure));
    }
    rdo_lock_give(&call->engine->books.lock);
    return status;
}

/* Host calls never count: one may wait for work of another stream, which a fast operation would hold up wholesale. */
static bool all_at_home(const rdo_op *op, const rdo_store *own) {
    if (op->kind == RONDO_NODE_HOST_CALL) return false;
    for (uint32_t i = 0; i < op->access_count; i++) {
        if (rdo_access_home(&op->accesses[i]) != own) return false;
    }
    return true;
}

static void fill_entry(rdo_entry *entry, rdo_extent *reads, rdo_extent *writes, rdo_store **homes, const rdo_op *op,
                       const rdo_store *own) {
    *entry = (rdo_entry){.reads = reads, .writes = writes, .homes = homes};
    for (uint32_t i = 0; i < op->access_count; i++) {
        const rdo_access *access = &op->accesses[i];
        rdo_store *home = rdo_access_home(access);
        size_t h = 0;
        while (h < entry->home_count && homes[h] != home) h++;
        if (home != own && h == entry->home_count) homes[entry->home_count++] = home;
        if (access->row_bytes == 0) continue;
        if (rdo_access_writes(access)) {
            writes[entry->write_count++] = rdo_access_extent(access);
        } else {
            reads[entry->read_count++] = rdo_access_extent(access);
        }
    }
    rdo_extents_sort(reads, entry->read_count);
    rdo_extents_sort(writes, entry->write_count);
}

void rdo_op_extents_fill(rdo_op_extents *extents, const rdo_op *op, const rdo_store *own) {
    fill_entry(&extents->entry, extents->reads, extents->writes, extents->homes, op, own);
}

bool rdo_op_is_alive(const rdo_op *op) {
    for (uint32_t i = 0; i < op->access_count; i++) {
        const rdo_access *access = &op->accesses[i];
        if (atomic_load_explicit(&access->memory->slot.number, memory_order_relaxed) != access->id) return false;
    }
    return true;
}

static void count_uses(const rdo_op *op, bool begin) {
    for (uint32_t i = 0; i < op->access_count; i++) {
        rdo_memory *memory = op->accesses[i].memory;
        if (begin) {
            memory->uses++;
        } else if (--memory->uses == 0) {
            rdo_memory_settle(memory);
        }
    }
}

static rondo_status refuse_mapped(const rdo_call *call) {
    return rdo_fault_raise(&call->where, RONDO_BUSY, "a buffer that it needs is mapped; unmap it first");
}

/* Device lock held and given up: the op may run now, or is refused. On success its uses are counted and it is
 * registered. */
static rondo_status admit(rdo_call *call, rdo_op *op, rdo_op_extents *extents) {
    rdo_engine *engine = call->engine;
    if (!rdo_op_is_alive(op)) {
        return rdo_fault_raise(&call->where, RONDO_STALE, "a buffer was released during the call");
    }
    count_uses(op, true);
    rdo_op_locate(op); /* a counted use keeps relocation away */
    rdo_op_extents_fill(extents, op, &call->queue->store);
    if (rdo_order_enter(&engine->order, &engine->books, &extents->entry)) return RONDO_OK;
    count_uses(op, false);
    return refuse_mapped(call);
}

/* Device lock held: inputs good, and releasing the outputs cannot fail? */
static rondo_status check_claims(rdo_call *call, const rdo_op *op) {
    rdo_bytes needed;
    uint64_t failure;
    if (atomic_load(&call->engine->books.claimed) == 0) return RONDO_OK;
    if (rdo_find_claimed_input(op, &needed, &failure)) {
        rdo_skip(call->engine, op, &call->where, &needed, failure, true);
        rondo_status status = rdo_status_of(RONDO_TAINTED, failure);
        spoil_measurement(call->stream, status);
        return status;
    }
    if (rdo_prepare_writes(op)) return RONDO_OK;
    rondo_status status = rdo_fault_raise(&call->where, RONDO_NO_HOST_MEMORY, "no memory to release old claims");
    rdo_claim_writes(op, rondo_status_number(status));
    return status;
}

/* Device lock held and given back: plays an op whose uses are counted and whose turn among the registered has come. */
static rondo_status play_in_turn(rdo_call *call, const rdo_op *op, rdo_entry *entry) {
    rondo_backend_outcome outcome;
    rdo_engine *engine = call->engine;
    rondo_status status = check_claims(call, op);
    rdo_lock_give(&engine->books.lock);
    rondo_backend_result result = RONDO_BACKEND_DONE;
    if (status == RONDO_OK) {
        result = resolve_and_run(call, op, &outcome);
        status = rdo_finish_played(call, op, result, &outcome);
    }
    rdo_lock_take(&engine->books.lock);
    /* Released here, before the op leaves, so that whoever waited for it sees the bytes as good. */
    if (status == RONDO_OK && result == RONDO_BACKEND_DONE) rdo_release_writes(op);
    rdo_order_leave(&engine->order, &engine->books, entry);
    count_uses(op, false);
    rdo_lock_give(&engine->books.lock);
    return status;
}

/* Plays an op that meets other queues, mappings or claims. */
static rondo_status play_slow(rdo_call *call, rdo_op *op) {
    rdo_op_extents extents;
    rdo_lock_take(&call->engine->books.lock);
    rondo_status status = admit(call, op, &extents);
    if (status == RONDO_OK) return play_in_turn(call, op, &extents.entry);
    rdo_lock_give(&call->engine->books.lock);
    return rdo_refuse(call, op, status);
}

static rondo_status play(rdo_call *call, rdo_op *op) {
    rondo_backend_outcome outcome;
    rdo_store *own = &call->queue->store;
    rdo_order *order = &call->engine->order;
    if (RDO_LIKELY(all_at_home(op, own))) {
        /* Claims are asked for only once no other queue can be placing one on memory of this one. */
        if (RDO_LIKELY(rdo_order_enter_fast(own) && atomic_load(&call->engine->books.claimed) == 0)) {
            rondo_backend_result result = resolve_and_run(call, op, &outcome);
            rondo_status status = rdo_finish_played(call, op, result, &outcome);
            rdo_order_leave_fast(order, own);
            return status;
        }
        rdo_order_leave_fast(order, own);
    }
    return play_slow(call, op);
}

/* ---- leaving it to the queue's worker ---- */

/* In the item's arena, as all that it points to. */
typedef struct pending_op {
    rdo_op *op;
    rdo_extent *reads, *writes;
    rdo_store **homes;
} pending_op;

static rondo_status play_pending(rdo_call *call, rdo_item *item) {
    const rdo_op *op = ((pending_op *)item->work)->op;
    rdo_engine *engine = call->engine;
    rdo_lock_take(&engine->books.lock);
    if (rdo_order_await(&engine->order, &engine->books, &item->entry)) return play_in_turn(call, op, &item->entry);
    rondo_status status = refuse_in_turn(call, op, refuse_mapped(call));
    count_uses(op, false);
    rdo_lock_give(&engine->books.lock);
    return status;
}

static void drop_pending(rdo_engine *engine, rdo_item *item) {
    const rdo_op *op = ((pending_op *)item->work)->op;
    if (op->kind == RONDO_NODE_LAUNCH) rdo_kernel_unref(engine, op->kernel);
}

/* Copies the op and the bytes that its caller may change from now on. */
static rdo_op *copy_op(rdo_arena *arena, const rdo_op *op) {
    rdo_op *copy = rdo_op_copy(arena, op);
    if (copy == NULL) return NULL;
    if (op->kind == RONDO_NODE_WRITE) {
        copy->bytes = rdo_arena_copy(arena, op->bytes, (size_t)op->accesses[0].row_bytes);
        return copy->bytes != NULL ? copy : NULL;
    }
    for (uint32_t i = 0; op->kind == RONDO_NODE_LAUNCH && i < op->kernel->param_count; i++) {
        if (op->values[i] == NULL) continue;
        copy->values[i] = rdo_arena_copy(arena, op->values[i], op->kernel->params[i].size_bytes);
        if (copy->values[i] == NULL) return NULL;
    }
    return copy;
}

static pending_op *new_pending(rdo_arena *arena, const rdo_op *op) {
    pending_op *pending = rdo_arena_take(arena, sizeof *pending);
    if (pending == NULL) return NULL;
    pending->op = copy_op(arena, op);
    pending->reads = rdo_arena_take(arena, op->access_count * sizeof *pending->reads);
    pending->writes = rdo_arena_take(arena, op->access_count * sizeof *pending->writes);
    pending->homes = rdo_arena_take(arena, op->access_count * sizeof(rdo_store *));
    bool whole = pending->op != NULL && pending->reads != NULL && pending->writes != NULL && pending->homes != NULL;
    return whole ? pending : NULL;
}

/* Device lock held: whether an input is spoiled for good, as far as all that was issued so far is concerned. */
static bool is_tainted_already(rdo_engine *engine, const rdo_op *op) {
    if (atomic_load(&engine->books.claimed) == 0) return false;
    for (uint32_t i = 0; i < op->access_count; i++) {
        rdo_op one = {.accesses = &op->accesses[i], .access_count = 1};
        rdo_bytes needed;
        uint64_t failure;
        if (!rdo_find_claimed_input(&one, &needed, &failure)) continue;
        uint64_t base = op->accesses[i].memory->address;
        rdo_extent bytes = {base + needed.low, base + needed.high};
        if (!rdo_order_is_busy(&engine->order, bytes)) return true;
    }
    return false;
}

static bool place_pending(rdo_call *call, rdo_item *item, void *what) {
    rdo_engine *engine = call->engine;
    pending_op *pending = new_pending(&item->arena, what);
    if (pending == NULL || !rdo_op_is_alive(pending->op) || is_tainted_already(engine, pending->op)) return false;
    rdo_op *op = pending->op;
    rdo_op_locate(op); /* counted uses, below, keep it there */
    fill_entry(&item->entry, pending->reads, pending->writes, pending->homes, op, &call->queue->store);
    item->entry.queued = true;
    if (!rdo_order_register(&engine->order, &item->entry)) return false;
    count_uses(op, true);
    if (op->kind == RONDO_NODE_LAUNCH) op->kernel->refs++;
    item->where.label = op->label;
    item->work = pending;
    return true;
}

static const rdo_handover handover = {place_pending, play_pending, drop_pending};

static rondo_status play_event(rdo_call *call, const rdo_op *op) {
    rondo_status status = RONDO_OK;
    rdo_lock_take(&call->engine->books.lock);
    if (op->kind == RONDO_NODE_EVENT_RECORD) {
        complete_event(op->event);
    } else if (!op->event->recorded) {
        status = rdo_fault_raise(&call->where, RONDO_STATE, "the event was never recorded");
    } else if (op->event->window != 0 && !op->event->completed) {
        /* To wait would be for ever, and to go on at once is what the caller wants to rule out. */
        status = rdo_fault_raise(&call->where, RONDO_NOT_READY,
                                 "the event was recorded in a window, and no replay of its graph has completed it");
    }
    rdo_lock_give(&call->engine->books.lock);
    return status;
}

rondo_status rdo_issue(rdo_call *call, rdo_op *op) {
    if (RDO_UNLIKELY(rdo_window_is_recording(&call->queue->window))) {
        rondo_status refused = rdo_call_check_window(call, false);
        if (refused != RONDO_OK) return rdo_refuse(call, op, refused);
        return rdo_record(call, op, false);
    }
    if (RDO_UNLIKELY(rdo_op_is_nothing(op))) return RONDO_OK;
    if (RDO_UNLIKELY(call->queue->pending != NULL)) {
        bool can_wait = !rdo_op_is_event(op) && op->kind != RONDO_NODE_HOST_CALL;
        if (can_wait && rdo_pending_hand_over(call, &handover, op)) return RONDO_OK;
        rdo_pending_drain(call->queue->pending);
    }
    return RDO_UNLIKELY(rdo_op_is_event(op)) ? play_event(call, op) : play(call, op);
}
