/* Running the same step eagerly and as a graph: are the results the same, and what does each cost. */
#ifndef PHOTO_MEASURE_H
#define PHOTO_MEASURE_H

#include "denoise.h"

/* What both ways gave on one picture. */
typedef struct comparison {
    uint32_t width, height;
    uint64_t sample_bytes;  /* of each of the two results */
    bool equal;             /* every byte of them */
    rondo_graph_info graph;
    double eager_ns, replayed_ns; /* of one step, medians */
} comparison;

/* Room for the samples of the largest picture, once a way. */
typedef struct samples {
    float *eager, *replayed;
} samples;

/* Denoises `noisy` in `steps` steps twice, eagerly and by replay, into `room`; compares, then measures. */
rondo_status compare_ways(const denoise_kernels *kernels, rondo_stream *stream, const picture *noisy, uint64_t steps,
                          samples room, comparison *out);

#endif
