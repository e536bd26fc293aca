/* The kernels of one time step; denoise.h has the equation.
 *
 * A picture is three planes of floats, one a channel. An item is a row, so that the loop over its pixels is a plain
 * loop that compilers turn into vector code; the pixels at the ends of a row, which lack a neighbour, come apart. */
#include <rondo/kernel_lang.h>
#define RONDO_KERNELS photo_kernels

RONDO_FUNCTION(float, photo_square)(float value) {
    return value * value;
}

/* The strength of the edge at a pixel, from central differences, all channels together. At the border the pixel
 * itself stands for the neighbour that is not there. */
RONDO_FUNCTION(float, photo_strength_at)(RONDO_GLOBAL const float *image, uint64_t plane, uint64_t left,
                                         uint64_t right, uint64_t above, uint64_t below) {
    float sum = 0;
    for (int channel = 0; channel < 3; channel++) {
        sum += photo_square(image[right] - image[left]) + photo_square(image[below] - image[above]);
        image += plane;
    }
    return sqrtf(sum * (1.0f / 12.0f));
}

/* Grid: one item a row of the picture. */
RONDO_KERNEL(photo_strength, RONDO_NO_GROUP, RONDO_IN(float, image), RONDO_OUT(float, strength),
             RONDO_VALUE(uint32_t, width))
{
    RONDO_ITEMS(y) {
        const uint64_t plane = width * RONDO_GRID_X, first = y * width, last = first + width - 1;
        const uint64_t up = y > 0 ? width : 0, down = y + 1 < RONDO_GRID_X ? width : 0;
        for (uint64_t i = first + 1; i < last; i++) {
            strength[i] = photo_strength_at(image, plane, i - 1, i + 1, i - up, i + down);
        }
        const uint64_t second = first < last ? first + 1 : first, before_last = first < last ? last - 1 : first;
        strength[first] = photo_strength_at(image, plane, first, second, first - up, first + down);
        strength[last] = photo_strength_at(image, plane, before_last, last, last - up, last + down);
    }
}

/* The sum of each row. Eight sums side by side, added up at the end: the order of the additions is written here and so
 * the result is the same on every number of workers. Grid: one item a row. */
RONDO_KERNEL(photo_sum_rows, RONDO_NO_GROUP, RONDO_IN(float, values), RONDO_OUT(float, sums),
             RONDO_VALUE(uint32_t, width))
{
    RONDO_ITEMS(y) {
        float lanes[8] = {0, 0, 0, 0, 0, 0, 0, 0};
        const uint64_t first = y * width, whole = width - width % 8;
        for (uint64_t x = 0; x < whole; x += 8) {
            for (int lane = 0; lane < 8; lane++) lanes[lane] += values[first + x + (uint64_t)lane];
        }
        for (uint64_t x = whole; x < width; x++) lanes[x - whole] += values[first + x];
        sums[y] = ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
    }
}

/* The contrast at which an edge begins to be kept: `factor` times the mean strength. What the flux needs is 1 / K^2.
 * Grid: one item. */
RONDO_KERNEL(photo_contrast, RONDO_NO_GROUP, RONDO_IN(float, sums), RONDO_OUT(float, inverse_square),
             RONDO_VALUE(uint32_t, rows), RONDO_VALUE(uint32_t, width), RONDO_VALUE(float, factor))
{
    RONDO_ITEMS(one) {
        float sum = 0;
        for (uint32_t row = 0; row < rows; row++) sum += sums[row];
        const float contrast = factor * sum / ((float)rows * (float)width);
        /* A flat picture has no edges, and no mean to divide by: any finite number serves. */
        inverse_square[one] = 1.0f / fmaxf(contrast * contrast, 1e-6f);
    }
}

/* How freely brightness flows between two neighbours. */
RONDO_FUNCTION(float, photo_conductance)(float strength_a, float strength_b, float inverse_square) {
    const float strength = 0.5f * (strength_a + strength_b);
    return 1.0f / (1.0f + strength * strength * inverse_square);
}

/* The flow from the next pixel and from the pixel below into each pixel. Nothing flows over the border.
 * Grid: one item a row of the picture. */
RONDO_KERNEL(photo_flux, RONDO_NO_GROUP, RONDO_IN(float, image), RONDO_IN(float, strength),
             RONDO_IN(float, inverse_square), RONDO_OUT(float, flux_x), RONDO_OUT(float, flux_y),
             RONDO_VALUE(uint32_t, width))
{
    RONDO_ITEMS(y) {
        const uint64_t plane = width * RONDO_GRID_X, first = y * width, last = first + width - 1;
        const uint64_t down = y + 1 < RONDO_GRID_X ? width : 0;
        const float inverse = inverse_square[0];
        for (uint64_t i = first; i < last; i++) {
            const float along_x = photo_conductance(strength[i], strength[i + 1], inverse);
            for (uint64_t channel = 0; channel < 3; channel++) {
                const uint64_t c = i + channel * plane;
                flux_x[c] = along_x * (image[c + 1] - image[c]);
            }
        }
        for (uint64_t i = first; i <= last; i++) {
            const float along_y = photo_conductance(strength[i], strength[i + down], inverse);
            for (uint64_t channel = 0; channel < 3; channel++) {
                const uint64_t c = i + channel * plane;
                flux_y[c] = along_y * (image[c + down] - image[c]);
            }
        }
        for (uint64_t channel = 0; channel < 3; channel++) flux_x[last + channel * plane] = 0;
    }
}

/* One step of size `step`: what flows in minus what flows out, and the pull towards the noisy picture.
 * Grid: rows in x, channels in y. */
RONDO_KERNEL(photo_update, RONDO_NO_GROUP, RONDO_INOUT(float, image), RONDO_IN(float, noisy),
             RONDO_IN(float, flux_x), RONDO_IN(float, flux_y), RONDO_VALUE(uint32_t, width), RONDO_VALUE(float, step),
             RONDO_VALUE(float, pull))
{
    RONDO_ITEMS_2D(y, channel) {
        const uint64_t first = (channel * RONDO_GRID_X + y) * width, end = first + width;
        const uint64_t up = y > 0 ? width : 0;
        const float has_above = y > 0 ? 1.0f : 0.0f;
        float gain = flux_x[first] + flux_y[first] - has_above * flux_y[first - up];
        image[first] += step * (gain + pull * (noisy[first] - image[first]));
        for (uint64_t i = first + 1; i < end; i++) {
            gain = flux_x[i] - flux_x[i - 1] + flux_y[i] - has_above * flux_y[i - up];
            image[i] += step * (gain + pull * (noisy[i] - image[i]));
        }
    }
}

#undef RONDO_KERNELS
