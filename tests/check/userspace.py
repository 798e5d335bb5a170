# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""Install library, tools and samples as a user does, for scenarios and for checks without a machine."""
import functools
import os
import re
import subprocess
import tempfile

import ktap
import static
from rig import cache

TOP = static.TOP
# Folders to build in this order, because the tools use the library.
FOLDERS = ["tools/librfm2g", "tools/rfm2g_util", "tools/vrfmctl"]
RARE = {"pthread_cond_clockwait", "pthread_mutex_clocklock", "pthread_rwlock_clockrdlock", "pthread_rwlock_clockwrlock",
        "sem_clockwait", "pthread_clockjoin_np"}
STRICT = ["-O2", "-Wall", "-Wextra", "-Werror", "-pthread"]
# Compilers for 32 bits. The packages of the second one conflict with those of cross compilers, so prefer the first one.
NARROW = (["i686-linux-gnu-gcc"], ["gcc", "-m32"])


@functools.cache
def narrow_compiler():
    """Return a compiler that links static programs of 32 bits, with its options; None if this machine has none."""
    for argv in NARROW:
        try:
            done = subprocess.run([*argv, "-x", "c", "-static", "-o", "/dev/null", "-"], capture_output=True, text=True,
                                  input="#include <stdio.h>\nint main(void) { return puts(\"\"); }\n", check=False)
        except FileNotFoundError:
            continue
        if done.returncode == 0:
            return argv
    return None


def sources():
    return [TOP / name for name in static.files(r"^(tools/librfm2g|tools/rfm2g_util|tools/vrfmctl|samples/rfm2g|include/uapi)/|^include/version\.h$|^tools/common\.mk$")]


def installed():
    """Return the root of an installation in the cache; install it if it is not there."""
    names = sources()
    folder = cache.root() / "userspace" / cache.digest(*[str(name.relative_to(TOP)) for name in names], *names)
    with cache.making(folder) as needed:
        if needed:
            for name in FOLDERS:
                make = ["make", "-s", "-C", TOP / name, f"BUILD={folder}/build/{name}", "WERROR=-Werror"]
                cache.run([*make, "all"], folder / "log")
                cache.run([*make, f"DESTDIR={folder}/root", "PREFIX=/usr", "LIBDIR=/usr/lib", "install"], folder / "log")
            cache.run(["make", "-s", "-C", TOP / "samples/rfm2g", f"BUILD={folder}/samples", "CFLAGS=-O2 -Werror"],
                      folder / "log", env=environment(folder / "root"))
    return folder / "root"


def environment(root):
    """Return an environment in which pkg-config finds the installed library, and no other."""
    return dict(os.environ, PKG_CONFIG_LIBDIR=f"{root}/usr/lib/pkgconfig", PKG_CONFIG_SYSROOT_DIR=str(root))


def flags(root):
    """Return the flags of pkg-config for a program that uses the installed library."""
    return cache.output(["pkg-config", "--cflags", "--libs", "librfm2g"], env=environment(root)).split()


def program(name, source):
    """Build SOURCE with wrap.c, once with the shared library and once with the static one; return both programs."""
    root = installed()
    used = [source, source.with_name("wrap.c"), source.with_name("wrap.h")]
    folder = cache.root() / "programs" / f"{source.stem}-{cache.digest(str(root), *used)}"
    with cache.making(folder) as needed:
        if needed:
            for suffix, library in ("", flags(root)), ("-static", [f"-I{root}/usr/include/rfm2g",
                                                                   f"{root}/usr/lib/librfm2g.a"]):
                cache.run(["gcc", *STRICT, "-o", folder / (name + suffix), *used[:2], *library])
    return [folder / name, folder / f"{name}-static"]


def added(programs, tools, samples, folder):
    """Return files for /add: the library, each program twice, tools and samples."""
    if not programs and not tools and not samples:
        return []
    root = installed()
    return [root / "usr/lib/librfm2g.so.0", *[file for name in tools for file in root.glob(f"usr/*bin/{name}")],
            *[root.with_name("samples") / name for name in samples],
            *[file for name in programs for file in program(name.rpartition("/")[2], folder / f"{name}.c")]]


GOOD_CONF = {"plain": "[rfm2g0]\nnode = 1\n", "byte order mark": "\ufeff[rfm2g0]\nnode = 0x10\n",
             "blanks": "[ rfm2g0 ]\nnode = 0\nsize = 1M\n"}
