"""The workloads on NVIDIA Warp's CPU device, launched each time and by capture_launch.

usage: warp_peer.py --library libbench_plain.so [--quick] [GROUP...]
"""
import argparse
import ctypes
import pathlib
import statistics
import sys
import time

import warp as wp

SHAPES = {"chain-64": (64, 1, 1000), "wide": (4096, 64, 16)}
MOST_CHAINS = 64


class Work(ctypes.Structure):
    """struct bench_work of work.h."""

    _fields_ = [("name", ctypes.c_char_p), ("items", ctypes.c_size_t), ("chains", ctypes.c_size_t),
                ("length", ctypes.c_size_t), ("x", ctypes.c_void_p * MOST_CHAINS),
                ("y", ctypes.c_void_p * MOST_CHAINS), ("executed", ctypes.c_uint64)]


@wp.kernel
def axpy(y: wp.array(dtype=float), x: wp.array(dtype=float), a: float):
    i = wp.tid()
    y[i] += a * x[i]


class Stage:
    """One workload, its arrays shared with the plain C loop."""

    def __init__(self, plain, name):
        self.name = name
        self.plain = plain
        self.work = plain.bench_work_make(name.encode())
        work = self.work.contents
        shape = (work.items, work.chains, work.length)
        if shape != SHAPES[name]:
            sys.exit(f"warp: the shape of {name} is {shape}")
        wrap = lambda at: wp.array(ptr=at, shape=work.items, dtype=float, device="cpu")
        self.pairs = [(wrap(work.y[c]), wrap(work.x[c])) for c in range(work.chains)]
        self.nodes = work.chains * work.length

    def launch(self):
        for y, x in self.pairs:
            for _ in range(self.work.contents.length):
                wp.launch(axpy, dim=self.work.contents.items, inputs=[y, x, 1.0], device="cpu")

    def record(self):
        with wp.ScopedCapture(device="cpu") as capture:
            self.launch()
        self.graph = capture.graph

    def replay(self):
        wp.capture_launch(self.graph)

    def measure(self, what, step, samples):
        """The step takes turns with plain C; both count in the same arrays."""
        self.plain.bench_work_reset(self.work)
        times = ([], [])
        plain = lambda: self.plain.bench_plain_steps(self.work, 20)
        step()
        self.work.contents.executed += 1
        for number in range(2 * samples):
            own = number % 2 == 0
            start = time.perf_counter_ns()
            (step if own else plain)()
            spent = time.perf_counter_ns() - start
            times[0 if own else 1].append(spent / self.nodes / (1 if own else 20))
            self.work.contents.executed += 1 if own else 0
        self.plain.bench_work_check(self.work, b"Warp")
        print(f"R\t{self.name}/Warp, {what}\t{statistics.median(times[0]):.4f}\t{statistics.median(times[1]):.4f}")


def load(path):
    plain = ctypes.CDLL(str(path))
    plain.bench_work_make.restype = ctypes.POINTER(Work)
    plain.bench_plain_steps.argtypes = [ctypes.POINTER(Work), ctypes.c_uint64]
    return plain


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--library", type=pathlib.Path, required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("groups", nargs="*")
    options = parser.parse_args()
    wp.config.quiet = True
    wp.config.kernel_cache_dir = str(options.library.parent.parent / "bench-warp" / "kernels")
    wp.init()
    plain = load(options.library)
    samples = 3 if options.quick else 41
    for name in SHAPES:
        if options.groups and name not in options.groups:
            continue
        stage = Stage(plain, name)
        stage.measure("launch", stage.launch, samples)
        stage.record()
        stage.measure("capture_launch", stage.replay, samples)


if __name__ == "__main__":
    main()
