/* A graph is a list of commands with everything resolved: a kernel object for each launch whose arguments are set,
 * its ranges, and the values that may change. A replay enqueues them in order and waits once at the end, and
 * before that only where the host has to do something or a kernel may fail. */
#include <string.h>
#include "base/alloc.h"
#include "parts.h"

/* A value parameter of a launch. */
struct slot {
    const void *now;     /* where its bytes stand; they may change between replays */
    uint8_t *set;        /* what the kernel object has */
    uint32_t param;
    uint32_t size_bytes;
};

struct node {
    const struct rdo_ocl_kernel *kernel; /* NULL: not a launch */
    ocl_kernel object;
    void *status; /* the status word that the object has, of a kernel that can fail */
    struct slot *slots;
    uint32_t slot_count;
    bool by_host;  /* no command of the driver */
    struct rdo_ocl_range range;
    rondo_backend_op op; /* of other nodes; its places are its own */
};

struct graph {
    struct rdo_ocl_device *device;
    pthread_mutex_t lock; /* of the arguments: replays on two queues share the kernel objects */
    uint64_t count, slot_count, mem_count;
    struct node *nodes;
    struct slot *slots;
    uint8_t *bytes; /* that the slots' values take */
    ocl_mem *mems;  /* sub-buffers that arguments stand for */
};

/* ---- building ---- */

struct sizes {
    uint64_t slots, bytes, buffers;
};

static struct sizes count_args(const rondo_backend_op *ops, uint64_t count) {
    struct sizes sizes = {0, 0, 0};
    for (uint64_t index = 0; index < count; index++) {
        const struct rdo_ocl_kernel *kernel = ops[index].kind == RONDO_OP_LAUNCH ? ops[index].kernel : NULL;
        for (uint32_t k = 0; kernel != NULL && k < kernel->param_count; k++) {
            sizes.slots += kernel->value_bytes[k] != 0;
            sizes.bytes += kernel->value_bytes[k];
            sizes.buffers += kernel->value_bytes[k] == 0;
        }
    }
    return sizes;
}

/* Empty tables have a place too, so that NULL means that there is no memory. */
static bool make_tables(struct graph *graph, const rondo_backend_op *ops) {
    struct sizes sizes = count_args(ops, graph->count);
    bool subs = graph->device->memory == RDO_OCL_BUFFERS;
    graph->nodes = rdo_alloc_zero((size_t)graph->count + 1, sizeof *graph->nodes);
    graph->slots = rdo_alloc_zero((size_t)sizes.slots + 1, sizeof *graph->slots);
    graph->bytes = rdo_alloc_zero((size_t)sizes.bytes + 1, 1);
    graph->mems = rdo_alloc_zero(subs ? (size_t)sizes.buffers + 1 : 1, sizeof(ocl_mem));
    return graph->nodes != NULL && graph->slots != NULL && graph->bytes != NULL && graph->mems != NULL;
}

static void add_slot(struct graph *graph, struct node *node, uint8_t **room, uint32_t param, const void *value) {
    uint32_t size_bytes = node->kernel->value_bytes[param];
    graph->slots[graph->slot_count++] = (struct slot){value, *room, param, size_bytes};
    memcpy(*room, value, size_bytes);
    *room += size_bytes;
    node->slot_count++;
}

static rondo_backend_result build_arg(struct graph *graph, struct node *node, const rondo_backend_op *op, uint32_t k,
                                      uint8_t **room, rondo_backend_outcome *outcome) {
    ocl_mem made = NULL;
    if (node->kernel->value_bytes[k] != 0) {
        add_slot(graph, node, room, k, op->values[k]);
        return rdo_ocl_set_value(node->object, k, node->kernel->value_bytes[k], op->values[k], outcome);
    }
    rondo_backend_result result =
        rdo_ocl_set_place(graph->device, node->object, k, op->places[k], &made, outcome);
    if (made != NULL) {
        graph->mems[graph->mem_count++] = made;
    }
    return result;
}

