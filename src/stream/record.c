/* Keeping an operation in the window. Nothing runs and no claim changes [C15]. */
#include <string.h>

#include "base/alloc.h"
#include "base/check.h"
#include "stream/submit.h"

/* Takes off `left` what op writes of `memory_id`. */
static bool subtract_writes(rdo_ranges *left, const rdo_op *op, uint64_t memory_id) {
    for (uint32_t i = 0; i < op->access_count; i++) {
        const rdo_access *access = &op->accesses[i];
        if (!rdo_access_writes(access) || access->id != memory_id || access->row_bytes == 0) continue;
        for (uint64_t row = 0; row < access->rows; row++) {
            uint64_t low = access->low + row * access->pitch;
            if (!rdo_ranges_remove(left, low, low + access->row_bytes)) return false;
        }
    }
    return true;
}

/* Whether some claimed byte of [low, high) is not written earlier in the window. Without memory to tell, the
 * answer is the safe one. */
static bool claim_stands(const rdo_window *window, const rdo_memory *memory, uint64_t low, uint64_t high,
                         uint64_t *out_failure) {
    rdo_ranges left = {0};
    const rdo_range *claim = rdo_claims_find(&memory->claims, low, high);
    bool known = true;
    if (claim == NULL) return false;
    *out_failure = claim->value;
    const rdo_range *all = rdo_ranges_data(&memory->claims.ranges);
    for (size_t i = 0; i < memory->claims.ranges.count && known; i++) {
        uint64_t from = all[i].low > low ? all[i].low : low, to = all[i].high < high ? all[i].high : high;
        if (from < to) known = rdo_ranges_set(&left, from, to, all[i].value, 0);
    }
    for (size_t i = 0; i < window->ops.count && known; i++) {
        known = subtract_writes(&left, window->ops.data[i], memory->id);
    }
    bool stands = !known || left.count != 0;
    if (known && left.count != 0) *out_failure = rdo_ranges_data(&left)[0].value;
    rdo_ranges_finish(&left);
    return stands;
}

/* Device lock held: the first input of the op whose claim no earlier op of the window overwrites [C15]. */
static bool find_standing_claim(const rdo_window *window, const rdo_op *op, rdo_bytes *out_bytes,
                                uint64_t *out_failure) {
    for (uint32_t i = 0; i < op->access_count; i++) {
        const rdo_access *access = &op->accesses[i];
        if (!rdo_access_reads(access) || access->row_bytes == 0 || access->memory->id != access->id) continue;
        for (uint64_t row = 0; row < access->rows; row++) {
            uint64_t low = access->low + row * access->pitch;
            if (!claim_stands(window, access->memory, low, low + access->row_bytes, out_failure)) continue;
            *out_bytes = (rdo_bytes){access->id, low, low + access->row_bytes};
            return true;
        }
    }
    return false;
}

/* Device lock held: RONDO_OK, or the op is skipped, which dooms the window. */
static rondo_status check_inputs(rdo_call *call, const rdo_op *op) {
    rdo_window *window = &call->queue->window;
    rdo_bytes needed;
    uint64_t failure;
    if (atomic_load(&call->engine->books.claimed) == 0) return RONDO_OK;
    if (!find_standing_claim(window, op, &needed, &failure)) return RONDO_OK;
    rdo_skip(call->engine, op, &call->where, &needed, failure, !window->defer_claims);
    rondo_status status = rdo_status_of(RONDO_TAINTED, failure);
    rdo_window_fail(window, status);
    return status;
}

/* Whether the block has the values where this launch would have them. */
static bool holds_values(const rdo_meta_block *block, const rdo_op *op) {
    const rdo_kernel *kernel = op->kernel;
    const uint8_t *at = block->bytes;
    if (block->size_bytes != kernel->values_bytes) return false;
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        if (op->values[i] == NULL) continue;
        if (!rdo_value_is_same(at, op->values[i], kernel->params[i].size_bytes)) return false;
        at += rdo_param_room(&kernel->params[i]);
    }
    return true;
}

static rdo_meta_block *intern_values(rdo_engine *engine, rdo_window *window, const rdo_op *op) {
    uint8_t packed[RONDO_MAX_PARAMS * 64], *room = packed;
    size_t bytes = op->kernel->values_bytes;
    if (bytes > sizeof packed) room = rdo_arena_take(&window->arena, bytes);
    if (room == NULL) return NULL;
    memset(room, 0, bytes);
    uint8_t *at = room;
    for (uint32_t i = 0; i < op->kernel->param_count; i++) {
        if (op->values[i] == NULL) continue;
        memcpy(at, op->values[i], op->kernel->params[i].size_bytes);
        at += rdo_param_room(&op->kernel->params[i]);
    }
    return rdo_meta_intern(&engine->meta, RDO_META_CAPTURE, room, bytes, &window->pins);
}

/* Device lock held: one block for all values of a launch, shared by all launches with the same values [M8]. */
static bool keep_values(rdo_engine *engine, rdo_window *window, rdo_op *op) {
    if (op->kernel->values_bytes == 0) return true;
    rdo_meta_block *block = rdo_window_last_pin(window);
    if (block == NULL || !holds_values(block, op)) block = intern_values(engine, window, op);
    if (block == NULL) return false;
    uint8_t *at = block->bytes;
    for (uint32_t i = 0; i < op->kernel->param_count; i++) {
        if (op->values[i] == NULL) continue;
        op->values[i] = at;
        at += rdo_param_room(&op->kernel->params[i]);
    }
    return true;
}

