#!/usr/bin/env python3
"""Compares what the libraries export with what the public headers declare, and looks at the static library's names.

usage: symbols.py --nm NM --include DIR SHARED STATIC
"""
import argparse
import pathlib
import re
import subprocess
import sys

COMMENT = re.compile(r"/\*.*?\*/", re.S)
DECLARATION = re.compile(r"^RONDO_API\b[^;(]*?\b(\w+)\s*\(", re.M)
# Rooms share names that start with rdo_ inside the static library; nothing else may leak into a user's program.
STATIC_NAME = re.compile(r"(rondo|rdo)_\w+(\.\w+)*$")


def declared(include_dir):
    names = set()
    for header in sorted(pathlib.Path(include_dir, "rondo").glob("*.h")):
        names.update(DECLARATION.findall(COMMENT.sub("", header.read_text(encoding="utf-8"))))
    return names


def defined(nm, arguments, library):
    output = subprocess.run([nm, *arguments, "--defined-only", "--format=posix", library],
                            check=True, capture_output=True, text=True).stdout
    rows = [line.split() for line in output.splitlines()]
    return {row[0].split("@")[0] for row in rows if len(row) >= 2 and row[1] not in ("A", "a")}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nm", required=True)
    parser.add_argument("--include", required=True)
    parser.add_argument("shared")
    parser.add_argument("static")
    options = parser.parse_args()
    wanted = declared(options.include)
    shown = defined(options.nm, ["--dynamic"], options.shared)
    foreign = {name for name in defined(options.nm, ["--extern-only"], options.static)
               if not STATIC_NAME.match(name) and not name.startswith(("__asan", "__odr_asan", "__gcov", "__ubsan"))}
    for name in sorted(wanted - shown):
        print(f"declared but not exported: {name}")
    for name in sorted(shown - wanted):
        print(f"exported but not declared: {name}")
    for name in sorted(foreign):
        print(f"the static library defines a name without prefix: {name}")
    print(f"{len(wanted)} functions declared, {len(shown)} symbols exported")
    return 0 if wanted and wanted == shown and not foreign else 1


if __name__ == "__main__":
    sys.exit(main())
