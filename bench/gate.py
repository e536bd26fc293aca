#!/usr/bin/env python3
"""Compares the instructions that the hot paths take with those of budget.txt.

usage: gate.py [--program build/release/bin/rondo-gate] [--write]

Instructions do not depend on how busy the machine is, so a path that has become dearer shows at once. Each path is run
with two counts under callgrind; the difference, divided, is what one turn costs. More than 2 % over the budget
fails. --write puts today's counts into budget.txt.
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
BUDGET = HERE / "budget.txt"
PROGRAM = HERE.parent / "build" / "release" / "bin" / "rondo-gate"
ALLOWED = 1.02
FEW = 1000

# Name of the path, how often one turn of it happens for each count, and what it is.
PATHS = {
    "launch": (1, "an eager launch of three arguments"),
    "record": (1, "a recorded launch, its share of sealing and of the graph's end included"),
    "replay-node": (20, "a node of a replay; a graph is played 20 times"),
    "replay-graph": (1, "a replay of a graph of one node"),
    "reserve": (1, "a buffer from the pool and back"),
    "span": (1, "the check whether a span could be read"),
    "update": (1, "one value of a sealed graph"),
}


def count(program, path, number):
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, path, str(number)],
        capture_output=True, text=True, check=False, timeout=600)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not found:
        sys.exit(f"gate: {path}: {done.stderr.strip().splitlines()[-1] if done.stderr else 'valgrind failed'}")
    return int(found.group(1))


def measure(program):
    measured = {path: (count(program, path, 2 * FEW) - count(program, path, FEW)) / FEW for path in PATHS}
    # Recording and releasing the graph is the same work in both; what is left is the replays.
    measured["replay-node"] = (measured["replay-node"] - measured["record"]) / PATHS["replay-node"][0]
    return {path: round(value, 1) for path, value in measured.items()}


def compiler(program):
    """The compiler's own words for itself, as it leaves them in what it builds."""
    done = subprocess.run(["readelf", "-p", ".comment", program], capture_output=True, text=True, check=False)
    return "; ".join(sorted(set(re.findall(r"\]\s+(.+)", done.stdout)))) or "unknown"


def read():
    """The budget, and the compiler that it was taken with."""
    budget, built = {}, ""
    for line in BUDGET.read_text(encoding="utf-8").splitlines():
        if line.startswith("# compiler: "):
            built = line.removeprefix("# compiler: ")
        elif line and not line.startswith("#"):
            path, value = line.split()[:2]
            budget[path] = float(value)
    return budget, built


def write(measured, built):
    lines = ["# Instructions that one turn of each hot path may take; bench/gate.py compares, --write renews them.",
             f"# compiler: {built}"]
    lines += [f"{path:13} {value:8.1f}  {PATHS[path][1]}" for path, value in measured.items()]
    BUDGET.write_text("\n".join(lines) + "\n", encoding="utf-8")


def compare(measured, budget):
    """Prints a line for each path. Returns whether all are within the budget."""
    good = True
    for path, value in measured.items():
        if path not in budget:
            print(f"{path:13} {value:8.1f}  has no budget")
            good = False
            continue
        over = value > budget[path] * ALLOWED + 0.5
        good = good and not over
        print(f"{path:13} {value:8.1f}  budget {budget[path]:8.1f}  {value / budget[path] * 100 - 100:+6.1f} %"
              f"{'  OVER' if over else ''}")
    return good


def main():
    parser = argparse.ArgumentParser(usage="gate.py [--program build/release/bin/rondo-gate] [--write]")
    parser.add_argument("--program", default=str(PROGRAM))
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if not pathlib.Path(options.program).is_file():
        sys.exit(f"gate: {options.program} is missing; ./x budget builds it")
    if shutil.which("valgrind") is None:
        sys.exit("gate: valgrind is missing; on Debian: apt-get install valgrind")
    measured, built = measure(options.program), compiler(options.program)
    if options.write:
        write(measured, built)
    budget, budget_built = read()
    if budget_built != built:
        print(f"gate: the budget is for {budget_built}, this is {built}: the counts are shown and not judged")
        compare(measured, budget)
        return 0
    if compare(measured, budget):
        return 0
    print("gate: over the budget; if the cost is wanted, renew it with ./x budget --write")
    return 1


if __name__ == "__main__":
    sys.exit(main())
