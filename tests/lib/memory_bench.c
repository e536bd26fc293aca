#include "memory_bench.h"

#include "unit.h"

enum { ALIGNMENT_BYTES = 64 };

static rondo_backend_result page_alloc(void *device, rondo_page_kind kind, uint64_t size_bytes, void **out_page) {
    memory_bench *bench = device;
    (void)kind;
    *out_page = aligned_alloc(ALIGNMENT_BYTES, (size_bytes + ALIGNMENT_BYTES - 1) / ALIGNMENT_BYTES * ALIGNMENT_BYTES);
    if (*out_page == NULL) return RONDO_BACKEND_DEVICE_FULL;
    bench->pages++;
    return RONDO_BACKEND_DONE;
}

static void page_free(void *device, rondo_page_kind kind, void *page, uint64_t size_bytes) {
    memory_bench *bench = device;
    (void)kind, (void)size_bytes;
    bench->pages--;
    free(page);
}

static void *host_address(void *device, void *page) {
    const memory_bench *bench = device;
    return bench->hidden ? NULL : page;
}

static bool sweep_at_once(rdo_store *store) {
    rdo_store_sweep(store);
    return true;
}

void memory_bench_open(memory_bench *bench) {
    const rondo_memory_layout layout = {.small_page_bytes = 1 << 16, .small_max_bytes = 1 << 12,
                                        .page_min_bytes = 1 << 17, .page_max_bytes = 1 << 20};
    *bench = (memory_bench){0};
    bench->backend = (rondo_backend){.name = "bench", .version = RONDO_BACKEND_VERSION, .page_alloc = page_alloc,
                                     .page_free = page_free, .host_address = host_address};
    rdo_books_init(&bench->books, &bench->backend, bench, &layout, ALIGNMENT_BYTES, false);
    rdo_store_init(&bench->store, &bench->books, sweep_at_once);
}

void memory_bench_sweep(memory_bench *bench) {
    rdo_store_sweep(&bench->store);
    rdo_books_settle(&bench->books);
}

static void check_pages(const rdo_store *store) {
    for (int kind = 0; kind < RONDO_POOL_KINDS; kind++) {
        for (uint32_t i = 0; i < store->pools[kind].count; i++) {
            const rdo_page *page = store->pools[kind].pages[i];
            if (page == NULL) continue;
            assert_true(rdo_page_check(page));
            assert_int_equal(page->used, 0);
            assert_int_equal(page->guarded, 0);
        }
    }
}

void memory_bench_close(memory_bench *bench) {
    memory_bench_sweep(bench);
    check_pages(&bench->store);
    assert_int_equal(bench->books.children, 0);
    assert_int_equal(bench->books.buffers, 0);
    assert_int_equal(bench->books.claimed, 0);
    rdo_store_finish(&bench->store);
    rdo_books_settle(&bench->books);
    assert_int_equal(bench->pages, 0);
    rdo_books_finish(&bench->books);
}

static rdo_memory *reserve(memory_bench *bench, const rdo_request *request, uint64_t stream_id, bool staging) {
    rdo_memory *memory = rdo_memory_new(&bench->store, stream_id, request, staging);
    assert_non_null(memory);
    memory->returning.finish = rdo_memory_recycle;
    if (!rdo_store_place(&bench->store, request, memory, false)) {
        assert_int_equal(rdo_store_grow(&bench->store, request), RONDO_BACKEND_DONE);
        assert_true(rdo_store_place(&bench->store, request, memory, false));
    }
    bench->books.children++;
    rdo_store_account(memory);
    if (staging) return memory;
    *(memory->host ? &bench->books.host_blocks : &bench->books.buffers) += 1;
    rdo_memory_publish(memory);
    return memory;
}

rdo_memory *memory_bench_reserve(memory_bench *bench, const rdo_request *request, uint64_t stream_id) {
    return reserve(bench, request, stream_id, false);
}

rdo_memory *memory_bench_buffer(memory_bench *bench, uint64_t size) {
    return reserve(bench, &(rdo_request){.size = size}, 1, false);
}

rdo_memory *memory_bench_staging(memory_bench *bench, uint64_t size) {
    return reserve(bench, &(rdo_request){.size = size, .host = true}, 1, true);
}

void memory_bench_release(memory_bench *bench, rdo_memory *memory) {
    rdo_lock_take(&bench->books.lock);
    rdo_memory_unref(memory);
    rdo_lock_give(&bench->books.lock);
    memory_bench_sweep(bench);
}
