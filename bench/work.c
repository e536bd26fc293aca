#define _GNU_SOURCE
#include "work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kernels.h"
#include "partner.h"

/* Floats count exactly up to here. */
#define LARGEST_COUNT ((uint64_t)1 << 24)

enum { MOST_WORKS = 32 };

static bench_work *works[MOST_WORKS];
static size_t work_count;

/* Samples that are repeated count on. */
static void settle_counts(void) {
    for (size_t w = 0; w < work_count; w++) {
        if (works[w]->executed * works[w]->length < LARGEST_COUNT / 4) continue;
        bench_work_check(works[w], "repeated samples");
        bench_work_reset(works[w]);
    }
}

static void shape(bench_work *work, size_t items, size_t chains, size_t length) {
    work->items = items;
    work->chains = chains;
    work->length = length;
}

bench_work *bench_work_make(const char *name) {
    bench_work *work = calloc(1, sizeof *work);
    if (work == NULL) bench_fail("there is no memory");
    if (work_count == MOST_WORKS) bench_fail("there are too many workloads in one process");
    works[work_count++] = work;
    bench.before_repeat = settle_counts;
    work->name = name;
    if (strcmp(name, "chain-64") == 0) {
        shape(work, 64, 1, BENCH_CHAIN);
    } else if (strcmp(name, "chain-4096") == 0) {
        shape(work, 4096, 1, BENCH_CHAIN);
    } else {
        shape(work, 4096, BENCH_MOST_CHAINS, 16);
    }
    /* The gap keeps the arrays from falling on the same sets of the cache. */
    size_t stride = work->items * sizeof(float) + 256;
    char *arena = bench_alloc(stride * 2 * work->chains);
    for (size_t c = 0; c < work->chains; c++) {
        work->x[c] = (float *)(void *)(arena + stride * 2 * c);
        work->y[c] = (float *)(void *)(arena + stride * (2 * c + 1));
        for (size_t i = 0; i < work->items; i++) work->x[c][i] = 1;
    }
    return work;
}

void bench_work_reset(bench_work *work) {
    for (size_t c = 0; c < work->chains; c++) memset(work->y[c], 0, work->items * sizeof(float));
    work->executed = 0;
}

void bench_work_check(const bench_work *work, const char *who) {
    uint64_t expected = work->executed * work->length;
    if (expected > LARGEST_COUNT) bench_fail("the samples are too long to be counted in floats");
    for (size_t c = 0; c < work->chains; c++) {
        for (size_t i = 0; i < work->items; i++) {
            if (work->y[c][i] == (float)expected) continue;
            fprintf(stderr, "bench: %s by %s: element %zu of chain %zu is %g and must be %llu\n", work->name, who, i, c,
                    (double)work->y[c][i], (unsigned long long)expected);
            exit(1);
        }
    }
}

void bench_plain_steps(void *user, uint64_t steps) {
    bench_work *work = user;
    for (uint64_t step = 0; step < steps; step++) {
        for (size_t c = 0; c < work->chains; c++) {
            for (size_t k = 0; k < work->length; k++) bench_axpy(work->items, 1, work->x[c], work->y[c]);
        }
    }
    work->executed += steps;
}

bench_side bench_plain(bench_work *work) {
    return (bench_side){bench_plain_steps, work, (double)(work->chains * work->length)};
}

void bench_against_plain(bench_work *work, const char *name, bench_side subject) {
    char row[128];
    snprintf(row, sizeof row, "%s/%s", work->name, name);
    bench_work_reset(work);
    bench.wants_two_cores = work->chains > 1;
    bench_compare(row, subject, bench_plain(work));
    bench.wants_two_cores = false;
    bench_work_check(work, name);
}

/* ---- triads ---- */

size_t bench_triad_items(void) {
    return (size_t)(bench.quick ? 1 : 16) << 20;
}

bench_triads *bench_triads_make(void) {
    bench_triads *triads = calloc(1, sizeof *triads);
    if (triads == NULL) bench_fail("there is no memory");
    for (size_t i = 0; i < 3; i++) triads->array[i] = bench_alloc(bench_triad_items() * sizeof(float));
    return triads;
}

void bench_triads_plain(void *user, uint64_t steps) {
    bench_triads *triads = user;
    for (uint64_t k = 0; k < steps * BENCH_TRIADS; k++) {
        bench_triad(bench_triad_items(), BENCH_TRIAD_SCALE, BENCH_LEFT(triads, k % BENCH_TRIADS),
                    BENCH_RIGHT(triads, k % BENCH_TRIADS), BENCH_TARGET(triads, k % BENCH_TRIADS));
    }
}

static void set_ones(bench_triads *triads) {
    const size_t items = bench_triad_items();
    for (size_t a = 0; a < 3; a++) {
        for (size_t i = 0; i < items; i++) triads->array[a][i] = 1;
    }
}

/* All elements are equal, so one number for each array is the whole model. Halving is exact, so it does not matter
 * whether the compiler fuses the multiplication with the addition. */
static void check_one_step(const bench_triads *triads, const char *who) {
    float model[3] = {1, 1, 1};
    for (int k = 0; k < BENCH_TRIADS; k++) model[k % 3] = model[(k + 1) % 3] + BENCH_TRIAD_SCALE * model[(k + 2) % 3];
    const size_t items = bench_triad_items();
    for (size_t a = 0; a < 3; a++) {
        for (size_t i = 0; i < items; i++) {
            if (triads->array[a][i] == model[a]) continue;
            fprintf(stderr, "bench: triad by %s: element %zu of array %zu is %g and must be %g\n", who, i, a,
                    (double)triads->array[a][i], (double)model[a]);
            exit(1);
        }
    }
}

typedef struct checked_step {
    bench_triads *triads;
    const char *name;
    bench_side side;
    double ns[64];
} checked_step;

static void run_checked(checked_step *step, unsigned round) {
    set_ones(step->triads);
    uint64_t start = bench_now_ns();
    step->side.run(step->side.user, 1);
    step->ns[round] = (double)(bench_now_ns() - start) / step->side.units;
    check_one_step(step->triads, step->name);
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void bench_triads_compare(bench_triads *triads, const char *const *names, const bench_side *subjects, size_t count) {
    static checked_step steps[BENCH_MOST_SIDES + 1];
    if (count > BENCH_MOST_SIDES) bench_fail("too many contestants");
    for (size_t s = 0; s < count; s++) steps[s] = (checked_step){triads, names[s], subjects[s], {0}};
    steps[count] = (checked_step){triads, "plain C", {bench_triads_plain, triads, BENCH_TRIADS}, {0}};
    bench_part_threads();
    for (size_t s = 0; s <= count; s++) run_checked(&steps[s], 0); /* warms up; overwritten below */
    for (unsigned round = 0; round < bench.samples; round++) {
        for (size_t turn = 0; turn <= count; turn++) run_checked(&steps[round % 2 == 0 ? turn : count - turn], round);
    }
    for (size_t s = 0; s <= count; s++) qsort(steps[s].ns, bench.samples, sizeof(double), by_value);
    for (size_t s = 0; s < count; s++) {
        char row[128];
        snprintf(row, sizeof row, "triad/%s", names[s]);
        bench_print(row, steps[s].ns[bench.samples / 2], steps[count].ns[bench.samples / 2], BENCH_UNWATCHED);
    }
}
