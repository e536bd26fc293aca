#define _GNU_SOURCE /* names of threads */
#include "stream/pending.h"

#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>

#include "base/alloc.h"
#include "stream/stream.h"
#include "stream/submit.h"

enum { ITEMS = 128, WATCH_TURNS = 64, YIELD_TURNS = 1024, WATCH_NS = 20000 };

struct rdo_pending {
    rdo_queue *queue;
    rdo_lock turn;           /* who has it plays */
    _Atomic uint64_t pushed; /* items ever; under the queue's lock */
    _Atomic uint64_t done;   /* of these; under the turn */
    bool started;            /* there is a worker; under the queue's lock */
    pthread_t worker;
    _Atomic uint32_t parked; /* the worker sleeps, or is about to */
    _Atomic bool quit;
    _Atomic bool settling;   /* the worker has played an item and settles what that left */
    sem_t wake;
    rdo_item items[ITEMS];
};

int (*rdo_pending_thread_create)(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                                 void *argument) = pthread_create;
static uint32_t (*choose_item)(uint32_t count);
static _Thread_local bool deleted_by_its_worker; /* and this is the worker */
static _Thread_local bool is_settling;           /* this is a worker that settles */

static uint64_t count_waiting(const rdo_pending *pending) {
    /* Acquires: whoever finds that all is done sees what was done. */
    uint64_t done = atomic_load_explicit(&pending->done, memory_order_acquire);
    return atomic_load_explicit(&pending->pushed, memory_order_seq_cst) - done;
}

bool rdo_queue_is_idle(const rdo_queue *queue) {
    return queue->pending == NULL || count_waiting(queue->pending) == 0;
}

/* ---- playing ---- */

/* Turn held. Whether there is something to settle; then, with `pin`, the engine is pinned for that: the item may have
 * held the last stream. Otherwise nothing is left to do once the item counts as done, so that a program which has
 * waited for its work finds that whatever it releases then ends at once, and on its own thread. */
static bool play_item(rdo_queue *queue, rdo_item *item, bool pin) {
    rdo_engine *engine = queue->engine;
    rdo_call call = {.engine = engine, .stream = item->stream, .queue = queue, .where = item->where};
    rondo_status status = item->kind->play(&call, item);
    if (status != RONDO_OK) rdo_stream_failed(item->stream, status);
    rdo_lock_take(&engine->books.lock);
    item->kind->drop(engine, item);
    rdo_stream_unref(item->stream);
    bool unsettled = rdo_engine_unsettled(engine);
    if (unsettled && pin) rdo_engine_pin(engine); /* the stream, ended or not, still counts among its children */
    rdo_lock_give(&engine->books.lock);
    rdo_arena_reset(&item->arena);
    return unsettled;
}

/* Rests for a moment; false once that has gone on for as long as it takes to be woken. `until` begins as 0. */
static bool watch_on(uint64_t turn, uint64_t *until) {
    rdo_relax();
    if (turn % WATCH_TURNS != 0) return true;
    uint64_t now = rdo_clock_ns();
    if (*until == 0) *until = now + WATCH_NS;
    return now < *until;
}

/* Whoever plays is mostly done before a sleeper would be awake. */
static void take_turn(rdo_pending *pending) {
    uint64_t until = 0;
    for (uint64_t turn = 1; !rdo_lock_try(&pending->turn); turn++) {
        if (watch_on(turn, &until)) continue;
        rdo_lock_take(&pending->turn);
        return;
    }
}

/* Plays the first item; false if there is none. `out_unsettled` may be NULL, for a caller who settles anyway. */
static bool play_first(rdo_pending *pending, bool *out_unsettled) {
    take_turn(pending);
    bool any = count_waiting(pending) != 0;
    if (any) {
        uint64_t done = atomic_load_explicit(&pending->done, memory_order_relaxed);
        bool unsettled = play_item(pending->queue, &pending->items[done % ITEMS], out_unsettled != NULL);
        if (out_unsettled != NULL) *out_unsettled = unsettled;
        if (out_unsettled != NULL && unsettled) atomic_store(&pending->settling, true);
        atomic_store_explicit(&pending->done, done + 1, memory_order_release);
    }
    rdo_lock_give(&pending->turn);
    return any;
}

