"""Length: a function that crosses 70 lines has a line in tools/long-functions
with the length it may have and the reason.  Long ones may stay; short ones may
not creep over, and long ones may not grow.
"""
import re

LINES_MAX = 70
NAME = re.compile(r"\b(\w+)\s*\(")
ALLOWED = "tools/long-functions"


def functions(code):
    """(name, first line, lines) of the functions whose braces stand in column one."""
    lines = code.splitlines()
    begin = None
    head = 0
    for i, line in enumerate(lines):
        if line == "{" and begin is None:
            begin = i
            head = i - 1
            while head > 0 and lines[head - 1].strip() and not re.match(r"[#}]|.*;\s*$",
                                                                         lines[head - 1]):
                head -= 1
        elif line == "}" and begin is not None:
            found = NAME.findall(" ".join(lines[head:begin]))
            found = [name for name in found if name != "__attribute__"]
            if found:
                yield found[0], head + 1, i - head + 1
            begin = None


def check(tree):
    allowed = {}
    for number, line in enumerate(tree.lines(ALLOWED), 1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = line.split(None, 3)
        if len(fields) < 4 or not fields[2].isdigit():
            tree.finding(ALLOWED, number, "write: file function lines reason")
            continue
        allowed[fields[0], fields[1]] = [number, int(fields[2]), False]

    for path in tree.files("src", "cmd", "examples", ends=(".c", ".h")):
        for name, line, length in functions(tree.code(path)):
            entry = allowed.get((path, name))
            if entry:
                entry[2] = length > LINES_MAX
            if length <= LINES_MAX:
                continue
            if not entry:
                tree.finding(path, line, f"{name}() has {length} lines, more than {LINES_MAX}; "
                                         f"split it, or give the reason in {ALLOWED}")
            elif length > entry[1]:
                tree.finding(path, line, f"{name}() grew to {length} lines from the {entry[1]} "
                                         f"of {ALLOWED}; shorten it")
    for (path, name), (number, _, used) in allowed.items():
        if not used:
            tree.finding(ALLOWED, number, f"{path} {name}: not long any more; remove the line")
