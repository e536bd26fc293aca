/*
 * The crew of the CPU backend: hands that watch, sleep and are woken, and a caller that does not wait for those that do
 * not come.
 *
 * One caller brings some jobs of a few units each, and then ends the crew. Whether sleepers are woken for a job is
 * anybody's guess, as in life, where it depends on time; if nobody is awake and nobody is woken, the job is refused and
 * the caller does it alone. See README.md for the functions that each part stands for.
 */

#ifndef HANDS
#define HANDS 2 /* besides the caller */
#endif
#ifndef JOBS
#define JOBS 2
#endif
#ifndef UNITS
#define UNITS 2
#endif

/* The gate is one word: all that a step below does to these is one atomic step. */
bit open, waiting, quit;
byte inside;
byte job; /* number of the latest */

byte next;            /* the next unit to take; one list for all hands */
bit parked[HANDS];
byte wake[HANDS];     /* semaphores */
byte done;

/* Ghosts. */
byte fields;          /* number of the job that the fields describe; hands read them while they work */
byte ran[UNITS];      /* how often each unit of the job ran */
byte ended;           /* hands that have ended */

#define CONCERNS (quit || (open && job != seen))

/* Takes units until there are none. */
inline work(mine)
{
    do
    :: atomic {
            assert(fields == mine);
            unit = next;
            if
            :: next < UNITS -> next++
            :: else
            fi
        }
        if
        :: unit < UNITS -> atomic { assert(fields == mine); ran[unit]++ }
        :: else -> break
        fi
    od
}

inline wake_hand(h)
{
    if
    :: parked[h] ->
        atomic {
            if
            :: parked[h] ->
                parked[h] = 0;
                wake[h]++;
                assert(wake[h] == 1)
            :: else
            fi
        }
    :: else
    fi
}

inline wake_all()
{
    each = 0;
    do
    :: each < HANDS -> wake_hand(each); each++
    :: else -> break
    od
}

inline open_gate()
{
    atomic { open = 1; job++ }
}

/* Nobody enters any more. Those inside are watched for a while, then slept for. */
inline shut_gate()
{
    atomic { open = 0; some = inside }
    if
    :: some == 0
    :: some != 0 && inside == 0 /* it was watched long enough */
    :: some != 0 ->
#ifdef BREAK_SLEEP_UNCHECKED
        waiting = 1;
        atomic { done > 0 -> done-- }
#else
        atomic { some = inside; waiting = 1 }
        if
        :: some == 0
        :: else -> atomic { done > 0 -> done-- }
        fi
#endif
    fi
#ifndef BREAK_DO_NOT_WAIT
    assert(inside == 0)
#endif
}

inline check_job()
{
    atomic {
        each = 0;
        do
        :: each < UNITS -> assert(ran[each] == 1); ran[each] = 0; each++
        :: else -> break
        od;
        each = 0;
        assert(done == 0)
    }
}

proctype Caller()
{
    byte each, some, unit, number;
    bit waking;
    do
    :: number < JOBS ->
        number++;
        if
        :: waking = 1
        :: waking = 0
        fi;
        /* Refused: the hands see nothing of it. */
        if
        :: !waking && parked[0] && parked[HANDS - 1] -> goto next_job
        :: else
        fi;
        atomic { assert(inside == 0); fields = job + 1; next = 0; waiting = 0 }
        open_gate();
        if
        :: waking -> wake_all()
        :: else
        fi;
        work(job);
#ifdef BREAK_DO_NOT_WAIT
        open = 0;
#else
        shut_gate();
#endif
        check_job();
next_job:
        skip
    :: else -> break
    od;
    quit = 1;
#ifndef BREAK_QUIT_WITHOUT_WAKE
    wake_all();
#endif
    ended == HANDS
}

proctype Hand(byte me)
{
    byte seen, unit, number;
    bit called, last;
    do
    :: CONCERNS -> /* it watches */
        if
        :: quit -> break
        :: else
        fi;
#ifdef BREAK_ENTER_IN_TWO_STEPS
        called = open && job != seen;
        if
        :: called -> atomic { inside++; seen = job; number = job }
        :: else
        fi;
#else
        atomic {
            called = open && job != seen;
            if
            :: called -> inside++; seen = job; number = job
            :: else
            fi
        }
#endif
        if
        :: called ->
            work(number);
            atomic { inside--; last = (inside == 0 && waiting) }
            if
            :: last ->
#ifdef BREAK_POST_TWICE
                done++;
#endif
                done++
            :: else
            fi
        :: else
        fi
    :: true -> /* it has watched long enough, and sleeps unless there is something after all */
#ifdef BREAK_LOOK_BEFORE_PARK
        called = CONCERNS;
        parked[me] = 1;
#else
        parked[me] = 1;
        called = CONCERNS;
#endif
        if
        :: called ->
            atomic {
                last = parked[me];
                parked[me] = 0
            }
        :: else -> last = 0
        fi;
        if
        :: last /* it took the flag back itself */
        :: else -> atomic { wake[me] > 0 -> wake[me]-- }
        fi
    od;
    ended++
}

init {
    byte h;
    atomic {
        run Caller();
        do
        :: h < HANDS -> run Hand(h); h++
        :: else -> break
        od
    }
}
