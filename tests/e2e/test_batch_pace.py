"""test_batch_pace - how many requests `eddy batch` completes against a server whose capacity changes:
`-c auto` beside each fixed `-c`; and how many it sends in a minute.
"""
import concurrent.futures
import json
import os
import subprocess
import threading

import e2e
from batch_api import Api, ids_of, requests
from e2e import alone, check, claim, equal

QUICK = bool(os.environ.get("EDDY_TEST_QUICK"))
PART = 3 if QUICK else 10  # seconds of each capacity
CAPACITIES = (40, 80, 30)


def completed(eddy, slots):
    """Returns how many requests a run completes, and how many attempts were refused."""
    schedule = ",".join(f"{n}@{i * PART}s" for i, n in enumerate(CAPACITIES))
    mock = eddy.mock("--latency", "50ms", "--capacity", schedule)
    path = eddy.file("in.jsonl", "".join(
        json.dumps({"custom_id": f"r{i}", "method": "POST", "url": "/v1/embeddings",
                    "body": {"model": "m", "input": "x"}}) + "\n" for i in range(6000 * PART)))
    out = eddy.file(f"out-{slots}.jsonl")
    result = eddy.run("batch", path, "-o", out, "--base-url", mock, "-c", slots, "--summary", "json",
                      "--progress", "off", "--deadline", f"{PART * len(CAPACITIES)}s")
    eddy.child.terminate()
    equal(result.code, 75, result)
    return len(ids_of(out)), json.loads(result.err.splitlines()[-1])["x_eddy"]["refused"]


@claim
@alone
def adaptive_concurrency_completes_nearly_as_much_as_the_best_fixed_one(eddy):
    auto, refused = completed(eddy, "auto")
    fixed = {slots: completed(eddy, str(slots))[0] for slots in sorted(set(CAPACITIES))}
    print(f"# auto: {auto} completed, {refused} refused; fixed: {fixed}", flush=True)
    # The first seconds, in which auto has to find the capacity, weigh more in a short run.
    check(auto >= (0.7 if QUICK else 0.9) * max(fixed.values()), auto, fixed)
    check(refused < 0.01 * (auto + refused) + (20 if QUICK else 0), refused, "refused of", auto)


@claim
def burst_does_not_raise_the_bound_of_a_minute(eddy):
    if QUICK:
        raise e2e.Skip("takes more than a minute")
    api = Api(eddy, lambda call: (500 if call.number % 10 == 9 else 200, {}, {}))
    path, out = eddy.file("in.jsonl", requests(1000)), eddy.file("out.jsonl")
    result = eddy.run("batch", path, "-o", out, "--base-url", api.url, "--rpm", "600", "--burst", "30s",
                      "--retry-base", "1ms", "--ramp", "0s", "--progress", "off")
    equal((result.code, len(ids_of(out))), (0, 1000), result)
    times = [call.at for call in api.calls]
    check(len(times) > 1000, len(times), "attempts with those that are repeated")
    check(times[299] - times[0] < 15, "the burst takes", times[299] - times[0])
    # The server notes a request later than the program sends it, by different times.
    check(all(times[i + 600] - times[i] > 59 for i in range(len(times) - 600)), times)


@claim
def eight_shards_stay_within_one_limit_though_some_are_killed(eddy):
    if QUICK:
        raise e2e.Skip("takes more than a minute")
    count, limit, total = 8, 600, 1000
    children, seen, lock, started = {}, [0] * count, threading.Lock(), threading.Event()
    kills = {1: [5, 20, 70], 4: [60], 6: [74, 76]}  # after how many requests of the shard

    def answer(call):
        i = int(call.headers["x-shard"])
        with lock:
            seen[i] += 1
            is_last = seen[i] in kills.get(i, ())
        if is_last:
            started.wait()
            children[i].kill()
        return 200, {}, {}

    api, path = Api(eddy, answer), eddy.file("in.jsonl", requests(total))

    def work(i):
        """Run a shard again until it is not killed."""
        while True:
            child = eddy.start("batch", path, "--shard", f"{i}/{count}", "-o", eddy.file("out.%i.jsonl"), "--base-url",
                               api.url, "--rpm", str(limit), "-H", f"X-Shard: {i}", "--progress", "off",
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            with lock:
                children[i] = child
            if len(children) == count:
                started.set()
            code = child.wait(timeout=e2e.LIMIT_S)
            if code != -9:
                return code

    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        equal(list(pool.map(work, range(count))), [0] * count)
    equal(sorted(custom_id for i in range(count) for custom_id in ids_of(eddy.file(f"out.{i}.jsonl"))),
          sorted(f"r{i}" for i in range(total)))
    times = [call.at for call in api.calls]
    most = max(sum(1 for at in times if first <= at < first + 59) for first in times)
    print(f"# {len(times)} requests in {times[-1] - times[0]:.1f} s, at most {most} in 59 s", flush=True)
    # The server notes a request later than the program sends it, by different times.
    check(limit * 0.8 < most <= limit, most)
    check(all(times[i + limit] - times[i] > 59 for i in range(len(times) - limit)), times)


if __name__ == "__main__":
    e2e.main()
