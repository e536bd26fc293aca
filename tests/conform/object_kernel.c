/* Kernels: what a description must be, and what the backend hands to one. */
#include "conform.h"

#include <stdatomic.h>

static void run_nothing(const rondo_native_call *call) {
    (void)call;
}

static const rondo_param one_out[] = {{"target", RONDO_PARAM_OUT, 4, 4, false}};

/* A description that is fine, for cases to spoil. */
static rondo_kernel_desc good_desc(void) {
    rondo_kernel_desc desc = {0};
    desc.name = "good";
    desc.params = one_out;
    desc.param_count = 1;
    desc.native = run_nothing;
    return desc;
}

static void refuse(struct conform *t, const rondo_kernel_desc *desc, rondo_code code) {
    rondo_kernel *kernel = (rondo_kernel *)&kernel;
    CHECK_CODE(rondo_kernel_create(t->device, desc, &kernel), code);
    CHECK(kernel == NULL);
}

static rondo_kernel *accept(struct conform *t, const rondo_kernel_desc *desc) {
    rondo_kernel *kernel = NULL;
    CHECK_OK(rondo_kernel_create(t->device, desc, &kernel));
    CHECK(kernel != NULL);
    return conform_keep_kernel(t, kernel);
}

static void refuse_param(struct conform *t, rondo_param param, rondo_code code) {
    rondo_kernel_desc desc = good_desc();
    desc.params = &param;
    refuse(t, &desc, code);
}

static void accept_param(struct conform *t, rondo_param param) {
    rondo_kernel_desc desc = good_desc();
    desc.params = &param;
    accept(t, &desc);
}

/* [O7] */
static void a_kernel_knows_its_name_and_parameters(struct conform *t) {
    char name[RONDO_NAME_MAX];
    size_t count = 0;
    CHECK_OK(rondo_kernel_get_info(conform_kernel(t, KERNEL_FAIL_IF), name, &count));
    assert_string_equal(name, "fail_if");
    CHECK_EQUAL(count, 3);
    CHECK_CODE(rondo_kernel_get_info(NULL, name, &count), RONDO_STALE);
    CHECK_CODE(rondo_kernel_get_info(conform_kernel(t, KERNEL_FAIL_IF), NULL, &count), RONDO_INVALID);
    CHECK_CODE(rondo_kernel_get_info(conform_kernel(t, KERNEL_FAIL_IF), name, NULL), RONDO_INVALID);
}

/* [O7] */
static void a_description_may_go_away_after_loading(struct conform *t) {
    char kernel_name[] = "borrowed";
    char param_name[] = "bytes";
    rondo_param param = {param_name, RONDO_PARAM_OUT, 4, 4, false};
    rondo_kernel_desc desc = good_desc();
    desc.name = kernel_name;
    desc.params = &param;
    rondo_kernel *kernel = accept(t, &desc);
    memset(kernel_name, 'x', sizeof kernel_name - 1);
    memset(param_name, 'x', sizeof param_name - 1);
    memset(&param, 0, sizeof param);
    char name[RONDO_NAME_MAX];
    size_t count = 0;
    CHECK_OK(rondo_kernel_get_info(kernel, name, &count));
    assert_string_equal(name, "borrowed");
    rondo_arg arg = rondo_arg_span(rondo_slice(conform_buffer(t, 8), 2, 4));
    CHECK_SAYS(CHECK_CODE(rondo_launch(t->stream, kernel, rondo_grid_1d(1), &arg, 1, NULL), RONDO_INVALID), "bytes");
}

/* [O7, E2] */
static void a_kernel_needs_a_name(struct conform *t) {
    rondo_kernel_desc desc = good_desc();
    desc.name = NULL;
    refuse(t, &desc, RONDO_INVALID);
    desc.name = "";
    refuse(t, &desc, RONDO_INVALID);
    desc.name = "n";
    accept(t, &desc);
}

/* [O7, E2] */
static void parameters_need_names_of_their_own(struct conform *t) {
    refuse_param(t, (rondo_param){NULL, RONDO_PARAM_IN, 4, 4, false}, RONDO_INVALID);
    refuse_param(t, (rondo_param){"", RONDO_PARAM_IN, 4, 4, false}, RONDO_INVALID);
    rondo_param twins[] = {{"x", RONDO_PARAM_IN, 4, 4, false}, {"x", RONDO_PARAM_VALUE, 4, 4, false}};
    rondo_kernel_desc desc = good_desc();
    desc.params = twins;
    desc.param_count = 2;
    refuse(t, &desc, RONDO_INVALID);
    twins[1].name = "y";
    accept(t, &desc);
}

