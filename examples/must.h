/* For programs that stop at the first failure: must(call) prints the story of one and exits. */
#ifndef EXAMPLES_MUST_H
#define EXAMPLES_MUST_H

#include <rondo/rondo.h>
#include <stdio.h>
#include <stdlib.h>

static inline void must(rondo_status status) {
    char story[4096];
    if (!status) return;
    rondo_fault_describe(status, story, sizeof story);
    fprintf(stderr, "%s\n", story);
    exit(EXIT_FAILURE);
}

#endif
