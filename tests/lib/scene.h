/* A scene: a device, two streams, and a model that knows what every element of every buffer must hold.
 *
 * Each scene_* call issues one operation through the public interface and tells the model how it ended. The model
 * is strict:
 * a call that fails although nothing was made to fail ends the test, and so does a read that returns what the last
 * successful
 * writer did not write [P1], a window that seals although something in it failed [P2], or a node that ran on
 * spoiled input.
 */
#ifndef SCENE_H
#define SCENE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <rondo/rondo.h>

/* ---- what strikes ---- */

/* The `at`-th request from now on (counted from 1) fails, with `lasting` all later ones too. 0: none. */
void strike_at(uint64_t at, bool lasting);
/* The same, from the next request on, without forgetting what struck before. */
void strike_again(uint64_t after, bool lasting);
/* Asked once per request that may fail: whether this one shall. */
bool strike_now(void);
/* Ends it. Returns how many requests failed since strike_at. */
uint64_t strike_end(void);
uint64_t strike_count(void);
/* From now on a call that was struck must not return RONDO_OK as if nothing had been. */
extern bool strikes_must_show;

/* ---- cells: buffers of 32-bit elements ---- */

typedef enum scene_mark {
    SCENE_FRESH, /* never written: reads as it is */
    SCENE_GOOD,  /* holds `value` */
    SCENE_BAD,   /* spoiled: cannot be read */
    SCENE_MAYBE, /* either: if it can be read it holds `value` */
    SCENE_MURKY  /* either fresh or bad */
} scene_mark;

enum { SCENE_ANY_TAG = 0xffff };

typedef struct scene_cell {
    rondo_buffer buffer;
    uint32_t count;
    int32_t *value;
    uint8_t *mark;
    uint8_t *unknown; /* the value comes from memory that was never written, also while the element is spoiled */
    uint16_t *tag;   /* of a bad element: the graph whose failed enqueue left it intact, 0: none, SCENE_ANY_TAG: one */
    bool host, gone, shaken; /* shaken: some element was bad once, so claims may have been widened */
    void *data;      /* of an import */
    uint32_t released; /* calls of the import's release function */
} scene_cell;

typedef enum scene_kind {
    SCENE_FILL,
    SCENE_WRITE,
    SCENE_WRITE_LIVE,
    SCENE_READ_ASYNC,
    SCENE_COPY,
    SCENE_COPY_2D,
    SCENE_SCALE,
    SCENE_ADD,
    SCENE_FAIL_IF,
    SCENE_HOST
} scene_kind;

/* One operation: out[out_at ..] from in[in_at ..] and in2, `n` elements (a row), `rows` rows `pitch` elements apart. */
typedef struct scene_step {
    scene_kind kind;
    scene_cell *out, *in, *in2;
    uint32_t out_at, in_at, n, rows, pitch;
    int32_t value;
} scene_step;

typedef struct scene_graph {
    rondo_graph *graph;
    scene_step *steps;
    size_t count;
    uint16_t index; /* unique in the scene, from 1 */
} scene_graph;

enum { SCENE_CELLS = 64, SCENE_GRAPHS = 16, SCENE_STEPS = 64, SCENE_OBJECTS = 16, SCENE_KEYS = 4 };

typedef struct scene {
    rondo_device *device;
    rondo_stream *a, *b; /* on different queues */
    rondo_kernel *scale, *add, *fail_if;
    bool debug_fresh;
    scene_cell *cells[SCENE_CELLS];
    size_t cell_count;
    scene_graph graphs[SCENE_GRAPHS];
    size_t graph_count;
    rondo_event *events[SCENE_OBJECTS];
    size_t event_count;
    rondo_stream *streams[SCENE_OBJECTS];
    size_t stream_count;
    uint16_t last_index;
    /* the open window */
    scene_step tape[SCENE_STEPS];
    size_t tape_count;
    scene_step half[SCENE_STEPS]; /* of graphs of which only some first nodes were appended */
    size_t half_count;
    bool doomed, deferred;
    bool tolerant; /* windows may be doomed by spoiled inputs, and runs fall back, in peace too */
    /* rondo_run's graphs, by key */
    scene_graph runs[SCENE_KEYS];
    uint64_t strikes_seen; /* when the last status was noted */
    uint64_t failures; /* statuses seen that were not RONDO_OK */
    bool kernel_failed; /* a kernel failed, or may have, since the last sync */
    uint64_t carried_before; /* failures that others carried when the scene opened */
    int host_jobs;     /* host calls whose release function was not called yet */
} scene;

/* Where the sweep is, for messages. */
extern char scene_context[160];

/* Ends the test with a message if `condition` is false; nothing strikes any more then. */
#define SCENE_CHECK(condition, ...) ((condition) ? (void)0 : scene_failed(#condition, __FILE__, __LINE__, __VA_ARGS__))
void scene_failed(const char *condition, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5), noreturn));

/* Prints what a scene does, if RONDO_TRACE is set. */
void scene_trace(const char *format, ...) __attribute__((format(printf, 1, 2)));
void scene_trace_step(const scene *s, const char *how, const scene_step *step, rondo_status status);

