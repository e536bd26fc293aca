#include "backend/null/null.h"

#define the_backend rdo_backend_null
#include "byte_ops.h"

/* [O1] */
static void there_is_one_null_device(void **state) {
    rondo_device_entry entry;
    rondo_backend_outcome outcome;
    void *device = &entry;
    (void)state;
    assert_true(rdo_backend_null.probe(0, &entry));
    assert_string_equal(entry.name, "null");
    assert_true(entry.available);
    assert_string_equal(entry.reason, "");
    assert_false(rdo_backend_null.probe(1, &entry));
    assert_int_equal(rdo_backend_null.open(1, NULL, &device, &outcome), RONDO_BACKEND_NO_SUPPORT);
    assert_null(device);
    assert_string_not_equal(outcome.message, "");
}

/* [O1] */
static void it_says_what_it_lacks(void **state) {
    struct bench bench;
    rondo_device_info info;
    rondo_device_desc desc = {.max_queues = 7};
    (void)state;
    open_bench(&bench, &rdo_backend_null, &desc);
    rdo_backend_null.info(bench.device, &info);
    assert_string_equal(info.backend, "null");
    assert_false(info.kernels);
    assert_false(info.native_graphs);
    assert_int_equal(info.alignment_bytes, 64);
    assert_int_equal(info.max_queues, 7);
    assert_null(rdo_backend_null.host_address(bench.device, bench.page));
    assert_null(rdo_backend_null.page_import);
    assert_null(rdo_backend_null.graph_build);
    assert_null(rdo_backend_null.graph_submit);
    assert_null(rdo_backend_null.graph_free);
    close_bench(&bench);
}

static void do_nothing(const rondo_native_call *call) {
    (void)call;
}

/* [P4] */
static void it_refuses_kernels_and_names_them(void **state) {
    struct bench bench;
    rondo_kernel_desc desc = {.name = "juggle", .native = do_nothing};
    void *kernel = &bench;
    (void)state;
    open_bench(&bench, &rdo_backend_null, NULL);
    assert_int_equal(rdo_backend_null.kernel_load(bench.device, &desc, &kernel, &bench.outcome),
                     RONDO_BACKEND_NO_SUPPORT);
    assert_null(kernel);
    assert_non_null(strstr(bench.outcome.message, "juggle"));
    rondo_backend_op op = {.kind = RONDO_OP_LAUNCH, .grid = {1, 1, 1}};
    assert_int_equal(play(&bench, &op), RONDO_BACKEND_NO_SUPPORT);
    close_bench(&bench);
}

/* [M9] */
static void pages_are_aligned_and_absurd_ones_refused(void **state) {
    struct bench bench;
    (void)state;
    open_bench(&bench, &rdo_backend_null, NULL);
    for (uint64_t size = 1; size < 300; size += 7) {
        void *page;
        assert_int_equal(rdo_backend_null.page_alloc(bench.device, RONDO_PAGE_HOST, size, &page), RONDO_BACKEND_DONE);
        assert_int_equal((uintptr_t)page % 64, 0);
        memset(page, 0xab, size);
        rdo_backend_null.page_free(bench.device, RONDO_PAGE_HOST, page, size);
    }
    void *page = &bench;
    assert_int_equal(rdo_backend_null.page_alloc(bench.device, RONDO_PAGE_DEVICE, UINT64_MAX, &page),
                     RONDO_BACKEND_TOO_BIG);
    assert_null(page);
    close_bench(&bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        BYTE_OP_TESTS,
        cmocka_unit_test(there_is_one_null_device),
        cmocka_unit_test(it_says_what_it_lacks),
        cmocka_unit_test(it_refuses_kernels_and_names_them),
        cmocka_unit_test(pages_are_aligned_and_absurd_ones_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
