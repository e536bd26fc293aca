/* The OpenCL backend's table on a stand-in for the OpenCL library, with each kind of memory that devices have. */
#include <sys/wait.h>
#include <unistd.h>

#include "opencl_tools.h"

#define the_backend rdo_backend_opencl
#include "byte_ops.h"

/* ---- finding devices ---- */

static rondo_device_entry probe_first(void) {
    rondo_device_entry entry;
    assert_true(rdo_backend_opencl.probe(0, &entry));
    assert_string_equal(entry.name, "opencl");
    return entry;
}

static void expect_unavailable(const char *words) {
    rondo_device_entry entry = probe_first();
    assert_false(entry.available);
    if (strstr(entry.reason, words) == NULL) fail_msg("'%s' is not in: %s", words, entry.reason);
}

/* [P4] */
static void without_the_library_it_says_what_to_install(void **state) {
    rondo_device_entry entry;
    rondo_backend_outcome outcome;
    void *device = &entry;
    (void)state;
    opencl_stub_install(STUB_FINE);
    opencl_stub.no_library = true;
    expect_unavailable("pocl-opencl-icd");
    expect_unavailable("ocl-icd-libopencl1");
    assert_false(rdo_backend_opencl.probe(1, &entry));
    assert_int_equal(rdo_backend_opencl.open(0, NULL, &device, &outcome), RONDO_BACKEND_NOT_RUN);
    assert_null(device);
}

/* [P4] */
static void a_library_that_lacks_any_call_is_refused_with_the_calls_name(void **state) {
    (void)state;
    uint32_t count = 0;
    for (; opencl_stub_call(count) != NULL; count++) {
        opencl_stub_install(STUB_FINE);
        opencl_stub.missing = opencl_stub_call(count);
        char words[64];
        snprintf(words, sizeof words, "lacks %s;", opencl_stub_call(count));
        expect_unavailable(words);
        opencl_stub.missing = NULL;
        assert_true(probe_first().available);
    }
    assert_true(count > 30);
}

/* [P4] */
static void without_a_driver_or_a_device_it_says_what_to_install(void **state) {
    (void)state;
    opencl_stub_install(STUB_FINE);
    opencl_stub.platforms = 0;
    expect_unavailable("pocl-opencl-icd");
    opencl_stub_install(STUB_FINE);
    opencl_stub.devices = 0;
    expect_unavailable("pocl-opencl-icd");
    opencl_stub_install(STUB_FINE);
    opencl_stub.fail_at = 1;
    expect_unavailable("CL_OUT_OF_RESOURCES");
}

/* [P4] */
static void a_device_that_cannot_be_used_is_listed_with_the_reason(void **state) {
    (void)state;
    opencl_stub_install(STUB_FINE);
    opencl_stub.unavailable = true;
    expect_unavailable("not available");
    opencl_stub_install(STUB_FINE);
    opencl_stub.no_compiler = true;
    expect_unavailable("no compiler");
}

/* [E5] The threads of a driver do not live on in a child, where a launch would wait for ever. */
static void a_child_of_a_process_that_uses_opencl_is_told_so(void **state) {
    int result = 0;
    (void)state;
    opencl_stub_install(STUB_FINE);
    assert_true(probe_first().available);
    pid_t child = fork();
    if (child == 0) {
        rondo_device_entry entry;
        bool listed = rdo_backend_opencl.probe(0, &entry);
        _exit(listed && !entry.available && strstr(entry.reason, "forked") != NULL ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result) && WEXITSTATUS(result) == 0);
    assert_true(probe_first().available);
}

static void each_device_has_a_number(void **state) {
    rondo_device_entry entry;
    (void)state;
    opencl_stub_install(STUB_FINE);
    opencl_stub.devices = 3;
    assert_true(rdo_backend_opencl.probe(2, &entry));
    assert_string_equal(entry.name, "opencl:2");
    assert_true(entry.available);
    assert_false(rdo_backend_opencl.probe(3, &entry));
}

/* ---- memory ---- */

/* [M9] Bits and bytes are easily taken for each other here. */
static void the_alignment_is_told_in_bytes(void **state) {
    static const uint32_t kinds[] = {STUB_FINE, STUB_COARSE, STUB_BUFFERS};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct bench bench;
        rondo_device_info info;
        open_with(&bench, kinds[i]);
        rdo_backend_opencl.info(bench.device, &info);
        assert_int_equal(info.alignment_bytes, 128);
        assert_true(info.kernels && info.native_graphs);
        assert_string_equal(info.backend, "opencl");
        assert_non_null(strstr(info.driver, "stub"));
        close_clean(&bench);
    }
}

