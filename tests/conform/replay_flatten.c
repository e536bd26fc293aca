/* A replay inside a window: the graph's nodes become the window's. */
#include "capture_tools.h"

/* The inner graph adds 1 in place and copies on: two nodes. */
struct inner {
    rondo_buffer state, out;
    rondo_graph *graph;
};

static struct inner record_inner(struct conform *t) {
    struct inner inner = {.state = conform_buffer(t, 64), .out = conform_buffer(t, 64)};
    conform_fill_i32(t, inner.state, 0);
    conform_fill_i32(t, inner.out, 0);
    open_window(t->stream);
    CHECK_OK(add_in_place(t->stream, rondo_whole(inner.state), NULL, "inner add"));
    CHECK_OK(rondo_copy(t->stream, rondo_whole(inner.out), rondo_whole(inner.state), "inner copy"));
    inner.graph = seal(t, t->stream);
    return inner;
}

/* [R8, C3] */
static void a_replay_in_a_window_appends_the_nodes_and_runs_nothing(struct conform *t) {
    struct inner inner = record_inner(t);
    rondo_buffer last = conform_buffer(t, 64);
    open_window(t->stream);
    CHECK_OK(rondo_graph_replay(inner.graph, t->stream));
    CHECK_EQUAL(window_info(t->stream).ops, 2);
    CHECK_OK(rondo_graph_replay(inner.graph, t->stream));
    CHECK_OK(rondo_copy(t->stream, rondo_whole(last), rondo_whole(inner.out), "outer"));
    rondo_graph *outer = seal(t, t->stream);
    conform_expect_all_i32(t, inner.state, 0, 16);
    CHECK_EQUAL(graph_info(inner.graph).replays, 0);
    CHECK_EQUAL(graph_info(outer).nodes, 5);
    rondo_node_info node;
    CHECK_OK(rondo_graph_get_node(outer, 2, &node));
    CHECK(strcmp(node.label, "inner add") == 0);
    CHECK_EQUAL(node.kind, RONDO_NODE_HOST_CALL);
    for (int32_t i = 1; i < 4; i++) {
        CHECK_OK(rondo_graph_replay(outer, t->stream));
        conform_expect_all_i32(t, inner.state, 2 * i, 16);
        conform_expect_all_i32(t, last, 2 * i, 16);
    }
}

/* [R8, P3] */
static void the_outer_graph_outlives_the_inner_one_and_its_buffers(struct conform *t) {
    struct inner inner = record_inner(t);
    rondo_buffer last = conform_buffer(t, 64);
    open_window(t->stream);
    CHECK_OK(rondo_graph_replay(inner.graph, t->stream));
    CHECK_OK(rondo_copy(t->stream, rondo_whole(last), rondo_whole(inner.out), NULL));
    rondo_graph *outer = seal(t, t->stream);
    rondo_graph_release(inner.graph);
    rondo_buffer_release(inner.state);
    rondo_buffer_release(inner.out);
    rondo_buffer canaries[20];
    for (int32_t i = 0; i < 20; i++) {
        canaries[i] = conform_buffer(t, 64);
        conform_fill_i32(t, canaries[i], -i);
    }
    for (int32_t i = 1; i < 4; i++) {
        CHECK_OK(rondo_graph_replay(outer, t->stream));
        conform_expect_all_i32(t, last, i, 16);
    }
    for (int32_t i = 0; i < 20; i++) conform_expect_all_i32(t, canaries[i], -i, 16);
}

/* [R8] The inner graph goes while the window is still open. */
static void the_inner_graph_may_go_before_the_window_closes(struct conform *t) {
    struct inner inner = record_inner(t);
    open_window(t->stream);
    CHECK_OK(rondo_graph_replay(inner.graph, t->stream));
    rondo_graph_release(inner.graph);
    rondo_graph *outer = seal(t, t->stream);
    CHECK_OK(rondo_graph_replay(outer, t->stream));
    conform_expect_all_i32(t, inner.out, 1, 16);
}

/* [R8, P3] Callbacks and host blocks are shared, and given back when the last graph goes. */
static void host_blocks_and_callbacks_go_with_the_last_of_both_graphs(struct conform *t) {
    int released = 0, block_released = 0;
    static int32_t memory[16];
    rondo_buffer target = conform_buffer(t, 64), block = RONDO_NO_BUFFER;
    CHECK_OK(rondo_host_import(t->stream, memory, sizeof memory, count_release, &block_released, &block));
    open_window(t->stream);
    CHECK_OK(rondo_write_live(t->stream, rondo_whole(target), rondo_whole(block), NULL));
    CHECK_OK(rondo_host_call(t->stream, host_nothing, &released, count_release, NULL, 0, NULL));
    rondo_graph *inner = seal(t, t->stream);
    rondo_buffer_release(block);
    open_window(t->stream);
    CHECK_OK(rondo_graph_replay(inner, t->stream));
    rondo_graph *outer = seal(t, t->stream);
    rondo_graph_release(inner);
    CHECK_EQUAL(released, 0);
    CHECK_EQUAL(block_released, 0);
    memory[4] = 44;
    CHECK_OK(rondo_graph_replay(outer, t->stream));
    CHECK_EQUAL(conform_read_i32(t, target, 4), 44);
    rondo_graph_release(outer);
    CHECK_EQUAL(released, 1);
    CHECK_EQUAL(block_released, 1);
}

