/* A graph's memory is its own: nothing that a replay reads or writes goes to somebody else while the graph lives. */
#include "capture_tools.h"

enum { SIZE = 4096, COUNT = SIZE / 4, CANARIES = 50 };

struct canaries {
    rondo_buffer buffers[CANARIES];
    size_t count;
};

/* Buffers that somebody else allocates after the seal, each with bytes of its own. */
static struct canaries place_canaries(struct conform *t, uint64_t size_bytes, size_t count) {
    struct canaries c = {.count = count};
    for (size_t i = 0; i < count; i++) {
        c.buffers[i] = conform_buffer(t, size_bytes);
        conform_fill_i32(t, c.buffers[i], -1000 - (int32_t)i);
    }
    return c;
}

static void check_canaries(struct conform *t, const struct canaries *c, uint64_t size_bytes) {
    for (size_t i = 0; i < c->count; i++) {
        conform_expect_all_i32(t, c->buffers[i], -1000 - (int32_t)i, size_bytes / 4);
    }
}

static void release_canaries(const struct canaries *c) {
    for (size_t i = 0; i < c->count; i++) rondo_buffer_release(c->buffers[i]);
}

/* A step with a temporary of its own: in, through the temporary, to out. */
struct detour {
    rondo_buffer in, out;
    uint64_t size_bytes;
};

static rondo_status play_detour(rondo_stream *stream, void *user) {
    const struct detour *d = user;
    rondo_buffer temporary = RONDO_NO_BUFFER;
    rondo_status status = rondo_buffer_create(stream, d->size_bytes, RONDO_USAGE_GENERAL, &temporary);
    if (!status) status = rondo_copy(stream, rondo_whole(temporary), rondo_whole(d->in), "in");
    if (!status) status = add_in_place(stream, rondo_whole(temporary), NULL, "add");
    if (!status) status = rondo_copy(stream, rondo_whole(d->out), rondo_whole(temporary), "out");
    rondo_buffer_release(temporary);
    return status;
}

static struct detour new_detour(struct conform *t, uint64_t size_bytes) {
    struct detour d = {.in = conform_buffer(t, size_bytes), .out = conform_buffer(t, size_bytes)};
    d.size_bytes = size_bytes;
    conform_fill_i32(t, d.in, 1);
    return d;
}

static void check_detour(struct conform *t, rondo_graph *graph, const struct detour *d, int32_t value) {
    conform_fill_i32(t, d->in, value);
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    conform_expect_all_i32(t, d->out, value + 1, d->size_bytes / 4);
}

/* [P3, M3] A temporary was freed inside the window; what is allocated after the seal must not land in its place. */
static void buffers_made_after_the_seal_are_never_overwritten_by_a_replay(struct conform *t) {
    static const uint64_t sizes[] = {64, SIZE, 65536, 1 << 20};
    for (size_t s = 0; s < COUNT_OF(sizes); s++) {
        struct detour d = new_detour(t, sizes[s]);
        rondo_graph *graph = capture_step(t, t->stream, play_detour, &d);
        struct canaries c = place_canaries(t, sizes[s], CANARIES);
        for (int32_t i = 0; i < 3; i++) check_detour(t, graph, &d, 10 + i);
        check_canaries(t, &c, sizes[s]);
        release_canaries(&c);
        rondo_graph_release(graph);
    }
}

/* [P3] The canaries come and go between the replays, on two streams. */
static void allocations_between_replays_never_meet_the_graphs_memory(struct conform *t) {
    struct detour d = new_detour(t, SIZE);
    rondo_graph *graph = capture_step(t, t->stream, play_detour, &d);
    for (int32_t i = 0; i < 30; i++) {
        struct canaries c = place_canaries(t, SIZE, 4);
        check_detour(t, graph, &d, i);
        check_canaries(t, &c, SIZE);
        release_canaries(&c);
    }
}

