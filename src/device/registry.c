#include "device/registry.h"

#include <stdatomic.h>
#include <string.h>

#include "backend/cpu/cpu.h"
#include "backend/null/null.h"
#include "backend/opencl/opencl.h"
#include "backend/sim/sim.h"
#include "base/lock.h"

static rdo_lock lock = RDO_LOCK_INIT(RDO_RANK_REGISTRY);
/* Filled in order and never emptied, so that looking needs no lock. */
static _Atomic(const rondo_backend *) backends[RDO_MAX_BACKENDS] = {
    &rdo_backend_cpu, &rdo_backend_null, &rdo_backend_opencl, &rdo_backend_sim};

const rondo_backend *rdo_registry_at(size_t index) {
    return index < RDO_MAX_BACKENDS ? atomic_load(&backends[index]) : NULL;
}

const rondo_backend *rdo_registry_find(const char *name, size_t name_length) {
    for (size_t i = 0; rdo_registry_at(i) != NULL; i++) {
        const rondo_backend *backend = rdo_registry_at(i);
        if (strlen(backend->name) == name_length && strncmp(backend->name, name, name_length) == 0) return backend;
    }
    return NULL;
}

/* The name of a required function that is missing, NULL if none is. */
static const char *missing(const rondo_backend *b) {
    if (b->probe == NULL) return "probe";
    if (b->open == NULL) return "open";
    if (b->close == NULL) return "close";
    if (b->info == NULL) return "info";
    if (b->page_alloc == NULL) return "page_alloc";
    if (b->page_free == NULL) return "page_free";
    if ((b->page_import == NULL) != (b->page_unimport == NULL)) return "page_import or page_unimport";
    if (b->host_address == NULL) return "host_address";
    if (b->kernel_load == NULL) return "kernel_load";
    if (b->kernel_unload == NULL) return "kernel_unload";
    if (b->queue_open == NULL) return "queue_open";
    if (b->queue_close == NULL) return "queue_close";
    if (b->submit == NULL) return "submit";
    bool graphs = b->graph_build != NULL;
    if ((b->graph_submit != NULL) != graphs || (b->graph_set_value != NULL) != graphs ||
        (b->graph_free != NULL) != graphs) {
        return "one of the graph functions, which come all or none";
    }
    return NULL;
}

rondo_status rdo_registry_add(const rondo_backend *backend) {
    const rdo_where *where = RDO_NOWHERE("rondo_backend_register");
    if (backend == NULL) return rdo_fault_raise(where, RONDO_INVALID, "backend is null");
    if (backend->name == NULL || backend->name[0] == '\0' || strchr(backend->name, ':') != NULL) {
        return rdo_fault_raise(where, RONDO_INVALID, "a backend needs a name, without a colon");
    }
    if (backend->version != RONDO_BACKEND_VERSION) {
        return rdo_fault_raise(where, RONDO_INVALID, "backend '%s' is of version %u, this library takes version %d",
                               backend->name, backend->version, RONDO_BACKEND_VERSION);
    }
    if (missing(backend) != NULL) {
        return rdo_fault_raise(where, RONDO_INVALID, "backend '%s' lacks %s", backend->name, missing(backend));
    }
    rondo_status status = RONDO_OK;
    size_t index = 0;
    rdo_lock_take(&lock);
    while (rdo_registry_at(index) != NULL) index++;
    if (rdo_registry_find(backend->name, strlen(backend->name)) != NULL) {
        status = rdo_fault_raise(where, RONDO_OVERLAP, "there is a backend called '%s' already", backend->name);
    } else if (index == RDO_MAX_BACKENDS) {
        status = rdo_fault_raise(where, RONDO_CAPACITY, "there are %d backends already", RDO_MAX_BACKENDS);
    } else {
        atomic_store(&backends[index], backend);
    }
    rdo_lock_give(&lock);
    return status;
}
