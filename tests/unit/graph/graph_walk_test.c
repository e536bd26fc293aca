/* Every sequence of what can happen to a graph, against a short reference: replays that run, are refused, fail or are
 * skipped, updates, replays that are under way meanwhile, buffers and handles that go, windows that take it in.
 *
 * The graph has five nodes: y = v; y = INPUT; an event; y *= FACTOR; x = -x. So the second writes all that the first
 * may have spoiled, the fourth needs the second, the last needs nothing of the others, and x is read before it is
 * written, y is not. INPUT is x or w, FACTOR 2 or 5; updates change them. */
#include <rondo/rondo.h>
#include <rondo/sim.h>

#include "graph/graph.h"
#include "test_kernels.kernels.h"
#include "walk.h"

enum { BYTES = sizeof(int32_t), X_AT_FIRST = 3, Y_AT_FIRST = 9, W = 7, V = 11, MOST_WAITING = 2 };
enum { OVERWRITTEN_NODE, INPUT_NODE, EVENT_NODE, FACTOR_NODE, LAST_NODE, NODES };
enum { X, Y, INPUT_W, INPUT_V, BUFFERS };

#define OK(call) assert_int_equal(rondo_status_code(call), RONDO_OK)

/* ---- the reference ---- */

typedef enum mark {
    GOOD,
    SPOILED,
    INTACT /* claimed by this graph's own failed enqueue, and as it was before */
} mark;

typedef struct word {
    int32_t value;
    mark mark;
    rondo_status why; /* the failure that claims it */
} word;

/* What an update has changed. */
typedef struct version {
    int32_t factor;
    bool from_w;
} version;

typedef struct reference {
    word x, y;
    bool handle, under_way; /* the user holds the graph; a replay that runs does */
    bool x_gone;            /* the user has given x back */
    bool completed;         /* the event */
    version now, waiting[MOST_WAITING]; /* each waiting one with all before it */
    unsigned waiting_count;
    bool keeps_w;           /* the graph that this one took in kept it in place */
    uint64_t replays;
} reference;

static reference r;

static version newest(void) {
    return r.waiting_count != 0 ? r.waiting[r.waiting_count - 1] : r.now;
}

/* A change of input makes the graph look anew at what it has to keep. */
static void become(version next) {
    if (next.from_w != r.now.from_w) r.keeps_w = false;
    r.now = next;
}

static void apply_waiting(void) {
    for (unsigned i = 0; i < r.waiting_count; i++) become(r.waiting[i]);
    r.waiting_count = 0;
}

static void spoil(word *w, rondo_status why, mark how) {
    w->mark = how;
    w->why = why;
}

static void put(word *w, int32_t value) {
    *w = (word){.value = value};
}

/* ---- the real thing ---- */

static rondo_device *device;
static rondo_stream *home, *away; /* on different queues */
static rondo_kernel *copy, *scale;
static rondo_event *event;
static rondo_buffer x, y, w, v;
static rdo_memory *records[BUFFERS];
static rondo_graph *graph;
static rdo_graph *inside; /* the same, while it lives */

static rondo_status write_word(rondo_buffer buffer, int32_t value) {
    return rondo_fill(home, rondo_whole(buffer), &value, sizeof value, NULL);
}

static rdo_memory *make_buffer(rondo_buffer *out, int32_t value) {
    OK(rondo_buffer_create(home, BYTES, RONDO_USAGE_GENERAL, out));
    OK(write_word(*out, value));
    return rdo_memory_find(*out);
}

/* The failure that work on either stream reported since the last time; RONDO_OK if none. */
static rondo_status first_failure(void) {
    rondo_status at_home = rondo_stream_sync(home), elsewhere = rondo_stream_sync(away);
    return at_home != RONDO_OK ? at_home : elsewhere;
}

static void know_graph(void) {
    inside = rdo_graph_hold(graph);
    assert_non_null(inside);
    rdo_graph_drop(inside);
    r.handle = true;
    r.replays = 0;
}