/* [O7, E2] */
static void parameters_are_of_a_known_kind(struct conform *t) {
    refuse_param(t, (rondo_param){"x", (rondo_param_kind)0, 4, 4, false}, RONDO_INVALID);
    refuse_param(t, (rondo_param){"x", (rondo_param_kind)5, 4, 4, false}, RONDO_INVALID);
    accept_param(t, (rondo_param){"x", RONDO_PARAM_INOUT, 4, 4, false});
}

/* [O7, E2] */
static void a_value_has_between_1_and_4096_bytes(struct conform *t) {
    refuse_param(t, (rondo_param){"x", RONDO_PARAM_VALUE, 0, 0, false}, RONDO_INVALID);
    refuse_param(t, (rondo_param){"x", RONDO_PARAM_VALUE, 4097, 0, false}, RONDO_RANGE);
    accept_param(t, (rondo_param){"x", RONDO_PARAM_VALUE, 1, 0, false});
    accept_param(t, (rondo_param){"x", RONDO_PARAM_VALUE, 4096, 0, false});
}

/* [O7, M9] */
static void an_alignment_is_a_power_of_two(struct conform *t) {
    refuse_param(t, (rondo_param){"x", RONDO_PARAM_IN, 4, 3, false}, RONDO_INVALID);
    refuse_param(t, (rondo_param){"x", RONDO_PARAM_IN, 4, 12, false}, RONDO_INVALID);
    accept_param(t, (rondo_param){"x", RONDO_PARAM_IN, 4, 0, false});
    accept_param(t, (rondo_param){"x", RONDO_PARAM_IN, 4, 64, false});
}

/* [O7, E2] */
static void a_group_has_between_1_and_1024_items(struct conform *t) {
    rondo_kernel_desc desc = good_desc();
    desc.group[0] = 8;
    refuse(t, &desc, RONDO_INVALID);
    desc.group[1] = 1;
    refuse(t, &desc, RONDO_INVALID);
    desc.group[2] = 1;
    accept(t, &desc);
    desc.group[0] = 1025;
    refuse(t, &desc, RONDO_RANGE);
    desc.group[0] = 16;
    desc.group[1] = 16;
    desc.group[2] = 5;
    refuse(t, &desc, RONDO_RANGE);
    desc.group[2] = 4;
    accept(t, &desc);
    desc.group[0] = desc.group[1] = desc.group[2] = UINT32_MAX;
    refuse(t, &desc, RONDO_RANGE);
}

/* [O7, E2] */
static void a_kernel_has_at_most_32_parameters(struct conform *t) {
    char names[RONDO_MAX_PARAMS + 1][8];
    rondo_param params[RONDO_MAX_PARAMS + 1];
    for (size_t i = 0; i <= RONDO_MAX_PARAMS; i++) {
        snprintf(names[i], sizeof names[i], "p%zu", i);
        params[i] = (rondo_param){names[i], RONDO_PARAM_VALUE, 4, 4, false};
    }
    rondo_kernel_desc desc = good_desc();
    desc.params = params;
    desc.param_count = RONDO_MAX_PARAMS + 1;
    refuse(t, &desc, RONDO_RANGE);
    desc.param_count = SIZE_MAX;
    refuse(t, &desc, RONDO_RANGE);
    desc.param_count = RONDO_MAX_PARAMS;
    accept(t, &desc);
}

/* [E2] */
static void loading_a_kernel_checks_its_arguments(struct conform *t) {
    rondo_kernel_desc desc = good_desc();
    rondo_kernel *kernel = (rondo_kernel *)&kernel;
    CHECK_CODE(rondo_kernel_create(NULL, &desc, &kernel), RONDO_STALE);
    CHECK(kernel == NULL);
    CHECK_CODE(rondo_kernel_create(t->device, &desc, NULL), RONDO_INVALID);
    refuse(t, NULL, RONDO_INVALID);
    desc.params = NULL;
    refuse(t, &desc, RONDO_INVALID);
    desc.param_count = 0;
    accept(t, &desc);
    desc.reserved[6] = 1;
    refuse(t, &desc, RONDO_INVALID);
}

/* [O7] */
static void a_kernel_that_offers_nothing_to_run_is_unsupported(struct conform *t) {
    rondo_kernel_desc desc = good_desc();
    desc.native = NULL;
    refuse(t, &desc, RONDO_UNSUPPORTED);
}

/* [O7] */
static void a_backend_without_kernels_says_so(struct conform *t) {
    rondo_device_info info;
    CHECK_OK(rondo_device_get_info(t->device, &info));
    bool offers = (conform_backend_find(t->backend)->offers & NEEDS_KERNELS) != 0;
    CHECK_EQUAL(info.kernels, offers);
    rondo_kernel_desc desc = good_desc();
    if (offers) {
        (void)conform_kernel(t, KERNEL_COPY);
    } else {
        refuse(t, &desc, RONDO_UNSUPPORTED);
    }
}

