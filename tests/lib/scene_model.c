#include "scene_model.h"

#define FOR_ELEMENTS(range, i)                                                                     \
    for (uint32_t row_ = 0, i = (range)->at; row_ < (range)->rows; row_++, i = (range)->at + row_ * (range)->pitch) \
        for (uint32_t end_ = i + (range)->n; i < end_; i++)

static scene_range range_of(scene_cell *cell, uint32_t at, const scene_step *step) {
    return (scene_range){cell, at, step->n, step->rows, step->pitch};
}

size_t model_reads(const scene_step *step, scene_range out[3]) {
    size_t count = 0;
    if (step->kind == SCENE_SCALE) out[count++] = range_of(step->out, step->out_at, step);
    if (step->kind == SCENE_FAIL_IF) {
        out[count++] = (scene_range){step->in, 0, 1, 1, 0};
    } else if (step->in != NULL) {
        out[count++] = range_of(step->in, step->in_at, step);
    }
    if (step->in2 != NULL) out[count++] = range_of(step->in2, step->in_at, step);
    return count;
}

scene_range model_write(const scene_step *step) {
    return range_of(step->out, step->out_at, step);
}

bool model_reads_mark(const scene_step *step, scene_mark mark) {
    scene_range reads[3];
    size_t count = model_reads(step, reads);
    for (size_t r = 0; r < count; r++) {
        FOR_ELEMENTS(&reads[r], i) {
            if (reads[r].cell->mark[i] == mark) return true;
        }
    }
    return false;
}

void model_mark(const scene_step *step, scene_mark mark, uint16_t tag) {
    scene_range write = model_write(step);
    FOR_ELEMENTS(&write, i) {
        write.cell->mark[i] = (uint8_t)mark;
        write.cell->tag[i] = tag;
    }
    if (mark != SCENE_GOOD) write.cell->shaken = true;
}

void model_doubt(const scene_step *step) {
    scene_range write = model_write(step);
    write.cell->shaken = true;
    FOR_ELEMENTS(&write, i) {
        if (write.cell->mark[i] == SCENE_GOOD) write.cell->mark[i] = SCENE_MAYBE;
        if (write.cell->mark[i] == SCENE_FRESH) write.cell->mark[i] = SCENE_MURKY;
        if (write.cell->mark[i] == SCENE_BAD && write.cell->tag[i] != 0) write.cell->tag[i] = SCENE_ANY_TAG;
    }
}

void model_trust_reads(const scene_step *step) {
    scene_range reads[3];
    size_t count = model_reads(step, reads);
    for (size_t r = 0; r < count; r++) {
        FOR_ELEMENTS(&reads[r], i) {
            if (reads[r].cell->mark[i] == SCENE_MAYBE) reads[r].cell->mark[i] = SCENE_GOOD;
            if (reads[r].cell->mark[i] == SCENE_MURKY) reads[r].cell->mark[i] = SCENE_FRESH;
        }
    }
}

/* The value of the `k`-th element that the step writes, which lies at `out_i`, read from `in_i`. */
static int32_t value_of(const scene_step *step, uint32_t k, uint32_t out_i, uint32_t in_i) {
    uint32_t v = (uint32_t)step->value;
    switch (step->kind) {
    case SCENE_FILL:
    case SCENE_FAIL_IF: return step->value;
    case SCENE_WRITE: return (int32_t)(v + k);
    case SCENE_SCALE: return (int32_t)((uint32_t)step->out->value[out_i] * v);
    case SCENE_ADD: return (int32_t)((uint32_t)step->in->value[in_i] + (uint32_t)step->in2->value[in_i]);
    case SCENE_HOST: return (int32_t)((uint32_t)step->in->value[in_i] + v);
    default: return step->in->value[in_i];
    }
}

static void store(const scene_step *step, bool unknown) {
    scene_range write = model_write(step);
    uint32_t total = step->n * step->rows, k = 0;
    int32_t *values = malloc((total + 1) * sizeof *values);
    SCENE_CHECK(values != NULL, "the test itself has no memory");
    FOR_ELEMENTS(&write, i) {
        values[k] = value_of(step, k, i, i - step->out_at + step->in_at);
        k++;
    }
    k = 0;
    FOR_ELEMENTS(&write, i) {
        write.cell->value[i] = values[k++];
        write.cell->mark[i] = SCENE_GOOD;
        write.cell->tag[i] = 0;
        write.cell->unknown[i] = unknown;
    }
    free(values);
}

static bool reads_unknown(const scene_step *step) {
    scene_range reads[3];
    size_t count = model_reads(step, reads);
    for (size_t r = 0; r < count; r++) {
        FOR_ELEMENTS(&reads[r], i) {
            if (reads[r].cell->unknown[i]) return true;
        }
    }
    return false;
}

