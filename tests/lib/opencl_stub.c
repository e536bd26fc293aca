#include "opencl_stub.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/opencl/parts.h"

struct opencl_stub opencl_stub;

static uint64_t live;

enum { KIND_CONTEXT = 1, KIND_QUEUE, KIND_MEM, KIND_PROGRAM, KIND_KERNEL, KIND_EVENT, KIND_RECORDING };
enum { MOST_ARGS = 40, MOST_COMMANDS = 64 };

struct arg {
    size_t size_bytes; /* 0: not set */
    uint8_t bytes[64];
    uint8_t *address; /* of shared memory */
};

/* What any handle points to. */
struct object {
    int kind;
    uint8_t *data; /* of a buffer */
    bool is_sub, built, in_host;
    uint32_t mapped; /* how often */
    char *text; /* of a program */
    char name[64];
    struct arg args[MOST_ARGS];
    struct recording *recording;
};

/* A recorded launch; a struct object as well, so that it runs as a kernel does. */
struct command {
    struct object kernel;
    const struct object *of;
    uint64_t global_x;
};

struct recording {
    struct recording *next;
    bool final, pending, mutable;
    uint64_t replays;
    uint32_t count;
    struct command commands[MOST_COMMANDS];
};

static struct recording *recordings;

static char the_platform, the_device;

static bool strikes(const char *call) {
    struct opencl_stub *s = &opencl_stub;
    s->calls++;
    bool struck = s->fail_at != 0 && (s->lasting ? s->calls >= s->fail_at : s->calls == s->fail_at);
    if (struck && s->strikes++ == 0) s->first_struck = call;
    return struck;
}

#define STRIKE(call) do { if (strikes(call)) return OCL_OUT_OF_RESOURCES; } while (0)
#define STRIKE_NULL(call, error) do { if (strikes(call)) { *(error) = OCL_OUT_OF_RESOURCES; return NULL; } } while (0)

static void *new_object(int kind, int32_t *out_error) {
    struct object *object = calloc(1, sizeof *object);
    if (object == NULL) abort();
    object->kind = kind;
    live++;
    *out_error = OCL_SUCCESS;
    return object;
}

static int32_t drop(void *handle, int kind) {
    struct object *object = handle;
    if (object == NULL || object->kind != kind || object->mapped != 0) abort();
    if (kind == KIND_MEM && !object->is_sub) free(object->data);
    free(object->text);
    memset(object, 0, sizeof *object); /* a second release is seen */
    free(object);
    live--;
    return OCL_SUCCESS;
}

static int32_t answer(size_t room_bytes, void *room, size_t *out_size_bytes, const void *value, size_t size_bytes) {
    if (out_size_bytes != NULL) *out_size_bytes = size_bytes;
    if (room == NULL) return OCL_SUCCESS;
    if (room_bytes < size_bytes) return OCL_INVALID_VALUE;
    memcpy(room, value, size_bytes);
    return OCL_SUCCESS;
}

/* ---- platforms and devices ---- */

static int32_t s_clGetPlatformIDs(uint32_t room, ocl_platform *out, uint32_t *out_count) {
    STRIKE("clGetPlatformIDs");
    if (opencl_stub.platforms == 0) return OCL_PLATFORM_NOT_FOUND;
    if (room > 0) *out = (ocl_platform)(void *)&the_platform;
    *out_count = 1;
    return OCL_SUCCESS;
}

static int32_t s_clGetPlatformInfo(ocl_platform platform, uint32_t what, size_t room_bytes, void *room, size_t *out) {
    STRIKE("clGetPlatformInfo");
    (void)platform, (void)what;
    return answer(room_bytes, room, out, "stub", 5);
}

static int32_t s_clGetDeviceIDs(ocl_platform platform, uint64_t type, uint32_t room, ocl_device *out,
                                uint32_t *out_count) {
    STRIKE("clGetDeviceIDs");
    (void)platform, (void)type;
    if (opencl_stub.devices == 0) return OCL_DEVICE_NOT_FOUND;
    for (uint32_t i = 0; i < room && i < (uint32_t)opencl_stub.devices; i++) out[i] = (ocl_device)(void *)&the_device;
    *out_count = (uint32_t)opencl_stub.devices;
    return OCL_SUCCESS;
}

static bool says_changes(void) {
    return opencl_stub.recording == STUB_RECORDS_AND_CHANGES || opencl_stub.recording == STUB_CHANGES_OF_OLD ||
           opencl_stub.recording == STUB_RECORDS_FOR_EVER;
}

