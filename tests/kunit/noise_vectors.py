#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""Print noise_vectors.h, the results that the KUnit tests of krdma's handshake and sealed messages expect.

This is an implementation of its own, which shares no code with krdma. BLAKE2s and HMAC are those of Python. X25519,
ChaCha20 and Poly1305 are here. It is written to be compared with RFC 7748, RFC 8439 and revision 34 of the Noise Protocol
Framework, and takes no care to be fast or to hide keys.
"""
import argparse
import hashlib
import hmac
import ipaddress
import pathlib
import struct
import sys

HEADER = pathlib.Path(__file__).with_suffix(".h")
PROTOCOL = b"Noise_NNpsk0_25519_ChaChaPoly_BLAKE2s"

# Vector of the project cacophony for PROTOCOL, which other implementations of Noise also use.
PUBLISHED = {
    "prologue": b"John Galt",
    "psk": b"This is my Austrian perspective!",
    "first": bytes.fromhex("893e28b9dc6ca8d611ab664754b8ceb7bac5117349a4439a6b0569da977c464a"),
    "second": bytes.fromhex("bbdb4cdbd309f1a1f2e1456967fe288cadd6f712d65dc7b7793d5e63da6b375b"),
    "payloads": (b"Ludwig von Mises", b"Murray Rothbard"),
    "hash": bytes.fromhex("b3e9c846d264120a4211e18307da91157a21e92e69b639c50f027f101db3e1a6"),
}

# ---- X25519, RFC 7748 ----

PRIME = 2**255 - 19
A24 = 121665
BASE = bytes([9]) + bytes(31)


def x25519(secret, point):
    """Multiply the point by the secret."""
    scalar = int.from_bytes(secret, "little") & ~7 & (2**254 - 1) | 2**254
    x1 = int.from_bytes(point, "little") & (2**255 - 1)
    x2, z2, x3, z3 = 1, 0, x1, 1
    for bit in reversed(range(255)):
        swap = scalar >> bit & 1
        if swap:
            x2, z2, x3, z3 = x3, z3, x2, z2
        a, b, c, d = x2 + z2, x2 - z2, x3 + z3, x3 - z3
        aa, bb, da, cb = a * a, b * b, d * a, c * b
        e = aa - bb
        x2, z2 = aa * bb % PRIME, e * (aa + A24 * e) % PRIME
        x3, z3 = (da + cb) ** 2 % PRIME, x1 * (da - cb) ** 2 % PRIME
        if swap:
            x2, z2, x3, z3 = x3, z3, x2, z2
    return (x2 * pow(z2, PRIME - 2, PRIME) % PRIME).to_bytes(32, "little")


# ---- ChaCha20 and Poly1305, RFC 8439 ----

def rotated(word, bits):
    word &= 0xffffffff
    return word << bits & 0xffffffff | word >> 32 - bits


def quarter(state, a, b, c, d):
    for into, other, changed, bits in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
        state[into] = state[into] + state[other] & 0xffffffff
        state[changed] = rotated(state[changed] ^ state[into], bits)


def chacha_block(key, nonce, counter):
    """Return 64 bytes of the key stream.  Noise puts 4 zero bytes in front of its 64-bit nonce."""
    start = [*struct.unpack("<4I", b"expand 32-byte k"), *struct.unpack("<8I", key),
             *struct.unpack("<4I", struct.pack("<IIQ", counter, 0, nonce))]
    state = list(start)
    for _ in range(10):
        for column in range(4):
            quarter(state, column, 4 + column, 8 + column, 12 + column)
        for column in range(4):
            quarter(state, column, 4 + (column + 1) % 4, 8 + (column + 2) % 4, 12 + (column + 3) % 4)
    return struct.pack("<16I", *(a + b & 0xffffffff for a, b in zip(state, start)))


def chacha(key, nonce, data):
    stream = b"".join(chacha_block(key, nonce, 1 + block) for block in range(-(-len(data) // 64)))
    return bytes(a ^ b for a, b in zip(data, stream))


def poly1305(key, data):
    r = int.from_bytes(key[:16], "little") & 0x0ffffffc0ffffffc0ffffffc0fffffff
    total = 0
    for at in range(0, len(data), 16):
        total = (total + int.from_bytes(data[at:at + 16] + b"\1", "little")) * r % (2**130 - 5)
    return (total + int.from_bytes(key[16:], "little") & 2**128 - 1).to_bytes(16, "little")


def encrypt(key, nonce, associated, plain):
    """Return the ciphertext and its tag."""
    def padded(data):
        return data + bytes(-len(data) % 16)
    secret = chacha(key, nonce, plain)
    lengths = struct.pack("<QQ", len(associated), len(secret))
    return secret + poly1305(chacha_block(key, nonce, 0)[:32], padded(associated) + padded(secret) + lengths)


# ---- Noise, revision 34 ----

def blake(*parts):
    return hashlib.blake2s(b"".join(parts)).digest()


def keyed(key, *parts, size=32):
    """Return a hash of SIZE bytes.  BLAKE2s hashes the size as well, so a shorter hash is no part of a longer one."""
    return hashlib.blake2s(b"".join(parts), key=key, digest_size=size).digest()


def hkdf(chain, material, count):
    temporary = hmac.new(chain, material, hashlib.blake2s).digest()
    out = [b""]
    for number in range(1, count + 1):
        out.append(hmac.new(temporary, out[-1] + bytes([number]), hashlib.blake2s).digest())
    return out[1:]


def rekey(key):
    return encrypt(key, 2**64 - 1, b"", bytes(32))[:32]


class Handshake:
    """Both ends of a handshake, which compute the same."""

    def __init__(self, psk, prologue):
        self.chain = blake(PROTOCOL)		# the name is longer than 32 bytes
        self.hash = blake(self.chain, prologue)
        self.psk = psk
        self.key = b""

    def mix_hash(self, data):
        self.hash = blake(self.hash, data)

    def mix_key(self, material):
        self.chain, self.key = hkdf(self.chain, material, 2)

    def sealed(self, payload):
        sealed = encrypt(self.key, 0, self.hash, payload)
        self.mix_hash(sealed)
        return sealed

    def ephemeral(self, public):
        self.mix_hash(public)
        self.mix_key(public)
        return public

    def first(self, secret, payload=b""):
        """Return the message of the initiator: psk, e."""
        self.chain, mixed, self.key = hkdf(self.chain, self.psk, 3)
        self.mix_hash(mixed)
        return self.ephemeral(x25519(secret, BASE)) + self.sealed(payload)

    def second(self, secret, other, payload=b""):
        """Return the message of the responder: e, ee.  OTHER is the secret of the initiator."""
        public = self.ephemeral(x25519(secret, BASE))
        self.mix_key(x25519(other, public))
        return public + self.sealed(payload)

    def split(self):
        """Return the keys of the initiator's and of the responder's messages."""
        return hkdf(self.chain, b"", 2)


# ---- krdma ----

START, DATA, CREDIT, PING, PONG, BYE = range(1, 7)
NAMES = {START: "START", DATA: "DATA", CREDIT: "CREDIT", PING: "PING", PONG: "PONG", BYE: "BYE"}
REKEY_AFTER = 65536


def header(kind, length=0):
    """Return a header of version 2, whose other fields are 0."""
    return struct.pack("<BBHIII", 2, kind, 0, length, 0, 0)


class Half:
    """One direction of a connection."""

    def __init__(self, key):
        self.key = key
        self.messages = self.control = 0

    def message(self, kind, body=b"", encrypted=True):
        """Return a sealed message."""
        head = header(kind, len(body) if kind == DATA else 0)
        if kind not in (START, DATA):
            tag = encrypt(self.key, 2**63 + self.control, head + struct.pack("<Q", self.messages), b"")
            self.control += 1
            return head + tag
        if encrypted or kind == START:
            out = head + encrypt(self.key, self.messages, head, body)
        else:
            out = head + body + encrypt(self.key, self.messages, head + body, b"")
        self.messages += 1
        if self.messages % REKEY_AFTER == 0:
            self.key = rekey(self.key)
        return out


def addresses(client, server, port):
    """Return the addresses of both ends: 16 bytes each, and the server's port."""
    def wide(text):
        address = ipaddress.ip_address(text)
        return address.packed if address.version == 6 else bytes(10) + b"\xff\xff" + address.packed
    return wide(client) + wide(server) + struct.pack(">H", port)


