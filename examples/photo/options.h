/* The command line of the photo example. */
#ifndef PHOTO_OPTIONS_H
#define PHOTO_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct options {
    const char *in, *out, *device;
    uint64_t steps;
    double noise; /* standard deviation in grey levels of 255; 0: the picture is noisy already */
    uint64_t seed;
    uint32_t workers; /* 0: all cores */
    bool crops;
} options;

/* Ends the program with status 1 and a message if a value makes no sense. */
void options_parse(int argc, char **argv, options *out);

#endif
