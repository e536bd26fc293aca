/* Devices: opened by name, described, counted, never mixed. */
#include "conform.h"

static void base_name(const char *name, char *out, size_t size) {
    size_t length = strcspn(name, ":");
    CHECK(length < size);
    memcpy(out, name, length);
    out[length] = '\0';
}

static void refuse_open(const char *name, const rondo_device_desc *desc, rondo_code code) {
    rondo_device *device = (rondo_device *)&device;
    CHECK_CODE(rondo_device_open(name, desc, &device), code);
    CHECK(device == NULL);
}

static void accept_open(const char *name, const rondo_device_desc *desc) {
    rondo_device *device = NULL;
    CHECK_OK(rondo_device_open(name, desc, &device));
    CHECK(device != NULL);
    rondo_device_release(device);
}

/* [O1] */
static void a_device_says_what_it_is(struct conform *t) {
    char base[64];
    base_name(t->backend, base, sizeof base);
    rondo_device_info info;
    memset(&info, 0xa5, sizeof info);
    CHECK_OK(rondo_device_get_info(t->device, &info));
    assert_string_equal(info.backend, base);
    CHECK(info.name[0] != '\0');
    CHECK(info.alignment_bytes != 0 && (info.alignment_bytes & (info.alignment_bytes - 1)) == 0);
    CHECK(info.max_queues >= 1 && info.max_queues <= 1024);
}

/* [O1] */
static void an_unknown_name_is_refused_and_the_story_says_what_there_is(struct conform *t) {
    char base[64];
    base_name(t->backend, base, sizeof base);
    rondo_device *device = NULL;
    rondo_status status = CHECK_CODE(rondo_device_open("no-such-backend", NULL, &device), RONDO_UNAVAILABLE);
    CHECK(device == NULL);
    CHECK_SAYS(status, "no-such-backend");
    CHECK_SAYS(status, base);
    accept_open(t->backend, NULL);
}

/* [O1] */
static void a_device_number_past_the_last_is_unavailable(struct conform *t) {
    char base[64];
    char name[96];
    base_name(t->backend, base, sizeof base);
    snprintf(name, sizeof name, "%s:4000000", base);
    refuse_open(name, NULL, RONDO_UNAVAILABLE);
    snprintf(name, sizeof name, "%s:0", base);
    accept_open(name, NULL);
}

/* [O1, E2] */
static void a_name_that_is_no_name_is_unavailable(struct conform *t) {
    static const char *const endings[] = {":", ":x", ":0x", ":-1", ":+1", ": 0", "::0", ":99999999999999999999", " "};
    char base[64];
    char name[96];
    base_name(t->backend, base, sizeof base);
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        snprintf(name, sizeof name, "%s%s", base, endings[i]);
        refuse_open(name, NULL, RONDO_UNAVAILABLE);
    }
    refuse_open("", NULL, RONDO_UNAVAILABLE);
    refuse_open(":0", NULL, RONDO_UNAVAILABLE);
}

/* [E2] */
static void opening_without_a_name_or_a_place_for_the_device_is_invalid(struct conform *t) {
    refuse_open(NULL, NULL, RONDO_INVALID);
    CHECK_CODE(rondo_device_open(t->backend, NULL, NULL), RONDO_INVALID);
    rondo_device_desc desc = {0};
    accept_open(t->backend, &desc);
}

/* [E2] */
static void a_reserved_field_that_is_not_zero_is_invalid(struct conform *t) {
    rondo_device_desc desc = {0};
    desc.reserved_32 = 1;
    refuse_open(t->backend, &desc, RONDO_INVALID);
    desc.reserved_32 = 0;
    for (size_t i = 0; i < 4; i++) {
        desc.reserved[i] = UINT64_C(1) << 63;
        refuse_open(t->backend, &desc, RONDO_INVALID);
        desc.reserved[i] = 0;
    }
    accept_open(t->backend, &desc);
}

/* [E2] */
static void there_are_two_ways_of_waiting(struct conform *t) {
    rondo_device_desc desc = {.wait_policy = RONDO_WAIT_SPINNING + 1};
    refuse_open(t->backend, &desc, RONDO_RANGE);
    desc.wait_policy = RONDO_WAIT_SPINNING;
    accept_open(t->backend, &desc);
    desc.wait_policy = RONDO_WAIT_BRIEFLY;
    accept_open(t->backend, &desc);
}

