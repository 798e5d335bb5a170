# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""Write the page of tools/bench --report, one file of well-formed XML that refers to no other host.

A figure without data has the text "No data" and the reason.
"""
import html
import re
import statistics

import plot
import rows as all_rows
from record import BenchError

PAGE = "index.html"
JSON = "bench.json"
# Rows for which the page draws the latency: {id of the row: operation that it measures}.
LATENCIES = {
    "krdma/write-8B-p50": "Synchronous WRITE of 8 bytes",
    "krdma/sendrecv-64B-p50": "Round trip of a message of 64 bytes",
    "vrfm/write-8B-rtt": "Round trip of 8 bytes by write() to vrfm",
    "vrfm/mmap-8B-rtt": "Round trip of 8 bytes by stores into mappings of vrfm",
    "vrfm/event-rtt": "Round trip of an event of vrfm",
    "ntr/write-8B-vs-rxe": "Synchronous WRITE of 8 bytes over ntrdma and rxe",
}
DISTRIBUTION = {"min": 0, "p1": 1, "p5": 5, "p10": 10, "p25": 25, "p50": 50, "p75": 75, "p90": 90, "p95": 95, "p99": 99,
                "p999": 99.9, "max": 100}
TAIL = {"p50": "50", "p90": "90", "p99": "99", "p999": "99.9", "max": "max"}
CSS = """
:root { color-scheme: light dark; --page: #fcfcfa; --ink: #1d2125; --soft: #59636e; --line: #d8dce0; --card: #ffffff;
 --a: #0b62c4; --b: #c2570c; --c: #3b7d1e; --bad: #c1121f; --goal: #7a7f87; --grid: #c3c8cd; --good: #1a7f37; }
@media (prefers-color-scheme: dark) {
 :root { --page: #14171a; --ink: #e4e7ea; --soft: #9aa4af; --line: #343a41; --card: #1b1f24;
 --a: #6cb0ff; --b: #ffa657; --c: #8bd46a; --bad: #ff7b72; --goal: #a3abb5; --grid: #4a525b; --good: #56d364; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 76rem; background: var(--page); color: var(--ink);
 font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1, h2, h3 { line-height: 1.25; margin: 1.5rem 0 .5rem; }
h1 { font-size: 1.6rem; margin-top: .5rem; } h2 { font-size: 1.25rem; } h3 { font-size: 1rem; margin-top: 0; }
a { color: var(--a); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: .5rem 0; }
dt, .context { color: var(--soft); } dd { margin: 0; }
.context, caption { font-size: .8rem; line-height: 1.4; text-align: left; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 1rem; }
figure { margin: 0; padding: .75rem; border: 1px solid var(--line); border-radius: .5rem; background: var(--card);
 min-width: 0; }
figure.pair { grid-column: 1 / -1; }
div.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr)); gap: 0 1rem; }
figcaption p { margin: .25rem 0; }
svg { display: block; width: 100%; max-width: 36rem; height: auto; margin: .5rem auto; color: var(--ink); }
svg text { stroke: var(--card); stroke-width: 3px; stroke-linejoin: round; paint-order: stroke; }
.none { padding: 1.5rem 0; color: var(--soft); font-style: italic; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .5rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
.number { text-align: right; white-space: nowrap; }
caption { caption-side: bottom; color: var(--soft); padding-top: .4rem; }
.met { color: var(--good); } .missed { color: var(--bad); font-weight: 600; }
summary { cursor: pointer; } details { font-size: .85rem; }
.scroll { overflow-x: auto; overflow-wrap: normal; } .scroll td:first-child { min-width: 4rem; }
.scroll td.long { min-width: 9rem; } .scroll th { white-space: nowrap; } .scroll th + th { text-align: right; }
@media (max-width: 42rem) {
 .goals thead { display: none; } .goals tr { display: block; padding: .5rem 0; border-bottom: 1px solid var(--line); }
 .goals td { display: inline; padding: 0; border: 0; } .goals td.what { display: block; }
 .goals td + td.number::before { content: attr(data-is) " "; color: var(--soft); font-weight: 400; }
 .goals td::after { content: "\\2002"; }
}
"""


def esc(text):
    return html.escape(str(text))


def tag(name, content, **attributes):
    """Return an element with CONTENT, which is markup, and attributes, which are text."""
    said = "".join(f' {key.rstrip("_").replace("_", "-")}="{esc(value)}"' for key, value in attributes.items())
    return f"<{name}{said}>{content}</{name}>"


def said(value, unit=""):
    return "not recorded" if value is None or value == 0 else f"{value}{unit}"


def day(report):
    return said(report["date"] and report["date"].replace("T", " ").replace("+00:00", " UTC"))


def context(report):
    """Return the conditions of the measurement, which are printed below each figure."""
    host = report["host"]
    return (f"Machine: {said(host['processor'])}, {said(host['cpus'])} processors. Kernel: {said(report['kernel'])} "
            f"({said(report['release'])}). Link: {said(report['link'])}, MTU {said(report['mtu'])}. "
            f"Date: {day(report)}. Rounds: {said(report['rounds'])}.")


# --- figures ---

def figure(report, title, words, drawings, table=None):
    """Return a figure; DRAWINGS is a list of SVG, or the reason why there are none."""
    shown = tag("p", f"No data: {esc(drawings)}.", class_="none") if isinstance(drawings, str) else "".join(drawings)
    kind = "one" if isinstance(drawings, str) or len(drawings) == 1 else "pair"
    shown = tag("div", shown, class_=kind)
    more = ""
    if table:
        more = tag("details", tag("summary", "Numbers") + tag("div", grid(*table), class_="scroll"))
    head = tag("figcaption", tag("h3", esc(title)) + (tag("p", esc(words)) if words else ""))
    return tag("figure", head + shown + more + tag("p", esc(context(report)), class_="context"), class_=kind)


def grid(head, lines):
    """Return a table of words and numbers."""
    def cell(value):
        if isinstance(value, str):
            return tag("td", esc(value), class_="long" if len(value) > 16 else "number" if value == "-" else "text")
        return tag("td", f"{value:.4g}" if abs(value) < 1000 else f"{value:.0f}", class_="number")
    body = "".join(tag("tr", "".join(cell(value) for value in line)) for line in lines)
    return tag("table", tag("thead", tag("tr", "".join(tag("th", esc(name), scope="col") for name in head))) +
               tag("tbody", body))


def median_of(turns, name):
    """Return the median over the rounds; None if a round does not have that number."""
    values = [turn.get(name) for turn in turns]
    return None if None in values else statistics.median(values)


def distribution(turns):
    """Return [(percentile, us, name)] of the recorded percentiles, in ascending order; older runs have fewer."""
    found = [(at, median_of(turns, name), name) for name, at in DISTRIBUTION.items()]
    return [(at, value / 1000, name) for at, value, name in found if value]


def anchor(name):
    """Return the id that an element of the page has for the row NAME."""
    return name.replace("/", "-")


def latency_row(report, name):
    """Return the row called NAME that has percentiles, preferably with two nodes; None if there is none."""
    good = [row for row in report["rows"] if row["id"] == name and
            all(len(distribution(turns)) > 1 for turns in row["turns"].values())]
    return max(good, key=lambda row: row["topology"] == all_rows.TWO, default=None)


def latency_figure(report, name, title):
    row = latency_row(report, name)
    if not row:
        return figure(report, title, "", f"{name} was not measured, or has no percentiles")
    points = {variant: distribution(turns) for variant, turns in row["turns"].items()}
    tail = list(TAIL)
    cdf = plot.lines(f"cdf-{anchor(name)}", f"{title}: cumulative distribution",
                     'set logscale x\nset xlabel "µs"\nset ylabel "% not above"\nset yrange [0:100]\n',
                     [(variant, [(us, at) for at, us, _ in line]) for variant, line in points.items()])
    places = ", ".join(f'"{TAIL[key]}" {index}' for index, key in enumerate(tail))
    percentiles = plot.lines(f"tail-{anchor(name)}", f"{title}: percentiles",
                             f'set logscale y\nset xlabel "percentile"\nset ylabel "µs"\nset xtics ({places})\n'
                             f'set xrange [-0.3:{len(tail) - 0.7}]\n',
                             [(variant, [(tail.index(key), us) for _, us, key in line if key in tail])
                              for variant, line in points.items()])
    table = (["µs", *points], [[key, *[dict((k, us) for _, us, k in line).get(key, "-") for line in points.values()]]
                               for key in DISTRIBUTION])
    words = f"{name}, {row['topology']}. Each point is the median of the rounds."
    return figure(report, title, words, [cdf, percentiles], table)


def curve_points(report, name):
    return [point for point in report["points"] if point["id"] == name]


def spread(values):
    return statistics.median(values), min(values), max(values)


def megabytes(turns, size):
    """Return (median, minimum, maximum) of the rounds in MB/s; None if a round does not have the numbers."""
    if any(not turn.get("ns") or "n" not in turn for turn in turns):
        return None
    return spread([turn["n"] * size * 1000 / turn["ns"] for turn in turns])


def curves_of(points, place, value):
    """Return [(variant, [(x, median, minimum, maximum)])] of points that have values above 0."""
    curves = {}
    for point in points:
        for variant, turns in point["turns"].items():
            found = value(turns, point["size"])
            if found and min(found) > 0:
                curves.setdefault(variant, []).append((place(point), *found))
    return [(variant, sorted(line)) for variant, line in curves.items()]


def curve_table(first, unit, curves):
    return (["variant", first, unit, "least", "most"],
            [[variant, x, *values] for variant, line in curves for x, *values in line])


def curve_figure(report, name, title, words, place, value, axes, labels):
    """Return a figure of the points called NAME; PLACE and VALUE return x and y of a point, LABELS names them."""
    points = [point for point in curve_points(report, name) if place(point)]
    curves = curves_of(points, place, value)
    if not curves:
        return figure(report, title, words, f"{name} was not measured")
    where = ", ".join(dict.fromkeys(point["topology"] for point in points))
    drawing = plot.lines(f"curve-{anchor(name)}", title, axes, curves)
    return figure(report, title, f"{name}, {where}. {words}", [drawing], curve_table(*labels, curves))


OVER_SIZE = """set logscale xy
set xlabel "bytes of an operation"
set ylabel "MB/s"
set xtics ("64" 64, "256" 256, "1K" 1024, "4K" 4096, "16K" 16384, "64K" 65536, "256K" 262144, "1M" 1048576)
"""


def over_size(report, name, title, words):
    return curve_figure(report, name, title, words, lambda point: point["size"], megabytes, OVER_SIZE,
                        ("bytes", "MB/s"))


OVER_RINGS = """set logscale x 2
set xlabel "bytes of a ring"
set ylabel "MB/s"
set yrange [0:*]
set xtics ("64K" 65536, "256K" 262144, "1M" 1048576, "4M" 4194304, "16M" 16777216)
"""


def messages(turns, _):
    """Return the rate of WRITEs of 64 KiB as megabytes() does; the size of a point is that of a ring."""
    return megabytes(turns, 1 << 16)


def over_rings(report, name, title, words):
    return curve_figure(report, name, title, words, lambda point: point["size"], messages, OVER_RINGS,
                        ("bytes", "MB/s"))


def over_nodes(report, name, title, words, value, unit):
    axes = f'set xlabel "nodes"\nset ylabel "{unit}"\nset xtics 1\nset yrange [0:*]\nset offsets 0.2, 0.2, 0, 0\n'
    return curve_figure(report, name, title, words, lambda point: all_rows.NODES.get(point["topology"]), value, axes,
                        ("nodes", unit))


def round_trip(turns, _):
    times = [turn.get("p50") for turn in turns]
    return None if None in times else spread([time / 1000 for time in times])


def compares(row):
    """Check whether a row has a goal, and its value is the ratio of two variants."""
    return (row["goal"] is not None and len(row["turns"]) > 1 and re.search(r"[a-z]/[a-z]", row["what"]) and
            min(row["value"], row["goal"], *row["spread"]) > 0)


def times_as_good(row):
    """Return (label, value, minimum, maximum, goal, met); the numbers are inverted if less is better."""
    values = [row["value"], *row["spread"], row["goal"]]
    if row["op"] == "<=":
        values = [1 / values[0], 1 / values[2], 1 / values[1], 1 / values[3]]
    return (f"{row['id']} {row['what']}, {row['topology']}", *values, met(row))


def ratio_figure(report, module, title, words):
    things = [times_as_good(row) for row in report["rows"] if row["id"].startswith(f"{module}/") and compares(row)]
    if not things:
        return figure(report, title, words, f"no row {module}/ with a ratio was measured")
    table = (["what", "times as good", "least", "most", "goal"], [[thing[0], *thing[1:5]] for thing in things])
    return figure(report, title, words, [plot.ratios(f"ratio-{module}", title, things)], table)


# --- goals ---

def met(row):
    return row["value"] <= row["goal"] if row["op"] == "<=" else row["value"] >= row["goal"]


def unsure(row):
    return min(row["spread"]) < row["goal"] < max(row["spread"])


def verdict_of(row):
    """Return the goal of a row as text, and whether it was met."""
    if row["goal"] is None:
        return "-", "reported"
    goal = f"{'≤' if row['op'] == '<=' else '≥'} {row['goal']:.2f}"
    return goal, ("met" if met(row) else "missed") + (" ?" if unsure(row) else "")


def goal_line(row):
    goal, verdict = verdict_of(row)
    low, high = row["spread"]
    return tag("tr", tag("td", esc(f"{row['id']} {row['what']}, {row['topology']}"), class_="what") +
               tag("td", f"{row['value']:.2f}", class_="number", data_is="value") +
               tag("td", esc(goal), class_="number", data_is="goal") +
               tag("td", f"{low:.2f} to {high:.2f}", class_="number", data_is="rounds") +
               tag("td", verdict, class_=verdict.split()[0]))


def goals(report):
    if not report["rows"]:
        return tag("p", "No data: no row was measured.", class_="none")
    head = "".join(tag("th", name, scope="col", class_=kind) for name, kind in
                   (("What", "what"), ("Value", "number"), ("Goal", "number"), ("Rounds", "number"), ("", "verdict")))
    return tag("table", tag("caption", esc(context(report))) + tag("thead", tag("tr", head)) +
               tag("tbody", "".join(goal_line(row) for row in report["rows"])), class_="goals")


def missing(report):
    """Return the rows that this version measures, but the run does not have."""
    there = {(row["id"], row["what"], row["topology"]) for row in report["rows"]}
    names = [f"{row.id} {row.what}, {topology}" for row in all_rows.ROWS for topology in row.topologies
             if (row.id, row.what, topology) not in there]
    if not names:
        return ""
    return tag("details", tag("summary", f"Not measured: {len(names)} rows") +
               tag("ul", "".join(tag("li", esc(name)) for name in names)))


def facts(report):
    host = report["host"]
    loads = [report["load_before"], report["load_after"]]
    lines = {
        "Machine": f"{said(host['processor'])}, {said(host['cpus'])} processors, Linux {said(host['release'])}",
        "Kernel": f"{said(report['kernel'])}: Linux {said(report['release'])}, {said(report['hz'])} Hz, "
                  f"processors of a node: {said(report['cpus'])}",
        "Link": f"{said(report['link'])}, MTU {said(report['mtu'])}",
        "Level of security": said(report["security"]),
        "Date": day(report), "Rounds": said(report["rounds"]), "Commit": said(report["tree"]),
        "Load": "not recorded" if None in loads else f"{loads[0][0]:.2f} before, {loads[1][0]:.2f} after",
    }
    return tag("dl", "".join(tag("dt", name) + tag("dd", esc(text)) for name, text in lines.items()))


def sections(report):
    """Yield (title, words, markup of figures) of each section."""
    yield ("Comparison with hand-written verbs code",
           "The line at 1 is hand-written RDMA verbs code, or the variant that the row names, measured alternately in the "
           "same kernel. Values to the right are better. Bars extend from the worst round to the best.",
           ratio_figure(report, "krdma", "krdma against raw verbs", "") +
           ratio_figure(report, "vrfm", "vrfm, as programs use it", "") +
           ratio_figure(report, "ntr", "ntrdma against rxe, siw, and a ring with nothing around it", ""))
    yield ("Latency",
           "The first plot is the cumulative distribution, the second the tail. Both axes of time are logarithmic.",
           "".join(latency_figure(report, name, title) for name, title in LATENCIES.items()))
    yield ("Throughput over size", "",
           over_size(report, "curve/write-sizes", "krdma: WRITE stream", "16 in flight.") +
           over_size(report, "curve/vrfm-write-sizes", "vrfm: write()", "Time until the peer has all data. raw: RDMA WRITE from user space."))
    yield ("Size of the rings of ntrdma", "",
           over_rings(report, "curve/ntr-ring-sizes", "ntrdma: WRITE stream of 64 KiB",
                      "16 in flight, two namespaces of one kernel. ring: a bare ring of the same size."))
    words = "All nodes share the processors of one host, so more machines would scale differently."
    yield ("Scaling over nodes", words,
           over_nodes(report, "curve/vrfm-nodes-bw", "One node writes 4 KiB blocks to all others",
                      "Rate of the writer; each of the others receives all data.", megabytes, "MB/s") +
           over_nodes(report, "curve/vrfm-nodes-rtt", "Round trip of 8 bytes with one node",
                      "Median; all other nodes also receive the bytes.", round_trip, "µs"))


def body(report):
    judged = [row for row in report["rows"] if row["goal"] is not None]
    good = sum(met(row) for row in judged)
    yield tag("h1", "krdma, measured")
    yield facts(report)
    yield tag("p", f"All numbers: {tag('a', JSON, href=JSON)}.")
    yield tag("h2", f"Goals: {good} of {len(judged)} met")
    yield tag("p", "The value is the median of the rounds. A question mark means that rounds are on both sides of the "
              "goal, because the machine was too busy.")
    yield goals(report) + missing(report)
    for title, words, figures in sections(report):
        yield tag("h2", title)
        if words:
            yield tag("p", words)
        yield tag("div", figures, class_="figures")


def write(folder, report):
    """Write the page into the folder."""
    head = ('<meta charset="utf-8"/>\n<meta name="viewport" content="width=device-width, initial-scale=1"/>\n'
            f"<title>krdma, measured</title>\n<style>{CSS}</style>\n")
    text = "\n".join(["<!DOCTYPE html>", '<html lang="en">', tag("head", head), tag("body", "\n".join(body(report))),
                      "</html>", ""])
    try:
        (folder / PAGE).write_text(text, encoding="utf-8")
    except OSError as error:
        raise BenchError(f"{folder / PAGE}: {error.strerror}") from None


def prepare(folder):
    """Check that the page can be written, before an hour of measuring."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / PAGE).touch()
    except OSError as error:
        raise BenchError(f"{folder}: {error.strerror}") from None
