#include "plan.h"

#include "base/check.h"
#include "parts.h"

#define LEAST_NS 3000u    /* a graph or a phase that takes less alone is not spread */
#define FORK_NS 1000u     /* what it costs to bring the hands together for a phase */
#define STRAND_NS 60u     /* what it costs to take a strand */
#define WORTH_PERCENT 80u /* spread, it must be expected to take no more than this of the time that it takes alone */
#define MOST_LOOKS 64u    /* how many pairs are compared to find that a strand is waited for already */
#define NONE UINT32_MAX

/* Scratch of one planning. Strands are numbered as they are begun; `number` is what they are called in the plan. */
struct planner {
    const struct rdo_cpu_cost *costs;
    const rondo_backend_edges *edges;
    uint32_t count, hands;
    bool large_alone;     /* the graph is too narrow to keep all hands busy with whole large nodes */
    uint32_t phase_count;
    uint32_t strand_count;
    uint32_t wait_count;
    /* per node, and one more: room for two further numbers a node, too */
    uint64_t *depth_ns;
    /* per node */
    uint32_t *phase;
    uint32_t *strand;     /* NONE: the caller plays it alone */
    uint32_t *followers;  /* how many nodes of its own phase follow it directly */
    /* per strand, of which there are at most as many as nodes */
    uint32_t *tail;       /* its last node so far */
    uint32_t *length;
    uint32_t *first_wait; /* entry of `waits`; those of the next strand begin where its own end */
    uint32_t *number;
    uint32_t *stamp;      /* the last strand, plus 1, that got this one among its waits */
    /* per edge at most */
    uint32_t *waits;
};

/* ---- edges ---- */

struct span {
    const uint64_t *at, *end;
};

/* The nodes that `node` follows, but for those that ended before the graph begins. */
static struct span before(const struct planner *p, uint32_t node) {
    const rondo_backend_edges *edges = p->edges;
    struct span span = {edges->list + edges->first[node], edges->list + edges->first[node + 1]};
    while (span.at < span.end && *span.at < edges->base) {
        span.at++;
    }
    return span;
}

static uint32_t node_at(const struct planner *p, const uint64_t *entry) {
    return (uint32_t)(*entry - p->edges->base);
}

/* ---- is there anything to gain? ---- */

static uint64_t latest(const struct planner *p, uint32_t node) {
    uint64_t depth_ns = 0;
    for (struct span b = before(p, node); b.at < b.end; b.at++) {
        uint64_t other_ns = p->depth_ns[node_at(p, b.at)];
        depth_ns = other_ns > depth_ns ? other_ns : depth_ns;
    }
    return depth_ns;
}

/* All nodes one by one, and the longest way through them. */
static void measure(const struct planner *p, uint64_t *out_sum_ns, uint64_t *out_longest_ns) {
    uint64_t sum_ns = 0, longest_ns = 0, barrier_ns = 0;
    for (uint32_t node = 0; node < p->count; node++) {
        const struct rdo_cpu_cost *cost = &p->costs[node];
        uint64_t start_ns = cost->is_host ? longest_ns : latest(p, node);
        start_ns = start_ns < barrier_ns ? barrier_ns : start_ns;
        p->depth_ns[node] = start_ns + cost->ns;
        longest_ns = p->depth_ns[node] > longest_ns ? p->depth_ns[node] : longest_ns;
        barrier_ns = cost->is_host ? longest_ns : barrier_ns;
        sum_ns += cost->ns;
    }
    *out_sum_ns = sum_ns;
    *out_longest_ns = longest_ns;
}

static bool is_worth(uint64_t alone_ns, uint64_t spread_ns) {
    return spread_ns <= alone_ns / 100 * WORTH_PERCENT;
}

/* ---- phases ---- */

static bool is_alone(const struct planner *p, uint32_t node) {
    return p->costs[node].is_host || (p->costs[node].is_large && p->large_alone);
}

/* Phases of small nodes have even numbers, those of the others odd ones. */
static uint32_t phase_after(uint32_t phase, bool alone) {
    return (phase % 2 == 1) == alone ? phase : phase + 1;
}

static void find_phases(struct planner *p) {
    uint32_t least = 0, most = 0;
    for (uint32_t node = 0; node < p->count; node++) {
        bool alone = is_alone(p, node);
        uint32_t phase = phase_after(p->costs[node].is_host ? most : least, alone);
        for (struct span b = before(p, node); b.at < b.end; b.at++) {
            uint32_t after = phase_after(p->phase[node_at(p, b.at)], alone);
            phase = after > phase ? after : phase;
        }
        p->phase[node] = phase;
        most = phase > most ? phase : most;
        least = p->costs[node].is_host ? phase : least;
    }
    p->phase_count = most + 1;
}

