/* Exhaustive walks: a machine and a short reference take the same steps, and are compared after each.
 *
 * A walk makes every sequence of choices there is. Two ways to do that: walk_sequences takes each sequence by itself,
 * up to a length; walk_states goes on from each state once, however it was reached, and so comes to an end where the
 * machine has finitely many states: then sequences of any length are covered.
 */
#ifndef WALK_H
#define WALK_H

#include "unit.h"

enum { WALK_LONGEST = 24, WALK_FIRST_STATES = 1000 };

typedef struct walk_machine {
    unsigned choices;
    void (*start)(void);
    /* Takes the step on both. NULL: they agree. Else what does not, in words; WALK_NOT_NOW: the choice cannot
     * be made here, and nothing was done. */
    const char *(*step)(unsigned choice);
    void (*end)(void);
    /* For walk_states: a number for all that decides what comes next; states that differ in that differ in it. */
    uint64_t (*state)(void);
    /* For messages. */
    const char *(*name)(unsigned choice);
} walk_machine;

extern const char WALK_NOT_NOW[];

/* Whether RONDO_SHORT_WALKS is set: under valgrind and sanitizers a walk looks at memory, and a part of it will do. */
bool walk_is_short(void);

/* Both end the test at the first difference, with the sequence that led to it, and print how much they did. A short
 * walk takes sequences that are one step shorter, and the first states only. */
void walk_sequences(const walk_machine *machine, unsigned length);
/* Fails if the states have not come to an end at sequences of this length. */
void walk_states(const walk_machine *machine, unsigned length);

#endif
