/* One call that warms up, records and seals, and unwinds on every way out. */
#include "capture_tools.h"

/* A step that moves its state in place and can be told to misbehave at its n-th call. */
struct step {
    rondo_buffer state, out;
    int calls;
    int misbehave_at; /* 0: never */
    rondo_status (*misbehave)(rondo_stream *stream, struct step *step);
};

static rondo_status play(rondo_stream *stream, void *user) {
    struct step *step = user;
    step->calls += 1;
    rondo_status status = add_in_place(stream, rondo_whole(step->state), NULL, "state");
    if (!status && step->calls == step->misbehave_at) status = step->misbehave(stream, step);
    if (!status) status = rondo_copy(stream, rondo_whole(step->out), rondo_whole(step->state), "out");
    return status;
}

static struct step new_step(struct conform *t) {
    struct step step = {.state = conform_buffer(t, 64), .out = conform_buffer(t, 64)};
    conform_fill_i32(t, step.state, 0);
    conform_fill_i32(t, step.out, -1);
    return step;
}

/* [C21] */
static void a_captured_step_has_had_its_effect_once(struct conform *t) {
    struct step step = new_step(t);
    rondo_graph *graph = capture_step(t, t->stream, play, &step);
    CHECK_EQUAL(step.calls, 2);
    CHECK(!rondo_stream_is_capturing(t->stream));
    conform_expect_all_i32(t, step.state, 1, 16);
    conform_expect_all_i32(t, step.out, 1, 16);
    for (int i = 2; i < 6; i++) {
        CHECK_OK(rondo_graph_replay(graph, t->stream));
        conform_expect_all_i32(t, step.state, i, 16);
        conform_expect_all_i32(t, step.out, i, 16);
    }
    CHECK_EQUAL(step.calls, 2);
}

static rondo_status return_an_error(rondo_stream *stream, struct step *step) {
    (void)stream;
    (void)step;
    rondo_device *device = NULL;
    return rondo_device_open(NULL, NULL, &device); /* any status that is not OK */
}

static rondo_graph *const NOT_NULL = (rondo_graph *)(uintptr_t)8;

/* The step misbehaves at its n-th call; the capture fails with `code` and leaves nothing open. */
static rondo_status step_refused(struct conform *t, struct step *step, rondo_code code) {
    rondo_graph *graph = NOT_NULL;
    rondo_status status = CHECK_CODE(rondo_capture_step(t->stream, play, step, &graph), code);
    CHECK(graph == NULL);
    CHECK_EQUAL(rondo_capture_phase(t->stream), RONDO_PHASE_NONE);
    CHECK(!rondo_device_is_recording(t->device));
    return status;
}

/* [C21] */
static void a_warm_up_that_fails_unwinds_the_capture(struct conform *t) {
    struct step step = new_step(t);
    step.misbehave_at = 1;
    step.misbehave = return_an_error;
    step_refused(t, &step, RONDO_INVALID);
    CHECK_EQUAL(step.calls, 1);
    conform_expect_all_i32(t, step.state, 1, 16);
    conform_expect_all_i32(t, step.out, -1, 16);
    check_stream_works(t, t->stream);
}

/* [C21, C9] */
static void a_step_that_fails_only_while_it_is_recorded_unwinds_the_capture(struct conform *t) {
    struct step step = new_step(t);
    step.misbehave_at = 2;
    step.misbehave = return_an_error;
    step_refused(t, &step, RONDO_INVALID);
    CHECK_EQUAL(step.calls, 2);
    conform_expect_all_i32(t, step.out, 1, 16);
    CHECK_CODE(rondo_span_status(rondo_whole(step.state)), RONDO_TAINTED);
    conform_fill_i32(t, step.state, 0);
    step.misbehave_at = 0;
    capture_step(t, t->stream, play, &step);
    conform_expect_all_i32(t, step.out, 1, 16);
}

static rondo_status ignore_a_refusal(rondo_stream *stream, struct step *step) {
    (void)!fill_i32(stream, rondo_slice(step->out, 60, 8), 1, "ignored");
    return RONDO_OK;
}

/* [P2, C21] A step that does not look at its codes gets no graph with a hole in it. */
static void a_step_that_ignores_a_refusal_gets_no_graph(struct conform *t) {
    struct step step = new_step(t);
    step.misbehave_at = 2;
    step.misbehave = ignore_a_refusal;
    rondo_status doomed = step_refused(t, &step, RONDO_DOOMED);
    CHECK_SAYS(doomed, "ignored");
    expect_spoiled_by(rondo_whole(step.out), RONDO_RANGE);
}

static rondo_status read_the_result(rondo_stream *stream, struct step *step) {
    return conform_try_read(stream, rondo_whole(step->state));
}

/* [C14, C21] */
static void a_step_that_reads_gets_no_graph_and_the_reason(struct conform *t) {
    struct step step = new_step(t);
    step.misbehave_at = 2;
    step.misbehave = read_the_result;
    step_refused(t, &step, RONDO_FORBIDDEN);
    check_stream_works(t, t->stream);
}

static rondo_status end_the_window(rondo_stream *stream, struct step *step) {
    (void)step;
    rondo_graph *graph = NULL;
    rondo_status status = rondo_capture_end(stream, RONDO_END_DEFAULT, &graph);
    rondo_graph_release(graph);
    return rondo_status_code(status) == RONDO_STATE ? RONDO_OK : status;
}

