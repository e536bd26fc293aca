#define _GNU_SOURCE
#include "progress.h"

#include <stdio.h>
#include <unistd.h>

#define BAR_WIDTH 40

void progress_show(const char *what, uint64_t done, uint64_t total) {
    static const char full[BAR_WIDTH + 1] = "########################################";
    static const char empty[BAR_WIDTH + 1] = "........................................";
    const uint64_t every = total / 200 + 1;
    if (!isatty(STDERR_FILENO) || (done % every != 0 && done != total)) return;
    const int filled = (int)(done * BAR_WIDTH / total);
    fprintf(stderr, "\r%-9s [%.*s%.*s] %llu/%llu", what, filled, full, BAR_WIDTH - filled, empty,
            (unsigned long long)done, (unsigned long long)total);
    fflush(stderr);
}

void progress_clear(void) {
    if (isatty(STDERR_FILENO)) fprintf(stderr, "\r\033[K");
}