static void the_host_reaches_only_fine_grained_memory(void **state) {
    struct bench bench;
    (void)state;
    open_with(&bench, STUB_FINE);
    assert_ptr_equal(rdo_backend_opencl.host_address(bench.device, bench.page), bench.page);
    close_clean(&bench);
    open_with(&bench, STUB_COARSE);
    assert_null(rdo_backend_opencl.host_address(bench.device, bench.page));
    close_clean(&bench);
    open_with(&bench, STUB_BUFFERS);
    assert_null(rdo_backend_opencl.host_address(bench.device, bench.page));
    close_clean(&bench);
}

static void memory_of_the_caller_is_taken_only_where_the_device_reaches_all_of_it(void **state) {
    struct bench bench;
    static char mine[256];
    void *page = NULL;
    (void)state;
    open_with(&bench, STUB_FINE);
    assert_int_equal(rdo_backend_opencl.page_import(bench.device, mine, sizeof mine, &page), RONDO_BACKEND_NO_SUPPORT);
    assert_null(page);
    close_clean(&bench);
    open_with(&bench, STUB_SYSTEM);
    assert_int_equal(rdo_backend_opencl.page_import(bench.device, mine, sizeof mine, &page), RONDO_BACKEND_DONE);
    assert_ptr_equal(page, mine);
    rdo_backend_opencl.page_unimport(bench.device, page, sizeof mine);
    close_clean(&bench);
}

/* [M9] */
static void host_pages_are_aligned_and_absurd_pages_refused(void **state) {
    struct bench bench;
    void *page = NULL;
    (void)state;
    open_with(&bench, STUB_BUFFERS);
    for (uint64_t size = 1; size < 300; size += 7) {
        assert_int_equal(rdo_backend_opencl.page_alloc(bench.device, RONDO_PAGE_HOST, size, &page), RONDO_BACKEND_DONE);
        assert_int_equal((uintptr_t)page % 128, 0);
        memset(page, 0xab, size);
        rdo_backend_opencl.page_free(bench.device, RONDO_PAGE_HOST, page, size);
    }
    assert_int_equal(rdo_backend_opencl.page_alloc(bench.device, RONDO_PAGE_DEVICE, UINT64_MAX, &page),
                     RONDO_BACKEND_TOO_BIG);
    assert_null(page);
    assert_int_equal(rdo_backend_opencl.page_alloc(bench.device, RONDO_PAGE_HOST, UINT64_MAX, &page),
                     RONDO_BACKEND_TOO_BIG);
    assert_null(page);
    close_clean(&bench);
}

/* [M9] Mapped where host and device do not share memory, and shared where they do: the driver copies nothing first. */
static void host_pages_are_memory_that_the_driver_gave(void **state) {
    static const uint32_t kinds[] = {STUB_FINE, STUB_COARSE, STUB_BUFFERS};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct bench bench;
        void *page = NULL;
        open_with(&bench, kinds[i]);
        uint64_t live = opencl_stub_live();
        assert_int_equal(rdo_backend_opencl.page_alloc(bench.device, RONDO_PAGE_HOST, 100, &page), RONDO_BACKEND_DONE);
        assert_int_equal(opencl_stub_live(), live + 1);
        assert_int_equal(opencl_stub.mapped, kinds[i] == STUB_FINE ? 0 : 1);
        rdo_backend_opencl.page_free(bench.device, RONDO_PAGE_HOST, page, 100);
        assert_int_equal(opencl_stub.mapped, 0);
        opencl_stub.fail_at = opencl_stub.calls + 1;
        assert_int_equal(rdo_backend_opencl.page_alloc(bench.device, RONDO_PAGE_HOST, 100, &page),
                         RONDO_BACKEND_DEVICE_FULL);
        assert_null(page);
        opencl_stub.fail_at = kinds[i] == STUB_FINE ? 0 : opencl_stub.calls + 2;
        assert_int_equal(rdo_backend_opencl.page_alloc(bench.device, RONDO_PAGE_HOST, 100, &page),
                         kinds[i] == STUB_FINE ? RONDO_BACKEND_DONE : RONDO_BACKEND_DEVICE_FULL);
        if (page != NULL) rdo_backend_opencl.page_free(bench.device, RONDO_PAGE_HOST, page, 100);
        close_clean(&bench);
    }
}

