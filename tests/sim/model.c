#include "model.h"

#include <stdlib.h>
#include <string.h>

static void *must(void *pointer) {
    if (pointer == NULL) abort(); /* the test itself has no memory */
    return pointer;
}

void model_init(model *m) {
    memset(m, 0, sizeof *m);
    (void)model_new_failure(m, RONDO_CODE_OK);
}

static void drop_ops(model_ops *ops) {
    for (size_t i = 0; i < ops->count; i++) {
        for (uint32_t a = 0; a < ops->data[i].access_count; a++) model_cell_unref(ops->data[i].accesses[a].cell);
    }
    free(ops->data);
    *ops = (model_ops){0};
}

void model_finish(model *m) {
    for (int q = 0; q < MODEL_QUEUES; q++) drop_ops(&m->queues[q].ops);
    free(m->failures);
}

uint32_t model_new_failure(model *m, rondo_code code) {
    if (m->failure_count == m->failure_capacity) {
        m->failure_capacity = m->failure_capacity * 2 + 64;
        m->failures = must(realloc(m->failures, m->failure_capacity * sizeof *m->failures));
    }
    m->failures[m->failure_count] = (model_failure){code, 0};
    return (uint32_t)m->failure_count++;
}

static model_verdict ok(void) {
    return (model_verdict){RONDO_CODE_OK, 0};
}

static model_verdict verdict(rondo_code code, uint32_t failure) {
    return (model_verdict){code, failure};
}

/* A refusal whose story nobody meets again. */
static model_verdict refused(rondo_code code) {
    return (model_verdict){code, 0};
}

/* ---- what the backend does ---- */

bool model_strikes(model *m, rondo_sim_call call) {
    if (!m->armed || m->rule.call != call) return false;
    m->rule_seen++;
    bool strikes = m->rule_seen >= m->rule.nth && (m->rule.count == 0 || m->rule_seen - m->rule.nth < m->rule.count);
    m->struck += strikes;
    return strikes;
}

rondo_code model_backend_code(rondo_backend_result result) {
    switch (result) {
    case RONDO_BACKEND_DONE: return RONDO_CODE_OK;
    case RONDO_BACKEND_FAILED: return RONDO_KERNEL;
    case RONDO_BACKEND_NO_MEMORY: return RONDO_NO_HOST_MEMORY;
    case RONDO_BACKEND_DEVICE_FULL: return RONDO_NO_DEVICE_MEMORY;
    case RONDO_BACKEND_TOO_BIG: return RONDO_RANGE;
    case RONDO_BACKEND_NO_SUPPORT: return RONDO_UNSUPPORTED;
    case RONDO_BACKEND_DEVICE_LOST: return RONDO_LOST;
    default: return RONDO_BACKEND;
    }
}

/* ---- bytes ---- */

model_cell *model_cell_new(model *m, uint32_t size, bool host, bool written) {
    model_cell *cell = must(calloc(1, sizeof *cell));
    *cell = (model_cell){.size = size, .refs = 1, .alive = true, .host = host};
    cell->bytes = must(calloc(size + 1u, sizeof *cell->bytes));
    uint32_t fresh = m->debug_fresh && !written && size != 0 ? model_new_failure(m, RONDO_FRESH) : 0;
    for (uint32_t i = 0; i < size; i++) {
        cell->bytes[i].known = written || host; /* host blocks are zeroed */
        cell->bytes[i].failure = fresh;
    }
    return cell;
}

void model_cell_unref(model_cell *cell) {
    if (--cell->refs != 0) return;
    free(cell->bytes);
    free(cell);
}

static uint32_t total(const model_access *access) {
    return access->row_bytes * access->rows;
}

/* The k-th byte of an access, rows one after the other. */
static model_byte *byte_at(const model_access *access, uint32_t k) {
    return &access->cell->bytes[access->low + k / access->row_bytes * access->pitch + k % access->row_bytes];
}

static bool reads(const model_access *access) {
    return (access->mode & RONDO_READS) != 0;
}

static bool writes(const model_access *access) {
    return (access->mode & RONDO_WRITES) != 0;
}

static uint32_t high(const model_access *access) {
    return access->row_bytes == 0 || access->rows == 0
               ? access->low
               : access->low + (access->rows - 1) * access->pitch + access->row_bytes;
}

bool model_overlap(const model_access *a, const model_access *b) {
    if (a->cell != b->cell) return false;
    for (uint32_t i = 0; i < a->rows && a->row_bytes != 0; i++) {
        for (uint32_t j = 0; j < b->rows && b->row_bytes != 0; j++) {
            uint32_t low = a->low + i * a->pitch, other = b->low + j * b->pitch;
            if (low < other + b->row_bytes && other < low + a->row_bytes) return true;
        }
    }
    return false;
}

/* The failure that claims the lowest claimed byte, 0 if none is claimed. Bytes that the graph `but` left as they were
 * (0: none) do not count. */
