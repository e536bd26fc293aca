/* Reserving memory where there is no record for it. */
#include "thread/threads.h"

#include "memory/books.h"
#include "memory/memory.h"
#include "unit.h"

static int released;

static void count_release(void *user) {
    (void)user;
    released++;
}

/* [E3] [O4] Imported bytes stay the user's, and nobody is told that they are free again. */
static void memory_that_gets_no_record_is_refused_and_nothing_changes(void **state) {
    static _Alignas(4096) uint8_t data[4096];
    rondo_device *device = open_cpu(1);
    rondo_stream *stream = stream_on(device, 1, 0);
    rondo_buffer buffer = RONDO_NO_BUFFER;
    (void)state;
    rdo_slot *free_slots = rdo_memories.free;
    uint32_t count = rdo_memories.count;
    rdo_memories.free = NULL;
    rdo_memories.count = RDO_SLOT_CHUNK * RDO_SLOT_CHUNKS; /* all are in use */
    expect(rondo_buffer_create(stream, sizeof data, RONDO_USAGE_GENERAL, &buffer), RONDO_NO_HOST_MEMORY);
    expect(rondo_buffer_import(stream, data, sizeof data, count_release, NULL, &buffer), RONDO_NO_HOST_MEMORY);
    assert_int_equal(buffer.id, 0);
    rdo_memories.free = free_slots;
    rdo_memories.count = count;
    OK(rondo_buffer_import(stream, data, sizeof data, count_release, NULL, &buffer)); /* no overlap with itself */
    assert_int_equal(released, 0);
    rondo_buffer_release(buffer);
    assert_int_equal(released, 1);
    rondo_stream_release(stream);
    expect_empty(device);
    rondo_device_release(device);
}

enum { PAGE_BYTES = 1 << 17, HALF_BYTES = 1 << 16 };

/* A device whose pool of middling buffers is full with one page. */
static rondo_device *open_capped(void) {
    rondo_device *device = NULL;
    rondo_device_desc desc = {.max_queues = 2, .workers = 1};
    desc.memory.small_max_bytes = 1 << 12;
    desc.memory.page_min_bytes = PAGE_BYTES;
    desc.memory.page_max_bytes = PAGE_BYTES;
    desc.memory.shared_cap_bytes = PAGE_BYTES;
    NEED_OK(rondo_device_open("cpu", &desc, &device));
    return device;
}

static rondo_buffer make_half(rondo_stream *stream) {
    rondo_buffer buffer = RONDO_NO_BUFFER;
    NEED_OK(rondo_buffer_create(stream, HALF_BYTES, RONDO_USAGE_GENERAL, &buffer));
    return buffer;
}

/* As another thread does that finds the queue's lock taken: the holder will sweep. */
static void release_unswept(rondo_buffer buffer) {
    rdo_memory *memory = rdo_memory_find(buffer);
    rdo_lock_take(&rdo_memory_books(memory)->lock);
    rdo_memory_unref(memory);
    rdo_lock_give(&rdo_memory_books(memory)->lock);
}

/* [M4] On the queue itself, and on another one, which only the end of the call can sweep. */
static void room_that_is_on_its_way_back_is_found_before_an_allocation_fails(void **state) {
    (void)state;
    for (uint32_t queue = 0; queue < 2; queue++) {
        rondo_device *device = open_capped();
        rondo_stream *stream = stream_on(device, 2, 0), *other = stream_on(device, 2, queue);
        rondo_buffer first = make_half(other), second = make_half(other);
        expect_no_trouble();
        release_unswept(first);
        if (queue != 0) release_unswept(second); /* a page is of one queue, so all of it must become free */
        rondo_buffer third = make_half(stream);
        expect_no_trouble();
        rondo_buffer_release(second);
        rondo_buffer_release(third);
        rondo_stream_release(stream);
        rondo_stream_release(other);
        expect_empty(device);
        rondo_device_release(device);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_that_gets_no_record_is_refused_and_nothing_changes),
        cmocka_unit_test(room_that_is_on_its_way_back_is_found_before_an_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
