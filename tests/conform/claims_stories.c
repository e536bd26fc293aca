/* Stories: what a status tells about the failure behind it, for how long, and the chain that leads back to the root. */
#include "conform.h"

#include <pthread.h>

static rondo_buffer spoiled_buffer(struct conform *t, uint64_t size_bytes, const char *label) {
    rondo_buffer buffer = conform_buffer(t, size_bytes);
    conform_spoil(t->stream, rondo_whole(buffer), label);
    return buffer;
}

/* [T7] */
static void a_failed_read_tells_the_chain_nearest_first(struct conform *t) {
    rondo_buffer a = spoiled_buffer(t, 64, "root");
    rondo_buffer b = conform_buffer(t, 64);
    rondo_buffer c = conform_buffer(t, 64);
    CHECK_CODE(rondo_copy(t->stream, rondo_whole(b), rondo_whole(a), "first skip"), RONDO_TAINTED);
    CHECK_CODE(rondo_copy(t->stream, rondo_whole(c), rondo_whole(b), "second skip"), RONDO_TAINTED);
    rondo_status status = CHECK_CODE(conform_try_read(t->stream, rondo_whole(c)), RONDO_TAINTED);
    rondo_skip chain[4];
    CHECK_EQUAL(conform_fault(status).chain_length, 2);
    CHECK_EQUAL(rondo_fault_chain(status, chain, 4), 2);
    assert_string_equal(chain[0].label, "second skip");
    CHECK_EQUAL(chain[0].needed, b.id);
    CHECK_EQUAL(chain[0].produced, c.id);
    CHECK_EQUAL(chain[0].stream_id, rondo_stream_id(t->stream));
    CHECK(strstr(chain[0].operation, "copy") != NULL);
    assert_string_equal(chain[1].label, "first skip");
    CHECK_EQUAL(chain[1].needed, a.id);
    CHECK_EQUAL(chain[1].produced, b.id);
}

/* [T7] */
static void a_chain_names_kernels_and_the_root(struct conform *t) {
    rondo_buffer a = conform_buffer(t, 64);
    rondo_buffer b = conform_buffer(t, 64);
    rondo_buffer c = conform_buffer(t, 64);
    rondo_buffer flag = conform_buffer(t, 64);
    conform_fill_i32(t, flag, 1);
    CHECK_OK(conform_launch_fail_if(t, t->stream, rondo_whole(a), rondo_slice(flag, 0, 4), 0, 16, "the root"));
    conform_settle(t);
    CHECK_CODE(conform_launch_copy(t, t->stream, rondo_whole(b), rondo_whole(a), 16, "layer 1"), RONDO_TAINTED);
    CHECK_CODE(conform_launch_add(t, t->stream, rondo_whole(c), rondo_whole(flag), rondo_whole(b), 16, "layer 2"),
               RONDO_TAINTED);
    rondo_status status = CHECK_CODE(conform_try_read(t->stream, rondo_whole(c)), RONDO_TAINTED);
    rondo_skip chain[4];
    CHECK_EQUAL(rondo_fault_chain(status, chain, 4), 2);
    assert_string_equal(chain[0].kernel, "add_i32");
    assert_string_equal(chain[1].kernel, "copy_i32");
    rondo_fault root = conform_fault(rondo_fault_root(status));
    assert_string_equal(root.kernel, "fail_if");
    assert_string_equal(root.label, "the root");
    static const char *const parts[] = {"layer 2", "add_i32", "layer 1", "copy_i32", "fail_if", "the root"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        CHECK_SAYS(status, parts[i]);
    }
}

/* [T7] A buffer that the failure spoiled itself has nothing in between. */
static void a_read_next_to_the_root_has_an_empty_chain(struct conform *t) {
    rondo_buffer a = spoiled_buffer(t, 64, "root");
    rondo_buffer b = conform_buffer(t, 64);
    CHECK_CODE(rondo_copy(t->stream, rondo_whole(b), rondo_whole(a), "aside"), RONDO_TAINTED);
    rondo_status status = CHECK_CODE(conform_try_read(t->stream, rondo_whole(a)), RONDO_TAINTED);
    rondo_skip chain[4];
    CHECK_EQUAL(rondo_fault_chain(status, chain, 4), 0);
    CHECK_SAYS(status, "root");
}

