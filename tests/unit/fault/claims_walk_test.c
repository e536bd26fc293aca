/* Every sequence of claims and releases on small allocations, against a map from bytes to failures. */
#include "fault/claims.h"

#include "fault/ledger.h"
#include "walk.h"

/* Allocations of the same size, failures, and claims with and without the mark of a graph. */
enum { ALLOCATIONS = 2, FAILURES = 2, TAGS = 2, LARGEST = 12 };

typedef struct byte {
    unsigned failure, tag; /* failure: from 1, 0: none */
} byte;

static struct {
    unsigned bytes, allocations;
    unsigned failures; /* that steps claim for */
    unsigned known;    /* that there are */
} u;
static byte map[ALLOCATIONS][LARGEST];
static rdo_claims claims[ALLOCATIONS];
static uint64_t numbers[LARGEST + 1]; /* of the failures in the ledger; 0 for none */
static _Atomic uint64_t claimed;
static char words[80];

/* ---- choices: for each allocation, each range with each failure and tag, or with none; then clear and move ---- */

typedef struct choice_parts {
    unsigned allocation, low, high, failure, tag;
    bool clears, moves;
} choice_parts;

static unsigned ranges(void) {
    return u.bytes * (u.bytes + 1) / 2;
}

static unsigned per_allocation(void) {
    return ranges() * (u.failures * TAGS + 1) + 2;
}

static choice_parts parts_of(unsigned choice) {
    choice_parts p = {.allocation = choice / per_allocation()};
    unsigned rest = choice % per_allocation(), range = rest % ranges(), what = rest / ranges();
    p.clears = rest == per_allocation() - 1;
    p.moves = rest == per_allocation() - 2;
    while (range >= u.bytes - p.low) range -= u.bytes - p.low++;
    p.high = p.low + range + 1;
    p.failure = what == 0 ? 0 : 1 + (what - 1) / TAGS;
    p.tag = what == 0 ? 0 : (what - 1) % TAGS;
    return p;
}

static const char *name(unsigned choice) {
    choice_parts p = parts_of(choice);
    const char *end = p.clears ? "ends" : p.moves ? "moves to the other" : "";
    if (p.clears || p.moves) {
        (void)snprintf(words, sizeof words, "allocation %u %s", p.allocation, end);
    } else {
        (void)snprintf(words, sizeof words, "bytes [%u, %u) of allocation %u: failure %u, mark %u", p.low, p.high,
                       p.allocation, p.failure, p.tag);
    }
    return words;
}

/* ---- the reference ---- */

static bool any(unsigned allocation) {
    for (unsigned i = 0; i < u.bytes; i++) {
        if (map[allocation][i].failure != 0) return true;
    }
    return false;
}

static void step_map(const choice_parts *p) {
    byte *bytes = map[p->allocation], *other = map[1 - p->allocation];
    if (p->moves) memcpy(other, bytes, sizeof map[0]);
    if (p->moves || p->clears) {
        memset(bytes, 0, sizeof map[0]);
        return;
    }
    for (unsigned i = p->low; i < p->high; i++) bytes[i] = (byte){p->failure, p->tag};
}

static uint64_t carriers(unsigned failure) {
    uint64_t count = 0;
    for (unsigned a = 0; a < u.allocations; a++) {
        bool carries = false;
        for (unsigned i = 0; i < u.bytes; i++) carries = carries || map[a][i].failure == failure;
        count += carries;
    }
    return count;
}

/* ---- the real thing ---- */

static void step_claims(const choice_parts *p) {
    rdo_claims *which = &claims[p->allocation];
    if (p->moves) {
        rdo_claims_move(&claims[1 - p->allocation], which);
    } else if (p->clears) {
        rdo_claims_clear(which, &claimed);
    } else if (p->failure != 0) {
        rdo_claims_set(which, u.bytes, p->low, p->high, numbers[p->failure], p->tag, &claimed);
    } else {
        rdo_claims_release(which, p->low, p->high, &claimed);
    }
}

/* Range for run of equal bytes: so the claims are sorted, disjoint and fused. */
static const char *claims_differ(unsigned allocation) {
    const rdo_ranges *list = &claims[allocation].ranges;
    const byte *bytes = map[allocation];
    size_t at = 0;
    if (!rdo_ranges_check(list)) return "invariants";
    for (unsigned low = 0, high; low < u.bytes; low = high) {
        high = low + 1;
        while (high < u.bytes && memcmp(&bytes[low], &bytes[high], sizeof *bytes) == 0) high++;
        if (bytes[low].failure == 0) continue;
        if (at == list->count) return "number of claims";
        const rdo_range *range = &rdo_ranges_data(list)[at++];
        if (range->low != low || range->high != high) return "bytes of a claim";
        if (range->value != numbers[bytes[low].failure] || range->tag != bytes[low].tag) return "failure of a claim";
    }
    return at == list->count ? NULL : "number of claims";
}

