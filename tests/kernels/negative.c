/* What must not compile. Without WRONG this file is right; with -DWRONG=n it holds mistake number n. Compiled as C and
 * as C++ by negative.sh, which looks for the words after "expect:" in the compiler's message (an extended regular
 * expression). */
#define RONDO_KERNELS_NO_TEXT
#ifndef WRONG
#define WRONG 0
#endif
#include "../lib/test_kernels.kernels.h"

rondo_status launch_it(rondo_stream *stream, rondo_kernel *kernel, rondo_span x, rondo_span y);
rondo_status launch_it(rondo_stream *stream, rondo_kernel *kernel, rondo_span x, rondo_span y) {
    const rondo_grid grid = rondo_grid_1d(10);
#if WRONG == 1 /* a missing argument; expect: too few arguments|no matching|incompatible type|convert */
    return axpy_launch(stream, kernel, grid, x, 2.0f, NULL);
#elif WRONG == 2 /* one argument more; expect: too many arguments|no matching function|cannot convert */
    return axpy_launch(stream, kernel, grid, x, y, 2.0f, 3.0f, NULL);
#elif WRONG == 3 /* a buffer for a value; expect: incompatible type|convert|no matching|no viable */
    return axpy_launch(stream, kernel, grid, x, y, y, NULL);
#elif WRONG == 4 /* a value for a buffer; expect: incompatible type|convert|no matching|no viable */
    return axpy_launch(stream, kernel, grid, x, 1.0f, 2.0f, NULL);
#elif WRONG == 5 /* a buffer without a range; expect: incompatible type|convert|no matching|no viable */
    return axpy_launch(stream, kernel, grid, x, y.buffer, 2.0f, NULL);
#elif WRONG == 6 /* a pointer for a value; expect: incompatible type|cannot convert|no matching function */
    const float a = 2.0f;
    return axpy_launch(stream, kernel, grid, x, y, &a, NULL);
#elif WRONG == 7 /* a number for the grid; expect: incompatible type|convert|no matching|no viable */
    return axpy_launch(stream, kernel, 10, x, y, 2.0f, NULL);
#elif WRONG == 8 /* no label; expect: too few arguments|no matching function */
    return axpy_launch(stream, kernel, grid, x, y, 2.0f);
#else
    return axpy_launch(stream, kernel, grid, x, y, 2.0f, NULL);
#endif
}

RONDO_KERNEL(grouped, RONDO_GROUP(32), RONDO_IN(float, x), RONDO_INOUT(float, y), RONDO_INOUT(int32_t, n))
{
    RONDO_LOCAL(float, tile, 32);
    RONDO_PRIVATE(float, mine);
    RONDO_ITEMS(i) {
        RONDO_MY(mine) = x[i];
        tile[RONDO_LOCAL_X] = RONDO_MY(mine);
#if WRONG == 9 /* an input is written; expect: read-only|const */
        x[i] = 0;
#elif WRONG == 10 /* a private variable without RONDO_MY; expect: array|assign */
        mine = 1.0f;
#elif WRONG == 11 /* failure in a kernel that cannot fail; expect: rondo_fail_needs_RONDO_KERNEL_CAN_FAIL */
        RONDO_FAIL(3);
#elif WRONG == 12 /* an atomic addition to a float; expect: wrong type argument|invalid argument */
        RONDO_ATOMIC_ADD(&y[0], 1);
#endif
        y[i] = tile[RONDO_LOCAL_X];
        RONDO_ATOMIC_ADD(&n[RONDO_GROUP_X], 1);
    }
#if WRONG == 13 /* an item's place outside of an items loop; expect: rondo_l_x */
    y[RONDO_LOCAL_X] = 0;
#endif
}

#if WRONG == 14 /* a local array without groups; expect: negative */
RONDO_KERNEL(wrong, RONDO_NO_GROUP, RONDO_INOUT(float, y))
{
    RONDO_LOCAL(float, tile, 4);
    RONDO_ITEMS(i) { y[i] = tile[0]; }
}
#elif WRONG == 15 /* a private variable without groups; expect: negative */
RONDO_KERNEL(wrong, RONDO_NO_GROUP, RONDO_INOUT(float, y))
{
    RONDO_PRIVATE(float, mine);
    RONDO_ITEMS(i) { y[i] = RONDO_MY(mine); }
}
#elif WRONG == 16 /* a group's number without groups; expect: negative */
RONDO_KERNEL(wrong, RONDO_NO_GROUP, RONDO_INOUT(float, y))
{
    RONDO_ITEMS(i) { y[i] = (float)RONDO_GROUP_X; }
}
#elif WRONG == 17 /* a group that is too large; expect: at most 1024 */
RONDO_KERNEL(wrong, RONDO_GROUP_2D(64, 32), RONDO_INOUT(float, y))
{
    RONDO_ITEMS(i) { y[i] = 0; }
}
#elif WRONG == 18 /* an empty group; expect: at least 1 item */
RONDO_KERNEL(wrong, RONDO_GROUP_2D(8, 0), RONDO_INOUT(float, y))
{
    RONDO_ITEMS(i) { y[i] = 0; }
}
#elif WRONG == 19 /* a value is written; expect: read-only|const */
RONDO_KERNEL(wrong, RONDO_NO_GROUP, RONDO_INOUT(float, y), RONDO_VALUE(float, a))
{
    RONDO_ITEMS(i) { a = y[i]; }
}
#elif WRONG == 20 /* two parameters of one name; expect: redefin|redeclar */
RONDO_KERNEL(wrong, RONDO_NO_GROUP, RONDO_INOUT(float, y), RONDO_VALUE(float, y))
{
    RONDO_ITEMS(i) { y[i] = 0; }
}
#elif WRONG == 21 /* an atomic addition to 64 bits; expect: negative */
RONDO_KERNEL(wrong, RONDO_NO_GROUP, RONDO_INOUT(int64_t, y))
{
    RONDO_ITEMS(i) { RONDO_ATOMIC_ADD(&y[0], 1); }
}
#endif
