/* Pools: what shares a page with what, where a buffer sits, and what the reports say of it. */
#include "conform.h"

static rondo_buffer_info info_of(rondo_buffer buffer) {
    rondo_buffer_info info;
    CHECK_OK(rondo_buffer_get_info(buffer, &info));
    return info;
}

static rondo_buffer make(struct conform *t, uint64_t size_bytes, rondo_usage usage) {
    rondo_buffer buffer = RONDO_NO_BUFFER;
    CHECK_OK(rondo_buffer_create(t->stream, size_bytes, usage, &buffer));
    return conform_keep_buffer(t, buffer);
}

/* The reserved bytes of all kinds that hold device memory. */
static uint64_t reserved_bytes(struct conform *t) {
    return conform_report(t, RONDO_POOL_SMALL).reserved_bytes + conform_report(t, RONDO_POOL_SHARED).reserved_bytes +
           conform_report(t, RONDO_POOL_OWN).reserved_bytes;
}

/* [M6] */
static void an_unused_device_reports_nothing(struct conform *t) {
    for (int kind = 0; kind < RONDO_POOL_KINDS; kind++) {
        rondo_pool_report report = conform_report(t, (rondo_pool_kind)kind);
        CHECK_EQUAL(report.allocations, 0);
        CHECK_EQUAL(report.in_use_bytes, 0);
        CHECK_EQUAL(report.reserved_bytes, 0);
        CHECK_EQUAL(report.pages, 0);
        CHECK_EQUAL(report.peak_in_use_bytes, 0);
        CHECK_EQUAL(report.largest_bytes, 0);
    }
}

/* [M6] */
static void a_report_counts_what_lives(struct conform *t) {
    rondo_buffer a = make(t, 1000, RONDO_USAGE_GENERAL);
    make(t, 500, RONDO_USAGE_GENERAL);
    rondo_pool_report report = conform_report(t, RONDO_POOL_SMALL);
    CHECK_EQUAL(report.allocations, 2);
    CHECK_EQUAL(report.in_use_bytes, 1500);
    CHECK_EQUAL(report.largest_bytes, 1000);
    CHECK_EQUAL(report.peak_in_use_bytes, 1500);
    CHECK(report.pages >= 1);
    CHECK(report.reserved_bytes >= report.in_use_bytes + report.padding_bytes);
    CHECK_EQUAL(report.guarded_bytes, 0);
    rondo_buffer_release(a);
    report = conform_report(t, RONDO_POOL_SMALL);
    CHECK_EQUAL(report.allocations, 1);
    CHECK_EQUAL(report.in_use_bytes, 500);
    CHECK_EQUAL(report.peak_in_use_bytes, 1500);
    CHECK_EQUAL(report.largest_bytes, 1000);
}

/* [M6, M9] What alignment costs is padding. */
static void padding_is_what_alignment_costs(struct conform *t) {
    rondo_device_info device;
    CHECK_OK(rondo_device_get_info(t->device, &device));
    make(t, 1, RONDO_USAGE_GENERAL);
    CHECK_EQUAL(conform_report(t, RONDO_POOL_SMALL).padding_bytes, device.alignment_bytes - 1);
    make(t, device.alignment_bytes * 2, RONDO_USAGE_GENERAL);
    CHECK_EQUAL(conform_report(t, RONDO_POOL_SMALL).padding_bytes, device.alignment_bytes - 1);
}

/* [M1] */
static void size_and_usage_choose_the_pool(struct conform *t) {
    make(t, 64 << 10, RONDO_USAGE_GENERAL);
    CHECK_EQUAL(conform_report(t, RONDO_POOL_SMALL).allocations, 1);
    make(t, (64 << 10) + 1, RONDO_USAGE_GENERAL);
    CHECK_EQUAL(conform_report(t, RONDO_POOL_SMALL).allocations, 1);
    CHECK_EQUAL(conform_report(t, RONDO_POOL_SHARED).allocations, 1);
    make(t, 256, RONDO_USAGE_LASTING);
    make(t, 256, RONDO_USAGE_ONE_OFF);
    CHECK_EQUAL(conform_report(t, RONDO_POOL_SMALL).allocations, 1);
    CHECK_EQUAL(conform_report(t, RONDO_POOL_OWN).allocations, 2);
    conform_host_block(t, 256);
    CHECK_EQUAL(conform_report(t, RONDO_POOL_HOST).allocations, 1);
}

