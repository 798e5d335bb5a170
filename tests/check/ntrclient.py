#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""ntrclient.py SOCKET DOORBELLS: join a server of shared memory as QEMU does, and print what the server gives."""
import os
import socket
import struct
import sys

SECONDS = 10


class Client:
    """A machine that is connected to the server."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(SECONDS)
        self.socket.connect(path)
        self.memory = -1
        self.bells = {}		# doorbells by number of the machine, as file descriptors

    def message(self):
        """Return (number, file descriptor or -1); raise EOFError if the server disconnects this machine."""
        data, fds, _, _ = socket.recv_fds(self.socket, 8, 1)
        if len(data) != 8:
            raise EOFError
        return struct.unpack("<q", data)[0], fds[0] if fds else -1

    def join(self, doorbells):
        """Take all messages until this machine has its own doorbells; return (version, number, size of the memory)."""
        version, number = self.message()[0], self.message()[0]
        minus, self.memory = self.message()
        if minus != -1 or self.memory < 0:
            raise ValueError(f"{minus} instead of the memory")
        while len(self.bells.get(number, ())) < doorbells:
            other, fd = self.message()
            self.bells.setdefault(other, []).append(fd)
        return version, number, os.fstat(self.memory).st_size

    def close(self):
        for fd in [self.memory, *(fd for fds in self.bells.values() for fd in fds)]:
            if fd >= 0:
                os.close(fd)
        self.socket.close()


def main():
    client = Client(sys.argv[1])
    version, number, size = client.join(int(sys.argv[2]))
    print(f"version {version} number {number} memory {size}")


if __name__ == "__main__":
    main()
