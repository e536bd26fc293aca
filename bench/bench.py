#!/usr/bin/env python3
"""Runs the benchmark programs several times and puts their rows together.

usage: bench.py --programs FOLDER [--quick] [--processes N] [--json] [--compare OLD.json] [--report FILE] [ROW...]

ROW is the beginning of a row's name, for example chain-64 or wide/replay. Each program is a process of its own, in
which Rondo or a peer takes turns with a plain C loop. A round is each program once; a row is the median of the rounds.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import report
import rows
from rows import number, passed

HERE = pathlib.Path(__file__).resolve().parent
BUSY = 1.2  # plain C on two free cores is hardly slower than on one


def say(text):
    print(text, file=sys.stderr, flush=True)


class Results:
    """What the programs said: for each row, (ns, ref_ns, ratio) of each round, and how much of it was measured on a
    core that nobody shared."""

    def __init__(self):
        self.rounds = {}
        self.alone = {}
        self.counts = {}
        self.skipped = {}
        self.machine = []

    def take(self, output):
        """The rows of one process. Returns their ratios."""
        ratios = {}
        for line in output.splitlines():
            kind, *fields = line.split("\t")
            if kind == "R":
                name, ns, ref = fields[0], float(fields[1]), float(fields[2])
                ratios[name] = ns / ref
                self.rounds.setdefault(name, []).append((ns, ref, ns / ref))
                if len(fields) > 3:
                    self.alone.setdefault(name, []).append(float(fields[3]))
            elif kind == "Q":
                self.counts.setdefault(fields[0], []).append(float(fields[1]))
            elif kind == "S":
                self.skipped[fields[0]] = fields[1]
            elif kind == "M":
                self.machine.append(tuple(float(field) for field in fields))
        return ratios


def programs(folder):
    """(label, command, environment) of everything that was built."""
    found = [("Rondo", [str(folder / "rondo-bench")], {})]
    peers = {
        "rondo-bench-opencl": [(f"opencl/{device}", {"POCL_DEVICES": device}) for device in rows.OPENCL_DEVICES],
        "bench-openmp": [("OpenMP", {"OMP_PROC_BIND": "true"})],
        "bench-tbb": [("TBB", {})],
        "bench-pocl": [("PoCL basic", {"POCL_DEVICES": "basic"}), ("PoCL pthread", {"POCL_DEVICES": "pthread"})],
        "bench-vulkan": [("Vulkan lavapipe", {"LP_NUM_THREADS": "0"})],  # with threads, a kernel of 64 takes 25 us
    }
    for program, variants in peers.items():
        if (folder / program).is_file():
            found += [(label, [str(folder / program)], environment) for label, environment in variants]
    warp, plain = folder.parent / "bench-warp" / "bin" / "python", folder.parent / "lib" / "libbench_plain.so"
    if warp.is_file() and plain.is_file():
        found.append(("Warp", [str(warp), str(HERE / "peers" / "warp_peer.py"), "--library", str(plain)], {}))
    return found


def run(command, environment, timeout=900):
    """The output, or None and the reason."""
    try:
        done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True,
                              timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        return None, f"took longer than {timeout} s"
    if done.returncode != 0:
        return None, (done.stderr.strip().splitlines() or [f"ended with {done.returncode}"])[-1]
    return done.stdout, ""


def add_against_peers(results, ratios):
    for name, (subject, peers, _) in rows.AGAINST_PEERS.items():
        best = min((ratios[peer] for peer in peers if peer in ratios), default=None)
        if best is None or subject not in ratios:
            continue
        ns, ref, _ = results.rounds[subject][-1]
        if subject in results.alone:
            results.alone[name] = results.alone[subject]
        results.rounds.setdefault(name, []).append((ns, ref * best, ratios[subject] / best))


def run_rounds(folder, options, results):
    groups = sorted({row.split("/", 1)[0] for row in options.rows})
    arguments = (["--quick"] if options.quick else []) + groups
    failed = set()
    for number in range(options.processes):
        ratios = {}
        for label, command, environment in programs(folder):
            if label in failed:
                continue
            say(f"round {number + 1} of {options.processes}: {label}")
            output, reason = run(command + arguments, environment)
            if output is None:
                if label == "Rondo":
                    sys.exit(f"bench: rondo-bench: {reason}")
                failed.add(label)
                results.skipped[label] = reason
                continue
            ratios.update(results.take(output))
        add_against_peers(results, ratios)


def note_missing_opencl(folder, options, results):
    """Says of the OpenCL rows that are wanted and not there why they are not."""
    built = (folder / "rondo-bench-opencl").is_file()
    for name in rows.TARGETS:
        if not name.startswith("opencl/") or not wanted(name, options) or name in results.rounds \
                or name in results.counts or name in results.skipped:
            continue
        if not built:
            results.skipped["OpenCL"] = ("no OpenCL headers with command buffers; on Debian: apt-get install "
                                         "ocl-icd-opencl-dev opencl-c-headers")
        results.skipped[name] = results.skipped.get(name.split(" ", 1)[0], "its program was not built")


# ---- what is counted ----


def between_marks(trace):
    """The lines of strace between each pair of marks; a mark is a call of getppid."""
    sections, inside = [], None
    for line in trace.splitlines():
        if "getppid()" in line:
            if inside is None:
                inside = []
            else:
                sections.append(inside)
                inside = None
        elif inside is not None and "(" in line and "resumed>" not in line:
            inside.append(line)
    return sections


MORE_REPLAYS = 1900  # as quiet.c has it


def count_calls(program, results):
    """Each graph has three sections: a few warm replays, many, and the first after a rest. A mark stops the caller for
    so long that a worker may go to sleep and be woken; so what a replay asks of the system is what many ask more than a
    few."""
    names = ("quiet/system calls a replay", "quiet/wakes after a park")
    with tempfile.NamedTemporaryFile("r") as trace:
        try:
            done = subprocess.run(["strace", "-f", "-o", trace.name, program], capture_output=True, check=False,
                                  timeout=120)
            reason = "" if done.returncode == 0 else "strace is not allowed to trace here"
        except (OSError, subprocess.TimeoutExpired):
            reason = "strace is missing; on Debian: apt-get install strace"
        sections = between_marks(trace.read())
    if not reason and len(sections) < 3:
        reason = "strace saw no marks"
    if reason:
        results.skipped.update({name: reason for name in names})
        return
    more = max(len(many) - len(few) for few, many in zip(sections[0::3], sections[1::3]))
    wakes = max(sum("FUTEX_WAKE" in line for line in lines) for lines in sections[2::3])
    results.counts.setdefault(names[0], []).append(max(more, 0) / MORE_REPLAYS)
    results.counts.setdefault(names[1], []).append(float(wakes))


def run_quiet(folder, options, results):
    program = str(folder / "rondo-quiet")
    if not pathlib.Path(program).is_file():
        results.skipped.update({name: "counting needs glibc" for name in rows.TARGETS if name.startswith("quiet/")})
        return
    for number in range(options.processes):
        say(f"round {number + 1} of {options.processes}: counting allocations, contended locks and system calls")
        output, reason = run([program], {})
        if output is None:
            sys.exit(f"bench: rondo-quiet: {reason}")
        results.take(output)
        count_calls(program, results)


# ---- the result ----


def wanted(name, options):
    return not options.rows or any(name.startswith(row) for row in options.rows)


def summary(results, options):
    made = []
    for name, rounds in results.rounds.items():
        ratios = sorted(ratio for _, _, ratio in rounds)
        made.append({"name": name,
                     "ns": round(statistics.median(ns for ns, _, _ in rounds), 3),
                     "ref_ns": round(statistics.median(ref for _, ref, _ in rounds), 3),
                     "ratio": round(statistics.median(ratios), 4),
                     "target": rows.target(name),
                     "spread": [round(ratios[0], 4), round(ratios[-1], 4)]})
    for name, counts in results.counts.items():
        made.append({"name": name, "ns": None, "ref_ns": None, "ratio": statistics.median(counts),
                     "target": rows.target(name), "spread": [min(counts), max(counts)]})
    return sorted((row for row in made if wanted(row["name"], options)), key=lambda row: rows.order(row["name"]))


def machine_text(results):
    if not results.machine:
        return ""
    joins, slowdowns, alone = zip(*results.machine)
    text = (f"fork-join of two spinning threads {min(joins):.0f} to {max(joins):.0f} ns; "
            f"plain C on two threads at once {min(slowdowns):.2f} to {max(slowdowns):.2f} times as slow as on one")
    if max(slowdowns) > BUSY:
        text += " (something else used the second core, so rows that want two cores say little)"
    return text + f"; the first core was not shared for {min(alone):.0%} to {max(alone):.0%} of the time"


def mark(row):
    if row["target"] is None:
        return ""
    return "ok" if passed(row) else "OVER"


def print_table(made, results, alone):
    width = max([len(row["name"]) for row in made] + [10])
    print(f"{'row':{width}} {'ns':>12} {'reference':>12} {'ratio':>8} {'target':>7}      {'min .. max':>18}  "
          "core alone")
    for row in made:
        low, high = row["spread"]
        print(f"{row['name']:{width}} {number(row['ns']):>12} {number(row['ref_ns']):>12} {number(row['ratio']):>8} "
              f"{number(row['target']):>7} {mark(row):4} {number(low):>7} .. {number(high):7}  "
              f"{rows.share(alone.get(row['name'])):>10}")
    for name, reason in results.skipped.items():
        print(f"not measured: {name}: {reason}")
    if results.machine:
        print(machine_text(results))


def print_comparison(made, old_path):
    with open(old_path, encoding="utf-8") as file:
        old = {row["name"]: row for row in json.load(file)["rows"]}
    print(f"\nagainst {old_path}; slower and faster where the two spreads do not touch")
    for row in made:
        before = old.get(row["name"])
        if before is None:
            print(f"{row['name']}: new")
        elif before["ratio"]:
            change = (row["ratio"] / before["ratio"] - 1) * 100
            verdict = "slower" if row["spread"][0] > before["spread"][1] else \
                "faster" if row["spread"][1] < before["spread"][0] else ""
            print(f"{row['name']}: {number(before['ratio'])} -> {number(row['ratio'])} ({change:+.0f} %) {verdict}"
                  .rstrip())


def read_skipped_peers(folder, results):
    path = folder.parent / "bench_skipped.txt"
    if path.is_file():
        for line in path.read_text(encoding="utf-8").splitlines():
            if "\t" in line:
                name, reason = line.split("\t", 1)
                results.skipped[name] = reason


def processor():
    try:
        text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return "unknown processor"
    model = re.search(r"model name\s*:\s*(.+)", text)
    return f"{os.cpu_count()} cores of {model.group(1) if model else 'an unknown processor'}"


def parse():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ", 1)[1].split("\n", 1)[0])
    parser.add_argument("--programs", type=pathlib.Path, required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--processes", type=int)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--compare")
    parser.add_argument("--report", type=pathlib.Path)
    parser.add_argument("--docs", type=pathlib.Path)
    parser.add_argument("rows", nargs="*", metavar="ROW")
    options = parser.parse_args()
    options.processes = options.processes or (1 if options.quick else 5)
    for row in options.rows:
        if not any(group.startswith(row.split("/", 1)[0]) for group in rows.GROUPS):
            sys.exit(f"bench: there is no row '{row}'; rows begin with: {' '.join(rows.GROUPS)}")
    return options


def main():
    options = parse()
    results = Results()
    read_skipped_peers(options.programs, results)
    if not options.rows or any(not row.startswith("quiet") for row in options.rows):
        run_rounds(options.programs, options, results)
        note_missing_opencl(options.programs, options, results)
    if not options.rows or any(row.startswith("quiet") for row in options.rows):
        run_quiet(options.programs, options, results)
    made = summary(results, options)
    alone = {name: statistics.median(shares) for name, shares in results.alone.items()}
    facts = [processor(), machine_text(results)]
    if options.json:
        json.dump({"rows": made, "machine": facts, "core_alone": alone, "not_measured": results.skipped},
                  sys.stdout, indent=1)
        print()
    else:
        print_table(made, results, alone)
        if options.compare:
            print_comparison(made, options.compare)
    if options.report:
        report.write(options.report, made, alone, facts, results.skipped)
    if options.docs:
        report.write_docs(options.docs, made, alone, facts, results.skipped)
    return 0


if __name__ == "__main__":
    sys.exit(main())
