"""Circles: no files of src call each other in a circle, but those of tools/circles.

A file calls another if it names a global function or variable that the other
defines, itself or by an inline function or a macro of a header.
"""
import re

NAME = re.compile(r"(?<!struct )(?<!enum )\bed(?:dy)?_\w+")
FUNCTION = re.compile(r"^(?!static\b|extern\b|typedef\b)[^\n;{}#]*?\b(ed(?:dy)?_\w+)\([^;{}]*\)\s*\n\{", re.M)
VARIABLE = re.compile(r"^(?=\w)(?!static\b|extern\b|typedef\b|struct \w+;)\w[\w *]*\b(ed(?:dy)?_\w+)(?:\[[^\]\n]*\])?(?: =|;)", re.M)
INLINE = re.compile(r"^static inline\b[^;{}]*?\b(ed(?:dy)?_\w+)\([^;{}]*\)\s*\n\{(.*?)^\}", re.M | re.S)
MACRO = re.compile(r"^#\s*define\s+(ed(?:dy)?_\w+)((?:\\\n|[^\n])*)", re.M)


def defined(tree, paths):
    """The file of each global name."""
    homes = {}
    for path in paths:
        for pattern in (FUNCTION, VARIABLE):
            homes.update((name, path) for name in pattern.findall(tree.code(path)))
    return homes


def in_headers(tree):
    """The names that each inline function and each macro of a header names."""
    uses = {}
    for path in tree.files("src", "include", ends=(".h",)):
        for pattern in (INLINE, MACRO):
            for name, body in pattern.findall(tree.code(path)):
                uses.setdefault(name, set()).update(NAME.findall(body))
    return uses


def calls(tree):
    """For each file the files that it calls, with one name each."""
    paths = tree.files("src", ends=(".c",))
    homes, uses = defined(tree, paths), in_headers(tree)
    graph = {}
    for path in paths:
        names, more = set(), set(NAME.findall(tree.code(path)))
        while more:
            names |= more
            more = set().union(*(uses.get(name, ()) for name in more)) - names
        graph[path] = {homes[name]: name for name in sorted(names) if homes.get(name, path) != path}
    return graph


def reached(graph, start):
    found, more = set(), [start]
    while more:
        for path in graph[more.pop()]:
            if path not in found:
                found.add(path)
                more.append(path)
    return found


def circles(graph):
    from_each = {path: reached(graph, path) for path in graph}
    seen = set()
    for path in sorted(graph):
        if path in from_each[path] and path not in seen:
            circle = {other for other in from_each[path] if path in from_each[other]}
            seen |= circle
            yield circle


def known_circles(tree):
    for number, line in enumerate(tree.lines("tools/circles"), 1):
        line = line.split("#")[0].strip()
        if line:
            folder, _, names = line.partition(":")
            yield number, {f"{folder}/{name}" for name in names.split()}


def check(tree):
    graph, inside = calls(tree), set()
    known = list(known_circles(tree))
    for circle in circles(graph):
        inside |= circle
        if any(circle <= files for _, files in known):
            continue
        for path in sorted(circle):
            named = [f"{other[4:]} by {graph[path][other]}" for other in sorted(circle) if other in graph[path]]
            tree.finding(path, 1, f"is in a circle of calls: it calls {', '.join(named)}; let one of them not")
    for number, files in known:
        for path in sorted(files - inside):
            tree.finding("tools/circles", number, f"{path} is in no circle; remove it here")
