"""test_timeline - timelines of real programs and of examples: they follow the trace event format,
and have the numbers that the programs printed."""
import os
import re
import signal
import subprocess
import sys
import threading

import e2e
from e2e import check, claim, equal
from timeline import Timeline

# The same is in docs/debugging.md.
PICTURE = """\
run.json: 4 tasks, 1 scope, 42 events, 3 s, simulated clock

             0                    1 s                   2 s
             ┬────────────────────┬─────────────────────┬────────────────────┬
2 main       │░░░░░░░░░░░░░░░░░░░░│░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░│
  [scope 1]  [───────────────────────────────────────────────────────────────]
    3 delay  │░░░░░░░░░░░░░░░░░░░░│
    4 delay  │░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░│
    5 delay  │░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░│

█ runs  │ runs briefly  ░ waits  ▒ is ready  x cancel  ! deadline
"""


def examples(eddy):
    return os.path.join(os.path.dirname(eddy.path), "..", "..", "examples")


def traced(eddy, program, *args):
    """Runs an example; returns what it printed and its timeline."""
    path = os.path.join(eddy.folder, "run.json")
    result = subprocess.run([os.path.join(examples(eddy), program), *args], env={**os.environ, "EDDY_TRACE": path},
                            capture_output=True, text=True, timeout=120, check=False)
    check(os.path.exists(path), result)
    return result.stdout, Timeline(path)


@claim
def a_timeline_has_the_tasks_waits_and_time_that_the_example_printed(eddy):
    said, line = traced(eddy, "virtual-16-tasks")
    delays = line.named("delay")
    equal([round(task["span"]) for task in delays], [1, 3, 2])
    equal([task["waits"][0][0] for task in delays], ["time to pass"] * 3)
    elapsed = float(re.search(r"elapsed time: ([0-9.]+)", said)[1])
    equal(round(line.named("main")[0]["span"], 1), elapsed)
    equal([name for name, _, _ in line.named("main")[0]["waits"]], ["a task to end"] * 2)


@claim
def awaiting_one_by_one_takes_longer_than_tasks_and_the_timelines_show_it(eddy):
    _, tasks = traced(eddy, "virtual-16-tasks")
    _, one_by_one = traced(eddy, "virtual-15-one-by-one")
    equal(len(tasks.tasks) > len(one_by_one.tasks), True)
    check(one_by_one.named("main")[0]["span"] > tasks.named("main")[0]["span"])


@claim
def a_timeline_has_the_requests_connections_and_bytes_that_the_example_printed(eddy):
    mock = eddy.mock()
    said, line = traced(eddy, "12-one-client", mock + "/delay/0.2")
    requests, connections = map(int, re.search(r"(\d+) requests over (\d+) connections", said).groups())
    calls = [name for name, _, _ in line.io]
    equal((len(line.named("http_many")), calls.count("connect")), (requests, connections))
    check(0.4 <= line.seconds() < 0.4 + e2e.SOON, line.seconds())
    said, line = traced(eddy, "14-page-sizes", mock + "/bytes/5000")
    size = int(re.search(r"(\d+) bytes", said)[1])
    received = sum(args["bytes"] for name, _, args in line.io if name == "recv")
    check(size < received < size + 500, size, received)


@claim
def the_program_writes_a_timeline_with_its_calls(eddy):
    server = eddy.serve(lambda connection, number: (e2e.read_head(connection), connection.sendall(e2e.ok())))
    path = os.path.join(eddy.folder, "fetch.json")
    result = eddy.run("fetch", server.url + "/1", env={**os.environ, "EDDY_TRACE": path})
    equal(result.code, 0, result)
    line = Timeline(path)
    calls = [name for name, _, _ in line.io]
    for call in ("connect", "send", "recv", "close"):
        check(call in calls, call, calls)
    sent = sum(args["bytes"] for name, _, args in line.io if name == "send")
    check(sent > 50, sent)
    equal(line.other["clock"], "monotonic")


@claim
def draw_shows_each_task_under_its_scope(eddy):
    traced(eddy, "virtual-16-tasks")
    drawn = eddy.run("draw", "--width", "78", "run.json", cwd=eddy.folder, env={**os.environ, "LC_ALL": "C.UTF-8"})
    equal(drawn.out, PICTURE)