static int32_t answer_extensions(size_t room_bytes, void *room, size_t *out) {
    const char *names = opencl_stub.recording == STUB_RECORDS_NOTHING ? "cl_khr_command_buffer_multi_device"
                        : says_changes() ? "cl_khr_command_buffer_mutable_dispatch cl_khr_command_buffer"
                                         : "cl_khr_fp64 cl_khr_command_buffer cl_khr_icd";
    return answer(room_bytes, room, out, names, strlen(names) + 1);
}

static int32_t answer_versions(size_t room_bytes, void *room, size_t *out) {
    bool old = opencl_stub.recording == STUB_CHANGES_OF_OLD;
    const struct ocl_extension list[] = {
        {OCL_VERSION(1, 0, 0), "cl_khr_fp64"},
        {old ? OCL_VERSION(0, 9, 1) : OCL_VERSION(0, 9, 2), "cl_khr_command_buffer_mutable_dispatch"},
    };
    if (!says_changes()) return OCL_INVALID_VALUE; /* as devices before OpenCL 3.0 say */
    return answer(room_bytes, room, out, list, sizeof list);
}

static int32_t s_clGetDeviceInfo(ocl_device device, uint32_t what, size_t room_bytes, void *room, size_t *out) {
    STRIKE("clGetDeviceInfo");
    (void)device;
    uint64_t number = 0;
    switch (what) {
    case OCL_DEVICE_NAME: return answer(room_bytes, room, out, "stub device", 12);
    case OCL_DEVICE_VERSION: return answer(room_bytes, room, out, "OpenCL 1.2", 11);
    case OCL_DEVICE_EXTENSIONS: return answer_extensions(room_bytes, room, out);
    case OCL_DEVICE_EXTENSIONS_WITH_VERSION: return answer_versions(room_bytes, room, out);
    case OCL_DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES: break;
    case OCL_DEVICE_MUTABLE_DISPATCH_CAPABILITIES: number = OCL_MUTABLE_DISPATCH_ARGUMENTS; break;
    case OCL_DRIVER_VERSION: return answer(room_bytes, room, out, "1", 2);
    case OCL_DEVICE_TYPE: number = OCL_DEVICE_TYPE_CPU; break;
    case OCL_DEVICE_MAX_COMPUTE_UNITS: number = 2; break;
    case OCL_DEVICE_MAX_WORK_GROUP_SIZE: number = 4096; break;
    case OCL_DEVICE_MAX_MEM_ALLOC_SIZE: number = UINT64_C(1) << 30; break;
    case OCL_DEVICE_GLOBAL_MEM_SIZE: number = UINT64_C(1) << 32; break;
    case OCL_DEVICE_MEM_BASE_ADDR_ALIGN: number = 1024; break;
    case OCL_DEVICE_AVAILABLE: number = !opencl_stub.unavailable; break;
    case OCL_DEVICE_COMPILER_AVAILABLE: number = !opencl_stub.no_compiler; break;
    case OCL_DEVICE_SVM_CAPABILITIES:
        if (opencl_stub.svm == STUB_BUFFERS) return OCL_INVALID_VALUE; /* as devices of OpenCL 1.2 say */
        number = opencl_stub.svm;
        break;
    default: return OCL_INVALID_VALUE;
    }
    return answer(room_bytes, room, out, &number, room_bytes < sizeof number ? room_bytes : sizeof number);
}

static ocl_context s_clCreateContext(const intptr_t *properties, uint32_t count, const ocl_device *devices,
                                     ocl_context_notify notify, void *user, int32_t *out_error) {
    STRIKE_NULL("clCreateContext", out_error);
    (void)properties, (void)count, (void)devices, (void)notify, (void)user;
    return new_object(KIND_CONTEXT, out_error);
}

static int32_t s_clReleaseContext(ocl_context context) {
    return drop(context, KIND_CONTEXT);
}

static ocl_queue s_clCreateCommandQueue(ocl_context context, ocl_device device, uint64_t flags, int32_t *out_error) {
    STRIKE_NULL("clCreateCommandQueue", out_error);
    (void)context, (void)device, (void)flags;
    return new_object(KIND_QUEUE, out_error);
}

static int32_t s_clReleaseCommandQueue(ocl_queue queue) {
    return drop(queue, KIND_QUEUE);
}

