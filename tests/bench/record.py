# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""Read the JSON of a run and check all of it. It may be from an older version, incomplete, or malicious."""
import json
import math
import re

SIZE_MAX = 64 << 20
# Strings for gnuplot and the page must match one of these patterns, so they contain no quote, backslash or line end.
TEXT = re.compile(r"[\w ./%(),:+@~-]{1,120}")
NAME = re.compile(r"[a-z_]{1,16}[0-9]{0,4}")
ID = re.compile(r"[a-z]{1,16}/[\w.-]{1,40}|[A-Z][0-9]{1,3}")	# second form: before version 0.2
DATE = re.compile(r"\d{4}-\d\d-\d\d[0-9T:+.Z-]{0,30}")


class BenchError(Exception):
    """An error that is printed as one line."""


def number(value):
    return (isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e18 and
            math.isfinite(value))


def natural(value):
    return number(value) and isinstance(value, int) and value >= 0


def matches(pattern):
    return lambda value: isinstance(value, str) and pattern.fullmatch(value) is not None


def many(check, least=0, most=10000):
    return lambda value: isinstance(value, list) and least <= len(value) <= most and all(check(item) for item in value)


def optional(check):
    return lambda value: value is None or check(value)


def turns(value):
    """Check whether VALUE is {variant: [{name: number} of each round]}."""
    return (isinstance(value, dict) and value and all(matches(NAME)(name) for name in value) and
            all(many(turn, 1)(rounds) for rounds in value.values()))


def turn(value):
    return isinstance(value, dict) and all(matches(NAME)(name) and number(item) for name, item in value.items())


text = matches(TEXT)
# Required members of objects in a report, each with the function that checks its value.
ROW = {"id": matches(ID), "what": text, "value": number, "goal": optional(number), "op": ("<=", ">=").__contains__,
       "samples": many(number, 1), "spread": many(number, 2, 2), "topology": text, "turns": turns}
POINT = {"id": matches(ID), "what": text, "size": natural, "topology": text, "turns": turns}
HOST = {"processor": optional(text), "cpus": optional(natural), "release": optional(text)}
# Optional members of a report, each with the function that checks its value.
REPORT = {"kernel": text, "release": text, "link": text, "security": text, "tree": text, "mtu": natural, "hz": natural,
          "cpus": natural, "rounds": natural, "date": matches(DATE), "load_before": many(number, 3, 3),
          "load_after": many(number, 3, 3)}


def check(thing, fields, where):
    if not isinstance(thing, dict):
        raise BenchError(f"{where}: not an object")
    for name, good in fields.items():
        if name not in thing:
            raise BenchError(f"{where}: no {name}")
        if not good(thing[name]):
            raise BenchError(f"{where}: invalid {name}")


def check_list(report, name, fields, where):
    things = report.get(name, [])
    if not isinstance(things, list):
        raise BenchError(f"{where}: {name} is not a list")
    for index, thing in enumerate(things):
        check(thing, fields, f"{where}: {name}[{index}]")
    return things


def refuse(word):
    raise ValueError(f"{word} is not a number")


def parse(data, where):
    """Return the report in a JSON; missing members are None, missing lists are empty."""
    try:
        report = json.loads(data, parse_constant=refuse)
    except RecursionError:
        raise BenchError(f"{where}: too deep") from None
    except ValueError as error:
        raise BenchError(f"{where}: not JSON: {error}") from None
    if not isinstance(report, dict) or "rows" not in report:
        raise BenchError(f"{where}: not written by tools/bench: no rows")
    known = {name: report.get(name) for name in REPORT}
    check(known, {name: optional(good) for name, good in REPORT.items()}, where)
    host = report.get("host") or dict.fromkeys(HOST)
    check(host, HOST, f"{where}: host")
    return {**known, "host": host, "rows": check_list(report, "rows", ROW, where),
            "points": check_list(report, "points", POINT, where)}


def read(file):
    """Return the content of a file."""
    try:
        with open(file, encoding="utf-8") as stream:
            data = stream.read(SIZE_MAX + 1)
    except OSError as error:
        raise BenchError(f"{file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BenchError(f"{file}: not UTF-8") from None
    if len(data) > SIZE_MAX:
        raise BenchError(f"{file}: longer than {SIZE_MAX} bytes")
    return data
