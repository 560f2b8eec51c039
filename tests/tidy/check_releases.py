"""Releases: each type that has a public close, release, fini or end works with EDDY_AUTO, and
tests/unit/http/test_give_back.c, or a test of the database's own library, uses both.
"""
import re

TEST = "tests/unit/http/test_give_back.c"
DATABASES = ("pg", "sqlite", "redis", "mongo")
RELEASE = re.compile(r"^EDDY_API [\w ]*\b(eddy_(\w+)_(?:close|release|fini|end))\(eddy_\2 \*\w+\);", re.M)


def check(tree):
    tested = tree.code(TEST)
    for name in DATABASES:
        tested += "".join(map(tree.code, tree.files(f"tests/unit/{name}", ends=(".c",))))
    for path in tree.files("include/eddy", ends=(".h",)):
        code = tree.code(path)
        for match in RELEASE.finditer(code):
            function, noun = match.group(1), match.group(2)
            line = code.count("\n", 0, match.start()) + 1
            if tree.allowed("releases", path, function):
                continue
            if f" eddy_{noun}_auto_release(" not in code:
                tree.finding(path, line, f"EDDY_AUTO(eddy_{noun}) does not work; add eddy_{noun}_auto_release()")
            if f"EDDY_AUTO(eddy_{noun})" not in tested:
                tree.finding(path, line, f"use EDDY_AUTO(eddy_{noun}) in {TEST}")
            if f"{function}(NULL)" not in tested:
                tree.finding(path, line, f"call {function}(NULL) in {TEST}")
    tree.report_allowed("releases")
