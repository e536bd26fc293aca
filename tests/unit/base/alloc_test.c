#include "base/alloc.h"

#include "unit.h"

/* [E3] */
static void blocks_are_counted_until_they_are_freed(void **state) {
    (void)state;
    assert_int_equal(rdo_alloc_live(), 0);
    void *a = rdo_alloc(10), *b = rdo_alloc_zero(3, 5), *c = rdo_realloc(NULL, 7);
    assert_true(a != NULL && b != NULL && c != NULL);
    assert_int_equal(rdo_alloc_live(), 3);
    void *grown = rdo_realloc(a, 100000);
    assert_non_null(grown);
    assert_int_equal(rdo_alloc_live(), 3); /* the same block, somewhere else */
    rdo_free(grown), rdo_free(b), rdo_free(c);
    rdo_free(NULL);
    assert_int_equal(rdo_alloc_live(), 0);
}

/* [W5] */
static void no_bytes_are_a_block_that_can_be_freed(void **state) {
    (void)state;
    void *blocks[] = {rdo_alloc(0), rdo_alloc_zero(0, 8), rdo_alloc_zero(8, 0), rdo_realloc(NULL, 0)};
    for (size_t i = 0; i < 4; i++) assert_non_null(blocks[i]);
    blocks[0] = rdo_realloc(blocks[0], 0);
    assert_non_null(blocks[0]);
    for (size_t i = 0; i < 4; i++) rdo_free(blocks[i]);
    assert_int_equal(rdo_alloc_live(), 0);
}

static void zeroed_memory_is_zero(void **state) {
    (void)state;
    unsigned char *bytes = rdo_alloc_zero(100, 100);
    assert_non_null(bytes);
    for (int i = 0; i < 10000; i++) assert_int_equal(bytes[i], 0);
    rdo_free(bytes);
}

/* [M9] */
static void sizes_that_overflow_are_refused(void **state) {
    uint64_t *data = NULL;
    size_t capacity = 0;
    (void)state;
    assert_false(rdo_grow(&data, &capacity, SIZE_MAX, sizeof *data));
    assert_false(rdo_grow(&data, &capacity, SIZE_MAX / 2 / sizeof *data + 1, sizeof *data));
    assert_null(rdo_alloc_many(SIZE_MAX / 8 + 1, 8));
    assert_null(data);
    assert_int_equal(capacity, 0);
    assert_int_equal(rdo_alloc_live(), 0);
}

static void an_array_grows_by_doubling_and_keeps_its_elements(void **state) {
    uint64_t *data = NULL;
    size_t capacity = 0, changes = 0;
    (void)state;
    for (size_t i = 0; i < 1000; i++) {
        size_t before = capacity;
        assert_true(rdo_grow(&data, &capacity, i + 1, sizeof *data));
        changes += capacity != before;
        assert_true(capacity > i);
        data[i] = i;
    }
    assert_int_equal(changes, 8); /* 8, 16, ... 1024 */
    assert_true(rdo_grow(&data, &capacity, 100000, sizeof *data));
    assert_int_equal(capacity, 100000); /* doubling would not do */
    for (size_t i = 0; i < 1000; i++) assert_int_equal(data[i], i);
    rdo_free(data);
}

/* [E3] */
static void without_memory_the_old_block_stays(void **state) {
    uint64_t *data = NULL;
    size_t capacity = 0;
    (void)state;
    assert_true(rdo_grow(&data, &capacity, 1, sizeof *data));
    data[0] = 77;
    starve(0, true);
    bool grown = rdo_grow(&data, &capacity, capacity + 1, sizeof *data);
    bool fits = rdo_grow(&data, &capacity, capacity, sizeof *data);
    void *plain = rdo_alloc(1), *zeroed = rdo_alloc_zero(1, 1), *fresh = rdo_realloc(NULL, 1);
    assert_int_equal(feed(), 4);
    assert_false(grown);
    assert_true(fits); /* what is there already needs no memory */
    assert_true(plain == NULL && zeroed == NULL && fresh == NULL);
    assert_int_equal(capacity, 8);
    assert_int_equal(data[0], 77);
    rdo_free(data);
    assert_int_equal(rdo_alloc_live(), 0);
}

/* [E3] */
static void a_large_block_lies_on_huge_pages_and_is_a_block_like_any_other(void **state) {
    (void)state;
    unsigned char *small = rdo_alloc_large(100), *large = rdo_alloc_large(RDO_HUGE_BYTES + 1);
    assert_true(small != NULL && large != NULL);
    assert_int_equal((uintptr_t)large % RDO_HUGE_BYTES, 0);
    small[99] = large[0] = large[RDO_HUGE_BYTES] = 1;
    assert_int_equal(rdo_alloc_live(), 2);
    rdo_free(small), rdo_free(large);
    starve(0, true);
    void *starved = rdo_alloc_large(RDO_HUGE_BYTES);
    assert_int_equal(feed(), 1);
    assert_null(starved);
    assert_null(rdo_alloc_large(SIZE_MAX));
    assert_null(rdo_alloc_large(SIZE_MAX / 4)); /* that the system refuses */
    assert_int_equal(rdo_alloc_live(), 0);
}

/* The sanitizers' own allocators would stop the program here. */
const char *__asan_default_options(void);
const char *__tsan_default_options(void);
const char *__asan_default_options(void) {
    return "allocator_may_return_null=1";
}
const char *__tsan_default_options(void) {
    return "allocator_may_return_null=1";
}

/* [E3] */
static void a_block_larger_than_memory_is_no_block_and_is_not_counted(void **state) {
    (void)state;
    assert_null(rdo_alloc(SIZE_MAX / 4));
    assert_null(rdo_alloc_zero(SIZE_MAX / 4, 1));
    assert_null(rdo_realloc(NULL, SIZE_MAX / 4));
    assert_int_equal(rdo_alloc_live(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_counted_until_they_are_freed),
        cmocka_unit_test(no_bytes_are_a_block_that_can_be_freed),
        cmocka_unit_test(zeroed_memory_is_zero),
        cmocka_unit_test(sizes_that_overflow_are_refused),
        cmocka_unit_test(an_array_grows_by_doubling_and_keeps_its_elements),
        cmocka_unit_test(without_memory_the_old_block_stays),
        cmocka_unit_test(a_block_larger_than_memory_is_no_block_and_is_not_counted),
        cmocka_unit_test(a_large_block_lies_on_huge_pages_and_is_a_block_like_any_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
