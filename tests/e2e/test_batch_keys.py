"""e2e/batch_keys - API keys that expire, API keys from a file or a command, and several API keys.

All keys here contain the word "secret", which no output of the program may contain.
"""
import json
import os
import re
import signal
import sys
import threading
import time
import types
import urllib.request

import e2e
from batch_api import Api, ids_of, lines_of, request, requests
from e2e import check, claim, equal
from inputs import rename, rewrite

# A token that tells the server when it was made.
TOKEN = "echo secret-$(date +%s%N)"

# A file with several keys.
KEYS = "# the keys\nsecret-1\n\nsecret-2\nsecret-3\n"


def key_of(call):
    return call.headers.get("authorization", "").removeprefix("Bearer ")


def refuse():
    return 401, {"WWW-Authenticate": "Bearer"}, {"error": {"code": "invalid_api_key", "message": "no such key"}}


def by_age(life_s, latency_s=0.0):
    """Accept a token of TOKEN for life_s from its first use, so a slow machine never ends a new one."""
    first, lock = {}, threading.Lock()

    def answer(call):
        key = key_of(call)
        with lock:
            young = key.startswith("secret-") and time.monotonic() - first.setdefault(key, time.monotonic()) < life_s
        time.sleep(latency_s)
        return (200, {}, {"id": call.id}) if young else refuse()
    return answer


def by_uses(uses):
    """Accept each token for this number of uses."""
    counts, lock = {}, threading.Lock()

    def answer(call):
        with lock:
            counts[key_of(call)] = counts.get(key_of(call), 0) + 1
            good = counts[key_of(call)] <= uses
        return (200, {}, {"id": call.id}) if good and key_of(call) else refuse()
    return answer


def arguments(eddy, api, content, *args):
    return ("batch", eddy.file("in.jsonl", content), "-o", eddy.file("out.jsonl"), "--base-url", api.url, "--ramp", "0s",
            "--log", eddy.file("log"), *args)


def no_secret(eddy, *texts):
    for name in ("out.jsonl", "out.errors.jsonl", "log"):
        if os.path.exists(eddy.file(name)):
            with open(eddy.file(name), encoding="utf-8") as file:
                check("secret" not in file.read(), "secret in", name)
    for text in texts:
        check("secret" not in text.replace(eddy.file(""), ""), text)


def run(eddy, api, content, *args, **options):
    result = eddy.run(*arguments(eddy, api, content, *args), **options)
    no_secret(eddy, result.out, re.sub("(to re(try|sume)|after correcting it): .*", "", result.err))
    return result


def all_answered(eddy, result, count):
    """Each request has one answer, of its first attempt."""
    equal(result.code, 0, result)
    equal(sorted(ids_of(eddy.file("out.jsonl"))), sorted(f"r{i}" for i in range(count)))
    equal({line["x_meta"]["attempts"] for line in lines_of(eddy.file("out.jsonl"))}, {1})
    check(not lines_of(eddy.file("out.errors.jsonl")), lines_of(eddy.file("out.errors.jsonl"))[:3])


def is_gone(pid):
    return not os.path.exists(f"/proc/{pid}")


def pid_in(path):
    try:
        with open(path, encoding="ascii") as file:
            return int(file.read())
    except (FileNotFoundError, ValueError):
        return 0


# ---- tokens that expire --------------------------------------------------------------------------

@claim
def tokens_that_end_by_a_401_lose_no_request_and_count_no_attempt(eddy):
    api = Api(eddy, by_uses(150))
    result = run(eddy, api, requests(1000), "-c", "64", "--api-key-command", TOKEN, "--max-attempts", "1")
    all_answered(eddy, result, 1000)
    refreshes = int(re.search(r"\nAPI key: refreshed (\d+) times\n", result.err).group(1))
    # One for all in flight: 1,000 answers at 150 a token.
    equal(refreshes, 6, result)
    check(len(api.calls) <= 1000 + 6 * 64, len(api.calls))


@claim
def tokens_that_live_one_or_two_seconds_lose_nothing(eddy):
    for life, more in ((1, ""), (2, "; echo 2")):
        api = Api(eddy, by_age(life, 0.1))
        result = run(eddy, api, requests(1500), "-c", "64", "--api-key-command", TOKEN + more)
        all_answered(eddy, result, 1500)
        check(re.search(r"\nAPI key: refreshed \d+ time", result.err), result)
        os.remove(eddy.file("out.jsonl"))


