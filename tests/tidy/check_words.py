#!/usr/bin/env python3
"""Words: comments, messages and documents use plain English.  Counts words that
docs/style.md rules out; tools/words-budget states how many of each may be left.

    tests/tidy/check_words.py            lists each place, by word
    tests/tidy/check_words.py --lower    lowers the budgets to the present counts

Code is not counted, nor are quotations: in documents blocks, `code`, "quoted
text" and lines that begin with >; in C and in scripts what is neither a comment
nor a string.  A case whose name has such a word counts as "case".
"""
import functools
import os
import re
import sys

BUDGET = "tools/words-budget"
FOLDERS = ("include", "src", "cmd", "docs", "examples", "bench", "tools")
DOCUMENTS = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "tests/README.md")
C_ENDS = (".c", ".h", ".cpp", ".S")
ENDS = C_ENDS + (".md", ".1", ".py", ".sh")

WORDS = {
    "told": r"\btold\b",
    "tell": r"\b(?:tell|tells|telling)\b",
    "nobody": r"\bnobody\b",
    "somebody": r"\bsomebody\b",
    "behind": r"\bbehind\b",
    # "There is no lock" is plain English; "this is no lock" is not.
    "is-no": r"(?<!there )\bis no\s",
    "so-many": r"\bso many\b",
    "anew": r"\banew\b",
    "whoever": r"\bwhoever\b",
    "stand": r"\b(?:stand|stands|stood)\b",
    "lie": r"\b(?:lie|lies|lay)\b",
}
# A sentence begins a comment, a paragraph, an item, a heading or a cell, or comes after another sentence.
OPENINGS = ("What", "Who", "Of", "One", "So", "Such")
BEGIN = r"(?:(?:\A|\n[ ]*\n)\s*(?:[-*|#>]+ +)*|\n(?:[ ]*[-*#>]+|\d+\.|\|) +|[.!?:;]\s+|\| +)"
WORDS.update({f"{word}...": rf"{BEGIN}{word}\b" for word in OPENINGS})
WORDS = {name: re.compile(pattern if name.endswith("...") else f"(?i:{pattern})")
         for name, pattern in WORDS.items()}
# The name of a case is a sentence too, in which "who" and "what" stay without a noun.
CASE = re.compile(r"\b\w*TEST\w*\((\w+)\)|^def (\w+)\(eddy\)", re.M)
CASE_WORD = re.compile(r"(?<![a-z])(?:told|tells?|nobody|somebody|behind|is_no|so_many|anew|whoever|stands?|stood|"
                       r"lies?|lay|who|what)(?![a-z])")

C_TOKEN = re.compile(r"""(//[^\n]*|/\*.*?\*/)|"((?:\\.|[^"\\\n])*)"|'(?:\\.|[^'\\\n])*'""", re.S)
SCRIPT_TOKEN = re.compile(r'(?:^|(?<=\s))#!?([^\n]*(?:\n[ \t]*#[^\n]*)*)|"{3}(.*?)"{3}|"((?:\\.|[^"\\\n])*)"',
                          re.M | re.S)
MD_CODE = re.compile(r"^```.*?^```[^\n]*$|<!--.*?-->|``[^\n]*?``|`[^`\n]*`|^>[^\n]*$", re.M | re.S)
QUOTED = re.compile(r'"[^"\n]{1,200}"')
LINK = re.compile(r"\]\([^)\n]*\)")


def gone(match):
    """As long as the match, with its line breaks, and without words."""
    return re.sub(r"[^\n]", "_", match.group(0))


def comment(text):
    """A comment as prose: its frame is blanked."""
    text = re.sub(r"^/\*+|^//+", lambda match: " " * len(match.group(0)), text)
    text = re.sub(r"\*/$", "  ", text)
    text = re.sub(r"(?m)^([ \t]*)\*(?!/)", r"\1 ", text)
    return QUOTED.sub(gone, re.sub(r"`[^`\n]*`", gone, text))


