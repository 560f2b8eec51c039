"""Formatting: every C file is what clang-format makes of it."""
import re
import shutil

FILE_BY_FILE = True

ENDS = (".c", ".h")
FINDING = re.compile(r"^(.*?):(\d+):\d+: (?:error|warning): (.*) \[")


def check(tree):
    if not shutil.which("clang-format"):
        tree.finding("tools/install-deps", 1, "clang-format is missing")
        return
    files = tree.files("bench", "cmd", "examples", "include", "src", "tests", ends=ENDS)
    result = tree.run(["clang-format", "--dry-run", "-Werror", "--style=file"] + files)
    seen = set()
    for line in result.stderr.splitlines():
        match = FINDING.match(line)
        if match and match.group(1) not in seen:
            seen.add(match.group(1))
            tree.finding(match.group(1), int(match.group(2)), "not formatted; run make format")
    if result.returncode and not seen:
        tree.finding(".clang-format", 1, f"clang-format failed: {result.stderr.strip()[:200]}")
