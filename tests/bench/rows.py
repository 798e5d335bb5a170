# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""Define the rows and points that tools/bench measures.

A row has a test, a value that is computed from the numbers of the test, and a goal.  A point belongs to a curve, and
has no goal.

A new row is an entry of ROWS.  A new test is a function in measure.c and an entry of kbench_tests; a new variant is a
struct kbench_calls and an entry of kbench_variants.
"""
import dataclasses
import statistics
import typing

SELF = "one kernel"
TWO = "two nodes"
SPACES = "two namespaces"
PLAIN = "two machines plain"
BELLS = "two machines doorbells"
MORE = ("three nodes", "four nodes", "six nodes", "eight nodes")
NODES = {SELF: 1, TWO: 2, **dict(zip(MORE, (3, 4, 6, 8))), SPACES: 1, PLAIN: 2, BELLS: 2}
# Links of tools/vm for topologies that need a certain link.
LINKS = {SPACES: "rxe", PLAIN: "ntr-shm", BELLS: "ntr-bell"}
# Tests that create their own devices and links.
LONE = ("memory", "join", "remote", "sizes", "beside", "reading", "replay", "joining", "claimed", "levels", "fan", "grow",
        "cut", "cutpoke")
# Results of a row: {variant: numbers of each round}.
Turns = typing.Dict[str, typing.List[dict]]


@dataclasses.dataclass(frozen=True)
class Row:
    """A row, which is a line of the report for each topology."""
    id: str
    what: str
    test: str			# test of krdma_bench, "user", one of LONE, or "krping-" or "vrfm-" with a test of krping or vbench
    variants: str
    options: str
    value: typing.Callable	# (Turns) -> values, one for each round
    op: str
    goal: typing.Callable	# (release of the kernel) -> number
    topologies: tuple = (SELF,)
    pick: typing.Callable = statistics.median	# (values) -> the value to report


def always(number):
    """Return a goal that does not depend on the kernel."""
    return lambda facts: number


def on_uml(number, otherwise):
    """Return a goal for User-mode Linux, and one for kernels that an emulator may run."""
    return lambda facts: number if facts["kernel"].startswith("uml") else otherwise


reported = always(None)


def has_tasklets(release):
    """Check whether rxe uses tasklets, as before v6.4 (9b4b7c1f9f54).  Only then does kbench_variant.bracket matter."""
    major, minor = (int(word) for word in release.split(".")[:2])
    return (major, minor) < (6, 4)


def with_tasklets(number, otherwise):
    return lambda facts: number if has_tasklets(facts["release"]) else otherwise


def paired(turns, first, second, figure):
    """Return the figure of FIRST divided by the figure of SECOND, for each round."""
    return [figure(a) / figure(b) for a, b in zip(turns[first], turns[second])]


def time_of(name, against):
    """Return the time of krdma divided by that of another variant."""
    return lambda turns: paired(turns, "krdma", against, lambda turn: turn[name])


def rate_against(against):
    """Return the rate of krdma divided by that of another variant."""
    return lambda turns: paired(turns, "krdma", against, lambda turn: turn["n"] / turn["ns"])


def cpu_cost(turns):
    """Return the processor time of krdma for an operation divided by that of raw verbs."""
    return paired(turns, "krdma", "raw", lambda turn: turn["cpu_ns"] / turn["n"])


def beyond(turns):
    """Return the time that a level of security adds to a connect, divided by that of its multiplications."""
    return [(auth["p50"] - none["p50"]) / curve["p50"]
            for none, auth, curve in zip(turns["krdma"], turns["auth"], turns["curve"])]


def ns_of(variant):
    """Return the time of an operation of VARIANT in ns."""
    return lambda turns: [turn["ns"] / turn["n"] for turn in turns[variant]]


def sealing_ns(turn):
    """Return the time in ns to seal and open the messages of an operation, by the library alone."""
    return turn["ns"] / turn["n"] * turn["messages"] / turn["for"]


def sealed(level):
    """Return the time of a block with LEVEL, divided by its time without a level plus that of sealing and opening."""
    return lambda turns: [(with_level["ns"] / with_level["n"]) / (none["ns"] / none["n"] + sealing_ns(sealing))
                          for none, with_level, sealing in zip(turns["none"], turns[level], turns["sealing"])]


def added_to_echo(turns):
    """Return the time that level encrypt adds to a round trip, divided by that of sealing and opening its messages."""
    return [(sealed["middle"] - none["middle"]) / library["middle"]
            for none, sealed, library in zip(turns["krdma"], turns["sealed"], turns["among"])]


def added(level, figure):
    """Return what LEVEL adds to the figure of an operation, divided by the time of sealing and opening its messages."""
    return lambda turns: [(figure(with_level) - figure(none)) / sealing_ns(sealing)
                          for none, with_level, sealing in zip(turns["none"], turns[level], turns["sealing"])]


def teardown_ms(turns):
    return [turn["close"] / 1e6 for turn in turns["krdma"]]


def overrun(turns):
    """Return the time until a connect timed out, divided by its limit of one second."""
    return [turn["ns"] / 1e9 for turn in turns["krdma"]]


def idle_kib(turns):
    """Return the memory of one side of a connection in KiB.  Both sides are in this kernel."""
    return [turn["bytes"] / 2 / 1024 for turn in turns["krdma"]]


def longer(variant, against, name="p50"):
    """Return the time of an operation of VARIANT divided by that of AGAINST."""
    return lambda turns: paired(turns, variant, against, lambda turn: turn[name])


def faster(variant, against):
    """Return the rate of VARIANT divided by that of AGAINST."""
    return lambda turns: paired(turns, variant, against, lambda turn: turn["n"] / turn["ns"])


def faster_at_best(variant, against):
    """Return the rate of VARIANT divided by that of AGAINST while no other work delays them: of the fastest writes."""
    return lambda turns: paired(turns, against, variant, lambda turn: turn["min"])


def slower(variant, against):
    """Return the rate of AGAINST divided by that of VARIANT, which is the ratio of their times for the same work."""
    return faster(against, variant)


def for_each(name, variant):
    """Return the number NAME of VARIANT for an operation."""
    return lambda turns: [turn.get(name, 0) / turn["n"] for turn in turns[variant]]


def off(variant, against, figure):
    """Return the relative difference between the figures of VARIANT and AGAINST."""
    return lambda turns: [abs(ratio - 1) for ratio in paired(turns, variant, against, figure)]


def jitter(turns):
    """Return the ratio of percentile 99.9 to the median, divided by the same ratio of raw verbs."""
    return paired(turns, "vrfm", "raw", lambda turn: turn["p999"] / turn["p50"])


def device_size(turns):
    return [turn["device"] / (64 << 20) for turn in turns["vrfm"]]


def link_mib(turns):
    """Return the memory of one side of a link in MiB.  All sides are in this kernel."""
    return [turn["link"] / (1 << 20) for turn in turns["vrfm"]]


def stall(turns):
    """Return the longest write, divided by overload_ms."""
    return [turn["max"] / (turn["overload_ms"] * 1e6) for turn in turns["vrfm"]]


def received(turns):
    """Return the number of messages that the receiver has handled for each direct write."""
    return [turn["received"] / turn["n"] for turn in turns["vrfm"]]


def lateness(turns):
    """Return the 99th percentile of the lateness of writes in a replay, in us."""
    return [turn["p99"] for turn in turns["vrfm"]]


def protections(turns):
    """Return the number of write faults and write protections for each cycle of a loop."""
    return [(turn["faults"] + turn["protected"]) / turn["n"] for turn in turns["vrfm"]]


def disturbed(id_, disturbance, test, variant, options, topologies=(SELF,), p50=2.00):
    """Return rows that compare a control loop, which writes 4 bytes each ms, with and without a disturbance."""
    return [Row(f"{id_}-{word}", f"4 B write {word}, {disturbance}/alone", test, f"alone,{variant}", options,
                longer(variant, "alone", name), "<=", always(goal), topologies)
            for word, name, goal in (("p50", "p50", p50), ("p99.9", "p999", 2.00), ("longest", "max", 2.00))]


def cpu_ratio(variant, against):
    """Return the processor time of an operation of VARIANT divided by that of AGAINST."""
    return lambda turns: paired(turns, variant, against, lambda turn: turn["cpu_ns"] / turn["n"])


def per_second(name):
    return lambda turns: [turn[name] * 1e9 / turn["ns"] for turn in turns["idle"]]


def busy_percent(turns):
    """Return the share of a processor that an idle kernel uses, in percent."""
    return [100 * turn["cpu_ns"] / turn["ns"] for turn in turns["idle"]]


WINDOWS = (PLAIN, BELLS)


def ntr_rows():
    """Return the rows of ntrdma.  Those with a ring or a doorbell need one kernel, which has both sides of the ring."""
    big, small, wait, talk = "size=65536 depth=16", "size=4096 depth=64", "size=8", "size=64"

    def row(name, what, test, variants, options, value, op, goal, *topologies):
        return Row(f"ntr/{name}", what, f"ntr-{test}", variants, options, value, op,
                   goal if callable(goal) else always(goal), topologies or (SPACES,))
    yield row("write-64K-vs-ring", "WRITE stream 64 KiB bytes/s ntr/bare ring", "stream", "ring,ntr", big,
              faster("ntr", "ring"), ">=", 0.85)
    yield row("write-64K-vs-memcpy", "WRITE stream 64 KiB bytes/s ntr/memcpy", "stream", "memcpy,ntr", big,
              faster("ntr", "memcpy"), ">=", reported)
    yield row("write-64K-vs-rxe", "WRITE stream 64 KiB bytes/s ntr/rxe", "stream", "rxe,ntr", big, faster("ntr", "rxe"),
              ">=", on_uml(20, 2))
    yield row("write-64K-vs-rxe", "WRITE stream 64 KiB bytes/s ntr/rxe", "stream", "rxe,ntr", big, faster("ntr", "rxe"),
              ">=", 2, *WINDOWS)
    yield row("write-64K-vs-siw", "WRITE stream 64 KiB bytes/s ntr/siw", "stream", "siw,ntr", big, faster("ntr", "siw"),
              ">=", 5)
    yield row("read-64K", "stream 64 KiB bytes/s READ/WRITE", "stream", "ntr,read", big, faster("read", "ntr"), ">=", 0.90,
              SPACES, *WINDOWS)
    yield row("bridge-64K-vs-rxe", "WRITE stream 64 KiB bytes/s over a bridge rxe/ntr", "bridge", "bridge_ntr,bridge_rxe",
              big, faster("bridge_rxe", "bridge_ntr"), "<=", 0.3)
    yield row("write-4K-vs-rxe", "WRITEs 4 KiB a second depth 64 ntr/rxe", "stream", "rxe,ntr", small,
              faster("ntr", "rxe"), ">=", on_uml(6, 2))
    yield row("write-4K-vs-rxe", "WRITEs 4 KiB a second depth 64 ntr/rxe", "stream", "rxe,ntr", small,
              faster("ntr", "rxe"), ">=", 2, *WINDOWS)
    yield row("write-8B-vs-bell", "sync WRITE 8 B p50 ntr/bare doorbell", "write", "bell,ntr", wait,
              longer("ntr", "bell"), "<=", 1.5)
    yield row("sendrecv-64B-vs-bell", "send and receive 64 B p50 ntr/bare doorbell", "echo", "bell,ntr", talk,
              longer("ntr", "bell"), "<=", 2)
    for topologies, goal in (((SPACES,), 0.4), (WINDOWS, 0.9)):
        yield row("write-8B-vs-rxe", "sync WRITE 8 B p50 ntr/rxe", "write", "rxe,ntr", wait, longer("ntr", "rxe"), "<=",
                  goal, *topologies)
        yield row("sendrecv-64B-vs-rxe", "send and receive 64 B p50 ntr/rxe", "echo", "rxe,ntr", talk,
                  longer("ntr", "rxe"), "<=", goal, *topologies)
    yield row("write-8B-vs-line", "sync WRITE 8 B p50 ntr/polled cache line", "write", "line,ntr", wait,
              longer("ntr", "line"), "<=", 15)
    yield row("write-64K-cpu", "CPU time of a WRITE 64 KiB ntr/bare ring", "stream", "ring,ntr", big,
              cpu_ratio("ntr", "ring"), "<=", 1.3)
    yield row("tcp", "TCP stream bytes/s over ntr/over the adapter", "tcp", "tcp_rxe,tcp_ntr", "",
              faster("tcp_ntr", "tcp_rxe"), ">=", 2, *WINDOWS)
    yield row("ping", "ping p50 over ntr/over the adapter", "ping", "ping_rxe,ping_ntr", "",
              longer("ping_ntr", "ping_rxe"), "<=", 1, *WINDOWS)
    yield row("qps-64", "WRITE streams 64 KiB bytes/s 64 QPs/one", "stream", "one,many", "size=65536",
              faster("many", "one"), ">=", 0.90, SPACES, *WINDOWS)
    yield row("write-8B-beside-stream", "sync WRITE 8 B p99 beside a stream of 1 MiB/alone", "write", "alone,beside", wait,
              longer("beside", "alone", "p99"), "<=", 4, SPACES, *WINDOWS)
    yield row("idle-polls", "polls a second idle", "rest", "idle", "ms=5000", per_second("polls"), "<=", 0, SPACES, BELLS)
    yield row("idle-bells", "doorbells a second idle", "rest", "idle", "ms=5000", per_second("bells"), "<=", 0, SPACES,
              BELLS)
    yield row("idle-cpu", "CPU time idle percent of a processor", "rest", "idle", "ms=5000", busy_percent, "<=", 0.1,
              SPACES, BELLS)
    yield row("idle-cpu", "CPU time idle percent of a processor", "rest", "idle", "ms=5000", busy_percent, "<=", 2, PLAIN)
    yield row("cut-error", "peer cut off until the first error ms more than dead_ms", "cut", "pulled", "dead_ms=1000",
              lambda turns: [turn["ns"] / 1e6 - turn["dead"] for turn in turns["pulled"]], "<=", 1000)
    yield row("cut-up", "peer back until UP ms", "cut", "pulled", "dead_ms=1000",
              lambda turns: [turn["up"] / 1e6 for turn in turns["pulled"]], "<=", 1000)
    yield row("cut-error", "peer cut off until the first error ms more than dead_ms", "cut", "pulled", "",
              lambda turns: [turn["ns"] / 1e6 - turn["dead"] for turn in turns["pulled"]], "<=", 1000, *WINDOWS)
    yield row("cut-up", "peer back until UP ms", "cut", "pulled", "",
              lambda turns: [turn["up"] / 1e6 for turn in turns["pulled"]], "<=", 1000, *WINDOWS)
    for name, what, test, options, value in (
            ("krdma-write-8B", "sync WRITE 8 B p50", "write", wait, longer("krdma_ntr", "krdma_rxe")),
            ("krdma-write-4K", "async WRITE 4 KiB depth 64 ops/s", "stream", small, faster("krdma_ntr", "krdma_rxe")),
            ("krdma-write-4K-chain16", "async WRITE 4 KiB chains of 16 ops/s", "stream", f"{small} chain=16",
             faster("krdma_ntr", "krdma_rxe")),
            ("krdma-sendrecv-64B", "send and receive 64 B p50", "echo", talk, longer("krdma_ntr", "krdma_rxe"))):
        yield row(name, f"{what} krdma over ntr/over rxe", test, "krdma_rxe,krdma_ntr", options, value,
                  ">=" if "ops" in what else "<=", reported, SPACES, *WINDOWS)
    for size, name in ((4096, "4K"), (65536, "64K"), (1 << 20, "1M")):
        yield row(f"vrfm-write-{name}", f"API write {name}iB bandwidth vrfm over ntr/over rxe", "vrfm",
                  "vrfm_ntr,vrfm_rxe", f"size={size}", faster("vrfm_ntr", "vrfm_rxe"), ">=", reported)


def level_rows():
    """Return the rows of the levels that seal messages.  Only without them are blocks written directly, of 16 KiB or more."""
    for size, name in ((8, "8B"), (4096, "4K"), (16384, "16K")):
        for level in ("integrity", "encrypt"):
            yield Row(f"krdma/seal-{name}-{level}-ns", f"seal and open {size} bytes, {level}, library alone ns", "repeat",
                      "integrity,encrypt", f"size={size}", ns_of(level), "<=", reported)
    yield Row("krdma/x25519-ns", "multiplication of a point ns", "connect", "krdma,auth,curve", "ms=100",
              lambda turns: [turn["p50"] / 4 for turn in turns["curve"]], "<=", reported)
    for level in ("integrity", "encrypt"):
        def row(name, what, options, value, op, goal, level=level, more=",sealing"):
            return Row(f"vrfm/write-{name}", what, "levels", f"none,{level}{more}", f"{options} level={level}", value, op,
                       always(goal))
        for size, name in ((4096, "4K"), (65536, "64K")):
            messages = f"by=rate direct=off ms=1000 size={size}"
            yield row(f"{name}-{level}", f"API write {name}iB time level {level}/none by messages + library", messages,
                      sealed(level), "<=", 1.15)
            yield row(f"{name}-{level}-rate", f"API write {name}iB bandwidth level {level}/none",
                      f"by=rate direct=auto ms=1000 size={size}", faster(level, "none"), ">=", None)
            if level == "encrypt" and size == 65536:
                yield row("64K-encrypt-cpu", "API write 64 KiB CPU time that level encrypt adds/library", messages,
                          added(level, lambda turn: turn["cpu_ns"] / turn["n"]), "<=", 1.20)
        if level == "encrypt":
            trip = "by=ping direct=off ms=1000 size=8"
            yield row("8B-rtt-encrypt-added", "API write ping-pong p50 that level encrypt adds/library", trip,
                      added(level, lambda turn: turn["p50"]), "<=", 1.50)
            yield row("8B-rtt-encrypt", "API write ping-pong p50 level encrypt/none", trip, longer(level, "none"), "<=", 1.20)
    for size, name in ((4, "4B"), (4096, "4K")):
        yield Row(f"vrfm/write-{name}-three-peers-encrypt", f"API writes {size} bytes time three peers/one, level encrypt",
                  "fan", "vrfm,three", f"level=encrypt size={size}", slower("three", "vrfm"), "<=", always(3.00))


BOTH = (SELF, TWO)


def against_parts(turns):
    """Return the time of a disk's write in mode async, of which its parts take: the writes with two checksums, and a disk."""
    def time(turn):
        return turn["ns"] / turn["n"]
    return [(time(summed) + time(none)) / time(disk)
            for summed, none, disk in zip(turns["summed"], turns["none"], turns["async"])]