static bool same_place(rondo_buffer_info one, rondo_buffer_info two) {
    return one.pool == two.pool && one.page == two.page && one.slice == two.slice;
}

/* [P3, M3] A producer's buffer is freed by its user after two graphs captured it: the next buffer of its size lands
 * elsewhere, and both graphs go on with the old bytes. */
static void a_captured_buffer_that_was_freed_keeps_its_place(struct conform *t) {
    rondo_buffer between = RONDO_NO_BUFFER, in = conform_buffer(t, SIZE), out = conform_buffer(t, SIZE);
    CHECK_OK(rondo_buffer_create(t->stream, SIZE, RONDO_USAGE_GENERAL, &between));
    open_window(t->stream);
    CHECK_OK(rondo_copy(t->stream, rondo_whole(between), rondo_whole(in), NULL));
    rondo_graph *producer = seal(t, t->stream);
    conform_fill_i32(t, between, 5);
    open_window(t->stream);
    CHECK_OK(rondo_copy(t->stream, rondo_whole(out), rondo_whole(between), NULL));
    rondo_graph *consumer = seal(t, t->stream);
    rondo_buffer_info old, new;
    CHECK_OK(rondo_buffer_get_info(between, &old));
    CHECK_EQUAL(old.graphs, 2);
    rondo_buffer_release(between);
    struct canaries c = place_canaries(t, SIZE, CANARIES);
    for (size_t i = 0; i < c.count; i++) {
        CHECK_OK(rondo_buffer_get_info(c.buffers[i], &new));
        CHECK(!same_place(old, new));
    }
    CHECK_OK(rondo_graph_replay(consumer, t->stream));
    conform_expect_all_i32(t, out, 5, COUNT);
    conform_fill_i32(t, in, 6);
    CHECK_OK(rondo_graph_replay(producer, t->stream));
    CHECK_OK(rondo_graph_replay(consumer, t->stream));
    conform_expect_all_i32(t, out, 6, COUNT);
    check_canaries(t, &c, SIZE);
}

/* [P3, R2] */
static void a_freed_input_keeps_its_last_bytes_until_the_last_graph_goes(struct conform *t) {
    rondo_buffer in = conform_buffer(t, SIZE), out = conform_buffer(t, SIZE);
    conform_fill_i32(t, in, 77);
    open_window(t->stream);
    CHECK_OK(rondo_copy(t->stream, rondo_whole(out), rondo_whole(in), NULL));
    rondo_graph *graph = seal(t, t->stream);
    rondo_pool_report with = conform_report(t, RONDO_POOL_SMALL);
    rondo_buffer_release(in);
    CHECK_EQUAL(conform_report(t, RONDO_POOL_SMALL).in_use_bytes, with.in_use_bytes);
    CHECK_CODE(rondo_span_status(rondo_whole(in)), RONDO_STALE);
    struct canaries c = place_canaries(t, SIZE, CANARIES);
    for (int i = 0; i < 3; i++) {
        conform_fill_i32(t, out, 0);
        CHECK_OK(rondo_graph_replay(graph, t->stream));
        conform_expect_all_i32(t, out, 77, COUNT);
    }
    release_canaries(&c);
    with = conform_report(t, RONDO_POOL_SMALL);
    rondo_graph_release(graph);
    CHECK_EQUAL(conform_report(t, RONDO_POOL_SMALL).in_use_bytes, with.in_use_bytes - SIZE);
}

