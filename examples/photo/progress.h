/* A progress bar on stderr, drawn only if that is a terminal. */
#ifndef PHOTO_PROGRESS_H
#define PHOTO_PROGRESS_H

#include <stdint.h>

void progress_show(const char *what, uint64_t done, uint64_t total);
void progress_clear(void);

#endif
