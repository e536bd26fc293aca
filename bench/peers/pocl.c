/* bench-pocl: the workloads on OpenCL, enqueued each time and as a command buffer. Which of PoCL's devices it is comes
 * from POCL_DEVICES; the rows carry its name. */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_ENABLE_BETA_EXTENSIONS
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "work.h"

static const char *const source =
    "kernel void axpy(global float *restrict y, global const float *restrict x, float a) {\n"
    "    size_t i = get_global_id(0);\n"
    "    y[i] += a * x[i];\n"
    "}\n";

typedef struct player {
    cl_platform_id platform;
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    char name[32];
} player;

typedef struct stage {
    player *player;
    bench_work *work;
    cl_kernel kernel[BENCH_MOST_CHAINS]; /* with the arguments of its chain */
    cl_mem x[BENCH_MOST_CHAINS], y[BENCH_MOST_CHAINS];
    size_t local;
    cl_command_buffer_khr buffer;
} stage;

static clCreateCommandBufferKHR_fn create_command_buffer;
static clCommandNDRangeKernelKHR_fn command_kernel;
static clFinalizeCommandBufferKHR_fn finalize_command_buffer;
static clEnqueueCommandBufferKHR_fn enqueue_command_buffer;
static clReleaseCommandBufferKHR_fn release_command_buffer;

static void must(cl_int error, const char *what) {
    char text[128];
    if (error == CL_SUCCESS) return;
    snprintf(text, sizeof text, "%s gives error %d", what, (int)error);
    bench_fail(text);
}

static bool find_device(player *p) {
    cl_uint platforms = 0, devices = 0;
    if (clGetPlatformIDs(1, &p->platform, &platforms) != CL_SUCCESS || platforms == 0) return false;
    return clGetDeviceIDs(p->platform, CL_DEVICE_TYPE_CPU, 1, &p->device, &devices) == CL_SUCCESS && devices != 0;
}

static void open_player(player *p) {
    const char *kind = getenv("POCL_DEVICES");
    cl_int error;
    if (!find_device(p)) bench_fail("OpenCL finds no CPU device");
    snprintf(p->name, sizeof p->name, "PoCL %s", kind != NULL ? kind : "default");
    p->context = clCreateContext(NULL, 1, &p->device, NULL, NULL, &error);
    must(error, "clCreateContext");
    p->queue = clCreateCommandQueueWithProperties(p->context, p->device, NULL, &error);
    must(error, "clCreateCommandQueueWithProperties");
    const char *text = source;
    p->program = clCreateProgramWithSource(p->context, 1, &text, NULL, &error);
    must(error, "clCreateProgramWithSource");
    must(clBuildProgram(p->program, 1, &p->device, "", NULL, NULL), "clBuildProgram");
}

