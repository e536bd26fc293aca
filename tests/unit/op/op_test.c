#include "op/op.h"

#include "base/alloc.h"
#include "memory_bench.h"
#include "unit.h"

static const rondo_node_kind all_kinds[] = {
    RONDO_NODE_LAUNCH,     RONDO_NODE_FILL,       RONDO_NODE_COPY,      RONDO_NODE_COPY_2D,      RONDO_NODE_WRITE,
    RONDO_NODE_WRITE_LIVE, RONDO_NODE_READ_ASYNC, RONDO_NODE_HOST_CALL, RONDO_NODE_EVENT_RECORD, RONDO_NODE_EVENT_WAIT,
};
enum { KINDS = sizeof all_kinds / sizeof all_kinds[0] };

/* A device buffer, a host block, and accesses to bytes [16, 48) and [8, 40) of them. */
typedef struct fixture {
    memory_bench bench;
    rdo_memory *device, *host;
    rdo_access on_device, on_host;
    rdo_access pair[2];
} fixture;

static void open_fixture(fixture *f) {
    memory_bench_open(&f->bench);
    rdo_memory *first = memory_bench_buffer(&f->bench, 200); /* so that offsets in the page are not 0 */
    f->device = memory_bench_buffer(&f->bench, 100);
    memory_bench_release(&f->bench, first);
    f->host = memory_bench_reserve(&f->bench, &(rdo_request){.size = 100, .host = true}, 3);
    f->on_device = (rdo_access){.memory = f->device, .id = f->device->id, .low = 16, .row_bytes = 32, .rows = 1,
                                .pitch = 32, .mode = RONDO_WRITES};
    f->on_host = (rdo_access){.memory = f->host, .id = f->host->id, .low = 8, .row_bytes = 32, .rows = 1, .pitch = 32,
                              .mode = RONDO_READS};
}

static void close_fixture(fixture *f) {
    memory_bench_release(&f->bench, f->device);
    memory_bench_release(&f->bench, f->host);
    memory_bench_close(&f->bench);
}

/* An op of this kind with one or two accesses, located. */
static rdo_op op_with(fixture *f, rondo_node_kind kind, const rdo_access *first, const rdo_access *second) {
    f->pair[0] = *first;
    if (second != NULL) f->pair[1] = *second;
    rdo_op op = {.kind = kind, .accesses = f->pair, .access_count = second != NULL ? 2 : 1};
    rdo_op_locate(&op);
    return op;
}

static void expect_place(rondo_place place, const rdo_access *access) {
    assert_ptr_equal(place.page, access->memory->page->handle);
    assert_int_equal(place.offset_bytes, access->memory->place.offset_bytes + access->low);
}

static char *address_of(const rdo_access *access) {
    return (char *)access->memory->page->handle + access->memory->place.offset_bytes + access->low;
}

/* [E1] [C24] */
static void every_kind_has_a_call_and_a_name_of_its_own(void **state) {
    (void)state;
    for (int i = 0; i < KINDS; i++) {
        char expected[64];
        (void)snprintf(expected, sizeof expected, "rondo_%s", rdo_op_name(all_kinds[i]));
        assert_string_equal(rdo_op_call(all_kinds[i]), expected);
        for (int j = 0; j < i; j++) assert_string_not_equal(rdo_op_name(all_kinds[i]), rdo_op_name(all_kinds[j]));
    }
}