@claim
def token_is_refreshed_before_its_end(eddy):
    jwt = """p=$(printf '{"exp":%s,"jti":"secret"}' $(($(date +%s) + 2)) | base64 | tr -d '=\\n' | tr / _)
             echo "secret.$p.$(date +%s%N)" """
    made, lock = {}, threading.Lock()

    def answer(call):
        with lock:
            made.setdefault(key_of(call), call.at)
        time.sleep(0.05)
        return 200, {}, {}
    for command in (TOKEN + "; echo 0.5", jwt):
        made.clear()
        api = Api(eddy, answer)
        child = eddy.start(*arguments(eddy, api, requests(4000), "-c", "4", "--api-key-command", command))
        e2e.wait_until(lambda: len(made) >= 3, "three tokens")
        child.send_signal(signal.SIGINT)
        equal(child.wait(timeout=e2e.LIMIT_S), 130)
        os.remove(eddy.file("out.jsonl"))


@claim
def process_that_is_stopped_for_two_lives_of_a_token_goes_on(eddy):
    api = Api(eddy, by_age(1, 0.05))
    child = eddy.start(*arguments(eddy, api, requests(1500), "-c", "32", "--api-key-command", TOKEN + "; echo 1"))
    for part in (200, 600):
        e2e.wait_until(lambda: len(api.calls) > part, "requests")
        child.send_signal(signal.SIGSTOP)
        time.sleep(2)
        child.send_signal(signal.SIGCONT)
    out, err = child.communicate(timeout=e2e.LIMIT_S)
    all_answered(eddy, e2e.Result(child.returncode, out, err, 0), 1500)
    no_secret(eddy, out.decode(), err.decode())


@claim
def token_that_never_helps_stops_the_run_which_can_be_resumed(eddy):
    good = threading.Event()
    api = Api(eddy, lambda call: (200, {}, {}) if good.is_set() else refuse())
    result = run(eddy, api, requests(200), "-c", "16", "--api-key-command", TOKEN)
    check(result.code == 5 and "three new ones from --api-key-command did not help" in result.err, result)
    check("\nafter correcting it: eddy batch" in result.err, result)
    equal(result.err.count("stopping: "), 1, result)
    equal((lines_of(eddy.file("out.jsonl")), lines_of(eddy.file("out.errors.jsonl"))), ([], []))
    check(len(api.calls) <= 4 * 16, len(api.calls))
    good.set()
    all_answered(eddy, run(eddy, api, requests(200), "-c", "16", "--api-key-command", TOKEN), 200)


@claim
def request_that_no_token_helps_is_an_error_and_the_others_are_answered(eddy):
    # If two were refused at once after all others are answered, the key would be at fault.
    for concurrency, bad in (("1", {"r7", "r70", "r71"}), ("8", {"r7"})):
        api = Api(eddy, lambda call, bad=bad: refuse() if call.id in bad else (200, {}, {}))
        result = run(eddy, api, requests(200), "-c", concurrency, "--api-key-command", TOKEN)
        equal(result.code, 1, result)
        equal(set(ids_of(eddy.file("out.errors.jsonl"))), bad)
        equal(len(ids_of(eddy.file("out.jsonl"))), 200 - len(bad))
        for name in ("out.jsonl", "out.errors.jsonl"):
            os.remove(eddy.file(name))


@claim
def rerun_with_only_requests_that_have_a_401_of_their_own_writes_their_answers(eddy):
    bad = {f"r{i}" for i in range(100, 112)}
    env = {**os.environ, "KEY": "secret"}
    api = Api(eddy, lambda call: refuse() if call.id in bad else (200, {}, {}))
    for args in (["--api-key-env", "KEY"], ["--api-key-file", eddy.file("one", "secret\n")],
                 ["--api-key-file", eddy.file("several", KEYS)], ["--api-key-command", TOKEN]):
        # The first run ends before the key is in doubt: five or more refusals in a row are about the key.
        result = run(eddy, api, requests(100), *args, env=env)
        equal(result.code, 0, result)
        for number in sorted(bad):
            with open(eddy.file("out.errors.jsonl"), "a", encoding="ascii") as errors:
                errors.write(json.dumps({"custom_id": number, "response": {"status_code": 401, "body": {}}, "error": None}) + "\n")
        for _ in range(2):
            result = run(eddy, api, requests(112), "-c", "6", *args, env=env)
            check(result.code == 1 and "stopping: " not in result.err, args, result)
            equal(set(ids_of(eddy.file("out.errors.jsonl"))), bad)
            check(all(line["response"]["status_code"] == 401 for line in lines_of(eddy.file("out.errors.jsonl"))), result)
        # Others show that the key is wrong, though an earlier one was right.
        bad.update(f"r{i}" for i in range(112, 200))
        result = run(eddy, api, requests(200), "-c", "6", *args, env=env)
        equal(result.code, 5, args, result)
        bad.difference_update(f"r{i}" for i in range(112, 200))
        for name in ("out.jsonl", "out.errors.jsonl"):
            os.remove(eddy.file(name))


