/* The captures of a device: who captures, and whether anyone records. Readable by any thread without the device
 * lock; with no capture under way a look costs one atomic load [C17].
 *
 * Invariants
 *  1. active = lifecycles that are prepared or recording; recording = those that record. Both are recounted from
 *     the list after every change, so that no order of calls can make them drift.
 */
#ifndef RDO_CAPTURE_CAPTURES_H
#define RDO_CAPTURE_CAPTURES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <rondo/types.h>

#include "base/lock.h"

typedef struct rdo_lifecycle rdo_lifecycle;

typedef struct rdo_captures {
    rdo_lock lock; /* of the list; a leaf */
    rdo_lifecycle *list;
    _Atomic uint32_t active, recording;
} rdo_captures;

void rdo_captures_init(rdo_captures *captures);

/* Whether `stream_id` is preparing or recording. */
bool rdo_captures_is_capturing(rdo_captures *captures, uint64_t stream_id);
/* The same, telling which. */
bool rdo_captures_phase(rdo_captures *captures, uint64_t stream_id, bool *out_recording);
/* Work of this stream was refused at a place from which its queue cannot be locked: if it records, its window is doomed
 * all the same [C8]. */
void rdo_captures_refused(rdo_captures *captures, uint64_t stream_id, rondo_status refusal);
/* Whether any stream of the device records. */
static inline bool rdo_captures_any_recording(rdo_captures *captures) {
    return atomic_load_explicit(&captures->recording, memory_order_acquire) != 0;
}

#endif
