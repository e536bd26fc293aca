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

int main(void) {
    struct CMUnitTest tests[2 * 64 + 1];
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
            tests[count++] = (struct CMUnitTest){
                name, lasting ? all_allocations_from_any_one_on_can_fail : any_one_allocation_can_fail, NULL, NULL, what};
        }
    }
    int failed = _cmocka_run_group_tests("allocation sweep", tests, count, NULL, NULL);
    print_message("%llu runs\n", (unsigned long long)runs);
    return failed;
}
