/* Replaying a graph.
 *
 * A replay whose memory is all at home, with no claim and no update about, runs without the device lock. Any
 * other registers with the order, applies the updates that are due, and checks the live-in. When a node fails, the
 * rest is played node by node: a map of the address space says which bytes the failure has spoiled, so that
 * exactly those nodes are skipped that need them [R4].
 */
#include <string.h>

#include "base/alloc.h"
#include "base/check.h"
#include "graph/graph.h"
#include "stream/pending.h"

/* One replay under way. */
typedef struct replay {
    rdo_call *call;
    rdo_graph *graph;
    rdo_program *program;
    rdo_ranges spoiled;    /* address -> number of the failure that spoiled it */
    uint64_t first_node;   /* the first that is no event: if it cannot be enqueued, nothing ran [R1] */
    bool failed;           /* some node did */
    uint64_t lost_to;      /* not 0: there was no memory for the map; everything from then on is lost to this failure */
    rondo_status not_run;  /* the graph could not be enqueued */
} replay;

static rdo_where where_of(const replay *r, uint64_t node) {
    rdo_where where = rdo_op_where(r->program->ops[node], r->call->stream->id, node);
    where.operation = "rondo_graph_replay";
    return where;
}

/* ---- spoiled bytes ---- */

static void set_spoiled(replay *r, const rdo_op *op, uint64_t failure) {
    for (uint32_t i = 0; i < op->access_count && r->lost_to == 0; i++) {
        const rdo_access *access = &op->accesses[i];
        if (!rdo_access_writes(access)) continue;
        for (uint64_t row = 0; access->row_bytes != 0 && row < access->rows; row++) {
            uint64_t low = access->address + access->low + row * access->pitch;
            bool done = failure != 0 ? rdo_ranges_set(&r->spoiled, low, low + access->row_bytes, failure, 0)
                                     : rdo_ranges_remove(&r->spoiled, low, low + access->row_bytes);
            if (!done && failure != 0) r->lost_to = failure;
        }
    }
}

/* The failure that spoiled an input of the op, 0 if its inputs are good. */
static uint64_t spoiled_input(const replay *r, const rdo_op *op, rdo_bytes *out_needed) {
    for (uint32_t i = 0; i < op->access_count; i++) {
        const rdo_access *access = &op->accesses[i];
        if (!rdo_access_reads(access)) continue;
        for (uint64_t row = 0; access->row_bytes != 0 && row < access->rows; row++) {
            uint64_t low = access->low + row * access->pitch;
            uint64_t base = access->address;
            const rdo_range *found = rdo_ranges_find(&r->spoiled, base + low, base + low + access->row_bytes);
            if (found == NULL) continue;
            *out_needed = (rdo_bytes){access->id, low, low + access->row_bytes};
            return found->value;
        }
    }
    return 0;
}

/* ---- running nodes ---- */

static rondo_backend_result submit_one(const replay *r, uint64_t node, rondo_backend_outcome *outcome) {
    const rdo_books *books = &r->graph->engine->books;
    return books->backend->submit(r->call->queue->backend_queue, &r->program->resolved[node], outcome);
}

/* Plays nodes [first, last) of a segment; stops at the first that fails and puts it in *out_node. */
static rondo_backend_result submit_range(const replay *r, const rdo_segment *segment, uint64_t first, uint64_t last,
                                         uint64_t *out_node, rondo_backend_outcome *outcome) {
    const rdo_books *books = &r->graph->engine->books;
    rondo_backend_result result = RONDO_BACKEND_DONE;
    rdo_this_thread.work_depth++;
    if (segment->native != NULL) {
        result = books->backend->graph_submit(r->call->queue->backend_queue, segment->native, first - segment->first,
                                              last - segment->first, outcome);
        *out_node = segment->first + outcome->node;
    } else {
        for (*out_node = first; *out_node < last; ++*out_node) {
            result = submit_one(r, *out_node, outcome);
            if (result != RONDO_BACKEND_DONE) break;
        }
    }
    rdo_this_thread.work_depth--;
    return result;
}

static void complete_event(replay *r, uint64_t node, uint64_t time_ns) {
    const rdo_op *op = r->program->ops[node];
    if (op->kind != RONDO_NODE_EVENT_RECORD) return;
    rdo_lock_take(&r->graph->engine->books.lock);
    op->event->recorded = op->event->completed = true;
    op->event->time_ns = time_ns;
    rdo_lock_give(&r->graph->engine->books.lock);
}

