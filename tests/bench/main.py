# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""Measure in virtual machines, and write the results.  tools/bench starts this program."""
import argparse
import datetime
import fnmatch
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parents[1]
sys.path.insert(0, str(HERE.parent / "vm"))
sys.path.insert(1, str(HERE.parent / "check"))

import page  # noqa: E402
import record  # noqa: E402
import rows as all_rows  # noqa: E402
import userspace  # noqa: E402
from record import BenchError  # noqa: E402
from rig import kernels, need  # noqa: E402

TURN_MS = 500			# duration of a turn
BOOT_SECONDS = 240		# time limit for a boot
LEVELS = ("none", "auth", "integrity", "encrypt")


def arguments():
    known = list(dict.fromkeys(row.id for row in (*all_rows.ROWS, *all_rows.POINTS)))
    parser = argparse.ArgumentParser(
        prog="tools/bench",
        description="Compare krdma and vrfm with hand-written verbs code, measured alternately in the same kernel.",
        epilog="Each line is: ROW WHAT, TOPOLOGY VALUE goal OPGOAL met|missed, or VALUE reported. The exit status is 0 if "
               "all rows were measured, even if goals are missed.")
    parser.add_argument("-V", "--version", action="version", version=f"%(prog)s {need.version()}")
    parser.add_argument("--rows", metavar="ROW,ROW", help="rows to measure, such as krdma/write-8B-p50 or 'vrfm/write-*' (default: "
                        f"all, but curve/* only with --report): {','.join(known)}")
    parser.add_argument("--kernel", choices=list(kernels.TABLE), default="uml")
    parser.add_argument("--link", choices=["rxe", "siw"], default="rxe")
    parser.add_argument("--security", choices=LEVELS, default="none",
                        help="level of security of the devices of vrfm, except in rows that compare levels (default: none)")
    parser.add_argument("--cpus", type=int, metavar="N", help="processors of each node (default: 1 for uml, otherwise 2)")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="number of rounds; values are their median "
                        "(default: 5)")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the results to this file")
    parser.add_argument("--report", type=pathlib.Path, metavar="DIR",
                        help=f"write a page, {page.PAGE}, and the results, {page.JSON}, into this folder")
    parser.add_argument("--from", type=pathlib.Path, metavar="FILE", dest="earlier",
                        help="make the page of the JSON of an earlier run, instead of measuring")
    args = parser.parse_args()
    if args.earlier and not args.report:
        parser.error("--from: only with --report")
    usual = [name for name in known if args.report or not name.startswith("curve/")]
    wanted = usual if args.rows is None else args.rows.split(",")
    unknown = [name for name in wanted if not fnmatch.filter(known, name)]
    if unknown:
        parser.error(f"--rows: unknown: {','.join(unknown)}; known: {','.join(known)}")
    if not 1 <= args.rounds <= 100:
        parser.error("--rounds: 1 to 100")
    wanted = [name for pattern in wanted for name in fnmatch.filter(known, pattern)]
    args.rows = [row for row in all_rows.ROWS if row.id in wanted]
    args.points = [point for point in all_rows.POINTS if point.id in wanted]
    # User-mode Linux gets one processor. With two, each would wait while the host suspends the other one.
    args.cpus = args.cpus or (1 if args.kernel.startswith("uml") else 2)
    return args


def vbench(folder):
    """Compile vbench, a program that uses vrfm; return the path of the program."""
    program = pathlib.Path(folder, "vbench")
    try:
        subprocess.run(["gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-I", TOP / "include/uapi", "-o", program,
                        HERE / "vbench.c", HERE / "vbench_ring.c", "-libverbs", "-pthread"], check=True)
    except subprocess.CalledProcessError:
        raise BenchError("vbench does not compile") from None
    return program


