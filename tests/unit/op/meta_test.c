#include "op/meta.h"

#include "base/alloc.h"
#include "unit.h"

static rdo_meta cache;

static int fresh_cache(void **state) {
    (void)state;
    rdo_meta_init(&cache, 4);
    return 0;
}

static int drop_cache(void **state) {
    (void)state;
    assert_true(rdo_meta_check(&cache));
    rdo_meta_finish(&cache);
    assert_int_equal(rdo_alloc_live(), 0);
    return 0;
}

static rdo_meta_block *intern(rdo_meta_mode mode, uint64_t content, rdo_meta_pins *pins) {
    rdo_meta_block *block = rdo_meta_intern(&cache, mode, &content, sizeof content, pins);
    assert_true(rdo_meta_check(&cache));
    return block;
}

static rdo_meta_block *normal(uint64_t content) {
    rdo_meta_block *block = intern(RDO_META_NORMAL, content, NULL);
    assert_non_null(block);
    return block;
}

static rdo_meta_block *pinned(uint64_t content, rdo_meta_pins *pins) {
    rdo_meta_block *block = intern(RDO_META_CAPTURE, content, pins);
    assert_non_null(block);
    return block;
}

/* Whether a block with this content is kept; looks without using it. */
static bool is_kept(uint64_t content) {
    for (const rdo_meta_block *block = cache.oldest; block != NULL; block = block->newer) {
        if (block->size_bytes == sizeof content && memcmp(block->bytes, &content, sizeof content) == 0) return true;
    }
    return false;
}

/* [M8] */
static void equal_bytes_are_stored_once(void **state) {
    (void)state;
    rdo_meta_block *block = normal(7);
    assert_ptr_equal(normal(7), block);
    assert_ptr_not_equal(normal(8), block);
    assert_int_equal(cache.entries, 2);
    assert_int_equal(cache.bytes, 16);
    assert_int_equal((uintptr_t)block->bytes % 16, 0);
    uint64_t content = 7;
    assert_memory_equal(block->bytes, &content, sizeof content);
    rdo_meta_block *shorter = rdo_meta_intern(&cache, RDO_META_NORMAL, &content, 4, NULL);
    assert_ptr_not_equal(shorter, block); /* a prefix is another content */
    assert_int_equal(shorter->size_bytes, 4);
}

/* [M8] */
static void normal_mode_gates_on_size(void **state) {
    static uint8_t bytes[RDO_META_LARGEST_BYTES + 1];
    (void)state;
    assert_non_null(rdo_meta_intern(&cache, RDO_META_NORMAL, bytes, RDO_META_LARGEST_BYTES, NULL));
    assert_null(rdo_meta_intern(&cache, RDO_META_NORMAL, bytes, RDO_META_LARGEST_BYTES + 1, NULL));
    assert_int_equal(cache.entries, 1);
}

/* [M8] [C19] */
static void capture_mode_caches_any_size(void **state) {
    static uint8_t bytes[100 * RDO_META_LARGEST_BYTES];
    rdo_meta_pins pins = {0};
    (void)state;
    rdo_meta_block *block = rdo_meta_intern(&cache, RDO_META_CAPTURE, bytes, sizeof bytes, &pins);
    assert_non_null(block);
    assert_ptr_equal(rdo_meta_intern(&cache, RDO_META_CAPTURE, bytes, sizeof bytes, &pins), block);
    rdo_meta_release(&cache, &pins);
    assert_int_equal(cache.entries, 0);
}

/* [M8] [C19] */
static void capture_mode_is_unbounded(void **state) {
    rdo_meta_pins pins = {0};
    (void)state;
    for (uint64_t i = 0; i < 1000; i++) (void)pinned(i, &pins);
    assert_int_equal(cache.entries, 1000);
    assert_int_equal(cache.pinned, 1000);
    for (uint64_t i = 0; i < 1000; i++) assert_true(is_kept(i));
    rdo_meta_release(&cache, &pins);
    assert_int_equal(cache.entries + cache.pinned + cache.bytes, 0);
}

/* [M8] */
static void normal_mode_evicts_the_least_recently_used(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 4; i++) (void)normal(i);
    (void)normal(0); /* a hit refreshes */
    (void)normal(9);
    assert_true(is_kept(0) && !is_kept(1) && is_kept(2) && is_kept(3) && is_kept(9));
    (void)normal(10);
    assert_true(is_kept(0) && !is_kept(2));
    assert_int_equal(cache.entries, 4);
}

/* [M8] */
static void zero_capacity_disables_caching(void **state) {
    rdo_meta_pins pins = {0};
    (void)state;
    cache.limit = 0;
    assert_null(intern(RDO_META_NORMAL, 1, NULL));
    assert_int_equal(cache.entries, 0);
    (void)pinned(1, &pins); /* a window needs its blocks all the same */
    assert_null(intern(RDO_META_NORMAL, 1, NULL));
    rdo_meta_discard(&cache, &pins);
}

