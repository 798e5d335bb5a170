#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""Report sentences in the tree that are not plain English, each as FILE:LINE: RULE: SENTENCE.

The program reads comments, documentation, messages, names of tests and the subjects of commits.  It ignores text in
quotation marks or backticks, which may be quoted from another project or from the output of a command.
"""
import argparse
import collections
import dataclasses
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True

import prose  # noqa: E402  # pylint: disable=wrong-import-position

TOP = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = TOP / "tests/check/language.examples"
FILES = TOP / "tests/check/prose.examples"
MARKER = "tests/check/language.py"	# only commits since this file was added have their subjects judged
SUBJECT_LENGTH = 72
SENTENCE_WORDS = 40		# a sentence with more words fails; the aim is 25, see --words
SHOWN = 160			# number of characters of a sentence that are printed
QUOTED = re.compile(r"``.+?``|`[^`]*`|\"[^\"]{0,200}\"|“[^”]*”|(?<!\w)'[^'\n]{1,80}'(?!\w)")
STATEMENT_END = re.compile(r"[:;](?=\s)")
SENTENCE_END = re.compile(r"(?<!\be\.g)(?<!\bi\.e)(?<!\betc)(?<!\bvs)(?<!\bcf)[.?!][\"')]*(?=\s|$)|\s\|(?=\s|$)")


# Patterns for the start of a statement. A statement is a sentence, or a part of a sentence after a colon or a
# semicolon. These patterns are not applied to questions.
STARTS = {
    "headless": r"(?:(?:and|but|then|so) )?(?:who|whoever|whose|what|nobody|somebody)\b(?!:)",
    "how": r"how (?:many|long|often|much|far)\b",
}
# Patterns for the start of the name of a test case. The name must make sense in a list of failures.
CASES = {
    "case": r"(?:and|but|it|they|then|nor|or|also|there|so|else|not)\b"
            r"|(?:this|that|these|those) (?:is|are|was|were|has|had|have|can|may|does|do|goes|comes|ends|takes)\b",
}
# Patterns for any place in a sentence.
ANYWHERE = {
    "he": r"\b(?:he|him|his|himself)\b",
    "so-many": r"\bso (?:long|many|often|much)\b(?! as\b|(?: \w+){0,3} that\b)",
    "for-who": r"\b(?:for|by|of|to|from|with|than|on) (?:who|whoever)\b",
    "too": r", too(?=[.;:!?)]|$)",
    "word": r"\b(?:anew|besides|in vain|for ever|(?<!look )(?<!looked )at last|affairs?|by turns|of late|if need be"
            r"|as it stands|is to be had|dto\.)(?!\w)",
    "meanwhile": r"^(?!.*\bwhile\b).*\bmeanwhile\b",
    "except": r"^(?!.*\bnot (?:only )?for\b).*?"
              r"\bbut (?:for(?! now\b)|that (?:an?|he|in|it|its|no|of|the|they|there|this|these|what))\b",
    "under-way": r"\bunder ?way\b",
    "told": r"\b(?:is|are|was|were|be|been|being) "
            r"(?:(?:not|also|never|only) )?told\b(?! apart)|\btold that\b",
}
PATTERNS = {rule: re.compile(pattern, re.I) for rule, pattern in {**STARTS, **CASES, **ANYWHERE}.items()}
# Verbs with which the summary of a function and the subject of a commit may begin.  If a verb is missing, add it.
VERBS = set("""
abort accept account acknowledge acquire add adjust admit adopt advance advertise align allocate allow announce answer
append apply appoint arm arrange ask assert assign associate attach attempt avoid back balance become begin bind block
boot bound break build bump cache calculate call cancel cap carry change charge check choose cite claim clamp clean
clear close collect combine compare compile complain complete compress compute configure confirm connect construct
consume continue convert copy correct count cover crash create cross cut deallocate decide declare decode decrease
dedupe defer define delay delete deliver demand deny dereference deregister derive describe destroy detach detect
determine diagnose disable disarm discard disconnect dispatch distinguish distribute do document double downgrade
drain draw drive drop dump duplicate edit embed emit enable encode end enforce enqueue ensure enter enumerate erase
establish estimate evaluate examine exchange exclude execute exit expand expect explain export extend extract
extrapolate fail fall feed fence fetch fill filter find finish fix flip flush fold follow forbid forge forget format
forward free gather generate get give grant group grow guard guess halt hand handle hash have heed hide hint hold
ignore implement imply import include increase increment infer inform inherit inhibit initialize initiate inject
inline insert inspect install interleave interpret interrupt invalidate invent invert invoke issue iterate join judge
keep kill know launch lay learn leave lend let limit link list listen load lock log look lower make manage map mark
marshal mask match materialize measure mention merge migrate minimize mirror mock modify monitor mount move name nest
normalize note notify number obey obtain occupy offer offload omit open order organize overlap overwrite pack pad
paint park parse pass patch pause peek perform permit pick pin ping place plan plot poll pop populate post postpone
prefer prefix prepare pretend prevent print probe process produce profile propagate protect prove provide provoke
prune publish pull purge push put qualify query queue quit quote raise randomize rate reach read rearm rebase rebuild
recall receive recheck recognize recompute reconnect record recover redirect redo reduce refer refill refine reflect
refresh refuse register reject relax relay release reload rely remember remove rename render reorder repair repeat
replace reply report reproduce request require reread rescan rescue resend reserve reset resize resolve respond rest
restart restore restrict resume retire retry return reuse revert revise revoke reword rewrite roll rotate round route
run sample sanitize save say scale scan scatter schedule seal search seed seek select send separate serve set share shift
shorten show shrink shut signal silence simplify simulate sink skip sleep smooth sort spare spell spin split spread
start state step stop store stress strip submit subscribe subtract summarize suppress surround survive suspend swap
switch synchronize take tear tell terminate test throttle tidy tie tighten time tolerate touch trace track transfer
transform translate transmit traverse treat trigger trim trust try tune turn type unbind unblock undefine undo unify
unlink unload unlock unmap unmarshal unmount unpack unpin unregister unwind update upgrade use validate verify visit
wait wake walk warm warn watch weaken weigh widen wipe withdraw wrap write yield zero
""".split())
NOUN_BEFORE = re.compile(r"of|queue|is|are|was|were|has|have|had|which|may|can|must|will")
BEFORE_THAT = set("assert check ensure expect note remember report say tell verify".split())


@dataclasses.dataclass
class Finding:
    """A sentence that breaks a rule."""
    name: str			# of the file
    line: int
    rule: str
    text: str

    def __str__(self):
        return f"{self.name}:{self.line}: {self.rule}: {self.text[:SHOWN]}"


def masked(text):
    """Return TEXT with each quotation replaced by one word of the same length."""
    return QUOTED.sub(lambda match: "Q" * len(match.group()), text)


def parts(text, end):
    """Yield (offset, part) of TEXT, where each part ends with a match of END."""
    begin = 0
    for match in end.finditer(text):
        yield begin, text[begin:match.end()]
        begin = match.end()
    yield begin, text[begin:]


def begins_with_verb(text):
    """Check whether TEXT is an imperative, as far as its first words show."""
    verb, after = [*re.findall(r"[^\s,;:]+", text), "", ""][:2]
    verb = verb[:1].lower() + verb[1:]
    if verb == "never" or (verb, after) == ("do", "not"):
        return True
    if verb.rpartition("-")[2] not in VERBS or NOUN_BEFORE.fullmatch(after):
        return False
    return after != "that" or verb in BEFORE_THAT


def rules_broken(kind, sentence):
    """Yield the rules that a sentence breaks, each with an offset in the sentence; KIND is that of the piece."""
    if kind == "heading":
        return
    question = sentence.rstrip("\"') ").endswith("?")
    for rule in STARTS if not question else ():
        for offset, statement in parts(sentence, STATEMENT_END):
            if rule == "how" and kind == "text" and offset:
                continue		# a list of what is shown
            if PATTERNS[rule].match(statement.lstrip(" (*")):
                yield rule, offset
    if kind == "case" and PATTERNS["case"].match(sentence):
        yield "case", 0
    for rule in ANYWHERE:
        for match in PATTERNS[rule].finditer(sentence):
            yield rule, match.start()


def longest_part(sentence):
    """Return the number of words in the longest part of a sentence, up to a semicolon."""
    return max(len(re.findall(r"\S*\w\S*", part)) for part in re.split(r";\s", sentence))


def in_piece(name, piece, limit):
    """Yield the findings in a piece of the file NAME; a sentence has LIMIT words at most."""
    text = piece.text()
    hidden = masked(text)
    if piece.kind == "summary" and (not begins_with_verb(text) or hidden.endswith("?")):
        yield Finding(name, piece.line_at(0), "summary", f"{piece.name} - {text}")
    for begin, sentence in parts(hidden, SENTENCE_END):
        shown = text[begin:begin + len(sentence)].strip()
        for rule, offset in rules_broken(piece.kind, sentence):
            far = offset > SHOWN // 2
            yield Finding(name, piece.line_at(begin + offset + 1), rule,
                          f"... {shown[offset - SHOWN // 4:]}" if far else shown)
        if piece.kind not in ("message", "heading") and longest_part(sentence) > limit:
            yield Finding(name, piece.line_at(begin + 1), "long", shown)


def in_file(name, limit=SENTENCE_WORDS, top=TOP):
    """Return the findings in a file of the tree, one for each line and rule."""
    found = {}
    for piece in prose.read(top, name):
        for finding in in_piece(name, piece, limit):
            found.setdefault((finding.line, finding.rule), finding)
    return sorted(found.values(), key=lambda finding: finding.line)


def wrong_with_subject(subject):
    """Return the reason why SUBJECT is not valid for a commit; empty if it is valid."""
    if subject.startswith('Revert "'):
        return ""
    prefix, change = re.fullmatch(r"((?:[\w.,/ -]+: ){1,3})?(.*)", subject).groups()
    if len(subject) > SUBJECT_LENGTH:
        return f"more than {SUBJECT_LENGTH} characters"
    return "no module" if not prefix else "" if begins_with_verb(change) else "no verb in the imperative"


def git(*words):
    """Return the output of git in the tree; empty if git fails, as in a tree without history."""
    try:
        return subprocess.run(["git", "-c", "safe.directory=*", "-C", TOP, *words], check=True, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""


def in_subjects():
    """Yield the findings in the subjects of commits since MARKER; in a shallow clone, since its oldest commit."""
    added = git("log", "--diff-filter=A", "--format=%H", "--", MARKER).split()
    for line in git("log", "--no-merges", "--format=%h %s", f"{added[-1]}..HEAD").splitlines() if added else []:
        commit, _, subject = line.partition(" ")
        if wrong := wrong_with_subject(subject):
            yield Finding(f"commit {commit}", 0, "subject", f"{wrong}: {subject}")


def broken_examples():
    """Yield examples that the rules judge wrong: "+ RULE: TEXT" must break RULE, "- RULE: TEXT" must not."""
    used = set()
    for line in EXAMPLES.read_text(encoding="utf-8").splitlines():
        match = re.fullmatch(r"([+-]) ([\w-]+): (.*)", line)
        if not match:
            if line and not line.startswith("#"):
                yield f"no example: {line}"
            continue
        sign, rule, text = match.groups()
        used.add((rule, sign))
        if rule == "subject":
            broken = [rule] if wrong_with_subject(text) else []
        else:
            kind = rule if rule in ("summary", "case") else "comment"
            broken = [finding.rule for finding in in_piece("", prose.Piece(kind, [(1, text)]), SENTENCE_WORDS)]
        if (rule in broken) != (sign == "+"):
            yield f"{'not found' if sign == '+' else 'found'}: {rule}: {text}"
    for rule in (*PATTERNS, "summary", "subject", "long"):
        yield from (f"no example: {sign} {rule}" for sign in "+-" if (rule, sign) not in used)


def unread_examples():
    """Yield lines of the files in FILES that must be found but are not, or are found but must not be."""
    for example in FILES.read_text(encoding="utf-8").split("\n== ")[1:]:
        name, _, text = example.partition("\n")
        bad = {number for number, line in enumerate(text.split("\n"), 1) if re.search("who[ _]bad", line, re.I)}
        found = {finding.line for piece in prose.pieces(name, text) for finding in in_piece(name, piece, SENTENCE_WORDS)}
        yield from (f"not found: {name}:{number}" for number in sorted(bad - found))
        yield from (f"found: {name}:{number}" for number in sorted(found - bad))


def table(findings):
    """Yield lines with the number of findings for each rule and folder."""
    counts = collections.Counter((finding.rule, folder(finding.name)) for finding in findings)
    folders = sorted({name for _, name in counts})
    rules = [rule for rule in (*PATTERNS, "summary", "subject", "long") if any(counts[rule, name] for name in folders)]
    width = max((len(name) for name in folders), default=0)
    yield " ".join([" " * width, *rules, "all"])
    for name in [*folders, ""]:
        row = [sum(counts[rule, key] for key in folders if name in ("", key)) for rule in rules]
        cells = [str(count or "-").rjust(len(rule)) for rule, count in zip(rules, row)]
        yield " ".join([name.ljust(width), *cells, str(sum(row)).rjust(3)])


def folder(name):
    """Return the folder for which the findings of a file are counted."""
    if name.startswith("commit "):
        return "commits"
    parents = name.split("/")[:-1]
    return "/".join(parents[:2] if parents[:1] in (["tests"], ["tools"]) else parents[:1]) or "."


def arguments():
    parser = argparse.ArgumentParser(description="Report sentences that are not plain English.")
    parser.add_argument("paths", nargs="*", metavar="PATH",
                        help="files and folders to read; default: the whole tree, and the subjects of commits")
    parser.add_argument("--count", action="store_true",
                        help="print the number of findings for each rule and folder instead")
    parser.add_argument("--words", type=int, default=SENTENCE_WORDS, metavar="N",
                        help="report sentences with more than N words, except in messages; default: %(default)s")
    return parser.parse_args()


def in_tree(paths=(), words=SENTENCE_WORDS):
    """Return the findings in PATHS, or without PATHS in the whole tree and in the subjects of commits."""
    names = git("ls-files", "--cached", "--others", "--exclude-standard", "--", *paths).splitlines()
    names = [name for name in sorted(set(names)) if (TOP / name).is_file()]
    if not names:
        raise FileNotFoundError("no file of the tree")
    findings = [finding for name in names for finding in in_file(name, words)]
    return findings if paths else [*findings, *in_subjects()]


def revision():
    """Return the commit that is checked out, on which the subjects depend."""
    return git("rev-parse", "HEAD").strip()


def check(log):
    """Check that the whole tree keeps the rules."""
    findings = in_tree()
    lines = [*findings, *table(findings)] if findings else []
    log.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return not findings


def check_rules(log):
    """Check that the rules find the bad examples, and none of the good ones."""
    wrong = [*broken_examples(), *unread_examples()]
    log.write_text("".join(f"{line}\n" for line in wrong), encoding="utf-8")
    return not wrong


def main():
    args = arguments()
    try:
        findings = in_tree([str(pathlib.Path(path).resolve().relative_to(TOP)) for path in args.paths], args.words)
    except (FileNotFoundError, ValueError) as error:
        sys.exit(f"language.py: {error}")
    lines = table(findings) if args.count else map(str, findings)
    print("".join(f"{line}\n" for line in lines), end="")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
