# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""What is measured: a row is a test of krdma_bench, what becomes of its numbers, and a goal.

To add one, add it to ROWS.  A new test is a function in measure.c and a line in kbench_tests; a new variant is a struct
kbench_calls and a line in kbench_variants.
"""
import dataclasses
import statistics
import typing

SELF = "one kernel"
TWO = "two nodes"
# Variants in one command: in each round all have their turn.  Values are made round by round.
Turns = typing.Dict[str, typing.List[dict]]


@dataclasses.dataclass(frozen=True)
class Row:
    """A line of the report for each topology."""
    id: str
    what: str
    test: str			# of krdma_bench, or "user"
    variants: str
    options: str
    value: typing.Callable	# (Turns) -> one value a round
    op: str
    goal: typing.Callable	# (Kernel) -> number
    topologies: tuple = (SELF,)
    pick: typing.Callable = statistics.median	# of the rounds' values


def always(number):
    """A goal that is the same everywhere."""
    return lambda kernel: number


def has_tasklets(release):
    """Is its rxe one of tasklets?  Since v6.4 it has a workqueue (commit 9b4b7c1f9f54), where the bracket is no help."""
    major, minor = (int(word) for word in release.split(".")[:2])
    return (major, minor) < (6, 4)


def with_tasklets(number, otherwise):
    return lambda release: number if has_tasklets(release) else otherwise


def paired(turns, first, second, figure):
    """FIRST's figure divided by SECOND's, of the same round."""
    return [figure(a) / figure(b) for a, b in zip(turns[first], turns[second])]


def time_of(name, against):
    """How much longer krdma takes."""
    return lambda turns: paired(turns, "krdma", against, lambda turn: turn[name])


def rate_against(against):
    """How much more krdma gets done in the same time."""
    return lambda turns: paired(turns, "krdma", against, lambda turn: turn["n"] / turn["ns"])


def cpu_cost(turns):
    """How much more processor time krdma takes for an operation."""
    return paired(turns, "krdma", "raw", lambda turn: turn["cpu_ns"] / turn["n"])


def teardown_ms(turns):
    return [turn["close"] / 1e6 for turn in turns["krdma"]]


def overrun(turns):
    """Time until a connect gave up, divided by its limit of one second."""
    return [turn["ns"] / 1e9 for turn in turns["krdma"]]


def idle_kib(turns):
    """Memory of one side: both are in this kernel."""
    return [turn["bytes"] / 2 / 1024 for turn in turns["krdma"]]


BOTH = (SELF, TWO)
ROWS = (
    Row("R1", "sync WRITE 8 B p50 krdma/raw", "write", "raw,krdma", "size=8",
        time_of("p50", "raw"), "<=", always(1.10)),
    Row("R2", "sync WRITE 8 B p50 krdma/naive events", "write", "naive,krdma", "size=8",
        time_of("p50", "naive"), "<=", with_tasklets(0.35, 1.10)),
    Row("R3", "sync WRITE 8 B p99 krdma/naive polling", "write", "direct,krdma", "size=8",
        time_of("p99", "direct"), "<=", with_tasklets(0.10, 1.10)),
    Row("R4", "async WRITE 4 KiB depth 64 ops/s krdma/raw", "stream", "raw,krdma", "size=4096 depth=64",
        rate_against("raw"), ">=", always(0.95), BOTH),
    Row("R4", "async WRITE 4 KiB chains of 16 ops/s krdma/raw", "stream", "raw,krdma", "size=4096 depth=64 chain=16",
        rate_against("raw"), ">=", always(0.95), BOTH),
    Row("R5", "send and receive 64 B p50 krdma/raw", "echo", "raw,krdma", "size=64",
        time_of("p50", "raw"), "<=", always(1.15), BOTH),
    Row("R6", "WRITE stream 64 KiB ops/s krdma/raw", "stream", "raw,krdma", "size=65536 depth=16",
        rate_against("raw"), ">=", always(0.95), BOTH),
    Row("R7", "WRITE 4 KiB bandwidth krdma/ib_write_bw", "user", "krdma,user", "size=4096 depth=64",
        rate_against("user"), ">=", always(1.50), BOTH),
    Row("R14", "connect p50 krdma/raw", "connect", "raw,krdma", "",
        time_of("p50", "raw"), "<=", always(1.20)),
    Row("R14", "teardown p50 krdma ms", "connect", "raw,krdma", "",
        teardown_ms, "<=", always(10.0)),
    Row("R16", "CPU time per WRITE 8 B depth 64 krdma/raw", "stream", "raw,krdma", "size=8 depth=64",
        cpu_cost, "<=", always(1.10)),
    Row("R17", "connect to who never accepts time/limit", "stall", "krdma", "ms=1000",
        overrun, "<=", always(1.10)),
    Row("M1", "memory of an idle connection KiB a side", "idle", "krdma", "n=32",
        idle_kib, "<=", always(512.0), pick=max),	# the allocator's caches can only hide some
)
