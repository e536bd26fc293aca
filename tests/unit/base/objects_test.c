#include "base/objects.h"

#include "unit.h"

static const void *handle_of(uint64_t number) {
    return (const void *)(uintptr_t)number;
}

/* [E2] */
static void a_handle_finds_its_object_and_no_other_kind(void **state) {
    int thing;
    (void)state;
    for (rdo_object_kind kind = RDO_OBJECT_DEVICE; kind <= RDO_OBJECT_EVENT; kind++) {
        uint64_t handle = rdo_object_new(kind, &thing, NULL);
        assert_true(handle != 0);
        for (rdo_object_kind asked = RDO_OBJECT_DEVICE; asked <= RDO_OBJECT_EVENT; asked++) {
            assert_ptr_equal(rdo_object_find(asked, handle_of(handle)), asked == kind ? &thing : NULL);
        }
        rdo_object_hide(handle);
        rdo_object_delete(handle);
    }
}

/* [E2] */
static void a_dead_handle_finds_nothing(void **state) {
    int first, second;
    (void)state;
    uint64_t dead = rdo_object_new(RDO_OBJECT_STREAM, &first, NULL);
    rdo_object_hide(dead);
    assert_null(rdo_object_find(RDO_OBJECT_STREAM, handle_of(dead)));
    rdo_object_delete(dead);
    assert_null(rdo_object_find(RDO_OBJECT_STREAM, handle_of(dead)));
    uint64_t live = rdo_object_new(RDO_OBJECT_STREAM, &second, NULL);
    assert_true(live != dead);
    assert_null(rdo_object_find(RDO_OBJECT_STREAM, handle_of(dead)));
    assert_ptr_equal(rdo_object_find(RDO_OBJECT_STREAM, handle_of(live)), &second);
    rdo_object_hide(live);
    rdo_object_delete(live);
}

/* [E5] What a lock keeps is found by who holds that lock, and by nobody else. */
static void a_kept_object_is_found_by_its_keeper_alone(void **state) {
    int thing, keeper, other;
    (void)state;
    uint64_t handle = rdo_object_new(RDO_OBJECT_KERNEL, &thing, &keeper);
    assert_ptr_equal(rdo_object_find_kept(RDO_OBJECT_KERNEL, handle_of(handle), &keeper), &thing);
    assert_null(rdo_object_find_kept(RDO_OBJECT_KERNEL, handle_of(handle), &other));
    assert_null(rdo_object_find_kept(RDO_OBJECT_KERNEL, handle_of(handle), NULL));
    assert_null(rdo_object_find_kept(RDO_OBJECT_GRAPH, handle_of(handle), &keeper));
    rdo_object_hide(handle);
    assert_null(rdo_object_find_kept(RDO_OBJECT_KERNEL, handle_of(handle), &keeper));
    rdo_object_delete(handle);
    handle = rdo_object_new(RDO_OBJECT_KERNEL, &thing, NULL);
    assert_null(rdo_object_find_kept(RDO_OBJECT_KERNEL, handle_of(handle), &keeper));
    assert_ptr_equal(rdo_object_find(RDO_OBJECT_KERNEL, handle_of(handle)), &thing);
    rdo_object_hide(handle);
    rdo_object_delete(handle);
}

/* [E2] Whatever a user passes for a handle is looked up, never followed. */
static void a_pointer_that_is_no_handle_finds_nothing(void **state) {
    int thing;
    (void)state;
    assert_null(rdo_object_find(RDO_OBJECT_DEVICE, NULL));
    assert_null(rdo_object_find(RDO_OBJECT_DEVICE, &thing));
    assert_null(rdo_object_find(RDO_OBJECT_DEVICE, handle_of(1)));
    assert_null(rdo_object_find(RDO_OBJECT_DEVICE, handle_of(UINT64_MAX)));
}

/* [E3] */
static void without_memory_there_is_no_handle(void **state) {
    int thing;
    static uint64_t handles[RDO_SLOT_CHUNK + 1];
    size_t count = 0;
    (void)state;
    starve(0, true); /* fails once the first chunk, made by the tests before, is full */
    while (count <= RDO_SLOT_CHUNK && (handles[count] = rdo_object_new(RDO_OBJECT_EVENT, &thing, NULL)) != 0) count++;
    feed();
    assert_int_equal(count, RDO_SLOT_CHUNK - 1); /* slot 0 is never given out */
    while (count-- > 0) {
        rdo_object_hide(handles[count]);
        rdo_object_delete(handles[count]);
    }
    uint64_t again = rdo_object_new(RDO_OBJECT_EVENT, &thing, NULL);
    assert_true(again != 0);
    rdo_object_hide(again);
    rdo_object_delete(again);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_handle_finds_its_object_and_no_other_kind),
        cmocka_unit_test(a_dead_handle_finds_nothing),
        cmocka_unit_test(a_kept_object_is_found_by_its_keeper_alone),
        cmocka_unit_test(a_pointer_that_is_no_handle_finds_nothing),
        cmocka_unit_test(without_memory_there_is_no_handle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
