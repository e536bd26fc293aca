#!/bin/sh
# A kernel file comes out of rondo_add_kernels byte for byte: quotes, backslashes, trigraphs, UTF-8, long lines and more
# than 64 KiB included; the generated C and C++ compile without a warning; files that cannot work are refused.
# Usage: embed.sh [RondoKernels.cmake]
set -u
here=$(cd "$(dirname "$0")" && pwd)
script=${1:-$here/../../cmake/RondoKernels.cmake}
cmake=${CMAKE:-cmake}
cc=${CC:-cc}
command -v "$cmake" >/dev/null 2>&1 || { echo "skipped: cmake is not installed"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
bad=0

fail() {
    echo "FAIL: $1"
    bad=$((bad + 1))
}

embed() {
    "$cmake" "-DKERNELS=$1" "-DTEXT=$2" -P "$script" >"$work/log.raw" 2>&1
    result=$?
    tr -s '\n ' ' ' <"$work/log.raw" >"$work/log" # cmake breaks the lines of its messages
    return $result
}

{
    printf '#include <rondo/kernel_lang.h>\n#define RONDO_KERNELS odd\n'
    printf '/* "quotes" \\ back\\n ??= ??/ %%s ; [a;b] ${x} @y@ \303\244\342\202\254 \t tab */\n'
    i=0
    while [ $i -lt 2500 ]; do
        echo "/* line $i of a long file, with some words in it to make it long enough */"
        i=$((i + 1))
    done
    printf '/* %06000d */' 7
} >"$work/odd.kernels.h"

cat >"$work/show.c" <<'END'
#include <stdio.h>
#ifdef __cplusplus
extern "C"
#else
extern
#endif
const char odd_text[];
int main(void) { return fputs(odd_text, stdout) < 0; }
END

embed "$work/odd.kernels.h" "$work/odd.c" || { cat "$work/log"; fail "a long and odd file is refused"; }
strict="-Wall -Wextra -Wconversion -Wshadow -Wpedantic -Werror"
cp "$work/odd.c" "$work/odd.cpp"
if $cc -std=c17 $strict "$work/odd.c" "$work/show.c" -o "$work/show" && "$work/show" >"$work/shown"; then
    cmp "$work/odd.kernels.h" "$work/shown" || fail "the text is not the file"
    echo "$(wc -c <"$work/shown") bytes come back as they were"
else
    fail "the generated C does not work"
fi
if command -v g++ >/dev/null 2>&1; then
    g++ -std=c++17 $strict -c "$work/odd.cpp" -o "$work/odd.o" || fail "the generated source is no C++"
fi

printf '#include <rondo/kernel_lang.h>\n' >"$work/unnamed.kernels.h"
embed "$work/unnamed.kernels.h" "$work/x.c" && fail "a file without a name is accepted"
grep -q 'RONDO_KERNELS name' "$work/log" || fail "the message about the missing name is another one"
printf '#include <rondo/kernel_lang.h>\n#include "other.h"\n#define RONDO_KERNELS two\n' >"$work/two.kernels.h"
embed "$work/two.kernels.h" "$work/x.c" && fail "a file that includes another is accepted"
grep -q 'includes <rondo/kernel_lang.h> only' "$work/log" || fail "the message about the include is another one"

# The function itself: a project of three lines, and again after the file has changed.
mkdir "$work/project"
cp "$work/odd.kernels.h" "$work/show.c" "$work/project/"
cat >"$work/project/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.16)
project(embed C)
include("$(cd "$(dirname "$script")" && pwd)/$(basename "$script")")
add_executable(show show.c)
rondo_add_kernels(show odd.kernels.h)
END
build() {
    "$cmake" -S "$work/project" -B "$work/build" >"$work/log" 2>&1 && "$cmake" --build "$work/build" >"$work/log" 2>&1
}
build || { cat "$work/log"; fail "the project does not build"; }
shows_its_file() {
    "$work/build/show" >"$work/shown" && cmp "$work/project/odd.kernels.h" "$work/shown"
}
shows_its_file || fail "the project shows another text"
sed -i 's/RONDO_KERNELS odd/RONDO_KERNELS odd \/\/ changed/' "$work/project/odd.kernels.h"
touch -d '1 minute' "$work/project/odd.kernels.h"
build || { cat "$work/log"; fail "the changed project does not build"; }
shows_its_file || fail "a changed file is not embedded again"
[ $bad -eq 0 ] && echo "ok"
[ $bad -eq 0 ]
