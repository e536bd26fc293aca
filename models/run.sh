#!/bin/sh
# Checks the models with spin, exhaustively. Needs spin and a C compiler.
#   models/run.sh           every model must hold
#   models/run.sh --break   every seeded mistake must be found
# Exits with 1 when anything is not as it should be.
set -u

here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
bad=0

# check MODEL DEFINES...: leaves the verdict in $verdict (holds, fails or broken) and the numbers in $numbers.
check()
{
    model=$1
    shift
    verdict=broken
    numbers=
    rm -rf "$work/run"
    mkdir "$work/run" || return
    cd "$work/run" || return
    case " $* " in
    *" -DLIVE "*) build="-DNFAIR=3" search="-a -f" ;;
    *) build="-DSAFETY" search= ;;
    esac
    spin "$@" -a "$here/$model.pml" >spin.out 2>&1 || { cat spin.out; return; }
    # The generated checker is not ours to keep free of warnings.
    ${CC:-cc} -w -O2 $build -DCOLLAPSE -DMEMLIM=1990 -o pan pan.c || return
    ./pan $search -m1000000 >pan.out 2>&1
    if grep -q '^pan:1: ' pan.out && ! grep -q 'errors: 0$' pan.out; then
        verdict=fails
    elif grep -q 'errors: 0$' pan.out && ! grep -Eq 'not completed|max search depth too small' pan.out; then
        verdict=holds
    fi
    states=$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' pan.out)
    memory=$(sed -n 's/^ *\([0-9.]*\)\ttotal actual memory usage.*/\1/p' pan.out)
    seconds=$(sed -n 's/^pan: elapsed time \([0-9.e+-]*\) seconds.*/\1/p' pan.out)
    errors=$(sed -n 's/.*errors: \([0-9]*\).*/\1/p' pan.out | tail -n 1)
    numbers="states=$states errors=$errors memory=${memory}MB time=${seconds}s"
}

must_hold()
{
    check "$@"
    echo "$verdict: $* $numbers"
    if [ "$verdict" != holds ]; then
        grep '^pan' pan.out 2>/dev/null
        bad=1
    fi
}

must_fail()
{
    check "$@"
    if [ "$verdict" = fails ]; then
        echo "found: $* $(sed -n 's/^pan:1: //p' pan.out | head -n 1)"
    else
        echo "NOT FOUND: $* ($verdict) $numbers"
        bad=1
    fi
}

if [ "${1:-}" = --break ]; then
    for name in NO_FOREIGN_CHECK PUBLISH_BEFORE_LOOK NO_WAKE NO_WAKE_ON_BACK_OFF \
        WAITERS_READ_FIRST WAITER_COUNTED_LATE BROADCAST_WITHOUT_LOCK NO_FAST_WAIT NO_BROADCAST \
        TICKET_ORDER SECOND_QUEUE_LOCK; do
        must_fail order "-DBREAK_$name"
    done
    for name in CLAIM_CHECK_BEFORE_WAIT CLAIM_AFTER_UNREGISTER CLAIM_AFTER_FAST_END; do
        must_fail order -DCLAIMS "-DBREAK_$name"
    done
    must_fail order -DLIVE -DBREAK_NO_WAKE
    for name in RECYCLE_WITHOUT_LOCK SETTLE_ONCE HOLDER_DOES_NOT_SETTLE LOOK_BEFORE_UNLOCK \
        PUSH_WHILE_USED USES_NOT_COUNTED SETTLE_IN_HOST_CALL ALIVE_READ_EARLY \
        SETTLE_OWN_QUEUE_ONLY DEVICE_LOCK_GIVEN_FIRST; do
        must_fail returns "-DBREAK_$name"
    done
    for name in TWO_SECTIONS_AT_BEGIN TWO_SECTIONS_AT_END TRIM_IGNORES_GUARDS \
        TRIM_IGNORES_RECORDERS TOUCH_AFTER_CHECK REPLAY_NOT_COUNTED RESERVE_IGNORES_TOUCH \
        MOVE_WITHOUT_RECHECK MOVE_RECHECKS_GUARDS_ONLY MOVE_RECHECKS_RECORDERS_ONLY; do
        must_fail capture -DWINDOWS=1 "-DBREAK_$name"
    done
    for name in WAKE_WITHOUT_LOT LOOK_AFTER_GIVING TELL_NOTHING READ_AFTER_GIVING LISTEN_AFTER_GIVING; do
        must_fail lock "-DBREAK_$name"
    done
    for name in SLEEP_UNCHECKED DO_NOT_WAIT QUIT_WITHOUT_WAKE ENTER_IN_TWO_STEPS POST_TWICE LOOK_BEFORE_PARK; do
        must_fail crew "-DBREAK_$name"
    done
    for name in NO_DRAIN NO_TURN PLAYER_TAKES_LOCK LOOK_BEFORE_PUSH LOOK_BEFORE_PARK \
        QUIT_WITHOUT_WAKE CLAIM_WITHOUT_WAIT; do
        must_fail queued -DCALLS=2 "-DBREAK_$name"
    done
elif [ $# -eq 0 ]; then
    must_hold order
    must_hold order -DCLAIMS -DOPS_SECOND=1
    must_hold order -DLIVE
    must_hold returns
    must_hold capture
    must_hold capture -DWINDOWS=1 -DOPS=2 -DTRIMS=2
    must_hold lock
    must_hold lock -DTAKERS=3 -DTURNS=1 -DIDLE_WAKES
    must_hold crew
    must_hold crew -DJOBS=3 -DUNITS=3
    must_hold queued
    must_hold queued -DCALLERS=1 -DCALLS=3 -DRING=1
else
    echo "usage: $0 [--break]" >&2
    exit 2
fi
exit $bad
