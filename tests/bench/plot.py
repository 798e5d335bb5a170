# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""Draw plots with gnuplot, as SVG for a page whose CSS defines the colours."""
import os
import re
import subprocess
import xml.etree.ElementTree as ET

from record import BenchError

SVG = "http://www.w3.org/2000/svg"
XLINK = "http://www.w3.org/1999/xlink"
WIDTH = 420
HEIGHT = 300
SECONDS = 60
# Colours that gnuplot is given, with the CSS value that replaces each in the page.
COLOURS = {"#010101": "var(--a)", "#020202": "var(--b)", "#030303": "var(--c)", "#040404": "var(--bad)",
           "#050505": "var(--goal)", "gray": "var(--grid)", "black": "currentColor", "white": "var(--card)"}
SERIES = ("#010101", "#020202", "#030303")
POINTS = (7, 5, 9)		# filled: circle, square, triangle
BAD, GOAL = "#040404", "#050505"
BASE = """set encoding utf8
set border 3 linewidth 0.7
set tics nomirror scale 0.5
set grid linewidth 0.5
set bars 0.6
set format "%.15g"
set rmargin 5
"""

ET.register_namespace("", SVG)
ET.register_namespace("xlink", XLINK)


def block(name, lines):
    """Return a data block called NAME, with words in quotes."""
    rows = [" ".join(f'"{word}"' if isinstance(word, str) else f"{word:.9g}" for word in line) for line in lines]
    return "\n".join([f"${name} << EOD", *rows, "EOD", ""])


def colour(element):
    """Move the colours of an element from attributes to its style, because only there CSS variables have an effect."""
    style = []
    for name in ("color", "stroke", "fill"):
        value = element.get(name, "")
        rgb = re.fullmatch(r"rgb\( *(\d+), *(\d+), *(\d+)\)", value)
        wanted = COLOURS.get("#" + "".join(f"{int(part):02x}" for part in rgb.groups()) if rgb else value)
        if wanted == "currentColor" and name == "color":
            wanted = "inherit"
        if wanted:
            del element.attrib[name]
            style.append(f"{name}:{wanted}")
    if style:
        element.set("style", ";".join(style))


def is_blank(element):
    """Check whether this is the white disc below a point with bars.  It would hide short bars and other curves."""
    return element.tag == f"{{{SVG}}}use" and element.get("color") == "white"


def adopt(text, name, title):
    """Prepare an SVG for a page with others: unique ids, a title, and the colours of the page."""
    root = ET.fromstring(text)
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in [f"{{{SVG}}}{tag}" for tag in ("desc", "filter", "title")] or is_blank(child):
                parent.remove(child)
    for element in root.iter():
        if "id" in element.attrib:
            element.set("id", f"{name}-{element.get('id')}")
        if element.get(f"{{{XLINK}}}href", "").startswith("#"):
            element.set(f"{{{XLINK}}}href", f"#{name}-{element.get(f'{{{XLINK}}}href')[1:]}")
        colour(element)
    root.set("role", "img")
    root.set("aria-label", title)
    return ET.tostring(root, encoding="unicode")


def draw(name, title, commands, height=HEIGHT):
    """Run gnuplot with COMMANDS; return the SVG."""
    head = f'set terminal svg size {WIDTH},{height} dynamic noenhanced font "sans-serif,13" linewidth 1.6\n'
    try:
        done = subprocess.run(["gnuplot", "-"], input=head + BASE + commands, stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.PIPE, timeout=SECONDS, check=False, encoding="utf-8",
                              env={**os.environ, "LC_ALL": "C"})
    except FileNotFoundError:
        raise BenchError("gnuplot is not installed, see tests/vm/packages") from None
    except subprocess.TimeoutExpired:
        raise BenchError(f"gnuplot: {title}: timeout after {SECONDS} s") from None
    if done.returncode or not done.stdout:
        raise BenchError(f"gnuplot: {title}: {' '.join(done.stderr.split())[-200:] or 'no plot'}")
    try:
        return adopt(done.stdout, name, title)
    except ET.ParseError as error:
        raise BenchError(f"gnuplot: {title}: {error}") from None


def lines(name, title, axes, curves):
    """Plot curves, each (label, points); a point is (x, y) or (x, y, low, high).  AXES: commands for gnuplot."""
    commands = axes + "set key above\n"
    parts = []
    for index, (label, points) in enumerate(sorted(curves, key=lambda curve: curve[0] == "raw")):
        commands += block(f"d{index}", points)
        style = f"lc rgb '{SERIES[index % 3]}' pt {POINTS[index % 3]} ps 0.55"
        bars = f"$d{index} using 1:2:3:4 with yerrorbars {style} notitle, " if len(points[0]) == 4 else ""
        parts.append(f"{bars}$d{index} using 1:2 with linespoints {style} title '{label}'")
    return draw(name, title, f"{commands}plot {', '.join(parts)}\n")


def ratios(name, title, things):
    """Plot a line for each (label, value, low, high, goal, met).  1 is as good as raw verbs, more is better."""
    outside = (-9, 1, 1, 1)		# a point that is not visible, because gnuplot refuses blocks without data
    commands = ""
    for kind, wanted in (("met", True), ("missed", False)):
        points = [(at, *thing[1:4]) for at, thing in enumerate(things) if thing[5] == wanted]
        commands += block(kind, points or [outside])
    commands += block("goal", [(at, thing[4]) for at, thing in enumerate(things)])
    commands += block("label", [(at, thing[0]) for at, thing in enumerate(things)])
    least = min(0.5, *(min(thing[2], thing[4]) * 0.9 for thing in things))
    most = max(2, *(max(thing[3], thing[4]) * 1.1 for thing in things))
    commands += f"""set logscale x
set xrange [{least:.9g}:{most:.9g}]
set yrange [{len(things) - 0.4}:-0.8]
set border 1
unset ytics
set grid noy
set xtics (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, "1" 1, 2, 5, 10, 20, 50, 100, 1000)
set arrow from 1,graph 0 to 1,graph 1 nohead lc rgb 'gray' lw 1.2
set xlabel "times as good (more is better)"
set key above
set lmargin 3
set rmargin 3
plot $goal using 2:($1-0.12):(0):(0.5) with vectors nohead lc rgb '{GOAL}' lw 2 title 'goal', \\
  $met using 2:($1+0.13):3:4 with xerrorbars lc rgb '{SERIES[0]}' pt 7 ps 0.7 title 'met', \\
  $missed using 2:($1+0.13):3:4 with xerrorbars lc rgb '{BAD}' pt 9 ps 0.9 title 'missed', \\
  $label using ({least:.9g}):($1-0.27):2 with labels left font ',12' notitle
"""
    return draw(name, title, commands, 100 + 40 * len(things))
