# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""Apply known faults to the tree, the mutants, and check that a test notices each of them.

A mutant is a file of tests/mutants: NAME.cocci, a semantic patch that spatch applies to C code, or NAME.patch, a diff.
Its head has a description, "caught-by: PART" with the part of tools/check that must fail, "rule: PAGE#SECTION" with the
text that documents the rule, and in a semantic patch "file: PATH..." with the files that it changes.  Each mutant is
applied to a copy of the tree, in which tools/check runs that part.  All these parts first run without mutants, because a
case that always fails catches nothing.  With --resume, parts that passed and mutants that were caught are not repeated,
as long as files and kernels are the same.
"""
import concurrent.futures
import fnmatch
import os
import pathlib
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import command
import ktap
import memory
from rig import cache, kernels, modules

TOP = modules.TREE
MUTANTS = TOP / "tests/mutants"
TREES = 2			# number of mutants that are tried at a time
LIMIT = 1800			# time limit of a part, in seconds
SPATCH = ["spatch", "--very-quiet", "--no-includes", "--timeout", "60", "--no-show-diff", "--in-place", "--sp-file"]


def head(mutant, key):
    """Return the words of the line KEY in the head of a mutant; empty if it has no such line."""
    match = re.search(rf"^(?:#|//) {key}: (.+)$", mutant.read_text(encoding="utf-8"), re.MULTILINE)
    return match.group(1).split() if match else []


def caught_by(mutant):
    """Return the part that must notice a mutant; None if the mutant names none."""
    return " ".join(head(mutant, "caught-by")) or None


def changed_files(mutant):
    """Return the paths of the files that a mutant changes."""
    if mutant.suffix == ".cocci":
        return head(mutant, "file")
    return re.findall(r"^\+\+\+ b/(\S+)", mutant.read_text(encoding="utf-8"), re.MULTILINE)


def chosen(names):
    """Return the mutants whose name contains or matches one of NAMES; without NAMES, all mutants."""
    def matches(mutant, name):
        return name in mutant.stem or fnmatch.fnmatch(mutant.stem, name)

    known = sorted([*MUTANTS.glob("*.cocci"), *MUTANTS.glob("*.patch")])
    unknown = [name for name in names if not any(matches(mutant, name) for mutant in known)]
    if unknown:
        sys.exit(f"check: no mutant is called {' '.join(unknown)}; see {MUTANTS}")
    return [mutant for mutant in known if not names or any(matches(mutant, name) for name in names)]


def is_documented(rule):
    """Is RULE, PAGE#SECTION, in the tree?  SECTION is the title of a section, the first cell of a row, or a word of C."""
    page, _, section = rule.partition("#")
    if not section or not (TOP / page).is_file():
        return False
    text, title = (TOP / page).read_text(encoding="utf-8"), re.escape(section)
    pattern = rf"^{title}\n([=~^-])\1+$|^(``)?{title}(``)? " if page.endswith(".rst") else rf"\b{title}\b"
    return bool(re.search(pattern, text, re.MULTILINE))


