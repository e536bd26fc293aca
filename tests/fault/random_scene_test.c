/* Random users: seeded sequences of everything that a scene can do, in peace, with allocations that fail at random, and
 * with a backend that does. The model of the scene knows what every byte must be [P1] [P2] [E3]. */
#include "unit.h"

#include "doors.h"

enum { N = 12, CELLS = 8, GRAPHS = 5, STEPS = 70, MOST_OPS = 6, ROUNDS = 250 };

/* What a random user has: cells of N elements or more, a flag, and graphs. */
typedef struct user {
    scene s;
    scene_cell *cells[CELLS];
    scene_cell *flag;
    scene_graph *graphs[GRAPHS];
} user;

/* What fails at random. */
typedef enum weather { PEACE, NO_MEMORY, BACKEND, BACKEND_WITHOUT_GRAPHS } weather;

static const char *const devices[] = {"cpu", "cpu", "doors", "doors-no-graphs"};

/* One operation of a step, chosen once, issued as often as the step runs. Numbers are of cells, from CELLS on of
 * temporaries. */
typedef struct choice {
    uint32_t what, out, in, in2, at, n;
    int32_t value;
} choice;

typedef struct program {
    user *u;
    choice ops[MOST_OPS];
    size_t count;
    bool temporaries, writes; /* need a warm-up */
} program;

static rondo_stream *any_stream(user *u) {
    return random_below(2) == 0 ? u->s.a : u->s.b;
}

static choice choose(const program *p) {
    uint32_t all = p->temporaries ? CELLS + 2 : CELLS;
    choice c = {.what = (uint32_t)random_below(8), .out = (uint32_t)random_below(all)};
    do {
        c.in = (uint32_t)random_below(all);
    } while (c.in == c.out);
    do {
        c.in2 = (uint32_t)random_below(all);
    } while (c.in2 == c.out);
    c.at = (uint32_t)random_below(N / 2);
    c.n = 1 + (uint32_t)random_below(N / 2);
    c.value = 2 + (int32_t)random_below(1000);
    if (c.what == 7 && !p->writes) c.what = 0;
    return c;
}

static void issue(user *u, rondo_stream *stream, const choice *c, scene_cell *const *cells) {
    scene *s = &u->s;
    scene_cell *out = cells[c->out], *in = cells[c->in], *in2 = cells[c->in2];
    switch (c->what) {
    case 0: (void)scene_fill(s, stream, out, c->at, c->n, c->value); break;
    case 1: (void)scene_copy(s, stream, out, c->at, in, c->at / 2, c->n); break;
    case 2: (void)scene_do(s, stream, (scene_step){.kind = SCENE_SCALE, .out = out, .n = N, .value = c->value}); break;
    case 3: (void)scene_do(s, stream, (scene_step){.kind = SCENE_ADD, .out = out, .in = in, .in2 = in2, .n = N}); break;
    case 4:
        (void)scene_do(s, stream, (scene_step){.kind = SCENE_FAIL_IF, .out = out, .in = u->flag, .out_at = c->at,
                                               .n = c->n, .value = c->value});
        break;
    case 5:
        (void)scene_do(s, stream, (scene_step){.kind = SCENE_HOST, .out = out, .in = in, .out_at = c->at, .n = c->n,
                                               .value = c->value});
        break;
    case 6:
        (void)scene_do(s, stream,
                       (scene_step){.kind = SCENE_COPY_2D, .out = out, .in = in, .n = 2, .rows = 3, .pitch = 4});
        break;
    default: (void)scene_do(s, stream, (scene_step){.kind = SCENE_WRITE, .out = out, .n = N, .value = c->value}); break;
    }
}

static rondo_status run_program(rondo_stream *stream, void *context) {
    const program *p = context;
    user *u = p->u;
    scene_cell *cells[CELLS + 2];
    memcpy(cells, u->cells, sizeof u->cells);
    for (int i = 0; i < 2 && p->temporaries; i++) {
        cells[CELLS + i] = scene_buffer(&u->s, stream, N, RONDO_USAGE_GENERAL);
        (void)scene_fill(&u->s, stream, cells[CELLS + i], 0, N, 3 + i);
    }
    for (size_t i = 0; i < p->count; i++) issue(u, stream, &p->ops[i], cells);
    for (int i = 0; i < 2 && p->temporaries; i++) scene_drop(cells[CELLS + i]);
    return RONDO_OK;
}

