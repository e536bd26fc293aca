/* Replays that cannot run, and nodes that fail while they run: who is spoiled, who is not, and what heals. */
#include "capture_tools.h"

static rondo_graph *record_copy(struct conform *t, rondo_buffer target, rondo_buffer source) {
    open_window(t->stream);
    CHECK_OK(rondo_copy(t->stream, rondo_whole(target), rondo_whole(source), "copy"));
    return seal(t, t->stream);
}

/* [R2] */
static void a_spoiled_live_in_skips_the_whole_replay_and_writing_it_heals(struct conform *t) {
    rondo_buffer in = conform_buffer(t, 64), out = conform_buffer(t, 64), aside = conform_buffer(t, 64);
    conform_fill_i32(t, in, 1);
    open_window(t->stream);
    CHECK_OK(fill_i32(t->stream, rondo_whole(aside), 5, NULL));
    CHECK_OK(rondo_copy(t->stream, rondo_whole(out), rondo_whole(in), NULL));
    rondo_graph *graph = seal(t, t->stream);
    conform_fill_i32(t, aside, 2);
    spoil(t->stream, rondo_slice(in, 60, 1), "spoiler");
    rondo_status spoiled = rondo_fault_root(rondo_span_status(rondo_whole(in)));
    uint64_t skipped = conform_stats(t).skipped;
    rondo_status refused = CHECK_CODE(rondo_graph_replay(graph, t->stream), RONDO_TAINTED);
    CHECK(rondo_fault_root(refused) == spoiled);
    expect_spoiled(rondo_whole(out), spoiled);
    expect_spoiled(rondo_whole(aside), spoiled);
    CHECK_EQUAL(graph_info(graph).replays, 0);
    CHECK_EQUAL(conform_stats(t).skipped, skipped + 1);
    conform_fill_i32(t, in, 3);
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    conform_expect_all_i32(t, out, 3, 16);
    conform_expect_all_i32(t, aside, 5, 16);
    CHECK_EQUAL(rondo_fault_live_count(), 0);
}

/* [R2] Bytes that the graph writes before it reads them may be as spoiled as they like. */
static void spoiled_bytes_that_the_graph_writes_first_are_no_live_in(struct conform *t) {
    rondo_buffer between = conform_buffer(t, 64), out = conform_buffer(t, 64);
    open_window(t->stream);
    CHECK_OK(fill_i32(t->stream, rondo_whole(between), 4, NULL));
    CHECK_OK(rondo_copy(t->stream, rondo_whole(out), rondo_whole(between), NULL));
    rondo_graph *graph = seal(t, t->stream);
    CHECK_EQUAL(graph_info(graph).live_in_bytes, 0);
    spoil(t->stream, rondo_whole(between), "spoiler");
    spoil(t->stream, rondo_whole(out), "spoiler");
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    conform_expect_all_i32(t, out, 4, 16);
    conform_expect_all_i32(t, between, 4, 16);
}

/* [R2] A freed input takes its claims along. */
static void a_freed_input_that_was_spoiled_keeps_its_graph_from_running(struct conform *t) {
    rondo_buffer in = conform_buffer(t, 64), out = conform_buffer(t, 64);
    conform_fill_i32(t, in, 1);
    rondo_graph *graph = record_copy(t, out, in);
    spoil(t->stream, rondo_whole(in), "spoiler");
    rondo_buffer_release(in);
    CHECK_CODE(rondo_graph_replay(graph, t->stream), RONDO_TAINTED);
    CHECK_CODE(rondo_span_status(rondo_whole(out)), RONDO_TAINTED);
    rondo_graph_release(graph);
    conform_fill_i32(t, out, 1);
    conform_settle(t);
    CHECK_EQUAL(rondo_fault_live_count(), 0);
}

