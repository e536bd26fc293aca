#define _GNU_SOURCE
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include "alone.h"
#include "partner.h"

bench_options bench = {.samples = 41, .sample_ns = 100000, .warm_ns = 5000000, .is_alone = bench_is_alone,
                       .patience_ns = 2000000000};

enum { MOST_SAMPLES = 64 };

void bench_fail(const char *what) {
    fprintf(stderr, "bench: %s\n", what);
    exit(1);
}

void bench_parse(int argc, char **argv) {
    int at = 1;
    for (; at < argc && argv[at][0] == '-'; at++) {
        if (strcmp(argv[at], "--quick") != 0) bench_fail("the options are --quick and beginnings of rows");
        bench.quick = true;
        bench.samples = 3;
        bench.sample_ns = 10000;
        bench.warm_ns = 0;
        bench.patience_ns = 0;
    }
    bench.rows = argv + at;
    bench.row_count = argc - at;
}

bool bench_wants(const char *row) {
    for (int i = 0; i < bench.row_count; i++) {
        const char *wanted = bench.rows[i];
        if (strncmp(row, wanted, strlen(wanted)) == 0 || strncmp(wanted, row, strlen(row)) == 0) return true;
    }
    return bench.row_count == 0;
}

uint64_t bench_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void bench_relax(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

void *bench_alloc(size_t bytes) {
    const size_t huge = (size_t)2 << 20;
    size_t size = (bytes + huge - 1) / huge * huge;
    void *memory = NULL;
    if (posix_memalign(&memory, huge, size) != 0) bench_fail("there is no memory");
    madvise(memory, size, MADV_HUGEPAGE);
    memset(memory, 0, size);
    return memory;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *values, size_t count) {
    qsort(values, count, sizeof *values, by_value);
    return values[count / 2];
}

static uint64_t time_steps(const bench_side *side, uint64_t steps) {
    uint64_t start = bench_now_ns();
    side->run(side->user, steps);
    return bench_now_ns() - start;
}

/* How many steps make a sample. The longest run seen counts, since early ones still warm things up. */
static uint64_t calibrate(const bench_side *side) {
    uint64_t steps = 1, begin = bench_now_ns();
    uint64_t ns = time_steps(side, 1);
    ns = time_steps(side, 1);
    while (ns < bench.sample_ns / 2 || bench_now_ns() - begin < bench.warm_ns) {
        if (ns < bench.sample_ns / 2) steps *= 2;
        ns = time_steps(side, steps);
    }
    uint64_t fitting = steps * bench.sample_ns / (ns != 0 ? ns : 1);
    return bench.idle_ns != 0 || fitting == 0 ? 1 : fitting;
}

static void idle(void) {
    struct timespec rest = {.tv_sec = 0, .tv_nsec = (long)bench.idle_ns};
    if (bench.idle_ns != 0) nanosleep(&rest, NULL);
}

typedef struct sampling {
    const bench_side *sides;
    size_t count;
    uint64_t steps[BENCH_MOST_SIDES];
    double ns[BENCH_MOST_SIDES][MOST_SAMPLES];
} sampling;

/* A sample of each side, as round number `round`. Whether the core was this thread's alone for all of it. */
static bool sample_all(sampling *s, unsigned round) {
    bool alone = bench.is_alone();
    for (size_t turn = 0; turn < s->count; turn++) {
        size_t side = round % 2 == 0 ? turn : s->count - 1 - turn;
        idle();
        uint64_t ns = time_steps(&s->sides[side], s->steps[side]);
        s->ns[side][round] = (double)ns / (double)s->steps[side] / s->sides[side].units;
        alone = bench.is_alone() && alone;
    }
    return alone;
}

/* The same, taken again as long as somebody shares the core and there is patience left. */
static bool sample_patiently(sampling *s, unsigned round, uint64_t *patience_ns) {
    for (;;) {
        uint64_t start = bench_now_ns();
        bool alone = sample_all(s, round);
        uint64_t spent_ns = bench_now_ns() - start;
        if (alone || spent_ns >= *patience_ns) return alone;
        *patience_ns -= spent_ns;
        if (bench.before_repeat != NULL) bench.before_repeat();
    }
}

bench_times bench_sample(const bench_side *sides, size_t count) {
    static sampling s;
    bench_times times = {.alone = 0};
    uint64_t patience_ns = bench.patience_ns;
    s.sides = sides;
    s.count = count;
    if (bench.wants_two_cores) bench_part_threads();
    for (size_t side = 0; side < count; side++) s.steps[side] = calibrate(&sides[side]);
    for (unsigned round = 0; round < bench.samples; round++) {
        times.alone += sample_patiently(&s, round, &patience_ns);
    }
    for (size_t side = 0; side < count; side++) times.ns[side] = bench_median(s.ns[side], bench.samples);
    times.alone /= bench.samples;
    return times;
}

void bench_print(const char *name, double ns, double ref_ns, double alone) {
    printf("R\t%s\t%.4f\t%.4f", name, ns, ref_ns);
    if (alone >= 0) printf("\t%.3f", alone);
    printf("\n");
    fflush(stdout);
}

void bench_skip(const char *name, const char *reason) {
    printf("S\t%s\t%s\n", name, reason);
    fflush(stdout);
}

void bench_compare(const char *name, bench_side subject, bench_side reference) {
    const bench_side sides[] = {subject, reference};
    bench_times times = bench_sample(sides, 2);
    bench_print(name, times.ns[0], times.ns[1], times.alone);
}
