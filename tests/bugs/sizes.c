/* Nothing at all, and very much. */
#include <time.h>

#include "capture_tools.h"

/* B69 [W5] An empty launch is no error, so none can stick: what comes after it works, eagerly and in a window. */
static void a_grid_without_items_is_no_error_that_sticks(struct conform *t) {
    const rondo_grid empty[] = {rondo_grid_3d(0, 1, 1), rondo_grid_3d(1, 0, 1), rondo_grid_3d(1, 1, 0),
                                rondo_grid_3d(0, 0, 0)};
    rondo_buffer buffer = conform_buffer(t, 64);
    rondo_kernel *kernel = conform_kernel(t, KERNEL_IOTA);
    int32_t start = 5;
    const rondo_arg args[] = {rondo_arg_buffer(buffer), rondo_arg_value(&start, sizeof start)};
    rondo_graph *graph = NULL;
    conform_fill_i32(t, buffer, 1);
    for (int in_window = 0; in_window < 2; in_window++) {
        if (in_window) open_window(t->stream);
        for (size_t i = 0; i < COUNT_OF(empty); i++) {
            CHECK_OK(rondo_launch(t->stream, kernel, empty[i], args, 2, "nothing"));
        }
        if (!in_window) CHECK_OK(rondo_stream_sync(t->stream));
        if (!in_window) conform_expect_all_i32(t, buffer, 1, 16);
        CHECK_OK(rondo_launch(t->stream, kernel, rondo_grid_1d(16), args, 2, "something"));
        if (in_window) graph = seal(t, t->stream);
        if (in_window) CHECK_OK(rondo_graph_replay(graph, t->stream));
        CHECK_EQUAL(conform_read_i32(t, buffer, 15), 20);
        conform_fill_i32(t, buffer, 1);
    }
}

/* ---- what updates cost ---- */

enum { SHORT = 1000, LONG = 8000, TIMES = 3 };

static uint64_t thread_ns(void) {
    struct timespec now;
    CHECK_EQUAL(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now), 0);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Updates the first `count` nodes, all in one call or one by one, and says how long the fastest of a few tries took. */
static uint64_t cost_of(rondo_graph *graph, size_t count, int32_t value, bool at_once) {
    rondo_update *updates = calloc(count, sizeof *updates);
    uint64_t best = UINT64_MAX;
    CHECK(updates != NULL);
    for (size_t i = 0; i < count; i++) updates[i] = rondo_update_value(i, "k", &value, sizeof value);
    for (int try = 0; try < TIMES; try++) {
        uint64_t start = thread_ns();
        if (at_once) CHECK_OK(rondo_graph_update(graph, updates, count));
        for (size_t i = 0; !at_once && i < count; i++) CHECK_OK(rondo_graph_update(graph, &updates[i], 1));
        uint64_t took = thread_ns() - start;
        if (took < best) best = took;
    }
    free(updates);
    return best;
}

static rondo_graph *record_scales(struct conform *t, rondo_buffer buffer, size_t count) {
    open_window(t->stream);
    for (size_t i = 0; i < count; i++) {
        CHECK_OK(conform_launch_scale(t, t->stream, rondo_whole(buffer), 3, 1, NULL));
    }
    return seal(t, t->stream);
}

/* B67 [R9] Eight times as many nodes cost about eight times as much, not sixty-four times; one node costs the same in
 * any graph. The bounds are wide: they are to tell a line from a square. */
static void updates_of_long_graphs_cost_what_they_change(struct conform *t) {
    rondo_buffer buffer = conform_buffer(t, 4);
    rondo_graph *few = record_scales(t, buffer, SHORT), *many = record_scales(t, buffer, LONG);
    for (int at_once = 0; at_once < 2; at_once++) {
        for (int32_t value = 3; value < 5; value++) { /* equal values first, then new ones */
            CHECK(cost_of(many, LONG, value, at_once) < 24 * cost_of(few, SHORT, value, at_once));
        }
    }
    enum { OFTEN = 200 };
    uint64_t in_few = 0, in_many = 0;
    for (int i = 0; i < OFTEN; i++) in_few += cost_of(few, 1, i, true), in_many += cost_of(many, 1, i, true);
    CHECK(in_many < 5 * in_few);
    int32_t one = 1;
    conform_write_i32(t, buffer, &one, 1);
    CHECK_EQUAL(cost_of(many, LONG, 1, true) != 0, 1);
    CHECK_OK(rondo_graph_replay(many, t->stream));
    CHECK_EQUAL(conform_read_i32(t, buffer, 0), 1);
}

extern const struct conform_case bugs_sizes_cases[];
const struct conform_case bugs_sizes_cases[] = {
    CONFORM_CASE(a_grid_without_items_is_no_error_that_sticks, NEEDS_KERNELS),
    CONFORM_CASE(updates_of_long_graphs_cost_what_they_change, NEEDS_KERNELS),
    CONFORM_END,
};
