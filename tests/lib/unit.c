#include "unit.h"

#include "base/alloc.h"

static uint64_t random_state = 1;

void seed_random(void) {
    const char *given = getenv("RONDO_SEED");
    random_state = given != NULL ? strtoull(given, NULL, 0) : UINT64_C(0x2545f4914f6cdd1d);
    print_message("seed %llu\n", (unsigned long long)random_state);
    random_state |= 1;
}

uint64_t random_below(uint64_t bound) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (random_state >> 11) % bound;
}

static struct hunger {
    uint64_t granted, refused, percent;
    bool lasting;
} hunger;

static bool refuse_after_some(void *user) {
    struct hunger *h = user;
    if (h->granted != 0) {
        h->granted--;
        return false;
    }
    if (h->refused != 0 && !h->lasting) return false;
    h->refused++;
    return true;
}

static bool refuse_by_chance(void *user) {
    struct hunger *h = user;
    bool refused = random_below(100) < h->percent;
    h->refused += refused;
    return refused;
}

void starve(uint64_t granted, bool lasting) {
    hunger = (struct hunger){.granted = granted, .lasting = lasting};
    rdo_alloc_set_hook(refuse_after_some, &hunger);
}

void starve_at_random(uint64_t percent) {
    hunger = (struct hunger){.percent = percent};
    rdo_alloc_set_hook(refuse_by_chance, &hunger);
}

uint64_t feed(void) {
    rdo_alloc_set_hook(NULL, NULL);
    return hunger.refused;
}
