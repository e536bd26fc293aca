#include "op/args.h"

#include <string.h>

#include "base/check.h"
#include "base/text.h"

#define REFUSE(code, ...) return rdo_fault_raise(where, code, __VA_ARGS__)

rondo_status rdo_args_access(const rdo_where *where, rdo_books *books, rondo_span span, rdo_span_kind kind,
                             uint32_t mode, const char *what, rdo_access *out_access) {
    rdo_memory *memory = rdo_memory_find(span.buffer);
    *out_access = (rdo_access){0};
    if (RDO_UNLIKELY(memory == NULL)) {
        if (span.buffer.id == 0) REFUSE(RONDO_STALE, "%s is the null buffer", what);
        REFUSE(RONDO_STALE, "%s names buffer %llu, which was released or never existed", what,
               (unsigned long long)span.buffer.id);
    }
    if (RDO_UNLIKELY(memory->books != books)) {
        REFUSE(RONDO_FOREIGN, "%s, buffer %llu, belongs to another device than the stream", what,
               (unsigned long long)span.buffer.id);
    }
    if (RDO_UNLIKELY(((memory->host ? RDO_SPAN_HOST : RDO_SPAN_DEVICE) & (unsigned)kind) == 0)) {
        REFUSE(RONDO_INVALID, memory->host ? "%s, buffer %llu, is a host block; device memory is needed here"
                                           : "%s, buffer %llu, is device memory; a host block is needed here",
               what, (unsigned long long)span.buffer.id);
    }
    uint64_t size = memory->size;
    if (span.size_bytes == RONDO_WHOLE && span.offset_bytes <= size) span.size_bytes = size - span.offset_bytes;
    if (RDO_UNLIKELY(span.offset_bytes > size || span.size_bytes > size - span.offset_bytes)) {
        REFUSE(RONDO_RANGE, "%s: bytes %llu + %llu leave buffer %llu, which has %llu bytes", what,
               (unsigned long long)span.offset_bytes, (unsigned long long)span.size_bytes,
               (unsigned long long)span.buffer.id, (unsigned long long)size);
    }
    *out_access = (rdo_access){.memory = memory,
                               .id = span.buffer.id,
                               .low = span.offset_bytes,
                               .row_bytes = span.size_bytes,
                               .rows = 1,
                               .pitch = span.size_bytes,
                               .mode = mode};
    return RONDO_OK;
}

static const char *argument_name(char *room, size_t size_bytes, const char *name) {
    rdo_text text = rdo_text_in(room, size_bytes);
    rdo_text_add(&text, "argument '%s'", name);
    return room;
}

static rondo_status check_buffer(const rdo_where *where, rdo_books *books, const rondo_param *param,
                                 const rondo_arg *arg, rdo_access *out) {
    char what[96];
    if (RDO_UNLIKELY(arg->value != NULL)) {
        REFUSE(RONDO_INVALID, "argument '%s' is a value; the kernel takes a buffer there", param->name);
    }
    /* The name is only put together when a message needs it: the plain case must stay cheap. */
    rdo_memory *memory = rdo_memory_find(arg->span.buffer);
    uint64_t offset = arg->span.offset_bytes, size = arg->span.size_bytes;
    if (RDO_LIKELY(memory != NULL && memory->books == books && !memory->host && offset <= memory->size &&
                   (size == RONDO_WHOLE || size <= memory->size - offset))) {
        if (size == RONDO_WHOLE) size = memory->size - offset;
        *out = (rdo_access){.memory = memory, .id = arg->span.buffer.id, .low = offset, .row_bytes = size,
                            .rows = 1, .pitch = size, .mode = (uint32_t)param->kind};
    } else {
        RDO_TRY(rdo_args_access(where, books, arg->span, RDO_SPAN_DEVICE, (uint32_t)param->kind,
                                argument_name(what, sizeof what, param->name), out));
    }
    if (RDO_UNLIKELY(param->align_bytes > 1 && (offset & (param->align_bytes - 1)) != 0)) {
        REFUSE(RONDO_INVALID, "argument '%s' starts at byte %llu, which is no multiple of its alignment %u",
               param->name, (unsigned long long)offset, param->align_bytes);
    }
    return RONDO_OK;
}

