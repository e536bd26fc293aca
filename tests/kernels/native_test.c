/* The native half of the kernel language, without the library: this program drives the descriptions that the language
 * writes as the CPU backend does, and stands in for the three functions that they call. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/test_kernels.kernels.h"
#include "language.kernels.h"

enum { MAX_BYTES = 4096, GUARD = 64, GUARD_BYTE = 0xA5, MAX_ARGS = RONDO_MAX_PARAMS };

/* ---- Stand-ins for the library --------------------------------------------------------------------------------- */

void rondo_native_fail(const rondo_native_call *call, uint32_t reason) {
    uint32_t none = 0;
    __atomic_compare_exchange_n(call->failed, &none, reason, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static struct {
    const rondo_kernel_desc *created;
    rondo_grid grid;
    rondo_arg args[MAX_ARGS];
    uint8_t values[MAX_ARGS][16];
    size_t arg_count;
    const char *label;
} seen;

rondo_status rondo_kernel_create(rondo_device *device, const rondo_kernel_desc *desc, rondo_kernel **out_kernel) {
    (void)device;
    seen.created = desc;
    *out_kernel = NULL;
    return 77;
}

rondo_status rondo_launch_3d(rondo_stream *stream, rondo_kernel *kernel, uint64_t x, uint64_t y, uint64_t z,
                             const rondo_arg *args, size_t arg_count, const char *label) {
    (void)stream;
    (void)kernel;
    seen.grid = rondo_grid_3d(x, y, z);
    seen.arg_count = arg_count;
    seen.label = label;
    for (size_t i = 0; i < arg_count; i++) {
        seen.args[i] = args[i];
        if (args[i].value) memcpy(seen.values[i], args[i].value, args[i].value_bytes);
    }
    return 78;
}

/* ---- A launch, and its cuts ------------------------------------------------------------------------------------ */

static uint64_t random_state;

static uint32_t next_random(void) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33);
}

/* Buffers stand in memory of their own between guards; `out` is what the launch made of `in`. */
typedef struct launch {
    const rondo_kernel_desc *desc;
    uint64_t grid[3];
    size_t size_bytes[MAX_ARGS];
    uint8_t in[MAX_ARGS][MAX_BYTES];
    uint8_t out[MAX_ARGS][MAX_BYTES + GUARD];
    uint32_t failed;
} launch;

static void start(launch *l, const rondo_kernel_desc *desc, uint64_t x, uint64_t y, uint64_t z) {
    memset(l, 0, sizeof *l);
    l->desc = desc;
    l->grid[0] = x;
    l->grid[1] = y;
    l->grid[2] = z;
}

static void give(launch *l, size_t index, const void *data, size_t size_bytes) {
    assert_true(size_bytes <= MAX_BYTES);
    l->size_bytes[index] = size_bytes;
    if (data) memcpy(l->in[index], data, size_bytes);
}

static uint64_t units_of(const launch *l) {
    uint64_t units = 1;
    for (int d = 0; d < 3; d++) {
        const uint64_t size = l->desc->group[0] == 0 ? 1 : l->desc->group[d];
        units *= (l->grid[d] + size - 1) / size;
    }
    return units;
}

static void reset(launch *l) {
    l->failed = 0;
    for (size_t i = 0; i < l->desc->param_count; i++) {
        memcpy(l->out[i], l->in[i], l->size_bytes[i]);
        memset(l->out[i] + l->size_bytes[i], GUARD_BYTE, GUARD);
    }
}

static void run_part(launch *l, uint64_t first, uint64_t last) {
    void *args[MAX_ARGS];
    for (size_t i = 0; i < l->desc->param_count; i++) args[i] = l->out[i];
    const rondo_native_call call = {
        .args = args, .grid = {l->grid[0], l->grid[1], l->grid[2]}, .first = first, .last = last, .failed = &l->failed};
    l->desc->native(&call);
}

static void run_whole(launch *l) {
    reset(l);
    run_part(l, 0, units_of(l));
}

static void guards_are_whole(const launch *l) {
    for (size_t i = 0; i < l->desc->param_count; i++) {
        for (size_t g = 0; g < GUARD; g++) assert_int_equal(l->out[i][l->size_bytes[i] + g], GUARD_BYTE);
    }
}

