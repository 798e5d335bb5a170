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
import sys

from rig import buildroot, cache

TREE = pathlib.Path(__file__).resolve().parents[3]
MANIFEST = ".manifest"
CLEAN = ".clean"
UNSURE = ".unsure"
OUT = ".built"


def tracked(tree):
    """Files that belong to TREE: those of git, and new ones that it does not ignore."""
    listed = cache.output(["git", "-c", "safe.directory=*", "-C", tree, "ls-files", "-z", "--cached", "--others",
                           "--exclude-standard"])
    return [name for name in sorted(set(listed.split("\0"))) if name and os.path.lexists(tree / name)]


def copy(tree, into):
    """Bring the copy up to date, true if it was not; times of unchanged files stay as they are, for make."""
    files = set(tracked(tree))
    manifest = into / MANIFEST
    old = set(filter(None, manifest.read_text(encoding="utf-8").split("\0"))) if manifest.exists() else set()
    # Whoever is killed in here leaves no file behind that the next one does not know.
    replace(manifest, old | files)
    gone = old - files
    for name in gone:
        (into / name).unlink(missing_ok=True)
    changed = [name for name in files if copy_one(tree / name, into / name)]
    replace(manifest, files)
    return bool(gone or changed)


def replace(manifest, files):
    """All of it or nothing, should we be killed."""
    new = manifest.with_name(f"{MANIFEST}.new")
    new.write_text("\0".join(sorted(files)), encoding="utf-8")
    new.rename(manifest)


def copy_one(source, target):
    """True if the file was new or another."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir() and not source.is_symlink():	# a submodule: not ours
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
        refresh(kernel, tree, path, args)
        yield path / OUT


def refresh(kernel, tree, path, args):
    """Copy and make; the second only if something changed, or if the last time was not clean."""
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
    """Run make in the copy; True if it built but complained.

    What it made is unsure until it has ended without a complaint: if it is killed a file may be half written, and a
    complaint comes only once.
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
    """Nothing that is unsure may be taken for up to date."""
    for pattern in ("*.o", "*.ko", ".*.cmd"):
        for file in path.rglob(pattern):
            if OUT not in file.parts:
                file.unlink()


def collect(path):
    """All .ko files of a built copy in one folder."""
    out = path / OUT
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    for file in sorted(path.rglob("*.ko")):
        if file.parent != out:
            shutil.copy(file, out)
