/* The photo demo's step without Rondo: its kernels, called one after another on one core. */
#ifndef BENCH_PHOTO_PLAIN_H
#define BENCH_PHOTO_PLAIN_H

#include <stdint.h>

typedef struct photo_plain {
    uint32_t width, height;
    float *noisy, *image, *strength, *sums, *contrast, *flux_x, *flux_y;
} photo_plain;

void photo_plain_step(const photo_plain *self);

#endif
