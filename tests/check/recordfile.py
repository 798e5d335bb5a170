# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""Test how vrfmctl reads files of records: complete ones, cut ones, damaged ones, and files of later versions."""
import functools
import json
import pathlib
import re
import struct
import subprocess
import tempfile
import zlib

import dissector
import ktap
import static
import userspace

SECONDS = 20
# Lines of "vrfmctl cat" for the records of tapfile.c.
RECORDS = 17
# Program that changes a file at random places and reads it, the number of files, and that of the long part.
FUZZ = ["tests/check/filefuzz.c", "tools/vrfmctl/pcapng.c", "tools/vrfmctl/show.c", "tools/vrfmctl/file.c"]
FILES = 20000
MILLION = 1000000
SANITIZE = ["-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
COLUMNS = "low 0x1234 u8\n# a comment\nword 0x1234 be-u32\nsigned 0x1235 i16\n"


@functools.cache
def tool():
    """Return the path of vrfmctl."""
    return userspace.installed() / "usr/bin/vrfmctl"


def run(*argv):
    """Run vrfmctl; return its status, output, and errors."""
    done = subprocess.run([tool(), *argv], capture_output=True, text=True, timeout=SECONDS, check=False)
    return done.returncode, done.stdout, done.stderr


def blocks(data):
    """Return the offset of each block, and the length of the file."""
    at, found = 0, []
    while at < len(data):
        found.append(at)
        at += struct.unpack_from("<I", data, at + 4)[0]
    return [*found, at]


def is_cut(path, data, length, borders):
    """Check that a file that is cut is read up to the cut, without failing."""
    path.write_bytes(data[:length])
    status, out, errors = run("cat", path)
    whole = sum(border <= length for border in borders[3:-1])
    if length < borders[2]:
        return status == 1 and not out and errors
    return status in (0, 3) and len(out.splitlines()) == min(whole, RECORDS) and \
        ("was cut" in errors) == (length < borders[-1])


def untimed(lines):
    """Return lines without the time of the packet, which has no checksum."""
    return [re.sub(r"^\S+ ", "", line) for line in lines]


def is_noticed(path, data, at, lines):
    """Check that a flipped bit of a byte causes an error or a message, or does not change the records."""
    flipped = bytearray(data)
    flipped[at] ^= 1 << at % 8
    path.write_bytes(flipped)
    status, out, errors = run("cat", path)
    if status not in (0, 1, 3):
        return False
    if status == 1 or "was cut" in errors:
        return bool(errors)
    return untimed(out.splitlines()) == untimed(lines)


def with_version(data, version):
    """Return a file whose records have another version."""
    begin = data.index(b"vrfm records 1 ")
    end = data.index(b" crc ", begin)
    text = data[begin:end].replace(b"records 1", b"records %d" % version)
    return data[:begin] + text + b" crc %08x" % zlib.crc32(text) + data[end + 13:]


def is_robust(place, count):
    """Let filefuzz read COUNT changed files.  Return whether it found no error, and what it said.

    Some files must be read to their end, some to a cut, and some must be refused: otherwise the changes are useless.
    """
    program = place / "filefuzz"
    subprocess.run(["gcc", "-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", *SANITIZE, "-o", program,
                    *[static.TOP / name for name in FUZZ]], check=True)
    done = subprocess.run([program, dissector.write_file(place), "1", str(count)], capture_output=True, text=True,
                          timeout=count / 100, check=False)
    numbers = [int(number) for number in re.findall(r"\d+", done.stdout)]
    return done.returncode == 0 and len(numbers) == 4 and min(numbers) > count / 100, done.stdout + done.stderr


def hdf5(place, table):
    """Let a sample write TABLE to an HDF5 file; return its datasets.  Python of Debian has the module for such files."""
    subprocess.run([static.TOP / "samples/record/to_hdf5.py", place / "table.h5"], input=table, text=True, check=True)
    read = "import h5py, json, sys; print(json.dumps({k: v[()].tolist() for k, v in h5py.File(sys.argv[1]).items()}))"
    done = subprocess.run(["/usr/bin/python3", "-c", read, place / "table.h5"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def cases(place):
    """Yield the name of each case, and whether it passes."""
    data = dissector.write_file(place).read_bytes()
    path, borders = place / "changed", blocks(data)
    path.write_bytes(data)
    status, out, errors = run("cat", path)
    lines = out.splitlines()
    yield "all records are printed, and losses are reported", \
        status == 3 and len(lines) == RECORDS and "12 records were dropped" in errors
    yield "a file that is cut at any byte is read up to there", \
        all([is_cut(path, data, length, borders) for length in range(len(data))])
    yield "a flipped bit is noticed, or does not change a record", \
        all([is_noticed(path, data, at, lines) for at in range(len(data))])
    path.write_bytes(with_version(data, 2))
    status, out, errors = run("cat", path)
    yield "a later version is refused by its number", \
        status == 1 and not out and "records of version 2, and this vrfmctl reads version 1" in errors
    yield f"{FILES} files that were changed at random places are read without errors of memory", \
        is_robust(place, FILES)[0]
    path.write_bytes(data)
    (place / "columns").write_text(COLUMNS, encoding="ascii")
    status, out, _ = run("--signals", place / "columns", "--at", "0x1234", "export", path)
    yield "a table has a row for each write", status == 3 and [line.split(",")[1:] for line in out.splitlines()] == [
        ["low", "word", "signed"], *[["98", "1652126821", "29817"]] * 3]
    yield "samples/record writes the table to an HDF5 file", hdf5(place, out) == {
        "time_ns": [1700000000000000001, 1700000000000000002, 1700000000000000003],
        "low": [98.0] * 3, "word": [1652126821.0] * 3, "signed": [29817.0] * 3}
    (place / "columns").write_text("low 0x100000 u8\n", encoding="ascii")
    status, _, errors = run("--signals", place / "columns", "export", path)
    yield "a column outside of the memory is refused with its line", status == 1 and "columns:1: not a name" in errors


def check(log):
    """Run all cases; a part of tools/check."""
    results = ktap.Results()
    with tempfile.TemporaryDirectory() as place:
        for name, good in cases(pathlib.Path(place)):
            (results.passed if good else results.failed).append(name)
            static.write(log, f"{'ok' if good else 'not ok'} {name}\n")
    return results


def fuzz(log):
    """Read a million changed files; a part of tools/check."""
    results = ktap.Results()
    name = f"{MILLION} files that were changed at random places are read without errors of memory"
    with tempfile.TemporaryDirectory() as place:
        good, said = is_robust(pathlib.Path(place), MILLION)
    (results.passed if good else results.failed).append(name)
    static.write(log, f"{said}{'ok' if good else 'not ok'} {name}\n")
    return results
