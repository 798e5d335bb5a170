# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""Define all parts of the check, with their names, their needs, and the functions that run them."""
import collections
import dataclasses
import json
import pathlib
import re
import sys
import tempfile
import typing

import benchpage
import command
import copies
import coverage
import dissector
import krpingtool
import ktap
import language
import layers
import machine
import makefiles
import memory
import mutants
import ntrpage
import ntrserver
import packages
import recordfile
import runnertest
import skew
import static
import userspace
import wire
from rig import cache, kernels, need

TOP = static.TOP
SCENARIOS = TOP / "tests/e2e"
VM = TOP / "tools/vm"
KERNELS = TOP / "tests/vm/kernels"
BENCH = TOP / "tools/bench"
# Keys of a scenario's header that list files or programs to compile. The results are put into the folder /add of the
# nodes. The keys are for plain programs, programs of 32 bits, programs that use libibverbs, programs that use librfm2g,
# the installed tools, and the samples.
BROUGHT = ("programs", "narrow", "verbs", "library", "tools", "samples")
KEYS = {"kernels", "long", "alone", "lasting", "nodes", "load", "add", *BROUGHT, "append", "mem", "previous", "timeout",
        "guarantees", "security", "attacked", "capture"}
HEADER_LINES = 60
# First rule of the attacker on the path that the key "attacked" requests.  The scenario adds more.
ATTACK = "change,from=1,min=100,byte=90"
# Duration of the longer run that the key "lasting" requests for a scenario, in seconds.
LASTING = 600
# Largest number of scenarios in a tour, which runs them in one boot.  If a tour is interrupted, or its kernel
# complains, none of its scenarios passes.
TOUR = 10
# Time to boot a machine and to judge its logs, in seconds, in addition to the time limit of its script.
SLACK = 240
# Time to build the modules on a busy machine, in seconds.
COMPILING = 1800
# Arguments of make for modules, by kernel. CHECKED enables checks by the compiler and sparse. The build must print
# nothing. Scenarios load the modules of the same build, because another build would take minutes. Headers of kernels
# since 6.12 contain vmlinux, so the build generates BTF, which needs debug information in the modules. So only the
# build for 6.1 omits debug information.
CHECKED = ("-s", "W=1", "C=2")
MAKE = {"stock-6.1": (*CHECKED, "KCFLAGS=-g0"), "stock-6.12": CHECKED, "stock-new": ("-s", "W=1")}
# Estimated duration of such a build, in seconds.  It is more than that of most scenarios, so that builds are not among the
# parts that --within skips.
BUILDING = 700
# Factor for the time limits on kernels with debugging checks, which are slow.  The processor of debug-6.1 is emulated.
PATIENCE = {"uml-debug": 2, "debug-6.1": 3}


@dataclasses.dataclass(eq=False)
class Part:
    """One line of the report."""
    name: str
    run: typing.Callable		# log file -> ktap.Results
    kernels: tuple = ()			# names of kernels to prepare before it runs
    long: bool = False			# runs only with --long, or if its full name is given
    seconds: int = 10			# estimated duration, because long parts start first
    tour: str = ""			# name of the tour that runs it with --long
    guarantees: tuple = ()		# guarantees that it shows, G1 to G10 and S1 to S10
    scripts: tuple = ()			# scripts of tests/e2e that it depends on; empty: it depends on the whole tree
    beside: typing.Callable = tuple	# returns strings for its dependencies outside the tree, such as versions of tools
    userspace: bool = False		# true if it uses the library, tools or samples
    members: tuple = ()			# parts that it runs one after the other, in one boot
    groups: tuple = ()			# groups of Debian packages, in addition to those for its kernels, see tests/vm/packages
    of: typing.Callable = None		# takes some of the members, and returns a part with only these
    # Returns the files of the tree that the part reads; None if it depends on more.  A pass of the part is not repeated
    # until one of these files or a string of "beside" changes.
    files: typing.Callable = None


def groups(parts):
    """Return the groups of Debian packages that PARTS need."""
    found = ["modules"]
    for part in parts:
        found += [*need.of_kernels(part.kernels), "scripts"] if part.kernels else ["style"]
        if any(CHECKED[-1] in MAKE.get(kernel, ()) for kernel in part.kernels):
            found.append("sparse")
        found += part.groups
    return list(dict.fromkeys(found))


