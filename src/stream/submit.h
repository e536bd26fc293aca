/* Issuing an operation: play it now, keep it in the window, or refuse it [W6]. */
#ifndef RDO_STREAM_SUBMIT_H
#define RDO_STREAM_SUBMIT_H

#include "stream/call.h"

/* Issues an op whose arguments are valid. Queue lock held. */
rondo_status rdo_issue(rdo_call *call, rdo_op *op);

/* All of rondo_launch_3d. */
rondo_status rdo_launch(const void *stream_handle, const void *kernel_handle, uint64_t x, uint64_t y, uint64_t z,
                        const rondo_arg *args, size_t arg_count, const char *label);
/* What the end of a played op means; device lock not held. */
rondo_status rdo_finish_played(rdo_call *call, const rdo_op *op, rondo_backend_result result,
                               const rondo_backend_outcome *outcome);

/* The op was refused with `status`: dooms the owner's window, claims what the op would have written as far as that is
 * known [T8], after all that was issued before it. Returns `status`. Queue lock held. */
rondo_status rdo_refuse(rdo_call *call, const rdo_op *op, rondo_status status);

/* Keeps a copy of the op in the open window, of which the caller is the owner. `settled`: its memory is at home on the
 * caller's queue, or guarded by a graph, so that it can neither end nor move meanwhile; then its buffers need not be
 * alive for users any more. Queue lock held. */
rondo_status rdo_record(rdo_call *call, const rdo_op *op, bool settled);
/* The same with an op that lies in the window's arena already and is not nothing. */
rondo_status rdo_record_placed(rdo_call *call, rdo_op *op, bool settled);
/* There was no memory for the op's place. */
rondo_status rdo_refuse_to_record(rdo_call *call, const rdo_op *op);
/* Device lock held: whether every buffer of the op is still what it was when it was looked up. */
bool rdo_op_is_alive(const rdo_op *op);

/* Device lock held: claims or releases all that an op writes. */
void rdo_claim_writes(const rdo_op *op, uint64_t failure);
void rdo_release_writes(const rdo_op *op);
/* Device lock held: makes sure that releasing cannot fail for lack of memory. */
bool rdo_prepare_writes(const rdo_op *op);

/* Device lock held, given up while waiting: waits for queued work on the bytes that the op touches, for whoever decides
 * about their claims, or sets some, without a ticket. */
void rdo_await_queued_slowly(rdo_engine *engine, const rdo_op *op);
static inline void rdo_await_queued(rdo_engine *engine, const rdo_op *op) {
    if (RDO_UNLIKELY(engine->order.first != NULL)) rdo_await_queued_slowly(engine, op);
}

/* Device lock held: the first claim on what the op reads; false if its inputs are good. */
bool rdo_find_claimed_input(const rdo_op *op, rdo_bytes *out_bytes, uint64_t *out_failure);

/* Device lock held: notes that the op was skipped because of `failure`, and passes that on to its outputs [T6]. */
void rdo_skip(rdo_engine *engine, const rdo_op *op, const rdo_where *where, const rdo_bytes *needed, uint64_t failure,
              bool claim);

/* From the first byte that an access touches to one past the last. */
static inline rdo_extent rdo_access_extent(const rdo_access *access) {
    uint64_t base = access->address;
    return (rdo_extent){base + access->low, base + rdo_access_high(access)};
}

/* The extents that an op touches, for rdo_order. */
typedef struct rdo_op_extents {
    rdo_entry entry;
    rdo_extent reads[RDO_MAX_ACCESSES], writes[RDO_MAX_ACCESSES];
    rdo_store *homes[RDO_MAX_ACCESSES];
} rdo_op_extents;
void rdo_op_extents_fill(rdo_op_extents *extents, const rdo_op *op, const rdo_store *own);

/* What a backend's answer means for the caller. */
rondo_status rdo_backend_status(const rdo_where *where, rondo_backend_result result,
                                const rondo_backend_outcome *outcome);
/* A failure of work that ran, as a story [W7]. */
rondo_status rdo_work_failed(rdo_engine *engine, const rdo_where *where, const rdo_op *op,
                             const rondo_backend_outcome *outcome);
/* Notes a failure that syncs and measurements of the stream must know. Queue lock held. */
void rdo_stream_failed(rdo_stream *stream, rondo_status failure);

#endif
