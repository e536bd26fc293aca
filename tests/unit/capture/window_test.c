#include "capture/window.h"

#include "base/alloc.h"
#include "memory_bench.h"
#include "unit.h"

enum { OWNER = 7, NEIGHBOUR = 8 };

/* A queue's window over memory of its own, and a second queue of the same device. */
typedef struct fixture {
    memory_bench bench;
    rdo_captures device;
    rdo_window window, other;
    uint64_t blocks; /* of host memory, before anything was gathered */
} fixture;

static void open_fixture(fixture *f) {
    memory_bench_open(&f->bench);
    rdo_captures_init(&f->device);
    rdo_window_init(&f->window, &f->device);
    rdo_window_init(&f->other, &f->device);
    f->blocks = rdo_alloc_live();
}

static void close_fixture(fixture *f) {
    rdo_window_finish(&f->window);
    rdo_window_finish(&f->other);
    assert_int_equal(f->device.active, 0);
    assert_int_equal(f->device.recording, 0);
    memory_bench_close(&f->bench);
}

/* Brings the window from none to recording. */
static void open_window(rdo_window *window, uint64_t owner) {
    assert_null(rdo_window_prepare(window, owner));
    assert_null(rdo_window_begin(window));
    assert_true(rdo_window_check(window));
}

/* Ends it, and says whether that abandoned it. */
static bool end_window(rdo_window *window, uint64_t caller) {
    rdo_capture_end end = {0};
    assert_null(rdo_window_end(window, caller, &end));
    assert_true(rdo_window_check(window));
    return end.abandoned;
}

static void record(rdo_window *window, rdo_memory *memory) {
    assert_true(rdo_window_record(window, memory, 0, memory->size));
}

/* Takes the writes and compares the ids of their allocations, which must come in ascending order. */
static void expect_writes(rdo_window *window, rdo_memory *const *expected, size_t count) {
    rdo_weak_list writes = rdo_window_take_writes(window);
    assert_int_equal(writes.count, count);
    for (size_t i = 0; i < count; i++) {
        size_t found = 0;
        for (size_t j = 0; j < count; j++) found += writes.data[j].key.memory_id == expected[i]->id;
        assert_int_equal(found, 1);
        if (i != 0) assert_true(writes.data[i - 1].key.memory_id < writes.data[i].key.memory_id);
    }
    rdo_free(writes.data);
}

static void expect_no_writes(rdo_window *window) {
    expect_writes(window, NULL, 0);
}

static uint32_t guards_of(const rdo_memory *memory) {
    return memory->page->slices[memory->slice].guards;
}

static void give_back(rdo_touch_list *touched) {
    for (size_t i = 0; i < touched->count; i++) {
        rdo_page_unguard(touched->data[i].page, touched->data[i].location.slice);
    }
    rdo_free(touched->data);
}

static void give_back_retained(fixture *f, rdo_memory_list *retained) {
    for (size_t i = 0; i < retained->count; i++) memory_bench_release(&f->bench, retained->data[i]);
    rdo_free(retained->data);
}

/* ---- the seed's own eight ---- */

/* [C4] A failed replay runs none of the recorded work, so the list is what later reads fail on; with repetitions it
 * would grow with the length of the capture. */
static void a_capture_names_each_buffer_its_launches_were_given_once(void **state) {
    fixture f;
    (void)state;
    open_fixture(&f);
    rdo_memory *all[3];
    for (int i = 0; i < 3; i++) all[i] = memory_bench_buffer(&f.bench, 8);
    rdo_capture_end end;
    open_window(&f.window, OWNER);
    record(&f.window, all[0]), record(&f.window, all[1]);
    record(&f.window, all[1]), record(&f.window, all[2]);
    record(&f.window, all[0]);
    assert_null(rdo_window_end(&f.window, OWNER, &end));
    assert_int_equal(end.owner, OWNER);
    assert_false(end.abandoned);
    expect_writes(&f.window, all, 3);
    expect_no_writes(&f.window); /* the recording moves onto the graph, it is not left on the stream */
    for (int i = 0; i < 3; i++) memory_bench_release(&f.bench, all[i]);
    close_fixture(&f);
}

/* [C4] Outside a window work answers for its own buffers as it fails. */
static void a_launch_outside_a_window_is_not_recorded(void **state) {
    fixture f;
    (void)state;
    open_fixture(&f);
    rdo_memory *all[3];
    for (int i = 0; i < 3; i++) all[i] = memory_bench_buffer(&f.bench, 8);
    record(&f.window, all[0]);
    assert_null(rdo_window_prepare(&f.window, OWNER));
    record(&f.window, all[1]); /* the warm-up runs, it does not record */
    assert_null(rdo_window_begin(&f.window));
    record(&f.window, all[2]);
    end_window(&f.window, OWNER);
    record(&f.window, all[0]);
    expect_writes(&f.window, &all[2], 1);
    for (int i = 0; i < 3; i++) memory_bench_release(&f.bench, all[i]);
    close_fixture(&f);
}

