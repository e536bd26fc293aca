/* Compares two pictures: compare FIRST.png SECOND.png LEVELS PER_MILLE. Ends with 1 if a sample differs by more than
 * LEVELS grey levels, or more than PER_MILLE of a thousand samples differ at all. For the tests. */
#include <stdio.h>
#include <stdlib.h>
#include "picture.h"

typedef struct difference {
    size_t samples, differing;
    int most;
} difference;

static difference differ(const picture *a, const picture *b) {
    difference found = {.samples = (size_t)a->width * a->height * 3};
    for (size_t i = 0; i < found.samples; i++) {
        const int levels = abs(a->rgb[i] - b->rgb[i]);
        if (levels > 0) found.differing++;
        if (levels > found.most) found.most = levels;
    }
    return found;
}

int main(int argc, char **argv) {
    char error[PICTURE_ERROR_MAX];
    picture a = {0}, b = {0};
    bool ok = argc == 5 && picture_load(argv[1], &a, error) && picture_load(argv[2], &b, error);
    if (!ok) {
        fprintf(stderr, "compare: %s\n", argc == 5 ? error : "two pictures and two numbers are needed");
    } else if (a.width != b.width || a.height != b.height) {
        ok = false;
        fprintf(stderr, "compare: the pictures differ in size\n");
    } else {
        const difference found = differ(&a, &b);
        printf("%zu of %zu samples differ, by at most %d levels\n", found.differing, found.samples, found.most);
        ok = found.most <= atoi(argv[3]) && found.differing * 1000 <= found.samples * (size_t)atoi(argv[4]);
    }
    picture_finish(&a);
    picture_finish(&b);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
