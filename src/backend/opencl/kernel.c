#include <ctype.h>
#include <stdio.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include "base/alloc.h"
#include "parts.h"

/* The text of include/rondo/kernel_lang.h, put here by the build. */
extern const char rdo_kernel_lang_text[];

#define OPTIONS "-cl-std=CL1.2"

enum { HIDDEN_ARGS = 4, MOST_PIECES = 4 };

/* Kernel objects of one name that nobody uses now. */
struct rdo_ocl_pool {
    struct rdo_ocl_pool *next;
    ocl_kernel *free; /* has room for all that were made */
    size_t free_count, capacity, made;
    char name[];
};

/* One text, compiled; all kernels of the text share it. Under the device's lock.
 *
 * Kernel objects go back to their pool and are released with the program only, the newest first: PoCL keeps the
 * objects of a program in a list and searches it at each release, so that letting go of a large graph while another
 * one is there would take minutes. */
struct rdo_ocl_program {
    struct rdo_ocl_program *next;
    struct rdo_ocl_key key;
    uint64_t refs;
    ocl_program object;
    struct rdo_ocl_pool *pools;
    ocl_kernel *all; /* in the order of making */
    size_t all_count, all_capacity;
};

/* ---- texts ---- */

/* A text as the compiler gets it. */
struct text {
    const char *piece[MOST_PIECES];
    size_t size_bytes[MOST_PIECES];
    uint32_t count;
    bool in_language;
    char line[32]; /* tells the compiler where the user's text goes on */
};

/* An empty piece is left out: to OpenCL, length 0 means that the piece goes on to its end. */
static void add_piece(struct text *text, const char *piece, size_t size_bytes) {
    if (size_bytes != 0) {
        text->piece[text->count] = piece;
        text->size_bytes[text->count++] = size_bytes;
    }
}

static const char *skip_blanks(const char *at) {
    while (*at == ' ' || *at == '\t') {
        at++;
    }
    return at;
}

/* Whether the line says #include <rondo/kernel_lang.h>. */
static bool includes_language(const char *line) {
    static const char header[] = "<rondo/kernel_lang.h>";
    line = skip_blanks(line);
    if (*line != '#') {
        return false;
    }
    line = skip_blanks(line + 1);
    if (strncmp(line, "include", 7) != 0) {
        return false;
    }
    return strncmp(skip_blanks(line + 7), header, sizeof header - 1) == 0;
}

/* A text of the kernel language is one that includes its header; the header's text takes the place of that line. */
static void take_text(const char *source, struct text *out) {
    memset(out, 0, sizeof *out);
    unsigned number = 1;
    for (const char *line = source; *line != '\0'; number++) {
        const char *end = line + strcspn(line, "\n");
        if (includes_language(line)) {
            out->in_language = true;
            snprintf(out->line, sizeof out->line, "\n#line %u", number + 1);
            add_piece(out, source, (size_t)(line - source));
            add_piece(out, rdo_kernel_lang_text, strlen(rdo_kernel_lang_text));
            add_piece(out, out->line, strlen(out->line));
            add_piece(out, end, strlen(end));
            return;
        }
        line = *end != '\0' ? end + 1 : end;
    }
    add_piece(out, source, strlen(source));
    if (out->count == 0) {
        out->piece[out->count++] = source; /* empty as it is */
    }
}

/* Whatever can change what the driver makes of the text. Each part goes with its end, so that none runs into the
 * next. */
static struct rdo_ocl_key key_of(const struct rdo_ocl_device *device, const struct text *text) {
    const char *names[] = {device->platform_name, device->platform_version, device->name, device->version,
                           device->driver, OPTIONS};
    XXH3_state_t state;
    XXH3_128bits_reset(&state);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        XXH3_128bits_update(&state, names[i], strlen(names[i]) + 1);
    }
    for (uint32_t i = 0; i < text->count; i++) {
        XXH3_128bits_update(&state, &text->size_bytes[i], sizeof text->size_bytes[i]);
        XXH3_128bits_update(&state, text->piece[i], text->size_bytes[i]);
    }
    XXH128_hash_t hash = XXH3_128bits_digest(&state);
    return (struct rdo_ocl_key){hash.low64, hash.high64};
}

