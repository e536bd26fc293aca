/* The doom table, see doom.h: its scene, its calls, its cells, and a case for each call. */
#include "doom.h"

static rondo_graph *graph_that_copies(struct conform *t, rondo_buffer target, rondo_buffer source) {
    open_window(t->stream);
    CHECK_OK(rondo_copy(t->stream, rondo_whole(target), rondo_whole(source), "inner"));
    return seal(t, t->stream);
}

static void open_other_device(struct doom_scene *s) {
    CHECK_OK(rondo_device_open(s->t->backend, NULL, &s->other_device));
    CHECK_OK(rondo_stream_create(s->other_device, &s->other_stream));
    CHECK_OK(rondo_buffer_create(s->other_stream, 64, RONDO_USAGE_GENERAL, &s->foreign));
    CHECK_OK(rondo_host_create(s->other_stream, 64, &s->foreign_block));
    CHECK_OK(rondo_event_create(s->other_device, &s->foreign_event));
    open_window(s->other_stream);
    CHECK_OK(fill_i32(s->other_stream, rondo_whole(s->foreign), 1, NULL));
    CHECK_OK(rondo_capture_end(s->other_stream, RONDO_END_DEFAULT, &s->foreign_graph));
}

void doom_scene_close(struct doom_scene *s) {
    rondo_buffer_release(s->foreign);
    rondo_buffer_release(s->foreign_block);
    rondo_event_release(s->foreign_event);
    rondo_graph_release(s->foreign_graph);
    rondo_stream_release(s->other_stream);
    rondo_device_release(s->other_device);
}

static void make_graphs(struct doom_scene *s) {
    s->reads_tainted = graph_that_copies(s->t, s->out, s->tainted);
    s->good_graph = graph_that_copies(s->t, s->out, s->in);
    s->dead_graph = graph_that_copies(s->t, s->out, s->in);
    rondo_graph_release(s->dead_graph);
}

struct doom_scene doom_scene_open(struct conform *t) {
    struct doom_scene s = {.t = t, .stream = t->stream};
    rondo_buffer *filled[] = {&s.first, &s.last, &s.in, &s.out, &s.tainted, &s.dead};
    for (size_t i = 0; i < COUNT_OF(filled); i++) {
        *filled[i] = conform_buffer(t, 64);
        conform_fill_i32(t, *filled[i], (int32_t)i);
    }
    rondo_buffer_release(s.dead);
    s.wide = conform_buffer(t, 8u << 20);
    s.block = conform_host_block(t, 64);
    s.tainted_block = conform_host_block(t, 64);
    s.dead_block = conform_host_block(t, 64);
    rondo_buffer_release(s.dead_block);
    s.never_recorded = conform_event(t);
    s.outside = conform_event(t);
    s.dead_event = conform_event(t);
    rondo_event_release(s.dead_event);
    CHECK_OK(rondo_event_record(t->stream, s.outside, NULL));
    make_graphs(&s);
    spoil(t->stream, rondo_whole(s.tainted), "spoiler");
    spoil(t->stream, exact(rondo_whole(s.tainted_block)), "spoiler");
    open_other_device(&s);
    return s;
}

/* The attempts. Their labels are "bad". */

