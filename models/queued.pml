/*
 * Queued streams: callers who hand work over, who drain, who play in direct mode, who refuse; and the workers.
 *
 * Two queues, a worker each. Some callers make some calls each, chosen freely: the queue, the bytes, and what they do.
 * At the end nobody waits for the queues: the workers alone must play what is left, and can then be ended. The device
 * lock is not modelled by itself; what happens under it is one atomic step. See README.md for the functions that each
 * part stands for.
 */

#ifndef CALLERS
#define CALLERS 2
#endif
#ifndef CALLS
#define CALLS 1 /* of the first caller */
#endif
#ifndef CALLS_LATER
#define CALLS_LATER 1 /* of each other */
#endif
#ifndef RING
#define RING 2
#endif
#define QUEUES 2
#define TICKETS 8 /* at least as many as calls */
#define BYTES 2

bit lock[QUEUES];  /* of the queue */
bit turn[QUEUES];
byte ring[4];      /* tickets; RING * queue + place */
byte pushed[QUEUES], done[QUEUES];
bit parked[QUEUES];
byte wake[QUEUES]; /* semaphores */
bit quit;

byte last_ticket;
byte bytes[TICKETS]; /* what the registered operation touches, a bit for each byte; 0: not registered */
bit queued[TICKETS];

/* Ghosts. */
byte issued;           /* operations so far */
byte number[TICKETS];  /* which one it is, in the order of the calls */
byte latest[BYTES];    /* the latest operation that touched the byte */
bit claimed[BYTES];
byte claimed_at[BYTES]; /* how many operations had been issued */
bit using[QUEUES];     /* somebody runs something on the backend's queue */
byte callers_done, workers_done;
bit chosen;            /* some caller has chosen */

#define PENDING(q) (pushed[q] != done[q])
#define FULL(q) (pushed[q] - done[q] == RING)
#define CALLED(q) (PENDING(q) || quit)
#define FREE_OF(s, t) ((s) >= (t) || (bytes[s] & bytes[t]) == 0)
#define MAY_RUN(t) (FREE_OF(0, t) && FREE_OF(1, t) && FREE_OF(2, t) && FREE_OF(3, t) && FREE_OF(4, t) && \
                    FREE_OF(5, t) && FREE_OF(6, t) && FREE_OF(7, t))
#define NOT_QUEUED(s, b) (!queued[s] || (bytes[s] & (b)) == 0)
#define NOTHING_QUEUED(b) (NOT_QUEUED(0, b) && NOT_QUEUED(1, b) && NOT_QUEUED(2, b) && NOT_QUEUED(3, b) && \
                           NOT_QUEUED(4, b) && NOT_QUEUED(5, b) && NOT_QUEUED(6, b) && NOT_QUEUED(7, b))

#define TAKE(l) atomic { !l -> l = 1 }
#define GIVE(l) l = 0

/* Under the device lock: a place in the order of the device. */
inline register_op(t, b, q)
{
    t = last_ticket;
    last_ticket++;
    bytes[t] = b;
    queued[t] = q
}

/* Work that succeeds: after all that was issued before it on its bytes, and it lifts what was claimed before it. */
inline run_and_leave(q, t)
{
    atomic { assert(!using[q]); using[q] = 1 }
    atomic {
        using[q] = 0;
        byte_at = 0;
        do
        :: byte_at < BYTES ->
            if
            :: bytes[t] & (1 << byte_at) ->
                assert(latest[byte_at] < number[t]);
                latest[byte_at] = number[t];
                /* Direct work is under way as long as its call is, and calls that overlap have no order. */
                assert(!claimed[byte_at] || !queued[t] || claimed_at[byte_at] < number[t]);
                claimed[byte_at] = 0
            :: else
            fi;
            byte_at++
        :: else -> break
        od;
        byte_at = 0;
        bytes[t] = 0;
        queued[t] = 0;
        number[t] = 0
    }
}

/* play_first: whoever has the turn plays the first item, if there is one. */
inline play_first(q, any)
{
#ifndef BREAK_NO_TURN
    TAKE(turn[q]);
#endif
    any = PENDING(q);
    if
    :: any ->
        item = ring[RING * q + done[q] % RING];
#ifdef BREAK_PLAYER_TAKES_LOCK
        TAKE(lock[q]);
        GIVE(lock[q]);
#endif
        MAY_RUN(item);
        run_and_leave(q, item);
        done[q]++;
        item = 0
    :: else
    fi;
    GIVE(turn[q])
}

