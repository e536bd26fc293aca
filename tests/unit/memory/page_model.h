/* A naive page: a list of segments in order of address, merged anew after every step. It is what the tests of
 * src/memory/page.c compare a page with. */
#ifndef PAGE_MODEL_H
#define PAGE_MODEL_H

#include "memory/page.h"
#include "unit.h"

enum { UNIT = 64, UNITS = 96 };

typedef struct segment {
    uint64_t offset, size, window;
    int owner; /* -1: free */
    uint32_t guards;
    bool touched, reused;
} segment;

typedef struct model {
    segment list[UNITS];
    size_t count;
} model;

static inline bool merges(const segment *a, const segment *b, uint64_t window) {
    bool free = a->owner < 0 && b->owner < 0 && a->guards == 0 && b->guards == 0;
    return free && a->window == window && b->window == window;
}

static inline void remove_at(model *m, size_t at) {
    memmove(&m->list[at], &m->list[at + 1], (m->count - at - 1) * sizeof m->list[0]);
    m->count--;
}

static inline void merge(model *m, uint64_t window) {
    for (size_t i = 0; i + 1 < m->count;) {
        if (merges(&m->list[i], &m->list[i + 1], window)) {
            m->list[i].size += m->list[i + 1].size;
            m->list[i].touched |= m->list[i + 1].touched;
            remove_at(m, i + 1);
        } else {
            i++;
        }
    }
}

static inline size_t model_fit(const model *m, uint64_t size, uint64_t window, bool own_only) {
    for (size_t i = 0; i < m->count; i++) {
        const segment *s = &m->list[i];
        bool allowed = s->window == window || (!own_only && s->window == 0);
        if (s->owner < 0 && s->guards == 0 && allowed && s->size >= size) return i;
    }
    return m->count;
}

static inline void model_carve(model *m, size_t at, uint64_t size, int owner, uint64_t window) {
    segment *s = &m->list[at];
    if (s->size > size) {
        memmove(s + 2, s + 1, (m->count - at - 1) * sizeof *s);
        s[1] = *s;
        s[1].offset += size;
        s[1].size -= size;
        s->size = size;
        m->count++;
    }
    s->owner = owner;
    s->reused = s->touched;
    s->touched = false;
    s->window = window;
}

static inline void model_free(model *m, size_t at) {
    segment *s = &m->list[at];
    s->owner = -1;
    s->touched = s->window != 0 && (s->touched || s->reused);
    if (s->window == 0) s->reused = false;
    merge(m, 0);
}

static inline void model_set_window(model *m, size_t at, uint64_t window) {
    segment *s = &m->list[at];
    s->window = window;
    if (window == 0) s->touched = s->reused = false;
    merge(m, 0);
}

static inline uint32_t slice_at(const rdo_page *page, uint64_t offset) {
    for (uint32_t i = 0; i != RDO_NO_SLICE; i = page->slices[i].after) {
        if (page->slices[i].offset == offset) return i;
    }
    fail_msg("no slice starts at %llu", (unsigned long long)offset);
    return RDO_NO_SLICE;
}

/* Slice for segment: where it lies, who owns it, how often it is guarded, whose window it belongs to. NULL if page and
 * model agree. */
static inline const char *model_differs(const rdo_page *page, const model *m, const rdo_memory *owners) {
    size_t at = 0;
    if (!rdo_page_check(page)) return "invariants";
    for (uint32_t i = 0; i != RDO_NO_SLICE; i = page->slices[i].after, at++) {
        const rdo_slice *slice = &page->slices[i];
        if (at == m->count) return "number of slices";
        const segment *s = &m->list[at];
        if (slice->offset != s->offset || slice->size != s->size) return "place of a slice";
        if (slice->owner != (s->owner < 0 ? NULL : &owners[s->owner])) return "owner";
        if (slice->guards != s->guards) return "guards";
        if (slice->window != s->window) return "window";
        if (slice->touched != s->touched || (s->owner >= 0 && slice->reused != s->reused)) return "touch";
    }
    return at == m->count ? NULL : "number of slices";
}

#endif
