/* Runs the kernel files of the tests on an OpenCL device, through the device half of the language, and compares every
 * byte with the native functions. Usage: opencl_test kernel_lang.h test_kernels.kernels.h language.kernels.h
 * Ends with 77 if there is no OpenCL device. */
#define CL_TARGET_OPENCL_VERSION 120
#define RONDO_KERNELS_NO_TEXT
#include <CL/cl.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/test_kernels.kernels.h"
#include "language.kernels.h"

enum { MAX_ARGS = 8, MAX_BYTES = 8192, SKIPPED = 77 };

void rondo_native_fail(const rondo_native_call *call, uint32_t reason) {
    if (*call->failed == 0) *call->failed = reason;
}

static void must(cl_int error, const char *what) {
    if (error == CL_SUCCESS) return;
    fprintf(stderr, "%s: OpenCL error %d\n", what, (int)error);
    exit(1);
}

/* ---- The OpenCL side ------------------------------------------------------------------------------------------- */

static cl_device_id device;
static cl_context context;
static cl_command_queue queue;
static cl_program programs[2];

static char *read_text(const char *path) {
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 1 << 17);
    if (!file || !text || fread(text, 1, (1 << 17) - 1, file) == 0) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(file);
    return text;
}

static cl_program program_of_text(const char *path) {
    char *text = read_text(path);
    cl_int error;
    cl_program program = clCreateProgramWithSource(context, 1, (const char *[]){text}, NULL, &error);
    must(error, path);
    free(text);
    return program;
}

static void show_log(cl_program program) {
    static char log[20000];
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
    fprintf(stderr, "%s\n", log);
}

/* Compiles the unchanged text of a kernel file, with the header under the name by which it is included. */
static cl_program compile(const char *header_path, const char *path) {
    cl_program header = program_of_text(header_path), text = program_of_text(path);
    const char *name = "rondo/kernel_lang.h";
    cl_int error = clCompileProgram(text, 1, &device, "-cl-std=CL1.2", 1, &header, &name, NULL, NULL);
    if (error != CL_SUCCESS) show_log(text);
    must(error, path);
    cl_program linked = clLinkProgram(context, 1, &device, "", 1, &text, NULL, NULL, &error);
    must(error, path);
    clReleaseProgram(header);
    clReleaseProgram(text);
    return linked;
}

static bool open_device(void) {
    cl_platform_id platform;
    cl_uint count = 0;
    if (clGetPlatformIDs(1, &platform, &count) != CL_SUCCESS || count == 0) return false;
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, &count) != CL_SUCCESS || count == 0) return false;
    cl_int error;
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    must(error, "clCreateContext");
    queue = clCreateCommandQueue(context, device, 0, &error);
    must(error, "clCreateCommandQueue");
    return true;
}

/* ---- A launch, on both sides ----------------------------------------------------------------------------------- */

typedef struct launch {
    const rondo_kernel_desc *desc;
    cl_program program;
    uint64_t grid[3];
    size_t size_bytes[MAX_ARGS];
    uint8_t in[MAX_ARGS][MAX_BYTES], native[MAX_ARGS][MAX_BYTES], opencl[MAX_ARGS][MAX_BYTES];
    uint32_t native_failed, opencl_failed;
} launch;

static launch one;

static void start(const rondo_kernel_desc *desc, cl_program program, uint64_t x, uint64_t y, uint64_t z) {
    memset(&one, 0, sizeof one);
    one.desc = desc;
    one.program = program;
    one.grid[0] = x;
    one.grid[1] = y;
    one.grid[2] = z;
}

static void give(size_t index, const void *data, size_t size_bytes) {
    one.size_bytes[index] = size_bytes;
    if (data) memcpy(one.in[index], data, size_bytes);
}

static void run_native(void) {
    void *args[MAX_ARGS];
    uint64_t units = 1;
    for (int d = 0; d < 3; d++) {
        const uint64_t size = one.desc->group[0] == 0 ? 1 : one.desc->group[d];
        units *= (one.grid[d] + size - 1) / size;
    }
    memcpy(one.native, one.in, sizeof one.in);
    for (size_t i = 0; i < one.desc->param_count; i++) args[i] = one.native[i];
    const rondo_native_call call = {.args = args, .grid = {one.grid[0], one.grid[1], one.grid[2]}, .first = 0,
                                    .last = units, .failed = &one.native_failed};
    one.desc->native(&call);
}

