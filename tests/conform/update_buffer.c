/* Changing buffers of a sealed graph: checked as at a launch, kept in place, and given back. */
#include "capture_tools.h"

enum { ITEMS = 16, SIZE = 64 };

/* One launch that copies: out = in. */
struct made {
    rondo_buffer in, out;
    rondo_graph *graph;
};

static struct made make(struct conform *t) {
    struct made m = {.in = conform_buffer(t, SIZE), .out = conform_buffer(t, SIZE)};
    conform_fill_i32(t, m.in, 1);
    conform_fill_i32(t, m.out, 0);
    open_window(t->stream);
    CHECK_OK(conform_launch_copy(t, t->stream, rondo_whole(m.out), rondo_whole(m.in), ITEMS, "copies"));
    m.graph = seal(t, t->stream);
    return m;
}

static rondo_status change(const struct made *m, const char *param, rondo_span span) {
    const rondo_update update = rondo_update_span(0, param, span);
    return rondo_graph_update(m->graph, &update, 1);
}

/* [R9] */
static void a_changed_input_is_read_by_later_replays(struct conform *t) {
    struct made m = make(t);
    rondo_buffer other = conform_buffer(t, SIZE);
    conform_fill_i32(t, other, 2);
    CHECK_OK(rondo_graph_replay(m.graph, t->stream));
    conform_expect_all_i32(t, m.out, 1, ITEMS);
    CHECK_OK(change(&m, "x", rondo_whole(other)));
    conform_expect_all_i32(t, m.out, 1, ITEMS);
    CHECK_OK(rondo_graph_replay(m.graph, t->stream));
    conform_expect_all_i32(t, m.out, 2, ITEMS);
    conform_fill_i32(t, other, 3);
    CHECK_OK(rondo_graph_replay(m.graph, t->stream));
    conform_expect_all_i32(t, m.out, 3, ITEMS);
}

/* [R9] */
static void a_changed_output_leaves_the_old_one_alone(struct conform *t) {
    struct made m = make(t);
    rondo_buffer large = conform_buffer(t, 3 * SIZE);
    conform_fill_i32(t, large, 7);
    CHECK_OK(change(&m, "y", rondo_slice(large, SIZE, SIZE)));
    CHECK_OK(rondo_graph_replay(m.graph, t->stream));
    conform_expect_all_i32(t, m.out, 0, ITEMS);
    CHECK_EQUAL(conform_read_i32(t, large, ITEMS - 1), 7);
    CHECK_EQUAL(conform_read_i32(t, large, ITEMS), 1);
    CHECK_EQUAL(conform_read_i32(t, large, 2 * ITEMS - 1), 1);
    CHECK_EQUAL(conform_read_i32(t, large, 2 * ITEMS), 7);
    CHECK_EQUAL(graph_info(m.graph).written_bytes, SIZE);
}

/* [R9, W8] An output fed back as the input, then the two swapped: each replay reads what it is told to. */
static void input_and_output_can_be_swapped(struct conform *t) {
    struct made m = make(t);
    conform_fill_i32(t, m.out, 5);
    const rondo_update swap[] = {rondo_update_span(0, "x", rondo_whole(m.out)),
                                 rondo_update_span(0, "y", rondo_whole(m.in))};
    CHECK_OK(rondo_graph_update(m.graph, swap, 2));
    CHECK_OK(rondo_graph_replay(m.graph, t->stream));
    conform_expect_all_i32(t, m.in, 5, ITEMS);
    conform_expect_all_i32(t, m.out, 5, ITEMS);
}

static void expect_old(struct conform *t, const struct made *m) {
    conform_fill_i32(t, m->in, 1);
    conform_fill_i32(t, m->out, 0);
    CHECK_OK(rondo_graph_replay(m->graph, t->stream));
    conform_expect_all_i32(t, m->out, 1, ITEMS);
}

