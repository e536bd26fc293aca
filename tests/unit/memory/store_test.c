#include "memory/store.h"
#include "memory_bench.h"
#include "unit.h"

enum { KIB = 1024, MIB = 1024 * 1024 };

static rdo_memory *reserve(memory_bench *bench, uint64_t size, rondo_usage usage) {
    return memory_bench_reserve(bench, &(rdo_request){.size = size, .usage = usage}, 1);
}

static bool same_place(rdo_location a, rdo_location b) {
    return a.pool == b.pool && a.page == b.page && a.slice == b.slice;
}

/* What a reservation that must fail leaves unchanged. */
static void refuse_growth(memory_bench *bench, uint64_t size, rondo_usage usage, rondo_backend_result expected) {
    rondo_pool_report before[RONDO_POOL_KINDS];
    uint64_t pages = bench->pages, shared = bench->store.shared_page_bytes;
    memcpy(before, bench->books.reports, sizeof before);
    assert_int_equal(rdo_store_grow(&bench->store, &(rdo_request){.size = size, .usage = usage}), expected);
    assert_memory_equal(before, bench->books.reports, sizeof before);
    assert_int_equal(bench->pages, pages);
    assert_int_equal(bench->store.shared_page_bytes, shared);
}

/* [M1] */
static void the_size_of_a_request_chooses_its_pool(void **state) {
    memory_bench bench;
    (void)state;
    memory_bench_open(&bench);
    const struct {
        rdo_request request;
        rondo_pool_kind pool;
    } cases[] = {
        {{.size = 1}, RONDO_POOL_SMALL},
        {{.size = 4 * KIB}, RONDO_POOL_SMALL},
        {{.size = 4 * KIB + 1}, RONDO_POOL_SHARED},
        {{.size = MIB}, RONDO_POOL_SHARED},
        {{.size = MIB + 1}, RONDO_POOL_OWN},
        {{.size = 1, .usage = RONDO_USAGE_LASTING}, RONDO_POOL_OWN},
        {{.size = 1, .usage = RONDO_USAGE_ONE_OFF}, RONDO_POOL_OWN},
        {{.size = 1, .host = true}, RONDO_POOL_HOST},
        {{.size = 8 * MIB, .host = true}, RONDO_POOL_HOST},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rdo_memory *memory = memory_bench_reserve(&bench, &cases[i].request, 1);
        assert_int_equal(rdo_store_pool(&bench.books, &cases[i].request), cases[i].pool);
        assert_int_equal(rdo_memory_location(memory).pool, cases[i].pool);
        assert_int_equal(memory->place.offset_bytes % bench.books.alignment, 0); /* [M9] */
        memory_bench_release(&bench, memory);
    }
    memory_bench_close(&bench);
}

enum { LIVE = 24, STEPS = 600 };

/* [M2] */
static void the_same_calls_give_the_same_places(void **state) {
    memory_bench benches[2];
    rdo_memory *live[2][LIVE] = {{NULL}};
    (void)state;
    seed_random();
    for (int b = 0; b < 2; b++) memory_bench_open(&benches[b]);
    for (int i = 0; i < STEPS; i++) {
        size_t at = random_below(LIVE);
        const uint64_t scales[] = {4 * KIB, 300 * KIB, 2 * MIB};
        uint64_t size = 1 + random_below(scales[random_below(3)]);
        rondo_usage usage = random_below(4) == 0 ? (rondo_usage)random_below(3) : RONDO_USAGE_GENERAL;
        for (int b = 0; b < 2; b++) {
            if (live[b][at] != NULL) {
                memory_bench_release(&benches[b], live[b][at]);
                live[b][at] = NULL;
            } else {
                live[b][at] = reserve(&benches[b], size, usage);
            }
        }
        if (live[0][at] == NULL) continue;
        assert_true(same_place(rdo_memory_location(live[0][at]), rdo_memory_location(live[1][at])));
        assert_int_equal(live[0][at]->place.offset_bytes, live[1][at]->place.offset_bytes);
    }
    for (int b = 0; b < 2; b++) {
        for (int i = 0; i < LIVE; i++) {
            if (live[b][i] != NULL) memory_bench_release(&benches[b], live[b][i]);
        }
        memory_bench_close(&benches[b]);
    }
}

