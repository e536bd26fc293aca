/* Kernels over arrays that do not fit any cache: one launch must use all cores. */
#include "player.h"

typedef struct triad_stage {
    bench_player *player;
    rondo_buffer array[3];
    rondo_graph *graph;
} triad_stage;

static rondo_status issue(rondo_stream *stream, void *user) {
    const triad_stage *stage = user;
    const float scale = BENCH_TRIAD_SCALE;
    rondo_status status = RONDO_OK;
    for (size_t k = 0; k < BENCH_TRIADS && !status; k++) {
        const rondo_arg args[] = {rondo_arg_buffer(BENCH_TARGET(stage, k)), rondo_arg_buffer(BENCH_LEFT(stage, k)),
                                  rondo_arg_buffer(BENCH_RIGHT(stage, k)), rondo_arg_value(&scale, sizeof scale)};
        status = rondo_launch(stream, stage->player->triad, rondo_grid_1d(bench_triad_items()), args, 4, NULL);
    }
    return status;
}

static void run_eager(void *user, uint64_t steps) {
    triad_stage *stage = user;
    for (uint64_t step = 0; step < steps; step++) MUST(issue(stage->player->stream, stage));
    MUST(rondo_stream_sync(stage->player->stream));
}

static void run_replay(void *user, uint64_t steps) {
    triad_stage *stage = user;
    for (uint64_t step = 0; step < steps; step++) MUST(rondo_graph_replay(stage->graph, stage->player->stream));
    MUST(rondo_stream_sync(stage->player->stream));
}

void bench_rows_triad(void) {
    if (!bench_wants("triad/")) return;
    static triad_stage stage;
    static const char *const names[] = {"replay", "eager"};
    bench_triads *triads = bench_triads_make();
    stage.player = bench_player_get();
    for (size_t i = 0; i < 3; i++) {
        stage.array[i] = bench_import(stage.player->stream, triads->array[i], bench_triad_items() * sizeof(float));
    }
    MUST(rondo_capture_step(stage.player->stream, issue, &stage, &stage.graph));
    const bench_side sides[] = {{run_replay, &stage, BENCH_TRIADS}, {run_eager, &stage, BENCH_TRIADS}};
    bench_triads_compare(triads, names, sides, 2);
    rondo_graph_release(stage.graph);
    for (size_t i = 0; i < 3; i++) rondo_buffer_release(stage.array[i]);
}
