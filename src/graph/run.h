/* The one-call forms [C21]. */
#ifndef RDO_GRAPH_RUN_H
#define RDO_GRAPH_RUN_H

#include "graph/graph.h"

rondo_status rdo_capture_step(rondo_stream *handle, rondo_step_fn step, void *user, rondo_graph **out_graph);
rondo_status rdo_run(rondo_stream *handle, uint64_t key, rondo_step_fn step, void *user, rondo_run_info *out_info);
rondo_status rdo_run_forget(rondo_stream *handle, uint64_t key);

#endif
