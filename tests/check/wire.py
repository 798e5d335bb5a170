# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""Tests of the switch of tools/vm with sockets instead of machines: capture, and rules that change RoCE packets."""
import os
import pathlib
import socket
import struct
import subprocess
import tempfile

import ktap
import static
from rig import hypervisor, roce

SECONDS = 20
SEND, READ, ACK, UD = 4, 16, 17, 0x64	# opcodes: SEND only, only answer to a READ, acknowledgment, datagram
ACK_REQUESTED = 0x80000000


class Wrong(Exception):
    """Raised when the switch does not what a rule says."""


def expect(condition, what):
    if not condition:
        raise Wrong(what)


def frame(number, payload, opcode=SEND, qp=17, six=False):
    """Return a frame with a RoCE packet, whose number is NUMBER."""
    pad = -len(payload) % 4
    more = bytes({READ: 4, ACK: 4, UD: 8}.get(opcode, 0))
    bth = struct.pack(">BBHII", opcode, pad << 4, 0xffff, qp, number)
    body = bth + more + payload + bytes(pad)
    length = 8 + len(body) + roce.ICRC_LEN
    udp = struct.pack(">HHHH", 50000, roce.PORT, length, 0)
    if six:
        ip = struct.pack(">IHBB", 0x60300001, length, 17, 64) + bytes(range(32))
    else:
        ip = struct.pack(">BBHHHBBH8s", 0x45, 0, 20 + length, 7, 0x4000, 64, 17, 0x1234, bytes(range(8)))
    data = ip + udp + body + bytes(roce.ICRC_LEN)
    data = data[:-roce.ICRC_LEN] + roce.icrc(data, len(ip) + 8)
    return b"\xff" * 6 + bytes([2, 0, 0, 0, 0, 1]) + (b"\x86\xdd" if six else b"\x08\x00") + data


class Switch:
    """A switch with two ports."""

    def __init__(self, *options):
        self.ends = [socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM) for _ in range(2)]
        far = [end.fileno() for _, end in self.ends]
        self.process = subprocess.Popen([hypervisor.switch(), *map(str, options), *map(str, far)], pass_fds=far)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        for pair in self.ends:
            for end in pair:
                end.close()

    def send(self, *sent, port=0):
        for one in sent:
            self.ends[port][0].send(one)

    def receive(self, port=1):
        """Return all frames that arrive at a port before an ordinary frame, which is sent last."""
        last = b"\xff" * 6 + bytes([2, 0, 0, 0, 0, 9]) + b"\x08\x06 last"
        self.send(last, port=1 - port)
        near, found = self.ends[port][0], []
        near.settimeout(SECONDS)
        while (got := near.recv(1 << 16)) != last:
            found.append(got)
        return found

    def pass_on(self, *sent):
        """Send frames, and return what arrives at the other port."""
        self.send(*sent)
        return self.receive()


def expect_valid(found):
    for one in found:
        expect(roce.has_valid_icrc(*roce.packet(one)), f"wrong ICRC: {one.hex()}")


def nothing(place):
    """Without rules, frames pass unchanged, and the capture has all of them."""
    sent = [frame(1, b"abc"), frame(1, b"answer", READ), b"\xff" * 6 + bytes(20), frame(2, b"abc", six=True)]
    with Switch("-c", place / "capture") as switch:
        expect(switch.pass_on(*sent) == sent, "frames are changed")
        expect(roce.frames(place / "capture")[:len(sent)] == sent, "the capture is not what was sent")
        expect_valid([sent[0], sent[1], sent[3]])


def change(_place):
    """A rule changes one byte of the n-th packet that fits, and no other one; the ICRC stays valid."""
    for kind, opcode in ("send", SEND), ("read", READ):
        for six in False, True:
            sent = [frame(n, bytes([n] * n), opcode, six=six) for n in range(1, 9)]
            other = frame(0, bytes(9), READ if opcode == SEND else SEND)
            with Switch(f"-mchange,kind={kind},byte=2,nth=3,from=1") as switch:
                switch.send(frame(3, bytes(9), opcode), port=1)
                found = switch.pass_on(other, *sent)
            # Packets of at least three bytes are selected: those with 3, 4 and 5.
            wanted = [other, *sent]
            wanted[5] = frame(5, bytes([5, 5, 5 ^ 0xff, 5, 5]), opcode, six=six)
            expect(found == wanted, f"{kind}: {[one.hex() for one in found]}")


def mad(kind):
    """Return a message of the connection manager with this attribute."""
    return bytes([1, 7, 2, 3]) + bytes(12) + struct.pack(">H", kind) + bytes(256 - 18)


