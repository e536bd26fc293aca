#define _GNU_SOURCE
#include "partner.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include "alone.h"

enum { LOOKS_IN_A_ROW = 100 };

struct bench_partner {
    _Atomic uint64_t order; /* number of the latest order */
    _Atomic uint64_t done;  /* number of the latest order that is carried out */
    _Atomic bool quit;
    bench_side side;
    uint64_t steps;
    pthread_t thread;
};

static bench_partner only;

/* A thread begins where the one that starts it may run, which OpenMP binds to one processor. */
static void run_anywhere(void) {
    cpu_set_t all;
    memset(&all, 0xff, sizeof all);
    (void)pthread_setaffinity_np(pthread_self(), sizeof all, &all);
}

static void *partner_main(void *user) {
    bench_partner *self = user;
    uint64_t seen = 0;
    run_anywhere();
    while (!atomic_load_explicit(&self->quit, memory_order_acquire)) {
        uint64_t order = atomic_load_explicit(&self->order, memory_order_acquire);
        if (order == seen) {
            bench_relax();
            continue;
        }
        seen = order;
        self->side.run(self->side.user, self->steps);
        atomic_store_explicit(&self->done, seen, memory_order_release);
    }
    return NULL;
}

bench_partner *bench_partner_start(void) {
    atomic_store(&only.order, 0);
    atomic_store(&only.done, 0);
    atomic_store(&only.quit, false);
    return pthread_create(&only.thread, NULL, partner_main, &only) == 0 ? &only : NULL;
}

void bench_partner_stop(bench_partner *partner) {
    atomic_store(&partner->quit, true);
    pthread_join(partner->thread, NULL);
}

void bench_run_pair(void *user, uint64_t steps) {
    const bench_pair *pair = user;
    bench_partner *partner = pair->partner;
    uint64_t order = atomic_load_explicit(&partner->order, memory_order_relaxed) + 1;
    partner->side = pair->theirs;
    partner->steps = steps;
    atomic_store_explicit(&partner->order, order, memory_order_release);
    pair->mine.run(pair->mine.user, steps);
    while (atomic_load_explicit(&partner->done, memory_order_acquire) != order) bench_relax();
}

static void look(void *user, uint64_t steps) {
    (void)steps;
    *(bool *)user = bench_is_alone();
}

bool bench_both_are_alone(void) {
    bool here = false, there = false;
    bench_pair looks = {&only, {look, &here, 1}, {look, &there, 1}};
    bench_run_pair(&looks, 1);
    return here && there;
}

void bench_part_threads(void) {
    uint64_t start = bench_now_ns();
    bench_partner *partner = bench_partner_start();
    if (partner == NULL) return;
    for (int looks = 0; looks < LOOKS_IN_A_ROW && bench_now_ns() - start < bench.patience_ns;) {
        looks = bench_both_are_alone() ? looks + 1 : 0;
    }
    bench_partner_stop(partner);
}
