/* The null backend: the plainest thing that keeps the contract of <rondo/backend.h>. Copy this folder to start a
 * backend of your own, and replace one function after the other; docs/howto/write-a-backend.md goes along.
 *
 * It is useful as it stands: memory is real, so writes, reads, fills and copies give the right bytes, and what the core
 * does around them (order, claims, pools, capture) can be tried without any device. What it leaves out shows what is
 * optional: kernels are refused, memory cannot be imported or mapped, and there are no graph functions, so the core
 * replays a graph by submitting its nodes one by one. */
#include "null.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT_BYTES 64u

/* What the core holds for us between calls. It never looks inside. A real device has a context and a lock here. */
struct null_device {
    uint32_t max_queues;
};

/* Needs a member only because C wants one. A real queue has the driver's stream or command queue here. */
struct null_queue {
    struct null_device *device;
};

/* ---- outcomes ---- */

/* Every failure is told by its result, and in words where there are any. Nothing is printed, ever. */
static rondo_backend_result refuse(rondo_backend_outcome *outcome, rondo_backend_result result, const char *message) {
    outcome->node = 0;
    outcome->reason = 0;
    snprintf(outcome->message, sizeof outcome->message, "%s", message);
    return result;
}

/* ---- devices ---- */

/* The core asks for index 0, 1, 2 ... until the answer is false. A device that is there but unusable is listed too,
 * with available = false and a reason that says what to install. Probing must be cheap and must not open anything. */
static bool probe(uint32_t index, rondo_device_entry *out_entry) {
    if (index != 0) {
        return false;
    }
    memset(out_entry, 0, sizeof *out_entry);
    snprintf(out_entry->name, sizeof out_entry->name, "null");
    out_entry->available = true;
    return true;
}

/* The out-parameter is written on every path, so that no caller can follow a stale pointer. */
static rondo_backend_result open_device(uint32_t index, const rondo_device_desc *desc, void **out_device,
                                        rondo_backend_outcome *outcome) {
    *out_device = NULL;
    if (index != 0) {
        return refuse(outcome, RONDO_BACKEND_NO_SUPPORT, "there is one null device, number 0");
    }
    struct null_device *device = calloc(1, sizeof *device);
    if (device == NULL) {
        return refuse(outcome, RONDO_BACKEND_NO_MEMORY, "no memory for the device");
    }
    device->max_queues = desc != NULL && desc->max_queues != 0 ? desc->max_queues : 1;
    *out_device = device;
    return RONDO_BACKEND_DONE;
}

/* Called once, after every queue, kernel, page and graph of the device was given back. */
static void close_device(void *device) {
    free(device);
}

/* kernels = false lets the core refuse a kernel before it comes here; alignment_bytes holds for every page below. */
static void info(void *device, rondo_device_info *out_info) {
    const struct null_device *null_device = device;
    memset(out_info, 0, sizeof *out_info);
    snprintf(out_info->backend, sizeof out_info->backend, "null");
    snprintf(out_info->name, sizeof out_info->name, "null device");
    snprintf(out_info->driver, sizeof out_info->driver, "host memory");
    out_info->alignment_bytes = ALIGNMENT_BYTES;
    out_info->max_queues = null_device->max_queues;
    out_info->workers = 1;
    out_info->native_graphs = false;
    out_info->kernels = false;
}

/* ---- memory ---- */

/* A page is what the core cuts buffers from; it need not be cleared. Two refusals are told apart: TOO_BIG can never be
 * served, DEVICE_FULL may be served later, so that the core frees what it can and asks once more.
 *
 * The contract wants more of a host page (staging, host blocks) than of a device page: the host must reach it at
 * `page` + offset. Here both are host memory. */
static rondo_backend_result page_alloc(void *device, rondo_page_kind kind, uint64_t size_bytes, void **out_page) {
    (void)device, (void)kind;
    *out_page = NULL;
    if (size_bytes > PTRDIFF_MAX - ALIGNMENT_BYTES) {
        return RONDO_BACKEND_TOO_BIG;
    }
    size_t rounded_bytes = ((size_t)size_bytes + ALIGNMENT_BYTES - 1) / ALIGNMENT_BYTES * ALIGNMENT_BYTES;
    *out_page = aligned_alloc(ALIGNMENT_BYTES, rounded_bytes == 0 ? ALIGNMENT_BYTES : rounded_bytes);
    return *out_page != NULL ? RONDO_BACKEND_DONE : RONDO_BACKEND_DEVICE_FULL;
}

static void page_free(void *device, rondo_page_kind kind, void *page, uint64_t size_bytes) {
    (void)device, (void)kind, (void)size_bytes;
    free(page);
}

/* This backend plays a device whose memory the host cannot touch, so that this path is tried as well: with NULL for an
 * answer, the core refuses to map. */
static void *host_address(void *device, void *page) {
    (void)device, (void)page;
    return NULL;
}