/* [O3, E2] */
static void the_number_of_queues_has_a_range(struct conform *t) {
    rondo_device_desc desc = {0};
    desc.max_queues = 1025;
    refuse_open(t->backend, &desc, RONDO_RANGE);
    desc.max_queues = UINT32_MAX;
    refuse_open(t->backend, &desc, RONDO_RANGE);
    desc.max_queues = 1;
    accept_open(t->backend, &desc);
    desc.max_queues = 1024;
    accept_open(t->backend, &desc);
}

/* [E2] */
static void the_number_of_workers_has_a_range(struct conform *t) {
    rondo_device_desc desc = {0};
    desc.workers = UINT32_MAX;
    refuse_open(t->backend, &desc, RONDO_RANGE);
    desc.workers = 1;
    accept_open(t->backend, &desc);
}

/* [M1, E2] */
static void a_memory_layout_that_cannot_work_is_invalid(struct conform *t) {
    rondo_device_desc desc = {0};
    desc.memory.page_min_bytes = 4 << 20;
    desc.memory.page_max_bytes = 2 << 20;
    refuse_open(t->backend, &desc, RONDO_INVALID);
    desc.memory.page_max_bytes = 4 << 20;
    accept_open(t->backend, &desc);
    memset(&desc, 0, sizeof desc);
    desc.memory.small_page_bytes = 64 << 10;
    desc.memory.small_max_bytes = 128 << 10;
    refuse_open(t->backend, &desc, RONDO_INVALID);
    desc.memory.small_max_bytes = 32 << 10;
    accept_open(t->backend, &desc);
}

/* [O3] */
static void the_device_has_the_queues_that_were_asked_for(struct conform *t) {
    rondo_device_info info;
    CHECK_OK(rondo_device_get_info(t->device, &info));
    CHECK_EQUAL(info.max_queues, 3);
}

/* [O1] */
static void opening_and_closing_can_be_repeated(struct conform *t) {
    for (int i = 0; i < 20; i++) {
        accept_open(t->backend, NULL);
    }
}

/* [O1] */
static void several_devices_live_side_by_side(struct conform *t) {
    rondo_device *devices[4];
    for (size_t i = 0; i < 4; i++) {
        CHECK_OK(rondo_device_open(t->backend, NULL, &devices[i]));
        for (size_t k = 0; k < i; k++) {
            CHECK(devices[i] != devices[k]);
        }
    }
    for (size_t i = 0; i < 4; i++) {
        rondo_device_release(devices[i]);
    }
}

/* [O1] Children hold their parents. */
static void a_stream_keeps_its_device_working(struct conform *t) {
    rondo_device *device = NULL;
    rondo_stream *stream = NULL;
    rondo_buffer buffer = RONDO_NO_BUFFER;
    CHECK_OK(rondo_device_open(t->backend, NULL, &device));
    CHECK_OK(rondo_stream_create(device, &stream));
    rondo_device_release(device);
    CHECK_OK(rondo_buffer_create(stream, 64, RONDO_USAGE_GENERAL, &buffer));
    int32_t out = 0;
    int32_t value = 11;
    CHECK_OK(rondo_fill(stream, rondo_whole(buffer), &value, sizeof value, NULL));
    CHECK_OK(rondo_read(stream, rondo_slice(buffer, 60, 4), &out, NULL));
    CHECK_EQUAL(out, 11);
    rondo_stream_release(stream);
    rondo_buffer_release(buffer);
    CHECK_CODE(rondo_device_retain(device), RONDO_STALE);
}

/* [O1] */
static void a_retained_device_lives_until_its_last_release(struct conform *t) {
    rondo_device *device = NULL;
    rondo_device_info info;
    CHECK_OK(rondo_device_open(t->backend, NULL, &device));
    CHECK_OK(rondo_device_retain(device));
    rondo_device_release(device);
    CHECK_OK(rondo_device_get_info(device, &info));
    rondo_device_release(device);
    CHECK_CODE(rondo_device_get_info(device, &info), RONDO_STALE);
    CHECK_CODE(rondo_device_retain(device), RONDO_STALE);
    rondo_device_release(device);
    rondo_device_release(NULL);
}