static uint32_t claimed_by(const model_access *access, uint16_t but) {
    for (uint32_t k = 0; k < total(access); k++) {
        const model_byte *byte = byte_at(access, k);
        if (byte->failure != 0 && (but == 0 || byte->intact != but)) return byte->failure;
    }
    return 0;
}

static uint32_t claimed_input(const model_op *op, uint16_t but) {
    for (uint32_t a = 0; a < op->access_count; a++) {
        uint32_t failure = reads(&op->accesses[a]) ? claimed_by(&op->accesses[a], but) : 0;
        if (failure != 0) return failure;
    }
    return 0;
}

static void claim_access(const model_access *access, uint32_t failure) {
    for (uint32_t k = 0; k < total(access); k++) {
        byte_at(access, k)->failure = failure;
        byte_at(access, k)->intact = 0;
    }
}

static void claim_writes(const model_op *op, uint32_t failure) {
    for (uint32_t a = 0; a < op->access_count; a++) {
        if (writes(&op->accesses[a])) claim_access(&op->accesses[a], failure);
    }
}

/* ---- running ---- */

uint32_t model_written_access(const model_op *op) {
    switch (op->kind) {
    case MODEL_MIX:
    case MODEL_FAIL_IF:
    case MODEL_NEXT: return 1;
    case MODEL_ADD: return 2;
    case MODEL_HOST: return op->access_count - 1;
    default: return 0;
    }
}

bool model_op_is_launch(const model_op *op) {
    return op->kind >= MODEL_MIX && op->kind <= MODEL_NEXT;
}

static bool is_event(const model_op *op) {
    return op->kind == MODEL_EVENT_RECORD || op->kind == MODEL_EVENT_WAIT;
}

/* [W5] */
static bool is_nothing(const model_op *op) {
    return !is_event(op) && op->kind != MODEL_HOST && total(&op->accesses[model_written_access(op)]) == 0;
}

static uint8_t in(const model_op *op, uint32_t access, uint32_t k, bool *known) {
    const model_byte *byte = byte_at(&op->accesses[access], k);
    *known = *known && byte->known;
    return byte->value;
}

static uint8_t compute(const model_op *op, uint32_t k, bool *known) {
    uint8_t v = (uint8_t)op->value, i = (uint8_t)k;
    switch (op->kind) {
    case MODEL_FILL: return op->pattern[k % op->pattern_bytes];
    case MODEL_WRITE: return (uint8_t)(v + 7 * i);
    case MODEL_MIX: return (uint8_t)(3 * in(op, 0, k, known) + v + i);
    case MODEL_BUMP: return (uint8_t)(in(op, 0, k, known) + v);
    case MODEL_ADD: return (uint8_t)(in(op, 0, k, known) + in(op, 1, k, known));
    case MODEL_FAIL_IF: return v ^ i;
    case MODEL_NEXT: return (uint8_t)(in(op, 0, k, known) + 1);
    case MODEL_HOST: return in(op, 0, k, known) ^ v;
    default: return in(op, 1, k, known);
    }
}

static bool fails_by_itself(const model *m, const model_op *op) {
    if (op->kind == MODEL_HOST) return op->may_fail && m->host_fails;
    bool set = false;
    for (uint32_t k = 0; op->kind == MODEL_FAIL_IF && k < total(&op->accesses[0]); k++) {
        set = set || byte_at(&op->accesses[0], k)->value != 0;
    }
    return set;
}

/* Rule 2: the work is done, its outputs are good. */
static void run(const model_op *op) {
    const model_access *out = &op->accesses[model_written_access(op)];
    uint32_t count = total(out);
    uint8_t *values = must(malloc(2u * count + 1));
    for (uint32_t k = 0; k < count; k++) {
        bool known = true;
        values[k] = compute(op, k, &known);
        values[count + k] = known;
    }
    for (uint32_t k = 0; k < count; k++) {
        *byte_at(out, k) = (model_byte){.value = values[k], .known = values[count + k] != 0};
    }
    free(values);
}

static void note_failure(model *m, uint32_t stream, model_verdict verdict) {
    model_stream *s = &m->streams[stream];
    if (s->first_failure != 0) return;
    s->first_failure = verdict.failure;
    s->first_code = verdict.code;
}

void model_told_late(model *m, uint32_t stream, model_verdict verdict) {
    if (verdict.code != RONDO_CODE_OK) note_failure(m, stream, verdict);
}

/* The work ran and reported failure [W7]: what it left is anybody's guess, and claimed. */
static uint32_t fail_running(model *m, uint32_t stream, const model_op *op, rondo_code code) {
    uint32_t failure = model_new_failure(m, code);
    for (uint32_t a = 0; a < op->access_count; a++) {
        for (uint32_t k = 0; writes(&op->accesses[a]) && k < total(&op->accesses[a]); k++) {
            byte_at(&op->accesses[a], k)->known = false;
        }
    }
    claim_writes(op, failure);
    note_failure(m, stream, (model_verdict){code, failure});
    return failure;
}

