# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""Our modules, built for a kernel the way users build them: make KDIR=... modules.

Each kernel has its own copy of the sources in the cache, so that builds for several kernels do not
meet; only files that changed are copied, so make rebuilds only what it must.
"""
import contextlib
import filecmp
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

from rig import buildroot, cache

TREE = pathlib.Path(__file__).resolve().parents[3]
MANIFEST = ".manifest"
OUT = ".built"


def tracked(tree):
    """Files that belong to TREE: those of git, and new ones that it does not ignore."""
    listed = cache.output(["git", "-c", "safe.directory=*", "-C", tree, "ls-files", "-z", "--cached", "--others",
                           "--exclude-standard"])
    return [name for name in sorted(set(listed.split("\0"))) if name and os.path.lexists(tree / name)]


def copy(tree, into):
    """Bring the copy up to date; times of unchanged files stay as they are, for make."""
    files = tracked(tree)
    manifest = into / MANIFEST
    old = set(manifest.read_text(encoding="utf-8").split("\0")) if manifest.exists() else set()
    for name in old - set(files):
        (into / name).unlink(missing_ok=True)
    for name in files:
        copy_one(tree / name, into / name)
    manifest.write_text("\0".join(files), encoding="utf-8")


def copy_one(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_symlink() or source.is_dir():	# a folder here is a submodule: not ours
        if source.is_symlink():
            target.unlink(missing_ok=True)
            target.symlink_to(os.readlink(source))
    elif not target.exists() or not filecmp.cmp(source, target, shallow=False):
        shutil.copyfile(source, target)
        shutil.copymode(source, target)


def place(kernel, tree, args):
    """Where TREE is built for KERNEL with these arguments to make."""
    key = hashlib.sha256(f"{tree}\0{' '.join(args)}".encode()).hexdigest()[:8]
    return cache.root() / "modules" / f"{kernel.dir.name}-{key}"


def build(kernel, tree=TREE, args=()):
    """Build, show what make had to say, and return the folder of the .ko files."""
    with built(kernel, tree, args) as folder:
        return folder


@contextlib.contextmanager
def built(kernel, tree=TREE, args=()):
    """Like build(), but nobody builds in the same place until the caller has taken the files."""
    tree = pathlib.Path(tree).resolve()
    path = place(kernel, tree, args)
    with cache.lock(f"modules-{path.name}"):
        if not path.exists():
            cache.prune(path.parent)
        path.mkdir(parents=True, exist_ok=True)
        (path / cache.STAMP).touch()
        copy(tree, path)
        complained = make(kernel, path, args)
        out = collect(path)
        if complained:
            forget(path)
        yield out


def make(kernel, path, args):
    """Run make in the copy; True if it built but complained."""
    argv = ["make", f"-j{os.cpu_count()}", "-C", path, f"KDIR={kernel.kdir}", *kernel.make_args, *args, "modules"]
    if kernel.foreign:
        argv = buildroot.wrap(argv, [cache.root()], path)
    done = subprocess.run([str(word) for word in argv], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    text = done.stdout.decode(errors="replace")
    (path / ".make.log").write_text(text, encoding="utf-8")
    complained = "warning:" in text
    if done.returncode or complained:
        print(text, end="", file=sys.stderr)
    if done.returncode:
        raise cache.RigError(f"modules do not build for {kernel.name}")
    return complained


def forget(path):
    """Objects that made make complain must not be up to date, or it would say it only once."""
    for pattern in ("*.o", "*.ko", ".*.cmd"):
        for file in path.rglob(pattern):
            if file.is_file() and OUT not in file.parts:
                file.unlink()


def collect(path):
    """All .ko files of a built copy in one folder."""
    out = path / OUT
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    for file in sorted(path.rglob("*.ko")):
        if file.parent != out:
            shutil.copy(file, out)
    return out
