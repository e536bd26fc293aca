/* The backend `sim`: a device for tests of your own, on which every call can be made to fail.
 *
 * `sim` runs native kernels and host functions on the caller's thread, as `cpu` does, and its memory is the process's
 * own. It does exactly what it is told to: a rule says which call of which kind fails, and how. So a test can see
 * what your program does when memory runs out in the third launch, when a kernel fails in the middle of a replay, or
 * when the device is lost for good. Rules and counts are shared by all `sim` devices of the process.
 *
 * What it does not do: work is done when a call of the backend returns, so there is no order of completion to choose.
 */
#ifndef RONDO_SIM_H
#define RONDO_SIM_H

#include <rondo/backend.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The calls of a backend that can fail, see backend.h. */
typedef enum rondo_sim_call {
    RONDO_SIM_ANY = 0, /* all of them, counted together */
    RONDO_SIM_DEVICE_OPEN = 1,
    RONDO_SIM_PAGE_ALLOC = 2,
    RONDO_SIM_PAGE_IMPORT = 3,
    RONDO_SIM_KERNEL_LOAD = 4,
    RONDO_SIM_QUEUE_OPEN = 5,
    RONDO_SIM_SUBMIT = 6, /* one operation, not part of a replay */
    RONDO_SIM_GRAPH_BUILD = 7,
    RONDO_SIM_GRAPH_SUBMIT = 8, /* a replay, or a part of it between two events or after a failed node */
    RONDO_SIM_CALLS = 9
} rondo_sim_call;

/* A rule: which calls fail, and how. */
typedef struct rondo_sim_fault {
    rondo_sim_call call;
    rondo_backend_result result; /* what they return; not DONE */
    uint64_t nth;                /* the first that fails: 1 is the next such call */
    uint64_t count;              /* how many fail, 0: all from then on */
    uint64_t node;               /* graph_submit: nodes that run before it fails; at most all but the last */
    uint32_t reason;             /* FAILED: what the work reports, not 0; the work itself has run */
    uint32_t reserved;           /* must be zero */
} rondo_sim_fault;

#define RONDO_SIM_MAX_FAULTS 16

/* Adds a rule. Where several apply to one call, the oldest decides.
 * Returns  false, and nothing changed, for a rule that makes no sense, or when there are RONDO_SIM_MAX_FAULTS that have
 *          not run out. Threads  any, kernels and host calls too. */
RONDO_API RONDO_MUST_CHECK bool rondo_sim_fail(const rondo_sim_fault *fault);

/* What `sim` devices were asked for since the process started or rondo_sim_reset. */
typedef struct rondo_sim_counts {
    uint64_t calls[RONDO_SIM_CALLS]; /* by kind, those that failed included; [RONDO_SIM_ANY] is their sum */
    uint64_t failed;                 /* calls that a rule made fail */
    uint64_t fresh_bytes_read;       /* bytes of device memory read back though nothing had ever written them */
} rondo_sim_counts;

/* Writes the counts. A byte counts as written when a fill, a copy of written bytes or a write covered it, or when it
 * no longer holds the value that pages are born with (kernels and host calls do not say what they wrote). Memory that
 * Rondo hands out a second time has been written. Threads  any, kernels and host calls too. */
RONDO_API void rondo_sim_get_counts(rondo_sim_counts *out_counts);

/* Drops all rules and sets all counts to zero. Threads  any, kernels and host calls too. */
RONDO_API void rondo_sim_reset(void);

#ifdef __cplusplus
}
#endif
#endif
