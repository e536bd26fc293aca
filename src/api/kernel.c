#include <rondo/kernel.h>

#include <stdatomic.h>
#include <string.h>

#include "api/api.h"
#include "base/text.h"

void rondo_native_fail(const rondo_native_call *call, uint32_t reason) {
    uint32_t none = 0;
    (void)__atomic_compare_exchange_n(call->failed, &none, reason != 0 ? reason : 1, false, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED);
}

static rondo_status load(const rdo_where *where, rdo_engine *engine, const rondo_kernel_desc *desc,
                         rdo_kernel **out_kernel) {
    rdo_books *books = &engine->books;
    rondo_backend_outcome outcome;
    memset(&outcome, 0, sizeof outcome);
    rdo_kernel *kernel = rdo_kernel_new(books, desc);
    if (kernel == NULL) RDO_REFUSE(RONDO_NO_HOST_MEMORY, "no memory for kernel '%s'", desc->name);
    rondo_backend_result result = books->backend->kernel_load(books->device, desc, &kernel->loaded, &outcome);
    if (result != RONDO_BACKEND_DONE) {
        rdo_kernel_delete(kernel);
        return rdo_backend_status(where, result, &outcome);
    }
    kernel->handle = rdo_object_new(RDO_OBJECT_KERNEL, kernel, NULL);
    if (kernel->handle == 0) {
        books->backend->kernel_unload(books->device, kernel->loaded);
        rdo_kernel_delete(kernel);
        RDO_REFUSE(RONDO_NO_HOST_MEMORY, "no memory for kernel '%s'", desc->name);
    }
    rdo_lock_take(&books->lock);
    engine->kernel_count++;
    books->children++;
    rdo_lock_give(&books->lock);
    *out_kernel = kernel;
    return RONDO_OK;
}

rondo_status rondo_kernel_create(rondo_device *handle, const rondo_kernel_desc *desc, rondo_kernel **out_kernel) {
    rdo_where named = *RDO_NOWHERE("rondo_kernel_create"), *where = &named;
    rdo_device *device;
    rdo_kernel *kernel = NULL;
    if (out_kernel == NULL) RDO_REFUSE(RONDO_INVALID, "out_kernel is null");
    *out_kernel = NULL;
    RDO_TRY(rdo_api_device(where, handle, &device));
    if (desc == NULL) RDO_REFUSE(RONDO_INVALID, "desc is null");
    named.kernel = desc->name;
    rondo_status status = rdo_kernel_check(where, desc);
    if (status == RONDO_OK) status = load(where, &device->engine, desc, &kernel);
    if (kernel != NULL) *out_kernel = rdo_handle(kernel->handle);
    return rdo_api_end(&device->engine, status);
}

rondo_status rondo_kernel_retain(rondo_kernel *handle) {
    const rdo_where *where = RDO_NOWHERE("rondo_kernel_retain");
    rdo_kernel *kernel = rdo_object_find(RDO_OBJECT_KERNEL, handle);
    if (kernel == NULL) RDO_REFUSE(RONDO_STALE, "the kernel is null, was released or never existed");
    RDO_TRY(rdo_api_check_fork(rdo_engine_of_books(kernel->books), where));
    rdo_lock_take(&kernel->books->lock);
    kernel->refs++;
    kernel->user_refs++;
    rdo_lock_give(&kernel->books->lock);
    return RONDO_OK;
}

void rondo_kernel_release(rondo_kernel *handle) {
    rdo_kernel *kernel = rdo_object_find(RDO_OBJECT_KERNEL, handle);
    if (kernel == NULL) return;
    rdo_engine *engine = rdo_engine_of_books(kernel->books);
    if (!rdo_api_may_release(engine)) return;
    rdo_lock_take(&engine->books.lock);
    if (--kernel->user_refs == 0) rdo_object_hide(kernel->handle);
    rdo_kernel_unref(engine, kernel, 1);
    rdo_api_released(engine);
}

rondo_status rondo_kernel_get_info(rondo_kernel *handle, char *out_name, size_t *out_param_count) {
    const rdo_where *where = RDO_NOWHERE("rondo_kernel_get_info");
    rdo_kernel *kernel;
    if (out_name == NULL || out_param_count == NULL) RDO_REFUSE(RONDO_INVALID, "an out-parameter is null");
    out_name[0] = '\0';
    *out_param_count = 0;
    RDO_TRY(rdo_api_kernel(where, handle, &kernel));
    rdo_text_copy(out_name, RONDO_NAME_MAX, kernel->name);
    *out_param_count = kernel->param_count;
    return RONDO_OK;
}
