/* Queued streams beside direct ones: what handing work over costs its caller, and what it costs to see it done. */
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

static void row_hand_over(const modes *m) {
    static double queued[MOST_SAMPLES], direct[MOST_SAMPLES];
    size_t count = bench.quick ? 11 : MOST_SAMPLES;
    for (size_t i = 0; i < count; i++) {
        queued[i] = time_burst(m->queued);
        direct[i] = time_burst(m->direct);
    }
    bench_print("queued/handing over a launch, 64 in a row", bench_median(queued, count), bench_median(direct, count),
                BENCH_UNWATCHED);
}

/* ---- to the end ---- */

static void row_launches(const modes *m) {
    bench_work_reset(m->queued->work);
    bench_work_reset(m->direct->work);
    bench_compare("queued/launch of chain-64, to the end", bench_eager(m->queued), bench_eager(m->direct));
    bench_work_check(m->queued->work, "launches on a queued stream");
}

/* Each replay is followed by a sync. */
static void run_round_trips(void *user, uint64_t steps) {
    const bench_side *replay = user;
    for (uint64_t step = 0; step < steps; step++) replay->run(replay->user, 1);
}

static void record(bench_stage *stage) {
    rondo_graph_release(stage->graph);
    bench_stage_record(stage);
    bench_work_reset(stage->work);
}

static void row_replays(const modes *m, const char *name) {
    record(m->queued);
    record(m->direct);
    bench_side queued = bench_replay(m->queued), direct = bench_replay(m->direct);
    bench_compare(name, (bench_side){run_round_trips, &queued, 1}, (bench_side){run_round_trips, &direct, 1});
    bench_work_check(m->queued->work, "replays on a queued stream");
}

void bench_rows_queued(void) {
    modes m;
    if (!bench_wants("queued/")) return;
    open_modes(&m);
    row_hand_over(&m);
    row_launches(&m);
    row_replays(&m, "queued/replay of chain-64 and sync");
    m.queued->work->length = m.direct->work->length = 1;
    row_replays(&m, "queued/replay and sync of one node");
    close_modes(&m);
}
