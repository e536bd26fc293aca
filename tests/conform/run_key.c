/* Running a step by key: eager, captured, replayed, or eager again for a reason; always with the effect of one step. */
#include "capture_tools.h"

struct step {
    rondo_buffer state;
    rondo_event *event; /* waited for in the step if not NULL, which no window accepts */
    bool ignore;        /* what the wait returned */
    rondo_status fails; /* returned after the work */
    int calls;
};

static rondo_status play(rondo_stream *stream, void *user) {
    struct step *step = user;
    step->calls += 1;
    rondo_status status = add_in_place(stream, rondo_whole(step->state), NULL, "state");
    if (!status && step->event) {
        status = rondo_event_wait(stream, step->event, "outside");
        if (step->ignore) status = RONDO_OK;
    }
    return status ? status : step->fails;
}

static struct step new_step(struct conform *t) {
    struct step step = {.state = conform_buffer(t, 64)};
    conform_fill_i32(t, step.state, 0);
    return step;
}

static rondo_run_info run(struct conform *t, uint64_t key, struct step *step) {
    rondo_run_info info;
    CHECK_OK(rondo_run(t->stream, key, play, step, &info));
    return info;
}

/* [C21] */
static void each_call_has_the_effect_of_one_step_in_every_mode(struct conform *t) {
    static const rondo_run_mode modes[] = {RONDO_RUN_EAGER, RONDO_RUN_CAPTURED, RONDO_RUN_REPLAYED, RONDO_RUN_REPLAYED,
                                           RONDO_RUN_REPLAYED};
    struct step step = new_step(t);
    for (size_t i = 0; i < COUNT_OF(modes); i++) {
        rondo_run_info info = run(t, 1, &step);
        CHECK_EQUAL(info.last_mode, modes[i]);
        conform_expect_all_i32(t, step.state, (int32_t)i + 1, 16);
        CHECK_EQUAL(info.eager + info.captured + info.replayed + info.fallbacks, i + 1);
        CHECK_EQUAL(info.fallback_reason, RONDO_OK);
    }
    CHECK_EQUAL(step.calls, 2);
    CHECK_EQUAL(conform_stats(t).run_fallbacks, 0);
    CHECK_OK(rondo_run_forget(t->stream, 1));
}

