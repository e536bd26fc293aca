/* Replaying graphs. A replay enqueues a graph's commands in order and waits once at the end, and before that only
 * where the host has to do something or a kernel may fail. */
#include <string.h>
#include "graph.h"

/* ---- arguments ---- */

/* Lock held. */
static rondo_backend_result refresh_values(const struct rdo_ocl_node *node, bool *out_changed,
                                           rondo_backend_outcome *outcome) {
    const struct rdo_ocl_object *object = node->object;
    const struct rdo_ocl_kernel *kernel = object->kernel;
    uint8_t *set = object->set;
    for (uint32_t k = 0; k < kernel->value_count; k++) {
        uint32_t param = kernel->value_param[k], size_bytes = kernel->value_bytes[param];
        if (memcmp(set, node->values[k], size_bytes) != 0) {
            *out_changed = true;
            rondo_backend_result result =
                rdo_ocl_set_value(object->handle, param, size_bytes, node->values[k], outcome);
            if (result != RONDO_BACKEND_DONE) {
                return result;
            }
            memcpy(set, node->values[k], size_bytes);
        }
        set += size_bytes;
    }
    return RONDO_BACKEND_DONE;
}

/* Lock held: kernels that may fail report to the word of the queue that they run in. */
static rondo_backend_result refresh_status(struct rdo_ocl_graph *graph, const struct rdo_ocl_queue *queue,
                                           struct rdo_ocl_object *object, rondo_backend_outcome *outcome) {
    ocl_mem made; /* none: the start of a page needs no sub-buffer */
    rondo_place word = {queue->status, 0};
    rondo_backend_result result = rdo_ocl_set_place(graph->device, object->handle, object->kernel->param_count + 3,
                                                    word, &made, outcome);
    if (result == RONDO_BACKEND_DONE) {
        object->status = queue->status;
    }
    return result;
}

rondo_backend_result rdo_ocl_refresh(struct rdo_ocl_graph *graph, const struct rdo_ocl_queue *queue,
                                     const struct rdo_ocl_node *node, bool *out_changed,
                                     rondo_backend_outcome *outcome) {
    struct rdo_ocl_object *object = node->object;
    *out_changed = false;
    rondo_backend_result result = refresh_values(node, out_changed, outcome);
    if (result == RONDO_BACKEND_DONE && object->kernel->can_fail && object->status != queue->status) {
        result = refresh_status(graph, queue, object, outcome);
    }
    return result;
}

/* ---- enqueueing ---- */

/* A replay under way. */
struct run {
    struct rdo_ocl_queue *queue;
    struct rdo_ocl_graph *graph;
    uint64_t first;   /* node of the first command that was not waited for */
    uint64_t at;      /* the node that it has come to */
    rondo_backend_outcome *outcome;
};

/* Lock held. */
static rondo_backend_result enqueue_node(const struct run *run, const struct rdo_ocl_node *node,
                                         ocl_event *out_event) {
    bool changed;
    if (node->object == NULL) {
        return rdo_ocl_enqueue_bytes(run->queue, node->op, out_event, run->outcome);
    }
    rondo_backend_result result = rdo_ocl_refresh(run->graph, run->queue, node, &changed, run->outcome);
    if (changed && node->stretch != NULL) {
        node->stretch->stale = true;
    }
    return result == RONDO_BACKEND_DONE ? rdo_ocl_enqueue_range(run->queue, node->object->handle,
                                                                &node->object->range, out_event, run->outcome)
                                        : result;
}

/* Whether the host has to wait after the node. */
static bool ends_after(const struct rdo_ocl_graph *graph, uint64_t at, uint64_t last) {
    const struct rdo_ocl_node *node = &graph->nodes[at];
    return at + 1 == last || node[1].by_host || rdo_ocl_node_may_fail(node);
}

/* Nothing that this run enqueued is under way any more, so its recordings can be enqueued again. */
static void set_idle(const struct run *run) {
    struct rdo_ocl_graph *graph = run->graph;
    if (graph->stretch_count == 0) {
        return;
    }
    pthread_mutex_lock(&graph->lock);
    for (uint64_t k = 0; k < graph->stretch_count; k++) {
        struct rdo_ocl_stretch *stretch = &graph->stretches[k];
        if (stretch->user == run->queue) {
            stretch->user = NULL;
        }
    }
    pthread_mutex_unlock(&graph->lock);
}

