/* What the front door's files share: argument checks, handles, and how calls that are not on a stream begin and end. */
#ifndef RDO_API_API_H
#define RDO_API_API_H

#include "base/check.h"
#include "device/device.h"
#include "stream/allocate.h"
#include "stream/stream.h"
#include "stream/submit.h"

/* Refuses with a message; `where` is in scope. */
#define RDO_REFUSE(code, ...) return rdo_fault_raise(where, (code), __VA_ARGS__)

static inline void *rdo_handle(uint64_t handle) {
    return (void *)(uintptr_t)handle;
}

/* The object of a handle, or STALE; REENTRANT and FORKED likewise. `kind_name` is for the message: "device". */
rondo_status rdo_api_device(const rdo_where *where, const void *handle, rdo_device **out_device);
rondo_status rdo_api_kernel(const rdo_where *where, const void *handle, rdo_kernel **out_kernel);
rondo_status rdo_api_event(const rdo_where *where, const void *handle, rdo_event **out_event);
/* The graph is held until rdo_graph_drop. */
rondo_status rdo_api_graph(const rdo_where *where, const void *handle, rdo_graph **out_graph);

/* The end of a call that held no stream: settles, logs, returns `status`. */
rondo_status rdo_api_end(rdo_engine *engine, rondo_status status);
/* A refusal of a call that reached no engine. */
rondo_status rdo_api_refused(rondo_status status);

/* Whether a release may do anything here: not in a child of the process that opened the device [E5]. */
static inline bool rdo_api_may_release(const rdo_engine *engine) {
    return engine->fork_epoch == rdo_fork_epoch;
}
/* FORKED there, for calls that are allowed inside kernels and host calls too. */
static inline rondo_status rdo_api_check_fork(const rdo_engine *engine, const rdo_where *where) {
    if (RDO_LIKELY(rdo_api_may_release(engine))) return RONDO_OK;
    return rdo_fault_raise(where, RONDO_FORKED, "the device was opened by the parent process; open it anew here");
}
/* Device lock held and given back: the end of a release, which settles unless the caller is inside a kernel or
 * host call, whose own call settles then. */
void rdo_api_released(rdo_engine *engine);

#endif