/* [W5] */
static void an_op_without_bytes_or_items_is_nothing(void **state) {
    rdo_access some = {.row_bytes = 4, .rows = 1}, none = {.rows = 1};
    (void)state;
    for (int i = 0; i < KINDS; i++) {
        rdo_op op = {.kind = all_kinds[i], .accesses = &some, .access_count = 1, .grid = rondo_grid_3d(1, 1, 1)};
        assert_false(rdo_op_is_nothing(&op));
        op.accesses = &none;
        bool transfer = op.kind >= RONDO_NODE_FILL && op.kind <= RONDO_NODE_READ_ASYNC;
        assert_int_equal(rdo_op_is_nothing(&op), transfer); /* host calls and events happen whatever they touch */
        op.access_count = 0;
        assert_int_equal(rdo_op_is_nothing(&op), transfer);
        op.grid = rondo_grid_3d(0, 1, 1);
        assert_int_equal(rdo_op_is_nothing(&op), transfer || op.kind == RONDO_NODE_LAUNCH);
        op.grid = rondo_grid_3d(1, 0, 1);
        assert_int_equal(rdo_op_is_nothing(&op), transfer || op.kind == RONDO_NODE_LAUNCH);
        op.grid = rondo_grid_3d(1, 1, 0);
        assert_int_equal(rdo_op_is_nothing(&op), transfer || op.kind == RONDO_NODE_LAUNCH);
    }
}

/* [M9] */
static void the_end_of_an_access_counts_its_last_row(void **state) {
    rdo_access access = {.low = 10, .row_bytes = 4, .rows = 1, .pitch = 100};
    (void)state;
    assert_int_equal(rdo_access_high(&access), 14);
    access.rows = 3;
    assert_int_equal(rdo_access_high(&access), 214);
    access.row_bytes = 0;
    assert_int_equal(rdo_access_high(&access), 10);
}

/* [O6] An access knows where its memory is only from the moment at which it can no longer move. */
static void locating_copies_the_place_from_the_record(void **state) {
    fixture f;
    (void)state;
    open_fixture(&f);
    rdo_op op = op_with(&f, RONDO_NODE_COPY, &f.on_device, &f.on_host);
    for (int i = 0; i < 2; i++) {
        const rdo_access *access = &op.accesses[i];
        const rdo_memory *memory = access->memory;
        assert_ptr_equal(access->page, memory->page);
        assert_int_equal(access->slice, memory->slice);
        assert_int_equal(access->host, i == 1);
        assert_ptr_equal(rdo_access_home(access), &f.bench.store);
        assert_int_equal(access->address, memory->address);
        assert_ptr_equal(rdo_access_place(access).page, memory->place.page);
        assert_int_equal(rdo_access_place(access).offset_bytes, memory->place.offset_bytes + access->low);
    }
    rdo_access filled;
    rdo_access_fill(&filled, f.device, f.device->id, 16, 32, RONDO_WRITES);
    assert_true(filled.low == 16 && filled.row_bytes == 32 && filled.rows == 1 && filled.pitch == 32);
    assert_true(filled.page == f.device->page && filled.address == f.device->address && !filled.host);
    assert_int_equal(filled.mode, RONDO_WRITES);
    close_fixture(&f);
}

/* ---- resolving ---- */

/* [W1] */
static void a_launch_resolves_to_places_by_parameter(void **state) {
    static const rondo_param params[] = {{.name = "a", .kind = RONDO_PARAM_VALUE, .size_bytes = 4},
                                         {.name = "x", .kind = RONDO_PARAM_IN},
                                         {.name = "y", .kind = RONDO_PARAM_OUT}};
    const rondo_kernel_desc desc = {.name = "k", .params = params, .param_count = 3};
    fixture f;
    rondo_backend_op out;
    rondo_place places[3];
    const int32_t value = 3;
    const void *values[3] = {&value, NULL, NULL};
    (void)state;
    open_fixture(&f);
    rdo_kernel *kernel = rdo_kernel_new(&f.bench.books, &desc);
    assert_non_null(kernel);
    kernel->loaded = &f;
    f.on_device.param = 2, f.on_host.param = 1;
    rdo_op op = op_with(&f, RONDO_NODE_LAUNCH, &f.on_device, &f.on_host);
    op.kernel = kernel, op.values = values, op.grid = rondo_grid_3d(1, 2, 3);
    rdo_op_resolve(&op, &out, places, NULL);
    assert_int_equal(out.kind, RONDO_OP_LAUNCH);
    assert_ptr_equal(out.kernel, &f);
    assert_true(out.grid.x == 1 && out.grid.y == 2 && out.grid.z == 3);
    assert_int_equal(out.arg_count, 3);
    assert_ptr_equal(out.places, places);
    assert_ptr_equal(out.values, values);
    expect_place(places[2], &f.on_device);
    expect_place(places[1], &f.on_host);
    rdo_kernel_delete(kernel);
    close_fixture(&f);
}

