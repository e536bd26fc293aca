#!/bin/sh
# The items loop of axpy becomes AVX code: says so the vectoriser's report of both compilers, and so do the
# instructions, packed ones on ymm registers inside a loop. No run-time test for overlapping arguments is made.
# Usage: vectorised.sh [include folder]
set -u
here=$(cd "$(dirname "$0")" && pwd)
include=${1:-$here/../../include}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
bad=0
ran=0

fail() {
    echo "FAIL: $1"
    bad=$((bad + 1))
}

# The body of the loop that jumps back: from a jump's target up to the jump.
loops_with_ymm() {
    objdump -d --no-show-raw-insn --disassemble=axpy_native "$1" | awk '
        /^ *[0-9a-f]+:/ {
            address = $1; sub(":", "", address)
            line[++n] = $0; at[address] = n
            if ($2 ~ /^j/ && ($3 in at)) {
                mul = add = 0
                for (i = at[$3]; i <= n; i++) {
                    if (line[i] ~ /v(mulps|fmadd[0-9]+ps).*%ymm/) mul = 1
                    if (line[i] ~ /v(addps|fmadd[0-9]+ps).*%ymm/) add = 1
                }
                if (mul && add) found++
            }
        }
        END { print found + 0 }'
}

# check <compiler> <flags that optimise> <flags that report> <what the report says> <flags that show tests for aliases>
check() {
    if ! command -v "$1" >/dev/null 2>&1; then
        echo "skipped: $1 is not installed"
        return
    fi
    ran=$((ran + 1))
    if ! $1 -std=c17 $2 -march=x86-64-v3 $3 -I"$include" -c "$here/vectorised.c" -o "$work/out.o" 2>"$work/report"; then
        cat "$work/report"
        fail "$1 does not compile it"
        return
    fi
    line=$(grep -n 'RONDO_ITEMS' "$here/../lib/test_kernels.kernels.h" | head -n 1 | cut -d: -f1)
    grep "test_kernels.kernels.h:$line:.*$4" "$work/report" || fail "$1 $2 does not report line $line as vectorised"
    $1 -std=c17 $2 -march=x86-64-v3 $5 -I"$include" -S "$here/vectorised.c" -o "$work/out.s" 2>>"$work/report"
    if grep -hE 'because of possible aliasing|vector\.memcheck' "$work/report" "$work/out.s"; then
        fail "$1 $2 tests for aliases at run time"
    fi
    loops=$(loops_with_ymm "$work/out.o")
    echo "$1 $2: $loops loop(s) of packed multiplications and additions on ymm registers in axpy_native"
    [ "$loops" -ge 1 ] || fail "$1 $2 leaves no AVX loop"
}

case $(uname -m) in
x86_64) ;;
*) echo "skipped: not an x86-64 machine" && exit 77 ;;
esac
if ! command -v objdump >/dev/null 2>&1; then
    echo "skipped: objdump is not installed"
    exit 77
fi
show="-emit-llvm -fno-discard-value-names"
check gcc -O3 -fopt-info-vec-optimized "loop vectorized using 32 byte vectors" -fopt-info-vec-optimized
check clang -O2 -Rpass=loop-vectorize "vectorized loop (vectorization width: 8" "$show"
check clang -O3 -Rpass=loop-vectorize "vectorized loop (vectorization width: 8" "$show"
[ $ran -gt 0 ] || exit 77
[ $bad -eq 0 ]
