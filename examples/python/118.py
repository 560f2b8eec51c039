"""The twin of 118-download: a file from a server whose connections break, with progress, continued later."""
import asyncio
import hashlib
import os
import tempfile

import aiohttp
from aiohttp import web

BYTES, CUT_BYTES = 1000000, 300000
SHA_256 = "2c030d49ec131bfbbb446ad21e7a2f12cdb4f2f4f3fda3ac709dd2e68a4646c7"  # the hash of the whole body
BODY = bytes(i % 251 for i in range(BYTES))


async def serve(request):
    """Send what was asked for, but break the connection after CUT_BYTES."""
    span, condition = request.headers.get("Range"), request.headers.get("If-Range")
    print(f"asked for {span} if it is still {condition}" if span else "asked for all")
    first = int(span[len("bytes="):-1]) if span else 0
    response = web.StreamResponse(status=206 if span else 200, headers={"ETag": '"v1"'})
    if span:
        response.headers["Content-Range"] = f"bytes {first}-{BYTES - 1}/{BYTES}"
    response.content_length = BYTES - first
    await response.prepare(request)
    await response.write(BODY[first:first + CUT_BYTES])
    if BYTES - first > CUT_BYTES:
        request.transport.close()
    return response


class Download:
    """A file that arrives as PATH.part, and gets its name when it is whole."""

    def __init__(self, session, url, path):
        self.session, self.url, self.path, self.tag = session, url, path, None

    def bytes_there(self):
        return os.path.getsize(self.path + ".part") if self.tag else 0

    async def attempt(self):
        """Ask for the rest, from the last byte that is there, which is compared."""
        first = max(self.bytes_there() - 1, 0)
        headers = {"Range": f"bytes={first}-", "If-Range": self.tag} if self.tag else {}
        async with self.session.get(self.url, headers=headers) as response:
            continues = response.status == 206
            with open(self.path + ".part", "r+b" if continues else "wb") as part:
                part.seek(first)
                if continues and part.read(1) != await response.content.readexactly(1):
                    raise ValueError("the server has another file")
                self.tag = response.headers["ETag"]
                try:
                    async for piece in response.content.iter_any():
                        part.write(piece)
                finally:
                    print(part.tell(), "of", BYTES, "bytes")

    async def run(self, attempts):
        for left in reversed(range(attempts)):
            try:
                await self.attempt()
                break
            except aiohttp.ClientPayloadError:
                if left == 0:
                    raise
        with open(self.path + ".part", "rb") as part:
            if hashlib.sha256(part.read()).hexdigest() != SHA_256:
                raise ValueError("the file is not the one that was asked for")
        os.replace(self.path + ".part", self.path)


async def main(folder):
    app = web.Application()
    app.add_routes([web.get("/model.bin", serve)])
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    async with aiohttp.ClientSession() as session:
        url = f"http://127.0.0.1:{runner.addresses[0][1]}/model.bin"
        download = Download(session, url, os.path.join(folder, "model.bin"))
        try:
            await download.run(1)
        except aiohttp.ClientPayloadError:
            print("first call: EDDY_E_HTTP_TRUNCATED")
        there = download.bytes_there()
        await download.run(5)
        print(f"second call: OK, {there} bytes were there")
    await runner.cleanup()


with tempfile.TemporaryDirectory() as downloads:
    asyncio.run(main(downloads))
