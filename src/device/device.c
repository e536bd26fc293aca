#include "device/device.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/check.h"
#include "base/text.h"
#include "device/registry.h"
#include "stream/pending.h"

enum { DEFAULT_QUEUES = 32, MOST_QUEUES = 1024, MOST_WORKERS = 1024 };

#define REFUSE(code, ...) return rdo_fault_raise(where, code, __VA_ARGS__)

/* ---- options ---- */

static uint64_t or_default(uint64_t value, uint64_t standard) {
    return value != 0 ? value : standard;
}

static rondo_memory_layout with_defaults(const rondo_memory_layout *asked) {
    rondo_memory_layout layout = *asked;
    layout.small_page_bytes = or_default(asked->small_page_bytes, UINT64_C(1) << 20);
    layout.small_max_bytes = or_default(asked->small_max_bytes, UINT64_C(64) << 10);
    layout.page_min_bytes = or_default(asked->page_min_bytes, UINT64_C(2) << 20);
    layout.page_max_bytes = or_default(asked->page_max_bytes, UINT64_C(256) << 20);
    if (layout.small_max_bytes > layout.small_page_bytes && asked->small_max_bytes == 0) {
        layout.small_max_bytes = layout.small_page_bytes;
    }
    if (layout.page_max_bytes < layout.page_min_bytes && asked->page_max_bytes == 0) {
        layout.page_max_bytes = layout.page_min_bytes;
    }
    if (layout.page_min_bytes > layout.page_max_bytes && asked->page_min_bytes == 0) {
        layout.page_min_bytes = layout.page_max_bytes;
    }
    return layout;
}

static rondo_status check_layout(const rdo_where *where, const rondo_memory_layout *layout, uint64_t alignment) {
    const uint64_t sizes[] = {layout->small_page_bytes, layout->page_min_bytes, layout->page_max_bytes};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        if (sizes[i] > UINT64_MAX / 4 || sizes[i] % alignment != 0) {
            REFUSE(RONDO_INVALID, "a page size of %llu bytes is no multiple of the alignment %llu, or too large",
                   (unsigned long long)sizes[i], (unsigned long long)alignment);
        }
    }
    if (layout->small_max_bytes > layout->small_page_bytes) {
        REFUSE(RONDO_INVALID, "small_max_bytes exceeds small_page_bytes");
    }
    if (layout->page_min_bytes > layout->page_max_bytes) REFUSE(RONDO_INVALID, "page_min_bytes exceeds page_max_bytes");
    return RONDO_OK;
}

static rondo_status check_desc(const rdo_where *where, const rondo_device_desc *desc) {
    static const uint64_t zero[4];
    if (desc->reserved_32 != 0 || memcmp(desc->reserved, zero, sizeof zero) != 0) {
        REFUSE(RONDO_INVALID, "reserved fields of the device's options are not zero");
    }
    if (desc->max_queues > MOST_QUEUES) {
        REFUSE(RONDO_RANGE, "max_queues is %u, at most %d are allowed", desc->max_queues, MOST_QUEUES);
    }
    if (desc->wait_policy > RONDO_WAIT_SPINNING) {
        REFUSE(RONDO_RANGE, "there is no wait policy %u", (unsigned)desc->wait_policy);
    }
    if (desc->workers > MOST_WORKERS) {
        REFUSE(RONDO_RANGE, "workers is %u, at most %d are allowed", desc->workers, MOST_WORKERS);
    }
    return RONDO_OK;
}

/* ---- finding ---- */

/* "cpu, null" */
static void list_names(char *room, size_t size_bytes) {
    rdo_text text = rdo_text_in(room, size_bytes);
    for (size_t i = 0; rdo_registry_at(i) != NULL; i++) {
        rdo_text_add(&text, "%s%s", i != 0 ? ", " : "", rdo_registry_at(i)->name);
    }
}

