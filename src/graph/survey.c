/* The survey: what follows from what nodes are and from the bytes that they touch, found in one walk over them.
 *
 * The address space is cut into pieces, each of which every node so far has touched whole or not at all. A piece knows
 * the last node that wrote it and the nodes that read it since. An access finds its direct predecessors there: a reader
 * follows the last writer; a writer follows the readers since then, or the last writer if there were none. What is read
 * from a piece that no node has written is live-in. And it knows the allocation that it was touched as last, so that
 * of many accesses to the same bytes of an allocation one at most says so.
 *
 * Invariants
 *  1. Pieces are sorted, not empty and disjoint, and are cut but never joined while nodes are walked.
 *  2. A chain of readers is never changed, so that the halves of a piece share it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/check.h"
#include "graph/graph.h"

enum { RECENT = 256, SHORT_LIST = 16 };

typedef struct reader {
    uint64_t node;
    const struct reader *next;
} reader;

typedef struct piece {
    uint64_t low, high;
    uint64_t writer;       /* the last node that wrote it, plus 1; 0: none */
    const reader *readers; /* since then, the latest first */
    uint64_t id;           /* of the allocation; temporaries of a window may take turns */
    uint8_t modes;         /* of all accesses */
    bool live_in;
} piece;

typedef struct walker {
    rdo_survey *survey;
    rdo_arena arena;     /* pieces and readers */
    piece **pieces;
    size_t count, capacity;
    piece *recent[RECENT]; /* by address; most accesses are to bytes that an earlier one touched exactly so */
    piece *found[RDO_MAX_ACCESSES]; /* there, for the accesses of the node that is walked */
    uint64_t node_count, node; /* how many there are, and the one that is walked */
    size_t begin;        /* of its edges in the list */
    uint64_t *followed;  /* per node: the last node, plus 1, of many edges that has one from it; NULL until needed */
} walker;

/* ---- pieces ---- */