static void record(void) {
    OK(rondo_capture_prepare(home));
    OK(rondo_capture_begin(home));
    OK(copy_i32_launch(home, copy, rondo_grid_1d(1), rondo_whole(v), rondo_whole(y), "overwritten"));
    OK(copy_i32_launch(home, copy, rondo_grid_1d(1), rondo_whole(x), rondo_whole(y), "input"));
    OK(rondo_event_record(home, event, NULL));
    OK(scale_i32_launch(home, scale, rondo_grid_1d(1), rondo_whole(y), 2, "factor"));
    OK(scale_i32_launch(home, scale, rondo_grid_1d(1), rondo_whole(x), -1, "last"));
    OK(rondo_capture_end(home, RONDO_END_DEFAULT, &graph));
    r.now = (version){.factor = 2};
    r.completed = false;
    know_graph();
}

/* ---- steps ---- */

typedef enum choice {
    REPLAY_HOME,
    REPLAY_AWAY,
    REPLAY_REFUSED, /* the backend does not take it: nothing runs */
    FIRST_FAILS,
    SECOND_FAILS,
    FACTOR_GIVES_UP, /* the backend stops half-way */
    LAST_FAILS,
    OTHER_REFUSED, /* the same, of another graph that reads x: its mark is not this graph's */
    WRITE_X,
    SPOIL_X,
    WRITE_Y,
    UPDATE_FACTOR,
    UPDATE_INPUT,
    UPDATE_TO_ALIAS,
    BEGIN_OR_END_REPLAY,
    RELEASE,
    RELEASE_X,
    NEST,
    RECORD,
    CHOICES
} choice;

static const char *name(unsigned c) {
    static const char *const names[CHOICES] = {
        "replay at home", "replay on another queue", "replay that the backend refuses",
        "replay whose first node fails", "replay whose second node fails", "replay that stops after the event",
        "replay whose last node fails", "replay of another graph on x that the backend refuses", "write x", "spoil x",
        "write y", "update the factor", "update the input", "update to an aliased input",
        "a long replay begins or ends", "release the graph", "release x", "take the graph into another",
        "record anew"};
    return names[c];
}

static void arm(choice c) {
    rondo_sim_fault fault = {.call = RONDO_SIM_GRAPH_SUBMIT, .result = RONDO_BACKEND_FAILED, .nth = 1, .count = 1,
                             .reason = 6};
    if (c == REPLAY_REFUSED || c == FACTOR_GIVES_UP) fault.result = RONDO_BACKEND_NOT_RUN;
    if (c == SECOND_FAILS) fault.node = 1;
    if (c >= FACTOR_GIVES_UP) fault.nth = 2; /* what comes after the event is submitted by itself */
    if (c == LAST_FAILS) fault.node = 1;
    if (c >= REPLAY_REFUSED) assert_true(rondo_sim_fail(&fault));
}

/* [R4] What a replay leaves that was enqueued; `why` is the failure of the node that was to fail. */
static void nodes_ran(choice c, rondo_status why) {
    put(&r.y, (r.now.from_w ? W : r.x.value) * r.now.factor);
    put(&r.x, -r.x.value);
    if (c == SECOND_FAILS || c == FACTOR_GIVES_UP) spoil(&r.y, why, SPOILED);
    if (c == LAST_FAILS) spoil(&r.x, why, SPOILED);
    r.replays++;
    r.completed = true;
}

static uint64_t skips_of(rondo_status failure) {
    rondo_fault fault;
    OK(rondo_fault_get(failure, &fault));
    return fault.skips;
}

/* [R1] [R2] [R4] [R5] [R9] [W7] */
static const char *replay(choice c) {
    if (c != REPLAY_HOME && c != REPLAY_AWAY && (!r.handle || r.x.mark == SPOILED)) return WALK_NOT_NOW;
    arm(c);
    rondo_status status = rondo_graph_replay(graph, c == REPLAY_AWAY ? away : home);
    rondo_status failure = first_failure(), root = rondo_fault_root(status);
    rondo_code code = rondo_status_code(status);
    if (!r.handle) return code == RONDO_STALE && failure == RONDO_OK ? NULL : "replay of a dead graph";
    apply_waiting();
    if (r.x.mark == SPOILED) {
        spoil(&r.y, r.x.why, SPOILED);
        return code == RONDO_TAINTED && root == r.x.why ? NULL : "replay of a spoiled input";
    }
    if (c == REPLAY_REFUSED) {
        spoil(&r.y, status, SPOILED);
        spoil(&r.x, status, INTACT);
        return code == RONDO_BACKEND && failure == RONDO_OK ? NULL : "replay that was refused";
    }
    nodes_ran(c, failure);
    if (failure != RONDO_OK && skips_of(failure) != (c == SECOND_FAILS)) return "skips";
    rondo_code wanted = c == FACTOR_GIVES_UP ? RONDO_BACKEND : c >= FIRST_FAILS ? RONDO_KERNEL : RONDO_OK;
    return status == RONDO_OK && rondo_status_code(failure) == wanted ? NULL : "replay";
}

