#include "capture/window.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/check.h"

static _Atomic uint64_t last_window_id;

/* Room for one more element of a list. */
#define GROW(list, type) rdo_grow(&(list)->data, &(list)->capacity, (list)->count + 1, sizeof(type))
#define FREE_LIST(list) (rdo_free((list)->data), memset((list), 0, sizeof *(list)))

void rdo_window_init(rdo_window *window, rdo_captures *device) {
    *window = (rdo_window){0};
    rdo_lifecycle_init(&window->life, device);
}

static void unguard(const rdo_window *window, const rdo_touch *touch) {
    const rdo_slice *slice = &touch->page->slices[touch->location.slice];
    if (slice->window != window->id) rdo_page_unguard(touch->page, touch->location.slice);
}

static void drop_references(rdo_memory_list *list) {
    for (size_t i = 0; i < list->count; i++) rdo_memory_unref(list->data[i]);
    FREE_LIST(list);
}

void rdo_window_clear(rdo_window *window) {
    for (size_t i = 0; i < window->touched.count; i++) unguard(window, &window->touched.data[i]);
    FREE_LIST(&window->touched);
    FREE_LIST(&window->writes);
    FREE_LIST(&window->ops);
    FREE_LIST(&window->holders);
    FREE_LIST(&window->notes);
    drop_references(&window->primed);
    drop_references(&window->retained);
    rdo_arena_clear(&window->arena);
    window->failed = RONDO_OK;
    window->notes_lost = window->defer_claims = false;
}

void rdo_window_finish(rdo_window *window) {
    rdo_window_abort(window);
}

const char *rdo_window_prepare(rdo_window *window, uint64_t owner) {
    const char *refused = rdo_lifecycle_prepare(&window->life, owner);
    if (refused != NULL) return refused;
    /* Only after the transition was accepted: a refused prepare must not disturb the capture that is under way [C2]. */
    rdo_window_clear(window);
    window->id = atomic_fetch_add_explicit(&last_window_id, 1, memory_order_relaxed) + 1;
    return NULL;
}

/* Most windows touch few allocations, and the table is large. */
static void forget_memories(rdo_window *window) {
    for (int word = 0; word < RDO_KNOWN_MEMORIES / 64; word++) {
        for (uint64_t bits = window->used_memories[word]; bits != 0; bits &= bits - 1) {
            window->known_memories[word * 64 + __builtin_ctzll(bits)] = (rdo_known){0};
        }
        window->used_memories[word] = 0;
    }
}

const char *rdo_window_begin(rdo_window *window) {
    const char *refused = rdo_lifecycle_begin(&window->life);
    if (refused != NULL) return refused;
    drop_references(&window->primed);
    forget_memories(window);
    memset(window->known_kernels, 0, sizeof window->known_kernels);
    return NULL;
}

const char *rdo_window_end(rdo_window *window, uint64_t caller, rdo_capture_end *out_end) {
    return rdo_lifecycle_end(&window->life, caller, out_end);
}

void rdo_window_abort(rdo_window *window) {
    rdo_lifecycle_abort(&window->life);
    rdo_window_clear(window);
}

bool rdo_window_record_new(rdo_window *window, rdo_memory *memory, uint64_t low, uint64_t high) {
    if (!rdo_window_is_recording(window) || low >= high) return true;
    if (!GROW(&window->writes, rdo_weak)) return false;
    rdo_known *known = rdo_window_known_memory(window, memory->id);
    if (known->memory_id == memory->id) *known = (rdo_known){.memory_id = memory->id, .low = low, .high = high};
    window->writes.data[window->writes.count++] = (rdo_weak){memory, {memory->id, low, high}};
    return true;
}

bool rdo_window_touch_new(rdo_window *window, uint64_t stream_id, rdo_page *page, uint32_t slice) {
    if (!rdo_window_is_recording(window) || page == NULL) return true;
    if (!GROW(&window->touched, rdo_touch)) return false;
    page->slices[slice].noted = window->id;
    if (page->slices[slice].window == window->id) {
        page->slices[slice].touched = true;
    } else {
        rdo_page_guard(page, slice);
    }
    window->touched.data[window->touched.count++] =
        (rdo_touch){stream_id, {(uint32_t)page->pool, page->index, slice}, page};
    return true;
}

bool rdo_window_prime(rdo_window *window, rdo_memory *staging) {
    if (!rdo_window_is_prepared(window) || !GROW(&window->primed, rdo_memory *)) return false;
    window->primed.data[window->primed.count++] = staging;
    return true;
}

