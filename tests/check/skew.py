# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""The tree beside its previous version, in one test: another version of krdma at the other end of the wire."""
import pathlib
import shutil

import static
from rig import cache, kernels, modules

TOP = static.TOP
# As long as no version has a tag.
FALLBACK = TOP / "tests/e2e/previous"
GIT = ["git", "-c", "safe.directory=*"]


def asked(argv):
    """What a git command says, "" if it fails."""
    status, text = cache.call([*GIT, "-C", TOP, *argv])
    return "" if status else text.strip()


def revision():
    """The newest tag behind us, else what the file names; "" if this clone does not have that."""
    wanted = asked(["describe", "--tags", "--abbrev=0", "HEAD^"]) or named()
    return asked(["rev-parse", "--verify", "--quiet", f"{wanted}^{{commit}}"])


def named():
    """The commit of the file, which has comments besides."""
    lines = FALLBACK.read_text(encoding="utf-8").splitlines()
    return next(line.strip() for line in lines if line and not line.startswith("#"))


def tree(commit):
    """That version's files, as a repository of their own."""
    path = cache.root() / "previous" / commit[:12]
    with cache.making(path) as needed:
        if needed:
            cache.run([*GIT, "clone", "-q", "--no-checkout", TOP, path / "tree"])
            cache.run([*GIT, "-C", path / "tree", "checkout", "-q", commit])
    return path / "tree"


def files(kernel_name, names, into):
    """The modules NAMES of the previous version, as NAME-previous.ko; none if there is no such version."""
    commit = revision()
    if not commit:
        return []
    kernel = kernels.prepare(kernel_name)
    # Of its tests a scenario wants but krdma_test. Earlier versions build those of KUnit as well, unless they are told.
    with modules.built(kernel, tree(commit), ["CONFIG_KUNIT="]) as folder:
        return [shutil.copy(pathlib.Path(folder, f"{name}.ko"), pathlib.Path(into, f"{name}-previous.ko"))
                for name in names]