/* Notes that a node failed while it ran, or that the backend gave up half-way, which spoils in the same way. */
static void node_failed(replay *r, uint64_t node, rondo_backend_result result, const rondo_backend_outcome *outcome) {
    rdo_where where = where_of(r, node);
    rondo_status failure = result == RONDO_BACKEND_FAILED
                               ? rdo_work_failed(r->graph->engine, &where, r->program->ops[node], outcome)
                               : rdo_backend_status(&where, result, outcome);
    rdo_stream_failed(r->call->stream, failure);
    r->failed = true;
    set_spoiled(r, r->program->ops[node], rondo_status_number(failure));
}

static void skip_node(replay *r, uint64_t node, uint64_t failure, const rdo_bytes *needed) {
    rdo_where where = where_of(r, node);
    rdo_skip(r->graph->engine, r->program->ops[node], &where, needed, failure, false);
    set_spoiled(r, r->program->ops[node], failure);
}

/* One node after some failure: skipped if it needs spoiled bytes, else played. */
static void play_node(replay *r, const rdo_segment *segment, uint64_t node) {
    rondo_backend_outcome outcome = {0};
    rdo_bytes needed = {0};
    const rdo_op *op = r->program->ops[node];
    uint64_t failure = r->lost_to != 0 ? r->lost_to : spoiled_input(r, op, &needed), failed_node;
    if (failure != 0) {
        skip_node(r, node, failure, &needed);
        return;
    }
    rondo_backend_result result = submit_range(r, segment, node, node + 1, &failed_node, &outcome);
    if (result != RONDO_BACKEND_DONE) {
        node_failed(r, node, result, &outcome);
    } else {
        set_spoiled(r, op, 0); /* written anew, so good again */
    }
}

/* Plays nodes [first, last) of the segment, of which there is at least one. */
static void play_nodes(replay *r, const rdo_segment *segment, uint64_t first, uint64_t last) {
    rondo_backend_outcome outcome;
    uint64_t node = first;
    if (!r->failed) {
        outcome.message[0] = '\0';
        rondo_backend_result result = submit_range(r, segment, first, last, &node, &outcome);
        if (RDO_LIKELY(result == RONDO_BACKEND_DONE)) return;
        if (node == r->first_node && result != RONDO_BACKEND_FAILED) {
            rdo_where where = where_of(r, node);
            r->not_run = rdo_backend_status(&where, result, &outcome);
            return;
        }
        node_failed(r, node++, result, &outcome);
    }
    for (; node < last; node++) play_node(r, segment, node);
}

/* The program begins with `count` events, and other nodes follow: the events may not complete before it is known
 * that the replay runs at all. They keep the time at which they came. */
static void play_leading_events(replay *r, size_t count) {
    const rdo_segment *segments = r->program->segments, *work = &segments[count];
    uint64_t time_ns = rdo_clock_ns();
    r->first_node = work->first;
    play_nodes(r, work, work->first, work->first + 1);
    for (size_t i = 0; i < count && r->not_run == RONDO_OK; i++) complete_event(r, segments[i].first, time_ns);
    bool more = r->not_run == RONDO_OK && work->first + 1 < work->last;
    if (more) play_nodes(r, work, work->first + 1, work->last);
}

static void play_program(replay *r) {
    const rdo_program *program = r->program;
    size_t i = 0;
    while (i < program->segment_count && program->segments[i].event) i++;
    if (i == program->segment_count) i = 0; /* nothing but events, or nothing */
    if (i != 0) play_leading_events(r, i++);
    for (; i < program->segment_count && r->not_run == RONDO_OK; i++) {
        const rdo_segment *segment = &program->segments[i];
        if (segment->event) {
            complete_event(r, segment->first, rdo_clock_ns());
        } else {
            play_nodes(r, segment, segment->first, segment->last);
        }
    }
}

/* ---- claims ---- */

