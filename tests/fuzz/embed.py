#!/usr/bin/env python3
"""Any bytes that name their text are embedded by rondo_add_kernels byte for byte. No C program reads them, so this is
no libFuzzer target: files are made at random, from bytes and from what a reader could stumble over.

usage: embed.py CMAKE SCRIPT [COUNT]        the seed is printed, and taken from RONDO_SEED if that is set
"""
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

PIECES = [b"\n", b"\r\n", b";", b"[", b"]", b"\\", b'"', b"${x}", b"@y@", b"#", b"(", b"[[", b"]]", b"??=", b"\xc3\xa4",
          b"\x80", b"\xff", b"\x1b", b" ", b"\t", b"// RONDO_KERNELS\n", b"# define RONDO_KERNEL other\n", b"\\\n"]
BYTE = re.compile(r"0x([0-9a-f]{2})|'\\x([0-9a-f]{2})'")


def make_text(rng):
    """Comments and strings of anything but a zero, which ends a text in C, around the line that names it."""
    body = b"".join(rng.choice(PIECES) if rng.random() < 0.7 else bytes([rng.randrange(1, 256)])
                    for _ in range(rng.randrange(400)))
    name = rng.choice([b"#define RONDO_KERNELS odd", b" #\tdefine  RONDO_KERNELS\todd",
                       b"#define RONDO_KERNELS odd /* [ ; */"])
    cut = rng.randrange(len(body) + 1)
    return b"//" + body[:cut].replace(b"#", b"") + b"\n" + name + b"\n//" + body[cut:].replace(b"#", b"")


def embedded(path):
    source = path.read_text(encoding="ascii")
    found = BYTE.findall(source[source.index("{"):])
    return bytes(int(plain or quoted, 16) for plain, quoted in found)


def main():
    cmake, script = sys.argv[1:3]
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 40
    seed = int(os.environ.get("RONDO_SEED", "20260101"))
    rng = random.Random(seed)
    print(f"seed {seed}")
    with tempfile.TemporaryDirectory() as folder:
        kernels, text = pathlib.Path(folder, "odd.kernels.h"), pathlib.Path(folder, "odd.c")
        for number in range(count):
            kernels.write_bytes(make_text(rng))
            run = subprocess.run([cmake, f"-DKERNELS={kernels}", f"-DTEXT={text}", "-P", script],
                                 capture_output=True, text=True)
            if run.returncode != 0 or embedded(text) != kernels.read_bytes() + b"\0":
                print(f"file {number} does not come back as it was: {kernels.read_bytes()!r}\n{run.stderr}")
                return 1
    print(f"{count} files come back byte for byte")
    return 0


if __name__ == "__main__":
    sys.exit(main())
