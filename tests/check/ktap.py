# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""Read the results of cases from KTAP, as tests print it and tools/vm forwards it."""
import collections
import dataclasses
import fnmatch
import pathlib
import re
import sys

NODE = re.compile(r"^n(\d+)\| ?")
RESULT = re.compile(r"^(not ok|ok) (\d+)\s*(?:- )?(.*)$")
PLAN = re.compile(r"^1\.\.(\d+)\b")
SUBTEST = re.compile(r"^# Subtest: (.+)$")
INDENT = "    "
SKIPS = pathlib.Path(__file__).resolve().parent.parent / "skips"


@dataclasses.dataclass
class Results:
    """The cases of a part by outcome, each a line to print."""
    passed: list = dataclasses.field(default_factory=list)
    failed: list = dataclasses.field(default_factory=list)
    skipped: list = dataclasses.field(default_factory=list)

    def count(self):
        return f"{len(self.passed)} passed, {len(self.failed)} failed, {len(self.skipped)} skipped"

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped


def split_node(line):
    """Return (node, rest) of a line of tools/vm; the node is empty if the line belongs to none."""
    match = NODE.match(line)
    if not match:
        return "", line
    return f"n{match.group(1)}: ", line[match.end():]


def take(results, where, word, text):
    """Add a result line to RESULTS; WHERE is its node and subtest."""
    description, _, directive = text.partition("# ")
    name = f"{where}{description.strip()}"
    if directive.upper().startswith("SKIP"):
        results.skipped.append(name)
    elif word == "ok":
        results.passed.append(name)
    else:
        results.failed.append(name)


def parse(text, level=0, planned=True):
    """Return the results of the cases at a depth of nesting; if PLANNED, the plan of each node must match them."""
    results = Results()
    seen = collections.Counter()
    plans = collections.Counter()
    subtest = {}
    for line in text.splitlines():
        node, rest = split_node(line)
        if not rest.startswith(INDENT * level) or rest.startswith(INDENT * level + " "):
            continue
        rest = rest[len(INDENT) * level:]
        result, plan, begun = RESULT.match(rest), PLAN.match(rest), SUBTEST.match(rest)
        if begun:
            subtest[node] = f"{begun.group(1)}: "
        where = f"{node}{subtest.get(node, '')}"
        if plan:
            plans[where] += int(plan.group(1))
        if result:
            seen[where] += 1
            take(results, where, result.group(1), result.group(3))
    if planned:
        results.failed += complaints(seen, plans)
    return results


def complaints(seen, plans):
    """Return the nodes whose plan does not match their results, so that cases that did not run count as failed."""
    found = [f"{where}plan of {plans[where]}, but {seen[where]} results"
             for where in plans if plans[where] != seen[where]]
    found += [f"{where}no plan: it ended early" for where in seen if where not in plans]
    return found


def allowed_skips():
    """Return the (part, case) patterns of tests/skips, where each line gives a reason after a "#"."""
    lines = [line for line in SKIPS.read_text(encoding="utf-8").splitlines() if line.strip() and line[0] != "#"]
    found = [re.match(r"(\S+)\s+([^#]*[^#\s])\s*#\s*\S", line) for line in lines]
    if None in found:
        sys.exit(f"check: {SKIPS}: not PART CASE # REASON: {lines[found.index(None)]}")
    return [match.groups() for match in found]


def judge_skips(name, results):
    """Count a skip of the part NAME that tests/skips does not list as a failure; return RESULTS."""
    allowed = allowed_skips()
    for case in list(results.skipped):
        if not any(fnmatch.fnmatch(name, part) and fnmatch.fnmatch(case, pattern) for part, pattern in allowed):
            results.skipped.remove(case)
            results.failed.append(f"{case}: skipped, but not listed in tests/skips")
    return results
