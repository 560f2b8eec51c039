"""The twin of 44-best-answer: the whole text, or the part that has arrived in time."""
import asyncio
import sys

import aiohttp

BYTES_MAX = 65536


async def read_answer(url, pieces):
    async with aiohttp.ClientSession() as session:
        async with session.get(url) as response:
            response.raise_for_status()
            async for piece in response.content.iter_any():
                pieces.append(piece)
                if sum(map(len, pieces)) > BYTES_MAX:
                    raise aiohttp.ClientError("the text is too large")


async def main(url):
    pieces, kind = [], "complete"
    try:
        async with asyncio.timeout(1.5):
            await read_answer(url, pieces)
    except TimeoutError:
        if not pieces:
            raise
        kind = "partial"
    text = b"".join(pieces)
    print(text.decode(), end="")
    print(f"{kind} answer: {len(text)} bytes")


if len(sys.argv) != 2:
    sys.exit("usage: 44.py URL")
try:
    asyncio.run(main(sys.argv[1]))
except (aiohttp.ClientError, TimeoutError) as error:
    sys.exit(f"{sys.argv[1]}: {error!r}")