/* Device lock held: whether the bytes have a claim that stops a replay. */
static bool is_claimed(const rdo_graph *graph, const rdo_graph_bytes *bytes, uint64_t *out_failure) {
    const rdo_ranges *claims = &bytes->memory->claims.ranges;
    const rdo_range *data = rdo_ranges_data(claims);
    for (size_t c = rdo_ranges_seek(claims, bytes->low); c < claims->count && data[c].low < bytes->high; c++) {
        if (data[c].tag == graph->holder.graph_id) continue;
        *out_failure = data[c].value;
        return true;
    }
    return false;
}

/* Device lock held: the first bytes of the live-in with such a claim; false if there are none. */
static bool find_claimed_live_in(const rdo_graph *graph, const rdo_program *program, rdo_graph_bytes *out_bytes,
                                 uint64_t *out_failure) {
    for (size_t i = 0; i < program->live_in.count; i++) {
        *out_bytes = program->live_in.data[i];
        if (is_claimed(graph, out_bytes, out_failure)) return true;
    }
    return false;
}

/* Device lock held: everything that the graph writes takes `failure`. With `intact`, nothing ran: what the graph
 * reads before it writes is as it was, and is marked so, lest the claim stop the graph's own next try [R2]. */
static void claim_all(const rdo_graph *graph, const rdo_program *program, uint64_t failure, bool intact) {
    rdo_graph_bytes spoiled;
    uint64_t other;
    /* What was spoiled before must not pass for intact, once this failure has taken it over. */
    intact = intact && !find_claimed_live_in(graph, program, &spoiled, &other);
    for (size_t i = 0; i < program->written.count; i++) {
        const rdo_graph_bytes *bytes = &program->written.data[i];
        rdo_memory_claim(bytes->memory, bytes->low, bytes->high, failure, 0);
    }
    for (size_t i = 0; intact && i < program->live_in.count; i++) {
        const rdo_graph_bytes *bytes = &program->live_in.data[i];
        uint64_t low = bytes->low;
        while (low < bytes->high) {
            const rdo_range *claim = rdo_claims_find(&bytes->memory->claims, low, bytes->high);
            if (claim == NULL) break;
            uint64_t from = claim->low > low ? claim->low : low;
            uint64_t to = claim->high < bytes->high ? claim->high : bytes->high;
            bool own = claim->value == failure;
            low = to;
            if (own) rdo_memory_claim(bytes->memory, from, to, failure, graph->holder.graph_id);
        }
    }
}

/* Device lock held: makes sure that releasing the write set cannot fail. */
static bool prepare_releases(const rdo_program *program) {
    size_t same = 0; /* ranges of one allocation follow one another */
    for (size_t i = 0; i < program->written.count; i++) {
        rdo_memory *memory = program->written.data[i].memory;
        same = i != 0 && program->written.data[i - 1].memory == memory ? same + 1 : 1;
        if (!rdo_claims_prepare(&memory->claims, same)) return false;
    }
    return true;
}

/* Device lock held: the write set is good again, but for what the failures of this replay spoiled. */
static void settle_claims(const replay *r) {
    for (size_t i = 0; i < r->program->written.count; i++) {
        const rdo_graph_bytes *bytes = &r->program->written.data[i];
        uint64_t base = bytes->memory->address;
        rdo_memory_unclaim(bytes->memory, bytes->low, bytes->high);
        if (!r->failed) continue;
        const rdo_range *data = rdo_ranges_data(&r->spoiled);
        for (size_t s = rdo_ranges_seek(&r->spoiled, base + bytes->low);
             s < r->spoiled.count && data[s].low < base + bytes->high; s++) {
            uint64_t low = data[s].low > base + bytes->low ? data[s].low - base : bytes->low;
            uint64_t high = data[s].high < base + bytes->high ? data[s].high - base : bytes->high;
            rdo_memory_claim(bytes->memory, low, high, data[s].value, 0);
        }
        if (r->lost_to != 0) rdo_memory_claim(bytes->memory, bytes->low, bytes->high, r->lost_to, 0);
    }
}

/* ---- the two ways in ---- */

static inline rondo_status conclude(replay *r) {
    rdo_engine *engine = r->graph->engine;
    if (RDO_UNLIKELY(r->failed)) rdo_ranges_finish(&r->spoiled);
    if (r->not_run == RONDO_OK) {
        atomic_fetch_add_explicit(&r->graph->replays, 1, memory_order_relaxed);
        rdo_count_own(&r->call->queue->replays);
    } else {
        rdo_count(&engine->counters.replay_failures);
    }
    return r->not_run;
}

