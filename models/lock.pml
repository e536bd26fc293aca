/*
 * A lock that is one word, and a condition, both with a lot to sleep in. See README.md for what each part stands for.
 *
 * Some threads take and give the lock a few times, another waits for a condition that one of them tells. The last step
 * of each is that the lock is freed once nobody wants it any more, which whoever gives it back must not notice.
 */

#ifndef TAKERS
#define TAKERS 2
#endif
#ifndef TURNS
#define TURNS 2
#endif

#define FREE 0
#define HELD 1
#define AWAITED 2

byte word = FREE;
bit lot;               /* the lot's mutex */
bit asleep[TAKERS + 1]; /* in the lot */
byte told, listening, news; /* the condition, and what it tells */

/* Ghosts. */
byte holders, wanting = TAKERS + 1;
bit freed;

#define ENTER_LOT atomic { lot == 0 -> lot = 1 }
#define LEAVE_LOT lot = 0

/* Gives the lot's mutex back and sleeps in one step, as a condition of the C library does. Waking up is taking it
 * again; now and then somebody wakes for no reason. */
inline sleep_in_lot(me)
{
    atomic { lot = 0; asleep[me] = 1 }
    atomic {
        if
        :: asleep[me] == 0 && lot == 0
#ifdef IDLE_WAKES
        :: lot == 0 -> asleep[me] = 0
#endif
        fi;
        lot = 1
    }
}

inline wake_sleepers()
{
    each = 0;
    do
    :: each <= TAKERS ->
        asleep[each] = 0;
        each++
    :: else -> break
    od
}

inline wake_lot()
{
#ifndef BREAK_WAKE_WITHOUT_LOT
    ENTER_LOT;
#endif
    atomic { wake_sleepers() }
#ifndef BREAK_WAKE_WITHOUT_LOT
    LEAVE_LOT
#endif
}

inline take(me)
{
    atomic {
        assert(!freed);
        if
        :: word == FREE -> word = HELD; got = 1
        :: else -> got = 0
        fi
    }
    if
    :: got
    :: else ->
        if
        :: atomic { word == FREE -> word = HELD; got = 1 } /* it came free while it was watched */
        :: true
        fi;
        if
        :: got
        :: else ->
            ENTER_LOT;
            do
            :: atomic { was = word; word = AWAITED }
                if
                :: was == FREE -> break
                :: else -> sleep_in_lot(me)
                fi
            od;
            LEAVE_LOT
        fi
    fi;
    atomic { holders++; assert(holders == 1) }
}

inline give()
{
    holders--;
    atomic { assert(!freed); was = word; word = FREE }
    /* From here on the lock may be gone. */
#ifdef BREAK_LOOK_AFTER_GIVING
    if
    :: was == AWAITED -> assert(!freed)
    :: else
    fi;
#endif
    if
    :: was == AWAITED -> wake_lot()
    :: else
    fi
}

proctype Taker(byte me)
{
    byte turn, was, each;
    bit got;
    do
    :: turn < TURNS ->
        turn++;
        take(me);
        if
        :: me == 0 && turn == 1 ->
            news = 1;
#ifndef BREAK_TELL_NOTHING
            if
            :: listening > 0 -> told++; wake_lot()
            :: else
            fi
#endif
        :: else
        fi;
        if
        :: turn == TURNS -> wanting--
        :: else
        fi;
        give()
    :: else -> break
    od
}

proctype Waiter()
{
    byte was, before, each;
    bit got;
    take(TAKERS);
    do
    :: news == 0 ->
#ifdef BREAK_READ_AFTER_GIVING
        listening++;
        give();
        before = told;
#elif defined(BREAK_LISTEN_AFTER_GIVING)
        before = told;
        give();
        listening++;
#else
        before = told;
        listening++;
        give();
#endif
        ENTER_LOT;
        do
        :: told == before -> sleep_in_lot(TAKERS)
        :: else -> break
        od;
        LEAVE_LOT;
        take(TAKERS);
        listening--
    :: else -> break
    od;
    wanting--;
    give()
}

/* Whoever held it last frees it, as the end of a device does. */
proctype Owner()
{
    atomic { wanting == 0 && word == FREE -> freed = 1 }
}

init {
    byte i;
    atomic {
        do
        :: i < TAKERS -> run Taker(i); i++
        :: else -> break
        od;
        run Waiter();
        run Owner()
    }
}
