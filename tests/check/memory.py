# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""Plugin of pytest: remember which parts have passed with which files and kernels, so that they can be skipped."""
import fcntl
import fnmatch
import hashlib
import json
import pathlib
import re
import subprocess

import ktap
from rig import cache, modules

LINES = 4000			# maximum number of lines of the file; if there are more, the newest half is kept
# Files on which no scenario depends.  One of them is tests/skips, because skips of a remembered pass are judged again.
WORDS = ("*.rst", "*.md", "Documentation/*", "tests/mutants/*", "tests/model/*", "tests/kunit/*", "tests/packages/*",
         "debian/*", "tests/bench/*.py", "tests/bench/*.sh", "tests/bench/*.json", "tests/bench/vbench*",
         "tests/skips", *(f"tests/check/{name}.py" for name in ("benchpage", "copies", "coverage", "language", "main",
                                                                "memory", "mutants", "packages", "plugin", "prose",
                                                                "runnertest", "static", "test_parts")))
# Files that only scenarios with the library, tools or samples depend on.
USERSPACE = ("tools/librfm2g/*", "tools/rfm2g_util/*", "tools/vrfmctl/*", "samples/rfm2g/*", "tests/e2e/librfm2g/*",
             "tests/check/userspace.py")
# {files: module}: a scenario depends on these files only if it names the module.
MODULES = {"ntrdma/*": "ntrdma", "vrfm/*": "vrfm", "include/uapi/*": "vrfm", "krping/*": "krping", "tests/e2e/ktest/*": "krdma_test",
           "tests/e2e/hostile/*": "krdma_hostile", "tests/e2e/kother/*": "krdma_other",
           "tests/e2e/vhostile/*": "vrfm_hostile", "tests/e2e/nverbs/*": "nverbs", "tests/bench/*": "krdma_bench",
           "samples/krdma/*": "krdma_sample"}
SCRIPTS = "tests/e2e/*.sh"		# fnmatch() also finds scripts in folders below, because * matches "/"
COMMON = "lib.sh"			# all scenarios use it, so the modules that it names do not count
# Patterns for the output of a tour, which runs several scenarios in one boot. WHOSE: a test case with the name of its
# scenario. BROKEN: a scenario that ended with an error. VERDICT: the line of tools/vm with the reasons for which a tour
# failed. BY_SCRIPT: a reason in that line that concerns only a script, not the kernel.
WHOSE = re.compile(r"n\d+: ([^:]+): ")
BROKEN = re.compile(r"^n\d+\| not ok \d+ (\S+)", re.M)
VERDICT = re.compile(r"^vm: FAILED \([^)]*\): (.*)$", re.M)
BY_SCRIPT = re.compile(r"n\d+: node \d+: tour exited with \d+")


def pytest_addoption(parser):
    parser.addoption("--recall", choices=("all", "listed", "none"), default="none",
                     help="which passes count: all, those of parts that list their files, or none")


def pytest_configure(config):
    config.memory = Memory(modules.TREE, cache.root() / "results", config.option.recall)


