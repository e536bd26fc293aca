/*
 * Capture and pages: begin, record, end, replay and destroy, against trim, recycling, strangers'
 * reservations and relocation, each on a thread of its own that may act at any moment.
 *
 * Two queues, two pages; page p has one slice, which holds record p, and its home is queue p. Each
 * queue w has an owner who records one window over both pages, so one of them is always foreign.
 * See README.md for the functions that each part stands for.
 */

#ifndef WINDOWS
#define WINDOWS 2
#endif
#ifndef OPS
#define OPS 1 /* recorded operations in each window */
#endif
#ifndef TRIMS
#define TRIMS 1
#endif
#ifndef RESERVATIONS
#define RESERVATIONS 1 /* by strangers, on each page */
#endif

/* Locks hold 0 or the owner's process number plus one. */
byte queue_lock[2];
byte device_lock;

/* Books, under the device lock. */
byte recorders;
bit trim_waits;      /* a trim was asked for while somebody records */
bit present[2];      /* page p exists */
bit alive[2];        /* record p has a reference */
bit used[2];         /* slice p is not free: its record lives, or is dead and not yet recycled */
bit handed_out[2];   /* slice p belongs to a stranger now */
bit uses[2];         /* a relocation counts on record p */
byte guards[2];      /* graphs that hold page p */
bit place[2];        /* where record p's bytes are; relocation changes it */
bit room[2];         /* the room that begin made for window w: an empty page like any other */
bit graph_refs[2];   /* graph w has its user's reference */
byte graph_uses[2];  /* replays of graph w in progress */

/* What window w, and later graph w, has touched, and the places that its operations name. */
typedef pages { bit page[2] }
pages touched[2];    /* by an open window */
pages held[2];       /* by a graph, each with a guard */
pages noted[2];

/* Ghost: what must stay, from the first touch to the end of the last use of the graph. */
pages needs[2];

#define ME (_pid + 1)
#define LOCK_DEVICE atomic { device_lock == 0 -> device_lock = ME }
#define UNLOCK_DEVICE d_step { assert(device_lock == ME); device_lock = 0 }
#define LOCK_QUEUE(q)                                                                              \
    atomic {                                                                                       \
        queue_lock[q] == 0 -> assert(device_lock != ME && queue_lock[1 - (q)] != ME);              \
        queue_lock[q] = ME                                                                         \
    }
#define UNLOCK_QUEUE(q) d_step { assert(queue_lock[q] == ME); queue_lock[q] = 0 }

#define NEEDED(p) (needs[0].page[p] || needs[1].page[p])
#define TOUCHED(p) (touched[0].page[p] || touched[1].page[p])

#ifdef BREAK_TRIM_IGNORES_GUARDS
#define IS_IDLE(p) (present[p] && !used[p])
#else
#define IS_IDLE(p) (present[p] && !used[p] && guards[p] == 0)
#endif
#define RELEASE_PAGE(p)                                                                            \
    if                                                                                             \
    :: IS_IDLE(p) -> assert(!NEEDED(p)); present[p] = 0                                            \
    :: else                                                                                        \
    fi

/* Releases every page that is empty and unguarded. The caller has seen that nobody records. */
#define TRIM_NOW                                                                                   \
    RELEASE_PAGE(0);                                                                               \
    RELEASE_PAGE(1);                                                                               \
    room[0] = 0;                                                                                   \
    room[1] = 0;                                                                                   \
    trim_waits = 0

inline trim()
{
    LOCK_DEVICE;
    d_step {
        if
#ifdef BREAK_TRIM_IGNORES_RECORDERS
        :: true -> TRIM_NOW
#else
        :: recorders == 0 -> TRIM_NOW
        :: else -> trim_waits = 1
#endif
        fi
    }
    UNLOCK_DEVICE
}

/* The last recorder that goes does the trim that waited for it. */
#define RECORDER_GOES                                                                              \
    recorders--;                                                                                   \
    if                                                                                             \
    :: recorders == 0 && trim_waits -> TRIM_NOW                                                    \
    :: else                                                                                        \
    fi

inline begin(w)
{
    LOCK_QUEUE(w);
    LOCK_DEVICE;
#ifdef BREAK_TWO_SECTIONS_AT_BEGIN
    room[w] = 1;
    UNLOCK_DEVICE;
    LOCK_DEVICE;
    recorders++;
#else
    d_step { room[w] = 1; recorders++ }
#endif
    UNLOCK_DEVICE;
    UNLOCK_QUEUE(w)
}