/* Index of the first piece that ends above `low`. Recordings mostly append, so the end is looked at first. */
static size_t seek(const walker *w, uint64_t low) {
    size_t first = 0, count = w->count;
    if (count != 0 && w->pieces[count - 1]->high <= low) return count;
    while (count != 0) {
        size_t half = count / 2;
        if (w->pieces[first + half]->high <= low) {
            first += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return first;
}

/* Puts a piece before number `at`; like `*model` if that is given, else untouched. */
static bool insert(walker *w, size_t at, uint64_t low, uint64_t high, const piece *model) {
    if (!rdo_grow(&w->pieces, &w->capacity, w->count + 1, sizeof(piece *))) return false;
    piece *p = rdo_arena_take(&w->arena, sizeof *p);
    if (p == NULL) return false;
    *p = model != NULL ? *model : (piece){0};
    p->low = low;
    p->high = high;
    memmove(w->pieces + at + 1, w->pieces + at, (w->count - at) * sizeof(piece *));
    w->pieces[at] = p;
    w->count++;
    return true;
}

/* Cuts piece number `at` in two, unless `where`, which is above its beginning, is not inside of it. */
static bool split(walker *w, size_t at, uint64_t where) {
    piece *p = w->pieces[at];
    RDO_ASSERT(where > p->low);
    if (where >= p->high) return true;
    if (!insert(w, at + 1, where, p->high, p)) return false;
    p->high = where;
    return true;
}

/* Makes [low, high), which is not empty, consist of whole pieces: those with the numbers [*out_first, *out_last). */
static bool cover(walker *w, uint64_t low, uint64_t high, size_t *out_first, size_t *out_last) {
    size_t at = seek(w, low);
    if (at < w->count && w->pieces[at]->low < low) {
        if (!split(w, at++, low)) return false;
    }
    *out_first = at;
    while (low < high) {
        uint64_t next = at < w->count ? w->pieces[at]->low : high;
        bool is_gap = next > low;
        if (is_gap && !insert(w, at, low, next < high ? next : high, NULL)) return false;
        if (!is_gap && !split(w, at, high)) return false;
        low = w->pieces[at++]->high;
    }
    *out_last = at;
    return true;
}

static piece **recent_place(walker *w, uint64_t low) {
    return &w->recent[(low >> 6 ^ low >> 14) % RECENT];
}

typedef bool (*visit_fn)(walker *w, piece *p, const rdo_access *access);

/* The piece that consists of exactly these bytes, if it was visited lately; else NULL. */
static inline piece *find_recent(walker *w, uint64_t low, uint64_t high) {
    piece *p = *recent_place(w, low);
    return p != NULL && p->low == low && p->high == high ? p : NULL;
}

static bool visit_bytes(walker *w, uint64_t low, uint64_t high, const rdo_access *access, visit_fn visit) {
    size_t first, last;
    piece *p = find_recent(w, low, high);
    if (p != NULL) return visit(w, p, access);
    if (!cover(w, low, high, &first, &last)) return false;
    if (last - first == 1) *recent_place(w, low) = w->pieces[first];
    for (size_t i = first; i < last; i++) {
        if (!visit(w, w->pieces[i], access)) return false;
    }
    return true;
}

static bool visit_rows(walker *w, const rdo_access *access, visit_fn visit) {
    uint64_t low = access->address + access->low;
    for (uint64_t row = 0; access->row_bytes != 0 && row < access->rows; row++, low += access->pitch) {
        if (!visit_bytes(w, low, low + access->row_bytes, access, visit)) return false;
    }
    return true;
}

/* The only piece of the access, if it was visited lately; else NULL. */
static inline piece *find_only(walker *w, const rdo_access *access) {
    uint64_t low = access->address + access->low;
    return access->rows == 1 ? find_recent(w, low, low + access->row_bytes) : NULL;
}

/* ---- what a node follows ---- */

/* From here on the node's edges are looked up by the node that they come from: the list is too long to be searched. */
static bool note_followed(walker *w) {
    const rdo_edges *edges = &w->survey->edges;
    if (w->followed == NULL) w->followed = rdo_alloc_zero((size_t)w->node_count, sizeof *w->followed);
    if (w->followed == NULL) return false;
    for (size_t i = w->begin; i < edges->list_count; i++) w->followed[edges->list[i]] = w->node + 1;
    return true;
}

static inline bool is_listed(const walker *w, uint64_t from) {
    const rdo_edges *edges = &w->survey->edges;
    for (size_t i = w->begin; i < edges->list_count; i++) {
        if (edges->list[i] == from) return true;
    }
    return false;
}

static inline bool add_edge(walker *w, uint64_t from) {
    rdo_edges *edges = &w->survey->edges;
    size_t own = edges->list_count - w->begin;
    if (own < SHORT_LIST) {
        if (is_listed(w, from)) return true;
    } else {
        if (own == SHORT_LIST && !note_followed(w)) return false;
        RDO_ASSERT(w->followed != NULL); /* since the list became that long */
        if (w->followed[from] == w->node + 1) return true;
        w->followed[from] = w->node + 1;
    }
    if (edges->list_count == edges->list_capacity &&
        !rdo_grow(&edges->list, &edges->list_capacity, edges->list_count + 1, sizeof *edges->list)) {
        return false;
    }
    edges->list[edges->list_count++] = from;
    return true;
}

static bool follow_readers(walker *w, const piece *p) {
    for (const reader *r = p->readers; r != NULL; r = r->next) {
        if (!add_edge(w, r->node)) return false;
    }
    return true;
}

static bool note_allocation(walker *w, const rdo_access *access) {
    rdo_named_list *named = &w->survey->named;
    if (named->count != 0 && named->data[named->count - 1].id == access->id) return true;
    if (!RDO_LIST_GROW(named)) return false;
    named->data[named->count++] = (rdo_named){access->memory, access->id, rdo_access_home(access)};
    return true;
}

/* What the node depends on, by this piece. */
static inline bool depend(walker *w, piece *p, const rdo_access *access) {
    if (RDO_UNLIKELY(p->id != access->id)) {
        if (!note_allocation(w, access)) return false;
        p->id = access->id;
    }
    p->modes |= access->mode;
    if (rdo_access_writes(access) && p->readers != NULL) {
        if (!follow_readers(w, p)) return false;
        if (!rdo_access_reads(access)) return true;
    }
    if (p->writer != 0) return add_edge(w, p->writer - 1);
    p->live_in |= rdo_access_reads(access);
    return true;
}

/* What the node leaves behind in this piece. */
static inline bool leave(walker *w, piece *p, const rdo_access *access) {
    if (rdo_access_writes(access)) {
        p->writer = w->node + 1;
        p->readers = NULL;
        return true;
    }
    bool known = p->writer == w->node + 1 || (p->readers != NULL && p->readers->node == w->node);
    if (known) return true;
    reader *r = rdo_arena_take(&w->arena, sizeof *r);
    if (r == NULL) return false;
    *r = (reader){w->node, p->readers};
    p->readers = r;
    return true;
}

static int compare_nodes(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static void sort_nodes(uint64_t *nodes, size_t count) {
    if (count > SHORT_LIST) {
        qsort(nodes, count, sizeof *nodes, compare_nodes);
        return;
    }
    for (size_t i = 1; i < count; i++) {
        uint64_t node = nodes[i];
        size_t at = i;
        for (; at > 0 && nodes[at - 1] > node; at--) nodes[at] = nodes[at - 1];
        nodes[at] = node;
    }
}

/* ---- a node ---- */

/* An event wait follows the event's record, which bytes do not tell. */
static bool follow_event(walker *w, rdo_op *const *ops) {
    const rdo_event_node_list *events = &w->survey->events;
    if (ops[w->node]->kind != RONDO_NODE_EVENT_WAIT) return true;
    for (size_t i = events->count; i-- > 0;) {
        const rdo_op *op = ops[events->data[i].node];
        if (op->kind == RONDO_NODE_EVENT_RECORD && op->event == ops[w->node]->event) {
            return add_edge(w, events->data[i].node);
        }
    }
    return true;
}

static bool note_event(walker *w, rdo_op *const *ops) {
    rdo_event_node_list *events = &w->survey->events;
    if (!follow_event(w, ops) || !RDO_LIST_GROW(events)) return false;
    events->data[events->count++] = (rdo_event_node){w->node, w->survey->arg_count};
    return true;
}

static bool note_call(walker *w) {
    rdo_node_list *calls = &w->survey->host_calls;
    if (!RDO_LIST_GROW(calls)) return false;
    calls->data[calls->count++] = w->node;
    return true;
}

/* What is to be known of nodes of some kinds. */
static inline bool note_kind(walker *w, rdo_op *const *ops) {
    const rdo_op *op = ops[w->node];
    if (RDO_LIKELY(op->kind == RONDO_NODE_LAUNCH)) {
        w->survey->arg_count += op->kernel->param_count;
        return true;
    }
    if (op->kind == RONDO_NODE_HOST_CALL) return note_call(w);
    return !rdo_op_is_event(op) || note_event(w, ops);
}

/* A span of no bytes keeps its allocation all the same: node and place name it. */
static bool note_empty(walker *w, const rdo_access *access) {
    rdo_extent_list *empties = &w->survey->empties;
    if (!note_allocation(w, access)) return false;
    if (access->page == NULL) return true;
    bool again = empties->count != 0 && empties->data[empties->count - 1].low == access->address;
    if (again) return true;
    if (!RDO_LIST_GROW(empties)) return false;
    empties->data[empties->count++] = (rdo_extent){access->address, access->address + 1};
    return true;
}

static inline bool depend_on_access(walker *w, const rdo_access *access, piece *found) {
    if (RDO_LIKELY(found != NULL)) return depend(w, found, access);
    return access->row_bytes != 0 ? visit_rows(w, access, depend) : note_empty(w, access);
}

/* First what the node depends on, by all its accesses, since it reads its inputs as they were; then what it leaves
 * behind. */
static bool walk_node(walker *w, rdo_op *const *ops) {
    rdo_edges *edges = &w->survey->edges;
    const rdo_op *op = ops[w->node];
    size_t pieces = w->count;
    w->begin = edges->first[w->node] = edges->list_count;
    for (uint32_t i = 0; i < op->access_count; i++) {
        w->found[i] = find_only(w, &op->accesses[i]);
        if (!depend_on_access(w, &op->accesses[i], w->found[i])) return false;
    }
    if (!note_kind(w, ops)) return false;
    bool cut = w->count != pieces;
    for (uint32_t i = 0; i < op->access_count; i++) {
        const rdo_access *access = &op->accesses[i];
        piece *found = cut ? NULL : w->found[i];
        if (!(found != NULL ? leave(w, found, access) : visit_rows(w, access, leave))) return false;
    }
    if (edges->list_count - w->begin > 1) sort_nodes(edges->list + w->begin, edges->list_count - w->begin);
    return true;
}

/* ---- what the pieces tell ---- */

static bool is_read(const piece *p) {
    return (p->modes & RONDO_READS) != 0;
}
static bool is_live_in(const piece *p) {
    return p->live_in;
}
static bool is_written(const piece *p) {
    return p->writer != 0;
}

static bool list_pieces(const walker *w, bool (*is_wanted)(const piece *p), rdo_extent_list *out) {
    for (size_t i = 0; i < w->count; i++) {
        const piece *p = w->pieces[i];
        if (!is_wanted(p)) continue;
        if (out->count != 0 && out->data[out->count - 1].high == p->low) {
            out->data[out->count - 1].high = p->high;
            continue;
        }
        if (!RDO_LIST_GROW(out)) return false;
        out->data[out->count++] = (rdo_extent){p->low, p->high};
    }
    return true;
}

/* Sorted, each once. */
static void sort_empties(rdo_extent_list *empties) {
    size_t kept = 0;
    rdo_extents_sort(empties->data, empties->count);
    for (size_t i = 0; i < empties->count; i++) {
        if (kept == 0 || empties->data[kept - 1].low != empties->data[i].low) empties->data[kept++] = empties->data[i];
    }
    empties->count = kept;
}

bool rdo_survey_find(rdo_survey *survey, rdo_op *const *ops, uint64_t count) {
    walker w = {.survey = survey, .node_count = count};
    *survey = (rdo_survey){.edges.first = rdo_alloc_many((size_t)count + 1, sizeof *survey->edges.first)};
    bool done = survey->edges.first != NULL;
    for (; done && w.node < count; w.node++) done = walk_node(&w, ops);
    if (done) survey->edges.first[count] = survey->edges.list_count;
    done = done && list_pieces(&w, is_live_in, &survey->live_in) && list_pieces(&w, is_read, &survey->reads) &&
           list_pieces(&w, is_written, &survey->writes);
    sort_empties(&survey->empties);
    rdo_free(w.pieces);
    rdo_free(w.followed);
    rdo_arena_clear(&w.arena);
    if (!done) rdo_survey_finish(survey);
    return done;
}

void rdo_survey_finish(rdo_survey *survey) {
    rdo_free(survey->edges.first);
    rdo_free(survey->edges.list);
    rdo_free(survey->live_in.data);
    rdo_free(survey->reads.data);
    rdo_free(survey->writes.data);
    rdo_free(survey->empties.data);
    rdo_free(survey->named.data);
    rdo_free(survey->events.data);
    rdo_free(survey->host_calls.data);
    *survey = (rdo_survey){0};
}