/* ---- memory ---- */

static ocl_mem s_clCreateBuffer(ocl_context context, uint64_t flags, size_t size_bytes, void *host,
                                int32_t *out_error) {
    STRIKE_NULL("clCreateBuffer", out_error);
    (void)context, (void)host;
    struct object *object = new_object(KIND_MEM, out_error);
    object->in_host = (flags & OCL_MEM_ALLOC_HOST_PTR) != 0;
    object->data = malloc(size_bytes);
    return (ocl_mem)(void *)object;
}

/* As a driver may: not aligned to anything but the host's own types. */
static void *s_clEnqueueMapBuffer(ocl_queue queue, ocl_mem mem, uint32_t blocking, uint64_t flags, size_t offset,
                                  size_t size_bytes, uint32_t waits, const ocl_event *events, ocl_event *out_event,
                                  int32_t *out_error) {
    STRIKE_NULL("clEnqueueMapBuffer", out_error);
    (void)queue, (void)size_bytes, (void)waits, (void)events, (void)out_event;
    struct object *object = (struct object *)(void *)mem;
    if (blocking == 0 || flags != (OCL_MAP_READ | OCL_MAP_WRITE) || offset != 0 || !object->in_host) abort();
    object->mapped++;
    opencl_stub.mapped++;
    *out_error = OCL_SUCCESS;
    return object->data;
}

static int32_t s_clEnqueueUnmapMemObject(ocl_queue queue, ocl_mem mem, void *start, uint32_t waits,
                                         const ocl_event *events, ocl_event *out_event) {
    struct object *object = (struct object *)(void *)mem;
    (void)queue, (void)waits, (void)events, (void)out_event;
    if (start != object->data || object->mapped-- == 0) abort();
    opencl_stub.mapped--;
    return strikes("clEnqueueUnmapMemObject") ? OCL_OUT_OF_RESOURCES : OCL_SUCCESS;
}

static ocl_mem s_clCreateSubBuffer(ocl_mem mem, uint64_t flags, uint32_t type, const void *info, int32_t *out_error) {
    STRIKE_NULL("clCreateSubBuffer", out_error);
    (void)flags;
    const struct ocl_region *region = info;
    if (type != OCL_BUFFER_CREATE_TYPE_REGION || region->origin % 128 != 0 || region->size == 0) {
        *out_error = -13;
        return NULL;
    }
    struct object *object = new_object(KIND_MEM, out_error);
    object->is_sub = true;
    object->data = ((struct object *)(void *)mem)->data + region->origin;
    return (ocl_mem)(void *)object;
}

static int32_t s_clReleaseMemObject(ocl_mem mem) {
    return drop(mem, KIND_MEM);
}

static void *s_clSVMAlloc(ocl_context context, uint64_t flags, size_t size_bytes, uint32_t alignment) {
    (void)context, (void)alignment;
    bool fine = (flags & OCL_MEM_SVM_FINE_GRAIN_BUFFER) != 0;
    if (strikes("clSVMAlloc") || opencl_stub.svm == STUB_BUFFERS || (fine && opencl_stub.svm == STUB_COARSE)) {
        return NULL;
    }
    live++;
    return aligned_alloc(128, (size_bytes + 127) / 128 * 128);
}

static void s_clSVMFree(ocl_context context, void *memory) {
    (void)context;
    live--;
    free(memory);
}

/* ---- programs ---- */

static ocl_program s_clCreateProgramWithSource(ocl_context context, uint32_t count, const char **texts,
                                               const size_t *sizes, int32_t *out_error) {
    STRIKE_NULL("clCreateProgramWithSource", out_error);
    (void)context;
    size_t size_bytes = 1;
    for (uint32_t i = 0; i < count; i++) size_bytes += sizes[i] != 0 ? sizes[i] : strlen(texts[i]);
    struct object *object = new_object(KIND_PROGRAM, out_error);
    object->text = calloc(1, size_bytes);
    for (uint32_t i = 0; i < count; i++) {
        strncat(object->text, texts[i], sizes[i] != 0 ? sizes[i] : strlen(texts[i]));
    }
    snprintf(opencl_stub.last_text, sizeof opencl_stub.last_text, "%s", object->text);
    return (ocl_program)(void *)object;
}

