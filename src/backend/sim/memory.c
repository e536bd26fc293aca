#include <stdlib.h>
#include <string.h>

#include "parts.h"

static size_t round_up(uint64_t size_bytes) {
    size_t most = size_bytes == 0 ? 1 : (size_t)size_bytes;
    return (most + RDO_SIM_ALIGN_BYTES - 1) & ~(RDO_SIM_ALIGN_BYTES - 1);
}

static struct rdo_sim_page *new_page(uint64_t size_bytes) {
    size_t size = round_up(size_bytes);
    struct rdo_sim_page *page = malloc(sizeof *page);
    if (page == NULL) return NULL;
    page->bytes = aligned_alloc(RDO_SIM_ALIGN_BYTES, size);
    page->written = page->bytes != NULL ? calloc(size, 1) : NULL;
    if (page->written != NULL) {
        memset(page->bytes, RDO_SIM_FRESH, size);
        return page;
    }
    free(page->bytes);
    free(page);
    return NULL;
}

rondo_backend_result rdo_sim_page_alloc(void *device, rondo_page_kind kind, uint64_t size_bytes, void **out_page) {
    rondo_sim_fault fault;
    (void)device;
    *out_page = NULL;
    if (rdo_sim_strikes(RONDO_SIM_PAGE_ALLOC, &fault)) return fault.result;
    if (size_bytes > SIZE_MAX / 4) return RONDO_BACKEND_TOO_BIG;
    *out_page = kind == RONDO_PAGE_HOST ? aligned_alloc(RDO_SIM_ALIGN_BYTES, round_up(size_bytes))
                                        : (void *)new_page(size_bytes);
    return *out_page != NULL ? RONDO_BACKEND_DONE : RONDO_BACKEND_DEVICE_FULL;
}

void rdo_sim_page_free(void *device, rondo_page_kind kind, void *page, uint64_t size_bytes) {
    (void)device, (void)size_bytes;
    if (kind == RONDO_PAGE_DEVICE) {
        struct rdo_sim_page *dying = page;
        free(dying->bytes);
        free(dying->written);
    }
    free(page);
}

rondo_backend_result rdo_sim_page_import(void *device, void *data, uint64_t size_bytes, void **out_page) {
    rondo_sim_fault fault;
    (void)device, (void)size_bytes;
    *out_page = NULL;
    if (rdo_sim_strikes(RONDO_SIM_PAGE_IMPORT, &fault)) return fault.result;
    struct rdo_sim_page *page = malloc(sizeof *page);
    if (page == NULL) return RONDO_BACKEND_NO_MEMORY;
    *page = (struct rdo_sim_page){data, NULL};
    *out_page = page;
    return RONDO_BACKEND_DONE;
}

void rdo_sim_page_unimport(void *device, void *page, uint64_t size_bytes) {
    (void)device, (void)size_bytes;
    free(page);
}

void *rdo_sim_host_address(void *device, void *page) {
    (void)device;
    return ((const struct rdo_sim_page *)page)->bytes;
}

/* ---- what was written ---- */

/* Kernels, host calls and mappings do not say what they write, but what they changed shows. */
static bool is_written(const struct rdo_sim_page *page, uint64_t offset) {
    return page->written == NULL || page->written[offset] != 0 || page->bytes[offset] != RDO_SIM_FRESH;
}

void rdo_sim_mark_written(rondo_place place, uint64_t size_bytes) {
    const struct rdo_sim_page *page = place.page;
    if (page->written != NULL) memset(page->written + place.offset_bytes, 1, (size_t)size_bytes);
}

void rdo_sim_mark_copied(rondo_place target, rondo_place source, uint64_t size_bytes) {
    const struct rdo_sim_page *to = target.page, *from = source.page;
    bool backwards = to == from && target.offset_bytes > source.offset_bytes;
    if (to->written == NULL) return;
    for (uint64_t step = 0; step < size_bytes; step++) {
        uint64_t i = backwards ? size_bytes - 1 - step : step;
        to->written[target.offset_bytes + i] = is_written(from, source.offset_bytes + i);
    }
}

uint64_t rdo_sim_fresh_bytes(rondo_place place, uint64_t size_bytes) {
    const struct rdo_sim_page *page = place.page;
    uint64_t fresh = 0;
    for (uint64_t i = 0; i < size_bytes; i++) fresh += !is_written(page, place.offset_bytes + i);
    return fresh;
}
