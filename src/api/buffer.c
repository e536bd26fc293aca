#include <rondo/buffer.h>

#include <string.h>

#include "api/api.h"
#include "op/args.h"
#include "stream/pending.h"
#include "stream/transfer.h"

/* ---- life ---- */

/* *out_again: the device is full, but something may have made room since: pending work that ended, or what other queues
 * had to be swept of. */
static rondo_status try_to_create(rondo_stream *stream, const char *operation, rdo_request *request,
                                  rondo_buffer *out_buffer, bool *out_again) {
    rdo_call call;
    rdo_memory *memory = NULL;
    *out_again = false;
    RDO_TRY(rdo_call_begin_work(&call, stream, operation, NULL));
    rondo_status status = rdo_allocate(&call, request, false, &memory);
    if (memory != NULL) {
        *out_buffer = (rondo_buffer){memory->id};
        rdo_memory_publish(memory);
    }
    bool full = rondo_status_code(status) == RONDO_NO_DEVICE_MEMORY &&
                !rdo_captures_any_recording(&call.engine->captures);
    if (RDO_LIKELY(!full)) return rdo_call_end(&call, status);
    bool waits = atomic_load(&call.engine->books.returning) != 0;
    rdo_engine_pin(call.engine);
    status = rdo_call_end(&call, status);
    *out_again = rdo_engine_drain(call.engine) || waits;
    rdo_engine_settle_pinned(call.engine);
    return status;
}

/* Allocates; when the device is full and nobody records, waits for pending work, settles all queues and tries once
 * more [M4]. */
static rondo_status create_buffer(rondo_stream *stream, const char *operation, rdo_request *request,
                                  rondo_buffer *out_buffer) {
    bool again;
    rondo_status status = try_to_create(stream, operation, request, out_buffer, &again);
    return again ? try_to_create(stream, operation, request, out_buffer, &again) : status;
}

/* On its own, so that a good call writes down no place to complain about. */
static rondo_status refuse_buffer(rondo_usage usage, const rondo_buffer *out_buffer) {
    const rdo_where *where = RDO_NOWHERE("rondo_buffer_create");
    if (out_buffer == NULL) RDO_REFUSE(RONDO_INVALID, "out_buffer is null");
    RDO_REFUSE(RONDO_INVALID, "there is no usage %d", (int)usage);
}

rondo_status rondo_buffer_create(rondo_stream *stream, uint64_t size_bytes, rondo_usage usage,
                                 rondo_buffer *out_buffer) {
    rdo_request request = {.size = size_bytes, .usage = usage};
    if (out_buffer == NULL) return refuse_buffer(usage, out_buffer);
    *out_buffer = RONDO_NO_BUFFER;
    if ((unsigned)usage > RONDO_USAGE_ONE_OFF) return refuse_buffer(usage, out_buffer);
    return create_buffer(stream, "rondo_buffer_create", &request, out_buffer);
}

rondo_status rondo_host_create(rondo_stream *stream, uint64_t size_bytes, rondo_buffer *out_block) {
    const rdo_where *where = RDO_NOWHERE("rondo_host_create");
    rdo_request request = {.size = size_bytes, .host = true};
    if (out_block == NULL) RDO_REFUSE(RONDO_INVALID, "out_block is null");
    *out_block = RONDO_NO_BUFFER;
    if (size_bytes == 0) RDO_REFUSE(RONDO_INVALID, "a host block needs at least one byte");
    RDO_TRY(create_buffer(stream, "rondo_host_create", &request, out_block));
    memset(rondo_host_data(*out_block), 0, size_bytes);
    return RONDO_OK;
}