/* Device lock held: everything that the op names stays in place from now on. */
static bool hold_memory(rdo_window *window, const rdo_op *op) {
    for (uint32_t i = 0; i < op->access_count; i++) {
        const rdo_access *access = &op->accesses[i];
        if (!rdo_window_touch_memory(window, access)) return false;
        if (!rdo_access_writes(access) || access->row_bytes == 0) continue;
        /* A temporary of an appended graph: its record may stand for a stranger by now, who must not be claimed. */
        if (access->memory->id != access->id) continue;
        for (uint64_t row = 0; row < access->rows; row++) {
            uint64_t low = access->low + row * access->pitch;
            if (!rdo_window_record(window, access->memory, low, low + access->row_bytes)) return false;
        }
    }
    return true;
}

/* Device lock held: what the op is about stays as long as the window, and then the graph. */
static bool hold_object(rdo_window *window, rdo_op *op) {
    rdo_op_list *holders = &window->holders;
    bool has_object = op->kind == RONDO_NODE_LAUNCH || op->kind == RONDO_NODE_HOST_CALL || rdo_op_is_event(op);
    if (!has_object) return true;
    if (op->kind == RONDO_NODE_LAUNCH && *rdo_window_known_kernel(window, op->kernel) == op->kernel) return true;
    if (!rdo_grow(&holders->data, &holders->capacity, holders->count + 1, sizeof(rdo_op *))) return false;
    holders->data[holders->count++] = op;
    if (op->kind == RONDO_NODE_LAUNCH) {
        op->kernel->refs++;
        *rdo_window_known_kernel(window, op->kernel) = op->kernel;
    } else if (op->kind == RONDO_NODE_HOST_CALL) {
        op->host->refs++;
    } else {
        op->event->refs++;
    }
    return true;
}

/* Device lock held: all or nothing, but for guards and keys of an op that then is not kept, which do no harm. */
static bool keep(rdo_call *call, rdo_op *op) {
    rdo_window *window = &call->queue->window;
    if (!rdo_grow(&window->ops.data, &window->ops.capacity, window->ops.count + 1, sizeof(rdo_op *))) return false;
    if (op->kind == RONDO_NODE_LAUNCH && !keep_values(call->engine, window, op)) return false;
    if (!hold_memory(window, op) || !hold_object(window, op)) return false;
    window->ops.data[window->ops.count++] = op;
    return true;
}

static rondo_status keep_event(rdo_call *call, const rdo_op *op) {
    rdo_window *window = &call->queue->window;
    if (op->kind == RONDO_NODE_EVENT_RECORD) {
        op->event->recorded = true;
        op->event->completed = false;
        op->event->window = window->id;
        return RONDO_OK;
    }
    if (op->event->recorded && op->event->window == window->id) return RONDO_OK;
    return rdo_fault_raise(&call->where, RONDO_STATE, op->event->recorded ? "the event was not recorded in this window"
                                                                          : "the event was never recorded");
}

/* Device lock held: RONDO_OK, or why the op cannot be kept. */
static rondo_status check(rdo_call *call, rdo_op *op, bool settled) {
    if (!settled && !rdo_op_is_alive(op)) {
        return rdo_fault_raise(&call->where, RONDO_STALE, "a buffer was released during the call");
    }
    if (!settled) rdo_op_locate(op); /* nothing moves while a stream records, and keeping the op guards it */
    return rdo_op_is_event(op) ? keep_event(call, op) : RONDO_OK;
}

static rondo_status no_memory(const rdo_call *call) {
    return rdo_fault_raise(&call->where, RONDO_NO_HOST_MEMORY, "no memory to record it");
}

rondo_status rdo_refuse_to_record(rdo_call *call, const rdo_op *op) {
    return rdo_refuse(call, op, no_memory(call));
}

rondo_status rdo_record_placed(rdo_call *call, rdo_op *op, bool settled) {
    rdo_books *books = &call->engine->books;
    rdo_lock_take(&books->lock);
    rdo_await_queued(call->engine, op);
    rondo_status status = check(call, op, settled);
    if (RDO_LIKELY(status == RONDO_OK)) {
        status = check_inputs(call, op);
        if (RDO_UNLIKELY(status != RONDO_OK)) {
            rdo_lock_give(&books->lock);
            return status;
        }
        if (RDO_UNLIKELY(!keep(call, op))) status = no_memory(call);
    }
    rdo_lock_give(&books->lock);
    if (RDO_UNLIKELY(status != RONDO_OK)) return rdo_refuse(call, op, status);
    rdo_count_own(&call->queue->recorded);
    return RONDO_OK;
}

rondo_status rdo_record(rdo_call *call, const rdo_op *op, bool settled) {
    if (rdo_op_is_nothing(op)) return RONDO_OK;
    rdo_op *copy = rdo_op_copy(&call->queue->window.arena, op);
    if (copy != NULL) return rdo_record_placed(call, copy, settled);
    return rdo_refuse_to_record(call, op);
}