/* A recorded operation runs nothing: it sees that its buffer is alive, and touches its range. */
inline record(w, p)
{
    LOCK_QUEUE(w);
    LOCK_DEVICE;
    ok = alive[p];
    assert(room[w]);
#ifdef BREAK_TOUCH_AFTER_CHECK
    UNLOCK_DEVICE;
    LOCK_DEVICE;
#endif
    if
    :: ok ->
        d_step {
            assert(present[p] && used[p] && !handed_out[p]);
            assert(!needs[w].page[p] || noted[w].page[p] == place[p]);
            touched[w].page[p] = 1;
            needs[w].page[p] = 1;
            noted[w].page[p] = place[p]
        }
    :: else
    fi;
    ok = 0;
    UNLOCK_DEVICE;
    UNLOCK_QUEUE(w)
}

/* The touches become guards of the graph. */
#define GUARD(w)                                                                                   \
    held[w].page[0] = touched[w].page[0];                                                          \
    held[w].page[1] = touched[w].page[1];                                                          \
    guards[0] = guards[0] + held[w].page[0];                                                       \
    guards[1] = guards[1] + held[w].page[1];                                                       \
    graph_refs[w] = 1
#define DROP_TOUCHES(w)                                                                            \
    touched[w].page[0] = 0;                                                                        \
    touched[w].page[1] = 0

inline end(w)
{
    LOCK_QUEUE(w);
    LOCK_DEVICE;
#ifdef BREAK_TWO_SECTIONS_AT_END
    d_step { RECORDER_GOES }
    UNLOCK_DEVICE;
    LOCK_DEVICE;
    d_step { GUARD(w); DROP_TOUCHES(w) }
#else
    d_step { GUARD(w); DROP_TOUCHES(w); RECORDER_GOES }
#endif
    UNLOCK_DEVICE;
    UNLOCK_QUEUE(w)
}

/* Abort, abandoned or doomed: the window closes and leaves nothing behind. */
inline abort_window(w)
{
    LOCK_QUEUE(w);
    LOCK_DEVICE;
    d_step {
        DROP_TOUCHES(w);
        needs[w].page[0] = 0;
        needs[w].page[1] = 0;
        RECORDER_GOES
    }
    UNLOCK_DEVICE;
    UNLOCK_QUEUE(w)
}

/* The last of {reference, replays} that goes drops the graph's guards. */
#ifdef BREAK_REPLAY_NOT_COUNTED
#define GRAPH_IS_OVER(w) (graph_refs[w] == 0)
#else
#define GRAPH_IS_OVER(w) (graph_refs[w] == 0 && graph_uses[w] == 0)
#endif
#define DROP_GRAPH_IF_OVER(w)                                                                      \
    if                                                                                             \
    :: GRAPH_IS_OVER(w) ->                                                                         \
        guards[0] = guards[0] - held[w].page[0];                                                   \
        guards[1] = guards[1] - held[w].page[1];                                                   \
        held[w].page[0] = 0;                                                                       \
        held[w].page[1] = 0                                                                        \
    :: else                                                                                        \
    fi;                                                                                            \
    if                                                                                             \
    :: graph_refs[w] == 0 && graph_uses[w] == 0 ->                                                 \
        needs[w].page[0] = 0;                                                                      \
        needs[w].page[1] = 0                                                                       \
    :: else                                                                                        \
    fi

#define CHECK_REPLAY(w, p)                                                                         \
    assert(!needs[w].page[p] ||                                                                    \
           (present[p] && !handed_out[p] && noted[w].page[p] == place[p]))

/* A replay of graph w on queue q; it need not be the queue that recorded it. */
inline replay(w, q)
{
    LOCK_QUEUE(q);
    LOCK_DEVICE;
    if
    :: graph_refs[w] != 0 ->
        graph_uses[w]++;
        UNLOCK_DEVICE;
        d_step { CHECK_REPLAY(w, 0); CHECK_REPLAY(w, 1) }
        LOCK_DEVICE;
        d_step {
            CHECK_REPLAY(w, 0);
            CHECK_REPLAY(w, 1);
            graph_uses[w]--;
            DROP_GRAPH_IF_OVER(w)
        }
    :: else
    fi;
    UNLOCK_DEVICE;
    UNLOCK_QUEUE(q)
}

