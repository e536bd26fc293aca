/* Whether graphs record their launches in command buffers of the driver or enqueue them one by one. Recording is no
 * gain by itself: a driver may take longer for it, and some do it wrongly. So a small graph is replayed both ways
 * before the first real one is built, looked at, and timed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "graph.h"

enum { NODES = 64, ROUNDS = 25, KNOWN = 64 };

/* Each launch counts only in its place, with its own number. */
static const char text[] = "__kernel void rondo_probe(__global uint *target, uint k) {\n"
                           "    target[0] = target[0] * 3u + k;\n"
                           "}\n";
static const rondo_param params[] = {{"target", RONDO_PARAM_INOUT, sizeof(uint32_t), sizeof(uint32_t), false},
                                     {"k", RONDO_PARAM_VALUE, sizeof(uint32_t), sizeof(uint32_t), false}};

struct probe {
    struct rdo_ocl_device *device;
    void *kernel, *queue, *page;
    struct rdo_ocl_graph *recorded, *enqueued;
    uint32_t k[NODES];
    const void *values[NODES][2];
    rondo_place target;
};

/* ---- a graph to try ---- */

static void get_node(const void *recording, uint64_t node, rondo_place *places, rondo_backend_op *out_op) {
    const struct probe *p = recording;
    places[0] = p->target;
    *out_op = (rondo_backend_op){.kind = RONDO_OP_LAUNCH, .kernel = p->kernel, .grid = rondo_grid_1d(1),
                                 .arg_count = 2, .places = places, .values = p->values[node]};
}

static void describe(struct probe *p) {
    p->target = (rondo_place){p->page, 0};
    for (uint32_t i = 0; i < NODES; i++) {
        p->k[i] = i + 1;
        p->values[i][1] = &p->k[i];
    }
}

static bool is_recorded(const struct rdo_ocl_graph *graph) {
    return graph->stretch_count == 1 && graph->stretches[0].recorded != NULL;
}

static bool set_up(struct probe *p) {
    const rondo_backend_nodes nodes = {NODES, (uint64_t)NODES * 2, p, get_node};
    const rondo_kernel_desc desc = {.name = "rondo_probe", .params = params, .param_count = 2, .source = text};
    rondo_backend_outcome outcome;
    if (rdo_ocl_kernel_load(p->device, &desc, &p->kernel, &outcome) != RONDO_BACKEND_DONE ||
        rdo_ocl_queue_open(p->device, 0, &p->queue) != RONDO_BACKEND_DONE ||
        rdo_ocl_page_alloc(p->device, RONDO_PAGE_DEVICE, sizeof(uint32_t), &p->page) != RONDO_BACKEND_DONE) {
        return false;
    }
    describe(p);
    return rdo_ocl_graph_make(p->device, &nodes, true, &p->recorded) == RONDO_BACKEND_DONE &&
           rdo_ocl_graph_make(p->device, &nodes, false, &p->enqueued) == RONDO_BACKEND_DONE;
}

/* Where a wait failed, something may still run: the second wait is all that can be done about it. */
static void tear_down(struct probe *p) {
    if (p->queue != NULL) {
        (void)rdo_ocl.clFinish(((struct rdo_ocl_queue *)p->queue)->queue);
    }
    rdo_ocl_graph_free(p->device, p->recorded);
    rdo_ocl_graph_free(p->device, p->enqueued);
    if (p->page != NULL) {
        rdo_ocl_page_free(p->device, RONDO_PAGE_DEVICE, p->page, sizeof(uint32_t));
    }
    if (p->queue != NULL) {
        rdo_ocl_queue_close(p->queue);
    }
    if (p->kernel != NULL) {
        rdo_ocl_kernel_unload(p->device, p->kernel);
    }
}

/* ---- looking ---- */

static bool replay(const struct probe *p, struct rdo_ocl_graph *graph) {
    rondo_backend_outcome outcome;
    return rdo_ocl_graph_submit(p->queue, graph, 0, NODES, &outcome) == RONDO_BACKEND_DONE;
}

static bool replays_rightly(const struct probe *p) {
    const uint32_t begin = 1;
    uint32_t expected = begin, seen = 0;
    rondo_backend_outcome outcome;
    for (uint32_t i = 0; i < NODES; i++) {
        expected = expected * 3 + p->k[i];
    }
    return rdo_ocl_put(p->queue, p->target, &begin, sizeof begin, &outcome) == RONDO_BACKEND_DONE &&
           replay(p, p->recorded) &&
           rdo_ocl_get(p->queue, &seen, p->target, sizeof seen, &outcome) == RONDO_BACKEND_DONE &&
           seen == expected && is_recorded(p->recorded);
}

/* Twice, since a recording is there to be enqueued again, and with a value changed before the third and fourth time. */
static bool passes(struct probe *p) {
    bool right = is_recorded(p->recorded);
    for (uint32_t time = 0; time < 4 && right; time++) {
        p->k[NODES / 2] += time == 2;
        right = replays_rightly(p);
    }
    return right;
}

/* ---- timing ---- */

