/* Gaussian noise from a seed, the same on every machine with the same math library. */
#ifndef PHOTO_NOISE_H
#define PHOTO_NOISE_H

#include "picture.h"

/* Adds noise of standard deviation `sigma` to every sample, rounded and cut to 0 .. 255. */
void noise_add(picture *pic, double sigma, uint64_t seed);

#endif
