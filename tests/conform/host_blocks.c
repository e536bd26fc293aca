/* Host blocks: memory that work reads and writes where the caller can see it. */
#include "conform.h"

static unsigned char user_bytes[8192];
static int releases;

static void count_release(void *user) {
    CHECK(user == user_bytes);
    releases += 1;
}

static rondo_buffer import_block(struct conform *t, uint64_t offset_bytes, uint64_t size_bytes) {
    rondo_buffer block = RONDO_NO_BUFFER;
    CHECK_OK(rondo_host_import(t->stream, user_bytes + offset_bytes, size_bytes, count_release, user_bytes, &block));
    return conform_keep_buffer(t, block);
}

static void refuse_import(struct conform *t, void *data, uint64_t size_bytes, rondo_code code) {
    rondo_buffer block = {9};
    CHECK_CODE(rondo_host_import(t->stream, data, size_bytes, count_release, user_bytes, &block), code);
    CHECK_EQUAL(block.id, 0);
}

static void a_new_block_is_zeroed(struct conform *t) {
    for (int i = 0; i < 3; i++) {
        rondo_buffer block = conform_host_block(t, 1000);
        unsigned char *data = (unsigned char *)rondo_host_data(block);
        CHECK(data != NULL);
        for (size_t k = 0; k < 1000; k++) {
            CHECK_EQUAL(data[k], 0);
        }
        memset(data, 0xff, 1000);
        rondo_buffer_release(block);
    }
}

/* [W1] */
static void a_block_says_what_it_is(struct conform *t) {
    rondo_buffer_info info;
    CHECK_OK(rondo_buffer_get_info(conform_host_block(t, 1000), &info));
    CHECK(info.host && !info.imported && !info.mapped);
    CHECK_EQUAL(info.size_bytes, 1000);
    CHECK_OK(rondo_buffer_get_info(import_block(t, 0, 100), &info));
    CHECK(info.host && info.imported);
}

/* [E2] */
static void creating_a_block_checks_its_arguments(struct conform *t) {
    rondo_buffer block = {9};
    CHECK_CODE(rondo_host_create(t->stream, 0, &block), RONDO_INVALID);
    CHECK_EQUAL(block.id, 0);
    CHECK_CODE(rondo_host_create(NULL, 16, &block), RONDO_STALE);
    CHECK_CODE(rondo_host_create(t->stream, 16, NULL), RONDO_INVALID);
    CHECK_EQUAL(conform_stats(t).host_blocks, 0);
    conform_host_block(t, 1);
}

/* [E2] */
static void importing_a_block_checks_its_arguments(struct conform *t) {
    rondo_buffer block = {9};
    refuse_import(t, NULL, 16, RONDO_INVALID);
    refuse_import(t, user_bytes, 0, RONDO_INVALID);
    CHECK_CODE(rondo_host_import(NULL, user_bytes, 16, count_release, user_bytes, &block), RONDO_STALE);
    CHECK_CODE(rondo_host_import(t->stream, user_bytes, 16, count_release, user_bytes, NULL), RONDO_INVALID);
    CHECK_EQUAL(releases, 0);
    CHECK_EQUAL(conform_stats(t).host_blocks, 0);
    import_block(t, 3, 13);
}

/* [O4] */
static void an_imported_block_is_the_users_memory_itself(struct conform *t) {
    rondo_buffer block = import_block(t, 64, 1000);
    CHECK(rondo_host_data(block) == user_bytes + 64);
    rondo_buffer buffer = conform_buffer(t, 1000);
    conform_fill_i32(t, buffer, 0x21212121);
    CHECK_OK(rondo_read_async(t->stream, rondo_whole(buffer), rondo_whole(block), NULL));
    CHECK_OK(rondo_host_wait(block));
    CHECK_EQUAL(user_bytes[63], 0);
    CHECK_EQUAL(user_bytes[64], 0x21);
    CHECK_EQUAL(user_bytes[1063], 0x21);
    CHECK_EQUAL(user_bytes[1064], 0);
}

