/* Records one launch and replays it. */
#include <rondo/kernel_lang.h>
#include "must.h"

RONDO_KERNEL(axpy, RONDO_NO_GROUP, RONDO_IN(float, x), RONDO_INOUT(float, y), RONDO_VALUE(float, a))
{
    RONDO_ITEMS(i) {
        y[i] += a * x[i];
    }
}

int main(void) {
    const float ones[4] = {1, 1, 1, 1};
    float result[4];
    rondo_device *device;
    rondo_stream *stream;
    rondo_kernel *kernel;
    rondo_graph *graph;
    rondo_buffer x, y;
    must(rondo_device_open("cpu", NULL, &device));
    must(rondo_stream_create(device, &stream));
    must(axpy_create(device, &kernel));
    must(rondo_buffer_create(stream, sizeof ones, RONDO_USAGE_GENERAL, &x));
    must(rondo_buffer_create(stream, sizeof ones, RONDO_USAGE_GENERAL, &y));
    must(rondo_write(stream, rondo_whole(x), ones, "x"));
    must(rondo_write(stream, rondo_whole(y), ones, "y"));

    must(rondo_capture_prepare(stream));
    must(axpy_launch(stream, kernel, rondo_grid_1d(4), rondo_whole(x), rondo_whole(y), 2, "axpy")); /* runs */
    must(rondo_capture_begin(stream));
    must(axpy_launch(stream, kernel, rondo_grid_1d(4), rondo_whole(x), rondo_whole(y), 2, "axpy")); /* is kept */
    must(rondo_capture_end(stream, RONDO_END_DEFAULT, &graph));
    for (int i = 0; i < 1000; i++) must(rondo_graph_replay(graph, stream));

    must(rondo_read(stream, rondo_whole(y), result, "y"));
    printf("y = %g %g %g %g\n", (double)result[0], (double)result[1], (double)result[2], (double)result[3]);

    rondo_graph_release(graph);
    rondo_buffer_release(x);
    rondo_buffer_release(y);
    rondo_kernel_release(kernel);
    rondo_stream_release(stream);
    rondo_device_release(device);
    return 0;
}
