#define _GNU_SOURCE
#include "noise.h"

#include <math.h>

/* splitmix64, by Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014. */
static uint64_t next_random(uint64_t *state) {
    *state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* In (0, 1): never 0, whose logarithm is infinite. */
static double next_uniform(uint64_t *state) {
    return ((double)(next_random(state) >> 11) + 0.5) * 0x1p-53;
}

/* One of the two numbers that Box and Muller's method gives. */
static double next_gaussian(uint64_t *state) {
    const double radius = sqrt(-2 * log(next_uniform(state)));
    return radius * cos(2 * M_PI * next_uniform(state));
}

void noise_add(picture *pic, double sigma, uint64_t seed) {
    const size_t count = (size_t)pic->width * pic->height * 3;
    uint64_t state = seed;
    for (size_t i = 0; i < count; i++) {
        const double value = pic->rgb[i] + sigma * next_gaussian(&state);
        pic->rgb[i] = (uint8_t)lround(fmin(fmax(value, 0), 255));
    }
}
