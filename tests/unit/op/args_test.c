#include "op/args.h"

#include "memory_bench.h"
#include "unit.h"

static const rdo_where where = {.operation = "rondo_launch", .kernel = "k", .stream_id = 1, .op_index = RONDO_NO_INDEX};

enum { SIZE = 100 };

typedef struct fixture {
    memory_bench bench, foreign;
    rdo_memory *device, *host, *empty, *stranger;
    const rdo_store *own; /* the caller's store */
} fixture;

static void open_fixture(fixture *f) {
    memory_bench_open(&f->bench);
    memory_bench_open(&f->foreign);
    f->device = memory_bench_buffer(&f->bench, SIZE);
    f->host = memory_bench_reserve(&f->bench, &(rdo_request){.size = SIZE, .host = true}, 1);
    f->empty = memory_bench_buffer(&f->bench, 0);
    f->stranger = memory_bench_buffer(&f->foreign, SIZE);
    f->own = &f->bench.store;
}

static void close_fixture(fixture *f) {
    memory_bench_release(&f->bench, f->device);
    memory_bench_release(&f->bench, f->host);
    memory_bench_release(&f->bench, f->empty);
    memory_bench_release(&f->foreign, f->stranger);
    memory_bench_close(&f->bench);
    memory_bench_close(&f->foreign);
}

static rondo_span span_of(const rdo_memory *memory, uint64_t offset, uint64_t size) {
    return rondo_slice((rondo_buffer){memory->id}, offset, size);
}

static void expect_refusal(rondo_status status, rondo_code code, const char *words) {
    rondo_fault fault;
    assert_int_equal(rondo_status_code(status), code);
    assert_int_equal(rondo_fault_get(status, &fault), RONDO_OK);
    if (strstr(fault.message, words) == NULL) fail_msg("'%s' does not say '%s'", fault.message, words);
}

/* ---- one span ---- */

static rondo_status find(fixture *f, rondo_span span, rdo_span_kind kind, rdo_access *out) {
    return rdo_args_access(&where, &f->bench.books, f->own, span, kind, RONDO_READS, "target", out);
}

/* [O4] */
static void a_span_becomes_an_access(void **state) {
    fixture f;
    rdo_access a;
    (void)state;
    open_fixture(&f);
    assert_int_equal(find(&f, span_of(f.device, 10, 20), RDO_SPAN_DEVICE, &a), RONDO_OK);
    assert_ptr_equal(a.memory, f.device);
    assert_int_equal(a.id, f.device->id);
    assert_true(a.low == 10 && a.row_bytes == 20 && a.rows == 1 && a.mode == RONDO_READS);
    assert_int_equal(rdo_access_high(&a), 30);
    assert_true(rdo_access_reads(&a) && !rdo_access_writes(&a));
    assert_int_equal(find(&f, span_of(f.host, 0, RONDO_WHOLE), RDO_SPAN_HOST, &a), RONDO_OK);
    assert_int_equal(a.row_bytes, SIZE);
    assert_int_equal(find(&f, span_of(f.device, 40, RONDO_WHOLE), RDO_SPAN_ANY, &a), RONDO_OK);
    assert_int_equal(a.row_bytes, 60);
    close_fixture(&f);
}

/* [E2] Each refusal, and beside it the nearest that is legal. */
static void a_span_that_leaves_its_buffer_is_refused(void **state) {
    static const struct { uint64_t offset, size; bool legal; } cases[] = {
        {0, SIZE, true}, {0, SIZE + 1, false}, {SIZE, 0, true}, {SIZE + 1, 0, false}, {SIZE, RONDO_WHOLE, true},
        {SIZE + 1, RONDO_WHOLE, false}, {99, 1, true}, {99, 2, false}, {1, UINT64_MAX - 1, false},
        {UINT64_MAX, 2, false}, {UINT64_MAX, RONDO_WHOLE, false},
    };
    fixture f;
    rdo_access a;
    (void)state;
    open_fixture(&f);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rondo_status status = find(&f, span_of(f.device, cases[i].offset, cases[i].size), RDO_SPAN_DEVICE, &a);
        if (cases[i].legal) {
            assert_int_equal(status, RONDO_OK);
            assert_int_equal(a.low, cases[i].offset);
        } else {
            expect_refusal(status, RONDO_RANGE, "which has 100 bytes");
        }
    }
    assert_int_equal(find(&f, rondo_whole((rondo_buffer){f.empty->id}), RDO_SPAN_DEVICE, &a), RONDO_OK);
    assert_int_equal(a.row_bytes, 0);
    assert_int_equal(rdo_access_high(&a), 0);
    expect_refusal(find(&f, span_of(f.empty, 0, 1), RDO_SPAN_DEVICE, &a), RONDO_RANGE, "which has 0 bytes");
    close_fixture(&f);
}

