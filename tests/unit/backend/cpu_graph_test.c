#include "backend/cpu/cpu.h"
#include "backend_tools.h"

#define MAX_NODES 64u
#define WORDS 512u

/* Arrays that a build gets, and that are overwritten afterwards: a graph must have copied them. */
struct score {
    struct bench bench;
    void *add;   /* target[item] += value */
    void *check; /* fails with the value if it is not 0; may fail */
    void *lie;   /* the same, but says that it cannot fail */
    rondo_backend_op ops[MAX_NODES];
    rondo_place places[MAX_NODES][2];
    const void *values[MAX_NODES][2];
    uint32_t numbers[MAX_NODES];
    int host_results[MAX_NODES];
    uint32_t count;
    void *graph;
};

static void add(const rondo_native_call *call) {
    uint32_t value = *(const uint32_t *)call->args[0];
    uint32_t *target = call->args[1];
    for (uint64_t item = call->first; item < call->last; item++) {
        target[item] = target[item] * 3 + value;
    }
}

static void check(const rondo_native_call *call) {
    uint32_t value = *(const uint32_t *)call->args[0];
    if (value != 0) {
        rondo_native_fail(call, value);
    }
}

static int host_result(void *user) {
    return *(int *)user;
}

static void *load(struct bench *bench, rondo_native_fn native, bool can_fail) {
    rondo_kernel_desc desc = {.name = "kernel", .native = native, .can_fail = can_fail};
    void *kernel;
    assert_int_equal(rdo_backend_cpu.kernel_load(bench->device, &desc, &kernel, &bench->outcome), RONDO_BACKEND_DONE);
    return kernel;
}

static void start(struct score *score) {
    uint32_t words[WORDS];
    memset(score, 0, sizeof *score);
    open_bench(&score->bench, &rdo_backend_cpu, NULL);
    score->add = load(&score->bench, add, false);
    score->check = load(&score->bench, check, true);
    score->lie = load(&score->bench, check, false);
    for (uint32_t word = 0; word < WORDS; word++) {
        words[word] = word;
    }
    write_page(&score->bench, words, sizeof words);
}

static rondo_backend_op *append(struct score *score, rondo_backend_op_kind kind) {
    rondo_backend_op *op = &score->ops[score->count++];
    op->kind = kind;
    op->rows = 1;
    return op;
}

static void append_launch(struct score *score, void *kernel, uint32_t value, uint64_t offset_words, uint64_t items) {
    uint32_t index = score->count;
    rondo_backend_op *op = append(score, RONDO_OP_LAUNCH);
    score->numbers[index] = value;
    score->values[index][0] = &score->numbers[index];
    score->places[index][1] = place_at(&score->bench, offset_words * 4);
    op->kernel = kernel;
    op->grid = rondo_grid_1d(items);
    op->arg_count = 2;
    op->places = score->places[index];
    op->values = score->values[index];
}

static void append_host(struct score *score, int result) {
    uint32_t index = score->count;
    rondo_backend_op *op = append(score, RONDO_OP_HOST);
    score->host_results[index] = result;
    op->host_fn = host_result;
    op->host_user = &score->host_results[index];
}

static void build(struct score *score) {
    const rondo_backend_nodes nodes = nodes_of(score->ops, score->count);
    assert_int_equal(rdo_backend_cpu.graph_build(score->bench.device, &nodes, one_after_another(), &score->graph),
                     RONDO_BACKEND_DONE);
}

static rondo_backend_result replay(struct score *score, uint64_t first, uint64_t last) {
    return rdo_backend_cpu.graph_submit(score->bench.queue, score->graph, first, last, &score->bench.outcome);
}

static void finish(struct score *score) {
    if (score->graph != NULL) {
        rdo_backend_cpu.graph_free(score->bench.device, score->graph);
    }
    rdo_backend_cpu.kernel_unload(score->bench.device, score->add);
    rdo_backend_cpu.kernel_unload(score->bench.device, score->check);
    rdo_backend_cpu.kernel_unload(score->bench.device, score->lie);
    close_bench(&score->bench);
}

static void append_random(struct score *score, uint8_t *host) {
    uint64_t words = 1 + random_below(100);
    uint64_t target = random_below(WORDS - words), source = random_below(WORDS - words);
    switch (random_below(5)) {
    case 0: {
        rondo_backend_op *op = append(score, RONDO_OP_FILL);
        op->target = place_at(&score->bench, target * 4);
        op->size_bytes = words * 4;
        op->pattern_bytes = 4;
        memset(op->pattern, (int)random_below(256), 3);
        break;
    }
    case 1: {
        rondo_backend_op *op = append(score, RONDO_OP_COPY);
        op->target = place_at(&score->bench, target * 4);
        op->source = place_at(&score->bench, source * 4);
        op->size_bytes = words * 4;
        break;
    }
    case 2: {
        rondo_backend_op *op = append(score, random_below(2) == 0 ? RONDO_OP_WRITE : RONDO_OP_READ);
        op->target = op->source = place_at(&score->bench, target * 4);
        op->host = host;
        op->size_bytes = words * 4;
        break;
    }
    default:
        append_launch(score, score->add, (uint32_t)random_below(1000), target, words);
    }
}

