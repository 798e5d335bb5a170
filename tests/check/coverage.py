# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""Measure with gcov in a kernel which lines the KUnit tests reach in the files that pure() returns."""
import base64
import collections
import json
import pathlib
import re
import tempfile

import command
import ktap
import static
from rig import cache, kernels, modules

TOP = static.TOP
KUNIT = TOP / "tests/kunit"
# Arguments of make.  The first builds only the KUnit tests, the second counts the executions of each line.
KUNIT_MAKE = ("KRDMA_TESTS=kunit",)
COUNTING = "KRDMA_GCOV=y"
WANTED = 90			# per cent of the lines of a file
COUNTED = re.compile(r"^n1\| gcda (\S+) (\S+)$", re.M)
HEAD = re.compile(r"/\*.*?\*/\n", re.S)


def says_pure(file):
    """Check whether the comment at the head of FILE, or of its header, contains the word "Pure"."""
    paths = [path for path in (file, file.with_suffix(".h")) if path.exists()]
    texts = [path.read_text(encoding="utf-8").split("#include")[0] for path in paths]
    return any(re.search(r"\bPure\b", comment) for text in texts for comment in HEAD.findall(text))


def pure():
    """Return the files that the tests include, and those whose head calls them pure."""
    files = [file for module in ("krdma", "krping", "vrfm") for file in (TOP / module).glob("*.c")]
    found = {str(file.relative_to(TOP)) for file in files if says_pure(file)}
    for test in KUNIT.glob("*_kunit.c"):
        text = test.read_text(encoding="utf-8")
        found |= set(re.findall(r'#include "../../((?:krdma|krping|vrfm)/[a-z_]+\.c)"', text))
    return found


def count(built, counted):
    """Return {file: {line: number of executions}} from the counters of the kernel."""
    lines = collections.defaultdict(collections.Counter)
    with tempfile.TemporaryDirectory() as folder:
        for name, data in counted:
            pathlib.Path(folder, name).write_bytes(base64.b64decode(data))
            notes = built / "tests/kunit" / name.replace(".gcda", ".gcno")
            pathlib.Path(folder, notes.name).write_bytes(notes.read_bytes())
            report = json.loads(cache.output(["gcov", "--json-format", "--stdout", name], cwd=folder))
            for file in report["files"]:
                match = re.search(r"(?:krdma|krping|vrfm)/[a-z_]+\.c$", file["file"])
                for line in file["lines"] if match else []:
                    lines[match.group()][line["line_number"]] += line["count"]
    return lines


def judge(lines, log):
    """Return a case for each pure file, which passes if the tests reach enough of its lines."""
    results = ktap.Results()
    for file in sorted(pure()):
        reached = sum(1 for times in lines[file].values() if times)
        percent = 100 * reached / len(lines[file]) if lines[file] else 0
        missed = ",".join(str(line) for line, times in sorted(lines[file].items()) if not times)
        text = f"{file}: {percent:.0f} % of {len(lines[file])} lines"
        if not lines[file]:
            text = f"{file} is pure, and no test includes it"
        text += f", not {missed}" if missed else ""
        (results.passed if percent >= WANTED else results.failed).append(text)
        static.write(log, text + "\n")
    return results


def take_counted(log):
    """Remove the .gcda files from the log; return (name, data) of each."""
    text = log.read_text(encoding="utf-8", errors="replace")
    log.write_text(COUNTED.sub("", text), encoding="utf-8")
    return COUNTED.findall(text)


def run(kernel_name):
    """Build the tests with counters, run them, and judge the counters."""
    def check(log):
        kernel = kernels.prepare(kernel_name)
        args = [*KUNIT_MAKE, COUNTING]
        with modules.built(kernel, TOP, args) as folder:
            argv = [TOP / "tools/vm", "--kernel", kernel_name, "--nodes", "1", "--timeout", "300",
                    "--add", KUNIT / "run"]
            for file in sorted(folder.glob("*_kunit.ko")):
                argv += ["--add", file]
            status = command.run([*argv, KUNIT / "cover"], log, 600, cwd=TOP)
            counted = take_counted(pathlib.Path(log))
            lines = count(modules.place(kernel, TOP, args), counted)
        results = judge(lines, log)
        if status != 0:
            results.failed.append(f"exit status {status}")
        return results
    return check