@claim
def the_picture_in_the_readme_is_that_of_the_example(eddy):
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "images", "first-answer.svg")
    traced(eddy, "virtual-48-first-answer")
    result = eddy.run("draw", "-o", "run.svg", "run.json", cwd=eddy.folder)
    equal(result.code, 0, result)
    with open(path, encoding="utf-8") as kept, open(eddy.file("run.svg"), encoding="utf-8") as drawn:
        # Addresses differ between builds.
        texts = [re.sub(r"\+0x[0-9a-f]+", "+0x0", file.read()) for file in (drawn, kept)]
    equal(*texts, "draw it again: EDDY_TRACE=run.json virtual-48-first-answer; "
          "eddy draw -o docs/images/first-answer.svg run.json")


@claim
def the_pictures_of_the_courses_are_those_of_the_examples(eddy):
    build = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(eddy.path))))
    tool = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "course")
    result = subprocess.run([sys.executable, tool, "draw", "--check", build], check=False, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    equal((result.returncode, result.stdout), (0, ""))


@claim
def two_outcomes_are_drawn_with_their_first_difference_as_the_document_says(eddy):
    here = os.path.dirname(os.path.abspath(__file__))
    build = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(eddy.path))))
    for trace, order in (("a.json", "0"), ("b.json", "2/3")):
        subprocess.run([os.path.join(build, "tests", "kit", "test_kit_outcomes")], check=True,
                       cwd=eddy.folder, stderr=subprocess.DEVNULL,
                       env={**os.environ, "EDDY_TRACE": trace,
                            "EDDY_TEST_REPLAY": f"sell:order={order}"})
    drawn = eddy.run("draw", "--width", "78", "a.json", "b.json", cwd=eddy.folder,
                     env={**os.environ, "LC_ALL": "C.UTF-8"})
    with open(os.path.join(here, "..", "..", "docs", "testing.md"), encoding="utf-8") as document:
        said = document.read()
    check("first difference: event 14" in drawn.out + drawn.err, drawn)
    check(f"```\n{drawn.out}{drawn.err}```\n" in said or f"```\n{drawn.err}{drawn.out}```\n" in said, drawn)


# The same is in docs/debugging.md.
DEADLOCK = """\
! event 18: the loop finds a deadlock: stops task 3 transfer, task 4 transfer
! event 19: task 3 transfer waits for a lock that task 4 transfer holds
! event 20: task 4 transfer waits for a lock that task 3 transfer holds
"""


@claim
def a_deadlock_is_drawn_with_the_holders_of_its_locks(eddy):
    build = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(eddy.path))))
    trace = os.path.join(eddy.folder, "cycle.json")
    subprocess.run([os.path.join(build, "tests", "kit", "test_kit_orders")], check=True,
                   stderr=subprocess.DEVNULL,
                   env={**os.environ, "EDDY_TRACE": trace, "EDDY_TEST_REPLAY": "cycle:order=0"})
    drawn = eddy.run("draw", trace, env={**os.environ, "LC_ALL": "C.UTF-8"}).out
    check(DEADLOCK in drawn and "! deadline, deadlock\n" in drawn, drawn)
    svg = os.path.join(eddy.folder, "cycle.svg")
    eddy.run("draw", "-o", svg, trace)
    with open(svg, encoding="utf-8") as picture:
        text = picture.read()
    for line in DEADLOCK.splitlines():
        check(f"<title>{line[2:]}</title>" in text, text)


@claim
def a_stop_by_a_signal_is_a_cancel_in_the_timeline(eddy):
    asked = threading.Event()

    def answer(connection, _):
        e2e.read_head(connection)
        asked.set()
        e2e.until_closed(connection)
    server = eddy.serve(answer)
    path = os.path.join(eddy.folder, "fetch.json")
    child = eddy.start("fetch", server.url + "/1", env={**os.environ, "EDDY_TRACE": path})
    check(asked.wait(60))
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=60)
    line = Timeline(path)
    check(line.marks["cancel"] >= 1, line.marks)
    check(any(flow["cat"] == "cancel" for flow in line.flows.values()), line.flows)


if __name__ == "__main__":
    e2e.main()