def plain(name, check, kernels=(), seconds=10, **words):
    """Return a part with one case, which passes if CHECK returns true."""
    def run(log):
        results = ktap.Results()
        (results.passed if check(log) else results.failed).append(name)
        return results
    return Part(name, run, kernels, seconds=seconds, **words)


def read(log):
    return pathlib.Path(log).read_text(encoding="utf-8", errors="replace")


def judged(argv, timeout, level=0, planned=True):
    """Return a function that runs a command that prints KTAP.  A non-zero exit status also fails."""
    def run(log):
        status = command.run(argv, log, timeout, cwd=TOP)
        results = ktap.parse(read(log), level, planned)
        if status is None:
            results.failed.append(f"no end within {timeout} s")
        elif status and not results.failed:
            results.failed.append(f"exit status {status}: {last_line(log)}")
        elif not status and not results.passed:
            results.failed.append("no results")
        return results
    return run


def on_machines(kernel, argv, timeout, level=0, planned=True):
    """Return the same as judged() for a command that boots KERNEL.  Its modules are built outside the time limit.

    A failed build is reported by the command itself, which tries it again.
    """
    run = judged(argv, timeout, level, planned)

    def prepared(log):
        made = [word.removeprefix("--make=") for word in map(str, argv) if word.startswith("--make=")]
        command.run([KERNELS, "modules", kernel, *made], log, COMPILING)
        return run(log)
    return prepared


def last_line(log):
    lines = [line for line in read(log).splitlines() if line.strip()]
    return lines[-1] if lines else ""


def without_warnings(run):
    """Make RUN fail if the compiler prints a warning.  No other part compiles the modules of the KUnit tests."""
    def checked(log):
        results = run(log)
        results.failed += [line.strip() for line in read(log).splitlines() if "warning:" in line]
        return results
    return checked


def kunit(kernel, long=False):
    """Return the part with the KUnit tests.  On uml they use the modules that are built for the coverage."""
    words = [*coverage.KUNIT_MAKE, *([coverage.COUNTING] if kernel == "uml" else [])]
    argv = [VM, "--kernel", kernel, "--nodes", "1", "--timeout", "300", *[f"--make={word}" for word in words],
            TOP / "tests/kunit/run"]
    run = without_warnings(on_machines(kernel, argv, 300 + SLACK, level=1, planned=False))
    return Part(f"kunit-{kernel}", run, (kernel,), long, 30, guarantees=("G10",))


def selftest(kernel, long=False):
    """Return the part that tests the rig.  It mostly waits, so it starts early and runs beside other parts."""
    return Part(f"rig-{kernel}", judged([TOP / "tests/vm/selftest", kernel], 2400), (kernel,), long, 900)


def header(path):
    """Return the "# key: value" lines at the head of a scenario."""
    values = {}
    for line in path.read_text(encoding="utf-8").splitlines()[:HEADER_LINES]:
        match = re.match(r"# ([a-z]+): (.*)$", line)
        if match and match.group(1) in KEYS:
            values[match.group(1)] = match.group(2).strip()
    return values


def place_of(name):
    """Return the path of a script of the scenarios, or of a folder in tests/e2e, that a node needs."""
    return next(SCENARIOS.glob(f"*/{name}"), SCENARIOS / name) if name.endswith(".sh") else SCENARIOS / name


def machines(place, timeout, load, files, nodes=2):
    """Return the command that boots the nodes; PLACE is KERNEL or KERNEL/LINK."""
    kernel, _, link = place.partition("/")
    argv = [VM, "--kernel", kernel, "--nodes", str(nodes), "--timeout", timeout, "--load", load]
    argv += [f"--make={word}" for word in MAKE.get(kernel, ())]
    for file in files:
        argv += ["--add", place_of(file)]
    return argv + (["--link", link] if link else [])


def patience(values, place):
    """Return the time limit of a scenario in seconds."""
    return int(values.get("timeout", "300")) * PATIENCE.get(place.partition("/")[0], 1)


def part_name(what, place):
    return f"{what}-{place.replace('/', '-')}"


def compiled(name, suffix="", compiler=("gcc",), libraries=()):
    """Return the path of a C program of the scenarios, compiled if necessary; a warning is an error."""
    source = SCENARIOS / f"{name}.c"
    sources = sorted(source.parent.glob("*.[ch]"))
    folder = cache.root() / "programs" / f"{source.stem}{suffix}-{cache.digest(*sources)}"
    program = folder / f"{source.stem}{suffix}"
    with cache.making(folder) as needed:
        if needed:
            cache.run([*compiler, "-O2", "-Wall", "-Wextra", "-Werror", "-pthread", "-o", program, source, *libraries])
    return program