/* [R2] */
static const char *refuse_other(void) {
    rondo_graph *other;
    if (r.x_gone || r.x.mark != GOOD) return WALK_NOT_NOW;
    OK(rondo_capture_prepare(home));
    OK(rondo_capture_begin(home));
    OK(scale_i32_launch(home, scale, rondo_grid_1d(1), rondo_whole(x), -1, NULL));
    OK(rondo_capture_end(home, RONDO_END_DEFAULT, &other));
    arm(REPLAY_REFUSED);
    rondo_status status = rondo_graph_replay(other, home);
    rondo_graph_release(other);
    spoil(&r.x, status, SPOILED);
    return rondo_status_code(status) == RONDO_BACKEND ? NULL : "replay of another graph";
}

static int give_up(void *user, const rondo_host_access *accesses, size_t count) {
    (void)user, (void)accesses, (void)count;
    return 1;
}

/* [T2] [T3] */
static const char *change_word(choice c) {
    if (c != WRITE_Y && r.x_gone) return WALK_NOT_NOW;
    if (c == WRITE_Y) {
        put(&r.y, Y_AT_FIRST);
        return write_word(y, Y_AT_FIRST) == RONDO_OK ? NULL : "write of y";
    }
    if (c == WRITE_X) {
        put(&r.x, X_AT_FIRST);
        return write_word(x, X_AT_FIRST) == RONDO_OK ? NULL : "write of x";
    }
    const rondo_host_access access = {rondo_slice(x, 0, BYTES), RONDO_WRITES, NULL};
    rondo_status status = rondo_host_call(home, give_up, NULL, NULL, &access, 1, NULL), failure = first_failure();
    spoil(&r.x, failure, SPOILED);
    return status == RONDO_OK && rondo_status_code(failure) == RONDO_KERNEL ? NULL : "host call that fails";
}

/* [R9] All of an update or nothing, and none of it for a replay that is under way. */
static const char *update(choice c) {
    if (!r.handle || (r.under_way && r.waiting_count == MOST_WAITING)) return WALK_NOT_NOW;
    version next = newest();
    next.factor = c == UPDATE_FACTOR ? 7 - next.factor : next.factor;
    next.from_w = c == UPDATE_INPUT ? !next.from_w : next.from_w;
    rondo_update change = rondo_update_value(FACTOR_NODE, "k", &next.factor, sizeof next.factor);
    if (c == UPDATE_INPUT) change = rondo_update_span(INPUT_NODE, "x", rondo_whole(next.from_w ? w : x));
    if (c == UPDATE_TO_ALIAS) change = rondo_update_span(INPUT_NODE, "x", rondo_whole(y));
    rondo_code code = rondo_status_code(rondo_graph_update(graph, &change, 1));
    if (c == UPDATE_TO_ALIAS) return code == RONDO_ALIASED ? NULL : "update to an aliased input";
    if (c == UPDATE_INPUT && !next.from_w && r.x_gone) return code == RONDO_STALE ? NULL : "update to a dead buffer";
    if (code != RONDO_OK) return "update";
    if (r.under_way) {
        r.waiting[r.waiting_count++] = next;
    } else {
        apply_waiting();
        become(next);
    }
    return NULL;
}

/* A replay that is under way counts as a use of the graph; this one is that and nothing else. */
static const char *begin_or_end_replay(void) {
    if (!r.under_way && !r.handle) return WALK_NOT_NOW;
    if (r.under_way) {
        rdo_graph_drop(inside);
    } else if (rdo_graph_hold(graph) != inside) {
        return "hold";
    }
    r.under_way = !r.under_way;
    return NULL;
}

/* [R7] */
static const char *release(choice c) {
    if (c == RELEASE) {
        if (!r.handle) return WALK_NOT_NOW;
        rondo_graph_release(graph);
        r.handle = false;
        return NULL;
    }
    if (r.x_gone) return WALK_NOT_NOW;
    rondo_buffer_release(x);
    r.x_gone = true;
    return NULL;
}

