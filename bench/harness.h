/* Timing: contestants take turns in short samples, and what counts is the median of each.
 *
 * Results go to standard output, a line each, fields apart by tabs; bench.py reads them:
 *   R NAME NS REF_NS [ALONE]   a row, and the share of its samples for which the core was not shared (see alone.h)
 *   S NAME REASON              a row that could not be measured
 *   Q NAME COUNT               something counted
 *   M FORK_JOIN_NS SLOWDOWN ALONE
 *                              the machine's mood
 */
#ifndef BENCH_HARNESS_H
#define BENCH_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { BENCH_MOST_SIDES = 4 };

typedef struct bench_options {
    bool quick;           /* only shows that everything runs: few and short samples */
    unsigned samples;     /* of each side */
    uint64_t sample_ns;   /* how long one should last */
    uint64_t warm_ns;     /* how long a side runs before it is timed */
    bool (*is_alone)(void); /* asked before and after each sample whether the core is shared; see alone.h */
    void (*before_repeat)(void); /* called before samples are taken again; may be NULL */
    uint64_t patience_ns; /* how long a row may repeat samples because somebody shares its core */
    bool wants_two_cores; /* two threads are parted before a row begins; see partner.h */
    uint64_t idle_ns;     /* before each sample the process sleeps so long, and a sample is one step */
    int row_count;        /* wanted rows, by their beginning; none: all */
    char **rows;
} bench_options;

extern bench_options bench;

/* Reads --quick, --idle and the wanted rows. Ends the process if they make no sense. */
void bench_parse(int argc, char **argv);
bool bench_wants(const char *row);

/* One contestant: does its step `steps` times. A step is `units` of what the row counts in. */
typedef struct bench_side {
    void (*run)(void *user, uint64_t steps);
    void *user;
    double units;
} bench_side;

/* Median ns a unit of each side, and the share of the samples for which this thread had its core to itself. */
typedef struct bench_times {
    double ns[BENCH_MOST_SIDES];
    double alone;
} bench_times;

/* The sides take turns, and the order of the turns alternates. A sample of each side during which somebody shared the
 * core is taken again, whatever it gave, until the row's patience is used up; the rest is taken as it comes. Nothing is
 * waited for in between, since that would let a side's threads go to sleep. */
bench_times bench_sample(const bench_side *sides, size_t count);

/* Where a row watches no core. */
#define BENCH_UNWATCHED (-1.0)

void bench_print(const char *name, double ns, double ref_ns, double alone);
/* Sorts the values. */
double bench_median(double *values, size_t count);
void bench_skip(const char *name, const char *reason);
/* Samples two sides and prints the row. */
void bench_compare(const char *name, bench_side subject, bench_side reference);

uint64_t bench_now_ns(void);
/* Waits one turn of a spinning loop. */
void bench_relax(void);
void bench_fail(const char *what) __attribute__((noreturn));
/* Pages of zeros, aligned to 2 MiB and huge where the system has such. Never freed. */
void *bench_alloc(size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