rondo_span doom_misfit(rondo_buffer buffer) {
    return rondo_slice(buffer, 32, 64);
}
static rondo_status launch(const struct doom_scene *s, rondo_arg x, rondo_arg y, size_t count) {
    const rondo_arg args[] = {x, y};
    return rondo_launch(s->stream, conform_kernel(s->t, KERNEL_COPY), rondo_grid_1d(16), args, count, "bad");
}
static rondo_status launch_with_too_few_arguments(const struct doom_scene *s) {
    return launch(s, rondo_arg_buffer(s->in), rondo_arg_buffer(s->out), 1);
}
static rondo_status launch_with_a_value_for_a_buffer(const struct doom_scene *s) {
    return launch(s, rondo_arg_value("abcd", 4), rondo_arg_buffer(s->out), 2);
}
static rondo_status launch_with_a_value_of_the_wrong_size(const struct doom_scene *s) {
    const rondo_arg args[] = {rondo_arg_buffer(s->out), rondo_arg_value("abcdefgh", 8)};
    return rondo_launch(s->stream, conform_kernel(s->t, KERNEL_IOTA), rondo_grid_1d(16), args, 2, "bad");
}
static rondo_status launch_with_a_misaligned_span(const struct doom_scene *s) {
    return launch(s, rondo_arg_span(rondo_slice(s->in, 2, 32)), rondo_arg_buffer(s->out), 2);
}
static rondo_status launch_out_of_range(const struct doom_scene *s) {
    return launch(s, rondo_arg_span(doom_misfit(s->in)), rondo_arg_buffer(s->out), 2);
}
static rondo_status launch_of_a_dead_buffer(const struct doom_scene *s) {
    return launch(s, rondo_arg_buffer(s->dead), rondo_arg_buffer(s->out), 2);
}
static rondo_status launch_of_a_null_kernel(const struct doom_scene *s) {
    const rondo_arg args[] = {rondo_arg_buffer(s->in), rondo_arg_buffer(s->out)};
    return rondo_launch(s->stream, NULL, rondo_grid_1d(16), args, 2, "bad");
}
static rondo_status launch_of_a_foreign_buffer(const struct doom_scene *s) {
    return launch(s, rondo_arg_buffer(s->foreign), rondo_arg_buffer(s->out), 2);
}
static rondo_status launch_of_a_host_block(const struct doom_scene *s) {
    return launch(s, rondo_arg_buffer(s->block), rondo_arg_buffer(s->out), 2);
}
static rondo_status launch_with_aliased_arguments(const struct doom_scene *s) {
    return launch(s, rondo_arg_span(rondo_slice(s->out, 16, 16)), rondo_arg_buffer(s->out), 2);
}
static rondo_status launch_of_spoiled_input(const struct doom_scene *s) {
    return launch(s, rondo_arg_buffer(s->tainted), rondo_arg_buffer(s->out), 2);
}
static rondo_status fill_without_a_pattern(const struct doom_scene *s) {
    return rondo_fill(s->stream, rondo_whole(s->out), NULL, 4, "bad");
}
static rondo_status fill_with_a_pattern_of_three_bytes(const struct doom_scene *s) {
    return rondo_fill(s->stream, rondo_slice(s->out, 0, 48), "abc", 3, "bad");
}
static rondo_status fill_out_of_range(const struct doom_scene *s) {
    return fill_i32(s->stream, doom_misfit(s->out), 1, "bad");
}
static rondo_status fill_of_no_multiple_of_the_pattern(const struct doom_scene *s) {
    return fill_i32(s->stream, rondo_slice(s->out, 0, 10), 1, "bad");
}
static rondo_status fill_of_a_dead_buffer(const struct doom_scene *s) {
    return fill_i32(s->stream, rondo_whole(s->dead), 1, "bad");
}
static rondo_status fill_of_a_foreign_buffer(const struct doom_scene *s) {
    return fill_i32(s->stream, rondo_whole(s->foreign), 1, "bad");
}
static rondo_status fill_of_a_host_block(const struct doom_scene *s) {
    return fill_i32(s->stream, rondo_whole(s->block), 1, "bad");
}
static rondo_status copy_of_unequal_sizes(const struct doom_scene *s) {
    return rondo_copy(s->stream, rondo_whole(s->out), rondo_slice(s->in, 0, 32), "bad");
}
static rondo_status copy_out_of_range(const struct doom_scene *s) {
    return rondo_copy(s->stream, doom_misfit(s->out), doom_misfit(s->in), "bad");
}
static rondo_status copy_from_a_dead_buffer(const struct doom_scene *s) {
    return rondo_copy(s->stream, rondo_whole(s->out), rondo_whole(s->dead), "bad");
}
static rondo_status copy_from_a_foreign_buffer(const struct doom_scene *s) {
    return rondo_copy(s->stream, rondo_whole(s->out), rondo_whole(s->foreign), "bad");
}
static rondo_status copy_of_spoiled_input(const struct doom_scene *s) {
    return rondo_copy(s->stream, rondo_whole(s->out), rondo_whole(s->tainted), "bad");
}
static rondo_status copy_2d(const struct doom_scene *s, rondo_buffer source, uint64_t source_offset,
                            uint64_t pitch_bytes) {
    rondo_rect target = {rondo_whole(s->out), 16};
    rondo_rect from = {rondo_slice(source, source_offset, RONDO_WHOLE), pitch_bytes};
    return rondo_copy_2d(s->stream, target, from, 8, 4, "bad");
}
static rondo_status copy_2d_with_a_pitch_below_its_rows(const struct doom_scene *s) {
    return copy_2d(s, s->in, 0, 4);
}
static rondo_status copy_2d_out_of_range(const struct doom_scene *s) {
    return copy_2d(s, s->in, 16, 16);
}
static rondo_status copy_2d_of_overlapping_rectangles(const struct doom_scene *s) {
    return copy_2d(s, s->out, 4, 16);
}
static rondo_status copy_2d_of_spoiled_input(const struct doom_scene *s) {
    return copy_2d(s, s->tainted, 0, 16);
}
static rondo_status write_of_no_data(const struct doom_scene *s) {
    return rondo_write(s->stream, rondo_whole(s->out), NULL, "bad");
}
static rondo_status write_out_of_range(const struct doom_scene *s) {
    char data[64] = {0};
    return rondo_write(s->stream, doom_misfit(s->out), data, "bad");
}
static rondo_status write_live_from_a_device_buffer(const struct doom_scene *s) {
    return rondo_write_live(s->stream, rondo_whole(s->out), rondo_whole(s->in), "bad");
}
static rondo_status write_live_of_unequal_sizes(const struct doom_scene *s) {
    return rondo_write_live(s->stream, rondo_whole(s->out), rondo_slice(s->block, 0, 32), "bad");
}
static rondo_status write_live_from_a_spoiled_block(const struct doom_scene *s) {
    return rondo_write_live(s->stream, rondo_whole(s->out), rondo_whole(s->tainted_block), "bad");
}
static rondo_status read_async_into_a_device_buffer(const struct doom_scene *s) {
    return rondo_read_async(s->stream, rondo_whole(s->in), rondo_whole(s->out), "bad");
}
static rondo_status read_async_of_unequal_sizes(const struct doom_scene *s) {
    return rondo_read_async(s->stream, rondo_slice(s->in, 0, 32), rondo_whole(s->block), "bad");
}
static rondo_status read_async_of_spoiled_input(const struct doom_scene *s) {
    return rondo_read_async(s->stream, rondo_whole(s->tainted), rondo_whole(s->block), "bad");
}
static rondo_status host_call(const struct doom_scene *s, rondo_host_fn fn, rondo_span reads) {
    const rondo_host_access accesses[] = {{reads, RONDO_READS, NULL},
                                          {rondo_slice(s->out, 0, 64), RONDO_WRITES, NULL}};
    return rondo_host_call(s->stream, fn, NULL, NULL, accesses, 2, "bad");
}
static rondo_status host_call_of_no_function(const struct doom_scene *s) {
    return host_call(s, NULL, rondo_slice(s->in, 0, 64));
}
static rondo_status host_call_with_an_unknown_mode(const struct doom_scene *s) {
    const rondo_host_access access = {rondo_slice(s->out, 0, 64), (rondo_access_mode)8, NULL};
    return rondo_host_call(s->stream, host_nothing, NULL, NULL, &access, 1, "bad");
}
static rondo_status host_call_out_of_range(const struct doom_scene *s) {
    return host_call(s, host_nothing, doom_misfit(s->in));
}
static rondo_status host_call_of_a_dead_buffer(const struct doom_scene *s) {
    return host_call(s, host_nothing, rondo_slice(s->dead, 0, 64));
}
static rondo_status host_call_with_aliased_accesses(const struct doom_scene *s) {
    return host_call(s, host_nothing, rondo_slice(s->out, 16, 16));
}
static rondo_status host_call_of_spoiled_input(const struct doom_scene *s) {
    return host_call(s, host_nothing, rondo_slice(s->tainted, 0, 64));
}
static rondo_status replay_of_a_dead_graph(const struct doom_scene *s) {
    return rondo_graph_replay(s->dead_graph, s->stream);
}
static rondo_status replay_of_spoiled_live_in(const struct doom_scene *s) {
    return rondo_graph_replay(s->reads_tainted, s->stream);
}
static rondo_status record_of_a_null_event(const struct doom_scene *s) {
    return rondo_event_record(s->stream, NULL, "bad");
}
static rondo_status wait_for_a_null_event(const struct doom_scene *s) {
    return rondo_event_wait(s->stream, NULL, "bad");
}
static rondo_status wait_for_an_event_that_was_never_recorded(const struct doom_scene *s) {
    return rondo_event_wait(s->stream, s->never_recorded, "bad");
}
static rondo_status wait_for_an_event_of_before_the_window(const struct doom_scene *s) {
    return rondo_event_wait(s->stream, s->outside, "bad");
}
static rondo_status buffer_create_without_room(const struct doom_scene *s) {
    rondo_buffer buffer = RONDO_NO_BUFFER;
    return rondo_buffer_create(s->stream, 64u << 20, RONDO_USAGE_GENERAL, &buffer);
}

