"""test_batch_pace - how many requests `eddy batch` completes against a server whose capacity changes:
`-c auto` beside each fixed `-c`; and how many it sends in a minute.
"""
import json
import os

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


if __name__ == "__main__":
    e2e.main()
