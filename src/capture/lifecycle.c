#include "capture/lifecycle.h"

#include "base/check.h"

void rdo_captures_init(rdo_captures *captures) {
    *captures = (rdo_captures){.lock = RDO_LOCK_INIT(RDO_RANK_LEAF)};
}

bool rdo_captures_phase(rdo_captures *captures, uint64_t stream_id, bool *out_recording) {
    bool found = false;
    *out_recording = false;
    if (atomic_load_explicit(&captures->active, memory_order_acquire) == 0) return false;
    rdo_lock_take(&captures->lock);
    for (const rdo_lifecycle *life = captures->list; life != NULL; life = life->next) {
        if (life->owner != stream_id) continue;
        found = true;
        *out_recording = *out_recording || life->phase == RONDO_PHASE_RECORDING;
    }
    rdo_lock_give(&captures->lock);
    return found;
}

void rdo_captures_refused(rdo_captures *captures, uint64_t stream_id, rondo_status refusal) {
    if (!rdo_captures_any_recording(captures)) return;
    rdo_lock_take(&captures->lock);
    for (rdo_lifecycle *life = captures->list; life != NULL; life = life->next) {
        bool meant = life->owner == stream_id && life->phase == RONDO_PHASE_RECORDING;
        if (meant && atomic_load(&life->refused) == RONDO_OK) atomic_store(&life->refused, refusal);
    }
    rdo_lock_give(&captures->lock);
}

bool rdo_captures_is_capturing(rdo_captures *captures, uint64_t stream_id) {
    bool recording;
    return rdo_captures_phase(captures, stream_id, &recording);
}

static void recount(rdo_captures *captures) {
    uint32_t active = 0, recording = 0;
    for (const rdo_lifecycle *life = captures->list; life != NULL; life = life->next) {
        active++;
        recording += life->phase == RONDO_PHASE_RECORDING;
    }
    atomic_store_explicit(&captures->active, active, memory_order_release);
    atomic_store_explicit(&captures->recording, recording, memory_order_release);
}

/* The one place where a phase changes, so that the device's list and counts always follow. */
static void go(rdo_lifecycle *life, rondo_phase phase, uint64_t owner) {
    rdo_captures *device = life->device;
    rdo_lock_take(&device->lock);
    RDO_ASSERT(life->phase != phase);
    if (life->phase == RONDO_PHASE_NONE) {
        life->next = device->list;
        device->list = life;
    } else if (phase == RONDO_PHASE_NONE) {
        rdo_lifecycle **link = &device->list;
        while (*link != life) link = &(*link)->next;
        *link = life->next;
        life->next = NULL;
    }
    life->phase = phase;
    life->owner = owner;
    atomic_store(&life->refused, RONDO_OK);
    recount(device);
    rdo_lock_give(&device->lock);
    RDO_ASSERT(rdo_lifecycle_check(life));
}

void rdo_lifecycle_init(rdo_lifecycle *life, rdo_captures *device) {
    *life = (rdo_lifecycle){.device = device};
}

const char *rdo_lifecycle_prepare(rdo_lifecycle *life, uint64_t owner) {
    if (life->phase == RONDO_PHASE_PREPARED) return "a capture is already prepared on this queue";
    if (life->phase == RONDO_PHASE_RECORDING) return "this queue is already recording";
    go(life, RONDO_PHASE_PREPARED, owner);
    return NULL;
}

const char *rdo_lifecycle_begin(rdo_lifecycle *life) {
    if (life->phase == RONDO_PHASE_NONE) return "no capture is prepared; call rondo_capture_prepare first";
    if (life->phase == RONDO_PHASE_RECORDING) return "this queue is already recording";
    go(life, RONDO_PHASE_RECORDING, life->owner);
    return NULL;
}

const char *rdo_lifecycle_end(rdo_lifecycle *life, uint64_t caller, rdo_capture_end *out_end) {
    if (life->phase != RONDO_PHASE_RECORDING) return "nothing is recording";
    *out_end = (rdo_capture_end){life->owner, life->owner != caller};
    go(life, RONDO_PHASE_NONE, 0);
    return NULL;
}

void rdo_lifecycle_abort(rdo_lifecycle *life) {
    if (life->phase != RONDO_PHASE_NONE) go(life, RONDO_PHASE_NONE, 0);
}

bool rdo_lifecycle_check(const rdo_lifecycle *life) {
    bool listed = false;
    rdo_lock_take(&life->device->lock);
    for (const rdo_lifecycle *other = life->device->list; other != NULL; other = other->next) {
        listed = listed || other == life;
    }
    rdo_lock_give(&life->device->lock);
    return listed == (life->phase != RONDO_PHASE_NONE) && (life->owner != 0) == listed;
}