/* [R9, W8] In place is refused for a kernel that does not allow it, and legal for one that does. */
static void an_update_to_aliased_arguments_is_refused_unless_the_kernel_allows_it(struct conform *t) {
    struct made m = make(t);
    CHECK_SAYS(CHECK_CODE(change(&m, "y", rondo_whole(m.in)), RONDO_ALIASED), "y");
    CHECK_CODE(change(&m, "x", rondo_slice(m.out, 0, SIZE)), RONDO_ALIASED);
    expect_old(t, &m);
    open_window(t->stream);
    CHECK_OK(conform_launch_add_alias(t, t->stream, rondo_whole(m.out), rondo_whole(m.in), ITEMS, NULL));
    struct made alias = {.in = m.in, .out = m.out, .graph = seal(t, t->stream)};
    CHECK_OK(change(&alias, "c", rondo_whole(m.in)));
    for (int32_t i = 2; i < 5; i++) {
        CHECK_OK(rondo_graph_replay(alias.graph, t->stream));
        conform_expect_all_i32(t, m.in, i, ITEMS);
    }
}

/* [R9, E2] */
static void an_update_is_checked_like_a_launch_and_changes_nothing_when_refused(struct conform *t) {
    struct made m = make(t);
    rondo_buffer dead = conform_buffer(t, SIZE), block = conform_host_block(t, SIZE), good = conform_buffer(t, SIZE);
    conform_fill_i32(t, good, 9);
    rondo_buffer_release(dead);
    const struct {
        rondo_span span;
        rondo_code code;
    } bad[] = {{rondo_whole(dead), RONDO_STALE},
               {rondo_whole(RONDO_NO_BUFFER), RONDO_STALE},
               {rondo_slice(m.in, 4, SIZE), RONDO_RANGE},
               {rondo_slice(m.in, UINT64_MAX - 3, 8), RONDO_RANGE},
               {rondo_slice(m.in, 2, 32), RONDO_INVALID},
               {rondo_whole(block), RONDO_INVALID}};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        const rondo_update updates[] = {rondo_update_span(0, "x", rondo_whole(good)),
                                        rondo_update_span(0, "x", bad[i].span)};
        CHECK_SAYS(CHECK_CODE(rondo_graph_update(m.graph, &updates[1], 1), bad[i].code), "x");
        expect_old(t, &m);
        CHECK_CODE(rondo_graph_update(m.graph, updates, 2), bad[i].code);
        expect_old(t, &m);
    }
}

/* [R9, O1] */
static void an_update_to_another_devices_buffer_is_refused(struct conform *t) {
    struct made m = make(t);
    rondo_device *device = NULL;
    rondo_stream *stream = NULL;
    rondo_buffer foreign = RONDO_NO_BUFFER;
    CHECK_OK(rondo_device_open(t->backend, NULL, &device));
    CHECK_OK(rondo_stream_create(device, &stream));
    CHECK_OK(rondo_buffer_create(stream, SIZE, RONDO_USAGE_GENERAL, &foreign));
    CHECK_CODE(change(&m, "x", rondo_whole(foreign)), RONDO_FOREIGN);
    expect_old(t, &m);
    rondo_buffer_release(foreign);
    rondo_stream_release(stream);
    rondo_device_release(device);
}

/* [R9, P3] The old buffer is given back, the new one is kept. */
static void an_update_gives_the_old_buffer_back_and_keeps_the_new_one(struct conform *t) {
    struct made m = make(t);
    rondo_buffer other = RONDO_NO_BUFFER;
    CHECK_OK(rondo_buffer_create(t->stream, SIZE, RONDO_USAGE_GENERAL, &other));
    conform_fill_i32(t, other, 2);
    CHECK_OK(rondo_graph_replay(m.graph, t->stream));
    rondo_buffer_release(m.in);
    uint64_t in_use = conform_report(t, RONDO_POOL_SMALL).in_use_bytes;
    CHECK_OK(change(&m, "x", rondo_whole(other)));
    CHECK_OK(rondo_graph_replay(m.graph, t->stream));
    CHECK_EQUAL(conform_report(t, RONDO_POOL_SMALL).in_use_bytes, in_use - SIZE);
    rondo_buffer_release(other);
    CHECK_EQUAL(conform_report(t, RONDO_POOL_SMALL).in_use_bytes, in_use - SIZE);
    for (int32_t i = 0; i < 30; i++) conform_fill_i32(t, conform_buffer(t, SIZE), -i);
    CHECK_OK(rondo_graph_replay(m.graph, t->stream));
    conform_expect_all_i32(t, m.out, 2, ITEMS);
}

