# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""Fetch Debian packages of any suite, without changing the machine's own apt and dpkg.

Each suite has a private apt root in the cache.  The mirror is the one that the machine itself uses.
"""
import os
import re
import shutil
import time

from rig import cache

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
MAX_AGE = 7 * 24 * 3600		# age at which package lists are updated, in seconds, to find new kernels
RELATED = {
    "bookworm": ["bookworm", "bookworm-updates", "bookworm-security"],
    "trixie": ["trixie", "trixie-updates"],
}


def machine_sites():
    """Return a list of (release, site), one for each of the machine's own package lists."""
    listed = cache.output(["apt-get", "indextargets", "--format", "$(RELEASE) $(SITE)", "Identifier: Packages"])
    return [tuple(line.split()) for line in listed.splitlines() if len(line.split()) == 2]


def site_of(suite, sites):
    """Return the mirror that has SUITE, or None.  The main archive has all suites except security."""
    if suite.endswith("-security"):
        return next((site for release, site in sites if release == suite), None)
    main = ("bookworm", "oldstable", "stable", "trixie")
    found = next((site for release, site in sites if release in main), None)
    if not found:
        raise cache.RigError("apt has no Debian mirror configured: add one to /etc/apt/sources.list")
    return found


class Suite:
    """A suite with its private apt root."""

    def __init__(self, name):
        self.name = name
        self.dir = cache.root() / "apt" / name
        self.options = []
        for key, value in {
                "Dir::State": self.dir, "Dir::State::lists": self.dir / "lists",
                "Dir::State::status": self.dir / "status", "Dir::Cache": self.dir / "cache",
                "Dir::Etc::sourcelist": self.dir / "sources.list", "Dir::Etc::sourceparts": "/dev/null",
                "Dir::Etc::preferences": "/dev/null", "Dir::Etc::preferencesparts": "/dev/null",
                "Acquire::Languages": "none", "APT::Sandbox::User": "root"}.items():
            self.options += ["-o", f"{key}={value}"]
        self.refresh()

    def apt(self, tool, *words, **options):
        env = dict(os.environ, LC_ALL="C", DEBIAN_FRONTEND="noninteractive")
        return cache.output([tool, *self.options, *words], env=env, **options)

    def refresh(self, force=False):
        stamp = self.dir / cache.STAMP
        with cache.lock(f"apt-{self.name}"):
            fresh = stamp.exists() and time.time() - stamp.stat().st_mtime < MAX_AGE
            if fresh and not force:
                return
            self.write_sources()
            try:
                with cache.progress(f"package lists of {self.name}"):
                    self.apt("apt-get", "-q", "update", "-o", "APT::Update::Error-Mode=any")
            except cache.RigError:
                if not stamp.exists():
                    raise
                cache.say(f"cannot update the package lists of {self.name}, using the old ones")
            shutil.rmtree(self.dir / "answers", ignore_errors=True)
            stamp.touch()

    def ask(self, *words):
        """Return the output of apt-cache; keep it until the package lists are updated, because apt-cache is slow."""
        memory = self.dir / "answers" / cache.digest(" ".join(words))
        if memory.exists():
            return memory.read_text(encoding="utf-8")
        text = self.apt("apt-cache", *words)
        memory.parent.mkdir(exist_ok=True)
        fresh = memory.with_suffix(f".{os.getpid()}")
        fresh.write_text(text, encoding="utf-8")
        fresh.rename(memory)
        return text

    def write_sources(self):
        for folder in ("lists/partial", "cache/archives/partial"):
            (self.dir / folder).mkdir(parents=True, exist_ok=True)
        (self.dir / "status").touch()
        sites = machine_sites()
        lines = []
        for suite in RELATED.get(self.name, [self.name]):
            site = site_of(suite, sites)
            if site:
                lines.append(f"deb [signed-by={KEYRING}] {site} {suite} main\n")
        (self.dir / "sources.list").write_text("".join(lines), encoding="ascii")

    def version(self, package):
        found = re.search(r"^Version: (\S+)", self.ask("show", "--no-all-versions", package), re.M)
        return found.group(1)

    def names(self, pattern):
        return [line.split()[0] for line in self.ask("search", "-n", pattern).splitlines()]

    def depends(self, packages, pattern):
        """Return the names that match PATTERN among PACKAGES and their dependencies."""
        text = self.ask("depends", "--recurse", "--no-recommends", "--no-suggests", "--no-breaks",
                        "--no-conflicts", "--no-replaces", "--no-enhances", *packages)
        return sorted(set(re.findall(rf"^({pattern})$", text, re.M)))

    def download(self, packages, into):
        """Fetch the .deb files of PACKAGES, without dependencies, and return all .deb files of the folder INTO.

        If the mirror no longer has these versions, update the package lists and fetch again.
        """
        into.mkdir(parents=True, exist_ok=True)
        try:
            self.apt("apt-get", "-q", "download", *packages, cwd=into)
        except cache.RigError:
            self.refresh(force=True)
            self.apt("apt-get", "-q", "download", *packages, cwd=into)
        return sorted(into.glob("*.deb"))

    def download_closure(self, packages):
        """Fetch the .deb files of PACKAGES and of all their dependencies, and return these files."""
        self.apt("apt-get", "-q", "-y", "--no-install-recommends", "--download-only", "install", *packages)
        return sorted((self.dir / "cache/archives").glob("*.deb"))

    def unpack(self, packages, into):
        """Unpack PACKAGES, without dependencies, into the folder INTO, and delete their .deb files."""
        debs = into / ".debs"
        for deb in self.download(packages, debs):
            cache.run(["dpkg-deb", "-x", deb, into])
        shutil.rmtree(debs)