static rondo_status copy_from_a_host_block(const struct doom_scene *s) {
    return rondo_copy(s->stream, rondo_whole(s->out), rondo_whole(s->block), "bad");
}
static rondo_status copy_2d_from_a_host_block(const struct doom_scene *s) {
    return copy_2d(s, s->block, 0, 16);
}
static rondo_status copy_2d_from_a_dead_buffer(const struct doom_scene *s) {
    return copy_2d(s, s->dead, 0, 16);
}
static rondo_status copy_2d_from_a_foreign_buffer(const struct doom_scene *s) {
    return copy_2d(s, s->foreign, 0, 16);
}
static rondo_status write_of_a_dead_buffer(const struct doom_scene *s) {
    char data[64] = {0};
    return rondo_write(s->stream, rondo_whole(s->dead), data, "bad");
}
static rondo_status write_of_a_foreign_buffer(const struct doom_scene *s) {
    char data[64] = {0};
    return rondo_write(s->stream, rondo_whole(s->foreign), data, "bad");
}
static rondo_status write_without_staging_room(const struct doom_scene *s) {
    static const char data[8u << 20];
    return rondo_write(s->stream, rondo_whole(s->wide), data, "bad");
}
static rondo_status write_live_from_a_dead_block(const struct doom_scene *s) {
    return rondo_write_live(s->stream, rondo_whole(s->out), rondo_whole(s->dead_block), "bad");
}
static rondo_status write_live_from_a_foreign_block(const struct doom_scene *s) {
    return rondo_write_live(s->stream, rondo_whole(s->out), rondo_whole(s->foreign_block), "bad");
}
static rondo_status read_async_of_a_dead_buffer(const struct doom_scene *s) {
    return rondo_read_async(s->stream, rondo_whole(s->dead), rondo_whole(s->block), "bad");
}
static rondo_status read_async_of_a_foreign_buffer(const struct doom_scene *s) {
    return rondo_read_async(s->stream, rondo_whole(s->foreign), rondo_whole(s->block), "bad");
}
static rondo_status host_call_of_a_foreign_buffer(const struct doom_scene *s) {
    return host_call(s, host_nothing, rondo_slice(s->foreign, 0, 64));
}
static rondo_status replay_of_a_foreign_graph(const struct doom_scene *s) {
    return rondo_graph_replay(s->foreign_graph, s->stream);
}
static rondo_status record_of_a_dead_event(const struct doom_scene *s) {
    return rondo_event_record(s->stream, s->dead_event, "bad");
}
static rondo_status record_of_a_foreign_event(const struct doom_scene *s) {
    return rondo_event_record(s->stream, s->foreign_event, "bad");
}
static rondo_status wait_for_a_dead_event(const struct doom_scene *s) {
    return rondo_event_wait(s->stream, s->dead_event, "bad");
}
static rondo_status wait_for_a_foreign_event(const struct doom_scene *s) {
    return rondo_event_wait(s->stream, s->foreign_event, "bad");
}
static rondo_status host_create_without_room(const struct doom_scene *s) {
    rondo_buffer block = RONDO_NO_BUFFER;
    return rondo_host_create(s->stream, 64u << 20, &block);
}