/* [O4] */
static void an_imported_block_is_given_back_once(struct conform *t) {
    rondo_buffer block = import_block(t, 0, 100);
    CHECK_OK(rondo_buffer_retain(block));
    rondo_buffer_release(block);
    CHECK_EQUAL(releases, 0);
    rondo_buffer_release(block);
    CHECK_EQUAL(releases, 1);
    rondo_buffer_release(block);
    CHECK_OK(rondo_device_sync(t->device));
    CHECK_EQUAL(releases, 1);
}

/* [O4] */
static void an_import_needs_no_release_callback(struct conform *t) {
    rondo_buffer block = RONDO_NO_BUFFER;
    CHECK_OK(rondo_host_import(t->stream, user_bytes, 100, NULL, NULL, &block));
    rondo_buffer_release(block);
    CHECK(rondo_host_data(block) == NULL);
    CHECK_EQUAL(releases, 0);
}

/* [O4] */
static void a_block_that_overlaps_a_live_one_is_refused(struct conform *t) {
    rondo_buffer block = import_block(t, 100, 100);
    refuse_import(t, user_bytes + 100, 100, RONDO_OVERLAP);
    refuse_import(t, user_bytes + 199, 1, RONDO_OVERLAP);
    refuse_import(t, user_bytes, 101, RONDO_OVERLAP);
    refuse_import(t, user_bytes, 8192, RONDO_OVERLAP);
    import_block(t, 0, 100);
    import_block(t, 200, 1);
    CHECK_EQUAL(releases, 0);
    rondo_buffer_release(block);
    CHECK_EQUAL(releases, 1);
    import_block(t, 100, 100);
    rondo_buffer made = conform_host_block(t, 64);
    refuse_import(t, rondo_host_data(made), 64, RONDO_OVERLAP);
}

static void only_host_blocks_have_an_address(struct conform *t) {
    rondo_buffer buffer = conform_buffer(t, 64);
    rondo_buffer block = conform_host_block(t, 64);
    CHECK(rondo_host_data(buffer) == NULL);
    CHECK(rondo_host_data(RONDO_NO_BUFFER) == NULL);
    CHECK(rondo_host_data(block) != NULL);
    rondo_buffer_release(block);
    CHECK(rondo_host_data(block) == NULL);
    CHECK(!rondo_host_is_idle(block));
}

/* [E2] */
static void waiting_is_for_live_host_blocks(struct conform *t) {
    rondo_buffer block = conform_host_block(t, 64);
    CHECK_OK(rondo_host_wait(block));
    CHECK(rondo_host_is_idle(block));
    CHECK_CODE(rondo_host_wait(conform_buffer(t, 64)), RONDO_INVALID);
    CHECK_CODE(rondo_host_wait(RONDO_NO_BUFFER), RONDO_STALE);
    CHECK(!rondo_host_is_idle(RONDO_NO_BUFFER));
    rondo_buffer_release(block);
    CHECK_CODE(rondo_host_wait(block), RONDO_STALE);
}

/* [W1] */
static void a_download_lands_in_its_slice(struct conform *t) {
    static const int32_t values[] = {1, 2, 3, 4};
    rondo_buffer buffer = conform_buffer_i32(t, values, 4);
    rondo_buffer block = conform_host_block(t, 32);
    int32_t *data = (int32_t *)rondo_host_data(block);
    for (size_t i = 0; i < 8; i++) {
        data[i] = -1;
    }
    CHECK_OK(rondo_read_async(t->stream, rondo_slice(buffer, 4, 8), rondo_slice(block, 12, 8), "down"));
    CHECK_OK(rondo_host_wait(block));
    static const int32_t expected[] = {-1, -1, -1, 2, 3, -1, -1, -1};
    assert_memory_equal(data, expected, sizeof expected);
}

