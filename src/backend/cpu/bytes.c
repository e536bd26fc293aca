#include <string.h>
#include "crew.h"
#include "parts.h"

#define SHARE_BYTES ((uint64_t)4 << 20)   /* from here on one processor does not fill the memory's bandwidth */
#define CHUNK_BYTES ((uint64_t)512 << 10) /* a multiple of every pattern */
#define MAX_HANDS 16u                     /* more do not make the memory faster */
#define BLOCK_BYTES 64u
#define BYTES_A_NS 10u /* a guess, good enough to tell short from long */
#define ROW_NS 20u

/* A run of bytes to write: from `source`, or if that is NULL with `block` over and over. */
struct run {
    uint8_t *target;
    const uint8_t *source;
    const uint8_t *block;
    bool one_byte; /* all bytes of the block are the same */
};

/* Blocks become a few vector stores each; every pattern length divides a block. */
static void repeat_block(uint8_t *target, uint64_t size_bytes, const uint8_t *block) {
    while (size_bytes >= BLOCK_BYTES) {
        memcpy(target, block, BLOCK_BYTES);
        target += BLOCK_BYTES;
        size_bytes -= BLOCK_BYTES;
    }
    if (size_bytes > 0) {
        memcpy(target, block, (size_t)size_bytes);
    }
}

static void write_run(const struct run *run, uint64_t first, uint64_t last) {
    size_t size_bytes = (size_t)(last - first);
    if (run->source != NULL) {
        memmove(run->target + first, run->source + first, size_bytes);
    } else if (run->one_byte) {
        memset(run->target + first, run->block[0], size_bytes);
    } else {
        repeat_block(run->target + first, size_bytes, run->block);
    }
}

static void write_chunk(void *context, uint64_t first, uint64_t last) {
    write_run(context, first, last);
}

/* Hands would read what others have written already. */
static bool overlaps_itself(const struct run *run, uint64_t size_bytes) {
    uintptr_t target = (uintptr_t)run->target;
    uintptr_t source = (uintptr_t)run->source;
    uintptr_t distance = target > source ? target - source : source - target;
    return run->source != NULL && distance < size_bytes;
}

static void write_all(struct rdo_cpu_queue *queue, struct run *run, uint64_t size_bytes) {
    struct rdo_crew_job job = {.fn = write_chunk,
                               .context = run,
                               .count = size_bytes,
                               .chunk = CHUNK_BYTES,
                               .max_hands = MAX_HANDS,
                               .alone_ns = size_bytes / BYTES_A_NS};
    struct rdo_crew_share own;
    if (size_bytes < SHARE_BYTES || overlaps_itself(run, size_bytes) ||
        !rdo_crew_run(queue->device->crew, &job, &own)) {
        write_run(run, 0, size_bytes);
    }
}

/* Rows that overlap are right when both pitches are the same: the last row goes first where the target is behind. */
void rdo_cpu_move(struct rdo_cpu_queue *queue, const rondo_backend_op *op) {
    uint8_t *target = op->kind == RONDO_OP_READ ? op->host : rdo_cpu_address(op->target);
    const uint8_t *source = op->kind == RONDO_OP_WRITE ? op->host : rdo_cpu_address(op->source);
    bool backwards = (uintptr_t)target > (uintptr_t)source;
    for (uint64_t step = 0; step < op->rows; step++) {
        uint64_t row = backwards ? op->rows - 1 - step : step;
        struct run run = {target + row * op->target_pitch_bytes, source + row * op->source_pitch_bytes, NULL, false};
        write_all(queue, &run, op->size_bytes);
    }
}

/* Never 0. */
struct rdo_cpu_cost rdo_cpu_estimate_bytes(const rondo_backend_op *op) {
    return rdo_cpu_cost_of(op->rows * (op->size_bytes / BYTES_A_NS + ROW_NS), op->size_bytes >= SHARE_BYTES);
}

static bool is_pattern_length(uint32_t bytes) {
    return bytes >= 1 && bytes <= 16 && (bytes & (bytes - 1)) == 0;
}

static bool is_one_byte(const uint8_t *pattern, uint32_t bytes) {
    return memcmp(pattern, pattern + 1, bytes - 1) == 0;
}

rondo_backend_result rdo_cpu_fill(struct rdo_cpu_queue *queue, const rondo_backend_op *op,
                                  rondo_backend_outcome *outcome) {
    uint8_t block[BLOCK_BYTES];
    if (!is_pattern_length(op->pattern_bytes)) {
        return rdo_cpu_fail(outcome, RONDO_BACKEND_NOT_RUN, 0, "a fill pattern has 1, 2, 4, 8 or 16 bytes");
    }
    for (uint32_t at = 0; at < BLOCK_BYTES; at += op->pattern_bytes) {
        memcpy(block + at, op->pattern, op->pattern_bytes);
    }
    for (uint64_t row = 0; row < op->rows; row++) {
        uint8_t *target = rdo_cpu_address(op->target) + row * op->target_pitch_bytes;
        struct run run = {target, NULL, block, is_one_byte(op->pattern, op->pattern_bytes)};
        write_all(queue, &run, op->size_bytes);
    }
    return RONDO_BACKEND_DONE;
}