/* ---- rules 1 and 2: playing ---- */

static bool meets_map(const model *m, const model_op *op) {
    for (size_t i = 0; i < m->map_count; i++) {
        const model_map *map = &m->maps[i];
        for (uint32_t a = 0; a < op->access_count; a++) {
            const model_access *access = &op->accesses[a];
            if (access->cell != map->cell || access->row_bytes == 0 || access->rows == 0) continue;
            bool conflict = map->writes || writes(access);
            if (conflict && access->low < map->low + map->size && map->low < high(access)) return true;
        }
    }
    return false;
}

static model_verdict play(model *m, uint32_t stream, const model_op *op) {
    if (meets_map(m, op)) {
        uint32_t failure = model_new_failure(m, RONDO_BUSY);
        claim_writes(op, failure);
        return verdict(RONDO_BUSY, failure);
    }
    uint32_t input = claimed_input(op, 0);
    if (input != 0) {
        claim_writes(op, input);
        return verdict(RONDO_TAINTED, input);
    }
    if (model_strikes(m, RONDO_SIM_SUBMIT)) {
        rondo_code code = model_backend_code(m->rule.result);
        if (code == RONDO_KERNEL) {
            (void)fail_running(m, stream, op, code);
            return ok();
        }
        uint32_t failure = model_new_failure(m, code);
        claim_writes(op, failure);
        return verdict(code, failure);
    }
    if (fails_by_itself(m, op)) {
        (void)fail_running(m, stream, op, RONDO_KERNEL);
    } else {
        run(op);
    }
    return ok();
}

/* ---- rule 3: keeping ---- */

static bool owns_recording(const model *m, uint32_t stream) {
    const model_queue *queue = &m->queues[m->streams[stream].queue];
    return queue->phase == RONDO_PHASE_RECORDING && queue->owner == stream;
}

static void doom(model_queue *queue, uint32_t failure) {
    if (queue->doomed == 0) queue->doomed = failure;
}

/* Marks with a new stamp all that the ops write. */
static void stamp_writes(model *m, const model_ops *ops) {
    m->stamp++;
    for (size_t i = 0; i < ops->count; i++) {
        for (uint32_t a = 0; a < ops->data[i].access_count; a++) {
            const model_access *access = &ops->data[i].accesses[a];
            for (uint32_t k = 0; writes(access) && k < total(access); k++) byte_at(access, k)->stamp = m->stamp;
        }
    }
}

/* [C15] */
static uint32_t standing_claim(model *m, const model_queue *queue, const model_op *op) {
    if (claimed_input(op, 0) == 0) return 0;
    stamp_writes(m, &queue->ops);
    for (uint32_t a = 0; a < op->access_count; a++) {
        const model_access *access = &op->accesses[a];
        for (uint32_t k = 0; reads(access) && k < total(access); k++) {
            const model_byte *byte = byte_at(access, k);
            if (byte->failure != 0 && byte->stamp != m->stamp) return byte->failure;
        }
    }
    return 0;
}

bool model_reads_own_fresh(model *m, uint32_t stream, const model_op *op) {
    const model_queue *queue = &m->queues[m->streams[stream].queue];
    if (!owns_recording(m, stream)) return false;
    stamp_writes(m, &queue->ops);
    for (uint32_t a = 0; a < op->access_count; a++) {
        const model_access *access = &op->accesses[a];
        if (access->cell->window != queue->window || !reads(access)) continue;
        for (uint32_t k = 0; k < total(access); k++) {
            if (byte_at(access, k)->stamp != m->stamp) return true;
        }
    }
    return false;
}

static void push(model_ops *ops, const model_op *op) {
    if (ops->count == ops->capacity) {
        ops->capacity = ops->capacity * 2 + 8;
        ops->data = must(realloc(ops->data, ops->capacity * sizeof *ops->data));
    }
    ops->data[ops->count++] = *op;
    for (uint32_t a = 0; a < op->access_count; a++) op->accesses[a].cell->refs++;
}

static model_verdict keep(model *m, model_queue *queue, const model_op *op) {
    model_event *event = &m->events[op->event];
    if (is_nothing(op)) return ok();
    uint32_t claim = standing_claim(m, queue, op);
    if (claim != 0) {
        if (!queue->defer) claim_writes(op, claim);
        doom(queue, claim);
        return verdict(RONDO_TAINTED, claim);
    }
    if (op->kind == MODEL_EVENT_RECORD) *event = (model_event){true, false, queue->window};
    if (op->kind == MODEL_EVENT_WAIT && (!event->recorded || event->window != queue->window)) {
        uint32_t failure = model_new_failure(m, RONDO_STATE);
        doom(queue, failure);
        return verdict(RONDO_STATE, failure);
    }
    push(&queue->ops, op);
    return ok();
}

