/* Every allocation of every scenario fails once alone, and once with all that come after it [E3]. */
#include "scene.h"

static uint64_t runs;

static void sweep(const scenario *what, bool lasting) {
    uint64_t failures, strikes = 1;
    for (uint64_t at = 1; strikes != 0; at++) {
        strikes = sweep_once(what, "cpu", at, lasting, &failures);
        runs++;
    }
}

/* [E3] [T8] [M6] */
static void any_one_allocation_can_fail(void **state) {
    sweep(*state, false);
}

/* [E3] [T8] [M6] */
static void all_allocations_from_any_one_on_can_fail(void **state) {
    sweep(*state, true);
}

static void nothing_fails_in_peace(void **state) {
    (void)state;
    sweep_warm_up("cpu");
}

enum { MORE_THAN_A_CHUNK = 1500 };

/* [P2] [C8] Records come in chunks, so this allocation is rare, and no scenario meets it. */
static void a_window_is_doomed_when_a_buffer_gets_no_record(void **state) {
    static rondo_buffer buffers[MORE_THAN_A_CHUNK];
    scene s;
    size_t count = 0;
    (void)state;
    strike_at(0, false);
    scene_open(&s, "cpu", NULL);
    scene_cell *x = scene_buffer(&s, s.a, 8, RONDO_USAGE_GENERAL);
    (void)scene_write(&s, s.a, x, 1);
    assert_true(scene_prepare(&s, s.a) && scene_begin(&s, s.a));
    assert_true(scene_scale(&s, s.a, x, 2));
    strike_at(1, true);
    rondo_status status = RONDO_OK;
    while (status == RONDO_OK && count < MORE_THAN_A_CHUNK) {
        status = rondo_buffer_create(s.a, 0, RONDO_USAGE_GENERAL, &buffers[count]);
        count += status == RONDO_OK;
    }
    strike_at(0, false);
    assert_int_equal(rondo_status_code(status), RONDO_NO_HOST_MEMORY);
    rondo_graph *graph = NULL;
    assert_int_equal(rondo_status_code(rondo_capture_end(s.a, 0, &graph)), RONDO_DOOMED);
    assert_null(graph);
    scene_spoil_window(&s);
    for (size_t i = 0; i < count; i++) rondo_buffer_release(buffers[i]);
    scene_verify(&s);
    scene_release(&s);
    scene_close(&s);
}

int main(void) {
    struct CMUnitTest tests[2 * 64 + 2];
    char names[2 * 64][96];
    size_t count = 0;
    sweep_hook_cpu(true);
    sweep_hook_alloc(true);
    tests[count++] = (struct CMUnitTest){"nothing_fails_in_peace", nothing_fails_in_peace, NULL, NULL, NULL};
    assert_true(scenario_count <= 64);
    for (size_t i = 0; i < scenario_count; i++) {
        for (int lasting = 0; lasting < 2; lasting++) {
            char *name = names[count - 1];
            (void)snprintf(name, sizeof names[0], "%s_survives_%s", scenarios[i].name,
                           lasting ? "running_out_of_memory" : "any_one_allocation_that_fails");
            void *what = (void *)(uintptr_t)&scenarios[i];
            CMUnitTestFunction run = lasting ? all_allocations_from_any_one_on_can_fail : any_one_allocation_can_fail;
            tests[count++] = (struct CMUnitTest){name, run, NULL, NULL, what};
        }
    }
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(a_window_is_doomed_when_a_buffer_gets_no_record);
    int failed = _cmocka_run_group_tests("allocation sweep", tests, count, NULL, NULL);
    print_message("%llu runs\n", (unsigned long long)runs);
    return failed;
}