static ocl_program s_clCreateProgramWithBinary(ocl_context context, uint32_t count, const ocl_device *devices,
                                               const size_t *sizes, const unsigned char **binaries,
                                               int32_t *out_verdicts, int32_t *out_error) {
    STRIKE_NULL("clCreateProgramWithBinary", out_error);
    (void)context, (void)count, (void)devices;
    if (opencl_stub.refuses_binaries) {
        *out_verdicts = *out_error = -42;
        return NULL;
    }
    struct object *object = new_object(KIND_PROGRAM, out_error);
    object->text = calloc(1, sizes[0] + 1);
    memcpy(object->text, binaries[0], sizes[0]);
    opencl_stub.from_binary++;
    *out_verdicts = OCL_SUCCESS;
    return (ocl_program)(void *)object;
}

static int32_t s_clBuildProgram(ocl_program program, uint32_t count, const ocl_device *devices, const char *options,
                                ocl_program_notify notify, void *user) {
    STRIKE("clBuildProgram");
    (void)count, (void)devices, (void)options, (void)notify, (void)user;
    if (opencl_stub.build_log != NULL) return OCL_BUILD_PROGRAM_FAILURE;
    ((struct object *)(void *)program)->built = true;
    opencl_stub.compiled++;
    return OCL_SUCCESS;
}

static int32_t s_clGetProgramInfo(ocl_program program, uint32_t what, size_t room_bytes, void *room, size_t *out) {
    STRIKE("clGetProgramInfo");
    const struct object *object = (struct object *)(void *)program;
    size_t size_bytes = opencl_stub.gives_no_binary ? 0 : strlen(object->text);
    if (what == OCL_PROGRAM_BINARY_SIZES) return answer(room_bytes, room, out, &size_bytes, sizeof size_bytes);
    memcpy(*(unsigned char **)room, object->text, size_bytes);
    return OCL_SUCCESS;
}

static int32_t s_clGetProgramBuildInfo(ocl_program program, ocl_device device, uint32_t what, size_t room_bytes,
                                       void *room, size_t *out) {
    STRIKE("clGetProgramBuildInfo");
    (void)program, (void)device, (void)what;
    return answer(room_bytes, room, out, opencl_stub.build_log, strlen(opencl_stub.build_log) + 1);
}

static int32_t s_clReleaseProgram(ocl_program program) {
    return drop(program, KIND_PROGRAM);
}

/* ---- kernels ---- */

static const struct known {
    const char *name;
    uint32_t arg_count, buffers;
} known[] = {{STUB_ADD, 7, 2}, {STUB_FAIL, 6, 1}, {STUB_PLAIN, 3, 2}, {"rondo_probe", 2, 1}};

static const struct known *find_known(const char *name) {
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(known[i].name, name) == 0) return &known[i];
    }
    return NULL;
}

static ocl_kernel s_clCreateKernel(ocl_program program, const char *name, int32_t *out_error) {
    STRIKE_NULL("clCreateKernel", out_error);
    const struct object *of = (struct object *)(void *)program;
    if (!of->built) abort();
    if (find_known(name) == NULL || strstr(of->text, name) == NULL) {
        *out_error = -46;
        return NULL;
    }
    struct object *object = new_object(KIND_KERNEL, out_error);
    snprintf(object->name, sizeof object->name, "%s", name);
    return (ocl_kernel)(void *)object;
}

static int32_t s_clReleaseKernel(ocl_kernel kernel) {
    return drop(kernel, KIND_KERNEL);
}

static int32_t s_clSetKernelArg(ocl_kernel kernel, uint32_t index, size_t size_bytes, const void *value) {
    STRIKE("clSetKernelArg");
    struct arg *arg = &((struct object *)(void *)kernel)->args[index];
    if (size_bytes > sizeof arg->bytes) return -51;
    arg->size_bytes = size_bytes;
    arg->address = NULL;
    memcpy(arg->bytes, value, size_bytes);
    return OCL_SUCCESS;
}

static int32_t s_clSetKernelArgSVMPointer(ocl_kernel kernel, uint32_t index, const void *value) {
    STRIKE("clSetKernelArgSVMPointer");
    struct arg *arg = &((struct object *)(void *)kernel)->args[index];
    arg->size_bytes = sizeof value;
    arg->address = (uint8_t *)(uintptr_t)value;
    return OCL_SUCCESS;
}

