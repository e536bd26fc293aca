/* The plan: how the nodes of a graph are spread over the crew.
 *
 *     phase 0            phase 1         phase 2
 *     strand  a-b-c      alone  H        strand  k-l
 *     strand  d-e                        strand  m
 *     strand  f-g (after d-e)
 *
 * Nodes go to phases, which follow one another. In every other phase the caller plays the nodes alone, one by one:
 * host calls, and what is large enough to be shared by itself. The small nodes of a phase between two such are cut into
 * strands: runs of nodes that follow one another, which one hand plays from end to end, so that what one node
 * wrote the next one finds in its cache. A strand may follow others, whole.
 *
 * Invariants
 *  1. `order` names each node once. A node comes after all that it follows, in `order`.
 *  2. A node follows only nodes of earlier phases, earlier nodes of its own strand, and nodes of strands that its
 *     strand follows, directly or through others.
 *  3. Strands follow only strands before them, of the same phase.
 *  4. In a phase, the strands that follow none come first.
 */
#ifndef RDO_BACKEND_CPU_PLAN_H
#define RDO_BACKEND_CPU_PLAN_H

#include <rondo/backend.h>

/* What the plan needs to know of a node. */
struct rdo_cpu_cost {
    uint32_t ns;    /* an estimate, not 0; the most that fits is as good as more */
    bool is_large;  /* the crew can share it by itself */
    bool is_host;   /* a host call: nothing passes it */
};

static inline struct rdo_cpu_cost rdo_cpu_cost_of(uint64_t ns, bool is_large) {
    return (struct rdo_cpu_cost){.ns = ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX, .is_large = is_large};
}

struct rdo_cpu_strand {
    uint32_t first, last;               /* entries [first, last) of `order` */
    uint32_t waits;                     /* strands that it follows */
    uint32_t first_after, last_after;   /* entries of `after`: strands that follow it */
    uint64_t ns;
};

struct rdo_cpu_phase {
    uint32_t first, last;               /* entries [first, last) of `order` */
    uint32_t first_strand, last_strand; /* none: the caller plays the nodes alone */
    uint32_t free_strands;              /* how many of them follow none */
    uint64_t ns;
};

struct rdo_cpu_plan {
    uint32_t node_count, phase_count, strand_count, after_count;
    uint32_t *order;
    struct rdo_cpu_phase *phases;
    struct rdo_cpu_strand *strands;
    uint32_t *after;
    uint64_t ns;        /* of all nodes, one by one */
    uint64_t spread_ns; /* expected with `hands` */
    size_t size_bytes;
};

/* Plans a graph for `hands` hands. *out_plan is NULL if there is nothing to gain. DONE or NO_MEMORY. */
rondo_backend_result rdo_cpu_plan_make(const struct rdo_cpu_cost *costs, uint64_t count,
                                       const rondo_backend_edges *edges, uint32_t hands,
                                       struct rdo_cpu_plan **out_plan);
void rdo_cpu_plan_free(struct rdo_cpu_plan *plan); /* NULL is ignored */

#endif
