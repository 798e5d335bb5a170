# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""Plugin of pytest: prepares kernels, hands parts of the check to the workers of xdist, and prints the results."""
import fcntl
import pathlib
import re
import threading
import time

import command
import ktap
import pytest
from rig import kernels
from xdist.scheduler import LoadScheduling

HEARTBEAT = 60
TAIL = 60
KERNEL_TAIL = 15
CONSOLE = re.compile(r"n\d+! ")


class Idle(pytest.Item):
    """An item that follows each part, because a worker starts an item only if it knows the next one."""
    def runtest(self):
        """Do nothing; never called."""


def pytest_addoption(parser):
    parser.addoption("--logs", type=pathlib.Path, help="folder for logs, which no other run uses")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session):
    if hasattr(session.config, "workerinput"):
        # Ctrl-C reaches all workers, but Report.watch() decides when their commands end.  Commands inherit SIG_IGN.
        command.catch_signals(lambda number, frame: None)
        threading.Thread(target=command.end_with, args=[session.config.option.logs / "alive"], daemon=True).start()
        session.items.append(Idle.from_parent(session, name="idle"))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item):
    return isinstance(item, Idle) or None


def part_name(item):
    return item.partition("[")[2][:-1]


def prepared(logs, name):
    """Return the folder of a kernel in the cache; "" if the run with these LOGS could not prepare the kernel."""
    file = logs / f"{name}.kernel"
    if not file.exists():
        try:
            folder = kernels.prepare(name).dir.name
        except Exception as error:		# pylint: disable=broad-except  # parts that wait for the kernel must fail
            print(f"# kernel {name}: {error}", flush=True)
            folder = ""
        file.write_text(folder, encoding="utf-8")
    return file.read_text(encoding="utf-8")


class Queue(LoadScheduling):
    """Gives each idle worker the first part whose kernels are ready, while a thread prepares kernels."""

    def __init__(self, config, log, report):
        super().__init__(config, log)
        self.needs = report.needs		# {name of a part: its kernels}
        self.report = report
        self.ready = set()			# kernels that are prepared, or cannot be prepared
        self.building = True			# whether a kernel is compiled; prepare() knows better
        self.lock = threading.RLock()

    def running(self):
        return [part_name(self.collection[items[-2]]) for items in list(self.node2pending.values()) if len(items) > 1]

    def schedule(self):
        """Start.  This is called again for each worker that replaces one that has crashed."""
        if self.collection is None:
            self.collection = next(iter(self.node2collection.values()))
            self.pending = list(range(len(self.collection) - 1))
            print(f"KTAP version 1\n1..{len(self.pending)}", flush=True)
            threading.Thread(target=self.prepare, daemon=True).start()
        self.check_schedule()

    def prepare(self):
        """Prepare kernels in the order of tests/vm, in which quick ones come first."""
        needed = {name for item in self.collection[:-1] for name in self.needs[part_name(item)]}
        for name in [name for name in kernels.TABLE if name in needed]:
            self.building = kernels.is_built(name)
            self.check_schedule()
            prepared(self.config.option.logs, name)
            self.ready.add(name)
        self.building = False
        self.check_schedule()

    def check_schedule(self, _node=None, duration=0):		# pylint: disable=unused-argument
        """Hand out parts.  While a kernel is compiled, only one part runs, to keep its time limits."""
        with self.lock:
            if command.stopping.is_set():
                self.pending = []
            elif time.monotonic() > self.report.limit:
                self.end_late()
            for worker, items in list(self.node2pending.items()):
                part = next((item for item in self.pending
                             if self.ready.issuperset(self.needs[part_name(self.collection[item])])), None)
                if part is None or (self.building and self.running()):
                    return
                if len(items) < 2 and not worker.shutting_down:
                    new = [part, len(self.collection) - 1]
                    items += new
                    self.pending.remove(part)
                    worker.send_runtest_some(new)

    def end_late(self):
        """Skip all parts that have not begun.  End idle workers, because no event would end them."""
        if self.pending:
            self.report.skip(part_name(self.collection[item]) for item in self.pending)
            self.pending = []
            for worker in self.nodes:
                worker.shutdown()

    def remove_node(self, worker):
        """Return the item of a worker that has crashed, None for one that has ended."""
        items = self.node2pending.pop(worker)
        return self.collection[items[0]] if items else None


class Report:
    """Prints a line for each part, and adds up the results."""

    def __init__(self, needs, logs, minutes):
        self.needs, self.logs, self.minutes = needs, logs, minutes
        self.limit = time.monotonic() + 60 * minutes		# time after which no part begins
        self.queue = None
        self.done = 0
        self.results = ktap.Results()
        self.alive = open(logs / "alive", "w", encoding="ascii")		# while it is locked, workers run
        fcntl.flock(self.alive, fcntl.LOCK_EX)

    def pytest_xdist_make_scheduler(self, config, log):
        self.queue = Queue(config, log, self)
        threading.Thread(target=self.watch, daemon=True).start()
        return self.queue

    def left(self):
        """Return the number of parts without a result."""
        items = self.queue.collection if self.queue else None
        return len(items) - 1 - self.done if items else 0

    def watch(self):
        """Print a line each minute.  After an interrupt, end the workers and their commands."""
        while not command.stopping.wait(HEARTBEAT):
            names = ", ".join(self.queue.running()) or "nothing"
            print(f"# {self.done} of {self.done + self.left()} done, running: {names}", flush=True)
            self.queue.check_schedule()
        self.alive.close()
        with self.queue.lock:
            self.queue.pending = []
            for worker in self.queue.nodes:
                worker.shutdown()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_report_teststatus(self):
        """Let pytest count the parts without a letter for each."""
        outcome = yield
        category, _, word = outcome.get_result()
        outcome.force_result((category, "", word))

    def pytest_runtest_logreport(self, report):
        if command.stopping.is_set() or not (report.when == "call" or report.failed):
            return
        said = dict(report.user_properties)
        if report.when == "call" and "passed" in said:
            results = ktap.Results(said["passed"], said["failed"], said["skipped"])
        else:			# a kernel is missing, or the worker has crashed
            results = ktap.Results(failed=[str(report.longrepr)])
        name = part_name(report.nodeid)
        when = "before" if said.get("before") else f"{getattr(report, 'duration', 0):.0f} s"
        with self.queue.lock:
            self.done += 1
            self.results.add(results)
            print(f"{'not ok' if results.failed else 'ok'} {self.done} {name} # {when}, {results.count()}", flush=True)
            if results.failed:
                show(results, self.logs / f"{name}.log")

    def skip(self, names):
        """Count parts as skipped, because there is no time left to begin them.  The caller holds the lock of the queue."""
        for name in names:
            self.done += 1
            self.results.skipped.append(name)
            print(f"ok {self.done} {name} # SKIP not begun within {self.minutes:g} minutes", flush=True)


def show(results, log):
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else []
    print("".join(f"#   failed: {case}\n" for case in results.failed), end="")
    print("".join(f"#   | {line}\n" for line in tail(lines)), end="")
    print(f"#   log: {log}", flush=True)


def tail(lines):
    """Return the end of a log, with only the last KERNEL_TAIL lines of kernels."""
    kernel = [number for number, line in enumerate(lines) if CONSOLE.match(line)]
    dropped = set(kernel[:-KERNEL_TAIL])
    return [line for number, line in enumerate(lines) if number not in dropped][-TAIL:]
