#include "base/arena.h"

#include <string.h>

#include "base/alloc.h"

enum { FIRST_BLOCK_BYTES = 4096, LARGEST_BLOCK_BYTES = 1 << 20, KEPT_BLOCK_BYTES = 8192, ALIGNMENT_BYTES = 16 };

typedef struct rdo_arena_block {
    struct rdo_arena_block *next;
    uint64_t padding; /* keeps the bytes that follow on a multiple of 16 */
} rdo_arena_block;

static size_t next_block_bytes(const rdo_arena *arena, size_t need) {
    size_t size = arena->size != 0 ? arena->size * 2 : FIRST_BLOCK_BYTES;
    if (size > LARGEST_BLOCK_BYTES) size = LARGEST_BLOCK_BYTES;
    return size > need ? size : need;
}

void *rdo_arena_take(rdo_arena *arena, size_t size_bytes) {
    if (size_bytes > SIZE_MAX / 2) return NULL;
    size_t need = (size_bytes + ALIGNMENT_BYTES - 1) & ~(size_t)(ALIGNMENT_BYTES - 1);
    if (arena->blocks == NULL || arena->size - arena->used < need) {
        size_t size = next_block_bytes(arena, need);
        rdo_arena_block *block = rdo_alloc(sizeof *block + size);
        if (block == NULL) return NULL;
        block->next = arena->blocks;
        arena->blocks = block;
        arena->size = size;
        arena->used = 0;
    }
    char *place = (char *)(arena->blocks + 1) + arena->used;
    arena->used += need;
    return place;
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
    if (arena->blocks != NULL) {
        free_blocks(arena->blocks->next);
        arena->blocks->next = NULL;
    }
    arena->used = 0;
}
