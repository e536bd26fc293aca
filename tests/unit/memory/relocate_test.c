#include "memory/store.h"
#include "memory_bench.h"
#include "unit.h"

enum { KIB = 1024, COUNT = 8 };

static struct copies {
    uint64_t done, granted; /* copies that succeed before all others fail */
} copies;

static rondo_backend_result submit(void *queue, const rondo_backend_op *op, rondo_backend_outcome *outcome) {
    (void)queue, (void)outcome;
    assert_int_equal(op->kind, RONDO_OP_COPY);
    if (copies.done == copies.granted) return RONDO_BACKEND_NOT_RUN;
    copies.done++;
    memmove((char *)op->target.page + op->target.offset_bytes, (char *)op->source.page + op->source.offset_bytes,
            op->size_bytes);
    return RONDO_BACKEND_DONE;
}

static unsigned char *bytes_of(const rdo_memory *memory) {
    return (unsigned char *)memory->place.page + memory->place.offset_bytes;
}

/* Small pages with a few allocations, and a large one that outdates them. */
typedef struct outdated {
    memory_bench bench;
    rdo_memory *all[COUNT], *large;
    rondo_status failure;
} outdated;

static uint64_t size_of(int i) {
    return 30 * KIB + (uint64_t)i * 1000;
}

static void fill(const rdo_memory *memory, int i) {
    for (uint64_t k = 0; k < memory->size; k++) bytes_of(memory)[k] = (unsigned char)(k * 7 + (uint64_t)i);
}

static void open_outdated(outdated *o) {
    memory_bench_open(&o->bench);
    o->bench.backend.submit = submit;
    copies = (struct copies){.granted = UINT64_MAX};
    for (int i = 0; i < COUNT; i++) {
        o->all[i] = memory_bench_buffer(&o->bench, size_of(i));
        fill(o->all[i], i);
    }
    o->failure = rdo_fault_raise(RDO_NOWHERE("test"), RONDO_KERNEL, "spoiled");
    rdo_memory_claim(o->all[2], 100, 200, rondo_status_number(o->failure), 0);
    o->large = memory_bench_buffer(&o->bench, 900 * KIB);
}

static void check_bytes(const outdated *o) {
    for (int i = 0; i < COUNT; i++) {
        assert_true(rdo_page_check(o->all[i]->page));
        assert_int_equal(o->all[i]->size, size_of(i));
        assert_int_equal(o->all[i]->address,
                         o->all[i]->page->address + o->all[i]->page->slices[o->all[i]->slice].offset);
        for (uint64_t k = 0; k < o->all[i]->size; k++) {
            assert_int_equal(bytes_of(o->all[i])[k], (unsigned char)(k * 7 + (uint64_t)i));
        }
        assert_int_equal(rdo_claims_any(&o->all[i]->claims), i == 2);
    }
    const rdo_range *claim = rdo_claims_find(&o->all[2]->claims, 0, size_of(2));
    assert_int_equal(claim->low, 100);
    assert_int_equal(claim->high, 200);
    assert_int_equal(claim->value, rondo_status_number(o->failure));
}

static void close_outdated(outdated *o) {
    check_bytes(o);
    for (int i = 0; i < COUNT; i++) memory_bench_release(&o->bench, o->all[i]);
    memory_bench_release(&o->bench, o->large);
    memory_bench_close(&o->bench);
}

static bool moved(const outdated *o, int i) {
    return o->all[i]->page->size == o->bench.store.shared_page_bytes;
}

/* [M5] [T9] [O6] */
static void bytes_and_claims_move_with_their_allocation(void **state) {
    outdated o;
    (void)state;
    open_outdated(&o);
    uint64_t pages = o.bench.books.reports[RONDO_POOL_SHARED].pages;
    assert_true(rdo_store_has_outdated(&o.bench.store));
    rdo_store_relocate(&o.bench.store, NULL, true);
    memory_bench_sweep(&o.bench);
    for (int i = 0; i < COUNT; i++) assert_true(moved(&o, i));
    assert_int_equal(copies.done, COUNT);
    assert_false(rdo_store_has_outdated(&o.bench.store));
    assert_true(o.bench.books.reports[RONDO_POOL_SHARED].pages < pages); /* emptied pages are released */
    close_outdated(&o);
}

/* [M5] */
static void without_growth_only_what_finds_room_moves(void **state) {
    outdated o;
    (void)state;
    open_outdated(&o);
    uint64_t pages = o.bench.pages;
    rdo_store_relocate(&o.bench.store, NULL, false);
    memory_bench_sweep(&o.bench);
    assert_true(o.bench.pages <= pages);
    int count = 0;
    for (int i = 0; i < COUNT; i++) count += moved(&o, i);
    assert_in_range(count, 1, COUNT - 1); /* the large one leaves 124 KiB */
    close_outdated(&o);
}

/* [M3] [O4] */
static void guarded_mapped_and_used_memory_stays(void **state) {
    for (int why = 0; why < 4; why++) {
        outdated o;
        (void)state;
        open_outdated(&o);
        rdo_memory *held = o.all[0];
        const unsigned char *at = bytes_of(held);
        if (why == 0) rdo_page_guard(held->page, held->slice);
        if (why == 1) held->maps = 1;
        if (why == 2) held->uses = 1;
        if (why == 3) o.bench.books.recorders = 1; /* while someone records nothing moves */
        rdo_store_relocate(&o.bench.store, NULL, true);
        memory_bench_sweep(&o.bench);
        assert_ptr_equal(bytes_of(held), at);
        assert_int_equal(moved(&o, COUNT - 1), why != 3);
        if (why == 0) rdo_page_unguard(held->page, held->slice);
        held->maps = held->uses = 0;
        o.bench.books.recorders = 0;
        rdo_store_relocate(&o.bench.store, NULL, true);
        memory_bench_sweep(&o.bench);
        assert_true(moved(&o, 0));
        close_outdated(&o);
    }
}

