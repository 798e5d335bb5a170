# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""Tests of tools/krping with recorded results, its plots by gnuplot, and its arguments. No kernel is needed."""
import contextlib
import copy
import errno
import importlib.machinery
import importlib.util
import io
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET

TOP = pathlib.Path(__file__).resolve().parents[2]
TOOL = TOP / "tools/krping"
PAGE = TOP / "Documentation/krping.rst"
EXAMPLE = TOP / "tests/check/krping.json"
SVG = "{http://www.w3.org/2000/svg}"
SECONDS = 120
WORDS = {
    "client 10.56.0.1": "client,addr=10.56.0.1,port=9999",
    "client fe80::1%eth0 port=7 rlat count=3": "client,addr6=fe80::1%eth0,port=7,rlat,count=3",
    "server size=4096 verify=crc": "server,port=9999,size=4096,verify=crc",
    "client 10.56.0.1 -o x.json count=3 --quiet rlat": "client,addr=10.56.0.1,port=9999,count=3,rlat",
    "client 10.56.0.1 rlat -U x": "client,addr=10.56.0.1,port=9999,samples=1000000,rlat",
    "client 10.56.0.1 -U x samples=5": "client,addr=10.56.0.1,port=9999,samples=5",
    "stop all": "stop=all",
    "list": "list",
    "blk server bio_target=null": "server,port=9998,bio_target=null",
    "blk client 10.56.0.1 port=7 bio_dev=ram:64M": "client,addr=10.56.0.1,port=7,bio_dev=ram:64M",
    "blk client fe80::1%eth0 bio_dev=ram:1M": "client,addr=fe80::1%eth0,port=9998,bio_dev=ram:1M",
    "blk stop 3": "stop=3",
    "blk stop all --force": "stop=all,force",
    "blk list": "list",
}
WRONG_WORDS = ("", "client", "nothing", "client 10.56.0.1 a,b", "server size=64,client", "-f pdf list", "stop", "list -f pdf", "server -U x",
               "blk", "blk nothing", "blk client", "blk server a,b", "blk stop", "blk server -U x", "stop 1 --force")
# Files that are not JSON, or not a result of krping.
NONSENSE = {
    "nothing": b"", "half": b'{"run": 1', "binary": b"\0\x01\xff\xfe", "no object": b"[]", "number": b"7",
    "deep": b"[" * 100000, "no sizes": b'{"run": 1, "clients": 1, "failed": 0, "role": "", "test": "", "device": ""}',
    "huge": b'{"run": 1' + b"0" * 5000 + b"}",
}
# Invalid values, each under the name of its case. Those of FORGED replace values of the example, those of FORGED_PART
# replace values of its first size.
FORGED = {"run": {"run": "1"}, "truth": {"run": True}, "lines": {"device": "a\nquit"}, "sizes": {"sizes": {}},
          "size": {"sizes": [7]}}
FORGED_PART = {"size": {"size": "64"}, "negative": {"ops": -1}, "fraction": {"p50_ns": 1.5}, "list": {"log2_ns": []},
               "bits": {"log2_ns": {"x": 1}}, "many bits": {"log2_ns": {"9" * 5000: 1}}, "digits": {"log2_ns": {"\u0664": 1}}, "count": {"log2_ns": {"9": "1"}}}


class Wrong(Exception):
    """Raised when a result is not as expected."""