@claim
def tokens_of_the_mock_end_while_many_are_in_flight(eddy):
    # The mock's own tokens: nothing of them may be in an output either.
    fetch = "import sys, urllib.request as u; print(u.urlopen(sys.argv[1], b'').read().decode(), end='')"
    url = eddy.mock("--token-life", "1s", "--latency", "50ms", "--errors", "2%", "--seed", "5")
    content = "".join(json.dumps({"custom_id": f"r{i}", "url": "/v1/embeddings", "body": {"model": "m", "input": f"n{i}"}}) + "\n"
                      for i in range(2500))
    for form in ("lines", "opaque", "jwt"):
        command = f"{sys.executable} -c \"{fetch}\" '{url}/oauth/token?form={form}'"
        result = run(eddy, types.SimpleNamespace(url=url), content, "-c", "64", "--api-key-command", command)
        equal((result.code, len(set(ids_of(eddy.file("out.jsonl"))))), (0, 2500), result)
        with open(eddy.file("out.jsonl"), encoding="utf-8") as out, open(eddy.file("log"), encoding="utf-8") as log:
            check("mock_" not in out.read() + log.read() + result.err + result.out, result)
        os.remove(eddy.file("out.jsonl"))


# ---- the command ---------------------------------------------------------------------------------

@claim
def command_that_fails_ends_the_run_with_one_sentence(eddy):
    api = Api(eddy)
    for command, words in (
            ("exit 3", "exit code 3"),
            ("echo secret; exit 1", "exit code 1"),
            ("no-such-program-at-all", "exit code 127"),
            ("kill -9 $$", "signal 9"),
            ("true", "it printed nothing"),
            ("echo", "line 1 of its output is empty"),
            ("printf 'secret\\001\\n'", "cannot be a header's value"),
            ("printf 'se\\000cret\\n'", "cannot be a header's value"),
            ("echo '{\"access_token\":\"secret\"}'", "is JSON"),
            ("echo secret; echo soon", "line 2 of its output is not a number of seconds"),
            ("head -c 70000 /dev/zero | tr '\\0' s", "more than 64 KiB")):
        result = run(eddy, api, requests(3), "--api-key-command", command)
        equal(result.code, 5, command, result)
        line = [line for line in result.err.splitlines() if "stopping: " in line]
        check(len(line) == 1 and "--api-key-command: " in line[0] and words in line[0], command, result)
        check("\nafter correcting it: " in result.err and "stopped: --api-key-command has failed" in result.err, result)
    equal((len(api.calls), lines_of(eddy.file("out.jsonl"))), (0, []))
    # Later in a run: what was answered stays, and the rest is sent by the next run.
    count = eddy.file("count", "")
    command = f"echo x >>{count}; [ $(wc -l <{count}) -lt 3 ] && {TOKEN}"
    api = Api(eddy, by_uses(10))
    result = run(eddy, api, requests(100), "-c", "2", "--api-key-command", command)
    check(result.code == 5 and "exit code 1" in result.err, result)
    equal((len(lines_of(eddy.file("out.jsonl"))), lines_of(eddy.file("out.errors.jsonl"))), (20, []))
    all_answered(eddy, run(eddy, api, requests(100), "-c", "2", "--api-key-command", TOKEN), 100)


def counted(eddy, command):
    """The command, and a function that returns how often it was run."""
    path = eddy.file("count", "")

    def count():
        with open(path, encoding="ascii") as file:
            return len(file.readlines())
    return f"echo x >>{path}; N=$(wc -l <{path}); {command}", count


