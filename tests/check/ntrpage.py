# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""Use the recipes of Documentation/ntrdma.rst for the host: QEMU, ntr-server, libvirt and Proxmox VE.

QEMU starts with the options of the page, and does not run its machine.  libvirt and Proxmox VE are not needed: their
settings must be those that the page gives QEMU.  Scenarios type the commands for machines and namespaces.
"""
import pathlib
import re
import shlex
import subprocess
import tempfile
import time
import xml.etree.ElementTree as ET

import ktap
import static

PAGE = static.TOP / "Documentation/ntrdma.rst"
SECONDS = 60
QEMU = ("qemu-system-x86_64", "-M", "q35", "-accel", "tcg", "-m", "64", "-nodefaults", "-display", "none", "-S", "-monitor", "stdio")
# Elements of <shmem> for each device with their attributes, see "Shared memory device" in the manual of libvirt.  libvirt
# refuses the size with doorbells, because the server has it, and the others without.
SHMEM = {"ivshmem-plain": {"model": {"type"}, "size": {"unit"}},
         "ivshmem-doorbell": {"model": {"type"}, "server": {"path"}, "msi": {"vectors", "ioeventfd"}}}


class Wrong(Exception):
    """Raised when a recipe of the page does not work."""


def expect(condition, what):
    if not condition:
        raise Wrong(what)


def blocks(language):
    """Return the blocks of the page in a language, each a text without indentation."""
    text = PAGE.read_text(encoding="utf-8")
    found = re.findall(rf"^\.\. code-block:: {language}\n\n((?:\t.*\n|\n)+)", text, re.M)
    return [re.sub(r"^\t", "", block, flags=re.M).strip() for block in found]


def options(device):
    """Return the block with the options of QEMU for a device."""
    found = [block for block in blocks("sh") if block.startswith("-") and f"-device {device}," in block]
    expect(len(found) == 1, f"{len(found)} blocks for {device}")
    return found[0]


def option(text, name):
    """Return {key: value} of an option of QEMU; the key of a word without "=" is the empty string."""
    words = shlex.split(text)
    expect(words.count(name) == 1, f"{name} in {text}")
    pairs = [item.rpartition("=") for item in words[words.index(name) + 1].split(",")]
    return {key: value for key, _, value in pairs}


def started(words):
    """Return what a QEMU with these options prints about its devices."""
    done = subprocess.run([*QEMU, *words], input="info qtree\ninfo pci\nquit\n", text=True, capture_output=True, check=False,
                          timeout=SECONDS)
    expect(done.returncode == 0 and not done.stderr, f"{words}: {done.stderr}")
    expect("1af4:1110" in done.stdout, f"no device 1af4:1110: {done.stdout}")
    return done.stdout


def plain(place):
    """QEMU accepts the options, and creates the file with the size of the page."""
    said = started(shlex.split(options("ivshmem-plain").replace("/dev/shm", str(place))))
    expect('dev: ivshmem-plain, id ""' in said, said)
    expect((place / "ntr").stat().st_size == 16 << 20, "the size of the memory")


def doorbell(place):
    """ntr-server runs as the page says, and QEMU joins it with the options of the page."""
    command = [block for block in blocks("sh") if block.startswith("ntr-server ")]
    expect(len(command) == 1, f"{command}")
    subprocess.run(["make", "-s", "-C", static.TOP / "tools/ntr-server", f"BUILD={place}"], check=True, capture_output=True)
    words = shlex.split(command[0].replace("/dev/shm", str(place)).replace("/run/", f"{place}/"))
    socket = pathlib.Path(words[-1])
    log = place / "log"
    with open(log, "wb") as output, subprocess.Popen([place / words[0], *words[1:]], stdout=output) as server:
        try:
            end = time.monotonic() + SECONDS
            while not socket.exists() and time.monotonic() < end:
                time.sleep(0.05)
            said = started(shlex.split(options("ivshmem-doorbell").replace("/run/", f"{place}/")))
            expect('dev: ivshmem-doorbell, id ""' in said and "vectors = 5" in said, said)
            # The server may notice the end of QEMU later than this test.
            while "has gone" not in log.read_text(encoding="utf-8") and time.monotonic() < end:
                time.sleep(0.05)
        finally:
            server.terminate()
            server.wait(SECONDS)
    said = log.read_text(encoding="utf-8")
    expect("machine 0 is there" in said and "machine 0 has gone" in said, said)
    expect((place / "ntr").stat().st_size == 16 << 20, "the size of the memory")
    count = option(options("ivshmem-doorbell"), "-device")["vectors"]
    expect(words[words.index("-n") + 1] == count, f"{count} vectors and {words}")


def shmem(text):
    """Return (device, {element: (attributes, text)}) of an element <shmem>, all of which libvirt knows."""
    root = ET.fromstring(text)
    expect(root.tag == "shmem" and set(root.attrib) <= {"name", "role"} and "/" not in root.attrib["name"], text)
    device = root.find("model").attrib["type"]
    found = {child.tag: (child.attrib, child.text) for child in root}
    known = SHMEM[device]
    expect(len(found) == len(root) and set(found) <= set(known), f"elements of {device}: {list(found)}")
    for tag, (attributes, _) in found.items():
        expect(set(attributes) <= known[tag], f"attributes of {tag}: {attributes}")
    return device, root.attrib["name"], found


def libvirt(_place):
    """The elements for libvirt are well-formed, and libvirt makes the options of the page for QEMU of them."""
    found = {device: (name, elements) for device, name, elements in map(shmem, blocks("xml"))}
    expect(set(found) == set(SHMEM), f"{list(found)}")
    name, elements = found["ivshmem-plain"]
    memory = option(options("ivshmem-plain"), "-object")
    attributes, size = elements["size"]
    expect(f"{size}{attributes['unit']}" == memory["size"], f"{size}: {memory}")
    expect(memory["mem-path"] == f"/dev/shm/{name}" and memory["share"] == "on", f"{name}: {memory}")
    _, elements = found["ivshmem-doorbell"]
    text = options("ivshmem-doorbell")
    expect(elements["server"][0]["path"] == option(text, "-chardev")["path"], text)
    expect(elements["msi"][0]["vectors"] == option(text, "-device")["vectors"], text)


def proxmox(_place):
    """The arguments of qm are the options of QEMU."""
    found = [shlex.split(block.replace("\\\n", "")) for block in blocks("sh") if block.startswith("qm ")]
    expect(len(found) == 1 and found[0][:2] == ["qm", "set"] and found[0][3] == "--args", f"{found}")
    expect(shlex.split(found[0][4]) == shlex.split(options("ivshmem-plain")), f"{found}")


CASES = {"QEMU starts with a shared memory": plain,
         "QEMU starts with doorbells of ntr-server": doorbell,
         "libvirt knows the elements": libvirt,
         "Proxmox VE passes the options": proxmox}


def check(log):
    """Run all cases."""
    results = ktap.Results()
    for name, case in CASES.items():
        with tempfile.TemporaryDirectory() as place:
            try:
                case(pathlib.Path(place))
                results.passed.append(name)
            except (Wrong, OSError, KeyError, ET.ParseError, subprocess.SubprocessError) as wrong:
                static.write(log, f"{name}: {type(wrong).__name__}: {wrong}\n")
                results.failed.append(name)
    return results
