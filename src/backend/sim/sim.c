#include "sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parts.h"

#define DEFAULT_QUEUES 4u

/* ---- devices ---- */

static bool probe(uint32_t index, rondo_device_entry *out_entry) {
    if (index != 0) return false;
    memset(out_entry, 0, sizeof *out_entry);
    (void)snprintf(out_entry->name, sizeof out_entry->name, "sim");
    out_entry->available = true;
    return true;
}

static rondo_backend_result refuse(rondo_backend_result result, const char *message, rondo_backend_outcome *outcome) {
    outcome->node = 0;
    outcome->reason = 0;
    (void)snprintf(outcome->message, sizeof outcome->message, "%s", message);
    return result;
}

static rondo_backend_result open_device(uint32_t index, const rondo_device_desc *desc, void **out_device,
                                        rondo_backend_outcome *outcome) {
    rondo_sim_fault fault;
    *out_device = NULL;
    if (index != 0) return refuse(RONDO_BACKEND_NO_SUPPORT, "there is one sim device, number 0", outcome);
    if (rdo_sim_strikes(RONDO_SIM_DEVICE_OPEN, &fault)) return rdo_sim_stop(&fault, outcome);
    struct rdo_sim_device *device = malloc(sizeof *device);
    if (device == NULL) return refuse(RONDO_BACKEND_NO_MEMORY, "no memory for the device", outcome);
    device->max_queues = desc != NULL && desc->max_queues != 0 ? desc->max_queues : DEFAULT_QUEUES;
    *out_device = device;
    return RONDO_BACKEND_DONE;
}

static void close_device(void *device) {
    free(device);
}

static void info(void *device, rondo_device_info *out_info) {
    const struct rdo_sim_device *sim = device;
    memset(out_info, 0, sizeof *out_info);
    (void)snprintf(out_info->backend, sizeof out_info->backend, "sim");
    (void)snprintf(out_info->name, sizeof out_info->name, "simulation, for tests");
    (void)snprintf(out_info->driver, sizeof out_info->driver, "native code");
    out_info->alignment_bytes = RDO_SIM_ALIGN_BYTES;
    out_info->max_queues = sim->max_queues;
    out_info->workers = 1;
    out_info->native_graphs = true;
    out_info->kernels = true;
}

/* ---- kernels ---- */

static rondo_backend_result kernel_load(void *device, const rondo_kernel_desc *desc, void **out_kernel,
                                        rondo_backend_outcome *outcome) {
    rondo_sim_fault fault;
    (void)device;
    *out_kernel = NULL;
    if (rdo_sim_strikes(RONDO_SIM_KERNEL_LOAD, &fault)) return rdo_sim_stop(&fault, outcome);
    if (desc->native == NULL) {
        return refuse(RONDO_BACKEND_NO_SUPPORT, "the kernel has no native function, all that sim runs", outcome);
    }
    struct rdo_sim_kernel *kernel = malloc(sizeof *kernel);
    if (kernel == NULL) return refuse(RONDO_BACKEND_NO_MEMORY, "no memory for the kernel", outcome);
    kernel->native = desc->native;
    for (int axis = 0; axis < 3; axis++) kernel->group[axis] = desc->group[axis];
    *out_kernel = kernel;
    return RONDO_BACKEND_DONE;
}

static void kernel_unload(void *device, void *kernel) {
    (void)device;
    free(kernel);
}

/* ---- queues ---- */

static rondo_backend_result queue_open(void *device, uint32_t index, void **out_queue) {
    rondo_sim_fault fault;
    (void)index;
    *out_queue = NULL;
    if (rdo_sim_strikes(RONDO_SIM_QUEUE_OPEN, &fault)) return fault.result;
    struct rdo_sim_queue *queue = malloc(sizeof *queue);
    if (queue == NULL) return RONDO_BACKEND_NO_MEMORY;
    queue->device = device;
    *out_queue = queue;
    return RONDO_BACKEND_DONE;
}

static void queue_close(void *queue) {
    free(queue);
}

const rondo_backend rdo_backend_sim = {
    .name = "sim",
    .version = RONDO_BACKEND_VERSION,
    .probe = probe,
    .open = open_device,
    .close = close_device,
    .info = info,
    .page_alloc = rdo_sim_page_alloc,
    .page_free = rdo_sim_page_free,
    .page_import = rdo_sim_page_import,
    .page_unimport = rdo_sim_page_unimport,
    .host_address = rdo_sim_host_address,
    .kernel_load = kernel_load,
    .kernel_unload = kernel_unload,
    .queue_open = queue_open,
    .queue_close = queue_close,
    .submit = rdo_sim_submit,
    .graph_build = rdo_sim_graph_build,
    .graph_submit = rdo_sim_graph_submit,
    .graph_set_value = rdo_sim_graph_set_value,
    .graph_free = rdo_sim_graph_free,
};
