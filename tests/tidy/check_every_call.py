"""Every public function whose comment says that it suspends is cancelled at
each of its points by a world in tests/fault/calls_*.c, and those name no other.
The macro of a function calls its other form, NAME_named(): worlds name the function.

Libraries of databases wait for threads and for libraries of others, which no world can
have.  Their tests cancel calls at random moments, and name them in a comment:
`/* Cancelled at random: eddy_mongo_insert(), eddy_mongo_find() */`.
"""
import re

COMMENT = re.compile(r"/\*.*?\*/", re.S)
FUNCTION = re.compile(r"\bEDDY_API\b[^;{]*?\b(eddy_\w+)\s*\(")
WORLD = re.compile(r"^(?:EVERY_POINT\w*|ALSO)\(\s*\w+,\s*(\w+)[,)]", re.M)

AT_RANDOM = re.compile(r"/\*[\s*]*Cancelled at random:(.*?)\*/", re.S)
DATABASES = re.compile(r"^tests/unit/(?:pg|sqlite|redis|mongo)/")


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
    for path in tree.files("tests", ends=(".c",)):
        text = tree.text(path)
        names = []
        if path.startswith("tests/fault/"):
            names += [(world.group(1), world.start()) for world in WORLD.finditer(text)]
        elif DATABASES.match(path):
            names += [(name, comment.start()) for comment in AT_RANDOM.finditer(text)
                      for name in re.findall(r"\beddy_\w+", comment.group(1))]
        for name, start in names:
            covered.add(name)
            if name not in wanted:
                tree.finding(path, text.count("\n", 0, start) + 1,
                             f"{name}() is no public function that suspends: name the call "
                             "that is cancelled here")
    for name, (path, line) in wanted.items():
        if name not in covered and not tree.allowed("every_call", path, name):
            tree.finding(path, line, f"{name}() suspends, and no world of tests/fault/calls_*.c "
                         "cancels it: add EVERY_POINT() or ALSO()")
    tree.report_allowed("every_call")
