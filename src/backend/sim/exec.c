#include <stdio.h>
#include <string.h>

#include "parts.h"

/* ---- bytes ---- */

static rondo_place row_of(rondo_place place, uint64_t row, uint64_t pitch_bytes) {
    place.offset_bytes += row * pitch_bytes;
    return place;
}

static void fill_row(rondo_place target, const rondo_backend_op *op) {
    uint8_t *bytes = rdo_sim_address(target);
    for (uint64_t i = 0; i < op->size_bytes; i++) bytes[i] = op->pattern[i % op->pattern_bytes];
    rdo_sim_mark_written(target, op->size_bytes);
}

static void move_row(rondo_place target, rondo_place source, const rondo_backend_op *op, uint64_t row) {
    size_t size = (size_t)op->size_bytes;
    switch (op->kind) {
    case RONDO_OP_WRITE:
        memcpy(rdo_sim_address(target), (const uint8_t *)op->host + row * op->source_pitch_bytes, size);
        rdo_sim_mark_written(target, op->size_bytes);
        break;
    case RONDO_OP_READ:
        memcpy((uint8_t *)op->host + row * op->target_pitch_bytes, rdo_sim_address(source), size);
        rdo_sim_count_fresh(rdo_sim_fresh_bytes(source, op->size_bytes));
        break;
    default:
        rdo_sim_mark_copied(target, source, op->size_bytes);
        memmove(rdo_sim_address(target), rdo_sim_address(source), size);
        break;
    }
}

static void run_transfer(const rondo_backend_op *op) {
    for (uint64_t row = 0; row < op->rows; row++) {
        rondo_place target = row_of(op->target, row, op->target_pitch_bytes);
        if (op->kind == RONDO_OP_FILL) {
            fill_row(target, op);
        } else {
            move_row(target, row_of(op->source, row, op->source_pitch_bytes), op, row);
        }
    }
}

/* ---- work ---- */

static uint64_t groups_along(uint64_t grid, uint64_t group) {
    return grid / group + (grid % group != 0);
}

static uint32_t run_launch(const rondo_backend_op *op) {
    const struct rdo_sim_kernel *kernel = op->kernel;
    void *args[RONDO_MAX_PARAMS];
    uint32_t failed = 0;
    for (uint32_t i = 0; i < op->arg_count; i++) {
        const void *value = op->values != NULL ? op->values[i] : NULL;
        args[i] = value != NULL ? (void *)(uintptr_t)value : rdo_sim_address(op->places[i]);
    }
    rondo_native_call call = {.args = args, .grid = {op->grid.x, op->grid.y, op->grid.z}, .failed = &failed};
    call.last = op->grid.x * op->grid.y * op->grid.z; /* the core has seen that it fits */
    if (kernel->group[0] != 0) {
        call.last = groups_along(op->grid.x, kernel->group[0]) * groups_along(op->grid.y, kernel->group[1]) *
                    groups_along(op->grid.z, kernel->group[2]);
    }
    kernel->native(&call);
    return failed;
}

static rondo_backend_result end_badly(rondo_backend_result result, uint32_t reason, const char *message,
                                      rondo_backend_outcome *outcome) {
    outcome->node = 0;
    outcome->reason = reason;
    (void)snprintf(outcome->message, sizeof outcome->message, "%s", message);
    return result;
}

rondo_backend_result rdo_sim_run(const rondo_backend_op *op, rondo_backend_outcome *outcome) {
    uint32_t reason = 0;
    switch (op->kind) {
    case RONDO_OP_LAUNCH: reason = run_launch(op); break;
    case RONDO_OP_HOST: reason = (uint32_t)op->host_fn(op->host_user); break;
    case RONDO_OP_FILL:
    case RONDO_OP_COPY:
    case RONDO_OP_WRITE:
    case RONDO_OP_READ: run_transfer(op); break;
    default: return end_badly(RONDO_BACKEND_NOT_RUN, 0, "the operation is of an unknown kind", outcome);
    }
    return reason == 0 ? RONDO_BACKEND_DONE : end_badly(RONDO_BACKEND_FAILED, reason, "", outcome);
}

rondo_backend_result rdo_sim_submit(void *queue, const rondo_backend_op *op, rondo_backend_outcome *outcome) {
    rondo_sim_fault fault;
    (void)queue;
    if (!rdo_sim_strikes(RONDO_SIM_SUBMIT, &fault)) return rdo_sim_run(op, outcome);
    if (fault.result == RONDO_BACKEND_FAILED) (void)rdo_sim_run(op, outcome);
    return rdo_sim_stop(&fault, outcome);
}
