#!/usr/bin/env python3
"""Prints line and branch coverage per room of src from gcovr's JSON and holds the core to a gate.

Two marks of src/base/check.h take branches out of the count, and are counted themselves: RDO_NEVER, what cannot happen
and is dealt with all the same, which the compiler leaves out; and RDO_CHANCE, what only another thread or the clock
decides. Each needs a comment that says why, on its line or the one above.

usage: coverage.py FILE [--gate PERCENT] [--missing]
"""
import argparse
import collections
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORE = ["base", "fault", "memory", "op", "capture", "stream", "graph", "device"]
OUTER = ["api"]  # listed with --missing, not held to the gate
MARK = re.compile(r"(?<!define )\b(RDO_NEVER|RDO_CHANCE)\(")


class Room:
    def __init__(self):
        self.lines = self.lines_run = self.branches = self.branches_taken = 0
        self.missing = []

    def add(self, path, entry):
        source = (ROOT / path).read_text(encoding="utf-8").splitlines()
        for line in entry["lines"]:
            if line.get("gcovr/noncode"):
                continue
            if "RDO_CHANCE(" in source[line["line_number"] - 1]:
                self.lines += 1
                self.lines_run += line["count"] > 0
                continue
            self.lines += 1
            self.lines_run += line["count"] > 0
            taken = sum(branch["count"] > 0 for branch in line["branches"])
            self.branches += len(line["branches"])
            self.branches_taken += taken
            if line["count"] == 0 or taken < len(line["branches"]):
                self.missing.append(f"{path}:{line['line_number']}: {taken} of {len(line['branches'])} branches")

    def branch_percent(self):
        return 100.0 * self.branches_taken / self.branches if self.branches else 100.0

    def line_percent(self):
        return 100.0 * self.lines_run / self.lines if self.lines else 100.0


def room_of(path):
    parts = path.split("/")
    return "/".join(parts[1:3]) if parts[1] == "backend" else parts[1]


def find_marks():
    """How often each mark stands in the library, and the places where no comment says why."""
    counts, bare = collections.Counter(), []
    for file in sorted((ROOT / "src").rglob("*.[ch]")):
        lines = file.read_text(encoding="utf-8").splitlines()
        for i, line in enumerate(lines):
            marks = MARK.findall(line)
            counts.update(marks)
            if marks and "/*" not in line and not lines[i - 1].rstrip().endswith("*/"):
                bare.append(f"{file.relative_to(ROOT)}:{i + 1}")
    return counts, bare


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--gate", type=float, default=95, help="least branch coverage of each core room, in percent")
    parser.add_argument("--missing", action="store_true", help="list the lines of the core that are not fully covered")
    options = parser.parse_args()
    with open(options.file, encoding="utf-8") as file:
        report = json.load(file)
    rooms = collections.defaultdict(Room)
    for entry in report["files"]:
        rooms[room_of(entry["file"])].add(entry["file"], entry)
    if not rooms:
        sys.exit("coverage: the report holds no file of src")
    print(f"{'room':<16}{'lines':>16}{'branches':>20}")
    below = []
    for name in sorted(rooms, key=lambda name: (name not in CORE, CORE.index(name) if name in CORE else 0, name)):
        room = rooms[name]
        print(f"{name:<16}{room.lines_run:>6}/{room.lines:<5}{room.line_percent():>4.0f}%"
              f"{room.branches_taken:>9}/{room.branches:<5}{room.branch_percent():>5.1f}%")
        if options.missing and name in CORE + OUTER:
            print("\n".join("    " + text for text in room.missing))
        if name in CORE and room.branch_percent() < options.gate:
            below.append(name)
    counts, bare = find_marks()
    print(f"not counted: {counts['RDO_NEVER']} places that cannot be reached, {counts['RDO_CHANCE']} left to chance")
    if below:
        print(f"coverage: below the gate of {options.gate:g}%: {', '.join(below)}", file=sys.stderr)
    if bare:
        print(f"coverage: marked without a reason: {', '.join(bare)}", file=sys.stderr)
    return 1 if below or bare else 0


if __name__ == "__main__":
    sys.exit(main())