static int32_t s_clGetKernelInfo(ocl_kernel kernel, uint32_t what, size_t room_bytes, void *room, size_t *out) {
    STRIKE("clGetKernelInfo");
    (void)what;
    uint32_t count = find_known(((struct object *)(void *)kernel)->name)->arg_count;
    return answer(room_bytes, room, out, &count, sizeof count);
}

static int32_t s_clGetKernelWorkGroupInfo(ocl_kernel kernel, ocl_device device, uint32_t what, size_t room_bytes,
                                          void *room, size_t *out) {
    STRIKE("clGetKernelWorkGroupInfo");
    (void)kernel, (void)device, (void)what;
    size_t size = opencl_stub.max_group;
    return answer(room_bytes, room, out, &size, sizeof size);
}

/* ---- work ---- */

static void signal_event(ocl_event *out_event) {
    int32_t ignored;
    if (out_event != NULL) *out_event = new_object(KIND_EVENT, &ignored);
}

static void *buffer_arg(const struct arg *arg) {
    struct object *mem;
    if (arg->address != NULL) return arg->address;
    memcpy(&mem, arg->bytes, sizeof mem);
    return mem->data;
}

static uint64_t number_arg(const struct arg *arg) {
    uint64_t number = 0;
    memcpy(&number, arg->bytes, arg->size_bytes);
    return number;
}

static void run_kernel(const struct object *kernel, uint64_t global_x) {
    const struct arg *args = kernel->args;
    if (strcmp(kernel->name, STUB_FAIL) == 0) {
        int32_t *y = buffer_arg(&args[0]);
        uint32_t *status = buffer_arg(&args[5]);
        if (number_arg(&args[1]) != 0) *status = (uint32_t)number_arg(&args[1]);
        for (uint64_t i = 0; number_arg(&args[1]) == 0 && i < number_arg(&args[2]); i++) y[i]++;
        return;
    }
    if (strcmp(kernel->name, "rondo_probe") == 0) {
        uint32_t *target = buffer_arg(&args[0]);
        *target = *target * 3 + (uint32_t)number_arg(&args[1]);
        return;
    }
    const int32_t *x = buffer_arg(&args[0]);
    int32_t *y = buffer_arg(&args[1]);
    uint64_t items = strcmp(kernel->name, STUB_ADD) == 0 ? number_arg(&args[3]) : global_x;
    for (uint64_t i = 0; i < items; i++) y[i] = x[i] + (int32_t)number_arg(&args[2]);
}

static int32_t s_clEnqueueNDRangeKernel(ocl_queue queue, ocl_kernel handle, uint32_t dimensions, const size_t *offset,
                                        const size_t *global, const size_t *local, uint32_t waits,
                                        const ocl_event *events, ocl_event *out_event) {
    STRIKE("clEnqueueNDRangeKernel");
    (void)queue, (void)offset, (void)waits, (void)events;
    const struct object *kernel = (struct object *)(void *)handle;
    for (uint32_t i = 0; i < find_known(kernel->name)->arg_count; i++) {
        if (kernel->args[i].size_bytes == 0) return -52;
    }
    opencl_stub.last_dimensions = dimensions;
    opencl_stub.last_any_local = local == NULL;
    for (uint32_t i = 0; i < dimensions; i++) {
        if (local != NULL && (local[i] == 0 || global[i] % local[i] != 0)) return -54;
        opencl_stub.last_global[i] = global[i];
        opencl_stub.last_local[i] = local != NULL ? local[i] : 0;
    }
    run_kernel(kernel, global[0]);
    opencl_stub.enqueued++;
    opencl_stub.now_ns += opencl_stub.launch_ns;
    signal_event(out_event);
    return OCL_SUCCESS;
}

/* ---- command buffers ---- */

static ocl_commands s_clCreateCommandBufferKHR(uint32_t count, const ocl_queue *queues, const uint64_t *properties,
                                               int32_t *out_error) {
    STRIKE_NULL("clCreateCommandBufferKHR", out_error);
    if (count != 1 || ((struct object *)(void *)queues[0])->kind != KIND_QUEUE) abort();
    struct object *object = new_object(KIND_RECORDING, out_error);
    object->recording = calloc(1, sizeof *object->recording);
    object->recording->mutable = properties != NULL && properties[0] == OCL_COMMAND_BUFFER_FLAGS &&
                                 (properties[1] & OCL_COMMAND_BUFFER_MUTABLE) != 0;
    object->recording->next = recordings;
    recordings = object->recording;
    return (ocl_commands)(void *)object;
}

