/*
 * The order of operations: queue locks, the device lock, tickets, the fast path and its wake-ups.
 *
 * Three threads, two queues, two memory records; record r has its home on queue r.
 * See README.md for the functions that each part stands for and for the seeded mistakes (BREAK_*).
 *
 * Promela steps are sequentially consistent. A mistake that a weak memory model would allow is
 * therefore seeded by writing the two steps in the other order.
 */

#ifndef THREADS
#define THREADS 3
#endif
#ifndef OPS_FIRST
#define OPS_FIRST 2 /* operations of thread 0 */
#endif
#ifndef OPS_SECOND
#define OPS_SECOND 2 /* operations of thread 1 */
#endif
#ifndef OPS_LAST
#define OPS_LAST 1 /* operations of the last thread */
#endif

#define NONE 0
#define READ 1
#define WRITE 2

/* Locks hold 0 or the owner's number plus one. */
byte queue_lock[2];
byte device_lock;

/* Atomics. */
bit fast[2];
byte foreign[2];
byte fast_waiters;

/* Books, under the device lock. A ticket of 0 says "not registered". */
byte tickets_out;
byte ticket[THREADS];
byte access0[THREADS]; /* what a registered operation does to record 0 */
byte access1[THREADS];
bit asleep[THREADS]; /* in the wait of the condition variable */

/* Ghosts: they only serve the checks. */
byte readers[2];
byte writers[2];
byte publishes[THREADS]; /* how often the awaited queue published since this operation registered */
byte waits_for[THREADS]; /* 1 + the foreign queue that a registered operation touches, or 0 */
byte finished;

#ifdef CLAIMS
bit bad[2];   /* ghost: the bytes come from work that failed */
bit claim[2]; /* what the books say about them */
bit may_fail = 1;
#endif

#ifdef LIVE
/* Liveness needs a lock that is fair: a queue of numbers, served in turn. */
byte line_next, line_serving;
bit served;
#define LINE 4
#define LOCK_DEVICE                                                                                \
    d_step { my_turn = line_next; line_next = (line_next + 1) % LINE; }                            \
    atomic { line_serving == my_turn -> device_lock = me + 1 }
#define UNLOCK_DEVICE                                                                              \
    d_step { assert(device_lock == me + 1); device_lock = 0;                                       \
             line_serving = (line_serving + 1) % LINE }
#define SLEEP                                                                                      \
    d_step { assert(device_lock == me + 1); asleep[me] = 1; device_lock = 0;                       \
             line_serving = (line_serving + 1) % LINE }                                            \
    asleep[me] == 0;                                                                               \
    LOCK_DEVICE
#else
#define LOCK_DEVICE atomic { device_lock == 0 -> device_lock = me + 1 }
#define UNLOCK_DEVICE d_step { assert(device_lock == me + 1); device_lock = 0 }
/* Sleeping gives the lock away in the same step; waking takes it again in a later one. */
#define SLEEP                                                                                      \
    d_step { assert(device_lock == me + 1); asleep[me] = 1; device_lock = 0 }                      \
    asleep[me] == 0;                                                                               \
    LOCK_DEVICE
#endif

#define LOCK_QUEUE(q) atomic { queue_lock[q] == 0 -> assert(device_lock != me + 1);                \
                               queue_lock[q] = me + 1 }
#define UNLOCK_QUEUE(q) d_step { assert(queue_lock[q] == me + 1); queue_lock[q] = 0 }

inline broadcast()
{
    d_step {
        other = 0;
        do
        :: other < THREADS -> asleep[other] = 0; other++
        :: else -> break
        od;
        other = 0
    }
}

#define CLASH(a, b) ((a) != NONE && (b) != NONE && ((a) == WRITE || (b) == WRITE))
#ifdef BREAK_TICKET_ORDER
#define BEFORE(o) (ticket[o] != 0 && o != me)
#else
#define BEFORE(o) (ticket[o] != 0 && ticket[o] < ticket[me])
#endif

/* Sets blocked when a registered operation with a smaller ticket conflicts with this one. */
inline look_for_smaller()
{
    d_step {
        blocked = 0;
        other = 0;
        do
        :: other < THREADS ->
            if
            :: BEFORE(other) && (CLASH(access0[other], want0) || CLASH(access1[other], want1)) ->
                blocked = 1
            :: else
            fi;
            other++
        :: else -> break
        od;
        other = 0
    }
}

#define START(r, want)                                                                             \
    if                                                                                             \
    :: want == READ -> assert(writers[r] == 0); readers[r]++; CHECK_GOOD(r)                        \
    :: want == WRITE -> assert(writers[r] == 0 && readers[r] == 0); writers[r]++                   \
    :: else                                                                                        \
    fi
#define STOP(r, want)                                                                              \
    if                                                                                             \
    :: want == READ -> readers[r]--                                                                \
    :: want == WRITE -> writers[r]--; SET_BAD(r)                                                   \
    :: else                                                                                        \
    fi

