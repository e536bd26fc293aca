/* What dooms a window: every kind of operation in every way in which it can fail there, and what must not doom it. */
#include "capture_tools.h"

/* What one attempt works with. `tainted` and `tainted_block` are spoiled, `dead` is released, `foreign` is another
 * device's, all others are good and filled. */
struct scene {
    struct conform *t;
    rondo_stream *stream;
    rondo_buffer first, last; /* what the good operations before and after the attempt write */
    rondo_buffer in, out, tainted, dead, foreign;
    rondo_buffer block, tainted_block;
    rondo_event *never_recorded, *outside;
    rondo_graph *reads_tainted, *dead_graph;
    rondo_device *other_device;
    rondo_stream *other_stream;
};

static rondo_graph *graph_that_copies(struct conform *t, rondo_buffer target, rondo_buffer source) {
    open_window(t->stream);
    CHECK_OK(rondo_copy(t->stream, rondo_whole(target), rondo_whole(source), "inner"));
    return seal(t, t->stream);
}

static void open_other_device(struct scene *s) {
    CHECK_OK(rondo_device_open(s->t->backend, NULL, &s->other_device));
    CHECK_OK(rondo_stream_create(s->other_device, &s->other_stream));
    CHECK_OK(rondo_buffer_create(s->other_stream, 64, RONDO_USAGE_GENERAL, &s->foreign));
}

static void close_other_device(struct scene *s) {
    rondo_buffer_release(s->foreign);
    rondo_stream_release(s->other_stream);
    rondo_device_release(s->other_device);
}

static struct scene set_scene(struct conform *t) {
    struct scene s = {.t = t, .stream = t->stream};
    rondo_buffer *filled[] = {&s.first, &s.last, &s.in, &s.out, &s.tainted, &s.dead};
    for (size_t i = 0; i < COUNT_OF(filled); i++) {
        *filled[i] = conform_buffer(t, 64);
        conform_fill_i32(t, *filled[i], (int32_t)i);
    }
    rondo_buffer_release(s.dead);
    s.block = conform_host_block(t, 64);
    s.tainted_block = conform_host_block(t, 64);
    s.never_recorded = conform_event(t);
    s.outside = conform_event(t);
    CHECK_OK(rondo_event_record(t->stream, s.outside, NULL));
    s.reads_tainted = graph_that_copies(t, s.out, s.tainted);
    rondo_graph *graph = graph_that_copies(t, s.out, s.in);
    rondo_graph_release(graph);
    s.dead_graph = graph;
    spoil(t->stream, rondo_whole(s.tainted), "spoiler");
    spoil(t->stream, exact(rondo_whole(s.tainted_block)), "spoiler");
    open_other_device(&s);
    return s;
}

/* The attempts. Their labels are "bad". */

