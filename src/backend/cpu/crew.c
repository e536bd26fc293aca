#define _GNU_SOURCE
#include "crew.h"

#include <errno.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include "base/thread.h"
#include "parts.h"

/* The gate is one word, so that a hand learns of a job and enters it in one step: how many are inside, open, the
 * caller sleeps, quit, hands that the job wants, number of the job. */
#define GATE_INSIDE UINT64_C(0xffff)
#define GATE_OPEN (UINT64_C(1) << 16)
#define GATE_WAITING (UINT64_C(1) << 17)
#define GATE_QUIT (UINT64_C(1) << 18)
#define GATE_HANDS_SHIFT 19
#define GATE_HANDS UINT64_C(0x1fff)
#define GATE_JOB_SHIFT 32

#define CLOSE_NS 800000u  /* a job that comes within this time after the last one comes closely after it */
#define WATCH_NS 20000u   /* how long an idle hand watches the gate before it sleeps, if jobs do not come closely, */
#define LEAST_NS 100000u  /* and at least if they do, so that a caller that is held up once does not put it to sleep */
#define JOIN_NS 20000u    /* how long the caller watches for the hands inside to leave before it sleeps */
#define WAKE_NS 150000u   /* a job of this length is worth waking sleepers for: twice what it takes one to come */
#define WATCH_TURNS 64u   /* after so many the clock is looked at; about 1 us */
#define YIELD_TURNS 4096u /* of a pause; about 0.1 ms */
#define FAN_OUT 4u        /* each hand wakes this many more, so that the caller does not wake all by itself */

/* A line of its own for each hand, and its neighbour for the prefetcher. */
struct hand {
    alignas(128) _Atomic uint64_t next; /* next chunk of this hand's run, by number */
    uint64_t end;
    alignas(64) _Atomic uint32_t parked;
    uint32_t index;
    int processor;  /* where it was seen last, by itself */
    bool displaced; /* not allowed on the caller's processor until it has left it */
    sem_t wake;
    pthread_t thread;
    struct rdo_crew *crew;
};

struct rdo_crew {
    alignas(128) _Atomic uint64_t gate;
    alignas(128) _Atomic bool busy;
    bool tried; /* threads were started, as many as could be */
    bool pin;
    bool spin;
    bool waking;       /* sleepers are woken for the job */
    _Atomic int processor; /* where the last caller ran */
    uint64_t ended_ns; /* when the last job ended, or, if it was refused, is expected to end */
    _Atomic uint64_t watch_ns;
    cpu_set_t allowed; /* empty if unknown */
    uint32_t planned;
    uint32_t ready; /* hands that there are, the caller included */
    uint32_t hands; /* of the job */
    struct rdo_crew_job job;
    sem_t done;
    struct hand hand[];
};

uint64_t rdo_crew_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint32_t rdo_crew_processors(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        int count = CPU_COUNT(&set);
        return count > 0 ? (uint32_t)count : 1;
    }
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 && online <= RDO_CREW_MAX_HANDS ? (uint32_t)online : 1;
}

/* Where there are more threads than processors, the one that is waited for may need this one's. */
void rdo_crew_pause(uint64_t turn) {
    rdo_relax();
    if (turn % YIELD_TURNS == YIELD_TURNS - 1) {
        sched_yield();
    }
}

static void sleep_on(sem_t *semaphore) {
    while (sem_wait(semaphore) != 0 && errno == EINTR) {
    }
}

/* ---- the job, inside ---- */

static bool take_chunk(struct hand *hand, uint64_t *out_chunk) {
    if (atomic_load_explicit(&hand->next, memory_order_relaxed) >= hand->end) {
        return false;
    }
    *out_chunk = atomic_fetch_add_explicit(&hand->next, 1, memory_order_relaxed);
    return *out_chunk < hand->end;
}

/* Works off the run of one hand and returns how many units that were. */
static uint64_t work_off(struct rdo_crew *crew, struct hand *from) {
    const struct rdo_crew_job *job = &crew->job;
    uint64_t units = 0;
    uint64_t chunk;
    while (take_chunk(from, &chunk)) {
        uint64_t first = chunk * job->chunk;
        uint64_t size = job->count - first < job->chunk ? job->count - first : job->chunk;
        job->fn(job->context, first, first + size);
        units += size;
    }
    return units;
}

static uint64_t work(struct rdo_crew *crew, uint32_t index) {
    uint64_t units = 0;
    for (uint32_t turn = 0; turn < crew->hands; turn++) {
        units += work_off(crew, &crew->hand[(index + turn) % crew->hands]);
    }
    if (crew->job.rest != NULL) {
        crew->job.rest(crew->job.context);
    }
    return units;
}

