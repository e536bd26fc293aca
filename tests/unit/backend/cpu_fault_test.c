/* Every allocation of the backend is refused in turn, once for a moment and once for good. */
#include "backend/cpu/cpu.h"
#include "backend_tools.h"
#include "cpu_hooks.h"

static int asked;     /* allocations so far */
static int refused;   /* of those */
static int first_bad; /* the first allocation that is refused, by number */
static int last_bad;

static void *counting_alloc(size_t align_bytes, size_t size_bytes) {
    int number = asked++;
    if (number >= first_bad && number <= last_bad) {
        refused++;
        return NULL;
    }
    return granting_alloc(align_bytes, size_bytes);
}

static void nothing(const rondo_native_call *call) {
    (void)call;
}

struct world {
    void *device, *queue, *kernel, *page, *graph;
    rondo_backend_result expected; /* of the step that failed */
};

static rondo_backend_result build_graph(struct world *world) {
    rondo_place place = {world->page, 0};
    const void *value = NULL;
    rondo_backend_op ops[3] = {
        {.kind = RONDO_OP_LAUNCH, .kernel = world->kernel, .grid = {1, 1, 1}, .arg_count = 1, .places = &place,
         .values = &value},
        {.kind = RONDO_OP_FILL, .target = place, .size_bytes = 64, .rows = 1, .pattern_bytes = 1},
        {.kind = RONDO_OP_LAUNCH, .kernel = world->kernel, .grid = {100, 1, 1}, .arg_count = 1, .places = &place,
         .values = &value},
    };
    const rondo_backend_nodes nodes = nodes_of(ops, 3);
    return rdo_backend_cpu.graph_build(world->device, &nodes, one_after_another(), &world->graph);
}

/* Each step notes the result that it must give if it fails; all that was made is in `world`. */
static rondo_backend_result make_world(struct world *world) {
    const rondo_backend *cpu = &rdo_backend_cpu;
    rondo_kernel_desc desc = {.name = "nothing", .native = nothing};
    rondo_device_desc device_desc = {.workers = 2};
    rondo_backend_outcome outcome = {.message = ""};
    memset(world, 0, sizeof *world);
    world->expected = RONDO_BACKEND_NO_MEMORY;
    rondo_backend_result result = cpu->open(0, &device_desc, &world->device, &outcome);
    if (result == RONDO_BACKEND_DONE) {
        result = cpu->queue_open(world->device, 0, &world->queue);
    }
    if (result == RONDO_BACKEND_DONE) {
        result = cpu->kernel_load(world->device, &desc, &world->kernel, &outcome);
    }
    if (result == RONDO_BACKEND_DONE) {
        world->expected = RONDO_BACKEND_DEVICE_FULL;
        result = cpu->page_alloc(world->device, RONDO_PAGE_DEVICE, 4096, &world->page);
    }
    if (result == RONDO_BACKEND_DONE) {
        world->expected = RONDO_BACKEND_NO_MEMORY;
        result = build_graph(world);
    }
    if (result == RONDO_BACKEND_DONE) {
        result = cpu->graph_submit(world->queue, world->graph, 0, 3, &outcome);
    }
    return result;
}

static void end_world(struct world *world) {
    const rondo_backend *cpu = &rdo_backend_cpu;
    if (world->graph != NULL) {
        cpu->graph_free(world->device, world->graph);
    }
    if (world->page != NULL) {
        cpu->page_free(world->device, RONDO_PAGE_DEVICE, world->page, 4096);
    }
    if (world->kernel != NULL) {
        cpu->kernel_unload(world->device, world->kernel);
    }
    if (world->queue != NULL) {
        cpu->queue_close(world->queue);
    }
    if (world->device != NULL) {
        cpu->close(world->device);
    }
}

static rondo_backend_result run_world(int first, int last, struct world *world) {
    asked = refused = alive = 0;
    first_bad = first;
    last_bad = last;
    take_hooks(counting_alloc);
    rondo_backend_result result = make_world(world);
    end_world(world);
    rdo_cpu_hooks = real;
    return result;
}

static void sweep(bool lasting) {
    struct world world;
    int total = 0;
    assert_int_equal(run_world(INT32_MAX, INT32_MAX, &world), RONDO_BACKEND_DONE);
    assert_int_equal(alive, 0);
    total = asked;
    assert_true(total >= 7); /* device, crew, queue, kernel, page, and a graph's two blocks */
    for (int index = 0; index < total; index++) {
        rondo_backend_result result = run_world(index, lasting ? INT32_MAX : index, &world);
        assert_true(refused > 0);
        assert_int_equal(result, world.expected);
        assert_int_equal(alive, 0);
    }
}

/* [E3] */
static void an_allocation_refused_once_is_reported_and_leaks_nothing(void **state) {
    (void)state;
    sweep(false);
}

/* [E3] */
static void an_allocation_refused_for_good_is_reported_and_leaks_nothing(void **state) {
    (void)state;
    sweep(true);
}

/* [E3] */
static void nothing_is_left_behind_in_an_out_parameter(void **state) {
    struct world world;
    (void)state;
    for (int index = 0; index < 7; index++) {
        run_world(index, index, &world);
        void *made[5] = {world.device, world.queue, world.kernel, world.page, world.graph};
        int missing = index < 2 ? 0 : index < 5 ? index - 1 : 4;
        for (int at = 0; at < 5; at++) {
            assert_int_equal(made[at] != NULL, at < missing);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_allocation_refused_once_is_reported_and_leaks_nothing),
        cmocka_unit_test(an_allocation_refused_for_good_is_reported_and_leaks_nothing),
        cmocka_unit_test(nothing_is_left_behind_in_an_out_parameter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
