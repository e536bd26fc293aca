#include "scene_model.h"

static void empty_tape(scene *s) {
    s->tape_count = s->half_count = 0;
    s->doomed = false;
}

static void spoil_tape(scene *s) {
    for (size_t i = 0; i < s->half_count && !s->deferred; i++) model_doubt(&s->half[i]);
    for (size_t i = 0; i < s->tape_count && !s->deferred; i++) model_mark(&s->tape[i], SCENE_BAD, 0);
    empty_tape(s);
}

bool scene_prepare(scene *s, rondo_stream *stream) {
    empty_tape(s);
    return scene_note(s, rondo_capture_prepare(stream));
}

bool scene_begin(scene *s, rondo_stream *stream) {
    empty_tape(s);
    return scene_note(s, rondo_capture_begin(stream));
}

static void fill_graph(scene *s, scene_graph *g, rondo_graph *graph) {
    free(g->steps);
    *g = (scene_graph){.graph = graph, .count = s->tape_count, .index = ++s->last_index};
    g->steps = malloc(SCENE_STEPS * sizeof *g->steps);
    SCENE_CHECK(g->steps != NULL, "the test itself has no memory");
    memcpy(g->steps, s->tape, s->tape_count * sizeof *g->steps);
    empty_tape(s);
}

static scene_graph *sealed(scene *s, rondo_status status, rondo_graph *graph) {
    bool doomed = s->doomed;
    scene_trace("window ends: %s\n", rondo_code_name(rondo_status_code(status)));
    SCENE_CHECK((status == RONDO_OK) == (graph != NULL), "a refused window gives a graph, or a sealed one none");
    if (doomed && s->tolerant) {
        scene_expect(s, status, rondo_status_code(status));
    } else {
        (void)scene_note(s, status);
    }
    if (status != RONDO_OK) {
        spoil_tape(s);
        return NULL;
    }
    SCENE_CHECK(!doomed, "a window sealed although something in it failed [P2]");
    SCENE_CHECK(s->graph_count < SCENE_GRAPHS, "a scene has more graphs than it has room for");
    scene_graph *g = &s->graphs[s->graph_count++];
    g->steps = NULL;
    fill_graph(s, g, graph);
    return g;
}

scene_graph *scene_end(scene *s, rondo_stream *stream) {
    rondo_graph *graph = NULL;
    rondo_status status = rondo_capture_end(stream, RONDO_END_DEFAULT, &graph);
    return sealed(s, status, graph);
}

void scene_end_refused(scene *s, rondo_stream *stream, rondo_code code) {
    rondo_graph *graph = NULL;
    scene_expect(s, rondo_capture_end(stream, RONDO_END_DEFAULT, &graph), code);
    SCENE_CHECK(graph == NULL, "a window that must not seal gives a graph [P2]");
    spoil_tape(s);
}

void scene_spoil_window(scene *s) {
    spoil_tape(s);
}

void scene_abort(scene *s, rondo_stream *stream) {
    (void)scene_note(s, rondo_capture_abort(stream));
    scene_trace("window aborted\n");
    spoil_tape(s);
}

void scene_step_begins(scene *s, rondo_stream *stream) {
    (void)stream;
    empty_tape(s);
    s->strikes_seen = strike_count(); /* what struck before the step is told by the call around it */
}

scene_graph *scene_capture_step(scene *s, rondo_stream *stream, rondo_step_fn step, void *user) {
    rondo_graph *graph = NULL;
    empty_tape(s);
    rondo_status status = rondo_capture_step(stream, step, user, &graph);
    return sealed(s, status, graph);
}

static void append_graph(scene *s, const scene_graph *g, rondo_status status) {
    bool bad = false;
    for (size_t i = 0; i < g->count; i++) {
        bool unsure = model_reads_mark(&g->steps[i], SCENE_MAYBE) || model_reads_mark(&g->steps[i], SCENE_MURKY);
        bad = bad || unsure || model_standing_bad(s, &g->steps[i]);
    }
    if (status != RONDO_OK) {
        (void)(bad ? (scene_expect(s, status, rondo_status_code(status)), 0) : scene_note(s, status));
        s->doomed = true;
        if (!s->deferred) model_not_appended(g->steps, g->count);
        for (size_t i = 0; i < g->count && s->half_count < SCENE_STEPS; i++) s->half[s->half_count++] = g->steps[i];
        return;
    }
    for (size_t i = 0; i < g->count; i++) {
        SCENE_CHECK(s->tape_count < SCENE_STEPS, "a scene's window has more steps than it has room for");
        SCENE_CHECK(!model_standing_bad(s, &g->steps[i]), "appended although an input is spoiled [C15]");
        s->tape[s->tape_count++] = g->steps[i];
    }
}