def change_connecting(_place):
    """A rule changes one byte of the private data of a connect request, or of its answer."""
    for kind, attribute, private in ("req", 0x10, 200), ("rep", 0x13, 60):
        sent = [frame(n, mad(what), UD, qp=1) for n, what in enumerate((0x14, 0x10, 0x13, 0x10, 0x13))]
        data = mad(attribute)
        data = data[:private + 3] + b"\xff" + data[private + 4:]
        number = 1 if kind == "req" else 2
        with Switch(f"-mchange,kind={kind},byte=3") as switch:
            wanted = [*sent[:number], frame(number, data, UD, qp=1), *sent[number + 1:]]
            expect(switch.pass_on(*sent) == wanted, kind)


def unselected(_place):
    """Acknowledgments, other ports, and cut packets pass, whatever the rule."""
    odd = [frame(1, b"", ACK), frame(1, b"xyz")[:60], frame(1, b"xyz")[:30], frame(1, b"x").replace(b"\x12\xb7", b"\x12\xb8")]
    with Switch("-mdrop") as switch:
        expect(switch.pass_on(*odd) == odd, "a frame is missing")


def drop(_place):
    """A packet is dropped once."""
    sent = [frame(n, b"x") for n in (1, 2, 2, 3)]
    with Switch("-mdrop,nth=2") as switch:
        expect(switch.pass_on(*sent) == [sent[0], *sent[2:]], "not the second packet")


def hold(_place):
    """A packet is delivered behind the next one of its QP."""
    first, other, second, third = frame(1, b"one"), frame(5, b"other", qp=18), frame(2, b"two"), frame(3, b"three")
    with Switch("-mhold") as switch:
        expect(switch.pass_on(first, other, second, third) == [other, second, first, third], "another order")


def repeat(_place):
    """The next packet is replaced by another copy, with the number of the next packet and a valid ICRC."""
    with Switch("-mrepeat") as switch:
        found = switch.pass_on(frame(1, b"one"), frame(1, b"one"), frame(ACK_REQUESTED | 2, b"two"), frame(3, b"three"))
    expect(found == [frame(1, b"one"), frame(1, b"one"), frame(ACK_REQUESTED | 2, b"one"), frame(3, b"three")],
           f"{[one.hex() for one in found]}")


def swap(_place):
    """Two packets exchange their places and numbers; a kept packet that is sent again is dropped."""
    with Switch("-mswap") as switch:
        found = switch.pass_on(frame(1, b"one"), frame(1, b"one"), frame(ACK_REQUESTED | 2, b"two"), frame(3, b"three"))
    expect(found == [frame(1, b"two"), frame(ACK_REQUESTED | 2, b"one"), frame(3, b"three")], f"{[one.hex() for one in found]}")


def from_file(place):
    """A rule of the file is applied once, and the file is deleted; a deleted file cancels its rule."""
    rule, one, two = place / "rule", frame(1, b"one"), frame(2, b"two")

    def write(text):
        (place / "new").write_text(text, encoding="ascii")
        os.rename(place / "new", rule)

    with Switch("-w", rule) as switch:
        expect(switch.pass_on(one) == [one], "there is no rule")
        for _ in range(2):
            write("drop,nth=2\n")
            expect(switch.pass_on(one, two, two) == [one, two] and not rule.exists(), "the rule is not applied")
        write("drop,nth=3\n")
        expect(switch.pass_on(one, two) == [one, two] and rule.exists(), "the third packet")
        rule.unlink()
        expect(switch.pass_on(one, two) == [one, two], "a deleted rule is applied")
        write("drop,when=3\n")
        expect(switch.pass_on(one, two) == [one, two] and rule.exists(), "a malformed rule is applied")


def malformed(_place):
    """Malformed rules are refused."""
    for rule in "", "chang", "drop,nth=0", "drop,nth=x", "drop,nth=", "drop,kind=all", "drop,byte":
        done = subprocess.run([hypervisor.switch(), "-m", rule, "0"], check=False, capture_output=True, timeout=SECONDS)
        expect(done.returncode == 2, f"{rule}: {done.returncode}")


CASES = {"frames without a rule pass, and are captured": nothing, "change": change, "change of private data": change_connecting, "packets that no rule selects": unselected,
         "drop": drop, "hold": hold, "repeat": repeat, "swap": swap, "rules from a file": from_file,
         "malformed rules": malformed}


def check(log):
    """Run all cases."""
    results = ktap.Results()
    for name, case in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            try:
                case(pathlib.Path(folder))
                results.passed.append(name)
            except (Wrong, OSError, ValueError, subprocess.SubprocessError) as wrong:
                static.write(log, f"{name}: {wrong}\n")
                results.failed.append(name)
    return results
