/* Walks over a graph, then prints it for Graphviz:  05_dump | sed -n '/^digraph/,$p' | dot -Tsvg > graph.svg */
#include <rondo/kernel_lang.h>
#include "must.h"

RONDO_KERNEL(blur, RONDO_NO_GROUP, RONDO_IN(float, x), RONDO_OUT(float, y))
{
    RONDO_ITEMS(i) {
        const float left = x[i > 0 ? i - 1 : i], right = x[i + 1 < RONDO_GRID_X ? i + 1 : i];
        y[i] = 0.25f * left + 0.5f * x[i] + 0.25f * right;
    }
}

RONDO_KERNEL(subtract, RONDO_NO_GROUP, RONDO_IN(float, a), RONDO_IN(float, b), RONDO_OUT(float, difference))
{
    RONDO_ITEMS(i) {
        difference[i] = a[i] - b[i];
    }
}

enum { COUNT = 64 };

typedef struct step_args {
    rondo_kernel *blur, *subtract;
    rondo_buffer x, copy, narrow, wide, detail;
} step_args;

/* Two blurs of different width; the detail is what the wide one takes away. The copy stands beside them: it shares no
 * written byte with any other node. */
static rondo_status step(rondo_stream *stream, void *user) {
    const step_args *args = user;
    const rondo_grid grid = rondo_grid_1d(COUNT);
    const rondo_span x = rondo_whole(args->x), narrow = rondo_whole(args->narrow), wide = rondo_whole(args->wide);
    rondo_status status = blur_launch(stream, args->blur, grid, x, narrow, "blur once");
    if (!status) status = rondo_copy(stream, rondo_whole(args->copy), x, "keep x");
    if (!status) status = blur_launch(stream, args->blur, grid, narrow, wide, "blur twice");
    if (!status) {
        status = subtract_launch(stream, args->subtract, grid, narrow, wide, rondo_whole(args->detail), "detail");
    }
    return status;
}

static const char *mode_name(rondo_access_mode mode) {
    return mode == RONDO_READS ? "reads" : mode == RONDO_WRITES ? "writes" : "reads and writes";
}

static const char *const kind_names[] = {[RONDO_NODE_LAUNCH] = "launch of ", [RONDO_NODE_COPY] = "copy"};

static void print_node(rondo_graph *graph, uint64_t node) {
    rondo_node_info info;
    must(rondo_graph_get_node(graph, node, &info));
    printf("node %llu, '%s': %s%s\n", (unsigned long long)node, info.label, kind_names[info.kind], info.kernel);
    for (uint32_t i = 0; i < info.spans; i++) {
        rondo_node_span span;
        must(rondo_graph_get_node_span(graph, node, i, &span));
        printf("    %s bytes %llu to %llu%s%s\n", mode_name(span.mode), (unsigned long long)span.offset_bytes,
               (unsigned long long)(span.offset_bytes + span.size_bytes), span.param[0] ? " of parameter " : "",
               span.param);
    }
    for (uint32_t k = 0; k < info.predecessors; k++) {
        uint64_t before;
        must(rondo_graph_get_predecessor(graph, node, k, &before));
        printf("    after node %llu\n", (unsigned long long)before);
    }
}

static void print_text(void *user, const char *text, size_t length) {
    fwrite(text, 1, length, user);
}

int main(void) {
    rondo_device *device;
    rondo_stream *stream;
    rondo_graph *graph;
    rondo_graph_info info;
    step_args args;
    rondo_buffer *buffers[] = {&args.x, &args.copy, &args.narrow, &args.wide, &args.detail};
    const float zero = 0;

    must(rondo_device_open("cpu", NULL, &device));
    must(rondo_stream_create(device, &stream));
    must(blur_create(device, &args.blur));
    must(subtract_create(device, &args.subtract));
    for (int i = 0; i < 5; i++) {
        must(rondo_buffer_create(stream, COUNT * sizeof(float), RONDO_USAGE_GENERAL, buffers[i]));
    }
    must(rondo_fill(stream, rondo_whole(args.x), &zero, sizeof zero, "clear x"));
    must(rondo_capture_step(stream, step, &args, &graph));

    must(rondo_graph_get_info(graph, &info));
    printf("%llu nodes; reads %llu bytes before it writes them, writes %llu\n", (unsigned long long)info.nodes,
           (unsigned long long)info.live_in_bytes, (unsigned long long)info.written_bytes);
    for (uint64_t node = 0; node < info.nodes; node++) print_node(graph, node);
    puts("\nThe same as text:\n");
    must(rondo_graph_dump(graph, RONDO_DUMP_TEXT, print_text, stdout));
    puts("\nAnd for Graphviz:\n");
    must(rondo_graph_dump(graph, RONDO_DUMP_DOT, print_text, stdout));

    rondo_graph_release(graph);
    for (int i = 0; i < 5; i++) rondo_buffer_release(*buffers[i]);
    rondo_kernel_release(args.blur);
    rondo_kernel_release(args.subtract);
    rondo_stream_release(stream);
    rondo_device_release(device);
    return 0;
}
