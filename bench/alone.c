#include "alone.h"

#include <math.h>
#include <stdatomic.h>
#include "harness.h"

/* Queues hold 56 to 72 stores on today's processors with two threads a core. The multiplications before a burst keep
 * its stores waiting for each other. */
enum { MULTIPLICATIONS = 400, BURSTS = 200, BURST_MULTIPLICATIONS = 8, BURST_STORES = 40 };

/* With a neighbour the bursts were seen to take 1.2 to 1.8 times as long, one time other than the next; without one
 * always the same, to within 0.02. So a process has seen a free core when looks of some milliseconds gave nearly the
 * least. */
#define MOST_OF_LEAST 1.1
#define FREE_OF_LEAST 1.02
enum { FREE_LOOKS = 1000 };

static uint64_t multiply(uint64_t product, int times) {
    for (int i = 0; i < times; i++) {
        product *= product;
        __asm__ volatile("" : "+r"(product)); /* so that the compiler neither knows nor drops it */
    }
    return product;
}

static double multiply_ns(void) {
    uint64_t start = bench_now_ns();
    multiply(3, MULTIPLICATIONS);
    return (double)(bench_now_ns() - start);
}

static double store_ns(void) {
    volatile uint64_t line[2] = {3};
    uint64_t start = bench_now_ns();
    for (int burst = 0; burst < BURSTS; burst++) {
        line[0] = multiply(3, BURST_MULTIPLICATIONS);
        for (int store = 0; store < BURST_STORES; store++) line[1] = 1;
    }
    (void)line[1];
    return (double)(bench_now_ns() - start);
}

/* The shortest of each that was seen so far. Interruptions only lengthen, so the two belong to a free core as soon as
 * one look of each has found it free. */
static _Atomic double least_store_ns = HUGE_VAL, least_multiply_ns = HUGE_VAL;

/* Two threads may lower a value at once, and the higher one win; a later look mends that. */
static void lower(_Atomic double *least, double ns) {
    if (ns < atomic_load_explicit(least, memory_order_relaxed)) atomic_store_explicit(least, ns, memory_order_relaxed);
}

/* How many times longer than at best the stores took, beside the multiplications. */
static double look(void) {
    double multiplying = multiply_ns(), storing = store_ns();
    multiplying = fmin(multiplying, multiply_ns()); /* an interruption is in one of them at most */
    lower(&least_multiply_ns, multiplying);
    lower(&least_store_ns, storing);
    return storing / multiplying * atomic_load_explicit(&least_multiply_ns, memory_order_relaxed) /
           atomic_load_explicit(&least_store_ns, memory_order_relaxed);
}

/* Until the least is that of a free core, or the time is up. */
static void look_at_first(uint64_t most_ns) {
    uint64_t start = bench_now_ns();
    for (int free = 0; free < FREE_LOOKS && bench_now_ns() - start < most_ns;) {
        free = look() <= FREE_OF_LEAST ? free + 1 : 0;
    }
}

bool bench_is_alone(void) {
    if (atomic_load_explicit(&least_store_ns, memory_order_relaxed) == HUGE_VAL) look_at_first(bench.patience_ns);
    return look() <= MOST_OF_LEAST;
}
