# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""Run the parts of the check, and print their results.  tools/check starts this program."""
import argparse
import fnmatch
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time
import traceback

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "vm"))

import command  # noqa: E402
import ktap  # noqa: E402
import memory  # noqa: E402
import mutants  # noqa: E402
import parts as all_parts  # noqa: E402
from rig import cache, kernels, need  # noqa: E402

WORKERS = 3			# parts at a time on two processors, because machines are mostly idle
LONG_WORKERS = 2		# parts at a time with --long, because kernels with debugging checks are not idle
HEARTBEAT = 60
TAIL = 60
KERNEL_TAIL = 15
CONSOLE = re.compile(r"n\d+! ")
SKIPS = HERE.parent / "skips"
GUARANTEE = re.compile(r"G\d+")		# a guarantee of vrfm, see Documentation/vrfm.rst


def arguments():
    parser = argparse.ArgumentParser(prog="tools/check",
                                     description="Run all checks, or those whose name contains or matches NAME.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="such as build, kunit-uml or 'connect*uml*'; "
                        "G1 to G10: the scenarios for a guarantee of vrfm")
    parser.add_argument("-V", "--version", action="version", version=f"%(prog)s {need.version()}")
    parser.add_argument("--list", action="store_true", help="print the names of all parts")
    parser.add_argument("--long", action="store_true", help="also run every scenario on every kernel, and long runs")
    parser.add_argument("--resume", action="store_true",
                        help="skip parts that have passed with the same files; the tree must be committed; "
                        "for --long and --mutants, which take hours")
    parser.add_argument("--mutants", action="store_true",
                        help="apply each patch of tests/mutants to a copy of the tree; its test must fail")
    return parser.parse_args()


def matches(part, name, full):
    """Check whether NAME selects PART.  A name in FULL selects only that part; others may be patterns or pieces."""
    if name in full:
        return part.name == name
    if GUARANTEE.fullmatch(name):
        return name in part.guarantees
    return name in part.name or fnmatch.fnmatch(part.name, name)


def wanted(part, args, full):
    """Check whether PART is to run.  A part of a tour, or without --long a long part, runs only under its full name."""
    if part.name in args.names:
        return True
    if part.tour or (part.long and not args.long):
        return False
    return not args.names or any(matches(part, name, full) for name in args.names)


def when(part):
    """Return the condition on which PART runs, for --list."""
    return f"  (--long: in {part.tour})" if part.tour else "  (--long)" if part.long else ""