/* [C4] Two ranges of one allocation are two claims: claims are exact to the byte. */
static void a_capture_names_every_range_of_a_batched_allocation(void **state) {
    fixture f;
    (void)state;
    open_fixture(&f);
    rdo_memory *batch = memory_bench_buffer(&f.bench, 8);
    open_window(&f.window, OWNER);
    assert_true(rdo_window_record(&f.window, batch, 4, 8));
    assert_true(rdo_window_record(&f.window, batch, 0, 4));
    assert_true(rdo_window_record(&f.window, batch, 0, 4)); /* the same range again: still one claim */
    assert_true(rdo_window_record(&f.window, batch, 0, 3));
    end_window(&f.window, OWNER);
    rdo_weak_list writes = rdo_window_take_writes(&f.window);
    const rdo_claim_key expected[] = {{batch->id, 0, 3}, {batch->id, 0, 4}, {batch->id, 4, 8}};
    assert_int_equal(writes.count, 3);
    for (int i = 0; i < 3; i++) assert_memory_equal(&writes.data[i].key, &expected[i], sizeof expected[i]);
    rdo_free(writes.data);
    memory_bench_release(&f.bench, batch);
    close_fixture(&f);
}

/* [C7] Taken once as the window closes, and dropped with an aborted one. */
static void a_window_owns_the_host_bytes_its_copies_read(void **state) {
    fixture f;
    (void)state;
    open_fixture(&f);
    open_window(&f.window, OWNER);
    assert_true(rdo_window_retain(&f.window, memory_bench_staging(&f.bench, 4)));
    end_window(&f.window, OWNER);
    rdo_memory_list retained = rdo_window_take_retained(&f.window);
    assert_int_equal(retained.count, 1);
    assert_int_equal(rdo_window_take_retained(&f.window).count, 0); /* taken means moved, not copied */
    give_back_retained(&f, &retained);

    open_window(&f.window, OWNER);
    rdo_memory *staging = memory_bench_staging(&f.bench, 4);
    assert_true(rdo_window_retain(&f.window, staging));
    rdo_window_abort(&f.window);
    assert_int_equal(staging->refs, 0);
    assert_null(rdo_window_prepare(&f.window, OWNER));
    assert_int_equal(rdo_window_take_retained(&f.window).count, 0);
    close_fixture(&f);
}

/* [C2] A window that never sealed leaves nothing behind for the next one. */
static void a_new_capture_starts_from_an_empty_recording(void **state) {
    fixture f;
    (void)state;
    open_fixture(&f);
    rdo_memory *aborted = memory_bench_buffer(&f.bench, 8), *abandoned = memory_bench_buffer(&f.bench, 8);
    open_window(&f.window, OWNER);
    record(&f.window, aborted);
    rdo_window_abort(&f.window);

    open_window(&f.window, OWNER);
    record(&f.window, abandoned);
    assert_true(end_window(&f.window, NEIGHBOUR));
    expect_writes(&f.window, &abandoned, 1);

    open_window(&f.window, NEIGHBOUR);
    expect_no_writes(&f.window);

    /* The same for a window that was abandoned and whose list nobody took. */
    record(&f.window, abandoned);
    assert_true(end_window(&f.window, OWNER));
    open_window(&f.window, NEIGHBOUR);
    expect_no_writes(&f.window);
    memory_bench_release(&f.bench, aborted);
    memory_bench_release(&f.bench, abandoned);
    close_fixture(&f);
}

/* [C19] From prepare to end, not just while recording. */
static void the_cache_captures_across_the_whole_window(void **state) {
    fixture f;
    (void)state;
    open_fixture(&f);
    assert_int_equal(rdo_window_meta_mode(&f.window), RDO_META_NORMAL);
    assert_null(rdo_window_prepare(&f.window, OWNER));
    assert_int_equal(rdo_window_meta_mode(&f.window), RDO_META_CAPTURE);
    assert_null(rdo_window_begin(&f.window));
    assert_int_equal(rdo_window_meta_mode(&f.window), RDO_META_CAPTURE);
    end_window(&f.window, OWNER);
    assert_int_equal(rdo_window_meta_mode(&f.window), RDO_META_NORMAL);
    close_fixture(&f);
}

/* [C17] */
static void a_capture_is_seen_by_its_stream_until_it_ends(void **state) {
    fixture f;
    (void)state;
    open_fixture(&f);
    assert_false(rdo_captures_is_capturing(&f.device, OWNER));
    assert_null(rdo_window_prepare(&f.window, OWNER));
    assert_true(rdo_captures_is_capturing(&f.device, OWNER)); /* the warm-up is part of it */
    assert_false(rdo_captures_is_capturing(&f.device, NEIGHBOUR));
    assert_null(rdo_window_begin(&f.window));
    assert_true(rdo_captures_is_capturing(&f.device, OWNER));
    end_window(&f.window, OWNER);
    assert_false(rdo_captures_is_capturing(&f.device, OWNER));

    open_window(&f.window, OWNER);
    assert_true(end_window(&f.window, NEIGHBOUR));
    assert_false(rdo_captures_is_capturing(&f.device, OWNER)); /* abandoned is over for the owner too */

    assert_null(rdo_window_prepare(&f.window, OWNER));
    rdo_window_abort(&f.window);
    assert_false(rdo_captures_is_capturing(&f.device, OWNER));

    assert_null(rdo_window_prepare(&f.other, NEIGHBOUR));
    assert_null(rdo_window_prepare(&f.window, OWNER));
    rdo_window_finish(&f.window);
    assert_false(rdo_captures_is_capturing(&f.device, OWNER)); /* the stream is gone */
    assert_true(rdo_captures_is_capturing(&f.device, NEIGHBOUR));
    close_fixture(&f);
}

static void expect_updates(const fixture *f, rdo_page_update window, rdo_page_update other, bool recording) {
    assert_int_equal(rdo_window_page_update(&f->window), window);
    assert_int_equal(rdo_window_page_update(&f->other), other);
    assert_int_equal(rdo_captures_any_recording((rdo_captures *)(uintptr_t)&f->device), recording);
}

