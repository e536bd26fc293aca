/* A random life: graphs are made, replayed, lost and dropped between buffers that come and go, and nobody's bytes
 * change but by their own work. */
#include "capture_tools.h"

enum { GRAPHS = 6, BYSTANDERS = 40, STEPS = 400, HOPS_MAX = 6, OUT_BYTES = 256 };

/* A graph that carries OUT_BYTES from `in` to `out` over temporaries. Its user has let `in` go. */
struct carrier {
    rondo_graph *graph;
    rondo_buffer out;
    int32_t value; /* what `in` holds for ever */
};

struct bystander {
    rondo_buffer buffer;
    uint64_t size_bytes;
    int32_t value;
};

struct life {
    struct conform *t;
    struct rng rng;
    rondo_stream *streams[3];
    struct carrier carriers[GRAPHS];
    struct bystander bystanders[BYSTANDERS];
    int32_t next_value;
};

/* One recording: the sizes of its temporaries, and whether it goes wrong on the way. */
struct route {
    rondo_buffer in, out;
    uint64_t sizes[HOPS_MAX];
    size_t hops;
    bool all_at_once; /* the temporaries live together, else each goes as soon as it was read */
    bool goes_wrong;  /* refused at the end, where it records only */
};

static rondo_status hop(rondo_stream *stream, const struct route *r, rondo_buffer *buffers, size_t i) {
    rondo_span from = i == 0 ? rondo_whole(r->in) : rondo_slice(buffers[i - 1], r->sizes[i - 1] - OUT_BYTES, OUT_BYTES);
    rondo_status status = rondo_buffer_create(stream, r->sizes[i], RONDO_USAGE_GENERAL, &buffers[i]);
    if (!status) status = fill_i32(stream, rondo_whole(buffers[i]), -1, NULL);
    return status ? status
                  : rondo_copy(stream, rondo_slice(buffers[i], r->sizes[i] - OUT_BYTES, OUT_BYTES), from, NULL);
}

static rondo_status play_route(rondo_stream *stream, void *user) {
    const struct route *r = user;
    rondo_buffer buffers[HOPS_MAX] = {{0}};
    rondo_status status = RONDO_OK;
    for (size_t i = 0; i < r->hops && !status; i++) {
        status = hop(stream, r, buffers, i);
        if (i > 0 && !r->all_at_once) rondo_buffer_release(buffers[i - 1]);
    }
    size_t last = r->hops - 1;
    if (!status) {
        status = rondo_copy(stream, rondo_whole(r->out),
                            rondo_slice(buffers[last], r->sizes[last] - OUT_BYTES, OUT_BYTES), NULL);
    }
    for (size_t i = 0; i < r->hops; i++) rondo_buffer_release(buffers[i]);
    if (!status && r->goes_wrong && rondo_capture_phase(stream) == RONDO_PHASE_RECORDING) {
        status = fill_i32(stream, rondo_slice(r->out, OUT_BYTES, 4), 0, NULL);
    }
    return status;
}

static rondo_stream *any_stream(struct life *life) {
    return life->streams[rng_below(&life->rng, COUNT_OF(life->streams))];
}

static uint64_t any_size(struct life *life) {
    return OUT_BYTES + 4 * rng_below(&life->rng, (uint64_t)1 << rng_below(&life->rng, 17));
}

static void make_buffer(struct life *life, uint64_t size_bytes, int32_t value, rondo_buffer *out_buffer) {
    rondo_stream *stream = any_stream(life);
    CHECK_OK(rondo_buffer_create(stream, size_bytes, RONDO_USAGE_GENERAL, out_buffer));
    CHECK_OK(fill_i32(stream, rondo_whole(*out_buffer), value, NULL));
}

static void drop_carrier(struct carrier *carrier) {
    rondo_graph_release(carrier->graph);
    rondo_buffer_release(carrier->out);
    *carrier = (struct carrier){.graph = NULL};
}

