#include <string.h>
#include "parts.h"

/* ---- the size of a launch ---- */

/* Few sizes, because drivers for processors compile a kernel once for each. */
static const size_t local_sizes[] = {2048, 256, 64, 8};

enum { GPU_LOCAL = 256, ALWAYS_WIDE = 64 };

static uint64_t times(uint64_t a, uint64_t b) {
    return a != 0 && b > UINT64_MAX / a ? UINT64_MAX : a * b;
}

static uint64_t groups_of(uint64_t items, uint64_t local) {
    return items / local + (items % local != 0);
}

/* Along x for kernels without groups: large, but not so large that some compute units have nothing to do. */
static size_t choose_local(const struct rdo_ocl_kernel *kernel, rondo_grid grid) {
    const struct rdo_ocl_device *device = kernel->device;
    size_t most = kernel->max_local < device->max_local ? kernel->max_local : device->max_local;
    if (!device->is_cpu && most > GPU_LOCAL) {
        most = GPU_LOCAL;
    }
    for (size_t i = 0; i < sizeof local_sizes / sizeof local_sizes[0]; i++) {
        size_t local = local_sizes[i];
        uint64_t groups = times(groups_of(grid.x, local), times(grid.y, grid.z));
        if (local <= most && local <= grid.x && (local <= ALWAYS_WIDE || groups >= device->compute_units)) {
            return local;
        }
    }
    return 1;
}

/* A kernel of the language stops at the edge of the grid by itself, so whole groups can be launched. A plain one
 * without groups gets exactly its grid, and the driver cuts it. */
rondo_backend_result rdo_ocl_plan_range(const struct rdo_ocl_kernel *kernel, rondo_grid grid,
                                        struct rdo_ocl_range *out_range, rondo_backend_outcome *outcome) {
    const uint64_t items[3] = {grid.x, grid.y, grid.z};
    bool grouped = kernel->group[0] != 0;
    size_t along_x = !grouped && kernel->hidden ? choose_local(kernel, grid) : 1;
    out_range->any_local = !grouped && !kernel->hidden;
    out_range->dimensions = 1;
    for (uint32_t axis = 0; axis < 3; axis++) {
        size_t local = grouped ? kernel->group[axis] : axis == 0 ? along_x : 1;
        uint64_t total = times(groups_of(items[axis], local), local);
        if (total > SIZE_MAX / 2) {
            return rdo_ocl_refuse(outcome, RONDO_BACKEND_NOT_RUN, "the grid is larger than any that OpenCL takes");
        }
        out_range->local[axis] = local;
        out_range->global[axis] = (size_t)total;
        if (total > 1) {
            out_range->dimensions = axis + 1;
        }
    }
    return RONDO_BACKEND_DONE;
}

/* ---- arguments ---- */

rondo_backend_result rdo_ocl_set_value(ocl_kernel object, uint32_t index, size_t size_bytes, const void *value,
                                       rondo_backend_outcome *outcome) {
    int32_t error = rdo_ocl.clSetKernelArg(object, index, size_bytes, value);
    if (error != OCL_SUCCESS) {
        return rdo_ocl_refuse(outcome, rdo_ocl_result(error), "the driver refuses %zu bytes as argument %u: %s (%d)",
                              size_bytes, index, rdo_ocl_error_name(error), error);
    }
    return RONDO_BACKEND_DONE;
}

rondo_backend_result rdo_ocl_set_hidden(const struct rdo_ocl_kernel *kernel, ocl_kernel object, rondo_grid grid,
                                        void *status, rondo_backend_outcome *outcome) {
    const uint64_t items[3] = {grid.x, grid.y, grid.z};
    rondo_backend_result result = RONDO_BACKEND_DONE;
    ocl_mem made;
    for (uint32_t axis = 0; axis < 3 && result == RONDO_BACKEND_DONE; axis++) {
        result = rdo_ocl_set_value(object, kernel->param_count + axis, sizeof items[axis], &items[axis], outcome);
    }
    /* The start of a page needs no sub-buffer. */
    return result == RONDO_BACKEND_DONE ? rdo_ocl_set_place(kernel->device, object, kernel->param_count + 3,
                                                            (rondo_place){status, 0}, &made, outcome)
                                        : result;
}

static rondo_backend_result set_args(const struct rdo_ocl_queue *queue, const struct rdo_ocl_kernel *kernel,
                                     const rondo_backend_op *op, ocl_mem *out_made, rondo_backend_outcome *outcome) {
    rondo_backend_result result = RONDO_BACKEND_DONE;
    for (uint32_t k = 0; k < op->arg_count && result == RONDO_BACKEND_DONE; k++) {
        result = kernel->value_bytes[k] != 0
                     ? rdo_ocl_set_value(kernel->object, k, kernel->value_bytes[k], op->values[k], outcome)
                     : rdo_ocl_set_place(kernel->device, kernel->object, k, op->places[k], &out_made[k], outcome);
    }
    if (result == RONDO_BACKEND_DONE && kernel->hidden) {
        void *status = kernel->can_fail ? queue->status : kernel->device->spare;
        result = rdo_ocl_set_hidden(kernel, kernel->object, op->grid, status, outcome);
    }
    return result;
}

/* ---- running ---- */

rondo_backend_result rdo_ocl_enqueue_range(struct rdo_ocl_queue *queue, ocl_kernel object,
                                           const struct rdo_ocl_range *range, ocl_event *out_event,
                                           rondo_backend_outcome *outcome) {
    int32_t error = rdo_ocl.clEnqueueNDRangeKernel(queue->queue, object, range->dimensions, NULL, range->global,
                                                   range->any_local ? NULL : range->local, 0, NULL, out_event);
    return error == OCL_SUCCESS ? RONDO_BACKEND_DONE : rdo_ocl_failed(outcome, "clEnqueueNDRangeKernel", error);
}