@claim
def command_that_takes_longer_than_its_token_lives_is_run_after_a_401_only(eddy):
    command, count = counted(eddy, "sleep 1.2; " + TOKEN + "; echo 1")
    for answer, code, runs in ((lambda call: (200, {}, {}), 0, 1), (by_uses(50), 0, 2), (lambda call: refuse(), 5, 4)):
        eddy.file("count", "")
        api = Api(eddy, answer)
        result = run(eddy, api, requests(100), "-c", "4", "--api-key-command", command)
        equal((result.code, count()), (code, runs), result)
        if code == 0:
            all_answered(eddy, result, 100)
            os.remove(eddy.file("out.jsonl"))


@claim
def request_whose_401_comes_after_the_token_was_replaced_is_not_repeated_for_ever(eddy):
    seen, more = [], threading.Condition()

    def answer(call):
        with more:
            if not seen or seen[-1] != key_of(call):
                seen.append(key_of(call))
                more.notify_all()
            size = len(seen)
            if call.id == "r0":
                # If the command has taken longer than its token lives, only a 401 makes it run again.
                more.wait_for(lambda: len(seen) > size, 3)
                return refuse()
        time.sleep(0.005)
        return 200, {}, {}
    api = Api(eddy, answer)
    child = eddy.start(*arguments(eddy, api, requests(200000), "-c", "4", "--api-key-command", TOKEN + "; echo 0.1"))
    errors = eddy.file("out.errors.jsonl")
    e2e.wait_until(lambda: child.poll() is not None or (os.path.exists(errors) and os.path.getsize(errors)),
                   "the 401 as an answer", e2e.LIMIT_S)
    child.send_signal(signal.SIGINT)
    equal((child.wait(timeout=e2e.LIMIT_S), ids_of(errors)), (130, ["r0"]))


@claim
def command_that_fails_while_its_token_lives_is_tried_again(eddy):
    command, count = counted(eddy, "[ $N -ne 2 ] || exit 4; " + TOKEN + "; echo 2")
    seen = set()

    def answer(call):
        seen.add(key_of(call))
        time.sleep(0.02)
        return 200, {}, {}
    api = Api(eddy, answer)
    child = eddy.start(*arguments(eddy, api, requests(100000), "-c", "2", "--api-key-command", command))
    e2e.wait_until(lambda: len(seen) > 1, "the second token")
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=e2e.LIMIT_S)
    check(child.returncode == 130 and count() >= 3, child.returncode, count(), err)
    check(b"--api-key-command: it ended with the exit code 4; the previous key is used until it expires" in err, err)
    no_secret(eddy, out.decode(), err.decode().split("to resume:")[0])
    # If it always fails, the end of the token is the end of the run.
    eddy.file("count", "")
    result = run(eddy, api, requests(100000), "-c", "2", "--api-key-command", command.replace("-ne 2", "-lt 2"))
    check(result.code == 5 and "stopping: --api-key-command: it ended with the exit code 4" in result.err, result)


@claim
def child_that_keeps_the_output_of_the_command_open_is_not_waited_for(eddy):
    child = eddy.file("child")
    for command in (f"{TOKEN}; sleep 600 & echo $! >{child}", f"{TOKEN}; setsid sh -c 'echo $$ >{child}; exec sleep 600' 2>/dev/null & until [ -s {child} ]; do sleep 0.1; done"):
        eddy.file("child", "")
        result = run(eddy, Api(eddy), requests(3), "--api-key-command", command)
        all_answered(eddy, result, 3)
        check(result.seconds < e2e.SOON, result)
        if "setsid" in command:  # it has left the group of the command
            os.kill(pid_in(child), signal.SIGKILL)
        e2e.wait_until(lambda: is_gone(pid_in(child)), "the end of the child")
        os.remove(eddy.file("out.jsonl"))


@claim
def command_has_no_input_and_its_output_may_be_slow_and_in_crlf(eddy):
    api = Api(eddy)
    result = run(eddy, api, requests(3), "--api-key-command", "cat; printf 'secret-'; sleep 1; printf 'a\\r\\n60\\r\\n'",
                 "--api-key-header", "X-Key")
    all_answered(eddy, result, 3)
    equal({call.headers["x-key"] for call in api.calls}, {"secret-a"})


