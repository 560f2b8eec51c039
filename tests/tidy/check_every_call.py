"""Every public function whose comment says that it suspends is cancelled at
each of its points by a world in tests/fault/calls_*.c, and those name no other.
The macro of a function calls its other form, NAME_named(): worlds name the function.
"""
import re

COMMENT = re.compile(r"/\*.*?\*/", re.S)
FUNCTION = re.compile(r"\bEDDY_API\b[^;{]*?\b(eddy_\w+)\s*\(")
WORLD = re.compile(r"^(?:EVERY_POINT\w*|ALSO)\(\s*\w+,\s*(\w+)[,)]", re.M)


def suspending(tree):
    """The functions, each with where it is declared."""
    found = {}
    for path in tree.files("include/eddy", ends=(".h",)):
        text = tree.text(path)
        said = False
        comments = list(COMMENT.finditer(text))
        for i, comment in enumerate(comments):
            end = comments[i + 1].start() if i + 1 < len(comments) else len(text)
            words = comment.group(0)
            says = re.search(r"Suspends:\s+(yes|no|as)\b", words)
            if says:
                said = says.group(1) != "no"
            elif not re.match(r"/\*[\s*]*The same\b", words):
                said = False
            for function in FUNCTION.finditer(text[comment.end():end]):
                line = text.count("\n", 0, comment.end() + function.start(1)) + 1
                if said and not function.group(1).endswith("_named"):
                    found[function.group(1)] = (path, line)
    return found


def check(tree):
    wanted = suspending(tree)
    covered = set()
    for path in tree.files("tests/fault", ends=(".c",)):
        text = tree.text(path)
        for world in WORLD.finditer(text):
            name = world.group(1)
            covered.add(name)
            if name not in wanted:
                tree.finding(path, text.count("\n", 0, world.start()) + 1,
                             f"{name}() is no public function that suspends: name the call "
                             "that is cancelled here")
    for name, (path, line) in wanted.items():
        if name not in covered:
            tree.finding(path, line, f"{name}() suspends, and no world of tests/fault/calls_*.c "
                         "cancels it: add EVERY_POINT() or ALSO()")