static rondo_span misfit(rondo_buffer buffer) {
    return rondo_slice(buffer, 32, 64);
}
static rondo_status launch(const struct scene *s, rondo_arg x, rondo_arg y, size_t count) {
    const rondo_arg args[] = {x, y};
    return rondo_launch(s->stream, conform_kernel(s->t, KERNEL_COPY), rondo_grid_1d(16), args, count, "bad");
}
static rondo_status launch_with_too_few_arguments(const struct scene *s) {
    return launch(s, rondo_arg_buffer(s->in), rondo_arg_buffer(s->out), 1);
}
static rondo_status launch_with_a_value_for_a_buffer(const struct scene *s) {
    return launch(s, rondo_arg_value("abcd", 4), rondo_arg_buffer(s->out), 2);
}
static rondo_status launch_with_a_value_of_the_wrong_size(const struct scene *s) {
    const rondo_arg args[] = {rondo_arg_buffer(s->out), rondo_arg_value("abcdefgh", 8)};
    return rondo_launch(s->stream, conform_kernel(s->t, KERNEL_IOTA), rondo_grid_1d(16), args, 2, "bad");
}
static rondo_status launch_with_a_misaligned_span(const struct scene *s) {
    return launch(s, rondo_arg_span(rondo_slice(s->in, 2, 32)), rondo_arg_buffer(s->out), 2);
}
static rondo_status launch_out_of_range(const struct scene *s) {
    return launch(s, rondo_arg_span(misfit(s->in)), rondo_arg_buffer(s->out), 2);
}
static rondo_status launch_of_a_dead_buffer(const struct scene *s) {
    return launch(s, rondo_arg_buffer(s->dead), rondo_arg_buffer(s->out), 2);
}
static rondo_status launch_of_a_null_kernel(const struct scene *s) {
    const rondo_arg args[] = {rondo_arg_buffer(s->in), rondo_arg_buffer(s->out)};
    return rondo_launch(s->stream, NULL, rondo_grid_1d(16), args, 2, "bad");
}
static rondo_status launch_of_a_foreign_buffer(const struct scene *s) {
    return launch(s, rondo_arg_buffer(s->foreign), rondo_arg_buffer(s->out), 2);
}
static rondo_status launch_of_a_host_block(const struct scene *s) {
    return launch(s, rondo_arg_buffer(s->block), rondo_arg_buffer(s->out), 2);
}
static rondo_status launch_with_aliased_arguments(const struct scene *s) {
    return launch(s, rondo_arg_span(rondo_slice(s->out, 16, 16)), rondo_arg_buffer(s->out), 2);
}
static rondo_status launch_of_spoiled_input(const struct scene *s) {
    return launch(s, rondo_arg_buffer(s->tainted), rondo_arg_buffer(s->out), 2);
}
static rondo_status fill_without_a_pattern(const struct scene *s) {
    return rondo_fill(s->stream, rondo_whole(s->out), NULL, 4, "bad");
}
static rondo_status fill_with_a_pattern_of_three_bytes(const struct scene *s) {
    return rondo_fill(s->stream, rondo_slice(s->out, 0, 48), "abc", 3, "bad");
}
static rondo_status fill_out_of_range(const struct scene *s) {
    return fill_i32(s->stream, misfit(s->out), 1, "bad");
}
static rondo_status fill_of_no_multiple_of_the_pattern(const struct scene *s) {
    return fill_i32(s->stream, rondo_slice(s->out, 0, 10), 1, "bad");
}
static rondo_status fill_of_a_dead_buffer(const struct scene *s) {
    return fill_i32(s->stream, rondo_whole(s->dead), 1, "bad");
}
static rondo_status fill_of_a_foreign_buffer(const struct scene *s) {
    return fill_i32(s->stream, rondo_whole(s->foreign), 1, "bad");
}
static rondo_status fill_of_a_host_block(const struct scene *s) {
    return fill_i32(s->stream, rondo_whole(s->block), 1, "bad");
}
static rondo_status copy_of_unequal_sizes(const struct scene *s) {
    return rondo_copy(s->stream, rondo_whole(s->out), rondo_slice(s->in, 0, 32), "bad");
}
static rondo_status copy_out_of_range(const struct scene *s) {
    return rondo_copy(s->stream, misfit(s->out), misfit(s->in), "bad");
}
static rondo_status copy_from_a_dead_buffer(const struct scene *s) {
    return rondo_copy(s->stream, rondo_whole(s->out), rondo_whole(s->dead), "bad");
}
static rondo_status copy_from_a_foreign_buffer(const struct scene *s) {
    return rondo_copy(s->stream, rondo_whole(s->out), rondo_whole(s->foreign), "bad");
}
static rondo_status copy_of_spoiled_input(const struct scene *s) {
    return rondo_copy(s->stream, rondo_whole(s->out), rondo_whole(s->tainted), "bad");
}
static rondo_status copy_2d(const struct scene *s, rondo_buffer source, uint64_t source_offset, uint64_t pitch_bytes) {
    rondo_rect target = {rondo_whole(s->out), 16};
    rondo_rect from = {rondo_slice(source, source_offset, RONDO_WHOLE), pitch_bytes};
    return rondo_copy_2d(s->stream, target, from, 8, 4, "bad");
}
static rondo_status copy_2d_with_a_pitch_below_its_rows(const struct scene *s) {
    return copy_2d(s, s->in, 0, 4);
}
static rondo_status copy_2d_out_of_range(const struct scene *s) {
    return copy_2d(s, s->in, 16, 16);
}
static rondo_status copy_2d_of_overlapping_rectangles(const struct scene *s) {
    return copy_2d(s, s->out, 4, 16);
}
static rondo_status copy_2d_of_spoiled_input(const struct scene *s) {
    return copy_2d(s, s->tainted, 0, 16);
}
static rondo_status write_of_no_data(const struct scene *s) {
    return rondo_write(s->stream, rondo_whole(s->out), NULL, "bad");
}
static rondo_status write_out_of_range(const struct scene *s) {
    char data[64] = {0};
    return rondo_write(s->stream, misfit(s->out), data, "bad");
}
static rondo_status write_live_from_a_device_buffer(const struct scene *s) {
    return rondo_write_live(s->stream, rondo_whole(s->out), rondo_whole(s->in), "bad");
}
static rondo_status write_live_of_unequal_sizes(const struct scene *s) {
    return rondo_write_live(s->stream, rondo_whole(s->out), rondo_slice(s->block, 0, 32), "bad");
}
static rondo_status write_live_from_a_spoiled_block(const struct scene *s) {
    return rondo_write_live(s->stream, rondo_whole(s->out), rondo_whole(s->tainted_block), "bad");
}
static rondo_status read_async_into_a_device_buffer(const struct scene *s) {
    return rondo_read_async(s->stream, rondo_whole(s->in), rondo_whole(s->out), "bad");
}
static rondo_status read_async_of_unequal_sizes(const struct scene *s) {
    return rondo_read_async(s->stream, rondo_slice(s->in, 0, 32), rondo_whole(s->block), "bad");
}
static rondo_status read_async_of_spoiled_input(const struct scene *s) {
    return rondo_read_async(s->stream, rondo_whole(s->tainted), rondo_whole(s->block), "bad");
}
static rondo_status host_call(const struct scene *s, rondo_host_fn fn, rondo_span reads) {
    const rondo_host_access accesses[] = {{reads, RONDO_READS, NULL},
                                          {rondo_slice(s->out, 0, 64), RONDO_WRITES, NULL}};
    return rondo_host_call(s->stream, fn, NULL, NULL, accesses, 2, "bad");
}
static rondo_status host_call_of_no_function(const struct scene *s) {
    return host_call(s, NULL, rondo_slice(s->in, 0, 64));
}
static rondo_status host_call_with_an_unknown_mode(const struct scene *s) {
    const rondo_host_access access = {rondo_slice(s->out, 0, 64), (rondo_access_mode)8, NULL};
    return rondo_host_call(s->stream, host_nothing, NULL, NULL, &access, 1, "bad");
}
static rondo_status host_call_out_of_range(const struct scene *s) {
    return host_call(s, host_nothing, misfit(s->in));
}
static rondo_status host_call_of_a_dead_buffer(const struct scene *s) {
    return host_call(s, host_nothing, rondo_slice(s->dead, 0, 64));
}
static rondo_status host_call_with_aliased_accesses(const struct scene *s) {
    return host_call(s, host_nothing, rondo_slice(s->out, 16, 16));
}
static rondo_status host_call_of_spoiled_input(const struct scene *s) {
    return host_call(s, host_nothing, rondo_slice(s->tainted, 0, 64));
}
static rondo_status replay_of_a_dead_graph(const struct scene *s) {
    return rondo_graph_replay(s->dead_graph, s->stream);
}
static rondo_status replay_of_spoiled_live_in(const struct scene *s) {
    return rondo_graph_replay(s->reads_tainted, s->stream);
}
static rondo_status record_of_a_null_event(const struct scene *s) {
    return rondo_event_record(s->stream, NULL, "bad");
}
static rondo_status wait_for_a_null_event(const struct scene *s) {
    return rondo_event_wait(s->stream, NULL, "bad");
}
static rondo_status wait_for_an_event_that_was_never_recorded(const struct scene *s) {
    return rondo_event_wait(s->stream, s->never_recorded, "bad");
}
static rondo_status wait_for_an_event_of_before_the_window(const struct scene *s) {
    return rondo_event_wait(s->stream, s->outside, "bad");
}
static rondo_status buffer_create_without_room(const struct scene *s) {
    rondo_buffer buffer = RONDO_NO_BUFFER;
    return rondo_buffer_create(s->stream, 64u << 20, RONDO_USAGE_GENERAL, &buffer);
}