static void outputs_are_equal(const launch *a, const launch *b) {
    for (size_t i = 0; i < a->desc->param_count; i++) assert_memory_equal(a->out[i], b->out[i], a->size_bytes[i]);
    assert_int_equal(a->failed != 0, b->failed != 0);
    guards_are_whole(b);
}

/* Cuts at `count` places chosen at random and runs the parts last to first. */
static void run_in_random_parts(launch *l, uint64_t units) {
    uint64_t last = units;
    reset(l);
    while (last > 0) {
        const uint64_t first = last - 1 - next_random() % last;
        run_part(l, first, last);
        last = first;
    }
}

/* Leaves the outputs of the whole launch in `l`. */
static void cuts_change_nothing(launch *l) {
    static launch cut;
    const uint64_t units = units_of(l);
    run_whole(l);
    guards_are_whole(l);
    cut = *l;
    for (uint64_t at = 0; at <= units; at++) {
        reset(&cut);
        run_part(&cut, 0, at);
        run_part(&cut, at, units);
        outputs_are_equal(l, &cut);
        reset(&cut);
        run_part(&cut, at, units);
        run_part(&cut, 0, at);
        outputs_are_equal(l, &cut);
    }
    for (int round = 0; round < 20; round++) {
        run_in_random_parts(&cut, units);
        outputs_are_equal(l, &cut);
    }
}

static void random_floats(float *values, size_t count) {
    for (size_t i = 0; i < count; i++) values[i] = (float)(next_random() % 20001) / 1000.0f - 10.0f;
}

/* ---- Items and edges ------------------------------------------------------------------------------------------- */

static launch one;

/* [W8] [W5] */
static void axpy_gives_the_same_bytes_however_it_is_cut(void **state) {
    (void)state;
    float x[67], y[67];
    const float a = 1.37f;
    for (uint64_t n = 1; n <= 67; n++) {
        random_floats(x, n);
        random_floats(y, n);
        start(&one, &axpy_desc, n, 1, 1);
        give(&one, 0, x, n * sizeof(float));
        give(&one, 1, y, n * sizeof(float));
        give(&one, 2, &a, sizeof a);
        cuts_change_nothing(&one);
        for (uint64_t i = 0; i < n; i++) {
            float got;
            memcpy(&got, &one.out[1][i * sizeof(float)], sizeof got);
            assert_float_equal(got, y[i] + a * x[i], 1e-5f);
        }
    }
}

/* [W1] */
static void items_without_groups_run_once_each_at_their_coordinates(void **state) {
    (void)state;
    const uint64_t grids[][3] = {{1, 1, 1}, {5, 1, 1}, {1, 5, 1}, {1, 1, 5}, {4, 3, 1}, {4, 1, 3},
                                 {1, 3, 4}, {3, 2, 4}, {2, 5, 3}, {7, 3, 2}};
    for (size_t g = 0; g < sizeof grids / sizeof grids[0]; g++) {
        const uint64_t *n = grids[g], items = n[0] * n[1] * n[2];
        start(&one, &coordinates_desc, n[0], n[1], n[2]);
        give(&one, 0, NULL, items * sizeof(uint32_t));
        give(&one, 1, NULL, items * sizeof(uint32_t));
        cuts_change_nothing(&one);
        for (uint64_t i = 0; i < items; i++) {
            uint32_t at, visits;
            memcpy(&at, &one.out[0][i * 4], 4);
            memcpy(&visits, &one.out[1][i * 4], 4);
            assert_int_equal(at, i % n[0] + 100 * (i / n[0] % n[1]) + 10000 * (i / n[0] / n[1]));
            assert_int_equal(visits, 1);
        }
    }
}

/* Every part [first, last) of a grid is exactly these items, not only the parts that complete each other. */
static void a_part_runs_its_own_items_and_no_others(void **state) {
    (void)state;
    const uint64_t items = 4 * 3 * 3;
    start(&one, &coordinates_desc, 4, 3, 3);
    give(&one, 0, NULL, items * sizeof(uint32_t));
    give(&one, 1, NULL, items * sizeof(uint32_t));
    for (uint64_t first = 0; first <= items; first++) {
        for (uint64_t last = first; last <= items; last++) {
            reset(&one);
            run_part(&one, first, last);
            for (uint64_t i = 0; i < items; i++) {
                uint32_t visits;
                memcpy(&visits, &one.out[1][i * 4], 4);
                assert_int_equal(visits, i >= first && i < last);
            }
        }
    }
}

