"""batch_files - files that vLLM, OpenAI, litellm, ellmer, an editor or a crash leave as output or
errors file of `eddy batch`, and the place of each of their lines.

    for name, out, errors in FILES["vllm"]: ...
    kinds = kinds_of(out)

The requests are r0 to r4, and the integer 5.
"""
import gzip
import json

IDS = ["r0", "r1", "r2", "r3", "r4", "5"]
MARK = b"\xef\xbb\xbf"


def requests():
    return "".join(json.dumps({"custom_id": 5 if name == "5" else name, "method": "POST", "url": "/v1/echo",
                               "body": {"id": name}}) + "\n" for name in IDS)


def line(custom_id, response, error=None, **more):
    return json.dumps({"custom_id": custom_id, "response": response, "error": error, **more}).encode() + b"\n"


def answered(custom_id, status=200, **more):
    return {"status_code": status, "request_id": f"q-{custom_id}", "body": {"id": f"c-{custom_id}", **more}}


def ok(custom_id, **more):
    """As OpenAI writes a success."""
    return line(custom_id, answered(custom_id), id=f"batch_req_{custom_id}", **more)


def vllm(custom_id, response, error=None):
    return json.dumps({"id": f"vllm-{custom_id}", "custom_id": custom_id, "response": response, "error": error},
                      separators=(",", ":")).encode() + b"\n"


def vllm_ok(custom_id):
    return vllm(custom_id, {"status_code": 200, "request_id": f"vllm-batch-{custom_id}",
                            "body": {"id": "cmpl", "choices": [{"message": {"content": "\u00e9"}}], "usage": None}})


def eddy(custom_id, status=200):
    """As eddy writes a line, but not bound to a request."""
    return json.dumps({"id": f"batch_req_{'x' * 24}", "custom_id": custom_id, "response": answered(custom_id, status),
                       "error": None, "x_meta": {"input_line": 1, "attempts": 1}}, separators=(",", ":")).encode() + b"\n"


OLD_ERROR = {"object": "error", "message": "too long", "type": "BadRequestError", "param": None, "code": 400}
NEW_ERROR = {"error": {"message": "too long", "type": "BadRequestError", "param": None, "code": 400}}
FAILED = {"status_code": 400, "request_id": "vllm-batch", "body": None}
EXPIRED = {"code": "batch_expired", "message": "This request could not be executed."}
TWO = ok("r0") + ok("r1")
STATE = {"version": 1, "stage": "waiting", "batch": {"id": "batch_1"}, "results": [{"custom_id": "chat-1"}]}


def claude(custom_id):
    return json.dumps({"custom_id": custom_id, "result": {"type": "succeeded", "message": {}}}).encode() + b"\n"


