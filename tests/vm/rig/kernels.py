# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""Kernels by name, which are fetched or built into the cache."""
import dataclasses
import os
import pathlib
import re
import shutil

from rig import apt, buildroot, cache

HERE = pathlib.Path(__file__).resolve().parent.parent
DEBIAN_PARTS = r"linux-(?:image|headers|kbuild|modules|binary|base)-[0-9][-+~.a-z0-9]*(?<!unsigned)"
JOBS = f"-j{os.cpu_count()}"


@dataclasses.dataclass(frozen=True)
class Kernel:
    """A kernel in the cache."""
    name: str
    dir: pathlib.Path
    arch: str = "x86_64"
    debug: bool = False
    foreign: bool = False		# modules for it are built in the build root

    @property
    def is_uml(self):
        return self.arch == "um"

    @property
    def image(self):
        return self.dir / ("build/linux" if self.is_uml else "vmlinuz")

    @property
    def kdir(self):
        return self.dir / "build"

    @property
    def modules(self):
        """Return the folder that is mounted as /lib/modules/RELEASE in a node."""
        return self.dir / "modules"

    @property
    def release(self):
        return (self.dir / "release").read_text(encoding="ascii").strip()

    @property
    def make_args(self):
        checks = ["UBSAN_SANITIZE=y"] if self.debug else []	# check our modules also without UBSAN_SANITIZE_ALL
        return (["ARCH=um"] if self.is_uml else []) + checks


@dataclasses.dataclass(frozen=True)
class Stock:
    """A Debian kernel: image, modules and headers from packages."""
    suite: str
    flavour: str = "amd64"
    foreign: bool = False

    def prepare(self, name):
        suite = apt.Suite(self.suite)
        wanted = [f"linux-image-{self.flavour}", f"linux-headers-{self.flavour}"]
        packages = suite.depends(wanted, DEBIAN_PARTS)
        key = cache.digest(" ".join(f"{package}={suite.version(package)}" for package in packages))
        path = cache.root() / "kernels" / f"{name}-{key}"
        with cache.making(path) as needed:
            if needed:
                with cache.progress(f"fetching {name}: {' '.join(packages)}"):
                    suite.unpack(packages, path / "root")
                    settle(path)
        return Kernel(name, path, foreign=self.foreign)


def options(fragment):
    """Return the lines of the file FRAGMENT that set or unset an option, without its comments."""
    return "\n".join(line for line in fragment.read_text(encoding="utf-8").splitlines()
                     if re.match(r"CONFIG_\w+=|# CONFIG_\w+ is not set$", line))


@dataclasses.dataclass(frozen=True)
class Built:
    """A kernel of our own configuration, from a linux-source package."""
    suite: str
    source: str
    arch: str
    fragments: tuple
    debug: bool = False

    def prepare(self, name):
        suite = apt.Suite(self.suite)
        package = newest(suite.names(self.source))
        version = suite.version(package)
        fragments = [HERE / f"{fragment}.config" for fragment in self.fragments]
        key = cache.digest(package, version, *map(options, fragments))
        path = cache.root() / "kernels" / f"{name}-{key}"
        with cache.making(path) as needed:
            if needed:
                source = unpack_source(suite, package, version)
                with cache.progress(f"building {name} of {package} {version}"):
                    build(source, path, self.arch, fragments)
        return Kernel(name, path, arch=self.arch, debug=self.debug)


NEWEST_SOURCE = r"^linux-source-[0-9.]+$"
TABLE = {
    "stock-6.1": Stock("bookworm"),
    "stock-6.1-rt": Stock("bookworm", "rt-amd64"),
    "stock-6.12": Stock("bookworm-backports"),
    "stock-new": Stock("trixie-backports", foreign=True),
    "debug-6.1": Built("bookworm", r"^linux-source-6\.1$", "x86_64",
                       ("common", "smp", "x86", "debug", "x86-debug"), debug=True),
    "uml": Built("trixie-backports", NEWEST_SOURCE, "um", ("common", "smp", "uml", "gcov")),
    "uml-up": Built("trixie-backports", NEWEST_SOURCE, "um", ("common", "uml")),
    "uml-debug": Built("trixie-backports", NEWEST_SOURCE, "um", ("common", "uml", "debug", "uml-debug"), debug=True),
}


def prepare(name):
    """Return the kernel NAME; fetch or build it if it is not in the cache."""
    kernel = TABLE[name].prepare(name)
    if kernel.foreign:
        buildroot.prepare()
    return kernel


def is_built(name):
    """Return True if the kernel NAME is built from source, not fetched as a package."""
    return isinstance(TABLE[name], Built)


def newest(packages):
    """Return the name in PACKAGES that contains the highest version number."""
    if not packages:
        raise cache.RigError("the mirror has no linux-source package")
    return max(packages, key=lambda name: [int(part) for part in re.findall(r"\d+", name)])


def unpack_source(suite, package, version):
    """Return the unpacked tree of a linux-source package; create it if necessary.

    All kernels that are built from the package share this tree.
    """
    path = cache.root() / "sources" / f"{package}-{version}"
    with cache.making(path) as needed:
        if needed:
            with cache.progress(f"fetching and unpacking {package} {version}"):
                suite.unpack([package], path / "package")
                tar = next((path / "package/usr/src").glob("*.tar.xz"))
                cache.run(["tar", "-C", path, "-xf", tar, "--strip-components=1"], env=dict(os.environ, XZ_OPT="-T0"))
                shutil.rmtree(path / "package")
    return path


