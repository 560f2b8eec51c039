"""test_batch_servers - `eddy batch` with a list of servers in a file: they come, go, die and come back
while it runs, and there may be thousands of them.
"""
import json
import os
import re
import resource
import selectors
import signal
import socket
import subprocess
import threading

import e2e
from batch_api import Api, ids_of, lines_of, lines_so_far, request, requests
from e2e import check, claim, equal
from inputs import rename, rewrite

FULL = os.environ.get("EDDY_TEST_FULL") == "1"
MANY = 4096


def listed(*apis):
    return "".join(api.url + "\n" for api in apis)


class Gate:
    """Answers of a server wait while the gate is closed."""

    def __init__(self, api):
        self.event = threading.Event()
        self.event.set()
        api.answer = self.answer

    def answer(self, call):
        check(self.event.wait(e2e.LIMIT_S), "the gate stays closed")
        return 200, {}, {}


def arguments(eddy, content, *args):
    return ["batch", eddy.file("in.jsonl", content), "-o", eddy.file("out.jsonl"), "--progress", "off", *args]


def start(eddy, content, *args, **options):
    err = open(eddy.file("err"), "wb")
    eddy.stack.callback(err.close)
    return eddy.start(*arguments(eddy, content, *args), stderr=err, **options)


def said(eddy):
    with open(eddy.file("err"), encoding="utf-8") as file:
        return file.read()


def wait_said(eddy, words, count=1):
    e2e.wait_until(lambda: said(eddy).count(words) >= count, f"{words}: {said(eddy)}")


def more_calls(api, count=1):
    number = len(api.calls)
    e2e.wait_until(lambda: len(api.calls) >= number + count, "requests of a server")


def end(eddy, child, code, count=None):
    child.wait(timeout=e2e.LIMIT_S)
    equal(child.returncode, code, said(eddy))
    if count is not None:
        equal(len(set(ids_of(eddy.file("out.jsonl")))), count)
        equal(len(ids_of(eddy.file("out.jsonl"))), count)
        equal(lines_of(eddy.file("out.errors.jsonl")), [])


def stop(eddy, child):
    child.send_signal(signal.SIGINT)
    child.wait(timeout=e2e.LIMIT_S)
    equal(child.returncode, 130, said(eddy))
    ids = ids_of(eddy.file("out.jsonl"))
    equal(len(ids), len(set(ids)))


# ---- the list at the start ------------------------------------------------------------------------

@claim
def urls_of_a_file_and_of_options_share_the_requests(eddy):
    apis = [Api(eddy) for _ in range(3)]
    path = eddy.file("list", f"# servers\n\n{listed(*apis[:2])}  {apis[0].url}/ \r\n{apis[2].url}\n")
    result = eddy.run(*arguments(eddy, requests(200), "-c", "6", "--base-url", "@" + path, "--base-url", apis[2].url))
    equal(result.code, 0, result)
    check(all(api.calls for api in apis) and sum(len(api.calls) for api in apis) == 200, result)
    # A pipe and standard input are read once.
    for number, (name, options) in enumerate((("-", {"stdin": listed(*apis).encode()}), ("/dev/stdin", {"stdin": listed(*apis).encode()}))):
        result = eddy.run("batch", eddy.file("in.jsonl"), "-o", eddy.file(f"out{number}.jsonl"), "-c", "6", "--base-url", "@" + name, **options)
        equal(result.code, 0, result)


