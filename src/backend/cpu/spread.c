/* Playing a graph by its plan.
 *
 *   whole graph ──► phase by phase ──► strands together, or node by node where the crew is not to be had
 *                        │ a node fails
 *                        ▼
 *   interrupted: every node is noted as ended or not; what comes before the failed node and has not run yet runs now;
 *   what the core asks for afterwards runs unless it has ended.
 *
 * Invariants
 *  1. While no graph is played, a strand's `waits` is what the plan says, its word is 0, and no strand is ready.
 *  2. A strand is played by one hand, once all strands that it follows have ended. After a failure strands still end,
 *     so that nobody waits for ever, but nothing of them is played.
 *  3. `ended` is true to what ran as long as `interrupted` is set.
 *
 * Whether the hands help at all is decided by what was measured: some replays are played alone, some together, the
 * shorter way is kept, and the other one is tried again from time to time.
 */
#include <string.h>
#include "crew.h"
#include "graph.h"

#define NONE UINT32_MAX
#define HAND_NS 1000u        /* each hand must find this much work */
#define FIRST_TURNS 3u       /* replays that are played alone, to know what that takes */
#define TRIAL_TURNS 8u       /* replays after which the shorter way is chosen */
#define FIRST_RETRY 8u       /* after so many more the other way is tried, then after twice as many, and so on */
#define RETRIES 3u           /* together, so many at a time, since the first may find the hands asleep */
#define LAST_RETRY 1024u     /* at most so many turns lie between two tries to play together, */
#define RARE_RETRY 65536u    /* and so many between two to play alone: the hands would go to sleep meanwhile */
#define ENDED ((uint64_t)1 << 32)

struct strand {
    alignas(64) _Atomic uint32_t waits; /* strands that it follows and that have not ended */
    uint32_t failed;                    /* the word for its kernels */
    uint32_t played;                    /* nodes of it that have run well */
    uint32_t reason;                    /* why the next one did not, 0 if it was not run at all */
    bool stopped;                       /* at that next one, which failed */
    uint32_t next_ready;
};

enum way { ALONE, TOGETHER };

struct rdo_cpu_spread {
    struct rdo_cpu_plan *plan;
    uint32_t *place;      /* per node: its entry of the plan's order */
    uint32_t *strand;     /* per entry: its strand, NONE if the caller plays it alone */
    uint64_t *ended;      /* per entry: 0 if it has not run, ENDED, or ENDED and the reason of its failure */
    bool interrupted;
    uint64_t turns;
    uint64_t retry;       /* the turn at which the other way is tried next */
    uint64_t pause;       /* turns between the last try and that one */
    enum way chosen;
    uint64_t way_ns[2];   /* what a replay takes, 0: not known */
    size_t size_bytes;
    /* Of the phase that is played together. */
    struct rdo_cpu_graph *graph;
    const struct rdo_cpu_phase *phase;
    struct rdo_cpu_device *device;
    alignas(64) _Atomic bool stop; /* some node failed */
    alignas(64) _Atomic uint32_t left; /* strands that have not ended */
    alignas(64) atomic_flag busy;  /* held to touch `ready` */
    uint32_t ready;                /* first of the strands that wait for a hand */
    struct strand strands[];
};

/* ---- making ---- */

static size_t spread_bytes(const struct rdo_cpu_plan *plan) {
    return sizeof(struct rdo_cpu_spread) + plan->strand_count * sizeof(struct strand) +
           plan->node_count * (sizeof(uint64_t) + 2 * sizeof(uint32_t));
}

static void place_nodes(struct rdo_cpu_spread *spread) {
    const struct rdo_cpu_plan *plan = spread->plan;
    for (uint32_t entry = 0; entry < plan->node_count; entry++) {
        spread->place[plan->order[entry]] = entry;
        spread->strand[entry] = NONE;
    }
    for (uint32_t index = 0; index < plan->phase_count; index++) {
        for (uint32_t s = plan->phases[index].first_strand; s < plan->phases[index].last_strand; s++) {
            for (uint32_t entry = plan->strands[s].first; entry < plan->strands[s].last; entry++) {
                spread->strand[entry] = s;
            }
        }
    }
}

rondo_backend_result rdo_cpu_spread_make(struct rdo_cpu_plan *plan, struct rdo_cpu_spread **out_spread) {
    struct rdo_cpu_spread *spread = rdo_cpu_alloc(spread_bytes(plan));
    *out_spread = spread;
    if (spread == NULL) {
        rdo_cpu_plan_free(plan);
        return RONDO_BACKEND_NO_MEMORY;
    }
    spread->plan = plan;
    spread->size_bytes = spread_bytes(plan);
    spread->ended = (uint64_t *)(void *)&spread->strands[plan->strand_count];
    spread->place = (uint32_t *)(spread->ended + plan->node_count);
    spread->strand = spread->place + plan->node_count;
    spread->ready = NONE;
    atomic_flag_clear(&spread->busy);
    for (uint32_t s = 0; s < plan->strand_count; s++) {
        atomic_init(&spread->strands[s].waits, plan->strands[s].waits);
    }
    place_nodes(spread);
    return RONDO_BACKEND_DONE;
}

