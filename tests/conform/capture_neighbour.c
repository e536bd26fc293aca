/* One queue, one window, and the streams that do not own it: refused, abandoned, and never in the owner's way. */
#include <inttypes.h>

#include "capture_tools.h"

/* What a neighbour works with; everything is good and filled before the window opens. */
struct scene {
    struct conform *t;
    rondo_stream *owner, *neighbour;
    rondo_buffer in, out, kept, block;
    rondo_event *event;
    rondo_graph *graph; /* fills `out` */
};

static struct scene set_scene(struct conform *t, bool stranger) {
    struct scene s = {.t = t, .owner = t->stream};
    s.neighbour = stranger ? conform_stranger(t, t->stream) : conform_neighbour(t, t->stream);
    s.in = conform_buffer(t, 64);
    s.out = conform_buffer(t, 64);
    s.kept = conform_buffer(t, 64);
    s.block = conform_host_block(t, 64);
    s.event = conform_event(t);
    conform_fill_i32(t, s.in, 1);
    conform_fill_i32(t, s.out, 2);
    conform_fill_i32(t, s.kept, 3);
    CHECK_OK(rondo_event_record(s.neighbour, s.event, NULL));
    open_window(s.neighbour);
    CHECK_OK(fill_i32(s.neighbour, rondo_whole(s.out), 8, NULL));
    s.graph = seal(t, s.neighbour);
    return s;
}

/* The attempts; each writes s->out, s->block or nothing. */

static rondo_status try_fill(const struct scene *s) {
    return fill_i32(s->neighbour, rondo_whole(s->out), 5, "theirs");
}
static rondo_status try_copy(const struct scene *s) {
    return rondo_copy(s->neighbour, rondo_whole(s->out), rondo_whole(s->in), "theirs");
}
static rondo_status try_copy_2d(const struct scene *s) {
    rondo_rect target = {rondo_whole(s->out), 16}, source = {rondo_whole(s->in), 16};
    return rondo_copy_2d(s->neighbour, target, source, 16, 4, "theirs");
}
static rondo_status try_write(const struct scene *s) {
    int32_t values[16] = {0};
    return rondo_write(s->neighbour, rondo_whole(s->out), values, "theirs");
}
static rondo_status try_write_live(const struct scene *s) {
    return rondo_write_live(s->neighbour, rondo_whole(s->out), rondo_whole(s->block), "theirs");
}
static rondo_status try_host_call(const struct scene *s) {
    const rondo_host_access access = {exact(rondo_whole(s->out)), RONDO_WRITES, NULL};
    return rondo_host_call(s->neighbour, host_nothing, NULL, NULL, &access, 1, "theirs");
}
static rondo_status try_launch(const struct scene *s) {
    return conform_launch_copy(s->t, s->neighbour, rondo_whole(s->out), rondo_whole(s->in), 16, "theirs");
}
static rondo_status try_replay(const struct scene *s) {
    return rondo_graph_replay(s->graph, s->neighbour);
}
static rondo_status try_read_async(const struct scene *s) {
    return rondo_read_async(s->neighbour, rondo_whole(s->in), rondo_whole(s->block), "theirs");
}
static rondo_status try_read(const struct scene *s) {
    return conform_try_read(s->neighbour, rondo_whole(s->in));
}
static rondo_status try_sync(const struct scene *s) {
    return rondo_stream_sync(s->neighbour);
}
static rondo_status try_profile(const struct scene *s) {
    rondo_status status = rondo_profile_start(s->neighbour);
    uint64_t elapsed_ns = 0;
    return status ? status : rondo_profile_end(s->neighbour, &elapsed_ns);
}
static rondo_status try_map(const struct scene *s) {
    void *data = NULL;
    rondo_status status = rondo_map(s->neighbour, rondo_whole(s->in), RONDO_READS, &data);
    return status ? status : rondo_unmap(s->neighbour, rondo_whole(s->in));
}
static rondo_status try_event_record(const struct scene *s) {
    return rondo_event_record(s->neighbour, s->event, "theirs");
}
static rondo_status try_event_wait(const struct scene *s) {
    return rondo_event_wait(s->neighbour, s->event, "theirs");
}

