/* Buffers: ids, references, slices, imports and mappings. */
#include "conform.h"

/* [O4] */
static void memory_ids_are_unique_and_never_reused(struct conform *t) {
    uint64_t seen[500];
    for (size_t i = 0; i < 500; i++) {
        rondo_buffer buffer = RONDO_NO_BUFFER;
        CHECK_OK(rondo_buffer_create(t->stream, 64, RONDO_USAGE_GENERAL, &buffer));
        seen[i] = buffer.id;
        for (size_t k = 0; k < i; k++) {
            CHECK(seen[k] != buffer.id);
        }
        rondo_buffer_release(buffer);
    }
}

/* [O4, O6] */
static void a_buffer_says_what_it_is(struct conform *t) {
    rondo_buffer_info info;
    memset(&info, 0xa5, sizeof info);
    CHECK_OK(rondo_buffer_get_info(conform_buffer(t, 1000), &info));
    CHECK_EQUAL(info.size_bytes, 1000);
    CHECK_EQUAL(info.home_stream_id, rondo_stream_id(t->stream));
    CHECK_EQUAL(info.usage, RONDO_USAGE_GENERAL);
    CHECK(!info.host && !info.imported && !info.mapped);
    CHECK_EQUAL(info.graphs, 0);
}

/* [M1] */
static void a_buffer_keeps_its_usage(struct conform *t) {
    static const rondo_usage usages[] = {RONDO_USAGE_GENERAL, RONDO_USAGE_LASTING, RONDO_USAGE_ONE_OFF};
    for (size_t i = 0; i < 3; i++) {
        rondo_buffer buffer = RONDO_NO_BUFFER;
        rondo_buffer_info info;
        CHECK_OK(rondo_buffer_create(t->stream, 96, usages[i], &buffer));
        conform_keep_buffer(t, buffer);
        CHECK_OK(rondo_buffer_get_info(buffer, &info));
        CHECK_EQUAL(info.usage, usages[i]);
        conform_fill_i32(t, buffer, (int32_t)i);
        CHECK_EQUAL(conform_read_i32(t, buffer, 23), i);
    }
    rondo_buffer buffer = {1};
    CHECK_CODE(rondo_buffer_create(t->stream, 96, (rondo_usage)3, &buffer), RONDO_INVALID);
    CHECK_EQUAL(buffer.id, 0);
}

/* [O4] */
static void a_retained_buffer_lives_until_its_last_release(struct conform *t) {
    rondo_buffer buffer = RONDO_NO_BUFFER;
    CHECK_OK(rondo_buffer_create(t->stream, 4, RONDO_USAGE_GENERAL, &buffer));
    conform_fill_i32(t, buffer, 8);
    CHECK_OK(rondo_buffer_retain(buffer));
    rondo_buffer_release(buffer);
    CHECK_EQUAL(conform_read_i32(t, buffer, 0), 8);
    rondo_buffer_release(buffer);
    CHECK_CODE(rondo_buffer_retain(buffer), RONDO_STALE);
    CHECK_CODE(conform_try_read(t->stream, rondo_slice(buffer, 0, 4)), RONDO_STALE);
    rondo_buffer_release(buffer);
    rondo_buffer_release(RONDO_NO_BUFFER);
}

/* [O4, O6] */
static void a_dead_id_never_reaches_the_memory_of_its_successor(struct conform *t) {
    rondo_buffer first = RONDO_NO_BUFFER;
    CHECK_OK(rondo_buffer_create(t->stream, 64, RONDO_USAGE_GENERAL, &first));
    conform_fill_i32(t, first, 1);
    rondo_buffer_release(first);
    rondo_buffer second = conform_buffer(t, 64);
    conform_fill_i32(t, second, 2);
    int32_t other = 3;
    CHECK_CODE(rondo_fill(t->stream, rondo_whole(first), &other, sizeof other, NULL), RONDO_STALE);
    CHECK_CODE(rondo_copy(t->stream, rondo_whole(first), rondo_whole(second), NULL), RONDO_STALE);
    conform_expect_all_i32(t, second, 2, 16);
    CHECK_CODE(rondo_copy(t->stream, rondo_whole(second), rondo_whole(first), NULL), RONDO_STALE);
    conform_expect_claimed(rondo_whole(second), RONDO_STALE);
}