/* The address of a place. Device memory that is no address (a handle, a buffer object) is resolved at this spot too.
 * It adds numbers and not pointers, because an empty span may come with no page at all. */
static uint8_t *address(rondo_place place) {
    return (uint8_t *)((uintptr_t)place.page + (uintptr_t)place.offset_bytes);
}

/* ---- kernels ---- */

/* A backend that runs kernels takes from the description what it understands (native, source), copies it, and builds
 * it here, not at the first launch: a kernel that does not build is refused while its user can still do something.
 * It refuses a kernel with can_fail set if it could not carry the report [W7]. */
static rondo_backend_result kernel_load(void *device, const rondo_kernel_desc *desc, void **out_kernel,
                                        rondo_backend_outcome *outcome) {
    char message[sizeof outcome->message];
    (void)device;
    *out_kernel = NULL;
    snprintf(message, sizeof message, "the null backend runs no kernels, so it cannot load '%.64s'", desc->name);
    return refuse(outcome, RONDO_BACKEND_NO_SUPPORT, message);
}

/* No kernel was ever loaded, so there is none to unload; the table wants the function all the same. */
static void kernel_unload(void *device, void *kernel) {
    (void)device, (void)kernel;
}

/* ---- queues ---- */

static rondo_backend_result queue_open(void *device, uint32_t index, void **out_queue) {
    (void)index;
    struct null_queue *queue = calloc(1, sizeof *queue);
    *out_queue = queue;
    if (queue == NULL) {
        return RONDO_BACKEND_NO_MEMORY;
    }
    queue->device = device;
    return RONDO_BACKEND_DONE;
}

static void queue_close(void *queue) {
    free(queue);
}

/* ---- work ---- */

/* Copy, write and read are one movement of rows; only where the addresses come from differs. A plain span is one row,
 * and its pitches mean nothing. memmove, because source and target of a copy may overlap. */
static void move_rows(const rondo_backend_op *op, uint8_t *target, const uint8_t *source) {
    for (uint64_t row = 0; row < op->rows; row++) {
        memmove(target + row * op->target_pitch_bytes, source + row * op->source_pitch_bytes, (size_t)op->size_bytes);
    }
}

static void fill_rows(const rondo_backend_op *op) {
    for (uint64_t row = 0; row < op->rows; row++) {
        uint8_t *target = address(op->target) + row * op->target_pitch_bytes;
        for (uint64_t at = 0; at < op->size_bytes; at++) {
            target[at] = op->pattern[at % op->pattern_bytes];
        }
    }
}

/* FAILED means that the work ran and said so itself; its number goes into `reason`. NOT_RUN would mean that nothing
 * ran, which the core treats differently: a replay may be tried again after it. */
static rondo_backend_result call_host(const rondo_backend_op *op, rondo_backend_outcome *outcome) {
    int reason = op->host_fn(op->host_user);
    if (reason == 0) {
        return RONDO_BACKEND_DONE;
    }
    refuse(outcome, RONDO_BACKEND_FAILED, "");
    outcome->reason = (uint32_t)reason;
    return RONDO_BACKEND_FAILED;
}

/* Runs one operation, and returns when it is done or has failed. The core never enters this twice at once for one
 * queue, but it does for two queues. `op` and all that it points to are only lent for the call. */
static rondo_backend_result submit(void *queue, const rondo_backend_op *op, rondo_backend_outcome *outcome) {
    (void)queue;
    switch (op->kind) {
    case RONDO_OP_LAUNCH:
        return refuse(outcome, RONDO_BACKEND_NO_SUPPORT, "the null backend runs no kernels");
    case RONDO_OP_FILL:
        fill_rows(op);
        return RONDO_BACKEND_DONE;
    case RONDO_OP_COPY:
        move_rows(op, address(op->target), address(op->source));
        return RONDO_BACKEND_DONE;
    case RONDO_OP_WRITE:
        move_rows(op, address(op->target), op->host);
        return RONDO_BACKEND_DONE;
    case RONDO_OP_READ:
        move_rows(op, op->host, address(op->source));
        return RONDO_BACKEND_DONE;
    case RONDO_OP_HOST:
        return call_host(op, outcome);
    }
    return refuse(outcome, RONDO_BACKEND_NOT_RUN, "the operation is of an unknown kind");
}

/* The one thing that leaves this file. What is not named is NULL: page_import and page_unimport (no import), and the
 * three graph functions (the core submits the nodes one by one). */
const rondo_backend rdo_backend_null = {
    .name = "null",
    .version = RONDO_BACKEND_VERSION,
    .probe = probe,
    .open = open_device,
    .close = close_device,
    .info = info,
    .page_alloc = page_alloc,
    .page_free = page_free,
    .host_address = host_address,
    .kernel_load = kernel_load,
    .kernel_unload = kernel_unload,
    .queue_open = queue_open,
    .queue_close = queue_close,
    .submit = submit,
};