/* [T7] */
static void a_chain_fits_the_room_that_there_is(struct conform *t) {
    rondo_buffer a = spoiled_buffer(t, 64, "root");
    rondo_buffer b = conform_buffer(t, 64);
    rondo_buffer c = conform_buffer(t, 64);
    CHECK_CODE(rondo_copy(t->stream, rondo_whole(b), rondo_whole(a), "far"), RONDO_TAINTED);
    CHECK_CODE(rondo_copy(t->stream, rondo_whole(c), rondo_whole(b), "near"), RONDO_TAINTED);
    rondo_status status = conform_try_read(t->stream, rondo_whole(c));
    rondo_skip chain[2];
    memset(chain, 0x5a, sizeof chain);
    CHECK_EQUAL(rondo_fault_chain(status, chain, 1), 1);
    assert_string_equal(chain[0].label, "near");
    CHECK_EQUAL(((const unsigned char *)&chain[1])[0], 0x5a);
    CHECK_EQUAL(rondo_fault_chain(status, NULL, 0), 0);
}

/* [T6] */
static void the_newest_16_skips_are_kept_and_all_are_counted(struct conform *t) {
    rondo_buffer a = spoiled_buffer(t, 64, "root");
    rondo_buffer b = conform_buffer(t, 64);
    for (int i = 0; i < 20; i++) {
        char label[32];
        snprintf(label, sizeof label, "skip %d", i);
        CHECK_CODE(rondo_copy(t->stream, rondo_whole(b), rondo_whole(a), label), RONDO_TAINTED);
    }
    rondo_status root = rondo_fault_root(rondo_span_status(rondo_whole(a)));
    rondo_fault fault = conform_fault(root);
    CHECK_EQUAL(fault.skips, 20);
    CHECK_EQUAL(fault.chain_length, 16);
    CHECK_EQUAL(fault.chain_dropped, 4);
    rondo_skip chain[32];
    CHECK_EQUAL(rondo_fault_chain(root, chain, 32), 16);
    for (int i = 0; i < 16; i++) {
        char label[32];
        snprintf(label, sizeof label, "skip %d", 19 - i);
        assert_string_equal(chain[i].label, label);
    }
    CHECK_EQUAL(conform_stats(t).skipped, 20);
}

/* [T5] */
static void carriers_are_counted(struct conform *t) {
    rondo_buffer a = spoiled_buffer(t, 64, "root");
    rondo_buffer b = conform_buffer(t, 64);
    rondo_status root = rondo_fault_root(rondo_span_status(rondo_whole(a)));
    CHECK_EQUAL(conform_fault(root).carriers, 1);
    CHECK_CODE(rondo_copy(t->stream, rondo_slice(b, 0, 8), rondo_slice(a, 0, 8), NULL), RONDO_TAINTED);
    CHECK_CODE(rondo_copy(t->stream, rondo_slice(b, 32, 8), rondo_slice(a, 0, 8), NULL), RONDO_TAINTED);
    CHECK_EQUAL(conform_fault(root).carriers, 2);
    conform_fill_i32(t, a, 0);
    conform_settle(t);
    CHECK_EQUAL(conform_fault(root).carriers, 1);
    CHECK_EQUAL(rondo_fault_live_count(), 1);
    rondo_buffer_release(b);
    CHECK_EQUAL(conform_fault(root).carriers, 0);
    CHECK_EQUAL(rondo_fault_live_count(), 0);
    assert_string_equal(conform_fault(root).label, "root");
}

/* A failure that no allocation carries, with a label of its own. */
static rondo_status fail_uncarried(struct conform *t, rondo_buffer buffer, int number) {
    char label[32];
    snprintf(label, sizeof label, "uncarried %d", number);
    char byte = 0;
    return CHECK_CODE(rondo_fill(t->stream, rondo_slice(buffer, 0, 65), &byte, 1, label), RONDO_RANGE);
}

static void expect_forgotten(rondo_status status) {
    rondo_fault fault;
    memset(&fault, 0x5a, sizeof fault);
    CHECK_EQUAL(rondo_status_code(rondo_fault_get(status, &fault)), RONDO_STALE);
    CHECK(fault.status == status);
    CHECK_EQUAL(fault.root, 0);
    CHECK_EQUAL(fault.message[0], '\0');
    CHECK_EQUAL(fault.label[0], '\0');
    CHECK_EQUAL(fault.chain_length, 0);
    CHECK_SAYS(status, "no longer kept");
    rondo_skip skip;
    CHECK_EQUAL(rondo_fault_chain(status, &skip, 1), 0);
}

