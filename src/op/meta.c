#include "op/meta.h"

#include <string.h>

#define XXH_INLINE_ALL
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#include <xxhash.h>
#pragma GCC diagnostic pop

#include "base/alloc.h"
#include "base/check.h"

enum { FIRST_BUCKETS = 64 };

void rdo_meta_init(rdo_meta *meta, size_t limit) {
    *meta = (rdo_meta){.limit = limit};
}

static void list_remove(rdo_meta *meta, rdo_meta_block *block) {
    *(block->older != NULL ? &block->older->newer : &meta->oldest) = block->newer;
    *(block->newer != NULL ? &block->newer->older : &meta->newest) = block->older;
}

static void list_append(rdo_meta *meta, rdo_meta_block *block) {
    block->older = meta->newest;
    block->newer = NULL;
    *(meta->newest != NULL ? &meta->newest->newer : &meta->oldest) = block;
    meta->newest = block;
}

static void remove_block(rdo_meta *meta, rdo_meta_block *block) {
    rdo_meta_block **link = &meta->buckets[block->hash % meta->bucket_count];
    RDO_ASSERT(block->pins == 0);
    while (*link != block) link = &(*link)->bucket_next;
    *link = block->bucket_next;
    list_remove(meta, block);
    meta->entries--;
    meta->bytes -= block->size_bytes;
    rdo_free(block);
}

void rdo_meta_finish(rdo_meta *meta) {
    while (meta->oldest != NULL) {
        meta->oldest->pins = 0;
        remove_block(meta, meta->oldest);
    }
    rdo_free(meta->buckets);
    *meta = (rdo_meta){0};
}

/* Doubles the buckets when they are full. Without memory the old ones serve on, a little slower. */
static bool prepare_buckets(rdo_meta *meta) {
    if (meta->bucket_count != 0 && meta->entries < meta->bucket_count) return true;
    size_t count = meta->bucket_count != 0 ? meta->bucket_count * 2 : FIRST_BUCKETS;
    rdo_meta_block **buckets = rdo_alloc_zero(count, sizeof(rdo_meta_block *));
    if (buckets == NULL) return meta->bucket_count != 0;
    for (rdo_meta_block *block = meta->oldest; block != NULL; block = block->newer) {
        block->bucket_next = buckets[block->hash % count];
        buckets[block->hash % count] = block;
    }
    rdo_free(meta->buckets);
    meta->buckets = buckets;
    meta->bucket_count = count;
    return true;
}

static rdo_meta_block *find(const rdo_meta *meta, uint64_t hash, const void *bytes, size_t size_bytes) {
    if (meta->bucket_count == 0) return NULL;
    rdo_meta_block *block = meta->buckets[hash % meta->bucket_count];
    while (block != NULL && (block->hash != hash || block->size_bytes != size_bytes ||
                             memcmp(block->bytes, bytes, size_bytes) != 0)) {
        block = block->bucket_next;
    }
    return block;
}

/* There is a block without pins. */
static void evict_one(rdo_meta *meta) {
    rdo_meta_block *block = meta->oldest;
    while (block->pins != 0) block = block->newer;
    remove_block(meta, block);
}

static rdo_meta_block *insert(rdo_meta *meta, uint64_t hash, const void *bytes, size_t size_bytes) {
    size_t head = (sizeof(rdo_meta_block) + 15) & ~(size_t)15;
    if (!prepare_buckets(meta)) return NULL;
    rdo_meta_block *block = rdo_alloc(head + size_bytes);
    if (block == NULL) return NULL;
    *block = (rdo_meta_block){.hash = hash, .size_bytes = size_bytes, .bytes = (uint8_t *)block + head};
    memcpy(block->bytes, bytes, size_bytes);
    block->bucket_next = meta->buckets[hash % meta->bucket_count];
    meta->buckets[hash % meta->bucket_count] = block;
    list_append(meta, block);
    meta->entries++;
    meta->bytes += size_bytes;
    return block;
}

static bool pin(rdo_meta *meta, rdo_meta_block *block, rdo_meta_pins *pins) {
    if (!rdo_grow(&pins->blocks, &pins->capacity, pins->count + 1, sizeof(rdo_meta_block *))) return false;
    pins->blocks[pins->count++] = block;
    if (block->pins++ == 0) meta->pinned++;
    return true;
}

rdo_meta_block *rdo_meta_intern(rdo_meta *meta, rdo_meta_mode mode, const void *bytes, size_t size_bytes,
                                rdo_meta_pins *pins) {
    bool capture = mode == RDO_META_CAPTURE;
    if (!capture && (size_bytes > RDO_META_LARGEST_BYTES || meta->limit == 0)) return NULL;
    uint64_t hash = XXH3_64bits(bytes, size_bytes);
    rdo_meta_block *block = find(meta, hash, bytes, size_bytes);
    if (block == NULL) {
        while (!capture && meta->entries >= meta->limit && meta->entries > meta->pinned) evict_one(meta);
        block = insert(meta, hash, bytes, size_bytes);
        if (block == NULL) return NULL;
    } else {
        list_remove(meta, block);
        list_append(meta, block);
    }
    if (capture && !pin(meta, block, pins)) return NULL;
    return block;
}

static void unpin_all(rdo_meta *meta, rdo_meta_pins *pins, bool remove) {
    for (size_t i = 0; i < pins->count; i++) {
        rdo_meta_block *block = pins->blocks[i];
        RDO_ASSERT(block->pins != 0);
        if (--block->pins != 0) continue;
        meta->pinned--;
        if (remove) remove_block(meta, block);
    }
    rdo_free(pins->blocks);
    *pins = (rdo_meta_pins){0};
}

void rdo_meta_discard(rdo_meta *meta, rdo_meta_pins *pins) {
    unpin_all(meta, pins, false);
}

void rdo_meta_release(rdo_meta *meta, rdo_meta_pins *pins) {
    unpin_all(meta, pins, true);
}

void rdo_meta_clear_unpinned(rdo_meta *meta) {
    rdo_meta_block *block = meta->oldest;
    while (block != NULL) {
        rdo_meta_block *newer = block->newer;
        if (block->pins == 0) remove_block(meta, block);
        block = newer;
    }
}

bool rdo_meta_check(const rdo_meta *meta) {
    size_t entries = 0, pinned = 0;
    uint64_t bytes = 0;
    for (const rdo_meta_block *block = meta->oldest; block != NULL; block = block->newer) {
        entries++;
        pinned += block->pins != 0;
        bytes += block->size_bytes;
        if (find(meta, block->hash, block->bytes, block->size_bytes) != block) return false;
    }
    return entries == meta->entries && pinned == meta->pinned && bytes == meta->bytes;
}
