"""Documents against the tree: the README's program, the map of CONTRIBUTING,
files named in pages, links, goals of the Makefile, the manual pages' options,
synopses and markup, one version everywhere.
"""
import fnmatch
import os
import re
import shutil
import subprocess

LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
EXAMPLE = "examples/01-hello.c"
FIELDS_EXAMPLE = "examples/120-all-errors.c"
MAP = "CONTRIBUTING.md"
# Pages that name files of the tree: alloc.c, sys/fault/fault.c, src/scope/debug, tools/floors.
NAMING_PAGES = (MAP, "docs/inside.md")
C_FILE = re.compile(r"(?<![\w<./*-])[\w./*-]+\.[chS]\b")
QUOTED = re.compile(r"`([\w./-]+)`")
TAG = re.compile(r"^\.TP(?: \d+)?\n(.*)$", re.M)


def line_of(text, part):
    return text[:text.index(part)].count("\n") + 1


def check_program(tree, readme):
    match = re.search(r"```c\n(.*?)```", readme, re.S)
    if not match:
        tree.finding("README.md", 1, f"shows no program; put {EXAMPLE} there as ```c")
        return
    # The example's opening comment is left out in the README.
    program = re.sub(r"\A/\*.*?\*/\n", "", tree.text(EXAMPLE), flags=re.S)
    if match.group(1).strip() != program.strip():
        tree.finding("README.md", line_of(readme, match.group(0)),
                     f"the program differs from {EXAMPLE}; copy it from there")


def check_fields(tree, readme):
    """The section JSON has the lines of an example, and what it prints."""
    section = readme.partition("\n## JSON\n")[2]
    blocks = re.findall(r"^```c?\n(.*?)^```$", section, re.S | re.M)[:2]
    example = tree.text(FIELDS_EXAMPLE)
    output = "".join(f" *     {line}\n" for line in blocks[1].splitlines()) if len(blocks) == 2 else None
    if output is None or blocks[0] not in example or f" * Output:\n{output}" not in example:
        tree.finding("README.md", line_of(readme, section),
                     f"the section JSON differs from {FIELDS_EXAMPLE}; copy the lines and the output from there")


def check_map(tree, page):
    match = re.search(r"## Map.*?```\n(.*?)```", page, re.S)
    if not match:
        tree.finding(MAP, 1, "has no section 'Map' with a block of paths")
        return
    first = line_of(page, match.group(1))
    named = set()
    for number, line in enumerate(match.group(1).splitlines(), first):
        for path in re.split(r",\s*", re.split(r"\s{2,}", line.strip())[0]):
            path = path.rstrip("/")
            if not path:
                continue
            named.add(path)
            if not any(file == path or file.startswith(path + "/") for file in tree.files()):
                tree.finding(MAP, number, f"the map names {path}, which does not exist")
    tops = {path.split("/")[0] for path in tree.files()
            if "/" in path and not path.startswith(".")}
    floors = {"/".join(path.split("/")[:2]) for path in tree.files("src") if path.count("/") > 1}
    tests = {"/".join(path.split("/")[:2]) for path in tree.files("tests") if path.count("/") > 1}
    for folder in sorted((tops - {"src", "tests", "include", "cmd", "docs"}) | floors | tests):
        if folder not in named and not any(name.startswith(folder + "/") for name in named):
            tree.finding(MAP, first, f"the map does not name {folder}/; add a line")


def is_there(tree, path):
    """Whether a file or folder has this path or, for a C file, ends in it."""
    if any(file == path or file.startswith(path + "/") for file in tree.files()):
        return True
    if "*" not in path:
        return bool(C_FILE.fullmatch(path)) and any(("/" + file).endswith("/" + path) for file in tree.files())
    return bool(C_FILE.fullmatch(path)) and any(
        fnmatch.fnmatch("/" + file, "*/" + path) for file in tree.files())


def check_table_row(tree, page, number, line, folder):
    """A row's first cell: files of the folder that this row or one above names; returns that."""
    names = QUOTED.findall(line.split("|")[1])
    folders = [name for name in names if name.startswith("src/") and not C_FILE.fullmatch(name)]
    folder = folders[0] if folders else folder
    for name in names:
        if folder and C_FILE.fullmatch(name) and f"{folder}/{name}" not in tree.files():
            tree.finding(page, number, f"{folder} has no {name}; name the folder that it is in")
    return folder


def check_named_files(tree):
    tops = {path.split("/")[0] for path in tree.files() if "/" in path}
    for page in NAMING_PAGES:
        folder = None
        for number, line in enumerate(tree.lines(page), 1):
            line = LINK.sub("]", line)  # check_links() follows these
            quoted = {name.rstrip("/") for name in QUOTED.findall(line)
                      if "/" in name and name.split("/")[0] in tops}
            for path in sorted(quoted | set(C_FILE.findall(line))):
                if not is_there(tree, path):
                    tree.finding(page, number, f"names {path}, which does not exist")
            is_row = line.startswith("|")
            folder = check_table_row(tree, page, number, line, folder) if is_row else None


