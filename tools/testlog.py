"""testlog - reads the logs of Meson's test runs, and texts of TAP.

A program that prints TAP counts by its cases.  A program that ended without its plan, with another
number of cases than planned, or badly although no case failed, counts one failure more.  Any other
program is one case.
"""
import json
import re

CASE = re.compile(r"^(not )?ok\b(?: +\d+)?(?: +- )? *(.*)$")
PLAN = re.compile(r"^1\.\.(\d+)\s*$")
SKIP = re.compile(r"# *skip\w*:? *(.*)", re.I)
REASON = re.compile(r"^# skipped: (.*)$", re.M)

# No repetition excuses these: the report of a sanitizer or of Valgrind, and the end by a signal.
REPORT = re.compile(r"(?:ERROR|WARNING|SUMMARY): \w+Sanitizer|: runtime error: |"
                    r"^==\d+== (?:Invalid |Conditional jump|Use of uninit|Syscall param|Process terminating|"
                    r".* definitely lost in)", re.M)
SIGNAL = re.compile(r"^# ended by signal|\bexit -(?:4|5|6|7|8|11)\b")


class Case:
    """A line of TAP, and the comments after it."""

    def __init__(self, failed, text):
        skip = SKIP.search(text)
        self.name = text.split(" # ")[0].strip()
        self.text = text
        self.verdict = "skipped" if skip else "failed" if failed else "passed"
        self.reason = skip.group(1) if skip else ""
        self.is_final = False


class Failure:
    """case: None if the program as a whole failed; is_final: no repetition excuses it."""

    def __init__(self, case, text, is_final):
        self.case, self.text, self.is_final = case, text, is_final


def read_tap(text):
    """The cases, and their planned number or None."""
    cases, plan = [], None
    for line in text.splitlines():
        planned, found = PLAN.match(line), CASE.match(line)
        if planned:
            plan = (plan or 0) + int(planned.group(1))
        elif found:
            cases.append(Case(bool(found.group(1)), found.group(2)))
        elif cases and line.startswith("#") and SIGNAL.search(line):
            cases[-1].is_final = True
    return cases, plan


class Program:
    """A line of Meson's log: .cases, .failures, and .result for a program without TAP."""

    def __init__(self, entry):
        self.name, self.result = entry["name"], entry["result"]
        self.stdout, self.stderr = entry.get("stdout") or "", entry.get("stderr") or ""
        self.cases, self.plan = read_tap(self.stdout)
        reported = bool(REPORT.search(self.stdout + "\n" + self.stderr))
        self.failures = [Failure(case.name, case.text, reported or case.is_final)
                         for case in self.cases if case.verdict == "failed"]
        if not self.is_tap():
            if not self.is_good() and self.result != "SKIP":
                self.failures.append(Failure(None, self.result, reported or self.result != "FAIL"))
        elif self.plan is None:
            self.failures.append(Failure(None, f"ended without its plan ({self.result})", True))
        elif self.plan != len(self.cases):
            self.failures.append(Failure(None, f"{self.plan} cases planned, {len(self.cases)} seen", True))
        elif not self.failures and not self.is_good() and self.result != "SKIP":
            self.failures.append(Failure(None, f"{self.result} although no case failed", True))

    def is_tap(self):
        return bool(self.cases) or self.plan is not None

    def is_good(self):
        return self.result in ("OK", "EXPECTEDFAIL")

    def runs_one_case(self):
        """Whether its cases can be run one by one (tests/test.c, tests/e2e/e2e.py)."""
        return self.stdout.startswith("# =NAME runs one case")

    def said(self, lines):
        """The last lines of what it said of its failures."""
        both = (self.stdout + self.stderr).splitlines()
        return [line for line in both if line.startswith("# ")][-lines:]


def read_log(path):
    """The entries of a log in JSON, a line each."""
    with open(path, encoding="utf-8", errors="replace") as file:
        return [json.loads(line) for line in file]
