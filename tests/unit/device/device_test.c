/* Things that get no handle since there is none left. */
#include "thread/threads.h"

#include "base/objects.h"
#include "unit.h"

static rdo_slot *free_slots;
static uint32_t slot_count;

static void use_up_handles(void) {
    free_slots = rdo_objects.free;
    slot_count = rdo_objects.count;
    rdo_objects.free = NULL;
    rdo_objects.count = RDO_SLOT_CHUNK * RDO_SLOT_CHUNKS;
}

static void give_handles_back(void) {
    rdo_objects.free = free_slots;
    rdo_objects.count = slot_count;
}

/* [E3] The address sanitizer sees what is left over. */
static void a_device_without_a_handle_is_not_opened(void **state) {
    rondo_device *device = NULL;
    (void)state;
    use_up_handles();
    expect(rondo_device_open("cpu", NULL, &device), RONDO_NO_HOST_MEMORY);
    give_handles_back();
    assert_null(device);
}

/* [E3] */
static void a_kernel_without_a_handle_is_not_loaded(void **state) {
    static const rondo_kernel_desc desc = {.name = "nothing", .native = nothing_native};
    rondo_kernel *kernel = NULL;
    (void)state;
    rondo_device *device = open_cpu(1);
    use_up_handles();
    expect(rondo_kernel_create(device, &desc, &kernel), RONDO_NO_HOST_MEMORY);
    give_handles_back();
    assert_null(kernel);
    expect_empty(device);
    rondo_device_release(device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_device_without_a_handle_is_not_opened),
        cmocka_unit_test(a_kernel_without_a_handle_is_not_loaded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