static void groups_stop_at_the_edges_of_the_grid(void **state) {
    (void)state;
    for (uint64_t x = 1; x <= 9; x += 2) {
        for (uint64_t y = 1; y <= 5; y++) {
            for (uint64_t z = 1; z <= 4; z++) {
                const uint64_t items = x * y * z;
                start(&one, &whereabouts_desc, x, y, z);
                for (size_t i = 0; i < 3; i++) give(&one, i, NULL, items * sizeof(uint32_t));
                cuts_change_nothing(&one);
                for (uint64_t i = 0; i < items; i++) {
                    const uint64_t at[3] = {i % x, i / x % y, i / x / y};
                    uint32_t got[3];
                    for (size_t k = 0; k < 3; k++) memcpy(&got[k], &one.out[k][i * 4], 4);
                    assert_int_equal(got[0], at[0] % 4 + 10 * (at[1] % 2) + 100 * (at[2] % 3));
                    assert_int_equal(got[1], at[0] / 4 + 10 * (at[1] / 2) + 100 * (at[2] / 3));
                    assert_int_equal(got[2], 1);
                }
            }
        }
    }
}

static void a_2d_stencil_sees_its_neighbours(void **state) {
    (void)state;
    const uint64_t width = 7, height = 5;
    uint32_t x[35];
    for (size_t i = 0; i < 35; i++) x[i] = next_random();
    start(&one, &stencil2d_desc, width, height, 1);
    give(&one, 0, x, sizeof x);
    give(&one, 1, NULL, sizeof x);
    cuts_change_nothing(&one);
    for (uint64_t row = 0; row < height; row++) {
        for (uint64_t column = 0; column < width; column++) {
            const uint64_t at = row * width + column;
            uint32_t want = x[at], got;
            want += column > 0 ? x[at - 1] : 0;
            want += column < width - 1 ? x[at + 1] : 0;
            want += row > 0 ? x[at - width] : 0;
            want += row < height - 1 ? x[at + width] : 0;
            memcpy(&got, &one.out[1][at * 4], 4);
            assert_int_equal(got, want);
        }
    }
}

static void continue_and_break_leave_the_item_only(void **state) {
    (void)state;
    start(&one, &leave_desc, 5, 3, 1);
    give(&one, 0, NULL, 15 * sizeof(int32_t));
    cuts_change_nothing(&one);
    for (int i = 0; i < 15; i++) {
        int32_t got;
        memcpy(&got, &one.out[0][i * 4], 4);
        assert_int_equal(got, i % 3 == 0 ? 1 : i % 3 == 1 ? 11 : 111);
    }
}

static void a_call_without_items_runs_nothing(void **state) {
    (void)state;
    start(&one, &whereabouts_desc, 5, 2, 1);
    for (size_t i = 0; i < 3; i++) give(&one, i, NULL, 40);
    reset(&one);
    run_part(&one, 1, 1);
    run_part(&one, 2, 2);
    for (size_t i = 0; i < 3; i++) assert_memory_equal(one.out[i], one.in[i], 40);
    run_part(&one, 0, 2);
    assert_memory_not_equal(one.out[2], one.in[2], 40);
}

/* ---- Groups: local arrays, private variables, reductions, atomics ---------------------------------------------- */

static void sums_of_floats_follow_from_the_grid_alone(void **state) {
    (void)state;
    float x[1000];
    for (uint64_t n = 1; n <= 1000; n += 111) {
        const uint64_t groups = (n + 255) / 256;
        random_floats(x, n);
        start(&one, &sum_groups_desc, n, 1, 1);
        give(&one, 0, x, n * sizeof(float));
        give(&one, 1, NULL, groups * sizeof(float));
        cuts_change_nothing(&one);
        for (uint64_t g = 0; g < groups; g++) {
            double want = 0;
            float got;
            for (uint64_t i = g * 256; i < n && i < g * 256 + 256; i++) want += (double)x[i];
            memcpy(&got, &one.out[1][g * sizeof(float)], sizeof got);
            assert_float_equal(got, want, 0.001);
        }
    }
}