static void make_carrier(struct life *life, struct carrier *carrier) {
    struct route route = {.hops = 1 + rng_below(&life->rng, HOPS_MAX),
                          .all_at_once = rng_below(&life->rng, 2) == 0,
                          .goes_wrong = rng_below(&life->rng, 4) == 0};
    for (size_t i = 0; i < route.hops; i++) route.sizes[i] = any_size(life);
    carrier->value = life->next_value++;
    make_buffer(life, OUT_BYTES, carrier->value, &route.in);
    make_buffer(life, OUT_BYTES, 0, &route.out);
    carrier->out = route.out;
    rondo_status status = rondo_capture_step(any_stream(life), play_route, &route, &carrier->graph);
    rondo_buffer_release(route.in);
    if (!route.goes_wrong) {
        CHECK_OK(status);
        return;
    }
    CHECK_CODE(status, RONDO_RANGE);
    CHECK_CODE(rondo_span_status(rondo_whole(route.out)), RONDO_TAINTED);
    drop_carrier(carrier);
}

static void replay_carrier(struct life *life, struct carrier *carrier) {
    CHECK_OK(fill_i32(any_stream(life), rondo_whole(carrier->out), 0, NULL));
    CHECK_OK(rondo_graph_replay(carrier->graph, any_stream(life)));
    conform_expect_all_i32(life->t, carrier->out, carrier->value, OUT_BYTES / 4);
}

static void check_bystander(struct life *life, const struct bystander *b) {
    if (b->buffer.id != 0) conform_expect_all_i32(life->t, b->buffer, b->value, b->size_bytes / 4);
}

static void turn_bystander(struct life *life, struct bystander *b) {
    check_bystander(life, b);
    rondo_buffer_release(b->buffer);
    *b = (struct bystander){.size_bytes = any_size(life), .value = life->next_value++};
    make_buffer(life, b->size_bytes, b->value, &b->buffer);
}

static void live_a_step(struct life *life) {
    struct carrier *carrier = &life->carriers[rng_below(&life->rng, GRAPHS)];
    uint64_t choice = rng_below(&life->rng, 16);
    if (choice == 0) CHECK_OK(rondo_device_trim(life->t->device, NULL));
    if (choice >= 1 && choice <= 7) turn_bystander(life, &life->bystanders[rng_below(&life->rng, BYSTANDERS)]);
    if (choice >= 8 && carrier->graph == NULL) {
        make_carrier(life, carrier);
    } else if (choice >= 8 && choice <= 9) {
        drop_carrier(carrier);
    } else if (choice >= 10) {
        replay_carrier(life, carrier);
    }
}

static void live(struct conform *t, uint64_t seed) {
    struct life *life = calloc(1, sizeof *life);
    CHECK(life != NULL);
    print_message("seed %" PRIu64 "\n", seed);
    *life = (struct life){.t = t, .rng = {seed}, .next_value = 1};
    for (size_t i = 0; i < COUNT_OF(life->streams); i++) life->streams[i] = conform_stream(t);
    for (int step = 0; step < STEPS; step++) {
        live_a_step(life);
        check_bystander(life, &life->bystanders[rng_below(&life->rng, BYSTANDERS)]);
    }
    for (size_t i = 0; i < BYSTANDERS; i++) check_bystander(life, &life->bystanders[i]);
    for (size_t i = 0; i < GRAPHS; i++) {
        if (life->carriers[i].graph != NULL) replay_carrier(life, &life->carriers[i]);
        drop_carrier(&life->carriers[i]);
    }
    for (size_t i = 0; i < BYSTANDERS; i++) {
        check_bystander(life, &life->bystanders[i]);
        rondo_buffer_release(life->bystanders[i].buffer);
    }
    CHECK_EQUAL(rondo_fault_live_count(), 0);
    free(life);
}

/* [P1, P2, P3] */
static void a_random_life_of_graphs_and_buffers_never_mixes_bytes(struct conform *t) {
    uint64_t seed = rng_first_seed();
    for (uint64_t i = 0; i < 12; i++) live(t, seed + i);
}

/* [P1, P2, P3] The same where all streams share a queue. */
static void a_random_life_on_one_queue_never_mixes_bytes(struct conform *t) {
    uint64_t seed = rng_first_seed();
    for (uint64_t i = 0; i < 12; i++) live(t, seed + i);
}

const struct conform_case conform_replay_life_cases[] = {
    CONFORM_CASE(a_random_life_of_graphs_and_buffers_never_mixes_bytes, NEEDS_NOTHING),
    CONFORM_CASE_ON(a_random_life_on_one_queue_never_mixes_bytes, NEEDS_NOTHING, &ONE_QUEUE),
    CONFORM_END,
};