/* [P3] Shared scratch that grows by free and allocate: the old graph goes on with the old scratch. */
static void scratch_that_grows_leaves_the_older_graph_its_own(struct conform *t) {
    rondo_buffer small = RONDO_NO_BUFFER, large = RONDO_NO_BUFFER;
    rondo_buffer out = conform_buffer(t, SIZE);
    CHECK_OK(rondo_buffer_create(t->stream, SIZE, RONDO_USAGE_GENERAL, &small));
    open_window(t->stream);
    CHECK_OK(fill_i32(t->stream, rondo_whole(small), 1, NULL));
    CHECK_OK(rondo_copy(t->stream, rondo_whole(out), rondo_whole(small), NULL));
    rondo_graph *first = seal(t, t->stream);
    rondo_buffer_release(small);
    CHECK_OK(rondo_buffer_create(t->stream, 2 * SIZE, RONDO_USAGE_GENERAL, &large));
    conform_keep_buffer(t, large);
    open_window(t->stream);
    CHECK_OK(fill_i32(t->stream, rondo_whole(large), 2, NULL));
    CHECK_OK(rondo_copy(t->stream, rondo_whole(out), rondo_slice(large, SIZE, SIZE), NULL));
    rondo_graph *second = seal(t, t->stream);
    struct canaries c = place_canaries(t, SIZE, CANARIES);
    rondo_graph *const turns[] = {first, second, first};
    for (size_t i = 0; i < COUNT_OF(turns); i++) {
        CHECK_OK(rondo_graph_replay(turns[i], t->stream));
        conform_expect_all_i32(t, out, turns[i] == first ? 1 : 2, COUNT);
    }
    conform_expect_all_i32(t, large, 2, 2 * COUNT);
    check_canaries(t, &c, SIZE);
}

/* [P3, M3] */
static void a_trim_takes_nothing_that_a_graph_needs_and_says_how_much_stays(struct conform *t) {
    struct detour d = new_detour(t, 1 << 20);
    rondo_graph *graph = capture_step(t, t->stream, play_detour, &d);
    rondo_graph_info info = graph_info(graph);
    CHECK(info.device_bytes >= 3u << 20);
    for (int32_t i = 0; i < 5; i++) {
        uint64_t kept_bytes = 0;
        CHECK_OK(rondo_device_trim(t->device, &kept_bytes));
        CHECK(kept_bytes >= info.device_bytes);
        check_detour(t, graph, &d, i);
    }
    rondo_graph_holding holding;
    CHECK_EQUAL(rondo_device_list_graphs(t->device, &holding, 1), 1);
    CHECK_EQUAL(holding.graph_id, info.id);
    CHECK_EQUAL(holding.device_bytes, info.device_bytes);
    CHECK_EQUAL(holding.nodes, 3);
}

static const rondo_device_desc CAPPED = {
    .memory = {.page_min_bytes = 1 << 20, .page_max_bytes = 1 << 20, .own_cap_bytes = 8 << 20}};

/* [P3, M4] A pool under pressure flushes what it can, never what a graph holds, and says which graph holds it. */
static void memory_pressure_takes_nothing_from_a_graph_and_names_it(struct conform *t) {
    struct detour d = new_detour(t, 2 << 20);
    rondo_graph *graph = capture_step(t, t->stream, play_detour, &d);
    rondo_buffer hog = RONDO_NO_BUFFER;
    rondo_status status = CHECK_CODE(rondo_buffer_create(t->stream, 6 << 20, RONDO_USAGE_GENERAL, &hog),
                                     RONDO_NO_DEVICE_MEMORY);
    check_says_number(status, graph_info(graph).id);
    check_detour(t, graph, &d, 3);
    rondo_graph_release(graph);
    rondo_buffer_release(d.in);
    rondo_buffer_release(d.out);
    CHECK_OK(rondo_buffer_create(t->stream, 6 << 20, RONDO_USAGE_GENERAL, &hog));
    rondo_buffer_release(hog);
}

/* [M3] The rest of a page that a graph guards stays usable: small buffers do not pile up new pages. */
static void untouched_room_on_a_guarded_page_is_used(struct conform *t) {
    struct detour d = new_detour(t, 256);
    capture_step(t, t->stream, play_detour, &d);
    uint64_t pages = conform_report(t, RONDO_POOL_SMALL).pages;
    place_canaries(t, 256, CANARIES);
    CHECK_EQUAL(conform_report(t, RONDO_POOL_SMALL).pages, pages);
}

