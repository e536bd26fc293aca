#include "op/args.h"

#include <string.h>

#include "base/check.h"
#include "base/text.h"

#define REFUSE(code, ...) return rdo_fault_raise(where, code, __VA_ARGS__)

/* The whole allocation that `buffer` names, as an access; false if it names none of these books. Memory of another
 * queue may be ending or moving right now, so it is looked at under the device lock. */
static bool find_whole(rdo_books *books, const rdo_store *own, rondo_buffer buffer, uint32_t mode, rdo_access *out) {
    rdo_memory *memory = rdo_memory_find(buffer);
    if (RDO_UNLIKELY(memory == NULL || rdo_memory_books(memory) != books)) return false;
    bool stable = own == NULL || atomic_load_explicit(&memory->home, memory_order_relaxed) == own;
    if (RDO_UNLIKELY(!stable)) rdo_lock_take(&books->lock);
    bool alive = stable || rdo_memory_find(buffer) == memory;
    if (RDO_LIKELY(alive)) rdo_access_fill(out, memory, buffer.id, 0, memory->size, mode);
    if (RDO_UNLIKELY(!stable)) rdo_lock_give(&books->lock);
    return alive;
}

static rondo_status refuse_buffer(const rdo_where *where, rondo_buffer buffer, const char *what) {
    unsigned long long id = buffer.id;
    if (id == 0) REFUSE(RONDO_STALE, "%s is the null buffer", what);
    if (rdo_memory_find(buffer) == NULL) {
        REFUSE(RONDO_STALE, "%s names buffer %llu, which was released or never existed", what, id);
    }
    REFUSE(RONDO_FOREIGN, "%s, buffer %llu, belongs to another device than the stream", what, id);
}

/* Narrows an access to a whole allocation down to the span; false if the span leaves it. */
static bool narrow(rdo_access *access, rondo_span span) {
    uint64_t size = access->row_bytes;
    if (RDO_UNLIKELY(span.offset_bytes > size)) return false;
    uint64_t rest = size - span.offset_bytes;
    if (span.size_bytes != RONDO_WHOLE && RDO_UNLIKELY(span.size_bytes > rest)) return false;
    access->low = span.offset_bytes;
    access->row_bytes = access->pitch = span.size_bytes == RONDO_WHOLE ? rest : span.size_bytes;
    return true;
}

rondo_status rdo_args_access(const rdo_where *where, rdo_books *books, const rdo_store *own, rondo_span span,
                             rdo_span_kind kind, uint32_t mode, const char *what, rdo_access *out_access) {
    unsigned long long id = span.buffer.id;
    if (RDO_UNLIKELY(!find_whole(books, own, span.buffer, mode, out_access))) {
        return refuse_buffer(where, span.buffer, what);
    }
    if (RDO_UNLIKELY(((out_access->host ? RDO_SPAN_HOST : RDO_SPAN_DEVICE) & (unsigned)kind) == 0)) {
        REFUSE(RONDO_INVALID, out_access->host ? "%s, buffer %llu, is a host block; device memory is needed here"
                                               : "%s, buffer %llu, is device memory; a host block is needed here",
               what, id);
    }
    if (RDO_UNLIKELY(!narrow(out_access, span))) {
        REFUSE(RONDO_RANGE, "%s: bytes %llu + %llu leave buffer %llu, which has %llu bytes", what,
               (unsigned long long)span.offset_bytes, (unsigned long long)span.size_bytes, id,
               (unsigned long long)out_access->row_bytes);
    }
    return RONDO_OK;
}

static const char *argument_name(char *room, size_t size_bytes, const char *name) {
    rdo_text text = rdo_text_in(room, size_bytes);
    rdo_text_add(&text, "argument '%s'", name);
    return room;
}

static rondo_status check_buffer(const rdo_where *where, rdo_books *books, const rdo_store *own,
                                 const rondo_param *param, const rondo_arg *arg, rdo_access *out) {
    char what[96];
    if (RDO_UNLIKELY(arg->value != NULL)) {
        REFUSE(RONDO_INVALID, "argument '%s' is a value; the kernel takes a buffer there", param->name);
    }
    /* The name is only put together when a message needs it: the plain case must stay cheap. */
    bool good = find_whole(books, own, arg->span.buffer, (uint32_t)param->kind, out) && !out->host &&
                narrow(out, arg->span);
    if (RDO_UNLIKELY(!good)) {
        return rdo_args_access(where, books, own, arg->span, RDO_SPAN_DEVICE, (uint32_t)param->kind,
                               argument_name(what, sizeof what, param->name), out);
    }
    if (RDO_UNLIKELY(!rdo_param_is_aligned(param, out->low))) {
        REFUSE(RONDO_INVALID, "argument '%s' starts at byte %llu, which is no multiple of its alignment %u",
               param->name, (unsigned long long)out->low, param->align_bytes);
    }
    return RONDO_OK;
}

/* Says what is wrong with an argument that is not a value of the right size. */
static rondo_status refuse_value(const rdo_where *where, const rondo_param *param, const rondo_arg *arg) {
    if (arg->value == NULL) {
        if (arg->span.buffer.id != 0) {
            REFUSE(RONDO_INVALID, "argument '%s' is a buffer; the kernel takes a value there", param->name);
        }
        REFUSE(RONDO_INVALID, "the value for argument '%s' is null", param->name);
    }
    REFUSE(RONDO_INVALID, "the value for argument '%s' has %llu bytes, the kernel takes %u", param->name,
           (unsigned long long)arg->value_bytes, param->size_bytes);
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
    if (a->id != b->id || a->low >= rdo_access_high(b) || b->low >= rdo_access_high(a)) return false;
    if (a->row_bytes == 0 || b->row_bytes == 0) return false;
    /* Rows ascend and do not overlap within one access, so both are walked once: a rectangle may have millions. */
    for (uint64_t i = 0, j = 0; i < a->rows && j < b->rows;) {
        uint64_t low = a->low + i * a->pitch, other = b->low + j * b->pitch;
        if (low + a->row_bytes <= other) {
            i++;
        } else if (other + b->row_bytes <= low) {
            j++;
        } else {
            return true;
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
            if (RDO_LIKELY(a->id != b->id)) continue; /* a record may serve another allocation by now, ids are unique */
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

rondo_status rdo_args_launch(const rdo_where *where, rdo_books *books, const rdo_store *own, rdo_op *op,
                             const rondo_arg *args, size_t arg_count, rdo_access *accesses, const void **values) {
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
            status = check_buffer(where, books, own, param, &args[i], access);
            access->param = (uint16_t)i;
            op->access_count += status == RONDO_OK;
        } else if (RDO_LIKELY(args[i].value != NULL && args[i].value_bytes == param->size_bytes)) {
            continue;
        } else {
            status = refuse_value(where, param, &args[i]);
        }
        if (RDO_UNLIKELY(status != RONDO_OK && first == RONDO_OK)) first = status;
    }
    RDO_TRY(first);
    RDO_TRY(check_grid(where, op->grid));
    return rdo_args_check_alias(where, op);
}