/* Moves a hand from the caller's processor. The system wakes a sleeper where it slept, unless it finds an idle
 * processor close to that, and processors are not always close; so the hand would wait for the caller, job after
 * job. */
static void displace(struct hand *hand, pthread_t thread) {
    cpu_set_t others = hand->crew->allowed;
    int caller = atomic_load_explicit(&hand->crew->processor, memory_order_relaxed);
    if (hand->crew->pin || hand->processor < 0 || hand->processor != caller) {
        return;
    }
    CPU_CLR((size_t)caller, &others);
    hand->displaced = CPU_COUNT(&others) > 0 && pthread_setaffinity_np(thread, sizeof others, &others) == 0;
}

/* It stays where it is now, as long as the system sees no reason to move it. */
static void set_free(struct hand *hand) {
    if (hand->displaced) {
        hand->displaced = false;
        pthread_setaffinity_np(pthread_self(), sizeof hand->crew->allowed, &hand->crew->allowed);
    }
}

static void wake(struct hand *hand) {
    if (atomic_load(&hand->parked) != 0 && atomic_exchange(&hand->parked, 0) != 0) {
        displace(hand, hand->thread);
        sem_post(&hand->wake);
    }
}

static void wake_some(struct rdo_crew *crew, uint32_t index) {
    if (!crew->waking) {
        return;
    }
    uint32_t first = index * FAN_OUT + 1;
    for (uint32_t next = first; next < first + FAN_OUT && next < crew->hands; next++) {
        wake(&crew->hand[next]);
    }
}

/* ---- threads ---- */

static bool is_called(uint64_t gate, uint32_t index, uint32_t seen) {
    return (gate & GATE_OPEN) != 0 && (uint32_t)(gate >> GATE_JOB_SHIFT) != seen &&
           index < ((gate >> GATE_HANDS_SHIFT) & GATE_HANDS);
}

static bool concerns(uint64_t gate, const struct hand *hand, uint32_t seen) {
    return (gate & GATE_QUIT) != 0 || is_called(gate, hand->index, seen);
}

/* Watches the gate for a while. Returns what it showed, or 0 if nothing came. */
static uint64_t watch(struct hand *hand, uint32_t seen) {
    uint64_t until = 0;
    for (uint32_t turn = 1;; turn++) {
        uint64_t gate = atomic_load_explicit(&hand->crew->gate, memory_order_acquire);
        if (concerns(gate, hand, seen)) {
            return gate;
        }
        rdo_relax();
        if (turn % WATCH_TURNS == 0) {
            uint64_t now = rdo_crew_now_ns();
            until = until == 0 ? now + atomic_load_explicit(&hand->crew->watch_ns, memory_order_relaxed) : until;
            if (now >= until && !hand->crew->spin) {
                return 0;
            }
            hand->processor = sched_getcpu();
            displace(hand, pthread_self());
            set_free(hand);
        }
    }
}

/* Sleeps until somebody wakes this hand, unless the gate concerns it already. The flag is set before the gate is read,
 * and the waker opens the gate before it reads the flag, all in the one order of sequential consistency: one of
 * the two sees the other. */
static void park(struct hand *hand, uint32_t seen) {
    hand->processor = sched_getcpu();
    atomic_store(&hand->parked, 1);
    if (concerns(atomic_load(&hand->crew->gate), hand, seen) && atomic_exchange(&hand->parked, 0) != 0) {
        return;
    }
    sleep_on(&hand->wake);
    set_free(hand);
}

static uint64_t await_call(struct hand *hand, uint32_t seen) {
    for (;;) {
        uint64_t gate = watch(hand, seen);
        if (gate != 0) {
            return gate;
        }
        park(hand, seen);
    }
}

static bool enter(struct hand *hand, uint64_t gate, uint32_t seen) {
    while (is_called(gate, hand->index, seen)) {
        if (atomic_compare_exchange_weak(&hand->crew->gate, &gate, gate + 1)) {
            return true;
        }
    }
    return false;
}

static void leave(struct rdo_crew *crew) {
    uint64_t gate = atomic_fetch_sub(&crew->gate, 1);
    if ((gate & GATE_INSIDE) == 1 && (gate & GATE_WAITING) != 0) {
        sem_post(&crew->done);
    }
}

static void *hand_main(void *argument) {
    struct hand *hand = argument;
    uint32_t seen = 0;
    rondo_backend_enter_work(true);
    for (;;) {
        uint64_t gate = await_call(hand, seen);
        if ((gate & GATE_QUIT) != 0) {
            break;
        }
        if (enter(hand, gate, seen)) {
            seen = (uint32_t)(atomic_load_explicit(&hand->crew->gate, memory_order_relaxed) >> GATE_JOB_SHIFT);
            wake_some(hand->crew, hand->index);
            work(hand->crew, hand->index);
            leave(hand->crew);
        }
    }
    rondo_backend_enter_work(false);
    return NULL;
}

