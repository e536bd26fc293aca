/* Memory that goes, is asked for, or runs short while others are at work. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "capture_tools.h"

/* ---- the edges of windows ---- */

enum { HANDED = 4, WINDOWS = 300 };

/* A thread that frees what the case hands over, and allocates, works and trims on a stream of its own. */
struct helper {
    rondo_device *device;
    rondo_stream *stream;
    _Atomic uint64_t handed[HANDED];
    atomic_bool stop;
    atomic_uint rounds;
    rondo_status failed;
};

static rondo_status help_once(struct helper *h) {
    rondo_buffer buffer = RONDO_NO_BUFFER;
    for (size_t i = 0; i < HANDED; i++) rondo_buffer_release((rondo_buffer){atomic_exchange(&h->handed[i], 0)});
    rondo_status status = rondo_buffer_create(h->stream, 4096, RONDO_USAGE_GENERAL, &buffer);
    if (!status) status = fill_i32(h->stream, rondo_whole(buffer), 1, NULL);
    if (!status) status = rondo_device_trim(h->device, NULL);
    rondo_buffer_release(buffer);
    if (!status) status = rondo_stream_trim(h->stream);
    return status;
}

static void *help(void *user) {
    struct helper *h = user;
    while (h->failed == RONDO_OK && !atomic_load(&h->stop)) {
        h->failed = help_once(h);
        atomic_fetch_add(&h->rounds, 1);
    }
    return NULL;
}

/* B29 [C16] [C17] The other thread's calls come before, at and after every step of opening and closing. */
static void frees_and_trims_at_the_edges_of_windows_disturb_nobody(struct conform *t) {
    struct helper h = {.device = t->device, .stream = conform_stranger(t, t->stream)};
    rondo_buffer kept = conform_buffer(t, 4096);
    pthread_t thread;
    CHECK_EQUAL(pthread_create(&thread, NULL, help, &h), 0);
    while (atomic_load(&h.rounds) == 0) sched_yield();
    for (int32_t i = 0; i < WINDOWS; i++) {
        rondo_buffer passing = RONDO_NO_BUFFER;
        CHECK_OK(rondo_buffer_create(t->stream, 4096, RONDO_USAGE_GENERAL, &passing));
        conform_fill_i32(t, passing, i);
        open_window(t->stream);
        CHECK_OK(rondo_copy(t->stream, rondo_whole(kept), rondo_whole(passing), NULL));
        rondo_buffer_release((rondo_buffer){atomic_exchange(&h.handed[i % HANDED], passing.id)});
        rondo_graph *graph = seal(t, t->stream);
        CHECK_EQUAL(graph_info(graph).nodes, 1);
        CHECK_OK(rondo_graph_replay(graph, t->stream));
        conform_expect_all_i32(t, kept, i, 1024);
        rondo_graph_release(graph);
    }
    atomic_store(&h.stop, true);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    for (size_t i = 0; i < HANDED; i++) rondo_buffer_release((rondo_buffer){atomic_load(&h.handed[i])});
    CHECK_OK(h.failed);
}

/* ---- work that is held up ---- */

enum { BYTES = 4096, WORDS = BYTES / sizeof(int32_t) };

/* A host call that copies its first access to its second, once it may. */
struct held_up {
    rondo_stream *stream;
    rondo_graph *graph; /* NULL: the host call by itself */
    rondo_buffer from, to;
    atomic_int inside, may_go;
    rondo_status status;
};

static int copy_when_allowed(void *user, const rondo_host_access *accesses, size_t count) {
    struct held_up *h = user;
    (void)count;
    atomic_store(&h->inside, 1);
    while (atomic_load(&h->may_go) == 0) sched_yield();
    memcpy(accesses[1].data, accesses[0].data, BYTES);
    return 0;
}

static rondo_status issue(struct held_up *h) {
    const rondo_host_access accesses[] = {{rondo_slice(h->from, 0, BYTES), RONDO_READS, NULL},
                                          {rondo_slice(h->to, 0, BYTES), RONDO_WRITES, NULL}};
    return rondo_host_call(h->stream, copy_when_allowed, h, NULL, accesses, 2, "held up");
}

static void *run_held_up(void *user) {
    struct held_up *h = user;
    h->status = h->graph != NULL ? rondo_graph_replay(h->graph, h->stream) : issue(h);
    return NULL;
}

static void start_held_up(struct held_up *h, pthread_t *thread) {
    CHECK_EQUAL(pthread_create(thread, NULL, run_held_up, h), 0);
    while (atomic_load(&h->inside) == 0) sched_yield();
}

static void let_go(struct held_up *h, pthread_t thread) {
    atomic_store(&h->may_go, 1);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    CHECK_OK(h->status);
}

static void record_held_up(struct held_up *h) {
    open_window(h->stream);
    CHECK_OK(issue(h));
    CHECK_OK(rondo_capture_end(h->stream, RONDO_END_DEFAULT, &h->graph));
}

