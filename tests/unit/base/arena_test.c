#include "base/arena.h"

#include "base/alloc.h"
#include "unit.h"

/* [C2] */
static void pieces_are_aligned_and_do_not_overlap(void **state) {
    enum { PIECES = 2000 };
    rdo_arena arena = {0};
    unsigned char *piece[PIECES];
    size_t size[PIECES];
    (void)state;
    seed_random();
    for (size_t i = 0; i < PIECES; i++) {
        size[i] = random_below(i % 100 == 0 ? 50000 : 300);
        piece[i] = rdo_arena_take(&arena, size[i]);
        assert_non_null(piece[i]);
        assert_int_equal((uintptr_t)piece[i] % 16, 0);
        memset(piece[i], (int)(i & 0xff), size[i]);
    }
    for (size_t i = 0; i < PIECES; i++) {
        for (size_t k = 0; k < size[i]; k++) assert_int_equal(piece[i][k], i & 0xff);
    }
    rdo_arena_clear(&arena);
    assert_int_equal(rdo_alloc_live(), 0);
}

/* [C2] */
static void a_cleared_arena_can_be_used_again(void **state) {
    rdo_arena arena = {0};
    (void)state;
    rdo_arena_clear(&arena);
    for (int i = 0; i < 3; i++) {
        assert_non_null(rdo_arena_take(&arena, 10000));
        rdo_arena_clear(&arena);
        assert_int_equal(rdo_alloc_live(), 0);
    }
}

static void what_was_taken_last_can_be_given_back(void **state) {
    rdo_arena arena = {0};
    (void)state;
    assert_non_null(rdo_arena_take(&arena, 100));
    const rdo_arena before = arena;
    for (size_t size = 0; size < 40; size++) {
        rdo_arena_untake(&arena, rdo_arena_take(&arena, size), size);
        assert_memory_equal(&arena, &before, sizeof arena);
    }
    rdo_arena_clear(&arena);
}

/* [C7] */
static void a_copy_is_a_copy(void **state) {
    rdo_arena arena = {0};
    char text[] = "bytes";
    (void)state;
    char *copy = rdo_arena_copy(&arena, text, sizeof text);
    memset(text, 'x', sizeof text);
    assert_string_equal(copy, "bytes");
    assert_non_null(rdo_arena_copy(&arena, NULL, 0)); /* no bytes are a place all the same */
    rdo_arena_clear(&arena);
}

/* Blocks grow, so that a long recording does not consist of thousands, but not without end. */
static void blocks_grow_up_to_a_limit(void **state) {
    rdo_arena arena = {0};
    (void)state;
    for (int i = 0; i < 1000000; i++) assert_non_null(rdo_arena_take(&arena, 100));
    assert_true(rdo_alloc_live() < 25);
    assert_true(arena.size <= 16 << 20);
    rdo_arena_clear(&arena);
}

/* Or else each would waste most of its last huge page; also one that was made for a piece larger than it. */
static void a_large_block_fills_its_huge_pages(void **state) {
    const size_t pieces[] = {1000, 50000, 3 * RDO_HUGE_BYTES / 2, 20 * RDO_HUGE_BYTES};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        rdo_arena arena = {0};
        while (arena.size < RDO_HUGE_BYTES) assert_non_null(rdo_arena_take(&arena, pieces[i]));
        const char *end = arena.next + arena.left;
        assert_int_equal((uintptr_t)end % RDO_HUGE_BYTES, 0);
        rdo_arena_clear(&arena);
    }
}

/* [E3] */
static void without_memory_nothing_is_taken_and_the_rest_stays(void **state) {
    rdo_arena arena = {0};
    (void)state;
    starve(0, true);
    void *first = rdo_arena_take(&arena, 1), *copy = rdo_arena_copy(&arena, "x", 2);
    assert_int_equal(feed(), 2);
    assert_null(first);
    assert_null(copy);
    int *kept = rdo_arena_take(&arena, sizeof *kept);
    assert_non_null(kept);
    *kept = 17;
    starve(0, true);
    void *large = rdo_arena_take(&arena, 5000), *small = rdo_arena_take(&arena, 16);
    feed();
    assert_null(large);
    assert_non_null(small);
    assert_int_equal(*kept, 17);
    rdo_arena_clear(&arena);
}

/* [M9] */
static void a_size_that_overflows_is_refused(void **state) {
    rdo_arena arena = {0};
    (void)state;
    assert_null(rdo_arena_take(&arena, SIZE_MAX));
    assert_null(rdo_arena_take(&arena, SIZE_MAX - 8));
    assert_null(rdo_arena_take(&arena, SIZE_MAX / 4 + 1));
    assert_null(arena.blocks);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_aligned_and_do_not_overlap),
        cmocka_unit_test(a_cleared_arena_can_be_used_again),
        cmocka_unit_test(what_was_taken_last_can_be_given_back),
        cmocka_unit_test(a_copy_is_a_copy),
        cmocka_unit_test(blocks_grow_up_to_a_limit),
        cmocka_unit_test(a_large_block_fills_its_huge_pages),
        cmocka_unit_test(without_memory_nothing_is_taken_and_the_rest_stays),
        cmocka_unit_test(a_size_that_overflows_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
