#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include "backend/cpu/cpu.h"
#include "backend/cpu/crew.h"
#include "backend/cpu/parts.h"
#include "backend_tools.h"

#define UNITS 5000u

static _Atomic uint32_t counts[UNITS];

static void count(void *context, uint64_t first, uint64_t last) {
    (void)context;
    for (uint64_t unit = first; unit < last; unit++) {
        atomic_fetch_add_explicit(&counts[unit], 1, memory_order_relaxed);
    }
}

static void expect_counts(uint64_t units, uint32_t times) {
    for (uint64_t unit = 0; unit < UNITS; unit++) {
        assert_int_equal(atomic_exchange(&counts[unit], 0), unit < units ? times : 0);
    }
}

/* Alone, when the crew has no hands or too little to share, as the launches do it. */
static bool run_or_count(struct rdo_crew *crew, uint64_t units, uint64_t chunk) {
    struct rdo_crew_job job = {.fn = count, .count = units, .chunk = chunk, .max_hands = RDO_CREW_MAX_HANDS};
    struct rdo_crew_share own = {0, 0};
    bool shared = rdo_crew_run(crew, &job, &own);
    if (!shared) {
        count(NULL, 0, units);
    }
    assert_true(own.units <= units);
    return shared;
}

/* [W1] */
static void each_unit_of_a_job_runs_once(void **state) {
    (void)state;
    seed_random();
    struct rdo_crew *crew = rdo_crew_create(4, false, false);
    assert_non_null(crew);
    for (int round = 0; round < 300; round++) {
        uint64_t units = 1 + random_below(UNITS), chunk = 1 + random_below(300);
        bool shared = run_or_count(crew, units, chunk);
        assert_int_equal(shared, units > chunk);
        expect_counts(units, 1);
    }
    rdo_crew_destroy(crew);
}

/* Sizes, and with them the number of hands, change from job to job: no hand may carry one job into the next. */
static void ten_thousand_small_jobs_leave_no_unit_out(void **state) {
    uint32_t expected[64] = {0};
    (void)state;
    seed_random();
    struct rdo_crew *crew = rdo_crew_create(3, false, false);
    for (int round = 0; round < 10000; round++) {
        uint64_t units = 1 + random_below(64);
        for (uint64_t unit = 0; unit < units; unit++) {
            expected[unit]++;
        }
        run_or_count(crew, units, 1 + random_below(8));
    }
    rdo_crew_destroy(crew);
    for (uint64_t unit = 0; unit < 64; unit++) {
        assert_int_equal(atomic_exchange(&counts[unit], 0), expected[unit]);
    }
}

static void *compete(void *argument) {
    for (int round = 0; round < 5000; round++) {
        run_or_count(argument, 40, 1 + (uint64_t)round % 7);
    }
    return NULL;
}

/* [E5] */
static void two_callers_share_one_crew_and_neither_waits_for_the_other(void **state) {
    pthread_t threads[2];
    (void)state;
    struct rdo_crew *crew = rdo_crew_create(3, false, false);
    for (int index = 0; index < 2; index++) {
        assert_int_equal(pthread_create(&threads[index], NULL, compete, crew), 0);
    }
    for (int index = 0; index < 2; index++) {
        pthread_join(threads[index], NULL);
    }
    rdo_crew_destroy(crew);
    expect_counts(40, 10000);
}

struct inner {
    struct rdo_crew *crew;
    _Atomic int shared;
};

static void share_again(void *context, uint64_t first, uint64_t last) {
    struct inner *inner = context;
    struct rdo_crew_job job = {.fn = count, .context = NULL, .count = 10, .chunk = 1, .max_hands = RDO_CREW_MAX_HANDS};
    struct rdo_crew_share own;
    (void)first, (void)last;
    if (rdo_crew_run(inner->crew, &job, &own)) {
        atomic_fetch_add(&inner->shared, 1);
    }
}

/* [E5] */
static void a_crew_in_use_refuses_another_job_at_once(void **state) {
    struct inner inner;
    struct rdo_crew_share own;
    (void)state;
    inner.crew = rdo_crew_create(2, false, false);
    atomic_init(&inner.shared, 0);
    struct rdo_crew_job job = {.fn = share_again, .context = &inner, .count = 20, .chunk = 1, .max_hands = 2};
    assert_true(rdo_crew_run(inner.crew, &job, &own));
    assert_int_equal(atomic_load(&inner.shared), 0);
    rdo_crew_destroy(inner.crew);
    expect_counts(0, 0);
}

