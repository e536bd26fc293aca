#include "base/alloc.h"
#include "memory/books.h"
#include "memory_bench.h"
#include "unit.h"

enum { BYTES = 200, IMPORTS = 24 };

/* [O4] */
static void imports_that_share_a_byte_are_refused(void **state) {
    static char arena[BYTES];
    int owner[BYTES]; /* which import a byte belongs to, -1: none */
    size_t low[IMPORTS], size[IMPORTS];
    memory_bench bench;
    (void)state;
    seed_random();
    memory_bench_open(&bench);
    memset(size, 0, sizeof size);
    for (int i = 0; i < BYTES; i++) owner[i] = -1;
    for (int step = 0; step < 3000; step++) {
        size_t at = random_below(IMPORTS);
        if (size[at] != 0) {
            rdo_books_unimport(&bench.books, arena + low[at]);
            for (size_t i = low[at]; i < low[at] + size[at]; i++) owner[i] = -1;
            size[at] = 0;
            continue;
        }
        size_t from = random_below(BYTES), bytes = 1 + random_below(BYTES - from < 20 ? BYTES - from : 20);
        bool free = true, overlap;
        for (size_t i = from; i < from + bytes; i++) free = free && owner[i] < 0;
        assert_int_equal(rdo_books_import(&bench.books, arena + from, bytes, &overlap), free);
        assert_int_equal(overlap, !free);
        if (!free) continue;
        low[at] = from;
        size[at] = bytes;
        for (size_t i = from; i < from + bytes; i++) owner[i] = (int)at;
    }
    for (size_t i = 0; i < IMPORTS; i++) {
        if (size[i] != 0) rdo_books_unimport(&bench.books, arena + low[i]);
    }
    assert_int_equal(bench.books.import_count, 0);
    memory_bench_close(&bench);
}

/* [E2] [M9] */
static void an_import_that_wraps_around_is_refused(void **state) {
    static char byte;
    memory_bench bench;
    bool overlap;
    (void)state;
    memory_bench_open(&bench);
    assert_false(rdo_books_import(&bench.books, &byte, UINT64_MAX, &overlap));
    assert_int_equal(bench.books.import_count, 0);
    memory_bench_close(&bench);
}

/* [E3] */
static void an_import_that_cannot_be_noted_is_told_from_an_overlap(void **state) {
    static char bytes[4];
    memory_bench bench;
    bool overlap = true;
    (void)state;
    memory_bench_open(&bench);
    starve(0, true);
    assert_false(rdo_books_import(&bench.books, bytes, 4, &overlap));
    assert_int_equal(feed(), 1);
    assert_false(overlap);
    assert_true(rdo_books_import(&bench.books, bytes, 4, &overlap));
    rdo_books_unimport(&bench.books, bytes + 1); /* the name of an import is its first byte */
    assert_int_equal(bench.books.import_count, 1);
    rdo_books_unimport(&bench.books, bytes);
    memory_bench_close(&bench);
}

static uint32_t locks_held;

static void called(void *user) {
    int *calls = user;
    ++*calls;
    locks_held |= rdo_this_thread.held;
}

/* [E5] [O4] */
static void a_callback_is_made_once_and_with_no_lock_held(void **state) {
    memory_bench bench;
    int calls[5] = {0};
    (void)state;
    memory_bench_open(&bench);
    for (int i = 0; i < 5; i++) {
        rdo_callback *callback = rdo_callback_new(called, &calls[i]);
        assert_non_null(callback);
        rdo_lock_take(&bench.books.lock);
        rdo_books_call_later(&bench.books, callback);
        rdo_lock_give(&bench.books.lock);
    }
    for (int i = 0; i < 5; i++) assert_int_equal(calls[i], 0);
    rdo_books_settle(&bench.books);
    rdo_books_settle(&bench.books);
    for (int i = 0; i < 5; i++) assert_int_equal(calls[i], 1);
    assert_int_equal(locks_held, 0);
    memory_bench_close(&bench);
}

static rdo_books *books_of_chain;

static void promise_another(void *user) {
    int *calls = user;
    if (++*calls == 3) return;
    rdo_lock_take(&books_of_chain->lock); /* free: a callback may do what a user may do */
    rdo_books_call_later(books_of_chain, rdo_callback_new(promise_another, user));
    rdo_lock_give(&books_of_chain->lock);
}

