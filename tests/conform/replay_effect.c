/* What a replay does: exactly what launching the nodes one by one would have done. */
#include "capture_tools.h"

enum { BUFFERS = 6, SIZE = 256, OPS_MAX = 60, GRAIN = 16 };

/* First what every backend can do, then what needs host calls on device memory, then what needs kernels. */
enum op_kind { OP_FILL, OP_COPY, OP_COPY_2D, OP_WRITE, OP_TEMPORARY, OP_ADD, OP_FAIL_IF, OP_KERNEL_COPY, OP_KERNEL_ADD,
               OP_KERNEL_SCALE, OP_KERNEL_IOTA, OP_KERNEL_FAIL_IF, OP_KINDS };

enum level { PLAIN = OP_ADD, HOST = OP_KERNEL_COPY, KERNELS = OP_KINDS };

/* One operation of a random program: ranges are multiples of 16 bytes. */
struct op {
    enum op_kind kind;
    uint32_t target, source, second;
    uint64_t target_offset, source_offset, size_bytes;
    int32_t value;
};

struct program {
    struct op ops[OPS_MAX];
    size_t count;
};

/* One set of buffers that a program works on. flags are what its failing operations look at. */
struct world {
    struct conform *t;
    const struct program *program;
    rondo_buffer buffers[BUFFERS];
    rondo_buffer flags;
};

enum { FLAGS = 4 };

static rondo_span at(const struct world *w, uint32_t buffer, uint64_t offset_bytes, uint64_t size_bytes) {
    return rondo_slice(w->buffers[buffer], offset_bytes, size_bytes);
}

/* Whether it makes sense to issue the next operation: after a skipped one it does. */
static bool goes_on(rondo_status status) {
    return status == RONDO_OK || rondo_status_code(status) == RONDO_TAINTED;
}

static rondo_status first_of(rondo_status first, rondo_status second) {
    return first ? first : second;
}

/* A temporary takes a detour for a copy: source to temporary, a change there, temporary to target. A skip does not
 * end it, for a graph that skips the first node goes on to the next as well. */
static rondo_status through_a_temporary(rondo_stream *stream, const struct world *w, const struct op *op) {
    rondo_buffer temporary = RONDO_NO_BUFFER;
    rondo_span source = at(w, op->source, op->source_offset, op->size_bytes);
    rondo_span target = at(w, op->target, op->target_offset, op->size_bytes);
    rondo_status status = rondo_buffer_create(stream, op->size_bytes, RONDO_USAGE_GENERAL, &temporary);
    if (!status) status = rondo_copy(stream, rondo_whole(temporary), source, "in");
    if (goes_on(status)) status = first_of(status, fill_i32(stream, rondo_slice(temporary, 0, 8), op->value, "change"));
    if (goes_on(status)) status = first_of(status, rondo_copy(stream, target, rondo_whole(temporary), "out"));
    rondo_buffer_release(temporary);
    return status;
}

static rondo_status rows(rondo_stream *stream, const struct world *w, const struct op *op) {
    rondo_rect target = {at(w, op->target, 0, SIZE), 64};
    rondo_rect source = {at(w, op->source, op->source_offset % 64, SIZE - op->source_offset % 64), 64};
    return rondo_copy_2d(stream, target, source, 16, 3, "rows");
}

static rondo_status upload(rondo_stream *stream, rondo_span target, int32_t value) {
    int32_t values[SIZE / 4];
    for (size_t i = 0; i < COUNT_OF(values); i++) values[i] = value + (int32_t)i;
    return rondo_write(stream, target, values, "upload");
}

