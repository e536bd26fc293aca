#include "stream/transfer.h"

#include <string.h>

#include "base/alloc.h"
#include "base/check.h"
#include "op/args.h"
#include "stream/allocate.h"
#include "stream/stream.h"

#define REFUSE(code, ...) return rdo_fault_raise(&call->where, code, __VA_ARGS__)

rondo_status rdo_readable(const rdo_where *where, const rdo_access *access) {
    uint64_t low = access->low, high = rdo_access_high(access);
    const rdo_range *claim = rdo_claims_find(&access->memory->claims, low, high);
    if (claim == NULL) return RONDO_OK;
    rdo_bytes wanted = {access->id, low > claim->low ? low : claim->low, high < claim->high ? high : claim->high};
    rondo_status root = rdo_fault_status(claim->value);
    rondo_code code = rondo_status_code(root) == RONDO_FRESH ? RONDO_FRESH : RONDO_TAINTED;
    return rdo_fault_report(where, code, claim->value, &wanted,
                            "bytes %llu to %llu of buffer %llu are not valid: %s (failure #%llu)",
                            (unsigned long long)wanted.low, (unsigned long long)wanted.high,
                            (unsigned long long)access->id, rondo_code_text(rondo_status_code(root)),
                            (unsigned long long)claim->value);
}

void rdo_await_queued_access(rdo_engine *engine, const rdo_access *access) {
    const rdo_op op = {.accesses = (rdo_access *)(uintptr_t)access, .access_count = 1};
    access->memory->uses++;
    rdo_await_queued(engine, &op);
    if (--access->memory->uses == 0) rdo_memory_settle(access->memory);
}

/* ---- reading ---- */

/* A host block is read here: backends know places on device pages only. */
static rondo_status fetch_bytes(rdo_call *call, const rdo_access *access, void *data) {
    rondo_backend_outcome outcome = {0};
    rondo_place place = rdo_access_place(access);
    rdo_count_own(&call->queue->transfers);
    RDO_ASSERT(place.page != NULL); /* there are bytes to read */
    if (access->host) {
        memcpy(data, (const char *)place.page + place.offset_bytes, (size_t)access->row_bytes);
        return RONDO_OK;
    }
    rondo_backend_op resolved = {.kind = RONDO_OP_READ, .host = data, .size_bytes = access->row_bytes, .rows = 1};
    resolved.source = place;
    resolved.source_pitch_bytes = access->row_bytes;
    resolved.target_pitch_bytes = access->row_bytes;
    rdo_this_thread.work_depth++;
    rondo_backend_result result = call->engine->books.backend->submit(call->queue->backend_queue, &resolved, &outcome);
    rdo_this_thread.work_depth--;
    return rdo_backend_status(&call->where, result, &outcome);
}

/* Waits for its turn, checks, and copies, all in one stay among the registered operations. */
static rondo_status read_bytes(rdo_call *call, rdo_access *access, void *data) {
    rdo_op_extents extents;
    rdo_engine *engine = call->engine;
    rdo_op op = {.kind = RONDO_NODE_READ_ASYNC, .accesses = access, .access_count = 1};
    rdo_lock_take(&engine->books.lock);
    if (!rdo_op_is_alive(&op)) {
        rdo_lock_give(&engine->books.lock);
        REFUSE(RONDO_STALE, "the buffer was released during the call");
    }
    rondo_status status = RONDO_OK;
    access->memory->uses++;
    rdo_op_locate(&op);
    rdo_op_extents_fill(&extents, &op, &call->queue->store);
    bool entered = rdo_order_enter(&engine->order, &engine->books, &extents.entry);
    if (!entered) {
        status = rdo_fault_raise(&call->where, RONDO_BUSY, "the buffer is mapped for writing; unmap it first");
    }
    if (status == RONDO_OK) status = rdo_readable(&call->where, access);
    rdo_lock_give(&engine->books.lock);
    if (status == RONDO_OK) status = fetch_bytes(call, access, data);
    rdo_lock_take(&engine->books.lock);
    if (entered) rdo_order_leave(&engine->order, &engine->books, &extents.entry);
    if (--access->memory->uses == 0) rdo_memory_settle(access->memory);
    rdo_lock_give(&engine->books.lock);
    return status;
}

