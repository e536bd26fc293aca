/* The lifecycle of a capture on one queue.
 *
 *            prepare(owner)              begin                  end(caller)
 *   NONE ───────────────────► PREPARED ────────► RECORDING ───────────────────► NONE
 *    ▲                            │                  │      owned if caller = owner, else abandoned
 *    └─────────── abort ──────────┴────── abort ─────┘
 *
 * Invariants
 *  1. A refused call changes nothing [C1].
 *  2. RECORDING is reached from PREPARED only.
 *  3. There is an owner exactly while the phase is not NONE.
 *  4. The device's captures list this lifecycle exactly while the phase is not NONE.
 */
#ifndef RDO_CAPTURE_LIFECYCLE_H
#define RDO_CAPTURE_LIFECYCLE_H

#include <rondo/capture.h>

#include "capture/captures.h"

struct rdo_lifecycle {
    rdo_captures *device;
    rdo_lifecycle *next; /* in the device's list */
    rondo_phase phase;
    uint64_t owner; /* stream id */
    /* The first work of the owner that was refused inside of a kernel or a host call while it recorded; RONDO_OK: none.
     * Set under the lock of the device's captures. */
    _Atomic rondo_status refused;
};

/* Whose window an end closed. */
typedef struct rdo_capture_end {
    uint64_t owner;
    bool abandoned; /* the caller was not the owner */
} rdo_capture_end;

void rdo_lifecycle_init(rdo_lifecycle *life, rdo_captures *device);

/* Each returns NULL, or the sentence that says why the call does not fit, with nothing changed. */
const char *rdo_lifecycle_prepare(rdo_lifecycle *life, uint64_t owner);
const char *rdo_lifecycle_begin(rdo_lifecycle *life);
const char *rdo_lifecycle_end(rdo_lifecycle *life, uint64_t caller, rdo_capture_end *out_end);
/* Legal from everywhere. */
void rdo_lifecycle_abort(rdo_lifecycle *life);

bool rdo_lifecycle_check(const rdo_lifecycle *life);

#endif
