/* The kernels that the tests launch: small, on 32-bit numbers, one of each kind.
 *
 * No include guard is needed as long as a source file includes it once. */
#include <rondo/kernel_lang.h>
#define RONDO_KERNELS test_kernels

/* y = y + a * x */
RONDO_KERNEL(axpy, RONDO_NO_GROUP, RONDO_IN(float, x), RONDO_INOUT(float, y), RONDO_VALUE(float, a))
{
    RONDO_ITEMS(i) {
        y[i] += a * x[i];
    }
}

RONDO_KERNEL(copy_i32, RONDO_NO_GROUP, RONDO_IN(int32_t, x), RONDO_OUT(int32_t, y))
{
    RONDO_ITEMS(i) {
        y[i] = x[i];
    }
}

/* c = a + b, modulo 2^32 */
RONDO_KERNEL(add_i32, RONDO_NO_GROUP, RONDO_IN(int32_t, a), RONDO_IN(int32_t, b), RONDO_OUT(int32_t, c))
{
    RONDO_ITEMS(i) {
        c[i] = (int32_t)((uint32_t)a[i] + (uint32_t)b[i]);
    }
}

/* x = k * x, modulo 2^32 */
RONDO_KERNEL(scale_i32, RONDO_NO_GROUP, RONDO_INOUT(int32_t, x), RONDO_VALUE(int32_t, k))
{
    RONDO_ITEMS(i) {
        x[i] = (int32_t)((uint32_t)x[i] * (uint32_t)k);
    }
}

/* x[i] = start + i, modulo 2^32 */
RONDO_KERNEL(iota_i32, RONDO_NO_GROUP, RONDO_OUT(int32_t, x), RONDO_VALUE(int32_t, start))
{
    RONDO_ITEMS(i) {
        x[i] = (int32_t)((uint32_t)start + (uint32_t)i);
    }
}

/* partial[g] = sum of the items of group g, modulo 2^32; a group has 64 items. */
RONDO_KERNEL(sum_i32, RONDO_GROUP(64), RONDO_IN(int32_t, x), RONDO_OUT(int32_t, partial))
{
    RONDO_LOCAL(uint32_t, tile, 64);
    RONDO_ONCE {
        for (int t = 0; t < 64; t++) tile[t] = 0;
    }
    RONDO_ITEMS(i) {
        tile[RONDO_LOCAL_X] = (uint32_t)x[i];
    }
    for (uint64_t step = 32; step > 0; step /= 2) {
        RONDO_ITEMS(i) {
            if (RONDO_LOCAL_X < step) tile[RONDO_LOCAL_X] += tile[RONDO_LOCAL_X + step];
        }
    }
    RONDO_ONCE {
        partial[RONDO_GROUP_X] = (int32_t)tile[0];
    }
}

/* Fails with reason 7 if flag[0] is not 0, otherwise writes v to all of y. */
RONDO_KERNEL_CAN_FAIL(fail_if, RONDO_NO_GROUP, RONDO_IN(uint32_t, flag), RONDO_OUT(int32_t, y), RONDO_VALUE(int32_t, v))
{
    RONDO_ITEMS(i) {
        if (flag[0] != 0) {
            RONDO_FAIL(7);
            continue;
        }
        y[i] = v;
    }
}

/* counter[0] = counter[0] + number of items */
RONDO_KERNEL(count, RONDO_NO_GROUP, RONDO_INOUT(uint32_t, counter))
{
    RONDO_ITEMS(i) {
        RONDO_ATOMIC_ADD(&counter[0], 1u);
    }
}

/* c = a + 1, where c may be a. */
RONDO_KERNEL(add_alias, RONDO_NO_GROUP, RONDO_IN_MAY_ALIAS(int32_t, a), RONDO_OUT_MAY_ALIAS(int32_t, c))
{
    RONDO_ITEMS(i) {
        c[i] = (int32_t)((uint32_t)a[i] + 1u);
    }
}

/* out = x + its four neighbours, modulo 2^32; beyond the edge there are zeros. */
RONDO_KERNEL(stencil2d, RONDO_NO_GROUP, RONDO_IN(uint32_t, x), RONDO_OUT(uint32_t, out))
{
    RONDO_ITEMS_2D(column, row) {
        const uint64_t width = RONDO_GRID_X, at = row * width + column;
        uint32_t sum = x[at];
        if (column > 0) sum += x[at - 1];
        if (column + 1 < width) sum += x[at + 1];
        if (row > 0) sum += x[at - width];
        if (row + 1 < RONDO_GRID_Y) sum += x[at + width];
        out[at] = sum;
    }
}

/* out[z][y][x] = x + 1000 * y + 1000000 * z + base; groups of 4 x 2 x 2. */
RONDO_KERNEL(fill3d, RONDO_GROUP_3D(4, 2, 2), RONDO_OUT(uint32_t, out), RONDO_VALUE(uint32_t, base))
{
    RONDO_ITEMS_3D(x, y, z) {
        out[(z * RONDO_GRID_Y + y) * RONDO_GRID_X + x] = (uint32_t)(x + 1000 * y + 1000000 * z) + base;
    }
}

#undef RONDO_KERNELS
