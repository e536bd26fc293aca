#!/usr/bin/env python3
"""Checks the rules of the house that a program can check. Prints one line for each breach.

usage: tidy.py [--map]      --map prints a fresh list of files for src/README.md and checks nothing
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Who may include whom: each room sees itself and those before it.
ROOMS = ["base", "fault", "memory", "op", "capture", "stream", "graph", "device", "api"]
FREESTANDING = {"stdbool.h", "stddef.h", "stdint.h", "stdalign.h", "stdarg.h", "float.h", "limits.h"}
# The kernel language is compiled into the user's program, where kernels may call the C library.
PUBLIC_EXCEPTIONS = {"kernel_lang.h": {"math.h", "string.h", "hip/hip_runtime.h"}}

COLUMNS = 120
CODE = {".c", ".h", ".cpp", ".py", ".sh", ".cmake", ".map", ".pml"}
TEXT = CODE | {".md", ".txt", ".json", ".in", ".yml"}
SKIP = {".git", "build", "__pycache__", ".cache", ".idea", ".vscode"}
# Put together here, so that this file does not hold them.
BANNED = re.compile(r"\b(" + "|".join(("TO" + "DO", "FIX" + "ME", "XX" + "X")) + r")\b")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SOURCE_NAME = re.compile(r"`([\w/.-]+\.(?:c|h|map|def))`")

problems = []


def report(path, line, text):
    problems.append(f"{path.relative_to(ROOT)}:{line}: {text}")


def files():
    for path in sorted(ROOT.rglob("*")):
        relative = path.relative_to(ROOT).parts
        if not SKIP.intersection(relative) and path.is_file() and not path.is_symlink():
            yield path


def is_code(path):
    return path.suffix in CODE or path.name in ("x", "run", "CMakeLists.txt")


def check_text(path, lines):
    for number, line in enumerate(lines, 1):
        if BANNED.search(line):
            report(path, number, f"holds the word {BANNED.search(line).group(1)}")
        if "\t" in line and path.name != "Makefile":
            report(path, number, "holds a tab")
        if line != line.rstrip() and path.suffix != ".md":
            report(path, number, "ends in a space")
        if is_code(path) and len(line) > COLUMNS:
            report(path, number, f"is {len(line)} columns wide, {COLUMNS} are allowed")


def includes(lines):
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1) == "<", match.group(2)


def check_room(path, lines):
    """Sources of the library include downwards only."""
    inner = path.relative_to(ROOT / "src").parts
    room = inner[0]
    for number, system, name in includes(lines):
        first = name.split("/")[0]
        if first == "rondo" or (system and first not in ROOMS):
            continue
        if room == "cli":
            report(path, number, f"the command includes {name}; it may use <rondo/...> only")
        elif room == "backend":
            own = inner[1] if len(inner) > 2 else ""
            mine = name.startswith(f"backend/{own}/") if own else first == "backend"
            beside = (path.parent / name).is_file() and first not in ROOMS
            if not (first == "base" or mine or beside):
                report(path, number, f"a backend includes {name}; it may use base and public headers only")
        elif first == "backend":
            if room != "device":
                report(path, number, f"{room} includes {name}; only device knows the backends by name")
        elif first not in ROOMS:
            report(path, number, f"includes {name}, which is in no room; write ROOM/FILE.h")
        elif ROOMS.index(first) > ROOMS.index(room) or (first == "api" and room != "api"):
            report(path, number, f"{room} includes {name}, which is above it")


def check_public_header(path, lines):
    allowed = FREESTANDING | PUBLIC_EXCEPTIONS.get(path.name, set())
    for number, system, name in includes(lines):
        if not (name.startswith("rondo/") and system) and name not in allowed:
            report(path, number, f"a public header includes {name}")
    check_comments(path, lines)


def check_comments(path, lines):
    """Each group of declarations with no blank line between them starts with a comment."""
    for number, line in enumerate(lines, 1):
        if not line.startswith("RONDO_API"):
            continue
        above = number - 2
        while above >= 0 and lines[above].strip() and not lines[above].rstrip().endswith("*/"):
            above -= 1
        if above < 0 or not lines[above].strip():
            report(path, number, "a public function without a comment")


def check_outsider(path, lines):
    """Examples and the conformance suite use what users have: public headers, files beside them, kernels."""
    for number, system, name in includes(lines):
        if not system and not (path.parent / name).is_file() and not name.endswith(".kernels.h"):
            report(path, number, f"includes {name}; only <rondo/...> and files beside it are allowed")


def room_files():
    return [path for path in files() if path.is_relative_to(ROOT / "src")
            and path.suffix in (".c", ".h", ".map", ".def")]


def first_sentence(path):
    text = path.read_text(encoding="utf-8")
    match = re.match(r"\s*/\*(.*?)\*/", text, re.S)
    words = " ".join(line.strip(" *") for line in match.group(1).splitlines()) if match else ""
    return re.split(r"(?<=[.:])\s", words.strip())[0].rstrip(".:")


def print_map():
    """A line per noun: header and source stand together and the header says what they are."""
    paths = room_files()
    for path in paths:
        if path.suffix == ".c" and path.with_suffix(".h") in paths:
            continue
        pair = [path.with_suffix(".h"), path.with_suffix(".c")] if path.suffix == ".h" else [path]
        names = " ".join(f"`{one.relative_to(ROOT / 'src')}`" for one in pair if one in paths)
        print(f"- {names} {first_sentence(path)}".rstrip())


def check_map():
    """The list of src/README.md, lines that start with a dash, names every file of src in backquotes, and no other."""
    page = ROOT / "src" / "README.md"
    if not page.is_file():
        problems.append("src/README.md: is missing; tools/tidy.py --map prints a start")
        return
    named = {}
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        for name in SOURCE_NAME.findall(line) if line.startswith("- `") else ():
            named.setdefault(name, number)
    there = {str(path.relative_to(ROOT / "src")) for path in room_files()}
    for name in sorted(there - named.keys()):
        problems.append(f"src/README.md: does not name {name}")
    for name in sorted(named.keys() - there):
        report(page, named[name], f"names {name}, which does not exist")


def check_file(path):
    if path.suffix not in TEXT and not is_code(path):
        return
    lines = path.read_text(encoding="utf-8").splitlines()
    check_text(path, lines)
    if path.suffix not in (".c", ".h"):
        return
    if path.is_relative_to(ROOT / "src"):
        check_room(path, lines)
    elif path.is_relative_to(ROOT / "include"):
        check_public_header(path, lines)
    elif path.is_relative_to(ROOT / "examples") or path.is_relative_to(ROOT / "tests" / "conform"):
        check_outsider(path, lines)


def main():
    if "--map" in sys.argv[1:]:
        print_map()
        return 0
    count = 0
    for path in files():
        check_file(path)
        count += 1
    check_map()
    print("\n".join(problems) if problems else f"{count} files are tidy")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