# Files vrfm.conf with errors, as {case: (file, all messages that it must cause)}. Lines below an invalid section cause
# no message.
WRONG_CONF = {"octal node": ("[rfm2g0]\nnode = 010\n", [":2: node 010: a number has no leading 0"]),
              "octal peer": ("[rfm2g0]\nnode = 1\npeer = 08 10.0.0.1\n", [":3: peer 08: 0 to 255, without a leading 0"]),
              "octal size": ("[rfm2g0]\nnode = 1\nsize = 064M\n", [":3: size 064M: 4K to 2G, a multiple of 4K"]),
              "wrong section": ("[rfm2g0]\nnode = 1\n[rfm2g9]\nnode = 2\n[rfm2g1]\nnode = 3\n",
                                [":3: rfm2g9: devices are rfm2g0 to rfm2g7"])}
FOREIGN_OPTIONS = {"--json -t 5 conf": "conf has no option -j", "--json up": "up has no option -j",
                   "-b 4K peers": "peers has no option -b", "-a up": "up has no option -a"}


def vrfmctl_words(log):
    """Check the files and options that vrfmctl accepts, and the lines that it names in invalid files."""
    tool = installed() / "usr/bin/vrfmctl"
    right = []

    def said(*argv):
        done = subprocess.run([tool, *argv], capture_output=True, text=True, check=False)
        static.write(log, f"{argv}: {done.returncode} {done.stdout}{done.stderr}\n")
        return done.returncode, done.stderr

    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as file:
        for text, lines in [*((text, []) for text in GOOD_CONF.values()), *WRONG_CONF.values()]:
            file.seek(0)
            file.truncate()
            file.write(text)
            file.flush()
            status, errors = said("-f", file.name, "conf")
            right.append(status == bool(lines) and errors.splitlines() == [file.name + line for line in lines])
    for words, line in FOREIGN_OPTIONS.items():
        status, errors = said(*words.split())
        right.append(status == 2 and errors.startswith(f"vrfmctl: {line}\n"))
    return all(right)


def declared(text):
    """Return functions and data that the headers of librfm2g declare."""
    return functions(text) | set(re.findall(r"^extern const \w+ \*?(\w+)", text, re.M))


def functions(text):
    """Return functions that the headers of librfm2g declare."""
    return set(re.findall(r"(?:STDRFM2GCALL |char \*)(RFM2g\w+)\(", text))


def narrow_library(log):
    """Check that all of the library compiles for 32 bits without a warning."""
    argv = [*narrow_compiler(), "-std=gnu11", "-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64", "-fsyntax-only", *STRICT,
            f"-I{TOP}/tools/librfm2g/include"]
    return all([static.silent([*argv, file], log) for file in sorted((TOP / "tools/librfm2g").glob("*.c"))])


def headers(log):
    """Check the headers, and the library for 32 bits; a part of tools/check."""
    results = ktap.Results()
    (results.passed if stand_alone(log) else results.failed).append("each header compiles alone in C and C++")
    (results.passed if big_endian(log) else results.failed).append("the library is refused on big-endian machines")
    (results.passed if large_map(log) else results.failed).append("rfm2g_util knows the size of a mapping of 4 GiB")
    case = "the library compiles for 32 bits"
    if narrow_compiler():
        (results.passed if narrow_library(log) else results.failed).append(case)
    else:
        results.skipped.append(case)
    return results


# Program that checks the size of a mapping of 4 GiB without making one, because no machine of the rig has the memory.
LARGE_MAP = """#include "maps.c"
int main(void)
{
	struct util pages = { .map_count = 0x100000, .map_pages = true }, bytes = { .map_count = 0xffffffff };

	return util_map_bytes(&pages) != 0x100000000 || util_map_bytes(&bytes) != 0xffffffff;
}
"""


