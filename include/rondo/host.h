/* Host blocks: host memory that Rondo may read and write when work runs.
 *
 * A host block is a buffer whose bytes lie in host memory at an address that the caller may know.
 * It carries references, claims and order like every buffer. Uploads that replays must read again
 * (rondo_write_live), downloads that nobody waits for (rondo_read_async) and host calls use them.
 * Before touching its bytes, wait with rondo_host_wait, or map it.
 */
#ifndef RONDO_HOST_H
#define RONDO_HOST_H

#include <rondo/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Allocates a host block of `size_bytes` (at least 1), zeroed.
 *
 * Owner    *out_block is the caller's (release with rondo_buffer_release), zero on failure.
 * Threads  any.
 * Errors   INVALID, RANGE, STALE, REENTRANT, FORKED, NO_HOST_MEMORY, NO_ROOM (the queue records and the room held does
 *          not suffice; dooms the owner's window) */
RONDO_API RONDO_MUST_CHECK rondo_status rondo_host_create(rondo_stream *stream, uint64_t size_bytes,
                                                          rondo_buffer *out_block);

/* Makes the caller's memory a host block. `release(user)` is called once, when the block and all
 * graphs that use it are gone; `release` may be NULL. On failure nothing is taken.
 *
 * Errors   INVALID (null, size 0), OVERLAP (shares bytes with a live import or host block), STALE,
 *          REENTRANT, FORKED, NO_HOST_MEMORY */
RONDO_API RONDO_MUST_CHECK rondo_status rondo_host_import(rondo_stream *stream, void *data, uint64_t size_bytes,
                                                          rondo_release_fn release, void *user,
                                                          rondo_buffer *out_block);

/* The address of the block's first byte, NULL if it is no live host block. Valid while the block lives. */
RONDO_API void *rondo_host_data(rondo_buffer block);

/* Waits until no work uses the block and says whether its bytes are good: RONDO_OK, or what spoiled
 * them (the completion of a read-async reports here [W7]).
 *
 * Errors   INVALID (no host block), STALE, REENTRANT, FORKED, TAINTED. Threads  any. */
RONDO_API RONDO_MUST_CHECK rondo_status rondo_host_wait(rondo_buffer block);

/* Whether rondo_host_wait would return at once. False for a dead block. Threads  any, kernels too. */
RONDO_API bool rondo_host_is_idle(rondo_buffer block);

/* One thing that a host call touches. `data` is filled by Rondo when the call runs. */
typedef struct rondo_host_access {
    rondo_span span;
    rondo_access_mode mode;
    void *data; /* ignored on input */
} rondo_host_access;

/* A function of the host's, run in stream order. `accesses` are those declared, with `data` set. It
 * may touch no other managed bytes and may not call Rondo (release, fault stories and the views of
 * capture.h aside). A return value other than 0 counts as work that failed [W7]. */
typedef int (*rondo_host_fn)(void *user, const rondo_host_access *accesses, size_t count);

/* Runs `fn` on the host in stream order, or records it. `release(user)` (may be NULL) is called once, after the
 * last time that `fn` can run: eagerly after it ran, recorded when the last graph that holds it is gone. On failure
 * nothing is taken and release is not called.
 *
 * Errors   STALE, FOREIGN, RANGE, BUSY, TAINTED, REENTRANT, FORKED, INVALID (fn null, accesses null,
 *          unknown mode), ALIASED (two accesses overlap and one writes), UNSUPPORTED (the host cannot reach a
 *          declared span of device memory on this backend), NO_HOST_MEMORY */
RONDO_API RONDO_MUST_CHECK rondo_status rondo_host_call(rondo_stream *stream, rondo_host_fn fn, void *user,
                                                        rondo_release_fn release,
                                                        const rondo_host_access *accesses, size_t count,
                                                        const char *label);

#ifdef __cplusplus
}
#endif
#endif
