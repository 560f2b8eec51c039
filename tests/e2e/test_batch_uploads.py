"""test_batch_uploads - `eddy batch` sends forms with files, by the members "form" and "files" of a line: what the server
gets, files that cannot be read, retries, redirects, and what makes a request another one.
"""
import json
import os
import threading
import zlib

import e2e
import memory
from batch_api import Api, ids_of, lines_of
from e2e import check, claim, equal

BYTES = bytes(range(256)) * 40


def line(name, files, form=None, **more):
    return json.dumps({"custom_id": name, "url": "/form", **({"form": form} if form is not None else {}), "files": files, **more}) + "\n"


def run(eddy, url, content, *args):
    """Run in the folder of the case."""
    return eddy.run("batch", eddy.file("in.jsonl", content), "-o", eddy.file("out.jsonl"), "--base-url", url,
                    "--progress", "off", "--retry-base", "1ms", *args, cwd=eddy.folder)


def results(eddy):
    return ({answer["custom_id"]: answer for answer in lines_of(eddy.file("out.jsonl"))},
            {answer["custom_id"]: answer for answer in lines_of(eddy.file("out.errors.jsonl"))})


def file_part(name, filename, content, kind="application/octet-stream"):
    return {"name": name, "filename": filename, "type": kind, "bytes": len(content), "crc32": f"{zlib.crc32(content):08x}"}


@claim
def server_gets_the_fields_and_then_the_files_in_the_order_of_the_line(eddy):
    os.mkdir(eddy.file("sub"))
    eddy.file("a.bin", BYTES)
    eddy.file("sub/ü b.txt", b"text\r\n--")
    eddy.file("empty", b"")
    content = line("a", {"file": "a.bin", "image[]": ["sub/ü b.txt", {"path": eddy.file("a.bin"), "name": "x.png", "type": "image/png"}],
                         "none": None, "last": "empty"},
                   {"model": "small", "tags[]": ["é\"\n", "b"], "temperature": 0.50, "raw": True, "left": None, "empty": ""},
                   metadata={"row": 1})
    result = run(eddy, eddy.mock("--listen", "127.0.0.1:0"), content)
    answers, errors = results(eddy)
    equal((result.code, errors), (0, {}), result)

    def field(name, value):
        return {"name": name, "filename": None, "type": None, "value": value}
    equal(answers["a"]["response"]["body"]["parts"],
          [field("model", "small"), field("tags[]", "é\"\n"), field("tags[]", "b"), field("temperature", "0.5"),
           field("raw", "true"), field("empty", ""), file_part("file", "a.bin", BYTES),
           file_part("image[]", "ü b.txt", b"text\r\n--"), file_part("image[]", "x.png", BYTES, "image/png"),
           file_part("last", "empty", b"")])
    equal(answers["a"]["metadata"] if "metadata" in answers["a"] else answers["a"]["x_meta"]["metadata"], {"row": 1})


@claim
def file_that_cannot_be_read_is_the_error_of_its_line(eddy):
    eddy.file("a.bin", BYTES)
    os.mkdir(eddy.file("folder"))
    url = eddy.mock("--listen", "127.0.0.1:0")
    content = line("none", {"file": "none.bin"}) + line("folder", {"file": ["a.bin", "folder"]}) + line("good", {"file": "a.bin"})
    for _ in range(2):
        result = run(eddy, url, content, "--accept-failed")
        answers, errors = results(eddy)
        equal((result.code, set(answers), set(errors)), (1, {"good"}, {"none", "folder"}), result)
        for name, words in ("none", 'file none.bin: No such file'), ("folder", "file folder: is not a regular file"):
            equal((errors[name]["error"]["code"], errors[name]["response"], errors[name]["x_meta"]["final"],
                   errors[name]["x_meta"]["attempts"]), ("file_error", None, False, 0), errors[name])
            check(words in errors[name]["error"]["message"], errors[name])
        check("\nfile_error: relative paths" in result.err and "to retry: " in result.err, result)
    eddy.file("none.bin", b"new")
    result = run(eddy, url, content)
    answers, errors = results(eddy)
    equal((result.code, set(answers), set(errors)), (1, {"good", "none"}, {"folder"}), result)
    equal(answers["none"]["response"]["body"]["parts"], [file_part("file", "none.bin", b"new")])


