#include "fault/ledger.h"

#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

enum { KEPT_STORIES = 256, KEPT_SKIPS = 16 };

static const rdo_where launch = {.operation = "rondo_launch", .kernel = "axpy", .label = "step 3", .stream_id = 4,
                                 .op_index = 7};

static rondo_status raise_plain(const char *text) {
    return rdo_fault_raise(RDO_NOWHERE("rondo_fill"), RONDO_KERNEL, "%s", text);
}

static rondo_fault story_of(rondo_status status) {
    rondo_fault fault;
    assert_int_equal(rondo_fault_get(status, &fault), RONDO_OK);
    return fault;
}

static bool is_kept(rondo_status status) {
    rondo_fault fault;
    return rondo_fault_get(status, &fault) == RONDO_OK;
}

static void tag(rondo_status status) {
    rdo_fault_tag(rondo_status_number(status));
}

static void untag(rondo_status status) {
    rdo_fault_untag(rondo_status_number(status));
}

/* Buffer `from` is spoiled, so `to` was not written. */
static void note_skip(rondo_status failure, const char *kernel, uint64_t from, uint64_t to) {
    const rdo_where where = {.operation = "rondo_launch", .kernel = kernel, .label = "l", .stream_id = 4};
    const rdo_bytes needed = {from, 0, 10}, produced = {to, 0, 10};
    rdo_fault_skipped(rondo_status_number(failure), &where, &needed, &produced, 1);
}

static rondo_status report(rondo_status root, uint64_t buffer) {
    const rdo_bytes read = {buffer, 0, 10};
    return rdo_fault_report(RDO_NOWHERE("rondo_read"), RONDO_TAINTED, rondo_status_number(root), &read,
                            "buffer %llu holds nothing valid", (unsigned long long)buffer);
}

static void expect_text(rondo_status status, const char *expected) {
    char text[4096];
    assert_int_equal(rondo_fault_describe(status, text, sizeof text), strlen(expected));
    assert_string_equal(text, expected);
}

/* ---- stories ---- */

/* [E1] */
static void a_failure_tells_its_own_story(void **state) {
    (void)state;
    rondo_status status = rdo_fault_raise(&launch, RONDO_KERNEL, "reason %d", 12);
    assert_int_equal(rondo_status_code(status), RONDO_KERNEL);
    rondo_fault fault = story_of(status);
    assert_true(fault.status == status && fault.root == status);
    assert_int_equal(fault.stream_id, 4);
    assert_int_equal(fault.op_index, 7);
    assert_int_equal(fault.carriers + fault.skips + fault.chain_length + fault.chain_dropped, 0);
    assert_string_equal(fault.operation, "rondo_launch");
    assert_string_equal(fault.kernel, "axpy");
    assert_string_equal(fault.label, "step 3");
    assert_string_equal(fault.message, "reason 12");
    assert_true(rondo_fault_root(status) == status);
    assert_true(rdo_fault_status(rondo_status_number(status)) == status);
}

/* [E1] */
static void what_is_unknown_is_empty_and_what_is_long_is_cut(void **state) {
    char name[RONDO_NAME_MAX + 20], message[RONDO_MESSAGE_MAX + 20];
    (void)state;
    memset(name, 'n', sizeof name - 1), name[sizeof name - 1] = '\0';
    memset(message, 'm', sizeof message - 1), message[sizeof message - 1] = '\0';
    rondo_fault fault = story_of(rdo_fault_raise(&(rdo_where){.kernel = name}, RONDO_INVALID, "%s", message));
    assert_string_equal(fault.operation, "");
    assert_string_equal(fault.label, "");
    assert_int_equal(strlen(fault.kernel), RONDO_NAME_MAX - 1);
    assert_int_equal(strlen(fault.message), RONDO_MESSAGE_MAX - 1);
}