def narrow(names):
    """Return paths of static 32-bit programs, or [] without a compiler.  Nodes have no 32-bit libraries."""
    compiler = userspace.narrow_compiler()
    return [compiled(name, "-32", (*compiler, "-static", "-D_FILE_OFFSET_BITS=64")) for name in names] if compiler else []


def brought(members):
    """Return {key: names} of the files that scenarios need compiled."""
    return {key: list(dict.fromkeys(name for values in members for name in values.get(key, "").split()))
            for key in BROUGHT}


def with_programs(names, kernel, argv, script, limit, level=0):
    """Return a function that runs SCRIPT on machines that have the compiled programs in /add."""
    def run(log):
        found = [*[compiled(name) for name in names["programs"]], *narrow(names["narrow"]),
                 *[compiled(name, libraries=("-lrdmacm", "-libverbs")) for name in names["verbs"]],
                 *userspace.added(names["library"], names["tools"], names["samples"], SCENARIOS)]
        added = [item for file in found for item in ("--add", file)]
        return on_machines(kernel, [*argv, *added, *script], limit, level)(log)
    return run


def brings_userspace(members):
    """Check whether one of the scenarios uses the library, the tools or the samples."""
    return any(key in values for _, values in members for key in ("library", "tools", "samples"))


def scripts(members):
    """Return the files of tests/e2e that scenarios depend on."""
    return ("lib.sh", *(name for path, values in members for name in (path.name, *values.get("add", "").split())))


def packages_of(values):
    """Return the groups of Debian packages that a scenario needs beyond those of all scenarios."""
    groups = tuple(key for key in ("narrow", "verbs") if key in values)
    return (*groups, "drawing") if "../../tools/krping" in values.get("add", "").split() else groups


def level_file(level):
    """Return a file that tells a scenario its level of security.  lib.sh reads it."""
    folder = cache.root() / "security" / level
    with cache.making(folder) as needed:
        if needed:
            (folder / "security").write_text(f"{level}\n", encoding="ascii")
    return folder / "security"


def scenario(path, values, place, long=True, tour="", lasting=0, level=""):
    """Return the part for a scenario on a kernel.  If LASTING is not 0, the scenario runs for that many seconds.

    LEVEL: level of security of its devices.
    """
    timeout = patience(values, place) + lasting
    kernel = place.partition("/")[0]
    argv = machines(place, timeout, values.get("load", ""), ["lib.sh", *values.get("add", "").split()],
                    values.get("nodes", 2))
    if level:
        argv += ["--add", level_file(level)]
    for option in ("append", "mem", "capture"):
        if option in values:
            argv += [f"--{option}", values[option]]
    if level and level in values.get("attacked", "").split():
        argv += ["--meddle", ATTACK]
    if "previous" in values:
        run = beside_previous(kernel, values["previous"].split(), argv, path, timeout + SLACK)
    else:
        script = [path, lasting] if lasting else [path]
        run = with_programs(brought([values]), kernel, argv, script, timeout + SLACK)
    name = part_name(path.stem, place) + ("-lasting" if lasting else "") + (f"-{level}" if level else "")
    return Part(name, run, (kernel,), long, timeout, tour,
                tuple(values.get("guarantees", "").split()), scripts([(path, values)]),
                (lambda: [skew.revision()]) if "previous" in values else tuple,
                brings_userspace([(path, values)]), groups=packages_of(values))


def beside_previous(kernel, names, argv, path, limit):
    """Return a function that runs a scenario with modules of the previous version in /add."""
    def run(log):
        with tempfile.TemporaryDirectory() as folder:
            added = [item for file in skew.files(kernel, names, folder) for item in ("--add", file)]
            if not added:
                return ktap.Results(skipped=["another version"])
            return on_machines(kernel, [*argv, *added, path], limit)(log)
    return run


