"""Each test that docs/security.md names exists in the file, or in a file of the folder, before its name."""
import os
import re

PAGE = "docs/security.md"
PATH = re.compile(r"tests/[\w/]+(?:\.\w+)?")
NAME = re.compile(r"`(\w+)`")


def texts_of(tree, path):
    """The text of a file, or of all files of a folder."""
    whole = os.path.join(tree.root, path)
    if os.path.isfile(whole):
        return tree.text(path)
    return "\n".join(tree.text(name) for name in tree.files(path, ends=(".c", ".py")))


def check(tree):
    named = 0
    for number, line in enumerate(tree.text(PAGE).splitlines(), 1):
        cells = line.split(" | ")
        if not line.startswith("| ") or "tests/" not in cells[-1]:
            continue
        for part in cells[-1].split("; "):
            path = PATH.search(part)
            names = NAME.findall(part)
            if not path or not names:
                tree.finding(PAGE, number, "a test without its file or name: write tests/FILE `name`")
                continue
            text = texts_of(tree, path[0])
            for name in names:
                named += 1
                if not re.search(rf"\b{name}\b", text):
                    tree.finding(PAGE, number, f"{path[0]} has no test {name}: name the test that prevents this")
    if named == 0:
        tree.finding(PAGE, 1, "no test is named: the table has another form than tests/tidy/check_security.py reads")