/* [E1] [E2] */
static void what_has_no_story_says_so(void **state) {
    rondo_fault fault;
    rondo_skip skips[2];
    (void)state;
    rondo_status never = rdo_status_of(RONDO_KERNEL, UINT64_C(1) << 47);
    memset(&fault, 0xff, sizeof fault);
    assert_int_equal(rondo_status_code(rondo_fault_get(never, &fault)), RONDO_STALE);
    const rondo_fault zeroed = {.status = never, .op_index = RONDO_NO_INDEX};
    assert_memory_equal(&fault, &zeroed, sizeof fault);
    assert_int_equal(rondo_fault_chain(never, skips, 2), 0);
    assert_true(rondo_fault_root(never) == never);
    assert_int_equal(rondo_status_code(rdo_fault_status(rondo_status_number(never))), RONDO_INTERNAL);
    expect_text(never, "KERNEL #140737488355328: a kernel or host call reported failure while it ran; "
                       "its story is no longer kept\n");
    assert_int_equal(rondo_status_code(rondo_fault_get((rondo_status)RONDO_STALE, &fault)), RONDO_STALE);
}

/* [E2] */
static void asking_wrongly_is_refused(void **state) {
    rondo_fault fault;
    rondo_skip skips[1];
    (void)state;
    rondo_status status = raise_plain("x");
    assert_int_equal(rondo_status_code(rondo_fault_get(status, NULL)), RONDO_INVALID);
    assert_int_equal(rondo_status_code(rondo_fault_get(RONDO_OK, &fault)), RONDO_INVALID);
    note_skip(status, "k", 1, 2); /* so that there is something to tell */
    assert_int_equal(rondo_fault_chain(status, NULL, 5), 0);
    assert_int_equal(rondo_fault_chain(RONDO_OK, skips, 1), 0);
    assert_int_equal(rondo_fault_chain(status, skips, 0), 0);
    assert_int_equal(rondo_fault_root(RONDO_OK), RONDO_OK);
}

/* [E1] Never another failure's story: a code that the number was never returned with finds nothing. */
static void a_status_of_another_code_has_no_story_but_for_skips_and_dooms(void **state) {
    (void)state;
    rondo_status status = raise_plain("the reason");
    uint64_t number = rondo_status_number(status);
    assert_string_equal(story_of(rdo_status_of(RONDO_TAINTED, number)).message, "the reason");
    assert_string_equal(story_of(rdo_status_of(RONDO_DOOMED, number)).message, "the reason");
    assert_true(rondo_fault_root(rdo_status_of(RONDO_DOOMED, number)) == status);
    assert_false(is_kept(rdo_status_of(RONDO_STALE, number)));
    assert_false(is_kept(rdo_status_of((rondo_code)777, number)));
    rondo_fault fault = story_of(rdo_status_of(RONDO_TAINTED, number));
    assert_true(fault.status == rdo_status_of(RONDO_TAINTED, number) && fault.root == status);
}

/* [T5] */
static void numbers_are_never_reused(void **state) {
    (void)state;
    uint64_t last = 0;
    for (int i = 0; i < 3000; i++) {
        rondo_status status = i % 3 == 0 ? report(RONDO_OK, 1) : raise_plain("again");
        assert_true(rondo_status_number(status) > last);
        last = rondo_status_number(status);
    }
    assert_true(rdo_ledger_check());
}

/* [T6] A report is about a failure, it is none. */
static void reports_are_not_counted_as_failures(void **state) {
    (void)state;
    uint64_t before = rdo_fault_minted();
    rondo_status root = raise_plain("root");
    (void)report(root, 1);
    (void)report(root, 2);
    note_skip(root, "k", 1, 2);
    assert_int_equal(rdo_fault_minted(), before + 1);
}

/* ---- how long they are kept ---- */

