#include "fault/claims.h"

#include "base/alloc.h"
#include "fault/ledger.h"
#include "unit.h"

enum { WHOLE = 100 };

static _Atomic uint64_t claimed;

static uint64_t new_failure(void) {
    return rondo_status_number(rdo_fault_raise(RDO_NOWHERE("test"), RONDO_KERNEL, "it failed"));
}

static uint64_t carriers_of(uint64_t failure) {
    rondo_fault fault;
    assert_int_equal(rondo_fault_get(rdo_fault_status(failure), &fault), RONDO_OK);
    return fault.carriers;
}

static void claim(rdo_claims *claims, uint64_t low, uint64_t high, uint64_t failure) {
    rdo_claims_set(claims, WHOLE, low, high, failure, 0, &claimed);
}

static void release(rdo_claims *claims, uint64_t low, uint64_t high) {
    rdo_claims_release(claims, low, high, &claimed);
}

/* Which failure claims the byte, 0 if none. */
static uint64_t at(const rdo_claims *claims, uint64_t byte) {
    const rdo_range *range = rdo_claims_find(claims, byte, byte + 1);
    return range != NULL ? range->value : 0;
}

/* Nothing is claimed any more. Gives the room back that the claims had. */
static void expect_clean(rdo_claims *claims) {
    assert_false(rdo_claims_any(claims));
    assert_int_equal(claimed, 0);
    assert_int_equal(rondo_fault_live_count(), 0);
    assert_true(rdo_ledger_check());
    rdo_claims_clear(claims, &claimed);
    assert_null(claims->ranges.heap);
}

/* ---- the stories ---- */

/* [T5] A claim holds a number of 48 bits and more as it is, known to the ledger or not. */
static void a_failure_number_of_any_size_fits_in_a_claim(void **state) {
    rdo_claims claims = {0};
    (void)state;
    claim(&claims, 0, 10, UINT64_MAX);
    assert_true(at(&claims, 9) == UINT64_MAX);
    assert_int_equal(sizeof(rdo_range), 4 * sizeof(uint64_t));
    rdo_claims_clear(&claims, &claimed);
    expect_clean(&claims);
}

/* [T3] */
static void a_partial_write_releases_only_the_bytes_it_covers(void **state) {
    rdo_claims claims = {0};
    uint64_t failure = new_failure();
    (void)state;
    claim(&claims, 0, 100, failure);
    release(&claims, 40, 60);
    assert_int_equal(at(&claims, 39), failure);
    assert_int_equal(at(&claims, 40), 0);
    assert_int_equal(at(&claims, 59), 0);
    assert_int_equal(at(&claims, 60), failure);
    assert_int_equal(carriers_of(failure), 1);
    release(&claims, 0, 40);
    assert_int_equal(carriers_of(failure), 1);
    release(&claims, 60, 100);
    assert_int_equal(carriers_of(failure), 0);
    expect_clean(&claims);
}

/* [T2] */
static void disjoint_claims_keep_their_own_failures(void **state) {
    rdo_claims claims = {0};
    uint64_t a = new_failure(), b = new_failure();
    (void)state;
    claim(&claims, 0, 50, a);
    claim(&claims, 50, 100, b);
    release(&claims, 0, 50);
    assert_int_equal(carriers_of(a), 0);
    assert_int_equal(carriers_of(b), 1);
    assert_int_equal(at(&claims, 50), b);
    release(&claims, 50, 100);
    expect_clean(&claims);
}

/* [T2] */
static void a_new_failure_takes_the_bytes_it_claims(void **state) {
    rdo_claims claims = {0};
    uint64_t old = new_failure(), new = new_failure();
    (void)state;
    claim(&claims, 0, 100, old);
    claim(&claims, 40, 60, new);
    assert_int_equal(at(&claims, 39), old);
    assert_int_equal(at(&claims, 40), new);
    assert_int_equal(at(&claims, 60), old);
    assert_int_equal(carriers_of(old) + carriers_of(new), 2);
    claim(&claims, 0, 100, new);
    assert_int_equal(carriers_of(old), 0); /* left with no byte, it goes */
    assert_int_equal(carriers_of(new), 1);
    release(&claims, 0, 100);
    expect_clean(&claims);
}