/* [R9] A buffer that another node or parameter still uses is kept for that one. */
static void an_update_keeps_a_buffer_that_another_node_still_uses(struct conform *t) {
    rondo_buffer in = conform_buffer(t, SIZE), a = conform_buffer(t, SIZE), b = conform_buffer(t, SIZE);
    rondo_buffer other = conform_buffer(t, SIZE);
    conform_fill_i32(t, in, 1);
    conform_fill_i32(t, other, 2);
    open_window(t->stream);
    CHECK_OK(conform_launch_copy(t, t->stream, rondo_whole(a), rondo_whole(in), ITEMS, NULL));
    CHECK_OK(conform_launch_copy(t, t->stream, rondo_whole(b), rondo_whole(in), ITEMS, NULL));
    rondo_graph *graph = seal(t, t->stream);
    const rondo_update update = rondo_update_span(0, "x", rondo_whole(other));
    CHECK_OK(rondo_graph_update(graph, &update, 1));
    rondo_buffer_release(in);
    for (int32_t i = 0; i < 30; i++) conform_fill_i32(t, conform_buffer(t, SIZE), -i);
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    conform_expect_all_i32(t, a, 2, ITEMS);
    conform_expect_all_i32(t, b, 1, ITEMS);
}

/* Temporaries of random sizes that come and go in a window, each written by one launch: their room is cut and
 * joined many times over, so that the bytes of one node lie in what later was a piece of something else. */
enum { TEMPORARIES = 60, LIVE_MAX = 6, LARGEST = 8192 };

struct churn {
    struct conform *t;
    uint64_t sizes[TEMPORARIES];
    uint64_t picks[TEMPORARIES];
};

static rondo_status play_churn(rondo_stream *stream, void *user) {
    const struct churn *c = user;
    rondo_buffer live[LIVE_MAX];
    size_t count = 0;
    rondo_status status = RONDO_OK;
    for (size_t i = 0; i < TEMPORARIES && !status; i++) {
        while (count > 0 && (count == LIVE_MAX || c->picks[i] % 3 == 0)) {
            size_t gone = c->picks[i] / 3 % count;
            rondo_buffer_release(live[gone]);
            live[gone] = live[--count];
            if (count < LIVE_MAX - 2) break;
        }
        status = rondo_buffer_create(stream, c->sizes[i], RONDO_USAGE_GENERAL, &live[count]);
        if (status) break;
        status = conform_launch_iota(c->t, stream, rondo_whole(live[count++]), (int32_t)i, c->sizes[i] / 4, NULL);
    }
    while (count > 0) rondo_buffer_release(live[--count]);
    return status;
}

/* Every second node or so gets a buffer that is the graph's alone right away. */
static void update_some(struct conform *t, struct rng *rng, rondo_graph *graph) {
    for (uint64_t node = 0; node < TEMPORARIES; node++) {
        if (rng_below(rng, 2) == 0) continue;
        rondo_buffer aside = RONDO_NO_BUFFER;
        CHECK_OK(rondo_buffer_create(t->stream, LARGEST, RONDO_USAGE_GENERAL, &aside));
        const rondo_update update = rondo_update_span(node, "x", rondo_whole(aside));
        CHECK_OK(rondo_graph_update(graph, &update, 1));
        rondo_buffer_release(aside);
        if (rng_below(rng, 4) == 0) CHECK_OK(rondo_graph_replay(graph, t->stream));
    }
    CHECK_OK(rondo_graph_replay(graph, t->stream));
}

