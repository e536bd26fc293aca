/* A host call of one stream that issues work on another one which records: the call is refused, and so the recording
 * lacks something. */
#include "capture_tools.h"

struct inside {
    struct conform *t;
    rondo_stream *recording;
    rondo_buffer buffer;
    rondo_status (*issue)(const struct inside *inside);
    rondo_status got;
};

static rondo_status issue_fill(const struct inside *inside) {
    return fill_i32(inside->recording, rondo_whole(inside->buffer), 9, "from inside");
}
static rondo_status issue_write(const struct inside *inside) {
    int32_t words[16] = {0};
    return rondo_write(inside->recording, rondo_whole(inside->buffer), words, "from inside");
}
static rondo_status issue_host_call(const struct inside *inside) {
    return rondo_host_call(inside->recording, host_nothing, NULL, NULL, NULL, 0, "from inside");
}
static rondo_status issue_reservation(const struct inside *inside) {
    rondo_buffer buffer;
    return rondo_buffer_create(inside->recording, 64, RONDO_USAGE_GENERAL, &buffer);
}
static rondo_status issue_sync(const struct inside *inside) {
    return rondo_stream_sync(inside->recording);
}
static rondo_status issue_question(const struct inside *inside) {
    rondo_window_info info;
    return rondo_capture_get_info(inside->recording, &info);
}

static int run_inside(void *user, const rondo_host_access *accesses, size_t count) {
    struct inside *inside = user;
    (void)accesses, (void)count;
    inside->got = inside->issue(inside);
    return 0;
}

/* The fixture's stream records; a host call of a stream on another queue issues. */
static struct inside issue_from_inside(struct conform *t, rondo_status (*issue)(const struct inside *inside)) {
    struct inside inside = {.t = t, .recording = t->stream, .issue = issue};
    rondo_stream *other = conform_stranger(t, t->stream);
    inside.buffer = conform_buffer(t, 64);
    conform_fill_i32(t, inside.buffer, 1);
    open_window(t->stream);
    CHECK_OK(fill_i32(t->stream, rondo_whole(inside.buffer), 2, NULL));
    CHECK_OK(rondo_host_call(other, run_inside, &inside, NULL, NULL, 0, NULL));
    CHECK_CODE(inside.got, RONDO_REENTRANT);
    return inside;
}

/* [P2, C8] */
static void work_that_is_refused_inside_of_other_work_dooms_the_window_it_belongs_to(struct conform *t) {
    static rondo_status (*const works[])(const struct inside *) = {issue_fill, issue_write, issue_host_call,
                                                                   issue_reservation};
    for (size_t i = 0; i < COUNT_OF(works); i++) {
        struct inside inside = issue_from_inside(t, works[i]);
        CHECK(window_info(t->stream).doomed_by == inside.got);
        rondo_status refused = seal_refused(t->stream, RONDO_DOOMED);
        CHECK(rondo_fault_root(refused) == inside.got);
        expect_spoiled_by(rondo_whole(inside.buffer), RONDO_REENTRANT);
        check_stream_works(t, t->stream);
    }
}

/* [C8] */
static void the_first_reason_wins_wherever_it_comes_from(struct conform *t) {
    struct inside inside = issue_from_inside(t, issue_fill);
    CHECK_CODE(fill_i32(t->stream, rondo_slice(inside.buffer, 0, 65), 3, NULL), RONDO_RANGE);
    CHECK(rondo_fault_root(seal_refused(t->stream, RONDO_DOOMED)) == inside.got);
}

/* The fixture's stream records this step, in which another stream's host call issues to it. */
struct step {
    struct inside inside;
    rondo_stream *other;
};

static rondo_status step_with_work_inside(rondo_stream *stream, void *user) {
    struct step *step = user;
    rondo_status status = fill_i32(stream, rondo_whole(step->inside.buffer), 5, NULL);
    if (status) return status;
    return rondo_host_call(step->other, run_inside, &step->inside, NULL, NULL, 0, NULL);
}

/* [P2, C21] */
static void a_step_that_is_captured_in_one_call_is_doomed_in_the_same_way(struct conform *t) {
    struct step step = {.inside = {.t = t, .recording = t->stream, .issue = issue_fill},
                        .other = conform_stranger(t, t->stream)};
    rondo_graph *graph;
    step.inside.buffer = conform_buffer(t, 64);
    rondo_status status = CHECK_CODE(rondo_capture_step(t->stream, step_with_work_inside, &step, &graph), RONDO_DOOMED);
    CHECK(graph == NULL);
    CHECK(rondo_fault_root(status) == step.inside.got);
    CHECK_CODE(step.inside.got, RONDO_REENTRANT);
}

/* [C14] A question, or a wait, is no work. */
static void what_would_not_have_been_recorded_dooms_nothing_from_inside_either(struct conform *t) {
    static rondo_status (*const questions[])(const struct inside *) = {issue_sync, issue_question};
    for (size_t i = 0; i < COUNT_OF(questions); i++) {
        (void)issue_from_inside(t, questions[i]);
        CHECK(window_info(t->stream).doomed_by == RONDO_OK);
        rondo_graph *graph = seal(t, t->stream);
        CHECK_OK(rondo_graph_replay(graph, t->stream));
    }
}

/* [C8] Neither the next window nor one of another stream hears of it. */
static void a_refusal_inside_dooms_no_other_window(struct conform *t) {
    struct inside inside = issue_from_inside(t, issue_fill);
    (void)seal_refused(t->stream, RONDO_DOOMED);
    conform_fill_i32(t, inside.buffer, 1);
    open_window(t->stream);
    CHECK_OK(fill_i32(t->stream, rondo_whole(inside.buffer), 6, NULL));
    rondo_graph *graph = seal(t, t->stream);
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    conform_expect_all_i32(t, inside.buffer, 6, 16);
}

const struct conform_case conform_capture_inside_cases[] = {
    CONFORM_CASE(work_that_is_refused_inside_of_other_work_dooms_the_window_it_belongs_to, NEEDS_NOTHING),
    CONFORM_CASE(the_first_reason_wins_wherever_it_comes_from, NEEDS_NOTHING),
    CONFORM_CASE(a_step_that_is_captured_in_one_call_is_doomed_in_the_same_way, NEEDS_NOTHING),
    CONFORM_CASE(what_would_not_have_been_recorded_dooms_nothing_from_inside_either, NEEDS_NOTHING),
    CONFORM_CASE(a_refusal_inside_dooms_no_other_window, NEEDS_NOTHING),
    CONFORM_END,
};
