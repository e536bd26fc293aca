#include "capture/lifecycle.h"

#include "walk.h"

enum { OWNER = 7, NEIGHBOUR = 8 };

typedef enum call { PREPARE_OWNER, PREPARE_NEIGHBOUR, BEGIN, END_OWNER, END_NEIGHBOUR, ABORT, CALLS } call;

/* The reference: what the lifecycle shall be, in the fewest words. */
typedef struct model {
    rondo_phase phase;
    uint64_t owner;
} model;

/* Whether the call is accepted; `end` is filled by an accepted end. */
static bool step_model(model *m, call c, rdo_capture_end *end) {
    uint64_t caller = c == PREPARE_NEIGHBOUR || c == END_NEIGHBOUR ? NEIGHBOUR : OWNER;
    switch (c) {
    case PREPARE_OWNER:
    case PREPARE_NEIGHBOUR:
        if (m->phase != RONDO_PHASE_NONE) return false;
        *m = (model){RONDO_PHASE_PREPARED, caller};
        return true;
    case BEGIN:
        if (m->phase != RONDO_PHASE_PREPARED) return false;
        m->phase = RONDO_PHASE_RECORDING;
        return true;
    case END_OWNER:
    case END_NEIGHBOUR:
        if (m->phase != RONDO_PHASE_RECORDING) return false;
        *end = (rdo_capture_end){m->owner, m->owner != caller};
        *m = (model){0};
        return true;
    default: *m = (model){0}; return true;
    }
}

static bool step(rdo_lifecycle *life, call c, rdo_capture_end *end) {
    switch (c) {
    case PREPARE_OWNER: return rdo_lifecycle_prepare(life, OWNER) == NULL;
    case PREPARE_NEIGHBOUR: return rdo_lifecycle_prepare(life, NEIGHBOUR) == NULL;
    case BEGIN: return rdo_lifecycle_begin(life) == NULL;
    case END_OWNER: return rdo_lifecycle_end(life, OWNER, end) == NULL;
    case END_NEIGHBOUR: return rdo_lifecycle_end(life, NEIGHBOUR, end) == NULL;
    default: rdo_lifecycle_abort(life); return true;
    }
}

/* Compares everything that can be seen with the models. Plain ifs: the walk takes millions of steps. */
static bool agrees(rdo_captures *device, const rdo_lifecycle *lives, const model *models, size_t count) {
    uint32_t active = 0, recording = 0;
    for (uint64_t stream = OWNER; stream <= NEIGHBOUR; stream++) {
        bool captures = false, records = false, seen_recording = false;
        for (size_t i = 0; i < count; i++) {
            if (models[i].owner != stream) continue;
            captures = true;
            records = records || models[i].phase == RONDO_PHASE_RECORDING;
        }
        if (rdo_captures_is_capturing(device, stream) != captures) return false;
        if (rdo_captures_phase(device, stream, &seen_recording) != captures || seen_recording != records) return false;
    }
    for (size_t i = 0; i < count; i++) {
        active += models[i].phase != RONDO_PHASE_NONE;
        recording += models[i].phase == RONDO_PHASE_RECORDING;
        if (lives[i].phase != models[i].phase || lives[i].owner != models[i].owner) return false;
        if (!rdo_lifecycle_check(&lives[i])) return false;
    }
    return device->active == active && device->recording == recording &&
           rdo_captures_any_recording(device) == (recording != 0);
}

/* Walks every sequence of `length` calls on `count` lifecycles of one device. */
static void walk(size_t count, int length) {
    uint64_t choices = CALLS * count, sequences = 1;
    for (int i = 0; i < length; i++) sequences *= choices;
    for (uint64_t number = 0; number < sequences; number++) {
        rdo_captures device;
        rdo_lifecycle lives[2];
        model models[2] = {{0}};
        uint64_t rest = number;
        bool good = true;
        rdo_captures_init(&device);
        for (size_t i = 0; i < count; i++) rdo_lifecycle_init(&lives[i], &device);
        for (int i = 0; i < length && good; i++, rest /= choices) {
            size_t which = rest % choices / CALLS;
            call c = (call)(rest % CALLS);
            rdo_capture_end end = {0}, expected = {0};
            bool accepted = step_model(&models[which], c, &expected);
            good = step(&lives[which], c, &end) == accepted && end.owner == expected.owner &&
                   end.abandoned == expected.abandoned && agrees(&device, lives, models, count);
        }
        for (size_t i = 0; i < count; i++) rdo_lifecycle_abort(&lives[i]);
        good = good && device.list == NULL && device.active == 0 && device.recording == 0;
        if (!good) fail_msg("sequence %llu of base %llu goes wrong", (unsigned long long)number,
                            (unsigned long long)choices);
    }
}

/* [C1] [C17] */
static void every_sequence_of_calls_follows_the_reference(void **state) {
    (void)state;
    walk(1, walk_is_short() ? 6 : 9);
}

