#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/thread.h"
#include "parts.h"

/* Local, so that its names never stand in for others; and never closed, because drivers start threads of their own. */
static void *open_library(const char *name) {
    return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

struct rdo_ocl_hooks rdo_ocl_hooks = {open_library, dlsym, UINT64_MAX, rdo_clock_ns};
struct rdo_ocl_calls rdo_ocl;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool loaded;
static _Atomic long loading_process; /* 0: none has tried */

static const struct {
    const char *name;
    size_t offset_bytes;
} symbols[] = {
#define OCL_CALL(result, name, parameters) {#name, offsetof(struct rdo_ocl_calls, name)},
#include "symbols.def"
#undef OCL_CALL
};

/* Copied bytewise: C has no conversion from a pointer to data to one to a function, POSIX promises that it fits. */
static bool find_symbols(void *library, char *reason, size_t size_bytes) {
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        void *symbol = rdo_ocl_hooks.find_symbol(library, symbols[i].name);
        if (symbol == NULL) {
            snprintf(reason, size_bytes, "%s lacks %s; install a newer OpenCL loader (Debian: ocl-icd-libopencl1)",
                     RDO_OCL_LIBRARY, symbols[i].name);
            return false;
        }
        memcpy((char *)&rdo_ocl + symbols[i].offset_bytes, &symbol, sizeof symbol);
    }
    return true;
}

/* Asked before the lock is taken, which a thread of the parent may have held. */
static bool is_fork(void) {
    long process = (long)getpid(), none = 0;
    return !atomic_compare_exchange_strong(&loading_process, &none, process) && none != process;
}

bool rdo_ocl_load(char *reason, size_t size_bytes) {
    if (is_fork()) {
        snprintf(reason, size_bytes, "this process was forked from one that uses OpenCL, whose drivers do not live on "
                 "in a child; fork before the first device is listed or opened");
        return false;
    }
    pthread_mutex_lock(&lock);
    if (!loaded) {
        void *library = rdo_ocl_hooks.open_library(RDO_OCL_LIBRARY);
        if (library != NULL) {
            loaded = find_symbols(library, reason, size_bytes);
        } else {
            snprintf(reason, size_bytes, "%s was not found; install an OpenCL loader and a driver (Debian: "
                     "ocl-icd-libopencl1 and pocl-opencl-icd)", RDO_OCL_LIBRARY);
        }
    }
    bool done = loaded;
    pthread_mutex_unlock(&lock);
    return done;
}

void rdo_ocl_forget(void) {
    pthread_mutex_lock(&lock);
    loaded = false;
    atomic_store(&loading_process, 0);
    pthread_mutex_unlock(&lock);
    rdo_ocl_forget_ways();
}

static const struct {
    const char *name;
    size_t offset_bytes;
} extension_symbols[] = {
#define OCL_EXTENSION(result, name, parameters) {#name, offsetof(struct rdo_ocl_extension, name)},
#include "extensions.def"
#undef OCL_EXTENSION
};

bool rdo_ocl_load_extension(ocl_platform platform, struct rdo_ocl_extension *out_calls) {
    const size_t count = sizeof extension_symbols / sizeof extension_symbols[0];
    bool whole = true;
    for (size_t i = 0; i < count; i++) {
        void *symbol = rdo_ocl.clGetExtensionFunctionAddressForPlatform(platform, extension_symbols[i].name);
        memcpy((char *)out_calls + extension_symbols[i].offset_bytes, &symbol, sizeof symbol);
        whole = whole && (symbol != NULL || i + 1 == count); /* the last is of another extension */
    }
    return whole;
}

static const struct {
    int32_t error;
    const char *name;
} errors[] = {
    {-1, "CL_DEVICE_NOT_FOUND"},
    {-2, "CL_DEVICE_NOT_AVAILABLE"},
    {-3, "CL_COMPILER_NOT_AVAILABLE"},
    {-4, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
    {-5, "CL_OUT_OF_RESOURCES"},
    {-6, "CL_OUT_OF_HOST_MEMORY"},
    {-11, "CL_BUILD_PROGRAM_FAILURE"},
    {-13, "CL_MISALIGNED_SUB_BUFFER_OFFSET"},
    {-14, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"},
    {-30, "CL_INVALID_VALUE"},
    {-34, "CL_INVALID_CONTEXT"},
    {-36, "CL_INVALID_COMMAND_QUEUE"},
    {-38, "CL_INVALID_MEM_OBJECT"},
    {-42, "CL_INVALID_BINARY"},
    {-43, "CL_INVALID_BUILD_OPTIONS"},
    {-45, "CL_INVALID_PROGRAM_EXECUTABLE"},
    {-46, "CL_INVALID_KERNEL_NAME"},
    {-49, "CL_INVALID_ARG_INDEX"},
    {-50, "CL_INVALID_ARG_VALUE"},
    {-51, "CL_INVALID_ARG_SIZE"},
    {-52, "CL_INVALID_KERNEL_ARGS"},
    {-54, "CL_INVALID_WORK_GROUP_SIZE"},
    {-55, "CL_INVALID_WORK_ITEM_SIZE"},
    {-58, "CL_INVALID_EVENT"},
    {-59, "CL_INVALID_OPERATION"},
    {-61, "CL_INVALID_BUFFER_SIZE"},
    {-63, "CL_INVALID_GLOBAL_WORK_SIZE"},
};

const char *rdo_ocl_error_name(int32_t error) {
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        if (errors[i].error == error) {
            return errors[i].name;
        }
    }
    return "an error without a name";
}
