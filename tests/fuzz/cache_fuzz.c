/* Any bytes may lie where a compiled program was kept, and any text in the variables that say where that is. What is
 * read is what was stored, or nothing. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/opencl/parts.h"
#include "base/alloc.h"
#include "fuzz.h"

enum { PATH_BYTES = 512, SIZE_AT = 24, HASH_AT = 32, HEAD_BYTES = 40 };

static const struct rdo_ocl_key key = {0x1122334455667788, 0x99aabbccddeeff00};
static char base[64], path[PATH_BYTES];

static void remove_all(void) {
    static const char *const folders[] = {"/rondo/opencl", "/rondo", ""};
    char folder[PATH_BYTES];
    (void)unlink(path);
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        (void)snprintf(folder, sizeof folder, "%s%s", base, folders[i]);
        (void)rmdir(folder);
    }
}

static void make_base(void) {
    (void)snprintf(base, sizeof base, "/tmp/rondo-fuzz-XXXXXX");
    if (mkdtemp(base) == NULL) abort();
    (void)snprintf(path, sizeof path, "%s/rondo/opencl/99aabbccddeeff001122334455667788.bin", base);
    (void)atexit(remove_all);
}

static void overwrite(const uint8_t *data, size_t size) {
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || write(file, data, size) != (ssize_t)size || close(file) != 0) abort();
}

static size_t load(uint8_t *out, size_t room) {
    size_t size = 1;
    uint8_t *data = rdo_ocl_cache_load(key, &size);
    HOLDS((data == NULL) == (size == 0));
    if (data != NULL) {
        HOLDS(size <= room);
        memcpy(out, data, size);
    }
    rdo_free(data);
    return size;
}

/* What is stored comes back; changed in one byte, or cut, or with something behind it, it does not. */
static void check_stored(fuzz_bytes *from) {
    uint8_t file[HEAD_BYTES + 4096], back[4096];
    size_t size = from->left < sizeof back ? from->left : sizeof back;
    size_t at = (size_t)fuzz_take(from, 2);
    uint8_t change = (uint8_t)fuzz_take(from, 1);
    if (size == 0) return;
    uint8_t *data = calloc(1, size);
    if (data == NULL) abort();
    memcpy(data, from->data, from->left < size ? from->left : size);
    rdo_ocl_cache_store(key, data, size);
    HOLDS(load(back, sizeof back) == size && memcmp(back, data, size) == 0);
    FILE *stored = fopen(path, "rb");
    HOLDS(stored != NULL && fread(file, 1, sizeof file, stored) == HEAD_BYTES + size);
    (void)fclose(stored);
    at %= HEAD_BYTES + size;
    file[at] ^= change;
    overwrite(file, HEAD_BYTES + size);
    HOLDS((load(back, sizeof back) != 0) == (change == 0));
    file[at] ^= change;
    overwrite(file, at);
    HOLDS(load(back, sizeof back) == 0);
    free(data);
}

/* Bytes as they are. With the right head in front the reader gets as far as their hash. */
static void check_any(fuzz_bytes *from, bool with_head) {
    uint8_t file[HEAD_BYTES + 4096] = "RONDOCL1", back[4096];
    size_t head = with_head ? HEAD_BYTES : 0, size = from->left < 4096 ? from->left : 4096;
    uint64_t size_bytes = size;
    memcpy(file + 8, &key, sizeof key);
    memcpy(file + SIZE_AT, &size_bytes, sizeof size_bytes);
    if (size != 0) memcpy(file + head, from->data, size);
    rdo_ocl_cache_store(key, "x", 1); /* makes the folder */
    overwrite(file, head + size);
    (void)load(back, sizeof back);
}

static bool is_folder(const char *room, const char *start, const char *rest) {
    return start != NULL && start[0] == '/' && strncmp(room, start, strlen(start)) == 0 &&
           strcmp(room + strlen(start), rest) == 0;
}

static void set(const char *name, const char *value) {
    if ((value[0] == '-' ? unsetenv(name) : setenv(name, value, 1)) != 0) abort();
}

static void check_folder(fuzz_bytes *from) {
    char room[256];
    size_t size = 1 + (size_t)fuzz_take(from, 1);
    char *cache = fuzz_text(from, 300), *home = fuzz_text(from, 300);
    set("XDG_CACHE_HOME", cache);
    set("HOME", home);
    if (rdo_ocl_cache_folder(room, size)) {
        HOLDS(strlen(room) < size);
        HOLDS(is_folder(room, cache, "/rondo/opencl") || is_folder(room, home, "/.cache/rondo/opencl"));
    }
    free(cache);
    free(home);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_bytes from = {data, size};
    if (base[0] == '\0') make_base();
    if (setenv("XDG_CACHE_HOME", base, 1) != 0) abort();
    switch (fuzz_take(&from, 1) % 4) {
    case 0: check_stored(&from); break;
    case 1: check_any(&from, false); break;
    case 2: check_any(&from, true); break;
    default: check_folder(&from); break;
    }
    return 0;
}