/* [C21] A step that makes and drops temporaries and uploads is a step like any other. */
static rondo_status play_with_temporaries(rondo_stream *stream, void *user) {
    struct step *step = user;
    rondo_buffer temporary = RONDO_NO_BUFFER;
    const int32_t ones[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    rondo_status status = rondo_buffer_create(stream, 5u << 20, RONDO_USAGE_GENERAL, &temporary);
    if (!status) status = rondo_write(stream, rondo_slice(temporary, 0, 64), ones, NULL);
    if (!status) status = add_in_place(stream, rondo_whole(step->state), NULL, NULL);
    if (!status) status = rondo_copy(stream, rondo_slice(step->state, 0, 4), rondo_slice(temporary, 0, 4), NULL);
    rondo_buffer_release(temporary);
    return status;
}

static void a_step_with_temporaries_and_uploads_runs_in_every_mode(struct conform *t) {
    struct step step = new_step(t);
    for (int32_t i = 1; i < 20; i++) {
        rondo_run_info info;
        CHECK_OK(rondo_device_trim(t->device, NULL)); /* the room of the first run is gone before the second records */
        CHECK_OK(rondo_run(t->stream, 9, play_with_temporaries, &step, &info));
        CHECK_EQUAL(info.fallbacks, 0);
        CHECK_EQUAL(conform_read_i32(t, step.state, 0), 1);
        CHECK_EQUAL(conform_read_i32(t, step.state, 15), i);
    }
}

static struct step unsealable_step(struct conform *t) {
    struct step step = new_step(t);
    step.event = conform_event(t);
    CHECK_OK(rondo_event_record(t->stream, step.event, NULL));
    return step;
}

/* [C21] In-place state is the hard part: a seal that failed must not spoil what the eager run is about to read. */
static void a_step_that_cannot_be_sealed_runs_eagerly_once_and_says_why(struct conform *t) {
    struct step step = unsealable_step(t);
    step.ignore = true;
    CHECK_EQUAL(run(t, 1, &step).last_mode, RONDO_RUN_EAGER);
    for (int32_t i = 2; i < 6; i++) {
        rondo_run_info info = run(t, 1, &step);
        CHECK_EQUAL(info.last_mode, RONDO_RUN_FALLBACK);
        CHECK_EQUAL(info.fallbacks, (uint64_t)i - 1);
        CHECK_CODE(info.fallback_reason, RONDO_DOOMED);
        CHECK_SAYS(info.fallback_reason, "outside");
        conform_expect_all_i32(t, step.state, i, 16);
    }
    CHECK_EQUAL(conform_stats(t).run_fallbacks, 4);
    CHECK_EQUAL(step.calls, 6); /* one of them was the recording, which is not tried again */
    CHECK_EQUAL(rondo_fault_live_count(), 0);
}

/* [C21] The same where the step gives up at the refusal. */
static void a_step_that_gives_up_while_recorded_runs_eagerly_too(struct conform *t) {
    struct step step = unsealable_step(t);
    for (int32_t i = 1; i < 5; i++) {
        rondo_run_info info = run(t, 1, &step);
        CHECK_EQUAL(info.last_mode, i == 1 ? RONDO_RUN_EAGER : RONDO_RUN_FALLBACK);
        CHECK(i == 1 || info.fallback_reason != RONDO_OK);
        conform_expect_all_i32(t, step.state, i, 16);
    }
}

struct heard {
    unsigned fallbacks;
    rondo_status status;
};

static void hear(void *user, rondo_log_level level, uint32_t item, rondo_status status, const char *text) {
    struct heard *heard = user;
    (void)level;
    if (item == RONDO_LOG_ITEM_FALLBACK && text[0] != 0) {
        heard->fallbacks += 1;
        heard->status = status;
    }
}

/* [C21] */
static void a_fallback_is_logged(struct conform *t) {
    struct step step = unsealable_step(t);
    struct heard heard = {.fallbacks = 0};
    step.ignore = true;
    rondo_log_set(hear, &heard, RONDO_LOG_INFO);
    run(t, 1, &step);
    CHECK_EQUAL(heard.fallbacks, 0);
    rondo_run_info info = run(t, 1, &step);
    rondo_log_set(NULL, NULL, RONDO_LOG_ERROR);
    CHECK(heard.fallbacks >= 1);
    CHECK(heard.status == info.fallback_reason);
}

/* [C21] */
static void a_forgotten_key_starts_anew_and_gives_its_graph_back(struct conform *t) {
    struct step step = new_step(t);
    for (int i = 0; i < 3; i++) run(t, 1, &step);
    CHECK_EQUAL(conform_stats(t).graphs, 1);
    CHECK_OK(rondo_run_forget(t->stream, 1));
    CHECK_EQUAL(conform_stats(t).graphs, 0);
    CHECK_OK(rondo_run_forget(t->stream, 1));
    CHECK_OK(rondo_run_forget(t->stream, 12345));
    rondo_run_info info = run(t, 1, &step);
    CHECK_EQUAL(info.last_mode, RONDO_RUN_EAGER);
    CHECK_EQUAL(info.eager, 1);
    CHECK_EQUAL(info.replayed, 0);
    CHECK_EQUAL(run(t, 1, &step).last_mode, RONDO_RUN_CAPTURED);
    CHECK_EQUAL(run(t, 1, &step).last_mode, RONDO_RUN_REPLAYED);
    conform_expect_all_i32(t, step.state, 6, 16);
}

/* [C21] A key that fell back may be tried again after it was forgotten. */
static void a_fallback_is_tried_again_only_after_forget(struct conform *t) {
    struct step step = unsealable_step(t);
    step.ignore = true;
    for (int i = 0; i < 3; i++) run(t, 1, &step);
    step.event = NULL;
    CHECK_EQUAL(run(t, 1, &step).last_mode, RONDO_RUN_FALLBACK);
    CHECK_OK(rondo_run_forget(t->stream, 1));
    CHECK_EQUAL(run(t, 1, &step).last_mode, RONDO_RUN_EAGER);
    CHECK_EQUAL(run(t, 1, &step).last_mode, RONDO_RUN_CAPTURED);
    conform_expect_all_i32(t, step.state, 6, 16);
}

/* [C21] */
static void keys_of_a_stream_are_apart_and_keys_of_two_streams_too(struct conform *t) {
    struct step one = new_step(t), two = new_step(t), other = new_step(t);
    rondo_stream *stranger = conform_stranger(t, t->stream);
    for (int i = 0; i < 4; i++) {
        rondo_run_info info;
        CHECK_EQUAL(run(t, 1, &one).fallbacks, 0);
        CHECK_EQUAL(run(t, UINT64_MAX, &two).fallbacks, 0);
        CHECK_OK(rondo_run(stranger, 1, play, &other, &info));
        CHECK_EQUAL(info.eager, 1);
        CHECK_EQUAL(info.captured, i >= 1);
    }
    CHECK_EQUAL(one.calls, 2);
    CHECK_EQUAL(two.calls, 2);
    CHECK_EQUAL(other.calls, 2);
    CHECK_EQUAL(conform_stats(t).graphs, 3);
    conform_expect_all_i32(t, one.state, 4, 16);
    conform_expect_all_i32(t, two.state, 4, 16);
    conform_expect_all_i32(t, other.state, 4, 16);
    CHECK_OK(rondo_run_forget(stranger, 1));
    CHECK_EQUAL(run(t, 1, &one).last_mode, RONDO_RUN_REPLAYED);
}

/* [C21] */
static void what_the_step_returns_comes_back_and_wedges_nothing(struct conform *t) {
    struct step step = new_step(t);
    rondo_run_info info;
    step.fails = rondo_span_status(rondo_whole(RONDO_NO_BUFFER));
    CHECK_CODE(rondo_run(t->stream, 1, play, &step, &info), RONDO_STALE);
    CHECK(!rondo_stream_is_capturing(t->stream));
    conform_expect_all_i32(t, step.state, 1, 16);
    CHECK_OK(rondo_run_forget(t->stream, 1));
    step.fails = RONDO_OK;
    for (int32_t i = 2; i < 6; i++) {
        run(t, 1, &step);
        conform_expect_all_i32(t, step.state, i, 16);
    }
}

/* [C21, R2] A replay that is refused says so, and the key goes on when its input is good again. */
static void a_replay_of_a_spoiled_input_is_reported_by_run(struct conform *t) {
    struct step step = new_step(t);
    for (int i = 0; i < 3; i++) run(t, 1, &step);
    spoil(t->stream, rondo_whole(step.state), "spoiler");
    rondo_run_info info;
    CHECK_CODE(rondo_run(t->stream, 1, play, &step, &info), RONDO_TAINTED);
    conform_fill_i32(t, step.state, 10);
    CHECK_EQUAL(run(t, 1, &step).last_mode, RONDO_RUN_REPLAYED);
    conform_expect_all_i32(t, step.state, 11, 16);
    CHECK_EQUAL(step.calls, 2);
}

/* [C21] */
static void run_is_refused_while_the_stream_captures(struct conform *t) {
    struct step step = new_step(t);
    rondo_run_info info;
    CHECK_OK(rondo_capture_prepare(t->stream));
    CHECK_CODE(rondo_run(t->stream, 1, play, &step, &info), RONDO_STATE);
    CHECK_OK(rondo_capture_begin(t->stream));
    CHECK_CODE(rondo_run(t->stream, 1, play, &step, NULL), RONDO_STATE);
    CHECK_EQUAL(window_info(t->stream).doomed_by, RONDO_OK);
    CHECK_OK(rondo_capture_abort(t->stream));
    CHECK_EQUAL(step.calls, 0);
    CHECK_EQUAL(run(t, 1, &step).last_mode, RONDO_RUN_EAGER);
}

/* [E2] */
static void run_with_bad_arguments_runs_nothing(struct conform *t) {
    struct step step = new_step(t);
    CHECK_CODE(rondo_run(t->stream, 1, NULL, &step, NULL), RONDO_INVALID);
    CHECK_CODE(rondo_run(NULL, 1, play, &step, NULL), RONDO_STALE);
    CHECK_CODE(rondo_run_forget(NULL, 1), RONDO_STALE);
    CHECK_EQUAL(step.calls, 0);
    CHECK_OK(rondo_run(t->stream, 1, play, &step, NULL));
    CHECK_EQUAL(run(t, 1, &step).last_mode, RONDO_RUN_CAPTURED);
}

/* [C21, C12] The keys go with their stream. */
static void the_graphs_of_a_streams_keys_go_with_the_stream(struct conform *t) {
    struct step step = new_step(t);
    rondo_stream *stream = NULL;
    CHECK_OK(rondo_stream_create(t->device, &stream));
    for (uint64_t key = 0; key < 10; key++) {
        for (int i = 0; i < 3; i++) CHECK_OK(rondo_run(stream, key, play, &step, NULL));
    }
    CHECK_EQUAL(conform_stats(t).graphs, 10);
    rondo_stream_release(stream);
    CHECK_OK(rondo_device_sync(t->device)); /* what is still pending holds it */
    CHECK_EQUAL(conform_stats(t).graphs, 0);
    conform_expect_all_i32(t, step.state, 30, 16);
}

const struct conform_case conform_run_key_cases[] = {
    CONFORM_CASE(each_call_has_the_effect_of_one_step_in_every_mode, NEEDS_MAP),
    CONFORM_CASE(a_step_with_temporaries_and_uploads_runs_in_every_mode, NEEDS_MAP),
    CONFORM_CASE(a_step_that_cannot_be_sealed_runs_eagerly_once_and_says_why, NEEDS_MAP),
    CONFORM_CASE(a_step_that_gives_up_while_recorded_runs_eagerly_too, NEEDS_MAP),
    CONFORM_CASE(a_fallback_is_logged, NEEDS_MAP),
    CONFORM_CASE(a_forgotten_key_starts_anew_and_gives_its_graph_back, NEEDS_MAP),
    CONFORM_CASE(a_fallback_is_tried_again_only_after_forget, NEEDS_MAP),
    CONFORM_CASE(keys_of_a_stream_are_apart_and_keys_of_two_streams_too, NEEDS_MAP),
    CONFORM_CASE(what_the_step_returns_comes_back_and_wedges_nothing, NEEDS_MAP),
    CONFORM_CASE(a_replay_of_a_spoiled_input_is_reported_by_run, NEEDS_MAP),
    CONFORM_CASE(run_is_refused_while_the_stream_captures, NEEDS_MAP),
    CONFORM_CASE(run_with_bad_arguments_runs_nothing, NEEDS_MAP),
    CONFORM_CASE(the_graphs_of_a_streams_keys_go_with_the_stream, NEEDS_MAP),
    CONFORM_END,
};
