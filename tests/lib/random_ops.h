/* Random recordings for tests of what a graph finds out about its nodes: launches and host calls with a few accesses,
 * and events. */
#ifndef RANDOM_OPS_H
#define RANDOM_OPS_H

#include "graph/graph.h"
#include "unit.h"

enum {
    RANDOM_OPS = 40,
    RANDOM_ACCESSES = 4,
    RANDOM_KERNELS = 3,
    RANDOM_MEMORIES = 5,
    RANDOM_BYTES = 240,     /* of one allocation */
    RANDOM_APART = 256,     /* from one allocation to the next in the flat address space */
    RANDOM_SPACE = RANDOM_APART * (RANDOM_MEMORIES + 1)
};

typedef struct random_ops {
    rdo_memory memories[RANDOM_MEMORIES];
    rdo_store homes[2];
    rdo_page pages[2]; /* a home's each */
    rdo_kernel kernels[RANDOM_KERNELS]; /* with a parameter for each access that there can be, the last with none */
    const void *values[RANDOM_ACCESSES];
    rdo_host_work work;
    rdo_event events[2];
    rdo_op ops[RANDOM_OPS], *list[RANDOM_OPS];
    rdo_access accesses[RANDOM_OPS][RANDOM_ACCESSES];
    size_t count;
} random_ops;

/* A new recording of up to RANDOM_OPS nodes. */
void random_ops_make(random_ops *r);

/* How node `n` uses byte `address` of the flat space. */
bool random_ops_reads(const random_ops *r, size_t n, uint64_t address);
bool random_ops_writes(const random_ops *r, size_t n, uint64_t address);

#endif