def source(name):
    """Return the source tree of the kernel NAME, which has scripts such as checkpatch and kernel-doc."""
    spec = TABLE[name]
    if not isinstance(spec, Built):
        raise cache.RigError(f"{name} is not built from source: ask for debug-6.1 or uml")
    suite = apt.Suite(spec.suite)
    package = newest(suite.names(spec.source))
    return unpack_source(suite, package, suite.version(package))


def settle(path):
    """Change links and includes of unpacked packages, which would otherwise refer to files of the host."""
    root = path / "root"
    if not (root / "lib").exists():
        (root / "lib").symlink_to("usr/lib")
    modules = next((root / "lib/modules").iterdir())
    (path / "release").write_text(modules.name + "\n", encoding="ascii")
    headers = root / f"usr/src/linux-headers-{modules.name}"
    relink(root)
    makefile = headers / "Makefile"
    text = makefile.read_text(encoding="utf-8").replace("/usr/src/", f"{root}/usr/src/")
    makefile.write_text(text, encoding="utf-8")
    (path / "build").symlink_to(headers)
    (path / "modules").symlink_to(modules)
    images = [*root.glob("boot/vmlinuz-*"), *modules.glob("vmlinuz")]	# places in older and newer packages
    (path / "vmlinuz").symlink_to(images[0])
    cache.run(["depmod", "-b", root, modules.name])


def relink(root):
    """Change absolute symbolic links below ROOT, so that they refer to targets in ROOT."""
    for folder, folders, files in os.walk(root):
        for entry in folders + files:
            link = pathlib.Path(folder, entry)
            if link.is_symlink() and os.readlink(link).startswith("/usr/"):
                target = f"{root}{os.readlink(link)}"
                link.unlink()
                link.symlink_to(target)


def read_fragments(fragments):
    """Return {option: line} of configuration fragments; the last line for an option counts."""
    wanted = {}
    for fragment in fragments:
        for line in fragment.read_text(encoding="ascii").splitlines():
            found = re.match(r"(?:# )?(CONFIG_\w+)(?:=| is not set)", line)
            if found:
                wanted[found.group(1)] = line
    return wanted


def configure(source_dir, build_dir, make, fragments):
    """Configure with allnoconfig and the fragments; an option that the kernel rejects is an error."""
    wanted = read_fragments(fragments)
    merged = build_dir / "fragments.config"
    merged.write_text("\n".join(wanted.values()) + "\n", encoding="ascii")
    cache.run([*make, "-C", source_dir, "allnoconfig"], env=dict(os.environ, KCONFIG_ALLCONFIG=str(merged)))
    got = set((build_dir / ".config").read_text(encoding="ascii").splitlines())
    lost = [line for option, line in wanted.items()
            if line not in got and not (line.startswith("#") and not any(option + "=" in entry for entry in got))]
    if lost:
        raise cache.RigError("the kernel did not take: " + ", ".join(lost))


def build(source_dir, path, arch, fragments):
    build_dir = path / "build"
    build_dir.mkdir()
    log = path / "build.log"
    make = ["make", JOBS, f"ARCH={arch}", f"O={build_dir}"]
    configure(source_dir, build_dir, make, fragments)
    for target in ("linux" if arch == "um" else "bzImage", "modules_prepare"):
        # Build without warnings, because they only concern the kernel's own code. This saves 7 % of the time.
        cache.run([*make, "-C", source_dir, target, "KCFLAGS=-w"], log=log)
    shutil.copy(build_dir / "vmlinux.symvers", build_dir / "Module.symvers")	# no module of this kernel exports symbols
    release = cache.output([*make, "-s", "-C", source_dir, "kernelrelease"]).strip()
    (path / "release").write_text(release + "\n", encoding="ascii")
    if arch != "um":
        shutil.copy(build_dir / "arch/x86/boot/bzImage", path / "vmlinuz")
    module_index(path, build_dir, release)
    slim(build_dir)


def module_index(path, build_dir, release):
    """Create a folder of modules by which modprobe recognizes that all modules are built into the kernel."""
    modules = path / "root/lib/modules" / release
    modules.mkdir(parents=True)
    for name in ("modules.builtin", "modules.builtin.modinfo", "modules.order"):
        if (build_dir / name).exists():
            shutil.copy(build_dir / name, modules / name)
    (path / "modules").symlink_to(modules)
    cache.run(["depmod", "-b", path / "root", release])


def slim(build_dir):
    """Delete object files, except those that modules are linked with."""
    keep = {"scripts", "tools"}
    for entry in build_dir.iterdir():
        if re.match(r"(\.tmp_)?vmlinux(?!\.symvers)", entry.name) or entry.suffix in (".a", ".o"):
            entry.unlink()
        elif entry.is_dir() and not entry.is_symlink() and entry.name not in keep:
            for pattern in ("*.o", "*.a", ".*.o.cmd"):
                for file in entry.rglob(pattern):
                    if file.name not in ("module-common.o", ".module-common.o.cmd"):
                        file.unlink()