static rondo_status play_op(rondo_stream *stream, const struct world *w, const struct op *op) {
    rondo_span target = at(w, op->target, op->target_offset, op->size_bytes);
    rondo_span source = at(w, op->source, op->source_offset, op->size_bytes);
    rondo_span second = at(w, op->second, op->source_offset, op->size_bytes);
    rondo_span flag = rondo_slice(w->flags, (uint64_t)((uint32_t)op->value % FLAGS) * 64, 4);
    uint64_t items = op->size_bytes / 4;
    switch (op->kind) {
    case OP_FILL: return fill_i32(stream, target, op->value, "fill");
    case OP_COPY: return rondo_copy(stream, target, source, "copy");
    case OP_COPY_2D: return rows(stream, w, op);
    case OP_WRITE: return upload(stream, target, op->value);
    case OP_ADD: return add_in_place(stream, target, NULL, "add");
    case OP_FAIL_IF: return fail_if(stream, target, flag, "fail if");
    case OP_TEMPORARY: return through_a_temporary(stream, w, op);
    case OP_KERNEL_COPY: return conform_launch_copy(w->t, stream, target, source, items, "kernel copy");
    case OP_KERNEL_ADD: return conform_launch_add(w->t, stream, target, source, second, items, "kernel add");
    case OP_KERNEL_SCALE: return conform_launch_scale(w->t, stream, target, 3, items, "kernel scale");
    case OP_KERNEL_IOTA: return conform_launch_iota(w->t, stream, target, op->value, items, "kernel iota");
    case OP_KERNEL_FAIL_IF: return conform_launch_fail_if(w->t, stream, target, flag, op->value, items, "fail if");
    default: return RONDO_OK;
    }
}

/* With work that fails, the operations that read its output are skipped; a graph skips them at the replay. */
static rondo_status play_eagerly(rondo_stream *stream, const struct world *w) {
    for (size_t i = 0; i < w->program->count; i++) {
        rondo_status status = play_op(stream, w, &w->program->ops[i]);
        if (!goes_on(status)) return status;
    }
    return RONDO_OK;
}

static rondo_status play_step(rondo_stream *stream, void *user) {
    const struct world *w = user;
    rondo_status status = RONDO_OK;
    for (size_t i = 0; !status && i < w->program->count; i++) status = play_op(stream, w, &w->program->ops[i]);
    return status;
}

static struct op random_op(struct rng *rng, enum level level, bool failures) {
    struct op op;
    do {
        op.kind = (enum op_kind)rng_below(rng, level);
    } while (!failures && (op.kind == OP_FAIL_IF || op.kind == OP_KERNEL_FAIL_IF));
    bool may_meet = op.kind == OP_COPY;
    op.target = (uint32_t)rng_below(rng, BUFFERS);
    do op.source = (uint32_t)rng_below(rng, BUFFERS);
    while (!may_meet && op.source == op.target);
    do op.second = (uint32_t)rng_below(rng, BUFFERS);
    while (op.second == op.target);
    op.size_bytes = GRAIN * (1 + rng_below(rng, SIZE / GRAIN));
    op.target_offset = GRAIN * rng_below(rng, (SIZE - op.size_bytes) / GRAIN + 1);
    op.source_offset = GRAIN * rng_below(rng, (SIZE - op.size_bytes) / GRAIN + 1);
    op.value = (int32_t)rng_below(rng, 100);
    return op;
}

static struct program random_program(struct rng *rng, enum level level, bool failures) {
    struct program program = {.count = 1 + rng_below(rng, OPS_MAX)};
    for (size_t i = 0; i < program.count; i++) program.ops[i] = random_op(rng, level, failures);
    return program;
}

static void fill_world(const struct world *w, int32_t seed) {
    for (uint32_t b = 0; b < BUFFERS; b++) {
        int32_t values[SIZE / 4];
        for (size_t i = 0; i < COUNT_OF(values); i++) values[i] = (seed + (int32_t)(b * 100 + i)) % 1000;
        conform_write_i32(w->t, w->buffers[b], values, COUNT_OF(values));
    }
}

static void set_flags(const struct world *w, uint64_t bits) {
    for (uint64_t i = 0; i < FLAGS; i++) {
        CHECK_OK(fill_i32(w->t->stream, rondo_slice(w->flags, i * 64, 64), (int32_t)(bits >> i & 1), NULL));
    }
}

static struct world new_world(struct conform *t, const struct program *program) {
    struct world w = {.t = t, .program = program, .flags = conform_buffer(t, 64 * FLAGS)};
    for (uint32_t b = 0; b < BUFFERS; b++) w.buffers[b] = conform_buffer(t, SIZE);
    set_flags(&w, 0);
    fill_world(&w, 0);
    return w;
}

static void expect_same_bytes(const struct world *one, const struct world *two) {
    for (uint32_t b = 0; b < BUFFERS; b++) {
        uint8_t left[SIZE], right[SIZE];
        CHECK_OK(rondo_read(one->t->stream, rondo_whole(one->buffers[b]), left, NULL));
        CHECK_OK(rondo_read(two->t->stream, rondo_whole(two->buffers[b]), right, NULL));
        assert_memory_equal(left, right, SIZE);
    }
}