/* [E5] */
static void a_callback_may_make_another_one_due(void **state) {
    memory_bench bench;
    int calls = 0;
    (void)state;
    memory_bench_open(&bench);
    books_of_chain = &bench.books;
    rdo_books_call_later(&bench.books, rdo_callback_new(promise_another, &calls));
    for (int expected = 1; expected <= 3; expected++) {
        rdo_books_settle(&bench.books);
        assert_int_equal(calls, expected);
    }
    assert_null(bench.books.callbacks);
    memory_bench_close(&bench);
}

/* [E3] */
static void a_promise_to_call_is_refused_when_it_cannot_be_kept(void **state) {
    (void)state;
    starve(0, true);
    assert_null(rdo_callback_new(called, NULL));
    assert_int_equal(feed(), 1);
}

/* [W3] Ranges of two pages are never taken for neighbours. */
static void addresses_of_the_flat_space_never_touch(void **state) {
    memory_bench bench;
    uint64_t end = 0;
    (void)state;
    seed_random();
    memory_bench_open(&bench);
    for (int i = 0; i < 1000; i++) {
        uint64_t size = random_below(3) == 0 ? random_below(200) : 1 + random_below(1u << 30);
        uint64_t address = rdo_books_take_address(&bench.books, size);
        assert_true(address > end);
        assert_int_equal(address % bench.books.alignment, 0);
        end = address + size;
    }
    memory_bench_close(&bench);
}

/* [O4] A memory's release function is called when it ends, and once. */
static void the_callback_of_an_allocation_comes_with_its_end(void **state) {
    memory_bench bench;
    int calls = 0;
    (void)state;
    memory_bench_open(&bench);
    rdo_memory *memory = memory_bench_buffer(&bench, 100);
    memory->due = rdo_callback_new(called, &calls);
    memory->refs = 2;
    memory_bench_release(&bench, memory);
    assert_int_equal(calls, 0);
    rdo_page_guard(memory->page, memory->slice); /* a graph holds it */
    memory_bench_release(&bench, memory);
    assert_int_equal(calls, 0);
    rdo_page_unguard(memory->page, memory->slice);
    memory_bench_sweep(&bench);
    assert_int_equal(calls, 1);
    memory_bench_close(&bench);
    assert_int_equal(calls, 1);
}

/* [M4] The graphs that keep most come first, equal ones in the order of their ids, and each pool has its own. */
static void the_graphs_that_pin_most_are_named(void **state) {
    memory_bench bench;
    char room[512];
    rdo_holder holders[] = {{.graph_id = 904, .device_bytes = 100},  {.graph_id = 902, .device_bytes = 100},
                            {.graph_id = 907, .device_bytes = 5},    {.graph_id = 903, .device_bytes = 100},
                            {.graph_id = 901, .device_bytes = 7000}, {.graph_id = 905, .host_bytes = 44}};
    (void)state;
    memory_bench_open(&bench);
    for (size_t i = 0; i < 6; i++) rdo_books_add_holder(&bench.books, &holders[i]);
    rdo_books_describe_room(&bench.books, RONDO_POOL_SHARED, room, sizeof room);
    assert_null(strstr(room, "graph 901")); /* nothing is guarded, so nobody is to blame */
    bench.books.reports[RONDO_POOL_SHARED].guarded_bytes = 7305;
    bench.books.reports[RONDO_POOL_HOST].guarded_bytes = 44;
    rdo_books_describe_room(&bench.books, RONDO_POOL_SHARED, room, sizeof room);
    assert_non_null(strstr(room, ": graph 901: 7000, graph 902: 100, graph 903: 100, ..."));
    rdo_books_describe_room(&bench.books, RONDO_POOL_HOST, room, sizeof room);
    assert_non_null(strstr(room, ": graph 905: 44"));
    assert_null(strstr(room, "graph 901"));
    bench.books.reports[RONDO_POOL_SHARED].guarded_bytes = bench.books.reports[RONDO_POOL_HOST].guarded_bytes = 0;
    for (size_t i = 0; i < 6; i++) rdo_books_remove_holder(&bench.books, &holders[i]);
    memory_bench_close(&bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(imports_that_share_a_byte_are_refused),
        cmocka_unit_test(an_import_that_wraps_around_is_refused),
        cmocka_unit_test(an_import_that_cannot_be_noted_is_told_from_an_overlap),
        cmocka_unit_test(a_callback_is_made_once_and_with_no_lock_held),
        cmocka_unit_test(a_callback_may_make_another_one_due),
        cmocka_unit_test(a_promise_to_call_is_refused_when_it_cannot_be_kept),
        cmocka_unit_test(addresses_of_the_flat_space_never_touch),
        cmocka_unit_test(the_callback_of_an_allocation_comes_with_its_end),
        cmocka_unit_test(the_graphs_that_pin_most_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
