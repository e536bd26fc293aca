/* Memory in a window: only room already held is used, and the warm-up makes that room; host bytes live with
 * the window. */
#include "capture_tools.h"

static uint64_t reserved_bytes(struct conform *t) {
    uint64_t sum = 0;
    for (int kind = 0; kind < RONDO_POOL_KINDS; kind++) sum += conform_report(t, (rondo_pool_kind)kind).reserved_bytes;
    return sum;
}

/* A sequence of allocations and frees: every temporary is filled, and copied into `result` before it goes. */
struct trace {
    uint64_t sizes[400];
    uint32_t frees[400]; /* how many of the live temporaries go after this allocation, */
    uint32_t picks[400]; /* and which comes first */
    size_t count;
    rondo_buffer result;
};

enum { LIVE_MAX = 24 };

struct live {
    rondo_buffer buffers[LIVE_MAX];
    size_t count;
};

static void free_one(struct live *live, size_t index) {
    rondo_buffer_release(live->buffers[index]);
    live->count -= 1;
    live->buffers[index] = live->buffers[live->count];
}

static void free_some(struct live *live, uint32_t frees, uint32_t pick) {
    if (frees == 0 && live->count == LIVE_MAX) frees = 1;
    for (; frees > 0 && live->count > 0; frees--) free_one(live, pick % live->count);
}

static rondo_status use_temporary(rondo_stream *stream, const struct trace *trace, rondo_buffer buffer, size_t i) {
    uint64_t size_bytes = trace->sizes[i];
    rondo_status status = rondo_fill(stream, rondo_whole(buffer), &(uint8_t){(uint8_t)i}, 1, "temporary");
    uint64_t part_bytes = size_bytes < 64 ? size_bytes : 64;
    if (status) return status;
    return rondo_copy(stream, rondo_slice(trace->result, 0, part_bytes), rondo_slice(buffer, 0, part_bytes), "result");
}

static rondo_status play_trace(rondo_stream *stream, void *user) {
    const struct trace *trace = user;
    struct live live = {.count = 0};
    rondo_status status = RONDO_OK;
    for (size_t i = 0; status == RONDO_OK && i < trace->count; i++) {
        rondo_buffer buffer = RONDO_NO_BUFFER;
        status = rondo_buffer_create(stream, trace->sizes[i], RONDO_USAGE_GENERAL, &buffer);
        if (status) break;
        live.buffers[live.count++] = buffer;
        status = use_temporary(stream, trace, buffer, i);
        free_some(&live, trace->frees[i], trace->picks[i]);
    }
    free_some(&live, LIVE_MAX, 0);
    return status;
}

static struct trace random_trace(struct conform *t, struct rng *rng) {
    struct trace trace = {.count = 20 + rng_below(rng, 300), .result = conform_buffer(t, 64)};
    uint64_t most_bits = 4 + rng_below(rng, 18);
    for (size_t i = 0; i < trace.count; i++) {
        trace.sizes[i] = 1 + rng_below(rng, (uint64_t)1 << (1 + rng_below(rng, most_bits)));
        trace.frees[i] = rng_below(rng, 3) == 0 ? (uint32_t)rng_below(rng, 8) : (uint32_t)rng_below(rng, 2);
        trace.picks[i] = (uint32_t)rng_below(rng, 1000);
    }
    return trace;
}

/* [C6] Whatever sequence ran as the warm-up fits into the window. */
static void the_warm_ups_sequence_fits_into_the_window(struct conform *t) {
    uint64_t seed = rng_first_seed();
    for (uint64_t run = 0; run < 20; run++) {
        struct rng rng = {seed + run};
        struct trace trace = random_trace(t, &rng);
        print_message("seed %" PRIu64 ", %zu allocations\n", seed + run, trace.count);
        rondo_graph *graph = capture_step(t, t->stream, play_trace, &trace);
        CHECK_EQUAL(graph_info(graph).nodes, 2 * trace.count);
        CHECK_OK(rondo_graph_replay(graph, t->stream));
        uint8_t byte = 0;
        CHECK_OK(rondo_read(t->stream, rondo_slice(trace.result, 0, 1), &byte, NULL));
        CHECK_EQUAL(byte, (uint8_t)(trace.count - 1));
        if (run % 2) rondo_graph_release(graph);
    }
}

