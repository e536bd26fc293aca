/* rondo-bench-opencl: Rondo's OpenCL backend beside OpenCL by hand, on the first device that the loader finds. Which of
 * PoCL's devices that is comes from POCL_DEVICES; the rows carry its name. */
#include "opencl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

const char load_text[] =
    "__kernel void axpy(__global float *restrict y, __global const float *restrict x, float a) {\n"
    "    size_t i = get_global_id(0);\n"
    "    y[i] += a * x[i];\n"
    "}\n"
    "__kernel void triad(__global float *restrict target, __global const float *restrict left,\n"
    "                    __global const float *restrict right, float scale) {\n"
    "    size_t i = get_global_id(0);\n"
    "    target[i] = left[i] + scale * right[i];\n"
    "}\n";

/* ---- loads ---- */

enum { GROUP = 1024, CHAIN = 1000, CHAINS = 64, LINKS = 16, TRIADS = 10, TRIAD_SAMPLES = 9, SPOTS = 5 };
enum { TOUCHED = 16384 };

static void model_step(load *l) {
    memcpy(l->end, l->start, sizeof l->end);
    for (unsigned i = 0; i < l->launch_count; i++) {
        const load_call *call = &l->call[l->launch[i]];
        const unsigned *b = call->buffer;
        l->end[b[0]] = call->is_triad ? l->end[b[1]] + LOAD_TRIAD_SCALE * l->end[b[2]]
                                      : l->end[b[0]] + LOAD_AXPY_A * l->end[b[1]];
    }
}

/* `chains` chains of `links` kernels y += x, one chain after the other, each on two buffers of its own. */
static load chains(const char *name, size_t items, unsigned count, unsigned links) {
    load l = {.name = name, .items = items, .local = items < GROUP ? items : GROUP, .buffer_count = 2 * count,
              .call_count = count};
    for (unsigned c = 0; c < count; c++) {
        l.call[c] = (load_call){false, {2 * c, 2 * c + 1, 0}};
        l.start[2 * c + 1] = 1;
        for (unsigned k = 0; k < links; k++) l.launch[l.launch_count++] = c;
    }
    model_step(&l);
    return l;
}

/* Kernel k writes array k % 3 from the other two. */
static load triads(void) {
    load l = {.name = "triad", .items = (size_t)(bench.quick ? 1 : 16) << 20, .local = GROUP, .spare_bytes = 1 << 20,
              .buffer_count = 3, .call_count = 3, .start = {1, 1, 1}};
    for (unsigned c = 0; c < 3; c++) l.call[c] = (load_call){true, {c, (c + 1) % 3, (c + 2) % 3}};
    for (unsigned k = 0; k < TRIADS; k++) l.launch[l.launch_count++] = k % 3;
    model_step(&l);
    return l;
}

/* ---- players ---- */

/* A step from the start must leave the numbers of the model. Some items of each buffer are looked at. */
static void check(const load_player *p, const load *l) {
    for (unsigned b = 0; b < l->buffer_count; b++) p->set(p->user, b, 0, l->items, l->start[b]);
    p->run(p->user, 1);
    for (unsigned b = 0; b < l->buffer_count; b++) {
        for (size_t spot = 0; spot < SPOTS; spot++) {
            float found = p->get(p->user, b, spot * (l->items - 1) / (SPOTS - 1));
            if (found == l->end[b]) continue;
            fprintf(stderr, "bench: %s, %s: buffer %u holds %g and must hold %g\n", l->name, p->name, b,
                    (double)found, (double)l->end[b]);
            exit(1);
        }
    }
}

static const char *device_name(void) {
    const char *kind = getenv("POCL_DEVICES");
    return kind != NULL ? kind : "device";
}

static const char *row(const char *workload, const char *what) {
    static char name[128];
    snprintf(name, sizeof name, "opencl/%s %s, %s", device_name(), workload, what);
    return name;
}

/* Times players that take turns, checked before and afterwards. A player that cannot play is left out, with 0 ns. */
static bench_times sample(const load *l, const load_player *players, size_t count) {
    bench_side sides[BENCH_MOST_SIDES] = {{NULL, NULL, 0}};
    size_t playing = 0;
    for (size_t p = 0; p < count; p++) {
        if (players[p].run == NULL) continue;
        check(&players[p], l);
        sides[playing++] = (bench_side){players[p].run, players[p].user, (double)l->launch_count};
    }
    bench_times times = bench_sample(sides, playing);
    for (size_t p = count; p-- > 0;) {
        times.ns[p] = players[p].run != NULL ? times.ns[--playing] : 0;
        if (players[p].run != NULL) check(&players[p], l);
    }
    return times;
}

/* ---- rows ---- */