static rondo_status play_fast(replay *r) {
    rdo_engine *engine = r->graph->engine;
    play_program(r);
    if (RDO_UNLIKELY(r->failed || r->not_run != RONDO_OK)) {
        rdo_lock_take(&engine->books.lock);
        if (r->not_run != RONDO_OK) {
            claim_all(r->graph, r->program, rondo_status_number(r->not_run), true);
        } else {
            settle_claims(r);
        }
        rdo_lock_give(&engine->books.lock);
    }
    return conclude(r);
}

/* Device lock held: the whole replay counts as one skipped operation. */
static void note_skip(const replay *r, const rdo_bytes *needed, uint64_t failure) {
    rdo_bytes produced[RDO_KEPT_OUTPUTS];
    size_t count = 0;
    for (; count < r->program->written.count && count < RDO_KEPT_OUTPUTS; count++) {
        const rdo_graph_bytes *bytes = &r->program->written.data[count];
        produced[count] = (rdo_bytes){bytes->memory->id, bytes->low, bytes->high};
    }
    rdo_fault_skipped(failure, &r->call->where, needed, produced, count);
}

/* Device lock held: RONDO_OK, or why nothing may run; then the write set is claimed. */
static rondo_status check_claims(replay *r) {
    uint64_t failure;
    rdo_call *call = r->call;
    rdo_graph_bytes claimed;
    if (find_claimed_live_in(r->graph, r->program, &claimed, &failure)) {
        rdo_bytes needed = {claimed.memory->id, claimed.low, claimed.high};
        note_skip(r, &needed, failure);
        claim_all(r->graph, r->program, failure, false);
        rdo_count(&r->graph->engine->counters.skipped);
        return rdo_status_of(RONDO_TAINTED, failure);
    }
    if (prepare_releases(r->program)) return RONDO_OK;
    rondo_status status = rdo_fault_raise(&call->where, RONDO_NO_HOST_MEMORY, "no memory to release old claims");
    claim_all(r->graph, r->program, rondo_status_number(status), true);
    return status;
}

/* Device lock held: what a replay that is refused before it starts leaves behind [R1]. */
static rondo_status refuse(replay *r, rondo_code code, const char *text) {
    rondo_status status = rdo_fault_raise(&r->call->where, code, "%s", text);
    claim_all(r->graph, r->program, rondo_status_number(status), true);
    rdo_count(&r->graph->engine->counters.replay_failures);
    return status;
}

static const char mapped[] = "a buffer that the graph uses is mapped; unmap it first";

/* Device lock held, given up while waiting: waits for queued work on what the graph writes. The program is looked up
 * each time, since an update may replace it meanwhile. */
static void await_queued(rdo_graph *graph) {
    rdo_order *order = &graph->engine->order;
    for (;;) {
        const rdo_program *program = rdo_graph_newest(graph);
        if (!rdo_order_is_queued(order, program->survey.writes.data, program->survey.writes.count)) return;
        rdo_order_wait_change(order, &graph->engine->books);
    }
}

/* The same for a replay that took no ticket. */
static rondo_status refuse_unregistered(replay *r, rondo_code code, const char *text) {
    await_queued(r->graph);
    r->program = rdo_graph_newest(r->graph);
    return refuse(r, code, text);
}

static void add_homes(rdo_entry *entry, rdo_store **homes, const rdo_program *program, const rdo_store *own) {
    for (size_t i = 0; i < program->home_count; i++) {
        size_t h = 0;
        while (h < entry->home_count && homes[h] != program->homes[i]) h++;
        if (program->homes[i] != own && h == entry->home_count) homes[entry->home_count++] = program->homes[i];
    }
}

/* The homes of the program that is replaced count too: one of its replays may be running there without the device
 * lock. */
static size_t most_homes(const rdo_graph *graph) {
    size_t most = graph->program->home_count;
    for (const rdo_patch *patch = graph->patches; patch != NULL; patch = patch->next) {
        if (patch->program != NULL) most += patch->program->home_count;
    }
    return most;
}