/* [C6] Sizes from one byte to many pages, all alive at once. */
static void temporaries_of_every_size_class_fit_into_the_window(struct conform *t) {
    struct trace trace = {.count = LIVE_MAX - 1, .result = conform_buffer(t, 64)};
    for (size_t i = 0; i < trace.count; i++) trace.sizes[i] = (uint64_t)1 << i;
    rondo_graph *graph = capture_step(t, t->stream, play_trace, &trace);
    CHECK(graph_info(graph).device_bytes >= ((uint64_t)1 << (LIVE_MAX - 1)) - 1);
    CHECK_OK(rondo_graph_replay(graph, t->stream));
}

/* [C6] The room is for the peak, not for the sum: a long step that frees as it goes stays small. */
static void a_thousand_temporaries_in_turn_need_the_room_of_few(struct conform *t) {
    rondo_buffer result = conform_buffer(t, 64);
    enum { STEPS = 1000, SIZE = 65536 };
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 0) CHECK_OK(rondo_capture_prepare(t->stream));
        if (pass == 1) CHECK_OK(rondo_capture_begin(t->stream));
        for (int i = 0; i < STEPS; i++) {
            rondo_buffer temporary = RONDO_NO_BUFFER;
            CHECK_OK(rondo_buffer_create(t->stream, SIZE, RONDO_USAGE_GENERAL, &temporary));
            CHECK_OK(fill_i32(t->stream, rondo_whole(temporary), i, NULL));
            CHECK_OK(rondo_copy(t->stream, rondo_whole(result), rondo_slice(temporary, 0, 64), NULL));
            rondo_buffer_release(temporary);
        }
    }
    CHECK(window_info(t->stream).device_bytes <= 16 * SIZE);
    CHECK(reserved_bytes(t) <= STEPS / 8 * SIZE);
    rondo_graph *graph = seal(t, t->stream);
    CHECK_EQUAL(graph_info(graph).nodes, 2 * STEPS);
    CHECK(graph_info(graph).device_bytes <= 16 * SIZE);
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    conform_expect_all_i32(t, result, STEPS - 1, 16);
}

/* [C6, C18] */
static void an_allocation_that_the_warm_up_did_not_make_finds_no_room_and_dooms(struct conform *t) {
    rondo_buffer kept = conform_buffer(t, 64), big = {77};
    conform_fill_i32(t, kept, 1);
    CHECK_OK(rondo_capture_prepare(t->stream));
    CHECK_OK(rondo_capture_begin(t->stream));
    CHECK_OK(fill_i32(t->stream, rondo_whole(kept), 2, NULL));
    rondo_status refused =
        CHECK_CODE(rondo_buffer_create(t->stream, 32u << 20, RONDO_USAGE_GENERAL, &big), RONDO_NO_ROOM);
    CHECK_EQUAL(big.id, 0);
    CHECK(window_info(t->stream).doomed_by == refused);
    rondo_status doomed = seal_refused(t->stream, RONDO_DOOMED);
    CHECK(rondo_fault_root(doomed) == refused);
    expect_spoiled(rondo_whole(kept), refused);
}

/* [C6] Its neighbour: the same allocation after a warm-up that made it. */
static void an_allocation_that_the_warm_up_made_is_served_in_the_window(struct conform *t) {
    rondo_buffer big = RONDO_NO_BUFFER;
    CHECK_OK(rondo_capture_prepare(t->stream));
    CHECK_OK(rondo_buffer_create(t->stream, 32u << 20, RONDO_USAGE_GENERAL, &big));
    rondo_buffer_release(big);
    CHECK_OK(rondo_capture_begin(t->stream));
    CHECK_OK(rondo_buffer_create(t->stream, 32u << 20, RONDO_USAGE_GENERAL, &big));
    conform_keep_buffer(t, big);
    CHECK_OK(fill_i32(t->stream, rondo_whole(big), 2, NULL));
    CHECK_OK(rondo_graph_replay(seal(t, t->stream), t->stream));
    CHECK_EQUAL(conform_read_i32(t, big, 1000), 2);
}