def hello(session):
    """Return a hello of level encrypt, with 24 bytes of the user's data behind it."""
    return struct.pack("<4sBBBBIIHHI", b"kdma", 2, 2, 0x30, 24, 16384, 16384, 24, 7, session)


class Table:
    """The constants of the header."""

    def __init__(self):
        self.lines = []

    def add(self, name, data):
        """Add the array NAME."""
        rows = [", ".join(f"0x{byte:02x}" for byte in data[at:at + 11]) for at in range(0, len(data), 11)]
        self.lines += [f"static const u8 {name}[] = {{", *[f"\t{row}," for row in rows], "};", ""]


def published_handshake():
    """Return the handshake of the published vector, and its messages."""
    noise = Handshake(PUBLISHED["psk"], PUBLISHED["prologue"])
    messages = (noise.first(PUBLISHED["first"], PUBLISHED["payloads"][0]),
                noise.second(PUBLISHED["second"], PUBLISHED["first"], PUBLISHED["payloads"][1]))
    return noise, messages


def add_published(table):
    noise, messages = published_handshake()
    for name in ("psk", "prologue", "first", "second"):
        table.add(f"published_{name}", PUBLISHED[name])
    for number, word in enumerate(("first", "second")):
        table.add(f"published_{word}_payload", PUBLISHED["payloads"][number])
        table.add(f"published_{word}_msg", messages[number])
    table.add("published_hash", PUBLISHED["hash"])
    for name, key in zip(("first", "second"), noise.split()):
        table.add(f"published_{name}_key", key)