def grand_tour(name, place, tour):
    """Return a part with several scenarios in one boot, because a boot is slow when emulated.  TOUR: {part: header}."""
    tour = dict(sorted(tour.items(), key=lambda item: int(item[1].get("timeout", "300"))))
    files = ["lib.sh", *(part.scripts[1] for part in tour)]
    load = list(dict.fromkeys(name for values in tour.values() for name in values.get("load", "").split()))
    each = max(patience(values, place) for values in tour.values())
    timeout = sum(patience(values, place) for values in tour.values())
    more = [name for values in tour.values() for name in values.get("add", "").split()]
    kernel = place.partition("/")[0]
    run = with_programs(brought(tour.values()), kernel,
                        machines(place, timeout, " ".join(load), [*files, *dict.fromkeys(more)]),
                        [SCENARIOS / "tour", each, *files[1:]], timeout + SLACK, 1)
    return Part(name, run, (kernel,), True, timeout, members=tuple(tour), groups=tuple(group for part in tour for group in part.groups),
                of=lambda some: grand_tour(name, place, {part: tour[part] for part in some}))


def tours(place, members):
    """Yield tours of about equal duration with all (path, header) of MEMBERS, and each member as a part of its own."""
    members = sorted(members, key=lambda member: int(member[1].get("timeout", "300")))
    count = -(-len(members) // TOUR)
    for number in range(count):
        name = part_name(f"tour{number + 1}", place)
        tour = {scenario(path, values, place, tour=name): values for path, values in members[number::count]}
        yield from tour
        yield grand_tour(name, place, tour)


def scenarios():
    """Yield every scenario on every kernel that its header names, and the tours of --long."""
    together = collections.defaultdict(list)
    for path in sorted(SCENARIOS.glob("*/*.sh")):
        values = header(path)
        if "long" in values and int(values.get("nodes", 2)) > 2:
            sys.exit(f"check: {path.name}: a tour has two nodes: say alone instead of long")
        if "long" in values and "capture" in values:
            sys.exit(f"check: {path.name}: a tour is not captured: say alone instead of long")
        if "capture" in values and "uml-debug" in f"{values.get('kernels')} {values.get('alone')}":
            sys.exit(f"check: {path.name}: the nodes of uml-debug are one machine, so no frame is captured")
        for place in values.get("kernels", "").split():
            yield scenario(path, values, place, long=False)
        for place in values.get("alone", "").split():
            yield scenario(path, values, place)
        levels = values.get("security", "").split()
        for level in levels:
            if level != "long":
                yield scenario(path, values, values["kernels"].split()[0], long="long" in levels, level=level)
        for place in values.get("lasting", "").split():
            yield scenario(path, values, place, lasting=LASTING)
            for level in values.get("attacked", "").split():
                yield scenario(path, values, place, lasting=LASTING, level=level)
        for place in values.get("long", "").split():
            together[place].append((path, values))
    for place, members in together.items():
        yield from tours(place, members)


BENCH_LINE = re.compile(r"^((?:krdma|krping|ntr|vrfm)/\S+) .+ (\d+\.\d\d) goal (<=|>=)(\d+\.\d\d) (met|missed)$", re.M)


def bench(kernel):
    """Check that lines, JSON and page of tools/bench agree.  Goals are doubled, because the machine may be loaded."""
    names = ["krdma/write-8B-p50", "krdma/connect-p50", "krdma/disconnect-ms", "krdma/connect-timeout",
             "ntr/write-8B-vs-rxe", "ntr/cut-up"]
    curve = "curve/write-sizes"

    def check(log):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "bench.json")
            status = command.run([BENCH, "--kernel", kernel, "--rows", ",".join([*names, curve]), "--rounds", "3",
                                  "--json", file, "--report", folder], log, 180 + SLACK, cwd=TOP)
            # Four drawings of krdma: ratios, two of the latency of WRITEs, and throughput. Three of ntrdma: the first three.
            if status != 0 or benchpage.wrong_with(file.parent) or benchpage.drawings(file.parent) != 7:
                return False
            report = json.loads(file.read_text(encoding="utf-8"))
        lines = [match.groups() for match in BENCH_LINE.finditer(read(log))]
        rows = [(row["id"], f"{row['value']:.2f}", row["op"], f"{row['goal']:.2f}", "met" if row["met"] else "missed")
                for row in report["rows"]]
        return (lines == rows and sorted(set(row[0] for row in rows)) == sorted(names) and
                all(0 < row["value"] <= 2 * row["goal"] and row["samples"] for row in report["rows"]) and
                {point["id"] for point in report["points"]} == {curve} and
                report["kernel"] == kernel and report["hz"] > 0 and report["mtu"] > 0)
    return plain(f"bench-{kernel}", check, (kernel,), 120, groups=("verbs", "drawing"))


