#include "base/alloc.h"
#include "random_ops.h"

enum { ROUNDS = 150 };

static random_ops r;

/* Byte by byte: the direct predecessors of node `n` are, for a byte that it reads, the last writer; for one that it
 * writes, those that read it since then, or the last writer if nobody did. */
static void brute_force(size_t n, bool *is_before) {
    memset(is_before, 0, RANDOM_OPS * sizeof *is_before);
    for (uint64_t byte = 0; byte < RANDOM_SPACE; byte++) {
        bool reads = random_ops_reads(&r, n, byte), writes = random_ops_writes(&r, n, byte), seen = false;
        size_t p = n;
        while ((reads || writes) && p-- > 0) {
            bool wrote = random_ops_writes(&r, p, byte);
            if (wrote && (reads || !seen)) is_before[p] = true;
            if (wrote) break;
            if (writes && random_ops_reads(&r, p, byte)) is_before[p] = seen = true;
        }
    }
    const rdo_op *op = &r.ops[n];
    for (size_t p = n; op->kind == RONDO_NODE_EVENT_WAIT && p-- > 0;) {
        if (r.ops[p].kind != RONDO_NODE_EVENT_RECORD || r.ops[p].event != op->event) continue;
        is_before[p] = true;
        break;
    }
}

static void compare(const rdo_edges *edges) {
    bool is_before[RANDOM_OPS];
    for (size_t n = 0; n < r.count; n++) {
        brute_force(n, is_before);
        uint64_t at = edges->first[n];
        for (size_t p = 0; p < n; p++) {
            if (!is_before[p]) continue;
            if (at == edges->first[n + 1] || edges->list[at] != p) fail_msg("node %zu must follow node %zu", n, p);
            at++;
        }
        if (at == edges->first[n + 1]) continue;
        fail_msg("node %zu follows node %llu for no reason", n, (unsigned long long)edges->list[at]);
    }
    assert_int_equal(edges->first[r.count], edges->list_count);
}

/* [W3] [R4] */
static void direct_predecessors_are_those_of_a_byte_for_byte_search(void **state) {
    (void)state;
    seed_random();
    for (int round = 0; round < ROUNDS; round++) {
        rdo_survey survey;
        random_ops_make(&r);
        assert_true(rdo_survey_find(&survey, r.list, r.count));
        compare(&survey.edges);
        rdo_survey_finish(&survey);
    }
}

/* [W3] Whatever two nodes conflict, a path of edges leads from the earlier to the later. */
static void every_conflict_is_on_a_path_of_edges(void **state) {
    (void)state;
    seed_random();
    for (int round = 0; round < ROUNDS / 5; round++) {
        static bool reaches[RANDOM_OPS][RANDOM_OPS];
        rdo_survey survey;
        random_ops_make(&r);
        assert_true(rdo_survey_find(&survey, r.list, r.count));
        memset(reaches, 0, sizeof reaches);
        for (size_t n = 0; n < r.count; n++) {
            for (uint64_t i = survey.edges.first[n]; i < survey.edges.first[n + 1]; i++) {
                reaches[survey.edges.list[i]][n] = true;
                for (size_t p = 0; p < n; p++) reaches[p][n] |= reaches[p][survey.edges.list[i]];
            }
        }
        for (uint64_t byte = 0; byte < RANDOM_SPACE; byte++) {
            for (size_t n = 0; n < r.count; n++) {
                for (size_t p = 0; p < n; p++) {
                    bool meet = (random_ops_writes(&r, n, byte) &&
                                 (random_ops_reads(&r, p, byte) || random_ops_writes(&r, p, byte))) ||
                                (random_ops_reads(&r, n, byte) && random_ops_writes(&r, p, byte));
                    if (meet) assert_true(reaches[p][n]);
                }
            }
        }
        rdo_survey_finish(&survey);
    }
}

/* [E3] */
static void edges_without_memory_are_none(void **state) {
    (void)state;
    seed_random();
    do {
        random_ops_make(&r);
    } while (r.count < RANDOM_OPS / 2);
    for (int lasting = 0; lasting < 2; lasting++) {
        for (uint64_t granted = 0, refused = 1; refused != 0; granted++) {
            rdo_survey survey;
            uint64_t live = rdo_alloc_live();
            starve(granted, lasting != 0);
            bool found = rdo_survey_find(&survey, r.list, r.count);
            refused = feed();
            assert_int_equal(found, refused == 0);
            if (found) {
                compare(&survey.edges);
                rdo_survey_finish(&survey);
            }
            assert_null(survey.edges.first);
            assert_null(survey.edges.list);
            assert_int_equal(rdo_alloc_live(), live);
        }
    }
}

enum { WIDE = 20000 };

/* [W3] Each of many nodes writes a part of a buffer, one reads it whole, twice over: the join follows each of them
 * once. */