enum claim { CLAIMS_OUT, CLAIMS_BLOCK, CLAIMS_NOTHING };

/* [C13, T8] The neighbour is refused and its output claimed; the owner's window neither holds nor minds it. */
static void refuse_neighbour(struct conform *t, rondo_status (*attempt)(const struct scene *), enum claim claim) {
    struct scene s = set_scene(t, false);
    CHECK_OK(rondo_capture_prepare(s.owner));
    CHECK_OK(rondo_capture_begin(s.owner));
    CHECK_OK(fill_i32(s.owner, rondo_whole(s.kept), 4, "ours"));
    rondo_status refused = CHECK_CODE(attempt(&s), RONDO_BUSY);
    CHECK_EQUAL(window_info(s.owner).ops, 1);
    CHECK_EQUAL(window_info(s.owner).doomed_by, RONDO_OK);
    if (claim == CLAIMS_OUT) expect_spoiled(rondo_whole(s.out), refused);
    if (claim == CLAIMS_BLOCK) expect_spoiled(rondo_whole(s.block), refused);
    CHECK_OK(rondo_span_status(rondo_whole(s.in)));
    rondo_graph *graph = seal(t, s.owner);
    CHECK_EQUAL(graph_info(graph).nodes, 1);
    if (claim != CLAIMS_OUT) conform_expect_all_i32(t, s.out, 2, 16);
    CHECK_OK(rondo_graph_replay(graph, s.owner));
    conform_expect_all_i32(t, s.kept, 4, 16);
    CHECK_OK(fill_i32(s.neighbour, rondo_whole(s.out), 6, NULL));
    conform_expect_all_i32(t, s.out, 6, 16);
}

/* [C16] The same work from a stream on another queue runs at once. */
static void accept_stranger(struct conform *t, rondo_status (*attempt)(const struct scene *)) {
    struct scene s = set_scene(t, true);
    open_window(s.owner);
    CHECK_OK(fill_i32(s.owner, rondo_whole(s.kept), 4, "ours"));
    CHECK_OK(attempt(&s));
    CHECK_OK(rondo_span_status(rondo_whole(s.out)));
    CHECK_OK(rondo_host_wait(s.block));
    CHECK_EQUAL(window_info(s.owner).ops, 1);
    CHECK_EQUAL(graph_info(seal(t, s.owner)).nodes, 1);
}

#define NEIGHBOUR_CASES(X)                                                                  \
    X(fill, CLAIMS_OUT, NEEDS_NOTHING)                                                      \
    X(copy, CLAIMS_OUT, NEEDS_NOTHING)                                                      \
    X(copy_2d, CLAIMS_OUT, NEEDS_NOTHING)                                                   \
    X(write, CLAIMS_OUT, NEEDS_NOTHING)                                                     \
    X(write_live, CLAIMS_OUT, NEEDS_NOTHING)                                                \
    X(host_call, CLAIMS_OUT, NEEDS_MAP)                                                     \
    X(launch, CLAIMS_OUT, NEEDS_KERNELS)                                                    \
    X(replay, CLAIMS_OUT, NEEDS_NOTHING)                                                    \
    X(read_async, CLAIMS_BLOCK, NEEDS_NOTHING)                                              \
    X(read, CLAIMS_NOTHING, NEEDS_NOTHING)                                                  \
    X(sync, CLAIMS_NOTHING, NEEDS_NOTHING)                                                  \
    X(profile, CLAIMS_NOTHING, NEEDS_NOTHING)                                               \
    X(map, CLAIMS_NOTHING, NEEDS_MAP)                                                       \
    X(event_record, CLAIMS_NOTHING, NEEDS_NOTHING)                                          \
    X(event_wait, CLAIMS_NOTHING, NEEDS_NOTHING)