/* [C6] A buffer that the warm-up kept is counted once more: the window makes a second one beside it. */
static void room_is_made_beside_what_the_warm_up_kept(struct conform *t) {
    rondo_buffer first = RONDO_NO_BUFFER, second = RONDO_NO_BUFFER;
    CHECK_OK(rondo_capture_prepare(t->stream));
    CHECK_OK(rondo_buffer_create(t->stream, 3u << 20, RONDO_USAGE_GENERAL, &first));
    conform_keep_buffer(t, first);
    CHECK_OK(fill_i32(t->stream, rondo_whole(first), 1, NULL));
    CHECK_OK(rondo_capture_begin(t->stream));
    CHECK_OK(rondo_buffer_create(t->stream, 3u << 20, RONDO_USAGE_GENERAL, &second));
    conform_keep_buffer(t, second);
    CHECK_OK(fill_i32(t->stream, rondo_whole(second), 2, NULL));
    CHECK_OK(rondo_graph_replay(seal(t, t->stream), t->stream));
    CHECK_EQUAL(conform_read_i32(t, first, 99), 1);
    CHECK_EQUAL(conform_read_i32(t, second, 99), 2);
}

/* [C18] Another queue may grow meanwhile; only the recording one may not. */
static void another_queue_grows_during_a_window(struct conform *t) {
    rondo_stream *stranger = conform_stranger(t, t->stream);
    rondo_buffer kept = conform_buffer(t, 64);
    open_window(t->stream);
    CHECK_OK(fill_i32(t->stream, rondo_whole(kept), 2, NULL));
    for (int i = 0; i < 4; i++) {
        rondo_buffer theirs = conform_buffer_on(t, stranger, 8u << 20);
        CHECK_OK(fill_i32(stranger, rondo_whole(theirs), i, NULL));
        CHECK_OK(conform_try_read(stranger, rondo_whole(theirs)));
    }
    CHECK_EQUAL(graph_info(seal(t, t->stream)).nodes, 1);
}

/* [C18] The room of a lost window is room again. */
static void a_lost_window_gives_its_room_back(struct conform *t) {
    for (int i = 0; i < 10; i++) {
        rondo_buffer big = RONDO_NO_BUFFER;
        CHECK_OK(rondo_capture_prepare(t->stream));
        CHECK_OK(rondo_buffer_create(t->stream, 8u << 20, RONDO_USAGE_GENERAL, &big));
        rondo_buffer_release(big);
        CHECK_OK(rondo_capture_begin(t->stream));
        CHECK_OK(rondo_buffer_create(t->stream, 8u << 20, RONDO_USAGE_GENERAL, &big));
        CHECK_OK(fill_i32(t->stream, rondo_whole(big), i, NULL));
        rondo_buffer_release(big);
        CHECK_OK(rondo_capture_abort(t->stream));
    }
    CHECK_OK(rondo_device_trim(t->device, NULL));
    for (int kind = 0; kind < RONDO_POOL_KINDS; kind++) {
        rondo_pool_report report = conform_report(t, (rondo_pool_kind)kind);
        CHECK_EQUAL(report.guarded_bytes, 0);
        CHECK_EQUAL(report.reserved_bytes, 0);
    }
}

/* [C14, C16] */
static void a_trim_in_a_window_takes_effect_when_it_closes(struct conform *t) {
    rondo_buffer kept = conform_buffer(t, 64), unused = RONDO_NO_BUFFER;
    CHECK_OK(rondo_capture_prepare(t->stream));
    CHECK_OK(rondo_buffer_create(t->stream, 16u << 20, RONDO_USAGE_GENERAL, &unused));
    rondo_buffer_release(unused);
    CHECK_OK(rondo_capture_begin(t->stream));
    uint64_t before = reserved_bytes(t);
    CHECK(before >= 16u << 20);
    CHECK_OK(rondo_device_trim(t->device, NULL));
    CHECK_EQUAL(reserved_bytes(t), before);
    CHECK_OK(rondo_buffer_create(t->stream, 16u << 20, RONDO_USAGE_GENERAL, &unused));
    rondo_buffer_release(unused);
    CHECK_OK(fill_i32(t->stream, rondo_whole(kept), 2, NULL));
    CHECK_EQUAL(window_info(t->stream).doomed_by, RONDO_OK);
    rondo_graph *graph = seal(t, t->stream);
    uint64_t after = reserved_bytes(t);
    CHECK(after < 16u << 20);
    CHECK_OK(rondo_device_trim(t->device, NULL));
    CHECK_EQUAL(reserved_bytes(t), after);
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    conform_expect_all_i32(t, kept, 2, 16);
}

