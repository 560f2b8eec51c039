"""Every call of the system in src/sys stands in tests/fault/sites.h: as one that
is made to fail, or as one that cannot, with the reason.
"""
import re

# What no system takes part in.
FREE = set("""
    atoi backtrace_symbols htonl htons makedev memchr memcmp memcpy memmove memset ntohl ntohs snprintf strcasecmp
    strchr strcmp strcspn strlen strncmp strrchr strspn strstr strtol strtoul strtoull
    """.split())
WORDS = set("if for while switch return sizeof do else typeof defined void".split())
FUNCTION = re.compile(r"^[a-z_][\w \*]*?\b(\w+)\(")
CALL = re.compile(r"(?<![\w.>])([a-z]\w*) ?\(")
LISTS = re.compile(r"^#define (SITES|SURE|SURE_SITES|ERRORS)\(X\)(.*?)(?=\n\n|\n#|\Z)", re.M | re.S)
ROW = re.compile(r"\bX\((\w+), (\w+), (\d)[,)]")
FIRST = re.compile(r"\bX\((\w+),")
TABLE = "tests/fault/sites.h"


def found_in(tree):
    """{(function, call): (how often, path, line)}"""
    own, found = set(), {}
    paths = tree.files("src/sys", ends=(".c",))
    for path in paths:
        own.update(match.group(1) for match in map(FUNCTION.match, tree.code(path).splitlines())
                   if match)
    for path in paths:
        function = None
        for number, line in enumerate(tree.code(path).splitlines(), 1):
            match = FUNCTION.match(line)
            if match:
                function = match.group(1)
            elif line.startswith(" ") and function:
                for call in CALL.findall(line):
                    if call in WORDS or call in FREE or call in own or call.startswith(
                            ("ed_", "atomic_", "__")) or re.search(r"(^|_)fn$", call):
                        continue
                    count, *_ = found.get((function, call), (0,))
                    found[function, call] = (count + 1, path, number)
    return found


def check(tree):
    lists = dict(LISTS.findall(re.sub(r"[ \t]*\\$", "", tree.text(TABLE), flags=re.M)))
    rows = {(function, call): int(count) for name in ("SITES", "SURE_SITES")
            for function, call, count in ROW.findall(lists.get(name, ""))}
    sure = set(FIRST.findall(lists.get("SURE", "")))
    errors = set(FIRST.findall(lists.get("ERRORS", "")))
    found = found_in(tree)
    calls = {call for _, call in found}
    for (function, call), (count, path, line) in found.items():
        if call not in sure and rows.get((function, call)) != count:
            tree.finding(path, line, f"{call}() in {function}(), {count} of them, is not what "
                         f"{TABLE} says: add a row, and a line of faulty.h")
    for function, call in rows:
        if (function, call) not in found:
            tree.finding(TABLE, 1, f"{call}() is not called in {function}() any more")
    for call in sorted((sure | errors) - calls):
        tree.finding(TABLE, 1, f"{call}() is not called in src/sys any more")