/* Splits "BACKEND:NUMBER". */
static rondo_status find_backend(const rdo_where *where, const char *name, const rondo_backend **out_backend,
                                 uint32_t *out_index) {
    char names[256];
    const char *colon = strchr(name, ':');
    size_t length = colon != NULL ? (size_t)(colon - name) : strlen(name);
    *out_index = 0;
    *out_backend = rdo_registry_find(name, length);
    if (*out_backend == NULL) {
        list_names(names, sizeof names);
        REFUSE(RONDO_UNAVAILABLE, "there is no backend called '%.*s'; there are: %s", (int)length, name, names);
    }
    if (colon == NULL) return RONDO_OK;
    char *end;
    unsigned long index = strtoul(colon + 1, &end, 10);
    if (colon[1] < '0' || colon[1] > '9' || *end != '\0' || index > UINT32_MAX) {
        REFUSE(RONDO_UNAVAILABLE, "'%s' is no device name: after the colon comes a number", name);
    }
    *out_index = (uint32_t)index;
    return RONDO_OK;
}

static rondo_status check_entry(const rdo_where *where, const rondo_backend *backend, uint32_t index,
                                const char *name) {
    rondo_device_entry entry;
    memset(&entry, 0, sizeof entry);
    if (!backend->probe(index, &entry)) {
        REFUSE(RONDO_UNAVAILABLE, "there is no device '%s': backend '%s' has fewer devices", name, backend->name);
    }
    if (!entry.available) REFUSE(RONDO_UNAVAILABLE, "device '%s' is not available: %s", name, entry.reason);
    return RONDO_OK;
}

/* ---- opening and closing ---- */

static void close_queues(rdo_engine *engine) {
    const rondo_backend *backend = engine->books.backend;
    for (uint32_t i = 0; i < engine->queue_count; i++) {
        if (engine->queues[i].pending != NULL) rdo_pending_delete(engine->queues[i].pending);
    }
    rdo_lock_take(&engine->books.lock);
    for (uint32_t i = 0; i < engine->queue_count; i++) {
        rdo_window_finish(&engine->queues[i].window);
        rdo_store_finish(&engine->queues[i].store);
    }
    engine->books.stores = NULL;
    rdo_lock_give(&engine->books.lock);
    for (uint32_t i = 0; i < engine->queue_count; i++) {
        if (engine->queues[i].backend_queue != NULL) backend->queue_close(engine->queues[i].backend_queue);
    }
    rdo_free(engine->queues);
}

/* Called once, when no object of the device is left and no thread is in a call on it. */
static void close_engine(rdo_engine *engine) {
    rdo_device *device = (rdo_device *)(void *)engine;
    close_queues(engine);
    rdo_books_settle(&engine->books);
    rdo_meta_finish(&engine->meta);
    device->backend->close(engine->books.device);
    rdo_books_finish(&engine->books);
    rdo_object_delete(device->handle);
    rdo_free(device);
}

static bool open_queues(rdo_engine *engine, uint32_t count) {
    engine->queues = rdo_alloc_zero(count, sizeof *engine->queues);
    if (engine->queues == NULL) return false;
    engine->queue_count = count;
    for (uint32_t i = count; i-- > 0;) { /* so that the first queues, which are used most, come first in the books */
        rdo_queue *queue = &engine->queues[i];
        rdo_lock_init(&queue->lock, RDO_RANK_QUEUE);
        queue->engine = engine;
        queue->index = i;
        rdo_store_init(&queue->store, &engine->books, rdo_queue_try_sweep);
        rdo_window_init(&queue->window, &engine->captures);
    }
    return true;
}

/* The parts of a device that need no backend, around one that is open. */
static rondo_status set_up(const rdo_where *where, rdo_device *device, void *backend_device,
                           const rondo_device_desc *desc) {
    rdo_engine *engine = &device->engine;
    rondo_memory_layout layout = with_defaults(&desc->memory);
    rondo_device_info info;
    device->backend->info(backend_device, &info);
    RDO_TRY(check_layout(where, &layout, info.alignment_bytes));
    rdo_books_init(&engine->books, device->backend, backend_device, &layout, info.alignment_bytes, desc->debug_fresh);
    rdo_captures_init(&engine->captures);
    rdo_meta_init(&engine->meta, RDO_META_ENTRIES);
    engine->fork_epoch = rdo_fork_epoch;
    engine->spins = desc->wait_policy == RONDO_WAIT_SPINNING;
    engine->close = close_engine;
    uint32_t queues = desc->max_queues != 0 ? desc->max_queues : DEFAULT_QUEUES;
    if (open_queues(engine, queues)) device->handle = rdo_object_new(RDO_OBJECT_DEVICE, device, NULL);
    if (device->handle != 0) return RONDO_OK;
    if (engine->queues != NULL) close_queues(engine);
    rdo_books_finish(&engine->books);
    REFUSE(RONDO_NO_HOST_MEMORY, "no memory for the device's queues");
}

