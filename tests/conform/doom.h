/* The doom table: every kind of work that a window records, in every way in which it can fail there.
 *
 * doom_table.c has a cell for each kind and way: calls that fail in that way, or the reason why none can. A case of
 * the suite is made of each call. Only the way NO_HOST_MEMORY needs a look inside the library: tests/fault/doom_test.c
 * fills that column with the good calls below. */
#ifndef DOOM_H
#define DOOM_H

#include "capture_tools.h"

/* What one attempt works with. `tainted` and `tainted_block` are spoiled, `dead` is released, `foreign` is another
 * device's, all others are good and filled. */
struct doom_scene {
    struct conform *t;
    rondo_stream *stream;
    rondo_buffer first, last; /* what the good operations before and after the attempt write */
    rondo_buffer in, out, tainted, dead, foreign;
    rondo_buffer wide; /* larger than what staging has room for */
    rondo_buffer block, tainted_block, dead_block, foreign_block;
    rondo_event *never_recorded, *outside, *dead_event, *foreign_event;
    rondo_graph *good_graph, *reads_tainted, *dead_graph, *foreign_graph;
    rondo_kernel *foreign_kernel;
    rondo_device *other_device;
    rondo_stream *other_stream;
};

struct doom_scene doom_scene_open(struct conform *t);
void doom_scene_close(struct doom_scene *s);

#define DOOM_KINDS(X)                                                                                                  \
    X(launch) X(fill) X(copy) X(copy_2d) X(write) X(write_live) X(read_async) X(host_call) X(replay) X(event_record)   \
    X(event_wait) X(buffer_create) X(host_create)
#define DOOM_NUMBER_KIND(kind) DOOM_##kind,
enum doom_kind { DOOM_KINDS(DOOM_NUMBER_KIND) DOOM_KIND_COUNT };

/* What a call is to write, as far as it can be known when it is refused. */
enum doom_output { WRITES_NOTHING, WRITES_OUT, WRITES_BLOCK, WRITES_WIDE };

/* A call of each kind that is recorded if nothing fails. */
struct doom_good {
    const char *name;
    rondo_status (*call)(const struct doom_scene *s);
    enum doom_output output;
    uint32_t needs;
};
extern const struct doom_good doom_goods[DOOM_KIND_COUNT];

/* The bytes that the call was to write cannot be read, because of `root`. */
void doom_check_output(const struct doom_scene *s, enum doom_output output, rondo_status root);

/* Prints the table; returns the number of cells that have neither a call nor a reason, or both. `memory_calls` says for
 * each kind how many of its allocations were made to fail; NULL: that is not known here. */
unsigned doom_print_table(FILE *output, const unsigned *memory_calls);

/* A span that leaves its buffer. */
rondo_span doom_misfit(rondo_buffer buffer);

#endif
