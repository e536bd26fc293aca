/* Breaks things on purpose. Each time Rondo gives the right answer, or says what went wrong and why. */
#include <rondo/kernel_lang.h>
#include <string.h>
#include "must.h"

RONDO_KERNEL(add, RONDO_NO_GROUP, RONDO_IN(int32_t, x), RONDO_INOUT(int32_t, sum), RONDO_VALUE(int32_t, more))
{
    RONDO_ITEMS(i) {
        sum[i] += x[i] + more;
    }
}

/* Fails where its input is negative. */
RONDO_KERNEL_CAN_FAIL(root, RONDO_NO_GROUP, RONDO_IN(int32_t, x), RONDO_OUT(int32_t, y))
{
    RONDO_ITEMS(i) {
        y[i] = 0;
        if (x[i] < 0) {
            RONDO_FAIL(33);
            continue;
        }
        while ((y[i] + 1) * (y[i] + 1) <= x[i]) y[i]++;
    }
}

enum { COUNT = 4, BYTES = COUNT * sizeof(int32_t) };

typedef struct world {
    rondo_device *device;
    rondo_stream *stream, *neighbour;
    rondo_kernel *add, *root;
    rondo_buffer x, y, sum;
} world;

static void set(rondo_stream *stream, rondo_buffer buffer, int32_t value) {
    must(rondo_fill(stream, rondo_whole(buffer), &value, sizeof value, "set"));
}

/* One queue only, so that the two streams are neighbours on it. */
static void open_world(world *w) {
    const rondo_device_desc desc = {.max_queues = 1, .workers = 1};
    must(rondo_device_open("cpu", &desc, &w->device));
    must(rondo_stream_create(w->device, &w->stream));
    must(rondo_stream_create(w->device, &w->neighbour));
    must(add_create(w->device, &w->add));
    must(root_create(w->device, &w->root));
    must(rondo_buffer_create(w->stream, BYTES, RONDO_USAGE_GENERAL, &w->x));
    must(rondo_buffer_create(w->stream, BYTES, RONDO_USAGE_GENERAL, &w->y));
    must(rondo_buffer_create(w->stream, BYTES, RONDO_USAGE_GENERAL, &w->sum));
    set(w->stream, w->x, 1);
    set(w->stream, w->sum, 0);
}

static void close_world(world *w) {
    rondo_buffer_release(w->x);
    rondo_buffer_release(w->y);
    rondo_buffer_release(w->sum);
    rondo_kernel_release(w->add);
    rondo_kernel_release(w->root);
    rondo_stream_release(w->stream);
    rondo_stream_release(w->neighbour);
    rondo_device_release(w->device);
}

static void tell(const char *call, rondo_status status) {
    char story[4096];
    printf("  %s: %s\n", call, rondo_code_name(rondo_status_code(status)));
    if (!status) return;
    rondo_fault_describe(status, story, sizeof story);
    for (const char *line = strtok(story, "\n"); line; line = strtok(NULL, "\n")) printf("    | %s\n", line);
}

static void show(world *w, const char *name, rondo_buffer buffer) {
    int32_t values[COUNT];
    const rondo_status status = rondo_read(w->stream, rondo_whole(buffer), values, name);
    if (status) {
        tell("read", status);
        return;
    }
    printf("  %s = %d %d %d %d\n", name, values[0], values[1], values[2], values[3]);
}

static rondo_status launch_add(world *w, rondo_buffer x) {
    return add_launch(w->stream, w->add, rondo_grid_1d(COUNT), rondo_whole(x), rondo_whole(w->sum), 0, "add x");
}

static rondo_status launch_root(world *w) {
    return root_launch(w->stream, w->root, rondo_grid_1d(COUNT), rondo_whole(w->x), rondo_whole(w->y), "root of x");
}

/* The step of most windows here runs once as the warm-up, then the window opens. */
static void open_window(world *w) {
    must(rondo_capture_prepare(w->stream));
    must(launch_add(w, w->x));
    must(rondo_capture_begin(w->stream));
}

