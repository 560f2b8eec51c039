"""docs/debugging.md and docs/mistakes.md against the tests: each section and each
complaint names a case that is there, and each report stands in a test of its
section word for word.
"""
import re

import check_conformance

PAGES = ("docs/debugging.md", "docs/mistakes.md")
NAMED = re.compile(r"\]\(\.\./(tests/[^)]*)\):((?:\s+`\w+`,?)+)")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
ADJACENT = re.compile(r'(?:"(?:[^"\\\n]|\\.)*"\s*)+')
COMPLAINTS = "What users complain of"


def parts_of(text):
    """(line, title, text) of each section; of the complaints, of each row."""
    starts = [match.start() for match in re.finditer(r"^## ", text, re.M)] + [len(text)]
    for start, end in zip(starts, starts[1:]):
        part, line = text[start:end], text.count("\n", 0, start) + 1
        title = part[3:part.index("\n")]
        if title != COMPLAINTS:
            yield line, title, part
            continue
        rows = [row for row in enumerate(part.splitlines(), line) if row[1].startswith("| ")]
        for number, row in rows[1:]:
            yield number, row.split("|")[1].strip(), row


def strings_of(text):
    """What a C file says in strings; those side by side are one."""
    return "\n".join("".join(LITERAL.findall(run)) for run in ADJACENT.findall(text))


def check_tests(tree, page, line, title, part):
    """The text of the tests that a part of a page names."""
    cases_of = check_conformance.load().cases_of
    texts = []
    for path, names in NAMED.findall(part):
        if path not in tree.files("tests"):
            continue  # a dead link, which another check finds
        texts.append(tree.text(path))
        there = {name for _, name in cases_of(texts[-1])}
        for name in re.findall(r"\w+", names):
            if name not in there:
                tree.finding(page, line, f"`{name}` is no case of {path}; name one that is")
    if not texts:
        tree.finding(page, line, f"'{title}' names no test; add `[file](../tests/file): `case``")
    return texts


def check_page(tree, page):
    for line, title, part in parts_of(tree.text(page)):
        said = "\n".join(strings_of(text) for text in check_tests(tree, page, line, title, part))
        for language, block in BLOCK.findall(part):
            for piece in re.split(r"\.\.\.|\n", "" if language else block):
                if piece.strip() and piece.strip() not in said:
                    tree.finding(page, line, f"no test of '{title}' expects the words "
                                             f"'{piece.strip()}'")


def check(tree):
    for page in PAGES:
        check_page(tree, page)
