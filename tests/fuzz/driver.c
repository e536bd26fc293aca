/* Runs a fuzz target over files, and over the files of folders: its kept corpus as a plain test, with any compiler. */
#include <dirent.h>
#include <sys/stat.h>

#include "fuzz.h"

enum { MOST_BYTES = 1 << 20, MOST_PATH = 4096 };

static unsigned long count;

static void run_file(const char *path) {
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = malloc(MOST_BYTES);
    if (file == NULL || bytes == NULL) {
        perror(path);
        exit(2);
    }
    size_t size = fread(bytes, 1, MOST_BYTES, file);
    (void)fclose(file);
    /* Exactly as large as the input, so that a sanitizer sees the first byte behind it; the path is for a crash. */
    uint8_t *exact = malloc(size != 0 ? size : 1);
    if (exact == NULL) abort();
    if (size != 0) memcpy(exact, bytes, size);
    free(bytes);
    (void)fprintf(stderr, "%s\n", path);
    (void)LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    count++;
}

static void run_path(const char *path) {
    struct stat facts;
    if (stat(path, &facts) != 0) {
        perror(path);
        exit(2);
    }
    if (!S_ISDIR(facts.st_mode)) {
        run_file(path);
        return;
    }
    struct dirent **entries;
    int entry_count = scandir(path, &entries, NULL, alphasort);
    for (int i = 0; i < entry_count; i++) {
        char inner[MOST_PATH];
        (void)snprintf(inner, sizeof inner, "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.') run_path(inner);
        free(entries[i]);
    }
    if (entry_count >= 0) free(entries);
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) run_path(argv[i]);
    printf("%lu inputs\n", count);
    return count != 0 ? 0 : 1; /* no corpus is no test */
}
