# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""Check that files of a module use only their own layer and lower ones, as its Kbuild declares them."""
import re

import static

LAYER = re.compile(r"^# layer (\w+):(.*)$")
OBJECT = re.compile(r"(\w+)\.o\b")
INCLUDE = re.compile(r'^#include "(\w+\.h)"$', re.M)
COMMENT = re.compile(r"/\*.*?\*/", re.S)
# A function that other files can call: its definition begins a line, and is not static.
DEFINITION = re.compile(r"^(?!static\b|struct \w+ \{|#|\s)[\w][\w \*]*?\**(\w+)\([^;{}]*\)\n\{", re.M)
# A name that is not that of a struct.
NAME = re.compile(r"(?<!struct )\b\w+\b")


class Layers:
    """Layers of a module. A layer is a number, 0 for the lowest."""

    def __init__(self, module, folder):
        self.names = []
        self.of = {}		# name of a file -> its layer
        for line in (folder / "Kbuild").read_text(encoding="ascii").splitlines():
            match = LAYER.match(line)
            if match:
                self.names.append(match.group(1))
                self.add(match.group(2).split())
            elif line.startswith(f"{module}-y") and self.names:
                self.add(f"{name}.c" for name in OBJECT.findall(line))
        self.files = {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.[ch]"))
                      if not path.name.endswith(".mod.c")}

    def add(self, names):
        for name in names:
            self.of[name] = len(self.names) - 1

    def complaints(self):
        """Return a list of what is wrong, one line each."""
        wrong = [f"{name}: is in no layer of Kbuild" for name in self.files if name not in self.of]
        wrong += [f"{name}: does not exist" for name in self.of if name not in self.files]
        return wrong or [*self.includes(), *self.calls()]

    def includes(self):
        for name, text in self.files.items():
            for header in INCLUDE.findall(text):
                if self.of.get(header, -1) > self.of[name]:
                    yield f"{name}: includes {header} of the higher layer {self.names[self.of[header]]}"

    def calls(self):
        code = {name: COMMENT.sub("", text) for name, text in self.files.items()}
        home = {function: name for name, text in code.items() if name.endswith(".c") for function in DEFINITION.findall(text)}
        for name, text in code.items():
            for function in sorted(home.keys() & set(NAME.findall(text))):
                if name.endswith(".c") and self.of[home[function]] > self.of[name]:
                    yield (f"{name}: uses {function}() of {home[function]}, in the higher layer "
                           f"{self.names[self.of[home[function]]]}")


def check(log):
    """Do all files of krdma and vrfm call downwards only?"""
    good = True
    for module in ("krdma", "vrfm"):
        layers = Layers(module, static.TOP / module)
        wrong = layers.complaints()
        static.write(log, "".join(f"{module}/{line}\n" for line in wrong))
        good &= not wrong and len(layers.names) > 1
    return good