def allowed_skips():
    """Return the (part, case) patterns of tests/skips, where each line gives a reason after a "#"."""
    pairs = []
    for number, line in enumerate(SKIPS.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        pattern, _, reason = line.partition("#")
        words = pattern.split(None, 1)
        if len(words) != 2 or not reason.strip():
            sys.exit(f"check: {SKIPS}:{number}: PART CASE # REASON")
        pairs.append((words[0], words[1].strip()))
    return pairs


class Kernels:
    """Prepares kernels one after the other, while parts that need no kernel run."""

    def __init__(self, names):
        self.names = names
        self.state = {}
        self.folders = {}
        self.building = False
        self.changed = threading.Condition()

    def prepare_all(self):
        for name in self.names:
            self.building = kernels.is_built(name)
            try:
                self.folders[name] = kernels.prepare(name).dir.name
                good = True
            except (cache.RigError, OSError) as error:
                print(f"# kernel {name}: {error}", flush=True)
                good = False
            with self.changed:
                self.building = False
                self.state[name] = good
                self.changed.notify_all()

    def start(self):
        threading.Thread(target=self.prepare_all, daemon=True).start()


class Run:
    """One run of tools/check, with the parts that wait, the parts that run, and the results."""

    def __init__(self, parts, resume=False, named=False):
        # Parts without a kernel come first, because building a kernel takes time.  Long parts come before short ones.
        self.waiting = sorted(parts, key=lambda part: (bool(part.kernels), -part.seconds))
        self.total = len(parts)
        self.running = {}
        self.done = 0
        self.results = ktap.Results()
        self.skips = allowed_skips()
        self.logs = command.log_folder(cache.root())
        self.kernels = Kernels(needed(parts))
        self.lock = self.kernels.changed
        self.memory = memory.Memory(all_parts.TOP, cache.root() / "results")
        self.resume = resume
        self.named = named
        if resume and not self.memory.tree:
            sys.exit("check: --resume needs a tree of which all is committed")

    def next(self):
        """Return a part whose kernels are ready or have failed to build; None when no part is left."""
        with self.lock:
            while self.waiting and not command.stopping.is_set():
                for part in self.waiting if self.has_room() else []:
                    if all(name in self.kernels.state for name in part.kernels):
                        self.waiting.remove(part)
                        self.running[part.name] = time.monotonic()
                        return part
                self.lock.wait(1)
        return None

    def has_room(self):
        """Check whether another part may start.  While a kernel is compiled, one part runs, to keep its time limits."""
        return not (self.kernels.building and self.running)

    def work(self):
        while part := self.next():
            known, left = self.recall(part) if self.remembers(part) else (ktap.Results(), part)
            if not left:
                self.report(part, known, None)
                continue
            log = self.logs / f"{part.name}.log"
            log.write_text("", encoding="utf-8")
            try:
                results = self.run_part(left, log)
            except command.Stopped:
                return
            self.report(left, results, log, known)

    def remembers(self, part):
        """Check whether an earlier pass may count.  Without --resume, PART must list its files, and not be named."""
        return self.resume or (part.files and self.memory.tree and not self.named)

    def recall(self, part):
        """Return (results of earlier passes of PART, what is left of PART to run or None)."""
        known, left = ktap.Results(), []
        for member in part.members or [part]:
            ready = all(self.kernels.state[name] for name in member.kernels)
            try:
                results = self.memory.recall(member, self.kernels.folders) if ready else None
            except (cache.RigError, OSError, subprocess.SubprocessError):
                # A tool is missing.  The part reports this when it runs.
                results = None
            if results:
                self.judge_skips(member, results)
            if results and not results.failed:
                known.add(results)
            else:
                left.append(member)
        if part.members and 0 < len(left) < len(part.members):
            return known, part.of(left)
        return known, part if left else None

    def run_part(self, part, log):
        missing = [name for name in part.kernels if not self.kernels.state[name]]
        if missing:
            return ktap.Results(failed=[f"no kernel {' '.join(missing)}"])
        try:
            results = part.run(log)
        except command.Stopped:
            raise
        except (cache.RigError, OSError) as error:
            results = ktap.Results(failed=[str(error)])
        except Exception as error:		# pylint: disable=broad-except  # a bug of the check itself must fail the part
            traceback.print_exc(file=sys.stderr)
            results = ktap.Results(failed=[f"{type(error).__name__}: {error}"])
        self.judge_skips(part, results)
        return results

    def judge_skips(self, part, results):
        """Count a skip that tests/skips does not list as a failure."""
        for case in list(results.skipped):
            if not any(fnmatch.fnmatch(part.name, name) and fnmatch.fnmatch(case, pattern)
                       for name, pattern in self.skips):
                results.skipped.remove(case)
                results.failed.append(f"{case}: skipped, but not listed in tests/skips")

    def report(self, part, results, log, known=None):
        """Print and count the results of PART.  LOG is None if it did not run; KNOWN: results of earlier passes."""
        with self.lock:
            self.done += 1
            if log:
                self.memory.note(part, self.kernels.folders, results, all_parts.read(log))
            if known:
                results.add(known)
            self.results.add(results)
            seconds = time.monotonic() - self.running.pop(part.name)
            word = "not ok" if results.failed else "ok"
            when = f"{seconds:.0f} s" if log else "before"
            print(f"{word} {self.done} {part.name} # {when}, {results.count()}", flush=True)
            if results.failed:
                show(results, log)

    def heartbeat(self):
        while not command.stopping.wait(HEARTBEAT):
            with self.lock:
                names = ", ".join(self.running) or "nothing"
                print(f"# {self.done} of {self.total} done, running: {names}", flush=True)

    def all(self, workers):
        print(f"KTAP version 1\n1..{self.total}", flush=True)
        self.kernels.start()
        threading.Thread(target=self.heartbeat, daemon=True).start()
        threads = [threading.Thread(target=self.work) for _ in range(workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self.done < self.total and not command.stopping.is_set():
            self.results.failed.append(f"{self.total - self.done} parts without a result")
        return self.results


def needed(parts):
    """Return the kernels of PARTS in the order of tests/vm, in which quick ones come first."""
    names = {name for part in parts for name in part.kernels}
    return [name for name in kernels.TABLE if name in names]


def show(results, log):
    for case in results.failed:
        print(f"#   failed: {case}")
    for line in tail(log.read_text(encoding="utf-8", errors="replace").splitlines()):
        print(f"#   | {line}")
    print(f"#   log: {log}", flush=True)


def tail(lines):
    """Return the end of a log, with only the last KERNEL_TAIL lines of kernels."""
    kernel = [number for number, line in enumerate(lines) if CONSOLE.match(line)]
    dropped = set(kernel[:-KERNEL_TAIL])
    return [line for number, line in enumerate(lines) if number not in dropped][-TAIL:]


def interrupted(_number, _frame):
    # Call end_all() in a thread.  end_all() takes a lock, and code that this handler has interrupted may hold this
    # lock.
    threading.Thread(target=command.end_all).start()


def select(args):
    known = all_parts.everything()
    full = {part.name for part in known}
    chosen = [part for part in known if wanted(part, args, full)]
    unknown = [name for name in args.names if not any(matches(part, name, full) for part in chosen)]
    if unknown:
        sys.exit(f"check: nothing is called {' '.join(unknown)}, or only with --long; see --list")
    return chosen


def main():
    args = arguments()
    if args.list:
        for part in all_parts.everything():
            print(f"{part.name}{when(part)}")
        return 0
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupted)
    start = time.monotonic()
    parts = all_parts.everything() if args.mutants else select(args)
    need.packages("tools/check", *all_parts.groups(parts))
    if args.mutants:
        results = mutants.check(args.names, parts, args.resume)
    else:
        results = Run(parts, args.resume, args.names).all(LONG_WORKERS if args.long else WORKERS)
    print(f"# {(time.monotonic() - start) / 60:.1f} minutes")
    if command.stopping.is_set():
        results.failed.append("interrupted")
    for case in results.failed:
        print(f"# failed: {case}")
    print(results.count(), flush=True)
    return 1 if results.failed or not results.passed else 0


status = main()
sys.stdout.flush()
os._exit(status)		# does not wait for a thread that still prepares a kernel
