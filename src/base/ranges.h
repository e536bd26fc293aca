/* Ranges: a map from half-open ranges of 64-bit addresses to a value.
 *
 * Invariants
 *  1. Ranges are sorted, not empty and disjoint.
 *  2. Two ranges that touch differ in value or tag: equal ones are fused.
 */
#ifndef RDO_BASE_RANGES_H
#define RDO_BASE_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct rdo_range {
    uint64_t low, high; /* [low, high) */
    uint64_t value, tag;
} rdo_range;

enum { RDO_RANGES_INLINE = 2 };

typedef struct rdo_ranges {
    rdo_range *heap; /* NULL while the inline room suffices */
    size_t count, capacity;
    rdo_range room[RDO_RANGES_INLINE];
} rdo_ranges;

/* A zeroed map is an empty one. */
void rdo_ranges_finish(rdo_ranges *map);
void rdo_ranges_clear(rdo_ranges *map);

/* The ranges in order; valid until the next change. */
static inline rdo_range *rdo_ranges_data(const rdo_ranges *map) {
    return map->heap != NULL ? map->heap : (rdo_range *)(uintptr_t)map->room;
}

/* Makes room for `more` further ranges, so that as many changes cannot fail. */
bool rdo_ranges_reserve(rdo_ranges *map, size_t more);
/* Maps [low, high) to value and tag, whatever was there. False, and nothing changed, without memory. */
bool rdo_ranges_set(rdo_ranges *map, uint64_t low, uint64_t high, uint64_t value, uint64_t tag);
/* Unmaps [low, high). False, and nothing changed, without memory (a range may have to be split). */
bool rdo_ranges_remove(rdo_ranges *map, uint64_t low, uint64_t high);

/* Index of the first range that ends above `low`; it overlaps [low, high) if it starts below `high`. */
size_t rdo_ranges_seek(const rdo_ranges *map, uint64_t low);
/* The first range that overlaps [low, high), NULL if none does. An empty range overlaps nothing. */
const rdo_range *rdo_ranges_find(const rdo_ranges *map, uint64_t low, uint64_t high);
/* Whether every byte of [low, high) is mapped. */
bool rdo_ranges_cover(const rdo_ranges *map, uint64_t low, uint64_t high);
/* Whether some range has this value. */
bool rdo_ranges_have(const rdo_ranges *map, uint64_t value);
/* Sum of the lengths of all ranges. */
uint64_t rdo_ranges_total(const rdo_ranges *map);
/* Checks the invariants; for tests and debug builds. */
bool rdo_ranges_check(const rdo_ranges *map);

#endif