/* [R9] A waiting update guards its buffers as well. */
static bool is_guarded(unsigned which) {
    bool through_w = r.now.from_w || r.keeps_w;
    for (unsigned i = 0; i < r.waiting_count; i++) through_w = through_w || r.waiting[i].from_w;
    return (r.handle || r.under_way) && (which != INPUT_W || through_w);
}

/* [R8] [C15] The graph is replayed in a window; what that seals into takes its place. */
static const char *nest(void) {
    rondo_graph *outer = NULL;
    if (!r.handle || r.under_way) return WALK_NOT_NOW;
    OK(rondo_capture_prepare(home));
    OK(rondo_capture_begin(home));
    rondo_code inner = rondo_status_code(rondo_graph_replay(graph, home));
    rondo_code sealed = rondo_status_code(rondo_capture_end(home, RONDO_END_DEFAULT, &outer));
    if (r.x.mark != GOOD) {
        spoil(&r.y, r.x.why, SPOILED);
        /* Nothing ran, so the graph's own mark stays. Only where the last node is the first to be skipped, that lays
         * its claim over x; then the event was recorded before. */
        if (newest().from_w) {
            r.x.mark = SPOILED;
            r.completed = false;
        }
        return inner == RONDO_TAINTED && sealed == RONDO_DOOMED && outer == NULL ? NULL : "window on a spoiled input";
    }
    if (inner != RONDO_OK || sealed != RONDO_OK) return "window around a replay";
    r.keeps_w = is_guarded(INPUT_W);
    r.now = newest();
    r.waiting_count = 0;
    r.completed = false;
    rondo_graph_release(graph);
    graph = outer;
    know_graph();
    return NULL;
}

static const char *record_anew(void) {
    if (r.handle || r.under_way || r.x_gone || r.x.mark != GOOD) return WALK_NOT_NOW;
    record();
    return NULL;
}

static const char *take_step(choice c) {
    switch (c) {
    case OTHER_REFUSED: return refuse_other();
    case WRITE_X:
    case SPOIL_X:
    case WRITE_Y: return change_word(c);
    case UPDATE_FACTOR:
    case UPDATE_INPUT:
    case UPDATE_TO_ALIAS: return update(c);
    case BEGIN_OR_END_REPLAY: return begin_or_end_replay();
    case RELEASE:
    case RELEASE_X: return release(c);
    case NEST: return nest();
    case RECORD: return record_anew();
    default: return replay(c);
    }
}

/* What an ending graph leaves behind: a claim that it marked as intact is like any other for the next one. */
static void settle_reference(void) {
    if (r.handle || r.under_way) return;
    if (r.x.mark == INTACT) r.x.mark = SPOILED;
    r.waiting_count = 0;
    r.keeps_w = false;
}

/* ---- what can be seen ---- */

static const char *word_differs(rondo_buffer buffer, const word *expected) {
    rondo_status status = rondo_span_status(rondo_whole(buffer));
    int32_t value = 0;
    if (expected->mark != GOOD) {
        bool told = rondo_status_code(status) == RONDO_TAINTED && rondo_fault_root(status) == expected->why;
        return told ? NULL : "claims";
    }
    if (status != RONDO_OK || rondo_read(home, rondo_whole(buffer), &value, NULL) != RONDO_OK) return "claims";
    return value == expected->value ? NULL : "bytes";
}

static const char *guards_differ(void) {
    for (unsigned i = 0; i < BUFFERS; i++) {
        bool recycled = i == X && r.x_gone && !is_guarded(i);
        if (recycled) continue;
        if (!rdo_page_check(records[i]->page)) return "invariants of a page";
        if ((records[i]->page->slices[records[i]->slice].guards != 0) != is_guarded(i)) return "guards";
    }
    return NULL;
}

static const char *info_differs(void) {
    rondo_graph_info info;
    rondo_code code = rondo_status_code(rondo_graph_get_info(graph, &info));
    if (!r.handle) return code == RONDO_STALE ? NULL : "the handle of a dead graph";
    if (code != RONDO_OK || info.nodes != NODES || info.replays != r.replays) return "numbers";
    if (info.live_in_bytes != (newest().from_w ? 3 : 2) * BYTES || info.written_bytes != 2 * BYTES) return "live-in";
    return NULL;
}

/* ---- inside ---- */

