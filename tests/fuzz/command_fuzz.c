/* Any words are a command line of `rondo`. It ends well, or says that it was used wrongly. */
#include <argp.h>
#include <setjmp.h>

#include "fuzz.h"

#include <rondo/rondo.h>

/* The command's own source, but that its ends come back here, and that it finds no device: opening them is
 * device_fuzz.c's. */
static jmp_buf ended;

static _Noreturn void end(int status) {
    longjmp(ended, status + 1);
}

static void end_with_error(const struct argp_state *state, const char *format, ...) {
    (void)state, (void)format;
    end(2);
}

static error_t parse_and_end(const struct argp *parser, int argc, char **argv, unsigned flags, int *index,
                             void *input) {
    error_t error = argp_parse(parser, argc, argv, flags | ARGP_NO_EXIT, index, input);
    if (error != 0) end(2);
    return 0;
}

static size_t no_devices(rondo_device_entry *entries, size_t capacity) {
    (void)entries, (void)capacity;
    return 0;
}

int command_main(int argc, char **argv);
#define main command_main
#define argp_error end_with_error
#define argp_parse parse_and_end
#define rondo_device_list no_devices
#include "../../src/cli/main.c"
#undef rondo_device_list
#undef argp_parse
#undef argp_error
#undef main

enum { MOST_WORDS = 12, MOST_LETTERS = 200 };

/* What a jump left behind is argp's, which would have ended the process. */
FUZZ_OPTIONS("detect_leaks=0")

/* argp's own hidden options: --HANG sleeps for an hour, --program-name keeps a pointer to a word that goes away. */
static bool is_hidden(const char *word) {
    return strncmp(word, "--H", 3) == 0 || strncmp(word, "--p", 3) == 0;
}

static bool asks_for_help(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '-') return true;
    }
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static char *argv[MOST_WORDS + 2];
    static char name[] = "rondo";
    static int argc;
    fuzz_bytes from = {data, size};
    if (freopen("/dev/null", "w", stdout) == NULL) abort();
    argv[0] = name;
    for (argc = 1; from.left != 0 && argc <= MOST_WORDS; argc++) {
        argv[argc] = fuzz_text(&from, MOST_LETTERS);
        if (is_hidden(argv[argc])) argv[argc][2] = 'x';
    }
    argv[argc] = NULL;
    static char *words[MOST_WORDS + 2];
    memcpy(words, argv, sizeof words);
    int jumped = setjmp(ended);
    int status = jumped != 0 ? jumped - 1 : command_main(argc, argv);
    HOLDS(status == EXIT_SUCCESS || status == EXIT_USAGE);
    if (!asks_for_help(argc, words)) {
        HOLDS((status == EXIT_SUCCESS) == (argc == 2 && strcmp(words[1], "info") == 0));
    }
    for (int i = 1; i < argc; i++) free(words[i]);
    return 0;
}
