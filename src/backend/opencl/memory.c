#include <string.h>
#include "base/alloc.h"
#include "parts.h"

/* ---- pages ---- */

/* Where it is fine-grained, the device reaches it wherever the host does, so that host pages are the same. */
static rondo_backend_result svm_alloc(const struct rdo_ocl_device *device, uint64_t size_bytes, void **out_page) {
    uint64_t fine = device->memory == RDO_OCL_FINE ? OCL_MEM_SVM_FINE_GRAIN_BUFFER : 0;
    *out_page = rdo_ocl.clSVMAlloc(device->context, OCL_MEM_READ_WRITE | fine, (size_t)size_bytes, 0);
    return *out_page != NULL ? RONDO_BACKEND_DONE : RONDO_BACKEND_DEVICE_FULL;
}

static rondo_backend_result meaning_of(int32_t error) {
    return error == OCL_INVALID_BUFFER_SIZE  ? RONDO_BACKEND_TOO_BIG
           : error == OCL_OUT_OF_HOST_MEMORY ? RONDO_BACKEND_NO_MEMORY
                                             : RONDO_BACKEND_DEVICE_FULL;
}

static rondo_backend_result buffer_alloc(const struct rdo_ocl_device *device, uint64_t size_bytes, void **out_page) {
    int32_t error = OCL_SUCCESS;
    struct rdo_ocl_page *page = rdo_alloc_zero(1, sizeof *page);
    *out_page = NULL;
    if (page == NULL) {
        return RONDO_BACKEND_NO_MEMORY;
    }
    page->size_bytes = size_bytes;
    page->mem = rdo_ocl.clCreateBuffer(device->context, OCL_MEM_READ_WRITE, (size_t)size_bytes, NULL, &error);
    if (page->mem == NULL) {
        rdo_free(page);
        return meaning_of(error);
    }
    *out_page = page;
    return RONDO_BACKEND_DONE;
}

/* What stands just before a host page that is mapped memory of the driver. */
struct mapping {
    ocl_mem mem;
    void *start;
};

/* Host memory that the driver need not copy on the way to the device: a buffer of its own in the host's memory, mapped
 * for as long as the page lives. The page keeps the alignment, which a mapped address need not. */
static rondo_backend_result map_host(const struct rdo_ocl_device *device, uint64_t size_bytes, void **out_page) {
    size_t align_bytes = (size_t)device->alignment_bytes;
    size_t total_bytes = (size_t)size_bytes + align_bytes + sizeof(struct mapping);
    struct mapping mapping;
    int32_t error = OCL_SUCCESS;
    mapping.mem = rdo_ocl.clCreateBuffer(device->context, OCL_MEM_READ_WRITE | OCL_MEM_ALLOC_HOST_PTR, total_bytes,
                                         NULL, &error);
    if (mapping.mem == NULL) {
        return meaning_of(error);
    }
    mapping.start = rdo_ocl.clEnqueueMapBuffer(device->aside, mapping.mem, 1, OCL_MAP_READ | OCL_MAP_WRITE, 0,
                                               total_bytes, 0, NULL, NULL, &error);
    if (mapping.start == NULL) {
        rdo_ocl.clReleaseMemObject(mapping.mem);
        return meaning_of(error);
    }
    uintptr_t page = ((uintptr_t)mapping.start + sizeof mapping + align_bytes - 1) & ~(uintptr_t)(align_bytes - 1);
    memcpy((char *)page - sizeof mapping, &mapping, sizeof mapping);
    *out_page = (void *)page;
    return RONDO_BACKEND_DONE;
}

/* The host must not touch the memory once it is unmapped, and nobody does: the driver may end that when it likes. */
static void unmap_host(const struct rdo_ocl_device *device, void *page) {
    struct mapping mapping;
    memcpy(&mapping, (char *)page - sizeof mapping, sizeof mapping);
    (void)rdo_ocl.clEnqueueUnmapMemObject(device->aside, mapping.mem, mapping.start, 0, NULL, NULL);
    rdo_ocl.clReleaseMemObject(mapping.mem);
}

/* ---- pages of both kinds ---- */