enum { UNLABELLED = 1 };

/* A skipped operation mints no failure: the story is the spoiler's, and the operation stands among its skips [T6]. */
static void check_skip(rondo_status status, const struct scene *s, unsigned how) {
    rondo_skip skip;
    CHECK(strcmp(conform_fault(rondo_fault_root(status)).label, "spoiler") == 0);
    CHECK_EQUAL(rondo_fault_chain(status, &skip, 1), 1);
    CHECK_EQUAL(skip.stream_id, rondo_stream_id(s->stream));
    if (how != UNLABELLED) CHECK(strcmp(skip.label, "bad") == 0);
}

/* A refused one has a story of its own, which names it. */
static void check_story(rondo_status status, const struct scene *s, unsigned how) {
    rondo_fault fault = conform_fault(status);
    CHECK_EQUAL(fault.stream_id, rondo_stream_id(s->stream));
    if (how != UNLABELLED) CHECK(strcmp(fault.label, "bad") == 0);
    CHECK_EQUAL(fault.op_index, 1);
}

/* [P2, C8, C9, P4, T8] The window holds one good operation, then the attempt, then another good one. */
static void doom(struct conform *t, rondo_status (*attempt)(const struct scene *), rondo_code code, unsigned how) {
    struct scene s = set_scene(t);
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
    CHECK_OK(rondo_span_status(rondo_whole(s.in)));
    check_stream_works(t, s.stream);
    close_other_device(&s);
}

