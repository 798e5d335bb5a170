# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""Check what commands change on the machine of their user: packages that they install, files that they leave behind."""
import contextlib
import os
import pathlib
import re
import subprocess
import tempfile

import ktap
import static
import userspace

TOP = static.TOP
NOBODY = 65534
SECONDS = 60
COMMANDS = ("tools/demo", "tools/vm", "tools/check", "tools/bench")
# Replacements for apt-get and dpkg-query.  apt-get writes each call as a line to $CALLS.  "apt-get -qs" fails if it
# would install a package that $REMOVES lists, as if this installation required the removal of another package.
# $INSTALLED lists the installed packages.
APT = """#!/bin/sh
echo "$*" >>"$CALLS"
case " $* " in
*" -qs "*)
	for word in $REMOVES; do
		case " $* " in
		*" $word "*) echo "E: Packages need to be removed but remove is disabled."; exit 100 ;;
		esac
	done
	for word; do
		case $word in
		-* | install) ;;
		old*) echo "Inst $word [1] (2 Debian:12 [amd64])" ;;
		*) echo "Inst $word (2 Debian:12 [amd64])" ;;
		esac
	done ;;
esac
"""
DPKG = """#!/bin/sh
for word in $INSTALLED; do echo "$word installed"; done
echo "removed-long-ago config-files"
"""
# Packages that a demo does not need.
NOT_FOR_A_DEMO = {"gcc-multilib", "gcc-i686-linux-gnu", "lintian", "debootstrap", "spin", "coccinelle", "python3-pytest",
                  "python3-sphinx", "shellcheck", "gnuplot-nox", "strace", "bison"}


class Wrong(Exception):
    """Raised when a command has done something that it must not do."""


def expect(condition, what):
    if not condition:
        raise Wrong(what)


def executable(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="ascii")
    path.chmod(0o755)


class Machine:
    """A folder that simulates a machine: its apt-get, its packages, and the home folder of its user."""

    def __init__(self, folder):
        self.bin = folder / "bin"
        self.home = folder / "home"
        self.calls = folder / "calls"
        folder.chmod(0o755)
        self.home.mkdir()
        self.calls.touch()
        self.calls.chmod(0o666)
        executable(self.bin / "apt-get", APT)
        executable(self.bin / "dpkg-query", DPKG)
        self.env = {"PATH": f"{self.bin}:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(self.home), "CALLS": str(self.calls),
                    "LC_ALL": "C.UTF-8", "REMOVES": "", "INSTALLED": ""}

    def run(self, *argv, nobody=False, **env):
        """Run a command; return (exit status, stdout, stderr).  NOBODY: as a user without rights, if possible."""
        nobody = nobody and not os.geteuid() and reachable(argv[0])
        who = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if nobody else {}
        if who:
            self.home.chmod(0o777)
        done = subprocess.run([str(word) for word in argv], env={**self.env, **env}, stdin=subprocess.DEVNULL, text=True,
                              capture_output=True, check=False, timeout=SECONDS, cwd="/", **who)
        return done.returncode, done.stdout, done.stderr

    def called(self):
        """Return the calls of apt-get since the previous call of this function."""
        lines = self.calls.read_text(encoding="ascii").splitlines()
        self.calls.write_text("", encoding="ascii")
        return lines


@contextlib.contextmanager
def machine():
    with tempfile.TemporaryDirectory() as folder:
        yield Machine(pathlib.Path(folder))


def reachable(tool):
    """Check whether every user can run TOOL.  The tree or the cache may be in a folder that only root may enter."""
    return all(path.stat().st_mode & 0o1 for path in tool.parents)


def asks_for_nothing(log):
    """Check that --help and --version of every tool work without rights and apt-get, and leave no file behind."""
    root = userspace.installed()
    tools = [*(TOP / name for name in (*COMMANDS, "tools/krping", "tests/vm/kernels")),
             *sorted(root.glob("usr/*bin/*"))]
    version = re.compile(r"^[\w/-]+ \d+\.\d+\n$")
    library = {"LD_LIBRARY_PATH": f"{root}/usr/lib"}
    with machine() as there:
        for tool in tools:
            for option in ("--help", "--version"):
                if option == "--version" and tool.name == "kernels":
                    continue
                status, out, err = there.run(tool, option, nobody=True, **library)
                static.write(log, f"{tool.name} {option}: {status} {out[:60]!r} {err[:60]!r}\n")
                expect(status == 0 and out and not err, f"{tool.name} {option}: {status} {err}")
                expect(option != "--version" or version.match(out), f"{tool.name} --version: {out!r}")
        expect(not there.called(), "apt-get was called")
        expect(not list(there.home.iterdir()), f"left behind: {list(there.home.iterdir())}")
    return True


