#include "fault/ledger.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/check.h"
#include "base/lock.h"
#include "base/text.h"

enum { STATIC_STORIES = 512, KEPT_UNCARRIED = 256, KEPT_SKIPS = 16, BUCKETS = 1024 };

/* One operation that did not run. */
typedef struct skip {
    rondo_skip told; /* what users see */
    rdo_bytes needed;
    rdo_bytes produced[RDO_KEPT_OUTPUTS];
    size_t produced_count;
} skip;

typedef struct skips {
    uint64_t total;        /* skips so far, kept or not */
    uint64_t kept;         /* of those, the newest that are here; at most KEPT_SKIPS */
    skip ring[KEPT_SKIPS]; /* number n sits at n % KEPT_SKIPS */
} skips;

typedef struct story {
    uint64_t number; /* 0: free */
    rondo_status status, root;
    uint64_t carriers, stream_id, op_index, skip_total;
    skips *skips;          /* NULL until the first skip */
    rondo_skip *chain;     /* of a report */
    uint32_t chain_length, chain_dropped;
    struct story *bucket_next;
    struct story *older, *newer; /* list of uncarried stories */
    char operation[RONDO_NAME_MAX], kernel[RONDO_NAME_MAX], label[RONDO_NAME_MAX];
    char message[RONDO_MESSAGE_MAX];
} story;

static struct ledger {
    rdo_lock lock;
    uint64_t last_number, minted, live, uncarried;
    story *oldest, *newest; /* uncarried */
    story *free;            /* linked by bucket_next */
    story *buckets[BUCKETS];
    uint32_t static_used;
    story first[STATIC_STORIES];
} ledger = {.lock = RDO_LOCK_INIT(RDO_RANK_LEAF)};

static _Atomic uint64_t minted_count;

static story *find(uint64_t number) {
    story *s = ledger.buckets[number % BUCKETS];
    while (s != NULL && s->number != number) s = s->bucket_next;
    return s;
}

/* The story of a status: its number's, if its code can go with that failure. Skips and refused windows name a failure
 * under codes of their own; any other code was never returned with this number. */
static story *find_status(rondo_status status) {
    story *s = find(rondo_status_number(status));
    rondo_code code = rondo_status_code(status);
    if (s == NULL || code == rondo_status_code(s->status) || code == RONDO_TAINTED || code == RONDO_DOOMED) return s;
    return NULL;
}

static void list_remove(story *s) {
    *(s->older != NULL ? &s->older->newer : &ledger.oldest) = s->newer;
    *(s->newer != NULL ? &s->newer->older : &ledger.newest) = s->older;
    s->older = s->newer = NULL;
    ledger.uncarried--;
}

static void forget(story *s) {
    story **link = &ledger.buckets[s->number % BUCKETS];
    while (*link != s) link = &(*link)->bucket_next;
    *link = s->bucket_next;
    list_remove(s);
    rdo_free(s->skips);
    rdo_free(s->chain);
    s->skips = NULL;
    s->chain = NULL;
    s->number = 0;
    s->bucket_next = ledger.free;
    ledger.free = s;
}

static void list_append(story *s) {
    s->older = ledger.newest;
    s->newer = NULL;
    *(ledger.newest != NULL ? &ledger.newest->newer : &ledger.oldest) = s;
    ledger.newest = s;
    ledger.uncarried++;
    if (ledger.uncarried > KEPT_UNCARRIED) forget(ledger.oldest);
}

/* Room for a story: unused, or new, or that of the oldest uncarried one. */
static story *room_for_story(void) {
    if (ledger.free == NULL && ledger.static_used < STATIC_STORIES) return &ledger.first[ledger.static_used++];
    if (ledger.free == NULL) {
        story *fresh = rdo_alloc_zero(1, sizeof *fresh);
        if (fresh != NULL) return fresh;
        if (ledger.oldest == NULL) return NULL;
        forget(ledger.oldest);
    }
    story *s = ledger.free;
    ledger.free = s->bucket_next;
    return s;
}

