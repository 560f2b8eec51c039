"""test_tls_peers - TLS with other programs, both ways: curl, openssl, nginx, Go, Node,
Python and stunnel.  16 MB go up and down with equal digests; EDDY_TEST_FULL=1: 100 MB.

A program that is not installed skips its cases.  The second server of eddy is
digest_server, whose path is in EDDY_DIGEST_SERVER; EDDY_ALPN_SERVER is alpn_server.
"""
import contextlib
import hashlib
import os
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import http.server

import e2e
from e2e import check, claim, equal

MUCH = (100 if os.environ.get("EDDY_TEST_FULL") else 16) << 20
HALF = MUCH // 2  # eddy fetch sends at most 64 MiB at once, so twice
SOME = 3 << 20
BLOCK = bytes(range(251)) * 4096


def pattern(n):
    """The first bytes of digest_server's answer, in pieces."""
    while n > 0:
        piece = BLOCK[:n]
        n -= len(piece)
        yield piece


def digest_of(pieces):
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()


def file_digest(path):
    with open(path, "rb") as file:
        return digest_of(iter(lambda: file.read(1 << 20), b""))


def needs(*programs):
    for program in programs:
        if not shutil.which(program):
            raise e2e.Skip(f"{program} is not installed")


def many_bytes(eddy, n):
    path = eddy.file(f"bytes-{n}")
    with open(path, "wb") as out:
        for piece in pattern(n):
            out.write(piece)
    return path


def certificate(eddy, name="localhost"):
    folder = os.path.dirname(eddy.file("here", ""))
    cert, key = (os.path.join(folder, name + end) for end in (".pem", ".key"))
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out", cert, "-days", "30",
                    "-subj", "/CN=" + name, "-addext", f"subjectAltName=DNS:{name},IP:127.0.0.1"],
                   check=True, capture_output=True)
    return cert, key


def run(eddy, *args, **options):
    """Run another program to its end; returns its output."""
    options.setdefault("stdin", subprocess.DEVNULL)
    done = subprocess.run(args, capture_output=True, timeout=e2e.LIMIT_S, cwd=eddy.folder, **options)
    equal(done.returncode, 0, args, done.stdout[-500:], done.stderr[-500:])
    return done.stdout


def start(eddy, *args, **options):
    """Start another program, which ends with the case."""
    options.setdefault("stdin", subprocess.DEVNULL)
    options.setdefault("stdout", subprocess.DEVNULL)
    options.setdefault("stderr", subprocess.DEVNULL)
    child = subprocess.Popen(args, cwd=eddy.folder, **options)
    eddy.stack.callback(eddy.end, child)
    return child


def digest_server(eddy, *client_ca):
    """A server of eddy; returns its URL and its certificate."""
    cert, key = certificate(eddy)
    child = start(eddy, os.environ["EDDY_DIGEST_SERVER"], cert, key, *client_ca,
                  stdout=subprocess.PIPE)
    line = child.stdout.readline().decode().split()
    equal(line[:2], ["listening", "on"])
    return line[2], cert


RETRY = ("--attempts", "30", "--backoff", "100ms", "--timeout", "280s")


