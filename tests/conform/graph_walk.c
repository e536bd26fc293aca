/* What a graph tells about itself: its numbers, its nodes, and the dependences between them. */
#include "capture_tools.h"

static rondo_node_info node_info(rondo_graph *graph, uint64_t node) {
    rondo_node_info info;
    CHECK_OK(rondo_graph_get_node(graph, node, &info));
    return info;
}

static bool precedes(rondo_graph *graph, uint64_t earlier, uint64_t node) {
    uint32_t count = node_info(graph, node).predecessors;
    for (uint32_t k = 0; k < count; k++) {
        uint64_t predecessor = UINT64_MAX;
        CHECK_OK(rondo_graph_get_predecessor(graph, node, k, &predecessor));
        if (predecessor == earlier) return true;
    }
    return false;
}

/* The predecessors are these, in ascending order, and no others. */
static void expect_predecessors(rondo_graph *graph, uint64_t node, const uint64_t *expected, uint32_t count) {
    uint64_t predecessor = UINT64_MAX;
    CHECK_EQUAL(node_info(graph, node).predecessors, count);
    for (uint32_t k = 0; k < count; k++) {
        CHECK_OK(rondo_graph_get_predecessor(graph, node, k, &predecessor));
        CHECK_EQUAL(predecessor, expected[k]);
    }
    CHECK_CODE(rondo_graph_get_predecessor(graph, node, count, &predecessor), RONDO_RANGE);
}

/* [M6] */
static void the_numbers_of_a_graph_are_exact(struct conform *t) {
    rondo_buffer a = conform_buffer(t, 4096), b = conform_buffer(t, 4096), c = conform_buffer(t, 4096);
    rondo_buffer block = conform_host_block(t, 512);
    conform_fill_i32(t, a, 1);
    open_window(t->stream);
    CHECK_OK(fill_i32(t->stream, rondo_slice(b, 0, 1024), 2, NULL));
    CHECK_OK(rondo_copy(t->stream, rondo_whole(c), rondo_whole(b), NULL));
    CHECK_OK(rondo_copy(t->stream, rondo_slice(b, 0, 2048), rondo_slice(a, 0, 2048), NULL));
    CHECK_OK(rondo_write_live(t->stream, rondo_slice(a, 0, 512), rondo_whole(block), NULL));
    rondo_graph *graph = seal(t, t->stream);
    rondo_graph_info info = graph_info(graph);
    CHECK(info.id != 0);
    CHECK_EQUAL(info.nodes, 4);
    CHECK(info.device_bytes >= 3 * 4096);
    CHECK(info.host_bytes >= 512);
    CHECK_EQUAL(info.live_in_bytes, 3072 + 2048 + 512);
    CHECK_EQUAL(info.written_bytes, 4096 + 2048 + 512);
    CHECK_EQUAL(info.replays, 0);
    for (uint64_t i = 1; i < 4; i++) {
        CHECK_OK(rondo_graph_replay(graph, t->stream));
        conform_settle(t);
        CHECK_EQUAL(graph_info(graph).replays, i);
    }
    CHECK_CODE(rondo_graph_get_info(graph, NULL), RONDO_INVALID);
}

/* [M6] Ids are the process's, never used twice. */
static void no_two_graphs_have_the_same_id(struct conform *t) {
    rondo_buffer buffer = conform_buffer(t, 64);
    uint64_t last = 0;
    for (int i = 0; i < 100; i++) {
        open_window(t->stream);
        CHECK_OK(fill_i32(t->stream, rondo_whole(buffer), i, NULL));
        rondo_graph *graph = seal(t, t->stream);
        CHECK(graph_info(graph).id != last);
        last = graph_info(graph).id;
        rondo_graph_release(graph);
    }
}