/* [O4] */
static void slices_of_one_buffer_share_their_bytes(struct conform *t) {
    rondo_buffer buffer = conform_buffer(t, 32);
    conform_fill_i32(t, buffer, 0);
    int32_t value = 9;
    CHECK_OK(rondo_fill(t->stream, rondo_slice(buffer, 8, 8), &value, sizeof value, NULL));
    int32_t pair[2] = {0, 0};
    CHECK_OK(rondo_read(t->stream, rondo_slice(buffer, 4, 8), pair, NULL));
    CHECK_EQUAL(pair[0], 0);
    CHECK_EQUAL(pair[1], 9);
}

/* [O4] RONDO_WHOLE reaches from the offset to the end. */
static void the_rest_of_a_buffer_is_a_slice(struct conform *t) {
    rondo_buffer buffer = conform_buffer(t, 16);
    conform_fill_i32(t, buffer, 1);
    int32_t value = 6;
    CHECK_OK(rondo_fill(t->stream, rondo_slice(buffer, 8, RONDO_WHOLE), &value, sizeof value, NULL));
    static const int32_t expected[] = {1, 1, 6, 6};
    conform_expect_i32(t, buffer, expected, 4);
    CHECK_OK(rondo_span_status(rondo_slice(buffer, 16, RONDO_WHOLE)));
    CHECK_CODE(rondo_span_status(rondo_slice(buffer, 17, RONDO_WHOLE)), RONDO_RANGE);
}

/* [W5] */
static void a_buffer_may_have_no_bytes(struct conform *t) {
    rondo_buffer buffer = conform_buffer(t, 0);
    rondo_buffer_info info;
    CHECK_OK(rondo_buffer_get_info(buffer, &info));
    CHECK_EQUAL(info.size_bytes, 0);
    CHECK_OK(rondo_span_status(rondo_whole(buffer)));
    char byte = 1;
    CHECK_OK(rondo_write(t->stream, rondo_whole(buffer), &byte, NULL));
    CHECK_OK(rondo_fill(t->stream, rondo_whole(buffer), &byte, 1, NULL));
    CHECK_OK(rondo_read(t->stream, rondo_whole(buffer), &byte, NULL));
    CHECK_EQUAL(byte, 1);
    CHECK_CODE(rondo_fill(t->stream, rondo_slice(buffer, 0, 1), &byte, 1, NULL), RONDO_RANGE);
    rondo_buffer_release(buffer);
    CHECK_CODE(rondo_span_status(rondo_whole(buffer)), RONDO_STALE);
}

/* [E2] */
static void creating_a_buffer_checks_its_arguments(struct conform *t) {
    rondo_buffer buffer = {77};
    CHECK_CODE(rondo_buffer_create(NULL, 16, RONDO_USAGE_GENERAL, &buffer), RONDO_STALE);
    CHECK_EQUAL(buffer.id, 0);
    CHECK_CODE(rondo_buffer_create(t->stream, 16, RONDO_USAGE_GENERAL, NULL), RONDO_INVALID);
    CHECK_EQUAL(conform_stats(t).buffers, 0);
    rondo_buffer_info info;
    CHECK_CODE(rondo_buffer_get_info(RONDO_NO_BUFFER, &info), RONDO_STALE);
    CHECK_CODE(rondo_buffer_get_info(conform_buffer(t, 16), NULL), RONDO_INVALID);
    CHECK_CODE(rondo_buffer_retain(RONDO_NO_BUFFER), RONDO_STALE);
}

