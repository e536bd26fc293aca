/* Kernels that use each part of the kernel language, for the tests of the language itself. */
#include <rondo/kernel_lang.h>
#define RONDO_KERNELS language_kernels

typedef struct shade {
    float scale;
    int32_t offset;
} shade;

RONDO_CONSTANT(float, taps[3]) = {0.25f, 0.5f, 0.25f};

RONDO_FUNCTION(float, clampf)(float v, float low, float high) {
    return fminf(fmaxf(v, low), high);
}

RONDO_FUNCTION(float, tap_at)(RONDO_GLOBAL const float *x, uint64_t at) {
    return taps[0] * x[at] + taps[1] * x[at + 1] + taps[2] * x[at + 2];
}

/* Helper functions, constants, several kinds of values. x has two items more than the grid. */
RONDO_KERNEL(smooth, RONDO_NO_GROUP, RONDO_IN(float, x), RONDO_OUT(float, y), RONDO_VALUE(float, limit),
             RONDO_VALUE(shade, tone), RONDO_VALUE(uint64_t, skip))
{
    RONDO_ITEMS(i) {
        y[i] = clampf(tap_at(x, i), -limit, limit) * tone.scale + (float)tone.offset + (float)skip;
    }
}

/* partial[g] = sum of the 256 items of group g, in an order that the kernel fixes. */
RONDO_KERNEL(sum_groups, RONDO_GROUP(256), RONDO_IN(float, x), RONDO_OUT(float, partial))
{
    RONDO_LOCAL(float, tile, 256);
    RONDO_ONCE {
        for (int t = 0; t < 256; t++) tile[t] = 0;
    }
    RONDO_ITEMS(i) {
        tile[RONDO_LOCAL_X] = x[i];
    }
    for (uint64_t step = 128; step > 0; step /= 2) {
        RONDO_ITEMS(i) {
            if (RONDO_LOCAL_X < step) tile[RONDO_LOCAL_X] += tile[RONDO_LOCAL_X + step];
        }
    }
    RONDO_ONCE {
        partial[RONDO_GROUP_X] = tile[0];
    }
}

/* out = sum of the group - own value: private variables live on, code between the loops reads a local array. */
RONDO_KERNEL(rest_of_group, RONDO_GROUP_2D(8, 4), RONDO_IN(int32_t, x), RONDO_OUT(int32_t, out))
{
    RONDO_LOCAL(int32_t, sum, 1);
    RONDO_PRIVATE(int32_t, mine);
    RONDO_ONCE {
        sum[0] = 0;
    }
    RONDO_ITEMS_2D(column, row) {
        RONDO_MY(mine) = x[row * RONDO_GRID_X + column];
        RONDO_ATOMIC_ADD(&sum[0], RONDO_MY(mine));
    }
    const int32_t total = sum[0];
    RONDO_ITEMS_2D(column, row) {
        out[row * RONDO_GRID_X + column] = total - RONDO_MY(mine);
    }
}

/* Where each item is: its place in the group, the group's number, the number of loops that reached it. */
RONDO_KERNEL(whereabouts, RONDO_GROUP_3D(4, 2, 3), RONDO_OUT(uint32_t, place), RONDO_OUT(uint32_t, group),
             RONDO_INOUT(uint32_t, visits))
{
    RONDO_PRIVATE(uint32_t, at);
    RONDO_ITEMS_3D(x, y, z) {
        RONDO_MY(at) = (uint32_t)((z * RONDO_GRID_Y + y) * RONDO_GRID_X + x);
    }
    RONDO_ITEMS(x) {
        place[RONDO_MY(at)] = (uint32_t)(RONDO_LOCAL_X + 10 * RONDO_LOCAL_Y + 100 * RONDO_LOCAL_Z);
        group[RONDO_MY(at)] = (uint32_t)(RONDO_GROUP_X + 10 * RONDO_GROUP_Y + 100 * RONDO_GROUP_Z);
        visits[RONDO_MY(at)] += 1;
    }
}

