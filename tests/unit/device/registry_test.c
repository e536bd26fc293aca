/* Backends that others bring: what the registry takes, and what it refuses. Nothing here is ever opened. */
#include "device/registry.h"
#include "unit.h"

#include <rondo/rondo.h>

static bool probe(uint32_t index, rondo_device_entry *out_entry) {
    (void)index;
    (void)out_entry;
    return false;
}
static rondo_backend_result open_device(uint32_t index, const rondo_device_desc *desc, void **out_device,
                                        rondo_backend_outcome *outcome) {
    (void)index;
    (void)desc;
    (void)outcome;
    *out_device = NULL;
    return RONDO_BACKEND_NO_SUPPORT;
}
static void take(void *device) {
    (void)device;
}
static void info(void *device, rondo_device_info *out_info) {
    (void)device;
    memset(out_info, 0, sizeof *out_info);
}
static rondo_backend_result page_alloc(void *device, rondo_page_kind kind, uint64_t size_bytes, void **out_page) {
    (void)device;
    (void)kind;
    (void)size_bytes;
    *out_page = NULL;
    return RONDO_BACKEND_NO_MEMORY;
}
static void page_free(void *device, rondo_page_kind kind, void *page, uint64_t size_bytes) {
    (void)device;
    (void)kind;
    (void)page;
    (void)size_bytes;
}
static rondo_backend_result page_import(void *device, void *data, uint64_t size_bytes, void **out_page) {
    (void)device;
    (void)data;
    (void)size_bytes;
    *out_page = NULL;
    return RONDO_BACKEND_NO_SUPPORT;
}
static void page_unimport(void *device, void *page, uint64_t size_bytes) {
    (void)device;
    (void)page;
    (void)size_bytes;
}
static void *host_address(void *device, void *page) {
    (void)device;
    return page;
}
static rondo_backend_result kernel_load(void *device, const rondo_kernel_desc *desc, void **out_kernel,
                                        rondo_backend_outcome *outcome) {
    (void)device;
    (void)desc;
    (void)outcome;
    *out_kernel = NULL;
    return RONDO_BACKEND_NO_SUPPORT;
}
static void two(void *device, void *object) {
    (void)device;
    (void)object;
}
static rondo_backend_result queue_open(void *device, uint32_t index, void **out_queue) {
    (void)device;
    (void)index;
    *out_queue = NULL;
    return RONDO_BACKEND_NO_MEMORY;
}
static rondo_backend_result submit(void *queue, const rondo_backend_op *op, rondo_backend_outcome *outcome) {
    (void)queue;
    (void)op;
    (void)outcome;
    return RONDO_BACKEND_NOT_RUN;
}
static rondo_backend_result graph_build(void *device, const rondo_backend_nodes *nodes,
                                         const rondo_backend_edges *edges, void **out_graph) {
    (void)device;
    (void)edges;
    (void)nodes;
    *out_graph = NULL;
    return RONDO_BACKEND_NOT_RUN;
}
static rondo_backend_result graph_submit(void *queue, void *graph, uint64_t first, uint64_t last,
                                         rondo_backend_outcome *outcome) {
    (void)queue;
    (void)graph;
    (void)first;
    (void)last;
    (void)outcome;
    return RONDO_BACKEND_NOT_RUN;
}
static void graph_set_value(void *graph, uint64_t node, uint32_t param, const void *value) {
    (void)graph;
    (void)node;
    (void)param;
    (void)value;
}

static const rondo_backend whole = {.name = "whole",
                                    .version = RONDO_BACKEND_VERSION,
                                    .probe = probe,
                                    .open = open_device,
                                    .close = take,
                                    .info = info,
                                    .page_alloc = page_alloc,
                                    .page_free = page_free,
                                    .page_import = page_import,
                                    .page_unimport = page_unimport,
                                    .host_address = host_address,
                                    .kernel_load = kernel_load,
                                    .kernel_unload = two,
                                    .queue_open = queue_open,
                                    .queue_close = take,
                                    .submit = submit,
                                    .graph_build = graph_build,
                                    .graph_submit = graph_submit,
                                    .graph_set_value = graph_set_value,
                                    .graph_free = two};