static void fill_entry(const replay *r, rdo_entry *entry, rdo_store **homes) {
    const rdo_program *program = r->program;
    const rdo_store *own = &r->call->queue->store;
    *entry = (rdo_entry){.reads = program->survey.reads.data,
                         .read_count = program->survey.reads.count,
                         .writes = program->survey.writes.data,
                         .write_count = program->survey.writes.count,
                         .homes = homes};
    add_homes(entry, homes, r->graph->program, own);
    for (const rdo_patch *patch = r->graph->patches; patch != NULL; patch = patch->next) {
        if (patch->program != NULL) add_homes(entry, homes, patch->program, own);
    }
}

/* Device lock held (given up meanwhile): the replay is registered; it leaves. */
static rondo_status play_in_turn(replay *r, rdo_entry *entry) {
    rdo_books *books = &r->graph->engine->books;
    rdo_order *order = &r->graph->engine->order;
    if (!rdo_order_await(order, books, entry)) return refuse(r, RONDO_BUSY, mapped);
    rdo_graph_apply_patches(r->graph, entry->ticket);
    RDO_ASSERT(r->graph->program == r->program);
    rondo_status status = check_claims(r);
    rdo_lock_give(&books->lock);
    if (status == RONDO_OK) play_program(r);
    rdo_lock_take(&books->lock);
    if (status == RONDO_OK && r->not_run != RONDO_OK) {
        claim_all(r->graph, r->program, rondo_status_number(r->not_run), true);
    } else if (status == RONDO_OK) {
        settle_claims(r);
    }
    rdo_order_leave(order, books, entry);
    if (status == RONDO_OK) return conclude(r);
    rdo_count(&r->graph->engine->counters.replay_failures);
    return status;
}

static rondo_status play_slow(replay *r) {
    rdo_books *books = &r->graph->engine->books;
    rdo_store *few[8], **homes = few;
    rdo_entry entry;
    rdo_lock_take(&books->lock);
    r->graph->uses++; /* seen by updates, which otherwise might think that no replay is about */
    r->program = rdo_graph_newest(r->graph);
    /* Only graphs over many queues need more; others replay without taking memory [R10]. */
    size_t most = most_homes(r->graph);
    if (most > sizeof few / sizeof few[0]) homes = rdo_alloc(most * sizeof(rdo_store *));
    rondo_status status;
    if (homes == NULL) {
        status = refuse_unregistered(r, RONDO_NO_HOST_MEMORY, "no memory to order the replay");
    } else {
        fill_entry(r, &entry, homes);
        bool registered = rdo_order_register(&r->graph->engine->order, &entry);
        status = registered ? play_in_turn(r, &entry) : refuse_unregistered(r, RONDO_BUSY, mapped);
    }
    r->graph->uses--; /* the caller, or this queue's lock, still keeps the graph */
    rdo_graph_settle(r->graph);
    rdo_lock_give(&books->lock);
    if (homes != few) rdo_free(homes);
    return status;
}

static rondo_status play(rdo_call *call, rdo_graph *graph) {
    replay r = {.call = call, .graph = graph};
    rdo_engine *engine = graph->engine;
    rdo_store *own = &call->queue->store;
    if (RDO_LIKELY(rdo_order_enter_fast(own))) {
        /* A program whose only home this queue is changes only under a replay that waits for this flag to fall. Of any
         * other not even the homes can be looked at here: it may go at any moment. */
        if (RDO_LIKELY(!atomic_load(&graph->patched) && atomic_load(&engine->books.claimed) == 0 &&
                       atomic_load(&graph->fast_home) == own)) {
            r.program = graph->program;
            rondo_status status = play_fast(&r);
            rdo_order_leave_fast(&engine->order, own);
            return status;
        }
    }
    rdo_order_leave_fast(&engine->order, own);
    return play_slow(&r);
}

/* ---- leaving it to the queue's worker ---- */

/* What is played later is the program of now: updates that come meanwhile have later stamps than the replay's
 * ticket [R9]. */
typedef struct pending_replay {
    rdo_graph *graph;
    rdo_program *program;
    rdo_store *homes[];
} pending_replay;

static rondo_status play_pending(rdo_call *call, rdo_item *item) {
    const pending_replay *pending = item->work;
    replay r = {.call = call, .graph = pending->graph, .program = pending->program};
    rdo_lock_take(&call->engine->books.lock);
    rondo_status status = play_in_turn(&r, &item->entry);
    rdo_lock_give(&call->engine->books.lock);
    return status;
}