#ifdef CLAIMS
#define CHECK_GOOD(r) assert(!bad[r])
#define SET_BAD(r) bad[r] = failed
#else
#define CHECK_GOOD(r) skip
#define SET_BAD(r) skip
#endif

/* The kernel: it begins in one step and ends in another, so that others can come in between. */
inline execute()
{
#ifdef CLAIMS
    failed = 0;
    if
    :: skipped -> failed = 1
    :: !skipped && may_fail && (want0 == WRITE || want1 == WRITE) -> failed = 1; may_fail = 0
    :: !skipped
    fi;
    if
    :: skipped ->
        d_step {
            if :: want0 == WRITE -> bad[0] = 1 :: else fi;
            if :: want1 == WRITE -> bad[1] = 1 :: else fi
        }
    :: else ->
        d_step { START(0, want0); START(1, want1) };
        d_step { STOP(0, want0); STOP(1, want1) }
    fi
#else
    d_step { START(0, want0); START(1, want1) };
    d_step { STOP(0, want0); STOP(1, want1) }
#endif
}

#ifdef CLAIMS
/* Reads the claims of the inputs: an operation with a claimed input is skipped. */
inline check_claims()
{
    skipped = (want0 == READ && claim[0]) || (want1 == READ && claim[1])
}
/* Writes the outcome into the books. */
inline settle_claims()
{
    d_step {
        if :: want0 == WRITE -> claim[0] = failed :: else fi;
        if :: want1 == WRITE -> claim[1] = failed :: else fi
    }
}
#define BOOKS_MUST_CHANGE                                                                          \
    ((want0 == WRITE && claim[0] != failed) || (want1 == WRITE && claim[1] != failed))
#endif

#define FOREIGN_WANTED (q == 0 && want1 != NONE || q == 1 && want0 != NONE)

inline slow()
{
    LOCK_DEVICE;
    d_step {
        tickets_out++;
        ticket[me] = tickets_out;
        access0[me] = want0;
        access1[me] = want1;
        waits_for[me] = (FOREIGN_WANTED -> 2 - q : 0);
        publishes[me] = 0
    }
    if
    :: FOREIGN_WANTED -> foreign[1 - q]++
    :: else
    fi;
#ifdef CLAIMS
#ifdef BREAK_CLAIM_CHECK_BEFORE_WAIT
    check_claims();
#endif
#endif
    do
    :: look_for_smaller();
        if
        :: blocked -> SLEEP
        :: !blocked && !FOREIGN_WANTED -> break
#ifdef BREAK_NO_FAST_WAIT
        :: !blocked && FOREIGN_WANTED -> break
#else
        :: !blocked && FOREIGN_WANTED ->
#ifndef BREAK_WAITER_COUNTED_LATE
            fast_waiters++;
#endif
            if
            :: fast[1 - q] == 0 ->
#ifndef BREAK_WAITER_COUNTED_LATE
                fast_waiters--;
#endif
                break
            :: else ->
#ifdef BREAK_WAITER_COUNTED_LATE
                fast_waiters++;
#endif
                SLEEP;
                fast_waiters--
            fi
#endif
        fi
    od;
    skip; /* a break may not lead into a d_step */
    d_step { blocked = 0; waits_for[me] = 0; publishes[me] = 0 }
#ifdef BREAK_SECOND_QUEUE_LOCK
    UNLOCK_DEVICE;
    if
    :: FOREIGN_WANTED -> LOCK_QUEUE(1 - q); UNLOCK_QUEUE(1 - q)
    :: else
    fi;
    LOCK_DEVICE;
#endif
#ifdef CLAIMS
#ifndef BREAK_CLAIM_CHECK_BEFORE_WAIT
    check_claims();
#endif
#endif
    /* [ticket order] nothing with a smaller ticket that conflicts is left when this one runs. */
    look_for_smaller();
    assert(!blocked);
    UNLOCK_DEVICE;
    execute();
    LOCK_DEVICE;
#ifdef CLAIMS
#ifndef BREAK_CLAIM_AFTER_UNREGISTER
    settle_claims();
#endif
#endif
    d_step {
        /* Only the order of tickets matters: closing the gap keeps the number of states small. */
        other = 0;
        do
        :: other < THREADS ->
            if
            :: ticket[other] > ticket[me] -> ticket[other]--
            :: else
            fi;
            other++
        :: else -> break
        od;
        other = 0;
        tickets_out--;
        ticket[me] = 0;
        access0[me] = NONE;
        access1[me] = NONE
    }
    if
    :: FOREIGN_WANTED -> foreign[1 - q]--
    :: else
    fi;
#ifndef BREAK_NO_BROADCAST
    if
    :: tickets_out != 0 -> broadcast()
    :: else
    fi;
#endif
#ifdef BREAK_CLAIM_AFTER_UNREGISTER
    UNLOCK_DEVICE;
    LOCK_DEVICE;
    settle_claims();
#endif
    UNLOCK_DEVICE
}

