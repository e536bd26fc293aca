/* Internal assertions and the propagation macro.
 *
 * RDO_ASSERT states what must hold whatever a user does; it is compiled in debug builds only and is
 * never used on user input, which is refused with a status instead. */
#ifndef RDO_BASE_CHECK_H
#define RDO_BASE_CHECK_H

#include <stdbool.h>

#include <rondo/status.h>

#ifndef RDO_CHECKS
#define RDO_CHECKS 0
#endif

#if RDO_CHECKS
/* Prints the broken statement and stops the process: going on would break a promise in silence. */
_Noreturn void rdo_assert_failed(const char *statement, const char *file, int line);
#define RDO_ASSERT(statement) ((statement) ? (void)0 : rdo_assert_failed(#statement, __FILE__, __LINE__))
#else
#define RDO_ASSERT(statement) ((void)sizeof(!(statement)))
#endif

/* RDO_NEVER: what cannot happen, and is dealt with all the same, at the place where that is cheap. Debug builds stop
 * there, and a measurement of coverage leaves it out, since no test can reach it. The statement may have no effect. */
#if RDO_CHECKS
#define RDO_NEVER(statement) ((statement) ? (rdo_assert_failed("never: " #statement, __FILE__, __LINE__), true) : false)
#elif defined(RDO_COVERAGE) && RDO_COVERAGE
#define RDO_NEVER(statement) (sizeof(!(statement)) == 0)
#else
#define RDO_NEVER(statement) __builtin_expect(!!(statement), 0)
#endif

/* RDO_CHANCE: true or false as another thread or the clock wills, where no test can choose. It changes nothing; a
 * measurement of coverage does not ask for both answers. */
#define RDO_CHANCE(statement) (statement)

/* Returns a failed status to the caller at once. */
#define RDO_TRY(expression)                                                                        \
    do {                                                                                           \
        rondo_status rdo_try_status_ = (expression);                                               \
        if (rdo_try_status_ != RONDO_OK) return rdo_try_status_;                                   \
    } while (0)

#define RDO_LIKELY(x) __builtin_expect(!!(x), 1)
#define RDO_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* For the few functions of the hot paths where the compiler decides otherwise: in line though large, out of line though
 * called from one place only. */
#define RDO_IN_LINE static inline __attribute__((always_inline))
#define RDO_OUT_OF_LINE static __attribute__((noinline))

#endif
