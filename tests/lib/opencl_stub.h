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

/* What the device offers in command buffers. */
enum stub_recording {
    STUB_RECORDS_NOTHING,
    STUB_RECORDS,
    STUB_RECORDS_AND_CHANGES,     /* also cl_khr_command_buffer_mutable_dispatch */
    STUB_CHANGES_OF_OLD,          /* that, in a version whose call took other parameters */
    STUB_RECORDS_LATE_ARGUMENTS,  /* looks at arguments when a recording is enqueued, as PoCL 3.1 does */
    STUB_RECORDS_ONE_REPLAY,      /* enqueued again, a recording does nothing */
    STUB_RECORDS_FOR_EVER,        /* keeps old values although it says that it can change them */
    STUB_LACKS_A_CALL             /* says that it records, and lacks the call that finalizes */
};

struct opencl_stub {
    bool no_library;
    const char *missing;    /* name of a call that the library lacks */
    int32_t platforms, devices;
    uint32_t svm;
    bool unavailable, no_compiler, refuses_binaries, gives_no_binary;
    const char *build_log;  /* not NULL: texts do not compile */
    int32_t end_commands;   /* not 0: commands end with this error */
    uint64_t max_group;
    enum stub_recording recording;
    uint64_t launch_ns, recording_ns; /* what enqueueing a launch or a recording takes on the stand-in's clock */
    uint64_t now_ns;
    void (*on_wait)(void *user); /* called once, by the next that waits for an event, before anything has ended */
    void *on_wait_user;
    uint64_t fail_at;       /* this call, counted from 1, fails; 0: none */
    bool lasting;           /* and all after it */
    uint64_t calls, strikes;
    const char *first_struck;
    uint64_t compiled, from_binary, enqueued, waits; /* how often */
    uint64_t recorded, enqueued_recordings, changed;
    uint64_t mapped; /* buffers that are mapped now */
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
/* Names of all calls of the library, NULL past the last. */
const char *opencl_stub_call(uint32_t index);
/* Names of all calls of extensions, NULL past the last. */
const char *opencl_stub_extension(uint32_t index);

#endif
