# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""Test tools/check with parts that fail, crash and wait, in a copy of the tree, and test its memory."""
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import types

import ktap
import machine
import memory
import mutants
import static
from rig import modules

SECONDS = 120
ENDS_WITHIN = 15		# time limit for an interrupted run whose commands end at once, in seconds
# Parts that replace those of the copy.  PLACE has a line for each start and end of a part and a kernel.
FAKE = '''

import os, threading, time, types

def note(word):
    with open(os.environ["PLACE"], "a", encoding="ascii") as file:
        print(word, time.monotonic(), file=file)

def prepare(name):
    note(f"begin-{name}")
    time.sleep(int(os.environ.get("PREPARING", 3)))
    note(f"end-{name}")
    if name == "stock-6.1":
        raise cache.RigError("no mirror")
    return types.SimpleNamespace(dir=pathlib.Path(name))

def part(name, kernels=(), passed=(), failed=(), skipped=(), act=None, files=None):
    def run(log):
        note(f"begin-{name}")
        static.write(log, f"{name} was here\\n")
        if act:
            act(log)
        note(f"end-{name}")
        return ktap.Results(list(passed), list(failed), list(skipped))
    return Part(name, run, kernels, files=files)

def sleep(log):
    command.run(["sh", "-c", "trap 'kill $!; sleep 1; echo cleaned; exit' TERM; sleep 600 &"
                 "grep SigIgn /proc/$$/status; echo pid $$; wait"], log, 900)

def crash(log):
    threading.Timer(1, os.kill, [os.getpid(), 9]).start()
    sleep(log)

def everything():
    kernels.prepare = prepare
    known = [part("good", passed=["one", "two"]), part("bad", passed=["three"], failed=["it breaks"]),
             part("skips", skipped=["known case"]), part("skips-more", passed=["four"], skipped=["other case"]),
             part("bug", act=lambda log: 1 / 0), part("crash", act=crash), part("no-kernel", ["stock-6.1"]),
             part("kernel", ["uml"], ["five"]), part("sleeps", act=sleep),
             part("reader", passed=["six"], files=lambda: ["COPYING"]),
             *[part(f"slow-{number}", passed=[f"slow {number}"], act=lambda log: time.sleep(1)) for number in range(6)]]
    return [part for part in known if part.name in os.environ.get("ONLY", part.name).split()]
'''
SKIPS = "# comment\nskip* known* # reason\n"


class Copy:
    """A copy of the tree with the parts of FAKE, and a cache of its own."""

    def __init__(self, place, log):
        self.log = log
        self.top = place / "tree"
        self.notes = place / "notes"
        self.cache = place / "cache"
        self.top.mkdir()
        modules.copy(machine.TOP, self.top)
        static.write(self.top / "tests/check/parts.py", FAKE)
        (self.top / "tests/skips").write_text(SKIPS, encoding="ascii")
        self.env = {**os.environ, "KRDMA_PACKAGES": "tools/check", "XDG_CACHE_HOME": str(self.cache),
                    "PLACE": str(self.notes)}
        self.cache.mkdir()

    def start(self, *words, **env):
        self.notes.write_text("", encoding="ascii")
        for log in self.cache.glob("krdma/check/*.log"):
            log.unlink()
        # A shell or nohup that has started this test may have let it ignore these signals.
        command = ["env", "--default-signal", self.top / "tools/check", *words]
        return subprocess.Popen(command, env={**self.env, **env}, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                start_new_session=True)

    def run(self, *words, status=0, process=None, **env):
        """Return the output of tools/check, which must end with STATUS."""
        process = process or self.start(*words, **env)
        try:
            said = process.communicate(timeout=SECONDS)[0]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        static.write(self.log, f"$ tools/check {' '.join(words)}\n{said}exit status {process.returncode}\n")
        machine.expect(process.returncode == status, f"exit status {process.returncode}")
        return said

    def noted(self):
        """Return {what began or ended: time} of the last run."""
        lines = [line.split() for line in self.notes.read_text(encoding="ascii").splitlines()]
        times = {what: float(when) for what, when in lines}
        machine.expect(len(times) == len(lines), f"it happened twice: {lines}")
        return times

    def said(self, part):
        """Return the log of PART."""
        log = self.cache / f"krdma/check/{part}.log"
        return log.read_text(encoding="ascii") if log.exists() else ""

    def commands(self, part):
        """Return whether a command of PART still runs."""
        found = re.findall(r"^pid (\d+)$", self.said(part), re.M)
        machine.expect(found, f"{part} ran no command")
        return any(pathlib.Path("/proc", pid).exists() for pid in found)