/* [M6] */
static void the_device_lists_its_graphs_largest_first(struct conform *t) {
    static const uint64_t sizes[] = {64, 1 << 20, 4096};
    rondo_graph *graphs[COUNT_OF(sizes)];
    rondo_graph_holding holdings[4];
    CHECK_EQUAL(rondo_device_list_graphs(t->device, NULL, 0), 0);
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        rondo_buffer buffer = conform_buffer(t, sizes[i]);
        open_window(t->stream);
        CHECK_OK(fill_i32(t->stream, rondo_whole(buffer), 1, NULL));
        graphs[i] = seal(t, t->stream);
    }
    CHECK_EQUAL(rondo_device_list_graphs(t->device, NULL, 0), 3);
    CHECK_EQUAL(rondo_device_list_graphs(t->device, holdings, 1), 3);
    CHECK_EQUAL(holdings[0].graph_id, graph_info(graphs[1]).id);
    CHECK_EQUAL(rondo_device_list_graphs(t->device, holdings, 4), 3);
    CHECK_EQUAL(holdings[1].graph_id, graph_info(graphs[2]).id);
    CHECK_EQUAL(holdings[2].graph_id, graph_info(graphs[0]).id);
    CHECK(holdings[0].device_bytes >= 1 << 20);
    CHECK_EQUAL(holdings[2].nodes, 1);
    for (size_t i = 0; i < COUNT_OF(graphs); i++) rondo_graph_release(graphs[i]);
    CHECK_EQUAL(rondo_device_list_graphs(t->device, holdings, 4), 0);
}

static rondo_node_span node_span(rondo_graph *graph, uint64_t node, uint32_t index) {
    rondo_node_span span;
    CHECK_OK(rondo_graph_get_node_span(graph, node, index, &span));
    return span;
}

static void expect_span(rondo_graph *graph, uint64_t node, rondo_span expected, rondo_access_mode mode, bool host) {
    uint32_t count = node_info(graph, node).spans;
    expected = exact(expected);
    for (uint32_t i = 0; i < count; i++) {
        rondo_node_span span = node_span(graph, node, i);
        if (span.memory_id == expected.buffer.id && span.offset_bytes == expected.offset_bytes &&
            span.size_bytes == expected.size_bytes && span.mode == mode && span.host == host) {
            return;
        }
    }
    fail_msg("node %u does not have the span", (unsigned)node);
}

struct all_kinds {
    rondo_buffer a, b, block;
    rondo_event *event;
};

static rondo_status play_all_kinds(rondo_stream *stream, void *user) {
    const struct all_kinds *k = user;
    const int32_t values[16] = {1};
    rondo_rect target = {rondo_whole(k->b), 16}, source = {rondo_whole(k->a), 16};
    const rondo_host_access access = {rondo_slice(k->b, 8, 8), RONDO_READS_WRITES, NULL};
    rondo_status status = fill_i32(stream, rondo_slice(k->a, 16, 32), 5, "n0");
    if (!status) status = rondo_copy(stream, rondo_slice(k->b, 0, 16), rondo_slice(k->a, 16, 16), "n1");
    if (!status) status = rondo_copy_2d(stream, target, source, 8, 2, "n2");
    if (!status) status = rondo_write(stream, rondo_whole(k->a), values, "n3");
    if (!status) status = rondo_write_live(stream, rondo_whole(k->a), rondo_whole(k->block), "n4");
    if (!status) status = rondo_read_async(stream, rondo_slice(k->a, 0, 32), rondo_slice(k->block, 32, 32), "n5");
    if (!status) status = rondo_host_call(stream, host_nothing, NULL, NULL, &access, 1, "n6");
    if (!status) status = rondo_event_record(stream, k->event, "n7");
    if (!status) status = rondo_event_wait(stream, k->event, "n8");
    return status;
}

