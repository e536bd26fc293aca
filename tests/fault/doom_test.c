/* The last column of the doom table: each allocation of each kind of recorded work fails, once alone and once with all
 * that come after it. The call says so, and the window is doomed. */
#include "doom.h"
#include "fixture.h"
#include "unit.h"

enum { MOST_ALLOCATIONS = 100 };

static unsigned doomed_calls[DOOM_KIND_COUNT];

/* [P2] [C8] [C9] [P4] [T8] */
static void check_doomed(struct doom_scene *s, const struct doom_good *good, bool first, rondo_status status) {
    rondo_fault fault = conform_fault(status);
    CHECK_CODE(status, RONDO_NO_HOST_MEMORY);
    CHECK(window_info(s->stream).doomed_by == status);
    CHECK_EQUAL(fault.op_index, window_info(s->stream).ops);
    CHECK_EQUAL(fault.stream_id, rondo_stream_id(s->stream));
    rondo_status doomed = seal_refused(s->stream, RONDO_DOOMED);
    CHECK(rondo_fault_root(doomed) == status);
    if (!first) expect_spoiled(rondo_whole(s->first), status);
    doom_check_output(s, good->output, status);
}

/* The call with its allocation number `at` failing, as the first of its window or not: the first one makes room for
 * more than itself. False if it has fewer. */
static bool fail_one(struct conform *t, enum doom_kind kind, uint64_t at, bool first, bool lasting) {
    const struct doom_good *good = &doom_goods[kind];
    struct doom_scene s = doom_scene_open(t);
    (void)conform_kernel(t, KERNEL_SCALE); /* loading it is none of the call's business */
    open_window(s.stream);
    if (!first) CHECK_OK(fill_i32(s.stream, rondo_whole(s.first), 70, "good"));
    if (kind == DOOM_event_wait) CHECK_OK(rondo_event_record(s.stream, s.outside, "good"));
    starve(at, lasting);
    rondo_status status = good->call(&s);
    bool refused = feed() != 0;
    CHECK(refused == (status != RONDO_OK)); /* there is nothing that it could do without */
    if (status != RONDO_OK) {
        check_doomed(&s, good, first, status);
        doomed_calls[kind]++;
    } else {
        rondo_graph *graph = NULL;
        CHECK_EQUAL(window_info(s.stream).doomed_by, RONDO_OK);
        CHECK_OK(rondo_capture_end(s.stream, RONDO_END_ALLOW_EMPTY, &graph));
        rondo_graph_release(graph);
    }
    check_stream_works(t, s.stream);
    doom_scene_close(&s);
    return refused;
}

static void fail_all(enum doom_kind kind, bool first, bool lasting) {
    bool more = true;
    for (uint64_t at = 0; more; at++) {
        struct conform *t = conform_fixture_open("sim", NULL);
        assert_non_null(t);
        assert_true(at < MOST_ALLOCATIONS);
        more = fail_one(t, kind, at, first, lasting);
        conform_fixture_close(t);
        free(t);
    }
}

static void no_allocation_of_recorded_work_fails_unseen(void **state) {
    (void)state;
    for (int kind = 0; kind < DOOM_KIND_COUNT; kind++) {
        for (int way = 0; way < 4; way++) fail_all((enum doom_kind)kind, way % 2 == 0, way / 2 == 0);
    }
}

static void the_whole_table_has_no_gaps(void **state) {
    (void)state;
    assert_int_equal(doom_print_table(stdout, doomed_calls), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_allocation_of_recorded_work_fails_unseen),
        cmocka_unit_test(the_whole_table_has_no_gaps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