/* Ends a fast operation, or backs off from one. */
inline fast_end()
{
#ifdef BREAK_WAITERS_READ_FIRST
    woke = (fast_waiters != 0);
    fast[q] = 0;
#else
    fast[q] = 0;
    woke = (fast_waiters != 0);
#endif
#ifndef BREAK_NO_WAKE
    if
    :: woke ->
#ifdef BREAK_BROADCAST_WITHOUT_LOCK
        broadcast()
#else
        LOCK_DEVICE;
        broadcast();
        UNLOCK_DEVICE
#endif
    :: else
    fi;
#endif
    woke = 0
}

/* [no starvation] a queue publishes at most once while a registered operation waits for it. */
inline publish()
{
    d_step {
        fast[q] = 1;
        other = 0;
        do
        :: other < THREADS ->
            if
            :: waits_for[other] == q + 1 && foreign[q] != 0 ->
#ifndef LIVE
                publishes[other]++;
                assert(publishes[other] <= 1)
#endif
            :: else
            fi;
            other++
        :: else -> break
        od;
        other = 0
    }
}

/* All that is wanted is at home. Leaves is_slow set when the operation must go the slow way. */
inline try_fast()
{
    is_slow = 0;
#ifndef BREAK_PUBLISH_BEFORE_LOOK
    if
    :: foreign[q] != 0 -> is_slow = 1
    :: else
    fi;
#endif
    if
    :: is_slow
    :: else ->
        publish();
#if defined(BREAK_NO_FOREIGN_CHECK)
        if
        :: true
#else
        if
        :: foreign[q] != 0 ->
            is_slow = 1;
#ifdef BREAK_NO_WAKE_ON_BACK_OFF
            fast[q] = 0
#else
            fast_end()
#endif
        :: else
#endif
        fi;
        if
        :: is_slow
        :: else ->
#ifdef CLAIMS
            check_claims();
#endif
            execute();
#ifdef CLAIMS
#ifdef BREAK_CLAIM_AFTER_FAST_END
            fast_end();
#endif
            if
            :: BOOKS_MUST_CHANGE -> LOCK_DEVICE; settle_claims(); UNLOCK_DEVICE
            :: else
            fi;
#ifndef BREAK_CLAIM_AFTER_FAST_END
            fast_end()
#endif
#else
            fast_end()
#endif
        fi
    fi
}

inline operation()
{
    LOCK_QUEUE(q);
    is_slow = FOREIGN_WANTED;
    if
    :: !is_slow -> try_fast()
    :: else
    fi;
    if
    :: is_slow -> slow()
    :: else
    fi;
    d_step {
        is_slow = 0;
#ifdef CLAIMS
        skipped = 0;
        failed = 0;
#endif
        blocked = 0
    }
    UNLOCK_QUEUE(q)
}

#ifdef LIVE
#define VARIABLES                                                                                  \
    byte want0, want1, other, my_turn;                                                             \
    bit q, is_slow, blocked, woke
#else
#define VARIABLES                                                                                  \
    byte want0, want1, other;                                                                      \
    bit q, is_slow, blocked, woke, skipped, failed
#endif

#ifdef LIVE

/* One operation that needs the other queue's memory... */
proctype Visitor(byte me)
{
    VARIABLES;
    q = 0;
    want0 = READ;
    want1 = WRITE;
    operation();
    served = 1
}

/* ...and somebody at home there who never stops. */
proctype Resident(byte me)
{
    VARIABLES;
    q = 1;
    want0 = NONE;
    do
    :: want1 = READ; operation()
    od
}

ltl the_visitor_is_served { <> served }

init
{
    atomic { run Visitor(0); run Resident(1) }
}

#else

proctype Thread(byte me; byte ops)
{
    VARIABLES;
    do
    :: ops == 0 -> break
    :: ops > 0 ->
        atomic {
            select(q : 0..1);
            if
            :: want0 = NONE; want1 = READ
            :: want0 = NONE; want1 = WRITE
            :: want0 = READ; want1 = NONE
            :: want0 = WRITE; want1 = NONE
            :: want0 = READ; want1 = WRITE
            :: want0 = WRITE; want1 = READ
#ifndef CLAIMS
            :: want0 = WRITE; want1 = WRITE
            :: want0 = READ; want1 = READ
#endif
            fi
        }
        operation();
        d_step { ops--; want0 = 0; want1 = 0; q = 0 }
    od;
    finished++
}

init
{
    atomic {
        run Thread(0, OPS_FIRST);
        run Thread(1, OPS_SECOND);
#if THREADS > 2
        run Thread(2, OPS_LAST)
#endif
    }
    finished == THREADS;
    /* [nothing is left] every lock, count and mark is back where it began. */
    assert(queue_lock[0] == 0 && queue_lock[1] == 0 && device_lock == 0);
    assert(fast[0] == 0 && fast[1] == 0 && foreign[0] == 0 && foreign[1] == 0);
    assert(fast_waiters == 0 && tickets_out == 0)
}

#endif