/* The abort claims the state, which the rest of the step reads: it is written anew, so only the abort is at fault. */
static rondo_status abort_the_window(rondo_stream *stream, struct step *step) {
    rondo_status status = rondo_capture_abort(stream);
    return status ? status : fill_i32(stream, rondo_whole(step->state), 0, NULL);
}

static rondo_status open_a_window(rondo_stream *stream, struct step *step) {
    (void)step;
    rondo_status status = rondo_capture_begin(stream);
    return rondo_status_code(status) == RONDO_STATE ? RONDO_OK : status;
}

/* [C21] */
static void a_step_that_ends_or_opens_a_capture_itself_is_refused(struct conform *t) {
    static rondo_status (*const ways[])(rondo_stream *, struct step *) = {end_the_window, abort_the_window,
                                                                          open_a_window};
    for (size_t way = 0; way < COUNT_OF(ways); way++) {
        for (int at = 1; at <= 2; at++) {
            if (ways[way] == open_a_window && at == 2) continue; /* refused with STATE there, which changes nothing */
            struct step step = new_step(t);
            step.misbehave_at = at;
            step.misbehave = ways[way];
            step_refused(t, &step, RONDO_STATE);
            check_stream_works(t, t->stream);
        }
    }
}

/* The step gives up the window that it is recorded in and opens one of its own. */
static rondo_status swap_the_window(rondo_stream *stream, struct step *step) {
    rondo_status status = abort_the_window(stream, step);
    if (!status) status = rondo_capture_prepare(stream);
    return status ? status : rondo_capture_begin(stream);
}

/* [C21] The step's own window is the step's business, and never becomes the graph that was asked for. */
static void a_step_that_swaps_the_window_gets_no_graph(struct conform *t) {
    struct step step = new_step(t);
    step.misbehave_at = 2;
    step.misbehave = swap_the_window;
    rondo_graph *graph = NOT_NULL;
    CHECK_CODE(rondo_capture_step(t->stream, play, &step, &graph), RONDO_STATE);
    CHECK(graph == NULL);
    CHECK_OK(rondo_capture_abort(t->stream));
    check_stream_works(t, t->stream);
}

static rondo_status do_nothing(rondo_stream *stream, void *user) {
    (void)stream;
    (void)user;
    return RONDO_OK;
}

/* [C21, C23] */
static void a_step_without_work_is_refused_as_empty(struct conform *t) {
    rondo_graph *graph = NOT_NULL;
    CHECK_CODE(rondo_capture_step(t->stream, do_nothing, NULL, &graph), RONDO_EMPTY);
    CHECK(graph == NULL);
    check_stream_works(t, t->stream);
}

/* [C21, C1] */
static void a_step_cannot_be_captured_inside_a_capture(struct conform *t) {
    struct step step = new_step(t);
    CHECK_OK(rondo_capture_prepare(t->stream));
    rondo_graph *graph = NOT_NULL;
    CHECK_CODE(rondo_capture_step(t->stream, play, &step, &graph), RONDO_STATE);
    CHECK(graph == NULL);
    CHECK_EQUAL(step.calls, 0);
    CHECK_EQUAL(rondo_capture_phase(t->stream), RONDO_PHASE_PREPARED);
    CHECK_OK(rondo_capture_begin(t->stream));
    CHECK_CODE(rondo_capture_step(t->stream, play, &step, &graph), RONDO_STATE);
    CHECK_EQUAL(rondo_capture_phase(t->stream), RONDO_PHASE_RECORDING);
    CHECK_EQUAL(window_info(t->stream).ops, 0);
    CHECK_OK(rondo_capture_abort(t->stream));
}

/* [E2] */
static void a_step_capture_with_bad_arguments_runs_nothing(struct conform *t) {
    struct step step = new_step(t);
    rondo_graph *graph = NOT_NULL;
    CHECK_CODE(rondo_capture_step(t->stream, play, &step, NULL), RONDO_INVALID);
    CHECK_CODE(rondo_capture_step(t->stream, NULL, &step, &graph), RONDO_INVALID);
    CHECK(graph == NULL);
    CHECK_CODE(rondo_capture_step(NULL, play, &step, &graph), RONDO_STALE);
    CHECK_EQUAL(step.calls, 0);
    conform_expect_all_i32(t, step.state, 0, 16);
}

const struct conform_case conform_run_step_cases[] = {
    CONFORM_CASE(a_captured_step_has_had_its_effect_once, NEEDS_MAP),
    CONFORM_CASE(a_warm_up_that_fails_unwinds_the_capture, NEEDS_MAP),
    CONFORM_CASE(a_step_that_fails_only_while_it_is_recorded_unwinds_the_capture, NEEDS_MAP),
    CONFORM_CASE(a_step_that_ignores_a_refusal_gets_no_graph, NEEDS_MAP),
    CONFORM_CASE(a_step_that_reads_gets_no_graph_and_the_reason, NEEDS_MAP),
    CONFORM_CASE(a_step_that_ends_or_opens_a_capture_itself_is_refused, NEEDS_MAP),
    CONFORM_CASE(a_step_that_swaps_the_window_gets_no_graph, NEEDS_MAP),
    CONFORM_CASE(a_step_without_work_is_refused_as_empty, NEEDS_NOTHING),
    CONFORM_CASE(a_step_cannot_be_captured_inside_a_capture, NEEDS_NOTHING),
    CONFORM_CASE(a_step_capture_with_bad_arguments_runs_nothing, NEEDS_NOTHING),
    CONFORM_END,
};
