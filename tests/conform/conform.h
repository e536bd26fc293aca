/* The conformance suite: the contract of the public headers as cases that any backend must pass.
 *
 * A file NAME.c holds cases and ends with `const struct conform_case conform_NAME_cases[]`, closed by
 * CONFORM_END; tables.h lists it. Each case runs in a process of its own, on a device and a stream that the
 * fixture opens. What a case makes through the conform_* makers is released by the fixture, which then demands
 * that every report is back to zero. Releasing earlier by hand is fine.
 *
 * The CHECK macros end the case when they fail, so they belong on the thread that runs it: other threads, kernels
 * and host calls store what they saw, and the case checks it afterwards.
 */
#ifndef CONFORM_H
#define CONFORM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <rondo/rondo.h>

/* What a case needs from a backend. A backend that lacks it skips the case, with the reason in backends.c. */
enum conform_need {
    NEEDS_NOTHING = 0,
    NEEDS_KERNELS = 1, /* runs kernels */
    NEEDS_MAP = 2,     /* device memory can be mapped */
    NEEDS_IMPORT = 4,  /* the caller's memory can become a device buffer */
    NEEDS_NATIVE = 8,  /* runs native kernels made by hand from a C function */
    NEEDS_CAPS = 16,   /* limits the memory that it gives */
    NEEDS_FAILURES = 32, /* work on device memory can fail while it runs: host calls reach that memory */
    NEEDS_FAULTS = 64   /* its calls can be made to fail, as rondo/sim.h says */
};

/* What the fixture hands to a case. */
struct conform {
    const char *backend;
    rondo_device *device;
    rondo_stream *stream;
    rondo_buffer *buffers; /* kept for the fixture to release, as are all below */
    void **objects;
    unsigned char *object_kinds;
    size_t buffer_count, object_count;
    rondo_kernel *kernels[16];
};

struct conform_case {
    const char *name;
    void (*run)(struct conform *t);
    uint32_t needs;
    const rondo_device_desc *desc; /* NULL: all defaults */
};

#define CONFORM_CASE(name, needs) {#name, name, needs, NULL}
#define CONFORM_CASE_ON(name, needs, desc) {#name, name, needs, desc} /* desc: the address of a rondo_device_desc */
#define CONFORM_END {NULL, NULL, 0, NULL}

/* One case that a backend does not pass, with the reason. */
struct conform_exclusion {
    const char *name;
    const char *reason;
};

/* What the suite knows of a backend. Both lists end with a NULL name. An excluded case runs all the same, and
 * must fail. */
struct conform_backend {
    const char *name;
    uint32_t offers;                        /* conform_need flags */
    const char *lacks_reason;               /* why it does not offer the rest */
    const struct conform_exclusion *never;  /* what it will never do */
    const struct conform_exclusion *not_yet;
};

/* The entry for "NAME" or "NAME:NUMBER"; unknown backends offer everything and exclude nothing. */
const struct conform_backend *conform_backend_find(const char *name);

/* Checks. */

rondo_status conform_check_ok(rondo_status status, const char *text, const char *file, int line);
rondo_status conform_check_code(rondo_status status, rondo_code code, const char *text, const char *file, int line);
void conform_check_says(rondo_status status, const char *part, const char *file, int line);

/* Each gives the status back, so that its story can be looked at. */
#define CHECK_OK(call) conform_check_ok((call), #call, __FILE__, __LINE__)
#define CHECK_CODE(call, code) conform_check_code((call), (code), #call, __FILE__, __LINE__)
/* The whole story of the status, as rondo_fault_describe tells it, contains `part`. */
#define CHECK_SAYS(status, part) conform_check_says((status), (part), __FILE__, __LINE__)
#define CHECK(condition) assert_true(condition)
#define CHECK_EQUAL(left, right) assert_int_equal((left), (right))

/* Set by `--queued`: every stream that a case creates is in queued mode. */
extern bool conform_queued;
rondo_status conform_stream_create(rondo_device *device, rondo_stream **out_stream);
#define rondo_stream_create(device, out_stream) conform_stream_create((device), (out_stream))

/* Waits for what is pending on the streams of the case: before a look at counts and reports, which do not wait, and
 * between a failure and what is to be refused because of it, which is skipped in silence as long as nobody knows. */
void conform_settle(struct conform *t);

/* Makers. All succeed or end the case. */

rondo_buffer conform_buffer(struct conform *t, uint64_t size_bytes);
rondo_buffer conform_buffer_on(struct conform *t, rondo_stream *stream, uint64_t size_bytes);
rondo_buffer conform_buffer_i32(struct conform *t, const int32_t *values, size_t count);
rondo_buffer conform_host_block(struct conform *t, uint64_t size_bytes);
rondo_stream *conform_stream(struct conform *t);
/* A stream on the same queue as `stream`, and one on another; the latter needs a device with two queues or more. */
rondo_stream *conform_neighbour(struct conform *t, rondo_stream *stream);
rondo_stream *conform_stranger(struct conform *t, rondo_stream *stream);
rondo_event *conform_event(struct conform *t);