/* ---- kernels ---- */

static void expect_refused(struct bench *bench, rondo_kernel_desc desc, rondo_backend_result result,
                           const char *words) {
    void *kernel = bench;
    assert_int_equal(rdo_backend_opencl.kernel_load(bench->device, &desc, &kernel, &bench->outcome), result);
    assert_null(kernel);
    if (strstr(bench->outcome.message, words) == NULL) {
        fail_msg("'%s' is not in: %s", words, bench->outcome.message);
    }
}

/* [P4, W7] */
static void kernels_that_cannot_run_are_refused_at_loading(void **state) {
    struct bench bench;
    (void)state;
    open_with(&bench, STUB_FINE);
    rondo_kernel_desc desc = add_desc();
    desc.source = NULL;
    expect_refused(&bench, desc, RONDO_BACKEND_NO_SUPPORT, STUB_ADD);
    desc = plain_desc();
    desc.can_fail = true;
    expect_refused(&bench, desc, RONDO_BACKEND_NO_SUPPORT, "cannot report");
    desc = add_desc();
    desc.param_count = 2;
    expect_refused(&bench, desc, RONDO_BACKEND_NOT_RUN, "has 7 parameters in its text, but 6 are described");
    desc = add_desc();
    desc.name = "juggle";
    expect_refused(&bench, desc, RONDO_BACKEND_NOT_RUN, "no kernel 'juggle'");
    opencl_stub.max_group = 16;
    desc = add_desc();
    desc.group[0] = 32, desc.group[1] = desc.group[2] = 1;
    expect_refused(&bench, desc, RONDO_BACKEND_NO_SUPPORT, "at most 16");
    close_clean(&bench);
}

static unsigned count_in(const char *text, const char *words) {
    unsigned count = 0;
    for (const char *at = strstr(text, words); at != NULL; at = strstr(at + 1, words)) count++;
    return count;
}

/* Wherever the line stands; to OpenCL, a piece of length 0 is one that goes on to its end. */
static void the_language_takes_the_place_of_the_line_that_includes_it(void **state) {
    static const struct {
        const char *before, *line, *after, *directive;
    } texts[] = {
        {"", "#include <rondo/kernel_lang.h>", "\n" STUB_ADD " one\n", "\n#line 2\n"},
        {"/* Words. */\n\n", " # include  <rondo/kernel_lang.h>", "\n" STUB_ADD " two\n", "\n#line 4\n"},
        {STUB_ADD "\n", "#include <rondo/kernel_lang.h>", "", "\n#line 3"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct bench bench;
        char source[256];
        rondo_kernel_desc desc = add_desc();
        snprintf(source, sizeof source, "%s%s%s", texts[i].before, texts[i].line, texts[i].after);
        desc.source = source;
        open_with(&bench, STUB_FINE);
        rdo_backend_opencl.kernel_unload(bench.device, load(&bench, desc));
        assert_memory_equal(opencl_stub.last_text, texts[i].before, strlen(texts[i].before));
        assert_null(strstr(opencl_stub.last_text, "include  <rondo"));
        assert_int_equal(count_in(opencl_stub.last_text, "#define RONDO_KERNEL("), 1);
        assert_int_equal(count_in(opencl_stub.last_text, texts[i].directive), 1);
        assert_string_equal(strstr(opencl_stub.last_text, "\n#line ") + strcspn(texts[i].directive + 1, "\n") + 1,
                            texts[i].after);
        close_clean(&bench);
    }
}

static void a_plain_text_is_compiled_as_it_is(void **state) {
    struct bench bench;
    (void)state;
    open_with(&bench, STUB_FINE);
    rdo_backend_opencl.kernel_unload(bench.device, load(&bench, plain_desc()));
    assert_string_equal(opencl_stub.last_text, plain_desc().source);
    rondo_kernel_desc desc = plain_desc();
    desc.source = "";
    expect_refused(&bench, desc, RONDO_BACKEND_NOT_RUN, "no kernel '" STUB_PLAIN "'");
    close_clean(&bench);
}

/* [E4] */
static void the_compilers_words_are_in_the_message(void **state) {
    struct bench bench;
    (void)state;
    open_with(&bench, STUB_FINE);
    opencl_stub.build_log = "In file included\nthing.cl:3:5: error: use of 'y'\nmore\n";
    expect_refused(&bench, add_desc(), RONDO_BACKEND_NOT_RUN, "thing.cl:3:5: error: use of 'y'");
    assert_null(strstr(bench.outcome.message, "more"));
    opencl_stub.build_log = "";
    expect_refused(&bench, add_desc(), RONDO_BACKEND_NOT_RUN, "the driver gives no reason");
    close_clean(&bench);
}

/* [E4] Compilers that warn of every line of a header give long logs, and the error stands at the end. */
static void an_error_at_the_end_of_a_long_log_is_found(void **state) {
    static const size_t sizes[] = {16000, 16384, 100000};
    static char log[100001];
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct bench bench;
        open_with(&bench, STUB_FINE);
        memset(log, 'w', sizes[i]);
        snprintf(log + sizes[i] - 40, 40, "\nthing.cl:3:5: error: use of 'y'\n");
        opencl_stub.build_log = log;
        expect_refused(&bench, add_desc(), RONDO_BACKEND_NOT_RUN, "thing.cl:3:5: error: use of 'y'");
        close_clean(&bench);
    }
}

