#define _GNU_SOURCE
#include <pthread.h>
#include "backend/cpu/cpu.h"

#define the_backend rdo_backend_cpu
#include "byte_ops.h"

static void *load(struct bench *bench, rondo_kernel_desc desc) {
    void *kernel;
    desc.name = "kernel";
    assert_int_equal(rdo_backend_cpu.kernel_load(bench->device, &desc, &kernel, &bench->outcome), RONDO_BACKEND_DONE);
    return kernel;
}

/* [E2] */
static void a_fill_pattern_of_another_length_does_not_run(void **state) {
    struct bench bench;
    uint8_t *bytes;
    (void)state;
    open_bench(&bench, &rdo_backend_cpu, NULL);
    bytes = rdo_backend_cpu.host_address(bench.device, bench.page);
    for (uint32_t length = 0; length < 40; length++) {
        rondo_backend_op op = {.kind = RONDO_OP_FILL, .target = place_at(&bench, 0), .size_bytes = 48, .rows = 1,
                               .pattern = {7}, .pattern_bytes = length};
        bool legal = length == 1 || length == 2 || length == 4 || length == 8 || length == 16;
        bytes[0] = 1;
        assert_int_equal(play(&bench, &op), legal ? RONDO_BACKEND_DONE : RONDO_BACKEND_NOT_RUN);
        assert_int_equal(bytes[0], legal ? 7 : 1);
    }
    close_bench(&bench);
}

static uint8_t large_byte(uint64_t at) {
    return (uint8_t)(at * 7 + (at >> 8));
}

/* [W1] Large enough to be shared, with the ends off every boundary, and once overlapping, which must not be. */
static void large_fills_and_copies_are_as_right_as_small_ones(void **state) {
    struct bench bench;
    rondo_device_desc desc = {.workers = 3};
    const uint64_t size = (9u << 20) + 48, total = 20u << 20;
    void *page;
    (void)state;
    open_bench(&bench, &rdo_backend_cpu, &desc);
    assert_int_equal(rdo_backend_cpu.page_alloc(bench.device, RONDO_PAGE_DEVICE, total, &page), RONDO_BACKEND_DONE);
    uint8_t *bytes = page;
    for (uint64_t at = 0; at < total; at++) {
        bytes[at] = large_byte(at);
    }
    rondo_backend_op copy = {.kind = RONDO_OP_COPY, .target = {page, (10u << 20) + 5}, .source = {page, 3},
                             .size_bytes = size, .rows = 1};
    assert_int_equal(play(&bench, &copy), RONDO_BACKEND_DONE);
    uint64_t wrong = 0;
    for (uint64_t at = 0; at < size; at++) {
        wrong += bytes[(10u << 20) + 5 + at] != large_byte(3 + at);
    }
    copy.target.offset_bytes = 1000;
    assert_int_equal(play(&bench, &copy), RONDO_BACKEND_DONE);
    for (uint64_t at = 0; at < size; at++) {
        wrong += bytes[1000 + at] != large_byte(3 + at);
    }
    rondo_backend_op fill = {.kind = RONDO_OP_FILL, .target = {page, 17}, .size_bytes = size, .rows = 1,
                             .pattern = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, .pattern_bytes = 16};
    uint8_t after = bytes[17 + size];
    assert_int_equal(play(&bench, &fill), RONDO_BACKEND_DONE);
    for (uint64_t at = 0; at < size; at++) {
        wrong += bytes[17 + at] != at % 16 + 1;
    }
    assert_int_equal(wrong, 0);
    assert_int_equal(bytes[17 + size], after);
    rdo_backend_cpu.page_free(bench.device, RONDO_PAGE_DEVICE, page, total);
    close_bench(&bench);
}

/* y = a * x + y, items independent. */
static void axpy(const rondo_native_call *call) {
    uint32_t a = *(const uint32_t *)call->args[0];
    const uint32_t *x = call->args[1];
    uint32_t *y = call->args[2];
    for (uint64_t item = call->first; item < call->last; item++) {
        y[item] += a * x[item];
    }
}

