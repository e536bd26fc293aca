/* Which cases a program of the suite runs. Two programs are made of main.c: rondo-conform with suite.c, the contract,
 * and rondo-bugs with tests/bugs/suite.c, the faults of others. */
#ifndef SUITE_H
#define SUITE_H

#include "conform.h"

struct suite_entry {
    const char *group; /* a file's name, or the number of a fault */
    const struct conform_case *item;
};

extern const char suite_name[];
extern const bool suite_shows_groups; /* whether the group is part of what is printed for a case */

/* The entry with this index, false if there are no more. */
bool suite_get(size_t index, struct suite_entry *out);
/* After a whole run: prints what there is to say apart from the cases. Returns how many mistakes are in the list. */
unsigned suite_tell_the_rest(void);

#endif
