/* Host bytes that a recorded operation reads are there for each replay [C7], and nothing of the same window may come to
 * lie on them. A change of the sources that no test noticed led to this: the snapshot of a write lay where a block of
 * the window had lain, and the read into that block, played again at each replay, destroyed it. */
#include "unit.h"

#include <rondo/rondo.h>

enum { BYTES = 4096 };

typedef struct stage {
    rondo_device *device;
    rondo_stream *stream;
    rondo_buffer x, y, z;
    uint8_t up[BYTES];
} stage;

static void open_stage(stage *s) {
    rondo_device_desc few = {.max_queues = 1};
    assert_int_equal(rondo_device_open("cpu", &few, &s->device), RONDO_OK);
    assert_int_equal(rondo_stream_create(s->device, &s->stream), RONDO_OK);
    rondo_buffer *all[] = {&s->x, &s->y, &s->z};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        uint8_t value = (uint8_t)(i + 1);
        assert_int_equal(rondo_buffer_create(s->stream, BYTES, RONDO_USAGE_GENERAL, all[i]), RONDO_OK);
        assert_int_equal(rondo_fill(s->stream, rondo_whole(*all[i]), &value, 1, NULL), RONDO_OK);
    }
    memset(s->up, 7, sizeof s->up);
}

static void close_stage(stage *s) {
    rondo_buffer_release(s->x);
    rondo_buffer_release(s->y);
    rondo_buffer_release(s->z);
    rondo_stream_release(s->stream);
    rondo_device_release(s->device);
}

static void check(stage *s, rondo_buffer buffer, uint8_t value) {
    uint8_t bytes[BYTES];
    assert_int_equal(rondo_read(s->stream, rondo_whole(buffer), bytes, NULL), RONDO_OK);
    assert_int_equal(bytes[0], value);
    assert_int_equal(bytes[BYTES - 1], value);
}

/* A block comes, takes x, and goes; then y is written from the host. */
static rondo_status down_and_up(rondo_stream *stream, void *user) {
    const stage *s = user;
    rondo_buffer block;
    rondo_status status = rondo_host_create(stream, BYTES, &block);
    if (!status) status = rondo_read_async(stream, rondo_whole(s->x), rondo_whole(block), "down");
    rondo_buffer_release(block);
    if (!status) status = rondo_write(stream, rondo_whole(s->y), s->up, "up");
    return status;
}

/* The same, and then blocks and writes in turn, so that room is given back and wanted again. */
static rondo_status in_turn(rondo_stream *stream, void *user) {
    stage *s = user;
    rondo_status status = down_and_up(stream, user);
    for (int i = 0; !status && i < 4; i++) {
        rondo_buffer block;
        status = rondo_host_create(stream, BYTES >> i, &block);
        if (!status) {
            status = rondo_read_async(stream, rondo_slice(s->x, 0, BYTES >> i), rondo_whole(block), "down");
            rondo_buffer_release(block);
        }
        if (!status) status = rondo_write(stream, rondo_slice(s->z, 0, BYTES >> i), s->up, "up");
    }
    return status;
}

/* [W2] [C5] */
static void no_replay_writes_over_the_snapshot_of_a_write(void **state) {
    rondo_graph *graph;
    stage s;
    (void)state;
    open_stage(&s);
    assert_int_equal(rondo_capture_step(s.stream, down_and_up, &s, &graph), RONDO_OK);
    for (int replay = 0; replay < 3; replay++) {
        uint8_t zero = 0;
        assert_int_equal(rondo_fill(s.stream, rondo_whole(s.y), &zero, 1, NULL), RONDO_OK);
        assert_int_equal(rondo_graph_replay(graph, s.stream), RONDO_OK);
        check(&s, s.y, 7);
    }
    rondo_graph_release(graph);
    close_stage(&s);
}

/* [C6] The warm-up makes room for snapshots that lie by themselves. */
static void snapshots_between_blocks_that_come_and_go_have_room(void **state) {
    rondo_graph *graph;
    stage s;
    (void)state;
    open_stage(&s);
    assert_int_equal(rondo_capture_step(s.stream, in_turn, &s, &graph), RONDO_OK);
    assert_int_equal(rondo_graph_replay(graph, s.stream), RONDO_OK);
    check(&s, s.y, 7);
    check(&s, s.z, 7);
    rondo_graph_release(graph);
    close_stage(&s);
}

static rondo_status live(rondo_stream *stream, rondo_buffer target, int value) {
    rondo_buffer block;
    rondo_status status = rondo_host_create(stream, BYTES, &block);
    if (!status) memset(rondo_host_data(block), value, BYTES);
    if (!status) status = rondo_write_live(stream, rondo_whole(target), rondo_whole(block), "live");
    rondo_buffer_release(block);
    return status;
}

static rondo_status two_blocks(rondo_stream *stream, void *user) {
    const stage *s = user;
    rondo_status status = live(stream, s->y, 5);
    return status ? status : live(stream, s->z, 6);
}

/* [C7] [W4] A block that the window reads is the window's until it closes, released or not. */
static void a_block_that_a_window_reads_is_not_given_to_the_next(void **state) {
    rondo_graph *graph;
    stage s;
    (void)state;
    open_stage(&s);
    assert_int_equal(rondo_capture_step(s.stream, two_blocks, &s, &graph), RONDO_OK);
    for (int replay = 0; replay < 2; replay++) {
        assert_int_equal(rondo_graph_replay(graph, s.stream), RONDO_OK);
        check(&s, s.y, 5);
        check(&s, s.z, 6);
    }
    rondo_graph_release(graph);
    close_stage(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_replay_writes_over_the_snapshot_of_a_write),
        cmocka_unit_test(a_block_that_a_window_reads_is_not_given_to_the_next),
        cmocka_unit_test(snapshots_between_blocks_that_come_and_go_have_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
