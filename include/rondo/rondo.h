/* Rondo: record what a stream launches once, replay it a million times, safely.
 *
 * Conventions, once for all headers:
 *
 * Ownership  *_create, *_open and *_end give one reference; *_retain adds one; *_release gives one back and
 *            takes NULL, the zero buffer and dead handles in silence. Children hold their parents: releasing in any
 *            order is legal. Arguments are borrowed for the call. Out-parameters come last and are always
 *            written, on failure with NULL or zero.
 * Errors     Functions that can fail return a rondo_status, 0 for success. A call that fails changes
 *            nothing but this: an operation that was refused, for bad arguments too, or that failed claims the
 *            bytes that it would have written, as far as they are known, so that nobody reads stale ones by
 *            accident [T8]. fault.h tells the story of a status.
 * Threads    Every function may be called from any thread. From inside a kernel or a host call only *_release,
 *            fault.h, status.h, rondo_stream_is_capturing, rondo_capture_phase, rondo_device_is_recording,
 *            rondo_host_data and rondo_host_is_idle are allowed; others return REENTRANT [E5].
 * Fork       In a child of the process that opened a device every call on it or on what belongs to it returns FORKED,
 *            also where a function does not list that code, and releases do nothing [E5].
 * Units      Sizes and offsets are bytes, 64-bit; times are nanoseconds; grids are items.
 * Structs    A zeroed desc means all defaults. Reserved fields must be zero.
 */
#ifndef RONDO_H
#define RONDO_H

#include <rondo/buffer.h>
#include <rondo/capture.h>
#include <rondo/device.h>
#include <rondo/fault.h>
#include <rondo/graph.h>
#include <rondo/host.h>
#include <rondo/kernel.h>
#include <rondo/log.h>
#include <rondo/stats.h>
#include <rondo/status.h>
#include <rondo/stream.h>
#include <rondo/types.h>
#include <rondo/version.h>

#endif
