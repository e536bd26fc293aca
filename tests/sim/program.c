#include "program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "choices.h"
#include "device/device.h"
#include "kernels.h"
#include "memory/memory.h"
#include "model.h"
#include "stream/pending.h"

enum { FLAGS = 2, DEVICE_CELLS = 8, HOST_CELLS = 3, CELLS = FLAGS + DEVICE_CELLS + HOST_CELLS, GRAPHS = 5 };
enum { FIRST_DEVICE = FLAGS, FIRST_HOST = FLAGS + DEVICE_CELLS };

/* ---- what steps there are ---- */

typedef enum step_kind {
    STEP_FILL,
    STEP_WRITE,
    STEP_WRITE_LIVE,
    STEP_READ_ASYNC,
    STEP_COPY,
    STEP_COPY_2D,
    STEP_MIX,
    STEP_BUMP,
    STEP_ADD,
    STEP_FAIL_IF,
    STEP_NEXT,
    STEP_HOST, /* up to here in the order of model_kind */
    STEP_SET_FLAG,
    STEP_FLIP_HOST,
    STEP_READ,
    STEP_SPAN_STATUS,
    STEP_SYNC,
    STEP_HOST_WAIT,
    STEP_CREATE,
    STEP_RELEASE,
    STEP_HOST_CREATE,
    STEP_IMPORT,
    STEP_EVENT_RECORD,
    STEP_EVENT_WAIT,
    STEP_EVENT_STATUS,
    STEP_PREPARE,
    STEP_BEGIN,
    STEP_END,
    STEP_ABORT,
    STEP_WINDOW_INFO,
    STEP_REPLAY,
    STEP_GRAPH_RELEASE,
    STEP_GRAPH_INFO,
    STEP_UPDATE_VALUE,
    STEP_UPDATE_SPAN,
    STEP_TRIM,
    STEP_MAP,
    STEP_UNMAP,
    STEP_STREAM,
    STEP_FILL_LAST, /* of a stream: the buffer that it made last */
    STEP_USE_LAST,
    STEP_RELEASE_LAST,
    STEP_CAPTURE_STEP,
    STEP_RUN,
    STEP_FORGET,
    STEP_DEVICE_SYNC,
    STEP_KINDS
} step_kind;

static const uint8_t usual_weights[STEP_KINDS] = {
    [STEP_FILL] = 8,        [STEP_WRITE] = 8,        [STEP_WRITE_LIVE] = 4,   [STEP_READ_ASYNC] = 4,
    [STEP_COPY] = 8,        [STEP_COPY_2D] = 4,      [STEP_MIX] = 8,          [STEP_BUMP] = 6,
    [STEP_ADD] = 6,         [STEP_FAIL_IF] = 5,      [STEP_NEXT] = 4,         [STEP_HOST] = 5,
    [STEP_SET_FLAG] = 5,    [STEP_FLIP_HOST] = 2,    [STEP_READ] = 5,         [STEP_SPAN_STATUS] = 1,
    [STEP_SYNC] = 2,        [STEP_HOST_WAIT] = 2,    [STEP_CREATE] = 10,      [STEP_RELEASE] = 5,
    [STEP_HOST_CREATE] = 3, [STEP_IMPORT] = 2,       [STEP_EVENT_RECORD] = 3, [STEP_EVENT_WAIT] = 2,
    [STEP_EVENT_STATUS] = 2, [STEP_PREPARE] = 2,     [STEP_BEGIN] = 2,        [STEP_END] = 3,
    [STEP_ABORT] = 1,       [STEP_WINDOW_INFO] = 1,  [STEP_REPLAY] = 12,      [STEP_GRAPH_RELEASE] = 2,
    [STEP_GRAPH_INFO] = 2,  [STEP_UPDATE_VALUE] = 2, [STEP_UPDATE_SPAN] = 3,  [STEP_TRIM] = 2,
    [STEP_MAP] = 2,         [STEP_UNMAP] = 2,        [STEP_STREAM] = 1,
    [STEP_FILL_LAST] = 2,   [STEP_USE_LAST] = 2,     [STEP_RELEASE_LAST] = 1,
    [STEP_CAPTURE_STEP] = 2, [STEP_RUN] = 5,         [STEP_FORGET] = 1,
    [STEP_DEVICE_SYNC] = 1,
};

/* ---- making a program ---- */

typedef struct maker {
    program *p;
    choices from;
    uint32_t weights[STEP_KINDS], total;
    uint32_t burst_percent, fault_percent;
    bool blocks; /* temporaries are host blocks, too; seeds that were kept before that was so mean what they meant */
} maker;

static void add_step(maker *k, uint32_t kind, uint32_t stream) {
    program *p = k->p;
    program_step *step = &p->steps[p->count++];
    step->kind = (uint8_t)kind;
    step->stream = (uint8_t)stream;
    uint32_t percent = kind == STEP_REPLAY ? 3 * k->fault_percent : k->fault_percent;
    step->fault = choose_below(&k->from, 100) < percent ? (uint8_t)(1 + choose_below(&k->from, 255)) : 0;
    for (int w = 0; w < PROGRAM_WORDS; w++) step->words[w] = choose_word(&k->from);
}

static uint32_t any_kind(maker *k) {
    uint32_t at = choose_below(&k->from, k->total), kind = 0;
    while (at >= k->weights[kind]) at -= k->weights[kind++];
    return kind;
}

static uint32_t any_stream(maker *k) {
    return choose_below(&k->from, k->p->streams);
}

enum { MOST_TEMPORARIES = 12, MOST_IN_ONE_GO = 64 };

/* What a step does with buffers that come and go: the same in the warm-up and in the window. */
static size_t make_temporaries(maker *k, program_step *out) {
    static const uint8_t kinds[] = {STEP_CREATE, STEP_FILL_LAST, STEP_FILL_LAST, STEP_USE_LAST, STEP_RELEASE_LAST};
    static const uint8_t block_kinds[] = {STEP_READ_ASYNC, STEP_WRITE_LIVE, STEP_RELEASE, STEP_WRITE, STEP_RELEASE};
    bool blocks = k->blocks && choose_below(&k->from, 2) == 0;
    size_t count = choose_below(&k->from, 3) == 0 ? 0 : choose_below(&k->from, MOST_TEMPORARIES);
    for (size_t i = 0; i < count; i++) {
        out[i].kind = i % 4 == 0 ? STEP_CREATE : kinds[choose_below(&k->from, 5)];
        if (blocks) out[i].kind = i % 4 == 0 ? STEP_HOST_CREATE : block_kinds[choose_below(&k->from, 5)];
        for (int w = 0; w < PROGRAM_WORDS; w++) out[i].words[w] = choose_word(&k->from);
        if (out[i].kind == STEP_RELEASE) out[i].words[0] &= ~3u; /* a block */
    }
    return count;
}

static void add_copy(maker *k, const program_step *step, uint32_t stream) {
    add_step(k, step->kind, stream);
    memcpy(k->p->steps[k->p->count - 1].words, step->words, sizeof step->words);
}

/* A whole capture, more or less: windows that are met by chance alone seldom seal. */
static void add_burst(maker *k) {
    program_step temporaries[MOST_TEMPORARIES];
    uint32_t owner = any_stream(k), warm = choose_below(&k->from, 4), kept = choose_below(&k->from, 8);
    uint32_t updates = choose_below(&k->from, 4) == 0 ? 4 : 0;
    size_t count = make_temporaries(k, temporaries), next = 0;
    add_step(k, STEP_PREPARE, owner);
    for (uint32_t i = 0; i < warm; i++) add_step(k, any_kind(k), owner);
    for (size_t i = 0; i < count; i++) add_copy(k, &temporaries[i], owner);
    add_step(k, STEP_BEGIN, owner);
    while (kept != 0 || next < count) {
        if (next < count && (kept == 0 || choose_below(&k->from, 2) == 0)) {
            add_copy(k, &temporaries[next++], owner);
            continue;
        }
        uint32_t kind = any_kind(k);
        bool ends = kind == STEP_END || kind == STEP_ABORT || kind == STEP_STREAM || kind == STEP_PREPARE;
        if (ends && choose_below(&k->from, 4) != 0) kind = STEP_MIX;
        add_step(k, kind, choose_below(&k->from, 5) != 0 ? owner : any_stream(k));
        kept--;
    }
    add_step(k, STEP_END, owner);
    for (uint32_t i = 0; i < updates; i++) add_step(k, i % 2 == 0 ? STEP_UPDATE_SPAN : STEP_REPLAY, owner);
}

/* A capture of replays, after which the graphs inside may go: what the outer one keeps is its own [R8]. */
static void add_nested(maker *k) {
    static const uint8_t after[] = {STEP_GRAPH_RELEASE, STEP_CREATE, STEP_FILL_LAST, STEP_REPLAY,
                                    STEP_GRAPH_RELEASE, STEP_CREATE, STEP_FILL_LAST, STEP_REPLAY};
    uint32_t owner = any_stream(k), inner = 1 + choose_below(&k->from, 3);
    add_step(k, STEP_PREPARE, owner);
    add_step(k, STEP_BEGIN, owner);
    for (uint32_t i = 0; i < inner; i++) add_step(k, choose_below(&k->from, 4) != 0 ? STEP_REPLAY : any_kind(k), owner);
    add_step(k, STEP_END, owner);
    for (size_t i = 0; i < sizeof after; i++) {
        uint32_t stream = choose_below(&k->from, 3) != 0 ? owner : any_stream(k);
        add_step(k, after[i], stream);
    }
}

/* Something to work with. */
static void add_beginning(maker *k) {
    for (uint32_t i = 0; i < 4; i++) {
        add_step(k, STEP_CREATE, any_stream(k));
        add_step(k, STEP_WRITE, any_stream(k));
    }
    add_step(k, STEP_HOST_CREATE, any_stream(k));
}

static void draw_universe(maker *k) {
    program *p = k->p;
    p->streams = 1 + choose_below(&k->from, MODEL_STREAMS);
    p->queues = 1 + choose_below(&k->from, MODEL_QUEUES);
    p->layout = choose_below(&k->from, k->from.bytes == NULL ? 3 : 3 << MODEL_STREAMS);
    p->queued = p->layout / 3;
    p->layout %= 3;
    p->debug_fresh = choose_below(&k->from, 4) == 0;
}