/* [T5, E1] */
static void the_newest_256_uncarried_stories_are_kept_and_never_mixed_up(struct conform *t) {
    enum { FAILURES = 300, KEPT = 256 };
    static rondo_status statuses[FAILURES];
    rondo_buffer buffer = conform_buffer(t, 64);
    for (int i = 0; i < FAILURES; i++) {
        statuses[i] = fail_uncarried(t, buffer, i);
    }
    for (int i = 0; i < FAILURES; i++) {
        char label[32];
        snprintf(label, sizeof label, "uncarried %d", i);
        if (i < FAILURES - KEPT) {
            expect_forgotten(statuses[i]);
        } else {
            rondo_fault fault = conform_fault(statuses[i]);
            assert_string_equal(fault.label, label);
            CHECK(fault.status == statuses[i]);
        }
    }
    CHECK_EQUAL(rondo_fault_live_count(), 0);
}

/* [T5] */
static void a_carried_story_outlives_any_number_of_others(struct conform *t) {
    rondo_buffer a = spoiled_buffer(t, 64, "carried");
    rondo_buffer other = conform_buffer(t, 64);
    rondo_status root = rondo_fault_root(rondo_span_status(rondo_whole(a)));
    for (int i = 0; i < 600; i++) {
        fail_uncarried(t, other, i);
    }
    assert_string_equal(conform_fault(root).label, "carried");
    rondo_status status = CHECK_CODE(conform_try_read(t->stream, rondo_whole(a)), RONDO_TAINTED);
    CHECK(rondo_fault_root(status) == root);
}

/* [T5] */
static void numbers_are_never_used_twice(struct conform *t) {
    rondo_buffer buffer = conform_buffer(t, 64);
    uint64_t last = 0;
    for (int i = 0; i < 1000; i++) {
        rondo_status status = fail_uncarried(t, buffer, i);
        CHECK(rondo_status_number(status) > last);
        last = rondo_status_number(status);
    }
}

/* [E1] */
static void a_story_names_operation_label_and_stream(struct conform *t) {
    rondo_buffer buffer = conform_buffer(t, 64);
    rondo_status status = fail_uncarried(t, buffer, 12);
    rondo_fault fault = conform_fault(status);
    CHECK(fault.status == status);
    CHECK(fault.root == status);
    CHECK(strstr(fault.operation, "fill") != NULL);
    assert_string_equal(fault.label, "uncarried 12");
    CHECK_EQUAL(fault.stream_id, rondo_stream_id(t->stream));
    CHECK_EQUAL(fault.op_index, RONDO_NO_INDEX);
    CHECK(fault.message[0] != '\0');
    CHECK(strchr(fault.message, '\n') == NULL);
    CHECK_SAYS(status, "RANGE");
}

/* [E1, E2] */
static void asking_for_a_story_checks_its_arguments(struct conform *t) {
    rondo_buffer buffer = conform_buffer(t, 64);
    rondo_fault fault;
    rondo_status status = fail_uncarried(t, buffer, 1);
    CHECK_EQUAL(rondo_status_code(rondo_fault_get(RONDO_OK, &fault)), RONDO_INVALID);
    CHECK_EQUAL(rondo_status_code(rondo_fault_get(status, NULL)), RONDO_INVALID);
    CHECK_OK(rondo_fault_get(status, &fault));
    expect_forgotten((UINT64_C(1) << 60) | RONDO_RANGE);
    expect_forgotten(RONDO_RANGE);
}

/* [E1, T6] The status of a skip is another code for the failure that caused it. */
static void the_status_of_a_skip_tells_the_failure_behind_it(struct conform *t) {
    rondo_buffer a = spoiled_buffer(t, 64, "cause");
    rondo_buffer b = conform_buffer(t, 64);
    rondo_status status =
        CHECK_CODE(rondo_copy(t->stream, rondo_whole(b), rondo_whole(a), "skip"), RONDO_TAINTED);
    rondo_fault fault = conform_fault(status);
    CHECK(fault.status == status);
    CHECK(fault.root == rondo_fault_root(status));
    CHECK_EQUAL(rondo_status_code(fault.root), RONDO_KERNEL);
    assert_string_equal(fault.label, "cause");
}

