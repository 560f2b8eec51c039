"""The twin of 80-client-object: an API client as an object, closed on every way out.

Needs: h2
"""
import asyncio
import sys

import httpx

AT_ONCE = 50


class ApiClient:
    def __init__(self, base_url):
        self.http = httpx.AsyncClient(
            base_url=base_url,
            http2=True,
            timeout=httpx.Timeout(None, connect=5),
            limits=httpx.Limits(max_connections=100),
        )

    async def fetch(self, path):
        # httpx has no limit for a request as a whole.
        answer = await asyncio.wait_for(self.http.get(path), 10)
        answer.raise_for_status()
        return answer

    async def close(self):
        await self.http.aclose()
        print("the client is closed")


async def work(client, path, numbers):
    """Several tasks share the numbers."""
    for _ in numbers:
        await client.fetch(path)


async def main(base_url, path="users/42", count="1"):
    client = ApiClient(base_url)
    try:
        answer = await client.fetch(path)
        user = answer.json()
        print(f"{user['id']} belongs to {user['owned_by']}")
        numbers = iter(range(int(count) - 1))
        await asyncio.gather(*[work(client, path, numbers) for _ in range(AT_ONCE)])
        print(f"requests: {count}, protocol: {answer.http_version}")
    finally:
        await client.close()


if not 2 <= len(sys.argv) <= 4:
    sys.exit("usage: 80.py BASE_URL [PATH [COUNT]]")
try:
    asyncio.run(main(*sys.argv[1:]))
except (httpx.HTTPError, TimeoutError) as error:
    sys.exit(f"80.py: {error!r}")
