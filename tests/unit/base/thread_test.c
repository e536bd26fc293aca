#include "base/thread.h"

#include <pthread.h>

#include "unit.h"

static void *look(void *user) {
    *(bool *)user = rdo_in_work();
    return NULL;
}

/* [E5] */
static void only_the_thread_that_works_is_in_work(void **state) {
    pthread_t thread;
    bool elsewhere = true;
    (void)state;
    assert_false(rdo_in_work());
    rdo_this_thread.work_depth++;
    assert_true(rdo_in_work());
    assert_int_equal(pthread_create(&thread, NULL, look, &elsewhere), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_false(elsewhere);
    rdo_this_thread.work_depth--;
    assert_false(rdo_in_work());
}

static void the_clock_goes_forward(void **state) {
    (void)state;
    uint64_t first = rdo_clock_ns(), now = first;
    while (now == first) now = rdo_clock_ns();
    assert_true(now > first);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_thread_that_works_is_in_work),
        cmocka_unit_test(the_clock_goes_forward),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