#define FIND(variable, name) \
    variable = (name##_fn)(uintptr_t)clGetExtensionFunctionAddressForPlatform(p->platform, #name)

static bool find_command_buffers(const player *p) {
    FIND(create_command_buffer, clCreateCommandBufferKHR);
    FIND(command_kernel, clCommandNDRangeKernelKHR);
    FIND(finalize_command_buffer, clFinalizeCommandBufferKHR);
    FIND(enqueue_command_buffer, clEnqueueCommandBufferKHR);
    FIND(release_command_buffer, clReleaseCommandBufferKHR);
    return create_command_buffer != NULL && command_kernel != NULL && finalize_command_buffer != NULL &&
           enqueue_command_buffer != NULL && release_command_buffer != NULL;
}

static cl_mem wrap(const player *p, float *data, size_t items) {
    cl_int error;
    cl_mem memory = clCreateBuffer(p->context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, items * sizeof(float), data,
                                   &error);
    must(error, "clCreateBuffer");
    return memory;
}

static stage *make_stage(player *p, bench_work *work, size_t local) {
    stage *s = calloc(1, sizeof *s);
    const cl_float one = 1;
    cl_int error;
    if (s == NULL) bench_fail("there is no memory");
    s->player = p;
    s->work = work;
    s->local = local;
    for (size_t c = 0; c < work->chains; c++) {
        s->x[c] = wrap(p, work->x[c], work->items);
        s->y[c] = wrap(p, work->y[c], work->items);
        s->kernel[c] = clCreateKernel(p->program, "axpy", &error);
        must(error, "clCreateKernel");
        must(clSetKernelArg(s->kernel[c], 0, sizeof(cl_mem), &s->y[c]), "clSetKernelArg");
        must(clSetKernelArg(s->kernel[c], 1, sizeof(cl_mem), &s->x[c]), "clSetKernelArg");
        must(clSetKernelArg(s->kernel[c], 2, sizeof one, &one), "clSetKernelArg");
    }
    return s;
}

static void run_eager(void *user, uint64_t steps) {
    stage *s = user;
    const bench_work *work = s->work;
    for (uint64_t step = 0; step < steps; step++) {
        for (size_t c = 0; c < work->chains; c++) {
            for (size_t k = 0; k < work->length; k++) {
                must(clEnqueueNDRangeKernel(s->player->queue, s->kernel[c], 1, NULL, &work->items, &s->local, 0, NULL,
                                            NULL), "clEnqueueNDRangeKernel");
            }
        }
        must(clFinish(s->player->queue), "clFinish");
    }
    s->work->executed += steps;
}

static void record(stage *s) {
    const bench_work *work = s->work;
    cl_int error;
    s->buffer = create_command_buffer(1, &s->player->queue, NULL, &error);
    must(error, "clCreateCommandBufferKHR");
    for (size_t c = 0; c < work->chains; c++) {
        for (size_t k = 0; k < work->length; k++) {
            must(command_kernel(s->buffer, NULL, NULL, s->kernel[c], 1, NULL, &work->items, &s->local, 0, NULL, NULL,
                                NULL), "clCommandNDRangeKernelKHR");
        }
    }
    must(finalize_command_buffer(s->buffer), "clFinalizeCommandBufferKHR");
}

static void run_replay(void *user, uint64_t steps) {
    stage *s = user;
    for (uint64_t step = 0; step < steps; step++) {
        must(enqueue_command_buffer(0, NULL, s->buffer, 0, NULL, NULL), "clEnqueueCommandBufferKHR");
        must(clFinish(s->player->queue), "clFinish");
    }
    s->work->executed += steps;
}

static void run_record(void *user, uint64_t steps) {
    stage *s = user;
    for (uint64_t step = 0; step < steps; step++) {
        record(s);
        must(release_command_buffer(s->buffer), "clReleaseCommandBufferKHR");
    }
}

static void rows(player *p, const char *workload, size_t local) {
    bench_work *work = bench_work_make(workload);
    stage *s = make_stage(p, work, local);
    char name[96];
    snprintf(name, sizeof name, "%s, enqueued", p->name);
    bench_against_plain(work, name, (bench_side){run_eager, s, (double)(work->chains * work->length)});
    snprintf(name, sizeof name, "%s, command buffer", p->name);
    if (!find_command_buffers(p)) {
        bench_skip(name, "this PoCL has no command buffers");
        return;
    }
    record(s);
    bench_against_plain(work, name, (bench_side){run_replay, s, (double)(work->chains * work->length)});
    must(release_command_buffer(s->buffer), "clReleaseCommandBufferKHR");
    if (strcmp(workload, "chain-64") != 0 || !bench_wants("record/")) return;
    snprintf(name, sizeof name, "record/%s, command buffer of 1,000 nodes", p->name);
    bench_compare(name, (bench_side){run_record, s, BENCH_CHAIN}, bench_plain(work));
}

int main(int argc, char **argv) {
    player p;
    memset(&p, 0, sizeof p);
    bench_parse(argc, argv);
    if (!bench_wants("chain-64/") && !bench_wants("wide/")) return 0;
    open_player(&p);
    if (bench_wants("chain-64/")) rows(&p, "chain-64", 64);
    if (bench_wants("wide/")) rows(&p, "wide", 2048);
    return 0;
}
