/* Bytes between host and device: reading, mapping, staging, host blocks. */
#ifndef RDO_STREAM_TRANSFER_H
#define RDO_STREAM_TRANSFER_H

#include "stream/call.h"
#include "stream/submit.h"

/* Device lock held: RONDO_OK if every byte of the access is good, else a report of what spoiled it, with the chain
 * of skips that led there [T7]. */
rondo_status rdo_readable(const rdo_where *where, const rdo_access *access);

/* Device lock held, given up while waiting, and the allocation kept: waits for queued work on these bytes. */
void rdo_await_queued_access(rdo_engine *engine, const rdo_access *access);

/* Queue lock held, as for all below. Errors as in rondo/buffer.h. */
rondo_status rdo_read(rdo_call *call, rondo_span source, void *data);
rondo_status rdo_map(rdo_call *call, rondo_span span, rondo_access_mode mode, void **out_data);
rondo_status rdo_unmap(rdo_call *call, rondo_span span);

/* Device lock held: ends all mappings of an allocation that no user can name any more. */
void rdo_end_mappings(rdo_memory *memory);

/* Before a write is issued: in a window its bytes are copied to staging that the window keeps; in a warm-up the
 * staging that the recorded run will need is set aside [C6, C7]. */
rondo_status rdo_stage_write(rdo_call *call, rdo_op *op);

/* Device lock held: whether no running work uses the block. */
bool rdo_host_idle(const rdo_memory *block);
/* No lock held: waits for that, and says whether the bytes are good. */
rondo_status rdo_host_wait(const rdo_where *where, rdo_engine *engine, rondo_buffer block);

#endif
