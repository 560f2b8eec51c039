"""test_draw - `eddy draw`: text, pictures and pages of small traces, of large ones, and of bad input."""
import html.parser
import json
import os
import re
import shutil
import subprocess
import xml.dom.minidom

import e2e
import trace_file
from e2e import check, claim, equal

EVIL = '<script>alert("1")</script>&\'\x1b[31m\x1b]0;t\x07\u009b2J\u202e\ufeff\u0000\uffff]]>-->'
UTF8, ASCII = {"LC_ALL": "C.UTF-8"}, {"LC_ALL": "C"}


def draw(eddy, *args, code=0, env=None, stdin=None):
    result = eddy.run("draw", *args, env={**os.environ, **(env or ASCII)}, stdin=stdin)
    equal(result.code, code, result)
    if code == 0:
        check(re.fullmatch("(eddy draw: (first|no) difference: [^\n]*\n)?", result.err), result)
    return result


def trace(eddy, name, run, **options):
    return eddy.file(name, run.text(**options))


def body(result):
    """The text without its first line, which names the file."""
    return result.out.split("\n", 1)[1]


def elements(text, tag, word=None):
    """The elements of an SVG with a class."""
    found = xml.dom.minidom.parseString(text.encode()).getElementsByTagName(tag)
    return [e for e in found if word is None or word in e.getAttribute("class").split()]


def titles(text):
    return [e.firstChild.data for e in elements(text, "title") if e.firstChild]


@claim
def three_tasks_and_a_cancel_are_a_timeline(eddy):
    path = trace(eddy, "t.json", trace_file.three_tasks())
    result = draw(eddy, path, "--width", "80")
    equal(result.out.split("\n")[0],
          f"{path}: 3 tasks, 1 scope, 31 events, 4.8 ms, simulated clock")
    equal(body(result), """
              0            1 ms          2 ms          3 ms          4 ms
              +------------+-------------+-------------+-------------+----------
1 main        #..............................................................###
  [scope 1]    [-----------------------------------------------------x------]
    2 worker   ===#######..................................====#######
    3 worker   ==========#######.....................................x===####

x 4.05 ms: task 2 worker cancels scope 1: stops task 3 worker

# runs  | runs briefly  . waits  = is ready  x cancel  ! deadline
""")


@claim
def nested_scopes_and_a_deadline_are_a_timeline(eddy):
    path = trace(eddy, "t.json", trace_file.nested())
    equal(body(draw(eddy, path, "--width", "80")), NESTED)


NESTED = """
                     0                    0.5 ms               1.0 ms
                     +--------------------+--------------------+----------------
1 main               ###########............##.............##.................##
  [scope 1]              [---------------------------------------------------]
    2 outer              #######.............................................#
      [scope 2]              [---------------------------------------!------]
        3 inner              ###.....................................x......|
          [scope 5]                                                   [-----]
    [2 scopes]                 [--------------|--------------]

! 1.15 ms: the deadline of scope 2 passes, of task 2 outer: stops task 3 inner
task 1 main ends with -110 (ETIMEDOUT)
task 2 outer ends with -110 (ETIMEDOUT)

# runs  | runs briefly  . waits  = is ready  x cancel  ! deadline
"""


@claim
def a_locale_of_utf_8_has_blocks(eddy):
    path = trace(eddy, "t.json", trace_file.three_tasks())
    line = "    2 worker   ▒▒▒███████░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░▒▒▒▒███████"
    for env in (UTF8, {"LC_ALL": "", "LC_CTYPE": "en_US.utf8"}, {"LC_ALL": "", "LANG": "de_DE.UTF-8"}):
        equal(draw(eddy, path, "--width", "80", env=env).out.split("\n")[6], line)
    check(draw(eddy, path).out.isascii())


@claim
def a_run_that_takes_no_time_is_drawn_by_the_order_of_events(eddy):
    path = trace(eddy, "t.json", trace_file.three_tasks(0))
    equal(body(draw(eddy, path, "--width", "80")), ORDER)
    equal(draw(eddy, path, "--width", "80", "--axis", "order").out,
          draw(eddy, path, "--width", "80").out)
    equal(draw(eddy, path, "--width", "80", "--axis", "time").out.split("\n")[2].strip(), "0")
    timed = trace(eddy, "u.json", trace_file.three_tasks())
    check(draw(eddy, timed, "--axis", "order").out.split("\n")[2].startswith("event "))


