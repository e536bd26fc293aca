#!/usr/bin/env python3
"""Runs the benchmark quickly and checks what it says: each row has all its fields, and no row is missing."""
import json
import pathlib
import subprocess
import sys

import rows

HERE = pathlib.Path(__file__).resolve().parent
FIELDS = {"name", "ns", "ref_ns", "ratio", "target", "spread"}


def check_row(row):
    problems = []
    if set(row) != FIELDS:
        problems.append(f"has the fields {sorted(row)}")
    elif not isinstance(row["ratio"], (int, float)) or row["ratio"] < 0:
        problems.append(f"has the ratio {row['ratio']}")
    elif not row["spread"][0] <= row["ratio"] <= row["spread"][1]:
        problems.append(f"has the ratio {row['ratio']} outside of {row['spread']}")
    elif row["ns"] is not None and not (row["ns"] > 0 and row["ref_ns"] > 0):
        problems.append("took no time")
    return [f"{row.get('name')}: {problem}" for problem in problems]


def main():
    done = subprocess.run([sys.executable, str(HERE / "bench.py"), "--quick", "--json", *sys.argv[1:]],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"bench.py ended with {done.returncode}:\n{done.stderr}")
    result = json.loads(done.stdout)
    problems = [problem for row in result["rows"] for problem in check_row(row)]
    there = {row["name"] for row in result["rows"]} | set(result["not_measured"])
    problems += [f"{name}: is missing" for name in rows.TARGETS if name not in there]
    problems += [f"{name}: alone for {share} of its samples" for name, share in result["core_alone"].items()
                 if not 0 <= share <= 1]
    print("\n".join(problems) if problems else f"{len(result['rows'])} rows")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