/* [C3, O8] */
static void every_kind_of_node_can_be_walked(struct conform *t) {
    static const rondo_node_kind kinds[] = {
        RONDO_NODE_FILL,      RONDO_NODE_COPY,         RONDO_NODE_COPY_2D,
        RONDO_NODE_WRITE,     RONDO_NODE_WRITE_LIVE,   RONDO_NODE_READ_ASYNC,
        RONDO_NODE_HOST_CALL, RONDO_NODE_EVENT_RECORD, RONDO_NODE_EVENT_WAIT};
    struct all_kinds k = {.a = conform_buffer(t, 64), .b = conform_buffer(t, 64), .block = conform_host_block(t, 64),
                          .event = conform_event(t)};
    conform_fill_i32(t, k.a, 1);
    conform_fill_i32(t, k.b, 1);
    rondo_graph *graph = capture_step(t, t->stream, play_all_kinds, &k);
    CHECK_EQUAL(graph_info(graph).nodes, COUNT_OF(kinds));
    for (uint64_t i = 0; i < COUNT_OF(kinds); i++) {
        char label[8];
        snprintf(label, sizeof label, "n%d", (int)i);
        CHECK_EQUAL(node_info(graph, i).kind, kinds[i]);
        CHECK(strcmp(node_info(graph, i).label, label) == 0);
        CHECK(node_info(graph, i).kernel[0] == 0);
    }
    expect_span(graph, 0, rondo_slice(k.a, 16, 32), RONDO_WRITES, false);
    expect_span(graph, 1, rondo_slice(k.a, 16, 16), RONDO_READS, false);
    expect_span(graph, 1, rondo_slice(k.b, 0, 16), RONDO_WRITES, false);
    expect_span(graph, 3, rondo_whole(k.a), RONDO_WRITES, false);
    expect_span(graph, 4, rondo_whole(k.block), RONDO_READS, true);
    expect_span(graph, 5, rondo_slice(k.block, 32, 32), RONDO_WRITES, true);
    expect_span(graph, 6, rondo_slice(k.b, 8, 8), RONDO_READS_WRITES, false);
    CHECK_EQUAL(node_info(graph, 0).spans, 1);
    CHECK_EQUAL(node_info(graph, 1).spans, 2);
}

/* [E2] */
static void a_walk_past_the_end_or_into_nothing_is_refused(struct conform *t) {
    rondo_buffer buffer = conform_buffer(t, 64);
    rondo_node_info node;
    rondo_node_span span;
    uint64_t predecessor = 0;
    open_window(t->stream);
    CHECK_OK(fill_i32(t->stream, rondo_whole(buffer), 1, NULL));
    rondo_graph *graph = seal(t, t->stream);
    CHECK_CODE(rondo_graph_get_node(graph, 1, &node), RONDO_RANGE);
    CHECK_CODE(rondo_graph_get_node(graph, UINT64_MAX, &node), RONDO_RANGE);
    CHECK_CODE(rondo_graph_get_node(graph, 0, NULL), RONDO_INVALID);
    CHECK_CODE(rondo_graph_get_node_span(graph, 0, 1, &span), RONDO_RANGE);
    CHECK_CODE(rondo_graph_get_node_span(graph, 7, 0, &span), RONDO_RANGE);
    CHECK_CODE(rondo_graph_get_node_span(graph, 0, 0, NULL), RONDO_INVALID);
    CHECK_CODE(rondo_graph_get_predecessor(graph, 0, 0, &predecessor), RONDO_RANGE);
    CHECK_CODE(rondo_graph_get_predecessor(graph, 9, 0, &predecessor), RONDO_RANGE);
    CHECK_CODE(rondo_graph_get_node(NULL, 0, &node), RONDO_STALE);
    CHECK_CODE(rondo_graph_get_node_span(NULL, 0, 0, &span), RONDO_STALE);
    CHECK_CODE(rondo_graph_get_predecessor(NULL, 0, 0, &predecessor), RONDO_STALE);
}

/* [O7, O8] */
static void a_launch_node_tells_its_kernel_its_grid_and_its_parameters(struct conform *t) {
    rondo_buffer x = conform_buffer(t, 64), y = conform_buffer(t, 64);
    conform_fill_i32(t, x, 1);
    open_window(t->stream);
    CHECK_OK(conform_launch_copy(t, t->stream, rondo_slice(y, 32, 32), rondo_slice(x, 0, 32), 8, "copies"));
    CHECK_OK(conform_launch_scale(t, t->stream, rondo_whole(y), 3, 16, NULL));
    rondo_graph *graph = seal(t, t->stream);
    rondo_node_info node = node_info(graph, 0);
    CHECK_EQUAL(node.kind, RONDO_NODE_LAUNCH);
    CHECK(strcmp(node.kernel, "copy_i32") == 0);
    CHECK(strcmp(node.label, "copies") == 0);
    CHECK_EQUAL(node.grid.x, 8);
    CHECK_EQUAL(node.grid.y, 1);
    CHECK_EQUAL(node.spans, 2);
    CHECK_EQUAL(node.params, 2);
    expect_span(graph, 0, rondo_slice(x, 0, 32), RONDO_READS, false);
    expect_span(graph, 0, rondo_slice(y, 32, 32), RONDO_WRITES, false);
    CHECK(strcmp(node_span(graph, 0, 0).param, "x") == 0);
    CHECK(strcmp(node_span(graph, 0, 1).param, "y") == 0);
    CHECK_EQUAL(node_info(graph, 1).spans, 1);
    CHECK_EQUAL(node_info(graph, 1).params, 2);
    CHECK_EQUAL(node_span(graph, 1, 0).mode, RONDO_READS_WRITES);
    CHECK(node_info(graph, 1).label[0] == 0);
    expect_predecessors(graph, 1, (const uint64_t[]){0}, 1);
}

