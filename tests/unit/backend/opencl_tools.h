/* What the tests of the OpenCL backend on the stand-in share: kernels, a bench, and launches of a recording. */
#ifndef OPENCL_TOOLS_H
#define OPENCL_TOOLS_H

#include <rondo/rondo.h>

#include "backend/opencl/opencl.h"
#include "backend/opencl/parts.h"
#include "backend_tools.h"
#include "opencl_stub.h"

enum { ITEMS = 64 };

static const rondo_param add_params[] = {
    {"x", RONDO_PARAM_IN, 4, 4, false}, {"y", RONDO_PARAM_OUT, 4, 4, false}, {"k", RONDO_PARAM_VALUE, 4, 4, false}};
static const rondo_param fail_params[] = {{"y", RONDO_PARAM_INOUT, 4, 4, false},
                                          {"reason", RONDO_PARAM_VALUE, 4, 4, false}};

static inline rondo_kernel_desc add_desc(void) {
    return (rondo_kernel_desc){.name = STUB_ADD, .params = add_params, .param_count = 3,
                               .source = "# include <rondo/kernel_lang.h>\n" STUB_ADD "\n"};
}

static inline rondo_kernel_desc fail_desc(void) {
    return (rondo_kernel_desc){.name = STUB_FAIL, .params = fail_params, .param_count = 2, .can_fail = true,
                               .source = "#include <rondo/kernel_lang.h>\n" STUB_FAIL "\n"};
}

static inline rondo_kernel_desc plain_desc(void) {
    return (rondo_kernel_desc){.name = STUB_PLAIN, .params = add_params, .param_count = 3,
                               .source = "__kernel void " STUB_PLAIN "(...)\n"};
}

static inline void open_with(struct bench *bench, uint32_t svm) {
    opencl_stub_install(svm);
    open_bench(bench, &rdo_backend_opencl, NULL);
}

static inline void close_clean(struct bench *bench) {
    close_bench(bench);
    assert_int_equal(opencl_stub_live(), 0);
}

static inline void *load(struct bench *bench, rondo_kernel_desc desc) {
    void *kernel = NULL;
    assert_int_equal(rdo_backend_opencl.kernel_load(bench->device, &desc, &kernel, &bench->outcome),
                     RONDO_BACKEND_DONE);
    return kernel;
}

static inline void write_numbers(struct bench *bench) {
    int32_t numbers[1024];
    for (int32_t i = 0; i < 1024; i++) numbers[i] = i;
    write_page(bench, numbers, sizeof numbers);
}

static inline void expect_number(struct bench *bench, uint64_t index, int32_t expected) {
    int32_t numbers[1024];
    read_page(bench, numbers, sizeof numbers);
    assert_int_equal(numbers[index], expected);
}

enum { MOST_NODES = 6 };

struct recording {
    rondo_backend_op ops[MOST_NODES];
    rondo_place places[MOST_NODES][3];
    const void *values[MOST_NODES][3];
    int32_t k[MOST_NODES];
    uint32_t reason;
    int host_calls;
};

static inline void put_add(struct bench *bench, struct recording *r, int at, void *kernel, uint64_t x, uint64_t y,
                           int32_t k) {
    r->k[at] = k;
    r->places[at][0] = place_at(bench, x);
    r->places[at][1] = place_at(bench, y);
    r->values[at][2] = &r->k[at];
    r->ops[at] = (rondo_backend_op){.kind = RONDO_OP_LAUNCH, .kernel = kernel, .grid = rondo_grid_1d(1),
                                    .arg_count = 3, .places = r->places[at], .values = r->values[at]};
}

static inline rondo_backend_result replay_part(struct bench *bench, void *graph, uint64_t first, uint64_t last) {
    return rdo_backend_opencl.graph_submit(bench->queue, graph, first, last, &bench->outcome);
}

static inline rondo_backend_result replay(struct bench *bench, void *graph, uint64_t count) {
    return replay_part(bench, graph, 0, count);
}

#endif