/* [O7] */
static void a_launch_hands_over_values_and_spans_in_the_order_of_the_parameters(void **state) {
    struct bench bench;
    uint32_t words[512], factor = 3;
    (void)state;
    open_bench(&bench, &rdo_backend_cpu, NULL);
    for (uint32_t index = 0; index < 512; index++) {
        words[index] = index;
    }
    write_page(&bench, words, sizeof words);
    void *kernel = load(&bench, (rondo_kernel_desc){.native = axpy});
    rondo_place places[3] = {{NULL, 0}, place_at(&bench, 64), place_at(&bench, 1024)};
    const void *values[3] = {&factor, NULL, NULL};
    rondo_backend_op op = {.kind = RONDO_OP_LAUNCH, .kernel = kernel, .grid = {20, 3, 2}, .arg_count = 3,
                           .places = places, .values = values};
    assert_int_equal(play(&bench, &op), RONDO_BACKEND_DONE);
    read_page(&bench, words, sizeof words);
    for (uint32_t index = 0; index < 256; index++) {
        assert_int_equal(words[256 + index], 256 + index + (index < 120 ? 3 * (16 + index) : 0));
    }
    rdo_backend_cpu.kernel_unload(bench.device, kernel);
    close_bench(&bench);
}

/* [O7] */
static void a_launch_by_address_does_the_same(void **state) {
    struct bench bench;
    rondo_backend_outcome outcome = {0};
    uint32_t words[256] = {0}, factor = 3;
    rondo_grid grid = {20, 3, 2};
    (void)state;
    for (uint32_t index = 0; index < 120; index++) {
        words[index] = index;
    }
    open_bench(&bench, &rdo_backend_cpu, NULL);
    void *kernel = load(&bench, (rondo_kernel_desc){.native = axpy});
    void *const args[3] = {&factor, words, words + 128};
    assert_int_equal(rdo_backend_cpu.launch(bench.queue, kernel, &grid, args, &outcome), RONDO_BACKEND_DONE);
    for (uint32_t index = 0; index < 128; index++) {
        assert_int_equal(words[128 + index], index < 120 ? 3 * index : 0);
    }
    rdo_backend_cpu.kernel_unload(bench.device, kernel);
    close_bench(&bench);
}

/* Counts each unit that it is asked to run. */
static void count_units(const rondo_native_call *call) {
    uint32_t *counts = call->args[0];
    for (uint64_t unit = call->first; unit < call->last; unit++) {
        counts[unit]++;
    }
}

static void expect_units(struct bench *bench, void *kernel, rondo_grid grid, uint64_t units) {
    uint32_t *counts = rdo_backend_cpu.host_address(bench->device, bench->page);
    rondo_place place = place_at(bench, 0);
    const void *value = NULL;
    rondo_backend_op op = {.kind = RONDO_OP_LAUNCH, .kernel = kernel, .grid = grid, .arg_count = 1, .places = &place,
                           .values = &value};
    memset(counts, 0, bench->page_bytes);
    assert_int_equal(play(bench, &op), RONDO_BACKEND_DONE);
    for (uint64_t unit = 0; unit < bench->page_bytes / sizeof *counts; unit++) {
        assert_int_equal(counts[unit], unit < units ? 1 : 0);
    }
}

/* [O7] */
static void every_group_runs_once_edge_groups_included(void **state) {
    struct bench bench;
    (void)state;
    open_bench(&bench, &rdo_backend_cpu, NULL);
    void *kernel = load(&bench, (rondo_kernel_desc){.native = count_units, .group = {8, 4, 2}});
    expect_units(&bench, kernel, rondo_grid_3d(1, 1, 1), 1);
    expect_units(&bench, kernel, rondo_grid_3d(8, 4, 2), 1);
    expect_units(&bench, kernel, rondo_grid_3d(9, 4, 2), 2);
    expect_units(&bench, kernel, rondo_grid_3d(17, 9, 3), 18);
    expect_units(&bench, kernel, rondo_grid_3d(1024, 512, 1), 16384);
    rdo_backend_cpu.kernel_unload(bench.device, kernel);
    close_bench(&bench);
}

