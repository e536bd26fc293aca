#define _GNU_SOURCE
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include "alone.h"

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

/* True if the core is this thread's alone. A wait lets threads of the side go to sleep, so a step follows it. */
static bool await_core(const bench_side *side, uint64_t patience_ns) {
    if (bench.is_alone()) return true;
    uint64_t start = bench_now_ns();
    while (bench_now_ns() - start < patience_ns) {
        if (!bench.is_alone()) continue;
        side->run(side->user, 1);
        return true;
    }
    return false;
}

typedef struct sampling {
    uint64_t patience_ns; /* what is left of it */
    unsigned alone;       /* samples for which the core was not shared */
} sampling;

static double sample(sampling *s, const bench_side *side, uint64_t steps) {
    for (;;) {
        uint64_t begin = bench_now_ns();
        bool alone = await_core(side, s->patience_ns);
        idle();
        double ns = (double)time_steps(side, steps) / (double)steps / side->units;
        alone = bench.is_alone() && alone;
        uint64_t spent_ns = bench_now_ns() - begin;
        s->alone += alone;
        if (alone || spent_ns >= s->patience_ns) {
            if (!alone) s->patience_ns = 0;
            return ns;
        }
        s->patience_ns -= spent_ns;
    }
}

bench_times bench_sample(const bench_side *sides, size_t count) {
    static double samples[BENCH_MOST_SIDES][MOST_SAMPLES];
    uint64_t steps[BENCH_MOST_SIDES];
    sampling s = {.patience_ns = bench.patience_ns};
    bench_times times = {.alone = 0};
    for (size_t side = 0; side < count; side++) steps[side] = calibrate(&sides[side]);
    for (unsigned round = 0; round < bench.samples; round++) {
        for (size_t turn = 0; turn < count; turn++) {
            size_t side = round % 2 == 0 ? turn : count - 1 - turn;
            samples[side][round] = sample(&s, &sides[side], steps[side]);
        }
    }
    for (size_t side = 0; side < count; side++) times.ns[side] = bench_median(samples[side], bench.samples);
    times.alone = (double)s.alone / (double)(bench.samples * count);
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
