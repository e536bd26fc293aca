/* A kernel that comes from elsewhere: a function pointer and a table of its parameters. */
#include "must.h"

/* y += a * x, for the items [first, last). */
static void axpy(const rondo_native_call *call) {
    float *y = call->args[0];
    const float *x = call->args[1];
    const float a = *(const float *)call->args[2];
    for (uint64_t i = call->first; i < call->last; i++) y[i] += a * x[i];
}

/* The table is what Rondo knows about the function: here it may read and write y, and only read x. */
static const rondo_param axpy_params[] = {
    {.name = "y", .kind = RONDO_PARAM_INOUT, .size_bytes = sizeof(float), .align_bytes = sizeof(float)},
    {.name = "x", .kind = RONDO_PARAM_IN, .size_bytes = sizeof(float), .align_bytes = sizeof(float)},
    {.name = "a", .kind = RONDO_PARAM_VALUE, .size_bytes = sizeof(float)},
};

static const rondo_kernel_desc axpy_desc = {
    .name = "axpy", .params = axpy_params, .param_count = 3, .native = axpy};

int main(void) {
    enum { COUNT = 4 };
    const float x_values[COUNT] = {1, 2, 3, 4}, y_values[COUNT] = {10, 20, 30, 40}, a = 2;
    float result[COUNT];
    rondo_device *device;
    rondo_stream *stream;
    rondo_kernel *kernel;
    rondo_buffer x, y;

    must(rondo_device_open("cpu", NULL, &device));
    must(rondo_stream_create(device, &stream));
    must(rondo_kernel_create(device, &axpy_desc, &kernel));
    must(rondo_buffer_create(stream, sizeof x_values, RONDO_USAGE_GENERAL, &x));
    must(rondo_buffer_create(stream, sizeof y_values, RONDO_USAGE_GENERAL, &y));
    must(rondo_write(stream, rondo_whole(x), x_values, "x"));
    must(rondo_write(stream, rondo_whole(y), y_values, "y"));

    const rondo_arg args[] = {rondo_arg_buffer(y), rondo_arg_buffer(x), rondo_arg_value(&a, sizeof a)};
    must(rondo_launch(stream, kernel, rondo_grid_1d(COUNT), args, 3, "y += 2x"));
    must(rondo_read(stream, rondo_whole(y), result, "result"));
    for (int i = 0; i < COUNT; i++) printf("y[%d] = %g\n", i, (double)result[i]);

    /* y may not also be x: the table says that x is only read, and one of the two is written. */
    const rondo_arg overlap[] = {rondo_arg_buffer(y), rondo_arg_buffer(y), rondo_arg_value(&a, sizeof a)};
    const rondo_status status = rondo_launch(stream, kernel, rondo_grid_1d(COUNT), overlap, 3, "y += 2y");
    printf("y as x too: %s, %s\n", rondo_code_name(rondo_status_code(status)),
           rondo_code_text(rondo_status_code(status)));

    rondo_buffer_release(x);
    rondo_buffer_release(y);
    rondo_kernel_release(kernel);
    rondo_stream_release(stream);
    rondo_device_release(device);
    return 0;
}
