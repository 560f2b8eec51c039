"""test_fetch_tls - https: `eddy fetch` and `eddy mock` with each other, and with
curl and openssl on the other side.
"""
import json
import os
import subprocess

import e2e
from e2e import check, claim, equal


def secure_mock(eddy, *args):
    """An https server; returns its URL and the file with its certificate."""
    url = eddy.mock("--tls", *args)
    line = eddy.child.stdout.readline().decode().split()
    equal(line[0], "certificate")
    check(line[1].startswith(eddy.folder), line)
    return url, line[1]


def openssl(folder, *args):
    subprocess.run(["openssl", *args], cwd=folder, check=True, capture_output=True)


def certificate(eddy, name, days="30"):
    """A self-signed certificate for a name; returns its file and its key's."""
    folder = os.path.dirname(eddy.file("here", ""))
    cert, key = (os.path.join(folder, name + end) for end in (".pem", ".key"))
    openssl(folder, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
            "-nodes", "-keyout", key, "-out", cert, "-days", days, "-subj", "/CN=" + name,
            "-addext", "subjectAltName=DNS:" + name + ",IP:127.0.0.1")
    return cert, key


@claim
def requests_go_over_https_and_connections_are_kept(eddy):
    url, cert = secure_mock(eddy)
    urls = eddy.file("urls", f"{url}/bytes/20000\n" * 200)
    result = eddy.fetch("-i", urls, "-c", "4", "--cacert", cert)
    equal(result.code, 0, result)
    equal([line["bytes"] for line in result.lines()], [20000] * 200)


@claim
def body_is_echoed_over_https(eddy):
    url, cert = secure_mock(eddy)
    body = "x" * 3000000
    result = eddy.fetch("--cacert", cert, "--body", "-d", "@" + eddy.file("body", body),
                        url + "/echo")
    equal(json.loads(result.lines()[0]["body"])["body"], body)


@claim
def certificate_that_is_not_trusted_is_a_tls_error_and_is_not_tried_again(eddy):
    url, _ = secure_mock(eddy)
    result = eddy.fetch(url + "/")
    equal(result.code, 1, result)
    line = result.lines()[0]
    equal((line["error"]["code"], line["attempts"], line["status"]), ("tls_error", 1, None))
    check("--cacert" in line["error"]["message"], line)


@claim
def certificate_for_another_host_is_refused(eddy):
    cert, key = certificate(eddy, "other.example")
    url = eddy.mock("--cert", cert, "--key", key).replace("127.0.0.1", "localhost")
    line = eddy.fetch("--cacert", cert, url + "/").lines()[0]
    equal(line["error"], {"code": "tls_error", "message": "the certificate is for another host"})

@claim
def port_of_plain_http_is_named_as_the_reason(eddy):
    line = eddy.fetch("--attempts", "1", eddy.mock().replace("http:", "https:") + "/").lines()[0]
    equal(line["error"]["code"], "tls_error", line)
    check("the peer does not speak TLS" in line["error"]["message"], line)


@claim
def insecure_accepts_any_certificate_with_a_warning(eddy):
    url, _ = secure_mock(eddy)
    result = eddy.fetch("--insecure", url + "/bytes/1")
    equal((result.code, result.lines()[0]["status"]), (0, 200), result)
    check("--insecure: certificates are not checked" in result.err, result)


@claim
def http_2_is_offered_unless_http1_is_asked_for(eddy):
    """nghttpd ends a connection with TLS that does not choose HTTP/2."""
    server, port = e2e.program("nghttpd"), e2e.free_port()
    cert, key = certificate(eddy, "127.0.0.1")
    e2e.start_server(eddy, port, server, "-d", os.path.dirname(cert), str(port), key, cert)
    url = f"https://127.0.0.1:{port}/" + os.path.basename(cert)
    urls = eddy.file("urls", f"{url}\n" * 200)
    result = eddy.fetch("-i", urls, "-c", "20", "--cacert", cert)
    equal(result.code, 0, result)
    equal([line["bytes"] for line in result.lines()], [os.path.getsize(cert)] * 200, result)
    result = eddy.fetch("--http1", "--attempts", "1", "--cacert", cert, url)
    check("error" in result.lines()[0], result)


@claim
def reset_by_http_2_is_named_and_not_called_the_end_of_a_connection(eddy):
    url, cert = secure_mock(eddy, "--truncate", "100%", "--seed", "1")
    lines = eddy.fetch("--cacert", cert, "--attempts", "1", url + "/close", url + "/bytes/3000000").lines()
    equal([line["error"] for line in lines],
          [{"code": "connection_reset", "message": "the server reset the request: CANCEL"}] * 2)


@claim
def http_to_an_https_port_and_back_are_errors(eddy):
    url, cert = secure_mock(eddy)
    plain = eddy.mock()
    lines = eddy.fetch("--cacert", cert, "--attempts", "1", url.replace("https", "http") + "/",
                       plain.replace("http", "https") + "/").lines()
    to_tls, to_plain = sorted(lines, key=lambda line: line["index"])
    equal(to_plain["error"], {"code": "tls_error", "message": "the peer does not speak TLS on this port"})
    equal((to_tls["status"], to_tls["error"]), (400, None))


