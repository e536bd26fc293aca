/* Queued mode: calls return before the work is done, and nothing else is different.
 *
 * A replay of a graph with a gate, a host call that waits until the case lets it go, holds up the worker of a queue. So
 * what is issued behind it is pending for certain, and no case needs a clock. A call that waits for pending work itself
 * needs another thread to open the gate.
 */
#include <pthread.h>
#include <sched.h>

#include "capture_tools.h"

struct gate {
    _Atomic bool open, passed;
};

static int pass(void *user, const rondo_host_access *accesses, size_t count) {
    struct gate *gate = (struct gate *)user;
    (void)accesses;
    (void)count;
    while (!gate->open) {
        sched_yield();
    }
    gate->passed = true;
    return 0;
}

static void *open_gate(void *user) {
    ((struct gate *)user)->open = true;
    return NULL;
}

static pthread_t start_opening(struct gate *gate) {
    pthread_t opener;
    CHECK_EQUAL(pthread_create(&opener, NULL, open_gate, gate), 0);
    return opener;
}

static void end_opening(const struct gate *gate, pthread_t opener) {
    CHECK_EQUAL(pthread_join(opener, NULL), 0);
    CHECK(gate->passed); /* whatever was called in between has waited */
}

static rondo_stream *queued_on(struct conform *t, rondo_device *device) {
    const rondo_stream_desc desc = {.mode = RONDO_STREAM_QUEUED};
    rondo_stream *stream = NULL;
    CHECK_OK(rondo_stream_create_with(device, &desc, &stream));
    return conform_keep_stream(t, stream);
}

/* From here on whatever the stream is given is pending, until the gate is opened. */
static void hold_up(struct conform *t, rondo_stream *stream, struct gate *gate) {
    open_window(stream);
    CHECK_OK(rondo_host_call(stream, pass, gate, NULL, NULL, 0, "gate"));
    CHECK_OK(rondo_graph_replay(seal(t, stream), stream));
}

/* [W1, W2] */
static void work_is_given_back_before_it_is_done(struct conform *t) {
    struct gate gate = {false, false};
    rondo_stream *stream = queued_on(t, t->device);
    rondo_buffer a = conform_buffer(t, 64), b = conform_buffer(t, 64), c = conform_buffer(t, 64);
    rondo_buffer block = conform_host_block(t, 64), live = conform_host_block(t, 64);
    int32_t values[16] = {0};
    for (int i = 0; i < 16; i++) values[i] = 100 + i;
    memset(rondo_host_data(live), 1, 64);
    hold_up(t, stream, &gate);
    CHECK_OK(fill_i32(stream, rondo_whole(a), 7, NULL));
    CHECK_OK(rondo_write(stream, rondo_whole(b), values, NULL));
    memset(values, 0, sizeof values); /* the caller's again [W2] */
    CHECK_OK(rondo_copy(stream, rondo_slice(b, 0, 32), rondo_slice(a, 0, 32), NULL));
    CHECK_OK(rondo_write_live(stream, rondo_whole(c), rondo_whole(live), NULL));
    CHECK_OK(rondo_read_async(stream, rondo_whole(b), rondo_whole(block), NULL));
    CHECK(!gate.passed);
    CHECK(!rondo_host_is_idle(block));
    memset(rondo_host_data(live), 2, 64); /* read when the work runs */
    gate.open = true;
    CHECK_OK(rondo_host_wait(block));
    const int32_t *seen = (const int32_t *)rondo_host_data(block);
    for (int i = 0; i < 16; i++) CHECK_EQUAL(seen[i], i < 8 ? 7 : 100 + i);
    CHECK_EQUAL(conform_read_i32(t, c, 15), 0x02020202);
    CHECK_OK(rondo_stream_sync(stream));
}

