/* A loaded kernel: its description, copied, and what the backend made of it. */
#ifndef RDO_OP_KERNEL_H
#define RDO_OP_KERNEL_H

#include <string.h>

#include "memory/books.h"

typedef struct rdo_kernel {
    uint64_t handle;
    rdo_books *books;
    uint32_t refs;      /* users and recordings; under the device lock */
    uint32_t user_refs; /* of those, the users: without one the handle is dead */
    void *loaded;  /* the backend's */
    char *name;
    rondo_param *params; /* names point into this object's own memory; no alignment is 0 */
    uint32_t param_count;
    uint32_t buffer_count; /* parameters that are buffers */
    uint32_t values_bytes; /* of all value parameters, each with its room */
    bool can_fail;
} rdo_kernel;

/* Checks a description, not null, on Rondo's own rules, the same for every backend. */
rondo_status rdo_kernel_check(const rdo_where *where, const rondo_kernel_desc *desc);
/* A copy of a checked description, not yet loaded; NULL without memory. */
rdo_kernel *rdo_kernel_new(rdo_books *books, const rondo_kernel_desc *desc);
void rdo_kernel_delete(rdo_kernel *kernel);

static inline bool rdo_param_is_buffer(const rondo_param *param) {
    return param->kind != RONDO_PARAM_VALUE;
}
/* Whether a span of the buffer may start at byte `low`. */
static inline bool rdo_param_is_aligned(const rondo_param *param, uint64_t low) {
    return (low & (param->align_bytes - 1)) == 0;
}
/* How much room a value takes in a block with others, so that each starts at a multiple of 16. */
static inline uint32_t rdo_param_room(const rondo_param *param) {
    return (param->size_bytes + 15u) & ~15u;
}
/* Whether two values are the same. Most have four bytes, which memcmp would take longer to be called for. */
static inline bool rdo_value_is_same(const void *a, const void *b, size_t size_bytes) {
    uint32_t left, right;
    RDO_ASSERT(a != NULL && b != NULL);
    if (size_bytes != sizeof left) return memcmp(a, b, size_bytes) == 0;
    memcpy(&left, a, sizeof left);
    memcpy(&right, b, sizeof right);
    return left == right;
}
/* Index of the parameter called `name`, param_count if there is none. */
uint32_t rdo_kernel_find_param(const rdo_kernel *kernel, const char *name);

#endif