@claim
def many_files_that_are_missing_do_not_end_the_run(eddy):
    eddy.file("a.bin", BYTES)
    content = "".join(line(f"n{i}", {"file": f"none-{i}"}) for i in range(60)) + line("good", {"file": "a.bin"})
    result = run(eddy, eddy.mock("--listen", "127.0.0.1:0"), content, "-c", "1")
    answers, errors = results(eddy)
    equal((result.code, set(answers), len(errors)), (1, {"good"}, 60), result)
    equal({error["error"]["code"] for error in errors.values()}, {"file_error"})


@claim
def each_attempt_reads_the_file_again(eddy):
    path = eddy.file("a.txt", b"first")

    def answer(call):
        if call.number == 0:
            eddy.file("a.txt", b"another length")
            return 503, {}, {}
        return 200, {}, {}
    api = Api(eddy, answer)
    result = run(eddy, api.url, line("a", {"file": os.path.basename(path)}))
    equal((result.code, len(api.calls)), (0, 2), result)
    check(b"\r\n\r\nfirst\r\n--" in api.calls[0].raw and b"\r\n\r\nanother length\r\n--" in api.calls[1].raw, api.calls)


@claim
def file_that_ends_before_its_length_is_an_error_of_its_line(eddy):
    path = eddy.file("a.bin", b"")
    os.truncate(path, 64 << 20)  # more than the buffers of sockets hold

    def answer(connection, _):
        head = b""
        while b"\r\n\r\n" not in head:
            head += connection.recv(4096)
        os.truncate(path, 100)
        e2e.until_closed(connection)
    result = run(eddy, eddy.serve(answer).url, line("a", {"file": "a.bin"}))
    answers, errors = results(eddy)
    equal((result.code, answers, errors["a"]["error"]["code"], errors["a"]["x_meta"]["final"]), (1, {}, "file_error", False), result)
    check("file a.bin: ended before its length" in errors["a"]["error"]["message"], errors)


@claim
def paths_are_part_of_a_request_and_contents_are_not(eddy):
    eddy.file("a.txt", b"one")
    eddy.file("b.txt", b"one")
    api = Api(eddy, lambda call: (200, {}, {}))
    equal(run(eddy, api.url, line("a", {"file": "a.txt"}, {"n": 1})).code, 0)
    eddy.file("a.txt", b"two")
    equal(run(eddy, api.url, json.dumps(json.loads(line("a", {"file": "a.txt"}, {"n": 1})), indent=None, separators=(" , ", " : ")) + "\n").code, 0)
    equal(len(api.calls), 1)
    for content in line("a", {"file": "b.txt"}, {"n": 1}), line("a", {"file": "a.txt"}, {"n": 2}), line("a", {"file": "a.txt"}), \
            line("a", {"file": {"path": "a.txt", "name": "n"}}, {"n": 1}), line("a", {"n": "a.txt"}, {"file": 1}):
        result = run(eddy, api.url, content)
        check(result.code == 3 and "has changed" in result.err, result)
    equal(len(api.calls), 1)
    equal(run(eddy, api.url, line("a", {"file": "b.txt"}), "--on-changed", "send").code, 0)
    check(b'filename="b.txt"' in api.calls[1].raw, api.calls[1].raw)


@claim
def redirect_sends_the_form_again(eddy):
    eddy.file("a.txt", b"content")
    api = Api(eddy, lambda call: (307, {"Location": "/v2"}, {}) if call.path == "/form" else (200, {}, {}))
    result = run(eddy, api.url, line("a", {"file": "a.txt"}), "-L")
    equal((result.code, [call.path for call in api.calls], api.calls[0].raw == api.calls[1].raw), (0, ["/form", "/v2"], True), result)
    check(b"\r\n\r\ncontent\r\n--" in api.calls[1].raw, api.calls[1].raw)


