/* Command buffers on the stand-in for the OpenCL library: taken where they are right and faster, done without where
 * not, and always up to date. */
#include "opencl_tools.h"

/* Four launches in a row, word 0 -> 32 -> 64 -> 96 -> 128, each adding its k. */
enum { LAUNCHES = 4, END = 128 };

struct scene {
    struct bench bench;
    struct recording r;
    void *add, *graph;
};

static void open_scene(struct scene *scene, uint32_t svm, enum stub_recording recording) {
    opencl_stub_install(svm);
    opencl_stub.recording = recording;
    memset(scene, 0, sizeof *scene);
    open_bench(&scene->bench, &rdo_backend_opencl, NULL);
    write_numbers(&scene->bench);
    scene->add = load(&scene->bench, add_desc());
}

static void build(struct scene *scene, uint64_t count) {
    const rondo_backend_nodes nodes = nodes_of(scene->r.ops, count);
    assert_int_equal(rdo_backend_opencl.graph_build(scene->bench.device, &nodes, one_after_another(), &scene->graph),
                     RONDO_BACKEND_DONE);
    opencl_stub.recorded = opencl_stub.enqueued_recordings = opencl_stub.enqueued = opencl_stub.waits = 0;
}

static void build_chain(struct scene *scene) {
    for (int at = 0; at < LAUNCHES; at++) {
        put_add(&scene->bench, &scene->r, at, scene->add, (uint64_t)at * 128, (uint64_t)at * 128 + 128, 1);
    }
    build(scene, LAUNCHES);
}

static void close_scene(struct scene *scene) {
    rdo_backend_opencl.graph_free(scene->bench.device, scene->graph);
    rdo_backend_opencl.kernel_unload(scene->bench.device, scene->add);
    close_clean(&scene->bench);
}

static void expect_end(struct scene *scene, int32_t expected) {
    assert_int_equal(replay(&scene->bench, scene->graph, LAUNCHES), RONDO_BACKEND_DONE);
    expect_number(&scene->bench, END, expected);
}

static void expect_way(struct scene *scene, const char *words) {
    rondo_device_info info;
    rdo_backend_opencl.info(scene->bench.device, &info);
    if (strstr(info.graphs, words) == NULL) fail_msg("'%s' is not in: %s", words, info.graphs);
}

/* ---- which way is taken ---- */

/* [R4] With one wait for all of it, as without command buffers. */
static void launches_in_a_row_are_recorded_where_that_is_faster(void **state) {
    static const uint32_t kinds[] = {STUB_FINE, STUB_COARSE, STUB_BUFFERS};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct scene scene;
        open_scene(&scene, kinds[i], STUB_RECORDS);
        expect_way(&scene, "when the first graph is built");
        build_chain(&scene);
        expect_way(&scene, "native: command buffers, measured");
        assert_int_equal(replay(&scene.bench, scene.graph, LAUNCHES), RONDO_BACKEND_DONE);
        assert_int_equal(opencl_stub.enqueued_recordings, 1);
        assert_int_equal(opencl_stub.enqueued, 0);
        assert_int_equal(opencl_stub.waits, 1);
        expect_number(&scene.bench, END, LAUNCHES);
        close_scene(&scene);
    }
}

static void launches_are_enqueued_where_recording_is_not_clearly_faster(void **state) {
    static const uint64_t times_ns[] = {64 * 1000, 128 * 1000, 59 * 1000}; /* of a probe of 64 launches */
    (void)state;
    for (size_t i = 0; i < sizeof times_ns / sizeof times_ns[0]; i++) {
        struct scene scene;
        open_scene(&scene, STUB_FINE, STUB_RECORDS);
        opencl_stub.recording_ns = times_ns[i];
        build_chain(&scene);
        expect_way(&scene, "enqueued one by one, measured");
        expect_end(&scene, LAUNCHES);
        assert_int_equal(opencl_stub.enqueued, LAUNCHES);
        close_scene(&scene);
    }
}

