/* What the rows on Rondo share: a device, a stream, the kernels, and workloads whose arrays are imported buffers,
 * so that Rondo and plain C work on the same bytes. Every refusal ends the process. */
#ifndef BENCH_PLAYER_H
#define BENCH_PLAYER_H

#include <rondo/rondo.h>
#include "must.h"
#include "work.h"

typedef struct bench_player {
    rondo_device *device;
    rondo_stream *stream;
    rondo_kernel *axpy, *triad;
} bench_player;

/* One for the whole process. */
bench_player *bench_player_get(void);
/* One with a device of its own. */
void bench_player_open(bench_player *out_player, const rondo_device_desc *desc);
void bench_player_close(bench_player *player);
rondo_buffer bench_import(rondo_stream *stream, void *data, size_t bytes);

/* A workload with its buffers and the stream that they belong to. */
typedef struct bench_stage {
    bench_player *player;
    rondo_stream *stream;
    bench_work *work;
    rondo_buffer x[BENCH_MOST_CHAINS], y[BENCH_MOST_CHAINS];
    rondo_graph *graph;
    bool by_level; /* issue link after link of all chains, instead of chain after chain */
} bench_stage;

/* `stream` may be NULL: the player's own. */
bench_stage *bench_stage_make(bench_work *work, rondo_stream *stream);
bench_stage *bench_stage_make_on(bench_player *player, bench_work *work, rondo_stream *stream);
void bench_stage_drop(bench_stage *stage);
/* Issues the whole step once, on the stage's stream. */
rondo_status bench_stage_issue(rondo_stream *stream, void *stage);
/* Records one step; does not count as executed. */
void bench_stage_record(bench_stage *stage);
/* The two contestants. */
bench_side bench_eager(bench_stage *stage);
bench_side bench_replay(bench_stage *stage);

static inline rondo_status bench_launch_axpy(const bench_player *player, rondo_stream *stream, size_t items,
                                             rondo_buffer x, rondo_buffer y) {
    const float a = 1;
    const rondo_arg args[] = {rondo_arg_buffer(y), rondo_arg_buffer(x), rondo_arg_value(&a, sizeof a)};
    return rondo_launch(stream, player->axpy, rondo_grid_1d(items), args, 3, NULL);
}

/* Takes and gives back the uncontended pthread_mutex_t `user`, `steps` times: the reference of some rows. */
void bench_mutex_pairs(void *user, uint64_t steps);

/* The rows, by file. Each looks itself whether it is wanted. */
void bench_rows_chain(void);
void bench_rows_wide(void);
void bench_rows_triad(void);
void bench_rows_graph(void);
void bench_rows_queued(void);
void bench_rows_memory(void);
void bench_rows_photo(void);

#endif