/* [P3, M3] After the graph is gone its place can be handed out again: the pool does not grow for the next one. */
static void a_destroyed_graphs_memory_is_handed_out_again(struct conform *t) {
    struct detour d = new_detour(t, 1 << 20);
    uint64_t reserved = 0;
    for (int i = 0; i < 20; i++) {
        rondo_graph *graph = capture_step(t, t->stream, play_detour, &d);
        check_detour(t, graph, &d, i);
        rondo_graph_release(graph);
        uint64_t now = conform_report(t, RONDO_POOL_SHARED).reserved_bytes;
        if (i == 3) reserved = now;
        if (i > 3) CHECK_EQUAL(now, reserved);
    }
    CHECK_EQUAL(conform_report(t, RONDO_POOL_SHARED).guarded_bytes, 0);
}

struct cycle {
    rondo_buffer in;
    rondo_buffer given; /* made by the recording, kept by the caller */
};

static rondo_status play_cycle(rondo_stream *stream, void *user) {
    struct cycle *c = user;
    const int32_t upload[16] = {4};
    rondo_buffer temporary = RONDO_NO_BUFFER;
    rondo_buffer_release(c->given);
    c->given = RONDO_NO_BUFFER;
    rondo_status status = rondo_buffer_create(stream, SIZE, RONDO_USAGE_GENERAL, &temporary);
    if (!status) status = rondo_buffer_create(stream, SIZE, RONDO_USAGE_GENERAL, &c->given);
    if (!status) status = rondo_copy(stream, rondo_whole(temporary), rondo_whole(c->in), "in");
    if (!status) status = rondo_copy(stream, rondo_whole(c->given), rondo_whole(temporary), "given");
    if (!status) status = rondo_write(stream, rondo_slice(c->given, 0, 64), upload, "upload");
    rondo_buffer_release(temporary);
    return status;
}

struct footprint {
    uint64_t reserved, in_use, buffers, graphs, metadata;
};

static struct footprint footprint(struct conform *t) {
    struct footprint f = {.reserved = 0};
    for (int kind = 0; kind < RONDO_POOL_KINDS; kind++) {
        f.reserved += conform_report(t, (rondo_pool_kind)kind).reserved_bytes;
        f.in_use += conform_report(t, (rondo_pool_kind)kind).in_use_bytes;
    }
    rondo_device_stats stats = conform_stats(t);
    f.buffers = stats.buffers;
    f.graphs = stats.graphs;
    f.metadata = stats.metadata_bytes;
    return f;
}

/* [M6] Made, replayed, dropped, a thousand times; what the recording gave to its caller goes as well. */
static void a_thousand_cycles_of_make_replay_and_drop_are_flat(struct conform *t) {
    struct cycle c = {.in = conform_buffer(t, SIZE)};
    struct footprint early = {.reserved = 0};
    conform_fill_i32(t, c.in, 3);
    for (int i = 0; i < 1000; i++) {
        rondo_graph *graph = NULL;
        CHECK_OK(rondo_capture_step(t->stream, play_cycle, &c, &graph));
        CHECK_OK(rondo_graph_replay(graph, t->stream));
        CHECK_OK(rondo_graph_replay(graph, t->stream));
        CHECK_EQUAL(conform_read_i32(t, c.given, 0), 4);
        CHECK_EQUAL(conform_read_i32(t, c.given, 100), 3);
        rondo_buffer_release(c.given);
        c.given = RONDO_NO_BUFFER;
        rondo_graph_release(graph);
        struct footprint now = footprint(t);
        if (i == 5) early = now;
        if (i > 5) assert_memory_equal(&now, &early, sizeof now);
    }
}

