/* The loads on OpenCL as one would write them by hand: kernel objects with their arguments set beforehand. */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_ENABLE_BETA_EXTENSIONS
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <stdio.h>
#include <stdlib.h>
#include "opencl.h"

struct hand {
    cl_platform_id platform;
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    const load *load;
    cl_mem buffer[LOAD_MOST_BUFFERS];
    cl_kernel kernel[LOAD_MOST_KERNELS];
    cl_command_buffer_khr recorded;
    clCreateCommandBufferKHR_fn create_recorded;
    clCommandNDRangeKernelKHR_fn record_kernel;
    clFinalizeCommandBufferKHR_fn finalize_recorded;
    clEnqueueCommandBufferKHR_fn enqueue_recorded;
    clReleaseCommandBufferKHR_fn release_recorded;
};

static void must(cl_int error, const char *what) {
    char text[128];
    if (error == CL_SUCCESS) return;
    snprintf(text, sizeof text, "%s gives error %d", what, (int)error);
    bench_fail(text);
}

#define FIND(variable, name) \
    h->variable = (name##_fn)(uintptr_t)clGetExtensionFunctionAddressForPlatform(h->platform, #name)

hand *hand_open(void) {
    static hand the_hand;
    hand *h = &the_hand;
    cl_uint count = 0;
    cl_int error;
    if (clGetPlatformIDs(1, &h->platform, &count) != CL_SUCCESS || count == 0) return NULL;
    if (clGetDeviceIDs(h->platform, CL_DEVICE_TYPE_ALL, 1, &h->device, &count) != CL_SUCCESS) return NULL;
    h->context = clCreateContext(NULL, 1, &h->device, NULL, NULL, &error);
    must(error, "clCreateContext");
    h->queue = clCreateCommandQueueWithProperties(h->context, h->device, NULL, &error);
    must(error, "clCreateCommandQueueWithProperties");
    const char *text = load_text;
    h->program = clCreateProgramWithSource(h->context, 1, &text, NULL, &error);
    must(error, "clCreateProgramWithSource");
    must(clBuildProgram(h->program, 1, &h->device, "-cl-std=CL1.2", NULL, NULL), "clBuildProgram");
    FIND(create_recorded, clCreateCommandBufferKHR);
    FIND(record_kernel, clCommandNDRangeKernelKHR);
    FIND(finalize_recorded, clFinalizeCommandBufferKHR);
    FIND(enqueue_recorded, clEnqueueCommandBufferKHR);
    FIND(release_recorded, clReleaseCommandBufferKHR);
    return h;
}

static cl_kernel make_kernel(const hand *h, const load_call *call) {
    const cl_float a = LOAD_AXPY_A, scale = LOAD_TRIAD_SCALE;
    cl_int error;
    cl_kernel kernel = clCreateKernel(h->program, call->is_triad ? "triad" : "axpy", &error);
    must(error, "clCreateKernel");
    cl_uint buffers = call->is_triad ? 3 : 2;
    for (cl_uint i = 0; i < buffers; i++) {
        must(clSetKernelArg(kernel, i, sizeof(cl_mem), &h->buffer[call->buffer[i]]), "clSetKernelArg");
    }
    must(clSetKernelArg(kernel, buffers, sizeof(cl_float), call->is_triad ? &scale : &a), "clSetKernelArg");
    return kernel;
}

void hand_load(hand *h, const load *l) {
    cl_int error;
    h->load = l;
    for (unsigned i = 0; i < l->buffer_count; i++) {
        h->buffer[i] = clCreateBuffer(h->context, CL_MEM_READ_WRITE, l->items * sizeof(float) + l->spare_bytes, NULL,
                                      &error);
        must(error, "clCreateBuffer");
    }
    for (unsigned i = 0; i < l->call_count; i++) h->kernel[i] = make_kernel(h, &l->call[i]);
}

void hand_unload(hand *h) {
    if (h->recorded != NULL) must(h->release_recorded(h->recorded), "clReleaseCommandBufferKHR");
    h->recorded = NULL;
    for (unsigned i = 0; i < h->load->call_count; i++) must(clReleaseKernel(h->kernel[i]), "clReleaseKernel");
    for (unsigned i = 0; i < h->load->buffer_count; i++) must(clReleaseMemObject(h->buffer[i]), "clReleaseMemObject");
}

static void set_items(void *user, unsigned buffer, size_t first, size_t count, float value) {
    const hand *h = user;
    must(clEnqueueFillBuffer(h->queue, h->buffer[buffer], &value, sizeof value, first * sizeof value,
                             count * sizeof value, 0, NULL, NULL), "clEnqueueFillBuffer");
    must(clFinish(h->queue), "clFinish");
}

static float get_item(void *user, unsigned buffer, size_t item) {
    const hand *h = user;
    float value = 0;
    must(clEnqueueReadBuffer(h->queue, h->buffer[buffer], CL_TRUE, item * sizeof value, sizeof value, &value, 0, NULL,
                             NULL), "clEnqueueReadBuffer");
    return value;
}

static void run_enqueued(void *user, uint64_t steps) {
    const hand *h = user;
    for (uint64_t step = 0; step < steps; step++) {
        for (unsigned i = 0; i < h->load->launch_count; i++) {
            must(clEnqueueNDRangeKernel(h->queue, h->kernel[h->load->launch[i]], 1, NULL, &h->load->items,
                                        &h->load->local, 0, NULL, NULL), "clEnqueueNDRangeKernel");
        }
        must(clFinish(h->queue), "clFinish");
    }
}

load_player hand_enqueues(hand *h) {
    return (load_player){"enqueued by hand", h, set_items, get_item, run_enqueued};
}

static cl_command_buffer_khr record(const hand *h) {
    cl_int error;
    cl_command_buffer_khr recorded = h->create_recorded(1, &h->queue, NULL, &error);
    must(error, "clCreateCommandBufferKHR");
    for (unsigned i = 0; i < h->load->launch_count; i++) {
        must(h->record_kernel(recorded, NULL, NULL, h->kernel[h->load->launch[i]], 1, NULL, &h->load->items,
                              &h->load->local, 0, NULL, NULL, NULL), "clCommandNDRangeKernelKHR");
    }
    must(h->finalize_recorded(recorded), "clFinalizeCommandBufferKHR");
    return recorded;
}

static void run_recorded(void *user, uint64_t steps) {
    const hand *h = user;
    for (uint64_t step = 0; step < steps; step++) {
        must(h->enqueue_recorded(0, NULL, h->recorded, 0, NULL, NULL), "clEnqueueCommandBufferKHR");
        must(clFinish(h->queue), "clFinish");
    }
}

load_player hand_command_buffer(hand *h) {
    bool can = h->create_recorded != NULL && h->record_kernel != NULL && h->finalize_recorded != NULL &&
               h->enqueue_recorded != NULL && h->release_recorded != NULL;
    if (can) h->recorded = record(h);
    return (load_player){"command buffer by hand", h, set_items, get_item, can ? run_recorded : NULL};
}

void hand_record(void *user, uint64_t steps) {
    const hand *h = user;
    for (uint64_t step = 0; step < steps; step++) must(h->release_recorded(record(h)), "clReleaseCommandBufferKHR");
}