@claim
def curl_gets_answers_of_the_mock(eddy):
    url, cert = secure_mock(eddy)
    for version in ("--tlsv1.2 --tls-max 1.2", "--tlsv1.3"):
        got = subprocess.run(["curl", "-sS", *version.split(), "--cacert", cert, "-w",
                              "%{http_version} %{size_download}", "-o", os.devnull,
                              url + "/bytes/1000000", url + "/bytes/5"],
                             capture_output=True, text=True, check=True)
        equal(got.stdout, "2 1000000abcde2 5")


@claim
def openssl_serves_fetch(eddy):
    cert, key = certificate(eddy, "localhost")
    port = e2e.free_port()
    for version in ("-tls1_2", "-tls1_3"):
        child = subprocess.Popen(["openssl", "s_server", "-quiet", "-www", version, "-accept",
                                  f"127.0.0.1:{port}", "-cert", cert, "-key", key],
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        try:
            result = eddy.fetch("--cacert", cert, "--attempts", "20", "--backoff", "50ms",
                                f"https://localhost:{port}/")
            equal(result.lines()[0]["status"], 200, version, result)
        finally:
            eddy.end(child)


@claim
def mock_removes_the_certificate_that_it_made(eddy):
    _, cert = secure_mock(eddy)
    check(os.path.exists(cert))
    equal(os.stat(cert.replace("cert.pem", "key.pem")).st_mode & 0o777, 0o600)
    eddy.child.terminate()
    equal(eddy.child.wait(60), 143)
    check(not os.path.exists(os.path.dirname(cert)))


@claim
def mock_refuses_files_that_are_not_certificates(eddy):
    file = eddy.file("file", "nonsense\n")
    e2e.one_line(eddy.run("mock", "--cert", file), 2, "--cert", file)
    e2e.one_line(eddy.run("mock", "--key", file), 2, "--key", "--cert")


@claim
def mock_names_the_mistake_in_a_file(eddy):
    cert, key = certificate(eddy, "localhost")
    other = eddy.file("other.pem")
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", other], check=True,
                   capture_output=True)
    missing = "No such file or directory"
    for args, words in [(["--cert", cert, "--key", eddy.file("gone")], ["private key", "gone", missing]),
                        (["--cert", eddy.file("gone"), "--key", key], ["certificate", missing]),
                        (["--cert", cert, "--key", other], ["private key", "another certificate"]),
                        (["--cert", key], ["--cert", "holds no certificate"]),
                        (["--cert", cert], ["--key", "holds no private key"])]:
        e2e.one_line(eddy.run("mock", *args), 2, *words)
    openssl(eddy.folder, "genpkey", "-algorithm", "rsa", "-out", other)
    e2e.one_line(eddy.run("mock", "--cert", cert, "--key", other), 2, "another certificate")
    env = dict(os.environ, TMPDIR=eddy.file("gone"))
    e2e.one_line(eddy.run("mock", "--tls", env=env), 1, "--tls", "gone", missing, "TMPDIR")


@claim
def certificates_of_the_environment_replace_the_system_s(eddy):
    url, cert = secure_mock(eddy)
    result = eddy.fetch(url + "/bytes/5", env={**os.environ, "SSL_CERT_FILE": cert})
    equal((result.code, result.lines()[0]["bytes"]), (0, 5), result)


@claim
def files_of_tls_that_cannot_be_used_are_named_with_the_option_and_the_reason(eddy):
    cert = secure_mock(eddy)[1]
    key = cert.replace("cert.pem", "key.pem")
    other = eddy.file("other.key")
    subprocess.run(["openssl", "genpkey", "-algorithm", "ED25519", "-out", other], check=True)
    secret = eddy.file("secret.key")
    subprocess.run(["openssl", "pkey", "-in", key, "-aes256", "-passout", "pass:secret", "-out",
                    secret], check=True)
    missing = eddy.file("missing.pem")
    cases = (
        (["--cacert", missing], f"--cacert: cannot read trusted certificates from {missing}: "
                                "No such file or directory"),
        (["--cacert", key], f"--cacert: cannot read trusted certificates from {key}: "
                            "the file holds no certificate (PEM)"),
        (["--cert", missing], f"--cert: cannot read a certificate from {missing}: "
                              "No such file or directory"),
        (["--cert", key], f"--cert: cannot read a certificate from {key}: "
                          "the file holds no certificate (PEM)"),
        (["--cert", cert], f"--key: cannot use the private key of {cert}: "
                           "the file holds no private key (PEM); give the key's file too"),
        (["--cert", cert, "--key", cert], f"--key: cannot use the private key of {cert}: "
                                          "the file holds no private key (PEM)"),
        (["--cert", cert, "--key", missing], f"--key: cannot use the private key of {missing}: "
                                             "No such file or directory"),
        (["--cert", cert, "--key", other], f"--key: cannot use the private key of {other}: "
                                           "it is the key of another certificate"),
        (["--cert", cert, "--key", secret], f"--key: cannot use the private key of {secret}: "
                                            "the key is encrypted; give a key without a "
                                            "passphrase"),
    )
    for args, text in cases:
        result = eddy.fetch(*args, "https://localhost/")
        e2e.one_line(result, 2, text + " ")
        if args[0] == "--cert":
            e2e.one_line(eddy.run("mock", *args), 2, text)


if __name__ == "__main__":
    e2e.main()