/* The first claim in each range is that of its first claimed byte. */
static const char *finds_differ(unsigned allocation) {
    for (unsigned low = 0; low < u.bytes; low++) {
        unsigned first = low;
        while (first < u.bytes && map[allocation][first].failure == 0) first++;
        for (unsigned high = low; high <= u.bytes; high++) {
            const rdo_range *found = rdo_claims_find(&claims[allocation], low, high);
            if ((found != NULL) != (first < high)) return "whether a range is claimed";
            if (found != NULL && found->value != numbers[map[allocation][first].failure]) return "who claims a range";
        }
    }
    return NULL;
}

static const char *ledger_differs(void) {
    uint64_t live = 0, tainted = 0;
    for (unsigned failure = 1; failure <= u.known; failure++) {
        rondo_fault fault;
        live += carriers(failure) != 0;
        if (rondo_fault_get(rdo_fault_status(numbers[failure]), &fault) != RONDO_OK) return "stories";
        if (fault.carriers != carriers(failure)) return "carriers";
    }
    for (unsigned a = 0; a < u.allocations; a++) tainted += any(a);
    if (rondo_fault_live_count() != live) return "live failures";
    return claimed == tainted ? NULL : "claimed allocations";
}

static const char *step(unsigned choice) {
    choice_parts p = parts_of(choice);
    if (p.moves && (u.allocations == 1 || any(1 - p.allocation))) return WALK_NOT_NOW;
    step_map(&p);
    step_claims(&p);
    const char *what = ledger_differs();
    for (unsigned a = 0; a < u.allocations && what == NULL; a++) {
        what = claims_differ(a);
        if (what == NULL) what = finds_differ(a);
    }
    return what;
}

static void start(void) {
    memset(map, 0, sizeof map);
    for (unsigned i = 1; i <= u.known; i++) {
        if (numbers[i] != 0) continue;
        numbers[i] = rondo_status_number(rdo_fault_raise(RDO_NOWHERE("test"), RONDO_KERNEL, "it failed"));
    }
}

/* Every byte is claimed, each by a failure of its own: more claims than are looked at in one go. */
static void start_striped(void) {
    start();
    for (unsigned i = 0; i < u.bytes; i++) {
        const choice_parts p = {.low = i, .high = i + 1, .failure = 1 + i};
        step_map(&p);
        step_claims(&p);
    }
}

static void end(void) {
    for (unsigned a = 0; a < u.allocations; a++) rdo_claims_clear(&claims[a], &claimed);
    if (claimed != 0 || rondo_fault_live_count() != 0 || !rdo_ledger_check()) fail_msg("something is carried for ever");
}

/* The map, and whether the claims have left their first, inner room. */
static uint64_t state_number(void) {
    uint64_t number = 0;
    for (unsigned a = 0; a < u.allocations; a++) {
        number = number * 2 + (claims[a].ranges.heap != NULL);
        for (unsigned i = 0; i < u.bytes; i++) number = number * 6 + map[a][i].failure * TAGS + map[a][i].tag;
    }
    return number;
}

static walk_machine machine_in(unsigned bytes, unsigned allocations, unsigned failures) {
    u.known = failures;
    u.bytes = bytes;
    u.allocations = allocations;
    u.failures = failures;
    return (walk_machine){allocations * per_allocation(), start, step, end, state_number, name};
}

/* [T1] [T2] [T3] [T5] [T10] [R2] */
static void every_state_of_an_allocation_of_five_bytes_is_as_the_map_says(void **state) {
    (void)state;
    const walk_machine machine = machine_in(5, 1, FAILURES);
    walk_states(&machine, WALK_LONGEST);
}

/* [T4] [T5] [T9] [T10] Failures that two allocations carry, and claims that move from one to the other. */
static void every_state_of_two_allocations_of_three_bytes_is_as_the_map_says(void **state) {
    (void)state;
    const walk_machine machine = machine_in(3, ALLOCATIONS, FAILURES);
    walk_states(&machine, WALK_LONGEST);
}

/* [T1] [T2] [T3] */
static void every_two_steps_on_many_claims_leave_what_the_map_says(void **state) {
    (void)state;
    walk_machine machine = machine_in(LARGEST, 1, 1);
    u.known = LARGEST;
    machine.start = start_striped;
    walk_sequences(&machine, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_state_of_an_allocation_of_five_bytes_is_as_the_map_says),
        cmocka_unit_test(every_state_of_two_allocations_of_three_bytes_is_as_the_map_says),
        cmocka_unit_test(every_two_steps_on_many_claims_leave_what_the_map_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
