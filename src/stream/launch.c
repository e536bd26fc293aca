/* Launches. The long way looks at every argument for what may be wrong or special with it, and issues the launch like
 * any other operation.
 *
 * The short way is what most launches are: all memory at home, all arguments plainly good, no claim, nobody waiting, no
 * window but the caller's own. It walks the arguments once, straight into what is played or kept. It decides nothing by
 * itself: wherever anything else could matter it gives up before anything happened, and the long way takes over. */
#include "base/check.h"
#include "op/args.h"
#include "stream/submit.h"

/* Wraps around if the span begins behind the end, which then is no size that fits. */
static inline uint64_t size_of(const rdo_memory *memory, const rondo_arg *arg) {
    return arg->span.size_bytes != RONDO_WHOLE ? arg->span.size_bytes : memory->size - arg->span.offset_bytes;
}

/* The memory of a buffer argument; NULL if anything about it is out of the ordinary. The same allocation twice is,
 * since that may be an overlap. `walk` is the number of this walk over the arguments; should one of long ago have had
 * the same, the launch goes the long way for nothing. */
static inline rdo_memory *plain_buffer(const rdo_store *own, uint32_t walk, const rondo_param *param,
                                       const rondo_arg *arg) {
    rdo_memory *memory = rdo_memory_find(arg->span.buffer);
    if (RDO_UNLIKELY(memory == NULL || atomic_load_explicit(&memory->home, memory_order_relaxed) != own)) return NULL;
    if (RDO_UNLIKELY(memory->named_in == walk)) return NULL;
    memory->named_in = walk;
    if (RDO_UNLIKELY(arg->value != NULL || memory->host)) return NULL;
    uint64_t low = arg->span.offset_bytes, size = arg->span.size_bytes, whole = memory->size;
    if (RDO_UNLIKELY(low > whole || !rdo_param_is_aligned(param, low))) return NULL;
    return RDO_LIKELY(size == RONDO_WHOLE || size <= whole - low) ? memory : NULL;
}

static inline bool plain_value(const rondo_param *param, const rondo_arg *arg) {
    return RDO_LIKELY(arg->value != NULL && arg->value_bytes == param->size_bytes);
}

static inline bool plain_grid(const rondo_grid *grid) {
    uint64_t plane, items;
    if (RDO_UNLIKELY(__builtin_mul_overflow(grid->x, grid->y, &plane))) return false;
    if (RDO_UNLIKELY(__builtin_mul_overflow(plane, grid->z, &items))) return false;
    return items != 0;
}

/* `index` is that of the parameter. */
static inline void fill_access(rdo_access *access, const rondo_param *param, uint32_t index, const rondo_arg *arg,
                               rdo_memory *memory) {
    rdo_access_fill(access, memory, arg->span.buffer.id, arg->span.offset_bytes, size_of(memory, arg),
                    (uint32_t)param->kind);
    access->param = (uint16_t)index;
}

/* A launch in the middle of its way, seen as any other call: for what is out of the ordinary. The short way itself does
 * without, since what is stored before a lock is taken or given back delays that. */
static void make_call(rdo_call *call, rdo_stream *stream, const rdo_kernel *kernel, const char *label) {
    rdo_call_fill(call, stream, "rondo_launch", label);
    call->where.kernel = kernel != NULL ? kernel->name : NULL;
    if (rdo_window_is_recording(&call->queue->window)) rdo_call_enter_window(call);
}

/* A launch on the long way. */
typedef struct careful {
    rdo_call call;
    rdo_op op;
    rdo_access accesses[RONDO_MAX_PARAMS];
    const void *values[RONDO_MAX_PARAMS];
} careful;

static void begin_carefully(careful *c, rdo_stream *stream, const char *label, rdo_kernel *kernel,
                            const rondo_grid *grid) {
    make_call(&c->call, stream, kernel, label);
    c->op = (rdo_op){.kind = RONDO_NODE_LAUNCH, .label = label, .kernel = kernel, .grid = *grid};
}

static rondo_status look_at_arguments(careful *c, const rondo_arg *args, size_t arg_count) {
    return rdo_args_launch(&c->call.where, &c->call.engine->books, &c->call.queue->store, &c->op, args, arg_count,
                           c->accesses, c->values);
}

/* ---- recording ---- */

/* The values of a launch are kept in one block; this is where the launch finds them in the block that was kept last, as
 * long as they are the same. */
static inline const uint8_t *last_values(const rdo_window *window, const rdo_kernel *kernel) {
    const rdo_meta_block *block = rdo_window_last_pin(window);
    return block != NULL && block->size_bytes == kernel->values_bytes ? block->bytes : NULL;
}

