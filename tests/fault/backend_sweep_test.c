/* Every call of every backend function that can fail does so once alone, and once with all that come after it, in
 * each way that fits [E3] [R1] [W7]. The backend is the cpu's, with a door before each function. */
#include "doors.h"

/* ---- the sweep ---- */

/* How each function can fail; the list ends with DONE. */
static const rondo_backend_result answers[DOORS][4] = {
    [DOOR_OPEN] = {RONDO_BACKEND_NO_MEMORY, RONDO_BACKEND_NOT_RUN, RONDO_BACKEND_DEVICE_LOST},
    [DOOR_PAGE_ALLOC] = {RONDO_BACKEND_NO_MEMORY, RONDO_BACKEND_DEVICE_FULL, RONDO_BACKEND_DEVICE_LOST},
    [DOOR_PAGE_IMPORT] = {RONDO_BACKEND_NO_MEMORY, RONDO_BACKEND_NOT_RUN, RONDO_BACKEND_DEVICE_LOST},
    [DOOR_KERNEL_LOAD] = {RONDO_BACKEND_NO_MEMORY, RONDO_BACKEND_NOT_RUN, RONDO_BACKEND_DEVICE_LOST},
    [DOOR_QUEUE_OPEN] = {RONDO_BACKEND_NO_MEMORY, RONDO_BACKEND_NOT_RUN, RONDO_BACKEND_DEVICE_LOST},
    [DOOR_SUBMIT] = {RONDO_BACKEND_NO_MEMORY, RONDO_BACKEND_NOT_RUN, RONDO_BACKEND_DEVICE_LOST},
    [DOOR_GRAPH_BUILD] = {RONDO_BACKEND_NO_MEMORY, RONDO_BACKEND_NOT_RUN, RONDO_BACKEND_DEVICE_LOST},
    [DOOR_GRAPH_SUBMIT] = {RONDO_BACKEND_NO_MEMORY, RONDO_BACKEND_NOT_RUN, RONDO_BACKEND_DEVICE_LOST},
    [DOOR_GRAPH_HALF] = {RONDO_BACKEND_NO_MEMORY, RONDO_BACKEND_NOT_RUN, RONDO_BACKEND_DEVICE_LOST},
};

static uint64_t runs;

static void sweep(const scenario *what, const char *device, bool lasting) {
    uint64_t failures, strikes = 1;
    for (uint64_t at = 1; strikes != 0; at++) {
        strikes = sweep_once(what, device, at, lasting, &failures);
        /* A full device may be relieved, and moving memory is given up where it cannot be done; else someone is
         * told. */
        bool absorbed = what->quiet_failures || (shut == DOOR_PAGE_ALLOC && !lasting);
        SCENE_CHECK(strikes == 0 || failures != 0 || absorbed, "door %d answered %d and nobody was told", (int)shut,
                    (int)answer);
        runs++;
    }
}

static void sweep_doors(const scenario *what, const char *device) {
    for (int which = 0; which < DOORS; which++) {
        for (int i = 0; answers[which][i] != RONDO_BACKEND_DONE; i++) {
            shut = (door)which;
            answer = answers[which][i];
            /* Pages may be asked for twice, and staging of a warm-up is only a preparation [C6]. */
            strikes_must_show = !what->quiet_failures && which != DOOR_PAGE_ALLOC;
            sweep(what, device, false);
            sweep(what, device, true);
        }
    }
    strikes_must_show = false;
}

/* [E3] [R1] [R4] [W7] [M4] */
static void the_backend_fails_with_graphs(void **state) {
    sweep_doors(*state, "doors");
}

/* [E3] [R1] [R4] [W7] [M4] */
static void the_backend_fails_without_graphs(void **state) {
    sweep_doors(*state, "doors-no-graphs");
}

static void nothing_fails_in_peace(void **state) {
    (void)state;
    sweep_warm_up("doors");
    sweep_warm_up("doors-no-graphs");
}

int main(void) {
    struct CMUnitTest tests[2 * 64 + 1];
    char names[2 * 64][96];
    size_t count = 0;
    make_backends();
    sweep_hook_cpu(false);
    tests[count++] = (struct CMUnitTest){"nothing_fails_in_peace", nothing_fails_in_peace, NULL, NULL, NULL};
    assert_true(scenario_count <= 64);
    for (size_t i = 0; i < scenario_count; i++) {
        for (int plain = 0; plain < 2; plain++) {
            char *name = names[count - 1];
            (void)snprintf(name, sizeof names[0], "%s_survives_a_failing_backend_%s", scenarios[i].name,
                           plain ? "without_graphs" : "with_graphs");
            void *what = (void *)(uintptr_t)&scenarios[i];
            tests[count++] = (struct CMUnitTest){
                name, plain ? the_backend_fails_without_graphs : the_backend_fails_with_graphs, NULL, NULL, what};
        }
    }
    int failed = _cmocka_run_group_tests("backend sweep", tests, count, NULL, NULL);
    print_message("%llu runs\n", (unsigned long long)runs);
    return failed;
}
