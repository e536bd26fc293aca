/* The op: one unit of work. A stream plays it, a window keeps it, a graph repeats it.
 *
 * An op's accesses say which bytes of which allocations it reads and writes. They are found once, when the
 * operation is issued, and everything else follows from them: order, claims, guards, live-in, edges.
 */
#ifndef RDO_OP_OP_H
#define RDO_OP_OP_H

#include <rondo/graph.h>
#include <rondo/host.h>
#include <rondo/stream.h>

#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "memory/page.h"
#include "op/kernel.h"

enum { RDO_MAX_ACCESSES = 64 };

/* Bytes of one allocation that an op touches: `rows` rows of `row_bytes`, `pitch` apart. Recordings keep many. */
typedef struct rdo_access {
    rdo_memory *memory; /* its record; a recorded op may outlive it, then the record's id is another */
    uint64_t id;        /* the buffer's number, as it was given */
    uint64_t low;       /* first byte, relative to the allocation */
    uint64_t row_bytes; /* 0: nothing */
    uint64_t rows, pitch;
    uint8_t mode;       /* rondo_access_mode */
    bool host;
    uint16_t param;     /* a launch: index of the parameter */
    /* Where the allocation is, copied from the record. It holds for memory at home on the caller's own queue,
     * whose lock keeps it in place; for other memory only from rdo_op_locate on. */
    uint32_t slice;
    rdo_page *page;     /* NULL: an allocation of no bytes */
    uint64_t address;   /* of the allocation's first byte in the device's flat address space; 0 if it has no bytes */
} rdo_access;

/* One past the last byte. */
static inline uint64_t rdo_access_high(const rdo_access *access) {
    return access->row_bytes == 0 ? access->low : access->low + (access->rows - 1) * access->pitch + access->row_bytes;
}
static inline bool rdo_access_reads(const rdo_access *access) {
    return (access->mode & RONDO_READS) != 0;
}
static inline bool rdo_access_writes(const rdo_access *access) {
    return (access->mode & RONDO_WRITES) != 0;
}

static inline rondo_place rdo_access_place(const rdo_access *access) {
    const rdo_page *page = access->page;
    if (page == NULL) return (rondo_place){0};
    return (rondo_place){page->handle, access->address - page->address + access->low};
}
/* Pages never change hands; an allocation of no bytes has only its record to ask. */
static inline rdo_store *rdo_access_home(const rdo_access *access) {
    return access->page != NULL ? access->page->store
                                : atomic_load_explicit(&access->memory->home, memory_order_relaxed);
}

struct rdo_event;

/* What a host call runs; shared by the op and its recordings. */
typedef struct rdo_host_work {
    rondo_host_fn fn;
    void *user;
    rdo_callback *due; /* NULL if the user gave no release function */
    uint32_t refs;     /* under the device lock */
} rdo_host_work;

/* A host call, resolved: what the backend runs through rdo_host_run. */
typedef struct rdo_host_frame {
    rondo_host_fn fn;
    void *user;
    size_t count;
    rondo_host_access accesses[];
} rdo_host_frame;

typedef struct rdo_op {
    rondo_node_kind kind;
    uint32_t access_count;
    rdo_access *accesses;
    const char *label; /* NULL if none */
    union {            /* by kind; a copy has nothing */
        struct {       /* launch */
            rdo_kernel *kernel;
            const void **values; /* per parameter: bytes of a value, NULL for buffers */
            rondo_grid grid;
            uint32_t own_values; /* a bit per parameter whose bytes an update has made the node's own */
        };
        struct { /* fill */
            uint8_t pattern[16];
            uint32_t pattern_bytes;
        };
        struct { /* write: the source; a snapshot's bytes lie in a staging block once the op is recorded */
            const void *bytes;
            rdo_memory *staging;
        };
        rdo_host_work *host;     /* host call */
        struct rdo_event *event; /* event record, event wait */
    };
} rdo_op;

static inline bool rdo_op_is_event(const rdo_op *op) {
    return op->kind == RONDO_NODE_EVENT_RECORD || op->kind == RONDO_NODE_EVENT_WAIT;
}

