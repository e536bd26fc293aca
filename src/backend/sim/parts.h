/* What the files of the sim backend share. */
#ifndef RDO_BACKEND_SIM_PARTS_H
#define RDO_BACKEND_SIM_PARTS_H

#include <rondo/sim.h>

#define RDO_SIM_ALIGN_BYTES ((size_t)64)
#define RDO_SIM_FRESH 0xa5 /* what each byte of a new page holds */

/* A page of device memory. Host pages are their bytes: no place that a backend is given lies on one. */
struct rdo_sim_page {
    uint8_t *bytes;
    uint8_t *written; /* a flag per byte, so that queues may mark neighbouring bytes at once; NULL: all are written */
};

struct rdo_sim_device {
    uint32_t max_queues;
};

struct rdo_sim_queue {
    struct rdo_sim_device *device;
};

struct rdo_sim_kernel {
    rondo_native_fn native;
    uint64_t group[3]; /* 0 in x: none */
};

static inline uint8_t *rdo_sim_address(rondo_place place) {
    const struct rdo_sim_page *page = place.page;
    return page != NULL ? page->bytes + place.offset_bytes : NULL; /* an empty span may have no page */
}

/* faults.c. Counts a call and says whether it shall fail. */
bool rdo_sim_strikes(rondo_sim_call call, rondo_sim_fault *out_fault);
void rdo_sim_count_fresh(uint64_t bytes);
rondo_backend_result rdo_sim_stop(const rondo_sim_fault *fault, rondo_backend_outcome *outcome);

/* memory.c */
rondo_backend_result rdo_sim_page_alloc(void *device, rondo_page_kind kind, uint64_t size_bytes, void **out_page);
void rdo_sim_page_free(void *device, rondo_page_kind kind, void *page, uint64_t size_bytes);
rondo_backend_result rdo_sim_page_import(void *device, void *data, uint64_t size_bytes, void **out_page);
void rdo_sim_page_unimport(void *device, void *page, uint64_t size_bytes);
void *rdo_sim_host_address(void *device, void *page);
void rdo_sim_mark_written(rondo_place place, uint64_t size_bytes);
void rdo_sim_mark_copied(rondo_place target, rondo_place source, uint64_t size_bytes); /* before the bytes move */
uint64_t rdo_sim_fresh_bytes(rondo_place place, uint64_t size_bytes);

/* exec.c */
rondo_backend_result rdo_sim_submit(void *queue, const rondo_backend_op *op, rondo_backend_outcome *outcome);
rondo_backend_result rdo_sim_run(const rondo_backend_op *op, rondo_backend_outcome *outcome);

/* graph.c */
rondo_backend_result rdo_sim_graph_build(void *device, const rondo_backend_nodes *nodes,
                                         const rondo_backend_edges *edges, void **out_graph);
rondo_backend_result rdo_sim_graph_submit(void *queue, void *graph, uint64_t first, uint64_t last,
                                          rondo_backend_outcome *outcome);
void rdo_sim_graph_set_value(void *graph, uint64_t node, uint32_t param, const void *value);
void rdo_sim_graph_free(void *device, void *graph);

#endif