@claim
def exit_code_of_the_command_is_known_though_the_parent_ignores_sigchld(eddy):
    api = Api(eddy)
    for command, code in ((TOKEN, 0), (TOKEN + "; exit 4", 5)):
        result = run(eddy, api, requests(3), "--api-key-command", command,
                     preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        check(result.code == code and (code == 0 or "exit code 4" in result.err), result)
        os.remove(eddy.file("out.jsonl"))


@e2e.first
@claim
def command_that_hangs_is_ended_after_thirty_seconds_with_its_children(eddy):
    api, child = Api(eddy), eddy.file("child")
    result = run(eddy, api, requests(3), "--api-key-command", f"sleep 600 & echo $! >{child}; wait")
    check(result.code == 5 and "did not end within 30 s" in result.err and 30 <= result.seconds < 60, result)
    equal(len(api.calls), 0)
    e2e.wait_until(lambda: is_gone(pid_in(child)), "the end of the child")


@claim
def last_request_that_is_refused_is_an_error_though_others_were_answered_meanwhile(eddy):
    refused, gate = [], threading.Event()

    def answer(call):
        if call.id == "r9":
            refused.append(call.id)
            gate.set()
            return refuse()
        # Answered after the first refusal, so the count of refusals begins again.
        check(gate.wait(60))
        return 200, {}, {}
    api = Api(eddy, answer)
    result = run(eddy, api, requests(10), "-c", "10", "--api-key-command", TOKEN)
    equal((result.code, len(lines_of(eddy.file("out.jsonl")))), (1, 9), result)
    equal(ids_of(eddy.file("out.errors.jsonl")), ["r9"])


@claim
def signal_or_deadline_during_the_command_ends_it_at_once_with_its_children(eddy):
    api = Api(eddy)
    for code, more in ((130, []), (143, []), (75, ["--deadline", "300ms"])):
        shell, child = eddy.file("shell", ""), eddy.file("child", "")
        command = f"echo $$ >{shell}; sleep 600 & echo $! >{child}; wait"
        begin = time.monotonic()
        process = eddy.start(*arguments(eddy, api, requests(9), "--api-key-command", command, *more))
        e2e.wait_until(lambda: (pid_in(shell) and pid_in(child)) or process.poll() is not None, "the command")
        if not more:
            process.send_signal(code - 128)
        out, err = process.communicate(timeout=e2e.LIMIT_S)
        equal(process.returncode, code, err)
        check(time.monotonic() - begin < e2e.SOON, err)
        for path in (shell, child):
            if pid_in(path):
                e2e.wait_until(lambda: is_gone(pid_in(path)), "the end of the command")
    equal(len(api.calls), 0)


# ---- the file ------------------------------------------------------------------------------------

@claim
def file_that_changes_is_read_again(eddy):
    for change in (rename, rewrite):
        keys = []
        path = eddy.file("key", "secret-0\n")

        def answer(call):
            # The old key is refused as soon as the file has the new one.
            with api.lock:
                if len(keys) < 4 and call.number == 100 * (len(keys) + 1):
                    keys.append(f"secret-{len(keys) + 1}")
                    change(path, keys[-1] + "\n")
                return (200, {}, {}) if key_of(call) == (keys[-1] if keys else "secret-0") else refuse()
        api = Api(eddy, answer)
        result = run(eddy, api, requests(800), "-c", "32", "--api-key-file", path)
        all_answered(eddy, result, 800)
        equal(len(keys), 4)
        os.remove(eddy.file("out.jsonl"))


@claim
def file_that_changes_is_noticed_without_a_401(eddy):
    path, seen = eddy.file("key", "secret-0\n"), set()

    def answer(call):
        seen.add(key_of(call))
        time.sleep(0.02)
        return 200, {}, {}
    api = Api(eddy, answer)
    child = eddy.start(*arguments(eddy, api, requests(100000), "-c", "2", "--api-key-file", path))
    e2e.wait_until(lambda: "secret-0" in seen, "the first key")
    rename(path, "# a comment\n\nsecret-1\r\n")
    e2e.wait_until(lambda: "secret-1" in seen, "the second key")
    for content in ("", "\0\n", None):
        if content is None:
            os.remove(path)
        else:
            rewrite(path, content)
        number = len(api.calls)
        e2e.wait_until(lambda: len(api.calls) > number + 150, "more requests")
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=e2e.LIMIT_S)
    equal((child.returncode, seen), (130, {"secret-0", "secret-1"}), err)
    equal(err.count(b"the previous key is kept"), 1, err)
    no_secret(eddy, out.decode(), err.decode())