/* ---- the worker ---- */

static bool is_called(const rdo_pending *pending) {
    return count_waiting(pending) != 0 || atomic_load(&pending->quit);
}

/* Looks for work for a while, or for ever where the device was opened so. */
static bool watch(const rdo_pending *pending) {
    uint64_t until = 0;
    for (uint64_t turn = 1; !is_called(pending); turn++) {
        if (turn % YIELD_TURNS == 0) (void)sched_yield(); /* the caller may need this core */
        if (!watch_on(turn, &until) && !pending->queue->engine->spins) return false;
    }
    return true;
}

/* Sleeps until somebody wakes it, unless it is called already. It says so before it looks, and callers push before they
 * look whether it sleeps, all in the one order of sequential consistency: one of the two sees the other. Exactly one
 * post comes for each time that somebody else took `parked` back. */
static void park(rdo_pending *pending) {
    atomic_store(&pending->parked, 1);
    if (RDO_CHANCE(is_called(pending) && atomic_exchange(&pending->parked, 0) != 0)) return; /* called just now */
    while (sem_wait(&pending->wake) != 0) {} /* a handler ran on this thread; nothing else can be wrong */
}

static void wake(rdo_pending *pending) {
    if (atomic_load(&pending->parked) == 0) return;
    if (RDO_CHANCE(atomic_exchange(&pending->parked, 0) != 0)) (void)sem_post(&pending->wake); /* else it just saw it */
}

/* False: with the last item went all that kept the device, and so everything here is gone. */
static bool settle(rdo_pending *pending) {
    rdo_engine *engine = pending->queue->engine;
    is_settling = true;
    rdo_engine_settle_pinned(engine);
    is_settling = false;
    if (deleted_by_its_worker) return false;
    rdo_lock_take(&engine->books.lock);
    atomic_store(&pending->settling, false);
    rdo_condition_tell(&engine->books.changed);
    rdo_lock_give(&engine->books.lock);
    return true;
}

static void *work(void *argument) {
    rdo_pending *pending = argument;
    for (;;) {
        bool unsettled;
        while (play_first(pending, &unsettled)) {
            if (unsettled && !settle(pending)) return NULL;
        }
        if (!watch(pending)) park(pending);
        if (atomic_load(&pending->quit)) return NULL;
    }
}

/* Signals are the business of the application's own threads. */
static bool start_worker(rdo_pending *pending) {
    sigset_t all, before;
    char name[16];
    if (pending->started || choose_item != NULL) return true;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    pending->started = rdo_pending_thread_create(&pending->worker, NULL, work, pending) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!pending->started) return false;
    (void)snprintf(name, sizeof name, "rondo-q%hu", (unsigned short)pending->queue->index);
    (void)pthread_setname_np(pending->worker, name);
    return true;
}

static void end_worker(rdo_pending *pending) {
    if (pthread_equal(pthread_self(), pending->worker)) {
        deleted_by_its_worker = true;
        (void)pthread_detach(pending->worker);
        return;
    }
    atomic_store(&pending->quit, true);
    wake(pending);
    (void)pthread_join(pending->worker, NULL);
}

/* ---- by hand ---- */

/* The queue of the k-th item that need not wait; NULL if there are fewer. */
static rdo_pending *find_ready(rdo_engine *engine, uint32_t k, uint32_t *out_count) {
    rdo_pending *found = NULL;
    *out_count = 0;
    rdo_lock_take(&engine->books.lock);
    for (uint32_t i = 0; i < engine->queue_count; i++) {
        rdo_pending *pending = engine->queues[i].pending;
        if (pending == NULL || count_waiting(pending) == 0) continue;
        if (!rdo_order_may_run(&pending->items[atomic_load(&pending->done) % ITEMS].entry)) continue;
        if (*out_count == k) found = pending;
        ++*out_count;
    }
    rdo_lock_give(&engine->books.lock);
    return found;
}

static bool play_chosen(rdo_engine *engine) {
    uint32_t count, unused;
    (void)find_ready(engine, 0, &count);
    if (count == 0) return false;
    return play_first(find_ready(engine, choose_item(count), &unused), NULL);
}