struct pair {
    rondo_buffer target;
    int32_t values[16];
};

static rondo_status write_pair(rondo_stream *stream, void *user) {
    const struct pair *pair = user;
    return rondo_write(stream, rondo_whole(pair->target), pair->values, "snapshot");
}

/* [R8, W2] Snapshots too. */
static void the_outer_graph_keeps_the_inner_ones_snapshots(struct conform *t) {
    struct pair pair = {.target = conform_buffer(t, 64), .values = {0, 0, 7}};
    rondo_graph *inner = capture_step(t, t->stream, write_pair, &pair);
    open_window(t->stream);
    CHECK_OK(rondo_graph_replay(inner, t->stream));
    rondo_graph *outer = seal(t, t->stream);
    rondo_graph_release(inner);
    for (int i = 0; i < 3; i++) {
        conform_fill_i32(t, pair.target, 0);
        CHECK_OK(rondo_graph_replay(outer, t->stream));
        CHECK_EQUAL(conform_read_i32(t, pair.target, 2), 7);
    }
}

/* [R8, R2] What the inner graph reads and an earlier node of the outer one writes is no live-in of the outer one. */
static void live_in_is_found_on_the_flat_list(struct conform *t) {
    struct inner inner = record_inner(t);
    CHECK_EQUAL(graph_info(inner.graph).live_in_bytes, 64);
    open_window(t->stream);
    CHECK_OK(fill_i32(t->stream, rondo_whole(inner.state), 100, NULL));
    CHECK_OK(rondo_graph_replay(inner.graph, t->stream));
    rondo_graph *outer = seal(t, t->stream);
    CHECK_EQUAL(graph_info(outer).live_in_bytes, 0);
    spoil(t->stream, rondo_whole(inner.state), "spoiler");
    CHECK_CODE(rondo_graph_replay(inner.graph, t->stream), RONDO_TAINTED);
    CHECK_OK(rondo_graph_replay(outer, t->stream));
    conform_expect_all_i32(t, inner.out, 101, 16);
    CHECK_OK(rondo_graph_replay(inner.graph, t->stream));
    conform_expect_all_i32(t, inner.out, 102, 16);
}

/* [R8, C15] */
static void a_spoiled_live_in_of_the_inner_graph_dooms_unless_written_before(struct conform *t) {
    struct inner inner = record_inner(t);
    spoil(t->stream, rondo_whole(inner.state), "spoiler");
    open_window(t->stream);
    CHECK_CODE(rondo_graph_replay(inner.graph, t->stream), RONDO_TAINTED);
    seal_refused(t->stream, RONDO_DOOMED);
    CHECK_CODE(rondo_span_status(rondo_whole(inner.out)), RONDO_TAINTED);
    open_window(t->stream);
    CHECK_OK(fill_i32(t->stream, rondo_whole(inner.state), 5, NULL));
    CHECK_OK(rondo_graph_replay(inner.graph, t->stream));
    CHECK_OK(rondo_graph_replay(seal(t, t->stream), t->stream));
    conform_expect_all_i32(t, inner.out, 6, 16);
}

/* [R8, C9] A lost window claims what the appended nodes would have written. */
static void a_lost_window_claims_what_its_inner_graph_would_have_written(struct conform *t) {
    struct inner inner = record_inner(t);
    open_window(t->stream);
    CHECK_OK(rondo_graph_replay(inner.graph, t->stream));
    CHECK_OK(rondo_capture_abort(t->stream));
    expect_spoiled_by(rondo_whole(inner.state), RONDO_ABORTED);
    expect_spoiled_by(rondo_whole(inner.out), RONDO_ABORTED);
    conform_fill_i32(t, inner.state, 1);
    CHECK_OK(rondo_graph_replay(inner.graph, t->stream));
    conform_expect_all_i32(t, inner.out, 2, 16);
}

/* [R8, R9] An update of the inner graph after the append is the inner one's alone, and the other way round. */
static void updates_of_one_graph_do_not_reach_the_other(struct conform *t) {
    rondo_buffer out = conform_buffer(t, 64);
    open_window(t->stream);
    CHECK_OK(conform_launch_iota(t, t->stream, rondo_whole(out), 10, 16, "iota"));
    rondo_graph *inner = seal(t, t->stream);
    open_window(t->stream);
    CHECK_OK(rondo_graph_replay(inner, t->stream));
    rondo_graph *outer = seal(t, t->stream);
    const int32_t twenty = 20, thirty = 30;
    const rondo_update of_inner = rondo_update_value(0, "start", &twenty, sizeof twenty);
    const rondo_update of_outer = rondo_update_value(0, "start", &thirty, sizeof thirty);
    CHECK_OK(rondo_graph_update(inner, &of_inner, 1));
    CHECK_OK(rondo_graph_replay(outer, t->stream));
    CHECK_EQUAL(conform_read_i32(t, out, 1), 11);
    CHECK_OK(rondo_graph_replay(inner, t->stream));
    CHECK_EQUAL(conform_read_i32(t, out, 1), 21);
    CHECK_OK(rondo_graph_update(outer, &of_outer, 1));
    CHECK_OK(rondo_graph_replay(inner, t->stream));
    CHECK_EQUAL(conform_read_i32(t, out, 1), 21);
    CHECK_OK(rondo_graph_replay(outer, t->stream));
    CHECK_EQUAL(conform_read_i32(t, out, 1), 31);
}