static rondo_status begin_story(const rdo_where *where, rondo_code code, const char *format, va_list list,
                                story **out_story) {
    uint64_t number = ++ledger.last_number;
    rondo_status status = rdo_status_of(code, number);
    story *s = *out_story = room_for_story();
    if (s == NULL) return status;
    *s = (story){.number = number, .status = status, .root = status};
    s->stream_id = where->stream_id;
    s->op_index = where->op_index;
    rdo_text_copy(s->operation, sizeof s->operation, where->operation);
    rdo_text_copy(s->kernel, sizeof s->kernel, where->kernel);
    rdo_text_copy(s->label, sizeof s->label, where->label);
    rdo_text message = rdo_text_in(s->message, sizeof s->message);
    rdo_text_add_list(&message, format, list);
    s->bucket_next = ledger.buckets[number % BUCKETS];
    ledger.buckets[number % BUCKETS] = s;
    list_append(s);
    return status;
}

rondo_status rdo_fault_raise(const rdo_where *where, rondo_code code, const char *format, ...) {
    va_list list;
    story *s;
    va_start(list, format);
    rdo_lock_take(&ledger.lock);
    rondo_status status = begin_story(where, code, format, list, &s);
    atomic_fetch_add_explicit(&minted_count, 1, memory_order_relaxed);
    rdo_lock_give(&ledger.lock);
    va_end(list);
    return status;
}

static bool overlaps(const rdo_bytes *a, const rdo_bytes *b) {
    return a->memory_id == b->memory_id && a->low < b->high && b->low < a->high;
}

/* The output of `s` that overlaps `wanted`, NULL if none does. */
static const rdo_bytes *output_overlapping(const skip *s, const rdo_bytes *wanted) {
    for (size_t i = 0; i < s->produced_count; i++) {
        if (overlaps(&s->produced[i], wanted)) return &s->produced[i];
    }
    return NULL;
}

/* Follows the skips from `wanted` back to the root, newest first, each older than the one before. */
static void take_down_chain(story *report, const story *root, rdo_bytes wanted) {
    const skips *all = root->skips;
    if (all == NULL) return;
    report->chain_dropped = (uint32_t)(root->skip_total - all->kept);
    report->chain = rdo_alloc_zero(KEPT_SKIPS, sizeof *report->chain);
    if (report->chain == NULL) {
        report->chain_dropped = (uint32_t)root->skip_total;
        return;
    }
    for (uint64_t back = 1; back <= all->kept; back++) {
        const skip *s = &all->ring[(all->total - back) % KEPT_SKIPS];
        const rdo_bytes *output = output_overlapping(s, &wanted);
        if (output == NULL) continue;
        report->chain[report->chain_length] = s->told;
        report->chain[report->chain_length++].produced = output->memory_id;
        wanted = s->needed;
    }
}

rondo_status rdo_fault_report(const rdo_where *where, rondo_code code, uint64_t root, const rdo_bytes *read,
                              const char *format, ...) {
    va_list list;
    story *s;
    va_start(list, format);
    rdo_lock_take(&ledger.lock);
    /* Asked for first: the new story may push out the very one that it reports. */
    const story *cause = find(root);
    rondo_status cause_status = cause != NULL ? cause->status : rdo_status_of(RONDO_INTERNAL, root);
    rondo_status status = begin_story(where, code, format, list, &s);
    cause = find(root);
    if (s != NULL) s->root = cause_status;
    if (s != NULL && cause != NULL && read != NULL) take_down_chain(s, cause, *read);
    rdo_lock_give(&ledger.lock);
    va_end(list);
    return status;
}

void rdo_fault_tag(uint64_t number) {
    rdo_lock_take(&ledger.lock);
    story *s = find(number);
    if (s != NULL && s->carriers++ == 0) {
        list_remove(s);
        ledger.live++;
    }
    rdo_lock_give(&ledger.lock);
}

void rdo_fault_untag(uint64_t number) {
    rdo_lock_take(&ledger.lock);
    story *s = find(number);
    bool carried = s != NULL && !RDO_NEVER(s->carriers == 0); /* untagged as often as tagged */
    if (carried && --s->carriers == 0) {
        ledger.live--;
        list_append(s);
    }
    rdo_lock_give(&ledger.lock);
}

static skip *next_skip(story *s) {
    if (s->skips == NULL) s->skips = rdo_alloc_zero(1, sizeof *s->skips);
    if (s->skips == NULL) return NULL;
    if (s->skips->kept < KEPT_SKIPS) s->skips->kept++;
    return &s->skips->ring[s->skips->total++ % KEPT_SKIPS];
}