/* [C17] [C20] */
static void every_interleaving_of_two_captures_follows_the_reference(void **state) {
    (void)state;
    walk(2, 5);
}

/* [C17] Stray calls, double ends and two captures at once: the counts follow the list. */
static void unmatched_calls_leave_the_counts_true(void **state) {
    rdo_captures device;
    rdo_lifecycle a, b;
    rdo_capture_end end;
    (void)state;
    rdo_captures_init(&device);
    rdo_lifecycle_init(&a, &device);
    rdo_lifecycle_init(&b, &device);
    assert_non_null(rdo_lifecycle_end(&a, OWNER, &end));
    assert_non_null(rdo_lifecycle_begin(&a));
    assert_int_equal(device.active + device.recording, 0);
    assert_null(rdo_lifecycle_prepare(&a, OWNER));
    assert_null(rdo_lifecycle_prepare(&b, NEIGHBOUR));
    assert_null(rdo_lifecycle_begin(&b));
    assert_null(rdo_lifecycle_begin(&a));
    assert_int_equal(device.recording, 2);
    assert_null(rdo_lifecycle_end(&a, OWNER, &end));
    assert_non_null(rdo_lifecycle_end(&a, OWNER, &end));
    assert_int_equal(device.recording, 1);
    rdo_lifecycle_abort(&a);
    assert_int_equal(device.active, 1);
    rdo_lifecycle_abort(&b);
    rdo_lifecycle_abort(&b);
    assert_int_equal(device.active + device.recording, 0);
}

/* [C1] [P4] A refusal says what does not fit, differently for each cause. */
static void a_refusal_says_what_does_not_fit(void **state) {
    rdo_captures device;
    rdo_lifecycle life;
    rdo_capture_end end;
    (void)state;
    rdo_captures_init(&device);
    rdo_lifecycle_init(&life, &device);
    assert_non_null(strstr(rdo_lifecycle_begin(&life), "no capture is prepared"));
    assert_non_null(strstr(rdo_lifecycle_end(&life, OWNER, &end), "nothing is recording"));
    assert_null(rdo_lifecycle_prepare(&life, OWNER));
    assert_non_null(strstr(rdo_lifecycle_prepare(&life, OWNER), "already prepared"));
    assert_non_null(strstr(rdo_lifecycle_end(&life, OWNER, &end), "nothing is recording"));
    assert_null(rdo_lifecycle_begin(&life));
    assert_non_null(strstr(rdo_lifecycle_prepare(&life, OWNER), "already recording"));
    assert_non_null(strstr(rdo_lifecycle_begin(&life), "already recording"));
    rdo_lifecycle_abort(&life);
}

/* The checker itself notices a list, an owner or a phase that does not fit. */
static void the_checker_sees_what_is_out_of_place(void **state) {
    rdo_captures device;
    rdo_lifecycle life;
    (void)state;
    rdo_captures_init(&device);
    rdo_lifecycle_init(&life, &device);
    life.owner = OWNER;
    assert_false(rdo_lifecycle_check(&life));
    life.owner = 0, life.phase = RONDO_PHASE_PREPARED;
    assert_false(rdo_lifecycle_check(&life));
    life.phase = RONDO_PHASE_NONE, device.list = &life;
    assert_false(rdo_lifecycle_check(&life));
    device.list = NULL;
    assert_true(rdo_lifecycle_check(&life));
}

/* [C8] */
static void a_refusal_from_inside_dooms_the_window_of_its_stream_and_no_other(void **state) {
    rdo_captures device;
    rdo_lifecycle lives[3]; /* records for the owner, is prepared for him, records for his neighbour */
    rondo_status first = RONDO_STALE, second = RONDO_RANGE;
    (void)state;
    rdo_captures_init(&device);
    for (int i = 0; i < 3; i++) {
        rdo_lifecycle_init(&lives[i], &device);
        assert_null(rdo_lifecycle_prepare(&lives[i], i == 2 ? NEIGHBOUR : OWNER));
        if (i != 1) assert_null(rdo_lifecycle_begin(&lives[i]));
    }
    rdo_captures_refused(&device, OWNER, first);
    rdo_captures_refused(&device, OWNER, second); /* the first reason stays */
    assert_int_equal(atomic_load(&lives[0].refused), first);
    assert_int_equal(atomic_load(&lives[1].refused), RONDO_OK);
    assert_int_equal(atomic_load(&lives[2].refused), RONDO_OK);
    for (int i = 0; i < 3; i++) rdo_lifecycle_abort(&lives[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_sequence_of_calls_follows_the_reference),
        cmocka_unit_test(every_interleaving_of_two_captures_follows_the_reference),
        cmocka_unit_test(unmatched_calls_leave_the_counts_true),
        cmocka_unit_test(a_refusal_says_what_does_not_fit),
        cmocka_unit_test(the_checker_sees_what_is_out_of_place),
        cmocka_unit_test(a_refusal_from_inside_dooms_the_window_of_its_stream_and_no_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