static cl_mem new_buffer(const void *data, size_t size_bytes) {
    cl_int error;
    uint8_t copy[MAX_BYTES];
    memcpy(copy, data, size_bytes);
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, size_bytes, copy, &error);
    must(error, "clCreateBuffer");
    return buffer;
}

static void run_opencl(void) {
    const rondo_kernel_desc *desc = one.desc;
    cl_int error;
    cl_kernel kernel = clCreateKernel(one.program, desc->name, &error);
    must(error, desc->name);
    cl_mem buffers[MAX_ARGS + 1];
    cl_uint at = 0;
    for (size_t i = 0; i < desc->param_count; i++, at++) {
        buffers[i] = NULL;
        if (desc->params[i].kind == RONDO_PARAM_VALUE) {
            must(clSetKernelArg(kernel, at, one.size_bytes[i], one.in[i]), "value");
            continue;
        }
        buffers[i] = new_buffer(one.in[i], one.size_bytes[i]);
        must(clSetKernelArg(kernel, at, sizeof(cl_mem), &buffers[i]), "buffer");
    }
    for (int d = 0; d < 3; d++) must(clSetKernelArg(kernel, at++, sizeof(cl_ulong), &one.grid[d]), "grid");
    cl_mem status = new_buffer(&one.opencl_failed, sizeof one.opencl_failed);
    must(clSetKernelArg(kernel, at, sizeof(cl_mem), &status), "status");

    size_t global[3], local[3];
    const bool groups = desc->group[0] != 0;
    for (int d = 0; d < 3; d++) {
        local[d] = groups ? desc->group[d] : 1;
        global[d] = (one.grid[d] + local[d] - 1) / local[d] * local[d];
    }
    must(clEnqueueNDRangeKernel(queue, kernel, 3, NULL, global, groups ? local : NULL, 0, NULL, NULL), desc->name);
    for (size_t i = 0; i < desc->param_count; i++) {
        if (!buffers[i]) continue;
        must(clEnqueueReadBuffer(queue, buffers[i], CL_TRUE, 0, one.size_bytes[i], one.opencl[i], 0, NULL, NULL),
             "read");
        clReleaseMemObject(buffers[i]);
    }
    must(clEnqueueReadBuffer(queue, status, CL_TRUE, 0, 4, &one.opencl_failed, 0, NULL, NULL), "status");
    clReleaseMemObject(status);
    clReleaseKernel(kernel);
}

static int differences, launches;

static void compare(void) {
    run_native();
    run_opencl();
    bool same = one.native_failed == one.opencl_failed, changed = one.native_failed != 0;
    for (size_t i = 0; i < one.desc->param_count; i++) {
        if (one.desc->params[i].kind == RONDO_PARAM_VALUE) continue;
        same = same && memcmp(one.native[i], one.opencl[i], one.size_bytes[i]) == 0;
        changed = changed || memcmp(one.native[i], one.in[i], one.size_bytes[i]) != 0;
    }
    /* A kernel that does nothing on both sides would compare equal. */
    if (!changed) same = false;
    printf("%-16s %3u x %2u x %2u  failed %u/%u  %s\n", one.desc->name, (unsigned)one.grid[0], (unsigned)one.grid[1],
           (unsigned)one.grid[2], one.native_failed, one.opencl_failed, same ? "same" : "DIFFERENT");
    launches++;
    if (!same) differences++;
}

/* Floats are small whole numbers, so that a fused multiply-add on one side changes nothing. */
static void number_the_words(void) {
    for (size_t i = 0; i < one.desc->param_count; i++) {
        for (size_t w = 0; w < one.size_bytes[i] / 4 && one.desc->params[i].kind != RONDO_PARAM_VALUE; w++) {
            const int32_t word = (int32_t)((w * 7919 + i * 104729) % 97) - 48;
            memcpy(&one.in[i][w * 4], &word, 4);
        }
    }
}

static void number_the_floats(void) {
    for (size_t i = 0; i < one.desc->param_count; i++) {
        for (size_t w = 0; w < one.size_bytes[i] / 4 && one.desc->params[i].kind != RONDO_PARAM_VALUE; w++) {
            const float number = (float)((w * 7919 + i * 104729) % 97) - 48.0f;
            memcpy(&one.in[i][w * 4], &number, 4);
        }
    }
}