bool rdo_window_retain(rdo_window *window, rdo_memory *staging) {
    RDO_ASSERT(rdo_window_is_recording(window));
    if (!GROW(&window->retained, rdo_memory *)) return false;
    window->retained.data[window->retained.count++] = staging;
    return true;
}

void rdo_window_note(rdo_window *window, const rdo_request *request, uint64_t memory_id) {
    if (!rdo_window_is_prepared(window)) return;
    if (!GROW(&window->notes, rdo_note)) {
        window->notes_lost = true;
        return;
    }
    window->notes.data[window->notes.count++] = (rdo_note){*request, memory_id};
}

void rdo_window_fail(rdo_window *window, rondo_status failure) {
    if (rdo_window_is_recording(window) && window->failed == RONDO_OK) window->failed = failure;
}

static int compare_u64(uint64_t a, uint64_t b) {
    return (a > b) - (a < b);
}

static int compare_keys(const void *left, const void *right) {
    const rdo_claim_key *a = &((const rdo_weak *)left)->key, *b = &((const rdo_weak *)right)->key;
    int order = compare_u64(a->memory_id, b->memory_id);
    if (order == 0) order = compare_u64(a->low, b->low);
    return order != 0 ? order : compare_u64(a->high, b->high);
}

/* Whether something other than the pool still refers to what the weak key names [O5]. */
static bool upgrades(const rdo_weak *weak) {
    const rdo_memory *memory = weak->memory;
    if (memory->id != weak->key.memory_id) return false;
    uint32_t guards = memory->page != NULL ? memory->page->slices[memory->slice].guards : 0;
    return memory->refs != 0 || memory->uses != 0 || memory->maps != 0 || guards != 0;
}

rdo_weak_list rdo_window_take_writes(rdo_window *window) {
    rdo_weak_list list = window->writes;
    size_t kept = 0;
    memset(&window->writes, 0, sizeof window->writes);
    if (list.count != 0) qsort(list.data, list.count, sizeof *list.data, compare_keys);
    for (size_t i = 0; i < list.count; i++) {
        if (kept != 0 && compare_keys(&list.data[kept - 1], &list.data[i]) == 0) continue;
        if (upgrades(&list.data[i])) list.data[kept++] = list.data[i];
    }
    list.count = kept;
    return list;
}

static int compare_touches(const void *left, const void *right) {
    const rdo_touch *a = left, *b = right;
    int order = compare_u64(a->stream_id, b->stream_id);
    if (order == 0) order = compare_u64((uintptr_t)a->page->store, (uintptr_t)b->page->store);
    if (order == 0) order = compare_u64(a->location.pool, b->location.pool);
    if (order == 0) order = compare_u64(a->location.page, b->location.page);
    return order != 0 ? order : compare_u64(a->location.slice, b->location.slice);
}

rdo_touch_list rdo_window_take_touched(rdo_window *window) {
    rdo_touch_list list = window->touched;
    size_t kept = 0;
    memset(&window->touched, 0, sizeof window->touched);
    if (list.count != 0) qsort(list.data, list.count, sizeof *list.data, compare_touches);
    for (size_t i = 0; i < list.count; i++) {
        if (kept != 0 && compare_touches(&list.data[kept - 1], &list.data[i]) == 0) {
            unguard(window, &list.data[i]);
        } else {
            list.data[kept++] = list.data[i];
        }
    }
    list.count = kept;
    return list;
}

rdo_memory_list rdo_window_take_retained(rdo_window *window) {
    rdo_memory_list list = window->retained;
    memset(&window->retained, 0, sizeof window->retained);
    return list;
}

rondo_status rdo_window_take_failure(rdo_window *window) {
    rondo_status failed = window->failed;
    window->failed = RONDO_OK;
    return failed;
}

rdo_page_update rdo_window_page_update(const rdo_window *window) {
    if (rdo_window_is_recording(window)) return RDO_PAGE_FORBIDDEN;
    return rdo_captures_any_recording(window->life.device) ? RDO_PAGE_ADD_ONLY : RDO_PAGE_ALLOW;
}

rdo_meta_mode rdo_window_meta_mode(const rdo_window *window) {
    return rdo_window_is_active(window) ? RDO_META_CAPTURE : RDO_META_NORMAL;
}

bool rdo_window_check(const rdo_window *window) {
    if (!rdo_lifecycle_check(&window->life)) return false;
    if (!rdo_window_is_prepared(window) && window->primed.count != 0) return false;
    if (rdo_window_is_prepared(window) || window->id == 0) {
        return window->ops.count == 0 && window->holders.count == 0 && window->writes.count == 0 &&
               window->touched.count == 0 && window->retained.count == 0 && window->failed == RONDO_OK;
    }
    return true;
}
