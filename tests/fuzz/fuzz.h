/* What a fuzz target is: a program that does something with any bytes, and aborts where that goes wrong.
 *
 * With libFuzzer (./x check fuzz) it makes bytes of its own; with driver.c, in every other build, it runs the files of
 * its corpus.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What the sanitizers do unless their environment says otherwise. */
#define FUZZ_OPTIONS(text)                    \
    const char *__asan_default_options(void); \
    const char *__asan_default_options(void) { \
        return text;                          \
    }                                         \
    const char *__tsan_default_options(void); \
    const char *__tsan_default_options(void) { \
        return text;                          \
    }

#define HOLDS(condition)                                                                    \
    do {                                                                                    \
        if (!(condition)) {                                                                 \
            (void)fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition); \
            abort();                                                                        \
        }                                                                                   \
    } while (0)

/* The bytes of an input, taken one after the other; where they end, zeros follow. */
typedef struct fuzz_bytes {
    const uint8_t *data;
    size_t left;
} fuzz_bytes;

static inline uint64_t fuzz_take(fuzz_bytes *from, size_t bytes) {
    uint64_t value = 0;
    for (size_t i = 0; i < bytes && from->left != 0; i++) {
        value |= (uint64_t)*from->data++ << (8 * i);
        from->left--;
    }
    return value;
}

/* A text of at most `most` bytes, up to the next zero. The caller frees it. */
static inline char *fuzz_text(fuzz_bytes *from, size_t most) {
    size_t length = 0;
    while (length < most && length < from->left && from->data[length] != 0) length++;
    char *text = malloc(length + 1);
    if (text == NULL) abort();
    if (length != 0) memcpy(text, from->data, length);
    text[length] = '\0';
    size_t used = length < from->left ? length + 1 : length;
    from->left -= used;
    if (used != 0) from->data += used;
    return text;
}

#endif