/* [C17] [C18] */
static void a_recording_is_seen_device_wide(void **state) {
    fixture f;
    (void)state;
    open_fixture(&f);
    assert_null(rdo_window_prepare(&f.window, OWNER));
    expect_updates(&f, RDO_PAGE_ALLOW, RDO_PAGE_ALLOW, false); /* a warm-up records nothing */
    assert_null(rdo_window_begin(&f.window));
    expect_updates(&f, RDO_PAGE_FORBIDDEN, RDO_PAGE_ADD_ONLY, true);
    end_window(&f.window, OWNER);
    expect_updates(&f, RDO_PAGE_ALLOW, RDO_PAGE_ALLOW, false);

    open_window(&f.window, OWNER);
    rdo_window_abort(&f.window);
    expect_updates(&f, RDO_PAGE_ALLOW, RDO_PAGE_ALLOW, false);

    assert_null(rdo_window_prepare(&f.window, OWNER));
    rdo_window_abort(&f.window);
    expect_updates(&f, RDO_PAGE_ALLOW, RDO_PAGE_ALLOW, false);

    open_window(&f.window, OWNER);
    rdo_window_finish(&f.window);
    expect_updates(&f, RDO_PAGE_ALLOW, RDO_PAGE_ALLOW, false);
    close_fixture(&f);
}

/* ---- one for each consequence that the seed states ---- */

/* [C4] A held binding would keep the slice from reuse, and the recording has to reuse memory as the warm-up did. */
static void a_recorded_buffer_is_not_held(void **state) {
    fixture f;
    (void)state;
    open_fixture(&f);
    rdo_memory *buffer = memory_bench_buffer(&f.bench, 8);
    open_window(&f.window, OWNER);
    record(&f.window, buffer);
    assert_int_equal(buffer->refs, 1);
    assert_int_equal(guards_of(buffer), 0);
    rdo_page *page = buffer->page;
    memory_bench_release(&f.bench, buffer);
    assert_int_equal(page->used, 0);
    close_fixture(&f);
}

/* [C4] [O5] Nothing will read again what nobody but the pool refers to. */
static void a_buffer_that_nobody_holds_any_more_is_left_out(void **state) {
    fixture f;
    (void)state;
    open_fixture(&f);
    rdo_memory *recycled = memory_bench_buffer(&f.bench, 8), *waiting = memory_bench_buffer(&f.bench, 8);
    rdo_memory *alive = memory_bench_buffer(&f.bench, 8), *empty = memory_bench_buffer(&f.bench, 0);
    open_window(&f.window, OWNER);
    record(&f.window, recycled), record(&f.window, waiting), record(&f.window, alive);
    assert_true(rdo_window_record(&f.window, empty, 0, 1));
    memory_bench_release(&f.bench, recycled);
    rdo_lock_take(&f.bench.books.lock);
    rdo_memory_unref(waiting); /* not swept yet: it still has its number */
    rdo_memory_unref(empty);
    rdo_lock_give(&f.bench.books.lock);
    rdo_memory *stranger = memory_bench_buffer(&f.bench, 8); /* in the record of the recycled one */
    assert_ptr_equal(stranger, recycled);
    end_window(&f.window, OWNER);
    expect_writes(&f.window, &alive, 1);
    memory_bench_release(&f.bench, alive);
    memory_bench_release(&f.bench, stranger);
    close_fixture(&f);
}

/* [C4] [O5] Running work, a mapping and a guard each refer to an allocation as a user's handle does. */
static void a_buffer_that_anything_still_needs_is_kept(void **state) {
    fixture f;
    (void)state;
    for (int need = 0; need < 3; need++) {
        open_fixture(&f);
        rdo_memory *buffer = memory_bench_buffer(&f.bench, 8);
        open_window(&f.window, OWNER);
        record(&f.window, buffer);
        buffer->uses = need == 0;
        buffer->maps = need == 1;
        if (need == 2) rdo_page_guard(buffer->page, buffer->slice);
        memory_bench_release(&f.bench, buffer);
        end_window(&f.window, OWNER);
        expect_writes(&f.window, &buffer, 1);
        buffer->uses = buffer->maps = 0;
        if (need == 2) rdo_page_unguard(buffer->page, buffer->slice);
        rdo_memory_settle(buffer);
        close_fixture(&f);
    }
}

/* [W5] */
static void an_empty_range_is_not_recorded(void **state) {
    fixture f;
    (void)state;
    open_fixture(&f);
    rdo_memory *buffer = memory_bench_buffer(&f.bench, 8);
    open_window(&f.window, OWNER);
    assert_true(rdo_window_record(&f.window, buffer, 3, 3));
    end_window(&f.window, OWNER);
    expect_no_writes(&f.window);
    memory_bench_release(&f.bench, buffer);
    close_fixture(&f);
}

/* [C5] A graph replays against the page, so it has to stay where it is; each is named and guarded once, in order of
 * stream, then place. */
