#include "base/arena.h"

#include <string.h>

#include "base/alloc.h"

/* With their heads. */
enum { FIRST_BLOCK_BYTES = 4096, LARGEST_BLOCK_BYTES = 16 << 20, KEPT_BLOCK_BYTES = 8192 };

typedef struct rdo_arena_block {
    struct rdo_arena_block *next;
    uint64_t padding; /* keeps the bytes that follow on a multiple of 16 */
} rdo_arena_block;

/* With its head: room for `need`, and twice as much as the last block had, up to a limit. A power of two, so that a
 * large block fills the huge pages that it lies on. */
static size_t next_block_bytes(const rdo_arena *arena, size_t need) {
    size_t bytes = FIRST_BLOCK_BYTES;
    while (bytes < LARGEST_BLOCK_BYTES && bytes <= arena->size + sizeof(rdo_arena_block)) bytes *= 2;
    while (bytes < need + sizeof(rdo_arena_block)) bytes *= 2;
    return bytes;
}

void *rdo_arena_take_new(rdo_arena *arena, size_t size_bytes) {
    if (size_bytes > SIZE_MAX / 4) return NULL;
    size_t bytes = next_block_bytes(arena, rdo_arena_padded(size_bytes));
    rdo_arena_block *block = rdo_alloc_large(bytes);
    if (block == NULL) return NULL;
    block->next = arena->blocks;
    size_t size = bytes - sizeof *block;
    *arena = (rdo_arena){block, (char *)(block + 1), size, size};
    return rdo_arena_take(arena, size_bytes);
}

void *rdo_arena_copy(rdo_arena *arena, const void *data, size_t size_bytes) {
    void *copy = rdo_arena_take(arena, size_bytes);
    if (copy != NULL && size_bytes != 0) memcpy(copy, data, size_bytes);
    return copy;
}

static void free_blocks(rdo_arena_block *block) {
    while (block != NULL) {
        rdo_arena_block *next = block->next;
        rdo_free(block);
        block = next;
    }
}

void rdo_arena_clear(rdo_arena *arena) {
    free_blocks(arena->blocks);
    *arena = (rdo_arena){0};
}

void rdo_arena_reset(rdo_arena *arena) {
    if (arena->size > KEPT_BLOCK_BYTES) {
        rdo_arena_clear(arena);
        return;
    }
    if (arena->blocks == NULL) return;
    free_blocks(arena->blocks->next);
    arena->blocks->next = NULL;
    arena->next = (char *)(arena->blocks + 1);
    arena->left = arena->size;
}