/* [W1] */
static void launches_and_replays_are_given_back_before_they_are_done(struct conform *t) {
    struct gate gate = {false, false};
    rondo_stream *stream = queued_on(t, t->device);
    rondo_buffer x = conform_buffer(t, 64), y = conform_buffer(t, 64);
    open_window(stream);
    CHECK_OK(conform_launch_scale(t, stream, rondo_whole(x), 3, 16, NULL));
    rondo_graph *graph = seal(t, stream);
    hold_up(t, stream, &gate);
    CHECK_OK(conform_launch_iota(t, stream, rondo_whole(x), 1, 16, NULL));
    for (int i = 0; i < 3; i++) CHECK_OK(rondo_graph_replay(graph, stream));
    CHECK_OK(conform_launch_copy(t, stream, rondo_whole(y), rondo_whole(x), 16, NULL));
    CHECK(!gate.passed);
    gate.open = true;
    CHECK_OK(rondo_stream_sync(stream));
    CHECK(gate.passed);
    CHECK_EQUAL(conform_read_i32(t, y, 0), 27);
    CHECK_EQUAL(conform_read_i32(t, y, 15), 16 * 27);
    CHECK_OK(rondo_graph_get_info(graph, &(rondo_graph_info){0}));
}

/* [W7, T6, T7] */
static void what_is_queued_behind_a_failure_is_skipped(struct conform *t) {
    struct gate gate = {false, false};
    rondo_stream *stream = queued_on(t, t->device);
    rondo_buffer x = conform_buffer(t, 64), y = conform_buffer(t, 64), z = conform_buffer(t, 64);
    rondo_buffer flag = conform_buffer(t, 4);
    char label[] = "the root";
    uint64_t skipped = conform_stats(t).skipped;
    conform_fill_i32(t, flag, 1);
    CHECK_OK(rondo_stream_sync(t->stream));
    hold_up(t, stream, &gate);
    CHECK_OK(conform_launch_fail_if(t, stream, rondo_whole(x), rondo_whole(flag), 1, 16, label));
    memset(label, 'x', sizeof label - 1); /* copied at the call */
    CHECK_OK(conform_launch_copy(t, stream, rondo_whole(y), rondo_whole(x), 16, "behind"));
    CHECK_OK(fill_i32(stream, rondo_whole(z), 5, NULL));
    gate.open = true;
    rondo_status status = CHECK_CODE(conform_try_read(stream, rondo_whole(y)), RONDO_TAINTED);
    CHECK_SAYS(status, "the root");
    CHECK_SAYS(status, "behind");
    CHECK_EQUAL(rondo_status_code(rondo_fault_root(status)), RONDO_KERNEL);
    conform_expect_all_i32(t, z, 5, 16);
    CHECK_EQUAL(conform_stats(t).skipped, skipped + 1);
    status = CHECK_CODE(rondo_stream_sync(stream), RONDO_KERNEL);
    assert_string_equal(conform_fault(status).label, "the root");
    CHECK_OK(rondo_stream_sync(stream));
}

/* [W7, R2] */
static void a_replay_queued_behind_a_failure_is_skipped(struct conform *t) {
    struct gate gate = {false, false};
    rondo_stream *stream = queued_on(t, t->device);
    rondo_buffer x = conform_buffer(t, 64), y = conform_buffer(t, 64), flag = conform_buffer(t, 4);
    conform_fill_i32(t, flag, 1);
    conform_fill_i32(t, x, 1);
    open_window(stream);
    CHECK_OK(conform_launch_copy(t, stream, rondo_whole(y), rondo_whole(x), 16, NULL));
    rondo_graph *graph = seal(t, stream);
    hold_up(t, stream, &gate);
    CHECK_OK(conform_launch_fail_if(t, stream, rondo_whole(x), rondo_whole(flag), 1, 16, NULL));
    CHECK_OK(rondo_graph_replay(graph, stream));
    CHECK_OK(fill_i32(stream, rondo_whole(x), 3, NULL));
    gate.open = true;
    conform_expect_claimed(rondo_whole(y), RONDO_KERNEL);
    CHECK_CODE(rondo_stream_sync(stream), RONDO_KERNEL);
    CHECK_OK(rondo_graph_replay(graph, stream));
    conform_expect_all_i32(t, y, 3, 16);
}

