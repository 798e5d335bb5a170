# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""Find the English text in a file: comments, documentation, messages and names of tests, each with its line."""
import ast
import dataclasses
import io
import pathlib
import re
import tokenize

# Files that are not checked: texts of other projects, and examples of text that the rules must find.
NO_PROSE = re.compile(r"(^|/)COPYING$|^\.clang-format$|\.(examples|said|json|symbols|lintian-overrides)$")
# Comments that are for programs, not for readers.
DIRECTIVE = re.compile(r"SPDX-License-Identifier|Author:|Copyright|shellcheck |pylint:|noqa|clang-format|sparse:|!")
LABEL = re.compile(r"@[\w.\[\]]+(?:\(\))?(?:\.\.\.)?: *|(?:Returns?|Context|Note|Description): *|[a-z-]+: +(?=\S+$)")
# An item of a list, a variant of a model, or a name with its description in another column.
ITEM = re.compile(r"variant \w+ \w+: +|(?:[-*•+]|\(?\d+[.)]|#\.) +"
                  r"|(?:[\w/,:=()\[\]-]+ ){0,5}[\w/,:=()\[\]-]+(?: {2,}|\t+)(?=\S)")
MESSAGE_WORDS = 3


@dataclasses.dataclass
class Piece:
    """A paragraph, comment or message of a file."""
    kind: str			# "comment", "text", "message", "member", "summary", "case" or "heading"
    lines: list			# (number, text)
    name: str = ""			# of the function that a summary describes

    def text(self):
        return " ".join(text for _, text in self.lines)

    def line_at(self, offset):
        """Return the number of the line that has the character at OFFSET of text()."""
        for number, text in self.lines:
            if offset <= len(text):
                return number
            offset -= len(text) + 1
        return self.lines[-1][0]


def is_prose(text):
    """Check whether TEXT contains a word.  Drawings and rules do not."""
    return re.search(r"[A-Za-z]{2}", text) and not DIRECTIVE.match(text)


def paragraphs(kind, lines):
    """Yield paragraphs; a blank line, a list item or a heading such as "Return:" begins one.

    Indented lines below a line that ends with "::" are quoted.
    """
    current, quoted = [], None
    for number, raw in lines:
        text, indent = raw.strip(), len(raw) - len(raw.lstrip())
        if quoted is not None and text:
            if indent > quoted:
                continue
            quoted = None
        label, item = LABEL.match(text), ITEM.match(text)
        if current and (not is_prose(text) or label or item):
            yield Piece(current[0], current[1:])
            current = []
        if not is_prose(text):
            continue
        if not current:
            current = ["member" if text.startswith("@") and label else kind]
        begin = (label or item).end() if label or item else 0
        if text[begin:]:
            current.append((number, text[begin:]))
        if text.endswith("::"):
            quoted = indent
    if len(current) > 1:
        yield Piece(current[0], current[1:])


def message(number, text, kind="message"):
    """Yield a string as a piece if it has some words; two spaces separate sentences."""
    lines = [(number + index, line) for index, line in enumerate(text.split("\n"))]
    yield from message_of_lines(lines, kind)


def message_of_lines(lines, kind="message"):
    """Yield LINES, which are (number, text), as one piece, under the conditions of message()."""
    lines = [(number, re.sub(r"  +", " | ", line.strip())) for number, line in lines if line.strip()]
    text = " ".join(line for _, line in lines)
    if len(re.findall(r"(?<![\w%/.$\\-])[A-Za-z]{2,}(?![\w/.(=])", text)) >= MESSAGE_WORDS:
        yield Piece(kind, lines)


C_TOKEN = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.S)
SUMMARY = re.compile(r"(?P<kind>(?:struct|enum|union|typedef|define|DOC:?) +)?(?P<name>\w+)(?:\(\))? +- +")


def describes_function(code, name):
    """Check whether NAME, with kernel-doc before CODE, is a function or a macro that looks like one."""
    macro = re.match(r"\s*#\s*define\s+(\w+)(\(?)", code)
    if macro:
        return macro.group(2) == "("
    return re.match(rf"[^;={{}}#]*?\b{re.escape(name)}\s*\(", code) is not None and not re.match(r"\s*typedef\b", code)


def c_comment(number, token, code):
    """Yield the pieces of a comment that is before CODE."""
    text = token[2:].removesuffix("*/") if token.startswith("/*") else token[2:]
    lines = [(number + index, re.sub(r"^\s*\* ?|^\*", "", line)) for index, line in enumerate(text.split("\n"))]
    if not token.startswith("/**") or len(lines) < 2 and " - " not in text:
        yield from paragraphs("comment", lines)
        return
    lines = [line for line in lines if line[1].strip()][:1] + lines[2:] if not lines[0][1].strip() else lines
    match = SUMMARY.match(lines[0][1].strip()) if lines else None
    if not match:
        yield from paragraphs("comment", lines)
        return
    bare = [(line, text.strip()) for line, text in lines]
    end = next((index for index, (_, text) in enumerate(bare) if index and (not text or text[0] == "@")), len(lines))
    first = [(bare[0][0], bare[0][1][match.end():]), *bare[1:end]]
    function = not match["kind"] and describes_function(code, match["name"])
    yield Piece("summary" if function else "member", first, match["name"])
    yield from paragraphs("comment", lines[end:])


