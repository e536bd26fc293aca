#include "page_model.h"

#include "memory_bench.h"

enum { OWNERS = 32, STEPS = 4000 };

static void carve(rdo_page *page, model *m, rdo_memory *owners) {
    uint64_t size = (1 + random_below(8)) * UNIT, window = random_below(3);
    bool own_only = window != 0 && random_below(2) == 0;
    int owner = 0;
    while (owner < OWNERS && owners[owner].page != NULL) owner++;
    uint32_t slice = rdo_page_fit(page, size, window, own_only);
    size_t at = model_fit(m, size, window, own_only);
    assert_int_equal(slice == RDO_NO_SLICE, at == m->count);
    if (slice == RDO_NO_SLICE || owner == OWNERS) return;
    assert_int_equal(page->slices[slice].offset, m->list[at].offset);
    assert_true(rdo_page_prepare_carve(page));
    rdo_page_carve(page, slice, size, &owners[owner], window);
    owners[owner].page = page;
    owners[owner].slice = slice;
    model_carve(m, at, size, owner, window);
}

static void close_window(rdo_page *page, model *m, uint64_t window) {
    for (size_t i = 0; i < m->count;) {
        if (m->list[i].window != window) {
            i++;
            continue;
        }
        rdo_page_set_window(page, slice_at(page, m->list[i].offset), 0);
        model_set_window(m, i, 0);
        i = 0;
    }
}

static void step(rdo_page *page, model *m, rdo_memory *owners) {
    size_t at = random_below(m->count);
    segment *s = &m->list[at];
    uint32_t slice = slice_at(page, s->offset);
    switch (random_below(12)) {
    case 0:
    case 1:
    case 2:
        if (s->owner < 0) break;
        owners[s->owner].page = NULL;
        rdo_page_free(page, slice);
        model_free(m, at);
        break;
    case 3:
        rdo_page_guard(page, slice);
        s->guards++;
        break;
    case 4:
    case 5:
        if (s->guards == 0) break;
        rdo_page_unguard(page, slice);
        s->guards--;
        merge(m, 0);
        break;
    case 6:
        if (s->owner >= 0 || s->window != 0 || s->guards != 0) break;
        rdo_page_set_window(page, slice, 1);
        model_set_window(m, at, 1);
        break;
    case 7:
        if (random_below(4) == 0) close_window(page, m, 1 + random_below(2));
        break;
    case 8:
        rdo_page_coalesce_window(page, 1);
        merge(m, 1);
        break;
    case 9:
        if (s->window == 0 || s->owner < 0) break;
        page->slices[slice].touched = s->touched = true;
        break;
    default: carve(page, m, owners); break;
    }
}

/* [M2] [M3] [C5] */
static void a_page_is_what_a_naive_list_of_segments_says(void **state) {
    memory_bench bench;
    (void)state;
    seed_random();
    memory_bench_open(&bench);
    for (int round = 0; round < 20; round++) {
        static rdo_memory owners[OWNERS];
        model m = {.count = 1};
        m.list[0] = (segment){.size = UNITS * UNIT, .owner = -1};
        rdo_page *page = rdo_page_new(&bench.books, NULL, UNITS * UNIT);
        assert_non_null(page);
        memset(owners, 0, sizeof owners);
        for (int i = 0; i < OWNERS; i++) owners[i].refs = 1;
        for (int i = 0; i < STEPS / 20; i++) {
            step(page, &m, owners);
            const char *difference = model_differs(page, &m, owners);
            if (difference != NULL) fail_msg("page and model differ: %s", difference);
        }
        uint64_t guarded = 0;
        for (size_t i = 0; i < m.count; i++) guarded += m.list[i].guards != 0 ? m.list[i].size : 0;
        assert_int_equal(bench.books.reports[RONDO_POOL_SMALL].guarded_bytes, guarded);
        bench.books.reports[RONDO_POOL_SMALL].guarded_bytes = 0;
        rdo_page_delete(page);
    }
    memory_bench_close(&bench);
}