/* [W7] The call that is skipped has returned, and the failure is another stream's: its own stream says TAINTED. */
static void a_sync_tells_what_the_calls_were_too_early_to_say(struct conform *t) {
    struct gate gate = {false, false};
    rondo_stream *stream = queued_on(t, t->device), *other = NULL;
    rondo_buffer x = conform_buffer(t, 64), y = conform_buffer(t, 64), flag = conform_buffer(t, 4);
    do {
        other = queued_on(t, t->device);
    } while (rondo_stream_id(other) % 2 == rondo_stream_id(stream) % 2);
    conform_fill_i32(t, flag, 1);
    hold_up(t, stream, &gate);
    CHECK_OK(conform_launch_fail_if(t, stream, rondo_whole(x), rondo_whole(flag), 1, 16, "root"));
    CHECK_OK(rondo_copy(other, rondo_whole(y), rondo_whole(x), "skipped"));
    gate.open = true;
    rondo_status status = CHECK_CODE(rondo_stream_sync(other), RONDO_TAINTED);
    CHECK_EQUAL(rondo_status_code(rondo_fault_root(status)), RONDO_KERNEL);
    CHECK_OK(rondo_stream_sync(other));
    CHECK_CODE(rondo_stream_sync(stream), RONDO_KERNEL);
    conform_expect_claimed(rondo_whole(y), RONDO_KERNEL);
}

/* [W7] Of what was skipped because of a failure and the failure itself, the device's sync tells the latter. */
static void a_device_sync_tells_the_failure_behind_what_was_skipped(struct conform *t) {
    for (int turn = 0; turn < 2; turn++) {
        struct gate gate = {false, false};
        rondo_stream *streams[2] = {queued_on(t, t->device), queued_on(t, t->device)};
        rondo_buffer x = conform_buffer(t, 64), y = conform_buffer(t, 64), flag = conform_buffer(t, 4);
        conform_fill_i32(t, flag, 1);
        hold_up(t, streams[turn], &gate);
        CHECK_OK(conform_launch_fail_if(t, streams[turn], rondo_whole(x), rondo_whole(flag), 1, 16, NULL));
        CHECK_OK(rondo_copy(streams[1 - turn], rondo_whole(y), rondo_whole(x), NULL));
        gate.open = true;
        CHECK_CODE(rondo_device_sync(t->device), RONDO_KERNEL);
        CHECK_OK(rondo_device_sync(t->device));
    }
}

/* [W6, T6] */
static void a_call_says_what_is_certain(struct conform *t) {
    struct gate gate = {false, false};
    rondo_stream *stream = queued_on(t, t->device);
    rondo_buffer x = conform_buffer(t, 64), y = conform_buffer(t, 64);
    conform_spoil(t->stream, rondo_whole(x), "root");
    CHECK_CODE(rondo_copy(stream, rondo_whole(y), rondo_whole(x), NULL), RONDO_TAINTED);
    conform_expect_claimed(rondo_whole(y), RONDO_KERNEL);
    /* What pending work writes is not certain: by the time of the copy it is good. */
    hold_up(t, stream, &gate);
    CHECK_OK(fill_i32(stream, rondo_whole(x), 4, NULL));
    CHECK_OK(rondo_copy(stream, rondo_whole(y), rondo_whole(x), NULL));
    CHECK(!gate.passed);
    gate.open = true;
    conform_expect_all_i32(t, y, 4, 16);
    CHECK_OK(rondo_stream_sync(stream));
}