/* Hands may use what the device was opened with, whatever the thread that happens to start them is bound to. Bound
 * hands leave the first processor to the caller as long as there are enough. */
static void place_hand(const struct rdo_crew *crew, const struct hand *hand) {
    cpu_set_t one = crew->allowed;
    uint32_t count = (uint32_t)CPU_COUNT(&crew->allowed);
    if (count == 0) {
        return;
    }
    if (crew->pin) {
        uint32_t skip = hand->index % count;
        CPU_ZERO(&one);
        for (size_t processor = 0; processor < CPU_SETSIZE && CPU_COUNT(&one) == 0; processor++) {
            if (CPU_ISSET(processor, &crew->allowed) && skip-- == 0) {
                CPU_SET(processor, &one);
            }
        }
    }
    pthread_setaffinity_np(hand->thread, sizeof one, &one);
}

static bool start_hand(struct rdo_crew *crew, uint32_t index) {
    struct hand *hand = &crew->hand[index];
    if (rdo_cpu_hooks.thread_create(&hand->thread, NULL, hand_main, hand) != 0) {
        return false;
    }
    char name[16];
    snprintf(name, sizeof name, "rondo-%hu", (unsigned short)index);
    pthread_setname_np(hand->thread, name);
    place_hand(crew, hand);
    return true;
}

