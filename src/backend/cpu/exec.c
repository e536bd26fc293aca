#include "parts.h"

#include <stdio.h>
#include "crew.h"

#define PS_PER_NS 1000u
#define GRANULE 64u              /* items that a call of a kernel without groups starts at a multiple of */
#define SHARE_PS 20000000u       /* a launch that takes less than 20 us alone is not worth sharing */
#define HAND_PS 10000000u        /* each further hand must find 10 us of work */
#define CHUNK_PS 2000000u        /* and a chunk should last 2 us */
#define CHUNKS_PER_HAND 8u
#define TRUST_NS 2000u           /* shorter times are mostly overhead: an upper bound of the cost, no measure */
#define TIMED_ITEMS 16384u       /* launches from here on are always timed, of the smaller ones one in ... */
#define TIMED_ONE_IN 64u
#define GUESS_ITEMS 65536u       /* never measured: shared from here on, */
#define GUESS_GROUPS 16u         /* or with so many groups and TIMED_ITEMS */
#define GUESS_ITEMS_A_NS 4u      /* and taken, in a plan, to do so many items in a nanosecond */
#define NODE_NS 20u              /* of a planned launch, what is not the kernel */

rondo_backend_result rdo_cpu_fail(rondo_backend_outcome *outcome, rondo_backend_result result, uint32_t reason,
                                  const char *message) {
    outcome->node = 0;
    outcome->reason = reason;
    snprintf(outcome->message, sizeof outcome->message, "%s", message);
    return result;
}

/* ---- launches ---- */

/* How long so many items take on one core; 0 if it was never measured. */
static uint64_t estimated_ps(const struct rdo_cpu_kernel *kernel, uint64_t items) {
    uint64_t item_ps = atomic_load_explicit(&kernel->item_ps, memory_order_relaxed);
    uint64_t ps;
    return __builtin_mul_overflow(item_ps, items, &ps) ? UINT64_MAX : ps;
}

static bool is_worth_sharing(const struct rdo_cpu_kernel *kernel, uint64_t items, uint64_t units, uint64_t ps) {
    if (ps != 0) {
        return ps >= SHARE_PS;
    }
    return items >= GUESS_ITEMS || (kernel->grouped && units >= GUESS_GROUPS && items >= TIMED_ITEMS);
}

/* Never 0. */
struct rdo_cpu_cost rdo_cpu_estimate_launch(const struct rdo_cpu_kernel *kernel, uint64_t items, uint64_t units) {
    uint64_t ps = estimated_ps(kernel, items);
    uint64_t ns = (ps != 0 ? ps / PS_PER_NS : items / GUESS_ITEMS_A_NS) + NODE_NS;
    return rdo_cpu_cost_of(ns, units > 1 && is_worth_sharing(kernel, items, units, ps));
}

/* The estimate falls faster than it rises: one launch that the system interrupted must not count for long. */
static void learn(struct rdo_cpu_kernel *kernel, uint64_t items, uint64_t ns) {
    if (items == 0 || ns > UINT64_MAX / PS_PER_NS) {
        return;
    }
    uint64_t sample = ns * PS_PER_NS / items;
    uint64_t old = atomic_load_explicit(&kernel->item_ps, memory_order_relaxed);
    sample = sample == 0 ? 1 : sample;
    if (old != 0 && sample > old) {
        sample = ns < TRUST_NS ? old : old + (sample - old + 3) / 4;
    } else if (old != 0 && ns >= TRUST_NS) {
        sample = sample + (old - sample) / 2;
    }
    if (sample == old) {
        return; /* what is not written stays in the caches of all who launch this kernel */
    }
    atomic_store_explicit(&kernel->item_ps, sample, memory_order_relaxed);
    uint64_t whole = SHARE_PS / sample;
    atomic_store_explicit(&kernel->small_items, whole < TIMED_ITEMS ? whole : TIMED_ITEMS, memory_order_relaxed);
}

static void run_timed(struct rdo_cpu_kernel *kernel, const rondo_native_call *call, uint64_t items) {
    uint64_t start = rdo_crew_now_ns();
    kernel->native(call);
    learn(kernel, items, rdo_crew_now_ns() - start);
}

static void run_part(void *context, uint64_t first, uint64_t last) {
    const struct rdo_cpu_launch *launch = context;
    rondo_native_call call = launch->call;
    call.first = first;
    call.last = last;
    launch->kernel->native(&call);
}

static uint64_t at_least(uint64_t value, uint64_t least) {
    return value < least ? least : value;
}

/* Chunks are long enough to be worth taking, short enough to spread, and of whole granules unless even one granule is
 * a heavy piece of work. */