/* What is seen only later: the nodes as they are and as they will be, marks and counts. */
static const char *inside_differs(void) {
    const rdo_patch *patch = inside->patches;
    rdo_op *const *ops = inside->program->ops;
    int32_t factor;
    if (inside->refs != r.handle || inside->uses != r.under_way) return "counts";
    memcpy(&factor, ops[FACTOR_NODE]->values[1], sizeof factor);
    if (factor != r.now.factor) return "factor";
    if (ops[INPUT_NODE]->accesses[0].id != (r.now.from_w ? w.id : x.id)) return "input";
    for (unsigned i = 0; i < r.waiting_count; i++, patch = patch->next) {
        bool changes_input = r.waiting[i].from_w != (i == 0 ? r.now : r.waiting[i - 1]).from_w;
        if (patch == NULL || (patch->program != NULL) != changes_input) return "updates that wait";
    }
    if (patch != NULL || atomic_load(&inside->patched) != (r.waiting_count != 0)) return "updates that wait";
    const rdo_range *claim = rdo_claims_find(&records[X]->claims, 0, BYTES);
    bool marked = claim != NULL && claim->tag == inside->holder.graph_id;
    return marked == (r.x.mark == INTACT) ? NULL : "mark";
}

/* The invariants that graph.h states. */


static bool guards(const rdo_access *access) {
    for (size_t i = 0; i < inside->guards.count; i++) {
        if (inside->guards.data[i].page == access->page && inside->guards.data[i].slice == access->slice) return true;
    }
    return false;
}

/* The bytes of `expected` and, if it is not 0, the one at `extra`: nothing else, sorted and apart. */
static bool same_bytes(const rdo_extent_list *list, const rdo_ranges *expected, uint64_t extra) {
    uint64_t total = rdo_ranges_total(expected) + (extra != 0), sum = 0;
    for (size_t i = 0; i < list->count; i++) {
        const rdo_extent *part = &list->data[i];
        if (i != 0 && list->data[i - 1].high > part->low) return false;
        sum += part->high - part->low;
        bool own = part->low == extra && part->high == extra + 1;
        if (!own && !rdo_ranges_cover(expected, part->low, part->high)) return false;
    }
    return sum == total;
}

static bool same_live_in(const rdo_bytes_list *list, const rdo_ranges *expected) {
    uint64_t sum = 0;
    for (size_t i = 0; i < list->count; i++) {
        uint64_t base = list->data[i].memory->address;
        sum += list->data[i].high - list->data[i].low;
        if (!rdo_ranges_cover(expected, base + list->data[i].low, base + list->data[i].high)) return false;
    }
    return sum == rdo_ranges_total(expected);
}

/* Notes the bytes of one access; false for one that nothing guards. */
static bool survey(const rdo_access *access, rdo_ranges *read, rdo_ranges *written, rdo_ranges *live_in) {
    uint64_t base = access->address, low = base + access->low, high = base + rdo_access_high(access);
    if (rdo_access_reads(access)) {
        (void)rdo_ranges_set(read, low, high, 1, 0);
        if (!rdo_ranges_cover(written, low, high)) (void)rdo_ranges_set(live_in, low, high, 1, 0);
    }
    if (rdo_access_writes(access)) (void)rdo_ranges_set(written, low, high, 1, 0);
    return guards(access);
}

/* [P3] [R2] [R6] */
static bool invariants_hold(void) {
    rdo_ranges read = {0}, written = {0}, live_in = {0};
    const rdo_program *program = inside->program;
    bool hold = true;
    for (uint64_t n = 0; n < program->count; n++) {
        const rdo_op *op = program->ops[n];
        for (uint32_t i = 0; i < op->access_count; i++) {
            hold = survey(&op->accesses[i], &read, &written, &live_in) && hold;
        }
    }
    hold = hold && same_bytes(&program->survey.reads, &read, 0) &&
           same_bytes(&program->survey.writes, &written, inside->address) && same_live_in(&program->live_in, &live_in);
    rdo_ranges_finish(&read);
    rdo_ranges_finish(&written);
    rdo_ranges_finish(&live_in);
    return hold;
}

