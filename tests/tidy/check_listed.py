"""Listed: each source of a test is compiled, and each script of tests is run, by a meson.build of tests.

A file is named there as a whole, or by a loop: 'test_' + noun + '.c' for each noun of a list.
"""
import os
import posixpath
import re

TOKEN = re.compile(r"#[^\n]*|'(?:\\.|[^'\\\n])*'|\w+|\+=|==|[^\s\w]")
ENDS = (".c", ".cpp", ".py", ".sh")
# Programs for documents and tools, which these begin by themselves, or modules of scripts.
OTHER = ("tests/docs/", "tests/examples/", "tests/packaging/", "tests/tidy/")


def tokens_of(text):
    return [token for token in TOKEN.findall(text) if not token.startswith("#")]


def is_text(token):
    return token.startswith("'")


def values(tokens, at, lists):
    """The texts of a list, the keys of a dictionary, or a variable's; and the place after them."""
    if tokens[at] not in "[{":
        return ([tokens[at][1:-1]] if is_text(tokens[at]) else lists.get(tokens[at], [])), at + 1
    keys, depth, found = tokens[at] == "{", 0, []
    while at < len(tokens):
        token = tokens[at]
        depth += (token in ("[", "{", "(")) - (token in ("]", "}", ")"))
        if depth == 0:
            break
        if depth == 1 and is_text(token) and (not keys or tokens[at + 1] == ":"):
            found.append(token[1:-1])
        at += 1
    return found, at + 1


def names(tokens):
    """The names of files that a meson.build has, with loops that are written out."""
    lists, loops, found, at = {}, [], set(), 0
    while at < len(tokens):
        token = tokens[at]
        if token == "foreach":
            variable, colon = tokens[at + 1], tokens.index(":", at)
            of, at = values(tokens, colon + 1, lists)
            loops.append((variable, of))
            continue
        if token == "endforeach":
            loops.pop()
        elif at + 2 < len(tokens) and re.match(r"\w+$", token) and tokens[at + 1] in ("=", "+=") and \
                (tokens[at + 2] in ("[", "{") or is_text(tokens[at + 2])):
            new, _ = values(tokens, at + 2, lists)
            lists[token] = new if tokens[at + 1] == "=" else lists.get(token, []) + new
        elif is_text(token) and token[1:-1].endswith(ENDS):
            found.update(written_out(tokens, at, dict(loops)))
        at += 1
    return found


def written_out(tokens, at, loops):
    """The names that end in this text: 'test_' + noun + '.c' has one for each noun."""
    end, before = tokens[at][1:-1], tokens[at - 1]
    if before != "+":
        return [end]
    head = tokens[at - 4][1:-1] if tokens[at - 3] == "+" and is_text(tokens[at - 4]) else ""
    return [head + value + end for value in loops.get(tokens[at - 2], [])]


def is_wanted(path):
    if path.startswith(OTHER):
        return False
    return path.endswith((".c", ".cpp")) or posixpath.basename(path).startswith("test_")


def check(tree):
    listed = set()
    for path in [each for each in tree.files() if posixpath.basename(each) == "meson.build"]:
        folder = posixpath.dirname(path)
        listed |= {posixpath.normpath(posixpath.join(folder, name)) for name in names(tokens_of(tree.text(path)))}
    files = set(tree.files("tests"))
    for path in tree.files("tests", ends=ENDS):
        # A script compiles the program that has its name.
        if is_wanted(path) and path not in listed and posixpath.splitext(path)[0] not in files:
            tree.finding(path, 1, f"is in no list of {os.path.dirname(path)}/meson.build, so it does not run; add it")
