#include "api/api.h"

static rondo_status stale(const rdo_where *where, const void *handle, const char *kind) {
    if (rdo_in_work()) RDO_REFUSE(RONDO_REENTRANT, "called from inside a kernel or a host call");
    if (handle == NULL) RDO_REFUSE(RONDO_STALE, "the %s is null", kind);
    RDO_REFUSE(RONDO_STALE, "the %s was released or never existed", kind);
}

rondo_status rdo_api_device(const rdo_where *where, const void *handle, rdo_device **out_device) {
    *out_device = rdo_object_find(RDO_OBJECT_DEVICE, handle);
    if (*out_device == NULL) return stale(where, handle, "device");
    return rdo_check_caller(&(*out_device)->engine, where);
}

rondo_status rdo_api_kernel(const rdo_where *where, const void *handle, rdo_kernel **out_kernel) {
    *out_kernel = rdo_object_find(RDO_OBJECT_KERNEL, handle);
    if (*out_kernel == NULL) return stale(where, handle, "kernel");
    return rdo_check_caller(rdo_engine_of_books((*out_kernel)->books), where);
}

rondo_status rdo_api_event(const rdo_where *where, const void *handle, rdo_event **out_event) {
    *out_event = rdo_object_find(RDO_OBJECT_EVENT, handle);
    if (*out_event == NULL) return stale(where, handle, "event");
    return rdo_check_caller((*out_event)->engine, where);
}

rondo_status rdo_api_graph(const rdo_where *where, const void *handle, rdo_graph **out_graph) {
    *out_graph = rdo_object_find(RDO_OBJECT_GRAPH, handle);
    /* Before any lock is wanted: in a forked child nobody may ever give it back. */
    if (*out_graph != NULL) RDO_TRY(rdo_check_caller((*out_graph)->engine, where));
    *out_graph = rdo_graph_hold(handle);
    return *out_graph != NULL ? RONDO_OK : stale(where, handle, "graph");
}

rondo_status rdo_api_end(rdo_engine *engine, rondo_status status) {
    rdo_engine_settle(engine);
    rdo_log_failure(status);
    return status;
}

rondo_status rdo_api_refused(rondo_status status) {
    rdo_log_failure(status);
    return status;
}

void rdo_api_released(rdo_engine *engine) {
    rdo_engine_pin(engine); /* what was released may have been the last thing that kept the engine */
    rdo_lock_give(&engine->books.lock);
    rdo_engine_settle_pinned(engine);
}