/* A grain of both worlds is readable and equal, or spoiled in both by a kernel's failure. */
static void expect_same_grain(const struct world *one, const struct world *two, uint32_t b, uint64_t offset_bytes) {
    uint8_t left[GRAIN], right[GRAIN];
    rondo_status ls = rondo_read(one->t->stream, at(one, b, offset_bytes, GRAIN), left, NULL);
    rondo_status rs = rondo_read(two->t->stream, at(two, b, offset_bytes, GRAIN), right, NULL);
    CHECK_EQUAL(rondo_status_code(ls), rondo_status_code(rs));
    if (ls == RONDO_OK) {
        assert_memory_equal(left, right, GRAIN);
        return;
    }
    CHECK_CODE(ls, RONDO_TAINTED);
    CHECK_EQUAL(rondo_status_code(rondo_fault_root(ls)), RONDO_KERNEL);
    CHECK_EQUAL(rondo_status_code(rondo_fault_root(rs)), RONDO_KERNEL);
}

static void expect_same_grains(const struct world *one, const struct world *two) {
    for (uint32_t b = 0; b < BUFFERS; b++) {
        for (uint64_t offset = 0; offset < SIZE; offset += GRAIN) expect_same_grain(one, two, b, offset);
    }
}

static void drop_world(const struct world *w) {
    for (uint32_t b = 0; b < BUFFERS; b++) rondo_buffer_release(w->buffers[b]);
    rondo_buffer_release(w->flags);
}

static void replay_equals_eager(struct conform *t, uint64_t seed, enum level level) {
    struct rng rng = {seed};
    struct program program = random_program(&rng, level, false);
    struct world graphed = new_world(t, &program), eager = new_world(t, &program);
    print_message("seed %" PRIu64 ", %zu operations\n", seed, program.count);
    rondo_graph *graph = capture_step(t, t->stream, play_step, &graphed);
    CHECK_OK(play_step(t->stream, &eager));
    expect_same_bytes(&graphed, &eager);
    for (int i = 0; i < 4; i++) {
        CHECK_OK(rondo_graph_replay(graph, t->stream));
        CHECK_OK(play_step(t->stream, &eager));
        expect_same_bytes(&graphed, &eager);
    }
    rondo_graph_release(graph);
    drop_world(&graphed);
    drop_world(&eager);
}

/* [R4, C15] */
static void random_programs_replay_as_they_run_eagerly(struct conform *t) {
    uint64_t seed = rng_first_seed();
    for (uint64_t i = 0; i < 60; i++) replay_equals_eager(t, seed + i, PLAIN);
}

/* [R4, C15] */
static void random_programs_of_host_calls_replay_as_they_run_eagerly(struct conform *t) {
    uint64_t seed = rng_first_seed();
    for (uint64_t i = 0; i < 60; i++) replay_equals_eager(t, seed + i, HOST);
}

/* [R4, C15] */
static void random_programs_of_kernels_replay_as_they_run_eagerly(struct conform *t) {
    uint64_t seed = rng_first_seed();
    for (uint64_t i = 0; i < 60; i++) replay_equals_eager(t, seed + i, KERNELS);
}

/* The flags change between the replays, so another set of nodes fails each time; then everything is written anew. */
static void failures_equal_eager_ones(struct conform *t, uint64_t seed, enum level level) {
    struct rng rng = {seed};
    struct program program = random_program(&rng, level, true);
    struct world graphed = new_world(t, &program), eager = new_world(t, &program);
    print_message("seed %" PRIu64 ", %zu operations\n", seed, program.count);
    rondo_graph *graph = capture_step(t, t->stream, play_step, &graphed);
    for (int i = 0; i < 5; i++) {
        uint64_t bits = rng_next(&rng);
        fill_world(&graphed, i);
        fill_world(&eager, i);
        set_flags(&graphed, bits);
        set_flags(&eager, bits);
        CHECK_OK(rondo_graph_replay(graph, t->stream));
        CHECK_OK(play_eagerly(t->stream, &eager));
        expect_same_grains(&graphed, &eager);
    }
    rondo_graph_release(graph);
    drop_world(&graphed);
    drop_world(&eager);
}