static rondo_status buffer_create_of_no_size_that_exists(const struct doom_scene *s) {
    rondo_buffer buffer = RONDO_NO_BUFFER;
    return rondo_buffer_create(s->stream, UINT64_MAX / 2, RONDO_USAGE_GENERAL, &buffer);
}
static rondo_status host_create_of_no_size_that_exists(const struct doom_scene *s) {
    rondo_buffer block = RONDO_NO_BUFFER;
    return rondo_host_create(s->stream, UINT64_MAX / 2, &block);
}

/* ---- calls that are recorded ---- */

static rondo_status good_launch(const struct doom_scene *s) {
    return conform_launch_scale(s->t, s->stream, rondo_whole(s->out), 3, 16, "bad");
}
static rondo_status good_fill(const struct doom_scene *s) {
    return fill_i32(s->stream, rondo_whole(s->out), 1, "bad");
}
static rondo_status good_copy(const struct doom_scene *s) {
    return rondo_copy(s->stream, rondo_whole(s->out), rondo_whole(s->in), "bad");
}
static rondo_status good_copy_2d(const struct doom_scene *s) {
    const rondo_rect target = {rondo_whole(s->out), 16}, source = {rondo_whole(s->in), 16};
    return rondo_copy_2d(s->stream, target, source, 16, 4, "bad");
}
static rondo_status good_write(const struct doom_scene *s) {
    char data[64] = {0};
    return rondo_write(s->stream, rondo_whole(s->out), data, "bad");
}
static rondo_status good_write_live(const struct doom_scene *s) {
    return rondo_write_live(s->stream, rondo_whole(s->out), rondo_whole(s->block), "bad");
}
static rondo_status good_read_async(const struct doom_scene *s) {
    return rondo_read_async(s->stream, rondo_whole(s->in), rondo_whole(s->block), "bad");
}
static rondo_status good_host_call(const struct doom_scene *s) {
    return host_call(s, host_nothing, rondo_slice(s->in, 0, 64));
}
static rondo_status good_replay(const struct doom_scene *s) {
    return rondo_graph_replay(s->good_graph, s->stream);
}
static rondo_status good_event_record(const struct doom_scene *s) {
    return rondo_event_record(s->stream, s->never_recorded, "bad");
}
static rondo_status good_event_wait(const struct doom_scene *s) {
    return rondo_event_wait(s->stream, s->outside, "bad"); /* whoever calls this has recorded it in the window */
}
static rondo_status good_buffer_create(const struct doom_scene *s) {
    rondo_buffer buffer = RONDO_NO_BUFFER;
    rondo_status status = rondo_buffer_create(s->stream, 64, RONDO_USAGE_GENERAL, &buffer);
    rondo_buffer_release(buffer);
    return status;
}
static rondo_status good_host_create(const struct doom_scene *s) {
    rondo_buffer block = RONDO_NO_BUFFER;
    rondo_status status = rondo_host_create(s->stream, 64, &block);
    rondo_buffer_release(block);
    return status;
}

const struct doom_good doom_goods[DOOM_KIND_COUNT] = {
    [DOOM_launch] = {"launch", good_launch, WRITES_OUT, NEEDS_KERNELS},
    [DOOM_fill] = {"fill", good_fill, WRITES_OUT, NEEDS_NOTHING},
    [DOOM_copy] = {"copy", good_copy, WRITES_OUT, NEEDS_NOTHING},
    [DOOM_copy_2d] = {"copy_2d", good_copy_2d, WRITES_OUT, NEEDS_NOTHING},
    [DOOM_write] = {"write", good_write, WRITES_OUT, NEEDS_NOTHING},
    [DOOM_write_live] = {"write_live", good_write_live, WRITES_OUT, NEEDS_NOTHING},
    [DOOM_read_async] = {"read_async", good_read_async, WRITES_BLOCK, NEEDS_NOTHING},
    [DOOM_host_call] = {"host_call", good_host_call, WRITES_OUT, NEEDS_MAP},
    [DOOM_replay] = {"replay", good_replay, WRITES_OUT, NEEDS_NOTHING},
    [DOOM_event_record] = {"event_record", good_event_record, WRITES_NOTHING, NEEDS_NOTHING},
    [DOOM_event_wait] = {"event_wait", good_event_wait, WRITES_NOTHING, NEEDS_NOTHING},
    [DOOM_buffer_create] = {"buffer_create", good_buffer_create, WRITES_NOTHING, NEEDS_NOTHING},
    [DOOM_host_create] = {"host_create", good_host_create, WRITES_NOTHING, NEEDS_NOTHING},
};

