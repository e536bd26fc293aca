/* The device: opened by name, owns its engine, closes when nothing made on it is left. */
#ifndef RDO_DEVICE_DEVICE_H
#define RDO_DEVICE_DEVICE_H

#include "graph/graph.h"

/* In picoseconds, besides the work itself. */
typedef struct rdo_costs {
    bool known;
    uint64_t eager_node_ps;  /* issuing an operation */
    uint64_t replay_node_ps; /* each node of a replay but the first */
    uint64_t replay_ps;      /* a replay of one node */
} rdo_costs;

typedef struct rdo_device {
    rdo_engine engine; /* must come first */
    uint64_t handle;
    uint32_t refs;     /* of users; under the device lock */
    const rondo_backend *backend;
    rdo_costs costs;   /* under the device lock */
} rdo_device;

rondo_status rdo_device_open(const char *name, const rondo_device_desc *desc, rdo_device **out_device);
/* Device lock held: gives a user's reference back. */
void rdo_device_unref(rdo_device *device);

/* What the device is, as its backend says now: how graphs are replayed may be chosen after opening. */
void rdo_device_describe(const rdo_device *device, rondo_device_info *out_info);
/* No lock held. Errors as in rondo/device.h. */
rondo_status rdo_device_sync(rdo_device *device, const rdo_where *where);
rondo_status rdo_device_trim(rdo_device *device, uint64_t *out_kept_bytes);
void rdo_device_stats(rdo_device *device, rondo_device_stats *out);
size_t rdo_device_holdings(rdo_device *device, rondo_graph_holding *out, size_t capacity);

#endif
