/* The short way of a launch. It decides nothing by itself: wherever an argument, a claim, a stranger's window,
 * pending work or another queue could matter it gives up before anything happened, and the long way takes over. */
#include "base/check.h"
#include "stream/submit.h"

/* A launch being put together. */
typedef struct quick {
    rondo_place places[RONDO_MAX_PARAMS];
    const void *values[RONDO_MAX_PARAMS];
    rdo_memory *memories[RONDO_MAX_PARAMS]; /* of the buffers, in the order of the parameters */
    uint32_t buffers;
    const rondo_arg *args;
} quick;

/* Wraps around if the span begins behind the end, which then is no size that fits. */
static inline uint64_t size_of(const rdo_memory *memory, const rondo_arg *arg) {
    return arg->span.size_bytes != RONDO_WHOLE ? arg->span.size_bytes : memory->size - arg->span.offset_bytes;
}

/* The memory of a buffer argument; NULL if anything about it is out of the ordinary. */
static inline rdo_memory *plain_buffer(const rdo_store *own, const rondo_param *param, const rondo_arg *arg) {
    rdo_memory *memory = rdo_memory_find(arg->span.buffer);
    if (RDO_UNLIKELY(memory == NULL || atomic_load_explicit(&memory->home, memory_order_relaxed) != own)) return NULL;
    uint64_t low = arg->span.offset_bytes, size = size_of(memory, arg), whole = memory->size;
    bool good = arg->value == NULL && !memory->host && low <= whole && size <= whole - low &&
                (param->align_bytes <= 1 || (low & (param->align_bytes - 1)) == 0);
    return RDO_LIKELY(good) ? memory : NULL;
}

/* The same allocation twice may be an overlap. */
static inline bool is_among(rdo_memory *const *memories, uint32_t count, const rdo_memory *memory) {
    for (uint32_t i = 0; i < count; i++) {
        if (memories[i] == memory) return true;
    }
    return false;
}

static inline bool add_arguments(quick *q, const rdo_store *own, const rdo_kernel *kernel, const rondo_arg *args) {
    const rondo_param *param = kernel->params;
    uint32_t count = kernel->param_count, buffers = 0;
    for (uint32_t i = 0; i < count; i++, param++, args++) {
        if (!rdo_param_is_buffer(param)) {
            if (RDO_UNLIKELY(args->value == NULL || args->value_bytes != param->size_bytes)) return false;
            q->values[i] = args->value;
            continue;
        }
        rdo_memory *memory = plain_buffer(own, param, args);
        if (RDO_UNLIKELY(memory == NULL || is_among(q->memories, buffers, memory))) return false;
        q->places[i] = (rondo_place){memory->place.page, memory->place.offset_bytes + args->span.offset_bytes};
        q->values[i] = NULL;
        q->memories[buffers++] = memory;
    }
    q->buffers = buffers;
    return true;
}

static inline bool plain_grid(const rondo_grid *grid) {
    uint64_t plane, items;
    bool fits = !__builtin_mul_overflow(grid->x, grid->y, &plane) && !__builtin_mul_overflow(plane, grid->z, &items);
    return fits && items != 0;
}

static void fill_accesses(const quick *q, const rdo_kernel *kernel, rdo_access *accesses) {
    uint32_t done = 0;
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        const rondo_arg *arg = &q->args[i];
        if (!rdo_param_is_buffer(&kernel->params[i])) continue;
        rdo_memory *memory = q->memories[done];
        rdo_access_fill(&accesses[done], memory, arg->span.buffer.id, arg->span.offset_bytes, size_of(memory, arg),
                        (uint32_t)kernel->params[i].kind);
        accesses[done++].param = (uint16_t)i;
    }
}

/* The launch as an op, for whoever has to deal with its failure; `accesses` has room for its own. */
static rdo_op op_of(const rdo_call *call, rdo_kernel *kernel, const rondo_grid *grid, const quick *q,
                    rdo_access *accesses) {
    rdo_op op = {.kind = RONDO_NODE_LAUNCH, .label = call->where.label, .kernel = kernel, .grid = *grid};
    op.accesses = accesses;
    op.access_count = q->buffers;
    fill_accesses(q, kernel, accesses);
    return op;
}