/* [O1] */
static void the_list_of_devices_has_this_one(struct conform *t) {
    char base[64];
    base_name(t->backend, base, sizeof base);
    rondo_device_entry entries[64];
    size_t count = rondo_device_list(entries, 64);
    CHECK(count >= 1 && count <= 64);
    bool found = false;
    for (size_t i = 0; i < count; i++) {
        char entry_base[64];
        base_name(entries[i].name, entry_base, sizeof entry_base);
        found = found || (strcmp(entry_base, base) == 0 && entries[i].available);
        CHECK(entries[i].available == (entries[i].reason[0] == '\0'));
    }
    CHECK(found);
}

/* [O1] */
static void the_list_writes_no_more_than_it_may(struct conform *t) {
    (void)t;
    rondo_device_entry entries[2];
    memset(entries, 0x5a, sizeof entries);
    size_t count = rondo_device_list(NULL, 0);
    CHECK_EQUAL(rondo_device_list(entries, 1), count);
    CHECK(entries[0].name[0] != 0x5a);
    for (size_t i = 0; i < sizeof entries[1]; i++) {
        CHECK_EQUAL(((const unsigned char *)&entries[1])[i], 0x5a);
    }
}

/* [O1] Every name on the list that is available opens. */
static void what_the_list_calls_available_opens(struct conform *t) {
    (void)t;
    rondo_device_entry entries[64];
    size_t count = rondo_device_list(entries, 64);
    for (size_t i = 0; i < count && i < 64; i++) {
        if (entries[i].available) {
            accept_open(entries[i].name, NULL);
        } else {
            refuse_open(entries[i].name, NULL, RONDO_UNAVAILABLE);
        }
    }
}

/* Everything of one device, for calls that mix. */
struct other_device {
    rondo_device *device;
    rondo_stream *stream;
    rondo_buffer buffer;
    rondo_event *event;
};

static struct other_device open_other(struct conform *t) {
    struct other_device other = {0};
    CHECK_OK(rondo_device_open(t->backend, NULL, &other.device));
    CHECK_OK(rondo_stream_create(other.device, &other.stream));
    CHECK_OK(rondo_buffer_create(other.stream, 64, RONDO_USAGE_GENERAL, &other.buffer));
    CHECK_OK(rondo_event_create(other.device, &other.event));
    int32_t value = 1;
    CHECK_OK(rondo_fill(other.stream, rondo_whole(other.buffer), &value, sizeof value, NULL));
    return other;
}

static void close_other(struct other_device *other) {
    CHECK_OK(rondo_device_sync(other->device));
    rondo_event_release(other->event);
    rondo_buffer_release(other->buffer);
    rondo_stream_release(other->stream);
    rondo_device_release(other->device);
}

/* [O1, T8] */
static void transfers_that_mix_devices_are_foreign(struct conform *t) {
    struct other_device other = open_other(t);
    rondo_span mine = rondo_whole(conform_buffer(t, 64));
    rondo_span theirs = rondo_whole(other.buffer);
    char bytes[64] = {0};
    CHECK_CODE(rondo_write(t->stream, theirs, bytes, NULL), RONDO_FOREIGN);
    CHECK_CODE(rondo_read(t->stream, theirs, bytes, NULL), RONDO_FOREIGN);
    CHECK_CODE(rondo_fill(t->stream, theirs, bytes, 1, NULL), RONDO_FOREIGN);
    CHECK_CODE(rondo_copy(t->stream, mine, theirs, NULL), RONDO_FOREIGN);
    CHECK_CODE(rondo_copy(t->stream, theirs, mine, NULL), RONDO_FOREIGN);
    CHECK_CODE(rondo_copy(other.stream, theirs, mine, NULL), RONDO_FOREIGN);
    rondo_rect from = {mine, 8};
    rondo_rect to = {theirs, 8};
    CHECK_CODE(rondo_copy_2d(t->stream, to, from, 4, 8, NULL), RONDO_FOREIGN);
    CHECK_CODE(rondo_unmap(t->stream, theirs), RONDO_FOREIGN);
    void *data = &data;
    CHECK_CODE(rondo_map(t->stream, theirs, RONDO_READS, &data), RONDO_FOREIGN);
    CHECK(data == NULL);
    conform_expect_claimed(mine, RONDO_FOREIGN);
    CHECK_OK(rondo_write(t->stream, mine, bytes, NULL));
    CHECK_OK(rondo_copy(t->stream, mine, mine, NULL));
    conform_expect_claimed(theirs, RONDO_FOREIGN);
    CHECK_OK(rondo_fill(other.stream, theirs, bytes, 1, NULL));
    CHECK_OK(rondo_copy(other.stream, theirs, theirs, NULL));
    close_other(&other);
}