static rondo_status import(rondo_stream *stream, const char *operation, void *data, uint64_t size_bytes, bool host,
                           rondo_release_fn release, void *user, rondo_buffer *out_buffer) {
    rdo_call call;
    rdo_memory *memory = NULL;
    const rdo_where *where = &call.where;
    RDO_TRY(rdo_call_begin(&call, stream, operation, NULL));
    rondo_status status;
    uint64_t alignment = host ? 1 : call.engine->books.alignment;
    if (data == NULL || size_bytes == 0) {
        status = rdo_fault_raise(where, RONDO_INVALID, data == NULL ? "data is null" : "there are no bytes to import");
    } else if ((uintptr_t)data % alignment != 0) {
        status = rdo_fault_raise(where, RONDO_INVALID, "data is not aligned to the device's %llu bytes",
                                 (unsigned long long)alignment);
    } else if (size_bytes > UINTPTR_MAX - (uintptr_t)data) {
        status = rdo_fault_raise(where, RONDO_INVALID, "data and size leave the address space");
    } else {
        status = rdo_import(&call, data, size_bytes, host, release, user, &memory);
    }
    if (memory != NULL) {
        *out_buffer = (rondo_buffer){memory->id};
        rdo_memory_publish(memory);
    }
    return rdo_call_end(&call, status);
}

rondo_status rondo_buffer_import(rondo_stream *stream, void *data, uint64_t size_bytes, rondo_release_fn release,
                                 void *user, rondo_buffer *out_buffer) {
    const rdo_where *where = RDO_NOWHERE("rondo_buffer_import");
    if (out_buffer == NULL) RDO_REFUSE(RONDO_INVALID, "out_buffer is null");
    *out_buffer = RONDO_NO_BUFFER;
    return import(stream, "rondo_buffer_import", data, size_bytes, false, release, user, out_buffer);
}

rondo_status rondo_host_import(rondo_stream *stream, void *data, uint64_t size_bytes, rondo_release_fn release,
                               void *user, rondo_buffer *out_block) {
    const rdo_where *where = RDO_NOWHERE("rondo_host_import");
    if (out_block == NULL) RDO_REFUSE(RONDO_INVALID, "out_block is null");
    *out_block = RONDO_NO_BUFFER;
    return import(stream, "rondo_host_import", data, size_bytes, true, release, user, out_block);
}

static rondo_status stale(const rdo_where *where, rondo_buffer buffer) {
    const rdo_memory *memory = rdo_memory_find(buffer);
    if (memory != NULL) RDO_TRY(rdo_api_check_fork(rdo_engine_of_books(rdo_memory_books(memory)), where));
    RDO_REFUSE(RONDO_STALE, "buffer %llu was released or never existed", (unsigned long long)buffer.id);
}

/* The books of a live buffer, or NULL, also in a forked child. Its record stays put while the device lock is held
 * and the id is asked again. */
static rdo_memory *find_locked(rondo_buffer buffer, rdo_books **out_books) {
    rdo_memory *memory = rdo_memory_find(buffer);
    if (memory == NULL) return NULL;
    *out_books = rdo_memory_books(memory);
    if (!rdo_api_may_release(rdo_engine_of_books(*out_books))) return NULL;
    rdo_lock_take(&(*out_books)->lock);
    if (rdo_memory_is(memory, buffer)) return memory;
    rdo_lock_give(&(*out_books)->lock);
    return NULL;
}

rondo_status rondo_buffer_retain(rondo_buffer buffer) {
    const rdo_where *where = RDO_NOWHERE("rondo_buffer_retain");
    rdo_books *books;
    rdo_memory *memory = find_locked(buffer, &books);
    if (memory == NULL) return stale(where, buffer);
    memory->refs++;
    rdo_lock_give(&books->lock);
    return RONDO_OK;
}

/* Device lock held, and that of its home queue if `at_home`. */
static void release_locked(rdo_memory *memory, bool at_home) {
    bool last = memory->refs == 1;
    if (at_home) {
        rdo_memory_unref_at_home(memory);
    } else {
        rdo_memory_unref(memory);
    }
    if (last && memory->maps != 0) rdo_end_mappings(memory); /* nobody could unmap it any more */
}

void rondo_buffer_release(rondo_buffer buffer) {
    rdo_memory *memory = rdo_memory_find(buffer);
    if (memory == NULL) return;
    /* All that is locked follows from one look at the record, which may begin to serve another device meanwhile. */
    rdo_queue *home = rdo_queue_of_store(atomic_load_explicit(&memory->home, memory_order_relaxed));
    rdo_engine *engine = home->engine;
    if (!rdo_api_may_release(engine)) return;
    /* With its queue's lock, which is mostly free, the memory need not wait for a sweep. */
    bool at_home = !rdo_in_work() && rdo_lock_try(&home->lock);
    rdo_lock_take(&engine->books.lock);
    if (rdo_memory_is(memory, buffer)) release_locked(memory, at_home);
    if (RDO_LIKELY(at_home)) {
        rdo_queue_leave_settled(home);
    } else {
        rdo_api_released(engine);
    }
}

