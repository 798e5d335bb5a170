# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""Checks that need no machine: style, spelling, documentation, builds."""
import ast
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import command
from rig import cache, kernels, modules, nodes

TOP = modules.TREE
# Files of other projects: the texts of the licenses, and an unchanged file of the kernel.
FOREIGN = {"COPYING", "tools/librfm2g/COPYING", ".clang-format"}
# Folders whose license is not GPL-2.0, see Documentation/contributing.rst.
LICENSES = {"tools/librfm2g/": "LGPL-2.1-or-later", "samples/rfm2g/": "LGPL-2.1-or-later",
            "include/uapi/": "GPL-2.0 WITH Linux-syscall-note"}
COMMANDS = ("krping", "rfm2g_util", "vrfmctl")
# Files that make install puts below /usr/local, without headers and the manual pages of functions.
PROGRAMS = ["bin/krping", "bin/ntr-server", "bin/rfm2g_util", "bin/vrfmctl", "lib/cmake/Rfm2g/Rfm2gConfig.cmake",
            "lib/cmake/Rfm2g/Rfm2gConfigVersion.cmake", "lib/librfm2g.a", "lib/librfm2g.so", "lib/librfm2g.so.0",
            "lib/pkgconfig/librfm2g.pc", "lib/systemd/system/ntr-server@.service", "lib/systemd/system/vrfm.service",
            "lib/sysusers.d/rfm2g.conf", "lib/udev/rules.d/60-rfm2g.rules", *(f"share/bash-completion/completions/{name}" for name in COMMANDS),
            "share/man/man1/rfm2g_util.1", "share/man/man5/vrfm.conf.5", "share/man/man8/krping.8",
            "share/man/man8/ntr-server.8", "share/man/man8/vrfmctl.8"]
# Pages of the documentation with text of kernel-doc, as {page: anchor that kernel-doc generates in the page}.
DESCRIBED = {"krdma": 'id="c.krdma_connect_params"', "interface": 'id="c.rfm2g_event_info"'}
# Name and body of a function that its caller must call with a lock held.
LOCKED = re.compile(r"^\w[^\n;]*?(\w+_locked)\([^;{}]*\)\n\{\n(.*?)^\}$", re.M | re.S)
# Lines that the kernel's build system always prints if it uses Debian's headers.
HARMLESS = re.compile(r"^Skipping BTF generation for .* due to unavailability of vmlinux$|^\s*$")


def files(pattern):
    """Files of the tree whose name matches PATTERN."""
    return [name for name in modules.tracked(TOP) if re.search(pattern, name) and (TOP / name).is_file()]


def first_line(name):
    with open(TOP / name, "rb") as file:
        return file.readline(200).decode(errors="replace")


def scripts(interpreter):
    """Files whose first line names INTERPRETER."""
    return [name for name in files("") if first_line(name).startswith("#!") and interpreter in first_line(name)]


def write(log, text):
    with open(log, "a", encoding="utf-8") as file:
        file.write(text)


def silent(argv, log):
    """Run a tool that prints nothing if it finds no fault; return true if it succeeds and prints nothing."""
    before = os.path.getsize(log) if os.path.exists(log) else 0
    status = command.run(argv, log, 600, cwd=TOP)
    with open(log, encoding="utf-8", errors="replace") as file:
        file.seek(before)
        output = [line for line in file.read().splitlines()[1:] if line.strip()]
    return status == 0 and not output


def says(*argv):
    """Return the output of a tool, such as its version."""
    return subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True).stdout


def checkpatch_reads():
    # With --no-tree checkpatch reads no other files of the tree.
    return [*files(r"\.[ch]$"), ".checkpatch.conf", "tests/check/static.py"]


