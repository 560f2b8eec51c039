"""Floors: who may include whom.

A file of src/ includes its own floor and those that tools/floors names for it.
The program, the examples and the benchmarks use what every user of the library
has: eddy/ headers, and files of their own folder.  Folders of the program are
in tools/floors too.
"""
import glob
import os
import re

INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]')
PUBLIC_ONLY = ("cmd", "examples", "bench")


def floors_of(tree):
    floors = {}
    for number, line in enumerate(tree.lines("tools/floors"), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        floor, _, below = line.partition(":")
        for name in below.split():
            if name not in floors:
                tree.finding("tools/floors", number,
                             f"'{floor}' stands on '{name}', which is not listed above it")
        floors[floor] = set(below.split()) | {floor}
    return floors


def check_program(tree, floors):
    """A command's files include their own folder and cmd/eddy/common, by "folder/file.h"."""
    for path in tree.files("cmd", ends=(".c", ".h")):
        folder = re.sub(r"^cmd/eddy/", "cmd/", os.path.dirname(path))
        if folder == "cmd/eddy":
            continue
        if folder not in floors:
            tree.finding(path, 1, f"the folder '{folder}' is not in tools/floors; add it")
            continue
        for number, line in enumerate(tree.code(path).splitlines(), 1):
            match = INCLUDE.match(line)
            if not match or match.group(1) != '"':
                continue
            name = match.group(2)
            other = "cmd/" + os.path.dirname(name)
            if "/" not in name:
                tree.finding(path, number, f'write "folder/file.h", not "{name}"')
            elif other in floors and other not in floors[folder]:
                tree.finding(path, number,
                             f"'{folder}' may not include '{other}' (tools/floors)")


def check(tree):
    floors = floors_of(tree)
    check_program(tree, floors)
    for path in tree.files("src", ends=(".c", ".h", ".S")):
        parts = path.split("/")
        if len(parts) < 3:
            tree.finding(path, 1, "stands on no floor; move it into a folder of src/")
            continue
        floor = parts[1]
        if floor not in floors:
            tree.finding(path, 1, f"the floor '{floor}' is not in tools/floors; add it")
            continue
        for number, line in enumerate(tree.code(path).splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            kind, name = match.groups()
            first = name.split("/")[0]
            if first in floors and first not in floors[floor]:
                tree.finding(path, number, f"'{floor}' may not include '{first}' (tools/floors)")
            elif kind == '"' and first not in floors and first != "eddy":
                tree.finding(path, number,
                             f'write "floor/file.h" or "eddy/file.h", not "{name}"')
            elif kind == "<" and (first in floors and "/" in name and first != "sys"
                                  or first == "eddy"):
                tree.finding(path, number, f'write "{name}": it is ours')
    # With -I src, <sys/time.h> would be our src/sys/time.h.
    for path in tree.files("src/sys", ends=(".h",)):
        name = path[len("src/"):]
        if glob.glob(f"/usr/include/{name}") or glob.glob(f"/usr/include/*/{name}"):
            tree.finding(path, 1, f"hides the system's <{name}>; rename it")
    for path in tree.files("include", ends=(".h",)):
        for number, line in enumerate(tree.code(path).splitlines(), 1):
            match = INCLUDE.match(line)
            if match and match.group(1) == '"' and not match.group(2).startswith("eddy/"):
                tree.finding(path, number,
                             f'a public header may not include "{match.group(2)}"')
    for path in tree.files(*PUBLIC_ONLY, ends=(".c", ".h", ".cpp")):
        for number, line in enumerate(tree.code(path).splitlines(), 1):
            match = INCLUDE.match(line)
            if not match or match.group(1) != '"':
                continue
            name = match.group(2)
            top = path.split("/")[0]
            # Files of the program name each other from cmd/eddy on.
            base = "cmd/eddy" if top == "cmd" else os.path.dirname(path)
            own = os.path.normpath(os.path.join(base, name))
            if name.startswith("eddy/") and os.path.exists(
                    os.path.join(tree.root, "include", name)):
                continue
            if os.path.exists(os.path.join(tree.root, own)) and own.startswith(top + "/"):
                continue
            if not tree.allowed("floors", path, name):
                tree.finding(path, number,
                             f'"{name}" is neither a public header nor of {top}/; '
                             "use include/eddy/ only")
    tree.report_allowed("floors")
