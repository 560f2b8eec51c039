"""Calls that are banned: everywhere those that cannot be used safely, in src/
also those that would allocate past the hook, print, or end the program.

An exception needs a line in tools/tidy-allow that gives the reason.
"""
import re

FILE_BY_FILE = True

EVERYWHERE = {
    "strcpy": "use ed_buf or memcpy with a known length",
    "strcat": "use ed_buf",
    "strncpy": "it may leave out the NUL; use memcpy with a known length",
    "strncat": "use ed_buf",
    "stpcpy": "use memcpy with a known length",
    "sprintf": "use snprintf",
    "vsprintf": "use vsnprintf",
    "gets": "use fgets",
    "strtok": "it keeps state between tasks; use strcspn",
    "strtok_r": "it writes into its input; use strcspn",
    "atoi": "it cannot fail; parse the digits",
    "atol": "it cannot fail; parse the digits",
    "atoll": "it cannot fail; parse the digits",
    "atof": "it cannot fail; use strtod",
    "alloca": "stacks of tasks are small; use a fixed array or ed_alloc",
    "setjmp": "it aborts under _FORTIFY_SOURCE when stacks change; return an error",
    "sigsetjmp": "return an error",
    "longjmp": "return an error",
    "siglongjmp": "return an error",
    "system": "start the program itself",
    "popen": "start the program itself",
    "rand": "use the random source of src/sys, which a simulation can replace",
    "srand": "use the random source of src/sys",
    "random": "use the random source of src/sys",
    "srandom": "use the random source of src/sys",
    "drand48": "use the random source of src/sys",
    "usleep": "use eddy_sleep",
    "gmtime": "it has one buffer for all threads; use gmtime_r",
    "localtime": "it has one buffer for all threads; use localtime_r",
    "ctime": "use strftime",
    "asctime": "use strftime",
    "gethostbyname": "use eddy_dns_lookup",
    "tmpnam": "use mkstemp",
    "mktemp": "use mkstemp",
    "getcontext": "use src/co",
    "makecontext": "use src/co",
    "swapcontext": "use src/co",
}
MEMORY = {name: "use ed_alloc, so that the allocator hook sees it" for name in (
    "malloc", "calloc", "realloc", "reallocarray", "free", "strdup", "strndup", "asprintf",
    "vasprintf", "posix_memalign", "aligned_alloc")}
OUTPUT = {name: "the library prints nothing; return an error or use the report" for name in (
    "printf", "fprintf", "vprintf", "vfprintf", "puts", "fputs", "putchar", "fputc", "putc",
    "fwrite", "perror", "syslog", "dprintf", "vdprintf")}
ENDING = {name: "the library ends no program; return an error" for name in (
    "exit", "_exit", "_Exit", "quick_exit", "abort", "raise", "assert", "err", "errx")}
SHARED = {"strerror": "it may have one buffer for all threads; use eddy_error_text"}
BLOCKING = {name: "it blocks the loop; suspend the task instead" for name in (
    "sleep", "nanosleep", "clock_nanosleep", "getaddrinfo", "gethostbyaddr", "getnameinfo")}

CALL = re.compile(r"(?<![\w.])(?<!->)([A-Za-z_]\w*)\s*\(")
# What follows a return type is the declaration of such a name, not a call.
DECLARED = re.compile(r"(?:^|[;{}])\s*(?:static\s+|extern\s+|inline\s+)*"
                      r"(?!return\b|else\b|case\b|goto\b|sizeof\b|do\b)"
                      r"[A-Za-z_][\w\s]*[\s*]\**$")


def check(tree):
    library = {**EVERYWHERE, **MEMORY, **OUTPUT, **ENDING, **BLOCKING, **SHARED}
    for path in tree.files("src", "cmd", "examples", "include", "bench", "tests",
                           ends=(".c", ".h")):
        banned = library if path.startswith(("src/", "include/")) else EVERYWHERE
        for number, line in enumerate(tree.code(path).splitlines(), 1):
            for match in CALL.finditer(line):
                name = match.group(1)
                if name not in banned or DECLARED.search(line[:match.start()]):
                    continue
                if not tree.allowed("calls", path, name):
                    tree.finding(path, number, f"{name}() is banned: {banned[name]}")
    tree.report_allowed("calls")
