/* A graph is a list of commands with everything resolved: kernel objects whose arguments are set, and the values that
 * may change. A replay enqueues them in order and waits once at the end, and before that only where the host has to do
 * something or a kernel may fail. */
#include <string.h>
#include "base/alloc.h"
#include "parts.h"

/* A kernel object with its arguments. Nodes that are the same share one, so that a replay touches little memory. */
struct object {
    const struct rdo_ocl_kernel *kernel;
    ocl_kernel handle;
    void *status; /* the status word that it has */
    uint8_t *set; /* the values that it has, one after the other */
    uint64_t first; /* the node that it was made for */
    struct rdo_ocl_range range;
};

struct node {
    struct object *object;      /* NULL: not a launch */
    const void **values;        /* where the bytes of its values stand; they may change between replays */
    const rondo_backend_op *op; /* of other nodes */
    bool by_host;               /* no command of the driver */
};

struct graph {
    struct rdo_ocl_device *device;
    pthread_mutex_t lock; /* of the arguments: replays on two queues share the kernel objects */
    uint64_t count, object_count, mem_count;
    struct node *nodes;
    struct object *objects;
    const void **values;   /* of all nodes */
    uint8_t *bytes;        /* that the objects have as values */
    rondo_backend_op *ops; /* that are no launches */
    ocl_mem *mems;         /* sub-buffers that arguments stand for */
};

/* ---- building ---- */

struct sizes {
    size_t launches, others, values, bytes, buffers;
};

static struct sizes count_parts(const rondo_backend_op *ops, uint64_t count) {
    struct sizes sizes = {0, 0, 0, 0, 0};
    for (uint64_t index = 0; index < count; index++) {
        if (ops[index].kind != RONDO_OP_LAUNCH) {
            sizes.others++;
            continue;
        }
        const struct rdo_ocl_kernel *kernel = ops[index].kernel;
        sizes.launches++;
        sizes.values += kernel->value_count;
        sizes.bytes += kernel->value_total_bytes;
        sizes.buffers += kernel->param_count - kernel->value_count;
    }
    return sizes;
}

/* Each has a place more than it needs, so that NULL means that there is no memory. */
static bool make_tables(struct graph *graph, const rondo_backend_op *ops) {
    struct sizes sizes = count_parts(ops, graph->count);
    bool subs = graph->device->memory == RDO_OCL_BUFFERS;
    graph->nodes = rdo_alloc_zero((size_t)graph->count + 1, sizeof *graph->nodes);
    graph->objects = rdo_alloc_zero(sizes.launches + 1, sizeof *graph->objects);
    graph->values = rdo_alloc_zero(sizes.values + 1, sizeof *graph->values);
    graph->bytes = rdo_alloc_zero(sizes.bytes + 1, 1);
    graph->ops = rdo_alloc_zero(sizes.others + 1, sizeof *graph->ops);
    graph->mems = rdo_alloc_zero(subs ? sizes.buffers + 1 : 1, sizeof(ocl_mem));
    return graph->nodes != NULL && graph->objects != NULL && graph->values != NULL && graph->bytes != NULL &&
           graph->ops != NULL && graph->mems != NULL;
}

/* The graph as far as it is built. */
struct building {
    struct graph *graph;
    const rondo_backend_op *ops;
    const void **values;       /* the next free ones */
    uint8_t *bytes;
    rondo_backend_op *others;
    struct object *recent[64]; /* by hash, to find the same launch again */
    rondo_backend_outcome outcome; /* building has nowhere to say more than its result */
};

static bool is_same_launch(const rondo_backend_op *a, const rondo_backend_op *b) {
    const struct rdo_ocl_kernel *kernel = a->kernel;
    if (b->kernel != kernel || a->grid.x != b->grid.x || a->grid.y != b->grid.y || a->grid.z != b->grid.z) {
        return false;
    }
    for (uint32_t k = 0; k < kernel->param_count; k++) {
        uint32_t size_bytes = kernel->value_bytes[k];
        bool same = size_bytes != 0 ? memcmp(a->values[k], b->values[k], size_bytes) == 0
                                    : a->places[k].page == b->places[k].page &&
                                          a->places[k].offset_bytes == b->places[k].offset_bytes;
        if (!same) {
            return false;
        }
    }
    return true;
}

