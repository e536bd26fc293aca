/* Backends: for those who write one. Users of Rondo do not need this header.
 *
 * A backend is an instrument that the core plays. It allocates pages, loads kernels and runs operations
 * whose memory is resolved; order, lifetime, pools, capture, claims and errors are the core's business.
 * `src/backend/null` is the folder to copy.
 *
 * Contract
 *  1. `submit`, `launch` and `graph_submit` are never entered twice at once for the same queue; all other functions
 *     may be called from any thread at any time.
 *  2. Every place lies inside a page that `page_alloc` or `page_import` gave and that was not freed.
 *     Operations that run at the same time on different queues never touch the same bytes, unless all only read.
 *  3. Work is done, or has failed, when `submit` or `launch` returns. (Backends whose devices run behind the host
 *     wait inside; marks that let them return early come with the first such backend.)
 *  4. Neither takes host memory once a queue is warm, keeps a pointer that it was given, or ever calls Rondo
 *     back, except rondo_backend_enter_work on threads of its own.
 *  5. A failure is returned, never printed, and leaves queue and device usable, or is LOST.
 */
#ifndef RONDO_BACKEND_H
#define RONDO_BACKEND_H

#include <rondo/device.h>
#include <rondo/kernel.h>
#include <rondo/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A place in device or host memory: the backend's page and an offset in it. */
typedef struct rondo_place {
    void *page;
    uint64_t offset_bytes;
} rondo_place;

typedef enum rondo_backend_op_kind {
    RONDO_OP_LAUNCH = 1,
    RONDO_OP_FILL = 2,
    RONDO_OP_COPY = 3,    /* memmove semantics; rows and pitches for rectangles */
    RONDO_OP_WRITE = 4,   /* host pointer to place */
    RONDO_OP_READ = 5,    /* place to host pointer */
    RONDO_OP_HOST = 6     /* function on the host */
} rondo_backend_op_kind;

/* One operation, memory resolved. Only the fields of its kind mean anything. */
typedef struct rondo_backend_op {
    rondo_backend_op_kind kind;
    /* launch */
    void *kernel;              /* what kernel_load gave */
    rondo_grid grid;           /* never zero in any dimension */
    uint32_t arg_count;
    const rondo_place *places; /* per parameter; meaningful for buffers */
    const void *const *values; /* per parameter; bytes of a value parameter, else NULL */
    /* fill, copy, write, read */
    rondo_place target, source;
    void *host;                /* write: source bytes; read: target bytes */
    uint64_t size_bytes;       /* per row, never 0 */
    uint64_t rows;             /* 1 unless a rectangle */
    uint64_t target_pitch_bytes, source_pitch_bytes;
    uint8_t pattern[16];
    uint32_t pattern_bytes;
    /* host */
    int (*host_fn)(void *user);
    void *host_user;
} rondo_backend_op;

/* The nodes of a recording, which a backend asks for one by one, and as often and in what order it likes. */
typedef struct rondo_backend_nodes {
    uint64_t count;
    uint64_t arg_count;    /* of all launches together */
    const void *recording; /* for `get` */
    /* Fills `out_op` with node number `node`, below `count`. It cannot fail. `places` is lent by the caller, room for
     * RONDO_MAX_PARAMS of them; a launch's `places` are there, its `values` in the recording. */
    void (*get)(const void *recording, uint64_t node, rondo_place *places, rondo_backend_op *out_op);
} rondo_backend_nodes;

/* Which nodes of a graph must follow which, by the bytes that they touch: node n follows the nodes
 * list[first[n] .. first[n + 1]), ascending. Numbers in the list are counted from `base`: the graph's own node 0 is
 * number `base`, and smaller numbers are of nodes that have ended before the graph begins. */
typedef struct rondo_backend_edges {
    const uint64_t *first; /* one more than there are nodes */
    const uint64_t *list;
    uint64_t base;
} rondo_backend_edges;

/* How an operation or a graph ended. */
typedef enum rondo_backend_result {
    RONDO_BACKEND_DONE = 0,
    RONDO_BACKEND_FAILED = 1,     /* it ran and reported failure [W7]; `reason` is its number */
    RONDO_BACKEND_NOT_RUN = 2,    /* could not be enqueued: nothing ran */
    RONDO_BACKEND_NO_MEMORY = 3,  /* the same, for lack of host memory */
    RONDO_BACKEND_DEVICE_FULL = 4, /* page_alloc: the device is full now, retrying may help */
    RONDO_BACKEND_TOO_BIG = 5,    /* page_alloc: can never be served */
    RONDO_BACKEND_NO_SUPPORT = 6,
    RONDO_BACKEND_DEVICE_LOST = 7
} rondo_backend_result;