static void touched_pages_are_sorted_and_named_once(void **state) {
    fixture f;
    (void)state;
    open_fixture(&f);
    enum { BUFFERS = 6 };
    rdo_memory *all[BUFFERS];
    for (uint32_t i = 0; i < BUFFERS; i++) {
        const rdo_request request = {.size = i % 2 == 0 ? 64 : 100000};
        all[i] = memory_bench_reserve(&f.bench, &request, 10 + i % 3);
    }
    open_window(&f.window, OWNER);
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t i = BUFFERS; i-- > 0;) {
            assert_true(rdo_window_touch(&f.window, all[i]->home_stream_id, all[i]->page, all[i]->slice));
        }
    }
    end_window(&f.window, OWNER);
    rdo_touch_list touched = rdo_window_take_touched(&f.window);
    assert_int_equal(touched.count, BUFFERS);
    for (size_t i = 0; i < BUFFERS; i++) {
        assert_int_equal(guards_of(all[i]), 1);
        if (i == 0) continue;
        const rdo_touch *a = &touched.data[i - 1], *b = &touched.data[i];
        uint64_t left[4] = {a->stream_id, a->location.pool, a->location.page, a->location.slice};
        uint64_t right[4] = {b->stream_id, b->location.pool, b->location.page, b->location.slice};
        int k = 0;
        while (k < 3 && left[k] == right[k]) k++;
        assert_true(left[k] < right[k]);
    }
    assert_int_equal(rdo_window_take_touched(&f.window).count, 0);
    give_back(&touched);
    for (int i = 0; i < BUFFERS; i++) memory_bench_release(&f.bench, all[i]);
    close_fixture(&f);
}

/* [C5] [C20] Two windows that touch a slice in turn guard it each; what they guarded twice they give back. */
static void two_windows_may_touch_one_slice(void **state) {
    fixture f;
    (void)state;
    open_fixture(&f);
    rdo_memory *buffer = memory_bench_buffer(&f.bench, 8);
    open_window(&f.window, OWNER);
    open_window(&f.other, NEIGHBOUR);
    for (int i = 0; i < 6; i++) {
        assert_true(rdo_window_touch(i % 2 == 0 ? &f.window : &f.other, 1, buffer->page, buffer->slice));
    }
    assert_true(guards_of(buffer) >= 2);
    end_window(&f.window, OWNER);
    end_window(&f.other, NEIGHBOUR);
    rdo_touch_list first = rdo_window_take_touched(&f.window), second = rdo_window_take_touched(&f.other);
    assert_int_equal(first.count, 1);
    assert_int_equal(second.count, 1);
    assert_int_equal(guards_of(buffer), 2);
    give_back(&first);
    assert_int_equal(guards_of(buffer), 1);
    give_back(&second);
    assert_int_equal(guards_of(buffer), 0);
    memory_bench_release(&f.bench, buffer);
    close_fixture(&f);
}

/* [C5] A slice that an earlier window noted is noted again by the next. */
static void each_window_notes_a_slice_anew(void **state) {
    fixture f;
    (void)state;
    open_fixture(&f);
    rdo_memory *buffer = memory_bench_buffer(&f.bench, 8);
    for (int i = 0; i < 3; i++) {
        open_window(&f.window, OWNER);
        assert_true(rdo_window_touch(&f.window, 1, buffer->page, buffer->slice));
        assert_int_equal(guards_of(buffer), 1);
        end_window(&f.window, OWNER);
        rdo_touch_list touched = rdo_window_take_touched(&f.window);
        assert_int_equal(touched.count, 1);
        give_back(&touched);
    }
    memory_bench_release(&f.bench, buffer);
    close_fixture(&f);
}

/* [C5] Two queues may have pages of one number: the list tells them apart. */
static void pages_of_two_queues_are_two_touches(void **state) {
    fixture f;
    rdo_store second;
    rdo_memory actors[2];
    const rdo_request request = {.size = 64};
    (void)state;
    open_fixture(&f);
    memset(actors, 0, sizeof actors);
    rdo_store_init(&second, &f.bench.books, NULL);
    rdo_store *stores[2] = {&f.bench.store, &second};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(rdo_store_grow(stores[i], &request), RONDO_BACKEND_DONE);
        assert_true(rdo_store_place(stores[i], &request, &actors[i], false));
    }
    open_window(&f.window, OWNER);
    for (int i = 0; i < 4; i++) {
        assert_true(rdo_window_touch(&f.window, OWNER, actors[i % 2].page, actors[i % 2].slice));
    }
    end_window(&f.window, OWNER);
    rdo_touch_list touched = rdo_window_take_touched(&f.window);
    assert_int_equal(touched.count, 2);
    assert_ptr_not_equal(touched.data[0].page, touched.data[1].page);
    for (int i = 0; i < 2; i++) {
        actors[i].refs = 1; /* so that giving the guard back does not hand the stand-in to a sweep */
    }
    give_back(&touched);
    for (int i = 0; i < 2; i++) rdo_page_free(actors[i].page, actors[i].slice);
    rdo_store_finish(&second);
    f.bench.books.stores = &f.bench.store;
    close_fixture(&f);
}

/* [C5] */
static void a_touch_outside_a_window_is_ignored(void **state) {
    fixture f;
    (void)state;
    open_fixture(&f);
    rdo_memory *buffer = memory_bench_buffer(&f.bench, 8);
    assert_true(rdo_window_touch(&f.window, OWNER, buffer->page, buffer->slice));
    assert_null(rdo_window_prepare(&f.window, OWNER));
    assert_true(rdo_window_touch(&f.window, OWNER, buffer->page, buffer->slice));
    assert_int_equal(guards_of(buffer), 0);
    assert_null(rdo_window_begin(&f.window));
    assert_true(rdo_window_touch(&f.window, OWNER, NULL, RDO_NO_SLICE)); /* an allocation of no bytes has no page */
    end_window(&f.window, OWNER);
    assert_int_equal(rdo_window_take_touched(&f.window).count, 0);
    memory_bench_release(&f.bench, buffer);
    close_fixture(&f);
}