/* [W1] Blocks keep the order of the stream. */
static void up_and_down_keep_the_order_of_the_stream(struct conform *t) {
    rondo_buffer up = conform_host_block(t, 4);
    rondo_buffer down = conform_host_block(t, 4);
    rondo_buffer buffer = conform_buffer(t, 4);
    int32_t *up_value = (int32_t *)rondo_host_data(up);
    const int32_t *down_value = (const int32_t *)rondo_host_data(down);
    for (int32_t i = 0; i < 200; i++) {
        CHECK_OK(rondo_host_wait(up));
        *up_value = i;
        CHECK_OK(rondo_write_live(t->stream, rondo_whole(buffer), rondo_whole(up), NULL));
        CHECK_OK(rondo_read_async(t->stream, rondo_whole(buffer), rondo_whole(down), NULL));
        CHECK_OK(rondo_host_wait(down));
        CHECK_EQUAL(*down_value, i);
    }
}

/* [E2, T8] */
static void live_writes_and_downloads_need_a_block_of_their_size(struct conform *t) {
    rondo_buffer buffer = conform_buffer(t, 64);
    rondo_buffer block = conform_host_block(t, 64);
    rondo_span device = rondo_whole(buffer);
    conform_fill_i32(t, buffer, 1);
    CHECK_CODE(rondo_write_live(t->stream, device, rondo_slice(block, 0, 63), NULL), RONDO_RANGE);
    CHECK_CODE(rondo_read_async(t->stream, device, rondo_slice(block, 1, 63), NULL), RONDO_RANGE);
    CHECK_CODE(rondo_write_live(t->stream, device, rondo_slice(block, 1, 64), NULL), RONDO_RANGE);
    CHECK_CODE(rondo_read_async(t->stream, rondo_slice(buffer, 1, 64), rondo_whole(block), NULL), RONDO_RANGE);
    rondo_span other = rondo_whole(conform_buffer(t, 64));
    CHECK_CODE(rondo_write_live(t->stream, device, other, NULL), RONDO_INVALID);
    CHECK_CODE(rondo_read_async(t->stream, device, other, NULL), RONDO_INVALID);
    CHECK_CODE(rondo_write_live(t->stream, device, rondo_whole(RONDO_NO_BUFFER), NULL), RONDO_STALE);
    CHECK_CODE(rondo_read_async(t->stream, rondo_whole(RONDO_NO_BUFFER), rondo_whole(block), NULL), RONDO_STALE);
    conform_expect_claimed(device, RONDO_STALE);
    conform_expect_claimed(rondo_whole(block), RONDO_STALE);
    conform_fill_i32(t, buffer, 1);
    CHECK_OK(rondo_read_async(t->stream, device, rondo_whole(block), NULL));
    CHECK_OK(rondo_write_live(t->stream, device, rondo_whole(block), NULL));
}

/* [E2] */
static void device_operations_take_no_host_block(struct conform *t) {
    rondo_span block = rondo_whole(conform_host_block(t, 64));
    rondo_span device = rondo_whole(conform_buffer(t, 64));
    int32_t value = 1;
    CHECK_CODE(rondo_fill(t->stream, block, &value, 4, NULL), RONDO_INVALID);
    CHECK_CODE(rondo_copy(t->stream, block, device, NULL), RONDO_INVALID);
    CHECK_CODE(rondo_copy(t->stream, device, block, NULL), RONDO_INVALID);
    rondo_rect host = {block, 8};
    rondo_rect rect = {device, 8};
    CHECK_CODE(rondo_copy_2d(t->stream, host, rect, 4, 8, NULL), RONDO_INVALID);
    CHECK_CODE(rondo_copy_2d(t->stream, rect, host, 4, 8, NULL), RONDO_INVALID);
    CHECK_OK(rondo_fill(t->stream, device, &value, 4, NULL));
}