/* Notes how a replay ended: nothing but a spoiled input lets it fail in peace, and the model knows of those. */
static bool replayed(scene *s, rondo_stream *stream, scene_graph *g, rondo_status status, uint64_t strikes_before) {
    bool skipped = rondo_status_code(status) == RONDO_TAINTED;
    scene_trace("replay of graph %u: %s\n", g->index, rondo_code_name(rondo_status_code(status)));
    for (size_t i = 0; i < g->count; i++) scene_trace_step(s, "  node", &g->steps[i], RONDO_OK);
    if (status == RONDO_OK && strikes_must_show && strike_count() != strikes_before) {
        /* A node could not run: the replay went on without it, and sync tells [W7]. */
        s->strikes_seen = strike_count();
        rondo_status told = rondo_stream_sync(stream);
        SCENE_CHECK(told != RONDO_OK, "a node could not run and nobody was told");
        s->failures++;
    }
    if (skipped) {
        scene_expect(s, status, RONDO_TAINTED);
    } else {
        (void)scene_note(s, status);
    }
    model_replayed(s, g->steps, g->count, g->index, status, strike_count() != strikes_before);
    return status == RONDO_OK;
}

bool scene_replay(scene *s, rondo_stream *stream, scene_graph *g) {
    if (g == NULL || g->graph == NULL) return false;
    uint64_t before = strike_count();
    bool recording = rondo_capture_phase(stream) == RONDO_PHASE_RECORDING;
    rondo_status status = rondo_graph_replay(g->graph, stream);
    if (recording) scene_trace("append of graph %u: %s\n", g->index, rondo_code_name(rondo_status_code(status)));
    if (!recording) return replayed(s, stream, g, status, before);
    append_graph(s, g, status);
    return status == RONDO_OK;
}

bool scene_run(scene *s, rondo_stream *stream, uint64_t key, rondo_step_fn step, void *user,
               rondo_run_mode *out_mode) {
    const rondo_run_mode none = (rondo_run_mode)99;
    rondo_run_info info = {.last_mode = none};
    scene_graph *g = &s->runs[key];
    uint64_t before = strike_count();
    empty_tape(s);
    s->deferred = true;
    rondo_status status = rondo_run(stream, key, step, user, &info);
    s->deferred = false;
    *out_mode = info.last_mode;
    scene_trace("run in mode %d: %s\n", (int)info.last_mode, rondo_code_name(rondo_status_code(status)));
    if (info.last_mode == RONDO_RUN_CAPTURED) {
        SCENE_CHECK(!s->doomed, "a window sealed although something in it failed [P2]");
        fill_graph(s, g, NULL);
    }
    if (info.last_mode == RONDO_RUN_CAPTURED || info.last_mode == RONDO_RUN_REPLAYED) {
        return replayed(s, stream, g, status, before);
    }
    empty_tape(s);
    if (info.last_mode == RONDO_RUN_FALLBACK) {
        SCENE_CHECK(strike_count() != 0 || s->tolerant, "it fell back in peace");
        SCENE_CHECK(info.fallback_reason != RONDO_OK, "it fell back and does not say why [C21]");
        s->strikes_seen = strike_count();
        s->failures++;
    }
    return scene_note(s, status);
}

/* ---- updates ---- */

bool scene_update_value(scene *s, scene_graph *g, size_t node, const char *param, int32_t value) {
    if (g == NULL || g->graph == NULL) return false;
    rondo_update update = rondo_update_value(node, param, &value, sizeof value);
    if (!scene_note(s, rondo_graph_update(g->graph, &update, 1))) return false;
    g->steps[node].value = value;
    return true;
}

static void put_cell(scene_step *step, const char *param, scene_cell *cell) {
    if (strcmp(param, "a") == 0) {
        step->in = cell;
    } else if (strcmp(param, "b") == 0) {
        step->in2 = cell;
    } else if (strcmp(param, "flag") == 0) {
        step->in = cell;
    } else {
        step->out = cell;
    }
}

bool scene_update_buffer(scene *s, scene_graph *g, size_t node, const char *param, scene_cell *cell) {
    if (g == NULL || g->graph == NULL) return false;
    rondo_update update = rondo_update_span(node, param, rondo_whole(cell->buffer));
    if (!scene_note(s, rondo_graph_update(g->graph, &update, 1))) return false;
    put_cell(&g->steps[node], param, cell);
    return true;
}