/* A refused copy of `by` onto bytes that a queued stream is yet to write. */
static void refuse_onto_pending(struct conform *t, rondo_stream *queued, rondo_stream *by) {
    struct gate gate = {false, false};
    rondo_buffer x = conform_buffer(t, 64), y = conform_buffer(t, 32);
    hold_up(t, queued, &gate);
    CHECK_OK(fill_i32(queued, rondo_whole(x), 4, NULL));
    pthread_t opener = start_opening(&gate);
    CHECK_CODE(rondo_copy(by, rondo_whole(x), rondo_whole(y), NULL), RONDO_RANGE);
    end_opening(&gate, opener);
    conform_expect_claimed(rondo_whole(x), RONDO_RANGE);
    CHECK_OK(rondo_stream_sync(queued));
}

/* [P4] The same codes at the call, and what the call would have written is claimed after what came before it [T8]. */
static void a_refused_call_waits_and_is_refused_at_the_call(struct conform *t) {
    rondo_stream *stream = queued_on(t, t->device);
    refuse_onto_pending(t, stream, stream);
}

/* [T8, T11] */
static void a_refusal_elsewhere_claims_after_what_is_pending(struct conform *t) {
    rondo_stream *stream = queued_on(t, t->device);
    refuse_onto_pending(t, stream, conform_stranger(t, stream));
}

/* [C12, T11] */
static void an_abort_claims_after_what_is_pending(struct conform *t) {
    struct gate gate = {false, false};
    rondo_stream *stream = queued_on(t, t->device), *other = conform_stranger(t, stream);
    rondo_buffer x = conform_buffer(t, 64);
    open_window(other);
    CHECK_OK(fill_i32(other, rondo_whole(x), 9, NULL));
    hold_up(t, stream, &gate);
    CHECK_OK(fill_i32(stream, rondo_whole(x), 4, NULL));
    pthread_t opener = start_opening(&gate);
    CHECK_OK(rondo_capture_abort(other));
    end_opening(&gate, opener);
    conform_expect_claimed(rondo_whole(x), RONDO_ABORTED);
}

/* [C13, T8, T11] */
static void a_replay_refused_next_to_a_window_claims_after_what_is_pending(struct conform *t) {
    struct gate gate = {false, false};
    rondo_stream *stream = queued_on(t, t->device), *owner = conform_stranger(t, stream);
    rondo_stream *neighbour = conform_neighbour(t, owner);
    rondo_buffer x = conform_buffer(t, 64);
    open_window(neighbour);
    CHECK_OK(fill_i32(neighbour, rondo_whole(x), 9, NULL));
    rondo_graph *graph = seal(t, neighbour);
    hold_up(t, stream, &gate);
    open_window(owner);
    CHECK_OK(fill_i32(stream, rondo_whole(x), 4, NULL));
    pthread_t opener = start_opening(&gate);
    CHECK_CODE(rondo_graph_replay(graph, neighbour), RONDO_BUSY);
    end_opening(&gate, opener);
    conform_expect_claimed(rondo_whole(x), RONDO_BUSY);
    CHECK_OK(rondo_capture_abort(owner));
}

/* [P2, C15] Whether an input is good is known once what writes it has been played. */
static void a_window_elsewhere_knows_what_pending_work_spoils(struct conform *t) {
    struct gate gate = {false, false};
    rondo_stream *stream = queued_on(t, t->device), *other = conform_stranger(t, stream);
    rondo_buffer x = conform_buffer(t, 64), y = conform_buffer(t, 64), flag = conform_buffer(t, 4);
    conform_fill_i32(t, flag, 1);
    open_window(other);
    hold_up(t, stream, &gate);
    CHECK_OK(conform_launch_fail_if(t, stream, rondo_whole(x), rondo_whole(flag), 1, 16, NULL));
    pthread_t opener = start_opening(&gate);
    CHECK_CODE(rondo_copy(other, rondo_whole(y), rondo_whole(x), NULL), RONDO_TAINTED);
    end_opening(&gate, opener);
    seal_refused(other, RONDO_DOOMED);
    CHECK_CODE(rondo_stream_sync(stream), RONDO_KERNEL);
}