void rdo_cpu_spread_free(struct rdo_cpu_spread *spread) {
    if (spread != NULL) {
        rdo_cpu_plan_free(spread->plan);
        rdo_cpu_release(spread, spread->size_bytes);
    }
}

uint32_t rdo_cpu_spread_place(const struct rdo_cpu_spread *spread, uint64_t node) {
    return spread->place[node];
}

uint32_t *rdo_cpu_spread_word(struct rdo_cpu_spread *spread, uint64_t node) {
    uint32_t strand = spread->strand[spread->place[node]];
    return strand != NONE ? &spread->strands[strand].failed : NULL;
}

/* ---- a strand ---- */

/* Each hand has a queue of its own, because a queue counts launches. */
static void play_strand(struct rdo_cpu_spread *spread, uint32_t s) {
    const struct rdo_cpu_strand *planned = &spread->plan->strands[s];
    struct strand *strand = &spread->strands[s];
    struct rdo_cpu_queue queue = {spread->device, 0};
    rondo_backend_outcome outcome;
    rondo_backend_result result = RONDO_BACKEND_DONE;
    uint32_t entry = planned->first;
    strand->stopped = false;
    if (!atomic_load_explicit(&spread->stop, memory_order_relaxed)) {
        while (entry < planned->last) {
            result = rdo_cpu_play_node(&queue, &spread->graph->nodes[entry], &outcome);
            if (result != RONDO_BACKEND_DONE) {
                break;
            }
            entry++;
        }
    }
    strand->played = entry - planned->first;
    if (result != RONDO_BACKEND_DONE) {
        strand->stopped = true;
        strand->reason = result == RONDO_BACKEND_FAILED ? outcome.reason : 0;
        atomic_store_explicit(&spread->stop, true, memory_order_relaxed);
    }
}

static void lock_ready(struct rdo_cpu_spread *spread) {
    for (uint64_t turn = 0; atomic_flag_test_and_set_explicit(&spread->busy, memory_order_acquire); turn++) {
        rdo_crew_pause(turn);
    }
}

static void push_ready(struct rdo_cpu_spread *spread, uint32_t s) {
    lock_ready(spread);
    spread->strands[s].next_ready = spread->ready;
    spread->ready = s;
    atomic_flag_clear_explicit(&spread->busy, memory_order_release);
}

static uint32_t pop_ready(struct rdo_cpu_spread *spread) {
    lock_ready(spread);
    uint32_t s = spread->ready;
    spread->ready = s != NONE ? spread->strands[s].next_ready : NONE;
    atomic_flag_clear_explicit(&spread->busy, memory_order_release);
    return s;
}

/* Ends the strand and returns one that may be played now, the others are left for anyone; NONE if there is none. */
static uint32_t end_strand(struct rdo_cpu_spread *spread, uint32_t s) {
    const struct rdo_cpu_strand *planned = &spread->plan->strands[s];
    uint32_t mine = NONE;
    for (uint32_t a = planned->first_after; a < planned->last_after; a++) {
        uint32_t after = spread->plan->after[a];
        if (atomic_fetch_sub_explicit(&spread->strands[after].waits, 1, memory_order_acq_rel) != 1) {
            continue;
        }
        atomic_store_explicit(&spread->strands[after].waits, spread->plan->strands[after].waits, memory_order_relaxed);
        if (mine == NONE) {
            mine = after;
        } else {
            push_ready(spread, after);
        }
    }
    return mine;
}

static void play_from(struct rdo_cpu_spread *spread, uint32_t s) {
    uint32_t ended = 0;
    for (; s != NONE; s = end_strand(spread, s)) {
        play_strand(spread, s);
        ended++;
    }
    if (spread->phase->free_strands != spread->phase->last_strand - spread->phase->first_strand) {
        atomic_fetch_sub_explicit(&spread->left, ended, memory_order_release);
    }
}

/* ---- a phase ---- */

static void play_free_strands(void *context, uint64_t first, uint64_t last) {
    struct rdo_cpu_spread *spread = context;
    for (uint64_t s = first; s < last; s++) {
        play_from(spread, spread->phase->first_strand + (uint32_t)s);
    }
}