/* An op that cannot be: its outputs, as far as they are known, are claimed [T8]. */
static model_verdict refuse(model *m, uint32_t stream, const model_op *op, rondo_code code) {
    uint32_t failure = model_new_failure(m, code);
    model_queue *queue = &m->queues[m->streams[stream].queue];
    bool recording = owns_recording(m, stream);
    if (recording) doom(queue, failure);
    if (!recording || !queue->defer) claim_writes(op, failure);
    return verdict(code, failure);
}

static model_verdict play_event(model *m, const model_op *op) {
    model_event *event = &m->events[op->event];
    if (op->kind == MODEL_EVENT_RECORD) *event = (model_event){true, true, 0};
    if (!event->recorded) return refused(RONDO_STATE);
    return event->completed ? ok() : refused(RONDO_NOT_READY);
}

model_verdict model_issue(model *m, uint32_t stream, const model_op *op, bool room) {
    model_queue *queue = &m->queues[m->streams[stream].queue];
    if (op->bad != RONDO_CODE_OK) return refuse(m, stream, op, op->bad);
    if (queue->phase == RONDO_PHASE_RECORDING) {
        if (queue->owner != stream) return refuse(m, stream, op, RONDO_BUSY); /* rule 10 [C13] */
        return room ? keep(m, queue, op) : refuse(m, stream, op, RONDO_NO_ROOM);
    }
    if (is_event(op)) return play_event(m, op);
    return is_nothing(op) ? ok() : play(m, stream, op);
}

uint32_t model_reservation_failed(model *m, uint32_t stream, rondo_code code) {
    uint32_t failure = model_new_failure(m, code);
    if (owns_recording(m, stream)) doom(&m->queues[m->streams[stream].queue], failure);
    return failure;
}

/* ---- rules 4 and 5: the window ---- */

/* Rule 5: leaving without a seal claims every output. */
static void leave(model_queue *queue, uint32_t failure) {
    bool claims = failure != 0 && !queue->defer;
    for (size_t i = 0; i < queue->ops.count && claims; i++) claim_writes(&queue->ops.data[i], failure);
    queue->defer = false;
    drop_ops(&queue->ops);
    queue->phase = RONDO_PHASE_NONE;
    queue->doomed = 0;
}

model_verdict model_prepare(model *m, uint32_t stream) {
    model_queue *queue = &m->queues[m->streams[stream].queue];
    if (queue->phase != RONDO_PHASE_NONE) return refused(RONDO_STATE);
    queue->phase = RONDO_PHASE_PREPARED;
    queue->owner = stream;
    queue->window = ++m->last_window;
    return ok();
}

model_verdict model_begin(model *m, uint32_t stream) {
    model_queue *queue = &m->queues[m->streams[stream].queue];
    if (queue->phase != RONDO_PHASE_PREPARED) return refused(RONDO_STATE);
    if (queue->owner != stream) return refused(RONDO_BUSY);
    queue->phase = RONDO_PHASE_RECORDING;
    return ok();
}

void model_begin_failed(model *m, uint32_t stream) {
    leave(&m->queues[m->streams[stream].queue], 0);
}

static model_verdict close_refused(model *m, model_queue *queue, rondo_code code) {
    uint32_t failure = model_new_failure(m, code);
    leave(queue, failure);
    return verdict(code, failure);
}

static bool build_fails(model *m, const model_ops *ops) {
    for (size_t i = 0; i < ops->count; i++) {
        bool starts = !is_event(&ops->data[i]) && (i == 0 || is_event(&ops->data[i - 1]));
        if (starts && model_strikes(m, RONDO_SIM_GRAPH_BUILD)) return true;
    }
    return false;
}

static rondo_code build_code(const model *m) {
    return m->rule.result == RONDO_BACKEND_NO_MEMORY ? RONDO_NO_HOST_MEMORY : RONDO_BACKEND;
}

static bool names_own_memory(const model_queue *queue) {
    for (size_t i = 0; i < queue->ops.count; i++) {
        for (uint32_t a = 0; a < queue->ops.data[i].access_count; a++) {
            if (queue->ops.data[i].accesses[a].cell->window != 0) return true;
        }
    }
    return false;
}

model_verdict model_end(model *m, uint32_t stream, bool allow_empty, bool overlap, model_graph **out_graph) {
    model_queue *queue = &m->queues[m->streams[stream].queue];
    bool owner = queue->owner == stream;
    *out_graph = NULL;
    if (queue->phase == RONDO_PHASE_NONE) return refused(RONDO_STATE);
    if (queue->phase == RONDO_PHASE_PREPARED) {
        if (owner) leave(queue, 0);
        return refused(owner ? RONDO_STATE : RONDO_BUSY);
    }
    if (!owner) return close_refused(m, queue, RONDO_ABANDONED);
    if (queue->doomed != 0) {
        uint32_t failure = queue->doomed;
        leave(queue, failure);
        return verdict(RONDO_DOOMED, failure);
    }
    if (queue->ops.count == 0 && !allow_empty) return close_refused(m, queue, RONDO_EMPTY);
    if (overlap) return close_refused(m, queue, RONDO_OVERLAP);
    if (build_fails(m, &queue->ops)) return close_refused(m, queue, build_code(m));
    model_graph *graph = must(calloc(1, sizeof *graph));
    *graph = (model_graph){.serial = ++m->last_serial, .temporaries = names_own_memory(queue), .ops = queue->ops};
    queue->ops = (model_ops){0};
    leave(queue, 0);
    *out_graph = graph;
    return ok();
}