def checkpatch(log):
    source = kernels.source("debug-6.1")
    argv = ["perl", source / "scripts/checkpatch.pl", "--no-tree", "--strict", "--terse", "--no-summary"]
    excused = {
        "include/compat.h": "LINUX_VERSION_CODE,MACRO_ARG_REUSE",	# compares versions; a macro waits for a condition
        "vrfm/configfs.c": "MACRO_ARG_REUSE",	# the argument is the name of a parameter, which has no side effect
        "krdma/trace.h": "PARENTHESIS_ALIGNMENT,OPEN_ENDED_LINE",		# TRACE_EVENT() is laid out like a table
        "ntrdma/trace.h": "PARENTHESIS_ALIGNMENT,OPEN_ENDED_LINE",		# TRACE_EVENT() is laid out like a table
        "vrfm/trace.h": "PARENTHESIS_ALIGNMENT,OPEN_ENDED_LINE",		# TRACE_EVENT() is laid out like a table
        "vrfm/event.c": "ENOSYS",		# errno of the cards' driver for canceling a wait when no task waits
        "vrfm/scan.c": "YIELD",		# vrfm_scanner_sleep() explains its yield()
    }
    # Programs use types of <stdint.h>, and volatile for memory that other nodes change. So ignore the rules of
    # checkpatch against both.
    programs = files(r"^(tests/(e2e/(ntrmem|ntruser|rfm2g)/|bench/vbench|check/(tapfile|filefuzz)|vm/(meddle|switch))|samples/hello/hello)"
                     r".*\.[ch]$")
    # The library for the cards is not kernel code, and has types that checkpatch does not know. So ignore the rules of
    # checkpatch that do not fit such code.
    foreign = "CAMELCASE,ENOSYS,LINE_SPACING,PREFER_DEFINED_ATTRIBUTE_MACRO,PREFER_KERNEL_TYPES,SPACING,"
    foreign += "USE_NEGATIVE_ERRNO,VOLATILE"
    library = [name for name in files(r"^(tools|samples/rfm2g)/.*\.[ch]$") if name not in programs]
    users = files(r"^tests/e2e/librfm2g/.*\.[ch]$")
    others = [name for name in files(r"\.[ch]$") if name not in (*excused, *programs, *library, *users)]
    good = [silent([*argv, "--ignore", types, "-f", name], log) for name, types in excused.items()]
    good.append(silent([*argv, "--ignore", "PREFER_KERNEL_TYPES,VOLATILE,EMBEDDED_FUNCTION_NAME,ENOSYS",
                        "--max-line-length=120", "-f", *programs], log))
    good.append(silent([*argv, "--ignore", f"{foreign},COMPLEX_MACRO,MACRO_ARG_REUSE,NEW_TYPEDEFS", "-f", *library],
                       log))
    foreign += ",EMBEDDED_FUNCTION_NAME,MULTIPLE_ASSIGNMENTS"
    good.append(silent([*argv, "--ignore", foreign, "--max-line-length=120", "-f", *users], log))
    return silent([*argv, "-f", *others], log) and all(good)


def undocumented(log):
    """Are there exports that Documentation/krdma.rst does not describe?"""
    text = (TOP / "Documentation/krdma.rst").read_text(encoding="utf-8")
    named = set(" ".join(re.findall(r":identifiers:((?: +\S+|\n {10,}\S+)+)", text)).split())
    exported = {symbol for name in files(r"^krdma/.*\.c$")
                for symbol in re.findall(r"^EXPORT_SYMBOL_NS_GPL\((\w+)", (TOP / name).read_text(encoding="utf-8"), re.M)}
    write(log, "".join(f"{symbol}: not in Documentation/krdma.rst\n" for symbol in sorted(exported - named)))
    return bool(exported - named) or not exported


def kernel_doc(log):
    if undocumented(log):
        return False
    source = kernels.source("debug-6.1")
    return silent(["perl", source / "scripts/kernel-doc", "-none", "-Werror",
                   *files(r"^(include|krdma|krping|ntrdma|vrfm|samples|tools|tests/e2e|tests/bench)/.*\.[ch]$")], log)


