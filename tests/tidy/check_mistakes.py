"""docs/debugging.md and docs/mistakes.md against the tests: tests/docs/claims.txt
names a case for each section and each complaint, and each report is in a test of
its section word for word.
"""
import re

import check_conformance

PAGES = ("docs/debugging.md", "docs/mistakes.md")
CLAIMS = "tests/docs/claims.txt"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
ADJACENT = re.compile(r'(?:"(?:[^"\\\n]|\\.)*"\s*)+')
COMPLAINTS = "Complaints of users"


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
    """The names of the cases of a C file, of a Python file, or of a shell script: there they are lines
    of its claims."""
    if path.endswith(".py"):
        return set(re.findall(r"^@claim\ndef (\w+)\(", text, re.M))
    if path.endswith(".sh"):
        match = re.search(r'^claims="\n(.*?)^"$', text, re.M | re.S)
        return set(match.group(1).split()) if match else set()
    return {name for _, name in check_conformance.load().cases_of(text)}


def strings_of(text):
    """What a C file says in strings; those side by side are one."""
    return "\n".join("".join(LITERAL.findall(run)) for run in ADJACENT.findall(text))


def claims(tree):
    """{(page, title): (line, {test file: its cases})} of tests/docs/claims.txt."""
    found, files, cases = {}, None, None
    for number, line in enumerate(tree.lines(CLAIMS), 1):
        head = re.fullmatch(r"(docs/\S+): (.+)", line)
        if head:
            files = {}
            found[head.groups()] = (number, files)
        elif not line.strip() or line.startswith("#"):
            continue
        elif files is not None and re.fullmatch(r"  tests/\S+:", line):
            cases = files.setdefault(line.strip()[:-1], [])
        elif files and re.fullmatch(r"    \w+", line):
            cases.append(line.strip())
        else:
            tree.finding(CLAIMS, number, "write `page: section`, then `  tests/file:`, then `    case`")
    return found


def check_cases(tree, line, files):
    """What the test files of a section say; names that are not there are found."""
    texts = []
    for path, names in files.items():
        if path not in tree.files("tests"):
            tree.finding(CLAIMS, line, f"{path} does not exist")
            continue
        text = tree.text(path).replace("EIO_TEXT", '"Input/output error"')
        texts.append(text if path.endswith((".sh", ".py")) else strings_of(text))
        there = claims_of(path, text)
        for name in names:
            if name not in there:
                tree.finding(CLAIMS, line, f"`{name}` is not a case of {path}; name a case of it")
    return texts


def check_page(tree, page, named):
    for line, title, part in parts_of(tree.text(page)):
        claimed, files = named.pop((page, title), (1, {}))
        if not any(files.values()):
            tree.finding(page, line, f"'{title}' has no test; name one in {CLAIMS}")
        said = "\n".join(check_cases(tree, claimed, files))
        for language, block in BLOCK.findall(part):
            for piece in re.split(r"\.\.\.|\n", "" if language else block):
                # tests/kit/run compares the lines of the kit.
                if piece.strip() and piece.strip() not in said and not piece.startswith("eddy_test: "):
                    tree.finding(page, line, f"no test of '{title}' expects the words "
                                             f"'{piece.strip()}'")


def check(tree):
    named = claims(tree)
    for page in PAGES:
        check_page(tree, page, named)
    for (page, title), (line, _) in named.items():
        tree.finding(CLAIMS, line, f"{page} has no section '{title}'")
