#!/usr/bin/env python3
"""Checks that relative links in the project's Markdown files lead to something.

A link to a file must find it; a link to a heading (`page.md#heading`) must find a heading that GitHub would
give that anchor. Links to the web are not followed.
"""
import argparse
import pathlib
import re
import sys

LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
SKIPPED_FOLDERS = {".git", "build", "third_party"}


def lines_outside_code(text):
    inside = None
    for number, line in enumerate(text.split("\n"), start=1):
        mark = re.match(r"^\s*(`{3,}|~{3,})", line)
        if mark and inside is None:
            inside = mark.group(1)
        elif mark and mark.group(1).startswith(inside):
            inside = None
        elif inside is None:
            yield number, line


def anchors(text):
    found = set()
    for _, line in lines_outside_code(text):
        heading = re.match(r"^#{1,6}\s+(.*?)\s*#*$", line)
        if not heading:
            continue
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.group(1)).lower()
        name = re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", plain.replace("`", "")))
        twin, k = name, 0
        while twin in found:
            k += 1
            twin = f"{name}-{k}"
        found.add(twin)
    return found


def links(text):
    for number, line in lines_outside_code(text):
        for target in LINK.findall(re.sub(r"`[^`]*`", "", line)):
            yield number, target


def problem_of(root, page, target):
    if re.match(r"^[a-z][a-z0-9+.-]*:", target):
        return None
    path_text, _, anchor = target.partition("#")
    path = (page.parent / path_text).resolve() if path_text else page
    if not path.is_relative_to(root):
        return "leads out of the project"
    if not path.exists():
        return "no such file"
    if anchor and path.suffix == ".md" and anchor not in anchors(path.read_text()):
        return "no such heading"
    return None


def pages(root):
    for path in sorted(root.rglob("*.md")):
        parts = path.relative_to(root).parts[:-1]
        if not any(part in SKIPPED_FOLDERS or part.startswith("build") for part in parts):
            yield path


def self_test():
    text = "# One `two`!\n[a](b.md#c) `[no](x)` ![p](q.png \"t\")\n```\n[no](y)\n```\n# One two\n"
    assert [target for _, target in links(text)] == ["b.md#c", "q.png"]
    assert anchors(text) == {"one-two", "one-two-1"}
    here = pathlib.Path(__file__).resolve()
    assert problem_of(here.parent, here, "no-such-file.md") == "no such file"
    assert problem_of(here.parent, here, here.name) is None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--root", type=pathlib.Path, required=True)
    root = parser.parse_args().root.resolve()
    self_test()
    checked = broken = 0
    for page in pages(root):
        for number, target in links(page.read_text()):
            checked += 1
            problem = problem_of(root, page, target)
            if problem:
                broken += 1
                print(f"{page.relative_to(root)}:{number}: {target}: {problem}", file=sys.stderr)
    print(f"links in documents: {checked} checked, {broken} broken")
    if checked == 0:
        print("no link was found: nothing was checked", file=sys.stderr)
    return 1 if broken or checked == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
