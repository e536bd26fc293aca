#!/usr/bin/env python3
"""Checks that every rule of docs/contract.md is cited by a test, as [C9], and that every cited rule exists."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEFINED = re.compile(r"\*\*([A-Z]\d+)\b[^*\n]*\*\*")
CITED = re.compile(r"\[([A-Z]\d+(?:, ?[A-Z]\d+)*)\]")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
C_LIKE = {".c", ".h", ".cpp"}


def citations(folder):
    """Yields (path, rule) for every citation below a folder; in C, only comments count."""
    for path in sorted((ROOT / folder).rglob("*")):
        if path.suffix not in C_LIKE | {".py", ".sh", ".txt", ".cmake", ".pml"} or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8")
        if path.suffix in C_LIKE:
            text = "\n".join(COMMENT.findall(text))
        for group in CITED.findall(text):
            for rule in re.split(r", ?", group):
                yield path.relative_to(ROOT), rule


def order(rule):
    return rule[0], int(rule[1:])


def main():
    contract = ROOT / "docs" / "contract.md"
    if not contract.is_file():
        sys.exit("rules: docs/contract.md is missing")
    defined = set(DEFINED.findall(contract.read_text(encoding="utf-8")))
    if not defined:
        sys.exit("rules: docs/contract.md defines no rule")
    tested = set()
    unknown = set()
    for folder in ("include", "src", "tests", "examples", "models"):
        for path, rule in citations(folder):
            if rule not in defined:
                unknown.add((str(path), rule))
            elif folder == "tests":
                tested.add(rule)
    for path, rule in sorted(unknown):
        print(f"{path}: cites [{rule}], which docs/contract.md does not define")
    untested = sorted(defined - tested, key=order)
    if untested:
        print("no file under tests/ cites:", " ".join(untested))
    print(f"{len(defined)} rules, {len(defined) - len(untested)} cited by tests, {len(unknown)} unknown citations")
    return 1 if untested or unknown else 0


if __name__ == "__main__":
    sys.exit(main())