/* [E2] [O1] */
static void a_buffer_that_is_dead_or_of_another_device_is_refused(void **state) {
    fixture f;
    rdo_access a;
    (void)state;
    open_fixture(&f);
    rdo_memory *gone = memory_bench_buffer(&f.bench, 8);
    rondo_buffer dead = {gone->id};
    memory_bench_release(&f.bench, gone);
    expect_refusal(find(&f, rondo_whole(RONDO_NO_BUFFER), RDO_SPAN_ANY, &a), RONDO_STALE, "target is the null buffer");
    expect_refusal(find(&f, rondo_whole(dead), RDO_SPAN_ANY, &a), RONDO_STALE, "was released or never existed");
    expect_refusal(find(&f, rondo_whole((rondo_buffer){UINT64_MAX}), RDO_SPAN_ANY, &a), RONDO_STALE, "target names");
    expect_refusal(find(&f, span_of(f.stranger, 0, 1), RDO_SPAN_ANY, &a), RONDO_FOREIGN, "another device");
    assert_int_equal(find(&f, span_of(f.device, 0, 1), RDO_SPAN_ANY, &a), RONDO_OK);
    close_fixture(&f);
}

/* [E5] [O4] Memory of another queue is looked at under the device lock, which is given back whatever comes of it. */
static void memory_of_another_queue_is_found_too(void **state) {
    fixture f;
    rdo_store elsewhere;
    rdo_access a;
    (void)state;
    open_fixture(&f);
    f.own = &elsewhere; /* only compared */
    assert_int_equal(find(&f, span_of(f.device, 10, 20), RDO_SPAN_DEVICE, &a), RONDO_OK);
    assert_ptr_equal(rdo_access_home(&a), &f.bench.store);
    assert_true(a.low == 10 && a.row_bytes == 20 && a.page == f.device->page);
    assert_int_equal(rdo_this_thread.held, 0);
    expect_refusal(find(&f, span_of(f.device, 0, SIZE + 1), RDO_SPAN_DEVICE, &a), RONDO_RANGE, "target");
    assert_int_equal(rdo_this_thread.held, 0);
    f.own = &f.bench.store; /* memory of the own queue is found without that lock: this would not return */
    rdo_lock_take(&f.bench.books.lock);
    assert_int_equal(find(&f, span_of(f.device, 10, 20), RDO_SPAN_DEVICE, &a), RONDO_OK);
    rdo_lock_give(&f.bench.books.lock);
    f.own = NULL; /* the caller holds the device lock */
    rdo_lock_take(&f.bench.books.lock);
    assert_int_equal(find(&f, span_of(f.device, 10, 20), RDO_SPAN_DEVICE, &a), RONDO_OK);
    assert_int_equal(rdo_this_thread.held != 0, RDO_CHECKS);
    rdo_lock_give(&f.bench.books.lock);
    close_fixture(&f);
}

/* [E2] */
static void memory_of_the_wrong_kind_is_refused(void **state) {
    fixture f;
    rdo_access a;
    (void)state;
    open_fixture(&f);
    expect_refusal(find(&f, span_of(f.host, 0, 1), RDO_SPAN_DEVICE, &a), RONDO_INVALID, "device memory is needed");
    expect_refusal(find(&f, span_of(f.device, 0, 1), RDO_SPAN_HOST, &a), RONDO_INVALID, "a host block is needed");
    assert_int_equal(find(&f, span_of(f.device, 0, 1), RDO_SPAN_DEVICE, &a), RONDO_OK);
    assert_int_equal(find(&f, span_of(f.host, 0, 1), RDO_SPAN_HOST, &a), RONDO_OK);
    assert_int_equal(find(&f, span_of(f.host, 0, 1), RDO_SPAN_ANY, &a), RONDO_OK);
    close_fixture(&f);
}