/* [T11] */
static void a_read_waits_for_what_is_pending(struct conform *t) {
    struct gate gate = {false, false};
    rondo_stream *stream = queued_on(t, t->device), *other = conform_stranger(t, stream);
    rondo_buffer x = conform_buffer(t, 64);
    int32_t value = 0;
    for (int i = 0; i < 2; i++) {
        gate.open = gate.passed = false;
        hold_up(t, stream, &gate);
        CHECK_OK(fill_i32(stream, rondo_whole(x), 4 + i, NULL));
        pthread_t opener = start_opening(&gate);
        CHECK_OK(rondo_read(i == 0 ? stream : other, rondo_slice(x, 0, 4), &value, NULL));
        end_opening(&gate, opener);
        CHECK_EQUAL(value, 4 + i);
    }
}

/* [O4] */
static void a_map_waits_for_what_is_pending(struct conform *t) {
    struct gate gate = {false, false};
    rondo_stream *stream = queued_on(t, t->device), *other = conform_stranger(t, stream);
    rondo_buffer x = conform_buffer(t, 64);
    void *data = NULL;
    hold_up(t, stream, &gate);
    CHECK_OK(fill_i32(stream, rondo_whole(x), 4, NULL));
    pthread_t opener = start_opening(&gate);
    CHECK_OK(rondo_map(other, rondo_whole(x), RONDO_READS_WRITES, &data));
    end_opening(&gate, opener);
    CHECK_EQUAL(((int32_t *)data)[0], 4);
    CHECK_CODE(fill_i32(stream, rondo_whole(x), 5, NULL), RONDO_BUSY); /* said at the call */
    CHECK_OK(rondo_unmap(other, rondo_whole(x)));
}

/* [W3] In both directions, with memory that is at home here and there. */
static void order_between_streams_is_that_of_the_calls(struct conform *t) {
    struct gate gate = {false, false};
    rondo_stream *stream = queued_on(t, t->device), *other = conform_stranger(t, stream);
    rondo_buffer near = conform_buffer_on(t, stream, 64), far = conform_buffer_on(t, other, 64);
    rondo_buffer x = conform_buffer(t, 64);
    CHECK_OK(fill_i32(other, rondo_whole(far), 1, NULL));
    hold_up(t, stream, &gate);
    CHECK_OK(rondo_copy(stream, rondo_whole(near), rondo_whole(far), NULL)); /* reads 1 */
    CHECK_OK(fill_i32(stream, rondo_whole(x), 5, NULL));
    pthread_t opener = start_opening(&gate);
    CHECK_OK(fill_i32(other, rondo_whole(far), 2, NULL)); /* after that read */
    CHECK_OK(fill_i32(other, rondo_whole(x), 6, NULL));   /* after that write */
    conform_expect_all_i32(t, near, 1, 16);
    conform_expect_all_i32(t, far, 2, 16);
    conform_expect_all_i32(t, x, 6, 16);
    end_opening(&gate, opener);
}

/* [W3] A chain that goes to and fro between queued streams is played in its order. */
static void queued_streams_play_a_chain_in_its_order(struct conform *t) {
    enum { STREAMS = 3, LINKS = 60 };
    struct gate gate = {false, false};
    rondo_stream *streams[STREAMS];
    rondo_buffer buffers[LINKS + 1];
    int32_t value = 77;
    for (int i = 0; i < STREAMS; i++) streams[i] = queued_on(t, t->device);
    for (int i = 0; i <= LINKS; i++) buffers[i] = conform_buffer_on(t, streams[i % STREAMS], 4);
    hold_up(t, streams[0], &gate);
    CHECK_OK(rondo_fill(streams[0], rondo_whole(buffers[0]), &value, 4, NULL));
    for (int i = 0; i < LINKS; i++) {
        CHECK_OK(rondo_copy(streams[i * 7 % STREAMS], rondo_whole(buffers[i + 1]), rondo_whole(buffers[i]), NULL));
    }
    CHECK(!gate.passed);
    gate.open = true;
    CHECK_EQUAL(conform_read_i32(t, buffers[LINKS], 0), 77);
}