#define DOOM_CASES(X)                                                                                 \
    X(launch_with_too_few_arguments, RONDO_INVALID, NEEDS_KERNELS, 0)                                 \
    X(launch_with_a_value_for_a_buffer, RONDO_INVALID, NEEDS_KERNELS, 0)                              \
    X(launch_with_a_value_of_the_wrong_size, RONDO_INVALID, NEEDS_KERNELS, 0)                         \
    X(launch_with_a_misaligned_span, RONDO_INVALID, NEEDS_KERNELS, 0)                                 \
    X(launch_out_of_range, RONDO_RANGE, NEEDS_KERNELS, 0)                                             \
    X(launch_of_a_dead_buffer, RONDO_STALE, NEEDS_KERNELS, 0)                                         \
    X(launch_of_a_null_kernel, RONDO_STALE, NEEDS_NOTHING, 0)                                         \
    X(launch_of_a_foreign_buffer, RONDO_FOREIGN, NEEDS_KERNELS, 0)                                    \
    X(launch_of_a_host_block, RONDO_INVALID, NEEDS_KERNELS, 0)                                        \
    X(launch_with_aliased_arguments, RONDO_ALIASED, NEEDS_KERNELS, 0)                                 \
    X(launch_of_spoiled_input, RONDO_TAINTED, NEEDS_KERNELS, 0)                                       \
    X(fill_without_a_pattern, RONDO_INVALID, NEEDS_NOTHING, 0)                                        \
    X(fill_with_a_pattern_of_three_bytes, RONDO_INVALID, NEEDS_NOTHING, 0)                            \
    X(fill_out_of_range, RONDO_RANGE, NEEDS_NOTHING, 0)                                               \
    X(fill_of_no_multiple_of_the_pattern, RONDO_RANGE, NEEDS_NOTHING, 0)                              \
    X(fill_of_a_dead_buffer, RONDO_STALE, NEEDS_NOTHING, 0)                                           \
    X(fill_of_a_foreign_buffer, RONDO_FOREIGN, NEEDS_NOTHING, 0)                                      \
    X(fill_of_a_host_block, RONDO_INVALID, NEEDS_NOTHING, 0)                                          \
    X(copy_of_unequal_sizes, RONDO_RANGE, NEEDS_NOTHING, 0)                                           \
    X(copy_out_of_range, RONDO_RANGE, NEEDS_NOTHING, 0)                                               \
    X(copy_from_a_dead_buffer, RONDO_STALE, NEEDS_NOTHING, 0)                                         \
    X(copy_from_a_foreign_buffer, RONDO_FOREIGN, NEEDS_NOTHING, 0)                                    \
    X(copy_of_spoiled_input, RONDO_TAINTED, NEEDS_NOTHING, 0)                                         \
    X(copy_2d_with_a_pitch_below_its_rows, RONDO_RANGE, NEEDS_NOTHING, 0)                             \
    X(copy_2d_out_of_range, RONDO_RANGE, NEEDS_NOTHING, 0)                                            \
    X(copy_2d_of_overlapping_rectangles, RONDO_ALIASED, NEEDS_NOTHING, 0)                             \
    X(copy_2d_of_spoiled_input, RONDO_TAINTED, NEEDS_NOTHING, 0)                                      \
    X(write_of_no_data, RONDO_INVALID, NEEDS_NOTHING, 0)                                              \
    X(write_out_of_range, RONDO_RANGE, NEEDS_NOTHING, 0)                                              \
    X(write_live_from_a_device_buffer, RONDO_INVALID, NEEDS_NOTHING, 0)                               \
    X(write_live_of_unequal_sizes, RONDO_RANGE, NEEDS_NOTHING, 0)                                     \
    X(write_live_from_a_spoiled_block, RONDO_TAINTED, NEEDS_NOTHING, 0)                               \
    X(read_async_into_a_device_buffer, RONDO_INVALID, NEEDS_NOTHING, 0)                               \
    X(read_async_of_unequal_sizes, RONDO_RANGE, NEEDS_NOTHING, 0)                                     \
    X(read_async_of_spoiled_input, RONDO_TAINTED, NEEDS_NOTHING, 0)                                   \
    X(host_call_of_no_function, RONDO_INVALID, NEEDS_NOTHING, 0)                                      \
    X(host_call_with_an_unknown_mode, RONDO_INVALID, NEEDS_NOTHING, 0)                                \
    X(host_call_out_of_range, RONDO_RANGE, NEEDS_NOTHING, 0)                                          \
    X(host_call_of_a_dead_buffer, RONDO_STALE, NEEDS_NOTHING, 0)                                      \
    X(host_call_with_aliased_accesses, RONDO_ALIASED, NEEDS_NOTHING, 0)                               \
    X(host_call_of_spoiled_input, RONDO_TAINTED, NEEDS_MAP, 0)                                        \
    X(replay_of_a_dead_graph, RONDO_STALE, NEEDS_NOTHING, UNLABELLED)                                 \
    X(replay_of_spoiled_live_in, RONDO_TAINTED, NEEDS_NOTHING, UNLABELLED)                            \
    X(record_of_a_null_event, RONDO_STALE, NEEDS_NOTHING, 0)                                          \
    X(wait_for_a_null_event, RONDO_STALE, NEEDS_NOTHING, 0)                                           \
    X(wait_for_an_event_that_was_never_recorded, RONDO_STATE, NEEDS_NOTHING, 0)                       \
    X(wait_for_an_event_of_before_the_window, RONDO_STATE, NEEDS_NOTHING, 0)                          \
    X(buffer_create_without_room, RONDO_NO_ROOM, NEEDS_NOTHING, UNLABELLED)