/* [T5] */
static void claiming_the_same_bytes_again_counts_once(void **state) {
    rdo_claims claims = {0};
    uint64_t failure = new_failure();
    (void)state;
    for (int i = 0; i < 3; i++) claim(&claims, 10, 20, failure);
    assert_int_equal(carriers_of(failure), 1);
    assert_int_equal(claimed, 1);
    release(&claims, 10, 20);
    assert_int_equal(carriers_of(failure), 0);
    expect_clean(&claims);
}

/* [T1] */
static void adjacent_claims_of_one_failure_fuse(void **state) {
    rdo_claims claims = {0};
    uint64_t failure = new_failure();
    (void)state;
    claim(&claims, 0, 10, failure);
    claim(&claims, 20, 30, failure);
    claim(&claims, 10, 20, failure);
    assert_int_equal(claims.ranges.count, 1);
    const rdo_range *range = rdo_claims_find(&claims, 0, 1);
    assert_true(range->low == 0 && range->high == 30);
    rdo_claims_clear(&claims, &claimed);
    expect_clean(&claims);
}

/* [R2] A claim that a graph's own failed enqueue placed is told apart by its mark. */
static void a_mark_keeps_claims_of_one_failure_apart_and_any_later_claim_clears_it(void **state) {
    rdo_claims claims = {0};
    uint64_t failure = new_failure();
    (void)state;
    rdo_claims_set(&claims, WHOLE, 0, 20, failure, 7, &claimed);
    claim(&claims, 20, 30, failure);
    assert_int_equal(claims.ranges.count, 2);
    claim(&claims, 5, 10, failure); /* the same failure, laid over it by a skip */
    assert_int_equal(rdo_claims_find(&claims, 4, 5)->tag, 7);
    assert_int_equal(rdo_claims_find(&claims, 5, 6)->tag, 0);
    assert_int_equal(rdo_claims_find(&claims, 10, 11)->tag, 7);
    assert_int_equal(carriers_of(failure), 1);
    rdo_claims_clear(&claims, &claimed);
    expect_clean(&claims);
}

/* [T4] */
static void clearing_releases_every_claim(void **state) {
    rdo_claims claims = {0};
    (void)state;
    for (uint64_t i = 0; i < 10; i++) claim(&claims, 10 * i, 10 * i + 3 + i % 2, new_failure());
    claim(&claims, 3, 4, claims.ranges.heap[9].value); /* one failure twice */
    rdo_claims_clear(&claims, &claimed);
    expect_clean(&claims);
    rdo_claims_clear(&claims, &claimed);
    expect_clean(&claims);
}

/* [W5] */
static void an_empty_range_claims_nothing(void **state) {
    rdo_claims claims = {0};
    uint64_t failure = new_failure();
    (void)state;
    claim(&claims, 10, 10, failure);
    expect_clean(&claims);
    claim(&claims, 0, 20, failure);
    release(&claims, 5, 5);
    assert_null(rdo_claims_find(&claims, 10, 10));
    assert_int_equal(claims.ranges.count, 1);
    rdo_claims_clear(&claims, &claimed);
}

/* [T10] */
static void the_device_counts_allocations_with_claims(void **state) {
    rdo_claims a = {0}, b = {0};
    uint64_t failure = new_failure();
    (void)state;
    release(&a, 0, 100); /* nothing to release */
    assert_int_equal(claimed, 0);
    claim(&a, 0, 10, failure);
    claim(&b, 0, 10, failure);
    claim(&b, 20, 30, new_failure());
    assert_int_equal(claimed, 2);
    assert_int_equal(carriers_of(failure), 2);
    release(&b, 0, 10);
    assert_int_equal(claimed, 2);
    release(&b, 20, 30);
    assert_int_equal(claimed, 1);
    rdo_claims_clear(&a, &claimed);
    rdo_claims_clear(&b, &claimed);
    expect_clean(&a);
}

