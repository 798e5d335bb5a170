# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""Tests of the Makefiles, which build, install and remove library, tools and samples. No kernel is needed."""
import os
import pathlib
import re
import subprocess
import tempfile

import ktap
import static
from rig import modules

TOP = static.TOP
SECONDS = 300
PROGRAMS = ("librfm2g", "ntr-server", "rfm2g_util", "vrfmctl")
MODULES = ("krdma", "krping", "ntrdma", "vrfm")


class Wrong(Exception):
    """Raised when a Makefile does not do what its documentation says."""


def expect(condition, what):
    if not condition:
        raise Wrong(what)


class Tree:
    """A copy of the tree, and the folder that contains it."""

    def __init__(self, place, log):
        self.place = place
        self.top = place / "tree"
        self.out = place / "out"
        self.log = log
        self.top.mkdir()
        modules.copy(TOP, self.top)

    def make(self, *words, folder=".", good=True, **env):
        """Return the output of make; raise an error if make does not end as expected."""
        argv = ["make", "-s", "-C", self.top / folder, *words]
        usual = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
        done = subprocess.run([str(word) for word in argv], env={**usual, "LC_ALL": "C", **env}, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                              timeout=SECONDS)
        static.write(self.log, f"$ {' '.join(map(str, argv))}\n{done.stdout}")
        expect((done.returncode == 0) == good, f"make {' '.join(map(str, words))}: status {done.returncode}: {done.stdout}")
        return done.stdout

    def built(self, *words, **options):
        """Run make with the folder in which all programs are built once for all cases; return its output."""
        return self.make(f"BUILD={self.out}", "WERROR=-Werror", *words, **options)

    def files(self):
        """Return all files of the tree, with the time of their last change."""
        return {path: path.lstat().st_mtime_ns for path in self.top.rglob("*") if not path.is_dir()}

    def installed(self, name):
        """Return the files below a folder that stands for a machine, without their prefix."""
        root = self.place / name
        return sorted(str(path.relative_to(root)) for path in root.rglob("*") if not path.is_dir())


def foreign_folders_stay(tree):
    """Check that make ignores O and BUILD of the environment, and clean removes only folders that make created."""
    victim = tree.place / "victim"
    victim.mkdir()
    (victim / "precious").touch()
    env = {"O": str(victim), "BUILD": str(victim)}
    for folder in (*(f"tools/{name}" for name in PROGRAMS), "samples/rfm2g"):
        expect(str(victim) not in tree.make("-n", "all", folder=folder, **env), f"{folder} is built in $O")
        tree.make("clean", folder=folder, **env)
        tree.make("clean", f"BUILD={victim}", folder=folder)
        tree.make("clean", f"O={victim}", folder=folder)
    tree.make("clean", "KDIR=/nowhere", **env)
    tree.make("clean", "KDIR=/nowhere", f"BUILD={victim}")
    expect((victim / "precious").exists() and len(list(victim.iterdir())) == 1, "a folder of somebody else was cleaned")


def builds_elsewhere(tree):
    """Check that BUILD=DIR builds each program in a folder of its own, in which clean leaves files of others."""
    before = tree.files()
    tree.built("tools", f"-j{os.cpu_count()}")
    expect(tree.files() == before, "files of the tree have changed")
    expect({path.name for path in tree.out.iterdir()} == set(PROGRAMS), f"{list(tree.out.iterdir())}")
    expect((tree.out / "vrfmctl/vrfmctl").exists() and (tree.out / "librfm2g/librfm2g.a").exists(), "not built")
    other = tree.place / "other"
    (other / "vrfmctl").mkdir(parents=True)
    (other / "vrfmctl/mine").touch()
    (other / "mine").touch()
    tree.make(f"BUILD={other}/made", f"{other}/made/.variables", folder="tools/vrfmctl")
    tree.make(f"BUILD={other}/made", "clean", folder="tools/vrfmctl")
    tree.make(f"O={other}", "KDIR=/nowhere", "clean")
    left = sorted(str(path.relative_to(other)) for path in other.rglob("*"))
    expect(left == ["mine", "vrfmctl", "vrfmctl/mine"], f"left after clean: {left}")