bool model_may_overlap(model *m, uint32_t stream, model_cell *const *cells, size_t count) {
    const model_queue *queue = &m->queues[m->streams[stream].queue];
    stamp_writes(m, &queue->ops);
    for (size_t i = 0; i < count; i++) {
        if (cells[i] == NULL || !cells[i]->alive || cells[i]->window != queue->window) continue;
        for (uint32_t k = 0; k < cells[i]->size; k++) {
            if (cells[i]->bytes[k].stamp != m->stamp) return true;
        }
    }
    return false;
}

/* The owner gives up: what the window would have written takes the failure that had doomed it, else a new one. */
static void give_up(model *m, model_queue *queue) {
    uint32_t failure = queue->doomed;
    if (queue->phase == RONDO_PHASE_RECORDING && failure == 0) failure = model_new_failure(m, RONDO_ABORTED);
    leave(queue, failure);
}

model_verdict model_abort(model *m, uint32_t stream) {
    model_queue *queue = &m->queues[m->streams[stream].queue];
    if (queue->phase == RONDO_PHASE_NONE) return ok();
    if (queue->owner != stream) return refused(RONDO_BUSY);
    give_up(m, queue);
    return ok();
}

void model_defer(model *m, uint32_t stream) {
    m->queues[m->streams[stream].queue].defer = true;
}

void model_leave_prepared(model *m, uint32_t stream) {
    leave(&m->queues[m->streams[stream].queue], 0);
}

void model_stream_release(model *m, uint32_t stream) {
    model_queue *queue = &m->queues[m->streams[stream].queue];
    if (queue->phase != RONDO_PHASE_NONE && queue->owner == stream) give_up(m, queue);
    m->streams[stream].first_failure = 0;
}

/* ---- rules 6 and 7: replays ---- */

/* Calls `visit` for each byte that the ops read before any of them wrote it, once each [R2]. */
static void for_live_in(model *m, const model_ops *ops, void (*visit)(void *user, model_byte *byte), void *user) {
    uint32_t stamp = ++m->stamp;
    for (size_t i = 0; i < ops->count; i++) {
        for (uint32_t pass = RONDO_READS; pass <= RONDO_WRITES; pass++) {
            for (uint32_t a = 0; a < ops->data[i].access_count; a++) {
                const model_access *access = &ops->data[i].accesses[a];
                for (uint32_t k = 0; (access->mode & pass) != 0 && k < total(access); k++) {
                    model_byte *byte = byte_at(access, k);
                    bool first = byte->stamp != stamp && byte->seen != stamp;
                    if (pass == RONDO_WRITES) {
                        byte->stamp = stamp;
                    } else if (first) {
                        byte->seen = stamp;
                        visit(user, byte);
                    }
                }
            }
        }
    }
}

static void for_written(model *m, const model_ops *ops, void (*visit)(void *user, model_byte *byte), void *user) {
    uint32_t stamp = ++m->stamp;
    for (size_t i = 0; i < ops->count; i++) {
        for (uint32_t a = 0; a < ops->data[i].access_count; a++) {
            const model_access *access = &ops->data[i].accesses[a];
            for (uint32_t k = 0; writes(access) && k < total(access); k++) {
                model_byte *byte = byte_at(access, k);
                if (byte->stamp != stamp) visit(user, byte);
                byte->stamp = stamp;
            }
        }
    }
}

static void count_byte(void *user, model_byte *byte) {
    (void)byte;
    ++*(uint64_t *)user;
}

void model_graph_bytes(model *m, const model_graph *graph, uint64_t *out_live_in, uint64_t *out_written) {
    *out_live_in = *out_written = 0;
    for_live_in(m, &graph->ops, count_byte, out_live_in);
    for_written(m, &graph->ops, count_byte, out_written);
}

typedef struct search {
    const model *m;
    uint16_t serial;
    uint64_t number;
    uint32_t first, named; /* failures: the likeliest of those that count, the one that has `number` */
    const model_byte *at;  /* where the first one was found */
} search;

static void look_for_claim(void *user, model_byte *byte) {
    search *s = user;
    if (byte->failure == 0 || byte->intact == s->serial) return;
    uint64_t number = s->m->failures[byte->failure].number;
    /* A number that is not known yet may be the one; of several, Rondo names that of the first bytes of a buffer. */
    bool unknown = s->first != 0 && s->m->failures[s->first].number == 0;
    if (!unknown || (number == 0 && byte < s->at)) {
        s->first = byte->failure;
        s->at = byte;
    }
    if (number != 0 && number == s->number) s->named = byte->failure;
}