/* [C5] */
static void touched_bytes_of_a_window_are_reused_only_in_that_window(void **state) {
    memory_bench bench;
    rdo_memory first = {.refs = 1}, second = {.refs = 1};
    (void)state;
    memory_bench_open(&bench);
    rdo_page *page = rdo_page_new(&bench.books, NULL, 4 * UNIT);
    rdo_page_carve(page, 0, 2 * UNIT, &first, 9);
    first.page = page;
    first.slice = 0;
    page->slices[0].touched = true;
    rdo_page_free(page, 0);
    assert_int_equal(rdo_page_fit(page, 4 * UNIT, 0, false), RDO_NO_SLICE); /* it does not coalesce */
    assert_int_not_equal(rdo_page_fit(page, 2 * UNIT, 0, false), 0);        /* nobody else gets it */
    assert_int_not_equal(rdo_page_fit(page, 2 * UNIT, 8, false), 0);
    assert_int_equal(rdo_page_fit(page, 2 * UNIT, 9, true), 0);
    assert_true(rdo_page_prepare_carve(page));
    rdo_page_carve(page, 0, UNIT, &second, 9);
    second.page = page;
    second.slice = 0;
    assert_true(page->slices[0].reused);
    assert_true(rdo_page_check(page));
    rdo_page_delete(page);
    memory_bench_close(&bench);
}

/* [M3] */
static void a_guarded_slice_is_neither_handed_out_nor_coalesced(void **state) {
    memory_bench bench;
    rdo_memory owner = {.refs = 1};
    (void)state;
    memory_bench_open(&bench);
    rdo_page *page = rdo_page_new(&bench.books, NULL, 4 * UNIT);
    rdo_page_carve(page, 0, UNIT, &owner, 0);
    owner.page = page;
    owner.slice = 0;
    rdo_page_guard(page, 0);
    rdo_page_guard(page, 0);
    rdo_page_free(page, 0);
    assert_int_not_equal(rdo_page_fit(page, UNIT, 0, false), 0); /* the rest of the page stays usable */
    assert_int_equal(rdo_page_fit(page, 4 * UNIT, 0, false), RDO_NO_SLICE);
    rdo_page_unguard(page, 0);
    assert_int_equal(rdo_page_fit(page, 4 * UNIT, 0, false), RDO_NO_SLICE);
    rdo_page_unguard(page, 0);
    assert_int_equal(rdo_page_fit(page, 4 * UNIT, 0, false), 0);
    assert_int_equal(bench.books.reports[page->pool].guarded_bytes, 0);
    rdo_page_delete(page);
    memory_bench_close(&bench);
}

/* [E3] [M4] */
static void a_page_that_cannot_be_described_is_not_made(void **state) {
    memory_bench bench;
    (void)state;
    memory_bench_open(&bench);
    for (uint64_t granted = 0; granted < 2; granted++) {
        starve(granted, false);
        assert_null(rdo_page_new(&bench.books, NULL, UNIT));
        assert_int_equal(feed(), 1);
    }
    rdo_page *page = rdo_page_new(&bench.books, NULL, 64 * UNIT);
    rdo_memory owners[64] = {{.refs = 1}};
    int count = 0;
    starve(0, true);
    /* Room for a few slices is there; then carving is refused before anything changed. */
    while (rdo_page_prepare_carve(page) && count < 64) {
        uint32_t slice = rdo_page_fit(page, UNIT, 0, false);
        rdo_page_carve(page, slice, UNIT, &owners[count], 0);
        owners[count].page = page;
        owners[count].slice = slice;
        count++;
    }
    assert_int_not_equal(feed(), 0);
    assert_in_range(count, 1, 63);
    assert_true(rdo_page_check(page));
    rdo_page_delete(page);
    memory_bench_close(&bench);
}

