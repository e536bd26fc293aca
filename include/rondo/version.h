/* The version of Rondo: semantic versioning, from 0.1 on. */
#ifndef RONDO_VERSION_H
#define RONDO_VERSION_H

#include <rondo/status.h>

#define RONDO_VERSION_MAJOR 0
#define RONDO_VERSION_MINOR 1
#define RONDO_VERSION_PATCH 0
#define RONDO_VERSION_STRING "0.1.0"

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library that is linked: major * 1000000 + minor * 1000 + patch. */
RONDO_API uint32_t rondo_version(void);

/* "0.1.0". Owner  static text. */
RONDO_API const char *rondo_version_string(void);

#ifdef __cplusplus
}
#endif
#endif