def names_its_prefix(tree):
    """Check that librfm2g.pc names the folders of its own installation, whatever was installed before."""
    for prefix, library in (("/usr/local", "/usr/local/lib"), ("/opt/krdma", "/opt/krdma/lib"), ("/usr", "/usr/lib64")):
        root = tree.place / f"root{prefix.replace('/', '-')}"
        tree.built("tools_install", f"DESTDIR={root}", f"PREFIX={prefix}", f"LIBDIR={library}")
        text = (root / library[1:] / "pkgconfig/librfm2g.pc").read_text(encoding="ascii")
        expect(re.findall(r"^(?:prefix|libdir)=(.*)$", text, re.M) == [prefix, library], text)
        expect(re.search(r"^Version: \d+\.\d+$", text, re.M), text)
        expect((root / library[1:] / "librfm2g.so.0").exists() and (root / prefix[1:] / "bin/vrfmctl").exists(), "files")


def installs_what_was_built(tree):
    """Check that install compiles nothing, leaves the tree alone, and refuses other variables and changed sources."""
    before = {**tree.files(), **{path: path.stat().st_mtime_ns for path in tree.out.rglob("*")}}
    tree.built("tools_install", f"DESTDIR={tree.place}/plain")
    said = tree.built("tools_install", "CFLAGS=-O3", f"DESTDIR={tree.place}/other-flags", good=False)
    expect("built with another CFLAGS" in said, said)
    for words in ("CROSS_COMPILE=aarch64-linux-gnu-", "LIBEDIT=-lother"):
        said = tree.built("tools_install", words, f"DESTDIR={tree.place}/other-machine", good=False)
        expect(f"built with another {words.partition('=')[0]}" in said, said)
    found = [name for name in tree.installed("other-machine") if re.search("bin/(vrfmctl|rfm2g_util)|librfm2g.so", name)]
    expect(not found, f"installed for another machine: {found}")
    tree.built("tools_install", f"DESTDIR={tree.place}/same", CC="cc", CFLAGS="-O2 -g", LDFLAGS="")
    expect(tree.installed("same") == tree.installed("plain"), "the variables of the build are refused")
    said = tree.make("tools_install", f"DESTDIR={tree.place}/never-built", good=False)
    expect("type make first" in said, said)
    after = {**tree.files(), **{path: path.stat().st_mtime_ns for path in tree.out.rglob("*")}}
    expect(before == after, "files were compiled")
    source = tree.top / "tools/vrfmctl/up.c"
    source.touch()
    said = tree.built("tools_install", f"DESTDIR={tree.place}/changed", good=False)
    os.utime(source, ns=(before[source], before[source]))
    expect("sources have changed" in said and not tree.installed("changed"), said)


def warnings_are_no_errors(tree):
    """Check that warnings of a compiler do not end the build of a user, and that CFLAGS of the user come last."""
    for folder in (*(f"tools/{name}" for name in PROGRAMS), "samples/rfm2g"):
        said = tree.make("-n", "all", "CFLAGS=-Wuser", folder=folder)
        lines = re.findall(r"^cc .*? -o .*\.c(?: .*)?$", said, re.M)
        expect(lines and "-Werror" not in said, f"{folder}: {said}")
        expect(all(re.search(r"-Wuser (?!.*-W)", line) for line in lines), f"{folder}: options follow CFLAGS: {said}")


def compiles_for_others(tree):
    """Check that CROSS_COMPILE names the compiler of the tools as it does for modules."""
    for name in PROGRAMS:
        said = tree.make("-n", "CROSS_COMPILE=aarch64-linux-gnu-", folder=f"tools/{name}")
        expect("aarch64-linux-gnu-gcc" in said and not re.search(r"^(cc|ar) ", said, re.M), said)


def uses_folders_of_the_system(tree):
    """Check that libraries go to the folder that the system uses, and that the loader learns of an unusual one."""
    systems = {"fedora": ("usr/lib64/libc.so.6", "include ld.so.conf.d/*.conf\n", "lib64", True),
               "suse": ("lib64/libc.so.6", "/usr/local/lib64\n/usr/local/lib\ninclude /etc/ld.so.conf.d/*.conf\n", "lib64", False),
               "debian": ("usr/lib/x86_64-linux-gnu/libc.so.6", "/usr/local/lib\n", "lib", False)}
    for name, (libc, loader, folder, told) in systems.items():
        host = tree.place / f"host-{name}"
        for path, text in ((libc, ""), ("etc/ld.so.conf", loader), ("usr/lib/empty", "")):
            (host / path).parent.mkdir(parents=True, exist_ok=True)
            (host / path).write_text(text, encoding="ascii")
        for prefix in ("/usr/local", "/usr"):
            root = f"{name}{prefix.replace('/', '-')}"
            tree.built("tools_install", f"host={host}", f"DESTDIR={tree.place / root}", f"PREFIX={prefix}")
            found = tree.installed(root)
            expect(f"{prefix[1:]}/{folder}/librfm2g.so.0" in found, f"{root}: {found}")
            expect(("etc/ld.so.conf.d/rfm2g.conf" in found) == (told and prefix == "/usr/local"), f"{root}: {found}")