/* host.h: wait, or map it. */
static void a_block_can_be_mapped(struct conform *t) {
    rondo_buffer block = conform_host_block(t, 64);
    void *data = NULL;
    CHECK_OK(rondo_map(t->stream, rondo_slice(block, 16, 16), RONDO_WRITES, &data));
    CHECK(data == (unsigned char *)rondo_host_data(block) + 16);
    CHECK_CODE(rondo_read_async(t->stream, rondo_whole(conform_buffer(t, 64)), rondo_whole(block), NULL), RONDO_BUSY);
    CHECK_OK(rondo_unmap(t->stream, rondo_slice(block, 16, 16)));
    CHECK_OK(rondo_span_status(rondo_slice(block, 16, 16)));
    conform_expect_claimed(rondo_slice(block, 0, 16), RONDO_BUSY);
}

/* [M6] */
static void blocks_are_counted_apart_from_buffers(struct conform *t) {
    rondo_buffer block = conform_host_block(t, 5000);
    CHECK_EQUAL(conform_stats(t).host_blocks, 1);
    CHECK_EQUAL(conform_stats(t).buffers, 0);
    CHECK(conform_report(t, RONDO_POOL_HOST).in_use_bytes >= 5000);
    rondo_buffer_release(block);
    CHECK_EQUAL(conform_stats(t).host_blocks, 0);
    CHECK_EQUAL(conform_report(t, RONDO_POOL_HOST).in_use_bytes, 0);
}

/* [C7, P3] */
static void a_block_lives_as_long_as_a_graph_that_reads_it(struct conform *t) {
    rondo_buffer block = import_block(t, 0, 64);
    rondo_buffer buffer = conform_buffer(t, 64);
    rondo_graph *graph = NULL;
    CHECK_OK(rondo_capture_prepare(t->stream));
    CHECK_OK(rondo_capture_begin(t->stream));
    CHECK_OK(rondo_write_live(t->stream, rondo_whole(buffer), rondo_whole(block), NULL));
    CHECK_OK(rondo_capture_end(t->stream, RONDO_END_DEFAULT, &graph));
    rondo_buffer_release(block);
    CHECK_EQUAL(releases, 0);
    for (int round = 1; round < 4; round++) {
        memset(user_bytes, round, 64);
        CHECK_OK(rondo_graph_replay(graph, t->stream));
        CHECK_EQUAL(conform_read_i32(t, buffer, 15), 0x01010101 * round);
    }
    rondo_graph_release(graph);
    CHECK_OK(rondo_device_sync(t->device));
    CHECK_EQUAL(releases, 1);
}

const struct conform_case conform_host_blocks_cases[] = {
    CONFORM_CASE(a_new_block_is_zeroed, NEEDS_NOTHING),
    CONFORM_CASE(a_block_says_what_it_is, NEEDS_NOTHING),
    CONFORM_CASE(creating_a_block_checks_its_arguments, NEEDS_NOTHING),
    CONFORM_CASE(importing_a_block_checks_its_arguments, NEEDS_NOTHING),
    CONFORM_CASE(an_imported_block_is_the_users_memory_itself, NEEDS_NOTHING),
    CONFORM_CASE(an_imported_block_is_given_back_once, NEEDS_NOTHING),
    CONFORM_CASE(an_import_needs_no_release_callback, NEEDS_NOTHING),
    CONFORM_CASE(a_block_that_overlaps_a_live_one_is_refused, NEEDS_NOTHING),
    CONFORM_CASE(only_host_blocks_have_an_address, NEEDS_NOTHING),
    CONFORM_CASE(waiting_is_for_live_host_blocks, NEEDS_NOTHING),
    CONFORM_CASE(a_download_lands_in_its_slice, NEEDS_NOTHING),
    CONFORM_CASE(up_and_down_keep_the_order_of_the_stream, NEEDS_NOTHING),
    CONFORM_CASE(live_writes_and_downloads_need_a_block_of_their_size, NEEDS_NOTHING),
    CONFORM_CASE(device_operations_take_no_host_block, NEEDS_NOTHING),
    CONFORM_CASE(a_block_can_be_mapped, NEEDS_NOTHING),
    CONFORM_CASE(blocks_are_counted_apart_from_buffers, NEEDS_NOTHING),
    CONFORM_CASE(a_block_lives_as_long_as_a_graph_that_reads_it, NEEDS_NOTHING),
    CONFORM_END,
};
