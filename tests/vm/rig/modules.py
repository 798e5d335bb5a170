# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""Build our modules for a kernel as users do, with make KDIR=... modules.

Each kernel has its own copy of the sources in the cache, so that builds for several kernels can run at the same time.
Only changed files are copied, so that make rebuilds as little as possible.
"""
import contextlib
import filecmp
import hashlib
import os
import pathlib
import shutil
import sys

from rig import buildroot, cache

TREE = pathlib.Path(__file__).resolve().parents[3]
MANIFEST = ".manifest"
CLEAN = ".clean"
UNSURE = ".unsure"
OUT = ".built"


def tracked(tree):
    """Return the names of the files of TREE: those in git, and new files that git does not ignore."""
    listed = cache.output(["git", "-c", "safe.directory=*", "-C", tree, "ls-files", "-z", "--cached", "--others",
                           "--exclude-standard"])
    return [name for name in sorted(set(listed.split("\0"))) if name and os.path.lexists(tree / name)]


def forget_made(source):
    """Remove the objects and the module of a deleted C file, because make would keep them."""
    if source.suffix == ".c":
        for suffix in (".o", ".ko", ".mod", ".mod.c", ".mod.o"):
            source.with_suffix(suffix).unlink(missing_ok=True)


def copy(tree, into):
    """Update INTO, the copy of TREE; return True if it was out of date.

    Unchanged files keep their times, so that make does not compile them again.
    """
    files = set(tracked(tree))
    manifest = into / MANIFEST
    old = set(filter(None, manifest.read_text(encoding="utf-8").split("\0"))) if manifest.exists() else set()
    # List new files in the manifest before they are copied, so that the next run knows them if this run is killed.
    replace(manifest, old | files)
    gone = old - files
    for name in gone:
        (into / name).unlink(missing_ok=True)
        forget_made(into / name)
    changed = [name for name in files if copy_one(tree / name, into / name)]
    replace(manifest, files)
    return bool(gone or changed)


def replace(manifest, files):
    """Write the manifest atomically."""
    new = manifest.with_name(f"{MANIFEST}.new")
    new.write_text("\0".join(sorted(files)), encoding="utf-8")
    new.rename(manifest)


def copy_one(source, target):
    """Copy a file; return True if TARGET was missing or different."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir() and not source.is_symlink():	# a git submodule
        return False
    if source.is_symlink():
        same = target.is_symlink() and os.readlink(source) == os.readlink(target)
    else:
        same = target.exists() and filecmp.cmp(source, target, shallow=False)
    if not same:
        target.unlink(missing_ok=True)
        shutil.copy2(source, target, follow_symlinks=False)
        if not source.is_symlink():
            os.utime(target)
    return not same


def place(kernel, tree, args):
    """Return the folder in which TREE is built for KERNEL with these arguments of make."""
    key = hashlib.sha256(f"{tree}\0{' '.join(args)}".encode()).hexdigest()[:8]
    return cache.root() / "modules" / f"{kernel.dir.name}-{key}"


def build(kernel, tree=TREE, args=()):
    """Build, print the output of make if it warns, and return the folder of the .ko files."""
    with built(kernel, tree, args) as folder:
        return folder


@contextlib.contextmanager
def built(kernel, tree=TREE, args=()):
    """Build as build() does, and yield the folder.  Hold its lock until the caller has copied the files."""
    tree = pathlib.Path(tree).resolve()
    path = place(kernel, tree, args)
    with cache.lock(f"modules-{path.name}"):
        if not path.exists():
            cache.prune(path.parent)
        path.mkdir(parents=True, exist_ok=True)
        (path / cache.STAMP).touch()
        refresh(kernel, tree, path, args)
        yield path / OUT


def refresh(kernel, tree, path, args):
    """Update the copy, and build if a file has changed or the previous build failed or printed a warning."""
    clean = path / CLEAN
    was_clean = clean.exists()
    clean.unlink(missing_ok=True)
    if (path / UNSURE).exists():
        forget(path)
    if copy(tree, path) or not was_clean:
        complained = make(kernel, path, args)
        collect(path)
        if complained:
            return
    clean.touch()


def make(kernel, path, args):
    """Run make in the copy; return True if make succeeded with a warning.

    The file UNSURE remains if make is killed or prints a warning.  After a kill, a file may be half written.  After a
    warning, make would not print the warning again unless it compiles again.
    """
    unsure = path / UNSURE
    unsure.touch()
    argv = ["make", f"-j{os.cpu_count()}", "-C", path, f"KDIR={kernel.kdir}", *kernel.make_args, "KRDMA_TESTS=y", *args,
            "modules"]
    if kernel.foreign:
        argv = buildroot.wrap(argv, [cache.root()], path)
    status, text = cache.call(argv)
    (path / ".make.log").write_text(text, encoding="utf-8")
    complained = "warning:" in text
    if status >= 0 and not complained:
        unsure.unlink()
    if status or complained:
        print(text, end="", file=sys.stderr)
    if status:
        raise cache.RigError(f"modules do not build for {kernel.name}")
    return complained


def forget(path):
    """Delete built files, so that make builds all of them again."""
    for pattern in ("*.o", "*.ko", ".*.cmd"):
        for file in path.rglob(pattern):
            if OUT not in file.parts:
                file.unlink()


def collect(path):
    """Copy all .ko files of a build into one folder."""
    out = path / OUT
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    for file in sorted(path.rglob("*.ko")):
        if file.parent != out:
            shutil.copy(file, out)