def check_links(tree):
    for path in tree.files(ends=(".md",)):
        for number, line in enumerate(tree.lines(path), 1):
            for target in LINK.findall(line):
                if re.match(r"[a-z]+:", target):
                    continue
                place = os.path.join(tree.root, os.path.dirname(path), target)
                if not os.path.exists(place):
                    tree.finding(path, number, f"links to {target}, which is not there")


def check_goals(tree):
    goals = set(re.findall(r"^([a-z0-9]+):", tree.text("Makefile"), re.M))
    for path in tree.files(ends=(".md",)):
        for number, line in enumerate(tree.lines(path), 1):
            for goal in re.findall(r"`make ([a-z0-9]+)\b", line):
                if goal not in goals:
                    tree.finding(path, number, f"`make {goal}`: the Makefile has no such goal")


def check_versions(tree):
    match = re.search(r"version: '([^']+)'", tree.text("meson.build"))
    version = match.group(1)
    header = tree.text("include/eddy/version.h")
    numbers = ".".join(re.search(rf"EDDY_VERSION_{part} (\d+)", header).group(1)
                       for part in ("MAJOR", "MINOR", "PATCH"))
    if f'"{version}"' not in header or numbers != version:
        tree.finding("include/eddy/version.h", 1, f"is not {version}, as meson.build says")
    if not re.search(rf"^## {re.escape(version)}\b", tree.text("CHANGELOG.md"), re.M):
        tree.finding("CHANGELOG.md", 1, f"has no section for {version}")
    for path in tree.files("docs/man"):
        if f'"eddy {version}"' not in tree.lines(path)[0]:
            tree.finding(path, 1, f"is not of {version}, as meson.build says")


def options(text):
    return set(re.findall(r"(?<![\w-])--?[A-Za-z][a-z0-9-]*", text.replace("\\-", "-")))


def check_synopsis(tree, path, page):
    """Each option of a page is in its synopsis; of -X and --method, the long one."""
    section = re.search(r'^\.SH "?SYNOPSIS"?\n(.*?)^\.SH ', page, re.M | re.S)
    synopsis = options(section.group(1) if section else "")
    for tag in TAG.findall(page):
        names = options(tag)
        long_names = {name for name in names if name.startswith("--")}
        for name in sorted((long_names or names) - synopsis - {"--help", "--version"}):
            tree.finding(path, line_of(page, tag), f"the synopsis does not have {name}")


def check_pages(tree):
    for path in tree.files("docs/man"):
        if not re.search(r"\.[1-8]$", path):
            continue
        text = tree.text(path)
        for section in ("NAME", "SYNOPSIS", "DESCRIPTION", "EXIT STATUS", "EXAMPLES", "SEE ALSO"):
            if not re.search(rf'^\.SH "?{section}"?$', text, re.M):
                tree.finding(path, 1, f"has no section {section}")
        for name in re.findall(r"^\.BR (eddy[\w-]*) \(1\)", text, re.M):
            if f"docs/man/{name}.1" not in tree.files("docs/man"):
                tree.finding(path, line_of(text, f".BR {name} (1)"),
                             f"refers to {name}(1), which is not there")
        check_synopsis(tree, path, text)
        if shutil.which("groff"):
            result = tree.run(["groff", "-man", "-Tutf8", "-ww", "-z", path])
            for line in result.stderr.splitlines():
                match = re.match(r"troff:(?:<[^>]*>|[^:]*):(\d+): (.*)", line)
                tree.finding(path, int(match.group(1)) if match else 1,
                             match.group(2) if match else line)


def check_help(tree):
    """The options that the program's --help names are those of its page."""
    program = os.path.join(tree.build or "", "cmd", "eddy", "eddy")
    if not tree.build or not os.path.exists(program):
        return
    for path in tree.files("docs/man", ends=(".1",)):
        command = os.path.basename(path)[:-2].split("-")[1:]
        result = subprocess.run([program] + command + ["--help"], check=False,
                                stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                timeout=20)
        page = tree.text(path)
        tagged = options("\n".join(TAG.findall(page)))
        helped = options(result.stdout + result.stderr)
        for name in sorted(helped - options(page)):
            tree.finding(path, 1, f"`eddy {' '.join(command)} --help` names {name}; describe it")
        for name in sorted(tagged - helped):
            tree.finding(path, 1, f"describes {name}, which `eddy {' '.join(command)} --help` "
                                  "does not name")


def check(tree):
    readme = tree.text("README.md")
    check_program(tree, readme)
    check_fields(tree, readme)
    check_map(tree, tree.text(MAP))
    check_named_files(tree)
    check_links(tree)
    check_goals(tree)
    check_versions(tree)
    check_pages(tree)
    check_help(tree)