/* [R2] In-place state that a skipped replay spoiled is spoiled for the next one too, until it is written. */
static void a_skipped_replay_of_in_place_state_stays_skipped_until_the_state_is_written(struct conform *t) {
    rondo_buffer state = conform_buffer(t, 64), in = conform_buffer(t, 64);
    conform_fill_i32(t, state, 0);
    conform_fill_i32(t, in, 0);
    open_window(t->stream);
    CHECK_OK(add_in_place(t->stream, rondo_whole(state), NULL, NULL));
    CHECK_OK(rondo_copy(t->stream, rondo_slice(state, 0, 4), rondo_slice(in, 0, 4), NULL));
    rondo_graph *graph = seal(t, t->stream);
    spoil(t->stream, rondo_slice(in, 0, 4), "spoiler");
    CHECK_CODE(rondo_graph_replay(graph, t->stream), RONDO_TAINTED);
    conform_fill_i32(t, in, 0);
    CHECK_CODE(rondo_graph_replay(graph, t->stream), RONDO_TAINTED);
    conform_fill_i32(t, state, 10);
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    CHECK_EQUAL(conform_read_i32(t, state, 5), 11);
}

/* [T6, T7] The skipped replay stands in the chain between the read and the root. */
static void a_read_behind_a_skipped_replay_tells_the_way_back_to_the_root(struct conform *t) {
    rondo_buffer in = conform_buffer(t, 64), out = conform_buffer(t, 64), last = conform_buffer(t, 64);
    conform_fill_i32(t, in, 1);
    rondo_graph *graph = record_copy(t, out, in);
    spoil(t->stream, rondo_whole(in), "the root");
    CHECK_CODE(rondo_graph_replay(graph, t->stream), RONDO_TAINTED);
    CHECK_CODE(rondo_copy(t->stream, rondo_whole(last), rondo_whole(out), "after"), RONDO_TAINTED);
    rondo_status read = CHECK_CODE(conform_try_read(t->stream, rondo_whole(last)), RONDO_TAINTED);
    rondo_skip skips[4];
    CHECK_EQUAL(rondo_fault_chain(read, skips, COUNT_OF(skips)), 2);
    CHECK(strcmp(skips[0].label, "after") == 0);
    CHECK_EQUAL(skips[0].needed, out.id);
    CHECK_EQUAL(skips[1].needed, in.id);
    CHECK_SAYS(read, "the root");
}

/* Nodes that fail: a diamond with a branch that can fail.
 *   flag -> risky -> after        (after reads risky)
 *   in   -> free                  (reads nothing of them)
 *   risky is overwritten in half by a later fill. */
struct diamond {
    rondo_buffer flag, in, risky, after, free, late;
    rondo_graph *graph;
};

static struct diamond record_diamond(struct conform *t, bool kernels) {
    struct diamond d = {.flag = conform_buffer(t, 4), .in = conform_buffer(t, 64), .risky = conform_buffer(t, 64),
                        .after = conform_buffer(t, 64), .free = conform_buffer(t, 64), .late = conform_buffer(t, 64)};
    conform_fill_i32(t, d.flag, 0);
    conform_fill_i32(t, d.in, 4);
    open_window(t->stream);
    CHECK_OK(kernels ? conform_launch_fail_if(t, t->stream, rondo_whole(d.risky), rondo_whole(d.flag), 9, 16, "risky")
                     : fail_if(t->stream, rondo_whole(d.risky), rondo_whole(d.flag), "risky"));
    CHECK_OK(rondo_copy(t->stream, rondo_whole(d.after), rondo_whole(d.risky), "after"));
    CHECK_OK(rondo_copy(t->stream, rondo_whole(d.free), rondo_whole(d.in), "free"));
    CHECK_OK(rondo_copy(t->stream, rondo_whole(d.late), rondo_whole(d.risky), "late reader"));
    CHECK_OK(fill_i32(t->stream, rondo_whole(d.late), 6, "overwriter"));
    CHECK_OK(fill_i32(t->stream, rondo_slice(d.risky, 32, 32), 7, "half"));
    d.graph = seal(t, t->stream);
    return d;
}