/* The home stream frees the source, allocates anew and fills that, while another stream still reads the source. */
static void free_under_work(struct conform *t, bool replayed) {
    struct held_up h = {.stream = conform_stranger(t, t->stream)};
    pthread_t thread;
    h.to = conform_buffer(t, BYTES);
    CHECK_OK(rondo_buffer_create(t->stream, BYTES, RONDO_USAGE_GENERAL, &h.from));
    conform_fill_i32(t, h.from, 5);
    if (replayed) record_held_up(&h);
    start_held_up(&h, &thread);
    rondo_buffer_release(h.from);
    for (int i = 0; i < 8; i++) conform_fill_i32(t, conform_buffer(t, BYTES), 77);
    let_go(&h, thread);
    conform_expect_all_i32(t, h.to, 5, WORDS);
    rondo_graph_release(h.graph);
}

/* B37 [W4] */
static void memory_that_other_work_still_reads_is_handed_to_nobody(struct conform *t) {
    free_under_work(t, false);
}

/* B37 [W4] [P3] */
static void memory_that_a_replay_still_reads_is_handed_to_nobody(struct conform *t) {
    free_under_work(t, true);
}

/* B85 [R7] No release waits for the replay: if one did, this would never end. */
static void everything_may_be_released_while_a_replay_runs(struct conform *t) {
    struct held_up h = {.to = conform_buffer(t, BYTES)};
    pthread_t thread;
    CHECK_OK(rondo_stream_create(t->device, &h.stream));
    CHECK_OK(rondo_buffer_create(h.stream, BYTES, RONDO_USAGE_GENERAL, &h.from));
    CHECK_OK(fill_i32(h.stream, rondo_whole(h.from), 6, NULL));
    record_held_up(&h);
    start_held_up(&h, &thread);
    rondo_graph_release(h.graph);
    rondo_buffer_release(h.from);
    rondo_stream_release(h.stream);
    let_go(&h, thread);
    conform_expect_all_i32(t, h.to, 6, WORDS);
    CHECK_OK(rondo_device_sync(t->device)); /* a pending replay holds its graph until it is over */
    CHECK_EQUAL(rondo_device_list_graphs(t->device, NULL, 0), 0);
}

/* ---- frees that count ---- */

enum { CAP = 1 << 20, PIECE = 1 << 16, STEPS = 400, STREAMS = 4, MOST_LIVE = CAP / PIECE };

static const rondo_device_desc FOUR_CAPPED_QUEUES = {.max_queues = STREAMS,
                                                     .memory = {.small_page_bytes = 65536,
                                                                .small_cap_bytes = 262144,
                                                                .page_min_bytes = 262144,
                                                                .page_max_bytes = 1048576,
                                                                .shared_cap_bytes = 1048576,
                                                                .own_cap_bytes = CAP,
                                                                .host_cap_bytes = 1048576}};

/* B45 [M4] At each step as much is free as is asked for, on whichever queue it was freed. */
static void a_trace_that_fits_when_frees_count_fits(struct conform *t) {
    rondo_stream *streams[STREAMS] = {t->stream};
    rondo_buffer live[MOST_LIVE];
    uint64_t sizes[MOST_LIVE], total = 0;
    size_t oldest = 0, next = 0;
    struct rng rng = {rng_first_seed()};
    for (size_t i = 1; i < STREAMS; i++) streams[i] = conform_stream(t);
    for (int step = 0; step < STEPS; step++) {
        uint64_t size = (1 + rng_below(&rng, 6)) * PIECE;
        rondo_stream *stream = streams[rng_below(&rng, STREAMS)];
        for (; total + size > CAP; oldest++) {
            total -= sizes[oldest % MOST_LIVE];
            rondo_buffer_release(live[oldest % MOST_LIVE]);
        }
        CHECK_OK(rondo_buffer_create(stream, size, RONDO_USAGE_LASTING, &live[next % MOST_LIVE]));
        CHECK_OK(fill_i32(stream, rondo_whole(live[next % MOST_LIVE]), step, NULL));
        sizes[next++ % MOST_LIVE] = size;
        total += size;
    }
    for (; oldest < next; oldest++) rondo_buffer_release(live[oldest % MOST_LIVE]);
}

extern const struct conform_case bugs_memory_cases[];
const struct conform_case bugs_memory_cases[] = {
    CONFORM_CASE(frees_and_trims_at_the_edges_of_windows_disturb_nobody, NEEDS_NOTHING),
    CONFORM_CASE(memory_that_other_work_still_reads_is_handed_to_nobody, NEEDS_MAP),
    CONFORM_CASE(memory_that_a_replay_still_reads_is_handed_to_nobody, NEEDS_MAP),
    CONFORM_CASE(everything_may_be_released_while_a_replay_runs, NEEDS_MAP),
    CONFORM_CASE_ON(a_trace_that_fits_when_frees_count_fits, NEEDS_CAPS, &FOUR_CAPPED_QUEUES),
    CONFORM_END,
};
