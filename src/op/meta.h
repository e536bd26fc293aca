/* The metadata cache: small read-only parameter blocks, one copy per content [M8].
 *
 * A window pins each block that it uses; the pins become the graph's when it seals, and are dropped when it does not.
 *
 *   stored (pins 0) ◄──discard── pinned by a window ──commit──► pinned by graphs ──last release──► removed
 *        │  ▲
 *        └──┘ evicted, least recently used first, when a normal insertion needs the room
 *
 * Invariants
 *  1. A block with pins is neither evicted nor moved.
 *  2. entries <= limit in normal mode, unless all are pinned.
 */
#ifndef RDO_OP_META_H
#define RDO_OP_META_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum rdo_meta_mode { RDO_META_NORMAL = 0, RDO_META_CAPTURE = 1 } rdo_meta_mode;

enum { RDO_META_ENTRIES = 4096, RDO_META_LARGEST_BYTES = 2048 };

typedef struct rdo_meta_block {
    struct rdo_meta_block *bucket_next;
    struct rdo_meta_block *older, *newer; /* by last use */
    uint64_t hash;
    uint64_t pins;
    size_t size_bytes;
    uint8_t *bytes; /* 16-byte aligned */
} rdo_meta_block;

/* The blocks that one window, then one graph, has pinned; a block as often as it was pinned. */
typedef struct rdo_meta_pins {
    rdo_meta_block **blocks;
    size_t count, capacity;
} rdo_meta_pins;

typedef struct rdo_meta {
    rdo_meta_block **buckets;
    size_t bucket_count;
    rdo_meta_block *oldest, *newest;
    size_t entries, limit, pinned;
    uint64_t bytes;
} rdo_meta;

/* A cache of at most `limit` unpinned entries; 0 stores nothing in normal mode. */
void rdo_meta_init(rdo_meta *meta, size_t limit);
void rdo_meta_finish(rdo_meta *meta);

/* The block with exactly these bytes, made if need be. In normal mode NULL also means: not worth keeping (too large, or
 * the limit is 0). In capture mode it is pinned once more, on behalf of `pins`; NULL means that there is no memory. */
rdo_meta_block *rdo_meta_intern(rdo_meta *meta, rdo_meta_mode mode, const void *bytes, size_t size_bytes,
                                rdo_meta_pins *pins);

/* A window that did not seal: its blocks stay, unpinned [C9]. */
void rdo_meta_discard(rdo_meta *meta, rdo_meta_pins *pins);
/* The end of a graph: blocks that no other graph or window pins are removed. */
void rdo_meta_release(rdo_meta *meta, rdo_meta_pins *pins);
/* Drops every block without pins. */
void rdo_meta_clear_unpinned(rdo_meta *meta);

bool rdo_meta_check(const rdo_meta *meta);

#endif
