#!/usr/bin/env python3
"""Mutation: changes the library in one small place at a time and looks whether some test notices.

A change is a comparison or an operator turned round, a constant swapped, a `!` left out, or a statement dropped. Each
is made in a copy of the tree, in build/mutate; the copy is built again as far as the next tests need it, and tests run,
the fastest first, until one fails: then the change is killed. One that does not compile does not count. What all tests
let pass runs once more with the address and undefined-behaviour sanitizers, which see memory lost or overrun.

What survives that is either no change at all in what the library does, or a test that is missing. The former,
equivalent changes, stand in tests/mutation/survivors.txt, each with the reason why no test can see it; any other
survivor makes this program fail, or, with --gate, more of them than it lets pass. The rate that counts is of those that
are not equivalent; both are printed.

Which changes are made follows from the seed and from each change by itself, so that whoever edits a line exchanges the
changes of that line and no others: a sample that was sorted stays sorted.

usage: mutate.py [--count N] [--seed S] [--file F ...] [--minutes M] [--gate P] [--list]
"""
import argparse
import collections
import hashlib
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PLACE = ROOT / "build" / "mutate"
TREE, BUILD, SANITIZED = PLACE / "tree", PLACE / "build", PLACE / "sanitized"
KNOWN = ROOT / "tests" / "mutation" / "survivors.txt"

# What the four promises rest on: windows, claims and stories, graphs, and the guards on their memory.
FILES = ["src/capture/*.c", "src/fault/*.c", "src/graph/*.c", "src/memory/page.c", "src/memory/memory.c"]
OFF = ["-DRONDO_EXAMPLES=OFF", "-DRONDO_COMMAND=OFF", "-DRONDO_BENCH=OFF", "-DRONDO_INSTALL=OFF"]
COPIED = ["CMakeLists.txt", "CMakePresets.json", "cmake", "src", "include", "tests", "tools", "x"]

# ---- what can be changed ----

SWAPS = {"==": ["!="], "!=": ["=="], "<": ["<="], "<=": ["<"], ">": [">="], ">=": [">"], "&&": ["||"], "||": ["&&"],
         "+": ["-"], "-": ["+"], "++": ["--"], "--": ["++"], "+=": ["-="], "-=": ["+="], "&": ["|"], "|": ["&"],
         "true": ["false"], "false": ["true"]}
TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|/\*.*?\*/|//.*|->|\+\+|--|&&|\|\||<<|>>|[=!<>+\-*/&|^%]=|'
                   r'\b0x[0-9a-fA-F]+\w*|\b\d+\w*|[A-Za-z_]\w*|\S')
DECLARATION = re.compile(r"^\s*(?:(?:const|static|struct|enum|union|typedef|unsigned|extern|_Atomic)\b|"
                         r"(?!return\b|goto\b|else\b)[A-Za-z_]\w*\s*\*?\s+\**[A-Za-z_]\w*\s*(?:[=;,\[(]|$))")
STATEMENT = re.compile(r"^(\s*)(?!return\b|case\b|default\b|else\b|for\b|while\b|do\b|goto\b)[A-Za-z_*(+\-].*;"
                       r"\s*(?:/\*.*\*/)?$")
# What only a broken library could make true, and what stands for itself.
DEFENSIVE = re.compile(r"RDO_ASSERT|RDO_NEVER|static const")
# The invariants that tests ask for are part of the tests.
CHECKER = re.compile(r"^bool rdo_\w+_check\(")


class Mutant:
    def __init__(self, path, line, old, new):
        self.path, self.line, self.old, self.new = path, line, old, new

    def key(self):
        return f"{self.path}: {self.old.strip()} -> {self.new.strip()}"

    def __str__(self):
        return f"{self.path}:{self.line + 1}: {self.old.strip()}  ->  {self.new.strip()}"


def is_binary(tokens, i):
    """Whether token i stands between two operands: `a - b` and not `-b`, `a & b` and not `&b`."""
    before, after = tokens[i - 1].group() if i else "", tokens[i + 1].group() if i + 1 < len(tokens) else ""
    return re.match(r"[\w)\]]", before[-1:] or "(") and before != "return" and re.match(r"[\w(*!~&]", after) is not None


def changes_of_token(tokens, i):
    text = tokens[i].group()
    if text in ("+", "-", "&", "|", "<", ">"):
        return SWAPS[text] if is_binary(tokens, i) else []
    if text in SWAPS:
        return SWAPS[text]
    if text == "!":
        return [""]
    if re.fullmatch(r"\d+[uU]?", text):
        return ["1"] if text.rstrip("uU") == "0" else ["0", str(int(text.rstrip("uU")) + 1)]
    return []


def changes_of_line(line):
    """Each line that this one can become."""
    tokens = list(TOKEN.finditer(line))
    for i, token in enumerate(tokens):
        for new in changes_of_token(tokens, i):
            yield line[:token.start()] + new + line[token.end():]
    match = STATEMENT.match(line)
    if match and not DECLARATION.match(line) and line.count("(") == line.count(")"):
        yield match.group(1) + ";"


