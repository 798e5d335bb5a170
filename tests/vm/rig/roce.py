# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""Read captures of tools/vm, and judge the ICRC of RoCE packets.

python3 -m rig.roce FILE prints what a capture contains, and fails if it has no RoCE packet or one with a wrong ICRC.
"""
import pathlib
import struct
import sys
import zlib

PORT = 4791
MASKED_LRH = bytes([0xff] * 8)		# a local route header, which RoCE v2 does not have, with all its fields masked
BTH_LEN = 12
ICRC_LEN = 4


def frames(path):
    """Return a list of the frames of a capture.  The last frame may be incomplete, and is then omitted."""
    data = pathlib.Path(path).read_bytes()
    if struct.unpack_from("<IHHiIII", data)[0] != 0xa1b2c3d4:
        raise ValueError(f"{path}: not a capture")
    found, at = [], 24
    while at + 16 <= len(data):
        length = struct.unpack_from("<I", data, at + 8)[0]
        if at + 16 + length > len(data):
            break
        found.append(data[at + 16:at + 16 + length])
        at += 16 + length
    return found


def packet(frame):
    """Return the RoCE packet in a frame, from its IP header to its ICRC, and the offset of its BTH; None if none is."""
    kind, ip = frame[12:14], frame[14:]
    if kind == b"\x08\x00" and ip[9] == 17:
        udp, length = 4 * (ip[0] & 15), struct.unpack_from(">H", ip, 2)[0]
    elif kind == b"\x86\xdd" and ip[6] == 17:
        udp, length = 40, 40 + struct.unpack_from(">H", ip, 4)[0]
    else:
        return None
    return (ip[:length], udp + 8) if struct.unpack_from(">H", ip, udp + 2)[0] == PORT else None


def icrc(data, bth):
    """Return the ICRC that a packet should have, as bytes."""
    ip, udp, rest = bytearray(data[:bth - 8]), bytearray(data[bth - 8:bth]), bytearray(data[bth:-ICRC_LEN])
    if ip[0] >> 4 == 4:
        ip[1], ip[8], ip[10:12] = 0xff, 0xff, b"\xff\xff"
    else:
        ip[0:4], ip[7] = b"\x6f\xff\xff\xff", 0xff
    udp[6:8] = b"\xff\xff"
    rest[4] = 0xff
    return struct.pack("<I", zlib.crc32(MASKED_LRH + ip + udp + rest))


def has_valid_icrc(data, bth):
    return data[-ICRC_LEN:] == icrc(data, bth)


def main(path):
    """Print counts of the frames of a capture, and return the exit status."""
    every = frames(path)
    roce = [found for found in map(packet, every) if found]
    wrong = sum(not has_valid_icrc(*found) for found in roce)
    print(f"{len(every)} frames, {len(roce)} RoCE packets, {wrong} with a wrong ICRC")
    return int(not roce or wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
