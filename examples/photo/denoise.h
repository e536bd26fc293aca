/* Edge-preserving denoising on a Rondo device, one small time step at a time.
 *
 * The picture u follows P. Perona and J. Malik, "Scale-space and edge detection using anisotropic diffusion", IEEE
 * Transactions on Pattern Analysis and Machine Intelligence 12 (7), 1990, 629-639:
 *
 *     du/dt = div(c grad u) + pull (noisy - u),    c = 1 / (1 + (g / K)^2)
 *
 * with two additions. g, the strength of the local edge, is taken over the three channels together, so that they keep
 * their edges in the same places. And the last term, after K. N. Nordström, "Biased anisotropic diffusion", Image and
 * Vision Computing 8 (4), 1990, 318-327, pulls the picture towards the noisy one, so that it settles instead of
 * washing out. K is a fixed multiple of the mean of g and is computed on the device in every step: as the noise goes,
 * ever weaker edges count as edges.
 */
#ifndef PHOTO_DENOISE_H
#define PHOTO_DENOISE_H

#include "picture.h"
#include <rondo/rondo.h>

#define DENOISE_LAUNCHES 5 /* of one step */

typedef struct denoise_kernels {
    rondo_kernel *strength, *sum, *contrast, *flux, *update;
} denoise_kernels;

rondo_status denoise_kernels_init(denoise_kernels *kernels, rondo_device *device);
void denoise_kernels_finish(denoise_kernels *kernels);

/* One picture under way. Samples are floats from 0 to 255, one plane a channel. */
typedef struct denoise {
    const denoise_kernels *kernels;
    rondo_stream *stream;
    uint32_t width, height;
    rondo_buffer noisy, result;
} denoise;

rondo_status denoise_init(denoise *self, const denoise_kernels *kernels, rondo_stream *stream, const picture *noisy);
void denoise_finish(denoise *self);

/* Makes the result the noisy picture again. */
rondo_status denoise_restart(const denoise *self);

/* One time step; `user` is the denoise. Its four work buffers are allocated and released inside. */
rondo_status denoise_step(rondo_stream *stream, void *user);

size_t denoise_sample_count(const denoise *self);
rondo_status denoise_read(const denoise *self, float *out_samples);

/* Rounds samples to a picture of the same size. */
void denoise_to_picture(const float *samples, picture *out);

#endif