static rondo_status step(rondo_stream *stream, void *context) {
    const program *p = context;
    scene_step_begins(&p->u->s, stream);
    return run_program(stream, context);
}

static program random_program(user *u, bool warm_up) {
    program p = {.u = u, .count = 1 + random_below(MOST_OPS)};
    p.temporaries = warm_up && random_below(2) == 0;
    p.writes = warm_up;
    for (size_t i = 0; i < p.count; i++) p.ops[i] = choose(&p);
    return p;
}

static void keep_graph(user *u, scene_graph *graph) {
    size_t at = random_below(GRAPHS);
    if (graph == NULL) return;
    if (u->graphs[at] != NULL && u->graphs[at]->graph != NULL) scene_drop_graph(u->graphs[at]);
    u->graphs[at] = graph;
}

/* Records without a warm-up, with work of another queue and nested replays in between. */
static void record(user *u) {
    rondo_stream *stream = any_stream(u), *other = stream == u->s.a ? u->s.b : u->s.a;
    program p = random_program(u, false);
    if (u->s.graph_count == SCENE_GRAPHS || !scene_prepare(&u->s, stream) || !scene_begin(&u->s, stream)) return;
    (void)run_program(stream, &p);
    if (random_below(2) == 0) (void)scene_replay(&u->s, stream, u->graphs[random_below(GRAPHS)]);
    if (random_below(2) == 0) {
        choice c = choose(&p);
        issue(u, other, &c, u->cells);
    }
    if (random_below(3) == 0) (void)run_program(stream, &p);
    if (random_below(6) == 0) {
        scene_abort(&u->s, stream);
    } else {
        keep_graph(u, scene_end(&u->s, stream));
    }
}

static void record_by_step(user *u) {
    program p = random_program(u, true);
    if (u->s.graph_count == SCENE_GRAPHS || u->s.cell_count + 8 > SCENE_CELLS) return;
    keep_graph(u, scene_capture_step(&u->s, any_stream(u), step, &p));
}

static void run_by_key(user *u) {
    program p = random_program(u, true);
    rondo_run_mode mode;
    if (u->s.cell_count + 14 > SCENE_CELLS) return;
    for (int i = 0; i < 3; i++) (void)scene_run(&u->s, u->s.a, 2, step, &p, &mode);
    (void)scene_note(&u->s, rondo_run_forget(u->s.a, 2));
}

static void renew_cell(user *u) {
    static const uint32_t counts[] = {N, N, 3 * N, 500, 3000};
    size_t at = random_below(CELLS);
    if (u->s.cell_count + 1 > SCENE_CELLS - 16) return;
    scene_drop(u->cells[at]);
    uint32_t count = counts[random_below(5)];
    u->cells[at] = scene_buffer(&u->s, any_stream(u), count, (rondo_usage)random_below(3));
    if (random_below(2) == 0) (void)scene_fill(&u->s, u->s.a, u->cells[at], 0, count, 5);
}

static void update(user *u) {
    scene_graph *g = u->graphs[random_below(GRAPHS)];
    if (g == NULL || g->graph == NULL || g->count == 0) return;
    size_t node = random_below(g->count);
    scene_cell *cell = u->cells[random_below(CELLS)];
    if (g->steps[node].kind != SCENE_SCALE) return;
    if (random_below(2) == 0) {
        (void)scene_update_value(&u->s, g, node, "k", (int32_t)random_below(99));
    } else if (cell->count == N && cell->buffer.id != 0) {
        (void)scene_update_buffer(&u->s, g, node, "x", cell);
    }
}

static void act(user *u) {
    program p = {.u = u, .writes = true};
    choice c = choose(&p);
    switch (random_below(16)) {
    case 0: record(u); break;
    case 1: record_by_step(u); break;
    case 2: run_by_key(u); break;
    case 3: renew_cell(u); break;
    case 4: (void)scene_fill(&u->s, u->s.a, u->flag, 0, 1, random_below(3) == 0); break;
    case 5: update(u); break;
    case 6: scene_read(&u->s, any_stream(u), u->cells[random_below(CELLS)]); break;
    case 7: (void)scene_note(&u->s, rondo_device_trim(u->s.device, NULL)); break;
    case 8:
    case 9:
    case 10: (void)scene_replay(&u->s, any_stream(u), u->graphs[random_below(GRAPHS)]); break;
    default: issue(u, any_stream(u), &c, u->cells); break;
    }
}