@claim
def mistakes_in_a_list_are_refused_before_the_run(eddy):
    for content, words in (
            ("http://a\nhost:80\n", "line 2: host:80: write http://HOST[:PORT][/PATH] or https, without ? and #"),
            ("http://a?b\n", "line 1: http://a?***: write http://HOST"),
            ("http://a,http://b\n", "line 1: http://a,http://b: this is more than one URL; write each on its own line"),
            ("http://{{x}}/\n", "{{name}} is replaced in --url, --body and -H only"),
            ("\0\n", "line 1: "), ("\n# none\n", "it has no URL; write one per line"), ("", "it has no URL"),
            ("".join(f"http://h{i}\n" for i in range(MANY + 1)), "line 4097: http://h4096: at most 4,096 base URLs are possible")):
        path = eddy.file("list", content)
        for command in (arguments(eddy, requests(1)), ["check", eddy.file("in.jsonl")]):
            result = eddy.run(*command, "--base-url", "@" + path)
            e2e.one_line(result, 2, f"--base-url @{path}: ")
            check(words in result.err, content, result)
    for args, words in ((["@/nowhere"], "--base-url @/nowhere: No such file or directory"),
                        (["@" + path, "@b"], f"--base-url @b: @{path} was given already; give one file"),
                        (["http://a", "http://A/"], "--base-url http://A/: it is given twice; give it once")):
        result = eddy.run(*arguments(eddy, requests(1)), *(word for arg in args for word in ("--base-url", arg)))
        e2e.one_line(result, 2, words)
    for command in (["batch", "-", "-o", eddy.file("no.jsonl")], ["check", "-"]):
        e2e.one_line(eddy.run(*command, "--base-url", "@-", stdin=requests(1).encode()), 2,
                     "--base-url @-: the requests are read from standard input, which is read only once; name a file")
    keys = eddy.file("keys", "".join(f"k{i}\n" for i in range(2)))
    result = eddy.run(*arguments(eddy, requests(1)), "--api-key-file", keys, "--base-url",
                      "@" + eddy.file("list", "".join(f"http://h{i}\n" for i in range(MANY // 2 + 1))))
    e2e.one_line(result, 2, "2049 URLs with several API keys; at most 4,096 are possible")
    equal(os.path.exists(eddy.file("out.jsonl")), False)


@claim
def check_reads_the_list_and_estimates_with_all_of_it(eddy):
    path = eddy.file("list", "".join(f"http://h{i}/v1\n" for i in range(MANY)))
    result = eddy.run("check", eddy.file("in.jsonl", requests(8192)), "--base-url", "@" + path, "--rpm", "1")
    check(result.code == 0 and "POST http://h0/v1/echo" in result.out, result)
    check("2m" in result.out or "1m" in result.out, result)


# ---- servers that come and go ---------------------------------------------------------------------

@claim
def new_server_gets_requests_and_one_that_is_gone_gets_none_whatever_changes_the_file(eddy):
    for change in (rename, rewrite):
        one, two = Api(eddy), Api(eddy)
        gates = Gate(one), Gate(two)
        path = eddy.file("list", listed(one))
        child = start(eddy, requests(50000), "-c", "4", "--base-url", "@" + path)
        more_calls(one)
        change(path, listed(one, two))
        more_calls(two)
        wait_said(eddy, "1 added, 0 removed: 2 base URLs now")
        # The requests that are in flight to a server end, and no other is sent.
        gates[0].event.clear()
        change(path, listed(two))
        wait_said(eddy, "0 added, 1 removed: 1 base URL now")
        number = len(one.calls)
        gates[0].event.set()
        more_calls(two, 200)
        check(len(one.calls) <= number + 4, len(one.calls), number)  # some were on their way
        # It comes back.
        change(path, listed(two, one))
        more_calls(one, 50)
        stop(eddy, child)
        count = len(lines_of(eddy.file("out.jsonl")))
        check(len(one.calls) + len(two.calls) - count <= 4, count)
        summary = re.search(re.escape(one.url) + r": ([\d,]+) attempts", said(eddy))
        equal(int(summary[1].replace(",", "")), len(one.calls), said(eddy))
        os.remove(eddy.file("out.jsonl"))


@claim
def link_as_kubernetes_makes_it_is_followed(eddy):
    one, two = Api(eddy), Api(eddy)
    folder = eddy.file("volume")
    for name, api in (("..one", one), ("..two", two)):
        os.makedirs(os.path.join(folder, name))
        rewrite(os.path.join(folder, name, "list"), listed(api))
    os.symlink("..one", os.path.join(folder, "..data"))
    os.symlink("..data/list", os.path.join(folder, "list"))
    child = start(eddy, requests(50000), "-c", "4", "--base-url", "@" + os.path.join(folder, "list"))
    more_calls(one)
    os.symlink("..two", os.path.join(folder, "..data_tmp"))
    os.rename(os.path.join(folder, "..data_tmp"), os.path.join(folder, "..data"))
    more_calls(two, 100)
    wait_said(eddy, "1 added, 1 removed: 1 base URL now")
    number = len(one.calls)
    more_calls(two, 100)
    equal(len(one.calls), number)
    stop(eddy, child)


@claim
def list_that_cannot_be_used_is_said_once_and_the_old_one_stays(eddy):
    one, two = Api(eddy), Api(eddy)
    path = eddy.file("list", listed(one))
    child = start(eddy, requests(50000), "-c", "4", "--base-url", "@" + path)
    more_calls(one)
    rewrite(path, listed(two) + "wrong\n")
    wait_said(eddy, f"--base-url @{path}: line 2: wrong: write http://HOST")
    rewrite(path, "wrong again\n")
    os.remove(path)
    more_calls(one, 100)
    equal(len(two.calls), 0)
    rewrite(path, listed(one, two))
    more_calls(two)
    # After a good list, the next fault is said.
    os.remove(path)
    wait_said(eddy, "No such file or directory; the previous base URLs are kept")
    os.mkfifo(path)
    more_calls(one, 100)
    os.remove(path)
    rewrite(path, listed(two))
    wait_said(eddy, "0 added, 1 removed: 1 base URL now")
    stop(eddy, child)
    equal(said(eddy).count("the previous base URLs are kept"), 2, said(eddy))


@claim
def requests_wait_while_the_list_is_empty_and_the_run_ends_resumable_in_the_end(eddy):
    one, two = Api(eddy), Api(eddy)
    path = eddy.file("list", listed(one))
    for wait, code in (("60m", 0), ("1s", 75)):
        gate = Gate(one)
        more = [] if code else ["--limit", "3000"]
        child = start(eddy, requests(50000), "-c", "4", "--base-url", "@" + path, "--max-throttle-wait", wait, *more)
        more_calls(one)
        gate.event.clear()
        rewrite(path, "")
        wait_said(eddy, "names no server to which requests can be sent: they wait for one")
        gate.event.set()
        if code == 0:
            rewrite(path, listed(two))
            more_calls(two, 100)
        child.wait(timeout=e2e.LIMIT_S)
        equal(child.returncode, code, said(eddy))
        equal("has named no server for 1.0s (--max-throttle-wait)" in said(eddy), code == 75, said(eddy))
        rewrite(path, listed(one))
        ids = ids_of(eddy.file("out.jsonl"))
        equal(len(ids), len(set(ids)))
        equal(lines_of(eddy.file("out.errors.jsonl")), [])


@claim
def server_that_is_killed_costs_no_request_and_is_used_again_when_it_is_back(eddy):
    first, second = (eddy.mock("--latency", "20ms"), eddy.child), (eddy.mock("--latency", "20ms"), eddy.child)
    path = eddy.file("list", first[0] + "\n" + second[0] + "\n")
    child = start(eddy, requests(3000).replace("/v1/echo", "/v1/embeddings").replace('"body": {', '"body": {"model": "m", "input": "x", '),
                  "-c", "8", "--base-url", "@" + path, "--retry-base", "50ms")
    e2e.wait_until(lambda: lines_so_far(eddy.file("out.jsonl")) > 100, "answers")
    first[1].kill()
    first[1].wait()
    rename(path, second[0] + "\n")
    wait_said(eddy, "0 added, 1 removed: 1 base URL now")
    again = eddy.mock("--listen", first[0].removeprefix("http://"), "--latency", "20ms")
    equal(again, first[0])
    rename(path, first[0] + "\n" + second[0] + "\n")
    wait_said(eddy, "1 added, 0 removed: 2 base URLs now")
    end(eddy, child, 0, 3000)


@claim
def server_that_is_listed_before_it_listens_is_not_given_up(eddy):
    one = Api(eddy)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and does not listen
        late = f"http://127.0.0.1:{taken.getsockname()[1]}"
        path = eddy.file("list", listed(one) + late + "\n")
        child = start(eddy, requests(50000), "-c", "4", "--base-url", "@" + path)
        wait_said(eddy, f"{late} cannot be reached")
        taken.listen()
        taken.settimeout(e2e.LIMIT_S)
        connection, _ = taken.accept()
        connection.close()
    check("requests go to the other base URLs" not in said(eddy), said(eddy))
    stop(eddy, child)


@claim
def server_of_a_list_that_accepts_nothing_while_others_do_gets_no_more_requests(eddy):
    for status in (404, 401):
        one, wrong = Api(eddy), Api(eddy, lambda call: (status, {}, {"error": {"message": "no"}}))
        gate = Gate(one)
        path = eddy.file("list", listed(one))
        output = eddy.file(f"out{status}.jsonl")
        err = open(eddy.file("err"), "wb")
        eddy.stack.callback(err.close)
        child = eddy.start("batch", "-", "-o", output, "--progress", "off", "-c", "8", "--base-url", "@" + path, "--retry-base", "20ms",
                           "--max-attempts", "30", stdin=subprocess.PIPE, stderr=err)
        child.stdin.write(requests(50).encode())
        child.stdin.flush()
        e2e.wait_until(lambda: lines_so_far(output) >= 20, "answers")
        rename(path, listed(one) + wrong.url + "/wrong\n")
        wait_said(eddy, "1 added, 0 removed")
        child.stdin.write("".join(request(i) for i in range(50, 1000)).encode())
        child.stdin.close()
        wait_said(eddy, f"({wrong.url}/wrong, status {status}); requests go to the other base URLs")
        end(eddy, child, 0)
        equal(len(set(ids_of(output))), 1000)
        check(5 <= len(wrong.calls) < 100, len(wrong.calls))


@claim
def another_list_continues_the_output_of_a_killed_run(eddy):
    one, two = Api(eddy), Api(eddy)
    Gate(one)
    path = eddy.file("list", listed(one))
    child = start(eddy, requests(2000), "-c", "4", "--base-url", "@" + path)
    more_calls(one, 100)
    child.kill()
    child.wait()
    rewrite(path, listed(two))
    child = start(eddy, requests(2000), "-c", "4", "--base-url", "@" + path, "--ordered")
    end(eddy, child, 0, 2000)
    check(len(two.calls) > 0, said(eddy))


@claim
def each_server_that_comes_gets_all_keys(eddy):
    one, two = Api(eddy), Api(eddy)
    path, keys = eddy.file("list", listed(one)), eddy.file("keys", "k1\nk2\n")
    child = start(eddy, requests(50000), "-c", "8", "--base-url", "@" + path, "--api-key-file", keys, "--rpm", "6000",
                  "--summary", "json")
    more_calls(one)
    rename(path, listed(one, two))
    more_calls(two, 200)
    stop(eddy, child)
    for api in (one, two):
        equal({call.headers["authorization"] for call in api.calls}, {"Bearer k1", "Bearer k2"})
    summary = json.loads(said(eddy).splitlines()[-1])
    equal([(one["name"], one["key"]) for one in summary["x_eddy"]["endpoints"]],
          [(one.url, 1), (one.url, 2), (two.url, 1), (two.url, 2)])


# ---- thousands ------------------------------------------------------------------------------------

class Crowd:
    """A server at thousands of addresses: one port of 127.0.1.1 to 127.0.17.96, in one thread."""

    def __init__(self, eddy, count=MANY):
        self.counts = [0] * count
        self.connections = 0
        self.selector = selectors.DefaultSelector()
        self.listener = socket.create_server(("", 0), backlog=4096)
        self.port = self.listener.getsockname()[1]
        self.urls = [f"http://127.0.{1 + i // 250}.{1 + i % 250}:{self.port}" for i in range(count)]
        self.numbers = {url.split("/")[2].split(":")[0]: i for i, url in enumerate(self.urls)}
        self.listener.setblocking(False)
        self.selector.register(self.listener, selectors.EVENT_READ, None)
        self.closing = False
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()
        eddy.stack.callback(self.close)

    def work(self):
        while not self.closing:
            for key, _ in self.selector.select(0.2):
                if key.data is None:
                    self.accept()
                else:
                    self.answer(key.fileobj, key.data)

    def accept(self):
        try:
            connection, _ = self.listener.accept()
        except OSError:
            return
        connection.setblocking(False)
        self.connections += 1
        self.selector.register(connection, selectors.EVENT_READ,
                               {"number": self.numbers[connection.getsockname()[0]], "data": b""})

    def answer(self, connection, data):
        try:
            piece = connection.recv(65536)
        except OSError:
            piece = b""
        if not piece:
            self.selector.unregister(connection)
            connection.close()
            return
        data["data"] += piece
        if data["data"].endswith(b"}"):
            data["data"] = b""
            self.counts[data["number"]] += 1
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")

    def close(self):
        self.closing = True
        self.thread.join()
        for key in list(self.selector.get_map().values()):
            key.fileobj.close()
        self.selector.close()


@claim
def four_thousand_servers_take_their_requests_and_the_summary_stays_short(eddy):
    crowd = Crowd(eddy, MANY if FULL else 300)
    path = eddy.file("list", "\n".join(crowd.urls) + "\n")
    count = 4 * len(crowd.urls)
    result = eddy.run(*arguments(eddy, requests(count), "-c", "200", "--base-url", "@" + path, "--summary-file", eddy.file("sum.json")))
    equal((result.code, len(set(ids_of(eddy.file("out.jsonl"))))), (0, count), result)
    equal(sum(crowd.counts), count)
    check(f"{len(crowd.urls)} base URLs: at most 200 of them have a request at a time" in result.err, result)
    equal(len(re.findall(r"^http://.* attempt", result.err, re.M)), 10, result)
    check(f"and {len(crowd.urls) - 10:,} more hosts" in result.err, result)
    with open(eddy.file("sum.json"), encoding="utf-8") as file:
        endpoints = json.load(file)["x_eddy"]["endpoints"]
    equal(([one["name"] for one in endpoints], sum(one["attempts"] for one in endpoints)), (crowd.urls, count))
    equal([one["attempts"] for one in endpoints], crowd.counts)


@claim
def servers_that_are_out_of_reach_cost_no_request_though_they_are_most_of_the_list(eddy):
    crowd = Crowd(eddy, 100)
    with socket.socket() as closed:
        closed.bind(("", 0))  # and does not listen
        lost = [url.rsplit(":", 1)[0] + f":{closed.getsockname()[1]}" for url in crowd.urls]
        path = eddy.file("list", "\n".join(lost + crowd.urls) + "\n")
        result = eddy.run(*arguments(eddy, requests(1000), "-c", "50", "--base-url", "@" + path, "--retry-base", "60s"))
    equal((result.code, sum(crowd.counts), lines_of(eddy.file("out.errors.jsonl"))), (0, 1000, []), result)
    equal(result.err.count("cannot be reached: "), 20, result)
    equal(result.err.count("further servers cannot be reached"), 1, result)


@claim
def open_files_that_are_too_few_for_the_servers_are_reported_before_the_run(eddy):
    crowd = Crowd(eddy, 100)
    path = eddy.file("list", "\n".join(crowd.urls) + "\n")
    result = eddy.run(*arguments(eddy, requests(300), "-c", "100", "--base-url", "@" + path),
                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (90, 90)))
    equal((result.code, sum(crowd.counts)), (0, 300), result)
    check("-c 100 reduced to 26: 90 open files allowed (ulimit -n), 64 reserved" in result.err, result)
    check("100 base URLs: at most 26 of them have a request at a time; ulimit -n 164 or more gives one to each" in result.err, result)


@claim
def servers_that_take_turns_keep_their_connections(eddy):
    crowd = Crowd(eddy, 100)
    path = eddy.file("list", "\n".join(crowd.urls) + "\n")
    result = eddy.run(*arguments(eddy, requests(3000), "-c", "8", "--base-url", "@" + path))
    equal((result.code, sum(crowd.counts)), (0, 3000), result)
    check(crowd.connections < 100, "connections:", crowd.connections)


e2e.main()
