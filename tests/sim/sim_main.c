/* rondo-sim: runs random programs and compares Rondo with the model after each step.
 *
 * Programs run in a child process, so that one that crashes or hangs is found out and shrunk like one that differs.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kept.h"
#include "program.h"

enum { MOST_KEPT = 1000, PROGRAM_SECONDS = 120 };

/* What the child tells its parent. */
typedef struct report {
    uint64_t seed; /* under way */
    uint64_t programs, steps;
    uint64_t at;   /* of the seeds that it was given */
    bool differs;
    char text[PROGRAM_TEXT];
} report;

typedef struct options {
    uint64_t first, seeds, steps;
    bool verbose, one, shrink;
    double seconds;
    const char *kept, *read, *write;
} options;

typedef struct seed_list {
    const uint64_t *given; /* NULL: count on from `first` */
    uint64_t first, count;
} seed_list;

static report *shared;

static uint64_t seed_at(const seed_list *list, uint64_t i) {
    return list->given != NULL ? list->given[i] : list->first + i;
}

static double now(void) {
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* ---- the child ---- */

static void run_one(const program *p, bool verbose) {
    (void)alarm(PROGRAM_SECONDS);
    shared->differs = !program_run(p, verbose, shared->text);
    (void)alarm(0);
}

/* A child that nobody waits for any more would go on for hours. */
static pid_t fork_child(void) {
    (void)fflush(stdout);
    pid_t child = fork();
    if (child == 0) (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    return child;
}

/* What a program that differs left behind is in no state to be taken down; any other's end is worth a leak check. */
static _Noreturn void leave(void) {
    (void)fflush(stdout);
    if (shared->differs) _exit(0);
    exit(0);
}

static void run_seeds(const seed_list *list, const options *o, double until) {
    for (; shared->at < list->count && !shared->differs; shared->at += !shared->differs) {
        program p;
        if (until != 0 && now() > until) return;
        shared->seed = seed_at(list, shared->at);
        program_make(&p, shared->seed, (size_t)o->steps);
        run_one(&p, false);
        shared->programs++;
        shared->steps += p.count;
        /* What is kept was mostly found with all streams in direct mode. */
        if (list->given != NULL && p.queued != 0 && !shared->differs) {
            p.queued = 0;
            run_one(&p, false);
        }
        program_free(&p);
    }
}

/* ---- the parent ---- */

/* Waits for the child. False: it differed, crashed or hung, and shared->text says so. */
static bool wait_for(pid_t child) {
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child) {
        perror("rondo-sim");
        exit(2);
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return !shared->differs;
    shared->differs = true;
    if (WIFSIGNALED(status)) {
        (void)snprintf(shared->text, sizeof shared->text, "%s",
                       WTERMSIG(status) == SIGALRM ? "hangs" : "crashes, see above");
    } else {
        (void)snprintf(shared->text, sizeof shared->text, "exits with status %d", WEXITSTATUS(status));
    }
    return false;
}

static bool agrees(const program *p, bool verbose, bool quiet) {
    shared->differs = false;
    pid_t child = fork_child();
    if (child == 0) {
        if (quiet && freopen("/dev/null", "w", stderr) == NULL) _exit(3);
        run_one(p, verbose);
        leave();
    }
    return wait_for(child);
}

/* Leaves steps out, ever smaller pieces of them, while what remains still differs. */
static void shrink(program *p) {
    for (size_t piece = p->count / 2; piece != 0; piece = piece == 1 ? 0 : (piece + 1) / 2) {
        for (size_t at = 0; at < p->count;) {
            size_t size = at + piece < p->count ? piece : p->count - at;
            program less = *p;
            less.steps = calloc(p->count + 1, sizeof *less.steps);
            if (less.steps == NULL) exit(2);
            less.count = p->count - size;
            memcpy(less.steps, p->steps, at * sizeof *less.steps);
            memcpy(less.steps + at, p->steps + at + size, (p->count - at - size) * sizeof *less.steps);
            if (agrees(&less, false, true)) {
                free(less.steps);
                at += size;
            } else {
                free(p->steps);
                *p = less;
            }
        }
    }
}

static void tell(uint64_t seed, const options *o) {
    program p;
    printf("DIFFERS: rondo-sim --seed %llu --steps %llu\n  %s\n", (unsigned long long)seed,
           (unsigned long long)o->steps, shared->text);
    if (!o->shrink) return;
    program_make(&p, seed, (size_t)o->steps);
    size_t before = p.count;
    if (agrees(&p, false, true)) {
        printf("  it does not when it runs alone\n");
    } else {
        shrink(&p);
        printf("  %zu of its %zu steps do (%u streams on %u queues, layout %u%s):\n", p.count, before, p.streams,
               p.queues, p.layout, p.debug_fresh ? ", debug_fresh" : "");
        (void)agrees(&p, true, false);
        printf("  %s\n", shared->text);
    }
    program_free(&p);
}

/* Runs the seeds of the list; returns how many differ. */
static uint64_t run_list(const seed_list *list, const options *o, double until, uint64_t most) {
    uint64_t differences = 0;
    shared->at = 0;
    while (shared->at < list->count && differences < most && (until == 0 || now() < until)) {
        shared->differs = false;
        pid_t child = fork_child();
        if (child == 0) {
            run_seeds(list, o, until);
            leave();
        }
        if (wait_for(child)) break;
        differences++;
        uint64_t at = shared->at;
        tell(seed_at(list, at), o);
        shared->at = at + 1;
    }
    return differences;
}

static size_t read_kept(const char *path, uint64_t *out_seeds) {
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        perror(path);
        exit(2);
    }
    size_t count = kept_read(file, out_seeds, MOST_KEPT);
    (void)fclose(file);
    return count;
}

/* ---- programs as bytes, for tests/fuzz ---- */

enum { MOST_BYTES = 1 << 16 };

static size_t transfer(const char *path, bool reads, uint8_t *bytes, size_t size) {
    FILE *file = fopen(path, reads ? "rb" : "wb");
    size_t done = file == NULL ? 0 : reads ? fread(bytes, 1, size, file) : fwrite(bytes, 1, size, file);
    if (file == NULL || ferror(file) != 0 || fclose(file) != 0) {
        perror(path);
        exit(2);
    }
    return done;
}

/* The one program that was asked for. */
static void load(program *p, const options *o) {
    static uint8_t bytes[MOST_BYTES];
    if (o->read == NULL) {
        program_make(p, o->first, (size_t)o->steps);
    } else {
        program_read(p, bytes, transfer(o->read, true, bytes, sizeof bytes));
    }
}

static int write_bytes(const options *o) {
    static uint8_t bytes[MOST_BYTES];
    program p;
    load(&p, o);
    (void)transfer(o->write, false, bytes, program_write(&p, bytes, sizeof bytes));
    program_free(&p);
    return 0;
}

static _Noreturn void usage(int status) {
    (void)fprintf(status == 0 ? stdout : stderr,
                  "usage: rondo-sim [OPTION...]\n\n"
                  "Runs random programs on the backend sim and compares each step with a model.\n\n"
                  "  --seed N      run one program\n"
                  "  --first N     first seed of many (1)\n"
                  "  --seeds N     how many (3000)\n"
                  "  --steps N     steps of each program (300)\n"
                  "  --seconds S   stop after so long\n"
                  "  --kept FILE   run the seeds of this file first\n"
                  "  --no-shrink   do not look for a shorter program that differs\n"
                  "  --verbose     print each step of --seed\n"
                  "  --write FILE  only write the program of --seed as bytes, as tests/fuzz takes them\n"
                  "  --read FILE   run such bytes, verbosely\n");
    exit(status);
}

static options parse(int argc, char **argv) {
    options o = {.first = 1, .seeds = 3000, .steps = 300, .shrink = true};
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i];
        if (strcmp(name, "--help") == 0) usage(0);
        if (strcmp(name, "--verbose") == 0) {
            o.verbose = true;
            continue;
        }
        if (strcmp(name, "--no-shrink") == 0) {
            o.shrink = false;
            continue;
        }
        if (i + 1 == argc) usage(2);
        const char *value = argv[++i];
        if (strcmp(name, "--seed") == 0) {
            o.one = true;
            o.first = strtoull(value, NULL, 0);
        } else if (strcmp(name, "--first") == 0) {
            o.first = strtoull(value, NULL, 0);
        } else if (strcmp(name, "--seeds") == 0) {
            o.seeds = strtoull(value, NULL, 0);
        } else if (strcmp(name, "--steps") == 0) {
            o.steps = strtoull(value, NULL, 0);
        } else if (strcmp(name, "--seconds") == 0) {
            o.seconds = strtod(value, NULL);
        } else if (strcmp(name, "--kept") == 0) {
            o.kept = value;
        } else if (strcmp(name, "--read") == 0) {
            o.read = value;
        } else if (strcmp(name, "--write") == 0) {
            o.write = value;
        } else {
            usage(2);
        }
    }
    return o;
}

