/* Every refusal ends the process. */
#ifndef BENCH_MUST_H
#define BENCH_MUST_H

#include <rondo/rondo.h>

#define MUST(call) bench_must((call), #call)
void bench_must(rondo_status status, const char *what);

#endif