/* ---- building ---- */

/* The first line of the log that speaks of an error, or else its first line. */
static void pick_line(const char *log, char *room, size_t size_bytes) {
    const char *line = strstr(log, "error:");
    while (line != NULL && line > log && line[-1] != '\n') {
        line--;
    }
    if (line == NULL) {
        line = log;
    }
    while (isspace((unsigned char)*line)) {
        line++;
    }
    snprintf(room, size_bytes, "%.*s", (int)strcspn(line, "\n"), line);
}

/* What the compiler said, from rdo_alloc; NULL if the driver does not tell. */
static char *fetch_log(const struct rdo_ocl_device *device, ocl_program object) {
    size_t size_bytes = 0;
    if (rdo_ocl.clGetProgramBuildInfo(object, device->id, OCL_PROGRAM_BUILD_LOG, 0, NULL, &size_bytes) != OCL_SUCCESS) {
        return NULL;
    }
    char *log = rdo_alloc_zero(size_bytes + 1, 1); /* not every driver counts or writes the end of the text */
    if (log != NULL && rdo_ocl.clGetProgramBuildInfo(object, device->id, OCL_PROGRAM_BUILD_LOG, size_bytes, log,
                                                     NULL) != OCL_SUCCESS) {
        log[0] = '\0';
    }
    return log;
}

static rondo_backend_result report_log(const struct rdo_ocl_device *device, ocl_program object, const char *name,
                                       rondo_backend_outcome *outcome) {
    char line[sizeof outcome->message] = "";
    char *log = fetch_log(device, object);
    if (log != NULL) {
        pick_line(log, line, sizeof line);
        rdo_free(log);
    }
    return rdo_ocl_refuse(outcome, RONDO_BACKEND_NOT_RUN, "the text of kernel '%.40s' does not compile: %s", name,
                          line[0] != '\0' ? line : "the driver gives no reason");
}

static int32_t build(const struct rdo_ocl_device *device, ocl_program object) {
    return rdo_ocl.clBuildProgram(object, 1, &device->id, OPTIONS, NULL, NULL);
}

/* NULL if the cache has nothing that this driver still takes. */
static ocl_program from_cache(const struct rdo_ocl_device *device, struct rdo_ocl_key key) {
    size_t size_bytes;
    int32_t error = OCL_SUCCESS, verdict = OCL_SUCCESS;
    unsigned char *binary = rdo_ocl_cache_load(key, &size_bytes);
    if (binary == NULL) {
        return NULL;
    }
    const unsigned char *binaries[] = {binary};
    ocl_program object = rdo_ocl.clCreateProgramWithBinary(device->context, 1, &device->id, &size_bytes, binaries,
                                                           &verdict, &error);
    rdo_free(binary);
    if (object != NULL && (error != OCL_SUCCESS || verdict != OCL_SUCCESS || build(device, object) != OCL_SUCCESS)) {
        rdo_ocl.clReleaseProgram(object);
        object = NULL;
    }
    return object;
}

/* A driver that gives no binary, or no memory for one, costs a compilation next time and nothing else. */
static void to_cache(ocl_program object, struct rdo_ocl_key key) {
    size_t size_bytes = 0;
    if (rdo_ocl.clGetProgramInfo(object, OCL_PROGRAM_BINARY_SIZES, sizeof size_bytes, &size_bytes, NULL) !=
            OCL_SUCCESS ||
        size_bytes == 0) {
        return;
    }
    unsigned char *binary = rdo_alloc(size_bytes);
    if (binary != NULL && rdo_ocl.clGetProgramInfo(object, OCL_PROGRAM_BINARIES, sizeof binary, &binary, NULL) ==
                              OCL_SUCCESS) {
        rdo_ocl_cache_store(key, binary, size_bytes);
    }
    rdo_free(binary);
}

