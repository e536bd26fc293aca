/* Claims: which bytes of one allocation hold nothing valid, and which failure says so.
 *
 *   untouched ──claim(F)──► claimed by F ──claim(G)──► claimed by G
 *        ▲                       │
 *        └──────── release ──────┘   (a write, or the end of the allocation)
 *
 * Invariants
 *  1. Claims are sorted, disjoint, inside the allocation, and fused where they touch with one failure and mark.
 *  2. A failure counts this allocation as a carrier exactly while one byte carries it.
 *  3. The device's count of claimed allocations includes this one exactly while there is a claim.
 */
#ifndef RDO_FAULT_CLAIMS_H
#define RDO_FAULT_CLAIMS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/ranges.h"

/* `tag` of a claim: 0, or the id of the graph whose failed enqueue placed it while its bytes are intact [R2]. */
typedef struct rdo_claims {
    rdo_ranges ranges;
} rdo_claims;

/* Claims [low, high) for `failure`; takes over what others claimed there [T2]. Never fails: without memory the claim
 * widens to the whole allocation of `size` bytes. `claimed` counts the allocations of the device with claims. */
void rdo_claims_set(rdo_claims *claims, uint64_t size, uint64_t low, uint64_t high, uint64_t failure, uint64_t tag,
                    _Atomic uint64_t *claimed);

/* Makes sure that `releases` releases cannot fail for lack of memory. */
bool rdo_claims_prepare(rdo_claims *claims, size_t releases);

/* Releases exactly the bytes [low, high) [T3]. Without memory to split a claim it stays, which is safe. */
void rdo_claims_release(rdo_claims *claims, uint64_t low, uint64_t high, _Atomic uint64_t *claimed);

/* Releases everything: the allocation ends [T4]. */
void rdo_claims_clear(rdo_claims *claims, _Atomic uint64_t *claimed);
/* Whether nothing was ever claimed, nor room made for it, since the set was zeroed or cleared. */
static inline bool rdo_claims_untouched(const rdo_claims *claims) {
    return claims->ranges.count == 0 && claims->ranges.heap == NULL;
}

/* Moves all claims to an empty set, when the bytes move [T9]. */
void rdo_claims_move(rdo_claims *to, rdo_claims *from);

static inline bool rdo_claims_any(const rdo_claims *claims) {
    return claims->ranges.count != 0;
}

/* The first claim that overlaps [low, high), NULL if the bytes are good. */
static inline const rdo_range *rdo_claims_find(const rdo_claims *claims, uint64_t low, uint64_t high) {
    return rdo_ranges_find(&claims->ranges, low, high);
}

#endif
