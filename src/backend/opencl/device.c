#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "opencl.h"
#include "parts.h"

enum { MOST_PLATFORMS = 16, MOST_DEVICES = 64, DEFAULT_QUEUES = 32, LEAST_ALIGNMENT_BYTES = 64 };

/* Enough for every type of OpenCL C, the largest of which has 128 bytes. */
enum { SVM_ALIGNMENT_BYTES = 128 };

/* ---- failures ---- */

rondo_backend_result rdo_ocl_refuse(rondo_backend_outcome *outcome, rondo_backend_result result, const char *format,
                                    ...) {
    va_list list;
    outcome->reason = 0;
    va_start(list, format);
    vsnprintf(outcome->message, sizeof outcome->message, format, list);
    va_end(list);
    return result;
}

rondo_backend_result rdo_ocl_failed(rondo_backend_outcome *outcome, const char *call, int32_t error) {
    return rdo_ocl_refuse(outcome, rdo_ocl_result(error), "%s ended with %s (%d)", call, rdo_ocl_error_name(error),
                          error);
}

/* ---- finding devices ---- */

/* All devices of all platforms, in the order in which the loader gives them. */
struct devices {
    uint32_t count;
    ocl_platform platform[MOST_DEVICES];
    ocl_device id[MOST_DEVICES];
};

static int32_t add_devices(struct devices *found, ocl_platform platform) {
    uint32_t room = MOST_DEVICES - found->count, count = 0;
    if (room == 0) {
        return OCL_SUCCESS;
    }
    int32_t error = rdo_ocl.clGetDeviceIDs(platform, OCL_DEVICE_TYPE_ALL, room, &found->id[found->count], &count);
    if (error != OCL_SUCCESS) {
        return error == OCL_DEVICE_NOT_FOUND ? OCL_SUCCESS : error;
    }
    for (uint32_t i = 0; i < count && i < room; i++) {
        found->platform[found->count++] = platform;
    }
    return OCL_SUCCESS;
}

/* False if there is none; then `reason` says why. */
static bool find_devices(struct devices *found, char *reason, size_t size_bytes) {
    ocl_platform platforms[MOST_PLATFORMS];
    uint32_t count = 0;
    const char *call = "clGetPlatformIDs";
    found->count = 0;
    int32_t error = rdo_ocl.clGetPlatformIDs(MOST_PLATFORMS, platforms, &count);
    if (error == OCL_PLATFORM_NOT_FOUND) {
        error = OCL_SUCCESS;
        count = 0;
    }
    for (uint32_t i = 0; error == OCL_SUCCESS && i < count && i < MOST_PLATFORMS; i++) {
        call = "clGetDeviceIDs";
        error = add_devices(found, platforms[i]);
    }
    if (error != OCL_SUCCESS) {
        snprintf(reason, size_bytes, "%s ended with %s (%d)", call, rdo_ocl_error_name(error), error);
    } else if (count == 0) {
        snprintf(reason, size_bytes, "no OpenCL driver is installed; install one (Debian, for the processor: "
                 "pocl-opencl-icd)");
    } else if (found->count == 0) {
        snprintf(reason, size_bytes, "the OpenCL drivers that are installed find no device; install one for the "
                 "processor (Debian: pocl-opencl-icd)");
    }
    return error == OCL_SUCCESS && found->count != 0;
}

/* ---- asking devices ---- */

static int32_t ask(ocl_device id, uint32_t what, void *out, size_t size_bytes) {
    memset(out, 0, size_bytes);
    return rdo_ocl.clGetDeviceInfo(id, what, size_bytes, out, NULL);
}

/* Cut if it is too long for the room. */
static int32_t ask_text(ocl_device id, ocl_platform platform, uint32_t what, char *room, size_t room_bytes) {
    char text[1024] = "";
    int32_t error = id != NULL ? rdo_ocl.clGetDeviceInfo(id, what, sizeof text, text, NULL)
                               : rdo_ocl.clGetPlatformInfo(platform, what, sizeof text, text, NULL);
    text[sizeof text - 1] = '\0';
    snprintf(room, room_bytes, "%.*s", (int)room_bytes - 1, text);
    return error;
}