def packages(there, *words, **env):
    """Run tests/vm/packages as root or as another user; return (status, output, calls of apt-get)."""
    status, out, err = there.run(TOP / "tests/vm/packages", *words, **env)
    return status, out + err, there.called()


def groups_of_demo():
    """Return the groups of packages that tools/demo requests."""
    return re.search(r'tests/vm/packages" tools/demo (.*)', (TOP / "tools/demo").read_text(encoding="utf-8")).group(1).split()


def installs_what_it_says(log):
    """Check that each installation uses --no-remove, and prints the packages before."""
    if os.geteuid():
        return None
    with machine() as there:
        status, said, calls = packages(there, "tools/demo", *groups_of_demo(), INSTALLED="make git old-one")
        static.write(log, "\n".join([said, *calls, ""]))
        expect(status == 0 and len(calls) == 3, f"{status}, {calls}")
        update, plan, install = calls
        expect(update == "-q update" and " -qs " in f" {plan} " and " -qs " not in f" {install} ", f"{calls}")
        expect(all("--no-remove" in call.split() for call in (plan, install)), "without --no-remove")
        wanted = set(install.split()) - {"install"}
        expect({"gcc-12", "qemu-system-x86"} <= wanted and not {"make", "git"} & wanted, f"installed: {install}")
        expect(not wanted & NOT_FOR_A_DEMO, f"not for a demo: {wanted & NOT_FOR_A_DEMO}")
        line = next((line for line in said.splitlines() if "will install" in line), "")
        expect(all(word in line.split() for word in wanted if word[0] != "-"), f"not said: {line}")
    return True


def removes_nothing(log):
    """Check that no package is removed.  If apt-get would remove one, only optional packages are left out."""
    if os.geteuid():
        return None
    with machine() as there:
        status, said, calls = packages(there, "tools/demo", "qemu", REMOVES="qemu-system-x86")
        static.write(log, "\n".join([said, *calls, ""]))
        expect(status == 1 and "without removing" in said, f"{status} {said}")
        expect(all("-qs" in call.split() or "update" in call.split() for call in calls), f"installed: {calls}")
        status, said, calls = packages(there, "tools/check", "style", "narrow", REMOVES="gcc-i686-linux-gnu")
        static.write(log, "\n".join([said, *calls, ""]))
        expect(status == 0 and "shellcheck" in calls[-1] and "i686" not in calls[-1], f"{status} {calls}")
        status, said, calls = packages(there, "tools/check", "narrow", INSTALLED="gcc-multilib libc6-dev-i386")
        expect(status == 0 and not said and not calls, f"with gcc-multilib: {status} {said} {calls}")
    return True


def asks_once(log):
    """Check that a command called by another one checks no packages, and that ordinary users see what to type."""
    with machine() as there:
        status, said, calls = packages(there, "tools/vm", "scripts", KRDMA_PACKAGES="tools/demo")
        expect(status == 0 and not said and not calls, f"called by tools/demo: {status} {said} {calls}")
        tool = TOP / "tests/vm/packages"
        if os.geteuid() or reachable(tool):
            status, out, err = there.run(tool, "tools/vm", "qemu", nobody=True)
            static.write(log, f"{status} {out} {err}\n")
            expect(status == 1 and "sudo apt-get install --no-remove" in err and "cpio qemu-system-x86" in err, err)
            expect(not there.called(), "apt-get was called")
    return True


def needs_only_a_plotter(log):
    """Check that a page of an earlier result needs no package except gnuplot."""
    with machine() as there:
        status, out, err = there.run(TOP / "tools/bench", "--report", there.home / "page", "--from",
                                     TOP / "tests/bench/example.json", INSTALLED="gnuplot-nox")
        static.write(log, f"{status} {out} {err}\n")
        expect(status == 0 and (there.home / "page/index.html").exists() and not there.called(), err)
    return True


CASES = {"every --help and --version works without packages": asks_for_nothing,
         "packages are listed before they are installed": installs_what_it_says,
         "no package is removed": removes_nothing,
         "packages are looked for once": asks_once,
         "tools/bench --from needs gnuplot only": needs_only_a_plotter}


def check(log):
    """Run all cases."""
    results = ktap.Results()
    for name, case in CASES.items():
        try:
            good = case(log)
        except (Wrong, subprocess.TimeoutExpired) as wrong:
            static.write(log, f"{name}: {wrong}\n")
            good = False
        (results.skipped if good is None else results.passed if good else results.failed).append(name)
    return results
