/* Devices: where streams, memory and kernels live.
 *
 * There is no current device. Every object knows the device that it was made on, holds it alive,
 * and mixing two devices in one call is refused with FOREIGN [O1].
 */
#ifndef RONDO_DEVICE_H
#define RONDO_DEVICE_H

#include <rondo/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How the memory of each queue is laid out [M1]. Zero means the default in brackets. */
typedef struct rondo_memory_layout {
    uint64_t small_page_bytes; /* page shared by small allocations [1 MiB] */
    uint64_t small_max_bytes;  /* largest allocation that counts as small [64 KiB] */
    uint64_t page_min_bytes;   /* first size of the general pages, grows with the largest allocation [2 MiB] */
    uint64_t page_max_bytes;   /* an allocation larger than this has a page of its own [256 MiB] */
    uint64_t small_cap_bytes;  /* caps on what each part may hold; 0: none */
    uint64_t shared_cap_bytes; /* general pages, all sizes together */
    uint64_t own_cap_bytes;    /* pages of one allocation: big, lasting and one-off memory together */
    uint64_t host_cap_bytes;   /* staging and host blocks */
} rondo_memory_layout;

/* What threads of the device's own do between two pieces of work. */
typedef enum rondo_wait_policy {
    RONDO_WAIT_BRIEFLY = 0, /* watch for the next for some ten microseconds, then sleep; woken only where it pays */
    RONDO_WAIT_SPINNING = 1 /* never sleep: a core each, for programs that must be quick after any pause */
} rondo_wait_policy;

/* Options of a device. A zeroed struct, or NULL, means all defaults. */
typedef struct rondo_device_desc {
    uint32_t max_queues;  /* real queues that logical streams fold onto, 1 to 1024 [32 on cpu] */
    uint32_t workers;     /* threads that share a large grid, the caller included [all cores] */
    bool pin_workers;     /* bind each worker thread to a core of its own */
    bool debug_fresh;     /* reading bytes that nothing ever wrote is an error; freed memory is overwritten [W9] */
    uint16_t wait_policy; /* a rondo_wait_policy [RONDO_WAIT_BRIEFLY] */
    uint32_t reserved_32; /* must be zero */
    rondo_memory_layout memory;
    uint64_t reserved[4]; /* must be zero */
} rondo_device_desc;

/* What a device is. */
typedef struct rondo_device_info {
    char backend[64];
    char name[128];
    char driver[64];
    uint64_t memory_bytes;     /* memory of the device, 0 if unknown */
    uint64_t alignment_bytes;  /* alignment of every allocation, a power of two */
    uint32_t max_queues;
    uint32_t workers;
    bool native_graphs;        /* the backend has graphs of its own; else Rondo replays the recording */
    bool kernels;              /* the backend can run kernels at all */
    char graphs[96];           /* how replays run now, where there is more than one way; else empty */
} rondo_device_info;

/* A device that could be opened, or the reason why it cannot. */
typedef struct rondo_device_entry {
    char name[64];     /* what rondo_device_open takes: "cpu", "null", ... */
    bool available;
    char reason[256];  /* why not, and what to install; empty if available */
} rondo_device_entry;

/* Lists the devices of all backends that this build has.
 *
 * Returns  how many there are; the first `capacity` are written to `out_entries` (may be NULL if 0).
 * Threads  any. Errors   none. */
RONDO_API size_t rondo_device_list(rondo_device_entry *out_entries, size_t capacity);

/* Opens a device by name: "cpu", "null", or "BACKEND:NUMBER". `desc` may be NULL.
 *
 * Owner    *out_device is the caller's (one reference), NULL on failure.
 * Threads  any.
 * Errors   INVALID      name or out_device is null, a reserved field is not zero, a size is not usable
 *          RANGE        max_queues or workers is out of range, or there is no such wait_policy
 *          UNAVAILABLE  no such backend, or no such device: the message lists what there is
 *          NO_HOST_MEMORY, BACKEND */
RONDO_API RONDO_MUST_CHECK rondo_status rondo_device_open(const char *name, const rondo_device_desc *desc,
                                                          rondo_device **out_device);

/* Adds a reference. Threads  any. Errors   STALE. */
RONDO_API rondo_status rondo_device_retain(rondo_device *device);

/* Gives a reference back; the device closes when nothing made on it is left either. NULL and dead
 * handles are ignored. Never waits for work of other threads. Threads  any, kernels and host calls too. */
RONDO_API void rondo_device_release(rondo_device *device);

/* Describes the device. Threads  any. Errors   INVALID, STALE, REENTRANT, FORKED. */
RONDO_API rondo_status rondo_device_get_info(rondo_device *device, rondo_device_info *out_info);

/* Waits until no work is left on any stream of the device and returns the first failure since the
 * last such wait that no stream's sync has returned yet.
 *
 * Threads  any. Errors   STALE, REENTRANT, FORKED, FORBIDDEN (a stream of the device records),
 *          or the first failure [W7]. */
RONDO_API RONDO_MUST_CHECK rondo_status rondo_device_sync(rondo_device *device);

/* Gives back all memory that nothing needs: empties outdated pages, releases empty ones, drops
 * unpinned metadata. While a stream records it is accepted and takes effect when the last window
 * closes [C16]. What graphs hold stays; `out_kept_bytes` (may be NULL) says how much could not go.
 *
 * Threads  any. Errors   STALE, REENTRANT, FORKED. */
RONDO_API rondo_status rondo_device_trim(rondo_device *device, uint64_t *out_kept_bytes);

/* Whether any stream of the device records a window right now [C17]. One atomic load; false for a
 * dead handle. Threads  any, kernels and host calls too. */
RONDO_API bool rondo_device_is_recording(rondo_device *device);

#ifdef __cplusplus
}
#endif
#endif
