#include "player.h"

#include <stdlib.h>
#include "kernels.h"

static const rondo_param axpy_params[] = {
    {.name = "y", .kind = RONDO_PARAM_INOUT, .size_bytes = sizeof(float), .align_bytes = sizeof(float)},
    {.name = "x", .kind = RONDO_PARAM_IN, .size_bytes = sizeof(float), .align_bytes = sizeof(float)},
    {.name = "a", .kind = RONDO_PARAM_VALUE, .size_bytes = sizeof(float)},
};
static const rondo_kernel_desc axpy_desc = {
    .name = "axpy", .params = axpy_params, .param_count = 3, .native = bench_axpy_native};

static const rondo_param triad_params[] = {
    {.name = "target", .kind = RONDO_PARAM_OUT, .size_bytes = sizeof(float), .align_bytes = sizeof(float)},
    {.name = "left", .kind = RONDO_PARAM_IN, .size_bytes = sizeof(float), .align_bytes = sizeof(float)},
    {.name = "right", .kind = RONDO_PARAM_IN, .size_bytes = sizeof(float), .align_bytes = sizeof(float)},
    {.name = "scale", .kind = RONDO_PARAM_VALUE, .size_bytes = sizeof(float)},
};
static const rondo_kernel_desc triad_desc = {
    .name = "triad", .params = triad_params, .param_count = 4, .native = bench_triad_native};

void bench_player_open(bench_player *out_player, const rondo_device_desc *desc) {
    MUST(rondo_device_open("cpu", desc, &out_player->device));
    MUST(rondo_stream_create(out_player->device, &out_player->stream));
    MUST(rondo_kernel_create(out_player->device, &axpy_desc, &out_player->axpy));
    MUST(rondo_kernel_create(out_player->device, &triad_desc, &out_player->triad));
}

void bench_player_close(bench_player *player) {
    rondo_kernel_release(player->axpy);
    rondo_kernel_release(player->triad);
    rondo_stream_release(player->stream);
    rondo_device_release(player->device);
}

bench_player *bench_player_get(void) {
    static bench_player player;
    if (player.device == NULL) bench_player_open(&player, NULL);
    return &player;
}

static void keep(void *user) {
    (void)user;
}

rondo_buffer bench_import(rondo_stream *stream, void *data, size_t bytes) {
    rondo_buffer buffer;
    MUST(rondo_buffer_import(stream, data, bytes, keep, NULL, &buffer));
    return buffer;
}

bench_stage *bench_stage_make(bench_work *work, rondo_stream *stream) {
    return bench_stage_make_on(bench_player_get(), work, stream);
}

bench_stage *bench_stage_make_on(bench_player *player, bench_work *work, rondo_stream *stream) {
    bench_stage *stage = calloc(1, sizeof *stage);
    if (stage == NULL) bench_fail("there is no memory");
    stage->player = player;
    stage->stream = stream != NULL ? stream : stage->player->stream;
    stage->work = work;
    for (size_t c = 0; c < work->chains; c++) {
        stage->x[c] = bench_import(stage->stream, work->x[c], work->items * sizeof(float));
        stage->y[c] = bench_import(stage->stream, work->y[c], work->items * sizeof(float));
    }
    return stage;
}

void bench_stage_drop(bench_stage *stage) {
    rondo_graph_release(stage->graph);
    for (size_t c = 0; c < stage->work->chains; c++) {
        rondo_buffer_release(stage->x[c]);
        rondo_buffer_release(stage->y[c]);
    }
    free(stage);
}

static rondo_status launch_link(const bench_stage *stage, rondo_stream *stream, size_t chain) {
    return bench_launch_axpy(stage->player, stream, stage->work->items, stage->x[chain], stage->y[chain]);
}

rondo_status bench_stage_issue(rondo_stream *stream, void *user) {
    const bench_stage *stage = user;
    const size_t chains = stage->work->chains, length = stage->work->length;
    const size_t outer = stage->by_level ? length : chains, inner = stage->by_level ? chains : length;
    rondo_status status = RONDO_OK;
    for (size_t o = 0; o < outer; o++) {
        for (size_t i = 0; i < inner && !status; i++) status = launch_link(stage, stream, stage->by_level ? i : o);
    }
    return status;
}

void bench_stage_record(bench_stage *stage) {
    MUST(rondo_capture_step(stage->stream, bench_stage_issue, stage, &stage->graph));
}

static void run_eager(void *user, uint64_t steps) {
    bench_stage *stage = user;
    for (uint64_t step = 0; step < steps; step++) MUST(bench_stage_issue(stage->stream, stage));
    MUST(rondo_stream_sync(stage->stream));
    stage->work->executed += steps;
}

static void run_replay(void *user, uint64_t steps) {
    bench_stage *stage = user;
    for (uint64_t step = 0; step < steps; step++) MUST(rondo_graph_replay(stage->graph, stage->stream));
    MUST(rondo_stream_sync(stage->stream));
    stage->work->executed += steps;
}

static bench_side side_of(bench_stage *stage, void (*run)(void *, uint64_t)) {
    return (bench_side){run, stage, (double)(stage->work->chains * stage->work->length)};
}

bench_side bench_eager(bench_stage *stage) {
    return side_of(stage, run_eager);
}

bench_side bench_replay(bench_stage *stage) {
    return side_of(stage, run_replay);
}
