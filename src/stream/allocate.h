/* Reserving memory on a queue. */
#ifndef RDO_STREAM_ALLOCATE_H
#define RDO_STREAM_ALLOCATE_H

#include "stream/call.h"

/* A new allocation with one reference, under the window's rules [C18]; the request's window is filled in here. Queue
 * lock held. `staging` memory has no number for users and is not noted or counted. On memory pressure, when nobody
 * records, cleans up and tries again [M4].
 *
 * Errors   RANGE, NO_ROOM (dooms the owner's window), NO_DEVICE_MEMORY, NO_HOST_MEMORY */
rondo_status rdo_allocate(rdo_call *call, rdo_request *request, bool staging, rdo_memory **out_memory);

/* A record over the user's bytes. */
rondo_status rdo_import(rdo_call *call, void *data, uint64_t size, bool host, rondo_release_fn release, void *user,
                        rdo_memory **out_memory);

/* Staging for `size` bytes, holding a copy of `data`; in a window it is retained, in a warm-up primed [C6, C7]. */
rondo_status rdo_stage(rdo_call *call, const void *data, uint64_t size, rdo_memory **out_memory);

#endif