static bool is_usable(ocl_device id, char *reason, size_t size_bytes) {
    uint32_t available, compiles;
    int32_t error = ask(id, OCL_DEVICE_AVAILABLE, &available, sizeof available);
    if (error == OCL_SUCCESS) {
        error = ask(id, OCL_DEVICE_COMPILER_AVAILABLE, &compiles, sizeof compiles);
    }
    if (error != OCL_SUCCESS) {
        snprintf(reason, size_bytes, "clGetDeviceInfo ended with %s (%d)", rdo_ocl_error_name(error), error);
    } else if (available == 0) {
        snprintf(reason, size_bytes, "its driver says that it is not available");
    } else if (compiles == 0) {
        snprintf(reason, size_bytes, "its driver has no compiler for kernels");
    }
    return error == OCL_SUCCESS && available != 0 && compiles != 0;
}

static bool probe(uint32_t index, rondo_device_entry *out_entry) {
    struct devices found;
    memset(out_entry, 0, sizeof *out_entry);
    found.count = 0;
    bool any = rdo_ocl_load(out_entry->reason, sizeof out_entry->reason) &&
               find_devices(&found, out_entry->reason, sizeof out_entry->reason);
    if (index != 0 && (!any || index >= found.count)) {
        return false;
    }
    if (index == 0) {
        snprintf(out_entry->name, sizeof out_entry->name, "opencl");
    } else {
        snprintf(out_entry->name, sizeof out_entry->name, "opencl:%u", index);
    }
    out_entry->available = any && is_usable(found.id[index], out_entry->reason, sizeof out_entry->reason);
    return true;
}

/* ---- opening ---- */

static int32_t ask_names(struct rdo_ocl_device *device) {
    const struct {
        ocl_device id;
        uint32_t what;
        char *room;
        size_t room_bytes;
    } questions[] = {
        {NULL, OCL_PLATFORM_NAME, device->platform_name, sizeof device->platform_name},
        {NULL, OCL_PLATFORM_VERSION, device->platform_version, sizeof device->platform_version},
        {device->id, OCL_DEVICE_NAME, device->name, sizeof device->name},
        {device->id, OCL_DEVICE_VERSION, device->version, sizeof device->version},
        {device->id, OCL_DRIVER_VERSION, device->driver, sizeof device->driver},
    };
    int32_t error = OCL_SUCCESS;
    for (size_t i = 0; error == OCL_SUCCESS && i < sizeof questions / sizeof questions[0]; i++) {
        error = ask_text(questions[i].id, device->platform, questions[i].what, questions[i].room,
                         questions[i].room_bytes);
    }
    return error;
}

static int32_t ask_numbers(struct rdo_ocl_device *device) {
    uint64_t type = 0;
    const struct {
        uint32_t what;
        void *out;
        size_t size_bytes;
    } questions[] = {
        {OCL_DEVICE_TYPE, &type, sizeof type},
        {OCL_DEVICE_MAX_COMPUTE_UNITS, &device->compute_units, sizeof device->compute_units},
        {OCL_DEVICE_MAX_WORK_GROUP_SIZE, &device->max_local, sizeof device->max_local},
        {OCL_DEVICE_GLOBAL_MEM_SIZE, &device->memory_bytes, sizeof device->memory_bytes},
        {OCL_DEVICE_MAX_MEM_ALLOC_SIZE, &device->largest_bytes, sizeof device->largest_bytes},
    };
    int32_t error = OCL_SUCCESS;
    for (size_t i = 0; error == OCL_SUCCESS && i < sizeof questions / sizeof questions[0]; i++) {
        error = ask(device->id, questions[i].what, questions[i].out, questions[i].size_bytes);
    }
    device->is_cpu = (type & OCL_DEVICE_TYPE_CPU) != 0;
    device->compute_units = device->compute_units != 0 ? device->compute_units : 1;
    device->max_local = device->max_local != 0 ? device->max_local : 1;
    return error;
}

