#include "base/ranges.h"

#include "base/alloc.h"
#include "unit.h"

enum { BYTES = 64, ROUNDS = 40000 };

/* The reference: value and tag of each byte, value 0 where nothing is mapped. */
typedef struct model {
    struct { uint64_t value, tag; } byte[BYTES];
} model;

static bool same_byte(const model *m, uint64_t a, uint64_t b) {
    return m->byte[a].value == m->byte[b].value && m->byte[a].tag == m->byte[b].tag;
}

/* The map holds exactly the runs of the model, fused. */
static void compare(const rdo_ranges *map, const model *m) {
    const rdo_range *range = rdo_ranges_data(map);
    size_t runs = 0;
    uint64_t total = 0;
    assert_true(rdo_ranges_check(map));
    for (uint64_t low = 0, high; low < BYTES; low = high) {
        high = low + 1;
        while (high < BYTES && same_byte(m, low, high)) high++;
        if (m->byte[low].value == 0) continue;
        assert_true(runs < map->count);
        assert_int_equal(range[runs].low, low);
        assert_int_equal(range[runs].high, high);
        assert_int_equal(range[runs].value, m->byte[low].value);
        assert_int_equal(range[runs].tag, m->byte[low].tag);
        total += high - low;
        runs++;
    }
    assert_int_equal(map->count, runs);
    assert_int_equal(rdo_ranges_total(map), total);
}

static void compare_questions(const rdo_ranges *map, const model *m, uint64_t low, uint64_t high) {
    bool covered = true, mapped = false;
    bool have[4] = {false};
    for (uint64_t i = low; i < high; i++) {
        covered = covered && m->byte[i].value != 0;
        mapped = mapped || m->byte[i].value != 0;
    }
    for (uint64_t i = 0; i < BYTES; i++) have[m->byte[i].value] = true;
    assert_int_equal(rdo_ranges_cover(map, low, high), covered);
    const rdo_range *found = rdo_ranges_find(map, low, high);
    assert_int_equal(found != NULL, mapped);
    if (found != NULL) {
        assert_true(found->low < high && low < found->high);
        for (uint64_t i = low; i < found->low; i++) assert_int_equal(m->byte[i].value, 0); /* it is the first one */
    }
    for (uint64_t value = 1; value < 4; value++) assert_int_equal(rdo_ranges_have(map, value), have[value]);
}

/* One random change, with memory or without. */
static void change(rdo_ranges *map, model *m) {
    uint64_t low = random_below(BYTES), high = low + random_below(BYTES - low + 1);
    uint64_t value = 1 + random_below(3), tag = random_below(2);
    bool set = random_below(5) < 3;
    bool done = set ? rdo_ranges_set(map, low, high, value, tag) : rdo_ranges_remove(map, low, high);
    for (uint64_t i = low; i < high && done; i++) {
        m->byte[i].value = set ? value : 0;
        m->byte[i].tag = set ? tag : 0;
    }
}

/* [T1] [T2] [T3] */
static void random_changes_agree_with_a_byte_by_byte_map(void **state) {
    (void)state;
    seed_random();
    for (int life = 0; life < 20; life++) {
        rdo_ranges map = {0};
        model m = {0};
        for (int round = 0; round < ROUNDS / 20; round++) {
            change(&map, &m);
            compare(&map, &m);
            uint64_t low = random_below(BYTES);
            compare_questions(&map, &m, low, low + random_below(BYTES - low + 1));
            if (random_below(500) == 0) {
                rdo_ranges_clear(&map);
                m = (model){0};
                compare(&map, &m);
            }
        }
        rdo_ranges_finish(&map);
        assert_int_equal(map.count, 0);
    }
    assert_int_equal(rdo_alloc_live(), 0);
}

/* [E3] A change that fails changes nothing. */
static void without_memory_the_map_stays_as_it_was(void **state) {
    (void)state;
    seed_random();
    uint64_t refused = 0;
    for (int life = 0; life < 2000; life++) {
        rdo_ranges map = {0};
        model m = {0};
        starve_at_random(30);
        for (int round = 0; round < 30; round++) {
            change(&map, &m);
            compare(&map, &m);
        }
        refused += feed();
        rdo_ranges_finish(&map);
    }
    assert_true(refused > 100);
}

