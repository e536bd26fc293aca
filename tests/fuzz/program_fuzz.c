/* Any bytes are a program of tests/sim; Rondo and the model agree on it, or this aborts. A file that shows a difference
 * is printed step by step by rondo-sim --read FILE. */
#include "fuzz.h"
#include "program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char text[PROGRAM_TEXT];
    program p;
    program_read(&p, data, size);
    if (!program_run(&p, false, text)) {
        (void)fprintf(stderr, "Rondo and the model differ: %s\n", text);
        abort();
    }
    program_free(&p);
    return 0;
}
