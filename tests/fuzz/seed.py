#!/usr/bin/env python3
"""Writes the seeds of the fuzzers, tests/fuzz/corpus/TARGET/seed-*.

The messages are every fifth of tests/wire/requests.h and corpus.h, but for the
longest, after the four bytes that choose (fuzz_http1.h); the JSON texts are every
fifth of tests/wire/json_corpus.h; the URLs and dates are in this file, and so are
structs for fuzz_json.c, queries, challenges, cookies, pieces of answers, and texts for fuzz_url_join.c.  Files of other names, such as what a fuzzer has found, are left
alone.
"""
import importlib.machinery
import importlib.util
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CORPUS = HERE.parent / "wire" / "corpus.h"
JSON_CORPUS = HERE.parent / "wire" / "json_corpus.h"
EVERY = 5
BYTES_MAX = 600

LIMITS = {"DEFAULT": 0, "LINE_20": 1, "HEAD_40": 2, "FIELDS_3": 4, "BODY_5": 8, "HUGE_BODY": 16}
RESPONSES = {"RESPONSE": 0, "TO_HEAD": 1, "TO_CONNECT": 2}
STRUCTS = [
    '{"b":true,"i":-128,"u":18446744073709551615,"s":"a\\n","r":[1],"in":{"d":1.5,"text":"abc"},'
    '"two":[{"d":1},{"text":"a"}],"more":[{},{},{}],"list":["a","\\ud83d\\ude00"]}',
    '{"s":null,"x":[{}],"in":{"d":1001}}',
    '{"list":[],"more":null,"two":[{},{},{}]}',
]
SIMPLE = {"r": 13, "n": 10, "t": 9, "\\": 92, '"': 34}

URLS = [
    "http://h", "http://h/", "https://user:pass@example.com:8443/a/b?c=d&e#f",
    "http://[::1]:80/", "http://[::ffff:1.2.3.4]/", "http://127.0.0.1:8080/bytes/12?n=1",
    "http://127.1/", "http://0x7f.1/", "http://b\u00fccher.de/", "http://a@b@c/", "http://h?q",
    "http://h/%41%zz", "ftp://h/", "http://h:65536/", "http://h:/", "http://a.b./", "//h/",
    "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
    "Sun Nov  6 08:49:37 1994", "120", "1.5", "99999999999999999999",
]

# A base URL and a reference, parts for a URL, queries.
JOINS = [
    "http://a/b/c/d;p?q\n../../g;x=1/./y?y#s", "http://u:p@a:81/b?c#d\n?e", "http://a\n..//g",
    "http://a/b\n//h:80/..", "x:/a/b\n..//evil", "x:a/b\n../../c", "x:y\nmid/content=5/../6",
    "http://a/b/c\nhttp:g", "file:///a/b\n../../..", "http://a/b/../c\n", "http://[::1]/a\n.",
    "https\nu\np\nh\n/a\nb=c\nd", "x\n!\n!\n!\n//h", "x\n!\n!\n::1\n/..", "!\n!\n!\n!\na:b",
    "a=1&b=%20+%2B&&c&=d&e=%", "%00=a&q=caf%C3%A9",
]

# Streams of events; the first byte chooses the limit and the cuts.
EVENTS = [
    "\x00data: a\n\ndata\n\nid: 1\r\nevent: e\rdata: b\ndata:c\n\n",
    "\x03: no\n\ufeffdata: x\n\n",
    "\x05\ufeffdata: x\r\n\r\nretry: 12\nid\n\n",
    "\x01data: aaaaaaaaaaaaaaa\ndata: bbb\n\n",
    "\x0eid: a\x00b\nevent\ndata: \n\n",
]
# Queries for the table of fuzz_query.c.
QUERIES = [
    "q=a+b%20c&name=caf%C3%A9&on=true&i=-128&u=18446744073709551615&d=1e3&color=red"
    "&numbers=1&numbers=2&l%5B%5D=a&l[]=", "i=128&u=-1&d=1001", "on=ON&on=1", "q=%00&name=%FF",
    "i=+1&i=", "&&=a&other=1&%zz", "l[]&l[]=&numbers=1&numbers=2&numbers=3&numbers=4", "name=123456",
]