/* [M5] */
static void an_abandoned_relocation_loses_nothing(void **state) {
    (void)state;
    for (uint64_t granted = 0; granted < COUNT; granted++) {
        outdated o;
        open_outdated(&o);
        copies.granted = granted;
        rdo_store_relocate(&o.bench.store, NULL, true);
        memory_bench_sweep(&o.bench);
        check_bytes(&o);
        uint64_t count = 0;
        for (int i = 0; i < COUNT; i++) count += moved(&o, i);
        assert_int_equal(count, granted);
        copies.granted = UINT64_MAX;
        rdo_store_relocate(&o.bench.store, NULL, true);
        memory_bench_sweep(&o.bench);
        for (int i = 0; i < COUNT; i++) assert_true(moved(&o, i));
        close_outdated(&o);
    }
}

/* [M5] A page more does not help where copies fail. */
static void a_relocation_whose_copies_fail_adds_no_page(void **state) {
    outdated o;
    (void)state;
    open_outdated(&o);
    rdo_memory *second = memory_bench_buffer(&o.bench, 900 * KIB);
    memory_bench_release(&o.bench, second); /* current room for all of them */
    copies.granted = 0;
    uint64_t pages = o.bench.pages;
    for (int i = 0; i < 4; i++) rdo_store_relocate(&o.bench.store, NULL, true);
    memory_bench_sweep(&o.bench);
    assert_int_equal(o.bench.pages, pages);
    close_outdated(&o);
}

/* [M5] [E3] */
static void a_relocation_without_memory_loses_nothing(void **state) {
    (void)state;
    for (uint64_t granted = 0, refused = 1; refused != 0; granted++) {
        outdated o;
        open_outdated(&o);
        starve(granted, true);
        rdo_store_relocate(&o.bench.store, NULL, true);
        refused = feed();
        memory_bench_sweep(&o.bench);
        close_outdated(&o);
    }
}

/* [M2] [M5] */
static void random_relocations_keep_all_bytes(void **state) {
    enum { LIVE = 20 };
    rdo_memory *live[LIVE] = {NULL};
    memory_bench bench;
    (void)state;
    seed_random();
    memory_bench_open(&bench);
    bench.backend.submit = submit;
    for (int step = 0; step < 400; step++) {
        int at = (int)random_below(LIVE);
        copies = (struct copies){.granted = random_below(12)};
        if (live[at] != NULL) {
            memory_bench_release(&bench, live[at]);
            live[at] = NULL;
        } else {
            live[at] = memory_bench_buffer(&bench, 5 * KIB + random_below((uint64_t)(step + 20) * KIB));
            fill(live[at], at);
        }
        rdo_store_relocate(&bench.store, NULL, random_below(2) == 0);
        memory_bench_sweep(&bench);
        for (int i = 0; i < LIVE; i++) {
            if (live[i] == NULL) continue;
            uint64_t last = live[i]->size - 1;
            assert_int_equal(bytes_of(live[i])[0], (unsigned char)i);
            assert_int_equal(bytes_of(live[i])[last], (unsigned char)(last * 7 + (uint64_t)i));
            assert_true(rdo_page_check(live[i]->page));
        }
    }
    for (int i = 0; i < LIVE; i++) {
        if (live[i] != NULL) memory_bench_release(&bench, live[i]);
    }
    memory_bench_close(&bench);
}

static rondo_backend_result (*plain_page_alloc)(void *device, rondo_page_kind kind, uint64_t size, void **out_page);

/* Another queue begins to record while the page is made. */
static rondo_backend_result page_alloc_while_a_window_opens(void *device, rondo_page_kind kind, uint64_t size,
                                                            void **out_page) {
    memory_bench *bench = device;
    bench->books.recorders = 1;
    return plain_page_alloc(device, kind, size, out_page);
}

/* [C18] [M5] */
static void nothing_moves_once_a_window_has_opened_meanwhile(void **state) {
    outdated o;
    (void)state;
    open_outdated(&o);
    rdo_memory *second = memory_bench_buffer(&o.bench, 120 * KIB); /* takes what the large one leaves */
    plain_page_alloc = o.bench.backend.page_alloc;
    o.bench.backend.page_alloc = page_alloc_while_a_window_opens;
    rdo_store_relocate(&o.bench.store, NULL, true);
    assert_int_equal(o.bench.books.recorders, 1);
    for (int i = 0; i < COUNT; i++) assert_false(moved(&o, i));
    o.bench.books.recorders = 0;
    memory_bench_release(&o.bench, second);
    close_outdated(&o);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_and_claims_move_with_their_allocation),
        cmocka_unit_test(without_growth_only_what_finds_room_moves),
        cmocka_unit_test(guarded_mapped_and_used_memory_stays),
        cmocka_unit_test(an_abandoned_relocation_loses_nothing),
        cmocka_unit_test(a_relocation_whose_copies_fail_adds_no_page),
        cmocka_unit_test(a_relocation_without_memory_loses_nothing),
        cmocka_unit_test(random_relocations_keep_all_bytes),
        cmocka_unit_test(nothing_moves_once_a_window_has_opened_meanwhile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