@claim
def file_that_does_not_change_after_a_401_stops_the_run_which_can_be_resumed(eddy):
    path = eddy.file("key", "secret-0\n")
    api = Api(eddy, by_uses(50))
    result = run(eddy, api, requests(200), "-c", "8", "--api-key-file", path)
    check(result.code == 5 and "three new ones from --api-key-file did not help" in result.err, result)
    equal((len(lines_of(eddy.file("out.jsonl"))), lines_of(eddy.file("out.errors.jsonl"))), (50, []))
    for number in range(1, 4):
        rename(path, f"secret-{number}\n")
        result = run(eddy, api, requests(200), "-c", "8", "--api-key-file", path)
        equal(result.code, 5 if number < 3 else 0, result)
    all_answered(eddy, result, 200)


# ---- several keys --------------------------------------------------------------------------------

@claim
def each_of_several_keys_takes_its_share_and_has_its_own_pause(eddy):
    # A run that waited for the pause of an hour would not end within the limit of a test.
    api = Api(eddy, lambda call: (429, {"Retry-After": "3600"}, {}) if key_of(call) == "secret-2"
              else (time.sleep(0.02), (200, {}, {}))[1])
    result = run(eddy, api, requests(300), "-c", "12", "--api-key-file", eddy.file("key", KEYS), "--max-throttle-wait", "2h")
    all_answered(eddy, result, 300)
    counts = {key: sum(key_of(call) == key for call in api.calls) for key in ("secret-1", "secret-2", "secret-3")}
    check(min(counts["secret-1"], counts["secret-3"]) > 50 and counts["secret-2"] < 20, counts)
    check(re.search(r", key 2 of 3: \d+ attempts, 0 ok, paused 1 time", result.err), result)


@claim
def key_that_is_refused_or_used_up_is_left_and_the_last_one_ends_the_run(eddy):
    left = {"secret-1": 40, "secret-3": 60}
    lock = threading.Lock()

    def answer(call):
        with lock:
            if key_of(call) == "secret-2":
                return refuse()
            left[key_of(call)] -= 1
            if left[key_of(call)] < 0:
                return 429, {}, {"error": {"code": "insufficient_quota", "message": "no quota"}}
            return 200, {}, {}
    for url in ("/v1/echo", None):
        left.update({"secret-1": 40, "secret-3": 60})
        api = Api(eddy, answer)
        path = eddy.file("key", KEYS)
        content = "".join(request(i, url=url or api.url + "/v1/echo") for i in range(200))
        result = run(eddy, api, content, "-c", "6", "--api-key-file", path)
        equal(result.code, 5, result)
        equal((len(lines_of(eddy.file("out.jsonl"))), lines_of(eddy.file("out.errors.jsonl"))), (100, []))
        check("key 2 of 3 refuses this API key (401); requests go to the other keys\n" in result.err, result)
        equal(result.err.count("the quota of this API key is used up (insufficient_quota)"), 2, result)
        equal(result.err.count("stopping: "), 1, result)
        left.update({"secret-1": 200, "secret-3": 200})
        equal(run(eddy, api, content, "-c", "6", "--api-key-file", path).code, 0)
        equal(len(ids_of(eddy.file("out.jsonl"))), 200)
        os.remove(eddy.file("out.jsonl"))


@claim
def keys_of_a_changed_file_take_the_places_of_those_that_have_gone(eddy):
    path = eddy.file("key", KEYS)
    seen, good = set(), {"secret-1", "secret-3"}

    def answer(call):
        seen.add(key_of(call))
        time.sleep(0.01)
        return (200, {}, {}) if key_of(call) in good else refuse()
    api = Api(eddy, answer)
    child = eddy.start(*arguments(eddy, api, requests(100000), "-c", "6", "--api-key-file", path))
    e2e.wait_until(lambda: {"secret-1", "secret-2", "secret-3"} <= seen, "all keys")
    good.add("secret-4")
    rename(path, "secret-1\nsecret-4\n")
    e2e.wait_until(lambda: "secret-4" in seen, "the new key")
    number = len(api.calls)
    e2e.wait_until(lambda: len(api.calls) > number + 300, "more requests")
    check(not {"secret-2", "secret-3"} & {key_of(call) for call in api.calls[number + 100:]}, seen)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=e2e.LIMIT_S)
    equal(child.returncode, 130, err)
    check(not lines_of(eddy.file("out.errors.jsonl")), err)
    no_secret(eddy, out.decode(), err.decode())