static size_t hash_launch(const rondo_backend_op *op) {
    const struct rdo_ocl_kernel *kernel = op->kernel;
    uint64_t hash = (uintptr_t)kernel ^ op->grid.x;
    for (uint32_t k = 0; k < kernel->param_count; k++) {
        if (kernel->value_bytes[k] == 0) {
            hash = (hash ^ (uintptr_t)op->places[k].page ^ op->places[k].offset_bytes) * UINT64_C(0x9e3779b97f4a7c15);
        }
    }
    return (size_t)(hash >> 58);
}

static rondo_backend_result set_args(struct building *b, struct object *object, const rondo_backend_op *op) {
    const struct rdo_ocl_kernel *kernel = object->kernel;
    struct graph *graph = b->graph;
    rondo_backend_result result = RONDO_BACKEND_DONE;
    object->set = b->bytes;
    for (uint32_t k = 0; k < kernel->param_count && result == RONDO_BACKEND_DONE; k++) {
        if (kernel->value_bytes[k] != 0) {
            memcpy(b->bytes, op->values[k], kernel->value_bytes[k]);
            result = rdo_ocl_set_value(object->handle, k, kernel->value_bytes[k], b->bytes, &b->outcome);
            b->bytes += kernel->value_bytes[k];
            continue;
        }
        ocl_mem made;
        result = rdo_ocl_set_place(graph->device, object->handle, k, op->places[k], &made, &b->outcome);
        if (made != NULL) {
            graph->mems[graph->mem_count++] = made;
        }
    }
    if (result == RONDO_BACKEND_DONE && kernel->hidden) {
        object->status = graph->device->spare;
        result = rdo_ocl_set_hidden(kernel, object->handle, op->grid, object->status, &b->outcome);
    }
    return result;
}

static rondo_backend_result make_object(struct building *b, uint64_t index, struct object **out_object) {
    const rondo_backend_op *op = &b->ops[index];
    int32_t error = OCL_SUCCESS;
    struct object *object = &b->graph->objects[b->graph->object_count];
    *object = (struct object){.kernel = op->kernel, .first = index};
    object->handle = rdo_ocl_object_take(object->kernel, &error);
    if (object->handle == NULL) {
        return rdo_ocl_failed(&b->outcome, "clCreateKernel", error);
    }
    b->graph->object_count++;
    *out_object = object;
    rondo_backend_result result = rdo_ocl_plan_range(object->kernel, op->grid, &object->range, &b->outcome);
    return result == RONDO_BACKEND_DONE ? set_args(b, object, op) : result;
}

static rondo_backend_result build_launch(struct building *b, uint64_t index) {
    const rondo_backend_op *op = &b->ops[index];
    const struct rdo_ocl_kernel *kernel = op->kernel;
    struct object **recent = &b->recent[hash_launch(op)];
    struct node *node = &b->graph->nodes[index];
    node->values = b->values;
    for (uint32_t k = 0; k < kernel->value_count; k++) {
        *b->values++ = op->values[kernel->value_param[k]];
    }
    if (*recent != NULL && is_same_launch(op, &b->ops[(*recent)->first])) {
        node->object = *recent;
        return RONDO_BACKEND_DONE;
    }
    rondo_backend_result result = make_object(b, index, &node->object);
    *recent = result == RONDO_BACKEND_DONE ? node->object : NULL;
    return result;
}

static rondo_backend_result build_nodes(struct graph *graph, const rondo_backend_op *ops) {
    struct building b = {.graph = graph, .ops = ops, .values = graph->values, .bytes = graph->bytes,
                         .others = graph->ops};
    rondo_backend_result result = RONDO_BACKEND_DONE;
    for (uint64_t index = 0; index < graph->count && result == RONDO_BACKEND_DONE; index++) {
        if (ops[index].kind == RONDO_OP_LAUNCH) {
            result = build_launch(&b, index);
        } else {
            *b.others = ops[index];
            graph->nodes[index].op = b.others;
            graph->nodes[index].by_host = !rdo_ocl_is_command(graph->device, b.others++);
        }
    }
    return result;
}

