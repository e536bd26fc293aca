#include "base/lock.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "unit.h"

/* The bits of the ranks that this thread is known to hold: debug builds alone keep them. */
static uint32_t known(uint32_t bits) {
    return RDO_CHECKS ? bits : 0;
}

/* [E5] */
static void locks_are_taken_in_the_order_of_their_ranks(void **state) {
    rdo_lock locks[4];
    (void)state;
    for (int i = 0; i < 4; i++) rdo_lock_init(&locks[i], (rdo_rank)i);
    for (int i = 0; i < 4; i++) rdo_lock_take(&locks[i]);
    assert_int_equal(rdo_this_thread.held, known(15));
    for (int i = 0; i < 4; i++) rdo_lock_give(&locks[i]); /* giving has no order */
    assert_int_equal(rdo_this_thread.held, 0);
    assert_true(rdo_lock_try(&locks[1]));
    rdo_lock_take(&locks[3]);
    rdo_lock_give(&locks[3]);
    rdo_lock_give(&locks[1]);
}

#if RDO_CHECKS
/* Runs `misuse` in a child process and says by which signal that one died, 0 if it did not. */
static int signal_of(void (*misuse)(void)) {
    int status = 0;
    (void)fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)signal(SIGABRT, SIG_DFL); /* the test runner catches it */
        (void)setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        (void)!freopen("/dev/null", "w", stderr);
        misuse();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static rdo_lock device = RDO_LOCK_INIT(RDO_RANK_DEVICE), other_device = RDO_LOCK_INIT(RDO_RANK_DEVICE);
static rdo_lock leaf = RDO_LOCK_INIT(RDO_RANK_LEAF), queue = RDO_LOCK_INIT(RDO_RANK_QUEUE);

static void take_upwards(void) {
    rdo_lock_take(&device);
    rdo_lock_take(&queue);
}

static void try_upwards(void) {
    rdo_lock_take(&leaf);
    (void)rdo_lock_try(&device);
}

static void take_two_of_one_rank(void) {
    rdo_lock_take(&device);
    rdo_lock_take(&other_device);
}

static void take_downwards(void) {
    rdo_lock_take(&queue);
    rdo_lock_take(&device);
    rdo_lock_take(&leaf);
}

/* [E5] */
static void another_order_of_locks_is_refused_in_debug_builds(void **state) {
    (void)state;
    assert_int_equal(signal_of(take_upwards), SIGABRT);
    assert_int_equal(signal_of(try_upwards), SIGABRT);
    assert_int_equal(signal_of(take_two_of_one_rank), SIGABRT);
    assert_int_equal(signal_of(take_downwards), 0);
}
#endif

typedef struct meeting {
    rdo_lock lock;
    rdo_condition changed;
    int turn;
} meeting;

static void *try_once(void *user) {
    meeting *m = user;
    return rdo_lock_try(&m->lock) || rdo_this_thread.held != 0 ? m : NULL;
}

