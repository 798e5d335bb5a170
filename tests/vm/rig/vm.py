# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""tools/vm: boot nodes with our modules and run a script on all of them."""
import argparse
import os
import pathlib
import re
import shlex
import shutil
import signal
import sys
import tempfile

from rig import cache, hypervisor, kernels, modules, need, nodes

HERE = pathlib.Path(__file__).resolve().parent.parent
LINK_MODULES = {"rxe": "rdma_rxe", "siw": "siw", "ntr": "ntrdma"}
# Links that emulate an adapter: the link that scripts see, the parameters of its module, and those of the kernel. With
# swiotlb=force, a device reads and writes copies of the memory that a consumer maps. The copies have room for 256 MiB.
# User-mode Linux has no swiotlb, and ignores the parameter.
EMULATED = {
    "ntr-dma": ("ntr", "dma=1", "swiotlb=131072,force"),
    "ntr-small": ("ntr", "max_wr=512 max_sge=4 max_inline=32 max_reads=1 max_pages=128 page_sizes=4096 strict_inv=1", ""),
    "ntr-order": ("ntr", "order=random late_us=2000", ""),
}
# Links through memory that machines of QEMU share, without and with doorbells. There is no network between them.
WINDOWS = ("ntr-shm", "ntr-bell")
WINDOW_SIZE = "64M"
# A link through a file that kernels of User-mode Linux share (tests/e2e/umlwin), with an inbox of 4 MiB for each ordered
# pair.
SHARED = "ntr-uml"
INBOX = 4 << 20
# Links through a PCIe non-transparent bridge that a module for tests emulates (tests/e2e/twin). Its two ends are devices
# of one kernel. With ntr-ntb-dma, another module emulates a DMA engine, which copies late, in any order, and sometimes
# fails.
TWIN, TWIN_DMA = TWINS = ("ntr-ntb", "ntr-ntb-dma")
SOFTDMA = "delay_us=100 shuffle=1 fail=7"
OWN_MODULES = {SHARED: ["ntr_uml"], TWIN: ["ntr_twin"], TWIN_DMA: ["ntr_twin", "ntr_softdma"]}
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
MAX_NODES = 15			# number of consoles of User-mode Linux
RULE = re.compile(r"(change|drop|hold|repeat|swap)(,(kind=(send|read|req|rep)|nth=0*[1-9]\d*|(from|min|byte)=\d+))*", re.A)
MAX_RULES = 16


def arguments():
    parser = argparse.ArgumentParser(
        prog="tools/vm", description="Boot N nodes with our modules and run SCRIPT (bash) on each of them at once.",
        epilog="In the script: NODE=1..N, NODES=N, node i is 10.56.0.i and fd56::i, RDMADEV names its RDMA link, RFM "
               "its reflective-memory device; 'barrier NAME' waits for all nodes, 'dmesg_node' prints the kernel log; "
               "/exchange is shared by all nodes, /add has the files of --add, /modules our modules.")
    parser.add_argument("-V", "--version", action="version", version=f"%(prog)s {need.version()}")
    parser.add_argument("--kernel", choices=list(kernels.TABLE), default="stock-6.1")
    parser.add_argument("--nodes", type=int, default=2, metavar="N")
    parser.add_argument("--link", choices=[*LINK_MODULES, *EMULATED, *WINDOWS, SHARED, *TWINS], default="rxe")
    parser.add_argument("--adapter", action="store_true", help="with ntr-shm or ntr-bell: machines also have a network adapter, net0")
    parser.add_argument("--load", default="", metavar="MODULES", help='modules to load, in order: "krdma krping"')
    parser.add_argument("--add", action="append", default=[], type=pathlib.Path, metavar="FILE")
    parser.add_argument("--root", default="/", metavar="DIR", help="a debootstrap tree (default: this machine)")
    parser.add_argument("--append", default="", metavar="ARGS", help="additional arguments of the kernel")
    parser.add_argument("--mem", metavar="M", help="memory of a machine, such as 1G")
    parser.add_argument("--cpus", type=int, default=2, metavar="N")
    parser.add_argument("--make", action="append", default=[], metavar="WORD",
                        help="additional argument of make for our modules, such as --make=W=1")
    parser.add_argument("--capture", metavar="FILE",
                        help="write all frames between the nodes to FILE (pcap); /exchange/NAME is a file that scripts see")
    parser.add_argument("--meddle", action="append", default=[], metavar="RULE",
                        help="change a RoCE packet on its way, such as change,from=2,min=64,byte=40; see testing.rst")
    parser.add_argument("--timeout", type=float, default=600, metavar="S",
                        help="time limit for boot and script, in seconds")
    parser.add_argument("script", type=pathlib.Path, metavar="SCRIPT")
    parser.add_argument("args", nargs=argparse.REMAINDER, metavar="ARG")
    return check(parser, parser.parse_args())


