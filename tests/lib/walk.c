#include "walk.h"

const char WALK_NOT_NOW[] = "not now";

/* A sequence of choices. */
typedef struct sequence {
    uint16_t choices[WALK_LONGEST];
    uint8_t length;
} sequence;

static void give_up(const walk_machine *machine, const sequence *way, const char *what) {
    for (unsigned i = 0; i < way->length; i++) print_error("  %2u. %s\n", i + 1, machine->name(way->choices[i]));
    fail_msg("after these steps the machine and its reference differ: %s", what);
}

/* Takes the steps of `way` from the start. False if the last one cannot be made; the others can. */
static bool follow(const walk_machine *machine, sequence *way) {
    machine->start();
    for (unsigned i = 0; i < way->length; i++) {
        const char *what = machine->step(way->choices[i]);
        if (what == NULL) continue;
        way->length = (uint8_t)(i + 1);
        if (what != WALK_NOT_NOW) give_up(machine, way, what);
        return false;
    }
    return true;
}

bool walk_is_short(void) {
    return getenv("RONDO_SHORT_WALKS") != NULL;
}

void walk_sequences(const walk_machine *machine, unsigned most) {
    unsigned length = walk_is_short() && most > 1 ? most - 1 : most;
    sequence way = {.length = (uint8_t)length};
    uint64_t whole = 0;
    bool more = true;
    assert_true(length <= WALK_LONGEST && machine->choices <= UINT16_MAX);
    while (more) {
        sequence taken = way;
        whole += follow(machine, &taken);
        machine->end();
        /* The next sequence differs from this one within the steps that were taken. */
        unsigned at = taken.length;
        while (at > 0 && ++way.choices[at - 1] == machine->choices) way.choices[--at] = 0;
        for (unsigned i = at; i < length; i++) way.choices[i] = 0;
        more = at > 0;
    }
    print_message("%llu sequences of length %u agree\n", (unsigned long long)whole, length);
}

/* ---- states ---- */

/* The states seen, by number, and for each the first way that led to it. */
typedef struct atlas {
    sequence *ways;
    uint64_t *numbers;
    size_t count, capacity;
    size_t *table; /* index + 1 of the state, 0: empty */
    size_t table_size;
} atlas;

static size_t *place_of(const atlas *a, uint64_t number) {
    uint64_t hash = number * UINT64_C(0x9e3779b97f4a7c15);
    size_t at = (size_t)(hash >> 20) & (a->table_size - 1);
    while (a->table[at] != 0 && a->numbers[a->table[at] - 1] != number) at = (at + 1) & (a->table_size - 1);
    return &a->table[at];
}

static void enlarge(atlas *a) {
    a->capacity = a->capacity != 0 ? 2 * a->capacity : 1024;
    a->table_size = 4 * a->capacity;
    a->ways = realloc(a->ways, a->capacity * sizeof *a->ways);
    a->numbers = realloc(a->numbers, a->capacity * sizeof *a->numbers);
    free(a->table);
    a->table = calloc(a->table_size, sizeof *a->table);
    assert_true(a->ways != NULL && a->numbers != NULL && a->table != NULL);
    for (size_t i = 0; i < a->count; i++) *place_of(a, a->numbers[i]) = i + 1;
}

static void note(atlas *a, uint64_t number, const sequence *way) {
    if (a->count == a->capacity) enlarge(a);
    size_t *place = place_of(a, number);
    if (*place != 0) return;
    a->ways[a->count] = *way;
    a->numbers[a->count] = number;
    *place = ++a->count;
}

void walk_states(const walk_machine *machine, unsigned length) {
    atlas a = {0};
    uint64_t steps = 0;
    assert_true(length <= WALK_LONGEST && machine->choices <= UINT16_MAX);
    sequence way = {.length = 0};
    (void)follow(machine, &way);
    note(&a, machine->state(), &way);
    machine->end();
    for (size_t i = 0; i < a.count && !(walk_is_short() && i == WALK_FIRST_STATES); i++) {
        for (unsigned choice = 0; choice < machine->choices; choice++) {
            way = a.ways[i];
            if (way.length == length) fail_msg("there are states beyond sequences of length %u", length);
            way.choices[way.length++] = (uint16_t)choice;
            if (follow(machine, &way)) note(&a, machine->state(), &way), steps++;
            machine->end();
        }
    }
    print_message("%zu states and all %llu steps between them agree; the farthest takes %u steps\n", a.count,
                  (unsigned long long)steps, a.ways[a.count - 1].length);
    free(a.ways);
    free(a.numbers);
    free(a.table);
}
