/* The workloads on OpenCL, as launches over buffers whose elements are all equal, so that one number for each buffer is
 * the whole model. Played by Rondo (opencl_rondo.c) and written by hand (opencl_hand.c), from one kernel text. */
#ifndef BENCH_OPENCL_H
#define BENCH_OPENCL_H

#include "harness.h"

enum { LOAD_MOST_BUFFERS = 128, LOAD_MOST_KERNELS = 64, LOAD_MOST_LAUNCHES = 1024 };

/* axpy(y, x, a): y += a * x. triad(target, left, right, scale): target = left + scale * right. */
extern const char load_text[];

/* A kernel with its buffers. */
typedef struct load_call {
    bool is_triad;
    unsigned buffer[3]; /* y, x; or target, left, right */
} load_call;

typedef struct load {
    const char *name;
    size_t items, local;
    size_t spare_bytes; /* behind each buffer by hand, as in a page of Rondo's: how far apart large arrays lie changes
                         * the speed of memory by a twentieth */
    unsigned buffer_count, call_count, launch_count;
    load_call call[LOAD_MOST_KERNELS];          /* those that differ */
    unsigned launch[LOAD_MOST_LAUNCHES];        /* in order: which call */
    float start[LOAD_MOST_BUFFERS], end[LOAD_MOST_BUFFERS]; /* each buffer's number before and after a step */
} load;

#define LOAD_AXPY_A 1.0f
#define LOAD_TRIAD_SCALE 0.5f

/* Somebody who can play a load. */
typedef struct load_player {
    const char *name;
    void *user;
    void (*set)(void *user, unsigned buffer, size_t first, size_t count, float value); /* items of a buffer */
    float (*get)(void *user, unsigned buffer, size_t item);
    void (*run)(void *user, uint64_t steps); /* and waits after each step */
} load_player;

/* By hand: all buffers and kernel objects are made and have their arguments. NULL where there is no such device. */
typedef struct hand hand;
hand *hand_open(void);
void hand_load(hand *hand, const load *load);
void hand_unload(hand *hand);
load_player hand_enqueues(hand *hand);
/* Records; `run` is NULL if the driver has no command buffers. */
load_player hand_command_buffer(hand *hand);
/* A contestant that records a command buffer and lets it go. */
void hand_record(void *hand, uint64_t steps);

/* Rondo. */
typedef struct mine mine;
mine *mine_open(void);
/* How replays run, in the device's words. Known once something was recorded. */
const char *mine_way(mine *mine);
void mine_load(mine *mine, const load *load);
/* Makes the graph, once the buffers have numbers. `language`: with the kernels in Rondo's language instead of the text
 * above. */
void mine_capture(mine *mine, bool language);
void mine_unload(mine *mine);
load_player mine_replays(mine *mine);
load_player mine_launches(mine *mine);
void mine_record(void *mine, uint64_t steps);
/* Calls of the driver that wait, and that ask whether something is over, since the last call of this. */
void mine_count(uint64_t *out_waits, uint64_t *out_questions);

#endif
