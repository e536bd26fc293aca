/* Graphs whose nodes are spread over the crew, against a plain loop over the same nodes, with failures and without. */
#include "backend/cpu/cpu.h"
#include "backend_tools.h"

enum { CELLS = 48, CELL_WORDS = 300, MOST_NODES = 260, REPLAYS = 14, FAILS = 1 << 20 };

/* What a node does: cell[to] = cell[to] * 3 + cell[from] + add; or a fill, a copy, a host call. */
struct step {
    rondo_backend_op_kind kind;
    uint32_t to, from; /* cells */
    uint32_t add;      /* the kernels' value: number of the node, FAILS added if it fails */
    rondo_place places[3];
    const void *values[3];
    uint32_t run;      /* how often it ran, in this replay */
};

struct model {
    uint32_t cell[CELLS][CELL_WORDS];
    bool spoiled[CELLS];
};

static struct bench bench;
static void *sure, *unsure; /* the same kernel, once with the word that it cannot fail, which it breaks */
static struct step steps[MOST_NODES];
static rondo_backend_op ops[MOST_NODES];
static uint32_t count;
static uint64_t first_edge[MOST_NODES + 1], edge_list[MOST_NODES * CELLS];
static void *graph;
static struct model model, start_model;
static bool failing;       /* some node fails, so that not all run */
static _Atomic int passed; /* host calls that found a node out of its place */

static void mix(const rondo_native_call *call) {
    uint32_t add = *(const uint32_t *)call->args[2];
    uint32_t *to = call->args[0];
    const uint32_t *from = call->args[1];
    if (call->first == 0) {
        __atomic_fetch_add(&steps[add % FAILS].run, 1, __ATOMIC_RELAXED);
    }
    if (add >= FAILS) {
        rondo_native_fail(call, add);
        return;
    }
    for (uint64_t item = call->first; item < call->last; item++) {
        to[item] = to[item] * 3 + from[item] + add;
    }
}

static int visit(void *user) {
    struct step *step = user;
    step->run++;
    for (uint32_t node = 0; node < count && !failing; node++) {
        bool counts = steps[node].kind == RONDO_OP_LAUNCH || steps[node].kind == RONDO_OP_HOST;
        if (counts && node != (uint32_t)(step - steps) && steps[node].run != (&steps[node] < step ? 1 : 0)) {
            atomic_store(&passed, 1);
        }
    }
    return step->add >= FAILS ? (int)step->add : 0;
}

/* ---- making one ---- */

static uint64_t cell_bytes(uint32_t cell) {
    return (uint64_t)cell * CELL_WORDS * 4;
}

static void resolve(uint32_t node) {
    struct step *step = &steps[node];
    rondo_backend_op *op = &ops[node];
    memset(op, 0, sizeof *op);
    op->kind = step->kind;
    op->rows = 1;
    op->size_bytes = CELL_WORDS * 4;
    op->target = step->places[0] = place_at(&bench, cell_bytes(step->to));
    op->source = step->places[1] = place_at(&bench, cell_bytes(step->from));
    step->values[2] = &step->add;
    op->kernel = random_below(2) == 0 ? sure : unsure;
    op->grid = rondo_grid_1d(CELL_WORDS);
    op->arg_count = 3;
    op->places = step->places;
    op->values = step->values;
    op->pattern_bytes = 4;
    memcpy(op->pattern, &node, 4);
    op->host_fn = visit;
    op->host_user = step;
}

static bool reads(const struct step *step, uint32_t cell) {
    bool to = step->kind == RONDO_OP_LAUNCH && step->to == cell;
    return to || ((step->kind == RONDO_OP_LAUNCH || step->kind == RONDO_OP_COPY) && step->from == cell);
}

static bool writes(const struct step *step, uint32_t cell) {
    return step->kind != RONDO_OP_HOST && step->to == cell;
}

/* The last writer of what the node reads or writes, and of what it writes the readers since then. */
static void find_edges(uint32_t node, bool *follows) {
    for (uint32_t cell = 0; cell < CELLS; cell++) {
        bool touched = reads(&steps[node], cell) || writes(&steps[node], cell);
        for (uint32_t before = node; touched && before-- > 0;) {
            if (writes(&steps[before], cell)) {
                follows[before] = true;
                break;
            }
            follows[before] |= writes(&steps[node], cell) && reads(&steps[before], cell);
        }
    }
}