/* [R3] n0 writes a; n1 and n2 read it; n3 reads both results; n4 overwrites a; n5 stands alone. */
static void the_edges_of_a_diamond_are_its_byte_dependences(struct conform *t) {
    rondo_buffer a = conform_buffer(t, 64), b = conform_buffer(t, 64), c = conform_buffer(t, 64);
    rondo_buffer d = conform_buffer(t, 64), e = conform_buffer(t, 64);
    const rondo_host_access join[] = {{rondo_slice(b, 0, 64), RONDO_READS, NULL},
                                      {rondo_slice(c, 0, 64), RONDO_READS, NULL},
                                      {rondo_slice(d, 0, 64), RONDO_WRITES, NULL}};
    open_window(t->stream);
    CHECK_OK(fill_i32(t->stream, rondo_whole(a), 1, NULL));
    CHECK_OK(rondo_copy(t->stream, rondo_whole(b), rondo_whole(a), NULL));
    CHECK_OK(rondo_copy(t->stream, rondo_whole(c), rondo_whole(a), NULL));
    CHECK_OK(rondo_host_call(t->stream, host_nothing, NULL, NULL, join, 3, NULL));
    CHECK_OK(fill_i32(t->stream, rondo_whole(a), 2, NULL));
    CHECK_OK(fill_i32(t->stream, rondo_whole(e), 3, NULL));
    rondo_graph *graph = seal(t, t->stream);
    expect_predecessors(graph, 0, NULL, 0);
    expect_predecessors(graph, 1, (const uint64_t[]){0}, 1);
    expect_predecessors(graph, 2, (const uint64_t[]){0}, 1);
    expect_predecessors(graph, 3, (const uint64_t[]){1, 2}, 2);
    CHECK(precedes(graph, 1, 4) && precedes(graph, 2, 4) && !precedes(graph, 3, 4));
    expect_predecessors(graph, 5, NULL, 0);
}

/* [R3] Edges go by bytes, not by buffers, and a later writer takes over. */
static void edges_go_by_bytes_and_a_later_writer_takes_over(struct conform *t) {
    rondo_buffer a = conform_buffer(t, 64), b = conform_buffer(t, 64);
    open_window(t->stream);
    CHECK_OK(fill_i32(t->stream, rondo_slice(a, 0, 32), 1, NULL));
    CHECK_OK(fill_i32(t->stream, rondo_slice(a, 32, 32), 2, NULL));
    CHECK_OK(fill_i32(t->stream, rondo_slice(a, 0, 32), 3, NULL));
    CHECK_OK(rondo_copy(t->stream, rondo_slice(b, 0, 16), rondo_slice(a, 0, 16), NULL));
    CHECK_OK(rondo_copy(t->stream, rondo_slice(b, 16, 48), rondo_slice(a, 16, 48), NULL));
    rondo_graph *graph = seal(t, t->stream);
    expect_predecessors(graph, 1, NULL, 0);
    expect_predecessors(graph, 2, (const uint64_t[]){0}, 1);
    expect_predecessors(graph, 3, (const uint64_t[]){2}, 1);
    expect_predecessors(graph, 4, (const uint64_t[]){1, 2}, 2);
}

