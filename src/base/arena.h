/* Bump memory for one recording: many small pieces, all freed at once. */
#ifndef RDO_BASE_ARENA_H
#define RDO_BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

enum { RDO_ARENA_ALIGN_BYTES = 16 };

typedef struct rdo_arena {
    struct rdo_arena_block *blocks; /* newest first */
    char *next;                     /* of the newest block: what is still free, NULL if there is no block */
    size_t left, size;              /* how much of it that is, and of how much; multiples of 16 */
} rdo_arena;

static inline size_t rdo_arena_padded(size_t size_bytes) {
    return (size_bytes + RDO_ARENA_ALIGN_BYTES - 1) & ~(size_t)(RDO_ARENA_ALIGN_BYTES - 1);
}

/* The same as rdo_arena_take, from a new block. */
void *rdo_arena_take_new(rdo_arena *arena, size_t size_bytes);

/* `size_bytes` of memory aligned to 16 bytes, NULL if there is none. A zeroed arena is an empty one. */
static inline void *rdo_arena_take(rdo_arena *arena, size_t size_bytes) {
    char *place = arena->next;
    if (size_bytes > arena->left || place == NULL) return rdo_arena_take_new(arena, size_bytes);
    arena->next = place + rdo_arena_padded(size_bytes);
    arena->left -= rdo_arena_padded(size_bytes);
    return place;
}
/* Gives back what was taken last. */
static inline void rdo_arena_untake(rdo_arena *arena, void *place, size_t size_bytes) {
    arena->next = place;
    arena->left += rdo_arena_padded(size_bytes);
}
/* A copy of `size_bytes` at `data`; NULL if there is no memory. */
void *rdo_arena_copy(rdo_arena *arena, const void *data, size_t size_bytes);
/* Frees everything; the arena can be used again. */
void rdo_arena_clear(rdo_arena *arena);
/* The same, but keeps a block that is not large, so that filling the arena again takes no memory. */
void rdo_arena_reset(rdo_arena *arena);

#endif
