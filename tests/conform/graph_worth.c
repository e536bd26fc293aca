/* What a graph says about whether it pays. The times are the machine's and are not judged; what follows from them
 * is. */
#include "capture_tools.h"

enum { FEW = 10, MANY = 1000 };

static rondo_graph *record_fills(struct conform *t, rondo_buffer buffer, int count) {
    open_window(t->stream);
    for (int n = 0; n < count; n++) CHECK_OK(fill_i32(t->stream, rondo_whole(buffer), n, NULL));
    return seal(t, t->stream);
}

static rondo_graph_worth worth_of(rondo_graph *graph) {
    rondo_graph_worth worth;
    CHECK_OK(rondo_graph_get_worth(graph, &worth));
    return worth;
}

static void check_payback(const rondo_graph_worth *worth) {
    if (worth->eager_ns <= worth->replay_ns) {
        CHECK_EQUAL(worth->pays_after, UINT64_MAX);
        return;
    }
    uint64_t gain_ns = worth->eager_ns - worth->replay_ns;
    CHECK(worth->pays_after * gain_ns >= worth->record_ns);
    CHECK(worth->pays_after == 0 || (worth->pays_after - 1) * gain_ns < worth->record_ns);
}

static void a_graph_tells_after_how_many_replays_it_pays(struct conform *t) {
    rondo_buffer buffer = conform_buffer(t, 64);
    rondo_graph_worth few = worth_of(record_fills(t, buffer, FEW));
    rondo_graph_worth many = worth_of(record_fills(t, buffer, MANY));
    CHECK(few.record_ns > 0 && many.record_ns > 0);
    check_payback(&few);
    check_payback(&many);
    /* The costs of a device are measured once, so twice the nodes cost twice as much to issue, but for rounding. */
    CHECK(many.eager_ns >= few.eager_ns * (MANY / FEW));
    CHECK(many.eager_ns <= (few.eager_ns + 1) * (MANY / FEW));
    CHECK(many.replay_ns >= few.replay_ns);
}

static void asking_changes_nothing_of_the_graph(struct conform *t) {
    rondo_buffer buffer = conform_buffer(t, 64);
    rondo_graph *graph = record_fills(t, buffer, FEW);
    rondo_graph_worth first = worth_of(graph), second = worth_of(graph);
    CHECK(memcmp(&first, &second, sizeof first) == 0);
    CHECK_EQUAL(graph_info(graph).replays, 0);
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    CHECK_OK(rondo_stream_sync(t->stream));
}

/* [E2, R5] */
static void a_question_about_nothing_is_refused(struct conform *t) {
    rondo_graph_worth worth;
    rondo_buffer buffer = conform_buffer(t, 64);
    rondo_graph *graph = record_fills(t, buffer, FEW);
    CHECK_CODE(rondo_graph_get_worth(graph, NULL), RONDO_INVALID);
    CHECK_CODE(rondo_graph_get_worth(NULL, &worth), RONDO_STALE);
    CHECK_EQUAL(worth.pays_after, 0);
    CHECK_OK(rondo_graph_retain(graph));
    rondo_graph_release(graph);
    CHECK_OK(rondo_graph_get_worth(graph, &worth));
}

/* [C13] The costs cannot be measured on a queue that records; afterwards they can. */
static void while_the_only_queue_records_the_question_waits(struct conform *t) {
    rondo_graph_worth worth;
    rondo_buffer buffer = conform_buffer(t, 64);
    rondo_graph *graph = record_fills(t, buffer, FEW);
    open_window(t->stream);
    CHECK_OK(fill_i32(t->stream, rondo_whole(buffer), 7, NULL));
    CHECK_CODE(rondo_graph_get_worth(graph, &worth), RONDO_BUSY);
    rondo_graph *second = seal(t, t->stream); /* it has not doomed the window */
    CHECK_OK(rondo_graph_get_worth(second, &worth));
    CHECK_OK(rondo_graph_get_worth(graph, &worth));
}

/* [O1] */
static void a_graph_that_outlives_the_devices_handle_can_still_be_asked(struct conform *t) {
    rondo_device *device;
    rondo_stream *stream;
    rondo_buffer buffer;
    rondo_graph *graph;
    rondo_graph_worth worth;
    CHECK_OK(rondo_device_open(t->backend, NULL, &device));
    CHECK_OK(rondo_stream_create(device, &stream));
    CHECK_OK(rondo_buffer_create(stream, 64, RONDO_USAGE_GENERAL, &buffer));
    rondo_device_release(device);
    open_window(stream);
    CHECK_OK(fill_i32(stream, rondo_whole(buffer), 1, NULL));
    CHECK_OK(rondo_capture_end(stream, RONDO_END_DEFAULT, &graph));
    CHECK_OK(rondo_graph_get_worth(graph, &worth));
    rondo_graph_release(graph);
    rondo_buffer_release(buffer);
    rondo_stream_release(stream);
}

const struct conform_case conform_graph_worth_cases[] = {
    CONFORM_CASE(a_graph_tells_after_how_many_replays_it_pays, NEEDS_NOTHING),
    CONFORM_CASE(asking_changes_nothing_of_the_graph, NEEDS_NOTHING),
    CONFORM_CASE(a_question_about_nothing_is_refused, NEEDS_NOTHING),
    CONFORM_CASE_ON(while_the_only_queue_records_the_question_waits, NEEDS_NOTHING, &ONE_QUEUE),
    CONFORM_CASE(a_graph_that_outlives_the_devices_handle_can_still_be_asked, NEEDS_NOTHING),
    CONFORM_END,
};