static void a_wide_join_follows_each_node_once(void **state) {
    static rdo_op ops[WIDE + 1], *list[WIDE + 1];
    static rdo_access parts[WIDE], whole[2];
    static rdo_memory memory;
    static rdo_page page;
    rdo_survey survey;
    (void)state;
    for (size_t i = 0; i < WIDE; i++) {
        parts[i] = (rdo_access){.memory = &memory, .page = &page, .address = page.address + 64, .mode = RONDO_WRITES};
        parts[i].low = 8 * i;
        parts[i].row_bytes = parts[i].pitch = 8;
        parts[i].rows = 1;
        ops[i] = (rdo_op){.kind = RONDO_NODE_FILL, .accesses = &parts[i], .access_count = 1};
        list[i] = &ops[i];
    }
    for (size_t i = 0; i < 2; i++) {
        whole[i] = (rdo_access){.memory = &memory, .page = &page, .address = page.address + 64, .mode = RONDO_READS};
        whole[i].row_bytes = whole[i].pitch = 8 * (uint64_t)WIDE;
        whole[i].rows = 1;
    }
    ops[WIDE] = (rdo_op){.kind = RONDO_NODE_HOST_CALL, .accesses = whole, .access_count = 2};
    list[WIDE] = &ops[WIDE];
    assert_true(rdo_survey_find(&survey, list, WIDE + 1));
    assert_int_equal(survey.edges.list_count, WIDE);
    assert_int_equal(survey.edges.first[WIDE], 0);
    for (size_t i = 0; i < WIDE; i++) assert_int_equal(survey.edges.list[i], i);
    rdo_survey_finish(&survey);
}

enum { READERS = 200, JOIN = READERS + 1, AGAIN = 2 * JOIN };

/* One that names an allocation by no byte; then, twice, some that read it and one that writes it. */
static void make_joins(rdo_op **list) {
    static rdo_memory memory;
    static rdo_page page;
    static rdo_access parts[3];
    static rdo_op ops[3];
    for (size_t i = 0; i < 3; i++) {
        parts[i] = (rdo_access){.memory = &memory, .id = 5, .page = &page, .mode = RONDO_READS, .rows = 1};
        if (i != 0) parts[i].row_bytes = parts[i].pitch = 8;
        ops[i] = (rdo_op){.kind = RONDO_NODE_HOST_CALL, .accesses = &parts[i], .access_count = 1};
    }
    parts[2].mode = RONDO_WRITES;
    for (size_t n = 0; n <= AGAIN; n++) list[n] = &ops[n == 0 ? 0 : n % JOIN != 0 ? 1 : 2];
}

/* [E3] Also for nodes that follow so many that these are not searched one by one. */
static void joins_without_memory_are_none(void **state) {
    rdo_op *list[AGAIN + 1];
    (void)state;
    make_joins(list);
    for (uint64_t granted = 0, refused = 1; refused != 0; granted++) {
        rdo_survey survey;
        uint64_t live = rdo_alloc_live();
        starve(granted, true);
        bool found = rdo_survey_find(&survey, list, AGAIN + 1);
        refused = feed();
        assert_int_equal(found, refused == 0);
        if (found) {
            assert_int_equal(survey.edges.first[JOIN + 1] - survey.edges.first[JOIN], READERS);
            assert_int_equal(survey.edges.first[AGAIN + 1] - survey.edges.first[AGAIN], READERS);
            rdo_survey_finish(&survey);
        }
        assert_int_equal(rdo_alloc_live(), live);
    }
}

enum { PIECES = 8, CUTS = 40 };

/* [E3] Nodes that each touch the second half of what one before touched: wherever memory ends, also while a piece is
 * cut, nothing is found and nothing is lost. */
static void cuts_without_memory_are_none(void **state) {
    static rdo_memory memory;
    static rdo_page page;
    static rdo_access parts[CUTS];
    static rdo_op ops[CUTS];
    rdo_op *list[CUTS];
    (void)state;
    for (uint64_t i = 0; i < CUTS; i++) {
        bool half = i / PIECES % 2 == 1;
        uint64_t piece = i / (2 * PIECES) * PIECES + i % PIECES;
        parts[i] = (rdo_access){.memory = &memory, .id = 5, .page = &page, .mode = RONDO_WRITES, .rows = 1};
        parts[i].low = 16 * piece + (half ? 8 : 0);
        parts[i].row_bytes = parts[i].pitch = half ? 8 : 16;
        ops[i] = (rdo_op){.kind = RONDO_NODE_FILL, .accesses = &parts[i], .access_count = 1};
        list[i] = &ops[i];
    }
    for (uint64_t granted = 0, refused = 1; refused != 0; granted++) {
        rdo_survey survey;
        uint64_t live = rdo_alloc_live();
        starve(granted, true);
        bool found = rdo_survey_find(&survey, list, CUTS);
        refused = feed();
        assert_int_equal(found, refused == 0);
        if (found) {
            assert_int_equal(survey.edges.list_count, CUTS / (2 * PIECES) * PIECES);
            rdo_survey_finish(&survey);
        }
        assert_int_equal(rdo_alloc_live(), live);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(direct_predecessors_are_those_of_a_byte_for_byte_search),
        cmocka_unit_test(every_conflict_is_on_a_path_of_edges),
        cmocka_unit_test(edges_without_memory_are_none),
        cmocka_unit_test(a_wide_join_follows_each_node_once),
        cmocka_unit_test(joins_without_memory_are_none),
        cmocka_unit_test(cuts_without_memory_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
