/* Chains of dependent small kernels: what a launch and a replayed node cost beside a plain call. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include "alone.h"
#include "player.h"

static void replay_and_eager(const char *name, bool with_eager) {
    bench_work *work = bench_work_make(name);
    bench_stage *stage = bench_stage_make(work, NULL);
    bench_stage_record(stage);
    bench_against_plain(work, "replay", bench_replay(stage));
    if (with_eager) bench_against_plain(work, "eager", bench_eager(stage));
    bench_stage_drop(stage);
}

/* ---- two threads ---- */

/* A second thread that does with its own side what the first does with its own, at the same time. It spins, so that
 * both start together; it lives only while the row is measured. */
typedef struct partner {
    _Atomic uint64_t order; /* number of the latest order */
    _Atomic uint64_t done;  /* number of the latest order that is carried out */
    _Atomic bool quit;
    bench_side side;
    uint64_t steps;
} partner;

typedef struct pair {
    partner *second;
    bench_side mine, theirs;
} pair;

static void *partner_main(void *user) {
    partner *self = user;
    uint64_t seen = 0;
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

static void run_pair(void *user, uint64_t steps) {
    pair *both = user;
    partner *second = both->second;
    uint64_t order = atomic_load_explicit(&second->order, memory_order_relaxed) + 1;
    second->side = both->theirs;
    second->steps = steps;
    atomic_store_explicit(&second->order, order, memory_order_release);
    both->mine.run(both->mine.user, steps);
    while (atomic_load_explicit(&second->done, memory_order_acquire) != order) bench_relax();
}

static partner *asked;

static void look(void *user, uint64_t steps) {
    (void)steps;
    *(bool *)user = bench_is_alone();
}

/* Both threads look at the same time, so that each also notices if the other shares its core. */
static bool both_are_alone(void) {
    bool here = false, there = false;
    pair looks = {asked, {look, &here, 1}, {look, &there, 1}};
    run_pair(&looks, 1);
    return here && there;
}

/* What two threads cost beside one, for Rondo and for plain C; the reference of the row is Rondo alone, slowed down as
 * much as plain C is. */
static void measure_pairs(partner *second, bench_stage *mine, bench_stage *theirs) {
    pair eager = {second, bench_eager(mine), bench_eager(theirs)};
    pair plain = {second, bench_plain(mine->work), bench_plain(theirs->work)};
    const bench_side sides[] = {
        eager.mine, {run_pair, &eager, BENCH_CHAIN}, plain.mine, {run_pair, &plain, BENCH_CHAIN}};
    bench_work_reset(mine->work);
    bench_work_reset(theirs->work);
    asked = second;
    bench.is_alone = both_are_alone;
    bench_times times = bench_sample(sides, 4);
    bench.is_alone = bench_is_alone;
    bench_work_check(mine->work, "the first of two threads");
    bench_work_check(theirs->work, "the second of two threads");
    const double *ns = times.ns;
    bench_print("chain-64/eager from 2 threads", ns[1], ns[0] * ns[3] / ns[2], times.alone);
}

static void two_threads(void) {
    bench_player *player = bench_player_get();
    rondo_stream *other;
    partner second = {.order = 0};
    pthread_t thread;
    MUST(rondo_stream_create(player->device, &other));
    bench_stage *mine = bench_stage_make(bench_work_make("chain-64"), NULL);
    bench_stage *theirs = bench_stage_make(bench_work_make("chain-64"), other);
    if (pthread_create(&thread, NULL, partner_main, &second) != 0) {
        bench_skip("chain-64/eager from 2 threads", "no second thread can be started");
    } else {
        measure_pairs(&second, mine, theirs);
        atomic_store(&second.quit, true);
        pthread_join(thread, NULL);
    }
    bench_stage_drop(mine);
    bench_stage_drop(theirs);
    rondo_stream_release(other);
}

/* ---- the machine ---- */

static void empty(void *user, uint64_t steps) {
    (void)user;
    (void)steps;
}

/* Shortest of many, each the mean of a few rounds, so that interruptions do not count. */
static double least_ns(void (*run)(void *, uint64_t), void *user, uint64_t steps) {
    double least = 0;
    for (int round = 0; round < 101; round++) {
        uint64_t start = bench_now_ns();
        run(user, steps);
        double ns = (double)(bench_now_ns() - start) / (double)steps;
        if (round == 0 || ns < least) least = ns;
    }
    return least;
}

static void run_empty_pairs(void *user, uint64_t steps) {
    for (uint64_t step = 0; step < steps; step++) run_pair(user, 1);
}

/* How often a look finds that this thread has its core to itself. */
static double share_alone(void) {
    enum { LOOKS = 5000 };
    int alone = 0;
    for (int look = 0; look < LOOKS; look++) alone += bench_is_alone();
    return (double)alone / LOOKS;
}

/* Which of its moods the machine is in: how long it takes to hand an empty job to a spinning thread and to see it done,
 * how much slower plain C is on two threads at once than on one, and how often nobody shares the core. */
static void report_machine(void) {
    partner second = {.order = 0};
    pthread_t thread;
    bench_work *here = bench_work_make("chain-4096"), *there = bench_work_make("chain-4096");
    pair nothing = {&second, {empty, NULL, 1}, {empty, NULL, 1}};
    pair plain = {&second, bench_plain(here), bench_plain(there)};
    const bench_side sides[] = {{run_pair, &plain, 1}, plain.mine};
    const uint64_t patience_ns = bench.patience_ns;
    double alone = share_alone();
    if (pthread_create(&thread, NULL, partner_main, &second) != 0) return;
    double fork_join_ns = least_ns(run_empty_pairs, &nothing, 20);
    bench.patience_ns = 0; /* a mood is not waited out */
    bench_times times = bench_sample(sides, 2);
    bench.patience_ns = patience_ns;
    atomic_store(&second.quit, true);
    pthread_join(thread, NULL);
    printf("M\t%.1f\t%.3f\t%.3f\n", fork_join_ns, times.ns[0] / times.ns[1] / BENCH_CHAIN, alone);
}

void bench_rows_chain(void) {
    report_machine();
    if (bench_wants("chain-64/")) {
        replay_and_eager("chain-64", true);
        two_threads();
    }
    if (bench_wants("chain-4096/")) replay_and_eager("chain-4096", false);
}
