"""Text: no space at the end of a line, no tab in C, a newline at the end of
each file, each file says what it is for, and what is left to decide is marked
NEEDSWORK with the decision.  `tests/tidy/run --needswork` lists those.
"""
import re

FILE_BY_FILE = True

TEXTS = (".c", ".h", ".S", ".py", ".sh", ".md", ".build", ".txt", ".ini", ".1", ".map", ".in",
         ".conf", ".go", ".cpp", ".yml")
NAMED = {"Makefile", "LICENSE"}
MARK = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
NEEDSWORK = re.compile(r"\bNEEDSWORK\b(:?)\s*(.*)")
ABOUT_MARKS = ("tests/tidy/", "docs/style.md", "CONTRIBUTING.md")


def is_text(path):
    name = path.split("/")[-1]
    return path.endswith(TEXTS) or name in NAMED or "." not in name


def needswork(tree):
    for path in tree.files():
        if is_text(path) and not path.startswith(ABOUT_MARKS):
            for number, line in enumerate(tree.lines(path), 1):
                match = NEEDSWORK.search(line)
                if match:
                    yield path, number, match.group(1), match.group(2)


def check(tree):
    for path in tree.files():
        if not is_text(path) or "/corpus/" in path:
            continue
        text = tree.text(path)
        if "\0" in text or not text:
            continue
        is_c = path.endswith((".c", ".h"))
        for number, line in enumerate(text.split("\n"), 1):
            if line != line.rstrip():
                tree.finding(path, number, "space at the end of the line; remove it")
            if is_c and "\t" in line:
                tree.finding(path, number, "tab in C; indent by eight spaces")
            if MARK.search(line) and not path.startswith(ABOUT_MARKS):
                tree.finding(path, number,
                             f"{MARK.search(line).group(1)}: do it now, or write NEEDSWORK: and "
                             "the decision to be made")
        if not text.endswith("\n"):
            tree.finding(path, text.count("\n") + 1, "no newline at the end of the file")
        elif text.endswith("\n\n"):
            tree.finding(path, text.count("\n"), "empty line at the end of the file")
        if is_c and not text.startswith("/*"):
            tree.finding(path, 1, "open the file with a comment that says what it is for")
    for path, number, colon, what in needswork(tree):
        if not colon or not what.strip():
            tree.finding(path, number, "write NEEDSWORK: and the decision to be made")