/* Memory of the user's, and how often it was given back. */
struct owned {
    _Alignas(4096) unsigned char bytes[8192];
    int releases;
};
static struct owned owned;

static void count_release(void *user) {
    ((struct owned *)user)->releases += 1;
}

static rondo_buffer import_bytes(struct conform *t, uint64_t offset_bytes, uint64_t size_bytes) {
    rondo_buffer buffer = RONDO_NO_BUFFER;
    CHECK_OK(rondo_buffer_import(t->stream, owned.bytes + offset_bytes, size_bytes, count_release, &owned, &buffer));
    return conform_keep_buffer(t, buffer);
}

static void refuse_import(struct conform *t, void *data, uint64_t size_bytes, rondo_code code) {
    rondo_buffer buffer = {5};
    CHECK_CODE(rondo_buffer_import(t->stream, data, size_bytes, count_release, &owned, &buffer), code);
    CHECK_EQUAL(buffer.id, 0);
}

/* [O4] */
static void an_import_is_the_users_memory_itself(struct conform *t) {
    memset(owned.bytes, 0x11, sizeof owned.bytes);
    rondo_buffer buffer = import_bytes(t, 0, 4096);
    rondo_buffer_info info;
    CHECK_OK(rondo_buffer_get_info(buffer, &info));
    CHECK(info.imported);
    CHECK_EQUAL(info.size_bytes, 4096);
    CHECK_EQUAL(conform_read_i32(t, buffer, 1000), 0x11111111);
    CHECK_OK(rondo_span_status(rondo_whole(buffer)));
    conform_fill_i32(t, buffer, 0x22222222);
    CHECK_OK(rondo_stream_sync(t->stream));
    rondo_buffer_release(buffer);
    CHECK_EQUAL(owned.bytes[0], 0x22);
    CHECK_EQUAL(owned.bytes[4095], 0x22);
    CHECK_EQUAL(owned.bytes[4096], 0x11);
}

/* [O4] */
static void an_import_is_given_back_once(struct conform *t) {
    rondo_buffer buffer = import_bytes(t, 0, 4096);
    CHECK_OK(rondo_buffer_retain(buffer));
    rondo_buffer_release(buffer);
    CHECK_EQUAL(owned.releases, 0);
    rondo_buffer_release(buffer);
    CHECK_EQUAL(owned.releases, 1);
    rondo_buffer_release(buffer);
    CHECK_OK(rondo_device_sync(t->device));
    CHECK_EQUAL(owned.releases, 1);
}

/* [O4, P3] */
static void an_import_is_given_back_after_the_last_graph_that_uses_it(struct conform *t) {
    rondo_buffer source = import_bytes(t, 0, 64);
    rondo_buffer target = conform_buffer(t, 64);
    CHECK_OK(rondo_capture_prepare(t->stream));
    CHECK_OK(rondo_capture_begin(t->stream));
    CHECK_OK(rondo_copy(t->stream, rondo_whole(target), rondo_whole(source), NULL));
    rondo_graph *graph = NULL;
    CHECK_OK(rondo_capture_end(t->stream, RONDO_END_DEFAULT, &graph));
    rondo_buffer_release(source);
    CHECK_EQUAL(owned.releases, 0);
    memset(owned.bytes, 0x33, 64);
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    CHECK_EQUAL(conform_read_i32(t, target, 0), 0x33333333);
    CHECK_EQUAL(owned.releases, 0);
    rondo_graph_release(graph);
    CHECK_OK(rondo_device_sync(t->device));
    CHECK_EQUAL(owned.releases, 1);
}