static void play_ready_strands(void *context) {
    struct rdo_cpu_spread *spread = context;
    for (uint64_t turn = 0; atomic_load_explicit(&spread->left, memory_order_acquire) != 0; turn++) {
        uint32_t s = pop_ready(spread);
        if (s != NONE) {
            play_from(spread, s);
            turn = 0;
        } else {
            rdo_crew_pause(turn);
        }
    }
}

/* What the phase takes alone: its share of what was measured, or else what the plan expects. */
static uint64_t alone_ns(const struct rdo_cpu_spread *spread, const struct rdo_cpu_phase *phase) {
    double measured = (double)spread->way_ns[ALONE] * (double)phase->ns / (double)spread->plan->ns;
    return spread->way_ns[ALONE] != 0 ? (uint64_t)measured + 1 : phase->ns;
}

static uint32_t hands_for(const struct rdo_cpu_phase *phase, uint32_t workers) {
    uint32_t strands = phase->last_strand - phase->first_strand;
    uint64_t most = phase->ns / HAND_NS;
    most = most < strands ? most : strands;
    return most < workers ? (uint32_t)most : workers;
}

/* Whether the crew took it. */
static bool play_together(struct rdo_cpu_spread *spread, const struct rdo_cpu_phase *phase) {
    uint32_t strands = phase->last_strand - phase->first_strand;
    struct rdo_crew_share own;
    struct rdo_crew_job job = {.fn = play_free_strands,
                               .context = spread,
                               .count = phase->free_strands,
                               .chunk = 1,
                               .max_hands = hands_for(phase, spread->device->workers),
                               .alone_ns = alone_ns(spread, phase),
                               .rest = phase->free_strands != strands ? play_ready_strands : NULL};
    spread->phase = phase;
    atomic_store_explicit(&spread->stop, false, memory_order_relaxed);
    atomic_store_explicit(&spread->left, strands, memory_order_relaxed);
    return rdo_crew_run(spread->device->crew, &job, &own);
}

/* Plays the entries one by one; returns where it stopped, `last` if nothing failed. */
static uint32_t play_entries(struct rdo_cpu_queue *queue, struct rdo_cpu_graph *graph, uint32_t first, uint32_t last,
                             rondo_backend_result *out_result, rondo_backend_outcome *outcome) {
    *out_result = RONDO_BACKEND_DONE;
    for (uint32_t entry = first; entry < last; entry++) {
        *out_result = rdo_cpu_play_node(queue, &graph->nodes[entry], outcome);
        if (*out_result != RONDO_BACKEND_DONE) {
            return entry;
        }
    }
    return last;
}

/* ---- a failure ---- */

static void note_ended(struct rdo_cpu_spread *spread, uint32_t first, uint32_t last) {
    for (uint32_t entry = first; entry < last; entry++) {
        spread->ended[entry] = ENDED;
    }
}

/* What did not run at all is not noted, and tried again when its turn comes. */
static void note_failure(struct rdo_cpu_spread *spread, uint32_t entry, uint32_t reason, uint32_t *earliest) {
    uint32_t node = spread->plan->order[entry];
    spread->ended[entry] = reason != 0 ? ENDED | reason : 0;
    *earliest = node < *earliest ? node : *earliest;
}

static void interrupt(struct rdo_cpu_spread *spread, const struct rdo_cpu_phase *phase) {
    spread->interrupted = true;
    memset(spread->ended, 0, spread->plan->node_count * sizeof *spread->ended);
    note_ended(spread, 0, phase->first);
}

/* Returns the earliest node that failed, by the order of recording. */
static uint32_t note_strands(struct rdo_cpu_spread *spread, const struct rdo_cpu_phase *phase) {
    uint32_t earliest = NONE;
    interrupt(spread, phase);
    for (uint32_t s = phase->first_strand; s < phase->last_strand; s++) {
        uint32_t first = spread->plan->strands[s].first, end = first + spread->strands[s].played;
        note_ended(spread, first, end);
        if (spread->strands[s].stopped) {
            note_failure(spread, end, spread->strands[s].reason, &earliest);
        }
    }
    return earliest;
}

static uint32_t note_entries(struct rdo_cpu_spread *spread, const struct rdo_cpu_phase *phase, uint32_t entry,
                             uint32_t reason) {
    uint32_t earliest = NONE;
    interrupt(spread, phase);
    note_ended(spread, phase->first, entry);
    note_failure(spread, entry, reason, &earliest);
    return earliest;
}

static rondo_backend_result play_or_recall(struct rdo_cpu_queue *queue, struct rdo_cpu_graph *graph, uint32_t entry,
                                           rondo_backend_outcome *outcome) {
    uint64_t ended = graph->spread->interrupted ? graph->spread->ended[entry] : 0;
    if (ended == 0) {
        return rdo_cpu_play_node(queue, &graph->nodes[entry], outcome);
    }
    return ended == ENDED ? RONDO_BACKEND_DONE : rdo_cpu_fail(outcome, RONDO_BACKEND_FAILED, (uint32_t)ended, "");
}

