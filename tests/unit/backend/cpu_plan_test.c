#include "backend/cpu/plan.h"
#include "backend_tools.h"
#include "cpu_hooks.h"

enum { MOST_NODES = 120, MOST_LINKS = MOST_NODES * 8, BASE = 1000 };

/* Nodes with their costs and edges. Edges begin with one of a node before the graph, which must not count. */
struct sketch {
    struct rdo_cpu_cost costs[MOST_NODES];
    uint64_t first[MOST_NODES + 1], list[MOST_LINKS];
    uint32_t count;
    rondo_backend_edges edges;
    struct rdo_cpu_plan *plan;
    /* of the plan: */
    uint32_t place[MOST_NODES], phase[MOST_NODES], strand[MOST_NODES];
    bool after[MOST_NODES][MOST_NODES]; /* strand [a] follows strand [b], directly or through others */
};

static struct sketch s;

static void start(void) {
    memset(&s, 0, sizeof s);
    s.edges = (rondo_backend_edges){s.first, s.list, BASE};
}

static uint32_t add_node(uint32_t ns) {
    assert_true(s.count < MOST_NODES);
    s.costs[s.count].ns = ns;
    s.first[s.count + 1] = s.first[s.count];
    return s.count++;
}

/* The edges of the newest node come in ascending order. */
static void follow(uint64_t number) {
    assert_true(s.first[s.count] < MOST_LINKS);
    s.list[s.first[s.count]++] = number;
}

static uint32_t add_after(uint32_t ns, uint32_t before) {
    uint32_t node = add_node(ns);
    follow(BASE + before);
    return node;
}

static void plan(uint32_t hands) {
    assert_int_equal(rdo_cpu_plan_make(s.costs, s.count, &s.edges, hands, &s.plan), RONDO_BACKEND_DONE);
}

static void drop(void) {
    rdo_cpu_plan_free(s.plan);
    s.plan = NULL;
}

/* ---- the invariants of plan.h ---- */

static void note_phases(void) {
    uint32_t entry = 0, strand = 0;
    for (uint32_t p = 0; p < s.plan->phase_count; p++) {
        const struct rdo_cpu_phase *phase = &s.plan->phases[p];
        assert_int_equal(phase->first, entry);
        assert_true(phase->first_strand >= strand);
        for (; entry < phase->last; entry++) {
            s.place[s.plan->order[entry]] = entry;
            s.phase[s.plan->order[entry]] = p;
            s.strand[s.plan->order[entry]] = UINT32_MAX;
        }
        strand = phase->last_strand;
    }
    assert_int_equal(entry, s.count);
}

static void note_strands(const struct rdo_cpu_phase *phase) {
    uint32_t entry = phase->first;
    for (uint32_t n = phase->first_strand; n < phase->last_strand; n++) {
        const struct rdo_cpu_strand *strand = &s.plan->strands[n];
        assert_int_equal(strand->first, entry);
        assert_true(strand->last > strand->first);
        assert_int_equal(strand->waits == 0, n < phase->first_strand + phase->free_strands);
        for (; entry < strand->last; entry++) {
            s.strand[s.plan->order[entry]] = n;
        }
        for (uint32_t a = strand->first_after; a < strand->last_after; a++) {
            uint32_t after = s.plan->after[a];
            assert_true(after > n && after < phase->last_strand);
            s.after[after][n] = true;
            for (uint32_t before = 0; before < n; before++) {
                s.after[after][before] |= s.after[n][before];
            }
        }
    }
    assert_true(phase->first_strand == phase->last_strand || entry == phase->last);
}

static void check_waits(void) {
    uint32_t waits[MOST_NODES] = {0};
    for (uint32_t a = 0; a < s.plan->after_count; a++) {
        waits[s.plan->after[a]]++;
    }
    for (uint32_t n = 0; n < s.plan->strand_count; n++) {
        assert_int_equal(s.plan->strands[n].waits, waits[n]);
    }
}