/* [O7] */
static void a_retained_kernel_lives_until_its_last_release(struct conform *t) {
    rondo_kernel_desc desc = good_desc();
    rondo_kernel *kernel = NULL;
    CHECK_OK(rondo_kernel_create(t->device, &desc, &kernel));
    CHECK_OK(rondo_kernel_retain(kernel));
    rondo_kernel_release(kernel);
    rondo_arg arg = rondo_arg_buffer(conform_buffer(t, 4));
    CHECK_OK(rondo_launch(t->stream, kernel, rondo_grid_1d(1), &arg, 1, NULL));
    rondo_kernel_release(kernel);
    CHECK_CODE(rondo_launch(t->stream, kernel, rondo_grid_1d(1), &arg, 1, NULL), RONDO_STALE);
    CHECK_CODE(rondo_kernel_retain(kernel), RONDO_STALE);
    rondo_kernel_release(kernel);
    rondo_kernel_release(NULL);
}

static void run_big_value(const rondo_native_call *call) {
    if (call->first == 0 && call->last > 0) {
        memcpy(call->args[0], call->args[1], 4096);
    }
}

/* [O7] */
static void a_value_of_4096_bytes_arrives_whole(struct conform *t) {
    static const rondo_param params[] = {{"target", RONDO_PARAM_OUT, 1, 1, false},
                                         {"bytes", RONDO_PARAM_VALUE, 4096, 8, false}};
    rondo_kernel_desc desc = good_desc();
    desc.params = params;
    desc.param_count = 2;
    desc.native = run_big_value;
    rondo_kernel *kernel = accept(t, &desc);
    unsigned char value[4096];
    unsigned char out[4096] = {0};
    for (size_t i = 0; i < sizeof value; i++) {
        value[i] = (unsigned char)(i * 7 + 1);
    }
    rondo_buffer buffer = conform_buffer(t, 4096);
    rondo_arg args[] = {rondo_arg_buffer(buffer), rondo_arg_value(value, sizeof value)};
    CHECK_OK(rondo_launch(t->stream, kernel, rondo_grid_1d(1), args, 2, NULL));
    CHECK_OK(rondo_read(t->stream, rondo_whole(buffer), out, NULL));
    assert_memory_equal(out, value, sizeof value);
}

static void run_many_params(const rondo_native_call *call) {
    int32_t sum = 0;
    for (size_t i = 1; i < RONDO_MAX_PARAMS; i++) {
        sum += *(const int32_t *)call->args[i];
    }
    ((int32_t *)call->args[0])[0] = sum;
}

/* [O7] */
static void all_32_parameters_arrive(struct conform *t) {
    char names[RONDO_MAX_PARAMS][8];
    rondo_param params[RONDO_MAX_PARAMS];
    rondo_arg args[RONDO_MAX_PARAMS];
    int32_t values[RONDO_MAX_PARAMS];
    for (size_t i = 0; i < RONDO_MAX_PARAMS; i++) {
        snprintf(names[i], sizeof names[i], "p%zu", i);
        values[i] = (int32_t)(i * i);
        params[i] = (rondo_param){names[i], RONDO_PARAM_VALUE, 4, 4, false};
        args[i] = rondo_arg_value(&values[i], 4);
    }
    params[0].kind = RONDO_PARAM_OUT;
    rondo_buffer buffer = conform_buffer(t, 4);
    args[0] = rondo_arg_buffer(buffer);
    rondo_kernel_desc desc = good_desc();
    desc.params = params;
    desc.param_count = RONDO_MAX_PARAMS;
    desc.native = run_many_params;
    CHECK_OK(rondo_launch(t->stream, accept(t, &desc), rondo_grid_1d(1), args, RONDO_MAX_PARAMS, NULL));
    CHECK_EQUAL(conform_read_i32(t, buffer, 0), 10416);
}

/* Adds 1 for each of its items, found as kernel.h says groups are numbered. */
static void run_groups(const rondo_native_call *call) {
    static const uint64_t size[3] = {4, 2, 2};
    _Atomic int32_t *hits = (_Atomic int32_t *)call->args[0];
    uint64_t across = (call->grid[0] + size[0] - 1) / size[0];
    uint64_t down = (call->grid[1] + size[1] - 1) / size[1];
    for (uint64_t group = call->first; group < call->last; group++) {
        uint64_t x0 = group % across * size[0];
        uint64_t y0 = group / across % down * size[1];
        uint64_t z0 = group / across / down * size[2];
        for (uint64_t item = 0; item < size[0] * size[1] * size[2]; item++) {
            uint64_t x = x0 + item % 4;
            uint64_t y = y0 + item / 4 % 2;
            uint64_t z = z0 + item / 8;
            if (x < call->grid[0] && y < call->grid[1] && z < call->grid[2]) {
                atomic_fetch_add(&hits[(z * call->grid[1] + y) * call->grid[0] + x], 1);
            }
        }
    }
}

