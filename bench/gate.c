/* rondo-gate PATH COUNT: goes one hot path COUNT times, with kernels that do nothing. gate.py runs it with two counts
 * under an instruction counter; the difference is what one turn costs, without the setup. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rondo/rondo.h>

#define MUST(call) must((call), #call)
#define ITEMS 64

typedef struct setup {
    rondo_device *device;
    rondo_stream *stream;
    rondo_kernel *kernel;
    rondo_buffer x, y;
} setup;

static void must(rondo_status status, const char *what) {
    if (status == RONDO_OK) return;
    fprintf(stderr, "rondo-gate: %s: %s\n", what, rondo_code_name(rondo_status_code(status)));
    exit(1);
}

static void do_nothing(const rondo_native_call *call) {
    (void)call;
}

static void prepare(setup *s) {
    static const rondo_param params[] = {{.name = "y", .kind = RONDO_PARAM_INOUT, .size_bytes = sizeof(float)},
                                         {.name = "x", .kind = RONDO_PARAM_IN, .size_bytes = sizeof(float)},
                                         {.name = "a", .kind = RONDO_PARAM_VALUE, .size_bytes = sizeof(float)}};
    static const rondo_kernel_desc desc = {.name = "empty", .params = params, .param_count = 3, .native = do_nothing};
    const rondo_device_desc alone = {.workers = 1};
    const float zero = 0;
    MUST(rondo_device_open("cpu", &alone, &s->device));
    MUST(rondo_stream_create(s->device, &s->stream));
    MUST(rondo_kernel_create(s->device, &desc, &s->kernel));
    MUST(rondo_buffer_create(s->stream, ITEMS * sizeof(float), RONDO_USAGE_GENERAL, &s->x));
    MUST(rondo_buffer_create(s->stream, ITEMS * sizeof(float), RONDO_USAGE_GENERAL, &s->y));
    MUST(rondo_fill(s->stream, rondo_whole(s->x), &zero, sizeof zero, NULL));
    MUST(rondo_fill(s->stream, rondo_whole(s->y), &zero, sizeof zero, NULL));
}

static void finish(setup *s) {
    MUST(rondo_stream_sync(s->stream));
    rondo_buffer_release(s->x);
    rondo_buffer_release(s->y);
    rondo_kernel_release(s->kernel);
    rondo_stream_release(s->stream);
    rondo_device_release(s->device);
}

static void launch(setup *s, unsigned long count) {
    const float a = 1;
    for (unsigned long i = 0; i < count; i++) {
        const rondo_arg args[] = {rondo_arg_buffer(s->y), rondo_arg_buffer(s->x), rondo_arg_value(&a, sizeof a)};
        MUST(rondo_launch(s->stream, s->kernel, rondo_grid_1d(ITEMS), args, 3, NULL));
    }
}

static rondo_graph *record(setup *s, unsigned long nodes) {
    rondo_graph *graph;
    MUST(rondo_capture_prepare(s->stream));
    MUST(rondo_capture_begin(s->stream));
    launch(s, nodes);
    MUST(rondo_capture_end(s->stream, RONDO_END_DEFAULT, &graph));
    return graph;
}

/* ---- the paths ---- */

static void record_ops(setup *s, unsigned long count) {
    rondo_graph_release(record(s, count));
}

/* A graph is played a fixed number of times, so that the count of nodes is what differs. */
static void replay_nodes(setup *s, unsigned long count) {
    rondo_graph *graph = record(s, count);
    for (int turn = 0; turn < 20; turn++) MUST(rondo_graph_replay(graph, s->stream));
    rondo_graph_release(graph);
}

static void replay_graph(setup *s, unsigned long count) {
    rondo_graph *graph = record(s, 1);
    for (unsigned long i = 0; i < count; i++) MUST(rondo_graph_replay(graph, s->stream));
    rondo_graph_release(graph);
}

static void reserve(setup *s, unsigned long count) {
    for (unsigned long i = 0; i < count; i++) {
        rondo_buffer buffer;
        MUST(rondo_buffer_create(s->stream, 4096, RONDO_USAGE_GENERAL, &buffer));
        rondo_buffer_release(buffer);
    }
}

static void check_span(setup *s, unsigned long count) {
    for (unsigned long i = 0; i < count; i++) MUST(rondo_span_status(rondo_whole(s->y)));
}

static void update(setup *s, unsigned long count) {
    rondo_graph *graph = record(s, 100);
    const float a = 2;
    for (unsigned long i = 0; i < count; i++) {
        const rondo_update change = rondo_update_value(i % 100, "a", &a, sizeof a);
        MUST(rondo_graph_update(graph, &change, 1));
    }
    rondo_graph_release(graph);
}

static const struct {
    const char *name;
    void (*run)(setup *s, unsigned long count);
} paths[] = {{"launch", launch},
             {"record", record_ops},
             {"replay-node", replay_nodes},
             {"replay-graph", replay_graph},
             {"reserve", reserve},
             {"span", check_span},
             {"update", update}};

int main(int argc, char **argv) {
    setup s;
    unsigned long count = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
    for (size_t i = 0; i < sizeof paths / sizeof paths[0] && count != 0; i++) {
        if (strcmp(argv[1], paths[i].name) != 0) continue;
        prepare(&s);
        paths[i].run(&s, count);
        finish(&s);
        return 0;
    }
    fputs("usage: rondo-gate PATH COUNT\n", stderr);
    return 2;
}