static void check_order(uint32_t before, uint32_t node) {
    assert_true(s.place[before] < s.place[node]);
    if (s.phase[before] == s.phase[node] && s.strand[node] != UINT32_MAX && s.strand[before] != s.strand[node]) {
        assert_true(s.after[s.strand[node]][s.strand[before]]);
    }
}

static void check_host(uint32_t host) {
    assert_int_equal(s.strand[host], UINT32_MAX);
    for (uint32_t node = 0; node < s.count; node++) {
        assert_true(node == host || (s.place[node] < s.place[host]) == (node < host));
        assert_true(s.phase[node] != s.phase[host] || s.strand[node] == UINT32_MAX);
    }
}

static void check_plan(void) {
    memset(s.after, 0, sizeof s.after);
    note_phases();
    for (uint32_t p = 0; p < s.plan->phase_count; p++) {
        note_strands(&s.plan->phases[p]);
    }
    check_waits();
    for (uint32_t node = 0; node < s.count; node++) {
        for (uint64_t e = s.first[node]; e < s.first[node + 1]; e++) {
            if (s.list[e] >= BASE) {
                check_order((uint32_t)(s.list[e] - BASE), node);
            }
        }
        if (s.costs[node].is_host) {
            check_host(node);
        }
    }
}

/* ---- tests ---- */

static void add_random_edges(uint32_t node, uint64_t most) {
    if (random_below(4) == 0) {
        follow(random_below(BASE));
    }
    uint64_t reach = 1 + random_below(20);
    for (uint32_t before = node > reach ? node - (uint32_t)reach : 0; before < node && most > 0; before++) {
        if (random_below(reach) == 0) {
            follow(BASE + before);
            most--;
        }
    }
}

/* [R4] */
static void a_plan_keeps_every_edge_and_every_host_call_in_its_place(void **state) {
    uint32_t made = 0;
    (void)state;
    seed_random();
    for (int round = 0; round < 3000; round++) {
        start();
        uint64_t most = random_below(4), hosts = random_below(3) * 20, large = random_below(2) * 10;
        for (uint64_t left = 2 + random_below(MOST_NODES - 2); left > 0; left--) {
            uint32_t node = add_node(1 + (uint32_t)random_below(2000));
            s.costs[node].is_host = hosts != 0 && random_below(hosts) == 0;
            s.costs[node].is_large = large != 0 && random_below(large) == 0;
            add_random_edges(node, most);
        }
        plan(2 + (uint32_t)random_below(7));
        if (s.plan != NULL) {
            check_plan();
            made++;
        }
        drop();
    }
    assert_true(made > 1000);
}

static void a_chain_is_not_worth_a_plan(void **state) {
    (void)state;
    start();
    add_node(10000);
    for (uint32_t node = 1; node < MOST_NODES; node++) {
        add_after(10000, node - 1);
    }
    plan(4);
    assert_null(s.plan);
}

static void work_that_is_over_before_a_hand_comes_is_not_worth_a_plan(void **state) {
    (void)state;
    start();
    for (uint32_t node = 0; node < MOST_NODES; node++) {
        add_node(10);
    }
    plan(4);
    assert_null(s.plan);
}

static void one_hand_needs_no_plan(void **state) {
    (void)state;
    start();
    add_node(100000);
    add_node(100000);
    plan(1);
    assert_null(s.plan);
}

/* Level by level, as a loop over independent problems records them. */
static void chains_become_strands_however_they_are_recorded(void **state) {
    enum { CHAINS = 10, LENGTH = 12 };
    (void)state;
    start();
    for (uint32_t node = 0; node < CHAINS * LENGTH; node++) {
        if (node < CHAINS) {
            add_node(1000);
        } else {
            add_after(1000, node - CHAINS);
        }
    }
    plan(2);
    assert_non_null(s.plan);
    check_plan();
    assert_int_equal(s.plan->phase_count, 1);
    assert_int_equal(s.plan->strand_count, CHAINS);
    assert_int_equal(s.plan->phases[0].free_strands, CHAINS);
    for (uint32_t entry = 0; entry < s.count; entry++) {
        assert_int_equal(s.plan->order[entry], entry % LENGTH * CHAINS + entry / LENGTH);
    }
    drop();
}

