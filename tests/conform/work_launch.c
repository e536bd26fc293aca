/* Launches: they run, they are checked before anything happens, and arguments overlap only where the kernel says so. */
#include "conform.h"

/* [W1] */
static void a_launch_runs_over_its_items(struct conform *t) {
    rondo_buffer x = conform_buffer(t, 400);
    rondo_buffer z = conform_buffer(t, 400);
    rondo_buffer y = conform_buffer(t, 400);
    CHECK_OK(conform_launch_iota(t, t->stream, rondo_whole(x), 10, 100, "x"));
    CHECK_OK(conform_launch_copy(t, t->stream, rondo_whole(z), rondo_whole(x), 100, "z"));
    CHECK_OK(conform_launch_scale(t, t->stream, rondo_whole(z), -3, 100, NULL));
    CHECK_OK(conform_launch_add(t, t->stream, rondo_whole(y), rondo_whole(x), rondo_whole(z), 100, NULL));
    for (int32_t i = 0; i < 100; i++) {
        CHECK_EQUAL(conform_read_i32(t, y, (size_t)i), -2 * (10 + i));
    }
}

/* [W1] */
static void a_launch_works_on_slices(struct conform *t) {
    rondo_buffer y = conform_buffer(t, 64);
    conform_fill_i32(t, y, -1);
    CHECK_OK(conform_launch_iota(t, t->stream, rondo_slice(y, 20, 12), 5, 3, NULL));
    static const int32_t expected[] = {-1, -1, -1, -1, -1, 5, 6, 7, -1, -1, -1, -1, -1, -1, -1, -1};
    conform_expect_i32(t, y, expected, 16);
}

/* [W1] Values are copied at the launch. */
static void floats_arrive_as_they_are(struct conform *t) {
    static const float xs[] = {1.0f, 2.0f, -0.5f, 1e20f};
    float ys[] = {0.5f, 0.25f, 4.0f, 1.0f};
    rondo_buffer x = conform_buffer(t, sizeof xs);
    rondo_buffer y = conform_buffer(t, sizeof ys);
    CHECK_OK(rondo_write(t->stream, rondo_whole(x), xs, NULL));
    CHECK_OK(rondo_write(t->stream, rondo_whole(y), ys, NULL));
    float a = 2.0f;
    const rondo_arg args[] = {rondo_arg_buffer(x), rondo_arg_buffer(y), rondo_arg_value(&a, sizeof a)};
    CHECK_OK(rondo_launch(t->stream, conform_kernel(t, KERNEL_AXPY), rondo_grid_1d(4), args, 3, NULL));
    a = 0.0f;
    CHECK_OK(rondo_read(t->stream, rondo_whole(y), ys, NULL));
    CHECK(ys[0] == 2.5f && ys[1] == 4.25f && ys[2] == 3.0f && ys[3] == 2e20f);
}

/* [W1] */
static void groups_share_their_local_memory(struct conform *t) {
    rondo_buffer x = conform_buffer(t, 1000 * 4);
    rondo_buffer partial = conform_buffer(t, 16 * 4);
    CHECK_OK(conform_launch_iota(t, t->stream, rondo_whole(x), 0, 1000, NULL));
    const rondo_arg args[] = {rondo_arg_buffer(x), rondo_arg_buffer(partial)};
    CHECK_OK(rondo_launch(t->stream, conform_kernel(t, KERNEL_SUM), rondo_grid_1d(1000), args, 2, NULL));
    int32_t sum = 0;
    for (size_t g = 0; g < 16; g++) {
        sum += conform_read_i32(t, partial, g);
    }
    CHECK_EQUAL(sum, 499500);
    CHECK_EQUAL(conform_read_i32(t, partial, 0), 2016);
}

/* [W1] */
static void a_grid_has_three_dimensions(struct conform *t) {
    rondo_buffer out = conform_buffer(t, 9 * 5 * 3 * 4);
    uint32_t base = 7;
    const rondo_arg args[] = {rondo_arg_buffer(out), rondo_arg_value(&base, sizeof base)};
    CHECK_OK(rondo_launch(t->stream, conform_kernel(t, KERNEL_FILL_3D), rondo_grid_3d(9, 5, 3), args, 2, NULL));
    for (size_t i = 0; i < 9 * 5 * 3; i++) {
        size_t expected = 7 + i % 9 + i / 9 % 5 * 1000 + i / 45 * 1000000;
        CHECK_EQUAL(conform_read_i32(t, out, i), expected);
    }
}