/* [T9] */
static void claims_move_with_the_bytes(void **state) {
    rdo_claims from = {0}, to = {0};
    uint64_t failures[6];
    (void)state;
    for (uint64_t i = 0; i < 6; i++) claim(&from, 10 * i, 10 * i + 5, failures[i] = new_failure());
    rdo_claims_move(&to, &from);
    assert_false(rdo_claims_any(&from));
    assert_int_equal(claimed, 1);
    for (uint64_t i = 0; i < 6; i++) {
        assert_int_equal(at(&to, 10 * i), failures[i]);
        assert_int_equal(carriers_of(failures[i]), 1);
    }
    rdo_claims_clear(&to, &claimed);
    expect_clean(&to);
}

/* [E3] */
static void prepared_releases_cannot_fail(void **state) {
    (void)state;
    for (size_t releases = 1; releases < 30; releases++) {
        rdo_claims claims = {0};
        claim(&claims, 0, 100, new_failure());
        assert_true(rdo_claims_prepare(&claims, releases));
        starve(0, true);
        for (uint64_t i = 0; i < releases; i++) release(&claims, 3 * i + 1, 3 * i + 2);
        assert_int_equal(feed(), 0);
        for (uint64_t i = 0; i < releases; i++) assert_int_equal(at(&claims, 3 * i + 1), 0);
        rdo_claims_clear(&claims, &claimed);
    }
    rdo_claims clean = {0};
    starve(0, true);
    assert_true(rdo_claims_prepare(&clean, 100)); /* nothing to release, nothing needed */
    assert_int_equal(feed(), 0);
    claim(&clean, 0, 100, new_failure());
    starve(0, true);
    assert_false(rdo_claims_prepare(&clean, 1));
    feed();
    rdo_claims_clear(&clean, &claimed);
    expect_clean(&clean);
}

/* [E3] [P1] */
static void without_memory_a_claim_widens_and_a_release_leaves_it(void **state) {
    rdo_claims claims = {0};
    uint64_t a = new_failure(), b = new_failure(), c = new_failure();
    (void)state;
    for (uint64_t i = 0; i < 7; i++) claim(&claims, 10 * i, 10 * i + 5, i % 2 == 0 ? a : b);
    starve(0, true);
    release(&claims, 12, 13); /* would split a claim, for which the map's room does not suffice any more */
    assert_int_equal(at(&claims, 12), b);
    assert_int_equal(carriers_of(b), 1);
    rdo_claims_set(&claims, WHOLE, 50, 60, c, 9, &claimed);
    assert_true(feed() >= 2);
    assert_int_equal(claims.ranges.count, 1);
    for (uint64_t i = 0; i < WHOLE; i++) assert_int_equal(at(&claims, i), c);
    assert_int_equal(carriers_of(a) + carriers_of(b), 0);
    assert_int_equal(carriers_of(c), 1);
    assert_int_equal(claimed, 1);
    release(&claims, 0, 100);
    expect_clean(&claims);
    rdo_claims_clear(&claims, &claimed);
}

/* ---- random programs against a map from bytes to failures ---- */

enum { ALLOCATIONS = 2, FAILURES = 12, STEPS = 4000 };

typedef struct world {
    rdo_claims claims[ALLOCATIONS];
    uint64_t failures[FAILURES];
    struct { uint64_t failure, tag; } model[ALLOCATIONS][WHOLE];
} world;

static void open_world(world *w) {
    memset(w, 0, sizeof *w);
    for (int i = 0; i < FAILURES; i++) w->failures[i] = new_failure();
}

static void step(world *w) {
    uint64_t which = random_below(ALLOCATIONS), low = random_below(WHOLE);
    uint64_t most = random_below(4) == 0 ? WHOLE - low : random_below(8);
    uint64_t high = low + (most < WHOLE - low ? most : WHOLE - low);
    uint64_t failure = w->failures[random_below(FAILURES)], tag = random_below(2);
    uint64_t choice = random_below(40);
    if (choice == 0) {
        rdo_claims_clear(&w->claims[which], &claimed);
        memset(w->model[which], 0, sizeof w->model[which]);
    } else if (choice < 24) {
        rdo_claims_set(&w->claims[which], WHOLE, low, high, failure, tag, &claimed);
        for (uint64_t i = low; i < high; i++) {
            w->model[which][i].failure = failure;
            w->model[which][i].tag = tag;
        }
    } else {
        release(&w->claims[which], low, high);
        for (uint64_t i = low; i < high; i++) w->model[which][i].failure = w->model[which][i].tag = 0;
    }
}