/* [O4] */
static void an_import_that_overlaps_a_live_one_is_refused(struct conform *t) {
    rondo_buffer first = import_bytes(t, 1024, 1024);
    refuse_import(t, owned.bytes + 1024, 1024, RONDO_OVERLAP);
    refuse_import(t, owned.bytes, 4096, RONDO_OVERLAP);
    refuse_import(t, owned.bytes + 1088, 64, RONDO_OVERLAP);
    refuse_import(t, owned.bytes, 1025, RONDO_OVERLAP);
    refuse_import(t, owned.bytes + 1984, 1024, RONDO_OVERLAP);
    CHECK_EQUAL(owned.releases, 0);
    import_bytes(t, 0, 1024);
    import_bytes(t, 2048, 1024);
    rondo_buffer_release(first);
    CHECK_EQUAL(owned.releases, 1);
    import_bytes(t, 1024, 1024);
}

/* [O4] */
static void an_import_that_overlaps_a_host_block_is_refused(struct conform *t) {
    rondo_buffer block = conform_host_block(t, 4096);
    unsigned char *data = (unsigned char *)rondo_host_data(block);
    refuse_import(t, data, 4096, RONDO_OVERLAP);
    rondo_buffer imported = RONDO_NO_BUFFER;
    CHECK_OK(rondo_host_import(t->stream, owned.bytes, 64, count_release, &owned, &imported));
    conform_keep_buffer(t, imported);
    refuse_import(t, owned.bytes, 4096, RONDO_OVERLAP);
    import_bytes(t, 64, 64);
}

/* [O4, E2] */
static void an_import_checks_its_arguments(struct conform *t) {
    refuse_import(t, NULL, 64, RONDO_INVALID);
    refuse_import(t, owned.bytes, 0, RONDO_INVALID);
    refuse_import(t, owned.bytes + 1, 64, RONDO_INVALID);
    refuse_import(t, owned.bytes + 32, 64, RONDO_INVALID);
    CHECK_CODE(rondo_buffer_import(t->stream, owned.bytes, 64, count_release, &owned, NULL), RONDO_INVALID);
    rondo_buffer buffer = {5};
    CHECK_CODE(rondo_buffer_import(NULL, owned.bytes, 64, count_release, &owned, &buffer), RONDO_STALE);
    CHECK_EQUAL(buffer.id, 0);
    CHECK_EQUAL(owned.releases, 0);
    import_bytes(t, 64, 1);
}

/* [O4] */
static void a_backend_that_imports_nothing_says_so(struct conform *t) {
    rondo_buffer buffer = {5};
    rondo_status status = rondo_buffer_import(t->stream, owned.bytes, 4096, count_release, &owned, &buffer);
    bool offers = (conform_backend_find(t->backend)->offers & NEEDS_IMPORT) != 0;
    if (offers) {
        CHECK_OK(status);
        rondo_buffer_release(buffer);
        CHECK_EQUAL(owned.releases, 1);
    } else {
        CHECK_CODE(status, RONDO_UNSUPPORTED);
        CHECK_EQUAL(buffer.id, 0);
        CHECK_EQUAL(owned.releases, 0);
    }
}

static void *map_span(struct conform *t, rondo_span span, rondo_access_mode mode) {
    void *data = NULL;
    CHECK_OK(rondo_map(t->stream, span, mode, &data));
    return data;
}

static void refuse_map(struct conform *t, rondo_span span, rondo_access_mode mode, rondo_code code) {
    void *data = &data;
    CHECK_CODE(rondo_map(t->stream, span, mode, &data), code);
    CHECK(data == NULL);
}

/* [O4] */
static void a_mapping_for_reading_shows_the_bytes(struct conform *t) {
    static const int32_t values[] = {4, 5, 6, 7};
    rondo_buffer buffer = conform_buffer_i32(t, values, 4);
    rondo_buffer_info info;
    const int32_t *data = (const int32_t *)map_span(t, rondo_slice(buffer, 4, 12), RONDO_READS);
    CHECK_EQUAL(data[0], 5);
    CHECK_EQUAL(data[2], 7);
    CHECK_OK(rondo_buffer_get_info(buffer, &info));
    CHECK(info.mapped);
    CHECK_OK(rondo_unmap(t->stream, rondo_slice(buffer, 4, 12)));
    CHECK_OK(rondo_buffer_get_info(buffer, &info));
    CHECK(!info.mapped);
}

