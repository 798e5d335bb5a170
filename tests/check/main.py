# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""Run the parts of the check, and print their results.  tools/check starts this program."""
import argparse
import fnmatch
import math
import os
import pathlib
import re
import sys
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "vm"))

import command  # noqa: E402
import ktap  # noqa: E402
import memory  # noqa: E402
import mutants  # noqa: E402
import parts as all_parts  # noqa: E402
from rig import cache, need  # noqa: E402

WORKERS = 3			# parts at a time on two processors, because machines are mostly idle
LONG_WORKERS = 2		# parts at a time with --long, because kernels with debugging checks are not idle
GUARANTEE = re.compile(r"[GS]\d+")	# a guarantee of Documentation/vrfm.rst or security.rst
PYTEST = ("-c", os.devnull, f"--rootdir={HERE}", "-pxdist", "-pplugin", "-pmemory", "--assert=plain", "-q", "-s", "--tb=no")


def arguments():
    """Return the parsed arguments; those for pytest are in the list "pytest"."""
    argv = sys.argv[1:]
    end = argv.index("--") if "--" in argv else len(argv)
    parser = argparse.ArgumentParser(prog="tools/check",
                                     description="Run all checks, or those whose name contains or matches NAME.",
                                     epilog="Options behind -- are for pytest, such as: -- -k 'krping and not uml' --lf "
                                     "--durations=9 --junitxml=FILE")
    parser.add_argument("names", nargs="*", metavar="NAME", help="such as build, kunit-uml or 'connect*uml*'; "
                        "G1 to G10, S1 to S10: the scenarios for a guarantee of vrfm or of security")
    parser.add_argument("-V", "--version", action="version", version=f"%(prog)s {need.version()}")
    parser.add_argument("--list", action="store_true", help="print the names of all parts")
    parser.add_argument("--long", action="store_true", help="also run every scenario on every kernel, and long runs")
    parser.add_argument("--resume", action="store_true",
                        help="skip parts that have passed with the same files; the tree must be committed; "
                        "for --long and --mutants, which take hours")
    parser.add_argument("--within", type=float, default=math.inf, metavar="MINUTES",
                        help="skip the parts that have not begun MINUTES after the start, with a line for each")
    parser.add_argument("--mutants", action="store_true",
                        help="apply each mutant of tests/mutants to a copy of the tree; its test must fail")
    args = parser.parse_args(argv[:end])
    args.pytest = argv[end + 1:]
    return args


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


def select(args):
    known = all_parts.everything()
    full = {part.name for part in known}
    chosen = [part for part in known if wanted(part, args, full)]
    unknown = [name for name in args.names if not any(matches(part, name, full) for part in chosen)]
    if unknown:
        sys.exit(f"check: nothing is called {' '.join(unknown)}, or only with --long; see --list")
    return chosen


def run(args, chosen):
    """Run parts by pytest; return their results."""
    import pytest  # pylint: disable=import-outside-toplevel  # --help works before its package is installed
    import plugin  # pylint: disable=import-outside-toplevel
    ktap.allowed_skips()
    if args.resume and not memory.tree(all_parts.TOP):
        sys.exit("check: --resume needs a tree of which all is committed")
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    logs = command.log_folder(cache.root())
    for file in logs.glob("*.kernel"):
        file.unlink()
    # Parts without a kernel come first, because building a kernel takes time.  Long parts come before short ones.
    chosen = sorted(chosen, key=lambda part: (bool(part.kernels), -part.seconds))
    report = plugin.Report({part.name: part.kernels for part in chosen}, logs, args.within)
    code = pytest.main([*PYTEST, f"-n{min(len(chosen), LONG_WORKERS if args.long else WORKERS)}", f"--logs={logs}",
                        f"--recall={'all' if args.resume else 'none' if args.names else 'listed'}",
                        f"-ocache_dir={cache.root()}/pytest/{cache.digest(str(HERE))}", *args.pytest,
                        *(f"{HERE}/test_parts.py::test_part[{part.name}]" for part in chosen)], [report])
    if not command.stopping.is_set() and report.left():
        report.results.failed.append(f"{report.left()} parts without a result")
    elif not command.stopping.is_set() and code and not report.results.failed:
        report.results.failed.append(f"pytest ended with {code}")
    return report.results


def main():
    args = arguments()
    if args.list:
        for part in all_parts.everything():
            print(f"{part.name}{when(part)}")
        return 0
    command.catch_signals()
    start = time.monotonic()
    parts = all_parts.everything() if args.mutants else select(args)
    need.packages("tools/check", "check", *all_parts.groups(parts))
    if args.mutants:
        results = mutants.check(args.names, parts, args.resume)
    else:
        results = run(args, parts)
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
