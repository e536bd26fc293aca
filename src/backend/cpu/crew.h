/* The crew: threads that share one large job with the thread that brings it.
 *
 *     hand 0 is the caller; hands 1 .. n-1 are threads, made at the first job
 *
 * A job is a range of units, cut into chunks and dealt to the hands in equal runs. A hand works off its own run first,
 * so that the same units meet the same cache job after job, then takes chunks from the others. The caller never
 * waits for a hand that has not come: it shuts the gate when no chunk is left, and waits only for those inside.
 *
 * A hand that finds no job watches for a while, then sleeps. To wake it costs the caller many microseconds, and it
 * comes late. So sleepers are woken only for a job that is long, or when jobs come closely after one another, since
 * then the next one will find them awake; otherwise the job goes to the hands that are awake, or is refused. And hands
 * watch for long only as long as jobs do come closely.
 *
 * Invariants
 *  1. The job's fields change only while `busy` is held, the gate is shut and nobody is inside.
 *  2. Only a hand that is inside takes chunks; so no chunk of one job is ever run with the fields of another.
 *  3. A hand that sleeps has `parked` set, and whoever clears it posts its semaphore once.
 */
#ifndef RDO_BACKEND_CPU_CREW_H
#define RDO_BACKEND_CPU_CREW_H

#include <stdbool.h>
#include <stdint.h>

#define RDO_CREW_MAX_HANDS 1024

struct rdo_crew;

/* Runs the units [first, last). Threads  several at once, on disjoint ranges. */
typedef void (*rdo_crew_fn)(void *context, uint64_t first, uint64_t last);

struct rdo_crew_job {
    rdo_crew_fn fn;
    void *context;
    uint64_t count;     /* units */
    uint64_t chunk;     /* units taken at a time, never 0 */
    uint32_t max_hands; /* the caller included */
    uint64_t alone_ns;  /* what it would take the caller alone, 0: unknown and taken to be long */
    /* What each hand does when no unit is left to take, for jobs whose units bring forth further work; returns when
     * there is none and will be none. May be NULL. */
    void (*rest)(void *context);
};

/* What the caller itself did of a job, from which the cost of a unit is learnt. */
struct rdo_crew_share {
    uint64_t units;
    uint64_t ns;
};

/* How many processors this process may use, at least 1. */
uint32_t rdo_crew_processors(void);

/* Makes a crew of `hands`, without starting a thread. With `spin`, hands that are there never sleep. NULL when there
 * is no memory. */
struct rdo_crew *rdo_crew_create(uint32_t hands, bool pin, bool spin);

/* Ends and joins all threads. NULL is ignored. No job may be running. */
void rdo_crew_destroy(struct rdo_crew *crew);

/* Runs the job and returns true when all of it is done; or returns false, and then nothing ran: the crew is in use,
 * or has no one to share with whom it would pay to wake. Threads  any. */
bool rdo_crew_run(struct rdo_crew *crew, const struct rdo_crew_job *job, struct rdo_crew_share *out_own);

/* One turn of a loop that waits for what another hand is about to do; `turn` counts from 0. */
void rdo_crew_pause(uint64_t turn);

uint64_t rdo_crew_now_ns(void);

#endif