rondo_backend_result rdo_ocl_graph_build(void *device, const rondo_backend_op *ops, uint64_t count,
                                         const rondo_backend_edges *edges, void **out_graph) {
    (void)edges; /* the device's queue keeps the nodes in order */
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
    for (uint64_t k = 0; k < dying->object_count; k++) {
        rdo_ocl_object_give(dying->objects[k].kernel, dying->objects[k].handle);
    }
    for (uint64_t k = 0; k < dying->mem_count; k++) {
        rdo_ocl.clReleaseMemObject(dying->mems[k]);
    }
    rdo_free(dying->nodes);
    rdo_free(dying->objects);
    rdo_free((void *)dying->values);
    rdo_free(dying->bytes);
    rdo_free(dying->ops);
    rdo_free(dying->mems);
    pthread_mutex_destroy(&dying->lock);
    rdo_free(dying);
}

void rdo_ocl_graph_set_value(void *graph, uint64_t node, uint32_t param, const void *value) {
    struct node *changed = &((struct graph *)graph)->nodes[node];
    const struct rdo_ocl_kernel *kernel = changed->object->kernel;
    for (uint32_t k = 0; k < kernel->value_count; k++) {
        if (kernel->value_param[k] == param) {
            changed->values[k] = value;
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

/* Lock held: gives the object the node's values and the queue's status word, where it has others. */
static rondo_backend_result refresh_args(const struct run *run, const struct node *node) {
    struct object *object = node->object;
    const struct rdo_ocl_kernel *kernel = object->kernel;
    uint8_t *set = object->set;
    for (uint32_t k = 0; k < kernel->value_count; k++) {
        uint32_t param = kernel->value_param[k], size_bytes = kernel->value_bytes[param];
        if (memcmp(set, node->values[k], size_bytes) != 0) {
            rondo_backend_result result =
                rdo_ocl_set_value(object->handle, param, size_bytes, node->values[k], run->outcome);
            if (result != RONDO_BACKEND_DONE) {
                return result;
            }
            memcpy(set, node->values[k], size_bytes);
        }
        set += size_bytes;
    }
    if (!kernel->can_fail || object->status == run->queue->status) {
        return RONDO_BACKEND_DONE;
    }
    ocl_mem made; /* none: the start of a page needs no sub-buffer */
    rondo_place word = {run->queue->status, 0};
    rondo_backend_result result =
        rdo_ocl_set_place(run->graph->device, object->handle, kernel->param_count + 3, word, &made, run->outcome);
    if (result == RONDO_BACKEND_DONE) {
        object->status = run->queue->status;
    }
    return result;
}

/* Lock held. */
static rondo_backend_result enqueue_node(const struct run *run, const struct node *node, ocl_event *out_event) {
    if (node->object == NULL) {
        return rdo_ocl_enqueue_bytes(run->queue, node->op, out_event, run->outcome);
    }
    rondo_backend_result result = refresh_args(run, node);
    return result == RONDO_BACKEND_DONE ? rdo_ocl_enqueue_range(run->queue, node->object->handle,
                                                                &node->object->range, out_event, run->outcome)
                                        : result;
}

static bool may_fail(const struct node *node) {
    return node->object != NULL && node->object->kernel->can_fail;
}

static bool ends_here(const struct run *run, uint64_t last) {
    const struct node *node = &run->graph->nodes[run->at];
    return run->at + 1 == last || node[1].by_host || may_fail(node);
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
    return result == RONDO_BACKEND_DONE && may_fail(node) ? rdo_ocl_take_status(run->queue, run->outcome) : result;
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
        rondo_backend_result result = node->by_host ? run_by_host(&run, node->op) : run_commands(&run, last);
        if (result != RONDO_BACKEND_DONE) {
            outcome->node = run.at;
            return result;
        }
    }
    return RONDO_BACKEND_DONE;
}
