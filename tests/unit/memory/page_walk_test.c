/* Every sequence of what can happen to a page, against the naive list of segments. */
#include "page_model.h"

#include "memory_bench.h"
#include "walk.h"

/* How big the world is. */
typedef struct universe {
    uint32_t units, windows, most_guards;
} universe;

static universe u;
static memory_bench bench;
static rdo_page *page, *shelf[1];
static model reference;
static rdo_memory owners[8];
static char words[64];

/* ---- choices: reservations by size and window, then what can be done to each slice, then to the page ---- */

enum { MOST_SIZE = 2, PER_SLICE = 5, TO_PAGE = 3 };

typedef enum deed { FREE, GUARD, UNGUARD, TOUCH, HOLD_FOR_WINDOW } deed;

/* Of no window; of each window from the room of all; of each from its own room. */
static unsigned reservations(void) {
    return MOST_SIZE * (1 + 2 * u.windows);
}

static unsigned choices(void) {
    return reservations() + u.units * PER_SLICE + TO_PAGE * u.windows;
}

static const char *reserve(unsigned choice) {
    uint64_t size = (1 + choice % MOST_SIZE) * UNIT, window = choice / MOST_SIZE;
    bool own_only = window > u.windows;
    if (own_only) window -= u.windows;
    int owner = 0;
    while (owners[owner].page != NULL) owner++;
    uint32_t slice = rdo_page_fit(page, size, window, own_only);
    size_t at = model_fit(&reference, size, window, own_only);
    if ((slice == RDO_NO_SLICE) != (at == reference.count)) return "whether there is room";
    if (slice == RDO_NO_SLICE) return WALK_NOT_NOW;
    if (page->slices[slice].offset != reference.list[at].offset) return "where there is room";
    if (!rdo_page_prepare_carve(page)) return "memory";
    rdo_page_carve(page, slice, size, &owners[owner], window);
    owners[owner].page = page;
    owners[owner].slice = slice;
    model_carve(&reference, at, size, owner, window);
    return NULL;
}

static const char *do_to_slice(uint32_t slice, segment *s, deed what) {
    size_t at = (size_t)(s - reference.list);
    switch (what) {
    case FREE:
        if (s->owner < 0) return WALK_NOT_NOW;
        owners[s->owner].page = NULL;
        rdo_page_free(page, slice);
        model_free(&reference, at);
        return NULL;
    case GUARD:
        if (s->guards == u.most_guards) return WALK_NOT_NOW;
        rdo_page_guard(page, slice);
        s->guards++;
        return NULL;
    case UNGUARD:
        if (s->guards == 0) return WALK_NOT_NOW;
        rdo_page_unguard(page, slice);
        s->guards--;
        merge(&reference, 0);
        return NULL;
    case TOUCH:
        if (s->window == 0 || s->owner < 0 || s->touched) return WALK_NOT_NOW;
        page->slices[slice].touched = s->touched = true;
        return NULL;
    default:
        if (s->owner >= 0 || s->window != 0 || s->guards != 0) return WALK_NOT_NOW;
        rdo_page_set_window(page, slice, 1);
        model_set_window(&reference, at, 1);
        return NULL;
    }
}

static void keep(void *user, rdo_page *kept, uint32_t slice) {
    (void)kept, (void)slice;
    ++*(unsigned *)user;
}

/* Whether a graph that the window becomes keeps these bytes. */
static bool stays(const segment *s, uint64_t window) {
    return s->window == window && (s->touched || (s->owner >= 0 && s->reused));
}

/* The window closes: into a graph, which guards what was touched, or without one. */
static const char *close_window(uint64_t window, bool seal) {
    unsigned kept = 0, touched = 0, marked = 0;
    bool too_many = false;
    for (size_t i = 0; i < reference.count; i++) {
        const segment *s = &reference.list[i];
        marked += s->window == window;
        touched += stays(s, window);
        too_many = too_many || (stays(s, window) && s->guards == u.most_guards);
    }
    if (marked == 0 || (seal && too_many)) return WALK_NOT_NOW;
    if (rdo_store_count_touched(&bench.store, window) != touched) return "what the window touched";
    rdo_store_close_window(&bench.store, window, seal ? keep : NULL, &kept);
    if (kept != (seal ? touched : 0)) return "what is kept";
    for (size_t i = 0; i < reference.count; i++) {
        segment *s = &reference.list[i];
        s->guards += seal && stays(s, window);
        if (s->window == window) s->window = 0, s->touched = s->reused = false;
    }
    merge(&reference, 0);
    return NULL;
}

static const char *do_to_page(unsigned what, uint64_t window) {
    if (what != 0) return close_window(window, what == 1);
    rdo_page_coalesce_window(page, window);
    merge(&reference, window);
    return NULL;
}

static uint64_t guarded_bytes(void) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < reference.count; i++) bytes += reference.list[i].guards != 0 ? reference.list[i].size : 0;
    return bytes;
}

