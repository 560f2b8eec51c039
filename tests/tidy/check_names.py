"""Names and sizes of public headers: every name has its prefix, every header
its guard and fewer than 300 lines.
"""
import re

LINES_MAX = 300
MACRO = re.compile(r"^\s*#\s*define\s+(\w+)")
# One that a function has too: it calls that function's other form, with what only a macro knows.
# Or it ends a list of values, as those of eddy/log.h.
FUNCTION_MACRO = re.compile(r"#\s*define\s+(eddy_\w+)\([^)]*\)[\s\\]*"
                            r"(?:\1_(?:named|at|values)|eddy_log_write|EDDY_LOG_PUT_)\(")
TAG = re.compile(r"\b(struct|union|enum)\s+(\w+)\s*\{")
TYPE = re.compile(r"^typedef\b[^;{]*?\b(\w+)\s*(?:\([^;]*\))?;|^\}\s*(\w+);", re.M)
ENUM = re.compile(r"\benum\b[^{;]*\{([^}]*)\}")


def check(tree):
    for path in tree.files("include", ends=(".h",)):
        lines = tree.lines(path)
        if len(lines) >= LINES_MAX:
            tree.finding(path, len(lines), f"{len(lines)} lines; a public header has fewer than "
                                           f"{LINES_MAX}: it holds two nouns, split it")
        code = tree.code(path)
        functions = set(FUNCTION_MACRO.findall(code))
        guard = "EDDY_" + path.split("/")[-1][:-2].upper() + "_H"
        if f"#ifndef {guard}\n#define {guard}\n" not in code:
            tree.finding(path, 1, f"is not guarded by {guard}")
        for number, line in enumerate(code.splitlines(), 1):
            match = MACRO.match(line)
            if match and not match.group(1).startswith("EDDY_") and match.group(1) not in functions:
                tree.finding(path, number, f"the macro {match.group(1)} must start with EDDY_")
            for match in TAG.finditer(line):
                if not match.group(2).startswith("eddy_"):
                    tree.finding(path, number, f"{match.group(1)} {match.group(2)} must start "
                                               "with eddy_")
        for match in TYPE.finditer(code):
            name = match.group(1) or match.group(2)
            line = code.count("\n", 0, match.start()) + 1
            if not name.startswith("eddy_"):
                tree.finding(path, line, f"the type {name} must start with eddy_")
            if name.endswith("_t"):
                tree.finding(path, line, f"the type {name}: names in _t are the system's")
        plain = re.sub(r"^\s*#(?:[^\n]*\\\n)*[^\n]*", "", code, flags=re.M)
        for match in ENUM.finditer(plain):
            for item in match.group(1).split(","):
                name = item.split("=")[0].strip()
                if re.fullmatch(r"\w+", name) and not name.startswith("EDDY_"):
                    line = code[:code.find(name)].count("\n") + 1
                    tree.finding(path, line, f"the constant {name} must start with EDDY_")

    for path in tree.files("src", "cmd", ends=(".h",)):
        # src/io/tcp.h: ED_IO_TCP_H; cmd/eddy/mock/mock.h: ED_CMD_MOCK_MOCK_H.
        parts = path.replace("cmd/eddy/", "src/cmd/").split("/")[1:]
        guard = "_".join(["ED"] + parts)[:-2].upper() + "_H"
        if f"#ifndef {guard}\n#define {guard}\n" not in tree.code(path):
            tree.finding(path, 1, f"is not guarded by {guard}")