/* ---- launches ---- */

static rondo_backend_result launch(struct bench *bench, void *kernel, uint64_t x_offset, uint64_t y_offset, int32_t k,
                                   rondo_grid grid) {
    const rondo_place places[] = {place_at(bench, x_offset), place_at(bench, y_offset), {NULL, 0}};
    const void *values[] = {NULL, NULL, &k};
    rondo_backend_op op = {.kind = RONDO_OP_LAUNCH, .kernel = kernel, .grid = grid, .arg_count = 3, .places = places,
                           .values = values};
    return play(bench, &op);
}

static void launch_with(uint32_t svm) {
    struct bench bench;
    open_with(&bench, svm);
    write_numbers(&bench);
    void *add = load(&bench, add_desc());
    assert_int_equal(launch(&bench, add, 0, 2048, 1000, rondo_grid_1d(ITEMS)), RONDO_BACKEND_DONE);
    expect_number(&bench, 512 + 63, 1063);
    expect_number(&bench, 512 + 64, 512 + 64);
    assert_int_equal(launch(&bench, add, 128, 0, -5, rondo_grid_1d(1)), RONDO_BACKEND_DONE);
    expect_number(&bench, 0, 32 - 5);
    rdo_backend_opencl.kernel_unload(bench.device, add);
    close_clean(&bench);
}

/* [W1] */
static void a_launch_finds_its_spans_and_values(void **state) {
    (void)state;
    launch_with(STUB_FINE);
    launch_with(STUB_COARSE);
    launch_with(STUB_BUFFERS);
}

/* [P4] */
static void spans_may_start_anywhere_but_in_devices_without_shared_memory(void **state) {
    struct bench bench;
    (void)state;
    open_with(&bench, STUB_COARSE);
    write_numbers(&bench);
    void *add = load(&bench, add_desc());
    assert_int_equal(launch(&bench, add, 4, 2052, 0, rondo_grid_1d(1)), RONDO_BACKEND_DONE);
    expect_number(&bench, 513, 1);
    rdo_backend_opencl.kernel_unload(bench.device, add);
    close_clean(&bench);
    open_with(&bench, STUB_BUFFERS);
    add = load(&bench, add_desc());
    assert_int_equal(launch(&bench, add, 4, 2048, 0, rondo_grid_1d(1)), RONDO_BACKEND_NO_SUPPORT);
    assert_non_null(strstr(bench.outcome.message, "a multiple of 128"));
    rdo_backend_opencl.kernel_unload(bench.device, add);
    close_clean(&bench);
}

