#include "base/slots.h"

#include "unit.h"

typedef struct thing {
    rdo_slot slot;
    int value;
} thing;

static const uint64_t last_generation = (UINT64_C(1) << 40) - 1;

static rdo_slots slots;

/* A fresh table for each test; chunks are never given back, which is the point of them, so the test program does it. */
static int fresh_table(void **state) {
    (void)state;
    slots = (rdo_slots)RDO_SLOTS_INIT(thing);
    return 0;
}

static int drop_table(void **state) {
    (void)state;
    for (size_t i = 0; i < RDO_SLOT_CHUNKS; i++) free(slots.chunks[i]);
    return 0;
}

static void leave_generations(thing *t, uint64_t count) {
    t->slot.last_number = (last_generation - count) << 24 | (t->slot.last_number & 0xffffffu);
}

static thing *take(uint64_t *number) {
    thing *t = (thing *)(void *)rdo_slots_take(&slots, number);
    assert_non_null(t);
    return t;
}

static void give(thing *t) {
    rdo_slots_hide(&t->slot);
    rdo_slots_give(&slots, &t->slot);
}

/* [E2] */
static void a_number_is_found_from_publish_to_hide(void **state) {
    uint64_t number;
    (void)state;
    thing *t = take(&number);
    assert_true(number != 0);
    assert_null(rdo_slots_find(&slots, sizeof(thing), number));
    rdo_slots_publish(&t->slot, number);
    assert_ptr_equal(rdo_slots_find(&slots, sizeof(thing), number), t);
    rdo_slots_hide(&t->slot);
    assert_null(rdo_slots_find(&slots, sizeof(thing), number));
    rdo_slots_give(&slots, &t->slot);
    assert_null(rdo_slots_find(&slots, sizeof(thing), number));
}

/* [E2] A stale number finds nothing, though its slot stands for something else by now. */
static void a_stale_number_finds_nothing(void **state) {
    uint64_t first, second;
    (void)state;
    thing *t = take(&first);
    rdo_slots_publish(&t->slot, first);
    give(t);
    assert_ptr_equal(take(&second), t);
    rdo_slots_publish(&t->slot, second);
    assert_true(first != second);
    assert_null(rdo_slots_find(&slots, sizeof(thing), first));
    assert_ptr_equal(rdo_slots_find(&slots, sizeof(thing), second), t);
    give(t);
}

/* [E2] */
static void numbers_that_never_existed_find_nothing(void **state) {
    uint64_t number;
    (void)state;
    assert_null(rdo_slots_find(&slots, sizeof(thing), 0));
    assert_null(rdo_slots_find(&slots, sizeof(thing), UINT64_MAX));
    thing *t = take(&number);
    rdo_slots_publish(&t->slot, number);
    assert_null(rdo_slots_find(&slots, sizeof(thing), 0)); /* the chunk of slot 0 exists now */
    for (uint64_t bit = 1; bit != 0; bit <<= 1) assert_null(rdo_slots_find(&slots, sizeof(thing), number ^ bit));
    give(t);
}

/* [O4] No number is ever used twice: a slot whose generations are spent is retired. */
static void a_slot_without_generations_left_is_retired(void **state) {
    uint64_t number, next;
    (void)state;
    thing *t = take(&number);
    leave_generations(t, 1);
    give(t);
    assert_ptr_equal(take(&number), t);
    assert_true(number == t->slot.last_number && number >> 24 == last_generation);
    rdo_slots_publish(&t->slot, number);
    assert_ptr_equal(rdo_slots_find(&slots, sizeof(thing), number), t);
    give(t);
    thing *other = take(&next);
    assert_ptr_not_equal(other, t);
    assert_true((next & 0xffffffu) != (number & 0xffffffu));
    give(other);
    assert_ptr_equal(take(&next), other);
}

/* [O2] Things stay where they are however many follow, and no two have one number. */
static void many_slots_are_told_apart(void **state) {
    enum { MANY = 3 * RDO_SLOT_CHUNK + 5 };
    uint64_t *numbers = calloc(MANY, sizeof *numbers);
    (void)state;
    assert_non_null(numbers);
    for (int i = 0; i < MANY; i++) {
        thing *t = take(&numbers[i]);
        t->value = i;
        rdo_slots_publish(&t->slot, numbers[i]);
    }
    for (int i = 0; i < MANY; i++) {
        const thing *t = rdo_slots_find(&slots, sizeof(thing), numbers[i]);
        assert_non_null(t);
        assert_int_equal(t->value, i);
    }
    for (int i = 0; i < MANY; i++) give(rdo_slots_find(&slots, sizeof(thing), numbers[i]));
    for (int i = 0; i < MANY; i++) assert_null(rdo_slots_find(&slots, sizeof(thing), numbers[i]));
    free(numbers);
}

/* [E3] */
static void without_memory_there_is_no_slot_and_nothing_is_lost(void **state) {
    uint64_t number = 42, count;
    (void)state;
    starve(0, true);
    assert_null(rdo_slots_take(&slots, &number));
    assert_int_equal(feed(), 1);
    assert_int_equal(number, 42);
    for (count = 1; count < RDO_SLOT_CHUNK; count++) take(&number); /* slot 0 is never given out */
    starve(0, true);
    assert_null(rdo_slots_take(&slots, &number)); /* a second chunk would be needed */
    feed();
    take(&number);
    assert_int_equal(slots.count, RDO_SLOT_CHUNK + 1);
}

/* [E2] */
static void a_full_table_refuses(void **state) {
    uint64_t number;
    (void)state;
    thing *t = take(&number);
    slots.count = RDO_SLOT_CHUNK * RDO_SLOT_CHUNKS;
    assert_null(rdo_slots_take(&slots, &number));
    give(t);
    assert_ptr_equal(take(&number), t); /* one that was given back serves again */
    give(t);
}

/* [E2] Nor does a slot that is kept for the next thing get a number that was used. */
static void a_slot_without_generations_left_gets_no_number(void **state) {
    uint64_t number;
    (void)state;
    thing *t = take(&number);
    leave_generations(t, 1);
    assert_int_equal(rdo_slots_renew(&t->slot) >> 24, last_generation);
    assert_int_equal(rdo_slots_renew(&t->slot), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_number_is_found_from_publish_to_hide, fresh_table, drop_table),
        cmocka_unit_test_setup_teardown(a_stale_number_finds_nothing, fresh_table, drop_table),
        cmocka_unit_test_setup_teardown(numbers_that_never_existed_find_nothing, fresh_table, drop_table),
        cmocka_unit_test_setup_teardown(a_slot_without_generations_left_is_retired, fresh_table, drop_table),
        cmocka_unit_test_setup_teardown(many_slots_are_told_apart, fresh_table, drop_table),
        cmocka_unit_test_setup_teardown(without_memory_there_is_no_slot_and_nothing_is_lost, fresh_table, drop_table),
        cmocka_unit_test_setup_teardown(a_full_table_refuses, fresh_table, drop_table),
        cmocka_unit_test_setup_teardown(a_slot_without_generations_left_gets_no_number, fresh_table, drop_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
