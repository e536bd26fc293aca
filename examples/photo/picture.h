/* Pictures: 8-bit RGB, read from and written to PNG files. */
#ifndef PHOTO_PICTURE_H
#define PHOTO_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Rows from the top, three bytes a pixel, no padding. A zeroed picture is empty. */
typedef struct picture {
    uint32_t width, height;
    uint8_t *rgb;
} picture;

#define PICTURE_ERROR_MAX 512

/* Reads any PNG; grey, palette, 16-bit and transparent ones (over black) become 8-bit RGB.
 * On failure *out is empty and `error` says why, the path included. */
bool picture_load(const char *path, picture *out, char error[PICTURE_ERROR_MAX]);

bool picture_create(uint32_t width, uint32_t height, picture *out);
void picture_finish(picture *pic);

/* Cuts a square of `size` out of the middle; the picture must have it. */
bool picture_cut(const picture *source, uint32_t size, picture *out);

/* Copies `source` into `target` with its left column at `left`. */
void picture_paste(picture *target, const picture *source, uint32_t left);

/* Peak signal to noise ratio of two pictures of one size in decibels; infinite if they are equal. */
double picture_psnr(const picture *a, const picture *b);

/* An output file that is opened before the long work, so that an unwritable path shows at once. What it holds
 * is kept until the picture is written, and a file that did not exist is removed if none is. */
typedef struct output {
    const char *path;
    FILE *file;
    bool created;
} output;

/* Refuses a directory and the input file itself. */
bool output_open(const char *path, const char *input_path, output *out, char error[PICTURE_ERROR_MAX]);
bool output_write(output *out, const picture *pic, char error[PICTURE_ERROR_MAX]);
void output_close(output *out);

#endif