/* [M2] */
static void the_first_hole_that_fits_is_used(void **state) {
    memory_bench bench;
    (void)state;
    memory_bench_open(&bench);
    rdo_memory *a = memory_bench_buffer(&bench, 1000), *b = memory_bench_buffer(&bench, 500);
    rdo_memory *c = memory_bench_buffer(&bench, 1000), *d = memory_bench_buffer(&bench, 500);
    uint64_t first = a->place.offset_bytes, third = c->place.offset_bytes;
    memory_bench_release(&bench, a);
    memory_bench_release(&bench, c);
    rdo_memory *e = memory_bench_buffer(&bench, 900), *f = memory_bench_buffer(&bench, 1000);
    assert_int_equal(e->place.offset_bytes, first);
    assert_int_equal(f->place.offset_bytes, third);
    rdo_memory *rest[] = {b, d, e, f};
    for (size_t i = 0; i < 4; i++) memory_bench_release(&bench, rest[i]);
    memory_bench_close(&bench);
}

/* [M2] [W4] */
static void live_allocations_never_share_a_byte(void **state) {
    memory_bench bench;
    rdo_memory *live[LIVE] = {NULL};
    (void)state;
    seed_random();
    memory_bench_open(&bench);
    for (int i = 0; i < STEPS; i++) {
        size_t at = random_below(LIVE);
        if (live[at] != NULL) memory_bench_release(&bench, live[at]);
        rondo_usage usage = random_below(6) == 0 ? (rondo_usage)random_below(3) : RONDO_USAGE_GENERAL;
        live[at] = reserve(&bench, 1 + random_below(200 * KIB), usage);
        for (size_t k = 0; k < LIVE; k++) {
            if (k == at || live[k] == NULL) continue;
            bool apart = live[k]->address + live[k]->size <= live[at]->address ||
                         live[at]->address + live[at]->size <= live[k]->address;
            assert_true(apart);
        }
        assert_true(rdo_page_check(live[at]->page));
    }
    for (int i = 0; i < LIVE; i++) {
        if (live[i] != NULL) memory_bench_release(&bench, live[i]);
    }
    memory_bench_close(&bench);
}

/* [M1] */
static void the_shared_page_size_follows_the_largest_allocation(void **state) {
    memory_bench bench;
    (void)state;
    memory_bench_open(&bench);
    rdo_memory *small = memory_bench_buffer(&bench, 5 * KIB);
    assert_int_equal(small->page->size, 128 * KIB);
    rdo_memory *fits = memory_bench_buffer(&bench, 100 * KIB);
    assert_ptr_equal(fits->page, small->page);
    rdo_memory *large = memory_bench_buffer(&bench, 200 * KIB);
    assert_int_equal(large->page->size, MIB); /* with slack, but never above the largest page */
    assert_int_equal(bench.store.shared_page_bytes, MIB);
    memory_bench_release(&bench, large);
    assert_int_equal(bench.store.shared_page_bytes, MIB); /* it never shrinks */
    memory_bench_release(&bench, fits);
    memory_bench_release(&bench, small);
    memory_bench_close(&bench);
}

/* [M1] */
static void other_pools_do_not_move_the_shared_page_size(void **state) {
    memory_bench bench;
    (void)state;
    memory_bench_open(&bench);
    rdo_memory *all[] = {
        reserve(&bench, 700 * KIB, RONDO_USAGE_LASTING),
        reserve(&bench, 700 * KIB, RONDO_USAGE_ONE_OFF),
        memory_bench_reserve(&bench, &(rdo_request){.size = 700 * KIB, .host = true}, 1),
        memory_bench_buffer(&bench, 3 * MIB),
        memory_bench_buffer(&bench, 4 * KIB),
    };
    assert_int_equal(bench.store.shared_page_bytes, 128 * KIB);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) memory_bench_release(&bench, all[i]);
    memory_bench_close(&bench);
}