def uninstalls_all(tree):
    """Check that uninstall removes all installed files, except an example that the administrator has changed."""
    words = ("KDIR=/nowhere", f"DESTDIR={tree.place}/whole")
    tree.built("tools_install", *words)
    found = tree.installed("whole")
    for name in ("usr/local/bin/krping", "usr/local/share/man/man8/krping.8", "etc/vrfm.conf", "usr/local/lib/sysusers.d/rfm2g.conf",
                 "usr/local/lib/systemd/system/vrfm.service", "usr/local/lib/udev/rules.d/60-rfm2g.rules",
                 "usr/local/lib/systemd/system/ntr-server@.service",
                 "usr/local/share/bash-completion/completions/vrfmctl"):
        expect(name in found, f"not installed: {name}")
    root = tree.place / "whole"
    expect((root / "etc/vrfm.conf").stat().st_mode & 0o777 == 0o600, "vrfm.conf shows addresses to everybody")
    expect((root / "etc/vrfm").stat().st_mode & 0o777 == 0o700, "other users can enter the folder of keys")
    unit = (root / "usr/local/lib/systemd/system/vrfm.service").read_text(encoding="ascii")
    expect("ExecStart=/usr/local/bin/vrfmctl up" in unit and "/usr/bin/vrfmctl" not in unit, unit)
    expect(re.search(r"^After=.*\bnetwork\.target\b", unit, re.M), "the unit is stopped after the network")
    tree.built("uninstall", *words)
    expect(not tree.installed("whole"), f"left: {tree.installed('whole')}")
    tree.built("tools_install", *words)
    with open(root / "etc/vrfm.conf", "a", encoding="ascii") as conf:
        conf.write("[rfm2g0]\n")
    tree.built("tools_install", *words)
    tree.built("uninstall", *words)
    expect(tree.installed("whole") == ["etc/vrfm.conf"], f"left: {tree.installed('whole')}")


KBUILD = """$(if $(O),$(error the kernel is built in $(O)))
modules modules_install:
	test "$@" = modules || for name in krdma krping ntrdma vrfm; do \\
	install -D $(M)/$$name/$$name.ko $(INSTALL_MOD_PATH)/lib/modules/6.1.0-1/$(INSTALL_MOD_DIR)/$$name/$$name.ko || exit; done
"""


def kernel(tree, code=393472):
    """Create headers of a kernel that does not exist, and modules that seem to be built for it; return variables."""
    kdir = tree.place / "kdir"
    files = {kdir / "Makefile": KBUILD, kdir / "include/generated/utsrelease.h": '#define UTS_RELEASE "6.1.0-1"\n',
             kdir / "include/generated/uapi/linux/version.h": f"#define LINUX_VERSION_CODE {code}\n",
             tree.top / "modules.order": "".join(f"{tree.top}/{name}/{name}.ko\n" for name in MODULES),
             tree.place / "bin/modinfo": "#!/bin/sh\ncat $3\n",
             **{tree.top / name / f"{name}.ko": "6.1.0-1 SMP" for name in MODULES}}
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="ascii")
    (tree.place / "bin/modinfo").chmod(0o755)
    return {"PATH": f"{tree.place}/bin:{os.environ['PATH']}"}


