/* Buffers: managed memory, and moving bytes in and out of it.
 *
 * A buffer belongs to a device and has a home stream. It is a number, not an address: a released
 * one is recognised everywhere and refused with STALE. Every operation takes an optional label
 * (copied; NULL for none) that messages, graphs and dumps show.
 *
 * All functions of this header that take a stream obey the stream's window: while the owner
 * records, they record (write, fill, copy, read-async) or are refused (read, map); while another
 * stream of the same queue records, they are refused with BUSY [C13]. Their common errors:
 *   STALE, REENTRANT, FORKED     see status.h
 *   FOREIGN                      the buffer and the stream belong to different devices
 *   RANGE                        the span leaves its buffer, or size arithmetic overflows
 *   BUSY                         another stream of the queue records; or the bytes are mapped
 *   TAINTED                      an input is spoiled: nothing ran, the outputs carry that failure [T6]
 *   NO_HOST_MEMORY, NO_DEVICE_MEMORY, BACKEND, LOST
 * A call that fails and whose outputs are known has claimed them: they cannot be read until
 * something writes them [T8].
 */
#ifndef RONDO_BUFFER_H
#define RONDO_BUFFER_H

#include <rondo/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the memory is for; chooses the pool [M1]. */
typedef enum rondo_usage {
    RONDO_USAGE_GENERAL = 0, /* comes and goes: shares pages */
    RONDO_USAGE_LASTING = 1, /* weights and tables: exact size, kept apart from the coming and going */
    RONDO_USAGE_ONE_OFF = 2  /* goes straight back to the device when released */
} rondo_usage;

/* What there is to know about a buffer. */
typedef struct rondo_buffer_info {
    uint64_t size_bytes;
    uint64_t home_stream_id;
    rondo_usage usage;
    bool host;              /* a host block */
    bool imported;
    bool mapped;
    uint32_t graphs;        /* graphs that keep it in place */
    uint32_t pool, page, slice; /* where it sits now [O6] */
} rondo_buffer_info;

/* Allocates `size_bytes` (0 is legal) on the device of `stream`, which becomes its home. Fresh memory reads as it
 * is. While its queue records, only room already held is used: run the step once between prepare and begin, and
 * begin has made that room [C6, C18].
 *
 * Owner    *out_buffer is the caller's (one reference), zero on failure.
 * Errors   INVALID   out_buffer is null, usage unknown
 *          RANGE     the size cannot be served by any page
 *          NO_ROOM   the queue records and the room held does not suffice; dooms the owner's window
 *          NO_DEVICE_MEMORY  what was asked, what is free and which graphs hold the rest */
RONDO_API RONDO_MUST_CHECK rondo_status rondo_buffer_create(rondo_stream *stream, uint64_t size_bytes,
                                                            rondo_usage usage, rondo_buffer *out_buffer);

/* Makes the caller's memory a buffer without copying it [O4]. `data` must be aligned to the device's
 * alignment and stay valid until `release(user)` is called, once, when the buffer and all graphs that
 * use it are gone. On failure `release` is not called and `data` stays the caller's business.
 *
 * Errors   INVALID (null, misaligned, size 0), OVERLAP (shares bytes with a live import or host block),
 *          UNSUPPORTED (the backend cannot import) */
RONDO_API RONDO_MUST_CHECK rondo_status rondo_buffer_import(rondo_stream *stream, void *data,
                                                            uint64_t size_bytes, rondo_release_fn release,
                                                            void *user, rondo_buffer *out_buffer);

/* Adds a reference. Threads  any. Errors   STALE. */
RONDO_API rondo_status rondo_buffer_retain(rondo_buffer buffer);

/* Gives a reference back. After the last one the id is dead; the memory itself stays as long as running work or a
 * graph needs it. Dead ids are ignored. Accepted at any moment, from any thread, in windows, kernels and host calls
 * too [C16, E5]. */
RONDO_API void rondo_buffer_release(rondo_buffer buffer);

/* Errors   INVALID, STALE, REENTRANT. Threads  any. */
RONDO_API rondo_status rondo_buffer_get_info(rondo_buffer buffer, rondo_buffer_info *out_info);

/* Whether the bytes of `span` could be read: RONDO_OK, or what a read would return [T7]. Waits for
 * nothing and runs nothing. Errors   STALE, RANGE, TAINTED, FRESH, REENTRANT. Threads  any. */