/* [M3] */
static void a_released_but_guarded_allocation_is_neither_reused_nor_released(void **state) {
    memory_bench bench;
    (void)state;
    memory_bench_open(&bench);
    rdo_memory *held = memory_bench_buffer(&bench, 100 * KIB), *other;
    rdo_page *page = held->page;
    uint32_t slice = held->slice;
    rondo_buffer number = {held->id};
    rdo_page_guard(page, slice);
    memory_bench_release(&bench, held);
    assert_null(rdo_memory_find(number)); /* nobody can name it any more */
    other = memory_bench_buffer(&bench, 100 * KIB);
    assert_ptr_not_equal(other->page, page);
    rdo_books_release_pages(&bench.books, true);
    assert_ptr_equal(bench.store.pools[RONDO_POOL_SHARED].pages[page->index], page);
    assert_int_equal(bench.books.reports[RONDO_POOL_SHARED].allocations, 2); /* M6: that a graph holds is live */
    rdo_page_unguard(page, slice);
    memory_bench_sweep(&bench);
    rdo_memory *third = memory_bench_buffer(&bench, 100 * KIB);
    assert_ptr_equal(third->page, page);
    memory_bench_release(&bench, other);
    memory_bench_release(&bench, third);
    memory_bench_close(&bench);
}

/* [M1] [M5] */
static void an_outdated_page_serves_nothing_new_and_goes_when_empty(void **state) {
    memory_bench bench;
    (void)state;
    memory_bench_open(&bench);
    rdo_memory *old = memory_bench_buffer(&bench, 5 * KIB), *large = memory_bench_buffer(&bench, 200 * KIB);
    const rdo_page *outdated = old->page;
    uint32_t number = outdated->index;
    rdo_memory *fresh = memory_bench_buffer(&bench, 5 * KIB);
    assert_ptr_equal(fresh->page, large->page);
    assert_ptr_equal(old->page, outdated); /* who is there stays */
    rdo_books_release_pages(&bench.books, false);
    assert_ptr_equal(bench.store.pools[RONDO_POOL_SHARED].pages[number], outdated);
    memory_bench_release(&bench, old);
    bench.books.recorders = 1;
    rdo_books_release_pages(&bench.books, true);
    assert_ptr_equal(bench.store.pools[RONDO_POOL_SHARED].pages[number], outdated); /* while someone records [C18] */
    bench.books.recorders = 0;
    rdo_books_release_pages(&bench.books, false);
    assert_null(bench.store.pools[RONDO_POOL_SHARED].pages[number]);
    /* The hole in the numbers is filled by the next page. */
    rdo_memory *more = memory_bench_buffer(&bench, 900 * KIB);
    assert_int_equal(more->page->index, number);
    rdo_memory *beside = memory_bench_buffer(&bench, 5 * KIB);
    assert_ptr_equal(beside->page, more->page);
    memory_bench_release(&bench, beside);
    memory_bench_release(&bench, more);
    memory_bench_release(&bench, fresh);
    memory_bench_release(&bench, large);
    memory_bench_close(&bench);
}

/* [M1] */
static void lasting_memory_is_reused_by_exact_size_only(void **state) {
    memory_bench bench;
    (void)state;
    memory_bench_open(&bench);
    rdo_memory *first = reserve(&bench, 10000, RONDO_USAGE_LASTING);
    const rdo_page *page = first->page;
    assert_int_equal(page->size, 10048); /* the request, padded to the alignment of 64 */
    memory_bench_release(&bench, first);
    rdo_memory *smaller = reserve(&bench, 9900, RONDO_USAGE_LASTING);
    assert_ptr_not_equal(smaller->page, page);
    rdo_memory *once = reserve(&bench, 10000, RONDO_USAGE_ONE_OFF);
    assert_ptr_not_equal(once->page, page);
    rdo_memory *same = reserve(&bench, 10000, RONDO_USAGE_LASTING);
    assert_ptr_equal(same->page, page);
    memory_bench_release(&bench, smaller);
    memory_bench_release(&bench, once);
    memory_bench_release(&bench, same);
    memory_bench_close(&bench);
}