/* [T5] */
static void a_failure_lives_while_something_carries_it_and_no_longer(void **state) {
    (void)state;
    rondo_status status = raise_plain("carried");
    assert_int_equal(rondo_fault_live_count(), 0);
    tag(status), tag(status);
    assert_int_equal(rondo_fault_live_count(), 1);
    assert_int_equal(story_of(status).carriers, 2);
    untag(status);
    assert_int_equal(rondo_fault_live_count(), 1);
    untag(status);
    assert_int_equal(rondo_fault_live_count(), 0);
    assert_int_equal(story_of(status).carriers, 0);
    assert_true(rdo_ledger_check());
}

/* [T5] */
static void of_those_that_nothing_carries_the_newest_256_are_kept(void **state) {
    (void)state;
    rondo_status all[KEPT_STORIES + 50];
    for (int i = 0; i < KEPT_STORIES + 50; i++) all[i] = raise_plain("uncarried");
    for (int i = 0; i < KEPT_STORIES + 50; i++) assert_int_equal(is_kept(all[i]), i >= 50);
    assert_true(rdo_ledger_check());
}

/* [T5] */
static void a_carried_failure_outlives_any_number_of_newer_ones(void **state) {
    (void)state;
    rondo_status carried[20];
    for (int i = 0; i < 20; i++) {
        carried[i] = raise_plain("carried");
        tag(carried[i]);
    }
    for (int i = 0; i < 2000; i++) (void)raise_plain("newer");
    assert_int_equal(rondo_fault_live_count(), 20);
    for (int i = 0; i < 20; i++) assert_string_equal(story_of(carried[i]).message, "carried");
    for (int i = 0; i < 20; i++) untag(carried[i]);
    /* Now they are the newest of the uncarried. */
    for (int i = 0; i < KEPT_STORIES - 20; i++) (void)raise_plain("newer");
    for (int i = 0; i < 20; i++) assert_true(is_kept(carried[i]));
    (void)raise_plain("one more");
    assert_false(is_kept(carried[0]));
    assert_true(is_kept(carried[1]));
    assert_true(rdo_ledger_check());
}

/* [T5] */
static void a_failure_that_is_carried_again_is_taken_off_the_list(void **state) {
    (void)state;
    rondo_status first = raise_plain("first"), middle = raise_plain("middle"), last = raise_plain("last");
    for (int round = 0; round < 3; round++) {
        tag(middle), tag(last), tag(first);
        assert_int_equal(rondo_fault_live_count(), 3);
        assert_true(rdo_ledger_check());
        untag(first), untag(last), untag(middle);
        assert_true(rdo_ledger_check());
    }
    assert_true(is_kept(first) && is_kept(middle) && is_kept(last));
}

/* [T5] */
static void carrying_a_forgotten_failure_counts_nothing(void **state) {
    (void)state;
    rondo_status old = raise_plain("old");
    for (int i = 0; i < KEPT_STORIES; i++) (void)raise_plain("newer");
    assert_false(is_kept(old));
    tag(old);
    assert_int_equal(rondo_fault_live_count(), 0);
    untag(old);
    note_skip(old, "k", 1, 2);
    assert_true(rdo_ledger_check());
}

/* ---- skips and chains ---- */

/* [T6] */
static void the_skip_cap_keeps_the_newest_records(void **state) {
    rondo_skip skips[KEPT_SKIPS + 4];
    char text[8192];
    (void)state;
    rondo_status root = raise_plain("root");
    for (uint64_t i = 0; i < 20; i++) note_skip(root, "k", 100 + i, 101 + i);
    rondo_fault fault = story_of(root);
    assert_int_equal(fault.skips, 20);
    assert_int_equal(fault.chain_length, KEPT_SKIPS);
    assert_int_equal(fault.chain_dropped, 4);
    assert_int_equal(rondo_fault_chain(root, skips, KEPT_SKIPS + 4), KEPT_SKIPS);
    for (uint64_t i = 0; i < KEPT_SKIPS; i++) assert_int_equal(skips[i].produced, 120 - i); /* newest first */
    assert_int_equal(rondo_fault_chain(root, skips, 3), 3);
    assert_int_equal(skips[2].produced, 118);
    (void)rondo_fault_describe(root, text, sizeof text);
    assert_non_null(strstr(text, "(4 older skips are no longer kept)"));

    rondo_status read = report(root, 120);
    assert_int_equal(story_of(read).chain_length, KEPT_SKIPS);
    assert_int_equal(story_of(read).chain_dropped, 4);
    assert_int_equal(rondo_fault_chain(read, skips, 5), 5);
    assert_int_equal(skips[0].produced, 120);
    (void)rondo_fault_describe(read, text, sizeof text);
    assert_non_null(strstr(text, "(4 older skips are no longer kept)"));
}

