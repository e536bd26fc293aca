#include "must.h"

#include <stdio.h>
#include <stdlib.h>

void bench_must(rondo_status status, const char *what) {
    if (status == RONDO_OK) return;
    rondo_fault fault;
    const char *text = rondo_fault_get(status, &fault) == RONDO_OK ? fault.message : "";
    fprintf(stderr, "bench: %s: %s %s\n", what, rondo_code_name(rondo_status_code(status)), text);
    exit(1);
}
