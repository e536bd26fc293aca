/* The ledger: what went wrong, told once, for the whole process.
 *
 * A failure gets a number that is never used again. Allocations whose bytes it spoiled carry that
 * number; operations that did not run because of it are listed under it.
 *
 *   raised ──tag──► carried (live, kept however many there are)
 *     │                │ last untag
 *     └─► uncarried ◄──┘ ──► forgotten, once 256 newer ones are uncarried
 *
 * Invariants
 *  1. A number names one story for ever; after it is forgotten it names none.
 *  2. carriers of a story = allocations that carry at least one byte of it.
 *  3. A story is on the list of uncarried ones exactly while its carriers are 0.
 *  4. Raising never fails: without memory for a story, the number is minted all the same and
 *     answers "no longer kept".
 */
#ifndef RDO_FAULT_LEDGER_H
#define RDO_FAULT_LEDGER_H

#include <rondo/fault.h>

#include <stdarg.h>
#include <stdbool.h>

#include "base/lock.h"

/* Which operation a failure belongs to. Unknown texts are NULL. */
typedef struct rdo_where {
    const char *operation;
    const char *kernel;
    const char *label;
    uint64_t stream_id;
    uint64_t op_index; /* RONDO_NO_INDEX outside of windows and graphs */
} rdo_where;

#define RDO_NOWHERE(its_operation) (&(rdo_where){.operation = (its_operation), .op_index = RONDO_NO_INDEX})

/* Outputs of a skipped operation that are kept for chains. */
enum { RDO_KEPT_OUTPUTS = 8 };

/* A range of bytes of one allocation. */
typedef struct rdo_bytes {
    uint64_t memory_id, low, high;
} rdo_bytes;

/* Mints a failure. */
rondo_status rdo_fault_raise(const rdo_where *where, rondo_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Mints a report: a story of its own that points at the failure `root`. `read` are the bytes that someone wanted:
 * the chain of skips that led to them is taken down now. */
rondo_status rdo_fault_report(const rdo_where *where, rondo_code code, uint64_t root, const rdo_bytes *read,
                              const char *format, ...) __attribute__((format(printf, 5, 6)));

/* An allocation begins, or ends, to carry the failure. */
void rdo_fault_tag(uint64_t number);
void rdo_fault_untag(uint64_t number);

/* Notes that the operation at `where` was skipped because `needed` carries failure `number` [T6]. */
void rdo_fault_skipped(uint64_t number, const rdo_where *where, const rdo_bytes *needed, const rdo_bytes *produced,
                       size_t produced_count);

/* A status of another code for the same failure: what a skipped launch or a doomed window returns. */
static inline rondo_status rdo_status_of(rondo_code code, uint64_t number) {
    return (number << 16) | (uint64_t)code;
}

/* The status with which a failure was raised; code INTERNAL if its story is forgotten. */
rondo_status rdo_fault_status(uint64_t number);

/* Failures minted so far in this process; reports are not counted. */
uint64_t rdo_fault_minted(void);

/* For tests and debug builds: whether the invariants hold. */
bool rdo_ledger_check(void);

/* For forks: the lock of the ledger. */
rdo_lock *rdo_ledger_lock(void);

#endif