static void drop_pending(rdo_engine *engine, rdo_item *item) {
    const pending_replay *pending = item->work;
    (void)engine;
    pending->graph->uses--;
    rdo_graph_settle(pending->graph);
}

/* An event must be known to be under way while its replay is pending, which nothing tells so far. */
static bool has_events(const rdo_program *program) {
    for (size_t i = 0; i < program->segment_count; i++) {
        if (program->segments[i].event) return true;
    }
    return false;
}

/* Device lock held: whether some of the live-in is spoiled for good, by all that was issued so far. */
static bool is_tainted_already(const rdo_graph *graph, const rdo_program *program) {
    uint64_t failure;
    if (atomic_load(&graph->engine->books.claimed) == 0) return false;
    for (size_t i = 0; i < program->live_in.count; i++) {
        const rdo_graph_bytes *bytes = &program->live_in.data[i];
        uint64_t base = bytes->memory->address;
        rdo_extent extent = {base + bytes->low, base + bytes->high};
        if (is_claimed(graph, bytes, &failure) && !rdo_order_is_busy(&graph->engine->order, extent)) return true;
    }
    return false;
}

static bool place_pending(rdo_call *call, rdo_item *item, void *what) {
    rdo_graph *graph = what;
    size_t homes_bytes = most_homes(graph) * sizeof(rdo_store *);
    pending_replay *pending = rdo_arena_take(&item->arena, sizeof *pending + homes_bytes);
    if (pending == NULL) return false;
    pending->graph = graph;
    pending->program = rdo_graph_newest(graph);
    if (has_events(pending->program) || is_tainted_already(graph, pending->program)) return false;
    replay r = {.call = call, .graph = graph, .program = pending->program};
    fill_entry(&r, &item->entry, pending->homes);
    item->entry.queued = true;
    if (!rdo_order_register(&graph->engine->order, &item->entry)) return false;
    graph->uses++;
    item->work = pending;
    return true;
}

static const rdo_handover handover = {place_pending, play_pending, drop_pending};

/* ---- in a window: the nodes are appended to it [R8] ---- */

/* A graph's ops as they are now, waiting updates included, in memory of their own. */
typedef struct snapshot {
    rdo_arena arena;
    rdo_op **ops;
    uint64_t count;
} snapshot;

static const void *newest_value(const rdo_graph *graph, const rdo_op *op, uint64_t node, uint32_t param) {
    const void *value = op->values[param];
    for (const rdo_patch *patch = graph->patches; patch != NULL; patch = patch->next) {
        if (patch->program == NULL && patch->node == node && patch->param == param) value = patch->value;
    }
    return value;
}

static bool copy_values(snapshot *s, const rdo_graph *graph, rdo_op *copy, const rdo_op *op, uint64_t node) {
    copy->own_values = 0;
    for (uint32_t i = 0; op->kind == RONDO_NODE_LAUNCH && i < op->kernel->param_count; i++) {
        if (op->values[i] == NULL) continue;
        copy->values[i] =
            rdo_arena_copy(&s->arena, newest_value(graph, op, node, i), op->kernel->params[i].size_bytes);
        if (copy->values[i] == NULL) return false;
    }
    return true;
}

/* Device lock held. */
static bool take_snapshot(snapshot *s, rdo_graph *graph) {
    const rdo_program *program = rdo_graph_newest(graph);
    s->count = program->count;
    s->ops = rdo_arena_take(&s->arena, (size_t)program->count * sizeof(rdo_op *));
    if (s->ops == NULL) return false;
    for (uint64_t node = 0; node < program->count; node++) {
        s->ops[node] = rdo_op_copy(&s->arena, program->ops[node]);
        if (s->ops[node] == NULL || !copy_values(s, graph, s->ops[node], program->ops[node], node)) return false;
    }
    return true;
}

/* Device lock held. From the moment it is taken until the window has all of it, the snapshot itself keeps what it
 * names in place: an update that comes between may give the graph's own guards back. */
static void guard_snapshot(const snapshot *s, void (*visit)(rdo_page *page, uint32_t slice)) {
    for (uint64_t node = 0; node < s->count; node++) {
        const rdo_op *op = s->ops[node];
        for (uint32_t i = 0; i < op->access_count; i++) {
            if (op->accesses[i].page != NULL) visit(op->accesses[i].page, op->accesses[i].slice);
        }
    }
}