typedef struct rondo_backend_outcome {
    uint64_t node;    /* graph_submit: the node that failed, or that could not run */
    uint32_t reason;  /* FAILED: what the kernel or host call reported */
    char message[192]; /* the driver's words, empty if it had none */
} rondo_backend_outcome;

typedef enum rondo_page_kind { RONDO_PAGE_DEVICE = 0, RONDO_PAGE_HOST = 1 } rondo_page_kind;

/* The table. Functions marked optional may be NULL. `device` and `queue` are what open and queue_open gave. */
typedef struct rondo_backend {
    const char *name;
    uint32_t version; /* RONDO_BACKEND_VERSION */

    /* Devices. probe fills entry number `index` (name, available, reason) and returns false past the last. */
    bool (*probe)(uint32_t index, rondo_device_entry *out_entry);
    rondo_backend_result (*open)(uint32_t index, const rondo_device_desc *desc, void **out_device,
                                 rondo_backend_outcome *outcome);
    void (*close)(void *device);
    void (*info)(void *device, rondo_device_info *out_info);

    /* Memory. A host page's address is its `page` pointer plus offset; host_address gives the address of a device
     * page that the host can touch, NULL if it cannot (then map is refused). page_import is optional,
     * page_unimport goes with it. */
    rondo_backend_result (*page_alloc)(void *device, rondo_page_kind kind, uint64_t size_bytes, void **out_page);
    void (*page_free)(void *device, rondo_page_kind kind, void *page, uint64_t size_bytes);
    rondo_backend_result (*page_import)(void *device, void *data, uint64_t size_bytes, void **out_page);
    void (*page_unimport)(void *device, void *page, uint64_t size_bytes);
    void *(*host_address)(void *device, void *page);

    /* Kernels. NO_SUPPORT if the description offers nothing that this backend can run. */
    rondo_backend_result (*kernel_load)(void *device, const rondo_kernel_desc *desc, void **out_kernel,
                                        rondo_backend_outcome *outcome);
    void (*kernel_unload)(void *device, void *kernel);

    /* Queues. */
    rondo_backend_result (*queue_open)(void *device, uint32_t index, void **out_queue);
    void (*queue_close)(void *queue);
    rondo_backend_result (*submit)(void *queue, const rondo_backend_op *op, rondo_backend_outcome *outcome);
    /* Optional, for backends whose pages of both kinds are memory that begins at the `page` pointer: a launch like
     * those that `submit` runs, its arguments being addresses already. `args` has per parameter the first byte of the
     * span, or the value's bytes. The core uses it for the short way of most launches, and `submit` for the rest. */
    rondo_backend_result (*launch)(void *queue, void *kernel, const rondo_grid *grid, void *const *args,
                                   rondo_backend_outcome *outcome);

    /* Graphs, all optional together: without them the core submits the nodes one by one. graph_build copies what it
     * needs: `nodes`, what `get` gives and `edges` are there for the call and for its thread only. The bytes of values
     * stay readable where they are, kernels loaded, and what a host call's `host_user` points to as it is, until
     * graph_free. A node must run after those that `edges` name; a host call also after all nodes before it, and
     * before all after it. The rest of the order is the backend's choice.
     * graph_submit runs the nodes [first, last) with an effect as if one by one, and returns the first that fails: all
     * before it have run. Of those after it some may have run too, unless they must follow it. The core asks for
     * those it still wants, one by one and ascending; one that has run already is not run again, but ends as it did.
     * A call with `first` 0 begins anew. Never entered twice at once for the same graph.
     * graph_set_value: later submits find a launch's value parameter at `value`; never called during a submit. */
    rondo_backend_result (*graph_build)(void *device, const rondo_backend_nodes *nodes,
                                         const rondo_backend_edges *edges, void **out_graph);
    rondo_backend_result (*graph_submit)(void *queue, void *graph, uint64_t first, uint64_t last,
                                         rondo_backend_outcome *outcome);
    void (*graph_set_value)(void *graph, uint64_t node, uint32_t param, const void *value);
    void (*graph_free)(void *device, void *graph);
} rondo_backend;

#define RONDO_BACKEND_VERSION 4

/* Makes a backend known to the process, before the first device is opened by its name. `backend` must stay valid.
 * Errors   INVALID (null, another version, a required function missing), OVERLAP (name taken), CAPACITY. Threads
 * any. */
RONDO_API RONDO_MUST_CHECK rondo_status rondo_backend_register(const rondo_backend *backend);

/* Tells Rondo that this thread runs (true) or no longer runs (false) a kernel or host call, so that calls
 * from inside are refused with REENTRANT. Rondo does it for threads that call submit. */
RONDO_API void rondo_backend_enter_work(bool enter);

#ifdef __cplusplus
}
#endif
#endif