def unexplained():
    """Log lines and reasons for a rejection that Documentation/troubleshooting.rst does not explain."""
    text = " ".join((TOP / "Documentation/troubleshooting.rst").read_text(encoding="utf-8").split())
    said = []
    for name in files(r"^(krdma|vrfm)/.*\.c$"):
        code = (TOP / name).read_text(encoding="utf-8")
        said += re.findall(r'\bpr_(?:err|warn|notice|info)\w*\(\s*"([^"]*)\\n"', code)
        said += re.findall(r'\[VRFM_REJECT_(?!NONE|BUSY)\w+\] = "([^"]*)"', code)
    # The text of a format differs from the documentation where the format has conversions. So search only for its
    # longest piece without conversions.
    pieces = {max(re.split(r"%[#.*]*[a-z]*(?:ISpc)?", line), key=len).strip(" :") for line in said}
    return sorted(piece for piece in pieces if piece not in text)


def moved():
    """Functions that Documentation/inside.rst names in another file than the one that defines them."""
    text = (TOP / "Documentation/inside.rst").read_text(encoding="utf-8")
    named = re.findall(r"^ +(\w+)\(\) +(\w+/\w+\.c) ", text, re.M)
    return [f"{function}() {name}" for function, name in named
            if not re.search(rf"^\w[^;=\n]*\b{function}\(", (TOP / name).read_text(encoding="utf-8"), re.M)] or \
        ([] if named else ["no function"])


WIDTH = 120
README_LINES = 150	# a newcomer reads it in one go


def wide():
    """Lines of *.rst that are longer than WIDTH columns, as "FILE:LINE"."""
    return [f"{name}:{number}" for name in files(r"\.rst$")
            for number, line in enumerate((TOP / name).read_text(encoding="utf-8").splitlines(), 1)
            if len(line.expandtabs()) > WIDTH]


# {sources: page that describes the fields of their JSON}
JSON = {"krping/": "krping", "tools/vrfmctl/": "status", "tools/rfm2g_util/": "status"}


def undescribed():
    """Fields of JSON that are not in the table of their page, as "PAGE: FIELD"."""
    missing = []
    for folder, page in JSON.items():
        text = (TOP / f"Documentation/{page}.rst").read_text(encoding="utf-8")
        code = "".join((TOP / name).read_text(encoding="utf-8") for name in files(rf"^{folder}.*\.c$"))
        fields = set(re.findall(r'\\"([a-z][\w.]*)\\":|ctl_json_(?:number|flag)\("(\w+)"', code))
        fields = {first or second for first, second in fields}
        missing += [f"{page}: {name}" for name in fields - set(re.findall(r"``([\w.]+)``", text))]
        missing += [] if fields else [f"{page}: no field of {folder} was found"]
    return sorted(missing)


def docs(log):
    """Does make docs produce all pages, with the descriptions of kernel-doc, and without a warning?"""
    program = kernels.source("debug-6.1") / "scripts/kernel-doc"
    with tempfile.TemporaryDirectory() as folder:
        status = command.run(["make", "-C", TOP, "docs", f"DOCS={folder}", f"KERNELDOC={program}"], log, 300)
        pages = {path.stem: path.read_text(encoding="utf-8") for path in pathlib.Path(folder).glob("*.html")}
    sources = {pathlib.Path(name).stem for name in files(r"^Documentation/[^/]*\.rst$")}
    missing = sorted(sources - set(pages)) + [name for page, name in DESCRIBED.items() if name not in pages.get(page, "")]
    write(log, "".join(f"not in the pages: {name}\n" for name in missing))
    lines = unexplained()
    write(log, "".join(f"not in Documentation/troubleshooting.rst: {line}\n" for line in lines))
    fields = undescribed()
    write(log, "".join(f"JSON without a description: {field}\n" for field in fields))
    elsewhere = moved()
    write(log, "".join(f"not where Documentation/inside.rst says: {line}\n" for line in elsewhere))
    long = wide()
    write(log, "".join(f"longer than {WIDTH} columns: {line}\n" for line in long))
    readme = len((TOP / "README.md").read_text(encoding="utf-8").splitlines())
    if readme > README_LINES:
        write(log, f"README.md has {readme} lines, more than {README_LINES}\n")
    return status == 0 and readme <= README_LINES and not any((missing, lines, fields, elsewhere, long))


def shellcheck_reads():
    """Return this file, and all files that may be scripts or parts of scripts, because their names have no suffix."""
    return [*files(r"^(?!.*\.([ch]|cocci|md|patch|py|rst)$)"), "tests/check/static.py"]