/* [O7] */
static void every_item_of_a_large_grid_runs_once_however_it_is_shared(void **state) {
    struct bench bench;
    rondo_device_desc desc = {.workers = 4};
    (void)state;
    seed_random();
    open_bench(&bench, &rdo_backend_cpu, &desc);
    void *kernel = load(&bench, (rondo_kernel_desc){.native = count_units});
    for (int round = 0; round < 20; round++) {
        uint64_t items = 1 + random_below(bench.page_bytes / sizeof(uint32_t));
        expect_units(&bench, kernel, rondo_grid_1d(items), items);
    }
    rdo_backend_cpu.kernel_unload(bench.device, kernel);
    close_bench(&bench);
}

/* Writes down how many units it was asked for, and runs none: grids too large to walk. */
static void note_range(const rondo_native_call *call) {
    __atomic_fetch_add((uint64_t *)call->args[0], call->last - call->first, __ATOMIC_RELAXED);
}

/* [M9] */
static void the_largest_grids_do_not_overflow(void **state) {
    struct bench bench;
    rondo_grid grids[3] = {{UINT64_MAX, 1, 1}, {1, UINT64_MAX, 1}, {UINT64_C(1) << 31, UINT64_C(1) << 31, 2}};
    uint64_t expected[3] = {(UINT64_C(1) << 58), (UINT64_C(1) << 62), (UINT64_C(1) << 25) * (UINT64_C(1) << 29)};
    (void)state;
    open_bench(&bench, &rdo_backend_cpu, NULL);
    void *kernel = load(&bench, (rondo_kernel_desc){.native = note_range, .group = {64, 4, 4}});
    for (int index = 0; index < 3; index++) {
        uint64_t *total = rdo_backend_cpu.host_address(bench.device, bench.page);
        rondo_place place = place_at(&bench, 0);
        const void *value = NULL;
        rondo_backend_op op = {.kind = RONDO_OP_LAUNCH, .kernel = kernel, .grid = grids[index], .arg_count = 1,
                               .places = &place, .values = &value};
        *total = 0;
        assert_int_equal(play(&bench, &op), RONDO_BACKEND_DONE);
        assert_true(*total == expected[index]);
    }
    rdo_backend_cpu.kernel_unload(bench.device, kernel);
    close_bench(&bench);
}

static void fail_at_item(const rondo_native_call *call) {
    uint64_t bad = *(const uint64_t *)call->args[0];
    if (call->first <= bad && bad < call->last) {
        rondo_native_fail(call, 77);
    }
}

/* [W7] */
static void a_failure_of_any_item_fails_the_launch_and_not_the_next_one(void **state) {
    struct bench bench;
    rondo_device_desc desc = {.workers = 3};
    uint64_t bad;
    rondo_place place = {NULL, 0};
    const void *value = &bad;
    (void)state;
    open_bench(&bench, &rdo_backend_cpu, &desc);
    void *kernel = load(&bench, (rondo_kernel_desc){.native = fail_at_item, .can_fail = true});
    rondo_backend_op op = {.kind = RONDO_OP_LAUNCH, .kernel = kernel, .grid = {100000, 1, 1}, .arg_count = 1,
                           .places = &place, .values = &value};
    for (bad = 0; bad < 100000; bad += 33333) {
        assert_int_equal(play(&bench, &op), RONDO_BACKEND_FAILED);
        assert_int_equal(bench.outcome.reason, 77);
        assert_string_equal(bench.outcome.message, "");
    }
    bad = UINT64_MAX;
    assert_int_equal(play(&bench, &op), RONDO_BACKEND_DONE);
    rdo_backend_cpu.kernel_unload(bench.device, kernel);
    close_bench(&bench);
}

/* [P4] */
static void a_kernel_without_native_code_is_refused_by_name(void **state) {
    struct bench bench;
    rondo_kernel_desc desc = {.name = "juggle", .source = "text"};
    void *kernel = &bench;
    (void)state;
    open_bench(&bench, &rdo_backend_cpu, NULL);
    assert_int_equal(rdo_backend_cpu.kernel_load(bench.device, &desc, &kernel, &bench.outcome),
                     RONDO_BACKEND_NO_SUPPORT);
    assert_null(kernel);
    assert_non_null(strstr(bench.outcome.message, "juggle"));
    close_bench(&bench);
}

struct rival {
    struct bench *bench;
    void *kernel;
    uint64_t offset_bytes;
    uint32_t rounds;
    rondo_backend_result worst;
};

