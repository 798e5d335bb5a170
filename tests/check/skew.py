# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""Build modules of the previous version, for tests with another version of krdma at the other end of the wire."""
import pathlib
import shutil

import static
from rig import cache, kernels, modules

TOP = static.TOP
# File that names the commit of the previous version. It is used until a version has a tag.
FALLBACK = TOP / "tests/e2e/previous"
GIT = ["git", "-c", "safe.directory=*"]


def asked(argv):
    """Run a git command; return its output, or "" if it fails."""
    status, text = cache.call([*GIT, "-C", TOP, *argv])
    return "" if status else text.strip()


def revision():
    """Return the commit of the newest tag before HEAD, or of FALLBACK; "" if this clone does not have it."""
    wanted = asked(["describe", "--tags", "--abbrev=0", "HEAD^"]) or named()
    return asked(["rev-parse", "--verify", "--quiet", f"{wanted}^{{commit}}"])


def named():
    """Return the commit that FALLBACK names; this file also has comments."""
    lines = FALLBACK.read_text(encoding="utf-8").splitlines()
    return next(line.strip() for line in lines if line and not line.startswith("#"))


def tree(commit):
    """Return a repository with the files of the commit."""
    path = cache.root() / "previous" / commit[:12]
    with cache.making(path) as needed:
        if needed:
            cache.run([*GIT, "clone", "-q", "--no-checkout", TOP, path / "tree"])
            cache.run([*GIT, "-C", path / "tree", "checkout", "-q", commit])
    return path / "tree"


def files(kernel_name, names, into):
    """Return the modules NAMES of the previous version, as NAME-previous.ko; none if there is no such version."""
    commit = revision()
    if not commit:
        return []
    kernel = kernels.prepare(kernel_name)
    # Disable the KUnit tests, which earlier versions build by default. Scenarios do not need them.
    with modules.built(kernel, tree(commit), ["CONFIG_KUNIT="]) as folder:
        return [shutil.copy(pathlib.Path(folder, f"{name}.ko"), pathlib.Path(into, f"{name}-previous.ko"))
                for name in names]