/* [O3] */
static void a_neighbour_that_is_not_queued_comes_after_what_is_pending(struct conform *t) {
    struct gate gate = {false, false};
    rondo_stream *stream = queued_on(t, t->device);
    rondo_buffer x = conform_buffer(t, 64);
    hold_up(t, stream, &gate);
    CHECK_OK(fill_i32(stream, rondo_whole(x), 4, NULL));
    pthread_t opener = start_opening(&gate);
    CHECK_OK(rondo_host_call(t->stream, pass, &gate, NULL, NULL, 0, NULL));
    end_opening(&gate, opener);
    CHECK_OK(fill_i32(t->stream, rondo_whole(x), 5, NULL));
    conform_expect_all_i32(t, x, 5, 16);
}

static void note_release(void *user) {
    ++*(_Atomic int *)user;
}

/* [W4, R7] Memory, kernel, graph and stream are held by the work that needs them, and go with it. */
static void what_pending_work_needs_may_be_released(struct conform *t) {
    static int32_t imported[16] __attribute__((aligned(4096)));
    struct gate gate = {false, false};
    _Atomic int releases = 0;
    const rondo_stream_desc desc = {.mode = RONDO_STREAM_QUEUED};
    rondo_stream *stream = NULL;
    rondo_buffer x = RONDO_NO_BUFFER, block = RONDO_NO_BUFFER;
    rondo_graph *graph = NULL;
    CHECK_OK(rondo_stream_create_with(t->device, &desc, &stream));
    CHECK_OK(rondo_buffer_create(stream, 64, RONDO_USAGE_GENERAL, &x));
    CHECK_OK(rondo_host_import(stream, imported, 64, note_release, &releases, &block));
    open_window(stream);
    CHECK_OK(fill_i32(stream, rondo_whole(x), 3, NULL));
    CHECK_OK(rondo_capture_end(stream, RONDO_END_DEFAULT, &graph));
    hold_up(t, stream, &gate);
    CHECK_OK(rondo_graph_replay(graph, stream));
    CHECK_OK(rondo_read_async(stream, rondo_whole(x), rondo_whole(block), NULL));
    rondo_graph_release(graph);
    rondo_buffer_release(x);
    rondo_buffer_release(block);
    rondo_stream_release(stream);
    CHECK_EQUAL(releases, 0);
    CHECK_CODE(rondo_stream_sync(stream), RONDO_STALE);
    gate.open = true;
    CHECK_OK(rondo_device_sync(t->device));
    CHECK_EQUAL(imported[15], 3);
    CHECK_EQUAL(releases, 1);
}

/* [W4] A temporary that is released at once is not handed out while pending work uses it. */
static void pending_work_keeps_its_temporaries_apart(struct conform *t) {
    struct gate gate = {false, false};
    rondo_stream *stream = queued_on(t, t->device);
    rondo_buffer out = conform_buffer(t, 64 * 4);
    hold_up(t, stream, &gate);
    for (int i = 0; i < 64; i++) {
        rondo_buffer temporary = RONDO_NO_BUFFER;
        CHECK_OK(rondo_buffer_create(stream, 4, RONDO_USAGE_GENERAL, &temporary));
        CHECK_OK(fill_i32(stream, rondo_whole(temporary), i, NULL));
        CHECK_OK(rondo_copy(stream, rondo_slice(out, 4 * (uint64_t)i, 4), rondo_whole(temporary), NULL));
        rondo_buffer_release(temporary);
        if (i == 40) gate.open = true;
    }
    for (size_t i = 0; i < 64; i++) CHECK_EQUAL(conform_read_i32(t, out, i), i);
}