/* The same without groups: every item of the grid once, at its own coordinates. */
RONDO_KERNEL(coordinates, RONDO_NO_GROUP, RONDO_OUT(uint32_t, at), RONDO_INOUT(uint32_t, visits))
{
    RONDO_ITEMS_3D(x, y, z) {
        const uint64_t i = (z * RONDO_GRID_Y + y) * RONDO_GRID_X + x;
        at[i] = (uint32_t)(x + 100 * y + 10000 * z);
        visits[i] += 1;
    }
}

RONDO_KERNEL(histogram, RONDO_NO_GROUP, RONDO_IN(uint32_t, x), RONDO_INOUT(int32_t, bins))
{
    RONDO_ITEMS(i) {
        RONDO_ATOMIC_ADD(&bins[x[i] % 16], 1);
    }
}

/* Both words leave the item and nothing else. */
RONDO_KERNEL(leave, RONDO_NO_GROUP, RONDO_INOUT(int32_t, x))
{
    RONDO_ITEMS_2D(column, row) {
        const uint64_t at = row * RONDO_GRID_X + column;
        x[at] += 1;
        if (at % 3 == 0) continue;
        x[at] += 10;
        if (at % 3 == 1) break;
        x[at] += 100;
    }
}

/* out = x / y, fails with the number of its group + 1 where y is 0. */
RONDO_KERNEL_CAN_FAIL(divide, RONDO_GROUP(8), RONDO_IN(int32_t, x), RONDO_IN(int32_t, y), RONDO_OUT(int32_t, out))
{
    RONDO_ITEMS(i) {
        if (y[i] == 0) {
            RONDO_FAIL((uint32_t)RONDO_GROUP_X + 1);
            continue;
        }
        out[i] = x[i] / y[i];
    }
}

/* c = a + b: c may be a or b, or a part of them. */
RONDO_KERNEL(add_any, RONDO_NO_GROUP, RONDO_IN(int32_t, a), RONDO_IN(int32_t, b), RONDO_OUT_MAY_ALIAS(int32_t, c))
{
    RONDO_ITEMS(i) {
        c[i] = a[i] + b[i];
    }
}

/* As many parameters as there may be. */
RONDO_KERNEL(wide, RONDO_NO_GROUP, RONDO_OUT(int32_t, out),
             RONDO_VALUE(int32_t, v1), RONDO_VALUE(int32_t, v2), RONDO_VALUE(int32_t, v3), RONDO_VALUE(int32_t, v4),
             RONDO_VALUE(int32_t, v5), RONDO_VALUE(int32_t, v6), RONDO_VALUE(int32_t, v7), RONDO_VALUE(int32_t, v8),
             RONDO_VALUE(int32_t, v9), RONDO_VALUE(int32_t, v10), RONDO_VALUE(int32_t, v11), RONDO_VALUE(int32_t, v12),
             RONDO_VALUE(int32_t, v13), RONDO_VALUE(int32_t, v14), RONDO_VALUE(int32_t, v15), RONDO_VALUE(int32_t, v16),
             RONDO_VALUE(int32_t, v17), RONDO_VALUE(int32_t, v18), RONDO_VALUE(int32_t, v19), RONDO_VALUE(int32_t, v20),
             RONDO_VALUE(int32_t, v21), RONDO_VALUE(int32_t, v22), RONDO_VALUE(int32_t, v23), RONDO_VALUE(int32_t, v24),
             RONDO_VALUE(int32_t, v25), RONDO_VALUE(int32_t, v26), RONDO_VALUE(int32_t, v27), RONDO_VALUE(int32_t, v28),
             RONDO_VALUE(int32_t, v29), RONDO_VALUE(int32_t, v30), RONDO_VALUE(int32_t, v31))
{
    RONDO_ITEMS(i) {
        out[i] = 1 * v1 + 2 * v2 + 3 * v3 + 4 * v4 + 5 * v5 + 6 * v6 + 7 * v7 + 8 * v8 + 9 * v9 + 10 * v10 + 11 * v11
               + 12 * v12 + 13 * v13 + 14 * v14 + 15 * v15 + 16 * v16 + 17 * v17 + 18 * v18 + 19 *
               v19 + 20 * v20 + 21 * v21 + 22 * v22 + 23 * v23 + 24 * v24 + 25 * v25 + 26 * v26 + 27
               * v27 + 28 * v28 + 29 * v29 + 30 * v30 + 31 * v31;
    }
}

#undef RONDO_KERNELS
