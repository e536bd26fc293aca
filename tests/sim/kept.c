#include "kept.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Only digits make a seed: strtoull alone would take "-1" as well, and a number that is too large as the largest. */
static size_t take(const char *line, uint64_t *out_seed) {
    char *end;
    line += strspn(line, " \t");
    if (*line < '0' || *line > '9') return 0;
    errno = 0;
    *out_seed = strtoull(line, &end, 10);
    return errno == 0 ? 1 : 0;
}

/* A long line comes in pieces; only the first is a beginning. */
size_t kept_read(FILE *file, uint64_t *out_seeds, size_t room) {
    char piece[512];
    size_t count = 0;
    for (size_t begins = 1; count < room && fgets(piece, sizeof piece, file) != NULL;) {
        if (begins) count += take(piece, &out_seeds[count]);
        begins = strchr(piece, '\n') != NULL;
    }
    return count;
}
