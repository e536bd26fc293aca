#define _GNU_SOURCE
#include "denoise.h"

#include <math.h>
#include <string.h>
#include "photo.kernels.h"

#define CHANNELS 3

/* Chosen so that noise of sigma 10 to 40 is gone after some 500 steps; and from there on little changes. */
#define STEP 0.02f
#define CONTRAST_FACTOR 0.6f
#define PULL 0.05f

/* What lives only within a step. */
typedef struct work_buffers {
    rondo_buffer strength, sums, contrast, flux_x, flux_y;
} work_buffers;

static uint64_t plane_bytes(const denoise *self) {
    return (uint64_t)self->width * self->height * sizeof(float);
}

static uint64_t picture_bytes(const denoise *self) {
    return plane_bytes(self) * CHANNELS;
}

size_t denoise_sample_count(const denoise *self) {
    return (size_t)self->width * self->height * CHANNELS;
}

static rondo_status create_work_buffers(const denoise *self, rondo_stream *stream, work_buffers *out) {
    const rondo_usage usage = RONDO_USAGE_GENERAL;
    memset(out, 0, sizeof *out);
    rondo_status status = rondo_buffer_create(stream, plane_bytes(self), usage, &out->strength);
    if (!status) status = rondo_buffer_create(stream, self->height * sizeof(float), usage, &out->sums);
    if (!status) status = rondo_buffer_create(stream, sizeof(float), usage, &out->contrast);
    if (!status) status = rondo_buffer_create(stream, picture_bytes(self), usage, &out->flux_x);
    if (!status) status = rondo_buffer_create(stream, picture_bytes(self), usage, &out->flux_y);
    return status;
}

/* In a recorded step too: the graph keeps what its replays need. */
static void release_work_buffers(const work_buffers *work) {
    rondo_buffer_release(work->strength);
    rondo_buffer_release(work->sums);
    rondo_buffer_release(work->contrast);
    rondo_buffer_release(work->flux_x);
    rondo_buffer_release(work->flux_y);
}

static rondo_status launch_all(const denoise *self, rondo_stream *stream, const work_buffers *work) {
    const denoise_kernels *kernels = self->kernels;
    const uint32_t width = self->width, height = self->height;
    const rondo_span image = rondo_whole(self->result), strength = rondo_whole(work->strength);
    const rondo_span sums = rondo_whole(work->sums), contrast = rondo_whole(work->contrast);
    const rondo_span flux_x = rondo_whole(work->flux_x), flux_y = rondo_whole(work->flux_y);
    const rondo_grid rows = rondo_grid_1d(height);
    rondo_status status = photo_strength_launch(stream, kernels->strength, rows, image, strength, width, "strength");
    if (!status) status = photo_sum_rows_launch(stream, kernels->sum, rows, strength, sums, width, "sum");
    if (!status) {
        status = photo_contrast_launch(stream, kernels->contrast, rondo_grid_1d(1), sums, contrast, height, width,
                                       CONTRAST_FACTOR, "contrast");
    }
    if (!status) {
        status = photo_flux_launch(stream, kernels->flux, rows, image, strength, contrast, flux_x, flux_y, width,
                                   "flux");
    }
    if (!status) {
        status = photo_update_launch(stream, kernels->update, rondo_grid_2d(height, CHANNELS), image,
                                     rondo_whole(self->noisy), flux_x, flux_y, width, STEP, PULL, "update");
    }
    return status;
}

rondo_status denoise_step(rondo_stream *stream, void *user) {
    const denoise *self = user;
    work_buffers work;
    rondo_status status = create_work_buffers(self, stream, &work);
    if (!status) status = launch_all(self, stream, &work);
    release_work_buffers(&work);
    return status;
}

rondo_status denoise_kernels_init(denoise_kernels *kernels, rondo_device *device) {
    memset(kernels, 0, sizeof *kernels);
    rondo_status status = photo_strength_create(device, &kernels->strength);
    if (!status) status = photo_sum_rows_create(device, &kernels->sum);
    if (!status) status = photo_contrast_create(device, &kernels->contrast);
    if (!status) status = photo_flux_create(device, &kernels->flux);
    if (!status) status = photo_update_create(device, &kernels->update);
    return status;
}

void denoise_kernels_finish(denoise_kernels *kernels) {
    rondo_kernel_release(kernels->strength);
    rondo_kernel_release(kernels->sum);
    rondo_kernel_release(kernels->contrast);
    rondo_kernel_release(kernels->flux);
    rondo_kernel_release(kernels->update);
    memset(kernels, 0, sizeof *kernels);
}

/* The picture's samples, plane after plane, straight into the buffer. */
static rondo_status upload(const denoise *self, const picture *noisy) {
    const size_t pixels = (size_t)self->width * self->height;
    const rondo_span all = rondo_whole(self->noisy);
    void *data;
    rondo_status status = rondo_map(self->stream, all, RONDO_WRITES, &data);
    if (status) return status;
    float *samples = data;
    for (size_t channel = 0; channel < CHANNELS; channel++) {
        for (size_t i = 0; i < pixels; i++) samples[channel * pixels + i] = noisy->rgb[i * CHANNELS + channel];
    }
    return rondo_unmap(self->stream, all);
}

rondo_status denoise_init(denoise *self, const denoise_kernels *kernels, rondo_stream *stream, const picture *noisy) {
    *self = (denoise){.kernels = kernels, .stream = stream, .width = noisy->width, .height = noisy->height};
    rondo_status status = rondo_buffer_create(stream, picture_bytes(self), RONDO_USAGE_LASTING, &self->noisy);
    if (!status) status = rondo_buffer_create(stream, picture_bytes(self), RONDO_USAGE_LASTING, &self->result);
    if (!status) status = upload(self, noisy);
    return status;
}

void denoise_finish(denoise *self) {
    rondo_buffer_release(self->noisy);
    rondo_buffer_release(self->result);
    memset(self, 0, sizeof *self);
}

rondo_status denoise_restart(const denoise *self) {
    return rondo_copy(self->stream, rondo_whole(self->result), rondo_whole(self->noisy), "restart");
}

rondo_status denoise_read(const denoise *self, float *out_samples) {
    return rondo_read(self->stream, rondo_whole(self->result), out_samples, "result");
}

void denoise_to_picture(const float *samples, picture *out) {
    const size_t pixels = (size_t)out->width * out->height;
    for (size_t i = 0; i < pixels * CHANNELS; i++) {
        const float sample = samples[i % CHANNELS * pixels + i / CHANNELS];
        out->rgb[i] = (uint8_t)lroundf(fminf(fmaxf(sample, 0), 255));
    }
}