static void check_canaries(struct conform *t, struct rng *rng, rondo_graph *graph) {
    enum { CANARIES = 200 };
    rondo_buffer canaries[CANARIES];
    uint64_t sizes[CANARIES];
    for (int32_t i = 0; i < CANARIES; i++) {
        sizes[i] = 64 * (1 + rng_below(rng, 32));
        CHECK_OK(rondo_buffer_create(t->stream, sizes[i], RONDO_USAGE_GENERAL, &canaries[i]));
        conform_fill_i32(t, canaries[i], -1 - i);
    }
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    for (int32_t i = 0; i < CANARIES; i++) {
        conform_expect_all_i32(t, canaries[i], -1 - i, sizes[i] / 4);
        rondo_buffer_release(canaries[i]);
    }
}

/* [R9, P3] A node's temporary is changed for another buffer: what other nodes still write stays theirs. */
static void updates_of_temporaries_give_up_no_byte_that_another_node_uses(struct conform *t) {
    uint64_t seed = rng_first_seed();
    for (uint64_t run = 0; run < 60; run++) {
        struct rng rng = {seed + run};
        struct churn churn = {.t = t};
        for (size_t i = 0; i < TEMPORARIES; i++) {
            churn.sizes[i] = 64 * (1 + rng_below(&rng, LARGEST / 64));
            churn.picks[i] = rng_below(&rng, 1000);
        }
        print_message("seed %" PRIu64 "\n", seed + run);
        rondo_graph *graph = capture_step(t, t->stream, play_churn, &churn);
        check_canaries(t, &rng, graph);
        update_some(t, &rng, graph);
        check_canaries(t, &rng, graph);
        update_some(t, &rng, graph);
        check_canaries(t, &rng, graph);
        rondo_graph_release(graph);
    }
}

/* [R9, R2] */
static void live_in_is_found_anew_after_an_update(struct conform *t) {
    struct made m = make(t);
    rondo_buffer bad = conform_buffer(t, SIZE);
    spoil(t->stream, rondo_whole(bad), "spoiler");
    CHECK_OK(change(&m, "x", rondo_whole(bad)));
    CHECK_CODE(rondo_graph_replay(m.graph, t->stream), RONDO_TAINTED);
    CHECK_CODE(rondo_span_status(rondo_whole(m.out)), RONDO_TAINTED);
    spoil(t->stream, rondo_whole(m.in), "spoiler");
    conform_fill_i32(t, bad, 4);
    CHECK_OK(rondo_graph_replay(m.graph, t->stream));
    conform_expect_all_i32(t, m.out, 4, ITEMS);
    CHECK_OK(change(&m, "x", rondo_whole(m.in)));
    CHECK_CODE(rondo_graph_replay(m.graph, t->stream), RONDO_TAINTED);
}

/* [R9, R2] The first node's output moves away, so the second one now reads what nobody in the graph wrote before. */
static void an_output_that_moves_away_makes_its_reader_a_live_in(struct conform *t) {
    rondo_buffer a = conform_buffer(t, SIZE), b = conform_buffer(t, SIZE), c = conform_buffer(t, SIZE);
    conform_fill_i32(t, a, 100);
    open_window(t->stream);
    CHECK_OK(conform_launch_iota(t, t->stream, rondo_whole(a), 1, ITEMS, "iota"));
    CHECK_OK(conform_launch_copy(t, t->stream, rondo_whole(b), rondo_whole(a), ITEMS, "copy"));
    rondo_graph *graph = seal(t, t->stream);
    CHECK_EQUAL(graph_info(graph).live_in_bytes, 0);
    rondo_update update = rondo_update_span(0, "x", rondo_whole(c));
    update.label = "iota";
    CHECK_OK(rondo_graph_update(graph, &update, 1));
    CHECK_EQUAL(graph_info(graph).live_in_bytes, SIZE);
    rondo_node_info node;
    CHECK_OK(rondo_graph_get_node(graph, 1, &node));
    CHECK_EQUAL(node.predecessors, 0);
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    conform_expect_all_i32(t, b, 100, ITEMS);
    CHECK_EQUAL(conform_read_i32(t, c, 3), 4);
    spoil(t->stream, rondo_whole(a), "spoiler");
    CHECK_CODE(rondo_graph_replay(graph, t->stream), RONDO_TAINTED);
}