inline wake_worker(q)
{
    if
    :: parked[q] ->
        atomic {
            if
            :: parked[q] -> parked[q] = 0; wake[q]++; assert(wake[q] == 1)
            :: else
            fi
        }
    :: else
    fi
}

inline drain(q)
{
    do
    :: PENDING(q) -> play_first(q, any)
    :: else -> break
    od;
    any = 0
}

inline hand_over(q, b)
{
    do
    :: FULL(q) -> play_first(q, any)
    :: else -> break
    od;
    any = 0;
#ifdef BREAK_LOOK_BEFORE_PUSH
    any = parked[q];
#endif
    atomic { register_op(item, b, 1); issued++; number[item] = issued }
    atomic { ring[RING * q + pushed[q] % RING] = item; item = 0; pushed[q]++ }
#ifdef BREAK_LOOK_BEFORE_PUSH
    if
    :: any -> wake_worker(q)
    :: else
    fi;
    any = 0
#else
    wake_worker(q)
#endif
}

inline play_directly(q, b)
{
#ifndef BREAK_NO_DRAIN
    drain(q);
#endif
    atomic { register_op(mine, b, 0); issued++; number[mine] = issued }
    MAY_RUN(mine);
    run_and_leave(q, mine);
    mine = 0
}

inline refuse(q, b)
{
#ifndef BREAK_CLAIM_WITHOUT_WAIT
    drain(q);
#endif
    atomic {
#ifndef BREAK_CLAIM_WITHOUT_WAIT
        NOTHING_QUEUED(b);
#endif
        issued++;
        byte_at = 0;
        do
        :: byte_at < BYTES ->
            if
            :: b & (1 << byte_at) -> claimed[byte_at] = 1; claimed_at[byte_at] = issued
            :: else
            fi;
            byte_at++
        :: else -> break
        od;
        byte_at = 0
    }
}

proctype Caller(byte left)
{
    byte q, b, item, mine, byte_at;
    bit any;
    do
    :: left != 0 ->
        left--;
        /* Queues are alike and bytes are alike: the very first choice is made for all. */
        atomic {
            if
            :: q = 0
            :: chosen -> q = 1
            fi;
            if
            :: b = 1
            :: chosen -> b = 2
            :: b = 3
            fi;
            chosen = 1
        }
        TAKE(lock[q]);
        if
        :: true -> hand_over(q, b)
        :: true -> play_directly(q, b)
        :: true -> refuse(q, b)
        :: true -> drain(q); assert(!PENDING(q))
        fi;
        GIVE(lock[q])
    :: else -> break
    od;
    callers_done++
}

proctype Worker(byte q)
{
    byte item, mine, byte_at;
    bit any;
again:
    do
    :: play_first(q, any);
        if
        :: any
        :: else -> break
        fi
    od;
    /* It watches for a while, or not at all. */
    if
    :: CALLED(q)
    :: true ->
#ifdef BREAK_LOOK_BEFORE_PARK
        if
        :: CALLED(q)
        :: else -> parked[q] = 1; atomic { wake[q] > 0 -> wake[q]-- }
        fi
#else
        parked[q] = 1;
        if
        :: CALLED(q) ->
            atomic { any = parked[q]; parked[q] = 0 }
            if
            :: any -> any = 0
            :: else -> atomic { wake[q] > 0 -> wake[q]-- }
            fi
        :: else -> atomic { wake[q] > 0 -> wake[q]-- }
        fi
#endif
    fi;
    if
    :: quit
    :: else -> goto again
    fi;
    workers_done++
}

init
{
    byte each;
    atomic {
        do
        :: each < CALLERS -> run Caller((each == 0 -> CALLS : CALLS_LATER)); each++
        :: else -> break
        od;
        run Worker(0);
        run Worker(1)
    }
    callers_done == CALLERS;
    /* Nobody drains any more. */
    !PENDING(0) && !PENDING(1);
    assert(issued >= latest[0] && issued >= latest[1]);
    quit = 1;
    each = 0;
#ifndef BREAK_QUIT_WITHOUT_WAKE
    do
    :: each < QUEUES -> wake_worker(each); each++
    :: else -> break
    od;
#endif
    workers_done == QUEUES;
    assert(!lock[0] && !lock[1] && !turn[0] && !turn[1] && wake[0] == 0 && wake[1] == 0)
}