static void list_edges(void) {
    for (uint32_t node = 0; node < count; node++) {
        bool follows[MOST_NODES] = {false};
        find_edges(node, follows);
        first_edge[node + 1] = first_edge[node];
        for (uint32_t before = 0; before < node; before++) {
            if (follows[before]) {
                edge_list[first_edge[node + 1]++] = before;
            }
        }
    }
}

static void make_graph(uint64_t hosts, uint64_t others) {
    const rondo_backend_edges edges = {first_edge, edge_list, 0};
    uint32_t cells = 4 + (uint32_t)random_below(CELLS - 4);
    count = 100 + (uint32_t)random_below(MOST_NODES - 100);
    for (uint32_t node = 0; node < count; node++) {
        static const rondo_backend_op_kind kinds[] = {RONDO_OP_FILL, RONDO_OP_COPY};
        struct step *step = &steps[node];
        *step = (struct step){.kind = RONDO_OP_LAUNCH, .add = node};
        step->to = (uint32_t)random_below(cells);
        step->from = (uint32_t)random_below(3) == 0 ? (uint32_t)random_below(cells) : step->to;
        if (others != 0 && random_below(others) == 0) step->kind = kinds[random_below(2)];
        if (hosts != 0 && random_below(hosts) == 0) step->kind = RONDO_OP_HOST;
        resolve(node);
    }
    list_edges();
    const rondo_backend_nodes nodes = nodes_of(ops, count);
    assert_int_equal(rdo_backend_cpu.graph_build(bench.device, &nodes, &edges, &graph), RONDO_BACKEND_DONE);
    memset(ops, 0xee, sizeof ops);
}

/* ---- the two sides ---- */

static bool is_spoiled(const struct step *step) {
    bool found = false;
    for (uint32_t cell = 0; cell < CELLS; cell++) {
        found |= model.spoiled[cell] && reads(step, cell);
    }
    return found;
}

static bool can_fail(const struct step *step) {
    return step->kind == RONDO_OP_LAUNCH || step->kind == RONDO_OP_HOST;
}

static void play_in_model(const struct step *step) {
    uint32_t *to = model.cell[step->to];
    const uint32_t *from = model.cell[step->from];
    for (uint32_t word = 0; word < CELL_WORDS; word++) {
        switch (step->kind) {
        case RONDO_OP_LAUNCH: to[word] = to[word] * 3 + from[word] + step->add; break;
        case RONDO_OP_FILL: to[word] = (uint32_t)(step - steps); break;
        case RONDO_OP_COPY: to[word] = from[word]; break;
        default: break;
        }
    }
}

/* One node after another, as the core plays them: returns whether the node may run, and what it must give. */
static bool expect_node(struct step *step, uint32_t *out_reason) {
    *out_reason = 0;
    if (is_spoiled(step)) {
        model.spoiled[step->to] |= step->kind != RONDO_OP_HOST;
        return false;
    }
    if (can_fail(step) && step->add >= FAILS) {
        *out_reason = step->add;
        model.spoiled[step->to] |= step->kind != RONDO_OP_HOST;
    } else {
        play_in_model(step);
        if (step->kind != RONDO_OP_HOST) {
            model.spoiled[step->to] = false;
        }
    }
    return true;
}

static void expect_submit(uint64_t first, uint64_t last, uint64_t failed, uint32_t reason) {
    rondo_backend_result result = rdo_backend_cpu.graph_submit(bench.queue, graph, first, last, &bench.outcome);
    assert_int_equal(result, reason != 0 ? RONDO_BACKEND_FAILED : RONDO_BACKEND_DONE);
    if (reason != 0) {
        assert_int_equal(bench.outcome.node, failed);
        assert_int_equal(bench.outcome.reason, reason);
    }
}

/* The whole graph up to its first failure, then node by node what does not need spoiled bytes. */
static void replay_and_compare(void) {
    uint32_t node = 0, reason = 0;
    model = start_model;
    write_page(&bench, model.cell, sizeof model.cell);
    while (node < count && reason == 0) {
        assert_true(expect_node(&steps[node++], &reason));
    }
    expect_submit(0, count, (uint64_t)node - 1, reason);
    bool ran[MOST_NODES];
    memset(ran, 1, sizeof ran);
    for (; node < count; node++) {
        ran[node] = expect_node(&steps[node], &reason);
        if (ran[node]) {
            expect_submit(node, node + 1, node, reason);
        }
    }
    static struct model got;
    read_page(&bench, got.cell, sizeof got.cell);
    for (uint32_t cell = 0; cell < CELLS; cell++) {
        if (!model.spoiled[cell]) assert_memory_equal(got.cell[cell], model.cell[cell], sizeof got.cell[cell]);
    }
    for (node = 0; node < count; node++) {
        if (can_fail(&steps[node])) assert_int_equal(steps[node].run, ran[node] ? 1 : 0);
        steps[node].run = 0;
    }
}