rondo_status rdo_read(rdo_call *call, rondo_span source, void *data) {
    rdo_access access;
    RDO_TRY(rdo_args_access(&call->where, &call->engine->books, &call->queue->store, source, RDO_SPAN_ANY, RONDO_READS,
                            "source", &access));
    if (data == NULL && access.row_bytes != 0) REFUSE(RONDO_INVALID, "data is null");
    RDO_TRY(rdo_call_check_window(call, true));
    if (access.row_bytes == 0) return RONDO_OK;
    return read_bytes(call, &access, data);
}

/* ---- mapping ---- */

/* A live mapping; its entry sits among the registered operations until unmap. */
typedef struct mapping {
    rdo_entry entry; /* must come first */
    rdo_access access;
    rdo_extent extent;
    rdo_store *home;
} mapping;

static mapping *new_mapping(rdo_access *access) {
    mapping *m = rdo_alloc_zero(1, sizeof *m);
    if (m == NULL) return NULL;
    bool writes = rdo_access_writes(access);
    m->access = *access;
    m->extent = rdo_access_extent(access);
    m->home = rdo_access_home(access);
    m->entry.homes = &m->home; /* its own home too: fast operations there must see the mapping */
    m->entry.home_count = 1;
    *(writes ? &m->entry.writes : &m->entry.reads) = &m->extent;
    *(writes ? &m->entry.write_count : &m->entry.read_count) = 1;
    return m;
}

/* Device lock held (given up while waiting). */
static rondo_status enter_mapping(rdo_call *call, rdo_access *access) {
    rdo_engine *engine = call->engine;
    rdo_op op = {.accesses = access, .access_count = 1};
    if (!rdo_op_is_alive(&op)) REFUSE(RONDO_STALE, "the buffer was released during the call");
    rdo_op_locate(&op);
    mapping *m = new_mapping(access);
    if (m == NULL) REFUSE(RONDO_NO_HOST_MEMORY, "no memory for a mapping");
    access->memory->maps++;
    rondo_status status = RONDO_OK;
    if (!rdo_order_map(&engine->order, &engine->books, &m->entry)) {
        status = rdo_fault_raise(&call->where, RONDO_BUSY, "the bytes are mapped already");
        rdo_free(m);
    } else if (rdo_access_reads(access) && (status = rdo_readable(&call->where, access)) != RONDO_OK) {
        rdo_order_leave(&engine->order, &engine->books, &m->entry);
        rdo_free(m);
    }
    if (status != RONDO_OK) {
        access->memory->maps--;
        rdo_memory_settle(access->memory);
    }
    return status;
}

rondo_status rdo_map(rdo_call *call, rondo_span span, rondo_access_mode mode, void **out_data) {
    rdo_access access;
    rdo_books *books = &call->engine->books;
    if (mode < RONDO_READS || mode > RONDO_READS_WRITES) REFUSE(RONDO_INVALID, "there is no mode %d", (int)mode);
    RDO_TRY(rdo_args_access(&call->where, books, &call->queue->store, span, RDO_SPAN_ANY, (uint32_t)mode, "span",
                            &access));
    RDO_TRY(rdo_call_check_window(call, true));
    if (access.row_bytes == 0) REFUSE(RONDO_RANGE, "there are no bytes to map, so there is no address");
    rdo_lock_take(&books->lock);
    void *handle = access.page->handle;
    char *page = access.host ? handle : books->backend->host_address(books->device, handle);
    rondo_status status = RONDO_OK;
    if (page == NULL) {
        status = rdo_fault_raise(&call->where, RONDO_UNSUPPORTED, "the host cannot reach this backend's memory");
    } else {
        status = enter_mapping(call, &access);
    }
    if (status == RONDO_OK) *out_data = page + rdo_access_place(&access).offset_bytes;
    rdo_lock_give(&books->lock);
    return status;
}