@claim
def summary_log_and_metrics_name_keys_by_number(eddy):
    hold, second = threading.Event(), threading.Event()

    def answer(call):
        if call.number == 0:  # while the first key is in use, the second is used
            second.wait(e2e.LIMIT_S)
        second.set()
        if call.number > 20:
            hold.wait(e2e.LIMIT_S)
        return 200, {}, {}
    api = Api(eddy, answer)
    child = eddy.start(*arguments(eddy, api, requests(40), "-c", "6", "--api-key-file", eddy.file("key", KEYS), "--metrics",
                                  "127.0.0.1:0", "--summary", "json"))
    where = re.search(rb"http://\S+", child.stderr.readline()).group().decode()
    e2e.wait_until(lambda: len(api.calls) > 20, "requests")
    with urllib.request.urlopen(where) as page:
        page = page.read().decode()
    hold.set()
    out, err = child.communicate(timeout=e2e.LIMIT_S)
    equal(child.returncode, 0, err)
    check(f'endpoint="{api.url}, key 2 of 3"' in page and "batch_key_refreshes_total 0" in page, page)
    endpoints = json.loads(err.splitlines()[-1])["x_eddy"]["endpoints"]
    equal([(one["name"], one["key"]) for one in endpoints], [(api.url, 1), (api.url, 2), (api.url, 3)])
    with open(eddy.file("log"), encoding="utf-8") as log:
        check(", key 3 of 3" in log.read())
    equal({line["x_meta"]["endpoint"] for line in lines_of(eddy.file("out.jsonl"))}, {api.url})
    no_secret(eddy, page, out.decode(), err.decode())


@claim
def value_of_a_secret_header_that_a_server_repeats_is_not_shown(eddy):
    for name, value in (("Authorization", "Bearer secret-abcdefgh"), ("api-key", "secret-abcdefgh"), ("X-Api-Key", "secret-abcdefgh"),
                        ("Cookie", "session=secret-abcdefgh")):
        repeated = value.removeprefix("Bearer ")
        api = Api(eddy, lambda call, repeated=repeated: (400, {}, {"error": {"message": f"Incorrect API key provided: {repeated}"}}))
        result = eddy.run(*arguments(eddy, api, requests(30), "-H", f"{name}: {value}"))
        check(result.code == 5 and "secret" not in result.err, name, result)
        # The same header in the lines.
        os.remove(eddy.file("out.errors.jsonl"))
        for count, code in ((30, 5), (1, 1)):
            lines = "".join(request(i, headers={name: value, "X-Trace": "visible"}) for i in range(count))
            result = eddy.run(*arguments(eddy, api, lines))
            check(result.code == code and "secret" not in result.err, name, result)
            os.remove(eddy.file("out.errors.jsonl"))
    api = Api(eddy, lambda call: (400, {}, {"error": {"message": "Incorrect trace: visible"}}))
    result = eddy.run(*arguments(eddy, api, request(1, headers={"X-Trace": "visible"})))
    check("Incorrect trace: visible" in result.err, result)


# ---- mistakes ------------------------------------------------------------------------------------

@claim
def mistakes_in_the_options_of_keys_are_refused(eddy):
    env = {**os.environ, "KEY": "secret"}
    file = eddy.file("key", "k\n")
    path = eddy.file("in.jsonl", requests(1))
    for args, words in (
            (["--api-key-env", "KEY", "--api-key-command", "x"], "--api-key-command: an API key was given already; give one"),
            (["--api-key-command", "x", "--api-key-file", file], "--api-key-file: an API key was given already; give one"),
            (["--api-key-command", "x", "--api-key-command", "y"], "give one"),
            (["--api-key-command", " "], "--api-key-command: it is empty"),
            (["--api-key-file", eddy.file("empty", "# secret\n")], "it is empty"),
            (["--api-key-file", eddy.file("bad", "k\nsecret\x01\n")], "line 2: it cannot be a header's value"),
            (["--api-key-file", eddy.file("many", "".join(f"secret{i}\n" for i in range(65)))], "more than 64 keys"),
            (["--api-key-header", "X"], "needs --api-key-env, --api-key-file or --api-key-command")):
        result = eddy.run("batch", path, "-o", eddy.file("out"), "--base-url", "http://127.0.0.1:1", *args, env=env)
        check(result.code == 2 and words in result.err and "secret" not in result.err, args, result)
    result = eddy.run("batch", path, "-o", eddy.file("out"), "--api-key-command", "x")
    e2e.one_line(result, 2, "an API key is sent to the hosts of --base-url and --url only")


e2e.main()