/* Opens a window whose warm-up used 16 MiB. */
static void open_roomy_window(struct conform *t) {
    rondo_buffer unused = RONDO_NO_BUFFER;
    CHECK_OK(rondo_capture_prepare(t->stream));
    CHECK_OK(rondo_buffer_create(t->stream, 16u << 20, RONDO_USAGE_GENERAL, &unused));
    rondo_buffer_release(unused);
    CHECK_OK(rondo_capture_begin(t->stream));
}

/* [C16] One trim, one effect: the room of the next window stays in the pool. */
static void a_trim_in_a_window_takes_effect_once(struct conform *t) {
    open_roomy_window(t);
    CHECK_OK(rondo_device_trim(t->device, NULL));
    CHECK_OK(rondo_capture_abort(t->stream));
    CHECK_EQUAL(reserved_bytes(t), 0);
    open_roomy_window(t);
    uint64_t before = reserved_bytes(t);
    CHECK(before >= 16u << 20);
    CHECK_OK(rondo_capture_abort(t->stream));
    CHECK_EQUAL(reserved_bytes(t), before);
}

/* [C18, M1] One-off memory goes straight back to the device, but not while anyone records. */
static void no_page_is_given_back_while_another_queue_records(struct conform *t) {
    rondo_stream *stranger = conform_stranger(t, t->stream);
    rondo_buffer buffer = conform_buffer(t, 64), one_off = RONDO_NO_BUFFER;
    uint64_t before = reserved_bytes(t);
    CHECK_OK(rondo_buffer_create(stranger, 4u << 20, RONDO_USAGE_ONE_OFF, &one_off));
    uint64_t during = reserved_bytes(t);
    CHECK(during >= before + (4u << 20));
    open_window(t->stream);
    rondo_buffer_release(one_off);
    CHECK_EQUAL(reserved_bytes(t), during);
    CHECK_OK(fill_i32(t->stream, rondo_whole(buffer), 1, NULL));
    seal(t, t->stream);
    CHECK_EQUAL(reserved_bytes(t), before);
}

/* [C6, C18] A capture that is prepared but does not fit its cap is unwound, and the stream works on. */
static const rondo_device_desc CAPPED = {
    .memory = {.page_min_bytes = 1u << 20, .page_max_bytes = 1u << 20, .own_cap_bytes = 24u << 20}};

static void a_begin_whose_room_cannot_be_had_unwinds_the_capture(struct conform *t) {
    rondo_buffer first = RONDO_NO_BUFFER;
    CHECK_OK(rondo_capture_prepare(t->stream));
    CHECK_OK(rondo_buffer_create(t->stream, 16u << 20, RONDO_USAGE_GENERAL, &first));
    conform_keep_buffer(t, first);
    CHECK_CODE(rondo_capture_begin(t->stream), RONDO_NO_DEVICE_MEMORY);
    CHECK_EQUAL(rondo_capture_phase(t->stream), RONDO_PHASE_NONE);
    CHECK(!rondo_device_is_recording(t->device));
    CHECK_OK(fill_i32(t->stream, rondo_whole(first), 5, NULL));
    CHECK_EQUAL(conform_read_i32(t, first, 3), 5);
    check_stream_works(t, t->stream);
}

static rondo_buffer create_sized(rondo_stream *stream, uint64_t size_bytes) {
    rondo_buffer buffer = RONDO_NO_BUFFER;
    CHECK_OK(rondo_buffer_create(stream, size_bytes, RONDO_USAGE_GENERAL, &buffer));
    return buffer;
}

