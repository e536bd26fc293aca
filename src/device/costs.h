/* What work costs on a device besides itself: issuing it, and replaying it. */
#ifndef RDO_DEVICE_COSTS_H
#define RDO_DEVICE_COSTS_H

#include "device/device.h"

/* Measures, when it is first asked for, on a stream of its own, and remembers. No lock held. Errors  whatever the
 * public calls give that it makes. */
rondo_status rdo_device_costs(rdo_device *device, const rdo_where *where, rdo_costs *out);

/* What a graph of so many nodes brings, by these costs. */
rondo_graph_worth rdo_costs_worth(const rdo_costs *costs, uint64_t nodes, uint64_t record_ns);

#endif
