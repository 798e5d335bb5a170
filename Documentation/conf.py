# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""For sphinx-build, which make docs starts: how Documentation/*.rst becomes pages."""
import os
import pathlib
import re
import subprocess

from docutils import nodes, statemachine
from docutils.parsers.rst import directives
from sphinx.errors import ExtensionError
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent

project = "krdma"
author = copyright = "The krdma developers"		# pylint: disable=redefined-builtin
release = re.search(r'^PACKAGE_VERSION="(.*)"$', (TOP / "dkms.conf").read_text(encoding="utf-8"), re.M)[1]
exclude_patterns = ["build"]
html_theme = "alabaster"
html_theme_options = {"page_width": "1100px", "fixed_sidebar": True, "description": "reflective memory over RDMA"}
html_copy_source = False
highlight_language = "none"


def kernel_doc():
    """The program kernel-doc: the one that is named, that of the headers, or that of a source which is fetched."""
    if os.environ.get("KERNELDOC"):
        return os.environ["KERNELDOC"]
    for folder in (os.environ.get("KDIR", ""), *sorted(map(str, pathlib.Path("/usr/src").glob("linux-source-*/")))):
        for name in ("scripts/kernel-doc", "tools/docs/kernel-doc"):
            if folder and os.access(path := f"{folder}/{name}", os.X_OK):
                return path
    found = subprocess.run([TOP / "tests/vm/kernels", "source", "debug-6.1"], stdout=subprocess.PIPE, text=True,
                           check=False)
    if found.returncode:
        raise ExtensionError("no kernel-doc: say make docs KERNELDOC=.../scripts/kernel-doc, of any kernel source")
    return f"{found.stdout.strip()}/scripts/kernel-doc"


class KernelDoc(SphinxDirective):
    """.. kernel-doc:: FILE, and :identifiers: of those that are wanted, else all."""
    required_arguments = 1
    option_spec = {"identifiers": directives.unchanged}

    def run(self):
        place = pathlib.Path(self.get_source_info()[0]).parent
        path = (place / self.arguments[0]).resolve()
        names = self.options.get("identifiers", "").split()
        self.env.note_dependency(str(path))
        text = self.printed(path, names)
        log = logging.getLogger(__name__)
        for name in names:
            if not re.search(rf"^\.\. c:\w+:: .*\b{name}\b", text, re.M):
                log.warning("%s has no description of %s", self.arguments[0], name, location=self.get_location())
        lines = statemachine.StringList(text.expandtabs(8).splitlines(), str(path))
        node = nodes.section()
        node.document = self.state.document
        self.state.nested_parse(lines, self.content_offset, node, match_titles=1)
        return node.children

    def printed(self, path, names):
        """The output of kernel-doc for a file.  Each complaint of kernel-doc is a warning."""
        argv = [self.config.kernel_doc_program, "-rst"]
        argv += [word for name in names for word in ("-function", name)]
        done = subprocess.run([*argv, str(path)], capture_output=True, text=True, check=False)
        for line in done.stderr.splitlines():
            logging.getLogger(__name__).warning("%s", line, location=self.get_location())
        if done.returncode:
            raise ExtensionError(f"{argv[0]} {path}: exit status {done.returncode}")
        return done.stdout


def link_documents(app, doctree):
    """`text <quickstart.rst>`__ is a link in a source browser as it is; in pages it leads to the page."""
    for node in doctree.findall(nodes.reference):
        match = re.fullmatch(r"(\w+)\.rst(#.*)?", node.get("refuri", ""))
        if match and match[1] in app.env.found_docs:
            node["refuri"] = f"{match[1]}.html{match[2] or ''}"
        elif match:
            logging.getLogger(__name__).warning("no document %s.rst", match[1], location=node)


def setup(app):
    app.add_config_value("kernel_doc_program", kernel_doc(), "env")
    app.add_directive("kernel-doc", KernelDoc)
    app.connect("doctree-read", link_documents)
