# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""Check the page that tools/bench --report makes of a recorded run; nothing is measured."""
import copy
import json
import pathlib
import re
import tempfile
import time
import xml.etree.ElementTree as ET

import command

TOP = pathlib.Path(__file__).resolve().parents[2]
BENCH = TOP / "tools/bench"
EXAMPLE = TOP / "tests/bench/example.json"
SVG_NAMES = "http://www.w3.org/2000/svg"
SVG = f"{{{SVG_NAMES}}}svg"
FIGURES = 14
SECONDS = 300
# Files that are not JSON, or not a result of tools/bench.
NONSENSE = {
    "nothing": "", "half": '{"rows": [', "binary": "\0\x01\x02", "no object": "[]", "no rows": '{"kernel": "uml"}',
    "deep": "[" * 100000, "no number": '{"rows": [], "rounds": NaN}',
    "huge": '{"rows": [], "rounds": 1' + "0" * 5000 + "}",
    "list of rows": '{"rows": {}}', "row": '{"rows": [1]}', "points": '{"rows": [], "points": [{"id": "curve/write-sizes"}]}',
    "host": '{"rows": [], "host": "me"}', "date": '{"rows": [], "date": "<b>"}',
}
# {name of a case: invalid values}. The values of a case replace those in a row of the example.
FORGED = {
    "markup": {"what": "<script>alert(1)</script>"}, "command": {"what": "`true`"}, "quote": {"topology": 'two" nodes'},
    "lines": {"what": "a\nEOD\nquit"}, "type": {"value": "1.0"}, "infinite": {"value": 1e400}, "truth": {"value": True},
    "operator": {"op": "=="}, "no turns": {"turns": {}}, "variant": {"turns": {"'": [{"n": 1}]}},
    "turn": {"turns": {"raw": [{"p50": "much"}]}}, "spread": {"spread": [1]},
}


def made(folder, text, log):
    """Make a page of the JSON in TEXT; return (exit status, lines that were printed)."""
    file, out = folder / "earlier.json", folder / "out"
    file.write_text(text, encoding="utf-8")
    out.unlink(missing_ok=True)
    status = command.run([BENCH, "--report", folder / "page", "--from", file], out, SECONDS, cwd=TOP)
    said = out.read_text(encoding="utf-8", errors="replace")
    with open(log, "a", encoding="utf-8") as stream:
        stream.write(said)
    return status, said.splitlines()[1:]


def wrong_with(folder):
    """Return the first fault of the page in FOLDER, or "" if it has none."""
    text = (folder / "index.html").read_text(encoding="utf-8")
    try:
        root = ET.fromstring(text)
    except ET.ParseError as error:
        return f"not well-formed: {error}"
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    if len(ids) != len(set(ids)):
        return "the same id twice"
    figures = list(root.iter("figure"))
    if len(figures) != FIGURES:
        return f"{len(figures)} figures"
    for figure in figures:
        if bool(list(figure.iter(SVG))) == ("No data" in "".join(figure.itertext())):
            return "a figure without a drawing must say No data, and only that one"
        if not all(word in "".join(figure.itertext()) for word in ("Machine:", "Kernel:", "Link:", "Date:", "Rounds:")):
            return "a figure without machine, kernel, link, date or rounds"
    if any("--card" in element.get("style", "") for element in root.iter(f"{{{SVG_NAMES}}}use")):
        return "points that hide bars and curves below them"
    if re.search(r"<script|\ssrc=|@import|url\(|\shref=.https?:", text) or 'name="viewport"' not in text:
        return "a reference to another host, or no viewport"
    return ""


def drawings(folder):
    """Return the number of drawings in the page."""
    return len(list(ET.parse(folder / "index.html").getroot().iter(SVG)))


def report_fails(folder, what, text, log, count):
    """Make a page, which must have COUNT drawings; return the problem, or ""."""
    status, lines = made(folder, text, log)
    if status != 0:
        return f"{what}: exit status {status}: {lines[-1:]}"
    problem = wrong_with(folder / "page")
    if problem:
        return f"{what}: {problem}"
    if (folder / "page/bench.json").read_text(encoding="utf-8") != text:
        return f"{what}: the JSON beside the page differs"
    found = drawings(folder / "page")
    return f"{what}: {found} drawings" if found != count else ""


def refusal_fails(folder, what, text, log):
    """Make a page of an invalid file, which must fail with one line that names the file; return the problem, or ""."""
    status, lines = made(folder, text, log)
    good = status == 1 and len(lines) == 1 and lines[0].startswith(f"bench: {folder / 'earlier.json'}: ")
    return "" if good else f"{what}: exit status {status}, {len(lines)} lines"


def output_fails(folder, what, words, log):
    """Measure into a file that cannot be written, which must fail before any build; return the problem, or ""."""
    out = folder / "out"
    out.unlink(missing_ok=True)
    begun = time.monotonic()
    status = command.run([BENCH, "--rows", "krdma/write-8B-p50", "--rounds", "1", *words], out, SECONDS, cwd=TOP)
    took = time.monotonic() - begun
    said = out.read_text(encoding="utf-8", errors="replace")
    with open(log, "a", encoding="utf-8") as stream:
        stream.write(said)
    lines = said.splitlines()[1:]
    good = status == 1 and len(lines) == 1 and lines[0].startswith(f"bench: {words[-1]}: ")
    return "" if good else f"{what}: exit status {status} after {took:.0f} s, {len(lines)} lines"


def forged(example, change):
    report = copy.deepcopy(example)
    report["rows"][0].update(change)
    return json.dumps(report)


def older(example):
    """Return the result as an older version wrote it: without times, points, host and commit."""
    report = {key: value for key, value in example.items() if key not in ("points", "host", "tree")}
    report["rows"] = copy.deepcopy(report["rows"])
    for row in report["rows"]:
        for turns in row["turns"].values():
            turns[:] = [{name: turn[name] for name in ("n", "ns") if name in turn} for turn in turns]
    return json.dumps(report)


def problems(folder, log):
    text = EXAMPLE.read_text(encoding="utf-8")
    example = json.loads(text)
    # The page of the example has 18 drawings: three of ratios, three of sizes, two of nodes, and two for each of five
    # latencies.
    yield report_fails(folder, "example", text, log, 18)
    yield report_fails(folder, "nothing measured", '{"rows": []}', log, 0)
    yield report_fails(folder, "older version", older(example), log, 3)
    for what, data in NONSENSE.items():
        yield refusal_fails(folder, what, data, log)
    yield output_fails(folder, "JSON in a missing folder", ("--json", folder / "no/x.json"), log)
    yield output_fails(folder, "JSON that is a folder", ("--json", folder), log)
    yield output_fails(folder, "page in a file", ("--report", folder / "earlier.json"), log)
    for what, change in FORGED.items():
        yield refusal_fails(folder, what, forged(example, change), log)


def check(log):
    with tempfile.TemporaryDirectory() as name:
        found = [problem for problem in problems(pathlib.Path(name), log) if problem]
    with open(log, "a", encoding="utf-8") as stream:
        stream.writelines(f"wrong: {problem}\n" for problem in found)
    return not found