/* [R4] */
static void a_driver_that_does_not_record_or_does_it_wrongly_is_not_asked_to(void **state) {
    static const struct {
        enum stub_recording recording;
        const char *words;
    } drivers[] = {
        {STUB_RECORDS_NOTHING, "no command buffers"},
        {STUB_LACKS_A_CALL, "no command buffers"},
        {STUB_RECORDS_ONE_REPLAY, "fail a test"},
        {STUB_RECORDS_FOR_EVER, "fail a test"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof drivers / sizeof drivers[0]; i++) {
        struct scene scene;
        open_scene(&scene, STUB_FINE, drivers[i].recording);
        build_chain(&scene);
        expect_way(&scene, drivers[i].words);
        expect_end(&scene, LAUNCHES);
        expect_end(&scene, LAUNCHES);
        assert_int_equal(opencl_stub.enqueued_recordings, 0);
        close_scene(&scene);
    }
}

static void a_device_is_measured_once_in_a_process(void **state) {
    struct scene scene;
    (void)state;
    open_scene(&scene, STUB_FINE, STUB_RECORDS);
    build_chain(&scene);
    close_scene(&scene);
    memset(&scene, 0, sizeof scene);
    open_bench(&scene.bench, &rdo_backend_opencl, NULL);
    scene.add = load(&scene.bench, add_desc());
    uint64_t now_ns = opencl_stub.now_ns;
    build_chain(&scene);
    expect_way(&scene, "native: command buffers, measured");
    assert_int_equal(opencl_stub.now_ns, now_ns);
    close_scene(&scene);
}

static void the_user_may_decide(void **state) {
    struct scene scene;
    rondo_backend_outcome outcome;
    void *device = &scene;
    (void)state;
    assert_int_equal(setenv("RONDO_OPENCL_GRAPHS", "command-buffer", 1), 0);
    open_scene(&scene, STUB_FINE, STUB_RECORDS);
    opencl_stub.recording_ns = UINT64_C(1) << 30;
    expect_way(&scene, "if they pass a test");
    build_chain(&scene);
    expect_way(&scene, "native: command buffers, as RONDO_OPENCL_GRAPHS says");
    close_scene(&scene);
    assert_int_equal(setenv("RONDO_OPENCL_GRAPHS", "enqueue", 1), 0);
    open_scene(&scene, STUB_FINE, STUB_RECORDS);
    expect_way(&scene, "enqueued one by one, as RONDO_OPENCL_GRAPHS says");
    build_chain(&scene);
    expect_end(&scene, LAUNCHES);
    assert_int_equal(opencl_stub.enqueued_recordings, 0);
    close_scene(&scene);
    assert_int_equal(setenv("RONDO_OPENCL_GRAPHS", "perhaps", 1), 0);
    assert_int_equal(rdo_backend_opencl.open(0, NULL, &device, &outcome), RONDO_BACKEND_NOT_RUN);
    assert_non_null(strstr(outcome.message, "RONDO_OPENCL_GRAPHS"));
    assert_null(device);
    assert_int_equal(setenv("RONDO_OPENCL_GRAPHS", "measure", 1), 0);
    open_scene(&scene, STUB_FINE, STUB_RECORDS);
    build_chain(&scene);
    expect_way(&scene, "native: command buffers, measured");
    close_scene(&scene);
    assert_int_equal(unsetenv("RONDO_OPENCL_GRAPHS"), 0);
}

/* ---- values ---- */

static void change_values(struct scene *scene) {
    static const int32_t thousand = 1000;
    scene->r.k[0] = 10;
    expect_end(scene, 10 + 3);
    rdo_backend_opencl.graph_set_value(scene->graph, 2, 2, &thousand);
    expect_end(scene, 10 + 1000 + 2);
    expect_end(scene, 10 + 1000 + 2);
}

/* [R9] The bytes may change where they are, and they may be told to be elsewhere. */
static void new_values_reach_a_recording(void **state) {
    static const struct {
        enum stub_recording recording;
        uint64_t recorded, changed;
    } drivers[] = {
        {STUB_RECORDS, 2, 0},
        {STUB_RECORDS_LATE_ARGUMENTS, 2, 0},
        {STUB_RECORDS_AND_CHANGES, 0, 2},
        {STUB_CHANGES_OF_OLD, 2, 0},
    };
    static const uint32_t kinds[] = {STUB_FINE, STUB_COARSE, STUB_BUFFERS};
    (void)state;
    for (size_t i = 0; i < sizeof drivers / sizeof drivers[0]; i++) {
        for (size_t kind = 0; kind < 3; kind++) {
            struct scene scene;
            open_scene(&scene, kinds[kind], drivers[i].recording);
            build_chain(&scene);
            opencl_stub.changed = 0;
            change_values(&scene);
            assert_int_equal(opencl_stub.enqueued_recordings, 3);
            assert_int_equal(opencl_stub.recorded, drivers[i].recorded);
            assert_int_equal(opencl_stub.changed, drivers[i].changed);
            close_scene(&scene);
        }
    }
}

/* [R4, R9] After a failure the core asks for the rest of a graph node by node, and values may come and go meanwhile. */
static void a_part_of_a_recording_is_enqueued_and_leaves_it_up_to_date(void **state) {
    static const enum stub_recording drivers[] = {STUB_RECORDS, STUB_RECORDS_LATE_ARGUMENTS, STUB_RECORDS_AND_CHANGES};
    (void)state;
    for (size_t i = 0; i < sizeof drivers / sizeof drivers[0]; i++) {
        struct scene scene;
        open_scene(&scene, STUB_FINE, drivers[i]);
        build_chain(&scene);
        scene.r.k[2] = 500;
        assert_int_equal(replay_part(&scene.bench, scene.graph, 0, 1), RONDO_BACKEND_DONE);
        assert_int_equal(replay_part(&scene.bench, scene.graph, 1, LAUNCHES), RONDO_BACKEND_DONE);
        assert_int_equal(opencl_stub.enqueued_recordings, 0);
        expect_number(&scene.bench, END, 503);
        scene.r.k[2] = 1;
        expect_end(&scene, LAUNCHES);
        assert_int_equal(opencl_stub.enqueued_recordings, 1);
        close_scene(&scene);
    }
}

/* ---- what lies between recordings ---- */

static int count_call(void *user) {
    ++*(int *)user;
    return 0;
}

/* [R4] Copies are enqueued between two recordings, in order; a host call brings a wait. */
static void copies_and_host_calls_stand_between_recordings(void **state) {
    struct scene scene;
    struct recording *r = &scene.r;
    (void)state;
    open_scene(&scene, STUB_FINE, STUB_RECORDS);
    put_add(&scene.bench, r, 0, scene.add, 0, 128, 1);
    put_add(&scene.bench, r, 1, scene.add, 128, 256, 1);
    r->ops[2] = (rondo_backend_op){.kind = RONDO_OP_COPY, .source = place_at(&scene.bench, 256),
                                   .target = place_at(&scene.bench, 384), .size_bytes = 4, .rows = 1};
    put_add(&scene.bench, r, 3, scene.add, 384, 512, 1);
    put_add(&scene.bench, r, 4, scene.add, 512, 640, 1);
    r->ops[5] = (rondo_backend_op){.kind = RONDO_OP_HOST, .host_fn = count_call, .host_user = &r->host_calls};
    build(&scene, 6);
    assert_int_equal(replay(&scene.bench, scene.graph, 6), RONDO_BACKEND_DONE);
    assert_int_equal(opencl_stub.enqueued_recordings, 2);
    assert_int_equal(opencl_stub.waits, 1);
    assert_int_equal(r->host_calls, 1);
    expect_number(&scene.bench, 160, 4);
    close_scene(&scene);
}

/* [W7] Its status word belongs to a queue, and nothing may run on its outputs before that was read. */
static void a_launch_that_may_fail_is_not_recorded(void **state) {
    struct scene scene;
    struct recording *r = &scene.r;
    (void)state;
    open_scene(&scene, STUB_FINE, STUB_RECORDS);
    void *fail = load(&scene.bench, fail_desc());
    put_add(&scene.bench, r, 0, scene.add, 0, 128, 1);
    put_add(&scene.bench, r, 1, scene.add, 128, 256, 1);
    r->places[2][0] = place_at(&scene.bench, 256);
    r->values[2][1] = &r->reason;
    r->ops[2] = (rondo_backend_op){.kind = RONDO_OP_LAUNCH, .kernel = fail, .grid = rondo_grid_1d(1), .arg_count = 2,
                                   .places = r->places[2], .values = r->values[2]};
    put_add(&scene.bench, r, 3, scene.add, 256, 384, 1);
    build(&scene, 4);
    r->reason = 7;
    assert_int_equal(replay(&scene.bench, scene.graph, 4), RONDO_BACKEND_FAILED);
    assert_int_equal(scene.bench.outcome.node, 2);
    assert_int_equal(scene.bench.outcome.reason, 7);
    assert_int_equal(opencl_stub.enqueued_recordings, 1);
    r->reason = 0;
    assert_int_equal(replay(&scene.bench, scene.graph, 4), RONDO_BACKEND_DONE);
    expect_number(&scene.bench, 96, 4);
    rdo_backend_opencl.graph_free(scene.bench.device, scene.graph);
    scene.graph = NULL;
    rdo_backend_opencl.kernel_unload(scene.bench.device, fail);
    close_scene(&scene);
}

static void replay_elsewhere(void *user) {
    struct scene *scene = user;
    rondo_backend_outcome outcome;
    void *queue = NULL;
    assert_int_equal(rdo_backend_opencl.queue_open(scene->bench.device, 1, &queue), RONDO_BACKEND_DONE);
    assert_int_equal(rdo_backend_opencl.graph_submit(queue, scene->graph, 0, LAUNCHES, &outcome), RONDO_BACKEND_DONE);
    rdo_backend_opencl.queue_close(queue);
}

/* [R6] The stand-in refuses a recording that is enqueued and not waited for, as drivers may. */
static void a_recording_in_use_is_not_enqueued_again(void **state) {
    struct scene scene;
    (void)state;
    open_scene(&scene, STUB_FINE, STUB_RECORDS);
    build_chain(&scene);
    opencl_stub.on_wait = replay_elsewhere;
    opencl_stub.on_wait_user = &scene;
    expect_end(&scene, LAUNCHES);
    assert_int_equal(opencl_stub.enqueued_recordings, 1);
    assert_int_equal(opencl_stub.enqueued, LAUNCHES);
    expect_end(&scene, LAUNCHES);
    assert_int_equal(opencl_stub.enqueued_recordings, 2);
    close_scene(&scene);
}

/* ---- failures ---- */

/* [R1, E4] */
static void a_recording_that_is_not_enqueued_did_not_run(void **state) {
    struct scene scene;
    (void)state;
    open_scene(&scene, STUB_FINE, STUB_RECORDS);
    build_chain(&scene);
    opencl_stub.fail_at = opencl_stub.calls + 1;
    assert_int_equal(replay(&scene.bench, scene.graph, LAUNCHES), RONDO_BACKEND_NOT_RUN);
    assert_int_equal(scene.bench.outcome.node, 0);
    assert_non_null(strstr(scene.bench.outcome.message, "clEnqueueCommandBufferKHR"));
    expect_number(&scene.bench, END, END);
    expect_end(&scene, LAUNCHES);
    close_scene(&scene);
}

/* [E4] Which of its launches it was, and which ran, nobody knows. */
static void a_recording_that_the_driver_ends_loses_the_device(void **state) {
    struct scene scene;
    (void)state;
    open_scene(&scene, STUB_FINE, STUB_RECORDS);
    build_chain(&scene);
    opencl_stub.end_commands = -5;
    assert_int_equal(replay(&scene.bench, scene.graph, LAUNCHES), RONDO_BACKEND_DEVICE_LOST);
    opencl_stub.end_commands = 0;
    close_scene(&scene);
}

/* [R9, R10] A replay does not fail because the driver does not record once more. */
static void a_recording_that_cannot_be_renewed_is_done_without(void **state) {
    (void)state;
    for (uint64_t call = 2; call <= 7; call++) {
        struct scene scene;
        open_scene(&scene, STUB_FINE, STUB_RECORDS);
        build_chain(&scene);
        scene.r.k[3] = 100;
        opencl_stub.fail_at = opencl_stub.calls + call;
        expect_end(&scene, 103);
        assert_int_equal(opencl_stub.strikes, 1);
        opencl_stub.fail_at = 0;
        assert_int_equal(opencl_stub.enqueued, LAUNCHES);
        expect_end(&scene, 103);
        close_scene(&scene);
    }
}

static int no_cache(void **state) {
    (void)state;
    return setenv("XDG_CACHE_HOME", "none", 1) != 0 || unsetenv("HOME") != 0 || unsetenv("RONDO_OPENCL_GRAPHS") != 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_in_a_row_are_recorded_where_that_is_faster),
        cmocka_unit_test(launches_are_enqueued_where_recording_is_not_clearly_faster),
        cmocka_unit_test(a_driver_that_does_not_record_or_does_it_wrongly_is_not_asked_to),
        cmocka_unit_test(a_device_is_measured_once_in_a_process),
        cmocka_unit_test(the_user_may_decide),
        cmocka_unit_test(new_values_reach_a_recording),
        cmocka_unit_test(a_part_of_a_recording_is_enqueued_and_leaves_it_up_to_date),
        cmocka_unit_test(copies_and_host_calls_stand_between_recordings),
        cmocka_unit_test(a_launch_that_may_fail_is_not_recorded),
        cmocka_unit_test(a_recording_in_use_is_not_enqueued_again),
        cmocka_unit_test(a_recording_that_is_not_enqueued_did_not_run),
        cmocka_unit_test(a_recording_that_the_driver_ends_loses_the_device),
        cmocka_unit_test(a_recording_that_cannot_be_renewed_is_done_without),
    };
    return cmocka_run_group_tests(tests, no_cache, NULL);
}
