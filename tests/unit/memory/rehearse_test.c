#include "memory/store.h"
#include "memory_bench.h"
#include "unit.h"

enum { MOST = 60, SLOTS = 10, BACKGROUND = 12, ROUNDS = 400, WINDOW = 7, KIB = 1024 };

/* A warm-up: what it reserves and releases, in order. note.memory_id is the number of the actor. */
typedef struct sequence {
    rdo_note notes[MOST];
    size_t count;
} sequence;

static rdo_request random_request(uint64_t largest) {
    rdo_request request = {.size = 1 + random_below(random_below(2) == 0 ? 4 * KIB : largest)};
    uint64_t what = random_below(12);
    if (what == 0) request.host = true;
    if (what == 1) request.usage = RONDO_USAGE_LASTING;
    if (what == 2) request.usage = RONDO_USAGE_ONE_OFF;
    if (what == 3) request.size = 0;
    return request;
}

/* Temporaries come and go; what is left at the end stays. Some releases are of memory that was there before. */
static sequence random_sequence(uint64_t largest) {
    sequence s = {.count = 0};
    uint64_t live[SLOTS] = {0};
    size_t steps = 1 + random_below(MOST);
    for (uint64_t id = 1; s.count < steps; id++) {
        size_t slot = random_below(SLOTS);
        if (random_below(20) == 0) {
            s.notes[s.count++] = (rdo_note){{.size = RDO_NOTE_RELEASE}, random_below(2) == 0 ? 0 : 1000000};
        } else if (live[slot] == 0) {
            live[slot] = id;
            s.notes[s.count++] = (rdo_note){random_request(largest), id};
        } else {
            s.notes[s.count++] = (rdo_note){{.size = RDO_NOTE_RELEASE}, live[slot]};
            live[slot] = 0;
        }
    }
    return s;
}

/* Memory that others hold, with holes between. */
static size_t fill_background(memory_bench *bench, rdo_memory **background, uint64_t largest) {
    size_t kept = 0;
    for (size_t i = 0; i < BACKGROUND; i++) {
        rdo_memory *memory = memory_bench_buffer(bench, 1 + random_below(largest));
        background[kept++] = memory;
        if (random_below(2) == 0) memory_bench_release(bench, background[--kept]);
    }
    return kept;
}

static void check_pages(const memory_bench *bench) {
    for (int kind = 0; kind < RONDO_POOL_KINDS; kind++) {
        const rdo_pool *pool = &bench->store.pools[kind];
        for (uint32_t i = 0; i < pool->count; i++) {
            if (pool->pages[i] != NULL) assert_true(rdo_page_check(pool->pages[i]));
        }
    }
}

/* Places the actor as the recorded run does: on the window's room, else on anybody's; pages are not added. */
static bool place(memory_bench *bench, rdo_request request, rdo_memory *actor) {
    request.window = WINDOW;
    return rdo_store_place(&bench->store, &request, actor, true) ||
           rdo_store_place(&bench->store, &request, actor, false);
}

static void release(rdo_memory *actor) {
    if (actor->page == NULL) return;
    actor->page->slices[actor->slice].touched = true; /* recorded work was given it [C5] */
    rdo_page_free(actor->page, actor->slice);
    actor->page = NULL;
}

/* While the window is open, a neighbour may take what is not the window's, and anybody may release. */
static void disturb(memory_bench *bench, rdo_memory **background, size_t *count, rdo_memory *stranger) {
    if (random_below(3) == 0 && *count != 0) memory_bench_release(bench, background[--*count]);
    if (stranger->page != NULL) {
        rdo_page_free(stranger->page, stranger->slice);
        stranger->page = NULL;
    } else if (random_below(3) == 0) {
        rdo_request request = {.size = 1 + random_below(8 * KIB)};
        (void)rdo_store_place(&bench->store, &request, stranger, false);
    }
}