static rondo_backend_result build_launch(struct graph *graph, struct node *node, const rondo_backend_op *op,
                                         uint8_t **room, rondo_backend_outcome *outcome) {
    int32_t error = OCL_SUCCESS;
    node->kernel = op->kernel;
    node->slots = &graph->slots[graph->slot_count];
    node->object = rdo_ocl_object_take(node->kernel, &error);
    if (node->object == NULL) {
        return rdo_ocl_failed(outcome, "clCreateKernel", error);
    }
    rondo_backend_result result = rdo_ocl_plan_range(node->kernel, op->grid, &node->range, outcome);
    for (uint32_t k = 0; k < node->kernel->param_count && result == RONDO_BACKEND_DONE; k++) {
        result = build_arg(graph, node, op, k, room, outcome);
    }
    if (result == RONDO_BACKEND_DONE && node->kernel->hidden) {
        node->status = graph->device->spare;
        result = rdo_ocl_set_hidden(node->kernel, node->object, op->grid, node->status, outcome);
    }
    return result;
}

static rondo_backend_result build_nodes(struct graph *graph, const rondo_backend_op *ops) {
    rondo_backend_outcome outcome; /* building has nowhere to say more than its result */
    rondo_backend_result result = RONDO_BACKEND_DONE;
    uint8_t *room = graph->bytes;
    for (uint64_t index = 0; index < graph->count && result == RONDO_BACKEND_DONE; index++) {
        struct node *node = &graph->nodes[index];
        if (ops[index].kind == RONDO_OP_LAUNCH) {
            result = build_launch(graph, node, &ops[index], &room, &outcome);
        } else {
            node->op = ops[index];
            node->by_host = !rdo_ocl_is_command(graph->device, &node->op);
        }
    }
    return result;
}

rondo_backend_result rdo_ocl_graph_build(void *device, const rondo_backend_op *ops, uint64_t count, void **out_graph) {
    *out_graph = NULL;
    struct graph *graph = rdo_alloc_zero(1, sizeof *graph);
    if (graph == NULL) {
        return RONDO_BACKEND_NO_MEMORY;
    }
    pthread_mutex_init(&graph->lock, NULL);
    graph->device = device;
    graph->count = count;
    rondo_backend_result result = make_tables(graph, ops) ? build_nodes(graph, ops) : RONDO_BACKEND_NO_MEMORY;
    if (result != RONDO_BACKEND_DONE) {
        rdo_ocl_graph_free(device, graph);
        return result;
    }
    *out_graph = graph;
    return RONDO_BACKEND_DONE;
}

void rdo_ocl_graph_free(void *device, void *graph) {
    struct graph *dying = graph;
    (void)device;
    if (dying == NULL) {
        return;
    }
    for (uint64_t index = 0; dying->nodes != NULL && index < dying->count; index++) {
        if (dying->nodes[index].object != NULL) {
            rdo_ocl_object_give(dying->nodes[index].kernel, dying->nodes[index].object);
        }
    }
    for (uint64_t k = 0; k < dying->mem_count; k++) {
        rdo_ocl.clReleaseMemObject(dying->mems[k]);
    }
    rdo_free(dying->nodes);
    rdo_free(dying->slots);
    rdo_free(dying->bytes);
    rdo_free(dying->mems);
    pthread_mutex_destroy(&dying->lock);
    rdo_free(dying);
}

void rdo_ocl_graph_set_value(void *graph, uint64_t node, uint32_t param, const void *value) {
    struct node *changed = &((struct graph *)graph)->nodes[node];
    for (uint32_t k = 0; k < changed->slot_count; k++) {
        if (changed->slots[k].param == param) {
            changed->slots[k].now = value;
        }
    }
}

/* ---- replaying ---- */