/* ---- strands ---- */

static void count_followers(const struct planner *p) {
    for (uint32_t node = 0; node < p->count; node++) {
        for (struct span b = before(p, node); b.at < b.end; b.at++) {
            uint32_t other = node_at(p, b.at);
            p->followers[other] += p->phase[other] == p->phase[node] ? 1 : 0;
        }
    }
}

/* One past the last of the strand's `waits`. */
static uint32_t last_wait(const struct planner *p, uint32_t strand) {
    return strand + 1 < p->strand_count ? p->first_wait[strand + 1] : p->wait_count;
}

static bool waits_for(const struct planner *p, uint32_t strand, uint32_t other) {
    for (uint32_t w = p->first_wait[strand]; w < last_wait(p, strand); w++) {
        if (p->waits[w] == other) {
            return true;
        }
    }
    return false;
}

/* The strand that `node` may lengthen: one whose last node it follows and nobody else does, and which is played only
 * when everything else that `node` follows is done. NONE if there is none. */
static uint32_t strand_to_lengthen(const struct planner *p, uint32_t node) {
    uint32_t found = NONE, looks = 0;
    for (struct span b = before(p, node); b.at < b.end; b.at++) {
        uint32_t other = node_at(p, b.at);
        bool fits = p->phase[other] == p->phase[node] && p->followers[other] == 1 && p->tail[p->strand[other]] == other;
        found = fits ? p->strand[other] : found;
    }
    for (struct span b = before(p, node); b.at < b.end && found != NONE; b.at++) {
        uint32_t other = node_at(p, b.at);
        if (p->phase[other] == p->phase[node] && p->strand[other] != found &&
            (++looks > MOST_LOOKS || !waits_for(p, found, p->strand[other]))) {
            found = NONE;
        }
    }
    return found;
}

static uint32_t begin_strand(struct planner *p, uint32_t node) {
    uint32_t strand = p->strand_count++;
    p->first_wait[strand] = p->wait_count;
    for (struct span b = before(p, node); b.at < b.end; b.at++) {
        uint32_t other = node_at(p, b.at);
        if (p->phase[other] == p->phase[node] && p->stamp[p->strand[other]] != strand + 1) {
            p->stamp[p->strand[other]] = strand + 1;
            p->waits[p->wait_count++] = p->strand[other];
        }
    }
    return strand;
}

static void find_strands(struct planner *p) {
    for (uint32_t node = 0; node < p->count; node++) {
        p->strand[node] = NONE;
        if (is_alone(p, node)) {
            continue;
        }
        uint32_t strand = strand_to_lengthen(p, node);
        strand = strand != NONE ? strand : begin_strand(p, node);
        p->strand[node] = strand;
        p->tail[strand] = node;
        p->length[strand]++;
    }
}

static uint32_t waits_of(const struct planner *p, uint32_t strand) {
    return last_wait(p, strand) - p->first_wait[strand];
}

/* ---- laying it out ---- */

static void lay_phases(const struct planner *p, struct rdo_cpu_plan *plan) {
    for (uint32_t node = 0; node < p->count; node++) {
        plan->phases[p->phase[node]].last++;
        plan->phases[p->phase[node]].ns += p->costs[node].ns;
    }
    for (uint32_t strand = 0; strand < p->strand_count; strand++) {
        struct rdo_cpu_phase *phase = &plan->phases[p->phase[p->tail[strand]]];
        phase->last_strand++;
        phase->free_strands += waits_of(p, strand) == 0 ? 1 : 0;
    }
    uint32_t entry = 0, strand = 0;
    for (uint32_t index = 0; index < plan->phase_count; index++) {
        struct rdo_cpu_phase *phase = &plan->phases[index];
        phase->first = entry;
        entry = phase->last += entry;
        phase->first_strand = strand;
        strand = phase->last_strand += strand;
    }
}

/* Numbers the strands of each phase, those that follow none first; `next` has room for two numbers a phase. */
static void number_strands(const struct planner *p, const struct rdo_cpu_plan *plan, uint32_t *next) {
    for (size_t index = 0; index < plan->phase_count; index++) {
        next[2 * index] = plan->phases[index].first_strand;
        next[2 * index + 1] = plan->phases[index].first_strand + plan->phases[index].free_strands;
    }
    for (uint32_t strand = 0; strand < p->strand_count; strand++) {
        p->number[strand] = next[2 * p->phase[p->tail[strand]] + (waits_of(p, strand) == 0 ? 0 : 1)]++;
    }
}

