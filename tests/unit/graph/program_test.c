#include "base/alloc.h"
#include "random_ops.h"

enum { ROUNDS = 300, GRAPH_ADDRESS = 3 };

static random_ops r;
static rdo_engine engine;
static uint64_t built, freed, granted_builds;

static void check_frame(const rdo_host_frame *frame, const rdo_op *op) {
    assert_int_equal(frame->count, op->access_count);
    for (uint32_t i = 0; i < op->access_count; i++) {
        assert_int_equal(frame->accesses[i].span.buffer.id, op->accesses[i].id);
        assert_int_equal(frame->accesses[i].span.offset_bytes, op->accesses[i].low);
    }
}

/* No event reaches a backend. A node is the same whenever it is asked for, and a host call has its own frame. Returns
 * the number of arguments. */
static uint64_t check_node(const rondo_backend_nodes *nodes, uint64_t node, const rdo_op *op) {
    rondo_place places[RONDO_MAX_PARAMS];
    rondo_backend_op asked, again;
    nodes->get(nodes->recording, node, places, &again);
    nodes->get(nodes->recording, nodes->count - 1, places, &asked);
    nodes->get(nodes->recording, node, places, &asked);
    assert_int_equal(asked.kind, again.kind);
    if (op->kind == RONDO_NODE_HOST_CALL) {
        assert_int_equal(asked.kind, RONDO_OP_HOST);
        assert_ptr_equal(asked.host_user, again.host_user);
        check_frame(asked.host_user, op);
        return 0;
    }
    assert_int_equal(asked.kind, RONDO_OP_LAUNCH);
    assert_ptr_equal(asked.kernel, op->kernel->loaded);
    assert_ptr_equal(asked.places, places);
    for (uint32_t i = 0; i < op->access_count; i++) {
        const rdo_access *access = &op->accesses[i];
        assert_int_equal(places[i].offset_bytes, access->address - access->page->address + access->low);
    }
    return asked.arg_count;
}

static rondo_backend_result graph_build(void *device, const rondo_backend_nodes *nodes,
                                         const rondo_backend_edges *edges, void **out_graph) {
    (void)device;
    if (granted_builds == 0) return RONDO_BACKEND_NOT_RUN;
    granted_builds--;
    assert_true(nodes->count > 0);
    uint64_t args = 0;
    for (uint64_t i = 0; i < nodes->count; i++) args += check_node(nodes, i, &r.ops[edges->base + i]);
    assert_int_equal(nodes->arg_count, args);
    *out_graph = &built;
    built++;
    return RONDO_BACKEND_DONE;
}

static void graph_free(void *device, void *graph) {
    (void)device, (void)graph;
    freed++;
}

static void *host_address(void *device, void *page) {
    (void)device, (void)page;
    return NULL;
}

static rondo_backend backend = {
    .name = "bench", .host_address = host_address, .graph_build = graph_build, .graph_free = graph_free};

static void make_ops(void) {
    random_ops_make(&r);
    r.pages[0].books = r.pages[1].books = &engine.books;
}

static int open_engine(void **state) {
    const rondo_memory_layout layout = {0};
    (void)state;
    granted_builds = UINT64_MAX;
    rdo_books_init(&engine.books, &backend, NULL, &layout, 64, false);
    return 0;
}

static int close_engine(void **state) {
    (void)state;
    rdo_books_finish(&engine.books);
    return 0;
}

/* What a graph touches, byte for byte. */
typedef struct byte_model {
    bool read[RANDOM_SPACE], written[RANDOM_SPACE], live_in[RANDOM_SPACE];
} byte_model;

static uint64_t sum(const bool *bytes) {
    uint64_t total = 0;
    for (size_t i = 0; i < RANDOM_SPACE; i++) total += bytes[i];
    return total;
}

static void survey(byte_model *model) {
    memset(model, 0, sizeof *model);
    for (size_t n = 0; n < r.count; n++) {
        for (uint64_t byte = 0; byte < RANDOM_SPACE; byte++) {
            if (random_ops_reads(&r, n, byte)) {
                model->read[byte] = true;
                if (!model->written[byte]) model->live_in[byte] = true;
            }
        }
        for (uint64_t byte = 0; byte < RANDOM_SPACE; byte++) {
            if (random_ops_writes(&r, n, byte)) model->written[byte] = true;
        }
    }
}

/* Sorted, disjoint, not empty, and exactly the bytes; `extra` is the graph's own address, 0 for none. */
static void compare_extents(const rdo_extent_list *list, const bool *bytes, uint64_t extra) {
    bool seen[RANDOM_SPACE] = {false};
    for (size_t i = 0; i < list->count; i++) {
        const rdo_extent *extent = &list->data[i];
        assert_true(extent->low < extent->high);
        if (i != 0) assert_true(list->data[i - 1].high <= extent->low);
        for (uint64_t byte = extent->low; byte < extent->high; byte++) seen[byte] = true;
    }
    for (uint64_t byte = 0; byte < RANDOM_SPACE; byte++) {
        assert_int_equal(seen[byte], bytes[byte] || (extra != 0 && byte == extra));
    }
}