/* [O4] */
static void what_a_mapping_writes_is_in_the_buffer(struct conform *t) {
    rondo_buffer buffer = conform_buffer(t, 16);
    conform_fill_i32(t, buffer, 1);
    int32_t *data = (int32_t *)map_span(t, rondo_slice(buffer, 8, 4), RONDO_WRITES);
    data[0] = 42;
    CHECK_OK(rondo_unmap(t->stream, rondo_slice(buffer, 8, 4)));
    static const int32_t expected[] = {1, 1, 42, 1};
    conform_expect_i32(t, buffer, expected, 4);
    data = (int32_t *)map_span(t, rondo_whole(buffer), RONDO_READS_WRITES);
    data[3] = data[2] + 1;
    CHECK_OK(rondo_unmap(t->stream, rondo_whole(buffer)));
    CHECK_EQUAL(conform_read_i32(t, buffer, 3), 43);
}

/* [O4, T8] What was refused has claimed the bytes that it would have written. */
static void work_that_conflicts_with_a_mapping_is_refused(struct conform *t) {
    rondo_buffer buffer = conform_buffer(t, 64);
    rondo_buffer other = conform_buffer(t, 64);
    conform_fill_i32(t, buffer, 1);
    conform_fill_i32(t, other, 2);
    rondo_span mapped = rondo_slice(buffer, 16, 16);
    int32_t value = 3;
    map_span(t, mapped, RONDO_READS);
    CHECK_CODE(rondo_fill(t->stream, rondo_whole(buffer), &value, sizeof value, NULL), RONDO_BUSY);
    CHECK_CODE(rondo_write(t->stream, rondo_slice(buffer, 28, 4), &value, NULL), RONDO_BUSY);
    CHECK_CODE(rondo_copy(t->stream, mapped, rondo_slice(other, 0, 16), NULL), RONDO_BUSY);
    refuse_map(t, rondo_slice(buffer, 31, 1), RONDO_WRITES, RONDO_BUSY);
    CHECK_OK(rondo_fill(t->stream, rondo_slice(buffer, 32, 32), &value, sizeof value, NULL));
    CHECK_OK(rondo_fill(t->stream, rondo_slice(buffer, 0, 16), &value, sizeof value, NULL));
    CHECK_OK(rondo_unmap(t->stream, mapped));
    CHECK_CODE(rondo_span_status(mapped), RONDO_TAINTED);
    CHECK_OK(rondo_fill(t->stream, rondo_whole(buffer), &value, sizeof value, NULL));
    conform_expect_all_i32(t, buffer, 3, 16);
}

/* [O4] */
static void work_that_only_reads_goes_on_beside_a_mapping_for_reading(struct conform *t) {
    rondo_buffer buffer = conform_buffer(t, 64);
    rondo_buffer other = conform_buffer(t, 64);
    conform_fill_i32(t, buffer, 1);
    map_span(t, rondo_slice(buffer, 16, 16), RONDO_READS);
    CHECK_OK(conform_try_read(t->stream, rondo_whole(buffer)));
    CHECK_OK(rondo_copy(t->stream, rondo_whole(other), rondo_whole(buffer), NULL));
    CHECK_OK(rondo_unmap(t->stream, rondo_slice(buffer, 16, 16)));
    conform_expect_all_i32(t, other, 1, 16);
}

/* [O4] */
static void nobody_reads_what_a_mapping_is_writing(struct conform *t) {
    rondo_buffer buffer = conform_buffer(t, 64);
    conform_fill_i32(t, buffer, 1);
    rondo_span mapped = rondo_slice(buffer, 0, 32);
    map_span(t, mapped, RONDO_WRITES);
    CHECK_CODE(conform_try_read(t->stream, rondo_whole(buffer)), RONDO_BUSY);
    CHECK_CODE(conform_try_read(t->stream, rondo_slice(buffer, 31, 1)), RONDO_BUSY);
    refuse_map(t, mapped, RONDO_READS, RONDO_BUSY);
    CHECK_OK(conform_try_read(t->stream, rondo_slice(buffer, 32, 32)));
    CHECK_OK(rondo_unmap(t->stream, mapped));
    CHECK_OK(conform_try_read(t->stream, rondo_whole(buffer)));
}