def disk_rows(name, size, options, goal, us):
    """Return the rows for writes of a size to disks of krping_blk; GOAL is that of mode async, and a tap may cost 5 %.

    A fast SSD needs about US microseconds for such a write.
    """
    def row(kind, what, variants, options, value, op, goal, topologies=BOTH):
        return Row(f"blk/write-{name}-{kind}", f"disk write {size} {what}", "blk", variants, options, value, op,
                   always(goal), topologies)
    kinds = "raw,summed,none,sync,async,nocrc"
    return (row("sync", "bandwidth mode sync/raw WRITE", kinds, options, faster("sync", "raw"), ">=", None),
            row("async", "bandwidth mode async/raw WRITE", kinds, options, faster("async", "raw"), ">=", goal),
            row("nocrc", "bandwidth mode async without checksums/raw WRITE", kinds, options, faster("nocrc", "raw"), ">=",
                goal),
            row("summed", "bandwidth mode async/raw WRITE with two checksums", kinds, options,
                faster("async", "summed"), ">=", None, (SELF,)),
            row("parts", "time raw WRITE with two checksums and a local disk/mode async", kinds, options,
                against_parts, ">=", None, (SELF,)),
            row("tap", "time mode tap/local", "none,tap", f"{options} pause=1", longer("tap", "none"), "<=", 1.05),
            row("tap-ssd", f"time mode tap/local, storage of {us} us", "none,tap", f"{options} pause=1 store={us}",
                longer("tap", "none"), "<=", 1.05))


