# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""Tests of tools/ntr-server with clients instead of QEMU, and of its systemd unit.  No kernel module is needed."""
import grp
import os
import pathlib
import shutil
import signal
import socket
import stat
import subprocess
import tempfile

import ktap
import ntrclient
import static

TOP = static.TOP
SECONDS = 20
SIZE = 1 << 20
DOORBELLS = 2


class Wrong(Exception):
    """Raised when the server does not do what its manual page says."""


def expect(condition, what):
    if not condition:
        raise Wrong(what)


class Server:
    """A running server, which this process has started as systemd does."""

    def __init__(self, place, *words, abstract=False):
        self.path = f"{place}/socket"
        # Abstract names belong to the whole machine.
        name = f"\0ntr-server-{os.getpid()}" if abstract else f"{place}/notify"
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.settimeout(SECONDS)
            manager.bind(name)
            self.process = subprocess.Popen([place / "ntr-server", *words, self.path], stdout=subprocess.PIPE,
                                            stderr=subprocess.STDOUT, text=True,
                                            env={**os.environ, "NOTIFY_SOCKET": name.replace("\0", "@")})
            try:
                expect(manager.recv(100) == b"READY=1", "not ready")
            except OSError:
                self.process.kill()
                raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def client(self):
        return ntrclient.Client(self.path)


def two_join(place):
    """Two machines get their numbers, one memory, and the doorbells of both; each is notified of the other one."""
    with Server(place, "-l", str(SIZE), "-n", str(DOORBELLS)) as server:
        first, second = server.client(), server.client()
        expect(first.join(DOORBELLS) == (0, 0, SIZE), "the first machine")
        expect(second.join(DOORBELLS) == (0, 1, SIZE), "the second machine")
        expect(os.pwrite(first.memory, b"word", 64) == 4 and os.pread(second.memory, 4, 64) == b"word", "the memory")
        expect(len(second.bells[0]) == DOORBELLS, f"doorbells of the first machine: {second.bells}")
        expect([first.message()[0] for _ in range(DOORBELLS)] == [1] * DOORBELLS, "the first machine is notified")
        os.write(second.bells[0][1], (1).to_bytes(8, "little"))
        expect(os.read(first.bells[0][1], 8) == (1).to_bytes(8, "little"), "the doorbell rings")
        second.close()
        expect(first.message() == (1, -1), "the first machine is notified that the second one has departed")
        first.close()


def stops(place):
    """SIGTERM ends the server with status 0, and removes its socket, which only its user can connect to."""
    with Server(place, abstract=True) as server:
        expect(stat.S_IMODE(os.stat(server.path).st_mode) == 0o600, "the mode of the socket")
        server.process.send_signal(signal.SIGTERM)
        expect(server.process.wait(SECONDS) == 0, "the exit status")
        expect(not os.path.exists(server.path), "the socket is left")


def group_connects(place):
    """A member of the group can connect; the last -g counts, as the unit needs it."""
    group = grp.getgrgid(os.getgid()).gr_name
    with Server(place, "-g", "no-such-group", "-g", group) as server:
        status = os.stat(server.path)
        expect(stat.S_IMODE(status.st_mode) == 0o660 and status.st_gid == os.getgid(), f"{status}")


def unit_is_valid(place):
    """systemd accepts the unit of an instance, which names the installed program."""
    unit = place / "root/usr/local/lib/systemd/system/ntr-server@.service"
    text = unit.read_text(encoding="utf-8")
    expect("ExecStart=/usr/local/bin/ntr-server " in text and "/usr/bin/" not in text, text)
    if not shutil.which("systemd-analyze"):
        return
    # The program of this test is not installed where the unit expects it.
    instance = place / "ntr-server@red.service"
    instance.write_text(text.replace("/usr/local/", f"{place}/root/usr/local/"), encoding="utf-8")
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", "--recursive-errors=yes", instance], check=False,
                          capture_output=True, text=True, timeout=SECONDS)
    expect(done.returncode == 0 and not done.stderr, done.stderr)


CASES = {"machines join, and get memory and doorbells": two_join,
         "SIGTERM ends the server": stops,
         "the last group may connect": group_connects,
         "the unit of systemd is valid": unit_is_valid}


def check(log):
    """Run all cases with the installed program."""
    results = ktap.Results()
    for name, case in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder)
            make = ["make", "-s", "-C", TOP / "tools/ntr-server", f"BUILD={place}/build", "WERROR=-Werror"]
            try:
                for words in ([], [f"DESTDIR={place}/root", "install"]):
                    subprocess.run([*make, *words], check=True, capture_output=True, text=True)
                shutil.copy(place / "root/usr/local/bin/ntr-server", place)
                case(place)
                results.passed.append(name)
            except (Wrong, OSError, EOFError, ValueError, subprocess.SubprocessError) as wrong:
                static.write(log, f"{name}: {wrong} {getattr(wrong, 'stderr', '')}\n")
                results.failed.append(name)
    return results