/* ---- the arguments of a launch ---- */

static const rondo_param params[] = {
    {.name = "x", .kind = RONDO_PARAM_IN},
    {.name = "a", .kind = RONDO_PARAM_VALUE, .size_bytes = 4},
    {.name = "y", .kind = RONDO_PARAM_OUT, .align_bytes = 8},
    {.name = "z", .kind = RONDO_PARAM_INOUT, .align_bytes = 1},
};
enum { PARAMS = 4 };

typedef struct launch {
    fixture f;
    rdo_memory *buffers[3]; /* for x, y and z */
    rdo_kernel *kernel;
    rdo_op op;
    rondo_arg args[PARAMS];
    rdo_access accesses[PARAMS];
    const void *values[PARAMS];
} launch;

static const int32_t number = 5;

static void set_args(launch *l) {
    l->op = (rdo_op){.kind = RONDO_NODE_LAUNCH, .kernel = l->kernel, .grid = rondo_grid_1d(4)};
    l->args[0] = rondo_arg_span(span_of(l->buffers[0], 0, 40));
    l->args[1] = rondo_arg_value(&number, sizeof number);
    l->args[2] = rondo_arg_span(span_of(l->buffers[1], 8, 40));
    l->args[3] = rondo_arg_span(rondo_whole((rondo_buffer){l->buffers[2]->id}));
}

static void open_launch(launch *l) {
    const rondo_kernel_desc desc = {.name = "k", .params = params, .param_count = PARAMS};
    open_fixture(&l->f);
    for (int i = 0; i < 3; i++) l->buffers[i] = memory_bench_buffer(&l->f.bench, SIZE);
    l->kernel = rdo_kernel_new(&l->f.bench.books, &desc);
    assert_non_null(l->kernel);
    set_args(l);
}

static void close_launch(launch *l) {
    for (int i = 0; i < 3; i++) memory_bench_release(&l->f.bench, l->buffers[i]);
    rdo_kernel_delete(l->kernel);
    close_fixture(&l->f);
}

static rondo_status check(launch *l) {
    return rdo_args_launch(&where, &l->f.bench.books, l->f.own, &l->op, l->args, PARAMS, l->accesses, l->values);
}

/* Checks once, expects the refusal, and puts the good arguments back. */
static void expect_launch_refusal(launch *l, rondo_code code, const char *words) {
    expect_refusal(check(l), code, words);
    set_args(l);
}

/* [O7] */
static void good_arguments_become_accesses_and_values(void **state) {
    launch l;
    (void)state;
    open_launch(&l);
    assert_int_equal(check(&l), RONDO_OK);
    assert_int_equal(l.op.access_count, 3);
    assert_ptr_equal(l.op.accesses, l.accesses);
    assert_ptr_equal(l.op.values, l.values);
    for (uint32_t i = 0; i < 3; i++) assert_ptr_equal(l.accesses[i].memory, l.buffers[i]);
    assert_true(l.accesses[0].param == 0 && l.accesses[1].param == 2 && l.accesses[2].param == 3);
    assert_true(l.accesses[0].mode == RONDO_READS && l.accesses[1].mode == RONDO_WRITES);
    assert_int_equal(l.accesses[2].mode, RONDO_READS_WRITES);
    assert_true(l.accesses[1].low == 8 && l.accesses[2].row_bytes == SIZE);
    assert_ptr_equal(l.values[1], &number);
    assert_true(l.values[0] == NULL && l.values[2] == NULL && l.values[3] == NULL);
    close_launch(&l);
}

