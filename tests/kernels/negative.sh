#!/bin/sh
# Mistakes in kernels and launches are compile errors, and the right program compiles without a warning.
# Usage: negative.sh [include folder]
set -u
here=$(cd "$(dirname "$0")" && pwd)
include=${1:-$here/../../include}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/in/lib" "$work/in/kernels"
cp "$here/../lib/test_kernels.kernels.h" "$work/in/lib/"
cp "$here/negative.c" "$work/in/kernels/negative.c"
cp "$here/negative.c" "$work/in/kernels/negative.cpp"
mistakes=$(grep -c 'expect: ' "$here/negative.c")
bad=0
tried=0

# check <compiler> <file> <flags>
check() {
    if ! command -v "$1" >/dev/null 2>&1; then
        echo "skipped: $1 is not installed"
        return
    fi
    if ! $1 $3 -Wall -Wextra -Wconversion -Wshadow -Werror -fsyntax-only -I"$include" "$2" 2>"$work/log"; then
        echo "FAIL $1: the right program does not compile"
        cat "$work/log"
        bad=$((bad + 1))
        return
    fi
    n=1
    while [ $n -le $mistakes ]; do
        expect=$(sed -n "s/.*WRONG == $n .*expect: \(.*\) \*\/.*/\1/p" "$here/negative.c")
        tried=$((tried + 1))
        if [ -z "$expect" ]; then
            echo "FAIL: mistake $n is not in negative.c"
            bad=$((bad + 1))
        elif $1 $3 -fsyntax-only -DWRONG=$n -I"$include" "$2" 2>"$work/log"; then
            if grep -Eq "warning: .*($expect)" "$work/log"; then
                echo "FAIL $1: mistake $n is only a warning"
            else
                echo "FAIL $1: mistake $n compiles"
            fi
            bad=$((bad + 1))
        elif ! grep -Eq "error: .*($expect)" "$work/log"; then
            echo "FAIL $1: mistake $n gives another error than: $expect"
            cat "$work/log"
            bad=$((bad + 1))
        fi
        n=$((n + 1))
    done
}

check gcc "$work/in/kernels/negative.c" "-std=c17"
check clang "$work/in/kernels/negative.c" "-std=c17"
check g++ "$work/in/kernels/negative.cpp" "-std=c++17"
check clang++ "$work/in/kernels/negative.cpp" "-std=c++17"
echo "$mistakes mistakes, $tried compilations, $bad of them not refused as they should be"
if [ $tried -eq 0 ]; then
    exit 77
fi
[ $bad -eq 0 ]