/* 128 operations wait, and the next call does. */
static void a_full_queue_makes_its_caller_wait(struct conform *t) {
    struct gate gate = {false, false};
    rondo_stream *stream = queued_on(t, t->device);
    rondo_buffer x = conform_buffer(t, 4 * 1000);
    hold_up(t, stream, &gate);
    for (uint64_t i = 0; i < 127; i++) CHECK_OK(fill_i32(stream, rondo_slice(x, 4 * i, 4), (int32_t)i, NULL));
    CHECK(!gate.passed);
    pthread_t opener = start_opening(&gate);
    for (uint64_t i = 127; i < 1000; i++) CHECK_OK(fill_i32(stream, rondo_slice(x, 4 * i, 4), (int32_t)i, NULL));
    end_opening(&gate, opener);
    for (size_t i = 0; i < 1000; i += 111) CHECK_EQUAL(conform_read_i32(t, x, i), i);
}

/* [R9] */
static void an_update_counts_for_replays_that_come_after_it(struct conform *t) {
    static const int32_t factors[] = {2, 3, 5, 7};
    struct gate gate = {false, false};
    rondo_stream *stream = queued_on(t, t->device);
    rondo_buffer x = conform_buffer(t, 64), other = conform_buffer(t, 64), seen = conform_buffer(t, 5 * 4);
    conform_fill_i32(t, x, 1);
    conform_fill_i32(t, other, 1000);
    open_window(stream);
    CHECK_OK(conform_launch_scale(t, stream, rondo_whole(x), 2, 16, "scale"));
    rondo_graph *graph = seal(t, stream);
    hold_up(t, stream, &gate);
    for (size_t i = 0; i < 4; i++) {
        rondo_update update = rondo_update_value(0, "k", &factors[i], 4);
        CHECK_OK(rondo_graph_update(graph, &update, 1));
        CHECK_OK(rondo_graph_replay(graph, stream));
        CHECK_OK(rondo_copy(stream, rondo_slice(seen, 4 * i, 4), rondo_slice(x, 0, 4), NULL));
    }
    rondo_update update = rondo_update_span(0, "x", rondo_whole(other));
    CHECK_OK(rondo_graph_update(graph, &update, 1));
    CHECK_OK(rondo_graph_replay(graph, stream));
    CHECK_OK(rondo_copy(stream, rondo_slice(seen, 16, 4), rondo_slice(other, 0, 4), NULL));
    CHECK(!gate.passed);
    gate.open = true;
    static const int32_t expected[] = {2, 6, 30, 210, 7000};
    conform_expect_i32(t, seen, expected, 5);
    conform_expect_all_i32(t, x, 210, 16);
}

/* [C2, C6] */
static void a_capture_waits_for_what_is_pending(struct conform *t) {
    struct gate gate = {false, false};
    rondo_stream *stream = queued_on(t, t->device);
    rondo_buffer x = conform_buffer(t, 64);
    hold_up(t, stream, &gate);
    CHECK_OK(fill_i32(stream, rondo_whole(x), 4, NULL));
    pthread_t opener = start_opening(&gate);
    CHECK_OK(rondo_capture_prepare(stream));
    end_opening(&gate, opener);
    CHECK_OK(fill_i32(stream, rondo_whole(x), 5, NULL));
    conform_expect_all_i32(t, x, 5, 16);
    CHECK_OK(rondo_capture_begin(stream));
    CHECK_OK(fill_i32(stream, rondo_whole(x), 6, NULL));
    CHECK_EQUAL(window_info(stream).ops, 1);
    rondo_graph *graph = seal(t, stream);
    conform_expect_all_i32(t, x, 5, 16);
    CHECK_OK(rondo_graph_replay(graph, stream));
    conform_expect_all_i32(t, x, 6, 16);
}

/* [C24] */
static void an_event_waits_for_what_is_pending(struct conform *t) {
    struct gate gate = {false, false};
    rondo_stream *stream = queued_on(t, t->device);
    rondo_event *event = conform_event(t);
    hold_up(t, stream, &gate);
    pthread_t opener = start_opening(&gate);
    CHECK_OK(rondo_event_record(stream, event, NULL));
    end_opening(&gate, opener);
    CHECK_OK(rondo_event_status(event));
}

