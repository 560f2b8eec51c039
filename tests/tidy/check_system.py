"""The system: its headers and its #ifdefs stand in src/sys only, assembly and
the processor's #ifdefs in src/co only.

Elsewhere in src/ the headers below are free, for they are the language's.
Any other needs a line in tools/tidy-allow that gives the reason.
"""
import re

LANGUAGE = {f"{name}.h" for name in (
    "assert ctype errno float inttypes limits math stdalign stdarg stdatomic stdbool stddef "
    "stdint stdio stdlib stdnoreturn string strings").split()}
# The switch tells tools about stacks through these.
FREE_IN = {"co": ("sanitizer/", "valgrind/")}
SYSTEM_INCLUDE = re.compile(r"^\s*#\s*include\s+<([^>]+)>")
CONDITION = re.compile(r"^\s*#\s*(?:if|ifdef|ifndef|elif)\b(.*)$")
OS_MACRO = re.compile(r"\b(__linux__|__linux|linux|__APPLE__|__MACH__|_WIN32|_WIN64|__CYGWIN__|"
                      r"__FreeBSD__|__NetBSD__|__OpenBSD__|__DragonFly__|__sun|__unix__|__unix|"
                      r"__ANDROID__|__GLIBC__|__GLIBC_PREREQ|HAVE_\w+)\b")
CPU_MACRO = re.compile(r"\b(__x86_64__|__amd64__|__i386__|__aarch64__|__arm__|__riscv|"
                       r"__powerpc64__|__s390x__)\b")
ASSEMBLY = re.compile(r"\b(__asm__|__asm|asm)\b")


def check(tree):
    for path in tree.files("src", ends=(".c", ".h", ".S")):
        floor = path.split("/")[1]
        if path.endswith(".S"):
            if floor != "co":
                tree.finding(path, 1, "assembly belongs in src/co")
            continue
        for number, line in enumerate(tree.code(path).splitlines(), 1):
            match = SYSTEM_INCLUDE.match(line)
            if (match and floor != "sys" and match.group(1) not in LANGUAGE
                    and not match.group(1).startswith(FREE_IN.get(floor, "-"))):
                if not tree.allowed("system", path, match.group(1)):
                    tree.finding(path, number,
                                 f"<{match.group(1)}> outside src/sys; call what src/sys offers, "
                                 "or give a reason in tools/tidy-allow")
            match = CONDITION.match(line)
            if match:
                for macro in OS_MACRO.findall(match.group(1)):
                    if floor != "sys" and not tree.allowed("system", path, macro):
                        tree.finding(path, number,
                                     f"#if on {macro} outside src/sys; move what differs there")
                for macro in CPU_MACRO.findall(match.group(1)):
                    if floor not in ("co", "sys") and not tree.allowed("system", path, macro):
                        tree.finding(path, number,
                                     f"#if on {macro} outside src/co; move what differs there")
            if floor != "co" and ASSEMBLY.search(line) and not tree.allowed("system", path, "asm"):
                tree.finding(path, number, "assembly outside src/co; move it there")
    tree.report_allowed("system")
