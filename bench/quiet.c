/* rondo-quiet: counts what a warm replay asks of the C library: allocations, and waiting for locks. Between its marks,
 * calls of getppid that nothing else makes, bench.py counts system calls with strace. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "player.h"

enum { FEW = 100, MANY = 2000 };

static _Atomic bool counting;
static _Atomic unsigned long allocations, contended;

static void count(_Atomic unsigned long *counter) {
    if (atomic_load_explicit(&counting, memory_order_relaxed)) atomic_fetch_add(counter, 1);
}

/* ---- in the place of the C library's ---- */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t number, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t align, size_t size);

void *malloc(size_t size) {
    count(&allocations);
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    count(&allocations);
    return __libc_calloc(number, size);
}

void *realloc(void *block, size_t size) {
    count(&allocations);
    return __libc_realloc(block, size);
}

int posix_memalign(void **out_block, size_t align, size_t size) {
    count(&allocations);
    *out_block = __libc_memalign(align, size);
    return *out_block != NULL ? 0 : 12;
}

void *aligned_alloc(size_t align, size_t size) {
    count(&allocations);
    return __libc_memalign(align, size);
}

typedef int (*mutex_fn)(pthread_mutex_t *mutex);

/* Through a union, because a pointer to data does not become one to a function by a cast in C. */
static mutex_fn find(const char *name) {
    union {
        void *data;
        mutex_fn function;
    } found = {dlsym(RTLD_NEXT, name)};
    return found.function;
}

/* Rondo's own locks ask the C library only when they must wait. */
int pthread_mutex_lock(pthread_mutex_t *mutex) {
    static _Atomic(mutex_fn) real;
    mutex_fn function = atomic_load(&real);
    if (function == NULL) atomic_store(&real, function = find("pthread_mutex_lock"));
    count(&contended);
    return function(mutex);
}

/* ---- what is counted ---- */

static void mark(void) {
    syscall(SYS_getppid);
}

static double largest(double a, double b) {
    return a > b ? a : b;
}

typedef struct counts {
    double allocations, contended; /* a replay; the worst graph counts */
} counts;

static void replay(const bench_stage *stage, int count) {
    for (int i = 0; i < count; i++) MUST(rondo_graph_replay(stage->graph, stage->stream));
    stage->work->executed += (uint64_t)count;
}

static void count_replays(const char *workload, counts *out) {
    bench_stage *stage = bench_stage_make(bench_work_make(workload), NULL);
    bench_stage_record(stage);
    bench_work_reset(stage->work);
    replay(stage, FEW);
    mark();
    replay(stage, FEW);
    mark();
    allocations = contended = 0;
    mark();
    atomic_store(&counting, true);
    replay(stage, MANY);
    atomic_store(&counting, false);
    mark();
    MUST(rondo_stream_sync(stage->stream));
    bench_work_check(stage->work, "quiet replays");
    out->allocations = largest(out->allocations, (double)allocations / MANY);
    out->contended = largest(out->contended, (double)contended / MANY);
    /* Long enough for every worker to sleep; then one replay, for the wake. */
    const struct timespec rest = {.tv_nsec = 20000000};
    nanosleep(&rest, NULL);
    mark();
    MUST(rondo_graph_replay(stage->graph, stage->stream));
    mark();
    bench_stage_drop(stage);
}

int main(int argc, char **argv) {
    counts worst = {0, 0};
    bench_parse(argc, argv);
    count_replays("chain-64", &worst);
    count_replays("chain-4096", &worst);
    count_replays("wide", &worst);
    printf("Q\tquiet/allocations a replay\t%g\n", worst.allocations);
    printf("Q\tquiet/contended locks a replay\t%g\n", worst.contended);
    return 0;
}