ROWS = (
    Row("krdma/write-8B-p50", "sync WRITE 8 B p50 krdma/raw", "write", "raw,krdma", "size=8",
        time_of("p50", "raw"), "<=", always(1.10)),
    Row("krdma/write-8B-vs-event-mode", "sync WRITE 8 B p50 krdma/naive events", "write", "naive,krdma", "size=8",
        time_of("p50", "naive"), "<=", with_tasklets(0.35, 1.10)),
    Row("krdma/write-8B-p99-vs-polling", "sync WRITE 8 B p99 krdma/naive polling", "write", "direct,krdma", "size=8",
        time_of("p99", "direct"), "<=", with_tasklets(0.10, 1.10)),
    Row("krdma/write-4K-qd64", "async WRITE 4 KiB depth 64 ops/s krdma/raw", "stream", "raw,krdma",
        "size=4096 depth=64",
        rate_against("raw"), ">=", always(0.95), BOTH),
    Row("krdma/write-4K-qd64-chain16", "async WRITE 4 KiB chains of 16 ops/s krdma/raw", "stream", "raw,krdma",
        "size=4096 depth=64 chain=16",
        rate_against("raw"), ">=", always(0.95), BOTH),
    Row("krdma/sendrecv-64B-p50", "send and receive 64 B p50 krdma/raw", "echo", "raw,krdma", "size=64",
        time_of("p50", "raw"), "<=", always(1.15), BOTH),
    Row("krdma/write-64K-qd16", "WRITE stream 64 KiB ops/s krdma/raw", "stream", "raw,krdma", "size=65536 depth=16",
        rate_against("raw"), ">=", always(0.95), BOTH),
    Row("krdma/write-4K-vs-ib_write_bw", "WRITE 4 KiB bandwidth krdma/ib_write_bw", "user", "krdma,user",
        "size=4096 depth=64",
        rate_against("user"), ">=", always(1.50), BOTH),
    Row("krdma/connect-p50", "connect p50 krdma/raw", "connect", "raw,krdma", "",
        time_of("p50", "raw"), "<=", always(1.20)),
    Row("krdma/disconnect-ms", "teardown p50 krdma ms", "connect", "raw,krdma", "",
        teardown_ms, "<=", always(10.0)),
    Row("krdma/connect-auth", "connect p50 what level auth adds/four multiplications of points", "connect",
        "krdma,auth,curve", "ms=100",
        beyond, "<=", always(1.50)),
    Row("krdma/sendrecv-64B-encrypt-added", "send and receive 64 B time that level encrypt adds/library", "echo",
        "krdma,sealed,among", "size=64", added_to_echo, "<=", always(1.50)),
    Row("krdma/sendrecv-64B-encrypt", "send and receive 64 B p50 level encrypt/none", "echo", "krdma,sealed,among",
        "size=64", longer("sealed", "krdma"), "<=", always(1.20)),
    Row("krdma/refused-key-cpu", "CPU time of a refused connect other key/other level", "refused", "level,key", "",
        cpu_ratio("key", "level"), "<=", always(1.20)),
    Row("krdma/write-8B-cpu", "CPU time per WRITE 8 B depth 64 krdma/raw", "stream", "raw,krdma", "size=8 depth=64",
        cpu_cost, "<=", always(1.10)),
    Row("krdma/connect-timeout", "connect to a peer that never accepts time/limit", "stall", "krdma", "ms=1000",
        overrun, "<=", always(1.10)),
    Row("krdma/idle-memory", "memory of an idle connection KiB a side", "idle", "krdma", "n=32",
        idle_kib, "<=", always(512.0), pick=max),	# the largest value, because caches of the allocator make some too small
    Row("krping/bw-accuracy", "WRITE 4 KiB depth 64 what krping says, off raw by", "krping-bw", "raw,krping",
        "size=4096 depth=64",
        off("krping", "raw", lambda turn: turn["n"] / turn["ns"]), "<=", always(0.05)),
    Row("krping/slat-accuracy", "send and receive 64 B p50 what krping says, off raw by", "krping-slat",
        "raw,krping", "size=64",
        off("krping", "raw", lambda turn: turn["p50"]), "<=", always(0.05)),
    *disk_rows("4K", "4 KiB", "size=4096 depth=16", None, 100),
    *disk_rows("64K", "64 KiB", "size=65536 depth=16", 0.85, 160),
    *disk_rows("1M", "1 MiB", "size=1048576 depth=16", None, 1100),
    Row("vrfm/write-4K-bw", "API write 4 KiB bandwidth vrfm/raw WRITE", "vrfm-rate", "raw,vrfm", "size=4096",
        faster("vrfm", "raw"), ">=", always(0.90), BOTH),
    Row("vrfm/write-64K-bw", "API write 64 KiB bandwidth vrfm/raw WRITE", "vrfm-rate", "raw,vrfm", "size=65536",
        faster("vrfm", "raw"), ">=", always(0.90), BOTH),
    Row("vrfm/write-1M-bw", "API write 1 MiB bandwidth vrfm/raw WRITE", "vrfm-rate", "raw,vrfm", "size=1048576",
        faster("vrfm", "raw"), ">=", always(0.90), BOTH),
    Row("vrfm/write-4B-one-peer", "API writes 4 B a second one peer/none", "vrfm-rate", "alone,vrfm", "size=4",
        faster("vrfm", "alone"), ">=", always(0.50)),
    Row("vrfm/write-8B-rtt", "API write ping-pong p50 vrfm/raw WRITE 8 B", "vrfm-ping", "raw,vrfm", "size=8",
        longer("vrfm", "raw"), "<=", always(1.60), BOTH),
    Row("vrfm/mmap-8B-rtt", "mapped store ping-pong p50 vrfm/raw WRITE 8 B", "vrfm-ping", "raw,store", "size=8",
        longer("store", "raw"), "<=", always(2.00), BOTH),
    Row("vrfm/write-8B-jitter", "API write ping-pong p99.9/p50 vrfm/raw", "vrfm-ping", "raw,vrfm", "size=8",
        jitter, "<=", always(1.20), BOTH),
    Row("vrfm/event-rtt", "event round trip p50 vrfm/raw SEND RECV", "vrfm-event", "raw,vrfm", "size=8",
        longer("vrfm", "raw"), "<=", always(1.40), BOTH),
    Row("vrfm/mmap-read-bw", "reading a mapping bandwidth vrfm/memory", "vrfm-read", "plain,vrfm", "size=1048576",
        faster("vrfm", "plain"), ">=", always(0.98)),
    Row("vrfm/write-4K-three-peers", "API writes 4 KiB time three peers/one", "vrfm-rate", "vrfm,three", "size=4096",
        slower("three", "vrfm"), "<=", always(3.00)),
    Row("vrfm/device-memory", "memory of a device of 64 MiB/64 MiB", "memory", "vrfm", "", device_size, "<=",
        always(1.05)),
    Row("vrfm/link-memory", "memory of a side of a link MiB", "memory", "vrfm", "", link_mib, "<=", always(1.00)),
    Row("vrfm/join-64M-writer-departed", "late join 64 MiB writer gone time vrfm/raw READ", "join", "raw,gone,alive",
        "",
        slower("gone", "raw"), "<=", always(1.50)),
    Row("vrfm/join-64M-writer-present", "late join 64 MiB all alive time vrfm/raw READ", "join", "raw,gone,alive", "",
        slower("alive", "raw"), "<=", always(3.00)),
    Row("vrfm/write-4B-three-peers", "API writes 4 B time three peers/one", "vrfm-rate", "vrfm,three", "size=4",
        slower("three", "vrfm"), "<=", always(3.00)),
    Row("vrfm/cable-cut-stall-4B", "longest 4 B write of a 10 kHz writer, cable cut/overload_ms", "cut", "vrfm",
        "size=4",
        stall, "<=", always(2.00), (TWO,), pick=max),
    Row("vrfm/cable-cut-stall-4K", "longest 4 KiB write of a 10 kHz writer, cable cut/overload_ms", "cut", "vrfm",
        "size=4096",
        stall, "<=", always(2.00), (TWO,), pick=max),
    Row("vrfm/direct-write-messages", "messages to the receiver of a direct write 64 KiB", "remote", "vrfm",
        "size=65536 ms=2000",
        received, "<=", always(0.01)),
    Row("vrfm/write-4B-sixteen-peers", "API writes 4 B time sixteen peers/eight", "grow",
        "one,two,four,eight,sixteen", "size=4",
        slower("sixteen", "eight"), "<=", always(2.20), ("three nodes",)),
    Row("vrfm/write-4B-256M", "API writes 4 B time 256 MiB/4 MiB", "sizes", "small,large", "size=4 stride=4104",
        slower("large", "small"), "<=", always(1.10)),
    Row("vrfm/write-4B-tap", "API writes 4 B a second, tap without bytes/no tap", "vrfm-rate", "vrfm,tapped", "size=4",
        faster("tapped", "vrfm"), ">=", always(0.95)),
    Row("vrfm/write-4B-tap-best", "fastest API writes 4 B, tap without bytes/no tap", "vrfm-rate", "vrfm,tapped", "size=4",
        faster_at_best("tapped", "vrfm"), ">=", always(0.95)),
    Row("vrfm/write-4K-tap", "API writes 4 KiB a second, tap with bytes/no tap", "vrfm-rate", "vrfm,copied", "size=4096",
        faster("copied", "vrfm"), ">=", always(0.80)),
    Row("vrfm/write-4K-tap-best", "fastest API writes 4 KiB, tap with bytes/no tap", "vrfm-rate", "vrfm,copied", "size=4096",
        faster_at_best("copied", "vrfm"), ">=", always(0.80)),
    Row("vrfm/write-4B-idle-tap", "API writes 4 B a second, tap that records none/no tap", "vrfm-rate", "vrfm,idle", "size=4",
        faster("idle", "vrfm"), ">=", always(0.98)),
    Row("vrfm/write-4B-idle-tap-best", "fastest API writes 4 B, tap that records none/no tap", "vrfm-rate", "vrfm,idle", "size=4",
        faster_at_best("idle", "vrfm"), ">=", always(0.98)),
    Row("vrfm/event-burst-time", "event of a burst, reader's time ring/WAIT_FOR_EVENT", "vrfm-burst", "vrfm,ring", "",
        slower("ring", "vrfm"), "<=", always(0.5)),
    Row("vrfm/event-burst-calls", "system calls of a reader for an event of a burst, ring", "vrfm-burst", "vrfm,ring", "",
        for_each("calls", "ring"), "<=", always(0.1)),
    Row("vrfm/write-4B-noticed", "writes 4 B a second that a reader learns of, ring/VRFM_WATCH", "vrfm-cover", "vrfm,ring",
        "", faster("ring", "vrfm"), ">=", always(5.0)),
    Row("vrfm/event-rtt-ring-p50", "event round trip p50 ring/WAIT_FOR_EVENT", "vrfm-event", "vrfm,ring", "size=8",
        longer("ring", "vrfm"), "<=", always(1.05), BOTH),
    Row("vrfm/event-rtt-ring-p99", "event round trip p99 ring/WAIT_FOR_EVENT", "vrfm-event", "vrfm,ring", "size=8",
        longer("ring", "vrfm", "p99"), "<=", always(1.05), BOTH),
    Row("vrfm/cycle-batch", "8 blocks, counter and event, cycles a second VRFM_BATCH/ten calls", "vrfm-control",
        "vrfm,batch", "", faster("batch", "vrfm"), ">=", always(3.0)),
    Row("vrfm/cycle-batch-messages", "messages to a peer for such a cycle, VRFM_BATCH", "vrfm-control", "vrfm,batch", "",
        for_each("messages", "batch"), "<=", always(1.1)),
    Row("vrfm/update-batch", "updates of 4 B a second, VRFM_BATCH of 64/write()", "vrfm-update", "vrfm,batch", "",
        faster("batch", "vrfm"), ">=", always(5.0)),
    Row("vrfm/update-batch-calls", "system calls for an update of 4 B, VRFM_BATCH of 64", "vrfm-update", "vrfm,batch", "",
        for_each("calls", "batch"), "<=", always(1 / 64)),
    Row("vrfm/publish-8B-rtt", "manual mapping and PUBLISH ping-pong p50 vrfm/raw WRITE 8 B", "vrfm-ping", "raw,manual",
        "size=8", longer("manual", "raw"), "<=", always(1.50), BOTH),
    Row("vrfm/replay-lateness-us", "lateness p99 of a replay of 10 kHz us", "replay", "vrfm", "ms=2000",
        lateness, "<=", always(100.0)),
    *disturbed("vrfm/poke-dirty-pages", "process that dirties 1000 pages", "beside", "beside", "", p50=1.50),
    Row("vrfm/claimed-loop-faults", "faults and protections a cycle, 1 kHz loop over 100 claimed pages", "claimed",
        "vrfm", "",
        protections, "<=", always(0.0)),
    *disturbed("vrfm/poke-cable-cut-0us", "cable cut, overload_us 0", "cutpoke", "cut", "overload_us=0 ms=2000", (TWO,)),
    *disturbed("vrfm/poke-cable-cut-500us", "cable cut, overload_us 500", "cutpoke", "cut", "overload_us=500 ms=2000", (TWO,)),
    Row("vrfm/feed-cable-cut", "1 kHz loop with a donated thread p99.9, cable cut/alone", "cutpoke", "alone,cut",
        "overload_us=100000 by=feeder ms=2000", longer("cut", "alone", "p999"), "<=", always(1.5), (TWO,)),
    Row("vrfm/feed-calls", "system calls for a cycle of such a loop, cable cut", "cutpoke", "alone,cut",
        "overload_us=100000 by=feeder ms=2000", for_each("calls", "cut"), "<=", always(0.0), (TWO,)),
    Row("vrfm/write-4K-auth", "API write 4 KiB bandwidth level auth/none", "levels", "none,auth", "by=rate level=auth size=4096",
        faster("auth", "none"), ">=", always(0.97)),
    Row("vrfm/write-64K-auth", "API write 64 KiB bandwidth level auth/none", "levels", "none,auth", "by=rate level=auth size=65536",
        faster("auth", "none"), ">=", always(0.97)),
    Row("vrfm/write-8B-rtt-auth", "API write ping-pong p50 level auth/none", "levels", "none,auth", "by=ping level=auth size=8",
        longer("auth", "none"), "<=", always(1.03)),
    *level_rows(),
    *disturbed("vrfm/poke-joining-node", "node that joins with 64 MiB", "joining", "joining", "ms=3000"),
    *disturbed("vrfm/poke-proc-read", "/proc/rfm2g read in a loop", "reading", "reading", "ms=2000"),
    *ntr_rows(),
)


