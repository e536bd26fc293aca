/* A stand-in for the OpenCL library: one device whose commands run at once, on which any call can be made to fail, and
 * which knows what was not given back. Kernels are known by their names; texts are only searched for these. */
#ifndef OPENCL_STUB_H
#define OPENCL_STUB_H

#include <stdbool.h>
#include <stdint.h>

/* What the device offers of shared virtual memory. */
enum { STUB_BUFFERS = 0, STUB_COARSE = 1, STUB_FINE = 3, STUB_SYSTEM = 7 };

/* y[i] = x[i] + k for the grid: parameters IN x, OUT y, VALUE k (int32_t), in the kernel language. */
#define STUB_ADD "stub_add"
/* y[i] += 1, or fails for the reason: parameters INOUT y, VALUE reason, in the kernel language. */
#define STUB_FAIL "stub_fail"
/* The same as STUB_ADD, as plain OpenCL C. */
#define STUB_PLAIN "stub_plain"

struct opencl_stub {
    bool no_library;
    const char *missing;    /* name of a call that the library lacks */
    int32_t platforms, devices;
    uint32_t svm;
    bool unavailable, no_compiler, refuses_binaries, gives_no_binary;
    const char *build_log;  /* not NULL: texts do not compile */
    int32_t end_commands;   /* not 0: commands end with this error */
    uint64_t max_group;
    uint64_t fail_at;       /* this call, counted from 1, fails; 0: none */
    bool lasting;           /* and all after it */
    uint64_t calls, strikes;
    const char *first_struck;
    uint64_t compiled, from_binary, enqueued, waits; /* how often */
    uint64_t last_global[3], last_local[3];
    uint32_t last_dimensions;
    bool last_any_local;
    char last_text[131072]; /* that a program was made of */
};
extern struct opencl_stub opencl_stub;

/* Puts the stand-in in place of the library, with one good device that has `svm`. */
void opencl_stub_install(uint32_t svm);
/* Objects and pages that were made and not given back. */
uint64_t opencl_stub_live(void);
/* Names of all calls, NULL past the last. */
const char *opencl_stub_call(uint32_t index);

#endif
