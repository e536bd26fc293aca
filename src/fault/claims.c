#include "fault/claims.h"

#include "base/check.h"
#include "fault/ledger.h"

/* Untags the failures of ranges[0 .. count) that no byte carries any more, each once. */
static void untag_gone(const rdo_claims *claims, const rdo_range *before, size_t count) {
    for (size_t i = 0; i < count; i++) {
        bool seen = false;
        for (size_t j = 0; j < i && !seen; j++) seen = before[j].value == before[i].value;
        if (!seen && !rdo_ranges_have(&claims->ranges, before[i].value)) rdo_fault_untag(before[i].value);
    }
}

enum { FEW = 8 };

/* Copies the claims that overlap [low, high), at most FEW; returns how many they are. */
static size_t overlapping(const rdo_claims *claims, uint64_t low, uint64_t high, rdo_range *out) {
    const rdo_range *data = rdo_ranges_data(&claims->ranges);
    size_t count = 0;
    for (size_t i = rdo_ranges_seek(&claims->ranges, low); i < claims->ranges.count && data[i].low < high; i++) {
        RDO_ASSERT(count < FEW);
        out[count++] = data[i];
    }
    return count;
}

/* The end of the part of [low, high) in which at most FEW claims overlap; the whole is worked off part by part, so
 * that what was there before fits in fixed room. */
static uint64_t part_end(const rdo_claims *claims, uint64_t low, uint64_t high) {
    const rdo_range *data = rdo_ranges_data(&claims->ranges);
    size_t first = rdo_ranges_seek(&claims->ranges, low);
    if (claims->ranges.count - first <= FEW || data[first + FEW].low >= high) return high;
    return data[first + FEW].low;
}

static void count_change(bool before, bool after, _Atomic uint64_t *claimed) {
    if (!before && after) atomic_fetch_add(claimed, 1);
    if (before && !after) atomic_fetch_sub(claimed, 1);
}

/* Forgets every claim but those of `kept`, which goes on being carried. Needs no memory. */
static void drop_all(rdo_claims *claims, uint64_t kept) {
    const rdo_range *data = rdo_ranges_data(&claims->ranges);
    for (size_t i = 0; i < claims->ranges.count; i++) {
        bool seen = data[i].value == kept;
        for (size_t j = 0; j < i && !seen; j++) seen = data[j].value == data[i].value;
        if (!seen) rdo_fault_untag(data[i].value);
    }
    rdo_ranges_clear(&claims->ranges);
}

/* Without the tag: it would call intact what other failures spoiled. */
static void widen(rdo_claims *claims, uint64_t size, uint64_t failure) {
    drop_all(claims, failure);
    (void)rdo_ranges_set(&claims->ranges, 0, size, failure, 0); /* an empty map always has room for one */
}

static void set_part(rdo_claims *claims, uint64_t size, uint64_t low, uint64_t high, uint64_t failure, uint64_t tag) {
    rdo_range before[FEW];
    size_t count = overlapping(claims, low, high, before);
    bool carried = rdo_ranges_have(&claims->ranges, failure);
    if (!carried) rdo_fault_tag(failure);
    if (!rdo_ranges_set(&claims->ranges, low, high, failure, tag)) {
        widen(claims, size, failure);
        return;
    }
    untag_gone(claims, before, count);
}

void rdo_claims_set(rdo_claims *claims, uint64_t size, uint64_t low, uint64_t high, uint64_t failure, uint64_t tag,
                    _Atomic uint64_t *claimed) {
    bool before = rdo_claims_any(claims);
    RDO_ASSERT(high <= size);
    while (low < high) {
        uint64_t end = part_end(claims, low, high);
        set_part(claims, size, low, end, failure, tag);
        low = end;
    }
    count_change(before, rdo_claims_any(claims), claimed);
    RDO_ASSERT(rdo_ranges_check(&claims->ranges));
}

bool rdo_claims_prepare(rdo_claims *claims, size_t releases) {
    return !rdo_claims_any(claims) || rdo_ranges_reserve(&claims->ranges, 2 + releases);
}

void rdo_claims_release(rdo_claims *claims, uint64_t low, uint64_t high, _Atomic uint64_t *claimed) {
    rdo_range before[FEW];
    if (!rdo_claims_any(claims)) return;
    while (low < high) {
        uint64_t end = part_end(claims, low, high);
        size_t count = overlapping(claims, low, end, before);
        if (rdo_ranges_remove(&claims->ranges, low, end)) untag_gone(claims, before, count);
        low = end;
    }
    count_change(true, rdo_claims_any(claims), claimed);
    RDO_ASSERT(rdo_ranges_check(&claims->ranges));
}

void rdo_claims_clear(rdo_claims *claims, _Atomic uint64_t *claimed) {
    count_change(rdo_claims_any(claims), false, claimed);
    drop_all(claims, 0);
    rdo_ranges_finish(&claims->ranges);
}

void rdo_claims_move(rdo_claims *to, rdo_claims *from) {
    RDO_ASSERT(!rdo_claims_any(to));
    rdo_ranges_finish(&to->ranges);
    *to = *from;
    *from = (rdo_claims){0};
}