/* [E2] */
static void a_stream_has_one_of_two_modes(struct conform *t) {
    rondo_stream *stream = NULL;
    rondo_stream_desc desc = {.mode = (rondo_stream_mode)2};
    CHECK_CODE(rondo_stream_create_with(t->device, &desc, &stream), RONDO_RANGE);
    desc = (rondo_stream_desc){.reserved_32 = 1};
    CHECK_CODE(rondo_stream_create_with(t->device, &desc, &stream), RONDO_INVALID);
    desc = (rondo_stream_desc){.reserved = {0, 0, 1}};
    CHECK_CODE(rondo_stream_create_with(t->device, &desc, &stream), RONDO_INVALID);
    CHECK(stream == NULL);
    desc = (rondo_stream_desc){.mode = RONDO_STREAM_QUEUED};
    CHECK_CODE(rondo_stream_create_with(t->device, &desc, NULL), RONDO_INVALID);
    CHECK_CODE(rondo_stream_create_with(NULL, &desc, &stream), RONDO_STALE);
    CHECK_OK(rondo_stream_create_with(t->device, NULL, &stream));
    conform_keep_stream(t, stream);
}

const struct conform_case conform_queued_streams_cases[] = {
    CONFORM_CASE(work_is_given_back_before_it_is_done, NEEDS_NOTHING),
    CONFORM_CASE(launches_and_replays_are_given_back_before_they_are_done, NEEDS_KERNELS),
    CONFORM_CASE(what_is_queued_behind_a_failure_is_skipped, NEEDS_KERNELS),
    CONFORM_CASE(a_replay_queued_behind_a_failure_is_skipped, NEEDS_KERNELS),
    CONFORM_CASE(a_sync_tells_what_the_calls_were_too_early_to_say, NEEDS_KERNELS),
    CONFORM_CASE(a_device_sync_tells_the_failure_behind_what_was_skipped, NEEDS_KERNELS),
    CONFORM_CASE(a_call_says_what_is_certain, NEEDS_FAILURES),
    CONFORM_CASE(a_refused_call_waits_and_is_refused_at_the_call, NEEDS_NOTHING),
    CONFORM_CASE(a_refusal_elsewhere_claims_after_what_is_pending, NEEDS_NOTHING),
    CONFORM_CASE(an_abort_claims_after_what_is_pending, NEEDS_NOTHING),
    CONFORM_CASE(a_replay_refused_next_to_a_window_claims_after_what_is_pending, NEEDS_NOTHING),
    CONFORM_CASE(a_window_elsewhere_knows_what_pending_work_spoils, NEEDS_KERNELS),
    CONFORM_CASE(a_read_waits_for_what_is_pending, NEEDS_NOTHING),
    CONFORM_CASE(a_map_waits_for_what_is_pending, NEEDS_MAP),
    CONFORM_CASE(order_between_streams_is_that_of_the_calls, NEEDS_NOTHING),
    CONFORM_CASE(queued_streams_play_a_chain_in_its_order, NEEDS_NOTHING),
    CONFORM_CASE_ON(a_neighbour_that_is_not_queued_comes_after_what_is_pending, NEEDS_NOTHING, &ONE_QUEUE),
    CONFORM_CASE(what_pending_work_needs_may_be_released, NEEDS_NOTHING),
    CONFORM_CASE(pending_work_keeps_its_temporaries_apart, NEEDS_NOTHING),
    CONFORM_CASE(a_full_queue_makes_its_caller_wait, NEEDS_NOTHING),
    CONFORM_CASE(an_update_counts_for_replays_that_come_after_it, NEEDS_KERNELS),
    CONFORM_CASE(a_capture_waits_for_what_is_pending, NEEDS_NOTHING),
    CONFORM_CASE(an_event_waits_for_what_is_pending, NEEDS_NOTHING),
    CONFORM_CASE(a_stream_has_one_of_two_modes, NEEDS_NOTHING),
    CONFORM_END,
};
