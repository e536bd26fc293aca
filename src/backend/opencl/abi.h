/* The part of OpenCL's binary interface that the backend uses, so that building needs no OpenCL headers. Values and
 * signatures are those of the OpenCL 3.0 specification; calls of earlier versions never changed theirs. */
#ifndef RDO_BACKEND_OPENCL_ABI_H
#define RDO_BACKEND_OPENCL_ABI_H

#include <stddef.h>
#include <stdint.h>

typedef struct ocl_any_platform *ocl_platform;
typedef struct ocl_any_device *ocl_device;
typedef struct ocl_any_context *ocl_context;
typedef struct ocl_any_queue *ocl_queue;
typedef struct ocl_any_mem *ocl_mem;
typedef struct ocl_any_program *ocl_program;
typedef struct ocl_any_kernel *ocl_kernel;
typedef struct ocl_any_event *ocl_event;
typedef struct ocl_any_commands *ocl_commands; /* a command buffer */
typedef struct ocl_any_command *ocl_command;   /* one of its commands, where they can be changed */

/* The region of a sub-buffer. */
struct ocl_region {
    size_t origin, size;
};

/* One entry of the list of a device's extensions. */
struct ocl_extension {
    uint32_t version;
    char name[64];
};
#define OCL_VERSION(major, minor, patch) (((major) << 22) | ((minor) << 12) | (patch))

/* A new value of one argument, and the changes of one command. They are those of version 0.9.2 of
 * cl_khr_command_buffer_mutable_dispatch and later; before, the call that takes them was another. */
struct ocl_new_arg {
    uint32_t index;
    size_t size_bytes;
    const void *value;
};
struct ocl_change {
    ocl_command command;
    uint32_t arg_count, svm_arg_count, info_count, dimensions;
    const struct ocl_new_arg *args, *svm_args;
    const void *infos;
    const size_t *offset, *global, *local;
};

enum {
    OCL_SUCCESS = 0,
    OCL_DEVICE_NOT_FOUND = -1,
    OCL_MEM_ALLOCATION_FAILURE = -4,
    OCL_OUT_OF_RESOURCES = -5,
    OCL_OUT_OF_HOST_MEMORY = -6,
    OCL_BUILD_PROGRAM_FAILURE = -11,
    OCL_EXEC_STATUS_ERROR_IN_WAIT_LIST = -14,
    OCL_INVALID_VALUE = -30,
    OCL_INVALID_BUFFER_SIZE = -61,
    OCL_PLATFORM_NOT_FOUND = -1001
};

enum {
    OCL_PLATFORM_VERSION = 0x0901,
    OCL_PLATFORM_NAME = 0x0902,
    OCL_DEVICE_TYPE = 0x1000,
    OCL_DEVICE_MAX_COMPUTE_UNITS = 0x1002,
    OCL_DEVICE_MAX_WORK_GROUP_SIZE = 0x1004,
    OCL_DEVICE_MAX_MEM_ALLOC_SIZE = 0x1010,
    OCL_DEVICE_MEM_BASE_ADDR_ALIGN = 0x1019, /* in bits */
    OCL_DEVICE_GLOBAL_MEM_SIZE = 0x101F,
    OCL_DEVICE_AVAILABLE = 0x1027,
    OCL_DEVICE_COMPILER_AVAILABLE = 0x1028,
    OCL_DEVICE_NAME = 0x102B,
    OCL_DRIVER_VERSION = 0x102D,
    OCL_DEVICE_VERSION = 0x102F,
    OCL_DEVICE_EXTENSIONS = 0x1030,
    OCL_DEVICE_SVM_CAPABILITIES = 0x1053,
    OCL_DEVICE_EXTENSIONS_WITH_VERSION = 0x1060,
    OCL_PROGRAM_BINARY_SIZES = 0x1165,
    OCL_PROGRAM_BINARIES = 0x1166,
    OCL_PROGRAM_BUILD_LOG = 0x1183,
    OCL_KERNEL_NUM_ARGS = 0x1191,
    OCL_KERNEL_WORK_GROUP_SIZE = 0x11B0,
    OCL_EVENT_COMMAND_EXECUTION_STATUS = 0x11D3,
    OCL_BUFFER_CREATE_TYPE_REGION = 0x1220,
    OCL_COMMAND_BUFFER_FLAGS = 0x1293,
    OCL_DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES = 0x12AA,
    OCL_DEVICE_MUTABLE_DISPATCH_CAPABILITIES = 0x12B0,
    OCL_MUTABLE_DISPATCH_UPDATABLE_FIELDS = 0x12B1,
    OCL_CHANGES_ARE_OF_DISPATCHES = 0 /* the type of a struct ocl_change */
};

#define OCL_DEVICE_TYPE_CPU (UINT64_C(1) << 1)
#define OCL_DEVICE_TYPE_ALL UINT64_C(0xFFFFFFFF)
#define OCL_MEM_READ_WRITE (UINT64_C(1) << 0)
#define OCL_MEM_ALLOC_HOST_PTR (UINT64_C(1) << 4)
#define OCL_MAP_READ (UINT64_C(1) << 0)
#define OCL_MAP_WRITE (UINT64_C(1) << 1)
#define OCL_MEM_SVM_FINE_GRAIN_BUFFER (UINT64_C(1) << 10)
#define OCL_COMMAND_BUFFER_MUTABLE (UINT64_C(1) << 1)
#define OCL_MUTABLE_DISPATCH_ARGUMENTS (UINT64_C(1) << 3)
#define OCL_DEVICE_SVM_COARSE_GRAIN_BUFFER (UINT64_C(1) << 0)
#define OCL_DEVICE_SVM_FINE_GRAIN_BUFFER (UINT64_C(1) << 1)
#define OCL_DEVICE_SVM_FINE_GRAIN_SYSTEM (UINT64_C(1) << 2)

typedef void (*ocl_context_notify)(const char *words, const void *data, size_t size_bytes, void *user);
typedef void (*ocl_program_notify)(ocl_program program, void *user);

#endif
