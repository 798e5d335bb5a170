# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""The cache folder, its locks, and commands that take long.

A folder of the cache is filled at its final path under a lock, because the build folder of a kernel contains its own
path.  The stamp file is written last: a folder without this file is incomplete, and is filled again.
"""
import contextlib
import fcntl
import hashlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time

STAMP = ".ready"
HEARTBEAT = 30
UNUSED = 14 * 24 * 3600		# age at which an unused folder is removed, in seconds


class RigError(Exception):
    """An error that is printed as one line."""


def in_words(error):
    """Return the text of an error in one line, with the name of a missing program or file."""
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def root():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    path = pathlib.Path(base) / "krdma"
    path.mkdir(parents=True, exist_ok=True)
    return path


def say(text):
    print(f"rig: {text}", file=sys.stderr, flush=True)


def digest(*parts):
    """Return a short hash of PARTS, each of which is bytes, a text, or the path of a file."""
    total = hashlib.sha256()
    for part in parts:
        data = part.read_bytes() if isinstance(part, pathlib.Path) else part
        total.update(data.encode() if isinstance(data, str) else data)
        total.update(b"\0")
    return total.hexdigest()[:12]


@contextlib.contextmanager
def lock(name, shared=False):
    """Hold a named lock; print a line before waiting for another process, because that may take minutes."""
    folder = root() / "locks"
    folder.mkdir(exist_ok=True)
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    with open(folder / name.replace("/", "_"), "w", encoding="ascii") as file:
        try:
            fcntl.flock(file, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting for another run that makes {name}")
            fcntl.flock(file, kind)
        yield


def is_ready(path):
    return (path / STAMP).exists()


@contextlib.contextmanager
def making(path):
    """Yield True, under a lock, if the caller must fill PATH.  Write the stamp after the caller has succeeded."""
    if is_ready(path):
        (path / STAMP).touch()
        yield False
        return
    prune(path.parent)
    with lock(f"{path.parent.name}-{path.name}"):
        if is_ready(path):
            yield False
            return
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        yield True
        (path / STAMP).touch()


def prune(folder):
    """Remove entries of FOLDER that were not used for a long time, such as old versions of kernels."""
    for entry in folder.glob("*"):
        used = entry / STAMP if is_ready(entry) else entry
        if time.time() - used.stat().st_mtime > UNUSED:
            shutil.rmtree(entry, ignore_errors=True)


@contextlib.contextmanager
def progress(what):
    """Print a line when a step begins, a line every HEARTBEAT seconds, and a line when the step ends."""
    start = time.monotonic()
    done = threading.Event()

    def beat():
        while not done.wait(HEARTBEAT):
            say(f"{what}: {time.monotonic() - start:.0f} s so far")

    say(f"{what} ...")
    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
    say(f"{what}: done in {time.monotonic() - start:.0f} s")


def call(argv, **options):
    """Run a command in its own process group, and return its status and output.

    Kill the process group if this process is interrupted.
    """
    with subprocess.Popen([str(word) for word in argv], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, start_new_session=True, **options) as process:
        try:
            text = process.communicate()[0].decode(errors="replace")
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return process.returncode, text


def run(argv, log=None, **options):
    """Run a command, append its output to LOG, and return the output.

    If the command fails, raise an error with the end of the output.
    """
    status, text = call(argv, **options)
    words = " ".join(str(word) for word in argv)
    if log:
        with open(log, "a", encoding="utf-8") as file:
            file.write(f"$ {words}\n{text}")
    if status:
        tail = "\n".join(text.splitlines()[-25:])
        raise RigError(f"{words[:100]} failed ({status}){f', log {log}' if log else ''}:\n{tail}")
    return text


def output(argv, **options):
    """Run a command and return its standard output; raise an error if the command fails."""
    argv = [str(word) for word in argv]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, check=False, **options)
    if done.returncode:
        raise RigError(f"{' '.join(argv)} failed: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout.decode(errors="replace")
