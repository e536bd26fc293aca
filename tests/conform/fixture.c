/* The fixture: opens a device and a stream for a case, keeps what the case makes, and demands an empty device at
 * the end. */
#include "fixture.h"

enum object_kind { OBJECT_STREAM, OBJECT_KERNEL, OBJECT_GRAPH, OBJECT_EVENT };

struct conform *conform_fixture_open(const char *device_name, const rondo_device_desc *desc) {
    struct conform *t = (struct conform *)calloc(1, sizeof *t);
    if (t == NULL) {
        return NULL;
    }
    t->backend = device_name;
    rondo_status status = rondo_device_open(device_name, desc, &t->device);
    if (status == RONDO_OK) {
        status = rondo_stream_create(t->device, &t->stream);
    }
    if (status != RONDO_OK) {
        char story[1024];
        rondo_fault_describe(status, story, sizeof story);
        fprintf(stderr, "%s cannot be opened: %s\n", device_name, story);
        free(t);
        return NULL;
    }
    return t;
}

static void keep_object(struct conform *t, void *object, enum object_kind kind) {
    t->objects = (void **)realloc(t->objects, (t->object_count + 1) * sizeof t->objects[0]);
    t->object_kinds = (unsigned char *)realloc(t->object_kinds, t->object_count + 1);
    assert_non_null(t->objects);
    assert_non_null(t->object_kinds);
    t->objects[t->object_count] = object;
    t->object_kinds[t->object_count] = (unsigned char)kind;
    t->object_count += 1;
}

rondo_buffer conform_keep_buffer(struct conform *t, rondo_buffer buffer) {
    t->buffers = (rondo_buffer *)realloc(t->buffers, (t->buffer_count + 1) * sizeof t->buffers[0]);
    assert_non_null(t->buffers);
    t->buffers[t->buffer_count] = buffer;
    t->buffer_count += 1;
    return buffer;
}

rondo_stream *conform_keep_stream(struct conform *t, rondo_stream *stream) {
    keep_object(t, stream, OBJECT_STREAM);
    return stream;
}

rondo_kernel *conform_keep_kernel(struct conform *t, rondo_kernel *kernel) {
    keep_object(t, kernel, OBJECT_KERNEL);
    return kernel;
}

rondo_graph *conform_keep_graph(struct conform *t, rondo_graph *graph) {
    keep_object(t, graph, OBJECT_GRAPH);
    return graph;
}

rondo_event *conform_keep_event(struct conform *t, rondo_event *event) {
    keep_object(t, event, OBJECT_EVENT);
    return event;
}

static void settle_stream(rondo_stream *stream) {
    bool alive = rondo_stream_id(stream) != 0;
    if (alive && conform_queued) {
        CHECK_OK(rondo_run_forget(stream, 0)); /* there is no such key; the call waits and does nothing */
    }
}

void conform_settle(struct conform *t) {
    settle_stream(t->stream);
    for (size_t i = 0; i < t->object_count; i++) {
        if (t->object_kinds[i] == OBJECT_STREAM) {
            settle_stream((rondo_stream *)t->objects[i]);
        }
    }
}

static void release_object(void *object, enum object_kind kind) {
    switch (kind) {
    case OBJECT_STREAM: rondo_stream_release((rondo_stream *)object); break;
    case OBJECT_KERNEL: rondo_kernel_release((rondo_kernel *)object); break;
    case OBJECT_GRAPH: rondo_graph_release((rondo_graph *)object); break;
    case OBJECT_EVENT: rondo_event_release((rondo_event *)object); break;
    }
}

static void release_kept(struct conform *t) {
    CHECK_OK(rondo_device_trim(t->device, NULL)); /* waits for what is pending, and is never refused */
    while (t->object_count > 0) {
        t->object_count -= 1;
        release_object(t->objects[t->object_count], (enum object_kind)t->object_kinds[t->object_count]);
    }
    while (t->buffer_count > 0) {
        t->buffer_count -= 1;
        rondo_buffer_release(t->buffers[t->buffer_count]);
    }
    rondo_stream_release(t->stream);
    free(t->objects);
    free(t->object_kinds);
    free(t->buffers);
}

static void check_pool_is_empty(struct conform *t, rondo_pool_kind kind) {
    rondo_pool_report report = conform_report(t, kind);
    CHECK_EQUAL(report.allocations, 0);
    CHECK_EQUAL(report.in_use_bytes, 0);
    CHECK_EQUAL(report.padding_bytes, 0);
    CHECK_EQUAL(report.guarded_bytes, 0);
    CHECK_EQUAL(report.reserved_bytes, 0);
    CHECK_EQUAL(report.pages, 0);
}

/* [M6, T5] */
static void check_nothing_is_left(struct conform *t) {
    rondo_device_stats stats = conform_stats(t);
    CHECK_EQUAL(stats.streams, 0);
    CHECK_EQUAL(stats.kernels, 0);
    CHECK_EQUAL(stats.events, 0);
    CHECK_EQUAL(stats.graphs, 0);
    CHECK_EQUAL(stats.buffers, 0);
    CHECK_EQUAL(stats.host_blocks, 0);
    CHECK_EQUAL(stats.tainted_allocations, 0);
    CHECK_EQUAL(stats.metadata_pinned, 0);
    CHECK_EQUAL(rondo_fault_live_count(), 0);
    uint64_t kept_bytes = 1;
    CHECK_OK(rondo_device_trim(t->device, &kept_bytes));
    CHECK_EQUAL(kept_bytes, 0);
    for (int kind = 0; kind < RONDO_POOL_KINDS; kind++) {
        check_pool_is_empty(t, (rondo_pool_kind)kind);
    }
    CHECK_EQUAL(conform_stats(t).metadata_bytes, 0);
}

void conform_fixture_close(struct conform *t) {
    release_kept(t);
    check_nothing_is_left(t);
    rondo_device_info info;
    rondo_device_release(t->device);
    CHECK_CODE(rondo_device_get_info(t->device, &info), RONDO_STALE);
}