/* [M1] */
static void a_big_page_is_reused_if_little_of_it_is_wasted(void **state) {
    memory_bench bench;
    (void)state;
    memory_bench_open(&bench);
    rdo_memory *big = memory_bench_buffer(&bench, 5 * MIB);
    const rdo_page *page = big->page;
    memory_bench_release(&bench, big);
    rdo_memory *too_small = memory_bench_buffer(&bench, 4 * MIB - 64);
    assert_ptr_not_equal(too_small->page, page);
    rdo_memory *close = memory_bench_buffer(&bench, 4 * MIB);
    assert_ptr_equal(close->page, page);
    assert_int_equal(bench.books.reports[RONDO_POOL_OWN].padding_bytes, MIB);
    memory_bench_release(&bench, too_small);
    memory_bench_release(&bench, close);
    assert_int_equal(bench.books.reports[RONDO_POOL_OWN].padding_bytes, 0);
    memory_bench_close(&bench);
}

/* [M1] [C18] */
static void one_off_memory_goes_back_when_it_is_released(void **state) {
    memory_bench bench;
    (void)state;
    memory_bench_open(&bench);
    rdo_memory *once = reserve(&bench, 100, RONDO_USAGE_ONE_OFF);
    assert_int_equal(bench.pages, 1);
    memory_bench_release(&bench, once);
    assert_int_equal(bench.pages, 0);
    once = reserve(&bench, 100, RONDO_USAGE_ONE_OFF);
    bench.books.recorders = 1;
    memory_bench_release(&bench, once);
    assert_int_equal(bench.pages, 1);
    bench.books.recorders = 0;
    rdo_books_release_pages(&bench.books, false);
    memory_bench_sweep(&bench);
    assert_int_equal(bench.pages, 0);
    memory_bench_close(&bench);
}

/* [M1] [M4] */
static void a_cap_refuses_growth_and_changes_nothing(void **state) {
    memory_bench bench;
    (void)state;
    memory_bench_open(&bench);
    bench.books.layout.small_cap_bytes = 64 * KIB;
    bench.books.layout.shared_cap_bytes = 300 * KIB;
    bench.books.layout.own_cap_bytes = 10 * KIB;
    rdo_memory *small = memory_bench_buffer(&bench, 4 * KIB), *shared = memory_bench_buffer(&bench, 100 * KIB);
    rdo_memory *own = reserve(&bench, 8 * KIB, RONDO_USAGE_LASTING);
    refuse_growth(&bench, 1, RONDO_USAGE_GENERAL, RONDO_BACKEND_DEVICE_FULL);
    refuse_growth(&bench, 200 * KIB, RONDO_USAGE_GENERAL, RONDO_BACKEND_DEVICE_FULL);
    refuse_growth(&bench, 3 * KIB, RONDO_USAGE_LASTING, RONDO_BACKEND_DEVICE_FULL);
    refuse_growth(&bench, 20 * KIB, RONDO_USAGE_LASTING, RONDO_BACKEND_DEVICE_FULL); /* and never will */
    refuse_growth(&bench, UINT64_MAX / 2, RONDO_USAGE_GENERAL, RONDO_BACKEND_TOO_BIG);
    /* A page of the usual size does not fit under the cap any more, one for this request alone does. */
    bench.books.layout.shared_cap_bytes = 128 * KIB + 160 * KIB;
    rdo_memory *just = memory_bench_buffer(&bench, 150 * KIB);
    assert_int_equal(just->page->size, 150 * KIB);
    assert_true(bench.books.reports[RONDO_POOL_SHARED].reserved_bytes <= 288 * KIB);
    rdo_memory *all[] = {small, shared, own, just};
    for (size_t i = 0; i < 4; i++) memory_bench_release(&bench, all[i]);
    memory_bench_close(&bench);
}

/* [M4] [E3] */
static void growth_without_host_memory_changes_nothing(void **state) {
    memory_bench bench;
    (void)state;
    memory_bench_open(&bench);
    uint64_t refused = 1;
    for (uint64_t granted = 0; refused != 0; granted++) {
        uint64_t pages = bench.pages, reserved = bench.books.reports[RONDO_POOL_SHARED].reserved_bytes;
        starve(granted, false);
        rondo_backend_result result = rdo_store_grow(&bench.store, &(rdo_request){.size = 9 * KIB});
        refused = feed();
        assert_int_equal(result, refused != 0 ? RONDO_BACKEND_NO_MEMORY : RONDO_BACKEND_DONE);
        if (refused == 0) break;
        assert_int_equal(bench.pages, pages);
        assert_int_equal(bench.books.reports[RONDO_POOL_SHARED].reserved_bytes, reserved);
    }
    memory_bench_close(&bench);
}