/* [T1] */
static void neighbours_of_one_value_fuse(void **state) {
    rdo_ranges map = {0};
    (void)state;
    assert_true(rdo_ranges_set(&map, 0, 10, 1, 0));
    assert_true(rdo_ranges_set(&map, 20, 30, 1, 0));
    assert_int_equal(map.count, 2);
    assert_true(rdo_ranges_set(&map, 10, 20, 1, 0));
    assert_int_equal(map.count, 1);
    assert_true(rdo_ranges_cover(&map, 0, 30));
    assert_true(rdo_ranges_set(&map, 30, 40, 1, 7)); /* another tag does not fuse */
    assert_true(rdo_ranges_set(&map, 40, 50, 2, 7)); /* nor another value */
    assert_int_equal(map.count, 3);
    rdo_ranges_finish(&map);
}

/* [T3] */
static void a_removal_inside_splits_a_range(void **state) {
    rdo_ranges map = {0};
    (void)state;
    assert_true(rdo_ranges_set(&map, 0, 100, 5, 6));
    assert_true(rdo_ranges_remove(&map, 40, 60));
    const rdo_range *data = rdo_ranges_data(&map);
    assert_int_equal(map.count, 2);
    assert_true(data[0].low == 0 && data[0].high == 40 && data[1].low == 60 && data[1].high == 100);
    assert_true(data[1].value == 5 && data[1].tag == 6);
    assert_null(rdo_ranges_find(&map, 40, 60));
    assert_non_null(rdo_ranges_find(&map, 39, 60));
    rdo_ranges_finish(&map);
}

/* [W5] */
static void an_empty_range_changes_and_overlaps_nothing(void **state) {
    rdo_ranges map = {0};
    (void)state;
    assert_true(rdo_ranges_set(&map, 5, 5, 1, 0));
    assert_true(rdo_ranges_set(&map, 6, 5, 1, 0));
    assert_int_equal(map.count, 0);
    assert_true(rdo_ranges_set(&map, 0, 10, 1, 0));
    assert_true(rdo_ranges_remove(&map, 5, 5));
    assert_null(rdo_ranges_find(&map, 5, 5));
    assert_true(rdo_ranges_cover(&map, 50, 50));
    assert_int_equal(rdo_ranges_total(&map), 10);
    rdo_ranges_finish(&map);
}

/* [M9] */
static void the_last_addresses_can_be_mapped(void **state) {
    rdo_ranges map = {0};
    (void)state;
    assert_true(rdo_ranges_set(&map, UINT64_MAX - 4, UINT64_MAX, 1, 0));
    assert_true(rdo_ranges_cover(&map, UINT64_MAX - 1, UINT64_MAX));
    assert_int_equal(rdo_ranges_total(&map), 4);
    assert_true(rdo_ranges_remove(&map, 0, UINT64_MAX));
    assert_int_equal(map.count, 0);
    rdo_ranges_finish(&map);
}

/* [E3] As many changes as were reserved for need no memory. */
static void reserved_changes_cannot_fail(void **state) {
    (void)state;
    for (size_t changes = 1; changes < 40; changes++) {
        rdo_ranges map = {0};
        assert_true(rdo_ranges_set(&map, 0, 1000, 1, 0));
        assert_true(rdo_ranges_reserve(&map, changes + 2));
        starve(0, true);
        bool done = true;
        for (uint64_t i = 0; i < changes; i++) done = rdo_ranges_remove(&map, 10 * i + 5, 10 * i + 6) && done;
        assert_int_equal(feed(), 0);
        assert_true(done);
        assert_int_equal(map.count, changes + 1);
        rdo_ranges_finish(&map);
    }
}

/* The checker itself notices what it is there for. */
static void the_checker_sees_broken_maps(void **state) {
    const rdo_range broken[][2] = {
        {{5, 5, 1, 0}, {6, 7, 1, 0}},   /* empty */
        {{5, 9, 1, 0}, {8, 10, 2, 0}},  /* overlapping */
        {{8, 9, 1, 0}, {2, 3, 2, 0}},   /* out of order */
        {{5, 9, 1, 3}, {9, 10, 1, 3}},  /* not fused */
    };
    (void)state;
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        rdo_ranges map = {.count = 2};
        memcpy(map.room, broken[i], sizeof broken[i]);
        assert_false(rdo_ranges_check(&map));
    }
    rdo_ranges map = {.count = 2, .room = {{5, 9, 1, 3}, {9, 10, 1, 4}}};
    assert_true(rdo_ranges_check(&map));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_changes_agree_with_a_byte_by_byte_map),
        cmocka_unit_test(without_memory_the_map_stays_as_it_was),
        cmocka_unit_test(neighbours_of_one_value_fuse),
        cmocka_unit_test(a_removal_inside_splits_a_range),
        cmocka_unit_test(an_empty_range_changes_and_overlaps_nothing),
        cmocka_unit_test(the_last_addresses_can_be_mapped),
        cmocka_unit_test(reserved_changes_cannot_fail),
        cmocka_unit_test(the_checker_sees_broken_maps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