def expect_lines(said, *patterns):
    for pattern in patterns:
        machine.expect(re.search(f"^{pattern}$", said, re.M), f"not found: {pattern}")


def counts_cases(copy):
    """Check the lines of parts that pass, fail, skip, crash, and have no kernel, and that the others run."""
    said = copy.run("good", "bad", "skips*", "bug", "crash", "*kernel", status=1)
    expect_lines(said, r"ok \d good # \d s, 2 passed, 0 failed, 0 skipped",
                 r"not ok \d bad # \d s, 1 passed, 1 failed, 0 skipped",
                 r"#   failed: it breaks", r"#   \| bad was here", r"#   log: .*/check/bad.log",
                 r"ok \d skips # \d s, 0 passed, 0 failed, 1 skipped", "# failed: other case: skipped, but not listed in tests/skips",
                 "# failed: ZeroDivisionError: .*", "# failed: worker 'gw.' crashed while running .*crash.*",
                 "# failed: no kernel stock-6.1", r"ok \d kernel # \d s, 1 passed, 0 failed, 0 skipped", r"1\.\.8")
    machine.expect(said.splitlines()[-1] == "5 passed, 5 failed, 1 skipped", said.splitlines()[-1])
    machine.expect(not copy.commands("crash"), "the command of a crashed worker still runs")


def passes_options_on(copy):
    """Check that --lf repeats what has failed, -k selects, and a run without passed cases fails."""
    copy.run("good", "bad", status=1)
    expect_lines(copy.run("good", "bad", "--", "--lf", status=1), r"1\.\.1", "not ok 1 bad # .*")
    report = copy.cache / "report.xml"
    said = copy.run("good", "reader", "--", "-k", "reader", f"--junitxml={report}")
    machine.expect(said.splitlines()[-1] == "1 passed, 0 failed, 0 skipped", said)
    machine.expect('name="test_part[reader]"' in report.read_text(encoding="utf-8"), "no JUnit XML")
    machine.expect(copy.run("good", "--", "-k", "bad", status=1).splitlines()[-1] == "0 passed, 0 failed, 0 skipped", "not 0")


def ends_when_interrupted(copy):
    """Check that a signal ends a run within seconds, after its command has cleaned up."""
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        process = copy.start("sleeps", "kernel")
        limit = time.monotonic() + SECONDS
        while not re.search(r"^pid \d+$", copy.said("sleeps"), re.M) and process.poll() is None and time.monotonic() < limit:
            time.sleep(0.1)
        start = time.monotonic()
        if number == signal.SIGTERM:
            process.send_signal(number)
        else:
            os.killpg(process.pid, number)		# as a terminal does
        said = copy.run("sleeps", process=process, status=1)
        machine.expect(re.search(r"^SigIgn:\s+0+$", copy.said("sleeps"), re.M), "the command ignores signals")
        machine.expect(time.monotonic() - start < ENDS_WITHIN, f"{number.name}: it took {time.monotonic() - start} s")
        expect_lines(said, "# failed: interrupted", "0 passed, 1 failed, 0 skipped")
        machine.expect("\ncleaned\n" in copy.said("sleeps") and not copy.commands("sleeps"),
                       f"{number.name}: the command did not end")


def waits_for_kernels(copy):
    """Check that parts without a kernel come first, and that only one part runs while a kernel is compiled."""
    copy.run("slow", "kernel")
    noted = copy.noted()
    slow = sorted((noted[f"begin-slow-{number}"], noted[f"end-slow-{number}"]) for number in range(6))
    early = [begin for begin, _ in slow if noted["begin-uml"] < begin < noted["end-uml"]]
    machine.expect(len(early) > 1, f"parts do not run while a kernel is compiled: {noted}")
    for before, after in zip(slow, slow[1:]):
        machine.expect(after[0] not in early or after[0] > before[1], f"two parts while a kernel is compiled: {noted}")
    machine.expect(any(after[0] < before[1] for before, after in zip(slow, slow[1:])), f"never two parts: {noted}")
    copy.run("good", "kernel")
    noted = copy.noted()
    machine.expect(noted["end-good"] < noted["end-uml"] < noted["begin-kernel"], f"it does not wait: {noted}")


