#!/usr/bin/env python3
"""eddy/url.h beside Python's urllib.parse and, if it is installed, Node's URL.

    test_urls.py URL_RESULTS

Random texts by a seed: 5,000 of each kind, 100,000 with EDDY_TEST_FULL=1.  A difference must have one of
the reasons in docs/design/url.md, or the case fails and shows the texts.
"""
import collections
import json
import os
import random
import re
import shutil
import subprocess
import sys
import urllib.parse

import e2e
from e2e import check, claim, equal

COUNT = 100000 if os.environ.get("EDDY_TEST_FULL") == "1" else 5000

SCHEMES = ["http://", "https://", "HTTP://", "http://"]
HOSTS = ["a", "b.example", "EXAMPLE.com", "1.2.3.4", "[::1]", "u:p@h", "u@h", "h:80", "h:8080", "h:443", "x_y.z", "@h",
         ":@h", "u:@h", "a@b@h", "h:"]
SEGMENTS = ["", "a", "bc", ".", "..", "..", "d;p=1", "%2e", "%41", "e=1", "g.", "..g", "...", "~x", "a:b", "(1)", "{t}"]
QUERIES = ["", "", "", "?", "?q", "?a=1&b", "?a/../b", "?x?y", "?a:b"]
FRAGMENTS = ["", "", "", "#", "#f", "#f/../g", "#f?g"]
WRONG = [" ", "\\", "<", "\n", "%", "%4", "\u00e9", "\x01"]


def text_of(word):
    if word.startswith("port="):
        return int(word[5:])
    return None if word == "-" else bytes.fromhex(word.strip("."))


def ask(questions):
    """The answers of the C functions: the name of an error, or a list of bytes, ports, and None for absent parts."""
    lines = "".join(" ".join([word, *(text.hex() or "." for text in texts)]) + "\n" for word, *texts in questions)
    run = subprocess.run([os.path.abspath(sys.argv[1])], input=lines.encode(), stdout=subprocess.PIPE, check=True)
    answers = []
    for line in run.stdout.decode().split("\n")[:-1]:
        words = line.split()
        answers.append(words[-1] if words and words[-1].startswith("E") else [text_of(word) for word in words])
    equal(len(answers), len(questions))
    return answers


def path(chance):
    return "/".join(chance.choice(SEGMENTS) for _ in range(chance.randrange(6)))


def spoil(chance, text):
    if chance.random() > 0.05:
        return text
    at = chance.randrange(len(text) + 1)
    return text[:at] + chance.choice(WRONG) + text[at:]


def base(chance):
    text = chance.choice(SCHEMES) + chance.choice(HOSTS)
    if chance.random() < 0.9:
        text += "/" + path(chance)
    return spoil(chance, text + chance.choice(QUERIES) + chance.choice(FRAGMENTS))


def reference(chance):
    kind = chance.random()
    if kind < 0.1:
        return base(chance)
    if kind < 0.2:
        return spoil(chance, "//" + chance.choice(HOSTS) + "/" + path(chance))
    if kind < 0.25:
        return chance.choice(["http:g", "http:", "mailto:a@b", "g:h", "g:a/../b", "https:/a"])
    text = ("/" if chance.random() < 0.3 else "") + path(chance)
    return spoil(chance, text + chance.choice(QUERIES) + chance.choice(FRAGMENTS))


def random_bytes(chance):
    return bytes(chance.choice(b"aZ09-._~ +&=/%#?;\x00\xc3\xa9\xff\n") for _ in range(chance.randrange(12)))


def query(chance):
    return "".join(chance.choice(["a", "b", "=", "&", "+", "%20", "%26", "%C3%A9", ";", "c", "%", "%00", "?"])
                   for _ in range(chance.randrange(14))).encode()


def report(name, reasons, unexplained):
    print(f"# {name}: {COUNT} texts, " + ", ".join(f"{reason}: {n}" for reason, n in sorted(reasons.items())))
    check(not unexplained, *unexplained[:5])


# ---- Python -----------------------------------------------------------------------------------