def fetch_both_ways(eddy, url, cert, n, digest_path="/digest"):
    """eddy fetch takes n bytes from url/bytes-n, and sends as many to digest_path."""
    path = many_bytes(eddy, n)
    folder = eddy.file(f"saved-{n}")
    os.mkdir(folder)
    result = eddy.fetch("--cacert", cert, *RETRY, "--save", folder, f"{url}/bytes-{n}")
    equal((result.code, result.lines()[0]["bytes"]), (0, n), result)
    equal(file_digest(os.path.join(folder, result.lines()[0]["file"])), file_digest(path))
    send_twice(eddy, url + digest_path, cert, n // 2)


def send_twice(eddy, url, cert, n):
    """eddy fetch sends n bytes, twice on one connection."""
    path = many_bytes(eddy, n)
    result = eddy.fetch("--cacert", cert, *RETRY, "-c", "1", "--body", "-X", "PUT", "-d", "@" + path,
                        url, url)
    equal(result.code, 0, result)
    equal([line["body"].strip() for line in result.lines()], [file_digest(path)] * 2)


# -- curl and openssl ----------------------------------------------------------


@claim
def curl_sends_and_gets_100_mb(eddy):
    needs("curl")
    url, cert = digest_server(eddy)
    path = many_bytes(eddy, MUCH)
    got = run(eddy, "curl", "-qsS", "--cacert", cert, "-H", "Expect:", "--data-binary", "@" + path,
              url + "/digest")
    equal(got.decode(), file_digest(path))
    run(eddy, "curl", "-qsS", "--cacert", cert, "-o", "down", f"{url}/bytes/{MUCH}")
    equal(file_digest(eddy.file("down")), file_digest(path))


@claim
def openssl_s_client_verifies_and_reads(eddy):
    url, cert = digest_server(eddy)
    port = url.rsplit(":", 1)[1]
    request = f"GET /bytes/{SOME} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    for version in ("-tls1_2", "-tls1_3"):
        got = run(eddy, "openssl", "s_client", "-quiet", "-verify_return_error", "-CAfile", cert,
                  "-verify_hostname", "localhost", "-servername", "localhost", "-ign_eof", version,
                  "-connect", f"127.0.0.1:{port}", stdin=None, input=request.encode())
        equal(got.split(b"\r\n\r\n", 1)[1], b"".join(pattern(SOME)))


@claim
def openssl_s_server_requires_the_certificate_of_fetch(eddy):
    cert, key = certificate(eddy)
    own, own_key = certificate(eddy, "client")
    stranger, stranger_key = certificate(eddy, "stranger")
    for version in ("-tls1_2", "-tls1_3"):
        port = e2e.free_port()
        start(eddy, "openssl", "s_server", "-quiet", "-www", version, "-accept",
              f"127.0.0.1:{port}", "-cert", cert, "-key", key, "-CAfile", own, "-Verify", "1",
              "-verify_return_error")
        url = f"https://localhost:{port}/"
        args = ("--cacert", cert, "--attempts", "30", "--backoff", "100ms")
        result = eddy.fetch(*args, "--cert", own, "--key", own_key, "--body", url)
        equal((result.code, result.lines()[0]["status"]), (0, 200), result)
        for more in ((), ("--cert", stranger, "--key", stranger_key)):
            result = eddy.fetch("--cacert", cert, *more, url)
            equal((result.code, result.lines()[0]["error"]["code"]), (1, "tls_error"), result)


@claim
def curl_needs_a_certificate_for_a_server_that_requires_one(eddy):
    needs("curl")
    own, own_key = certificate(eddy, "client")
    url, cert = digest_server(eddy, own)
    got = run(eddy, "curl", "-qsS", "--cacert", cert, "--cert", own, "--key", own_key,
              url + "/bytes/5")
    equal(got, bytes(range(5)))
    done = subprocess.run(["curl", "-qsS", "--cacert", cert, url + "/bytes/5"], capture_output=True)
    check(done.returncode != 0)
    equal(done.stdout, b"")


# -- ALPN: the protocol of the connection ----------------------------------------------------


@claim
def curl_gets_the_highest_version_that_it_offers(eddy):
    needs("curl")
    url, cert = digest_server(eddy)
    for offer, version in (("--http2", "2"), ("--http1.1", "1.1"), ("--no-alpn", "1.1")):
        got = run(eddy, "curl", "-qsS", "--cacert", cert, offer, "-o", os.devnull, "-w",
                  "%{http_code} %{http_version}", url + "/bytes/5")
        equal(got.decode(), "200 " + version, offer)


def listens(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
        return True
    return False


def s_client(eddy, url, *args):
    """openssl s_client, which closes after the handshake; returns its exit code and output."""
    done = subprocess.run(["openssl", "s_client", "-connect", "127.0.0.1:" + url.rsplit(":", 1)[1], *args],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=e2e.LIMIT_S, cwd=eddy.folder)
    return done.returncode, done.stdout.decode("utf-8", "replace")


@claim
def the_server_chooses_only_protocols_that_http_knows(eddy):
    url, _ = digest_server(eddy)
    for version in ("-tls1_2", "-tls1_3"):
        for offer, chosen in (("http/1.1,h2", "h2"), ("h2", "h2"), ("http/1.0", "http/1.0"),
                              ("http/1.0,h3,http/1.1", "http/1.1")):
            code, text = s_client(eddy, url, version, "-alpn", offer)
            equal(code, 0, text)
            check(f"ALPN protocol: {chosen}\n" in text, version, offer, text)
        code, text = s_client(eddy, url, version)
        equal(code, 0, text)
        check("No ALPN negotiated" in text, text)
        for offer in ("h3", "h3,spdy/3", "http/1.2"):
            code, text = s_client(eddy, url, version, "-alpn", offer)
            check(code != 0 and "alert number 120" in text, version, offer, text)


NO_PROTOCOL = "the server and the client have no version of HTTP in common (ALPN)"


def refused(eddy, url, cert):
    result = eddy.fetch("--http1", "--cacert", cert, "--attempts", "1", url)
    line = result.lines()[0]
    equal((result.code, line["error"]), (1, {"code": "tls_error", "message": NO_PROTOCOL}), result)


@claim
def a_server_of_http_2_only_is_an_error_of_its_own(eddy):
    cert, key = certificate(eddy)
    for version in ("-tls1_2", "-tls1_3"):
        port = e2e.free_port()
        start(eddy, "openssl", "s_server", "-quiet", "-www", version, "-accept", f"127.0.0.1:{port}",
              "-cert", cert, "-key", key, "-alpn", "h2")
        e2e.wait_until(lambda: listens(port), "openssl s_server")
        refused(eddy, f"https://localhost:{port}/", cert)


@claim
def a_protocol_that_was_not_offered_is_an_error_of_its_own(eddy):
    cert, key = certificate(eddy)
    for version in ("1.2", "1.3"):
        child = start(eddy, os.environ["EDDY_ALPN_SERVER"], cert, key, version, "h2", stdout=subprocess.PIPE)
        refused(eddy, child.stdout.readline().decode().split()[2], cert)
        # The same server with a protocol that was offered: the handshake is not at fault.
        child = start(eddy, os.environ["EDDY_ALPN_SERVER"], cert, key, version, "http/1.1", stdout=subprocess.PIPE)
        result = eddy.fetch("--cacert", cert, "--body", child.stdout.readline().decode().split()[2])
        equal((result.code, result.lines()[0]["body"]), (0, "ok"), result)


# -- nginx ------------------------------------------------------------------------

NGINX = """
daemon off; master_process off; pid nginx.pid; error_log error.log;
events {{}}
http {{
  access_log off; client_max_body_size 0;
  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi; scgi_temp_path scgi;
  server {{
    listen 127.0.0.1:{port} ssl;
    ssl_certificate {cert}; ssl_certificate_key {key}; ssl_protocols TLSv1.2 TLSv1.3;
    root {folder};
    location /eddy/ {{
      proxy_pass {url}/; proxy_ssl_verify on; proxy_ssl_trusted_certificate {cert};
      proxy_ssl_name localhost; proxy_ssl_server_name on;
      proxy_ssl_protocols TLSv1.2 TLSv1.3; proxy_http_version 1.1;
    }}
  }}
}}
"""


@claim
def nginx_serves_fetch_and_asks_a_server_of_eddy(eddy):
    needs("nginx")
    url, cert = digest_server(eddy)
    port = e2e.free_port()
    os.chmod(eddy.folder, 0o755)
    config = eddy.file("nginx.conf", NGINX.format(port=port, cert=cert, url=url, folder=eddy.folder,
                                                  key=cert.replace(".pem", ".key")))
    start(eddy, "nginx", "-p", eddy.folder, "-c", config, "-e", "stderr")
    fetch_both_ways(eddy, f"https://localhost:{port}", cert, MUCH, "/eddy/digest")
    result = eddy.fetch("--cacert", cert, "--save", eddy.file("by-proxy"),
                        f"https://localhost:{port}/eddy/bytes/{SOME}")
    equal(result.lines()[0]["bytes"], SOME, result)
    equal(file_digest(os.path.join(eddy.file("by-proxy"), result.lines()[0]["file"])), digest_of(pattern(SOME)))


# -- Python -----------------------------------------------------------------------


class Files(http.server.SimpleHTTPRequestHandler):
    """Serves a folder, and answers a PUT with the digest of the body."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_PUT(self):
        left = int(self.headers["Content-Length"])
        digest = hashlib.sha256()
        while left > 0:
            piece = self.rfile.read(min(left, 1 << 20))
            if not piece:
                return
            digest.update(piece)
            left -= len(piece)
        text = digest.hexdigest().encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


@claim
def python_serves_fetch(eddy):
    cert, key = certificate(eddy)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), lambda *args: Files(*args, directory=eddy.folder))
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    eddy.stack.callback(server.shutdown)
    fetch_both_ways(eddy, f"https://localhost:{server.server_port}", cert, MUCH)


PYTHON = """
import hashlib, http.client, ssl, sys
port, cert, n = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
block = bytes(range(251)) * 4096
client = http.client.HTTPSConnection("localhost", port, context=ssl.create_default_context(cafile=cert))
client.request("GET", f"/bytes/{n}")
answer = client.getresponse()
down = hashlib.sha256()
while piece := answer.read(1 << 20):
    down.update(piece)
def pieces():
    left = n
    while left > 0:
        piece = block[:left]
        left -= len(piece)
        yield piece
client.request("POST", "/digest", pieces(), {"Content-Length": str(n)})
print(down.hexdigest(), client.getresponse().read().decode())
"""


@claim
def python_sends_and_gets_100_mb(eddy):
    url, cert = digest_server(eddy)
    got = run(eddy, "python3", "-c", PYTHON, url.rsplit(":", 1)[1], cert, str(MUCH))
    equal(got.decode().split(), [digest_of(pattern(MUCH))] * 2)


# -- Node ---------------------------------------------------------------------------

NODE_SERVER = """
const [port, cert, key, folder] = process.argv.slice(2), fs = require('fs');
require('https').createServer({cert: fs.readFileSync(cert), key: fs.readFileSync(key)}, (req, res) => {
  if (req.method === 'PUT') {
    const digest = require('crypto').createHash('sha256');
    req.on('data', (piece) => digest.update(piece));
    req.on('end', () => res.end(digest.digest('hex')));
  } else fs.createReadStream(folder + req.url).pipe(res);
}).listen(Number(port), '127.0.0.1');
"""

NODE_CLIENT = """
const [url, cert, size] = process.argv.slice(2), fs = require('fs'), https = require('https');
const ca = fs.readFileSync(cert), crypto = require('crypto');
const block = Buffer.alloc(251 * 4096, Buffer.from([...Array(251).keys()]));
https.get(url + '/bytes/' + size, {ca}, (res) => {
  const digest = crypto.createHash('sha256');
  res.on('data', (piece) => digest.update(piece));
  res.on('end', () => {
    const req = https.request(url + '/digest', {ca, method: 'POST',
                              headers: {'Content-Length': size}}, (res) => {
      let text = '';
      res.on('data', (piece) => text += piece);
      res.on('end', () => console.log(digest.digest('hex'), text));
    });
    function* pieces(left) {
      for (; left > 0; left -= block.length) yield block.subarray(0, left);
    }
    require('stream').Readable.from(pieces(Number(size))).pipe(req);
  });
});
"""


@claim
def node_serves_fetch(eddy):
    needs("node")
    cert, key = certificate(eddy)
    port = e2e.free_port()
    start(eddy, "node", eddy.file("server.js", NODE_SERVER), str(port), cert, key, eddy.folder)
    fetch_both_ways(eddy, f"https://localhost:{port}", cert, MUCH)


@claim
def node_sends_and_gets_100_mb(eddy):
    needs("node")
    url, cert = digest_server(eddy)
    got = run(eddy, "node", eddy.file("client.js", NODE_CLIENT), url, cert, str(MUCH))
    equal(got.decode().split(), [digest_of(pattern(MUCH))] * 2)


# -- Go -----------------------------------------------------------------------------

GO = """
package main

import ("bytes"; "crypto/sha256"; "crypto/tls"; "crypto/x509"; "fmt"; "io"; "net/http"; "os"; "strconv")

func must(err error) { if err != nil { fmt.Fprintln(os.Stderr, err); os.Exit(1) } }

func serve(address, cert, key, folder string) {
	files := http.FileServer(http.Dir(folder))
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if r.Method != "PUT" { files.ServeHTTP(w, r); return }
		digest := sha256.New()
		if _, err := io.Copy(digest, r.Body); err == nil { fmt.Fprintf(w, "%x", digest.Sum(nil)) }
	})
	must(http.ListenAndServeTLS(address, cert, key, nil))
}