/* [E2] [P4] */
static void the_number_of_arguments_must_fit(void **state) {
    launch l;
    (void)state;
    open_launch(&l);
    for (size_t count = 0; count < 7; count++) {
        if (count == PARAMS) continue;
        expect_refusal(rdo_args_launch(&where, &l.f.bench.books, l.f.own, &l.op, l.args, count, l.accesses, l.values),
                       RONDO_INVALID, "the kernel takes 4");
        set_args(&l);
    }
    expect_refusal(rdo_args_launch(&where, &l.f.bench.books, l.f.own, &l.op, NULL, PARAMS, l.accesses, l.values),
                   RONDO_INVALID, "args is null");
    assert_int_equal(l.op.access_count, 0);
    const rondo_kernel_desc plain = {.name = "nothing"};
    rdo_kernel *nothing = rdo_kernel_new(&l.f.bench.books, &plain);
    assert_non_null(nothing);
    l.op.kernel = nothing;
    rondo_status status = rdo_args_launch(&where, &l.f.bench.books, l.f.own, &l.op, NULL, 0, l.accesses, l.values);
    assert_int_equal(status, RONDO_OK);
    rdo_kernel_delete(nothing);
    close_launch(&l);
}

/* [E2] [P4] Every message names the argument. */
static void a_bad_argument_is_refused_by_name(void **state) {
    launch l;
    (void)state;
    open_launch(&l);
    l.args[0] = rondo_arg_value(&number, sizeof number);
    expect_launch_refusal(&l, RONDO_INVALID, "argument 'x' is a value");
    l.args[1] = rondo_arg_span(span_of(l.buffers[0], 0, 4));
    expect_launch_refusal(&l, RONDO_INVALID, "argument 'a' is a buffer");
    l.args[1] = rondo_arg_value(NULL, sizeof number);
    expect_launch_refusal(&l, RONDO_INVALID, "value for argument 'a' is null");
    l.args[1] = rondo_arg_value(&number, 3);
    expect_launch_refusal(&l, RONDO_INVALID, "has 3 bytes, the kernel takes 4");
    l.args[1] = rondo_arg_value(&number, UINT64_MAX);
    expect_launch_refusal(&l, RONDO_INVALID, "argument 'a'");
    l.args[0] = rondo_arg_span(rondo_whole(RONDO_NO_BUFFER));
    expect_launch_refusal(&l, RONDO_STALE, "argument 'x' is the null buffer");
    l.args[0] = rondo_arg_span(span_of(l.f.stranger, 0, 4));
    expect_launch_refusal(&l, RONDO_FOREIGN, "argument 'x'");
    l.args[0] = rondo_arg_span(span_of(l.f.host, 0, 4));
    expect_launch_refusal(&l, RONDO_INVALID, "is a host block");
    l.args[3] = rondo_arg_span(span_of(l.buffers[2], 0, SIZE + 1));
    expect_launch_refusal(&l, RONDO_RANGE, "argument 'z'");
    l.args[3] = rondo_arg_span(span_of(l.buffers[2], SIZE + 1, RONDO_WHOLE));
    expect_launch_refusal(&l, RONDO_RANGE, "argument 'z'");
    l.args[3] = rondo_arg_span(span_of(l.buffers[2], SIZE, RONDO_WHOLE));
    assert_int_equal(check(&l), RONDO_OK);
    close_launch(&l);
}

/* [E2] */
static void a_misaligned_span_is_refused(void **state) {
    launch l;
    (void)state;
    open_launch(&l);
    for (uint64_t offset = 0; offset < 20; offset++) {
        l.args[2] = rondo_arg_span(span_of(l.buffers[1], offset, 4));
        l.args[3] = rondo_arg_span(span_of(l.buffers[2], offset, 4)); /* alignment 1: anything goes */
        if (offset % 8 == 0) {
            assert_int_equal(check(&l), RONDO_OK);
            set_args(&l);
        } else {
            expect_launch_refusal(&l, RONDO_INVALID, "argument 'y' starts at byte");
        }
    }
    close_launch(&l);
}

/* [E2] [M9] */
static void a_grid_that_overflows_is_refused(void **state) {
    static const struct { rondo_grid grid; bool legal; } cases[] = {
        {{UINT64_MAX, 1, 1}, true}, {{UINT64_MAX, 2, 1}, false}, {{UINT64_C(1) << 32, UINT64_C(1) << 31, 1}, true},
        {{UINT64_C(1) << 32, UINT64_C(1) << 32, 1}, false}, {{UINT64_C(1) << 32, UINT64_C(1) << 31, 2}, false},
        {{0, 5, 5}, true}, {{1, 1, 0}, true},
    };
    launch l;
    (void)state;
    open_launch(&l);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        l.op.grid = cases[i].grid;
        if (cases[i].legal) {
            assert_int_equal(check(&l), RONDO_OK);
            set_args(&l);
        } else {
            expect_launch_refusal(&l, RONDO_RANGE, "overflows");
        }
    }
    close_launch(&l);
}