#define DEFINE_CASE(kind, claim, needs)                                                     \
    static void a_neighbours_##kind##_during_a_window_is_busy(struct conform *t) {          \
        refuse_neighbour(t, try_##kind, claim);                                             \
    }                                                                                       \
    static void a_strangers_##kind##_during_a_window_runs(struct conform *t) {              \
        accept_stranger(t, try_##kind);                                                     \
    }
NEIGHBOUR_CASES(DEFINE_CASE)

/* [C13, C15] What a refused neighbour claimed is spoiled for the owner too. */
static void an_owner_that_reads_what_a_refused_neighbour_claimed_dooms_its_window(struct conform *t) {
    struct scene s = set_scene(t, false);
    open_window(s.owner);
    rondo_status refused = CHECK_CODE(try_fill(&s), RONDO_BUSY);
    rondo_status skipped =
        CHECK_CODE(rondo_copy(s.owner, rondo_whole(s.kept), rondo_whole(s.out), "reader"), RONDO_TAINTED);
    CHECK(rondo_fault_root(skipped) == refused);
    rondo_status doomed = seal_refused(s.owner, RONDO_DOOMED);
    CHECK_SAYS(doomed, "reader");
    CHECK_CODE(rondo_span_status(rondo_whole(s.kept)), RONDO_TAINTED);
}

/* [C13, C15] Its neighbour case: the owner writes the bytes first, so they are good when the graph reads them. */
static void an_owner_that_writes_what_a_refused_neighbour_claimed_may_read_it(struct conform *t) {
    struct scene s = set_scene(t, false);
    open_window(s.owner);
    CHECK_CODE(try_fill(&s), RONDO_BUSY);
    CHECK_OK(fill_i32(s.owner, rondo_whole(s.out), 11, NULL));
    CHECK_OK(rondo_copy(s.owner, rondo_whole(s.kept), rondo_whole(s.out), NULL));
    rondo_graph *graph = seal(t, s.owner);
    CHECK_CODE(rondo_span_status(rondo_whole(s.out)), RONDO_TAINTED);
    CHECK_OK(rondo_graph_replay(graph, s.owner));
    conform_expect_all_i32(t, s.kept, 11, 16);
    conform_expect_all_i32(t, s.out, 11, 16);
}

/* [C3, C13] While the capture is only prepared everybody on the queue works. */
static void a_neighbour_works_while_the_capture_is_only_prepared(struct conform *t) {
    struct scene s = set_scene(t, false);
    CHECK_OK(rondo_capture_prepare(s.owner));
    CHECK_OK(try_copy(&s));
    CHECK_OK(try_write(&s));
    CHECK_OK(try_replay(&s));
    CHECK_OK(try_sync(&s));
    conform_expect_all_i32(t, s.out, 8, 16);
    CHECK_OK(rondo_capture_begin(s.owner));
    CHECK_EQUAL(window_info(s.owner).ops, 0);
    CHECK_OK(rondo_capture_abort(s.owner));
}

/* [C10] */
static void an_end_by_a_neighbour_abandons_the_window_and_names_its_owner(struct conform *t) {
    struct scene s = set_scene(t, false);
    open_window(s.owner);
    CHECK_OK(fill_i32(s.owner, rondo_whole(s.kept), 4, "ours"));
    rondo_graph *graph = NULL;
    rondo_status status = CHECK_CODE(rondo_capture_end(s.neighbour, RONDO_END_DEFAULT, &graph), RONDO_ABANDONED);
    CHECK(graph == NULL);
    check_says_number(status, rondo_stream_id(s.owner));
    CHECK(!rondo_stream_is_capturing(s.owner));
    CHECK(!rondo_device_is_recording(t->device));
    expect_spoiled_by(rondo_whole(s.kept), RONDO_ABANDONED);
    seal_refused(s.owner, RONDO_STATE);
    CHECK_OK(rondo_span_status(rondo_whole(s.in)));
    check_stream_works(t, s.owner);
    check_stream_works(t, s.neighbour);
}

