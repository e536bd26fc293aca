/* Building graphs. A graph is a list of commands with everything resolved: kernel objects whose arguments are set, and
 * the values that may change. Where the device records faster than it enqueues, launches that follow one another are
 * recorded as well. */
#include <string.h>
#include "base/alloc.h"
#include "graph.h"

/* ---- building ---- */

struct sizes {
    size_t others, values, bytes, buffers;
};

static struct sizes count_parts(const rondo_backend_nodes *nodes) {
    struct sizes sizes = {0, 0, 0, 0};
    rondo_place places[RONDO_MAX_PARAMS];
    rondo_backend_op op;
    for (uint64_t index = 0; index < nodes->count; index++) {
        nodes->get(nodes->recording, index, places, &op);
        if (op.kind != RONDO_OP_LAUNCH) {
            sizes.others++;
            continue;
        }
        const struct rdo_ocl_kernel *kernel = op.kernel;
        sizes.values += kernel->value_count;
        sizes.bytes += kernel->value_total_bytes;
        sizes.buffers += kernel->param_count - kernel->value_count;
    }
    return sizes;
}

/* Each has a place more than it needs, so that NULL means that there is no memory. */
static bool make_tables(struct rdo_ocl_graph *graph, const rondo_backend_nodes *nodes) {
    struct sizes sizes = count_parts(nodes);
    bool subs = graph->device->memory == RDO_OCL_BUFFERS;
    graph->nodes = rdo_alloc_zero((size_t)graph->count + 1, sizeof *graph->nodes);
    graph->values = rdo_alloc_zero(sizes.values + 1, sizeof *graph->values);
    graph->bytes = rdo_alloc_zero(sizes.bytes + 1, 1);
    graph->ops = rdo_alloc_zero(sizes.others + 1, sizeof *graph->ops);
    graph->mems = rdo_alloc_zero(subs ? sizes.buffers + 1 : 1, sizeof(ocl_mem));
    return graph->nodes != NULL && graph->values != NULL && graph->bytes != NULL && graph->ops != NULL &&
           graph->mems != NULL;
}