/* Drawn apart, so that a seed means the same program whatever plays its streams. */
static uint32_t draw_queued(uint64_t seed) {
    choices from = choices_of_seed(~seed);
    uint32_t some = choose_below(&from, 1 << MODEL_STREAMS), all = (1 << MODEL_STREAMS) - 1;
    return choose_below(&from, 3) == 0 ? 0 : choose_below(&from, 3) == 0 ? all : some;
}

static void draw_habits(maker *k) {
    k->burst_percent = choose_below(&k->from, 3) * 6;
    k->fault_percent = choose_below(&k->from, 2) * (1 + choose_below(&k->from, 25));
    for (int kind = 0; kind < STEP_KINDS; kind++) {
        static const uint32_t factors[] = {0, 1, 1, 2, 4};
        uint32_t factor = factors[choose_below(&k->from, 5)];
        bool needed = kind == STEP_CREATE || kind == STEP_END || kind == STEP_FILL;
        k->weights[kind] = usual_weights[kind] * (factor == 0 && needed ? 1 : factor);
        k->total += k->weights[kind];
    }
}

static uint32_t draw_care(maker *k) {
    return choose_below(&k->from, 4) * 33;
}

static void make_room(program *p, size_t steps) {
    p->steps = calloc(steps, sizeof *p->steps);
    if (p->steps == NULL) abort();
}

static void keep_library(program *p) {
    p->library = malloc((p->count + 1) * sizeof *p->library);
    if (p->library == NULL) abort();
    if (p->count != 0) memcpy(p->library, p->steps, p->count * sizeof *p->library);
    p->library_count = p->count;
}

void program_make(program *p, uint64_t seed, size_t steps) {
    maker k = {.p = p, .from = choices_of_seed(seed), .blocks = seed % 8 == 1 || seed % 8 == 3};
    *p = (program){.seed = seed};
    make_room(p, steps + MOST_IN_ONE_GO);
    draw_universe(&k);
    p->queued = draw_queued(seed);
    draw_habits(&k);
    p->care = draw_care(&k);
    if (choose_below(&k.from, 8) != 0) add_beginning(&k);
    while (p->count < steps) {
        if (choose_below(&k.from, 100) < k.burst_percent) {
            add_burst(&k);
            if (choose_below(&k.from, 2) == 0) add_nested(&k);
        } else {
            add_step(&k, any_kind(&k), any_stream(&k));
        }
    }
    if (p->count > steps) p->count = steps;
    keep_library(p);
}

/* ---- programs as bytes ---- */

enum { READ_FAULT_PERCENT = 25, NO_FAULT = 99 };

void program_read(program *p, const uint8_t *bytes, size_t size) {
    maker k = {.p = p, .from = choices_of_bytes(bytes, size), .fault_percent = READ_FAULT_PERCENT};
    *p = (program){0};
    make_room(p, size + 1);
    draw_universe(&k);
    p->care = draw_care(&k);
    while (!choices_ended(&k.from)) {
        uint32_t kind = choose_below(&k.from, STEP_KINDS), stream = any_stream(&k);
        add_step(&k, kind, stream);
    }
    keep_library(p);
}

size_t program_write(const program *p, uint8_t *out_bytes, size_t room) {
    const uint32_t universe[] = {p->streams - 1, p->queues - 1, p->layout + 3 * p->queued, p->debug_fresh ? 0 : 1,
                                 p->care / 33};
    size_t size = 0;
    if (room < sizeof universe / sizeof universe[0]) return 0;
    for (size_t i = 0; i < sizeof universe / sizeof universe[0]; i++) out_bytes[size++] = (uint8_t)universe[i];
    for (size_t i = 0; i < p->count && room - size >= PROGRAM_STEP_BYTES; i++) {
        const program_step *step = &p->steps[i];
        out_bytes[size++] = step->kind;
        out_bytes[size++] = step->stream;
        out_bytes[size++] = step->fault != 0 ? 0 : NO_FAULT;
        if (step->fault != 0) out_bytes[size++] = (uint8_t)(step->fault - 1);
        for (int w = 0; w < PROGRAM_WORDS; w++) {
            out_bytes[size++] = (uint8_t)step->words[w];
            out_bytes[size++] = (uint8_t)(step->words[w] >> 8);
        }
    }
    return size;
}

void program_free(program *p) {
    free(p->steps);
    free(p->library);
    *p = (program){0};
}

/* ---- running ---- */

typedef struct slot {
    rondo_buffer buffer;
    model_cell *cell; /* NULL: empty */
    uint64_t held_at; /* where it was when a window or graph began to hold it, 0: not held */
} slot;

typedef struct graph_slot {
    rondo_graph *graph;
    model_graph *model;
} graph_slot;

/* A key of rondo_run. */
typedef enum key_state { KEY_NEW, KEY_WARM, KEY_SEALED, KEY_REFUSED } key_state;

typedef struct key_slot {
    key_state state;
    model_graph *graph; /* sealed */
} key_slot;

enum { KEYS = 2, MOST_SUBSTEPS = 6 };

/* A call of rondo_capture_step or rondo_run that is under way. */
typedef struct one_call {
    size_t first, count; /* the user's step: these steps of the program */
    uint32_t times;      /* how often Rondo has called it */
    key_slot *key;       /* NULL: rondo_capture_step */
    bool noting, refused; /* it found the queue free; it found it taken */
} one_call;

typedef struct run {
    const program *p;
    bool verbose;
    model m;
    rondo_device *device;
    rondo_kernel *kernels[SIM_KERNELS];
    rondo_stream *streams[MODEL_STREAMS];
    rondo_event *events[MODEL_EVENTS];
    slot slots[CELLS];
    graph_slot graphs[GRAPHS];
    key_slot keys[MODEL_STREAMS][KEYS];
    one_call call;
    const program_step *step;
    size_t index;
    uint32_t word; /* the next random number of the step */
    int last[MODEL_STREAMS]; /* the slot of the buffer that a stream made last */
    uint64_t struck_before;
    uint64_t ticket; /* the last one given out before the step */
    jmp_buf differs;
    char *text;
    char line[4096];
    size_t line_length;
} run;

/* What host calls look at; a program runs on one thread. */
static bool host_calls_fail;