/* Whether the argument names the bytes of an access that the window remembers, and nothing about it is new. */
static inline bool is_remembered(const rdo_known *known, uint32_t walk, const rondo_param *param,
                                 const rondo_arg *arg) {
    const rdo_access *access = &known->access;
    if (RDO_UNLIKELY(access->id != arg->span.buffer.id || access->low != arg->span.offset_bytes)) return false;
    if (RDO_UNLIKELY(known->asked_bytes != arg->span.size_bytes || ((uint32_t)param->kind & ~known->modes) != 0)) {
        return false;
    }
    rdo_memory *memory = access->memory;
    if (RDO_UNLIKELY(!rdo_memory_is(memory, arg->span.buffer) || memory->named_in == walk)) return false;
    memory->named_in = walk;
    return RDO_LIKELY(arg->value == NULL && rdo_param_is_aligned(param, arg->span.offset_bytes));
}

/* Fills in the access of a buffer argument, and remembers it. False if anything about it is out of the ordinary.
 * *all_known becomes false if the window does not hold it yet. */
static inline bool add_access(rdo_queue *queue, uint32_t walk, const rondo_param *param, uint32_t index,
                              const rondo_arg *arg, rdo_access *access, bool *all_known) {
    rdo_known *known = rdo_window_known_memory(&queue->window, arg->span.buffer.id);
    if (RDO_LIKELY(is_remembered(known, walk, param, arg))) {
        *access = known->access;
        access->mode = (uint8_t)param->kind;
        access->param = (uint16_t)index;
        return true;
    }
    rdo_memory *memory = plain_buffer(&queue->store, walk, param, arg);
    if (RDO_UNLIKELY(memory == NULL)) return false;
    fill_access(access, param, index, arg, memory);
    uint32_t modes = rdo_known_modes(known, access);
    if (modes != 0) {
        known->access = *access;
        known->asked_bytes = arg->span.size_bytes;
        known->modes = modes;
    }
    *all_known &= (access->mode & ~modes) == 0;
    return true;
}

/* Fills in accesses and values of an op of the window. False if anything about them is out of the ordinary. *out_known:
 * the window holds these and the kernel already. */
static inline bool fill_op(rdo_queue *queue, rdo_op *op, const rondo_arg *args, bool *out_known) {
    rdo_window *window = &queue->window;
    const rdo_kernel *kernel = op->kernel;
    const uint8_t *kept = last_values(window, kernel);
    rdo_access *access = op->accesses;
    bool known = *rdo_window_known_kernel(window, kernel) == kernel;
    const uint32_t walk = ++queue->walks;
    const rondo_param *param = kernel->params;
    const void **value = op->values;
    const uint32_t count = kernel->param_count;
    for (uint32_t i = 0; i < count; i++, param++, args++, value++) {
        if (rdo_param_is_buffer(param)) {
            if (RDO_UNLIKELY(!add_access(queue, walk, param, i, args, access++, &known))) return false;
            *value = NULL;
        } else if (!plain_value(param, args)) {
            return false;
        } else if (kept != NULL && rdo_value_is_same(kept, args->value, param->size_bytes)) {
            *value = kept;
            kept += rdo_param_room(param);
        } else {
            *value = args->value;
            kept = NULL;
            known = false;
        }
    }
    *out_known = known;
    return true;
}

/* Whether no input can have a claim, and no work of other streams is under way on this queue's memory. */
static inline bool is_undisturbed(const rdo_queue *queue) {
    return atomic_load(&queue->engine->books.claimed) == 0 && atomic_load(&queue->store.foreign) == 0 &&
           queue->pending == NULL;
}

/* It names something that the window does not hold yet, or something is under way. */
static rondo_status record(rdo_stream *stream, const char *label, rdo_op *op) {
    rdo_call call;
    make_call(&call, stream, op->kernel, label);
    return rdo_record_placed(&call, op, true);
}

/* There is no memory to record it; but what is wrong with it comes first. */
static rondo_status refuse(rdo_stream *stream, const char *label, rdo_kernel *kernel, const rondo_grid *grid,
                           const rondo_arg *args) {
    careful c;
    begin_carefully(&c, stream, label, kernel, grid);
    rondo_status status = look_at_arguments(&c, args, kernel->param_count);
    return status == RONDO_OK ? rdo_refuse_to_record(&c.call, &c.op) : rdo_refuse(&c.call, &c.op, status);
}

/* The launch as an op of the caller's window, made where it stays. The device lock is needed only for what the window
 * does not hold yet. False, and nothing happened, if its arguments are out of the ordinary. */
