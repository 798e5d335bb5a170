# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""Check that copies of the tree are complete, even after a process was killed while it made a copy."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

from rig import cache, modules

FILES = [f"a-file-with-a-name-of-some-length-{number}" for number in range(20)]
COPY = """
import pathlib, resource, signal, sys
from rig import modules
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), -1))
modules.copy(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
"""
BUILD = """
import pathlib, sys, types
from rig import modules
kernel = types.SimpleNamespace(name="none", kdir="/", make_args=[], foreign=False)
modules.refresh(kernel, pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), ())
"""
MAKEFILE = """modules: it.ko
it.ko: it.c
	@cat note
	@printf half >$@
	@! grep -q killed note || kill -9 $$(cut -d ' ' -f %s /proc/$$PPID/stat)
	@cat it.c >$@
"""
MAKE, BOTH = "1", "1,4"		# fields of /proc/PID/stat of make: its PID, and that of its parent


def python(script, *words):
    """Run a script in another process; return its status and output."""
    path = pathlib.Path(modules.__file__).resolve().parents[1]
    return subprocess.run([sys.executable, "-B", "-c", script, *map(str, words)], check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, "PYTHONPATH": str(path)})


def tree_of(top, **files):
    """Create a tree with these files only."""
    top.mkdir()
    cache.run(["git", "init", "-q", top])
    for name, text in files.items():
        (top / name).write_text(text, encoding="ascii")


def same(top, into):
    """Check whether the copy and the tree have the same files."""
    return sorted(file.name for file in into.iterdir() if file.name[0] != ".") == modules.tracked(top)


def copied(place, limit):
    """Check that a copy is complete after SIGXFSZ has killed the copy before it, at a file longer than LIMIT bytes."""
    top, into = place / f"tree{limit}", place / f"copy{limit}"
    tree_of(top, **dict.fromkeys(FILES, ""))
    into.mkdir()
    right = [python(COPY, top, into, limit).returncode == -signal.SIGXFSZ]
    (top / FILES[0]).unlink()
    right += [modules.copy(top, into), same(top, into), not modules.copy(top, into)]
    (top / FILES[1]).unlink()
    (top / "new").write_text("x" * (limit + 1), encoding="ascii")
    right += [python(COPY, top, into, limit).returncode == -signal.SIGXFSZ]
    (top / "new").unlink()
    modules.copy(top, into)
    return all([*right, same(top, into)])


def forgotten(place):
    """Check that module and object of a removed C file are removed as well, and those of other files kept."""
    top, into = place / "tree-gone", place / "copy-gone"
    tree_of(top, **{"gone.c": "", "kept.c": ""})
    into.mkdir()
    modules.copy(top, into)
    for name in ("gone.o", "gone.ko", "kept.ko"):
        (into / name).touch()
    (top / "gone.c").unlink()
    modules.copy(top, into)
    return (into / "kept.ko").exists() and not list(into.glob("gone.*"))


def built(place, who):
    """Check that a half written file is built again after make, or make and its parent, was killed."""
    top, into = place / f"tree-{who}", place / f"built-{who}"
    tree_of(top, **{"Makefile": MAKEFILE % who, "it.c": "all of it", "note": "killed"})
    into.mkdir()
    right = [python(BUILD, top, into).returncode != 0, (into / "it.ko").read_text(encoding="ascii") == "half"]
    (top / "note").write_text("", encoding="ascii")
    right += [python(BUILD, top, into).returncode == 0]
    return all([*right, (into / modules.OUT / "it.ko").read_text(encoding="ascii") == "all of it"])


def complaints(place):
    """Check that each build repeats a warning until its cause is removed; a second build then compiles nothing."""
    top, into = place / "tree-complains", place / "complains"
    tree_of(top, **{"Makefile": MAKEFILE % MAKE, "it.c": "all of it", "note": "warning: here"})
    into.mkdir()
    right = ["warning" in python(BUILD, top, into).stdout for _ in range(2)]
    (top / "note").write_text("", encoding="ascii")
    python(BUILD, top, into)
    before = (into / "it.ko").stat().st_mtime_ns
    python(BUILD, top, into)
    return all([*right, before == (into / "it.ko").stat().st_mtime_ns])


def check(log):
    """Run all cases; the log contains the names of those that fail."""
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        right = {"killed at once": copied(place, 0), "killed in the list": copied(place, 100),
                 "make is killed": built(place, MAKE), "its caller is killed": built(place, BOTH),
                 "complaints": complaints(place), "a source is removed": forgotten(place)}
    log.write_text("".join(f"failed: {name}\n" for name, good in right.items() if not good), encoding="utf-8")
    return all(right.values())
