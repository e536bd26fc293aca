/* Making a graph, its fixed cost, and changing one value of it. */
#include <pthread.h>
#include <stdlib.h>
#include "player.h"

/* ---- record ---- */

enum { MANY = 100000 };

typedef struct recorder {
    bench_stage *stage;
    size_t nodes;
    size_t chains;
} recorder;

/* All that a recording costs: the window, the launches, sealing, and the graph's end. */
static void record_once(const recorder *r) {
    const bench_stage *stage = r->stage;
    rondo_graph *graph;
    MUST(rondo_capture_prepare(stage->stream));
    MUST(rondo_capture_begin(stage->stream));
    for (size_t i = 0; i < r->nodes; i++) {
        size_t c = i % r->chains;
        MUST(bench_launch_axpy(stage->player, stage->stream, stage->work->items, stage->x[c], stage->y[c]));
    }
    MUST(rondo_capture_end(stage->stream, RONDO_END_DEFAULT, &graph));
    rondo_graph_release(graph);
}

static void run_record(void *user, uint64_t steps) {
    for (uint64_t step = 0; step < steps; step++) record_once(user);
}

/* A recording must be right, not only fast: played once, it runs each kernel once. */
static void check_recorded(bench_stage *stage) {
    bench_stage_record(stage);
    bench_work_reset(stage->work);
    bench_side replay = bench_replay(stage);
    replay.run(replay.user, 1);
    bench_work_check(stage->work, "a recorded graph");
    rondo_graph_release(stage->graph);
    stage->graph = NULL;
}

static void rows_record(void) {
    bench_stage *stage = bench_stage_make(bench_work_make("chain-64"), NULL);
    recorder thousand = {stage, BENCH_CHAIN, 1}, many = {stage, MANY, 1};
    const bench_side record = {run_record, &thousand, BENCH_CHAIN};
    check_recorded(stage);
    bench_compare("record/1,000 nodes of a chain", record, bench_plain(stage->work));
    bench_compare("record/100,000 nodes against 1,000", (bench_side){run_record, &many, MANY}, record);
    bench_work *wide = bench_work_make("wide");
    bench_stage *wide_stage = bench_stage_make(wide, NULL);
    recorder chains = {wide_stage, BENCH_CHAIN, wide->chains};
    check_recorded(wide_stage);
    bench_compare("record/1,000 nodes of 64 chains", (bench_side){run_record, &chains, BENCH_CHAIN},
                  bench_plain(stage->work));
    bench_stage_drop(stage);
    bench_stage_drop(wide_stage);
}

/* ---- single ---- */

static void run_single(void *user, uint64_t steps) {
    bench_stage *stage = user;
    for (uint64_t step = 0; step < steps; step++) {
        MUST(rondo_graph_replay(stage->graph, stage->stream));
        MUST(rondo_stream_sync(stage->stream));
    }
    stage->work->executed += steps;
}

static void rows_single(void) {
    bench_work *work = bench_work_make("chain-64");
    work->name = "single";
    work->length = 1;
    bench_stage *stage = bench_stage_make(work, NULL);
    bench_stage_record(stage);
    bench_against_plain(work, "replay and sync of one node", (bench_side){run_single, stage, 1});
    bench_stage_drop(stage);
}

/* ---- update ---- */

static void run_update(void *user, uint64_t steps) {
    bench_stage *stage = user;
    const float value = 1;
    for (uint64_t step = 0; step < steps; step++) {
        const rondo_update update = rondo_update_value(step % BENCH_CHAIN, "a", &value, sizeof value);
        MUST(rondo_graph_update(stage->graph, &update, 1));
    }
}

/* Node 500 adds 3 instead of 1, so one step of 1000 nodes gives 1002. */
static void check_update(bench_stage *stage) {
    const float three = 3, one = 1;
    const rondo_update to_three = rondo_update_value(500, "a", &three, sizeof three);
    const rondo_update to_one = rondo_update_value(500, "a", &one, sizeof one);
    bench_work_reset(stage->work);
    MUST(rondo_graph_update(stage->graph, &to_three, 1));
    MUST(rondo_graph_replay(stage->graph, stage->stream));
    MUST(rondo_graph_update(stage->graph, &to_one, 1));
    MUST(rondo_stream_sync(stage->stream));
    if (stage->work->y[0][0] != BENCH_CHAIN + 2) bench_fail("an update did not take effect");
}

static void rows_update(void) {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    bench_stage *stage = bench_stage_make(bench_work_make("chain-64"), NULL);
    bench_stage_record(stage);
    check_update(stage);
    bench_compare("update/one value of a graph of 1,000 nodes", (bench_side){run_update, stage, 1},
                  (bench_side){bench_mutex_pairs, &mutex, 1});
    bench_work_reset(stage->work);
    bench_side replay = bench_replay(stage);
    replay.run(replay.user, 1);
    bench_work_check(stage->work, "an updated graph");
    bench_stage_drop(stage);
}

void bench_rows_graph(void) {
    if (bench_wants("record/")) rows_record();
    if (bench_wants("single/")) rows_single();
    if (bench_wants("update/")) rows_update();
}