/* [W1] */
static void a_grid_has_two_dimensions(struct conform *t) {
    rondo_buffer x = conform_buffer(t, 12 * 4);
    rondo_buffer out = conform_buffer(t, 12 * 4);
    CHECK_OK(conform_launch_iota(t, t->stream, rondo_whole(x), 0, 12, NULL));
    const rondo_arg args[] = {rondo_arg_buffer(x), rondo_arg_buffer(out)};
    CHECK_OK(rondo_launch(t->stream, conform_kernel(t, KERNEL_STENCIL), rondo_grid_2d(4, 3), args, 2, NULL));
    static const int32_t expected[] = {5, 8, 12, 12, 17, 25, 30, 27, 21, 32, 36, 28};
    conform_expect_i32(t, out, expected, 12);
}

/* [O7, W1] Items of one launch may meet in atomics. */
static void atomics_of_a_big_grid_add_up(struct conform *t) {
    rondo_buffer counter = conform_buffer(t, 4);
    conform_fill_i32(t, counter, 0);
    CHECK_OK(conform_launch_count(t, t->stream, rondo_whole(counter), 1, NULL));
    CHECK_OK(conform_launch_count(t, t->stream, rondo_whole(counter), 1000000, NULL));
    CHECK_EQUAL(conform_read_i32(t, counter, 0), 1000001);
}

/* [W5] */
static void a_grid_without_items_does_nothing(struct conform *t) {
    rondo_buffer y = conform_buffer(t, 16);
    conform_fill_i32(t, y, 1);
    int32_t start = 5;
    const rondo_arg args[] = {rondo_arg_buffer(y), rondo_arg_value(&start, sizeof start)};
    rondo_kernel *kernel = conform_kernel(t, KERNEL_IOTA);
    uint64_t launches = conform_stats(t).launches;
    CHECK_OK(rondo_launch(t->stream, kernel, rondo_grid_3d(0, 1, 1), args, 2, NULL));
    CHECK_OK(rondo_launch(t->stream, kernel, rondo_grid_3d(4, 0, 1), args, 2, NULL));
    CHECK_OK(rondo_launch(t->stream, kernel, rondo_grid_3d(4, 1, 0), args, 2, NULL));
    CHECK_EQUAL(conform_stats(t).launches, launches);
    conform_expect_all_i32(t, y, 1, 4);
}

/* [W5, W6] */
static void a_grid_without_items_changes_no_claim(struct conform *t) {
    rondo_buffer y = conform_buffer(t, 16);
    rondo_buffer x = conform_buffer(t, 16);
    conform_fill_i32(t, x, 1);
    conform_spoil(t->stream, rondo_whole(y), NULL);
    CHECK_OK(conform_launch_iota(t, t->stream, rondo_whole(y), 0, 0, NULL));
    CHECK_CODE(rondo_span_status(rondo_whole(y)), RONDO_TAINTED);
    CHECK_OK(conform_launch_copy(t, t->stream, rondo_whole(x), rondo_whole(y), 0, NULL));
    CHECK_OK(rondo_span_status(rondo_whole(x)));
    CHECK_CODE(conform_launch_iota(t, t->stream, rondo_slice(y, 0, 17), 0, 0, NULL), RONDO_RANGE);
}

/* [E2, W6] */
static void a_launch_counts_its_arguments(struct conform *t) {
    rondo_buffer y = conform_buffer(t, 16);
    int32_t start = 5;
    const rondo_arg args[] = {rondo_arg_buffer(y), rondo_arg_value(&start, sizeof start), rondo_arg_buffer(y)};
    rondo_kernel *kernel = conform_kernel(t, KERNEL_IOTA);
    CHECK_CODE(rondo_launch(t->stream, kernel, rondo_grid_1d(4), args, 1, NULL), RONDO_INVALID);
    CHECK_CODE(rondo_launch(t->stream, kernel, rondo_grid_1d(4), args, 3, NULL), RONDO_INVALID);
    CHECK_CODE(rondo_launch(t->stream, kernel, rondo_grid_1d(4), NULL, 0, NULL), RONDO_INVALID);
    CHECK_CODE(rondo_launch(t->stream, kernel, rondo_grid_1d(4), NULL, 2, NULL), RONDO_INVALID);
    CHECK_CODE(rondo_launch(t->stream, NULL, rondo_grid_1d(4), args, 2, NULL), RONDO_STALE);
    CHECK_CODE(rondo_launch(NULL, kernel, rondo_grid_1d(4), args, 2, NULL), RONDO_STALE);
    CHECK_OK(rondo_launch(t->stream, kernel, rondo_grid_1d(4), args, 2, NULL));
}

