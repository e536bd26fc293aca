/*
 * The end of a memory record: release, the list of returns, settling, recycling.
 *
 * Three threads, two queues, three memory records: 0 and 1 have their home on queue 0, 2 on queue 1.
 * Which operation runs first is order.pml's business: here all of them only read, and the question
 * is whether the memory that they read is still theirs, and whether a dead record is ever left
 * behind. See README.md for the functions that each part stands for.
 */

#ifndef CALLS
#define CALLS 1 /* calls of threads 0 and 1, of any kind; thread 2 only releases */
#endif

#define RECORDS 3
#define HOME(r) ((r) / 2)
#define NOTHING RECORDS

/* Locks hold 0 or the owner's number plus one. */
byte queue_lock[2];
byte device_lock;

/* The record. An id is an atomic; it goes to 0 with the last reference. refs and uses are books. */
bit alive[RECORDS];
byte refs[RECORDS];
byte uses[RECORDS];

/* Queue q's list of returns: which records are on it, and the atomic count that anyone may read. */
bit listed[RECORDS];
byte returns[2];

/* Ghosts. */
byte handles[RECORDS]; /* references that no thread has begun to release */
byte running[RECORDS]; /* kernels that use the memory of the record now */
bit recycled[RECORDS]; /* its memory went back to the pool, and may be somebody else's */
byte finished;

/* [ranks] a queue lock, tried or taken, is only ever the first lock of a thread. */
#define NO_OTHER_LOCK                                                                              \
    assert(device_lock != me + 1 && queue_lock[0] != me + 1 && queue_lock[1] != me + 1)
#define LOCK_DEVICE atomic { device_lock == 0 -> device_lock = me + 1 }
#define UNLOCK_DEVICE d_step { assert(device_lock == me + 1); device_lock = 0 }
#define LOCK_QUEUE(q) atomic { queue_lock[q] == 0 -> NO_OTHER_LOCK; queue_lock[q] = me + 1 }
#define UNLOCK_QUEUE(q) d_step { assert(queue_lock[q] == me + 1); queue_lock[q] = 0 }

/* Whoever takes the last reference or the last use puts the record on its home's list, once. */
#define PUSH(r)                                                                                    \
    assert(!listed[r] && !recycled[r]);                                                            \
    listed[r] = 1;                                                                                 \
    returns[HOME(r)]++

/* Everything on the list of queue h goes back to its pool. */
inline recycle(h)
{
    d_step {
        each = 0;
        do
        :: each < RECORDS ->
            if
            :: listed[each] && HOME(each) == h ->
                assert(refs[each] == 0 && uses[each] == 0);
                assert(running[each] == 0);
                assert(!recycled[each]);
                listed[each] = 0;
                returns[h]--;
                recycled[each] = 1
            :: else
            fi;
            each++
        :: else -> break
        od;
        each = 0;
        assert(returns[h] == 0)
    }
}

/* A release takes the device lock only; in a host call the thread holds a queue lock as well. */
inline release(r)
{
    LOCK_DEVICE;
    d_step {
        assert(refs[r] > 0);
        refs[r]--;
        if
        :: refs[r] == 0 ->
            alive[r] = 0;
            if
#ifdef BREAK_PUSH_WHILE_USED
            :: true -> PUSH(r)
#else
            :: uses[r] == 0 -> PUSH(r)
            :: else
#endif
            fi
        :: else
        fi
    }
#ifdef BREAK_RECYCLE_WITHOUT_LOCK
    if
    :: returns[HOME(r)] != 0 -> recycle(HOME(r))
    :: else
    fi;
#endif
    UNLOCK_DEVICE
}

/* With the home queue's lock as well, a dead record goes back to its pool at once. */
inline release_at_home(r)
{
    LOCK_DEVICE;
    d_step {
        assert(refs[r] > 0);
        refs[r]--;
        if
        :: refs[r] == 0 ->
            alive[r] = 0;
            if
            :: uses[r] == 0 ->
                assert(running[r] == 0 && !listed[r] && !recycled[r]);
                recycled[r] = 1
            :: else
            fi
        :: else
        fi;
        look = (returns[0] != 0 || returns[1] != 0)
    }
#ifdef BREAK_DEVICE_LOCK_GIVEN_FIRST
    UNLOCK_DEVICE;
    UNLOCK_QUEUE(HOME(r))
#else
    UNLOCK_QUEUE(HOME(r));
    UNLOCK_DEVICE
#endif
}

inline settle_queue(h)
{
    do
    :: returns[h] == 0 -> break
    :: returns[h] != 0 ->
        atomic {
            NO_OTHER_LOCK;
            if
            :: queue_lock[h] == 0 -> queue_lock[h] = me + 1
            :: else -> break /* the holder settles when it has unlocked */
            fi
        }
        LOCK_DEVICE;
        recycle(h);
        UNLOCK_DEVICE;
        UNLOCK_QUEUE(h);
#ifdef BREAK_SETTLE_ONCE
        break
#endif
    od
}

/* What every call does at its end, when it holds no lock. */
inline settle()
{
    settle_queue(0);
    settle_queue(1)
}