def is_script(path):
    return path.endswith((".py", ".sh")) or "." not in os.path.basename(path)


def pieces_of(path, text):
    """(offset, prose) of each comment and string of C or of a script, or of a document."""
    if path.endswith(C_ENDS):
        for match in C_TOKEN.finditer(text):
            if match.group(1):
                yield match.start(), comment(match.group(1))
            elif match.group(2):
                yield match.start(2), match.group(2)
        return
    if is_script(path):
        for match in SCRIPT_TOKEN.finditer(text):
            group = match.lastindex or 0
            prose = re.sub(r"(?m)^[ \t]*#", lambda frame: " " * len(frame.group(0)), match.group(group))
            yield match.start(group), re.sub(r"`[^`\n]*`", gone, prose)
        return
    for pattern in (MD_CODE, LINK, QUOTED):
        text = pattern.sub(gone, text)
    yield 0, text


@functools.cache
def words_of(path, text):
    """(word, line) of each in a file."""
    return [(word, text.count("\n", 0, offset + match.end() - 1) + 1)
            for offset, prose in pieces_of(path, text)
            for word, pattern in WORDS.items() for match in pattern.finditer(prose)]


def places(tree):
    """(word, path, line) of each."""
    paths = [path for path in tree.files(*FOLDERS) if not path.startswith("bench/results/")
             and (path.endswith(ENDS) or is_script(path))]
    for path in paths + list(DOCUMENTS):
        for word, line in words_of(path, tree.text(path)):
            yield word, path, line


def cases(tree):
    """("case", path, line) of each case with such a word in its name."""
    for path in tree.files("tests"):
        if path.endswith((".c", ".cpp", ".py")) and not path.startswith("tests/tidy/"):
            text = tree.text(path)
            for match in CASE.finditer(text):
                if CASE_WORD.search(match.group(1) or match.group(2)):
                    yield "case", path, text.count("\n", 0, match.start()) + 1


def budgets(tree):
    """{word: (line, number)} of tools/words-budget."""
    found = {}
    for number, line in enumerate(tree.lines(BUDGET), 1):
        match = re.fullmatch(r"(\S+)\s+(\d+)", line)
        if match:
            found[match.group(1)] = (number, int(match.group(2)))
        elif line.strip() and not line.startswith("#"):
            tree.finding(BUDGET, number, "write a word and a number")
    return found


def counts_of(tree):
    counts = dict.fromkeys([*WORDS, "case"], 0)
    for word, _, _ in [*places(tree), *cases(tree)]:
        counts[word] += 1
    return counts


def check(tree):
    allowed = budgets(tree)
    for word, (line, _) in allowed.items():
        if word != "case" and word not in WORDS:
            tree.finding(BUDGET, line, f"{word} is not a counted word; remove the line")
    for word, count in counts_of(tree).items():
        line, most = allowed.get(word, (1, 0))
        if count > most:
            tree.finding(BUDGET, line, f"'{word}' is used {count} times, {most} allowed; reword what you "
                                       "added (tests/tidy/check_words.py lists the places)")


def lower(tree):
    allowed, counts = budgets(tree), counts_of(tree)
    head = [line for line in tree.lines(BUDGET) if line.startswith("#") or not line.strip()]
    rows = [f"{word} {min(count, allowed.get(word, (0, count))[1])}" for word, count in counts.items()]
    with open(os.path.join(tree.root, BUDGET), "w", encoding="utf-8") as file:
        file.write("\n".join(head + rows) + "\n")


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    sys.dont_write_bytecode = True
    sys.path.insert(0, here)
    import tree as tidy_tree
    tree = tidy_tree.Tree(os.path.dirname(os.path.dirname(here)))
    if sys.argv[1:] == ["--lower"]:
        lower(tree)
        return
    for word, path, line in sorted([*places(tree), *cases(tree)]):
        print(f"{path}:{line}: {word}")


if __name__ == "__main__":
    main()