void model_apply(scene *s, const scene_step *step) {
    if (model_reads_mark(step, SCENE_BAD)) {
        model_mark(step, SCENE_BAD, 0);
        return;
    }
    if (step->kind == SCENE_FAIL_IF && step->in->value[0] != 0) {
        model_mark(step, SCENE_BAD, 0);
        s->kernel_failed = true;
        return;
    }
    bool unsure = model_reads_mark(step, SCENE_MAYBE), fresh = reads_unknown(step);
    bool murky = model_reads_mark(step, SCENE_MURKY);
    store(step, fresh);
    if (unsure) model_mark(step, SCENE_MAYBE, 0);
    if (fresh) model_mark(step, unsure ? SCENE_MURKY : SCENE_FRESH, 0);
    if (murky) model_mark(step, SCENE_MURKY, 0);
}

static bool writes_element(const scene_step *step, const scene_cell *cell, uint32_t at) {
    scene_range write = model_write(step);
    if (write.cell != cell) return false;
    FOR_ELEMENTS(&write, i) {
        if (i == at) return true;
    }
    return false;
}

static bool written_before(const scene_step *steps, size_t count, const scene_cell *cell, uint32_t at) {
    for (size_t k = 0; k < count; k++) {
        if (writes_element(&steps[k], cell, at)) return true;
    }
    return false;
}

bool model_standing_bad(const scene *s, const scene_step *step) {
    scene_range reads[3];
    size_t count = model_reads(step, reads);
    for (size_t r = 0; r < count; r++) {
        FOR_ELEMENTS(&reads[r], i) {
            if (reads[r].cell->mark[i] != SCENE_BAD) continue;
            if (!written_before(s->tape, s->tape_count, reads[r].cell, i)) return true;
        }
    }
    return false;
}

/* ---- replays ---- */

typedef struct live_in {
    bool bad;    /* some of it cannot be read */
    bool unsure; /* some of it may not be */
} live_in;

/* Calls `visit` for each element that the steps read before they write it [R2]. */
static void for_live_in(const scene_step *steps, size_t count, void (*visit)(void *user, scene_cell *cell, uint32_t at),
                        void *user) {
    scene_range reads[3];
    for (size_t k = 0; k < count; k++) {
        size_t ranges = model_reads(&steps[k], reads);
        for (size_t r = 0; r < ranges; r++) {
            FOR_ELEMENTS(&reads[r], i) {
                if (!written_before(steps, k, reads[r].cell, i)) visit(user, reads[r].cell, i);
            }
        }
    }
}

typedef struct look {
    live_in found;
    uint16_t index;
    const scene_step *steps;
    size_t count;
} look;

static void look_at(void *user, scene_cell *cell, uint32_t at) {
    look *l = user;
    bool bad = cell->mark[at] == SCENE_BAD;
    if (bad && cell->tag[at] != l->index && cell->tag[at] != SCENE_ANY_TAG) l->found.bad = true;
    if (cell->mark[at] == SCENE_MAYBE || cell->mark[at] == SCENE_MURKY) l->found.unsure = true;
    if (bad && cell->tag[at] == SCENE_ANY_TAG) l->found.unsure = true;
}

static void trust(void *user, scene_cell *cell, uint32_t at) {
    (void)user;
    cell->mark[at] = cell->unknown[at] ? SCENE_FRESH : SCENE_GOOD;
    cell->tag[at] = 0;
}

static void tag_intact(void *user, scene_cell *cell, uint32_t at) {
    const look *l = user;
    if (!written_before(l->steps, l->count, cell, at)) return; /* not written at all: not claimed either */
    cell->tag[at] = l->found.unsure ? SCENE_ANY_TAG : l->index;
}

static void mark_all(const scene_step *steps, size_t count, scene_mark mark) {
    for (size_t k = 0; k < count; k++) model_mark(&steps[k], mark, 0);
}

static void make_unsure(const scene_step *steps, size_t count) {
    for (size_t k = 0; k < count; k++) model_doubt(&steps[k]);
}

void model_replayed(scene *s, const scene_step *steps, size_t count, uint16_t index, rondo_status status, bool struck) {
    look l = {.index = index, .steps = steps, .count = count};
    for_live_in(steps, count, look_at, &l);
    if (status == RONDO_OK) {
        SCENE_CHECK(!l.found.bad, "a replay ran although bytes that it reads first are spoiled [R2]");
        for_live_in(steps, count, trust, NULL);
        for (size_t k = 0; k < count; k++) model_apply(s, &steps[k]);
        if (struck) make_unsure(steps, count);
        if (struck) s->kernel_failed = true;
        return;
    }
    mark_all(steps, count, SCENE_BAD);
    bool skipped = rondo_status_code(status) == RONDO_TAINTED;
    SCENE_CHECK(!skipped || l.found.bad || l.found.unsure || strike_count() != 0,
                "a replay was skipped although all that it reads is good");
    if (!skipped && !l.found.bad) for_live_in(steps, count, tag_intact, &l);
}

void model_not_appended(const scene_step *steps, size_t count) {
    look l = {.steps = steps, .count = count};
    for_live_in(steps, count, look_at, &l);
    l.found.unsure = true;
    mark_all(steps, count, SCENE_BAD);
    if (!l.found.bad) for_live_in(steps, count, tag_intact, &l);
}