static void private_variables_live_from_one_items_loop_to_the_next(void **state) {
    (void)state;
    const uint64_t width = 19, height = 9;
    int32_t x[19 * 9];
    for (size_t i = 0; i < 19 * 9; i++) x[i] = (int32_t)(next_random() % 1000);
    start(&one, &rest_of_group_desc, width, height, 1);
    give(&one, 0, x, sizeof x);
    give(&one, 1, NULL, sizeof x);
    cuts_change_nothing(&one);
    for (uint64_t i = 0; i < width * height; i++) {
        const uint64_t left = i % width / 8 * 8, top = i / width / 4 * 4;
        int32_t want = -x[i], got;
        for (uint64_t row = top; row < top + 4 && row < height; row++) {
            for (uint64_t column = left; column < left + 8 && column < width; column++) want += x[row * width + column];
        }
        memcpy(&got, &one.out[1][i * 4], 4);
        assert_int_equal(got, want);
    }
}

static void fill3d_and_sum_i32_do_what_their_comments_say(void **state) {
    (void)state;
    const uint32_t base = 5;
    start(&one, &fill3d_desc, 5, 3, 3);
    give(&one, 0, NULL, 45 * sizeof(uint32_t));
    give(&one, 1, &base, sizeof base);
    cuts_change_nothing(&one);
    for (uint32_t i = 0; i < 45; i++) {
        uint32_t got;
        memcpy(&got, &one.out[0][i * 4], 4);
        assert_int_equal(got, i % 5 + 1000 * (i / 5 % 3) + 1000000 * (i / 15) + base);
    }
    int32_t x[130], want[3] = {0, 0, 0};
    for (int i = 0; i < 130; i++) {
        x[i] = (int32_t)(next_random() % 2001) - 1000;
        want[i / 64] += x[i];
    }
    start(&one, &sum_i32_desc, 130, 1, 1);
    give(&one, 0, x, sizeof x);
    give(&one, 1, NULL, sizeof want);
    cuts_change_nothing(&one);
    assert_memory_equal(one.out[1], want, sizeof want);
}

static void the_small_integer_kernels_do_what_their_comments_say(void **state) {
    (void)state;
    const int32_t a[4] = {1, -2, INT32_MAX, 4}, b[4] = {10, 20, 1, -4}, sum[4] = {11, 18, INT32_MIN, 0};
    const int32_t k = -3, scaled[4] = {-3, 6, -INT32_MAX + 2, -12}, counted[4] = {-3, -2, -1, 0};
    const int32_t plus_one[4] = {2, -1, INT32_MIN, 5};
    const rondo_kernel_desc *descs[] = {&copy_i32_desc, &add_i32_desc, &scale_i32_desc, &iota_i32_desc,
                                        &add_alias_desc};
    const void *args[][3] = {{a, NULL, NULL}, {a, b, NULL}, {a, &k, NULL}, {NULL, &k, NULL}, {a, NULL, NULL}};
    const void *wants[] = {a, sum, scaled, counted, plus_one};
    const size_t results[] = {1, 2, 0, 0, 1};
    for (size_t i = 0; i < sizeof descs / sizeof descs[0]; i++) {
        start(&one, descs[i], 4, 1, 1);
        for (size_t p = 0; p < descs[i]->param_count; p++) {
            give(&one, p, args[i][p], descs[i]->params[p].kind == RONDO_PARAM_VALUE ? sizeof k : sizeof a);
        }
        cuts_change_nothing(&one);
        assert_memory_equal(one.out[results[i]], wants[i], sizeof a);
    }
}

/* One of two threads that add to the same bins at the same time, and the gate that lets them start together. */
typedef struct half {
    rondo_native_call call;
    pthread_barrier_t *gate;
} half;

static void *run_half(void *user) {
    const half *mine = user;
    pthread_barrier_wait(mine->gate);
    histogram_native(&mine->call);
    return NULL;
}