static void lay_strands(const struct planner *p, struct rdo_cpu_plan *plan) {
    for (uint32_t strand = 0; strand < p->strand_count; strand++) {
        struct rdo_cpu_strand *laid = &plan->strands[p->number[strand]];
        laid->last = p->length[strand];
        laid->waits = waits_of(p, strand);
    }
    for (uint32_t index = 0; index < plan->phase_count; index++) {
        uint32_t entry = plan->phases[index].first;
        for (uint32_t s = plan->phases[index].first_strand; s < plan->phases[index].last_strand; s++) {
            plan->strands[s].first = entry;
            entry = plan->strands[s].last += entry;
        }
    }
}

/* `next` has room for a number a strand, then for one a phase. */
static void lay_nodes(const struct planner *p, struct rdo_cpu_plan *plan, uint32_t *next) {
    uint32_t *next_alone = next + p->strand_count;
    for (uint32_t strand = 0; strand < p->strand_count; strand++) {
        next[strand] = plan->strands[p->number[strand]].first;
    }
    for (uint32_t index = 0; index < plan->phase_count; index++) {
        next_alone[index] = plan->phases[index].first;
    }
    for (uint32_t node = 0; node < p->count; node++) {
        uint32_t strand = p->strand[node];
        plan->order[strand != NONE ? next[strand]++ : next_alone[p->phase[node]]++] = node;
        if (strand != NONE) {
            plan->strands[p->number[strand]].ns += p->costs[node].ns;
        }
    }
}

static void lay_after(const struct planner *p, struct rdo_cpu_plan *plan) {
    for (uint32_t w = 0; w < p->wait_count; w++) {
        plan->strands[p->number[p->waits[w]]].last_after++;
    }
    uint32_t entry = 0;
    for (uint32_t s = 0; s < plan->strand_count; s++) {
        uint32_t count = plan->strands[s].last_after;
        plan->strands[s].first_after = plan->strands[s].last_after = entry;
        entry += count;
    }
    for (uint32_t strand = 0; strand < p->strand_count; strand++) {
        for (uint32_t w = p->first_wait[strand]; w < last_wait(p, strand); w++) {
            plan->after[plan->strands[p->number[p->waits[w]]].last_after++] = p->number[strand];
        }
    }
}

/* ---- what it brings ---- */

/* The longest way through the strands of a phase. A strand is found after all that it follows. */
static uint64_t longest_way(const struct rdo_cpu_plan *plan, const struct rdo_cpu_phase *phase, uint64_t *start_ns) {
    uint64_t longest_ns = 0;
    for (uint32_t s = phase->first_strand; s < phase->last_strand; s++) {
        start_ns[s] = 0;
    }
    for (uint32_t s = phase->first_strand; s < phase->last_strand; s++) {
        const struct rdo_cpu_strand *strand = &plan->strands[s];
        uint64_t end_ns = start_ns[s] + strand->ns;
        longest_ns = end_ns > longest_ns ? end_ns : longest_ns;
        for (uint32_t a = strand->first_after; a < strand->last_after; a++) {
            start_ns[plan->after[a]] = end_ns > start_ns[plan->after[a]] ? end_ns : start_ns[plan->after[a]];
        }
    }
    return longest_ns;
}

static uint64_t expect_phase(const struct planner *p, const struct rdo_cpu_plan *plan,
                             const struct rdo_cpu_phase *phase) {
    uint32_t strands = phase->last_strand - phase->first_strand;
    if (strands < 2 || phase->ns < LEAST_NS) {
        return phase->ns;
    }
    uint64_t even_ns = (phase->ns + strands * (uint64_t)STRAND_NS) / (p->hands < strands ? p->hands : strands);
    uint64_t longest_ns = longest_way(plan, phase, p->depth_ns);
    return FORK_NS + (longest_ns > even_ns ? longest_ns : even_ns);
}

/* A phase that would gain nothing is played alone. */
static void expect(const struct planner *p, struct rdo_cpu_plan *plan) {
    for (uint32_t index = 0; index < plan->phase_count; index++) {
        struct rdo_cpu_phase *phase = &plan->phases[index];
        uint64_t spread_ns = expect_phase(p, plan, phase);
        if (!is_worth(phase->ns, spread_ns)) {
            phase->last_strand = phase->first_strand;
            phase->free_strands = 0;
            spread_ns = phase->ns;
        }
        plan->ns += phase->ns;
        plan->spread_ns += spread_ns;
    }
}

/* ---- all together ---- */

/* The next `count` numbers of a block. */
static uint32_t *take(uint32_t **next, size_t count) {
    uint32_t *taken = *next;
    *next += count;
    return taken;
}

static size_t scratch_bytes(const struct planner *p, uint64_t edge_count) {
    return ((size_t)p->count * 8 + (size_t)edge_count) * sizeof(uint32_t);
}