/* [R10] Not one allocation more, and no higher peak, after a thousand replays than after a few. */
static void replays_take_no_memory(struct conform *t) {
    struct detour d = new_detour(t, SIZE);
    rondo_graph *graph = capture_step(t, t->stream, play_detour, &d);
    for (int i = 0; i < 10; i++) CHECK_OK(rondo_graph_replay(graph, t->stream));
    struct footprint early = footprint(t);
    rondo_pool_report pools[RONDO_POOL_KINDS];
    for (int kind = 0; kind < RONDO_POOL_KINDS; kind++) pools[kind] = conform_report(t, (rondo_pool_kind)kind);
    for (int i = 0; i < 1000; i++) CHECK_OK(rondo_graph_replay(graph, t->stream));
    struct footprint late = footprint(t);
    assert_memory_equal(&late, &early, sizeof late);
    for (int kind = 0; kind < RONDO_POOL_KINDS; kind++) {
        rondo_pool_report now = conform_report(t, (rondo_pool_kind)kind);
        assert_memory_equal(&now, &pools[kind], sizeof now);
    }
}

/* [C19, M8] The parameters of a graph's launches are its own: not trimmed, and not evicted by ever so many others. */
static void the_parameters_of_a_graph_outlast_trims_and_other_launches(struct conform *t) {
    rondo_buffer kept = conform_buffer(t, 64), other = conform_buffer(t, 64);
    CHECK_OK(rondo_capture_prepare(t->stream));
    CHECK_OK(conform_launch_iota(t, t->stream, rondo_whole(kept), 123, 16, NULL));
    CHECK_OK(rondo_capture_begin(t->stream));
    CHECK_OK(conform_launch_iota(t, t->stream, rondo_whole(kept), 123, 16, NULL));
    rondo_graph *graph = seal(t, t->stream);
    CHECK(graph_info(graph).metadata_bytes > 0);
    for (int32_t i = 0; i < 3000; i++) {
        CHECK_OK(conform_launch_iota(t, t->stream, rondo_whole(other), i, 16, NULL));
    }
    CHECK_OK(rondo_device_trim(t->device, NULL));
    conform_fill_i32(t, kept, 0);
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    CHECK_EQUAL(conform_read_i32(t, kept, 1), 124);
    rondo_graph_release(graph);
    CHECK_EQUAL(conform_stats(t).metadata_pinned, 0);
}

/* [P3] Every handle that the recording used was made and dropped inside a function that is over. */
static rondo_graph *record_and_drop_everything(struct conform *t, rondo_buffer out, int *released) {
    rondo_buffer in = RONDO_NO_BUFFER, block = RONDO_NO_BUFFER;
    rondo_event *event = NULL;
    rondo_stream *stream = NULL;
    CHECK_OK(rondo_stream_create(t->device, &stream));
    CHECK_OK(rondo_buffer_create(stream, SIZE, RONDO_USAGE_GENERAL, &in));
    CHECK_OK(rondo_host_create(stream, 64, &block));
    CHECK_OK(rondo_event_create(t->device, &event));
    ((int32_t *)rondo_host_data(block))[2] = 8;
    CHECK_OK(fill_i32(stream, rondo_whole(in), 21, NULL));
    open_window(stream);
    CHECK_OK(rondo_copy(stream, rondo_whole(out), rondo_whole(in), NULL));
    CHECK_OK(rondo_write_live(stream, rondo_slice(out, 64, 64), rondo_whole(block), NULL));
    CHECK_OK(rondo_host_call(stream, host_nothing, released, count_release, NULL, 0, NULL));
    CHECK_OK(rondo_event_record(stream, event, NULL));
    rondo_graph *graph = seal(t, stream);
    rondo_buffer_release(in);
    rondo_buffer_release(block);
    rondo_event_release(event);
    rondo_stream_release(stream);
    return graph;
}