static rondo_status finish(rdo_call *call, rdo_kernel *kernel, const rondo_grid *grid, const quick *q,
                           rondo_backend_result result, const rondo_backend_outcome *outcome) {
    rdo_access accesses[RONDO_MAX_PARAMS];
    rdo_op op = op_of(call, kernel, grid, q, accesses);
    return rdo_finish_played(call, &op, result, outcome);
}

static rondo_status refuse(rdo_call *call, rdo_kernel *kernel, const rondo_grid *grid, const quick *q) {
    rdo_access accesses[RONDO_MAX_PARAMS];
    rdo_op op = op_of(call, kernel, grid, q, accesses);
    return rdo_refuse_to_record(call, &op);
}

/* The launch as an op of the caller's window, made where it stays. */
static rondo_status keep(rdo_call *call, rdo_kernel *kernel, const rondo_grid *grid, const quick *q) {
    rdo_arena *arena = &call->queue->window.arena;
    rdo_op *op = rdo_op_new(arena, RONDO_NODE_LAUNCH, q->buffers, kernel->param_count, call->where.label);
    if (RDO_UNLIKELY(op == NULL)) return refuse(call, kernel, grid, q);
    op->kernel = kernel;
    op->grid = *grid;
    op->own_values = 0;
    fill_accesses(q, kernel, op->accesses);
    for (uint32_t i = 0; i < kernel->param_count; i++) op->values[i] = q->values[i];
    return rdo_record_placed(call, op, true);
}

/* Runs the launch, unless a claim or another queue could matter. */
static inline bool play(rdo_call *call, rdo_kernel *kernel, const rondo_grid *grid, const quick *q,
                        rondo_status *out_status) {
    rdo_queue *queue = call->queue;
    rdo_engine *engine = call->engine;
    bool ran = false;
    /* Claims are asked for only once no other queue can be placing one on memory of this one. */
    if (RDO_LIKELY(rdo_order_enter_fast(&queue->store) && atomic_load(&engine->books.claimed) == 0)) {
        rondo_backend_outcome outcome;
        outcome.message[0] = '\0';
        rondo_backend_op op; /* the fields of other kinds mean nothing */
        op.kind = RONDO_OP_LAUNCH;
        op.kernel = kernel->loaded;
        op.grid = *grid;
        op.arg_count = kernel->param_count;
        op.places = q->places;
        op.values = q->values;
        rdo_this_thread.work_depth++;
        rondo_backend_result result = engine->books.backend->submit(queue->backend_queue, &op, &outcome);
        rdo_this_thread.work_depth--;
        ran = true;
        if (RDO_LIKELY(result == RONDO_BACKEND_DONE)) {
            rdo_count_own(&queue->launches);
            *out_status = RONDO_OK;
        } else {
            *out_status = finish(call, kernel, grid, q, result, &outcome);
        }
    }
    rdo_order_leave_fast(&engine->order, &queue->store);
    return ran;
}

bool rdo_launch_quickly(rdo_call *call, rdo_kernel *kernel, const rondo_grid *grid, const rondo_arg *args,
                        size_t arg_count, rondo_status *out_status) {
    quick q;
    const rdo_window *window = &call->queue->window;
    q.args = args;
    if (RDO_UNLIKELY(arg_count != kernel->param_count || args == NULL)) return false;
    if (RDO_UNLIKELY(!plain_grid(grid) || !add_arguments(&q, &call->queue->store, kernel, args))) return false;
    if (RDO_LIKELY(!rdo_window_is_recording(window))) {
        return RDO_LIKELY(call->queue->pending == NULL) && play(call, kernel, grid, &q, out_status);
    }
    if (!rdo_call_owns(call)) return false;
    *out_status = keep(call, kernel, grid, &q);
    return true;
}