def check(parser, args):
    """Return ARGS, or exit with an error message of one line if they cannot work."""
    if args.link == "siw" and args.kernel.startswith("stock"):
        refuse(f"--link siw: {args.kernel} is a Debian kernel, and those are built without siw")
    if args.link in WINDOWS and args.kernel.startswith("uml"):
        refuse(f"--link {args.link}: only QEMU has a device for memory that machines share")
    if args.link in (SHARED, *TWINS) and not args.kernel.startswith("uml"):
        refuse(f"--link {args.link}: only with User-mode Linux")
    if args.link in TWINS and args.nodes != 2:
        refuse(f"--link {args.link}: a bridge has two ends, so there are two nodes")
    if args.adapter and args.link not in WINDOWS:
        refuse(f"--adapter: with --link {args.link} the nodes have a network already")
    if (args.capture or args.meddle) and not has_wire(args):
        refuse(f"--capture, --meddle: with --link {args.link} and {args.kernel} no frame passes between machines")
    if len(args.meddle) > MAX_RULES:
        refuse(f"--meddle: at most {MAX_RULES} rules")
    for rule in args.meddle:
        if not RULE.fullmatch(rule):
            refuse(f"--meddle {rule}: not a rule")
    if not 1 <= args.nodes <= MAX_NODES:
        parser.error(f"--nodes: 1 to {MAX_NODES}")
    for file in [args.script, *args.add]:
        if not file.is_file():
            refuse(f"{file}: no such file")
    if not os.path.isdir(args.root):
        refuse(f"--root {args.root}: no such folder")
    return args


def has_wire(args):
    """Return True if the nodes are machines with network adapters for RDMA."""
    return args.link in ("rxe", "siw") and args.kernel != "uml-debug"


def wire(args, run_dir):
    """Return the options of the switch."""
    if not args.capture and not args.meddle:
        return []
    options = [f"-m{rule}" for rule in args.meddle] + ["-w", run_dir / "exchange/.rig/meddle"]
    if not args.capture:
        return options
    shared = args.capture.startswith("/exchange/")
    return [*options, "-c", run_dir / args.capture[1:] if shared else os.path.abspath(args.capture)]


def refuse(text):
    print(f"vm: {text}", file=sys.stderr)
    sys.exit(2)


def fill(run_dir, args, kernel):
    """Fill the folders that nodes see as /rig, /add, /modules and /exchange."""
    rig = run_dir / "rig"
    shutil.copytree(HERE / "node", rig)
    for folder in (rig / "add", rig / "modules", rig / "script", run_dir / "exchange/.rig/barrier"):
        folder.mkdir(parents=True)
    shutil.copy(args.script, rig / "script")
    for file in args.add:
        shutil.copy(file, rig / "add")
    try:
        with modules.built(kernel, args=args.make) as folder:
            shutil.copytree(folder, rig / "modules", dirs_exist_ok=True)
    except cache.RigError as error:
        if args.load:
            raise
        cache.say(f"{error}: /modules is empty")
    own = (["ntrdma"] if link_of(args)[0] == "ntr" else []) + OWN_MODULES.get(args.link, [])
    missing = [name for name in own + args.load.split() if not (rig / f"modules/{name}.ko").exists()]
    if missing:
        raise cache.RigError(f"--load: no module {' '.join(missing)} was built")
    (rig / "conf").write_text(configuration(args, kernel), encoding="utf-8")
    (rig / "args").write_text(f"ARGS=({shlex.join(args.args)})\n", encoding="utf-8")


def configuration(args, kernel):
    """Return the variables for the shell programs of a node, as lines that busybox can also read."""
    link, options, _ = link_of(args)
    values = {"NODES": args.nodes, "LINK": link, "LINK_MODULE": LINK_MODULES[link], "LINK_OPTIONS": options,
              "LOAD": args.load, "SCRIPT": args.script.name, "KERNEL": kernel.name, "IS_UML": int(kernel.is_uml),
              "DEBUG": int(kernel.debug), "NAMESPACES": int(in_namespaces(args, kernel)), "WINDOW": int(args.link in (*WINDOWS, SHARED)),
              "TWIN": int(args.link in TWINS), "SOFTDMA": SOFTDMA if args.link == TWIN_DMA else "", "ADAPTER": int(args.adapter),
              "MODULAR": int(isinstance(kernels.TABLE[kernel.name], kernels.Stock)),
              "SYSTEMD": int(boots_systemd(args, kernel))}
    return "".join(f"{name}={shlex.quote(str(value))}\n" for name, value in values.items())


def boots_systemd(args, kernel):
    """Return True if systemd boots the node.

    It does so only in a tree of --root, and only with a stock kernel, because the other kernels lack cgroups.
    """
    own = os.path.realpath(args.root) != "/" and isinstance(kernels.TABLE[kernel.name], kernels.Stock)
    return own and os.path.exists(os.path.join(args.root, "usr/lib/systemd/systemd"))