static struct rdo_crew_job cut(struct rdo_cpu_launch *launch, uint64_t ps, uint32_t workers) {
    uint64_t units = launch->call.last;
    uint64_t unit_ps = ps / units;
    uint64_t granule = launch->kernel->grouped || unit_ps >= SHARE_PS / GRANULE ? 1 : GRANULE;
    uint64_t hands = ps == 0 ? workers : at_least(ps / HAND_PS, 2);
    hands = hands > workers ? workers : hands;
    uint64_t chunk = at_least(units / (hands * CHUNKS_PER_HAND), CHUNK_PS / at_least(unit_ps, 1));
    chunk = ps == 0 ? units / (hands * CHUNKS_PER_HAND) : chunk;
    chunk = at_least(chunk - chunk % granule, granule);
    return (struct rdo_crew_job){.fn = run_part,
                                 .context = launch,
                                 .count = units,
                                 .chunk = chunk,
                                 .max_hands = (uint32_t)hands,
                                 .alone_ns = ps / PS_PER_NS};
}

/* Whether the crew took it. */
static bool run_shared(struct rdo_cpu_device *device, struct rdo_cpu_launch *launch, uint64_t ps) {
    struct rdo_crew_job job = cut(launch, ps, device->workers);
    struct rdo_crew_share own;
    if (!rdo_crew_run(device->crew, &job, &own)) {
        return false;
    }
    learn(launch->kernel, launch->items / launch->call.last * own.units, own.ns);
    return true;
}

/* Shares the launch, or times it. */
static void run_large(struct rdo_cpu_queue *queue, struct rdo_cpu_launch *launch) {
    uint64_t ps = estimated_ps(launch->kernel, launch->items);
    bool is_worth = is_worth_sharing(launch->kernel, launch->items, launch->call.last, ps);
    if (queue->device->workers > 1 && is_worth && run_shared(queue->device, launch, ps)) {
        return;
    }
    run_timed(launch->kernel, &launch->call, launch->items);
}

/* A launch with a word of its own for failure. The first of a kernel, all that are large, and a few of the others are
 * worth a closer look. */
static inline rondo_backend_result run(struct rdo_cpu_queue *queue, struct rdo_cpu_kernel *kernel,
                                       const rondo_native_call *call, uint64_t items, rondo_backend_outcome *outcome) {
    uint64_t small_items = atomic_load_explicit(&kernel->small_items, memory_order_relaxed);
    if (call->last > 1 && (items >= small_items || ++queue->launches % TIMED_ONE_IN == 0)) {
        run_large(queue, &(struct rdo_cpu_launch){kernel, *call, items});
    } else {
        kernel->native(call);
    }
    uint32_t reason = __atomic_load_n(call->failed, __ATOMIC_RELAXED);
    return reason == 0 ? RONDO_BACKEND_DONE : rdo_cpu_fail(outcome, RONDO_BACKEND_FAILED, reason, "");
}

rondo_backend_result rdo_cpu_run_launch(struct rdo_cpu_queue *queue, const struct rdo_cpu_launch *launch,
                                        rondo_backend_outcome *outcome) {
    uint32_t failed = 0;
    rondo_native_call call = launch->call;
    call.failed = &failed;
    return run(queue, launch->kernel, &call, launch->items, outcome);
}

rondo_backend_result rdo_cpu_launch(void *queue, void *kernel, const rondo_grid *grid, void *const *args,
                                    rondo_backend_outcome *outcome) {
    uint32_t failed = 0;
    rondo_native_call call;
    rdo_cpu_prepare_call(kernel, grid, args, &call);
    call.failed = &failed;
    return run(queue, kernel, &call, rdo_cpu_items(grid), outcome);
}

static rondo_backend_result submit_launch(struct rdo_cpu_queue *queue, const rondo_backend_op *op,
                                          rondo_backend_outcome *outcome) {
    void *args[RONDO_MAX_PARAMS];
    if (op->arg_count > RONDO_MAX_PARAMS) {
        return rdo_cpu_fail(outcome, RONDO_BACKEND_NOT_RUN, 0, "a launch has too many arguments");
    }
    rdo_cpu_resolve_args(op, args);
    return rdo_cpu_launch(queue, op->kernel, &op->grid, args, outcome);
}

/* ---- everything ---- */

static rondo_backend_result submit_host(const rondo_backend_op *op, rondo_backend_outcome *outcome) {
    int reason = op->host_fn(op->host_user);
    return reason == 0 ? RONDO_BACKEND_DONE : rdo_cpu_fail(outcome, RONDO_BACKEND_FAILED, (uint32_t)reason, "");
}

rondo_backend_result rdo_cpu_submit(void *queue, const rondo_backend_op *op, rondo_backend_outcome *outcome) {
    switch (op->kind) {
    case RONDO_OP_LAUNCH:
        return submit_launch(queue, op, outcome);
    case RONDO_OP_FILL:
        return rdo_cpu_fill(queue, op, outcome);
    case RONDO_OP_COPY:
    case RONDO_OP_WRITE:
    case RONDO_OP_READ:
        rdo_cpu_move(queue, op);
        return RONDO_BACKEND_DONE;
    case RONDO_OP_HOST:
        return submit_host(op, outcome);
    }
    return rdo_cpu_fail(outcome, RONDO_BACKEND_NOT_RUN, 0, "the operation is of an unknown kind");
}