/* [R4, T6, T11] */
static void random_programs_fail_at_the_same_bytes_replayed_and_eager(struct conform *t) {
    uint64_t seed = rng_first_seed();
    for (uint64_t i = 0; i < 40; i++) failures_equal_eager_ones(t, seed + i, HOST);
}

/* [R4, T6, T11] */
static void random_programs_of_kernels_fail_at_the_same_bytes_replayed_and_eager(struct conform *t) {
    uint64_t seed = rng_first_seed();
    for (uint64_t i = 0; i < 40; i++) failures_equal_eager_ones(t, seed + i, KERNELS);
}

/* [R4] In-place work that nobody reads is work all the same: state that the graph moves moves at each replay. */
static void state_that_nobody_reads_moves_at_each_replay(struct conform *t) {
    rondo_buffer state = conform_buffer(t, 64);
    conform_fill_i32(t, state, 0);
    open_window(t->stream);
    CHECK_OK(add_in_place(t->stream, rondo_whole(state), NULL, NULL));
    rondo_graph *graph = seal(t, t->stream);
    for (int i = 0; i < 5; i++) CHECK_OK(rondo_graph_replay(graph, t->stream));
    conform_expect_all_i32(t, state, 5, 16);
}

/* [R4] A fill whose pattern is as wide as it gets and whose bytes are summed at once: a part that is late shows. */
static void work_right_after_a_wide_fill_sees_all_of_it(struct conform *t) {
    enum { COUNT = 1 << 16 };
    const int32_t pattern[4] = {1, 2, 3, 4};
    rondo_buffer data = conform_buffer(t, COUNT * 4), copy = conform_buffer(t, COUNT * 4);
    open_window(t->stream);
    CHECK_OK(rondo_fill(t->stream, rondo_whole(data), pattern, sizeof pattern, NULL));
    CHECK_OK(add_in_place(t->stream, rondo_whole(data), NULL, NULL));
    CHECK_OK(rondo_copy(t->stream, rondo_whole(copy), rondo_whole(data), NULL));
    rondo_graph *graph = seal(t, t->stream);
    int32_t *values = malloc(COUNT * 4);
    CHECK(values != NULL);
    for (int i = 0; i < 20; i++) {
        CHECK_OK(rondo_graph_replay(graph, t->stream));
        CHECK_OK(rondo_read(t->stream, rondo_whole(copy), values, NULL));
        int64_t sum = 0;
        for (size_t k = 0; k < COUNT; k++) sum += values[k];
        CHECK_EQUAL(sum, (int64_t)COUNT / 4 * (1 + 2 + 3 + 4 + 4));
    }
    free(values);
}

/* [R4, R6] Many replays in a row without a wait between them, of two graphs in turn on the same buffers. */
static void a_thousand_replays_in_a_row_lose_and_swap_nothing(struct conform *t) {
    rondo_buffer x = conform_buffer(t, 64), y = conform_buffer(t, 64);
    static int32_t seven = 7;
    conform_fill_i32(t, x, 0);
    open_window(t->stream);
    CHECK_OK(add_in_place(t->stream, rondo_whole(x), NULL, NULL));
    CHECK_OK(rondo_copy(t->stream, rondo_whole(y), rondo_whole(x), NULL));
    rondo_graph *one = seal(t, t->stream);
    conform_fill_i32(t, y, 0);
    open_window(t->stream);
    CHECK_OK(add_in_place(t->stream, rondo_whole(y), &seven, NULL));
    CHECK_OK(rondo_copy(t->stream, rondo_whole(x), rondo_whole(y), NULL));
    rondo_graph *two = seal(t, t->stream);
    for (int i = 0; i < 1000; i++) CHECK_OK(rondo_graph_replay(i % 2 ? two : one, t->stream));
    CHECK_OK(rondo_stream_sync(t->stream));
    conform_expect_all_i32(t, x, 500 * 8, 16);
    conform_expect_all_i32(t, y, 500 * 8, 16);
}