# Challenges, and files in the format of ~/.netrc.
AUTH = [
    'Basic realm="simple", Newauth realm="apps", type=1, title="Login to \\"apps\\""',
    'Digest realm="a@b", qop="auth, auth-int", algorithm=SHA-256, nonce="7ypf/x", stale=true',
    'Negotiate YQ==, NTLM, Bearer scope="a b" , , Basic realm = x', 'Basic realm="a\\',
    'machine a login kim password "a \\"b\\\\"\nmachine b.test user lee passwd x account y\n',
    'macdef m\nmachine a login b password c\n\n# c\ndefault login any password thing',
    'machine a login "kim', 'login a',
]

# Values of Set-Cookie for fuzz_cookie.c, after the byte that chooses the host.
COOKIES = [
    "\0a=1", "\0a=1; Domain=a.test; Path=/x; Max-Age=10", "\1a=1; domain=.EXAMPLE.com; secure; HttpOnly; SameSite=Lax",
    "\2a=1; Domain=github.io", "\3a=1; Domain=127.0.0.1", "\3a=1; Domain=0.0.1", "\5a=1; Domain=co.uk",
    "\6a=1; Domain=co.uk; Secure", "\1__Host-a=1; Secure; Path=/", "\1__Secure-a=1; Domain=example.com",
    "\1a=1; Expires=Sun, 06 Nov 2094 08:49:37 GMT; Expires=x; Max-Age=-1", "\4=1", "\0a", "\0a\t=\t1\t;\tPath=\t/",
    "\0a=1; Path=/a\tb", "\0a=\x01", "\7a=b=c;;=;Domain=localhost.", "\7a=1; Domain=", "\1a=1; Domain=example.com.",
    "\0Thu, 1-Jan-70 0:0:0 GMT", "\0 31 Feb 2020 1:2:3", "\1" + "a" * 90 + "=" + "b" * 90,
]


# Pieces of answers for fuzz_compression.c, after the bytes for the coding and the room.
PIECES = [
    bytes([coding | level << 1 | known << 5, room]) + pieces
    for coding in (0, 1) for level, known, room in ((0, 0, 0), (5, 1, 40), (8, 0, 255))
    for pieces in (b"", b"\x05hello\x40\x03abc\x43xyz", b"\x64abcd\x21z\x7f0123456789abcdef0123456789abcde\x60")
]

# Cookies of sessions, heads with values, and names with values, for fuzz_session.c.
HEAD = "\x01" + "i" * 16 + "\0" * 7 + "\x01" + "\0" * 7 + "\x02"
# The side that reads, and its frames.
FRAMES = [
    b"\x01\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58", b"\0\x81\x05Hello", b"\0\x01\x03Hel\x89\x01x\x80\x02lo",
    b"\0\x82\x7e\x01\x00" + bytes(256), b"\0\x82\x7f" + bytes(5) + b"\x01\0\0" + bytes(300),
    b"\0\x88\x06\x03\xe8ende", b"\0\x88\x02\x03\xed", b"\0\x81\x0a\xc3\xa9\xe2\x82\xac\xf0\x9d\x84\x9e\x41",
    b"\0\x81\x03\xed\xa0\x80", b"\x01\x81\x05Hello", b"\0\x7e\x7f\xff",
]