/* [E1] */
static void the_root_of_a_failure_without_a_cause_is_itself(struct conform *t) {
    rondo_buffer buffer = conform_buffer(t, 64);
    rondo_status status = fail_uncarried(t, buffer, 1);
    CHECK(rondo_fault_root(status) == status);
    CHECK(rondo_fault_root(RONDO_OK) == RONDO_OK);
    rondo_status unknown = (UINT64_C(1) << 60) | RONDO_TAINTED;
    CHECK(rondo_fault_root(unknown) == unknown);
}

/* [E1] */
static void a_story_fits_the_text_that_there_is(struct conform *t) {
    rondo_status status = fail_uncarried(t, conform_buffer(t, 64), 5);
    size_t whole = rondo_fault_describe(status, NULL, 0);
    CHECK(whole > 20 && whole < 4096);
    char text[4096];
    memset(text, 'z', sizeof text);
    CHECK_EQUAL(rondo_fault_describe(status, text, 10), whole);
    CHECK_EQUAL(strlen(text), 9);
    CHECK_EQUAL(text[10], 'z');
    memset(text, 'z', sizeof text);
    CHECK_EQUAL(rondo_fault_describe(status, text, 1), whole);
    CHECK_EQUAL(text[0], '\0');
    CHECK_EQUAL(rondo_fault_describe(status, text, sizeof text), whole);
    CHECK_EQUAL(strlen(text), whole);
}

struct asked {
    rondo_status status;
    rondo_fault fault;
    rondo_status answer;
    char text[1024];
};

static void *ask_elsewhere(void *user) {
    struct asked *asked = (struct asked *)user;
    asked->answer = rondo_fault_get(asked->status, &asked->fault);
    rondo_fault_describe(asked->status, asked->text, sizeof asked->text);
    return NULL;
}

