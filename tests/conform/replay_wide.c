/* Graphs of many independent chains, large enough that a backend may play them at the same time: nothing of that may
 * be seen, least of all when some of them fail. */
#include "capture_tools.h"

enum { CHAINS = 24, ITEMS = 4096, BYTES = ITEMS * 4, REPLAYS = 20 };

/* Chain c: risky[c] = c + 1, unless flag[c] is set and the kernel fails; doubled; out[c] = that + 1. In the end the
 * first two chains are added up. */
struct wide {
    rondo_buffer flag[CHAINS], risky[CHAINS], out[CHAINS], sum;
    rondo_graph *graph;
    uint32_t flags[CHAINS];
};

static void record_level(struct conform *t, const struct wide *w, int level, int c) {
    rondo_span risky = rondo_whole(w->risky[c]);
    switch (level) {
    case 0:
        CHECK_OK(conform_launch_fail_if(t, t->stream, risky, rondo_whole(w->flag[c]), c + 1, ITEMS, "risky"));
        break;
    case 1: CHECK_OK(conform_launch_scale(t, t->stream, risky, 2, ITEMS, "doubled")); break;
    default: CHECK_OK(conform_launch_add_alias(t, t->stream, rondo_whole(w->out[c]), risky, ITEMS, "out")); break;
    }
}

/* Level by level, or chain after chain. */
static void record_wide(struct conform *t, struct wide *w, bool by_level) {
    for (int c = 0; c < CHAINS; c++) {
        w->flag[c] = conform_buffer(t, 4);
        w->risky[c] = conform_buffer(t, BYTES);
        w->out[c] = conform_buffer(t, BYTES);
        conform_fill_i32(t, w->flag[c], 0);
        w->flags[c] = 0;
    }
    w->sum = conform_buffer(t, BYTES);
    open_window(t->stream);
    for (int n = 0; n < 3 * CHAINS; n++) {
        record_level(t, w, by_level ? n / CHAINS : n % 3, by_level ? n % CHAINS : n / 3);
    }
    CHECK_OK(conform_launch_add(t, t->stream, rondo_whole(w->sum), rondo_whole(w->out[0]), rondo_whole(w->out[1]),
                                ITEMS, "sum"));
    w->graph = seal(t, t->stream);
}

static void set_flags(struct conform *t, struct wide *w, uint32_t mask) {
    for (int c = 0; c < CHAINS; c++) {
        w->flags[c] = mask >> c & 1;
        conform_fill_i32(t, w->flag[c], (int32_t)w->flags[c]);
    }
}

static void expect_chain(struct conform *t, const struct wide *w, int c) {
    if (w->flags[c] == 0) {
        conform_expect_all_i32(t, w->out[c], 2 * (c + 1) + 1, ITEMS);
        return;
    }
    rondo_status root = rondo_fault_root(rondo_span_status(rondo_whole(w->risky[c])));
    CHECK_CODE(root, RONDO_KERNEL);
    expect_spoiled(rondo_whole(w->out[c]), root);
}

static void replay_and_expect(struct conform *t, struct wide *w) {
    uint64_t failures = 0;
    CHECK_OK(rondo_graph_replay(w->graph, t->stream));
    rondo_status synced = rondo_stream_sync(t->stream);
    for (int c = 0; c < CHAINS; c++) {
        expect_chain(t, w, c);
        failures += w->flags[c];
    }
    CHECK((synced == RONDO_OK) == (failures == 0));
    CHECK_EQUAL(rondo_fault_live_count(), failures);
    if (w->flags[0] + w->flags[1] == 0) {
        conform_expect_all_i32(t, w->sum, 3 + 5, ITEMS);
    } else {
        CHECK_CODE(rondo_span_status(rondo_whole(w->sum)), RONDO_TAINTED);
    }
}

static void play_wide(struct conform *t, bool by_level) {
    struct wide w;
    struct rng rng = {rng_first_seed()};
    record_wide(t, &w, by_level);
    for (int replay = 0; replay < REPLAYS; replay++) {
        uint32_t mask = (uint32_t)rng_next(&rng) & (uint32_t)rng_next(&rng);
        set_flags(t, &w, replay % 4 == 0 ? 0 : mask);
        replay_and_expect(t, &w);
    }
    set_flags(t, &w, 0);
    replay_and_expect(t, &w);
}

/* [R4, W7] */
static void of_many_chains_those_that_fail_are_spoiled_and_no_others(struct conform *t) {
    play_wide(t, false);
}

/* [R4, W7] */
static void the_same_chains_recorded_level_by_level_end_alike(struct conform *t) {
    play_wide(t, true);
}

/* [W7] What is told first is what comes first in the recording, whatever failed first. */
static void the_failure_that_a_sync_returns_is_the_first_of_the_recording(struct conform *t) {
    struct wide w;
    record_wide(t, &w, false);
    for (int replay = 0; replay < REPLAYS; replay++) {
        set_flags(t, &w, UINT32_C(0x800808));
        CHECK_OK(rondo_graph_replay(w.graph, t->stream));
        rondo_status first = CHECK_CODE(rondo_stream_sync(t->stream), RONDO_KERNEL);
        CHECK_EQUAL(conform_fault(first).op_index, 3 * 3);
        CHECK(first == rondo_fault_root(rondo_span_status(rondo_whole(w.risky[3]))));
    }
}

const struct conform_case conform_replay_wide_cases[] = {
    CONFORM_CASE(of_many_chains_those_that_fail_are_spoiled_and_no_others, NEEDS_KERNELS),
    CONFORM_CASE(the_same_chains_recorded_level_by_level_end_alike, NEEDS_KERNELS),
    CONFORM_CASE(the_failure_that_a_sync_returns_is_the_first_of_the_recording, NEEDS_KERNELS),
    CONFORM_END,
};
