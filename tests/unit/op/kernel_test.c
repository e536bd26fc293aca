#include "op/kernel.h"

#include "base/alloc.h"
#include "unit.h"

static const rdo_where where = {.operation = "rondo_kernel_create", .op_index = RONDO_NO_INDEX};

static rondo_param params[RONDO_MAX_PARAMS + 1];
static char names[RONDO_MAX_PARAMS + 1][16];

/* A description with three parameters, good in every respect, for a test to spoil. */
static rondo_kernel_desc good(void) {
    memset(params, 0, sizeof params);
    for (int i = 0; i <= RONDO_MAX_PARAMS; i++) {
        (void)snprintf(names[i], sizeof names[i], "p%d", i);
        params[i] = (rondo_param){.name = names[i], .kind = RONDO_PARAM_INOUT, .size_bytes = 4};
    }
    params[1].kind = RONDO_PARAM_VALUE;
    return (rondo_kernel_desc){.name = "k", .params = params, .param_count = 3};
}

static void accept(const rondo_kernel_desc *desc) {
    assert_int_equal(rdo_kernel_check(&where, desc), RONDO_OK);
}

static void refuse(const rondo_kernel_desc *desc, rondo_code code, const char *words) {
    rondo_fault fault;
    rondo_status status = rdo_kernel_check(&where, desc);
    assert_int_equal(rondo_status_code(status), code);
    assert_int_equal(rondo_fault_get(status, &fault), RONDO_OK);
    if (strstr(fault.message, words) == NULL) fail_msg("'%s' does not say '%s'", fault.message, words);
}

/* [E2] */
static void a_description_without_a_name_is_refused(void **state) {
    (void)state;
    rondo_kernel_desc desc = good();
    accept(&desc);
    desc.name = NULL;
    refuse(&desc, RONDO_INVALID, "no name");
    desc.name = "";
    refuse(&desc, RONDO_INVALID, "no name");
    desc.name = "x";
    accept(&desc);
}

/* [E2] */
static void reserved_fields_must_be_zero(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof((rondo_kernel_desc *)0)->reserved; i++) {
        rondo_kernel_desc desc = good();
        desc.reserved[i] = 1;
        refuse(&desc, RONDO_INVALID, "reserved");
        desc.reserved[i] = 0;
        accept(&desc);
    }
}

/* [E2] */
static void the_number_of_parameters_has_a_limit(void **state) {
    (void)state;
    rondo_kernel_desc desc = good();
    desc.param_count = RONDO_MAX_PARAMS;
    accept(&desc);
    desc.param_count = RONDO_MAX_PARAMS + 1;
    refuse(&desc, RONDO_RANGE, "at most 32");
    desc.param_count = 1;
    desc.params = NULL;
    refuse(&desc, RONDO_INVALID, "params is null");
    desc.param_count = 0;
    accept(&desc);
}

/* [E2] */
static void parameters_need_names_of_their_own(void **state) {
    (void)state;
    rondo_kernel_desc desc = good();
    params[2].name = NULL;
    refuse(&desc, RONDO_INVALID, "parameter 2 of kernel 'k' has no name");
    params[2].name = "";
    refuse(&desc, RONDO_INVALID, "parameter 2");
    params[2].name = "p0";
    refuse(&desc, RONDO_INVALID, "parameters 0 and 2");
    params[2].name = "p00";
    accept(&desc);
}

/* [E2] */
static void parameters_are_of_known_kinds(void **state) {
    (void)state;
    for (int kind = -1; kind < 7; kind++) {
        rondo_kernel_desc desc = good();
        params[0].kind = (rondo_param_kind)kind;
        if (kind >= RONDO_PARAM_IN && kind <= RONDO_PARAM_VALUE) {
            accept(&desc);
        } else {
            refuse(&desc, RONDO_INVALID, "unknown kind");
        }
    }
}

/* [E2] */
static void alignments_are_powers_of_two(void **state) {
    (void)state;
    for (uint32_t align = 0; align < 70; align++) {
        rondo_kernel_desc desc = good();
        params[0].align_bytes = align;
        bool power = align == 0 || align == 1 || align == 2 || align == 4 || align == 8 || align == 16 ||
                     align == 32 || align == 64;
        if (power) {
            accept(&desc);
        } else {
            refuse(&desc, RONDO_INVALID, "no power of two");
        }
    }
}