/* [M1] */
static void the_layout_is_as_it_was_set(struct conform *t) {
    make(t, 1024, RONDO_USAGE_GENERAL);
    CHECK_EQUAL(conform_report(t, RONDO_POOL_SMALL).allocations, 1);
    CHECK_EQUAL(conform_report(t, RONDO_POOL_SMALL).reserved_bytes, 8192);
    make(t, 1025, RONDO_USAGE_GENERAL);
    CHECK_EQUAL(conform_report(t, RONDO_POOL_SHARED).allocations, 1);
    make(t, 65537, RONDO_USAGE_GENERAL);
    CHECK_EQUAL(conform_report(t, RONDO_POOL_OWN).allocations, 1);
    make(t, 65536, RONDO_USAGE_GENERAL);
    CHECK_EQUAL(conform_report(t, RONDO_POOL_SHARED).allocations, 2);
}

/* [M1] */
static void small_buffers_share_a_page(struct conform *t) {
    rondo_buffer_info first = info_of(make(t, 100, RONDO_USAGE_GENERAL));
    for (int i = 0; i < 50; i++) {
        rondo_buffer_info next = info_of(make(t, 100, RONDO_USAGE_GENERAL));
        CHECK_EQUAL(next.pool, first.pool);
        CHECK_EQUAL(next.page, first.page);
        CHECK(next.slice != first.slice);
    }
    CHECK_EQUAL(conform_report(t, RONDO_POOL_SMALL).pages, 1);
}

/* [M1] */
static void one_off_memory_goes_straight_back(struct conform *t) {
    uint64_t before = reserved_bytes(t);
    rondo_buffer buffer = make(t, 100000, RONDO_USAGE_ONE_OFF);
    CHECK(reserved_bytes(t) >= before + 100000);
    conform_fill_i32(t, buffer, 3);
    rondo_buffer_release(buffer);
    CHECK_EQUAL(reserved_bytes(t), before);
    CHECK_EQUAL(conform_report(t, RONDO_POOL_OWN).pages, 0);
}

/* [M1] */
static void lasting_memory_has_a_page_of_its_exact_size(struct conform *t) {
    rondo_device_info device;
    CHECK_OK(rondo_device_get_info(t->device, &device));
    make(t, device.alignment_bytes * 5, RONDO_USAGE_LASTING);
    CHECK_EQUAL(conform_report(t, RONDO_POOL_OWN).reserved_bytes, device.alignment_bytes * 5);
    rondo_buffer_info lasting = info_of(make(t, 100, RONDO_USAGE_LASTING));
    rondo_buffer_info general = info_of(make(t, 100, RONDO_USAGE_GENERAL));
    CHECK(lasting.pool != general.pool || lasting.page != general.page);
}

/* [M1] A page that is a little too large does not serve; one of the very size does. */
static void lasting_memory_wastes_nothing(struct conform *t) {
    rondo_device_info device;
    CHECK_OK(rondo_device_get_info(t->device, &device));
    uint64_t unit = device.alignment_bytes;
    rondo_buffer_release(make(t, 10 * unit, RONDO_USAGE_LASTING));
    rondo_buffer smaller = make(t, 9 * unit, RONDO_USAGE_LASTING);
    CHECK_EQUAL(conform_report(t, RONDO_POOL_OWN).padding_bytes, 0);
    uint64_t reserved = conform_report(t, RONDO_POOL_OWN).reserved_bytes;
    make(t, 10 * unit, RONDO_USAGE_LASTING);
    rondo_buffer_release(smaller);
    make(t, 9 * unit, RONDO_USAGE_LASTING);
    CHECK_EQUAL(conform_report(t, RONDO_POOL_OWN).padding_bytes, 0);
    CHECK_EQUAL(conform_report(t, RONDO_POOL_OWN).reserved_bytes, reserved);
}

