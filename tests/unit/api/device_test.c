/* Devices: their layout, their failures, their graphs; and memory that the host cannot reach. */
#include "stream/submit.h"
#include "thread/threads.h"

static rondo_status open_with(rondo_memory_layout layout, rondo_device **out_device) {
    rondo_device_desc desc = {.max_queues = 1, .workers = 1, .memory = layout};
    return rondo_device_open("cpu", &desc, out_device);
}

/* [M1] A size that was not asked for gives way to one that was. */
static void sizes_left_open_follow_those_that_were_chosen(void **state) {
    (void)state;
    static const rondo_memory_layout layouts[] = {
        {.small_page_bytes = 4096}, /* below the usual largest small allocation */
        {.page_min_bytes = UINT64_C(512) << 20},
        {.page_max_bytes = 4096},
    };
    for (size_t i = 0; i < 3; i++) {
        rondo_device *device = NULL;
        rondo_buffer x = RONDO_NO_BUFFER;
        OK(open_with(layouts[i], &device));
        rondo_stream *stream = stream_on(device, 1, 0);
        OK(rondo_buffer_create(stream, 5000, RONDO_USAGE_GENERAL, &x));
        rondo_buffer_info info;
        OK(rondo_buffer_get_info(x, &info));
        assert_int_equal(info.pool, i == 0 ? RONDO_POOL_SHARED : RONDO_POOL_SMALL);
        rondo_buffer_release(x);
        rondo_stream_release(stream);
        expect_empty(device);
        rondo_device_release(device);
    }
}

/* [M1] [E2] */
static void sizes_that_contradict_each_other_are_refused(void **state) {
    (void)state;
    static const rondo_memory_layout layouts[] = {
        {.small_page_bytes = 4096, .small_max_bytes = 8192},
        {.page_min_bytes = 8192, .page_max_bytes = 4096},
        {.small_page_bytes = 4097},
        {.page_max_bytes = UINT64_MAX / 2 + 1},
    };
    for (size_t i = 0; i < 4; i++) {
        rondo_device *device = NULL;
        expect(open_with(layouts[i], &device), RONDO_INVALID);
        assert_null(device);
    }
}

/* [M1] [M4] An import may be larger than the cap of its pool; then the pool gives nothing more. */
static void an_import_counts_against_the_cap(void **state) {
    (void)state;
    static _Alignas(64) char bytes[8192];
    rondo_device *device = NULL;
    rondo_buffer mine = RONDO_NO_BUFFER, own = RONDO_NO_BUFFER;
    OK(open_with((rondo_memory_layout){.own_cap_bytes = 4096}, &device));
    rondo_stream *stream = stream_on(device, 1, 0);
    OK(rondo_buffer_import(stream, bytes, sizeof bytes, NULL, NULL, &mine));
    expect(rondo_buffer_create(stream, 64, RONDO_USAGE_LASTING, &own), RONDO_NO_DEVICE_MEMORY);
    rondo_buffer_release(mine);
    OK(rondo_buffer_create(stream, 64, RONDO_USAGE_LASTING, &own));
    rondo_buffer_release(own);
    rondo_stream_release(stream);
    expect_empty(device);
    rondo_device_release(device);
}

/* [W7] The first failure is the oldest, whichever stream it came on. */
static void a_sync_of_the_device_tells_the_oldest_failure(void **state) {
    (void)state;
    enum { STREAMS = 6 };
    for (int order = 0; order < 2; order++) {
        rondo_device *device = open_cpu(2);
        kernels k = load_kernels(device);
        rondo_stream *streams[STREAMS];
        rondo_buffer buffers[STREAMS];
        for (int i = 0; i < STREAMS; i++) {
            streams[i] = stream_on(device, 2, (uint32_t)i % 2);
            buffers[i] = make_buffer(streams[i], 1);
        }
        for (int i = 0; i < STREAMS; i++) {
            int at = order == 0 ? i : STREAMS - 1 - i;
            OK(launch_fail(streams[at], &k, buffers[at]));
        }
        rondo_status first = rondo_device_sync(device);
        expect(first, RONDO_KERNEL);
        rondo_buffer oldest = buffers[order == 0 ? 0 : STREAMS - 1];
        uint64_t words[WORDS];
        rondo_status read = rondo_read(streams[0], rondo_whole(oldest), words, NULL);
        expect(read, RONDO_TAINTED);
        assert_int_equal(rondo_fault_root(read), first);
        OK(rondo_device_sync(device)); /* all are told now */
        for (int i = 0; i < STREAMS; i++) {
            rondo_buffer_release(buffers[i]);
            rondo_stream_release(streams[i]);
        }
        release_kernels(&k);
        expect_empty(device);
        rondo_device_release(device);
    }
}