rondo_status rondo_buffer_get_info(rondo_buffer buffer, rondo_buffer_info *out_info) {
    const rdo_where *where = RDO_NOWHERE("rondo_buffer_get_info");
    rdo_books *books;
    if (out_info == NULL) RDO_REFUSE(RONDO_INVALID, "out_info is null");
    memset(out_info, 0, sizeof *out_info);
    if (rdo_in_work()) RDO_REFUSE(RONDO_REENTRANT, "called from inside a kernel or a host call");
    rdo_memory *memory = find_locked(buffer, &books);
    if (memory == NULL) return stale(where, buffer);
    rdo_location location = rdo_memory_location(memory);
    *out_info = (rondo_buffer_info){.size_bytes = memory->size,
                                    .home_stream_id = memory->home_stream_id,
                                    .usage = memory->usage,
                                    .host = memory->host,
                                    .imported = memory->imported,
                                    .mapped = memory->maps != 0,
                                    .graphs = memory->page != NULL ? memory->page->slices[memory->slice].guards : 0,
                                    .pool = location.pool,
                                    .page = location.page,
                                    .slice = location.slice};
    rdo_lock_give(&books->lock);
    return RONDO_OK;
}

rondo_status rondo_span_status(rondo_span span) {
    const rdo_where *where = RDO_NOWHERE("rondo_span_status");
    rdo_books *books;
    rdo_access access;
    if (rdo_in_work()) RDO_REFUSE(RONDO_REENTRANT, "called from inside a kernel or a host call");
    rdo_memory *memory = find_locked(span.buffer, &books);
    if (memory == NULL) return stale(where, span.buffer);
    rondo_status status = rdo_args_access(where, books, NULL, span, RDO_SPAN_ANY, RONDO_READS, "span", &access);
    rdo_engine *engine = rdo_engine_of_books(books);
    bool waits = status == RONDO_OK && engine->order.first != NULL;
    if (RDO_UNLIKELY(waits)) rdo_await_queued_access(engine, &access);
    if (status == RONDO_OK) status = rdo_readable(where, &access);
    if (RDO_LIKELY(!waits)) {
        rdo_lock_give(&books->lock);
    } else {
        rdo_api_released(engine); /* who released the buffer meanwhile left its end to us */
    }
    return status;
}

/* ---- operations ---- */

/* A transfer under way: the call, the op and its accesses. */
typedef struct transfer {
    rdo_call call;
    rdo_op op;
    rdo_access accesses[2];
} transfer;

static rondo_status begin(transfer *t, rondo_stream *stream, rondo_node_kind kind, const char *label) {
    t->op = (rdo_op){.kind = kind, .accesses = t->accesses, .label = label};
    return rdo_call_begin_work(&t->call, stream, rdo_op_call(kind), label);
}

/* Adds the next span to the op; a span that is no good is not added. */
static rondo_status add(transfer *t, rondo_span span, rdo_span_kind kind, uint32_t mode, const char *what) {
    rondo_status status = rdo_args_access(&t->call.where, &t->call.engine->books, &t->call.queue->store, span, kind,
                                          mode, what, &t->accesses[t->op.access_count]);
    t->op.access_count += status == RONDO_OK;
    return status;
}

/* Adds target and source, both looked at, so that a bad source still claims a good target [T8]. */
static rondo_status add_both(transfer *t, rondo_span target, rdo_span_kind target_kind, rondo_span source,
                             rdo_span_kind source_kind) {
    const rdo_where *where = &t->call.where;
    rondo_status status = add(t, target, target_kind, RONDO_WRITES, "target");
    rondo_status second = add(t, source, source_kind, RONDO_READS, "source");
    if (status == RONDO_OK) status = second;
    if (status != RONDO_OK || t->accesses[0].row_bytes == t->accesses[1].row_bytes) return status;
    RDO_REFUSE(RONDO_RANGE, "the target has %llu bytes, the source %llu", (unsigned long long)t->accesses[0].row_bytes,
               (unsigned long long)t->accesses[1].row_bytes);
}

