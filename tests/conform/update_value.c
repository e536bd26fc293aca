/* Changing values of a sealed graph, and everything about naming what is to be changed. */
#include "capture_tools.h"

enum { ITEMS = 16, SIZE = 64 };

/* Three launches: n0 "first" and n1 "second" are iotas into x and y, n2 "scale" multiplies x; n3 is a fill of z. */
struct made {
    rondo_buffer x, y, z;
    rondo_graph *graph;
};

static struct made make(struct conform *t) {
    struct made m = {.x = conform_buffer(t, SIZE), .y = conform_buffer(t, SIZE), .z = conform_buffer(t, SIZE)};
    open_window(t->stream);
    CHECK_OK(conform_launch_iota(t, t->stream, rondo_whole(m.x), 1, ITEMS, "first"));
    CHECK_OK(conform_launch_iota(t, t->stream, rondo_whole(m.y), 2, ITEMS, "second"));
    CHECK_OK(conform_launch_scale(t, t->stream, rondo_whole(m.x), 10, ITEMS, "scale"));
    CHECK_OK(fill_i32(t->stream, rondo_whole(m.z), 3, "fill"));
    m.graph = seal(t, t->stream);
    return m;
}

static void expect_made(struct conform *t, const struct made *m, int32_t x0, int32_t y0) {
    CHECK_OK(rondo_graph_replay(m->graph, t->stream));
    CHECK_EQUAL(conform_read_i32(t, m->x, 0), x0);
    CHECK_EQUAL(conform_read_i32(t, m->y, 0), y0);
    conform_expect_all_i32(t, m->z, 3, ITEMS);
}

/* [R9] */
static void a_value_is_changed_for_later_replays(struct conform *t) {
    struct made m = make(t);
    expect_made(t, &m, 10, 2);
    for (int32_t i = 3; i < 20; i++) {
        const rondo_update update = rondo_update_value(0, "start", &i, sizeof i);
        CHECK_OK(rondo_graph_update(m.graph, &update, 1));
        CHECK_EQUAL(conform_read_i32(t, m.x, 0), i == 3 ? 10 : 10 * (i - 1));
        expect_made(t, &m, 10 * i, 2);
    }
}

/* [R9] */
static void a_node_can_be_named_by_its_label(struct conform *t) {
    struct made m = make(t);
    const int32_t seven = 7;
    rondo_update update = rondo_update_value(12345, "start", &seven, sizeof seven);
    update.label = "second";
    CHECK_OK(rondo_graph_update(m.graph, &update, 1));
    expect_made(t, &m, 10, 7);
}

/* [R9] */
static void several_updates_take_effect_together(struct conform *t) {
    struct made m = make(t);
    const int32_t values[] = {4, 5, 6};
    const rondo_update updates[] = {rondo_update_value(0, "start", &values[0], 4),
                                    rondo_update_value(1, "start", &values[1], 4),
                                    rondo_update_value(2, "k", &values[2], 4)};
    CHECK_OK(rondo_graph_update(m.graph, updates, COUNT_OF(updates)));
    expect_made(t, &m, 24, 5);
}

/* [R9] Two for the same parameter in one call: the later one counts. */
static void the_later_of_two_updates_of_one_parameter_counts(struct conform *t) {
    struct made m = make(t);
    const int32_t values[] = {4, 5};
    const rondo_update updates[] = {rondo_update_value(0, "start", &values[0], 4),
                                    rondo_update_value(0, "start", &values[1], 4)};
    CHECK_OK(rondo_graph_update(m.graph, updates, COUNT_OF(updates)));
    expect_made(t, &m, 50, 2);
}

/* [R9] An update of nothing is legal and changes nothing. */
static void an_update_of_nothing_changes_nothing(struct conform *t) {
    struct made m = make(t);
    CHECK_OK(rondo_graph_update(m.graph, NULL, 0));
    expect_made(t, &m, 10, 2);
}

/* [R9] Whose memory the value stood in, and what became of it, does not matter. */
static void a_value_is_copied_from_wherever_it_stands(struct conform *t) {
    struct made m = make(t);
    static const int32_t in_read_only_memory = 31;
    int32_t *in_heap = malloc(sizeof *in_heap), on_stack = 33;
    CHECK(in_heap != NULL);
    *in_heap = 32;
    rondo_update update = rondo_update_value(0, "start", &in_read_only_memory, sizeof in_read_only_memory);
    CHECK_OK(rondo_graph_update(m.graph, &update, 1));
    expect_made(t, &m, 310, 2);
    update = rondo_update_value(0, "start", in_heap, sizeof *in_heap);
    CHECK_OK(rondo_graph_update(m.graph, &update, 1));
    *in_heap = -1;
    free(in_heap);
    expect_made(t, &m, 320, 2);
    update = rondo_update_value(0, "start", &on_stack, sizeof on_stack);
    CHECK_OK(rondo_graph_update(m.graph, &update, 1));
    on_stack = -1;
    expect_made(t, &m, 330, 2);
}

