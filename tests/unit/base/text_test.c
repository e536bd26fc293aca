#include "base/text.h"

#include "unit.h"

/* [E1] */
static void a_text_that_fits_is_whole(void **state) {
    char room[8];
    (void)state;
    rdo_text text = rdo_text_in(room, sizeof room);
    assert_string_equal(room, "");
    rdo_text_add(&text, "%s", "abc");
    rdo_text_add(&text, "%d", 1234); /* seven characters and the zero: an exact fit */
    assert_string_equal(room, "abc1234");
    assert_int_equal(text.length, 7);
    rdo_text_add(&text, "%s", "");
    assert_string_equal(room, "abc1234");
}

/* [E1] */
static void a_text_that_does_not_fit_is_cut_and_its_length_is_told(void **state) {
    char room[9];
    (void)state;
    memset(room, '#', sizeof room);
    rdo_text text = rdo_text_in(room, sizeof room - 1);
    rdo_text_add(&text, "abc");
    rdo_text_add(&text, "defghij");
    assert_string_equal(room, "abcdefg");
    assert_int_equal(room[8], '#'); /* not a byte further */
    assert_int_equal(text.length, 10);
    rdo_text_add(&text, "more"); /* there is no room left at all */
    assert_string_equal(room, "abcdefg");
    assert_int_equal(room[8], '#');
    assert_int_equal(text.length, 14);
}

/* [E1] [E2] A first call without room asks for the length. */
static void without_room_only_the_length_is_counted(void **state) {
    char room = '#';
    (void)state;
    rdo_text texts[] = {rdo_text_in(&room, 0), rdo_text_in(NULL, 0), rdo_text_in(NULL, 100)};
    for (size_t i = 0; i < 3; i++) {
        rdo_text_add(&texts[i], "%d%s", 12, "ab");
        assert_int_equal(texts[i].length, 4);
    }
    assert_int_equal(room, '#');
}

static void a_room_of_one_byte_holds_the_zero(void **state) {
    char room[2] = {'#', '#'};
    (void)state;
    rdo_text text = rdo_text_in(room, 1);
    rdo_text_add(&text, "abc");
    assert_int_equal(room[0], '\0');
    assert_int_equal(room[1], '#');
    assert_int_equal(text.length, 3);
}

/* [W1] Labels are copied. */
static void a_copied_text_is_cut_to_its_room(void **state) {
    char room[5];
    (void)state;
    rdo_text_copy(room, sizeof room, "abcd");
    assert_string_equal(room, "abcd");
    rdo_text_copy(room, sizeof room, "abcdefgh");
    assert_string_equal(room, "abcd");
    rdo_text_copy(room, sizeof room, "x");
    assert_string_equal(room, "x");
    rdo_text_copy(room, sizeof room, "");
    assert_string_equal(room, "");
    rdo_text_copy(room, sizeof room, NULL);
    assert_string_equal(room, "");
    rdo_text_copy(room, 1, "abc");
    assert_string_equal(room, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_that_fits_is_whole),
        cmocka_unit_test(a_text_that_does_not_fit_is_cut_and_its_length_is_told),
        cmocka_unit_test(without_room_only_the_length_is_counted),
        cmocka_unit_test(a_room_of_one_byte_holds_the_zero),
        cmocka_unit_test(a_copied_text_is_cut_to_its_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
