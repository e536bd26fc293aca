/* What the files of the CPU backend share. Nothing outside this folder includes it, but its unit tests. */
#ifndef RDO_BACKEND_CPU_PARTS_H
#define RDO_BACKEND_CPU_PARTS_H

#include <pthread.h>
#include <stdatomic.h>
#include <rondo/backend.h>
#include "plan.h"

#define RDO_CPU_ALIGN_BYTES ((size_t)64)
#define RDO_CPU_OBJECT_ALIGN_BYTES ((size_t)128) /* of the backend's own objects: the crew keeps its hands apart */
#define RDO_CPU_HUGE_BYTES ((size_t)2 << 20)
#define RDO_CPU_MAP_BYTES ((size_t)65536) /* a multiple of the system page size everywhere */

/* Everything that the backend takes from the world and that may be refused. Tests put their own functions here
 * to refuse on purpose; they do so while no device is open. */
struct rdo_cpu_hooks {
    void *(*alloc)(size_t align_bytes, size_t size_bytes); /* not cleared; NULL when refused */
    void (*release)(void *memory, size_t align_bytes, size_t size_bytes);
    int (*thread_create)(pthread_t *out_thread, const pthread_attr_t *attributes, void *(*main_fn)(void *),
                         void *argument);
};
extern struct rdo_cpu_hooks rdo_cpu_hooks;

struct rdo_crew;

struct rdo_cpu_device {
    struct rdo_crew *crew;
    uint32_t workers;
    uint32_t max_queues;
    uint64_t memory_bytes; /* RAM, 0 if unknown: no page can be larger */
};

struct rdo_cpu_queue {
    struct rdo_cpu_device *device;
    uint32_t launches; /* wraps; picks the launches that are timed */
};

struct rdo_cpu_kernel {
    rondo_native_fn native;
    uint64_t group[3];
    bool grouped;
    bool can_fail;
    _Atomic uint64_t item_ps; /* running estimate, picoseconds an item takes; 0: never measured */
    _Atomic uint64_t small_items; /* by that estimate, launches of fewer items are neither shared nor always timed */
};

/* A launch whose arguments are resolved. */
struct rdo_cpu_launch {
    struct rdo_cpu_kernel *kernel;
    rondo_native_call call; /* the whole launch; `failed` is set when it runs */
    uint64_t items;
};

/* By number and not by pointer: an empty span may have no page, and nothing may be added to a null pointer. */
static inline uint8_t *rdo_cpu_address(rondo_place place) {
    return (uint8_t *)((uintptr_t)place.page + (uintptr_t)place.offset_bytes);
}

static inline void rdo_cpu_resolve_args(const rondo_backend_op *op, void **out_args) {
    for (uint32_t index = 0; index < op->arg_count; index++) {
        const void *value = op->values[index];
        /* The kernel's call has no const, its contract has: a value is read only. */
        out_args[index] = value != NULL ? (void *)(uintptr_t)value : rdo_cpu_address(op->places[index]);
    }
}

static inline uint64_t rdo_cpu_groups_along(uint64_t grid, uint64_t group) {
    return grid <= group ? 1 : grid / group + (grid % group != 0 ? 1 : 0);
}

static inline uint64_t rdo_cpu_items(const rondo_grid *grid) {
    return grid->x * grid->y * grid->z; /* the core has seen that it fits */
}

/* The whole launch; `failed` is set when it runs. What a kernel is shared out by, its units, are items or groups. */
static inline void rdo_cpu_prepare_call(const struct rdo_cpu_kernel *kernel, const rondo_grid *grid, void *const *args,
                                        rondo_native_call *out_call) {
    out_call->args = args;
    out_call->grid[0] = grid->x;
    out_call->grid[1] = grid->y;
    out_call->grid[2] = grid->z;
    out_call->first = 0;
    out_call->last = rdo_cpu_items(grid);
    if (kernel->grouped) {
        out_call->last = rdo_cpu_groups_along(grid->x, kernel->group[0]) *
                         rdo_cpu_groups_along(grid->y, kernel->group[1]) *
                         rdo_cpu_groups_along(grid->z, kernel->group[2]);
    }
    out_call->failed = NULL;
}

/* Known to be far too small to be shared. */
static inline bool rdo_cpu_stays_whole(const struct rdo_cpu_kernel *kernel, uint64_t items, uint64_t units) {
    return units == 1 || items < atomic_load_explicit(&kernel->small_items, memory_order_relaxed) / 2;
}

/* memory.c */
void *rdo_cpu_alloc(size_t size_bytes); /* cleared */
void *rdo_cpu_alloc_raw(size_t size_bytes); /* the same, not cleared: for what is large and filled at once */
void rdo_cpu_release(void *memory, size_t size_bytes);
rondo_backend_result rdo_cpu_page_alloc(void *device, rondo_page_kind kind, uint64_t size_bytes, void **out_page);
void rdo_cpu_page_free(void *device, rondo_page_kind kind, void *page, uint64_t size_bytes);
rondo_backend_result rdo_cpu_page_import(void *device, void *data, uint64_t size_bytes, void **out_page);
void rdo_cpu_page_unimport(void *device, void *page, uint64_t size_bytes);
void *rdo_cpu_host_address(void *device, void *page);

/* bytes.c */
void rdo_cpu_move(struct rdo_cpu_queue *queue, const rondo_backend_op *op); /* copy, write, read */
rondo_backend_result rdo_cpu_fill(struct rdo_cpu_queue *queue, const rondo_backend_op *op,
                                  rondo_backend_outcome *outcome);
struct rdo_cpu_cost rdo_cpu_estimate_bytes(const rondo_backend_op *op); /* copy, write, ... */

/* exec.c */
rondo_backend_result rdo_cpu_fail(rondo_backend_outcome *outcome, rondo_backend_result result, uint32_t reason,
                                  const char *message);
struct rdo_cpu_cost rdo_cpu_estimate_launch(const struct rdo_cpu_kernel *kernel, uint64_t items, uint64_t units);
rondo_backend_result rdo_cpu_run_launch(struct rdo_cpu_queue *queue, const struct rdo_cpu_launch *launch,
                                        rondo_backend_outcome *outcome);
rondo_backend_result rdo_cpu_launch(void *queue, void *kernel, const rondo_grid *grid, void *const *args,
                                    rondo_backend_outcome *outcome);
rondo_backend_result rdo_cpu_submit(void *queue, const rondo_backend_op *op, rondo_backend_outcome *outcome);

/* graph.c */
rondo_backend_result rdo_cpu_graph_build(void *device, const rondo_backend_nodes *nodes,
                                         const rondo_backend_edges *edges, void **out_graph);
rondo_backend_result rdo_cpu_graph_submit(void *queue, void *graph, uint64_t first, uint64_t last,
                                          rondo_backend_outcome *outcome);
void rdo_cpu_graph_set_value(void *graph, uint64_t node, uint32_t param, const void *value);
void rdo_cpu_graph_free(void *device, void *graph);

#endif