/* [E2] */
static void values_have_a_size_within_limits(void **state) {
    static const struct { uint32_t size; rondo_code code; } cases[] = {
        {0, RONDO_INVALID}, {1, RONDO_CODE_OK}, {4096, RONDO_CODE_OK}, {4097, RONDO_RANGE}, {UINT32_MAX, RONDO_RANGE}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rondo_kernel_desc desc = good();
        params[1].size_bytes = cases[i].size;
        if (cases[i].code == RONDO_CODE_OK) {
            accept(&desc);
        } else {
            refuse(&desc, cases[i].code, "value parameter 'p1'");
        }
    }
    rondo_kernel_desc desc = good();
    params[0].size_bytes = 0; /* a buffer of bytes */
    accept(&desc);
    params[0].size_bytes = 100000;
    accept(&desc);
}

/* [E2] */
static void groups_have_a_size_within_limits(void **state) {
    static const struct { uint32_t group[3]; rondo_code code; } cases[] = {
        {{0, 0, 0}, RONDO_CODE_OK}, {{0, 7, 7}, RONDO_CODE_OK}, {{1, 0, 1}, RONDO_INVALID}, {{1, 1, 0}, RONDO_INVALID},
        {{1, 1, 1}, RONDO_CODE_OK}, {{1024, 1, 1}, RONDO_CODE_OK}, {{1025, 1, 1}, RONDO_RANGE},
        {{32, 32, 1}, RONDO_CODE_OK}, {{32, 32, 2}, RONDO_RANGE}, {{8, 8, 16}, RONDO_CODE_OK},
        {{UINT32_MAX, UINT32_MAX, UINT32_MAX}, RONDO_RANGE}, {{1, 1, 1025}, RONDO_RANGE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rondo_kernel_desc desc = good();
        memcpy(desc.group, cases[i].group, sizeof desc.group);
        if (cases[i].code == RONDO_CODE_OK) {
            accept(&desc);
        } else {
            refuse(&desc, cases[i].code, "group");
        }
    }
}

/* [O7] The texts may go away after the call. */
static void a_kernel_copies_its_description(void **state) {
    char name[] = "axpy";
    (void)state;
    rondo_kernel_desc desc = good();
    desc.name = name;
    desc.can_fail = true;
    params[2].may_alias = true, params[2].align_bytes = 16;
    rdo_books *books = (rdo_books *)(uintptr_t)64; /* only kept */
    rdo_kernel *kernel = rdo_kernel_new(books, &desc);
    assert_non_null(kernel);
    memset(name, 'z', sizeof name - 1);
    memset(names, 'z', sizeof names);
    memset(params, 0, sizeof params);
    assert_string_equal(kernel->name, "axpy");
    assert_int_equal(kernel->param_count, 3);
    assert_string_equal(kernel->params[0].name, "p0");
    assert_string_equal(kernel->params[2].name, "p2");
    assert_true(kernel->params[1].kind == RONDO_PARAM_VALUE && kernel->params[1].size_bytes == 4);
    assert_true(kernel->params[2].may_alias && kernel->params[2].align_bytes == 16);
    assert_true(kernel->can_fail && kernel->books == books && kernel->refs == 1 && kernel->user_refs == 1);
    assert_true(rdo_param_is_buffer(&kernel->params[0]) && !rdo_param_is_buffer(&kernel->params[1]));
    rdo_kernel_delete(kernel);
    assert_int_equal(rdo_alloc_live(), 0);
}

/* [R9] */
static void parameters_are_found_by_name(void **state) {
    (void)state;
    rondo_kernel_desc desc = good();
    rdo_kernel *kernel = rdo_kernel_new(NULL, &desc);
    assert_non_null(kernel);
    for (uint32_t i = 0; i < 3; i++) assert_int_equal(rdo_kernel_find_param(kernel, names[i]), i);
    assert_int_equal(rdo_kernel_find_param(kernel, "p3"), 3);
    assert_int_equal(rdo_kernel_find_param(kernel, ""), 3);
    rdo_kernel_delete(kernel);
}

/* [E3] */
static void without_memory_there_is_no_kernel(void **state) {
    (void)state;
    rondo_kernel_desc desc = good();
    starve(0, true);
    assert_null(rdo_kernel_new(NULL, &desc));
    assert_int_equal(feed(), 1);
    assert_int_equal(rdo_alloc_live(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_description_without_a_name_is_refused),
        cmocka_unit_test(reserved_fields_must_be_zero),
        cmocka_unit_test(the_number_of_parameters_has_a_limit),
        cmocka_unit_test(parameters_need_names_of_their_own),
        cmocka_unit_test(parameters_are_of_known_kinds),
        cmocka_unit_test(alignments_are_powers_of_two),
        cmocka_unit_test(values_have_a_size_within_limits),
        cmocka_unit_test(groups_have_a_size_within_limits),
        cmocka_unit_test(a_kernel_copies_its_description),
        cmocka_unit_test(parameters_are_found_by_name),
        cmocka_unit_test(without_memory_there_is_no_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