static int run_verbosely(const options *o) {
    program p;
    load(&p, o);
    printf("seed %llu: %u streams on %u queues, layout %u%s\n", (unsigned long long)p.seed, p.streams, p.queues,
           p.layout, p.debug_fresh ? ", debug_fresh" : "");
    bool good = agrees(&p, true, false);
    printf("%s\n", good ? "no difference" : shared->text);
    program_free(&p);
    return good ? 0 : 1;
}

int main(int argc, char **argv) {
    options o = parse(argc, argv);
    uint64_t kept[MOST_KEPT], differences = 0;
    enum { MOST_DIFFERENCES = 10 };
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        perror("rondo-sim");
        return 2;
    }
    if (o.write != NULL) return write_bytes(&o);
    if (o.read != NULL || (o.one && o.verbose)) return run_verbosely(&o);
    double started = now(), until = o.seconds != 0 ? started + o.seconds : 0;
    if (o.one) o.seeds = 1;
    if (o.kept != NULL) {
        seed_list list = {kept, 0, read_kept(o.kept, kept)};
        differences += run_list(&list, &o, 0, MOST_DIFFERENCES);
    }
    seed_list list = {NULL, o.first, o.seeds};
    if (differences < MOST_DIFFERENCES) differences += run_list(&list, &o, until, MOST_DIFFERENCES - differences);
    printf("%llu seeds, %llu steps, %llu differences (%.1f s)\n", (unsigned long long)shared->programs,
           (unsigned long long)shared->steps, (unsigned long long)differences, now() - started);
    return differences == 0 ? 0 : 1;
}