/* [O4] */
static void two_mappings_for_reading_may_overlap(struct conform *t) {
    rondo_buffer buffer = conform_buffer(t, 64);
    conform_fill_i32(t, buffer, 1);
    map_span(t, rondo_slice(buffer, 0, 32), RONDO_READS);
    map_span(t, rondo_slice(buffer, 16, 32), RONDO_READS);
    CHECK_OK(rondo_unmap(t->stream, rondo_slice(buffer, 0, 32)));
    int32_t value = 2;
    CHECK_CODE(rondo_fill(t->stream, rondo_slice(buffer, 16, 4), &value, 4, NULL), RONDO_BUSY);
    CHECK_OK(rondo_fill(t->stream, rondo_slice(buffer, 0, 16), &value, 4, NULL));
    CHECK_OK(rondo_unmap(t->stream, rondo_slice(buffer, 16, 32)));
}

/* [O4] */
static void only_what_is_mapped_can_be_unmapped(struct conform *t) {
    rondo_buffer buffer = conform_buffer(t, 64);
    conform_fill_i32(t, buffer, 1);
    CHECK_CODE(rondo_unmap(t->stream, rondo_whole(buffer)), RONDO_STATE);
    map_span(t, rondo_slice(buffer, 0, 32), RONDO_READS);
    CHECK_CODE(rondo_unmap(t->stream, rondo_whole(buffer)), RONDO_STATE);
    CHECK_CODE(rondo_unmap(t->stream, rondo_slice(buffer, 0, 16)), RONDO_STATE);
    CHECK_OK(rondo_unmap(t->stream, rondo_slice(buffer, 0, 32)));
    CHECK_CODE(rondo_unmap(t->stream, rondo_slice(buffer, 0, 32)), RONDO_STATE);
    CHECK_EQUAL(conform_read_i32(t, buffer, 0), 1);
}

/* [E2] */
static void mapping_checks_its_arguments(struct conform *t) {
    rondo_buffer buffer = conform_buffer(t, 64);
    conform_fill_i32(t, buffer, 1);
    refuse_map(t, rondo_whole(buffer), (rondo_access_mode)0, RONDO_INVALID);
    refuse_map(t, rondo_whole(buffer), (rondo_access_mode)4, RONDO_INVALID);
    refuse_map(t, rondo_slice(buffer, 32, 33), RONDO_READS, RONDO_RANGE);
    refuse_map(t, rondo_whole(RONDO_NO_BUFFER), RONDO_READS, RONDO_STALE);
    CHECK_CODE(rondo_map(t->stream, rondo_whole(buffer), RONDO_READS, NULL), RONDO_INVALID);
    void *data = &data;
    CHECK_CODE(rondo_map(NULL, rondo_whole(buffer), RONDO_READS, &data), RONDO_STALE);
    CHECK(data == NULL);
    CHECK_CODE(rondo_unmap(NULL, rondo_whole(buffer)), RONDO_STALE);
    map_span(t, rondo_slice(buffer, 32, 32), RONDO_READS);
    CHECK_OK(rondo_unmap(t->stream, rondo_slice(buffer, 32, 32)));
}

/* [O4, M6] */
static void releasing_a_mapped_buffer_ends_its_mapping(struct conform *t) {
    rondo_buffer buffer = conform_buffer(t, 64);
    conform_fill_i32(t, buffer, 1);
    map_span(t, rondo_whole(buffer), RONDO_READS);
    rondo_buffer_release(buffer);
    CHECK_CODE(rondo_unmap(t->stream, rondo_whole(buffer)), RONDO_STALE);
    CHECK_EQUAL(conform_stats(t).buffers, 0);
}

