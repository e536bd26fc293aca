/* The probe is a small fill: every backend has it, it needs no kernel to be compiled, and nearly all of its time
 * is the way through the library and the driver. Each time is the least of some rounds, since whatever interrupts a
 * round only adds to it. */
#include "device/costs.h"

#include <rondo/buffer.h>
#include <rondo/capture.h>
#include <rondo/stream.h>

#include "stream/stream.h"

enum { NODES = 64, ROUNDS = 9 };

typedef struct probe {
    rondo_stream *stream;
    rondo_buffer buffer;
    uint64_t nodes; /* how many the step issues */
    rondo_graph *graph;
} probe;

static rondo_status issue(rondo_stream *stream, void *user) {
    const probe *p = user;
    const uint32_t zero = 0;
    rondo_status status = RONDO_OK;
    for (uint64_t n = 0; n < p->nodes && status == RONDO_OK; n++) {
        status = rondo_fill(stream, rondo_whole(p->buffer), &zero, sizeof zero, NULL);
    }
    return status;
}

static rondo_status replay(rondo_stream *stream, void *user) {
    return rondo_graph_replay(((const probe *)user)->graph, stream);
}

static rondo_status time_step(probe *p, rondo_step_fn step, uint64_t *out_ns) {
    *out_ns = UINT64_MAX;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t start = rdo_clock_ns();
        RDO_TRY(step(p->stream, p));
        RDO_TRY(rondo_stream_sync(p->stream));
        uint64_t ns = rdo_clock_ns() - start;
        if (RDO_CHANCE(ns < *out_ns)) *out_ns = ns; /* the least is the one that nothing interrupted */
    }
    return RONDO_OK;
}

static rondo_status time_replay(probe *p, uint64_t nodes, uint64_t *out_ns) {
    p->nodes = nodes;
    RDO_TRY(rondo_capture_step(p->stream, issue, p, &p->graph));
    rondo_status status = time_step(p, replay, out_ns);
    rondo_graph_release(p->graph);
    return status;
}

static uint64_t difference_ps(uint64_t long_ns, uint64_t short_ns) {
    /* The shorter way may have taken longer where both are very short. */
    return RDO_CHANCE(long_ns > short_ns) ? (long_ns - short_ns) * 1000 : 0;
}

/* One sync is part of every step and cancels out. */
static rondo_status measure(probe *p, rdo_costs *out) {
    uint64_t eager_one, eager_many, replay_one, replay_many, nothing;
    p->nodes = 0;
    RDO_TRY(time_step(p, issue, &nothing));
    p->nodes = 1;
    RDO_TRY(time_step(p, issue, &eager_one));
    p->nodes = NODES;
    RDO_TRY(time_step(p, issue, &eager_many));
    RDO_TRY(time_replay(p, 1, &replay_one));
    RDO_TRY(time_replay(p, NODES, &replay_many));
    out->eager_node_ps = difference_ps(eager_many, eager_one) / (NODES - 1);
    out->replay_node_ps = difference_ps(replay_many, replay_one) / (NODES - 1);
    out->replay_ps = difference_ps(replay_one, nothing);
    out->known = true;
    return RONDO_OK;
}

/* The user may have released the device's own handle, so the stream is made without it. */
static rondo_status probe_device(rdo_device *device, const rdo_where *where, rdo_costs *out) {
    probe p = {.buffer = RONDO_NO_BUFFER};
    rdo_stream *stream;
    RDO_TRY(rdo_stream_new(&device->engine, where, false, &stream));
    p.stream = (rondo_stream *)(uintptr_t)stream->handle;
    rondo_status status = rondo_buffer_create(p.stream, 64, RONDO_USAGE_GENERAL, &p.buffer);
    if (status == RONDO_OK) status = measure(&p, out);
    rondo_buffer_release(p.buffer);
    rondo_stream_release(p.stream);
    return status;
}

rondo_status rdo_device_costs(rdo_device *device, const rdo_where *where, rdo_costs *out) {
    rdo_lock *lock = &device->engine.books.lock;
    rdo_lock_take(lock);
    *out = device->costs;
    rdo_lock_give(lock);
    if (out->known) return RONDO_OK;
    RDO_TRY(probe_device(device, where, out));
    rdo_lock_take(lock);
    /* If another thread was quicker, its answer is everybody's. */
    if (RDO_CHANCE(device->costs.known)) *out = device->costs;
    device->costs = *out;
    rdo_lock_give(lock);
    return RONDO_OK;
}

static uint64_t times(uint64_t ps, uint64_t nodes) {
    return (uint64_t)((double)ps * (double)nodes / 1000);
}

rondo_graph_worth rdo_costs_worth(const rdo_costs *costs, uint64_t nodes, uint64_t record_ns) {
    rondo_graph_worth worth = {.record_ns = record_ns, .eager_ns = times(costs->eager_node_ps, nodes)};
    uint64_t further = nodes > 1 ? nodes - 1 : 0;
    worth.replay_ns = costs->replay_ps / 1000 + times(costs->replay_node_ps, further);
    if (worth.eager_ns > worth.replay_ns) {
        uint64_t gain_ns = worth.eager_ns - worth.replay_ns;
        worth.pays_after = record_ns / gain_ns + (record_ns % gain_ns != 0 ? 1 : 0);
    } else {
        worth.pays_after = UINT64_MAX;
    }
    return worth;
}
