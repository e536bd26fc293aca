/* What each backend of Rondo's own offers to the suite, and which cases it does not pass. */
#include "conform.h"

#define EVERYTHING (NEEDS_KERNELS | NEEDS_MAP | NEEDS_IMPORT | NEEDS_NATIVE | NEEDS_CAPS | NEEDS_FAILURES)

static const struct conform_exclusion nothing[] = {{NULL, NULL}};

#define NO_DRIVER_IN_A_CHILD                                                                                           \
    "the threads of drivers do not live on in a forked child, and so it is told that the device is not available"

static const struct conform_exclusion never_on_opencl[] = {
    {"a_child_may_open_a_device_of_its_own", NO_DRIVER_IN_A_CHILD},
    {"a_process_may_exit_with_everything_open", NO_DRIVER_IN_A_CHILD},
    {"failures_are_not_printed", NO_DRIVER_IN_A_CHILD},
    {NULL, NULL},
};

static const struct conform_backend backends[] = {
    {"cpu", EVERYTHING, "its calls cannot be made to fail", nothing, nothing},
    {"opencl", EVERYTHING & ~(uint32_t)(NEEDS_NATIVE | NEEDS_IMPORT),
     "kernels are compiled from text, memory that the caller owns is not the device's, calls cannot be made to fail",
     never_on_opencl, nothing},
    {"sim", EVERYTHING | NEEDS_FAULTS, "", nothing, nothing},
    {"null", NEEDS_CAPS, "it runs no kernels, the host cannot reach its memory, and its calls cannot be made to fail",
     nothing, nothing},
};

static const struct conform_backend unknown = {"", EVERYTHING, "its calls cannot be made to fail", nothing, nothing};

const struct conform_backend *conform_backend_find(const char *name) {
    size_t length = strcspn(name, ":");
    for (size_t i = 0; i < sizeof backends / sizeof backends[0]; i++) {
        if (strlen(backends[i].name) == length && strncmp(backends[i].name, name, length) == 0) {
            return &backends[i];
        }
    }
    return &unknown;
}