FILES = {
    "vllm": [
        ("successes", vllm_ok("r0") + vllm_ok("r3"), b""),
        ("error object", vllm_ok("r0") + vllm("r1", FAILED, OLD_ERROR), b""),
        ("error in an error", vllm_ok("r0") + vllm("r1", FAILED, NEW_ERROR), b""),
        ("error text", vllm("r2", None, "engine died") + vllm_ok("r1"), b""),
        ("only failures", vllm("r0", FAILED, NEW_ERROR) + vllm("r9", FAILED, NEW_ERROR), b""),
        ("no last line feed", (vllm_ok("r1") + vllm_ok("r0"))[:-1], b""),
        ("only a success without line feed", vllm_ok("r1")[:-1], b""),
        ("interrupted", vllm_ok("r1") + vllm_ok("r0")[:50], b""),
        ("empty error text", vllm("r0", answered("r0"), "") + vllm("r1", answered("r1"), {}), b""),
        ("other model's ids", vllm_ok("x0") + vllm("x1", FAILED, OLD_ERROR), b""),
        ("as errors file", b"", vllm_ok("r0") + vllm("r1", FAILED, NEW_ERROR)),
    ],
    "openai": [
        ("output file", TWO + ok("5"), b""),
        ("output and error file together", TWO + line("r2", answered("r2", 400), id="batch_req_2"), b""),
        ("error file", TWO, line("r3", answered("r3", 429), id="b") + line("r4", None, EXPIRED)),
        ("expired", TWO + line("r2", None, EXPIRED) + line("r7", None, EXPIRED), b""),
        ("empty error object", ok("r0", more=1)[:-2] + b', "error": {}}\n', b""),
        ("error without contents", line("r0", answered("r0"), {"code": None, "message": ""}) + ok("r1"), b""),
        ("another batch", TWO + ok("y1") + ok("y2"), b""),
        ("the same file twice", TWO + TWO, b""),
        ("failure and later success", line("r0", None, EXPIRED) + ok("r0"), b""),
        ("azure's content filter", ok("r1") + line("r0", answered("r0", 400), {"code": "content_filter", "message": "m"}), b""),
        ("error array", ok("r0") + line("r1", answered("r1"), [1]) + line("r2", answered("r2"), []), b""),
        ("server error in the body", line("r0", answered("r0", 500, error={"message": "m"})) + ok("r1"), b""),
    ],
    "litellm": [
        ("status 0", ok("r0") + line("r1", answered("r1", 0)), b""),
        ("status null", ok("r0") + line("r1", answered("r1", None), {"message": {"error": "nested"}}), b""),
        ("status in quotes", line("r0", answered("r0", "200")) + line("r1", answered("r1", "429")), b""),
        ("status as fraction", line("r0", answered("r0", 200.0)) + line("r1", answered("r1", -1)), b""),
        ("integer ids", line(5, answered(5)) + line(7, answered(7)), b""),
        ("neither response nor error", line("r0", None) + ok("r1"), b""),
        ("error true and a number", line("r0", answered("r0"), True) + line("r1", answered("r1"), 7), b""),
        ("error beside a text", line("r0", "no", "bad") + line("r1", {}, {"message": "bad"}) + ok("r2"), b""),
        ("only status 0", line("r1", answered("r1", 0)), b""),
        ("ellmer without error", b'{"custom_id":"r0","response":{"status_code":200,"body":{}}}\n', b""),
        ("ellmer's state on one line", json.dumps(STATE).encode() + b"\n", b""),
        ("ellmer's state", json.dumps(STATE, indent=2).encode(), b""),
        ("claude's results", claude("r0") + claude("r1"), b""),
        ("claude's results between others", ok("r0") + claude("r1") + ok("r2"), b""),
        ("body instead of response", ok("r0") + b'{"custom_id":"r1","response":{"choices":[]}}\n', b""),
    ],
    "editor": [
        ("byte order mark", MARK + TWO, b""),
        ("carriage returns", TWO.replace(b"\n", b"\r\n"), b""),
        ("both", MARK + (TWO + line("r2", None, "bad")).replace(b"\n", b"\r\n"), b""),
        ("no last line feed", (TWO + line("r2", None, "bad"))[:-1], b""),
        ("blank lines", b"\n" + ok("r0") + b"  \t\n\r\n" + ok("r1") + b"\n\n", b""),
        ("two files with marks", MARK + ok("r0") + MARK + ok("r1"), MARK + line("r2", None, "bad")),
        ("comment", b"# checked by hand\n" + TWO, b""),
        ("one record on many lines", ok("r0") + json.dumps(json.loads(ok("r1")), indent=1).encode() + b"\n" + ok("r2"), b""),
        ("commas", b"[\n" + TWO.replace(b"\n", b",\n") + b"]\n", b""),
        ("array", b"[" + TWO.strip().replace(b"\n", b",") + b"]\n", b""),
        ("two bytes a character", TWO.decode().encode("utf-16"), b""),
        ("latin-1", ok("r0") + ok("r1").replace(b"c-r1", b"c-\xe9") + ok("r2"), b""),
        ("indented", b"  " + ok("r0") + b"\t" + ok("r1"), b""),
        ("compressed", gzip.compress(TWO), b""),
        ("notes", b"call Bob\n", b""),
        ("notes after the answers", TWO + b"call Bob", b"call Ann\n" + line("r4", None, "bad")),
    ],
    "crash": [
        ("torn end", eddy("r0") + eddy("r1")[:-20], eddy("r2", 500) + eddy("r3", 500)[:30]),
        ("zeros at the end", eddy("r0") + bytes(5000), b""),
        ("zeros at the start", bytes(600) + b"x\n" + eddy("r0"), b""),
        ("zeros in the middle", eddy("r0") + bytes(4096) + b"\n" + eddy("r1"), b""),
        ("lost line feed", eddy("r0") + eddy("r1")[:-1] + eddy("r2") + eddy("r3"), b""),
        ("part of a line before it", eddy("r0") + eddy("r1")[:40] + eddy("r1"), b""),
        ("empty", b"", b""),
        ("only a line feed", b"\n", b"\n"),
        ("only a torn line", eddy("r0")[:60], b""),
        ("answers and failures in one file", eddy("r0") + eddy("r1", 500) + eddy("r2"), b""),
        ("answers among the failures", eddy("r0"), eddy("r1") + eddy("r2", 500)),
        ("garbage among the failures", eddy("r0"), b"garbage\n" + eddy("r2", 500)),
        ("long id", eddy("r0") + ok("x" * 600) + ok("y" * 2000), b""),
    ],
}


def is_blank(value):
    """An error without contents."""
    if isinstance(value, (list, dict)):
        return all(is_blank(item) for item in (value.values() if isinstance(value, dict) else value))
    return value is None or value is False or value == ""


def status_of(value):
    if isinstance(value, str) and value.isdigit():
        value = int(value)
    return value if isinstance(value, (int, float)) and 200 <= value <= 999 else 0


def kind_of(text):
    """Returns "blank", "bad", "ok" or "failed", and the id."""
    text = text.removeprefix(MARK)
    if not text.strip(b" \t\r"):
        return "blank", None
    try:
        value = json.loads(text.decode("utf-8"))
    except ValueError:
        return "bad", None
    name = value.get("custom_id") if isinstance(value, dict) else None
    if type(name) not in (str, int) or len(str(name)) > 1536:
        return "bad", None
    response, error = value.get("response"), value.get("error")
    has_error = not is_blank(error)
    has_status = "response" in value and response is None or isinstance(response, dict) and "status_code" in response
    if not has_status and not has_error and ("response" in value or "error" not in value):
        return "bad", None
    good = isinstance(response, dict) and status_of(response.get("status_code")) // 100 == 2 and not has_error
    return "ok" if good else "failed", str(name)


def lines_of(data):
    """The lines with their kinds and ids; a last line that is incomplete is bad."""
    lines = data.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    return [(text, *kind_of(text)) for text in lines]