def git(top, *words):
    """Return the output of git; None if it fails or is not installed."""
    try:
        done = subprocess.run(["git", "-C", top, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              check=False)
    except FileNotFoundError:
        return None
    return None if done.returncode else done.stdout.strip()


def tree(top):
    """Return one line of git for each file of TOP; None unless everything is committed."""
    return git(top, "ls-tree", "-r", "HEAD") if git(top, "status", "--porcelain") == "" else None


def script(top, name):
    """Return the path of a script of the scenarios."""
    folder = top / "tests/e2e"
    return next(folder.glob(f"*/{name}"), folder / name)


def irrelevant(top, part):
    """Return patterns of files on which PART does not depend; PART runs scripts."""
    texts = [script(top, name).read_text(encoding="utf-8") for name in part.scripts if name != COMMON]
    named = set(re.findall(r"\w+", " ".join(texts))) | ({"ntrdma"} if re.search(r"-ntr(-[a-z]+)*$", part.name) else set())
    return [*WORDS, *(() if part.userspace else USERSPACE),
            *(pattern for pattern, module in MODULES.items() if module not in named)]


def inputs(top, lines, part):
    """Return a hash of the files on which PART depends: its files, those of its scripts, or the whole tree."""
    nothing = irrelevant(top, part) if part.scripts else []
    named = set(part.files()) if part.files else ()

    def matters(path):
        if part.files:
            return path in named
        if part.scripts and fnmatch.fnmatch(path, SCRIPTS):
            return pathlib.PurePath(path).name in part.scripts
        return not any(fnmatch.fnmatch(path, pattern) for pattern in nothing)

    mine = [line for line in lines.splitlines() if matters(line.partition("\t")[2])]
    return hashlib.sha256("\n".join(mine).encode()).hexdigest()[:16]


def key(top, lines, part, folders):
    """Return the key of a pass: part, files, kernels with their versions, and dependencies outside of the tree."""
    return [part.name, inputs(top, lines, part), *(folders[name] for name in part.kernels), *part.beside()]


def notes(file):
    """Yield the entries of a file, without lines that an interrupted writer left incomplete."""
    for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else []:
        try:
            yield json.loads(line)
        except json.JSONDecodeError:
            continue


class Mutant:
    """The part PART in a tree with MUTANT.  It depends on the files of PART and on the file MUTANT."""

    def __init__(self, part, mutant):
        self.name = f"mutant {mutant.stem} {hashlib.sha256(mutant.read_bytes()).hexdigest()[:16]}"
        self.kernels, self.scripts, self.userspace, self.files = part.kernels, part.scripts, part.userspace, part.files
        self.beside = lambda: [part.name, *part.beside()]
        self.members = ()


class Memory:
    """The file of passes: a line of JSON for each part that has passed."""

    def __init__(self, top, folder, counts="all"):
        folder.mkdir(exist_ok=True)
        self.top = top
        self.counts = counts
        self.tree = tree(top)
        self.file = folder / "passed.json"
        self.known = list(notes(self.file))
        if len(self.known) > LINES:
            self.known = self.known[-LINES // 2:]
            self.file.write_text("".join(json.dumps(said) + "\n" for said in self.known), encoding="utf-8")

    def note(self, part, folders, results, text=""):
        """Record a pass of PART, which printed TEXT, unless the tree has changed."""
        if not self.tree or tree(self.top) != self.tree:
            return
        for member, said in members(part, results, text) if part.members else [(part, results)]:
            self.write(member, folders, said)

    def write(self, part, folders, results):
        if results.failed:
            return
        said = {"key": key(self.top, self.tree, part, folders), "passed": results.passed, "skipped": results.skipped}
        with self.file.open("a", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            # Begin with a newline, to end the incomplete line of a writer that was interrupted.
            print(f"\n{json.dumps(said)}", file=file)

    def recall(self, part, folders):
        """Return the results of PART if it passed with the same files and kernels, else None; PART is not a tour."""
        try:
            wanted = key(self.top, self.tree, part, folders)
        except (cache.RigError, OSError, subprocess.SubprocessError):
            return None			# a tool is missing, which the part reports when it runs
        for said in reversed(self.known):
            if said["key"] == wanted:
                return ktap.Results(passed=said["passed"], skipped=said["skipped"])
        return None

    def recalled(self, part, folders):
        """Return (results of earlier passes of PART, what is left of PART to run or None)."""
        known, left = ktap.Results(), []
        counts = self.tree and (self.counts == "all" or (self.counts == "listed" and part.files))
        for member in part.members or [part]:
            results = self.recall(member, folders) if counts else None
            if results and not ktap.judge_skips(member.name, results).failed:
                known.add(results)
            else:
                left.append(member)
        if left and len(left) < len(part.members):
            return known, part.of(left)
        return known, part if left else None


def members(tour, results, text):
    """Return [(part, results)] of the scenarios of a tour; empty if a failure belongs to no scenario."""
    lists = {pathlib.PurePath(part.scripts[1]).stem: (part, ktap.Results()) for part in tour.members}
    for kind in ("passed", "failed", "skipped"):
        for case in getattr(results, kind):
            whose = WHOSE.match(case)
            if whose and whose.group(1) in lists:
                getattr(lists[whose.group(1)][1], kind).append(case)
            elif kind == "failed":
                return []
    verdict = VERDICT.search(text)
    if verdict and not all(BY_SCRIPT.fullmatch(reason) for reason in verdict.group(1).split("; ")):
        return []
    broken = BROKEN.findall(text)
    return [said for name, said in lists.items() if name not in broken and said[1].passed]
