/* A second thread that does with its own side what the first does with its own, at the same time. It spins in between,
 * so that both start together. */
#ifndef BENCH_PARTNER_H
#define BENCH_PARTNER_H

#include "harness.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bench_partner bench_partner;

/* One at a time. NULL if no thread can be started. */
bench_partner *bench_partner_start(void);
void bench_partner_stop(bench_partner *partner);

typedef struct bench_pair {
    bench_partner *partner;
    bench_side mine, theirs;
} bench_pair;

/* A side whose step is one of both; `user` is a bench_pair. */
void bench_run_pair(void *user, uint64_t steps);

/* Like bench_is_alone, for both threads, which look at the same time: so each also notices if the other shares its
 * core. While there is a partner. */
bool bench_both_are_alone(void);

/* The system may let the two hardware threads of one core run two threads, until it has seen both busy for a while.
 * Keeps two threads busy until each has a core to itself, within a row's patience. */
void bench_part_threads(void);

#ifdef __cplusplus
}
#endif
#endif