/* Device lock held: the mapping of exactly this span, NULL if there is none. */
static mapping *find_mapping(rdo_order *order, const rdo_access *access) {
    for (rdo_entry *entry = order->first; entry != NULL; entry = entry->next) {
        mapping *m = (mapping *)(void *)entry;
        if (!entry->map || m->access.id != access->id) continue;
        if (m->access.low == access->low && m->access.row_bytes == access->row_bytes) return m;
    }
    return NULL;
}

/* Device lock held. The end of a mapping that writes is a write of the whole span. */
static void end_mapping(rdo_engine *engine, mapping *m) {
    rdo_memory *memory = m->access.memory;
    if (rdo_access_writes(&m->access)) rdo_memory_unclaim(memory, m->access.low, rdo_access_high(&m->access));
    rdo_order_leave(&engine->order, &engine->books, &m->entry);
    memory->maps--;
    rdo_memory_settle(memory);
    rdo_free(m);
}

rondo_status rdo_unmap(rdo_call *call, rondo_span span) {
    rdo_access access;
    rdo_engine *engine = call->engine;
    rdo_books *books = &engine->books;
    RDO_TRY(rdo_args_access(&call->where, books, &call->queue->store, span, RDO_SPAN_ANY, RONDO_READS, "span",
                            &access));
    rdo_lock_take(&books->lock);
    mapping *m = find_mapping(&engine->order, &access);
    /* A write to a part of claimed bytes cuts the claim in two; without room for that nothing changes. */
    bool ready = m != NULL && (!rdo_access_writes(&m->access) || rdo_claims_prepare(&m->access.memory->claims, 1));
    if (ready) end_mapping(engine, m);
    rdo_lock_give(&books->lock);
    if (m == NULL) REFUSE(RONDO_STATE, "this span is not mapped");
    if (!ready) REFUSE(RONDO_NO_HOST_MEMORY, "no memory to release the claims of a part; the span stays mapped");
    return RONDO_OK;
}

void rdo_end_mappings(rdo_memory *memory) {
    rdo_engine *engine = rdo_engine_of_books(rdo_memory_books(memory));
    rdo_entry *entry = engine->order.first;
    while (entry != NULL) {
        rdo_entry *next = entry->next;
        mapping *m = (mapping *)(void *)entry;
        if (entry->map && m->access.memory == memory) end_mapping(engine, m);
        entry = next;
    }
}

/* ---- staging and host blocks ---- */

rondo_status rdo_stage_write(rdo_call *call, rdo_op *op) {
    rdo_window *window = &call->queue->window;
    rdo_memory *staging = NULL;
    uint64_t size = op->accesses[0].row_bytes;
    if (!rdo_window_is_active(window) || !rdo_call_owns(call) || size == 0) return RONDO_OK;
    if (rdo_window_is_recording(window)) {
        RDO_TRY(rdo_stage(call, op->bytes, size, &staging));
        op->staging = staging;
        return RONDO_OK;
    }
    /* The warm-up itself needs no staging here; that the recorded run will is what is noted. So a failure is no
     * failure of this write: begin will meet it again. */
    (void)rdo_stage(call, op->bytes, size, &staging);
    return RONDO_OK;
}

bool rdo_host_idle(const rdo_memory *block) {
    rdo_engine *engine = rdo_engine_of_books(rdo_memory_books(block));
    rdo_extent bytes = {block->address, block->address + block->size};
    const rdo_store *home = atomic_load_explicit(&block->home, memory_order_relaxed);
    return !rdo_order_is_busy(&engine->order, bytes) && atomic_load(&home->fast) == 0;
}

rondo_status rdo_host_wait(const rdo_where *where, rdo_engine *engine, rondo_buffer block) {
    rdo_access access;
    rdo_books *books = &engine->books;
    rdo_lock_take(&books->lock);
    rondo_status status =
        rdo_args_access(where, books, NULL, rondo_whole(block), RDO_SPAN_HOST, RONDO_READS, "block", &access);
    if (status == RONDO_OK) {
        access.memory->uses++;
        rdo_order_wait_idle(&engine->order, access.memory);
        status = rdo_readable(where, &access);
        if (--access.memory->uses == 0) rdo_memory_settle(access.memory);
    }
    rdo_lock_give(&books->lock);
    return status;
}