static rondo_status open_backend(const rdo_where *where, const rondo_backend *backend, uint32_t index,
                                 const rondo_device_desc *desc, void **out_device) {
    rondo_backend_outcome outcome;
    memset(&outcome, 0, sizeof outcome);
    rondo_backend_result result = backend->open(index, desc, out_device, &outcome);
    if (result == RONDO_BACKEND_DONE) return RONDO_OK;
    if (result == RONDO_BACKEND_NO_MEMORY) REFUSE(RONDO_NO_HOST_MEMORY, "the backend has no memory to open the device");
    REFUSE(RONDO_BACKEND, "the backend did not open the device: %s", outcome.message);
}

rondo_status rdo_device_open(const char *name, const rondo_device_desc *desc, rdo_device **out_device) {
    static const rondo_device_desc defaults;
    const rdo_where *where = RDO_NOWHERE("rondo_device_open");
    const rondo_backend *backend;
    uint32_t index;
    void *backend_device;
    if (desc == NULL) desc = &defaults;
    RDO_TRY(check_desc(where, desc));
    RDO_TRY(find_backend(where, name, &backend, &index));
    RDO_TRY(check_entry(where, backend, index, name));
    rdo_fork_watch();
    rdo_device *device = rdo_alloc_zero(1, sizeof *device);
    if (device == NULL) REFUSE(RONDO_NO_HOST_MEMORY, "no memory for the device");
    device->backend = backend;
    device->refs = 1;
    rondo_status status = open_backend(where, backend, index, desc, &backend_device);
    if (status == RONDO_OK) {
        status = set_up(where, device, backend_device, desc);
        if (status != RONDO_OK) backend->close(backend_device);
    }
    if (status != RONDO_OK) {
        rdo_free(device);
        return status;
    }
    *out_device = device;
    return RONDO_OK;
}

void rdo_device_unref(rdo_device *device) {
    RDO_ASSERT(device->refs != 0);
    if (--device->refs != 0) return;
    rdo_object_hide(device->handle);
    atomic_fetch_or(&device->engine.callers, RDO_ENGINE_CLOSING);
}

/* ---- the whole device ---- */

/* Whether a sync tells `failure` rather than `other`: the older one, and a failure itself before what was skipped
 * because of it. */
static bool comes_first(rondo_status failure, rondo_status other) {
    uint64_t number = rondo_status_number(failure), other_number = rondo_status_number(other);
    if (failure == RONDO_OK || other == RONDO_OK) return failure != RONDO_OK;
    return number < other_number || (number == other_number && rondo_status_code(other) == RONDO_TAINTED);
}

/* The oldest failure on any stream of the queue that no sync has told yet; all of them are told now. */
static rondo_status take_failures(rdo_queue *queue) {
    rondo_status first = RONDO_OK;
    rdo_books *books = &queue->engine->books;
    rdo_lock_take(&queue->lock);
    rdo_queue_drain(queue);
    rdo_lock_take(&books->lock);
    for (rdo_stream *stream = queue->engine->streams; stream != NULL; stream = stream->next) {
        if (stream->queue != queue) continue;
        rondo_status failure = rdo_stream_take_failure(stream);
        if (comes_first(failure, first)) first = failure;
    }
    rdo_lock_give(&books->lock);
    rdo_lock_give(&queue->lock);
    return first;
}

void rdo_device_describe(const rdo_device *device, rondo_device_info *out_info) {
    device->backend->info(device->engine.books.device, out_info);
    out_info->max_queues = device->engine.queue_count;
}

rondo_status rdo_device_sync(rdo_device *device, const rdo_where *where) {
    rdo_engine *engine = &device->engine;
    rondo_status first = RONDO_OK;
    if (rdo_captures_any_recording(&engine->captures)) {
        REFUSE(RONDO_FORBIDDEN, "a stream of the device records; end the capture first");
    }
    (void)rdo_engine_drain(engine);
    for (uint32_t i = 0; i < engine->queue_count; i++) {
        rondo_status failure = take_failures(&engine->queues[i]);
        if (comes_first(failure, first)) first = failure;
    }
    return first;
}

