/* Random programs over the public operations, run on the backend `sim` and compared with the model after each step.
 *
 * A program is a list of steps; a step is a kind and a few random numbers, which mean something in whatever state the
 * program is in. So any part of a program is a program, and one that shows a difference can be shrunk by leaving steps
 * out.
 */
#ifndef SIM_PROGRAM_H
#define SIM_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PROGRAM_WORDS = 10, PROGRAM_TEXT = 1024 };
enum { PROGRAM_STEP_BYTES = 4 + 2 * PROGRAM_WORDS }; /* of a step as bytes, at most */

typedef struct program_step {
    uint8_t kind;
    uint8_t stream;
    uint8_t fault; /* 0: the backend fails nothing in this step */
    uint32_t words[PROGRAM_WORDS];
} program_step;

typedef struct program {
    uint64_t seed;
    /* The universe, drawn from the seed. */
    uint32_t streams, queues, layout;
    uint32_t care; /* of a hundred choices, how many avoid what would be refused */
    bool debug_fresh;
    uint32_t queued; /* a bit per stream: it is in queued mode */
    program_step *steps;
    size_t count;
    /* What the user's steps of the one-call forms are taken from: the whole program, also when it has been shrunk. */
    program_step *library;
    size_t library_count;
} program;

void program_make(program *p, uint64_t seed, size_t steps);
/* The program that a fuzzer's bytes stand for: the same steps, each chosen by bytes of its own. Any bytes are a
 * program. */
void program_read(program *p, const uint8_t *bytes, size_t size);
/* The other way round, as far as there is room; of the random numbers only the low 16 bits are kept. Returns the
 * size. */
size_t program_write(const program *p, uint8_t *out_bytes, size_t room);
void program_free(program *p);

/* Runs it on a device of its own. False: Rondo and the model differ, and `out_text` (PROGRAM_TEXT bytes) says how. What
 * the program has made is then left as it is. With `verbose` each step is printed. */
bool program_run(const program *p, bool verbose, char *out_text);

#endif