/* The same for bytes of allocations; those whose record is gone are left out. */
static void compare_bytes(const rdo_bytes_list *list, const bool *bytes) {
    bool seen[RANDOM_SPACE] = {false};
    for (size_t i = 0; i < list->count; i++) {
        const rdo_graph_bytes *part = &list->data[i];
        assert_true(part->low < part->high && part->high <= part->memory->size);
        if (i != 0 && list->data[i - 1].memory == part->memory) assert_true(list->data[i - 1].high <= part->low);
        for (uint64_t byte = part->low; byte < part->high; byte++) {
            assert_false(seen[part->memory->address + byte]);
            seen[part->memory->address + byte] = true;
        }
    }
    for (size_t m = 0; m < RANDOM_MEMORIES; m++) {
        bool gone = r.memories[m].id != 100 + m;
        for (uint64_t byte = r.memories[m].address; byte < r.memories[m].address + RANDOM_BYTES; byte++) {
            assert_int_equal(seen[byte], bytes[byte] && !gone);
        }
    }
}

static void compare_homes(const rdo_program *program) {
    bool named[2] = {false}, listed[2] = {false}, calls = false;
    for (size_t n = 0; n < r.count; n++) {
        calls = calls || r.ops[n].kind == RONDO_NODE_HOST_CALL;
        for (uint32_t i = 0; i < r.ops[n].access_count; i++) {
            named[rdo_access_home(&r.ops[n].accesses[i]) - r.homes] = true;
        }
    }
    for (size_t i = 0; i < program->home_count; i++) {
        assert_false(listed[program->homes[i] - r.homes]);
        listed[program->homes[i] - r.homes] = true;
    }
    assert_memory_equal(named, listed, sizeof named);
    assert_int_equal(program->has_host_calls, calls);
}

/* Host calls and events are listed, and all arguments of launches counted. */
static void compare_kinds(const rdo_survey *found) {
    uint64_t args = 0, calls = 0, events = 0;
    for (size_t n = 0; n < r.count; n++) {
        if (r.ops[n].kind == RONDO_NODE_LAUNCH) args += r.ops[n].kernel->param_count;
        if (r.ops[n].kind == RONDO_NODE_HOST_CALL) assert_int_equal(found->host_calls.data[calls++], n);
        if (!rdo_op_is_event(&r.ops[n])) continue;
        assert_int_equal(found->events.data[events].node, n);
        assert_int_equal(found->events.data[events++].args_before, args);
    }
    assert_int_equal(found->host_calls.count, calls);
    assert_int_equal(found->events.count, events);
    assert_int_equal(found->arg_count, args);
}

/* Segments follow one another without gaps; an event stands alone and is no segment of the backend's. */
static void compare_segments(const rdo_program *program) {
    uint64_t next = 0;
    for (size_t i = 0; i < program->segment_count; i++) {
        const rdo_segment *segment = &program->segments[i];
        assert_int_equal(segment->first, next);
        assert_true(segment->last > segment->first);
        for (uint64_t n = segment->first; n < segment->last; n++) {
            assert_int_equal(rdo_op_is_event(&r.ops[n]), segment->event);
        }
        if (segment->event) assert_int_equal(segment->last, segment->first + 1);
        assert_int_equal(segment->native != NULL, !segment->event && backend.graph_build != NULL);
        next = segment->last;
    }
    assert_int_equal(next, r.count);
}

static void compare(const rdo_program *program) {
    static byte_model model;
    survey(&model);
    compare_extents(&program->survey.reads, model.read, 0);
    compare_extents(&program->survey.writes, model.written, GRAPH_ADDRESS);
    compare_bytes(&program->live_in, model.live_in);
    compare_bytes(&program->written, model.written);
    assert_int_equal(program->live_in_bytes, sum(model.live_in));
    assert_int_equal(program->written_bytes, sum(model.written));
    compare_homes(program);
    compare_kinds(&program->survey);
    compare_segments(program);
}

/* Some temporaries' records are gone, and one may stand for another allocation by now. */
static void lose_records(void) {
    for (size_t i = 0; i < RANDOM_MEMORIES; i++) {
        if (random_below(4) == 0) atomic_store(&r.memories[i].id, random_below(2) == 0 ? 0 : 900 + i);
    }
}

static rondo_backend_result make(rdo_program **out_program) {
    return rdo_program_new(&engine, r.list, r.count, GRAPH_ADDRESS, NULL, out_program);
}

/* [R2] [R3] */
static void live_in_and_written_bytes_are_those_of_a_byte_model(void **state) {
    (void)state;
    seed_random();
    for (int round = 0; round < ROUNDS; round++) {
        rdo_program *program;
        make_ops();
        lose_records();
        assert_int_equal(make(&program), RONDO_BACKEND_DONE);
        compare(program);
        rdo_program_delete(program);
        assert_int_equal(built, freed);
    }
}

