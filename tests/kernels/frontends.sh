#!/bin/sh
# The kernel files of the tests, unchanged, through every device compiler that is installed: as OpenCL C 1.2 (clang), as
# CUDA (nvcc), as HIP (hipcc), and on a real OpenCL device (PoCL is enough), where the results are compared with the
# native functions. What is missing is skipped with a reason; ends with 77 if everything was.
# Usage: frontends.sh [include folder]
set -u
here=$(cd "$(dirname "$0")" && pwd)
include=${1:-$here/../../include}
files="$here/../lib/test_kernels.kernels.h $here/language.kernels.h"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
ran=0
bad=0

# try <what> <command...>
try() {
    what=$1
    shift
    if "$@" >"$work/log" 2>&1; then
        echo "ok: $what"
        ran=$((ran + 1))
    else
        echo "FAIL: $what"
        cat "$work/log"
        bad=$((bad + 1))
    fi
}

have() {
    command -v "$1" >/dev/null 2>&1 && return
    echo "skipped: $1 is not installed"
    return 1
}

if have clang; then
    for file in $files; do
        try "OpenCL C 1.2, $(basename "$file")" clang -x cl -cl-std=CL1.2 \
            -Xclang -finclude-default-header -fsyntax-only -Wall -Wextra -Werror -I"$include" "$file"
    done
    # A compiler that takes everything would pass the checks above: a wrong kernel must not.
    {
        echo '#include <rondo/kernel_lang.h>'
        echo 'RONDO_KERNEL(k, RONDO_NO_GROUP, RONDO_IN(float, x)) { RONDO_ITEMS(i) { x[i] = 1; } }'
    } >"$work/wrong.kernels.h"
    if clang -x cl -cl-std=CL1.2 -Xclang -finclude-default-header -fsyntax-only -I"$include" "$work/wrong.kernels.h" \
        >/dev/null 2>&1; then
        echo "FAIL: OpenCL C takes a kernel that writes its input"
        bad=$((bad + 1))
    fi
fi

if have nvcc; then
    for file in $files; do
        try "CUDA, $(basename "$file")" nvcc -x cu -ptx -I"$include" "$file" -o "$work/out.ptx"
        kernels=$(grep -Ec '^RONDO_KERNEL(_CAN_FAIL)?\(' "$file")
        entries=$(grep -c '\.visible \.entry' "$work/out.ptx")
        echo "    $entries device kernels for $kernels definitions"
        [ "$entries" -eq "$kernels" ] || bad=$((bad + 1))
    done
fi

# NVRTC comes with the CUDA toolkit, beside nvcc.
if have nvcc && have cc; then
    cuda=$(dirname "$(dirname "$(command -v nvcc)")")
    if ! cc -std=c17 -I"$cuda/include" "$here/nvrtc_test.c" -o "$work/nvrtc_test" -L"$cuda/lib64" -L"$cuda/lib" \
        -Wl,-rpath,"$cuda/lib64:$cuda/lib" -lnvrtc 2>"$work/log"; then
        echo "skipped: no NVRTC ($(grep -m1 -E 'error|cannot find' "$work/log"))"
    else
        try "CUDA at run time (NVRTC)" "$work/nvrtc_test" "$include/rondo/kernel_lang.h" $files
    fi
fi

if have hipcc; then
    for file in $files; do
        try "HIP, $(basename "$file")" hipcc -x hip -fsyntax-only -I"$include" "$file"
    done
fi

if have cc; then
    if ! cc -std=c17 -O2 -I"$include" "$here/opencl_test.c" -o "$work/opencl_test" -lOpenCL -lm 2>"$work/log"; then
        echo "skipped: no OpenCL headers or library ($(grep -m1 -E 'error|cannot find' "$work/log"))"
    else
        POCL_CACHE_DIR=$work/cache "$work/opencl_test" "$include/rondo/kernel_lang.h" $files
        case $? in
        0) ran=$((ran + 1)) ;;
        77) ;;
        *) echo "FAIL: OpenCL device" && bad=$((bad + 1)) ;;
        esac
    fi
fi

echo "$ran parts passed, $bad failed"
[ $bad -eq 0 ] || exit 1
[ $ran -gt 0 ] || exit 77