/* [W1] */
static void a_fill_resolves_to_its_target_and_pattern(void **state) {
    fixture f;
    rondo_backend_op out;
    (void)state;
    open_fixture(&f);
    rdo_op op = op_with(&f, RONDO_NODE_FILL, &f.on_device, NULL);
    for (uint8_t i = 0; i < 16; i++) op.pattern[i] = i;
    op.pattern_bytes = 12;
    memset(&out, 0xff, sizeof out);
    rdo_op_resolve(&op, &out, NULL, NULL);
    assert_int_equal(out.kind, RONDO_OP_FILL);
    expect_place(out.target, &f.on_device);
    assert_true(out.size_bytes == 32 && out.rows == 1 && out.pattern_bytes == 12);
    assert_memory_equal(out.pattern, op.pattern, 16);
    assert_null(out.source.page);
    close_fixture(&f);
}

/* [W1] */
static void a_copy_resolves_to_both_ends_and_their_pitches(void **state) {
    fixture f;
    rondo_backend_op out;
    (void)state;
    open_fixture(&f);
    for (int rows = 1; rows < 3; rows++) {
        f.on_device.row_bytes = f.on_host.row_bytes = 10;
        f.on_device.rows = f.on_host.rows = (uint64_t)rows;
        f.on_device.pitch = 20, f.on_host.pitch = 30;
        rdo_op op = op_with(&f, rows == 1 ? RONDO_NODE_COPY : RONDO_NODE_COPY_2D, &f.on_device, &f.on_host);
        rdo_op_resolve(&op, &out, NULL, NULL);
        assert_int_equal(out.kind, RONDO_OP_COPY);
        expect_place(out.target, &f.on_device);
        expect_place(out.source, &f.on_host);
        assert_true(out.size_bytes == 10 && out.rows == (uint64_t)rows);
        assert_true(out.target_pitch_bytes == 20 && out.source_pitch_bytes == 30);
    }
    close_fixture(&f);
}

/* [W2] The user's bytes while the op plays, the snapshot's once it is recorded; a live write reads its block. */
static void a_write_resolves_to_the_bytes_that_it_shall_read(void **state) {
    fixture f;
    rondo_backend_op out;
    const char bytes[32] = "bytes";
    (void)state;
    open_fixture(&f);
    rdo_op op = op_with(&f, RONDO_NODE_WRITE, &f.on_device, NULL);
    op.bytes = bytes;
    rdo_op_resolve(&op, &out, NULL, NULL);
    assert_int_equal(out.kind, RONDO_OP_WRITE);
    assert_ptr_equal(out.host, bytes);
    expect_place(out.target, &f.on_device);
    rdo_memory *staging = memory_bench_staging(&f.bench, 32);
    op.staging = staging;
    rdo_op_resolve(&op, &out, NULL, NULL);
    assert_ptr_equal(out.host, staging->host_data);
    memory_bench_release(&f.bench, staging);

    op = op_with(&f, RONDO_NODE_WRITE_LIVE, &f.on_device, &f.on_host);
    rdo_op_resolve(&op, &out, NULL, NULL);
    assert_int_equal(out.kind, RONDO_OP_WRITE);
    assert_ptr_equal(out.host, address_of(&f.on_host));
    expect_place(out.target, &f.on_device);
    close_fixture(&f);
}

/* [W1] */
static void a_read_resolves_to_its_host_block(void **state) {
    fixture f;
    rondo_backend_op out;
    (void)state;
    open_fixture(&f);
    rdo_op op = op_with(&f, RONDO_NODE_READ_ASYNC, &f.on_host, &f.on_device);
    rdo_op_resolve(&op, &out, NULL, NULL);
    assert_int_equal(out.kind, RONDO_OP_READ);
    assert_ptr_equal(out.host, address_of(&f.on_host));
    expect_place(out.source, &f.on_device);
    assert_int_equal(out.size_bytes, 32);
    close_fixture(&f);
}