RDO_OUT_OF_LINE bool keep(rdo_stream *stream, const char *label, rdo_kernel *kernel, const rondo_grid *grid,
                          const rondo_arg *args, rondo_status *out_status) {
    rdo_queue *queue = stream->queue;
    rdo_window *window = &queue->window;
    bool known;
    rdo_window_note_refusal(window);
    rdo_op *op = rdo_op_new(&window->arena, RONDO_NODE_LAUNCH, kernel->buffer_count, kernel->param_count);
    if (RDO_UNLIKELY(op == NULL)) {
        *out_status = refuse(stream, label, kernel, grid, args);
        return true;
    }
    op->kernel = kernel;
    op->grid.x = grid->x;
    op->grid.y = grid->y;
    op->grid.z = grid->z;
    op->own_values = 0;
    if (RDO_UNLIKELY(!fill_op(queue, op, args, &known))) {
        rdo_arena_untake(&window->arena, op, rdo_op_bytes(kernel->buffer_count, kernel->param_count));
        return false;
    }
    bool labelled = rdo_op_set_label(&window->arena, op, label);
    if (RDO_LIKELY(known && labelled && is_undisturbed(queue) && window->ops.count < window->ops.capacity)) {
        window->ops.data[window->ops.count++] = op;
        rdo_count_own(&queue->recorded);
        *out_status = RONDO_OK;
    } else {
        *out_status = labelled ? record(stream, label, op) : refuse(stream, label, kernel, grid, args);
    }
    return true;
}

/* ---- playing ---- */

/* The arguments of a launch being put together. */
typedef struct quick {
    rondo_place places[RONDO_MAX_PARAMS]; /* of buffers, for backends that do without addresses */
    void *args[RONDO_MAX_PARAMS];         /* addresses; NULL for a buffer that has a place */
} quick;

static inline bool add_arguments(quick *q, rdo_queue *queue, const rdo_kernel *kernel, const rondo_arg *args) {
    const bool by_address = queue->engine->books.backend->launch != NULL;
    const uint32_t walk = ++queue->walks;
    const rondo_param *param = kernel->params;
    uint32_t count = kernel->param_count;
    for (uint32_t i = 0; i < count; i++, param++, args++) {
        if (!rdo_param_is_buffer(param)) {
            if (RDO_UNLIKELY(!plain_value(param, args))) return false;
            q->args[i] = (void *)(uintptr_t)args->value; /* read only, by the kernel's contract */
            continue;
        }
        const rdo_memory *memory = plain_buffer(&queue->store, walk, param, args);
        if (RDO_UNLIKELY(memory == NULL)) return false;
        const rondo_place place = {memory->place.page, memory->place.offset_bytes + args->span.offset_bytes};
        if (by_address) {
            /* By number and not by pointer: an empty span may have no page, and nothing may be added to a null one. */
            q->args[i] = (void *)((uintptr_t)place.page + place.offset_bytes);
        } else {
            q->args[i] = NULL;
            q->places[i] = place;
        }
    }
    return true;
}

/* The launch as an op; `accesses` has room for its own. The kernel may have released its buffers while it ran, but the
 * queue's lock still keeps their records. */
static rdo_op op_of(const char *label, rdo_kernel *kernel, const rondo_grid *grid, const rondo_arg *args,
                    rdo_access *accesses) {
    rdo_op op = {.kind = RONDO_NODE_LAUNCH, .label = label, .kernel = kernel, .grid = *grid};
    op.accesses = accesses;
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        if (!rdo_param_is_buffer(&kernel->params[i])) continue;
        rdo_memory *memory = rdo_memory_at(args[i].span.buffer);
        fill_access(&accesses[op.access_count++], &kernel->params[i], i, &args[i], memory);
    }
    return op;
}

/* It was played, and did not end well. */
RDO_OUT_OF_LINE rondo_status finish(rdo_stream *stream, const char *label, rdo_kernel *kernel, const rondo_grid *grid,
                                    const rondo_arg *args, rondo_backend_result result,
                                    const rondo_backend_outcome *outcome) {
    rdo_access accesses[RONDO_MAX_PARAMS];
    rdo_op op = op_of(label, kernel, grid, args, accesses);
    rdo_call call;
    make_call(&call, stream, kernel, label);
    return rdo_finish_played(&call, &op, result, outcome);
}

static rondo_backend_result submit(const rdo_queue *queue, const rdo_kernel *kernel, const rondo_grid *grid,
                                   const quick *q, rondo_backend_outcome *outcome) {
    rondo_backend_op op; /* the fields of other kinds mean nothing */
    op.kind = RONDO_OP_LAUNCH;
    op.kernel = kernel->loaded;
    op.grid = *grid;
    op.arg_count = kernel->param_count;
    op.places = q->places;
    op.values = (const void *const *)q->args;
    return queue->engine->books.backend->submit(queue->backend_queue, &op, outcome);
}