/* [O7] */
static void groups_cover_every_item_once(struct conform *t) {
    static const rondo_param params[] = {{"hits", RONDO_PARAM_INOUT, 4, 4, false}};
    static const uint64_t grids[][3] = {{1, 1, 1}, {4, 2, 2}, {5, 3, 3}, {17, 9, 7}, {64, 64, 3}};
    rondo_kernel_desc desc = good_desc();
    desc.params = params;
    desc.group[0] = 4;
    desc.group[1] = 2;
    desc.group[2] = 2;
    desc.native = run_groups;
    rondo_kernel *kernel = accept(t, &desc);
    for (size_t i = 0; i < sizeof grids / sizeof grids[0]; i++) {
        uint64_t items = grids[i][0] * grids[i][1] * grids[i][2];
        rondo_buffer hits = conform_buffer(t, items * 4);
        conform_fill_i32(t, hits, 0);
        rondo_arg arg = rondo_arg_buffer(hits);
        rondo_grid grid = rondo_grid_3d(grids[i][0], grids[i][1], grids[i][2]);
        CHECK_OK(rondo_launch(t->stream, kernel, grid, &arg, 1, NULL));
        conform_expect_all_i32(t, hits, 1, items);
    }
}

static void run_items(const rondo_native_call *call) {
    int32_t *hits = (int32_t *)call->args[0];
    for (uint64_t i = call->first; i < call->last; i++) {
        hits[i] += 1;
    }
}

static void expect_items(struct conform *t, rondo_kernel *kernel, rondo_grid grid) {
    uint64_t items = grid.x * grid.y * grid.z;
    rondo_buffer hits = conform_buffer(t, items * 4);
    conform_fill_i32(t, hits, 0);
    rondo_arg arg = rondo_arg_buffer(hits);
    CHECK_OK(rondo_launch(t->stream, kernel, grid, &arg, 1, NULL));
    conform_expect_all_i32(t, hits, 1, items);
}

/* [O7] */
static void items_without_groups_run_once_each(struct conform *t) {
    static const rondo_param params[] = {{"hits", RONDO_PARAM_INOUT, 4, 4, false}};
    rondo_kernel_desc desc = good_desc();
    desc.params = params;
    desc.native = run_items;
    rondo_kernel *kernel = accept(t, &desc);
    expect_items(t, kernel, rondo_grid_1d(1));
    expect_items(t, kernel, rondo_grid_1d(1000003));
    expect_items(t, kernel, rondo_grid_2d(1001, 97));
    expect_items(t, kernel, rondo_grid_3d(31, 33, 35));
}

const struct conform_case conform_object_kernel_cases[] = {
    CONFORM_CASE(a_kernel_knows_its_name_and_parameters, NEEDS_KERNELS),
    CONFORM_CASE(a_description_may_go_away_after_loading, NEEDS_NATIVE),
    CONFORM_CASE(a_kernel_needs_a_name, NEEDS_NATIVE),
    CONFORM_CASE(parameters_need_names_of_their_own, NEEDS_NATIVE),
    CONFORM_CASE(parameters_are_of_a_known_kind, NEEDS_NATIVE),
    CONFORM_CASE(a_value_has_between_1_and_4096_bytes, NEEDS_NATIVE),
    CONFORM_CASE(an_alignment_is_a_power_of_two, NEEDS_NATIVE),
    CONFORM_CASE(a_group_has_between_1_and_1024_items, NEEDS_NATIVE),
    CONFORM_CASE(a_kernel_has_at_most_32_parameters, NEEDS_NATIVE),
    CONFORM_CASE(loading_a_kernel_checks_its_arguments, NEEDS_NATIVE),
    CONFORM_CASE(a_kernel_that_offers_nothing_to_run_is_unsupported, NEEDS_NOTHING),
    CONFORM_CASE(a_backend_without_kernels_says_so, NEEDS_NOTHING),
    CONFORM_CASE(a_retained_kernel_lives_until_its_last_release, NEEDS_NATIVE),
    CONFORM_CASE(a_value_of_4096_bytes_arrives_whole, NEEDS_NATIVE),
    CONFORM_CASE(all_32_parameters_arrive, NEEDS_NATIVE),
    CONFORM_CASE(groups_cover_every_item_once, NEEDS_NATIVE),
    CONFORM_CASE(items_without_groups_run_once_each, NEEDS_NATIVE),
    CONFORM_END,
};