/* [E5] Also while the hands are still on their way, or none was ever called. */
static void a_crew_ends_at_any_moment(void **state) {
    (void)state;
    rdo_crew_destroy(NULL);
    for (int round = 0; round < 200; round++) {
        struct rdo_crew *crew = rdo_crew_create(1 + (uint32_t)round % 5, round % 2 == 0, false);
        assert_non_null(crew);
        for (int job = 0; job < round % 3; job++) {
            run_or_count(crew, 30, 1);
        }
        rdo_crew_destroy(crew);
        expect_counts(30, (uint32_t)round % 3);
    }
}

static bool run_short_or_long(struct rdo_crew *crew, uint64_t alone_ns) {
    struct rdo_crew_job job = {.fn = count, .count = 2, .chunk = 1, .max_hands = 2, .alone_ns = alone_ns};
    struct rdo_crew_share own;
    return rdo_crew_run(crew, &job, &own);
}

static void let_time_pass(uint64_t ns) {
    uint64_t until = rdo_crew_now_ns() + ns;
    while (rdo_crew_now_ns() < until) {
        rdo_crew_pause(0);
    }
}

/* The pauses are far longer than hands watch, however long a busy machine keeps them from going to sleep. */
static void sleepers_are_woken_for_long_jobs_and_for_jobs_that_come_closely(void **state) {
    (void)state;
    uint32_t runs = 0;
    struct rdo_crew *crew = rdo_crew_create(2, false, false);
    while (run_short_or_long(crew, 1000)) {
        let_time_pass(2000000);
        runs++;
    }
    assert_true(run_short_or_long(crew, 1000)); /* right after the one that was refused */
    let_time_pass(2000000);
    while (run_short_or_long(crew, 1000)) {
        let_time_pass(2000000);
        runs++;
    }
    let_time_pass(2000000);
    assert_true(run_short_or_long(crew, 1000000000));
    let_time_pass(2000000);
    assert_true(run_short_or_long(crew, 0));
    rdo_crew_destroy(crew);
    expect_counts(2, runs + 3);
}

static void hands_that_spin_are_there_after_any_pause(void **state) {
    (void)state;
    struct rdo_crew *crew = rdo_crew_create(2, false, true);
    for (int job = 0; job < 5; job++) {
        assert_true(run_short_or_long(crew, 1));
        let_time_pass(2000000);
    }
    rdo_crew_destroy(crew);
    expect_counts(2, 5);
}

/* Work that units bring forth: each hand takes tokens until there are none. */
static _Atomic int tokens;

static void put_tokens(void *context, uint64_t first, uint64_t last) {
    (void)context;
    count(NULL, first, last);
    atomic_store(&tokens, 1000);
}

static void take_tokens(void *context) {
    _Atomic int *taken = context;
    uint64_t turn = 0;
    while (atomic_load(taken) < 1000) {
        if (atomic_load(&tokens) > 0 && atomic_fetch_sub(&tokens, 1) > 0) {
            atomic_fetch_add(taken, 1);
        } else {
            rdo_crew_pause(turn++);
        }
    }
}

static void one_unit_is_a_job_too_when_it_brings_forth_work(void **state) {
    (void)state;
    struct rdo_crew *crew = rdo_crew_create(3, false, false);
    for (int round = 0; round < 200; round++) {
        _Atomic int taken = 0;
        struct rdo_crew_job job = {.fn = put_tokens, .context = (void *)&taken, .count = 1, .chunk = 1,
                                   .max_hands = 3, .rest = take_tokens};
        struct rdo_crew_share own;
        atomic_store(&tokens, 0);
        assert_true(rdo_crew_run(crew, &job, &own));
        assert_int_equal(atomic_load(&taken), 1000);
    }
    rdo_crew_destroy(crew);
    expect_counts(1, 200);
}

static _Atomic int threads_left;

static int refuse_thread(pthread_t *out_thread, const pthread_attr_t *attributes, void *(*main_fn)(void *),
                         void *argument) {
    return atomic_fetch_sub(&threads_left, 1) > 0 ? pthread_create(out_thread, attributes, main_fn, argument) : EAGAIN;
}

/* [E3] */
static void a_crew_works_with_the_threads_that_it_could_get(void **state) {
    struct rdo_cpu_hooks before = rdo_cpu_hooks;
    (void)state;
    for (int allowed = 0; allowed < 4; allowed++) {
        rdo_cpu_hooks.thread_create = refuse_thread;
        atomic_store(&threads_left, allowed);
        struct rdo_crew *crew = rdo_crew_create(4, false, false);
        bool shared = run_or_count(crew, 100, 1);
        run_or_count(crew, 100, 1);
        rdo_crew_destroy(crew);
        rdo_cpu_hooks = before;
        assert_int_equal(shared, allowed > 0);
        expect_counts(100, 2);
    }
}

