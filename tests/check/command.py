# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""Run commands with a time limit and their output in a file, and end them when this process is interrupted."""
import fcntl
import itertools
import os
import signal
import subprocess
import threading

GRACE = 20			# time for a command to clean up, in seconds
running = set()
running_lock = threading.Lock()
stopping = threading.Event()


class Stopped(Exception):
    """Raised when the user has interrupted this program."""


def end(process):
    """Send SIGTERM to a process group, and SIGKILL if it does not end in time."""
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
    """End all running commands, and prevent new ones, after Ctrl-C."""
    stopping.set()
    with running_lock:
        processes = list(running)
    for process in processes:
        end(process)


def interrupted(_number, _frame):
    # Call end_all() in a thread.  end_all() takes a lock, and code that this handler has interrupted may hold this
    # lock.
    threading.Thread(target=end_all).start()


def catch_signals(handler=interrupted):
    """End all running commands when the user interrupts this process, or call HANDLER."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, handler)


def end_with(path):
    """End all running commands when the process that has locked PATH ends, or unlocks it."""
    with open(path, encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
    end_all()


def log_folder(root):
    """Return a folder for logs that no other run uses: check, or check-2 and so on if others are in use."""
    for number in itertools.count(1):
        folder = root / (f"check-{number}" if number > 1 else "check")
        folder.mkdir(exist_ok=True)
        descriptor = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return folder		# this process holds the lock of the folder until it ends
        except BlockingIOError:
            os.close(descriptor)


def run(argv, log, timeout, cwd=None):
    """Run a command and append its output to LOG; return its exit status, or None if it was ended after TIMEOUT s."""
    if stopping.is_set():
        raise Stopped
    argv = [str(word) for word in argv]
    with open(log, "a", encoding="utf-8") as file:
        file.write(f"$ {' '.join(argv)}\n")
        file.flush()
        # The kernel ends the command if this process is killed.
        process = subprocess.Popen(["setpriv", "--pdeathsig", "TERM", *argv], cwd=cwd, stdin=subprocess.DEVNULL,
                                   stdout=file, stderr=subprocess.STDOUT, start_new_session=True)
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