static uint32_t claimed_live_in(model *m, const model_graph *graph, uint64_t number) {
    search s = {.m = m, .serial = graph->serial, .number = number};
    for_live_in(m, &graph->ops, look_for_claim, &s);
    return s.named != 0 ? s.named : s.first;
}

typedef struct mixture {
    uint16_t serial;
    uint32_t first;
    bool differ;
} mixture;

static void look_for_others(void *user, model_byte *byte) {
    mixture *s = user;
    if (byte->failure == 0 || byte->intact == s->serial) return;
    s->differ = s->differ || (s->first != 0 && s->first != byte->failure);
    s->first = byte->failure;
}

bool model_claims_differ(model *m, const model_graph *graph) {
    mixture s = {.serial = graph->serial};
    for_live_in(m, &graph->ops, look_for_others, &s);
    return s.differ;
}

typedef struct marking {
    uint32_t failure;
    uint16_t serial;
} marking;

static void mark_claimed(void *user, model_byte *byte) {
    byte->failure = ((const marking *)user)->failure;
    byte->intact = 0;
}

static void mark_intact(void *user, model_byte *byte) {
    const marking *mark = user;
    if (byte->failure == mark->failure) byte->intact = mark->serial;
}

/* Rule 7: all outputs take the failure; with `intact`, nothing ran, and what the graph reads is as it was [R1, R2]. */
static void claim_all(model *m, const model_graph *graph, uint32_t failure, bool intact) {
    marking mark = {failure, graph->serial};
    intact = intact && claimed_live_in(m, graph, 0) == 0;
    for_written(m, &graph->ops, mark_claimed, &mark);
    if (intact) for_live_in(m, &graph->ops, mark_intact, &mark);
}

static model_verdict not_run(model *m, const model_graph *graph, rondo_code code) {
    uint32_t failure = model_new_failure(m, code);
    claim_all(m, graph, failure, true);
    return verdict(code, failure);
}

/* One node after another failed: skipped if it needs spoiled bytes [R4]. */
static void play_alone(model *m, uint32_t stream, const model_op *op, uint16_t serial) {
    uint32_t input = claimed_input(op, serial);
    if (input != 0) {
        claim_writes(op, input);
    } else if (model_strikes(m, RONDO_SIM_GRAPH_SUBMIT)) {
        (void)fail_running(m, stream, op, model_backend_code(m->rule.result));
    } else if (fails_by_itself(m, op)) {
        (void)fail_running(m, stream, op, RONDO_KERNEL);
    } else {
        run(op);
    }
}

/* Plays the ops [first, last) in one go until one fails; returns how far it came. `code` says how it stopped. */
static size_t play_together(model *m, const model_ops *ops, size_t first, size_t last, rondo_code *code) {
    size_t node = first, struck = last;
    if (model_strikes(m, RONDO_SIM_GRAPH_SUBMIT)) {
        struck = m->rule.node < last - first ? first + (size_t)m->rule.node : last - 1;
    }
    for (*code = RONDO_CODE_OK; node < last; node++) {
        if (node == struck) *code = model_backend_code(m->rule.result);
        if (node != struck && fails_by_itself(m, &ops->data[node])) *code = RONDO_KERNEL;
        if (*code != RONDO_CODE_OK) break;
        run(&ops->data[node]);
    }
    return node;
}

static void release_byte(void *user, model_byte *byte) {
    (void)user;
    byte->failure = 0;
    byte->intact = 0;
}

/* Memory of the window that nobody holds any more may be cut up for what came later in the window; host bytes are the
 * graph's own [C7]. */
static void forget_temporaries(const model_ops *ops) {
    for (size_t i = 0; i < ops->count; i++) {
        for (uint32_t a = 0; a < ops->data[i].access_count; a++) {
            model_cell *cell = ops->data[i].accesses[a].cell;
            if (cell->alive || cell->host || cell->window == 0) continue;
            for (uint32_t k = 0; k < cell->size; k++) cell->bytes[k].known = false;
        }
    }
}

static size_t segment_end(const model_ops *ops, size_t first) {
    size_t last = first + 1;
    while (last < ops->count && !is_event(&ops->data[last])) last++;
    return last;
}

/* Whether the backend refuses the very first node of a replay, given `count` nodes at once. */
static bool strikes_first(const model *m, size_t count) {
    return m->armed && m->rule.call == RONDO_SIM_GRAPH_SUBMIT && m->rule.nth == 1 && m->rule_seen == 0 &&
           m->rule.result != RONDO_BACKEND_FAILED && (m->rule.node == 0 || count == 1);
}

/* Plays the nodes [first, last) as one piece; `failed` tells whether a node before them did, and afterwards whether any
 * did. OK, or why the very first node of the graph did not run. */