void scene_open(scene *s, const char *device, const rondo_device_desc *desc);
/* Compares every element with the model, and asks every checker inside the library. */
void scene_verify(scene *s);
/* Releases all but the device, its two streams and its kernels. */
void scene_release(scene *s);
/* Releases the rest; every report is back to zero before [M6]. */
void scene_close(scene *s);

/* Takes a status into account: true if it is RONDO_OK. */
bool scene_note(scene *s, rondo_status status);
/* A status that must have this code, unless something struck. */
void scene_expect(scene *s, rondo_status status, rondo_code code);

scene_cell *scene_buffer(scene *s, rondo_stream *stream, uint32_t count, rondo_usage usage);
scene_cell *scene_host(scene *s, rondo_stream *stream, uint32_t count);
scene_cell *scene_import(scene *s, rondo_stream *stream, uint32_t count, bool host);
void scene_drop(scene_cell *cell);
rondo_event *scene_event(scene *s);
rondo_stream *scene_stream(scene *s);

/* Operations. In a window of `stream` they are recorded. */
bool scene_do(scene *s, rondo_stream *stream, scene_step step);
bool scene_fill(scene *s, rondo_stream *stream, scene_cell *out, uint32_t at, uint32_t n, int32_t value);
bool scene_write(scene *s, rondo_stream *stream, scene_cell *out, int32_t value);
bool scene_write_live(scene *s, rondo_stream *stream, scene_cell *out, scene_cell *in);
bool scene_read_async(scene *s, rondo_stream *stream, scene_cell *out, scene_cell *in);
bool scene_copy(scene *s, rondo_stream *stream, scene_cell *out, uint32_t out_at, scene_cell *in, uint32_t in_at,
                uint32_t n);
bool scene_scale(scene *s, rondo_stream *stream, scene_cell *x, int32_t k);
bool scene_add(scene *s, rondo_stream *stream, scene_cell *c, scene_cell *a, scene_cell *b);
bool scene_fail_if(scene *s, rondo_stream *stream, scene_cell *y, scene_cell *flag, int32_t v);
bool scene_host_call(scene *s, rondo_stream *stream, scene_cell *out, scene_cell *in, int32_t more);
bool scene_sync(scene *s, rondo_stream *stream);
/* Reads the whole cell and compares it. */
void scene_read(scene *s, rondo_stream *stream, scene_cell *cell);

/* Capture. */
bool scene_prepare(scene *s, rondo_stream *stream);
bool scene_begin(scene *s, rondo_stream *stream);
/* NULL if it did not seal. */
scene_graph *scene_end(scene *s, rondo_stream *stream);
/* The window must not seal, with this code unless something struck. */
void scene_end_refused(scene *s, rondo_stream *stream, rondo_code code);
void scene_abort(scene *s, rondo_stream *stream);
/* The window was left in some other way: what it recorded is spoiled. */
void scene_spoil_window(scene *s);
scene_graph *scene_capture_step(scene *s, rondo_stream *stream, rondo_step_fn step, void *user);
/* A step that scene_capture_step or scene_run calls begins with this. */
void scene_step_begins(scene *s, rondo_stream *stream);

bool scene_replay(scene *s, rondo_stream *stream, scene_graph *graph);
bool scene_run(scene *s, rondo_stream *stream, uint64_t key, rondo_step_fn step, void *user, rondo_run_mode *out_mode);
void scene_drop_graph(scene_graph *graph);
/* Changes a value, or the buffer of a parameter, of the graph's node number `node`. Events do not count as nodes
 * here, so graphs with events are not updated. */
bool scene_update_value(scene *s, scene_graph *graph, size_t node, const char *param, int32_t value);
bool scene_update_buffer(scene *s, scene_graph *graph, size_t node, const char *param, scene_cell *cell);

/* ---- sweeping ---- */

typedef struct scenario {
    const char *name; /* what it does, as the end of a sentence */
    void (*run)(scene *s);
    const rondo_device_desc *desc;
    bool own_device;      /* the scene's own device is not used: the run opens one */
    bool quiet_failures;  /* some backend failures are absorbed on purpose (relocation, retries) */
} scenario;

extern const scenario scenarios[];
extern const size_t scenario_count;

/* The name of the device that scenarios with a device of their own open. */
extern const char *scenario_device;

/* Runs the scenario with the n-th request failing; then verifies, runs it again in peace and looks for leaks.
 * Returns how many requests failed; the number of failed statuses goes to *out_failures. */
uint64_t sweep_once(const scenario *what, const char *device, uint64_t at, bool lasting, uint64_t *out_failures);
/* Once per process, before the first sweep: makes everything that a process keeps for ever. */
void sweep_warm_up(const char *device);

/* Counts what the cpu backend takes from the system, and lets it fail with the rest if `may_fail`. */
void sweep_hook_cpu(bool may_fail);
/* Allocations fail from now on where strike_now says so. */
void sweep_hook_alloc(bool on);

#endif
