/* The command `rondo`. It uses the public interface only, as any other program would. */
#include <argp.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rondo/rondo.h>

#define EXIT_USAGE 2

const char *argp_program_version = "rondo " RONDO_VERSION_STRING;

struct command {
    const char *name;
    const char *summary;
    int (*run)(int argc, char **argv);
};

static void print_story(const char *what, rondo_status status) {
    char story[1024];
    rondo_fault_describe(status, story, sizeof story);
    fprintf(stderr, "rondo: %s: %s\n", what, story);
}

static void print_bytes(const char *title, uint64_t bytes) {
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double amount = (double)bytes;
    size_t unit = 0;
    while (amount >= 1024.0 && unit + 1 < sizeof units / sizeof units[0]) {
        amount /= 1024.0;
        unit++;
    }
    printf("    %-14s %.*f %s\n", title, unit == 0 ? 0 : 1, amount, units[unit]);
}

static void print_info(const rondo_device_info *info) {
    printf("    %-14s %s\n", "device", info->name);
    printf("    %-14s %s\n", "driver", info->driver);
    if (info->memory_bytes != 0)
        print_bytes("memory", info->memory_bytes);
    else
        printf("    %-14s %s\n", "memory", "unknown");
    print_bytes("alignment", info->alignment_bytes);
    printf("    %-14s %" PRIu32 "\n", "queues", info->max_queues);
    printf("    %-14s %" PRIu32 "\n", "workers", info->workers);
    printf("    %-14s %s\n", "kernels", info->kernels ? "yes" : "no");
    const char *graphs = info->native_graphs ? "native" : "replayed";
    printf("    %-14s %s\n", "graphs", info->graphs[0] != '\0' ? info->graphs : graphs);
}

static rondo_status fill_something(rondo_stream *stream, void *user) {
    static const uint32_t pattern = 0;
    const rondo_buffer *buffer = user;
    return rondo_fill(stream, rondo_whole(*buffer), &pattern, sizeof pattern, NULL);
}

/* Some backends choose how graphs are replayed when they build the first one. */
static rondo_status build_graph(rondo_device *device) {
    rondo_stream *stream = NULL;
    rondo_graph *graph = NULL;
    rondo_buffer buffer = RONDO_NO_BUFFER;
    rondo_status status = rondo_stream_create(device, &stream);
    if (status == RONDO_OK)
        status = rondo_buffer_create(stream, sizeof(uint32_t), RONDO_USAGE_GENERAL, &buffer);
    if (status == RONDO_OK)
        status = rondo_capture_step(stream, fill_something, &buffer, &graph);
    rondo_graph_release(graph);
    rondo_buffer_release(buffer);
    rondo_stream_release(stream);
    return status;
}

/* Opening is the only honest answer to whether a device works, so `info` opens each one. */
static rondo_status show_device(const char *name) {
    rondo_device *device = NULL;
    rondo_device_info info;
    rondo_status status = rondo_device_open(name, NULL, &device);
    if (status == RONDO_OK)
        status = build_graph(device);
    if (status == RONDO_OK)
        status = rondo_device_get_info(device, &info);
    if (status == RONDO_OK)
        print_info(&info);
    rondo_device_release(device);
    return status;
}

static int show_entry(const rondo_device_entry *entry) {
    if (!entry->available) {
        printf("%s: not available\n    %s\n", entry->name, entry->reason);
        return EXIT_SUCCESS;
    }
    printf("%s\n", entry->name);
    rondo_status status = show_device(entry->name);
    if (status == RONDO_OK)
        return EXIT_SUCCESS;
    fflush(stdout);
    print_story(entry->name, status);
    return EXIT_FAILURE;
}

static int list_devices(void) {
    size_t capacity = rondo_device_list(NULL, 0);
    rondo_device_entry *entries = calloc(capacity != 0 ? capacity : 1, sizeof *entries);
    if (entries == NULL) {
        fprintf(stderr, "rondo: out of memory\n");
        return EXIT_FAILURE;
    }
    size_t count = rondo_device_list(entries, capacity);
    if (count > capacity)
        count = capacity;
    int result = EXIT_SUCCESS;
    for (size_t i = 0; i < count; i++)
        if (show_entry(&entries[i]) != EXIT_SUCCESS)
            result = EXIT_FAILURE;
    if (count == 0)
        printf("no devices: this build has no backend\n");
    free(entries);
    return result;
}

static error_t parse_info(int key, char *arg, struct argp_state *state) {
    if (key != ARGP_KEY_ARG)
        return ARGP_ERR_UNKNOWN;
    argp_error(state, "info takes no argument, but got '%s'", arg);
    return 0;
}

static int run_info(int argc, char **argv) {
    static const struct argp parser = {
        .parser = parse_info,
        .doc = "Shows the version, and each device with what it offers or why it is missing.",
    };
    argp_parse(&parser, argc, argv, 0, NULL, NULL);
    printf("rondo %s\n\n", rondo_version_string());
    return list_devices();
}

static const struct command commands[] = {
    {"info", "show the version and the devices, or why one is missing", run_info},
};

static const struct command *find_command(const char *name) {
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

static char *list_commands(int key, const char *text, void *input) {
    (void)input;
    if (key != ARGP_KEY_HELP_POST_DOC)
        return (char *)(uintptr_t)text;
    char *list = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&list, &length);
    if (stream == NULL)
        return NULL;
    fprintf(stream, "Commands:\n");
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        fprintf(stream, "  %-10s %s\n", commands[i].name, commands[i].summary);
    fprintf(stream, "\n'rondo COMMAND --help' tells more about one.");
    return fclose(stream) == 0 ? list : NULL;
}

/* The command and its arguments, as found on the command line. */
struct choice {
    const struct command *command;
    int first; /* index of the command's name in argv */
};

static error_t parse_choice(int key, char *arg, struct argp_state *state) {
    struct choice *choice = state->input;
    switch (key) {
    case ARGP_KEY_ARG:
        choice->command = find_command(arg);
        choice->first = state->next - 1;
        if (choice->command == NULL)
            argp_error(state, "there is no command '%s'", arg);
        state->next = state->argc; /* the rest belongs to the command */
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "a command is missing");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* argp prints argv[0] in its messages; `rondo info` reads better there than the bare name of the command. */
static int run_choice(const struct choice *choice, int argc, char **argv) {
    char title[64];
    snprintf(title, sizeof title, "rondo %s", choice->command->name);
    argv[choice->first] = title;
    return choice->command->run(argc - choice->first, argv + choice->first);
}

int main(int argc, char **argv) {
    static const struct argp parser = {
        .parser = parse_choice,
        .args_doc = "COMMAND [OPTION...]",
        .doc = "Records what a stream launches once and replays it safely.\v",
        .help_filter = list_commands,
    };
    struct choice choice = {NULL, 0};
    argp_err_exit_status = EXIT_USAGE;
    argp_parse(&parser, argc, argv, ARGP_IN_ORDER, NULL, &choice);
    int result = run_choice(&choice, argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "rondo: cannot write the output\n");
        return EXIT_FAILURE;
    }
    return result;
}