/* [E2, O7] */
static void arguments_fit_their_parameters(struct conform *t) {
    rondo_buffer y = conform_buffer(t, 16);
    int64_t wide = 5;
    rondo_kernel *kernel = conform_kernel(t, KERNEL_IOTA);
    rondo_arg args[] = {rondo_arg_buffer(y), rondo_arg_value(&wide, 8)};
    CHECK_CODE(rondo_launch(t->stream, kernel, rondo_grid_1d(4), args, 2, NULL), RONDO_INVALID);
    args[1] = rondo_arg_value(&wide, 3);
    CHECK_CODE(rondo_launch(t->stream, kernel, rondo_grid_1d(4), args, 2, NULL), RONDO_INVALID);
    args[1] = rondo_arg_value(NULL, 4);
    CHECK_CODE(rondo_launch(t->stream, kernel, rondo_grid_1d(4), args, 2, NULL), RONDO_INVALID);
    args[1] = rondo_arg_buffer(y);
    CHECK_CODE(rondo_launch(t->stream, kernel, rondo_grid_1d(4), args, 2, NULL), RONDO_INVALID);
    args[1] = rondo_arg_value(&wide, 4);
    args[0] = rondo_arg_value(&wide, 4);
    CHECK_CODE(rondo_launch(t->stream, kernel, rondo_grid_1d(4), args, 2, NULL), RONDO_INVALID);
    args[0] = rondo_arg_buffer(conform_host_block(t, 16));
    CHECK_CODE(rondo_launch(t->stream, kernel, rondo_grid_1d(4), args, 2, NULL), RONDO_INVALID);
    args[0] = rondo_arg_buffer(RONDO_NO_BUFFER);
    CHECK_CODE(rondo_launch(t->stream, kernel, rondo_grid_1d(4), args, 2, NULL), RONDO_STALE);
    args[0] = rondo_arg_buffer(y);
    CHECK_OK(rondo_launch(t->stream, kernel, rondo_grid_1d(4), args, 2, NULL));
}

/* [E2, M9] */
static void a_misaligned_argument_is_invalid_and_named(struct conform *t) {
    rondo_buffer y = conform_buffer(t, 32);
    for (uint64_t offset = 1; offset < 4; offset++) {
        rondo_status status =
            CHECK_CODE(conform_launch_fail_if(t, t->stream, rondo_slice(y, offset, 16), rondo_slice(y, 28, 4), 1, 4,
                                              "crooked"), RONDO_INVALID);
        CHECK_SAYS(status, "fail_if");
        CHECK_SAYS(status, "crooked");
    }
    conform_fill_i32(t, y, 0);
    CHECK_OK(conform_launch_fail_if(t, t->stream, rondo_slice(y, 4, 16), rondo_slice(y, 28, 4), 1, 4, NULL));
}

/* [E2] */
static void an_argument_stays_inside_its_buffer(struct conform *t) {
    rondo_buffer y = conform_buffer(t, 16);
    CHECK_CODE(conform_launch_iota(t, t->stream, rondo_slice(y, 4, 16), 0, 4, NULL), RONDO_RANGE);
    CHECK_CODE(conform_launch_iota(t, t->stream, rondo_slice(y, 20, RONDO_WHOLE), 0, 4, NULL), RONDO_RANGE);
    CHECK_CODE(conform_launch_iota(t, t->stream, rondo_slice(y, UINT64_MAX - 3, 8), 0, 2, NULL), RONDO_RANGE);
    CHECK_OK(conform_launch_iota(t, t->stream, rondo_slice(y, 4, 12), 0, 3, NULL));
}