/* [W5] */
static void ranges_cover_the_grid_in_few_sizes(void **state) {
    struct bench bench;
    static const uint64_t sizes[] = {1, 7, 8, 63, 64, 100, 1009, 4096, 1000003};
    (void)state;
    open_with(&bench, STUB_FINE);
    void *add = load(&bench, add_desc());
    struct rdo_ocl_range range;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const size_t local = sizes[i] < 8 ? 1 : sizes[i] < 64 ? 8 : sizes[i] < 300 ? 64 : sizes[i] < 4096 ? 256 : 2048;
        assert_int_equal(rdo_ocl_plan_range(add, rondo_grid_1d(sizes[i]), &range, &bench.outcome), RONDO_BACKEND_DONE);
        assert_int_equal(range.dimensions, 1);
        assert_int_equal(range.local[0], local);
        assert_int_equal(range.global[0], (sizes[i] + local - 1) / local * local);
    }
    assert_int_equal(rdo_ocl_plan_range(add, rondo_grid_3d(1, 1, 3), &range, &bench.outcome), RONDO_BACKEND_DONE);
    assert_int_equal(range.dimensions, 3);
    assert_int_equal(rdo_ocl_plan_range(add, rondo_grid_1d(UINT64_MAX), &range, &bench.outcome),
                     RONDO_BACKEND_NOT_RUN);
    rdo_backend_opencl.kernel_unload(bench.device, add);
    close_clean(&bench);
}

/* A plain kernel has no test of the grid's edge, so it gets exactly the grid. */
static void plain_kernels_get_their_grid_and_nothing_hidden(void **state) {
    struct bench bench;
    (void)state;
    open_with(&bench, STUB_FINE);
    write_numbers(&bench);
    void *plain = load(&bench, plain_desc());
    assert_int_equal(launch(&bench, plain, 0, 2048, 7, rondo_grid_1d(101)), RONDO_BACKEND_DONE);
    assert_int_equal(opencl_stub.last_global[0], 101);
    assert_true(opencl_stub.last_any_local);
    expect_number(&bench, 512 + 100, 107);
    expect_number(&bench, 512 + 101, 512 + 101);
    rdo_backend_opencl.kernel_unload(bench.device, plain);
    close_clean(&bench);
}

static rondo_backend_result launch_fail(struct bench *bench, void *kernel, uint32_t reason) {
    const rondo_place places[] = {place_at(bench, 0), {NULL, 0}};
    const void *values[] = {NULL, &reason};
    rondo_backend_op op = {.kind = RONDO_OP_LAUNCH, .kernel = kernel, .grid = rondo_grid_1d(ITEMS), .arg_count = 2,
                           .places = places, .values = values};
    return play(bench, &op);
}

/* [W7] */
static void a_failure_is_reported_once_with_its_reason(void **state) {
    static const uint32_t kinds[] = {STUB_FINE, STUB_COARSE, STUB_BUFFERS};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct bench bench;
        open_with(&bench, kinds[i]);
        write_numbers(&bench);
        void *fail = load(&bench, fail_desc());
        assert_int_equal(launch_fail(&bench, fail, 0), RONDO_BACKEND_DONE);
        assert_int_equal(launch_fail(&bench, fail, 77), RONDO_BACKEND_FAILED);
        assert_int_equal(bench.outcome.reason, 77);
        assert_int_equal(launch_fail(&bench, fail, 0), RONDO_BACKEND_DONE);
        rdo_backend_opencl.kernel_unload(bench.device, fail);
        close_clean(&bench);
    }
}

/* [E4] */
static void a_command_that_the_driver_ends_has_failed(void **state) {
    struct bench bench;
    (void)state;
    open_with(&bench, STUB_FINE);
    void *add = load(&bench, add_desc());
    opencl_stub.end_commands = -5;
    assert_int_equal(launch(&bench, add, 0, 2048, 7, rondo_grid_1d(1)), RONDO_BACKEND_FAILED);
    assert_int_equal(bench.outcome.reason, 5);
    assert_non_null(strstr(bench.outcome.message, "CL_OUT_OF_RESOURCES"));
    opencl_stub.end_commands = 0;
    assert_int_equal(launch(&bench, add, 0, 2048, 7, rondo_grid_1d(1)), RONDO_BACKEND_DONE);
    rdo_backend_opencl.kernel_unload(bench.device, add);
    close_clean(&bench);
}

/* ---- graphs ---- */

static int count_call(void *user) {
    ++*(int *)user;
    return 0;
}