def code_lines(path):
    """The lines that hold code of functions, without comments, assertions and what is outside of functions."""
    inside = comment = False
    for number, line in enumerate((ROOT / path).read_text(encoding="utf-8").splitlines()):
        bare = line.strip()
        starts = bare.startswith("/*")
        if inside and not comment and not starts and not DEFENSIVE.search(line):
            yield number, line
        comment = (comment or starts) and "*/" not in bare
        if re.match(r"^[A-Za-z_].*\{$", line) and not re.match(r"^(typedef|enum|struct|static const)\b", line):
            inside = not CHECKER.match(line)
        elif line.startswith("}"):
            inside = False


def all_mutants(patterns):
    for pattern in patterns:
        for path in sorted(ROOT.glob(pattern)):
            name = str(path.relative_to(ROOT))
            for number, line in code_lines(name):
                for new in changes_of_line(line):
                    yield Mutant(name, number, line, new)


def in_order_of(seed, mutants):
    """The changes in the order in which the seed makes them, each at a place that the other ones do not move."""
    seen, places = collections.Counter(), {}
    for mutant in mutants:
        key = mutant.key()
        places[mutant] = hashlib.sha256(f"{seed}\n{key}\n{seen[key]}".encode()).digest()
        seen[key] += 1
    return sorted(mutants, key=places.get)


# ---- the copy, and its tests ----

JOBS = os.environ.get("RONDO_JOBS") or str(os.cpu_count())
MOST_BYTES = 8 << 30  # of a program that runs away
# Sanitizers map more than any limit, and each has its own; a part of a walk is enough for them.
FOR_SANITIZED = {**os.environ, "ASAN_OPTIONS": "hard_rss_limit_mb=8192", "RONDO_SHORT_WALKS": "1"}


def run(command, seconds, sanitized=False):
    """The exit status; None if it took too long."""
    def limit():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if not sanitized:
            resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               start_new_session=True, preexec_fn=limit, env=FOR_SANITIZED if sanitized else None)
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()


def must(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"mutate: {' '.join(map(str, command))} failed:\n{done.stdout[-3000:]}")
    return done.stdout


def copy_changed(source, target):
    """A file that is the same keeps its time, so that only what differs from the last run is built again."""
    target = pathlib.Path(target)
    if not target.is_file() or target.read_bytes() != pathlib.Path(source).read_bytes():
        shutil.copyfile(source, target)
        shutil.copymode(source, target)


def copy_tree():
    for path in list(TREE.rglob("*")):
        if path.is_file() and not (ROOT / path.relative_to(TREE)).is_file():
            path.unlink()
    TREE.mkdir(parents=True, exist_ok=True)
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, TREE / name, copy_function=copy_changed, dirs_exist_ok=True)
        else:
            copy_changed(ROOT / name, TREE / name)


class Suite:
    """A build of the copy, its tests, and how long each may take."""

    def __init__(self, place, sanitizers, seeds):
        self.place, self.sanitized = place, sanitizers != ""
        must(["cmake", "-S", TREE, "-B", place, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug",
              "-DCMAKE_C_FLAGS_DEBUG=-O1 -w", f"-DRONDO_SANITIZE={sanitizers}"] + OFF)
        must(["ninja", "-C", place, "-j", JOBS])
        self.find_tests(seeds)
        self.measure()

    def find_tests(self, seeds):
        """Test names and their commands, as ctest knows them; the random programs with fewer seeds."""
        self.tests = {}
        for test in json.loads(must(["ctest", "--test-dir", self.place, "--show-only=json-v1"]))["tests"]:
            command = test.get("command", [])
            if command and command[0].startswith(str(self.place)):
                self.tests[test["name"]] = command
        self.tests["sim_seeds"] = [self.tests["sim_seeds"][0], "--no-shrink", "--seeds", str(seeds), "--kept",
                                   str(TREE / "tests/sim/kept.txt")]

    def stages_of(self, path):
        """The tests in the order in which they run: the unit tests of the room first, then what is fast. Sanitizers see
        memory lost or overrun where it is, so what only compares more results is left out with them."""
        room = path.split("/")[1]

        def names(pattern):
            return sorted(name for name in self.tests if re.match(pattern, name))
        stages = [names(f"unit_{room}_"), names("regress_|unit_api_|walk_"), ["sim_seeds"],
                  names("fuzz_program|fault_alloc|thread_(capture|graph|memory)")]
        if not self.sanitized:
            stages += [names("conform_sim$|bugs_"), names("fault_random|conform_cpu$"), names("fault_backend")]
        return stages

    def measure(self):
        """Runs every test once, unchanged: how long each may take from now on."""
        self.limits = {}
        wanted = sorted({name for path in ("src/" + room + "/x" for room in ("capture", "fault", "graph", "memory"))
                         for stage in self.stages_of(path) for name in stage})
        for name in wanted:
            begin = time.monotonic()
            if run(self.tests[name], 600, self.sanitized) != 0:
                sys.exit(f"mutate: the test {name} fails without any change")
            self.limits[name] = 10 + 10 * (time.monotonic() - begin)

    def passes(self, name):
        """What takes too long runs once more: the machine may have been held up, which is nothing that a test saw."""
        status = run(self.tests[name], self.limits[name], self.sanitized)
        if status is None:
            status = run(self.tests[name], self.limits[name], self.sanitized)
        return status == 0

    def kills(self, path):
        """The test that notices a change of the file, with a star if a sanitizer helped, "" if none does; "invalid" if
        it does not compile."""
        for stage in self.stages_of(path):
            targets = sorted({os.path.relpath(self.tests[name][0], self.place) for name in stage})
            if targets and run(["ninja", "-C", str(self.place), "-j", JOBS] + targets, 900) != 0:
                return "invalid"
            for name in stage:
                if not self.passes(name):
                    return f"{name}*" if self.sanitized else name
        return ""