/* [E5] */
static void a_held_lock_cannot_be_tried(void **state) {
    meeting m;
    pthread_t thread;
    void *result = &m;
    (void)state;
    rdo_lock_init(&m.lock, RDO_RANK_DEVICE);
    rdo_lock_take(&m.lock);
    assert_int_equal(pthread_create(&thread, NULL, try_once, &m), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_null(result);
    rdo_lock_give(&m.lock);
}

static void *answer(void *user) {
    meeting *m = user;
    rdo_lock_take(&m->lock);
    while (m->turn != 1) rdo_condition_wait(&m->changed, &m->lock);
    m->turn = 2;
    rdo_condition_tell(&m->changed);
    rdo_lock_give(&m->lock);
    return NULL;
}

/* [E5] */
static void a_wait_lets_go_of_the_lock_and_takes_it_again(void **state) {
    meeting m = {.turn = 0};
    pthread_t thread;
    (void)state;
    rdo_lock_init(&m.lock, RDO_RANK_DEVICE);
    rdo_lock_take(&m.lock);
    assert_int_equal(pthread_create(&thread, NULL, answer, &m), 0);
    m.turn = 1;
    rdo_condition_tell(&m.changed);
    while (m.turn != 2) rdo_condition_wait(&m.changed, &m.lock); /* the other thread could take the lock meanwhile */
    assert_int_equal(rdo_this_thread.held, known(1u << RDO_RANK_DEVICE));
    assert_int_not_equal(m.lock.word, RDO_LOCK_FREE);
    rdo_lock_give(&m.lock);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

/* [E5] Held around a fork, so that the child finds whole what it guards. */
static void a_lock_is_held_from_before_a_fork_to_after_it(void **state) {
    rdo_lock lock;
    (void)state;
    rdo_lock_init(&lock, RDO_RANK_QUEUE);
    rdo_lock_before_fork(&lock);
    assert_int_not_equal(lock.word, RDO_LOCK_FREE);
    rdo_lock_after_fork(&lock);
    assert_true(rdo_lock_try(&lock));
    rdo_lock_give(&lock);
}

/* [E5] In a forked child whoever held the lock is gone. */
static void a_reset_lock_is_free(void **state) {
    static rdo_lock lock;
    (void)state;
    rdo_lock_init(&lock, RDO_RANK_LEAF);
    rdo_lock_take(&lock);
    rdo_lock_reset(&lock);
    assert_int_equal(rdo_this_thread.held, 0);
    assert_true(rdo_lock_try(&lock));
    rdo_lock_give(&lock);
}

/* ---- many threads ---- */

enum { THREADS = 4, TURNS = 20000, LOCKS = 40 };

typedef struct crowd {
    rdo_lock lock;
    uint64_t count; /* under the lock, and not atomic: two holders at once would lose some */
} crowd;

static void *count_up(void *user) {
    crowd *c = user;
    for (int turn = 0; turn < TURNS; turn++) {
        rdo_lock_take(&c->lock);
        c->count++;
        rdo_lock_give(&c->lock);
    }
    return NULL;
}

/* [E5] */
static void a_lock_has_one_holder_at_a_time(void **state) {
    crowd c = {.count = 0};
    pthread_t threads[THREADS];
    (void)state;
    rdo_lock_init(&c.lock, RDO_RANK_QUEUE);
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, count_up, &c), 0);
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(c.count, (uint64_t)THREADS * TURNS);
    assert_int_equal(c.lock.word, RDO_LOCK_FREE);
}

static void *sleep_for_it(void *user) {
    crowd *c = user;
    rdo_lock_take(&c->lock);
    c->count++;
    rdo_lock_give(&c->lock);
    return NULL;
}

/* [E5] Many locks share a lot, and each sleeper gets its own. */
static void whoever_sleeps_for_a_lock_is_woken_by_its_own(void **state) {
    static crowd c[LOCKS];
    pthread_t sleepers[LOCKS][2];
    (void)state;
    for (int i = 0; i < LOCKS; i++) {
        rdo_lock_init(&c[i].lock, RDO_RANK_QUEUE);
        atomic_store(&c[i].lock.word, RDO_LOCK_HELD); /* by nobody that has a rank to mind */
        for (int s = 0; s < 2; s++) assert_int_equal(pthread_create(&sleepers[i][s], NULL, sleep_for_it, &c[i]), 0);
    }
    for (int i = LOCKS; i-- > 0;) {
        while (atomic_load(&c[i].lock.word) != RDO_LOCK_AWAITED) (void)sched_yield();
        assert_int_equal(c[i].count, 0);
        rdo_lock_after_fork(&c[i].lock);
        for (int s = 0; s < 2; s++) assert_int_equal(pthread_join(sleepers[i][s], NULL), 0);
        assert_int_equal(c[i].count, 2);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(locks_are_taken_in_the_order_of_their_ranks),
#if RDO_CHECKS
        cmocka_unit_test(another_order_of_locks_is_refused_in_debug_builds),
#endif
        cmocka_unit_test(a_held_lock_cannot_be_tried),
        cmocka_unit_test(a_wait_lets_go_of_the_lock_and_takes_it_again),
        cmocka_unit_test(a_lock_is_held_from_before_a_fork_to_after_it),
        cmocka_unit_test(a_reset_lock_is_free),
        cmocka_unit_test(a_lock_has_one_holder_at_a_time),
        cmocka_unit_test(whoever_sleeps_for_a_lock_is_woken_by_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