def modules_do_not_mix(tree):
    """Check that install refuses modules beside those of DKMS, outdated modules, and modules of tests."""
    env = kernel(tree)
    root = tree.place / "machine"
    folder = root / "lib/modules/6.1.0-1"
    words = (f"KDIR={tree.place}/kdir", f"DESTDIR={root}")
    older = folder / "extra/krdma/krdma.ko"
    older.parent.mkdir(parents=True)
    older.touch()
    tree.built("modules_install", *words, **env)
    expect(tree.installed("machine") == [f"lib/modules/6.1.0-1/updates/{name}/{name}.ko" for name in MODULES],
           f"{tree.installed('machine')}")
    script = tree.top / "tools/installed-otherwise"
    expect(subprocess.run([script, "dkms", folder], check=False, capture_output=True).returncode == 1, "DKMS installs beside them")
    conf = (tree.top / "dkms.conf").read_text(encoding="ascii")
    expect('PRE_INSTALL="tools/installed-otherwise dkms $install_tree/$kernelver"' in conf and "CLEAN=" not in conf, conf)
    tree.built("modules_uninstall", *words[1:], **env)
    expect(not tree.installed("machine"), f"left: {tree.installed('machine')}")
    expect(subprocess.run([script, "dkms", folder], check=False).returncode == 0, "DKMS does not install")
    (folder / "updates/dkms").mkdir(parents=True)
    (folder / "updates/dkms/krdma.ko.xz").touch()
    said = tree.built("modules_install", *words, good=False, **env)
    expect("dkms remove" in said and len(tree.installed("machine")) == 1, said)
    tree.built("modules_install", "SHADOW=yes", *words, **env)
    (tree.top / "vrfm/vrfm.ko").write_text("5.10.0 SMP", encoding="ascii")
    expect("is built for 5.10.0" in tree.built("install", *words, good=False, **env), "another release")
    env = kernel(tree)
    with open(tree.top / "modules.order", "a", encoding="ascii") as order:
        order.write(f"{tree.top}/tests/e2e/ktest/krdma_test.ko\n")
    expect("KRDMA_TESTS" in tree.built("install", *words, good=False, **env), "modules of the tests")


def signs_with_the_key_at_hand(tree):
    """Check that signing is turned off only if the key that the kernel's configuration names does not exist."""
    env = kernel(tree)
    config = tree.place / "kdir/.config"
    own = tree.place / "own.pem"
    own.touch()
    for key, signs in (("", False), ("certs/signing_key.pem", False), ("/nowhere.pem", False), (own, True), ("pkcs11:object=it", True)):
        config.write_text(f'CONFIG_MODULE_SIG_KEY="{key}"\n', encoding="ascii")
        said = tree.make("-n", "SHADOW=yes", "modules_install", f"KDIR={tree.place}/kdir", "DESTDIR=/nowhere", **env)
        expect(("CONFIG_MODULE_SIG_ALL=" not in said) == signs, f"key {key}: {said}")
    config.unlink()