static rondo_backend_result from_text(const struct rdo_ocl_device *device, const struct text *text, const char *name,
                                      ocl_program *out_object, rondo_backend_outcome *outcome) {
    int32_t error = OCL_SUCCESS;
    const char *pieces[MOST_PIECES];
    memcpy(pieces, text->piece, sizeof pieces);
    ocl_program object =
        rdo_ocl.clCreateProgramWithSource(device->context, text->count, pieces, text->size_bytes, &error);
    if (object == NULL) {
        return rdo_ocl_failed(outcome, "clCreateProgramWithSource", error);
    }
    error = build(device, object);
    if (error == OCL_SUCCESS) {
        *out_object = object;
        return RONDO_BACKEND_DONE;
    }
    rondo_backend_result result = error == OCL_BUILD_PROGRAM_FAILURE ? report_log(device, object, name, outcome)
                                                                     : rdo_ocl_failed(outcome, "clBuildProgram", error);
    rdo_ocl.clReleaseProgram(object);
    return result;
}

/* Device lock held. */
static rondo_backend_result new_program(struct rdo_ocl_device *device, const struct text *text,
                                        struct rdo_ocl_key key, const char *name,
                                        struct rdo_ocl_program **out_program, rondo_backend_outcome *outcome) {
    struct rdo_ocl_program *program = rdo_alloc_zero(1, sizeof *program);
    if (program == NULL) {
        return rdo_ocl_refuse(outcome, RONDO_BACKEND_NO_MEMORY, "no memory for the program");
    }
    program->object = from_cache(device, key);
    if (program->object == NULL) {
        rondo_backend_result result = from_text(device, text, name, &program->object, outcome);
        if (result != RONDO_BACKEND_DONE) {
            rdo_free(program);
            return result;
        }
        to_cache(program->object, key);
    }
    program->key = key;
    program->next = device->programs;
    device->programs = program;
    *out_program = program;
    return RONDO_BACKEND_DONE;
}

static rondo_backend_result take_program(struct rdo_ocl_device *device, const struct text *text, const char *name,
                                         struct rdo_ocl_program **out_program, rondo_backend_outcome *outcome) {
    struct rdo_ocl_key key = key_of(device, text);
    rondo_backend_result result = RONDO_BACKEND_DONE;
    pthread_mutex_lock(&device->lock);
    struct rdo_ocl_program *program = device->programs;
    while (program != NULL && (program->key.low != key.low || program->key.high != key.high)) {
        program = program->next;
    }
    if (program == NULL) {
        result = new_program(device, text, key, name, &program, outcome);
    }
    if (program != NULL) {
        program->refs++;
    }
    pthread_mutex_unlock(&device->lock);
    *out_program = program;
    return result;
}

static void end_program(struct rdo_ocl_program *program) {
    while (program->all_count != 0) {
        rdo_ocl.clReleaseKernel(program->all[--program->all_count]);
    }
    while (program->pools != NULL) {
        struct rdo_ocl_pool *next = program->pools->next;
        rdo_free(program->pools->free);
        rdo_free(program->pools);
        program->pools = next;
    }
    rdo_ocl.clReleaseProgram(program->object);
    rdo_free(program->all);
    rdo_free(program);
}

static void give_program(struct rdo_ocl_device *device, struct rdo_ocl_program *program) {
    pthread_mutex_lock(&device->lock);
    if (--program->refs == 0) {
        struct rdo_ocl_program **link = &device->programs;
        while (*link != program) {
            link = &(*link)->next;
        }
        *link = program->next;
        end_program(program);
    }
    pthread_mutex_unlock(&device->lock);
}

/* ---- kernel objects ---- */