/* [R2] A node reads its inputs as they were before it wrote. */
static void what_a_node_reads_and_writes_itself_is_live_in(void **state) {
    rdo_program *program;
    (void)state;
    do {
        make_ops();
    } while (r.count == 0);
    r.count = 1;
    r.ops[0] = (rdo_op){.kind = RONDO_NODE_HOST_CALL, .host = &r.work, .accesses = r.accesses[0], .access_count = 2};
    const rdo_access write = {.memory = &r.memories[0], .id = 100, .low = 10, .row_bytes = 20, .rows = 1,
                              .mode = RONDO_WRITES, .page = &r.pages[0], .address = r.memories[0].address};
    r.accesses[0][0] = r.accesses[0][1] = write;
    r.accesses[0][1].mode = RONDO_READS;
    assert_int_equal(make(&program), RONDO_BACKEND_DONE);
    assert_int_equal(program->live_in_bytes, 20);
    assert_int_equal(program->written_bytes, 20);
    rdo_program_delete(program);
}

/* One that begins with an event, and that writes nothing. */
static void make_reading_one(void) {
    random_ops_make(&r);
    r.pages[0].books = r.pages[1].books = &engine.books;
    for (size_t n = 0; n < 2; n++) r.list[n] = &r.ops[n];
    r.count = 2;
    r.ops[0] = (rdo_op){.kind = RONDO_NODE_EVENT_RECORD, .event = &r.events[0], .accesses = r.accesses[0]};
    r.ops[1] = (rdo_op){.kind = RONDO_NODE_HOST_CALL, .host = &r.work, .accesses = r.accesses[1], .access_count = 1};
    r.accesses[1][0] = (rdo_access){.memory = &r.memories[0], .id = 100, .row_bytes = 8, .rows = 1,
                                    .mode = RONDO_READS, .page = &r.pages[0], .address = r.memories[0].address};
}

static void make_long_one(void) {
    seed_random();
    do {
        make_ops();
    } while (r.count < RANDOM_OPS / 2);
}

static void starve_programs(void) {
    for (int lasting = 0; lasting < 2; lasting++) {
        for (uint64_t granted = 0, refused = 1; refused != 0; granted++) {
            rdo_program *program;
            uint64_t live = rdo_alloc_live();
            starve(granted, lasting != 0);
            rondo_backend_result result = make(&program);
            refused = feed();
            assert_int_equal(result, refused != 0 ? RONDO_BACKEND_NO_MEMORY : RONDO_BACKEND_DONE);
            assert_int_equal(program == NULL, refused != 0);
            if (program != NULL) {
                compare(program);
                rdo_program_delete(program);
            }
            assert_int_equal(rdo_alloc_live(), live);
            assert_int_equal(built, freed);
        }
    }
}

/* [E3] Whether the backend has graphs or gets the nodes one by one. */
static void a_program_without_memory_is_none(void **state) {
    (void)state;
    for (int graphs = 0; graphs < 2; graphs++) {
        backend.graph_build = graphs != 0 ? graph_build : NULL;
        make_long_one();
        starve_programs();
        make_reading_one();
        starve_programs();
    }
}

/* [E3] An arena that is handed over belongs to the program, whatever becomes of it. */
static void a_program_takes_its_arena_over_even_when_it_fails(void **state) {
    (void)state;
    make_long_one();
    for (uint64_t granted = 0, refused = 1; refused != 0; granted++) {
        rdo_program *program;
        rdo_arena arena = {0};
        uint64_t live = rdo_alloc_live();
        assert_non_null(rdo_arena_take(&arena, 100));
        starve(granted, true);
        (void)rdo_program_new(&engine, r.list, r.count, GRAPH_ADDRESS, &arena, &program);
        refused = feed();
        if (program != NULL) rdo_program_delete(program);
        assert_int_equal(rdo_alloc_live(), live);
    }
}

/* [C9] [P2] */
static void a_segment_that_the_backend_refuses_is_no_program(void **state) {
    (void)state;
    make_long_one();
    uint64_t needed = 0;
    for (uint64_t granted = 0;; granted++) {
        rdo_program *program;
        uint64_t live = rdo_alloc_live();
        granted_builds = granted;
        rondo_backend_result result = make(&program);
        if (result == RONDO_BACKEND_DONE) {
            needed = granted;
            rdo_program_delete(program);
            break;
        }
        assert_int_equal(result, RONDO_BACKEND_NOT_RUN);
        assert_null(program);
        assert_int_equal(rdo_alloc_live(), live);
        assert_int_equal(built, freed);
    }
    assert_true(needed > 0);
    granted_builds = UINT64_MAX;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(live_in_and_written_bytes_are_those_of_a_byte_model),
        cmocka_unit_test(what_a_node_reads_and_writes_itself_is_live_in),
        cmocka_unit_test(a_program_without_memory_is_none),
        cmocka_unit_test(a_program_takes_its_arena_over_even_when_it_fails),
        cmocka_unit_test(a_segment_that_the_backend_refuses_is_no_program),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
