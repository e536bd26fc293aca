/* The photo demo's own step, replayed, beside the same kernels called in a row. */
#include <stdlib.h>
#include <string.h>
#include "denoise.h"
#include "photo_plain.h"
#include "player.h"

enum { SIDE = 512, CHECKED_STEPS = 3 };

typedef struct scene {
    denoise work;
    rondo_graph *graph;
    photo_plain plain;
} scene;

static void run_replay(void *user, uint64_t steps) {
    scene *s = user;
    for (uint64_t step = 0; step < steps; step++) MUST(rondo_graph_replay(s->graph, s->work.stream));
    MUST(rondo_stream_sync(s->work.stream));
}

static void run_plain(void *user, uint64_t steps) {
    const scene *s = user;
    for (uint64_t step = 0; step < steps; step++) photo_plain_step(&s->plain);
}

static void make_picture(picture *out) {
    uint32_t state = 2463534242u;
    size_t bytes = (size_t)SIDE * SIDE * 3;
    out->width = out->height = SIDE;
    out->rgb = malloc(bytes);
    if (out->rgb == NULL) bench_fail("there is no memory");
    for (size_t i = 0; i < bytes; i++) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        out->rgb[i] = (uint8_t)((i / 3 / SIDE + i / 3 % SIDE) / 8 + state % 64);
    }
}

static void make_plain(scene *s, const picture *noisy) {
    const size_t plane = (size_t)SIDE * SIDE, samples = plane * 3;
    float *arena = bench_alloc((samples * 4 + plane + SIDE + 1024) * sizeof(float));
    s->plain = (photo_plain){SIDE, SIDE, arena, arena + samples, arena + samples * 4, arena + samples * 4 + plane,
                             arena + samples * 4 + plane + SIDE, arena + samples * 2, arena + samples * 3};
    for (size_t i = 0; i < samples; i++) s->plain.noisy[i] = noisy->rgb[i % plane * 3 + i / plane];
    memcpy(s->plain.image, s->plain.noisy, samples * sizeof(float));
}

/* The recording has run the step once already. */
static void check(scene *s) {
    const size_t samples = denoise_sample_count(&s->work);
    float *result = malloc(samples * sizeof(float));
    if (result == NULL) bench_fail("there is no memory");
    run_replay(s, CHECKED_STEPS - 1);
    run_plain(s, CHECKED_STEPS);
    MUST(denoise_read(&s->work, result));
    if (memcmp(result, s->plain.image, samples * sizeof(float)) != 0) bench_fail("the two photos differ");
    free(result);
}

void bench_rows_photo(void) {
    if (!bench_wants("photo/")) return;
    static scene s;
    static denoise_kernels kernels;
    picture noisy;
    bench_player *player = bench_player_get();
    make_picture(&noisy);
    make_plain(&s, &noisy);
    MUST(denoise_kernels_init(&kernels, player->device));
    MUST(denoise_init(&s.work, &kernels, player->stream, &noisy));
    MUST(denoise_restart(&s.work));
    MUST(rondo_capture_step(player->stream, denoise_step, &s.work, &s.graph));
    check(&s);
    bench.wants_two_cores = true;
    bench_compare("photo/step of 512 x 512", (bench_side){run_replay, &s, 1}, (bench_side){run_plain, &s, 1});
    bench.wants_two_cores = false;
    rondo_graph_release(s.graph);
    denoise_finish(&s.work);
    denoise_kernels_finish(&kernels);
    free(noisy.rgb);
}