static int note_call(void *user, const rondo_host_access *accesses, size_t count) {
    *(const rondo_host_access **)user = accesses;
    return count == 2 ? 17 : -1;
}

/* [W1] */
static void a_host_call_resolves_to_its_function_and_addresses(void **state) {
    fixture f;
    rondo_backend_op out;
    const rondo_host_access *seen = NULL;
    rdo_host_work work = {.fn = note_call, .user = &seen};
    (void)state;
    open_fixture(&f);
    rdo_op op = op_with(&f, RONDO_NODE_HOST_CALL, &f.on_device, &f.on_host);
    op.host = &work;
    rdo_host_frame *frame = malloc(rdo_host_frame_bytes(&op));
    assert_non_null(frame);
    rdo_op_fill_frame(&op, frame);
    rdo_op_resolve(&op, &out, NULL, frame);
    assert_int_equal(out.kind, RONDO_OP_HOST);
    assert_int_equal(out.host_fn(out.host_user), 17);
    assert_ptr_equal(seen, frame->accesses);
    assert_int_equal(seen[0].span.buffer.id, f.device->id);
    assert_true(seen[0].span.offset_bytes == 16 && seen[0].span.size_bytes == 32 && seen[0].mode == RONDO_WRITES);
    assert_ptr_equal(seen[0].data, address_of(&f.on_device));
    assert_ptr_equal(seen[1].data, address_of(&f.on_host));
    assert_int_equal(seen[1].mode, RONDO_READS);

    f.bench.hidden = true; /* a device whose memory the host cannot see */
    rdo_op_fill_frame(&op, frame);
    assert_null(frame->accesses[0].data);
    assert_ptr_equal(frame->accesses[1].data, address_of(&f.on_host));
    free(frame);

    rdo_memory *empty = memory_bench_buffer(&f.bench, 0);
    const rdo_access nothing = {.memory = empty, .id = empty->id, .rows = 1, .mode = RONDO_READS};
    op = op_with(&f, RONDO_NODE_HOST_CALL, &nothing, &f.on_host);
    op.host = &work;
    frame = malloc(rdo_host_frame_bytes(&op));
    assert_non_null(frame);
    rdo_op_fill_frame(&op, frame);
    assert_null(frame->accesses[0].data); /* no bytes, no page, no address */
    free(frame);
    memory_bench_release(&f.bench, empty);
    close_fixture(&f);
}

/* [C24] Events are the core's business. */
static void an_event_resolves_to_nothing(void **state) {
    const rdo_op op = {.kind = RONDO_NODE_EVENT_RECORD};
    rondo_backend_op out;
    const rondo_backend_op zero = {0};
    (void)state;
    memset(&out, 0xff, sizeof out);
    rdo_op_resolve(&op, &out, NULL, NULL);
    assert_int_equal(out.kind, zero.kind);
    assert_null(out.host_fn);
}

/* ---- copying ---- */

/* An op whose copy needs all that a copy can need. */
static rdo_op full_op(fixture *f, const rdo_kernel *kernel, const void **values) {
    rdo_op op = op_with(f, RONDO_NODE_LAUNCH, &f->on_device, &f->on_host);
    op.label = "step";
    op.kernel = (rdo_kernel *)(uintptr_t)kernel;
    op.values = values;
    return op;
}

