#!/usr/bin/env python3
"""Compiles, and where asked runs, the C code in the project's documents.

Every fenced block of README.md and docs/**/*.md whose info string starts with `c` is taken:

    ```c run            a whole program: compiled, linked, run; must exit 0. A `text` block that follows
                        within a few lines is what it must print.
    ```c fragment       statements: wrapped into a function that has the usual variables; compiled only
    ```c excerpt FILE   must stand in FILE (spaces aside); not compiled by itself
    ```c                declarations or a whole program: compiled only

A block after a line that ends with "`NAME.h`:" is that file too: later blocks of the document can include it.
Line numbers in messages are those of the document.
"""
import argparse
import pathlib
import re
import shlex
import subprocess
import sys

COMPILE_ONLY_HEAD = """\
#include <rondo/rondo.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
"""

FRAGMENT_HEAD = COMPILE_ONLY_HEAD + """\
rondo_status step(rondo_stream *stream, void *user);
rondo_status fragment(rondo_device *device, rondo_stream *stream, rondo_stream *other, rondo_kernel *kernel,
                      rondo_graph *graph, rondo_graph *inner, rondo_event *event, rondo_event *before,
                      rondo_buffer x, rondo_buffer y, rondo_buffer z, rondo_buffer block, rondo_buffer answer,
                      float *data, size_t count, void *user);
rondo_status fragment(rondo_device *device, rondo_stream *stream, rondo_stream *other, rondo_kernel *kernel,
                      rondo_graph *graph, rondo_graph *inner, rondo_event *event, rondo_event *before,
                      rondo_buffer x, rondo_buffer y, rondo_buffer z, rondo_buffer block, rondo_buffer answer,
                      float *data, size_t count, void *user) {
    rondo_status status = RONDO_OK;
    {
"""
FRAGMENT_TAIL = """
    }
    return status;
}
"""

WARNINGS = ["-std=c17", "-D_GNU_SOURCE", "-DRONDO_KERNELS_NO_TEXT",
            "-Wall", "-Wextra", "-Werror", "-Wno-unused-variable",
            "-Wno-unused-parameter", "-Wno-unused-but-set-variable", "-Wno-unused-function"]
OUTPUT_WITHIN_LINES = 4
RUN_TIMEOUT_S = 120


class Block:
    def __init__(self, document, line, info, text):
        self.document, self.line, self.info, self.text = document, line, info, text
        self.expected = None  # what the program must print
        self.file = None      # the name under which other blocks include this one

    @property
    def kind(self):
        return self.info[1] if len(self.info) > 1 else "declarations"

    @property
    def place(self):
        return f"{self.document}:{self.line}"


def fences(document, text):
    """All fenced blocks of a document: the line of the first line inside, the info words, the text, the last line."""
    found, opened = [], None
    for number, line in enumerate(text.split("\n"), start=1):
        mark = re.match(r"^(\s*)(`{3,}|~{3,})(.*)$", line)
        if opened is None:
            if mark:
                opened = (number + 1, mark.group(3).split(), mark.group(2), len(mark.group(1)), [])
        elif mark and mark.group(2).startswith(opened[2]) and not mark.group(3).strip():
            found.append((opened[0], opened[1], "\n".join(opened[4]) + "\n", number))
            opened = None
        else:
            indent = opened[3]
            opened[4].append(line[indent:] if line[:indent].isspace() else line)
    if opened is not None:
        raise ValueError(f"{document}:{opened[0] - 1}: a block that is never closed")
    return found


def blocks_of(document, text):
    all_fences = fences(document, text)
    lines = text.split("\n")
    blocks = []
    for k, (line, info, body, last) in enumerate(all_fences):
        if not info or info[0] != "c":
            continue
        block = Block(document, line, info, body)
        before = [text_line for text_line in lines[: line - 2] if text_line.strip()]
        named = re.search(r"`([\w.-]+\.h)`:\s*$", before[-1]) if before else None
        block.file = named.group(1) if named else None
        if block.kind == "run" and k + 1 < len(all_fences):
            next_line, next_info, next_body, _ = all_fences[k + 1]
            if next_info[:1] == ["text"] and next_line - last - 1 <= OUTPUT_WITHIN_LINES:
                block.expected = next_body
        blocks.append(block)
    return blocks


def documents(root):
    readme = root / "README.md"
    return ([readme] if readme.exists() else []) + sorted((root / "docs").rglob("*.md"))


def source_of(block):
    where = f'#line {block.line} "{block.document}"\n'
    if block.kind == "fragment":
        return FRAGMENT_HEAD + where + block.text + FRAGMENT_TAIL
    if block.kind == "run":
        return where + block.text
    language = "#include <rondo/kernel_lang.h>\n" if "RONDO_KERNEL" in block.text else ""
    return COMPILE_ONLY_HEAD + language + where + block.text