/* [W3] is about launches; inside one, atomics are all that groups may share. */
static void atomics_lose_no_addition_between_threads(void **state) {
    (void)state;
    enum { ITEMS = 1 << 18, ROUNDS = 4 };
    static uint32_t x[2 * ITEMS];
    int32_t bins[16] = {0};
    uint32_t failed = 0;
    void *args[2] = {x, bins};
    pthread_barrier_t gate;
    assert_int_equal(pthread_barrier_init(&gate, NULL, 2), 0);
    for (uint32_t i = 0; i < 2 * ITEMS; i++) x[i] = i / 64;
    for (int round = 0; round < ROUNDS; round++) {
        half first = {{.args = args, .grid = {2 * ITEMS, 1, 1}, .first = 0, .last = ITEMS, .failed = &failed}, &gate};
        half second = first;
        second.call.first = ITEMS;
        second.call.last = 2 * ITEMS;
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, run_half, &second), 0);
        run_half(&first);
        assert_int_equal(pthread_join(thread, NULL), 0);
    }
    for (int i = 0; i < 16; i++) assert_int_equal(bins[i], ROUNDS * 2 * ITEMS / 16);
    pthread_barrier_destroy(&gate);
}

static void count_counts_every_item(void **state) {
    (void)state;
    uint32_t counter = 41;
    start(&one, &count_desc, 7, 5, 3);
    give(&one, 0, &counter, sizeof counter);
    cuts_change_nothing(&one);
    memcpy(&counter, one.out[0], sizeof counter);
    assert_int_equal(counter, 41 + 7 * 5 * 3);
}

static void a_histogram_counts_every_item(void **state) {
    (void)state;
    uint32_t x[500];
    int32_t want[16] = {0};
    for (int i = 0; i < 500; i++) {
        x[i] = next_random();
        want[x[i] % 16]++;
    }
    start(&one, &histogram_desc, 500, 1, 1);
    give(&one, 0, x, sizeof x);
    give(&one, 1, NULL, sizeof want);
    cuts_change_nothing(&one);
    assert_memory_equal(one.out[1], want, sizeof want);
}

/* ---- Values, helpers, aliases, failure ------------------------------------------------------------------------- */

static void helpers_constants_and_struct_values_arrive(void **state) {
    (void)state;
    enum { ITEMS = 40 };
    float x[ITEMS + 2];
    const float limit = 4.0f;
    const shade tone = {3.0f, -7};
    const uint64_t skip = 11;
    random_floats(x, ITEMS + 2);
    start(&one, &smooth_desc, ITEMS, 1, 1);
    give(&one, 0, x, sizeof x);
    give(&one, 1, NULL, ITEMS * sizeof(float));
    give(&one, 2, &limit, sizeof limit);
    give(&one, 3, &tone, sizeof tone);
    give(&one, 4, &skip, sizeof skip);
    cuts_change_nothing(&one);
    for (int i = 0; i < ITEMS; i++) {
        float want = 0.25f * x[i] + 0.5f * x[i + 1] + 0.25f * x[i + 2], got;
        want = want > limit ? limit : want < -limit ? -limit : want;
        memcpy(&got, &one.out[1][(size_t)i * sizeof(float)], sizeof got);
        assert_float_equal(got, want * 3.0f - 7.0f + 11.0f, 1e-4f);
    }
}

/* [O7] */
static void a_kernel_has_up_to_32_parameters_in_their_order(void **state) {
    (void)state;
    int32_t want = 0;
    assert_int_equal(wide_desc.param_count, 32);
    start(&one, &wide_desc, 2, 1, 1);
    give(&one, 0, NULL, 2 * sizeof(int32_t));
    for (int32_t i = 1; i < 32; i++) {
        const int32_t v = 100 - i * i;
        give(&one, (size_t)i, &v, sizeof v);
        want += i * v;
    }
    cuts_change_nothing(&one);
    assert_memory_equal(one.out[0], ((int32_t[2]){want, want}), 8);
    assert_string_equal(wide_desc.params[31].name, "v31");
}

/* [W8] One parameter that may alias is enough: the other one carries no promise then. */
static void a_parameter_that_may_alias_is_computed_in_order(void **state) {
    (void)state;
    int32_t shifted[21];
    uint32_t failed = 0;
    for (int i = 0; i < 21; i++) shifted[i] = 1;
    void *args[3] = {&shifted[0], &shifted[0], &shifted[1]};
    const rondo_native_call call = {.args = args, .grid = {20, 1, 1}, .first = 0, .last = 20, .failed = &failed};
    add_any_native(&call);
    int32_t want = 1;
    for (int i = 0; i < 21; i++) {
        assert_int_equal(shifted[i], want);
        want *= 2;
    }
}