/* The update is refused with `code`, its story has the word, and the graph is as it was. */
static void refused(struct conform *t, struct made *m, rondo_update update, rondo_code code, const char *word) {
    const int32_t good = 99;
    rondo_update updates[2] = {rondo_update_value(1, "start", &good, sizeof good), update};
    rondo_status status = CHECK_CODE(rondo_graph_update(m->graph, &updates[1], 1), code);
    CHECK_SAYS(status, word);
    expect_made(t, m, 10, 2);
    CHECK_CODE(rondo_graph_update(m->graph, updates, 2), code);
    expect_made(t, m, 10, 2);
}

/* [R9, E2] Each alone, and behind one that would have been good: all or nothing. */
static void an_update_that_names_nothing_is_refused_and_changes_nothing(struct conform *t) {
    struct made m = make(t);
    const int32_t value = 5;
    rondo_update by_label = rondo_update_value(0, "start", &value, sizeof value);
    refused(t, &m, rondo_update_value(0, "nonsense", &value, 4), RONDO_INVALID, "nonsense");
    refused(t, &m, rondo_update_value(4, "start", &value, 4), RONDO_RANGE, "4");
    refused(t, &m, rondo_update_value(UINT64_MAX, "start", &value, 4), RONDO_RANGE, "start");
    by_label.label = "nobody";
    refused(t, &m, by_label, RONDO_INVALID, "nobody");
    refused(t, &m, rondo_update_value(0, NULL, &value, 4), RONDO_INVALID, "rondo_graph_update");
}

/* [R9, E2] */
static void an_update_of_the_wrong_kind_or_size_is_refused_and_changes_nothing(struct conform *t) {
    struct made m = make(t);
    const int64_t value = 5;
    refused(t, &m, rondo_update_value(0, "start", &value, 8), RONDO_INVALID, "start");
    refused(t, &m, rondo_update_value(0, "start", &value, 3), RONDO_INVALID, "start");
    refused(t, &m, rondo_update_value(0, "start", &value, 0), RONDO_INVALID, "start");
    refused(t, &m, rondo_update_value(0, "x", &value, 4), RONDO_INVALID, "x");
    refused(t, &m, rondo_update_span(0, "start", rondo_whole(m.y)), RONDO_INVALID, "start");
}

/* [R9] What has no parameters cannot be updated: told with the node, once, and the graph goes on. */
static void an_update_of_a_node_that_is_no_launch_is_refused(struct conform *t) {
    struct made m = make(t);
    const int32_t value = 5;
    refused(t, &m, rondo_update_value(3, "pattern", &value, 4), RONDO_INVALID, "3");
    rondo_update by_label = rondo_update_value(0, "pattern", &value, 4);
    by_label.label = "fill";
    refused(t, &m, by_label, RONDO_INVALID, "fill");
}

/* [R9] */
static void a_label_that_two_nodes_carry_names_neither(struct conform *t) {
    rondo_buffer x = conform_buffer(t, SIZE);
    const int32_t value = 5;
    open_window(t->stream);
    CHECK_OK(conform_launch_iota(t, t->stream, rondo_whole(x), 1, ITEMS, "twin"));
    CHECK_OK(conform_launch_iota(t, t->stream, rondo_whole(x), 2, ITEMS, "twin"));
    rondo_graph *graph = seal(t, t->stream);
    rondo_update update = rondo_update_value(0, "start", &value, sizeof value);
    update.label = "twin";
    CHECK_SAYS(CHECK_CODE(rondo_graph_update(graph, &update, 1), RONDO_INVALID), "twin");
    update.label = NULL;
    update.node = 1;
    CHECK_OK(rondo_graph_update(graph, &update, 1));
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    CHECK_EQUAL(conform_read_i32(t, x, 0), 5);
}

/* [E2] */
static void a_null_list_of_updates_is_refused(struct conform *t) {
    struct made m = make(t);
    CHECK_CODE(rondo_graph_update(m.graph, NULL, 1), RONDO_INVALID);
    expect_made(t, &m, 10, 2);
}

