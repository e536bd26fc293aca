#include <string.h>
#include "parts.h"

static bool is_buffers(const struct rdo_ocl_device *device) {
    return device->memory == RDO_OCL_BUFFERS;
}

static ocl_mem mem_of(rondo_place place) {
    return ((const struct rdo_ocl_page *)place.page)->mem;
}

static rondo_place moved(rondo_place place, uint64_t bytes) {
    return (rondo_place){place.page, place.offset_bytes + bytes};
}

/* ---- commands of the driver ---- */

static int32_t enqueue_put(struct rdo_ocl_queue *queue, rondo_place target, const void *source, uint64_t size_bytes,
                           uint32_t blocking, ocl_event *out_event) {
    return is_buffers(queue->device)
               ? rdo_ocl.clEnqueueWriteBuffer(queue->queue, mem_of(target), blocking, (size_t)target.offset_bytes,
                                              (size_t)size_bytes, source, 0, NULL, out_event)
               : rdo_ocl.clEnqueueSVMMemcpy(queue->queue, blocking, rdo_ocl_address(target), source,
                                            (size_t)size_bytes, 0, NULL, out_event);
}

static int32_t enqueue_get(struct rdo_ocl_queue *queue, void *target, rondo_place source, uint64_t size_bytes,
                           uint32_t blocking, ocl_event *out_event) {
    return is_buffers(queue->device)
               ? rdo_ocl.clEnqueueReadBuffer(queue->queue, mem_of(source), blocking, (size_t)source.offset_bytes,
                                             (size_t)size_bytes, target, 0, NULL, out_event)
               : rdo_ocl.clEnqueueSVMMemcpy(queue->queue, blocking, target, rdo_ocl_address(source),
                                            (size_t)size_bytes, 0, NULL, out_event);
}

static int32_t enqueue_copy(struct rdo_ocl_queue *queue, const rondo_backend_op *op, ocl_event *out_event) {
    return is_buffers(queue->device)
               ? rdo_ocl.clEnqueueCopyBuffer(queue->queue, mem_of(op->source), mem_of(op->target),
                                             (size_t)op->source.offset_bytes, (size_t)op->target.offset_bytes,
                                             (size_t)op->size_bytes, 0, NULL, out_event)
               : rdo_ocl.clEnqueueSVMMemcpy(queue->queue, 0, rdo_ocl_address(op->target), rdo_ocl_address(op->source),
                                            (size_t)op->size_bytes, 0, NULL, out_event);
}

static int32_t enqueue_fill(struct rdo_ocl_queue *queue, const rondo_backend_op *op, ocl_event *out_event) {
    return is_buffers(queue->device)
               ? rdo_ocl.clEnqueueFillBuffer(queue->queue, mem_of(op->target), op->pattern, op->pattern_bytes,
                                             (size_t)op->target.offset_bytes, (size_t)op->size_bytes, 0, NULL,
                                             out_event)
               : rdo_ocl.clEnqueueSVMMemFill(queue->queue, rdo_ocl_address(op->target), op->pattern,
                                             op->pattern_bytes, (size_t)op->size_bytes, 0, NULL, out_event);
}

static const char *call_of(const struct rdo_ocl_device *device, const rondo_backend_op *op) {
    bool buffers = is_buffers(device);
    switch (op->kind) {
    case RONDO_OP_FILL: return buffers ? "clEnqueueFillBuffer" : "clEnqueueSVMMemFill";
    case RONDO_OP_COPY: return buffers ? "clEnqueueCopyBuffer" : "clEnqueueSVMMemcpy";
    case RONDO_OP_WRITE: return buffers ? "clEnqueueWriteBuffer" : "clEnqueueSVMMemcpy";
    default: return buffers ? "clEnqueueReadBuffer" : "clEnqueueSVMMemcpy";
    }
}

/* Two pages never overlap, but for imported ones, which are addresses. */
static bool overlaps(const struct rdo_ocl_device *device, const rondo_backend_op *op) {
    uint64_t target = op->target.offset_bytes, source = op->source.offset_bytes;
    if (!is_buffers(device)) {
        target += (uintptr_t)op->target.page;
        source += (uintptr_t)op->source.page;
    } else if (op->target.page != op->source.page) {
        return false;
    }
    return (target > source ? target - source : source - target) < op->size_bytes;
}

static bool in_step(const struct rdo_ocl_device *device, const rondo_backend_op *op) {
    uint64_t start = op->target.offset_bytes + (is_buffers(device) ? 0 : (uintptr_t)op->target.page);
    return op->pattern_bytes != 0 && start % op->pattern_bytes == 0 && op->size_bytes % op->pattern_bytes == 0;
}

bool rdo_ocl_is_command(const struct rdo_ocl_device *device, const rondo_backend_op *op) {
    if (op->rows != 1 || op->kind == RONDO_OP_HOST) {
        return false;
    }
    return op->kind == RONDO_OP_FILL ? in_step(device, op) : op->kind != RONDO_OP_COPY || !overlaps(device, op);
}