static rondo_status end(transfer *t, rondo_status status) {
    if (status == RONDO_OK) {
        status = rdo_issue(&t->call, &t->op);
    } else {
        status = rdo_refuse(&t->call, &t->op, status);
    }
    return rdo_call_end(&t->call, status);
}

rondo_status rondo_write(rondo_stream *stream, rondo_span target, const void *data, const char *label) {
    transfer t;
    RDO_TRY(begin(&t, stream, RONDO_NODE_WRITE, label));
    rondo_status status = add(&t, target, RDO_SPAN_DEVICE, RONDO_WRITES, "target");
    if (status == RONDO_OK && data == NULL && t.accesses[0].row_bytes != 0) {
        status = rdo_fault_raise(&t.call.where, RONDO_INVALID, "data is null");
    }
    t.op.bytes = data;
    if (status == RONDO_OK) status = rdo_stage_write(&t.call, &t.op);
    return end(&t, status);
}

rondo_status rondo_write_live(rondo_stream *stream, rondo_span target, rondo_span host_source, const char *label) {
    transfer t;
    RDO_TRY(begin(&t, stream, RONDO_NODE_WRITE_LIVE, label));
    return end(&t, add_both(&t, target, RDO_SPAN_DEVICE, host_source, RDO_SPAN_HOST));
}

rondo_status rondo_read_async(rondo_stream *stream, rondo_span source, rondo_span host_target, const char *label) {
    transfer t;
    RDO_TRY(begin(&t, stream, RONDO_NODE_READ_ASYNC, label));
    return end(&t, add_both(&t, host_target, RDO_SPAN_HOST, source, RDO_SPAN_DEVICE));
}

rondo_status rondo_copy(rondo_stream *stream, rondo_span target, rondo_span source, const char *label) {
    transfer t;
    RDO_TRY(begin(&t, stream, RONDO_NODE_COPY, label));
    return end(&t, add_both(&t, target, RDO_SPAN_DEVICE, source, RDO_SPAN_DEVICE));
}

/* Makes a rectangle of a plain access. */
static rondo_status shape(const rdo_where *where, rdo_access *access, const char *what, uint64_t pitch,
                          uint64_t row_bytes, uint64_t rows) {
    uint64_t last, size = access->row_bytes;
    if (row_bytes == 0 || rows == 0) {
        access->row_bytes = 0;
        return RONDO_OK;
    }
    if (rows > 1 && pitch < row_bytes) {
        RDO_REFUSE(RONDO_RANGE, "%s: a pitch of %llu bytes is less than a row of %llu", what, (unsigned long long)pitch,
                   (unsigned long long)row_bytes);
    }
    if (__builtin_mul_overflow(rows - 1, pitch, &last) || __builtin_add_overflow(last, row_bytes, &last) ||
        last > size) {
        RDO_REFUSE(RONDO_RANGE, "%s: %llu rows of %llu bytes at a pitch of %llu leave a span of %llu bytes", what,
                   (unsigned long long)rows, (unsigned long long)row_bytes, (unsigned long long)pitch,
                   (unsigned long long)size);
    }
    access->row_bytes = row_bytes;
    access->rows = rows;
    access->pitch = pitch;
    return RONDO_OK;
}

static rondo_status check_rectangles(transfer *t, rondo_rect target, rondo_rect source, uint64_t row_bytes,
                                     uint64_t rows) {
    const rdo_where *where = &t->call.where;
    rondo_status status = add(t, target.span, RDO_SPAN_DEVICE, RONDO_WRITES, "target");
    if (status == RONDO_OK) status = shape(where, &t->accesses[0], "target", target.pitch_bytes, row_bytes, rows);
    if (status != RONDO_OK) {
        t->op.access_count = 0; /* the bytes that it would write are not known */
        return status;
    }
    RDO_TRY(add(t, source.span, RDO_SPAN_DEVICE, RONDO_READS, "source"));
    status = shape(where, &t->accesses[1], "source", source.pitch_bytes, row_bytes, rows);
    if (status != RONDO_OK) {
        t->op.access_count = 1;
        return status;
    }
    if (!rdo_args_overlap(&t->accesses[0], &t->accesses[1])) return RONDO_OK;
    RDO_REFUSE(RONDO_ALIASED, "target and source rectangles share bytes of buffer %llu",
               (unsigned long long)t->accesses[0].id);
}