/* [M6] Where there is room for a few only, the largest graphs are listed, in order. */
static void the_largest_graphs_are_listed(void **state) {
    (void)state;
    enum { GRAPHS = 6 };
    static const uint64_t sizes[GRAPHS] = {9, 2, 7, 3, 9, 30};
    rondo_device *device = open_cpu(1);
    rondo_stream *stream = stream_on(device, 1, 0);
    rondo_graph *graphs[GRAPHS];
    for (int i = 0; i < GRAPHS; i++) {
        rondo_buffer x = RONDO_NO_BUFFER;
        uint64_t zero = 0;
        OK(rondo_buffer_create(stream, sizes[i] << 12, RONDO_USAGE_LASTING, &x));
        OK(rondo_capture_prepare(stream));
        OK(rondo_capture_begin(stream));
        OK(rondo_fill(stream, rondo_whole(x), &zero, 8, NULL));
        OK(rondo_capture_end(stream, 0, &graphs[i]));
        rondo_buffer_release(x);
    }
    rondo_graph_holding list[GRAPHS + 1];
    static const uint64_t largest[GRAPHS] = {30, 9, 9, 7, 3, 2};
    for (size_t capacity = 0; capacity <= GRAPHS + 1; capacity++) {
        assert_int_equal(rondo_device_list_graphs(device, list, capacity), GRAPHS);
        for (size_t i = 0; i < capacity && i < GRAPHS; i++) assert_int_equal(list[i].device_bytes, largest[i] << 12);
    }
    assert_int_equal(rondo_device_list_graphs(NULL, list, 1), 0);
    for (int i = 0; i < GRAPHS; i++) rondo_graph_release(graphs[i]);
    rondo_stream_release(stream);
    expect_empty(device);
    rondo_device_release(device);
}

/* [E1] [E2] */
static void each_answer_of_a_backend_has_its_code(void **state) {
    (void)state;
    static const struct {
        rondo_backend_result result;
        rondo_code code;
    } cases[] = {{RONDO_BACKEND_NOT_RUN, RONDO_BACKEND},
                 {RONDO_BACKEND_NO_MEMORY, RONDO_NO_HOST_MEMORY},
                 {RONDO_BACKEND_DEVICE_FULL, RONDO_NO_DEVICE_MEMORY},
                 {RONDO_BACKEND_TOO_BIG, RONDO_RANGE},
                 {RONDO_BACKEND_NO_SUPPORT, RONDO_UNSUPPORTED},
                 {RONDO_BACKEND_DEVICE_LOST, RONDO_LOST}};
    rdo_where where = {.operation = "rondo_launch", .op_index = RONDO_NO_INDEX};
    rondo_backend_outcome outcome = {.message = "the driver's words"};
    assert_int_equal(rdo_backend_status(&where, RONDO_BACKEND_DONE, &outcome), RONDO_OK);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        expect(rdo_backend_status(&where, cases[i].result, &outcome), cases[i].code);
    }
}

static void count_release(void *user) {
    ++*(int *)user;
}

/* [O1] [E5] */
static void retained_objects_outlive_their_first_release(void **state) {
    (void)state;
    rondo_device *device = open_cpu(1);
    kernels k = load_kernels(device);
    int released = 0;
    static _Alignas(64) uint64_t words[WORDS];
    rondo_buffer mine = RONDO_NO_BUFFER;
    rondo_stream *stream = stream_on(device, 1, 0);
    OK(rondo_buffer_import(stream, words, sizeof words, count_release, &released, &mine));
    OK(rondo_buffer_retain(mine));
    OK(rondo_kernel_retain(k.bump));
    OK(rondo_device_retain(device));
    rondo_buffer_release(mine);
    rondo_kernel_release(k.bump);
    rondo_device_release(device);
    assert_int_equal(released, 0);
    OK(launch_bump(stream, &k, mine));
    rondo_buffer_release(mine);
    assert_int_equal(released, 1);
    rondo_buffer_release(mine);
    expect(rondo_buffer_retain(mine), RONDO_STALE);
    release_kernels(&k);
    rondo_stream_release(stream);
    expect_empty(device);
    rondo_device_release(device);
    expect(rondo_device_retain(device), RONDO_STALE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_left_open_follow_those_that_were_chosen),
        cmocka_unit_test(sizes_that_contradict_each_other_are_refused),
        cmocka_unit_test(an_import_counts_against_the_cap),
        cmocka_unit_test(a_sync_of_the_device_tells_the_oldest_failure),
        cmocka_unit_test(the_largest_graphs_are_listed),
        cmocka_unit_test(each_answer_of_a_backend_has_its_code),
        cmocka_unit_test(retained_objects_outlive_their_first_release),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