/* NULL if there is no memory. */
static struct rdo_ocl_pool *find_pool(struct rdo_ocl_device *device, struct rdo_ocl_program *program,
                                      const char *name) {
    pthread_mutex_lock(&device->lock);
    struct rdo_ocl_pool *pool = program->pools;
    while (pool != NULL && strcmp(pool->name, name) != 0) {
        pool = pool->next;
    }
    if (pool == NULL) {
        size_t name_bytes = strlen(name) + 1;
        pool = rdo_alloc_zero(1, sizeof *pool + name_bytes);
        if (pool != NULL) {
            memcpy(pool->name, name, name_bytes);
            pool->next = program->pools;
            program->pools = pool;
        }
    }
    pthread_mutex_unlock(&device->lock);
    return pool;
}

/* Device lock held. The room for giving it back is made first. */
static ocl_kernel new_object(struct rdo_ocl_program *program, struct rdo_ocl_pool *pool, int32_t *out_error) {
    *out_error = OCL_OUT_OF_HOST_MEMORY;
    if (!rdo_grow(&program->all, &program->all_capacity, program->all_count + 1, sizeof(ocl_kernel)) ||
        !rdo_grow(&pool->free, &pool->capacity, pool->made + 1, sizeof(ocl_kernel))) {
        return NULL;
    }
    ocl_kernel object = rdo_ocl.clCreateKernel(program->object, pool->name, out_error);
    if (object != NULL) {
        program->all[program->all_count++] = object;
        pool->made++;
    }
    return object;
}

ocl_kernel rdo_ocl_object_take(const struct rdo_ocl_kernel *kernel, int32_t *out_error) {
    struct rdo_ocl_pool *pool = kernel->pool;
    pthread_mutex_lock(&kernel->device->lock);
    ocl_kernel object =
        pool->free_count != 0 ? pool->free[--pool->free_count] : new_object(kernel->program, pool, out_error);
    pthread_mutex_unlock(&kernel->device->lock);
    return object;
}

void rdo_ocl_object_give(const struct rdo_ocl_kernel *kernel, ocl_kernel object) {
    pthread_mutex_lock(&kernel->device->lock);
    kernel->pool->free[kernel->pool->free_count++] = object;
    pthread_mutex_unlock(&kernel->device->lock);
}

/* ---- kernels ---- */

void rdo_ocl_kernel_unload(void *device, void *kernel) {
    struct rdo_ocl_kernel *dying = kernel;
    if (dying->object != NULL) {
        rdo_ocl_object_give(dying, dying->object);
    }
    if (dying->program != NULL) {
        give_program(device, dying->program);
    }
    pthread_mutex_destroy(&dying->lock);
    rdo_free(dying->name);
    rdo_free(dying);
}

static struct rdo_ocl_kernel *describe(struct rdo_ocl_device *device, const rondo_kernel_desc *desc) {
    struct rdo_ocl_kernel *kernel = rdo_alloc_zero(1, sizeof *kernel);
    size_t name_bytes = strlen(desc->name) + 1;
    char *name = rdo_alloc(name_bytes);
    if (kernel == NULL || name == NULL) {
        rdo_free(kernel);
        rdo_free(name);
        return NULL;
    }
    pthread_mutex_init(&kernel->lock, NULL);
    kernel->device = device;
    kernel->name = memcpy(name, desc->name, name_bytes);
    kernel->can_fail = desc->can_fail;
    kernel->param_count = (uint32_t)desc->param_count;
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        if (desc->params[i].kind == RONDO_PARAM_VALUE) {
            kernel->value_bytes[i] = desc->params[i].size_bytes;
            kernel->value_param[kernel->value_count++] = i;
            kernel->value_total_bytes += desc->params[i].size_bytes;
        }
    }
    for (int axis = 0; axis < 3; axis++) {
        kernel->group[axis] = desc->group[axis];
    }
    return kernel;
}

