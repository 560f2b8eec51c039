"""The twin of 133-upload-page: an HTTP server that saves uploaded files."""
import hashlib
import os
import socket
import sys

from aiohttp import web

FOLDER = sys.argv[1]
BYTES_MAX = int(sys.argv[3]) if len(sys.argv) > 3 else 1 << 30
PAGE = """<!doctype html><meta charset=utf-8><title>Upload</title>
<form method=post action=files enctype=multipart/form-data>
<input name=note> <input type=file name=file multiple required> <button>Send</button></form>"""


def refusal(status, detail):
    title = web.HTTPConflict().reason if status == 409 else ""
    body = f'{{"title":"{title}","status":{status},"detail":"{detail}"}}'
    return web.Response(status=status, text=body, content_type="application/problem+json")


async def save(part, name):
    """Write a part to a temporary file, which gets its name at the end. The disk blocks all other requests."""
    digest, size, temporary = hashlib.sha256(), 0, os.path.join(FOLDER, f".{os.urandom(8).hex()}")
    try:
        with open(temporary, "xb") as file:
            while piece := await part.read_chunk(65536):
                file.write(piece)
                digest.update(piece)
                size += len(piece)
            os.fsync(file.fileno())
        os.link(temporary, os.path.join(FOLDER, name))  # unlike rename, replaces nothing
    finally:
        os.unlink(temporary)
    return f"{name}: {size} bytes, SHA-256 {digest.hexdigest()}\n"


async def upload(request):
    if request.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin":
        return refusal(403, "use the page of this server")
    if request.content_type != "multipart/form-data":
        return refusal(415, "this is not a form with files")
    if (request.content_length or 0) > BYTES_MAX:
        return refusal(413, "the body is too large")
    answer = ""
    async for part in await request.multipart():
        if part.filename is None:
            answer += f"{part.name}: {await part.text()}\n"
            continue
        try:
            answer += await save(part, os.path.basename(part.filename).strip(". ") or "unnamed")
        except FileExistsError:
            return refusal(409, "there is a file of this name")
    return web.Response(text=answer)


async def show_page(_):
    return web.Response(text=PAGE, content_type="text/html")


app = web.Application(client_max_size=BYTES_MAX)
app.add_routes([web.get("/", show_page), web.post("/files", upload)])
listener = socket.create_server(("127.0.0.1", int(sys.argv[2]) if len(sys.argv) > 2 else 8080))
print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
web.run_app(app, sock=listener, print=None)