SESSIONS = [
    "AQcAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAQAAAAAAAAACdXNlcgBhZGEA", "A", "AAAA", "====", HEAD, HEAD + "a\0b\0",
    HEAD + "a\0b\0a\0c\0", HEAD + "a\0b", HEAD + "a\0", HEAD + "\0\0", HEAD.replace("\x01", "\x02", 1),
    "a\0b\0a\0c\0b\0d\0a\0-\0\0e\0", "a\0" + "b" * 3000, "a\0" + "b" * 2797 + "\0c\0d\0",
    "a\0" + "b" * 1400 + "\0c\0" + "d" * 1390 + "\0a\0" + "e" * 1410 + "\0a\0-\0",
]

# A target, and a robots.txt.
ROBOTS = [
    "/", "/a\nUser-agent: *\nDisallow: /", "/x.gif\n\ufeffUser-agent: *\nDisallow: *.gif$\nAllow: /x.gif",
    "/a%2Fb?c\nUSER-AGENT : A-Bot/1.0 # c\r\nDisallow:/a%2fb\rAllow: /a/b\n",
    "/p\nUser-agent: b\nUser-agent: a-bot\nDisallow: /*p*$\n\nUser-agent: *\nAllow: /\nDisallow:\n",
    "/aaaaaaaaaaaaaaaaaaab\nUser-agent: a-bot\nDisallow: /*a*a*a*a*c\nAllow: /%41%zz$\0\nAllow: /*$$\nallow",
]

# Range, entity tags, Accept-Encoding, and a path.
FOLDERS = [
    'bytes=0-499,-5,9-\n"a", W/"b"\ngzip;q=0.5, br, *;q=0\na/b%20c.html',
    "bytes=0-,0-,0-\n*\n*\n../%2e%2e/etc/passwd",
    'bytes=99999999999999999999-1\nW/"a"\ngzip;q=1.001\na//b/%2f/%00',
    'lines=1-2\n"a\n;q=1\na/.b/c%0a/',
    "bytes= 1-2 ,,\t3-4\n\n\nsub/caf%C3%A9/%61.%6As/",
]
# Patterns of routes, and a request.
ROUTES = [
    "GET /\nGET /users/{id}\nPOST /users\nGET /users/me\n/any\nGET /users/me",
    "GET /{a}/{b}/c\nGET /{a}/x/{rest...}\nGET /b/x\nHEAD /1/x/y%2Fz//",
    "GET /f/{rest...}\nGET /{rest...}\nGET /f/%7Bx%7D\nPUT /f/a\nGET /f/a%2F..%2Fb",
    "GET /{id}\nGET /{name}\nusers\nGET /{x}.json\nGET /{a}/{a}\nGET /{a...}/b\nG{T /\nGET /%\nDELETE /7",
    "/a/%41\nGET /a/A\nGET /a/\nGET /a//\nGET //a\nGET /a/%41",
]

# Bodies with the boundary b, after the byte of fuzz_multipart.c.
FORM = 'Content-Disposition: form-data; name='
FORMS = [
    f'\r--b\r\n{FORM}a\r\n\r\n1\r\n--b\r\n{FORM}"b"; filename="f%22.txt"\r\nContent-Type: text/plain\r\n\r\n2\r\n'
    '--b--\r\n', '\x01--b--', f'\x02--b\r\n{FORM}""\r\n\r\n\r\n--\r\n--c\r\r\n-\r\n--b--',
    f'\x03--b\r\n{FORM}a; name=b\r\nX: y\r\n\r\n\r\n--b--', f'\x1f--b\r\n{FORM}"\u00e4%0D%0a"\r\n\r\n\r\n--b\r\n',
    f'\x40--b\r\n{FORM}a\r\n\r\n--b\r\n--b--\r\n\r\n', f'\x41--b\r\n{FORM}a\r\n\r\n\r\n--b-',
]


def unescape(literal):
    """The bytes of a C string literal without its quotes."""
    out, i = bytearray(), 0
    while i < len(literal):
        if literal[i] != "\\":
            out += literal[i].encode()
            i += 1
            continue
        octal = re.match(r"[0-7]{3}", literal[i + 1:])
        out.append(int(octal[0], 8) if octal else SIMPLE[literal[i + 1]])
        i += 4 if octal else 2
    return bytes(out)