/* Device lock held: the window keeps the graph's snapshots too. */
static bool share_retained(rdo_window *window, const rdo_graph *graph) {
    for (size_t i = 0; i < graph->retained.count; i++) {
        if (!rdo_window_retain(window, graph->retained.data[i])) return false;
        graph->retained.data[i]->refs++;
    }
    return true;
}

static bool touch_guards(rdo_window *window, uint64_t stream_id, const rdo_guard_list *guards) {
    for (size_t i = 0; i < guards->count; i++) {
        if (!rdo_window_touch(window, stream_id, guards->data[i].page, guards->data[i].slice)) return false;
    }
    return true;
}

/* Device lock held: the window guards all that the graph guards. What the ops name is not enough: the slice of a
 * temporary may have been cut up for later ones, and then its op names the first piece only. */
static bool share_guards(rdo_window *window, uint64_t stream_id, const rdo_graph *graph) {
    bool done = touch_guards(window, stream_id, &graph->guards);
    for (const rdo_patch *patch = graph->patches; patch != NULL; patch = patch->next) {
        done &= touch_guards(window, stream_id, &patch->guards);
    }
    return done;
}

static rondo_status append_ops(rdo_call *call, const snapshot *s) {
    for (uint64_t node = 0; node < s->count; node++) {
        call->where = rdo_op_where(s->ops[node], call->stream->id, call->queue->window.ops.count);
        call->where.operation = "rondo_graph_replay";
        RDO_TRY(rdo_record(call, s->ops[node], true));
    }
    return RONDO_OK;
}

/* Nothing of the graph ran: all that it writes takes the failure [T8]. */
static void claim_unlocked(rdo_graph *graph, rondo_status status) {
    rdo_lock_take(&graph->engine->books.lock);
    await_queued(graph);
    claim_all(graph, rdo_graph_newest(graph), rondo_status_number(status), true);
    rdo_lock_give(&graph->engine->books.lock);
}

static rondo_status append(rdo_call *call, rdo_graph *graph) {
    rdo_books *books = &graph->engine->books;
    snapshot s = {0};
    rdo_lock_take(&books->lock);
    bool taken = take_snapshot(&s, graph) && share_retained(&call->queue->window, graph) &&
                 share_guards(&call->queue->window, call->stream->id, graph);
    if (taken) guard_snapshot(&s, rdo_page_guard);
    rdo_lock_give(&books->lock);
    rondo_status status;
    if (taken) {
        status = append_ops(call, &s);
        rdo_lock_take(&books->lock);
        guard_snapshot(&s, rdo_page_unguard);
        rdo_lock_give(&books->lock);
    } else {
        status = rdo_fault_raise(&call->where, RONDO_NO_HOST_MEMORY, "no memory to append the graph's nodes");
        rdo_window_fail(&call->queue->window, status);
    }
    rdo_arena_clear(&s.arena);
    if (status != RONDO_OK && !call->queue->window.defer_claims) claim_unlocked(graph, status);
    return status;
}

/* ---- the way in ---- */

/* Another stream records on this queue: nothing ran, what the graph writes is claimed [C13]. */
static rondo_status refuse_neighbour(rdo_graph *graph, rondo_status status) {
    claim_unlocked(graph, status);
    rdo_count(&graph->engine->counters.replay_failures);
    return status;
}

rondo_status rdo_graph_play(rdo_call *call, rdo_graph *graph) {
    rdo_window *window = &call->queue->window;
    if (RDO_UNLIKELY(graph->engine != call->engine)) {
        rondo_status status = rdo_fault_raise(&call->where, RONDO_FOREIGN, "the graph belongs to another device");
        if (rdo_call_records(call)) rdo_window_fail(window, status);
        return status;
    }
    if (RDO_UNLIKELY(rdo_window_is_recording(window))) {
        rondo_status status = rdo_call_check_window(call, false);
        return status != RONDO_OK ? refuse_neighbour(graph, status) : append(call, graph);
    }
    if (RDO_UNLIKELY(call->queue->pending != NULL)) {
        if (rdo_pending_hand_over(call, &handover, graph)) return RONDO_OK;
        rdo_pending_drain(call->queue->pending);
    }
    return play(call, graph);
}
