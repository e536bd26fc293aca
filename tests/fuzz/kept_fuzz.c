/* Any bytes are a file of kept seeds. What is read is what a second, plainer reading of the same lines finds. */
#include "fuzz.h"
#include "kept.h"

enum { ROOM = 8 };

/* The seed that a line begins with. */
static bool plain_seed(const uint8_t *line, size_t length, uint64_t *out_seed) {
    size_t at = 0, digits = 0;
    *out_seed = 0;
    while (at < length && (line[at] == ' ' || line[at] == '\t')) at++;
    for (; at < length && line[at] >= '0' && line[at] <= '9'; at++, digits++) {
        uint64_t digit = (uint64_t)(line[at] - '0');
        if (*out_seed > (UINT64_MAX - digit) / 10) return false;
        *out_seed = *out_seed * 10 + digit;
    }
    return digits != 0;
}

static size_t plain_read(const uint8_t *data, size_t size, uint64_t *out_seeds) {
    size_t count = 0;
    for (size_t first = 0, end; first < size && count < ROOM; first = end + 1) {
        for (end = first; end < size && data[end] != '\n'; end++) {}
        count += plain_seed(data + first, end - first, &out_seeds[count]) ? 1 : 0;
    }
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint64_t seeds[ROOM], plain[ROOM];
    if (size == 0) return 0;
    FILE *file = fmemopen((void *)(uintptr_t)data, size, "r");
    if (file == NULL) abort();
    size_t count = kept_read(file, seeds, ROOM);
    (void)fclose(file);
    HOLDS(count <= ROOM);
    if (memchr(data, 0, size) != NULL) return 0; /* no text: any answer will do */
    HOLDS(count == plain_read(data, size, plain));
    HOLDS(memcmp(seeds, plain, count * sizeof seeds[0]) == 0);
    return 0;
}