/* "rondo_launch", "rondo_fill", ...: the public call that issues this kind. */
const char *rdo_op_call(rondo_node_kind kind);
/* "launch", "fill", ...: for dumps. */
const char *rdo_op_name(rondo_node_kind kind);

/* Whether the op would do nothing at all [W5]. */
bool rdo_op_is_nothing(const rdo_op *op);

static inline size_t rdo_op_bytes(uint32_t access_count, uint32_t value_count) {
    return sizeof(rdo_op) + access_count * sizeof(rdo_access) + value_count * sizeof(void *);
}

/* An op in `arena` with room for its accesses and, if it is a launch, for `value_count` values; no label, and the rest
 * is up to the caller. It is one piece: what is played together lies together. NULL without memory. */
static inline rdo_op *rdo_op_new(rdo_arena *arena, rondo_node_kind kind, uint32_t access_count, uint32_t value_count) {
    rdo_op *op = rdo_arena_take(arena, rdo_op_bytes(access_count, value_count));
    if (RDO_UNLIKELY(op == NULL)) return NULL;
    op->kind = kind;
    op->access_count = access_count;
    op->accesses = (rdo_access *)(op + 1);
    op->label = NULL;
    if (kind == RONDO_NODE_LAUNCH) op->values = (const void **)(void *)(op->accesses + access_count);
    return op;
}
/* Gives it the label, which may be NULL, copied. False without memory. */
static inline bool rdo_op_set_label(rdo_arena *arena, rdo_op *op, const char *label) {
    op->label = label != NULL ? rdo_arena_copy(arena, label, strlen(label) + 1) : NULL;
    return label == NULL || op->label != NULL;
}
/* A copy of the op, and of everything it points to but objects with counts of their own, in `arena`; NULL
 * without memory. Value bytes are not copied: the caller puts them where it wants them. */
rdo_op *rdo_op_copy(rdo_arena *arena, const rdo_op *op);

/* Copies from the record where the allocation is. */
static inline void rdo_access_locate(rdo_access *access) {
    const rdo_memory *memory = access->memory;
    access->page = memory->page;
    access->slice = memory->slice;
    access->address = memory->address;
    access->host = memory->host;
}

/* An access to plain bytes of a record, located as of now. */
static inline void rdo_access_fill(rdo_access *access, rdo_memory *memory, uint64_t id, uint64_t low, uint64_t size,
                                   uint32_t mode) {
    access->memory = memory;
    access->id = id;
    access->low = low;
    access->row_bytes = access->pitch = size;
    access->rows = 1;
    access->mode = (uint8_t)mode;
    access->param = 0;
    rdo_access_locate(access);
}

/* Notes where the memory of each access is. From now on it must stay there: the caller holds the home queue's
 * lock, or has counted a use, or guards it. */
void rdo_op_locate(rdo_op *op);

/* Fills the frame of a located host call; there is room for its accesses. */
void rdo_op_fill_frame(const rdo_op *op, rdo_host_frame *frame);
/* Fills `out` for a located op; `places` has room for the kernel's parameters, and a host call's frame is filled
 * already. Not for events. */
void rdo_op_resolve(const rdo_op *op, rondo_backend_op *out, rondo_place *places, rdo_host_frame *frame);
/* The same for a launch. The fields of other kinds mean nothing, so they are not even cleared. */
static inline void rdo_op_resolve_launch(const rdo_op *op, rondo_backend_op *out, rondo_place *places) {
    out->kind = RONDO_OP_LAUNCH;
    out->kernel = op->kernel->loaded;
    out->grid = op->grid;
    out->arg_count = op->kernel->param_count;
    out->places = places;
    out->values = op->values;
    RDO_ASSERT(places != NULL || op->access_count == 0);
    for (uint32_t i = 0; i < op->access_count; i++) {
        places[op->accesses[i].param] = rdo_access_place(&op->accesses[i]);
    }
}
static inline size_t rdo_host_frame_bytes(const rdo_op *op) {
    return sizeof(rdo_host_frame) + op->access_count * sizeof(rondo_host_access);
}

/* Where the op belongs, for messages. */
rdo_where rdo_op_where(const rdo_op *op, uint64_t stream_id, uint64_t op_index);

#endif
