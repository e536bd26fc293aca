/* Chains of dependent small kernels: what a launch and a replayed node cost beside a plain call. */
#include <stdio.h>
#include "alone.h"
#include "partner.h"
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

/* What two threads cost beside one, for Rondo and for plain C; the reference of the row is Rondo alone, slowed down as
 * much as plain C is. */
static void measure_pairs(bench_partner *partner, bench_stage *mine, bench_stage *theirs) {
    bench_pair eager = {partner, bench_eager(mine), bench_eager(theirs)};
    bench_pair plain = {partner, bench_plain(mine->work), bench_plain(theirs->work)};
    const bench_side sides[] = {
        eager.mine, {bench_run_pair, &eager, BENCH_CHAIN}, plain.mine, {bench_run_pair, &plain, BENCH_CHAIN}};
    bench_work_reset(mine->work);
    bench_work_reset(theirs->work);
    bench.is_alone = bench_both_are_alone;
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
    MUST(rondo_stream_create(player->device, &other));
    bench_stage *mine = bench_stage_make(bench_work_make("chain-64"), NULL);
    bench_stage *theirs = bench_stage_make(bench_work_make("chain-64"), other);
    bench_partner *partner = bench_partner_start();
    if (partner == NULL) {
        bench_skip("chain-64/eager from 2 threads", "no second thread can be started");
    } else {
        measure_pairs(partner, mine, theirs);
        bench_partner_stop(partner);
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
    for (uint64_t step = 0; step < steps; step++) bench_run_pair(user, 1);
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
    bench_work *here = bench_work_make("chain-4096"), *there = bench_work_make("chain-4096");
    double alone = share_alone();
    bench_partner *partner = bench_partner_start();
    if (partner == NULL) return;
    bench_pair nothing = {partner, {empty, NULL, 1}, {empty, NULL, 1}};
    bench_pair plain = {partner, bench_plain(here), bench_plain(there)};
    const bench_side sides[] = {{bench_run_pair, &plain, 1}, plain.mine};
    const uint64_t patience_ns = bench.patience_ns;
    double fork_join_ns = least_ns(run_empty_pairs, &nothing, 20);
    bench.patience_ns = 0; /* a mood is not waited out */
    bench_times times = bench_sample(sides, 2);
    bench.patience_ns = patience_ns;
    bench_partner_stop(partner);
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