/* [R4, W3] A result belongs to the latest replay; a copy that was queued between two replays has the first one's. */
static void a_copy_between_two_replays_has_the_first_ones_bytes(struct conform *t) {
    rondo_stream *other = conform_stranger(t, t->stream);
    rondo_buffer in = conform_buffer(t, 64), out = conform_buffer(t, 64), kept = conform_buffer(t, 64);
    open_window(t->stream);
    CHECK_OK(rondo_copy(t->stream, rondo_whole(out), rondo_whole(in), NULL));
    rondo_graph *graph = seal(t, t->stream);
    conform_fill_i32(t, in, 1);
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    CHECK_OK(rondo_copy(other, rondo_whole(kept), rondo_whole(out), NULL));
    conform_fill_i32(t, in, 2);
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    conform_expect_all_i32(t, kept, 1, 16);
    conform_expect_all_i32(t, out, 2, 16);
}

/* [C14] A measurement that starts after the graph was made covers its replays. */
static void a_measurement_around_replays_of_an_older_graph_is_right(struct conform *t) {
    rondo_buffer state = conform_buffer(t, 1 << 16);
    uint64_t elapsed_ns = 0;
    conform_fill_i32(t, state, 0);
    open_window(t->stream);
    CHECK_OK(add_in_place(t->stream, rondo_whole(state), NULL, NULL));
    rondo_graph *graph = seal(t, t->stream);
    for (int32_t i = 0; i < 3; i++) {
        CHECK_OK(rondo_graph_replay(graph, t->stream));
        CHECK_OK(rondo_profile_start(t->stream));
        for (int k = 0; k < 20; k++) CHECK_OK(rondo_graph_replay(graph, t->stream));
        CHECK_OK(rondo_profile_end(t->stream, &elapsed_ns));
        CHECK(elapsed_ns > 0);
    }
    conform_expect_all_i32(t, state, 63, 1 << 14);
}

/* [R3, W3] Replays of several streams and work of others on the same bytes keep the order of the calls. */
static void replays_are_ordered_against_other_streams(struct conform *t) {
    rondo_stream *a = conform_stranger(t, t->stream), *b = conform_stranger(t, t->stream);
    rondo_buffer state = conform_buffer(t, 1 << 16);
    conform_fill_i32(t, state, 0);
    open_window(t->stream);
    CHECK_OK(add_in_place(t->stream, rondo_whole(state), NULL, NULL));
    rondo_graph *graph = seal(t, t->stream);
    for (int32_t i = 0; i < 50; i++) {
        CHECK_OK(rondo_graph_replay(graph, a));
        CHECK_OK(add_in_place(b, rondo_whole(state), NULL, NULL));
        CHECK_OK(rondo_graph_replay(graph, b));
        CHECK_OK(fill_i32(a, rondo_slice(state, 0, 4), i, NULL));
    }
    CHECK_EQUAL(conform_read_i32(t, state, 0), 49);
    CHECK_EQUAL(conform_read_i32(t, state, 1), 150);
}

/* Chains: each node adds its number to a running sum, so that one lost, doubled or misplaced node shows. */

static int32_t chain_value(uint64_t i) {
    return (int32_t)(i % 1000) + 1;
}

static int32_t chain_sum(uint64_t length) {
    int32_t sum = 0;
    for (uint64_t i = 0; i < length; i++) sum += chain_value(i);
    return sum;
}

static void replay_chain(struct conform *t, rondo_graph *graph, rondo_buffer sum, uint64_t length) {
    CHECK_EQUAL(graph_info(graph).nodes, length);
    for (int i = 0; i < 2; i++) {
        conform_fill_i32(t, sum, i);
        CHECK_OK(rondo_graph_replay(graph, t->stream));
        CHECK_EQUAL(conform_read_i32(t, sum, 0), chain_sum(length) + i);
    }
}

static const uint64_t CHAINS[] = {1, 2, 63, 64, 65, 199, 200, 201, 1023, 1024, 1025, 4096, 65536};

/* [R4] No length is special. */
static void chains_of_any_length_add_up(struct conform *t) {
    static int32_t values[65536];
    rondo_buffer sum = conform_buffer(t, 4);
    for (uint64_t i = 0; i < COUNT_OF(values); i++) values[i] = chain_value(i);
    for (size_t c = 0; c < COUNT_OF(CHAINS); c++) {
        open_window(t->stream);
        for (uint64_t i = 0; i < CHAINS[c]; i++) {
            const rondo_host_access access = {rondo_slice(sum, 0, 4), RONDO_READS_WRITES, NULL};
            CHECK_OK(rondo_host_call(t->stream, host_add, &values[i], NULL, &access, 1, NULL));
        }
        rondo_graph *graph = seal(t, t->stream);
        replay_chain(t, graph, sum, CHAINS[c]);
        rondo_graph_release(graph);
    }
}