/* [C9, C18, M4] The window ran out of room in the middle and was given up: a clean one may then need all there is. */
static void a_window_that_ran_out_of_room_gives_all_of_it_back(struct conform *t) {
    enum { PART = 8 << 20, PARTS = 3 };
    rondo_buffer parts[PARTS], none = RONDO_NO_BUFFER;
    CHECK_OK(rondo_capture_prepare(t->stream));
    rondo_buffer_release(create_sized(t->stream, PART));
    CHECK_OK(rondo_capture_begin(t->stream));
    parts[0] = create_sized(t->stream, PART);
    CHECK_OK(fill_i32(t->stream, rondo_whole(parts[0]), 1, NULL));
    CHECK_CODE(rondo_buffer_create(t->stream, PART, RONDO_USAGE_GENERAL, &none), RONDO_NO_ROOM);
    rondo_buffer_release(parts[0]);
    seal_refused(t->stream, RONDO_DOOMED);
    CHECK_EQUAL(conform_report(t, RONDO_POOL_OWN).guarded_bytes, 0);
    CHECK_EQUAL(conform_report(t, RONDO_POOL_OWN).in_use_bytes, 0);
    CHECK_OK(rondo_capture_prepare(t->stream));
    for (int i = 0; i < PARTS; i++) parts[i] = create_sized(t->stream, PART);
    for (int i = 0; i < PARTS; i++) rondo_buffer_release(parts[i]);
    CHECK_OK(rondo_capture_begin(t->stream));
    for (int32_t i = 0; i < PARTS; i++) {
        parts[i] = conform_keep_buffer(t, create_sized(t->stream, PART));
        CHECK_OK(fill_i32(t->stream, rondo_whole(parts[i]), i, NULL));
    }
    CHECK_OK(rondo_graph_replay(seal(t, t->stream), t->stream));
    for (int32_t i = 0; i < PARTS; i++) CHECK_EQUAL(conform_read_i32(t, parts[i], 4711), i);
}

/* Host bytes. */

struct upload {
    rondo_buffer target;
    int32_t values[16];
};

static rondo_status upload(rondo_stream *stream, void *user) {
    struct upload *u = user;
    return rondo_write(stream, rondo_whole(u->target), u->values, "upload");
}

/* [C7, W2] The caller's bytes are a snapshot: what becomes of them later is the caller's business. */
static void a_recorded_write_keeps_the_bytes_of_the_moment_of_the_call(struct conform *t) {
    struct upload *u = malloc(sizeof *u);
    CHECK(u != NULL);
    rondo_buffer target = u->target = conform_buffer(t, 64);
    for (int32_t i = 0; i < 16; i++) u->values[i] = 1;
    rondo_graph *graph = capture_step(t, t->stream, upload, u);
    memset(u, 0xee, sizeof *u);
    free(u);
    CHECK(graph_info(graph).host_bytes >= 64);
    for (int i = 0; i < 3; i++) {
        conform_fill_i32(t, target, 2);
        rondo_buffer block = conform_host_block(t, 64);
        memset(rondo_host_data(block), 0x77, 64);
        CHECK_OK(rondo_graph_replay(graph, t->stream));
        conform_expect_all_i32(t, target, 1, 16);
    }
}

/* [C7] Each write of a window has its own snapshot. */
static void a_thousand_recorded_writes_keep_a_thousand_snapshots(struct conform *t) {
    enum { COUNT = 1000 };
    rondo_buffer target = conform_buffer(t, COUNT * 4);
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 0) CHECK_OK(rondo_capture_prepare(t->stream));
        if (pass == 1) CHECK_OK(rondo_capture_begin(t->stream));
        for (int32_t i = 0; i < COUNT; i++) {
            int32_t value = i * (pass + 1);
            CHECK_OK(rondo_write(t->stream, rondo_slice(target, (uint64_t)i * 4, 4), &value, NULL));
        }
    }
    CHECK(window_info(t->stream).host_bytes >= COUNT * 4);
    rondo_graph *graph = seal(t, t->stream);
    for (int32_t i = 0; i < COUNT; i += 111) CHECK_EQUAL(conform_read_i32(t, target, (size_t)i), i);
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    for (int32_t i = 0; i < COUNT; i += 37) CHECK_EQUAL(conform_read_i32(t, target, (size_t)i), 2 * i);
}