/* [T7] */
static void a_report_walks_the_skip_chain_back_to_the_root(void **state) {
    rondo_skip skips[4];
    (void)state;
    rondo_status root = rdo_fault_raise(&launch, RONDO_KERNEL, "reason 12");
    note_skip(root, "first", 10, 20);
    note_skip(root, "unrelated", 10, 25);
    note_skip(root, "second", 20, 30);
    rondo_status read = report(root, 30);
    assert_int_equal(rondo_status_code(read), RONDO_TAINTED);
    assert_true(rondo_fault_root(read) == root);
    assert_int_equal(rondo_fault_chain(read, skips, 4), 2);
    assert_string_equal(skips[0].kernel, "second");
    assert_true(skips[0].needed == 20 && skips[0].produced == 30);
    assert_string_equal(skips[1].kernel, "first");
    assert_true(skips[1].needed == 10 && skips[1].produced == 20);
    rondo_fault fault = story_of(read);
    assert_true(fault.root == root && fault.skips == 3 && fault.chain_length == 2 && fault.chain_dropped == 0);
    assert_string_equal(fault.message, "buffer 30 holds nothing valid");

    rondo_status other = report(root, 99); /* nothing that was skipped would have written it */
    assert_int_equal(rondo_fault_chain(other, skips, 4), 0);
    assert_true(rondo_fault_root(other) == root);
}

/* [T7] The chain is that of the moment of the read: skips that follow belong to other reads. */
static void later_skips_do_not_change_a_report(void **state) {
    rondo_skip skips[4];
    (void)state;
    rondo_status root = raise_plain("root");
    note_skip(root, "first", 10, 20);
    rondo_status read = report(root, 20);
    note_skip(root, "again", 30, 20);
    assert_int_equal(rondo_fault_chain(read, skips, 4), 1);
    assert_string_equal(skips[0].kernel, "first");
}