def mutants_apply(log):
    """Check that each mutant applies, and that its head names a part, and a documented rule."""
    wrong = mutants.check_all({part.name for part in everything()}, log)
    static.write(log, "".join(wrong))
    return not wrong


def remembered(log):
    """Check that passes are remembered, each part under a key of its own."""
    parts = [member for part in everything() for member in part.members or [part]]
    names = {json.dumps(memory.key(TOP, "", part, dict.fromkeys(part.kernels, ""))) for part in parts}
    return runnertest.check_memory(log) and len(names) == len({part.name for part in parts})


def everything():
    """Return all parts."""
    parts = [
        plain("license", static.license_headers),
        plain("shellcheck", static.shellcheck, files=static.shellcheck_reads,
              beside=lambda: [static.says("shellcheck", "--version")]),
        plain("codespell", static.codespell),
        plain("python", static.python),
        plain("language-rules", language.check_rules),
        plain("kunit-config", static.kunit_config),
        plain("layers", layers.check),
        plain("locks", static.locks),
        plain("language", language.check, beside=lambda: [language.revision()]),
        plain("checkpatch", static.checkpatch, seconds=30, files=static.checkpatch_reads,
              beside=lambda: [kernels.source("debug-6.1").name]),
        plain("kernel-doc", static.kernel_doc),
        plain("docs", static.docs, seconds=20),
        plain("noise-vectors", static.noise_vectors),
        plain("splats", static.splats),
        plain("mutants-apply", mutants_apply, groups=("mutants",)),
        plain("bench-page", benchpage.check, seconds=30, groups=("drawing",)),
        plain("krping-words", krpingtool.check, groups=("drawing",)),
        plain("resume", remembered),
        Part("runner", runnertest.check, seconds=60, groups=("mutants",)),
        plain("copies", copies.check),
        Part("model", judged([TOP / "tests/model/run"], 1800), seconds=200, files=lambda: static.files("^tests/model/"),
             beside=lambda: [static.says("spin", "-V"), static.says("gcc", "--version")], groups=("model",)),
        Part("makefiles", makefiles.check, seconds=30),
        Part("machine", machine.check, groups=("drawing",)),
        Part("ntr-server", ntrserver.check),
        Part("wire", wire.check),
        Part("dissector", dissector.check, groups=("wireshark",)),
        Part("record-file", recordfile.check, userspace=True, groups=("hdf5",)),
        Part("record-file-fuzz", recordfile.fuzz, long=True, seconds=300, userspace=True),
        Part("ntr-page", ntrpage.check, groups=("qemu",)),
        Part("library-headers", userspace.headers, groups=("narrow",)),
        plain("vrfmctl-words", userspace.vrfmctl_words),
        plain("library-symbols", userspace.symbols),
        Part("packages", packages.check, seconds=60, groups=("debian",)),
        Part("packages-install", packages.install, ("stock-6.1",), True, 1200, groups=("debian", "trees")),
        *[plain(f"build-{kernel.removeprefix('stock-')}", static.build(kernel, words), (kernel,), BUILDING)
          for kernel, words in MAKE.items()],
        plain("build-without-headers", static.build_without_headers),
        plain("install", static.install("stock-6.1", MAKE["stock-6.1"]), ("stock-6.1",)),
        kunit("uml"), kunit("uml-debug", True), kunit("debug-6.1", True),
        selftest("uml"), bench("uml"),
        Part("coverage-uml", coverage.run("uml"), ("uml",), seconds=40),
        *[selftest(kernel, True) for kernel in
          ("stock-6.1", "uml-debug", "debug-6.1", "stock-new", "stock-6.12", "stock-6.1-rt")],
        Part("demo", judged_by_last_line([TOP / "tools/demo"], "demo: ok"), ("stock-6.1",), True, 180),
        Part("demo-ntr", judged_by_last_line([TOP / "tools/demo", "ntr"], "demo: ok"), ("stock-6.1",), True, 240),
    ]
    return parts + list(scenarios())


def judged_by_last_line(argv, wanted):
    """Return a function that runs a command, which passes if its last line is WANTED."""
    def run(log):
        status = command.run(argv, log, 900, cwd=TOP)
        results = ktap.Results()
        good = status == 0 and last_line(log) == wanted
        (results.passed if good else results.failed).append(f"{argv[0].name}: {last_line(log)}")
        return results
    return run