def add_door(table, key, req, rep, ends):
    """Add what is computed from the key of the network alone, and return the prologue."""
    door = keyed(key, b"krdma 2 door")
    tag = keyed(door, req, ends, size=8)
    wide = addresses("2001:db8::1", "2001:db8::2", 5566)
    for name, value in (("key", key), ("id", keyed(key, b"krdma 2 id", size=4)), ("door", door), ("req", req), ("rep", rep),
                        ("ends", ends), ("tag", tag), ("ends6", wide), ("tag6", keyed(door, req, wide, size=8))):
        table.add(f"vector_{name}", value)
    prologue = b"krdma 2" + req + tag + rep + ends
    table.add("vector_prologue", prologue)
    return prologue


def add_messages(table, server, client):
    """Add messages of both directions.  Their order matters, because the counters move."""
    text = b"krdma..."
    table.add("vector_text", text)
    table.add("vector_server_start", server.message(START))
    for name, encrypted in (("encrypted", True), ("clear", False)):
        half = Half(client)
        table.add(f"vector_{name}_data", half.message(DATA, text, encrypted))
        for kind in (PING, CREDIT):
            table.add(f"vector_{name}_{NAMES[kind].lower()}", half.message(kind))
        table.add(f"vector_{name}_next", half.message(DATA, text, encrypted))
        for kind in (PONG, BYE):
            table.add(f"vector_{name}_{NAMES[kind].lower()}", half.message(kind))
        half.messages = REKEY_AFTER - 1
        table.add(f"vector_{name}_last", half.message(DATA, text, encrypted))
        table.add(f"vector_{name}_rekeyed", half.message(DATA, text, encrypted))
        table.add(f"vector_{name}_rekeyed_ping", half.message(PING))


def text():
    """Return the header."""
    table = Table()
    add_published(table)
    key, server, client = bytes(range(32)), bytes(range(0x80, 0xa0)), bytes(range(0xa0, 0xc0))
    prologue = add_door(table, key, hello(0x11223344) + bytes(range(0x40, 0x58)),
                        hello(0x55667788) + bytes(range(0x60, 0x78)), addresses("10.0.0.1", "10.0.0.2", 5565))
    noise = Handshake(key, prologue)
    table.add("vector_server_secret", server)
    table.add("vector_client_secret", client)
    table.add("vector_rep_msg", noise.first(server))
    table.add("vector_auth_msg", noise.second(client, server))
    table.add("vector_hash", noise.hash)
    keys = noise.split()
    table.add("vector_server_key", keys[0])
    table.add("vector_client_key", keys[1])
    table.add("vector_client_rekeyed", rekey(keys[1]))
    add_messages(table, Half(keys[0]), keys[1])
    head = ["/* SPDX-License-Identifier: GPL-2.0 */", "/*", " * Expected results of the handshake and of sealed messages.",
            " * noise_vectors.py prints this file, and \"tools/check noise-vectors\" compares it.", " */"]
    guard = "KRDMA_NOISE_VECTORS_H"
    return "\n".join([*head, f"#ifndef {guard}", f"#define {guard}", "", "#include <linux/types.h>", "", *table.lines,
                      f"#endif /* {guard} */", ""])


def faults():
    """Yield what is wrong with this program, and with the header."""
    noise, _ = published_handshake()
    if noise.hash != PUBLISHED["hash"]:
        yield "the handshake hash is not that of the published vector"
    if not HEADER.exists() or HEADER.read_text(encoding="ascii") != text():
        yield f"{HEADER.name} is not what this program prints"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="check this program and noise_vectors.h, and print nothing")
    if not parser.parse_args().check:
        sys.stdout.write(text())
        return
    found = list(faults())
    if found:
        sys.exit("".join(f"noise_vectors.py: {fault}\n" for fault in found).rstrip())


if __name__ == "__main__":
    main()