ORDER = """
event         1                    11                   21                   31
              +--------------------+--------------------+--------------------+--
1 main        #############...............................................####
  [scope 1]     [-------------------------------x--------------------------]
    2 worker      ===========##...........====#################
    3 worker          ===========##.................x......======###

x event 17: task 2 worker cancels scope 1: stops task 3 worker

# runs  | runs briefly  . waits  = is ready  x cancel  ! deadline
"""


@claim
def three_thousand_tasks_fold_into_a_row(eddy):
    path = trace(eddy, "t.json", trace_file.many(), clock="monotonic", dropped=7)
    result = draw(eddy, path, "--width", "80")
    lines = result.out.split("\n")
    equal(lines[0], f"{path}: 3,001 tasks, 1 scope, 12,809 events, 138.6 ms, monotonic clock; "
                    "7 older events dropped (EDDY_TRACE_EVENTS)")
    check(re.fullmatch(r"    3,000 x worker  [1-8]+x", lines[6]), lines[6])
    check("folded: 3,000 x worker (2 to 3001), at most 401 at once, 406 failed, 401 stopped"
          in lines, result.out)
    check(any(line.endswith("task 2604 worker and 397 more tasks") for line in lines), result.out)
    check(len(lines) < 25, len(lines))


@claim
def names_that_differ_fold_too(eddy):
    for name, label in ((lambda number: f"worker-{number}", "3,000 x worker-#"),
                        (lambda number: ("a", "b", "c")[number % 3], "1,000 x a"),
                        (lambda number: "abcdefghij"[number % 10] * (number // 10 + 1), None)):
        path = trace(eddy, "t.json", trace_file.many(name=name))
        lines = draw(eddy, path).out.split("\n")
        rows = [line for line in lines[4:] if re.match(r" *(\[|[0-9,]+ )", line)]
        check(len(rows) <= 60, len(rows))
        check(label is None or any(label in row for row in rows), rows)
        svg = draw(eddy, path, "--format", "svg").out
        check(len(svg) < 1000000 and elements(svg, "svg"), len(svg))


@claim
def rows_that_do_not_fit_are_counted(eddy):
    run = trace_file.Trace()
    for number in range(1, 101):
        run.task(number, "t" * number, number - 1)
        run.scope(number, number)
    for number in range(100, 0, -1):
        run.after(1).scope_end(number)
        run.end(number, "")
    lines = draw(eddy, trace(eddy, "t.json", run)).out.split("\n")
    check("140 more lines with 70 tasks" in lines, lines)
    equal(len([line for line in lines if re.match(r" *(\[scope )?\d+", line)]) > 55, True)


@claim
def two_runs_are_compared(eddy):
    one, two = trace_file.three_tasks(), trace_file.three_tasks(2000)
    same = draw(eddy, trace(eddy, "a", one), trace(eddy, "b", two))
    check("no difference: both runs have the same 31 events; times are not compared\n" in same.out)
    two.events[8]["name"] = two.events[13]["name"] = "an event"
    result = draw(eddy, eddy.file("a"), trace(eddy, "c", two), "--width", "80")
    line = "first difference: event 9: task 2 worker waits for a lock | task 2 worker waits for an event"
    check(line in result.out.split("\n"), result.out)
    axes = [line for line in result.out.split("\n") if re.fullmatch(" +[-+v]+", line)]
    equal([axis.count("v") for axis in axes], [1, 1])
    # The marks are at the times of the event, on one axis.
    equal(axes[0].index("v") - 14 > 0 and axes[1].index("v") > axes[0].index("v"), True)
    svg = draw(eddy, eddy.file("a"), eddy.file("c"), "-o", eddy.file("x.svg"))
    equal(svg.err, "eddy draw: " + line + "\n")
    with open(eddy.file("x.svg"), encoding="utf-8") as file:
        text = file.read()
    equal(len(elements(text, "line", "differ")), 2)
    check(line in [e.firstChild.data for e in elements(text, "text", "differs")])
    # A run that ends first.
    two = trace_file.three_tasks()
    del two.events[-1]
    check("first difference: event 31: task 1 main ends | the run has ended"
          in draw(eddy, eddy.file("a"), trace(eddy, "d", two)).out)


@claim
def a_picture_has_all_that_happened(eddy):
    path = trace(eddy, "t.json", trace_file.three_tasks())
    svg = draw(eddy, path, "-o", eddy.file("x.SVG"))
    equal((svg.out, svg.err), ("", ""))
    with open(eddy.file("x.SVG"), encoding="utf-8") as file:
        text = file.read()
    equal(text, draw(eddy, path, "--format", "svg").out)
    check("waits for a lock for 2.5 ms from 0.8 ms, woken by task 3 worker" in
          [title.replace("800 µs", "0.8 ms") for title in titles(text)], titles(text))
    check("waits for a sleep for 2.75 ms from 1.3 ms, woken by task 2 worker, ends with -125"
          in titles(text), titles(text))
    check("4.05 ms: task 2 worker cancels scope 1: stops task 3 worker" in titles(text))
    check("task 2 worker cancels scope 1: task 3 worker is stopped" in titles(text))
    check("scope 1 of task 1 main, begun at a.c:9" in titles(text), titles(text))
    # One of each is in the legend.
    for tag, word, count in (("path", "cancel", 2), ("path", "cross", 2), ("path", "wake", 4),
                             ("rect", "box", 2), ("path", "due", 1)):
        equal(len(elements(text, tag, word)), count, word)
    equal([e.firstChild.data for e in elements(text, "text", "bad")], ["-125 ECANCELED"])
    check("prefers-color-scheme: dark" in text and "http" not in text.replace("http://www.w3.org/2000/svg", ""))
    nested = draw(eddy, trace(eddy, "n", trace_file.nested()), "--format", "svg").out
    check("scope 5 of task 3 inner, shielded, begun at a.c:9" in titles(nested), titles(nested))
    equal(len(elements(nested, "path", "due")), 2)


class Page(html.parser.HTMLParser):
    """Checks that elements are closed in order; keeps tags, attributes and texts."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.attributes, self.texts = [], [], [], []
        self.feed(text)
        self.close()
        equal(self.open, [])
        for name, value in self.attributes:
            check(name not in ("href", "src", "srcset", "action", "data"), name)
            check(not name.startswith("on") and "//" not in (value or ""), name, value)
        for tag in ("script", "img", "link", "iframe", "object", "base", "form"):
            check(tag not in self.tags, tag)
        check("default-src 'none'" in text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        equal(self.open.pop(), tag)

    def handle_data(self, data):
        self.texts.append(data)


@claim
def a_page_has_a_table_and_groups(eddy):
    path = trace(eddy, "t.json", trace_file.many())
    text = draw(eddy, path, "--format", "html").out
    page = Page(text)
    equal(page.tags.count("svg"), 2)
    equal(page.tags.count("details"), 2)
    check("The first 500 of 3,001 tasks." in " ".join(page.texts).replace("The first  ", "The first "))
    check(len(text) < 1000000, len(text))
    small = Page(draw(eddy, trace(eddy, "s", trace_file.three_tasks()), "--format", "html").out)
    equal(small.tags.count("tr"), 4)


@claim
def hostile_names_are_only_text(eddy):
    run = trace_file.three_tasks()
    for event in run.events:
        if event["cat"] in ("task", "wait"):
            event["name"] = EVIL
        for key in ("place", "error"):
            if key in event.get("args", {}):
                event["args"][key] = EVIL * 9
    meta = [{"ph": "M", "name": "thread_name", "pid": 1, "tid": 2, "args": {"name": EVIL}}]
    path = trace(eddy, "t<&\x1b[31m.json", run, meta=meta, clock=EVIL)
    for env in (ASCII, UTF8):
        text = draw(eddy, path, env=env).out
        bad = {c for c in text if c != "\n" and (c < " " or "\x7f" <= c <= "\x9f") or c in "\u202e\ufeff\uffff"}
        equal(bad, set())
    svg = draw(eddy, path, "--format", "svg").out
    check(not elements(svg, "script"))
    page = draw(eddy, path, path, "--format", "html")
    check("<script" not in page.out and "\x1b" not in page.out)
    Page(page.out)
    check("\x1b" not in page.err, page.err)


BAD = (
    ("", "line 1"),
    ("{", "line 1"),
    ('{"traceEvents":[\n{"ph":"B",}\n]}', "line 2"),
    ("[]", "line 1: the trace has no tasks"),
    ('"x"', 'line 1: "traceEvents" is not an array'),
    ('{"a":1}', 'line 1: the object has no "traceEvents"'),
    ('{"traceEvents":{}}', 'line 1: "traceEvents" is not an array'),
    ('{"traceEvents":[\n\n7]}', "line 3: an event is not an object"),
    ('[\n{}]', 'line 2: an event has no "ph"'),
)


@claim
def bad_files_are_refused_with_the_line(eddy):
    first = '[\n{"ph":"B","cat":"task","name":"a","pid":1,"tid":1,"ts":5,"args":{}},\n'
    scope = '{"ph":"B","cat":"scope","name":"scope","pid":1,"tid":1,"ts":5,"args":{"scope":1}}'
    event = '{"ph":"%s","cat":"%s","name":"x","pid":%s,"tid":%s,"ts":%s}'
    more = [(first + text + "]", "line 3: " + words) for text, words in (
        (event % ("B", "wait", 1, 1, -1), '"ts" is -1, not microseconds from 0 to 1e14'),
        (event % ("B", "wait", 1, 1, "1e300"), '"ts" is 1e300'),
        (event % ("B", "wait", 1, 1, '"5"'), '"ts" is "5"'),
        (event % ("B", "wait", 1, 1, 4), "its time is before that of an earlier event of task 1"),
        (event % ("B", "wait", 1, 2 ** 64, 5), '"tid" is 18446744073709551616, not a number'),
        (event % ("B", "wait", 1, -1, 5), '"tid" is -1'),
        (event % ("B", "wait", '"p"', 1, 5), '"pid" is "p"'),
        (event % ("E", "wait", 1, 1, 5), "a wait of task 1 ends inside a task, which began in line 2"),
        (event % ("E", "wait", 1, 2, 5), "a wait of task 2 ends but did not begin"),
        (event % ("s", "wake", 1, 1, 5), 'an arrow has no "id"'),
        (event % ("B", "scope", 1, 1, 5), 'the begin of a scope has no "scope"'),
        ('{"ph":"E","cat":"task","pid":1,"tid":1}', 'an event has no "ts"'),
        ('{"ph":"E","cat":"task","tid":1,"ts":1}', 'an event has no "pid"'),
        ('{"ph":"E","cat":"task","pid":1,"ts":1}', 'an event has no "tid"'),
        (scope + "," + scope, "scope 1 begins twice"))]
    for text, words in (*BAD, *more, ("\xff", "line 1")):
        result = eddy.run("draw", eddy.file("bad", text.encode("latin-1")))
        e2e.one_line(result, 3, words)


@claim
def files_that_lack_parts_are_drawn(eddy):
    first = '[{"ph":"B","cat":"task","name":"a","pid":1,"tid":1,"ts":5}'
    for text, words in (
            (first + "]", "1 task, 0 scopes, 1 event, 5"),
            # Events of other programs, and those whose begin was dropped.
            (first + ',{"ph":"X","name":"z"},{"ph":"B","cat":"q","pid":1,"tid":1,"ts":6},'
             '{"ph":"E","pid":1,"tid":1,"ts":7},{"ph":"E","pid":1,"tid":1,"ts":8}]', "1 task"),
            (first + ',{"ph":"f","cat":"cancel","id":9,"pid":1,"tid":1,"ts":6}]',
             "1 task stopped by cancels that the file does not have"),
            (first + ',{"ph":"f","cat":"wake","id":"k","pid":1,"tid":7,"ts":6}]', "2 tasks"),
            (first + ',{"ph":"B","cat":"wait","name":"w","pid":1,"tid":8,"ts":6},'
             '{"ph":"E","cat":"wait","name":"w","pid":1,"tid":8,"ts":9}]', "2 tasks"),
            (first + ',{"ph":"i","cat":"cancel","pid":1,"tid":0,"ts":6,"args":{"scope":77}}]', "loop"),
            (first + ',{"ph":"B","cat":"task","pid":2,"tid":1,"ts":1,"args":{"scope":-5}}]', "2 loops"),
            (first + ',{"ph":"i","cat":"io","name":"recv","pid":1,"tid":1,"ts":1e14,'
             '"args":{"bytes":1e99,"fd":null,"scope":9223372036854775808}}]', "1 task")):
        path = eddy.file("t", text)
        check(words in draw(eddy, path).out, draw(eddy, path).out)
        elements(draw(eddy, path, "--format", "svg").out, "svg")
        Page(draw(eddy, path, path, "--format", "html").out)


@claim
def each_cut_of_a_file_is_refused_or_drawn(eddy):
    whole = trace_file.nested().text()
    for at in range(0, len(whole), 97):
        result = eddy.run("draw", "-", stdin=whole[:at].encode())
        e2e.one_line(result, 3, "standard input: line")


@claim
def standard_input_is_read(eddy):
    text = trace_file.three_tasks().text()
    result = draw(eddy, "-", stdin=text.encode())
    equal(result.out.split(":")[0], "standard input")
    check("no difference" in draw(eddy, "-", eddy.file("t", text), stdin=text.encode()).out)


@claim
def mistakes_are_refused(eddy):
    path = trace(eddy, "t.json", trace_file.three_tasks())
    other = eddy.file("other.json", '{"displayTimeUnit":"ns","otherData":{"eddy":"0.3.0"}}')
    for code, words, args in (
            (2, ["name a trace"], []),
            (2, ["one or two traces"], [path, path, path]),
            (2, ["read once"], ["-", "-"]),
            (2, ["--format png", "text, svg or html"], [path, "--format", "png"]),
            (2, ["--axis x", "time or order"], [path, "--axis", "x"]),
            (2, ["--width 39"], [path, "--width", "39"]),
            (2, ["--width 100"], [path, "--width", "100", "--format", "svg"]),
            (2, ["this is a trace"], [path, "-o", path]),
            (2, ["this is a trace"], [path, "-o", other]),
            (3, ["No such file"], [path + "x"]),
            (3, ["Is a directory"], [eddy.folder]),
            (4, ["No such file"], [path, "-o", eddy.file("no/such/x.svg")]),
            (4, ["No space"], [path, "-o", "/dev/full"])):
        e2e.one_line(eddy.run("draw", *args), code, *words)
    check("Usage: eddy draw" in eddy.run("help", "draw").out)
    equal(eddy.run("help", "draw").out, eddy.run("draw", "--help").out)


@claim
def more_events_than_the_limit_are_refused(eddy):
    path = eddy.file("t")
    with open(path, "w", encoding="ascii") as file:
        file.write('[{"ph":"B","cat":"task","name":"a","pid":1,"tid":1,"ts":5}')
        for _ in range(1000):
            file.write(',\n{"ph":"i","cat":"io","pid":1,"tid":1,"ts":5}' * 1000)
        file.write("]")
    e2e.one_line(eddy.run("draw", path), 3, "line 1000001: more than 1000000 events")


@claim
def a_deadlock_is_named_before_the_other_causes(eddy):
    run = trace_file.Trace()
    run.task(1, "main")
    for number in range(20):
        run.after(10).deadline(1, number, [])
    run.task(2, "worker")
    run.add("i", "deadlock", "deadlock", 0)
    run.add("i", "deadlock", "deadlock", 1, holder=2)
    run.add("i", "deadlock", "deadlock", 2, holder="none")
    run.stops(0, [1])
    run.end(2, "worker")
    run.end(1, "main")
    out = draw(eddy, trace(eddy, "t.json", run)).out
    causes = [line for line in out.splitlines() if line.startswith("! ")]
    check("the loop finds a deadlock: stops task 1 main" in causes[0], out)
    check("task 1 main waits for a lock that task 2 worker holds" in causes[1], out)
    check("task 2 worker finds a deadlock" in causes[2], out)
    check("  and 8 more such events" in out, out)


@claim
def browsers_show_pictures_without_complaints(eddy):
    chromium = shutil.which("chromium") or shutil.which("chromium-headless-shell")
    if not chromium:
        raise e2e.Skip("needs the Debian package chromium or chromium-headless-shell")
    for name, run in (("few", trace_file.three_tasks()), ("many", trace_file.many())):
        path = eddy.file(name + ".html")
        draw(eddy, trace(eddy, name, run), "-o", path)
        shown = subprocess.run(
            [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
             f"--user-data-dir={eddy.file('profile')}", "--dump-dom", f"file://{path}"],
            capture_output=True, timeout=e2e.LIMIT_S, check=True)
        check(b"CONSOLE" not in shown.stderr, shown.stderr)
        check("worker" in shown.stdout.decode())


if __name__ == "__main__":
    e2e.main()