@claim
def file_that_becomes_a_pipe_or_goes_before_it_is_sent_again_is_an_error_of_its_line(eddy):
    for change, reason in ((os.mkfifo, "file a.txt: is not a regular file"), (None, "file a.txt: No such file or directory")):
        path = eddy.file("a.txt", b"content")

        def answer(call):
            os.remove(path)
            if change:
                change(path)
            return 307, {"Location": "/v2"}, {}
        api = Api(eddy, answer)
        result = run(eddy, api.url, line("a", {"file": "a.txt"}), "-L", "--max-attempts", "1")
        _, errors = results(eddy)
        equal((result.code, errors["a"]["error"]["code"]), (1, "file_error"), result)
        check(reason in errors["a"]["error"]["message"], errors)
        if change:
            os.remove(path)


@claim
def headers_and_method_are_those_of_the_line_and_the_type_is_that_of_the_form(eddy):
    eddy.file("a.txt", b"content")
    api = Api(eddy, lambda call: (200, {}, {}))
    result = run(eddy, api.url, line("a", {"file": "a.txt"}, method="PUT", headers={"X-A": "b"}), "-H", "Content-Type: application/json", "-H", "X-C: d")
    call = api.calls[0]
    equal((result.code, call.method, call.headers["x-a"], call.headers["x-c"]), (0, "PUT", "b", "d"), result)
    kind, boundary = call.headers["content-type"].split("; boundary=")
    check(kind == "multipart/form-data" and call.raw.startswith(f"--{boundary}\r\n".encode()) and
          call.raw.endswith(f"--{boundary}--\r\n".encode()), call.headers, call.raw)
    # With --url, a line that has only files is a request; one with other members is a body.
    content = json.dumps({"custom_id": "b", "files": {"file": "a.txt"}}) + "\n" + json.dumps({"custom_id": "c", "model": "m", "files": {"file": "a.txt"}})
    equal(run(eddy, api.url, content, "--url", api.url + "/v1/x").code, 0)
    calls = {call.headers["content-type"].split(";")[0]: call.body for call in api.calls[1:]}
    equal(calls, {"multipart/form-data": None, "application/json": {"model": "m", "files": {"file": "a.txt"}}})


@claim
def check_lists_files_that_cannot_be_read_and_shows_the_form(eddy):
    eddy.file("a.bin", BYTES)
    content = line("a", {"file": ["a.bin", "a.bin"]}, {"model": "small"}) + line("b", {"file": "none.bin"}) + line("c", {"file": "."})
    result = eddy.run("check", eddy.file("in.jsonl", content), cwd=eddy.folder)
    equal(result.code, 1, result)
    for words in ('line 2: custom_id "b": "files": none.bin does not exist', 'line 3: custom_id "c": "files": . is not a regular file',
                  "lack a file     2\n", f"files           2 uploads with {2 * len(BYTES):,} bytes\n", "Content-Type: multipart/form-data\n",
                  "form model: small\n", "form file: file a.bin\n"):
        check(words in result.out, words, result)


@claim
def memory_does_not_grow_with_the_file(eddy):
    size = 256 << 20
    os.truncate(eddy.file("big.bin", b""), size)
    peaks, done = [], threading.Event()

    def answer(connection, _):
        left = -1
        data = b""
        while b"\r\n\r\n" not in data:
            data += connection.recv(65536)
        head, rest = data.split(b"\r\n\r\n", 1)
        left = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0]) - len(rest)
        while left > 0:
            left -= len(connection.recv(1 << 20))
        peaks.append(memory.peak_mib(child))
        done.set()
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
    server = eddy.serve(answer)
    child = memory.start(eddy, eddy.file("in.jsonl", line("a", {"file": "big.bin"})), "-o", eddy.file("out.jsonl"),
                               "--base-url", server.url, "--progress", "off", command="batch", cwd=eddy.folder)
    equal(child.wait(e2e.LIMIT_S), 0)
    check(done.is_set() and ids_of(eddy.file("out.jsonl")) == ["a"] and peaks[0] < 128, peaks)


if __name__ == "__main__":
    e2e.main()