static void expect_refusal(const rondo_backend *backend, rondo_code code, const char *words) {
    rondo_status status = rondo_backend_register(backend);
    rondo_fault fault;
    assert_int_equal(rondo_status_code(status), code);
    assert_int_equal(rondo_fault_get(status, &fault), RONDO_OK);
    if (strstr(fault.message, words) == NULL) fail_msg("\"%s\" does not say \"%s\"", fault.message, words);
    assert_null(rdo_registry_find("whole", 5));
}

/* [E2] The message names the function, so that who writes a backend need not search. */
static void a_backend_that_lacks_a_function_is_refused_by_name(void **state) {
    (void)state;
#define LACKS(member, words)                                                                                           \
    do {                                                                                                               \
        rondo_backend some = whole;                                                                                    \
        some.member = NULL;                                                                                            \
        expect_refusal(&some, RONDO_INVALID, words);                                                                   \
    } while (0)
    LACKS(probe, "lacks probe");
    LACKS(open, "lacks open");
    LACKS(close, "lacks close");
    LACKS(info, "lacks info");
    LACKS(page_alloc, "lacks page_alloc");
    LACKS(page_free, "lacks page_free");
    LACKS(page_import, "page_unimport");
    LACKS(page_unimport, "page_unimport");
    LACKS(host_address, "lacks host_address");
    LACKS(kernel_load, "lacks kernel_load");
    LACKS(kernel_unload, "lacks kernel_unload");
    LACKS(queue_open, "lacks queue_open");
    LACKS(queue_close, "lacks queue_close");
    LACKS(submit, "lacks submit");
    LACKS(graph_build, "all or none");
    LACKS(graph_submit, "all or none");
    LACKS(graph_set_value, "all or none");
    LACKS(graph_free, "all or none");
#undef LACKS
}

/* [E2] */
static void a_backend_without_a_usable_name_or_version_is_refused(void **state) {
    (void)state;
    rondo_backend some = whole;
    expect_refusal(NULL, RONDO_INVALID, "null");
    some.name = NULL;
    expect_refusal(&some, RONDO_INVALID, "name");
    some.name = "";
    expect_refusal(&some, RONDO_INVALID, "name");
    some.name = "whole:1"; /* what follows a colon is the number of a device [O1] */
    expect_refusal(&some, RONDO_INVALID, "colon");
    some = whole;
    some.version = RONDO_BACKEND_VERSION + 1;
    expect_refusal(&some, RONDO_INVALID, "version");
    some = whole;
    some.name = "cpu";
    expect_refusal(&some, RONDO_OVERLAP, "already");
}

/* [E2] This comes last: backends are never taken out again. */
static void backends_are_taken_until_there_is_no_place(void **state) {
    static char names[RDO_MAX_BACKENDS + 1][16];
    static rondo_backend many[RDO_MAX_BACKENDS + 1];
    size_t known = 0, taken = 0;
    (void)state;
    while (rdo_registry_at(known) != NULL) known++;
    rondo_status status = RONDO_OK;
    for (; status == RONDO_OK && taken <= RDO_MAX_BACKENDS; taken += status == RONDO_OK) {
        (void)snprintf(names[taken], sizeof names[taken], "other%zu", taken);
        many[taken] = whole;
        many[taken].name = names[taken];
        status = rondo_backend_register(&many[taken]);
    }
    assert_int_equal(rondo_status_code(status), RONDO_CAPACITY);
    assert_int_equal(known + taken, RDO_MAX_BACKENDS);
    assert_ptr_equal(rdo_registry_find("other0", 6), &many[0]);
    assert_null(rdo_registry_at(RDO_MAX_BACKENDS));
    assert_null(rdo_registry_find("whole", 5));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_backend_that_lacks_a_function_is_refused_by_name),
        cmocka_unit_test(a_backend_without_a_usable_name_or_version_is_refused),
        cmocka_unit_test(backends_are_taken_until_there_is_no_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
