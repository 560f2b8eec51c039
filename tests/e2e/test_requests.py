"""test_requests - `eddy mock` and the requests of tests/wire/requests.h, over real
sockets: each is accepted or refused as the table says."""
import importlib.machinery
import importlib.util
import os

import e2e
from e2e import check, claim, equal

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def load():
    loader = importlib.machinery.SourceFileLoader("request_table",
                                                  os.path.join(ROOT, "tools", "request-table"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("request_table",
                                                                             loader))
    loader.exec_module(module)
    # A slow machine is no fault of the server.
    module.WAIT_S = e2e.LIMIT_S
    return module


@claim
def each_request_is_answered_as_the_table_says(eddy):
    table = load()
    findings = []
    rows = table.read_corpus(ROOT, lambda *finding: findings.append(finding))
    equal(findings, [])
    check(len(rows) >= 245, len(rows))
    # The mock speaks HTTP/2, too, and waits for the rest of its preface.
    rows = [row for row in rows if row.claim != "preface_of_http_2_is_refused"]
    host, _, port = eddy.mock()[len("http://"):].rpartition(":")
    answers = table.ask_all(rows, (host, int(port)))
    wrong = [what for _, what in table.disagreements(rows, table.read_faults(ROOT), answers)]
    equal(wrong, [])
    equal(eddy.child.poll(), None)


if __name__ == "__main__":
    e2e.main()