/* The claims' own invariants, whatever the model says. */
static void check_books(const world *w) {
    uint64_t live = 0, any = 0;
    for (int a = 0; a < ALLOCATIONS; a++) {
        const rdo_ranges *ranges = &w->claims[a].ranges;
        assert_true(rdo_ranges_check(ranges));
        any += ranges->count != 0;
        if (ranges->count != 0) assert_true(rdo_ranges_data(ranges)[ranges->count - 1].high <= WHOLE);
    }
    for (int i = 0; i < FAILURES; i++) {
        uint64_t carriers = 0;
        for (int a = 0; a < ALLOCATIONS; a++) carriers += rdo_ranges_have(&w->claims[a].ranges, w->failures[i]);
        live += carriers != 0;
        assert_int_equal(carriers_of(w->failures[i]), carriers);
    }
    assert_int_equal(claimed, any);
    assert_int_equal(rondo_fault_live_count(), live);
    assert_true(rdo_ledger_check());
}

static void close_world(world *w) {
    for (int a = 0; a < ALLOCATIONS; a++) rdo_claims_clear(&w->claims[a], &claimed);
    for (int a = 0; a < ALLOCATIONS; a++) expect_clean(&w->claims[a]);
}

/* [T1] [T2] [T3] [T5] */
static void random_claims_agree_with_a_byte_by_byte_map(void **state) {
    static world w;
    (void)state;
    seed_random();
    open_world(&w);
    for (int round = 0; round < STEPS; round++) {
        step(&w);
        check_books(&w);
        for (int a = 0; a < ALLOCATIONS; a++) {
            for (uint64_t i = 0; i < WHOLE; i++) {
                const rdo_range *range = rdo_claims_find(&w.claims[a], i, i + 1);
                assert_int_equal(range != NULL ? range->value : 0, w.model[a][i].failure);
                assert_int_equal(range != NULL ? range->tag : 0, w.model[a][i].tag);
            }
        }
    }
    close_world(&w);
}

/* [E3] [P1] Whatever memory is refused, no byte that must not be read becomes readable. */
static void without_memory_claims_only_ever_widen(void **state) {
    static world w;
    uint64_t refused = 0, wider = 0;
    (void)state;
    seed_random();
    for (int life = 0; life < STEPS / 40; life++) {
        open_world(&w);
        for (int round = 0; round < 40; round++) {
            starve_at_random(30);
            step(&w);
            refused += feed();
            check_books(&w);
            for (int a = 0; a < ALLOCATIONS; a++) {
                for (uint64_t i = 0; i < WHOLE; i++) {
                    bool is_claimed = at(&w.claims[a], i) != 0, must_be = w.model[a][i].failure != 0;
                    if (must_be) assert_true(is_claimed);
                    wider += is_claimed && !must_be;
                }
            }
        }
        close_world(&w);
    }
    assert_true(refused > 100);
    assert_true(wider > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failure_number_of_any_size_fits_in_a_claim),
        cmocka_unit_test(a_partial_write_releases_only_the_bytes_it_covers),
        cmocka_unit_test(disjoint_claims_keep_their_own_failures),
        cmocka_unit_test(a_new_failure_takes_the_bytes_it_claims),
        cmocka_unit_test(claiming_the_same_bytes_again_counts_once),
        cmocka_unit_test(adjacent_claims_of_one_failure_fuse),
        cmocka_unit_test(a_mark_keeps_claims_of_one_failure_apart_and_any_later_claim_clears_it),
        cmocka_unit_test(clearing_releases_every_claim),
        cmocka_unit_test(an_empty_range_claims_nothing),
        cmocka_unit_test(the_device_counts_allocations_with_claims),
        cmocka_unit_test(claims_move_with_the_bytes),
        cmocka_unit_test(prepared_releases_cannot_fail),
        cmocka_unit_test(without_memory_a_claim_widens_and_a_release_leaves_it),
        cmocka_unit_test(random_claims_agree_with_a_byte_by_byte_map),
        cmocka_unit_test(without_memory_claims_only_ever_widen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