static rondo_status check_value(const rdo_where *where, const rondo_param *param, const rondo_arg *arg) {
    if (arg->value == NULL) {
        if (arg->span.buffer.id != 0) {
            REFUSE(RONDO_INVALID, "argument '%s' is a buffer; the kernel takes a value there", param->name);
        }
        REFUSE(RONDO_INVALID, "the value for argument '%s' is null", param->name);
    }
    if (arg->value_bytes != param->size_bytes) {
        REFUSE(RONDO_INVALID, "the value for argument '%s' has %llu bytes, the kernel takes %u", param->name,
               (unsigned long long)arg->value_bytes, param->size_bytes);
    }
    return RONDO_OK;
}

static rondo_status check_grid(const rdo_where *where, rondo_grid grid) {
    uint64_t plane, items;
    if (__builtin_mul_overflow(grid.x, grid.y, &plane) || __builtin_mul_overflow(plane, grid.z, &items)) {
        REFUSE(RONDO_RANGE, "a grid of %llu x %llu x %llu items overflows", (unsigned long long)grid.x,
               (unsigned long long)grid.y, (unsigned long long)grid.z);
    }
    return RONDO_OK;
}

bool rdo_args_overlap(const rdo_access *a, const rdo_access *b) {
    if (a->memory != b->memory || a->low >= rdo_access_high(b) || b->low >= rdo_access_high(a)) return false;
    if (a->row_bytes == 0 || b->row_bytes == 0) return false;
    for (uint64_t i = 0; i < a->rows; i++) {
        uint64_t low = a->low + i * a->pitch;
        for (uint64_t j = 0; j < b->rows; j++) {
            uint64_t other = b->low + j * b->pitch;
            if (low < other + b->row_bytes && other < low + a->row_bytes) return true;
        }
    }
    return false;
}

rondo_status rdo_args_check_alias(const rdo_where *where, const rdo_op *op) {
    const rondo_param *params = op->kernel->params;
    for (uint32_t i = 1; i < op->access_count; i++) {
        const rdo_access *a = &op->accesses[i];
        for (uint32_t j = 0; j < i; j++) {
            const rdo_access *b = &op->accesses[j];
            if (RDO_LIKELY(a->memory != b->memory)) continue;
            if (!rdo_access_writes(a) && !rdo_access_writes(b)) continue;
            if (params[a->param].may_alias || params[b->param].may_alias || !rdo_args_overlap(a, b)) continue;
            REFUSE(RONDO_ALIASED,
                   "arguments '%s' and '%s' share bytes of buffer %llu and one of them is written; "
                   "use an inout parameter, or mark one as aliasing",
                   params[b->param].name, params[a->param].name, (unsigned long long)a->id);
        }
    }
    return RONDO_OK;
}

rondo_status rdo_args_launch(const rdo_where *where, rdo_books *books, rdo_op *op, const rondo_arg *args,
                             size_t arg_count, rdo_access *accesses, const void **values) {
    const rdo_kernel *kernel = op->kernel;
    rondo_status first = RONDO_OK;
    op->accesses = accesses;
    op->values = values;
    if (RDO_UNLIKELY(arg_count != kernel->param_count)) {
        REFUSE(RONDO_INVALID, "%zu arguments were given, the kernel takes %u", arg_count, kernel->param_count);
    }
    if (RDO_UNLIKELY(args == NULL && arg_count != 0)) REFUSE(RONDO_INVALID, "args is null");
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        const rondo_param *param = &kernel->params[i];
        rondo_status status;
        values[i] = args[i].value;
        if (rdo_param_is_buffer(param)) {
            rdo_access *access = &accesses[op->access_count];
            status = check_buffer(where, books, param, &args[i], access);
            access->param = i;
            op->access_count += status == RONDO_OK;
        } else if (RDO_LIKELY(args[i].value != NULL && args[i].value_bytes == param->size_bytes)) {
            continue;
        } else {
            status = check_value(where, param, &args[i]);
        }
        if (RDO_UNLIKELY(status != RONDO_OK && first == RONDO_OK)) first = status;
    }
    RDO_TRY(first);
    RDO_TRY(check_grid(where, op->grid));
    return rdo_args_check_alias(where, op);
}