/* Lets what was enqueued before the node that could not be come to its end, so that exactly the nodes before it ran. */
static rondo_backend_result drain(const struct run *run, rondo_backend_result result) {
    if (run->first == run->at) {
        return result;
    }
    int32_t error = rdo_ocl.clFinish(run->queue->queue);
    if (error != OCL_SUCCESS) {
        return rdo_ocl_refuse(run->outcome, RONDO_BACKEND_DEVICE_LOST, "clFinish ended with %s (%d)",
                              rdo_ocl_error_name(error), error);
    }
    set_idle(run);
    return result;
}

/* Lock held: *out_stretch is the recording that stands for the nodes from the run's on, or NULL. */
static rondo_backend_result find_recorded(const struct run *run, uint64_t last, struct rdo_ocl_stretch **out_stretch) {
    struct rdo_ocl_stretch *stretch = run->graph->nodes[run->at].stretch;
    bool usable = stretch != NULL && stretch->recorded != NULL && stretch->user == NULL && stretch->first == run->at &&
                  stretch->last <= last;
    rondo_backend_result result =
        usable ? rdo_ocl_renew(run->graph, run->queue, stretch, run->outcome) : RONDO_BACKEND_DONE;
    *out_stretch = usable && stretch->recorded != NULL ? stretch : NULL;
    return result;
}

/* Lock held: enqueues the node that the run has come to, or a recording that begins with it; then the run has come to
 * the recording's last node. *out_ends says whether the host has to wait now, for *out_event. */
static rondo_backend_result enqueue_next(struct run *run, uint64_t last, bool *out_ends, ocl_event *out_event) {
    struct rdo_ocl_stretch *stretch;
    rondo_backend_result result = find_recorded(run, last, &stretch);
    if (result != RONDO_BACKEND_DONE) {
        return result;
    }
    uint64_t to = stretch != NULL ? stretch->last - 1 : run->at;
    *out_ends = ends_after(run->graph, to, last);
    ocl_event *wanted = *out_ends ? out_event : NULL;
    result = stretch != NULL ? rdo_ocl_enqueue_recorded(run->graph, run->queue, stretch, wanted, run->outcome)
                             : enqueue_node(run, &run->graph->nodes[run->at], wanted);
    if (result == RONDO_BACKEND_DONE) {
        run->at = to;
    }
    return result;
}

/* Enqueues nodes up to one after which the host has to wait; *out_event is that one's. */
static rondo_backend_result enqueue_some(struct run *run, uint64_t last, ocl_event *out_event) {
    rondo_backend_result result = RONDO_BACKEND_DONE;
    bool ends = false;
    pthread_mutex_lock(&run->graph->lock);
    for (;; run->at++) {
        result = enqueue_next(run, last, &ends, out_event);
        if (ends || result != RONDO_BACKEND_DONE) {
            break;
        }
    }
    pthread_mutex_unlock(&run->graph->lock);
    return result == RONDO_BACKEND_DONE ? result : drain(run, result);
}

static rondo_backend_result run_commands(struct run *run, uint64_t last) {
    ocl_event event = NULL;
    run->first = run->at;
    rondo_backend_result result = enqueue_some(run, last, &event);
    if (result != RONDO_BACKEND_DONE) {
        return result;
    }
    const struct rdo_ocl_node *node = &run->graph->nodes[run->at];
    result = rdo_ocl_wait(event, run->outcome);
    if (result == RONDO_BACKEND_FAILED && run->first != run->at) {
        return RONDO_BACKEND_DEVICE_LOST; /* nobody knows which of the commands it was */
    }
    if (result == RONDO_BACKEND_DONE) {
        set_idle(run);
    }
    return result == RONDO_BACKEND_DONE && rdo_ocl_node_may_fail(node) ? rdo_ocl_take_status(run->queue, run->outcome)
                                                                       : result;
}

static rondo_backend_result run_by_host(const struct run *run, const rondo_backend_op *op) {
    return op->kind == RONDO_OP_HOST ? rdo_ocl_call_host(op, run->outcome)
                                     : rdo_ocl_run_bytes(run->queue, op, run->outcome);
}

rondo_backend_result rdo_ocl_graph_submit(void *queue, void *graph, uint64_t first, uint64_t last,
                                          rondo_backend_outcome *outcome) {
    struct run run = {queue, graph, first, first, outcome};
    for (; run.at < last; run.at++) {
        const struct rdo_ocl_node *node = &run.graph->nodes[run.at];
        rondo_backend_result result = node->by_host ? run_by_host(&run, node->op) : run_commands(&run, last);
        if (result != RONDO_BACKEND_DONE) {
            outcome->node = run.at;
            return result;
        }
    }
    return RONDO_BACKEND_DONE;
}