/* OpenCL gives the alignment of sub-buffers in bits. */
static int32_t ask_memory(struct rdo_ocl_device *device) {
    uint64_t svm = 0;
    uint32_t align_bits = 0;
    int32_t error = ask(device->id, OCL_DEVICE_SVM_CAPABILITIES, &svm, sizeof svm);
    if (error == OCL_INVALID_VALUE) {
        error = OCL_SUCCESS; /* a device of OpenCL 1.2 does not know the question */
        svm = 0;
    }
    if (error == OCL_SUCCESS) {
        error = ask(device->id, OCL_DEVICE_MEM_BASE_ADDR_ALIGN, &align_bits, sizeof align_bits);
    }
    svm &= rdo_ocl_hooks.svm_mask;
    device->memory = (svm & OCL_DEVICE_SVM_FINE_GRAIN_BUFFER) != 0     ? RDO_OCL_FINE
                     : (svm & OCL_DEVICE_SVM_COARSE_GRAIN_BUFFER) != 0 ? RDO_OCL_COARSE
                                                                       : RDO_OCL_BUFFERS;
    device->imports = (svm & OCL_DEVICE_SVM_FINE_GRAIN_SYSTEM) != 0;
    device->alignment_bytes = SVM_ALIGNMENT_BYTES;
    if (device->memory == RDO_OCL_BUFFERS) {
        uint64_t align_bytes = align_bits / 8;
        device->alignment_bytes = align_bytes > LEAST_ALIGNMENT_BYTES ? align_bytes : LEAST_ALIGNMENT_BYTES;
    }
    return error;
}

/* The list of the device's extensions, names apart by blanks, with a blank before and behind each. */
static int32_t fetch_extensions(ocl_device id, char **out_names) {
    size_t size_bytes = 0;
    *out_names = NULL;
    int32_t error = rdo_ocl.clGetDeviceInfo(id, OCL_DEVICE_EXTENSIONS, 0, NULL, &size_bytes);
    if (error != OCL_SUCCESS) {
        return error;
    }
    char *names = rdo_alloc_zero(size_bytes + 3, 1);
    if (names == NULL) {
        return OCL_OUT_OF_HOST_MEMORY;
    }
    names[0] = ' ';
    error = rdo_ocl.clGetDeviceInfo(id, OCL_DEVICE_EXTENSIONS, size_bytes, names + 1, NULL);
    if (error != OCL_SUCCESS) {
        rdo_free(names);
        return error;
    }
    names[strlen(names)] = ' ';
    *out_names = names;
    return OCL_SUCCESS;
}

/* 0 if the driver does not tell, as before OpenCL 3.0. */
static uint32_t extension_version(ocl_device id, const char *name) {
    size_t size_bytes = 0;
    uint32_t version = 0;
    if (rdo_ocl.clGetDeviceInfo(id, OCL_DEVICE_EXTENSIONS_WITH_VERSION, 0, NULL, &size_bytes) != OCL_SUCCESS) {
        return 0;
    }
    struct ocl_extension *list = rdo_alloc_zero(size_bytes + 1, 1);
    if (list != NULL && rdo_ocl.clGetDeviceInfo(id, OCL_DEVICE_EXTENSIONS_WITH_VERSION, size_bytes, list, NULL) ==
                            OCL_SUCCESS) {
        for (size_t i = 0; i < size_bytes / sizeof *list; i++) {
            version = strncmp(list[i].name, name, sizeof list[i].name) == 0 ? list[i].version : version;
        }
    }
    rdo_free(list);
    return version;
}

/* The call that changes commands took other parameters before version 0.9.2; a driver that does not tell which it has
 * is taken to be older. */
static bool can_change(const struct rdo_ocl_device *device, const char *names) {
    static const char name[] = "cl_khr_command_buffer_mutable_dispatch";
    uint64_t fields = 0;
    return strstr(names, " cl_khr_command_buffer_mutable_dispatch ") != NULL &&
           device->extension.clUpdateMutableCommandsKHR != NULL &&
           extension_version(device->id, name) >= OCL_VERSION(0, 9, 2) &&
           ask(device->id, OCL_DEVICE_MUTABLE_DISPATCH_CAPABILITIES, &fields, sizeof fields) == OCL_SUCCESS &&
           (fields & OCL_MUTABLE_DISPATCH_ARGUMENTS) != 0;
}

