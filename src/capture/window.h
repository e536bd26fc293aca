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

/* What the window holds already of an allocation that recorded ops touch, so that it need not be noted again: a step
 * touches the same few buffers again and again, and launches the same few kernels. Only a part is remembered; what was
 * forgotten is noted once more, which does no harm. */
typedef struct rdo_known {
    uint64_t memory_id;   /* its slice is touched; 0: nothing is known */
    uint64_t low, high;   /* this range is among the writes; none if low > high */
    /* An access of a launch to it, for the next launch that names the same bytes: nothing moves while the window
     * records, so whatever was found out then holds. */
    rdo_access access;
    uint64_t asked_bytes; /* how many, as the launch said */
    uint32_t modes;       /* in which accessing these bytes once more has nothing new; 0: there is no such access */
} rdo_known;

enum { RDO_KNOWN_MEMORIES = 256, RDO_KNOWN_KERNELS = 16 };

/* How the window's own memory is named while it is open; 0 names none. */
typedef struct rdo_window {
    rdo_lifecycle life;
    uint64_t id;              /* of the capture that is under way; never reused */
    uint64_t begun_ns;        /* when it began to record */
    rdo_arena arena;          /* ops and all that they point to */
    rdo_op_list ops;
    rdo_op_list holders;      /* those of the ops that hold a reference on their kernel, host call or event */
    rdo_weak_list writes;     /* what the recorded ops write */
    rdo_touch_list touched;
    rdo_memory_list primed;   /* staging that the warm-up was handed, held until begin */
    rdo_memory_list retained; /* snapshots; each with one reference */
    rdo_note_list notes;      /* the warm-up's reservations and releases, in order */
    rdo_meta_pins pins;
    rondo_status failed;      /* the first failure, RONDO_OK while the window is whole */
    bool notes_lost;          /* there was no memory to note a reservation */
    bool defer_claims;        /* a one-call form runs the step itself if this fails, see graph/run.c */
    rdo_known known_memories[RDO_KNOWN_MEMORIES];     /* by the lowest bits of the number */
    uint64_t used_memories[RDO_KNOWN_MEMORIES / 64];  /* a bit for each that is not zero */
    const rdo_kernel *known_kernels[RDO_KNOWN_KERNELS]; /* of the holders; the same */
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

static inline rdo_known *rdo_window_known_memory(rdo_window *window, uint64_t memory_id) {
    return &window->known_memories[memory_id % RDO_KNOWN_MEMORIES];
}
/* In which modes an access to these plain bytes has nothing that must be noted, as bits of rondo_access_mode. */
static inline uint32_t rdo_known_modes(const rdo_known *known, const rdo_access *access) {
    if (known->memory_id != access->id) return 0;
    bool written = known->low == access->low && known->high == access->low + access->row_bytes;
    return written ? RONDO_READS | RONDO_WRITES : RONDO_READS;
}
static inline const rdo_kernel **rdo_window_known_kernel(rdo_window *window, const rdo_kernel *kernel) {
    return &window->known_kernels[kernel->handle % RDO_KNOWN_KERNELS];
}

/* The values that were kept last: a step often launches with the same again. NULL if there are none. */
static inline rdo_meta_block *rdo_window_last_pin(const rdo_window *window) {
    return window->pins.count != 0 ? window->pins.blocks[window->pins.count - 1] : NULL;
}

/* The two below, for what is not known. */
bool rdo_window_record_new(rdo_window *window, rdo_memory *memory, uint64_t low, uint64_t high);
bool rdo_window_touch_new(rdo_window *window, uint64_t stream_id, rdo_page *page, uint32_t slice);

/* What a recorded operation writes, as keys that hold nothing [C4]. Device lock held. */
static inline bool rdo_window_record(rdo_window *window, rdo_memory *memory, uint64_t low, uint64_t high) {
    const rdo_known *known = rdo_window_known_memory(window, memory->id);
    bool again = known->memory_id == memory->id && known->low == low && known->high == high;
    return again || rdo_window_record_new(window, memory, low, high);
}
/* That a recorded operation was given bytes of this slice, of memory of `stream_id` [C5]. Device lock held. A slice
 * from outside the window is guarded from now on; one of the window itself is marked, so that the owner may still
 * reuse it. */
static inline bool rdo_window_touch(rdo_window *window, uint64_t stream_id, rdo_page *page, uint32_t slice) {
    bool known = page != NULL && page->slices[slice].noted == window->id;
    return known || rdo_window_touch_new(window, stream_id, page, slice);
}
/* The same by allocation, which is known from then on. */
static inline bool rdo_window_touch_memory(rdo_window *window, const rdo_access *access) {
    rdo_known *known = rdo_window_known_memory(window, access->id);
    if (known->memory_id == access->id) return true;
    if (!rdo_window_touch(window, access->memory->home_stream_id, access->page, access->slice)) return false;
    window->used_memories[access->id % RDO_KNOWN_MEMORIES / 64] |= UINT64_C(1) << access->id % 64;
    *known = (rdo_known){.memory_id = access->id, .low = 1};
    return true;
}
/* Holds staging of the warm-up until begin [C6]. Takes over the caller's reference if true. */
bool rdo_window_prime(rdo_window *window, rdo_memory *staging);
/* Host bytes that live with the window, then with the graph [C7]. Takes over the caller's reference if true. */
bool rdo_window_retain(rdo_window *window, rdo_memory *staging);
/* Notes a reservation, or a release (size RDO_NOTE_RELEASE), of the owner's warm-up [C6]. */
void rdo_window_note(rdo_window *window, const rdo_request *request, uint64_t memory_id);
/* Dooms the window; the first failure wins [C8]. */
void rdo_window_fail(rdo_window *window, rondo_status failure);
/* Dooms a window that records, if work of its owner was refused where the window itself could not be told. */
static inline void rdo_window_note_refusal(rdo_window *window) {
    rondo_status refused = atomic_load(&window->life.refused);
    if (RDO_UNLIKELY(refused != RONDO_OK)) rdo_window_fail(window, refused);
}

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
