"""timeline - reads a timeline (docs/design/timeline.md) and checks every rule of the trace event
format that it uses."""
import collections
import json

KEYS = {"B": {"name", "cat"}, "E": {"name", "cat"}, "M": {"name", "args"}, "i": {"name", "cat", "s"},
        "s": {"name", "cat", "id"}, "f": {"name", "cat", "id", "bp"}}


class Timeline:
    """Tasks by number, each with its name, span in seconds, result and waits."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
        self.other, self.events = data["otherData"], data["traceEvents"]
        assert data["displayTimeUnit"] == "ns", data["displayTimeUnit"]
        self.names, self.tasks, self.flows = {}, {}, {}
        self.marks = collections.Counter()
        self.io = []
        stacks, last, latest = collections.defaultdict(list), 0, {}
        for event in self.events:
            ph, tid, at = event["ph"], event["tid"], event["ts"]
            missing = KEYS[ph] - set(event)
            row = event["pid"], tid
            assert not missing and event["pid"] >= 1, (missing, event)
            # Picoseconds keep the events of a row in order, however it is sorted.
            assert round(at, 3) >= last, (event, last)
            assert at > latest.get(row, -1) or at > 1e9 or round(at % 0.001, 6) == 499e-6, event
            last, latest[row] = round(at, 3), at
            if ph == "M":
                self.names[event["name"], tid] = event["args"]["name"]
            elif ph == "B":
                assert bool(stacks[tid]) == (event["cat"] != "task"), event
                stacks[tid].append(event)
            elif ph == "E":
                begin = stacks[tid].pop()
                assert (begin["cat"], begin["name"]) == (event["cat"], event["name"]), (begin, event)
                self.add(tid, begin, event)
            elif ph == "i":
                assert event["s"] == "t", event
                self.marks[event["cat"]] += 1
                if event["cat"] == "io":
                    self.io.append((event["name"], tid, event["args"]))
            elif ph == "s":
                assert event["id"] not in self.flows, event
                self.flows[event["id"]] = event
            else:
                begin = self.flows[event["id"]]
                assert event["bp"] == "e" and begin["cat"] == event["cat"], (begin, event)
                begin["to"] = tid
        assert not any(stacks.values()), stacks
        assert all("to" in flow for flow in self.flows.values()), self.flows

    def seconds(self):
        """The time of all tasks."""
        times = [event["ts"] for event in self.events if event["ph"] != "M"]
        return max(times, default=0) / 1e6

    def add(self, tid, begin, end):
        span = (end["ts"] - begin["ts"]) / 1e6
        task = self.tasks.setdefault(tid, {"waits": [], "scopes": 0})
        if begin["cat"] == "task":
            task.update(name=begin["name"], span=span, **end["args"])
        elif begin["cat"] == "wait":
            task["waits"].append((begin["name"], span, end["args"].get("by")))
        task["scopes"] += begin["cat"] == "scope"

    def named(self, name):
        return [task for task in self.tasks.values() if task["name"] == name]