static struct recording *recording_of(ocl_commands handle) {
    struct object *object = (struct object *)(void *)handle;
    if (object == NULL || object->kind != KIND_RECORDING) abort();
    return object->recording;
}

static int32_t s_clFinalizeCommandBufferKHR(ocl_commands handle) {
    STRIKE("clFinalizeCommandBufferKHR");
    recording_of(handle)->final = true;
    opencl_stub.recorded++;
    return OCL_SUCCESS;
}

static int32_t s_clReleaseCommandBufferKHR(ocl_commands handle) {
    struct recording *recording = recording_of(handle), **link = &recordings;
    while (*link != recording) link = &(*link)->next;
    *link = recording->next;
    free(recording);
    return drop(handle, KIND_RECORDING);
}

static int32_t s_clCommandNDRangeKernelKHR(ocl_commands handle, ocl_queue queue, const uint64_t *properties,
                                           ocl_kernel kernel, uint32_t dimensions, const size_t *offset,
                                           const size_t *global, const size_t *local, uint32_t waits,
                                           const uint32_t *points, uint32_t *out_point, ocl_command *out_command) {
    STRIKE("clCommandNDRangeKernelKHR");
    struct recording *recording = recording_of(handle);
    (void)dimensions, (void)offset, (void)local, (void)points;
    if (recording->final || queue != NULL || waits != 0 || out_point != NULL) return -59;
    if (recording->count == MOST_COMMANDS) return OCL_OUT_OF_RESOURCES;
    if (recording->mutable != (properties != NULL) || (!recording->mutable && out_command != NULL)) return -59;
    struct command *command = &recording->commands[recording->count++];
    command->of = (struct object *)(void *)kernel;
    command->kernel = *command->of;
    command->global_x = global[0];
    if (out_command != NULL) *out_command = (ocl_command)(void *)command;
    return OCL_SUCCESS;
}

static int32_t s_clUpdateMutableCommandsKHR(ocl_commands handle, uint32_t count, const uint32_t *types,
                                            const void **changes) {
    STRIKE("clUpdateMutableCommandsKHR");
    struct recording *recording = recording_of(handle);
    if (opencl_stub.recording == STUB_CHANGES_OF_OLD) abort(); /* it would take these arguments for others */
    if (!recording->final || recording->pending || !recording->mutable) return -59;
    for (uint32_t i = 0; i < count; i++) {
        const struct ocl_change *change = changes[i];
        struct command *command = (struct command *)(void *)change->command;
        if (types[i] != OCL_CHANGES_ARE_OF_DISPATCHES || command < recording->commands ||
            command >= recording->commands + recording->count) {
            return OCL_INVALID_VALUE;
        }
        for (uint32_t k = 0; k < change->arg_count; k++) {
            struct arg *arg = &command->kernel.args[change->args[k].index];
            if (arg->size_bytes != change->args[k].size_bytes) return -51;
            if (opencl_stub.recording == STUB_RECORDS_FOR_EVER) continue;
            memcpy(arg->bytes, change->args[k].value, arg->size_bytes);
        }
    }
    opencl_stub.changed++;
    return OCL_SUCCESS;
}

/* Whatever was enqueued is done when somebody waits, but a recording is in use until then. */
static void end_recordings(void) {
    for (struct recording *recording = recordings; recording != NULL; recording = recording->next) {
        recording->pending = false;
    }
}

static int32_t s_clEnqueueCommandBufferKHR(uint32_t count, ocl_queue *queues, ocl_commands handle, uint32_t waits,
                                           const ocl_event *events, ocl_event *out_event) {
    STRIKE("clEnqueueCommandBufferKHR");
    struct recording *recording = recording_of(handle);
    (void)events;
    if (count != 1 || ((struct object *)(void *)queues[0])->kind != KIND_QUEUE || waits != 0) abort();
    if (!recording->final || recording->pending) return -59;
    bool late = opencl_stub.recording == STUB_RECORDS_LATE_ARGUMENTS;
    bool idle = opencl_stub.recording == STUB_RECORDS_ONE_REPLAY && recording->replays != 0;
    for (uint32_t i = 0; i < recording->count && !idle; i++) {
        const struct command *command = &recording->commands[i];
        run_kernel(late ? command->of : &command->kernel, command->global_x);
    }
    recording->replays++;
    recording->pending = true;
    opencl_stub.enqueued_recordings++;
    opencl_stub.now_ns += opencl_stub.recording_ns;
    signal_event(out_event);
    return OCL_SUCCESS;
}