static void fail_some(uint64_t one_in) {
    failing = false;
    for (uint32_t node = 0; node < count; node++) {
        bool fails = one_in != 0 && random_below(one_in) == 0;
        steps[node].add = node + (fails ? FAILS : 0);
        failing |= fails && can_fail(&steps[node]);
    }
}

static void play_rounds(int rounds, uint64_t hosts, uint64_t others, bool with_failures) {
    for (int round = 0; round < rounds; round++) {
        make_graph(hosts, others);
        for (int replay = 0; replay < REPLAYS; replay++) {
            fail_some(with_failures && random_below(3) != 0 ? 5 + random_below(200) : 0);
            replay_and_compare();
        }
        rdo_backend_cpu.graph_free(bench.device, graph);
    }
    assert_int_equal(atomic_load(&passed), 0);
}

/* [R4] */
static void a_spread_replay_has_the_effect_of_its_nodes_one_by_one(void **state) {
    (void)state;
    play_rounds(60, 0, 0, false);
    play_rounds(60, 0, 6, false);
}

/* [R4] */
static void nothing_passes_a_host_call(void **state) {
    (void)state;
    play_rounds(60, 25, 9, false);
}

/* [R4, W7] Some nodes have run, and some have failed, behind the first that failed. */
static void after_a_failure_each_node_runs_once_or_not_at_all(void **state) {
    (void)state;
    play_rounds(150, 0, 9, true);
    play_rounds(60, 30, 9, true);
}

/* [R9] */
static void a_value_is_changed_wherever_its_node_lies(void **state) {
    static uint32_t changed[MOST_NODES];
    (void)state;
    make_graph(0, 0);
    for (uint32_t node = 0; node < count; node++) {
        changed[node] = node;
        rdo_backend_cpu.graph_set_value(graph, node, 2, &changed[node]);
    }
    fail_some(0);
    replay_and_compare();
    rdo_backend_cpu.graph_free(bench.device, graph);
}

/* [R4] What the one that failed left noted is not the next one's. */
static void a_replay_in_parts_after_one_that_failed_begins_anew(void **state) {
    (void)state;
    make_graph(0, 0);
    for (int replay = 0; replay < REPLAYS; replay++) {
        fail_some(50);
        replay_and_compare();
        fail_some(0);
        model = start_model;
        write_page(&bench, model.cell, sizeof model.cell);
        expect_submit(0, count / 3, 0, 0);
        expect_submit(count / 3, count, 0, 0);
        for (uint32_t node = 0; node < count; node++) {
            assert_int_equal(steps[node].run, 1);
            steps[node].run = 0;
        }
    }
    rdo_backend_cpu.graph_free(bench.device, graph);
}

static int open_all(void **state) {
    const rondo_device_desc desc = {.workers = 3};
    rondo_kernel_desc kernel = {.name = "mix", .native = mix};
    (void)state;
    seed_random();
    open_bench(&bench, &rdo_backend_cpu, &desc);
    assert_int_equal(rdo_backend_cpu.kernel_load(bench.device, &kernel, &sure, &bench.outcome), RONDO_BACKEND_DONE);
    kernel.can_fail = true;
    assert_int_equal(rdo_backend_cpu.kernel_load(bench.device, &kernel, &unsure, &bench.outcome), RONDO_BACKEND_DONE);
    for (uint32_t cell = 0; cell < CELLS; cell++) {
        for (uint32_t word = 0; word < CELL_WORDS; word++) {
            start_model.cell[cell][word] = (uint32_t)random_below(UINT32_MAX);
        }
    }
    return 0;
}

static int close_all(void **state) {
    (void)state;
    rdo_backend_cpu.kernel_unload(bench.device, sure);
    rdo_backend_cpu.kernel_unload(bench.device, unsure);
    close_bench(&bench);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_spread_replay_has_the_effect_of_its_nodes_one_by_one),
        cmocka_unit_test(nothing_passes_a_host_call),
        cmocka_unit_test(after_a_failure_each_node_runs_once_or_not_at_all),
        cmocka_unit_test(a_value_is_changed_wherever_its_node_lies),
        cmocka_unit_test(a_replay_in_parts_after_one_that_failed_begins_anew),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
