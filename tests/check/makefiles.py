# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""What the Makefiles build, install and remove, for the library, the tools and the samples: no kernel is needed."""
import os
import pathlib
import re
import subprocess
import tempfile

import ktap
import static
from rig import modules

TOP = static.TOP
SECONDS = 300
PROGRAMS = ("librfm2g", "rfm2g_util", "vrfmctl")


class Wrong(Exception):
    """A difference from what is promised."""


def expect(condition, what):
    if not condition:
        raise Wrong(what)


class Tree:
    """A copy of the tree, and folders beside it."""

    def __init__(self, place, log):
        self.place = place
        self.top = place / "tree"
        self.out = place / "out"
        self.log = log
        self.top.mkdir()
        modules.copy(TOP, self.top)

    def make(self, *words, folder=".", good=True, **env):
        """What make prints; an error if it does not end as expected."""
        argv = ["make", "-s", "-C", self.top / folder, *words]
        usual = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
        done = subprocess.run([str(word) for word in argv], env={**usual, "LC_ALL": "C", **env}, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                              timeout=SECONDS)
        static.write(self.log, f"$ {' '.join(map(str, argv))}\n{done.stdout}")
        expect((done.returncode == 0) == good, f"make {' '.join(map(str, words))}: status {done.returncode}: {done.stdout}")
        return done.stdout

    def built(self, *words, **options):
        """make with the folder in which all programs are built once, for all cases."""
        return self.make(f"BUILD={self.out}", "WERROR=-Werror", *words, **options)

    def files(self):
        """All files of the tree with the time of their last change."""
        return {path: path.lstat().st_mtime_ns for path in self.top.rglob("*") if not path.is_dir()}

    def installed(self, name):
        """Files below a folder that stands for a machine, without their prefix."""
        root = self.place / name
        return sorted(str(path.relative_to(root)) for path in root.rglob("*") if not path.is_dir())


def foreign_folders_stay(tree):
    """O and BUILD of the environment name no folder, and clean removes no folder that make has not made."""
    victim = tree.place / "victim"
    victim.mkdir()
    (victim / "precious").touch()
    env = {"O": str(victim), "BUILD": str(victim)}
    for folder in (*(f"tools/{name}" for name in PROGRAMS), "samples/rfm2g"):
        expect(str(victim) not in tree.make("-n", "all", folder=folder, **env), f"{folder} is built in $O")
        tree.make("clean", folder=folder, **env)
        tree.make("clean", f"BUILD={victim}", folder=folder)
        tree.make("clean", f"O={victim}", folder=folder)
    tree.make("clean", "KDIR=/nowhere", **env)
    tree.make("clean", "KDIR=/nowhere", f"BUILD={victim}")
    expect((victim / "precious").exists() and len(list(victim.iterdir())) == 1, "a folder of somebody else was cleaned")


def builds_elsewhere(tree):
    """make tools BUILD=DIR builds each program in a folder of its own, in which clean leaves files of others."""
    before = tree.files()
    tree.built("tools", f"-j{os.cpu_count()}")
    expect(tree.files() == before, "files of the tree have changed")
    expect({path.name for path in tree.out.iterdir()} == set(PROGRAMS), f"{list(tree.out.iterdir())}")
    expect((tree.out / "vrfmctl/vrfmctl").exists() and (tree.out / "librfm2g/librfm2g.a").exists(), "not built")
    other = tree.place / "other"
    (other / "vrfmctl").mkdir(parents=True)
    (other / "vrfmctl/mine").touch()
    (other / "mine").touch()
    tree.make(f"BUILD={other}/made", f"{other}/made/.variables", folder="tools/vrfmctl")
    tree.make(f"BUILD={other}/made", "clean", folder="tools/vrfmctl")
    tree.make(f"O={other}", "KDIR=/nowhere", "clean")
    left = sorted(str(path.relative_to(other)) for path in other.rglob("*"))
    expect(left == ["mine", "vrfmctl", "vrfmctl/mine"], f"left after clean: {left}")


def names_its_prefix(tree):
    """librfm2g.pc names the folders of the installation at hand, whatever was built or installed before."""
    for prefix, library in (("/usr/local", "/usr/local/lib"), ("/opt/krdma", "/opt/krdma/lib"), ("/usr", "/usr/lib64")):
        root = tree.place / f"root{prefix.replace('/', '-')}"
        tree.built("tools_install", f"DESTDIR={root}", f"PREFIX={prefix}", f"LIBDIR={library}")
        text = (root / library[1:] / "pkgconfig/librfm2g.pc").read_text(encoding="ascii")
        expect(re.findall(r"^(?:prefix|libdir)=(.*)$", text, re.M) == [prefix, library], text)
        expect(re.search(r"^Version: \d+\.\d+$", text, re.M), text)
        expect((root / library[1:] / "librfm2g.so.0").exists() and (root / prefix[1:] / "bin/vrfmctl").exists(), "files")


def installs_what_was_built(tree):
    """Install compiles nothing, writes nothing into the tree, and refuses other variables and changed sources."""
    before = {**tree.files(), **{path: path.stat().st_mtime_ns for path in tree.out.rglob("*")}}
    tree.built("tools_install", f"DESTDIR={tree.place}/plain")
    said = tree.built("tools_install", "CFLAGS=-O3", f"DESTDIR={tree.place}/other-flags", good=False)
    expect("built with another CFLAGS" in said, said)
    said = tree.make("tools_install", f"DESTDIR={tree.place}/never-built", good=False)
    expect("type make first" in said, said)
    after = {**tree.files(), **{path: path.stat().st_mtime_ns for path in tree.out.rglob("*")}}
    expect(before == after, "files were compiled")
    source = tree.top / "tools/vrfmctl/up.c"
    source.touch()
    said = tree.built("tools_install", f"DESTDIR={tree.place}/changed", good=False)
    os.utime(source, ns=(before[source], before[source]))
    expect("sources have changed" in said and not tree.installed("changed"), said)


def compiles_for_others(tree):
    """CROSS_COMPILE names the compiler of the tools as it does for modules."""
    for name in PROGRAMS:
        said = tree.make("-n", "CROSS_COMPILE=aarch64-linux-gnu-", folder=f"tools/{name}")
        expect("aarch64-linux-gnu-gcc" in said and not re.search(r"^(cc|ar) ", said, re.M), said)


CASES = {"folders that make has not made stay": foreign_folders_stay,
         "programs are built in a folder of their own": builds_elsewhere,
         "librfm2g.pc names the prefix of its installation": names_its_prefix,
         "install compiles nothing and mixes no variables": installs_what_was_built,
         "tools are cross-compiled with CROSS_COMPILE": compiles_for_others}


def check(log):
    """The part of tools/check. The cases share a copy of the tree and what the second one builds."""
    results = ktap.Results()
    with tempfile.TemporaryDirectory() as place:
        tree = Tree(pathlib.Path(place), log)
        for name, case in CASES.items():
            try:
                case(tree)
                results.passed.append(name)
            except (Wrong, OSError, subprocess.TimeoutExpired) as wrong:
                static.write(log, f"{name}: {wrong}\n")
                results.failed.append(name)
    return results
