#define _GNU_SOURCE
#include "measure.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "progress.h"

#define SAMPLES 41          /* timed blocks of each kind, in turns */
#define BLOCK_NS 4000000.0  /* what a block should last, so that the clock does not matter */
#define BLOCK_STEPS_MAX 4000

static double now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static rondo_status run_eager(denoise *work, uint64_t steps) {
    rondo_status status = denoise_restart(work);
    for (uint64_t i = 0; !status && i < steps; i++) {
        status = denoise_step(work->stream, work);
        progress_show("eager", i + 1, steps);
    }
    progress_clear();
    return status;
}

/* The capture runs the first step itself: it is the warm-up. */
static rondo_status run_replayed(denoise *work, uint64_t steps, rondo_graph **out_graph) {
    rondo_status status = denoise_restart(work);
    if (!status) status = rondo_capture_step(work->stream, denoise_step, work, out_graph);
    for (uint64_t i = 1; !status && i < steps; i++) {
        status = rondo_graph_replay(*out_graph, work->stream);
        progress_show("replayed", i + 1, steps);
    }
    progress_clear();
    return status;
}

/* Runs a block of steps, as a graph if there is one. */
static rondo_status time_block(denoise *work, rondo_graph *graph, uint64_t steps, double *out_step_ns) {
    rondo_status status = RONDO_OK;
    const double start = now_ns();
    for (uint64_t i = 0; !status && i < steps; i++) {
        status = graph ? rondo_graph_replay(graph, work->stream) : denoise_step(work->stream, work);
    }
    if (!status) status = rondo_stream_sync(work->stream);
    *out_step_ns = (now_ns() - start) / (double)steps;
    return status;
}

static int compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double values[SAMPLES]) {
    qsort(values, SAMPLES, sizeof values[0], compare_doubles);
    return values[SAMPLES / 2];
}

static uint64_t steps_of_block(double step_ns) {
    const double steps = BLOCK_NS / step_ns;
    if (steps < 1) return 1;
    return steps > BLOCK_STEPS_MAX ? BLOCK_STEPS_MAX : (uint64_t)steps;
}

/* Blocks take turns, and which kind goes first takes turns too, so that a machine that slows down slows both. */
static rondo_status measure(denoise *work, rondo_graph *graph, comparison *out) {
    double eager[SAMPLES], replayed[SAMPLES], step_ns = 0;
    rondo_status status = time_block(work, graph, 10, &step_ns);
    const uint64_t steps = steps_of_block(step_ns);
    for (int i = 0; !status && i < SAMPLES; i++) {
        if (i % 2 == 0) status = time_block(work, NULL, steps, &eager[i]);
        if (!status) status = time_block(work, graph, steps, &replayed[i]);
        if (!status && i % 2 == 1) status = time_block(work, NULL, steps, &eager[i]);
        progress_show("measuring", (uint64_t)i + 1, SAMPLES);
    }
    progress_clear();
    if (status) return status;
    out->eager_ns = median(eager);
    out->replayed_ns = median(replayed);
    return RONDO_OK;
}

static rondo_status compare_on(denoise *work, uint64_t steps, samples room, comparison *out) {
    rondo_graph *graph = NULL;
    rondo_status status = run_eager(work, steps);
    if (!status) status = denoise_read(work, room.eager);
    if (!status) status = run_replayed(work, steps, &graph);
    if (!status) status = denoise_read(work, room.replayed);
    if (!status) status = rondo_graph_get_info(graph, &out->graph);
    if (!status) status = measure(work, graph, out);
    out->equal = !status && memcmp(room.eager, room.replayed, out->sample_bytes) == 0;
    rondo_graph_release(graph);
    return status;
}

rondo_status compare_ways(const denoise_kernels *kernels, rondo_stream *stream, const picture *noisy, uint64_t steps,
                          samples room, comparison *out) {
    denoise work;
    memset(out, 0, sizeof *out);
    rondo_status status = denoise_init(&work, kernels, stream, noisy);
    out->width = noisy->width;
    out->height = noisy->height;
    out->sample_bytes = denoise_sample_count(&work) * sizeof(float);
    if (!status) status = compare_on(&work, steps, room, out);
    denoise_finish(&work);
    return status;
}
