"""The twin of 131-sessions: an HTTP server whose users log in and out."""
import base64
import hashlib
import hmac
import json
import secrets
import socket
import sys
import time

from aiohttp import web

KEY = secrets.token_bytes(32)
IDLE_S = 30 * 60
routes = web.RouteTableDef()


def sign(text):
    return hmac.new(KEY, b"session " + text.encode(), hashlib.sha256).hexdigest()


def session_of(request):
    text, _, signature = request.cookies.get("session", "").partition(".")
    if not hmac.compare_digest(signature.encode(), sign(text).encode()):
        return {}
    session = json.loads(base64.urlsafe_b64decode(text + "=="))
    return session if time.time() < session["ends"] else {}


def save(response, session):
    session["ends"] = time.time() + IDLE_S
    text = base64.urlsafe_b64encode(json.dumps(session).encode()).decode().rstrip("=")
    response.set_cookie("session", f"{text}.{sign(text)}", max_age=IDLE_S, httponly=True, samesite="Lax")
    return response


@routes.get("/")
async def show(request):
    session = session_of(request)
    if "user" not in session:
        return web.Response(status=401, text="please log in\n")
    session["pages"] = session.get("pages", 0) + 1
    return save(web.Response(text=f"{session['user']}, page {session['pages']}\n"), session)


@routes.post("/login")
async def log_in(request):
    form = await request.post()
    if (form.get("name"), form.get("password")) != ("ada", "engine"):
        return web.Response(status=403, text="wrong name or password\n")
    return save(web.Response(text="welcome\n"), {"user": form["name"]})


@routes.post("/logout")
async def log_out(_):
    response = web.Response(text="goodbye\n")
    response.del_cookie("session")
    return response


app = web.Application()
app.add_routes(routes)
port = int(sys.argv[1].rpartition(":")[2]) if len(sys.argv) > 1 else 8080
listener = socket.create_server(("127.0.0.1", port))
print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
web.run_app(app, sock=listener, print=None)
