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

/* The region of a sub-buffer. */
struct ocl_region {
    size_t origin, size;
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
    OCL_DEVICE_SVM_CAPABILITIES = 0x1053,
    OCL_PROGRAM_BINARY_SIZES = 0x1165,
    OCL_PROGRAM_BINARIES = 0x1166,
    OCL_PROGRAM_BUILD_LOG = 0x1183,
    OCL_KERNEL_NUM_ARGS = 0x1191,
    OCL_KERNEL_WORK_GROUP_SIZE = 0x11B0,
    OCL_EVENT_COMMAND_EXECUTION_STATUS = 0x11D3,
    OCL_BUFFER_CREATE_TYPE_REGION = 0x1220
};

#define OCL_DEVICE_TYPE_CPU (UINT64_C(1) << 1)
#define OCL_DEVICE_TYPE_ALL UINT64_C(0xFFFFFFFF)
#define OCL_MEM_READ_WRITE (UINT64_C(1) << 0)
#define OCL_MEM_SVM_FINE_GRAIN_BUFFER (UINT64_C(1) << 10)
#define OCL_DEVICE_SVM_COARSE_GRAIN_BUFFER (UINT64_C(1) << 0)
#define OCL_DEVICE_SVM_FINE_GRAIN_BUFFER (UINT64_C(1) << 1)
#define OCL_DEVICE_SVM_FINE_GRAIN_SYSTEM (UINT64_C(1) << 2)

typedef void (*ocl_context_notify)(const char *words, const void *data, size_t size_bytes, void *user);
typedef void (*ocl_program_notify)(ocl_program program, void *user);

#endif