/* A chain of launches in which the order counts: every fifth multiplies, the others add. Arithmetic is modulo 2^32. */

static bool chain_scales(uint64_t i) {
    return i % 5 == 4;
}

static uint32_t chain_of_launches(uint32_t value, uint64_t first, uint64_t last) {
    for (uint64_t i = first; i < last; i++) value = chain_scales(i) ? value * 3 : value + 1;
    return value;
}

static rondo_graph *record_launches(struct conform *t, rondo_span whole, uint64_t length) {
    open_window(t->stream);
    for (uint64_t i = 0; i < length; i++) {
        if (chain_scales(i)) CHECK_OK(conform_launch_scale(t, t->stream, whole, 3, 1, NULL));
        if (!chain_scales(i)) CHECK_OK(conform_launch_add_alias(t, t->stream, whole, whole, 1, NULL));
    }
    return seal(t, t->stream);
}

/* [R4, R9] Lengths around the sizes at which others broke, and one pointer changed in the middle. */
static void chains_of_launches_add_up_and_take_an_update_in_the_middle(struct conform *t) {
    for (size_t c = 0; c < COUNT_OF(CHAINS); c++) {
        uint64_t length = CHAINS[c], middle = length / 2 - (chain_scales(length / 2) ? 1 : 0);
        rondo_buffer value = conform_buffer(t, 4), aside = conform_buffer(t, 4);
        rondo_graph *graph = record_launches(t, rondo_whole(value), length);
        CHECK_EQUAL(graph_info(graph).nodes, length);
        conform_fill_i32(t, value, 1);
        for (uint64_t i = 0; i < 2; i++) CHECK_OK(rondo_graph_replay(graph, t->stream));
        uint32_t once = chain_of_launches(1, 0, length);
        CHECK_EQUAL((uint32_t)conform_read_i32(t, value, 0), chain_of_launches(once, 0, length));
        const rondo_update update = rondo_update_span(middle, "c", rondo_whole(aside));
        CHECK_OK(rondo_graph_update(graph, &update, 1));
        conform_fill_i32(t, value, 1);
        CHECK_OK(rondo_graph_replay(graph, t->stream));
        uint32_t before = chain_of_launches(1, 0, middle);
        CHECK_EQUAL((uint32_t)conform_read_i32(t, aside, 0), before + 1);
        CHECK_EQUAL((uint32_t)conform_read_i32(t, value, 0), chain_of_launches(before, middle + 1, length));
        rondo_graph_release(graph);
    }
}

/* [W5] Nothing to do is legal in a window too, changes nothing, and does not stop what follows. */
static void zero_sized_work_in_a_window_does_nothing(struct conform *t) {
    rondo_buffer empty = conform_buffer(t, 0), buffer = conform_buffer(t, 64);
    conform_fill_i32(t, buffer, 1);
    open_window(t->stream);
    CHECK_OK(fill_i32(t->stream, rondo_slice(buffer, 16, 0), 2, NULL));
    CHECK_OK(rondo_copy(t->stream, rondo_slice(buffer, 64, 0), rondo_whole(empty), NULL));
    CHECK_OK(rondo_write(t->stream, rondo_whole(empty), "", NULL));
    CHECK_OK(add_in_place(t->stream, rondo_slice(buffer, 32, 32), NULL, NULL));
    rondo_graph *graph = seal(t, t->stream);
    CHECK_EQUAL(graph_info(graph).written_bytes, 32);
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    CHECK_EQUAL(conform_read_i32(t, buffer, 4), 1);
    CHECK_EQUAL(conform_read_i32(t, buffer, 8), 2);
}

