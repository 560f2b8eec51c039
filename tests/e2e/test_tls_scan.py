"""test_tls_scan - testssl.sh finds nothing above LOW in `eddy mock --tls`, but for its
certificate, which is made for tests and signs itself.
"""
import json
import shutil
import subprocess

import e2e
from e2e import claim, equal

HARMLESS = {"OK", "INFO", "LOW", "DEBUG"}
# What the section on the certificate reports, with "cert" in its name or one of these.
ABOUT_CERTIFICATE = ("cert", "OCSP", "DNS_CAArecord", "overall_grade", "grade_cap_reason",
                     "final_score", "cipher_strength", "key_exchange", "protocol_support",
                     "rating_")
# Not findings: `openssl s_client` without input ends before a ticket of TLS 1.3 arrives; the scanner's
# own openssl may lack the GOST ciphers.
UNTESTED = {"sessionresumption_ticket", "engine_problem"}


@claim
def testssl_finds_nothing_above_low(eddy):
    program = shutil.which("testssl.sh") or shutil.which("testssl")
    if not program:
        raise e2e.Skip("testssl.sh is not installed")
    url = eddy.mock("--tls")
    report = eddy.file("report.json")
    done = subprocess.run([program, "--quiet", "--color", "0", "--warnings", "batch", "--nodns",
                           "none", "--jsonfile", report, url.removeprefix("https://")],
                          capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=1500)
    with open(report, encoding="utf-8") as file:
        findings = json.load(file)
    if len(findings) < 80:
        raise AssertionError(f"{len(findings)} findings: {done.stdout[-1000:]} {done.stderr[-500:]}")
    equal([(found["id"], found["severity"], found["finding"]) for found in findings
           if found["severity"] not in HARMLESS and not found["id"].startswith(ABOUT_CERTIFICATE)
           and not (found["severity"] == "WARN" and found["id"] in UNTESTED)],
          [])


if __name__ == "__main__":
    e2e.main()