/* Destroying a graph waits for nothing and takes the device lock only. */
inline destroy(w)
{
    LOCK_DEVICE;
    d_step { graph_refs[w] = 0; DROP_GRAPH_IF_OVER(w) }
    UNLOCK_DEVICE
}

proctype Owner(bit w)
{
    byte ops = OPS;
    bit ok;
    begin(w);
    do
    :: ops == 0 -> break
    :: ops > 0 ->
        if
        :: record(w, 0)
        :: record(w, 1)
        fi;
        ops--
    od;
    if
    :: abort_window(w)
    :: end(w); destroy(w)
    fi
}

/* Replays graph w, if it has come, on the other queue. */
proctype Replayer(bit w)
{
    replay(w, 1 - w)
}

proctype Trimmer()
{
    byte left = TRIMS;
    do
    :: left == 0 -> break
    :: left > 0 -> trim(); left--
    od
}

/* The user of record p lets it go; it is recycled; strangers reserve from page p. */
proctype User(bit p)
{
    byte left = RESERVATIONS;
    LOCK_DEVICE;
    alive[p] = 0;
    UNLOCK_DEVICE;
    LOCK_QUEUE(p);
    LOCK_DEVICE;
    d_step { assert(uses[p] == 0); used[p] = 0 }
    UNLOCK_DEVICE;
    UNLOCK_QUEUE(p);
    do
    :: left == 0 -> break
    :: left > 0 ->
        LOCK_QUEUE(p);
        LOCK_DEVICE;
        d_step {
            if
#ifdef BREAK_RESERVE_IGNORES_TOUCH
            :: present[p] && !used[p] && guards[p] == 0 ->
#else
            :: present[p] && !used[p] && guards[p] == 0 && !TOUCHED(p) ->
#endif
                assert(!NEEDED(p));
                used[p] = 1;
                handed_out[p] = 1
            :: else
            fi
        }
        UNLOCK_DEVICE;
        UNLOCK_QUEUE(p);
        /* The stranger gives it back. */
        LOCK_QUEUE(p);
        LOCK_DEVICE;
        d_step {
            if
            :: handed_out[p] -> used[p] = 0; handed_out[p] = 0
            :: else
            fi
        }
        UNLOCK_DEVICE;
        UNLOCK_QUEUE(p);
        left--
    od
}

/* The first look only saves a useless copy; the second one decides. */
#define MAY_MOVE(p) (alive[p] && guards[p] == 0 && recorders == 0)
#if defined(BREAK_MOVE_WITHOUT_RECHECK)
#define MAY_COMMIT(p) true
#elif defined(BREAK_MOVE_RECHECKS_GUARDS_ONLY)
#define MAY_COMMIT(p) (guards[p] == 0)
#elif defined(BREAK_MOVE_RECHECKS_RECORDERS_ONLY)
#define MAY_COMMIT(p) (recorders == 0)
#else
#define MAY_COMMIT(p) (guards[p] == 0 && recorders == 0)
#endif

/* Moves record p's bytes to another place; the copy is made with the device lock given back. */
proctype Mover(bit p)
{
    LOCK_QUEUE(p);
    LOCK_DEVICE;
    if
    :: MAY_MOVE(p) ->
        uses[p] = 1;
        UNLOCK_DEVICE;
        LOCK_DEVICE;
        d_step {
            uses[p] = 0;
            if
            :: MAY_COMMIT(p) ->
                /* [in place] what a window or a graph needs does not move. */
                assert(!NEEDED(p));
                place[p] = 1
            :: else -> skip /* abandoned: the old place stays the true one */
            fi
        }
    :: else
    fi;
    UNLOCK_DEVICE;
    UNLOCK_QUEUE(p)
}

init
{
    atomic {
        present[0] = 1; present[1] = 1;
        alive[0] = 1; alive[1] = 1;
        used[0] = 1; used[1] = 1;
        run Owner(0);
#if WINDOWS > 1
        run Owner(1);
#endif
        run Replayer(0);
        run Trimmer();
        run User(0);
        run User(1);
        run Mover(1)
    }
    _nr_pr == 1;
    /* [nothing is left] no recorder, guard or use outlives its owner, and no trim is forgotten. */
    assert(queue_lock[0] == 0 && queue_lock[1] == 0 && device_lock == 0);
    assert(recorders == 0 && !trim_waits && guards[0] == 0 && guards[1] == 0);
    assert(!NEEDED(0) && !NEEDED(1) && graph_uses[0] == 0 && graph_uses[1] == 0)
}