def put(path, text):
    (TREE / path).write_text(text, encoding="utf-8")


def judge(mutant, plain, sanitized):
    """The test that kills it, "invalid", or "" if none does."""
    original = (TREE / mutant.path).read_text(encoding="utf-8")
    lines = original.split("\n")
    lines[mutant.line] = mutant.new
    put(mutant.path, "\n".join(lines))
    try:
        verdict = plain.kills(mutant.path)
        if verdict == "" and mutant.key() not in known_survivors():
            verdict = sanitized.kills(mutant.path)
        return verdict
    finally:
        put(mutant.path, original)


# ---- telling ----

def known_survivors():
    """Equivalent changes: lines `FILE: OLD -> NEW`; what stands indented below is the reason."""
    if not KNOWN.is_file():
        return set()
    return {line.strip() for line in KNOWN.read_text(encoding="utf-8").splitlines()
            if line.startswith("src/")}


def percent(part, whole):
    return 100 * part / whole if whole else 100


def report(results, gate):
    print("\nfile                          killed  survived  not compiled")
    for path in sorted({mutant.path for mutant, _ in results}):
        verdicts = [verdict for mutant, verdict in results if mutant.path == path]
        invalid, survived = verdicts.count("invalid"), verdicts.count("")
        print(f"{path:30} {len(verdicts) - invalid - survived:5} {survived:9} {invalid:13}")
    killed = sum(1 for _, verdict in results if verdict not in ("", "invalid"))
    left = [mutant for mutant, verdict in results if verdict == ""]
    known = known_survivors()
    fresh = [mutant for mutant in left if mutant.key() not in known]
    counted = killed + len(fresh)
    print(f"{killed} of {killed + len(left)} killed ({percent(killed, killed + len(left)):.1f} %); without the "
          f"{len(left) - len(fresh)} that are listed as equivalent {killed} of {counted} "
          f"({percent(killed, counted):.1f} %)")
    for mutant in fresh:
        print(f"  {mutant}")
    return 1 if percent(killed, counted) < gate else 0


def main():
    parser = argparse.ArgumentParser(description="Changes the library and looks whether a test notices.")
    parser.add_argument("--count", type=int, default=100, help="how many changes (100)")
    parser.add_argument("--seed", type=int, default=1, help="which ones (1)")
    parser.add_argument("--file", action="append", help="only in this file or pattern")
    parser.add_argument("--minutes", type=float, default=0, help="stop after so long")
    parser.add_argument("--gate", type=float, default=100, help="percent of those not equivalent to be killed (100)")
    parser.add_argument("--list", action="store_true", help="list the changes and make none")
    options = parser.parse_args()
    possible = list(all_mutants(FILES))
    gone = known_survivors() - {mutant.key() for mutant in possible}
    if gone:
        sys.exit("mutate: listed as equivalent, but no possible change any more:\n  " + "\n  ".join(sorted(gone)))
    mutants = list(all_mutants(options.file)) if options.file else possible
    chosen = in_order_of(options.seed, mutants)[:options.count]  # a longer run makes those of a shorter one first
    print(f"{len(chosen)} of {len(mutants)} possible changes, seed {options.seed}", flush=True)
    if options.list:
        print("\n".join(map(str, chosen)))
        return 0
    copy_tree()
    plain, sanitized = Suite(BUILD, "", 300), Suite(SANITIZED, "address;undefined", 50)
    begin, results = time.monotonic(), []
    for mutant in chosen:
        if options.minutes and time.monotonic() - begin > 60 * options.minutes:
            print("the time is up")
            break
        verdict = judge(mutant, plain, sanitized)
        results.append((mutant, verdict))
        print(f"{verdict or 'SURVIVES':24} {mutant}", flush=True)
    return report(results, options.gate)


if __name__ == "__main__":
    sys.exit(main())
