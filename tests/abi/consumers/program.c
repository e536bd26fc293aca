/* A user's program: adds two arrays on the CPU and checks the result. */
#include <stdio.h>
#include <stdlib.h>

#include <rondo/rondo.h>

#define COUNT 1000

static void add(const rondo_native_call *call) {
    const float *a = call->args[0];
    float *b = call->args[1];
    for (uint64_t i = call->first; i < call->last; i++)
        b[i] += a[i];
}

static const rondo_param params[] = {
    {"a", RONDO_PARAM_IN, sizeof(float), sizeof(float), false},
    {"b", RONDO_PARAM_INOUT, sizeof(float), sizeof(float), false},
};

static void check(rondo_status status, const char *what) {
    char story[1024];
    if (status == RONDO_OK)
        return;
    rondo_fault_describe(status, story, sizeof story);
    fprintf(stderr, "%s: %s\n", what, story);
    exit(EXIT_FAILURE);
}

int main(void) {
    rondo_kernel_desc desc = {0};
    desc.name = "add";
    desc.params = params;
    desc.param_count = 2;
    desc.native = add;
    rondo_device *device;
    rondo_stream *stream;
    rondo_kernel *kernel;
    rondo_buffer a, b;
    static float host[COUNT];

    if (rondo_version() != RONDO_VERSION_MAJOR * 1000000 + RONDO_VERSION_MINOR * 1000 + RONDO_VERSION_PATCH) {
        fprintf(stderr, "the headers and the library are of different versions\n");
        return EXIT_FAILURE;
    }
    check(rondo_device_open("cpu", NULL, &device), "open");
    check(rondo_stream_create(device, &stream), "stream");
    check(rondo_kernel_create(device, &desc, &kernel), "kernel");
    check(rondo_buffer_create(stream, sizeof host, RONDO_USAGE_GENERAL, &a), "buffer");
    check(rondo_buffer_create(stream, sizeof host, RONDO_USAGE_GENERAL, &b), "buffer");
    for (int i = 0; i < COUNT; i++)
        host[i] = (float)i;
    check(rondo_write(stream, rondo_whole(a), host, NULL), "write");
    check(rondo_write(stream, rondo_whole(b), host, NULL), "write");
    const rondo_arg args[] = {rondo_arg_buffer(a), rondo_arg_buffer(b)};
    check(rondo_launch(stream, kernel, rondo_grid_1d(COUNT), args, 2, "add"), "launch");
    check(rondo_read(stream, rondo_whole(b), host, NULL), "read");
    for (int i = 0; i < COUNT; i++) {
        if (host[i] != 2.0f * (float)i) {
            fprintf(stderr, "item %d is %g\n", i, (double)host[i]);
            return EXIT_FAILURE;
        }
    }
    rondo_buffer_release(a);
    rondo_buffer_release(b);
    rondo_kernel_release(kernel);
    rondo_stream_release(stream);
    rondo_device_release(device);
    printf("rondo %s added %d numbers\n", rondo_version_string(), COUNT);
    return EXIT_SUCCESS;
}