/* ---- transfers ---- */

static int32_t s_clEnqueueReadBuffer(ocl_queue queue, ocl_mem mem, uint32_t blocking, size_t offset, size_t size_bytes,
                                     void *host, uint32_t waits, const ocl_event *events, ocl_event *out_event) {
    STRIKE("clEnqueueReadBuffer");
    (void)queue, (void)blocking, (void)waits, (void)events;
    memcpy(host, ((struct object *)(void *)mem)->data + offset, size_bytes);
    signal_event(out_event);
    return OCL_SUCCESS;
}

static int32_t s_clEnqueueWriteBuffer(ocl_queue queue, ocl_mem mem, uint32_t blocking, size_t offset,
                                      size_t size_bytes, const void *host, uint32_t waits, const ocl_event *events,
                                      ocl_event *out_event) {
    STRIKE("clEnqueueWriteBuffer");
    (void)queue, (void)blocking, (void)waits, (void)events;
    memcpy(((struct object *)(void *)mem)->data + offset, host, size_bytes);
    signal_event(out_event);
    return OCL_SUCCESS;
}

static bool overlap(const uint8_t *a, const uint8_t *b, size_t size_bytes) {
    return (a > b ? (size_t)(a - b) : (size_t)(b - a)) < size_bytes;
}

static int32_t copy_bytes(uint8_t *target, const uint8_t *source, size_t size_bytes, ocl_event *out_event) {
    if (overlap(target, source, size_bytes)) return -8;
    memcpy(target, source, size_bytes);
    signal_event(out_event);
    return OCL_SUCCESS;
}

static int32_t s_clEnqueueCopyBuffer(ocl_queue queue, ocl_mem source, ocl_mem target, size_t source_offset,
                                     size_t target_offset, size_t size_bytes, uint32_t waits, const ocl_event *events,
                                     ocl_event *out_event) {
    STRIKE("clEnqueueCopyBuffer");
    (void)queue, (void)waits, (void)events;
    return copy_bytes(((struct object *)(void *)target)->data + target_offset,
                      ((struct object *)(void *)source)->data + source_offset, size_bytes, out_event);
}

static int32_t fill_bytes(uint8_t *target, const void *pattern, size_t pattern_bytes, size_t size_bytes,
                          ocl_event *out_event) {
    if (size_bytes % pattern_bytes != 0) return OCL_INVALID_VALUE;
    for (size_t at = 0; at < size_bytes; at += pattern_bytes) memcpy(target + at, pattern, pattern_bytes);
    signal_event(out_event);
    return OCL_SUCCESS;
}

static int32_t s_clEnqueueFillBuffer(ocl_queue queue, ocl_mem mem, const void *pattern, size_t pattern_bytes,
                                     size_t offset, size_t size_bytes, uint32_t waits, const ocl_event *events,
                                     ocl_event *out_event) {
    STRIKE("clEnqueueFillBuffer");
    (void)queue, (void)waits, (void)events;
    if (offset % pattern_bytes != 0) return OCL_INVALID_VALUE;
    return fill_bytes(((struct object *)(void *)mem)->data + offset, pattern, pattern_bytes, size_bytes, out_event);
}

static int32_t s_clEnqueueSVMMemcpy(ocl_queue queue, uint32_t blocking, void *target, const void *source,
                                    size_t size_bytes, uint32_t waits, const ocl_event *events, ocl_event *out_event) {
    STRIKE("clEnqueueSVMMemcpy");
    (void)queue, (void)blocking, (void)waits, (void)events;
    return copy_bytes(target, source, size_bytes, out_event);
}

static int32_t s_clEnqueueSVMMemFill(ocl_queue queue, void *target, const void *pattern, size_t pattern_bytes,
                                     size_t size_bytes, uint32_t waits, const ocl_event *events,
                                     ocl_event *out_event) {
    STRIKE("clEnqueueSVMMemFill");
    (void)queue, (void)waits, (void)events;
    if ((uintptr_t)target % pattern_bytes != 0) return OCL_INVALID_VALUE;
    return fill_bytes(target, pattern, pattern_bytes, size_bytes, out_event);
}

