/* Every call of every backend function that can fail does so once alone, and once with all that come after it, in
 * each way that fits [E3] [R1] [W7]. The backend is the cpu's, with a door before each function. */
#include "scene.h"

#include <rondo/backend.h>

#include "backend/cpu/cpu.h"

typedef enum door {
    DOOR_OPEN,
    DOOR_PAGE_ALLOC,
    DOOR_PAGE_IMPORT,
    DOOR_KERNEL_LOAD,
    DOOR_QUEUE_OPEN,
    DOOR_SUBMIT,
    DOOR_GRAPH_BUILD,
    DOOR_GRAPH_SUBMIT,
    DOOR_GRAPH_HALF, /* graph_submit gives up half-way */
    DOORS
} door;

static door shut;
static rondo_backend_result answer;

static bool is_shut(door which) {
    return shut == which && strike_now();
}

static rondo_backend_result refuse(rondo_backend_outcome *outcome, uint64_t node) {
    outcome->node = node;
    (void)snprintf(outcome->message, sizeof outcome->message, "made to fail");
    return answer;
}

static rondo_backend_result open_door(uint32_t index, const rondo_device_desc *desc, void **out_device,
                                      rondo_backend_outcome *outcome) {
    if (is_shut(DOOR_OPEN)) return refuse(outcome, 0);
    return rdo_backend_cpu.open(index, desc, out_device, outcome);
}

static rondo_backend_result page_alloc(void *device, rondo_page_kind kind, uint64_t size_bytes, void **out_page) {
    if (is_shut(DOOR_PAGE_ALLOC)) return answer;
    return rdo_backend_cpu.page_alloc(device, kind, size_bytes, out_page);
}

static rondo_backend_result page_import(void *device, void *data, uint64_t size_bytes, void **out_page) {
    if (is_shut(DOOR_PAGE_IMPORT)) return answer;
    return rdo_backend_cpu.page_import(device, data, size_bytes, out_page);
}

static rondo_backend_result kernel_load(void *device, const rondo_kernel_desc *desc, void **out_kernel,
                                        rondo_backend_outcome *outcome) {
    if (is_shut(DOOR_KERNEL_LOAD)) return refuse(outcome, 0);
    return rdo_backend_cpu.kernel_load(device, desc, out_kernel, outcome);
}

static rondo_backend_result queue_open(void *device, uint32_t index, void **out_queue) {
    if (is_shut(DOOR_QUEUE_OPEN)) return answer;
    return rdo_backend_cpu.queue_open(device, index, out_queue);
}

static rondo_backend_result submit(void *queue, const rondo_backend_op *op, rondo_backend_outcome *outcome) {
    if (is_shut(DOOR_SUBMIT)) return refuse(outcome, 0);
    return rdo_backend_cpu.submit(queue, op, outcome);
}

static rondo_backend_result graph_build(void *device, const rondo_backend_op *ops, uint64_t count, void **out_graph) {
    if (is_shut(DOOR_GRAPH_BUILD)) return answer;
    return rdo_backend_cpu.graph_build(device, ops, count, out_graph);
}

static rondo_backend_result graph_submit(void *queue, void *graph, uint64_t first, uint64_t last,
                                         rondo_backend_outcome *outcome) {
    if (is_shut(DOOR_GRAPH_SUBMIT)) return refuse(outcome, first);
    if (!is_shut(DOOR_GRAPH_HALF)) return rdo_backend_cpu.graph_submit(queue, graph, first, last, outcome);
    uint64_t half = first + (last - first) / 2;
    if (half == first) return refuse(outcome, first);
    rondo_backend_result result = rdo_backend_cpu.graph_submit(queue, graph, first, half, outcome);
    return result != RONDO_BACKEND_DONE ? result : refuse(outcome, half);
}

static rondo_backend with_graphs, without_graphs;

static void make_backends(void) {
    with_graphs = rdo_backend_cpu;
    with_graphs.name = "doors";
    with_graphs.open = open_door;
    with_graphs.page_alloc = page_alloc;
    with_graphs.page_import = page_import;
    with_graphs.kernel_load = kernel_load;
    with_graphs.queue_open = queue_open;
    with_graphs.submit = submit;
    with_graphs.graph_build = graph_build;
    with_graphs.graph_submit = graph_submit;
    without_graphs = with_graphs;
    without_graphs.name = "doors-no-graphs";
    without_graphs.graph_build = NULL;
    without_graphs.graph_submit = NULL;
    without_graphs.graph_set_value = NULL;
    without_graphs.graph_free = NULL;
    assert_int_equal(rondo_backend_register(&with_graphs), RONDO_OK);
    assert_int_equal(rondo_backend_register(&without_graphs), RONDO_OK);
}

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