static void run_recorded(memory_bench *bench, const sequence *s, rdo_memory **background, size_t *count) {
    static rdo_memory actors[MOST], stranger;
    memset(actors, 0, sizeof actors);
    memset(&stranger, 0, sizeof stranger);
    for (size_t i = 0; i < s->count; i++) {
        const rdo_note *note = &s->notes[i];
        if (note->request.size != RDO_NOTE_RELEASE) {
            if (!place(bench, note->request, &actors[i])) {
                fail_msg("reservation %zu of %zu (%llu bytes) finds no room", i, s->count,
                         (unsigned long long)note->request.size);
            }
        } else {
            for (size_t k = 0; k < i; k++) {
                if (s->notes[k].memory_id == note->memory_id) release(&actors[k]);
            }
        }
        disturb(bench, background, count, &stranger);
        check_pages(bench);
    }
    for (size_t i = 0; i < s->count; i++) release(&actors[i]);
    if (stranger.page != NULL) rdo_page_free(stranger.page, stranger.slice);
}

static void try_sequence(uint64_t largest, uint64_t background_largest) {
    memory_bench bench;
    rdo_memory *background[BACKGROUND];
    memory_bench_open(&bench);
    size_t count = fill_background(&bench, background, background_largest);
    sequence s = random_sequence(largest);
    assert_int_equal(rdo_store_rehearse(&bench.store, s.notes, s.count, WINDOW), RONDO_BACKEND_DONE);
    check_pages(&bench);
    uint64_t pages = bench.pages;
    bench.books.recorders = 1;
    run_recorded(&bench, &s, background, &count);
    assert_int_equal(bench.pages, pages);
    rdo_store_close_window(&bench.store, WINDOW, NULL, NULL);
    bench.books.recorders = 0;
    while (count != 0) memory_bench_release(&bench, background[--count]);
    for (int kind = 0; kind < RONDO_POOL_KINDS; kind++) {
        const rdo_pool *pool = &bench.store.pools[kind];
        for (uint32_t i = 0; i < pool->count; i++) {
            if (pool->pages[i] != NULL) assert_int_equal(pool->pages[i]->marked, 0);
        }
    }
    memory_bench_close(&bench);
}

/* [C6] */
static void a_rehearsed_sequence_never_needs_growth(void **state) {
    (void)state;
    seed_random();
    for (int i = 0; i < ROUNDS; i++) try_sequence(120 * KIB, 120 * KIB);
}

/* [C6] The size of the shared pages grows in the middle of the warm-up. */
static void a_rehearsed_sequence_never_needs_growth_though_the_page_size_grows(void **state) {
    (void)state;
    seed_random();
    for (int i = 0; i < ROUNDS; i++) try_sequence(1000 * KIB, 100 * KIB);
}

/* [C6] Above the largest page, where each allocation has one of its own. */
static void a_rehearsed_sequence_of_big_allocations_never_needs_growth(void **state) {
    (void)state;
    seed_random();
    for (int i = 0; i < ROUNDS / 8; i++) try_sequence(3000 * KIB, 2000 * KIB);
}

/* [C6] A page that the warm-up adds takes the first hole. The window's first allocation then finds it before the page
 * that it had at first, and leaves the second one without. */
static void room_that_falls_short_on_the_windows_own_pages_is_added(void **state) {
    memory_bench bench;
    rdo_memory *background[1];
    size_t none = 0;
    (void)state;
    memory_bench_open(&bench);
    rdo_memory *first = memory_bench_buffer(&bench, 2200 * KIB), *second = memory_bench_buffer(&bench, 2000 * KIB);
    memory_bench_release(&bench, first);
    rdo_books_release_pages(&bench.books, true); /* a hole, and a page that is in use */
    memory_bench_release(&bench, second);
    const sequence s = {{{{.size = 2000 * KIB}, 1}, {{.size = 2200 * KIB}, 2}}, 2};
    assert_int_equal(rdo_store_rehearse(&bench.store, s.notes, s.count, WINDOW), RONDO_BACKEND_DONE);
    assert_int_equal(bench.books.reports[RONDO_POOL_OWN].pages, 3);
    run_recorded(&bench, &s, background, &none);
    assert_int_equal(bench.books.reports[RONDO_POOL_OWN].pages, 3);
    rdo_store_close_window(&bench.store, WINDOW, NULL, NULL);
    memory_bench_close(&bench);
}