static const char *step(unsigned c) {
    const char *what = take_step((choice)c);
    if (what != NULL) return what;
    settle_reference();
    if (rondo_stream_sync(home) != RONDO_OK || rondo_stream_sync(away) != RONDO_OK) return "failures";
    what = r.x_gone ? NULL : word_differs(x, &r.x);
    if (what == NULL) what = word_differs(y, &r.y);
    if (what == NULL) what = guards_differ();
    if (what == NULL) what = info_differs();
    if (what == NULL && (rondo_event_status(event) == RONDO_OK) != r.completed) what = "event";
    if (what == NULL && (r.handle || r.under_way)) what = invariants_hold() ? inside_differs() : "invariants";
    return what;
}

static void start(void) {
    r = (reference){.x.value = X_AT_FIRST, .y.value = Y_AT_FIRST};
    records[X] = make_buffer(&x, X_AT_FIRST);
    records[Y] = make_buffer(&y, Y_AT_FIRST);
    records[INPUT_W] = make_buffer(&w, W);
    records[INPUT_V] = make_buffer(&v, V);
    record();
}

/* [M6] [T5] Nothing is left, whatever happened. */
static void end(void) {
    rondo_device_stats stats;
    rondo_pool_report report;
    if (r.under_way) rdo_graph_drop(inside);
    if (r.handle) rondo_graph_release(graph);
    if (!r.x_gone) rondo_buffer_release(x);
    rondo_buffer_release(y);
    rondo_buffer_release(w);
    rondo_buffer_release(v);
    OK(rondo_stream_sync(home));
    OK(rondo_device_get_stats(device, &stats));
    OK(rondo_pool_get_report(device, RONDO_POOL_SMALL, &report));
    bool clean = stats.graphs == 0 && stats.buffers == 0 && stats.tainted_allocations == 0 &&
                 report.guarded_bytes == 0 && report.in_use_bytes == 0 && rondo_fault_live_count() == 0;
    if (!clean) fail_msg("something is left of a sequence");
}

static uint64_t add_digit(uint64_t number, uint64_t digit, uint64_t base) {
    assert_true(digit < base);
    return number * base + digit;
}

static uint64_t add_version(uint64_t number, version of) {
    return add_digit(number, (uint64_t)(of.factor == 5) * 2 + of.from_w, 4);
}

/* Which failure it is, and what y and a spoiled word hold, decides nothing. */
static uint64_t state_number(void) {
    bool alive = r.handle || r.under_way;
    uint64_t number = add_digit(1, r.x.mark, 3);
    number = add_digit(number, r.x.mark != SPOILED && r.x.value < 0, 2);
    number = add_digit(number, r.y.mark == GOOD, 2);
    number = add_digit(number, r.handle, 2);
    number = add_digit(number, r.under_way, 2);
    number = add_digit(number, r.x_gone, 2);
    number = add_digit(number, r.completed, 2);
    number = add_digit(number, r.keeps_w, 2);
    number = add_digit(number, alive ? r.waiting_count : 0, MOST_WAITING + 1);
    number = add_version(number, alive ? r.now : (version){0});
    for (unsigned i = 0; alive && i < r.waiting_count; i++) number = add_version(number, r.waiting[i]);
    return number;
}

static const walk_machine machine = {CHOICES, start, step, end, state_number, name};

/* [P1] [P3] [R1] [R2] [R4] [R5] [R7] [R8] [R9] [C24] */
static void any_sequence_of_four_steps_leaves_a_graph_as_the_reference_says(void **state) {
    (void)state;
    walk_sequences(&machine, 4);
}

/* [P1] [P3] [R1] [R2] [R4] [R5] [R7] [R8] [R9] [C24] */
static void every_state_of_a_graph_is_as_the_reference_says(void **state) {
    (void)state;
    walk_states(&machine, WALK_LONGEST);
}

static int open_device(void **state) {
    (void)state;
    const rondo_device_desc desc = {.max_queues = 2};
    OK(rondo_device_open("sim", &desc, &device));
    OK(rondo_stream_create(device, &home));
    OK(rondo_stream_create(device, &away));
    OK(rondo_event_create(device, &event));
    OK(copy_i32_create(device, &copy));
    OK(scale_i32_create(device, &scale));
    return 0;
}

static int close_device(void **state) {
    (void)state;
    rondo_event_release(event);
    rondo_kernel_release(copy);
    rondo_kernel_release(scale);
    rondo_stream_release(home);
    rondo_stream_release(away);
    rondo_device_release(device);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_sequence_of_four_steps_leaves_a_graph_as_the_reference_says),
        cmocka_unit_test(every_state_of_a_graph_is_as_the_reference_says),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