#define DEFINE_CASE(attempt, code, needs, how)                                                        \
    static void a_##attempt##_dooms_the_window(struct conform *t) {                                   \
        doom(t, attempt, code, how);                                                                  \
    }
DOOM_CASES(DEFINE_CASE)

/* An operation that was refused in the middle is missing from the recording; its own output says so too, so that a
 * caller who ignores the code cannot read the canary that was there before. [T8] */
static void a_refused_operations_own_output_is_spoiled_after_the_seal(struct conform *t) {
    struct scene s = set_scene(t);
    open_window(s.stream);
    CHECK_OK(fill_i32(s.stream, rondo_whole(s.first), 1, "a"));
    rondo_status refused = CHECK_CODE(copy_of_unequal_sizes(&s), RONDO_RANGE);
    CHECK_OK(fill_i32(s.stream, rondo_whole(s.last), 2, "c"));
    rondo_status doomed = seal_refused(s.stream, RONDO_DOOMED);
    CHECK_SAYS(doomed, "bad");
    expect_spoiled(rondo_whole(s.out), refused);
    close_other_device(&s);
}

/* [C8] */
static void the_first_reason_wins_and_nothing_undooms(struct conform *t) {
    struct scene s = set_scene(t);
    open_window(s.stream);
    rondo_status first = CHECK_CODE(fill_out_of_range(&s), RONDO_RANGE);
    CHECK_CODE(copy_from_a_dead_buffer(&s), RONDO_STALE);
    CHECK_CODE(rondo_capture_prepare(s.stream), RONDO_STATE);
    CHECK_CODE(rondo_capture_begin(s.stream), RONDO_STATE);
    CHECK_OK(fill_i32(s.stream, rondo_whole(s.first), 1, NULL));
    CHECK_OK(fill_i32(s.stream, rondo_whole(s.out), 1, NULL));
    CHECK(window_info(s.stream).doomed_by == first);
    rondo_status doomed = seal_refused(s.stream, RONDO_DOOMED);
    CHECK(rondo_fault_root(doomed) == first);
    expect_spoiled(rondo_whole(s.first), first);
    close_other_device(&s);
}