/* [C5] [P3] A window that is dropped, by whatever way, keeps no page in place. */
static void an_aborted_window_gives_its_guards_back(void **state) {
    fixture f;
    (void)state;
    for (int way = 0; way < 3; way++) {
        open_fixture(&f);
        rdo_memory *buffer = memory_bench_buffer(&f.bench, 8);
        open_window(&f.window, OWNER);
        assert_true(rdo_window_touch(&f.window, 1, buffer->page, buffer->slice));
        assert_true(rdo_window_touch(&f.window, 1, buffer->page, buffer->slice));
        assert_int_equal(guards_of(buffer), 1);
        memory_bench_release(&f.bench, buffer);
        assert_ptr_equal(buffer->page->slices[buffer->slice].owner, buffer); /* the guard keeps it */
        if (way == 0) rdo_window_abort(&f.window);
        if (way == 1) rdo_window_finish(&f.window);
        if (way == 2) {
            assert_true(end_window(&f.window, NEIGHBOUR));
            assert_null(rdo_window_prepare(&f.window, OWNER));
        }
        close_fixture(&f);
    }
}

/* [C5] The window's own memory is marked instead: the owner may still reuse it inside the window. */
static void memory_of_the_window_itself_is_marked_and_not_guarded(void **state) {
    fixture f;
    (void)state;
    open_fixture(&f);
    open_window(&f.window, OWNER);
    const rdo_request request = {.size = 64, .window = f.window.id};
    rdo_memory *buffer = memory_bench_reserve(&f.bench, &request, OWNER);
    const rdo_slice *slice = &buffer->page->slices[buffer->slice];
    assert_int_equal(slice->window, f.window.id);
    assert_false(slice->touched);
    assert_true(rdo_window_touch(&f.window, OWNER, buffer->page, buffer->slice));
    assert_true(slice->touched);
    assert_int_equal(slice->guards, 0);
    memory_bench_release(&f.bench, buffer); /* freed inside the window, and handed to its owner again */
    buffer = memory_bench_reserve(&f.bench, &request, OWNER);
    assert_ptr_equal(&buffer->page->slices[buffer->slice], slice);
    assert_true(slice->reused && !slice->touched);
    assert_true(rdo_window_touch(&f.window, OWNER, buffer->page, buffer->slice));
    assert_true(slice->touched);
    assert_int_equal(slice->guards, 0);
    end_window(&f.window, OWNER);
    rdo_touch_list touched = rdo_window_take_touched(&f.window);
    assert_int_equal(touched.count, 1);
    rdo_free(touched.data);

    assert_int_equal(rdo_store_count_touched(&f.bench.store, f.window.id), 1);
    rdo_store_close_window(&f.bench.store, f.window.id, NULL, NULL);
    assert_int_equal(slice->window, 0);
    memory_bench_release(&f.bench, buffer);
    close_fixture(&f);
}

/* [C6] Held through the warm-up, so that the pool grows by one slice per copy; back in the pool from begin on. */
static void begin_gives_the_primed_staging_back(void **state) {
    fixture f;
    (void)state;
    open_fixture(&f);
    rdo_memory *first = memory_bench_staging(&f.bench, 100);
    assert_null(rdo_window_prepare(&f.window, OWNER));
    assert_true(rdo_window_prime(&f.window, first));
    memory_bench_sweep(&f.bench);
    rdo_memory *second = memory_bench_staging(&f.bench, 100);
    assert_true(rdo_window_prime(&f.window, second));
    assert_true(first->slice != second->slice || first->page != second->page);
    assert_int_equal(first->refs, 1);
    assert_null(rdo_window_begin(&f.window));
    assert_int_equal(first->refs, 0);
    assert_int_equal(second->refs, 0);
    assert_true(rdo_window_check(&f.window));
    memory_bench_sweep(&f.bench);
    assert_int_equal(f.bench.books.reports[RONDO_POOL_HOST].in_use_bytes, 0);
    close_fixture(&f);
}

/* [C6] [C12] */
static void an_aborted_warm_up_gives_the_primed_staging_back(void **state) {
    fixture f;
    (void)state;
    open_fixture(&f);
    rdo_memory *staging = memory_bench_staging(&f.bench, 100);
    assert_null(rdo_window_prepare(&f.window, OWNER));
    assert_true(rdo_window_prime(&f.window, staging));
    rdo_window_abort(&f.window);
    assert_int_equal(staging->refs, 0);
    close_fixture(&f);
}

/* [C6] */
static void staging_is_primed_while_prepared_only(void **state) {
    fixture f;
    (void)state;
    open_fixture(&f);
    rdo_memory *staging = memory_bench_staging(&f.bench, 100);
    assert_false(rdo_window_prime(&f.window, staging));
    open_window(&f.window, OWNER);
    assert_false(rdo_window_prime(&f.window, staging));
    end_window(&f.window, OWNER);
    assert_int_equal(staging->refs, 1); /* it stayed the caller's */
    memory_bench_release(&f.bench, staging);
    close_fixture(&f);
}

