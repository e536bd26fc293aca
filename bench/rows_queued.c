/* Queued streams beside direct ones: what handing work over costs its caller, and what it costs to see it done. */
#include <stdlib.h>
#include "player.h"

enum { BURST = 64, MOST_SAMPLES = 1001 };

/* One stage in each mode. */
typedef struct modes {
    rondo_stream *stream;
    bench_stage *queued, *direct;
} modes;

static void open_modes(modes *m) {
    const rondo_stream_desc desc = {.mode = RONDO_STREAM_QUEUED};
    MUST(rondo_stream_create_with(bench_player_get()->device, &desc, &m->stream));
    m->queued = bench_stage_make(bench_work_make("chain-64"), m->stream);
    m->direct = bench_stage_make(bench_work_make("chain-64"), NULL);
}

static void close_modes(modes *m) {
    bench_stage_drop(m->queued);
    bench_stage_drop(m->direct);
    rondo_stream_release(m->stream);
}

/* ---- handing over ---- */

static void launch_burst(const bench_stage *stage) {
    for (int k = 0; k < BURST; k++) {
        MUST(bench_launch_axpy(stage->player, stage->stream, stage->work->items, stage->x[0], stage->y[0]));
    }
}

/* Waiting for the burst is not part of the time. */
static double time_burst(const bench_stage *stage) {
    uint64_t start = bench_now_ns();
    launch_burst(stage);
    double ns = (double)(bench_now_ns() - start) / BURST;
    MUST(rondo_stream_sync(stage->stream));
    return ns;
}

static int compare_ns(const void *left, const void *right) {
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static double median(double *ns, size_t count) {
    qsort(ns, count, sizeof *ns, compare_ns);
    return ns[count / 2];
}

static void row_hand_over(const modes *m) {
    static double queued[MOST_SAMPLES], direct[MOST_SAMPLES];
    size_t count = bench.quick ? 11 : MOST_SAMPLES;
    for (size_t i = 0; i < count; i++) {
        queued[i] = time_burst(m->queued);
        direct[i] = time_burst(m->direct);
    }
    bench_print("queued/handing over a launch, 64 in a row", median(queued, count), median(direct, count));
}

/* ---- to the end ---- */

typedef struct synced {
    bench_side side;
    rondo_stream *stream;
} synced;

static void run_synced(void *user, uint64_t steps) {
    synced *s = user;
    s->side.run(s->side.user, steps);
    MUST(rondo_stream_sync(s->stream));
}

static void row_launches(const modes *m) {
    synced queued = {bench_eager(m->queued), m->queued->stream}, direct = {bench_eager(m->direct), m->direct->stream};
    bench_work_reset(m->queued->work);
    bench_work_reset(m->direct->work);
    bench_compare("queued/launch of chain-64, to the end", (bench_side){run_synced, &queued, BENCH_CHAIN},
                  (bench_side){run_synced, &direct, BENCH_CHAIN});
    bench_work_check(m->queued->work, "launches on a queued stream");
}

static void run_round_trips(void *user, uint64_t steps) {
    const synced *s = user;
    for (uint64_t step = 0; step < steps; step++) {
        s->side.run(s->side.user, 1);
        MUST(rondo_stream_sync(s->stream));
    }
}

static void row_replays(const modes *m) {
    bench_stage_record(m->queued);
    bench_stage_record(m->direct);
    synced queued = {bench_replay(m->queued), m->queued->stream}, direct = {bench_replay(m->direct), m->direct->stream};
    bench_work_reset(m->queued->work);
    bench_work_reset(m->direct->work);
    bench_compare("queued/replay of chain-64 and sync", (bench_side){run_round_trips, &queued, 1},
                  (bench_side){run_round_trips, &direct, 1});
    bench_work_check(m->queued->work, "replays on a queued stream");
}

static rondo_status issue_one(rondo_stream *stream, void *user) {
    const bench_stage *stage = user;
    return bench_launch_axpy(stage->player, stream, stage->work->items, stage->x[0], stage->y[0]);
}

typedef struct single {
    rondo_graph *graph;
    rondo_stream *stream;
} single;

static void run_single(void *user, uint64_t steps) {
    const single *one = user;
    for (uint64_t step = 0; step < steps; step++) {
        MUST(rondo_graph_replay(one->graph, one->stream));
        MUST(rondo_stream_sync(one->stream));
    }
}

static void row_single(const modes *m) {
    single queued = {NULL, m->queued->stream}, direct = {NULL, m->direct->stream};
    MUST(rondo_capture_step(queued.stream, issue_one, m->queued, &queued.graph));
    MUST(rondo_capture_step(direct.stream, issue_one, m->direct, &direct.graph));
    bench_compare("queued/replay and sync of one node", (bench_side){run_single, &queued, 1},
                  (bench_side){run_single, &direct, 1});
    rondo_graph_release(queued.graph);
    rondo_graph_release(direct.graph);
}

void bench_rows_queued(void) {
    modes m;
    if (!bench_wants("queued/")) return;
    open_modes(&m);
    row_hand_over(&m);
    row_launches(&m);
    row_replays(&m);
    row_single(&m);
    close_modes(&m);
}
