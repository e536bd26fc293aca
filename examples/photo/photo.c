/* Removes the noise from a photo, launch by launch and by replaying a graph, and compares the two. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "measure.h"
#include "noise.h"
#include "options.h"

#define CROPS 3

typedef struct photo {
    options opts;
    output out;
    picture clean, noisy, result;
    samples room;
    rondo_device *device;
    rondo_stream *stream;
    denoise_kernels kernels;
    comparison whole, crops[CROPS];
    int crop_count;
} photo;

static bool complain(const char *what) {
    fprintf(stderr, "photo: %s\n", what);
    return false;
}

static bool accept(rondo_status status) {
    char story[4096];
    if (!status) return true;
    rondo_fault_describe(status, story, sizeof story);
    return complain(story);
}

static bool clone(const picture *source, picture *out) {
    if (!picture_create(source->width, source->height, out)) return complain("out of memory");
    picture_paste(out, source, 0);
    return true;
}

static bool load(photo *self) {
    char error[PICTURE_ERROR_MAX];
    if (!picture_load(self->opts.in, &self->clean, error)) return complain(error);
    if (!output_open(self->opts.out, self->opts.in, &self->out, error)) return complain(error);
    if (!clone(&self->clean, &self->noisy) || !clone(&self->clean, &self->result)) return false;
    if (self->opts.noise > 0) noise_add(&self->noisy, self->opts.noise, self->opts.seed);
    const size_t bytes = (size_t)self->clean.width * self->clean.height * 3 * sizeof(float);
    self->room.eager = malloc(bytes);
    self->room.replayed = malloc(bytes);
    return self->room.eager && self->room.replayed ? true : complain("out of memory");
}

static bool open_device(photo *self) {
    const rondo_device_desc desc = {.workers = self->opts.workers};
    return accept(rondo_device_open(self->opts.device, &desc, &self->device)) &&
           accept(rondo_stream_create(self->device, &self->stream)) &&
           accept(denoise_kernels_init(&self->kernels, self->device));
}

static bool compare(photo *self, const picture *noisy, comparison *out) {
    return accept(compare_ways(&self->kernels, self->stream, noisy, self->opts.steps, self->room, out));
}

static bool compare_crop(photo *self, uint32_t size) {
    picture crop;
    if (size > self->noisy.width || size > self->noisy.height) return true;
    if (!picture_cut(&self->noisy, size, &crop)) return complain("out of memory");
    const bool ok = compare(self, &crop, &self->crops[self->crop_count++]);
    picture_finish(&crop);
    return ok;
}

/* The whole photo first: the crops use its room for samples again. */
static bool compute(photo *self) {
    if (!compare(self, &self->noisy, &self->whole)) return false;
    denoise_to_picture(self->room.replayed, &self->result);
    if (!self->opts.crops) return true;
    return compare_crop(self, 64) && compare_crop(self, 16) && compare_crop(self, 8);
}

static bool write_result(photo *self) {
    char error[PICTURE_ERROR_MAX];
    picture both;
    if (!picture_create(self->noisy.width * 2, self->noisy.height, &both)) return complain("out of memory");
    picture_paste(&both, &self->noisy, 0);
    picture_paste(&both, &self->result, self->noisy.width);
    const bool ok = output_write(&self->out, &both, error) || complain(error);
    picture_finish(&both);
    return ok;
}

static void report_quality(const photo *self) {
    if (self->opts.noise > 0) {
        printf("noise   sigma %g, seed %" PRIu64 "\n", self->opts.noise, self->opts.seed);
        printf("psnr    noisy %.2f dB, result %.2f dB\n", picture_psnr(&self->noisy, &self->clean),
               picture_psnr(&self->result, &self->clean));
    } else {
        printf("noise   none added, so there is no clean photo to compare with\n");
    }
}

static void report_row(const comparison *row) {
    char size[32];
    snprintf(size, sizeof size, "%" PRIu32 " x %" PRIu32, row->width, row->height);
    printf("%-12s %12.2f %12.2f %12.3f %12.3f %8.3f %6" PRIu64 " %12" PRIu64 "  %s\n", size, row->eager_ns / 1e3,
           row->replayed_ns / 1e3, row->eager_ns / 1e3 / DENOISE_LAUNCHES, row->replayed_ns / 1e3 / DENOISE_LAUNCHES,
           row->replayed_ns / row->eager_ns, row->graph.nodes, row->graph.device_bytes, row->equal ? "yes" : "NO");
}

/* Times are microseconds: medians over blocks of eager and replayed steps in turns. */
static void report(const photo *self) {
    printf("photo   %s, %" PRIu32 " x %" PRIu32 ", %" PRIu64 " steps of %d launches on %s\n", self->opts.in,
           self->clean.width, self->clean.height, self->opts.steps, DENOISE_LAUNCHES, self->opts.device);
    report_quality(self);
    printf("result  %s: noisy left, result right\n\n", self->opts.out);
    printf("%-12s %12s %12s %12s %12s %8s %6s %12s  %s\n", "", "eager us", "replayed us", "eager us", "replayed us",
           "replayed", "graph", "pinned", "equal to");
    printf("%-12s %12s %12s %12s %12s %8s %6s %12s  %s\n", "picture", "a step", "a step", "a launch", "a launch",
           "/ eager", "nodes", "bytes", "the bit");
    report_row(&self->whole);
    for (int i = 0; i < self->crop_count; i++) report_row(&self->crops[i]);
}

static bool all_equal(const photo *self) {
    bool equal = self->whole.equal;
    for (int i = 0; i < self->crop_count; i++) equal = equal && self->crops[i].equal;
    return equal || complain("eager and replayed results differ");
}

static void finish(photo *self) {
    denoise_kernels_finish(&self->kernels);
    rondo_stream_release(self->stream);
    rondo_device_release(self->device);
    free(self->room.eager);
    free(self->room.replayed);
    picture_finish(&self->clean);
    picture_finish(&self->noisy);
    picture_finish(&self->result);
    output_close(&self->out);
}

int main(int argc, char **argv) {
    photo self = {0};
    options_parse(argc, argv, &self.opts);
    bool ok = load(&self) && open_device(&self) && compute(&self) && write_result(&self);
    if (ok) report(&self);
    ok = ok && all_equal(&self);
    if (fflush(stdout) != 0) ok = complain("stdout cannot be written");
    finish(&self);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