/* [C6] Not the sum of all temporaries is held but what they need at once. */
static void temporaries_that_follow_one_another_share_room(void **state) {
    memory_bench bench;
    rdo_note notes[40];
    (void)state;
    memory_bench_open(&bench);
    for (uint64_t i = 0; i < 20; i++) {
        notes[2 * i] = (rdo_note){{.size = 100 * KIB}, i + 1};
        notes[2 * i + 1] = (rdo_note){{.size = RDO_NOTE_RELEASE}, i + 1};
    }
    assert_int_equal(rdo_store_rehearse(&bench.store, notes, 40, WINDOW), RONDO_BACKEND_DONE);
    assert_int_equal(bench.books.reports[RONDO_POOL_SHARED].pages, 1);
    rdo_store_close_window(&bench.store, WINDOW, NULL, NULL);
    memory_bench_close(&bench);
}

/* [C5] [C6] */
static void the_room_of_a_window_is_nobody_elses(void **state) {
    memory_bench bench;
    (void)state;
    memory_bench_open(&bench);
    rdo_note note = {{.size = 128 * KIB}, 1};
    assert_int_equal(rdo_store_rehearse(&bench.store, &note, 1, WINDOW), RONDO_BACKEND_DONE);
    rdo_memory *other = memory_bench_buffer(&bench, 128 * KIB); /* needs a page of its own */
    assert_int_equal(bench.books.reports[RONDO_POOL_SHARED].pages, 2);
    rdo_store_close_window(&bench.store, WINDOW, NULL, NULL);
    rdo_memory *later = memory_bench_buffer(&bench, 128 * KIB);
    assert_int_equal(bench.books.reports[RONDO_POOL_SHARED].pages, 2);
    memory_bench_release(&bench, other);
    memory_bench_release(&bench, later);
    memory_bench_close(&bench);
}

/* [C6] [E3] */
static void a_rehearsal_without_memory_leaves_nothing_behind(void **state) {
    (void)state;
    for (uint64_t granted = 0, refused = 1; refused != 0; granted++) {
        memory_bench bench;
        rdo_note notes[] = {{{.size = 100 * KIB}, 1}, {{.size = 200 * KIB}, 2}, {{.size = RDO_NOTE_RELEASE}, 1},
                            {{.size = 3 * KIB}, 3},   {{.size = 5000, .usage = RONDO_USAGE_LASTING}, 4},
                            {{.size = 100, .host = true}, 5}};
        memory_bench_open(&bench);
        starve(granted, true);
        rondo_backend_result result = rdo_store_rehearse(&bench.store, notes, 6, WINDOW);
        refused = feed();
        assert_int_equal(result, refused != 0 ? RONDO_BACKEND_NO_MEMORY : RONDO_BACKEND_DONE);
        check_pages(&bench);
        rdo_store_close_window(&bench.store, WINDOW, NULL, NULL);
        check_pages(&bench);
        memory_bench_close(&bench);
    }
}

/* [C6] */
static void a_rehearsal_stops_at_a_cap(void **state) {
    memory_bench bench;
    rdo_note notes[] = {{{.size = 100 * KIB}, 1}, {{.size = 100 * KIB}, 2}, {{.size = 100 * KIB}, 3}};
    (void)state;
    memory_bench_open(&bench);
    bench.books.layout.shared_cap_bytes = 256 * KIB;
    assert_int_equal(rdo_store_rehearse(&bench.store, notes, 3, WINDOW), RONDO_BACKEND_DEVICE_FULL);
    rdo_store_close_window(&bench.store, WINDOW, NULL, NULL);
    check_pages(&bench);
    memory_bench_close(&bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rehearsed_sequence_never_needs_growth),
        cmocka_unit_test(a_rehearsed_sequence_never_needs_growth_though_the_page_size_grows),
        cmocka_unit_test(a_rehearsed_sequence_of_big_allocations_never_needs_growth),
        cmocka_unit_test(room_that_falls_short_on_the_windows_own_pages_is_added),
        cmocka_unit_test(temporaries_that_follow_one_another_share_room),
        cmocka_unit_test(the_room_of_a_window_is_nobody_elses),
        cmocka_unit_test(a_rehearsal_without_memory_leaves_nothing_behind),
        cmocka_unit_test(a_rehearsal_stops_at_a_cap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
