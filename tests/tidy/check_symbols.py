"""Exported symbols against public headers, both ways.

What the shared libraries export is what include/ declares with EDDY_API, and
besides only ed_ names that src/ marks ED_SHARED, for the sibling libraries.
No global of a static library or of the program is without a prefix or twice
in the tree.
"""
import glob
import os
import re
import subprocess

DECLARATION = re.compile(r"\b(EDDY_API|ED_SHARED)\b([^;{]*?)\b(\w+)\s*(?=\(|;|\[|=)", re.S)
NOT_A_NAME = {"__attribute__", "noreturn", "format", "cold", "visibility", "EDDY_PRINTF", "printf",
              "if", "defined"}
# The engine of `eddy batch` calls none of these: it prints nothing, ends nothing, and reads no command line.
ENGINE = "libeddy-batch.a"
LOUD = re.compile(r"stdout|stderr|_?exit|quick_exit|abort|(__)?v?f?printf(_chk)?|puts|putchar|perror|"
                  r"getopt(_long)?|ed_console_\w+|ed_option_\w+|ed_show_\w+")
ATTRIBUTE = re.compile(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)|EDDY_PRINTF\([^)]*\)")


def declared(tree, folder, mark):
    """Names declared with that mark, and where."""
    names = {}
    for path in tree.files(folder, ends=(".h", ".c")):
        code = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: re.sub(r"[^\n]", " ", m.group(0)),
                      tree.code(path), flags=re.M)
        code = ATTRIBUTE.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), code)
        for match in DECLARATION.finditer(code):
            if match.group(1) == mark and match.group(3) not in NOT_A_NAME:
                line = code.count("\n", 0, match.start(3)) + 1
                names.setdefault(match.group(3), (path, line))
    return names


def nm(arguments):
    result = subprocess.run(["nm"] + arguments, check=False, capture_output=True, text=True)
    return result.stdout.splitlines()


def exported(library):
    names = set()
    for line in nm(["-D", "--defined-only", library]):
        fields = line.split()
        if len(fields) >= 3 and fields[-2] != "A":
            names.add(fields[-1].split("@")[0])
    return names


def is_tool_made(name):
    """Names that the compiler, a sanitizer or the linker puts in."""
    return name.startswith(("__", "_init", "_fini", "_edata", "_end", "asan.", "_ZTS", "_.stapsdt."))


def check_engine(tree):
    for archive in glob.glob(os.path.join(tree.build, "**", ENGINE), recursive=True):
        source = ""
        for line in nm(["-u", archive]):
            source = re.sub(r"^.*\.p/|\.o:$", "", line) if line.endswith(":") else source
            name = line.split()[-1].split("@")[0] if line.strip() else ""
            if LOUD.fullmatch(name):
                tree.finding("cmd/eddy/meson.build", 1,
                             f"{ENGINE}: {source} needs {name}; say it by a struct ed_say, or leave it to the command")


def check(tree):
    libraries = sorted(path for path in
                       glob.glob(os.path.join(tree.build, "**", "libeddy*.so"), recursive=True))
    if not libraries:
        tree.finding("meson.build", 1, f"there is no libeddy*.so in {tree.build}; build it first")
        return
    public = declared(tree, "include", "EDDY_API")
    shared = declared(tree, "src", "ED_SHARED")
    seen = {}
    for library in libraries:
        for name in exported(library):
            seen[name] = os.path.basename(library)
    for name, (path, line) in sorted(public.items()):
        if name not in seen:
            tree.finding(path, line, f"{name} is declared with EDDY_API, but no library exports it")
        if not name.startswith("eddy_"):
            tree.finding(path, line, f"{name}: public names start with eddy_")
    for name, (path, line) in sorted(shared.items()):
        if not name.startswith("ed_"):
            tree.finding(path, line, f"{name}: names shared between our libraries start with ed_")
    for name, library in sorted(seen.items()):
        if name in public or name in shared or is_tool_made(name):
            continue
        tree.finding("src/meson.build", 1,
                     f"{library} exports {name}, which include/ does not declare with EDDY_API "
                     "and src/ does not mark ED_SHARED; hide it or declare it")

    homes = {}
    for archive in sorted(glob.glob(os.path.join(tree.build, "**", "libeddy*.a"), recursive=True)):
        source = ""
        for line in nm(["-g", "--defined-only", archive]):
            if line.endswith(":"):
                source = re.sub(r"\.o:$", "", line)
                source = re.sub(r"^.*\.p/", "", source)
                continue
            fields = line.split()
            if len(fields) != 3 or is_tool_made(fields[2]):
                continue
            name = fields[2]
            if not name.startswith(("eddy_", "ed_")):
                tree.finding("src/meson.build", 1,
                             f"{os.path.basename(archive)}: {source} defines the global {name}; "
                             "make it static or start it with ed_")
            other = homes.setdefault(name, source)
            if other != source:
                tree.finding("src/meson.build", 1,
                             f"{name} is defined in {other} and in {source}; rename one")
    check_engine(tree)