/* [W7] */
static void a_kernel_reports_failure_with_its_reason(void **state) {
    (void)state;
    int32_t x[20], y[20];
    for (int i = 0; i < 20; i++) {
        x[i] = i * 6;
        y[i] = 3;
    }
    start(&one, &divide_desc, 20, 1, 1);
    give(&one, 0, x, sizeof x);
    give(&one, 1, y, sizeof y);
    give(&one, 2, NULL, sizeof x);
    cuts_change_nothing(&one);
    assert_int_equal(one.failed, 0);
    y[17] = 0;
    give(&one, 1, y, sizeof y);
    cuts_change_nothing(&one);
    assert_int_equal(one.failed, 3);
    for (int i = 0; i < 20; i++) {
        int32_t got;
        memcpy(&got, &one.out[2][i * 4], 4);
        assert_int_equal(got, i == 17 ? 0 : i * 2);
    }
}

/* [W7] */
static void fail_if_fails_only_if_told_to(void **state) {
    (void)state;
    const uint32_t no = 0, yes = 1;
    const int32_t v = 9;
    start(&one, &fail_if_desc, 3, 1, 1);
    give(&one, 0, &no, sizeof no);
    give(&one, 1, NULL, 12);
    give(&one, 2, &v, sizeof v);
    cuts_change_nothing(&one);
    assert_int_equal(one.failed, 0);
    assert_memory_equal(one.out[1], ((int32_t[3]){9, 9, 9}), 12);
    give(&one, 0, &yes, sizeof yes);
    cuts_change_nothing(&one);
    assert_int_equal(one.failed, 7);
}

/* ---- What the definition says about itself --------------------------------------------------------------------- */

static void param_is(const rondo_kernel_desc *desc, size_t index, const char *name, rondo_param_kind kind,
                     uint32_t size_bytes, bool may_alias) {
    assert_string_equal(desc->params[index].name, name);
    assert_int_equal(desc->params[index].kind, kind);
    assert_int_equal(desc->params[index].size_bytes, size_bytes);
    assert_int_equal(desc->params[index].may_alias, may_alias);
}

/* [O7] */
static void the_description_follows_from_the_definition(void **state) {
    (void)state;
    assert_string_equal(axpy_desc.name, "axpy");
    assert_int_equal(axpy_desc.param_count, 3);
    param_is(&axpy_desc, 0, "x", RONDO_PARAM_IN, 4, false);
    param_is(&axpy_desc, 1, "y", RONDO_PARAM_INOUT, 4, false);
    param_is(&axpy_desc, 2, "a", RONDO_PARAM_VALUE, 4, false);
    assert_int_equal(axpy_desc.params[0].align_bytes, 4);
    assert_int_equal(axpy_desc.group[0], 0);
    assert_false(axpy_desc.can_fail);
    param_is(&smooth_desc, 1, "y", RONDO_PARAM_OUT, 4, false);
    param_is(&smooth_desc, 3, "tone", RONDO_PARAM_VALUE, sizeof(shade), false);
    param_is(&smooth_desc, 4, "skip", RONDO_PARAM_VALUE, 8, false);
    param_is(&add_alias_desc, 0, "a", RONDO_PARAM_IN, 4, true);
    param_is(&add_alias_desc, 1, "c", RONDO_PARAM_OUT, 4, true);
    param_is(&add_any_desc, 0, "a", RONDO_PARAM_IN, 4, false);
    param_is(&add_any_desc, 2, "c", RONDO_PARAM_OUT, 4, true);
    assert_int_equal(whereabouts_desc.group[0], 4);
    assert_int_equal(whereabouts_desc.group[1], 2);
    assert_int_equal(whereabouts_desc.group[2], 3);
    assert_true(divide_desc.can_fail);
    assert_true(divide_desc.native == divide_native);
    const rondo_grid groups = whereabouts_groups(rondo_grid_3d(9, 4, 1));
    assert_int_equal(groups.x, 3);
    assert_int_equal(groups.y, 2);
    assert_int_equal(groups.z, 1);
    assert_int_equal(axpy_groups(rondo_grid_1d(1000)).x, 1);
}

