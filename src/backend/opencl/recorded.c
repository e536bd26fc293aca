/* Launches recorded in command buffers of the driver. A graph can always do without: what is not recorded is enqueued
 * one by one, so the only failure that a recording adds is that the driver does not enqueue it. */
#include "base/alloc.h"
#include "graph.h"

/* In launches. A recording of one saves nothing, and of a long one all would be recorded again for a new value; PoCL
 * takes time by the square of it. */
enum { SHORTEST = 2, LONGEST = 512 };

/* ---- finding ---- */

static bool is_recordable(const struct rdo_ocl_node *node) {
    return node->object != NULL && !node->object->kernel->can_fail;
}

static uint64_t end_of_stretch(const struct rdo_ocl_graph *graph, uint64_t first) {
    uint64_t last = first;
    while (last < graph->count && last - first < LONGEST && is_recordable(&graph->nodes[last])) {
        last++;
    }
    return last;
}

static void add_stretch(struct rdo_ocl_graph *graph, uint64_t first, uint64_t last) {
    struct rdo_ocl_stretch *stretch = &graph->stretches[graph->stretch_count++];
    stretch->first = first;
    stretch->last = last;
    for (uint64_t at = first; at < last; at++) {
        graph->nodes[at].stretch = stretch;
    }
}

bool rdo_ocl_find_stretches(struct rdo_ocl_graph *graph) {
    bool changes = graph->device->has_changes;
    graph->stretches = rdo_alloc_zero((size_t)graph->count / SHORTEST + 1, sizeof *graph->stretches);
    graph->commands = changes ? rdo_alloc_zero((size_t)graph->count + 1, sizeof(ocl_command)) : NULL;
    if (graph->stretches == NULL || (changes && graph->commands == NULL)) {
        return false;
    }
    uint64_t last;
    for (uint64_t first = 0; first < graph->count; first = last) {
        last = end_of_stretch(graph, first);
        if (last - first >= SHORTEST) {
            add_stretch(graph, first, last);
        }
        last = last != first ? last : first + 1;
    }
    return true;
}

/* ---- recording ---- */

static int32_t record_launch(const struct rdo_ocl_graph *graph, ocl_commands recorded, uint64_t at) {
    static const uint64_t arguments[] = {OCL_MUTABLE_DISPATCH_UPDATABLE_FIELDS, OCL_MUTABLE_DISPATCH_ARGUMENTS, 0};
    const struct rdo_ocl_object *object = graph->nodes[at].object;
    const struct rdo_ocl_range *range = &object->range;
    bool changes = graph->commands != NULL;
    return graph->device->extension.clCommandNDRangeKernelKHR(
        recorded, NULL, changes ? arguments : NULL, object->handle, range->dimensions, NULL, range->global,
        range->any_local ? NULL : range->local, 0, NULL, NULL, changes ? &graph->commands[at] : NULL);
}

static int32_t record_launches(const struct rdo_ocl_graph *graph, const struct rdo_ocl_stretch *stretch,
                               ocl_commands recorded) {
    int32_t error = OCL_SUCCESS;
    for (uint64_t at = stretch->first; at < stretch->last && error == OCL_SUCCESS; at++) {
        error = record_launch(graph, recorded, at);
    }
    return error == OCL_SUCCESS ? graph->device->extension.clFinalizeCommandBufferKHR(recorded) : error;
}

static void forget(const struct rdo_ocl_graph *graph, struct rdo_ocl_stretch *stretch) {
    if (stretch->recorded != NULL) {
        graph->device->extension.clReleaseCommandBufferKHR(stretch->recorded);
        stretch->recorded = NULL;
    }
}

static void record(const struct rdo_ocl_graph *graph, struct rdo_ocl_stretch *stretch) {
    static const uint64_t can_change[] = {OCL_COMMAND_BUFFER_FLAGS, OCL_COMMAND_BUFFER_MUTABLE, 0};
    const struct rdo_ocl_device *device = graph->device;
    int32_t error = OCL_SUCCESS;
    forget(graph, stretch);
    stretch->stale = false;
    stretch->recorded = device->extension.clCreateCommandBufferKHR(
        1, &device->aside, graph->commands != NULL ? can_change : NULL, &error);
    if (stretch->recorded != NULL && record_launches(graph, stretch, stretch->recorded) != OCL_SUCCESS) {
        forget(graph, stretch);
    }
}

void rdo_ocl_record(struct rdo_ocl_graph *graph) {
    for (uint64_t k = 0; k < graph->stretch_count; k++) {
        record(graph, &graph->stretches[k]);
    }
}

void rdo_ocl_forget_recorded(struct rdo_ocl_graph *graph) {
    for (uint64_t k = 0; k < graph->stretch_count; k++) {
        forget(graph, &graph->stretches[k]);
    }
    rdo_free(graph->stretches);
    rdo_free(graph->commands);
}

/* ---- replaying ---- */

/* Tells the recorded command of the node's values. False if that cannot be done. */
static bool change_command(const struct rdo_ocl_graph *graph, const struct rdo_ocl_stretch *stretch, uint64_t at) {
    const uint32_t type = OCL_CHANGES_ARE_OF_DISPATCHES;
    const struct rdo_ocl_node *node = &graph->nodes[at];
    const struct rdo_ocl_kernel *kernel = node->object->kernel;
    struct ocl_new_arg args[RONDO_MAX_PARAMS];
    if (graph->commands == NULL) {
        return false;
    }
    for (uint32_t k = 0; k < kernel->value_count; k++) {
        uint32_t param = kernel->value_param[k];
        args[k] = (struct ocl_new_arg){param, kernel->value_bytes[param], node->values[k]};
    }
    struct ocl_change change = {.command = graph->commands[at], .arg_count = kernel->value_count, .args = args};
    const void *changes[] = {&change};
    return graph->device->extension.clUpdateMutableCommandsKHR(stretch->recorded, 1, &type, changes) == OCL_SUCCESS;
}

rondo_backend_result rdo_ocl_renew(struct rdo_ocl_graph *graph, const struct rdo_ocl_queue *queue,
                                   struct rdo_ocl_stretch *stretch, rondo_backend_outcome *outcome) {
    for (uint64_t at = stretch->first; at < stretch->last; at++) {
        bool changed;
        rondo_backend_result result = rdo_ocl_refresh(graph, queue, &graph->nodes[at], &changed, outcome);
        if (changed && (result != RONDO_BACKEND_DONE || !change_command(graph, stretch, at))) {
            stretch->stale = true;
        }
        if (result != RONDO_BACKEND_DONE) {
            return result;
        }
    }
    if (stretch->stale) {
        record(graph, stretch);
    }
    return RONDO_BACKEND_DONE;
}

rondo_backend_result rdo_ocl_enqueue_recorded(const struct rdo_ocl_graph *graph, struct rdo_ocl_queue *queue,
                                              struct rdo_ocl_stretch *stretch, ocl_event *out_event,
                                              rondo_backend_outcome *outcome) {
    int32_t error = graph->device->extension.clEnqueueCommandBufferKHR(1, &queue->queue, stretch->recorded, 0, NULL,
                                                                       out_event);
    if (error != OCL_SUCCESS) {
        return rdo_ocl_failed(outcome, "clEnqueueCommandBufferKHR", error);
    }
    stretch->user = queue;
    return RONDO_BACKEND_DONE;
}
