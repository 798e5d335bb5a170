# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""Command lines that start a node, with QEMU or as User-mode Linux."""
import dataclasses
import functools
import lzma
import os
import pathlib
import re
import shutil
import socket
import subprocess

from rig import cache

HERE = pathlib.Path(__file__).resolve().parent.parent
BOOT_MODULES = ["virtio_pci", "9pnet_virtio", "9p", "overlay", "virtio_console"]
SOCKET_BUFFER = 8 << 20
# Use the machine q35, because its ACPI table of interrupts is static.  The machine pc computes this table in a loop
# whenever a device is enabled, which takes a debug kernel on an emulated processor 14 seconds.
MACHINE = "q35,vmport=off,hpet=off,sata=off,smbus=off"


@dataclasses.dataclass
class Setup:
    """Settings that all nodes of a run share."""
    kernel: object
    run_dir: pathlib.Path
    root: str
    memory: str
    cpus: int
    append: str
    window: list		# arguments for a memory that replaces the network; empty if there is a network
    wire: list			# options of the switch; empty if it must only forward


def mac(number):
    return f"52:54:00:56:00:{number:02x}"


@functools.cache
def kvm_works():
    """Return True if QEMU can use KVM.

    The processor must also have the flag vmx or svm, because /dev/kvm may exist on hosts where no guest boots.
    """
    flags = pathlib.Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace")
    return bool(re.search(r"^flags\s*:.*\b(vmx|svm)\b", flags, re.M)) and os.access("/dev/kvm", os.R_OK | os.W_OK)


def cable():
    """Create a socket pair that serves as a network cable, with one frame in each message."""
    ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    for end in ends:
        for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
            end.setsockopt(socket.SOL_SOCKET, option, SOCKET_BUFFER)
    return ends


def program(name, folder=HERE, parts=()):
    """Return the path of a compiled C program of FOLDER; compile it if necessary.

    PARTS: names of its further files.
    """
    sources = [folder / f"{name}.c", *(folder / part for part in parts)]
    path = cache.root() / "programs" / f"{name}-{cache.digest(*sources)}"
    with cache.making(path) as needed:
        if needed:
            compiled = [source for source in sources if source.suffix == ".c"]
            cache.run(["gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", "-o", path / name, *compiled])
    return path / name


def switch():
    """Return the path of the switch."""
    return program("switch", parts=("meddle.c", "meddle.h"))


@functools.cache
def processor():
    """Return the arguments of QEMU that choose a processor, and the arguments of a kernel for that processor."""
    if kvm_works():
        return ["-accel", "kvm", "-cpu", "host"], []
    khz = cache.output([program("tsc")]).strip()
    return ["-accel", "tcg,thread=multi", "-cpu", "max,la57=off"], ["tsc=reliable", f"tsc_early_khz={khz}"]


def debug_arguments(kernel):
    return ["panic_on_warn=1"] if kernel.debug else []


def uml_command(setup, node, net, outputs, console):
    """Return the command that runs User-mode Linux.

    NET is the socket of this node, or None.  OUTPUTS has a pipe for each node of this kernel.
    """
    del console			# the standard output of User-mode Linux is the console
    argv = [setup.kernel.image, f"mem={setup.memory}", "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro",
            f"init={HERE}/node/uml-init", "seccomp=on", "con=null", "con0=null,fd:1", f"uml_dir={setup.run_dir}",
            f"umid=node{node}", "loglevel=7", "panic=-1", "oops=panic", *debug_arguments(setup.kernel),
            f"rig_dir={setup.run_dir}", f"rig_root={setup.root}", f"rig_kernel={setup.kernel.modules.resolve()}",
            f"rig_node={node}"]
    if not setup.kernel.debug:
        argv.append(f"ncpus={setup.cpus}")
    if net:
        argv.append(f"vec0:transport=fd,fd={net.fileno()},mac={mac(node)},mtu=9000,depth=512")
    for number, pipe in enumerate(outputs, 1):
        argv.append(f"con{number}=null,fd:{pipe}")
    return [*argv, *setup.window, *setup.append.split()]


def share(tag, path, access):
    path = str(path).replace(",", ",,")		# QEMU's escape for a comma in an option
    return ["-virtfs", f"local,id={tag},mount_tag={tag},path={path},security_model=none,multidevs=remap{access}"]


def qemu_shares(setup):
    return [*share("root", setup.root, ",readonly=on"), *share("rig", setup.run_dir / "rig", ",readonly=on"),
            *share("kernel", setup.kernel.modules.resolve(), ",readonly=on"),
            *share("exchange", setup.run_dir / "exchange", "")]