/* [O7] [P4] */
static void the_launch_function_hands_every_argument_over(void **state) {
    (void)state;
    const rondo_buffer b1 = {.id = 11}, b2 = {.id = 12};
    rondo_kernel *kernel;
    assert_int_equal(smooth_create(NULL, &kernel), 77);
    assert_ptr_equal(seen.created, &smooth_desc);
    const shade tone = {2.0f, 3};
    assert_int_equal(smooth_launch(NULL, NULL, rondo_grid_2d(5, 6), rondo_slice(b1, 4, 8), rondo_whole(b2), 1.5f,
                                   tone, 9, "here"),
                     78);
    assert_int_equal(seen.arg_count, 5);
    assert_int_equal(seen.grid.x, 5);
    assert_int_equal(seen.grid.y, 6);
    assert_int_equal(seen.grid.z, 1);
    assert_string_equal(seen.label, "here");
    assert_int_equal(seen.args[0].span.buffer.id, 11);
    assert_int_equal(seen.args[0].span.offset_bytes, 4);
    assert_int_equal(seen.args[0].span.size_bytes, 8);
    assert_int_equal(seen.args[1].span.buffer.id, 12);
    assert_null(seen.args[1].value);
    const float limit = 1.5f;
    const uint64_t skip = 9;
    assert_int_equal(seen.args[2].value_bytes, sizeof limit);
    assert_memory_equal(seen.values[2], &limit, sizeof limit);
    assert_int_equal(seen.args[3].value_bytes, sizeof tone);
    assert_memory_equal(seen.values[3], &tone, sizeof tone);
    assert_int_equal(seen.args[4].value_bytes, sizeof skip);
    assert_memory_equal(seen.values[4], &skip, sizeof skip);
}

static void text_is_the_file(const char *text, const char *path) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    static char bytes[65536];
    const size_t length = fread(bytes, 1, sizeof bytes - 1, file);
    fclose(file);
    assert_true(length > 0);
    bytes[length] = 0;
    assert_non_null(text);
    assert_string_equal(text, bytes);
}

/* Two kernel files in one program: each kernel knows its own text. */
static void the_text_of_the_file_stands_beside_the_native_code(void **state) {
    (void)state;
    const char *folder = getenv("RONDO_KERNEL_FILES");
    if (!axpy_desc.source || !folder) {
        print_message("skipped: built without text, or RONDO_KERNEL_FILES is not set\n");
        skip();
    }
    char path[4096];
    snprintf(path, sizeof path, "%s/lib/test_kernels.kernels.h", folder);
    text_is_the_file(axpy_desc.source, path);
    snprintf(path, sizeof path, "%s/kernels/language.kernels.h", folder);
    text_is_the_file(smooth_desc.source, path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(axpy_gives_the_same_bytes_however_it_is_cut),
        cmocka_unit_test(items_without_groups_run_once_each_at_their_coordinates),
        cmocka_unit_test(a_part_runs_its_own_items_and_no_others),
        cmocka_unit_test(groups_stop_at_the_edges_of_the_grid),
        cmocka_unit_test(a_2d_stencil_sees_its_neighbours),
        cmocka_unit_test(continue_and_break_leave_the_item_only),
        cmocka_unit_test(a_call_without_items_runs_nothing),
        cmocka_unit_test(sums_of_floats_follow_from_the_grid_alone),
        cmocka_unit_test(private_variables_live_from_one_items_loop_to_the_next),
        cmocka_unit_test(fill3d_and_sum_i32_do_what_their_comments_say),
        cmocka_unit_test(the_small_integer_kernels_do_what_their_comments_say),
        cmocka_unit_test(atomics_lose_no_addition_between_threads),
        cmocka_unit_test(count_counts_every_item),
        cmocka_unit_test(a_histogram_counts_every_item),
        cmocka_unit_test(helpers_constants_and_struct_values_arrive),
        cmocka_unit_test(a_kernel_has_up_to_32_parameters_in_their_order),
        cmocka_unit_test(a_parameter_that_may_alias_is_computed_in_order),
        cmocka_unit_test(a_kernel_reports_failure_with_its_reason),
        cmocka_unit_test(fail_if_fails_only_if_told_to),
        cmocka_unit_test(the_description_follows_from_the_definition),
        cmocka_unit_test(the_launch_function_hands_every_argument_over),
        cmocka_unit_test(the_text_of_the_file_stands_beside_the_native_code),
    };
    const char *seed = getenv("RONDO_TEST_SEED");
    random_state = seed ? strtoull(seed, NULL, 0) : 20240607u;
    print_message("seed %llu (RONDO_TEST_SEED)\n", (unsigned long long)random_state);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