/* Runs the launch, unless a claim or another queue could matter. */
static inline bool play(rdo_stream *stream, const char *label, rdo_kernel *kernel, const rondo_grid *grid,
                        const rondo_arg *args, const quick *q, rondo_status *out_status) {
    rdo_queue *queue = stream->queue;
    rdo_engine *engine = queue->engine;
    const rondo_backend *backend = engine->books.backend;
    bool ran = false;
    /* Claims are asked for only once no other queue can be placing one on memory of this one. */
    if (RDO_LIKELY(rdo_order_enter_fast(&queue->store) && atomic_load(&engine->books.claimed) == 0)) {
        rondo_backend_outcome outcome;
        outcome.message[0] = '\0';
        rdo_this_thread.work_depth++;
        rondo_backend_result result =
            RDO_LIKELY(backend->launch != NULL)
                ? backend->launch(queue->backend_queue, kernel->loaded, grid, q->args, &outcome)
                : submit(queue, kernel, grid, q, &outcome);
        rdo_this_thread.work_depth--;
        ran = true;
        if (RDO_LIKELY(result == RONDO_BACKEND_DONE)) {
            rdo_count_own(&queue->launches);
            *out_status = RONDO_OK;
        } else {
            *out_status = finish(stream, label, kernel, grid, args, result, &outcome);
        }
    }
    rdo_order_leave_fast(&engine->order, &queue->store);
    return ran;
}

/* False, and nothing happened, if anything is out of the ordinary. True: it ran or was kept, *out_status says how. */
RDO_IN_LINE bool launch_quickly(rdo_stream *stream, const char *label, rdo_kernel *kernel, const rondo_grid *grid,
                                const rondo_arg *args, rondo_status *out_status) {
    quick q;
    rdo_queue *queue = stream->queue;
    if (RDO_UNLIKELY(rdo_window_is_recording(&queue->window))) {
        return rdo_window_owner(&queue->window) == stream->id && keep(stream, label, kernel, grid, args, out_status);
    }
    if (RDO_UNLIKELY(!add_arguments(&q, queue, kernel, args))) return false;
    return RDO_LIKELY(queue->pending == NULL) && play(stream, label, kernel, grid, args, &q, out_status);
}

RDO_OUT_OF_LINE rondo_status launch_carefully(rdo_stream *stream, const char *label, const void *handle,
                                              rdo_kernel *kernel, const rondo_grid *grid, const rondo_arg *args,
                                              size_t arg_count) {
    careful c;
    rondo_status status;
    begin_carefully(&c, stream, label, kernel, grid);
    if (kernel == NULL) {
        status = rdo_fault_raise(&c.call.where, RONDO_STALE,
                                 handle == NULL ? "the kernel is null" : "the kernel was released or never existed");
    } else if (kernel->books != &c.call.engine->books) {
        status = rdo_fault_raise(&c.call.where, RONDO_FOREIGN, "the kernel belongs to another device than the stream");
    } else {
        status = look_at_arguments(&c, args, arg_count);
    }
    return status == RONDO_OK ? rdo_issue(&c.call, &c.op) : rdo_refuse(&c.call, &c.op, status);
}

/* What can be said of a launch without the queue's lock: an atomic instruction keeps what follows from beginning early,
 * so that all that can comes before. */
static inline bool may_be_plain(const rdo_queue *queue, const rdo_kernel *kernel, const rondo_grid *grid,
                                const rondo_arg *args, size_t arg_count) {
    if (RDO_UNLIKELY(kernel == NULL || kernel->books != &queue->engine->books)) return false;
    return RDO_LIKELY(arg_count == kernel->param_count && args != NULL && plain_grid(grid));
}

rondo_status rdo_launch(const void *stream_handle, const void *kernel_handle, uint64_t x, uint64_t y, uint64_t z,
                        const rondo_arg *args, size_t arg_count, const char *label) {
    const rondo_grid grid = {x, y, z};
    rondo_status status;
    rdo_stream *stream = rdo_object_find(RDO_OBJECT_STREAM, stream_handle);
    if (RDO_UNLIKELY(!rdo_call_may_enter(stream))) {
        status = rdo_call_not_entered(stream_handle, stream, "rondo_launch", label);
        rdo_call_refused(stream_handle, status);
        return status;
    }
    rdo_queue *queue = stream->queue;
    rdo_kernel *kernel = rdo_object_find(RDO_OBJECT_KERNEL, kernel_handle);
    bool plain = may_be_plain(queue, kernel, &grid, args, arg_count);
    rdo_lock_take(&queue->lock);
    if (RDO_UNLIKELY(!plain || !launch_quickly(stream, label, kernel, &grid, args, &status))) {
        status = launch_carefully(stream, label, kernel_handle, kernel, &grid, args, arg_count);
    }
    return rdo_queue_leave(queue, status);
}
