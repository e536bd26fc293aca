/* Kernels: functions that run over a grid of items.
 *
 * A kernel knows for each of its parameters whether it is a value or a buffer, and whether a buffer
 * is read, written or both; so the read set and the write set of every launch are known without
 * asking anyone again [O7]. `rondo/kernel_lang.h` writes the description below for you from the
 * kernel's one definition; write it by hand for functions that come from elsewhere.
 */
#ifndef RONDO_KERNEL_H
#define RONDO_KERNEL_H

#include <rondo/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum rondo_param_kind {
    RONDO_PARAM_IN = 1,    /* buffer, read */
    RONDO_PARAM_OUT = 2,   /* buffer, written whole, not read */
    RONDO_PARAM_INOUT = 3, /* buffer, read and written */
    RONDO_PARAM_VALUE = 4  /* bytes passed by value */
} rondo_param_kind;

typedef struct rondo_param {
    const char *name;      /* as in the kernel's text; update and messages use it */
    rondo_param_kind kind;
    uint32_t size_bytes;   /* value: its size (1 to 4096); buffer: size of an element, 0 for bytes */
    uint32_t align_bytes;  /* a buffer's span must start at a multiple of this, 0 for 1; power of two */
    bool may_alias;        /* may overlap another argument though one of them is written [W8] */
} rondo_param;

#define RONDO_MAX_PARAMS 32

/* What the CPU backend hands to a kernel: a run of whole work groups of one launch.
 *
 * The grid is cut into groups of `group[0] x group[1] x group[2]` items (edge groups are smaller). Groups are
 * numbered x first, then y, then z; a call is to run the groups [first, last). Which calls a launch is cut into
 * never changes its result: groups may only share atomics. A kernel whose group is 0 in x has no groups: its items
 * are independent, and the call is to run the items [first, last) of row-major order, x fastest, over the whole
 * grid. */
typedef struct rondo_native_call {
    void *const *args; /* per parameter: first byte of the span, or the value's bytes */
    uint64_t grid[3];  /* items */
    uint64_t first, last;
    uint32_t *failed;  /* 0; a kernel that fails stores a non-zero number here, see rondo_native_fail */
} rondo_native_call;

typedef void (*rondo_native_fn)(const rondo_native_call *call);

/* Reports from inside a native kernel that the work failed [W7]. `reason` is any number but 0 and is shown in the
 * message; of several reports in one launch one wins. Threads  any worker. */
RONDO_API void rondo_native_fail(const rondo_native_call *call, uint32_t reason);

/* A kernel, described. Copied by rondo_kernel_create; the texts may go away afterwards. */
typedef struct rondo_kernel_desc {
    const char *name;
    const rondo_param *params;
    size_t param_count;        /* at most RONDO_MAX_PARAMS */
    uint32_t group[3];         /* items per group; x = 0: none, see rondo_native_call */
    rondo_native_fn native;    /* for the CPU; NULL if there is none */
    const char *source;        /* text for backends that compile it, NULL if none; ends with a zero */
    bool can_fail;             /* the kernel may report failure */
    uint8_t reserved[7];       /* must be zero */
} rondo_kernel_desc;

/* Loads a kernel on a device.
 *
 * Owner    *out_kernel is the caller's (one reference), NULL on failure. Graphs that use it hold it.
 * Threads  any.
 * Errors   INVALID      null or empty name, duplicate or empty parameter names, unknown kinds, a value of size 0,
 *                       alignment no power of two, group sizes 0 in y or z while x is not, reserved not zero
 *          RANGE        too many parameters, a value above 4096 bytes, a group of more than 1024 items
 *          UNSUPPORTED  the backend runs no kernels, or not from what the description offers
 *          STALE, REENTRANT, FORKED, NO_HOST_MEMORY, BACKEND */
RONDO_API RONDO_MUST_CHECK rondo_status rondo_kernel_create(rondo_device *device, const rondo_kernel_desc *desc,
                                                            rondo_kernel **out_kernel);

/* Errors   STALE. Threads  any. */
RONDO_API rondo_status rondo_kernel_retain(rondo_kernel *kernel);

/* NULL and dead handles are ignored. Threads  any, kernels and host calls too. */
RONDO_API void rondo_kernel_release(rondo_kernel *kernel);

/* The name and the number of parameters. `out_name` has room for RONDO_NAME_MAX (64) bytes.
 * Errors   INVALID, STALE. Threads  any. */
RONDO_API rondo_status rondo_kernel_get_info(rondo_kernel *kernel, char *out_name, size_t *out_param_count);

#ifdef __cplusplus
}
#endif
#endif