def large_map(log):
    """Return whether rfm2g_util knows the size of a mapping of 4 GiB.  The rest of the tool is not linked."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["gcc", "-O2", "-D_GNU_SOURCE", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections",
                               f"-I{TOP}/tools/rfm2g_util", f"-I{TOP}/tools/librfm2g/include", "-x", "c", "-o", f"{folder}/large", "-"],
                              input=LARGE_MAP, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        static.write(log, done.stdout)
        return done.returncode == 0 and static.silent([f"{folder}/large"], log)


def big_endian(log):
    """Return whether the library is refused on a big-endian machine.  Only the preprocessor runs, with that byte order."""
    argv = ["gcc", "-E", "-o", "/dev/null", "-w", f"-I{TOP}/tools/librfm2g/include", "-x", "c"]
    source = TOP / "tools/librfm2g/priv.h"
    done = subprocess.run([*argv, "-U__BYTE_ORDER__", "-D__BYTE_ORDER__=__ORDER_BIG_ENDIAN__", source], capture_output=True, text=True,
                          check=False)
    static.write(log, done.stderr)
    return "little-endian" in done.stderr and done.returncode != 0 and static.silent([*argv, source], log)


def stand_alone(log):
    """Check that each public header compiles alone, in C as of 1999 and in C++."""
    good = True
    root = installed()
    for header in sorted((root / "usr/include/rfm2g").glob("*.h")):
        for argv in (["gcc", "-std=c99", "-pedantic"], ["g++", "-std=c++98", "-x", "c++"]):
            with tempfile.NamedTemporaryFile("w", suffix=".c", encoding="ascii") as file:
                file.write(f"#include <{header.name}>\n#include <{header.name}>\nint main(void) {{ return 0; }}\n")
                file.flush()
                good &= static.silent([*argv, "-Wall", "-Wextra", "-Werror", f"-I{header.parent}", "-fsyntax-only",
                                       file.name], log)
    for argv in (["gcc", "-std=c99", "-pedantic"], ["g++", "-std=c++98", "-x", "c++"]):
        good &= static.silent([*argv, "-Wall", "-Wextra", "-Werror", f"-I{root}/usr/include/rfm2g", "-fsyntax-only",
                               TOP / "tests/check/names.c"], log)
    return good & versions(root, log)


def versions(root, log):
    """Check that pkg-config and CMake have the library's version and folders, and headers the interface's version."""
    wanted = cache.output(["pkg-config", "--modversion", "librfm2g"], env=environment(root)).strip()
    folder = next(root.glob("usr/lib*/cmake/Rfm2g"))
    config, version = ((folder / name).read_text(encoding="ascii") for name in ("Rfm2gConfig.cmake", "Rfm2gConfigVersion.cmake"))
    named = [root / path.lstrip("/") for path in re.findall(r'set\(Rfm2g_(?:INCLUDE_DIRS|LIBRARIES) "(.*)"\)', config)]
    faults = [f"{path} does not exist" for path in named if not path.exists()]
    faults += [f"CMake has not version {wanted}"] * (f'Rfm2g_VERSION "{wanted}"' not in config or
                                                    f'PACKAGE_VERSION "{wanted}"' not in version or len(named) != 2)
    text = (root / "usr/include/rfm2g/rfm2g_version.h").read_text(encoding="ascii")
    faults += ["rfm2g_version.h has no R and two numbers"] * (not re.search(r'"R\d+\.\d+"', text))
    static.write(log, "".join(f"{fault}\n" for fault in faults))
    return not faults


def wants(library):
    """Return functions of the C library that LIBRARY uses, and that glibc before 2.30 or musl lacks."""
    used = {line.split()[-1].partition("@")[0] for line in cache.output(["nm", "-D", "-u", library]).splitlines()}
    return sorted(used & RARE)


# Functions that came with version 2 of the library's symbols.
LATER = re.compile(r"RFM2gx(Ring|Batch|ManualMemory|Publish|Queue|Submit)")


def symbols(log):
    """Check that the shared library exports what the headers declare, and uses only what every C library has."""
    root = installed()
    rare = wants(root / "usr/lib/librfm2g.so.0")
    static.write(log, "".join(f"{name}: glibc before 2.30 or musl lacks it\n" for name in rare))
    shown = cache.output(["nm", "-D", "--defined-only", root / "usr/lib/librfm2g.so.0"])
    shown = {line.split()[2] for line in shown.splitlines()}
    text = "".join(file.read_text(encoding="utf-8") for file in (root / "usr/include/rfm2g").glob("*.h"))
    wanted = {f"{name}@@LIBRFM2G_{2 if LATER.match(name) else 1}" for name in declared(text)} | {"LIBRFM2G_1", "LIBRFM2G_2"}
    static.write(log, "".join(f"{name}: only in the {'library' if name in shown else 'headers'}\n"
                              for name in sorted(shown ^ wanted)))
    return shown == wanted and not rare and pages(root, functions(text), log)


def pages(root, names, log):
    """Check that each function has a manual page with its name and prototype, and that there are no other pages."""
    found = {file.stem: file.read_text(encoding="utf-8") for file in (root / "usr/share/man/man3").glob("*.3")}
    wrong = sorted(found.keys() ^ names)
    wrong += [name for name, text in found.items()
              if not re.search(rf"^\.SH NAME\n(.*, )?{name}(, .*)? \\- \S", text, re.M) or f"{name}(" not in text]
    static.write(log, "".join(f"{name}: no manual page, or a wrong one\n" for name in wrong))
    return not wrong