enum { UNLABELLED = 1 };

/* A skipped operation mints no failure: the story is the spoiler's, and the operation stands among its skips [T6]. */
static void check_skip(rondo_status status, const struct doom_scene *s, unsigned how) {
    rondo_skip skip;
    CHECK(strcmp(conform_fault(rondo_fault_root(status)).label, "spoiler") == 0);
    CHECK_EQUAL(rondo_fault_chain(status, &skip, 1), 1);
    CHECK_EQUAL(skip.stream_id, rondo_stream_id(s->stream));
    if (how != UNLABELLED) CHECK(strcmp(skip.label, "bad") == 0);
}

/* A refused one has a story of its own, which names it. */
static void check_story(rondo_status status, const struct doom_scene *s, unsigned how) {
    rondo_fault fault = conform_fault(status);
    CHECK_EQUAL(fault.stream_id, rondo_stream_id(s->stream));
    if (how != UNLABELLED) CHECK(strcmp(fault.label, "bad") == 0);
    CHECK_EQUAL(fault.op_index, 1);
}

void doom_check_output(const struct doom_scene *s, enum doom_output output, rondo_status root) {
    if (output == WRITES_OUT) expect_spoiled(rondo_whole(s->out), root);
    if (output == WRITES_BLOCK) expect_spoiled(rondo_whole(s->block), root);
    if (output == WRITES_WIDE) expect_spoiled(rondo_whole(s->wide), root);
}

/* [P2, C8, C9, P4, T8] The window holds one good operation, then the attempt, then another good one. */
static void doom(struct conform *t, rondo_status (*attempt)(const struct doom_scene *), rondo_code code,
                 enum doom_output output, unsigned how) {
    struct doom_scene s = doom_scene_open(t);
    open_window(s.stream);
    CHECK_OK(fill_i32(s.stream, rondo_whole(s.first), 70, "good"));
    rondo_status refused = CHECK_CODE(attempt(&s), code);
    rondo_status root = rondo_fault_root(refused);
    CHECK_OK(fill_i32(s.stream, rondo_whole(s.last), 71, "good"));
    CHECK(window_info(s.stream).doomed_by == refused);
    CHECK_OK(rondo_span_status(rondo_whole(s.first)));
    rondo_status doomed = seal_refused(s.stream, RONDO_DOOMED);
    CHECK(rondo_fault_root(doomed) == root);
    (code == RONDO_TAINTED ? check_skip : check_story)(refused, &s, how);
    (code == RONDO_TAINTED ? check_skip : check_story)(doomed, &s, how);
    expect_spoiled(rondo_whole(s.first), root);
    expect_spoiled(rondo_whole(s.last), root);
    doom_check_output(&s, output, root);
    CHECK_OK(rondo_span_status(rondo_whole(s.in)));
    check_stream_works(t, s.stream);
    doom_scene_close(&s);
}

