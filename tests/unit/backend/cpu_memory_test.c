#include "backend/cpu/cpu.h"
#include "backend/cpu/parts.h"
#include "backend_tools.h"

static const rondo_page_kind both_kinds[2] = {RONDO_PAGE_DEVICE, RONDO_PAGE_HOST};

/* [M9] */
static void pages_are_aligned_and_usable_to_their_last_byte(void **state) {
    const uint64_t sizes[] = {0, 1, 63, 64, 65, 4097, (2u << 20) - 1, 2u << 20, (2u << 20) + 1, 5u << 20};
    struct bench bench;
    (void)state;
    open_bench(&bench, &rdo_backend_cpu, NULL);
    for (size_t index = 0; index < 2 * sizeof sizes / sizeof sizes[0]; index++) {
        uint64_t size = sizes[index / 2];
        rondo_page_kind kind = both_kinds[index % 2];
        void *page;
        assert_int_equal(rdo_backend_cpu.page_alloc(bench.device, kind, size, &page), RONDO_BACKEND_DONE);
        assert_int_equal((uintptr_t)page % (size >= RDO_CPU_HUGE_BYTES ? RDO_CPU_HUGE_BYTES : 64), 0);
        memset(page, 0x5a, size);
        assert_ptr_equal(rdo_backend_cpu.host_address(bench.device, page), page);
        rdo_backend_cpu.page_free(bench.device, kind, page, size);
    }
    close_bench(&bench);
}

/* A graph of many nodes is one block. */
static void what_is_large_lies_on_huge_pages(void **state) {
    (void)state;
    for (size_t size = RDO_CPU_HUGE_BYTES - 1; size <= RDO_CPU_HUGE_BYTES + 1; size++) {
        uint8_t *object = rdo_cpu_alloc_raw(size);
        assert_non_null(object);
        bool is_large = size >= RDO_CPU_HUGE_BYTES;
        assert_int_equal((uintptr_t)object % (is_large ? RDO_CPU_HUGE_BYTES : RDO_CPU_OBJECT_ALIGN_BYTES), 0);
        object[size - 1] = 1;
        rdo_cpu_release(object, size);
    }
}

/* [E2] */
static void a_page_larger_than_the_machine_can_never_be_served(void **state) {
    struct bench bench;
    rondo_device_info info;
    void *page = &bench;
    (void)state;
    open_bench(&bench, &rdo_backend_cpu, NULL);
    rdo_backend_cpu.info(bench.device, &info);
    assert_true(info.memory_bytes > 0);
    assert_int_equal(rdo_backend_cpu.page_alloc(bench.device, RONDO_PAGE_DEVICE, UINT64_MAX, &page),
                     RONDO_BACKEND_TOO_BIG);
    assert_null(page);
    assert_int_equal(rdo_backend_cpu.page_alloc(bench.device, RONDO_PAGE_HOST, info.memory_bytes + 1, &page),
                     RONDO_BACKEND_TOO_BIG);
    close_bench(&bench);
}

static void *refuse(size_t align_bytes, size_t size_bytes) {
    (void)align_bytes, (void)size_bytes;
    return NULL;
}

/* [M4] */
static void a_page_that_the_system_refuses_leaves_the_device_usable(void **state) {
    struct bench bench;
    void *page = &bench;
    struct rdo_cpu_hooks before = rdo_cpu_hooks;
    (void)state;
    open_bench(&bench, &rdo_backend_cpu, NULL);
    rdo_cpu_hooks.alloc = refuse;
    rondo_backend_result small = rdo_backend_cpu.page_alloc(bench.device, RONDO_PAGE_DEVICE, 100, &page);
    rondo_backend_result large = rdo_backend_cpu.page_alloc(bench.device, RONDO_PAGE_HOST, 4u << 20, &page);
    rdo_cpu_hooks = before;
    assert_int_equal(small, RONDO_BACKEND_DEVICE_FULL);
    assert_int_equal(large, RONDO_BACKEND_DEVICE_FULL);
    assert_null(page);
    assert_int_equal(rdo_backend_cpu.page_alloc(bench.device, RONDO_PAGE_DEVICE, 100, &page), RONDO_BACKEND_DONE);
    rdo_backend_cpu.page_free(bench.device, RONDO_PAGE_DEVICE, page, 100);
    close_bench(&bench);
}

/* [O4] */
static void imported_memory_is_used_where_it_lies(void **state) {
    struct bench bench;
    _Alignas(64) uint8_t mine[256];
    void *page = NULL;
    (void)state;
    open_bench(&bench, &rdo_backend_cpu, NULL);
    memset(mine, 1, sizeof mine);
    assert_int_equal(rdo_backend_cpu.page_import(bench.device, mine, sizeof mine, &page), RONDO_BACKEND_DONE);
    rondo_backend_op op = {.kind = RONDO_OP_FILL, .target = {page, 10}, .size_bytes = 20, .rows = 1, .pattern = {9},
                           .pattern_bytes = 1};
    assert_int_equal(play(&bench, &op), RONDO_BACKEND_DONE);
    for (int index = 0; index < 256; index++) {
        assert_int_equal(mine[index], index >= 10 && index < 30 ? 9 : 1);
    }
    rdo_backend_cpu.page_unimport(bench.device, page, sizeof mine);
    assert_int_equal(mine[10], 9);
    close_bench(&bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_are_aligned_and_usable_to_their_last_byte),
        cmocka_unit_test(what_is_large_lies_on_huge_pages),
        cmocka_unit_test(a_page_larger_than_the_machine_can_never_be_served),
        cmocka_unit_test(a_page_that_the_system_refuses_leaves_the_device_usable),
        cmocka_unit_test(imported_memory_is_used_where_it_lies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
