/* The end of a graph and of what stands around it: any order works, and everything is given back once. */
#include "capture_tools.h"

enum part { DEVICE, STREAM, GRAPH, BUFFER, EVENT, PARTS };

struct house {
    rondo_device *device;
    rondo_stream *stream;
    rondo_graph *graph;
    rondo_buffer buffer;
    rondo_event *event;
    int released;
};

static struct house *build(struct conform *t) {
    struct house *h = calloc(1, sizeof *h);
    CHECK(h != NULL);
    CHECK_OK(rondo_device_open(t->backend, NULL, &h->device));
    CHECK_OK(rondo_stream_create(h->device, &h->stream));
    CHECK_OK(rondo_event_create(h->device, &h->event));
    CHECK_OK(rondo_buffer_create(h->stream, 64, RONDO_USAGE_GENERAL, &h->buffer));
    open_window(h->stream);
    CHECK_OK(fill_i32(h->stream, rondo_whole(h->buffer), 3, NULL));
    CHECK_OK(rondo_host_call(h->stream, host_nothing, &h->released, count_release, NULL, 0, NULL));
    CHECK_OK(rondo_event_record(h->stream, h->event, NULL));
    CHECK_OK(rondo_capture_end(h->stream, RONDO_END_DEFAULT, &h->graph));
    CHECK_OK(rondo_graph_replay(h->graph, h->stream));
    return h;
}

static void release_part(struct house *h, enum part part) {
    if (part == DEVICE) rondo_device_release(h->device);
    if (part == STREAM) rondo_stream_release(h->stream);
    if (part == GRAPH) rondo_graph_release(h->graph);
    if (part == BUFFER) rondo_buffer_release(h->buffer);
    if (part == EVENT) rondo_event_release(h->event);
}

static void release_all_in_order(struct conform *t, const enum part *order) {
    struct house *h = build(t);
    rondo_device_info info;
    for (int i = 0; i < PARTS; i++) release_part(h, order[i]);
    CHECK_CODE(rondo_device_get_info(h->device, &info), RONDO_STALE);
    CHECK_EQUAL(h->released, 1);
    free(h);
}

static void permute(struct conform *t, enum part *order, int fixed) {
    if (fixed == PARTS) release_all_in_order(t, order);
    for (int i = fixed; i < PARTS; i++) {
        enum part swap = order[fixed];
        order[fixed] = order[i];
        order[i] = swap;
        permute(t, order, fixed + 1);
        order[i] = order[fixed];
        order[fixed] = swap;
    }
}

/* [R7, E5] Children hold their parents: all 120 orders of letting go work. */
static void a_graph_and_its_surroundings_may_go_in_any_order(struct conform *t) {
    enum part order[PARTS] = {DEVICE, STREAM, GRAPH, BUFFER, EVENT};
    permute(t, order, 0);
}

/* [R5] */
static void releasing_twice_is_harmless(struct conform *t) {
    rondo_buffer buffer = conform_buffer(t, 64);
    open_window(t->stream);
    CHECK_OK(fill_i32(t->stream, rondo_whole(buffer), 1, NULL));
    rondo_graph *first = seal(t, t->stream);
    rondo_graph_release(first);
    open_window(t->stream);
    CHECK_OK(fill_i32(t->stream, rondo_whole(buffer), 2, NULL));
    rondo_graph *second = seal(t, t->stream);
    for (int i = 0; i < 10; i++) rondo_graph_release(first);
    rondo_graph_release(NULL);
    CHECK_OK(rondo_graph_replay(second, t->stream));
    conform_expect_all_i32(t, buffer, 2, 16);
}

/* [P3, T4] The buffer's claims end with the allocation, and not before the graph that guards it goes. */
static void claims_on_a_freed_buffer_end_with_the_last_graph_that_guards_it(struct conform *t) {
    rondo_buffer buffer = conform_buffer(t, 64), out = conform_buffer(t, 64);
    conform_fill_i32(t, buffer, 1);
    open_window(t->stream);
    CHECK_OK(rondo_copy(t->stream, rondo_whole(out), rondo_whole(buffer), NULL));
    rondo_graph *graph = seal(t, t->stream);
    spoil(t->stream, rondo_whole(buffer), "spoiler");
    rondo_buffer_release(buffer);
    CHECK_EQUAL(rondo_fault_live_count(), 1);
    rondo_graph_release(graph);
    CHECK_EQUAL(rondo_fault_live_count(), 0);
}

static rondo_status fill_a_temporary(rondo_stream *stream, void *user) {
    rondo_buffer buffer = RONDO_NO_BUFFER;
    (void)user;
    rondo_status status = rondo_buffer_create(stream, 64, RONDO_USAGE_GENERAL, &buffer);
    if (!status) status = fill_i32(stream, rondo_whole(buffer), 1, NULL);
    rondo_buffer_release(buffer);
    return status;
}

/* [M1] Only one-off memory goes straight back to the device; whoever records again finds the rest. */
static void what_a_graph_leaves_stays_for_the_next_one(struct conform *t) {
    uint64_t reserved[2];
    for (int round = 0; round < 2; round++) {
        rondo_graph *graph = NULL;
        CHECK_OK(rondo_capture_step(t->stream, fill_a_temporary, NULL, &graph));
        rondo_graph_release(graph);
        reserved[round] = conform_report(t, RONDO_POOL_SMALL).reserved_bytes;
        CHECK(reserved[round] != 0);
    }
    CHECK_EQUAL(reserved[1], reserved[0]);
}

/* [O1] Two devices side by side. */
static void graphs_of_two_devices_share_nothing(struct conform *t) {
    struct house *h = build(t);
    rondo_buffer buffer = conform_buffer(t, 64);
    open_window(t->stream);
    CHECK_OK(fill_i32(t->stream, rondo_whole(buffer), 1, NULL));
    rondo_graph *graph = seal(t, t->stream);
    CHECK_EQUAL(rondo_device_list_graphs(t->device, NULL, 0), 1);
    CHECK_EQUAL(rondo_device_list_graphs(h->device, NULL, 0), 1);
    CHECK_CODE(rondo_graph_replay(h->graph, t->stream), RONDO_FOREIGN);
    for (int part = 0; part < PARTS; part++) release_part(h, (enum part)part);
    CHECK_OK(rondo_graph_replay(graph, t->stream));
    conform_expect_all_i32(t, buffer, 1, 16);
    CHECK_EQUAL(h->released, 1);
    free(h);
}

const struct conform_case conform_graph_teardown_cases[] = {
    CONFORM_CASE(a_graph_and_its_surroundings_may_go_in_any_order, NEEDS_NOTHING),
    CONFORM_CASE(releasing_twice_is_harmless, NEEDS_NOTHING),
    CONFORM_CASE(claims_on_a_freed_buffer_end_with_the_last_graph_that_guards_it, NEEDS_NOTHING),
    CONFORM_CASE(what_a_graph_leaves_stays_for_the_next_one, NEEDS_NOTHING),
    CONFORM_CASE(graphs_of_two_devices_share_nothing, NEEDS_NOTHING),
    CONFORM_END,
};
