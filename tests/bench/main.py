# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""Started by tools/bench."""
import argparse
import datetime
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parents[1]
sys.path.insert(0, str(HERE.parent / "vm"))

import rows as all_rows  # noqa: E402
from rig import kernels  # noqa: E402

NODES = {all_rows.SELF: 1, all_rows.TWO: 2}
TURN_MS = 500
BOOT_SECONDS = 240


class BenchError(Exception):
    """Something that the user should read as one line."""


def arguments():
    known = list(dict.fromkeys(row.id for row in all_rows.ROWS))
    parser = argparse.ArgumentParser(
        prog="tools/bench", description="Measure krdma against verbs written by hand, in the same kernel, by turns.",
        epilog="A line is: ROW WHAT, TOPOLOGY VALUE goal OPGOAL met|missed. The exit status is 0 if all was measured, whatever "
               "the values.")
    parser.add_argument("--rows", default=",".join(known), metavar="R1,R4", help=f"of {','.join(known)}")
    parser.add_argument("--kernel", choices=list(kernels.TABLE), default="uml")
    parser.add_argument("--link", choices=["rxe", "siw"], default="rxe")
    parser.add_argument("--cpus", type=int, metavar="N", help="of each node (default: uml 1, others 2)")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="of which the median is taken (default: 5)")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    args = parser.parse_args()
    wanted = args.rows.split(",")
    unknown = [name for name in wanted if name not in known]
    if unknown:
        parser.error(f"--rows: {','.join(unknown)}: there are {','.join(known)}")
    if not 1 <= args.rounds <= 100:
        parser.error("--rounds: 1 to 100")
    args.rows = [row for row in all_rows.ROWS if row.id in wanted]
    # Two processors of User-mode Linux wait for each other whenever the host has something else to do.
    args.cpus = args.cpus or (1 if args.kernel.startswith("uml") else 2)
    return args


def vbench(folder):
    """The program that does what programs do."""
    program = pathlib.Path(folder, "vbench")
    try:
        subprocess.run(["gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-I", TOP / "include/uapi", "-o", program,
                        HERE / "vbench.c", "-libverbs"], check=True)
    except subprocess.CalledProcessError:
        raise BenchError("vbench.c does not compile") from None
    return program


class Machine:
    """One boot: the rows of a topology, and what the node said."""

    def __init__(self, args, topology):
        self.args = args
        self.topology = topology
        self.rows = [row for row in args.rows if topology in row.topologies]
        self.jobs = {}			# command -> key; rows may share one
        self.turns = {}			# key -> variant -> round -> numbers
        self.facts = {}
        self.skipped = {}
        for row in self.rows:
            self.jobs.setdefault(self.command(row), f"job{len(self.jobs)}")

    def command(self, row):
        options = row.options if "ms=" in row.options else f"{row.options} ms={TURN_MS}"
        return f"{row.test} {row.variants} {self.args.rounds} {options}"

    def boot(self):
        """Run all jobs; those of vrfm need a program besides."""
        with tempfile.TemporaryDirectory() as folder:
            more = []
            if any(row.id.startswith("V") for row in self.rows):
                more = ["--add", vbench(folder)]
            self.boot_with(more)

    def boot_with(self, more):
        seconds = BOOT_SECONDS + 20 * len(self.jobs) * (self.args.rounds + 1)
        load = "krdma krdma_bench vrfm" if more else "krdma krdma_bench"
        argv = [TOP / "tools/vm", "--kernel", self.args.kernel, "--link", self.args.link, "--nodes",
                NODES[self.topology], "--cpus", self.args.cpus, "--load", load, *more, "--timeout", seconds,
                HERE / "node.sh", *[f"{key} {command}" for command, key in self.jobs.items()]]
        with subprocess.Popen([str(word) for word in argv], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              text=True, errors="replace") as process:
            for line in process.stdout:
                self.hear(line.partition("| ")[2].split())
        if process.returncode:
            raise BenchError(f"{self.topology}: tools/vm failed, see above")

    def hear(self, words):
        """A line of node.sh."""
        if words[:1] == ["node"]:
            self.facts.update(word.split("=", 1) for word in words[1:])
        elif words[:1] == ["skipped"]:
            self.skipped[words[1]] = " ".join(words[2:])
        elif words[:1] == ["result"] and words[2] == "kernel":
            self.facts.update(word.split("=", 1) for word in words[4:])
        elif words[:1] == ["result"]:
            numbers = {name: int(value) for name, value in (word.split("=", 1) for word in words[4:])}
            self.turns.setdefault(words[1], {}).setdefault(words[2], []).append(numbers)

    def measured(self, row):
        """The row as it goes into the JSON; None if it is skipped."""
        key = self.jobs[self.command(row)]
        if key in self.skipped:
            print(f"bench: {row.id} {row.what}, {self.topology}: skipped: {self.skipped[key]}", file=sys.stderr)
            return None
        turns = self.turns.get(key, {})
        if any(len(turns.get(variant, [])) != self.args.rounds for variant in row.variants.split(",")):
            raise BenchError(f"{row.id} {row.what}, {self.topology}: not measured")
        try:
            samples = row.value(turns)
        except ZeroDivisionError:
            raise BenchError(f"{row.id} {row.what}, {self.topology}: this kernel does not tell") from None
        value, goal = row.pick(samples), row.goal(self.facts["release"])
        return {"id": row.id, "what": row.what, "value": round(value, 4), "goal": goal, "op": row.op,
                "met": value <= goal if row.op == "<=" else value >= goal,
                "samples": [round(sample, 4) for sample in samples],
                "spread": [round(min(samples), 4), round(max(samples), 4)], "topology": self.topology, "turns": turns}


def say(row):
    print(f"{row['id']} {row['what']}, {row['topology']} {row['value']:.2f} goal {row['op']}{row['goal']:.2f} "
          f"{'met' if row['met'] else 'missed'}", flush=True)


def run(args):
    """All machines, one after the other: (rows, facts, what could not be measured)."""
    found, facts, errors = [], {}, []
    for topology in NODES:
        machine = Machine(args, topology)
        if not machine.rows:
            continue
        try:
            machine.boot()
        except BenchError as error:
            errors.append(error)
        facts.update(machine.facts)
        for row in machine.rows:
            try:
                result = machine.measured(row)
            except BenchError as error:
                errors.append(error)
                continue
            if result:
                say(result)
                found.append(result)
    return found, facts, errors


def main():
    args = arguments()
    date = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    load = os.getloadavg()
    found, facts, errors = run(args)
    report = {"rows": found, "kernel": args.kernel, "release": facts.get("release"), "link": args.link,
              "mtu": int(facts.get("mtu") or 0), "hz": int(facts.get("hz", 0)), "cpus": int(facts.get("cpus", 0)),
              "rounds": args.rounds, "load_before": load, "load_after": os.getloadavg(), "date": date}
    if args.json:
        args.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    for error in errors:
        print(f"bench: {error}", file=sys.stderr)
    return 1 if errors else 0


sys.exit(main())