static void compare_kernels_without_groups(void) {
    const float a = 3.0f, limit = 20.0f;
    start(&axpy_desc, programs[0], 1001, 1, 1);
    give(0, NULL, 1001 * 4);
    give(1, NULL, 1001 * 4);
    give(2, &a, sizeof a);
    number_the_floats();
    compare();

    const shade tone = {2.0f, -5};
    const uint64_t skip = 4;
    start(&smooth_desc, programs[1], 200, 1, 1);
    give(0, NULL, 202 * 4);
    give(1, NULL, 200 * 4);
    give(2, &limit, sizeof limit);
    give(3, &tone, sizeof tone);
    give(4, &skip, sizeof skip);
    number_the_floats();
    compare();

    start(&coordinates_desc, programs[1], 7, 5, 3);
    for (size_t i = 0; i < 2; i++) give(i, NULL, 7 * 5 * 3 * 4);
    compare();

    start(&stencil2d_desc, programs[0], 33, 9, 1);
    for (size_t i = 0; i < 2; i++) give(i, NULL, 33 * 9 * 4);
    number_the_words();
    compare();

    start(&leave_desc, programs[1], 11, 3, 1);
    give(0, NULL, 33 * 4);
    compare();

    start(&histogram_desc, programs[1], 777, 1, 1);
    give(0, NULL, 777 * 4);
    give(1, NULL, 16 * 4);
    number_the_words();
    compare();

    start(&count_desc, programs[0], 123, 4, 2);
    give(0, NULL, 4);
    compare();
}

static void compare_kernels_with_groups(void) {
    start(&sum_groups_desc, programs[1], 1001, 1, 1);
    give(0, NULL, 1001 * 4);
    give(1, NULL, 4 * 4);
    number_the_floats();
    for (size_t w = 0; w < 1001; w++) { /* not whole, so that another order of additions would show */
        float value;
        memcpy(&value, &one.in[0][w * 4], 4);
        value /= 7.0f;
        memcpy(&one.in[0][w * 4], &value, 4);
    }
    compare();

    start(&sum_i32_desc, programs[0], 300, 1, 1);
    give(0, NULL, 300 * 4);
    give(1, NULL, 5 * 4);
    number_the_words();
    compare();

    start(&rest_of_group_desc, programs[1], 19, 9, 1);
    for (size_t i = 0; i < 2; i++) give(i, NULL, 19 * 9 * 4);
    number_the_words();
    compare();

    start(&whereabouts_desc, programs[1], 9, 5, 4);
    for (size_t i = 0; i < 3; i++) give(i, NULL, 9 * 5 * 4 * 4);
    compare();

    const uint32_t base = 77;
    start(&fill3d_desc, programs[0], 5, 3, 3);
    give(0, NULL, 45 * 4);
    give(1, &base, sizeof base);
    compare();
}

static void compare_failures(void) {
    const int32_t v = 4;
    for (uint32_t flag = 0; flag < 2; flag++) {
        start(&fail_if_desc, programs[0], 40, 1, 1);
        give(0, &flag, sizeof flag);
        give(1, NULL, 40 * 4);
        give(2, &v, sizeof v);
        compare();
    }
    start(&divide_desc, programs[1], 50, 1, 1);
    for (size_t i = 0; i < 3; i++) give(i, NULL, 50 * 4);
    for (int w = 0; w < 50; w++) {
        const int32_t x = w * 10, y = w == 33 ? 0 : 5;
        memcpy(&one.in[0][w * 4], &x, 4);
        memcpy(&one.in[1][w * 4], &y, 4);
    }
    compare();
}

int main(int argc, char **argv) {
    if (argc != 4) return 1;
    if (!open_device()) {
        printf("skipped: no OpenCL device\n");
        return SKIPPED;
    }
    for (int i = 0; i < 2; i++) programs[i] = compile(argv[1], argv[2 + i]);
    compare_kernels_without_groups();
    compare_kernels_with_groups();
    compare_failures();
    printf("%d launches, %d differences\n", launches, differences);
    for (int i = 0; i < 2; i++) clReleaseProgram(programs[i]);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return differences == 0 && launches > 0 ? 0 : 1;
}
