/* Buffers from the pools, when the pool already has the room. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "player.h"

enum { LIVE = 32, PAGE = 4096 };
#define TOUCHED_BYTES ((uint64_t)64 << 20)

void bench_mutex_pairs(void *user, uint64_t steps) {
    pthread_mutex_t *mutex = user;
    for (uint64_t step = 0; step < steps; step++) {
        pthread_mutex_lock(mutex);
        pthread_mutex_unlock(mutex);
    }
}

static void run_reserve(void *user, uint64_t steps) {
    const uint64_t bytes = *(const uint64_t *)user;
    rondo_stream *stream = bench_player_get()->stream;
    for (uint64_t step = 0; step < steps; step++) {
        rondo_buffer buffer;
        MUST(rondo_buffer_create(stream, bytes, RONDO_USAGE_GENERAL, &buffer));
        rondo_buffer_release(buffer);
    }
}

/* Sizes from 1 KiB to 64 MiB, all powers of two as likely, in a pool where 32 others come and go. One operation is a
 * release of one of them and a new one in its place. */
typedef struct mix {
    rondo_buffer live[LIVE];
    uint64_t state;
} mix;

static uint64_t next_random(mix *m) {
    m->state ^= m->state << 13;
    m->state ^= m->state >> 7;
    m->state ^= m->state << 17;
    return m->state;
}

static void run_mix(void *user, uint64_t steps) {
    mix *m = user;
    rondo_stream *stream = bench_player_get()->stream;
    for (uint64_t step = 0; step < steps; step++) {
        uint64_t random = next_random(m);
        rondo_buffer *slot = &m->live[random % LIVE];
        uint64_t base = (uint64_t)1024 << (random >> 8) % 16;
        uint64_t bytes = base + ((random >> 16) & (base - 1));
        rondo_buffer_release(*slot);
        MUST(rondo_buffer_create(stream, bytes, RONDO_USAGE_GENERAL, slot));
    }
}

static void touch(volatile char *memory) {
    for (uint64_t at = 0; at < TOUCHED_BYTES; at += PAGE) memory[at] = 1;
}

static void run_touch_pool(void *user, uint64_t steps) {
    rondo_stream *stream = bench_player_get()->stream;
    (void)user;
    for (uint64_t step = 0; step < steps; step++) {
        rondo_buffer buffer;
        void *data;
        MUST(rondo_buffer_create(stream, TOUCHED_BYTES, RONDO_USAGE_GENERAL, &buffer));
        MUST(rondo_map(stream, rondo_whole(buffer), RONDO_WRITES, &data));
        touch(data);
        MUST(rondo_unmap(stream, rondo_whole(buffer)));
        rondo_buffer_release(buffer);
    }
}

static void run_touch_malloc(void *user, uint64_t steps) {
    (void)user;
    for (uint64_t step = 0; step < steps; step++) {
        void *memory = malloc(TOUCHED_BYTES);
        if (memory == NULL) bench_fail("there is no memory");
        touch(memory);
        free(memory);
    }
}

static void sizes(pthread_mutex_t *mutex) {
    static const struct {
        const char *name;
        uint64_t bytes;
    } hits[] = {{"reserve/1 KiB", 1024},
                {"reserve/64 KiB", 64 << 10},
                {"reserve/1 MiB", 1 << 20},
                {"reserve/16 MiB", 16 << 20},
                {"reserve/64 MiB", 64 << 20}};
    for (size_t i = 0; i < sizeof hits / sizeof hits[0]; i++) {
        uint64_t bytes = hits[i].bytes;
        bench_compare(hits[i].name, (bench_side){run_reserve, &bytes, 1}, (bench_side){bench_mutex_pairs, mutex, 1});
    }
}

void bench_rows_memory(void) {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static mix m = {.state = 88172645463325252u};
    if (!bench_wants("reserve/")) return;
    sizes(&mutex);
    bench_compare("reserve/mix of 1 KiB to 64 MiB", (bench_side){run_mix, &m, 1},
                  (bench_side){bench_mutex_pairs, &mutex, 1});
    for (size_t i = 0; i < LIVE; i++) rondo_buffer_release(m.live[i]);
    unsigned samples = bench.samples;
    if (!bench.quick) bench.samples = 7; /* malloc needs a tenth of a second for each */
    bench_compare("reserve/64 MiB taken, touched, released", (bench_side){run_touch_pool, NULL, 1},
                  (bench_side){run_touch_malloc, NULL, 1});
    bench.samples = samples;
    MUST(rondo_device_trim(bench_player_get()->device, NULL));
}
