# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""Known breakages of the modules: does each make the test fail that should notice?

A mutant is a patch in tests/mutants.  Lines before the first "---" are for us: "# caught-by: PART..." names
parts of this check, of which at least one must fail.  Each is applied to a copy of the tree, where the same
tools/check runs.
"""
import fnmatch
import pathlib
import queue
import re
import subprocess
import threading
import time

import command
import ktap
from rig import cache, modules

TOP = modules.TREE
PATCHES = TOP / "tests/mutants"
TREES = 2			# mutants that are tried at a time
LIMIT = 1800


def caught_by(patch):
    """The parts that a patch names."""
    match = re.search(r"^# caught-by: (.+)$", patch.read_text(encoding="utf-8"), re.MULTILINE)
    return match.group(1).split() if match else []


def chosen(names):
    """Patches that are wanted: all, or those whose name contains or matches one of NAMES."""
    return [patch for patch in sorted(PATCHES.glob("*.patch"))
            if not names or any(name in patch.stem or fnmatch.fnmatch(patch.stem, name) for name in names)]


def fresh_copy(number):
    """A copy of the tree as it is; what git ignores and what an earlier mutant changed are gone."""
    tree = cache.root() / "mutants" / f"tree{number}"
    tree.mkdir(parents=True, exist_ok=True)
    if not (tree / ".git").exists():
        cache.run(["git", "init", "-q", tree])
    modules.copy(TOP, tree)
    return tree


def apply(patch, tree, log):
    return command.run(["patch", "-p1", "--no-backup-if-mismatch", "-r", "-", "-i", patch], log, 60, cwd=tree) == 0


def failed_cases(text):
    """Cases that the check in the copy reports as failed, a build that failed not being one."""
    cases = re.findall(r"^# failed: (.+)$", text, re.MULTILINE)
    return [] if "modules do not build" in text else cases


def try_one(patch, number, log):
    """What is wrong with the mutant, or None: it was caught."""
    parts = caught_by(patch)
    if not parts:
        return "no caught-by line"
    tree = fresh_copy(number)
    if not apply(patch, tree, log):
        return "does not apply any more"
    for part in parts:
        status = command.run([tree / "tools/check", part], log, LIMIT)
        if status != 0 and failed_cases(pathlib.Path(log).read_text(encoding="utf-8", errors="replace")):
            return None
    return f"not noticed by {' '.join(parts)}"


class Trial:
    """All mutants, a few at a time."""

    def __init__(self, patches):
        self.patches = queue.Queue()
        for patch in patches:
            self.patches.put(patch)
        self.done = 0
        self.results = ktap.Results()
        self.lock = threading.Lock()
        self.logs = cache.root() / "check"
        self.logs.mkdir(exist_ok=True)

    def work(self, number):
        while not command.stopping.is_set():
            try:
                patch = self.patches.get_nowait()
            except queue.Empty:
                return
            log = self.logs / f"mutant-{patch.stem}.log"
            log.write_text("", encoding="utf-8")
            start = time.monotonic()
            try:
                wrong = try_one(patch, number, log)
            except (cache.RigError, OSError, subprocess.SubprocessError) as error:
                wrong = str(error)
            except command.Stopped:
                return
            self.report(patch, wrong, log, time.monotonic() - start)

    def report(self, patch, wrong, log, seconds):
        with self.lock:
            self.done += 1
            name = f"mutant {patch.stem}"
            (self.results.failed if wrong else self.results.passed).append(f"{name}: {wrong}" if wrong else name)
            print(f"{'not ok' if wrong else 'ok'} {self.done} {name} # {seconds:.0f} s", flush=True)
            if wrong:
                print(f"#   {wrong}\n#   log: {log}", flush=True)
            else:
                found = failed_cases(log.read_text(encoding="utf-8", errors="replace"))
                print(f"#   caught: {found[0]}", flush=True)


def check(names):
    """Try the mutants; the results for the last line."""
    patches = chosen(names)
    print(f"KTAP version 1\n1..{len(patches)}", flush=True)
    trial = Trial(patches)
    workers = [threading.Thread(target=trial.work, args=(number,)) for number in range(TREES)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return trial.results
