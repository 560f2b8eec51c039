"""test_batch_answers - `eddy batch` and the answers of servers whose streams, codings, limits, clocks
and closes differ from those of OpenAI.
"""
import json
import os

import e2e
from batch_api import Api, lines_of, request
from e2e import check, claim, equal


def batch(eddy, api, content, *args, **options):
    """Run requests; returns the result, the answers and the errors."""
    out = eddy.file("out.jsonl")
    result = eddy.run("batch", eddy.file("in.jsonl", content), "-o", out, "--base-url", api.url,
                      "--progress", "off", "--retry-base", "1ms", *args, **options)
    return result, lines_of(out), lines_of(eddy.file("out.errors.jsonl"))


def streams(count):
    return "".join(request(i, body={"id": f"r{i}", "stream": True}) for i in range(count))


def events(*items):
    """A stream of server-sent events; a str is sent as it is."""
    return "".join(f"data: {item if isinstance(item, str) else json.dumps(item)}\n\n"
                   for item in items).encode()


STREAM = {"Content-Type": "text/event-stream"}


# ---- messages ------------------------------------------------------------------------------------

@claim
def error_of_a_stream_is_in_the_message_and_no_other_byte(eddy):
    report = {"message": "overloaded", "n": 1}
    api = Api(eddy, lambda call: (200, STREAM, events({"error": report})))
    # New memory is full of bytes that are not NUL.
    result, answers, errors = batch(eddy, api, streams(20), "--max-attempts", "1",
                                    env={**os.environ, "MALLOC_PERTURB_": "165"})
    equal((result.code, len(answers), len(errors)), (1, 0, 20), result)
    for line in errors:
        equal(line["error"]["message"], "the stream reported an error: " + json.dumps(report))


if __name__ == "__main__":
    e2e.main()
