# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""A build root with a compiler of the next Debian release.

Some kernel headers have programs that do not run on this release, so modules for these kernels are built in the build
root.  Its packages are unpacked, not installed: this is enough for a compiler, quick, and possible without root.
Commands run in the build root by chroot, within private namespaces.
"""
import os
import subprocess

from rig import apt, cache

SUITE = "trixie"
PACKAGES = ["bash", "binutils", "coreutils", "dash", "diffutils", "file", "findutils", "gawk", "gcc-14", "grep", "kmod",
            "libc6-dev", "libdw1t64", "libelf1t64", "libssl3t64", "make", "pahole", "perl", "sed", "tar", "xz-utils"]
ALTERNATIVES = {"awk": "gawk", "cc": "gcc-14", "gcc": "gcc-14", "sh": "dash", "ld": "x86_64-linux-gnu-ld"}


def prepare():
    """Return the folder of the build root; create it if necessary."""
    path = cache.root() / "buildroots" / f"{SUITE}-{cache.digest(' '.join(PACKAGES))}"
    with cache.making(path) as needed:
        if needed:
            with cache.progress(f"fetching a compiler of {SUITE}"):
                unpack(path)
    return path


def unpack(path):
    suite = apt.Suite(SUITE)
    for folder in ("bin", "sbin", "lib", "lib64"):
        (path / "usr" / folder).mkdir(parents=True, exist_ok=True)
        (path / folder).symlink_to(f"usr/{folder}")
    for deb in suite.download_closure(PACKAGES):
        unpack_one(deb, path)
        deb.unlink()
    for name, target in ALTERNATIVES.items():
        link = path / "usr/bin" / name
        if not os.path.lexists(link):
            link.symlink_to(target)
    for folder in ("proc", "dev", "tmp"):
        (path / folder).mkdir(exist_ok=True)


def unpack_one(deb, path):
    """Unpack a package with tar, because dpkg-deb -x would replace links to folders by folders."""
    fs = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", str(deb)], stdout=subprocess.PIPE)
    subprocess.run(["tar", "-C", str(path), "-x", "--keep-directory-symlink", "--no-same-owner"],
                         stdin=fs.stdout, check=True)
    if fs.wait():
        raise cache.RigError(f"{deb.name} does not unpack")


def wrap(argv, binds, cwd):
    """Return the command line that runs ARGV in the folder CWD of the build root.

    In the build root, the folders BINDS have the same paths as outside.
    """
    path = prepare()
    steps = ["set -e"]
    for bind in binds:
        (path / str(bind).lstrip("/")).mkdir(parents=True, exist_ok=True)
        steps.append(f"mount --rbind '{bind}' '{path}{bind}'")
    steps += [f"mount --rbind /dev '{path}/dev'", f"mount --rbind /proc '{path}/proc'",
              f"exec chroot '{path}' /usr/bin/env -i PATH=/usr/bin:/usr/sbin HOME=/tmp LC_ALL=C "
              f"/usr/bin/bash -c 'cd \"$0\" && exec \"$@\"' '{cwd}' \"$@\""]
    unshare = ["unshare", "--mount"]
    if os.geteuid():
        unshare.append("--map-root-user")
    return [*unshare, "bash", "-c", "\n".join(steps), "bash", *[str(word) for word in argv]]
