/* The window: what one capture of a queue remembers.
 *
 * Lifecycle and recording travel together because neither means anything alone: work is remembered only
 * while the window records, and what is remembered is read only once it closes. Keeping them in one object makes
 * "things pile up inside a window and nowhere else" a property of the type.
 *
 * Everything here is under the lock of the window's queue; functions that say so also need the device lock.
 *
 * Invariants
 *  1. ops, writes, touched and retained are empty unless the window records, or has just closed and nobody took them.
 *  2. primed is empty unless the window is prepared.
 *  3. Once failed is set it stays until the window closes or a new capture is prepared [C8].
 *  4. Each entry of touched holds one guard on its slice, unless the slice belongs to this window.
 */
#ifndef RDO_CAPTURE_WINDOW_H
#define RDO_CAPTURE_WINDOW_H

#include "base/arena.h"
#include "capture/lifecycle.h"
#include "memory/store.h"
#include "op/meta.h"
#include "op/op.h"

/* A range of an allocation by number: names it without holding it. Ordered by memory id, then range [C4]. */
typedef struct rdo_claim_key {
    uint64_t memory_id, low, high;
} rdo_claim_key;

typedef struct rdo_weak {
    rdo_memory *memory;
    rdo_claim_key key;
} rdo_weak;

/* A page that a recorded operation was given memory on [C5]. */
typedef struct rdo_touch {
    uint64_t stream_id;    /* whose memory it is */
    rdo_location location; /* nothing moves while a stream records, so it still names the slice at close */
    rdo_page *page;
} rdo_touch;

#define RDO_LIST(type) struct { type *data; size_t count, capacity; }

typedef RDO_LIST(rdo_weak) rdo_weak_list;
typedef RDO_LIST(rdo_touch) rdo_touch_list;
typedef RDO_LIST(rdo_memory *) rdo_memory_list;
typedef RDO_LIST(rdo_op *) rdo_op_list;
typedef RDO_LIST(rdo_note) rdo_note_list;

/* How the window's own memory is named while it is open; 0 names none. */
typedef struct rdo_window {
    rdo_lifecycle life;
    uint64_t id;              /* of the capture that is under way; never reused */
    uint64_t begun_ns;        /* when it began to record */
    rdo_arena arena;          /* ops and all that they point to */
    rdo_op_list ops;
    rdo_weak_list writes;     /* what the recorded ops write */
    rdo_touch_list touched;
    rdo_memory_list primed;   /* staging that the warm-up was handed, held until begin */
    rdo_memory_list retained; /* snapshots; each with one reference */
    rdo_note_list notes;      /* the warm-up's reservations and releases, in order */
    rdo_meta_pins pins;
    rondo_status failed;      /* the first failure, RONDO_OK while the window is whole */
    bool notes_lost;          /* there was no memory to note a reservation */
    bool defer_claims;        /* a one-call form runs the step itself if this fails, see graph/run.c */
} rdo_window;

void rdo_window_init(rdo_window *window, rdo_captures *device);
/* Leaves the device's counts, whatever the phase; device lock held (guards are given back). */
void rdo_window_finish(rdo_window *window);

/* Transitions, see lifecycle.h for what they refuse. Device lock held: what an earlier capture left is dropped. */
const char *rdo_window_prepare(rdo_window *window, uint64_t owner);
const char *rdo_window_begin(rdo_window *window);
const char *rdo_window_end(rdo_window *window, uint64_t caller, rdo_capture_end *out_end);
void rdo_window_abort(rdo_window *window);
/* Drops everything gathered; the phase stays. Device lock held. */
void rdo_window_clear(rdo_window *window);

static inline bool rdo_window_is_recording(const rdo_window *window) {
    return window->life.phase == RONDO_PHASE_RECORDING;
}
static inline bool rdo_window_is_prepared(const rdo_window *window) {
    return window->life.phase == RONDO_PHASE_PREPARED;
}
static inline bool rdo_window_is_active(const rdo_window *window) {
    return window->life.phase != RONDO_PHASE_NONE;
}
static inline uint64_t rdo_window_owner(const rdo_window *window) {
    return window->life.owner;
}

/* Gathering. Each does nothing outside its phase; false means that there is no memory, which dooms. */

/* The two below, for what the window has not just remembered: a step touches the same few buffers again and again. */
bool rdo_window_record_new(rdo_window *window, rdo_memory *memory, uint64_t low, uint64_t high);
bool rdo_window_touch_new(rdo_window *window, uint64_t stream_id, rdo_page *page, uint32_t slice);

/* What a recorded operation writes, as keys that hold nothing [C4]. Device lock held. */
static inline bool rdo_window_record(rdo_window *window, rdo_memory *memory, uint64_t low, uint64_t high) {
    bool known =
        memory->recorded_by == window->id && memory->recorded_low == low && memory->recorded_high == high;
    return known || rdo_window_record_new(window, memory, low, high);
}
/* That a recorded operation was given bytes of this slice, of memory of `stream_id` [C5]. Device lock held. A slice
 * from outside the window is guarded from now on; one of the window itself is marked, so that the owner may still
 * reuse it. */
static inline bool rdo_window_touch(rdo_window *window, uint64_t stream_id, rdo_page *page, uint32_t slice) {
    bool known = page != NULL && page->slices[slice].noted == window->id && page->slices[slice].window != window->id;
    return known || rdo_window_touch_new(window, stream_id, page, slice);
}
/* Holds staging of the warm-up until begin [C6]. Takes over the caller's reference if true. */
bool rdo_window_prime(rdo_window *window, rdo_memory *staging);
/* Host bytes that live with the window, then with the graph [C7]. Takes over the caller's reference if true. */
bool rdo_window_retain(rdo_window *window, rdo_memory *staging);
/* Notes a reservation, or a release (size RDO_NOTE_RELEASE), of the owner's warm-up [C6]. */
void rdo_window_note(rdo_window *window, const rdo_request *request, uint64_t memory_id);
/* Dooms a window that records, if work of its owner was refused where the window itself could not be told. */
void rdo_window_note_refusal(rdo_window *window);
/* Dooms the window; the first failure wins [C8]. */
void rdo_window_fail(rdo_window *window, rondo_status failure);

/* Taking, as the window closes. Taken means moved: the second take is empty. */

/* Each claim once, in key order; what nobody but the pool holds is left out. Device lock held. */
rdo_weak_list rdo_window_take_writes(rdo_window *window);
/* Each slice once, sorted; guards of repetitions are given back. Device lock held. */
rdo_touch_list rdo_window_take_touched(rdo_window *window);
rdo_memory_list rdo_window_take_retained(rdo_window *window);
rondo_status rdo_window_take_failure(rdo_window *window);

/* What reservations on this queue may do to pages [C18]. */
rdo_page_update rdo_window_page_update(const rdo_window *window);
/* How the metadata cache works for the owner: capture mode from prepare to end [C19]. */
rdo_meta_mode rdo_window_meta_mode(const rdo_window *window);

bool rdo_window_check(const rdo_window *window);

#endif
