/* The loads on Rondo's OpenCL backend. Linked with the static library, because calls that wait are counted where the
 * backend looks them up. */
#include <rondo/rondo.h>
#include <stdatomic.h>
#include <string.h>
#include "backend/opencl/parts.h"
#include "must.h"
#include "opencl.h"
#include "opencl.kernels.h"

struct mine {
    rondo_device *device;
    rondo_stream *stream;
    rondo_kernel *kernel[2][2]; /* axpy and triad; in OpenCL C and in Rondo's language */
    const load *load;
    bool language;
    rondo_buffer buffer[LOAD_MOST_BUFFERS];
    rondo_graph *graph;
};

/* ---- counting ---- */

static struct rdo_ocl_calls driver;
static void *(*find_in_driver)(void *library, const char *name);
static _Atomic uint64_t waits, questions;

static int32_t wait_for_events(uint32_t count, const ocl_event *events) {
    atomic_fetch_add(&waits, 1);
    return driver.clWaitForEvents(count, events);
}

static int32_t finish(ocl_queue queue) {
    atomic_fetch_add(&waits, 1);
    return driver.clFinish(queue);
}

static int32_t ask_event(ocl_event event, uint32_t what, size_t room_bytes, void *room, size_t *out_size_bytes) {
    atomic_fetch_add(&questions, 1);
    return driver.clGetEventInfo(event, what, room_bytes, room, out_size_bytes);
}

/* C has no conversion from a pointer to a function to one to data; POSIX promises that it fits. */
#define STAND_IN(call, own)                              \
    do {                                                 \
        if (strcmp(name, #call) != 0) break;             \
        int32_t (*instead) call##_parameters = own;      \
        memcpy(&driver.call, &symbol, sizeof symbol);    \
        memcpy(&symbol, &instead, sizeof symbol);        \
    } while (0)
#define clWaitForEvents_parameters (uint32_t, const ocl_event *)
#define clFinish_parameters (ocl_queue)
#define clGetEventInfo_parameters (ocl_event, uint32_t, size_t, void *, size_t *)

static void *find_counted(void *library, const char *name) {
    void *symbol = find_in_driver(library, name);
    STAND_IN(clWaitForEvents, wait_for_events);
    STAND_IN(clFinish, finish);
    STAND_IN(clGetEventInfo, ask_event);
    return symbol;
}

void mine_count(uint64_t *out_waits, uint64_t *out_questions) {
    *out_waits = atomic_exchange(&waits, 0);
    *out_questions = atomic_exchange(&questions, 0);
}

/* ---- the device ---- */

/* The same text as by hand, and the same groups. */
static rondo_kernel *create_plain(const mine *m, rondo_kernel_desc desc, size_t local) {
    rondo_kernel *kernel;
    desc.source = load_text;
    desc.native = NULL;
    desc.group[0] = (uint32_t)local;
    desc.group[1] = desc.group[2] = 1;
    MUST(rondo_kernel_create(m->device, &desc, &kernel));
    return kernel;
}

mine *mine_open(void) {
    static mine the_mine;
    mine *m = &the_mine;
    find_in_driver = rdo_ocl_hooks.find_symbol;
    rdo_ocl_hooks.find_symbol = find_counted;
    MUST(rondo_device_open("opencl", NULL, &m->device));
    MUST(rondo_stream_create(m->device, &m->stream));
    MUST(axpy_create(m->device, &m->kernel[0][1]));
    MUST(triad_create(m->device, &m->kernel[1][1]));
    return m;
}

const char *mine_way(mine *m) {
    static rondo_device_info info;
    MUST(rondo_device_get_info(m->device, &info));
    return info.graphs;
}

/* ---- a load ---- */

static rondo_status launch(const mine *m, rondo_stream *stream, const load_call *call) {
    const float a = LOAD_AXPY_A, scale = LOAD_TRIAD_SCALE;
    rondo_arg args[4];
    size_t count = 0;
    while (count < (call->is_triad ? 3u : 2u)) {
        args[count] = rondo_arg_buffer(m->buffer[call->buffer[count]]);
        count++;
    }
    args[count++] = rondo_arg_value(call->is_triad ? &scale : &a, sizeof a);
    return rondo_launch(stream, m->kernel[call->is_triad][m->language], rondo_grid_1d(m->load->items), args, count,
                        NULL);
}

static rondo_status issue(rondo_stream *stream, void *user) {
    const mine *m = user;
    rondo_status status = RONDO_OK;
    for (unsigned i = 0; i < m->load->launch_count && !status; i++) {
        status = launch(m, stream, &m->load->call[m->load->launch[i]]);
    }
    return status;
}

static void set_items(void *user, unsigned buffer, size_t first, size_t count, float value) {
    const mine *m = user;
    rondo_span items = rondo_slice(m->buffer[buffer], first * sizeof value, count * sizeof value);
    MUST(rondo_fill(m->stream, items, &value, sizeof value, NULL));
    MUST(rondo_stream_sync(m->stream));
}

static float get_item(void *user, unsigned buffer, size_t item) {
    const mine *m = user;
    float value = 0;
    MUST(rondo_read(m->stream, rondo_slice(m->buffer[buffer], item * sizeof value, sizeof value), &value, NULL));
    return value;
}

void mine_load(mine *m, const load *l) {
    m->load = l;
    m->kernel[0][0] = create_plain(m, axpy_desc, l->local);
    m->kernel[1][0] = create_plain(m, triad_desc, l->local);
    for (unsigned i = 0; i < l->buffer_count; i++) {
        MUST(rondo_buffer_create(m->stream, l->items * sizeof(float), RONDO_USAGE_GENERAL, &m->buffer[i]));
    }
}

void mine_capture(mine *m, bool language) {
    rondo_graph_release(m->graph);
    m->language = language;
    MUST(rondo_capture_step(m->stream, issue, m, &m->graph));
}

void mine_unload(mine *m) {
    rondo_graph_release(m->graph);
    m->graph = NULL;
    for (unsigned i = 0; i < m->load->buffer_count; i++) rondo_buffer_release(m->buffer[i]);
    rondo_kernel_release(m->kernel[0][0]);
    rondo_kernel_release(m->kernel[1][0]);
    MUST(rondo_device_trim(m->device, NULL));
}

static void run_replays(void *user, uint64_t steps) {
    const mine *m = user;
    for (uint64_t step = 0; step < steps; step++) {
        MUST(rondo_graph_replay(m->graph, m->stream));
        MUST(rondo_stream_sync(m->stream));
    }
}

static void run_launches(void *user, uint64_t steps) {
    mine *m = user;
    for (uint64_t step = 0; step < steps; step++) {
        MUST(issue(m->stream, m));
        MUST(rondo_stream_sync(m->stream));
    }
}

load_player mine_replays(mine *m) {
    return (load_player){"replay", m, set_items, get_item, run_replays};
}

load_player mine_launches(mine *m) {
    return (load_player){"eager", m, set_items, get_item, run_launches};
}

void mine_record(void *user, uint64_t steps) {
    mine *m = user;
    for (uint64_t step = 0; step < steps; step++) {
        rondo_graph *graph;
        MUST(rondo_capture_prepare(m->stream));
        MUST(rondo_capture_begin(m->stream));
        MUST(issue(m->stream, m));
        MUST(rondo_capture_end(m->stream, RONDO_END_DEFAULT, &graph));
        rondo_graph_release(graph);
    }
}
