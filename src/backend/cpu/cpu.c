#include "cpu.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "crew.h"
#include "parts.h"

#define DEFAULT_QUEUES 32u
#define DEFAULT_MAX_WORKERS 64u

/* ---- devices ---- */

static bool probe(uint32_t index, rondo_device_entry *out_entry) {
    if (index != 0) {
        return false;
    }
    memset(out_entry, 0, sizeof *out_entry);
    snprintf(out_entry->name, sizeof out_entry->name, "cpu");
    out_entry->available = true;
    return true;
}

static uint64_t ram_bytes(void) {
    long pages = sysconf(_SC_PHYS_PAGES);
    long page_bytes = sysconf(_SC_PAGESIZE);
    return pages > 0 && page_bytes > 0 ? (uint64_t)pages * (uint64_t)page_bytes : 0;
}

static uint32_t choose_workers(const rondo_device_desc *desc) {
    uint32_t workers = desc != NULL ? desc->workers : 0;
    if (workers == 0) {
        workers = rdo_crew_processors();
        workers = workers > DEFAULT_MAX_WORKERS ? DEFAULT_MAX_WORKERS : workers;
    }
    return workers > RDO_CREW_MAX_HANDS ? RDO_CREW_MAX_HANDS : workers;
}

static rondo_backend_result open_device(uint32_t index, const rondo_device_desc *desc, void **out_device,
                                        rondo_backend_outcome *outcome) {
    *out_device = NULL;
    if (index != 0) {
        return rdo_cpu_fail(outcome, RONDO_BACKEND_NO_SUPPORT, 0, "there is one cpu device, number 0");
    }
    struct rdo_cpu_device *device = rdo_cpu_alloc(sizeof *device);
    if (device == NULL) {
        return rdo_cpu_fail(outcome, RONDO_BACKEND_NO_MEMORY, 0, "no memory for the device");
    }
    device->workers = choose_workers(desc);
    device->max_queues = desc != NULL && desc->max_queues != 0 ? desc->max_queues : DEFAULT_QUEUES;
    device->memory_bytes = ram_bytes();
    device->crew = rdo_crew_create(device->workers, desc != NULL && desc->pin_workers,
                                   desc != NULL && desc->wait_policy == RONDO_WAIT_SPINNING);
    if (device->crew == NULL) {
        rdo_cpu_release(device, sizeof *device);
        return rdo_cpu_fail(outcome, RONDO_BACKEND_NO_MEMORY, 0, "no memory for the crew");
    }
    *out_device = device;
    return RONDO_BACKEND_DONE;
}

static void close_device(void *device) {
    struct rdo_cpu_device *dying = device;
    rdo_crew_destroy(dying->crew);
    rdo_cpu_release(dying, sizeof *dying);
}

/* The text behind the colon of the first line that starts with "model name". */
static bool read_model_name(char *out_name, size_t capacity) {
    char line[256];
    bool found = false;
    FILE *file = fopen("/proc/cpuinfo", "re");
    if (file == NULL) {
        return false;
    }
    while (!found && fgets(line, sizeof line, file) != NULL) {
        const char *colon = strncmp(line, "model name", 10) == 0 ? strchr(line, ':') : NULL;
        if (colon != NULL) {
            const char *name = colon + 1 + strspn(colon + 1, " \t");
            int length = (int)strcspn(name, "\n");
            snprintf(out_name, capacity, "%.*s", length, name);
            found = length > 0;
        }
    }
    fclose(file);
    return found;
}

static void info(void *device, rondo_device_info *out_info) {
    const struct rdo_cpu_device *cpu = device;
    memset(out_info, 0, sizeof *out_info);
    snprintf(out_info->backend, sizeof out_info->backend, "cpu");
    if (!read_model_name(out_info->name, sizeof out_info->name)) {
        snprintf(out_info->name, sizeof out_info->name, "processor of this machine");
    }
    snprintf(out_info->driver, sizeof out_info->driver, "native code");
    out_info->memory_bytes = cpu->memory_bytes;
    out_info->alignment_bytes = RDO_CPU_ALIGN_BYTES;
    out_info->max_queues = cpu->max_queues;
    out_info->workers = cpu->workers;
    out_info->native_graphs = true;
    out_info->kernels = true;
}

/* ---- kernels ---- */

static rondo_backend_result kernel_load(void *device, const rondo_kernel_desc *desc, void **out_kernel,
                                        rondo_backend_outcome *outcome) {
    (void)device;
    *out_kernel = NULL;
    if (desc->native == NULL) {
        char message[sizeof outcome->message];
        snprintf(message, sizeof message, "kernel '%.64s' has no native function, and the cpu runs nothing else",
                 desc->name);
        return rdo_cpu_fail(outcome, RONDO_BACKEND_NO_SUPPORT, 0, message);
    }
    struct rdo_cpu_kernel *kernel = rdo_cpu_alloc(sizeof *kernel);
    if (kernel == NULL) {
        return rdo_cpu_fail(outcome, RONDO_BACKEND_NO_MEMORY, 0, "no memory for the kernel");
    }
    kernel->native = desc->native;
    kernel->grouped = desc->group[0] != 0;
    kernel->can_fail = desc->can_fail;
    for (int axis = 0; axis < 3; axis++) {
        kernel->group[axis] = desc->group[axis] != 0 ? desc->group[axis] : 1;
    }
    *out_kernel = kernel;
    return RONDO_BACKEND_DONE;
}

static void kernel_unload(void *device, void *kernel) {
    (void)device;
    rdo_cpu_release(kernel, sizeof(struct rdo_cpu_kernel));
}

/* ---- queues ---- */

static rondo_backend_result queue_open(void *device, uint32_t index, void **out_queue) {
    (void)index;
    struct rdo_cpu_queue *queue = rdo_cpu_alloc(sizeof *queue);
    *out_queue = queue;
    if (queue == NULL) {
        return RONDO_BACKEND_NO_MEMORY;
    }
    queue->device = device;
    return RONDO_BACKEND_DONE;
}

static void queue_close(void *queue) {
    rdo_cpu_release(queue, sizeof(struct rdo_cpu_queue));
}

const rondo_backend rdo_backend_cpu = {
    .name = "cpu",
    .version = RONDO_BACKEND_VERSION,
    .probe = probe,
    .open = open_device,
    .close = close_device,
    .info = info,
    .page_alloc = rdo_cpu_page_alloc,
    .page_free = rdo_cpu_page_free,
    .page_import = rdo_cpu_page_import,
    .page_unimport = rdo_cpu_page_unimport,
    .host_address = rdo_cpu_host_address,
    .kernel_load = kernel_load,
    .kernel_unload = kernel_unload,
    .queue_open = queue_open,
    .queue_close = queue_close,
    .submit = rdo_cpu_submit,
    .launch = rdo_cpu_launch,
    .graph_build = rdo_cpu_graph_build,
    .graph_submit = rdo_cpu_graph_submit,
    .graph_set_value = rdo_cpu_graph_set_value,
    .graph_free = rdo_cpu_graph_free,
};