def of_c(text):
    """Yield comments, strings and names of KUnit cases of a C file."""
    string, end = [], 0
    for match in C_TOKEN.finditer(text):
        token, number = match.group(), text.count("\n", 0, match.start()) + 1
        if string and (token[0] != '"' or text[end:match.start()].strip()):
            yield from message_of_lines(string)
            string = []
        if token[0] == "/":
            yield from c_comment(number, token, text[match.end():match.end() + 2000])
        elif token[0] == '"' and not re.search(r"#\s*include\s*$", text[max(0, match.start() - 20):match.start()]):
            string.append((number, re.sub(r"\\[nt]", " ", token[1:-1]).replace('\\"', '"')))
            end = match.end()
    yield from message_of_lines(string)
    for match in re.finditer(r"KUNIT_CASE(?:_PARAM|_SLOW)?\((\w+)", text):
        yield Piece("case", [(text.count("\n", 0, match.start()) + 1, match.group(1).replace("_", " "))])


def hash_comments(lines):
    """Yield the pieces of comments that begin with "#"; comments in consecutive lines are one block."""
    block = []
    for number, line in [*lines, (0, "")]:
        alone = re.match(r"\s*#(?!!)(.*)$", line)
        if alone:
            block.append((number, alone.group(1).removeprefix(" ")))
            continue
        yield from paragraphs("comment", block)
        block = []
        trailing = re.search(r"\s#+ (.*)$", line)
        if trailing and all(line[:trailing.start()].count(quote) % 2 == 0 for quote in "\"'"):
            yield from paragraphs("comment", [(number, trailing.group(1))])


def of_shell(text):
    """Yield comments, strings, here-documents, and unquoted words of commands such as echo."""
    code, here, end = [], [], None
    for number, line in enumerate(text.split("\n"), 1):
        if end:
            if line.strip() == end:
                yield from (piece for piece in paragraphs("message", here) if " " in piece.text())
                here, end = [], None
            else:
                here.append((number, line))
            continue
        code.append((number, line))
        begin = re.search(r"<<-?\s*(['\"]?)(\w+)\1", re.sub(r"<<<", "", line))
        end = begin.group(2) if begin and not line.lstrip().startswith("#") else None
        if not line.lstrip().startswith("#"):
            case = re.match(r"\s*(?:.*[;&|] *)?(?:ok \S+|check|skip) +(?=[\"'])", line)
            for match in re.finditer(r'"((?:\\.|[^"\\])*)"|\'([^\']*)\'', line):
                kind = "case" if case and match.start() == case.end() else "message"
                yield from message(number, match.group(1) or match.group(2) or "", kind)
            said = re.match(r"\s*(?:echo|say|skip|fail|die) (?!['\"-])([^\"'|;&>]*)$", line)
            if said:
                yield from message(number, said.group(1))
    yield from hash_comments(code)


def of_hash(text):
    """Yield the pieces of a file whose comments begin with "#"."""
    yield from hash_comments(enumerate(text.split("\n"), 1))


def of_python(text):
    """Yield comments, docstrings and strings of a Python file; a raw string is a pattern."""
    lines = text.split("\n")
    block = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type != tokenize.COMMENT:
            if token.type not in (tokenize.NL, tokenize.NEWLINE):
                yield from paragraphs("comment", block)
                block = []
            continue
        if lines[token.start[0] - 1].lstrip().startswith("#"):
            block.append((token.start[0], re.sub(r"^#!?\s?", "", token.string)))
        else:
            yield from paragraphs("comment", [(token.start[0], token.string[1:].strip())])
    yield from paragraphs("comment", block)
    tree = ast.parse(text)
    docs = {id(node.body[0].value) for node in ast.walk(tree)
            if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node)}
    joined = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
    inside = {id(part) for node in joined for part in ast.walk(node) if part is not node}
    for node in ast.walk(tree):
        if id(node) in docs:
            yield from paragraphs("comment", list(enumerate(node.value.split("\n"), node.lineno)))
        elif isinstance(node, ast.JoinedStr):
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values)
            yield from message(node.lineno, text)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            if lines[node.lineno - 1].encode()[node.col_offset:node.col_offset + 1] not in (b"r", b"R"):
                yield from message(node.lineno, node.value)


def table_cells(rows, border):
    """Yield the cells of a table of reStructuredText; BORDER shows the columns."""
    columns = [match.span() for match in re.finditer("=+", border)]
    columns[-1] = (columns[-1][0], None)
    cells = {}
    for number, line in rows:
        if line[columns[0][0]:columns[0][1]].strip():
            yield from (Piece("text", cell) for cell in cells.values())
            cells = {}
        for begin, end in columns:
            if is_prose(line[begin:end]):
                cells.setdefault(begin, []).append((number, line[begin:end].strip()))
    yield from (Piece("text", cell) for cell in cells.values())