/* One node, ten chains of three after it, one node after them. */
static void a_fork_is_joined_again_without_a_strand_too_many(void **state) {
    uint32_t ends[10];
    (void)state;
    start();
    uint32_t fork = add_node(1000);
    for (uint32_t c = 0; c < 10; c++) {
        ends[c] = add_after(1000, add_after(1000, add_after(1000, fork)));
    }
    add_node(1000);
    for (uint32_t c = 0; c < 10; c++) {
        follow(BASE + ends[c]);
    }
    plan(2);
    assert_non_null(s.plan);
    check_plan();
    assert_int_equal(s.plan->strand_count, 12);
    assert_int_equal(s.plan->phases[0].free_strands, 1);
    assert_int_equal(s.plan->after_count, 20);
    drop();
}

/* A node that two later ones read, of which the second also follows the first: still one run of nodes after it. */
static void a_strand_goes_on_over_what_it_waits_for_already(void **state) {
    (void)state;
    start();
    for (int copy = 0; copy < 2; copy++) {
        uint32_t source = add_node(3000);
        uint32_t first = add_after(3000, source);
        uint32_t second = add_node(3000);
        follow(BASE + source);
        follow(BASE + first);
        assert_int_equal(second, source + 2);
    }
    plan(2);
    assert_non_null(s.plan);
    check_plan();
    assert_int_equal(s.plan->strand_count, 4);
    drop();
}

static void large_nodes_are_left_to_the_crew_where_the_graph_is_narrow(void **state) {
    (void)state;
    for (uint32_t hands = 2; hands <= 8; hands += 6) {
        start();
        for (uint32_t c = 0; c < 4; c++) {
            s.costs[add_node(50000)].is_large = true;
        }
        plan(hands);
        if (hands == 2) { /* four of them keep two hands busy */
            assert_non_null(s.plan);
            assert_int_equal(s.plan->strand_count, 4);
        } else {          /* but not eight */
            assert_null(s.plan);
        }
        drop();
    }
}

static int granted;

static void *refusing_alloc(size_t align_bytes, size_t size_bytes) {
    return granted-- > 0 ? granting_alloc(align_bytes, size_bytes) : NULL;
}

/* [E3] */
static void a_plan_without_memory_is_refused_and_nothing_is_lost(void **state) {
    (void)state;
    take_hooks(refusing_alloc);
    start();
    for (int node = 0; node < 10; node++) {
        add_node(1000);
    }
    for (int grant = 0; grant < 3; grant++) {
        granted = grant;
        assert_int_equal(rdo_cpu_plan_make(s.costs, s.count, &s.edges, 2, &s.plan), RONDO_BACKEND_NO_MEMORY);
        assert_null(s.plan);
        assert_int_equal(alive, 0);
    }
    granted = 3;
    plan(2);
    assert_non_null(s.plan);
    drop();
    assert_int_equal(alive, 0);
    rdo_cpu_hooks = real;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_keeps_every_edge_and_every_host_call_in_its_place),
        cmocka_unit_test(a_chain_is_not_worth_a_plan),
        cmocka_unit_test(work_that_is_over_before_a_hand_comes_is_not_worth_a_plan),
        cmocka_unit_test(one_hand_needs_no_plan),
        cmocka_unit_test(chains_become_strands_however_they_are_recorded),
        cmocka_unit_test(a_fork_is_joined_again_without_a_strand_too_many),
        cmocka_unit_test(a_strand_goes_on_over_what_it_waits_for_already),
        cmocka_unit_test(large_nodes_are_left_to_the_crew_where_the_graph_is_narrow),
        cmocka_unit_test(a_plan_without_memory_is_refused_and_nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