/* Signals are the business of the application's own threads. */
static void start_hands(struct rdo_crew *crew) {
    sigset_t all, before;
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) {
        return;
    }
    while (crew->ready < crew->planned && start_hand(crew, crew->ready)) {
        crew->ready++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- the caller ---- */

static void deal(struct rdo_crew *crew, const struct rdo_crew_job *job, uint64_t chunks, uint32_t hands) {
    uint64_t share = chunks / hands;
    uint64_t rest = chunks % hands;
    uint64_t next = 0;
    crew->job = *job;
    crew->hands = hands;
    for (uint32_t index = 0; index < hands; index++) {
        atomic_store_explicit(&crew->hand[index].next, next, memory_order_relaxed);
        next += share + (index < rest ? 1 : 0);
        crew->hand[index].end = next;
    }
}

static void open_gate(struct rdo_crew *crew) {
    uint64_t number = (atomic_load_explicit(&crew->gate, memory_order_relaxed) >> GATE_JOB_SHIFT) + 1;
    atomic_store(&crew->gate, number << GATE_JOB_SHIFT | (uint64_t)crew->hands << GATE_HANDS_SHIFT | GATE_OPEN);
}

static bool nobody_inside_soon(struct rdo_crew *crew) {
    uint64_t until = 0;
    for (uint32_t turn = 1;; turn++) {
        if ((atomic_load_explicit(&crew->gate, memory_order_acquire) & GATE_INSIDE) == 0) {
            return true;
        }
        rdo_relax();
        if (turn % WATCH_TURNS == 0) {
            uint64_t now = rdo_crew_now_ns();
            until = until == 0 ? now + JOIN_NS : until;
            if (now >= until) {
                return false;
            }
        }
    }
}

/* Exactly one post follows when somebody was inside as WAITING was set, none otherwise: nobody enters any more. */
static void shut_gate(struct rdo_crew *crew) {
    uint64_t gate = atomic_fetch_and(&crew->gate, ~GATE_OPEN);
    if ((gate & GATE_INSIDE) == 0 || nobody_inside_soon(crew)) {
        return;
    }
    gate = atomic_fetch_or(&crew->gate, GATE_WAITING);
    if ((gate & GATE_INSIDE) != 0) {
        sleep_on(&crew->done);
    }
}

static void run_together(struct rdo_crew *crew, struct rdo_crew_share *out_own) {
    atomic_store_explicit(&crew->processor, sched_getcpu(), memory_order_relaxed);
    open_gate(crew);
    wake_some(crew, 0);
    uint64_t start = rdo_crew_now_ns();
    out_own->units = work(crew, 0);
    out_own->ns = rdo_crew_now_ns() - start;
    shut_gate(crew);
}

static uint32_t hands_for(const struct rdo_crew *crew, const struct rdo_crew_job *job, uint64_t chunks) {
    uint32_t hands = job->max_hands < crew->ready ? job->max_hands : crew->ready;
    return chunks < hands && job->rest == NULL ? (uint32_t)chunks : hands;
}

static bool one_is_awake(struct rdo_crew *crew, uint32_t hands) {
    uint32_t index = 1;
    while (index < hands && atomic_load_explicit(&crew->hand[index].parked, memory_order_relaxed) != 0) {
        index++;
    }
    return index < hands;
}

/* As long as jobs come closely, hands watch for twice the longest pause of late. */
static void set_watch(struct rdo_crew *crew, uint64_t pause_ns) {
    uint64_t watch_ns = atomic_load_explicit(&crew->watch_ns, memory_order_relaxed);
    watch_ns -= watch_ns / 8;
    watch_ns = watch_ns > 2 * pause_ns ? watch_ns : 2 * pause_ns;
    watch_ns = watch_ns > LEAST_NS ? watch_ns : LEAST_NS;
    atomic_store_explicit(&crew->watch_ns, pause_ns < CLOSE_NS ? watch_ns : WATCH_NS, memory_order_relaxed);
}

/* Whether anybody will come for this job. A job that nobody comes for is done by the caller alone, and only the time
 * after that tells whether it brings the next one soon. */
static bool is_worth_calling(struct rdo_crew *crew, const struct rdo_crew_job *job, uint32_t hands) {
    uint64_t now = rdo_crew_now_ns();
    uint64_t pause_ns = now > crew->ended_ns ? now - crew->ended_ns : 0;
    set_watch(crew, pause_ns);
    crew->waking = job->alone_ns == 0 || job->alone_ns >= WAKE_NS || pause_ns < CLOSE_NS;
    if (crew->waking || one_is_awake(crew, hands)) {
        return true;
    }
    crew->ended_ns = now + job->alone_ns;
    return false;
}

static bool run_held(struct rdo_crew *crew, const struct rdo_crew_job *job, uint64_t chunks,
                     struct rdo_crew_share *out_own) {
    if (!crew->tried) {
        crew->tried = true;
        start_hands(crew);
    }
    uint32_t hands = hands_for(crew, job, chunks);
    if (hands < 2 || !is_worth_calling(crew, job, hands)) {
        return false;
    }
    deal(crew, job, chunks, hands);
    run_together(crew, out_own);
    crew->ended_ns = rdo_crew_now_ns();
    return true;
}

bool rdo_crew_run(struct rdo_crew *crew, const struct rdo_crew_job *job, struct rdo_crew_share *out_own) {
    uint64_t chunks = job->count / job->chunk + (job->count % job->chunk != 0 ? 1 : 0);
    bool is_small = chunks < 2 && job->rest == NULL;
    if (is_small || crew->planned < 2 || atomic_load_explicit(&crew->busy, memory_order_relaxed) ||
        atomic_exchange_explicit(&crew->busy, true, memory_order_acquire)) {
        return false;
    }
    bool ran = run_held(crew, job, chunks, out_own);
    atomic_store_explicit(&crew->busy, false, memory_order_release);
    return ran;
}

/* ---- making and ending ---- */

static size_t crew_bytes(uint32_t hands) {
    return sizeof(struct rdo_crew) + hands * sizeof(struct hand);
}

struct rdo_crew *rdo_crew_create(uint32_t hands, bool pin, bool spin) {
    hands = hands < 1 ? 1 : hands;
    hands = hands > RDO_CREW_MAX_HANDS ? RDO_CREW_MAX_HANDS : hands;
    struct rdo_crew *crew = rdo_cpu_alloc(crew_bytes(hands));
    if (crew == NULL) {
        return NULL;
    }
    crew->planned = hands;
    crew->ready = 1;
    crew->pin = pin;
    crew->spin = spin;
    atomic_init(&crew->watch_ns, WATCH_NS);
    if (sched_getaffinity(0, sizeof crew->allowed, &crew->allowed) != 0) {
        CPU_ZERO(&crew->allowed);
    }
    sem_init(&crew->done, 0, 0);
    for (uint32_t index = 0; index < hands; index++) {
        crew->hand[index].index = index;
        crew->hand[index].crew = crew;
        sem_init(&crew->hand[index].wake, 0, 0);
    }
    return crew;
}

void rdo_crew_destroy(struct rdo_crew *crew) {
    if (crew == NULL) {
        return;
    }
    atomic_fetch_or(&crew->gate, GATE_QUIT);
    for (uint32_t index = 1; index < crew->ready; index++) {
        wake(&crew->hand[index]);
    }
    for (uint32_t index = 1; index < crew->ready; index++) {
        pthread_join(crew->hand[index].thread, NULL);
    }
    for (uint32_t index = 0; index < crew->planned; index++) {
        sem_destroy(&crew->hand[index].wake);
    }
    sem_destroy(&crew->done);
    rdo_cpu_release(crew, crew_bytes(crew->planned));
}