/* ---- imports ---- */

static uint64_t imported;

static rondo_backend_result page_import(void *device, void *data, uint64_t size_bytes, void **out_page) {
    (void)device, (void)size_bytes;
    *out_page = data;
    imported++;
    return RONDO_BACKEND_DONE;
}

static void page_unimport(void *device, void *page, uint64_t size_bytes) {
    (void)device, (void)page, (void)size_bytes;
    imported--;
}

static rdo_memory *import(memory_bench *bench, void *data, uint64_t size, bool host) {
    const rdo_request request = {.size = size, .host = host};
    rdo_memory *memory = rdo_memory_new(&bench->store, 1, &request, false);
    bool overlap;
    memory->returning.finish = rdo_memory_recycle;
    assert_true(rdo_books_import(&bench->books, data, size, &overlap));
    assert_int_equal(rdo_store_import(&bench->store, memory, data), RONDO_BACKEND_DONE);
    bench->books.children++;
    rdo_store_account(memory);
    *(host ? &bench->books.host_blocks : &bench->books.buffers) += 1;
    rdo_memory_publish(memory);
    return memory;
}

/* [O4] [M2] */
static void an_import_is_never_handed_out_to_others(void **state) {
    static _Alignas(64) char data[4096], more[4096];
    memory_bench bench;
    (void)state;
    memory_bench_open(&bench);
    bench.backend.page_import = page_import;
    bench.backend.page_unimport = page_unimport;
    rdo_memory *device = import(&bench, data, sizeof data, false), *host = import(&bench, more, 100, true);
    assert_int_equal(imported, 1); /* a host page is its address */
    assert_ptr_equal((char *)device->place.page + device->place.offset_bytes, data);
    assert_ptr_equal(host->host_data, more);
    const rdo_page *pages[2] = {device->page, host->page};
    /* Even when only a graph's guard is left of it. */
    rdo_page_guard(device->page, device->slice);
    memory_bench_release(&bench, device);
    rdo_memory *other = reserve(&bench, sizeof data, RONDO_USAGE_GENERAL);
    rdo_memory *lasting = reserve(&bench, sizeof data, RONDO_USAGE_LASTING);
    rdo_memory *block = memory_bench_reserve(&bench, &(rdo_request){.size = 64, .host = true}, 1);
    assert_ptr_not_equal(other->page, pages[0]);
    assert_ptr_not_equal(lasting->page, pages[0]);
    assert_ptr_not_equal(block->page, pages[1]);
    assert_int_equal(imported, 1);
    rdo_page_unguard(device->page, device->slice);
    memory_bench_sweep(&bench);
    assert_int_equal(imported, 0);
    rdo_memory *rest[] = {host, other, lasting, block};
    for (size_t i = 0; i < 4; i++) memory_bench_release(&bench, rest[i]);
    assert_int_equal(bench.books.import_count, 0);
    memory_bench_close(&bench);
}

/* [C16] */
static void an_import_goes_back_at_once_though_someone_records(void **state) {
    static _Alignas(64) char data[4096];
    memory_bench bench;
    (void)state;
    memory_bench_open(&bench);
    bench.backend.page_import = page_import;
    bench.backend.page_unimport = page_unimport;
    rdo_memory *device = import(&bench, data, sizeof data, false);
    bench.books.recorders = 1;
    memory_bench_release(&bench, device);
    assert_int_equal(imported, 0);
    bench.books.recorders = 0;
    memory_bench_close(&bench);
}