/* [O4, M5] */
static void a_mapped_buffer_stays_where_it_is(struct conform *t) {
    rondo_buffer before[16];
    for (size_t i = 0; i < 16; i++) {
        before[i] = conform_buffer(t, 4096);
        conform_fill_i32(t, before[i], (int32_t)i);
    }
    const int32_t *data = (const int32_t *)map_span(t, rondo_whole(before[15]), RONDO_READS);
    for (size_t i = 0; i < 15; i++) {
        rondo_buffer_release(before[i]);
    }
    CHECK_OK(rondo_device_trim(t->device, NULL));
    CHECK_EQUAL(data[0], 15);
    CHECK_EQUAL(data[1023], 15);
    CHECK_OK(rondo_unmap(t->stream, rondo_whole(before[15])));
    CHECK_EQUAL(conform_read_i32(t, before[15], 512), 15);
}

const struct conform_case conform_object_buffer_cases[] = {
    CONFORM_CASE(memory_ids_are_unique_and_never_reused, NEEDS_NOTHING),
    CONFORM_CASE(a_buffer_says_what_it_is, NEEDS_NOTHING),
    CONFORM_CASE(a_buffer_keeps_its_usage, NEEDS_NOTHING),
    CONFORM_CASE(a_retained_buffer_lives_until_its_last_release, NEEDS_NOTHING),
    CONFORM_CASE(a_dead_id_never_reaches_the_memory_of_its_successor, NEEDS_NOTHING),
    CONFORM_CASE(slices_of_one_buffer_share_their_bytes, NEEDS_NOTHING),
    CONFORM_CASE(the_rest_of_a_buffer_is_a_slice, NEEDS_NOTHING),
    CONFORM_CASE(a_buffer_may_have_no_bytes, NEEDS_NOTHING),
    CONFORM_CASE(creating_a_buffer_checks_its_arguments, NEEDS_NOTHING),
    CONFORM_CASE(an_import_is_the_users_memory_itself, NEEDS_IMPORT),
    CONFORM_CASE(an_import_is_given_back_once, NEEDS_IMPORT),
    CONFORM_CASE(an_import_is_given_back_after_the_last_graph_that_uses_it, NEEDS_IMPORT),
    CONFORM_CASE(an_import_that_overlaps_a_live_one_is_refused, NEEDS_IMPORT),
    CONFORM_CASE(an_import_that_overlaps_a_host_block_is_refused, NEEDS_IMPORT),
    CONFORM_CASE(an_import_checks_its_arguments, NEEDS_IMPORT),
    CONFORM_CASE(a_backend_that_imports_nothing_says_so, NEEDS_NOTHING),
    CONFORM_CASE(a_mapping_for_reading_shows_the_bytes, NEEDS_MAP),
    CONFORM_CASE(what_a_mapping_writes_is_in_the_buffer, NEEDS_MAP),
    CONFORM_CASE(work_that_conflicts_with_a_mapping_is_refused, NEEDS_MAP),
    CONFORM_CASE(work_that_only_reads_goes_on_beside_a_mapping_for_reading, NEEDS_MAP),
    CONFORM_CASE(nobody_reads_what_a_mapping_is_writing, NEEDS_MAP),
    CONFORM_CASE(two_mappings_for_reading_may_overlap, NEEDS_MAP),
    CONFORM_CASE(only_what_is_mapped_can_be_unmapped, NEEDS_MAP),
    CONFORM_CASE(mapping_checks_its_arguments, NEEDS_MAP),
    CONFORM_CASE(releasing_a_mapped_buffer_ends_its_mapping, NEEDS_MAP),
    CONFORM_CASE(a_mapped_buffer_stays_where_it_is, NEEDS_MAP),
    CONFORM_END,
};