/* A replay under way. */
struct run {
    struct rdo_ocl_queue *queue;
    struct graph *graph;
    uint64_t first;   /* node of the first command that was not waited for */
    uint64_t at;      /* the node that it has come to */
    rondo_backend_outcome *outcome;
};

/* Lock held. */
static rondo_backend_result refresh_args(const struct run *run, struct node *node) {
    rondo_backend_result result = RONDO_BACKEND_DONE;
    for (uint32_t k = 0; k < node->slot_count && result == RONDO_BACKEND_DONE; k++) {
        struct slot *slot = &node->slots[k];
        if (memcmp(slot->set, slot->now, slot->size_bytes) != 0) {
            result = rdo_ocl_set_value(node->object, slot->param, slot->size_bytes, slot->now, run->outcome);
            if (result == RONDO_BACKEND_DONE) {
                memcpy(slot->set, slot->now, slot->size_bytes);
            }
        }
    }
    if (result == RONDO_BACKEND_DONE && node->kernel->can_fail && node->status != run->queue->status) {
        ocl_mem made;
        rondo_place word = {run->queue->status, 0};
        result = rdo_ocl_set_place(run->graph->device, node->object, node->kernel->param_count + 3, word, &made,
                                   run->outcome);
        node->status = result == RONDO_BACKEND_DONE ? run->queue->status : node->status;
    }
    return result;
}

/* Lock held. */
static rondo_backend_result enqueue_node(const struct run *run, struct node *node, ocl_event *out_event) {
    if (node->kernel == NULL) {
        return rdo_ocl_enqueue_bytes(run->queue, &node->op, out_event, run->outcome);
    }
    rondo_backend_result result = refresh_args(run, node);
    return result == RONDO_BACKEND_DONE
               ? rdo_ocl_enqueue_range(run->queue, node->object, &node->range, out_event, run->outcome)
               : result;
}

static bool ends_here(const struct run *run, uint64_t last) {
    const struct node *node = &run->graph->nodes[run->at];
    return run->at + 1 == last || node[1].by_host || (node->kernel != NULL && node->kernel->can_fail);
}

/* Lets what was enqueued before the node that could not be come to its end, so that exactly the nodes before it ran. */
static rondo_backend_result drain(const struct run *run, rondo_backend_result result) {
    if (run->first == run->at) {
        return result;
    }
    int32_t error = rdo_ocl.clFinish(run->queue->queue);
    return error == OCL_SUCCESS ? result
                                : rdo_ocl_refuse(run->outcome, RONDO_BACKEND_DEVICE_LOST, "clFinish ended with %s (%d)",
                                                 rdo_ocl_error_name(error), error);
}

/* Enqueues nodes up to one after which the host has to wait; *out_event is that one's. */
static rondo_backend_result enqueue_some(struct run *run, uint64_t last, ocl_event *out_event) {
    rondo_backend_result result = RONDO_BACKEND_DONE;
    pthread_mutex_lock(&run->graph->lock);
    for (;; run->at++) {
        bool ends = ends_here(run, last);
        result = enqueue_node(run, &run->graph->nodes[run->at], ends ? out_event : NULL);
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
    const struct node *node = &run->graph->nodes[run->at];
    result = rdo_ocl_wait(event, run->outcome);
    if (result == RONDO_BACKEND_FAILED && run->first != run->at) {
        return RONDO_BACKEND_DEVICE_LOST; /* nobody knows which of the commands it was */
    }
    return result == RONDO_BACKEND_DONE && node->kernel != NULL && node->kernel->can_fail
               ? rdo_ocl_take_status(run->queue, run->outcome)
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
        const struct node *node = &run.graph->nodes[run.at];
        rondo_backend_result result = node->by_host ? run_by_host(&run, &node->op) : run_commands(&run, last);
        if (result != RONDO_BACKEND_DONE) {
            outcome->node = run.at;
            return result;
        }
    }
    return RONDO_BACKEND_DONE;
}