static void share_out(struct planner *p, uint32_t *scratch) {
    p->phase = take(&scratch, p->count);
    p->strand = take(&scratch, p->count);
    p->followers = take(&scratch, p->count);
    p->tail = take(&scratch, p->count);
    p->length = take(&scratch, p->count);
    p->first_wait = take(&scratch, p->count);
    p->number = take(&scratch, p->count);
    p->stamp = take(&scratch, p->count);
    p->waits = scratch;
}

static struct rdo_cpu_plan *make_plan(const struct planner *p) {
    size_t size_bytes = sizeof(struct rdo_cpu_plan) + p->phase_count * sizeof(struct rdo_cpu_phase) +
                        p->strand_count * sizeof(struct rdo_cpu_strand) +
                        ((size_t)p->count + p->wait_count) * sizeof(uint32_t);
    struct rdo_cpu_plan *plan = rdo_cpu_alloc(size_bytes);
    if (plan == NULL) {
        return NULL;
    }
    plan->size_bytes = size_bytes;
    plan->node_count = p->count;
    plan->phase_count = p->phase_count;
    plan->strand_count = p->strand_count;
    plan->after_count = p->wait_count;
    plan->phases = (struct rdo_cpu_phase *)(plan + 1);
    plan->strands = (struct rdo_cpu_strand *)(plan->phases + plan->phase_count);
    plan->order = (uint32_t *)(plan->strands + plan->strand_count);
    plan->after = plan->order + plan->node_count;
    return plan;
}

/* The depths are not needed any more and lend their room: there are no more strands than nodes, and at most one phase
 * more. */
static void lay_out(const struct planner *p, struct rdo_cpu_plan *plan) {
    uint32_t *room = (uint32_t *)p->depth_ns;
    lay_phases(p, plan);
    number_strands(p, plan, room);
    lay_strands(p, plan);
    lay_nodes(p, plan, room);
    lay_after(p, plan);
    expect(p, plan);
}

static rondo_backend_result plan_strands(struct planner *p, struct rdo_cpu_plan **out_plan) {
    find_phases(p);
    count_followers(p);
    find_strands(p);
    struct rdo_cpu_plan *plan = make_plan(p);
    if (plan == NULL) {
        return RONDO_BACKEND_NO_MEMORY;
    }
    lay_out(p, plan);
    if (is_worth(plan->ns, plan->spread_ns)) {
        *out_plan = plan;
    } else {
        rdo_cpu_plan_free(plan);
    }
    return RONDO_BACKEND_DONE;
}

/* Most of the scratch is taken only where the longest way through the graph leaves something to gain. */
static rondo_backend_result plan_nodes(struct planner *p, uint64_t edge_count, struct rdo_cpu_plan **out_plan) {
    uint64_t sum_ns, longest_ns;
    measure(p, &sum_ns, &longest_ns);
    if (sum_ns < LEAST_NS || !is_worth(sum_ns, longest_ns)) {
        return RONDO_BACKEND_DONE;
    }
    RDO_ASSERT(longest_ns != 0); /* some node takes its part of the sum */
    p->large_alone = sum_ns / longest_ns < p->hands;
    uint32_t *scratch = rdo_cpu_alloc(scratch_bytes(p, edge_count));
    if (scratch == NULL) {
        return RONDO_BACKEND_NO_MEMORY;
    }
    share_out(p, scratch);
    rondo_backend_result result = plan_strands(p, out_plan);
    rdo_cpu_release(scratch, scratch_bytes(p, edge_count));
    return result;
}

rondo_backend_result rdo_cpu_plan_make(const struct rdo_cpu_cost *costs, uint64_t count,
                                       const rondo_backend_edges *edges, uint32_t hands,
                                       struct rdo_cpu_plan **out_plan) {
    *out_plan = NULL;
    if (hands < 2 || count < 2 || count > UINT32_MAX / 2) {
        return RONDO_BACKEND_DONE;
    }
    uint64_t edge_count = edges->first[count] - edges->first[0];
    if (edge_count > UINT32_MAX / 2) {
        return RONDO_BACKEND_DONE;
    }
    struct planner p = {.costs = costs, .edges = edges, .count = (uint32_t)count, .hands = hands};
    size_t depth_bytes = ((size_t)count + 1) * sizeof *p.depth_ns;
    p.depth_ns = rdo_cpu_alloc_raw(depth_bytes);
    if (p.depth_ns == NULL) {
        return RONDO_BACKEND_NO_MEMORY;
    }
    rondo_backend_result result = plan_nodes(&p, edge_count, out_plan);
    rdo_cpu_release(p.depth_ns, depth_bytes);
    return result;
}

void rdo_cpu_plan_free(struct rdo_cpu_plan *plan) {
    if (plan != NULL) {
        rdo_cpu_release(plan, plan->size_bytes);
    }
}
