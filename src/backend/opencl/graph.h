/* A graph as the files of the backend that build, record, replay and measure one see it. */
#ifndef RDO_BACKEND_OPENCL_GRAPH_H
#define RDO_BACKEND_OPENCL_GRAPH_H

#include "parts.h"

enum { RDO_OCL_OBJECTS_TOGETHER = 32 };

/* A kernel object with its arguments. Nodes that are the same share one, so that a replay touches little memory; but
 * none is shared where launches are recorded: PoCL 3.1 looks at the arguments of a recorded command when it is
 * enqueued, so that what the object has then must be what the node wants. */
struct rdo_ocl_object {
    const struct rdo_ocl_kernel *kernel;
    ocl_kernel handle;
    void *status;   /* the status word that it has */
    uint8_t *set;   /* the values that it has, one after the other */
    uint64_t first; /* the node that it was made for */
    struct rdo_ocl_range range;
};

/* Objects are made as they are needed and stay where they are: of a thousand nodes, many may share one. */
struct rdo_ocl_objects {
    struct rdo_ocl_objects *next;
    uint32_t count;
    struct rdo_ocl_object object[RDO_OCL_OBJECTS_TOGETHER];
};

/* Launches that follow one another and cannot fail, recorded as one command buffer. */
struct rdo_ocl_stretch {
    ocl_commands recorded; /* NULL: they are enqueued one by one */
    uint64_t first, last;
    bool stale; /* an object has got another value since the recording */
    const struct rdo_ocl_queue *user; /* enqueued there and not waited for: many drivers take it once at a time */
};

struct rdo_ocl_node {
    struct rdo_ocl_object *object;   /* NULL: not a launch */
    const void **values;             /* where the bytes of its values stand; they may change between replays */
    const rondo_backend_op *op;      /* of other nodes */
    struct rdo_ocl_stretch *stretch; /* that it is part of, or NULL */
    bool by_host;                    /* no command of the driver */
};

struct rdo_ocl_graph {
    struct rdo_ocl_device *device;
    pthread_mutex_t lock; /* of arguments and recordings: replays on two queues share the kernel objects */
    uint64_t count, mem_count, stretch_count;
    struct rdo_ocl_node *nodes;
    struct rdo_ocl_objects *objects; /* the newest first */
    const void **values;   /* of all nodes */
    uint8_t *bytes;        /* that the objects have as values */
    rondo_backend_op *ops; /* that are no launches */
    ocl_mem *mems;         /* sub-buffers that arguments stand for */
    struct rdo_ocl_stretch *stretches;
    ocl_command *commands; /* by node, where recorded values can be changed; else NULL */
};

static inline bool rdo_ocl_node_may_fail(const struct rdo_ocl_node *node) {
    return node->object != NULL && node->object->kernel->can_fail;
}

/* ---- building (graph.c) ---- */

/* As rdo_ocl_graph_build, with launches recorded or not. */
rondo_backend_result rdo_ocl_graph_make(struct rdo_ocl_device *device, const rondo_backend_nodes *nodes,
                                        bool recorded, struct rdo_ocl_graph **out_graph);

/* ---- arguments (replay.c) ---- */

/* Lock held: gives the node's object the node's values and the queue's status word, where it has others. */
rondo_backend_result rdo_ocl_refresh(struct rdo_ocl_graph *graph, const struct rdo_ocl_queue *queue,
                                     const struct rdo_ocl_node *node, bool *out_changed,
                                     rondo_backend_outcome *outcome);

/* ---- recorded launches (recorded.c) ---- */

/* Finds the graph's stretches. False if there is no memory. */
bool rdo_ocl_find_stretches(struct rdo_ocl_graph *graph);
/* Records every stretch; one that the driver does not record is enqueued. */
void rdo_ocl_record(struct rdo_ocl_graph *graph);
void rdo_ocl_forget_recorded(struct rdo_ocl_graph *graph);
/* Lock held: brings the recording up to date with the nodes' values. If the driver does not record them again, there is
 * none from then on. */
rondo_backend_result rdo_ocl_renew(struct rdo_ocl_graph *graph, const struct rdo_ocl_queue *queue,
                                   struct rdo_ocl_stretch *stretch, rondo_backend_outcome *outcome);
/* Lock held. */
rondo_backend_result rdo_ocl_enqueue_recorded(const struct rdo_ocl_graph *graph, struct rdo_ocl_queue *queue,
                                              struct rdo_ocl_stretch *stretch, ocl_event *out_event,
                                              rondo_backend_outcome *outcome);

#endif
