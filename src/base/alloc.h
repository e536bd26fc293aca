/* The only door to the C library's allocator, so that tests can close it. */
#ifndef RDO_BASE_ALLOC_H
#define RDO_BASE_ALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RDO_HUGE_BYTES ((size_t)2 << 20)

/* NULL when there is no memory; sizes of 0 give a pointer that may be freed. */
void *rdo_alloc(size_t size_bytes);
void *rdo_alloc_zero(size_t count, size_t size_bytes);
/* The same without clearing it. */
void *rdo_alloc_many(size_t count, size_t size_bytes);
/* The same as rdo_alloc, but from RDO_HUGE_BYTES on the block lies on huge pages where the system has them. The first
 * touch of a page can cost the system more than all that is done with its bytes then; so there are fewer pages. */
void *rdo_alloc_large(size_t size_bytes);
/* Keeps the old block on failure. */
void *rdo_realloc(void *block, size_t size_bytes);
void rdo_free(void *block);

/* Makes room for `need` elements in an array that grows by doubling. False, and nothing changed, when there is
 * no memory or the size overflows. */
bool rdo_grow(void *data_pointer, size_t *capacity, size_t need, size_t element_bytes);

/* Tests only: asked before each allocation whether it shall fail. NULL removes the hook. */
void rdo_alloc_set_hook(bool (*shall_fail)(void *user), void *user);
/* Blocks that were handed out and not freed. */
uint64_t rdo_alloc_live(void);

#endif
