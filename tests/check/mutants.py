# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""Apply known faults to the tree, the mutants, and check that a test notices each of them.

A mutant is a patch in tests/mutants.  Above its first "---" are a description and the line "# caught-by: PART", which
names the part of tools/check that must fail.  Each mutant is applied to a copy of the tree, in which tools/check runs
that part.  All these parts first run without mutants, because a case that always fails catches nothing.  With --resume,
parts that passed and mutants that were caught are not repeated, as long as files and kernels are the same.
"""
import fnmatch
import pathlib
import queue
import re
import subprocess
import sys
import threading
import time

import command
import ktap
import memory
from rig import cache, kernels, modules

TOP = modules.TREE
PATCHES = TOP / "tests/mutants"
TREES = 2			# number of mutants that are tried at a time
LIMIT = 1800			# time limit of a part, in seconds


def caught_by(patch):
    """Return the part that must notice a patch; None if the patch names none."""
    match = re.search(r"^# caught-by: (\S+)$", patch.read_text(encoding="utf-8"), re.MULTILINE)
    return match.group(1) if match else None


def chosen(names):
    """Return the patches whose name contains or matches one of NAMES; without NAMES, all patches."""
    def matches(patch, name):
        return name in patch.stem or fnmatch.fnmatch(patch.stem, name)

    known = sorted(PATCHES.glob("*.patch"))
    unknown = [name for name in names if not any(matches(patch, name) for patch in known)]
    if unknown:
        sys.exit(f"check: no mutant is called {' '.join(unknown)}; see {PATCHES}")
    return [patch for patch in known if not names or any(matches(patch, name) for name in names)]


def fresh_copy(number):
    """Return a copy of the tree without ignored files and without the changes of an earlier mutant."""
    tree = cache.root() / "mutants" / f"tree{number}"
    tree.mkdir(parents=True, exist_ok=True)
    if not (tree / ".git").exists():
        cache.run(["git", "init", "-q", tree])
    modules.copy(TOP, tree)
    return tree


def apply(patch, tree, log):
    return command.run(["patch", "-p1", "--no-backup-if-mismatch", "-r", "-", "-i", patch], log, 60, cwd=tree) == 0


def failed_cases(text):
    """Return the cases that the check in the copy reports as failed; none if the modules did not build."""
    cases = re.findall(r"^# failed: (.+)$", text, re.MULTILINE)
    return [] if "modules do not build" in text else cases


def run_part(part, tree, log):
    """Run a part in a tree; return the names of its cases that failed."""
    status = command.run([tree / "tools/check", part], log, LIMIT)
    failed = failed_cases(pathlib.Path(log).read_text(encoding="utf-8", errors="replace"))
    return failed if status else []


class Past:
    """Earlier passes of PARTS, and mutants that were caught.  They count only with --resume, in a committed tree."""

    def __init__(self, parts, resume):
        self.memory = memory.Memory(TOP, cache.root() / "results")
        self.resume = resume
        self.parts = {part.name: part for part in parts if not part.members} if self.memory.tree else {}
        self.folders = {}		# of kernels
        self.lock = threading.Lock()
        if resume and not self.memory.tree:
            sys.exit("check: --resume needs a tree of which all is committed")

    def of(self, name, patch=None):
        """Return the part called NAME, or if PATCH is given, this part with PATCH; None if there is no such part."""
        part = self.parts.get(name)
        with self.lock:
            for kernel in part.kernels if part else ():
                self.folders[kernel] = self.folders.get(kernel) or kernels.prepare(kernel).dir.name
        return memory.Mutant(part, patch) if part and patch else part

    def recall(self, name, patch=None):
        """Return the cases of a part that passed, or the one that caught a patch; None if neither is remembered."""
        part = self.of(name, patch) if self.resume else None
        results = self.memory.recall(part, self.folders) if part else None
        return results.passed if results else None

    def note(self, name, patch, caught):
        """Remember that the case CAUGHT noticed PATCH."""
        part = self.of(name, patch)
        if part:
            with self.lock:
                self.memory.note(part, self.folders, ktap.Results(passed=[caught]))


class Trial:
    """Runs the parts without mutants and then all mutants, TREES at a time."""

    def __init__(self, patches, past):
        self.patches = patches
        self.past = past
        self.parts = sorted({caught_by(patch) for patch in patches} - {None})
        self.sound = {}			# {part: cases that fail without a mutant}
        self.done = 0
        self.results = ktap.Results()
        self.lock = threading.Lock()
        self.logs = command.log_folder(cache.root())

    def try_part(self, part, tree, log):
        """Run a part without a mutant; return the reason why it cannot judge mutants, or None."""
        self.sound[part] = [] if self.past.recall(part) else run_part(part, tree, log)
        return "; ".join(["fails without a mutant", *self.sound[part]]) if self.sound[part] else None

    def try_patch(self, patch, tree, log):
        """Try a mutant; return the reason why it was not caught, or None."""
        part = caught_by(patch)
        if not part:
            return "no caught-by line"
        before = self.past.recall(part, patch)
        if before:
            print(f"#   {patch.stem} was caught before: {before[0]}", flush=True)
            return None
        if not apply(patch, tree, log):
            return "does not apply any more"
        caught = [case for case in run_part(part, tree, log) if case not in self.sound[part]]
        if not caught:
            return f"not noticed by {part}"
        print(f"#   {patch.stem} is caught: {caught[0]}", flush=True)
        self.past.note(part, patch, caught[0])
        return None

    def each(self, attempt, jobs, name):
        """Run ATTEMPT for all jobs, with a thread for each tree."""
        waiting = queue.Queue()
        for job in jobs:
            waiting.put(job)
        workers = [threading.Thread(target=self.work, args=(attempt, waiting, name, number)) for number in range(TREES)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()

    def work(self, attempt, waiting, name, number):
        while not command.stopping.is_set():
            try:
                job = waiting.get_nowait()
            except queue.Empty:
                return
            log = self.logs / f"{name(job).replace(' ', '-')}.log"
            log.write_text("", encoding="utf-8")
            start = time.monotonic()
            try:
                wrong = attempt(job, fresh_copy(number), log)
            except (cache.RigError, OSError, subprocess.SubprocessError) as error:
                wrong = str(error)
            except command.Stopped:
                return
            self.report(name(job), wrong, log, time.monotonic() - start)

    def report(self, name, wrong, log, seconds):
        with self.lock:
            self.done += 1
            (self.results.failed if wrong else self.results.passed).append(f"{name}: {wrong}" if wrong else name)
            print(f"{'not ok' if wrong else 'ok'} {self.done} {name} # {seconds:.0f} s", flush=True)
            if wrong:
                print(f"#   {wrong}\n#   log: {log}", flush=True)

    def all(self):
        print(f"KTAP version 1\n1..{len(self.parts) + len(self.patches)}", flush=True)
        self.each(self.try_part, self.parts, lambda part: f"sound {part}")
        self.each(self.try_patch, self.patches, lambda patch: f"mutant {patch.stem}")
        return self.results


def check(names, parts, resume):
    """Try the mutants; return the results.  Locked, because all checkouts use the same copies."""
    with cache.lock("mutants"):
        return Trial(chosen(names), Past(parts, resume)).all()