/* Whether the driver can record launches on queues such as Rondo's, which have no special properties. */
static int32_t ask_recording(struct rdo_ocl_device *device) {
    char *names;
    uint64_t needs = 0;
    int32_t error = fetch_extensions(device->id, &names);
    if (error != OCL_SUCCESS) {
        return error;
    }
    if (strstr(names, " cl_khr_command_buffer ") != NULL &&
        rdo_ocl_load_extension(device->platform, &device->extension)) {
        error = ask(device->id, OCL_DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES, &needs, sizeof needs);
        device->has_recording = error == OCL_SUCCESS && needs == 0;
        device->has_changes = device->has_recording && can_change(device, names);
    }
    rdo_free(names);
    return error;
}

static void close_device(void *device) {
    struct rdo_ocl_device *dying = device;
    if (dying->spare != NULL) {
        rdo_ocl_page_free(dying, RONDO_PAGE_DEVICE, dying->spare, RDO_OCL_SPARE_BYTES);
    }
    if (dying->aside != NULL) {
        rdo_ocl.clReleaseCommandQueue(dying->aside);
    }
    if (dying->context != NULL) {
        rdo_ocl.clReleaseContext(dying->context);
    }
    pthread_mutex_destroy(&dying->way_lock);
    pthread_mutex_destroy(&dying->lock);
    rdo_free(dying);
}

static rondo_backend_result start(struct rdo_ocl_device *device, rondo_backend_outcome *outcome) {
    if (!rdo_ocl_read_wish(&device->way)) {
        return rdo_ocl_refuse(outcome, RONDO_BACKEND_NOT_RUN,
                              RDO_OCL_GRAPHS " is neither 'enqueue' nor 'command-buffer' nor 'measure'");
    }
    int32_t error = ask_names(device);
    if (error == OCL_SUCCESS) {
        error = ask_numbers(device);
    }
    if (error == OCL_SUCCESS) {
        error = ask_memory(device);
    }
    if (error == OCL_SUCCESS) {
        error = ask_recording(device);
    }
    if (error != OCL_SUCCESS) {
        return rdo_ocl_failed(outcome, "clGetDeviceInfo", error);
    }
    device->context = rdo_ocl.clCreateContext(NULL, 1, &device->id, NULL, NULL, &error);
    if (device->context == NULL) {
        return rdo_ocl_failed(outcome, "clCreateContext", error);
    }
    device->aside = rdo_ocl.clCreateCommandQueue(device->context, device->id, 0, &error);
    if (device->aside == NULL) {
        return rdo_ocl_failed(outcome, "clCreateCommandQueue", error);
    }
    if (rdo_ocl_page_alloc(device, RONDO_PAGE_DEVICE, RDO_OCL_SPARE_BYTES, &device->spare) != RONDO_BACKEND_DONE) {
        return rdo_ocl_refuse(outcome, RONDO_BACKEND_NOT_RUN, "the device gives no memory");
    }
    return RONDO_BACKEND_DONE;
}

static rondo_backend_result open_device(uint32_t index, const rondo_device_desc *desc, void **out_device,
                                        rondo_backend_outcome *outcome) {
    struct devices found;
    char reason[sizeof outcome->message];
    *out_device = NULL;
    if (!rdo_ocl_load(reason, sizeof reason) || !find_devices(&found, reason, sizeof reason)) {
        return rdo_ocl_refuse(outcome, RONDO_BACKEND_NOT_RUN, "%s", reason);
    }
    if (index >= found.count) {
        return rdo_ocl_refuse(outcome, RONDO_BACKEND_NO_SUPPORT, "there are %u OpenCL devices", found.count);
    }
    struct rdo_ocl_device *device = rdo_alloc_zero(1, sizeof *device);
    if (device == NULL) {
        return rdo_ocl_refuse(outcome, RONDO_BACKEND_NO_MEMORY, "no memory for the device");
    }
    pthread_mutex_init(&device->lock, NULL);
    pthread_mutex_init(&device->way_lock, NULL);
    device->platform = found.platform[index];
    device->id = found.id[index];
    device->max_queues = desc != NULL && desc->max_queues != 0 ? desc->max_queues : DEFAULT_QUEUES;
    rondo_backend_result result = start(device, outcome);
    if (result != RONDO_BACKEND_DONE) {
        close_device(device);
        return result;
    }
    *out_device = device;
    return RONDO_BACKEND_DONE;
}