class Machine:
    """One boot, with the jobs that measure the rows and points of a topology, and their results."""

    def __init__(self, args, topology):
        self.args = args
        self.topology = topology
        self.rows = [row for row in args.rows if topology in row.topologies]
        self.points = [point for point in args.points if topology in point.topologies]
        self.jobs = {}			# {command: key}; rows with the same command share a job
        self.turns = {}			# {key: {variant: [numbers of each round]}}
        self.facts = {}
        self.skipped = {}
        for row in (*self.rows, *self.points):
            self.jobs.setdefault(self.command(row), f"job{len(self.jobs)}")

    def command(self, row):
        options = row.options if "ms=" in row.options else f"{row.options} ms={TURN_MS}"
        return f"{row.test} {row.variants} {self.args.rounds} {options}"

    def boot(self):
        """Run all jobs in one boot; the jobs of vrfm need the program vbench."""
        with tempfile.TemporaryDirectory() as folder:
            more = []
            if any(row.test.startswith("vrfm-") or row.test in ("ntr-vrfm", *all_rows.LONE)
                   for row in (*self.rows, *self.points)):
                more = ["--add", vbench(folder)]
            self.boot_with(more)

    def boot_with(self, more):
        seconds = BOOT_SECONDS + 20 * len(self.jobs) * (self.args.rounds + 1)
        link = all_rows.LINKS.get(self.topology, self.args.link)
        load = "krdma krdma_bench vrfm" if more else "krdma krdma_bench"
        if any(row.test.startswith("krping-") for row in self.rows):
            load += " krping"
        if any(row.test == "blk" for row in self.rows):
            load += " krping_blk"
        if self.topology == all_rows.SPACES:
            load += " ntrdma_bench"
        if self.topology in all_rows.LINKS:
            more = [*more, "--add", HERE / "ntr.sh"]
        if self.topology in all_rows.WINDOWS:
            more = [*more, "--adapter"]
        if any(row.test == "replay" for row in self.rows):
            more = [*more, *[word for file in userspace.added((), ("vrfmctl",), (), HERE) for word in ("--add", file)]]
        # The test "sizes" needs more memory, because it creates two devices of 256 MiB on a node.
        more = [*more, "--mem", "1G"] if any(row.test == "sizes" for row in self.rows) else more
        argv = [TOP / "tools/vm", "--kernel", self.args.kernel, "--link", link, "--nodes",
                all_rows.NODES[self.topology], "--cpus", self.args.cpus, "--load", load, *more, "--timeout", seconds,
                HERE / "node.sh", *([] if self.args.security == "none" else [f"security={self.args.security}"]),
                *[f"{key} {command}" for command, key in self.jobs.items()]]
        with subprocess.Popen([str(word) for word in argv], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              text=True, errors="replace") as process:
            for line in process.stdout:
                self.hear(line.partition("| ")[2].split())
        if process.returncode:
            raise BenchError(f"{self.topology}: tools/vm failed, see above")

    def hear(self, words):
        """Handle a line that node.sh has printed, split into words."""
        if words[:1] == ["node"]:
            self.facts.update(word.split("=", 1) for word in words[1:])
        elif words[:1] == ["skipped"]:
            self.skipped[words[1]] = " ".join(words[2:])
        elif words[:1] == ["result"] and words[2] == "kernel":
            self.facts.update(word.split("=", 1) for word in words[4:])
        elif words[:1] == ["result"]:
            numbers = {name: int(value) for name, value in (word.split("=", 1) for word in words[4:])}
            self.turns.setdefault(words[1], {}).setdefault(words[2], []).append(numbers)

    def turns_of(self, row):
        """Return the turns of a row or point; None if it was skipped."""
        key = self.jobs[self.command(row)]
        if key in self.skipped:
            print(f"bench: {row.id} {row.what}, {self.topology}: skipped: {self.skipped[key]}", file=sys.stderr)
            return None
        turns = self.turns.get(key, {})
        if any(len(turns.get(variant, [])) != self.args.rounds for variant in row.variants.split(",")):
            raise BenchError(f"{row.id} {row.what}, {self.topology}: not measured")
        return turns

    def measured_point(self, point):
        """Return the entry of a point in the JSON; None if it was skipped."""
        turns = self.turns_of(point)
        return turns and {"id": point.id, "what": point.what, "size": point.size, "topology": self.topology,
                          "turns": turns}

    def measured(self, row):
        """Return the entry of a row in the JSON; None if it was skipped."""
        turns = self.turns_of(row)
        if turns is None:
            return None
        try:
            samples = row.value(turns)
        except ZeroDivisionError:
            raise BenchError(f"{row.id} {row.what}, {self.topology}: this kernel does not measure that") from None
        value, goal = row.pick(samples), row.goal({**self.facts, "kernel": self.args.kernel})
        return {"id": row.id, "what": row.what, "value": round(value, 4), "goal": goal, "op": row.op,
                "met": None if goal is None else value <= goal if row.op == "<=" else value >= goal,
                "samples": [round(sample, 4) for sample in samples],
                "spread": [round(min(samples), 4), round(max(samples), 4)], "topology": self.topology, "turns": turns}