def wrong_with(mutant, parts, log):
    """Return the first fault of a mutant, or None; PARTS are the names of all parts."""
    rule = " ".join(head(mutant, "rule"))
    if caught_by(mutant) not in parts:
        return f"{caught_by(mutant)} is no part"
    if not is_documented(rule):
        return f"no text documents the rule {rule or 'in its head'}"
    with tempfile.TemporaryDirectory() as folder:
        for name in changed_files(mutant):
            if (TOP / name).is_file():
                (pathlib.Path(folder) / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(TOP / name, pathlib.Path(folder) / name)
        return None if apply(mutant, pathlib.Path(folder), log) else "does not apply any more"


def check_all(parts, log):
    """Return the faults of all mutants, a line for each.  The code that a mutant changes may have changed."""
    known = chosen([])
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        faults = pool.map(lambda mutant: wrong_with(mutant, parts, log), known)
        return [f"{mutant.name}: {fault}\n" for mutant, fault in zip(known, faults) if fault]


def fresh_copy(number):
    """Return a copy of the tree without ignored files and without the changes of an earlier mutant."""
    tree = cache.root() / "mutants" / f"tree{number}"
    tree.mkdir(parents=True, exist_ok=True)
    if not (tree / ".git").exists():
        cache.run(["git", "init", "-q", tree])
    modules.copy(TOP, tree)
    return tree


def apply(mutant, tree, log):
    """Apply a mutant to a tree; return false if it does not apply, or does not change each of its files."""
    if mutant.suffix == ".patch":
        return command.run(["patch", "-p1", "--no-backup-if-mismatch", "-r", "-", "-i", mutant], log, 60, cwd=tree) == 0
    names = changed_files(mutant)
    return bool(names) and all(has_changed(mutant, tree / name, log) for name in names)


def has_changed(mutant, file, log):
    """Apply a semantic patch to a file; return true if this changed the file."""
    before = file.read_bytes() if file.is_file() else None
    return command.run([*SPATCH, mutant, file], log, 90) == 0 and file.read_bytes() != before


def failed_cases(text):
    """Return the cases that the check in the copy reports as failed; none if the modules did not build.

    Warnings of the compiler do not count: they show that the code looks strange, and not that a test notices the fault.
    """
    cases = re.findall(r"^# failed: (?!.*: warning: )(.+)$", text, re.MULTILINE)
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

    def of(self, name, mutant=None):
        """Return the part called NAME, or if MUTANT is given, this part with MUTANT; None if there is no such part."""
        part = self.parts.get(name)
        with self.lock:
            for kernel in part.kernels if part else ():
                self.folders[kernel] = self.folders.get(kernel) or kernels.prepare(kernel).dir.name
        return memory.Mutant(part, mutant) if part and mutant else part

    def recall(self, name, mutant=None):
        """Return the cases of a part that passed, or the one that caught a mutant; None if neither is remembered."""
        part = self.of(name, mutant) if self.resume else None
        results = self.memory.recall(part, self.folders) if part else None
        return results.passed if results else None

    def note(self, name, mutant, caught):
        """Remember that the case CAUGHT noticed MUTANT."""
        part = self.of(name, mutant)
        if part:
            with self.lock:
                self.memory.note(part, self.folders, ktap.Results(passed=[caught]))


class Trial:
    """Runs the parts without mutants and then all mutants, TREES at a time."""

    def __init__(self, mutants, past):
        self.mutants = mutants
        self.past = past
        self.parts = sorted({caught_by(mutant) for mutant in mutants} - {None})
        self.sound = {}			# {part: cases that fail without a mutant}
        self.done = 0
        self.results = ktap.Results()
        self.lock = threading.Lock()
        self.logs = command.log_folder(cache.root())

    def try_part(self, part, tree, log):
        """Run a part without a mutant; return the reason why it cannot judge mutants, or None."""
        self.sound[part] = [] if self.past.recall(part) else run_part(part, tree, log)
        return "; ".join(["fails without a mutant", *self.sound[part]]) if self.sound[part] else None

    def try_mutant(self, mutant, tree, log):
        """Try a mutant; return the reason why it was not caught, or None."""
        part = caught_by(mutant)
        if not part:
            return "no caught-by line"
        before = self.past.recall(part, mutant)
        if before:
            print(f"#   {mutant.stem} was caught before: {before[0]}", flush=True)
            return None
        if not apply(mutant, tree, log):
            return "does not apply any more"
        caught = [case for case in run_part(part, tree, log) if case not in self.sound[part]]
        if not caught:
            return f"not noticed by {part}"
        print(f"#   {mutant.stem} is caught: {caught[0]}", flush=True)
        self.past.note(part, mutant, caught[0])
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
        print(f"KTAP version 1\n1..{len(self.parts) + len(self.mutants)}", flush=True)
        self.each(self.try_part, self.parts, lambda part: f"sound {part}")
        self.each(self.try_mutant, self.mutants, lambda mutant: f"mutant {mutant.stem}")
        return self.results


def check(names, parts, resume):
    """Try the mutants; return the results.  Locked, because all checkouts use the same copies."""
    with cache.lock("mutants"):
        return Trial(chosen(names), Past(parts, resume)).all()