static void info(void *device, rondo_device_info *out_info) {
    struct rdo_ocl_device *opened = device;
    memset(out_info, 0, sizeof *out_info);
    snprintf(out_info->backend, sizeof out_info->backend, "opencl");
    snprintf(out_info->name, sizeof out_info->name, "%s", opened->name);
    snprintf(out_info->driver, sizeof out_info->driver, "%.31s, %.30s", opened->platform_name, opened->driver);
    out_info->memory_bytes = opened->memory_bytes;
    out_info->alignment_bytes = opened->alignment_bytes;
    out_info->max_queues = opened->max_queues;
    out_info->workers = opened->compute_units;
    out_info->native_graphs = true;
    rdo_ocl_describe_way(opened, out_info->graphs, sizeof out_info->graphs);
    out_info->kernels = true;
}

/* ---- queues ---- */

void rdo_ocl_queue_close(void *queue) {
    struct rdo_ocl_queue *dying = queue;
    if (dying->status != NULL) {
        rdo_ocl_page_free(dying->device, RONDO_PAGE_DEVICE, dying->status, sizeof(uint32_t));
    }
    if (dying->queue != NULL) {
        rdo_ocl.clReleaseCommandQueue(dying->queue);
    }
    rdo_free(dying->bounce);
    rdo_free(dying);
}

/* The status word is cleared here, and from then on whenever it was read as something else. */
static rondo_backend_result start_queue(struct rdo_ocl_queue *queue) {
    rondo_backend_outcome ignored;
    const uint32_t none = 0;
    int32_t error = OCL_SUCCESS;
    queue->queue = rdo_ocl.clCreateCommandQueue(queue->device->context, queue->device->id, 0, &error);
    if (queue->queue == NULL) {
        return rdo_ocl_failed(&ignored, "clCreateCommandQueue", error);
    }
    queue->bounce = rdo_alloc(RDO_OCL_BOUNCE_BYTES);
    if (queue->bounce == NULL) {
        return RONDO_BACKEND_NO_MEMORY;
    }
    rondo_backend_result result =
        rdo_ocl_page_alloc(queue->device, RONDO_PAGE_DEVICE, sizeof(uint32_t), &queue->status);
    if (result != RONDO_BACKEND_DONE) {
        return result;
    }
    return rdo_ocl_put(queue, (rondo_place){queue->status, 0}, &none, sizeof none, &ignored);
}

rondo_backend_result rdo_ocl_queue_open(void *device, uint32_t index, void **out_queue) {
    (void)index;
    *out_queue = NULL;
    struct rdo_ocl_queue *queue = rdo_alloc_zero(1, sizeof *queue);
    if (queue == NULL) {
        return RONDO_BACKEND_NO_MEMORY;
    }
    queue->device = device;
    rondo_backend_result result = start_queue(queue);
    if (result != RONDO_BACKEND_DONE) {
        rdo_ocl_queue_close(queue);
        return result;
    }
    *out_queue = queue;
    return RONDO_BACKEND_DONE;
}

const rondo_backend rdo_backend_opencl = {
    .name = "opencl",
    .version = RONDO_BACKEND_VERSION,
    .probe = probe,
    .open = open_device,
    .close = close_device,
    .info = info,
    .page_alloc = rdo_ocl_page_alloc,
    .page_free = rdo_ocl_page_free,
    .page_import = rdo_ocl_page_import,
    .page_unimport = rdo_ocl_page_unimport,
    .host_address = rdo_ocl_host_address,
    .kernel_load = rdo_ocl_kernel_load,
    .kernel_unload = rdo_ocl_kernel_unload,
    .queue_open = rdo_ocl_queue_open,
    .queue_close = rdo_ocl_queue_close,
    .submit = rdo_ocl_submit,
    .graph_build = rdo_ocl_graph_build,
    .graph_submit = rdo_ocl_graph_submit,
    .graph_set_value = rdo_ocl_graph_set_value,
    .graph_free = rdo_ocl_graph_free,
};