static void *run_rival(void *argument) {
    struct rival *rival = argument;
    rondo_place place = place_at(rival->bench, rival->offset_bytes);
    const void *value = NULL;
    rondo_backend_outcome outcome;
    void *queue;
    if (rdo_backend_cpu.queue_open(rival->bench->device, 1, &queue) != RONDO_BACKEND_DONE) {
        rival->worst = RONDO_BACKEND_NO_MEMORY;
        return NULL;
    }
    for (uint32_t round = 0; round < rival->rounds; round++) {
        rondo_backend_op op = {.kind = RONDO_OP_LAUNCH, .kernel = rival->kernel, .grid = {120000, 1, 1},
                               .arg_count = 1, .places = &place, .values = &value};
        rondo_backend_result result = rdo_backend_cpu.submit(queue, &op, &outcome);
        rival->worst = result > rival->worst ? result : rival->worst;
    }
    rdo_backend_cpu.queue_close(queue);
    return NULL;
}

/* [W3] */
static void two_queues_that_compete_for_the_crew_both_get_their_work_done(void **state) {
    struct bench bench;
    rondo_device_desc desc = {.workers = 4};
    struct rival rivals[2];
    pthread_t threads[2];
    (void)state;
    open_bench(&bench, &rdo_backend_cpu, &desc);
    void *kernel = load(&bench, (rondo_kernel_desc){.native = count_units});
    uint32_t *counts = rdo_backend_cpu.host_address(bench.device, bench.page);
    memset(counts, 0, bench.page_bytes);
    for (uint32_t index = 0; index < 2; index++) {
        rivals[index] = (struct rival){&bench, kernel, UINT64_C(524288) * index, 300, RONDO_BACKEND_DONE};
        assert_int_equal(pthread_create(&threads[index], NULL, run_rival, &rivals[index]), 0);
    }
    for (uint32_t index = 0; index < 2; index++) {
        pthread_join(threads[index], NULL);
        assert_int_equal(rivals[index].worst, RONDO_BACKEND_DONE);
        for (uint32_t item = 0; item < 120000; item++) {
            assert_int_equal(counts[index * 131072u + item], 300);
        }
    }
    rdo_backend_cpu.kernel_unload(bench.device, kernel);
    close_bench(&bench);
}

/* [O1] */
static void there_is_one_cpu_device_and_it_describes_itself(void **state) {
    rondo_device_entry entry;
    rondo_device_info info;
    rondo_device_desc desc = {.workers = 5, .max_queues = 9};
    struct bench bench;
    (void)state;
    assert_true(rdo_backend_cpu.probe(0, &entry));
    assert_string_equal(entry.name, "cpu");
    assert_false(rdo_backend_cpu.probe(1, &entry));
    open_bench(&bench, &rdo_backend_cpu, &desc);
    rdo_backend_cpu.info(bench.device, &info);
    assert_string_equal(info.backend, "cpu");
    assert_string_not_equal(info.name, "");
    assert_int_equal(info.workers, 5);
    assert_int_equal(info.max_queues, 9);
    assert_true(info.kernels && info.native_graphs);
    assert_true(info.alignment_bytes >= 64);
    close_bench(&bench);
    void *device = &bench;
    assert_int_equal(rdo_backend_cpu.open(1, NULL, &device, &bench.outcome), RONDO_BACKEND_NO_SUPPORT);
    assert_null(device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        BYTE_OP_TESTS,
        cmocka_unit_test(large_fills_and_copies_are_as_right_as_small_ones),
        cmocka_unit_test(a_fill_pattern_of_another_length_does_not_run),
        cmocka_unit_test(a_launch_hands_over_values_and_spans_in_the_order_of_the_parameters),
        cmocka_unit_test(a_launch_by_address_does_the_same),
        cmocka_unit_test(every_group_runs_once_edge_groups_included),
        cmocka_unit_test(every_item_of_a_large_grid_runs_once_however_it_is_shared),
        cmocka_unit_test(the_largest_grids_do_not_overflow),
        cmocka_unit_test(a_failure_of_any_item_fails_the_launch_and_not_the_next_one),
        cmocka_unit_test(a_kernel_without_native_code_is_refused_by_name),
        cmocka_unit_test(two_queues_that_compete_for_the_crew_both_get_their_work_done),
        cmocka_unit_test(there_is_one_cpu_device_and_it_describes_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
