#include "op/op.h"

#include <string.h>

#include "base/check.h"

static const struct {
    const char *call, *name;
} kinds[] = {
    [RONDO_NODE_LAUNCH] = {"rondo_launch", "launch"},
    [RONDO_NODE_FILL] = {"rondo_fill", "fill"},
    [RONDO_NODE_COPY] = {"rondo_copy", "copy"},
    [RONDO_NODE_COPY_2D] = {"rondo_copy_2d", "copy_2d"},
    [RONDO_NODE_WRITE] = {"rondo_write", "write"},
    [RONDO_NODE_WRITE_LIVE] = {"rondo_write_live", "write_live"},
    [RONDO_NODE_READ_ASYNC] = {"rondo_read_async", "read_async"},
    [RONDO_NODE_HOST_CALL] = {"rondo_host_call", "host_call"},
    [RONDO_NODE_EVENT_RECORD] = {"rondo_event_record", "event_record"},
    [RONDO_NODE_EVENT_WAIT] = {"rondo_event_wait", "event_wait"},
};

const char *rdo_op_call(rondo_node_kind kind) {
    return kinds[kind].call;
}

const char *rdo_op_name(rondo_node_kind kind) {
    return kinds[kind].name;
}

bool rdo_op_is_nothing(const rdo_op *op) {
    switch (op->kind) {
    case RONDO_NODE_LAUNCH: return op->grid.x == 0 || op->grid.y == 0 || op->grid.z == 0;
    case RONDO_NODE_HOST_CALL:
    case RONDO_NODE_EVENT_RECORD:
    case RONDO_NODE_EVENT_WAIT: return false;
    default: return op->access_count == 0 || op->accesses[0].row_bytes == 0;
    }
}

rdo_op *rdo_op_copy(rdo_arena *arena, const rdo_op *op) {
    uint32_t values = op->kind == RONDO_NODE_LAUNCH ? op->kernel->param_count : 0;
    rdo_op *copy = rdo_op_new(arena, op->kind, op->access_count, values);
    if (copy == NULL || !rdo_op_set_label(arena, copy, op->label)) return NULL;
    for (uint32_t i = 0; i < op->access_count; i++) copy->accesses[i] = op->accesses[i];
    for (uint32_t i = 0; i < values; i++) copy->values[i] = op->values[i];
    const rdo_op fresh = *copy;
    *copy = *op;
    copy->accesses = fresh.accesses;
    copy->label = fresh.label;
    if (op->kind == RONDO_NODE_LAUNCH) copy->values = fresh.values;
    return copy;
}

static int run_frame(void *user) {
    const rdo_host_frame *frame = user;
    return frame->fn(frame->user, frame->accesses, frame->count);
}

void rdo_op_locate(rdo_op *op) {
    for (uint32_t i = 0; i < op->access_count; i++) rdo_access_locate(&op->accesses[i]);
}

/* A host page is its address. */
static void *host_bytes(const rdo_access *access) {
    rondo_place place = rdo_access_place(access);
    return (char *)place.page + place.offset_bytes;
}

/* Where the host finds the bytes; NULL if it cannot. */
static void *host_pointer(const rdo_access *access) {
    if (access->page == NULL) return NULL;
    if (access->host) return host_bytes(access);
    const rdo_books *books = access->page->books;
    char *page = books->backend->host_address(books->device, access->page->handle);
    return page != NULL ? page + rdo_access_place(access).offset_bytes : NULL;
}

static void resolve_transfer(const rdo_op *op, rondo_backend_op *out) {
    const rdo_access *target = &op->accesses[0];
    out->target = rdo_access_place(target);
    out->size_bytes = target->row_bytes;
    out->rows = target->rows;
    out->target_pitch_bytes = target->pitch;
    if (op->access_count > 1) {
        out->source = rdo_access_place(&op->accesses[1]);
        out->source_pitch_bytes = op->accesses[1].pitch;
    }
}

void rdo_op_fill_frame(const rdo_op *op, rdo_host_frame *frame) {
    frame->fn = op->host->fn;
    frame->user = op->host->user;
    frame->count = op->access_count;
    for (uint32_t i = 0; i < op->access_count; i++) {
        const rdo_access *access = &op->accesses[i];
        frame->accesses[i].span = rondo_slice((rondo_buffer){access->id}, access->low, access->row_bytes);
        frame->accesses[i].mode = (rondo_access_mode)access->mode;
        frame->accesses[i].data = host_pointer(access);
    }
}

void rdo_op_resolve(const rdo_op *op, rondo_backend_op *out, rondo_place *places, rdo_host_frame *frame) {
    if (op->kind == RONDO_NODE_LAUNCH) {
        rdo_op_resolve_launch(op, out, places);
        return;
    }
    memset(out, 0, sizeof *out);
    switch (op->kind) {
    case RONDO_NODE_FILL:
        out->kind = RONDO_OP_FILL;
        resolve_transfer(op, out);
        memcpy(out->pattern, op->pattern, sizeof out->pattern);
        out->pattern_bytes = op->pattern_bytes;
        break;
    case RONDO_NODE_COPY:
    case RONDO_NODE_COPY_2D:
        out->kind = RONDO_OP_COPY;
        resolve_transfer(op, out);
        break;
    case RONDO_NODE_WRITE:
        out->kind = RONDO_OP_WRITE;
        resolve_transfer(op, out);
        out->host = (void *)(uintptr_t)(op->staging != NULL ? op->staging->host_data : op->bytes);
        break;
    case RONDO_NODE_WRITE_LIVE:
        out->kind = RONDO_OP_WRITE;
        resolve_transfer(op, out);
        out->host = host_bytes(&op->accesses[1]);
        break;
    case RONDO_NODE_READ_ASYNC:
        out->kind = RONDO_OP_READ;
        resolve_transfer(op, out); /* the first access is the host block, the second the device's */
        out->host = host_bytes(&op->accesses[0]);
        break;
    case RONDO_NODE_HOST_CALL:
        out->kind = RONDO_OP_HOST;
        out->host_fn = run_frame;
        out->host_user = frame;
        break;
    default: break; /* events are not for backends */
    }
}

rdo_where rdo_op_where(const rdo_op *op, uint64_t stream_id, uint64_t op_index) {
    return (rdo_where){.operation = kinds[op->kind].call,
                       .kernel = op->kind == RONDO_NODE_LAUNCH ? op->kernel->name : NULL,
                       .label = op->label,
                       .stream_id = stream_id,
                       .op_index = op_index};
}