rondo_status rondo_copy_2d(rondo_stream *stream, rondo_rect target, rondo_rect source, uint64_t row_bytes,
                           uint64_t rows, const char *label) {
    transfer t;
    RDO_TRY(begin(&t, stream, RONDO_NODE_COPY_2D, label));
    return end(&t, check_rectangles(&t, target, source, row_bytes, rows));
}

static rondo_status check_pattern(transfer *t, const void *pattern, uint32_t pattern_bytes) {
    const rdo_where *where = &t->call.where;
    bool known = pattern_bytes == 1 || pattern_bytes == 2 || pattern_bytes == 4 || pattern_bytes == 8 ||
                 pattern_bytes == 16;
    if (pattern == NULL) RDO_REFUSE(RONDO_INVALID, "pattern is null");
    if (!known) RDO_REFUSE(RONDO_INVALID, "a pattern has 1, 2, 4, 8 or 16 bytes, not %u", pattern_bytes);
    if (t->accesses[0].row_bytes % pattern_bytes != 0) {
        RDO_REFUSE(RONDO_RANGE, "%llu bytes are no multiple of a pattern of %u",
                   (unsigned long long)t->accesses[0].row_bytes, pattern_bytes);
    }
    memcpy(t->op.pattern, pattern, pattern_bytes);
    t->op.pattern_bytes = pattern_bytes;
    return RONDO_OK;
}

rondo_status rondo_fill(rondo_stream *stream, rondo_span target, const void *pattern, uint32_t pattern_bytes,
                        const char *label) {
    transfer t;
    RDO_TRY(begin(&t, stream, RONDO_NODE_FILL, label));
    rondo_status status = add(&t, target, RDO_SPAN_DEVICE, RONDO_WRITES, "target");
    if (status == RONDO_OK) status = check_pattern(&t, pattern, pattern_bytes);
    return end(&t, status);
}

rondo_status rondo_read(rondo_stream *stream, rondo_span source, void *data, const char *label) {
    rdo_call call;
    RDO_TRY(rdo_call_begin(&call, stream, "rondo_read", label));
    return rdo_call_end(&call, rdo_read(&call, source, data));
}

rondo_status rondo_map(rondo_stream *stream, rondo_span span, rondo_access_mode mode, void **out_data) {
    const rdo_where *where = RDO_NOWHERE("rondo_map");
    rdo_call call;
    if (out_data == NULL) RDO_REFUSE(RONDO_INVALID, "out_data is null");
    *out_data = NULL;
    RDO_TRY(rdo_call_begin(&call, stream, "rondo_map", NULL));
    return rdo_call_end(&call, rdo_map(&call, span, mode, out_data));
}

rondo_status rondo_unmap(rondo_stream *stream, rondo_span span) {
    rdo_call call;
    RDO_TRY(rdo_call_begin(&call, stream, "rondo_unmap", NULL));
    return rdo_call_end(&call, rdo_unmap(&call, span));
}

/* ---- host blocks ---- */

void *rondo_host_data(rondo_buffer block) {
    rdo_books *books;
    rdo_memory *memory = find_locked(block, &books);
    if (memory == NULL) return NULL;
    void *data = memory->host ? memory->host_data : NULL;
    rdo_lock_give(&books->lock);
    return data;
}

bool rondo_host_is_idle(rondo_buffer block) {
    rdo_books *books;
    rdo_memory *memory = find_locked(block, &books);
    if (memory == NULL) return false;
    bool idle = memory->host && rdo_host_idle(memory);
    rdo_lock_give(&books->lock);
    return idle;
}

rondo_status rondo_host_wait(rondo_buffer block) {
    const rdo_where *where = RDO_NOWHERE("rondo_host_wait");
    rdo_memory *memory = rdo_memory_find(block);
    if (rdo_in_work()) RDO_REFUSE(RONDO_REENTRANT, "called from inside a kernel or a host call");
    if (memory == NULL) return stale(where, block);
    rdo_engine *engine = rdo_engine_of_books(rdo_memory_books(memory));
    RDO_TRY(rdo_check_caller(engine, where));
    return rdo_api_end(engine, rdo_host_wait(where, engine, block));
}