/* [M2] [M3] The check that others rely on sees each kind of damage. */
static void a_page_that_contradicts_itself_is_found_out(void **state) {
    memory_bench bench;
    (void)state;
    memory_bench_open(&bench);
    rdo_page *page = rdo_page_new(&bench.books, NULL, 8 * UNIT), *other = rdo_page_new(&bench.books, NULL, UNIT);
    rdo_memory owner = {.refs = 1}, gone = {.refs = 1};
    assert_true(rdo_page_prepare_carve(page));
    rdo_page_carve(page, rdo_page_fit(page, UNIT, 0, false), UNIT, &owner, 0);
    owner.page = page;
    owner.slice = 0;
    uint32_t rest = page->slices[0].after;
    assert_true(rdo_page_prepare_carve(page));
    rdo_page_carve(page, rest, UNIT, &gone, 0);
    rdo_page_free(page, rest); /* what it was cut off is a spare entry now */
    assert_true(rdo_page_check(page));
#define DAMAGE(place, value)                                                                                           \
    do {                                                                                                               \
        rdo_page whole = *page;                                                                                        \
        rdo_slice slices[3] = {page->slices[0], page->slices[rest], page->slices[RDO_NO_SLICE]};                       \
        rdo_memory sound = owner;                                                                                      \
        place = value;                                                                                                 \
        assert_false(rdo_page_check(page));                                                                            \
        *page = whole;                                                                                                 \
        page->slices[0] = slices[0];                                                                                   \
        page->slices[rest] = slices[1];                                                                                \
        page->slices[RDO_NO_SLICE] = slices[2];                                                                        \
        owner = sound;                                                                                                 \
        assert_true(rdo_page_check(page));                                                                             \
    } while (0)
    DAMAGE(page->slices[rest].spare, true);
    DAMAGE(page->slices[rest].offset, 0);
    DAMAGE(page->slices[rest].before, RDO_NO_SLICE);
    DAMAGE(page->slices[rest].size, 0);
    DAMAGE(page->slices[rest].size, UNIT);
    DAMAGE(page->slices[0].owner, NULL);
    DAMAGE(owner.page, other);
    DAMAGE(owner.slice, rest);
    DAMAGE(page->used, 2);
    DAMAGE(page->guarded, 1);
    DAMAGE(page->marked, 1);
    DAMAGE(page->slices[rest].touched, true);
    DAMAGE(page->slices[rest].reused, true);
    DAMAGE(page->slices[rest].served, true);
    DAMAGE(page->slices[rest].open.before, 0);
    DAMAGE(page->slices[rest].open.after, rest);
    DAMAGE(page->slices[RDO_NO_SLICE].open.before, 0);
    DAMAGE(page->most_open, 7 * UNIT - 1);
    DAMAGE(page->spares, RDO_NO_SLICE);
    DAMAGE(page->slice_count, page->slice_count + 1);
#undef DAMAGE
    page->slices[page->spares].spare = false;
    assert_false(rdo_page_check(page));
    page->slices[page->spares].spare = true;
    /* Two open neighbours, well listed, that are not one. */
    page->slices[0].owner = NULL;
    page->used = 0;
    page->slices[0].open = (rdo_links){RDO_NO_SLICE, rest};
    page->slices[rest].open.before = page->slices[RDO_NO_SLICE].open.after = 0;
    assert_false(rdo_page_check(page));
    rdo_page *nothing = rdo_page_new(&bench.books, NULL, 0);
    assert_true(rdo_page_check(nothing));
    rdo_page_delete(nothing);
    rdo_page_delete(other);
    rdo_page_delete(page);
    memory_bench_close(&bench);
}

/* [C5] Saying twice whose a slice is changes no count. */
static void a_slice_can_be_given_to_a_window_again(void **state) {
    memory_bench bench;
    (void)state;
    memory_bench_open(&bench);
    rdo_page *page = rdo_page_new(&bench.books, NULL, 8 * UNIT);
    rdo_page_set_window(page, 0, 0);
    assert_int_equal(page->marked, 0);
    rdo_page_set_window(page, 0, 3);
    rdo_page_set_window(page, 0, 3);
    assert_int_equal(page->marked, 1);
    page->slices[0].noted = 2;
    assert_true(rdo_page_check(page));
    page->slices[0].noted = 3; /* by that window, which marks what it notes */
    assert_false(rdo_page_check(page));
    page->slices[0].touched = true;
    assert_true(rdo_page_check(page));
    rdo_page_set_window(page, 0, 0);
    assert_int_equal(page->marked, 0);
    rdo_page_delete(page);
    memory_bench_close(&bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_is_what_a_naive_list_of_segments_says),
        cmocka_unit_test(touched_bytes_of_a_window_are_reused_only_in_that_window),
        cmocka_unit_test(a_guarded_slice_is_neither_handed_out_nor_coalesced),
        cmocka_unit_test(a_page_that_cannot_be_described_is_not_made),
        cmocka_unit_test(a_page_that_contradicts_itself_is_found_out),
        cmocka_unit_test(a_slice_can_be_given_to_a_window_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
