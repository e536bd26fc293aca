/* Independent chains recorded on one stream: does the second core help, and does it never hurt? */
#include "player.h"

static void by_level(bench_work *work) {
    bench_stage *stage = bench_stage_make(work, NULL);
    stage->by_level = true;
    bench_stage_record(stage);
    bench_against_plain(work, "replay, recorded level by level", bench_replay(stage));
    bench_stage_drop(stage);
}

/* On a device of its own, whose threads live no longer than these rows. */
static void spinning(bench_work *work) {
    const rondo_device_desc desc = {.wait_policy = RONDO_WAIT_SPINNING};
    bench_player player;
    bench_player_open(&player, &desc);
    bench_stage *stage = bench_stage_make_on(&player, work, NULL);
    bench_stage_record(stage);
    bench_against_plain(work, "replay, spinning", bench_replay(stage));
    bench.idle_ns = 1000000;
    bench_against_plain(work, "replay after 1 ms of idleness, spinning", bench_replay(stage));
    bench.idle_ns = 0;
    bench_stage_drop(stage);
    bench_player_close(&player);
}

void bench_rows_wide(void) {
    if (!bench_wants("wide/")) return;
    bench_work *work = bench_work_make("wide");
    bench_stage *stage = bench_stage_make(work, NULL);
    bench_stage_record(stage);
    bench_against_plain(work, "replay", bench_replay(stage));
    bench.idle_ns = 1000000;
    bench_against_plain(work, "replay after 1 ms of idleness", bench_replay(stage));
    bench.idle_ns = 0;
    bench_against_plain(work, "eager", bench_eager(stage));
    bench_stage_drop(stage);
    by_level(work);
    spinning(work);
}