@claim
def python_quotes_and_decodes_the_same_bytes(_):
    chance = random.Random(1)
    texts = [random_bytes(chance) for _ in range(COUNT)]
    ours = {word: ask([(word, text) for text in texts])
            for word in ("quote", "quote-slash", "quote-plus", "unquote", "unquote-plus")}
    for i, text in enumerate(texts):
        equal(ours["quote"][i], [urllib.parse.quote(text, safe="").encode()], text)
        equal(ours["quote-slash"][i], [urllib.parse.quote(text).encode()], text)
        equal(ours["quote-plus"][i], [urllib.parse.quote_plus(text).encode()], text)
        if re.search(rb"%(?![0-9A-Fa-f]{2})", text):
            equal((ours["unquote"][i], ours["unquote-plus"][i]), ("EDDY_E_URL_INVALID",) * 2, text)
            continue
        equal(ours["unquote"][i], [urllib.parse.unquote_to_bytes(text)], text)
        equal(ours["unquote-plus"][i], [urllib.parse.unquote_to_bytes(text.replace(b"+", b" "))], text)


def is_refused(text):
    """A pair of the query has what eddy refuses: a malformed escape, or a NUL."""
    return re.search(rb"%(?![0-9A-Fa-f]{2})|%00", text)


@claim
def python_reads_and_writes_the_same_pairs(_):
    chance = random.Random(2)
    texts = [query(chance) for _ in range(COUNT)]
    refused = 0
    written = []
    for text, ours in zip(texts, ask([("pairs", text) for text in texts])):
        if is_refused(text):
            equal(ours, "EDDY_E_URL_INVALID", text)
            refused += 1
            continue
        pairs = urllib.parse.parse_qsl(text.decode(), keep_blank_values=True, encoding="latin-1")
        equal(ours, [part.encode("latin-1") for pair in pairs for part in pair], text)
        written.append([part.encode("latin-1") for pair in pairs[:8] for part in pair])
    check(refused < COUNT * 0.8)
    for parts, ours in zip(written, ask([("write", *parts) for parts in written])):
        pairs = list(zip(parts[::2], parts[1::2]))
        equal(ours, [urllib.parse.urlencode(pairs, quote_via=urllib.parse.quote, safe="").encode()], parts)


def as_python(part):
    return (part or b"").decode()


@claim
def python_finds_the_same_parts(_):
    chance = random.Random(3)
    texts = [base(chance) if chance.random() < 0.5 else reference(chance) for _ in range(COUNT)]
    accepted = 0
    for text, ours in zip(texts, ask([("parse", text.encode()) for text in texts])):
        if isinstance(ours, str):
            continue
        accepted += 1
        scheme, user, password, host, url_path, url_query, fragment, port = ours
        theirs = urllib.parse.urlsplit(text)
        equal(as_python(scheme).lower(), theirs.scheme, text)
        equal(user if user is None else user.decode(), theirs.username, text)
        equal(password if password is None else password.decode(), theirs.password, text)
        equal(as_python(host).lower(), theirs.hostname or "", text)
        default = {"http": 80, "https": 443}.get(theirs.scheme, 0)
        equal(port, theirs.port or default, text)
        equal((as_python(url_path), as_python(url_query), as_python(fragment)),
              (theirs.path, theirs.query, theirs.fragment), text)
    check(accepted > COUNT * 0.6, accepted)


def split(text):
    """The five parts by appendix B of the RFC."""
    return re.match(r"(?:([^:/?#]+):)?(?://([^/?#]*))?([^?#]*)(\?[^#]*)?(#.*)?", text, re.S).groups()


def without_empty(text):
    """Python drops an empty query and fragment."""
    text = text[:-1] if text.endswith("#") else text
    head, mark, tail = text.partition("#")
    return (head[:-1] if head.endswith("?") else head) + mark + tail


def reason_of_python(from_text, to_text):
    """Why Python's join may differ."""
    scheme, authority, to_path, to_query, _ = split(to_text)
    if not to_text:
        return "the fragment of the base stays"
    if to_query == "?" and not to_path:
        return "an empty query is an absent query"
    if scheme and scheme.lower() == split(from_text)[0].lower() and authority is None:
        return "not strict"
    if (scheme or authority is not None) and re.search(r"(^|/)\.\.?(/|$)", to_path):
        return "dot segments stay after a host"
    if "//" in to_path or "//" in split(from_text)[2]:
        return "empty segments are removed"
    return ""


