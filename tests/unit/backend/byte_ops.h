/* What every backend with memory must do with bytes, checked against the plainest model. Included by one test of each
 * backend, after `the_backend` is defined. */
#ifndef BYTE_OPS_H
#define BYTE_OPS_H

#include "backend_tools.h"

#define BYTES 4096u

static void scramble(uint8_t *bytes, size_t count) {
    for (size_t index = 0; index < count; index++) {
        bytes[index] = (uint8_t)random_below(256);
    }
}

static void start_bytes(struct bench *bench, uint8_t *model) {
    open_bench(bench, &the_backend, NULL);
    seed_random();
    scramble(model, BYTES);
    write_page(bench, model, BYTES);
}

static void expect_bytes(struct bench *bench, const uint8_t *model) {
    uint8_t found[BYTES];
    memset(found, 0, sizeof found);
    read_page(bench, found, BYTES);
    assert_memory_equal(found, model, BYTES);
}

static uint64_t extent(uint64_t row_bytes, uint64_t rows, uint64_t pitch) {
    return (rows - 1) * pitch + row_bytes;
}

/* [W1] */
static void a_fill_repeats_its_pattern_and_touches_nothing_else(void **state) {
    struct bench bench;
    uint8_t model[BYTES];
    (void)state;
    start_bytes(&bench, model);
    for (int round = 0; round < 400; round++) {
        rondo_backend_op op = {.kind = RONDO_OP_FILL, .rows = 1};
        op.pattern_bytes = 1u << random_below(5);
        op.size_bytes = (1 + random_below(40)) * op.pattern_bytes;
        uint64_t offset = random_below(BYTES - op.size_bytes);
        op.target = place_at(&bench, offset);
        scramble(op.pattern, sizeof op.pattern);
        if (round % 5 == 0) {
            memset(op.pattern, op.pattern[0], sizeof op.pattern);
        }
        for (uint64_t at = 0; at < op.size_bytes; at++) {
            model[offset + at] = op.pattern[at % op.pattern_bytes];
        }
        assert_int_equal(play(&bench, &op), RONDO_BACKEND_DONE);
        expect_bytes(&bench, model);
    }
    close_bench(&bench);
}

/* [W1] */
static void a_copy_moves_the_bytes_also_where_source_and_target_overlap(void **state) {
    struct bench bench;
    uint8_t model[BYTES];
    (void)state;
    start_bytes(&bench, model);
    for (int round = 0; round < 400; round++) {
        uint64_t size = 1 + random_below(1500);
        uint64_t target = random_below(BYTES - size), source = random_below(BYTES - size);
        rondo_backend_op op = {.kind = RONDO_OP_COPY, .target = place_at(&bench, target),
                               .source = place_at(&bench, source), .size_bytes = size, .rows = 1};
        memmove(model + target, model + source, size);
        assert_int_equal(play(&bench, &op), RONDO_BACKEND_DONE);
        expect_bytes(&bench, model);
    }
    close_bench(&bench);
}

/* [W1] */
static void a_rectangle_copies_its_rows_and_leaves_the_gaps(void **state) {
    struct bench bench;
    uint8_t model[BYTES];
    (void)state;
    start_bytes(&bench, model);
    for (int round = 0; round < 400; round++) {
        uint64_t row_bytes = 1 + random_below(40), rows = 1 + random_below(12);
        uint64_t target_pitch = row_bytes + random_below(60), source_pitch = row_bytes + random_below(60);
        uint64_t target = random_below(BYTES / 2 - extent(row_bytes, rows, target_pitch));
        uint64_t source = BYTES / 2 + random_below(BYTES / 2 - extent(row_bytes, rows, source_pitch));
        rondo_backend_op op = {.kind = RONDO_OP_COPY, .target = place_at(&bench, target),
                               .source = place_at(&bench, source), .size_bytes = row_bytes, .rows = rows,
                               .target_pitch_bytes = target_pitch, .source_pitch_bytes = source_pitch};
        for (uint64_t row = 0; row < rows; row++) {
            memcpy(model + target + row * target_pitch, model + source + row * source_pitch, row_bytes);
        }
        assert_int_equal(play(&bench, &op), RONDO_BACKEND_DONE);
        expect_bytes(&bench, model);
    }
    close_bench(&bench);
}

/* [W1] Writes and reads are rectangles too, with the host's pitch on the host's side. */
static void writes_and_reads_may_be_rectangles(void **state) {
    struct bench bench;
    uint8_t model[BYTES], host[64], back[64];
    (void)state;
    start_bytes(&bench, model);
    scramble(host, sizeof host);
    rondo_backend_op op = {.kind = RONDO_OP_WRITE, .target = place_at(&bench, 100), .host = host, .size_bytes = 5,
                           .rows = 4, .target_pitch_bytes = 33, .source_pitch_bytes = 7};
    assert_int_equal(play(&bench, &op), RONDO_BACKEND_DONE);
    for (uint64_t row = 0; row < 4; row++) {
        memcpy(model + 100 + row * 33, host + row * 7, 5);
    }
    expect_bytes(&bench, model);
    memset(back, 0, sizeof back);
    op = (rondo_backend_op){.kind = RONDO_OP_READ, .source = place_at(&bench, 100), .host = back, .size_bytes = 5,
                            .rows = 4, .target_pitch_bytes = 7, .source_pitch_bytes = 33};
    assert_int_equal(play(&bench, &op), RONDO_BACKEND_DONE);
    for (uint64_t row = 0; row < 4; row++) {
        assert_memory_equal(back + row * 7, host + row * 7, 5);
    }
    assert_int_equal(back[5], 0);
    close_bench(&bench);
}

static int return_number(void *user) {
    return *(int *)user;
}

/* [W7] */
static void a_host_call_that_returns_a_number_has_failed_for_that_reason(void **state) {
    struct bench bench;
    int number = 0;
    (void)state;
    open_bench(&bench, &the_backend, NULL);
    rondo_backend_op op = {.kind = RONDO_OP_HOST, .host_fn = return_number, .host_user = &number};
    assert_int_equal(play(&bench, &op), RONDO_BACKEND_DONE);
    number = -3;
    assert_int_equal(play(&bench, &op), RONDO_BACKEND_FAILED);
    assert_int_equal(bench.outcome.reason, (uint32_t)-3);
    number = 0;
    assert_int_equal(play(&bench, &op), RONDO_BACKEND_DONE);
    close_bench(&bench);
}

/* [E4] */
static void an_operation_of_an_unknown_kind_does_not_run_and_says_so(void **state) {
    struct bench bench;
    rondo_backend_op op = {.kind = (rondo_backend_op_kind)99};
    (void)state;
    open_bench(&bench, &the_backend, NULL);
    assert_int_equal(play(&bench, &op), RONDO_BACKEND_NOT_RUN);
    assert_string_not_equal(bench.outcome.message, "");
    close_bench(&bench);
}

#define BYTE_OP_TESTS                                                                                                  \
    cmocka_unit_test(a_fill_repeats_its_pattern_and_touches_nothing_else),                                             \
        cmocka_unit_test(a_copy_moves_the_bytes_also_where_source_and_target_overlap),                                 \
        cmocka_unit_test(a_rectangle_copies_its_rows_and_leaves_the_gaps),                                             \
        cmocka_unit_test(writes_and_reads_may_be_rectangles),                                                          \
        cmocka_unit_test(a_host_call_that_returns_a_number_has_failed_for_that_reason),                                \
        cmocka_unit_test(an_operation_of_an_unknown_kind_does_not_run_and_says_so)

#endif