/* [E2, M9] */
static void a_grid_that_overflows_is_out_of_range(struct conform *t) {
    rondo_buffer y = conform_buffer(t, 16);
    uint32_t base = 0;
    const rondo_arg args[] = {rondo_arg_buffer(y), rondo_arg_value(&base, sizeof base)};
    rondo_kernel *kernel = conform_kernel(t, KERNEL_FILL_3D);
    uint64_t big = UINT64_C(1) << 32;
    CHECK_CODE(rondo_launch(t->stream, kernel, rondo_grid_3d(big, big, 1), args, 2, NULL), RONDO_RANGE);
    CHECK_CODE(rondo_launch(t->stream, kernel, rondo_grid_3d(2, UINT64_MAX, 1), args, 2, NULL), RONDO_RANGE);
    CHECK_CODE(rondo_launch(t->stream, kernel, rondo_grid_3d(big, 2, big), args, 2, NULL), RONDO_RANGE);
    CHECK_OK(rondo_launch(t->stream, kernel, rondo_grid_3d(2, 2, 1), args, 2, NULL));
}

/* [W6] Arguments are judged before what the inputs carry. */
static void wrong_arguments_are_told_before_spoiled_inputs(struct conform *t) {
    rondo_buffer x = conform_buffer(t, 16);
    rondo_buffer y = conform_buffer(t, 16);
    conform_fill_i32(t, y, 4);
    conform_spoil(t->stream, rondo_whole(x), NULL);
    CHECK_CODE(conform_launch_copy(t, t->stream, rondo_slice(y, 1, 4), rondo_whole(x), 1, NULL), RONDO_INVALID);
    CHECK_CODE(conform_launch_copy(t, t->stream, rondo_slice(y, 8, 16), rondo_whole(x), 4, NULL), RONDO_RANGE);
    CHECK_CODE(conform_launch_copy(t, t->stream, rondo_whole(x), rondo_whole(x), 4, NULL), RONDO_ALIASED);
    CHECK_CODE(conform_launch_copy(t, t->stream, rondo_whole(y), rondo_whole(x), 4, NULL), RONDO_TAINTED);
}

/* [W8] */
static void an_output_that_overlaps_an_input_is_refused(struct conform *t) {
    rondo_buffer b = conform_buffer(t, 64);
    conform_fill_i32(t, b, 3);
    CHECK_CODE(conform_launch_copy(t, t->stream, rondo_whole(b), rondo_whole(b), 16, NULL), RONDO_ALIASED);
    CHECK_CODE(conform_launch_copy(t, t->stream, rondo_slice(b, 0, 32), rondo_slice(b, 28, 32), 8, NULL),
               RONDO_ALIASED);
    CHECK_CODE(conform_launch_copy(t, t->stream, rondo_slice(b, 16, 4), rondo_slice(b, 0, 64), 1, NULL),
               RONDO_ALIASED);
    CHECK_CODE(conform_launch_copy(t, t->stream, rondo_slice(b, 0, 64), rondo_slice(b, 16, 4), 1, NULL),
               RONDO_ALIASED);
    conform_fill_i32(t, b, 3);
    CHECK_OK(conform_launch_copy(t, t->stream, rondo_slice(b, 0, 32), rondo_slice(b, 32, 32), 8, NULL));
    conform_expect_all_i32(t, b, 3, 16);
}

/* [W8] */
static void two_inputs_may_overlap(struct conform *t) {
    rondo_buffer x = conform_buffer(t, 64);
    rondo_buffer y = conform_buffer(t, 32);
    CHECK_OK(conform_launch_iota(t, t->stream, rondo_whole(x), 0, 16, NULL));
    CHECK_OK(conform_launch_add(t, t->stream, rondo_whole(y), rondo_slice(x, 0, 32), rondo_slice(x, 16, 32), 8, NULL));
    static const int32_t expected[] = {4, 6, 8, 10, 12, 14, 16, 18};
    conform_expect_i32(t, y, expected, 8);
    CHECK_OK(conform_launch_add(t, t->stream, rondo_whole(y), rondo_slice(x, 0, 32), rondo_slice(x, 0, 32), 8, NULL));
    CHECK_EQUAL(conform_read_i32(t, y, 7), 14);
}

static rondo_status launch_axpy(struct conform *t, rondo_span y, rondo_span x) {
    float a = 1.0f;
    const rondo_arg args[] = {rondo_arg_span(x), rondo_arg_span(y), rondo_arg_value(&a, sizeof a)};
    return rondo_launch(t->stream, conform_kernel(t, KERNEL_AXPY), rondo_grid_1d(4), args, 3, NULL);
}

