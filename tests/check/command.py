# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""Run commands with a time limit and their output in a file, and end them with us."""
import fcntl
import itertools
import os
import signal
import subprocess
import threading

GRACE = 20			# seconds that a command gets to clean up
running = set()
running_lock = threading.Lock()
stopping = threading.Event()


class Stopped(Exception):
    """Interrupted by the user."""


def end(process):
    """Ask a process group to end, then make it."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(GRACE)
            return
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            pass


def end_all():
    """For Ctrl-C: nothing that we started goes on."""
    stopping.set()
    with running_lock:
        processes = list(running)
    for process in processes:
        end(process)


def log_folder(root):
    """A folder for logs that no other run writes to: check, or check-2 and so on while others run."""
    for number in itertools.count(1):
        folder = root / (f"check-{number}" if number > 1 else "check")
        folder.mkdir(exist_ok=True)
        descriptor = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return folder		# locked until this process ends
        except BlockingIOError:
            os.close(descriptor)


def run(argv, log, timeout, cwd=None):
    """Exit status of a command whose output is added to LOG; None when the time was up."""
    if stopping.is_set():
        raise Stopped
    argv = [str(word) for word in argv]
    with open(log, "a", encoding="utf-8") as file:
        file.write(f"$ {' '.join(argv)}\n")
        file.flush()
        process = subprocess.Popen(argv, cwd=cwd, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT,
                                   start_new_session=True)
        with running_lock:
            running.add(process)
        try:
            return process.wait(timeout)
        except subprocess.TimeoutExpired:
            end(process)
            return None
        finally:
            with running_lock:
                running.discard(process)
            if stopping.is_set():
                raise Stopped