/* What the compiler made of the kernel must fit what was said of it. */
static rondo_backend_result check_object(struct rdo_ocl_kernel *kernel, rondo_backend_outcome *outcome) {
    uint32_t args = 0, expected = kernel->param_count + (kernel->hidden ? HIDDEN_ARGS : 0);
    size_t items = kernel->group[0] * kernel->group[1] * kernel->group[2];
    int32_t error = rdo_ocl.clGetKernelInfo(kernel->object, OCL_KERNEL_NUM_ARGS, sizeof args, &args, NULL);
    if (error != OCL_SUCCESS) {
        return rdo_ocl_failed(outcome, "clGetKernelInfo", error);
    }
    if (args != expected) {
        return rdo_ocl_refuse(outcome, RONDO_BACKEND_NOT_RUN,
                              "kernel '%.40s' has %u parameters in its text, but %u are described", kernel->name, args,
                              expected);
    }
    error = rdo_ocl.clGetKernelWorkGroupInfo(kernel->object, kernel->device->id, OCL_KERNEL_WORK_GROUP_SIZE,
                                             sizeof kernel->max_local, &kernel->max_local, NULL);
    if (error != OCL_SUCCESS) {
        return rdo_ocl_failed(outcome, "clGetKernelWorkGroupInfo", error);
    }
    if (kernel->group[0] != 0 && items > kernel->max_local) {
        return rdo_ocl_refuse(outcome, RONDO_BACKEND_NO_SUPPORT,
                              "a group of kernel '%.40s' has %zu items, this device runs at most %zu", kernel->name,
                              items, kernel->max_local);
    }
    return RONDO_BACKEND_DONE;
}

static rondo_backend_result make_object(struct rdo_ocl_kernel *kernel, const struct text *text,
                                        rondo_backend_outcome *outcome) {
    int32_t error = OCL_SUCCESS;
    kernel->hidden = text->in_language;
    rondo_backend_result result = take_program(kernel->device, text, kernel->name, &kernel->program, outcome);
    if (result != RONDO_BACKEND_DONE) {
        return result;
    }
    kernel->pool = find_pool(kernel->device, kernel->program, kernel->name);
    if (kernel->pool == NULL) {
        return rdo_ocl_refuse(outcome, RONDO_BACKEND_NO_MEMORY, "no memory for the kernel");
    }
    kernel->object = rdo_ocl_object_take(kernel, &error);
    if (kernel->object == NULL) {
        return rdo_ocl_refuse(outcome, rdo_ocl_result(error), "no kernel '%.40s' in its text: clCreateKernel said %s",
                              kernel->name, rdo_ocl_error_name(error));
    }
    return check_object(kernel, outcome);
}

rondo_backend_result rdo_ocl_kernel_load(void *device, const rondo_kernel_desc *desc, void **out_kernel,
                                         rondo_backend_outcome *outcome) {
    struct text text;
    *out_kernel = NULL;
    if (desc->source == NULL) {
        return rdo_ocl_refuse(outcome, RONDO_BACKEND_NO_SUPPORT,
                              "kernel '%.40s' has no text, and OpenCL compiles kernels from text", desc->name);
    }
    take_text(desc->source, &text);
    if (desc->can_fail && !text.in_language) {
        return rdo_ocl_refuse(outcome, RONDO_BACKEND_NO_SUPPORT,
                              "kernel '%.40s' may fail, which plain OpenCL C cannot report", desc->name);
    }
    struct rdo_ocl_kernel *kernel = describe(device, desc);
    if (kernel == NULL) {
        return rdo_ocl_refuse(outcome, RONDO_BACKEND_NO_MEMORY, "no memory for the kernel");
    }
    rondo_backend_result result = make_object(kernel, &text, outcome);
    if (result != RONDO_BACKEND_DONE) {
        rdo_ocl_kernel_unload(device, kernel);
        return result;
    }
    *out_kernel = kernel;
    return RONDO_BACKEND_DONE;
}