/* word 0 -> +1 -> word 32 -> copied to word 64 -> +1 -> word 96 */
static void *build_chain(struct bench *bench, struct recording *r, void *add) {
    void *graph = NULL;
    memset(r, 0, sizeof *r);
    put_add(bench, r, 0, add, 0, 128, 1);
    r->ops[1] = (rondo_backend_op){.kind = RONDO_OP_COPY, .source = place_at(bench, 128),
                                   .target = place_at(bench, 256), .size_bytes = 4, .rows = 1};
    put_add(bench, r, 2, add, 256, 384, 1);
    const rondo_backend_nodes nodes = nodes_of(r->ops, 3);
    assert_int_equal(rdo_backend_opencl.graph_build(bench->device, &nodes, one_after_another(), &graph),
                     RONDO_BACKEND_DONE);
    return graph;
}

/* [R4] */
static void a_replay_waits_once(void **state) {
    static const uint32_t kinds[] = {STUB_FINE, STUB_COARSE, STUB_BUFFERS};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct bench bench;
        struct recording r;
        open_with(&bench, kinds[i]);
        write_numbers(&bench);
        void *add = load(&bench, add_desc()), *graph = build_chain(&bench, &r, add);
        opencl_stub.waits = 0;
        assert_int_equal(replay(&bench, graph, 3), RONDO_BACKEND_DONE);
        assert_int_equal(opencl_stub.waits, 1);
        expect_number(&bench, 96, 2);
        rdo_backend_opencl.graph_free(bench.device, graph);
        rdo_backend_opencl.kernel_unload(bench.device, add);
        close_clean(&bench);
    }
}

/* [R9] The bytes may change where they are, and they may be told to be elsewhere. */
static void replays_find_new_values(void **state) {
    struct bench bench;
    struct recording r;
    const int32_t other = 100;
    (void)state;
    open_with(&bench, STUB_FINE);
    write_numbers(&bench);
    void *add = load(&bench, add_desc()), *graph = build_chain(&bench, &r, add);
    r.k[0] = 10;
    assert_int_equal(replay(&bench, graph, 3), RONDO_BACKEND_DONE);
    expect_number(&bench, 96, 11);
    rdo_backend_opencl.graph_set_value(graph, 2, 2, &other);
    assert_int_equal(replay(&bench, graph, 3), RONDO_BACKEND_DONE);
    expect_number(&bench, 96, 110);
    rdo_backend_opencl.graph_free(bench.device, graph);
    rdo_backend_opencl.kernel_unload(bench.device, add);
    close_clean(&bench);
}

/* [R4] */
static void a_replay_stops_at_the_node_that_fails(void **state) {
    struct bench bench;
    struct recording r;
    void *graph = NULL;
    (void)state;
    open_with(&bench, STUB_FINE);
    write_numbers(&bench);
    void *add = load(&bench, add_desc()), *fail = load(&bench, fail_desc());
    memset(&r, 0, sizeof r);
    put_add(&bench, &r, 0, add, 0, 128, 500);
    r.reason = 9;
    r.places[1][0] = place_at(&bench, 256);
    r.values[1][1] = &r.reason;
    r.ops[1] = (rondo_backend_op){.kind = RONDO_OP_LAUNCH, .kernel = fail, .grid = rondo_grid_1d(1), .arg_count = 2,
                                  .places = r.places[1], .values = r.values[1]};
    r.ops[2] = (rondo_backend_op){.kind = RONDO_OP_HOST, .host_fn = count_call, .host_user = &r.host_calls};
    put_add(&bench, &r, 3, add, 128, 384, 1);
    const rondo_backend_nodes nodes = nodes_of(r.ops, 4);
    assert_int_equal(rdo_backend_opencl.graph_build(bench.device, &nodes, one_after_another(), &graph),
                     RONDO_BACKEND_DONE);
    assert_int_equal(replay(&bench, graph, 4), RONDO_BACKEND_FAILED);
    assert_int_equal(bench.outcome.node, 1);
    assert_int_equal(bench.outcome.reason, 9);
    assert_int_equal(r.host_calls, 0);
    expect_number(&bench, 32, 500);
    expect_number(&bench, 96, 96);
    r.reason = 0;
    assert_int_equal(replay(&bench, graph, 4), RONDO_BACKEND_DONE);
    assert_int_equal(r.host_calls, 1);
    expect_number(&bench, 96, 501);
    rdo_backend_opencl.graph_free(bench.device, graph);
    rdo_backend_opencl.kernel_unload(bench.device, add);
    rdo_backend_opencl.kernel_unload(bench.device, fail);
    close_clean(&bench);
}