def of_rst(text):
    """Yield paragraphs of reStructuredText, without headings and literal blocks."""
    lines, plain, table, border = text.split("\n"), [], [], None
    skipped = None
    for number, line in enumerate(lines, 1):
        indent = len(line) - len(line.lstrip())
        if skipped is not None and line.strip():
            if indent > skipped:
                continue
            skipped = None
        if re.match(r"\s*=+( +=+)+\s*$", line):
            if table and border:
                yield from table_cells(table, border)
            border, table = (line, []) if not table or lines[number:number + 1] != [""] else (None, [])
        elif border and (line.strip() or table):
            if line.strip():
                table.append((number, line))
            plain.append((number, ""))
        elif re.match(r"\s*\.\. +(?!note|warning|tip|important)", line):
            skipped = indent
            plain.append((number, ""))
        elif re.match(r"\s*:\w+:", line) or re.match(r"([=~^#*-])\1{2,}\s*$", line):
            plain.append((number, ""))
        elif re.match(r"([=~^#*-])\1{2,}\s*$", "".join(lines[number:number + 1])) and line.strip():
            yield Piece("heading", [(number, line.strip())])
            plain.append((number, ""))
        else:
            border = None
            plain.append((number, re.sub(r"^\s*\.\. \w+:: *", "", line)))
    yield from paragraphs("text", plain)


def of_markdown(text):
    """Yield paragraphs and cells of tables of Markdown, without headings and fenced blocks."""
    plain, fenced = [], False
    for number, line in enumerate(text.split("\n"), 1):
        if re.match(r"\s*```", line):
            fenced = not fenced
            line = ""
        if fenced or line.startswith("    ") and not plain[-1][1]:
            line = ""
        if line.startswith("#"):
            yield Piece("heading", [(number, line.strip("# "))])
            line = ""
        if line.startswith("|"):
            yield from (Piece("text", [(number, cell.strip())]) for cell in line.split("|") if is_prose(cell.strip()))
            line = ""
        plain.append((number, line))
    yield from paragraphs("text", plain)


def of_manual(text):
    """Yield paragraphs of a manual page."""
    plain, skipped = [], False
    for number, line in enumerate(text.split("\n"), 1):
        line = re.sub(r"\\f[BIRP]|\\&", "", line).replace("\\-", "-")
        if re.match(r"\.(nf|EX)\b", line) or re.match(r"\.(fi|EE)\b", line):
            skipped = line.startswith((".nf", ".EX"))
            line = ""
        if skipped or re.match(r"\.\\\"|'\\\"|\.(S[HS]|T[HP]|PP|IP|R[SE]|U[RE]|br)\b", line):
            line = ""
        font = re.match(r"\.([BIR]{1,2}) +(.*)", line)
        if font:
            words = re.findall(r'"[^"]*"|\S+', font.group(2))
            line = ("" if len(font.group(1)) == 2 else " ").join(word.strip('"') for word in words)
        plain.append((number, line))
    yield from paragraphs("text", plain)


def of_mutant(text):
    """Yield the description of a mutant, which is before the patch."""
    head = text.split("\n--- ", 1)[0].split("\n")
    lines = [(number, "" if line.startswith("# ") else line) for number, line in enumerate(head, 1)]
    yield from paragraphs("text", lines)


def of_semantic_patch(text):
    """Yield the description of a mutant that is a semantic patch: the comment at its head, without its last paragraph."""
    lines = text.split("\n@", 1)[0].split("\n")
    yield from paragraphs("text", [(number, "" if re.match(r"// (SPDX|[\w-]+: )", line) else line.removeprefix("//").strip())
                                   for number, line in enumerate(lines, 1)])


def of_plain(text):
    """Yield all of a plain text."""
    yield from paragraphs("text", list(enumerate(text.split("\n"), 1)))


READERS = (
    (r"\.([ch]|pml|map)$", of_c),
    (r"\.py$", of_python),
    (r"\.rst$", of_rst),
    (r"\.md$", of_markdown),
    (r"\.[1-8]$", of_manual),
    (r"\.patch$", of_mutant),
    (r"\.cocci$", of_semantic_patch),
    (r"^debian/(changelog|control)$|^Documentation/ABI/", of_plain),
    (r"\.sh$", of_shell),
)


def pieces(name, text):
    """Yield the pieces of the file NAME, which has TEXT."""
    if NO_PROSE.search(name):
        return
    for pattern, reader in READERS:
        if re.search(pattern, name):
            yield from reader(text)
            return
    first = text.split("\n", 1)[0]
    yield from of_python(text) if re.match("#!.*python", first) else \
        of_shell(text) if re.match("#!.*sh|# shellcheck shell=", first) else of_hash(text)


def read(top, name):
    """Return the pieces of a file of the tree; none if the file is not text."""
    try:
        return list(pieces(name, pathlib.Path(top, name).read_text(encoding="utf-8")))
    except UnicodeDecodeError:
        return []