static int32_t s_clWaitForEvents(uint32_t count, const ocl_event *events) {
    STRIKE("clWaitForEvents");
    if (count != 1 || ((struct object *)(void *)events[0])->kind != KIND_EVENT) abort();
    opencl_stub.waits++;
    void (*call)(void *) = opencl_stub.on_wait;
    opencl_stub.on_wait = NULL;
    if (call != NULL) call(opencl_stub.on_wait_user);
    end_recordings();
    return opencl_stub.end_commands != 0 ? OCL_EXEC_STATUS_ERROR_IN_WAIT_LIST : OCL_SUCCESS;
}

static int32_t s_clGetEventInfo(ocl_event event, uint32_t what, size_t room_bytes, void *room, size_t *out) {
    STRIKE("clGetEventInfo");
    (void)event, (void)what;
    return answer(room_bytes, room, out, &opencl_stub.end_commands, sizeof opencl_stub.end_commands);
}

static int32_t s_clReleaseEvent(ocl_event event) {
    return drop(event, KIND_EVENT);
}

static int32_t s_clFinish(ocl_queue queue) {
    STRIKE("clFinish");
    (void)queue;
    opencl_stub.waits++;
    end_recordings();
    return OCL_SUCCESS;
}

/* ---- the library ---- */

static struct rdo_ocl_extension extension = {
#define OCL_EXTENSION(result, name, parameters) .name = s_##name,
#include "backend/opencl/extensions.def"
#undef OCL_EXTENSION
};

static const char *const extension_names[] = {
#define OCL_EXTENSION(result, name, parameters) #name,
#include "backend/opencl/extensions.def"
#undef OCL_EXTENSION
};

static const size_t extension_offsets[] = {
#define OCL_EXTENSION(result, name, parameters) offsetof(struct rdo_ocl_extension, name),
#include "backend/opencl/extensions.def"
#undef OCL_EXTENSION
};

const char *opencl_stub_extension(uint32_t index) {
    return index < sizeof extension_names / sizeof extension_names[0] ? extension_names[index] : NULL;
}

static void *s_clGetExtensionFunctionAddressForPlatform(ocl_platform platform, const char *name) {
    void *symbol = NULL;
    (void)platform;
    if (strikes("clGetExtensionFunctionAddressForPlatform")) return NULL;
    if (opencl_stub.recording == STUB_LACKS_A_CALL && strcmp(name, "clFinalizeCommandBufferKHR") == 0) return NULL;
    for (uint32_t i = 0; opencl_stub_extension(i) != NULL; i++) {
        if (strcmp(extension_names[i], name) != 0) continue;
        memcpy(&symbol, (char *)&extension + extension_offsets[i], sizeof symbol);
    }
    return symbol;
}

static struct rdo_ocl_calls calls = {
#define OCL_CALL(result, name, parameters) .name = s_##name,
#include "backend/opencl/symbols.def"
#undef OCL_CALL
};

static const char *const names[] = {
#define OCL_CALL(result, name, parameters) #name,
#include "backend/opencl/symbols.def"
#undef OCL_CALL
};

static const size_t offsets[] = {
#define OCL_CALL(result, name, parameters) offsetof(struct rdo_ocl_calls, name),
#include "backend/opencl/symbols.def"
#undef OCL_CALL
};

const char *opencl_stub_call(uint32_t index) {
    return index < sizeof names / sizeof names[0] ? names[index] : NULL;
}

static void *open_stub(const char *name) {
    return opencl_stub.no_library || strcmp(name, "libOpenCL.so.1") != 0 ? NULL : &calls;
}

static void *find_symbol(void *library, const char *name) {
    void *symbol = NULL;
    if (opencl_stub.missing != NULL && strcmp(opencl_stub.missing, name) == 0) return NULL;
    for (uint32_t i = 0; opencl_stub_call(i) != NULL; i++) {
        if (strcmp(names[i], name) == 0) memcpy(&symbol, (char *)library + offsets[i], sizeof symbol);
    }
    return symbol;
}

static uint64_t clock_ns(void) {
    return opencl_stub.now_ns;
}

void opencl_stub_install(uint32_t svm) {
    opencl_stub = (struct opencl_stub){.platforms = 1, .devices = 1, .svm = svm, .max_group = 4096, .launch_ns = 1000,
                                       .recording_ns = 1000};
    rdo_ocl_hooks = (struct rdo_ocl_hooks){open_stub, find_symbol, UINT64_MAX, clock_ns};
    rdo_ocl_forget();
}

uint64_t opencl_stub_live(void) {
    return live;
}