/* [E1] */
static void a_story_is_the_same_from_another_thread(struct conform *t) {
    struct asked asked = {0};
    asked.status = fail_uncarried(t, conform_buffer(t, 64), 77);
    pthread_t thread;
    CHECK_EQUAL(pthread_create(&thread, NULL, ask_elsewhere, &asked), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    CHECK_OK(asked.answer);
    assert_string_equal(asked.fault.label, "uncarried 77");
    CHECK(strstr(asked.text, "uncarried 77") != NULL);
}

/* [E1] */
static void a_story_outlives_its_device(struct conform *t) {
    rondo_device *device = NULL;
    rondo_stream *stream = NULL;
    CHECK_OK(rondo_device_open(t->backend, NULL, &device));
    CHECK_OK(rondo_stream_create(device, &stream));
    char byte = 0;
    rondo_status status = CHECK_CODE(rondo_fill(stream, rondo_whole(RONDO_NO_BUFFER), &byte, 1, "gone"), RONDO_STALE);
    rondo_stream_release(stream);
    rondo_device_release(device);
    assert_string_equal(conform_fault(status).label, "gone");
}

/* [E1] */
static void a_device_that_never_opened_has_a_story(struct conform *t) {
    (void)t;
    rondo_device *device = NULL;
    rondo_status status = CHECK_CODE(rondo_device_open("no-such-thing", NULL, &device), RONDO_UNAVAILABLE);
    rondo_fault fault = conform_fault(status);
    CHECK_EQUAL(fault.stream_id, 0);
    CHECK(strstr(fault.message, "no-such-thing") != NULL);
    CHECK(strstr(fault.operation, "open") != NULL);
}

/* [E2] */
static void every_code_has_a_name_and_a_sentence(struct conform *t) {
    (void)t;
    assert_string_equal(rondo_code_name(RONDO_CODE_OK), "OK");
#define CHECK_NAME(name, number, text) \
    assert_string_equal(rondo_code_name((rondo_code)(number)), #name); \
    assert_string_equal(rondo_code_text((rondo_code)(number)), text);
    RONDO_CODES(CHECK_NAME)
#undef CHECK_NAME
    assert_string_equal(rondo_code_name((rondo_code)999), "UNKNOWN");
    CHECK(rondo_code_text((rondo_code)999) != NULL);
}

/* [T5] */
static void failures_are_counted(struct conform *t) {
    rondo_buffer buffer = conform_buffer(t, 64);
    uint64_t before = conform_stats(t).failures;
    conform_spoil(t->stream, rondo_whole(buffer), NULL);
    CHECK_EQUAL(conform_stats(t).failures, before + 1);
    CHECK_CODE(conform_try_read(t->stream, rondo_whole(buffer)), RONDO_TAINTED);
    CHECK_EQUAL(conform_stats(t).failures, before + 1);
}

/* [T7, E1] A read's own story is told while it is kept, and stays the story of that read. */
static void the_story_of_a_read_stays_when_its_bytes_heal(struct conform *t) {
    rondo_buffer a = spoiled_buffer(t, 64, "root");
    rondo_status status = CHECK_CODE(conform_try_read(t->stream, rondo_whole(a)), RONDO_TAINTED);
    rondo_status root = rondo_fault_root(status);
    conform_fill_i32(t, a, 0);
    conform_settle(t);
    CHECK(rondo_fault_root(status) == root);
    CHECK_SAYS(status, "root");
    rondo_fault fault = conform_fault(status);
    CHECK(fault.status == status);
    CHECK(fault.root == root);
    CHECK_EQUAL(fault.carriers, 0);
}

/* [T7] Two reads of two failures each tell their own. */
static void two_reads_tell_two_stories(struct conform *t) {
    rondo_buffer a = spoiled_buffer(t, 64, "left");
    rondo_buffer b = spoiled_buffer(t, 64, "right");
    rondo_status left = conform_try_read(t->stream, rondo_whole(a));
    rondo_status right = conform_try_read(t->stream, rondo_whole(b));
    assert_string_equal(conform_fault(rondo_fault_root(left)).label, "left");
    assert_string_equal(conform_fault(rondo_fault_root(right)).label, "right");
}

const struct conform_case conform_claims_stories_cases[] = {
    CONFORM_CASE(a_failed_read_tells_the_chain_nearest_first, NEEDS_FAILURES),
    CONFORM_CASE(a_chain_names_kernels_and_the_root, NEEDS_KERNELS),
    CONFORM_CASE(a_read_next_to_the_root_has_an_empty_chain, NEEDS_FAILURES),
    CONFORM_CASE(a_chain_fits_the_room_that_there_is, NEEDS_FAILURES),
    CONFORM_CASE(the_newest_16_skips_are_kept_and_all_are_counted, NEEDS_FAILURES),
    CONFORM_CASE(carriers_are_counted, NEEDS_FAILURES),
    CONFORM_CASE(the_newest_256_uncarried_stories_are_kept_and_never_mixed_up, NEEDS_NOTHING),
    CONFORM_CASE(a_carried_story_outlives_any_number_of_others, NEEDS_FAILURES),
    CONFORM_CASE(numbers_are_never_used_twice, NEEDS_NOTHING),
    CONFORM_CASE(a_story_names_operation_label_and_stream, NEEDS_NOTHING),
    CONFORM_CASE(asking_for_a_story_checks_its_arguments, NEEDS_NOTHING),
    CONFORM_CASE(the_status_of_a_skip_tells_the_failure_behind_it, NEEDS_FAILURES),
    CONFORM_CASE(the_root_of_a_failure_without_a_cause_is_itself, NEEDS_NOTHING),
    CONFORM_CASE(a_story_fits_the_text_that_there_is, NEEDS_NOTHING),
    CONFORM_CASE(a_story_is_the_same_from_another_thread, NEEDS_NOTHING),
    CONFORM_CASE(a_story_outlives_its_device, NEEDS_NOTHING),
    CONFORM_CASE(a_device_that_never_opened_has_a_story, NEEDS_NOTHING),
    CONFORM_CASE(every_code_has_a_name_and_a_sentence, NEEDS_NOTHING),
    CONFORM_CASE(failures_are_counted, NEEDS_FAILURES),
    CONFORM_CASE(the_story_of_a_read_stays_when_its_bytes_heal, NEEDS_FAILURES),
    CONFORM_CASE(two_reads_tell_two_stories, NEEDS_FAILURES),
    CONFORM_END,
};