/* [R4, E4] */
static void nodes_before_one_that_cannot_be_enqueued_have_run(void **state) {
    struct bench bench;
    struct recording r;
    (void)state;
    open_with(&bench, STUB_FINE);
    write_numbers(&bench);
    void *add = load(&bench, add_desc()), *graph = build_chain(&bench, &r, add);
    opencl_stub.fail_at = opencl_stub.calls + 3;
    opencl_stub.waits = 0;
    assert_int_equal(replay(&bench, graph, 3), RONDO_BACKEND_NOT_RUN);
    assert_int_equal(bench.outcome.node, 2);
    assert_int_equal(opencl_stub.waits, 1);
    expect_number(&bench, 64, 1);
    expect_number(&bench, 96, 96);
    opencl_stub.fail_at = opencl_stub.calls + 3;
    opencl_stub.lasting = true;
    assert_int_equal(replay(&bench, graph, 3), RONDO_BACKEND_DEVICE_LOST);
    opencl_stub.fail_at = 0;
    opencl_stub.end_commands = -5;
    assert_int_equal(replay(&bench, graph, 3), RONDO_BACKEND_DEVICE_LOST);
    opencl_stub.end_commands = 0;
    rdo_backend_opencl.graph_free(bench.device, graph);
    rdo_backend_opencl.kernel_unload(bench.device, add);
    close_clean(&bench);
}

/* ---- bytes, with each kind of memory ---- */

static int install_fine(void **state) {
    (void)state;
    opencl_stub_install(STUB_FINE);
    return setenv("XDG_CACHE_HOME", "none", 1) != 0 || unsetenv("HOME") != 0;
}

static int install_coarse(void **state) {
    (void)state;
    opencl_stub_install(STUB_COARSE);
    return 0;
}

static int install_buffers(void **state) {
    (void)state;
    opencl_stub_install(STUB_BUFFERS);
    return 0;
}

int main(void) {
    const struct CMUnitTest bytes[] = {BYTE_OP_TESTS};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_the_library_it_says_what_to_install),
        cmocka_unit_test(a_library_that_lacks_any_call_is_refused_with_the_calls_name),
        cmocka_unit_test(without_a_driver_or_a_device_it_says_what_to_install),
        cmocka_unit_test(a_device_that_cannot_be_used_is_listed_with_the_reason),
        cmocka_unit_test(a_child_of_a_process_that_uses_opencl_is_told_so),
        cmocka_unit_test(each_device_has_a_number),
        cmocka_unit_test(the_alignment_is_told_in_bytes),
        cmocka_unit_test(the_host_reaches_only_fine_grained_memory),
        cmocka_unit_test(memory_of_the_caller_is_taken_only_where_the_device_reaches_all_of_it),
        cmocka_unit_test(host_pages_are_aligned_and_absurd_pages_refused),
        cmocka_unit_test(host_pages_are_memory_that_the_driver_gave),
        cmocka_unit_test(kernels_that_cannot_run_are_refused_at_loading),
        cmocka_unit_test(the_language_takes_the_place_of_the_line_that_includes_it),
        cmocka_unit_test(a_plain_text_is_compiled_as_it_is),
        cmocka_unit_test(the_compilers_words_are_in_the_message),
        cmocka_unit_test(an_error_at_the_end_of_a_long_log_is_found),
        cmocka_unit_test(a_launch_finds_its_spans_and_values),
        cmocka_unit_test(spans_may_start_anywhere_but_in_devices_without_shared_memory),
        cmocka_unit_test(ranges_cover_the_grid_in_few_sizes),
        cmocka_unit_test(plain_kernels_get_their_grid_and_nothing_hidden),
        cmocka_unit_test(a_failure_is_reported_once_with_its_reason),
        cmocka_unit_test(a_command_that_the_driver_ends_has_failed),
        cmocka_unit_test(a_replay_waits_once),
        cmocka_unit_test(replays_find_new_values),
        cmocka_unit_test(a_replay_stops_at_the_node_that_fails),
        cmocka_unit_test(nodes_before_one_that_cannot_be_enqueued_have_run),
    };
    int failed = cmocka_run_group_tests_name("fine-grained memory", bytes, install_fine, NULL);
    failed += cmocka_run_group_tests_name("coarse-grained memory", bytes, install_coarse, NULL);
    failed += cmocka_run_group_tests_name("buffers", bytes, install_buffers, NULL);
    return failed + cmocka_run_group_tests(tests, NULL, NULL);
}
