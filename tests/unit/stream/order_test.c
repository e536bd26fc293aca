/* Who waits for whom, where the order of threads must be certain: each step waits until the last one waits. */
#include "stream/order.h"

#include <pthread.h>
#include <sched.h>

#include "memory_bench.h"
#include "unit.h"

static const rdo_extent bytes[] = {{64, 128}};

typedef struct scene {
    memory_bench bench;
    rdo_order order;
    rdo_entry mapping, late;
    bool mapped, late_ran;
} scene;

static rdo_entry writer(void) {
    return (rdo_entry){.writes = bytes, .write_count = 1};
}

static void *map(void *user) {
    scene *s = user;
    rdo_lock_take(&s->bench.books.lock);
    s->mapped = rdo_order_map(&s->order, &s->bench.books, &s->mapping);
    rdo_lock_give(&s->bench.books.lock);
    return NULL;
}

static void *run_late(void *user) {
    scene *s = user;
    rdo_lock_take(&s->bench.books.lock);
    s->late_ran = rdo_order_enter(&s->order, &s->bench.books, &s->late);
    rdo_lock_give(&s->bench.books.lock);
    return NULL;
}

static void await_waiters(const scene *s, uint32_t count) {
    while (atomic_load(&s->order.fast_waiters) != count) (void)sched_yield();
}

/* [O4] It waits for a mapping that itself still waits. Once that is one, waiting on could be for ever. */
static void work_that_waits_for_a_mapping_to_be_is_refused_when_it_is(void **state) {
    scene s = {.mapping = writer(), .late = writer()};
    rdo_entry early = writer();
    pthread_t threads[2];
    (void)state;
    memory_bench_open(&s.bench);
    rdo_lock_take(&s.bench.books.lock);
    assert_true(rdo_order_enter(&s.order, &s.bench.books, &early));
    rdo_lock_give(&s.bench.books.lock);
    assert_int_equal(pthread_create(&threads[0], NULL, map, &s), 0);
    await_waiters(&s, 1);
    assert_int_equal(pthread_create(&threads[1], NULL, run_late, &s), 0);
    await_waiters(&s, 2);
    rdo_lock_take(&s.bench.books.lock);
    rdo_order_leave(&s.order, &s.bench.books, &early);
    rdo_lock_give(&s.bench.books.lock);
    for (int i = 0; i < 2; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_true(s.mapped);
    assert_false(s.late_ran);
    assert_ptr_equal(s.order.first, &s.mapping);
    assert_ptr_equal(s.order.last, &s.mapping);
    assert_int_equal(atomic_load(&s.order.fast_waiters), 0);
    memory_bench_close(&s.bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_that_waits_for_a_mapping_to_be_is_refused_when_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