static void free_a_recorded_buffer(world *w) {
    rondo_buffer fresh[4], x;
    rondo_graph *graph;
    puts("A buffer of a graph is released, and its room would suit others:");
    must(rondo_buffer_create(w->stream, BYTES, RONDO_USAGE_GENERAL, &x));
    set(w->stream, x, 5);
    set(w->stream, w->sum, 0);
    must(rondo_capture_prepare(w->stream));
    must(launch_add(w, x));
    must(rondo_capture_begin(w->stream));
    must(launch_add(w, x));
    must(rondo_capture_end(w->stream, RONDO_END_DEFAULT, &graph));
    rondo_buffer_release(x);
    for (int i = 0; i < 4; i++) {
        must(rondo_buffer_create(w->stream, BYTES, RONDO_USAGE_GENERAL, &fresh[i]));
        set(w->stream, fresh[i], 777);
    }
    must(rondo_graph_replay(graph, w->stream));
    show(w, "sum", w->sum);
    tell("a launch on the released buffer", launch_add(w, x));
    /* The refused launch would have written sum, so nobody may read it until something does. */
    tell("a read of what that launch should have written", rondo_span_status(rondo_whole(w->sum)));
    set(w->stream, w->sum, 0);
    for (int i = 0; i < 4; i++) rondo_buffer_release(fresh[i]);
    rondo_graph_release(graph);
}

static void fail_while_replaying(world *w) {
    rondo_graph *graph;
    puts("A kernel fails while a graph replays:");
    must(rondo_capture_prepare(w->stream));
    must(launch_root(w));
    must(launch_add(w, w->y));
    must(rondo_capture_begin(w->stream));
    must(launch_root(w));
    must(launch_add(w, w->y));
    must(rondo_capture_end(w->stream, RONDO_END_DEFAULT, &graph));
    set(w->stream, w->x, -4);
    tell("replay", rondo_graph_replay(graph, w->stream));
    show(w, "sum", w->sum);
    tell("sync", rondo_stream_sync(w->stream));
    set(w->stream, w->x, 4);
    set(w->stream, w->sum, 0);
    puts("  With x and sum written anew:");
    tell("replay", rondo_graph_replay(graph, w->stream));
    show(w, "sum", w->sum);
    rondo_graph_release(graph);
}

static void refuse_inside_the_window(world *w) {
    const rondo_span too_much = rondo_slice(w->x, 8, BYTES);
    rondo_graph *graph;
    puts("A launch inside the window is refused:");
    open_window(w);
    tell("a launch that leaves its buffer", add_launch(w->stream, w->add, rondo_grid_1d(COUNT), too_much,
                                                       rondo_whole(w->sum), 0, "too far"));
    tell("a good launch afterwards", launch_add(w, w->x));
    tell("end", rondo_capture_end(w->stream, RONDO_END_DEFAULT, &graph));
    show(w, "sum", w->sum);
    set(w->stream, w->sum, 0);
}

static void read_inside_the_window(world *w) {
    int32_t values[COUNT];
    rondo_graph *graph;
    puts("A read inside the window is refused, and the window goes on:");
    open_window(w);
    must(launch_add(w, w->x));
    tell("read", rondo_read(w->stream, rondo_whole(w->sum), values, "peek"));
    tell("end", rondo_capture_end(w->stream, RONDO_END_DEFAULT, &graph));
    must(rondo_graph_replay(graph, w->stream));
    show(w, "sum", w->sum);
    rondo_graph_release(graph);
    set(w->stream, w->sum, 0);
}

static void allocate_inside_the_window(world *w) {
    rondo_buffer large;
    rondo_graph *graph;
    puts("A size that the warm-up did not need is allocated inside the window:");
    open_window(w);
    must(launch_add(w, w->x));
    tell("create", rondo_buffer_create(w->stream, 64 << 20, RONDO_USAGE_GENERAL, &large));
    tell("end", rondo_capture_end(w->stream, RONDO_END_DEFAULT, &graph));
    show(w, "sum", w->sum);
    set(w->stream, w->sum, 0);
}

static void end_from_another_stream(world *w) {
    rondo_graph *graph;
    puts("Another stream ends the window:");
    open_window(w);
    must(launch_add(w, w->x));
    tell("end by the neighbour", rondo_capture_end(w->neighbour, RONDO_END_DEFAULT, &graph));
    tell("end by the owner", rondo_capture_end(w->stream, RONDO_END_DEFAULT, &graph));
    show(w, "sum", w->sum);
    set(w->stream, w->sum, 0);
}

int main(void) {
    world w;
    open_world(&w);
    free_a_recorded_buffer(&w);
    fail_while_replaying(&w);
    refuse_inside_the_window(&w);
    read_inside_the_window(&w);
    allocate_inside_the_window(&w);
    end_from_another_stream(&w);
    puts("After all of that the stream works:");
    must(launch_add(&w, w.x));
    show(&w, "sum", w.sum);
    close_world(&w);
    return 0;
}
