/* What unit tests share: cmocka with what it needs, random numbers with a printed seed, and memory that runs out. */
#ifndef UNIT_H
#define UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- random numbers ---- */

/* Starts the sequence from RONDO_SEED, or from a fixed seed, and prints which. */
void seed_random(void);
/* A number below `bound`. */
uint64_t random_below(uint64_t bound);

/* ---- memory that runs out ---- */

/* From now on `granted` allocations succeed; then one fails, or all if `lasting`. */
void starve(uint64_t granted, bool lasting);
/* Ends that. Returns how many allocations were refused. */
uint64_t feed(void);
/* While starved: each allocation fails with a chance of `percent`. */
void starve_at_random(uint64_t percent);

#endif
