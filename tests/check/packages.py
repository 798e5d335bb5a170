# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""Build the Debian packages, run lintian, and check their contents."""
import gzip
import os
import pathlib
import re
import tempfile

import command
import ktap
import static
from rig import apt, cache, kernels, modules

TOP = static.TOP
NAMES = ["krdma-dev", "krdma-dkms", "librfm2g-dev", "librfm2g0", "ntrdma-tools", "rfm2g-tools"]
# Debian packages that a node of the rig needs, or that DKMS and the packages of this project need.  These are installed
# later, without a network.
TOOLS = "adduser dkms gcc iproute2 kmod libc6-dev libedit2 make pkg-config python3 systemd-sysv udev"
# Debian packages that a usual installation has, and those that README and quick start install or use.
PAGES = "build-essential ethtool ibverbs-providers ibverbs-utils iputils-ping rdma-core rdmacm-utils sudo"
OLDER = "0.0.1"			# version of the packages that an upgrade replaces
HERE = TOP / "tests/packages"
# Files that contain the version, each with the pattern that finds it.
VERSIONS = {"debian/changelog": r"^krdma \((.*)\)", "dkms.conf": r'^PACKAGE_VERSION="(.*)"',
            "include/version.h": r'^#define KRDMA_VERSION "(.*)"$', "tools/krping": r'^VERSION = "(.*)"$'}
# Pairs of a command line and some of the words that completion must offer for it.
COMPLETED = [("vrfmctl ", "up down conf status peers top join check bench"), ("vrfmctl --j", "--json"),
             ("vrfmctl key ", "next switch drop"), ("vrfmctl -n 5 b", "bench"),
             ("vrfmctl -f FILE up rf", "rfm2g0 rfm2g3"),
             ("rfm2g_util -", "--device --command --help"), ("rfm2g_util pe", "peek8 peek64"),
             ("rfm2g_util help po", "poke32 pong"), ("krping ", "client server list stop show blk"),
             ("krping stop ", "all"), ("krping -f j", "json"), ("krping client HOST wl", "wlat"),
             ("krping blk ", "client server list stop"), ("krping blk client HOST bio_m", "bio_mode= bio_min= bio_map="),
             ("krping blk server bio_t", "bio_target= bio_timeout= bio_tgid=")]
ASK = """
. "$1"
read -ra COMP_WORDS <<<"$2"
[[ $2 != *' ' ]] || COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_$3 2>/dev/null
echo "${COMPREPLY[@]}"
"""


def versions(tree=TOP):
    """Return {file: version} of all files with a version."""
    return {name: re.search(pattern, (tree / name).read_text(encoding="utf-8"), re.M).group(1)
            for name, pattern in VERSIONS.items()}


def rename(tree, version):
    """Change the version of a tree."""
    for name, old in versions(tree).items():
        text = (tree / name).read_text(encoding="utf-8")
        (tree / name).write_text(text.replace(old, version, 1), encoding="utf-8")


def built(version=""):
    """Return a folder with the packages and sources of this tree, built if necessary; VERSION: another version."""
    names = [TOP / name for name in modules.tracked(TOP)]
    folder = cache.root() / "packages" / cache.digest(version, *[str(name) for name in names],
                                                      *[name for name in names if name.is_file()])
    with cache.making(folder) as needed:
        if needed:
            tree = folder / "krdma"
            tree.mkdir()
            modules.copy(TOP, tree)
            (tree / modules.MANIFEST).unlink()
            if version:
                rename(tree, version)
            cache.run(["dpkg-buildpackage", "-us", "-uc"], folder / "log", cwd=tree)
    return folder


def debs(folder):
    """Return the paths of the packages, in the order of NAMES."""
    return [next(folder.glob(f"{name}_*.deb")) for name in NAMES]


def same_version(_folder, log):
    found = versions()
    static.write(log, f"{found}\n")
    return len(set(found.values())) == 1


def lintian(folder, log):
    return command.run(["lintian", "--allow-root", "--display-info", "--pedantic",
                        "--fail-on", "error,warning,info,pedantic", next(folder.glob("*.changes"))], log, 600) == 0