static void play_instead_of_waiting(rdo_order *order) {
    rdo_engine *engine = (rdo_engine *)(void *)((char *)order - offsetof(rdo_engine, order));
    rdo_lock_give(&engine->books.lock);
    bool played = play_chosen(engine);
    RDO_ASSERT(played); /* else the one thread that there is would wait for ever */
    (void)played;
    rdo_lock_take(&engine->books.lock);
}

void rdo_pending_by_hand(uint32_t (*choose)(uint32_t count)) {
    choose_item = choose;
    rdo_order_instead_of_waiting = choose != NULL ? play_instead_of_waiting : NULL;
}

bool rdo_pending_play(rdo_engine *engine) {
    bool played = play_chosen(engine);
    rdo_engine_settle(engine);
    return played;
}

/* ---- the caller ---- */

static void play_some(rdo_pending *pending) {
    if (RDO_UNLIKELY(choose_item != NULL)) {
        (void)play_chosen(pending->queue->engine);
    } else {
        (void)play_first(pending, NULL);
    }
}

/* Room for one more item; NULL if there can be none. */
static rdo_item *reserve(rdo_call *call) {
    rdo_pending *pending = call->queue->pending;
    if (!call->stream->queued || rdo_window_is_active(&call->queue->window) || !start_worker(pending)) return NULL;
    while (count_waiting(pending) == ITEMS) play_some(pending);
    return &pending->items[atomic_load_explicit(&pending->pushed, memory_order_relaxed) % ITEMS];
}

static bool place(rdo_call *call, rdo_item *item, void *what) {
    item->where = call->where;
    rdo_lock_take(&call->engine->books.lock);
    bool placed = item->kind->place(call, item, what);
    if (placed) {
        item->stream = call->stream;
        item->stream->refs++;
    }
    rdo_lock_give(&call->engine->books.lock);
    return placed;
}

bool rdo_pending_hand_over(rdo_call *call, const rdo_handover *kind, void *what) {
    rdo_pending *pending = call->queue->pending;
    rdo_item *item = reserve(call);
    if (item == NULL) return false;
    item->kind = kind;
    if (!place(call, item, what)) {
        rdo_arena_reset(&item->arena);
        return false;
    }
    atomic_fetch_add_explicit(&pending->pushed, 1, memory_order_seq_cst);
    wake(pending);
    return true;
}

void rdo_pending_drain(rdo_pending *pending) {
    while (count_waiting(pending) != 0) play_some(pending);
}

void rdo_queue_await_settled(rdo_queue *queue) {
    rdo_books *books = &queue->engine->books;
    if (queue->pending == NULL || is_settling) return;
    rdo_lock_take(&books->lock);
    while (atomic_load(&queue->pending->settling)) rdo_condition_wait(&books->changed, &books->lock);
    rdo_lock_give(&books->lock);
}

bool rdo_engine_drain(rdo_engine *engine) {
    bool any = false;
    for (uint32_t i = 0; i < engine->queue_count; i++) {
        rdo_queue *queue = &engine->queues[i];
        rdo_lock_take(&queue->lock);
        any = any || queue->pending != NULL;
        rdo_queue_drain(queue);
        rdo_lock_give(&queue->lock);
        rdo_queue_await_settled(queue);
    }
    if (any) rdo_engine_settle(engine);
    return any;
}

/* ---- life ---- */

rdo_pending *rdo_pending_new(rdo_queue *queue) {
    rdo_pending *pending = rdo_alloc_zero(1, sizeof *pending);
    if (pending == NULL) return NULL;
    pending->queue = queue;
    rdo_lock_init(&pending->turn, RDO_RANK_TURN);
    (void)sem_init(&pending->wake, 0, 0);
    return pending;
}

void rdo_pending_delete(rdo_pending *pending) {
    if (pending->started) end_worker(pending);
    RDO_ASSERT(count_waiting(pending) == 0); /* not before: the worker may still be on its way out of the last item */
    for (int i = 0; i < ITEMS; i++) rdo_arena_clear(&pending->items[i].arena);
    (void)sem_destroy(&pending->wake);
    rdo_free(pending);
}
