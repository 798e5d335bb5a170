# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""The Debian packages that a command of this tree needs, and the version of the tree."""
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent.parent
TOP = HERE.parents[1]
CHECKED = "KRDMA_PACKAGES"


def packages(command, *groups):
    """Ensure that the Debian packages of GROUPS are installed.  Commands that COMMAND calls do not check that again."""
    if not groups:
        return
    status = subprocess.call([HERE / "packages", command, *groups])
    if status:
        sys.exit(status)
    os.environ[CHECKED] = command


def of_kernels(names):
    """Return the groups of packages that are needed to prepare and boot the kernels NAMES, and to build modules."""
    groups = ["modules", "nodes"]
    if not all(name.startswith("stock") for name in names):
        groups.append("sources")
    if "stock-6.12" in names:
        groups.append("btf")
    if not all(name.startswith("uml") for name in names):
        groups.append("qemu")
    return groups


def version():
    """Return the version of this tree."""
    text = (TOP / "include/version.h").read_text(encoding="ascii")
    return re.search(r'^#define KRDMA_VERSION "(.*)"$', text, re.M).group(1)