def page_pool(kernel):
    """Return an option of virtio-net for kernels where rxe hangs if virtio_net uses a page pool; "" for others.

    The option keeps virtio_net from using a page pool, see README.rst.
    """
    return ",mrg_rxbuf=off" if kernel.name == "stock-new" else ""


def qemu_command(setup, node, net, outputs, console):
    """Return the command that runs QEMU.

    NET is the socket of this node, or None if the node has no network adapter.  OUTPUTS has a pipe for each
    node, and CONSOLE is the file for the kernel log.
    """
    machine, told = processor()
    append = ["console=ttyS0", "loglevel=7", "panic=-1", "oops=panic", "mitigations=off", "no_timer_check",
              "net.ifnames=0", *told, *debug_arguments(setup.kernel), f"rig_node={node}", setup.append]
    return ["qemu-system-x86_64", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", *machine,
            "-machine", MACHINE, "-smp", str(setup.cpus), "-m", setup.memory,
            "-kernel", setup.kernel.image, "-initrd", initramfs(setup.kernel), "-append", " ".join(append),
            "-serial", f"file:{console}", "-device", "virtio-rng-pci", "-device", "virtio-serial-pci",
            *qemu_outputs(outputs), *qemu_shares(setup), *(qemu_net(setup, node, net) if net else []), *qemu_window(setup, node)]


def qemu_window(setup, node):
    """Return the arguments for a memory that machines share.  Its driver knows a machine again by its UUID."""
    return [*setup.window, "-uuid", f"00000000-0000-4000-8000-{node:012x}"] if setup.window else []


def qemu_outputs(outputs):
    """Return the arguments for the ports output1, output2, ... that carry the output of the nodes."""
    argv = []
    for number, pipe in enumerate(outputs, 1):
        argv += ["-chardev", f"file,id=output{number},path=/dev/fd/{pipe}",
                 "-device", f"virtserialport,chardev=output{number},name=output{number}"]
    return argv


def qemu_net(setup, node, net):
    return ["-netdev", f"dgram,id=net,local.type=fd,local.str={net.fileno()}",
            "-device", f"virtio-net-pci,netdev=net,mac={mac(node)},host_mtu=9000{page_pool(setup.kernel)},romfile="]


def initramfs(kernel):
    """Return the path of an initramfs that mounts the real root; create it if necessary.

    It has busybox, a few modules, and the script node/initramfs as first process.
    """
    busybox = pathlib.Path(shutil.which("busybox") or "busybox")
    script = HERE / "node/initramfs"
    key = cache.digest(busybox, script, " ".join(BOOT_MODULES), str(kernel.dir))
    path = cache.root() / "initramfs" / f"{kernel.name}-{key}"
    with cache.making(path) as needed:
        if needed:
            fill_initramfs(kernel, path / "tree", busybox, script)
            pack(path / "tree", path / "image")
            shutil.rmtree(path / "tree")
    return path / "image"


def fill_initramfs(kernel, tree, busybox, script):
    for folder in ("bin", "modules", "proc", "dev"):
        (tree / folder).mkdir(parents=True)
    shutil.copy(busybox, tree / "bin/busybox")
    shutil.copy(script, tree / "init")
    names = []
    for source in boot_modules(kernel):
        name = source.name.removesuffix(".xz")
        names.append(name)
        data = source.read_bytes()
        (tree / "modules" / name).write_bytes(lzma.decompress(data) if source.suffix == ".xz" else data)
    (tree / "modules/list").write_text("".join(f"{name}\n" for name in names), encoding="ascii")


def boot_modules(kernel):
    """Return the files of the modules that are needed to mount the root, each after its dependencies."""
    root = kernel.modules.resolve().parents[2]
    needed = {}
    for name in BOOT_MODULES:
        shown = cache.output(["modprobe", "-d", root, "-S", kernel.release, "--show-depends", name])
        for line in shown.splitlines():
            kind, _, path = line.partition(" ")
            if kind == "insmod":
                needed[pathlib.Path(path.split()[0])] = None
    return list(needed)


def pack(tree, image):
    """Pack TREE into a cpio archive, uncompressed because an emulated processor unpacks slowly."""
    names = "".join(f"{path.relative_to(tree)}\n" for path in sorted(tree.rglob("*")))
    with open(image, "wb") as file:
        subprocess.run(["cpio", "-o", "-H", "newc", "-R", "0:0", "--quiet"], cwd=tree, input=names.encode(),
                             stdout=file, check=True)