struct meeting {
    pthread_t caller;
    _Atomic int hands_met;
    _Atomic int open_signals;
};

/* Holds its chunk until another hand has come, so that one is looked at for certain. */
static void look_at_signals(void *context, uint64_t first, uint64_t last) {
    struct meeting *meeting = context;
    sigset_t blocked;
    (void)first, (void)last;
    if (pthread_equal(pthread_self(), meeting->caller)) {
        while (atomic_load(&meeting->hands_met) == 0) {
            sched_yield();
        }
        return;
    }
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    for (int number = 1; number < 32; number++) {
        bool can_block = number != SIGKILL && number != SIGSTOP;
        atomic_fetch_add(&meeting->open_signals, can_block && sigismember(&blocked, number) == 0 ? 1 : 0);
    }
    atomic_fetch_add(&meeting->hands_met, 1);
}

/* [E5] */
static void signals_are_left_to_the_threads_of_the_application(void **state) {
    struct meeting meeting;
    struct rdo_crew_share own;
    sigset_t before, after;
    (void)state;
    meeting.caller = pthread_self();
    atomic_init(&meeting.hands_met, 0);
    atomic_init(&meeting.open_signals, 0);
    struct rdo_crew *crew = rdo_crew_create(2, false, false);
    struct rdo_crew_job job = {.fn = look_at_signals, .context = &meeting, .count = 2, .chunk = 1, .max_hands = 2};
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    assert_true(rdo_crew_run(crew, &job, &own));
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    rdo_crew_destroy(crew);
    assert_true(atomic_load(&meeting.hands_met) > 0);
    assert_int_equal(atomic_load(&meeting.open_signals), 0);
    assert_int_equal(sigismember(&before, SIGINT), sigismember(&after, SIGINT));
}

struct placing {
    pthread_t caller;
    _Atomic int processors; /* that the hand may use, 0 until it has come */
};

static void look_at_processors(void *context, uint64_t first, uint64_t last) {
    struct placing *placing = context;
    cpu_set_t allowed;
    (void)first, (void)last;
    if (pthread_equal(pthread_self(), placing->caller)) {
        while (atomic_load(&placing->processors) == 0) {
            sched_yield();
        }
        return;
    }
    pthread_getaffinity_np(pthread_self(), sizeof allowed, &allowed);
    atomic_store(&placing->processors, CPU_COUNT(&allowed));
}

/* Until the hand is placed it may run anywhere, so the first job only brings it to life. */
static int processors_of_a_hand(bool pin) {
    struct placing placing;
    struct rdo_crew_share own;
    placing.caller = pthread_self();
    struct rdo_crew *crew = rdo_crew_create(2, pin, false);
    struct rdo_crew_job job = {.fn = look_at_processors, .context = &placing, .count = 2, .chunk = 1, .max_hands = 2};
    for (int round = 0; round < 2; round++) {
        atomic_store(&placing.processors, 0);
        assert_true(rdo_crew_run(crew, &job, &own));
    }
    rdo_crew_destroy(crew);
    return atomic_load(&placing.processors);
}

/* [O1] */
static void bound_hands_have_a_processor_of_their_own_and_others_all_that_the_process_has(void **state) {
    (void)state;
    assert_int_equal(processors_of_a_hand(true), 1);
    assert_int_equal(processors_of_a_hand(false), rdo_crew_processors());
}

/* [O1] */
static void there_is_at_least_one_processor(void **state) {
    (void)state;
    assert_in_range(rdo_crew_processors(), 1, 1u << 16);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_unit_of_a_job_runs_once),
        cmocka_unit_test(ten_thousand_small_jobs_leave_no_unit_out),
        cmocka_unit_test(two_callers_share_one_crew_and_neither_waits_for_the_other),
        cmocka_unit_test(a_crew_in_use_refuses_another_job_at_once),
        cmocka_unit_test(a_crew_ends_at_any_moment),
        cmocka_unit_test(sleepers_are_woken_for_long_jobs_and_for_jobs_that_come_closely),
        cmocka_unit_test(hands_that_spin_are_there_after_any_pause),
        cmocka_unit_test(one_unit_is_a_job_too_when_it_brings_forth_work),
        cmocka_unit_test(a_crew_works_with_the_threads_that_it_could_get),
        cmocka_unit_test(signals_are_left_to_the_threads_of_the_application),
        cmocka_unit_test(bound_hands_have_a_processor_of_their_own_and_others_all_that_the_process_has),
        cmocka_unit_test(there_is_at_least_one_processor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
