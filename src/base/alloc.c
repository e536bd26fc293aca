#include "base/alloc.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static bool (*hook)(void *user);
static void *hook_user;
static _Atomic uint64_t live;

static bool refused(void) {
    return hook != NULL && hook(hook_user);
}

static void *counted(void *block) {
    if (block != NULL) atomic_fetch_add_explicit(&live, 1, memory_order_relaxed);
    return block;
}

void *rdo_alloc(size_t size_bytes) {
    return refused() ? NULL : counted(malloc(size_bytes != 0 ? size_bytes : 1));
}

void *rdo_alloc_zero(size_t count, size_t size_bytes) {
    return refused() ? NULL : counted(calloc(count != 0 ? count : 1, size_bytes != 0 ? size_bytes : 1));
}

void *rdo_alloc_many(size_t count, size_t size_bytes) {
    size_t bytes;
    return __builtin_mul_overflow(count, size_bytes, &bytes) ? NULL : rdo_alloc(bytes);
}

static void *large(size_t size_bytes) {
    if (size_bytes > SIZE_MAX - RDO_HUGE_BYTES) return NULL;
    size_t padded = (size_bytes + RDO_HUGE_BYTES - 1) & ~(RDO_HUGE_BYTES - 1);
    void *block = aligned_alloc(RDO_HUGE_BYTES, padded);
#ifdef MADV_HUGEPAGE
    if (block != NULL) (void)madvise(block, padded, MADV_HUGEPAGE); /* refused: then it lies on small pages */
#endif
    return block;
}

void *rdo_alloc_large(size_t size_bytes) {
    if (size_bytes < RDO_HUGE_BYTES) return rdo_alloc(size_bytes);
    return refused() ? NULL : counted(large(size_bytes));
}

void *rdo_realloc(void *block, size_t size_bytes) {
    if (block == NULL) return rdo_alloc(size_bytes);
    return refused() ? NULL : realloc(block, size_bytes != 0 ? size_bytes : 1);
}

void rdo_free(void *block) {
    if (block != NULL) atomic_fetch_sub_explicit(&live, 1, memory_order_relaxed);
    free(block);
}

bool rdo_grow(void *data_pointer, size_t *capacity, size_t need, size_t element_bytes) {
    void *data;
    if (need <= *capacity) return true;
    if (need > SIZE_MAX / 2 / element_bytes) return false;
    size_t wanted = *capacity != 0 ? *capacity * 2 : 8;
    if (wanted < need) wanted = need;
    /* The caller's pointer has its own type; memcpy moves it without breaking the aliasing rules. */
    memcpy(&data, data_pointer, sizeof data);
    data = rdo_realloc(data, wanted * element_bytes);
    if (data == NULL) return false;
    memcpy(data_pointer, &data, sizeof data);
    *capacity = wanted;
    return true;
}

void rdo_alloc_set_hook(bool (*shall_fail)(void *user), void *user) {
    hook_user = user;
    hook = shall_fail;
}

uint64_t rdo_alloc_live(void) {
    return atomic_load_explicit(&live, memory_order_relaxed);
}
