"""The map: each file, folder and function that docs/inside.md and CONTRIBUTING.md name exists where they say.

A bare file name belongs to a folder of src that the section's heading or the paragraph names; in a row of a table,
or after a path in the same sentence, it belongs to the folder of that path.  `name()` is in the file that follows it
("`name()` in `src/x.c`"), or anywhere; those in pictures too.
"""
import os
import posixpath
import re

PAGES = ("docs/inside.md", "CONTRIBUTING.md")
SOURCES = {"docs/inside.md": ("src", "include"), "CONTRIBUTING.md": ("src", "include", "cmd", "tests")}
NAME = re.compile(r"`([^`\s]+)`|\]\(([^)#\s]+)\)")
FILE = re.compile(r"[\w./-]*\w\.(?:[chS]|py|sh|txt|md|in)$|[\w.-]+(?:/[\w.-]+)+/?$")
FUNCTION = re.compile(r"(\w{3,})\(\)$")
PLACED = re.compile(r"`(\w+)\(\)` in `([\w./-]+\.[chS])`")
ROOTS = set("include src cmd examples tests bench docs packaging tools".split())
# Functions of the system and of libraries, by the beginnings of their names.
FOREIGN = re.compile(r"[A-Z]|SSL_|PQ|ares_|mongoc_|redis|sqlite3_|pthread_|loop\.|asyncio")


def paragraphs(text):
    """(line number, heading, text) of each paragraph, item of a list or row of a table outside of fenced blocks."""
    heading, start, lines, fenced = "", 0, [], False
    for number, line in enumerate(text.splitlines() + [""], 1):
        if line.startswith("```"):
            fenced = not fenced
            line = ""
        if fenced:
            continue
        row = line.startswith(("|", "- "))
        if lines and (not line.strip() or row or line.startswith("#")):
            yield start, heading, "\n".join(lines)
            lines = []
        if line.startswith("#"):
            heading = line
        elif line.strip():
            start = start if lines else number
            lines.append(line)


def sections(tree, heading):
    below = {name for name in re.findall(r"\w+", heading)}
    return [folder for folder in tree.folders() if re.match(r"src/(\w+)", folder)
            and re.match(r"src/(\w+)", folder)[1] in below]


class Page:
    def __init__(self, tree, path):
        self.tree, self.path = tree, path
        self.folders = tree.folders() | {posixpath.dirname(each) for each in tree.folders()}
        self.all = set(tree.files())
        self.called = None  # the names of functions, once they are needed
        self.names = {posixpath.basename(each) for each in self.all}

    def exists(self, name):
        name = posixpath.normpath(name)
        return name in self.all or name in self.folders or os.path.exists(os.path.join(self.tree.root, name))

    def look_at_file(self, line, name, near):
        """Judges a file or folder; gives the folder that later bare names of the paragraph may be in."""
        if "/" in name:
            first = name.split("/")[0]
            if first in ROOTS and not self.exists(name):
                self.tree.finding(self.path, line, f"there is no {name}; correct the path")
            if first in ROOTS or not name.endswith((".c", ".h", ".S")):
                return posixpath.dirname(name) if "." in posixpath.basename(name) else name.rstrip("/")
            if not any(self.exists(posixpath.join(folder, name)) for folder in ["src", *near]):
                self.tree.finding(self.path, line, f"there is no {name} in src; correct the path")
            return posixpath.dirname(f"src/{name}")
        if name.endswith((".c", ".h", ".S")) and \
                not any(self.exists(posixpath.join(folder, name)) for folder in near):
            where = "is in another folder: give its path" if name in self.names else "does not exist: correct the name"
            self.tree.finding(self.path, line, f"{name} {where}")
        return None

    def look_at(self, start, heading, text):
        near = sections(self.tree, heading) if self.path == "docs/inside.md" else []
        for match in re.finditer(r"`(src/[\w/]+|cmd/[\w/]+|tests/[\w/]+)`", text):
            near.append(match[1].rstrip("/"))
        for match in NAME.finditer(text):
            line = start + text.count("\n", 0, match.start())
            name = match[1] or (posixpath.normpath(posixpath.join(posixpath.dirname(self.path), match[2]))
                                if "://" not in match[2] else "")
            if FILE.match(name):
                folder = self.look_at_file(line, name, near)
                near += [folder] if folder else []
            elif FUNCTION.match(name) and not FOREIGN.match(name):
                function = FUNCTION.match(name)[1]
                if function not in self.words():
                    self.tree.finding(self.path, line, f"there is no {function}() in the sources; correct the name")
        for match in PLACED.finditer(text):
            line = start + text.count("\n", 0, match.start())
            paths = [each for each in [match[2]] + [f"{folder}/{match[2]}" for folder in near] if each in self.all]
            if paths and not any(re.search(rf"\b{match[1]}\(", self.tree.code(each)) for each in paths):
                self.tree.finding(self.path, line, f"{match[1]}() is not in {match[2]}; correct the file")

    def look_at_pictures(self, text):
        # Text, block, text, block ...: the parts with odd numbers are blocks, each after the rest of its opening line.
        start = 1
        for number, part in enumerate(re.split(r"^```", text, flags=re.M)):
            if number % 2 and part.startswith("\n"):
                for match in re.finditer(r"\b(\w{3,})\(\)", part):
                    if match[1] not in self.words() and not FOREIGN.match(match[1]):
                        self.tree.finding(self.path, start + part.count("\n", 0, match.start()),
                                          f"there is no {match[1]}() in the sources; correct the picture")
            start += part.count("\n")

    def words(self):
        if self.called is None:
            self.called = set()
            for each in self.tree.files(*SOURCES[self.path], ends=(".c", ".h")):
                self.called.update(re.findall(r"\b(\w+)\(", self.tree.code(each)))
        return self.called


def check(tree):
    for path in PAGES:
        page = Page(tree, path)
        for start, heading, text in paragraphs(tree.text(path)):
            page.look_at(start, heading, text)
        page.look_at_pictures(tree.text(path))
    map_block = re.search(r"## Map\n\n```\n(.*?)```", tree.text("CONTRIBUTING.md"), re.S)
    first = tree.text("CONTRIBUTING.md").count("\n", 0, map_block.start(1)) + 1
    page = Page(tree, "CONTRIBUTING.md")
    for line, row in enumerate(map_block[1].splitlines(), first):
        if not page.exists(row.split()[0]):
            tree.finding(page.path, line, f"there is no {row.split()[0]}; correct the map")