/* [M8] [P3] */
static void a_pinned_entry_survives_eviction_until_its_graph_is_released(void **state) {
    rdo_meta_pins pins = {0};
    (void)state;
    const rdo_meta_block *block = pinned(1, &pins);
    for (uint64_t i = 100; i < 200; i++) (void)normal(i);
    assert_true(is_kept(1));
    uint64_t content = 1;
    assert_memory_equal(block->bytes, &content, sizeof content);
    assert_int_equal(cache.entries, 4);
    rdo_meta_release(&cache, &pins);
    assert_false(is_kept(1));
    assert_int_equal(pins.count + pins.capacity, 0);
    assert_null(pins.blocks);
}

/* [M8] If all are pinned there is nothing to evict: the cache grows. */
static void where_everything_is_pinned_nothing_is_evicted(void **state) {
    rdo_meta_pins pins = {0};
    (void)state;
    for (uint64_t i = 0; i < 6; i++) (void)pinned(i, &pins);
    (void)normal(50);
    (void)normal(51); /* takes the place of the only one without pins */
    assert_true(!is_kept(50) && is_kept(51));
    for (uint64_t i = 0; i < 6; i++) assert_true(is_kept(i));
    rdo_meta_release(&cache, &pins);
}

/* [C19] [M8] */
static void a_capture_hit_on_a_normal_entry_pins_it(void **state) {
    rdo_meta_pins pins = {0};
    (void)state;
    rdo_meta_block *block = normal(1);
    assert_ptr_equal(pinned(1, &pins), block);
    assert_int_equal(block->pins, 1);
    for (uint64_t i = 100; i < 200; i++) (void)normal(i);
    assert_true(is_kept(1));
    rdo_meta_release(&cache, &pins);
}

/* [M8] */
static void pins_are_counted_across_graphs(void **state) {
    rdo_meta_pins first = {0}, second = {0};
    (void)state;
    (void)pinned(1, &first), (void)pinned(2, &first), (void)pinned(1, &first);
    rdo_meta_block *block = pinned(1, &second);
    assert_int_equal(block->pins, 3);
    assert_int_equal(cache.pinned, 2);
    rdo_meta_release(&cache, &first);
    assert_true(is_kept(1) && !is_kept(2));
    assert_int_equal(block->pins, 1);
    rdo_meta_release(&cache, &second);
    assert_false(is_kept(1));
    assert_int_equal(cache.pinned, 0);
}

/* [C9] [M8] */
static void a_discard_unpins_without_removing(void **state) {
    rdo_meta_pins pins = {0};
    (void)state;
    (void)pinned(1, &pins);
    rdo_meta_discard(&cache, &pins);
    assert_true(is_kept(1));
    assert_int_equal(cache.pinned, 0);
    for (uint64_t i = 100; i < 104; i++) (void)normal(i);
    assert_false(is_kept(1)); /* evictable again */
}

/* [M8] A window that did not seal leaves no more behind than the limit allows. */
static void after_a_large_discard_the_limit_holds_again(void **state) {
    rdo_meta_pins pins = {0};
    (void)state;
    for (uint64_t i = 0; i < 100; i++) (void)pinned(i, &pins);
    rdo_meta_discard(&cache, &pins);
    assert_int_equal(cache.entries, 100);
    (void)normal(1000);
    assert_int_equal(cache.entries, 4);
    assert_true(is_kept(99) && is_kept(98) && is_kept(97) && is_kept(1000));
}

/* [M8] */
static void clearing_keeps_only_what_graphs_pin(void **state) {
    rdo_meta_pins pins = {0};
    (void)state;
    (void)normal(1), (void)pinned(2, &pins), (void)normal(3);
    rdo_meta_clear_unpinned(&cache);
    assert_true(!is_kept(1) && is_kept(2) && !is_kept(3));
    rdo_meta_release(&cache, &pins);
}

/* [M8] Ten thousand blocks are found again, in a table that grew several times. */
static void many_blocks_are_told_apart(void **state) {
    enum { MANY = 10000 };
    rdo_meta_block **blocks = malloc(MANY * sizeof *blocks);
    (void)state;
    assert_non_null(blocks);
    cache.limit = MANY;
    for (uint64_t i = 0; i < MANY; i++) blocks[i] = rdo_meta_intern(&cache, RDO_META_NORMAL, &i, sizeof i, NULL);
    for (uint64_t i = 0; i < MANY; i++) {
        assert_ptr_equal(rdo_meta_intern(&cache, RDO_META_NORMAL, &i, sizeof i, NULL), blocks[i]);
    }
    assert_int_equal(cache.entries, MANY);
    free(blocks);
}

/* [E3] */
static void without_memory_nothing_is_stored_and_nothing_is_lost(void **state) {
    rdo_meta_pins pins = {0};
    (void)state;
    for (uint64_t granted = 0; granted < 3; granted++) {
        /* In order of need: the table, the block, the list of pins. */
        starve(granted, true);
        rdo_meta_block *block = intern(RDO_META_CAPTURE, 1, &pins);
        assert_true(feed() >= 1);
        assert_null(block);
        assert_int_equal(pins.count, 0);
        assert_int_equal(cache.pinned, 0);
        assert_true(rdo_meta_check(&cache));
        rdo_meta_clear_unpinned(&cache);
        rdo_meta_finish(&cache);
        rdo_meta_init(&cache, 4);
    }
    rdo_meta_block *block = pinned(1, &pins);
    assert_int_equal(block->pins, 1);
    rdo_meta_release(&cache, &pins);
}