def memory(args, kernel):
    """Return the memory of a machine.  Nodes that are namespaces of one debug kernel share it."""
    return "2G" if kernel.debug and in_namespaces(args, kernel) else "1G"


def link_of(args):
    """Return the name of the link, the parameters of its module, and those of the kernel."""
    if args.link in WINDOWS:
        return "ntr", f"members={max(args.nodes, 2)}", ""
    if args.link in (SHARED, *TWINS):
        return "ntr", "dma_min=64" if args.link == TWIN_DMA else "", ""
    return EMULATED.get(args.link, (args.link, "", ""))


def in_namespaces(args, kernel):
    """Return True if the nodes are namespaces of one kernel.

    They are on uml-debug, because the vector driver, which other kernels of UML use, would disable lockdep. They are
    with ntrdma, because the back end "local" connects devices of one kernel. The back end "ivshmem" connects machines.
    """
    if args.link in (*WINDOWS, SHARED):
        return False
    return (kernel.is_uml and kernel.debug) or link_of(args)[0] == "ntr"


def window(args, run_dir):
    """Return the arguments of QEMU or of User-mode Linux for the memory that the machines share."""
    if args.link == SHARED:
        return [f"rig_window={run_dir}/window"]
    if args.link not in WINDOWS:
        return []
    if args.link == "ntr-bell":
        return ["-chardev", f"socket,id=window,path={run_dir}/bells", "-device", "ivshmem-doorbell,chardev=window,vectors=5"]
    return ["-object", f"memory-backend-file,id=window,mem-path={run_dir}/window,size={WINDOW_SIZE},share=on",
            "-device", "ivshmem-plain,memdev=window"]


def boot(setup, args, kernel):
    """Run all nodes until they are off, or until the time limit; return the fleet."""
    fleet = nodes.Fleet(setup, args.nodes, in_namespaces(args, kernel),
                        args.link not in (*WINDOWS, SHARED) or args.adapter)
    try:
        if args.link == "ntr-bell":
            fleet.start_server(WINDOW_SIZE)
        if args.link == SHARED:
            fleet.share(INBOX)
        fleet.start()
        fleet.wait(args.timeout)
    finally:
        fleet.stop()
    return fleet


def forget_nodes(run_dir):
    """Delete the files that nodes have written before any script began, so that they can boot again."""
    for console in run_dir.glob("*.console"):
        console.unlink()
    (run_dir / "window").unlink(missing_ok=True)
    shutil.rmtree(run_dir / "exchange/.rig")
    (run_dir / "exchange/.rig/barrier").mkdir(parents=True)


def run(args, run_dir):
    """Boot the nodes, wait until they end, judge the run, and return the exit status."""
    kernel = kernels.prepare(args.kernel)
    fill(run_dir, args, kernel)
    append = f"{args.append} {link_of(args)[2]}".strip()
    setup = hypervisor.Setup(kernel, run_dir, os.path.abspath(args.root),
                             args.mem or memory(args, kernel), args.cpus, append, window(args, run_dir),
                             wire(args, run_dir))
    fleet = boot(setup, args, kernel)
    if fleet.hung_at_boot and not kernel.is_uml:
        # Boot once more, because the emulator may have failed before any script began:
        # - The timer interrupts of an emulated machine stop before its second processor is up (QEMU 7.2 with TCG, mostly
        #   debug-6.1, about one boot in twenty on a busy host).
        # - A processor hits a breakpoint that another one has already removed from the kernel's code (seen once, 7.3,
        #   static keys of sched_clock_cpu()).
        # - QEMU dies by SIGSEGV (seen once, 7.2, on a busy host, while the kernel was reading sizes of PCI BARs).
        cache.say("a node hangs or breaks at boot: once more")
        forget_nodes(run_dir)
        fleet = boot(setup, args, kernel)
    reasons = fleet.judge()
    if not reasons:
        return 0
    print(f"vm: kernel logs: {nodes.keep_logs(run_dir)}", file=sys.stderr)
    print(f"vm: FAILED ({args.kernel}, {args.script.name}): {'; '.join(reasons)}", file=sys.stderr)
    return 1


def interrupted(number, _frame):
    """Exit with all clean-ups.  Ignore further signals, because they would interrupt the clean-ups."""
    for other in SIGNALS:
        signal.signal(other, signal.SIG_IGN)
    sys.exit(128 + number)


def main():
    args = arguments()
    need.packages("tools/vm", *need.of_kernels([args.kernel]), "scripts")
    for number in SIGNALS:
        signal.signal(number, interrupted)
    with tempfile.TemporaryDirectory(prefix="krdma-vm-") as run_dir:
        try:
            return run(args, pathlib.Path(run_dir))
        except (cache.RigError, OSError) as error:
            print(f"vm: {cache.in_words(error)}", file=sys.stderr)
            return 1