/* [W5] */
static void a_launch_over_no_items_in_a_window_does_nothing(struct conform *t) {
    static const rondo_grid grids[] = {{0, 1, 1}, {1, 0, 1}, {1, 1, 0}, {0, 0, 0}};
    rondo_buffer buffer = conform_buffer(t, 64);
    conform_fill_i32(t, buffer, 1);
    const int32_t start = 50;
    const rondo_arg args[] = {rondo_arg_buffer(buffer), rondo_arg_value(&start, sizeof start)};
    open_window(t->stream);
    for (size_t i = 0; i < COUNT_OF(grids); i++) {
        CHECK_OK(rondo_launch(t->stream, conform_kernel(t, KERNEL_IOTA), grids[i], args, 2, NULL));
    }
    CHECK_OK(conform_launch_scale(t, t->stream, rondo_whole(buffer), 5, 16, NULL));
    CHECK_OK(rondo_graph_replay(seal(t, t->stream), t->stream));
    conform_expect_all_i32(t, buffer, 5, 16);
}

/* [R4] Rectangles, memmove-like copies and odd offsets: only the named bytes change, with guards all around. */
static void only_the_named_bytes_change_at_a_replay(struct conform *t) {
    enum { TOTAL = 600 };
    rondo_buffer block = conform_buffer(t, TOTAL);
    uint8_t expected[TOTAL], seen[TOTAL];
    for (size_t i = 0; i < TOTAL; i++) expected[i] = (uint8_t)(i * 7);
    CHECK_OK(rondo_write(t->stream, rondo_whole(block), expected, NULL));
    open_window(t->stream);
    CHECK_OK(rondo_fill(t->stream, rondo_slice(block, 33, 7), "\xaa", 1, NULL));
    CHECK_OK(rondo_copy(t->stream, rondo_slice(block, 103, 50), rondo_slice(block, 100, 50), NULL));
    CHECK_OK(rondo_copy(t->stream, rondo_slice(block, 200, 50), rondo_slice(block, 217, 50), NULL));
    CHECK_OK(rondo_copy_2d(t->stream, (rondo_rect){rondo_slice(block, 301, 40), 13},
                           (rondo_rect){rondo_slice(block, 401, 99), 31}, 5, 3, NULL));
    rondo_graph *graph = seal(t, t->stream);
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    memset(expected + 33, 0xaa, 7);
    memmove(expected + 103, expected + 100, 50);
    memmove(expected + 200, expected + 217, 50);
    for (size_t row = 0; row < 3; row++) memcpy(expected + 301 + 13 * row, expected + 401 + 31 * row, 5);
    CHECK_OK(rondo_read(t->stream, rondo_whole(block), seen, NULL));
    assert_memory_equal(seen, expected, TOTAL);
}

const struct conform_case conform_replay_effect_cases[] = {
    CONFORM_CASE(random_programs_replay_as_they_run_eagerly, NEEDS_NOTHING),
    CONFORM_CASE(random_programs_of_host_calls_replay_as_they_run_eagerly, NEEDS_MAP),
    CONFORM_CASE(random_programs_of_kernels_replay_as_they_run_eagerly, NEEDS_KERNELS | NEEDS_MAP),
    CONFORM_CASE(random_programs_fail_at_the_same_bytes_replayed_and_eager, NEEDS_MAP),
    CONFORM_CASE(random_programs_of_kernels_fail_at_the_same_bytes_replayed_and_eager, NEEDS_KERNELS | NEEDS_MAP),
    CONFORM_CASE(state_that_nobody_reads_moves_at_each_replay, NEEDS_MAP),
    CONFORM_CASE(work_right_after_a_wide_fill_sees_all_of_it, NEEDS_MAP),
    CONFORM_CASE(a_thousand_replays_in_a_row_lose_and_swap_nothing, NEEDS_MAP),
    CONFORM_CASE(a_copy_between_two_replays_has_the_first_ones_bytes, NEEDS_NOTHING),
    CONFORM_CASE(a_measurement_around_replays_of_an_older_graph_is_right, NEEDS_MAP),
    CONFORM_CASE(replays_are_ordered_against_other_streams, NEEDS_MAP),
    CONFORM_CASE(chains_of_any_length_add_up, NEEDS_MAP),
    CONFORM_CASE(chains_of_launches_add_up_and_take_an_update_in_the_middle, NEEDS_KERNELS),
    CONFORM_CASE(zero_sized_work_in_a_window_does_nothing, NEEDS_MAP),
    CONFORM_CASE(a_launch_over_no_items_in_a_window_does_nothing, NEEDS_KERNELS),
    CONFORM_CASE(only_the_named_bytes_change_at_a_replay, NEEDS_NOTHING),
    CONFORM_END,
};