# grep -q exits at its first match. If the command before it still writes, SIGPIPE ends that command, and "pipefail" makes
# the match a failure. "grep -q PATTERN < <(command)" has the status of grep.
QUIET_AFTER_PIPE = re.compile(r"(?<!\|)\|\s*grep\s[^|;]*?(?<=\s)-\w*q")


def shellcheck(log):
    bash = scripts("bash")
    quiet = [f"{name}:{number}: grep -q behind a pipe\n" for name in bash
             for number, line in enumerate((TOP / name).read_text(encoding="utf-8").splitlines(), 1)
             if QUIET_AFTER_PIPE.search(line)]
    write(log, "".join(quiet))
    # Exclude two rules: SC2317 reports functions as unreachable if they are called through a variable, and SC2119
    # reports calls that omit optional arguments.
    return silent(["shellcheck", "-x", "-e", "SC2119,SC2317", "-P", "SCRIPTDIR", *bash, *scripts("/sh"),
                   *files("^tools/system/completions/")], log) and not quiet


def codespell(log):
    # Valid words that codespell does not know: an abbreviated option in a test, a function of the kernel, and a debug
    # flag of the cards.
    return silent(["codespell", "-L", "siz,iput,strat,padd", "--", *[name for name in files("") if name not in FOREIGN]], log)


def python(log):
    """Do all Python files compile?  They are parsed only, to leave no compiled files in the tree.

    preexec_fn runs Python between fork() and exec(), which may deadlock in a process with threads: setpriv does the same.
    """
    good = True
    for name in sorted(set(files(r"\.py$") + scripts("python3"))):
        try:
            tree = ast.parse((TOP / name).read_text(encoding="utf-8"), name)
            for call in ast.walk(tree):
                if isinstance(call, ast.keyword) and call.arg == "preexec_fn":
                    write(log, f"{name}:{call.value.lineno}: preexec_fn\n")
                    good = False
        except SyntaxError as error:
            write(log, f"{name}: {error}\n")
            good = False
    return good


def locks(log):
    """Does each function of vrfm with the suffix _locked assert its lock?"""
    found = [(name, *match) for name in files(r"^vrfm/.*\.[ch]$")
             for match in LOCKED.findall((TOP / name).read_text(encoding="utf-8"))]
    wrong = [f"{name}: {function}() asserts no lock\n" for name, function, body in found
             if not re.search(r"^\tlockdep_assert", body, re.M)]
    write(log, "".join(wrong))
    return bool(found) and not wrong


def license_headers(log):
    """Does each file name the license of its folder?  Files that cannot have a comment are excluded."""
    bare = re.compile(r"^(COPYING|tools/librfm2g/COPYING|\.gitignore|\.clang-format|\.checkpatch\.conf|\.editorconfig|dkms\.conf|tests/skips)$"
                      r"|^debian/(changelog|copyright|source/format)$"
                      r"|\.(md|patch|json)$")
    wrong = []
    for name in files(""):
        if bare.search(name):
            continue
        head = (TOP / name).read_text(encoding="utf-8", errors="replace")[:300]
        said = re.search(r"SPDX-License-Identifier: (.*?)(?: \*/)?$", head, re.MULTILINE)
        due = next((text for folder, text in LICENSES.items() if name.startswith(folder)), "GPL-2.0")
        if not said or said.group(1) != due:
            wrong.append(f"{name}: no SPDX-License-Identifier: {due}\n")
    write(log, "".join(wrong))
    return not wrong


def splats(log):
    """Does each pattern of tests/vm/splats find a complaint of a kernel, and none of them a harmless line?"""
    said = (TOP / "tests/vm/splats.said").read_text(encoding="ascii").splitlines()
    said = [(line[0] == "+", line[2:]) for line in said if not line.startswith("#")]
    patterns = nodes.splat_patterns()
    wrong = [f"finds nothing: {pattern}" for pattern in patterns
             if not any(bad and re.search(pattern, line) for bad, line in said)]
    wrong += [f"{'not found' if bad else 'found'}: {line}" for bad, line in said
              if bad != any(re.search(pattern, line) for pattern in patterns)]
    write(log, "".join(f"{line}\n" for line in wrong))
    return not wrong