/* [T7] [T1] Chains are exact to the byte. */
static void a_chain_follows_the_bytes_that_were_read(void **state) {
    rondo_skip skips[4];
    const rdo_where where = {.operation = "rondo_copy", .stream_id = 1};
    const rdo_bytes outputs[] = {{20, 0, 10}, {21, 50, 60}};
    const rdo_bytes needed = {10, 0, 4};
    (void)state;
    rondo_status root = raise_plain("root");
    rdo_fault_skipped(rondo_status_number(root), &where, &needed, outputs, 2);
    static const struct { rdo_bytes read; size_t length; uint64_t produced; } cases[] = {
        {{20, 9, 12}, 1, 20}, {{20, 10, 12}, 0, 0}, {{21, 0, 50}, 0, 0}, {{21, 59, 80}, 1, 21}, {{21, 0, 100}, 1, 21},
        {{22, 0, 100}, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rondo_status read = rdo_fault_report(RDO_NOWHERE("rondo_read"), RONDO_TAINTED, rondo_status_number(root),
                                             &cases[i].read, "read");
        assert_int_equal(rondo_fault_chain(read, skips, 4), cases[i].length);
        if (cases[i].length != 0) assert_int_equal(skips[0].produced, cases[i].produced);
    }
    rondo_status plain = rdo_fault_report(RDO_NOWHERE("rondo_stream_sync"), RONDO_KERNEL, rondo_status_number(root),
                                          NULL, "sync");
    assert_int_equal(rondo_fault_chain(plain, skips, 4), 0);
    assert_true(rondo_fault_root(plain) == root);
}

/* [T6] */
static void a_skip_without_outputs_or_with_very_many_is_kept(void **state) {
    rdo_bytes outputs[RDO_KEPT_OUTPUTS + 4];
    rondo_skip skips[2];
    const rdo_bytes needed = {10, 0, 4};
    (void)state;
    for (size_t i = 0; i < RDO_KEPT_OUTPUTS + 4; i++) outputs[i] = (rdo_bytes){100 + i, 0, 1};
    rondo_status root = raise_plain("root");
    rdo_fault_skipped(rondo_status_number(root), &launch, &needed, NULL, 0);
    rdo_fault_skipped(rondo_status_number(root), &launch, &needed, outputs, RDO_KEPT_OUTPUTS + 4);
    assert_int_equal(rondo_fault_chain(root, skips, 2), 2);
    assert_int_equal(skips[0].produced, 100);
    assert_int_equal(skips[1].produced, 0);
    assert_int_equal(rondo_fault_chain(report(root, 100 + RDO_KEPT_OUTPUTS - 1), skips, 2), 1);
    assert_int_equal(rondo_fault_chain(report(root, 100 + RDO_KEPT_OUTPUTS), skips, 2), 0);
}

/* [E1] */
static void a_report_about_a_forgotten_failure_still_names_it(void **state) {
    (void)state;
    rondo_status root = raise_plain("root"), early = report(root, 1);
    for (int i = 0; i < KEPT_STORIES - 1; i++) (void)raise_plain("newer");
    rondo_status late = report(root, 1);
    assert_int_equal(rondo_status_number(rondo_fault_root(late)), rondo_status_number(root));
    assert_false(is_kept(root));
    assert_false(is_kept(early));
    rondo_fault fault = story_of(late);
    assert_int_equal(fault.carriers + fault.skips, 0);
}

/* ---- texts ---- */

/* [E1] [T7] */
static void a_description_tells_everything_in_order(void **state) {
    char expected[2048];
    (void)state;
    expect_text(RONDO_OK, "OK\n");
    rondo_status root = rdo_fault_raise(&launch, RONDO_KERNEL, "reason 12");
    unsigned long long number = rondo_status_number(root);
    (void)snprintf(expected, sizeof expected,
                   "KERNEL #%llu in rondo_launch 'axpy' (label 'step 3', operation 7, stream 4): reason 12\n", number);
    expect_text(root, expected);

    note_skip(root, "scale", 10, 20);
    rondo_status read = report(root, 20);
    (void)snprintf(expected, sizeof expected,
                   "TAINTED #%llu in rondo_read: buffer 20 holds nothing valid\n"
                   "  skipped: rondo_launch 'scale' (label 'l', stream 4): "
                   "it needed buffer 10, so buffer 20 was not written\n"
                   "  because of KERNEL #%llu in rondo_launch 'axpy' (label 'step 3', operation 7, stream 4): "
                   "reason 12\n",
                   (unsigned long long)rondo_status_number(read), number);
    expect_text(read, expected);

    (void)snprintf(expected, sizeof expected,
                   "DOOMED: something in the window failed, so it cannot become a graph\n"
                   "KERNEL #%llu in rondo_launch 'axpy' (label 'step 3', operation 7, stream 4): reason 12\n"
                   "  skipped: rondo_launch 'scale' (label 'l', stream 4): "
                   "it needed buffer 10, so buffer 20 was not written\n",
                   number);
    expect_text(rdo_status_of(RONDO_DOOMED, (uint64_t)number), expected);
}

/* [E1] [T6] */
static void a_skip_that_no_input_is_to_blame_for_names_none(void **state) {
    char expected[512];
    (void)state;
    rondo_status root = raise_plain("out of memory");
    note_skip(root, "scale", 0, 20);
    (void)snprintf(expected, sizeof expected,
                   "KERNEL #%llu in rondo_fill: out of memory\n"
                   "  skipped: rondo_launch 'scale' (label 'l', stream 4), so buffer 20 was not written\n",
                   (unsigned long long)rondo_status_number(root));
    expect_text(root, expected);
}

/* [E1] */
static void a_place_is_told_as_far_as_it_is_known(void **state) {
    static const struct { rdo_where where; const char *text; } cases[] = {
        {{"f", NULL, NULL, 0, RONDO_NO_INDEX}, "f: m\n"},
        {{"f", "k", NULL, 0, RONDO_NO_INDEX}, "f 'k': m\n"},
        {{"f", NULL, "l", 0, RONDO_NO_INDEX}, "f (label 'l'): m\n"},
        {{"f", NULL, NULL, 3, RONDO_NO_INDEX}, "f (stream 3): m\n"},
        {{"f", NULL, NULL, 0, 0}, "f (operation 0): m\n"},
        {{"f", NULL, NULL, 3, 2}, "f (operation 2, stream 3): m\n"},
        {{"f", "k", "l", 3, RONDO_NO_INDEX}, "f 'k' (label 'l', stream 3): m\n"},
    };
    char text[512];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rondo_status status = rdo_fault_raise(&cases[i].where, RONDO_RANGE, "m");
        (void)rondo_fault_describe(status, text, sizeof text);
        assert_string_equal(strstr(text, " in ") + 4, cases[i].text);
    }
}

