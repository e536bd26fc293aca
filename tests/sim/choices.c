#include "choices.h"

choices choices_of_seed(uint64_t seed) {
    return (choices){.random = seed * UINT64_C(0x2545f4914f6cdd1d) + 1};
}

choices choices_of_bytes(const uint8_t *bytes, size_t size) {
    static const uint8_t none;
    return (choices){.bytes = bytes != NULL ? bytes : &none, .left = size};
}

bool choices_ended(const choices *from) {
    return from->bytes != NULL && from->left == 0;
}

static uint64_t next_random(uint64_t *state) {
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint32_t next_byte(choices *from) {
    if (from->left == 0) return 0;
    from->left--;
    return *from->bytes++;
}

uint32_t choose_below(choices *from, uint32_t bound) {
    if (from->bytes == NULL) return (uint32_t)(next_random(&from->random) >> 33) % bound;
    uint32_t low = next_byte(from);
    return (bound <= 256 ? low : low | next_byte(from) << 8) % bound;
}

uint32_t choose_word(choices *from) {
    if (from->bytes == NULL) return (uint32_t)next_random(&from->random);
    uint32_t low = next_byte(from);
    return low | next_byte(from) << 8;
}
