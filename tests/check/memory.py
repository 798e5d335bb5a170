# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""What parts said, of a tree and its kernels, so that --resume need not ask again."""
import json
import pathlib
import subprocess
import tempfile
import types

import ktap

TREES = 5			# the newest ones are kept


def git(top, *words):
    """What git says, None if it fails or is not there."""
    try:
        done = subprocess.run(["git", "-C", top, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              check=False)
    except FileNotFoundError:
        return None
    return None if done.returncode else done.stdout.strip()


def tree(top):
    """What git calls the files of TOP; None if they are not all committed."""
    return git(top, "rev-parse", "HEAD^{tree}") if git(top, "status", "--porcelain") == "" else None


def key(part, folders):
    """A part, and which kernels it had: packages change, and are other kernels then."""
    return [part.name, *(folders[name] for name in part.kernels)]


def notes(file):
    """What stands in a file; a line whose writer was interrupted is none."""
    for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else []:
        try:
            yield json.loads(line)
        except json.JSONDecodeError:
            continue


class Memory:
    """Lines of JSON, one for each part that passed; a part that failed is to run again."""

    def __init__(self, top, folder):
        folder.mkdir(exist_ok=True)
        self.top = top
        self.tree = tree(top)
        self.file = folder / f"{self.tree}.json"
        for old in sorted(folder.glob("*.json"), key=lambda file: -file.stat().st_mtime)[TREES:]:
            old.unlink()

    def note(self, part, folders, results):
        """PART has run, and nobody has changed the tree meanwhile; who calls this holds a lock."""
        if results.failed or not self.tree or tree(self.top) != self.tree:
            return
        with self.file.open("a", encoding="utf-8") as file:
            print(json.dumps({"key": key(part, folders), "passed": results.passed, "skipped": results.skipped}),
                  file=file)

    def recall(self, part, folders):
        """The results of PART if it has passed with these kernels, else None."""
        for said in notes(self.file):
            if said["key"] == key(part, folders):
                return ktap.Results(passed=said["passed"], skipped=said["skipped"])
        return None


def check(_log):
    """Does it remember what has passed, and nothing else?"""
    part = types.SimpleNamespace(name="part", kernels=("uml",))
    other = types.SimpleNamespace(name="other", kernels=("uml",))
    good = ktap.Results(passed=["one", "two"], skipped=["three"])
    with tempfile.TemporaryDirectory() as place:
        top, folder = pathlib.Path(place, "top"), pathlib.Path(place, "results")
        top.mkdir()
        file = top / "file"
        file.write_text("one version", encoding="ascii")
        git(top, "init", "-q")
        git(top, "add", ".")
        git(top, "-c", "user.name=Nobody", "-c", "user.email=nobody@example.org", "commit", "-qm", "first")
        Memory(top, folder).note(part, {"uml": "uml-1"}, good)
        Memory(top, folder).note(other, {"uml": "uml-1"}, ktap.Results(passed=["one"], failed=["two"]))
        again = Memory(top, folder)
        with again.file.open("a", encoding="utf-8") as interrupted:
            interrupted.write('{"key": ["oth')
        right = [again.recall(part, {"uml": "uml-1"}) == good, not again.recall(part, {"uml": "uml-2"}),
                 not again.recall(other, {"uml": "uml-1"})]
        file.write_text("another", encoding="ascii")
        again.note(other, {"uml": "uml-1"}, good)
        right += [not again.recall(other, {"uml": "uml-1"}), not Memory(top, folder).tree,
                  not Memory(top, folder).recall(part, {"uml": "uml-1"})]
    return all(right)
