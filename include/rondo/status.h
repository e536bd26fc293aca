/* Statuses: what every Rondo call that can fail returns.
 *
 * A status is a plain 64-bit value. Zero is success. Otherwise the low 16 bits are a stable code
 * and the upper 48 bits are the number of the failure's story, unique in the process and never
 * reused. Copy it, store it, compare it; there is nothing to free. `rondo/fault.h` tells its story.
 */
#ifndef RONDO_STATUS_H
#define RONDO_STATUS_H

#include <stddef.h>
#include <stdint.h>

#if defined(RONDO_BUILD_SHARED) && defined(__GNUC__)
#define RONDO_API __attribute__((visibility("default")))
#else
#define RONDO_API
#endif

#if defined(__GNUC__)
#define RONDO_MUST_CHECK __attribute__((warn_unused_result))
#else
#define RONDO_MUST_CHECK
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef uint64_t rondo_status;

#define RONDO_OK ((rondo_status)0)

/* One line a code: name, number, sentence. Numbers are stable for ever; new codes get new numbers.
 * The first group is the caller's to mend, the second tells about data, the third about resources,
 * the fourth about the world outside, the last is Rondo's own fault. */
#define RONDO_CODES(X)                                                                             \
    X(INVALID, 1, "an argument is wrong")                                                          \
    X(RANGE, 2, "a size, an offset or a sum of them is out of range")                              \
    X(STALE, 3, "the handle is null, was released, or never existed")                              \
    X(FOREIGN, 4, "the objects belong to different devices")                                       \
    X(STATE, 5, "the call does not fit the state of the stream or object")                         \
    X(BUSY, 6, "another stream of this queue is recording, or the memory is mapped")               \
    X(FORBIDDEN, 7, "not allowed while this stream records")                                       \
    X(UNSUPPORTED, 8, "this backend cannot do that")                                               \
    X(REENTRANT, 9, "called from inside a kernel or a host call")                                  \
    X(ALIASED, 10, "two arguments overlap and one of them is written")                             \
    X(EMPTY, 11, "the window recorded nothing")                                                    \
    X(OVERLAP, 12, "the bytes already belong to something live")                                   \
    X(FORKED, 13, "the device was opened by the parent process")                                   \
    X(NOT_READY, 14, "the event has not completed yet")                                            \
    X(TAINTED, 20, "bytes that are needed were spoiled by an earlier failure")                     \
    X(DOOMED, 21, "something in the window failed, so it cannot become a graph")                   \
    X(ABANDONED, 22, "a stream that does not own the window closed it")                            \
    X(ABORTED, 23, "the window was aborted before it was sealed")                                  \
    X(FRESH, 24, "bytes that nothing ever wrote are needed (debug option)")                        \
    X(KERNEL, 25, "a kernel or host call reported failure while it ran")                           \
    X(NO_HOST_MEMORY, 30, "no host memory is left")                                                \
    X(NO_DEVICE_MEMORY, 31, "no device memory is left")                                            \
    X(NO_ROOM, 32, "a recording may use only memory already held, and that does not suffice")      \
    X(CAPACITY, 33, "a fixed limit is reached")                                                    \
    X(UNAVAILABLE, 40, "no such backend or device here")                                           \
    X(BACKEND, 41, "the backend reported an error")                                                \
    X(LOST, 42, "the device is lost")                                                              \
    X(INTERNAL, 50, "a defect in Rondo")

typedef enum rondo_code {
    RONDO_CODE_OK = 0,
#define RONDO_CODE_ENUM(name, number, text) RONDO_##name = (number),
    RONDO_CODES(RONDO_CODE_ENUM)
#undef RONDO_CODE_ENUM
} rondo_code;

/* The code of a status: its low 16 bits. Allowed everywhere, in kernels too. */
static inline rondo_code rondo_status_code(rondo_status status) {
    return (rondo_code)(status & 0xffffu);
}

/* The number of the story of a status, 0 for RONDO_OK. Allowed everywhere. */
static inline uint64_t rondo_status_number(rondo_status status) {
    return status >> 16;
}

/* The name of a code without its prefix ("TAINTED", "OK"), or "UNKNOWN".
 *
 * Owner    static text. Threads  any. Errors   none. */
RONDO_API const char *rondo_code_name(rondo_code code);

/* One sentence that says what a code means.
 *
 * Owner    static text. Threads  any. Errors   none. */
RONDO_API const char *rondo_code_text(rondo_code code);

#ifdef __cplusplus
}
#endif
#endif