def tool(*words, **env):
    """Run the tool with ENV in its environment; return (exit status, stdout, stderr)."""
    done = subprocess.run([sys.executable, TOOL, *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          errors="replace", check=False, timeout=SECONDS, env={**os.environ, **env})
    return done.returncode, done.stdout, done.stderr


def expect(condition, what):
    if not condition:
        raise Wrong(what)


def refused(what, status, *words):
    """Check that the tool ends with this exit status, and prints the reason in one line."""
    got, out, err = tool(*words)
    expect(got == status and not out and err.startswith("krping: ") and err.count("\n") == 1,
           f"{what}: exit status {got}, {err or out!r}")


def write(file, result):
    file.write_text(json.dumps(result), encoding="utf-8")
    return file


def check_words():
    for words, wanted in WORDS.items():
        expect(tool("--dry-run", *words.split()) == (0, wanted + "\n", ""), words)
    for words in WRONG_WORDS:
        status, out, err = tool("--dry-run", *words.split())
        expect(status == 2 and not out and "Traceback" not in err, f"'{words}' is taken")


def check_text(result):
    status, out, err = tool("show", EXAMPLE)
    rows = [line.split() for line in out.splitlines()[2:]]
    expect(status == 0 and not err, f"text: {err}")
    expect([row[:2] for row in rows] == [[str(part["size"]), str(part["ops"])] for part in result["sizes"]], "text: sizes")
    expect([row[4:6] + row[8:9] for row in rows] == [["round", "trip", f"{part['p50_ns'] / 1000:.2f}"] for part in result["sizes"]], "text: medians")


def check_halves(result, folder):
    """Check that the table also shows the time of one direction if a test does the same in both directions."""
    for test, wanted in (("wlat", ["round", "one"]), ("slat", ["round", "one"]), ("mlat", ["round", "one"]), ("rlat", ["round"]), ("ping", ["round"])):
        status, out, err = tool("show", write(folder / "halves.json", {**result, "test": test, "sizes": result["sizes"][:1]}))
        rows = out.splitlines()[2:]
        expect(status == 0 and not err and [re.search("(round|one) ", row).group(1) for row in rows] == wanted,
               f"{test}: {out}")
        if len(wanted) == 2:
            expect(float(rows[0].split()[8]) / 2 - 0.01 < float(rows[1].split()[5]) < float(rows[0].split()[8]) / 2 + 0.01,
                   f"{test}: half is another: {out}")


def check_early(folder):
    """Check that the tool reports a file that it cannot write before it starts the run, which needs the module."""
    client = ("client", "10.56.0.1", "rlat", "count=1")
    for words, text in ((("-f", "plot", "-o", folder / "plot.pdf"), ".png or .svg"), (("-o", folder), "directory"),
                        (("-o", folder / "no/x.json"), "No such file"), (("-U", folder / "no/x"), "No such file")):
        status, out, err = tool(*words, *client)
        expect(status in (1, 2) and not out and text in err and "modprobe" not in err, f"{words}: {status} {err}")
    status, out, err = tool("-f", "plot", *client, PATH=str(folder))
    expect(status == 1 and not out and "gnuplot is not installed" in err, f"without gnuplot: {status} {err}")


def loaded():
    """Return the tool as a Python module."""
    loader = importlib.machinery.SourceFileLoader("krping_tool", str(TOOL))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def check_listening():
    """Check that a running server shows its address once, and that a client, an ended server and --quiet do not."""
    module, err = loaded(), io.StringIO()
    server = "run=7 state=running role=server error=0 listen=10.56.0.1:9999 sent=0"
    with contextlib.redirect_stderr(err):
        announcement = module.Announcement(True)
        for line in ("", "run=7 state=running role=client sent=3", server.replace("running", "over")):
            announcement.show(line)
        module.Announcement(False).show(server)
        expect(not err.getvalue(), f"a line that no server has caused: {err.getvalue()}")
        announcement.show(server)
        announcement.show(server)
    expect(err.getvalue() == "krping: run 7 is listening on 10.56.0.1:9999\n", f"listening: {err.getvalue()!r}")


def check_late_listening():
    """Check that the address of a server in the background is shown although it begins to listen late."""
    module, err = loaded(), io.StringIO()
    line = "run=7 state=running role=server error=0"
    lines = iter([f"{line} sent=0", f"{line} sent=0", f"{line} listen=10.56.0.1:9999 sent=0", f"{line} sent=0"])
    module.look = lambda descriptor: next(lines)
    with contextlib.redirect_stderr(err):
        module.announce_late(0, module.Announcement(True))
    expect(err.getvalue() == "krping: run 7 is listening on 10.56.0.1:9999\n", f"late: {err.getvalue()!r}")


def check_long_list(folder):
    """Check that a text of the kernel of more than 64 KiB, such as a long list of runs, is read whole."""
    text = "".join(f"run={number} state=over result=0 words={'x' * 300}\n" for number in range(1000))
    (folder / "list").write_text(text, encoding="ascii")
    with open(folder / "list", "rb") as stream:
        got = loaded().look(stream.fileno())
    expect(got == text, f"a list of {len(text)} bytes: {len(got)} are read")


def check_reasons():
    """Check that REASONS of the tool has exactly the errnos of Documentation/krping.rst, except EINVAL."""
    module = loaded()
    table = PAGE.read_text(encoding="utf-8").partition("write() fails with")[2].partition("\nBlock writes\n")[0]
    numbers = {getattr(errno, name) for name in re.findall("^``(E[A-Z]+)``", table, re.MULTILINE)} - {errno.EINVAL}
    known = set(module.REASONS)
    expect(len(numbers) > 15 and numbers == known, f"errnos of the page and of the tool: {sorted(numbers ^ known)}")


def check_version():
    status, out, err = tool("--version")
    expect(status == 0 and re.fullmatch(r"krping [0-9]+\.[0-9]+\n", out) and not err, f"version: {out}{err}")
    expect(tool("--help")[0] == 0, "help")


def check_json(result, folder):
    out = folder / "again.json"
    expect(tool("-f", "json", "-o", out, "show", EXAMPLE) == (0, "", ""), "json")
    expect(json.loads(out.read_text(encoding="utf-8")) == result, "json: not the same")


def curves(svg):
    """Return {title: numbers of its path} of the curves that gnuplot has drawn."""
    found = {}
    for group in ET.parse(svg).getroot().iter(f"{SVG}g"):
        title = group.find(f"{SVG}title")
        if title is not None and group.get("id", "").startswith("gnuplot_plot_"):
            found[title.text] = max((path.get("d").count(",") for path in group.iter(f"{SVG}path")), default=0)
    return found


def check_svg(result, folder):
    out = folder / "a`touch b`'$(c).svg"
    expect(tool("-f", "plot", "-o", out, "show", EXAMPLE) == (0, "", ""), "svg")
    drawn = curves(out)
    expect(list(drawn) == [f"{part['size']} bytes" for part in result["sizes"]], f"svg: curves {list(drawn)}")
    # The curve of a histogram has at least two numbers for each step of the histogram.
    expect(all(drawn[f"{part['size']} bytes"] >= 2 * len(part["log2_ns"]) for part in result["sizes"]), f"svg: {drawn}")
    texts = ["".join(text.itertext()) for text in ET.parse(out).getroot().iter(f"{SVG}text")]
    expect(f"krping {result['test']}, {result['device']}" in [text.strip() for text in texts], f"svg: title {texts}")


def check_png(folder):
    out = folder / "plot.png"
    expect(tool("-f", "plot", "-o", out, "show", EXAMPLE) == (0, "", ""), "png")
    head = out.read_bytes()[:24]
    expect(head[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack(">II", head[16:]) == (900, 600), "png: no such picture")


def check_terminal(result):
    status, out, err = tool("-f", "plot", "show", EXAMPLE)
    expect(status == 0 and not err and f"{result['sizes'][0]['size']} bytes" in out and " us " in out, "terminal")


def check_refused(result, folder):
    file = folder / "bad.json"
    refused("pdf", 2, "-f", "plot", "-o", folder / "plot.pdf", "show", EXAMPLE)
    refused("line", 2, "-f", "line", "show", EXAMPLE)
    refused("no file", 1, "show", folder / "nothing")
    refused("a folder", 1, "show", folder)
    for form in ("plot", "json", "text"):
        refused(f"{form} to nowhere", 1, "-f", form, "-o", folder / "no/plot.svg", "show", EXAMPLE)
    for what, data in NONSENSE.items():
        file.write_bytes(data)
        refused(what, 1, "show", file)
    for what, members in FORGED.items():
        refused(what, 1, "show", write(file, {**result, **members}))
    for what, members in FORGED_PART.items():
        forged = copy.deepcopy(result)
        forged["sizes"][0].update(members)
        refused(what, 1, "show", write(file, forged))
    for part in result["sizes"]:
        del part["log2_ns"]
    refused("nothing to draw", 1, "-f", "plot", "show", write(file, result))


def check_injection(result, folder):
    """Check that gnuplot does not run a name in an earlier result as a command."""
    victim = folder / "victim"
    result["device"] = f"`touch {victim}`\"; system 'touch {victim}' #'"
    out = folder / "plot.svg"
    expect(tool("-f", "plot", "-o", out, "show", write(folder / "forged.json", result))[0] == 0, "forged device")
    expect(not victim.exists(), "a name was run")


def check_all(folder):
    result = json.loads(EXAMPLE.read_text(encoding="utf-8"))
    check_words()
    check_text(result)
    check_halves(result, folder)
    check_early(folder)
    check_reasons()
    check_listening()
    check_late_listening()
    check_long_list(folder)
    check_version()
    check_json(result, folder)
    check_svg(result, folder)
    check_png(folder)
    check_terminal(result)
    check_refused(copy.deepcopy(result), folder)
    check_injection(copy.deepcopy(result), folder)
    expect(not [name for name in ("b", "c") if (TOP / name).exists()], "a file name was run")


def check(log):
    """Run all checks, and return true if they pass."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            check_all(pathlib.Path(folder))
    except (Wrong, subprocess.TimeoutExpired, ET.ParseError) as wrong:
        with open(log, "a", encoding="utf-8") as stream:
            stream.write(f"{wrong}\n")
        return False
    return True
