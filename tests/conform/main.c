/* rondo-conform BACKEND [FILTER]: runs every case whose name, or whose group's name, contains FILTER. Ends with 77 if
 * this machine has no such device. rondo-bugs is the same program with another list of cases, see suite.h.
 *
 * Each case runs in a child process, so that a crash or a hang ends one case and not the suite; what the child
 * writes is shown only if the case fails. `--here` runs the cases in this process, for a debugger. `--queued` runs
 * them with every stream in queued mode. `--list` prints the names.
 */
#include "conform.h"

#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"
#include "suite.h"

#define CASE_SECONDS 120
#define SKIPPED 77

/* Sanitizers end a process that asks for more memory than can be, or that starts threads after a fork; both are what
 * some cases do on purpose. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "allocator_may_return_null=1";
}
const char *__tsan_default_options(void);
const char *__tsan_default_options(void) {
    return "allocator_may_return_null=1:die_after_fork=0";
}

struct tally {
    unsigned passed, failed, lacking, excluded, unexpected;
};

static const struct conform_backend *backend;
static const char *device_name;
static const struct conform_case *running;

static void run_case(void **state) {
    struct conform *t = (struct conform *)*state;
    running->run(t);
    conform_fixture_close(t);
}

static int open_fixture(void **state) {
    *state = conform_fixture_open(device_name, running->desc);
    return *state == NULL;
}

static int drop_fixture(void **state) {
    free(*state);
    return 0;
}

static bool run_here(const struct conform_case *item) {
    running = item;
    const struct CMUnitTest test = {item->name, run_case, open_fixture, drop_fixture, NULL};
    return _cmocka_run_group_tests(item->name, &test, 1, NULL, NULL) == 0;
}

static void child(const struct conform_case *item, FILE *output) {
    if (dup2(fileno(output), STDOUT_FILENO) < 0 || dup2(fileno(output), STDERR_FILENO) < 0) {
        _exit(1);
    }
    alarm(CASE_SECONDS);
    bool passed = run_here(item);
    exit(passed ? 0 : 1);
}

static void show(FILE *output) {
    char line[1024];
    rewind(output);
    while (fgets(line, sizeof line, output) != NULL) {
        printf("    | %s", line);
    }
}

/* Whether the case passed; if it did not, `output` has what it said. */
static bool run_apart(const struct conform_case *item, FILE *output) {
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0) {
        fprintf(output, "fork failed\n");
        return false;
    }
    if (pid == 0) {
        child(item, output);
    }
    int result = 0;
    if (waitpid(pid, &result, 0) != pid) {
        return false;
    }
    if (WIFSIGNALED(result)) {
        fseek(output, 0, SEEK_END);
        fprintf(output, "ended by signal %d\n", WTERMSIG(result));
    }
    return WIFEXITED(result) && WEXITSTATUS(result) == 0;
}

static const char *excluded_because(const struct conform_exclusion *list, const char *name) {
    for (; list != NULL && list->name != NULL; list++) {
        if (strcmp(list->name, name) == 0) {
            return list->reason;
        }
    }
    return NULL;
}

/* What a line of the report begins with. */
static void print_name(const char *result, const struct suite_entry *entry) {
    printf("%s %s%s%s", result, suite_shows_groups ? entry->group : "", suite_shows_groups ? " " : "",
           entry->item->name);
}

static void count_result(const struct suite_entry *entry, bool passed, FILE *output, struct tally *tally) {
    const struct conform_case *item = entry->item;
    const char *never = excluded_because(backend->never, item->name);
    const char *reason = never != NULL ? never : excluded_because(backend->not_yet, item->name);
    if (reason == NULL) {
        print_name(passed ? "ok  " : "FAIL", entry);
        printf("\n");
        if (!passed) {
            show(output);
        }
        *(passed ? &tally->passed : &tally->failed) += 1;
    } else if (passed) {
        print_name("FAIL", entry);
        printf(": unexpected pass, it is excluded because %s\n", reason);
        tally->unexpected += 1;
    } else {
        print_name("excl", entry);
        printf(": %s, %s\n", never != NULL ? "never" : "not yet", reason);
        tally->excluded += 1;
    }
}

static void run_one(const struct suite_entry *entry, bool here, struct tally *tally) {
    const struct conform_case *item = entry->item;
    if ((item->needs & ~backend->offers) != 0) {
        print_name("lack", entry);
        printf(": %s\n", backend->lacks_reason);
        tally->lacking += 1;
        return;
    }
    FILE *output = tmpfile();
    if (output == NULL) {
        printf("FAIL %s: no temporary file\n", item->name);
        tally->failed += 1;
        return;
    }
    bool passed = here ? run_here(item) : run_apart(item, output);
    count_result(entry, passed, output, tally);
    fclose(output);
}

static void list_all(void) {
    struct suite_entry entry;
    for (size_t i = 0; suite_get(i, &entry); i++) printf("%s: %s\n", entry.group, entry.item->name);
}

static int run_all(const char *filter, bool here) {
    struct tally tally = {0};
    struct suite_entry entry;
    for (size_t i = 0; suite_get(i, &entry); i++) {
        if (strstr(entry.group, filter) != NULL || strstr(entry.item->name, filter) != NULL) {
            run_one(&entry, here, &tally);
        }
    }
    if (filter[0] == '\0') {
        tally.failed += suite_tell_the_rest();
    }
    printf("%s%s: %u passed, %u failed, %u excluded, %u passed though excluded, %u lack something\n", device_name,
           conform_queued ? " queued" : "", tally.passed, tally.failed, tally.excluded, tally.unexpected,
           tally.lacking);
    bool ran_any = tally.passed + tally.excluded > 0;
    return tally.failed == 0 && tally.unexpected == 0 && ran_any ? 0 : 1;
}

/* Looks in a process of its own, because drivers start threads, which the processes of the cases would not have. */
static bool is_missing(void) {
    pid_t pid = fork();
    if (pid == 0) {
        rondo_device *device = NULL;
        char story[1024];
        rondo_status status = rondo_device_open(device_name, NULL, &device);
        bool missing = rondo_status_code(status) == RONDO_UNAVAILABLE;
        rondo_fault_describe(status, story, sizeof story);
        if (missing) {
            printf("no case runs: %s\n", story);
        }
        rondo_device_release(device);
        fflush(NULL);
        _exit(missing ? SKIPPED : 0);
    }
    int result = 0;
    return pid > 0 && waitpid(pid, &result, 0) == pid && WIFEXITED(result) && WEXITSTATUS(result) == SKIPPED;
}

static int show_usage(FILE *output, int result) {
    fprintf(output, "usage: %s [--here] [--queued] BACKEND [FILTER]\n       %s --list\n", suite_name, suite_name);
    return result;
}

int main(int argc, char **argv) {
    bool here = false;
    const char *filter = "";
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--here") == 0) {
            here = true;
        } else if (strcmp(argv[i], "--queued") == 0) {
            conform_queued = true;
        } else if (strcmp(argv[i], "--help") == 0) {
            return show_usage(stdout, 0);
        } else if (strcmp(argv[i], "--list") == 0) {
            list_all();
            return 0;
        } else if (device_name == NULL) {
            device_name = argv[i];
        } else {
            filter = argv[i];
        }
    }
    if (device_name == NULL) {
        return show_usage(stderr, 2);
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    backend = conform_backend_find(device_name);
    if (is_missing()) {
        return backend->name[0] != '\0' ? SKIPPED : 1;
    }
    return run_all(filter, here);
}
