/* Reports: where memory is and what was done [M6]. Everything returns to zero when all is destroyed. */
#ifndef RONDO_STATS_H
#define RONDO_STATS_H

#include <rondo/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum rondo_pool_kind {
    RONDO_POOL_SMALL = 0,  /* small allocations sharing pages */
    RONDO_POOL_SHARED = 1, /* general allocations sharing pages, all page sizes together */
    RONDO_POOL_OWN = 2,    /* pages of one allocation */
    RONDO_POOL_HOST = 3,   /* staging and host blocks */
    RONDO_POOL_KINDS = 4
} rondo_pool_kind;

typedef struct rondo_pool_report {
    uint64_t allocations;      /* live, those that only a graph still holds included */
    uint64_t in_use_bytes;     /* asked for by live allocations */
    uint64_t padding_bytes;    /* lost to alignment in live allocations */
    uint64_t reserved_bytes;   /* pages held */
    uint64_t guarded_bytes;    /* kept in place for graphs */
    uint64_t pages;
    uint64_t peak_in_use_bytes, peak_reserved_bytes;
    uint64_t largest_bytes;    /* largest allocation ever served */
} rondo_pool_report;

/* One pool kind, over all queues of the device. Errors   INVALID, STALE, REENTRANT. Threads  any. */
RONDO_API rondo_status rondo_pool_get_report(rondo_device *device, rondo_pool_kind kind,
                                             rondo_pool_report *out_report);

typedef struct rondo_device_stats {
    uint64_t streams, kernels, events, graphs, buffers, host_blocks; /* live */
    uint64_t launches, transfers, host_calls;      /* played, replays not counted */
    uint64_t recorded;                             /* operations recorded */
    uint64_t windows_opened, graphs_sealed, windows_refused;
    uint64_t replays, replay_failures;
    uint64_t skipped;                              /* operations and nodes not run because of a spoiled input */
    uint64_t failures;                             /* work that failed while it ran: kernels, host calls, nodes */
    uint64_t run_fallbacks;                        /* rondo_run: eager though it should have replayed */
    uint64_t tainted_allocations;                  /* allocations that carry a claim now */
    uint64_t metadata_entries, metadata_bytes, metadata_pinned; /* cached parameter blocks */
} rondo_device_stats;

/* Errors   INVALID, STALE, REENTRANT. Threads  any. */
RONDO_API rondo_status rondo_device_get_stats(rondo_device *device, rondo_device_stats *out_stats);

/* Which graphs keep memory of the device in place: fills at most `capacity` entries, largest first.
 * Returns  how many graphs there are. Threads  any. */
typedef struct rondo_graph_holding {
    uint64_t graph_id;
    uint64_t device_bytes, host_bytes, nodes;
} rondo_graph_holding;
RONDO_API size_t rondo_device_list_graphs(rondo_device *device, rondo_graph_holding *out_entries, size_t capacity);

#ifdef __cplusplus
}
#endif
#endif
