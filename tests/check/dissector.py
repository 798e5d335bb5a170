# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""Test tools/wireshark/vrfm.lua with tshark, which reads a file that the functions of vrfmctl have written."""
import os
import pathlib
import subprocess
import tempfile

import ktap
import static

TOP = static.TOP
LUA = TOP / "tools/wireshark/vrfm.lua"
SOURCES = ["tests/check/tapfile.c", "tools/vrfmctl/pcapng.c", "tools/vrfmctl/show.c"]
SECONDS = 120
# Number of records of each type in a long file.
MANY = 1000
# The list of packets shows these lines for the records of tapfile.c, in order.
LINES = [
    "STORED offset 0x1234 length 5",
    "FOUND offset 0x1234 length 5",
    "APPLIED offset 0x1234 length 5",
    "PLACED offset 0x1234 length 5",
    "SENT ACK sequence 101 applied 50",
    "RECEIVED UPDATE 2 runs sequence 102 applied 50",
    "SENT EVENT INTR2 data 77 sequence 103 applied 50",
    "SENT EVENT 1 runs INTR1 data 78 sequence 103 applied 50",
    "RECEIVED PROBE sequence 104 applied 50",
    "SENT NOTE GONE sequence 105 applied 50",
    "RECEIVED PULL pages 16 to 17 sequence 106 applied 50",
    "SENT IMAGE 1 runs sequence 107 applied 50",
    "RECEIVED STAGE sequence 108 applied 50",
    "RAISED INTR3 data 4711",
    "TOLD INTR3 data 4711",
    "HOLE may write directly",
    "LOST 12 records",
]


def tshark(file, *words, home):
    """Return the lines that tshark prints of FILE, and its errors.  HOME keeps the settings of a user away."""
    done = subprocess.run(["tshark", "-X", f"lua_script:{LUA}", "-r", file, *words], capture_output=True, text=True,
                          timeout=SECONDS, check=False, env={**os.environ, "HOME": str(home), "TZ": "UTC"})
    # As root, tshark warns of its user.
    errors = [line for line in done.stderr.splitlines() if not line.startswith("Running as user")]
    return done.stdout.splitlines(), errors, done.returncode


def write_file(place, *words):
    """Compile tapfile.c and let it write a file, with WORDS as its arguments; return the path of the file."""
    program, file = place / "tapfile", place / "records.pcapng"
    if not program.exists():
        subprocess.run(["gcc", "-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-o", program,
                        *[TOP / name for name in SOURCES]], check=True)
    with open(file, "wb") as out:
        subprocess.run([program, *words], stdout=out, check=True)
    return file


def long_files(place):
    """Yield the cases of files with MANY records of each type."""
    wanted = ["-T", "fields", "-e", "_ws.col.Info"]
    lines, errors, status = tshark(write_file(place, str(MANY)), *wanted, home=place)
    yield f"tshark reads {MANY} records of each type without errors", not errors and status == 0
    yield f"{MANY} records of each type have their lines", lines == LINES * MANY
    # -V lets tshark build all fields. It writes an error of the script into the packet.
    file = write_file(place, str(MANY), "35")
    lines, errors, status = tshark(file, "-V", home=place)
    yield "tshark reads random content without errors", \
        not errors and status == 0 and len([line for line in lines if line.startswith("Frame ")]) == len(LINES) * MANY
    yield "the dissector handles random content", not [line for line in lines if "Lua Error" in line]
    lines, _, _ = tshark(file, *wanted, home=place)
    yield "random content keeps the types of records", \
        [line.split()[0] for line in lines] == [line.split()[0] for line in LINES] * MANY


def cases(place):
    """Yield the name of each case, and whether it passes."""
    file = write_file(place)
    lines, errors, status = tshark(file, "-T", "fields", "-e", "_ws.col.Info", home=place)
    yield "tshark reads the file without errors", not errors and status == 0
    for number, line in enumerate(LINES):
        yield f"record {number + 1}: {line}", number < len(lines) and lines[number] == line
    yield "no further records", len(lines) == len(LINES)
    fields = ["-e", "vrfm.offset", "-e", "vrfm.bytes", "-e", "_ws.col.Source", "-e", "_ws.col.Destination"]
    lines, _, _ = tshark(file, "-Y", "vrfm.message.type == 2", "-T", "fields", *fields, home=place)
    yield "runs of an UPDATE, and the nodes", lines == [
        "0x00000000,0x00000040,0x00000080\t0100000002000000,050000\tnode 1\tthis node"]
    lines, _, _ = tshark(file, "-Y", "vrfm.payload_cut", "-T", "fields", "-e", "frame.number", home=place)
    yield "only the STAGE is cut", lines == ["13"]
    lines, _, _ = tshark(file, "-c", "1", "-T", "fields", "-e", "frame.time_epoch", "-e", "frame.interface_name",
                         "-e", "frame.interface_description", home=place)
    yield "time and device", len(lines) == 1 and lines[0].startswith(
        "1700000000.000000001\trfm2g0\tvrfm records 1 network 1 node 2 size 1048576 lineage 0123456789abcdef crc ")
    yield from long_files(place)


def check(log):
    """Run all cases; a part of tools/check."""
    results = ktap.Results()
    with tempfile.TemporaryDirectory() as place:
        for name, good in cases(pathlib.Path(place)):
            (results.passed if good else results.failed).append(name)
            static.write(log, f"{'ok' if good else 'not ok'} {name}\n")
    return results