/* [R8, R9] An append right after an update has the new value and the new buffer, though no replay came between. */
static void an_append_sees_the_updates_made_before_it(struct conform *t) {
    rondo_buffer out = conform_buffer(t, 64), other = conform_buffer(t, 64);
    conform_fill_i32(t, out, 0);
    open_window(t->stream);
    CHECK_OK(conform_launch_iota(t, t->stream, rondo_whole(out), 10, 16, "iota"));
    rondo_graph *inner = seal(t, t->stream);
    const int32_t twenty = 20;
    const rondo_update value = rondo_update_value(0, "start", &twenty, sizeof twenty);
    const rondo_update span = rondo_update_span(0, "x", rondo_whole(other));
    CHECK_OK(rondo_graph_update(inner, &value, 1));
    open_window(t->stream);
    CHECK_OK(rondo_graph_replay(inner, t->stream));
    rondo_graph *with_value = seal(t, t->stream);
    CHECK_OK(rondo_graph_update(inner, &span, 1));
    open_window(t->stream);
    CHECK_OK(rondo_graph_replay(inner, t->stream));
    rondo_graph *with_both = seal(t, t->stream);
    rondo_graph_release(inner);
    CHECK_OK(rondo_graph_replay(with_both, t->stream));
    CHECK_EQUAL(conform_read_i32(t, other, 1), 21);
    conform_expect_all_i32(t, out, 0, 16);
    CHECK_OK(rondo_graph_replay(with_value, t->stream));
    CHECK_EQUAL(conform_read_i32(t, out, 1), 21);
}

/* [R8] Three floors: what is flat can be appended again. */
static void a_flat_graph_can_be_appended_again(struct conform *t) {
    struct inner inner = record_inner(t);
    rondo_graph *floor = inner.graph;
    for (uint64_t nodes = 4; nodes <= 256; nodes *= 2) {
        open_window(t->stream);
        CHECK_OK(rondo_graph_replay(floor, t->stream));
        CHECK_OK(rondo_graph_replay(floor, t->stream));
        floor = seal(t, t->stream);
        CHECK_EQUAL(graph_info(floor).nodes, nodes);
    }
    CHECK_OK(rondo_graph_replay(floor, t->stream));
    conform_expect_all_i32(t, inner.out, 128, 16);
}

/* [R8, C24] Events of the inner graph complete at the outer one's replay. */
static void events_of_the_inner_graph_complete_with_the_outer_one(struct conform *t) {
    rondo_event *event = conform_event(t);
    open_window(t->stream);
    CHECK_OK(rondo_event_record(t->stream, event, NULL));
    CHECK_OK(rondo_event_wait(t->stream, event, NULL));
    rondo_graph *inner = seal(t, t->stream);
    open_window(t->stream);
    CHECK_OK(rondo_graph_replay(inner, t->stream));
    rondo_graph *outer = seal(t, t->stream);
    rondo_graph_release(inner);
    CHECK_CODE(rondo_event_status(event), RONDO_NOT_READY);
    CHECK_OK(rondo_graph_replay(outer, t->stream));
    CHECK_OK(rondo_event_sync(event));
}

const struct conform_case conform_replay_flatten_cases[] = {
    CONFORM_CASE(a_replay_in_a_window_appends_the_nodes_and_runs_nothing, NEEDS_MAP),
    CONFORM_CASE(the_outer_graph_outlives_the_inner_one_and_its_buffers, NEEDS_MAP),
    CONFORM_CASE(the_inner_graph_may_go_before_the_window_closes, NEEDS_MAP),
    CONFORM_CASE(host_blocks_and_callbacks_go_with_the_last_of_both_graphs, NEEDS_NOTHING),
    CONFORM_CASE(the_outer_graph_keeps_the_inner_ones_snapshots, NEEDS_NOTHING),
    CONFORM_CASE(live_in_is_found_on_the_flat_list, NEEDS_MAP),
    CONFORM_CASE(a_spoiled_live_in_of_the_inner_graph_dooms_unless_written_before, NEEDS_MAP),
    CONFORM_CASE(a_lost_window_claims_what_its_inner_graph_would_have_written, NEEDS_MAP),
    CONFORM_CASE(updates_of_one_graph_do_not_reach_the_other, NEEDS_KERNELS),
    CONFORM_CASE(an_append_sees_the_updates_made_before_it, NEEDS_KERNELS),
    CONFORM_CASE(a_flat_graph_can_be_appended_again, NEEDS_MAP),
    CONFORM_CASE(events_of_the_inner_graph_complete_with_the_outer_one, NEEDS_NOTHING),
    CONFORM_END,
};
