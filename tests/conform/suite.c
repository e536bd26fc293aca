/* The contract: every case of every file that tables.h names. */
#include "doom.h"
#include "suite.h"

#define CONFORM_TABLE(name) extern const struct conform_case conform_##name##_cases[];
#include "tables.h"
#undef CONFORM_TABLE

static const struct {
    const char *file;
    const struct conform_case *cases;
} tables[] = {
#define CONFORM_TABLE(name) {#name, conform_##name##_cases},
#include "tables.h"
#undef CONFORM_TABLE
};

const char suite_name[] = "rondo-conform";
const bool suite_shows_groups = false;

bool suite_get(size_t index, struct suite_entry *out) {
    for (size_t k = 0; k < sizeof tables / sizeof tables[0]; k++) {
        for (const struct conform_case *item = tables[k].cases; item->name != NULL; item++) {
            if (index-- == 0) {
                *out = (struct suite_entry){tables[k].file, item};
                return true;
            }
        }
    }
    return false;
}

unsigned suite_tell_the_rest(void) {
    return doom_print_table(stdout, NULL);
}
