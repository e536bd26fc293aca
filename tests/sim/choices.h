/* Where the choices of a random program come from: the numbers of a seed, or bytes that a fuzzer made.
 *
 * A choice takes as few bytes as it needs, so that a fuzzer that changes one changes one choice and no other.
 */
#ifndef SIM_CHOICES_H
#define SIM_CHOICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct choices {
    uint64_t random;      /* the state, without bytes */
    const uint8_t *bytes; /* NULL: of a seed */
    size_t left;
} choices;

choices choices_of_seed(uint64_t seed);
choices choices_of_bytes(const uint8_t *bytes, size_t size);

/* Whether the bytes are used up; all that is then chosen is 0. Those of a seed never end. */
bool choices_ended(const choices *from);
/* One of [0, bound); a bound is at most 65,536. */
uint32_t choose_below(choices *from, uint32_t bound);
/* A number whose use is not known yet: 32 bits of a seed, or 16 in two bytes. */
uint32_t choose_word(choices *from);

#endif
