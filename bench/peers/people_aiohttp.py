"""The usual script with aiohttp, with what a careful user adds: it continues from its output.

    people_aiohttp.py IN OUT URL CONCURRENCY
"""

import asyncio
import json
import os
import random
import sys

import aiohttp

ATTEMPTS = 6
RETRIED = {408, 409, 429, 500, 502, 503, 504}


def answered(path):
    """The ids that the output has."""
    if not os.path.exists(path):
        return set()
    with open(path) as lines:
        return {json.loads(line)["custom_id"] for line in lines}


async def ask(session, url, body):
    for attempt in range(1, ATTEMPTS + 1):
        try:
            async with session.post(url, json=body) as response:
                answer = {"status_code": response.status, "body": await response.json()}
                if response.status not in RETRIED or attempt == ATTEMPTS:
                    return answer
                wait = float(response.headers.get("Retry-After") or 0)
        except (aiohttp.ClientError, asyncio.TimeoutError):
            if attempt == ATTEMPTS:
                raise
            wait = 0
        await asyncio.sleep(max(wait, random.uniform(0, min(60, 0.5 * 2**attempt))))


async def main(path_in, path_out, url, concurrency):
    done = answered(path_out)
    semaphore = asyncio.Semaphore(concurrency)
    session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=concurrency))

    with open(path_in) as file_in, open(path_out, "a") as file_out:

        async def work(request):
            async with semaphore:
                response = await ask(session, url, request["body"])
            line = {"custom_id": request["custom_id"], "response": response}
            print(json.dumps(line), file=file_out, flush=True)

        requests = [json.loads(line) for line in file_in]
        async with session:
            await asyncio.gather(*(work(r) for r in requests if r["custom_id"] not in done))


asyncio.run(main(*sys.argv[1:4], int(sys.argv[4])))