/* A command that the driver ended has run, and failed. If waiting itself fails, nobody knows what is still running, and
 * memory that it uses could be given to others: then the device is lost. */
rondo_backend_result rdo_ocl_wait(ocl_event event, rondo_backend_outcome *outcome) {
    int32_t error = rdo_ocl.clWaitForEvents(1, &event), state = 0;
    if (error == OCL_EXEC_STATUS_ERROR_IN_WAIT_LIST &&
        rdo_ocl.clGetEventInfo(event, OCL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL) != OCL_SUCCESS) {
        state = error;
    }
    rdo_ocl.clReleaseEvent(event);
    if (error == OCL_SUCCESS) {
        return RONDO_BACKEND_DONE;
    }
    if (error != OCL_EXEC_STATUS_ERROR_IN_WAIT_LIST) {
        return rdo_ocl_refuse(outcome, RONDO_BACKEND_DEVICE_LOST, "clWaitForEvents ended with %s (%d)",
                              rdo_ocl_error_name(error), error);
    }
    rdo_ocl_refuse(outcome, RONDO_BACKEND_FAILED, "the driver ended it with %s (%d)", rdo_ocl_error_name(state), state);
    outcome->reason = (uint32_t)-state;
    return RONDO_BACKEND_FAILED;
}

/* A word that cannot be read might say anything, so it counts as a failure; one that cannot be cleared would make
 * later launches fail. */
rondo_backend_result rdo_ocl_take_status(struct rdo_ocl_queue *queue, rondo_backend_outcome *outcome) {
    uint32_t reason = 0;
    const uint32_t none = 0;
    rondo_place word = {queue->status, 0};
    bool known = rdo_ocl_get(queue, &reason, word, sizeof reason, outcome) == RONDO_BACKEND_DONE;
    if (known && reason == 0) {
        return RONDO_BACKEND_DONE;
    }
    if (rdo_ocl_put(queue, word, &none, sizeof none, outcome) != RONDO_BACKEND_DONE) {
        return RONDO_BACKEND_DEVICE_LOST;
    }
    rdo_ocl_refuse(outcome, RONDO_BACKEND_FAILED, "%s", known ? "" : "its status cannot be read");
    outcome->reason = known ? reason : UINT32_MAX;
    return RONDO_BACKEND_FAILED;
}

static rondo_backend_result enqueue_launch(struct rdo_ocl_queue *queue, struct rdo_ocl_kernel *kernel,
                                           const rondo_backend_op *op, ocl_mem *out_made, ocl_event *out_event,
                                           rondo_backend_outcome *outcome) {
    struct rdo_ocl_range range;
    rondo_backend_result result = rdo_ocl_plan_range(kernel, op->grid, &range, outcome);
    if (result != RONDO_BACKEND_DONE) {
        return result;
    }
    pthread_mutex_lock(&kernel->lock);
    result = set_args(queue, kernel, op, out_made, outcome);
    if (result == RONDO_BACKEND_DONE) {
        result = rdo_ocl_enqueue_range(queue, kernel->object, &range, out_event, outcome);
    }
    pthread_mutex_unlock(&kernel->lock);
    return result;
}

static rondo_backend_result launch(struct rdo_ocl_queue *queue, const rondo_backend_op *op,
                                   rondo_backend_outcome *outcome) {
    struct rdo_ocl_kernel *kernel = op->kernel;
    ocl_mem made[RONDO_MAX_PARAMS] = {NULL};
    ocl_event event = NULL;
    if (op->arg_count != kernel->param_count) {
        return rdo_ocl_refuse(outcome, RONDO_BACKEND_NOT_RUN, "a launch has %u arguments, its kernel %u parameters",
                              op->arg_count, kernel->param_count);
    }
    rondo_backend_result result = enqueue_launch(queue, kernel, op, made, &event, outcome);
    if (result == RONDO_BACKEND_DONE) {
        result = rdo_ocl_wait(event, outcome);
        if (result == RONDO_BACKEND_DONE && kernel->can_fail) {
            result = rdo_ocl_take_status(queue, outcome);
        }
    }
    for (uint32_t k = 0; k < op->arg_count; k++) {
        if (made[k] != NULL) {
            rdo_ocl.clReleaseMemObject(made[k]);
        }
    }
    return result;
}

rondo_backend_result rdo_ocl_call_host(const rondo_backend_op *op, rondo_backend_outcome *outcome) {
    int reason = op->host_fn(op->host_user);
    if (reason == 0) {
        return RONDO_BACKEND_DONE;
    }
    rdo_ocl_refuse(outcome, RONDO_BACKEND_FAILED, "%s", "");
    outcome->reason = (uint32_t)reason;
    return RONDO_BACKEND_FAILED;
}

rondo_backend_result rdo_ocl_submit(void *queue, const rondo_backend_op *op, rondo_backend_outcome *outcome) {
    switch (op->kind) {
    case RONDO_OP_LAUNCH:
        return launch(queue, op, outcome);
    case RONDO_OP_FILL:
    case RONDO_OP_COPY:
    case RONDO_OP_WRITE:
    case RONDO_OP_READ:
        return rdo_ocl_run_bytes(queue, op, outcome);
    case RONDO_OP_HOST:
        return rdo_ocl_call_host(op, outcome);
    }
    return rdo_ocl_refuse(outcome, RONDO_BACKEND_NOT_RUN, "the operation is of an unknown kind");
}
