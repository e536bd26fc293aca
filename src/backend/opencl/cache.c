/* A file per program. Whatever is not exactly what was stored is taken for absent: the cache can be lost, shared and
 * broken, and a program is then only compiled again. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include "base/alloc.h"
#include "parts.h"

enum { PATH_BYTES = 4096 };
#define LARGEST_BYTES ((uint64_t)1 << 30)

static const char magic[8] = {'R', 'O', 'N', 'D', 'O', 'C', 'L', '1'};

/* How a file begins; the binary follows. */
struct head {
    char magic[8];
    struct rdo_ocl_key key;
    uint64_t size_bytes;
    uint64_t hash;
};

bool rdo_ocl_cache_folder(char *room, size_t size_bytes) {
    const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length = -1;
    if (base != NULL && base[0] == '/') {
        length = snprintf(room, size_bytes, "%s/rondo/opencl", base);
    } else if (home != NULL && home[0] == '/') {
        length = snprintf(room, size_bytes, "%s/.cache/rondo/opencl", home);
    }
    return length > 0 && (size_t)length < size_bytes;
}

static bool file_of(struct rdo_ocl_key key, char *room, size_t size_bytes) {
    char folder[PATH_BYTES];
    if (!rdo_ocl_cache_folder(folder, sizeof folder)) {
        return false;
    }
    int length = snprintf(room, size_bytes, "%s/%016" PRIx64 "%016" PRIx64 ".bin", folder, key.high, key.low);
    return length > 0 && (size_t)length < size_bytes;
}

/* ---- reading ---- */

static bool read_all(int file, void *data, size_t size_bytes) {
    for (size_t done = 0; done < size_bytes;) {
        ssize_t got = read(file, (char *)data + done, size_bytes - done);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return false;
        }
        done += (size_t)got;
    }
    return true;
}

static bool is_head(const struct head *head, struct rdo_ocl_key key, uint64_t file_bytes) {
    return memcmp(head->magic, magic, sizeof magic) == 0 && head->key.low == key.low && head->key.high == key.high &&
           head->size_bytes != 0 && head->size_bytes <= LARGEST_BYTES &&
           file_bytes == sizeof *head + head->size_bytes;
}

static void *load_file(int file, struct rdo_ocl_key key, size_t *out_size_bytes) {
    struct head head;
    struct stat facts;
    if (fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode) || !read_all(file, &head, sizeof head) ||
        !is_head(&head, key, (uint64_t)facts.st_size)) {
        return NULL;
    }
    void *data = rdo_alloc((size_t)head.size_bytes);
    if (data == NULL) {
        return NULL;
    }
    if (!read_all(file, data, (size_t)head.size_bytes) || XXH3_64bits(data, (size_t)head.size_bytes) != head.hash) {
        rdo_free(data);
        return NULL;
    }
    *out_size_bytes = (size_t)head.size_bytes;
    return data;
}

void *rdo_ocl_cache_load(struct rdo_ocl_key key, size_t *out_size_bytes) {
    char path[PATH_BYTES];
    *out_size_bytes = 0;
    if (!file_of(key, path, sizeof path)) {
        return NULL;
    }
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) {
        return NULL;
    }
    void *data = load_file(file, key, out_size_bytes);
    close(file);
    return data;
}

/* ---- writing ---- */

/* Makes the folder and those above it; that they are there already is no failure, and others show at the file. */
static void make_folders(char *path) {
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0700);
        *slash = '/';
    }
}

static bool write_all(int file, const void *data, size_t size_bytes) {
    for (size_t done = 0; done < size_bytes;) {
        ssize_t put = write(file, (const char *)data + done, size_bytes - done);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put <= 0) {
            return false;
        }
        done += (size_t)put;
    }
    return true;
}

/* Under a name of its own first, so that nobody ever sees half a file under the real one. */
void rdo_ocl_cache_store(struct rdo_ocl_key key, const void *data, size_t size_bytes) {
    static _Atomic unsigned count;
    char path[PATH_BYTES], half[PATH_BYTES + 64];
    struct head head = {.key = key, .size_bytes = size_bytes, .hash = XXH3_64bits(data, size_bytes)};
    memcpy(head.magic, magic, sizeof magic);
    if (size_bytes == 0 || size_bytes > LARGEST_BYTES || !file_of(key, path, sizeof path)) {
        return;
    }
    make_folders(path);
    snprintf(half, sizeof half, "%s.%ld.%u", path, (long)getpid(), atomic_fetch_add(&count, 1));
    int file = open(half, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) {
        return;
    }
    bool whole = write_all(file, &head, sizeof head) && write_all(file, data, size_bytes);
    whole = close(file) == 0 && whole;
    if (!whole || rename(half, path) != 0) {
        (void)unlink(half);
    }
}