/* [C10] The neighbour's flags make no difference: an abandoned window is no empty graph either. */
static void an_abandoned_empty_window_makes_no_graph(struct conform *t) {
    rondo_stream *neighbour = conform_neighbour(t, t->stream);
    rondo_graph *graph = NULL;
    open_window(t->stream);
    CHECK_CODE(rondo_capture_end(neighbour, RONDO_END_ALLOW_EMPTY, &graph), RONDO_ABANDONED);
    CHECK(graph == NULL);
    check_stream_works(t, t->stream);
}

/* [C8, C10] */
static void an_abandoned_window_still_tells_what_had_doomed_it(struct conform *t) {
    struct scene s = set_scene(t, false);
    open_window(s.owner);
    CHECK_OK(fill_i32(s.owner, rondo_whole(s.kept), 4, NULL));
    CHECK_CODE(rondo_fill(s.owner, rondo_slice(s.kept, 0, 68), "\1\2\3\4", 4, "the bad one"), RONDO_RANGE);
    rondo_graph *graph = NULL;
    rondo_status status = CHECK_CODE(rondo_capture_end(s.neighbour, RONDO_END_DEFAULT, &graph), RONDO_ABANDONED);
    CHECK_SAYS(status, "the bad one");
    check_says_number(status, rondo_stream_id(s.owner));
    CHECK_CODE(rondo_span_status(rondo_whole(s.kept)), RONDO_TAINTED);
}

/* [C10] After an abandoned window anyone on the queue may open the next one, the late owner included. */
static void a_late_owner_can_capture_again_after_an_abandoned_window(struct conform *t) {
    struct scene s = set_scene(t, false);
    rondo_graph *none = NULL;
    open_window(s.owner);
    CHECK_OK(fill_i32(s.owner, rondo_whole(s.kept), 4, NULL));
    CHECK_CODE(rondo_capture_end(s.neighbour, RONDO_END_DEFAULT, &none), RONDO_ABANDONED);
    open_window(s.owner);
    CHECK_OK(fill_i32(s.owner, rondo_whole(s.kept), 12, NULL));
    CHECK_OK(rondo_graph_replay(seal(t, s.owner), s.owner));
    conform_expect_all_i32(t, s.kept, 12, 16);
}

#define LIST_CASE(kind, claim, needs)                                                       \
    CONFORM_CASE_ON(a_neighbours_##kind##_during_a_window_is_busy, needs, &ONE_QUEUE),                 \
    CONFORM_CASE(a_strangers_##kind##_during_a_window_runs, needs),

const struct conform_case conform_capture_neighbour_cases[] = {
    NEIGHBOUR_CASES(LIST_CASE)
    CONFORM_CASE_ON(an_owner_that_reads_what_a_refused_neighbour_claimed_dooms_its_window, NEEDS_NOTHING, &ONE_QUEUE),
    CONFORM_CASE_ON(an_owner_that_writes_what_a_refused_neighbour_claimed_may_read_it, NEEDS_NOTHING, &ONE_QUEUE),
    CONFORM_CASE_ON(a_neighbour_works_while_the_capture_is_only_prepared, NEEDS_NOTHING, &ONE_QUEUE),
    CONFORM_CASE_ON(an_end_by_a_neighbour_abandons_the_window_and_names_its_owner, NEEDS_NOTHING, &ONE_QUEUE),
    CONFORM_CASE_ON(an_abandoned_empty_window_makes_no_graph, NEEDS_NOTHING, &ONE_QUEUE),
    CONFORM_CASE_ON(an_abandoned_window_still_tells_what_had_doomed_it, NEEDS_NOTHING, &ONE_QUEUE),
    CONFORM_CASE_ON(a_late_owner_can_capture_again_after_an_abandoned_window, NEEDS_NOTHING, &ONE_QUEUE),
    CONFORM_END,
};