/* A release outside of all calls: at home if the queue's lock is free. There what was listed before is seen by the
 * look, and what is listed later finds the queue's lock given back: so nothing is left to look for afterwards. */
inline release_outside(r)
{
    atomic {
        NO_OTHER_LOCK;
        look = (queue_lock[HOME(r)] == 0);
        if
        :: look -> queue_lock[HOME(r)] = me + 1
        :: else
        fi
    };
    if
    :: look -> release_at_home(r)
    :: else -> release(r); look = 1
    fi;
    if
    :: look -> look = 0; settle()
    :: else
    fi
}

/* Picks a reference that nobody has begun to release. */
inline pick_release()
{
    atomic {
        if
        :: handles[0] > 0 -> drop = 0
        :: handles[1] > 0 -> drop = 1
        :: handles[2] > 0 -> drop = 2
        :: drop = NOTHING
        fi;
        if
        :: drop != NOTHING -> handles[drop]--
        :: else
        fi
    }
}

/* The kernel, or a host call whose function releases a record. */
inline execute(r)
{
    d_step { assert(!recycled[r]); running[r]++ }
    pick_release();
    if
    :: drop != NOTHING ->
        release(drop);
#ifdef BREAK_SETTLE_IN_HOST_CALL
        settle();
        skip; /* a break may not lead into a d_step */
#endif
    :: else
    fi;
    d_step { assert(!recycled[r]); running[r]--; drop = NOTHING }
}

/* Ends a call on queue q. */
inline leave(q)
{
#if defined(BREAK_HOLDER_DOES_NOT_SETTLE)
    UNLOCK_QUEUE(q)
#elif defined(BREAK_LOOK_BEFORE_UNLOCK)
    look = (returns[0] != 0 || returns[1] != 0);
    UNLOCK_QUEUE(q);
    if
    :: look -> look = 0; settle()
    :: else
    fi
#elif defined(BREAK_SETTLE_OWN_QUEUE_ONLY)
    UNLOCK_QUEUE(q);
    if
    :: q == 0 -> settle_queue(0)
    :: q == 1 -> settle_queue(1)
    fi
#else
    UNLOCK_QUEUE(q);
    settle()
#endif
}

inline fast_operation(q, r)
{
    LOCK_QUEUE(q);
    if
    :: alive[r] -> execute(r)
    :: else
    fi;
    leave(q)
}

inline slow_operation(q, r)
{
    LOCK_QUEUE(q);
#ifdef BREAK_ALIVE_READ_EARLY
    look = alive[r];
    LOCK_DEVICE;
    if
    :: look -> look = 0; uses[r]++;
#else
    LOCK_DEVICE;
    if
    :: alive[r] ->
#ifndef BREAK_USES_NOT_COUNTED
        uses[r]++;
#endif
#endif
        UNLOCK_DEVICE;
        execute(r);
        LOCK_DEVICE;
#ifndef BREAK_USES_NOT_COUNTED
        d_step {
            uses[r]--;
            if
#ifdef BREAK_PUSH_WHILE_USED
            :: skip
#else
            :: refs[r] == 0 && uses[r] == 0 -> PUSH(r)
            :: else
#endif
            fi
        }
#endif
    :: else
    fi;
    UNLOCK_DEVICE;
    leave(q)
}

proctype Thread(byte me; byte calls)
{
    byte r, drop = NOTHING, each;
    bit q, look;
    do
    :: calls == 0 -> break
    :: calls > 0 ->
        /* A release, an operation at home (fast or slow), or one that is foreign. */
        if
        :: pick_release();
            if
            :: drop != NOTHING -> release_outside(drop)
            :: else
            fi
        :: atomic { select(r : 0..2); q = HOME(r) }
            fast_operation(q, r)
        :: atomic { select(r : 0..2); select(q : 0..1) }
            slow_operation(q, r)
        fi;
        atomic { calls--; r = 0; q = 0; drop = NOTHING }
    od;
    finished++
}

proctype Releaser(byte me)
{
    byte drop = NOTHING, each;
    bit look;
    pick_release();
    if
    :: drop != NOTHING -> release_outside(drop)
    :: else
    fi;
    atomic { drop = NOTHING; finished++ }
}

init
{
    byte each;
    atomic {
        refs[0] = 2; refs[1] = 1; refs[2] = 1;
        handles[0] = 2; handles[1] = 1; handles[2] = 1;
        alive[0] = 1; alive[1] = 1; alive[2] = 1;
        run Thread(0, CALLS);
        run Thread(1, CALLS);
        run Releaser(2)
    }
    finished == 3;
    /* [nothing is left] every record that died was recycled, and only those. */
    d_step {
        assert(queue_lock[0] == 0 && queue_lock[1] == 0 && device_lock == 0);
        assert(returns[0] == 0 && returns[1] == 0);
        each = 0;
        do
        :: each < RECORDS ->
            assert(uses[each] == 0);
            assert(recycled[each] == (refs[each] == 0));
            each++
        :: else -> break
        od
    }
}
