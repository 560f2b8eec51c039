"""trace_file - writes traces of made-up runs in the format of docs/design/timeline.md."""
import json


class Trace:
    """Events in their order; 'now' is the time in microseconds."""

    def __init__(self, loop=1):
        self.events, self.now, self.loop, self.arrows = [], 0.0, loop, 0

    def add(self, ph, cat, name, task, **args):
        event = {"ph": ph, "cat": cat, "name": name, "pid": self.loop, "tid": task, "ts": self.now}
        if ph in "sf":
            event["id"] = args.pop("id")
        if args:
            event["args"] = args
        self.events.append(event)

    def after(self, us):
        self.now = round(self.now + us, 3)
        return self

    def task(self, number, name, scope=0, place="a.c:1"):
        self.add("B", "task", name, number, scope=scope, place=place)

    def end(self, number, name, result=0, error=None, **args):
        if error:
            args["error"] = error
        self.add("E", "task", name, number, result=result, **args)

    def scope(self, task, number, **args):
        self.add("B", "scope", "scope", task, scope=number, place="a.c:9", **args)

    def scope_end(self, task, result=0, **args):
        self.add("E", "scope", "scope", task, result=result, **args)

    def wait(self, task, what):
        self.add("B", "wait", what, task)

    def woken(self, task, what, by=0, result=0):
        if by:
            self.arrows += 1
            self.add("s", "wake", "wake", by, id=self.arrows)
            self.add("f", "wake", "wake", task, id=self.arrows)
        self.add("E", "wait", what, task, result=result, by=by)

    def ready(self, task):
        self.add("B", "ready", "ready", task)

    def runs(self, task):
        self.add("E", "ready", "ready", task)

    def stops(self, task, stopped):
        for other in stopped:
            self.arrows += 1
            self.add("s", "cancel", "cancel", task, id=self.arrows)
            self.add("f", "cancel", "cancel", other, id=self.arrows)

    def cancel(self, task, stopped, **target):
        self.add("i", "cancel", "cancel", task, **target)
        self.stops(task, stopped)

    def deadline(self, task, scope, stopped):
        self.add("i", "deadline", "deadline", task, scope=scope)
        self.stops(task, stopped)

    def text(self, dropped=0, clock="simulated", meta=()):
        lines = [json.dumps(event) for event in [*meta, *self.events]]
        other = {"eddy": "0.3.0", "clock": clock, "events": len(self.events), "dropped": dropped}
        return '{"traceEvents":[\n' + ",\n".join(lines) + '\n],"otherData":' + json.dumps(other) + "}\n"


def three_tasks(us=1000):
    """main starts two workers and cancels them when one has a result. 'us' 0: no time passes."""
    run = Trace()
    run.task(1, "main")
    run.after(us / 10).scope(1, 1)
    run.task(2, "worker", 1)
    run.ready(2)
    run.task(3, "worker", 1)
    run.ready(3)
    run.wait(1, "its tasks")
    run.after(us / 5).runs(2)
    run.after(us / 2).wait(2, "a lock")
    run.runs(3)
    run.after(us / 2).wait(3, "a sleep")
    run.after(us * 2).woken(2, "a lock", by=3)
    run.ready(2)
    run.after(us / 4).runs(2)
    run.after(us / 2).cancel(2, [3], scope=1)
    run.woken(3, "a sleep", by=2, result=-125)
    run.ready(3)
    run.end(2, "worker", 7)
    run.after(us / 4).runs(3)
    run.after(us / 4).end(3, "worker", -125, "ECANCELED")
    run.woken(1, "its tasks", by=3)
    run.scope_end(1, 0)
    run.after(us / 4).end(1, "main")
    return run


def nested():
    """A deadline of an inner scope, calls with deadlines of their own, a shield."""
    run = Trace()
    run.task(1, "main")
    run.after(100).scope(1, 1)
    run.task(2, "outer", 1)
    run.after(100).scope(2, 2)
    run.task(3, "inner", 2)
    run.after(50).wait(3, "recv on 7")
    run.wait(2, "its tasks")
    for number in (3, 4):
        run.scope(1, number)
        run.wait(1, "a sleep")
        run.after(300).woken(1, "a sleep")
        run.after(50).scope_end(1)
    run.wait(1, "its tasks")
    run.after(200).deadline(2, 2, [3])
    run.woken(3, "recv on 7", result=-125)
    run.after(20).scope(3, 5, shield=True)
    run.wait(3, "a sleep")
    run.after(150).woken(3, "a sleep")
    run.scope_end(3)
    run.end(3, "inner", -125, "ECANCELED")
    run.woken(2, "its tasks", by=3)
    run.scope_end(2, -110, error="ETIMEDOUT")
    run.after(30).end(2, "outer", -110, "ETIMEDOUT")
    run.woken(1, "its tasks", by=2)
    run.scope_end(1, -110, error="ETIMEDOUT")
    run.after(50).end(1, "main", -110, "ETIMEDOUT")
    return run


def many(count=3000, at_once=100, name=lambda number: "worker"):
    """Tasks that wait for a semaphore, work, and wait again; the last tenth is cancelled."""
    run = Trace()
    run.task(1, "main")
    run.after(10).scope(1, 1)
    running, last = [], count - count // 10
    for number in range(2, count + 2):
        run.after(3).task(number, name(number), 1)
        run.wait(number, "a unit")
        running.append(number)
        if len(running) > at_once and number <= last:
            done = running.pop(0)
            run.after(20).woken(done, "a unit", by=0)
            run.after(10 + number % 40).end(done, name(done), -5 if done % 500 == 0 else 0)
    run.wait(1, "its tasks")
    run.after(500).cancel(1, running, scope=1)
    for number in running:
        run.after(1).woken(number, "a unit", result=-125)
        run.end(number, name(number), -125, "ECANCELED")
    run.woken(1, "its tasks")
    run.scope_end(1)
    run.end(1, "main")
    return run