struct place {
    uint32_t pool, page, slice;
};

/* A made-up day of reservations and releases; where each buffer came to sit. */
static void run_sequence(struct conform *t, struct place *places) {
    static const uint64_t sizes[] = {100, 4000, 200, 70000, 64, 65536, 300000, 1, 5000, 128};
    rondo_buffer live[10];
    size_t at = 0;
    for (size_t round = 0; round < 4; round++) {
        for (size_t i = 0; i < 10; i++) {
            if (round == 0 || i % (round + 1) == 0) {
                if (round > 0) {
                    rondo_buffer_release(live[i]);
                }
                live[i] = make(t, sizes[(i * 3 + round) % 10], RONDO_USAGE_GENERAL);
                rondo_buffer_info info = info_of(live[i]);
                places[at++] = (struct place){info.pool, info.page, info.slice};
            }
        }
    }
    for (size_t i = 0; i < 10; i++) {
        rondo_buffer_release(live[i]);
    }
}

/* [M2] */
static void a_sequence_of_calls_has_one_outcome(struct conform *t) {
    static struct place first[40];
    static struct place second[40];
    run_sequence(t, first);
    CHECK_OK(rondo_device_trim(t->device, NULL));
    run_sequence(t, second);
    assert_memory_equal(first, second, sizeof first);
}

/* [M2] */
static void a_released_slice_is_handed_out_again(struct conform *t) {
    rondo_buffer keep = make(t, 4096, RONDO_USAGE_GENERAL);
    rondo_buffer buffer = make(t, 4096, RONDO_USAGE_GENERAL);
    make(t, 4096, RONDO_USAGE_GENERAL);
    uint64_t reserved = reserved_bytes(t);
    rondo_buffer_info first = info_of(buffer);
    for (int i = 0; i < 1000; i++) {
        rondo_buffer_release(buffer);
        buffer = RONDO_NO_BUFFER;
        CHECK_OK(rondo_buffer_create(t->stream, 4096, RONDO_USAGE_GENERAL, &buffer));
        CHECK_EQUAL(info_of(buffer).page, first.page);
    }
    CHECK_EQUAL(reserved_bytes(t), reserved);
    CHECK_EQUAL(info_of(keep).page, first.page);
    rondo_buffer_release(buffer);
}

/* [M2] */
static void two_live_buffers_never_share_a_byte(struct conform *t) {
    enum { LIVE = 120, STEPS = 1500 };
    static rondo_buffer live[LIVE];
    static uint64_t sizes[LIVE];
    uint64_t seed = 88172645463325252u;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int32_t step = 0; step < STEPS; step++) {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        size_t i = seed % LIVE;
        if (live[i].id != 0) {
            int32_t out[2] = {0, 0};
            CHECK_OK(rondo_read(t->stream, rondo_slice(live[i], 0, 4), &out[0], NULL));
            CHECK_OK(rondo_read(t->stream, rondo_slice(live[i], sizes[i] - 4, 4), &out[1], NULL));
            CHECK_EQUAL(out[0], i);
            CHECK_EQUAL(out[1], i);
            rondo_buffer_release(live[i]);
        }
        sizes[i] = 4 * (1 + (seed >> 32) % ((seed & 15) == 0 ? 60000 : 900));
        CHECK_OK(rondo_buffer_create(t->stream, sizes[i], RONDO_USAGE_GENERAL, &live[i]));
        int32_t value = (int32_t)i;
        CHECK_OK(rondo_fill(t->stream, rondo_whole(live[i]), &value, 4, NULL));
    }
    for (size_t i = 0; i < LIVE; i++) {
        rondo_buffer_release(live[i]);
    }
}