rondo_backend_result rdo_ocl_page_alloc(void *device, rondo_page_kind kind, uint64_t size_bytes, void **out_page) {
    const struct rdo_ocl_device *opened = device;
    *out_page = NULL;
    size_bytes = size_bytes != 0 ? size_bytes : 1;
    if (size_bytes > opened->largest_bytes) {
        return RONDO_BACKEND_TOO_BIG;
    }
    if (kind == RONDO_PAGE_HOST && opened->memory != RDO_OCL_FINE) {
        return map_host(opened, size_bytes, out_page);
    }
    return opened->memory == RDO_OCL_BUFFERS ? buffer_alloc(opened, size_bytes, out_page)
                                             : svm_alloc(opened, size_bytes, out_page);
}

void rdo_ocl_page_free(void *device, rondo_page_kind kind, void *page, uint64_t size_bytes) {
    const struct rdo_ocl_device *opened = device;
    (void)size_bytes;
    if (kind == RONDO_PAGE_HOST && opened->memory != RDO_OCL_FINE) {
        unmap_host(opened, page);
    } else if (opened->memory == RDO_OCL_BUFFERS) {
        rdo_ocl.clReleaseMemObject(((struct rdo_ocl_page *)page)->mem);
        rdo_free(page);
    } else {
        rdo_ocl.clSVMFree(opened->context, page);
    }
}

/* Memory of the process is memory of the device only where the driver says so of all of it. */
rondo_backend_result rdo_ocl_page_import(void *device, void *data, uint64_t size_bytes, void **out_page) {
    const struct rdo_ocl_device *opened = device;
    (void)size_bytes;
    *out_page = NULL;
    if (!opened->imports || opened->memory != RDO_OCL_FINE) {
        return RONDO_BACKEND_NO_SUPPORT;
    }
    *out_page = data;
    return RONDO_BACKEND_DONE;
}

void rdo_ocl_page_unimport(void *device, void *page, uint64_t size_bytes) {
    (void)device, (void)page, (void)size_bytes;
}

void *rdo_ocl_host_address(void *device, void *page) {
    const struct rdo_ocl_device *opened = device;
    return opened->memory == RDO_OCL_FINE ? page : NULL;
}

/* ---- arguments ---- */

static rondo_backend_result set_buffer(const struct rdo_ocl_device *device, ocl_kernel kernel, uint32_t index,
                                       rondo_place place, ocl_mem *out_made, rondo_backend_outcome *outcome) {
    const struct rdo_ocl_page *page = place.page;
    ocl_mem mem = page->mem;
    int32_t error = OCL_SUCCESS;
    if (place.offset_bytes % device->alignment_bytes != 0) {
        return rdo_ocl_refuse(outcome, RONDO_BACKEND_NO_SUPPORT,
                              "argument %u starts at byte %llu of its page; a device without shared virtual memory "
                              "needs a multiple of %llu", index, (unsigned long long)place.offset_bytes,
                              (unsigned long long)device->alignment_bytes);
    }
    if (place.offset_bytes != 0) {
        struct ocl_region region = {(size_t)place.offset_bytes, (size_t)(page->size_bytes - place.offset_bytes)};
        *out_made = mem = rdo_ocl.clCreateSubBuffer(page->mem, 0, OCL_BUFFER_CREATE_TYPE_REGION, &region, &error);
        if (mem == NULL) {
            return rdo_ocl_failed(outcome, "clCreateSubBuffer", error);
        }
    }
    error = rdo_ocl.clSetKernelArg(kernel, index, sizeof(ocl_mem), &mem);
    return error == OCL_SUCCESS ? RONDO_BACKEND_DONE : rdo_ocl_failed(outcome, "clSetKernelArg", error);
}

/* An empty span may have no page, or lie at the very end of one: then the spare page stands for it. */
rondo_backend_result rdo_ocl_set_place(const struct rdo_ocl_device *device, ocl_kernel kernel, uint32_t index,
                                       rondo_place place, ocl_mem *out_made, rondo_backend_outcome *outcome) {
    *out_made = NULL;
    bool buffers = device->memory == RDO_OCL_BUFFERS;
    const struct rdo_ocl_page *page = place.page;
    if (page == NULL || (buffers && place.offset_bytes >= page->size_bytes)) {
        place = (rondo_place){device->spare, 0};
    }
    if (buffers) {
        return set_buffer(device, kernel, index, place, out_made, outcome);
    }
    int32_t error = rdo_ocl.clSetKernelArgSVMPointer(kernel, index, rdo_ocl_address(place));
    return error == OCL_SUCCESS ? RONDO_BACKEND_DONE : rdo_ocl_failed(outcome, "clSetKernelArgSVMPointer", error);
}