/* [R3, C5] Two temporaries in one place, one after the other: the second is written only when the first was read. */
static rondo_status two_temporaries(rondo_stream *stream, void *user) {
    const rondo_buffer *outs = user;
    rondo_status status = RONDO_OK;
    for (int32_t i = 0; !status && i < 2; i++) {
        rondo_buffer temporary = RONDO_NO_BUFFER;
        status = rondo_buffer_create(stream, 1 << 20, RONDO_USAGE_GENERAL, &temporary);
        if (!status) status = fill_i32(stream, rondo_whole(temporary), i, NULL);
        if (!status) status = rondo_copy(stream, rondo_whole(outs[i]), rondo_slice(temporary, 0, 64), NULL);
        rondo_buffer_release(temporary);
    }
    return status;
}

static const rondo_device_desc OWN_PAGES = {
    .memory = {.small_page_bytes = 65536, .small_max_bytes = 1024, .page_min_bytes = 65536, .page_max_bytes = 65536}};

static void temporaries_that_share_a_place_depend_on_each_other(struct conform *t) {
    rondo_buffer outs[2] = {conform_buffer(t, 64), conform_buffer(t, 64)};
    rondo_graph *graph = capture_step(t, t->stream, two_temporaries, outs);
    CHECK_EQUAL(graph_info(graph).nodes, 4);
    CHECK(graph_info(graph).device_bytes < 2 << 20);
    CHECK(precedes(graph, 1, 2));
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    conform_expect_all_i32(t, outs[0], 0, 16);
    conform_expect_all_i32(t, outs[1], 1, 16);
}

/* [M6] Making, walking and dropping leaves no trace in the reports. */
static void a_dropped_graph_leaves_nothing_in_the_reports(struct conform *t) {
    rondo_buffer buffer = conform_buffer(t, 4096);
    conform_fill_i32(t, buffer, 1);
    rondo_pool_report before = conform_report(t, RONDO_POOL_SMALL);
    open_window(t->stream);
    CHECK_OK(add_in_place(t->stream, rondo_whole(buffer), NULL, NULL));
    rondo_graph *graph = seal(t, t->stream);
    CHECK(conform_report(t, RONDO_POOL_SMALL).guarded_bytes >= 4096);
    rondo_buffer_info info;
    CHECK_OK(rondo_buffer_get_info(buffer, &info));
    CHECK_EQUAL(info.graphs, 1);
    rondo_graph_release(graph);
    rondo_pool_report after = conform_report(t, RONDO_POOL_SMALL);
    CHECK_EQUAL(after.guarded_bytes, 0);
    CHECK_EQUAL(after.in_use_bytes, before.in_use_bytes);
    CHECK_EQUAL(after.allocations, before.allocations);
    CHECK_OK(rondo_buffer_get_info(buffer, &info));
    CHECK_EQUAL(info.graphs, 0);
    CHECK_EQUAL(conform_stats(t).graphs, 0);
    CHECK_EQUAL(conform_stats(t).metadata_pinned, 0);
}

const struct conform_case conform_graph_walk_cases[] = {
    CONFORM_CASE(the_numbers_of_a_graph_are_exact, NEEDS_NOTHING),
    CONFORM_CASE(no_two_graphs_have_the_same_id, NEEDS_NOTHING),
    CONFORM_CASE(the_device_lists_its_graphs_largest_first, NEEDS_NOTHING),
    CONFORM_CASE(every_kind_of_node_can_be_walked, NEEDS_MAP),
    CONFORM_CASE(a_walk_past_the_end_or_into_nothing_is_refused, NEEDS_NOTHING),
    CONFORM_CASE(a_launch_node_tells_its_kernel_its_grid_and_its_parameters, NEEDS_KERNELS),
    CONFORM_CASE(the_edges_of_a_diamond_are_its_byte_dependences, NEEDS_MAP),
    CONFORM_CASE(edges_go_by_bytes_and_a_later_writer_takes_over, NEEDS_NOTHING),
    CONFORM_CASE_ON(temporaries_that_share_a_place_depend_on_each_other, NEEDS_NOTHING, &OWN_PAGES),
    CONFORM_CASE(a_dropped_graph_leaves_nothing_in_the_reports, NEEDS_MAP),
    CONFORM_END,
};