RONDO_API rondo_status rondo_span_status(rondo_span span);

/* Copies host bytes into the span. Snapshot [W2]: `data` may be reused on return, recorded or not.
 *
 * Errors   common; INVALID (data is null); NO_ROOM (in a window, no staging room: the warm-up run did
 *          not do this write) */
RONDO_API RONDO_MUST_CHECK rondo_status rondo_write(rondo_stream *stream, rondo_span target, const void *data,
                                                    const char *label);

/* Copies from a host block when the work runs; each replay reads the block again [W2].
 *
 * Errors   common; INVALID (source is no host block); RANGE (sizes differ); TAINTED (block spoiled) */
RONDO_API RONDO_MUST_CHECK rondo_status rondo_write_live(rondo_stream *stream, rondo_span target,
                                                         rondo_span host_source, const char *label);

/* Waits, then copies the span's bytes to `data`, all or nothing [P1].
 *
 * Errors   common; INVALID (data is null); TAINTED: the bytes are spoiled, the story has the root and
 *          the chain of skipped launches; FRESH (debug_fresh); FORBIDDEN: the stream records [C14] */
RONDO_API RONDO_MUST_CHECK rondo_status rondo_read(rondo_stream *stream, rondo_span source, void *data,
                                                   const char *label);

/* Copies the span into a host block in stream order; rondo_host_wait tells when and how it ended.
 *
 * Errors   common; INVALID (target is no host block); RANGE (sizes differ) */
RONDO_API RONDO_MUST_CHECK rondo_status rondo_read_async(rondo_stream *stream, rondo_span source,
                                                         rondo_span host_target, const char *label);

/* Copies between spans of equal size; overlapping ranges are right, like memmove [W1].
 *
 * Errors   common; RANGE (sizes differ); INVALID (a span is of a host block) */
RONDO_API RONDO_MUST_CHECK rondo_status rondo_copy(rondo_stream *stream, rondo_span target, rondo_span source,
                                                   const char *label);

/* A rectangle of bytes inside a span: `rows` rows of `row_bytes`, each `pitch_bytes` after the last. */
typedef struct rondo_rect {
    rondo_span span; /* first byte of the first row up to, at least, the last byte of the last row */
    uint64_t pitch_bytes;
} rondo_rect;

/* Copies a rectangle of `rows` x `row_bytes` [W1]. Source and target must not overlap. Only the bytes of the rows
 * count as read and written, the gaps between them do not.
 *
 * Errors   common; RANGE (a rectangle leaves its span, pitch below row_bytes); ALIASED (they overlap);
 *          INVALID (a span is of a host block) */
RONDO_API RONDO_MUST_CHECK rondo_status rondo_copy_2d(rondo_stream *stream, rondo_rect target, rondo_rect source,
                                                      uint64_t row_bytes, uint64_t rows, const char *label);

/* Repeats a pattern of 1, 2, 4, 8 or 16 bytes over the span [W1].
 *
 * Errors   common; INVALID (pattern null or of another size, span of a host block);
 *          RANGE (the span is no multiple of the pattern) */
RONDO_API RONDO_MUST_CHECK rondo_status rondo_fill(rondo_stream *stream, rondo_span target, const void *pattern,
                                                   uint32_t pattern_bytes, const char *label);

/* Waits for work on the span and lets the caller touch its bytes in place until unmap [O4]. Memory
 * stays where it is meanwhile; operations that conflict with the mapping are refused with BUSY.
 *
 * Owner    *out_data is valid until rondo_unmap, NULL on failure. Releasing the buffer's last reference ends its
 * mappings.
 * Errors   common; RANGE (an empty span has no address); INVALID; TAINTED (mode reads spoiled bytes); BUSY
 * (already mapped in conflict);
 *          FORBIDDEN (the stream records); UNSUPPORTED */
RONDO_API RONDO_MUST_CHECK rondo_status rondo_map(rondo_stream *stream, rondo_span span, rondo_access_mode mode,
                                                  void **out_data);

/* Ends a mapping of exactly this span. The end of a mapping that writes is a write of the whole span.
 *
 * Errors   common; STATE (no such mapping) */
RONDO_API rondo_status rondo_unmap(rondo_stream *stream, rondo_span span);

#ifdef __cplusplus
}
#endif
#endif