/* [W1] [C3] A recorded op needs nothing of the caller's any more. */
static void a_copy_shares_nothing_that_the_caller_owns(void **state) {
    const rdo_kernel kernel = {.param_count = 3};
    const int value = 1;
    const void *values[3] = {&value, NULL, NULL};
    rdo_arena arena = {0};
    char label[] = "step";
    fixture f;
    (void)state;
    open_fixture(&f);
    rdo_op op = full_op(&f, &kernel, values);
    op.label = label;
    rdo_op *copy = rdo_op_copy(&arena, &op);
    assert_non_null(copy);
    assert_ptr_not_equal(copy->accesses, op.accesses);
    assert_memory_equal(copy->accesses, op.accesses, 2 * sizeof *op.accesses);
    memset(f.pair, 0, sizeof f.pair);
    memset(label, 'x', 4);
    values[0] = NULL;
    assert_ptr_equal(copy->accesses[0].memory, f.device);
    assert_string_equal(copy->label, "step");
    assert_ptr_equal(copy->values[0], &value); /* the bytes are put elsewhere by the caller */
    assert_ptr_equal(copy->kernel, &kernel);

    op = op_with(&f, RONDO_NODE_FILL, &f.on_device, NULL);
    copy = rdo_op_copy(&arena, &op);
    assert_non_null(copy);
    assert_null(copy->label);
    assert_null(copy->values);
    const rdo_op bare = {.kind = RONDO_NODE_EVENT_WAIT};
    copy = rdo_op_copy(&arena, &bare);
    assert_non_null(copy);
    assert_int_equal(copy->access_count, 0);
    rdo_arena_clear(&arena);
    close_fixture(&f);
}

/* [E3] Wherever the arena's room ends, the copy is whole or none. */
static void without_memory_there_is_no_copy(void **state) {
    const rdo_kernel kernel = {.param_count = 3};
    const void *values[3] = {NULL};
    fixture f;
    size_t copies = 0, refusals = 0;
    (void)state;
    open_fixture(&f);
    rdo_op op = full_op(&f, &kernel, values);
    for (size_t room = 0; room < 1024; room += 16) {
        rdo_arena arena = {0};
        assert_non_null(rdo_arena_take(&arena, 16));
        assert_non_null(rdo_arena_take(&arena, arena.left - room));
        starve(0, true);
        const rdo_op *copy = rdo_op_copy(&arena, &op);
        (void)feed();
        copies += copy != NULL;
        refusals += copy == NULL;
        if (copy != NULL) assert_string_equal(copy->label, "step");
        rdo_arena_clear(&arena);
    }
    assert_true(copies > 5);
    assert_true(refusals > 5);
    close_fixture(&f);
}

/* [P4] A message names the call, the kernel and the label. */
static void an_op_says_where_it_belongs(void **state) {
    rdo_kernel kernel = {.name = (char[]){"axpy"}};
    rdo_op op = {.kind = RONDO_NODE_LAUNCH, .kernel = &kernel, .label = "step"};
    (void)state;
    rdo_where where = rdo_op_where(&op, 4, 7);
    assert_string_equal(where.operation, "rondo_launch");
    assert_string_equal(where.kernel, "axpy");
    assert_string_equal(where.label, "step");
    assert_true(where.stream_id == 4 && where.op_index == 7);
    op = (rdo_op){.kind = RONDO_NODE_FILL};
    where = rdo_op_where(&op, 0, RONDO_NO_INDEX);
    assert_string_equal(where.operation, "rondo_fill");
    assert_true(where.kernel == NULL && where.label == NULL && where.op_index == RONDO_NO_INDEX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_has_a_call_and_a_name_of_its_own),
        cmocka_unit_test(an_op_without_bytes_or_items_is_nothing),
        cmocka_unit_test(the_end_of_an_access_counts_its_last_row),
        cmocka_unit_test(locating_copies_the_place_from_the_record),
        cmocka_unit_test(a_launch_resolves_to_places_by_parameter),
        cmocka_unit_test(a_fill_resolves_to_its_target_and_pattern),
        cmocka_unit_test(a_copy_resolves_to_both_ends_and_their_pitches),
        cmocka_unit_test(a_write_resolves_to_the_bytes_that_it_shall_read),
        cmocka_unit_test(a_read_resolves_to_its_host_block),
        cmocka_unit_test(a_host_call_resolves_to_its_function_and_addresses),
        cmocka_unit_test(an_event_resolves_to_nothing),
        cmocka_unit_test(a_copy_shares_nothing_that_the_caller_owns),
        cmocka_unit_test(without_memory_there_is_no_copy),
        cmocka_unit_test(an_op_says_where_it_belongs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