/* [C8] */
static void a_failure_outside_the_window_dooms_nothing(struct conform *t) {
    struct scene s = set_scene(t);
    CHECK_CODE(fill_out_of_range(&s), RONDO_RANGE);
    CHECK_OK(rondo_capture_prepare(s.stream));
    CHECK_CODE(fill_out_of_range(&s), RONDO_RANGE);
    CHECK_CODE(copy_of_spoiled_input(&s), RONDO_TAINTED);
    CHECK_OK(rondo_capture_begin(s.stream));
    CHECK_EQUAL(window_info(s.stream).doomed_by, RONDO_OK);
    CHECK_OK(fill_i32(s.stream, rondo_whole(s.first), 4, NULL));
    CHECK_OK(rondo_graph_replay(seal(t, s.stream), s.stream));
    conform_expect_all_i32(t, s.first, 4, 16);
    close_other_device(&s);
}

/* [C16] Another queue's failures are its own. */
static void a_strangers_failure_dooms_nothing(struct conform *t) {
    struct scene s = set_scene(t);
    rondo_stream *stranger = conform_stranger(t, s.stream);
    open_window(s.stream);
    CHECK_OK(fill_i32(s.stream, rondo_whole(s.first), 4, NULL));
    CHECK_CODE(rondo_copy(stranger, rondo_whole(s.last), rondo_whole(s.tainted), NULL), RONDO_TAINTED);
    CHECK_CODE(fill_i32(stranger, misfit(s.last), 1, NULL), RONDO_RANGE);
    CHECK_EQUAL(window_info(s.stream).doomed_by, RONDO_OK);
    CHECK_EQUAL(graph_info(seal(t, s.stream)).nodes, 1);
    close_other_device(&s);
}

/* [C13, C8] With one queue: a neighbour's bad call is not the owner's. */
static void a_neighbours_bad_argument_dooms_nothing(struct conform *t) {
    rondo_buffer kept = conform_buffer(t, 64);
    rondo_stream *neighbour = conform_neighbour(t, t->stream);
    open_window(t->stream);
    CHECK_OK(fill_i32(t->stream, rondo_whole(kept), 4, NULL));
    CHECK(fill_i32(neighbour, misfit(kept), 1, NULL) != RONDO_OK);
    CHECK(rondo_copy(neighbour, rondo_whole(kept), rondo_whole(RONDO_NO_BUFFER), NULL) != RONDO_OK);
    CHECK_EQUAL(window_info(t->stream).doomed_by, RONDO_OK);
    CHECK_EQUAL(graph_info(seal(t, t->stream)).nodes, 1);
}

typedef rondo_status (*forbidden)(struct conform *t, rondo_buffer buffer);

static rondo_status forbidden_read(struct conform *t, rondo_buffer buffer) {
    return conform_try_read(t->stream, rondo_whole(buffer));
}
static rondo_status forbidden_sync(struct conform *t, rondo_buffer buffer) {
    (void)buffer;
    return rondo_stream_sync(t->stream);
}
static rondo_status forbidden_profile(struct conform *t, rondo_buffer buffer) {
    (void)buffer;
    return rondo_profile_start(t->stream);
}
static rondo_status forbidden_map(struct conform *t, rondo_buffer buffer) {
    void *data = NULL;
    rondo_status status = rondo_map(t->stream, rondo_whole(buffer), RONDO_READS, &data);
    CHECK(status == RONDO_OK || data == NULL);
    return status;
}
static rondo_status forbidden_device_sync(struct conform *t, rondo_buffer buffer) {
    (void)buffer;
    return rondo_device_sync(t->device);
}

