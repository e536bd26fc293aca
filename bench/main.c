/* rondo-bench: one process's worth of measurements of Rondo itself. bench.py runs it several times. */
#include "player.h"

int main(int argc, char **argv) {
    bench_parse(argc, argv);
    bench_rows_chain();
    bench_rows_wide();
    bench_rows_graph();
    bench_rows_queued();
    bench_rows_photo();
    bench_rows_memory();
    bench_rows_triad();
    return 0;
}