static void a_graph_is_the_last_owner_of_all_that_it_uses(struct conform *t) {
    int released = 0;
    rondo_buffer out = conform_buffer(t, SIZE);
    rondo_graph *graph = record_and_drop_everything(t, out, &released);
    place_canaries(t, SIZE, CANARIES);
    for (int i = 0; i < 3; i++) {
        conform_fill_i32(t, out, 0);
        CHECK_OK(rondo_graph_replay(graph, t->stream));
        CHECK_EQUAL(conform_read_i32(t, out, 0), 21);
        CHECK_EQUAL(conform_read_i32(t, out, 18), 8);
    }
    CHECK_EQUAL(released, 0);
    rondo_graph_release(graph);
    CHECK_EQUAL(released, 1);
    rondo_device_stats stats = conform_stats(t);
    CHECK_EQUAL(stats.host_blocks, 0);
    CHECK_EQUAL(stats.events, 0);
    CHECK_EQUAL(stats.streams, 1);
}

/* [P3, O7] The kernel too. */
static void a_released_kernel_stays_with_the_graph(struct conform *t) {
    rondo_buffer out = conform_buffer(t, SIZE);
    rondo_kernel *kernel = conform_kernel(t, KERNEL_IOTA);
    const int32_t start = 5;
    const rondo_arg args[] = {rondo_arg_buffer(out), rondo_arg_value(&start, sizeof start)};
    open_window(t->stream);
    CHECK_OK(rondo_launch(t->stream, kernel, rondo_grid_1d(COUNT), args, 2, NULL));
    rondo_graph *graph = seal(t, t->stream);
    rondo_kernel_release(kernel);
    CHECK_EQUAL(conform_stats(t).kernels, 1);
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    CHECK_EQUAL(conform_read_i32(t, out, 10), 15);
    rondo_graph_release(graph);
    CHECK_EQUAL(conform_stats(t).kernels, 0);
}

/* [W2, W7] A download of a graph reports through its block, and each replay brings the newest bytes. */
static void a_recorded_download_brings_the_bytes_of_each_replay(struct conform *t) {
    rondo_buffer in = conform_buffer(t, 64), block = conform_host_block(t, 64);
    open_window(t->stream);
    CHECK_OK(rondo_read_async(t->stream, rondo_whole(in), rondo_whole(block), NULL));
    rondo_graph *graph = seal(t, t->stream);
    for (int32_t i = 0; i < 4; i++) {
        conform_fill_i32(t, in, i);
        CHECK_OK(rondo_graph_replay(graph, t->stream));
        CHECK_OK(rondo_host_wait(block));
        CHECK_EQUAL(((const int32_t *)rondo_host_data(block))[15], i);
    }
    CHECK_CODE(rondo_span_status(rondo_whole(RONDO_NO_BUFFER)), RONDO_STALE);
}

struct sequence {
    int32_t calls;
    int32_t seen[16];
    int released;
};

static int note_first_value(void *user, const rondo_host_access *accesses, size_t count) {
    struct sequence *s = user;
    if (count == 1 && s->calls < (int32_t)COUNT_OF(s->seen)) s->seen[s->calls] = *(const int32_t *)accesses[0].data;
    s->calls += 1;
    return 0;
}

static void sequence_release(void *user) {
    ((struct sequence *)user)->released += 1;
}