/* Hands something that the case made itself to the fixture, and gives it back. */
rondo_buffer conform_keep_buffer(struct conform *t, rondo_buffer buffer);
rondo_stream *conform_keep_stream(struct conform *t, rondo_stream *stream);
rondo_kernel *conform_keep_kernel(struct conform *t, rondo_kernel *kernel);
rondo_graph *conform_keep_graph(struct conform *t, rondo_graph *graph);
rondo_event *conform_keep_event(struct conform *t, rondo_event *event);

/* Bytes in and out, on the fixture's stream unless one is given. All succeed or end the case. */

void conform_write_i32(struct conform *t, rondo_buffer buffer, const int32_t *values, size_t count);
void conform_fill_i32(struct conform *t, rondo_buffer buffer, int32_t value);
int32_t conform_read_i32(struct conform *t, rondo_buffer buffer, size_t index);
void conform_expect_i32(struct conform *t, rondo_buffer buffer, const int32_t *values, size_t count);
/* All `count` values are the same. */
void conform_expect_all_i32(struct conform *t, rondo_buffer buffer, int32_t value, size_t count);
/* A blocking read of the whole buffer, whatever it returns. */
rondo_status conform_try_read(rondo_stream *stream, rondo_span span);

rondo_device_stats conform_stats(struct conform *t);
rondo_pool_report conform_report(struct conform *t, rondo_pool_kind kind);
rondo_fault conform_fault(rondo_status status);

/* The suite's kernels, from test_kernels.kernels.h, loaded once per case and kept. Parameters in their order. */
enum conform_kernel_id {
    KERNEL_COPY,      /* in x, out y:               y[i] = x[i] */
    KERNEL_ADD,       /* in a, in b, out c:         c[i] = a[i] + b[i] */
    KERNEL_SCALE,     /* inout x, value k:          x[i] *= k */
    KERNEL_IOTA,      /* out x, value start:        x[i] = start + i */
    KERNEL_FAIL_IF,   /* in flag, out y, value v:   y[i] = v, or fails with reason 7 if flag[0] is not 0 */
    KERNEL_ADD_ALIAS, /* in a, out c:               c[i] = a[i] + 1; a and c may overlap */
    KERNEL_COUNT,     /* inout counter:             counter[0] grows by 1 for each item */
    KERNEL_AXPY,      /* in x, inout y, value a, all float: y[i] += a * x[i] */
    KERNEL_SUM,       /* in x, out partial:         a sum for each 64 items */
    KERNEL_STENCIL,   /* in x, out out:             2-D, an item and its four neighbours */
    KERNEL_FILL_3D    /* out out, value base:       3-D, x + 1000 y + 1000000 z + base */
};
rondo_kernel *conform_kernel(struct conform *t, enum conform_kernel_id id);

/* Launches of those, over `items` items. `label` may be NULL. They return what rondo_launch returns. */
rondo_status conform_launch_copy(struct conform *t, rondo_stream *stream, rondo_span y, rondo_span x, uint64_t items,
                                 const char *label);
rondo_status conform_launch_add(struct conform *t, rondo_stream *stream, rondo_span y, rondo_span x, rondo_span z,
                                uint64_t items, const char *label);
rondo_status conform_launch_scale(struct conform *t, rondo_stream *stream, rondo_span y, int32_t factor,
                                  uint64_t items, const char *label);
rondo_status conform_launch_iota(struct conform *t, rondo_stream *stream, rondo_span y, int32_t start, uint64_t items,
                                 const char *label);
rondo_status conform_launch_fail_if(struct conform *t, rondo_stream *stream, rondo_span y, rondo_span flag,
                                    int32_t value, uint64_t items, const char *label);
rondo_status conform_launch_add_alias(struct conform *t, rondo_stream *stream, rondo_span y, rondo_span x,
                                      uint64_t items, const char *label);
rondo_status conform_launch_count(struct conform *t, rondo_stream *stream, rondo_span counter, uint64_t items,
                                  const char *label);

/* Spoils the span on `stream`, by a host call that declares to write it and fails. Needs NEEDS_FAILURES unless the
 * span is of a host block. */
void conform_spoil(rondo_stream *stream, rondo_span span, const char *label);

/* What a call that was refused would have written cannot be read, because of that refusal [T8]. */
void conform_expect_claimed(rondo_span span, rondo_code refusal);

#endif
