#define _GNU_SOURCE
#include "options.h"

#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#ifndef PHOTO_DEFAULT_IN
#define PHOTO_DEFAULT_IN "astronaut.png"
#endif
#define STEPS_MAX 10000000
#define WORKERS_MAX 1024

enum { KEY_CROPS = 256, KEY_NO_CROPS, KEY_SEED, KEY_DEVICE };

static const struct argp_option table[] = {
    {"in", 'i', "FILE", 0, "Photo to read, PNG [" PHOTO_DEFAULT_IN "]", 0},
    {"out", 'o', "FILE", 0, "Picture to write, PNG: noisy left, result right [photo-out.png]", 0},
    {"steps", 's', "N", 0, "Time steps, 1 to 10000000 [500]", 0},
    {"noise", 'n', "SIGMA", 0, "Noise to add, in grey levels, 0 to 255; 0 if the photo is noisy already [25]", 0},
    {"crops", KEY_CROPS, NULL, 0, "Measure crops of 64, 16 and 8 pixels square too (the default)", 0},
    {"no-crops", KEY_NO_CROPS, NULL, 0, "Leave the crops out", 0},
    {"seed", KEY_SEED, "N", 0, "Seed of the noise [1]", 0},
    {"device", KEY_DEVICE, "NAME", 0, "Device to compute on, such as opencl; `rondo info` lists them [cpu]", 0},
    {"workers", 'w', "N", 0, "Threads that share a large launch, 1 to 1024 [all cores]", 0},
    {0},
};

static uint64_t parse_count(struct argp_state *state, const char *name, const char *text, uint64_t low,
                            uint64_t high) {
    char *end = NULL;
    errno = 0;
    const unsigned long long value = strtoull(text, &end, 10);
    const bool is_number = text[0] >= '0' && text[0] <= '9' && *end == '\0';
    if (!is_number || errno || value < low || value > high) {
        argp_error(state, "--%s: '%s' is no whole number from %llu to %llu", name, text, (unsigned long long)low,
                   (unsigned long long)high);
    }
    return value;
}

static double parse_noise(struct argp_state *state, const char *text) {
    char *end = NULL;
    const double value = strtod(text, &end);
    /* Written so that "nan" is refused too. */
    if (end == text || *end != '\0' || !(value >= 0 && value <= 255)) {
        argp_error(state, "--noise: '%s' is no number from 0 to 255", text);
    }
    return value;
}

static error_t parse_option(int key, char *arg, struct argp_state *state) {
    options *opts = state->input;
    switch (key) {
    case 'i': opts->in = arg; return 0;
    case 'o': opts->out = arg; return 0;
    case 's': opts->steps = parse_count(state, "steps", arg, 1, STEPS_MAX); return 0;
    case 'n': opts->noise = parse_noise(state, arg); return 0;
    case 'w': opts->workers = (uint32_t)parse_count(state, "workers", arg, 1, WORKERS_MAX); return 0;
    case KEY_SEED: opts->seed = parse_count(state, "seed", arg, 0, UINT64_MAX); return 0;
    case KEY_DEVICE: opts->device = arg; return 0;
    case KEY_CROPS: opts->crops = true; return 0;
    case KEY_NO_CROPS: opts->crops = false; return 0;
    case ARGP_KEY_ARG: argp_error(state, "'%s' is not expected; name files with --in and --out", arg); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

void options_parse(int argc, char **argv, options *out) {
    static const struct argp parser = {
        table, parse_option, NULL,
        "Adds noise to a photo and removes it by edge-preserving diffusion, once launch by launch and once by "
        "replaying a graph; compares the two results bit by bit and the two speeds.",
        NULL, NULL, NULL};
    *out = (options){
        .in = PHOTO_DEFAULT_IN, .out = "photo-out.png", .device = "cpu", .steps = 500, .noise = 25, .seed = 1,
        .crops = true};
    argp_err_exit_status = EXIT_FAILURE;
    argp_parse(&parser, argc, argv, 0, NULL, out);
}