static int compare(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* By a tenth at least. To record a launch takes as long as to enqueue it a few times, and so does a new value: that has
 * to be worth it. And where both ways are as good, a device shall not have one in this process and the other in the
 * next. */
static bool is_clearly_less(uint64_t a_ns, uint64_t b_ns) {
    return a_ns < b_ns / 10 * 9;
}

static bool time_replay(const struct probe *p, struct rdo_ocl_graph *graph, uint64_t *out_ns) {
    uint64_t begin_ns = rdo_ocl_hooks.clock_ns();
    bool done = replay(p, graph);
    *out_ns = rdo_ocl_hooks.clock_ns() - begin_ns;
    return done;
}

/* In turns, so that a machine that is busy for a moment is so for both. On one that is always busy the middle round is
 * a matter of luck, and so the best round has to say the same. */
static bool recording_is_faster(const struct probe *p) {
    uint64_t recorded_ns[ROUNDS], enqueued_ns[ROUNDS];
    if (!replay(p, p->enqueued)) { /* the first of all is slower */
        return false;
    }
    for (uint32_t round = 0; round < ROUNDS; round++) {
        if (!time_replay(p, p->recorded, &recorded_ns[round]) || !time_replay(p, p->enqueued, &enqueued_ns[round])) {
            return false;
        }
    }
    qsort(recorded_ns, ROUNDS, sizeof *recorded_ns, compare);
    qsort(enqueued_ns, ROUNDS, sizeof *enqueued_ns, compare);
    return is_clearly_less(recorded_ns[0], enqueued_ns[0]) &&
           is_clearly_less(recorded_ns[ROUNDS / 2], enqueued_ns[ROUNDS / 2]);
}

static enum rdo_ocl_way try_out(struct rdo_ocl_device *device, bool asked) {
    struct probe probe;
    memset(&probe, 0, sizeof probe);
    probe.device = device;
    enum rdo_ocl_way way = RDO_OCL_BAD_BUFFERS;
    if (set_up(&probe) && passes(&probe)) {
        way = asked ? RDO_OCL_RECORDED_ASKED : recording_is_faster(&probe) ? RDO_OCL_RECORDED : RDO_OCL_ENQUEUED;
    }
    tear_down(&probe);
    return way;
}

/* ---- what was found ---- */

/* For the life of the process: its devices do not change, and a device may be opened often. */
static struct {
    pthread_mutex_t lock;
    uint32_t count;
    ocl_device id[KNOWN];
    enum rdo_ocl_way way[KNOWN];
} known = {.lock = PTHREAD_MUTEX_INITIALIZER};

static enum rdo_ocl_way measured(struct rdo_ocl_device *device) {
    uint32_t at = 0;
    pthread_mutex_lock(&known.lock);
    while (at < known.count && known.id[at] != device->id) {
        at++;
    }
    enum rdo_ocl_way way = at < known.count ? known.way[at] : try_out(device, false);
    if (at == known.count && known.count < KNOWN) {
        known.id[at] = device->id;
        known.way[at] = way;
        known.count++;
    }
    pthread_mutex_unlock(&known.lock);
    return way;
}

void rdo_ocl_forget_ways(void) {
    pthread_mutex_lock(&known.lock);
    known.count = 0;
    pthread_mutex_unlock(&known.lock);
}

bool rdo_ocl_read_wish(enum rdo_ocl_way *out_way) {
    const char *wish = getenv(RDO_OCL_GRAPHS);
    *out_way = RDO_OCL_NOT_CHOSEN;
    if (wish == NULL || wish[0] == '\0' || strcmp(wish, "measure") == 0) {
        return true;
    }
    *out_way = strcmp(wish, "enqueue") == 0 ? RDO_OCL_ENQUEUED_ASKED : RDO_OCL_NOT_TESTED;
    return *out_way == RDO_OCL_ENQUEUED_ASKED || strcmp(wish, "command-buffer") == 0;
}

bool rdo_ocl_records(struct rdo_ocl_device *device) {
    pthread_mutex_lock(&device->way_lock);
    bool measures = device->way == RDO_OCL_NOT_CHOSEN;
    if (measures || device->way == RDO_OCL_NOT_TESTED) {
        device->way = !device->has_recording ? RDO_OCL_NO_BUFFERS
                      : measures             ? measured(device)
                                             : try_out(device, true);
    }
    bool records = device->way == RDO_OCL_RECORDED || device->way == RDO_OCL_RECORDED_ASKED;
    pthread_mutex_unlock(&device->way_lock);
    return records;
}

static const char *words_of(enum rdo_ocl_way way) {
    switch (way) {
    case RDO_OCL_NOT_CHOSEN: return "chosen when the first graph is built";
    case RDO_OCL_NOT_TESTED: return "command buffers, if they pass a test when the first graph is built";
    case RDO_OCL_RECORDED: return "native: command buffers, measured to be faster";
    case RDO_OCL_RECORDED_ASKED: return "native: command buffers, as " RDO_OCL_GRAPHS " says";
    case RDO_OCL_ENQUEUED: return "replayed: enqueued one by one, measured to be no slower than command buffers";
    case RDO_OCL_ENQUEUED_ASKED: return "replayed: enqueued one by one, as " RDO_OCL_GRAPHS " says";
    case RDO_OCL_NO_BUFFERS: return "replayed: enqueued one by one, the driver has no command buffers";
    default: return "replayed: enqueued one by one, the driver's command buffers fail a test";
    }
}

void rdo_ocl_describe_way(struct rdo_ocl_device *device, char *room, size_t size_bytes) {
    pthread_mutex_lock(&device->way_lock);
    bool changes = device->has_changes && device->way == RDO_OCL_RECORDED;
    snprintf(room, size_bytes, "%s%s", words_of(device->way), changes ? ", changed in place" : "");
    pthread_mutex_unlock(&device->way_lock);
}