#define DOOM_WAYS(X)                                                                                                   \
    X(launch, launch_with_too_few_arguments, RONDO_INVALID, NEEDS_KERNELS, WRITES_NOTHING, 0)                          \
    X(launch, launch_with_a_value_for_a_buffer, RONDO_INVALID, NEEDS_KERNELS, WRITES_OUT, 0)                           \
    X(launch, launch_with_a_value_of_the_wrong_size, RONDO_INVALID, NEEDS_KERNELS, WRITES_OUT, 0)                      \
    X(launch, launch_with_a_misaligned_span, RONDO_INVALID, NEEDS_KERNELS, WRITES_OUT, 0)                              \
    X(launch, launch_out_of_range, RONDO_RANGE, NEEDS_KERNELS, WRITES_OUT, 0)                                          \
    X(launch, launch_of_a_dead_buffer, RONDO_STALE, NEEDS_KERNELS, WRITES_OUT, 0)                                      \
    X(launch, launch_of_a_null_kernel, RONDO_STALE, NEEDS_NOTHING, WRITES_NOTHING, 0)                                  \
    X(launch, launch_of_a_foreign_buffer, RONDO_FOREIGN, NEEDS_KERNELS, WRITES_OUT, 0)                                 \
    X(launch, launch_of_a_host_block, RONDO_INVALID, NEEDS_KERNELS, WRITES_OUT, 0)                                     \
    X(launch, launch_with_aliased_arguments, RONDO_ALIASED, NEEDS_KERNELS, WRITES_OUT, 0)                              \
    X(launch, launch_of_spoiled_input, RONDO_TAINTED, NEEDS_KERNELS, WRITES_OUT, 0)                                    \
    X(fill, fill_without_a_pattern, RONDO_INVALID, NEEDS_NOTHING, WRITES_OUT, 0)                                       \
    X(fill, fill_with_a_pattern_of_three_bytes, RONDO_INVALID, NEEDS_NOTHING, WRITES_OUT, 0)                           \
    X(fill, fill_out_of_range, RONDO_RANGE, NEEDS_NOTHING, WRITES_NOTHING, 0)                                          \
    X(fill, fill_of_no_multiple_of_the_pattern, RONDO_RANGE, NEEDS_NOTHING, WRITES_OUT, 0)                             \
    X(fill, fill_of_a_dead_buffer, RONDO_STALE, NEEDS_NOTHING, WRITES_NOTHING, 0)                                      \
    X(fill, fill_of_a_foreign_buffer, RONDO_FOREIGN, NEEDS_NOTHING, WRITES_NOTHING, 0)                                 \
    X(fill, fill_of_a_host_block, RONDO_INVALID, NEEDS_NOTHING, WRITES_NOTHING, 0)                                     \
    X(copy, copy_of_unequal_sizes, RONDO_RANGE, NEEDS_NOTHING, WRITES_OUT, 0)                                          \
    X(copy, copy_out_of_range, RONDO_RANGE, NEEDS_NOTHING, WRITES_NOTHING, 0)                                          \
    X(copy, copy_from_a_dead_buffer, RONDO_STALE, NEEDS_NOTHING, WRITES_OUT, 0)                                        \
    X(copy, copy_from_a_foreign_buffer, RONDO_FOREIGN, NEEDS_NOTHING, WRITES_OUT, 0)                                   \
    X(copy, copy_of_spoiled_input, RONDO_TAINTED, NEEDS_NOTHING, WRITES_OUT, 0)                                        \
    X(copy, copy_from_a_host_block, RONDO_INVALID, NEEDS_NOTHING, WRITES_OUT, 0)                                       \
    X(copy_2d, copy_2d_with_a_pitch_below_its_rows, RONDO_RANGE, NEEDS_NOTHING, WRITES_OUT, 0)                         \
    X(copy_2d, copy_2d_out_of_range, RONDO_RANGE, NEEDS_NOTHING, WRITES_OUT, 0)                                        \
    X(copy_2d, copy_2d_of_overlapping_rectangles, RONDO_ALIASED, NEEDS_NOTHING, WRITES_OUT, 0)                         \
    X(copy_2d, copy_2d_of_spoiled_input, RONDO_TAINTED, NEEDS_NOTHING, WRITES_OUT, 0)                                  \
    X(copy_2d, copy_2d_from_a_host_block, RONDO_INVALID, NEEDS_NOTHING, WRITES_OUT, 0)                                 \
    X(copy_2d, copy_2d_from_a_dead_buffer, RONDO_STALE, NEEDS_NOTHING, WRITES_OUT, 0)                                  \
    X(copy_2d, copy_2d_from_a_foreign_buffer, RONDO_FOREIGN, NEEDS_NOTHING, WRITES_OUT, 0)                             \
    X(write, write_of_no_data, RONDO_INVALID, NEEDS_NOTHING, WRITES_OUT, 0)                                            \
    X(write, write_out_of_range, RONDO_RANGE, NEEDS_NOTHING, WRITES_NOTHING, 0)                                        \
    X(write, write_of_a_dead_buffer, RONDO_STALE, NEEDS_NOTHING, WRITES_NOTHING, 0)                                    \
    X(write, write_of_a_foreign_buffer, RONDO_FOREIGN, NEEDS_NOTHING, WRITES_NOTHING, 0)                               \
    X(write, write_without_staging_room, RONDO_NO_ROOM, NEEDS_NOTHING, WRITES_WIDE, 0)                                 \
    X(write_live, write_live_from_a_device_buffer, RONDO_INVALID, NEEDS_NOTHING, WRITES_OUT, 0)                        \
    X(write_live, write_live_of_unequal_sizes, RONDO_RANGE, NEEDS_NOTHING, WRITES_OUT, 0)                              \
    X(write_live, write_live_from_a_spoiled_block, RONDO_TAINTED, NEEDS_NOTHING, WRITES_OUT, 0)                        \
    X(write_live, write_live_from_a_dead_block, RONDO_STALE, NEEDS_NOTHING, WRITES_OUT, 0)                             \
    X(write_live, write_live_from_a_foreign_block, RONDO_FOREIGN, NEEDS_NOTHING, WRITES_OUT, 0)                        \
    X(read_async, read_async_into_a_device_buffer, RONDO_INVALID, NEEDS_NOTHING, WRITES_NOTHING, 0)                    \
    X(read_async, read_async_of_unequal_sizes, RONDO_RANGE, NEEDS_NOTHING, WRITES_BLOCK, 0)                            \
    X(read_async, read_async_of_spoiled_input, RONDO_TAINTED, NEEDS_NOTHING, WRITES_BLOCK, 0)                          \
    X(read_async, read_async_of_a_dead_buffer, RONDO_STALE, NEEDS_NOTHING, WRITES_BLOCK, 0)                            \
    X(read_async, read_async_of_a_foreign_buffer, RONDO_FOREIGN, NEEDS_NOTHING, WRITES_BLOCK, 0)                       \
    X(host_call, host_call_of_no_function, RONDO_INVALID, NEEDS_NOTHING, WRITES_OUT, 0)                                \
    X(host_call, host_call_with_an_unknown_mode, RONDO_INVALID, NEEDS_NOTHING, WRITES_NOTHING, 0)                      \
    X(host_call, host_call_out_of_range, RONDO_RANGE, NEEDS_NOTHING, WRITES_OUT, 0)                                    \
    X(host_call, host_call_of_a_dead_buffer, RONDO_STALE, NEEDS_NOTHING, WRITES_OUT, 0)                                \
    X(host_call, host_call_with_aliased_accesses, RONDO_ALIASED, NEEDS_NOTHING, WRITES_OUT, 0)                         \
    X(host_call, host_call_of_spoiled_input, RONDO_TAINTED, NEEDS_MAP, WRITES_OUT, 0)                                  \
    X(host_call, host_call_of_a_foreign_buffer, RONDO_FOREIGN, NEEDS_NOTHING, WRITES_OUT, 0)                           \
    X(replay, replay_of_a_dead_graph, RONDO_STALE, NEEDS_NOTHING, WRITES_NOTHING, UNLABELLED)                          \
    X(replay, replay_of_spoiled_live_in, RONDO_TAINTED, NEEDS_NOTHING, WRITES_OUT, UNLABELLED)                         \
    X(replay, replay_of_a_foreign_graph, RONDO_FOREIGN, NEEDS_NOTHING, WRITES_NOTHING, UNLABELLED)                     \
    X(event_record, record_of_a_null_event, RONDO_STALE, NEEDS_NOTHING, WRITES_NOTHING, 0)                             \
    X(event_record, record_of_a_dead_event, RONDO_STALE, NEEDS_NOTHING, WRITES_NOTHING, 0)                             \
    X(event_record, record_of_a_foreign_event, RONDO_FOREIGN, NEEDS_NOTHING, WRITES_NOTHING, 0)                        \
    X(event_wait, wait_for_a_null_event, RONDO_STALE, NEEDS_NOTHING, WRITES_NOTHING, 0)                                \
    X(event_wait, wait_for_an_event_that_was_never_recorded, RONDO_STATE, NEEDS_NOTHING, WRITES_NOTHING, 0)            \
    X(event_wait, wait_for_an_event_of_before_the_window, RONDO_STATE, NEEDS_NOTHING, WRITES_NOTHING, 0)               \
    X(event_wait, wait_for_a_dead_event, RONDO_STALE, NEEDS_NOTHING, WRITES_NOTHING, 0)                                \
    X(event_wait, wait_for_a_foreign_event, RONDO_FOREIGN, NEEDS_NOTHING, WRITES_NOTHING, 0)                           \
    X(buffer_create, buffer_create_without_room, RONDO_NO_ROOM, NEEDS_NOTHING, WRITES_NOTHING, UNLABELLED)             \
    X(buffer_create, buffer_create_of_no_size_that_exists, RONDO_RANGE, NEEDS_NOTHING, WRITES_NOTHING, UNLABELLED)     \
    X(host_create, host_create_of_no_size_that_exists, RONDO_RANGE, NEEDS_NOTHING, WRITES_NOTHING, UNLABELLED)         \
    X(host_create, host_create_without_room, RONDO_NO_ROOM, NEEDS_NOTHING, WRITES_NOTHING, UNLABELLED)