def programs_do_not_shadow(tree):
    """Check that programs are not installed if a package has the same programs below another prefix."""
    root = tree.place / "packaged"
    for name in ("usr/bin/ntr-server", "usr/bin/vrfmctl", "usr/lib/x86_64-linux-gnu/librfm2g.so.0"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    said = tree.built("tools_install", f"DESTDIR={root}", good=False)
    expect(all(name in said for name in ("usr/bin/ntr-server", "usr/bin/vrfmctl", "librfm2g.so.0")), said)
    expect(len(tree.installed("packaged")) == 3, tree.installed("packaged"))
    tree.built("tools_install", f"DESTDIR={root}", "SHADOW=yes")


def packaged(tree, name, files):
    """Create a system whose package rfm2g-tools has these files; return its root folder."""
    root = tree.place / name
    info = root / "var/lib/dpkg/info"
    info.mkdir(parents=True)
    (info / "rfm2g-tools.list").write_text("".join(f"/{file}\n" for file in files), encoding="ascii")
    (info.parent / "status").write_text("Package: rfm2g-tools\nStatus: install ok installed\nMaintainer: x\n"
                                        "Architecture: all\nVersion: 1\nDescription: programs\n", encoding="ascii")
    return root


def files_of_a_package_stay(tree):
    """Check that install replaces no file of a package, and that uninstall keeps the configuration of a package."""
    root = packaged(tree, "owner", ("etc/vrfm.conf", "usr/bin/vrfmctl"))
    words = (f"DESTDIR={root}", "PREFIX=/usr")
    (root / "usr/bin").mkdir(parents=True)
    (root / "usr/bin/vrfmctl").touch()
    said = tree.built("tools_install", *words, good=False)
    expect("usr/bin/vrfmctl" in said and "usr/bin/krping" not in tree.installed("owner"), said)
    tree.built("tools_install", "SHADOW=yes", *words)
    said = tree.built("uninstall", "KDIR=/nowhere", *words)
    expect("is of a package" in said and (root / "etc/vrfm.conf").exists(), said)
    expect(not (root / "etc/modprobe.d/rfm2g-tools.conf").exists(), "a file of no package stays")


def modules_are_judged_first(tree):
    """Check that install changes nothing if there are modules of DKMS."""
    env = kernel(tree)
    root = tree.place / "judged"
    theirs = root / "lib/modules/6.1.0-1/updates/dkms/krdma.ko.xz"
    theirs.parent.mkdir(parents=True)
    theirs.touch()
    said = tree.built("install", f"KDIR={tree.place}/kdir", f"DESTDIR={root}", good=False, **env)
    expect("dkms remove" in said and len(tree.installed("judged")) == 1, f"{said} {tree.installed('judged')}")


def old_kernels_are_named(tree):
    """Check that a kernel before 6.1 is refused with one line, before anything is compiled."""
    env = kernel(tree, (5 << 16) + (14 << 8))
    said = tree.make("modules", f"KDIR={tree.place}/kdir", good=False, **env)
    expect("Linux 5.14" in said and "need Linux 6.1 or later" in said, said)
    tree.make("modules", f"KDIR={tree.place}/kdir", **kernel(tree))


def our_folder_is_not_the_kernels(tree):
    """Check that O=DIR names the folder of library and tools, and that the kernel's build system gets no O."""
    env = kernel(tree)
    tree.make("modules", f"KDIR={tree.place}/kdir", f"O={tree.place}/objects", **env)
    said = tree.make("modules", f"KDIR={tree.place}/kdir", "kbuild=$(MAKE) -C $(KDIR) M=$(CURDIR)", f"O={tree.place}/objects",
                     good=False, **env)
    expect("the kernel is built in" in said, f"the kernel of this test takes any O: {said}")


# Headers of the kernel, as {header: (without, with)}: for kernels without and with a feature that include/compat.h
# detects. Each value is a pair: the declaration in the header, and the text that the preprocessor must make of PROBE.
FEATURES = {
    "module.h": (("#define MODULE_IMPORT_NS(ns)\tMODULE_INFO(import_ns, __stringify(ns))", "NS: KRDMA;"),
                 ("#define MODULE_IMPORT_NS(ns)\tMODULE_INFO(import_ns, ns)", 'NS: "KRDMA";')),
    "device/class.h": (("\tchar *(*devnode)(struct device *dev, umode_t *mode);", "DEVNODE: struct"),
                       ("\tchar *(*devnode)(const struct device *dev, umode_t *mode);", "DEVNODE: const struct")),
    "mm.h": (("static inline void vma_set_anonymous(struct vm_area_struct *vma)\nint folio_mapcount(struct folio *folio);\n"
              "static inline int page_mapcount(struct page *page)", "void vm_flags_clear(|return page_mapcount(page);"),
             ("static inline void vma_set_anonymous(struct vm_area_struct *vma)\n"
              "static inline void vm_flags_clear(struct vm_area_struct *vma,\n"
              "static inline int folio_mapcount(const struct folio *folio)", "return folio_mapcount(page_folio(page));")),
    "crc32.h": (("u32 __pure crc32_le(u32 crc, unsigned char const *p, size_t len);\n"
                 "u32 __pure __crc32c_le(u32 crc, unsigned char const *p, size_t len);", "CRC: __crc32c_le;"),
                ("u32 crc32_le(u32 crc, const void *p, size_t len);\n * crc32c() - Compute CRC-32C\n"
                 "u32 crc32c(u32 crc, const void *p, size_t len);", "CRC: crc32c;")),
    "workqueue.h": (("\tWQ_UNBOUND\t\t= 1 << 1, /* WQ_PERCPU is not */", "PERCPU: 0;"),
                    ("\tWQ_UNBOUND\t\t= 1 << 1,\n\tWQ_PERCPU\t\t= 1 << 8,", "PERCPU: WQ_PERCPU;")),
    "hrtimer.h": (("extern void hrtimer_start_range_ns(struct hrtimer *timer, ktime_t tim,", "SETUP: own;"),
                  ("extern void hrtimer_setup(struct hrtimer *timer,\nextern void hrtimer_start_range_ns(struct hrtimer *timer,",
                   "SETUP: kernel;")),
    "netdevice.h": (("void free_netdev(struct net_device *dev);", "init_dummy_netdev(netdev);"),
                    ("void free_netdev(struct net_device *dev);\nstruct net_device *alloc_netdev_dummy(int sizeof_priv);",
                     "return alloc_netdev_dummy(0);")),
    "../rdma/ib_verbs.h": (("\tstruct ib_mr *(*reg_user_mr)(struct ib_pd *pd, u64 start,", "DMAH: ;"),
                           ("\tstruct ib_mr *(*reg_user_mr)(struct ib_pd *pd, u64 start,\n\t\t\t\t     struct ib_dmah *dmah,",
                            "DMAH: struct ib_dmah *dmah,;")),
    "../rdma/ib_umem.h": (("void ib_umem_release(struct ib_umem *umem);\n"
                           "#define rdma_umem_for_each_dma_block(umem, biter, pgsz)", "UMEM: own;|BLOCKS: umem;"),
                          ("static inline struct ib_umem *ib_umem_get_va(struct ib_device *device,\n"
                           "void ib_umem_release(struct ib_umem *umem);", "UMEM: kernel;|BLOCKS: iter;")),
    "ntb.h": (("static inline int ntb_peer_resource_idx(struct ntb_dev *ntb, int pidx)", "NTB: (&(it)->pdev->dev);"),
              ("static inline struct device *ntb_get_dma_dev(struct ntb_dev *ntb)\n"
               "static inline int ntb_peer_resource_idx(struct ntb_dev *ntb, int pidx)", "NTB: ntb_get_dma_dev(it);")),
    "rmap.h": (("int folio_mkclean(struct folio *);", "*mapping, pgoff_t index, struct page *page) { return false; }"),
               ("int folio_mkclean(struct folio *);\nint mapping_wrprotect_range(struct address_space *mapping, pgoff_t pgoff,",
                "{ mapping_wrprotect_range(mapping, index, page_to_pfn(page), 1); return true; }")),
}
PROBE = """#include "compat.h"
NS: KRDMA_NS; DEVNODE: KRDMA_CONST_DEVICE struct; CRC: krdma_crc32c; PERCPU: WQ_PERCPU;
DMAH: KRDMA_REG_USER_MR_DMAH; NTB: krdma_ntb_dma_dev(it);
#if KRDMA_HAS_HRTIMER_SETUP
SETUP: kernel;
#else
SETUP: own;
#endif
#if KRDMA_HAS_UMEM_GET_VA
UMEM: kernel;
#else
UMEM: own;
#endif
#if KRDMA_HAS_UMEM_BLOCKS
BLOCKS: umem;
#else
BLOCKS: iter;
#endif
"""
SHOWN = """include $(src)/Kbuild
$(info $(subdir-ccflags-y))
all:
"""


def headers(place, new, names):
    """Create some headers of a kernel that has all features, or none."""
    for name in names:
        path = place / "include/linux" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{FEATURES[name][new][0]}\n", encoding="ascii")


def compat(tree, place, version, script="Makefile.build"):
    """Return the flags that Kbuild sets for a kernel in PLACE, and include/compat.h as preprocessed with them."""
    nothing = place / "nothing"
    for name in ("linux/hrtimer.h", "linux/mm.h", "linux/module.h", "linux/netdevice.h", "linux/rmap.h", "linux/slab.h",
                 "linux/version.h", "rdma/ib_umem.h", "rdma/ib_verbs.h", "rdma/iter.h", "rdma/uverbs_ioctl.h"):
        (nothing / name).parent.mkdir(parents=True, exist_ok=True)
        (nothing / name).touch()
    (nothing / "linux/version.h").write_text(f"#define LINUX_VERSION_CODE KERNEL_VERSION({version}, 0)\n"
                                             "#define KERNEL_VERSION(a, b, c) ((a) << 16 | (b) << 8 | (c))\n", encoding="ascii")
    (place / script).write_text(SHOWN, encoding="ascii")
    flags = tree.make("-f", place / script, f"src={tree.top}", f"srctree={place / 'source'}", f"objtree={place / 'build'}").split()
    argv = ["cpp", "-P", "-nostdinc", "-DIS_ENABLED(x)=0", f"-I{nothing}", *flags]
    text = subprocess.run(argv, input=PROBE, text=True, capture_output=True, check=True).stdout
    return flags, " ".join(text.split())


def features_are_seen(tree):
    """Check that include/compat.h follows the headers, in either folder of a split kernel, or else the version."""
    names = list(FEATURES)
    for case, (new, version, shown) in enumerate([(1, "6, 1", True), (0, "7, 3", True), (1, "7, 3", False), (0, "6, 1", False)]):
        place = tree.place / f"kernel{case}"
        place.mkdir()
        if shown:
            headers(place / "source", new, names[::2])
            headers(place / "build", new, names[1::2])
        else:
            (place / "source/include/linux").mkdir(parents=True)
            (place / "source/include/linux/mm.h").write_text("/* moved */\n", encoding="ascii")
        flags, text = compat(tree, place, version)
        expect(len([flag for flag in flags if flag.startswith("-DKRDMA_HAS_")]) == (len(FEATURES) + 2 if shown else 0), f"{case}: {flags}")
        for name in names:
            wanted = FEATURES[name][new][1].split("|")
            expect(all(words in text for words in wanted), f"{case}: {name}: no {wanted} in {text}")
        expect(("void vm_flags_clear(" in text) != new, f"{case}: {text}")
    try:
        compat(tree, tree.place / "kernel0", "6, 0")
        raise Wrong("include/compat.h takes Linux 6.0")
    except subprocess.CalledProcessError as error:
        expect("need Linux 6.1 or later" in error.stderr, error.stderr)
    flags, text = compat(tree, tree.place / "kernel0", "7, 0", "Makefile.clean")
    expect(not any("KRDMA_HAS" in flag for flag in flags), f"make clean reads headers: {flags}")


def other_machines_are_refused(tree):
    """Check that vrfm is refused for 32-bit and big-endian kernels, with a reason. Only the preprocessor runs."""
    nothing = tree.place / "no-headers"
    nothing.mkdir()
    argv = ["gcc", "-M", "-MG", "-nostdinc", f"-I{nothing}", tree.top / "vrfm/priv.h"]
    for flags, words in ((["-DCONFIG_64BIT", "-D__LITTLE_ENDIAN"], None), (["-D__LITTLE_ENDIAN"], "needs a 64-bit kernel"),
                         (["-DCONFIG_64BIT", "-D__BIG_ENDIAN"], "needs little-endian")):
        done = subprocess.run([*argv, *flags], text=True, capture_output=True, check=False)
        expect((done.returncode == 0) == (not words) and (words or "") in done.stderr, f"{flags}: {done.stderr}")
    expect("CONFIG_64BIT" in (tree.top / "dkms.conf").read_text(encoding="ascii"), "DKMS builds for 32-bit kernels")


CASES = {"folders that make has not made stay": foreign_folders_stay,
         "programs are built in a folder of their own": builds_elsewhere,
         "librfm2g.pc names the prefix of its installation": names_its_prefix,
         "install compiles nothing and mixes no variables": installs_what_was_built,
         "libraries go where the system has them": uses_folders_of_the_system,
         "uninstall leaves nothing of install": uninstalls_all,
         "modules of two installations do not mix": modules_do_not_mix,
         "modules are signed with the kernel's key": signs_with_the_key_at_hand,
         "programs of two installations do not shadow": programs_do_not_shadow,
         "files of a package stay": files_of_a_package_stay,
         "install judges modules first": modules_are_judged_first,
         "kernels before 6.1 are refused with a line": old_kernels_are_named,
         "vrfm is refused on 32-bit and big-endian kernels": other_machines_are_refused,
         "O of the command line is not the kernel's": our_folder_is_not_the_kernels,
         "warnings do not end the build of a user": warnings_are_no_errors,
         "features of a kernel are seen in its headers": features_are_seen,
         "tools are cross-compiled with CROSS_COMPILE": compiles_for_others}


def check(log):
    """Run all cases.  They share a copy of the tree, and the programs that the second case builds."""
    results = ktap.Results()
    with tempfile.TemporaryDirectory() as place:
        tree = Tree(pathlib.Path(place), log)
        for name, case in CASES.items():
            try:
                case(tree)
                results.passed.append(name)
            except (Wrong, OSError, subprocess.TimeoutExpired) as wrong:
                static.write(log, f"{name}: {wrong}\n")
                results.failed.append(name)
    return results
