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


def claims_of(path, text):
    """The names of the cases of a C file, or of a shell script: there they are lines of its claims."""
    if path.endswith(".sh"):
        match = re.search(r'^claims="\n(.*?)^"$', text, re.M | re.S)
        return set(match.group(1).split()) if match else set()
    return {name for _, name in check_conformance.load().cases_of(text)}


def strings_of(text):
    """What a C file says in strings; those side by side are one."""
    return "\n".join("".join(LITERAL.findall(run)) for run in ADJACENT.findall(text))


def check_tests(tree, page, line, title, part):
    """What the tests say that a part of a page names."""
    texts = []
    for path, names in NAMED.findall(part):
        if path not in tree.files("tests"):
            continue  # a dead link, which another check finds
        text = tree.text(path).replace("EIO_TEXT", '"Input/output error"')
        texts.append(text if path.endswith(".sh") else strings_of(text))
        there = claims_of(path, text)
        for name in re.findall(r"\w+", names):
            if name not in there:
                tree.finding(page, line, f"`{name}` is no case of {path}; name one that is")
    if not texts:
        tree.finding(page, line, f"'{title}' names no test; add `[file](../tests/file): `case``")
    return texts


def check_page(tree, page):
    for line, title, part in parts_of(tree.text(page)):
        said = "\n".join(check_tests(tree, page, line, title, part))
        for language, block in BLOCK.findall(part):
            for piece in re.split(r"\.\.\.|\n", "" if language else block):
                if piece.strip() and piece.strip() not in said:
                    tree.finding(page, line, f"no test of '{title}' expects the words "
                                             f"'{piece.strip()}'")


def check(tree):
    for page in PAGES:
        check_page(tree, page)