/* [M1, M4] */
static void a_trim_gives_back_what_nobody_needs(struct conform *t) {
    rondo_buffer keep = make(t, 100, RONDO_USAGE_GENERAL);
    conform_fill_i32(t, keep, 12);
    for (int i = 0; i < 10; i++) {
        rondo_buffer_release(make(t, 1 << 20, RONDO_USAGE_GENERAL));
        rondo_buffer_release(make(t, 1 << 18, RONDO_USAGE_LASTING));
    }
    uint64_t before = reserved_bytes(t);
    uint64_t kept_bytes = 0;
    CHECK_OK(rondo_device_trim(t->device, &kept_bytes));
    uint64_t after = reserved_bytes(t);
    CHECK(after < before);
    CHECK(kept_bytes >= 100);
    CHECK_EQUAL(conform_report(t, RONDO_POOL_SHARED).reserved_bytes, 0);
    CHECK_EQUAL(conform_report(t, RONDO_POOL_OWN).reserved_bytes, 0);
    CHECK_EQUAL(conform_read_i32(t, keep, 24), 12);
    CHECK_CODE(rondo_device_trim(NULL, &kept_bytes), RONDO_STALE);
}

/* [M5] */
static void trimming_loses_no_byte(struct conform *t) {
    rondo_buffer live[60];
    for (size_t i = 0; i < 60; i++) {
        live[i] = make(t, 4096 + 64 * i, RONDO_USAGE_GENERAL);
        conform_fill_i32(t, live[i], (int32_t)(i * 1001));
    }
    for (size_t i = 0; i < 60; i++) {
        if (i % 3 != 0) {
            rondo_buffer_release(live[i]);
        }
    }
    for (int round = 0; round < 3; round++) {
        CHECK_OK(rondo_device_trim(t->device, NULL));
        for (size_t i = 0; i < 60; i += 3) {
            conform_expect_all_i32(t, live[i], (int32_t)(i * 1001), (4096 + 64 * i) / 4);
        }
    }
}

/* [M9] */
static void a_buffer_starts_at_the_devices_alignment(struct conform *t) {
    static const uint64_t sizes[] = {1, 2, 3, 63, 64, 65, 1000, 65536, 65537, 3000000};
    rondo_device_info device;
    CHECK_OK(rondo_device_get_info(t->device, &device));
    for (size_t i = 0; i < 10; i++) {
        for (int usage = 0; usage < 3; usage++) {
            rondo_buffer buffer = make(t, sizes[i], (rondo_usage)usage);
            void *data = NULL;
            CHECK_OK(rondo_map(t->stream, rondo_whole(buffer), RONDO_WRITES, &data));
            CHECK_EQUAL((uintptr_t)data % device.alignment_bytes, 0);
            memset(data, 1, sizes[i]);
            CHECK_OK(rondo_unmap(t->stream, rondo_whole(buffer)));
        }
    }
}

/* [M9] */
static void the_cpu_aligns_to_64_bytes_at_least(struct conform *t) {
    rondo_device_info device;
    CHECK_OK(rondo_device_get_info(t->device, &device));
    CHECK(device.alignment_bytes >= 64 || strcmp(device.backend, "cpu") != 0);
    void *data = rondo_host_data(conform_host_block(t, 1));
    CHECK_EQUAL((uintptr_t)data % 64, 0);
}

/* [M6] */
static void peaks_stay_when_memory_goes(struct conform *t) {
    rondo_buffer buffer = make(t, 3 << 20, RONDO_USAGE_GENERAL);
    rondo_pool_report during = conform_report(t, RONDO_POOL_SHARED);
    rondo_buffer_release(buffer);
    CHECK_OK(rondo_device_trim(t->device, NULL));
    rondo_pool_report after = conform_report(t, RONDO_POOL_SHARED);
    CHECK_EQUAL(after.reserved_bytes, 0);
    CHECK_EQUAL(after.in_use_bytes, 0);
    CHECK_EQUAL(after.peak_in_use_bytes, 3 << 20);
    CHECK_EQUAL(after.peak_reserved_bytes, during.reserved_bytes);
    CHECK_EQUAL(after.largest_bytes, 3 << 20);
}

