"""requests_client - the library requests as a client of `eddy serve`, for test_serve_peers.py.  Prints JSON.

    requests_client.py whole|ranges|resume URL [CERT]
"""
import hashlib
import json
import sys

import requests

PIECE = 1 << 16


def whole(session, url):
    """The digest of the file, in pieces."""
    digest = hashlib.sha256()
    with session.get(url, stream=True) as response:
        for piece in response.iter_content(PIECE):
            digest.update(piece)
    return [response.status_code, digest.hexdigest()]


def ranges(session, url):
    """[status, Content-Range, SHA-256 of the body] of each request."""
    head = session.head(url)
    tag, date, size = head.headers["ETag"], head.headers["Last-Modified"], int(head.headers["Content-Length"])
    answers = []
    for headers in ({"Range": "bytes=0-0"}, {"Range": f"bytes=1000000-{size // 2}"}, {"Range": "bytes=-1000"},
                    {"Range": f"bytes={size}-"}, {"Range": "bytes=5-9", "If-Range": tag},
                    {"Range": "bytes=5-9", "If-Range": date}, {"If-None-Match": tag}, {"If-Modified-Since": date},
                    {"If-Match": '"other"'}):
        response = session.get(url, headers=headers)
        answers.append([response.status_code, response.headers.get("Content-Range"),
                        hashlib.sha256(response.content).hexdigest() if response.status_code == 206 else None])
    with session.get(url, headers={"Range": "bytes=5-9", "If-Range": '"other"'}, stream=True) as response:
        answers.append([response.status_code, response.headers.get("Content-Range"), None])
    return answers


def resume(session, url):
    """The digest of a file whose connections break, and the number of requests."""
    digest, have, total, tag, count = hashlib.sha256(), 0, None, None, 0
    while have != total:
        count += 1
        try:
            with session.get(url, headers={"Range": f"bytes={have}-", "If-Range": tag} if have else {}, stream=True) as response:
                if response.status_code == 200:
                    digest, have = hashlib.sha256(), 0
                tag, total = response.headers["ETag"], have + int(response.headers["Content-Length"])
                for piece in response.iter_content(PIECE):
                    digest.update(piece)
                    have += len(piece)
        except requests.exceptions.RequestException:
            pass
    return [digest.hexdigest(), count]


def main():
    with requests.Session() as session:
        session.trust_env = False
        session.headers["Accept-Encoding"] = "identity"
        session.verify = sys.argv[3] if len(sys.argv) > 3 else True
        print(json.dumps({"whole": whole, "ranges": ranges, "resume": resume}[sys.argv[1]](session, sys.argv[2])))


main()
