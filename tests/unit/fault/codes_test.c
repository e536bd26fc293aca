#include <rondo/status.h>

#include "unit.h"

static const struct {
    rondo_code code;
    int number;
    const char *name;
} codes[] = {
    {RONDO_CODE_OK, 0, "OK"},
#define ENTRY(name, number, text) {RONDO_##name, number, #name},
    RONDO_CODES(ENTRY)
#undef ENTRY
};

enum { COUNT = sizeof codes / sizeof codes[0] };

/* [E2] */
static void every_code_has_a_name_and_a_sentence_of_its_own(void **state) {
    (void)state;
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(codes[i].code, codes[i].number);
        assert_string_equal(rondo_code_name(codes[i].code), codes[i].name);
        assert_true(strlen(rondo_code_text(codes[i].code)) > 5);
        for (int j = 0; j < i; j++) {
            assert_int_not_equal(codes[i].number, codes[j].number);
            assert_string_not_equal(rondo_code_text(codes[i].code), rondo_code_text(codes[j].code));
        }
    }
}

/* [E2] The numbers are promised for ever; this list may only grow. */
static void the_numbers_of_codes_never_change(void **state) {
    static const int numbers[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 20,
                                  21, 22, 23, 24, 25, 30, 31, 32, 33, 40, 41, 42, 50};
    (void)state;
    assert_int_equal(COUNT, sizeof numbers / sizeof numbers[0]);
    for (int i = 0; i < COUNT; i++) assert_int_equal(codes[i].number, numbers[i]);
    assert_int_equal(RONDO_TAINTED, 20);
    assert_int_equal(RONDO_INTERNAL, 50);
}

/* [E2] */
static void an_unknown_code_is_named_so(void **state) {
    (void)state;
    assert_string_equal(rondo_code_name((rondo_code)999), "UNKNOWN");
    assert_string_equal(rondo_code_text((rondo_code)999), "no such code");
    assert_string_equal(rondo_code_name((rondo_code)15), "UNKNOWN");
}

/* [E1] A status is a value: a code below, a number above. */
static void a_status_is_taken_apart(void **state) {
    (void)state;
    rondo_status status = UINT64_C(0xfedcba987654) << 16 | 25;
    assert_int_equal(rondo_status_code(status), RONDO_KERNEL);
    assert_int_equal(rondo_status_number(status), 0xfedcba987654);
    assert_int_equal(rondo_status_code(RONDO_OK), RONDO_CODE_OK);
    assert_int_equal(rondo_status_number(RONDO_OK), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_has_a_name_and_a_sentence_of_its_own),
        cmocka_unit_test(the_numbers_of_codes_never_change),
        cmocka_unit_test(an_unknown_code_is_named_so),
        cmocka_unit_test(a_status_is_taken_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