/* [C6] */
static void reservations_are_noted_while_prepared_only(void **state) {
    fixture f;
    (void)state;
    open_fixture(&f);
    const rdo_request request = {.size = 10};
    rdo_window_note(&f.window, &request, 1);
    assert_int_equal(f.window.notes.count, 0);
    assert_null(rdo_window_prepare(&f.window, OWNER));
    rdo_window_note(&f.window, &request, 2);
    rdo_window_note(&f.window, &(rdo_request){.size = RDO_NOTE_RELEASE}, 2);
    assert_int_equal(f.window.notes.count, 2);
    assert_int_equal(f.window.notes.data[0].memory_id, 2);
    assert_true(f.window.notes.data[1].request.size == RDO_NOTE_RELEASE);
    assert_null(rdo_window_begin(&f.window));
    rdo_window_note(&f.window, &request, 3);
    assert_int_equal(f.window.notes.count, 2);
    close_fixture(&f);
}

/* [C8] */
static void the_first_failure_wins_and_is_taken_once(void **state) {
    fixture f;
    (void)state;
    open_fixture(&f);
    open_window(&f.window, OWNER);
    rdo_window_fail(&f.window, 100);
    rdo_window_fail(&f.window, 200);
    end_window(&f.window, OWNER);
    rdo_window_fail(&f.window, 300); /* too late, and no window to doom */
    assert_int_equal(rdo_window_take_failure(&f.window), 100);
    assert_int_equal(rdo_window_take_failure(&f.window), RONDO_OK);
    close_fixture(&f);
}

/* [C8] */
static void outside_a_window_there_is_nothing_to_doom(void **state) {
    fixture f;
    (void)state;
    open_fixture(&f);
    rdo_window_fail(&f.window, 100);
    assert_null(rdo_window_prepare(&f.window, OWNER));
    rdo_window_fail(&f.window, 200); /* the warm-up runs; what fails there fails on the spot */
    assert_null(rdo_window_begin(&f.window));
    end_window(&f.window, OWNER);
    assert_int_equal(rdo_window_take_failure(&f.window), RONDO_OK);
    close_fixture(&f);
}

/* [C2] [C8] */
static void a_doomed_window_does_not_doom_the_next(void **state) {
    fixture f;
    (void)state;
    open_fixture(&f);
    for (int way = 0; way < 2; way++) {
        open_window(&f.window, OWNER);
        rdo_window_fail(&f.window, 100);
        if (way == 0) rdo_window_abort(&f.window);
        if (way == 1) assert_true(end_window(&f.window, NEIGHBOUR));
        open_window(&f.window, OWNER);
        end_window(&f.window, OWNER);
        assert_int_equal(rdo_window_take_failure(&f.window), RONDO_OK);
    }
    close_fixture(&f);
}

/* [C1] [C2] It is cleared only after the transition was accepted. */
static void a_refused_prepare_disturbs_nothing(void **state) {
    fixture f;
    (void)state;
    open_fixture(&f);
    rdo_memory *buffer = memory_bench_buffer(&f.bench, 8), *staging = memory_bench_staging(&f.bench, 8);
    assert_null(rdo_window_prepare(&f.window, OWNER));
    assert_true(rdo_window_prime(&f.window, staging));
    rdo_window_note(&f.window, &(rdo_request){.size = 8}, buffer->id);
    uint64_t id = f.window.id;
    assert_non_null(rdo_window_prepare(&f.window, NEIGHBOUR));
    assert_int_equal(staging->refs, 1);
    assert_int_equal(f.window.notes.count, 1);
    assert_null(rdo_window_begin(&f.window));

    record(&f.window, buffer);
    assert_true(rdo_window_touch(&f.window, 1, buffer->page, buffer->slice));
    assert_true(rdo_window_retain(&f.window, memory_bench_staging(&f.bench, 8)));
    rdo_window_fail(&f.window, 5);
    assert_non_null(rdo_window_prepare(&f.window, NEIGHBOUR));
    assert_non_null(rdo_window_begin(&f.window));
    assert_int_equal(rdo_window_owner(&f.window), OWNER);
    assert_int_equal(f.window.id, id);
    end_window(&f.window, OWNER);
    assert_int_equal(rdo_window_take_failure(&f.window), 5);
    expect_writes(&f.window, &buffer, 1);
    rdo_memory_list retained = rdo_window_take_retained(&f.window);
    rdo_touch_list touched = rdo_window_take_touched(&f.window);
    assert_int_equal(retained.count, 1);
    assert_int_equal(touched.count, 1);
    give_back(&touched);
    give_back_retained(&f, &retained);
    memory_bench_release(&f.bench, buffer);
    close_fixture(&f);
}

/* [C1] */
static void a_refused_end_or_begin_changes_nothing(void **state) {
    fixture f;
    rdo_capture_end end = {.owner = 99};
    (void)state;
    open_fixture(&f);
    assert_non_null(rdo_window_begin(&f.window));
    assert_non_null(rdo_window_end(&f.window, OWNER, &end));
    rdo_memory *staging = memory_bench_staging(&f.bench, 8);
    assert_null(rdo_window_prepare(&f.window, OWNER));
    assert_true(rdo_window_prime(&f.window, staging));
    assert_non_null(rdo_window_end(&f.window, OWNER, &end));
    assert_int_equal(end.owner, 99);
    assert_true(rdo_window_is_prepared(&f.window));
    assert_int_equal(staging->refs, 1);
    close_fixture(&f);
}