/* [C6] One slice of staging for each recorded copy, and not a second one beside what the warm-up used. */
static void the_warm_ups_staging_is_the_windows_at_begin(struct conform *t) {
    enum { SIZE = 4 << 20 };
    rondo_buffer target = conform_buffer(t, SIZE);
    void *bytes = calloc(1, SIZE);
    CHECK(bytes != NULL);
    CHECK_OK(rondo_capture_prepare(t->stream));
    CHECK_OK(rondo_write(t->stream, rondo_whole(target), bytes, NULL));
    uint64_t warm = conform_report(t, RONDO_POOL_HOST).reserved_bytes;
    CHECK_OK(rondo_capture_begin(t->stream));
    CHECK_EQUAL(conform_report(t, RONDO_POOL_HOST).reserved_bytes, warm);
    CHECK_OK(rondo_write(t->stream, rondo_whole(target), bytes, NULL));
    free(bytes);
    rondo_graph *graph = seal(t, t->stream);
    CHECK_EQUAL(conform_report(t, RONDO_POOL_HOST).reserved_bytes, warm);
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    conform_expect_all_i32(t, target, 0, SIZE / 4);
}

/* [C6, C7] Staging too is only what the warm-up showed. */
static void a_write_that_the_warm_up_did_not_make_finds_no_staging_room(struct conform *t) {
    enum { SIZE = 16 << 20 };
    rondo_buffer target = conform_buffer(t, SIZE);
    conform_fill_i32(t, target, 3);
    void *bytes = calloc(1, SIZE);
    CHECK(bytes != NULL);
    open_window(t->stream);
    rondo_status refused = CHECK_CODE(rondo_write(t->stream, rondo_whole(target), bytes, "late"), RONDO_NO_ROOM);
    free(bytes);
    rondo_status doomed = seal_refused(t->stream, RONDO_DOOMED);
    CHECK(rondo_fault_root(doomed) == refused);
    CHECK_SAYS(doomed, "late");
    expect_spoiled(rondo_whole(target), refused);
}

/* [C7, W2] A live write reads its block again at each replay, and the graph keeps the block. */
static void a_recorded_live_write_follows_its_block(struct conform *t) {
    rondo_buffer target = conform_buffer(t, 64);
    rondo_buffer block = conform_host_block(t, 64);
    int32_t *values = rondo_host_data(block);
    values[3] = 10;
    open_window(t->stream);
    CHECK_OK(rondo_write_live(t->stream, rondo_whole(target), rondo_whole(block), "live"));
    rondo_graph *graph = seal(t, t->stream);
    for (int32_t i = 0; i < 4; i++) {
        CHECK_OK(rondo_host_wait(block));
        values[3] = 20 + i;
        CHECK_OK(rondo_graph_replay(graph, t->stream));
        CHECK_EQUAL(conform_read_i32(t, target, 3), 20 + i);
    }
    rondo_buffer_release(block);
    for (int i = 0; i < 8; i++) memset(rondo_host_data(conform_host_block(t, 64)), 0x55, 64);
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    CHECK_EQUAL(conform_read_i32(t, target, 3), 23);
}

/* [C7] An imported block is given back once, when the last graph that uses it is gone. */
static void a_graph_gives_an_imported_block_back_once(struct conform *t) {
    static int32_t memory[16];
    int released = 0;
    rondo_buffer target = conform_buffer(t, 64), block = RONDO_NO_BUFFER;
    CHECK_OK(rondo_host_import(t->stream, memory, sizeof memory, count_release, &released, &block));
    rondo_graph *graphs[2];
    for (size_t i = 0; i < COUNT_OF(graphs); i++) {
        open_window(t->stream);
        CHECK_OK(rondo_write_live(t->stream, rondo_whole(target), rondo_whole(block), NULL));
        graphs[i] = seal(t, t->stream);
    }
    rondo_buffer_release(block);
    rondo_graph_release(graphs[0]);
    CHECK_EQUAL(released, 0);
    memory[5] = 7;
    CHECK_OK(rondo_graph_replay(graphs[1], t->stream));
    CHECK_EQUAL(conform_read_i32(t, target, 5), 7);
    rondo_graph_release(graphs[1]);
    CHECK_EQUAL(released, 1);
}