/* [R9] One step, captured three times: an update of one graph is that graph's alone. */
static void an_update_reaches_one_graph_of_several_equal_ones(struct conform *t) {
    struct made first = make(t);
    rondo_graph *graphs[2];
    for (size_t i = 0; i < COUNT_OF(graphs); i++) {
        open_window(t->stream);
        CHECK_OK(conform_launch_iota(t, t->stream, rondo_whole(first.x), 1, ITEMS, "first"));
        graphs[i] = seal(t, t->stream);
        const int32_t value = 40;
        const rondo_update update = rondo_update_value(0, "start", &value, sizeof value);
        if (i == 0) CHECK_OK(rondo_graph_update(graphs[0], &update, 1));
    }
    CHECK_OK(rondo_graph_replay(graphs[0], t->stream));
    CHECK_EQUAL(conform_read_i32(t, first.x, 0), 40);
    CHECK_OK(rondo_graph_replay(graphs[1], t->stream));
    CHECK_EQUAL(conform_read_i32(t, first.x, 0), 1);
    expect_made(t, &first, 10, 2);
}

/* [R9] The earlier replay had the old value, and a copy of its result that was queued between keeps it. */
static void an_update_between_two_replays_reaches_only_the_second(struct conform *t) {
    struct made m = make(t);
    rondo_buffer kept = conform_buffer(t, SIZE);
    const int32_t value = 8;
    const rondo_update update = rondo_update_value(1, "start", &value, sizeof value);
    CHECK_OK(rondo_graph_replay(m.graph, t->stream));
    CHECK_OK(rondo_graph_update(m.graph, &update, 1));
    CHECK_OK(rondo_copy(t->stream, rondo_whole(kept), rondo_whole(m.y), NULL));
    CHECK_OK(rondo_graph_replay(m.graph, t->stream));
    CHECK_EQUAL(conform_read_i32(t, kept, 0), 2);
    CHECK_EQUAL(conform_read_i32(t, m.y, 0), 8);
}

/* [R9, M8] Many updates leave no parameter blocks behind. */
static void ten_thousand_updates_are_flat(struct conform *t) {
    struct made m = make(t);
    uint64_t metadata_bytes = 0;
    for (int32_t i = 0; i < 10000; i++) {
        const rondo_update update = rondo_update_value(0, "start", &i, sizeof i);
        CHECK_OK(rondo_graph_update(m.graph, &update, 1));
        if (i % 1000 == 999) expect_made(t, &m, 10 * i, 2);
        uint64_t now = graph_info(m.graph).metadata_bytes;
        if (i == 10) metadata_bytes = now;
        if (i > 10) CHECK_EQUAL(now, metadata_bytes);
    }
}

/* [R9, E5] In an open window too: the graph is not the window's. */
static void a_graph_may_be_updated_while_a_window_is_open(struct conform *t) {
    struct made m = make(t);
    const int32_t value = 6;
    const rondo_update update = rondo_update_value(1, "start", &value, sizeof value);
    open_window(t->stream);
    CHECK_OK(fill_i32(t->stream, rondo_whole(m.z), 1, NULL));
    CHECK_OK(rondo_graph_update(m.graph, &update, 1));
    CHECK_EQUAL(window_info(t->stream).ops, 1);
    CHECK_OK(rondo_capture_abort(t->stream));
    expect_made(t, &m, 10, 6);
}

const struct conform_case conform_update_value_cases[] = {
    CONFORM_CASE(a_value_is_changed_for_later_replays, NEEDS_KERNELS),
    CONFORM_CASE(a_node_can_be_named_by_its_label, NEEDS_KERNELS),
    CONFORM_CASE(several_updates_take_effect_together, NEEDS_KERNELS),
    CONFORM_CASE(the_later_of_two_updates_of_one_parameter_counts, NEEDS_KERNELS),
    CONFORM_CASE(an_update_of_nothing_changes_nothing, NEEDS_KERNELS),
    CONFORM_CASE(a_value_is_copied_from_wherever_it_stands, NEEDS_KERNELS),
    CONFORM_CASE(an_update_that_names_nothing_is_refused_and_changes_nothing, NEEDS_KERNELS),
    CONFORM_CASE(an_update_of_the_wrong_kind_or_size_is_refused_and_changes_nothing, NEEDS_KERNELS),
    CONFORM_CASE(an_update_of_a_node_that_is_no_launch_is_refused, NEEDS_KERNELS),
    CONFORM_CASE(a_label_that_two_nodes_carry_names_neither, NEEDS_KERNELS),
    CONFORM_CASE(a_null_list_of_updates_is_refused, NEEDS_KERNELS),
    CONFORM_CASE(an_update_reaches_one_graph_of_several_equal_ones, NEEDS_KERNELS),
    CONFORM_CASE(an_update_between_two_replays_reaches_only_the_second, NEEDS_KERNELS),
    CONFORM_CASE(ten_thousand_updates_are_flat, NEEDS_KERNELS),
    CONFORM_CASE(a_graph_may_be_updated_while_a_window_is_open, NEEDS_KERNELS),
    CONFORM_END,
};
