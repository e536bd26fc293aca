/* Looking at a graph: walking its nodes, and writing it as text. */
#ifndef RDO_GRAPH_WALK_H
#define RDO_GRAPH_WALK_H

#include "graph/graph.h"

/* Each takes the device lock; the caller holds the graph. Errors as in rondo/graph.h. */
rondo_status rdo_graph_info(rdo_graph *graph, rondo_graph_info *out);
rondo_status rdo_walk_node(rdo_graph *graph, const rdo_where *where, uint64_t node, rondo_node_info *out);
rondo_status rdo_walk_span(rdo_graph *graph, const rdo_where *where, uint64_t node, uint32_t span,
                           rondo_node_span *out);
rondo_status rdo_walk_predecessor(rdo_graph *graph, const rdo_where *where, uint64_t node, uint32_t k,
                                  uint64_t *out_node);

/* The whole text, to be freed with rdo_free. */
rondo_status rdo_graph_text(rdo_graph *graph, const rdo_where *where, rondo_dump_format format, char **out_text,
                            size_t *out_length);

#endif