func main() {
	if os.Args[1] == "serve" { serve(os.Args[2], os.Args[3], os.Args[4], os.Args[5]); return }
	url, size := os.Args[2], os.Args[4]
	pem, err := os.ReadFile(os.Args[3])
	must(err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
	answer, err := client.Get(url + "/bytes/" + size)
	must(err)
	body, err := io.ReadAll(answer.Body)
	must(err)
	n, _ := strconv.Atoi(size)
	if len(body) != n { os.Exit(2) }
	sent, err := client.Post(url+"/digest", "text/plain", bytes.NewReader(body))
	must(err)
	text, err := io.ReadAll(sent.Body)
	must(err)
	fmt.Printf("%x %s\\n", sha256.Sum256(body), text)
}
"""


def go_program(eddy):
    needs("go")
    path = eddy.file("program")
    run(eddy, "go", "build", "-o", path, eddy.file("program.go", GO),
        env={**os.environ, "GO111MODULE": "off", "GOTOOLCHAIN": "local", "GOFLAGS": "",
             "HOME": os.environ.get("HOME", eddy.folder)})
    return path


@claim
def go_serves_fetch_and_sends_and_gets_100_mb(eddy):
    program = go_program(eddy)
    url, cert = digest_server(eddy)
    got = run(eddy, program, "get", url, cert, str(MUCH))
    equal(got.decode().split(), [digest_of(pattern(MUCH))] * 2)
    port = e2e.free_port()
    start(eddy, program, "serve", f"127.0.0.1:{port}", cert, cert.replace(".pem", ".key"),
          eddy.folder)
    fetch_both_ways(eddy, f"https://localhost:{port}", cert, MUCH)


# -- stunnel ------------------------------------------------------------------------

STUNNEL = """
foreground = yes
pid =
[tunnel]
accept = 127.0.0.1:{port}
connect = 127.0.0.1:{target}
{more}
"""


def stunnel(eddy, target, more):
    program = shutil.which("stunnel4") or shutil.which("stunnel")
    if not program:
        raise e2e.Skip("stunnel is not installed")
    port = e2e.free_port()
    start(eddy, program, eddy.file(f"stunnel-{port}.conf",
                                   STUNNEL.format(port=port, target=target, more=more)))
    return port


@claim
def stunnel_is_between_fetch_and_a_server_of_eddy(eddy):
    """fetch, TLS, stunnel, plain, stunnel, TLS, eddy: both sides at once."""
    url, cert = digest_server(eddy)
    plain = stunnel(eddy, url.rsplit(":", 1)[1],
                    f"client = yes\nCAfile = {cert}\nverifyChain = yes\ncheckHost = localhost")
    secure = stunnel(eddy, plain, f"cert = {cert}\nkey = {cert.replace('.pem', '.key')}")
    send_twice(eddy, f"https://localhost:{secure}/digest", cert, HALF)
    result = eddy.fetch("--cacert", cert, *RETRY, "--save", eddy.file("saved"),
                        f"https://localhost:{secure}/bytes/{MUCH}")
    equal(result.code, 0, result)
    equal(file_digest(os.path.join(eddy.file("saved"), result.lines()[0]["file"])), digest_of(pattern(MUCH)))


if __name__ == "__main__":
    e2e.main()
