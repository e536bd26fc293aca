/* Checking arguments: alive, of this device, in range, aligned, not overlapping where they must not. */
#ifndef RDO_OP_ARGS_H
#define RDO_OP_ARGS_H

#include "op/op.h"

/* What a span may name. */
typedef enum rdo_span_kind { RDO_SPAN_DEVICE = 1, RDO_SPAN_HOST = 2, RDO_SPAN_ANY = 3 } rdo_span_kind;

/* Finds what `span` names and makes it an access. `what` names it in messages ("target", "argument 'x'"). `own` is the
 * caller's store, whose queue's lock is held; NULL: the device lock is held.
 *
 * Errors   STALE, FOREIGN (not of `books`), INVALID (not of the kind wanted), RANGE. */
rondo_status rdo_args_access(const rdo_where *where, rdo_books *books, const rdo_store *own, rondo_span span,
                             rdo_span_kind kind, uint32_t mode, const char *what, rdo_access *out_access);

/* Turns the arguments of a launch into accesses and values of `op`, whose kernel and grid are set; `accesses` and
 * `values` have room for the kernel's parameters. On failure op->accesses still holds those arguments that were good.
 *
 * Errors   as rdo_args_access; INVALID (count, kind, value size, alignment), RANGE (grid), ALIASED [W8] */
rondo_status rdo_args_launch(const rdo_where *where, rdo_books *books, const rdo_store *own, rdo_op *op,
                             const rondo_arg *args, size_t arg_count, rdo_access *accesses, const void **values);

/* Whether two accesses share a byte. */
bool rdo_args_overlap(const rdo_access *a, const rdo_access *b);

/* Refuses a launch of which two arguments overlap, one written, without leave [W8]. */
rondo_status rdo_args_check_alias(const rdo_where *where, const rdo_op *op);

#endif