void rdo_fault_skipped(uint64_t number, const rdo_where *where, const rdo_bytes *needed, const rdo_bytes *produced,
                       size_t produced_count) {
    rdo_lock_take(&ledger.lock);
    story *s = find(number);
    skip *kept = NULL;
    if (s != NULL) {
        s->skip_total++;
        kept = next_skip(s);
    }
    if (kept != NULL) {
        *kept = (skip){.needed = *needed};
        kept->produced_count = produced_count < RDO_KEPT_OUTPUTS ? produced_count : RDO_KEPT_OUTPUTS;
        if (produced_count != 0) memcpy(kept->produced, produced, kept->produced_count * sizeof *produced);
        kept->told.stream_id = where->stream_id;
        kept->told.needed = needed->memory_id;
        kept->told.produced = produced_count != 0 ? produced[0].memory_id : 0;
        rdo_text_copy(kept->told.operation, sizeof kept->told.operation, where->operation);
        rdo_text_copy(kept->told.kernel, sizeof kept->told.kernel, where->kernel);
        rdo_text_copy(kept->told.label, sizeof kept->told.label, where->label);
    }
    rdo_lock_give(&ledger.lock);
}

rondo_status rdo_fault_status(uint64_t number) {
    rdo_lock_take(&ledger.lock);
    const story *s = find(number);
    rondo_status status = s != NULL ? s->status : rdo_status_of(RONDO_INTERNAL, number);
    rdo_lock_give(&ledger.lock);
    return status;
}

uint64_t rdo_fault_minted(void) {
    return atomic_load_explicit(&minted_count, memory_order_relaxed);
}

/* Copies the kept skips of a failure that is no report, newest first. */
static size_t newest_skips(const story *s, rondo_skip *out, size_t capacity) {
    size_t count = 0;
    for (uint64_t back = 1; s->skips != NULL && back <= s->skips->kept && count < capacity; back++) {
        out[count++] = s->skips->ring[(s->skips->total - back) % KEPT_SKIPS].told;
    }
    return count;
}

static size_t chain_of(const story *s, rondo_skip *out, size_t capacity) {
    if (s->root == s->status) return newest_skips(s, out, capacity);
    size_t count = s->chain_length < capacity ? s->chain_length : capacity;
    if (count != 0) memcpy(out, s->chain, count * sizeof *out);
    return count;
}

size_t rondo_fault_chain(rondo_status status, rondo_skip *out_skips, size_t capacity) {
    size_t count = 0;
    if (status == RONDO_OK || out_skips == NULL) return 0;
    rdo_lock_take(&ledger.lock);
    const story *s = find_status(status);
    if (s != NULL) count = chain_of(s, out_skips, capacity);
    rdo_lock_give(&ledger.lock);
    return count;
}

static void tell(const story *s, rondo_fault *out) {
    const story *root = find(rondo_status_number(s->root));
    out->root = s->root;
    out->stream_id = s->stream_id;
    out->op_index = s->op_index;
    out->carriers = root != NULL ? root->carriers : 0;
    out->skips = root != NULL ? root->skip_total : 0;
    if (s->root != s->status) {
        out->chain_length = s->chain_length;
        out->chain_dropped = s->chain_dropped;
    } else {
        out->chain_length = s->skips != NULL ? (uint32_t)s->skips->kept : 0;
        out->chain_dropped = (uint32_t)(s->skip_total - out->chain_length);
    }
    memcpy(out->operation, s->operation, sizeof out->operation);
    memcpy(out->kernel, s->kernel, sizeof out->kernel);
    memcpy(out->label, s->label, sizeof out->label);
    memcpy(out->message, s->message, sizeof out->message);
}

rondo_status rondo_fault_get(rondo_status status, rondo_fault *out_fault) {
    if (out_fault == NULL || status == RONDO_OK) {
        return rdo_fault_raise(RDO_NOWHERE("rondo_fault_get"), RONDO_INVALID,
                               out_fault == NULL ? "out_fault is null" : "RONDO_OK has no story");
    }
    *out_fault = (rondo_fault){.status = status, .op_index = RONDO_NO_INDEX};
    rdo_lock_take(&ledger.lock);
    const story *s = find_status(status);
    if (s != NULL) tell(s, out_fault);
    rdo_lock_give(&ledger.lock);
    return s != NULL ? RONDO_OK : (rondo_status)RONDO_STALE;
}

rondo_status rondo_fault_root(rondo_status status) {
    rondo_status root = status;
    rdo_lock_take(&ledger.lock);
    const story *s = find_status(status);
    if (s != NULL) root = s->root;
    rdo_lock_give(&ledger.lock);
    return root;
}