/* [C7] A window that does not seal drops what it kept. */
static void a_lost_window_gives_its_host_bytes_back(struct conform *t) {
    static int32_t memory[16];
    int released = 0, freed = 0;
    rondo_buffer target = conform_buffer(t, 64), block = RONDO_NO_BUFFER;
    CHECK_OK(rondo_host_import(t->stream, memory, sizeof memory, count_release, &released, &block));
    open_window(t->stream);
    CHECK_OK(rondo_write_live(t->stream, rondo_whole(target), rondo_whole(block), NULL));
    CHECK_OK(rondo_host_call(t->stream, host_nothing, &freed, count_release, NULL, 0, NULL));
    rondo_buffer_release(block);
    CHECK(window_info(t->stream).host_bytes >= 64);
    CHECK_EQUAL(released, 0);
    CHECK_EQUAL(freed, 0);
    CHECK_OK(rondo_capture_abort(t->stream));
    CHECK_EQUAL(released, 1);
    CHECK_EQUAL(freed, 1);
    CHECK_EQUAL(conform_stats(t).host_blocks, 0);
}

const struct conform_case conform_capture_room_cases[] = {
    CONFORM_CASE(the_warm_ups_sequence_fits_into_the_window, NEEDS_NOTHING),
    CONFORM_CASE(temporaries_of_every_size_class_fit_into_the_window, NEEDS_NOTHING),
    CONFORM_CASE(a_thousand_temporaries_in_turn_need_the_room_of_few, NEEDS_NOTHING),
    CONFORM_CASE(an_allocation_that_the_warm_up_did_not_make_finds_no_room_and_dooms, NEEDS_NOTHING),
    CONFORM_CASE(an_allocation_that_the_warm_up_made_is_served_in_the_window, NEEDS_NOTHING),
    CONFORM_CASE(room_is_made_beside_what_the_warm_up_kept, NEEDS_NOTHING),
    CONFORM_CASE(another_queue_grows_during_a_window, NEEDS_NOTHING),
    CONFORM_CASE(a_lost_window_gives_its_room_back, NEEDS_NOTHING),
    CONFORM_CASE(a_trim_in_a_window_takes_effect_when_it_closes, NEEDS_NOTHING),
    CONFORM_CASE(a_trim_in_a_window_takes_effect_once, NEEDS_NOTHING),
    CONFORM_CASE(no_page_is_given_back_while_another_queue_records, NEEDS_NOTHING),
    CONFORM_CASE_ON(a_window_that_ran_out_of_room_gives_all_of_it_back, NEEDS_CAPS, &CAPPED),
    CONFORM_CASE_ON(a_begin_whose_room_cannot_be_had_unwinds_the_capture, NEEDS_CAPS, &CAPPED),
    CONFORM_CASE(a_recorded_write_keeps_the_bytes_of_the_moment_of_the_call, NEEDS_NOTHING),
    CONFORM_CASE(a_thousand_recorded_writes_keep_a_thousand_snapshots, NEEDS_NOTHING),
    CONFORM_CASE(the_warm_ups_staging_is_the_windows_at_begin, NEEDS_NOTHING),
    CONFORM_CASE(a_write_that_the_warm_up_did_not_make_finds_no_staging_room, NEEDS_NOTHING),
    CONFORM_CASE(a_recorded_live_write_follows_its_block, NEEDS_NOTHING),
    CONFORM_CASE(a_graph_gives_an_imported_block_back_once, NEEDS_NOTHING),
    CONFORM_CASE(a_lost_window_gives_its_host_bytes_back, NEEDS_NOTHING),
    CONFORM_END,
};