static void check_good_diamond(struct conform *t, const struct diamond *d) {
    conform_expect_all_i32(t, d->after, 9, 16);
    conform_expect_all_i32(t, d->free, 4, 16);
    conform_expect_all_i32(t, d->late, 6, 16);
    CHECK_EQUAL(conform_read_i32(t, d->risky, 0), 9);
    CHECK_EQUAL(conform_read_i32(t, d->risky, 15), 7);
    CHECK_EQUAL(rondo_fault_live_count(), 0);
}

static void check_failed_diamond(struct conform *t, const struct diamond *d) {
    expect_spoiled_by(rondo_slice(d->risky, 0, 32), RONDO_KERNEL);
    CHECK_EQUAL(conform_read_i32(t, d->risky, 8), 7);
    expect_spoiled_by(rondo_whole(d->after), RONDO_KERNEL);
    conform_expect_all_i32(t, d->free, 4, 16);
    conform_expect_all_i32(t, d->late, 6, 16);
    CHECK_OK(rondo_span_status(rondo_whole(d->in)));
    CHECK_EQUAL(rondo_fault_live_count(), 1);
}

static void fail_node_by_node(struct conform *t, bool kernels) {
    struct diamond d = record_diamond(t, kernels);
    static const int32_t flags[] = {0, 1, 0, 0, 1, 1, 0};
    for (size_t i = 0; i < COUNT_OF(flags); i++) {
        conform_fill_i32(t, d.flag, flags[i]);
        CHECK_OK(rondo_graph_replay(d.graph, t->stream));
        if (flags[i]) check_failed_diamond(t, &d);
        if (!flags[i]) check_good_diamond(t, &d);
    }
    CHECK_EQUAL(graph_info(d.graph).replays, COUNT_OF(flags));
}

/* [R4, W7] */
static void a_failed_node_spoils_its_outputs_and_their_readers_and_nothing_else(struct conform *t) {
    fail_node_by_node(t, false);
}

/* [R4, W7] */
static void a_failed_kernel_spoils_its_outputs_and_their_readers_and_nothing_else(struct conform *t) {
    fail_node_by_node(t, true);
}

/* [R4, T7] The story names the node: its place in the graph, its kernel, its label. */
static void the_story_of_a_failed_node_names_it(struct conform *t) {
    struct diamond d = record_diamond(t, true);
    conform_fill_i32(t, d.flag, 1);
    CHECK_OK(rondo_graph_replay(d.graph, t->stream));
    rondo_status read = CHECK_CODE(conform_try_read(t->stream, rondo_whole(d.after)), RONDO_TAINTED);
    rondo_fault root = conform_fault(rondo_fault_root(read));
    CHECK_EQUAL(root.op_index, 0);
    CHECK_EQUAL(root.stream_id, rondo_stream_id(t->stream));
    CHECK(strcmp(root.label, "risky") == 0);
    CHECK(strcmp(root.kernel, "fail_if") == 0);
    rondo_skip skip;
    CHECK_EQUAL(rondo_fault_chain(read, &skip, 1), 1);
    CHECK(strcmp(skip.label, "after") == 0);
    CHECK_EQUAL(skip.needed, d.risky.id);
    CHECK_EQUAL(skip.produced, d.after.id);
}

/* [W7] The replay says OK, the sync says what failed, once. */
static void a_sync_reports_the_first_failed_node_of_its_replays(struct conform *t) {
    struct diamond d = record_diamond(t, false);
    CHECK_OK(rondo_stream_sync(t->stream));
    conform_fill_i32(t, d.flag, 1);
    CHECK_OK(rondo_graph_replay(d.graph, t->stream));
    rondo_status status = CHECK_CODE(rondo_stream_sync(t->stream), RONDO_KERNEL);
    CHECK_SAYS(status, "risky");
    CHECK_OK(rondo_stream_sync(t->stream));
    conform_fill_i32(t, d.flag, 0);
    CHECK_OK(rondo_graph_replay(d.graph, t->stream));
    CHECK_OK(rondo_stream_sync(t->stream));
}