/* [M6, E2] */
static void asking_for_a_report_checks_its_arguments(struct conform *t) {
    rondo_pool_report report;
    rondo_device_stats stats;
    CHECK_CODE(rondo_pool_get_report(NULL, RONDO_POOL_SMALL, &report), RONDO_STALE);
    CHECK_CODE(rondo_pool_get_report(t->device, RONDO_POOL_KINDS, &report), RONDO_INVALID);
    CHECK_CODE(rondo_pool_get_report(t->device, (rondo_pool_kind)-1, &report), RONDO_INVALID);
    CHECK_CODE(rondo_pool_get_report(t->device, RONDO_POOL_SMALL, NULL), RONDO_INVALID);
    CHECK_CODE(rondo_device_get_stats(NULL, &stats), RONDO_STALE);
    CHECK_CODE(rondo_device_get_stats(t->device, NULL), RONDO_INVALID);
    CHECK_OK(rondo_pool_get_report(t->device, RONDO_POOL_HOST, &report));
    rondo_graph_holding holding;
    CHECK_EQUAL(rondo_device_list_graphs(t->device, &holding, 1), 0);
    CHECK_EQUAL(rondo_device_list_graphs(NULL, NULL, 0), 0);
}

/* [M7] Staging for writes comes and goes without a trace. */
static void writes_leave_no_host_memory_in_use(struct conform *t) {
    rondo_buffer buffer = make(t, 1 << 20, RONDO_USAGE_GENERAL);
    static unsigned char bytes[1 << 20];
    for (int i = 0; i < 20; i++) {
        CHECK_OK(rondo_write(t->stream, rondo_whole(buffer), bytes, NULL));
    }
    CHECK_OK(rondo_stream_sync(t->stream));
    CHECK_EQUAL(conform_report(t, RONDO_POOL_HOST).in_use_bytes, 0);
    CHECK(conform_report(t, RONDO_POOL_HOST).peak_in_use_bytes <= 4 << 20);
}

static const rondo_device_desc tiny_layout = {
    .memory = {.small_page_bytes = 8192, .small_max_bytes = 1024, .page_min_bytes = 65536, .page_max_bytes = 65536}};

const struct conform_case conform_memory_pools_cases[] = {
    CONFORM_CASE(an_unused_device_reports_nothing, NEEDS_NOTHING),
    CONFORM_CASE(a_report_counts_what_lives, NEEDS_NOTHING),
    CONFORM_CASE(padding_is_what_alignment_costs, NEEDS_NOTHING),
    CONFORM_CASE(size_and_usage_choose_the_pool, NEEDS_NOTHING),
    CONFORM_CASE_ON(the_layout_is_as_it_was_set, NEEDS_NOTHING, &tiny_layout),
    CONFORM_CASE(small_buffers_share_a_page, NEEDS_NOTHING),
    CONFORM_CASE(one_off_memory_goes_straight_back, NEEDS_NOTHING),
    CONFORM_CASE(lasting_memory_has_a_page_of_its_exact_size, NEEDS_NOTHING),
    CONFORM_CASE(lasting_memory_wastes_nothing, NEEDS_NOTHING),
    CONFORM_CASE(a_sequence_of_calls_has_one_outcome, NEEDS_NOTHING),
    CONFORM_CASE(a_released_slice_is_handed_out_again, NEEDS_NOTHING),
    CONFORM_CASE(two_live_buffers_never_share_a_byte, NEEDS_NOTHING),
    CONFORM_CASE(a_trim_gives_back_what_nobody_needs, NEEDS_NOTHING),
    CONFORM_CASE(trimming_loses_no_byte, NEEDS_NOTHING),
    CONFORM_CASE(a_buffer_starts_at_the_devices_alignment, NEEDS_MAP),
    CONFORM_CASE(the_cpu_aligns_to_64_bytes_at_least, NEEDS_NOTHING),
    CONFORM_CASE(peaks_stay_when_memory_goes, NEEDS_NOTHING),
    CONFORM_CASE(asking_for_a_report_checks_its_arguments, NEEDS_NOTHING),
    CONFORM_CASE(writes_leave_no_host_memory_in_use, NEEDS_NOTHING),
    CONFORM_END,
};
