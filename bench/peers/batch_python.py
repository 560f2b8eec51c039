"""A file of requests sent by aiohttp or httpx, in the usual form of such scripts.

    batch_python.py aiohttp|httpx asyncio|uvloop IN OUT CONCURRENCY

A task for each line, a semaphore for the number of requests at a time, one
session or client whose pool has as many connections, retries with a growing
random wait, and a line of JSON for each answer.  bench/run measures the
process from its start to its end.
"""

import asyncio
import json
import platform
import random
import sys

ATTEMPTS = 6
RETRIED = {408, 409, 429, 500, 502, 503, 504}


def client_aiohttp(concurrency):
    import aiohttp

    session = aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=concurrency),
        timeout=aiohttp.ClientTimeout(total=600),
    )

    async def post(url, body):
        async with session.post(url, json=body) as response:
            return response.status, await response.json()

    return session, post, aiohttp.ClientError, aiohttp


def client_httpx(concurrency):
    import httpx

    client = httpx.AsyncClient(
        limits=httpx.Limits(max_connections=concurrency, max_keepalive_connections=concurrency),
        timeout=600,
    )

    async def post(url, body):
        response = await client.post(url, json=body)
        return response.status_code, response.json()

    return client, post, httpx.HTTPError, httpx


async def batch(library, path_in, path_out, concurrency):
    client, post, fault, module = {"aiohttp": client_aiohttp, "httpx": client_httpx}[library](
        concurrency
    )
    semaphore = asyncio.Semaphore(concurrency)
    ok = 0

    async def ask(request):
        for attempt in range(1, ATTEMPTS + 1):
            try:
                status, body = await post(request["url"], request["body"])
                if status not in RETRIED or attempt == ATTEMPTS:
                    return {"status_code": status, "body": body}, None
            except (fault, asyncio.TimeoutError) as error:
                if attempt == ATTEMPTS:
                    return None, {"code": type(error).__name__, "message": str(error)}
            await asyncio.sleep(random.uniform(0, min(60, 0.5 * 2**attempt)))

    async with client:
        with open(path_in) as file_in, open(path_out, "w") as file_out:

            async def work(line):
                nonlocal ok
                async with semaphore:
                    request = json.loads(line)
                    response, error = await ask(request)
                answer = {"custom_id": request["custom_id"], "response": response, "error": error}
                file_out.write(json.dumps(answer) + "\n")
                ok += bool(response and response["status_code"] == 200)

            await asyncio.gather(*(work(line) for line in file_in))
    return ok, module


def main():
    library, loop, path_in, path_out, concurrency = sys.argv[1:6]
    run = batch(library, path_in, path_out, int(concurrency))
    suffix = ""
    if loop == "uvloop":
        import uvloop

        suffix = f", uvloop {uvloop.__version__}"
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            ok, module = runner.run(run)
    else:
        ok, module = asyncio.run(run)
    name = f"{module.__name__} {module.__version__}, CPython {platform.python_version()}{suffix}"
    print(json.dumps({"client": name, "ok": ok}))


if __name__ == "__main__":
    main()
