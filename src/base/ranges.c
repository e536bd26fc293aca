#include "base/ranges.h"

#include <string.h>

#include "base/alloc.h"
#include "base/check.h"

void rdo_ranges_finish(rdo_ranges *map) {
    rdo_free(map->heap);
    *map = (rdo_ranges){0};
}

void rdo_ranges_clear(rdo_ranges *map) {
    map->count = 0;
}

static size_t capacity_of(const rdo_ranges *map) {
    return map->heap != NULL ? map->capacity : RDO_RANGES_INLINE;
}

bool rdo_ranges_reserve(rdo_ranges *map, size_t more) {
    size_t need = map->count + more;
    if (need <= capacity_of(map)) return true;
    rdo_range *heap = map->heap;
    if (!rdo_grow(&heap, &map->capacity, need, sizeof *heap)) return false;
    if (map->heap == NULL) memcpy(heap, map->room, map->count * sizeof *heap);
    map->heap = heap;
    return true;
}

size_t rdo_ranges_seek(const rdo_ranges *map, uint64_t low) {
    const rdo_range *data = rdo_ranges_data(map);
    size_t first = 0, count = map->count;
    /* Recordings mostly append, so the end is looked at before the middle. */
    if (count != 0 && data[count - 1].high <= low) return count;
    while (count != 0) {
        size_t half = count / 2;
        if (data[first + half].high <= low) {
            first += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return first;
}

const rdo_range *rdo_ranges_find(const rdo_ranges *map, uint64_t low, uint64_t high) {
    size_t i = rdo_ranges_seek(map, low);
    if (low >= high || i == map->count) return NULL;
    const rdo_range *range = &rdo_ranges_data(map)[i];
    return range->low < high ? range : NULL;
}

/* Replaces `removed` ranges from index `at` by `inserted` new ones. Room was made before. */
static void splice(rdo_ranges *map, size_t at, size_t removed, const rdo_range *pieces, size_t inserted) {
    rdo_range *data = rdo_ranges_data(map);
    memmove(data + at + inserted, data + at + removed, (map->count - at - removed) * sizeof *data);
    if (inserted != 0) memcpy(data + at, pieces, inserted * sizeof *data);
    map->count = map->count - removed + inserted;
}

static bool same(const rdo_range *a, uint64_t value, uint64_t tag) {
    return a->value == value && a->tag == tag;
}

/* Cuts [low, high), which is not empty, out and puts `middle` there, unless it is NULL. */
static bool replace(rdo_ranges *map, uint64_t low, uint64_t high, const rdo_range *middle) {
    rdo_range pieces[3];
    size_t inserted = 0;
    if (!rdo_ranges_reserve(map, 2)) return false;
    rdo_range *data = rdo_ranges_data(map);
    size_t at = rdo_ranges_seek(map, low);
    size_t end = at;
    while (end < map->count && data[end].low < high) end++;
    if (end > at && data[at].low < low) {
        pieces[inserted] = data[at];
        pieces[inserted++].high = low;
    }
    if (middle != NULL) pieces[inserted++] = *middle;
    if (end > at && data[end - 1].high > high) {
        pieces[inserted] = data[end - 1];
        pieces[inserted++].low = high;
    }
    splice(map, at, end - at, pieces, inserted);
    return true;
}

bool rdo_ranges_set(rdo_ranges *map, uint64_t low, uint64_t high, uint64_t value, uint64_t tag) {
    if (low >= high) return true;
    rdo_range middle = {low, high, value, tag};
    const rdo_range *data = rdo_ranges_data(map);
    size_t at = rdo_ranges_seek(map, low);
    bool known = at < map->count && data[at].low <= low && high <= data[at].high && same(&data[at], value, tag);
    if (known) return true;
    /* Grow over equal neighbours that touch or overlap, so that they are replaced and thereby fused. */
    if (at > 0 && data[at - 1].high == low && same(&data[at - 1], value, tag)) middle.low = data[at - 1].low;
    for (size_t i = at; i < map->count && data[i].low <= high; i++) {
        if (!same(&data[i], value, tag)) continue;
        if (data[i].low < middle.low) middle.low = data[i].low;
        if (data[i].high > middle.high) middle.high = data[i].high;
    }
    return replace(map, middle.low, middle.high, &middle);
}

bool rdo_ranges_remove(rdo_ranges *map, uint64_t low, uint64_t high) {
    return rdo_ranges_find(map, low, high) == NULL || replace(map, low, high, NULL);
}

bool rdo_ranges_cover(const rdo_ranges *map, uint64_t low, uint64_t high) {
    const rdo_range *data = rdo_ranges_data(map);
    for (size_t i = rdo_ranges_seek(map, low); low < high; i++) {
        if (i == map->count || data[i].low > low) return false;
        low = data[i].high;
    }
    return true;
}

bool rdo_ranges_have(const rdo_ranges *map, uint64_t value) {
    const rdo_range *data = rdo_ranges_data(map);
    for (size_t i = 0; i < map->count; i++) {
        if (data[i].value == value) return true;
    }
    return false;
}

uint64_t rdo_ranges_total(const rdo_ranges *map) {
    const rdo_range *data = rdo_ranges_data(map);
    uint64_t total = 0;
    for (size_t i = 0; i < map->count; i++) total += data[i].high - data[i].low;
    return total;
}

bool rdo_ranges_check(const rdo_ranges *map) {
    const rdo_range *data = rdo_ranges_data(map);
    for (size_t i = 0; i < map->count; i++) {
        if (data[i].low >= data[i].high) return false;
        if (i == 0) continue;
        if (data[i - 1].high > data[i].low) return false;
        if (data[i - 1].high == data[i].low && same(&data[i - 1], data[i].value, data[i].tag)) return false;
    }
    return true;
}