/* [T8] What a refused launch would have written is known as far as its arguments are good, and the first reason
 * wins. */
static void good_arguments_beside_bad_ones_are_still_found(void **state) {
    launch l;
    (void)state;
    open_launch(&l);
    l.args[0] = rondo_arg_span(rondo_whole(RONDO_NO_BUFFER));
    l.args[1] = rondo_arg_value(&number, 3);
    expect_refusal(check(&l), RONDO_STALE, "argument 'x'");
    assert_int_equal(l.op.access_count, 2);
    assert_ptr_equal(l.accesses[0].memory, l.buffers[1]);
    assert_ptr_equal(l.accesses[1].memory, l.buffers[2]);
    assert_int_equal(l.accesses[1].param, 3);
    set_args(&l);
    l.args[2] = rondo_arg_span(span_of(l.f.host, 0, 8));
    expect_refusal(check(&l), RONDO_INVALID, "argument 'y'");
    assert_int_equal(l.op.access_count, 2);
    assert_ptr_equal(l.accesses[1].memory, l.buffers[2]);
    close_launch(&l);
}

/* ---- aliasing ---- */

/* [W8] Kinds by ranges by leave: refused exactly if a byte is shared, one is written, and neither may alias. */
static void two_arguments_of_which_one_is_written_may_overlap_only_with_leave(void **state) {
    static const struct { uint64_t low[2], size[2]; bool other, share; } ranges[] = {
        {{0, 0}, {50, 50}, false, true}, {{0, 49}, {50, 10}, false, true}, {{20, 0}, {10, 21}, false, true},
        {{10, 0}, {5, 100}, false, true}, {{0, 50}, {50, 50}, false, false}, {{60, 0}, {10, 50}, false, false},
        {{5, 0}, {0, 50}, false, false}, {{0, 10}, {50, 0}, false, false}, {{0, 0}, {50, 50}, true, false},
    };
    launch l;
    unsigned refused = 0;
    (void)state;
    open_launch(&l);
    for (unsigned n = 0; n < 3 * 3 * 4 * (sizeof ranges / sizeof ranges[0]); n++) {
        const rondo_param_kind kinds[2] = {(rondo_param_kind)(1 + n % 3), (rondo_param_kind)(1 + n / 3 % 3)};
        unsigned leave = n / 9 % 4, range = n / 36;
        const rondo_param pair[2] = {{.name = "p", .kind = kinds[0], .may_alias = (leave & 1) != 0},
                                     {.name = "q", .kind = kinds[1], .may_alias = (leave & 2) != 0}};
        const rondo_kernel_desc desc = {.name = "two", .params = pair, .param_count = 2};
        rdo_kernel *two = rdo_kernel_new(&l.f.bench.books, &desc);
        assert_non_null(two);
        rdo_op op = {.kind = RONDO_NODE_LAUNCH, .kernel = two, .grid = rondo_grid_1d(1)};
        const rondo_arg args[2] = {
            rondo_arg_span(span_of(l.buffers[0], ranges[range].low[0], ranges[range].size[0])),
            rondo_arg_span(span_of(l.buffers[ranges[range].other], ranges[range].low[1], ranges[range].size[1]))};
        rondo_status status = rdo_args_launch(&where, &l.f.bench.books, l.f.own, &op, args, 2, l.accesses, l.values);
        bool written = kinds[0] != RONDO_PARAM_IN || kinds[1] != RONDO_PARAM_IN;
        if (ranges[range].share && written && leave == 0) {
            expect_refusal(status, RONDO_ALIASED, "arguments 'p' and 'q' share bytes");
            refused++;
        } else {
            assert_int_equal(status, RONDO_OK);
        }
        rdo_kernel_delete(two);
    }
    assert_int_equal(refused, 4 * 8);
    close_launch(&l);
}

