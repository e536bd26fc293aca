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

/* ---- the same in one thread, where what happens while something waits is certain ---- */

typedef struct play {
    memory_bench bench;
    rdo_order order;
    rdo_entry first, other, mapping, late;
    int waits;
} play;

static void go_on(rdo_order *order) {
    play *p = (play *)(void *)((char *)order - offsetof(play, order));
    if (p->waits++ == 0) { /* the mapping waits for the first */
        assert_true(rdo_order_register(order, &p->late));
        rdo_order_leave(order, &p->bench.books, &p->first);
    } else {
        rdo_order_leave(order, &p->bench.books, &p->other);
    }
}

/* [T8] [O4] What it is then said to have spoiled must not pass for good again when what came before it ends. */
static void work_that_a_mapping_refuses_comes_after_what_was_there_before(void **state) {
    static const rdo_extent both[] = {{64, 128}, {256, 320}};
    play p = {.first = writer(), .mapping = writer(), .late = {.writes = both, .write_count = 2}};
    (void)state;
    p.other = (rdo_entry){.writes = &both[1], .write_count = 1};
    memory_bench_open(&p.bench);
    rdo_order_instead_of_waiting = go_on;
    rdo_lock_take(&p.bench.books.lock);
    assert_true(rdo_order_enter(&p.order, &p.bench.books, &p.first));
    assert_true(rdo_order_enter(&p.order, &p.bench.books, &p.other));
    assert_true(rdo_order_map(&p.order, &p.bench.books, &p.mapping));
    assert_false(rdo_order_await(&p.order, &p.bench.books, &p.late));
    assert_int_equal(p.waits, 2);
    assert_ptr_equal(p.order.first, &p.mapping);
    assert_ptr_equal(p.order.last, &p.mapping);
    rdo_lock_give(&p.bench.books.lock);
    rdo_order_instead_of_waiting = NULL;
    memory_bench_close(&p.bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_that_waits_for_a_mapping_to_be_is_refused_when_it_is),
        cmocka_unit_test(work_that_a_mapping_refuses_comes_after_what_was_there_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