@dataclasses.dataclass(frozen=True)
class Point:
    """A point of a curve over sizes or over nodes.  The report has all of its turns."""
    id: str
    what: str
    test: str
    variants: str
    size: int
    more: str = ""
    topologies: tuple = (TWO,)

    @property
    def options(self):
        size = "" if "size=" in self.more else f"size={self.size} "
        return f"{size}ms=250 {self.more}".strip()


MANY = (TWO, *MORE)
SIZES = (64, 256, 1024, 4096, 16384, 65536, 262144)
RINGS = (64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384)	# KiB
POINTS = (
    *[Point("curve/write-sizes", "WRITE stream, 16 in flight", "stream", "raw,krdma", size, "depth=16") for size in SIZES],
    *[Point("curve/ntr-ring-sizes", "WRITE stream 64 KiB over rings of this size", "ntr-stream", "ring,ntr", kib << 10,
            f"size=65536 depth=16 ring_kb={kib}", topologies=(SPACES,)) for kib in RINGS],
    *[Point("curve/vrfm-write-sizes", "API writes of vrfm", "vrfm-rate", "raw,vrfm", size) for size in SIZES],
    Point("curve/vrfm-nodes-bw", "API writes 4 KiB to all others", "vrfm-rate", "vrfm", 4096, topologies=MANY),
    Point("curve/vrfm-nodes-rtt", "API write ping-pong with one of them", "vrfm-ping", "vrfm", 8, topologies=MANY),
)