def offered(root, line, log):
    """Return the words that bash offers after LINE, with the programs in ROOT."""
    name = line.split()[0]
    env = dict(os.environ, PATH=f"{root}/usr/bin:{os.environ['PATH']}", LC_ALL="C.UTF-8",
               LD_LIBRARY_PATH=str(next(root.glob("usr/lib/*/librfm2g.so.0")).parent))
    said = cache.output(["bash", "-c", ASK, "bash", root / "usr/share/bash-completion/completions" / name, line, name],
                        env=env).split()
    static.write(log, f"{line}: {' '.join(said)}\n")
    return said


def documents(folder, log):
    """Check that rfm2g-tools has all pages for users, and each page that these refer to."""
    with tempfile.TemporaryDirectory() as name:
        cache.run(["dpkg-deb", "-x", next(folder.glob("rfm2g-tools_*.deb")), name])
        pages = {file.name.removesuffix(".gz"): gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else
                 file.read_bytes() for file in pathlib.Path(name, "usr/share/doc/rfm2g-tools").glob("*.rst*")}
    named = {link for text in pages.values() for link in re.findall(r"<([a-z0-9_]+\.rst)", text.decode("utf-8"))}
    missing = (named | {"quickstart.rst", "migrating.rst", "troubleshooting.rst"}) - set(pages)
    static.write(log, f"pages: {sorted(pages)}, missing: {sorted(missing)}\n")
    return not missing


def krping_options():
    """Return the options that /proc/krping accepts after a role."""
    text = (TOP / "krping/opts.c").read_text(encoding="utf-8")
    names = re.findall(r'^\t\{ "([\w-]+)", KRPING_OPT_', text, re.M)
    return set(names) - {"client", "server", "stop", "list"}


def completion(folder, log):
    """Check that completion offers existing commands and devices, and exactly the options of krping."""
    good = True
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        for deb in debs(folder):
            cache.run(["dpkg-deb", "-x", deb, root])
        conf = root / "vrfm.conf"
        conf.write_text("[rfm2g0]\nnode = 1\n [rfm2g3] # another\n", encoding="ascii")
        for line, wanted in COMPLETED:
            good &= set(wanted.split()) <= set(offered(root, line.replace("FILE", str(conf)), log))
        found = {word.rstrip("=") for word in offered(root, "krping server ", log)}
    static.write(log, f"differ: {sorted(found ^ krping_options())}\n")
    return good and found == krping_options()


def check(log):
    """Run the cases of this part of tools/check."""
    results = ktap.Results()
    folder = built()
    for case in (same_version, lintian, completion, documents):
        (results.passed if case(folder, log) else results.failed).append(case.__name__)
    return results


def base(suite, more, *installed):
    """Return a root folder with Debian SUITE, MORE suites, and INSTALLED: packages for one "apt-get install" each."""
    sources = "".join((apt.Suite(name).dir / "sources.list").read_text(encoding="ascii") for name in (suite, *more))
    folder = cache.root() / "roots" / f"{suite}-{cache.digest(sources, HERE / 'base', HERE / 'lib', *installed)}"
    with cache.making(folder) as needed:
        if needed:
            with cache.progress(f"installing a Debian {suite}"):
                cache.run([HERE / "base", folder / "root", suite, apt.site_of(suite, apt.machine_sites()), sources,
                           *installed], folder / "log")
    return folder / "root"


def install(log):
    """Install, upgrade and remove the packages in a fresh Debian 12, and build their modules for kernels of Debian 13."""
    if os.geteuid():
        return ktap.Results(skipped=["a Debian to install into"])
    release = kernels.prepare("stock-6.1").release
    roots = [base("bookworm", [], f"{TOOLS} {PAGES} linux-image-{release} linux-headers-{release}"),
             base("trixie", ["trixie-backports"], f"{TOOLS} linux-headers-amd64",
                  "-t trixie-backports linux-headers-amd64")]
    status = command.run(["unshare", "--mount", HERE / "life", *roots, built(OLDER), built()], log, 5400)
    results = ktap.parse(log.read_text(encoding="utf-8", errors="replace"), 0, True)
    if status or not results.passed:
        results.failed.append(f"exit status {status}")
    return results