/* [E1] [E2] */
static void a_description_is_cut_to_the_room_given(void **state) {
    char text[64];
    (void)state;
    rondo_status status = raise_plain("a message of some length");
    size_t length = rondo_fault_describe(status, NULL, 0);
    assert_true(length > 30 && length < sizeof text + 10);
    assert_int_equal(rondo_fault_describe(status, NULL, 100), length);
    memset(text, '#', sizeof text);
    assert_int_equal(rondo_fault_describe(status, text, 10), length);
    assert_int_equal(strlen(text), 9);
    assert_int_equal(text[10], '#');
    char *whole = malloc(length + 1);
    assert_non_null(whole);
    assert_int_equal(rondo_fault_describe(status, whole, length + 1), length);
    assert_int_equal(strlen(whole), length);
    assert_int_equal(strncmp(whole, text, 9), 0);
    free(whole);
}

/* ---- without memory ---- */

/* [E3] Runs before all others, since later there may be stories whose room can be used again. */
static void the_first_stories_need_no_memory(void **state) {
    rondo_status first[2];
    (void)state;
    starve(0, true);
    for (int i = 0; i < 2; i++) first[i] = raise_plain("first");
    assert_int_equal(feed(), 0);
    assert_true(is_kept(first[0]) && is_kept(first[1]));
}

/* [E3] Raising never fails: the newest failure is told at the cost of the oldest that nothing carries. */
static void without_memory_the_oldest_story_makes_room(void **state) {
    rondo_status carried[4096];
    size_t count = 0;
    (void)state;
    starve(0, true);
    /* First the free stories are used up; then the 256 uncarried ones go, oldest first; then no room is left. */
    do {
        assert_true(count < 4096);
        carried[count] = raise_plain("carried");
        tag(carried[count]);
    } while (is_kept(carried[count++]));
    assert_true(count > 512);
    assert_true(rdo_ledger_check());
    assert_int_equal(rondo_fault_live_count(), count - 1);

    rondo_status lost = carried[count - 1]; /* minted all the same */
    assert_int_equal(rondo_status_code(lost), RONDO_KERNEL);
    assert_true(rondo_status_number(lost) > rondo_status_number(carried[count - 2]));
    assert_true(rondo_fault_root(lost) == lost);
    rondo_status about = report(carried[0], 1);
    assert_false(is_kept(about));
    note_skip(carried[0], "k", 1, 2); /* counted, not kept */
    rondo_fault fault = story_of(carried[0]);
    assert_true(fault.skips == 1 && fault.chain_length == 0 && fault.chain_dropped == 1);

    untag(carried[0]); /* now there is one uncarried story, and a new one takes its place */
    rondo_status next = raise_plain("next");
    assert_true(is_kept(next));
    assert_false(is_kept(carried[0]));
    assert_true(feed() > 3);

    rondo_status fed = raise_plain("fed");
    assert_true(is_kept(fed) && is_kept(next));
    for (size_t i = 0; i < count; i++) untag(carried[i]);
    assert_int_equal(rondo_fault_live_count(), 0);
    assert_true(rdo_ledger_check());
}