static _Noreturn void differ(run *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(run *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void differ(run *r, const char *format, ...) {
    va_list list;
    int used = snprintf(r->text, PROGRAM_TEXT, "step %zu (%s): ", r->index, r->line);
    va_start(list, format);
    (void)vsnprintf(r->text + used, PROGRAM_TEXT - (size_t)used, format, list);
    va_end(list);
    longjmp(r->differs, 1);
}

static void say(run *r, const char *format, ...) {
    va_list list;
    va_start(list, format);
    int used = vsnprintf(r->line + r->line_length, sizeof r->line - r->line_length, format, list);
    va_end(list);
    r->line_length += (size_t)used < sizeof r->line - r->line_length ? (size_t)used : 0;
}

static uint32_t word(run *r) {
    return r->step->words[r->word++ % PROGRAM_WORDS];
}

static uint32_t choose(run *r, uint32_t bound) {
    return word(r) % bound;
}

static const char *name_of(rondo_code code) {
    return rondo_code_name(code);
}

/* ---- comparing ---- */

static void bind(run *r, uint32_t failure, uint64_t number) {
    model_failure *known = &r->m.failures[failure];
    if (known->number == number) return;
    if (known->number != 0) {
        differ(r, "failure #%llu (%s) is named where the model says #%llu (%s)", (unsigned long long)number,
               name_of(rondo_status_code(rdo_fault_status(number))), (unsigned long long)known->number,
               name_of(known->code));
    }
    for (size_t i = 1; i < r->m.failure_count; i++) {
        if (r->m.failures[i].number == number) {
            differ(r, "failure #%llu (%s) is named where the model knows a failure of its own (%s)",
                   (unsigned long long)number, name_of(r->m.failures[i].code), name_of(known->code));
        }
    }
    known->number = number;
}

static void match(run *r, rondo_status status, model_verdict verdict) {
    char story[512];
    rondo_code code = rondo_status_code(status);
    say(r, " -> %s", name_of(code));
    if (code != verdict.code) {
        story[0] = '\0';
        if (status != RONDO_OK) (void)rondo_fault_describe(status, story, sizeof story);
        differ(r, "the model says %s. %s", name_of(verdict.code), story);
    }
    if (verdict.failure == 0) return;
    rondo_status root = rondo_fault_root(status);
    bind(r, verdict.failure, rondo_status_number(root));
    if (rondo_status_code(root) != r->m.failures[verdict.failure].code && rondo_status_code(root) != code) {
        differ(r, "the root is %s, the model says %s", name_of(rondo_status_code(root)),
               name_of(r->m.failures[verdict.failure].code));
    }
}

static rdo_engine *engine_of(const run *r) {
    rdo_device *device = rdo_object_find(RDO_OBJECT_DEVICE, r->device);
    return &device->engine;
}

/* ---- pending work of queued streams: played when somebody waits for it, and a little after each step ---- */

static choices pending_choices;

static uint32_t choose_pending(uint32_t count) {
    return choose_below(&pending_choices, count);
}

static void play_all(const run *r) {
    while (rdo_pending_play(engine_of(r))) {}
}

static void play_some(const run *r) {
    for (uint32_t n = choose_below(&pending_choices, 4); n != 0; n--) (void)rdo_pending_play(engine_of(r));
}

static bool any_pending(const run *r) {
    const rdo_entry *entry = engine_of(r)->order.first;
    while (entry != NULL && !entry->queued) entry = entry->next;
    return entry != NULL;
}

static bool is_queued(const run *r) {
    return (r->p->queued >> r->step->stream & 1) != 0;
}

/* Whether the step has left its operation to be played later. */
static bool left_pending(const run *r) {
    const rdo_entry *last = engine_of(r)->order.last;
    return last != NULL && last->queued && last->ticket > r->ticket;
}

/* For an operation or a replay. What is played later has been accepted, whatever comes of it; but what is certain at
 * the call is said there: bytes that are mapped, above all. */
static void match_issued(run *r, rondo_status status, model_verdict verdict) {
    bool later = status == RONDO_OK && left_pending(r);
    if (!later || verdict.code == RONDO_BUSY) {
        match(r, status, verdict);
        return;
    }
    say(r, " -> later");
    model_told_late(&r->m, r->step->stream, verdict);
}

/* A queued stream leaves to others what it can, or its caller would be held up. */
static void match_operation(run *r, rondo_status status, model_verdict verdict, const model_op *op) {
    const model_queue *queue = &r->m.queues[r->m.streams[r->step->stream].queue];
    bool nothing = op->accesses[0].row_bytes == 0 || op->accesses[0].rows == 0;
    bool plain = verdict.code == RONDO_CODE_OK && op->kind != MODEL_HOST && !model_op_is_launch(op) && !nothing;
    if (is_queued(r) && plain && queue->phase == RONDO_PHASE_NONE && !left_pending(r)) {
        differ(r, "it was played while its caller waited");
    }
    match_issued(r, status, verdict);
}

static uint64_t struck_now(void) {
    rondo_sim_counts counts;
    rondo_sim_get_counts(&counts);
    return counts.failed;
}

static bool struck(const run *r) {
    return struck_now() != r->struck_before;
}

static const uint8_t *bytes_of(const rdo_memory *memory) {
    const rdo_books *books = rdo_memory_books(memory);
    if (memory->page == NULL) return NULL;
    const char *page =
        memory->host ? memory->place.page : books->backend->host_address(books->device, memory->place.page);
    return (const uint8_t *)page + memory->place.offset_bytes;
}

static _Noreturn void differ_at(run *r, int at, uint32_t i, uint64_t number, uint8_t value) {
    const model_byte *byte = &r->slots[at].cell->bytes[i];
    if ((number != 0) == (byte->failure != 0)) {
        differ(r, "byte %u of c%d holds %u, the model says %u", i, at, value, byte->value);
    }
    differ(r, "byte %u of c%d is %s, the model says %s", i, at,
           number != 0 ? name_of(rondo_status_code(rdo_fault_status(number))) : "good",
           name_of(r->m.failures[byte->failure].code));
}

/* Bytes that Rondo calls good. Most of the time of a program goes by here, so it is a loop and nothing else. */
static void compare_good(run *r, int at, uint32_t low, uint32_t high, const uint8_t *bytes) {
    const model_byte *all = r->slots[at].cell->bytes;
    for (uint32_t i = low; i < high; i++) {
        bool good = all[i].failure == 0 && (!all[i].known || all[i].value == bytes[i]);
        if (!good) differ_at(r, at, i, 0, bytes[i]);
    }
}

/* Bytes that Rondo claims by one failure. */
static void compare_claimed(run *r, int at, uint32_t low, uint32_t high, uint64_t number) {
    const model_byte *all = r->slots[at].cell->bytes;
    uint32_t bound = 0;
    for (uint32_t i = low; i < high; i++) {
        if (all[i].failure == 0) differ_at(r, at, i, number, 0);
        if (all[i].failure != bound) bind(r, all[i].failure, number);
        bound = all[i].failure;
    }
}

/* Each byte of a live buffer: its claim, and its value where the model knows it. */
static void compare_cell(run *r, int at) {
    slot *s = &r->slots[at];
    const rdo_memory *memory = rdo_memory_find(s->buffer);
    if (memory == NULL) differ(r, "buffer c%d is gone", at);
    const uint8_t *bytes = bytes_of(memory);
    const rdo_ranges *claims = &memory->claims.ranges;
    const rdo_range *data = rdo_ranges_data(claims);
    uint32_t next = 0;
    for (size_t c = 0; c < claims->count; c++) {
        if (data[c].low < next || data[c].high > s->cell->size) differ(r, "claims of c%d are out of order", at);
        compare_good(r, at, next, (uint32_t)data[c].low, bytes);
        compare_claimed(r, at, (uint32_t)data[c].low, (uint32_t)data[c].high, data[c].value);
        next = (uint32_t)data[c].high;
    }
    compare_good(r, at, next, s->cell->size, bytes);
    /* Rule 9: what a graph or window holds stays where it is. */
    bool held = s->cell->refs > 1 && memory->page != NULL;
    if (held && s->held_at != 0 && s->held_at != memory->address) differ(r, "c%d moved though it is held", at);
    s->held_at = held ? memory->address : 0;
}

static void check_inside(run *r) {
    const rdo_device *device = rdo_object_find(RDO_OBJECT_DEVICE, r->device);
    const rdo_engine *engine = &device->engine;
    for (uint32_t q = 0; q < engine->queue_count; q++) {
        const rdo_queue *queue = &engine->queues[q];
        if (!rdo_window_check(&queue->window)) differ(r, "a window breaks its invariants");
        for (int kind = 0; kind < RONDO_POOL_KINDS; kind++) {
            const rdo_pool *pool = &queue->store.pools[kind];
            for (uint32_t i = 0; i < pool->count; i++) {
                bool good = pool->pages[i] == NULL || rdo_page_check(pool->pages[i]);
                if (!good) differ(r, "a page breaks its invariants");
            }
        }
    }
    if (!rdo_ledger_check()) differ(r, "the ledger breaks its invariants");
}

static void compare_phases(run *r) {
    for (uint32_t s = 0; s < r->p->streams; s++) {
        const model_queue *queue = &r->m.queues[r->m.streams[s].queue];
        rondo_phase phase = queue->owner == s ? queue->phase : RONDO_PHASE_NONE;
        if (rondo_capture_phase(r->streams[s]) != phase) differ(r, "stream s%u is not in phase %d", s, (int)phase);
        if (rondo_stream_is_capturing(r->streams[s]) != (phase != RONDO_PHASE_NONE)) {
            differ(r, "stream s%u says wrongly whether it captures", s);
        }
    }
}

static bool is_alive(const slot *s) {
    return s->cell != NULL && s->cell->alive;
}

/* Whether pending work touches it, which is then not yet what the model says. */
static bool is_unsettled(const run *r, int at) {
    const rdo_memory *memory = rdo_memory_find(r->slots[at].buffer);
    if (memory == NULL || memory->size == 0) return false;
    rdo_extent bytes = {memory->address, memory->address + memory->size};
    return rdo_order_is_queued(&engine_of(r)->order, &bytes, 1);
}

static void compare(run *r) {
    compare_phases(r);
    for (int i = 0; i < CELLS; i++) {
        if (is_alive(&r->slots[i]) && !is_unsettled(r, i)) compare_cell(r, i);
    }
    if (r->index % 16 == 0) check_inside(r);
}

/* ---- choosing ---- */

/* A slot of [first, first + count), alive if there is one, now and then a dead one. */
static int choose_slot(run *r, int first, int count) {
    uint32_t w = word(r);
    int at = first + (int)(w % (uint32_t)count);
    if (w % 41 == 0 && r->slots[at].cell != NULL) return at;
    for (int i = 0; i < count; i++) {
        int candidate = first + (at - first + i) % count;
        if (is_alive(&r->slots[candidate])) return candidate;
    }
    return at;
}

static bool is_spoiled(const model_cell *cell) {
    for (uint32_t i = 0; i < cell->size; i++) {
        if (cell->bytes[i].failure != 0) return true;
    }
    return false;
}

/* Whether an operation that has `count` other spans would rather not use the slot. */
static bool is_awkward(const run *r, int at, const int *others, uint32_t count, uint32_t mode) {
    const slot *s = &r->slots[at];
    if (!is_alive(s) || s->cell->size == 0) return true;
    for (uint32_t i = 0; i < count; i++) {
        if (others[i] == at) return true;
    }
    return (mode & RONDO_READS) != 0 && is_spoiled(s->cell);
}

static int choose_with_care(run *r, int first, const int *others, uint32_t count, uint32_t mode) {
    int slots = first == 0 ? FLAGS : first == FIRST_HOST ? HOST_CELLS : DEVICE_CELLS;
    int at = choose_slot(r, first, slots);
    if (word(r) % 100 >= r->p->care) return at;
    for (int i = 0; i < slots; i++) {
        int candidate = first + (at - first + i) % slots;
        if (!is_awkward(r, candidate, others, count, mode)) return candidate;
    }
    return at;
}

static uint32_t size_of(const slot *s) {
    return is_alive(s) ? s->cell->size : 8;
}

/* How many bytes an operation on spans of at most `most` bytes takes. */
static uint32_t choose_size(run *r, uint32_t most) {
    uint32_t w = word(r), how = w % 16;
    if (how == 0) return 0;
    if (how < 6 || most < 2) return most;
    return 1 + (w >> 8) % (most < 64 || how == 15 ? most : 64);
}

/* An operation as it is given to Rondo and to the model. */
typedef struct action {
    model_op op;
    rondo_span spans[MODEL_ACCESSES];
    uint32_t count;
    uint64_t rows, row_bytes, pitches[2];
    uint8_t data[8192];
} action;

static void add_span(run *r, action *a, int at, uint32_t low, uint32_t size, uint32_t mode) {
    slot *s = &r->slots[at];
    say(r, "%s c%d[%u,+%u]", mode == RONDO_READS ? "" : mode == RONDO_WRITES ? " >" : " <>", at, low, size);
    a->spans[a->count++] = rondo_slice(s->buffer, low, size);
    if (!is_alive(s)) {
        if (a->op.bad == RONDO_CODE_OK) a->op.bad = RONDO_STALE;
        return;
    }
    a->op.accesses[a->op.access_count++] = (model_access){s->cell, low, size, 1, size, mode};
}

static int first_of(uint32_t kind, uint32_t span) {
    bool host = (kind == STEP_WRITE_LIVE && span == 1) || (kind == STEP_READ_ASYNC && span == 0);
    return host ? FIRST_HOST : kind == STEP_FAIL_IF && span == 0 ? 0 : FIRST_DEVICE;
}

static int count_of(int first) {
    return first == 0 ? FLAGS : first == FIRST_HOST ? HOST_CELLS : DEVICE_CELLS;
}

static const struct shape {
    uint32_t count, modes[MODEL_ACCESSES];
} shapes[] = {
    [STEP_FILL] = {1, {RONDO_WRITES}},
    [STEP_WRITE] = {1, {RONDO_WRITES}},
    [STEP_WRITE_LIVE] = {2, {RONDO_WRITES, RONDO_READS}},
    [STEP_READ_ASYNC] = {2, {RONDO_WRITES, RONDO_READS}},
    [STEP_COPY] = {2, {RONDO_WRITES, RONDO_READS}},
    [STEP_COPY_2D] = {2, {RONDO_WRITES, RONDO_READS}},
    [STEP_MIX] = {2, {RONDO_READS, RONDO_WRITES}},
    [STEP_BUMP] = {1, {RONDO_READS_WRITES}},
    [STEP_ADD] = {3, {RONDO_READS, RONDO_READS, RONDO_WRITES}},
    [STEP_FAIL_IF] = {2, {RONDO_READS, RONDO_WRITES}},
    [STEP_NEXT] = {2, {RONDO_READS, RONDO_WRITES}},
    [STEP_HOST] = {2, {RONDO_READS, RONDO_WRITES}},
};

static bool overlaps_anything(const model_op *op) {
    for (uint32_t i = 1; i < op->access_count; i++) {
        for (uint32_t j = 0; j < i; j++) {
            bool written = ((op->accesses[i].mode | op->accesses[j].mode) & RONDO_WRITES) != 0;
            if (written && model_overlap(&op->accesses[i], &op->accesses[j])) return true;
        }
    }
    return false;
}

static void choose_spans(run *r, action *a, uint32_t kind) {
    const struct shape *shape = &shapes[kind];
    uint32_t count = shape->count, most = UINT32_MAX;
    int at[MODEL_ACCESSES] = {0};
    bool inout = kind == STEP_HOST && choose(r, 2) == 0;
    if (inout) count = 1;
    for (uint32_t i = 0; i < count; i++) {
        int first = first_of(kind, i);
        if (kind == STEP_HOST && choose(r, 2) == 0) first = FIRST_HOST;
        at[i] = choose_with_care(r, first, at, i, inout ? (uint32_t)RONDO_READS_WRITES : shape->modes[i]);
        bool flag = first == 0;
        if (!flag && size_of(&r->slots[at[i]]) < most) most = size_of(&r->slots[at[i]]);
    }
    /* Bytes on themselves, where the kernel allows that. */
    if (kind == STEP_NEXT && choose(r, 2) == 0) at[1] = at[0];
    if (most > sizeof a->data) most = sizeof a->data;
    uint32_t size = choose_size(r, most);
    for (uint32_t i = 0; i < count; i++) {
        bool flag = first_of(kind, i) == 0;
        uint32_t room = size_of(&r->slots[at[i]]), span = flag ? 4 : size;
        if (span > room) span = room;
        uint32_t low = flag ? 0 : word(r) % (room - span + 1);
        if (kind == STEP_NEXT && i == 1 && at[1] == at[0]) low = (uint32_t)a->spans[0].offset_bytes;
        add_span(r, a, at[i], low, span, inout ? (uint32_t)RONDO_READS_WRITES : shape->modes[i]);
    }
}

/* Makes rectangles of the two spans of a copy. */
static void choose_rows(run *r, action *a) {
    uint64_t size = a->spans[0].size_bytes;
    a->rows = 1 + choose(r, 3);
    a->row_bytes = size / a->rows > 0 ? 1 + choose(r, (uint32_t)(size / a->rows)) : 0;
    uint64_t most = a->rows > 1 ? (size - a->row_bytes) / (a->rows - 1) : size;
    for (int i = 0; i < 2; i++) {
        a->pitches[i] = a->row_bytes + (most > a->row_bytes ? choose(r, (uint32_t)(most - a->row_bytes + 1)) : 0);
    }
    say(r, " rows %llu x %llu at %llu, %llu", (unsigned long long)a->rows, (unsigned long long)a->row_bytes,
        (unsigned long long)a->pitches[0], (unsigned long long)a->pitches[1]);
    for (uint32_t i = 0; i < a->op.access_count; i++) {
        model_access *access = &a->op.accesses[i];
        bool target = access->mode == RONDO_WRITES;
        access->row_bytes = (uint32_t)a->row_bytes;
        access->rows = (uint32_t)a->rows;
        access->pitch = (uint32_t)a->pitches[target ? 0 : 1];
    }
    /* Of a copy whose target is no good, nothing is known. */
    if (a->op.bad != RONDO_CODE_OK && !(a->op.access_count == 1 && a->op.accesses[0].mode == RONDO_WRITES)) {
        a->op.access_count = 0;
    }
}

static void choose_pattern(run *r, action *a) {
    static const uint32_t lengths[] = {1, 1, 2, 4, 8, 16};
    a->op.pattern_bytes = lengths[choose(r, 6)];
    if (a->spans[0].size_bytes % a->op.pattern_bytes != 0 && choose(r, 8) != 0) a->op.pattern_bytes = 1;
    for (uint32_t i = 0; i < sizeof a->op.pattern; i++) a->op.pattern[i] = (uint8_t)(word(r) >> (i & 15));
    bool uneven = a->spans[0].size_bytes % a->op.pattern_bytes != 0;
    if (a->op.bad == RONDO_CODE_OK && uneven) a->op.bad = RONDO_RANGE;
}

/* One source of a copy is cut short now and then. */
static void spoil_sizes(run *r, action *a, uint32_t kind) {
    bool sized = kind == STEP_COPY || kind == STEP_WRITE_LIVE || kind == STEP_READ_ASYNC;
    if (!sized || a->spans[1].size_bytes == 0 || choose(r, 40) != 0) return;
    a->spans[1].size_bytes--;
    if (a->op.bad == RONDO_CODE_OK) a->op.bad = RONDO_RANGE;
    say(r, " (sizes differ)");
}

static const char *const kind_names[] = {"fill", "write", "write_live", "read_async", "copy", "copy_2d", "mix",
                                         "bump", "add",   "fail_if",    "next",       "host"};

static void make_action(run *r, action *a, uint32_t kind) {
    memset(a, 0, offsetof(action, data));
    a->op.kind = (model_kind)kind;
    a->op.value = word(r);
    say(r, "s%u %s", r->step->stream, kind_names[kind]);
    choose_spans(r, a, kind);
    if (kind == STEP_FILL) choose_pattern(r, a);
    if (kind == STEP_COPY_2D) choose_rows(r, a);
    if (kind == STEP_HOST) a->op.may_fail = choose(r, 3) == 0;
    spoil_sizes(r, a, kind);
    bool may_alias = kind == STEP_COPY || kind == STEP_NEXT;
    if (a->op.bad == RONDO_CODE_OK && !may_alias && overlaps_anything(&a->op)) a->op.bad = RONDO_ALIASED;
    say(r, " value %u%s", a->op.value & 255, a->op.may_fail ? " may fail" : "");
}

/* ---- issuing ---- */

typedef struct host_job {
    uint8_t value;
    bool may_fail;
} host_job;

static int host_work(void *user, const rondo_host_access *accesses, size_t count) {
    const host_job *job = user;
    const uint8_t *in = accesses[0].data;
    uint8_t *out = accesses[count - 1].data;
    for (uint64_t i = 0; i < accesses[count - 1].span.size_bytes; i++) out[i] = in[i] ^ job->value;
    return job->may_fail && host_calls_fail ? 3 : 0;
}

static rondo_status issue_host(run *r, const action *a) {
    rondo_host_access accesses[MODEL_ACCESSES] = {0};
    host_job *job = malloc(sizeof *job);
    if (job == NULL) abort();
    *job = (host_job){(uint8_t)a->op.value, a->op.may_fail};
    for (uint32_t i = 0; i < a->count; i++) {
        accesses[i].span = a->spans[i];
        accesses[i].mode = a->count == 1 ? RONDO_READS_WRITES : i == 0 ? RONDO_READS : RONDO_WRITES;
    }
    rondo_status status =
        rondo_host_call(r->streams[r->step->stream], host_work, job, free, accesses, a->count, "host");
    if (status != RONDO_OK) free(job);
    return status;
}

static rondo_status issue_launch(run *r, const action *a) {
    rondo_arg args[MODEL_ACCESSES + 1];
    size_t count = 0;
    for (uint32_t i = 0; i < a->count; i++) args[count++] = rondo_arg_span(a->spans[i]);
    bool value = a->op.kind == MODEL_MIX || a->op.kind == MODEL_BUMP || a->op.kind == MODEL_FAIL_IF;
    if (value) args[count++] = rondo_arg_value(&a->op.value, sizeof a->op.value);
    uint64_t items = a->spans[a->count - 1].size_bytes;
    return rondo_launch(r->streams[r->step->stream], r->kernels[a->op.kind - MODEL_MIX], rondo_grid_1d(items), args,
                        count, kind_names[a->op.kind]);
}

static rondo_status issue(run *r, action *a) {
    rondo_stream *stream = r->streams[r->step->stream];
    rondo_rect target = {a->spans[0], a->pitches[0]}, source = {a->spans[1], a->pitches[1]};
    switch (a->op.kind) {
    case MODEL_FILL: return rondo_fill(stream, a->spans[0], a->op.pattern, a->op.pattern_bytes, "fill");
    case MODEL_WRITE:
        for (uint32_t i = 0; i < a->spans[0].size_bytes; i++) a->data[i] = (uint8_t)(a->op.value + 7 * i);
        return rondo_write(stream, a->spans[0], a->data, "write");
    case MODEL_WRITE_LIVE: return rondo_write_live(stream, a->spans[0], a->spans[1], "live");
    case MODEL_READ_ASYNC: return rondo_read_async(stream, a->spans[1], a->spans[0], "async");
    case MODEL_COPY: return rondo_copy(stream, a->spans[0], a->spans[1], "copy");
    case MODEL_COPY_2D: return rondo_copy_2d(stream, target, source, a->row_bytes, a->rows, "2d");
    case MODEL_HOST: return issue_host(r, a);
    default: return issue_launch(r, a);
    }
}

static void step_operation(run *r, uint32_t kind) {
    static action a;
    make_action(r, &a, kind);
    if (a.op.bad == RONDO_CODE_OK && model_reads_own_fresh(&r->m, r->step->stream, &a.op)) {
        say(r, " (left out)");
        return;
    }
    rondo_status status = issue(r, &a);
    bool recorded_write = a.op.kind == MODEL_WRITE && rondo_status_code(status) == RONDO_NO_ROOM;
    match_operation(r, status, model_issue(&r->m, r->step->stream, &a.op, !recorded_write), &a.op);
}

/* ---- the buffer that a stream made last ---- */

/* The cell stays in its slot, dead, so that its number can still be used. */
static void release_slot(run *r, int at) {
    r->slots[at].cell->refs++;
    rondo_buffer_release(r->slots[at].buffer);
    model_cell_release(&r->m, r->slots[at].cell);
}

/* Writes all of it by a launch, which an update can change later. */
static void launch_last(run *r) {
    static action a;
    int last = r->last[r->step->stream];
    memset(&a, 0, offsetof(action, data));
    a.op.kind = MODEL_FAIL_IF;
    a.op.value = word(r);
    say(r, "s%u fail_if", r->step->stream);
    add_span(r, &a, (int)choose(r, FLAGS), 0, 4, RONDO_READS);
    add_span(r, &a, last, 0, size_of(&r->slots[last]), RONDO_WRITES);
    if (a.op.bad == RONDO_CODE_OK && overlaps_anything(&a.op)) a.op.bad = RONDO_ALIASED;
    rondo_status status = issue(r, &a);
    match_issued(r, status, model_issue(&r->m, r->step->stream, &a.op, true));
}

static void step_fill_last(run *r) {
    slot *s = &r->slots[r->last[r->step->stream]];
    if (is_alive(s) && choose(r, 2) == 0) {
        launch_last(r);
        return;
    }
    model_op op = {.kind = MODEL_FILL, .pattern_bytes = 1, .pattern = {(uint8_t)word(r)}, .access_count = 1};
    if (!is_alive(s)) return;
    say(r, "s%u fill all of c%d with %u", r->step->stream, r->last[r->step->stream], op.pattern[0]);
    op.accesses[0] = (model_access){s->cell, 0, s->cell->size, 1, s->cell->size, RONDO_WRITES};
    rondo_status status = rondo_fill(r->streams[r->step->stream], rondo_whole(s->buffer), op.pattern, 1, "whole");
    match_issued(r, status, model_issue(&r->m, r->step->stream, &op, true));
}

static void step_use_last(run *r) {
    static action a;
    int last = r->last[r->step->stream];
    uint32_t size = size_of(&r->slots[last]);
    if (!is_alive(&r->slots[last])) return;
    memset(&a, 0, offsetof(action, data));
    a.op.kind = MODEL_MIX;
    a.op.value = word(r);
    say(r, "s%u mix", r->step->stream);
    int to = choose_with_care(r, FIRST_DEVICE, &last, 1, RONDO_WRITES);
    if (size_of(&r->slots[to]) < size) size = size_of(&r->slots[to]);
    add_span(r, &a, last, 0, size, RONDO_READS);
    add_span(r, &a, to, 0, size, RONDO_WRITES);
    if (a.op.bad == RONDO_CODE_OK && overlaps_anything(&a.op)) a.op.bad = RONDO_ALIASED;
    if (a.op.bad == RONDO_CODE_OK && model_reads_own_fresh(&r->m, r->step->stream, &a.op)) {
        say(r, " (left out)");
        return;
    }
    rondo_status status = issue(r, &a);
    match_issued(r, status, model_issue(&r->m, r->step->stream, &a.op, true));
}

static void step_release_last(run *r) {
    int last = r->last[r->step->stream];
    if (!is_alive(&r->slots[last]) || last < FIRST_DEVICE) return;
    say(r, "release c%d", last);
    release_slot(r, last);
}

static void step_set_flag(run *r) {
    uint32_t on = choose(r, 3) == 0, at = choose(r, FLAGS);
    model_op op = {.kind = MODEL_FILL, .pattern_bytes = 4, .pattern = {(uint8_t)on}, .access_count = 1};
    op.accesses[0] = (model_access){r->slots[at].cell, 0, 4, 1, 4, RONDO_WRITES};
    say(r, "s%u set flag c%u to %u", r->step->stream, at, on);
    rondo_status status =
        rondo_fill(r->streams[r->step->stream], rondo_whole(r->slots[at].buffer), op.pattern, 4, "flag");
    match_issued(r, status, model_issue(&r->m, r->step->stream, &op, true));
}

static void step_event(run *r, model_kind kind) {
    uint32_t event = choose(r, MODEL_EVENTS);
    model_op op = {.kind = kind, .event = event};
    bool record = kind == MODEL_EVENT_RECORD;
    say(r, "s%u event_%s e%u", r->step->stream, record ? "record" : "wait", event);
    rondo_stream *stream = r->streams[r->step->stream];
    rondo_status status = record ? rondo_event_record(stream, r->events[event], "event")
                                 : rondo_event_wait(stream, r->events[event], "event");
    match(r, status, model_issue(&r->m, r->step->stream, &op, true));
}

static void step_event_status(run *r) {
    uint32_t at = choose(r, MODEL_EVENTS);
    const model_event *event = &r->m.events[at];
    say(r, "event_status e%u", at);
    rondo_code code = !event->recorded ? RONDO_STATE : event->completed ? RONDO_CODE_OK : RONDO_NOT_READY;
    match(r, rondo_event_status(r->events[at]), (model_verdict){code, 0});
}

/* ---- reading ---- */

static bool choose_access(run *r, uint32_t mode, rondo_span *out_span, model_access *out_access) {
    int first = choose(r, 4) == 0 ? FIRST_HOST : FIRST_DEVICE, at = choose_slot(r, first, count_of(first));
    slot *s = &r->slots[at];
    uint32_t room = size_of(s), size = choose_size(r, room), low = word(r) % (room - size + 1);
    say(r, " c%d[%u,+%u]", at, low, size);
    *out_span = rondo_slice(s->buffer, low, size);
    *out_access = (model_access){s->cell, low, size, 1, size, mode};
    return is_alive(s);
}

static void step_read(run *r) {
    static uint8_t data[8192];
    rondo_span span;
    model_access access;
    say(r, "s%u read", r->step->stream);
    bool alive = choose_access(r, RONDO_READS, &span, &access);
    rondo_status status = rondo_read(r->streams[r->step->stream], span, data, "read");
    model_verdict verdict = {RONDO_STALE, 0};
    if (alive) verdict = model_read(&r->m, r->step->stream, &access);
    match(r, status, verdict);
    for (uint32_t i = 0; status == RONDO_OK && i < access.row_bytes; i++) {
        const model_byte *byte = &access.cell->bytes[access.low + i];
        if (byte->known && byte->value != data[i]) {
            differ(r, "byte %u read is %u, the model says %u", access.low + i, data[i], byte->value);
        }
    }
}

static void step_span_status(run *r) {
    rondo_span span;
    model_access access;
    say(r, "span_status");
    bool alive = choose_access(r, RONDO_READS, &span, &access);
    rondo_status status = rondo_span_status(span);
    match(r, status, alive ? model_span_status(&r->m, &access) : (model_verdict){RONDO_STALE, 0});
}

static void step_host_wait(run *r) {
    int at = choose_slot(r, FIRST_HOST, HOST_CELLS);
    slot *s = &r->slots[at];
    say(r, "host_wait c%d", at);
    rondo_status status = rondo_host_wait(s->buffer);
    model_access access = {s->cell, 0, size_of(s), 1, size_of(s), RONDO_READS};
    match(r, status, is_alive(s) ? model_span_status(&r->m, &access) : (model_verdict){RONDO_STALE, 0});
}

static void step_map(run *r) {
    rondo_span span;
    model_access access;
    void *data;
    uint32_t mode = 1 + choose(r, 3), value = word(r);
    if (r->m.map_count == MODEL_MAPS) return;
    say(r, "s%u map mode %u", r->step->stream, mode);
    bool alive = choose_access(r, mode, &span, &access);
    rondo_status status = rondo_map(r->streams[r->step->stream], span, (rondo_access_mode)mode, &data);
    match(r, status, alive ? model_map_span(&r->m, r->step->stream, &access) : (model_verdict){RONDO_STALE, 0});
    for (uint32_t i = 0; status == RONDO_OK && (mode & RONDO_WRITES) != 0 && i < access.row_bytes; i++) {
        model_byte *byte = &access.cell->bytes[access.low + i];
        byte->value = ((uint8_t *)data)[i] = (uint8_t)(value + i);
        byte->known = true;
    }
}

static void step_unmap(run *r) {
    rondo_span span;
    model_access access;
    say(r, "unmap");
    bool alive = choose_access(r, RONDO_READS, &span, &access);
    if (r->m.map_count != 0 && choose(r, 6) != 0) { /* one that there is */
        const model_map *map = &r->m.maps[choose(r, (uint32_t)r->m.map_count)];
        int at = 0;
        while (r->slots[at].cell != map->cell) at++;
        access = (model_access){map->cell, map->low, map->size, 1, map->size, RONDO_READS};
        span = rondo_slice(r->slots[at].buffer, map->low, map->size);
        alive = true;
        say(r, " no: c%d[%u,+%u]", at, map->low, map->size);
    }
    rondo_status status = rondo_unmap(r->streams[r->step->stream], span);
    match(r, status, alive ? model_unmap(&r->m, &access) : (model_verdict){RONDO_STALE, 0});
}

/* ---- memory ---- */

static uint32_t choose_bytes(run *r) {
    static const uint32_t sizes[] = {0, 1, 4, 16, 24, 64, 64, 100, 128, 200, 256, 300, 700, 3000};
    uint32_t w = word(r);
    return r->p->layout == 0 && w % 7 == 0 ? 5000 : sizes[(w >> 4) % 14];
}

static int empty_slot(run *r, int first, int count) {
    for (int i = 0; i < count; i++) {
        int at = first + (int)((r->step->words[0] + (uint32_t)i) % (uint32_t)count);
        if (!is_alive(&r->slots[at])) return at;
    }
    return -1;
}

static void fill_slot(run *r, int at, rondo_buffer buffer, model_cell *cell) {
    const model_queue *queue = &r->m.queues[r->m.streams[r->step->stream].queue];
    bool own = queue->phase == RONDO_PHASE_RECORDING && queue->owner == r->step->stream;
    if (own) cell->window = queue->window;
    r->slots[at] = (slot){buffer, cell, 0};
}

/* A reservation that failed: only the window or the backend may be the reason. */
static void refuse_reservation(run *r, rondo_status status, bool host) {
    const model_queue *queue = &r->m.queues[r->m.streams[r->step->stream].queue];
    rondo_code code = rondo_status_code(status), expected = host ? RONDO_NO_HOST_MEMORY : RONDO_NO_DEVICE_MEMORY;
    if (queue->phase == RONDO_PHASE_RECORDING) {
        expected = RONDO_NO_ROOM;
    } else if (!struck(r)) {
        differ(r, "%s though nothing failed", name_of(code));
    } else if (r->m.rule.result == RONDO_BACKEND_TOO_BIG || r->m.rule.result == RONDO_BACKEND_DEVICE_LOST) {
        expected = model_backend_code(r->m.rule.result);
    } else if (r->m.rule.result != RONDO_BACKEND_DEVICE_FULL) {
        expected = RONDO_NO_HOST_MEMORY;
    }
    match(r, status, (model_verdict){expected, model_reservation_failed(&r->m, r->step->stream, expected)});
}

static void step_create(run *r, bool host) {
    int at = host ? empty_slot(r, FIRST_HOST, HOST_CELLS) : empty_slot(r, FIRST_DEVICE, DEVICE_CELLS);
    rondo_buffer buffer;
    (void)word(r);
    uint32_t size = choose_bytes(r);
    rondo_usage usage = choose(r, 4) == 0 ? (rondo_usage)choose(r, 3) : RONDO_USAGE_GENERAL;
    if (at < 0) return;
    if (host && size == 0) size = 1;
    say(r, "s%u create %sc%d of %u bytes, usage %d", r->step->stream, host ? "host block " : "", at, size, (int)usage);
    rondo_stream *stream = r->streams[r->step->stream];
    rondo_status status =
        host ? rondo_host_create(stream, size, &buffer) : rondo_buffer_create(stream, size, usage, &buffer);
    if (status != RONDO_OK) {
        refuse_reservation(r, status, host);
        return;
    }
    if (r->slots[at].cell != NULL) model_cell_unref(r->slots[at].cell);
    fill_slot(r, at, buffer, model_cell_new(&r->m, size, host, false));
    if (!host) r->last[r->step->stream] = at;
}

static void step_import(run *r) {
    rondo_buffer buffer;
    (void)word(r);
    uint32_t size = 64 * (1 + choose(r, 4));
    bool host = choose(r, 3) == 0;
    int at = host ? empty_slot(r, FIRST_HOST, HOST_CELLS) : empty_slot(r, FIRST_DEVICE, DEVICE_CELLS);
    if (at < 0) return;
    uint8_t *data = aligned_alloc(64, size);
    if (data == NULL) abort();
    say(r, "s%u import c%d of %u bytes", r->step->stream, at, size);
    memset(data, 0x11, size);
    rondo_stream *stream = r->streams[r->step->stream];
    rondo_status status = host ? rondo_host_import(stream, data, size, free, data, &buffer)
                               : rondo_buffer_import(stream, data, size, free, data, &buffer);
    if (status != RONDO_OK) {
        rondo_backend_result result = r->m.rule.result;
        free(data);
        rondo_code code = result == RONDO_BACKEND_NO_MEMORY    ? RONDO_NO_HOST_MEMORY
                          : result == RONDO_BACKEND_NO_SUPPORT ? RONDO_UNSUPPORTED
                                                               : RONDO_BACKEND;
        match(r, status, (model_verdict){struck(r) ? code : RONDO_CODE_OK, 0});
        return;
    }
    if (r->slots[at].cell != NULL) model_cell_unref(r->slots[at].cell);
    r->slots[at] = (slot){buffer, model_cell_new(&r->m, size, host, true), 0};
    for (uint32_t i = 0; i < size; i++) r->slots[at].cell->bytes[i].value = 0x11;
}

static void step_release(run *r) {
    int first = choose(r, 4) == 0 ? FIRST_HOST : FIRST_DEVICE, at = choose_slot(r, first, count_of(first));
    if (!is_alive(&r->slots[at])) return;
    say(r, "release c%d", at);
    release_slot(r, at);
}

static void step_trim(run *r) {
    bool whole = choose(r, 2) == 0;
    const model_queue *queue = &r->m.queues[r->m.streams[r->step->stream].queue];
    bool own = queue->phase == RONDO_PHASE_RECORDING && queue->owner == r->step->stream;
    say(r, whole ? "device trim" : "s%u trim", r->step->stream);
    rondo_status status = whole ? rondo_device_trim(r->device, NULL) : rondo_stream_trim(r->streams[r->step->stream]);
    match(r, status, (model_verdict){!whole && own ? RONDO_FORBIDDEN : RONDO_CODE_OK, 0});
}

/* ---- windows ---- */

static void step_begin(run *r) {
    uint32_t stream = r->step->stream;
    say(r, "s%u begin", stream);
    rondo_status status = rondo_capture_begin(r->streams[stream]);
    rondo_code code = rondo_status_code(status);
    model_verdict verdict = model_begin(&r->m, stream);
    bool no_room = code == RONDO_NO_DEVICE_MEMORY || code == RONDO_NO_HOST_MEMORY;
    if (verdict.code == RONDO_CODE_OK && no_room && struck(r)) {
        model_begin_failed(&r->m, stream);
        verdict.code = code;
    }
    match(r, status, verdict);
}

static graph_slot *graph_room(run *r) {
    for (int i = 0; i < GRAPHS; i++) {
        if (r->graphs[i].graph == NULL) return &r->graphs[i];
    }
    graph_slot *g = &r->graphs[r->step->words[0] % GRAPHS];
    rondo_graph_release(g->graph);
    model_graph_drop(g->model);
    *g = (graph_slot){0};
    return g;
}

static void check_graph(run *r, const graph_slot *g) {
    rondo_graph_info info;
    uint64_t live_in, written;
    rondo_status status = rondo_graph_get_info(g->graph, &info);
    if (status != RONDO_OK) differ(r, "a graph has no info");
    model_graph_bytes(&r->m, g->model, &live_in, &written);
    if (info.nodes != g->model->ops.count) differ(r, "a graph has %llu nodes", (unsigned long long)info.nodes);
    /* Replays count once they have been played. */
    if (info.replays > g->model->replays || (info.replays != g->model->replays && !any_pending(r))) {
        differ(r, "a graph has %llu replays, the model says %llu", (unsigned long long)info.replays,
               (unsigned long long)g->model->replays);
    }
    if (info.live_in_bytes != live_in && !g->model->temporaries) {
        differ(r, "a graph has %llu bytes live-in, the model says %llu", (unsigned long long)info.live_in_bytes,
               (unsigned long long)live_in);
    }
    if (info.written_bytes != written && !g->model->temporaries) {
        differ(r, "a graph writes %llu bytes, the model says %llu", (unsigned long long)info.written_bytes,
               (unsigned long long)written);
    }
}

static void keep_graph(run *r, rondo_graph *graph, model_graph *made) {
    graph_slot *room = graph_room(r);
    *room = (graph_slot){graph, made};
    say(r, " g%d of %zu nodes", (int)(room - r->graphs), made->ops.count);
    check_graph(r, room);
}

static void step_end(run *r) {
    uint32_t flags = choose(r, 4) == 0 ? RONDO_END_ALLOW_EMPTY : RONDO_END_DEFAULT, stream = r->step->stream;
    model_cell *cells[CELLS];
    rondo_graph *graph;
    model_graph *made;
    for (int i = 0; i < CELLS; i++) cells[i] = r->slots[i].cell;
    say(r, "s%u end%s", stream, flags != 0 ? " allowing empty" : "");
    rondo_status status = rondo_capture_end(r->streams[stream], flags, &graph);
    bool overlap = rondo_status_code(status) == RONDO_OVERLAP && model_may_overlap(&r->m, stream, cells, CELLS);
    model_verdict verdict = model_end(&r->m, stream, flags != 0, overlap, &made);
    match(r, status, verdict);
    if (made == NULL) return;
    keep_graph(r, graph, made);
}

static void step_window_info(run *r) {
    rondo_window_info info;
    const model_queue *queue = &r->m.queues[r->m.streams[r->step->stream].queue];
    bool own = queue->phase == RONDO_PHASE_RECORDING && queue->owner == r->step->stream;
    say(r, "s%u window info", r->step->stream);
    rondo_status status = rondo_capture_get_info(r->streams[r->step->stream], &info);
    match(r, status, (model_verdict){own ? RONDO_CODE_OK : RONDO_STATE, 0});
    if (!own) return;
    if (info.ops != queue->ops.count) differ(r, "a window holds %llu operations", (unsigned long long)info.ops);
    if ((info.doomed_by != RONDO_OK) != (queue->doomed != 0)) differ(r, "a window says wrongly whether it is doomed");
    if (queue->doomed != 0) bind(r, queue->doomed, rondo_status_number(info.doomed_by));
}

/* ---- graphs ---- */

static graph_slot *choose_graph(run *r) {
    uint32_t at = choose(r, GRAPHS);
    for (uint32_t i = 0; i < GRAPHS; i++) {
        graph_slot *g = &r->graphs[(at + i) % GRAPHS];
        if (g->graph == NULL) continue;
        say(r, " g%d", (int)(g - r->graphs));
        return g;
    }
    say(r, " none");
    return NULL;
}

/* Of several failures that spoil the inputs of a graph Rondo may name any, so it must do so at the call. */
static void make_certain(run *r, model_graph *graph) {
    if (model_claims_differ(&r->m, graph)) play_all(r);
}

static void step_replay(run *r) {
    say(r, "s%u replay", r->step->stream);
    graph_slot *g = choose_graph(r);
    if (g == NULL) return;
    make_certain(r, g->model);
    rondo_status status = rondo_graph_replay(g->graph, r->streams[r->step->stream]);
    uint64_t number = rondo_status_number(rondo_fault_root(status));
    match_issued(r, status, model_replay(&r->m, g->model, r->step->stream, number));
}

static void step_graph_release(run *r) {
    say(r, "release graph");
    graph_slot *g = choose_graph(r);
    if (g == NULL) return;
    rondo_graph_release(g->graph);
    model_graph_drop(g->model);
    *g = (graph_slot){0};
}

static void step_graph_info(run *r) {
    say(r, "info of graph");
    graph_slot *g = choose_graph(r);
    if (g != NULL) check_graph(r, g);
}

static const char *const span_params[][MODEL_ACCESSES] = {
    {"a", "out", NULL}, {"x", NULL, NULL}, {"a", "b", "out"}, {"flag", "out", NULL}, {"a", "out", NULL}};

static void step_update_value(run *r) {
    say(r, "update value of");
    graph_slot *g = choose_graph(r);
    if (g == NULL || g->model->ops.count == 0) return;
    size_t node = choose(r, (uint32_t)g->model->ops.count);
    model_op *op = &g->model->ops.data[node];
    uint32_t value = word(r);
    say(r, " node %zu to %u", node, value & 255);
    rondo_update update = rondo_update_value(node, "k", &value, sizeof value);
    rondo_status status = rondo_graph_update(g->graph, &update, 1);
    bool has = op->kind == MODEL_MIX || op->kind == MODEL_BUMP || op->kind == MODEL_FAIL_IF;
    match(r, status, (model_verdict){has ? RONDO_CODE_OK : RONDO_INVALID, 0});
    if (has) op->value = value;
}

static void step_update_span(run *r) {
    say(r, "update span of");
    graph_slot *g = choose_graph(r);
    if (g == NULL || g->model->ops.count == 0) return;
    size_t node = choose(r, (uint32_t)g->model->ops.count);
    model_op *op = &g->model->ops.data[node];
    if (!model_op_is_launch(op)) return;
    uint32_t access = choose(r, op->access_count), size = op->accesses[access].row_bytes;
    bool flag = op->kind == MODEL_FAIL_IF && access == 0;
    int at = flag ? choose_slot(r, 0, FLAGS) : choose_slot(r, FIRST_DEVICE, DEVICE_CELLS);
    slot *s = &r->slots[at];
    /* A temporary that is gone may have been cut up: what other nodes then read of it is nobody's promise. */
    const model_cell *was = op->accesses[access].cell;
    if (s->cell == NULL || (was->window != 0 && !was->alive)) return;
    if (is_alive(s) && s->cell->size < size) return;
    uint32_t low = is_alive(s) ? word(r) % (s->cell->size - size + 1) : 0;
    /* Shifted bytes of itself: what comes out would depend on the order of the items. */
    const model_access *other = &op->accesses[1 - access % 2];
    if (op->kind == MODEL_NEXT && other->cell == s->cell && other->low != low) return;
    say(r, " node %zu %s to c%d[%u,+%u]", node, span_params[op->kind - MODEL_MIX][access], at, low, size);
    rondo_update update = rondo_update_span(node, span_params[op->kind - MODEL_MIX][access],
                                            rondo_slice(s->buffer, low, size));
    rondo_status status = rondo_graph_update(g->graph, &update, 1);
    /* Whether memory of a window lies on a temporary of it, only Rondo knows [C5]. */
    bool overlap = rondo_status_code(status) == RONDO_OVERLAP && (s->cell->window | was->window) != 0;
    model_verdict verdict = {RONDO_OVERLAP, 0};
    if (!overlap) verdict = model_update_span(&r->m, g->model, node, access, s->cell, low);
    match(r, status, verdict);
    check_graph(r, g);
}

/* ---- the rest ---- */

/* Streams fold onto queues by id. */
static rondo_stream *new_stream(run *r, uint32_t at) {
    rondo_stream *stream;
    bool queued = (r->p->queued >> at & 1) != 0;
    rondo_stream_desc desc = {.mode = queued ? RONDO_STREAM_QUEUED : RONDO_STREAM_DIRECT};
    rondo_status status = rondo_stream_create_with(r->device, &desc, &stream);
    if (status != RONDO_OK) differ(r, "no stream");
    r->m.streams[at] = (model_stream){.queue = (uint32_t)(rondo_stream_id(stream) % r->p->queues)};
    return stream;
}

static void forget(run *r, uint32_t stream, uint32_t key) {
    if (r->keys[stream][key].graph != NULL) model_graph_drop(r->keys[stream][key].graph);
    r->keys[stream][key] = (key_slot){KEY_NEW, NULL};
}

static void step_stream(run *r) {
    uint32_t at = r->step->stream;
    say(r, "s%u is released and made anew", at);
    rondo_stream_release(r->streams[at]);
    model_stream_release(&r->m, at);
    for (uint32_t key = 0; key < KEYS; key++) forget(r, at, key);
    /* Queues are used in turn, so that the same seed meets the same neighbours in every process. */
    r->streams[at] = new_stream(r, at);
    say(r, " on queue %u", r->m.streams[at].queue);
}

/* ---- the one-call forms [C21] ---- */

static void do_step(run *r);

static bool fits_in_step(uint32_t kind) {
    return kind <= STEP_HOST || kind == STEP_SET_FLAG || kind == STEP_CREATE || kind == STEP_FILL_LAST ||
           kind == STEP_USE_LAST || kind == STEP_RELEASE_LAST || kind == STEP_REPLAY;
}

/* The user's step: some steps of the program, each time the same, on the caller's stream. */
static void do_substeps(run *r) {
    const program_step *outer = r->step;
    uint32_t outer_word = r->word;
    say(r, " {");
    for (size_t i = 0; i < r->call.count; i++) {
        program_step inner = r->p->library[(r->call.first + i) % r->p->library_count];
        if (!fits_in_step(inner.kind)) continue;
        inner.stream = outer->stream;
        r->step = &inner;
        r->word = 0;
        say(r, " ");
        do_step(r);
        say(r, ";");
    }
    r->step = outer;
    r->word = outer_word;
    say(r, " }");
}

static model_verdict end_of_step(run *r, bool refused, model_graph **out_graph) {
    model_cell *cells[CELLS];
    for (int i = 0; i < CELLS; i++) cells[i] = r->slots[i].cell;
    bool overlap = refused && model_may_overlap(&r->m, r->step->stream, cells, CELLS);
    return model_end(&r->m, r->step->stream, false, overlap, out_graph);
}

static rondo_status captured_step(rondo_stream *stream, void *user) {
    run *r = user;
    (void)stream;
    if (r->call.times++ == 0) {
        if (model_prepare(&r->m, r->step->stream).code != RONDO_CODE_OK) differ(r, "it runs in another's capture");
    } else if (model_begin(&r->m, r->step->stream).code != RONDO_CODE_OK) {
        differ(r, "the step runs a second time though nothing is prepared");
    }
    do_substeps(r);
    return RONDO_OK;
}

static void step_capture_step(run *r) {
    uint32_t stream = r->step->stream;
    rondo_graph *graph;
    model_graph *made = NULL;
    r->call = (one_call){.first = word(r), .count = 1 + choose(r, MOST_SUBSTEPS)};
    say(r, "s%u capture_step", stream);
    rondo_status status = rondo_capture_step(r->streams[stream], captured_step, r, &graph);
    if (r->call.times == 0) {
        match(r, status, model_prepare(&r->m, stream));
        return;
    }
    if (r->call.times != 2) differ(r, "the step ran %u times", r->call.times);
    match(r, status, end_of_step(r, rondo_status_code(status) == RONDO_OVERLAP, &made));
    if (made != NULL) keep_graph(r, graph, made);
}

/* The step of a key: eagerly at first, then recorded, and once more eagerly where that does not seal. */
static rondo_status keyed_step(rondo_stream *stream, void *user) {
    run *r = user;
    one_call *call = &r->call;
    uint32_t at = r->step->stream;
    bool free_queue = r->m.queues[r->m.streams[at].queue].phase == RONDO_PHASE_NONE;
    (void)stream;
    if (call->times++ == 1) {
        model_graph *made;
        if (call->key->state != KEY_WARM || !call->noting) differ(r, "the step runs twice");
        if (end_of_step(r, true, &made).code == RONDO_CODE_OK) differ(r, "a good recording was not sealed");
        call->refused = true;
    } else if (call->times > 2 || call->key->state == KEY_SEALED) {
        differ(r, "the step runs though there is a graph");
    } else if (free_queue && call->key->state != KEY_REFUSED) {
        call->noting = true;
        (void)model_prepare(&r->m, at);
        if (call->key->state == KEY_WARM) {
            (void)model_begin(&r->m, at);
            model_defer(&r->m, at);
        }
    }
    do_substeps(r);
    return RONDO_OK;
}

/* After a run of a key that was not sealed before: what it became. */
static model_verdict settle_key(run *r, key_slot *key, rondo_run_mode *out_mode) {
    const one_call *call = &r->call;
    uint32_t stream = r->step->stream;
    *out_mode = key->state == KEY_NEW ? RONDO_RUN_EAGER : RONDO_RUN_FALLBACK;
    if (key->state == KEY_NEW && call->noting) {
        model_leave_prepared(&r->m, stream);
        key->state = KEY_WARM;
    } else if (key->state == KEY_WARM && call->refused) {
        key->state = KEY_REFUSED;
    } else if (key->state == KEY_WARM && call->noting) {
        model_verdict sealed = end_of_step(r, false, &key->graph);
        if (key->graph == NULL) differ(r, "sealed, the model says %s", name_of(sealed.code));
        key->state = KEY_SEALED;
        *out_mode = RONDO_RUN_CAPTURED;
        return model_replay(&r->m, key->graph, stream, 0);
    }
    return (model_verdict){RONDO_CODE_OK, 0};
}

static void step_run(run *r) {
    uint32_t stream = r->step->stream, at = choose(r, KEYS);
    key_slot *key = &r->keys[stream][at];
    const model_queue *queue = &r->m.queues[r->m.streams[stream].queue];
    rondo_run_info info;
    rondo_run_mode mode = RONDO_RUN_REPLAYED;
    model_verdict verdict = {RONDO_STATE, 0};
    bool capturing = queue->phase != RONDO_PHASE_NONE && queue->owner == stream;
    r->call = (one_call){.first = stream * 31 + at * 17, .count = 1 + at * 3, .key = key};
    say(r, "s%u run key %u", stream, at);
    if (key->graph != NULL) make_certain(r, key->graph);
    rondo_status status = rondo_run(r->streams[stream], at, keyed_step, r, &info);
    if (!capturing && key->state == KEY_SEALED) {
        uint64_t number = rondo_status_number(rondo_fault_root(status));
        verdict = model_replay(&r->m, key->graph, stream, number);
    } else if (!capturing) {
        if (r->call.times == 0) differ(r, "the step did not run");
        verdict = settle_key(r, key, &mode);
    }
    match_issued(r, status, verdict);
    if (!capturing && info.last_mode != mode) differ(r, "it ran in mode %d, not %d", (int)info.last_mode, (int)mode);
}

static void step_forget(run *r) {
    uint32_t stream = r->step->stream, key = choose(r, KEYS);
    say(r, "s%u forget key %u", stream, key);
    match(r, rondo_run_forget(r->streams[stream], key), (model_verdict){RONDO_CODE_OK, 0});
    forget(r, stream, key);
}

/* Which of several failures is the oldest is a matter of when they came about, so Rondo is asked for their numbers. */
static void step_device_sync(run *r) {
    say(r, "device sync");
    play_all(r);
    for (uint32_t s = 0; s < r->p->streams; s++) {
        const rdo_stream *stream = rdo_object_find(RDO_OBJECT_STREAM, r->streams[s]);
        uint32_t failure = r->m.streams[s].first_failure;
        if (failure != 0) bind(r, failure, rondo_status_number(rondo_fault_root(stream->first_failure)));
    }
    match(r, rondo_device_sync(r->device), model_device_sync(&r->m));
}

static void do_step(run *r) {
    uint32_t kind = r->step->kind, stream = r->step->stream;
    r->ticket = engine_of(r)->order.last_ticket;
    switch (kind) {
    case STEP_SET_FLAG: step_set_flag(r); break;
    case STEP_FLIP_HOST:
        play_all(r); /* nothing tells Rondo that pending host calls look at this */
        host_calls_fail = r->m.host_fails = !r->m.host_fails;
        say(r, "host calls that may fail now %s", host_calls_fail ? "do" : "do not");
        break;
    case STEP_READ: step_read(r); break;
    case STEP_SPAN_STATUS: step_span_status(r); break;
    case STEP_SYNC:
        say(r, "s%u sync", stream);
        match(r, rondo_stream_sync(r->streams[stream]), model_sync(&r->m, stream));
        break;
    case STEP_HOST_WAIT: step_host_wait(r); break;
    case STEP_DEVICE_SYNC: step_device_sync(r); break;
    case STEP_CREATE: step_create(r, false); break;
    case STEP_RELEASE: step_release(r); break;
    case STEP_HOST_CREATE: step_create(r, true); break;
    case STEP_IMPORT: step_import(r); break;
    case STEP_EVENT_RECORD: step_event(r, MODEL_EVENT_RECORD); break;
    case STEP_EVENT_WAIT: step_event(r, MODEL_EVENT_WAIT); break;
    case STEP_EVENT_STATUS: step_event_status(r); break;
    case STEP_PREPARE:
        say(r, "s%u prepare", stream);
        match(r, rondo_capture_prepare(r->streams[stream]), model_prepare(&r->m, stream));
        break;
    case STEP_BEGIN: step_begin(r); break;
    case STEP_END: step_end(r); break;
    case STEP_ABORT:
        say(r, "s%u abort", stream);
        match(r, rondo_capture_abort(r->streams[stream]), model_abort(&r->m, stream));
        break;
    case STEP_WINDOW_INFO: step_window_info(r); break;
    case STEP_REPLAY: step_replay(r); break;
    case STEP_GRAPH_RELEASE: step_graph_release(r); break;
    case STEP_GRAPH_INFO: step_graph_info(r); break;
    case STEP_UPDATE_VALUE: step_update_value(r); break;
    case STEP_UPDATE_SPAN: step_update_span(r); break;
    case STEP_TRIM: step_trim(r); break;
    case STEP_MAP: step_map(r); break;
    case STEP_UNMAP: step_unmap(r); break;
    case STEP_STREAM: step_stream(r); break;
    case STEP_CAPTURE_STEP: step_capture_step(r); break;
    case STEP_RUN: step_run(r); break;
    case STEP_FORGET: step_forget(r); break;
    case STEP_FILL_LAST: step_fill_last(r); break;
    case STEP_USE_LAST: step_use_last(r); break;
    case STEP_RELEASE_LAST: step_release_last(r); break;
    default: step_operation(r, kind); break;
    }
}

/* Which call of the backend a step makes, so that a rule can strike it. */
static rondo_sim_call call_of(uint32_t kind) {
    switch (kind) {
    case STEP_REPLAY: return RONDO_SIM_GRAPH_SUBMIT;
    case STEP_END:
    case STEP_UPDATE_SPAN: return RONDO_SIM_GRAPH_BUILD;
    case STEP_IMPORT: return RONDO_SIM_PAGE_IMPORT;
    case STEP_CREATE:
    case STEP_HOST_CREATE:
    case STEP_BEGIN: return RONDO_SIM_PAGE_ALLOC;
    default: return RONDO_SIM_SUBMIT;
    }
}

static void arm(run *r) {
    static const rondo_backend_result results[] = {
        RONDO_BACKEND_NOT_RUN,  RONDO_BACKEND_FAILED,     RONDO_BACKEND_NO_MEMORY,
        RONDO_BACKEND_NOT_RUN,  RONDO_BACKEND_DEVICE_FULL, RONDO_BACKEND_DEVICE_LOST};
    bool composed = r->step->kind == STEP_RUN || r->step->kind == STEP_CAPTURE_STEP;
    uint8_t f = composed ? 0 : r->step->fault;
    rondo_sim_reset();
    r->struck_before = 0;
    r->m.armed = f != 0;
    r->m.rule_seen = r->m.struck = 0;
    if (f == 0) return;
    play_all(r); /* the rule is to strike this step */
    rondo_sim_fault *rule = &r->m.rule;
    *rule = (rondo_sim_fault){.call = call_of(r->step->kind), .nth = 1, .count = f % 2, .reason = 9};
    rule->result = results[(f >> 1) % 6];
    bool replay = rule->call == RONDO_SIM_GRAPH_SUBMIT;
    if (!replay && rule->call != RONDO_SIM_SUBMIT && rule->result == RONDO_BACKEND_FAILED) {
        rule->result = RONDO_BACKEND_NOT_RUN;
    }
    if (replay) rule->node = (f >> 4) % 4;
    if (replay && f >= 192) rule->nth = 2;
    if (!rondo_sim_fail(rule)) abort();
    say(r, "[%s %llu of %s, node %llu, result %d] ", rule->count == 0 ? "from" : "at", (unsigned long long)rule->nth,
        replay ? "replay" : "call", (unsigned long long)rule->node, (int)rule->result);
}

static void open_all(run *r) {
    static const rondo_memory_layout layouts[] = {
        {.small_page_bytes = 4096, .small_max_bytes = 256, .page_min_bytes = 4096, .page_max_bytes = 1 << 16},
        {.small_page_bytes = 1024, .small_max_bytes = 128, .page_min_bytes = 4096, .page_max_bytes = 8192},
        {.small_page_bytes = 512, .small_max_bytes = 64, .page_min_bytes = 1024, .page_max_bytes = 4096}};
    rondo_device_desc desc = {.max_queues = r->p->queues, .workers = 1, .debug_fresh = r->p->debug_fresh};
    desc.memory = layouts[r->p->layout];
    rondo_sim_reset();
    if (rondo_device_open("sim", &desc, &r->device) != RONDO_OK) differ(r, "no device");
    for (int i = 0; i < SIM_KERNELS; i++) {
        if (rondo_kernel_create(r->device, &sim_kernels[i], &r->kernels[i]) != RONDO_OK) differ(r, "no kernel");
    }
    for (int i = 0; i < MODEL_EVENTS; i++) {
        if (rondo_event_create(r->device, &r->events[i]) != RONDO_OK) differ(r, "no event");
    }
    rondo_stream *turn = NULL; /* ids go on from program to program: the first stream is always on queue 0 */
    do {
        rondo_stream_release(turn);
        turn = new_stream(r, 0);
    } while (rondo_stream_id(turn) % r->p->queues != 0);
    r->streams[0] = turn;
    for (uint32_t s = 1; s < r->p->streams; s++) r->streams[s] = new_stream(r, s);
    for (int i = 0; i < FLAGS; i++) {
        static const uint8_t zeros[4];
        if (rondo_buffer_create(r->streams[0], 4, RONDO_USAGE_GENERAL, &r->slots[i].buffer) != RONDO_OK ||
            rondo_write(r->streams[0], rondo_whole(r->slots[i].buffer), zeros, NULL) != RONDO_OK) {
            differ(r, "no flag");
        }
        r->slots[i].cell = model_cell_new(&r->m, 4, false, true);
    }
}

/* When all is gone nothing is left: no claim, no failure, no byte [M6, T5]. */
static void close_all(run *r, uint64_t carried_before) {
    rondo_device_stats stats;
    uint64_t kept = 1;
    rondo_sim_reset();
    for (int i = 0; i < GRAPHS; i++) {
        if (r->graphs[i].graph == NULL) continue;
        rondo_graph_release(r->graphs[i].graph);
        model_graph_drop(r->graphs[i].model);
    }
    for (int i = 0; i < CELLS; i++) {
        if (is_alive(&r->slots[i])) release_slot(r, i);
    }
    for (uint32_t s = 0; s < r->p->streams; s++) {
        rondo_stream_release(r->streams[s]);
        model_stream_release(&r->m, s);
        for (uint32_t key = 0; key < KEYS; key++) forget(r, s, key);
    }
    for (int i = 0; i < MODEL_EVENTS; i++) rondo_event_release(r->events[i]);
    for (int i = 0; i < SIM_KERNELS; i++) rondo_kernel_release(r->kernels[i]);
    for (int i = 0; i < CELLS; i++) {
        if (r->slots[i].cell != NULL) model_cell_unref(r->slots[i].cell);
    }
    if (rondo_device_trim(r->device, &kept) != RONDO_OK || kept != 0) differ(r, "memory is left");
    if (rondo_device_get_stats(r->device, &stats) != RONDO_OK) differ(r, "no stats");
    if (stats.streams + stats.kernels + stats.events + stats.graphs + stats.buffers + stats.host_blocks != 0) {
        differ(r, "objects are left");
    }
    if (stats.tainted_allocations != 0 || rondo_fault_live_count() != carried_before) differ(r, "claims are left");
    rondo_device_release(r->device);
}

bool program_run(const program *p, bool verbose, char *out_text) {
    run *volatile r = calloc(1, sizeof *r);
    uint64_t carried_before = rondo_fault_live_count();
    if (r == NULL) abort();
    r->p = p;
    r->text = out_text;
    r->verbose = verbose; /* kept where a jump back finds it */
    host_calls_fail = false;
    model_init(&r->m);
    r->m.debug_fresh = p->debug_fresh;
    if (setjmp(r->differs) != 0) {
        if (r->verbose) printf("      %s\n", r->line);
        return false; /* the state is no longer known, so it is left as it is */
    }
    rdo_pending_by_hand(p->queued != 0 ? choose_pending : NULL);
    open_all(r);
    for (r->index = 0; r->index < p->count; r->index++) {
        r->step = &p->steps[r->index];
        r->line_length = r->word = 0;
        r->line[0] = '\0';
        pending_choices = choices_of_seed(r->step->words[PROGRAM_WORDS - 1]);
        arm(r);
        if (r->verbose) (void)fflush(stdout); /* the next step may crash */
        if (r->step->stream < p->streams) do_step(r);
        if (r->m.armed) play_all(r);
        rondo_sim_reset();
        play_some(r);
        if (r->line[0] == '\0') continue;
        compare(r);
        if (r->verbose) printf("%5zu %s\n", r->index, r->line);
    }
    r->line_length = 0;
    say(r, "the end");
    close_all(r, carried_before);
    model_finish(&r->m);
    free(r);
    return true;
}