/* [R4, W7] A download behind a failed node: its block is spoiled, and the wait for it says so. */
static void a_download_of_a_failed_nodes_output_reports_at_its_wait(struct conform *t) {
    rondo_buffer flag = conform_buffer(t, 4), out = conform_buffer(t, 64), block = conform_host_block(t, 64);
    conform_fill_i32(t, flag, 0);
    open_window(t->stream);
    CHECK_OK(fail_if(t->stream, rondo_whole(out), rondo_whole(flag), "risky"));
    CHECK_OK(rondo_read_async(t->stream, rondo_whole(out), rondo_whole(block), "download"));
    rondo_graph *graph = seal(t, t->stream);
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    CHECK_OK(rondo_host_wait(block));
    conform_fill_i32(t, flag, 1);
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    CHECK_CODE(rondo_host_wait(block), RONDO_TAINTED);
    expect_spoiled_by(rondo_whole(block), RONDO_KERNEL);
    conform_fill_i32(t, flag, 0);
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    CHECK_OK(rondo_host_wait(block));
}

/* [R4] A long chain behind one failed node: all of it is skipped, all counted. */
static void every_node_behind_a_failed_one_is_skipped_and_counted(struct conform *t) {
    enum { LENGTH = 100 };
    rondo_buffer flag = conform_buffer(t, 4), chain[LENGTH];
    for (size_t i = 0; i < LENGTH; i++) chain[i] = conform_buffer(t, 64);
    conform_fill_i32(t, flag, 0);
    open_window(t->stream);
    CHECK_OK(fail_if(t->stream, rondo_whole(chain[0]), rondo_whole(flag), "risky"));
    for (size_t i = 1; i < LENGTH; i++) {
        CHECK_OK(rondo_copy(t->stream, rondo_whole(chain[i]), rondo_whole(chain[i - 1]), NULL));
    }
    rondo_graph *graph = seal(t, t->stream);
    conform_fill_i32(t, flag, 1);
    uint64_t skipped = conform_stats(t).skipped;
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    CHECK_EQUAL(conform_stats(t).skipped - skipped, LENGTH - 1);
    rondo_status root = rondo_fault_root(rondo_span_status(rondo_whole(chain[0])));
    for (size_t i = 0; i < LENGTH; i++) expect_spoiled(rondo_whole(chain[i]), root);
    CHECK_EQUAL(conform_fault(root).skips, LENGTH - 1);
    CHECK_EQUAL(conform_fault(root).carriers, LENGTH);
    conform_fill_i32(t, flag, 0);
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    for (size_t i = 0; i < LENGTH; i++) conform_expect_all_i32(t, chain[i], 9, 16);
}

/* [R5] */
static void a_dead_or_null_graph_is_refused_without_side_effects(struct conform *t) {
    rondo_buffer in = conform_buffer(t, 64), out = conform_buffer(t, 64);
    conform_fill_i32(t, in, 1);
    conform_fill_i32(t, out, 2);
    rondo_graph *graph = record_copy(t, out, in);
    rondo_graph_release(graph);
    rondo_graph_release(graph);
    rondo_graph *const dead[] = {graph, NULL};
    for (size_t i = 0; i < COUNT_OF(dead); i++) {
        rondo_graph_info info;
        const rondo_update update = rondo_update_span(0, "x", rondo_whole(in));
        CHECK_CODE(rondo_graph_replay(dead[i], t->stream), RONDO_STALE);
        CHECK_CODE(rondo_graph_get_info(dead[i], &info), RONDO_STALE);
        CHECK_CODE(rondo_graph_retain(dead[i]), RONDO_STALE);
        CHECK_CODE(rondo_graph_update(dead[i], &update, 1), RONDO_STALE);
    }
    conform_expect_all_i32(t, out, 2, 16);
    rondo_graph *next = record_copy(t, out, in);
    CHECK_CODE(rondo_graph_replay(graph, t->stream), RONDO_STALE);
    CHECK_OK(rondo_graph_replay(next, t->stream));
    conform_expect_all_i32(t, out, 1, 16);
}