/* [W8] Not only neighbours in the list are compared. */
static void any_two_arguments_are_compared(void **state) {
    launch l;
    (void)state;
    open_launch(&l);
    l.args[3] = rondo_arg_span(span_of(l.buffers[0], 39, 10));
    expect_launch_refusal(&l, RONDO_ALIASED, "'x' and 'z'");
    l.args[3] = rondo_arg_span(span_of(l.buffers[0], 40, 10));
    assert_int_equal(check(&l), RONDO_OK);
    close_launch(&l);
}

static bool touches(const rdo_access *a, uint64_t byte) {
    for (uint64_t row = 0; row < a->rows; row++) {
        uint64_t low = a->low + row * a->pitch;
        if (byte >= low && byte < low + a->row_bytes) return true;
    }
    return false;
}

/* [W8] [W1] Rectangles overlap exactly where they share a byte: two columns of one matrix do not. */
static void rows_overlap_exactly_where_they_share_a_byte(void **state) {
    rdo_memory one;
    unsigned shared_by_some = 0;
    (void)state;
    seed_random();
    memset(&one, 0, sizeof one);
    for (int round = 0; round < 20000; round++) {
        rdo_access pair[2];
        bool expected = false;
        for (int i = 0; i < 2; i++) {
            uint64_t row_bytes = random_below(5), pitch = row_bytes + random_below(8);
            pair[i] = (rdo_access){.memory = &one, .low = random_below(30), .row_bytes = row_bytes,
                                   .rows = 1 + random_below(6), .pitch = pitch};
        }
        for (uint64_t byte = 0; byte < 120; byte++) {
            expected = expected || (touches(&pair[0], byte) && touches(&pair[1], byte));
        }
        assert_int_equal(rdo_args_overlap(&pair[0], &pair[1]), expected);
        assert_int_equal(rdo_args_overlap(&pair[1], &pair[0]), expected);
        shared_by_some += expected;
        pair[1].id = 1; /* another allocation */
        assert_false(rdo_args_overlap(&pair[0], &pair[1]));
    }
    assert_true(shared_by_some > 2000 && shared_by_some < 18000);
}

/* [W8] Two columns of a matrix of a million rows, or two that share the very last byte: one walk tells. */
static void a_million_rows_are_compared_in_one_walk(void **state) {
    enum { ROWS = 1000000, PITCH = 64 };
    rdo_memory memory = {.size = (uint64_t)ROWS * PITCH};
    (void)state;
    rdo_access left = {.memory = &memory, .low = 0, .row_bytes = 32, .rows = ROWS, .pitch = PITCH};
    rdo_access right = {.memory = &memory, .low = 32, .row_bytes = 32, .rows = ROWS, .pitch = PITCH};
    assert_false(rdo_args_overlap(&left, &right));
    assert_false(rdo_args_overlap(&right, &left));
    rdo_access last = {.memory = &memory, .low = memory.size - PITCH + 31, .row_bytes = 1, .rows = 1, .pitch = 1};
    assert_true(rdo_args_overlap(&left, &last));
    assert_true(rdo_args_overlap(&last, &left));
    last.low++;
    assert_false(rdo_args_overlap(&left, &last));
    assert_true(rdo_args_overlap(&right, &last));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_span_becomes_an_access),
        cmocka_unit_test(a_span_that_leaves_its_buffer_is_refused),
        cmocka_unit_test(a_buffer_that_is_dead_or_of_another_device_is_refused),
        cmocka_unit_test(memory_of_another_queue_is_found_too),
        cmocka_unit_test(memory_of_the_wrong_kind_is_refused),
        cmocka_unit_test(good_arguments_become_accesses_and_values),
        cmocka_unit_test(the_number_of_arguments_must_fit),
        cmocka_unit_test(a_bad_argument_is_refused_by_name),
        cmocka_unit_test(a_misaligned_span_is_refused),
        cmocka_unit_test(a_grid_that_overflows_is_refused),
        cmocka_unit_test(good_arguments_beside_bad_ones_are_still_found),
        cmocka_unit_test(two_arguments_of_which_one_is_written_may_overlap_only_with_leave),
        cmocka_unit_test(any_two_arguments_are_compared),
        cmocka_unit_test(rows_overlap_exactly_where_they_share_a_byte),
        cmocka_unit_test(a_million_rows_are_compared_in_one_walk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