static rondo_code play_nodes(model *m, const model_graph *graph, uint32_t stream, size_t first, size_t last,
                             size_t work, bool *failed) {
    const model_ops *ops = &graph->ops;
    size_t node = first;
    rondo_code code;
    if (first == work && strikes_first(m, last - first)) {
        (void)model_strikes(m, RONDO_SIM_GRAPH_SUBMIT);
        return model_backend_code(m->rule.result);
    }
    if (first == work) for_written(m, ops, release_byte, NULL);
    if (!*failed) {
        node = play_together(m, ops, first, last, &code);
        if (code != RONDO_CODE_OK) (void)fail_running(m, stream, &ops->data[node++], code);
        *failed = code != RONDO_CODE_OK;
    }
    for (; *failed && node < last; node++) play_alone(m, stream, &ops->data[node], graph->serial);
    return RONDO_CODE_OK;
}

static void complete_events(model *m, const model_ops *ops, size_t first, size_t last) {
    for (size_t i = first; i < last; i++) {
        if (ops->data[i].kind != MODEL_EVENT_RECORD) continue;
        m->events[ops->data[i].event].recorded = m->events[ops->data[i].event].completed = true;
    }
}

/* Rule 6: a replay that was enqueued equals playing its ops in order. OK, or why the very first did not run: events
 * that come before all work complete only once the first of the work has run. */
static rondo_code play_graph(model *m, const model_graph *graph, uint32_t stream) {
    const model_ops *ops = &graph->ops;
    size_t work = 0, first, last;
    bool failed = false;
    while (work < ops->count && is_event(&ops->data[work])) work++;
    first = work;
    if (work != 0 && work != ops->count) {
        rondo_code code = play_nodes(m, graph, stream, first, first + 1, work, &failed);
        if (code != RONDO_CODE_OK) return code;
        first++;
    }
    complete_events(m, ops, 0, work);
    for (; first < ops->count; first = last) {
        last = is_event(&ops->data[first]) ? first + 1 : segment_end(ops, first);
        complete_events(m, ops, first, last);
        if (is_event(&ops->data[first])) continue;
        rondo_code code = play_nodes(m, graph, stream, first, last, work, &failed);
        if (code != RONDO_CODE_OK) return code;
    }
    return RONDO_CODE_OK;
}

static bool graph_meets_map(const model *m, const model_graph *graph) {
    for (size_t i = 0; i < graph->ops.count; i++) {
        const model_op *op = &graph->ops.data[i];
        for (uint32_t a = 0; a < op->access_count; a++) {
            const model_access *access = &op->accesses[a];
            for (uint32_t row = 0; row < access->rows; row++) {
                model_access one = {access->cell, access->low + row * access->pitch, access->row_bytes, 1,
                                    access->row_bytes, access->mode};
                if (meets_map(m, &(model_op){.access_count = 1, .accesses = {one}})) return true;
            }
        }
    }
    return false;
}

/* In a window: the nodes are appended [R8]. */
static model_verdict append(model *m, model_queue *queue, const model_graph *graph) {
    for (size_t i = 0; i < graph->ops.count; i++) {
        model_verdict kept = keep(m, queue, &graph->ops.data[i]);
        if (kept.code == RONDO_CODE_OK) continue;
        if (!queue->defer) claim_all(m, graph, kept.failure, true);
        return kept;
    }
    return ok();
}

model_verdict model_replay(model *m, model_graph *graph, uint32_t stream, uint64_t number) {
    model_queue *queue = &m->queues[m->streams[stream].queue];
    if (queue->phase == RONDO_PHASE_RECORDING) {
        if (queue->owner != stream) return not_run(m, graph, RONDO_BUSY);
        return append(m, queue, graph);
    }
    if (graph_meets_map(m, graph)) return not_run(m, graph, RONDO_BUSY);
    uint32_t spoiled = claimed_live_in(m, graph, number);
    if (spoiled != 0) {
        claim_all(m, graph, spoiled, false);
        return verdict(RONDO_TAINTED, spoiled);
    }
    forget_temporaries(&graph->ops);
    rondo_code code = play_graph(m, graph, stream);
    if (code != RONDO_CODE_OK) return not_run(m, graph, code);
    graph->replays++;
    return ok();
}

void model_graph_drop(model_graph *graph) {
    drop_ops(&graph->ops);
    free(graph);
}

static bool aliased(const model_op *op) {
    for (uint32_t a = 1; a < op->access_count; a++) {
        for (uint32_t b = 0; b < a; b++) {
            bool written = writes(&op->accesses[a]) || writes(&op->accesses[b]);
            if (written && op->kind != MODEL_NEXT && model_overlap(&op->accesses[a], &op->accesses[b])) return true;
        }
    }
    return false;
}

