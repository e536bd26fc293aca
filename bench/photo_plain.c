#include "photo_plain.h"

#include <math.h>
#include "photo.kernels.h"

/* As in the demo's denoise.c; the rows compare the results of both byte for byte. */
#define CHANNELS 3
#define STEP 0.02f
#define CONTRAST_FACTOR 0.6f
#define PULL 0.05f

static void call(rondo_native_fn kernel, rondo_grid grid, void *const *args) {
    const rondo_native_call all = {
        .args = args, .grid = {grid.x, grid.y, grid.z}, .first = 0, .last = grid.x * grid.y * grid.z, .failed = NULL};
    kernel(&all);
}

void photo_plain_step(const photo_plain *p) {
    uint32_t width = p->width, height = p->height;
    float factor = CONTRAST_FACTOR, step = STEP, pull = PULL;
    const rondo_grid rows = rondo_grid_1d(height);
    call(photo_strength_native, rows, (void *[]){p->image, p->strength, &width});
    call(photo_sum_rows_native, rows, (void *[]){p->strength, p->sums, &width});
    call(photo_contrast_native, rondo_grid_1d(1), (void *[]){p->sums, p->contrast, &height, &width, &factor});
    call(photo_flux_native, rows, (void *[]){p->image, p->strength, p->contrast, p->flux_x, p->flux_y, &width});
    call(photo_update_native, rondo_grid_2d(height, CHANNELS),
         (void *[]){p->image, p->noisy, p->flux_x, p->flux_y, &width, &step, &pull});
}