/* [C1] [C17] */
static void transitions_follow_the_capture_order(void **state) {
    fixture f;
    (void)state;
    open_fixture(&f);
    assert_false(rdo_window_is_active(&f.window));
    assert_int_equal(rdo_window_owner(&f.window), 0);
    assert_null(rdo_window_prepare(&f.window, OWNER));
    assert_true(rdo_window_is_prepared(&f.window) && !rdo_window_is_recording(&f.window));
    assert_int_equal(rdo_window_owner(&f.window), OWNER);
    assert_null(rdo_window_begin(&f.window));
    assert_true(rdo_window_is_recording(&f.window) && !rdo_window_is_prepared(&f.window));
    assert_int_equal(rdo_window_owner(&f.window), OWNER);
    end_window(&f.window, OWNER);
    assert_false(rdo_window_is_active(&f.window));
    assert_int_equal(rdo_window_owner(&f.window), 0);
    rdo_window_abort(&f.window); /* legal from everywhere */
    assert_false(rdo_window_is_active(&f.window));
    close_fixture(&f);
}

/* [C10] The late owner's end of the neighbour's window abandons that one. */
static void a_capture_no_one_can_close_does_not_wedge_the_stream(void **state) {
    fixture f;
    rdo_capture_end end;
    (void)state;
    open_fixture(&f);
    open_window(&f.window, OWNER);
    assert_null(rdo_window_end(&f.window, NEIGHBOUR, &end));
    assert_true(end.abandoned);
    assert_int_equal(end.owner, OWNER);
    assert_non_null(rdo_window_end(&f.window, OWNER, &end)); /* nothing is recording any more */
    open_window(&f.window, NEIGHBOUR);
    assert_null(rdo_window_end(&f.window, OWNER, &end));
    assert_true(end.abandoned);
    assert_int_equal(end.owner, NEIGHBOUR);
    close_fixture(&f);
}

/* [C20] */
static void two_windows_of_a_device_do_not_mix(void **state) {
    fixture f;
    (void)state;
    open_fixture(&f);
    rdo_memory *a = memory_bench_buffer(&f.bench, 8), *b = memory_bench_buffer(&f.bench, 8);
    open_window(&f.window, OWNER);
    open_window(&f.other, NEIGHBOUR);
    assert_true(f.window.id != f.other.id);
    record(&f.window, a);
    record(&f.other, b);
    rdo_window_fail(&f.other, 9);
    expect_updates(&f, RDO_PAGE_FORBIDDEN, RDO_PAGE_FORBIDDEN, true);
    end_window(&f.window, OWNER);
    expect_updates(&f, RDO_PAGE_ADD_ONLY, RDO_PAGE_FORBIDDEN, true);
    end_window(&f.other, NEIGHBOUR);
    assert_int_equal(rdo_window_take_failure(&f.window), RONDO_OK);
    assert_int_equal(rdo_window_take_failure(&f.other), 9);
    expect_writes(&f.window, &a, 1);
    expect_writes(&f.other, &b, 1);
    memory_bench_release(&f.bench, a);
    memory_bench_release(&f.bench, b);
    close_fixture(&f);
}

/* [C2] Slices are marked with the id, so an earlier window's marks must never be taken for a later one's. */
static void no_two_captures_share_an_id(void **state) {
    fixture f;
    (void)state;
    open_fixture(&f);
    uint64_t last = 0;
    for (int i = 0; i < 10; i++) {
        rdo_window *window = i % 2 == 0 ? &f.window : &f.other;
        open_window(window, OWNER);
        assert_true(window->id > last);
        last = window->id;
        rdo_window_abort(window);
    }
    close_fixture(&f);
}

/* [C12] [E3] */
static void a_dropped_window_keeps_no_host_memory(void **state) {
    fixture f;
    (void)state;
    open_fixture(&f);
    rdo_memory *buffer = memory_bench_buffer(&f.bench, 8);
    uint64_t before = rdo_alloc_live();
    assert_null(rdo_window_prepare(&f.window, OWNER));
    rdo_window_note(&f.window, &(rdo_request){.size = 8}, buffer->id);
    assert_null(rdo_window_begin(&f.window));
    record(&f.window, buffer);
    assert_true(rdo_window_touch(&f.window, 1, buffer->page, buffer->slice));
    assert_non_null(rdo_arena_take(&f.window.arena, 100));
    assert_true(rdo_alloc_live() > before);
    rdo_window_abort(&f.window);
    assert_int_equal(rdo_alloc_live(), before);
    memory_bench_release(&f.bench, buffer);
    close_fixture(&f);
}

/* [E3] [C8] The caller dooms the window; nothing is half noted. */
static void without_memory_a_note_is_refused_whole(void **state) {
    fixture f;
    (void)state;
    open_fixture(&f);
    rdo_memory *buffer = memory_bench_buffer(&f.bench, 8), *staging = memory_bench_staging(&f.bench, 8);
    assert_null(rdo_window_prepare(&f.window, OWNER));
    starve(0, true);
    bool primed = rdo_window_prime(&f.window, staging);
    rdo_window_note(&f.window, &(rdo_request){.size = 8}, buffer->id);
    const char *refused = rdo_window_begin(&f.window);
    bool recorded = rdo_window_record(&f.window, buffer, 0, 8);
    bool touched = rdo_window_touch(&f.window, 1, buffer->page, buffer->slice);
    bool retained = rdo_window_retain(&f.window, staging);
    assert_int_equal(feed(), 5);
    assert_null(refused); /* a transition needs no memory */
    assert_false(primed || recorded || touched || retained);
    assert_true(f.window.notes_lost);
    assert_int_equal(f.window.notes.count + f.window.writes.count + f.window.touched.count, 0);
    assert_int_equal(guards_of(buffer), 0);
    assert_int_equal(staging->refs, 1);
    rdo_window_abort(&f.window);
    assert_false(f.window.notes_lost);
    memory_bench_release(&f.bench, staging);
    memory_bench_release(&f.bench, buffer);
    close_fixture(&f);
}

