# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""Processes of nodes: start them, forward their output, end them, judge them."""
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import threading
import time

from rig import cache, hypervisor

HERE = pathlib.Path(__file__).resolve().parent.parent
GRACE = 30			# time for the other nodes after one has failed, in seconds
BOOT_SILENCE = 120		# time without output after which a booting kernel counts as hanging, in seconds
FIRST_PROGRAM = re.compile(r"Run \S+init as init process")
TAIL = 40
print_lock = threading.Lock()


def spawn(argv, fds, stdout):
    """Start a process in its own group.  The kernel kills the process when this process ends for any reason.

    setpriv requests that from the kernel, and then executes ARGV.  Do not use preexec_fn for it: Python would run
    between fork() and exec(), where a lock that another thread held at fork() is never released.
    """
    return subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *(str(word) for word in argv)], stdin=subprocess.DEVNULL,
                            stdout=stdout, stderr=subprocess.STDOUT, pass_fds=fds, start_new_session=True)


def end(process):
    """Kill a process group and wait for it."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


class Machine:
    """A kernel with one node, or with all nodes as its namespaces."""

    def __init__(self, setup, number, nodes, net, life=1, bells=()):
        self.number = number
        self.nodes = nodes
        self.life = life
        self.console = setup.run_dir / (f"n{number}.console" if life == 1 else f"n{number}-{life}.console")
        self.verdict = setup.run_dir / f"exchange/.rig/verdict.{number}"
        self.readers = []
        self.killed = False
        self.removed = False		# a script has killed this machine
        self.done = False		# the machine has ended by itself
        pipes = [os.pipe() for _ in nodes]
        outputs = [write for _, write in pipes]
        command = hypervisor.uml_command if setup.kernel.is_uml else hypervisor.qemu_command
        argv = command(setup, number, net, outputs, self.console)
        argv += [f"rig_bells={','.join(map(str, bells))}"] if bells else []
        with open(self.console, "ab") as console:
            self.process = spawn(argv, [*outputs, *bells, *([net.fileno()] if net else [])], console)
        for node, (read, write) in zip(nodes, pipes):
            os.close(write)
            thread = threading.Thread(target=pass_on, args=(node, read), daemon=True)
            thread.start()
            self.readers.append(thread)

    def running(self):
        return self.process.poll() is None

    def hangs_at_boot(self):
        """Return True if no node has begun its script and the kernel has printed nothing for BOOT_SILENCE seconds."""
        marks = [self.verdict.parent / f"barrier/.boot.1.{node}" for node in self.nodes]
        silence = time.time() - self.console.stat().st_mtime
        return silence > BOOT_SILENCE and self.running() and not any(mark.exists() for mark in marks)

    def signal(self):
        """Return the name of the signal that ended the emulator; None if no signal did, or kill() sent the signal."""
        status = self.process.poll()
        return signal.Signals(-status).name if status is not None and status < 0 and not self.killed else None

    def breaks_at_boot(self):
        """Return True if, before the first program, the kernel hit an unknown breakpoint or the emulator died."""
        text = self.console.read_text(encoding="utf-8", errors="replace")
        return bool("Oops: int3:" in text or self.signal()) and not FIRST_PROGRAM.search(text)

    def kill(self):
        self.killed = self.running()
        end(self.process)

    def finish(self):
        for reader in self.readers:
            reader.join(timeout=10)

    def failures(self):
        """Return a list of the reasons why this machine failed; it is empty if the machine passed."""
        lines = self.verdict.read_text(encoding="utf-8", errors="replace").splitlines() if self.verdict.exists() else []
        found = [line.removeprefix("fail ") for line in lines if line.startswith("fail ")]
        passed = {int(line.split()[1]) for line in lines if re.fullmatch(r"script \d+ 0", line)}
        found += splats(self.console)
        if "end" not in lines:
            by = f" by {self.signal()}" if self.signal() else ""
            found.append(f"no verdict: the node ended{by} before its script was judged")
        elif passed != set(self.nodes) and not found:
            found.append("the script did not run")
        return found


def pass_on(node, read):
    """Copy the output of a node to our standard output, each line with the number of the node."""
    with open(read, "rb") as file:
        for line in file:
            try:
                with print_lock:
                    sys.stdout.buffer.write(b"n%d| " % node + line.rstrip(b"\r\n") + b"\n")
                    sys.stdout.buffer.flush()
            except BrokenPipeError:		# the reader of our output has ended: end the whole run
                os.kill(os.getpid(), signal.SIGTERM)
                return


def splat_patterns():
    """Return the patterns of the file splats."""
    lines = (HERE / "splats").read_text(encoding="ascii").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def splats(console):
    """Return a list with the first line of the kernel log CONSOLE that matches a pattern; it is empty if none does."""
    pattern = re.compile("|".join(f"(?:{pattern})" for pattern in splat_patterns()))
    for line in console.read_text(encoding="utf-8", errors="replace").splitlines():
        if pattern.search(line):
            return [f"kernel log: {line.strip()}"]
    return []


def show_tail(machine):
    lines = machine.console.read_text(encoding="utf-8", errors="replace").splitlines()
    for line in lines[-TAIL:]:
        print(f"n{machine.number}! {line.rstrip()}", file=sys.stderr)


class Fleet:
    """All machines of a run and the network between them.

    Scripts can ask for actions on a machine without a network, by a file ask.N: kill, boot (after kill), stop, and
    cont.  The file is deleted when this is done.
    """

    def __init__(self, setup, count, namespaces, wired):
        self.setup = setup
        self.count = count
        self.namespaces = namespaces
        self.wired = wired		# machines have a network
        self.machines = []
        self.past = []			# machines that scripts have killed
        self.switch = None
        self.server = None
        self.bells = []			# pairs of sockets, if kernels of User-mode Linux share a memory
        self.timed_out = False
        self.hung_at_boot = False

    def start(self):
        if self.namespaces:
            self.machines.append(Machine(self.setup, 1, range(1, self.count + 1), None))
            return
        if not self.wired:
            for number in range(1, self.count + 1):
                self.machines.append(Machine(self.setup, number, [number], None, bells=self.bells_of(number)))
            return
        ends = self.wire()
        for number, net in enumerate(ends, 1):
            self.machines.append(Machine(self.setup, number, [number], net))
            net.close()

    def start_server(self, size):
        """Start the program that gives the machines a memory and doorbells."""
        place = self.setup.run_dir / "bells"
        server = hypervisor.program("ntr-server", hypervisor.HERE.parent.parent / "tools/ntr-server")
        self.server = spawn([server, "-m", self.setup.run_dir / "window", "-l", size, place], (), subprocess.DEVNULL)
        deadline = time.monotonic() + GRACE
        while not place.exists():
            if self.server.poll() is not None or time.monotonic() > deadline:
                raise cache.RigError("ntr-server does not run")
            time.sleep(0.02)

    def share(self, inbox):
        """Create the file and the doorbells of kernels of User-mode Linux: a socket pair for each node."""
        with open(self.setup.run_dir / "window", "wb") as file:
            file.truncate(self.count * (self.count - 1) * inbox)
        self.bells = [socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM) for _ in range(self.count)]

    def bells_of(self, number):
        """Return the file descriptors for the doorbells of all nodes, for node NUMBER, which receives its own."""
        return [pair[index != number - 1].fileno() for index, pair in enumerate(self.bells)]

    def wire(self):
        """Return a socket for each node.

        A cable connects two nodes.  A switch connects any other number, and also two if it does more than to forward.
        """
        if self.count == 2 and not self.setup.wire:
            return hypervisor.cable()
        cables = [hypervisor.cable() for _ in range(self.count)]
        far = [end.fileno() for _, end in cables]
        self.switch = spawn([hypervisor.switch(), *self.setup.wire, *far], far, subprocess.DEVNULL)
        for _, end_of_switch in cables:
            end_of_switch.close()
        return [near for near, _ in cables]

    def obey(self):
        """Do what scripts ask for."""
        for index, machine in enumerate(self.machines):
            ask = self.setup.run_dir / f"exchange/.rig/ask.{machine.number}"
            if not ask.exists():
                continue
            word = ask.read_text(encoding="ascii").strip()
            if word == "boot":
                self.past.append(machine)
                self.machines[index] = Machine(self.setup, machine.number, machine.nodes, None, machine.life + 1,
                                               self.bells_of(machine.number))
            elif word == "kill":
                machine.removed = True
                machine.kill()
            else:
                os.killpg(machine.process.pid, {"stop": signal.SIGSTOP, "cont": signal.SIGCONT}[word])
            ask.unlink()

    def wait(self, timeout):
        """Wait until all machines are off, for at most TIMEOUT seconds.

        After a machine has failed, wait for at most GRACE more seconds.
        """
        deadline = time.monotonic() + timeout
        while any(not machine.done for machine in self.machines):
            if self.setup.window:
                self.obey()
            waiting = [machine for machine in self.machines if not machine.done]
            if any(machine.hangs_at_boot() for machine in waiting):
                self.hung_at_boot = True
                return
            for machine in [machine for machine in waiting if not machine.running() and not machine.removed]:
                if machine.breaks_at_boot():
                    self.hung_at_boot = True
                    return
                machine.done = True
                if self.mark_ended(machine):
                    deadline = min(deadline, time.monotonic() + GRACE)
            if time.monotonic() > deadline:
                self.timed_out = True
                return
            time.sleep(0.02)

    def mark_ended(self, machine):
        """Note that a machine has ended, so that barriers do not wait for it; return True if the machine has failed."""
        for node in machine.nodes:
            (self.setup.run_dir / f"exchange/.rig/ended.{node}").touch()
        return bool(machine.failures())

    def stop(self):
        """End all processes, and wait for the threads that read their output."""
        for machine in self.machines:
            machine.kill()
        for process in (self.switch, self.server):
            if process:
                end(process)
        for end_of_pair in (end_of_pair for pair in self.bells for end_of_pair in pair):
            end_of_pair.close()
        for machine in self.machines + self.past:
            machine.finish()

    def judge(self):
        """Return the reasons why the run failed, and print the end of the kernel log of each machine that failed."""
        reasons = []
        for machine in self.machines:
            found = machine.failures()
            if found:
                show_tail(machine)
            reasons += [f"n{machine.number}: {line}" for line in found]
        reasons += [f"n{machine.number}: {line}" for machine in self.past for line in splats(machine.console)]
        if self.timed_out:
            reasons.insert(0, "timeout")
        if self.hung_at_boot:
            reasons.insert(0, "hangs or breaks at boot")
        return reasons


def keep_logs(run_dir):
    """Copy the kernel logs of a failed run into the cache, and return their new folder.

    The cache keeps the logs of the latest twenty runs.
    """
    logs = cache.root() / "logs"
    kept = logs / run_dir.name
    kept.mkdir(parents=True)
    for console in run_dir.glob("*.console"):
        (kept / console.name).write_bytes(console.read_bytes())
    for old in sorted(logs.iterdir(), key=os.path.getmtime)[:-20]:
        for file in old.iterdir():
            file.unlink()
        old.rmdir()
    return kept
