/* bench-openmp: the workloads as one writes them with OpenMP. */
#include <omp.h>
#include <stdio.h>
#include "kernels.h"
#include "work.h"

/* A task a kernel, ordered by what it writes. A chain gives the second thread nothing to do, so it runs on one. */
static void run_tasks(bench_work *work, uint64_t steps, int threads) {
    for (uint64_t step = 0; step < steps; step++) {
#pragma omp parallel num_threads(threads)
#pragma omp single
        for (size_t c = 0; c < work->chains; c++) {
            for (size_t k = 0; k < work->length; k++) {
                const float *x = work->x[c];
                float *y = work->y[c];
                const size_t items = work->items;
#pragma omp task depend(in : x[0]) depend(inout : y[0]) firstprivate(x, y, items)
                bench_axpy(items, 1, x, y);
            }
        }
    }
    work->executed += steps;
}

static void tasks_on_one(void *user, uint64_t steps) {
    run_tasks(user, steps, 1);
}

static void tasks_on_all(void *user, uint64_t steps) {
    run_tasks(user, steps, omp_get_max_threads());
}

/* By hand: each chain belongs to one thread. The programmer knows that the chains are independent. */
static void chains(void *user, uint64_t steps) {
    bench_work *work = user;
    for (uint64_t step = 0; step < steps; step++) {
#pragma omp parallel for schedule(static)
        for (size_t c = 0; c < work->chains; c++) {
            for (size_t k = 0; k < work->length; k++) bench_axpy(work->items, 1, work->x[c], work->y[c]);
        }
    }
    work->executed += steps;
}

/* A loop a kernel, each thread with its part of the items. */
static void triads(void *user, uint64_t steps) {
    bench_triads *arrays = user;
    for (uint64_t k = 0; k < steps * BENCH_TRIADS; k++) {
        const size_t turn = k % BENCH_TRIADS;
#pragma omp parallel
        {
            const size_t count = (size_t)omp_get_num_threads(), own = (size_t)omp_get_thread_num();
            const size_t first = bench_triad_items() * own / count, last = bench_triad_items() * (own + 1) / count;
            bench_triad(last - first, BENCH_TRIAD_SCALE, BENCH_LEFT(arrays, turn) + first,
                        BENCH_RIGHT(arrays, turn) + first, BENCH_TARGET(arrays, turn) + first);
        }
    }
}

static void one_region(void *user, uint64_t steps) {
    bench_work *work = user;
    for (uint64_t step = 0; step < steps; step++) {
#pragma omp parallel num_threads(1)
        bench_axpy(work->items, 1, work->x[0], work->y[0]);
    }
    work->executed += steps;
}

static void rows_wide(void) {
    bench_work *work = bench_work_make("wide");
    const double nodes = (double)(work->chains * work->length);
    bench_against_plain(work, "OpenMP, chains by hand", (bench_side){chains, work, nodes});
    bench.idle_ns = 1000000;
    bench_against_plain(work, "OpenMP, chains by hand, after 1 ms of idleness", (bench_side){chains, work, nodes});
    bench.idle_ns = 0;
    bench_against_plain(work, "OpenMP, depend tasks", (bench_side){tasks_on_all, work, nodes});
}

static void rows_triad(void) {
    static const char *const names[] = {"OpenMP, parallel for"};
    bench_triads *arrays = bench_triads_make();
    const bench_side side = {triads, arrays, BENCH_TRIADS};
    bench_triads_compare(arrays, names, &side, 1);
}

static void rows_single(void) {
    bench_work *work = bench_work_make("chain-64");
    work->name = "single";
    work->length = 1;
    bench_against_plain(work, "OpenMP, one region", (bench_side){one_region, work, 1});
}

int main(int argc, char **argv) {
    bench_parse(argc, argv);
    if (bench_wants("chain-64/")) {
        bench_work *work = bench_work_make("chain-64");
        bench_against_plain(work, "OpenMP, depend tasks", (bench_side){tasks_on_one, work, BENCH_CHAIN});
    }
    if (bench_wants("chain-4096/")) {
        bench_work *work = bench_work_make("chain-4096");
        bench_against_plain(work, "OpenMP, depend tasks", (bench_side){tasks_on_one, work, BENCH_CHAIN});
    }
    if (bench_wants("wide/")) rows_wide();
    if (bench_wants("single/")) rows_single();
    if (bench_wants("triad/")) rows_triad();
    return 0;
}