def parts_of(text, macros):
    """The bytes of literals and macros that stand side by side."""
    out = b""
    for literal, name in re.findall(r'"((?:[^"\\]|\\.)*)"|(\w+)', text):
        out += macros[name] if name else unescape(literal)
    return out


def arguments(text, start):
    """The arguments of the call whose '(' stands at 'start'."""
    out, depth, quoted, at = [""], 0, False, start
    while True:
        c = text[at]
        if quoted:
            out[-1] += text[at:at + 2] if c == "\\" else c
            at += 2 if c == "\\" else 1
            quoted = c != '"'
            continue
        at += 1
        quoted = c == '"'
        depth += (c == "(") - (c == ")")
        if depth == 0:
            return out
        if c == "," and depth == 1:
            out.append("")
        elif not (c == "(" and depth == 1):
            out[-1] += c


def request_table():
    """The tool that reads requests.h."""
    loader = importlib.machinery.SourceFileLoader("request_table",
                                                  str(ROOT / "tools" / "request-table"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("request_table",
                                                                             loader))
    loader.exec_module(module)
    return module


def cases():
    """(kind, limits, input) of each case, in order."""
    for row in request_table().read_corpus(str(ROOT), print):
        if len(row.data) <= BYTES_MAX:
            yield "REQUEST", "DEFAULT", row.data
    text = CORPUS.read_text().replace("\\\n", "")
    macros = {}
    for name, body in re.findall(r"^#define (\w+) +(.*)$", text, re.M):
        macros[name] = parts_of(body, macros)
    for call in re.finditer(r"^CASE\(", text, re.M):
        args = arguments(text, call.end() - 1)
        yield args[1].strip(), args[2].strip(), parts_of(args[4], macros)


def json_cases():
    """The texts of json_corpus.h, in order."""
    text = JSON_CORPUS.read_text()
    for call in re.finditer(r"^(?:CASE|CHOICE)\(", text, re.M):
        args = arguments(text, call.end() - 1)
        yield parts_of(args[2], {})


def write(target, seeds):
    folder = HERE / "corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("seed-*"):
        old.unlink()
    for i, seed in enumerate(seeds):
        (folder / f"seed-{i:03}").write_bytes(seed)


def chosen(kind, limits, data):
    cut = len(data) // 2
    return bytes([LIMITS[limits], RESPONSES.get(kind, 0), cut & 255, cut >> 8]) + data


def main():
    every = list(cases())
    requests = [chosen(*c) for c in every if c[0] == "REQUEST"]
    responses = [chosen(*c) for c in every if c[0] != "REQUEST"]
    write("fuzz_compression", PIECES)
    write("fuzz_cookie", [text.encode() for text in COOKIES])
    write("fuzz_folder", [text.encode() for text in FOLDERS])
    write("fuzz_http1_request", requests[::EVERY])
    write("fuzz_http1_response", responses[::EVERY])
    write("fuzz_json", list(json_cases())[::EVERY] + [text.encode() for text in STRUCTS])
    write("fuzz_auth", [text.encode() for text in AUTH])
    write("fuzz_multipart", [text.encode() for text in FORMS])
    write("fuzz_query", [text.encode() for text in QUERIES])
    write("fuzz_robots", [text.encode() for text in ROBOTS])
    write("fuzz_route", [text.encode() for text in ROUTES])
    write("fuzz_session", [text.encode() for text in SESSIONS])
    write("fuzz_sse", [text.encode() for text in EVENTS])
    write("fuzz_url", [url.encode() for url in URLS])
    write("fuzz_url_join", [text.encode() for text in JOINS])
    write("fuzz_websocket", FRAMES)
    print(f"{len(every)} cases in the corpus")


if __name__ == "__main__":
    main()