/* [E3] [T7] */
static void without_memory_a_report_has_no_chain_but_says_how_much_is_missing(void **state) {
    rondo_skip skips[2];
    (void)state;
    rondo_status root = raise_plain("root");
    note_skip(root, "a", 10, 20);
    note_skip(root, "b", 20, 30);
    starve(0, true);
    rondo_status read = report(root, 30);
    assert_int_equal(feed(), 1);
    rondo_fault fault = story_of(read);
    assert_true(fault.root == root && fault.chain_length == 0 && fault.chain_dropped == 2);
    assert_int_equal(rondo_fault_chain(read, skips, 2), 0);
}

/* ---- fork and threads ---- */

/* [E5] */
static void a_forked_child_can_tell_stories(void **state) {
    int status = -1;
    (void)state;
    rondo_status before = raise_plain("before");
    (void)fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        rondo_fault fault;
        rdo_lock_reset(rdo_ledger_lock());
        bool good = rondo_fault_get(before, &fault) == RONDO_OK && is_kept(raise_plain("in the child"));
        _exit(good && rdo_ledger_check() ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_stories_need_no_memory),
        cmocka_unit_test(a_failure_tells_its_own_story),
        cmocka_unit_test(what_is_unknown_is_empty_and_what_is_long_is_cut),
        cmocka_unit_test(what_has_no_story_says_so),
        cmocka_unit_test(asking_wrongly_is_refused),
        cmocka_unit_test(a_status_of_another_code_has_no_story_but_for_skips_and_dooms),
        cmocka_unit_test(numbers_are_never_reused),
        cmocka_unit_test(reports_are_not_counted_as_failures),
        cmocka_unit_test(a_failure_lives_while_something_carries_it_and_no_longer),
        cmocka_unit_test(of_those_that_nothing_carries_the_newest_256_are_kept),
        cmocka_unit_test(a_carried_failure_outlives_any_number_of_newer_ones),
        cmocka_unit_test(a_failure_that_is_carried_again_is_taken_off_the_list),
        cmocka_unit_test(carrying_a_forgotten_failure_counts_nothing),
        cmocka_unit_test(the_skip_cap_keeps_the_newest_records),
        cmocka_unit_test(a_report_walks_the_skip_chain_back_to_the_root),
        cmocka_unit_test(later_skips_do_not_change_a_report),
        cmocka_unit_test(a_chain_follows_the_bytes_that_were_read),
        cmocka_unit_test(a_skip_without_outputs_or_with_very_many_is_kept),
        cmocka_unit_test(a_report_about_a_forgotten_failure_still_names_it),
        cmocka_unit_test(a_description_tells_everything_in_order),
        cmocka_unit_test(a_skip_that_no_input_is_to_blame_for_names_none),
        cmocka_unit_test(a_place_is_told_as_far_as_it_is_known),
        cmocka_unit_test(a_description_is_cut_to_the_room_given),
        cmocka_unit_test(without_memory_the_oldest_story_makes_room),
        cmocka_unit_test(without_memory_a_report_has_no_chain_but_says_how_much_is_missing),
        cmocka_unit_test(a_forked_child_can_tell_stories),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