static const char *step(unsigned choice) {
    const char *what;
    unsigned of_slice = choice - reservations(), of_page = of_slice - u.units * PER_SLICE;
    if (choice < reservations()) {
        what = reserve(choice);
    } else if (of_slice < u.units * PER_SLICE) {
        size_t at = of_slice / PER_SLICE;
        if (at >= reference.count) return WALK_NOT_NOW;
        segment *s = &reference.list[at];
        what = do_to_slice(slice_at(page, s->offset), s, (deed)(of_slice % PER_SLICE));
    } else {
        what = do_to_page(of_page % TO_PAGE, 1 + of_page / TO_PAGE);
    }
    if (what != NULL) return what;
    if (bench.books.reports[RONDO_POOL_SMALL].guarded_bytes != guarded_bytes()) return "guarded bytes";
    return model_differs(page, &reference, owners);
}

static const char *name(unsigned choice) {
    static const char *const deeds[PER_SLICE] = {"free", "guard", "unguard", "touch", "hold for window 1"};
    static const char *const page_deeds[TO_PAGE] = {"make one of the pieces", "seal", "abort"};
    unsigned of_slice = choice - reservations(), of_page = of_slice - u.units * PER_SLICE;
    if (choice < reservations()) {
        unsigned window = choice / MOST_SIZE;
        bool own = window > u.windows;
        (void)snprintf(words, sizeof words, "reserve %u for window %u%s", 1 + choice % MOST_SIZE,
                       own ? window - u.windows : window, own ? " from its own room" : "");
    } else if (of_slice < u.units * PER_SLICE) {
        (void)snprintf(words, sizeof words, "%s slice %u", deeds[of_slice % PER_SLICE], of_slice / PER_SLICE);
    } else {
        (void)snprintf(words, sizeof words, "%s of window %u", page_deeds[of_page % TO_PAGE], 1 + of_page / TO_PAGE);
    }
    return words;
}

static void start(void) {
    memset(owners, 0, sizeof owners);
    for (size_t i = 0; i < sizeof owners / sizeof owners[0]; i++) owners[i].refs = 1;
    reference = (model){.count = 1};
    reference.list[0] = (segment){.size = u.units * UNIT, .owner = -1};
    shelf[0] = page = rdo_page_new(&bench.books, NULL, u.units * UNIT);
    bench.books.reports[RONDO_POOL_SMALL].guarded_bytes = 0;
    bench.store.pools[RONDO_POOL_SMALL].pages = shelf;
    bench.store.pools[RONDO_POOL_SMALL].count = 1;
}

static void end(void) {
    bench.books.reports[RONDO_POOL_SMALL].guarded_bytes = 0;
    bench.store.pools[RONDO_POOL_SMALL] = (rdo_pool){0};
    rdo_page_delete(page);
}

/* All of the segments, and how many entries the page has; which entry stands for which slice decides nothing. */
static uint64_t state_number(void) {
    uint64_t number = page->slice_count;
    for (size_t i = 0; i < reference.count; i++) {
        const segment *s = &reference.list[i];
        bool touched = s->touched, reused = s->owner >= 0 && s->reused;
        number = number << 10 | (s->size / UNIT) << 7 | (uint64_t)(s->owner >= 0) << 6 | (uint64_t)s->guards << 4 |
                 s->window << 2 | (uint64_t)touched << 1 | reused;
    }
    return number;
}

static walk_machine machine_in(universe size) {
    u = size;
    return (walk_machine){choices(), start, step, end, state_number, name};
}

/* [M2] [M3] [C5] [C18] */
static void any_sequence_of_five_steps_leaves_a_page_as_the_reference_says(void **state) {
    (void)state;
    const walk_machine machine = machine_in((universe){.units = 4, .windows = 2, .most_guards = 2});
    memory_bench_open(&bench);
    walk_sequences(&machine, 5);
    memory_bench_close(&bench);
}

/* [M2] [M3] [C5] [C18] */
static void every_state_of_a_page_of_four_units_is_as_the_reference_says(void **state) {
    (void)state;
    const walk_machine machine = machine_in((universe){.units = 4, .windows = 1, .most_guards = 1});
    memory_bench_open(&bench);
    walk_states(&machine, WALK_LONGEST);
    memory_bench_close(&bench);
}

/* [M2] [M3] [C5] [C20] Two windows at once, and bytes that two graphs keep in place. */
static void every_state_of_a_page_that_two_windows_share_is_as_the_reference_says(void **state) {
    (void)state;
    const walk_machine machine = machine_in((universe){.units = 3, .windows = 2, .most_guards = 2});
    memory_bench_open(&bench);
    walk_states(&machine, WALK_LONGEST);
    memory_bench_close(&bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_sequence_of_five_steps_leaves_a_page_as_the_reference_says),
        cmocka_unit_test(every_state_of_a_page_of_four_units_is_as_the_reference_says),
        cmocka_unit_test(every_state_of_a_page_that_two_windows_share_is_as_the_reference_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