/* [W8] */
static void an_inout_that_overlaps_an_input_is_refused(struct conform *t) {
    rondo_buffer b = conform_buffer(t, 64);
    conform_fill_i32(t, b, 0);
    CHECK_CODE(launch_axpy(t, rondo_slice(b, 0, 16), rondo_slice(b, 0, 16)), RONDO_ALIASED);
    CHECK_CODE(launch_axpy(t, rondo_slice(b, 0, 16), rondo_slice(b, 12, 16)), RONDO_ALIASED);
    conform_fill_i32(t, b, 0);
    CHECK_OK(launch_axpy(t, rondo_slice(b, 0, 16), rondo_slice(b, 16, 16)));
}

/* [W8] */
static void a_kernel_that_says_so_takes_overlapping_arguments(struct conform *t) {
    rondo_buffer b = conform_buffer(t, 64);
    conform_fill_i32(t, b, 3);
    CHECK_OK(conform_launch_add_alias(t, t->stream, rondo_whole(b), rondo_whole(b), 16, NULL));
    conform_expect_all_i32(t, b, 4, 16);
    CHECK_OK(conform_launch_add_alias(t, t->stream, rondo_slice(b, 0, 32), rondo_slice(b, 32, 32), 8, NULL));
    static const int32_t expected[] = {5, 5, 5, 5, 5, 5, 5, 5, 4};
    conform_expect_i32(t, b, expected, 9);
}

/* [W8] */
static void an_aliasing_refusal_names_both_arguments(struct conform *t) {
    rondo_buffer b = conform_buffer(t, 64);
    conform_fill_i32(t, b, 0);
    rondo_status status = conform_launch_fail_if(t, t->stream, rondo_whole(b), rondo_slice(b, 0, 4), 1, 16, "twice");
    CHECK_CODE(status, RONDO_ALIASED);
    CHECK_SAYS(status, "flag");
    CHECK_SAYS(status, "fail_if");
    CHECK_SAYS(status, "twice");
    rondo_fault fault = conform_fault(status);
    CHECK(strstr(fault.message, "flag") != NULL);
    CHECK(strstr(fault.message, "y") != NULL);
}

static void write_both(const rondo_native_call *call) {
    for (uint64_t i = call->first; i < call->last; i++) {
        ((int32_t *)call->args[0])[i] = 1;
        ((int32_t *)call->args[1])[i] = 2;
    }
}

static rondo_kernel *two_outputs(struct conform *t, bool first_may_alias, bool second_may_alias) {
    const rondo_param params[] = {{"left", RONDO_PARAM_OUT, 4, 4, first_may_alias},
                                  {"right", RONDO_PARAM_OUT, 4, 4, second_may_alias}};
    const rondo_kernel_desc desc = {"both", params, 2, {0, 0, 0}, write_both, NULL, false, {0}};
    rondo_kernel *kernel = NULL;
    CHECK_OK(rondo_kernel_create(t->device, &desc, &kernel));
    return conform_keep_kernel(t, kernel);
}

/* [W8] */
static void two_outputs_that_overlap_are_refused_and_named(struct conform *t) {
    rondo_buffer b = conform_buffer(t, 64);
    rondo_kernel *kernel = two_outputs(t, false, false);
    rondo_arg args[] = {rondo_arg_span(rondo_slice(b, 0, 32)), rondo_arg_span(rondo_slice(b, 28, 32))};
    rondo_status status = rondo_launch(t->stream, kernel, rondo_grid_1d(8), args, 2, NULL);
    CHECK_CODE(status, RONDO_ALIASED);
    CHECK_SAYS(status, "left");
    CHECK_SAYS(status, "right");
    args[1] = rondo_arg_span(rondo_slice(b, 32, 32));
    CHECK_OK(rondo_launch(t->stream, kernel, rondo_grid_1d(8), args, 2, NULL));
    CHECK_EQUAL(conform_read_i32(t, b, 7), 1);
    CHECK_EQUAL(conform_read_i32(t, b, 8), 2);
}