/* [P3, W1] A callback of a graph runs at each replay, in order with the work around it, and is given back once. */
static void a_recorded_callback_runs_at_each_replay_and_is_released_once(struct conform *t) {
    struct sequence sequence = {.calls = 0};
    rondo_buffer state = conform_buffer(t, 64);
    conform_fill_i32(t, state, 0);
    const rondo_host_access access = {rondo_slice(state, 0, 4), RONDO_READS, NULL};
    open_window(t->stream);
    CHECK_OK(add_in_place(t->stream, rondo_whole(state), NULL, NULL));
    CHECK_OK(rondo_host_call(t->stream, note_first_value, &sequence, sequence_release, &access, 1, NULL));
    CHECK_OK(add_in_place(t->stream, rondo_whole(state), NULL, NULL));
    rondo_graph *graph = seal(t, t->stream);
    CHECK_EQUAL(sequence.calls, 0);
    for (int i = 0; i < 5; i++) CHECK_OK(rondo_graph_replay(graph, t->stream));
    CHECK_OK(rondo_stream_sync(t->stream));
    CHECK_EQUAL(sequence.calls, 5);
    for (int32_t i = 0; i < 5; i++) CHECK_EQUAL(sequence.seen[i], 2 * i + 1);
    CHECK_EQUAL(sequence.released, 0);
    rondo_graph_release(graph);
    CHECK_EQUAL(sequence.released, 1);
}

/* [O4, P3] */
static void imported_memory_stays_until_the_last_graph_that_uses_it_is_gone(struct conform *t) {
    static _Alignas(4096) int32_t memory[1024];
    int released = 0;
    rondo_buffer imported = RONDO_NO_BUFFER, out = conform_buffer(t, SIZE);
    CHECK_OK(rondo_buffer_import(t->stream, memory, sizeof memory, count_release, &released, &imported));
    CHECK_OK(fill_i32(t->stream, rondo_whole(imported), 9, NULL));
    open_window(t->stream);
    CHECK_OK(rondo_copy(t->stream, rondo_whole(out), rondo_whole(imported), NULL));
    rondo_graph *graph = seal(t, t->stream);
    rondo_buffer_release(imported);
    CHECK_EQUAL(released, 0);
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    conform_expect_all_i32(t, out, 9, COUNT);
    rondo_graph_release(graph);
    CHECK_EQUAL(released, 1);
}

const struct conform_case conform_replay_memory_cases[] = {
    CONFORM_CASE(buffers_made_after_the_seal_are_never_overwritten_by_a_replay, NEEDS_MAP),
    CONFORM_CASE(allocations_between_replays_never_meet_the_graphs_memory, NEEDS_MAP),
    CONFORM_CASE(a_captured_buffer_that_was_freed_keeps_its_place, NEEDS_NOTHING),
    CONFORM_CASE(a_freed_input_keeps_its_last_bytes_until_the_last_graph_goes, NEEDS_NOTHING),
    CONFORM_CASE(scratch_that_grows_leaves_the_older_graph_its_own, NEEDS_NOTHING),
    CONFORM_CASE(a_trim_takes_nothing_that_a_graph_needs_and_says_how_much_stays, NEEDS_MAP),
    CONFORM_CASE_ON(memory_pressure_takes_nothing_from_a_graph_and_names_it, NEEDS_CAPS | NEEDS_MAP, &CAPPED),
    CONFORM_CASE(untouched_room_on_a_guarded_page_is_used, NEEDS_MAP),
    CONFORM_CASE(a_destroyed_graphs_memory_is_handed_out_again, NEEDS_MAP),
    CONFORM_CASE(a_thousand_cycles_of_make_replay_and_drop_are_flat, NEEDS_NOTHING),
    CONFORM_CASE(replays_take_no_memory, NEEDS_MAP),
    CONFORM_CASE(the_parameters_of_a_graph_outlast_trims_and_other_launches, NEEDS_KERNELS),
    CONFORM_CASE(a_graph_is_the_last_owner_of_all_that_it_uses, NEEDS_NOTHING),
    CONFORM_CASE(a_released_kernel_stays_with_the_graph, NEEDS_KERNELS),
    CONFORM_CASE(a_recorded_download_brings_the_bytes_of_each_replay, NEEDS_NOTHING),
    CONFORM_CASE(a_recorded_callback_runs_at_each_replay_and_is_released_once, NEEDS_MAP),
    CONFORM_CASE(imported_memory_stays_until_the_last_graph_that_uses_it_is_gone, NEEDS_IMPORT),
    CONFORM_END,
};
