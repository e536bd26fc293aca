#include "base/check.h"

#include <stdio.h>
#include <stdlib.h>

#if RDO_CHECKS
_Noreturn void rdo_assert_failed(const char *statement, const char *file, int line) {
    (void)fprintf(stderr, "rondo: %s:%d: this must hold: %s\n", file, line, statement);
    abort();
}
#else
typedef int rdo_check_is_not_empty;
#endif