/* The graph as far as it is built. */
struct building {
    struct rdo_ocl_graph *graph;
    const rondo_backend_nodes *nodes;
    const void **values;       /* the next free ones */
    uint8_t *bytes;
    rondo_backend_op *others;
    bool shares;                       /* nodes that are the same share an object */
    struct rdo_ocl_object *recent[64]; /* by hash, to find the same launch again */
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

static bool is_made_for(const struct building *b, const struct rdo_ocl_object *object, const rondo_backend_op *op) {
    rondo_place places[RONDO_MAX_PARAMS];
    rondo_backend_op first;
    b->nodes->get(b->nodes->recording, object->first, places, &first);
    return is_same_launch(op, &first);
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

static rondo_backend_result set_args(struct building *b, struct rdo_ocl_object *object, const rondo_backend_op *op) {
    const struct rdo_ocl_kernel *kernel = object->kernel;
    struct rdo_ocl_graph *graph = b->graph;
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

/* Room for one more, not counted yet; NULL if there is no memory. */
static struct rdo_ocl_object *next_object(struct rdo_ocl_graph *graph) {
    if (graph->objects == NULL || graph->objects->count == RDO_OCL_OBJECTS_TOGETHER) {
        struct rdo_ocl_objects *more = rdo_alloc(sizeof *more);
        if (more == NULL) {
            return NULL;
        }
        more->next = graph->objects;
        more->count = 0;
        graph->objects = more;
    }
    return &graph->objects->object[graph->objects->count];
}

static rondo_backend_result make_object(struct building *b, uint64_t index, const rondo_backend_op *op,
                                        struct rdo_ocl_object **out_object) {
    int32_t error = OCL_SUCCESS;
    struct rdo_ocl_object *object = next_object(b->graph);
    if (object == NULL) {
        return RONDO_BACKEND_NO_MEMORY;
    }
    *object = (struct rdo_ocl_object){.kernel = op->kernel, .first = index};
    object->handle = rdo_ocl_object_take(object->kernel, &error);
    if (object->handle == NULL) {
        return rdo_ocl_failed(&b->outcome, "clCreateKernel", error);
    }
    b->graph->objects->count++;
    *out_object = object;
    rondo_backend_result result = rdo_ocl_plan_range(object->kernel, op->grid, &object->range, &b->outcome);
    return result == RONDO_BACKEND_DONE ? set_args(b, object, op) : result;
}

static rondo_backend_result build_launch(struct building *b, uint64_t index, const rondo_backend_op *op) {
    const struct rdo_ocl_kernel *kernel = op->kernel;
    struct rdo_ocl_object **recent = &b->recent[hash_launch(op)];
    struct rdo_ocl_node *node = &b->graph->nodes[index];
    node->values = b->values;
    for (uint32_t k = 0; k < kernel->value_count; k++) {
        *b->values++ = op->values[kernel->value_param[k]];
    }
    if (b->shares && *recent != NULL && is_made_for(b, *recent, op)) {
        node->object = *recent;
        return RONDO_BACKEND_DONE;
    }
    rondo_backend_result result = make_object(b, index, op, &node->object);
    *recent = result == RONDO_BACKEND_DONE ? node->object : NULL;
    return result;
}

static rondo_backend_result build_nodes(struct rdo_ocl_graph *graph, const rondo_backend_nodes *nodes, bool shares) {
    rondo_place places[RONDO_MAX_PARAMS];
    rondo_backend_op op;
    struct building b = {.graph = graph, .nodes = nodes, .values = graph->values, .bytes = graph->bytes,
                         .others = graph->ops, .shares = shares};
    rondo_backend_result result = RONDO_BACKEND_DONE;
    for (uint64_t index = 0; index < graph->count && result == RONDO_BACKEND_DONE; index++) {
        nodes->get(nodes->recording, index, places, &op);
        if (op.kind == RONDO_OP_LAUNCH) {
            result = build_launch(&b, index, &op);
        } else {
            *b.others = op;
            graph->nodes[index].op = b.others;
            graph->nodes[index].by_host = !rdo_ocl_is_command(graph->device, b.others++);
        }
    }
    return result;
}

rondo_backend_result rdo_ocl_graph_make(struct rdo_ocl_device *device, const rondo_backend_nodes *nodes,
                                        bool recorded, struct rdo_ocl_graph **out_graph) {
    *out_graph = NULL;
    struct rdo_ocl_graph *graph = rdo_alloc_zero(1, sizeof *graph);
    if (graph == NULL) {
        return RONDO_BACKEND_NO_MEMORY;
    }
    pthread_mutex_init(&graph->lock, NULL);
    graph->device = device;
    graph->count = nodes->count;
    rondo_backend_result result =
        make_tables(graph, nodes) ? build_nodes(graph, nodes, !recorded) : RONDO_BACKEND_NO_MEMORY;
    if (result == RONDO_BACKEND_DONE && recorded && !rdo_ocl_find_stretches(graph)) {
        result = RONDO_BACKEND_NO_MEMORY;
    }
    if (result != RONDO_BACKEND_DONE) {
        rdo_ocl_graph_free(device, graph);
        return result;
    }
    rdo_ocl_record(graph);
    *out_graph = graph;
    return RONDO_BACKEND_DONE;
}

rondo_backend_result rdo_ocl_graph_build(void *device, const rondo_backend_nodes *nodes,
                                         const rondo_backend_edges *edges, void **out_graph) {
    (void)edges; /* the device's queue keeps the nodes in order */
    struct rdo_ocl_graph *graph = NULL;
    rondo_backend_result result = rdo_ocl_graph_make(device, nodes, rdo_ocl_records(device), &graph);
    *out_graph = graph;
    return result;
}

static void free_objects(struct rdo_ocl_objects *objects) {
    while (objects != NULL) {
        struct rdo_ocl_objects *next = objects->next;
        for (uint32_t k = 0; k < objects->count; k++) {
            rdo_ocl_object_give(objects->object[k].kernel, objects->object[k].handle);
        }
        rdo_free(objects);
        objects = next;
    }
}

void rdo_ocl_graph_free(void *device, void *graph) {
    struct rdo_ocl_graph *dying = graph;
    (void)device;
    if (dying == NULL) {
        return;
    }
    rdo_ocl_forget_recorded(dying);
    free_objects(dying->objects);
    for (uint64_t k = 0; k < dying->mem_count; k++) {
        rdo_ocl.clReleaseMemObject(dying->mems[k]);
    }
    rdo_free(dying->nodes);
    rdo_free((void *)dying->values);
    rdo_free(dying->bytes);
    rdo_free(dying->ops);
    rdo_free(dying->mems);
    pthread_mutex_destroy(&dying->lock);
    rdo_free(dying);
}

void rdo_ocl_graph_set_value(void *graph, uint64_t node, uint32_t param, const void *value) {
    struct rdo_ocl_node *changed = &((struct rdo_ocl_graph *)graph)->nodes[node];
    const struct rdo_ocl_kernel *kernel = changed->object->kernel;
    for (uint32_t k = 0; k < kernel->value_count; k++) {
        if (kernel->value_param[k] == param) {
            changed->values[k] = value;
        }
    }
}