def say(row):
    verdict = "reported"
    if row["goal"] is not None:
        verdict = f"goal {row['op']}{row['goal']:.2f} {'met' if row['met'] else 'missed'}"
    print(f"{row['id']} {row['what']}, {row['topology']} {row['value']:.2f} {verdict}", flush=True)


def gather(found, measure, things, errors):
    """Call MEASURE for each of THINGS, and add the result to FOUND or the error to ERRORS."""
    for thing in things:
        try:
            found.append(measure(thing))
        except BenchError as error:
            errors.append(error)


def run(args):
    """Run all machines, one after the other; return (rows, points, facts, errors)."""
    rows, points, facts, errors = [], [], {}, []
    for topology in all_rows.NODES:
        machine = Machine(args, topology)
        if not machine.jobs:
            continue
        if topology in all_rows.WINDOWS and args.kernel.startswith("uml"):
            print(f"bench: {topology}: skipped: only QEMU has a device for memory that machines share", file=sys.stderr)
            continue
        try:
            machine.boot()
        except BenchError as error:
            errors.append(error)
        facts.update(machine.facts)
        before = len(rows)
        gather(rows, machine.measured, machine.rows, errors)
        gather(points, machine.measured_point, machine.points, errors)
        for row in filter(None, rows[before:]):
            say(row)
    return list(filter(None, rows)), list(filter(None, points)), facts, errors


def host():
    """Return the description of this machine, which all nodes share."""
    text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    model = re.search(r"^model name\s*:\s*(.+)$", text, re.M)
    return {"processor": model.group(1).strip() if model else None, "cpus": os.cpu_count(),
            "release": os.uname().release}


def tree():
    """Return the commit that is measured."""
    git = subprocess.run(["git", "-C", TOP, "describe", "--always", "--dirty"], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, text=True, check=False)
    return git.stdout.strip() or None


def measure(args):
    """Measure everything; return (JSON, errors)."""
    date = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    load = os.getloadavg()
    rows, points, facts, errors = run(args)
    report = {"rows": rows, "points": points, "host": host(), "tree": tree(), "kernel": args.kernel,
              "release": facts.get("release"), "link": args.link, "security": args.security, "mtu": int(facts.get("mtu") or 0),
              "hz": int(facts.get("hz", 0)), "cpus": int(facts.get("cpus", 0)), "rounds": args.rounds,
              "load_before": load, "load_after": os.getloadavg(), "date": date}
    return json.dumps(report, indent=1) + "\n", errors


def write_json(file, text):
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BenchError(f"{file}: {error.strerror}") from None


def check_json(file):
    """Check that the results can be written, before an hour of measuring.  A file of earlier results is not changed."""
    try:
        with open(file, "a", encoding="utf-8"):
            pass
    except OSError as error:
        raise BenchError(f"{file}: {error.strerror}") from None


def needed(args):
    """Return the groups of Debian packages that are needed for these arguments."""
    drawing = ["drawing"] if args.report else []
    return drawing if args.earlier else [*need.of_kernels([args.kernel]), "scripts", "verbs", *drawing]


def work(args):
    """Measure, or read earlier results, then write the requested files; return the errors of single rows and boots."""
    need.packages("tools/bench", *needed(args))
    if args.earlier:
        text, errors = record.read(args.earlier), []
        record.parse(text, args.earlier)		# refuses an invalid file before a file is written
    if args.report:
        page.prepare(args.report)
    if args.json:
        check_json(args.json)
    if not args.earlier:
        text, errors = measure(args)
    if args.json:
        write_json(args.json, text)
    if args.report:
        write_json(args.report / page.JSON, text)
        page.write(args.report, record.parse(text, args.report / page.JSON))
        print(f"bench: the page is {args.report / page.PAGE}", file=sys.stderr)
    return errors


def main():
    args = arguments()
    try:
        errors = work(args)
    except BenchError as error:
        errors = [error]
    for error in errors:
        print(f"bench: {error}", file=sys.stderr)
    return 1 if errors else 0


sys.exit(main())
