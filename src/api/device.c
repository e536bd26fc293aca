#include <rondo/backend.h>
#include <rondo/device.h>
#include <rondo/stats.h>
#include <rondo/version.h>

#include <string.h>

#include "api/api.h"
#include "device/registry.h"

uint32_t rondo_version(void) {
    return RONDO_VERSION_MAJOR * 1000000u + RONDO_VERSION_MINOR * 1000u + RONDO_VERSION_PATCH;
}

const char *rondo_version_string(void) {
    return RONDO_VERSION_STRING;
}

size_t rondo_device_list(rondo_device_entry *out_entries, size_t capacity) {
    size_t count = 0;
    for (size_t b = 0; rdo_registry_at(b) != NULL; b++) {
        rondo_device_entry entry;
        memset(&entry, 0, sizeof entry);
        for (uint32_t i = 0; rdo_registry_at(b)->probe(i, &entry); i++) {
            if (out_entries != NULL && count < capacity) out_entries[count] = entry;
            count++;
            memset(&entry, 0, sizeof entry);
        }
    }
    return count;
}

rondo_status rondo_device_open(const char *name, const rondo_device_desc *desc, rondo_device **out_device) {
    const rdo_where *where = RDO_NOWHERE("rondo_device_open");
    rdo_device *device = NULL;
    if (out_device == NULL) RDO_REFUSE(RONDO_INVALID, "out_device is null");
    *out_device = NULL;
    if (rdo_in_work()) RDO_REFUSE(RONDO_REENTRANT, "called from inside a kernel or a host call");
    if (name == NULL) RDO_REFUSE(RONDO_INVALID, "name is null");
    rondo_status status = rdo_device_open(name, desc, &device);
    if (status != RONDO_OK) return rdo_api_refused(status);
    *out_device = rdo_handle(device->handle);
    return RONDO_OK;
}

rondo_status rondo_device_retain(rondo_device *handle) {
    const rdo_where *where = RDO_NOWHERE("rondo_device_retain");
    rdo_device *device = rdo_object_find(RDO_OBJECT_DEVICE, handle);
    if (device == NULL) RDO_REFUSE(RONDO_STALE, "the device is null, was released or never existed");
    RDO_TRY(rdo_api_check_fork(&device->engine, where));
    rdo_lock_take(&device->engine.books.lock);
    device->refs++;
    rdo_lock_give(&device->engine.books.lock);
    return RONDO_OK;
}

void rondo_device_release(rondo_device *handle) {
    rdo_device *device = rdo_object_find(RDO_OBJECT_DEVICE, handle);
    if (device == NULL || !rdo_api_may_release(&device->engine)) return;
    rdo_lock_take(&device->engine.books.lock);
    rdo_device_unref(device);
    rdo_api_released(&device->engine);
}

rondo_status rondo_device_get_info(rondo_device *handle, rondo_device_info *out_info) {
    const rdo_where *where = RDO_NOWHERE("rondo_device_get_info");
    rdo_device *device;
    if (out_info == NULL) RDO_REFUSE(RONDO_INVALID, "out_info is null");
    memset(out_info, 0, sizeof *out_info);
    RDO_TRY(rdo_api_device(where, handle, &device));
    rdo_device_describe(device, out_info);
    return RONDO_OK;
}

rondo_status rondo_device_sync(rondo_device *handle) {
    const rdo_where *where = RDO_NOWHERE("rondo_device_sync");
    rdo_device *device;
    RDO_TRY(rdo_api_device(where, handle, &device));
    return rdo_api_end(&device->engine, rdo_device_sync(device, where));
}

rondo_status rondo_device_trim(rondo_device *handle, uint64_t *out_kept_bytes) {
    const rdo_where *where = RDO_NOWHERE("rondo_device_trim");
    rdo_device *device;
    if (out_kept_bytes != NULL) *out_kept_bytes = 0;
    RDO_TRY(rdo_api_device(where, handle, &device));
    return rdo_api_end(&device->engine, rdo_device_trim(device, out_kept_bytes));
}

bool rondo_device_is_recording(rondo_device *handle) {
    rdo_device *device = rdo_object_find(RDO_OBJECT_DEVICE, handle);
    return device != NULL && rdo_captures_any_recording(&device->engine.captures);
}

rondo_status rondo_pool_get_report(rondo_device *handle, rondo_pool_kind kind, rondo_pool_report *out_report) {
    const rdo_where *where = RDO_NOWHERE("rondo_pool_get_report");
    rdo_device *device;
    if (out_report == NULL) RDO_REFUSE(RONDO_INVALID, "out_report is null");
    memset(out_report, 0, sizeof *out_report);
    if ((unsigned)kind >= RONDO_POOL_KINDS) RDO_REFUSE(RONDO_INVALID, "there is no pool kind %d", (int)kind);
    RDO_TRY(rdo_api_device(where, handle, &device));
    rdo_lock_take(&device->engine.books.lock);
    *out_report = device->engine.books.reports[kind];
    rdo_lock_give(&device->engine.books.lock);
    return RONDO_OK;
}

rondo_status rondo_device_get_stats(rondo_device *handle, rondo_device_stats *out_stats) {
    const rdo_where *where = RDO_NOWHERE("rondo_device_get_stats");
    rdo_device *device;
    if (out_stats == NULL) RDO_REFUSE(RONDO_INVALID, "out_stats is null");
    memset(out_stats, 0, sizeof *out_stats);
    RDO_TRY(rdo_api_device(where, handle, &device));
    rdo_device_stats(device, out_stats);
    return RONDO_OK;
}

size_t rondo_device_list_graphs(rondo_device *handle, rondo_graph_holding *out_entries, size_t capacity) {
    rdo_device *device = rdo_object_find(RDO_OBJECT_DEVICE, handle);
    if (device == NULL || rdo_in_work() || !rdo_api_may_release(&device->engine)) return 0;
    return rdo_device_holdings(device, out_entries, out_entries != NULL ? capacity : 0);
}

rondo_status rondo_backend_register(const rondo_backend *backend) {
    return rdo_registry_add(backend);
}

void rondo_backend_enter_work(bool enter) {
    if (enter) {
        rdo_this_thread.work_depth++;
    } else if (rdo_this_thread.work_depth != 0) {
        rdo_this_thread.work_depth--;
    }
}
