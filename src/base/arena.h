/* Bump memory for one recording: many small pieces, all freed at once. */
#ifndef RDO_BASE_ARENA_H
#define RDO_BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

typedef struct rdo_arena {
    struct rdo_arena_block *blocks; /* newest first */
    size_t used, size;              /* of the newest block */
} rdo_arena;

/* `size_bytes` of memory aligned to 16 bytes, NULL if there is none. A zeroed arena is an empty one. */
void *rdo_arena_take(rdo_arena *arena, size_t size_bytes);
/* A copy of `size_bytes` at `data`; NULL if there is no memory. */
void *rdo_arena_copy(rdo_arena *arena, const void *data, size_t size_bytes);
/* Frees everything; the arena can be used again. */
void rdo_arena_clear(rdo_arena *arena);
/* The same, but keeps a block that is not large, so that filling the arena again takes no memory. */
void rdo_arena_reset(rdo_arena *arena);

#endif