rondo_backend_result rdo_ocl_enqueue_bytes(struct rdo_ocl_queue *queue, const rondo_backend_op *op,
                                           ocl_event *out_event, rondo_backend_outcome *outcome) {
    int32_t error = OCL_SUCCESS;
    switch (op->kind) {
    case RONDO_OP_FILL: error = enqueue_fill(queue, op, out_event); break;
    case RONDO_OP_COPY: error = enqueue_copy(queue, op, out_event); break;
    case RONDO_OP_WRITE: error = enqueue_put(queue, op->target, op->host, op->size_bytes, 0, out_event); break;
    default: error = enqueue_get(queue, op->host, op->source, op->size_bytes, 0, out_event); break;
    }
    return error == OCL_SUCCESS ? RONDO_BACKEND_DONE : rdo_ocl_failed(outcome, call_of(queue->device, op), error);
}

/* ---- by hand ---- */

rondo_backend_result rdo_ocl_put(struct rdo_ocl_queue *queue, rondo_place target, const void *source,
                                 uint64_t size_bytes, rondo_backend_outcome *outcome) {
    if (queue->device->memory == RDO_OCL_FINE) {
        memmove(rdo_ocl_address(target), source, (size_t)size_bytes);
        return RONDO_BACKEND_DONE;
    }
    int32_t error = enqueue_put(queue, target, source, size_bytes, 1, NULL);
    return error == OCL_SUCCESS ? RONDO_BACKEND_DONE : rdo_ocl_failed(outcome, "a write of the device", error);
}

rondo_backend_result rdo_ocl_get(struct rdo_ocl_queue *queue, void *target, rondo_place source, uint64_t size_bytes,
                                 rondo_backend_outcome *outcome) {
    if (queue->device->memory == RDO_OCL_FINE) {
        memmove(target, rdo_ocl_address(source), (size_t)size_bytes);
        return RONDO_BACKEND_DONE;
    }
    int32_t error = enqueue_get(queue, target, source, size_bytes, 1, NULL);
    return error == OCL_SUCCESS ? RONDO_BACKEND_DONE : rdo_ocl_failed(outcome, "a read of the device", error);
}

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static rondo_backend_result fill_row(struct rdo_ocl_queue *queue, const rondo_backend_op *op, rondo_place target,
                                     rondo_backend_outcome *outcome) {
    rondo_backend_result result = RONDO_BACKEND_DONE;
    for (uint64_t at = 0; at < op->size_bytes && result == RONDO_BACKEND_DONE; at += RDO_OCL_BOUNCE_BYTES) {
        uint64_t size_bytes = least(op->size_bytes - at, RDO_OCL_BOUNCE_BYTES);
        result = rdo_ocl_put(queue, moved(target, at), queue->bounce, size_bytes, outcome);
    }
    return result;
}

/* In pieces, from the end if the target lies behind the source: no byte is read after it was written. */
static rondo_backend_result copy_row(struct rdo_ocl_queue *queue, const rondo_backend_op *op, rondo_place target,
                                     rondo_place source, bool backwards, rondo_backend_outcome *outcome) {
    rondo_backend_result result = RONDO_BACKEND_DONE;
    if (queue->device->memory == RDO_OCL_FINE) {
        memmove(rdo_ocl_address(target), rdo_ocl_address(source), (size_t)op->size_bytes);
        return result;
    }
    for (uint64_t done = 0, size_bytes = 0; done < op->size_bytes && result == RONDO_BACKEND_DONE;
         done += size_bytes) {
        size_bytes = least(op->size_bytes - done, RDO_OCL_BOUNCE_BYTES);
        uint64_t at = backwards ? op->size_bytes - done - size_bytes : done;
        result = rdo_ocl_get(queue, queue->bounce, moved(source, at), size_bytes, outcome);
        if (result == RONDO_BACKEND_DONE) {
            result = rdo_ocl_put(queue, moved(target, at), queue->bounce, size_bytes, outcome);
        }
    }
    return result;
}

static bool target_is_behind(const rondo_backend_op *op) {
    return (uintptr_t)op->target.page + op->target.offset_bytes > (uintptr_t)op->source.page + op->source.offset_bytes;
}

static rondo_backend_result run_row(struct rdo_ocl_queue *queue, const rondo_backend_op *op, uint64_t row,
                                    rondo_backend_outcome *outcome) {
    rondo_place target = moved(op->target, row * op->target_pitch_bytes);
    rondo_place source = moved(op->source, row * op->source_pitch_bytes);
    switch (op->kind) {
    case RONDO_OP_FILL: return fill_row(queue, op, target, outcome);
    case RONDO_OP_COPY: return copy_row(queue, op, target, source, target_is_behind(op), outcome);
    case RONDO_OP_WRITE:
        return rdo_ocl_put(queue, target, (const char *)op->host + row * op->source_pitch_bytes, op->size_bytes,
                           outcome);
    default:
        return rdo_ocl_get(queue, (char *)op->host + row * op->target_pitch_bytes, source, op->size_bytes, outcome);
    }
}

