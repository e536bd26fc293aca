// bench-tbb: the workloads as one writes them with oneTBB.
#include <memory>
#include <vector>

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_group.h>

#include "kernels.h"
#include "work.h"

namespace flow = oneapi::tbb::flow;
using oneapi::tbb::global_control;

namespace {

void run_link(const bench_work *work, std::size_t chain) {
    bench_axpy(work->items, 1, work->x[chain], work->y[chain]);
}

// A task a kernel, waited for: what an eager launch is.
void task_group(void *user, std::uint64_t steps) {
    auto *work = static_cast<bench_work *>(user);
    oneapi::tbb::task_group group;
    for (std::uint64_t step = 0; step < steps; step++) {
        for (std::size_t c = 0; c < work->chains; c++) {
            for (std::size_t k = 0; k < work->length; k++) group.run_and_wait([=] { run_link(work, c); });
        }
    }
    work->executed += steps;
}

// By hand: each chain is one task.
void chains(void *user, std::uint64_t steps) {
    auto *work = static_cast<bench_work *>(user);
    for (std::uint64_t step = 0; step < steps; step++) {
        oneapi::tbb::parallel_for(
            std::size_t{0}, work->chains,
            [=](std::size_t c) {
                for (std::size_t k = 0; k < work->length; k++) run_link(work, c);
            },
            oneapi::tbb::static_partitioner{});
    }
    work->executed += steps;
}

using step_node = flow::continue_node<flow::continue_msg, flow::lightweight>;

// The graph built once and started again and again: TBB's replay. A node a kernel.
struct prebuilt {
    bench_work *work;
    flow::graph graph;
    std::vector<std::unique_ptr<step_node>> nodes;
    std::vector<step_node *> first;

    explicit prebuilt(bench_work *its_work) : work(its_work) {
        for (std::size_t c = 0; c < work->chains; c++) {
            for (std::size_t k = 0; k < work->length; k++) add(c, k == 0);
        }
    }

    void add(std::size_t chain, bool starts) {
        const bench_work *its_work = work;
        auto run = [=](const flow::continue_msg &) { run_link(its_work, chain); };
        nodes.push_back(std::make_unique<step_node>(graph, run));
        if (starts) {
            first.push_back(nodes.back().get());
        } else {
            flow::make_edge(*nodes[nodes.size() - 2], *nodes.back());
        }
    }
};

void run_flow(void *user, std::uint64_t steps) {
    auto *built = static_cast<prebuilt *>(user);
    for (std::uint64_t step = 0; step < steps; step++) {
        for (step_node *node : built->first) node->try_put(flow::continue_msg());
        built->graph.wait_for_all();
    }
    built->work->executed += steps;
}

void build_flow(void *user, std::uint64_t steps) {
    for (std::uint64_t step = 0; step < steps; step++) prebuilt built(static_cast<bench_work *>(user));
}

void triads(void *user, std::uint64_t steps) {
    auto *arrays = static_cast<bench_triads *>(user);
    using range = oneapi::tbb::blocked_range<std::size_t>;
    for (std::uint64_t k = 0; k < steps * BENCH_TRIADS; k++) {
        const std::size_t turn = k % BENCH_TRIADS;
        oneapi::tbb::parallel_for(
            range(0, bench_triad_items()),
            [=](const range &part) {
                bench_triad(part.size(), BENCH_TRIAD_SCALE, BENCH_LEFT(arrays, turn) + part.begin(),
                            BENCH_RIGHT(arrays, turn) + part.begin(), BENCH_TARGET(arrays, turn) + part.begin());
            },
            oneapi::tbb::static_partitioner{});
    }
}

void rows_chain(const char *name) {
    global_control alone(global_control::max_allowed_parallelism, 1);
    bench_work *work = bench_work_make(name);
    prebuilt built(work);
    bench_against_plain(work, "TBB, flow graph", {run_flow, &built, double(BENCH_CHAIN)});
    bench_against_plain(work, "TBB, task_group", {task_group, work, double(BENCH_CHAIN)});
}

void rows_wide() {
    bench_work *work = bench_work_make("wide");
    const double nodes = double(work->chains * work->length);
    prebuilt built(work);
    bench_against_plain(work, "TBB, chains by hand", {chains, work, nodes});
    bench.idle_ns = 1000000;
    bench_against_plain(work, "TBB, chains by hand, after 1 ms of idleness", {chains, work, nodes});
    bench.idle_ns = 0;
    bench_against_plain(work, "TBB, flow graph", {run_flow, &built, nodes});
}

void rows_record() {
    bench_work *work = bench_work_make("chain-64");
    bench_compare("record/TBB, flow graph of 1,000 nodes", {build_flow, work, double(BENCH_CHAIN)}, bench_plain(work));
}

void rows_single() {
    global_control alone(global_control::max_allowed_parallelism, 1);
    bench_work *work = bench_work_make("chain-64");
    work->name = "single";
    work->length = 1;
    prebuilt built(work);
    bench_against_plain(work, "TBB, flow graph of one node", {run_flow, &built, 1});
}

void rows_triad() {
    static const char *const names[] = {"TBB, parallel_for"};
    bench_triads *arrays = bench_triads_make();
    const bench_side side = {triads, arrays, double(BENCH_TRIADS)};
    bench_triads_compare(arrays, names, &side, 1);
}

} // namespace

int main(int argc, char **argv) {
    bench_parse(argc, argv);
    // First what wants all threads: a limit that holds when TBB starts would stay with its arena.
    if (bench_wants("wide/")) rows_wide();
    if (bench_wants("triad/")) rows_triad();
    if (bench_wants("record/")) rows_record();
    if (bench_wants("chain-64/")) rows_chain("chain-64");
    if (bench_wants("chain-4096/")) rows_chain("chain-4096");
    if (bench_wants("single/")) rows_single();
    return 0;
}
