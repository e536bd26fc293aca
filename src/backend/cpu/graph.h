/* The CPU's graph: what graph.c builds and plays in the order of recording, and spread.c plays by a plan. */
#ifndef RDO_BACKEND_CPU_GRAPH_H
#define RDO_BACKEND_CPU_GRAPH_H

#include <stdalign.h>
#include "parts.h"
#include "plan.h"

/* A node fills one cache line. A small launch, the common case, is replayed from its node alone; everything else has a
 * longer record beside. */
struct rdo_cpu_node {
    rondo_native_fn native; /* NULL: one of the two records is given */
    union {
        rondo_native_call call; /* `failed` is NULL if the kernel may fail: each replay then lends it a word */
        struct {
            struct rdo_cpu_launch *launch;
            rondo_backend_op *op; /* of any other kind */
        };
    };
};

_Static_assert(sizeof(struct rdo_cpu_node) == 64, "a node is a cache line");

struct rdo_cpu_spread;

/* Room for records, which are made as they are needed and stay where they are. */
struct rdo_cpu_records {
    struct rdo_cpu_records *next;
    size_t size_bytes, used_bytes;
};

/* The head, the nodes and then the argument pointers of all launches are one block; the records are in others. */
struct rdo_cpu_graph {
    alignas(64) size_t size_bytes;
    uint64_t count;
    struct rdo_cpu_records *records; /* the newest first */
    struct rdo_cpu_spread *spread; /* NULL: the nodes lie, and are played, in the order of recording */
    /* Where kernels report that have said that they cannot fail, one for all nodes that the caller plays. */
    alignas(64) uint32_t failed;
    alignas(64) struct rdo_cpu_node nodes[];
};

/* graph.c: plays a node of any kind. */
rondo_backend_result rdo_cpu_play_node(struct rdo_cpu_queue *queue, const struct rdo_cpu_node *node,
                                       rondo_backend_outcome *outcome);

/* spread.c: how a graph is played by a plan. */
/* Takes the plan over, even when there is NO_MEMORY. */
rondo_backend_result rdo_cpu_spread_make(struct rdo_cpu_plan *plan, struct rdo_cpu_spread **out_spread);
void rdo_cpu_spread_free(struct rdo_cpu_spread *spread); /* NULL is ignored */
/* Where a node lies among the graph's. */
uint32_t rdo_cpu_spread_place(const struct rdo_cpu_spread *spread, uint64_t node);
/* The word in which the kernel of the node reports failure; NULL if the caller plays it alone. */
uint32_t *rdo_cpu_spread_word(struct rdo_cpu_spread *spread, uint64_t node);
rondo_backend_result rdo_cpu_spread_submit(struct rdo_cpu_queue *queue, struct rdo_cpu_graph *graph, uint64_t first,
                                           uint64_t last, rondo_backend_outcome *outcome);

#endif
