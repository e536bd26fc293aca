#define _GNU_SOURCE
#include "picture.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Pixels of the largest picture: its working set is then some 3 GiB. */
#define PIXELS_MAX (UINT64_C(1) << 26)

static bool explain(char error[PICTURE_ERROR_MAX], const char *path, const char *why) {
    snprintf(error, PICTURE_ERROR_MAX, "%s: %s", path, why);
    return false;
}

bool picture_create(uint32_t width, uint32_t height, picture *out) {
    memset(out, 0, sizeof *out);
    out->rgb = calloc((size_t)width * height, 3);
    if (!out->rgb) return false;
    out->width = width;
    out->height = height;
    return true;
}

void picture_finish(picture *pic) {
    free(pic->rgb);
    memset(pic, 0, sizeof *pic);
}

/* libpng's own words for these two are "Is a directory" at the first read and "Read Error". */
static bool is_plain_file(const char *path, char error[PICTURE_ERROR_MAX]) {
    struct stat st;
    if (stat(path, &st) != 0) return explain(error, path, strerror(errno));
    if (S_ISDIR(st.st_mode)) return explain(error, path, "is a directory");
    if (S_ISREG(st.st_mode) && st.st_size == 0) return explain(error, path, "is empty");
    return true;
}

static bool finish_read(png_image *reader, const char *path, picture *out, char error[PICTURE_ERROR_MAX]) {
    const png_color black = {0, 0, 0};
    if ((uint64_t)reader->width * reader->height > PIXELS_MAX) return explain(error, path, "is too large");
    if (!picture_create(reader->width, reader->height, out)) return explain(error, path, strerror(ENOMEM));
    reader->format = PNG_FORMAT_RGB;
    if (png_image_finish_read(reader, &black, out->rgb, 0, NULL)) return true;
    picture_finish(out);
    return explain(error, path, reader->message);
}

bool picture_load(const char *path, picture *out, char error[PICTURE_ERROR_MAX]) {
    png_image reader;
    memset(out, 0, sizeof *out);
    memset(&reader, 0, sizeof reader);
    reader.version = PNG_IMAGE_VERSION;
    if (!is_plain_file(path, error)) return false;
    if (!png_image_begin_read_from_file(&reader, path)) return explain(error, path, reader.message);
    const bool ok = finish_read(&reader, path, out, error);
    png_image_free(&reader);
    return ok;
}

bool picture_cut(const picture *source, uint32_t size, picture *out) {
    const uint32_t left = (source->width - size) / 2, top = (source->height - size) / 2;
    if (!picture_create(size, size, out)) return false;
    for (uint32_t y = 0; y < size; y++) {
        memcpy(out->rgb + (size_t)y * size * 3, source->rgb + ((size_t)(top + y) * source->width + left) * 3,
               (size_t)size * 3);
    }
    return true;
}

void picture_paste(picture *target, const picture *source, uint32_t left) {
    for (uint32_t y = 0; y < source->height; y++) {
        memcpy(target->rgb + ((size_t)y * target->width + left) * 3, source->rgb + (size_t)y * source->width * 3,
               (size_t)source->width * 3);
    }
}

double picture_psnr(const picture *a, const picture *b) {
    const size_t count = (size_t)a->width * a->height * 3;
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        const double difference = (double)a->rgb[i] - (double)b->rgb[i];
        sum += difference * difference;
    }
    return 10 * log10(255.0 * 255.0 * (double)count / sum);
}

static bool refuse_output(output *out, char error[PICTURE_ERROR_MAX], const char *why) {
    explain(error, out->path, why);
    output_close(out);
    return false;
}

static bool is_same_file(int fd, const char *path) {
    struct stat a, b;
    return fstat(fd, &a) == 0 && stat(path, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool output_open(const char *path, const char *input_path, output *out, char error[PICTURE_ERROR_MAX]) {
    memset(out, 0, sizeof *out);
    out->path = path;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    out->created = fd >= 0;
    if (fd < 0 && errno == EEXIST) fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return refuse_output(out, error, strerror(errno));
    if (is_same_file(fd, input_path)) {
        close(fd);
        return refuse_output(out, error, "is the input, which would be overwritten");
    }
    out->file = fdopen(fd, "wb");
    if (out->file) return true;
    close(fd);
    return refuse_output(out, error, strerror(ENOMEM));
}

bool output_write(output *out, const picture *pic, char error[PICTURE_ERROR_MAX]) {
    png_image writer;
    memset(&writer, 0, sizeof writer);
    writer.version = PNG_IMAGE_VERSION;
    writer.width = pic->width;
    writer.height = pic->height;
    writer.format = PNG_FORMAT_RGB;
    /* A device or a pipe has no length to cut. */
    if (ftruncate(fileno(out->file), 0) != 0 && errno != EINVAL) return refuse_output(out, error, strerror(errno));
    if (!png_image_write_to_stdio(&writer, out->file, 0, pic->rgb, 0, NULL)) {
        return refuse_output(out, error, writer.message);
    }
    const bool flushed = fclose(out->file) == 0;
    out->file = NULL;
    if (!flushed) return refuse_output(out, error, strerror(errno));
    out->created = false;
    return true;
}

void output_close(output *out) {
    if (out->file) fclose(out->file);
    if (out->created) unlink(out->path);
    memset(out, 0, sizeof *out);
}