/* [W8] It is enough that one of the two says that it may. */
static void one_parameter_that_may_alias_is_enough(struct conform *t) {
    rondo_buffer b = conform_buffer(t, 32);
    const rondo_arg args[] = {rondo_arg_buffer(b), rondo_arg_buffer(b)};
    CHECK_OK(rondo_launch(t->stream, two_outputs(t, true, false), rondo_grid_1d(8), args, 2, NULL));
    CHECK_OK(rondo_launch(t->stream, two_outputs(t, false, true), rondo_grid_1d(8), args, 2, NULL));
    CHECK_CODE(rondo_launch(t->stream, two_outputs(t, false, false), rondo_grid_1d(8), args, 2, NULL), RONDO_ALIASED);
}

/* [W8, W5] */
static void spans_without_bytes_overlap_nothing(struct conform *t) {
    rondo_buffer b = conform_buffer(t, 32);
    rondo_kernel *kernel = two_outputs(t, false, false);
    rondo_arg args[] = {rondo_arg_buffer(b), rondo_arg_span(rondo_slice(b, 16, 0))};
    CHECK_OK(rondo_launch(t->stream, kernel, rondo_grid_1d(0), args, 2, NULL));
    args[1] = rondo_arg_span(rondo_slice(b, 16, 4));
    CHECK_CODE(rondo_launch(t->stream, kernel, rondo_grid_1d(0), args, 2, NULL), RONDO_ALIASED);
}

/* [M6] */
static void launches_are_counted(struct conform *t) {
    rondo_buffer y = conform_buffer(t, 16);
    uint64_t before = conform_stats(t).launches;
    for (int32_t i = 0; i < 5; i++) {
        CHECK_OK(conform_launch_iota(t, t->stream, rondo_whole(y), i, 4, NULL));
    }
    CHECK_CODE(conform_launch_iota(t, t->stream, rondo_slice(y, 0, 20), 0, 5, NULL), RONDO_RANGE);
    CHECK_EQUAL(conform_stats(t).launches, before + 5);
}

const struct conform_case conform_work_launch_cases[] = {
    CONFORM_CASE(a_launch_runs_over_its_items, NEEDS_KERNELS),
    CONFORM_CASE(a_launch_works_on_slices, NEEDS_KERNELS),
    CONFORM_CASE(floats_arrive_as_they_are, NEEDS_KERNELS),
    CONFORM_CASE(groups_share_their_local_memory, NEEDS_KERNELS),
    CONFORM_CASE(a_grid_has_three_dimensions, NEEDS_KERNELS),
    CONFORM_CASE(a_grid_has_two_dimensions, NEEDS_KERNELS),
    CONFORM_CASE(atomics_of_a_big_grid_add_up, NEEDS_KERNELS),
    CONFORM_CASE(a_grid_without_items_does_nothing, NEEDS_KERNELS),
    CONFORM_CASE(a_grid_without_items_changes_no_claim, NEEDS_KERNELS),
    CONFORM_CASE(a_launch_counts_its_arguments, NEEDS_KERNELS),
    CONFORM_CASE(arguments_fit_their_parameters, NEEDS_KERNELS),
    CONFORM_CASE(a_misaligned_argument_is_invalid_and_named, NEEDS_KERNELS),
    CONFORM_CASE(an_argument_stays_inside_its_buffer, NEEDS_KERNELS),
    CONFORM_CASE(a_grid_that_overflows_is_out_of_range, NEEDS_KERNELS),
    CONFORM_CASE(wrong_arguments_are_told_before_spoiled_inputs, NEEDS_KERNELS),
    CONFORM_CASE(an_output_that_overlaps_an_input_is_refused, NEEDS_KERNELS),
    CONFORM_CASE(two_inputs_may_overlap, NEEDS_KERNELS),
    CONFORM_CASE(an_inout_that_overlaps_an_input_is_refused, NEEDS_KERNELS),
    CONFORM_CASE(a_kernel_that_says_so_takes_overlapping_arguments, NEEDS_KERNELS),
    CONFORM_CASE(an_aliasing_refusal_names_both_arguments, NEEDS_KERNELS),
    CONFORM_CASE(two_outputs_that_overlap_are_refused_and_named, NEEDS_NATIVE),
    CONFORM_CASE(one_parameter_that_may_alias_is_enough, NEEDS_NATIVE),
    CONFORM_CASE(spans_without_bytes_overlap_nothing, NEEDS_NATIVE),
    CONFORM_CASE(launches_are_counted, NEEDS_KERNELS),
    CONFORM_END,
};