rondo_status rdo_device_trim(rdo_device *device, uint64_t *out_kept_bytes) {
    rdo_engine *engine = &device->engine;
    rdo_books *books = &engine->books;
    (void)rdo_engine_drain(engine); /* what pending work held, on whatever queue, is free to go then */
    for (uint32_t i = 0; i < engine->queue_count; i++) {
        rdo_queue *queue = &engine->queues[i];
        rdo_lock_take(&queue->lock);
        rdo_queue_drain(queue); /* moving memory needs the backend's queue */
        rdo_store_sweep(&queue->store);
        if (queue->backend_queue != NULL) rdo_store_relocate(&queue->store, queue->backend_queue, false);
        rdo_lock_give(&queue->lock);
    }
    rdo_lock_take(&books->lock);
    books->trim_wanted = books->recorders != 0;
    if (!books->trim_wanted) rdo_meta_clear_unpinned(&engine->meta);
    rdo_books_release_pages(books, true);
    uint64_t kept = 0;
    for (int kind = 0; kind < RONDO_POOL_KINDS; kind++) kept += books->reports[kind].reserved_bytes;
    rdo_lock_give(&books->lock);
    if (out_kept_bytes != NULL) *out_kept_bytes = kept;
    return RONDO_OK;
}

static uint64_t get(_Atomic uint64_t *counter) {
    return atomic_load_explicit(counter, memory_order_relaxed);
}

void rdo_device_stats(rdo_device *device, rondo_device_stats *out) {
    rdo_engine *engine = &device->engine;
    rdo_books *books = &engine->books;
    rdo_counters *counters = &engine->counters;
    rdo_lock_take(&books->lock);
    *out = (rondo_device_stats){.streams = engine->stream_count,
                                .kernels = engine->kernel_count,
                                .events = engine->event_count,
                                .graphs = books->holder_count,
                                .buffers = books->buffers,
                                .host_blocks = books->host_blocks,
                                .windows_opened = get(&counters->windows_opened),
                                .graphs_sealed = get(&counters->graphs_sealed),
                                .windows_refused = get(&counters->windows_refused),
                                .replay_failures = get(&counters->replay_failures),
                                .skipped = get(&counters->skipped),
                                .failures = get(&counters->failures),
                                .run_fallbacks = get(&counters->run_fallbacks),
                                .tainted_allocations = atomic_load(&books->claimed),
                                .metadata_entries = engine->meta.entries,
                                .metadata_bytes = engine->meta.bytes,
                                .metadata_pinned = engine->meta.pinned};
    for (uint32_t i = 0; i < engine->queue_count; i++) {
        rdo_queue *queue = &engine->queues[i];
        out->launches += get(&queue->launches);
        out->transfers += get(&queue->transfers);
        out->host_calls += get(&queue->host_calls);
        out->recorded += get(&queue->recorded);
        out->replays += get(&queue->replays);
    }
    rdo_lock_give(&books->lock);
}

static int compare_holdings(const void *left, const void *right) {
    const rondo_graph_holding *a = left, *b = right;
    return (a->device_bytes < b->device_bytes) - (a->device_bytes > b->device_bytes);
}

size_t rdo_device_holdings(rdo_device *device, rondo_graph_holding *out, size_t capacity) {
    rdo_books *books = &device->engine.books;
    size_t count = 0, kept = 0;
    rdo_lock_take(&books->lock);
    for (const rdo_holder *holder = books->holders; holder != NULL; holder = holder->next) {
        rondo_graph_holding holding = {holder->graph_id, holder->device_bytes, holder->host_bytes, holder->nodes};
        count++;
        if (kept < capacity) {
            out[kept++] = holding;
            continue;
        }
        /* The largest stay: the smallest so far makes room. */
        size_t smallest = 0;
        for (size_t i = 1; i < kept; i++) {
            if (out[i].device_bytes < out[smallest].device_bytes) smallest = i;
        }
        if (kept != 0 && out[smallest].device_bytes < holding.device_bytes) out[smallest] = holding;
    }
    rdo_lock_give(&books->lock);
    if (kept > 1) qsort(out, kept, sizeof *out, compare_holdings);
    return count;
}