def noise_vectors(log):
    """Do the tests of krdma's handshake expect what an independent program calculates?"""
    return silent([sys.executable, "-B", TOP / "tests/kunit/noise_vectors.py", "--check"], log)


def build(name, args):
    """Do all modules build without any output of make -s?"""
    def check(log):
        try:
            kernel = kernels.prepare(name)
            modules.build(kernel, TOP, args)
        except cache.RigError as error:
            write(log, f"{error}\n")
        place = modules.place(kernel, TOP, args)
        said = (place / ".make.log").read_text(encoding="utf-8")
        write(log, said)
        objects = list(place.glob(f"{modules.OUT}/krdma.ko"))
        return bool(objects) and all(HARMLESS.match(line) for line in said.splitlines())
    return check


def exported_functions():
    """Names of the functions that librfm2g exports."""
    return set(re.findall(r"^\t(RFM2g\w+);", (TOP / "tools/librfm2g/librfm2g.map").read_text(encoding="ascii"), re.M))


def install(name, args):
    """Does make install install our modules and the files for programs, nothing else, and without a warning?

    It runs in the copy in which the part build has built all modules with these arguments, so that it compiles few files.
    """
    def check(log):
        with tempfile.TemporaryDirectory() as root:
            try:
                kernel = kernels.prepare(name)
                with modules.built(kernel, TOP, args):
                    good = install_into(root, kernel, args, log)
            except cache.RigError as error:
                write(log, f"{error}\n")
                return False
            root = pathlib.Path(root)
            installed = sorted(file.name for file in root.rglob("*.ko*"))
            local = sorted(str(file.relative_to(root / "usr/local")) for file in root.glob("usr/local/**/*")
                           if file.is_file() and file.suffix != ".h")
        expected = sorted([*PROGRAMS, *(f"share/man/man3/{name}.3" for name in exported_functions())])
        write(log, f"installed: {installed} {local}\n")
        write(log, f"missing or not expected: {sorted(set(expected) ^ set(local))}\n")
        return good and installed == ["krdma.ko", "krping.ko", "krping_blk.ko", "ntrdma.ko", "vrfm.ko"] and local == expected
    return check


def install_into(root, kernel, args, log):
    """Does make install succeed without a warning?  It runs without sparse, which has checked all files before."""
    place = modules.place(kernel, TOP, args)
    words = [word for word in args if not word.startswith(("-s", "C="))]
    unsure = place / modules.UNSURE		# makes the next build start again if this one fails or prints a warning
    unsure.touch()
    make = ["make", f"-j{os.cpu_count()}", "-C", place, f"KDIR={kernel.kdir}", *kernel.make_args, *words]
    status = command.run([*make, "all"], log, 1800)
    if status == 0:
        status = command.run([*make, "DEPMOD=true", f"DESTDIR={root}", "install"], log, 600)
    with open(log, encoding="utf-8") as file:
        # Search for these words in lower case only, because the kernel prints "Warning: ... missing 'System.map'" with
        # Debian's headers.
        good = status == 0 and not re.search(r"\berror\b|warning:", file.read())
    if good:
        unsure.unlink()
    return good


def build_without_headers(log):
    """Does a build without KDIR fail with one line, which names the package to install?"""
    with tempfile.TemporaryDirectory() as nowhere:
        status = command.run(["make", "-s", "-C", TOP, f"KDIR={nowhere}/none"], log, 60)
    with open(log, encoding="utf-8") as file:
        said = [line for line in file.read().splitlines()[1:] if not line.startswith("make")]
    return status != 0 and len(said) == 1 and "apt-get install linux-headers" in said[0]


def kunit_config(log):
    """Do the kernels that run the KUnit tests have the options of .kunitconfig?"""
    def options(path):
        return {line for line in (TOP / path).read_text(encoding="utf-8").splitlines() if line.startswith("CONFIG_")}
    missing = options("tests/kunit/.kunitconfig") - options("tests/vm/common.config")
    write(log, "".join(f"{line}: not in tests/vm/common.config\n" for line in sorted(missing)))
    return not missing
