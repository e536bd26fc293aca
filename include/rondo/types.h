/* The handles and small structs that all headers share.
 *
 * Every handle is a generational number behind an opaque type: one that was released, or that never
 * was, is recognised and refused with STALE, never followed. Null handles are refused likewise,
 * except by release functions, which ignore them. A buffer may even be released by one thread while another uses it:
 * the call succeeds or says STALE. Of other objects a thread that shares one with others holds a reference of its
 * own for as long as it makes calls on it.
 */
#ifndef RONDO_TYPES_H
#define RONDO_TYPES_H

#include <stdbool.h>
#include <rondo/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rondo_device rondo_device; /* owns queues, memory, kernels; opened by name */
typedef struct rondo_stream rondo_stream; /* an ordering domain: work on it runs in order */
typedef struct rondo_kernel rondo_kernel; /* a function that runs over a grid of items */
typedef struct rondo_graph rondo_graph;   /* a sealed recording that can be replayed */
typedef struct rondo_event rondo_event;   /* a point in a stream */

/* Managed memory: device memory, or a host block (see host.h). 0 is "none". The number doubles as the memory id:
 * unique in the process and never reused. */
typedef struct rondo_buffer {
    uint64_t id;
} rondo_buffer;

/* The null buffer. */
static const rondo_buffer RONDO_NO_BUFFER = {0};

/* A slice of a buffer: bytes [offset_bytes, offset_bytes + size_bytes). Plain data; holds nothing alive. */
typedef struct rondo_span {
    rondo_buffer buffer;
    uint64_t offset_bytes;
    uint64_t size_bytes;
} rondo_span;

#define RONDO_WHOLE UINT64_MAX /* as size_bytes of a span: from its offset to the end of the buffer */

/* A span of `buffer`. Checked where it is used. */
static inline rondo_span rondo_slice(rondo_buffer buffer, uint64_t offset_bytes, uint64_t size_bytes) {
    rondo_span span;
    span.buffer = buffer;
    span.offset_bytes = offset_bytes;
    span.size_bytes = size_bytes;
    return span;
}

/* All bytes of `buffer`. */
static inline rondo_span rondo_whole(rondo_buffer buffer) {
    return rondo_slice(buffer, 0, RONDO_WHOLE);
}

/* How an operation uses bytes. INOUT is both: read, and written afterwards. */
typedef enum rondo_access_mode { RONDO_READS = 1, RONDO_WRITES = 2, RONDO_READS_WRITES = 3 } rondo_access_mode;

/* The size of a launch in items. A zero in any dimension makes the launch a legal no-op [W5]. */
typedef struct rondo_grid {
    uint64_t x, y, z;
} rondo_grid;

static inline rondo_grid rondo_grid_3d(uint64_t x, uint64_t y, uint64_t z) {
    rondo_grid grid;
    grid.x = x;
    grid.y = y;
    grid.z = z;
    return grid;
}
static inline rondo_grid rondo_grid_2d(uint64_t x, uint64_t y) {
    return rondo_grid_3d(x, y, 1);
}
static inline rondo_grid rondo_grid_1d(uint64_t x) {
    return rondo_grid_3d(x, 1, 1);
}

/* Receives text in pieces; `text` is not ended by a zero. */
typedef void (*rondo_text_fn)(void *user, const char *text, size_t length);

/* Called once, with no lock of Rondo's held, when Rondo no longer needs what `user` stands for. */
typedef void (*rondo_release_fn)(void *user);

#ifdef __cplusplus
}
#endif
#endif