/* [C14] Nothing is missing from the recording, so the window stays whole. */
static void forbid(struct conform *t, forbidden attempt) {
    rondo_buffer buffer = conform_buffer(t, 64);
    conform_fill_i32(t, buffer, 1);
    open_window(t->stream);
    CHECK_OK(fill_i32(t->stream, rondo_whole(buffer), 2, NULL));
    CHECK_CODE(attempt(t, buffer), RONDO_FORBIDDEN);
    CHECK_EQUAL(window_info(t->stream).doomed_by, RONDO_OK);
    CHECK_EQUAL(window_info(t->stream).ops, 1);
    CHECK_OK(rondo_span_status(rondo_whole(buffer)));
    rondo_graph *graph = seal(t, t->stream);
    conform_expect_all_i32(t, buffer, 1, 16);
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    conform_expect_all_i32(t, buffer, 2, 16);
}

#define FORBIDDEN_CASES(X)      \
    X(read, NEEDS_NOTHING)                                                                            \
    X(sync, NEEDS_NOTHING)                                                                            \
    X(profile, NEEDS_NOTHING)                                                                         \
    X(map, NEEDS_MAP)                                                                                 \
    X(device_sync, NEEDS_NOTHING)
#define DEFINE_FORBIDDEN(kind, needs)                                                                 \
    static void the_owners_##kind##_in_a_window_is_forbidden_and_dooms_nothing(struct conform *t) {   \
        forbid(t, forbidden_##kind);                                                                  \
    }
FORBIDDEN_CASES(DEFINE_FORBIDDEN)

/* [C14] A measurement that was started before the window cannot be ended inside it, and goes on after it. */
static void a_measurement_outlives_the_window_that_forbids_its_end(struct conform *t) {
    rondo_buffer buffer = conform_buffer(t, 64);
    uint64_t elapsed_ns = 0;
    CHECK_OK(rondo_profile_start(t->stream));
    open_window(t->stream);
    CHECK_OK(fill_i32(t->stream, rondo_whole(buffer), 2, NULL));
    CHECK_CODE(rondo_profile_end(t->stream, &elapsed_ns), RONDO_FORBIDDEN);
    CHECK_OK(rondo_graph_replay(seal(t, t->stream), t->stream));
    CHECK_OK(rondo_profile_end(t->stream, &elapsed_ns));
}

/* [P2, E5] A kernel that is going to fail is no reason to refuse: recorded work did not run yet. */
static void a_recorded_host_call_that_will_fail_dooms_nothing(struct conform *t) {
    rondo_buffer flag = conform_buffer(t, 4), out = conform_buffer(t, 64);
    conform_fill_i32(t, flag, 1);
    conform_fill_i32(t, out, 3);
    open_window(t->stream);
    CHECK_OK(fail_if(t->stream, rondo_whole(out), rondo_whole(flag), "will fail"));
    rondo_graph *graph = seal(t, t->stream);
    conform_expect_all_i32(t, out, 3, 16);
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    expect_spoiled_by(rondo_whole(out), RONDO_KERNEL);
}

#define LIST_CASE(attempt, code, needs, how) CONFORM_CASE(a_##attempt##_dooms_the_window, needs),
#define LIST_FORBIDDEN(kind, needs) CONFORM_CASE(the_owners_##kind##_in_a_window_is_forbidden_and_dooms_nothing, needs),

const struct conform_case conform_capture_doom_cases[] = {
    DOOM_CASES(LIST_CASE)
    CONFORM_CASE(a_refused_operations_own_output_is_spoiled_after_the_seal, NEEDS_NOTHING),
    CONFORM_CASE(the_first_reason_wins_and_nothing_undooms, NEEDS_NOTHING),
    CONFORM_CASE(a_failure_outside_the_window_dooms_nothing, NEEDS_NOTHING),
    CONFORM_CASE(a_strangers_failure_dooms_nothing, NEEDS_NOTHING),
    CONFORM_CASE_ON(a_neighbours_bad_argument_dooms_nothing, NEEDS_NOTHING, &ONE_QUEUE),
    FORBIDDEN_CASES(LIST_FORBIDDEN)
    CONFORM_CASE(a_measurement_outlives_the_window_that_forbids_its_end, NEEDS_NOTHING),
    CONFORM_CASE(a_recorded_host_call_that_will_fail_dooms_nothing, NEEDS_MAP),
    CONFORM_END,
};