/* The checker itself notices what it is there for. */
static void the_checker_sees_what_is_out_of_place(void **state) {
    fixture f;
    rdo_weak weak = {0};
    rdo_memory *primed = NULL;
    (void)state;
    open_fixture(&f);
    assert_null(rdo_window_prepare(&f.window, OWNER));
    assert_true(rdo_window_check(&f.window));
    f.window.ops.count = 1;
    assert_false(rdo_window_check(&f.window));
    f.window.ops.count = 0, f.window.holders.count = 1;
    assert_false(rdo_window_check(&f.window));
    f.window.holders.count = 0, f.window.writes = (rdo_weak_list){&weak, 1, 1};
    assert_false(rdo_window_check(&f.window));
    f.window.writes = (rdo_weak_list){0}, f.window.touched.count = 1;
    assert_false(rdo_window_check(&f.window));
    f.window.touched.count = 0, f.window.retained.count = 1;
    assert_false(rdo_window_check(&f.window));
    f.window.retained.count = 0, f.window.failed = 3;
    assert_false(rdo_window_check(&f.window));
    f.window.failed = RONDO_OK;
    assert_true(rdo_window_check(&f.window));
    assert_null(rdo_window_begin(&f.window));
    f.window.primed = (rdo_memory_list){&primed, 1, 1};
    assert_false(rdo_window_check(&f.window));
    f.window.primed = (rdo_memory_list){0};
    f.window.life.owner = 0;
    assert_false(rdo_window_check(&f.window));
    f.window.life.owner = OWNER;
    assert_true(rdo_window_check(&f.window));
    close_fixture(&f);
}

/* [C9] However often a step writes the same bytes, in whatever order. */
static void bytes_that_a_window_writes_again_are_kept_once(void **state) {
    static const uint64_t lows[] = {0, 8, 16, 0, 8, 0, 16, 8};
    fixture f;
    (void)state;
    open_fixture(&f);
    rdo_memory *memory = memory_bench_buffer(&f.bench, 64);
    open_window(&f.window, OWNER);
    for (size_t i = 0; i < sizeof lows / sizeof lows[0]; i++) {
        assert_true(rdo_window_record(&f.window, memory, lows[i], lows[i] + 8));
    }
    rdo_weak_list writes = rdo_window_take_writes(&f.window);
    assert_int_equal(writes.count, 3);
    for (size_t i = 0; i < 3; i++) assert_int_equal(writes.data[i].key.low, 8 * i);
    rdo_free(writes.data);
    (void)end_window(&f.window, OWNER);
    memory_bench_release(&f.bench, memory);
    close_fixture(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_capture_names_each_buffer_its_launches_were_given_once),
        cmocka_unit_test(a_launch_outside_a_window_is_not_recorded),
        cmocka_unit_test(a_capture_names_every_range_of_a_batched_allocation),
        cmocka_unit_test(a_window_owns_the_host_bytes_its_copies_read),
        cmocka_unit_test(a_new_capture_starts_from_an_empty_recording),
        cmocka_unit_test(the_cache_captures_across_the_whole_window),
        cmocka_unit_test(a_capture_is_seen_by_its_stream_until_it_ends),
        cmocka_unit_test(a_recording_is_seen_device_wide),
        cmocka_unit_test(a_recorded_buffer_is_not_held),
        cmocka_unit_test(a_buffer_that_nobody_holds_any_more_is_left_out),
        cmocka_unit_test(a_buffer_that_anything_still_needs_is_kept),
        cmocka_unit_test(an_empty_range_is_not_recorded),
        cmocka_unit_test(touched_pages_are_sorted_and_named_once),
        cmocka_unit_test(two_windows_may_touch_one_slice),
        cmocka_unit_test(each_window_notes_a_slice_anew),
        cmocka_unit_test(pages_of_two_queues_are_two_touches),
        cmocka_unit_test(a_touch_outside_a_window_is_ignored),
        cmocka_unit_test(an_aborted_window_gives_its_guards_back),
        cmocka_unit_test(memory_of_the_window_itself_is_marked_and_not_guarded),
        cmocka_unit_test(begin_gives_the_primed_staging_back),
        cmocka_unit_test(an_aborted_warm_up_gives_the_primed_staging_back),
        cmocka_unit_test(staging_is_primed_while_prepared_only),
        cmocka_unit_test(reservations_are_noted_while_prepared_only),
        cmocka_unit_test(the_first_failure_wins_and_is_taken_once),
        cmocka_unit_test(outside_a_window_there_is_nothing_to_doom),
        cmocka_unit_test(a_doomed_window_does_not_doom_the_next),
        cmocka_unit_test(a_refused_prepare_disturbs_nothing),
        cmocka_unit_test(a_refused_end_or_begin_changes_nothing),
        cmocka_unit_test(transitions_follow_the_capture_order),
        cmocka_unit_test(a_capture_no_one_can_close_does_not_wedge_the_stream),
        cmocka_unit_test(two_windows_of_a_device_do_not_mix),
        cmocka_unit_test(no_two_captures_share_an_id),
        cmocka_unit_test(a_dropped_window_keeps_no_host_memory),
        cmocka_unit_test(without_memory_a_note_is_refused_whole),
        cmocka_unit_test(the_checker_sees_what_is_out_of_place),
        cmocka_unit_test(bytes_that_a_window_writes_again_are_kept_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
