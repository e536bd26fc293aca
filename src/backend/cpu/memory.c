#define _GNU_SOURCE
#include "parts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* A mapping that starts at a multiple of a huge page, so that the system can back it with huge pages. */
static void *map_huge(size_t size_bytes) {
    size_t slack_bytes = size_bytes + RDO_CPU_HUGE_BYTES;
    uint8_t *start = mmap(NULL, slack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) {
        return NULL;
    }
    size_t before_bytes = (size_t)(-(uintptr_t)start & (RDO_CPU_HUGE_BYTES - 1));
    if (before_bytes > 0) {
        munmap(start, before_bytes);
    }
    munmap(start + before_bytes + size_bytes, slack_bytes - before_bytes - size_bytes);
#ifdef MADV_HUGEPAGE
    madvise(start + before_bytes, size_bytes, MADV_HUGEPAGE);
#endif
    return start + before_bytes;
}

static void *system_alloc(size_t align_bytes, size_t size_bytes) {
    return align_bytes >= RDO_CPU_HUGE_BYTES ? map_huge(size_bytes) : aligned_alloc(align_bytes, size_bytes);
}

static void system_release(void *memory, size_t align_bytes, size_t size_bytes) {
    if (align_bytes >= RDO_CPU_HUGE_BYTES) {
        munmap(memory, size_bytes);
    } else {
        free(memory);
    }
}

struct rdo_cpu_hooks rdo_cpu_hooks = {system_alloc, system_release, pthread_create};

static size_t round_up(size_t size_bytes, size_t unit_bytes) {
    return (size_bytes + unit_bytes - 1) & ~(unit_bytes - 1);
}

/* What is large lies on huge pages. Both from the size alone, so that memory is freed by that by which it was made. */
static size_t align_for(size_t size_bytes, size_t least_bytes) {
    return size_bytes >= RDO_CPU_HUGE_BYTES ? RDO_CPU_HUGE_BYTES : least_bytes;
}

static size_t room_for(size_t size_bytes, size_t least_bytes) {
    return round_up(size_bytes, size_bytes >= RDO_CPU_HUGE_BYTES ? RDO_CPU_MAP_BYTES : least_bytes);
}

static void *take(size_t size_bytes, size_t align_bytes) {
    return rdo_cpu_hooks.alloc(align_for(size_bytes, align_bytes), room_for(size_bytes, align_bytes));
}

static void give_back(void *memory, size_t size_bytes, size_t align_bytes) {
    rdo_cpu_hooks.release(memory, align_for(size_bytes, align_bytes), room_for(size_bytes, align_bytes));
}

void *rdo_cpu_alloc_raw(size_t size_bytes) {
    return take(size_bytes, RDO_CPU_OBJECT_ALIGN_BYTES);
}

void *rdo_cpu_alloc(size_t size_bytes) {
    void *memory = rdo_cpu_alloc_raw(size_bytes);
    if (memory != NULL) {
        memset(memory, 0, size_bytes);
    }
    return memory;
}

void rdo_cpu_release(void *memory, size_t size_bytes) {
    if (memory != NULL) {
        give_back(memory, size_bytes, RDO_CPU_OBJECT_ALIGN_BYTES);
    }
}

static uint64_t largest_page_bytes(const struct rdo_cpu_device *cpu) {
    uint64_t addressable_bytes = SIZE_MAX / 4;
    return cpu->memory_bytes != 0 && cpu->memory_bytes < addressable_bytes ? cpu->memory_bytes : addressable_bytes;
}

rondo_backend_result rdo_cpu_page_alloc(void *device, rondo_page_kind kind, uint64_t size_bytes, void **out_page) {
    const struct rdo_cpu_device *cpu = device;
    (void)kind; /* device and host pages are the same memory here */
    *out_page = NULL;
    if (size_bytes > largest_page_bytes(cpu)) {
        return RONDO_BACKEND_TOO_BIG;
    }
    *out_page = take(size_bytes == 0 ? 1 : (size_t)size_bytes, RDO_CPU_ALIGN_BYTES);
    return *out_page != NULL ? RONDO_BACKEND_DONE : RONDO_BACKEND_DEVICE_FULL;
}

void rdo_cpu_page_free(void *device, rondo_page_kind kind, void *page, uint64_t size_bytes) {
    (void)device, (void)kind;
    give_back(page, size_bytes == 0 ? 1 : (size_t)size_bytes, RDO_CPU_ALIGN_BYTES);
}

rondo_backend_result rdo_cpu_page_import(void *device, void *data, uint64_t size_bytes, void **out_page) {
    (void)device, (void)size_bytes;
    *out_page = data;
    return RONDO_BACKEND_DONE;
}

void rdo_cpu_page_unimport(void *device, void *page, uint64_t size_bytes) {
    (void)device, (void)page, (void)size_bytes;
}

void *rdo_cpu_host_address(void *device, void *page) {
    (void)device;
    return page;
}