@claim
def python_joins_the_same_urls(_):
    chance = random.Random(4)
    texts = [(base(chance), reference(chance)) for _ in range(COUNT)]
    reasons, unexplained = collections.Counter(), []
    for (from_text, to_text), ours in zip(texts, ask([("join", a.encode(), b.encode()) for a, b in texts])):
        if isinstance(ours, str):
            reasons["refused"] += 1
            continue
        theirs = urllib.parse.urljoin(from_text, to_text)
        result = ours[0].decode()
        if without_empty(result) == without_empty(theirs) or \
                without_empty(result).replace("HTTP:", "http:") == without_empty(theirs):
            reasons["equal"] += 1
        elif reason_of_python(from_text, to_text):
            reasons[reason_of_python(from_text, to_text)] += 1
        else:
            unexplained.append((from_text, to_text, result, theirs))
    report("Python", reasons, unexplained)
    check(reasons["equal"] > COUNT * 0.5, reasons)


# ---- Node -------------------------------------------------------------------------------------

NODE = r"""
const out = [];
const href = (text, base) => { try { return new URL(text, base).href } catch (fault) { return null } };
for (const [kind, a, b] of JSON.parse(require("fs").readFileSync(0, "utf8"))) {
    if (kind === "join") out.push([href(b[0], a), href(b[1])]);
    if (kind === "parse") { try { const url = new URL(a);
        out.push([url.hostname, url.port, url.username, url.password]) } catch (fault) { out.push(null) } }
    if (kind === "pairs") out.push([...new URLSearchParams(a)].flat());
}
console.log(JSON.stringify(out));
"""


def ask_node(questions):
    if not shutil.which("node"):
        raise e2e.Skip("node is not installed")
    run = subprocess.run(["node", "-e", NODE], input=json.dumps(questions).encode(), stdout=subprocess.PIPE, check=True)
    return json.loads(run.stdout)


def reason_of_node(from_text, to_text):
    """Why the URL standard may give another URL."""
    scheme, authority, to_path, to_query, _ = split(to_text)
    if scheme and authority is None:
        return "not strict" if scheme.lower() in ("http", "https") else "another scheme"
    if split(from_text)[3] == "?" and not (to_path or to_query):
        return "an empty query of the base is dropped"
    if "%2e" in from_text + to_text:
        return "%2e is a dot"
    if re.search(r"(^|/)\.\.?$", split(from_text)[2]):
        return "the base is normalised first"
    return ""


@claim
def node_joins_the_same_urls(_):
    chance = random.Random(5)
    texts = [(base(chance), reference(chance)) for _ in range(COUNT)]
    ours = ask([("join", a.encode(), b.encode()) for a, b in texts])
    asked = [(a, b, answer[0].decode()) for (a, b), answer in zip(texts, ours) if not isinstance(answer, str)]
    reasons, unexplained = collections.Counter({"refused": COUNT - len(asked)}), []
    for (a, b, result), (theirs, normal) in zip(asked, ask_node([("join", a, (b, result)) for a, b, result in asked])):
        if theirs == normal:
            reasons["equal"] += 1
        elif reason_of_node(a, b):
            reasons[reason_of_node(a, b)] += 1
        else:
            unexplained.append((a, b, result, theirs))
    report("Node", reasons, unexplained)
    check(reasons["equal"] > COUNT * 0.5, reasons)


@claim
def node_finds_the_same_host(_):
    chance = random.Random(6)
    texts = [base(chance) for _ in range(COUNT)]
    asked = [(text, parts) for text, parts in zip(texts, ask([("parse", text.encode()) for text in texts]))
             if not isinstance(parts, str) and text.isascii()]
    for (text, parts), theirs in zip(asked, ask_node([("parse", text, "") for text, _ in asked])):
        check(theirs, text)
        host, port, user, password = theirs
        equal(as_python(parts[3]).lower(), host.strip("[]"), text)
        equal(parts[7], int(port or {"http": 80, "https": 443}[as_python(parts[0]).lower()]), text)
        equal((as_python(parts[1]), as_python(parts[2])), (user.replace("%40", "@"), password.replace("%40", "@")), text)
    check(len(asked) > COUNT * 0.5, len(asked))


@claim
def node_reads_the_same_pairs(_):
    chance = random.Random(7)
    texts = [text for text in (query(chance) for _ in range(COUNT)) if not is_refused(text) and text[:1] != b"?"]
    ours = ask([("pairs", text) for text in texts])
    for text, answer, theirs in zip(texts, ours, ask_node([("pairs", text.decode(), "") for text in texts])):
        equal([part.decode(errors="replace") for part in answer], theirs, text)


if __name__ == "__main__":
    e2e.main()
