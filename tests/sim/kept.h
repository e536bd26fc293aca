/* The file of seeds that once showed a difference: one to a line; what follows the number says which. */
#ifndef SIM_KEPT_H
#define SIM_KEPT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Reads at most `room` seeds; lines that do not begin with a number hold none. Returns how many. */
size_t kept_read(FILE *file, uint64_t *out_seeds, size_t room);

#endif