/* [R4] */
static void a_replay_has_the_effect_of_its_nodes_one_by_one(void **state) {
    static struct score score;
    (void)state;
    seed_random();
    for (int round = 0; round < 200; round++) {
        uint32_t eager[WORDS], start_words[WORDS], replayed[WORDS];
        uint8_t host[WORDS * 4];
        start(&score);
        memset(host, round, sizeof host);
        for (uint64_t left = random_below(MAX_NODES); left > 0; left--) {
            append_random(&score, host);
        }
        read_page(&score.bench, start_words, sizeof start_words);
        for (uint32_t index = 0; index < score.count; index++) {
            assert_int_equal(play(&score.bench, &score.ops[index]), RONDO_BACKEND_DONE);
        }
        read_page(&score.bench, eager, sizeof eager);
        build(&score);
        memset(score.ops, 0xee, sizeof score.ops);
        memset(score.places, 0xee, sizeof score.places);
        memset(score.values, 0xee, sizeof score.values);
        memset(host, round, sizeof host);
        write_page(&score.bench, start_words, sizeof start_words);
        uint64_t half = score.count / 2;
        assert_int_equal(replay(&score, 0, half), RONDO_BACKEND_DONE);
        assert_int_equal(replay(&score, half, score.count), RONDO_BACKEND_DONE);
        read_page(&score.bench, replayed, sizeof replayed);
        assert_memory_equal(replayed, eager, sizeof eager);
        finish(&score);
    }
}

/* [R9] */
static void a_value_is_read_where_it_lies_at_each_replay(void **state) {
    static struct score score;
    uint32_t words[2];
    (void)state;
    start(&score);
    append_launch(&score, score.add, 5, 0, 1);
    build(&score);
    assert_int_equal(replay(&score, 0, 1), RONDO_BACKEND_DONE);
    score.numbers[0] = 100;
    assert_int_equal(replay(&score, 0, 1), RONDO_BACKEND_DONE);
    read_page(&score.bench, words, sizeof words);
    assert_int_equal(words[0], 5 * 3 + 100);
    assert_int_equal(words[1], 1);
    finish(&score);
}

static void expect_stop(struct score *score, uint64_t first, uint64_t node, uint32_t reason) {
    assert_int_equal(replay(score, first, score->count), RONDO_BACKEND_FAILED);
    assert_int_equal(score->bench.outcome.node, node);
    assert_int_equal(score->bench.outcome.reason, reason);
}

/* [R4] */
static void a_replay_stops_at_the_first_node_that_fails_and_names_it(void **state) {
    static struct score score;
    uint32_t words[4];
    (void)state;
    start(&score);
    append_launch(&score, score.add, 1, 0, 1);
    append_launch(&score, score.check, 11, 0, 1);
    append_launch(&score, score.add, 1, 1, 1);
    append_launch(&score, score.lie, 13, 0, 1);
    append_launch(&score, score.add, 1, 2, 1);
    append_host(&score, 15);
    append_launch(&score, score.add, 1, 3, 1);
    build(&score);
    expect_stop(&score, 0, 1, 11);
    expect_stop(&score, 2, 3, 13);
    expect_stop(&score, 4, 5, 15);
    assert_int_equal(replay(&score, 6, 7), RONDO_BACKEND_DONE);
    read_page(&score.bench, words, sizeof words);
    for (uint32_t word = 0; word < 4; word++) {
        assert_int_equal(words[word], word * 3 + 1);
    }
    finish(&score);
}

/* [W7] */
static void a_failed_replay_leaves_no_mark_on_the_next_one(void **state) {
    static struct score score;
    (void)state;
    start(&score);
    append_launch(&score, score.check, 1, 0, 1);
    append_launch(&score, score.lie, 0, 0, 1);
    build(&score);
    expect_stop(&score, 0, 0, 1);
    score.numbers[0] = 0;
    assert_int_equal(replay(&score, 0, 2), RONDO_BACKEND_DONE);
    score.numbers[1] = 9;
    expect_stop(&score, 0, 1, 9);
    score.numbers[1] = 0;
    assert_int_equal(replay(&score, 0, 2), RONDO_BACKEND_DONE);
    finish(&score);
}

/* [R4] Large enough for the crew, among small ones. */
static void large_nodes_are_shared_and_keep_their_place_in_the_order(void **state) {
    static struct score score;
    (void)state;
    start(&score);
    uint32_t *words = rdo_backend_cpu.host_address(score.bench.device, score.bench.page);
    uint64_t items = score.bench.page_bytes / 4;
    memset(words, 0, score.bench.page_bytes);
    append_launch(&score, score.add, 1, 0, items);
    append_launch(&score, score.add, 2, items - 1, 1);
    append_launch(&score, score.add, 3, 0, items);
    build(&score);
    for (int round = 0; round < 5; round++) {
        memset(words, 0, score.bench.page_bytes);
        assert_int_equal(replay(&score, 0, 3), RONDO_BACKEND_DONE);
        for (uint64_t item = 0; item < items; item++) {
            assert_int_equal(words[item], item == items - 1 ? (1 * 3 + 2) * 3 + 3 : 1 * 3 + 3);
        }
    }
    finish(&score);
}

/* [C23] */
static void an_empty_graph_replays_as_nothing(void **state) {
    static struct score score;
    (void)state;
    start(&score);
    build(&score);
    assert_int_equal(replay(&score, 0, 0), RONDO_BACKEND_DONE);
    finish(&score);
    rdo_backend_cpu.graph_free(NULL, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_replay_has_the_effect_of_its_nodes_one_by_one),
        cmocka_unit_test(a_value_is_read_where_it_lies_at_each_replay),
        cmocka_unit_test(a_replay_stops_at_the_first_node_that_fails_and_names_it),
        cmocka_unit_test(a_failed_replay_leaves_no_mark_on_the_next_one),
        cmocka_unit_test(large_nodes_are_shared_and_keep_their_place_in_the_order),
        cmocka_unit_test(an_empty_graph_replays_as_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
