"""tree.py - what the checks of the tidy suite share: the files of the tree,
C text without comments, findings, and the list of allowed exceptions.

A check is a module with a function `check(tree)` that calls `tree.finding()`.
One that judges each file without the others says so: FILE_BY_FILE = True.
"""
import fnmatch
import os
import re
import subprocess

SKIPPED_FOLDERS = {".git", "__pycache__", "subprojects"}


class Tree:
    def __init__(self, root, build=None):
        self.root = root
        self.build = build
        self.only = None  # the file that a check with FILE_BY_FILE looks at, or None: all
        self.findings = []
        self._texts = {}
        self._codes = {}
        self._files = None
        self._allowed = None

    def finding(self, path, line, what):
        self.findings.append((path, line, what))

    def files(self, *folders, ends=("",)):
        """Paths of the project's files in these folders (all if none), sorted."""
        if self._files is None:
            self._files = sorted(self._walk())
        if not folders and ends == ("",) and self.only is None:
            return list(self._files)
        return [path for path in self._files if path.endswith(tuple(ends))
                and self.only in (None, path)
                and (not folders or path.startswith(tuple(f"{f}/" for f in folders)))]

    def changed(self, path):
        """Forgets this file, which was written or removed, and what was found."""
        self.findings = []
        self._texts.pop(path, None)
        self._codes.pop(path, None)
        self._files = None
        self._allowed = None

    def _walk(self):
        for folder, below, names in os.walk(self.root):
            inside = os.path.relpath(folder, self.root)
            below[:] = [name for name in below if name not in SKIPPED_FOLDERS
                        and not (inside == "." and re.match(r"(build($|-)|dist$)", name))
                        and not (name == "build" and inside == "bench/peers")]
            for name in names:
                path = os.path.normpath(os.path.join(inside, name))
                if os.path.isfile(os.path.join(self.root, path)):
                    yield path

    def folders(self):
        return {os.path.dirname(path) for path in self.files()}

    def text(self, path):
        if path not in self._texts:
            with open(os.path.join(self.root, path), encoding="utf-8", errors="replace") as file:
                self._texts[path] = file.read()
        return self._texts[path]

    def lines(self, path):
        return self.text(path).splitlines()

    def code(self, path):
        """The C text of a file with comments and the insides of strings blanked."""
        if path not in self._codes:
            self._codes[path] = blank(self.text(path))
        return self._codes[path]

    def allowed(self, check, path, word):
        """Whether tools/tidy-allow excuses this; notes that the line was needed."""
        if self._allowed is None:
            self._allowed = {}
            for number, line in enumerate(self.lines("tools/tidy-allow"), 1):
                if line.strip() and not line.startswith("#"):
                    fields = line.split(None, 3)
                    key = tuple(fields[:3])
                    self._allowed[key] = [number, len(fields) == 4, False]
        found = False
        for (name, pattern, allowed_word), entry in self._allowed.items():
            if name == check and fnmatch.fnmatch(word, allowed_word) and fnmatch.fnmatch(path, pattern):
                entry[2] = found = True
        return found

    def report_allowed(self, check):
        """Findings for lines of tools/tidy-allow that lack a reason or a use."""
        self.allowed(check, "", "")
        for (name, path, word), (number, has_reason, used) in self._allowed.items():
            if name != check:
                continue
            if not has_reason:
                self.finding("tools/tidy-allow", number, f"{path} {word}: add the reason")
            if not used:
                self.finding("tools/tidy-allow", number,
                             f"{path} {word}: nothing needs this any more; remove the line")

    def run(self, command, **how):
        return subprocess.run(command, cwd=self.root, check=False, capture_output=True,
                              text=True, errors="replace", **how)


TOKEN = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.S)


def blank(text):
    def replace(match):
        token = match.group(0)
        if token[0] == "/":
            return re.sub(r"[^\n]", " ", token)
        return token[0] + re.sub(r"[^\n]", " ", token[1:-1]) + token[-1]

    # The name in #include "x.h" is no string; it is kept.
    kept = {}

    def keep(match):
        key = f"\0{len(kept)}\0"
        kept[key] = match.group(0)
        return key

    text = re.sub(r'^[ \t]*#[ \t]*include[ \t]+"[^"\n]*"', keep, text, flags=re.M)
    text = TOKEN.sub(replace, text)
    return re.sub("\0\\d+\0", lambda match: kept.get(match.group(0), ""), text)


def numbered(text):
    return enumerate(text.splitlines(), 1)