#define DEFINE_CASE(kind, attempt, code, needs, output, how)                                                           \
    static void a_##attempt##_dooms_the_window(struct conform *t) {                                                    \
        doom(t, attempt, code, output, how);                                                                           \
    }
DOOM_WAYS(DEFINE_CASE)

/* ---- the table ---- */

/* Ways in which no call of a kind can fail. */
static const struct doom_gap {
    enum doom_kind first, last; /* all kinds in between, too */
    rondo_code code;
    char mark;
} gaps[] = {
    {DOOM_fill, DOOM_fill, RONDO_TAINTED, 'a'},
    {DOOM_write, DOOM_write, RONDO_TAINTED, 'a'},
    {DOOM_event_record, DOOM_event_wait, RONDO_TAINTED, 'a'},
    {DOOM_fill, DOOM_fill, RONDO_ALIASED, 'b'},
    {DOOM_write, DOOM_write, RONDO_ALIASED, 'b'},
    {DOOM_copy, DOOM_copy, RONDO_ALIASED, 'c'},
    {DOOM_write_live, DOOM_read_async, RONDO_ALIASED, 'd'},
    {DOOM_launch, DOOM_event_record, RONDO_STATE, 'e'},
    {DOOM_buffer_create, DOOM_host_create, RONDO_STATE, 'e'},
    {DOOM_launch, DOOM_copy_2d, RONDO_NO_ROOM, 'f'},
    {DOOM_write_live, DOOM_event_wait, RONDO_NO_ROOM, 'f'},
    {DOOM_replay, DOOM_replay, RONDO_INVALID, 'g'},
    {DOOM_replay, DOOM_replay, RONDO_RANGE, 'g'},
    {DOOM_replay, DOOM_replay, RONDO_ALIASED, 'g'},
    {DOOM_event_record, DOOM_event_wait, RONDO_INVALID, 'h'},
    {DOOM_event_record, DOOM_event_wait, RONDO_RANGE, 'h'},
    {DOOM_event_record, DOOM_event_wait, RONDO_ALIASED, 'h'},
    {DOOM_buffer_create, DOOM_host_create, RONDO_STALE, 'h'},
    {DOOM_buffer_create, DOOM_host_create, RONDO_FOREIGN, 'h'},
    {DOOM_buffer_create, DOOM_host_create, RONDO_ALIASED, 'h'},
    {DOOM_buffer_create, DOOM_host_create, RONDO_TAINTED, 'h'},
    {DOOM_buffer_create, DOOM_host_create, RONDO_INVALID, 'i'},
};