/* [M6] */
static void reports_follow_what_is_reserved(void **state) {
    memory_bench bench;
    (void)state;
    memory_bench_open(&bench);
    rdo_memory *a = memory_bench_buffer(&bench, 100), *b = memory_bench_buffer(&bench, 64);
    const rondo_pool_report *report = &bench.books.reports[RONDO_POOL_SMALL];
    assert_int_equal(report->allocations, 2);
    assert_int_equal(report->in_use_bytes, 164);
    assert_int_equal(report->padding_bytes, 28);
    assert_int_equal(report->reserved_bytes, 64 * KIB);
    assert_int_equal(report->largest_bytes, 100);
    memory_bench_release(&bench, a);
    memory_bench_release(&bench, b);
    assert_int_equal(report->allocations + report->in_use_bytes + report->padding_bytes, 0);
    assert_int_equal(report->peak_in_use_bytes, 164);
    rdo_books_release_pages(&bench.books, true);
    memory_bench_sweep(&bench);
    assert_int_equal(report->reserved_bytes + report->pages, 0);
    memory_bench_close(&bench);
}

/* [P3] A buffer of a window may be released while the window closes into a graph that guards it. */
static void memory_that_is_guarded_while_it_waits_to_be_recycled_stays(void **state) {
    memory_bench bench;
    (void)state;
    memory_bench_open(&bench);
    rdo_memory *memory = memory_bench_buffer(&bench, 100);
    rdo_lock_take(&bench.books.lock);
    rdo_memory_unref(memory);
    rdo_page_guard(memory->page, memory->slice);
    rdo_page_unguard(memory->page, memory->slice); /* it waits already, and waits no second time */
    rdo_page_guard(memory->page, memory->slice);
    rdo_lock_give(&bench.books.lock);
    memory_bench_sweep(&bench);
    assert_int_equal(bench.books.children, 1);
    assert_ptr_equal(memory->page->slices[memory->slice].owner, memory);
    rdo_lock_take(&bench.books.lock);
    rdo_page_unguard(memory->page, memory->slice);
    rdo_lock_give(&bench.books.lock);
    memory_bench_close(&bench); /* which sees that it went with the guard */
}

/* [M4] Between its making and its first use, a page is not what a trim of another thread is after. */
static void a_page_just_made_is_not_released_before_it_was_looked_at(void **state) {
    memory_bench bench;
    (void)state;
    memory_bench_open(&bench);
    rdo_request request = {.size = 100};
    assert_int_equal(rdo_store_grow(&bench.store, &request), RONDO_BACKEND_DONE);
    rdo_books_release_pages(&bench.books, true);
    memory_bench_sweep(&bench);
    assert_int_equal(bench.pages, 1);
    memory_bench_release(&bench, memory_bench_buffer(&bench, 100));
    rdo_books_release_pages(&bench.books, true);
    memory_bench_sweep(&bench);
    assert_int_equal(bench.pages, 0);
    memory_bench_close(&bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_size_of_a_request_chooses_its_pool),
        cmocka_unit_test(the_same_calls_give_the_same_places),
        cmocka_unit_test(the_first_hole_that_fits_is_used),
        cmocka_unit_test(live_allocations_never_share_a_byte),
        cmocka_unit_test(the_shared_page_size_follows_the_largest_allocation),
        cmocka_unit_test(other_pools_do_not_move_the_shared_page_size),
        cmocka_unit_test(a_released_but_guarded_allocation_is_neither_reused_nor_released),
        cmocka_unit_test(an_outdated_page_serves_nothing_new_and_goes_when_empty),
        cmocka_unit_test(lasting_memory_is_reused_by_exact_size_only),
        cmocka_unit_test(a_big_page_is_reused_if_little_of_it_is_wasted),
        cmocka_unit_test(one_off_memory_goes_back_when_it_is_released),
        cmocka_unit_test(a_cap_refuses_growth_and_changes_nothing),
        cmocka_unit_test(growth_without_host_memory_changes_nothing),
        cmocka_unit_test(an_import_is_never_handed_out_to_others),
        cmocka_unit_test(an_import_goes_back_at_once_though_someone_records),
        cmocka_unit_test(reports_follow_what_is_reserved),
        cmocka_unit_test(memory_that_is_guarded_while_it_waits_to_be_recycled_stays),
        cmocka_unit_test(a_page_just_made_is_not_released_before_it_was_looked_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