uint64_t rondo_fault_live_count(void) {
    rdo_lock_take(&ledger.lock);
    uint64_t live = ledger.live;
    rdo_lock_give(&ledger.lock);
    return live;
}

/* "'axpy' (label 'step 3', operation 7, stream 4)" */
static void add_place(rdo_text *text, const char *kernel, const char *label, uint64_t stream_id, uint64_t op_index) {
    if (kernel[0] != '\0') rdo_text_add(text, " '%s'", kernel);
    const char *separator = " (";
    if (label[0] != '\0') {
        rdo_text_add(text, "%slabel '%s'", separator, label);
        separator = ", ";
    }
    if (op_index != RONDO_NO_INDEX) {
        rdo_text_add(text, "%soperation %llu", separator, (unsigned long long)op_index);
        separator = ", ";
    }
    if (stream_id != 0) {
        rdo_text_add(text, "%sstream %llu", separator, (unsigned long long)stream_id);
        separator = ", ";
    }
    if (separator[0] == ',') rdo_text_add(text, ")");
}

static void describe_story(rdo_text *text, const story *s) {
    rdo_text_add(text, "%s #%llu in %s", rondo_code_name(rondo_status_code(s->status)), (unsigned long long)s->number,
                 s->operation);
    add_place(text, s->kernel, s->label, s->stream_id, s->op_index);
    rdo_text_add(text, ": %s\n", s->message);
}

size_t rondo_fault_describe(rondo_status status, char *text, size_t size_bytes) {
    rondo_skip chain[KEPT_SKIPS];
    rdo_text out = rdo_text_in(text, size_bytes);
    if (status == RONDO_OK) {
        rdo_text_add(&out, "OK\n");
        return out.length;
    }
    rdo_lock_take(&ledger.lock);
    const story *s = find_status(status);
    if (s == NULL) {
        rdo_text_add(&out, "%s #%llu: %s; its story is no longer kept\n", rondo_code_name(rondo_status_code(status)),
                     (unsigned long long)rondo_status_number(status), rondo_code_text(rondo_status_code(status)));
    } else {
        if (rondo_status_code(status) != rondo_status_code(s->status)) {
            rdo_text_add(&out, "%s: %s\n", rondo_code_name(rondo_status_code(status)),
                         rondo_code_text(rondo_status_code(status)));
        }
        describe_story(&out, s);
        size_t count = chain_of(s, chain, KEPT_SKIPS);
        for (size_t i = 0; i < count; i++) {
            rdo_text_add(&out, "  skipped: %s", chain[i].operation);
            add_place(&out, chain[i].kernel, chain[i].label, chain[i].stream_id, RONDO_NO_INDEX);
            if (chain[i].needed != 0) {
                rdo_text_add(&out, ": it needed buffer %llu", (unsigned long long)chain[i].needed);
            }
            if (chain[i].produced != 0) {
                rdo_text_add(&out, ", so buffer %llu was not written", (unsigned long long)chain[i].produced);
            }
            rdo_text_add(&out, "\n");
        }
        uint32_t dropped = s->root != s->status ? s->chain_dropped : (uint32_t)(s->skip_total - count);
        if (dropped != 0) rdo_text_add(&out, "  (%u older skips are no longer kept)\n", dropped);
        const story *root = s->root != s->status ? find(rondo_status_number(s->root)) : NULL;
        if (root != NULL) {
            rdo_text_add(&out, "  because of ");
            describe_story(&out, root);
        }
    }
    rdo_lock_give(&ledger.lock);
    return out.length;
}

bool rdo_ledger_check(void) {
    uint64_t live = 0, uncarried = 0;
    rdo_lock_take(&ledger.lock);
    for (size_t b = 0; b < BUCKETS; b++) {
        for (const story *s = ledger.buckets[b]; s != NULL; s = s->bucket_next) {
            *(s->carriers != 0 ? &live : &uncarried) += 1;
        }
    }
    /* All three are true unless a list is broken, which no test can do from outside. */
    bool broken = RDO_NEVER(live != ledger.live || uncarried != ledger.uncarried || uncarried > KEPT_UNCARRIED);
    rdo_lock_give(&ledger.lock);
    return !broken;
}

rdo_lock *rdo_ledger_lock(void) {
    return &ledger.lock;
}