/* [E3] Without memory for a larger table the old one serves on. */
static void a_table_that_cannot_grow_serves_on(void **state) {
    (void)state;
    cache.limit = 1000;
    uint64_t content = 0;
    for (; content < 64; content++) (void)normal(content);
    size_t buckets = cache.bucket_count;
    starve(0, false);
    rdo_meta_block *block = intern(RDO_META_NORMAL, content, NULL);
    assert_int_equal(feed(), 1);
    assert_non_null(block);
    assert_int_equal(cache.bucket_count, buckets);
    for (uint64_t i = 0; i <= content; i++) assert_true(is_kept(i));
    assert_ptr_equal(normal(content), block);
}

/* [M6] The end of a device drops even what is pinned. */
static void the_end_of_the_cache_drops_everything(void **state) {
    rdo_meta_pins pins = {0};
    (void)state;
    (void)normal(1), (void)pinned(2, &pins);
    rdo_meta_finish(&cache);
    rdo_free(pins.blocks);
    assert_int_equal(rdo_alloc_live(), 0);
}

static void the_checker_sees_wrong_counts(void **state) {
    (void)state;
    rdo_meta_block *block = normal(1);
    cache.entries++;
    assert_false(rdo_meta_check(&cache));
    cache.entries--, cache.pinned++;
    assert_false(rdo_meta_check(&cache));
    cache.pinned--, cache.bytes++;
    assert_false(rdo_meta_check(&cache));
    cache.bytes--, block->hash ^= 1;
    assert_false(rdo_meta_check(&cache));
    block->hash ^= 1;
    assert_true(rdo_meta_check(&cache));
}

/* [M8] These three have one hash. */
static void blocks_of_one_hash_are_told_apart_by_size_and_bytes(void **state) {
    static const uint8_t one[16] = {0xb9, 0x39, 0x42, 0xea, 0x7b, 0x73, 0x82, 0x67,
                                    0x66, 0x9f, 0x3d, 0x80, 0x5c, 0xf9, 0x75, 0xae};
    static const uint8_t other[16] = {0xb8, 0x1a, 0x07, 0x8d, 0xf2, 0xd8, 0x4f, 0x3b,
                                      0x3a, 0x52, 0x96, 0x09, 0x3b, 0xbc, 0x56, 0xaf};
    static const uint8_t shorter[15] = {0xb9, 0x39, 0x42, 0xea, 0x7b, 0x73, 0x82, 0x67,
                                        0x9f, 0x3d, 0x80, 0x5c, 0xf9, 0x75, 0xae};
    (void)state;
    rdo_meta_block *a = rdo_meta_intern(&cache, RDO_META_NORMAL, one, sizeof one, NULL);
    rdo_meta_block *b = rdo_meta_intern(&cache, RDO_META_NORMAL, other, sizeof other, NULL);
    rdo_meta_block *c = rdo_meta_intern(&cache, RDO_META_NORMAL, shorter, sizeof shorter, NULL);
    assert_true(a->hash == b->hash && b->hash == c->hash);
    assert_memory_equal(a->bytes, one, sizeof one);
    assert_memory_equal(b->bytes, other, sizeof other);
    assert_memory_equal(c->bytes, shorter, sizeof shorter);
    assert_ptr_equal(rdo_meta_intern(&cache, RDO_META_NORMAL, one, sizeof one, NULL), a);
    assert_ptr_equal(rdo_meta_intern(&cache, RDO_META_NORMAL, other, sizeof other, NULL), b);
    assert_int_equal(cache.entries, 3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fresh_cache, drop_cache)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(equal_bytes_are_stored_once),
        TEST(normal_mode_gates_on_size),
        TEST(capture_mode_caches_any_size),
        TEST(capture_mode_is_unbounded),
        TEST(normal_mode_evicts_the_least_recently_used),
        TEST(zero_capacity_disables_caching),
        TEST(a_pinned_entry_survives_eviction_until_its_graph_is_released),
        TEST(where_everything_is_pinned_nothing_is_evicted),
        TEST(a_capture_hit_on_a_normal_entry_pins_it),
        TEST(pins_are_counted_across_graphs),
        TEST(a_discard_unpins_without_removing),
        TEST(after_a_large_discard_the_limit_holds_again),
        TEST(clearing_keeps_only_what_graphs_pin),
        TEST(many_blocks_are_told_apart),
        TEST(without_memory_nothing_is_stored_and_nothing_is_lost),
        TEST(a_table_that_cannot_grow_serves_on),
        TEST(the_end_of_the_cache_drops_everything),
        TEST(the_checker_sees_wrong_counts),
        TEST(blocks_of_one_hash_are_told_apart_by_size_and_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