def ends_in_time(copy):
    """Check that a part that has not begun within the requested time is skipped, and that the run ends."""
    late = "# SKIP not begun within 0.15 minutes"
    said = copy.run("good", "kernel", "--within", "0.15", PREPARING="12")
    expect_lines(said, r"ok 1 good # \d s, 2 passed, .*", f"ok 2 kernel {late}", "2 passed, 0 failed, 1 skipped")
    machine.expect("begin-kernel" not in copy.noted(), "a skipped part has run")
    expect_lines(copy.run("good", "--within", "0", status=1), "0 passed, 0 failed, 1 skipped")


def remembers_passes(copy):
    """Check that the pass of a part that lists its files counts, and with --resume each pass."""
    someone = ("-c", "user.name=Nobody", "-c", "user.email=nobody@example.org")
    for words in (("init", "-q"), ("add", "."), (*someone, "commit", "-qm", "it")):
        subprocess.run(["git", "-C", copy.top, *words], check=True)
    copy.run(ONLY="good reader")
    expect_lines(copy.run(ONLY="good reader"), r"ok \d reader # before, 1 passed, .*", r"ok \d good # \d s, 2 passed, .*",
                 "3 passed, 0 failed, 0 skipped")
    expect_lines(copy.run("reader", ONLY="good reader"), r"ok 1 reader # \d s, .*")
    expect_lines(copy.run("--resume", ONLY="good reader"), r"ok \d reader # before, .*", r"ok \d good # before, .*")


def tours_are_told_apart(other):
    """Check that only a scenario that failed is repeated, but the whole tour if a kernel complains."""
    more = types.SimpleNamespace(**{**vars(other), "name": "more", "scripts": ("lib.sh", "more.sh")})
    tour = types.SimpleNamespace(members=(other, more))
    results = ktap.Results(passed=["n1: other: one", "n2: more: one"], failed=["n2: more: two"], skipped=["n1: other: two"])
    failed = "vm: FAILED (uml, tour): n1: node 1: tour exited with 1"
    nobodys = ktap.Results(passed=results.passed, failed=[*results.failed, "no end within 9 s"])
    good = ktap.Results(passed=["n1: other: one"], skipped=["n1: other: two"])
    bad = ktap.Results(passed=["n2: more: one"], failed=["n2: more: two"])
    return (memory.members(tour, results, failed) == [(other, good), (more, bad)] and
            memory.members(tour, results, f"n2| not ok 1 other # 1 s, exit status 1\n{failed}") == [(more, bad)] and
            not memory.members(tour, results, f"{failed}; n2: kernel log: [ 1.0] BUG: this") and
            not memory.members(tour, results, "vm: FAILED (uml, tour): timeout") and not memory.members(tour, nobodys, failed))


# {changed file: initials of the parts whose pass still counts}, see check_memory()
CHANGES = {"tests/e2e/more.sh": "ourm", "vrfm/file.c": "ourm", "Documentation/words.txt": "ourm",
           "tests/words.rst": "ourm",
           "tools/librfm2g/file.c": "orm", "tests/e2e/lib.sh": "r", "tests/e2e/other.sh": "r", "file": "",
           "krping/file.c": ""}