static const char *const marks[] = {
    "a  it reads nothing that could be spoiled",
    "b  it names bytes once only",
    "c  source and target may overlap",
    "d  a block and a device buffer share no bytes",
    "e  there is no state that it could miss",
    "f  it takes no room of the pools",
    "g  the nodes were checked when they were recorded, or updated",
    "h  it has no argument of that sort",
    "i  no reservation is begun: nothing is missing yet, and work that names the missing buffer is refused itself",
    "m  each allocation of the call fails in turn, see tests/fault/doom_test.c",
    "n  others made room for its record; tests/fault/alloc_sweep_test.c meets the rare call that has to",
    "Never in a window: BACKEND and LOST, since the backend is asked for nothing before the seal; BUSY, which only",
    "neighbours meet; FORBIDDEN, after which nothing is missing; FORKED, which comes from another process. REENTRANT",
    "comes from inside of another stream's work, and has its cases in tests/conform/capture_inside.c.",
};

static unsigned calls_of(enum doom_kind kind, rondo_code code) {
    unsigned count = 0;
#define COUNT_CALL(its_kind, attempt, its_code, needs, output, how)                                                    \
    count += DOOM_##its_kind == kind && its_code == code;
    DOOM_WAYS(COUNT_CALL)
    return count;
}

/* The mark of a cell without a call, 0 if there is none. */
static char mark_of(enum doom_kind kind, rondo_code code) {
    for (size_t i = 0; i < COUNT_OF(gaps); i++) {
        if (gaps[i].first <= kind && kind <= gaps[i].last && gaps[i].code == code) return gaps[i].mark;
    }
    return 0;
}

static unsigned print_cell(FILE *output, enum doom_kind kind, rondo_code code) {
    unsigned calls = calls_of(kind, code);
    char mark = mark_of(kind, code);
    if (calls != 0) fprintf(output, " %8u", calls);
    if (mark != 0) fprintf(output, " %8c", mark);
    bool wrong = (calls == 0) == (mark == 0);
    if (wrong) fprintf(output, " %8s", "GAP");
    return wrong;
}

unsigned doom_print_table(FILE *output, const unsigned *memory_calls) {
    const rondo_code ways[] = {RONDO_INVALID, RONDO_RANGE, RONDO_STALE, RONDO_FOREIGN,
                               RONDO_ALIASED, RONDO_TAINTED, RONDO_STATE, RONDO_NO_ROOM};
    unsigned wrong = 0;
    fprintf(output, "\nHow many calls doom a window, by kind of work and way to fail:\n%-14s", "");
    for (size_t w = 0; w < COUNT_OF(ways); w++) fprintf(output, " %8s", rondo_code_name(ways[w]));
    fprintf(output, " %s\n", "NO_HOST_MEMORY");
    for (int kind = 0; kind < DOOM_KIND_COUNT; kind++) {
        fprintf(output, "%-14s", doom_goods[kind].name);
        for (size_t w = 0; w < COUNT_OF(ways); w++) wrong += print_cell(output, (enum doom_kind)kind, ways[w]);
        if (memory_calls == NULL) fprintf(output, " %8c\n", 'm');
        if (memory_calls != NULL && memory_calls[kind] == 0) fprintf(output, " %8c\n", 'n');
        if (memory_calls != NULL && memory_calls[kind] != 0) fprintf(output, " %8u\n", memory_calls[kind]);
    }
    for (size_t i = 0; i < COUNT_OF(marks); i++) fprintf(output, "%s\n", marks[i]);
    return wrong;
}

/* [P2] [C8] */
static void the_doom_table_has_no_gaps(struct conform *t) {
    (void)t;
    CHECK_EQUAL(doom_print_table(stdout, NULL), 0);
}

#define LIST_CASE(kind, attempt, code, needs, output, how) CONFORM_CASE(a_##attempt##_dooms_the_window, needs),

extern const struct conform_case conform_doom_table_cases[];
const struct conform_case conform_doom_table_cases[] = {
    DOOM_WAYS(LIST_CASE)
    CONFORM_CASE(the_doom_table_has_no_gaps, NEEDS_NOTHING),
    CONFORM_END,
};