static void count_waits(mine *m, const load *l) {
    enum { REPLAYS = 10 };
    uint64_t waits, questions;
    load_player replays = mine_replays(m);
    mine_count(&waits, &questions);
    replays.run(replays.user, REPLAYS);
    mine_count(&waits, &questions);
    printf("Q\t%s\t%g\n", row(l->name, "waits a replay"), (double)waits / REPLAYS);
    printf("Q\t%s\t%g\n", row(l->name, "questions a replay"), (double)questions / REPLAYS);
}

static void rows_replay(mine *m, hand *h, const load *l) {
    const load_player players[] = {mine_replays(m), mine_launches(m), hand_enqueues(h), hand_command_buffer(h)};
    const bench_times times = sample(l, players, 4);
    const double *ns = times.ns;
    double best = ns[3] != 0 ? fmin(ns[2], ns[3]) : ns[2];
    bench_print(row(l->name, "replay"), ns[0], best, times.alone);
    bench_print(row(l->name, "replay against eager"), ns[0], ns[1], times.alone);
    bench_print(row(l->name, "enqueued by hand"), ns[2], best, times.alone);
    if (ns[3] != 0) bench_print(row(l->name, "command buffer by hand"), ns[3], best, times.alone);
}

static void row_language(mine *m, hand *h, const load *l) {
    const load_player players[] = {mine_replays(m), hand_enqueues(h)};
    bench_times times = sample(l, players, 2);
    bench_print(row(l->name, "replay of Rondo's language"), times.ns[0], times.ns[1], times.alone);
}

/* What it may cost depends on what there is to make. */
static void row_record(mine *m, hand *h, const load *l, bool can_record) {
    const bench_side mine_side = {mine_record, m, (double)l->launch_count};
    const bench_side hand_side = {hand_record, h, (double)l->launch_count};
    bool native = strncmp(mine_way(m), "native", 6) == 0;
    static const char *const names[] = {"record and seal, replayed one by one", "record and seal, as command buffer"};
    char other[128];
    snprintf(other, sizeof other, "%s", row(l->name, names[!native]));
    bench_skip(other, mine_way(m));
    if (can_record) {
        bench_compare(row(l->name, names[native]), mine_side, hand_side);
    } else {
        bench_skip(row(l->name, names[native]), "this driver has no command buffers to compare with");
    }
}

/* Gives all buffers their numbers for the first time, both sides in turns: which pages of memory the system hands out
 * depends on who asks when, and moves the speed of large arrays by a tenth and more. */
static void touch_in_turns(const load_player *a, const load_player *b, const load *l) {
    for (unsigned i = 0; i < l->buffer_count; i++) {
        for (size_t first = 0; first < l->items; first += TOUCHED) {
            size_t count = l->items - first < TOUCHED ? l->items - first : TOUCHED;
            a->set(a->user, i, first, count, l->start[i]);
            b->set(b->user, i, first, count, l->start[i]);
        }
    }
}

static void rows(mine *m, hand *h, load l) {
    char group[64];
    snprintf(group, sizeof group, "%s", row(l.name, ""));
    if (!bench_wants(group)) return;
    const load_player replays = mine_replays(m), enqueues = hand_enqueues(h);
    hand_load(h, &l);
    mine_load(m, &l);
    touch_in_turns(&replays, &enqueues, &l);
    mine_capture(m, false);
    rows_replay(m, h, &l);
    count_waits(m, &l);
    if (strcmp(l.name, "chain-64") == 0) row_record(m, h, &l, hand_command_buffer(h).run != NULL);
    mine_capture(m, true);
    row_language(m, h, &l);
    mine_unload(m);
    hand_unload(h);
}

/* Else each recording of either side would give its pages back to the system and fetch them again, which a larger
 * program, whose heap has other things at its end, does not. */
static void keep_heap(void) {
#ifdef __GLIBC__
    mallopt(M_TRIM_THRESHOLD, 64 << 20);
    mallopt(M_MMAP_THRESHOLD, 4 << 20);
#endif
}

int main(int argc, char **argv) {
    bench_parse(argc, argv);
    if (!bench_wants("opencl/")) return 0;
    keep_heap();
    hand *h = hand_open();
    if (h == NULL) bench_fail("OpenCL finds no device");
    mine *m = mine_open();
    rows(m, h, chains("chain-64", 64, 1, CHAIN));
    rows(m, h, chains("chain-4096", 4096, 1, CHAIN));
    rows(m, h, chains("wide", 4096, CHAINS, LINKS));
    unsigned samples = bench.samples;
    if (bench.samples > TRIAD_SAMPLES) bench.samples = TRIAD_SAMPLES;
    rows(m, h, triads());
    bench.samples = samples;
    return 0;
}