/* [O1] */
static void events_of_another_device_are_foreign(struct conform *t) {
    struct other_device other = open_other(t);
    rondo_event *mine = conform_event(t);
    uint64_t elapsed_ns = 0;
    CHECK_OK(rondo_event_record(t->stream, mine, NULL));
    CHECK_OK(rondo_event_record(other.stream, other.event, NULL));
    CHECK_CODE(rondo_event_record(t->stream, other.event, NULL), RONDO_FOREIGN);
    CHECK_CODE(rondo_event_wait(t->stream, other.event, NULL), RONDO_FOREIGN);
    CHECK_CODE(rondo_event_elapsed(mine, other.event, &elapsed_ns), RONDO_FOREIGN);
    CHECK_OK(rondo_event_wait(t->stream, mine, NULL));
    close_other(&other);
}

static int do_nothing(void *user, const rondo_host_access *accesses, size_t count) {
    (void)user;
    (void)accesses;
    (void)count;
    return 0;
}

/* [O1] */
static void host_calls_on_memory_of_another_device_are_foreign(struct conform *t) {
    struct other_device other = open_other(t);
    rondo_buffer mine = conform_buffer(t, 64);
    rondo_host_access access = {rondo_whole(other.buffer), RONDO_READS, NULL};
    CHECK_CODE(rondo_host_call(t->stream, do_nothing, NULL, NULL, &access, 1, NULL), RONDO_FOREIGN);
    access.span = rondo_whole(mine);
    CHECK_OK(rondo_host_call(t->stream, do_nothing, NULL, NULL, &access, 1, NULL));
    close_other(&other);
}

/* [O1] */
static void host_blocks_of_another_device_are_foreign(struct conform *t) {
    struct other_device other = open_other(t);
    rondo_span mine = rondo_whole(conform_buffer(t, 64));
    rondo_buffer block = RONDO_NO_BUFFER;
    CHECK_OK(rondo_host_create(other.stream, 64, &block));
    CHECK_CODE(rondo_write_live(t->stream, mine, rondo_whole(block), NULL), RONDO_FOREIGN);
    CHECK_CODE(rondo_read_async(t->stream, mine, rondo_whole(block), NULL), RONDO_FOREIGN);
    rondo_buffer own = conform_host_block(t, 64);
    CHECK_OK(rondo_write_live(t->stream, mine, rondo_whole(own), NULL));
    rondo_buffer_release(block);
    close_other(&other);
}

/* [O1] */
static void kernels_and_arguments_of_another_device_are_foreign(struct conform *t) {
    struct other_device other = open_other(t);
    rondo_span mine = rondo_whole(conform_buffer(t, 64));
    rondo_span theirs = rondo_whole(other.buffer);
    CHECK_CODE(conform_launch_iota(t, other.stream, theirs, 0, 16, NULL), RONDO_FOREIGN);
    CHECK_CODE(conform_launch_iota(t, t->stream, theirs, 0, 16, NULL), RONDO_FOREIGN);
    CHECK_CODE(conform_launch_copy(t, t->stream, mine, theirs, 16, NULL), RONDO_FOREIGN);
    CHECK_OK(conform_launch_iota(t, t->stream, mine, 0, 16, NULL));
    close_other(&other);
}

/* [M6] */
static void the_statistics_count_what_lives(struct conform *t) {
    rondo_device_stats before = conform_stats(t);
    CHECK_EQUAL(before.streams, 1);
    CHECK_EQUAL(before.buffers, 0);
    conform_stream(t);
    conform_event(t);
    rondo_buffer buffer = conform_buffer(t, 16);
    conform_host_block(t, 16);
    rondo_device_stats after = conform_stats(t);
    CHECK_EQUAL(after.streams, 2);
    CHECK_EQUAL(after.events, 1);
    CHECK_EQUAL(after.buffers, 1);
    CHECK_EQUAL(after.host_blocks, 1);
    rondo_buffer_release(buffer);
    CHECK_EQUAL(conform_stats(t).buffers, 0);
}