static void open_user(user *u, const char *device, const rondo_device_desc *desc) {
    *u = (user){0};
    strike_at(0, false);
    scene_open(&u->s, device, desc);
    u->s.tolerant = true;
    u->flag = scene_buffer(&u->s, u->s.a, 1, RONDO_USAGE_GENERAL);
    (void)scene_fill(&u->s, u->s.a, u->flag, 0, 1, 0);
    for (size_t i = 0; i < CELLS; i++) {
        u->cells[i] = scene_buffer(&u->s, i % 3 == 0 ? u->s.b : u->s.a, N, RONDO_USAGE_GENERAL);
        (void)scene_write(&u->s, u->s.a, u->cells[i], (int32_t)i * 100);
    }
}

/* The next request but a few fails. */
static void strike(weather what) {
    static const rondo_backend_result answers[] = {RONDO_BACKEND_NO_MEMORY, RONDO_BACKEND_NOT_RUN};
    if (what != NO_MEMORY) {
        shut = (door)(DOOR_PAGE_ALLOC + random_below(DOORS - DOOR_PAGE_ALLOC));
        answer = shut == DOOR_PAGE_ALLOC ? RONDO_BACKEND_DEVICE_FULL : answers[random_below(2)];
    }
    strike_again(1 + random_below(what == NO_MEMORY ? 12 : 4), random_below(3) == 0);
}

static void live(uint64_t seed, uint64_t round, weather what) {
    static user u;
    static const rondo_device_desc small = {
        .memory = {.small_page_bytes = 4096, .small_max_bytes = 256, .page_min_bytes = 4096, .page_max_bytes = 65536}};
    open_user(&u, devices[what], random_below(2) == 0 ? &small : NULL);
    for (int i = 0; i < STEPS; i++) {
        (void)snprintf(scene_context, sizeof scene_context, "seed %llu, round %llu, step %d, weather %d",
                       (unsigned long long)seed, (unsigned long long)round, i, (int)what);
        if (what != PEACE && random_below(5) == 0) strike(what);
        act(&u);
        (void)strike_end();
        if (i % 10 == 9) scene_verify(&u.s);
    }
    scene_verify(&u.s);
    scene_release(&u.s);
    strike_at(0, false);
    scene_close(&u.s);
}

static void live_many(weather what) {
    const char *given = getenv("RONDO_SEED");
    uint64_t seed = given != NULL ? strtoull(given, NULL, 0) : 0;
    seed_random();
    sweep_hook_cpu(what == NO_MEMORY);
    sweep_hook_alloc(what == NO_MEMORY);
    for (uint64_t round = 0; round < ROUNDS; round++) live(seed, round, what);
    sweep_hook_alloc(false);
}

/* [P1] [P2] [R4] */
static void in_peace_every_byte_is_what_the_model_says(void **state) {
    (void)state;
    live_many(PEACE);
}

/* [P1] [P2] [T8] [E3] */
static void with_failing_allocations_no_stale_byte_is_read(void **state) {
    (void)state;
    live_many(NO_MEMORY);
}

/* [P1] [P2] [T8] [R1] [R4] */
static void with_a_failing_backend_no_stale_byte_is_read(void **state) {
    (void)state;
    live_many(BACKEND);
}

/* [P1] [P2] [T8] [R1] [R4] */
static void with_a_failing_backend_without_graphs_no_stale_byte_is_read(void **state) {
    (void)state;
    live_many(BACKEND_WITHOUT_GRAPHS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_peace_every_byte_is_what_the_model_says),
        cmocka_unit_test(with_failing_allocations_no_stale_byte_is_read),
        cmocka_unit_test(with_a_failing_backend_no_stale_byte_is_read),
        cmocka_unit_test(with_a_failing_backend_without_graphs_no_stale_byte_is_read),
    };
    make_backends();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