/* [R5] References are counted. */
static void a_graph_lives_until_its_last_reference_is_gone(struct conform *t) {
    rondo_buffer in = conform_buffer(t, 64), out = conform_buffer(t, 64);
    conform_fill_i32(t, in, 1);
    rondo_graph *graph = record_copy(t, out, in);
    CHECK_OK(rondo_graph_retain(graph));
    rondo_graph_release(graph);
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    conform_expect_all_i32(t, out, 1, 16);
    rondo_graph_release(graph);
    CHECK_CODE(rondo_graph_replay(graph, t->stream), RONDO_STALE);
}

/* [O1] */
static void a_graph_cannot_be_replayed_on_another_device(struct conform *t) {
    rondo_buffer in = conform_buffer(t, 64), out = conform_buffer(t, 64);
    conform_fill_i32(t, in, 1);
    conform_fill_i32(t, out, 2);
    rondo_graph *graph = record_copy(t, out, in);
    rondo_device *device = NULL;
    rondo_stream *stream = NULL;
    CHECK_OK(rondo_device_open(t->backend, NULL, &device));
    CHECK_OK(rondo_stream_create(device, &stream));
    CHECK_CODE(rondo_graph_replay(graph, stream), RONDO_FOREIGN);
    conform_expect_all_i32(t, out, 2, 16);
    rondo_stream_release(stream);
    rondo_device_release(device);
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    conform_expect_all_i32(t, out, 1, 16);
}

/* [P2, R5] An old failure that was dealt with long ago is not blamed on a later call. */
static void an_old_failure_is_not_blamed_on_later_calls(struct conform *t) {
    rondo_buffer none = RONDO_NO_BUFFER, in = conform_buffer(t, 64), out = conform_buffer(t, 64);
    CHECK_CODE(rondo_buffer_create(t->stream, UINT64_MAX - 5, RONDO_USAGE_GENERAL, &none), RONDO_RANGE);
    conform_fill_i32(t, in, 3);
    rondo_graph *graph = record_copy(t, out, in);
    CHECK_CODE(rondo_copy(t->stream, rondo_whole(out), rondo_whole(none), NULL), RONDO_STALE);
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    CHECK_OK(conform_try_read(t->stream, rondo_whole(out)));
    CHECK_OK(rondo_stream_sync(t->stream));
}

const struct conform_case conform_replay_failure_cases[] = {
    CONFORM_CASE(a_spoiled_live_in_skips_the_whole_replay_and_writing_it_heals, NEEDS_NOTHING),
    CONFORM_CASE(spoiled_bytes_that_the_graph_writes_first_are_no_live_in, NEEDS_NOTHING),
    CONFORM_CASE(a_freed_input_that_was_spoiled_keeps_its_graph_from_running, NEEDS_NOTHING),
    CONFORM_CASE(a_skipped_replay_of_in_place_state_stays_skipped_until_the_state_is_written, NEEDS_MAP),
    CONFORM_CASE(a_read_behind_a_skipped_replay_tells_the_way_back_to_the_root, NEEDS_MAP),
    CONFORM_CASE(a_failed_node_spoils_its_outputs_and_their_readers_and_nothing_else, NEEDS_MAP),
    CONFORM_CASE(a_failed_kernel_spoils_its_outputs_and_their_readers_and_nothing_else, NEEDS_KERNELS),
    CONFORM_CASE(the_story_of_a_failed_node_names_it, NEEDS_KERNELS),
    CONFORM_CASE(a_sync_reports_the_first_failed_node_of_its_replays, NEEDS_MAP),
    CONFORM_CASE(a_download_of_a_failed_nodes_output_reports_at_its_wait, NEEDS_MAP),
    CONFORM_CASE(every_node_behind_a_failed_one_is_skipped_and_counted, NEEDS_MAP),
    CONFORM_CASE(a_dead_or_null_graph_is_refused_without_side_effects, NEEDS_NOTHING),
    CONFORM_CASE(a_graph_lives_until_its_last_reference_is_gone, NEEDS_NOTHING),
    CONFORM_CASE(a_graph_cannot_be_replayed_on_another_device, NEEDS_NOTHING),
    CONFORM_CASE(an_old_failure_is_not_blamed_on_later_calls, NEEDS_NOTHING),
    CONFORM_END,
};