/* [M6] */
static void the_statistics_count_what_was_done(struct conform *t) {
    rondo_buffer buffer = conform_buffer(t, 16);
    rondo_device_stats before = conform_stats(t);
    conform_fill_i32(t, buffer, 3);
    CHECK_OK(rondo_host_call(t->stream, do_nothing, NULL, NULL, NULL, 0, NULL));
    CHECK_EQUAL(conform_read_i32(t, buffer, 0), 3);
    rondo_device_stats after = conform_stats(t);
    CHECK_EQUAL(after.transfers, before.transfers + 2);
    CHECK_EQUAL(after.host_calls, before.host_calls + 1);
    CHECK_EQUAL(after.failures, before.failures);
    CHECK_EQUAL(after.recorded, 0);
}

/* [C17] */
static void a_device_that_records_nothing_says_so(struct conform *t) {
    CHECK(!rondo_device_is_recording(t->device));
    CHECK(!rondo_device_is_recording(NULL));
    CHECK_OK(rondo_capture_prepare(t->stream));
    CHECK(!rondo_device_is_recording(t->device));
    CHECK_OK(rondo_capture_begin(t->stream));
    CHECK(rondo_device_is_recording(t->device));
    CHECK_OK(rondo_capture_abort(t->stream));
    CHECK(!rondo_device_is_recording(t->device));
}

static void the_library_says_which_version_it_is(struct conform *t) {
    (void)t;
    CHECK_EQUAL(rondo_version(), RONDO_VERSION_MAJOR * 1000000 + RONDO_VERSION_MINOR * 1000 + RONDO_VERSION_PATCH);
    assert_string_equal(rondo_version_string(), RONDO_VERSION_STRING);
}

static const rondo_device_desc three_queues = {.max_queues = 3};

const struct conform_case conform_object_device_cases[] = {
    CONFORM_CASE(a_device_says_what_it_is, NEEDS_NOTHING),
    CONFORM_CASE(an_unknown_name_is_refused_and_the_story_says_what_there_is, NEEDS_NOTHING),
    CONFORM_CASE(a_device_number_past_the_last_is_unavailable, NEEDS_NOTHING),
    CONFORM_CASE(a_name_that_is_no_name_is_unavailable, NEEDS_NOTHING),
    CONFORM_CASE(opening_without_a_name_or_a_place_for_the_device_is_invalid, NEEDS_NOTHING),
    CONFORM_CASE(a_reserved_field_that_is_not_zero_is_invalid, NEEDS_NOTHING),
    CONFORM_CASE(there_are_two_ways_of_waiting, NEEDS_NOTHING),
    CONFORM_CASE(the_number_of_queues_has_a_range, NEEDS_NOTHING),
    CONFORM_CASE(the_number_of_workers_has_a_range, NEEDS_NOTHING),
    CONFORM_CASE(a_memory_layout_that_cannot_work_is_invalid, NEEDS_NOTHING),
    CONFORM_CASE_ON(the_device_has_the_queues_that_were_asked_for, NEEDS_NOTHING, &three_queues),
    CONFORM_CASE(opening_and_closing_can_be_repeated, NEEDS_NOTHING),
    CONFORM_CASE(several_devices_live_side_by_side, NEEDS_NOTHING),
    CONFORM_CASE(a_stream_keeps_its_device_working, NEEDS_NOTHING),
    CONFORM_CASE(a_retained_device_lives_until_its_last_release, NEEDS_NOTHING),
    CONFORM_CASE(the_list_of_devices_has_this_one, NEEDS_NOTHING),
    CONFORM_CASE(the_list_writes_no_more_than_it_may, NEEDS_NOTHING),
    CONFORM_CASE(what_the_list_calls_available_opens, NEEDS_NOTHING),
    CONFORM_CASE(transfers_that_mix_devices_are_foreign, NEEDS_NOTHING),
    CONFORM_CASE(events_of_another_device_are_foreign, NEEDS_NOTHING),
    CONFORM_CASE(host_calls_on_memory_of_another_device_are_foreign, NEEDS_MAP),
    CONFORM_CASE(host_blocks_of_another_device_are_foreign, NEEDS_NOTHING),
    CONFORM_CASE(kernels_and_arguments_of_another_device_are_foreign, NEEDS_KERNELS),
    CONFORM_CASE(the_statistics_count_what_lives, NEEDS_NOTHING),
    CONFORM_CASE(the_statistics_count_what_was_done, NEEDS_NOTHING),
    CONFORM_CASE(a_device_that_records_nothing_says_so, NEEDS_NOTHING),
    CONFORM_CASE(the_library_says_which_version_it_is, NEEDS_NOTHING),
    CONFORM_END,
};
