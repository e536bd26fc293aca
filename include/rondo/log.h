/* Logging. Rondo is silent unless asked [E4]. */
#ifndef RONDO_LOG_H
#define RONDO_LOG_H

#include <rondo/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum rondo_log_level { RONDO_LOG_ERROR = 1, RONDO_LOG_WARNING = 2, RONDO_LOG_INFO = 3 } rondo_log_level;

/* One line, without a newline. `item` is a stable number per kind of message; `status` is the status that the
 * message is about, RONDO_OK if none. Called with no lock of Rondo's held. */
typedef void (*rondo_log_fn)(void *user, rondo_log_level level, uint32_t item, rondo_status status,
                             const char *text);

#define RONDO_LOG_ITEM_FAILURE 1   /* a call failed */
#define RONDO_LOG_ITEM_FALLBACK 2  /* rondo_run could not seal and ran eagerly */
#define RONDO_LOG_ITEM_REFUSED 3   /* a window closed without a graph */

/* Sets the logger of the process, NULL for none, and the most detailed level that it gets.
 * Threads  any; messages under way on other threads may still reach the old logger. */
RONDO_API void rondo_log_set(rondo_log_fn logger, void *user, rondo_log_level level);

#ifdef __cplusplus
}
#endif
#endif
