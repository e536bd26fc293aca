/* Faults: the story behind a status.
 *
 * A failure is stored once, under the number that its status carries. Buffers whose bytes it
 * spoiled refer to it by that number, launches that were skipped because of it are listed under it.
 * A failure that some live allocation still carries is kept; of the others the newest 256 are.
 */
#ifndef RONDO_FAULT_H
#define RONDO_FAULT_H

#include <rondo/status.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RONDO_NAME_MAX 64    /* room for a name or label, the ending zero included */
#define RONDO_MESSAGE_MAX 384 /* room for a message, the ending zero included */
#define RONDO_NO_INDEX UINT64_MAX

/* What happened. Texts are empty where they do not apply, longer ones are cut. */
typedef struct rondo_fault {
    rondo_status status;             /* the status that was asked about */
    rondo_status root;               /* the failure that started it: itself, unless a read reports another's */
    uint64_t stream_id;              /* logical stream of the operation, 0 if none */
    uint64_t op_index;               /* index in the window or graph, else RONDO_NO_INDEX */
    uint64_t carriers;               /* allocations that carry the root failure now */
    uint64_t skips;                  /* launches skipped because of the root failure, all counted */
    uint32_t chain_length;           /* entries of rondo_fault_chain for this status */
    uint32_t chain_dropped;          /* skips that are no longer kept */
    char operation[RONDO_NAME_MAX];  /* the public call or node kind: "rondo_launch", "replay", ... */
    char kernel[RONDO_NAME_MAX];
    char label[RONDO_NAME_MAX];
    char message[RONDO_MESSAGE_MAX]; /* one line for a person, names included */
} rondo_fault;

/* One operation that did not run because its input was spoiled. */
typedef struct rondo_skip {
    uint64_t stream_id;
    uint64_t needed;                 /* memory id of the spoiled input, 0 if it could not be noted for want of memory */
    uint64_t produced;               /* memory id of the output that it therefore spoiled, 0 if none */
    char operation[RONDO_NAME_MAX];
    char kernel[RONDO_NAME_MAX];
    char label[RONDO_NAME_MAX];
} rondo_skip;

/* Tells the story of a status. [E1] It is this status's own story or none at all.
 *
 * Owner    *out_fault is the caller's, filled by value.
 * Threads  any, also from kernels and host calls, also when no device is open.
 * Errors   INVALID  out_fault is null, or status is RONDO_OK
 *          STALE    the story is no longer kept (or never was); *out_fault is zeroed but for the status */
RONDO_API rondo_status rondo_fault_get(rondo_status status, rondo_fault *out_fault);

/* The skipped operations that lead from what was read back to the root, nearest first [T7]. For a
 * status that is not of a read: the newest skips that the failure caused (at most 16 are kept).
 *
 * Returns  how many were written to `out_skips` (at most `capacity`).
 * Threads  any. Errors   none: an unknown status has an empty chain. */
RONDO_API size_t rondo_fault_chain(rondo_status status, rondo_skip *out_skips, size_t capacity);

/* Writes the whole story as text, several lines, always ended by a zero if size_bytes > 0.
 *
 * Returns  the length that the whole text has, so that a second call can bring a bigger buffer.
 * Threads  any. Errors   none: an unknown status says that its story is no longer kept. */
RONDO_API size_t rondo_fault_describe(rondo_status status, char *text, size_t size_bytes);

/* The failure that started it all. For a failed read, a skipped launch or a doomed window that is the first
 * failure's own status, otherwise `status` itself.
 *
 * Threads  any. Errors   none. */
RONDO_API rondo_status rondo_fault_root(rondo_status status);

/* How many failures some live allocation carries now, in the whole process. 0 when nothing is spoiled. */
RONDO_API uint64_t rondo_fault_live_count(void);

#ifdef __cplusplus
}
#endif
#endif