model_verdict model_update_span(model *m, model_graph *graph, size_t node, uint32_t access, model_cell *cell,
                                uint32_t low) {
    model_op *op = &graph->ops.data[node], changed = *op;
    if (!cell->alive) return refused(RONDO_STALE);
    changed.accesses[access].cell = cell;
    changed.accesses[access].low = low;
    if (aliased(&changed)) return refused(RONDO_ALIASED);
    if (build_fails(m, &graph->ops)) return refused(build_code(m));
    cell->refs++;
    model_cell_unref(op->accesses[access].cell);
    *op = changed;
    graph->temporaries = graph->temporaries || cell->window != 0;
    return ok();
}

/* ---- rule 8: reading ---- */

model_verdict model_span_status(const model *m, const model_access *access) {
    uint32_t failure = claimed_by(access, 0);
    if (failure == 0) return ok();
    return verdict(m->failures[failure].code == RONDO_FRESH ? RONDO_FRESH : RONDO_TAINTED, failure);
}

model_verdict model_window_check(const model *m, uint32_t stream, bool forbidden) {
    const model_queue *queue = &m->queues[m->streams[stream].queue];
    if (queue->phase != RONDO_PHASE_RECORDING) return ok();
    if (queue->owner != stream) return refused(RONDO_BUSY);
    return forbidden ? refused(RONDO_FORBIDDEN) : ok();
}

model_verdict model_read(model *m, uint32_t stream, const model_access *access) {
    model_verdict window = model_window_check(m, stream, true);
    if (window.code != RONDO_CODE_OK || total(access) == 0) return window;
    if (meets_map(m, &(model_op){.access_count = 1, .accesses = {*access}})) return refused(RONDO_BUSY);
    model_verdict status = model_span_status(m, access);
    if (status.code == RONDO_CODE_OK && !access->cell->host && model_strikes(m, RONDO_SIM_SUBMIT)) {
        return refused(m->rule.result == RONDO_BACKEND_FAILED ? RONDO_BACKEND : model_backend_code(m->rule.result));
    }
    return status;
}

model_verdict model_sync(model *m, uint32_t stream) {
    model_verdict window = model_window_check(m, stream, true);
    if (window.code != RONDO_CODE_OK) return window;
    uint32_t failure = m->streams[stream].first_failure;
    m->streams[stream].first_failure = 0;
    return failure == 0 ? ok() : verdict(m->streams[stream].first_code, failure);
}

/* The earliest failure that no sync has returned; all their numbers are known. */
model_verdict model_device_sync(model *m) {
    uint32_t first = 0;
    rondo_code code = RONDO_CODE_OK;
    for (int q = 0; q < MODEL_QUEUES; q++) {
        if (m->queues[q].phase == RONDO_PHASE_RECORDING) return refused(RONDO_FORBIDDEN);
    }
    for (int s = 0; s < MODEL_STREAMS; s++) {
        uint32_t failure = m->streams[s].first_failure;
        bool earlier = first == 0 || m->failures[failure].number < m->failures[first].number;
        /* The failure itself comes before what was skipped because of it. */
        if (failure != 0 && (earlier || (failure == first && code == RONDO_TAINTED))) {
            first = failure;
            code = m->streams[s].first_code;
        }
        m->streams[s].first_failure = 0;
    }
    return first == 0 ? ok() : verdict(code, first);
}

model_verdict model_map_span(model *m, uint32_t stream, const model_access *access) {
    model_verdict window = model_window_check(m, stream, true);
    if (window.code != RONDO_CODE_OK) return window;
    if (total(access) == 0) return refused(RONDO_RANGE);
    if (meets_map(m, &(model_op){.access_count = 1, .accesses = {*access}})) return refused(RONDO_BUSY);
    model_verdict status = reads(access) ? model_span_status(m, access) : ok();
    if (status.code != RONDO_CODE_OK) return status;
    m->maps[m->map_count++] = (model_map){access->cell, access->low, access->row_bytes, writes(access)};
    return ok();
}

/* The end of a mapping that writes is a write of the whole span. */
static void end_map(model *m, size_t index) {
    model_map map = m->maps[index];
    model_access access = {map.cell, map.low, map.size, 1, map.size, RONDO_WRITES};
    if (map.writes) claim_access(&access, 0);
    memmove(&m->maps[index], &m->maps[index + 1], (m->map_count - index - 1) * sizeof map);
    m->map_count--;
}

model_verdict model_unmap(model *m, const model_access *access) {
    for (size_t i = 0; i < m->map_count; i++) {
        const model_map *map = &m->maps[i];
        if (map->cell != access->cell || map->low != access->low || map->size != access->row_bytes) continue;
        end_map(m, i);
        return ok();
    }
    return refused(RONDO_STATE);
}

void model_cell_release(model *m, model_cell *cell) {
    for (size_t i = m->map_count; i-- > 0;) {
        if (m->maps[i].cell == cell) end_map(m, i);
    }
    cell->alive = false;
    model_cell_unref(cell);
}