/* By the order of recording. */
static rondo_backend_result play_nodes(struct rdo_cpu_queue *queue, struct rdo_cpu_graph *graph, uint64_t first,
                                       uint64_t last, rondo_backend_outcome *outcome) {
    for (uint64_t node = first; node < last; node++) {
        rondo_backend_result result = play_or_recall(queue, graph, graph->spread->place[node], outcome);
        if (result != RONDO_BACKEND_DONE) {
            outcome->node = node;
            return result;
        }
    }
    return RONDO_BACKEND_DONE;
}

/* ---- the whole graph ---- */

/* Plays one phase and returns the earliest node that failed, NONE if all is well. *way becomes ALONE when the hands
 * did not come. */
static uint32_t play_phase(struct rdo_cpu_queue *queue, struct rdo_cpu_graph *graph, const struct rdo_cpu_phase *phase,
                           enum way *way) {
    struct rdo_cpu_spread *spread = graph->spread;
    rondo_backend_outcome outcome;
    rondo_backend_result result;
    if (phase->first_strand != phase->last_strand && *way == TOGETHER) {
        if (play_together(spread, phase)) {
            return atomic_load_explicit(&spread->stop, memory_order_relaxed) ? note_strands(spread, phase) : NONE;
        }
        *way = ALONE;
    }
    uint32_t entry = play_entries(queue, graph, phase->first, phase->last, &result, &outcome);
    if (result == RONDO_BACKEND_DONE) {
        return NONE;
    }
    return note_entries(spread, phase, entry, result == RONDO_BACKEND_FAILED ? outcome.reason : 0);
}

/* The other way is tried for some turns, beginning with `retry`. */
static enum way try_other(struct rdo_cpu_spread *spread, uint64_t turn) {
    uint64_t tries = spread->chosen == ALONE ? RETRIES : 1;
    if (turn == spread->retry + tries - 1) {
        uint64_t doubled = 2 * spread->pause < LAST_RETRY ? 2 * spread->pause : LAST_RETRY;
        spread->pause = spread->chosen == ALONE ? doubled : RARE_RETRY;
        spread->retry = turn + spread->pause;
    }
    return spread->chosen == ALONE ? TOGETHER : ALONE;
}

static enum way choose_way(struct rdo_cpu_spread *spread) {
    uint64_t turn = spread->turns++;
    if (turn < TRIAL_TURNS || spread->way_ns[TOGETHER] == 0) {
        return turn < FIRST_TURNS ? ALONE : TOGETHER;
    }
    enum way shorter = spread->way_ns[TOGETHER] <= spread->way_ns[ALONE] ? TOGETHER : ALONE;
    if (spread->pause == 0 || shorter != spread->chosen) {
        spread->chosen = shorter;
        spread->pause = FIRST_RETRY;
        spread->retry = turn + FIRST_RETRY;
    }
    return turn < spread->retry ? shorter : try_other(spread, turn);
}

/* Falls at once and rises slowly: one replay that the system interrupted says little, however long it took. */
static void learn(struct rdo_cpu_spread *spread, enum way way, uint64_t ns) {
    uint64_t old = spread->way_ns[way];
    uint64_t counted = old != 0 && ns > 2 * old ? 2 * old : ns;
    spread->way_ns[way] = old == 0 || ns < old ? ns : old + (counted - old) / 8;
}

static rondo_backend_result play_all(struct rdo_cpu_queue *queue, struct rdo_cpu_graph *graph,
                                     rondo_backend_outcome *outcome) {
    struct rdo_cpu_spread *spread = graph->spread;
    enum way way = choose_way(spread);
    uint64_t start_ns = rdo_crew_now_ns();
    spread->graph = graph;
    spread->device = queue->device;
    for (uint32_t index = 0; index < spread->plan->phase_count; index++) {
        uint32_t failed = play_phase(queue, graph, &spread->plan->phases[index], &way);
        if (failed != NONE) {
            return play_nodes(queue, graph, 0, (uint64_t)failed + 1, outcome);
        }
    }
    learn(spread, way, rdo_crew_now_ns() - start_ns);
    return RONDO_BACKEND_DONE;
}

rondo_backend_result rdo_cpu_spread_submit(struct rdo_cpu_queue *queue, struct rdo_cpu_graph *graph, uint64_t first,
                                           uint64_t last, rondo_backend_outcome *outcome) {
    if (first == 0) {
        graph->spread->interrupted = false;
    }
    return first == 0 && last == graph->count ? play_all(queue, graph, outcome)
                                              : play_nodes(queue, graph, first, last, outcome);
}
