"""test_early_answer - an answer that the server sends without reading a large body
reaches the clients of other projects, most of which send all of the body first.

The program under test is early_server.  EDDY_TEST_FULL: all counts, and Go, whose
program takes long to build.
"""
import collections
import http.client
import os
import ssl
import subprocess

import e2e
from e2e import check, claim, equal, Skip

FULL = bool(os.environ.get("EDDY_TEST_FULL"))
# Bytes of a body: how many requests have one.
COUNTS = {1_000_000: 1000, 5_000_000: 1000, 20_000_000: 50, 100_000_000: 50} if FULL else \
         {1_000_000: 10, 5_000_000: 10, 20_000_000: 2}

NODE = """
const http = require('http');
const [url, bytes, count] = process.argv.slice(2);
const body = Buffer.alloc(Number(bytes));
function next(left) {
  if (left === 0) return;
  let said = false;
  const say = (what) => { if (!said) { said = true; console.log(what); next(left - 1); } };
  const request = http.request(url, {method: 'PUT', agent: false,
                                     headers: {'Content-Length': body.length}}, (response) => {
    response.resume();
    response.on('end', () => say(response.statusCode));
  });
  request.on('error', (error) => say(error.code));
  request.end(body);
}
next(Number(count));
"""

GO = """
package main

import ("bytes"; "fmt"; "net/http"; "os"; "strconv")

func main() {
	size, _ := strconv.Atoi(os.Args[2])
	count, _ := strconv.Atoi(os.Args[3])
	body := make([]byte, size)
	for i := 0; i < count; i++ {
		request, _ := http.NewRequest("PUT", os.Args[1], bytes.NewReader(body))
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(response.StatusCode)
		response.Body.Close()
	}
}
"""


def serve(eddy, *files):
    child = eddy.start(*files)
    first = child.stdout.readline().decode()
    check(first.startswith("listening on http"), repr(first))
    return first.split()[2]


def certificate(eddy):
    cert, key = eddy.file("cert.pem", ""), eddy.file("key.pem", "")
    subprocess.run([e2e.program("openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                    "-nodes", "-keyout", key, "-out", cert, "-days", "30", "-subj", "/CN=127.0.0.1",
                    "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
    return cert, key


def all_answered(ask):
    """ask(bytes, count) returns what the client printed, a line for each request."""
    for size, count in COUNTS.items():
        equal(dict(collections.Counter(ask(size, count))), {"413": count}, size, "bytes")


def lines(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=1500)
    return done.stdout.decode().split("\n")[:-1] or [done.stderr.decode()]


def python_asks(connect):
    def ask(size, count):
        body = bytes(size)
        for _ in range(count):
            connection = connect()
            try:
                connection.request("PUT", "/", body)
                yield str(connection.getresponse().status)
            except OSError as error:
                yield repr(error)
            connection.close()

    all_answered(ask)


@claim
def an_early_answer_reaches_python(eddy):
    address = serve(eddy).removeprefix("http://")
    python_asks(lambda: http.client.HTTPConnection(address, timeout=e2e.LIMIT_S))


@claim
def an_early_answer_over_tls_reaches_python(eddy):
    files = certificate(eddy)
    address = serve(eddy, *files).removeprefix("https://")
    context = ssl.create_default_context(cafile=files[0])
    python_asks(lambda: http.client.HTTPSConnection(address, timeout=e2e.LIMIT_S, context=context))


def curl_asks(eddy, url, *args):
    curl = e2e.program("curl")

    def ask(size, count):
        path = eddy.file("body", bytes(size))
        return lines(curl, "-s", "-o", os.devnull, "-w", "%{http_code}\\n", "-H", "Expect:",
                     "--noproxy", "*", *args, "-T", path, f"{url}/[1-{count}]")

    all_answered(ask)


@claim
def an_early_answer_reaches_curl(eddy):
    curl_asks(eddy, serve(eddy))


@claim
def an_early_answer_over_tls_reaches_curl(eddy):
    files = certificate(eddy)
    curl_asks(eddy, serve(eddy, *files), "--cacert", files[0])


@claim
def an_early_answer_reaches_node(eddy):
    node, url = e2e.program("node", "nodejs"), serve(eddy)
    script = eddy.file("put.js", NODE)
    all_answered(lambda size, count: lines(node, script, url, str(size), str(count)))


@claim
def an_early_answer_reaches_go(eddy):
    go = e2e.program("go")
    if not FULL:
        raise Skip("the build takes long; EDDY_TEST_FULL runs it")
    built = os.path.join(eddy.folder, "put")
    done = subprocess.run([go, "build", "-o", built, eddy.file("put.go", GO)],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    equal(done.returncode, 0, done.stdout.decode())
    url = serve(eddy)
    all_answered(lambda size, count: lines(built, url, str(size), str(count)))


e2e.main()
