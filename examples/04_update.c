/* Changes a value and a buffer of a sealed graph, by the node's label and the parameter's name. */
#include <rondo/kernel_lang.h>
#include "must.h"

RONDO_KERNEL(scale, RONDO_NO_GROUP, RONDO_IN(float, x), RONDO_OUT(float, y), RONDO_VALUE(float, factor))
{
    RONDO_ITEMS(i) {
        y[i] = factor * x[i];
    }
}

RONDO_KERNEL(shift, RONDO_NO_GROUP, RONDO_INOUT(float, y), RONDO_VALUE(float, offset))
{
    RONDO_ITEMS(i) {
        y[i] += offset;
    }
}

enum { COUNT = 4 };

typedef struct step_args {
    rondo_kernel *scale, *shift;
    rondo_buffer x, y;
} step_args;

static rondo_status step(rondo_stream *stream, void *user) {
    const step_args *args = user;
    const rondo_grid grid = rondo_grid_1d(COUNT);
    const rondo_span x = rondo_whole(args->x), y = rondo_whole(args->y);
    rondo_status status = scale_launch(stream, args->scale, grid, x, y, 10, "scale");
    if (!status) status = shift_launch(stream, args->shift, grid, y, 0.5f, "shift");
    return status;
}

static void replay_and_show(rondo_graph *graph, rondo_stream *stream, rondo_buffer y, const char *what) {
    float values[COUNT];
    must(rondo_graph_replay(graph, stream));
    must(rondo_read(stream, rondo_whole(y), values, "y"));
    printf("%-28s y = %g %g %g %g\n", what, (double)values[0], (double)values[1], (double)values[2], (double)values[3]);
}

static rondo_update on_node(const char *label, rondo_update update) {
    update.label = label;
    return update;
}

int main(void) {
    const float x_values[COUNT] = {1, 2, 3, 4}, other_values[COUNT] = {5, 6, 7, 8}, factor = 100, offset = -1;
    rondo_device *device;
    rondo_stream *stream;
    rondo_graph *graph;
    rondo_buffer other;
    step_args args;

    must(rondo_device_open("cpu", NULL, &device));
    must(rondo_stream_create(device, &stream));
    must(scale_create(device, &args.scale));
    must(shift_create(device, &args.shift));
    must(rondo_buffer_create(stream, sizeof x_values, RONDO_USAGE_GENERAL, &args.x));
    must(rondo_buffer_create(stream, sizeof x_values, RONDO_USAGE_GENERAL, &args.y));
    must(rondo_buffer_create(stream, sizeof x_values, RONDO_USAGE_GENERAL, &other));
    must(rondo_write(stream, rondo_whole(args.x), x_values, "x"));
    must(rondo_write(stream, rondo_whole(other), other_values, "other"));
    must(rondo_capture_step(stream, step, &args, &graph));
    replay_and_show(graph, stream, args.y, "as recorded:");

    const rondo_update value = on_node("scale", rondo_update_value(0, "factor", &factor, sizeof factor));
    must(rondo_graph_update(graph, &value, 1));
    replay_and_show(graph, stream, args.y, "another factor:");

    const rondo_update buffer = on_node("scale", rondo_update_span(0, "x", rondo_whole(other)));
    must(rondo_graph_update(graph, &buffer, 1));
    rondo_buffer_release(other); /* the graph keeps it */
    replay_and_show(graph, stream, args.y, "another buffer:");

    /* All or nothing: the second change is wrong, so the first is not made either. */
    const rondo_update wrong[] = {on_node("shift", rondo_update_value(0, "offset", &offset, sizeof offset)),
                                  on_node("scale", rondo_update_value(0, "fcator", &factor, sizeof factor))};
    const rondo_status status = rondo_graph_update(graph, wrong, 2);
    rondo_fault fault;
    must(rondo_fault_get(status, &fault));
    printf("refused, %s: %s\n", rondo_code_name(rondo_status_code(status)), fault.message);
    replay_and_show(graph, stream, args.y, "after the refusal:");

    rondo_graph_release(graph);
    rondo_buffer_release(args.x);
    rondo_buffer_release(args.y);
    rondo_kernel_release(args.scale);
    rondo_kernel_release(args.shift);
    rondo_stream_release(stream);
    rondo_device_release(device);
    return 0;
}