static void prepare_pattern(struct rdo_ocl_queue *queue, const rondo_backend_op *op) {
    uint64_t size_bytes = least(op->size_bytes, RDO_OCL_BOUNCE_BYTES);
    for (uint64_t at = 0; at < size_bytes; at++) {
        queue->bounce[at] = op->pattern[at % op->pattern_bytes];
    }
}

/* Once a row was written, a failure is no longer one where nothing ran. A single row may have been written in part. */
static rondo_backend_result run_rows(struct rdo_ocl_queue *queue, const rondo_backend_op *op,
                                     rondo_backend_outcome *outcome) {
    bool backwards = op->kind == RONDO_OP_COPY && target_is_behind(op);
    rondo_backend_result result = RONDO_BACKEND_DONE;
    if (op->kind == RONDO_OP_FILL) {
        prepare_pattern(queue, op);
    }
    for (uint64_t step = 0; step < op->rows && result == RONDO_BACKEND_DONE; step++) {
        result = run_row(queue, op, backwards ? op->rows - 1 - step : step, outcome);
    }
    if (result != RONDO_BACKEND_DONE && (op->rows > 1 || op->size_bytes > RDO_OCL_BOUNCE_BYTES)) {
        outcome->reason = UINT32_MAX;
        result = RONDO_BACKEND_FAILED;
    }
    return result;
}

/* ---- rows as commands ---- */

static uint64_t extent(const rondo_backend_op *op, uint64_t pitch_bytes) {
    return (op->rows - 1) * pitch_bytes + op->size_bytes;
}

/* Whether every row is a command, and they may run in order without looking at each other. */
static bool is_commands(const struct rdo_ocl_device *device, const rondo_backend_op *op) {
    rondo_backend_op whole = *op;
    whole.rows = 1;
    if (op->rows > 1 && op->kind == RONDO_OP_COPY) {
        uint64_t target_bytes = extent(op, op->target_pitch_bytes), source_bytes = extent(op, op->source_pitch_bytes);
        whole.size_bytes = target_bytes > source_bytes ? target_bytes : source_bytes;
    }
    return rdo_ocl_is_command(device, &whole) &&
           (op->kind != RONDO_OP_FILL || op->rows == 1 || op->target_pitch_bytes % op->pattern_bytes == 0);
}

static rondo_backend_op row_of(const rondo_backend_op *op, uint64_t row) {
    rondo_backend_op one = *op;
    one.rows = 1;
    one.target = moved(op->target, row * op->target_pitch_bytes);
    one.source = moved(op->source, row * op->source_pitch_bytes);
    if (op->kind == RONDO_OP_WRITE) {
        one.host = (char *)op->host + row * op->source_pitch_bytes;
    } else if (op->kind == RONDO_OP_READ) {
        one.host = (char *)op->host + row * op->target_pitch_bytes;
    }
    return one;
}

/* Waits once for all rows. If one cannot be enqueued, those before it have run. */
static rondo_backend_result run_commands(struct rdo_ocl_queue *queue, const rondo_backend_op *op,
                                         rondo_backend_outcome *outcome) {
    ocl_event event = NULL;
    for (uint64_t row = 0; row < op->rows; row++) {
        rondo_backend_op one = row_of(op, row);
        rondo_backend_result result =
            rdo_ocl_enqueue_bytes(queue, &one, row + 1 == op->rows ? &event : NULL, outcome);
        if (result == RONDO_BACKEND_DONE) {
            continue;
        }
        if (row == 0) {
            return result;
        }
        outcome->reason = UINT32_MAX;
        return rdo_ocl.clFinish(queue->queue) == OCL_SUCCESS ? RONDO_BACKEND_FAILED : RONDO_BACKEND_DEVICE_LOST;
    }
    return rdo_ocl_wait(event, outcome);
}

static bool is_pattern_length(uint32_t bytes) {
    return bytes >= 1 && bytes <= 16 && (bytes & (bytes - 1)) == 0;
}

rondo_backend_result rdo_ocl_run_bytes(struct rdo_ocl_queue *queue, const rondo_backend_op *op,
                                       rondo_backend_outcome *outcome) {
    if (op->kind == RONDO_OP_FILL && !is_pattern_length(op->pattern_bytes)) {
        return rdo_ocl_refuse(outcome, RONDO_BACKEND_NOT_RUN, "a fill pattern has 1, 2, 4, 8 or 16 bytes");
    }
    if (queue->device->memory == RDO_OCL_FINE || !is_commands(queue->device, op)) {
        return run_rows(queue, op, outcome);
    }
    return run_commands(queue, op, outcome);
}