/* [R9] The walk and the text show the new buffer and the new dependences. */
static void the_walk_shows_what_an_update_changed(struct conform *t) {
    struct made m = make(t);
    rondo_buffer other = conform_buffer(t, SIZE);
    rondo_node_span span;
    CHECK_OK(change(&m, "y", rondo_slice(other, 16, 48)));
    CHECK_OK(rondo_graph_get_node_span(m.graph, 0, 1, &span));
    CHECK_EQUAL(span.memory_id, other.id);
    CHECK_EQUAL(span.offset_bytes, 16);
    CHECK_EQUAL(span.size_bytes, 48);
    CHECK(strcmp(span.param, "y") == 0);
    CHECK_OK(change(&m, "y", rondo_whole(other)));
    CHECK_OK(rondo_graph_replay(m.graph, t->stream));
    conform_expect_all_i32(t, other, 1, ITEMS);
}

/* [R9, M6] Back and forth a thousand times holds no more than two buffers. */
static void a_thousand_buffer_updates_are_flat(struct conform *t) {
    struct made m = make(t);
    rondo_buffer other = conform_buffer(t, SIZE);
    conform_fill_i32(t, other, 2);
    uint64_t device_bytes = graph_info(m.graph).device_bytes;
    rondo_pool_report before = conform_report(t, RONDO_POOL_SMALL);
    for (int i = 0; i < 1000; i++) {
        CHECK_OK(change(&m, "x", rondo_whole(i % 2 ? m.in : other)));
        CHECK_OK(rondo_graph_replay(m.graph, t->stream));
        CHECK_EQUAL(conform_read_i32(t, m.out, 5), i % 2 ? 1 : 2);
        CHECK_EQUAL(graph_info(m.graph).device_bytes, device_bytes);
    }
    rondo_pool_report after = conform_report(t, RONDO_POOL_SMALL);
    CHECK_EQUAL(after.reserved_bytes, before.reserved_bytes);
    CHECK_EQUAL(after.guarded_bytes, before.guarded_bytes);
    CHECK_EQUAL(after.in_use_bytes, before.in_use_bytes);
}

const struct conform_case conform_update_buffer_cases[] = {
    CONFORM_CASE(a_changed_input_is_read_by_later_replays, NEEDS_KERNELS),
    CONFORM_CASE(a_changed_output_leaves_the_old_one_alone, NEEDS_KERNELS),
    CONFORM_CASE(input_and_output_can_be_swapped, NEEDS_KERNELS),
    CONFORM_CASE(an_update_to_aliased_arguments_is_refused_unless_the_kernel_allows_it, NEEDS_KERNELS),
    CONFORM_CASE(an_update_is_checked_like_a_launch_and_changes_nothing_when_refused, NEEDS_KERNELS),
    CONFORM_CASE(an_update_to_another_devices_buffer_is_refused, NEEDS_KERNELS),
    CONFORM_CASE(an_update_gives_the_old_buffer_back_and_keeps_the_new_one, NEEDS_KERNELS),
    CONFORM_CASE(an_update_keeps_a_buffer_that_another_node_still_uses, NEEDS_KERNELS),
    CONFORM_CASE(updates_of_temporaries_give_up_no_byte_that_another_node_uses, NEEDS_KERNELS),
    CONFORM_CASE(live_in_is_found_anew_after_an_update, NEEDS_KERNELS),
    CONFORM_CASE(an_output_that_moves_away_makes_its_reader_a_live_in, NEEDS_KERNELS),
    CONFORM_CASE(the_walk_shows_what_an_update_changed, NEEDS_KERNELS),
    CONFORM_CASE(a_thousand_buffer_updates_are_flat, NEEDS_KERNELS),
    CONFORM_END,
};