def check_memory(_log):
    """Check that passes are remembered until a file or kernel that matters changes, and failures are not."""
    revision = ["one"]
    good = ktap.Results(passed=["one", "two"], skipped=["three"])
    usual = {"kernels": ("uml",), "scripts": (), "files": None, "beside": tuple, "userspace": False, "members": ()}
    other = types.SimpleNamespace(**{**usual, "name": "other", "scripts": ("lib.sh", "other.sh"),
                                     "beside": lambda: revision})
    with tempfile.TemporaryDirectory() as place:
        top, folder, patch = (pathlib.Path(place, name) for name in ("top", "results", "it.patch"))
        patch.write_text("one", encoding="ascii")
        parts = [types.SimpleNamespace(**{**usual, "name": "part"}), other,
                 types.SimpleNamespace(**{**usual, "name": "user", "scripts": other.scripts, "userspace": True}),
                 types.SimpleNamespace(**{**usual, "name": "reader", "files": lambda: ["file", "krping/file.c"]}),
                 memory.Mutant(other, patch)]

        def known(kernel="uml-1"):
            passes = memory.Memory(top, folder)
            return "".join(part.name[0] for part in parts if passes.recall(part, {"uml": kernel}) == good)

        def known_with(**files):
            """Return known() after a commit that changes FILES, which is then taken back."""
            for name, text in files.items():
                (top / name).parent.mkdir(parents=True, exist_ok=True)
                (top / name).write_text(text, encoding="ascii")
            memory.git(top, "add", ".")
            memory.git(top, "-c", "user.name=Nobody", "-c", "user.email=nobody@example.org", "commit", "-qm", "it")
            left = known()
            return left if memory.git(top, "reset", "-q", "--hard", "HEAD~") == "" else None

        subprocess.run(["git", "init", "-q", top], check=True)
        first = {**dict.fromkeys(CHANGES, "one"), "tests/e2e/other.sh": "krping"}
        right = [tours_are_told_apart(other), known_with(**first) is None]		# no commit is before the first one
        for part in parts:
            memory.Memory(top, folder).note(part, {"uml": "uml-1"}, ktap.Results(passed=["one"], failed=["two"]))
        with (folder / "passed.json").open("a", encoding="utf-8") as interrupted:
            interrupted.write('{"key": ["oth')
        right += [known() == ""]
        for part in parts:
            memory.Memory(top, folder).note(part, {"uml": "uml-1"}, good)
        right += [known() == "pourm", known("uml-2") == ""]
        right += [known_with(**{name: "another"}) == left for name, left in CHANGES.items()]
        patch.write_text("another", encoding="ascii")
        parts[-1] = memory.Mutant(other, patch)
        right += [known() == "pour"]
        revision[0] = "another"
        right += [known() == "pur"]
        passes = memory.Memory(top, folder)
        (top / "file").write_text("another", encoding="ascii")
        passes.note(other, {"uml": "uml-1"}, good)
        right += [memory.Memory(top, folder).tree is None, memory.git(top, "checkout", "-q", "file") == "",
                  known() == "pur"]
    return all(right)


# A mutant of each kind, and the text that it makes of SOUND.  The file of the last one does not have the code any more.
SOUND = "int f(int a)\n{\n\tif (a > 9)\n\t\treturn 0;\n\treturn g(a);\n}\n"
MUTANTS = {
    "one.cocci": ("// file: x/f.c\n@@\nexpression a;\n@@\n- if (a > 9)\n- \treturn 0;\n",
                  "int f(int a)\n{\n\treturn g(a);\n}\n"),
    "one.patch": ("# rule: none\n\n--- a/x/f.c\n+++ b/x/f.c\n@@ -5 +5 @@\n-\treturn g(a);\n+\treturn a;\n",
                  SOUND.replace("g(a)", "a")),
    "late.patch": ("\n--- a/x/f.c\n+++ b/x/f.c\n@@ -5 +5 @@\n-\treturn h(a);\n+\treturn a;\n", None),
    "late.cocci": ("// file: x/f.c\n@@\n@@\n- h(...)\n+ 1\n", None),
    "one-of-two.cocci": ("// file: x/f.c x/g.c\n@@\n@@\n- 9\n+ 8\n", None),
    "invalid.cocci": ("// file: x/f.c\n@@\n- 9\n", None),
    "nowhere.cocci": ("@@\n@@\n- 9\n+ 8\n", None),
}


def applies_mutants(copy):
    """Check that a mutant applies only if it changes each of its files."""
    for name, (text, wanted) in MUTANTS.items():
        with tempfile.TemporaryDirectory() as place:
            mutant, file = pathlib.Path(place, name), pathlib.Path(place, "x/f.c")
            file.parent.mkdir()
            mutant.write_text(text, encoding="ascii")
            file.write_text(SOUND, encoding="ascii")
            (file.parent / "g.c").write_text(SOUND.replace("9", "7"), encoding="ascii")
            applied = mutants.apply(mutant, pathlib.Path(place), copy.log)
            machine.expect(applied == bool(wanted), f"{name} applies: {applied}")
            machine.expect(not wanted or file.read_text(encoding="ascii") == wanted, f"{name}: {file.read_text()}")


CASES = {"each part has its line, and the last line counts the cases": counts_cases,
         "options of pytest are passed on": passes_options_on,
         "signals end a run and its commands": ends_when_interrupted,
         "parts wait for their kernels": waits_for_kernels,
         "a run ends within the requested time": ends_in_time,
         "passes are remembered": remembers_passes,
         "mutants apply if they change all their files": applies_mutants}


def check(log):
    """Run all cases."""
    results = ktap.Results()
    for name, case in CASES.items():
        try:
            with tempfile.TemporaryDirectory() as place:
                case(Copy(pathlib.Path(place), log))
            results.passed.append(name)
        except (machine.Wrong, subprocess.SubprocessError, KeyError) as wrong:
            static.write(log, f"{name}: {wrong}\n")
            results.failed.append(name)
    return results
