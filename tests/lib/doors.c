#include "doors.h"

#include "backend/cpu/cpu.h"

door shut;
rondo_backend_result answer;

static bool is_shut(door which) {
    return shut == which && strike_now();
}

static rondo_backend_result refuse(rondo_backend_outcome *outcome, uint64_t node) {
    outcome->node = node;
    (void)snprintf(outcome->message, sizeof outcome->message, "made to fail");
    return answer;
}

static rondo_backend_result open_door(uint32_t index, const rondo_device_desc *desc, void **out_device,
                                      rondo_backend_outcome *outcome) {
    if (is_shut(DOOR_OPEN)) return refuse(outcome, 0);
    return rdo_backend_cpu.open(index, desc, out_device, outcome);
}

static rondo_backend_result page_alloc(void *device, rondo_page_kind kind, uint64_t size_bytes, void **out_page) {
    if (is_shut(DOOR_PAGE_ALLOC)) return answer;
    return rdo_backend_cpu.page_alloc(device, kind, size_bytes, out_page);
}

static rondo_backend_result page_import(void *device, void *data, uint64_t size_bytes, void **out_page) {
    if (is_shut(DOOR_PAGE_IMPORT)) return answer;
    return rdo_backend_cpu.page_import(device, data, size_bytes, out_page);
}

static rondo_backend_result kernel_load(void *device, const rondo_kernel_desc *desc, void **out_kernel,
                                        rondo_backend_outcome *outcome) {
    if (is_shut(DOOR_KERNEL_LOAD)) return refuse(outcome, 0);
    return rdo_backend_cpu.kernel_load(device, desc, out_kernel, outcome);
}

static rondo_backend_result queue_open(void *device, uint32_t index, void **out_queue) {
    if (is_shut(DOOR_QUEUE_OPEN)) return answer;
    return rdo_backend_cpu.queue_open(device, index, out_queue);
}

static rondo_backend_result submit(void *queue, const rondo_backend_op *op, rondo_backend_outcome *outcome) {
    if (is_shut(DOOR_SUBMIT)) return refuse(outcome, 0);
    return rdo_backend_cpu.submit(queue, op, outcome);
}

static rondo_backend_result graph_build(void *device, const rondo_backend_nodes *nodes,
                                         const rondo_backend_edges *edges, void **out_graph) {
    if (is_shut(DOOR_GRAPH_BUILD)) return answer;
    return rdo_backend_cpu.graph_build(device, nodes, edges, out_graph);
}

static rondo_backend_result graph_submit(void *queue, void *graph, uint64_t first, uint64_t last,
                                         rondo_backend_outcome *outcome) {
    if (is_shut(DOOR_GRAPH_SUBMIT)) return refuse(outcome, first);
    if (!is_shut(DOOR_GRAPH_HALF)) return rdo_backend_cpu.graph_submit(queue, graph, first, last, outcome);
    uint64_t half = first + (last - first) / 2;
    if (half == first) return refuse(outcome, first);
    rondo_backend_result result = rdo_backend_cpu.graph_submit(queue, graph, first, half, outcome);
    return result != RONDO_BACKEND_DONE ? result : refuse(outcome, half);
}

static rondo_backend with_graphs, without_graphs;

void make_backends(void) {
    with_graphs = rdo_backend_cpu;
    with_graphs.name = "doors";
    with_graphs.open = open_door;
    with_graphs.page_alloc = page_alloc;
    with_graphs.page_import = page_import;
    with_graphs.kernel_load = kernel_load;
    with_graphs.queue_open = queue_open;
    with_graphs.submit = submit;
    with_graphs.graph_build = graph_build;
    with_graphs.graph_submit = graph_submit;
    without_graphs = with_graphs;
    without_graphs.name = "doors-no-graphs";
    without_graphs.graph_build = NULL;
    without_graphs.graph_submit = NULL;
    without_graphs.graph_set_value = NULL;
    without_graphs.graph_free = NULL;
    assert_int_equal(rondo_backend_register(&with_graphs), RONDO_OK);
    assert_int_equal(rondo_backend_register(&without_graphs), RONDO_OK);
}