def run(command, **more):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, **more)


def squeezed(text):
    return " ".join(text.split())


def check_excerpt(root, block):
    if len(block.info) < 3:
        return "an excerpt names its file"
    path = root / block.info[2]
    if not path.exists():
        return f"no such file: {block.info[2]}"
    if squeezed(block.text) not in squeezed(path.read_text()):
        return f"does not stand in {block.info[2]}"
    return None


def check_program(options, block, source, program):
    command = [*options.compile, str(source), "-o", str(program), *options.link]
    built = run(command)
    if built.returncode != 0:
        return built.stderr
    try:
        ended = run([str(program)], timeout=RUN_TIMEOUT_S, cwd=options.work)
    except subprocess.TimeoutExpired:
        return f"still runs after {RUN_TIMEOUT_S} s"
    if ended.returncode != 0:
        return f"exit status {ended.returncode}\n{ended.stdout}{ended.stderr}"
    if block.expected is not None and ended.stdout != block.expected:
        return f"prints\n{ended.stdout}instead of\n{block.expected}"
    return None


def check(options, block, number):
    if block.kind == "excerpt":
        return check_excerpt(options.root, block)
    if block.kind not in ("run", "fragment", "declarations"):
        return f"unknown kind of block: {' '.join(block.info)}"
    folder = options.work / re.sub(r"\W", "_", block.document)
    folder.mkdir(exist_ok=True)
    source = folder / f"block_{number:03}.c"
    source.write_text(source_of(block))
    if block.file:
        (folder / block.file).write_text(block.text)
    if block.kind == "run" and options.link:
        return check_program(options, block, source, source.with_suffix(""))
    built = run([*options.compile, "-fsyntax-only", str(source)])
    return built.stderr if built.returncode != 0 else None


def self_test():
    """A check that cannot fail is none: the cases that this script must tell apart."""
    text = ("a\n```c run\nint main(void) { return 0; }\n```\nIt prints:\n```text\nhello\n```\n"
            "In `a.h`:\n\n```c\nint a;\n```\n")
    found = blocks_of("d.md", text)
    assert [b.kind for b in found] == ["run", "declarations"], found
    assert found[0].expected == "hello\n" and found[0].line == 3 and found[1].expected is None
    assert "d.md" in source_of(found[1]) and found[0].file is None and found[1].file == "a.h"
    far = "```c run\nx\n```\n" + "words\n" * 9 + "```text\nhello\n```\n"
    assert blocks_of("d.md", far)[0].expected is None
    try:
        blocks_of("d.md", "```c\nint a;\n")
    except ValueError:
        return
    raise AssertionError("an open block went unnoticed")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--root", type=pathlib.Path, required=True, help="the project's root")
    parser.add_argument("--work", type=pathlib.Path, required=True, help="folder for generated files")
    parser.add_argument("--cc", default="cc", help="C compiler")
    parser.add_argument("--flags", default="", help="more flags for compiling and linking")
    parser.add_argument("--include", action="append", default=[], help="include folder")
    parser.add_argument("--library", action="append", default=[], help="file or flag to link; none: compile only")
    parser.add_argument("only", nargs="*", help="documents, relative to the root; none: all")
    options = parser.parse_args()

    self_test()
    options.root = options.root.resolve()
    options.work.mkdir(parents=True, exist_ok=True)
    options.work = options.work.resolve()
    flags = shlex.split(options.flags)
    options.compile = [options.cc, *WARNINGS, *flags, *(f"-I{folder}" for folder in options.include)]
    options.link = []
    for library in options.library:
        path = pathlib.Path(library)
        options.link.append(library)
        if ".so" in path.suffixes:
            options.link.append(f"-Wl,-rpath,{path.resolve().parent}")

    count, failures = {}, 0
    for path in documents(options.root):
        name = str(path.relative_to(options.root))
        if options.only and name not in options.only:
            continue
        for block in blocks_of(name, path.read_text()):
            number = sum(count.values())
            count[block.kind] = count.get(block.kind, 0) + 1
            problem = check(options, block, number)
            if problem:
                failures += 1
                print(f"{block.place}: {problem.rstrip()}\n", file=sys.stderr)
    summary = ", ".join(f"{n} {kind}" for kind, n in sorted(count.items()))
    print(f"code in documents: {summary}; {failures} failed")
    if not options.only and not count.get("run"):
        print("no program was found: nothing was checked", file=sys.stderr)
        failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
