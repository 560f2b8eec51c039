"""The twin of 80-client-object: an API client as an object, closed on every way out."""
import asyncio
import sys

import httpx


class ApiClient:
    def __init__(self, base_url):
        self.http = httpx.AsyncClient(
            base_url=base_url,
            timeout=httpx.Timeout(None, connect=5),
            limits=httpx.Limits(max_connections=100),
        )

    async def fetch_user(self, user_id):
        # httpx has no limit for a request as a whole.
        answer = await asyncio.wait_for(self.http.get(f"/users/{user_id}"), 10)
        answer.raise_for_status()
        return answer.json()

    async def close(self):
        await self.http.aclose()
        print("the client is closed")


async def main(base_url):
    client = ApiClient(base_url)
    try:
        user = await client.fetch_user(42)
        print(f"{user['id']} belongs to {user['owned_by']}")
    finally:
        await client.close()


if len(sys.argv) != 2:
    sys.exit("usage: 80.py BASE_URL")
try:
    asyncio.run(main(sys.argv[1]))
except (httpx.HTTPError, TimeoutError) as error:
    sys.exit(f"80.py: {error!r}")
